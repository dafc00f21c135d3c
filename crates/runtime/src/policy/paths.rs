//! Where a path leads, and whether it may.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

use super::executable_files::{self, decides_what_runs, decides_when_written, is_hidden_config};
use super::source::{LINE_ENDS, ends_with_line, line_end_help, name, shown};
use super::{Refusal, RefusalKind};
use crate::run_dir::FILES;
use crate::text_file::io_reason;
use cuecard_source::value::{Piece, Text};

/// As many symbolic links as Linux follows.
const MAX_LINKS: usize = 40;
/// More bytes than any system takes.
const MAX_PATH: usize = 32 * 1024;

/// The folders that the policy knows, all absolute and without symbolic links.
#[derive(Debug, Clone)]
pub(super) struct Places {
    root: PathBuf,
    working_directory: PathBuf,
    /// The root and each allowed path: as the user named it, and where that leads.
    folders: Vec<(PathBuf, PathBuf)>,
    run_dir: Option<PathBuf>,
    is_confined: bool,
    is_read_only: bool,
    /// Files that this run is made of, which data may not write, as [`folded_path`] writes them.
    protected: HashSet<String>,
    /// Words by which files may be meant that it may not write, and folders with no code that it may.
    words: HashSet<String>,
    folders_of_code: HashSet<String>,
}

impl Places {
    pub(super) fn new(
        root: &Path,
        working_directory: &Path,
        allowed: &[PathBuf],
        run_dir: Option<&Path>,
        is_confined: bool,
        is_read_only: bool,
    ) -> Result<Self, Refusal> {
        let working_directory = folder(
            working_directory,
            "the working directory",
            "change to an existing directory",
        )?;
        // Absolute without the process's own working directory, which is not ours to read.
        let absolute = |path: &Path| working_directory.join(path);
        let resolved = |path: &Path, what: &str, help: &str| {
            resolve(&absolute(path), |_| {})
                .map_err(|(wrong, _)| refusal(format!("{what} `{}` {wrong}", path.display()), help))
        };
        let help = "pass an existing directory with `--root DIR`";
        let root = folder(&absolute(root), "the root", help)?;
        let mut folders = vec![(root.clone(), root.clone())];
        for path in allowed {
            let help = "pass an accessible path with `--allow-path DIR`";
            let leads = resolved(path, "the allowed path", help)?;
            folders.push((absolute(path), leads));
        }
        let help = "choose another with `--run-dir DIR`";
        let run_dir = run_dir.map(|path| resolved(path, "the run directory", help));
        Ok(Self {
            root,
            folders,
            run_dir: run_dir.transpose()?,
            is_confined,
            is_read_only,
            protected: HashSet::new(),
            words: HashSet::new(),
            folders_of_code: HashSet::new(),
            working_directory,
        })
    }

    /// Data may not write these files, if they are any.
    pub(super) fn protect(&mut self, files: impl IntoIterator<Item = PathBuf>) {
        let files = files
            .into_iter()
            .filter_map(|file| self.working_directory.join(file).canonicalize().ok());
        let files = files.filter(|file| file.is_file());
        self.protected.extend(files.map(|file| folded_path(&file)));
    }

    /// Nor files that can be meant by these values of a config: by a word of one, by a path, and code by a folder.
    pub(super) fn protect_named(&mut self, values: impl IntoIterator<Item = String>) {
        for value in values {
            self.words.extend(executable_files::words(&value));
            let paths = executable_files::paths(&value).filter(|path| path.len() < MAX_PATH);
            // `${workspaceFolder}/dist`
            let paths = paths.flat_map(|path| [Some(path), path.strip_prefix('/')]);
            for path in paths.flatten() {
                // What a link leads to is meant, too.
                let Ok(leads) = resolve(&self.working_directory.join(path), |_| {}) else {
                    continue;
                };
                if self.folders.iter().any(|(_, it)| leads.starts_with(it)) {
                    let leads = folded_path(&leads);
                    self.folders_of_code.insert(leads.clone());
                    self.protected.insert(leads);
                }
            }
        }
    }

    fn is_protected(&self, path: &Path, name: &str) -> bool {
        let is_below = || {
            let mut above = path.ancestors();
            above.any(|folder| self.folders_of_code.contains(&folded_path(folder)))
        };
        self.protected.contains(&folded_path(path))
            || executable_files::is_named(name, &self.words)
            || (executable_files::is_code(name) && is_below())
    }

