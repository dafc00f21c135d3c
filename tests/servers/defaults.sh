#!/bin/sh
# A server whose tools ask for more than they need: `shoot` requires a parameter that has a default, `later` wants to be
# called as a task. `escape` answers with control characters. It needs nothing but a shell.
while read -r line; do
  id=${line##*\"id\":}
  id=${id%%[!0-9]*}
  case $line in
    *'"method":"initialize"'*)
      result='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"defaults","version":"1"}}' ;;
    *'"method":"tools/list"'*)
      result='{"tools":[
        {"name":"shoot","inputSchema":{"type":"object","properties":{"format":{"enum":["png","jpeg"],"default":"png"},"fullPage":{"type":"boolean"}},"required":["format"]}},
        {"name":"later","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}},
        {"name":"escape","inputSchema":{"type":"object"}}]}'
      result=$(printf %s "$result" | tr -d '\n') ;;
    *'"name":"escape"'*)
      result='{"content":[{"type":"text","text":"a\u001b[31mred\u001b]0;title\u0007\tb\r\nc \u202etxt.exe"}]}' ;;
    *'"method":"tools/call"'*)
      result='{"content":[{"type":"text","text":"done"}]}' ;;
    *'"id":'*)
      printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}\n' "$id"
      continue ;;
    *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
