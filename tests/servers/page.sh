#!/usr/bin/env bash
# An MCP server (2025-11-25, over stdio) with some tools of chrome-devtools-mcp and a page that never changes. Needs
# nothing but bash.

# How often the page was asked whether `#late` is there.
late=0

answer() {
    printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"
}

text() {
    answer "{\"content\":[{\"type\":\"text\",\"text\":\"$1\"}]}"
}

returned() {
    text "Script ran on page and returned:\n\`\`\`json\n$1\n\`\`\`"
}

while IFS= read -r line; do
    [[ $line =~ \"id\":([0-9]+) ]] || continue
    id=${BASH_REMATCH[1]}
    case $line in
        *'"method":"initialize"'*)
            answer '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"page","version":"1"}}'
            ;;
        *'"method":"tools/list"'*)
            list=
            for tool in take_snapshot click; do
                list+="{\"name\":\"$tool\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"uid\":{\"type\":\"string\"},\"times\":{\"type\":\"integer\"}}}},"
            done
            list+='{"name":"press_key","inputSchema":{"type":"object","properties":{"key":{"type":"string"}}}},'
            list+='{"name":"evaluate_script","inputSchema":{"type":"object","properties":{"function":{"type":"string"}}}}'
            answer "{\"tools\":[$list]}"
            ;;
        *'"name":"take_snapshot"'*)
            text 'uid=1_0 RootWebArea \"Page\"\n  uid=1_1 button \"Save\"'
            ;;
        *'"name":"click"'*)
            text 'Successfully clicked on the element'
            ;;
        *'"name":"press_key"'*)
            [[ $line =~ \"key\":\"([^\"]*)\" ]]
            text "Pressed the key ${BASH_REMATCH[1]}"
            ;;
        *'"name":"evaluate_script"'*'#late'*) # not at first
            late=$((late + 1))
            returned "$([[ $late -gt 1 ]] && echo true || echo false)"
            ;;
        *'"name":"evaluate_script"'*'#never'*)
            returned false
            ;;
        *'"name":"evaluate_script"'*'catch (error)'*) # any other selector
            returned '{\"invalid\":\"it is not a valid selector\"}'
            ;;
        *)
            printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"method not found"}}\n' "$id"
            ;;
    esac
done
