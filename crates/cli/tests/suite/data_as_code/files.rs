//! Data in a file that the same command runs, and data that says which file a program of the system opens.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use cuecard_testing::scratch::Scratch;
use serde_json::{Value, json};

use super::{Random, canary, is_installed, push_steps};
use crate::program::{self, scratch};

/// Ways to put data into the file `FILE`, and the program that each needs.
const WRITES: &[(&str, &str)] = &[
    ("sh", "printf '%s\\n' {D} > FILE"),
    ("sh", "printf '%s\\n' {D} >> FILE"),
    ("sh", "cat <<< {D} > FILE"),
    ("sh", "{ printf '%s\\n' {D}; } > FILE"),
    ("sh", "(printf '%s\\n' {D} | cat) > FILE"),
    ("sh", "exec 3> FILE; printf '%s\\n' {D} >&3; exec 3>&-"),
    ("sh", "f=FILE; printf '%s\\n' {D} > \"$f\""),
    ("sh", "export f=FILE; printf '%s\\n' {D} > $f"),
    ("sh", "set -- FILE; printf '%s\\n' {D} > \"$1\""),
    ("sh", "for f in FILE; do printf '%s\\n' {D} > \"$f\"; done"),
    ("sh", "f=FILE; printf '%s\\n' {D} > \"${f}\""),
    (
        "sed",
        "printf '%s\\n' {D} > x; echo > FILE; sed -i '1r x' FILE",
    ),
    (
        "git",
        "printf '%s\\n' {D} > x; git init -q .; git add x; git mv -f x FILE",
    ),
    ("sh", "v={D}; printf '%s\\n' \"$v\" > FILE"),
    ("sh", "V={D} sh -c 'printf \"%s\\n\" \"$V\" > FILE'"),
    ("sh", "printf '%s\\n' {D} | sh -c 'cat > FILE'"),
    ("sh", "w() { cat > FILE; }; printf '%s\\n' {D} | w"),
    ("tee", "printf '%s\\n' {D} | tee FILE > /dev/null"),
    ("tee", "printf '%s\\n' {D} | nice tee FILE > /dev/null"),
    ("dd", "printf '%s\\n' {D} | dd of=FILE status=none"),
    ("cp", "printf '%s\\n' {D} > x; cp x FILE"),
    ("cp", "printf '%s\\n' {D} | cp /dev/stdin FILE"),
    ("mv", "printf '%s\\n' {D} > x; mv x FILE"),
    ("ln", "printf '%s\\n' {D} > x; ln -f x FILE"),
    ("install", "printf '%s\\n' {D} > x; install x FILE"),
    ("sort", "printf '%s\\n' {D} | sort -o FILE"),
    ("uniq", "printf '%s\\n' {D} | uniq - FILE"),
    ("sed", "printf '%s\\n' {D} | sed -n 'w FILE'"),
    ("awk", "printf '%s\\n' {D} | awk '{ print > \"FILE\" }'"),
    (
        "python3",
        "printf '%s\\n' {D} | python3 -c 'import sys; open(\"FILE\", \"w\").write(sys.stdin.read())'",
    ),
    (
        "perl",
        "printf '%s\\n' {D} | perl -e 'open(F, \">\", \"FILE\"); print F <STDIN>'",
    ),
    (
        "split",
        "printf '%s\\n' {D} | split -b 1000 - FILE; mv FILEaa FILE",
    ),
    (
        "tar",
        "mkdir -p y; printf '%s\\n' {D} > y/run; tar c -C y run | tar x -C out",
    ),
    (
        "find",
        "printf '%s\\n' {D} > x; find x -exec cp {} FILE \\;",
    ),
    (
        "git",
        "printf '%s\\n' {D} > x; git diff --no-index --output=y /dev/null x; sed -n 's/^+//p' y > FILE",
    ),
];

