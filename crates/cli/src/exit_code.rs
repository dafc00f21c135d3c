//! The one table of exit codes.

use std::process::ExitCode as ProcessExit;

use cuecard_report::Style;
use cuecard_tool_call::script::Verdict;

/// How the program ends. Of several, the worst: 130, 3, 2, 1, 4, 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExitCode {
    /// Everything passed.
    Passed,
    /// It passed, but something is not as it was.
    Drifted,
    /// The scenario or a critical assertion failed.
    Failed,
    /// It could not be run: a peer, a config or I/O.
    CouldNotRun,
    /// A file, an argument or the usage is invalid.
    Invalid,
    /// Somebody stopped it.
    Interrupted,
    /// A command that was run for the user ended with this code, which is not 0.
    OfCommand(u8),
}

/// The codes in the help of the command `path`: the words behind the program's name.
pub(crate) fn help(path: &str) -> String {
    let mut text = CODES.to_owned();
    if ["serve llm", "serve rest", "record llm", "record mcp"].contains(&path) {
        text.push_str("\nIf COMMAND fails, its exit code is returned.");
    }
    text
}

const CODES: &str = "\
Exit codes: 0 passed, 1 failed, 2 could not run, 3 invalid, 4 differs,
130 interrupted; see `cuecard explain exit-codes`";

/// The page of exit codes in `cuecard explain`.
pub(crate) const TOPIC: &str = "exit-codes";

/// The page of `cuecard explain exit-codes`.
pub(crate) const PAGE: &str = "\
# Exit codes

  0    passed
  1    failed: a step, a check, a test or a comparison
  2    could not run: a server, a config, a browser, a program or an output file is unusable
  3    invalid: a file of yours or an argument
  4    passed, but something is not as before: an element was healed, or two runs differ
  130  interrupted

If several codes apply, the most severe one is returned: 130, then 3, 2, 1, 4, 0.

`serve llm`, `serve rest`, `record llm` and `record mcp` can start a command. If it fails, its exit
code is returned. If a signal ends it, the code is 128 + the number of the signal.

The page `docs/exit-codes.md` of the book has a table of what each command returns, and when.
";

impl From<Verdict> for ExitCode {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Passed => Self::Passed,
            Verdict::Failed => Self::Failed,
            Verdict::Blocked => Self::CouldNotRun,
            Verdict::Interrupted => Self::Interrupted,
        }
    }
}

impl ExitCode {
    /// The number.
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Passed => 0,
            Self::Drifted => 4,
            Self::Failed => 1,
            Self::CouldNotRun => 2,
            Self::Invalid => 3,
            Self::Interrupted => 130,
            Self::OfCommand(code) => code,
        }
    }

    /// How the last line of a command begins: a mark and the word of the table, such as `✓ passed`.
    pub(crate) fn verdict(self, style: Style) -> String {
        let word = match self {
            Self::Passed | Self::Drifted => {
                return style.good(&format!("{} passed", style.symbol("✓", "ok")));
            }
            Self::Failed | Self::OfCommand(_) => "failed",
            Self::CouldNotRun => "could not run",
            Self::Invalid => "invalid",
            Self::Interrupted => "interrupted",
        };
        style.bad(&format!("{} {word}", style.symbol("✗", "x")))
    }

    /// The worse of two.
    pub(crate) fn worst(self, other: Self) -> Self {
        const ORDER: [ExitCode; 6] = [
            ExitCode::Passed,
            ExitCode::Drifted,
            ExitCode::Failed,
            ExitCode::CouldNotRun,
            ExitCode::Invalid,
            ExitCode::Interrupted,
        ];
        let rank = |code| ORDER.iter().position(|&known| known == code);
        if rank(self) >= rank(other) {
            self
        } else {
            other
        }
    }
}

impl From<ExitCode> for ProcessExit {
    fn from(code: ExitCode) -> Self {
        Self::from(code.number())
    }
}

#[cfg(test)]
mod tests {
    use super::{ExitCode, PAGE, Style};

    #[test]
    fn the_word_is_that_of_the_table() {
        for (exit, verdict) in [
            (ExitCode::Passed, "✓ passed"),
            (ExitCode::Drifted, "✓ passed"),
            (ExitCode::Failed, "✗ failed"),
            (ExitCode::CouldNotRun, "✗ could not run"),
            (ExitCode::Invalid, "✗ invalid"),
            (ExitCode::Interrupted, "✗ interrupted"),
        ] {
            assert_eq!(exit.verdict(Style::default()), verdict);
            assert!(PAGE.contains(&verdict[4..]), "{verdict}");
        }
        let ascii = Style {
            unicode: false,
            ..Style::default()
        };
        assert_eq!(ExitCode::Passed.verdict(ascii), "ok passed");
    }

    #[test]
    fn of_several_the_worst_counts() {
        assert_eq!(ExitCode::Failed.worst(ExitCode::Invalid), ExitCode::Invalid);
        assert_eq!(
            ExitCode::Interrupted.worst(ExitCode::Invalid),
            ExitCode::Interrupted
        );
        assert_eq!(ExitCode::Passed.worst(ExitCode::Passed), ExitCode::Passed);
        assert_eq!(ExitCode::Drifted.worst(ExitCode::Passed), ExitCode::Drifted);
        assert_eq!(ExitCode::Drifted.worst(ExitCode::Failed), ExitCode::Failed);
    }
}
