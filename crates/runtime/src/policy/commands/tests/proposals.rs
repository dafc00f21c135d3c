//! Each refusal prints a step that works as it stands: it gets the value as it is, and runs none of it.

use std::process::{Command, Stdio};

use super::{text, with_data};
use crate::policy::commands::rewrite::proposal;
use cuecard_source::value::{Piece, Text};

/// The parameters in a proposal.
fn parameters(template: &str, value: &str) -> Option<(String, Vec<(String, String)>)> {
    let help = proposal(&text(&with_data(template), &[("a.b", value)]), &[]);
    let json = help.split_once("environment: ")?.1;
    let json: serde_json::Value = serde_json::from_str(&format!("{{{json}}}")).expect(&help);
    let env = json["env"].as_object().expect("an object");
    let pairs = env
        .iter()
        .map(|(name, value)| (name.clone(), value.as_str().expect("text").to_owned()));
    Some((
        json["command"].as_str().expect("text").to_owned(),
        pairs.collect(),
    ))
}

#[test]
fn a_refused_command_is_rewritten() {
    let mut missing = Vec::new();
    for (template, command) in [
        ("git commit -m D", "git commit -m \"${VALUE_B}\""),
        (
            "git commit -m 'fix: D'",
            "git commit -m 'fix: '\"${VALUE_B}\"",
        ),
        (
            "git commit -m \"fix: D\"",
            "git commit -m \"fix: ${VALUE_B}\"",
        ),
        (
            "gh issue create --title=D --body 'D'",
            "gh issue create --title=\"${VALUE_B}\" --body \"${VALUE_B}\"",
        ),
        ("./tool D", "./tool \"${VALUE_B}\""),
        ("python3 tool.py D", "python3 tool.py \"${VALUE_B}\""),
        ("VALUE=D ./tool", "VALUE=\"${VALUE_B}\" ./tool"),
        ("x=D; echo \"$x\"", "x=\"${VALUE_B}\"; echo \"$x\""),
        (
            "x=D; echo \"$x\" | head -c 5",
            "x=\"${VALUE_B}\"; echo \"$x\" | head -c 5",
        ),
        ("git log | grep -vx D", "git log | grep -vx \"${VALUE_B}\""),
        ("cat \"$HOME/D\"", "cat \"$HOME/${VALUE_B}\""),
        ("cat <<E\n# D\nE", "cat <<E\n# ${VALUE_B}\nE"),
        (
            "cat <<-'E' > f\n\tcost: $1 D\n\tE",
            "cat <<-E > f\n\tcost: \\$1 ${VALUE_B}\n\tE",
        ),
        ("wc -w <<< D", "wc -w <<< \"${VALUE_B}\""),
        ("ls # D", "ls # ${VALUE_B}"),
        (
            "docker build -t app:D .",
            "docker build -t app:\"${VALUE_B}\" .",
        ),
        ("docker logs D", "docker logs \"${VALUE_B}\""),
        ("kubectl get pod D", "kubectl get pod \"${VALUE_B}\""),
        ("npm view D version", "npm view \"${VALUE_B}\" version"),
        ("uv pip install D", "uv pip install \"${VALUE_B}\""),
        ("poetry add D", "poetry add \"${VALUE_B}\""),
        ("gh issue view D", "gh issue view \"${VALUE_B}\""),
        ("git rebase D", "git rebase \"${VALUE_B}\""),
        ("git bisect good D", "git bisect good \"${VALUE_B}\""),
        ("bash tool.sh D", "bash tool.sh \"${VALUE_B}\""),
        ("{ echo D; } > f", "{ echo \"${VALUE_B}\"; } > f"),
        ("find . -name D", "find . -name \"${VALUE_B}\""),
        (
            "echo D | python3 read.py",
            "echo \"${VALUE_B}\" | python3 read.py",
        ),
        (
            "git log --grep=D | awk '{print $1}'",
            "git log --grep=\"${VALUE_B}\" | awk '{print $1}'",
        ),
        (
            "curl -s https://a.example/D | sed -n 1p",
            "curl -s https://a.example/\"${VALUE_B}\" | sed -n 1p",
        ),
        ("./tool D > out.txt", "./tool \"${VALUE_B}\" > out.txt"),
        (
            "./tool D | tee -a out.log",
            "./tool \"${VALUE_B}\" | tee -a out.log",
        ),
        (
            "python3 tool.py D > out.json",
            "python3 tool.py \"${VALUE_B}\" > out.json",
        ),
        ("./tool D > out", "./tool \"${VALUE_B}\" > out"),
        ("./tool D | tee log", "./tool \"${VALUE_B}\" | tee log"),
        ("./tool D |& tee log", "./tool \"${VALUE_B}\" |& tee log"),
        (
            "for f in *.txt; do mv \"$f\" \"${f%.txt}-D.md\"; done",
            "for f in *.txt; do mv \"$f\" \"${f%.txt}-${VALUE_B}.md\"; done",
        ),
        ("ping -c 1 D", "ping -c 1 \"${VALUE_B}\""),
        ("[ D -gt 5 ]", "[ \"${VALUE_B}\" -gt 5 ]"),
        (
            "find . -name D -exec wc -l {} +",
            "find . -name \"${VALUE_B}\" -exec wc -l {} +",
        ),
        ("java -jar a.jar D", "java -jar a.jar \"${VALUE_B}\""),
        ("deno run app.ts D", "deno run app.ts \"${VALUE_B}\""),
    ] {
        let Some((written, env)) = parameters(template, "x") else {
            missing.push(template);
            continue;
        };
        assert_eq!(written, command, "{template}");
        assert_eq!(
            env,
            [("VALUE_B".to_owned(), "{{a.b}}".to_owned())],
            "{template}"
        );
    }
    assert_eq!(missing, [""; 0]);
}