/// Ways to run what is in it.
const RUNS: &[&str] = &[
    "sh FILE",
    "bash FILE x",
    ". FILE",
    "source FILE",
    "chmod +x FILE; FILE",
    "sh < FILE",
    "cat FILE | sh",
    "sh -c 'sh FILE'",
    "sh -c '. FILE'",
    "nice sh FILE",
    "env sh FILE",
    "timeout 5 bash FILE",
    "bash -e FILE",
    "bash --rcfile FILE -ic true",
    "BASH_ENV=FILE bash -c true",
    "export BASH_ENV=FILE; bash -c true",
    "env BASH_ENV=FILE bash -c true",
    "ENV=FILE sh -ic true",
    "eval \"$(cat FILE)\"",
    "bash -c \"$(< FILE)\"",
    "xargs -a FILE -I% sh -c %",
    "find out -type f -exec sh {} \\;",
    "for f in out/*; do sh \"$f\"; done",
    "sh out/*",
    "chmod +x FILE; PATH=out:$PATH; run",
    "chmod +x FILE; $PWD/FILE",
    "f=FILE; sh \"$f\"",
    "cd out; sh run",
    "cd out && . ./run",
    "(cd out; chmod +x run; ./run)",
    "while read -r l; do eval \"$l\"; done < FILE",
    "f() { sh FILE; }; f",
    "trap 'sh FILE' EXIT",
];

/// The same file.
const SPELLINGS: &[&str] = &[
    "out/run",
    "./out/run",
    "out//run",
    "out/./run",
    "out/../out/run",
];

/// Programs with a place for the path of a file that they write, or whose mode they change.
const OPENS: &[&str] = &[
    "tar cf @@ in",
    "tar -cf @@ in",
    "tar --create --file=@@ in",
    "tar xf in.tar -C @@",
    "zip -q @@ in",
    "unzip -qo in.zip -d @@",
    "shuf -e x -o @@",
    "shuf -e x -o@@",
    "sort in -o @@",
    "sort --output=@@ in",
    "uniq in @@",
    "xxd in @@",
    "iconv -o @@ in",
    "split -b 1 in @@",
    "csplit -f @@ in 1",
    "csplit --prefix=@@ in 1",
    "patch -o @@ in x.patch",
    "openssl rand -out @@ 8",
    "ssh-keygen -q -N '' -f @@",
    "gcc -x c -c -o @@ /dev/null",
    "ar rc @@ in",
    "ld -r -b binary -o @@ in",
    "objcopy -I binary -O elf64-x86-64 in @@",
    "gzip -k -S .gz in; mv in.gz @@",
    "curl -so @@ file:///etc/hostname",
    "curl -s --output=@@ file:///etc/hostname",
    "curl -s -D @@ file:///etc/hostname",
    "curl -s --stderr @@ nowhere",
    "curl -s --trace @@ file:///etc/hostname",
    "wget -qO @@ http://127.0.0.1:9",
    "wget -q -o @@ http://127.0.0.1:9",
    "git init -q @@",
    "git init -q --separate-git-dir=@@ x",
    "git diff --no-index --output=@@ /dev/null in",
    "mkfifo @@",
    "mknod @@ p",
    "mktemp -p @@",
    "mktemp @@XXXXXX",
    "touch @@",
    "truncate -s 1 @@",
    "fallocate -l 1 @@",
    "mkdir @@",
    "mkdir -p -- @@/x",
    "rm -rf @@",
    "rmdir @@",
    "shred -u @@",
    "chmod 600 @@",
    "chmod 777 -- @@",
    "ln -s in @@",
    "cp in @@",
    "cp -t @@ in",
    "cp --target-directory=@@ in",
    "mv x @@",
    "mv @@ moved",
    "install in @@",
    "tee @@ < in",
    "tee -a in @@ < in",
    "dd if=in of=@@ status=none",
    "find @@ -type f -delete",
    "find in -fprint @@",
    "cat in > @@",
    "cat in >| @@",
    "bzip2 -kc in > @@",
    "logger -f @@",
    "column in > @@",
    "nl in | tee -- @@",
    "sqlite3 @@ 'create table t(x)'",
    "flock @@ true",
    "script -qc true @@",
    "strace -o @@ true",
    "time -o @@ true",
    "gpg --batch -o @@ --dearmor in",
    "rsync in @@",
    "cpio -p @@ <<< in",
    "echo in | cpio -oO @@",
];

