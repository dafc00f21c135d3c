//! Data in the arguments of programs that run these, and on its way into what such a program reads.

use super::{RefusalKind, command, refused};

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
        "tar cIf {{a.b}} x y",
        "tar {{a.b}} x y",
        "pytest {{a.b}}",
        "java -jar {{a.b}}",
        "npm test -- {{a.b}}",
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
fn data_does_not_choose_the_directory_that_a_program_takes_orders_from() {
    for template in [
        "cd {{a.b}} && make",
        "cd x/{{a.b}} && ./build.sh",
        "cd x/{{a.b}} && ../build.sh",
        "(cd \"{{a.b}}\" && npm test)",
        "pushd {{a.b}}; git status; popd",
        "cd -- {{a.b}}; . ./env.sh",
        "d={{a.b}}; cd \"$d\" && nice make",
        "for d in {{a.b}}; do (cd $d && cargo build); done",
        "git -C {{a.b}} status",
        "git --git-dir={{a.b}} log",
        "d={{a.b}}; git -C \"$d\" status",
        "npm --prefix {{a.b}} info",
        "printf x > {{a.b}}; ./run.sh",
        "f={{a.b}}; printf x > \"$f\"; ./run.sh",
        "for f in {{a.b}}; do printf x > out/$f; done; make",
        "printf x | tee {{a.b}}; make",
        "tar xf {{a.b}}; sh configure",
        "gcc {{a.b}}; ./a.out",
    ] {
        let refusal = refused(template, "x");
        assert!(
            refusal.message.contains("` chooses the directory"),
            "{refusal}"
        );
    }
}

#[test]
fn data_in_the_target_of_a_copy_is_a_path() {
    for template in [
        "cp f {{a.b}}",
        "cp -r -- f g \"{{a.b}}\"",
        "cp -t {{a.b}} f",
        "cp --target-directory={{a.b}} f",
        "mv f {{a.b}}",
        "touch -- {{a.b}}",
        "mkdir -p {{a.b}}",
        "rm -f {{a.b}}",
        "install -m 644 f {{a.b}}",
        "ln -s {{a.b}} f",
        "ln -s f {{a.b}}",
        "printf %s x | tee -a {{a.b}} > /dev/null",
        "dd if=f of={{a.b}}",
        "curl -s https://example.com -o {{a.b}}",
        "curl --output={{a.b}} https://example.com",
        "curl -so {{a.b}} https://example.com",
        "wget -qO{{a.b}} https://example.com",
        "sort f -o {{a.b}}",
        "tar -xf f -C {{a.b}}",
        "unzip f -d {{a.b}}",
    ] {
        for path in ["/etc/x", "../x", ".mcp.json", "x/.git/hooks/pre-commit"] {
            let refusal = command(template, &[("a.b", path)]).expect_err(template);
            assert_eq!(refusal.kind, RefusalKind::Path, "{template}: {refusal}");
            assert!(refusal.message.contains("`{{a.b}}`"), "{refusal}");
        }
        assert!(
            command(template, &[("a.b", "share/x")]).is_ok(),
            "{template}"
        );
    }
    // The copy has its name.
    let name = |template: &str, path: &str| command(template, &[("a.b", path)]).map(drop);
    for template in [
        "cp {{a.b}} .",
        "mv {{a.b}} g share/",
        "cp -t share {{a.b}}",
        "curl -sO https://example.com{{a.b}}",
        "wget https://example.com{{a.b}}",
    ] {
        assert!(name(template, "/etc/x/.mcp.json").is_err(), "{template}");
        assert!(name(template, "/etc/x/notes.json").is_ok(), "{template}");
    }
    // Where it can't be told.
    for template in [
        "cp f $HOME/{{a.b}}",
        "cp f \"$(echo {{a.b}})\"",
        "cd x && cp f {{a.b}}",
        "dd {{a.b}}",
        "f={{a.b}}; echo x > \"$f\"",
        "f={{a.b}}; g=x/$f; cp y \"${g}\"",
        "for f in {{a.b}}; do echo > $f; done",
        "export f={{a.b}}; cp x $f",
        "set -- {{a.b}}; echo > \"$1\"",
        "read -r f <<< {{a.b}}; echo > $f",
    ] {
        refused(template, "x");
    }
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
        "echo {{a.b}} > x; cp x y; sh y",
        "f=x; echo {{a.b}} > \"$f\"; . ./x",
        "export v={{a.b}}; make",
        "export v={{a.b}}; nice make -f - <<< '$v'",
        "export v={{a.b}}; tar -cf x --use-compress-program='eval \"$v\"' y",
        "export v={{a.b}}; tar -cf x -I'eval \"$v\"' y",
        "echo {{a.b}} > x; mv x ./y; . ./y",
        "cp {{a.b}} x; sh x",
        "ln -s {{a.b}} x; sh x",
        "cp {{a.b}} tool; chmod +x tool; ./tool",
        "curl -s https://example.com/{{a.b}} -o out/x; sh out/x",
        "rustc {{a.b}} -o t && ./t",
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