#[test]
fn braces_and_structures_stay_what_they_are() {
    // `<<` stands for braces of the author's.
    let text = |template: &str| {
        let text = text(template, &[("a.b", "x")]);
        let pieces = text.pieces().iter().map(|piece| Piece {
            text: piece.text.replace("<<", "{{"),
            ..piece.clone()
        });
        Text::new(pieces.collect())
    };
    let own = |template| ("L".to_owned(), text(template));
    for (command, env, expected) in [
        (
            "gh y {{a.b}} \"<<USER}}\"",
            own("{\"name\":\"{{a.b}}\",\"id\":5}"),
            r#""command": "gh y \"${VALUE_B}\" \"{{'{{'}}USER}}\"", "env": { "L": {"name":"{{a.b}}","id":5}, "VALUE_B": "{{a.b}}" }"#,
        ),
        (
            "gh y {{a.b}}",
            own("[<<USER}}] {{a.b}}"),
            r#""command": "gh y \"${VALUE_B}\"", "env": { "L": "[{{'{{'}}USER}}] {{a.b}}", "VALUE_B": "{{a.b}}" }"#,
        ),
    ] {
        let help = proposal(&text(command), &[env]);
        assert!(help.contains(expected), "{help}");
    }
}

/// Where the value would be code, only how to go about it is said.
#[test]
fn everyday_commands_with_a_value_are_proposed() {
    let mut templates = vec![
        "gh run list --branch=D --limit=1",
        "gh api repos/o/r/issues -f body=\"D\"",
        "git commit -qm \"D\"",
        "npm run test -- --grep \"D\"",
        "uv run report.py \"D\"",
        "curl -H \"Authorization: Bearer D\" https://example.com",
        "timeout 5 ./tool D",
        "timeout -s KILL 5 ./tool D",
        "sudo -u bob ls D",
        "docker exec -u root web ls D",
        "npx -p typescript tsc D",
        "uv run --with rich report.py D",
        "docker exec web ls D",
        "env X=D ./tool",
        "export X=D; ./tool",
        "cat <<E\n$(ls D)\nE",
        "cat > f <<E\nHi $USER at $(date), ${X:-you}: D\nE",
        "terraform plan -var name=D",
        "curl -F \"title=D\" https://example.com",
        "ffmpeg -i D out.mp4",
        "kill -0 D",
        "code --goto D",
        "printf '%s\\n' D | while read -r x; do echo \"$x\"; done",
        "npx prettier --write D",
        "python3 -m pytest -k D",
        "bundle exec rspec D",
        "rsync -av D host:/x",
        "gofmt -w D",
        "dotnet test --filter D",
        "mvn -Dtest=D test",
        "docker rm -f D",
        "git branch -D D",
        "echo D | git commit -F -",
        "cd D && git status",
        "./tool -é D",
        "gh issue create -t D -b x",
        "npm i -D D",
        "kubectl logs -f D -c web",
        "terraform workspace select D",
        "curl -sL -o D https://example.com",
        "tar -czf D.tgz src",
        "unzip -o D -d out",
        "find . -name '*.txt' -exec grep -l D {} +",
        "[[ D == *bug* ]] && echo yes",
        "[[ -n D ]] && echo yes",
        "printf '%s\\n' D | while IFS= read -r line; do gh issue create --title \"$line\"; done",
        "time npm run build -- D",
        "source ./env.sh && npm run x -- D",
        "\"./my tool\" D",
    ];
    templates.retain(|template| parameters(template, "x").is_none());
    assert_eq!(templates, [""; 0]);
}

