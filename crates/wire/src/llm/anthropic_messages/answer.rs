//! Answers of Messages: blocks of thinking, text and calls.

use serde::Serialize;

use super::super::answer::{Answer, Arguments, Call, Element, Piece, Said};
use super::super::events::{EventWriter, Events, Spread, Streaming, Window, timed};
use super::super::ids::{self, IdSeed};
use super::super::stop::StopReason;
use super::super::usage::Usage;

/// What a stream says while there is nothing to say.
pub const PING: &[u8] = b"event: ping\ndata: {\"type\": \"ping\"}\n\n";

/// The length of an id after its prefix.
const ID_LENGTH: usize = 24;

/// Appends the answer as one JSON body.
pub(in super::super) fn write_body(answer: &Answer<'_>, buffer: &mut Vec<u8>) {
    let stop = answer.stop_reason();
    let id = id(answer);
    let mut message = Message::empty(answer, &id);
    message.content = answer
        .said()
        .filter(|element| answer.shows_thinking || !matches!(element, Element::Thinking(_)))
        .map(Block::whole)
        .collect();
    message.stop_reason = Some(stop.anthropic());
    message.stop_details = StopDetails::of(stop);
    message.usage = MessagesUsage::of(&answer.usage);
    serde_json::to_writer(buffer, &message).expect("JSON with texts as keys is written to memory");
}

/// The answer as a stream of named events.
pub(in super::super) fn stream(
    answer: &Answer<'_>,
    streaming: Streaming,
    window: Window,
) -> Events {
    let id = id(answer);
    let mut message = Message::empty(answer, &id);
    // Nothing has been said yet.
    message.usage.output_tokens = 0;
    let mut blocks = Blocks {
        writer: EventWriter::new(streaming, window),
        index: 0,
    };
    blocks.send(&Event::MessageStart { message });
    for element in answer.elements {
        match element {
            Element::Thinking(pieces) if answer.shows_thinking => blocks.thinking(pieces),
            Element::Thinking(pieces) => blocks.writer.pass(pieces),
            Element::Text(pieces) | Element::Refusal(pieces) => blocks.text(pieces),
            Element::Call(call) => {
                blocks.writer.begin_call();
                blocks.call(call);
            }
        }
    }
    if let Some(failure) = answer.failure {
        blocks.writer.wait_until(failure.at_ms);
        blocks
            .writer
            .json(Some("error"), &failure.error.anthropic());
        return blocks.writer.finish();
    }
    let stop = answer.stop_reason();
    let delta = MessageDelta {
        stop_reason: stop.anthropic(),
        stop_sequence: None,
        stop_details: StopDetails::of(stop),
    };
    blocks.send(&Event::MessageDelta {
        delta,
        usage: MessagesUsage::of(&answer.usage),
    });
    blocks.send(&Event::MessageStop);
    blocks.writer.finish()
}

fn id(answer: &Answer<'_>) -> String {
    match answer.id {
        Some(id) => id.to_owned(),
        None => message_id(answer.seed),
    }
}

/// The id of the message that is made from this seed.
pub fn message_id(seed: IdSeed) -> String {
    seed.id("msg_", 0, ID_LENGTH)
}

/// Writes blocks, one after the other.
struct Blocks {
    writer: EventWriter,
    index: usize,
}

impl Blocks {
    fn thinking(&mut self, pieces: &[Piece]) {
        let empty = Block::Thinking {
            thinking: Said::Text(""),
            signature: String::new(),
        };
        let signature = ids::signature(&Said::Pieces(pieces).to_string());
        let end = Delta::Signature {
            signature: &signature,
        };
        let spread = self.writer.spread(timed(pieces));
        self.block(
            empty,
            &spread,
            |thinking| Delta::Thinking { thinking },
            Some(end),
        );
    }

    fn text(&mut self, pieces: &[Piece]) {
        let empty = Block::Text {
            text: Said::Text(""),
        };
        let spread = self.writer.spread(timed(pieces));
        self.block(empty, &spread, |text| Delta::Text { text }, None);
    }

    fn call(&mut self, call: &Call) {
        let empty = Block::ToolUse {
            id: &call.id,
            name: &call.name,
            input: Input::Empty,
        };
        let arguments = call.arguments_text();
        let spread = self.writer.spread([(arguments.as_str(), call.at_ms)]);
        self.block(
            empty,
            &spread,
            |partial_json| Delta::InputJson { partial_json },
            None,
        );
    }

