//! The files of a recording: one scenario a conversation, each written anew as a whole.

use std::path::{Path, PathBuf};

use serde::Serialize;

/// A scenario that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecordedFile {
    /// Where it is.
    pub path: PathBuf,
    /// The name of the scenario.
    pub name: String,
    /// How many turns it has.
    #[serde(rename = "turns")]
    pub n_turns: usize,
    /// How many requests beside the conversation it answers.
    #[serde(rename = "side_calls")]
    pub n_side_calls: usize,
}

/// Names for scenarios: that of the first file, and with numbers after it.
#[derive(Debug)]
pub(super) struct Names {
    first: PathBuf,
    replaces: bool,
    n_given: usize,
}

impl Names {
    pub(super) fn new(first: PathBuf, replaces: bool) -> Self {
        Self {
            first,
            replaces,
            n_given: 0,
        }
    }

    /// The next name that no file has. The first file is known not to be there, or may be replaced.
    pub(super) fn next(&mut self) -> String {
        loop {
            self.n_given += 1;
            let name = match self.n_given {
                1 => stem(&self.first),
                n => format!("{}-{n}", stem(&self.first)),
            };
            if self.replaces || self.n_given == 1 || !self.path(&name).exists() {
                return name;
            }
        }
    }

    /// The file of the scenario `name`.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        match name == stem(&self.first) {
            true => self.first.clone(),
            false => {
                let ending = self.first.extension().unwrap_or("yaml".as_ref());
                let mut file = name.to_owned();
                file.push('.');
                file.push_str(&ending.to_string_lossy());
                self.first.with_file_name(file)
            }
        }
    }
}

fn stem(path: &Path) -> String {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy());
    stem.filter(|stem| !stem.trim().is_empty())
        .map_or_else(|| "recorded".to_owned(), std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuecard_runtime::text_file::write;

    #[test]
    fn further_files_have_numbers_and_replace_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("a.b-2.yml"), "mine").expect("writable");
        let mut names = Names::new(path("a.b.yml"), false);
        assert_eq!([names.next(), names.next()], ["a.b", "a.b-3"]);
        assert_eq!(names.path("a.b"), path("a.b.yml"));
        assert_eq!(names.path("a.b-3"), path("a.b-3.yml"));
        let mut names = Names::new(path("a.b.yml"), true);
        assert_eq!([names.next(), names.next()], ["a.b", "a.b-2"]);
        write(&path("a.b-2.yml"), "yours").expect("writable");
        let left: Vec<_> = std::fs::read_dir(folder.path())
            .expect("a folder")
            .collect();
        assert_eq!(left.len(), 1);
        assert_eq!(
            std::fs::read_to_string(path("a.b-2.yml")).expect("a file"),
            "yours"
        );
    }
}
