#!/usr/bin/env bash
# An MCP server (2025-11-25, over stdio) whose tools promise structured content, and keep it or not. Needs nothing but bash.

schema='{"type":"object","properties":{"degrees":{"type":"number"}},"required":["degrees"]}'

while IFS= read -r line; do
    [[ $line =~ \"id\":([0-9]+) ]] || continue
    id=${BASH_REMATCH[1]}
    case $line in
        *'"method":"initialize"'*)
            result='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"promises","version":"1"}}'
            ;;
        *'"method":"tools/list"'*)
            list=
            for tool in kept other nothing failed; do
                list+="${list:+,}{\"name\":\"$tool\",\"inputSchema\":{\"type\":\"object\"},\"outputSchema\":$schema}"
            done
            result="{\"tools\":[$list]}"
            ;;
        *'"name":"kept"'*)
            result='{"content":[],"structuredContent":{"degrees":21.5}}'
            ;;
        *'"name":"other"'*)
            result='{"content":[{"type":"text","text":"It is warm."}],"structuredContent":{"degrees":"warm"}}'
            ;;
        *'"name":"nothing"'*)
            result='{"content":[{"type":"text","text":"It is warm."}]}'
            ;;
        *'"name":"failed"'*)
            result='{"isError":true,"content":[{"type":"text","text":"no thermometer"}]}'
            ;;
        *)
            printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"method not found"}}\n' "$id"
            continue
            ;;
    esac
    printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
