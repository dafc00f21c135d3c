mod allowed;
mod fuzz;
mod runners;
mod shells;

use super::super::source::tests::text;
use super::super::{Policy, PolicyOptions};
use super::*;
use std::path::Path;

fn policy(change: impl FnOnce(&mut PolicyOptions)) -> Policy {
    let mut options = PolicyOptions {
        root: "/usr".into(),
        working_directory: "/usr".into(),
        ..PolicyOptions::default()
    };
    change(&mut options);
    Policy::new(options).expect("the folder exists")
}

fn command(template: &str, values: &[(&str, &str)]) -> Result<BoundCommand, Refusal> {
    policy(|_| {}).command(&text(template, values))
}

/// The script for data that is neither code nor a number.
fn script(template: &str) -> String {
    command(template, &[("a.b", "x y"), ("a.c", "z")])
        .unwrap_or_else(|refusal| panic!("{template}: {refusal}"))
        .script
}

fn refused(template: &str, value: &str) -> Refusal {
    let refusal = command(template, &[("a.b", value)]).expect_err(template);
    assert_eq!(refusal.kind, RefusalKind::Data, "{template}: {refusal}");
    assert!(refusal.message.contains("`{{a.b}}`"), "{refusal}");
    refusal
}

const V: &str = "${CUECARD_ARG_1}";

#[test]
fn trusted_commands_are_not_touched() {
    let command = command("echo `date` $'x' <<E | sh -c \"$1\n", &[]).expect("trusted");
    assert_eq!(command.script, "echo `date` $'x' <<E | sh -c \"$1\n");
    assert!(command.env.is_empty() && command.files.is_empty());
}

#[test]
fn data_is_bound_by_the_quotes_it_stands_in() {
    for (template, expected) in [
        ("echo {{a.b}}", format!("echo \"{V}\"")),
        ("echo \"<{{a.b}}>\"", format!("echo \"<{V}>\"")),
        ("echo '<{{a.b}}>'", format!("echo '<'\"{V}\"'>'")),
        ("tool --x={{a.b}}/y", format!("tool --x=\"{V}\"/y")),
        (
            "echo \"it's {{a.b}}\" 'a \"'{{a.b}}",
            format!("echo \"it's {V}\" 'a \"'\"{V}\""),
        ),
        (
            "echo \\' {{a.b}} \\\" '{{a.b}}'",
            format!("echo \\' \"{V}\" \\\" ''\"{V}\"''"),
        ),
        (
            "echo \"$(cat '{{a.b}}' | wc)\" {{a.b}}",
            format!("echo \"$(cat ''\"{V}\"'' | wc)\" \"{V}\""),
        ),
        (
            "echo $(case x in x) echo \")\" {{a.b}};; esac) '{{a.b}}'",
            format!("echo $(case x in x) echo \")\" \"{V}\";; esac) ''\"{V}\"''"),
        ),
        (
            "echo ${x:-'}'} \"${x%\\}}\" '{{a.b}}'",
            format!("echo ${{x:-'}}'}} \"${{x%\\}}}}\" ''\"{V}\"''"),
        ),
        (
            "echo $((1 + (2 * 3))) {{a.b}}",
            format!("echo $((1 + (2 * 3))) \"{V}\""),
        ),
        ("echo `date \\`x\\` '` {{a.b}}", String::new()),
        ("# it's\necho {{a.b}}", format!("# it's\necho \"{V}\"")),
        ("echo a#'{{a.b}}'", format!("echo a#''\"{V}\"''")),
        (
            "cat <<'E' && echo {{a.b}}\nit's\nE\necho '{{a.b}}'",
            format!("cat <<'E' && echo \"{V}\"\nit's\nE\necho ''\"{V}\"''"),
        ),
        (
            "cat <<-E\n\tit's\n\tE\necho '{{a.b}}'",
            format!("cat <<-E\n\tit's\n\tE\necho ''\"{V}\"''"),
        ),
        (
            "a=(1 'x' {{a.b}}); echo {{a.b}}",
            format!("a=(1 'x' \"{V}\"); echo \"{V}\""),
        ),
        (
            "[[ a =~ ^(x|'y')$ && {{a.b}} == x* ]] && echo '{{a.b}}'",
            format!("[[ a =~ ^(x|'y')$ && \"{V}\" == x* ]] && echo ''\"{V}\"''"),
        ),
        (
            "for ((i = 0; i < 3; i++)); do echo {{a.b}}; done",
            format!("for ((i = 0; i < 3; i++)); do echo \"{V}\"; done"),
        ),
        (
            "f() { echo {{a.b}}; }; f",
            format!("f() {{ echo \"{V}\"; }}; f"),
        ),
        (
            "echo $$ $# \"$?\" '{{a.b}}'",
            format!("echo $$ $# \"$?\" ''\"{V}\"''"),
        ),
        (
            "echo a \\\n  '{{a.b}}'",
            format!("echo a \\\n  ''\"{V}\"''"),
        ),
        (
            "diff <(sort a) <(echo {{a.b}}) 2>&1 >/dev/null",
            format!("diff <(sort a) <(echo \"{V}\") 2>&1 >/dev/null"),
        ),
        ("echo \"a\\\\{{a.b}}\"", format!("echo \"a\\\\{V}\"")),
        (
            "while read -r l; do echo \"$l\"; done < /etc/hosts; echo {{a.b}}",
            format!("while read -r l; do echo \"$l\"; done < /etc/hosts; echo \"{V}\""),
        ),
    ] {
        if expected.is_empty() {
            // What is between backticks must close its quotes.
            refused(template, "x");
        } else {
            assert_eq!(script(template), expected, "{template}");
        }
    }
}

