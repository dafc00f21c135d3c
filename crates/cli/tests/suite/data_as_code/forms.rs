//! Where data may stand in a command, and what it says there.

/// A command with a place for data.
pub(super) struct Form {
    /// The program that it is about, which the machine may lack.
    pub(super) program: &'static str,
    /// `@@` is a word of data, with any quotes and by any way; `{D}` is data as it stands; `~` a place for programs that
    /// start others; `CANARY` the file that must not be there.
    pub(super) command: &'static str,
    pub(super) payloads: &'static [&'static str],
}

/// How data is written into a word.
pub(super) const QUOTES: &[&str] = &[
    "{D}",
    "'{D}'",
    "\"{D}\"",
    "''{D}\"\"",
    "\"$(printf %s {D})\"",
    "$(printf %s '{D}')",
    "`printf %s {D}`",
    "\"$(cat <<< \"{D}\")\"",
];

/// What carries data from the beginning of a command (`@@`) to the word that is used then.
pub(super) const CARRIERS: &[(&str, &str)] = &[
    ("", "@@"),
    ("", "@@"),
    ("v=@@; ", "\"$v\""),
    ("v=@@; ", "$v"),
    ("export v=@@; ", "'$v'"),
    ("export v=@@; ", "'eval \"$v\"'"),
    ("export v=@@; ", "\"${v}\""),
    ("v=@@\nw=$v; ", "\"$w\""),
    ("read -r v <<< @@; ", "\"$v\""),
    ("read -r v < <(printf '%s\\n' @@); ", "\"$v\""),
    ("for v in @@; do :; done; ", "\"$v\""),
    ("set -- @@; ", "\"$1\""),
    ("set -- @@; ", "$@"),
    ("f() { v=$1; }; f @@; ", "\"$v\""),
    ("printf -v v %s @@; ", "\"$v\""),
    ("a=(x @@); ", "\"${a[1]}\""),
    ("v=$(printf %s @@); ", "\"$v\""),
    ("printf %s @@ > carried; ", "\"$(cat carried)\""),
    (": @@; ", "\"$_\""),
];

/// Programs that start the one named after them.
pub(super) const WRAPPERS: &[(&str, &str)] = &[
    ("env", "env "),
    ("env", "/usr/bin/env A=b "),
    ("env", "env -i PATH=/usr/bin:/bin "),
    ("env", "env -u NOTHING -- "),
    ("nice", "nice "),
    ("nice", "nice -n 5 "),
    ("nohup", "nohup "),
    ("timeout", "timeout 20 "),
    ("timeout", "timeout --kill-after=5 -s KILL 20 "),
    ("setsid", "setsid -w "),
    ("stdbuf", "stdbuf -o0 "),
    ("flock", "flock lock "),
    ("flock", "flock -w 5 lock "),
    ("ionice", "ionice -c3 "),
    ("chrt", "chrt -o 0 "),
    ("taskset", "taskset 1 "),
    ("prlimit", "prlimit --core=0 "),
    ("setpriv", "setpriv --nnp "),
    ("strace", "strace -o /dev/null "),
    ("busybox", "busybox env "),
    ("find", "find . -maxdepth 0 -exec "),
    ("xargs", "xargs -a /dev/null "),
];

/// What a shell runs, if a part of it becomes code.
const SHELL: &[&str] = &[
    "touch CANARY",
    "$(touch CANARY)",
    "`touch CANARY`",
    "; touch CANARY;",
    "\ntouch CANARY\n",
    "x'; touch CANARY; 'x",
    "x\"; touch CANARY; \"x",
    "x || touch CANARY",
    "a[$(touch CANARY)]",
    "\nE\ntouch CANARY\n",
    "x;; *) touch CANARY;; (x",
    "}; touch CANARY; {",
    ")); touch CANARY; ((",
];
/// What is evaluated as arithmetic or as the name of a variable.
const NUMBER: &[&str] = &[
    "a[$(touch CANARY)]",
    "x=a[$(touch CANARY)]",
    "1; touch CANARY",
];
/// The name of a program.
const PROGRAM: &[&str] = &["touch"];
const PYTHON: &[&str] = &[
    "__import__(\"os\").system(\"touch CANARY\")",
    "'; __import__('os').system('touch CANARY'); '",
];
const PERL: &[&str] = &[
    "system('touch CANARY')",
    "'; system('touch CANARY'); '",
    "`touch CANARY`",
];
const NODE: &[&str] = &["require('child_process').execSync('touch CANARY')"];
const AWK: &[&str] = &[
    "BEGIN { system(\"touch CANARY\") }",
    "1; BEGIN { system(\"touch CANARY\") } 1",
];
const SED: &[&str] = &["1e touch CANARY"];
const MAKE: &[&str] = &["$(shell touch CANARY)"];
const EX: &[&str] = &["!touch CANARY", "silent !touch CANARY"];
const TCL: &[&str] = &["exec touch CANARY"];

