mod adversary;
mod fuzz;
mod lists;
mod proposals;
mod shells;

use super::super::source::tests::text;
use super::super::{Policy, PolicyOptions};
use super::*;

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

fn refused(template: &str, value: &str) -> Refusal {
    command(template, &[("a.b", value)]).expect_err(template)
}

/// A template with `D` for data.
fn with_data(template: &str) -> String {
    template.replace('D', "{{a.b}}")
}

/// The command behind the lines that take the data out of the environment.
fn body(script: &str) -> &str {
    script
        .rsplit_once("=$CUECARD_0; ")
        .map_or(script, |(_, body)| body)
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
        ("echo '{{a.b}}' ''", format!("echo \"{V}\" ''")),
        (
            "echo \"it's {{a.b}}\" 'a \"'{{a.b}}",
            format!("echo \"it's {V}\" 'a \"'\"{V}\""),
        ),
        (
            "echo \\' {{a.b}} \\\" '{{a.b}}'",
            format!("echo \\' \"{V}\" \\\" \"{V}\""),
        ),
        (
            "echo \"$(cat '{{a.b}}' | wc)\" {{a.b}}",
            format!("echo \"$(cat \"{V}\" | wc)\" \"{V}\""),
        ),
        (
            "# it's {{a.b}}\necho {{a.b}}",
            format!("# it's {V}\necho \"{V}\""),
        ),
        ("echo a#'{{a.b}}'", format!("echo a#\"{V}\"")),
        (
            "if [ -f x ]; then { echo {{a.b}}; }; fi 2>&1 | (cat; ! wc)",
            format!("if [ -f x ]; then {{ echo \"{V}\"; }}; fi 2>&1 | (cat; ! wc)"),
        ),
        (
            "echo $$ $# \"$?\" ${HOME} '{{a.b}}'",
            format!("echo $$ $# \"$?\" ${{HOME}} \"{V}\""),
        ),
        ("echo a \\\n  '{{a.b}}'", format!("echo a \\\n  \"{V}\"")),
        ("echo \"a\\\\{{a.b}}\"", format!("echo \"a\\\\{V}\"")),
    ] {
        let bound = command(template, &[("a.b", "x y")])
            .unwrap_or_else(|refusal| panic!("{template}: {refusal}"));
        assert_eq!(body(&bound.script), expected, "{template}");
    }
}

#[test]
fn a_reference_has_one_variable() {
    let bound = command(
        "echo {{a.b}} '{{a.c}}' \"{{a.b}}\"",
        &[("a.b", "x"), ("a.c", "x")],
    )
    .expect("bound");
    assert_eq!(
        body(&bound.script),
        "echo \"${CUECARD_ARG_1}\" \"${CUECARD_ARG_2}\" \"${CUECARD_ARG_1}\""
    );
    let names: Vec<_> = bound.env.iter().map(|(name, _)| name.as_os_str()).collect();
    assert_eq!(names, ["CUECARD_ARG_1", "CUECARD_ARG_2"]);
}

