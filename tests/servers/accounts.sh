#!/usr/bin/env bash
# An MCP server (2025-11-25, over stdio) that stands in for services which need an account: issues and messages.
# Needs nothing but bash. Its argument is the number of each issue that it creates; without it there is none.

number=${1:-}

while IFS= read -r line; do
    [[ $line =~ \"id\":([0-9]+) ]] || continue
    id=${BASH_REMATCH[1]}
    case $line in
        *'"method":"initialize"'*)
            result='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"accounts","version":"1"}}'
            ;;
        *'"method":"tools/list"'*)
            result='{"tools":[{"name":"create_issue","inputSchema":{"type":"object"}},{"name":"post_message","inputSchema":{"type":"object"}},{"name":"fail","inputSchema":{"type":"object"}}]}'
            ;;
        *'"name":"create_issue"'*)
            result='{"content":[],"structuredContent":{"number":'${number:-\"\"}',"html_url":"https://issues.example/'$number'","data":{"name":"nested"},"items":[{"id":1},{"id":2}]}}'
            ;;
        *'"name":"post_message"'*)
            result='{"content":[{"type":"text","text":"{\"posted\":true}"}]}'
            ;;
        *'"name":"fail"'*)
            result='{"isError":true,"content":[{"type":"text","text":"the service is down"}]}'
            ;;
        *)
            printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"method not found"}}\n' "$id"
            continue
            ;;
    esac
    printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
