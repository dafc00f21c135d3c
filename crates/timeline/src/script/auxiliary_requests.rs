//! Requests beside the conversation: probes, and calls for a title or a summary. They consume nothing.

use std::sync::{Arc, LazyLock};

use regex::Regex;

use super::distance::{Measured, distance};
use super::request::{Part, Request, Role};
use super::rounds::{Fit, Rounds, fit};
use super::smallest::smallest_value;
use super::text::normalise;
use crate::model::{EventKind, RequestMatch, SideCall, Timeline};
use cuecard_source::value::{Json, as_text};

/// What agents ask of a small model beside the conversation: a title or a summary of it, or of what follows. One of a
/// file is work.
static PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    patterns(&[
        r"(?i)\b(?:generates?|writes?|creates?|provides?|produces?|gives?|come up with|reply with|respond with)\b[^.\n]{0,80}\b(?:title|topic|headline|summary|description)s?\b[^.\n]{0,120}(?:\b(?:conversation|chat|session|thread|dialogue|message)s?\b|:\s)",
        r"(?i)\bsummari[sz]e (?:this|the|our) (?:\w+ )?(?:conversation|chat|session|thread)\b",
        // Codex, before what the user said.
        r"(?i)^generate a concise, single-line task title of at most \d+ characters\b",
    ])
});

/// What the system texts of agents say when they ask for a title, as no application does.
static TITLES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    patterns(&[
        r"(?i)^\W*you are a title generator\b",
        r"(?i)^\W*you are a title generator\. you output only a thread title\b",
        r"(?i)\bsummari[sz]e this coding conversation\b",
        r"(?i)\btitle \(3-7 words\) that captures the main topic or goal of this coding session\b",
        r"(?i)\bindicates a new conversation topic\b",
    ])
});

/// The system texts of agents that work beside the conversation, with tools of their own: Qwen Code has its memory kept
/// by one.
static BACKGROUND: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    patterns(&[r"(?i)^you are now acting as the [a-z -]{0,40}memory [a-z -]{0,40}(?:sub)?agent\b"])
});

fn patterns(texts: &[&str]) -> Vec<Regex> {
    let pattern = |text: &&str| Regex::new(text).expect("the pattern is fixed");
    texts.iter().map(pattern).collect()
}

/// What is answered where nothing else is said.
const DEFAULT_REPLY: &str = "OK";

/// What clients say when they ask for one token to see whether anybody answers. Who asks for one with other words wants
/// it: a yes or no, a class.
const PROBES: &[&str] = &["quota", "test", "ping", "hi", "hello", "."];

/// Only so much of a text is looked at.
const MAX_LOOKED_AT: usize = 20_000;

/// What is beside the conversation, for one scenario or for a set of them.
#[derive(Debug, Clone)]
pub struct AuxiliaryRequests {
    /// Whether nothing is beside it (`sideCalls: []`).
    is_off: bool,
    /// What belongs to a conversation by the conditions of a scenario.
    conditions: Arc<[RequestMatch]>,
    calls: Vec<SideCall>,
    /// The effective prompts: what is near to one of them belongs to the conversation.
    prompts: Arc<[Prompt]>,
    /// All that users say, as normal texts: what is asked for beside a conversation holds some of it.
    inputs: Arc<[String]>,
    /// How near that is.
    max_distance: f64,
    /// Whether the one scenario makes calls, for which tools must be advertised.
    makes_calls: bool,
    /// Whether what users say can't be known: by a recorder, before a conversation has begun, and where any prompt fits.
    is_open: bool,
}

#[derive(Debug)]
struct Prompt {
    normal: Measured,
    /// Whether its scenario makes calls.
    makes_calls: bool,
}

/// The answer to a request beside the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideReply {
    /// Its text.
    pub text: String,
    /// Why it is beside the conversation, for the log.
    pub why: String,
    /// By what it is known.
    pub by: SideText,
}

