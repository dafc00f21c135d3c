answer() { echo "{\"jsonrpc\":\"2.0\",\"id\":$id,$1}"; }
while read -r line; do
    id=${line#*\"id\":}; id=${id%%,*}; id=${id%\}}
    case $line in
        *'"initialize"'*) answer '"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}' ;;
        *'"tools/list"'*) answer '"result":{"tools":[{"name":"get","inputSchema":{"type":"object"}},{"name":"login","inputSchema":{"type":"object"}}]}' ;;
        *nosuch*) answer '"error":{"code":-32602,"message":"unknown tool"}' ;;
        *'"tools/call"'*)
            value='{"id":1,"token":"tok_live_1234567890"}'
            answer "\"result\":{\"content\":[],\"structuredContent\":$value}"
            ;;
        *'"id"'*) answer '"error":{"code":-32601,"message":"method not found"}' ;;
    esac
done
