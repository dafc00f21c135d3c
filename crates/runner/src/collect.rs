//! Finds test files: those that somebody named, and those below folders.

use std::path::{Path, PathBuf};

use cuecard_source::diagnostic::{Diagnostic, codes};

use cuecard_runtime::collect::{self, Kind};
pub use cuecard_runtime::collect::{Collected, FoundFile as TestFile};

/// Below a folder `test.yaml`, `*.test.yaml` and the same ending in `.yml` and `.json` are tests.
const TESTS: Kind = Kind {
    is_meant: is_test_name,
    none: |folder| {
        Diagnostic::error(
            codes::TEST_NONE,
            format!("no tests found in `{}`", folder.display()),
        )
        .with_help(
            "test files are named `test.yaml` or `NAME.test.yaml`; pass other files explicitly",
        )
    },
};

/// The tests of `paths`: a file is one whatever its name.
pub fn collect(paths: &[PathBuf]) -> Collected {
    collect::collect(paths, TESTS)
}

fn is_test_name(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    ["yaml", "yml", "json"].iter().any(|extension| {
        name.strip_suffix(extension)
            .and_then(|name| name.strip_suffix('.'))
            .is_some_and(|stem| stem == "test" || stem.ends_with(".test"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn names(collected: &Collected, root: &Path) -> Vec<String> {
        collected
            .files
            .iter()
            .map(|file| {
                let path = file.path.strip_prefix(root).expect("below the root");
                path.display().to_string()
            })
            .collect()
    }

    #[test]
    fn tests_are_found_by_their_names_in_path_order() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path();
        for file in [
            "b/test.yaml",
            "a/two.test.yml",
            "a/one.test.json",
            "a/replay.json",
            "a/latest.yaml",
            "a/.test.yaml",
            "test.yaml",
            ".hidden/test.yaml",
            "target/test.yaml",
            "a/node_modules/x/test.yaml",
            "venv/pyvenv.cfg",
            "venv/lib/test.yaml",
        ] {
            let path = root.join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, "").expect("written");
        }
        symlink(root, root.join("b/circle")).expect("linked");
        let found = collect(&[root.to_owned()]);
        assert!(found.problems.is_empty(), "{:?}", found.problems);
        assert_eq!(
            names(&found, root),
            [
                "a/.test.yaml",
                "a/one.test.json",
                "a/two.test.yml",
                "b/test.yaml",
                "test.yaml"
            ]
        );
        let named = [
            root.join("target"),
            root.join("b/test.yaml"),
            root.join("b"),
            root.join("a/replay.json"),
        ];
        let found = collect(&named);
        assert_eq!(
            names(&found, root),
            ["target/test.yaml", "b/test.yaml", "a/replay.json"]
        );
        assert_eq!(
            found
                .files
                .iter()
                .map(|file| file.is_named)
                .collect::<Vec<_>>(),
            [false, true, true]
        );
    }

    #[test]
    fn a_folder_without_tests_and_a_path_without_a_file_are_told() {
        let root = tempfile::tempdir().expect("a folder");
        let found = collect(&[root.path().to_owned(), root.path().join("nothing")]);
        assert!(found.files.is_empty());
        let codes: Vec<_> = found
            .problems
            .iter()
            .map(|(_, problem)| problem.code)
            .collect();
        assert_eq!(codes, [codes::TEST_NONE, codes::FILE_READ]);
    }
}
