//! Expected screens: committed next to the timeline, compared, written when asked.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use cuecard_runtime::text_file::{folder_of, io_reason};
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::matching::different_lines;

use super::RunScript;
use cuecard_timeline::model::file_safe;

/// So many equal lines stand around those that differ.
const AROUND: usize = 2;

/// Where expected screens are, and what is done about those that differ.
#[derive(Debug, Clone, Default)]
pub struct GoldenOptions {
    /// The folder; `__goldens__` beside each scenario without one.
    pub folder: Option<PathBuf>,
    /// Whether they are written.
    pub updates: bool,
    /// Whether a missing one fails the run.
    pub must_be_there: bool,
    /// Which file has the screens of which timeline, of all that are run.
    owners: Arc<Mutex<HashMap<PathBuf, String>>>,
}

impl GoldenOptions {
    /// Those of `environment`: in CI none may be missing, and none is written.
    ///
    /// # Errors
    /// They are to be written in CI.
    pub fn new(
        folder: Option<PathBuf>,
        updates: bool,
        is_strict: bool,
        environment: &[(OsString, OsString)],
    ) -> Result<Self, Diagnostic> {
        let is_ci = is_ci(environment);
        if is_ci && updates {
            let message = "expected screens are not written where CI is set";
            let help = "write them on your own machine, look at them and commit them";
            return Err(Diagnostic::error(codes::ARGUMENT, message).with_help(help));
        }
        Ok(Self {
            folder,
            updates,
            must_be_there: is_ci || is_strict,
            owners: Arc::default(),
        })
    }

    /// The first timeline that had this file for a screen.
    fn owner(&self, path: &Path, timeline: &str) -> String {
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        let owner = owners.entry(path.to_owned());
        owner.or_insert_with(|| timeline.to_owned()).clone()
    }
}

/// Whether this is a CI system, where nothing new may come into being.
pub fn is_ci(environment: &[(OsString, OsString)]) -> bool {
    let value = environment.iter().find(|(name, _)| name == "CI");
    value.is_some_and(|(_, value)| !value.is_empty() && value != "false" && value != "0")
}

/// An expected screen that was written.
#[derive(Debug, Clone)]
pub struct WrittenGolden {
    /// Its file.
    pub path: PathBuf,
    /// Whether the screen stood still then.
    pub is_still: bool,
}

/// What became of a comparison.
pub(super) enum Golden {
    Same,
    Written(PathBuf),
    Found(Diagnostic),
}

/// Where the expected screen of a label is.
fn path_of(options: &GoldenOptions, script: &RunScript, label: &str) -> PathBuf {
    let beside = folder_of(Path::new(script.file()));
    let beside = beside.strip_prefix(".").unwrap_or(beside);
    let folder = options.folder.clone();
    let folder = folder.unwrap_or_else(|| beside.join("__goldens__"));
    folder
        .join(file_safe(&script.timeline.name))
        .join(file_safe(&script.terminal.profile_id()))
        .join(format!("{}.golden", file_safe(label)))
}

/// Compares a screen with the expected one, which may stand there as it was drawn, or as `normalise` leaves it.
pub(super) fn compare(
    options: &GoldenOptions,
    script: &RunScript,
    label: &str,
    text: &str,
    normalise: impl Fn(&str) -> String,
) -> Golden {
    let path = path_of(options, script, label);
    let name = path.display();
    let owner = options.owner(&path, script.file());
    if owner != script.file() {
        let message =
            format!("the screen `{label}` has the same file as one of `{owner}`: `{name}`");
        let help = "give the timelines different names";
        return Golden::Found(Diagnostic::error(codes::TERMINAL_LABEL, message).with_help(help));
    }
    let expected = match fs::read_to_string(&path) {
        Ok(expected) => Some(expected),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => {
            let message = format!("`{name}` can't be read: {}", io_reason(&error));
            return Golden::Found(Diagnostic::error(codes::TERMINAL_GOLDEN, message));
        }
    };
    // Git may have checked it out with other line ends.
    let expected = expected.map(|text| text.replace("\r\n", "\n"));
    let expected = expected.as_deref().map(|text| text.trim_end_matches('\n'));
    let text = text.trim_end_matches('\n');
    if expected.is_some_and(|expected| expected == text || normalise(expected) == text) {
        return Golden::Same;
    }
    if options.updates {
        let folder = path.parent().unwrap_or(Path::new("."));
        let written =
            fs::create_dir_all(folder).and_then(|()| fs::write(&path, format!("{text}\n")));
        return match written {
            Ok(()) => Golden::Written(path),
            Err(error) => {
                let message = format!("`{name}` can't be written: {}", io_reason(&error));
                Golden::Found(Diagnostic::error(codes::FILE_WRITE, message))
            }
        };
    }
    let Some(expected) = expected else {
        return Golden::Found(missing(options, script, label, &path));
    };
    let mut found = Diagnostic::error(
        codes::TERMINAL_GOLDEN,
        format!("the screen `{label}` is not the expected one"),
    );
    for group in different_lines(expected, text, AROUND) {
        for line in group {
            found = found.with_note(format!("{} {}", line.sign, line.line));
        }
    }
    Golden::Found(found.with_help(format!(
        "look at `{name}`; if the new screen is right, run with --update-goldens"
    )))
}

