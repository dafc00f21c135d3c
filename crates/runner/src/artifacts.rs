//! The files of a run: a result and a trace for each test, and the summary.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use cuecard_report::test_json;
use cuecard_source::diagnostic::{Diagnostic, codes};

use super::Judged;
use cuecard_runtime::text_file::io_reason;

/// Longer names of files are cut, in bytes.
const LONGEST_NAME: usize = 120;

/// The folder of a run, `<folder>/<run id>/`.
#[derive(Debug)]
pub struct Artifacts {
    folder: PathBuf,
    names: HashSet<String>,
}

impl Artifacts {
    /// Makes the folder of the run.
    ///
    /// # Errors
    /// If it can't be made.
    pub fn create(folder: &Path, run_id: &str) -> Result<Self, Diagnostic> {
        let folder = folder.join(run_id);
        fs::create_dir_all(&folder).map_err(|error| unwritable(&folder, &error))?;
        Ok(Self {
            folder,
            names: HashSet::new(),
        })
    }

    /// Where the summary of the run goes.
    pub fn summary(&self) -> PathBuf {
        self.folder.join("summary.json")
    }

    /// Writes what there is of a test, and says in its result where.
    ///
    /// # Errors
    /// If that can't be written.
    pub fn write(&mut self, judged: &mut Judged) -> Result<(), Diagnostic> {
        let name = self.name(&judged.result.id);
        if let Some(trace) = judged.trace.as_ref().filter(|_| judged.save_trace) {
            let path = self.folder.join(format!("{name}.trace.json"));
            write(&path, |out| trace.write_document(out))?;
            judged
                .result
                .artifacts
                .insert("trace".to_owned(), path.display().to_string().into());
        }
        let path = self.folder.join(format!("{name}.result.json"));
        judged
            .result
            .artifacts
            .insert("result".to_owned(), path.display().to_string().into());
        write(&path, |out| test_json::write_result(&judged.result, out))
    }

    /// The id as a name of a file that no other test has.
    fn name(&mut self, id: &str) -> String {
        let mut name: String = id
            .chars()
            .map(|character| match character {
                '.' | '-' | '_' => character,
                other if other.is_alphanumeric() => other,
                _ => '_',
            })
            .collect();
        while name.len() > LONGEST_NAME {
            name.pop();
        }
        if name.starts_with('.') || name.is_empty() {
            name.insert(0, '_');
        }
        let mut unique = name.clone();
        let mut count = 1;
        while !self.names.insert(unique.to_lowercase()) {
            count += 1;
            unique = format!("{name}-{count}");
        }
        unique
    }
}

fn write(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), Diagnostic> {
    let written = File::create(path).and_then(|file| {
        let mut out = BufWriter::new(file);
        content(&mut out)?;
        out.flush()
    });
    written.map_err(|error| unwritable(path, &error))
}

fn unwritable(path: &Path, error: &io::Error) -> Diagnostic {
    Diagnostic::error(
        codes::FILE_WRITE,
        format!(
            "`{}` can't be written: {}",
            path.display(),
            io_reason(error)
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_become_names_of_files_that_stay_apart() {
        let mut artifacts = Artifacts {
            folder: PathBuf::new(),
            names: HashSet::new(),
        };
        let names: Vec<String> = ["a/b", "a_b", "A_B", "..", "", "news.grounded", "é"]
            .iter()
            .map(|id| artifacts.name(id))
            .collect();
        assert_eq!(
            names,
            ["a_b", "a_b-2", "A_B-3", "_..", "_", "news.grounded", "é"]
        );
        assert!(artifacts.name(&"x".repeat(1000)).len() <= LONGEST_NAME);
    }
}
