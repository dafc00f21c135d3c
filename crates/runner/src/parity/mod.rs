//! One timeline through every stand-in: what each of their clients gets to see is compared.

mod model;
mod players;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use cuecard_source::diagnostic::Diagnostic;
use cuecard_source::matching::is_same_json;
use cuecard_source::value::{Json, as_text, cut};
use cuecard_timeline::model::vocabulary::AbstractTool;
use cuecard_timeline::model::{
    BlockKind, EventKind, ExpectedResult, ResponseElement, Timeline, ToolStatus, UserInput,
};
use cuecard_timeline::script::{Act, PlayerKind, block_text};
use cuecard_trace::EventData;
use tokio_util::sync::CancellationToken;

use crate::timeline::{RunOptions, RunScript};

/// What a timeline is played through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Face {
    /// Chat Completions.
    Chat,
    /// Responses.
    Responses,
    /// The Messages API of Anthropic.
    Messages,
    /// The API of Gemini.
    Gemini,
    /// An agent behind ACP.
    Acp,
    /// An agent service.
    Rest,
    /// An agent in a terminal.
    Agent,
}

impl Face {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Chat,
        Self::Responses,
        Self::Messages,
        Self::Gemini,
        Self::Acp,
        Self::Rest,
        Self::Agent,
    ];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Messages => "messages",
            Self::Gemini => "gemini",
            Self::Acp => "acp",
            Self::Rest => "rest",
            Self::Agent => "agent",
        }
    }

    fn player(self) -> PlayerKind {
        match self {
            Self::Chat | Self::Responses | Self::Messages | Self::Gemini => PlayerKind::Llm,
            Self::Acp => PlayerKind::Acp,
            Self::Rest => PlayerKind::Rest,
            Self::Agent => PlayerKind::Agent,
        }
    }

    fn carries_thoughts(self) -> bool {
        self != Self::Chat
    }
}

/// Something that the client of a stand-in sees.
#[derive(Debug, Clone, PartialEq)]
enum Seen {
    Prompt(String),
    Thought(String),
    Message(String),
    /// A call by its id.
    Call {
        id: String,
        tool: String,
        args: Json,
    },
    /// An edit that is none of a tool in every face, by its id.
    Edit {
        id: String,
        path: String,
    },
}

impl fmt::Display for Seen {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prompt(text) => write!(formatter, "prompt {:?}", cut(text, 200)),
            Self::Thought(text) => write!(formatter, "thought {:?}", cut(text, 200)),
            Self::Message(text) => write!(formatter, "message {:?}", cut(text, 200)),
            Self::Call { id, tool, args } => {
                write!(
                    formatter,
                    "call {id} of {tool} with {}",
                    cut(&args.to_string(), 200)
                )
            }
            Self::Edit { id, path } => write!(formatter, "edit {id} of {path}"),
        }
    }
}

/// What the client of one stand-in saw.
#[derive(Debug, Clone, Default)]
struct View {
    seen: Vec<Seen>,
    /// Results by the ids of their calls: whether it went well, and the text.
    results: BTreeMap<String, (bool, String)>,
}

/// How a face did.
#[derive(Debug)]
pub struct FaceResult {
    /// The face.
    pub face: Face,
    /// How many things its client saw.
    pub n_seen: usize,
    /// Why it was not played, if it wasn't.
    pub left_out: Option<String>,
    /// The first difference from what the timeline says, if there is one.
    pub difference: Option<String>,
}

/// What came of a comparison.
#[derive(Debug)]
pub struct Parity {
    /// The scenario's name.
    pub scenario: String,
    /// Its file.
    pub file: String,
    /// The faces.
    pub faces: Vec<FaceResult>,
    /// Events that not every face carries, by their keys: they are not compared.
    pub not_compared: Vec<String>,
    /// What could not be played at all.
    pub problems: Vec<Diagnostic>,
}

impl Parity {
    /// Whether all faces that were played show the same.
    pub fn holds(&self) -> bool {
        let is_same = |face: &FaceResult| face.difference.is_none();
        self.problems.is_empty() && self.faces.iter().all(is_same)
    }
}