#[test]
fn a_reference_has_one_variable() {
    let bound = command(
        "echo {{a.b}} '{{a.c}}' \"{{a.b}}\"",
        &[("a.b", "1"), ("a.c", "1")],
    )
    .expect("bound");
    assert_eq!(
        bound.script,
        "echo \"${CUECARD_ARG_1}\" ''\"${CUECARD_ARG_2}\"'' \"${CUECARD_ARG_1}\""
    );
    let names: Vec<_> = bound
        .env
        .iter()
        .map(|(name, _)| name.to_str().expect("ASCII"))
        .collect();
    assert_eq!(names, ["CUECARD_ARG_1", "CUECARD_ARG_2"]);
}

#[test]
fn places_where_data_cannot_be_bound_are_refused() {
    for (template, word) in [
        ("cat <<E\n{{a.b}}\nE", "here-document"),
        ("cat <<'E'\n{{a.b}}\nE", "here-document"),
        ("cat <<{{a.b}}\nE", "here-document"),
        ("echo `echo {{a.b}}`", "backticks"),
        ("echo \"`echo '{{a.b}}'`\"", "backticks"),
        ("echo $'{{a.b}}'", "`$'…'`"),
        ("echo ${x:-{{a.b}}}", "`${…}`"),
        ("echo \"${x:-{{a.b}}}\"", "`${…}`"),
        ("echo ${x:-$(echo {{a.b}})}", "`${…}`"),
        ("echo $(( {{a.b}} + 1 ))", "arithmetic"),
        ("echo $(( $(echo {{a.b}}) + 1 ))", "arithmetic"),
        ("(( {{a.b}} > 1 )) && true", "arithmetic"),
        ("a=([{{a.b}}]=1)", "arithmetic"),
        ("echo # {{a.b}}", "comment"),
        ("echo ${{a.b}}", "`$`"),
        ("echo \"${{a.b}}\"", "`$`"),
        ("echo \\{{a.b}}", "backslash"),
        ("echo \"\\{{a.b}}\"", "backslash"),
        ("for {{a.b}} in x; do :; done", "name"),
        ("function {{a.b}} { :; }", "name"),
    ] {
        // Braces in a row belong to the reference.
        let refusal = refused(&template.replace("-{{a.b}}}", "-{{a.b}} }"), "x");
        assert!(refusal.message.contains(word), "{template}: {refusal}");
    }
}

