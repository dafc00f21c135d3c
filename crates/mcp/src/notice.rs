//! What a server says beside its answers.

use std::collections::VecDeque;
use std::fmt;

use cuecard_source::diagnostic::Code;
use cuecard_source::value::{Redactor, mask_credentials};
use cuecard_tool_call::model::{AnswerPlace, QuestionKind};
use serde_json::Value;

use super::text::cut;

/// How many notices wait to be asked for, and how many bytes; the oldest go first, and are counted.
const MOST: usize = 1_000;
const MOST_BYTES: usize = 16 << 20;
/// The longest text that is recorded of one notice, in characters.
const LONGEST: usize = 2_000;
/// The longest question or answer that is recorded of one notice, in bytes of JSON.
const LONGEST_QUESTION: usize = 16_000;

/// One thing a server said that answers no request.
#[derive(Debug, Clone, PartialEq)]
pub enum Notice {
    /// A log message.
    Log {
        /// `debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert` or `emergency`.
        level: String,
        /// The part of the server that logs.
        logger: Option<String>,
        /// The message: a string, or any JSON value.
        data: Value,
    },
    /// Progress of an open call.
    Progress {
        /// How far it is; grows with each notice.
        progress: f64,
        /// Where it will end, if the server knows.
        total: Option<f64>,
        /// What it is doing.
        message: Option<String>,
    },
    /// A request of the server's own. Its answer or its refusal follows.
    Asked {
        /// For example `elicitation/create`.
        method: String,
        /// What it asks.
        params: Value,
    },
    /// A request of the server's own that was answered.
    Answered {
        /// For example `elicitation/create`.
        method: String,
        /// The answer.
        result: Value,
        /// Which of the scenario's answers it was.
        place: AnswerPlace,
    },
    /// A request of the server's own that was refused.
    Refused {
        /// For example `sampling/createMessage`.
        method: String,
        /// Why.
        reason: String,
    },
    /// The list of tools has changed; the next [`super::Session::tools`] asks again.
    ToolsChanged,
    /// Any other notification.
    Other {
        /// For example `notifications/resources/updated`.
        method: String,
    },
    /// A line on standard output that is not JSON.
    StrayOutput {
        /// Its beginning.
        text: String,
    },
    /// A mistake in what it sent, which was read all the same.
    Tolerated {
        /// What kind of mistake it is.
        code: Code,
        /// What was wrong, and what was made of it.
        text: String,
    },
    /// JSON that is no valid message.
    BadFrame {
        /// Its beginning.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Notices that were dropped before they were asked for.
    Dropped {
        /// How many.
        count: u64,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Log { logger, data, .. } => {
                if let Some(logger) = logger {
                    write!(f, "{logger}: ")?;
                }
                f.write_str(&cuecard_source::value::as_text(data))
            }
            Self::Progress {
                progress,
                total,
                message,
            } => {
                write!(f, "progress {progress}")?;
                if let Some(total) = total {
                    write!(f, " of {total}")?;
                }
                match message {
                    Some(message) => write!(f, ": {message}"),
                    None => Ok(()),
                }
            }
            Self::Asked { method, .. } => write!(f, "it sent the request `{method}`"),
            Self::Answered { method, .. } => write!(f, "its request `{method}` was answered"),
            Self::Refused { method, reason } => {
                write!(f, "its request `{method}` was refused: {reason}")
            }
            Self::ToolsChanged => f.write_str("its list of tools has changed"),
            Self::Other { method } => write!(f, "notification `{method}`"),
            Self::StrayOutput { text } => {
                write!(f, "a line on its stdout is not a message: {text}")
            }
            Self::Tolerated { code, text } => write!(f, "{code}: {text}"),
            Self::BadFrame { text, reason } => write!(f, "an invalid message ({reason}): {text}"),
            Self::Dropped { count } => write!(f, "{count} more notices were dropped"),
        }
    }
}

/// The notices nobody has asked for yet.
#[derive(Debug, Default)]
pub(super) struct Notices {
    /// Each with its size.
    waiting: VecDeque<(Notice, usize)>,
    bytes: usize,
    dropped: u64,
}

impl Notices {
    pub(super) fn push(&mut self, notice: Notice) {
        let size = notice.size();
        self.bytes += size;
        self.waiting.push_back((notice, size));
        while self.waiting.len() > MOST || (self.bytes > MOST_BYTES && self.waiting.len() > 1) {
            self.bytes -= self.waiting.pop_front().map_or(0, |(_, size)| size);
            self.dropped += 1;
        }
    }

    /// All of them, oldest first, led by how many were dropped before them.
    pub(super) fn drain(&mut self) -> Vec<Notice> {
        let count = std::mem::take(&mut self.dropped);
        let dropped = (count > 0).then_some(Notice::Dropped { count });
        self.bytes = 0;
        let waiting = self.waiting.drain(..).map(|(notice, _)| notice);
        dropped.into_iter().chain(waiting).collect()
    }
}

