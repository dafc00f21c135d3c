//! What arrives in place of an answer with faults: its frames go in, acts come out. No I/O.

use std::collections::BTreeMap;

use cuecard_source::value::Json;
use cuecard_timeline::model::FaultKind;

use super::faults::Hit;
use cuecard_runtime::fault::{Frame, FrameFaults, FrameHit, FrameShape, Part};

/// What comes in place of JSON.
const GARBAGE: &str = "<html>502 Bad Gateway</html>";
/// What stands before the JSON of a server-sent event.
const DATA: &str = "data: ";

/// The frames of an answer.
#[derive(Debug, Default)]
pub(super) struct Frames {
    /// In order.
    pub(super) frames: Vec<Frame>,
    /// The first frame of each call, by the call's id.
    pub(super) calls: Vec<(String, usize)>,
    /// Whether they are events of a stream. A plain body is one frame, which can't come twice.
    pub(super) is_stream: bool,
}

/// What arrives in place of an answer. What hits a frame that another fault has hit already never happens.
pub(super) fn disturb(answer: Frames, hits: &[Hit]) -> Vec<Part> {
    let mut due: BTreeMap<usize, &Hit> = BTreeMap::new();
    for hit in hits {
        if let Some(frame_idx) = frame_of(&answer, hit) {
            due.entry(frame_idx).or_insert(hit);
        }
    }
    let mut faults = FrameFaults::new(FrameShape { id_in, garbage });
    let mut parts = Vec::new();
    for (frame_idx, frame) in answer.frames.into_iter().enumerate() {
        let hit = due.get(&frame_idx).map(|hit| FrameHit {
            fault_idx: hit.fault_idx,
            kind: hit.kind,
            id: hit.call_id.clone(),
        });
        parts.extend(faults.frame(frame, hit));
    }
    parts.extend(faults.finish());
    parts
}

/// The frame that a fault is for.
fn frame_of(answer: &Frames, hit: &Hit) -> Option<usize> {
    if hit.kind == FaultKind::Duplicate && !answer.is_stream {
        return None;
    }
    let first = match &hit.call_id {
        None => 0,
        Some(id) => answer.calls.iter().find(|(known, _)| known == id)?.1,
    };
    let frames = answer.frames.iter().enumerate().skip(first);
    let mut late = frames.filter(|(_, frame)| hit.at_ms.is_none_or(|at_ms| frame.at_ms >= at_ms));
    late.next().map(|(frame_idx, _)| frame_idx)
}

/// The id of the answer that a frame has.
fn id_in(frame: &str) -> Option<String> {
    let json = &frame[frame.find('{')?..];
    let mut values = serde_json::Deserializer::from_str(json).into_iter::<Json>();
    let value = values.next()?.ok()?;
    let places = [
        "/response/id",
        "/message/id",
        "/responseId",
        "/response_id",
        "/id",
    ];
    places
        .iter()
        .find_map(|place| value.pointer(place)?.as_str().map(str::to_owned))
}

/// A frame of the same form with something in it that is no JSON.
fn garbage(frame: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(frame);
    let garbage = match (text.find(DATA), text.chars().next()) {
        (Some(at), _) => format!("{}{GARBAGE}\n\n", &text[..at + DATA.len()]),
        // The array around Gemini's events.
        (None, Some(opening @ ('[' | ','))) => format!("{opening}{GARBAGE}"),
        _ => GARBAGE.to_owned(),
    };
    garbage.into_bytes()
}

#[cfg(test)]
mod tests {
    use cuecard_runtime::fault::Act;

    use super::*;