#[test]
fn data_that_would_be_code_is_refused() {
    for template in [
        "{{a.b}}",
        "{{a.b}} x",
        "x/{{a.b}} y",
        "\"{{a.b}}\"",
        "$({{a.b}})",
        "$(echo {{a.b}}) x",
        "if {{a.b}}; then :; fi",
        "! {{a.b}}",
        "X=1 {{a.b}}",
        "a=b; ${x}{{a.b}}",
        "eval {{a.b}}",
        "eval \"echo '{{a.b}}'\"",
        "builtin eval {{a.b}}",
        "eval \"$(echo {{a.b}})\"",
        ". {{a.b}}",
        "source ./{{a.b}}",
        "source <(echo {{a.b}})",
        "trap {{a.b}} EXIT",
        "alias x={{a.b}}",
        "sh -c {{a.b}}",
        "sh -c 'echo {{a.b}}'",
        "/bin/bash -euo pipefail -c \"echo {{a.b}}\"",
        "bash -lc \"$(echo {{a.b}})\"",
        "bash {{a.b}}",
        "bash -- {{a.b}}",
        "sudo -u bob sh -c \"echo {{a.b}}\"",
        "docker exec box sh -c \"echo {{a.b}}\"",
        "env X=1 {{a.b}}",
        "env -S {{a.b}}",
        "nohup {{a.b}}",
        "timeout 5 {{a.b}}",
        "timeout -k 5 5 {{a.b}}",
        "sudo -u bob {{a.b}}",
        "exec {{a.b}}",
        "command -- {{a.b}}",
        "xargs {{a.b}}",
        "ls | xargs -n1 echo {{a.b}}",
        "ssh host echo {{a.b}}",
        "find . -exec sh -c 'echo {{a.b}}' \\;",
        "find . -exec {{a.b}} \\;",
        "find . -exec awk '{{a.b}}' {} +",
        "make X={{a.b}}",
        "python3 -c 'print({{a.b}})'",
        "python3.12 -Ic \"{{a.b}}\"",
        "python -m {{a.b}}",
        "python {{a.b}}",
        "perl -ne '{{a.b}}' f",
        "perl -e'{{a.b}}'",
        "ruby -e 1 -e {{a.b}}",
        "node --eval={{a.b}}",
        "node -p {{a.b}}",
        "node --require {{a.b}} x.js",
        "awk '{ print {{a.b}} }' f",
        "awk -F : -v x=1 {{a.b}} f",
        "sed s/x/{{a.b}}/ f",
        "sed -n -e {{a.b}} f",
        "sed -e p f -e {{a.b}}",
        "jq .{{a.b}} f",
        "psql -c 'select {{a.b}}'",
        "su -c {{a.b}}",
        "bash <<< {{a.b}}",
        "sh < {{a.b}}",
        "echo {{a.b}} | sh",
        "echo {{a.b}} | sudo bash -s x",
        "{ sh; } <<< {{a.b}}",
        "printf %s {{a.b}} | while :; do python3 -; done",
        "echo {{a.b}} | ssh host",
        "read {{a.b}}",
        "unset {{a.b}}",
        "export {{a.b}}",
        "declare -i x={{a.b}}",
        "declare -n x={{a.b}}",
        "printf -v {{a.b}} x",
        "printf -v{{a.b}} x",
        "printf '-v{{a.b}}' x",
        "printf -va{{a.b}} x",
        "sleep 0 & wait -p {{a.b}} -n",
        "sleep 0 & wait -p{{a.b}} -n",
        "echo {{a.b}} | curl -K -",
        "echo {{a.b}} > c; curl -sK c",
        "printf %s {{a.b}} | sort --files0-from=-",
        "printf %s {{a.b}} | find -files0-from -",
        "printf %s {{a.b}} | tar cf x.tar -T -",
        "let x={{a.b}}",
        "[ -v {{a.b}} ]",
        "test {{a.b}} -gt 5",
        "[[ {{a.b}} -gt 5 ]]",
        "[[ -v {{a.b}} ]]",
        "[[ a > {{a.b}} ]]",
        "a[{{a.b}}]=1",
        "PATH={{a.b}} ls",
        "export LD_PRELOAD={{a.b}}",
        "env GIT_SSH_COMMAND={{a.b}} git pull",
        "PS4={{a.b}}",
        "$tool {{a.b}}",
        "\"$(which x)\" {{a.b}}",
        "bash $flags -c {{a.b}}",
        "bash -o $option -c x {{a.b}}",
        "python3 -c $code {{a.b}}",
        "sudo -u $user cat {{a.b}}",
        "timeout $limit cat {{a.b}}",
        "sudo --unknown x {{a.b}}",
        "sh -c 'eval \"$1\"' sh {{a.b}}",
        "sh -c '\"$@\"' sh {{a.b}}",
        "sh -c 'echo $(($1 + 1))' sh {{a.b}}",
        "sh -c \"$code\" sh {{a.b}}",
        "sh -c 'sh -c \"$1\"' sh {{a.b}}",
        "jq --arg x {{a.b}} '.[$x]' f",
        "awk -v x={{a.b}} '$1 == x' f",
        "sed -n p {{a.b}}",
        "python3 tool.py {{a.b}}",
        "python3 -c 'import sys; print(sys.argv[1])' {{a.b}}",
        "node tool.js --name={{a.b}}",
        "sh -c 'printf %s \"$1\"' sh {{a.b}}",
        "sh -c 'echo \"$@\"' sh $x {{a.b}}",
        "bash -c 'for f in \"$@\"; do rm -- \"$f\"; done' bash {{a.b}}",
        "env X={{a.b}} ./tool",
        "find . -name {{a.b}} -exec cat {} +",
        "sudo -u bob cat {{a.b}}",
        "sudo -u \"$user\" cat {{a.b}}",
        "timeout 5 cat {{a.b}}",
        "docker run --rm box tool {{a.b}}",
        "npx -y tool {{a.b}}",
        "psql -v x={{a.b}} -f query.sql",
        "sh -c 'echo \"$1\" | sh' sh {{a.b}}",
    ] {
        refused(template, "x");
    }
}