    /// The run directory, for files of our own.
    pub(super) fn run_dir(&self) -> Option<&Path> {
        self.run_dir.as_deref()
    }

    /// The names that lead to the root and to each allowed path, alone and with those that follow.
    pub(super) fn words(&self) -> impl Iterator<Item = String> {
        let paths = self.folders.iter();
        let paths = paths.flat_map(|(it, path)| [it, path].into_iter().skip((it == path).into()));
        paths.flat_map(|path| {
            let names = path.iter().skip(1).map(|name| name.to_string_lossy());
            let names: Vec<_> = names.collect();
            let starts = 0..names.len();
            let parts = starts.flat_map(|from| (from + 1..=names.len()).map(move |to| from..to));
            parts.map(|part| names[part].join("/")).collect::<Vec<_>>()
        })
    }

    pub(super) fn read(&self, text: &Text) -> Result<PathBuf, Refusal> {
        self.checked(text, false)
    }

    pub(super) fn write(&self, text: &Text) -> Result<PathBuf, Refusal> {
        self.checked(text, true)
    }

    /// The same of a file that is made there. Data may give it no name that is an option to whoever gets it by `*`.
    pub(super) fn create(&self, text: &Text) -> Result<PathBuf, Refusal> {
        let path = self.write(text)?;
        let of_author = names_of_author(text);
        let is_option =
            |name: &str| name.starts_with('-') && !of_author.iter().any(|known| known == name);
        if text.to_string().split('/').any(is_option) {
            return Err(refusal(
                format!(
                    "a name in {} starts with `-`, so a program that receives it through `*` would read it as an option",
                    named(text)
                ),
                "write the start of the name literally",
            ));
        }
        Ok(path)
    }

    fn checked(&self, text: &Text, writes: bool) -> Result<PathBuf, Refusal> {
        let is_data = !text.is_trusted();
        let refuse = |wrong: &str, help: &str| {
            let message = format!("the path {} {wrong}", named(text));
            Err(refusal(message, help))
        };
        // A file that is read may have one in its name, but hardly at the end.
        let has_line_end = |piece: &&Piece| match writes {
            true => !piece.origin.is_trusted() && piece.text.contains(LINE_ENDS),
            false => ends_with_line(piece),
        };
        if let Some(piece) = text.pieces().iter().find(has_line_end) {
            return refuse("has a line end in it", line_end_help(piece));
        }
        let written = text.to_string();
        let wrong = match written.len() {
            0 => Some("is empty"),
            length if length > MAX_PATH => Some("is too long"),
            _ => written.contains('\0').then_some("contains a NUL byte"),
        };
        if let Some(wrong) = wrong {
            return refuse(wrong, "give the path of a file or folder");
        }
        let path = self.working_directory.join(&written);
        let must_not_write = writes && self.is_read_only;
        if !is_data && !self.is_confined && !must_not_write {
            return Ok(path);
        }
        let mut passed = Vec::new();
        let mut path = match resolve(&path, |path| passed.push(path.to_owned())) {
            Ok(path) => path,
            Err((wrong, help)) => return refuse(&wrong, help),
        };
        let run_dir = self.run_dir.as_ref();
        let is_in_run_dir = run_dir.is_some_and(|dir| path.starts_with(dir));
        if must_not_write && !is_in_run_dir {
            return Err(refusal(
                format!("{} may not be written under `--read-only`", named(text)),
                "remove `--read-only`, or write to the run directory",
            ));
        }
        // What a run saved may be read again by the path that a step's output has.
        let is_saved = !writes && self.is_saved(&path);
        let is_inside = self.folders.iter().any(|(_, it)| path.starts_with(it));
        if !(is_inside || is_saved || (!is_data && is_in_run_dir)) {
            return self.outside(text, &path);
        }
        if is_data && !is_saved {
            self.check_names(text, &path, &passed, writes)?;
        } else if self.is_confined && writes && !is_in_run_dir {
            // A config of servers is a way out: what it names is started. What the author writes else is not obeyed by
            // itself, so the names are those that data may not even read.
            self.check_names(text, &path, &passed, false)?;
        }
        if matches!(written.rsplit('/').next(), Some("" | "." | "..")) {
            // It stays a folder, so that no file takes its place.
            path.push("");
        }
        Ok(path)
    }