/// Ways for data to get there.
const WAYS: &[(&str, &str)] = &[
    ("", "{D}"),
    ("", "'{D}'"),
    ("", "\"{D}\""),
    ("", "\"$(printf %s {D})\""),
    ("", "$(printf %s {D})"),
    ("v={D}; ", "\"$v\""),
    ("v={D}; w=$v; ", "$w"),
    ("read -r v <<< {D}; ", "\"$v\""),
    ("set -- {D}; ", "\"$1\""),
    ("export v={D}; ", "\"${v}\""),
    ("printf -v v %s {D}; ", "\"$v\""),
    (
        "mkdir -p sub; cd sub; cp ../in ../in.tar ../in.zip .; ",
        "{D}",
    ),
];

#[test]
fn no_file_with_data_runs() {
    let mut random = Random(20_264);
    let writes: Vec<&str> = WRITES
        .iter()
        .filter(|(program, _)| is_installed(program))
        .map(|(_, command)| *command)
        .collect();
    let mut commands = Vec::new();
    for number in 0..200 {
        // Each way to write and each to run comes plain once.
        let write = writes
            .get(number)
            .copied()
            .unwrap_or_else(|| random.of(&writes));
        let run = RUNS.get(number).copied().unwrap_or_else(|| random.of(RUNS));
        let (first, second) = match number < RUNS.len() {
            true => (SPELLINGS[0], SPELLINGS[0]),
            false => (random.of(SPELLINGS), random.of(SPELLINGS)),
        };
        let separator = random.of(&["; ", " && ", "\n"]);
        commands.push(format!(
            "mkdir -p out{separator}{}{separator}{}",
            write.replace("FILE", first),
            run.replace("FILE", second)
        ));
    }
    // So the test can fail.
    let payload = |number: usize| format!("touch \"$HOME/{}\"", canary(number));
    let armed = commands
        .iter()
        .enumerate()
        .filter(|(number, command)| {
            let place = Scratch::new(Path::new("timeout")).expect("a scratch folder");
            let command = command.replace("{D}", &format!("'{}'", payload(*number)));
            place
                .run(&["-s", "KILL", "5", "bash", "-c", &command])
                .expect("it starts");
            place.home().join(canary(*number)).exists()
        })
        .count();
    assert!(
        armed * 10 > commands.len() * 9,
        "only {armed} of {} would run",
        commands.len()
    );

    let place = scratch();
    let mut steps = Vec::new();
    for (number, command) in commands.iter().enumerate() {
        push_steps(
            &mut steps,
            &format!("rm -rf out x y; {command}"),
            &payload(number),
        );
    }
    play(&place, &steps);
    let ran: Vec<&String> = commands
        .iter()
        .enumerate()
        .filter(|(number, _)| place.home().join(canary(*number)).exists())
        .map(|(_, command)| command)
        .collect();
    assert!(
        ran.is_empty(),
        "{} of {} ran: {ran:#?}",
        ran.len(),
        commands.len()
    );
}

