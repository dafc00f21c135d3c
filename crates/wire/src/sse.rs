//! Server-sent events, as WHATWG has them: writes them, and reads them as their bytes come.

use std::fmt;

use serde::Serialize;

/// An event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SseEvent {
    /// What it is called, if it says so.
    pub name: Option<String>,
    /// Its lines of data, joined by line feeds.
    pub data: String,
}

/// Puts events together from bytes that come in any parts. What comes after the last blank line is no event.
#[derive(Debug)]
pub struct SseReader {
    line: Vec<u8>,
    name: Option<String>,
    data: Option<String>,
    last_id: Option<String>,
    retry: Option<u64>,
    /// Whether the last byte was a carriage return, which a line feed belongs to.
    is_after_return: bool,
    is_first_line: bool,
    max_bytes: usize,
}

/// An event has more bytes than allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SseTooLong {
    /// How many are allowed.
    pub max_bytes: usize,
}

impl fmt::Display for SseTooLong {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "an event is longer than {} bytes",
            self.max_bytes
        )
    }
}

impl std::error::Error for SseTooLong {}

impl SseReader {
    /// A reader of events with at most `max_bytes` bytes each.
    pub fn new(max_bytes: usize) -> Self {
        Self {
            line: Vec::new(),
            name: None,
            data: None,
            last_id: None,
            retry: None,
            is_after_return: false,
            is_first_line: true,
            max_bytes,
        }
    }

    /// The id that came last: where the stream is taken up again after it broke. `None` if it is empty, or none came.
    pub fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref().filter(|id| !id.is_empty())
    }

    /// How long to wait before the stream is taken up again, in milliseconds, if that came since this was called last.
    pub fn take_retry(&mut self) -> Option<u64> {
        self.retry.take()
    }

    /// Reads on, and gives each event that is complete to `event`.
    ///
    /// # Errors
    /// An event is too long. Nothing that comes after it means anything.
    pub fn read(
        &mut self,
        bytes: &[u8],
        mut event: impl FnMut(SseEvent),
    ) -> Result<(), SseTooLong> {
        let mut rest = bytes;
        while let Some(&first) = rest.first() {
            if std::mem::take(&mut self.is_after_return) && first == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            self.line
                .extend_from_slice(&rest[..end.unwrap_or(rest.len())]);
            let n_bytes = self.line.len() + self.data.as_ref().map_or(0, String::len);
            if n_bytes > self.max_bytes {
                return Err(SseTooLong {
                    max_bytes: self.max_bytes,
                });
            }
            let Some(end) = end else {
                break;
            };
            self.is_after_return = rest[end] == b'\r';
            rest = &rest[end + 1..];
            if let Some(complete) = self.end_line() {
                event(complete);
            }
        }
        Ok(())
    }

    fn end_line(&mut self) -> Option<SseEvent> {
        let bytes = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&bytes);
        let is_first = std::mem::take(&mut self.is_first_line);
        let line = match is_first {
            true => line.strip_prefix('\u{feff}').unwrap_or(&line),
            false => &line,
        };
        if line.is_empty() {
            let name = self.name.take().filter(|name| !name.is_empty());
            let data = self.data.take()?;
            return Some(SseEvent { name, data });
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => self.name = Some(value.to_owned()),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            "id" if !value.contains('\0') => self.last_id = Some(value.to_owned()),
            "retry" if value.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.retry = value.parse().ok().or(self.retry);
            }
            // Comments, and what nobody knows.
            _ => {}
        }
        None
    }
}

/// Appends an event whose data is `data` as compact JSON; `name` is its `event:` line.
pub fn write_json(buffer: &mut Vec<u8>, name: Option<&str>, data: &impl Serialize) {
    if let Some(name) = name {
        write_name(buffer, name);
    }
    buffer.extend_from_slice(b"data: ");
    write_line(buffer, data);
    buffer.extend_from_slice(b"\n\n");
}

/// Appends compact JSON that is one line for every reader: the line ends of Unicode, which JSON allows in its strings
/// and at which some clients cut, are escaped.
pub fn write_line(buffer: &mut Vec<u8>, data: &impl Serialize) {
    let start = buffer.len();
    // JSON has no other line ends outside of strings, and inside of them they are escaped.
    serde_json::to_writer(&mut *buffer, data)
        .expect("JSON with texts as keys is written to memory");
    if buffer[start..]
        .iter()
        .any(|byte| matches!(byte, 0xC2 | 0xE2))
    {
        let line = buffer.split_off(start);
        escape_line_ends(&line, buffer);
    }
}

/// Appends the line with an escape for each line end that is no control character.
fn escape_line_ends(mut line: &[u8], buffer: &mut Vec<u8>) {
    const LINE_ENDS: [(&str, &[u8]); 3] = [
        ("\u{85}", b"\\u0085"),
        ("\u{2028}", b"\\u2028"),
        ("\u{2029}", b"\\u2029"),
    ];
    while let Some(position) = line.iter().position(|byte| matches!(byte, 0xC2 | 0xE2)) {
        let (before, rest) = line.split_at(position);
        buffer.extend_from_slice(before);
        let found = LINE_ENDS
            .iter()
            .find(|(raw, _)| rest.starts_with(raw.as_bytes()));
        let length = match found {
            Some((raw, escaped)) => {
                buffer.extend_from_slice(escaped);
                raw.len()
            }
            None => {
                buffer.push(rest[0]);
                1
            }
        };
        line = &rest[length..];
    }
    buffer.extend_from_slice(line);
}

