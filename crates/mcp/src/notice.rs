//! What a server says beside its answers.

use std::collections::VecDeque;
use std::fmt;

use serde_json::Value;

use super::text::cut;

/// How many notices wait to be asked for; the oldest go first, and are counted.
const MOST: usize = 1_000;
/// The longest text kept in one notice, in characters.
const LONGEST: usize = 2_000;
/// The longest question or answer kept in one notice, in bytes of JSON.
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
        /// The message: a string, or any JSON value; a long one is cut to a string.
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
        /// What it asks; a long one is cut to a string.
        params: Value,
    },
    /// A request of the server's own that was answered.
    Answered {
        /// For example `elicitation/create`.
        method: String,
        /// The answer. A long `content` is left out, and its size stands in its place.
        result: Value,
        /// Which of the scenario's answers of this kind it was, from 0.
        entry: usize,
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
            Self::Tolerated { text } => f.write_str(text),
            Self::BadFrame { text, reason } => write!(f, "an invalid message ({reason}): {text}"),
            Self::Dropped { count } => write!(f, "{count} more notices were dropped"),
        }
    }
}

/// The notices nobody has asked for yet.
#[derive(Debug, Default)]
pub(super) struct Notices {
    waiting: VecDeque<Notice>,
    dropped: u64,
}

impl Notices {
    pub(super) fn push(&mut self, notice: Notice) {
        if self.waiting.len() == MOST {
            self.waiting.pop_front();
            self.dropped += 1;
        }
        self.waiting.push_back(bounded(notice));
    }

    /// All of them, oldest first, led by how many were dropped before them.
    pub(super) fn drain(&mut self) -> Vec<Notice> {
        let count = std::mem::take(&mut self.dropped);
        let dropped = (count > 0).then_some(Notice::Dropped { count });
        dropped.into_iter().chain(self.waiting.drain(..)).collect()
    }
}

/// `notice` with every text cut to its bound.
fn bounded(notice: Notice) -> Notice {
    let short = |text: String| cut(&text, LONGEST);
    match notice {
        Notice::Log {
            level,
            logger,
            data,
        } => Notice::Log {
            level,
            logger: logger.map(short),
            data: short_value(data, LONGEST),
        },
        Notice::Progress {
            progress,
            total,
            message,
        } => Notice::Progress {
            progress,
            total,
            message: message.map(short),
        },
        Notice::Asked { method, params } => Notice::Asked {
            method: short(method),
            params: short_value(params, LONGEST_QUESTION),
        },
        Notice::Answered {
            method,
            mut result,
            entry,
        } => {
            let size = result.to_string().len();
            if size > LONGEST_QUESTION {
                // A cut text could hold the half of a secret.
                result["content"] = Value::String(format!("{size} bytes, not kept"));
            }
            Notice::Answered {
                method: short(method),
                result,
                entry,
            }
        }
        Notice::Refused { method, reason } => Notice::Refused {
            method: short(method),
            reason: short(reason),
        },
        Notice::Other { method } => Notice::Other {
            method: short(method),
        },
        Notice::StrayOutput { text } => Notice::StrayOutput { text: short(text) },
        Notice::Tolerated { text } => Notice::Tolerated { text: short(text) },
        Notice::BadFrame { text, reason } => Notice::BadFrame {
            text: short(text),
            reason: short(reason),
        },
        Notice::ToolsChanged | Notice::Dropped { .. } => notice,
    }
}

fn short_value(value: Value, longest: usize) -> Value {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
        Value::String(text) => Value::String(cut(&text, longest)),
        Value::Array(_) | Value::Object(_) => {
            let text = value.to_string();
            if text.len() <= longest {
                value
            } else {
                Value::String(cut(&text, longest))
            }
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
        let drained = notices.drain();
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
}
