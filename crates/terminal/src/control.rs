//! The channel between the executor and the agent in the terminal, who play one timeline: the executor says when
//! each step is due, the agent what it has done.
//!
//! JSON lines over a Unix socket, whose path the agent finds in `CUECARD_CONTROL`. The agent says hello first.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::Path;
use std::sync::LazyLock;

use cuecard_source::diagnostic::Diagnostic;
use cuecard_source::json::Limits;
use cuecard_source::value::{Json, cut};
use cuecard_source::yaml;
use cuecard_timeline::model::Timeline;
use regex::Regex;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

/// The variable with the path of the socket.
pub const CONTROL_VARIABLE: &str = "CUECARD_CONTROL";

/// What the agent says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromAgent {
    /// It is there, and plays the timeline with this fingerprint.
    Hello(Fingerprint),
    /// The same for an agent that speaks ACP with the program.
    HelloAcp(Fingerprint),
    /// A line of its trace.
    Trace(Json),
    /// Something that it found.
    Found(ControlFinding),
    /// It has done the step of this number.
    Done(usize),
}

/// What the executor says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromExecutor {
    /// The step of this number is due.
    Play(usize),
    /// The timeline is over.
    End,
}

/// All that makes a timeline another one, however it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// The values of the file, in order: `timeline[0].userInputs[0][1]: "Go"`.
    values: Vec<String>,
    /// A hash of its events without their places, as rules add and replace some.
    events: u64,
}

impl Fingerprint {
    /// The fingerprint of a timeline.
    pub fn of(timeline: &Timeline) -> Self {
        static PLACE: LazyLock<Option<Regex>> =
            LazyLock::new(|| Regex::new(r"Span \{ start: \d+, end: \d+ \}").ok());
        let mut values = Vec::new();
        if let Some(root) = yaml::parse(timeline.source.text(), &Limits::default()).root {
            list_values(&root.to_value(), "", &mut values);
        }
        let events = format!("{:?}", timeline.events);
        let events = PLACE.as_ref().map(|place| place.replace_all(&events, ""));
        let mut hasher = DefaultHasher::new();
        events.hash(&mut hasher);
        Self {
            values,
            events: hasher.finish(),
        }
    }

    /// How the timeline that an agent has `played` differs from this one, which is called `name`; `None` if it is the same.
    pub fn difference(&self, played: &Self, name: &str) -> Option<String> {
        if played == self {
            return None;
        }
        let mut pairs = (0..).map(|idx| (self.values.get(idx), played.values.get(idx)));
        let (ours, theirs) = pairs.find(|(ours, theirs)| ours.is_none() || ours != theirs)?;
        let shown = |value: Option<&String>| match value {
            Some(value) => format!("`{}`", cut(value, 100)),
            None => "nothing more".to_owned(),
        };
        Some(match (ours, theirs) {
            (None, None) => {
                "the values are the same, and the symbols (`--define`) are others".to_owned()
            }
            _ => format!(
                "it has {} where `{name}` has {}",
                shown(theirs),
                shown(ours)
            ),
        })
    }
}

/// Adds the values in `value`, which stands at `path`.
fn list_values(value: &Json, path: &str, values: &mut Vec<String>) {
    match value {
        Json::Array(items) if !items.is_empty() => {
            for (idx, item) in items.iter().enumerate() {
                list_values(item, &format!("{path}[{idx}]"), values);
            }
        }
        Json::Object(members) if !members.is_empty() => {
            let dot = if path.is_empty() { "" } else { "." };
            for (key, member) in members {
                list_values(member, &format!("{path}{dot}{key}"), values);
            }
        }
        _ => values.push(format!("{path}: {value}")),
    }
}

/// A finding, as it goes through the channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlFinding {
    /// Its code.
    pub code: String,
    /// `error`, `warning` or `note`.
    pub severity: String,
    /// What it says.
    pub message: String,
    /// The event that it is about.
    pub event_idx: Option<usize>,
    /// Facts beside.
    pub notes: Vec<String>,
    /// What to do about it.
    pub help: Option<String>,
}

impl ControlFinding {
    /// A finding about an event.
    pub fn of(found: &Diagnostic, event_idx: Option<usize>) -> Self {
        Self {
            code: found.code.name().to_owned(),
            severity: found.severity.as_str().to_owned(),
            message: found.message.clone(),
            event_idx,
            notes: found.notes.clone(),
            help: found.help.clone(),
        }
    }
}

/// One end of the channel.
#[derive(Debug)]
pub struct Channel {
    lines: Lines<BufReader<OwnedReadHalf>>,
    out: OwnedWriteHalf,
}

impl Channel {
    /// The end of a connection.
    pub fn new(stream: UnixStream) -> Self {
        let (read, out) = stream.into_split();
        Self {
            lines: BufReader::new(read).lines(),
            out,
        }
    }

    /// Connects to an executor.
    ///
    /// # Errors
    /// The operating system's.
    pub async fn connect(path: &Path) -> io::Result<Self> {
        Ok(Self::new(UnixStream::connect(path).await?))
    }

    /// Sends a message.
    ///
    /// # Errors
    /// The operating system's: the other side is gone.
    pub async fn send<M: Serialize>(&mut self, message: &M) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        self.out.write_all(&line).await
    }

    /// The next message; nothing when the other side is gone or says what is no message.
    pub async fn next<M: for<'de> Deserialize<'de>>(&mut self) -> Option<M> {
        let line = self.lines.next_line().await.ok()??;
        serde_json::from_str(&line).ok()
    }
}

#[cfg(test)]
mod tests {
    use cuecard_source::SourceFile;
    use cuecard_timeline::format::{Symbols, read};

    use super::*;

    #[test]
    fn an_agent_must_play_the_same_timeline() {
        let text = "name: a\ntimeline:\n  - userInputs: [[0, Go]]\n  - rules:\n      - {when: $more, config: [{log: more}]}\n";
        let fingerprint = |text: &str, define: &str| {
            let mut symbols = Symbols::new();
            symbols.define(define, "--define").expect("a symbol");
            let source = SourceFile::new("a.yaml", text);
            let read = read(&source, &symbols);
            Fingerprint::of(&read.timeline.expect("a timeline"))
        };
        let ours = fingerprint(text, "x");
        for (text, define, expected) in [
            (text.to_owned(), "x", None),
            (text.replace('\n', "\r\n"), "x", None),
            (format!("# an old copy\n\n{text}"), "x", None),
            (
                text.replace("[[0, Go]]", "\n      - [0, \"Go\"]"),
                "x",
                None,
            ),
            (
                text.replace("Go", "Stop"),
                "x",
                Some(
                    r#"it has `timeline[0].userInputs[0][1]: "Stop"` where `a.yaml` has `timeline[0].userInputs[0][1]: "Go"`"#,
                ),
            ),
            (
                format!("{text}  - log: evil\n"),
                "x",
                Some(r#"it has `timeline[2].log: "evil"` where `a.yaml` has nothing more"#),
            ),
            (
                text.replace("\n", "\n# more\n"),
                "more",
                Some("the values are the same, and the symbols (`--define`) are others"),
            ),
        ] {
            let played = fingerprint(&text, define);
            let difference = ours.difference(&played, "a.yaml");
            assert_eq!(difference.as_deref(), expected, "{text}");
        }
    }
}
