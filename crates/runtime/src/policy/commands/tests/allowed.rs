//! Which programs the flags let run.

use super::super::super::RefusalKind;
use super::super::super::source::tests::text;
use super::policy;

#[test]
fn only_commands_holds_every_program() {
    let policy = policy(|options| {
        options.only_commands = [
            "git",
            "echo",
            "cat",
            "env",
            "find",
            "timeout",
            "[",
            "/opt/tool",
        ]
        .map(String::from)
        .to_vec();
    });
    let run = |script: &str| policy.command(&script.into());
    for script in [
        "git status",
        "/usr/bin/git status && echo ok || echo no; cat < f > g 2>&1 &\ncat",
        "if [ -f x ]; then echo `git log`; fi | cat",
        "X=1 git -C \"$(git rev-parse --show-toplevel)\" log \"$x\" > rm",
        "for rm in rm mv; do echo $rm; done",
        "case rm in rm|mv) echo rm;; esac",
        "(git log) | { cat; } | env -u X Y=1 cat",
        "'git' l\"og\"; g\\it log",
        "cat <<E\nrm $x\nE",
        "# rm\necho 'a; rm' \"b | rm\"",
        "command git log; exec git log; time git log; ! git log",
        "timeout 5 git log; find . -exec cat {} +",
        "[[ rm == mv ]] && echo $((1 + 2))",
        "X=1",
        "> f",
        "",
        "/opt/tool",
    ] {
        run(script).unwrap_or_else(|refusal| panic!("{script}: {refusal}"));
    }
    for script in [
        "rm x",
        "git status; rm x",
        "git status | rm",
        "git status && rm",
        "git status || rm",
        "git status & rm",
        "git status\nrm",
        "echo $(rm x)",
        "echo \"$(rm x)\"",
        "echo ${x:-$(rm x)}",
        "echo $(( $(rm x) ))",
        "echo `rm x`",
        "echo \"`rm x`\"",
        "echo `echo \\`rm x\\``",
        "cat <(rm x)",
        "X=$(rm x)",
        "X=1 rm",
        "> f rm",
        "2> f rm x",
        "if rm x; then echo; fi",
        "while rm x; do echo; done",
        "for x in $(rm x); do echo; done",
        "for x in a; do rm x; done",
        "case $(rm x) in a) echo;; esac",
        "case a in a) rm x;; esac",
        "! rm x",
        "{ rm x; }",
        "(rm x)",
        "time rm x",
        "command rm x",
        "exec rm x",
        "env rm x",
        "env -u X rm x",
        "timeout 5 rm x",
        "find . -exec rm {} +",
        "a=(1 $(rm x))",
        "[[ $(rm x) == y ]]",
        "r\\m x",
        "'rm' x",
        "\"r\"m x",
        "/opt/other/tool",
        "[[ a ]] && rm x",
        "cat <<E; rm x\nE",
        "cat <<E\nE\nrm x",
        "cat <<'E'\nE\nrm x",
    ] {
        let refusal = run(script).expect_err(script);
        assert_eq!(refusal.kind, RefusalKind::Command);
        assert!(
            refusal.message.contains("starts `rm`")
                || refusal.message.contains("starts `tool`")
                || refusal.message.contains("starts `time`"),
            "{script}: {refusal}"
        );
        assert!(
            refusal.help.starts_with("add it with `--only-commands"),
            "{}",
            refusal.help
        );
    }
    for script in [
        "git -c alias.x='!rm x' x",
        "git -c core.pager=rm log",
        "env git clone --upload-pack=rm x",
        "git difftool -y -x rm",
        "git bisect run rm",
        "git submodule foreach rm",
        "git config alias.z '!rm x'",
        "git config --global core.pager rm",
        "$x",
        "\"$x\" git",
        "$(echo rm) x",
        "`echo rm` x",
        "eval rm x",
        "source x",
        ". x",
        "trap 'rm x' EXIT",
        "alias git=rm",
        "{rm,x}",
        "r? x",
        "/bin/r* x",
        "command $x",
        "exec -a git $x",
        "git() { rm; }",
        "function git { rm; }",
        "env -S 'rm x'",
        "cat <<E\n$(rm x)\nE",
        "((rm x))",
        "echo $((x)) 'a[$(rm x)]'",
        "[[ -v 'a[$(rm x)]' ]]",
        "echo \"",
        "echo $'\\'' rm",
        "$'rm' x",
        "coproc rm",
    ] {
        let refusal = run(script).expect_err(script);
        assert_eq!(refusal.kind, RefusalKind::Command);
        assert!(
            refusal
                .message
                .starts_with("can't determine which programs the command starts"),
            "{script}: {refusal}"
        );
    }
}

#[test]
fn confine_and_read_only_let_allowed_programs_run() {
    for confine in [true, false] {
        let flag = if confine { "--confine" } else { "--read-only" };
        let none = policy(|options| {
            options.confine = confine;
            options.read_only = !confine;
        });
        let refusal = none.command(&"true".into()).expect_err("no commands");
        assert_eq!(refusal.kind, RefusalKind::Command);
        assert!(
            refusal.message.contains(flag) && refusal.help.contains(flag),
            "{refusal}"
        );
        assert!(refusal.help.contains("--allow-command"), "{}", refusal.help);
        let some = policy(|options| {
            options.confine = confine;
            options.read_only = !confine;
            options.allow_commands = vec!["git".into()];
        });
        let run = |script: &str| some.command(&script.into());
        assert!(run("git status 2>&1 >/dev/null").is_ok());
        assert!(run("git config --global user.name x; git config --get x.y").is_ok());
        let refusal = run("git status; rm x").expect_err("not allowed");
        assert!(
            refusal.message.contains("starts `rm`")
                && refusal.help.ends_with("`--allow-command rm`"),
            "{refusal}"
        );
        assert!(run("git log > /etc/x").is_err());
        assert!(run("git log > $x").is_err());
        assert!(run("git log >& /etc/x").is_err());
        // The root here is `/usr`.
        assert_eq!(run("git log > log").is_ok(), confine);
        assert_eq!(run("git log < /etc/hosts").is_ok(), !confine);
        let both = policy(|options| {
            options.confine = confine;
            options.read_only = !confine;
            options.allow_commands = vec!["git".into(), "rm".into()];
            options.only_commands = vec!["git".into()];
        });
        assert!(both.command(&"rm x".into()).is_err());
        assert!(
            both.command(&text("git log {{a.b}}", &[("a.b", "x")]))
                .is_ok()
        );
        assert!(
            both.command(&text("git log {{a.b}}", &[("a.b", "-x")]))
                .is_err()
        );
    }
}