/// Whatever the data is, even if nothing in it is special.
#[test]
fn what_is_not_read_is_refused_by_its_name() {
    for (template, what) in [
        ("cat <<E\nD\nE", "a here-document"),
        ("cat <<'E' && echo D\nE", "a here-document"),
        ("cat <<< D", "a here-string"),
        ("echo `echo D`", "backticks"),
        ("echo \"`date`\" D", "backticks"),
        ("echo $'D'", "a `$'…'` or `$[…]`"),
        ("echo ${x:-D }", "a `${…}` with more than a name"),
        ("echo ${x#y} D", "a `${…}` with more than a name"),
        ("echo ${x:=y} D", "a `${…}` with more than a name"),
        ("echo $((x)) D", "arithmetic, `$((…))`"),
        ("echo $(( D + 1 ))", "arithmetic, `$((…))`"),
        ("(( D > 1 )) && true", "a `((`"),
        ("echo $[1] D", "a `$'…'` or `$[…]`"),
        ("echo $D", "data behind a `$`"),
        ("echo \"$D\"", "data behind a `$`"),
        ("echo \\D", "data behind a backslash"),
        ("echo $_ D", "`$_`, the last word of the command before"),
        ("for x in D; do :; done", "`for`"),
        ("while read x; do echo D; done", "`while`"),
        ("case D in x) ;; esac", "`case`"),
        ("[[ D == x ]]", "`[[`"),
        ("f() { echo D; }; f", "a function, or a `(` within a word"),
        ("function f { echo D; }", "`function`"),
        ("x=D; echo \"$x\"", "an assignment"),
        ("X=D ./tool", "an assignment"),
        ("a[0]=D", "an assignment"),
        ("x+=D", "an assignment"),
        ("x=(D)", "a function, or a `(` within a word"),
        ("eval D", "`eval`"),
        ("'ev'al D", "`eval`"),
        (". ./D", "`.`"),
        ("command eval D", "`command`"),
        ("trap D EXIT", "`trap`"),
        ("export X=D", "`export`"),
        ("read D", "`read`"),
        ("exec 5< D", "`exec`"),
        ("ln -s D x", "`ln`"),
        ("diff <(echo D) x", "a process substitution"),
        ("cat <> D", "a `<>`"),
        ("cat x >& D", "a `>&` with a file"),
        ("{ cat; } < D", "a `<` behind a group"),
        ("echo D {x}> f", "a `{…}` before a redirection"),
        (
            "echo <\\\n<E D",
            "a line that goes on without a blank before its `\\`",
        ),
        ("echo 'D", "a `'` without its end"),
        ("echo \"D", "a `\"` without its end"),
        ("echo $(echo D", "a `$(` without its `)`"),
        ("(echo D", "a `(` without its `)`"),
        ("echo D)", "a `)` without its `(`"),
        ("echo D >", "a redirection without a target"),
        ("echo x |& cat D", "a `|&`"),
    ] {
        let refusal = refused(&with_data(template), "x");
        assert_eq!(refusal.kind, RefusalKind::Data, "{template}: {refusal}");
        assert_eq!(
            refusal.message,
            format!(
                "the command has {what}, where what the data of `{{{{a.b}}}}` would do is not known"
            )
        );
    }
    let deep = format!("echo {}{{{{a.b}}}}{}", "$(echo ".repeat(60), ")".repeat(60));
    assert!(refused(&deep, "x").message.contains("too many levels"));
}

#[test]
fn data_reaches_no_program_that_is_not_known() {
    let mut passed = Vec::new();
    for (template, value) in [
        ("D", "touch"),
        ("x/D y", "x"),
        ("$(echo D) x", "touch"),
        ("! D", "touch"),
        ("$X D", "x"),
        ("gh alias set zz D && gh zz", "!touch x"),
        ("curl -s D", "fil[e-e]:///etc/hostname"),
        ("curl -T D https://example.com", "{/etc/hostname}"),
        ("dd if=a D", "of=/tmp/x"),
        ("gcc D", "@/etc/hostname"),
        ("./tool D", "x=/etc/passwd"),
        ("./cat D", "x"),
        ("file -m D", "x"),
        ("ipython -c D", "1"),
        ("apt-get install D", "x"),
        ("kubectl apply -f D", "x"),
        ("prettier --plugin=D .", "x"),
        ("git commit -m D", "x"),
        ("sh -c 'echo D'", "x"),
        ("find . -name D", "x"),
        ("npm run \"$(echo D)\"", "x"),
        ("awk D f", "1"),
        ("awk -f D", "x"),
        ("sed -e p -e D f", "1e x"),
        ("jq D f", "."),
        ("awk 1 D", "x=../../etc/passwd"),
        ("sed 'w run' D && ./run", "x"),
        ("sed 'w run' p D && ./run", "x"),
        ("echo D | sh", "x"),
        ("echo D | ./tool", "x"),
        ("echo D | cat | (cat; { if true; then sbcl; fi; })", "x"),
        ("echo D |\n# x\nclojure", "x"),
        ("clojure < D", "x"),
        ("echo D | awk -f -", "x"),
        ("echo D | gawk '@include \"/dev/stdin\"'", "x"),
        ("echo D > run.sh; sh run.sh", "x"),
        ("{ echo D; } > run.sh; ./run.sh", "x"),
        ("echo D | tee run.sh && ./run.sh", "x"),
        ("echo D | { cat > run.sh; }; ./run.sh", "x"),
        ("echo D | sed 's/a/b/w run' ; ./run", "x"),
        ("cp D run.sh && ./run.sh", "x"),
        ("touch -- ./D; find . -exec sh -c {} +", "x"),
        ("cd D && make", "x"),
        ("cd D && sed p x", "x"),
        ("set -- D; echo x", "x"),
        ("hash -p /bin/sh cat; echo D | cat", "touch x"),
        ("wait -n -p PATH; cat D", "x"),
        ("(sleep 1; sh o) | echo D > o", "touch x"),
        ("(sleep 1; sh h.sh) | tee D", "h.sh"),
        ("{ echo D; sh q; } > q", "touch x"),
        ("if echo D; then sh q; fi 3> q", "touch x"),
        ("(echo x; sh h.sh) > D", "h.sh"),
        ("echo D > m.jq; jq -n 'include \"m\"; f'", "def f: 1;"),
        ("awk -v D 1 x", "x=../secret"),
        ("mkfifo p; sh p | echo D > p", "touch x"),
        ("sh a.txt & echo D > a.txt", "touch x"),
        ("cp -r D sub", "x"),
        ("mv D zz && cat D", "x"),
    ] {
        let value = if value == "1" { "1;" } else { value };
        let Err(refusal) = command(&with_data(template), &[("a.b", value)]) else {
            passed.push(template);
            continue;
        };
        assert_eq!(refusal.kind, RefusalKind::Data, "{template}: {refusal}");
        assert!(!refusal.help.is_empty(), "{template}");
    }
    assert_eq!(passed, [""; 0]);
}

