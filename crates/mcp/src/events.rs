//! Streams of server-sent events, as WHATWG has them: unknown fields are passed over, and so are lines without a colon
//! whose field says nothing by itself.

use std::error::Error;

use cuecard_wire::sse::SseReader;
use futures::stream::{self, BoxStream, Stream, StreamExt as _};
use sse_stream::{Error as SseError, Sse};

/// Events as they come. After an error nothing follows.
pub(super) type Events = BoxStream<'static, Result<Sse, SseError>>;

/// Reads the events in `bytes`. An event of more than `max_bytes` bytes is an error
/// ([`SseTooLong`](cuecard_wire::sse::SseTooLong)).
pub(super) fn events<B, E>(
    bytes: impl Stream<Item = Result<B, E>> + Send + 'static,
    max_bytes: usize,
) -> Events
where
    B: AsRef<[u8]> + Send,
    E: Error + Send + Sync + 'static,
{
    let reading = Reading {
        reader: SseReader::new(max_bytes),
        last_id: None,
        is_over: false,
    };
    bytes
        .scan(reading, |reading, chunk| {
            let events = (!reading.is_over).then(|| match chunk {
                Ok(chunk) => reading.read(chunk.as_ref()),
                Err(error) => reading.end(error),
            });
            futures::future::ready(events.map(stream::iter))
        })
        .flatten()
        .boxed()
}

struct Reading {
    reader: SseReader,
    /// The last id that was given on.
    last_id: Option<String>,
    is_over: bool,
}

impl Reading {
    fn read(&mut self, chunk: &[u8]) -> Vec<Result<Sse, SseError>> {
        let mut found = Vec::new();
        let read = self.reader.read(chunk, |event| {
            found.push(Ok(Sse {
                event: event.name,
                data: Some(event.data),
                ..Sse::default()
            }));
        });
        // Where a broken stream is taken up again, also if no event came with it.
        let retry = self.reader.take_retry();
        let last_id = self.reader.last_id();
        if retry.is_some() || self.last_id.as_deref() != last_id {
            self.last_id = last_id.map(str::to_owned);
            found.push(Ok(Sse {
                id: self.last_id.clone(),
                retry,
                ..Sse::default()
            }));
        }
        if let Err(too_long) = read {
            found.extend(self.end(too_long));
        }
        found
    }

    fn end(&mut self, error: impl Error + Send + Sync + 'static) -> Vec<Result<Sse, SseError>> {
        self.is_over = true;
        vec![Err(SseError::Body(Box::new(error)))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(text: &str) -> Vec<Sse> {
        // Byte by byte, and as one.
        let bytes = text.bytes().map(|byte| Ok::<_, std::io::Error>([byte]));
        let one = text.as_bytes().to_vec();
        let whole = events(stream::iter([Ok::<_, std::io::Error>(one)]), 1000);
        let parts = events(stream::iter(bytes.collect::<Vec<_>>()), 1000);
        let data = |events: Vec<Result<Sse, SseError>>| -> Vec<Sse> {
            let events = events.into_iter().map(|event| event.expect("valid"));
            events.collect()
        };
        let (whole, parts) = (whole.collect().await, parts.collect().await);
        let whole = data(whole);
        let named = |events: &[Sse]| -> Vec<Sse> {
            let is_event = |event: &&Sse| event.data.is_some();
            events.iter().filter(is_event).cloned().collect()
        };
        assert_eq!(named(&whole), named(&data(parts)));
        whole
    }

    #[tokio::test]
    async fn what_the_standard_allows_is_read() {
        let text = "\u{feff}id\nunknown: 1\nfoo\nretry: soon\ndata\n\nevent: a\nevent: b\nid: 1\nid: 7\nretry: 20\ndata: x\ndata\n\n: note\n\n";
        let event = |name: Option<&str>, data: &str| Sse {
            event: name.map(str::to_owned),
            data: Some(data.to_owned()),
            ..Sse::default()
        };
        let place = Sse {
            id: Some("7".to_owned()),
            retry: Some(20),
            ..Sse::default()
        };
        assert_eq!(
            read(text).await,
            [event(None, ""), event(Some("b"), "x\n"), place]
        );
    }

    #[tokio::test]
    async fn an_id_alone_says_where_to_go_on() {
        let place = Sse::default().id("7");
        assert_eq!(read("id: 7\n\n").await, [place]);
    }

    #[tokio::test]
    async fn nothing_follows_an_event_that_is_too_long() {
        let chunks = [
            "data: 1\n\n",
            "data: 12345678901234567890",
            "\n\ndata: 2\n\n",
        ];
        let chunks = chunks.map(Ok::<_, std::io::Error>);
        let found: Vec<_> = events(stream::iter(chunks), 20).collect().await;
        assert!(
            matches!(&found[..], [Ok(_), Err(SseError::Body(error))] if error.is::<cuecard_wire::sse::SseTooLong>()),
            "{found:?}"
        );
    }
}
