//! Which programs the flags let run.

use super::super::super::RefusalKind;
use super::{policy, text};

#[test]
fn only_commands_compares_the_names_of_simple_commands() {
    let policy = policy(|options| {
        options.only_commands = ["git", "echo", "cat", "[", "/opt/tool"]
            .map(String::from)
            .to_vec();
    });
    let run = |script: &str| policy.command(&script.into());
    for script in [
        "git status",
        "/usr/bin/git status && echo ok || echo no; cat < f > g 2>&1 &\ncat",
        "if [ -f x ]; then echo $(git log); fi | cat",
        "git -C \"$(git rev-parse --show-toplevel)\" log \"$x\" > rm",
        "(git log) | { cat; } | ! cat",
        "'git' l\"og\"; g\\it log",
        "# rm\necho 'a; rm' \"b | rm\"",
        "> f",
        "",
        "echo 'see [x](y): $(z)'",
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
        "> f rm",
        "2> f rm x",
        "if rm x; then echo; fi",
        "! rm x",
        "{ rm x; }",
        "(rm x)",
        "r\\m x",
        "'rm' x",
        "\"r\"m x",
        "./rm",
        "/usr/bin/rm",
        "/opt/other/git",
    ] {
        let refusal = run(script).expect_err(script);
        assert_eq!(refusal.kind, RefusalKind::Command);
        let name = match script {
            "./rm" | "/opt/other/git" => script,
            _ => "rm",
        };
        assert!(
            refusal.message.contains(&format!("starts `{name}`"))
                && refusal.help == format!("add it with `--only-commands {name}`"),
            "{script}: {refusal}"
        );
    }
    for script in [
        "$x",
        "\"$x\" git",
        "$(echo git) x",
        "`echo git` x",
        "eval git x",
        "source x",
        "trap 'rm x' EXIT",
        "alias git=rm",
        "{git,x}",
        "g? x",
        "~/git",
        "command git",
        "exec git",
        "git() { rm; }",
        "PATH=. git",
        "LD_PRELOAD=x git",
        "for x in $(rm x); do echo; done",
        "cat <<E\n$(rm x)\nE",
        "cat <(rm x)",
        "((rm x))",
        "echo ${x:-$(rm x)}",
        "[[ -v 'a[$(rm x)]' ]]",
        "[ -v 'a[$(rm x)]' ]",
        "[ -v \"a[\\`rm x\\`]\" ]",
        "echo \"",
        "coproc git",
    ] {
        let refusal = run(script).expect_err(script);
        assert_eq!(refusal.kind, RefusalKind::Command);
        assert!(
            refusal
                .message
                .starts_with("can't determine which programs the command starts: it has "),
            "{script}: {refusal}"
        );
    }
}

#[test]
fn confine_and_read_only_let_allowed_programs_run() {
    for confine in [true, false] {
        let flag = if confine { "--confine" } else { "--read-only" };
        let limited = |allowed: &[&str], only: &[&str]| {
            policy(|options| {
                options.confine = confine;
                options.read_only = !confine;
                options.allow_commands = allowed.iter().map(ToString::to_string).collect();
                options.only_commands = only.iter().map(ToString::to_string).collect();
            })
        };
        let refusal = limited(&[], &[])
            .command(&"true".into())
            .expect_err("no commands");
        assert_eq!(refusal.kind, RefusalKind::Command);
        assert!(
            refusal.message.contains(flag) && refusal.help.contains(flag),
            "{refusal}"
        );
        assert!(refusal.help.contains("--allow-command"), "{}", refusal.help);
        let some = limited(&["git", "cd"], &[]);
        let run = |script: &str| some.command(&script.into());
        assert!(run("git status 2>&1 >/dev/null").is_ok());
        let refusal = run("git status; rm x").expect_err("not allowed");
        assert!(
            refusal.message.contains("starts `rm`")
                && refusal.help.ends_with("`--allow-command rm`"),
            "{refusal}"
        );
        for outside in [
            "git log > /etc/x",
            "git log > $x",
            "git log > ~/x",
            "cd ..; git log > x",
        ] {
            assert!(run(outside).is_err(), "{outside}");
        }
        // The root here is `/usr`.
        assert_eq!(run("git log > log").is_ok(), confine);
        assert_eq!(run("git log < /etc/hosts").is_ok(), !confine);
        let both = limited(&["git", "rm"], &["git"]);
        assert!(both.command(&"rm x".into()).is_err());
        let with_data = |value| both.command(&text("git log {{a.b}}", &[("a.b", value)]));
        assert!(with_data("x").is_ok() && with_data("-x").is_err());
    }
}