    /// An answer with a text, a call and an end, 100 ms apart.
    fn answer() -> Frames {
        let frame = |at_ms, json: &str| Frame {
            at_ms,
            bytes: format!("{DATA}{json}\n\n").into_bytes(),
        };
        Frames {
            frames: vec![
                frame(0, r#"{"id":"chat-1","text":"a"}"#),
                frame(100, r#"{"id":"chat-1","call":{"id":"call_1"}}"#),
                frame(200, r#"{"id":"chat-1","end":true}"#),
            ],
            calls: vec![("call_1".into(), 1)],
            is_stream: true,
        }
    }

    fn hit(kind: FaultKind) -> Hit {
        Hit {
            fault_idx: 7,
            kind,
            at_ms: None,
            call_id: None,
        }
    }

    /// What is done, with the faults that happen, in short: `2` is the frame with this index.
    fn acts(hit: Hit) -> Vec<String> {
        let whole = answer();
        let name = |bytes: &[u8]| {
            let known = whole.frames.iter().position(|frame| frame.bytes == bytes);
            known.map_or("?".to_owned(), |idx| idx.to_string())
        };
        let parts = disturb(answer(), &[hit]);
        let told = parts.iter().map(|part| {
            let act = match &part.act {
                Act::Send(bytes) => name(bytes),
                Act::SendSplit(bytes) => format!("split {}", name(bytes)),
                Act::SendHalf(bytes) => format!("half {}", name(bytes)),
                Act::SendTogether(all) => {
                    let all: Vec<_> = all.iter().map(|bytes| name(bytes)).collect();
                    all.join("+")
                }
                other => format!("{other:?}"),
            };
            let mark = if part.faults == [7] { "!" } else { "" };
            format!("{}:{act}{mark}", part.at_ms)
        });
        told.collect()
    }

    #[test]
    fn each_fault_is_what_it_is_called() {
        use FaultKind as Kind;
        for (kind, expected) in [
            (Kind::Cut, &["0:half 0!"][..]),
            (Kind::Stall, &["0:Stall!"]),
            (Kind::Crash, &["0:Crash!"]),
            (Kind::Garbage, &["0:?!", "100:1", "200:2"]),
            (Kind::Split, &["0:split 0!", "100:1", "200:2"]),
            (Kind::Merge, &["100:0+1!", "200:2"]),
            (Kind::Duplicate, &["0:0", "0:0!", "100:1", "200:2"]),
            (Kind::Reorder, &["100:1", "100:0!", "200:2"]),
            (Kind::WrongId, &["0:?!", "100:?", "200:?"]),
            (Kind::Oversize, &["0:?!", "100:1", "200:2"]),
            (
                Kind::Stderr,
                &["0:FloodErrors(8388608)", "0:0!", "100:1", "200:2"],
            ),
        ] {
            assert_eq!(acts(hit(kind)), expected, "{kind:?}");
        }
    }

    #[test]
    fn a_fault_is_at_its_call_or_its_time() {
        let at_call = Hit {
            call_id: Some("call_1".into()),
            ..hit(FaultKind::Cut)
        };
        assert_eq!(acts(at_call), ["0:0", "100:half 1!"]);
        let at = |at_ms| Hit {
            at_ms: Some(at_ms),
            ..hit(FaultKind::Stall)
        };
        assert_eq!(acts(at(150)), ["0:0", "100:1", "200:Stall!"]);
        assert_eq!(acts(at(201)), ["0:0", "100:1", "200:2"]);
    }

    #[test]
    fn what_waits_for_the_next_frame_never_happens_at_the_last() {
        for kind in [FaultKind::Merge, FaultKind::Reorder] {
            let last = Hit {
                at_ms: Some(200),
                ..hit(kind)
            };
            assert_eq!(acts(last), ["0:0", "100:1", "200:2"]);
        }
    }

    #[test]
    fn a_plain_body_does_not_come_twice() {
        let body = || Frames {
            frames: vec![Frame {
                at_ms: 5,
                bytes: b"{}".to_vec(),
            }],
            ..Frames::default()
        };
        let parts = disturb(body(), &[hit(FaultKind::Duplicate)]);
        assert!(matches!(&parts[..], [part] if part.faults.is_empty()));
        let parts = disturb(body(), &[hit(FaultKind::Garbage)]);
        assert_eq!(parts[0].act, Act::Send(GARBAGE.into()));
    }

    #[test]
    fn wrong_ids_are_those_of_the_call_or_of_the_answer() {
        let texts = |hit: Hit| -> Vec<String> {
            let parts = disturb(answer(), &[hit]);
            let texts = parts.into_iter().map(|part| match part.act {
                Act::Send(bytes) => String::from_utf8(bytes).expect("text"),
                other => panic!("{other:?}"),
            });
            texts.collect()
        };
        let of_answer = texts(hit(FaultKind::WrongId)).concat();
        assert_eq!(of_answer.matches("\"chat-987654321\"").count(), 3);
        assert!(of_answer.contains("\"call_1\""));
        let of_call = texts(Hit {
            call_id: Some("call_1".into()),
            ..hit(FaultKind::WrongId)
        });
        assert!(
            of_call[1].contains("{\"id\":\"call_987654321\"}") && of_call[1].contains("chat-1")
        );
    }

    #[test]
    fn garbage_keeps_the_frame_around_it() {
        let text = |frame: &[u8]| String::from_utf8(garbage(frame)).expect("text");
        assert_eq!(
            text(b"event: ping\ndata: {\"a\": 1}\n\n"),
            format!("event: ping\ndata: {GARBAGE}\n\n")
        );
        assert_eq!(text(b"[{}"), format!("[{GARBAGE}"));
        assert_eq!(text(b"{}"), GARBAGE);
    }
}
