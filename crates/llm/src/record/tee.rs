//! A body on its way from the provider to the client: each part goes on as it comes, and is read on the side.

use std::io;
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures::{TryStreamExt as _, stream};

use super::super::compressed::ByteStream;
use super::proxy::{Shared, broken};
use super::writer::{Answered, Passed};
use cuecard_wire::llm::decode::StreamDecoder;

/// A body on its way. It ends with its client: when that goes away, it is dropped.
pub(super) struct Tee {
    proxy: Shared,
    bytes: ByteStream,
    /// Bytes that have come already.
    before: Option<Bytes>,
    /// What is read on the side, until its end.
    reading: Option<Reading>,
    is_over: bool,
}

struct Reading {
    passed: Box<Passed>,
    decoder: StreamDecoder,
}

impl Tee {
    /// Passes on, and reads with `decoder` on the side.
    pub(super) fn new(
        proxy: &Shared,
        bytes: ByteStream,
        passed: Box<Passed>,
        decoder: StreamDecoder,
    ) -> Self {
        let mut tee = Self::only(proxy, bytes);
        tee.reading = Some(Reading { passed, decoder });
        tee
    }

    /// Only passes on.
    pub(super) fn only(proxy: &Shared, bytes: ByteStream) -> Self {
        Self {
            proxy: proxy.clone(),
            bytes,
            before: None,
            reading: None,
            is_over: false,
        }
    }

    /// The same after bytes that have come already.
    pub(super) fn after(mut self, before: Bytes) -> Self {
        self.before = Some(before);
        self
    }

    /// As a body.
    pub(super) fn body(self) -> Body {
        Body::from_stream(stream::unfold(self, next))
    }

    /// Hands over what was read. It is called before the client has the end, so that what the client asks next comes
    /// after it.
    async fn end(&mut self, broken_off: Option<&str>) {
        let Some(mut reading) = self.reading.take() else {
            return;
        };
        reading.passed.answered = match (reading.decoder.finish(), broken_off) {
            (Err(error), _) => Answered::LeftOut(error.to_string()),
            (Ok(decoded), _) if decoded.is_complete => Answered::Model {
                decoded,
                is_abandoned: false,
            },
            (Ok(_), Some(what)) => Answered::LeftOut(format!("the upstream {what}")),
            (Ok(_), None) => Answered::LeftOut("the upstream ended its response early".to_owned()),
        };
        self.proxy.tell(reading.passed).await;
    }
}

impl Drop for Tee {
    fn drop(&mut self) {
        let Some(mut reading) = self.reading.take() else {
            return;
        };
        let has_ended = self.proxy.stop.is_cancelled();
        reading.passed.answered = match reading.decoder.finish() {
            _ if has_ended => {
                Answered::LeftOut("the recording ended before the response did".to_owned())
            }
            Ok(decoded) if !decoded.elements.is_empty() => Answered::Model {
                decoded,
                is_abandoned: true,
            },
            _ => {
                Answered::LeftOut("the client disconnected before the response started".to_owned())
            }
        };
        self.proxy.tell_at_once(reading.passed);
    }
}

async fn next(mut tee: Tee) -> Option<(io::Result<Bytes>, Tee)> {
    if tee.is_over {
        return None;
    }
    if let Some(before) = tee.before.take() {
        return Some((Ok(before), tee));
    }
    let stop = tee.proxy.stop.clone();
    let stall = tee.proxy.options.stall;
    let chunk = tokio::select! {
        chunk = next_chunk(&mut tee.bytes, stall) => chunk,
        () = stop.cancelled() => {
            tee.is_over = true;
            return Some((Err(broken("the recording has ended".to_owned())), tee));
        }
    };
    match chunk {
        Ok(Some(bytes)) => {
            if let Some(reading) = &mut tee.reading {
                let at_ms = tee.proxy.since(&reading.passed);
                reading.decoder.read(&bytes, at_ms);
                if reading.decoder.is_complete() {
                    tee.end(None).await;
                }
            }
            Some((Ok(bytes), tee))
        }
        Ok(None) => {
            tee.end(None).await;
            None
        }
        Err(what) => {
            tee.end(Some(&what)).await;
            tee.is_over = true;
            Some((Err(broken(what)), tee))
        }
    }
}

/// The next part of a body; why there is none, in words, if it is not over.
pub(super) async fn next_chunk(
    bytes: &mut ByteStream,
    stall: Duration,
) -> Result<Option<Bytes>, String> {
    match tokio::time::timeout(stall, bytes.try_next()).await {
        Ok(Ok(chunk)) => Ok(chunk),
        Ok(Err(error)) => Err(format!("aborted its response: {error}")),
        Err(_) => Err(format!(
            "sent nothing for {} s in the middle of its response",
            stall.as_secs_f64()
        )),
    }
}
