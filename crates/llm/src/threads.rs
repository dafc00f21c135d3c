//! Threads of Anthropic's Messages: a request goes on from an answer, by its id, and leaves out what was said before,
//! the system text and the tools.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use cuecard_source::value::cut;
use cuecard_timeline::script::{AdvertisedTool, PreviousAnswer, Request};
use serde_json::json;

use cuecard_wire::llm::Received;
use cuecard_wire::llm::errors::ApiError;
use cuecard_wire::llm::ids::ResponseId;

/// An older thread begins anew: its client sends the whole history then.
const MAX_THREADS: usize = 1_000;

/// The answers that threads may go on from.
#[derive(Debug, Default)]
pub(super) struct Threads {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    answers: HashMap<String, Answer>,
    in_order: VecDeque<String>,
}

#[derive(Debug, Clone)]
struct Answer {
    place: ResponseId,
    setting: Arc<Setting>,
}

/// What a thread was begun with.
#[derive(Debug)]
struct Setting {
    system: String,
    tools: Vec<AdvertisedTool>,
}

impl Threads {
    /// Puts what a request goes on from into it. Requests that belong to no thread stay as they are.
    ///
    /// # Errors
    /// Anthropic's 404, on which clients send their whole history.
    pub(super) fn continue_thread(&self, received: &mut Received) -> Result<(), ApiError> {
        let thread = &received.body["thread"];
        if thread["type"] != "continue" {
            return Ok(());
        }
        let id = thread["previous_message_id"].as_str().unwrap_or_default();
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Answer { place, setting }) = inner.answers.get(id).cloned() else {
            let id = cut(id, 100);
            let message = format!("no thread was found for `previous_message_id` `{id}`");
            let mut error = ApiError::new(404, message);
            error.details = json!({"error_code": "thread_not_found"});
            return Err(error);
        };
        let request = &mut received.request;
        request.previous = Some(PreviousAnswer {
            id: id.to_owned(),
            scenario: place.scenario,
            turn_idx: place.turn as usize,
            session: place.session,
        });
        if request.system.is_empty() {
            request.system.clone_from(&setting.system);
        }
        if request.tools.is_empty() {
            request.tools.clone_from(&setting.tools);
        }
        Ok(())
    }

    /// Keeps that a request, which belongs to a thread, got the turn at `place` as the answer `id`.
    pub(super) fn keep(&self, id: String, place: ResponseId, request: &Request) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        // Along a thread it stays the same, and may be long.
        let previous = request.previous.as_ref();
        let previous = previous.and_then(|previous| inner.answers.get(&previous.id));
        let same = previous
            .map(|previous| &previous.setting)
            .filter(|setting| setting.system == request.system && setting.tools == request.tools);
        let setting = same.cloned().unwrap_or_else(|| {
            Arc::new(Setting {
                system: request.system.clone(),
                tools: request.tools.clone(),
            })
        });
        let answer = Answer { place, setting };
        if inner.answers.insert(id.clone(), answer).is_some() {
            return;
        }
        inner.in_order.push_back(id);
        if inner.in_order.len() > MAX_THREADS
            && let Some(oldest) = inner.in_order.pop_front()
        {
            inner.answers.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use cuecard_timeline::script::Endpoint;

    use super::*;

    #[test]
    fn a_thread_keeps_its_setting_once() {
        let threads = Threads::default();
        let place = ResponseId {
            scenario: 1,
            turn: 0,
            session: 1,
        };
        let mut request = Request {
            system: "long".into(),
            ..Request::new(Endpoint::Messages)
        };
        let previous = |id: &str| PreviousAnswer {
            id: id.into(),
            scenario: 1,
            turn_idx: 0,
            session: 1,
        };
        threads.keep("a".into(), place, &request);
        request.previous = Some(previous("a"));
        threads.keep("b".into(), place, &request);
        request.previous = Some(previous("b"));
        request.system = "other".into();
        threads.keep("c".into(), place, &request);
        let inner = threads.inner.lock().expect("not poisoned");
        let setting = |id: &str| &inner.answers[id].setting;
        assert!(Arc::ptr_eq(setting("a"), setting("b")));
        assert_eq!(setting("c").system, "other");
    }
}
