#!/usr/bin/env bash
# An MCP server (2025-11-25, over stdio) that misbehaves on demand. Needs nothing but bash and coreutils.
#
# Arguments, each of them optional:
#   silent   never answers anything
#   stay     does not end, neither with its input nor when it is asked to
#   unlisted never answers which tools it has
#   child    starts a child that stays; `ok` answers with its process id
# What its tools do wrong stands beside them below.

silent=false
unlisted=false
stay=false
child=0
for argument in "$@"; do
    case $argument in
        silent) silent=true ;;
        unlisted) unlisted=true ;;
        stay) stay=true; trap '' TERM ;;
        child) sleep 600 & child=$! ;;
        *) echo "unruly.sh: there is no \`$argument\`" >&2; exit 3 ;;
    esac
done

# A pipe that nobody writes into, so that waiting needs no child.
exec 9<> <(:)

wait_forever() {
    while :; do
        read -r -t 600 -u 9
    done
}

answer() {
    printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"
}

text() {
    answer "{\"content\":[{\"type\":\"text\",\"text\":\"$1\"}]}"
}

if $silent; then
    echo "this server is not in the mood" >&2
    wait_forever
fi

while IFS= read -r line; do
    [[ $line =~ \"id\":([0-9]+) ]] || continue
    id=${BASH_REMATCH[1]}
    case $line in
        *'"method":"initialize"'*)
            answer '{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"logging":{}},"serverInfo":{"name":"unruly","version":"1"}}'
            ;;
        *'"method":"tools/list"'*)
            $unlisted && continue
            list=
            for tool in ok chatter announce hang die flood huge; do
                list+="${list:+,}{\"name\":\"$tool\",\"inputSchema\":{\"type\":\"object\"}}"
            done
            answer "{\"tools\":[$list]}"
            ;;
        *'"name":"ok"'*)
            text "{\\\"leader\\\":$$,\\\"child\\\":$child}"
            ;;
        *'"name":"chatter"'*) # talks on every stream, not only in messages
            echo "noise on standard error" >&2
            echo "noise on standard output"
            printf '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","data":"a message of the server"}}\n'
            text said
            ;;
        *'"name":"announce"'*) # says that there will be no answer
            printf '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","data":"this may take a while"}}\n'
            wait_forever
            ;;
        *'"name":"hang"'*) # no answer
            wait_forever
            ;;
        *'"name":"die"'*) # no answer either
            echo "out of memory, good bye" >&2
            exit 7
            ;;
        *'"name":"flood"'*) # 50 MB on standard error
            yes 'a line of no interest at all, over and over again' | head -c 50000000 >&2
            text flooded
            ;;
        *'"name":"huge"'*) # one line of 70 MB
            printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"' "$id"
            head -c 70000000 /dev/zero | tr '\0' x
            printf '"}]}}\n'
            ;;
        *)
            printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"method not found"}}\n' "$id"
            ;;
    esac
done

if $stay; then
    wait_forever
fi
