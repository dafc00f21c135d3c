//! What a script with data may not mention: what turns a text into code or opens it as a URL. What happens to a value on
//! its way through a script is not followed.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::super::source::{is_in, is_integer};
use super::{Kind, Refusal, Script, reference, refusal};

/// Names, when a mention of one is harmless, and what to write instead.
type Rule = (
    &'static str,
    fn(&Script<'_>, &Name<'_>) -> bool,
    &'static str,
);

const RULES: &[Rule] = &[
    (
        "eval Function import require Reflect insertAdjacentHTML setHTMLUnsafe createContextualFragment srcdoc setContent \
         setAttributeNS setAttributeNode getAttributeNode createAttribute execCommand parseFromString defineProperty \
         defineProperties importScripts Worker SharedWorker with addModule globalEval write writeln assign navigate jQuery",
        |_, _| false,
        HAND_OVER,
    ),
    (
        "innerHTML outerHTML href src action formAction location",
        |script, name| !script.is_set(name),
        HAND_OVER,
    ),
    (
        "host hostname protocol port",
        |script, name| name.owner != "location" || !script.is_set(name),
        HAND_OVER,
    ),
    // A text is replaced by another one, a page by one URL.
    (
        "replace",
        |script, name| {
            let is_page =
                script.argument(name.after, 1).is_none() && script.at(name.after + 1) != "{";
            name.owner != "location" && (script.at(name.after) != "(" || !is_page)
        },
        HAND_OVER,
    ),
    (
        "constructor attr prop",
        |script, name| !name.is_member || script.at(name.after) != "(",
        HAND_OVER,
    ),
    (
        "open",
        |script, name| match name.is_member {
            true => !is_in(WINDOWS, name.owner),
            false => script.at(name.after) == ":",
        },
        HAND_OVER,
    ),
    (
        "setAttribute",
        |script, name| script.names_attribute(name),
        "write the name of one attribute, of one that is no handler and no URL; for a handler, use `addEventListener` with a function",
    ),
    (
        "setTimeout setInterval",
        |script, name| script.at(name.after) == "(" && script.is_function(name.after + 1),
        "write `setTimeout(() => …)`, with the reference as a value in the function",
    ),
    (
        "evaluate evaluateHandle evaluateAll waitForFunction addInitScript addScriptTag",
        |script, name| name.owner == "document" || !script.has_data(name.after, 0),
        SENT,
    ),
    (
        "$eval $$eval",
        |script, name| !script.has_data(name.after, 1),
        SENT,
    ),
    // jQuery takes texts for HTML.
    (
        "$",
        |script, name| {
            (name.is_member && !is_in(WINDOWS, name.owner)) || script.at(name.after) != "("
        },
        HAND_OVER,
    ),
];

const HAND_OVER: &str = "give the page the value in a step of its own, `() => { window.VALUE = REFERENCE }`, and use `window.VALUE` in the next one: what happens to it there is your decision";

const SENT: &str = "Playwright sends a function to the page without what is around it: pass data as its argument, `evaluate(value => …, REFERENCE)`";

/// Words for a window, whose members are global.
const WINDOWS: &str = "window globalThis self top parent frames this defaultView contentWindow";

/// A name that a script mentions.
struct Name<'a> {
    text: &'a str,
    /// The token behind it, and behind a `?.` there.
    after: usize,
    /// What stands before its dot or bracket.
    owner: &'a str,
    is_member: bool,
}

impl<'text> Script<'text> {
    pub(super) fn check_mentions(&self) -> Result<(), Refusal> {
        let source = reference(self.data[0].piece);
        for index in 0..self.tokens.len() {
            let broken = self.name(index).and_then(|name| {
                let mut rules = RULES.iter();
                let rule = rules.find(|(names, is_harmless, _)| {
                    is_in(names, name.text) && !is_harmless(self, &name)
                });
                rule.map(|(.., help)| (format!("`{}`", name.text), *help))
            });
            let (what, help) = match broken {
                Some(broken) => broken,
                None if self.is_computed(index) => (
                    "a name that is no literal for a member that is called or set".to_owned(),
                    "write the name literally, or keep the values in a `Map`",
                ),
                None if self.is_script_element(index) => ("a script element".to_owned(), HAND_OVER),
                None if self.assigns_pattern(index) => (
                    "a list or an object that is assigned to".to_owned(),
                    HAND_OVER,
                ),
                None => continue,
            };
            let message = format!(
                "the script with the data of `{source}` uses {what}, which can run text as code"
            );
            return Err(refusal(message, help.replace("REFERENCE", &source)));
        }
        Ok(())
    }