#[test]
fn data_stays_in_its_word_and_inside_the_root() {
    let mut passed = Vec::new();
    for (template, value) in [
        // Options.
        ("ls D", "-R"),
        ("touch D", "+x"),
        ("cat D x", "--help"),
        ("grep D x", "-f/etc/passwd"),
        ("grep \"$X\"D f", "-f/etc/passwd"),
        ("sort -D x", "o/tmp/x"),
        ("wc --files0-from=x D", "x"),
        ("sort -o x D", "x"),
        ("date -f D", "/etc/passwd"),
        ("touch -r D x", "x"),
        ("printf D x", "-v"),
        ("printf -v D x", "x"),
        ("printf \"$(cat f)\" D x", "a[$(x)]"),
        ("printf $(echo -v) D x", "a[$(x)]"),
        ("printf \"$F\" D x", "a[$(x)]"),
        ("printf '%n' D; cat a.txt", "PATH"),
        ("printf '%-3lln' D", "PATH"),
        ("cat \"$CUECARD_ARG_1\"; echo D", "../x"),
        ("sh -c \"$CUECARD_ARG_1\"; echo D", "touch x"),
        ("printf D D", "x"),
        ("printf \"D\\n\"", "it's"),
        ("echo ~/D", "x"),
        ("awk -v x=D 1 f", "a\\nb"),
        ("printf \"$(echo D)\" x", "x"),
        ("test -v D", "a[$(x)]"),
        ("[ D D ]", "-v"),
        ("[ D -gt 5 ]", "a[$(x)]"),
        ("[ x = D -o -v D ]", "x"),
        ("basename \"$(cat D)\"", "x"),
        // Patterns and names that the shell completes.
        ("echo D*", "/etc/"),
        ("echo [a]D", "x"),
        ("ls {x,D}", "x"),
        ("echo $(echo D)", "/etc/*"),
        ("cat ~/D", "x"),
        ("cat \"$HOME/D\"", "x"),
        ("cat \"$(echo D)\"", "x"),
        ("echo x > \"$(echo D)\"", "x"),
        ("echo x > \"$X/D\"", "x"),
        // Where `cd` leads and what `cp` and `mv` make is not followed.
        ("cd D", "x"),
        ("cd lib && cat D", "x"),
        ("(cd lib); cat D", "x"),
        ("cat D && cp a b", "x"),
        ("rm -f current; mkdir current; cat D", "x"),
        ("set -o D; echo x", "noexec"),
        ("(sleep 1; echo x > D) | mv lnk x", "x"),
        ("cp D x", "x"),
        ("mv x D", "x"),
        ("diff D lib", "x"),
        ("uniq x D", "x"),
        // What else would be an option, or change what data is.
        ("grep -rnw D -e x", "x"),
        ("echo -e D", "C:\\new"),
        ("printf '%b' D", "a\\nb"),
        ("grep --include D x f", "x"),
        ("grep -r x D", "."),
        ("rm D -r", "x"),
        ("sort $X D f", "x"),
        ("grep -e\"$P\" D", "x"),
        ("awk $(cat prog) D", "x"),
        ("sed \"$OPTS\" D f", "x"),
        ("printf {-v,} D x", "a[$(x)]"),
        ("touch D && awk *", "x"),
        ("touch D; sed 1* f.txt", "x"),
        ("echo D | sed \"$OPTS\" - f", "x"),
        ("rm \"$O\" D", "x"),
        ("printf '%s\\0' D | wc $O", "x"),
        ("mkdir -p D", "../usr/new/../../usr/x"),
        ("mkdir -p D/..", "x"),
        ("grep D $X f", "x"),
        ("tail D f", "+1f"),
        ("grep -ne\"D\" f", ""),
        ("cut -d\"D\" -f1", ","),
        ("date -d D", "TZ=\"/etc/x\" 0"),
        ("touch -d D f", "x"),
        // A command in the name of a file has the input of the one around it.
        ("echo D | sort < \"$(sh)x\"", "touch y"),
        ("sort < D > \"out-$(sh)\"", "x"),
        ("sort 3< D > \"$(sh <&3)x\"", "x"),
        ("echo D | ls > \"$(head -1)\"", "../x"),
        ("echo \"$(cat < \"$(sh)x\")\" D | cat < \"$(sh)x\"", "x"),
    ] {
        let Err(refusal) = command(&with_data(template), &[("a.b", value)]) else {
            passed.push(template);
            continue;
        };
        assert_eq!(refusal.kind, RefusalKind::Data, "{template}: {refusal}");
    }
    assert_eq!(passed, [""; 0]);
    for (template, value) in [
        ("cat D", "/etc/passwd"),
        ("cat < D", "/etc/passwd"),
        ("grep x D", "/etc/passwd"),
        ("grep -e x D", "/etc/passwd"),
        ("grep D -e x", "/etc/passwd"),
        ("grep -f words D", "/etc/passwd"),
        ("echo x > D", ".bashrc"),
        ("mkdir -p D", ".git"),
        ("echo x >> out/D", "../../x"),
        ("touch -- D", "-rf"),
        ("rm D", "-rf"),
        ("mkdir -p D", "x/-rf/y"),
        ("[ -f D ]", "../x"),
        ("npm test > D", "/tmp/x"),
        ("jq .a D", "/etc/passwd"),
        ("sed -n 1p D", "../x"),
    ] {
        let refusal = refused(&with_data(template), value);
        assert_eq!(refusal.kind, RefusalKind::Path, "{template}: {refusal}");
    }
}

