//! Server-sent events: writes them. Reading is what `sse-stream` is for.

use serde::Serialize;

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

    proptest! {
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