#[test]
fn data_in_a_variable_is_not_evaluated() {
    for template in [
        "x={{a.b}}; eval '$x'",
        "x={{a.b}}; eval 'eval \"$x\"'",
        "x={{a.b}}; trap '$x' EXIT",
        "x={{a.b}} sh -c 'eval \"$x\"'",
        "x={{a.b}} sh -c '$x'",
        "x={{a.b}} sh -c \"sh -c '\\$x'\"",
        "x={{a.b}} nice bash -c 'echo $((x))'",
        "x={{a.b}}; git -c core.pager=\"$x\" log",
        "x={{a.b}}; env \"$x\"",
        "x={{a.b}}; timeout 5 cat \"$x\"",
        "x={{a.b}}; PATH=$x",
        "x={{a.b}}; export LD_PRELOAD=\"$x\"",
        "read PATH <<< {{a.b}}",
        "for PATH in {{a.b}}; do ls; done",
        "printf -v PATH %s {{a.b}}",
        "x={{a.b}}; echo $((x + 1))",
        "x={{a.b}}; (( x > 1 )) && :",
        "x={{a.b}}; [[ $x -gt 1 ]]",
        "x={{a.b}}; eval \"$x\"",
        "x={{a.b}}; $x",
        "x={{a.b}}; sh -c \"$x\"",
        "x={{a.b}}; echo ${!x}",
        "x={{a.b}}; echo ${a[x]}",
        "x={{a.b}}; echo ${y:x:1}",
        "x={{a.b}}; echo ${x@P}",
        "x={{a.b}}; test -v \"$x\"",
        "x={{a.b}}; test -v a[x]",
        "x={{a.b}}; a[x]=1",
        "x={{a.b}}; a[$x]+=1",
        "x={{a.b}}; a=([x]=1)",
        "x={{a.b}}; a[x==1]=2",
        "echo x > {{a.b}}; sh -c *",
        "touch ./{{a.b}}; eval *",
        "touch ./{{a.b}}; ?*",
        "x={{a.b}}; read a[x]",
        "x={{a.b}}; unset 'a[x]'",
        "x={{a.b}}; printf -v a[x] y",
        "x={{a.b}}; declare a[x]=1",
        "x={{a.b}}; declare -a a=\"$x\"",
        "x={{a.b}}; read \"$x\"",
        "x={{a.b}}; export \"$x\"",
        "x=$(echo {{a.b}}); echo $((x))",
        "for x in {{a.b}}; do let y=x; done",
        "export x={{a.b}}; declare -i y=x",
        "set -- {{a.b}}; echo $(($1))",
        "printf -v x %s {{a.b}}; echo $((x))",
        "echo {{a.b}} | { read x; echo $((x)); }",
        "read x <<< {{a.b}}; echo $((x))",
        "f() { echo $(($1)); }; f {{a.b}}",
        "echo {{a.b}}; echo $(($_))",
        "a=({{a.b}}); echo ${a[0]}",
        "x={{a.b}}; bash <<E\necho $x\nE",
    ] {
        refused(template, "x");
        // A plain integer evaluates to itself.
        command(template, &[("a.b", "12")])
            .unwrap_or_else(|refusal| panic!("{template}: {refusal}"));
    }
}

