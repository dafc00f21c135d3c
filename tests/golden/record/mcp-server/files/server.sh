while read -r line; do
    case $line in
        *add*) echo "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"$NOTES_TOKEN\"}]}}" ;;
        *fail*) echo '{"jsonrpc":"2.0","id":"c","error":{"code":-32000,"message":"no"}, "unknown" : 1}' ;;
        *) echo 'not for me' >&2 ;;
    esac
done
