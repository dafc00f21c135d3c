//! Where a browser may be, and where the driver for browsers may be.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::programs::{Programs, may_run};

/// Names in `PATH` of browsers without windows, which start in half of the time.
const SHELLS: &[&str] = &["chromium-headless-shell", "chrome-headless-shell"];

/// Names in `PATH` of whole browsers.
const NAMES: &[&str] = &[
    "google-chrome-stable",
    "google-chrome",
    "chromium",
    "chromium-browser",
    "chrome",
];

/// Programs of macOS, below `/Applications` or the same folder of the user.
const APPLICATIONS: &[&str] = &[
    "Google Chrome.app/Contents/MacOS/Google Chrome",
    "Chromium.app/Contents/MacOS/Chromium",
];

/// How many folders of downloaded browsers are looked at.
const MOST_DOWNLOADS: usize = 1000;

/// How a browser is to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Without a window: a browser that can't show one is preferred.
    Headless,
    /// With a window, which takes a whole browser.
    Headed,
}

/// The first Chrome or Chromium of this machine: in `PATH`, among the applications, then Playwright's downloads.
pub fn find(programs: &Programs<'_>, mode: Mode) -> Option<PathBuf> {
    let home = programs.variable("HOME").map(Path::new);
    let shells = match mode {
        Mode::Headless => SHELLS,
        Mode::Headed => &[],
    };
    let names = shells.iter().chain(NAMES);
    names
        .into_iter()
        .find_map(|name| programs.find(name))
        .or_else(|| in_applications(home))
        .or_else(|| downloaded(programs, home?, mode))
}

fn in_applications(home: Option<&Path>) -> Option<PathBuf> {
    if !cfg!(target_os = "macos") {
        return None;
    }
    let folders = [
        Some(PathBuf::from("/Applications")),
        home.map(|home| home.join("Applications")),
    ];
    let files = folders
        .iter()
        .flatten()
        .flat_map(|folder| APPLICATIONS.iter().map(|file| folder.join(file)));
    files.into_iter().find(|file| may_run(file))
}

/// What Playwright's folders of whole browsers are called up to their revision, and what may be inside.
const WHOLE: (&str, &[&str]) = (
    "chromium-",
    &[
        "chrome-linux/chrome",
        "chrome-linux64/chrome",
        "chrome-mac/Chromium.app/Contents/MacOS/Chromium",
    ],
);

/// The same for browsers without windows.
const SHELL: (&str, &[&str]) = (
    "chromium_headless_shell-",
    &[
        "chrome-linux/headless_shell",
        "chrome-headless-shell-linux64/chrome-headless-shell",
        "chrome-mac/headless_shell",
        "chrome-headless-shell-mac-arm64/chrome-headless-shell",
        "chrome-headless-shell-mac-x64/chrome-headless-shell",
    ],
);

/// The newest of those that Playwright has downloaded.
fn downloaded(programs: &Programs<'_>, home: &Path, mode: Mode) -> Option<PathBuf> {
    let folder = match programs.variable("PLAYWRIGHT_BROWSERS_PATH") {
        Some(folder) => PathBuf::from(folder),
        None if cfg!(target_os = "macos") => home.join("Library/Caches/ms-playwright"),
        None => home.join(".cache/ms-playwright"),
    };
    let shell = || newest(&folder, SHELL);
    let whole = || newest(&folder, WHOLE);
    match mode {
        Mode::Headless => shell().or_else(whole),
        Mode::Headed => whole(),
    }
}

fn newest(folder: &Path, (prefix, inside): (&str, &[&str])) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?;
    let mut revisions: Vec<(u64, PathBuf)> = entries
        .take(MOST_DOWNLOADS)
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name();
            let revision = name.to_str()?.strip_prefix(prefix)?.parse().ok()?;
            Some((revision, entry.path()))
        })
        .collect();
    revisions.sort();
    let files = revisions
        .iter()
        .rev()
        .flat_map(|(_, folder)| inside.iter().map(|file| folder.join(file)));
    files.into_iter().find(|file| may_run(file))
}