#[test]
fn plain_integers_may_stand_where_code_is_expected() {
    for (template, expected) in [
        (
            "echo $(( {{a.b}} + 1 ))",
            "echo $(( (${CUECARD_ARG_1}) + 1 ))",
        ),
        ("[[ {{a.b}} -gt 5 ]]", "[[ \"${CUECARD_ARG_1}\" -gt 5 ]]"),
        ("test {{a.b}} -gt 5", "test \"${CUECARD_ARG_1}\" -gt 5"),
        (
            "awk 'NR == {{a.b}}' f",
            "awk 'NR == '\"${CUECARD_ARG_1}\"'' f",
        ),
        ("jq '.[{{a.b}}]' f", "jq '.['\"${CUECARD_ARG_1}\"']' f"),
    ] {
        assert_eq!(
            command(template, &[("a.b", "7")]).expect(template).script,
            expected
        );
    }
    // But they are no programs.
    refused("{{a.b}}", "7");
}

#[test]
fn the_usual_ways_to_use_data_work() {
    for template in [
        "git commit -m {{a.b}}",
        "git -C x push -u origin {{a.b}}",
        "find . -name {{a.b}} -type f",
        "tar -czf out.tgz {{a.b}}",
        "./tool.py {{a.b}}",
        "X={{a.b}} python3 tool.py",
        "X={{a.b}} timeout 5 sh -c 'cat \"$X\"'",
        "x={{a.b}}; export x; bash -c 'for f in a \"$x\"; do rm -- \"$f\"; done'",
        "printf %s {{a.b}} | sudo tee f",
        "printf %s {{a.b}} | awk -F- '{ print $1 }' | sed -n 1p",
        "trap 'rm -f \"$t\"' EXIT; cat {{a.b}}",
        "gh issue create --title {{a.b}} --body \"{{a.c}}\"",
        "echo {{a.b}} | tee out.txt",
        "curl -s https://example.com/{{a.b}} | jq -r .x",
        "printf %s {{a.b}} | ssh host 'cat > f'",
        "printf %s {{a.b}} | python3 -c 'import sys; sys.stdin.read()'",
        "X={{a.b}} ./tool",
        "export X={{a.b}} \"Y={{a.c}}\"",
        "x={{a.b}}; echo \"$x\" $(date) $((1 + 2)) ${HOME:-x}",
        "if [ {{a.b}} = ok ] || [ -z \"{{a.b}}\" ]; then echo yes; fi",
        "if [[ {{a.b}} == ok && -n {{a.c}} ]]; then echo yes; fi",
        "case {{a.b}} in ok|{{a.c}}) echo yes;; *) echo no; esac",
        "for f in {{a.b}} {{a.c}}; do echo \"$f\"; done",
        "while read -r l; do echo \"$l\"; done <<< {{a.b}}",
        "grep -F -- {{a.b}} file | wc -l",
        "$HOME/bin/tool {{a.b}}",
        "time -p cat {{a.b}}",
        "cd {{a.b}} && ls && sed -n 1p f; /usr/bin/wc f",
        "cd src && make -s; echo {{a.b}}",
        "cp {{a.b}} out.txt && mv -- {{a.b}} out/{{a.c}}",
        "printf %s x | tee -a out/{{a.b}}; dd if={{a.b}} of=out/{{a.c}}",
        "ln -s inner {{a.b}}",
        "install -m 644 -t out {{a.b}}",
        "set -euo pipefail; cat {{a.b}}",
        "apt-get install bash {{a.b}}",
    ] {
        script(template);
    }
}