/// Plays a timeline through every face.
pub async fn compare_faces(
    script: &Arc<RunScript>,
    options: &RunOptions,
    stop: &CancellationToken,
) -> Parity {
    cuecard_runtime::tls::install();
    let timeline = script.timeline();
    let mut parity = Parity {
        scenario: timeline.name.clone(),
        file: timeline.source.name().to_owned(),
        faces: Vec::new(),
        not_compared: not_compared(timeline),
        problems: Vec::new(),
    };
    for face in Face::ALL {
        if stop.is_cancelled() {
            break;
        }
        let mut result = FaceResult {
            face,
            n_seen: 0,
            left_out: left_out(timeline, face),
            difference: None,
        };
        let expected = expected(timeline, face);
        if result.left_out.is_none() && expected.seen.is_empty() {
            result.left_out = Some("the timeline has nothing that all of them show".to_owned());
        }
        if result.left_out.is_none() {
            let view = match face.player() {
                PlayerKind::Llm => model::play(script, options, face).await,
                PlayerKind::Acp => players::acp(script, options, stop).await,
                PlayerKind::Rest => players::rest(script, options).await,
                PlayerKind::Agent | PlayerKind::Run => players::agent(script, options).await,
            };
            match view {
                Ok(view) => {
                    let view = normalised(view, face, timeline);
                    result.n_seen = view.seen.len();
                    let expected = normalised(expected, face, timeline);
                    result.difference = difference(&expected, &view, timeline, face);
                }
                Err(why) => result.difference = Some(why),
            }
        }
        parity.faces.push(result);
    }
    parity
}

/// Why a face can't show what the others do.
fn left_out(timeline: &Timeline, face: Face) -> Option<String> {
    let has =
        |is_it: &dyn Fn(&EventKind) -> bool| timeline.events.iter().any(|event| is_it(&event.kind));
    let errs = has(&|kind| match kind {
        EventKind::Response(response) => {
            let mut elements = response.elements.iter();
            elements.any(|element| matches!(element, ResponseElement::Error(_)))
        }
        _ => false,
    });
    let cancels = has(&|kind| matches!(kind, EventKind::UserCancelSession { .. }));
    let has_history = timeline.boundary().is_some_and(|boundary| boundary > 0);
    let answers = has(&|kind| matches!(kind, EventKind::Response(_) | EventKind::ToolUse(_)));
    let offers = has(&|kind| match kind {
        EventKind::Initialize(initialize) => {
            let offered = &initialize.request["clientCapabilities"];
            offered.get("fs").is_some() || offered.get("terminal").is_some()
        }
        _ => false,
    });
    let has_audio = has(&|kind| match kind {
        EventKind::UserInputs(inputs) => {
            let mut blocks = inputs.iter().flat_map(|input| &input.blocks);
            blocks.any(|block| matches!(block.kind, BlockKind::Audio(_)))
        }
        _ => false,
    });
    let has_order = has(&|kind| matches!(kind, EventKind::Response(it) if it.continues));
    match face {
        Face::Chat if has_order => Some("its text and its calls stand apart".to_owned()),
        Face::Responses | Face::Messages if has_audio => Some("it takes no audio".to_owned()),
        Face::Acp if offers => Some("it says that its client has files".to_owned()),
        _ if !answers => Some("the timeline has no answer of an agent".to_owned()),
        Face::Acp if errs => Some("an error of the model ends its prompt".to_owned()),
        _ if cancels => Some("the user cancels, at a time of each mock's own".to_owned()),
        _ if has_history => Some("the history is told in a way of each mock's own".to_owned()),
        _ => None,
    }
}

/// The keys of the events that some face does not carry.
fn not_compared(timeline: &Timeline) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for event in &timeline.events {
        let is_carried = Face::ALL.iter().all(|face| {
            let act = face.player().cell(&event.kind).act;
            !matches!(act, Act::Skips | Act::NotEvaluated)
        });
        let key = event.kind.as_str();
        if !is_carried && !keys.iter().any(|known| known == key) {
            keys.push(key.to_owned());
        }
    }
    keys
}

