//! The history of a request as rounds: what came from the user's side, and what the model answered.

use super::request::{Part, Request, RequestedBlock, RequestedCall, RequestedResult, Role};
use super::text::{contains_words, is_reminder, normalise, squeeze};

/// The rounds of a history; the last one waits for its answer.
pub(super) struct Rounds<'r> {
    pub(super) answered: Vec<(UserSide<'r>, Said<'r>)>,
    pub(super) last: UserSide<'r>,
}

/// What came from the user's side between two answers.
#[derive(Default)]
pub(super) struct UserSide<'r> {
    /// What the user said, reminders aside, unless there is nothing else.
    pub(super) texts: Vec<&'r str>,
    /// Results of tools.
    pub(super) results: Vec<&'r RequestedResult>,
    /// Images and other things that are no text.
    pub(super) blocks: Vec<&'r RequestedBlock>,
}

/// What the model answered, as the client remembers it.
#[derive(Default)]
pub(super) struct Said<'r> {
    pub(super) text: String,
    pub(super) squeezed: String,
    pub(super) calls: Vec<&'r RequestedCall>,
    /// The texts between the calls: before the first one, behind it, and so on.
    pub(super) texts: Vec<String>,
    /// The images among them.
    pub(super) images: Vec<&'r RequestedBlock>,
}

impl<'r> Rounds<'r> {
    pub(super) fn of(request: &'r Request) -> Self {
        let mut rounds = Self {
            answered: Vec::new(),
            last: UserSide::default(),
        };
        let mut said: Option<Said<'r>> = None;
        for message in &request.history {
            for part in &message.parts {
                match (message.role, part) {
                    (_, Part::Thinking(_)) => {}
                    (_, Part::Call(call)) => {
                        let said = said.get_or_insert_default();
                        said.calls.push(call);
                        said.push("");
                    }
                    (Role::Assistant, Part::Text(text)) => {
                        said.get_or_insert_default().push(text);
                    }
                    (Role::Assistant, Part::Block(block)) if block.text.is_empty() => {}
                    (Role::Assistant, Part::Block(block)) => {
                        let said = said.get_or_insert_default();
                        said.push(&block.text);
                        said.images.push(block);
                    }
                    (Role::User, Part::Text(text)) => {
                        rounds.end(&mut said);
                        rounds.last.texts.push(text);
                    }
                    (_, Part::Result(result)) => {
                        rounds.end(&mut said);
                        rounds.last.results.push(result);
                    }
                    (Role::User, Part::Block(block)) => {
                        rounds.end(&mut said);
                        rounds.last.blocks.push(block);
                    }
                }
            }
            // An empty message is an answer too.
            if message.role == Role::Assistant && message.parts.is_empty() {
                said.get_or_insert_default();
            }
        }
        rounds.end(&mut said);
        rounds.last.leave_reminders_out();
        rounds
    }

    /// Ends the round whose answer is complete.
    fn end(&mut self, said: &mut Option<Said<'r>>) {
        if let Some(said) = said.take() {
            let mut side = std::mem::take(&mut self.last);
            side.leave_reminders_out();
            let whole = Said {
                images: said.images,
                ..Said::new(said.texts, said.calls)
            };
            self.answered.push((side, whole));
        }
    }

    /// What the user said last; empty if nothing was said.
    pub(super) fn last_text(&self) -> &'r str {
        self.last.texts.last().copied().unwrap_or_default()
    }

    /// What the user said first.
    pub(super) fn first(&self) -> &UserSide<'r> {
        self.answered.first().map_or(&self.last, |(side, _)| side)
    }
}

impl<'r> Said<'r> {
    /// An answer with these texts between its calls.
    pub(super) fn new(texts: Vec<String>, calls: Vec<&'r RequestedCall>) -> Self {
        let text = texts.concat();
        Self {
            squeezed: squeeze(&text),
            text,
            calls,
            texts,
            images: Vec::new(),
        }
    }

    /// Adds a text behind the last call.
    fn push(&mut self, text: &str) {
        self.texts.resize(self.calls.len() + 1, String::new());
        self.texts[self.calls.len()].push_str(text);
    }
}

