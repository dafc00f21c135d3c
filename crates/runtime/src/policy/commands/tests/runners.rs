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
            refusal.message.contains("` determines the directory"),
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
    // What is fetched has its name.
    let name = |template: &str, path: &str| command(template, &[("a.b", path)]).map(drop);
    for template in [
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

/// Whatever the program is: where its arguments lead is known of a few only.
#[test]
fn data_in_an_argument_is_a_path_to_any_program() {
    for (template, reads) in [
        ("./tool {{a.b}}", false),
        ("tool --x={{a.b}}", false),
        ("tool -x{{a.b}}", false),
        ("tool x:{{a.b}}", false),
        ("tool -vo '{{a.b}}'", false),
        ("x={{a.b}}; tool \"$x\"", false),
        ("for x in {{a.b}}; do tool $x; done", false),
        ("set -- {{a.b}}; tool \"$1\"", false),
        ("tool \"$(printf %s {{a.b}})\"", false),
        ("shuf -o {{a.b}} -e x", false),
        ("tar cf {{a.b}} x", false),
        ("zip -q {{a.b}} x", false),
        ("openssl rand -out {{a.b}} 8", false),
        ("curl -sD {{a.b}} https://example.com", false),
        ("curl -c {{a.b}} https://example.com", false),
        ("git diff --output={{a.b}}", false),
        ("git archive -o {{a.b}} HEAD", false),
        ("find . -fprint {{a.b}}", false),
        ("sort -o {{a.b}} x", false),
        ("xxd x {{a.b}}", false),
        ("uniq x {{a.b}}", false),
        ("cp {{a.b}} x", false),
        ("cat {{a.b}}", true),
        ("grep x {{a.b}}", true),
        ("git add {{a.b}}", true),
        ("cd {{a.b}}", true),
        ("diff x {{a.b}}", true),
        ("curl -d @{{a.b}} https://example.com", true),
        ("curl -F x=@{{a.b}} https://example.com", true),
        ("find {{a.b}} -name x", true),
        ("grep -f {{a.b}} x", true),
        ("curl -b {{a.b}} https://example.com", true),
        ("curl -sb {{a.b}} https://example.com", true),
        ("curl --data-urlencode x@{{a.b}} https://example.com", true),
        ("curl --url-query @{{a.b}} https://example.com", true),
        ("echo {{a.b}} > f; cat $(cat f)", true),
    ] {
        let kind = |path: &str| command(template, &[("a.b", path)]).map_err(|refusal| refusal.kind);
        for path in ["/etc/x", "../x", "x/../../x", "//etc/x"] {
            assert_eq!(
                kind(path).expect_err(template),
                RefusalKind::Path,
                "{template}: {path}"
            );
        }
        for path in ["Makefile", "x/package.json"] {
            assert_eq!(kind(path).is_ok(), reads, "{template}: {path}");
        }
        assert!(kind("share/x").is_ok(), "{template}");
        assert!(kind(&"long ".repeat(1_000)).is_ok(), "{template}");
    }
    // Below a place that the author names, data stays below it.
    for path in ["../x", "/../x", ".bashrc"] {
        assert!(
            command("tool $HOME/{{a.b}}", &[("a.b", path)]).is_err(),
            "{path}"
        );
        assert!(
            command("tool ~/{{a.b}}", &[("a.b", path)]).is_err(),
            "{path}"
        );
    }
    for template in ["tool $HOME/{{a.b}}", "curl $HOST{{a.b}}"] {
        assert!(command(template, &[("a.b", "/v1/x")]).is_ok(), "{template}");
    }
    // What begins so is a file to `curl`.
    assert!(command("curl {{a.b}}", &[("a.b", "file:///etc/passwd")]).is_err());
    assert!(
        command(
            "curl -d {{a.b}} https://example.com",
            &[("a.b", "@/etc/passwd")]
        )
        .is_err()
    );
}

#[test]
fn text_is_no_path_where_a_program_expects_text() {
    for template in [
        "echo {{a.b}}",
        "printf '%s\\n' {{a.b}} > share",
        "[ {{a.b}} = x ]",
        "x={{a.b}}",
        "git commit -m {{a.b}}",
        "git commit -am {{a.b}}",
        "git commit --message={{a.b}}",
        "git log --grep {{a.b}}",
        "grep -F -- {{a.b}} share",
        "grep -e {{a.b}} share",
        "rg {{a.b}}",
        "find . -name {{a.b}}",
        "find . -path {{a.b}} -print",
        "curl https://example.com/{{a.b}}",
        "curl https://example.com/?x={{a.b}}",
        "curl -d {{a.b}} https://example.com",
        "curl -H 'X: {{a.b}}' https://example.com",
        "gh issue create --title {{a.b}} --body {{a.b}}",
        "expr {{a.b}} : x",
        "sleep {{a.b}}",
        "VALUE={{a.b}} ./tool",
        "export VALUE={{a.b}}; ./tool",
        "printf %s {{a.b}} | ./tool",
    ] {
        for text in ["/api/users", "../users", "the file ../x is missing"] {
            command(template, &[("a.b", text)])
                .unwrap_or_else(|refusal| panic!("{template} with {text}: {refusal}"));
        }
    }
}

#[test]
fn data_does_not_name_the_program() {
    for template in [
        "d={{a.b}}; \"$d/run.sh\"",
        "d={{a.b}}; $d/run.sh",
        "read -r d <<< {{a.b}}; \"$d/run.sh\"",
        "set -- {{a.b}}; \"$1/run.sh\"",
        "for d in {{a.b}}; do \"$d/run.sh\"; done",
        "\"$(printf %s {{a.b}})/run.sh\"",
        "printf %s {{a.b}} > name; \"$(cat name)/run.sh\"",
        "d={{a.b}}; e=$d; ${e}/run.sh",
    ] {
        refused(template, "x");
    }
}

#[test]
fn what_data_was_written_to_does_not_run() {
    for template in [
        "printf %s {{a.b}} > out/x; cd out; sh x",
        "printf %s {{a.b}} > out/x; sh out//x",
        "printf %s {{a.b}} > out/x; sh out/./x",
        "printf %s {{a.b}} > out/x; sh ./out/y/../x",
        "printf %s {{a.b}} > X; sh x",
        "printf %s {{a.b}} | dd of=x; sh x",
        "printf %s {{a.b}} | sudo tee x; sh x",
        "printf %s {{a.b}} | tool --save=x; sh x",
        "printf %s {{a.b}} | tool -sx; sh x",
        "printf %s {{a.b}} | split -b 1k - x; sh xaa",
        "printf %s {{a.b}} | base64 -d | tar x; sh x",
        "printf %s {{a.b}} | patch -p1; ./x",
        "patch <<< {{a.b}}; ./x",
        "printf %s {{a.b}} | python3 -c 'import sys; open(\"x\", \"w\").write(sys.stdin.read())'; sh x",
        "printf %s {{a.b}} | awk '{ print > \"x\" }'; sh x",
        "printf %s {{a.b}} | sh -c 'cat > x'; sh x",
        "printf %s {{a.b}} > x; sh -c 'sh x'",
        "printf %s {{a.b}} > x; nice sh ./x",
        "printf %s {{a.b}} > x; BASH_ENV=x bash -c true",
        "printf %s {{a.b}} > x; export BASH_ENV=./x; bash -c true",
        "printf %s {{a.b}} > x; env BASH_ENV=x bash -c true",
        "printf %s {{a.b}} > x; bash --rcfile x -i",
        "printf %s {{a.b}} > x.js; node -r ./x.js y.js",
        "printf %s {{a.b}} > x; awk -f x y",
        "printf %s {{a.b}} > x; sed -nf x y",
        "printf %s {{a.b}} > x; jq --from-file x y",
        "curl -sO https://example.com/{{a.b}}/x; sh x",
        "curl -s https://example.com/{{a.b}} -o x; chmod +x x; ./x",
        "printf %s {{a.b}} > Makefile; make",
        "printf %s {{a.b}} > package.json; npm test",
        "printf %s {{a.b}} > json.py; python3 tool.py",
        "printf %s {{a.b}} > .gitattributes; git status",
        "printf %s {{a.b}} > .git/config; git status",
        "printf %s {{a.b}} > .git/hooks/pre-commit; git commit",
        "printf %s {{a.b}} > x; cp x .git/hooks/pre-commit; git commit",
        "printf %s {{a.b}} > x.txt; for f in *.txt; do mv \"$f\" \"${f%.txt}.sh\"; done; sh x.sh",
        "printf %s {{a.b}} > x; git mv x y; sh y",
        "printf %s {{a.b}} > x; for n in y; do git mv x $n; done; sh y",
        "printf %s {{a.b}} > x; rename s/x/y/ x; sh y",
        "printf %s {{a.b}} > x; csplit x 1; sh xx01",
        "printf %s {{a.b}} > x; tar cf x.tar --transform=s/x/y/ x; tar -xf x.tar; sh y",
        "printf %s {{a.b}} > x; cp x* y; ./tool",
        "x=run; printf %s {{a.b}} > $x.sh; ./run.sh",
        "export F=run.sh; printf %s {{a.b}} > $F; ./run.sh",
        "set -- run.sh; printf %s {{a.b}} > $1; ./run.sh",
        "for f in *.sh; do printf %s {{a.b}} > $f; done; ./run.sh",
        "printf %s {{a.b}} > ru?.sh; ./run.sh",
        "printf %s {{a.b}} | tee {run,x}.sh; ./run.sh",
        "printf %s {{a.b}} > t; sed -i '1r t' run.sh; ./run.sh",
        "f=Makefile; printf %s {{a.b}} > $f; make",
        "b=package.json; printf %s {{a.b}} > \"$b\"; npm test",
        "h=.git/hooks/post-commit; printf %s {{a.b}} > $h; git commit -m x",
        "printf %s {{a.b}} | dd of=Makefile; make",
        "printf %s {{a.b}} > t; git mv -f t Makefile; make",
        "printf %s {{a.b}} > i.mk; MAKEFILES=i.mk make",
        "printf %s {{a.b}} | git apply && ./run.sh",
        "printf %s {{a.b}} > p.diff; git apply p.diff; sh run.sh",
        "printf %s {{a.b}} | base64 -d | tar xz; git commit -m x",
        "printf %s {{a.b}} > p.diff; patch -p0 < p.diff; git commit -m x",
        "git clone -q {{a.b}} c && cd c && make",
        "git pull -q {{a.b}} main && make",
        "curl -s --remote-name-all https://example.com/{{a.b}}; ./run.sh",
        "git checkout -q {{a.b}} && npm test",
        "b={{a.b}}; git merge \"$b\"; ./run.sh",
        "ZIPOPT={{a.b}} zip o.zip x",
        "git remote-ext x {{a.b}}",
    ] {
        refused(template, "x");
    }
    for template in [
        "printf %s {{a.b}} > in.json; python3 tool.py in.json",
        "printf %s {{a.b}} > in.json; ./tool in.json",
        "printf %s {{a.b}} > in.json; jq -r .x in.json",
        "printf %s {{a.b}} > in.txt; sed -n 1p in.txt",
        "printf %s {{a.b}} > in.txt; awk '{ print $1 }' in.txt",
        "printf %s {{a.b}} | tee in.txt | sh count.sh",
        "printf %s {{a.b}} > Makefile; git add Makefile",
        "printf %s {{a.b}} > x.py; git add x.py",
        "chmod +x tool; ./tool {{a.b}}",
        "test -x tool && ./tool {{a.b}}",
        "ls tool; ./tool {{a.b}}",
        "mkdir -p out; printf %s {{a.b}} > out/x; sh run.sh",
        "tar xf tools.tar; echo {{a.b}}",
        "tar xf tools.tar; ./tool {{a.b}}",
        "printf %s {{a.b}} > x; tar czf x.tar x; ./tool x.tar",
        "printf %s {{a.b}} > x; git add x; git commit -m x; ./tool",
        "printf %s {{a.b}} > x; mv x y; ./tool y",
        "f=x.txt; printf %s {{a.b}} > $f; ./tool $f",
        "git checkout -q {{a.b}} && git log",
        "git add x; git commit -m {{a.b}}; ./tool",
        "$HOME/bin/tool {{a.b}}",
    ] {
        command(template, &[("a.b", "x")])
            .unwrap_or_else(|refusal| panic!("{template}: {refusal}"));
    }
}

#[test]
fn data_is_no_option_by_whatever_way_it_gets_into_an_argument() {
    for template in [
        "a={{a.b}}; tar cf o.tar \"$a\" x",
        "a={{a.b}}; tar cf o.tar $a x",
        "export f={{a.b}}; tar cf o.tar x \"$f\"",
        "for f in {{a.b}}; do tar cf o.tar x \"$f\"; done",
        "set -- {{a.b}}; tar cf o.tar \"$@\" x",
        "tar cf o.tar \"$(echo {{a.b}})\" x",
        "echo {{a.b}} | while read -r f; do tar cf o.tar x \"$f\"; done",
        "git commit -m \" {{a.b}}\"; tar cf o.tar $(git log -1 --format=%s) x",
        "f={{a.b}}; git fetch . \"$f\"",
        "a={{a.b}}; git grep $a a",
        "echo x > ./{{a.b}}; tar cf o.tar *",
        "touch ./{{a.b}}; tar cf o.tar $(ls)",
    ] {
        for value in ["--checkpoint=1", "-Otouch", "--output=x"] {
            refused(template, value);
        }
    }
    for template in [
        "a={{a.b}}; git log $a",
        "curl -s $(echo {{a.b}})",
        "a={{a.b}}; find x $a",
    ] {
        refused(template, "x -o y");
        refused(template, "x\n-fprint y");
    }
    for (template, value) in [
        ("a={{a.b}}; tar cf o.tar -- \"$a\"", "-x"),
        ("a={{a.b}}; echo \"$a\" > x", "-x"),
        ("a={{a.b}}; [ \"$a\" = x ]", "-x"),
        ("a={{a.b}}; cat \"./$a\"", "-x"),
        ("a={{a.b}}; cat \"$a\"", "a - b"),
        ("a={{a.b}}; git commit -m \"$a\"", "fix -x"),
        ("a={{a.b}}; ls \"$HOME\"", "-x"),
        ("a={{a.b}}; sleep $a", "-1"),
    ] {
        command(template, &[("a.b", value)])
            .unwrap_or_else(|refusal| panic!("{template}: {refusal}"));
    }
}

#[test]
fn data_leads_through_no_link_that_the_command_makes() {
    for template in [
        "ln -s .. l; echo x > {{a.b}}",
        "ln -s .. l; cp x {{a.b}}",
        "ln -s .. l && tar xf a.tar -C {{a.b}}",
        "ln -s ../home l; sort -o {{a.b}} x",
        "cd ..; curl -s -o {{a.b}} https://example.com",
    ] {
        refused(template, "l");
    }
    assert!(
        command(
            "a={{a.b}}; curl -s \"$a\"",
            &[("a.b", "https://example.com")]
        )
        .is_ok()
    );
    for (template, path) in [
        ("git push {{a.b}} HEAD", "file:///tmp/x"),
        ("a={{a.b}}; curl -s \"$a\" -T x", "file:///tmp/x"),
        ("curl -s -w {{a.b}} https://example.com", "@/etc/passwd"),
        ("curl -F {{a.b}} https://example.com", "a=@/etc/passwd"),
        ("printf %s x > {{a.b}}", "./-x"),
    ] {
        let refusal = command(template, &[("a.b", path)]).expect_err(template);
        assert_eq!(refusal.kind, RefusalKind::Path, "{template}: {refusal}");
    }
    assert!(command("ln -s x {{a.b}}", &[("a.b", "y")]).is_ok());
    assert!(command("ln -s x y; echo {{a.b}}", &[("a.b", "y")]).is_ok());
}