/// What the timeline says that the client of a face should see.
fn expected(timeline: &Timeline, face: Face) -> View {
    // All blocks of a prompt go over ACP; the APIs of models look at them by themselves.
    let text = |input: &UserInput| match face {
        Face::Acp => Some(input.blocks.iter().map(block_text).collect()),
        _ => input.prompt_text(),
    };
    let mut view = View::default();
    for event in &timeline.events {
        match &event.kind {
            EventKind::UserInputs(inputs) => {
                let prompts = inputs.iter().filter(|input| input.target.is_none());
                view.seen.extend(prompts.filter_map(text).map(Seen::Prompt));
            }
            EventKind::Response(response) => {
                for element in &response.elements {
                    match element {
                        ResponseElement::Think(entries) => {
                            let texts = entries.iter().map(|entry| entry.value.clone());
                            view.seen.push(Seen::Thought(texts.collect()));
                        }
                        ResponseElement::Assistant(entries) => {
                            // The client of ACP compares them by itself, too.
                            let is_block = |kind: &BlockKind| {
                                face == Face::Acp
                                    && !matches!(
                                        kind,
                                        BlockKind::Text(_)
                                            | BlockKind::Diff { .. }
                                            | BlockKind::Plan(_)
                                    )
                            };
                            let entries = entries.iter().map(|entry| &entry.value);
                            let texts = entries.filter(|block| !is_block(&block.kind));
                            view.seen
                                .push(Seen::Message(texts.map(block_text).collect()));
                        }
                        ResponseElement::Error(_) => {}
                    }
                }
            }
            EventKind::ToolUse(call) => {
                view.seen.push(Seen::Call {
                    id: call.call_id.clone(),
                    tool: call.tool.clone(),
                    args: (*call.args).clone(),
                });
                if call.status != ToolStatus::Open {
                    let text = scripted_text(call.result.as_ref()).unwrap_or_default();
                    let is_ok = call.status == ToolStatus::Ok;
                    view.results.insert(call.call_id.clone(), (is_ok, text));
                }
            }
            EventKind::AgentEdits(edit) if edit.has_text() => view.seen.push(Seen::Edit {
                id: edit.call_id.clone(),
                path: edit.path.clone(),
            }),
            _ => {}
        }
    }
    view
}

/// The text that a call is scripted to give, if it is one text.
fn scripted_text(result: Option<&ExpectedResult>) -> Option<String> {
    match result? {
        ExpectedResult::Value(json) | ExpectedResult::Json(json) => {
            Some(as_text(json).into_owned())
        }
        ExpectedResult::Contains(_) | ExpectedResult::Regex(_) => None,
    }
}

/// What events of a trace are to a client.
fn view_of(events: impl IntoIterator<Item = EventData>) -> View {
    let mut view = View::default();
    for event in events {
        match event {
            EventData::MessageReceived(message) => view.seen.push(Seen::Prompt(message.content)),
            EventData::Message(message) if message.role == "user" => {
                view.seen.push(Seen::Prompt(message.content));
            }
            EventData::Message(message) => view.seen.push(Seen::Message(message.content)),
            EventData::Thought(thought) => view.seen.push(Seen::Thought(thought.text)),
            EventData::ToolCall(call) => view.seen.push(Seen::Call {
                id: call.call_id.to_string(),
                tool: call.tool.into_owned(),
                args: (*call.args).clone(),
            }),
            EventData::ToolResult(result) => {
                let text = as_text(&result.result).into_owned();
                view.results
                    .insert(result.call_id.to_string(), (result.success, text));
            }
            _ => {}
        }
    }
    view
}