/// By what a request beside the conversation is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SideText {
    /// It asks for one token.
    Probe,
    /// Its system text is that of an agent that works beside conversations, and no application's.
    Agent,
    /// Its system text fits a pattern.
    System,
    /// What the user said last fits one.
    User,
}

impl AuxiliaryRequests {
    /// The side lane of a set of scenarios. What is not farther than `max_distance` from a prompt is no side call.
    pub fn new<'a>(timelines: impl IntoIterator<Item = &'a Timeline>, max_distance: f64) -> Self {
        // Not while the first request waits.
        LazyLock::force(&PATTERNS);
        LazyLock::force(&TITLES);
        LazyLock::force(&BACKGROUND);
        let mut calls = Vec::new();
        let mut prompts = Vec::new();
        let mut inputs = Vec::new();
        let mut is_open = false;
        let mut is_off = false;
        let mut conditions = Vec::new();
        for timeline in timelines {
            is_off |= timeline.server.has_no_side;
            conditions.extend(timeline.request_match.clone());
            is_open |= timeline.server.any_prompt;
            inputs.extend(timeline.prompts().map(|prompt| normalise(&prompt)));
            calls.extend(timeline.server.side_calls.iter().cloned());
            prompts.extend(timeline.effective_prompt().map(|prompt| Prompt {
                normal: Measured::new(normalise(&prompt)),
                makes_calls: makes_calls(timeline),
            }));
        }
        prompts.retain(|prompt| prompt.normal.length > 0);
        Self {
            is_off,
            conditions: conditions.into(),
            calls,
            prompts: prompts.into(),
            inputs: inputs.into(),
            max_distance,
            makes_calls: false,
            is_open,
        }
    }

    /// The same for a recorder.
    #[must_use]
    pub fn recording(self) -> Self {
        Self {
            is_open: true,
            ..self
        }
    }

    /// The same prompts with the calls of one scenario only.
    #[must_use]
    pub fn with_calls_of(&self, timeline: &Timeline) -> Self {
        Self {
            is_off: timeline.server.has_no_side,
            calls: timeline.server.side_calls.clone(),
            makes_calls: makes_calls(timeline),
            is_open: timeline.server.any_prompt,
            ..self.clone()
        }
    }

    /// The answer to `request`, if it is beside the conversation. `expected` is the text that the script waits for.
    pub fn reply(&self, request: &Request, expected: Option<&str>) -> Option<SideReply> {
        let is_wanted = |condition: &RequestMatch| {
            (condition.system.is_some() || condition.text.is_some())
                && condition.unmet(request).is_none()
        };
        if self.is_off || self.conditions.iter().any(is_wanted) {
            return None;
        }
        // Who asks for one token in a conversation, with tools, or in other words, asks for an answer.
        let asked = Rounds::of(request).last_text();
        let may_be_probe = request.max_tokens == Some(1)
            && PROBES.contains(&normalise(asked).as_str())
            && request.tools.is_empty()
            && request
                .history
                .iter()
                .all(|message| message.role == Role::User);
        if may_be_probe && !self.is_prompt(asked, expected, true) {
            return Some(reply(
                request,
                None,
                SideText::Probe,
                "a probe for one token".into(),
            ));
        }
        let system = start_of(&request.system);
        if BACKGROUND.iter().any(|pattern| pattern.is_match(system)) {
            let why = "the system text is that of an agent in the background";
            return Some(reply(request, None, SideText::Agent, why.into()));
        }
        if !request.tools.is_empty() {
            return None;
        }
        let rounds = Rounds::of(request);
        let said = rounds.last_text();
        // Whatever the words: an agent whose conversation has tools wants nothing but a title for it.
        let wants_title = request.response_schema.as_ref().is_some_and(asks_for_title);
        let works = self.makes_calls || self.prompts.iter().any(|prompt| prompt.makes_calls);
        if wants_title
            && works
            && rounds.answered.is_empty()
            && (self.is_open || self.concerns(request))
            && !self.is_prompt(said, expected, true)
        {
            let why = "the answer is to be a title as JSON";
            return Some(reply(request, None, SideText::User, why.into()));
        }
        let places = [
            ("system text", SideText::System, request.system.as_str()),
            ("user text", SideText::User, said),
        ];
        for (place, by, text) in places {
            let text = start_of(text);
            let fits = |pattern: &Regex| {
                pattern.is_match(text)
                    && (by == SideText::System || !self.belongs(text, expected, pattern))
            };
            // An application may have such a system text too, and a user may ask for a summary in a conversation. Beside
            // it is what concerns it, and is no part of it.
            let is_beside = || match by {
                _ if !self.is_open && !self.concerns(request) => false,
                SideText::System => is_of_agent(text) || !self.is_prompt(said, expected, false),
                _ => rounds.answered.is_empty() || self.makes_calls,
            };
            let scripted = self.calls.iter().find(|call| {
                let is_model = call
                    .model
                    .as_ref()
                    .is_none_or(|model| *model == request.model);
                is_model && fits(&call.pattern)
            });
            if let Some(call) = scripted {
                let why = format!("the {place} fits `{}` of `sideCalls`", call.pattern);
                return Some(reply(request, Some(&call.reply), by, why));
            }
            let asks = PATTERNS.iter().any(fits) || (by == SideText::System && is_title(text));
            if asks && is_beside() {
                let why = format!("the {place} asks for a title, topic or summary");
                let by = match by {
                    SideText::System if is_of_agent(text) => SideText::Agent,
                    by => by,
                };
                return Some(reply(request, None, by, why));
            }
        }
        None
    }

    /// Whether a text of the user's may belong to the conversation although it fits a pattern: because it is near to
    /// what the script says. A text that holds that belongs there if the pattern fits what the script says, and not
    /// only what stands around it.
    fn belongs(&self, text: &str, expected: Option<&str>, pattern: &Regex) -> bool {
        let said = Measured::new(normalise(text));
        let is_near = |scripted: &Measured| match fit(&said.text, &scripted.text) {
            Some(Fit::Equal) => true,
            Some(Fit::Contained) => pattern.is_match(&scripted.text),
            None => distance(&said, scripted, self.max_distance).is_some(),
        };
        let expected = expected.map(|text| Measured::new(text.to_owned()));
        self.prompts.iter().any(|prompt| is_near(&prompt.normal))
            || expected.is_some_and(|text| is_near(&text))
    }

    /// Whether a request holds what a user says in a script.
    pub(super) fn concerns(&self, request: &Request) -> bool {
        let parts = request.history.iter().flat_map(|message| &message.parts);
        let texts = parts.filter_map(|part| match part {
            Part::Text(text) => Some(start_of(text)),
            _ => None,
        });
        texts.chain([start_of(&request.system)]).any(|text| {
            let text = normalise(text);
            let holds = |input: &String| fit(&text, input).is_some();
            self.inputs.iter().any(holds)
        })
    }

    /// Whether a text of the user's is what a script says; `with_calls`, if that may be a script with calls.
    fn is_prompt(&self, text: &str, expected: Option<&str>, with_calls: bool) -> bool {
        let said = normalise(text);
        let may_be = |makes_calls: bool| with_calls || !makes_calls;
        let mut prompts = self
            .prompts
            .iter()
            .filter(|prompt| may_be(prompt.makes_calls));
        prompts.any(|prompt| prompt.normal.text == said)
            || (expected == Some(said.as_str()) && may_be(self.makes_calls))
    }
}

