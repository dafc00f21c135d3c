#!/usr/bin/env bash
# A server over standard streams whose words come from a port of this machine. Needs bash and coreutils.
#
# Arguments: the port; then `die`, if the end of the connection is to be the end of this process.
#
# The first connection is for standard input and output, the second for standard error.

exec 5<&0
exec 3<> "/dev/tcp/127.0.0.1/$1" || exit 9
exec 4<> "/dev/tcp/127.0.0.1/$1" || exit 9

cat <&4 >&2 &
trap 'echo "out of memory, good bye" >&2; kill $(jobs -p); exit 7' USR1
{
    trap - USR1
    cat <&3
    if [[ $2 == die ]]; then
        kill -s USR1 $$
        # Its output must not end long before the process does, so it is left to that to end this.
        exec sleep infinity
    fi
} &
# Nobody but the one above holds standard output, so that its end is seen.
exec >&-

cat <&5 >&3 &
wait $!
kill $(jobs -p) 2> /dev/null
exit 0