/// A view without what differs between faces: pieces of a text are one, white space does not count, tools have their
/// canonical names, and thoughts are left out where the face has none.
fn normalised(view: View, face: Face, timeline: &Timeline) -> View {
    let edits: BTreeMap<&str, &str> = timeline
        .events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::AgentEdits(edit) => Some((edit.call_id.as_str(), edit.path.as_str())),
            _ => None,
        })
        .collect();
    let counted: Vec<&str> = timeline
        .events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::AgentEdits(edit) if !edit.has_text() => Some(edit.call_id.as_str()),
            _ => None,
        })
        .collect();
    let squeezed = |text: &str| text.split_whitespace().collect::<String>();
    // Keys for a terminal are prompts where there is none.
    let keys: Vec<String> = timeline
        .inputs()
        .filter(|input| input.target.is_some())
        .filter_map(|input| Some(squeezed(&input.prompt_text()?).to_lowercase()))
        .collect();
    let mut seen: Vec<Seen> = Vec::new();
    for one in view.seen {
        let one = match one {
            Seen::Thought(_) if !face.carries_thoughts() => continue,
            Seen::Prompt(text) => match squeezed(&text).to_lowercase() {
                // Blocks alone are shown nowhere as a text.
                text if text.is_empty() || keys.contains(&text) => continue,
                text => Seen::Prompt(text),
            },
            Seen::Thought(text) => Seen::Thought(squeezed(&text)),
            Seen::Message(text) => Seen::Message(squeezed(&text)),
            Seen::Call { id, .. } | Seen::Edit { id, .. } if counted.contains(&id.as_str()) => {
                continue;
            }
            Seen::Call { id, tool, args } => match edits.get(id.as_str()) {
                Some(path) => Seen::Edit {
                    id,
                    path: (*path).to_owned(),
                },
                None => {
                    let known = AbstractTool::meant_by(&tool).map(|tool| tool.name.to_owned());
                    Seen::Call {
                        tool: known.unwrap_or(tool),
                        id,
                        args,
                    }
                }
            },
            edit => edit,
        };
        match (seen.last_mut(), one) {
            (_, Seen::Message(text) | Seen::Thought(text)) if text.is_empty() => {}
            (Some(Seen::Message(before)), Seen::Message(text))
            | (Some(Seen::Thought(before)), Seen::Thought(text)) => before.push_str(&text),
            (_, one) => seen.push(one),
        }
    }
    View {
        seen,
        results: view.results,
    }
}

/// The first difference between what was expected and what was seen, in words.
fn difference(expected: &View, view: &View, timeline: &Timeline, face: Face) -> Option<String> {
    let count = expected.seen.len().max(view.seen.len());
    for nth in 0..count {
        let (wanted, found) = (expected.seen.get(nth), view.seen.get(nth));
        let is_same = match (wanted, found) {
            (
                Some(Seen::Call { id, tool, args }),
                Some(Seen::Call {
                    id: other_id,
                    tool: other_tool,
                    args: other_args,
                }),
            ) => {
                let written = written_args(timeline, id);
                let is_args = is_same_json(args, other_args)
                    || written.is_some_and(|written| is_same_json(&written, other_args));
                (id == other_id || face.player() == PlayerKind::Llm)
                    && tool == other_tool
                    && is_args
            }
            (wanted, found) => wanted == found,
        };
        if !is_same {
            let words =
                |seen: Option<&Seen>| seen.map_or("nothing".to_owned(), ToString::to_string);
            return Some(format!(
                "at {}: expected {}, got {}",
                nth + 1,
                words(wanted),
                words(found)
            ));
        }
    }
    // The results that a model gets are those that its client was told to give.
    if face.player() == PlayerKind::Llm {
        return None;
    }
    for (id, (is_ok, text)) in &expected.results {
        let Some((found_ok, found)) = view.results.get(id) else {
            return Some(format!("the call {id} has no result"));
        };
        if is_ok != found_ok {
            let word = |is_ok: bool| if is_ok { "ok" } else { "error" };
            return Some(format!(
                "the call {id} ended with {}, expected {}",
                word(*found_ok),
                word(*is_ok)
            ));
        }
        let squeezed = |text: &str| text.split_whitespace().collect::<String>();
        // What is printed while a tool runs is its result in ACP.
        let prints = face == Face::Acp && has_output(timeline, id);
        if !text.is_empty() && !prints && squeezed(text) != squeezed(found) {
            return Some(format!(
                "the result of the call {id} is {:?}, expected {:?}",
                cut(found, 200),
                cut(text, 200)
            ));
        }
    }
    None
}