    fn outside(&self, text: &Text, path: &Path) -> Result<PathBuf, Refusal> {
        // What can be pasted as it stands.
        let is_plain = |folder: &&str| {
            let is_plain = |letter: char| letter.is_alphanumeric() || "/._-".contains(letter);
            *folder != "/" && folder.chars().all(is_plain)
        };
        let folder = path.parent().and_then(Path::to_str).filter(is_plain);
        let help = format!("allow it with `--allow-path {}`", folder.unwrap_or("DIR"));
        let (because, help) = match text.is_trusted() {
            true => (
                ", and `--confine` keeps everything inside",
                format!("remove `--confine`, or {help}"),
            ),
            false => ("", help),
        };
        let (path, root) = (named(text), self.root.display());
        Err(refusal(
            format!("the path {path} leads outside the root `{root}`{because}"),
            help,
        ))
    }

    /// Whether it is a file of an answer that some run keeps.
    fn is_saved(&self, path: &Path) -> bool {
        let run_dir = self.run_dir.as_ref();
        let below = run_dir.and_then(|dir| path.strip_prefix(dir).ok()?.parent());
        below.is_some_and(|folder| folder.iter().any(|name| name == FILES))
    }

    /// Data may not lead to what decides what runs next, unless the user named just that. `passed` is each file and
    /// folder on the way to `path`, links included.
    fn check_names(
        &self,
        text: &Text,
        path: &Path,
        passed: &[PathBuf],
        writes: bool,
    ) -> Result<(), Refusal> {
        let of_author = names_of_author(text);
        for step in passed {
            let is_below = |(_, it): &(PathBuf, PathBuf)| step != it && step.starts_with(it);
            let name = step.file_name().unwrap_or_default().to_string_lossy();
            let decides = match writes {
                true => {
                    (step == path && (self.is_protected(step, &name) || is_program(step)))
                        || (is_hidden_config(&name) && !of_author.iter().any(|it| *it == name))
                        || decides_when_written(&name)
                }
                false => decides_what_runs(&name),
            } || Some(step) == self.run_dir.as_ref();
            let is_chosen = |(named, it): &(PathBuf, PathBuf)| {
                path.starts_with(it) && (named.starts_with(step) || it.starts_with(step))
            };
            let mut folders = self.folders.iter();
            if decides && folders.clone().any(is_below) && !folders.any(is_chosen) {
                let path = named(text);
                return Err(refusal(
                    format!("the path {path} leads to `{name}`, which can control what runs later"),
                    format!("allow it with `--allow-path {}`", step.display()),
                ));
            }
        }
        Ok(())
    }
}

/// A path as lenient file systems take it.
fn folded_path(path: &Path) -> String {
    let names = path.iter().map(|name| name.to_string_lossy());
    let names: Vec<String> = names.map(|it| executable_files::folded(&it)).collect();
    names.join("/")
}

fn refusal(message: String, help: impl Into<String>) -> Refusal {
    Refusal::new(RefusalKind::Path, message, help)
}

/// The names in a path that have no data in them.
fn names_of_author(text: &Text) -> Vec<String> {
    let pieces = text.pieces().iter();
    // No path has a NUL byte.
    let written: String = pieces
        .map(|piece| match piece.origin.is_trusted() {
            true => piece.text.as_str(),
            false => "\0",
        })
        .collect();
    let names = written.split('/').filter(|name| !name.contains('\0'));
    names.map(str::to_owned).collect()
}

/// Whether a file is one that can be started.
fn is_program(path: &Path) -> bool {
    let is_executable = path
        .metadata()
        .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0);
    let mut beginning = [0; 4];
    // On some file systems each file is executable.
    is_executable
        && (path.extension().is_none()
            || File::open(path).is_ok_and(|mut file| file.read(&mut beginning).is_ok())
                && (beginning.starts_with(b"#!")
                    || beginning.starts_with(b"\x7fELF")
                    || beginning[1..].starts_with(&[0xfa, 0xed, 0xfe])))
}

fn folder(path: &Path, what: &str, help: &str) -> Result<PathBuf, Refusal> {
    let wrong = match path.canonicalize() {
        Ok(resolved) if resolved.is_dir() => return Ok(resolved),
        Ok(_) => "is not a folder".to_owned(),
        Err(error) if error.kind() == ErrorKind::NotFound => "doesn't exist".to_owned(),
        Err(error) => format!("can't be opened: {error}"),
    };
    Err(refusal(
        format!("{what} `{}` {wrong}", path.display()),
        help,
    ))
}