#[test]
fn data_is_no_option() {
    for template in [
        "rm {{a.b}}",
        "rm \"{{a.b}}\"",
        "rm ''{{a.b}}",
        "rm $x{{a.b}}",
        "git -C x log '{{a.b}}'",
        "cat -{{a.b}}",
        "cat --{{a.b}}",
        "echo {{a.b}} | tee {{a.b}}",
        "[ {{a.b}} x ]",
    ] {
        let refusal = refused(template, "-rf");
        assert!(
            refusal.help.contains("`--`") && refusal.help.contains("`./{{a.b}}`"),
            "{}",
            refusal.help
        );
    }
    refused("echo {{a.b}}", "-ne");
    refused("rm {{a.b}}", "--");
    refused("kill {{a.b}}", "-1");
    for (template, value) in [
        ("rm -- {{a.b}}", "-rf"),
        ("rm ./{{a.b}}", "-rf"),
        ("tool --name={{a.b}}", "-rf"),
        ("tool -n{{a.b}}", "-rf"),
        ("echo {{a.b}}", "-rf"),
        ("printf %s {{a.b}}", "-rf"),
        ("[ {{a.b}} = -rf ]", "-rf"),
        ("[ -n {{a.b}} ]", "-rf"),
        ("[[ {{a.b}} == x ]]", "-rf"),
        ("x={{a.b}}", "-rf"),
        ("for x in {{a.b}}; do :; done", "-rf"),
        ("git commit -m {{a.b}}", "- a list\n- of points"),
        ("cat {{a.b}}", "-"),
        ("head -{{a.b}} f", "20"),
        ("rm {{a.b}}", "a -rf"),
    ] {
        command(template, &[("a.b", value)])
            .unwrap_or_else(|refusal| panic!("{template}: {refusal}"));
    }
    // Two references can make an option together.
    let refusal =
        command("rm {{a.b}}{{a.c}}", &[("a.b", "-"), ("a.c", "rf")]).expect_err("an option");
    assert!(refusal.message.contains("begins with `-`"), "{refusal}");
}

#[test]
fn what_shells_read_differently_is_refused() {
    for template in [
        "echo $'it\\'s' {{a.b}}",
        "echo $[1] {{a.b}}",
        "echo \"${x:-'a'}\" {{a.b}}",
        "(( x = 'a' )); echo {{a.b}}",
        "echo $((1); (2)) {{a.b}}",
        "cat <<E \"\nx\nE\n\" {{a.b}}",
        "cat <<E\n$(echo\nE\n)\nE\necho {{a.b}}",
        "cat <<E\n\\\nE\nE\necho {{a.b}}",
        "cat <<E; echo {{a.b}}",
        "echo \"{{a.b}}",
        "echo '{{a.b}}",
        "echo $(echo {{a.b}}",
        "echo {{a.b}})",
        "echo a(b) {{a.b}}",
        "echo <\\\n<E {{a.b}}",
        "echo {{a.b}} \\",
        "echo {{a.b}} >",
        "case x in {{a.b}}",
        "coproc cat {{a.b}}",
        "[[ a == b # {{a.b}}\n]]",
    ] {
        refused(template, "x");
    }
    let deep = format!("{}{{{{a.b}}}}{}", "echo $(".repeat(100), ")".repeat(100));
    refused(&deep, "x");
}