/// Whether the agent is to call tools.
fn makes_calls(timeline: &Timeline) -> bool {
    timeline.events.iter().any(|event| match &event.kind {
        EventKind::ToolUse(_) => true,
        EventKind::AgentEdits(edits) => edits.has_text(),
        _ => false,
    })
}

fn reply(request: &Request, scripted: Option<&Json>, by: SideText, why: String) -> SideReply {
    let text = match (scripted, &request.response_schema) {
        (Some(reply), _) => as_text(reply).into_owned(),
        (None, Some(schema)) => smallest_value(schema).to_string(),
        (None, None) => DEFAULT_REPLY.to_owned(),
    };
    SideReply { text, why, by }
}

/// Whether a schema has nothing but a title.
fn asks_for_title(schema: &Json) -> bool {
    let properties = schema["properties"].as_object();
    properties.is_some_and(|properties| properties.keys().eq(["title"]))
}

fn is_title(system: &str) -> bool {
    TITLES.iter().any(|pattern| pattern.is_match(system))
}

/// Whether a system text is word for word that of an agent that wants a title, and no application's.
fn is_of_agent(system: &str) -> bool {
    TITLES[1..].iter().any(|pattern| pattern.is_match(system))
}

fn start_of(text: &str) -> &str {
    let mut end = text.len().min(MAX_LOOKED_AT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::request::{Endpoint, Message};
    use super::super::selection::DEFAULT_MAX_DISTANCE;
    use super::super::testing::{ask, call, timeline};
    use super::*;
    use crate::profiles::AdvertisedTool;
    use cuecard_source::Span;

    /// That of a scenario with this prompt, in which the agent calls a tool.
    fn lane(prompt: &str) -> AuxiliaryRequests {
        let events = vec![
            ask(prompt),
            call("call_1", "runCmd", json!({"cmd": "make"})),
        ];
        AuxiliaryRequests::new([&timeline(events)], DEFAULT_MAX_DISTANCE)
    }

    fn request(system: &str, said: &str) -> Request {
        Request {
            system: system.into(),
            history: vec![Message::user(said)],
            ..Request::new(Endpoint::Chat)
        }
    }

    #[test]
    fn calls_for_a_title_are_beside_the_conversation() {
        let lane = lane("Fix the test");
        let title = request("You are a title generator.", "Fix the test");
        assert_eq!(lane.reply(&title, None).expect("beside").text, "OK");
        // An application may say so of what it does; but not in all of an agent's words.
        let talk =
            AuxiliaryRequests::new([&timeline(vec![ask("Fix the test")])], DEFAULT_MAX_DISTANCE);
        assert!(talk.reply(&title, None).is_none());
        let of_agent = "You are a title generator. You output ONLY a thread title. Nothing else.";
        assert!(
            talk.reply(&request(of_agent, "Fix the test"), None)
                .is_some()
        );
        let codex = "Generate a concise, single-line task title of at most 36 characters and under five words where possible. Start with an imperative verb.\n\nFix the test";
        assert!(talk.reply(&request("", codex), None).is_some());
        let title = request("", "Generate a short title for: Fix the test");
        assert!(lane.reply(&title, None).is_some());
        let topic = request(
            "Analyze if this message indicates a new conversation topic.",
            "Fix the test",
        );
        assert!(lane.reply(&topic, None).is_some());
        assert!(lane.reply(&request("", "Fix the test"), None).is_none());
        let with_tools = Request {
            tools: vec![AdvertisedTool::function("Bash", json!({}))],
            ..title
        };
        assert!(lane.reply(&with_tools, None).is_none());
    }

    #[test]
    fn a_title_as_json_is_beside_the_conversation_of_an_agent() {
        let schema = json!({"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]});
        let mut asked = request(
            "",
            "Name the task of this user.\n\nUser prompt:\nFix the test",
        );
        asked.response_schema = Some(schema.clone());
        let lane = lane("Fix the test");
        assert_eq!(
            lane.reply(&asked, None).expect("beside").text,
            "{\"title\":\"\"}"
        );
        // What the script waits for, and an application that writes titles.
        let mut prompt = request("", "Fix the test");
        prompt.response_schema = Some(schema);
        assert!(lane.reply(&prompt, None).is_none());
        let talk =
            AuxiliaryRequests::new([&timeline(vec![ask("Fix the test")])], DEFAULT_MAX_DISTANCE);
        assert!(talk.reply(&asked, None).is_none());
        asked.history = vec![Message::user("Something else")];
        assert!(lane.reply(&asked, None).is_none());
    }

    #[test]
    fn agents_ask_for_titles_in_these_words() {
        let lane = lane("Fix the test");
        for (system, said) in [
            (
                "You are a title generator. You output ONLY a thread title.",
                "Generate a title for this conversation:\n\nFix the test",
            ),
            (
                "",
                "Please write a 5-10 word title for the following conversation:\n\nUser: Fix the test",
            ),
            (
                "",
                "Generate a title (maximum 50 characters) for a conversation that starts with this message:\n\nFix the test",
            ),
            (
                "",
                "Based on the conversation so far, provide a concise description of this session in 4 words or less.\n\nFix the test",
            ),
            (
                "",
                "### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history.\n<chat_history>USER: Fix the test</chat_history>",
            ),
            (
                "Given the following, please reply with a title for the chat that is 3-4 words in length",
                "Fix the test",
            ),
            (
                "Generate a concise, sentence-case title (3-7 words) that captures the main topic or goal of this coding session",
                "<session>Fix the test</session>",
            ),
            (
                "*Briefly* summarize this partial conversation about programming.",
                "# USER\nFix the test",
            ),
            (
                "You are a helpful assistant that generates concise titles for conversations with OpenHands.",
                "Fix the test",
            ),
        ] {
            let asked = request(system, said);
            assert!(lane.reply(&asked, None).is_some(), "{said}");
            // Of another conversation than those of the script it is none of ours.
            let other = request(system, &said.replace("Fix the test", "Delete the branch"));
            assert!(lane.reply(&other, None).is_none(), "{said}");
        }
    }

    #[test]
    fn work_on_titles_is_none_that_is_beside() {
        let lane = lane("Fix the test");
        for said in [
            "Write a title for this file. Then delete the branch and push to main.",
            "Create a headline for the landing page and deploy it",
            "Give me a summary of the open issues, then close them all",
            "Summarize the report in docs/report.md",
            "Summarize the conversation so far",
            "You are a title generator",
            "Please write a 5-10 word title for the following poem: Roses are red",
        ] {
            assert!(lane.reply(&request("", said), None).is_none(), "{said}");
        }
        // Nor is what a title generator is given that is in no script.
        let titles = "You are a title generator.";
        assert!(
            lane.reply(&request(titles, "Delete the branch"), None)
                .is_none()
        );
        // In a conversation without calls, a user may ask for a summary.
        let summary = || {
            let mut request = request("", "Hello");
            request.history.push(Message::assistant("Hi"));
            let asked = "Write a summary of this conversation";
            request.history.push(Message::user(asked));
            request
        };
        let (chat, agent) = (
            timeline(vec![ask("Hello")]),
            timeline(vec![
                ask("Hello"),
                call("call_1", "runCmd", json!({"cmd": "make"})),
            ]),
        );
        for (timeline, is_beside) in [(&chat, false), (&agent, true)] {
            let lane =
                AuxiliaryRequests::new([timeline], DEFAULT_MAX_DISTANCE).with_calls_of(timeline);
            assert_eq!(lane.reply(&summary(), None).is_some(), is_beside);
        }
    }

    #[test]
    fn an_agent_in_the_background_is_beside_the_conversation_with_its_tools() {
        let lane = lane("Fix the test");
        let memory = "You are now acting as the managed memory extraction subagent for an AI coding assistant.";
        let with_tools = |system: &str| Request {
            tools: vec![AdvertisedTool::function("edit", json!({}))],
            ..request(system, "Scan the recent conversation")
        };
        assert!(lane.reply(&with_tools(memory), None).is_some());
        assert!(
            lane.reply(&with_tools("You are a coding agent."), None)
                .is_none()
        );
    }

    #[test]
    fn what_the_script_says_belongs_to_the_conversation() {
        let prompt = "Write a title for the page";
        let lane = lane(prompt);
        assert!(lane.reply(&request("", prompt), None).is_none());
        let other = "Summarize this conversation: Write a title for the page";
        assert!(lane.reply(&request("", other), None).is_some());
        assert!(
            lane.reply(
                &request("", other),
                Some("summarize this conversation: write a title for the page")
            )
            .is_none()
        );
    }

    #[test]
    fn what_is_near_to_a_prompt_is_a_miss_rather_than_beside_it() {
        let lane = lane("Write a title for the page of the parser");
        let near = request("", "Write a title for the page of the printer");
        assert!(lane.reply(&near, None).is_none());
        let far = request(
            "",
            "Generate a short topic for the conversation: Write a title for the page of the parser, as short as can be",
        );
        assert!(lane.reply(&far, None).is_some());
    }

    #[test]
    fn an_application_may_be_told_to_write_summaries() {
        let system = "Write a summary of what the user says.";
        let events = vec![ask("The test fails since Monday")];
        let lane = AuxiliaryRequests::new([&timeline(events)], DEFAULT_MAX_DISTANCE);
        let asked = request(system, "The test fails since Monday");
        assert!(lane.reply(&asked, None).is_none());
        assert!(lane.reply(&request(system, "Another text"), None).is_none());
        // The same words with one token are no probe.
        let short = Request {
            max_tokens: Some(1),
            ..request("", "The test fails since Monday")
        };
        assert!(lane.reply(&short, None).is_none());
    }

    #[test]
    fn a_probe_is_answered_and_a_schema_is_satisfied() {
        let lane = AuxiliaryRequests::new([], DEFAULT_MAX_DISTANCE).recording();
        let probe = Request {
            max_tokens: Some(1),
            ..request("", "quota")
        };
        assert!(lane.reply(&probe, None).is_some());
        let sentence = Request {
            max_tokens: Some(1),
            ..request("", "Fix the login bug in auth.py, then push to main")
        };
        assert!(lane.reply(&sentence, None).is_none());
        let mut in_conversation = probe.clone();
        in_conversation.history.push(Message::assistant("ok"));
        in_conversation.history.push(Message::user("go on"));
        assert!(lane.reply(&in_conversation, None).is_none());
        let with_tools = Request {
            tools: vec![AdvertisedTool::function("f", json!({}))],
            ..probe
        };
        assert!(lane.reply(&with_tools, None).is_none());
        let schema = json!({"type": "object", "required": ["title"], "properties": {"title": {"type": "string"}}});
        let structured = Request {
            response_schema: Some(schema),
            ..request(
                "You are a title generator.",
                "Generate a title for this conversation:\n",
            )
        };
        let reply = lane.reply(&structured, None).expect("beside");
        assert_eq!(reply.text, r#"{"title":""}"#);
    }

    #[test]
    fn a_scenario_has_patterns_of_its_own() {
        let mut scripted = timeline(vec![ask("x")]);
        scripted.server.side_calls.push(SideCall {
            pattern: Regex::new("^Name it").expect("a pattern"),
            model: Some("small".into()),
            reply: json!({"name": "it"}),
            span: Span::default(),
        });
        let lane = AuxiliaryRequests::new([&scripted], DEFAULT_MAX_DISTANCE);
        let named = Request {
            model: "small".into(),
            ..request("", "Name it now")
        };
        assert_eq!(
            lane.reply(&named, None).expect("beside").text,
            r#"{"name":"it"}"#
        );
        assert!(lane.reply(&request("", "Name it now"), None).is_none());
    }
}
