//! What a server asks of its client, and what it is answered. Older servers send requests while a call is
//! open; those of the stateless protocol answer a call with their questions, and are called again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use cuecard_tool_call::script::{Answered, ReadyAnswers, Unanswered};
use serde_json::{Map, Value};

use super::link::{LONGEST_TEXT, Link, lock};
use super::notice::Notice;

pub(super) const ELICITATION: &str = "elicitation/create";

/// How many answers and refusals are remembered until they are asked for; those after them are still in the
/// notices.
const MOST: usize = 1_000;

/// The longest proposal of an answer, in characters.
const LONGEST_HELP: usize = 1_000;

/// What a server may ask; it is told so at its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Offers {
    /// Forms for a user to fill in.
    pub elicitation: bool,
}

/// What a server has asked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Asked {
    /// Which of the scenario's answers to elicitation were given, from 0.
    pub answered: Vec<usize>,
    /// Why others were not answered.
    pub unanswered: Vec<Unanswered>,
}

/// A question without an answer.
pub(super) struct Refused {
    /// Whether the server was told that it may ask such questions.
    pub(super) is_known: bool,
    /// Why, for the server.
    pub(super) message: String,
}

/// The questions of one server.
pub(super) struct Questions {
    server: String,
    offers: Offers,
    answers: Mutex<Arc<ReadyAnswers>>,
    asked: Mutex<Asked>,
}

impl Questions {
    pub(super) fn new(server: &str, offers: Offers) -> Self {
        Self {
            server: server.to_owned(),
            offers,
            answers: Mutex::default(),
            asked: Mutex::default(),
        }
    }

    pub(super) fn offers(&self) -> Offers {
        self.offers
    }

    pub(super) fn answer_with(&self, answers: Arc<ReadyAnswers>) {
        *lock(&self.answers) = answers;
    }

    pub(super) fn take_asked(&self) -> Asked {
        std::mem::take(&mut lock(&self.asked))
    }

    /// The result of a request of the server's. Question and answer become notices.
    pub(super) fn answer(
        &self,
        method: &str,
        params: Value,
        link: &Link,
    ) -> Result<Value, Refused> {
        // Held throughout, so that no other question comes between this one and its answer.
        let mut asked = lock(&self.asked);
        let answer = match method {
            ELICITATION => Some(lock(&self.answers).elicit(&self.server, &params)),
            _ => None,
        };
        let method = method.to_owned();
        link.notice(Notice::Asked {
            method: method.clone(),
            params,
        });
        match answer {
            Some(Ok(Answered { entry, result })) => {
                if asked.answered.len() < MOST {
                    asked.answered.push(entry);
                }
                link.notice(Notice::Answered {
                    method,
                    result: result.clone(),
                    entry,
                });
                Ok(result)
            }
            Some(Err(mut unanswered)) => {
                unanswered.message = link.shown(&unanswered.message, LONGEST_TEXT);
                unanswered.help = link.shown(&unanswered.help, LONGEST_HELP);
                link.notice(Notice::Refused {
                    method,
                    reason: unanswered.message.clone(),
                });
                if asked.unanswered.len() < MOST {
                    asked.unanswered.push(unanswered);
                }
                Err(Refused {
                    is_known: self.offers.elicitation,
                    message:
                        "cuecard has no answer to this question: no answer in its scenario matches"
                            .to_owned(),
                })
            }
            None => {
                let message =
                    format!("cuecard can't answer `{method}`: this client runs unattended");
                link.notice(Notice::Refused {
                    method,
                    reason: "no user is present to answer it".to_owned(),
                });
                Err(Refused {
                    is_known: false,
                    message,
                })
            }
        }
    }

    /// The answers to the questions that a call came back with.
    ///
    /// # Errors
    /// The methods that have none, each once; the call can't go on then.
    pub(super) fn answer_all(
        &self,
        requests: Map<String, Value>,
        link: &Link,
    ) -> Result<BTreeMap<String, Value>, Vec<String>> {
        let mut responses = BTreeMap::new();
        let mut refused: Vec<String> = Vec::new();
        for (key, mut request) in requests {
            let method = request["method"].as_str().unwrap_or("input").to_owned();
            let params = match request.get_mut("params") {
                Some(params) => params.take(),
                None => Value::Null,
            };
            match self.answer(&method, params, link) {
                Ok(result) => {
                    responses.insert(key, result);
                }
                Err(_) if refused.contains(&method) => {}
                Err(_) => refused.push(method),
            }
        }
        match refused.is_empty() {
            true => Ok(responses),
            false => Err(refused),
        }
    }
}
