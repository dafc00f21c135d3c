//! What a request demands of its answer beside the script (`tool_choice`, `parallel_tool_calls`, JSON), and what of that
//! an answer does not do: the same for players, which refuse such a script, and for recorders, which mark it.

use std::fmt;

use super::request::{Request, ToolChoice};
use super::rounds::list;
use crate::profiles::check_text;
use cuecard_source::value::cut;

/// An answer, as far as a request has demands on it.
#[derive(Debug, Clone, Copy)]
pub struct GivenAnswer<'a> {
    /// The names of its calls, in order, as the agent calls the tools.
    pub calls: &'a [&'a str],
    /// All of its text.
    pub text: &'a str,
    /// Whether it refuses.
    pub is_refusal: bool,
}

/// A demand that an answer does not meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Disobedience {
    /// A call that `tool_choice` doesn't allow.
    Call {
        /// Its index among the calls.
        call_idx: usize,
        /// Its name.
        name: String,
        /// What is allowed, in words.
        allowed: String,
    },
    /// No call, though `tool_choice` requires one.
    NoCall,
    /// So many calls, though `parallel_tool_calls` allows one.
    Parallel(usize),
    /// A text that is not the JSON of the response format: why.
    NotJson(String),
}

/// The demands of a request that an answer does not meet.
pub fn disobediences(request: &Request, answer: GivenAnswer<'_>) -> Vec<Disobedience> {
    let mut found = Vec::new();
    let choice = &request.tool_choice;
    for (call_idx, &name) in answer.calls.iter().enumerate() {
        let allowed = match choice {
            ToolChoice::None => "no tool".to_owned(),
            ToolChoice::Tool(only) if only != name => list(&[cut(only, 60)]),
            ToolChoice::Among { names, .. } if !names.iter().any(|known| known == name) => {
                cut(&list(names), 200).into_owned()
            }
            _ => continue,
        };
        found.push(Disobedience::Call {
            call_idx,
            name: name.to_owned(),
            allowed,
        });
    }
    let n_calls = answer.calls.len();
    if n_calls == 0 && choice.is_required() {
        found.push(Disobedience::NoCall);
    }
    if n_calls > 1 && !request.allows_parallel {
        found.push(Disobedience::Parallel(n_calls));
    }
    // An answer that calls or refuses has none.
    let schema = request.response_schema.as_ref();
    let schema = schema.filter(|_| n_calls == 0 && !answer.is_refusal);
    let problem = schema.and_then(|schema| check_text(schema, answer.text));
    found.extend(problem.map(Disobedience::NotJson));
    found
}

impl fmt::Display for Disobedience {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call { name, allowed, .. } => write!(
                formatter,
                "the request allows a call of {allowed} (`tool_choice`), and the script calls `{name}`"
            ),
            Self::NoCall => formatter.write_str(
                "the request requires a call (`tool_choice`), but the script makes none",
            ),
            Self::Parallel(n_calls) => write!(
                formatter,
                "the request allows one call at a time (`parallel_tool_calls`), and the script makes {n_calls}"
            ),
            Self::NotJson(problem) => write!(
                formatter,
                "the request demands JSON, and the text of the script does not fit: {problem}"
            ),
        }
    }
}
