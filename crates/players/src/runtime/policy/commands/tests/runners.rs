//! Data in the arguments of programs that run these, and on its way into what such a program reads.

use super::refused;

/// A program that runs its arguments takes no data in any of them, whatever its options mean.
#[test]
fn programs_that_run_their_arguments_take_no_data() {
    for template in [
        "git -c {{a.b}} log",
        "git -c core.pager={{a.b}} log",
        "git -c x=y log {{a.b}}",
        "git {{a.b}}",
        "git rebase -x {{a.b}} main",
        "git config alias.x {{a.b}}",
        "tar -cf x --checkpoint-action={{a.b}} --checkpoint=1 y",
        "tar cf x --to-command {{a.b}}",
        "tar -cIf {{a.b}} x y",
        "nice -n 5 {{a.b}}",
        "nice sort {{a.b}}",
        "flock f -c {{a.b}}",
        "flock {{a.b}} true",
        "env -S{{a.b}}",
        "env X={{a.b}} ./tool",
        "env -u {{a.b}} ls",
        "setsid -w {{a.b}}",
        "taskset 1 sh -c {{a.b}}",
        "/usr/bin/nice -n 1 ./tool {{a.b}}",
        "vim.tiny -c {{a.b}}",
        "less {{a.b}}",
        "awk -v x={{a.b}} 1 f",
        "sed -n '/x/w {{a.b}}' f",
        "sort --compress-prog={{a.b}} f",
        "split --filter={{a.b}} f",
        "scp f host:{{a.b}}",
        "rsync -e {{a.b}} a b",
        "mybox run -- bash -c {{a.b}}",
        "nice env sh -c 'echo {{a.b}}'",
        "command cat {{a.b}}",
        "exec cat {{a.b}}",
        "timeout {{a.b}} ls",
    ] {
        refused(template, "x");
    }
    // Nor a number that is an argument by itself: it may be the name of a file.
    refused("sh {{a.b}}", "7");
    refused("timeout {{a.b}} ls", "7");
}

#[test]
fn data_does_not_reach_what_runs_its_input() {
    for template in [
        "echo {{a.b}} | xargs rm",
        "echo {{a.b}} | xargs -I% sh -c 'echo %'",
        "echo {{a.b}} | parallel",
        "echo {{a.b}} | env sh",
        "echo {{a.b}} | nice -n 5 bash -u",
        "echo {{a.b}} | flock f sh",
        "echo {{a.b}} | bash -o pipefail",
        "echo {{a.b}} | bash -s x",
        "echo {{a.b}} | bash /dev/stdin",
        "echo {{a.b}} | . /dev/stdin",
        "source /dev/stdin <<< {{a.b}}",
        "echo {{a.b}} | ssh -p 22 host",
        "echo {{a.b}} | $SHELL",
        "echo {{a.b}} | \"$SHELL\"",
        "echo {{a.b}} | eval \"$(cat)\"",
        "echo {{a.b}} | sh -c \"$(cat)\"",
        "echo {{a.b}} | sh -c 'sh'",
        "echo {{a.b}} | sh -c 'cat | sh'",
        "echo {{a.b}} | sh -c 'read x; eval \"$x\"'",
        "echo {{a.b}} | sh -c 'eval \"$(cat)\"'",
        "echo {{a.b}} | bash -c bash",
        "echo {{a.b}} | busybox sh",
        "echo {{a.b}} | docker exec -i box sh",
        "echo {{a.b}} | awk -f -",
        "echo {{a.b}} | make -f -",
        "echo {{a.b}} | sed -f /dev/stdin f",
        "echo {{a.b}} | m4",
        "echo {{a.b}} | ed f",
        "exec 3<<< {{a.b}}; sh <&3",
        "exec <<< {{a.b}}; sh",
        "echo {{a.b}} | sh < /dev/stdin",
        "echo {{a.b}} > x.sh; sh x.sh",
        "echo {{a.b}} > ./x; sh < x",
        "echo {{a.b}} >> x; ./x",
        "echo {{a.b}} | tee x; sh x",
        "f=x; echo {{a.b}} > \"$f\"; sh \"$f\"",
        "echo {{a.b}} | cat <<E\n$(sh)\nE",
        "echo {{a.b}} | sh <<E\n$(cat)\nE",
        "echo {{a.b}} | { y=$(cat); eval \"$y\"; }",
        "echo {{a.b}} | for y in \"$(cat)\"; do eval \"$y\"; done",
        "echo {{a.b}} | (set -- \"$(cat)\"; eval \"$1\")",
        "echo {{a.b}} | { export y=\"$(cat)\"; sh -c 'eval \"$y\"'; }",
        "echo {{a.b}} | { : \"${y:=$(cat)}\"; eval \"$y\"; }",
        "echo {{a.b}} | { a=(\"$(cat)\"); eval \"$a\"; }",
        "alias e=eval\ne {{a.b}}",
        "hash -p {{a.b}} ls",
        "v={{a.b}}; mapfile -C 'eval \"$v\" #' -c 1 < f",
        "mkdir -- {{a.b}}; find . -exec sh -c 'ls {}' \\;",
        "touch ./{{a.b}}; bash * x",
        "touch ./{{a.b}}; for f in *; do eval \"ls $f\"; done",
        "touch ./{{a.b}}; set -- *; eval \"$1\"",
    ] {
        refused(template, "x");
    }
}
