#!/bin/sh
# A server with three tools: `note` answers, `crash` ends the server in the middle of its call, `leave` after its answer.
while read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  case $line in
    *'"method":"initialize"'*)
      result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}' ;;
    *'"method":"tools/list"'*)
      result='{"tools":[{"name":"note","inputSchema":{"type":"object"}},{"name":"crash","inputSchema":{"type":"object"}},{"name":"leave","inputSchema":{"type":"object"}}]}' ;;
    *'"name":"crash"'*)
      echo 'fatal: out of memory' >&2
      exit 9 ;;
    *'"name":"leave"'*)
      printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}\n' "$id"
      exit 3 ;;
    *'"method":"tools/call"'*)
      result='{"content":[{"type":"text","text":"noted"}]}' ;;
    *'"id":'*)
      printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}\n' "$id"
      continue ;;
    *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