#[test]
fn a_redirection_to_data_stays_inside_the_root() {
    let dir = tempfile::tempdir().expect("a folder");
    let policy = policy(|options| {
        options.root = dir.path().into();
        options.working_directory = dir.path().into();
    });
    let run = |template: &str, value: &str| policy.command(&text(template, &[("a.b", value)]));
    assert!(run("echo x > {{a.b}}", "out/file").is_ok());
    assert!(run("cat < 'data/{{a.b}}' 2>&1", "file").is_ok());
    assert!(run("echo x >&{{a.b}}", "2").is_ok());
    for (template, value) in [
        ("echo x > {{a.b}}", "/etc/passwd"),
        ("cat < out/{{a.b}}", "../../etc/passwd"),
        ("{ echo x; } >> {{a.b}}", "../x"),
        ("echo $(: &> {{a.b}})", "/dev/tcp/host/80"),
    ] {
        assert_eq!(
            run(template, value).expect_err(template).kind,
            RefusalKind::Path,
            "{template}"
        );
    }
    for template in [
        "cd x && echo x > {{a.b}}",
        "f() { cd /; }; f; echo > {{a.b}}",
        "echo x > $HOME/{{a.b}}",
        "echo x > ~/{{a.b}}",
        "echo x >& {{a.b}}",
    ] {
        assert_eq!(
            run(template, "file").expect_err(template).kind,
            RefusalKind::Data,
            "{template}"
        );
    }
}

#[test]
fn a_nul_byte_is_refused() {
    let refusal = command("echo {{a.b}}", &[("a.b", "a\0b")]).expect_err("NUL");
    assert_eq!(refusal.kind, RefusalKind::Data);
    assert_eq!(
        command("echo \0", &[]).expect_err("NUL").kind,
        RefusalKind::Command
    );
}

#[test]
fn long_commands_are_read_in_one_pass() {
    // Each of these would take hours if a part of it were read again for every character or word.
    for part in [
        "=",
        "a",
        "a=b ",
        "> f;",
        "sh ",
        "-exec sh ",
        "python -c ",
        "[ a ] ",
        "$x",
        "a[",
        "'a'",
        "\\\n",
        "\n",
        "(",
        "))",
        "<<E\n",
        "` ",
    ] {
        let long = format!("find a{} {{{{a.b}}}}", part.repeat(250_000 / part.len()));
        match command(&long, &[("a.b", "x")]) {
            Ok(bound) => assert!(bound.script.ends_with("\"${CUECARD_ARG_1}\""), "{part}"),
            Err(refusal) => assert_eq!(refusal.kind, RefusalKind::Data, "{part}: {refusal}"),
        }
    }
}

#[test]
fn a_command_that_is_too_long_to_read_is_refused() {
    let long = format!("echo {} {{{{a.b}}}}", "x".repeat(2 << 20));
    assert_eq!(
        command(&long, &[("a.b", "x")]).expect_err("long").kind,
        RefusalKind::Command
    );
}

#[test]
fn files_for_large_data_are_private_and_in_the_run_directory() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().expect("a folder");
    let policy = policy(|options| options.run_dir = Some(dir.path().into()));
    let large = "x".repeat(70_000);
    let bound = policy
        .command(&text("echo {{a.b}}", &[("a.b", &large)]))
        .expect("bound");
    let file = &bound.files[0];
    assert!(
        file.path()
            .starts_with(dir.path().canonicalize().expect("it exists"))
    );
    assert_eq!(
        file.as_file()
            .metadata()
            .expect("metadata")
            .permissions()
            .mode()
            & 0o077,
        0
    );
    assert_eq!(
        bound.env,
        [("CUECARD_FILE_1".into(), file.path().as_os_str().to_owned())]
    );
    let path = file.path().to_owned();
    drop(bound);
    assert!(!Path::exists(&path));
}