/// A path for a message, with the references whose data is in it.
fn named(text: &Text) -> String {
    let mut names: Vec<String> = Vec::new();
    let data = text.pieces().iter();
    for name in data.filter(|it| !it.origin.is_trusted()).map(name) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    match names.is_empty() {
        true => format!("`{}`", shown(text)),
        false => format!("`{}` (from {})", shown(text), names.join(", ")),
    }
}

/// Where an absolute path leads, if that is in the folder `root` or below.
///
/// # Errors
/// Why it may not be used, as the end of a sentence about it.
pub fn inside(root: &Path, path: &Path) -> Result<PathBuf, String> {
    let resolve = |path| resolve(path, |_| {}).map_err(|(wrong, _)| wrong);
    let (root, resolved) = (resolve(root)?, resolve(path)?);
    match resolved.starts_with(&root) {
        true => Ok(resolved),
        false => Err(format!("is outside of `{}`", root.display())),
    }
}

/// Where an absolute path leads once all symbolic links are followed, as the system would. What doesn't exist (yet)
/// is taken as it is written, a `..` in it steps back by name. A link to something that doesn't exist is followed
/// too, since writing through it would create the target. `pass` gets each file, folder and link on the way.
///
/// # Errors
/// What is wrong with the path, as the end of a sentence about it, and what to do.
fn resolve(path: &Path, mut pass: impl FnMut(&Path)) -> Result<PathBuf, (String, &'static str)> {
    const WITHOUT_LINKS: &str = "name the file without the links in between";
    let reversed = |path: &Path| -> Vec<OsString> {
        let parts = path.components().rev();
        let parts = parts.filter(|part| *part != Component::CurDir);
        parts.map(|part| part.as_os_str().to_owned()).collect()
    };
    let mut resolved = PathBuf::new();
    let mut to_do = reversed(path);
    let mut links = 0;
    while let Some(name) = to_do.pop() {
        // The parent of `/` is `/`.
        if name == ".." {
            resolved.pop();
            continue;
        }
        // `/` begins anew.
        resolved.push(&name);
        if name == "/" {
            continue;
        }
        pass(&resolved);
        match resolved.symlink_metadata() {
            Ok(metadata) if metadata.file_type().is_symlink() => {
                links += 1;
                let target = resolved.read_link();
                let target = target.map_err(|error| {
                    let wrong = format!("contains a link that can't be read: {error}");
                    (wrong, WITHOUT_LINKS)
                })?;
                if links > MAX_LINKS || to_do.len() > MAX_PATH {
                    let wrong = "contains too many symbolic links".to_owned();
                    return Err((wrong, WITHOUT_LINKS));
                }
                resolved.pop();
                to_do.extend(reversed(&target));
            }
            Ok(_) => {}
            // What can't be there is as good as absent: opening it fails.
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Err(error) if error.kind() == ErrorKind::InvalidFilename => {
                let wrong = "has a name that is too long or not allowed".to_owned();
                return Err((wrong, "use a shorter name"));
            }
            Err(error) => {
                let wrong = format!("can't be accessed: {}", io_reason(&error));
                return Err((wrong, "give the path of a file that you can open"));
            }
        }
    }
    Ok(resolved)
}

#[cfg(test)]
mod tests {
    use super::super::source::tests::text;
    use super::*;
    use cuecard_source::value::{Origin, Piece};
    use std::fs;
    use std::os::unix::fs::symlink;

    /// A folder with `root/` (holding `inner/file`), `outside/secret` and links.
    struct Tree {
        _dir: tempfile::TempDir,
        base: PathBuf,
    }

    fn tree() -> Tree {
        let dir = tempfile::tempdir().expect("a folder");
        let base = dir.path().canonicalize().expect("it exists");
        fs::create_dir_all(base.join("root/inner")).expect("made");
        fs::create_dir_all(base.join("outside/deep")).expect("made");
        fs::create_dir_all(base.join("root-2")).expect("made");
        fs::write(base.join("root/inner/file"), "x").expect("written");
        fs::write(base.join("outside/secret"), "x").expect("written");
        symlink("../outside", base.join("root/out")).expect("linked");
        symlink("../outside/deep", base.join("root/deep")).expect("linked");
        symlink("inner", base.join("root/in")).expect("linked");
        symlink("loop", base.join("root/loop")).expect("linked");
        symlink("../outside/new", base.join("root/dangling")).expect("linked");
        symlink("/", base.join("root/slash")).expect("linked");
        Tree { _dir: dir, base }
    }