#[test]
fn echo_prints_data_or_refuses_it() {
    for (template, value) in [
        ("echo D", "-n"),
        ("echo -n \"D\"", "-e"),
        ("echo \"-D\" x", "nee"),
    ] {
        let refusal = refused(&with_data(template), value);
        assert!(
            refusal.message.contains("option of `echo`"),
            "{template}: {refusal}"
        );
        assert!(
            refusal.help.contains("printf '%s'"),
            "{template}: {refusal}"
        );
    }
}

#[test]
fn everyday_commands_with_data_run() {
    let mut wrong = Vec::new();
    for (template, value) in [
        ("echo D", "-x"),
        ("echo D", "-n 1"),
        ("echo a D", "-n"),
        ("printf -- '- %s\\n' D", "it's $(x)"),
        ("printf '%s\\n' D \"$USER\" | tee -a out.txt", "it's $(x)"),
        (
            "printf '{\"t\":\"%s\"}' D | jq -r .t | sed -e 's/a/b/' | awk '{print $1}'",
            "x",
        ),
        ("printf %s D > data.json && jq . data.json", "{}"),
        ("awk -v t=D -F, '$1 == t' x.csv", "/x"),
        ("jq --arg t D '.x == $t' x.json", "\"$(x)\\"),
        ("sleep D", "0.1"),
        ("echo D | jq -R .", "x"),
        ("jq -r .a D && git status", "x"),
        ("sed -n 1p D; git status", "x"),
        ("rm -f D; git status", "x"),
        ("[ D = done ] && echo yes || echo no", "("),
        ("if [ ! -e D ]; then mkdir -p out/D; fi", "x"),
        ("[ -n D ]", "!"),
        ("cat D | head -n 5 | sort -u", "share/x"),
        ("grep -n -- D lib/x", "/a\\.b/"),
        ("grep -e D -i x", "-x"),
        ("cut -d D -f 1 x", "/"),
        ("basename \"D\"", "https://example.com/a?b"),
        ("wc -l < D", "lib/x"),
        ("mkdir -p \"reports/D\" && touch \"reports/D/x\"", "a b"),
        ("echo \"$(date +%F) D\" >> log-$(date +%F).txt", "x"),
        ("echo \"$(cat D | wc -l) lines\"", "lib/x"),
        ("npm test > \"logs/D.txt\" 2>&1", "a b"),
        ("git pull -q && cat D", "README.md"),
        ("set -euo pipefail; echo D", "x"),
        ("npm run $TASK && echo D", "x"),
        ("ls -- D", "-x"),
        ("/bin/cat D", "x"),
        ("tr a-z A-Z < D", "x"),
        ("cat D | diff - expected.txt", "x"),
        ("grep -rn D lib", "it's"),
        ("grep -rnI --include='*.rs' --exclude-dir=target D lib", "x"),
        ("grep --recursive --include '*.rs' -- D lib", "-x"),
        ("grep -R --max-count 2 D lib", "x"),
        ("sort --key=2 --field-separator=, D", "x"),
        ("echo D | base64 --decode", "eA=="),
        ("echo D", "C:\\new"),
        ("cp a b && echo D", "x"),
        ("cd lib && echo D", "x"),
        ("cut -d D -f1", ","),
        ("grep --ignore-case D x", "x"),
        ("rm --force D", "x"),
        ("sort -t \"$SEP\" D", "x"),
        ("cat D \"lib/$X\"", "x"),
        ("ls $X; echo D", "x"),
        ("echo $((1 + 2)) ${PAGER:-vi} D", "x"),
        ("jq .a D", "x.json"),
        ("sed -n 1p D", "x"),
        ("sed -e 1p -- D", "-x"),
        ("awk '{ print $1 }' D", "x"),
        ("git log | head -3 | ./tool; echo D", "x"),
    ] {
        if let Err(refusal) = command(&with_data(template), &[("a.b", value)]) {
            wrong.push(format!("{template}: {refusal}"));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn a_number_may_stand_anywhere() {
    for (template, expected) in [
        ("sed -n D\"p\" x", Some("sed -n 7\"p\" x".to_owned())),
        ("touch f{1..D}", Some("touch f{1..7}".to_owned())),
        ("git log -n D", Some("git log -n 7".to_owned())),
        ("echo D>f", Some(format!("echo \"{V}\">f"))),
        ("echo $((D + 1))", Some("echo $((7 + 1))".to_owned())),
        (
            "x=D; for i in D; do echo $i; done",
            Some("x=7; for i in 7; do echo $i; done".to_owned()),
        ),
        ("x=1; echo D>f", None),
        ("x=1; echo $D", None),
    ] {
        let bound = command(&with_data(template), &[("a.b", "7")]);
        let script = bound.ok().map(|bound| body(&bound.script).to_owned());
        assert_eq!(script, expected, "{template}");
    }
    for value in ["-7", "07", "7.5", "7 ", ""] {
        assert!(
            command("git log -n {{a.b}}", &[("a.b", value)]).is_err(),
            "{value}"
        );
    }
    assert!(command("git log -n {{a.b}} {{a.c}}", &[("a.b", "7"), ("a.c", "x")]).is_err());
    // It is the address of a host to most programs.
    for template in [
        "curl http://D/",
        "curl \"http://\"D:80",
        "x=1; curl 'http://D'",
        "curl http://ann@D",
        "curl http://2D/",
    ] {
        refused(&with_data(template), "2130706433");
    }
    for template in ["curl http://localhost:D/D?a=//b/D", "curl http://10.0.0.D/"] {
        command(&with_data(template), &[("a.b", "7")]).expect(template);
    }
}

#[test]
fn an_allowed_program_gets_data_but_no_options() {
    let policy = policy(|options| {
        options.allow_commands = ["git", "curl", "sh", "python3", "ionice", "sqlite3", "gmake"]
            .map(String::from)
            .to_vec();
    });
    let run = |template: &str, value: &str| {
        policy.command(&text(&with_data(template), &[("a.b", value)]))
    };
    for (template, value) in [
        ("git commit -m D", "it's /etc"),
        ("git commit --message=D", "-x"),
        ("git checkout -- D", "-x"),
        ("git checkout main \"a$X\" f*.txt -- D", "-x"),
        ("git commit -m -- D", "x"),
        ("curl -s D", "https://example.com/x"),
        ("echo D | git commit -F -", "x"),
    ] {
        run(template, value).unwrap_or_else(|refusal| panic!("{template}: {refusal}"));
    }
    for (template, value) in [
        ("git checkout D", "--upload-pack=x"),
        ("git commit --allow-empty -m -- D", "--amend"),
        ("git grep \"$X\" -- D", "--open-files-in-pager=x"),
        ("git grep $X -- D", "-x"),
        ("git grep a$X -- D", "-x"),
        ("git grep \"$X\"-e -- D", "-x"),
        ("git grep $(echo -e) -- D", "-x"),
        ("git grep ${F:--e} -- D", "-x"),
        ("git grep {-e,} -- D", "-x"),
        ("git grep {,-e} -- D", "-x"),
        ("git grep [-]e -- D", "-x"),
        ("git grep *.txt -- D", "-x"),
        ("git commit -m D", "- fix list"),
        ("curl -s D*", "x"),
        ("curl -D", "T/etc/passwd"),
        ("sh -c D", "x"),
        ("python3 -c D", "x"),
        ("echo D | sh", "x"),
        ("ionice D", "./p.sh"),
        ("echo D | sqlite3", ".shell x"),
        ("gmake D", "x"),
        ("git show D > x && make", "x"),
        ("gh issue view D", "x"),
    ] {
        assert!(run(template, value).is_err(), "{template}");
    }
}

#[test]
fn limits_and_bytes_that_no_argument_has() {
    let long = format!("echo {{{{a.b}}}} {}", "x".repeat(1 << 20));
    assert!(refused(&long, "x").message.contains("longer than 1 MiB"));
    let large = "x".repeat((64 << 20) + 1);
    assert!(
        refused("echo {{a.b}}", &large)
            .message
            .contains("larger than 64 MiB")
    );
    assert_eq!(refused("echo {{a.b}}", "\0").kind, RefusalKind::Data);
    let trusted = command("echo \0", &[]).expect_err("NUL");
    assert_eq!(trusted.kind, RefusalKind::Command);
}

/// Commands print a line end behind a value. A program would look for that too, and match each line or nothing.
#[test]
fn data_with_its_line_end_is_no_name_pattern_or_number() {
    for template in [
        "grep -q D f",
        "grep -c 'id=D' f",
        "grep -qe D f",
        "cat D",
        "ls \"D/k\"",
        "rm D",
        "wc < D",
        "test -f D",
        "[ \"D\" = zed ]",
        "[ zed != D ]",
        "[ D -eq 1 ]",
        "head -n D f",
        "seq D 4",
        "awk -v a=D '$1==a' f",
    ] {
        assert!(
            command(&with_data(template), &[("a.b", "zed")]).is_ok() || template.contains("-eq")
        );
        let refusal = refused(&with_data(template), "zed\n");
        assert!(refusal.message.contains("line end"), "{refusal}");
        assert!(
            refusal.help.contains(r#""regex": "(?s)^(.*?)\r?\n?$""#),
            "{template}: {}",
            refusal.help
        );
        let refusal = refused(&with_data(template), "a\nb\n");
        assert!(refusal.help.contains("several lines"), "{}", refusal.help);
    }
    for template in [
        "echo D",
        "printf '%s' D > f",
        "[ -n \"D\" ]",
        "[ D = D ]",
        "jq --arg a D '.' f",
        "echo D | wc -l",
    ] {
        command(&with_data(template), &[("a.b", "zed\n")]).expect(template);
    }
    let refusal = refused("git checkout {{a.b}}", "main\n");
    assert!(
        refusal
            .help
            .contains("outputs of commands end with a line end")
    );
}
