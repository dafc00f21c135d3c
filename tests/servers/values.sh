#!/bin/sh
# A server whose answers have the shapes of FastMCP, pictures and errors. It needs nothing but a shell.
text() { printf '{"content":[{"type":"text","text":"%s"}]%s}' "$1" "$2"; }
while read -r line; do
  id=${line##*\"id\":}
  id=${id%%[!0-9]*}
  case $line in
    *'"method":"initialize"'*)
      result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}' ;;
    *'"method":"tools/list"'*)
      labels='{"type":"array","items":{"type":"string"}}'
      result='{"tools":[{"name":"issues"},{"name":"readme"},{"name":"chart"},{"name":"fails"},{"name":"refuses"},
        {"name":"label","inputSchema":{"type":"object","properties":{"labels":{"anyOf":['$labels',{"type":"null"}]},"ids":{"type":"array","items":{"type":"integer"}},"query":{"anyOf":[{"type":"string"},'$labels']}}}}],"nextCursor":"same"}'
      result=$(printf %s "$result" | tr -d '\n') ;;
    *'"name":"issues"'*)
      result=$(text '{\"title\":\"cut \\ud83d\"}' ',"structuredContent":{"result":[{"title":"cut \ud83d","weight":1e-400}]}') ;;
    *'"name":"readme"'*) result=$(text '# Use\n```json\n{\"a\": 1}\n```\n') ;;
    *'"name":"chart"'*)
      result='{"content":[{"type":"text","text":"drawn"},{"type":"image","data":"aGk=","mimeType":"image/png"}],"structuredContent":{"width":4}}' ;;
    *'"name":"fails"'*) result='{"content":[],"isError":true,"structuredContent":{"reason":"no such branch"}}' ;;
    *'"name":"label"'*)
      params=${line#*\"arguments\":}
      params=${params%%,\"_meta\"*}
      result='{"content":[],"structuredContent":{"line":'${params%%\}*}'}}}' ;;
    *'"name":"refuses"'*)
      printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"no such branch","data":{"branches":["main"]}}}\n' "$id"
      continue ;;
    *'"id":'*)
      printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}\n' "$id"
      continue ;;
    *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