#[test]
fn no_program_opens_what_data_names_outside_the_root() {
    let mut random = Random(20_265);
    let installed: Vec<&str> = OPENS
        .iter()
        .copied()
        .filter(|command| is_installed(command.split(' ').next().unwrap_or_default()))
        .collect();
    let paths = [
        "../outside/NAME",
        "sub/../../outside/NAME",
        "out/NAME",
        "ABSOLUTE/NAME",
    ];
    let names = ["new", "file", "folder", "folder/file"];
    let mut commands = Vec::new();
    for command in &installed {
        for number in 0..6 {
            let (before, word) = if number == 0 {
                WAYS[0]
            } else {
                random.of(WAYS)
            };
            let mut path = random.of(&paths).replace("NAME", random.of(&names));
            if before.contains("cd sub") {
                path = path.replacen("../", "../../", 1);
            }
            commands.push((format!("{before}{}", command.replace("@@", word)), path));
        }
    }
    // So the test can fail: the author may do all of it.
    let harms = |command: &str, path: &str| {
        let (place, outside) = root();
        let before = listing(&outside);
        let path = path.replace("ABSOLUTE", &outside.display().to_string());
        let command = command.replace("{D}", &path);
        let step = json!({"step": 1, "tool": "claude__bash", "params": {"command": command, "timeout": 5000}});
        play(&place, &[step]);
        listing(&outside) != before
    };
    let harmful: Vec<&str> = installed
        .iter()
        .copied()
        .filter(|command| {
            let tries = ["../outside/new", "../outside/file", "../outside/folder"];
            tries
                .iter()
                .any(|path| harms(&command.replace("@@", "{D}"), path))
        })
        .collect();
    assert!(
        harmful.len() * 5 > installed.len() * 4,
        "{harmful:?} of {installed:?}"
    );

    let (place, outside) = root();
    let before = listing(&outside);
    let mut steps = Vec::new();
    for (command, path) in &commands {
        let path = path.replace("ABSOLUTE", &outside.display().to_string());
        push_steps(&mut steps, command, &path);
    }
    let played = play(&place, &steps);
    let after = listing(&outside);
    let changed: Vec<&PathBuf> = after
        .keys()
        .chain(before.keys())
        .filter(|path| before.get(*path) != after.get(*path))
        .collect();
    let passed: Vec<&(String, String)> = commands
        .iter()
        .zip(played.iter().skip(1).step_by(2))
        .filter(|(_, status)| status.as_str() == "passed")
        .map(|(command, _)| command)
        .collect();
    assert!(changed.is_empty(), "{changed:?}; these ran: {passed:#?}");
}

/// A working directory with things to write from, beside a folder that must stay as it is.
fn root() -> (Scratch, PathBuf) {
    let place = scratch();
    let work = place.work();
    let outside = work.parent().expect("it has one").join("outside");
    fs::create_dir_all(outside.join("folder")).expect("made");
    for file in ["file", "folder/file"] {
        fs::write(outside.join(file), "theirs\n").expect("written");
        let mode = fs::Permissions::from_mode(0o640);
        fs::set_permissions(outside.join(file), mode).expect("set");
    }
    fs::create_dir(work.join("sub")).expect("made");
    symlink("../outside", work.join("out")).expect("linked");
    for file in ["in", "x"] {
        fs::write(work.join(file), "one\ntwo\n").expect("written");
    }
    fs::write(
        work.join("x.patch"),
        "--- in\n+++ in\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n",
    )
    .expect("written");
    let pack = "tar cf in.tar in; command -v zip > /dev/null && zip -q in.zip in; true";
    let step = json!({"step": 1, "tool": "claude__bash", "params": {"command": pack}});
    play(&place, &[step]);
    (place, outside)
}

/// What is in a folder: contents and modes.
fn listing(folder: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let Ok(entries) = fs::read_dir(folder) else {
        return found;
    };
    for entry in entries.filter_map(Result::ok) {
        let path = entry.path();
        let metadata = path.symlink_metadata().expect("it is there");
        let content = match metadata.is_file() {
            true => fs::read(&path).unwrap_or_default(),
            false => Vec::new(),
        };
        if metadata.is_dir() {
            found.extend(listing(&path));
        }
        found.insert(path, (metadata.permissions().mode(), content));
    }
    found
}

/// Plays the steps, in parts so that none takes long, and returns the status of each.
fn play(place: &Scratch, steps: &[Value]) -> Vec<String> {
    let file = place.home().join("scenario.json");
    let run_dir = place.home().join("runs");
    let (path, runs) = (
        file.to_str().expect("UTF-8"),
        run_dir.to_str().expect("UTF-8"),
    );
    let mut statuses = Vec::new();
    for steps in steps.chunks(200) {
        let scenario = json!({"version": "2.1", "metadata": {"name": "Files"}, "steps": steps});
        fs::write(&file, scenario.to_string()).expect("writable");
        let played = program::play(place, &[path, "--run-dir", runs], 0);
        statuses.extend(played.statuses().into_iter().map(str::to_owned));
    }
    statuses
}
