//! Halves of surrogate pairs in what clients send. JSON allows them, and the protocol's library refuses the whole message,
//! of which the client then hears nothing.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse as _, Response};
use cuecard_runtime::lines::{Line, LineReader};
use cuecard_source::diagnostic::Diagnostic;
use cuecard_source::json::mended;
use futures::stream;
use tokio::io::AsyncRead;
use tokio_util::io::StreamReader;

use super::stdio::LONGEST_LINE;

/// Is told what a client sent wrong and was read all the same.
pub type OnWarning = Arc<dyn Fn(&Diagnostic) + Send + Sync>;

/// `message` with U+FFFD for each half of a pair, and with large integers as the recorder reads them.
fn whole<'a>(message: &'a [u8], on_warning: &OnWarning) -> Cow<'a, [u8]> {
    let (whole, warnings) = mended("a message of the client", message);
    warnings.iter().for_each(|it| on_warning(it));
    whole
}

/// Lines with U+FFFD for each half of a pair, without those that are too long.
pub(crate) fn whole_lines(
    inner: impl AsyncRead + Send + Unpin + 'static,
    on_warning: OnWarning,
) -> impl AsyncRead + Send + Unpin {
    let lines = LineReader::new(Box::new(inner), LONGEST_LINE);
    let whole = stream::unfold((lines, on_warning), |(mut lines, on_warning)| async move {
        let mut is_end = false;
        let line = loop {
            match lines.next().await {
                Line::TooLong(_) => is_end = true,
                // The end of one that was too long.
                Line::Whole(_) if std::mem::take(&mut is_end) => {}
                Line::Whole(line) => break line,
                Line::End => return None,
            }
        };
        let line = Bytes::from(whole(&line, &on_warning).into_owned());
        Some((Ok::<_, io::Error>(line), (lines, on_warning)))
    });
    StreamReader::new(Box::pin(whole))
}

/// A server that gets bodies with U+FFFD for each half of a pair.
pub(super) fn wrap(router: Router, on_warning: OnWarning) -> Router {
    let mend = move |request: Request, next: Next| {
        let on_warning = Arc::clone(&on_warning);
        async move { with_whole_body(request, next, &on_warning).await }
    };
    router.layer(from_fn(mend))
}

async fn with_whole_body(request: Request, next: Next, on_warning: &OnWarning) -> Response {
    let (parts, body) = request.into_parts();
    // The guard has read it, and bounds it.
    let Ok(bytes) = to_bytes(body, usize::MAX).await else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let body = match whole(&bytes, on_warning) {
        Cow::Owned(whole) => Body::from(whole),
        Cow::Borrowed(_) => Body::from(bytes),
    };
    next.run(Request::from_parts(parts, body)).await
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use tokio::io::AsyncReadExt as _;

    use super::*;

    #[tokio::test]
    async fn halves_of_pairs_are_replaced_however_the_bytes_come() {
        let sent = concat!(
            r#"{"a":"x\ud83d"}"#,
            "\n",
            r#"{"b":"\ud83d\ude00"}"#,
            "\n",
            r#"{"c":"\ude00","d":1180591620717411303424}"#
        );
        let expected = concat!(
            r#"{"a":"x\ufffd"}"#,
            "\n",
            r#"{"b":"\ud83d\ude00"}"#,
            "\n",
            r#"{"c":"\ufffd","d":"1180591620717411303424"}"#
        );
        for size in [1, 7, 1_000] {
            let warnings = Arc::new(Mutex::new(Vec::new()));
            let heard = Arc::clone(&warnings);
            let on_warning: OnWarning = Arc::new(move |warning| {
                heard.lock().expect("no panic").push(warning.code);
            });
            let (mut pipe, reading) = tokio::io::duplex(size);
            let writing = tokio::spawn(async move {
                tokio::io::AsyncWriteExt::write_all(&mut pipe, sent.as_bytes()).await
            });
            let mut read = String::new();
            let mut lines = whole_lines(reading, on_warning);
            lines.read_to_string(&mut read).await.expect("a pipe");
            writing.await.expect("no panic").expect("a pipe");
            assert_eq!(read, expected);
            assert_eq!(warnings.lock().expect("no panic").len(), 2);
        }
    }
}
