//! Watches what comes over Streamable HTTP, since the SDK passes over what it can't use and does not say why.

use std::borrow::Cow;
use std::sync::Arc;

use cuecard_wire::sse::SseTooLong;
use futures::{StreamExt as _, TryStreamExt as _};
use rmcp::model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::StreamableHttpPostResponse;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use sse_stream::{Error as SseError, Sse};

use super::super::events::Events;
use super::super::link::{Link, UnexpectedMessage};
use super::HttpError;
use super::requests::{carried, is_call};

/// Tells the link what is wrong with what comes.
pub(in super::super) struct Watcher<'a> {
    pub(super) link: &'a Arc<Link>,
}

impl Watcher<'_> {
    /// Checks that the answer to `message` is one.
    pub(in super::super) fn check(
        &self,
        response: StreamableHttpPostResponse,
        message: &ClientJsonRpcMessage,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let asked = match message {
            ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        type Response = StreamableHttpPostResponse;
        match (response, asked) {
            (Response::Json(message, session), Some(asked)) => {
                let answered = match &message {
                    ServerJsonRpcMessage::Response(response) => Some(&response.id),
                    ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
                    _ => None,
                };
                match answered {
                    Some(id) if !same(id, &asked) => {
                        let reason = another(id);
                        self.link.trouble(UnexpectedMessage::Broken(reason.clone()));
                        Err(HttpError::UnexpectedServerResponse(reason.into()))
                    }
                    _ => Ok(Response::Json(message, session)),
                }
            }
            (Response::Sse(events, session), asked) => {
                let events = self.watch(events, asked, is_call(message));
                Ok(Response::Sse(events, session))
            }
            (response, _) => Ok(response),
        }
    }

    /// The same events; with `carries`, answers are those to calls. What is wrong with one is told.
    pub(in super::super) fn watch(
        &self,
        events: Events,
        asked: Option<RequestId>,
        carries: bool,
    ) -> Events {
        let link = Arc::clone(self.link);
        // What follows the answer is why no other call lacks one, though it may be read while that waits.
        let mut is_answered = false;
        let repairing = Arc::clone(self.link);
        events
            .map_ok(move |event| whole(event, &repairing))
            .inspect(move |event| match event {
                Ok(event) => match look_at(event, asked.as_ref()) {
                    Look::Fine => {}
                    Look::Answer => is_answered = true,
                    Look::Broken(data, reason) if is_answered => link.bad_message(data, &reason),
                    Look::Broken(data, reason) => link.broken_message(data, &reason),
                },
                Err(_) if is_answered => {}
                Err(SseError::Body(error)) if error.is::<SseTooLong>() => {
                    link.trouble(UnexpectedMessage::TooLarge);
                }
                Err(SseError::Body(_)) => {
                    link.trouble(UnexpectedMessage::Broken(
                        "its event stream ended unexpectedly".to_owned(),
                    ));
                }
                Err(error) => {
                    let reason = format!("its event stream is invalid: {error}");
                    link.trouble(UnexpectedMessage::Broken(reason));
                }
            })
            .map_ok(move |event| Sse {
                data: event.data.map(|data| {
                    let answer = carries.then(|| carried(data.as_bytes())).flatten();
                    let answer = answer.and_then(|answer| String::from_utf8(answer).ok());
                    answer.unwrap_or(data)
                }),
                ..event
            })
            .boxed()
    }
}

/// The event with what we can't hold replaced.
fn whole(mut event: Sse, link: &Link) -> Sse {
    let Some(data) = &event.data else {
        return event;
    };
    if let Cow::Owned(whole) = link.mended(data.as_bytes()) {
        event.data = String::from_utf8(whole).ok();
    }
    event
}

/// What tells an answer from other messages.
#[derive(Deserialize)]
struct Outline {
    id: Option<Value>,
    method: Option<IgnoredAny>,
}

/// What an event of a stream is.
enum Look<'a> {
    /// The answer to what was asked.
    Answer,
    /// It can't be used: its data, and why.
    Broken(&'a str, String),
    Fine,
}

fn look_at<'a>(event: &'a Sse, asked: Option<&RequestId>) -> Look<'a> {
    let Some(data) = event.data.as_deref() else {
        return Look::Fine;
    };
    // A stream begins with an event that only has an id.
    if data.is_empty() || !matches!(event.event.as_deref(), None | Some("" | "message")) {
        return Look::Fine;
    }
    let outline: Outline = match serde_json::from_str(data) {
        Ok(outline) => outline,
        Err(error) => return Look::Broken(data, format!("it is not a valid message: {error}")),
    };
    let answered = match (outline.id, outline.method) {
        (Some(Value::Number(number)), None) => number.as_i64().map(RequestId::Number),
        (Some(Value::String(text)), None) => Some(RequestId::String(text.into())),
        _ => None,
    };
    match (answered, asked) {
        (Some(id), Some(asked)) if same(&id, asked) => Look::Answer,
        (Some(id), Some(_)) => Look::Broken(data, another(&id)),
        _ => Look::Fine,
    }
}

/// Some servers turn numbers into texts.
fn same(id: &RequestId, asked: &RequestId) -> bool {
    id.to_string() == asked.to_string()
}

fn another(id: &RequestId) -> String {
    format!("it answers a different request, `{id}`")
}

#[cfg(test)]
mod tests {
    use super::super::super::notice::Notice;
    use super::super::super::text::Mask;
    use super::*;
    use cuecard_runtime::clock::Stopwatch;

    /// What is left of a stream in the answer to request 3: what may be why it has none, and how many messages were
    /// told of.
    async fn watched(datas: &[&str]) -> (Option<UnexpectedMessage>, usize) {
        let link = Arc::new(Link::new(Mask::default()));
        let began = Stopwatch::start();
        let events: Vec<_> = datas
            .iter()
            .map(|data| Ok(Sse::default().data(*data)))
            .chain([Err(SseError::InvalidLine)])
            .collect();
        let events = futures::stream::iter(events).boxed();
        let watched = Watcher { link: &link }.watch(events, Some(RequestId::Number(3)), false);
        assert_eq!(watched.count().await, datas.len() + 1);
        let notices = link.drain_notices();
        let told = notices
            .iter()
            .filter(|notice| matches!(notice, Notice::BadFrame { .. }));
        (link.trouble_since(began), told.count())
    }

    #[tokio::test]
    async fn what_follows_an_answer_is_no_reason_for_a_missing_one() {
        let (answer, other) = (r#"{"id":"3","result":{}}"#, r#"{"id":2,"result":{}}"#);
        let progress = r#"{"method":"notifications/progress"}"#;
        for before in [&[][..], &[other], &["oops"], &[progress]] {
            let (trouble, told) = watched(before).await;
            assert!(trouble.is_some(), "{before:?}");
            assert_eq!(
                told,
                usize::from(!before.is_empty() && before != [progress])
            );
        }
        for after in [&[][..], &[other], &["oops"], &[progress, answer]] {
            let (trouble, told) = watched(&[&[answer], after].concat()).await;
            assert_eq!(trouble, None, "{after:?}");
            assert_eq!(
                told,
                usize::from(matches!(after, [one] if *one != progress))
            );
        }
    }
}
