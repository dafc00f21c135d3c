#!/bin/sh
# A server whose list of tools never ends. `one` answers with a list of one, as an SDK writes it; `nested` names the
# members of an object, and of those in a list. It needs nothing but a shell.
while read -r line; do
  id=${line##*\"id\":}
  id=${id%%[!0-9]*}
  case $line in
    *'"method":"initialize"'*)
      result='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"mistakes","version":"1"}}' ;;
    *'"method":"tools/list"'*)
      result='{"nextCursor":"same","tools":[{"name":"one","inputSchema":{"type":"object"}},
        {"name":"nested","inputSchema":{"type":"object","properties":{
          "o":{"type":"object","properties":{"limit":{"type":"integer"}},"additionalProperties":false},
          "list":{"type":"array","items":{"type":"object","properties":{"limit":{"type":"integer"}}}}}}}]}'
      result=$(printf %s "$result" | tr -d '\n') ;;
    *'"name":"one"'*)
      result='{"content":[{"type":"text","text":"{\"t\":1}"}],"structuredContent":{"result":[{"t":1}]}}' ;;
    *'"method":"tools/call"'*)
      result='{"content":[{"type":"text","text":"done"}]}' ;;
    *'"id":'*)
      printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}\n' "$id"
      continue ;;
    *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