    fn places(tree: &Tree, change: impl FnOnce(&mut Places)) -> Places {
        let root = tree.base.join("root");
        let mut places = Places::new(&root, &root, &[], None, false, false).expect("it exists");
        change(&mut places);
        places
    }

    fn data(value: &str) -> Text {
        text("{{scrape.name}}", &[("scrape.name", value)])
    }

    #[test]
    fn data_stays_inside_the_root() {
        let tree = tree();
        let places = places(&tree, |_| {});
        let root = tree.base.join("root");
        for (inside, expected) in [
            ("inner/file", "inner/file"),
            ("./inner/../inner/file", "inner/file"),
            ("inner/new", "inner/new"),
            ("not/there/../yet", "not/yet"),
            ("in/file", "inner/file"),
            (".", ""),
            ("inner/..", ""),
            ("inner/file/beyond", "inner/file/beyond"),
            ("~/x", "~/x"),
            ("file:///etc/passwd", "file:/etc/passwd"),
            ("..name", "..name"),
        ] {
            let path = places.write(&data(inside)).expect(inside);
            assert_eq!(path, root.join(expected), "{inside}");
            assert_eq!(places.read(&data(inside)).expect(inside), path);
        }
        let absolute = root.join("inner/file");
        let read = places
            .read(&data(absolute.to_str().expect("UTF-8")))
            .expect("inside");
        assert_eq!(read, absolute);
        for outside in [
            "..",
            "../root-2/x",
            "../../etc/passwd",
            "/etc/passwd",
            "//etc/passwd",
            "/",
            "out/secret",
            "out",
            "deep/../secret",
            "dangling",
            "slash/etc/passwd",
            "not/there/../../../outside/secret",
            "inner/../../outside/secret",
            "in/../../outside",
            "loop",
            "loop/x",
            "a\0b",
            "",
        ] {
            let refusal = places.read(&data(outside)).expect_err(outside);
            assert_eq!(refusal.kind, RefusalKind::Path);
            assert_eq!(places.write(&data(outside)).expect_err(outside), refusal);
        }
    }

    #[test]
    fn a_link_leaves_the_folder_it_points_to_not_the_one_it_stands_in() {
        let tree = tree();
        // `deep/..` is `outside`, although by name it would be the root.
        let error = places(&tree, |_| {})
            .read(&data("deep/../inner/file"))
            .expect_err("outside");
        assert!(error.message.contains("leads outside the root"), "{error}");
    }