impl UserSide<'_> {
    fn leave_reminders_out(&mut self) {
        if self.texts.iter().any(|text| !is_reminder(text)) {
            self.texts.retain(|text| !is_reminder(text));
        }
    }

    /// Each text for comparing, in order, and all of them together if there are several.
    pub(super) fn normal_texts(&self) -> NormalTexts {
        let each: Vec<String> = self.texts.iter().map(|text| normalise(text)).collect();
        let joined = (each.len() > 1).then(|| each.join(" "));
        NormalTexts { each, joined }
    }

    /// What arrived, for people.
    pub(super) fn describe(&self) -> String {
        let mut parts = Vec::new();
        if !self.results.is_empty() {
            let ids: Vec<&str> = self
                .results
                .iter()
                .map(|result| match result.call_id.as_str() {
                    "" => result.name.as_str(),
                    id => id,
                })
                .collect();
            parts.push(format!("results for {}", list(&ids)));
        }
        if let Some(text) = self.texts.last() {
            parts.push(format!("the user's text {}", quote(text)));
        }
        for block in &self.blocks {
            parts.push(block.describe());
        }
        match parts.is_empty() {
            true => {
                "nothing behind the model's last answer, and one that a client begins is not served"
                    .into()
            }
            false => parts.join(", and "),
        }
    }
}

/// Texts of one round for comparing.
pub(super) struct NormalTexts {
    each: Vec<String>,
    joined: Option<String>,
}

/// How well a text fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    /// It is contained in what arrived.
    Contained,
    /// It is all that arrived.
    Equal,
}

impl NormalTexts {
    pub(super) fn last(&self) -> Option<&str> {
        self.each.last().map(String::as_str)
    }

    /// How well what was said last fits `scripted`, a normal text: the last text, or all texts together.
    pub(super) fn fit_of_last(&self, scripted: &str) -> Option<Fit> {
        let last = self.each.last().map(String::as_str);
        let fits = [last, self.joined.as_deref()].into_iter().flatten();
        fits.filter_map(|text| fit(text, scripted)).max()
    }

    /// The first text that is said beside `prompts`, normal texts: each of the texts, or all together, must be one.
    pub(super) fn beside(&self, prompts: &[&str]) -> Option<&str> {
        let is_prompt = |text: &str| prompts.contains(&text);
        if self.joined.as_deref().is_some_and(is_prompt) {
            return None;
        }
        self.each
            .iter()
            .map(String::as_str)
            .find(|text| !is_prompt(text))
    }

    /// Whether this holds for one of the texts.
    pub(super) fn any(&self, holds: impl Fn(&str) -> bool) -> bool {
        self.each.iter().any(|text| holds(text))
    }

    /// Whether one of the texts is `scripted`, a normal text.
    pub(super) fn holds(&self, scripted: &str) -> bool {
        self.each.iter().any(|text| text == scripted)
    }

    /// Whether `scripted` is said in one breath with `own`: as a text of its own, or right behind it.
    pub(super) fn is_said_with(&self, scripted: &str, own: Option<&str>) -> bool {
        let is_behind = |text: &str| {
            own.and_then(|own| text.strip_prefix(own))
                .is_some_and(|rest| rest.strip_prefix(' ') == Some(scripted))
        };
        self.holds(scripted) || self.each.iter().any(|text| is_behind(text))
    }

    /// The first text from `from` on that `scripted` fits, as the index after it. Texts together count as the last.
    pub(super) fn find(&self, scripted: &str, from: usize) -> Option<usize> {
        let single = self
            .each
            .iter()
            .enumerate()
            .skip(from)
            .find(|(_, text)| fit(text, scripted).is_some())
            .map(|(idx, _)| idx + 1);
        let together = || {
            let joined = self.joined.as_deref().filter(|_| from == 0)?;
            fit(joined, scripted).map(|_| self.each.len())
        };
        single.or_else(together)
    }
}

/// How well `arrived` fits `scripted`; both are normal.
pub(super) fn fit(arrived: &str, scripted: &str) -> Option<Fit> {
    if arrived == scripted {
        Some(Fit::Equal)
    } else if !scripted.is_empty() && contains_words(arrived, scripted) {
        Some(Fit::Contained)
    } else {
        None
    }
}

/// Names in backticks, with commas.
pub(super) fn list<T: AsRef<str>>(names: &[T]) -> String {
    let names: Vec<String> = names
        .iter()
        .map(|name| format!("`{}`", name.as_ref()))
        .collect();
    names.join(", ")
}

/// A text in quotes on one line, cut.
pub(super) fn quote(text: &str) -> String {
    const MAX_SHOWN: usize = 120;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("\"{}\"", cuecard_source::value::cut(&line, MAX_SHOWN))
}