#[test]
fn what_would_run_the_value_is_not_proposed() {
    let mut proposed = Vec::new();
    for template in [
        "D x",
        "set -- D; rm $1",
        "set -- D; rm ${1}",
        "X=D; ./t $X'b'",
        "X=D; ./t \"a\"$X",
        "X=D; for i in $X; do ./t \"$i\"; done",
        "X=D; set -- $X; ./t \"$1\"",
        "rm $(echo D)",
        "echo D | xargs rm",
        "npm exec -c \"echo D\"",
        "compgen -W D",
        "wget --use-askpass=D x",
        "case x in D) ./tool;; esac",
        "f() { git tag \"$1\"; }; f D",
        "diff <(git show D) x",
        "awk '/D/' x",
        "awk '$1 == \"D\"' x",
        "jq '.[] | select(.name == \"D\")' x",
        "node -e \"console.log('D')\"",
        "env -i sh -c 'echo D'",
        "docker run x sh -c 'echo D'",
        "echo D | sh",
        "echo D > x.sh; sh x.sh",
        "eval D",
        "eval \"echo D\"",
        "ssh host \"echo D\"",
        "env D",
        "env -S D",
        "env -u LANG D",
        "timeout -s KILL 5 make T=D",
        "timeout -s KILL 5 D",
        "env -u A BASH_ENV=D ./x.sh",
        "docker run --name n img D",
        "docker run --entrypoint make img D",
        "docker exec -u root web sh -c D",
        "docker exec -u D web ls",
        "sudo -u D ls",
        "sudo -u bob D",
        "sudo -T 5 ls D",
        "npx -p D tsc",
        "npx -pD tsc",
        "uv run --with x D",
        "export N=D; let M=N+1",
        "while read -r n; do let s+=n; done <<< D",
        "declare -i n; n=D",
        "export F=D; printf \"$F\" a",
        "while read -r f; do printf \"$f\" y; done <<< D",
        "read -r PATH <<< D; ls",
        "while read -r RANDOM; do :; done <<< D",
        "X=D; builtin $X",
        "sleep 0; wait -p D",
        "history -s D",
        "uv run - <<E\nprint(D)\nE",
        "cat <<E > x2.py; uv run x2.py\nD\nE",
        "nice -n 5 sort --compress-program=D big",
        "sort --compress-program=D big",
        "just hi D",
        "split --filter=D a.txt",
        "git clone -u D . c",
        "git difftool --extcmd=D",
        "cross-env PATH=D ls",
        "echo D | while read -r l; do git $l; done",
        "cat > package.json <<E\n{\"scripts\": {\"x\": \"echo D\"}}\nE\nnpm run x",
        "cat > .git/hooks/pre-commit <<E\necho D\nE",
        "cat > justfile <<E\nD\nE",
        "docker build -t x - <<E\nRUN D\nE",
        "heroku run D",
        "find . -exec npx D \\;",
        "[[ D -eq 5 ]]",
        "X=D; [[ X -gt 1 ]]",
        "X=D; [ $X ]",
        "X=D; read -r a[X] <<< q",
        "X=D; find . $X",
        "X=D; tar cf x.tar $X a.txt",
        "echo D | xargs find .",
        "xargs -d x D < a.txt",
        "x86_64 make X=D",
        "docker run --entrypoint=sh img -c D",
        "conda run -n x D",
        "npm pkg set scripts.x=D",
        "curl --config - <<< D",
        "cat > src.c <<E\nD\nE\ngcc -o t2 src.c && ./t2",
        "cat > x.py <<E\nD\nE\npython3 -m x",
        "sudo tee f <<< D; bash ./f",
        "tar -xf a.tar -I D",
        "env -S \"sh -c\" D",
        "sudo -s D",
        "bash -s x <<< D",
        "bun x D",
        "bun D",
        "deno eval D",
        "php artisan tinker D",
        "node -e \"process.argv[1]\" D",
        "nice -n 5 sh -c D",
        "timeout -k 5 10 sh -c D",
        "docker run -i python D",
        "echo D | docker run -i python",
        "curl -d D https://example.com",
        "curl -F file=@D https://example.com",
        "kubectl apply -f D",
        "tcpdump -z D",
        "go test -exec D",
        "go build -toolexec=D",
        "cat <<E\n`ls D`\nE",
        "cat <<E\n$((D))\nE",
        "cat <<E\n\\D\nE",
        "cat <<E\n$(sh -c D)\nE",
        "printf x | while read D; do :; done",
        "readonly -a x=D",
        "export -f D",
        "python3 -m code -c D",
        "xargs D",
        "python3 D",
        "python3 -c 'print(\"it is D\")'",
        "sh -c \"echo $X D\"",
        "su -c D",
        "sed 's/x/D/' f",
        "make D",
        "trap D EXIT",
        "PATH=D ls",
        "BASH_ENV=D bash x",
        "x=D; sh -c \"$x\"",
        "x=D; $x",
        "for x in D; do bash -c \"$x\"; done",
        "find . -exec sh -c \"D$X\" {} +",
        "find . -exec D \\;",
        "printf -v D x",
        "exec D",
        "flock f D",
        "find . -execdir D {} \\;",
        "find . -ok D {} \\;",
        "rustup run stable D",
        "setarch x86_64 D",
        "scp -o D x localhost:",
        "rustc -C linker=D",
        "apt-get -o D update",
        "python3 -m unittest D",
        "cd D && make",
        "{ echo D; sh q; } > q",
        "sh a.txt & echo D > a.txt",
        "awk -f- <<< D",
        "docker-compose run web D",
        "[[ D -eq 1 ]]",
        "[ -v D ]",
        "unset D",
        "let D",
        "read D",
        "echo D | python3",
        "echo D | ssh host",
        "sh <<E\nD\nE",
        "python3 - <<E\nprint(D)\nE",
        "sh -s x <<< D",
        "sqlite3 db \"insert into t values ('D')\"",
        "gh api x --jq '.[] | select(.a == \"D\")'",
        "docker exec x python -c D",
        "echo D | sed -f - f.txt",
        "awk -v a=b '/D/' a.txt",
        "timeout 5 awk '/D/' f",
        "env LC_ALL=C sed 's/alpha/D/' f",
        "find . -exec sed -i \"s/alpha/D/\" {} \\;",
        "find . -exec python3 -c 'print(\"D\")' {} +",
        "jq --arg k v '.a = \"D\"' f",
        "nice -n 5 awk D f",
        "busybox awk D f",
        "echo D | awk -f - f.txt",
        "echo D | env sh",
        "echo D | npx",
        ". /dev/stdin <<< D",
        "sh /dev/stdin <<< D",
        "export X=D; sh -c 'eval \"$X\"'",
        "X=D sh -c 'sh -c \"$X\"'",
        "echo D | ed f.txt",
        "echo D | tee x.sh; sh x.sh",
        "for x in D; do echo \"$x\"; done",
        "for x in a D; do echo \"$x\"; done",
        "echo D >> bin/tool; bin/tool",
        "echo D > run.sh && chmod +x run.sh && ./run.sh",
        "git rebase -x D",
        "git submodule foreach D",
        "alias x='eval'; x D",
        "echo D | sudo sh",
        "echo D | at now",
        "env LD_PRELOAD=D ls",
        "export PATH=D",
        "export D",
        "local -i x=D",
        "echo D | while read x; do $x; done",
        "sh -c 'echo D'",
        "docker run D",
        "docker run --rm D",
        "docker run img D",
        "docker run -e BASH_ENV=D img",
        "docker exec -it x sh -c D",
        "kubectl exec x -- sh -c D",
        "npx D",
        "npx -y D x",
        "npx tsx -e D",
        "uvx D",
        "uv run D",
        "uv run python -c D",
        "npm exec D",
        "python3 -m D",
        "python3 -m timeit D",
        "python3 -m pdb -c D x.py",
        "poetry run bash -c D",
        "git bisect run D",
        "git config alias.x D",
        "git config --global core.sshCommand D",
        "git clone -c D x",
        "view D",
        "timeout 5 D",
        "tar -I D -xf a.tar",
        "git -c D status",
        "./tool a > D",
        "./tool D > \"$OUT\"",
        "mv D x; ./y",
        "cp D run; ./run",
        "./build D > Makefile",
        "f() { $1; }; f D",
        "f() { eval \"$1\"; }; f D",
        "function f { $1; }; f D",
        "case D in a) sh -c \"D\";; esac",
        "case x in a) $1;; D) x;; esac; D",
        "x=D; echo ${x@P}",
        "x=D; echo ${!x}",
        "x=D; echo ${y:x}",
        "x=D; echo ${y[x]}",
        "cat <(D)",
        "echo D | sh <(cat)",
        "declare -i x=D",
        "[[ D -gt 5 ]]",
        "find . -name x -exec D {} +",
    ] {
        let help = proposal(&text(&with_data(template), &[("a.b", "x")]), &[]);
        if !help.contains("let the program read it there") {
            proposed.push(template);
        }
    }
    assert_eq!(proposed, [""; 0]);
}