/// Appends an event whose data is any text; each of its lines becomes one of the event.
pub fn write_text(buffer: &mut Vec<u8>, name: Option<&str>, data: &str) {
    if let Some(name) = name {
        write_name(buffer, name);
    }
    for line in data.replace("\r\n", "\n").split(['\r', '\n']) {
        buffer.extend_from_slice(b"data: ");
        buffer.extend_from_slice(line.as_bytes());
        buffer.push(b'\n');
    }
    buffer.push(b'\n');
}

/// A name ends at the end of its line, so it is cut there.
fn write_name(buffer: &mut Vec<u8>, name: &str) {
    let name = name.split(['\r', '\n']).next().unwrap_or_default();
    buffer.extend_from_slice(b"event: ");
    buffer.extend_from_slice(name.as_bytes());
    buffer.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::executor::block_on;
    use futures::stream::{self, StreamExt as _};
    use proptest::prelude::*;
    use sse_stream::SseStream;

    fn read(bytes: Vec<u8>) -> Vec<(Option<String>, String)> {
        let body = stream::iter([Ok::<_, std::io::Error>(axum::body::Bytes::from(bytes))]);
        let events = block_on(SseStream::from_bytes_stream(body).collect::<Vec<_>>());
        events
            .into_iter()
            .map(|event| event.expect("a valid event"))
            .map(|event| (event.event, event.data.unwrap_or_default()))
            .collect()
    }

    #[test]
    fn json_stands_in_one_line() {
        let mut buffer = Vec::new();
        write_json(&mut buffer, Some("ping"), &serde_json::json!({"a": "x\ny"}));
        write_json(&mut buffer, None, &1);
        assert_eq!(
            String::from_utf8(buffer).expect("text"),
            "event: ping\ndata: {\"a\":\"x\\ny\"}\n\ndata: 1\n\n"
        );
    }

    #[test]
    fn no_reader_sees_a_line_end_in_a_line() {
        let text = "a\u{85}b\u{2028}c\u{2029}d\u{b}e…é\u{86}";
        let mut buffer = b"\xE2\x80\xA8 before".to_vec();
        write_line(&mut buffer, &[text, text]);
        assert!(buffer.starts_with(b"\xE2\x80\xA8 before"));
        let line = std::str::from_utf8(&buffer[10..]).expect("text");
        assert_eq!(
            serde_json::from_str::<[String; 2]>(line).expect("JSON"),
            [text, text]
        );
        assert!(!line.contains(['\u{85}', '\u{2028}', '\u{2029}', '\u{b}']));
        assert!(line.contains("…é\u{86}"));
    }

    #[test]
    fn a_name_cannot_end_its_line() {
        let mut buffer = Vec::new();
        write_text(&mut buffer, Some("a\ndata: forged"), "x");
        assert_eq!(buffer, b"event: a\ndata: x\n\n");
    }

    fn read_in_parts(bytes: &[u8], part: usize) -> Vec<(Option<String>, String)> {
        let mut reader = SseReader::new(1 << 20);
        let mut events = Vec::new();
        for part in bytes.chunks(part) {
            reader
                .read(part, |event| events.push((event.name, event.data)))
                .expect("short events");
        }
        events
    }

    #[test]
    fn every_line_end_and_comments_are_understood() {
        let text =
            b"\xEF\xBB\xBF: hello\r\n\r\nevent: a\rdata:1\rdata: 2\r\rid: 7\ndata\n\ndata: lost";
        for part in 1..text.len() {
            assert_eq!(
                read_in_parts(text, part),
                [
                    (Some("a".to_owned()), "1\n2".to_owned()),
                    (None, String::new())
                ],
                "{part}"
            );
        }
    }

    #[test]
    fn an_endless_event_has_an_end() {
        let mut reader = SseReader::new(10);
        assert!(reader.read(b"data: 1\n\n", |_| {}).is_ok());
        assert_eq!(
            reader.read(&[b'x'; 11], |_| {}),
            Err(SseTooLong { max_bytes: 10 })
        );
    }

    proptest! {
        #[test]
        fn both_readers_read_the_same(
            name in proptest::option::of("[a-z_.]{1,12}"), data in any::<String>(), part in 1..40_usize
        ) {
            let mut buffer = Vec::new();
            write_text(&mut buffer, name.as_deref(), &data);
            write_json(&mut buffer, None, &data);
            prop_assert_eq!(read_in_parts(&buffer, part), read(buffer));
        }

        #[test]
        fn what_is_written_is_read(name in proptest::option::of("[a-z_.]{1,12}"), data in any::<String>()) {
            let mut buffer = Vec::new();
            write_text(&mut buffer, name.as_deref(), &data);
            write_json(&mut buffer, name.as_deref(), &data);
            let read = read(buffer);
            prop_assert_eq!(read.len(), 2);
            // The line ends of the format are one and the same.
            prop_assert_eq!(&read[0], &(name.clone(), data.replace("\r\n", "\n").replace('\r', "\n")));
            prop_assert_eq!(&read[1].0, &name);
            prop_assert_eq!(serde_json::from_str::<String>(&read[1].1).expect("JSON"), data);
        }
    }
}
