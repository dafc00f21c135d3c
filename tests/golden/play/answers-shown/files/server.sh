# A server whose tool asks the client's model first, then for its roots, and returns both responses.
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
request='{"messages":[{"role":"user","content":{"type":"text","text":"Summarize: milk, bread"}}],"maxTokens":50}'
while read -r line; do
    id=${line#*\"id\":}
    id=${id%%[,\}]*}
    case $line in
        *'"method":"server/discover"'*)
            printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}\n' "$id" ;;
        *'"method":"initialize"'*)
            answer '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"notes","version":"1"}}' ;;
        *'"method":"tools/list"'*)
            answer '{"tools":[{"name":"summarize","inputSchema":{"type":"object"}}]}' ;;
        *'"method":"tools/call"'*)
            call=$id
            printf '{"jsonrpc":"2.0","id":"model","method":"sampling/createMessage","params":%s}\n' "$request" ;;
        *'"id":"model"'*)
            model=${line#*\"result\":}
            printf '{"jsonrpc":"2.0","id":"roots","method":"roots/list"}\n' ;;
        *'"id":"roots"'*)
            roots=${line#*\"result\":}
            id=$call
            case $model$roots in
                *'"error"'*) answer '{"content":[{"type":"text","text":"no answer"}],"isError":true}' ;;
                *) answer "{\"content\":[{\"type\":\"text\",\"text\":\"done\"}],\"structuredContent\":{\"model\":${model%\}},\"roots\":${roots%\}}}}" ;;
            esac ;;
    esac
done