    #[test]
    fn a_path_as_a_command_printed_it_keeps_no_line_end() {
        let tree = tree();
        for path in ["file\n", "out-2\n.txt", "file\r\n", "file\r"] {
            let refusal = places(&tree, |_| {})
                .write(&data(path))
                .expect_err("refused");
            assert!(
                refusal.message.contains("has a line end in it"),
                "{refusal}"
            );
            let has_several = path.contains("txt");
            assert_eq!(
                refusal.help.contains(r#""(?s)^(.*?)\r?\n?$""#),
                !has_several,
                "{}",
                refusal.help
            );
            let read = places(&tree, |_| {}).read(&data(path));
            assert_eq!(read.is_err(), !has_several, "{path:?}");
        }
        assert!(places(&tree, |_| {}).write(&Text::from("a\nb")).is_ok());
    }

    #[test]
    fn a_name_that_is_missing_or_a_dot_leaves_the_path_a_folder() {
        let tree = tree();
        for name in ["", ".", "/", "x/..", "file"] {
            let path = text("inner/new/{{x}}", &[("x", name)]);
            let path = places(&tree, |_| {}).write(&path).expect("inside");
            let is_folder = path.to_string_lossy().ends_with('/');
            assert_eq!(is_folder, name != "file", "{}", path.display());
        }
    }

    #[test]
    fn the_message_names_the_path_the_reference_and_the_flag() {
        let tree = tree();
        let refusal = places(&tree, |_| {})
            .read(&data("../../etc/passwd"))
            .expect_err("outside");
        assert_eq!(
            refusal.message,
            format!(
                "the path `../../etc/passwd` (from `{{{{scrape.name}}}}`) leads outside the root `{}`",
                tree.base.join("root").display()
            )
        );
        let above = tree.base.parent().expect("a folder").join("etc");
        let help = format!("allow it with `--allow-path {}`", above.display());
        assert_eq!(refusal.help, help);
    }

    #[test]
    fn a_name_that_no_file_can_have_is_told() {
        let tree = tree();
        let name = "x".repeat(300);
        let refusal = places(&tree, |_| {}).read(&data(&name)).expect_err("long");
        assert!(
            refusal
                .message
                .ends_with("has a name that is too long or not allowed"),
            "{refusal}"
        );
        assert_eq!(refusal.help, "use a shorter name");
    }

    #[test]
    fn one_piece_of_data_is_enough() {
        let tree = tree();
        let places = places(&tree, |_| {});
        let mixed = text("out/{{x}}", &[("x", "secret")]);
        assert!(places.read(&mixed).is_err());
        let empty = text("/etc/passwd{{x}}", &[("x", "")]);
        assert!(places.read(&empty).is_err());
    }

    #[test]
    fn trusted_paths_go_anywhere_as_they_are_written() {
        let tree = tree();
        let places = places(&tree, |_| {});
        assert_eq!(
            places.write(&"/etc/passwd".into()).expect("trusted"),
            Path::new("/etc/passwd")
        );
        assert_eq!(
            places.read(&"out/../x".into()).expect("trusted"),
            tree.base.join("root/out/../x")
        );
        let user = Text::new(vec![Piece {
            text: "../elsewhere".into(),
            origin: Origin::User,
            is_string: true,
            reference: Some("OUT".into()),
        }]);
        assert!(places.write(&user).is_ok());
        assert!(places.write(&"a\0".into()).is_err());
    }

    #[test]
    fn allowed_paths_widen() {
        let tree = tree();
        let root = tree.base.join("root");
        let places = Places::new(
            &root,
            &root,
            &["../outside".into(), tree.base.join("later")],
            None,
            false,
            false,
        )
        .expect("it exists");
        assert_eq!(
            places.read(&data("out/secret")).expect("allowed"),
            tree.base.join("outside/secret")
        );
        assert!(places.write(&data("../later/x")).is_ok());
        assert!(places.read(&data("../later-2")).is_err());
        assert!(places.read(&data("/etc/passwd")).is_err());
    }

    #[test]
    fn data_names_nothing_that_decides_what_runs_next() {
        let tree = tree();
        let root = tree.base.join("root");
        fs::create_dir_all(root.join(".git/hooks")).expect("made");
        fs::create_dir_all(root.join("hooks")).expect("made");
        symlink(".git/hooks", root.join("harmless")).expect("linked");
        symlink("hooks", root.join(".husky")).expect("linked");
        symlink(".mcp.json", root.join("dangling-config")).expect("linked");
        let places = places(&tree, |_| {});
        for path in [
            ".mcp.json",
            "./.mcp.json",
            ".MCP.json",
            ".mcp.json/",
            ".mcp.json.",
            ".mcp.json ",
            ".mcp.json::$DATA",
            ".g\u{200c}it/config",
            "inner/../.git/config",
            "inner//.git///hooks/pre-commit",
            ".Git/hooks/pre-commit",
            "GIT~1/config",
            "inner/.github/workflows/x.yml",
            ".cuecard/config.json",
            ".sandy",
            "harmless/pre-commit",
            ".husky/pre-commit",
            "dangling-config",
            "inner/.bashrc",
            ".ba\u{17f}hrc",
            ".vimrc",
            ".config/fish/config.fish",
        ] {
            let refusal = places.write(&data(path)).expect_err(path);
            assert!(
                refusal.message.contains("can control what runs later"),
                "{refusal}"
            );
            assert_eq!(places.read(&data(path)).expect_err(path), refusal);
            assert!(places.write(&path.into()).is_ok(), "the author may: {path}");
        }
        for path in [
            "Makefile",
            "inner/package.json",
            "node_modules/.bin/x",
            "CLAUDE.md",
        ] {
            assert!(places.write(&data(path)).is_err(), "{path}");
            assert!(places.read(&data(path)).is_ok(), "{path}");
        }
        let part = text("inner/{{x}}/config", &[("x", ".git")]);
        assert!(places.write(&part).is_err());
        let split = text(".{{x}}.json", &[("x", "mcp")]);
        assert!(places.write(&split).is_err());
        for path in [
            "git",
            ".gitignore",
            "x.git",
            "hooks/x",
            "a.bashrc",
            "inner/report.json",
        ] {
            assert!(places.write(&data(path)).is_ok(), "{path}");
        }
        // A name that begins with a dot is the author's choice.
        for path in [".eslintrc.js", "inner/.rspec", ".cache/x", ".hidden/../.x"] {
            assert!(places.write(&data(path)).is_err(), "{path}");
            assert!(places.read(&data(path)).is_ok(), "{path}");
        }
        for template in [".cache/{{x}}.json", "inner/.tmp/{{x}}"] {
            assert!(
                places.write(&text(template, &[("x", "seven")])).is_ok(),
                "{template}"
            );
        }
        assert!(places.write(&text(".{{x}}", &[("x", "rspec")])).is_err());
        assert!(
            places
                .write(&text(".kube/{{x}}", &[("x", "config")]))
                .is_err()
        );
    }

    #[test]
    fn data_overwrites_no_program_and_no_file_of_the_run() {
        let tree = tree();
        let root = tree.base.join("root");
        for (file, text, mode) in [
            ("run.sh", "#!/bin/sh\n", 0o755),
            ("tool", "echo\n", 0o755),
            ("notes.sh", "#!/bin/sh\n", 0o644),
            ("table.csv", "a,b\n", 0o755),
        ] {
            fs::write(root.join(file), text).expect("written");
            fs::set_permissions(root.join(file), fs::Permissions::from_mode(mode)).expect("set");
        }
        let places = places(&tree, |places| {
            places.protect(["inner/file".into(), "inner/new".into()]);
        });
        for (path, is_allowed) in [
            ("run.sh", false),
            ("tool", false),
            ("inner/file", false),
            ("in/file", false),
            ("notes.sh", true),
            ("table.csv", true),
            ("inner/new", true),
        ] {
            assert_eq!(places.write(&data(path)).is_ok(), is_allowed, "{path}");
            assert!(places.read(&data(path)).is_ok(), "{path}");
            assert!(places.write(&path.into()).is_ok(), "the author may: {path}");
        }
    }

    #[test]
    fn data_writes_no_file_that_a_word_of_a_config_can_mean() {
        let tree = tree();
        let values = [
            "python3",
            "srv.py",
            "-mpkg.server",
            "-um",
            "lib.tool",
            "--directory=weather",
            "exec python3 'my run.py';",
            "./dist",
            "vars/p.env",
            "app.main:app",
            "server-filesystem@1.2.3",
            "./docs",
            "it's [R&D](1).py",
            "--file=50%.py",
            "inner/link.py",
            "./current",
            "${workspaceFolder}/bin",
            "https://api.example.com/mcp/v1",
        ];
        let places = places(&tree, |places| {
            symlink("../v2/real.txt", places.root.join("inner/link.py")).expect("linked");
            symlink("v2", places.root.join("current")).expect("linked");
            places.protect_named(values.map(str::to_owned));
        });
        for path in [
            "srv.py",
            "inner/SRV.py",
            "pkg/server.py",
            "lib/tool.py",
            "tool.pyc",
            "weather/weather.py",
            "weather/a/b.py",
            "my run.py",
            "dist/index.js",
            "dist/lib/a.mjs",
            "dist.json",
            "vars/p.env",
            "app/main.py",
            "docs/a.py",
            "it's [R&D](1).py",
            "50%.py",
            "v2/real.txt",
            "inner/link.py",
            "current/x.js",
            "v2/x.js",
            "bin/x.sh",
            "BIN/x.SH",
        ] {
            assert!(places.write(&data(path)).is_err(), "{path}");
        }
        for path in [
            "notes.txt",
            "inner/report.md",
            "docs/page.md",
            "docs/table.csv",
            "docs/data.json",
            "dist/new",
            "3.txt",
            "inner/2",
            "other.py",
            "src/util.js",
            "weather/log.txt",
            "api/index.ts",
            "src/app/page.tsx",
            "v2/log.txt",
        ] {
            let found = places.write(&data(path));
            assert!(found.is_ok(), "{path}: {found:?}");
        }
    }

    #[test]
    fn data_may_name_what_a_run_saved_to_read_it() {
        let tree = tree();
        for runs in ["root/.cuecard/runs", "outside/runs"] {
            let places = places(&tree, |places| places.run_dir = Some(tree.base.join(runs)));
            let read = |file: &str| {
                let path = tree.base.join(runs).join(file);
                places.read(&data(path.to_str().expect("UTF-8")))
            };
            assert!(read("x/files/call_1_1.png").is_ok(), "{runs}");
            for other in [
                "x/trace.jsonl",
                "x/files",
                "files",
                "x/files/../../../config.json",
            ] {
                assert!(read(other).is_err(), "{runs} {other}");
            }
            let saved = tree.base.join(runs).join("x/files/a.png");
            let write = places.write(&data(saved.to_str().expect("UTF-8")));
            assert!(write.is_err(), "{runs}");
        }
        // Whatever the folder of the runs is called: a run that goes on trusts what is written there.
        let places = places(&tree, |places| {
            places.run_dir = Some(tree.base.join("root/inner"));
        });
        assert!(places.write(&data("inner/x/journal.jsonl")).is_err());
        assert!(places.read(&data("inner/x/run.json")).is_err());
        assert!(places.read(&data("inner/x/files/a.png")).is_ok());
    }

    #[test]
    fn what_decides_what_runs_next_must_be_allowed_by_its_own_name() {
        let tree = tree();
        let root = tree.base.join("root");
        fs::create_dir(root.join("hooks")).expect("made");
        symlink("hooks", root.join(".husky")).expect("linked");
        let allow = |paths: &[&str]| {
            let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
            Places::new(&root, &root, &paths, None, false, false).expect("it exists")
        };
        let some = allow(&[".github/workflows", ".husky", "../outside"]);
        for (path, is_allowed) in [
            (".github/workflows/x.yml", true),
            (".github/dependabot.yml", false),
            (".github/workflows/.git/x", false),
            (".husky/pre-commit", true),
            (".git/config", false),
            ("out/secret", true),
            ("out/.git/config", false),
        ] {
            assert_eq!(some.write(&data(path)).is_ok(), is_allowed, "{path}");
        }
        // To allow all is not to allow just that.
        assert!(allow(&["/", "."]).write(&data(".git/config")).is_err());
        let refusal = allow(&[])
            .write(&data(".git/config"))
            .expect_err("it decides");
        assert_eq!(
            refusal.help,
            format!(
                "allow it with `--allow-path {}`",
                root.join(".git").display()
            )
        );
        // The author chose the root, whatever it is called.
        fs::create_dir_all(root.join(".config/work")).expect("made");
        let inner = root.join(".config/work");
        let inside = Places::new(&inner, &inner, &[], None, false, false).expect("it exists");
        assert!(
            inside
                .write(&data(inner.join("x").to_str().expect("UTF-8")))
                .is_ok()
        );
    }

    #[test]
    fn confine_holds_trusted_paths_too_except_in_the_run_directory() {
        let tree = tree();
        let places = places(&tree, |places| {
            places.is_confined = true;
            places.run_dir = Some(tree.base.join("outside/run"));
        });
        assert!(places.read(&"inner/file".into()).is_ok());
        assert!(places.write(&"../outside/run/files/a.png".into()).is_ok());
        assert!(places.write(&data("../outside/run/journal.jsonl")).is_err());
        assert!(places.read(&"out/secret".into()).is_err());
        let refusal = places.read(&"/etc/passwd".into()).expect_err("confined");
        assert!(
            refusal
                .message
                .ends_with("and `--confine` keeps everything inside"),
            "{refusal}"
        );
        assert!(refusal.help.contains("--confine") && refusal.help.contains("--allow-path"));
    }

    #[test]
    fn read_only_writes_into_the_run_directory_only() {
        let tree = tree();
        let places = places(&tree, |places| {
            places.is_read_only = true;
            places.run_dir = Some(tree.base.join("root/.cuecard/runs/1"));
        });
        assert!(places.read(&"/etc/passwd".into()).is_ok());
        assert!(places.write(&".cuecard/runs/1/files/x".into()).is_ok());
        assert!(places.write(&".cuecard/runs/1/../2/x".into()).is_err());
        let refusal = places.write(&"inner/file".into()).expect_err("read-only");
        assert!(refusal.help.contains("--read-only"), "{}", refusal.help);
    }

    #[test]
    fn the_root_must_be_a_folder() {
        let tree = tree();
        let new = |root: &str| {
            Places::new(&tree.base.join(root), &tree.base, &[], None, false, false).map(drop)
        };
        assert!(new("root").is_ok());
        assert!(
            new("missing")
                .expect_err("absent")
                .message
                .ends_with("doesn't exist")
        );
        assert!(
            new("outside/secret")
                .expect_err("a file")
                .message
                .ends_with("is not a folder")
        );
        // A link to a folder is as good as the folder.
        let places = Places::new(
            &tree.base.join("root/out"),
            &tree.base,
            &[],
            None,
            false,
            false,
        )
        .expect("a folder");
        assert!(places.read(&data("outside/secret")).is_ok());
    }
}