#[test]
fn the_author_s_variables_keep_their_names() {
    let (command, env) = parameters("VALUE_B=1; git tag \"$VALUE_B\" D", "x").expect("rewritten");
    assert_eq!(command, "VALUE_B=1; git tag \"$VALUE_B\" \"${VALUE_B_2}\"");
    assert_eq!(env[0].0, "VALUE_B_2");
}

#[test]
fn names_are_those_of_the_references() {
    let text = text(
        "gh api {{issue.html_url}} {{user.url}} {{page.html_url}} {{x.path}} {{x.git_dir}} {{x.list[0]}} 7{{issue.html_url}} {{x.note | default(\"none\")}}",
        &[
            ("issue.html_url", "a"),
            ("user.url", "b"),
            ("page.html_url", "c"),
            ("x.path", "d"),
            ("x.git_dir", "e"),
            ("x.list[0]", "f"),
            ("x.note | default(\"none\")", "g"),
        ],
    );
    let own = super::text("it is {{user.name}}", &[("user.name", "x")]);
    let help = proposal(&text, &[("OWN".to_owned(), own)]);
    for pair in [
        "\"OWN\": \"it is {{user.name}}\"",
        "\"VALUE_HTML_URL\": \"{{issue.html_url}}\"",
        "\"VALUE_URL\": \"{{user.url}}\"",
        "\"VALUE_HTML_URL_2\": \"{{page.html_url}}\"",
        "\"VALUE_PATH\": \"{{x.path}}\"",
        "\"VALUE_GIT_DIR\": \"{{x.git_dir}}\"",
        "\"VALUE_0\": \"{{x.list[0]}}\"",
        r#""VALUE_NOTE": "{{x.note | default(\"none\")}}""#,
    ] {
        assert!(help.contains(pair), "{help}");
    }
    assert_eq!(help.matches("issue.html_url").count(), 1);
}