/// There is no expected screen.
fn missing(options: &GoldenOptions, script: &RunScript, label: &str, path: &Path) -> Diagnostic {
    let message = format!(
        "there is no expected screen for `{label}`: `{}`",
        path.display()
    );
    let mut found = match options.must_be_there {
        true => Diagnostic::error(codes::TERMINAL_GOLDEN_MISSING, message),
        false => Diagnostic::warning(codes::TERMINAL_GOLDEN_MISSING, message),
    };
    let elsewhere = Path::new("target/tmp").join(
        path.strip_prefix(folder_of(Path::new(script.file())))
            .unwrap_or(path),
    );
    if elsewhere.exists() {
        found = found.with_note(format!(
            "`{}` is there; expected screens belong next to the timeline now",
            elsewhere.display()
        ));
    }
    found.with_help("write it with --update-goldens")
}

#[cfg(test)]
mod tests {
    use cuecard_runtime::load::PlayOptions;

    use super::*;

    #[test]
    fn an_expected_screen_may_stand_there_as_it_was_drawn() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a.yaml");
        fs::write(&file, "name: a\ntimeline: [{screenshot: end}]\n").expect("writable");
        let loaded = super::super::load_runs(&[file], &PlayOptions::default());
        let script = &loaded.expect("a timeline").scripts[0];
        let options = GoldenOptions::default();
        let path = path_of(&options, script, "end");
        fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
        let normalise = |text: &str| {
            text.trim_end_matches([' ', '\n'])
                .replace("1.25s", "[DURATION]")
        };
        for (expected, is_same) in [
            ("took [DURATION]\n", true),
            ("took 1.25s  \r\n\n", true),
            ("took 1.26s\n", false),
        ] {
            fs::write(&path, expected).expect("writable");
            let compared = compare(&options, script, "end", "took [DURATION]", normalise);
            assert_eq!(matches!(compared, Golden::Same), is_same, "{expected:?}");
        }
    }

    #[test]
    fn timelines_do_not_share_a_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let files = ["a", "b"].map(|name| folder.path().join(name).with_extension("yaml"));
        for (file, name) in files.iter().zip(["q:1", "q/1"]) {
            let text = format!("name: '{name}'\ntimeline: [{{screenshot: end}}]\n");
            fs::write(file, text).expect("writable");
        }
        let loaded = super::super::load_runs(&files, &PlayOptions::default());
        let options = GoldenOptions {
            updates: true,
            ..GoldenOptions::default()
        };
        let mut found = Vec::new();
        for script in loaded.expect("two timelines").scripts {
            let compared = compare(&options, &script, "end", "a screen", str::to_owned);
            found.push(match compared {
                Golden::Found(found) => found.code.name().to_owned(),
                Golden::Written(_) => "written".to_owned(),
                Golden::Same => "same".to_owned(),
            });
        }
        assert_eq!(found, ["written", "T-TERM-04"]);
    }

    #[test]
    fn ci_is_what_says_so() {
        let environment = |value: &str| vec![(OsString::from("CI"), OsString::from(value))];
        for (value, expected) in [("true", true), ("1", true), ("", false), ("false", false)] {
            assert_eq!(is_ci(&environment(value)), expected, "{value}");
        }
        assert!(!is_ci(&[]));
    }
}