    /// The name that a token is: a word, or a string in brackets, as in `window["eval"]`.
    fn name(&self, index: usize) -> Option<Name<'text>> {
        let (text, start, after) = match self.literal(index) {
            Some(text) if (self.before(index), self.at(index + 1)) == ("[", "]") => {
                (text, index - 1, index + 2)
            }
            None if self.kind(index)? == Kind::Word => (self.at(index), index, index + 1),
            _ => return None,
        };
        let is_behind_dot = matches!(self.before(start), "." | "?.");
        let owner = start.wrapping_sub(if is_behind_dot { 2 } else { 1 });
        let is_member = is_behind_dot || (start < index && self.ends_value(owner));
        Some(Name {
            text,
            after: after + usize::from(self.at(after) == "?."),
            owner: if is_member { self.at(owner) } else { "" },
            is_member,
        })
    }

    /// Whether a name is assigned anything but one string of the author.
    fn is_set(&self, name: &Name<'_>) -> bool {
        let (operator, behind) = (self.at(name.after), name.after + 2);
        let is_over =
            matches!(self.at(behind), "" | ";" | "}" | ")") || self.begins_statement(behind);
        let is_plain = operator == "=" && self.literal(name.after + 1).is_some() && is_over;
        (name.is_member || name.text == "location")
            && !is_plain
            && (is_assignment(operator) || is_in("of in", operator))
    }

    /// Whether a `=` sets what a list or an object before it names, and declares nothing: `[a.href] = …`.
    fn assigns_pattern(&self, equals: usize) -> bool {
        let Some(close) = equals.checked_sub(1).filter(|_| self.at(equals) == "=") else {
            return false;
        };
        let before = self.tokens[close].partner.wrapping_sub(1);
        matches!(self.at(close), "]" | "}")
            && !is_in("const let var", self.at(before))
            && !self.ends_value(before)
    }

    /// Whether a call names an attribute by a literal, which is no handler and no URL.
    fn names_attribute(&self, name: &Name<'_>) -> bool {
        const URLS: &str = "href src srcdoc xlink:href action formaction data";
        let attribute = self.literal(name.after + 1).map(str::to_ascii_lowercase);
        let is_plain = |name: String| !is_in(URLS, &name) && !name.starts_with("on");
        name.is_member && attribute.is_some_and(is_plain) && self.at(name.after + 2) == ","
    }

    /// Whether a word or a string means a script element: `script`, `<script`, `head > script#x`.
    fn is_script_element(&self, index: usize) -> bool {
        static TAG: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r"(?i)(?:^|[\s<>+~,(])script(?:$|[^\w-])").expect("a fixed pattern")
        });
        is_in("script scripts currentScript", self.at(index))
            || self.literal(index).is_some_and(|text| TAG.is_match(text))
    }

    /// Whether data is the name of a member that is called or set, or of one of a window. An integer runs nothing.
    fn is_computed(&self, bracket: usize) -> bool {
        let before = bracket.wrapping_sub(1);
        if self.at(bracket) != "[" || !(self.ends_value(before) || self.at(before) == "?.") {
            return false;
        }
        let close = self.tokens[bracket].partner;
        let inside = self.tokens[bracket].range.start..self.tokens[close].range.end;
        let after = self.at(close + 1 + usize::from(self.at(close + 1) == "?."));
        let acts = matches!(after, "(" | "`" | "++" | "--")
            || is_assignment(after)
            || is_in(WINDOWS, self.at(before));
        let mut data = self.data_in(&inside);
        acts && (self.at(bracket + 1) == "`" || data.any(|data| !is_integer(&data.piece.text)))
    }

    /// Whether an argument that begins here is a function, or the name of one, which nothing is assigned to.
    fn is_function(&self, start: usize) -> bool {
        let start = start + usize::from(self.at(start) == "async");
        let token = |at: usize| self.tokens.get(at);
        let behind = |at: usize| token(at).map_or(at, |token| token.partner + 1);
        let is_last = |at: usize| matches!(self.at(at), "," | ")");
        let is_set = |at: usize| {
            self.at(at) == self.at(start)
                && is_assignment(self.at(at + 1))
                && !self.is_function(at + 2)
        };
        match self.at(start) {
            "(" => self.at(behind(start)) == "=>",
            "function" => {
                let name = usize::from(self.at(start + 1) != "(");
                is_last(behind(behind(start + 1 + name)))
            }
            _ if self.at(start + 1) == "=>" => true,
            _ => {
                self.kind(start) == Some(Kind::Word)
                    && self.data_in(&self.tokens[start].range).next().is_none()
                    && is_last(start + 1)
                    && !(0..self.tokens.len()).any(is_set)
            }
        }
    }

    /// Whether an argument of the call at a bracket holds data.
    fn has_data(&self, bracket: usize, place: usize) -> bool {
        let argument = self.argument(bracket, place);
        argument.is_some_and(|argument| self.data_in(&argument).next().is_some())
    }

    /// Where an argument of the call at a bracket stands.
    fn argument(&self, bracket: usize, place: usize) -> Option<Range<usize>> {
        if self.at(bracket) != "(" {
            return None;
        }
        let end = self.tokens[bracket].partner;
        let is_comma = |at: &usize| self.at(*at) == "," && self.tokens[*at].parent == Some(bracket);
        let commas = (bracket..end).filter(is_comma);
        let mut edges = std::iter::once(bracket)
            .chain(commas)
            .chain([end])
            .skip(place);
        let (from, to) = (edges.next()?, edges.next()?);
        Some(self.tokens[from].range.end..self.tokens[to].range.start)
    }

    /// The text of a string that holds no data.
    fn literal(&self, index: usize) -> Option<&'text str> {
        let token = self.tokens.get(index)?;
        let is_literal = matches!(token.kind, Kind::String | Kind::Template)
            && self.data_in(&token.range).next().is_none();
        is_literal.then(|| self.at(index).trim_matches(['"', '\'']))
    }
}

/// `=` and the operators that end with it, but comparisons.
fn is_assignment(operator: &str) -> bool {
    operator.ends_with('=') && !is_in("== === != !== <= >=", operator)
}