/// Builds the table: a form is a program, a command and payloads.
macro_rules! forms {
    ($($program:literal $payloads:ident: $($command:literal),+ $(,)?;)+) => {
        &[$($(Form { program: $program, command: $command, payloads: $payloads },)+)+]
    };
}

/// Each of these runs its data if that is spliced.
pub(super) const FORMS: &[Form] = forms! {
    "bash" SHELL:
        "eval @@", "eval 'echo {D}'", "eval \"echo {D}\"", "command eval @@", "builtin eval @@", "trap @@ EXIT",
        ". /dev/stdin <<< @@", "source <(printf '%s\\n' @@)", "printf '%s\\n' @@ | . /dev/stdin",
        "shopt -s expand_aliases; alias run=@@\nrun", "mapfile -C @@ -c 1 <<< x", "PS4=@@ bash -xc true",
        "printf '%s\\n' @@ | eval \"$(cat)\"", "printf '%s\\n' @@ | while read -r l; do eval \"$l\"; done",
        "echo {D}", "echo '{D}'", "echo \"{D}\"", "echo x{D}", "true # {D}", "echo `echo {D}`", "echo \"`echo {D}`\"",
        "cat <<E\n{D}\nE", "cat <<'E'\n{D}\nE", "cat <<-E\n\t{D}\n\tE", "echo $'{D}'", "case x in {D}) ;; esac",
        "case {D} in x) ;; esac", "cat < {D}", "echo x > {D}", "x={D}", "x='{D}' true", "for x in {D}; do :; done",
        "if [ {D} = x ]; then :; fi", "[[ {D} == x ]]", "f() { {D}; }; f", "( {D} )", "{ {D}; }", "echo \\{D}",
        "ls --{D}", "ls -- \"{D}\"", "echo \"$(echo {D})\"", "cat <(echo {D})", "echo x | tee {D}", "x=({D})",
        "printf '%s\\n' @@ > run; . ./run", "printf '%s\\n' @@ > a; cp a run; . ./run", "printf '%s\\n' @@ > a; ln -s a run; ~sh run",
        "f=run; printf '%s\\n' @@ > \"$f\"; . ./run", "~bash -c @@", "~bash -c 'echo {D}'", "~bash -c \"echo {D}\"",
        "~bash -lc @@", "~bash -c 'eval \"$1\"' bash @@", "~bash -c '\"$@\"' bash ~sh -c @@",
        "~bash -c 'bash -c \"$0\"' @@", "printf '%s\\n' @@ | ~bash", "printf '%s\\n' @@ | ~bash -s x",
        "printf '%s\\n' @@ | ~bash -o errexit", "printf '%s\\n' @@ | ~bash /dev/stdin", "printf '%s\\n' @@ | ~bash -c bash",
        "printf '%s\\n' @@ | ~bash -c 'read -r l; eval \"$l\"'", "printf '%s\\n' @@ | ~bash -c \"$(cat)\"",
        "~bash <<< @@", "V=@@ ~bash <<< 'eval \"$V\"'", "V=@@ ~bash <<'E'\neval \"$V\"\nE", "V=@@ ~sh <<< 'bash -c \"$V\"'",
        "V=@@ ~bash < <(echo 'eval \"$V\"')", "echo 'eval \"$V\"' | V=@@ ~bash", "printf '$V' > run; V=@@ ~bash run", "~bash < <(printf '%s\\n' @@)", "exec 5<<< @@; ~bash <&5", "exec <<< @@; ~bash",
        "printf '%s\\n' @@ > run; ~bash run", "printf '%s\\n' @@ > ./run; chmod +x run; ~./run",
        "V=@@ ~bash -c 'eval \"$V\"'", "V=@@ ~bash -c '$V'", "~bash <<E\n@@\nE", "{ ~bash; } <<< @@",
        "~bash --rcfile <(printf '%s\\n' @@) -ic true";
    "bash" NUMBER:
        "let x=@@", "declare -i x=@@", "typeset -i x; x=@@", "[[ @@ -eq 1 ]]", "[[ -v @@ ]]", "test -v @@", "printf -v @@ x",
        "read @@ <<< 1", "unset @@", "export @@", "(( x = {D} ))", "echo $(({D}))", "echo $(( {D} + 1 ))", "a[{D}]=1",
        "x=abc; echo ${x:{D}}", "for ((i = {D}; i < 1; i++)); do :; done", "a=([{D}]=1)", "x=@@; echo $((x))",
        "x=@@; a[x]=1", "x=@@; echo ${a[x]}", "x=@@; [[ x -gt 1 ]]", "x=@@; echo \"${!x}\"";
    "sh" SHELL:
        "~sh -c @@", "~sh -c 'echo {D}'", "~sh -c \"echo {D}\"", "~sh -ec @@ name", "~sh -c 'eval \"$1\"' sh @@",
        "printf '%s\\n' @@ | ~sh", "printf '%s\\n' @@ | ~sh -s", "~sh <<E\n{D}\nE", "printf '%s\\n' @@ > run; ~sh ./run",
        "V=@@ ~sh -c 'eval \"$V\"'", "printf '%s\\n' @@ | cat | (cat | ~sh)", "printf '%s\\n' @@ | $(command -v sh)";
    "sh" PROGRAM:
        "@@ CANARY", "$(echo @@) CANARY", "~{D} CANARY", "\"{D}\" CANARY", "x=y {D} CANARY", "! {D} CANARY",
        "command {D} CANARY", "exec {D} CANARY", "true && {D} CANARY";
    "zsh" SHELL: "~zsh -c @@", "printf '%s\\n' @@ | ~zsh";
    "ksh" SHELL: "~ksh -c @@", "printf '%s\\n' @@ | ~ksh";
    "fish" SHELL: "~fish -c @@", "printf '%s\\n' @@ | ~fish";
    "busybox" SHELL: "~busybox sh -c @@", "printf '%s\\n' @@ | ~busybox sh";
    "env" SHELL: "~env -S @@", "~env -S \"sh -c '{D}'\"", "~env -S\"{D}\"";
    "env" PROGRAM: "~env {D} CANARY", "~env A=b {D} CANARY", "~env -- {D} CANARY";
    "nice" PROGRAM: "~nice {D} CANARY", "~nice -n 1 {D} CANARY";
    "nohup" PROGRAM: "~nohup {D} CANARY";
    "timeout" PROGRAM: "~timeout 9 {D} CANARY";
    "setsid" PROGRAM: "~setsid -w {D} CANARY";
    "stdbuf" PROGRAM: "~stdbuf -o0 {D} CANARY";
    "flock" PROGRAM: "~flock lock {D} CANARY";
    "flock" SHELL: "~flock lock -c @@", "printf '%s\\n' @@ | ~flock lock sh";
    "script" SHELL: "~script -qc @@ /dev/null", "printf '%s\\nexit\\n' @@ | ~script -q /dev/null";
    "su" SHELL: "~su -c @@", "printf '%s\\n' @@ | ~su";
    "runuser" SHELL: "~runuser -c @@";
    "unshare" PROGRAM: "~unshare {D} CANARY";
    "unshare" SHELL: "printf '%s\\n' @@ | ~unshare";
    "watch" SHELL: "TERM=xterm timeout 1 watch @@";
    "npx" SHELL: "~npx -c @@";
    "find" SHELL:
        "~find . -maxdepth 0 -exec sh -c @@ \\;", "~find . -maxdepth 0 -exec sh -c 'echo {D}' {} +",
        "touch -- ./@@; ~find . -type f -exec sh -c 'echo {}' \\;";
    "find" PROGRAM: "~find . -maxdepth 0 -exec {D} CANARY \\;", "~find . -maxdepth 0 -execdir {D} CANARY \\;";
    "xargs" SHELL:
        "echo x | ~xargs -I% sh -c @@", "echo x | ~xargs sh -c 'echo {D}'", "printf '%s\\n' @@ | ~xargs -I% sh -c %",
        "printf '%s\\n' @@ | ~xargs -d '\\n' sh -c", "printf '%s\\n' @@ | ~xargs -I% sh -c 'echo %'";
    "xargs" PROGRAM: "echo CANARY | ~xargs {D}", "~xargs -a /dev/null {D} CANARY";
    "python3" PYTHON:
        "~python3 -c @@", "~python3 -c \"x = '{D}'\"", "printf '%s\\n' @@ | ~python3", "printf '%s\\n' @@ | ~python3 -",
        "printf '%s\\n' @@ | ~python3 -u", "~python3 <<< @@", "printf '%s\\n' @@ > run; ~python3 run",
        "~python3 <(printf '%s\\n' @@)";
    "perl" PERL:
        "~perl -e @@", "~perl -ne @@ <<< x", "~perl -e\"{D}\"", "printf '%s\\n' @@ | ~perl", "~perl -e \"\\$x = '{D}';\"",
        "printf '%s\\n' @@ | ~perl -w";
    "ruby" PERL: "~ruby -e @@", "printf '%s\\n' @@ | ~ruby";
    "node" NODE: "~node -e @@", "~node -p @@", "~node --eval=@@", "printf '%s\\n' @@ | ~node", "printf '%s\\n' @@ | ~node -";
    "tclsh" TCL: "printf '%s\\n' @@ | ~tclsh", "~tclsh <<< @@";
    "awk" AWK: "~awk @@ /dev/null", "~awk \"{D}\" /dev/null", "~awk -f /dev/stdin <<< @@", "printf '%s\\n' @@ | ~awk -f -";
    "sed" SED: "~sed @@ <<< x", "~sed -n -e @@ <<< x", "~sed -f <(printf '%s\\n' @@) <<< x", "printf '%s\\n' @@ > run; ~sed -f run <<< x";
    "make" MAKE: "~make -s --eval=@@ x", "~make -f - <<< @@", "printf '%s\\n' @@ | ~make -f-", "~make -s V=@@ --eval '$(V)' x";
    "vim" EX: "~vim -es -c @@ -c q! < /dev/null", "printf '%s\\nq!\\n' @@ | ~vim -es";
    "ex" EX: "~ex -s -c @@ -c q! < /dev/null", "printf '%s\\nq!\\n' @@ | ~ex -s";
    "ed" EX: "printf '%s\\nq\\n' @@ | ~ed -s", "~ed -s <<< @@";
    "gdb" GDB: "~gdb -nx -batch -ex @@", "printf '%s\\nquit\\n' @@ | ~gdb -nx -q", "~gdb -nx -batch -x <(printf '%s\\n' @@)";
    "sqlite3" SQLITE: "~sqlite3 :memory: @@", "printf '%s\\n' @@ | ~sqlite3", "~sqlite3 -cmd @@ :memory: '.exit'";
    "tar" TAR: "~tar -cf out.tar --checkpoint=1 --checkpoint-action=@@ /etc/hostname",
        "~tar -cf out.tar --checkpoint=1 --checkpoint-action @@ /etc/hostname";
    "tar" OPTION: "~tar cf out.tar @@ /etc/hostname", "~tar cf out.tar /etc/hostname @@", "printf x > ./@@; tar cf out.tar *",
        "printf '%s\\n' @@ | while read -r l; do tar cf out.tar \"$l\" /etc/hostname; done",
        "tar cf out.tar \"$(printf '%s\\n' @@)\" /etc/hostname";
    "tar" SHELL: "~tar -cf out.tar -I @@ /etc/hostname", "~tar -cf out.tar --use-compress-program=@@ /etc/hostname",
        "tar -cf in.tar -C /etc hostname; ~tar -xf in.tar --to-command=@@", "~tar cIf @@ out.tar /etc/hostname",
        "tar cIf \"{D}\" out.tar /etc/hostname";
    "git" GIT: "~git -c alias.run=@@ run", "~git -c x.y=z -c \"alias.run={D}\" run", "git init -q .; ~git config alias.run @@; git run";
    "git" SHELL: "GIT_SSH_COMMAND=@@ ~git ls-remote ssh://nowhere.invalid/x", "~git -c core.sshCommand=@@ ls-remote ssh://nowhere.invalid/x",
        "git init -q r; ~git -C r -c core.fsmonitor=@@ status";
    "split" SHELL: "~split --filter=@@ /etc/hostname";
    "zip" SHELL: "~zip -q out.zip /etc/hostname -T -TT @@";
};
const OPTION: &[&str] = &["--use-compress-program=touch CANARY;cat"];
const GDB: &[&str] = &["shell touch CANARY"];
const SQLITE: &[&str] = &[".shell touch CANARY"];
const TAR: &[&str] = &["exec=touch CANARY"];
const GIT: &[&str] = &["!touch CANARY"];

/// These take data as an argument or read it, and nothing more: they must work with any.
pub(super) const HARMLESS: &[&str] = &[
    "printf %s {D}",
    "printf %s '<{D}>'",
    "printf %s \"<{D}>\"",
    "printf %s {D} | cat",
    "printf %s {D} | awk '{ print length }'",
    "printf %s {D} | sed -n -e p | tr a b > out.txt; cat out.txt",
    "printf %s \"$(printf %s {D})\"",
    "if [ {D} = x ]; then echo same; fi",
    "[ ! -e {D} ] || ls",
    "grep -c -- {D} /dev/null || true",
    "basename -- {D}",
    "awk -v x={D} 'BEGIN { print x }' 2>&1",
];