    /// A block, if there is something in it. It begins with its first delta.
    fn block<'a>(
        &mut self,
        content_block: Block<'_>,
        spread: &Spread<'a>,
        delta: impl Fn(&'a str) -> Delta<'a>,
        last: Option<Delta<'_>>,
    ) {
        let index = self.index;
        if !spread.deltas.is_empty() {
            self.writer.wait_until(spread.begins_at);
            self.send(&Event::ContentBlockStart {
                index,
                content_block,
            });
            for part in &spread.deltas {
                self.writer.wait_until(part.at_ms);
                self.send(&Event::ContentBlockDelta {
                    index,
                    delta: delta(part.text),
                });
            }
            if let Some(delta) = last {
                self.send(&Event::ContentBlockDelta { index, delta });
            }
            self.send(&Event::ContentBlockStop { index });
            self.index += 1;
        }
        self.writer.wait_until(spread.ends_at);
    }

    fn send(&mut self, event: &Event<'_>) {
        self.writer.json(Some(event.name()), event);
    }
}

#[derive(Serialize)]
struct Message<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    role: &'static str,
    model: &'a str,
    content: Vec<Block<'a>>,
    stop_reason: Option<&'static str>,
    stop_sequence: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_details: Option<StopDetails>,
    usage: MessagesUsage,
}

impl<'a> Message<'a> {
    fn empty(answer: &Answer<'a>, id: &'a str) -> Self {
        Self {
            id,
            kind: "message",
            role: "assistant",
            model: answer.model,
            content: Vec::new(),
            stop_reason: None,
            stop_sequence: None,
            stop_details: None,
            usage: MessagesUsage::of(&answer.usage),
        }
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Thinking {
        thinking: Said<'a>,
        signature: String,
    },
    Text {
        text: Said<'a>,
    },
    ToolUse {
        id: &'a str,
        name: &'a str,
        input: Input<'a>,
    },
}

impl<'a> Block<'a> {
    fn whole(element: &'a Element) -> Self {
        match element {
            Element::Thinking(pieces) => Self::Thinking {
                thinking: Said::Pieces(pieces),
                signature: ids::signature(&Said::Pieces(pieces).to_string()),
            },
            Element::Text(pieces) | Element::Refusal(pieces) => Self::Text {
                text: Said::Pieces(pieces),
            },
            Element::Call(call) => Self::ToolUse {
                id: &call.id,
                name: &call.name,
                input: Input::Whole(Arguments(&call.input)),
            },
        }
    }
}

/// What a call is made with: nothing as long as it comes in pieces.
enum Input<'a> {
    Empty,
    Whole(Arguments<'a>),
}

impl Serialize for Input<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Empty => serializer.collect_map::<(), (), _>([]),
            Self::Whole(arguments) => arguments.serialize(serializer),
        }
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event<'a> {
    MessageStart {
        message: Message<'a>,
    },
    ContentBlockStart {
        index: usize,
        content_block: Block<'a>,
    },
    ContentBlockDelta {
        index: usize,
        delta: Delta<'a>,
    },
    ContentBlockStop {
        index: usize,
    },
    MessageDelta {
        delta: MessageDelta,
        usage: MessagesUsage,
    },
    MessageStop,
}

impl Event<'_> {
    fn name(&self) -> &'static str {
        match self {
            Self::MessageStart { .. } => "message_start",
            Self::ContentBlockStart { .. } => "content_block_start",
            Self::ContentBlockDelta { .. } => "content_block_delta",
            Self::ContentBlockStop { .. } => "content_block_stop",
            Self::MessageDelta { .. } => "message_delta",
            Self::MessageStop => "message_stop",
        }
    }
}

#[derive(Serialize)]
#[serde(tag = "type")]
enum Delta<'a> {
    #[serde(rename = "thinking_delta")]
    Thinking { thinking: &'a str },
    #[serde(rename = "signature_delta")]
    Signature { signature: &'a str },
    #[serde(rename = "text_delta")]
    Text { text: &'a str },
    #[serde(rename = "input_json_delta")]
    InputJson { partial_json: &'a str },
}

#[derive(Serialize)]
struct MessageDelta {
    stop_reason: &'static str,
    stop_sequence: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_details: Option<StopDetails>,
}

/// What is said about a refusal beside its reason.
#[derive(Serialize)]
struct StopDetails {
    #[serde(rename = "type")]
    kind: &'static str,
    category: Option<()>,
    explanation: Option<()>,
}

impl StopDetails {
    fn of(stop: StopReason) -> Option<Self> {
        (stop == StopReason::Refusal).then_some(Self {
            kind: "refusal",
            category: None,
            explanation: None,
        })
    }
}

#[derive(Serialize)]
struct MessagesUsage {
    input_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_read_input_tokens: u64,
    output_tokens: u64,
}

impl MessagesUsage {
    fn of(usage: &Usage) -> Self {
        Self {
            input_tokens: usage.uncached(),
            cache_creation_input_tokens: usage.cache_written,
            cache_read_input_tokens: usage.cached,
            output_tokens: usage.output,
        }
    }
}