impl Notice {
    fn size(&self) -> usize {
        match self {
            Self::Log { data: json, .. }
            | Self::Asked { params: json, .. }
            | Self::Answered { result: json, .. } => json.to_string().len(),
            other => other.to_string().len(),
        }
    }

    /// As it may be recorded: without secrets, and only then with every text cut to its bound, since of a secret that was cut
    /// the rest may not be known any more.
    #[must_use]
    pub fn bounded(self, secrets: &Redactor) -> Self {
        let short = |text: String| cut(&secrets.text(&text), LONGEST);
        let short_value = |mut value: Value, longest| {
            if value.to_string().len() <= longest {
                return value;
            }
            secrets.json(&mut value);
            mask_credentials(&mut value);
            Value::String(cut(&cuecard_source::value::as_text(&value), longest))
        };
        match self {
            Self::Log {
                level,
                logger,
                data,
            } => Self::Log {
                level,
                logger: logger.map(short),
                data: short_value(data, LONGEST),
            },
            Self::Progress {
                progress,
                total,
                message,
            } => Self::Progress {
                progress,
                total,
                message: message.map(short),
            },
            Self::Asked { method, params } => Self::Asked {
                method: short(method),
                params: short_value(params, LONGEST_QUESTION),
            },
            Self::Answered {
                method,
                mut result,
                place,
            } => {
                let size = result.to_string().len();
                if size > LONGEST_QUESTION {
                    let key = match place.kind {
                        QuestionKind::Roots => "roots",
                        QuestionKind::Sampling | QuestionKind::Elicitation => "content",
                    };
                    result[key] = Value::String(format!("{size} bytes, not kept"));
                }
                Self::Answered {
                    method: short(method),
                    result,
                    place,
                }
            }
            Self::Refused { method, reason } => Self::Refused {
                method: short(method),
                reason: short(reason),
            },
            Self::Other { method } => Self::Other {
                method: short(method),
            },
            Self::StrayOutput { text } => Self::StrayOutput { text: short(text) },
            Self::BadFrame { text, reason } => Self::BadFrame {
                text: short(text),
                reason: short(reason),
            },
            // What is wrong is said in our own words.
            notice @ (Self::ToolsChanged | Self::Tolerated { .. } | Self::Dropped { .. }) => notice,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_are_dropped_and_counted_once() {
        let mut notices = Notices::default();
        for n in 0..MOST + 3 {
            notices.push(Notice::Other {
                method: n.to_string(),
            });
        }
        let drained = notices.drain();
        assert_eq!(drained.len(), MOST + 1);
        assert_eq!(drained[0], Notice::Dropped { count: 3 });
        assert_eq!(drained[1], Notice::Other { method: "3".into() });
        assert!(notices.drain().is_empty());
    }

    #[test]
    fn long_data_is_cut_to_a_string_and_short_data_stays() {
        let mut notices = Notices::default();
        let log = |data| Notice::Log {
            level: "info".into(),
            logger: None,
            data,
        };
        notices.push(log(serde_json::json!({ "a": 1 })));
        notices.push(log(serde_json::json!(["x".repeat(LONGEST)])));
        let drained = notices.drain().into_iter();
        let drained: Vec<Notice> = drained
            .map(|notice| notice.bounded(&Redactor::default()))
            .collect();
        assert_eq!(drained[0], log(serde_json::json!({ "a": 1 })));
        let Notice::Log {
            data: Value::String(text),
            ..
        } = &drained[1]
        else {
            panic!("{drained:?}");
        };
        assert_eq!(text.chars().count(), LONGEST);
    }

    #[test]
    fn a_question_is_cut_when_its_secrets_are_gone() {
        let redactor = Redactor::new(["tok_ABCDEFGH12345678".to_owned()]);
        for length in LONGEST_QUESTION - 50..LONGEST_QUESTION {
            let question = Notice::Asked {
                method: "elicitation/create".into(),
                params: serde_json::json!({
                    "message": format!("{}tok_ABCDEFGH12345678", "x".repeat(length)),
                    "token": "unknown-1",
                }),
            };
            let Notice::Asked { params, .. } = question.bounded(&redactor) else {
                panic!("a question")
            };
            let text = params.to_string();
            assert!(!text.contains("tok_A") && !text.contains("unk"), "{length}");
        }
    }

    #[test]
    fn the_oldest_are_dropped_when_they_are_too_large() {
        let mut notices = Notices::default();
        for _ in 0..3 {
            notices.push(Notice::Asked {
                method: "m".into(),
                params: "x".repeat(MOST_BYTES / 2).into(),
            });
        }
        assert_eq!(notices.drain()[0], Notice::Dropped { count: 2 });
        notices.push(Notice::ToolsChanged);
        assert_eq!(notices.drain(), [Notice::ToolsChanged]);
    }
}