/// What is proposed runs with the value in the environment, in the shells that we start.
#[test]
fn proposals_get_the_value_as_it_is() {
    let dir = tempfile::tempdir().expect("a folder");
    let values = [
        "plain",
        "it's \"a\" $(touch canary) `touch canary`",
        "; touch canary;",
        "*",
        "-n x",
        "a\nb",
        "é'\\",
    ];
    for (template, before, after) in [
        ("printf '<%s>' 'D'", "<", ">"),
        ("printf \"<%s>\" \"D\"", "<", ">"),
        ("x=D; printf '<%s>' \"$x\"", "<", ">"),
        ("VALUE=D printf x; printf '<%s>' D", "x<", ">"),
        ("cat <<E\n<D>\nE", "<", ">\n"),
        ("cat <<-'E'\n\t$x `y` \\ <D>\n\tE", "$x `y` \\ <", ">\n"),
        ("{ printf '<%s>' D; }; # D", "<", ">"),
        ("printf '<%s>' D", "<", ">"),
    ] {
        for value in values {
            let (command, env) =
                parameters(template, value).unwrap_or_else(|| panic!("{template}"));
            for shell in super::shells::SHELLS {
                let output = Command::new(shell)
                    .args(["-c", &command])
                    .env_clear()
                    .env("PATH", "/bin:/usr/bin")
                    .envs(env.iter().map(|(name, _)| (name, value)))
                    .current_dir(dir.path())
                    .stdin(Stdio::null())
                    .output()
                    .expect("the shell starts");
                let printed = String::from_utf8_lossy(&output.stdout);
                assert_eq!(
                    printed,
                    format!("{before}{value}{after}"),
                    "{shell}: {command}"
                );
                assert_eq!(
                    std::fs::read_dir(dir.path()).expect("a folder").count(),
                    0,
                    "{command}"
                );
            }
        }
    }
}

#[test]
fn a_loop_over_data_is_one_over_its_lines() {
    let help = proposal(
        &text("for f in {{a.b}}; do wc \"$f\"; done", &[("a.b", "a\nb\n")]),
        &[],
    );
    let expected = "(`printf '%s\\n' \"$VALUE_B\" | grep . | while IFS= read -r line; do …; done`)";
    assert!(help.ends_with(expected), "{help}");
}