/// Whether a call prints something while it runs.
fn has_output(timeline: &Timeline, id: &str) -> bool {
    timeline.events.iter().any(|event| match &event.kind {
        EventKind::ToolUse(call) => {
            call.call_id == id && (call.execution.is_some() || !call.progress.is_empty())
        }
        _ => false,
    })
}

/// The arguments of a call as their author wrote them.
fn written_args(timeline: &Timeline, id: &str) -> Option<Json> {
    timeline.events.iter().find_map(|event| match &event.kind {
        EventKind::ToolUse(call) if call.call_id == id => {
            call.written_args.as_ref().map(|args| (**args).clone())
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use cuecard_runtime::timelines::read_timeline;
    use cuecard_source::SourceFile;
    use cuecard_timeline::format::Symbols;
    use proptest::prelude::*;

    use super::*;

    const TIMELINE: &str = "name: a
timeline:
  - userInputs: [[0, Do it]]
  - llmResponse: [{think: [[0, First]]}, {assistant: [[0, I do it]]}]
  - runCmd: {cmd: make}
    result: made
  - readFile: {path: a.txt}
    status: error
  - agentEdits: {path: b.txt, newText: b}
  - llmResponse: [{assistant: [[0, Done]]}]
  - userInputs: [[0, Thanks]]
  - llmResponse: [{assistant: [[0, Welcome]]}]
";

    fn timeline() -> Timeline {
        let source = SourceFile::new("a.yaml", TIMELINE);
        let read = read_timeline(&source, std::path::Path::new("."), &Symbols::new());
        read.timeline.expect("a timeline")
    }

    fn compared(view: View, face: Face) -> Option<String> {
        let timeline = timeline();
        let expected = normalised(expected(&timeline, face), face, &timeline);
        difference(
            &expected,
            &normalised(view, face, &timeline),
            &timeline,
            face,
        )
    }

    #[test]
    fn what_the_timeline_says_is_no_difference() {
        for face in Face::ALL {
            assert_eq!(compared(expected(&timeline(), face), face), None);
        }
    }

    proptest! {
        /// A client that sees something else, less, more or in another order is found out.
        #[test]
        fn whatever_is_changed_is_found(nth in 0_usize..9, other in 0_usize..9, change in 0_usize..5, face in 0_usize..7) {
            let face = Face::ALL[face];
            let mut view = expected(&timeline(), face);
            prop_assume!(view.seen.len() == 9);
            let is_thought = |seen: &Seen| matches!(seen, Seen::Thought(_));
            // What a face does not carry is no difference there.
            prop_assume!(face.carries_thoughts() || !(is_thought(&view.seen[nth]) || is_thought(&view.seen[other])));
            match change {
                0 => drop(view.seen.remove(nth)),
                1 => {
                    prop_assume!(nth != other);
                    view.seen.swap(nth, other);
                }
                2 => {
                    let again = view.seen[nth].clone();
                    view.seen.insert(other, again);
                }
                3 => match &mut view.seen[nth] {
                    Seen::Prompt(text) | Seen::Thought(text) | Seen::Message(text) => text.push('!'),
                    Seen::Call { args, .. } => args["more"] = Json::from(1),
                    Seen::Edit { path, .. } => path.push('!'),
                },
                _ => {
                    prop_assume!(face.player() != PlayerKind::Llm);
                    let ids: Vec<String> = view.results.keys().cloned().collect();
                    let result = view.results.get_mut(&ids[nth % ids.len()]).expect("a result");
                    result.0 = !result.0;
                }
            }
            prop_assert!(compared(view, face).is_some());
        }
    }
}