/// The longest `package.json` that is read, in bytes.
const LONGEST_PACKAGE: u64 = 1024 * 1024;

/// The version of `playwright-core` that goes with this release.
pub const DRIVER: &str = "1.64.0";

/// Where the driver is put for us: `cuecard/browser` below `XDG_DATA_HOME`, or below the data folder of the user's
/// home. Nothing when there is no home.
pub fn installed_folder(environment: &[(OsString, OsString)]) -> Option<PathBuf> {
    let programs = Programs { environment };
    let data = programs.variable("XDG_DATA_HOME").map(PathBuf::from);
    let data = data.filter(|folder| folder.is_absolute()).or_else(|| {
        let home = Path::new(programs.variable("HOME")?);
        Some(match cfg!(target_os = "macos") {
            true => home.join("Library/Application Support"),
            false => home.join(".local/share"),
        })
    })?;
    Some(data.join("cuecard/browser"))
}

/// The folder of `playwright-core` and its version: the one that was installed for us if it is the right one, else
/// one of the project or beside Node.
pub fn driver(
    environment: &[(OsString, OsString)],
    working_directory: &Path,
    node: Option<&Path>,
) -> Option<(PathBuf, String)> {
    let ours = installed_folder(environment).and_then(|folder| driver_in(&folder));
    ours.filter(|(_, version)| version == DRIVER)
        .or_else(|| others_driver(working_directory, node))
}

/// The driver in the `node_modules` of a folder.
fn driver_in(folder: &Path) -> Option<(PathBuf, String)> {
    let folder = folder.join("node_modules/playwright-core");
    let version = version_of_driver(&folder)?;
    Some((folder, version))
}

fn others_driver(working_directory: &Path, node: Option<&Path>) -> Option<(PathBuf, String)> {
    let mut roots: Vec<PathBuf> = project_folders(working_directory)
        .map(|folder| folder.join("node_modules"))
        .collect();
    for node in node
        .into_iter()
        .flat_map(|node| [Some(node.to_owned()), node.canonicalize().ok()])
    {
        let prefix = node
            .as_deref()
            .and_then(Path::parent)
            .and_then(Path::parent);
        roots.extend(prefix.map(|prefix| prefix.join("lib/node_modules")));
        // Where Debian's npm installs.
        roots.extend(
            prefix
                .filter(|prefix| *prefix == Path::new("/usr"))
                .map(|prefix| prefix.join("local/lib/node_modules")),
        );
    }
    roots.into_iter().find_map(|root| {
        let folder = root.join("playwright-core");
        let version = version_of_driver(&folder)?;
        Some((folder, version))
    })
}

/// A folder and those around it, up to its repository's; itself alone if it is in none: what lies above may be anybody's.
fn project_folders(folder: &Path) -> impl Iterator<Item = &Path> {
    let is_root = |folder: &&Path| folder.join(".git").exists();
    let depth = folder.ancestors().position(|folder| is_root(&folder));
    folder.ancestors().take(depth.unwrap_or(0) + 1)
}

