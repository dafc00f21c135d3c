//! What a server asks of its client, and what it is answered. Older servers send requests while a call is
//! open; those of the stateless protocol answer a call with their questions, and are called again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cuecard_tool_call::model::{AnswerPlace, QuestionKind};
use cuecard_tool_call::script::{Answered, ReadyAnswers, Unanswered};
use serde_json::{Map, Value};
use tokio::sync::Notify;

use super::link::{LONGEST_TEXT, Link, lock};
use super::notice::Notice;

/// How many answers and refusals are remembered until they are asked for; those after them are still in the
/// notices.
const MOST: usize = 1_000;

/// How long a server may take to ask for the roots after its start, and then to make use of them. A call before that
/// would find it without any folder.
const ROOTS_ASKED: Duration = Duration::from_millis(300);
const ROOTS_USED: Duration = Duration::from_millis(100);

/// The longest proposal of an answer, in characters.
const LONGEST_HELP: usize = 1_000;

/// What a server has asked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Asked {
    /// Which of the scenario's answers were given.
    pub answered: Vec<AnswerPlace>,
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
    answers: Mutex<Arc<ReadyAnswers>>,
    asked: Mutex<Asked>,
    /// Notified of each answer.
    answered: Notify,
}

impl Questions {
    pub(super) fn new(server: &str, answers: Arc<ReadyAnswers>) -> Self {
        Self {
            server: server.to_owned(),
            answers: Mutex::new(answers),
            asked: Mutex::default(),
            answered: Notify::new(),
        }
    }

    /// Whether the server may ask questions of this kind; it is told so at its start.
    pub(super) fn offers(&self, kind: QuestionKind) -> bool {
        lock(&self.answers).offers(kind, &self.server)
    }

    /// Returns when a server that asks for the roots when it starts had time to use them.
    pub(super) async fn wait_for_roots(&self) {
        let asked = tokio::time::timeout(ROOTS_ASKED, self.answered.notified()).await;
        if asked.is_ok() {
            tokio::time::sleep(ROOTS_USED).await;
        }
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
        let answer = QuestionKind::of_method(method)
            .map(|kind| lock(&self.answers).answer(kind, &self.server, &params));
        let method = method.to_owned();
        link.notice(Notice::Asked {
            method: method.clone(),
            params,
        });
        match answer {
            Some(Ok(Answered { place, result })) => {
                if asked.answered.len() < MOST {
                    asked.answered.push(place);
                }
                link.notice(Notice::Answered {
                    method,
                    result: result.clone(),
                    place,
                });
                self.answered.notify_one();
                Ok(result)
            }
            Some(Err(mut unanswered)) => {
                unanswered.message = link.shown(&unanswered.message, LONGEST_TEXT);
                unanswered.help = link.shown(&unanswered.help, LONGEST_HELP);
                link.notice(Notice::Refused {
                    method,
                    reason: unanswered.message.clone(),
                });
                let is_known = unanswered.is_offered;
                if asked.unanswered.len() < MOST {
                    asked.unanswered.push(unanswered);
                }
                Err(Refused {
                    is_known,
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