/// The version of the `playwright-core` in a folder, as its package says.
pub fn version_of_driver(folder: &Path) -> Option<String> {
    use std::io::Read as _;
    let mut text = String::new();
    std::fs::File::open(folder.join("package.json"))
        .ok()?
        .take(LONGEST_PACKAGE)
        .read_to_string(&mut text)
        .ok()?;
    let package: serde_json::Value = serde_json::from_str(&text).ok()?;
    let version = package.get("version")?.as_str()?;
    let is_plain = |character: char| character.is_ascii_alphanumeric() || ".-+".contains(character);
    let version = version.chars().filter(|&part| is_plain(part)).take(40);
    Some(version.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
        std::fs::write(path, text).expect("it can be written");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
            .expect("it can be set");
    }

    #[test]
    fn the_newest_download_counts_unless_one_is_in_path() {
        let home = tempfile::tempdir().expect("a folder");
        let cache = home.path().join("cache");
        let shell = cache.join("chromium_headless_shell-2000/chrome-linux/headless_shell");
        for revision in ["chromium-900", "chromium-1100", "firefox-1"] {
            write(&cache.join(revision).join("chrome-linux/chrome"), "");
        }
        let mut environment = vec![
            ("HOME".into(), home.path().into()),
            ("PATH".into(), home.path().join("bin").into()),
            ("PLAYWRIGHT_BROWSERS_PATH".into(), cache.clone().into()),
        ];
        let found = |environment: &[_]| {
            [Mode::Headed, Mode::Headless].map(|mode| find(&Programs { environment }, mode))
        };
        let whole = Some(cache.join("chromium-1100/chrome-linux/chrome"));
        assert_eq!(found(&environment), [whole.clone(), whole.clone()]);
        write(&shell, "");
        assert_eq!(found(&environment), [whole, Some(shell)]);
        let in_path = |name: &str| Some(home.path().join("bin").join(name));
        write(&home.path().join("bin/chromium"), "");
        assert_eq!(
            found(&environment),
            [in_path("chromium"), in_path("chromium")]
        );
        write(&home.path().join("bin/chromium-headless-shell"), "");
        assert_eq!(
            found(&environment),
            [in_path("chromium"), in_path("chromium-headless-shell")]
        );
        environment.retain(|(name, _): &(std::ffi::OsString, _)| name == "HOME");
        assert!(cfg!(target_os = "macos") || found(&environment) == [None, None]);
    }

    #[test]
    fn the_driver_is_found_in_the_project_and_beside_node() {
        let folder = tempfile::tempdir().expect("a folder");
        let (project, prefix) = (folder.path().join("project"), folder.path().join("node"));
        write(&prefix.join("bin/node"), "");
        let node = prefix.join("bin/node");
        assert_eq!(driver(&[], &project, Some(&node)), None);
        let global = prefix.join("lib/node_modules/playwright-core");
        write(&global.join("package.json"), r#"{"version": "1.2.3"}"#);
        assert_eq!(
            driver(&[], &project, Some(&node)),
            Some((global, "1.2.3".to_owned()))
        );
        let own = project.join("node_modules/playwright-core");
        write(&own.join("package.json"), r#"{"version": "2.0.0"}"#);
        assert_eq!(
            driver(&[], &project, Some(&node)),
            Some((own, "2.0.0".to_owned()))
        );
        let inner = project.join("tests/browser");
        std::fs::create_dir_all(&inner).expect("a folder");
        let of_inner = || driver(&[], &inner, None).map(|(_, version)| version);
        assert_eq!(of_inner(), None, "above it may be anybody's");
        std::fs::create_dir(project.join(".git")).expect("a folder");
        assert_eq!(of_inner().as_deref(), Some("2.0.0"));
        assert_eq!(driver(&[], &prefix, None), None);
        let environment = [(OsString::from("XDG_DATA_HOME"), folder.path().into())];
        let ours = folder
            .path()
            .join("cuecard/browser/node_modules/playwright-core");
        let found = |version: &str| {
            write(
                &ours.join("package.json"),
                &format!(r#"{{"version": "{version}"}}"#),
            );
            driver(&environment, &prefix, None)
        };
        assert_eq!(found("1.0.0"), None);
        assert_eq!(found(DRIVER), Some((ours.clone(), DRIVER.to_owned())));
    }

    #[test]
    fn the_data_folder_is_the_users() {
        let of = |variables: &[(&str, &str)]| {
            let environment: Vec<(OsString, OsString)> = variables
                .iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect();
            installed_folder(&environment)
        };
        assert_eq!(of(&[]), None);
        assert_eq!(
            of(&[("HOME", "/home/a"), ("XDG_DATA_HOME", "/data")]),
            Some(PathBuf::from("/data/cuecard/browser"))
        );
        let home = of(&[("HOME", "/home/a"), ("XDG_DATA_HOME", "relative")]);
        assert!(home.is_some_and(|folder| folder.starts_with("/home/a")));
    }
}
