//! Scripts that make code of values.
//!
//! Where a value goes in a script is not followed. So a script with data may not name what runs or opens a text, in
//! whatever way it would use it; a name that is mostly harmless is allowed in the forms that are.

use std::ops::Range;

use super::super::source::is_integer;
use super::{Kind, Refusal, Script, refusal};

/// When a name is harmless. Names are words, names of members in brackets (`window["eval"]`) and quoted keys.
enum Harmless {
    Never,
    /// Where it is not called.
    Uncalled,
    /// Where nothing but a literal is assigned to it.
    Read,
    /// The same, and it is not replaced.
    Kept,
    /// Where it is called with a new object.
    NewObject,
    /// Where it is called with the literal name of what is no handler and no URL, or to read.
    Attribute,
    /// Where it is called with a function.
    Function,
    /// Where it is called with a function or literal at this place, without data in it.
    Sent(usize),
    /// Where it is called with what begins with a literal that is no HTML, or with a name.
    Selector,
    /// Where it is called with a literal or nothing, or the script has no jQuery.
    Markup,
    /// Where no computed name follows.
    Window,
}

const SINKS: &[(Harmless, &str, &str)] = &[
    (
        Harmless::Never,
        "eval Function import constructor execScript importScripts Reflect Worker SharedWorker serviceWorker addModule \
         insertAdjacentHTML createContextualFragment setHTMLUnsafe parseHTMLUnsafe parseFromString parseHTML srcdoc \
         dangerouslySetInnerHTML setAttributeNS setAttributeNode getAttributeNode createAttribute attributes globalEval \
         getScript addScriptTag addInitScript setContent execCommand createElementNS runInContext runInNewContext \
         runInThisContext getOwnPropertyDescriptor __lookupSetter__ with",
        "call the function that is meant, with the reference as its argument",
    ),
    (
        Harmless::Never,
        "script scripts currentScript",
        "write the text of the script element literally",
    ),
    (
        Harmless::Uncalled,
        "write writeln",
        "set `textContent` of an element",
    ),
    (Harmless::Uncalled, "open", OPEN),
    (Harmless::Read, "href src action formAction baseVal", OPEN),
    (Harmless::Kept, "location", OPEN),
    (Harmless::Read, "innerHTML outerHTML", "set `textContent`"),
    (
        Harmless::NewObject,
        "assign",
        "set each property by its name: `element.value = …`",
    ),
    (
        Harmless::Attribute,
        "setAttribute attr prop",
        "write the attribute's name as a string; for a handler, use `addEventListener` with a function",
    ),
    (
        Harmless::Function,
        "setTimeout setInterval",
        "write `setTimeout(() => …)`, with the reference as a value in the function",
    ),
    (
        Harmless::Sent(0),
        "evaluate evaluateHandle evaluateAll waitForFunction",
        SENT,
    ),
    (Harmless::Sent(1), "$eval $$eval", SENT),
    (
        Harmless::Selector,
        "$ jQuery",
        "write `document.querySelector(REFERENCE)`",
    ),
    (
        Harmless::Markup,
        "html append prepend after before replaceWith wrap wrapAll wrapInner",
        "use `.text(…)`",
    ),
    (
        Harmless::Window,
        "window globalThis self top parent frames this defaultView contentWindow",
        MEMBER,
    ),
];

const OPEN: &str =
    "open the URL with the browser's tool for it (`navigate_page`, `browser_navigate`)";
const SENT: &str = "Playwright sends a function to the page without what is around it: pass data as its argument, `evaluate(value => …, REFERENCE)`";
const MEMBER: &str = "write the name of the member literally";

fn is_in(names: &str, name: &str) -> bool {
    names.split(' ').any(|known| known == name)
}

impl Script<'_> {
    pub(super) fn check_sinks(&self) -> Result<(), Refusal> {
        for index in 0..self.tokens.len() {
            let name = self.named(index);
            let mut sinks = SINKS.iter();
            let (what, help) = match sinks.find(|(_, names, _)| is_in(names, &name)) {
                Some((harmless, _, help)) if !self.is_harmless(index, harmless) => {
                    (format!("`{name}`"), *help)
                }
                _ if self.is_computed(index) => (
                    "it as the name of a member that is called or set".to_owned(),
                    MEMBER,
                ),
                _ => continue,
            };
            return Err(refusal(
                format!(
                    "the script with the data of `{}` uses {what}, which can run text as code",
                    self.source()
                ),
                help.replace("REFERENCE", &self.source()),
            ));
        }
        Ok(())
    }

    fn is_harmless(&self, index: usize, harmless: &Harmless) -> bool {
        let (before, after) = (index.wrapping_sub(1), self.after(index));
        let is_member = matches!(self.at(before), "." | "?.") || after > index + 1;
        let of_document = self.at(index.wrapping_sub(2)) == "document";
        let is_call = self.at(after) == "(";
        let [first, second] = [0, 1].map(|place| self.argument(after, place));
        let literal = self.literal(first.clone());
        match harmless {
            Harmless::Never => false,
            Harmless::Uncalled => !is_call,
            Harmless::Read => !is_member || !self.is_set(index),
            Harmless::Kept => !self.is_set(index) && self.at(after + 1) != "replace",
            Harmless::NewObject => !is_member || (is_call && self.at(after + 1) == "{"),
            Harmless::Attribute if !is_call => !is_member || self.at(index) != "setAttribute",
            Harmless::Attribute => literal.is_some_and(|name| {
                let name = name.to_ascii_lowercase();
                let acts = is_in(
                    "href src srcdoc xlink:href action formaction data html innerhtml outerhtml",
                    &name,
                );
                !(acts || name.starts_with("on"))
                    || second.is_none()
                    || self.literal(second.clone()).is_some()
            }),
            Harmless::Function => self.is_function(first),
            Harmless::Sent(_) if of_document => true,
            Harmless::Sent(place) => {
                let argument = self.argument(after, *place);
                let has_data = self.tokens[argument.clone().unwrap_or_default()]
                    .iter()
                    .any(|token| self.has_data(&token.range));
                !has_data
                    && (self.literal(argument.clone()).is_some() || self.is_function(argument))
            }
            Harmless::Selector if is_member || !is_call => true,
            Harmless::Selector => match self.tokens.get(after + 1) {
                Some(token) if token.kind == Kind::String => {
                    let start = token.range.start + 1;
                    !self.text[start..].starts_with(['<', ' '])
                        && self.data.iter().all(|data| data.range.start != start)
                }
                Some(token) => token.kind == Kind::Word && !self.has_data(&token.range),
                None => true,
            },
            Harmless::Markup => {
                let is_jquery = |at| {
                    matches!(self.at(at), "$" | "jQuery")
                        && self.at(at + 1) == "("
                        && self.at(at.wrapping_sub(1)) != "."
                };
                let is_literal = is_call && (first.is_none() || literal.is_some());
                !is_member || is_literal || !(0..self.tokens.len()).any(is_jquery)
            }
            Harmless::Window => {
                let bracket = after + usize::from(self.at(after) == "?.");
                self.at(bracket) != "["
                    || self.after(bracket + 1) > bracket + 2
                    || (self.tokens[bracket].partner == bracket + 2 && self.is_number(bracket))
            }
        }
    }

    /// Whether data as the name of a member decides what is called or set.
    fn is_computed(&self, bracket: usize) -> bool {
        if !self.is_member(bracket) || self.is_number(bracket) {
            return false;
        }
        let close = self.tokens[bracket].partner;
        let inside = self.tokens[bracket].range.start..self.tokens[close].range.end;
        let is_applied = matches!(self.at(close + 1), "." | "?.")
            && is_in("call apply bind", self.at(close + 2));
        let acts =
            is_applied || matches!(self.at(self.after(close)), "(" | "`") || self.is_set(close);
        let is_special = |name: &str| matches!(name, "constructor" | "__proto__");
        self.data_in(&inside)
            .any(|data| acts || is_special(&data.piece.text))
    }

    /// Whether the data in a bracket is whole numbers.
    fn is_number(&self, bracket: usize) -> bool {
        let inside =
            self.tokens[bracket].range.start..self.tokens[self.tokens[bracket].partner].range.end;
        self.has_data(&inside)
            && self
                .data_in(&inside)
                .all(|data| is_integer(&data.piece.text))
    }

    fn has_data(&self, range: &Range<usize>) -> bool {
        self.data_in(range).next().is_some()
    }

    /// The name that a token is: a string only in brackets, as a key, and for an element.
    fn named(&self, index: usize) -> String {
        match self.kind(index) {
            Some(Kind::Word) => self.at(index).to_owned(),
            Some(Kind::String) => {
                let text = self.at(index).trim_matches(['"', '\'']);
                let is_name = self.after(index) > index + 1 || self.at(index + 1) == ":";
                match text.to_ascii_lowercase() {
                    element if element == "script" => element,
                    _ if is_name => text.to_owned(),
                    _ => String::new(),
                }
            }
            _ => String::new(),
        }
    }

    /// The token after a name, which may stand in brackets, and after the `?.` of a call.
    fn after(&self, index: usize) -> usize {
        let is_in_brackets = self.kind(index) == Some(Kind::String)
            && self.at(index.wrapping_sub(1)) == "["
            && self.at(index + 1) == "]";
        let after = index + 1 + usize::from(is_in_brackets);
        after + usize::from(self.at(after) == "?." && matches!(self.at(after + 1), "(" | "["))
    }

    /// Whether something but a literal is assigned to what ends with this token, also as a part of a pattern.
    fn is_set(&self, index: usize) -> bool {
        let is_declaration = |at: usize| is_in("const let var", self.at(at.wrapping_sub(1)));
        let operator = self.after(index);
        let is_assigned = match self.at(operator) {
            "of" | "in" => true,
            "==" | "===" | "!=" | "!==" | "<=" | ">=" => false,
            text => text.ends_with('=') && !is_declaration(index),
        };
        let is_end = matches!(self.at(operator + 2), "" | ";" | "," | ")" | "}")
            || self.tokens[operator + 2].is_line_start;
        let is_literal = is_end && self.literal(Some(operator + 1..operator + 2)).is_some();
        let around = std::iter::successors(self.tokens[index].parent, |&at| self.tokens[at].parent);
        let mut patterns = around.filter(|&at| {
            matches!(self.at(self.tokens[at].partner + 1), "=" | "of" | "in")
                && !self.is_member(at)
                && !is_declaration(at)
        });
        (is_assigned && !is_literal) || patterns.next().is_some()
    }

    /// The tokens of an argument of a call with this bracket.
    fn argument(&self, bracket: usize, place: usize) -> Option<Range<usize>> {
        if self.at(bracket) != "(" {
            return None;
        }
        let end = self.tokens[bracket].partner;
        let is_comma = |&at: &usize| self.at(at) == "," && self.tokens[at].parent == Some(bracket);
        let commas = (bracket + 1..end).filter(is_comma);
        let mut bounds = std::iter::once(bracket)
            .chain(commas)
            .chain([end])
            .skip(place);
        let range = bounds.next()? + 1..bounds.next()?;
        (!range.is_empty()).then_some(range)
    }

    /// The string without data that an argument is.
    fn literal(&self, argument: Option<Range<usize>>) -> Option<&str> {
        let argument = argument.filter(|argument| argument.len() == 1)?;
        let token = self.tokens.get(argument.start)?;
        let is_literal = token.kind == Kind::String && !self.has_data(&token.range);
        is_literal.then(|| self.at(argument.start).trim_matches(['"', '\'']))
    }

    /// Whether an argument is a function that is written there, or the name of one that is written in the script or that
    /// resolves a promise.
    fn is_function(&self, argument: Option<Range<usize>>) -> bool {
        let Some(Range { start, end }) = argument else {
            return false;
        };
        if end > start + 1 {
            return self.is_function_at(start)
                && (self.at(end - 1) == "}" || !self.at(start).contains("function"));
        }
        let name = self.at(start);
        let mut places = (0..self.tokens.len()).filter(|&at| self.at(at) == name);
        places.any(|at| {
            let [second, first] = [1, 2].map(|back| self.at(at.wrapping_sub(back)));
            let is_resolver = matches!((first, second), ("Promise", "("))
                || (matches!((first, second), ("(", "("))
                    && self.at(at.wrapping_sub(3)) == "Promise");
            second == "function"
                || is_resolver
                || (self.at(at + 1) == "=" && self.is_function_at(at + 2))
        })
    }

    /// Whether a function begins with a token.
    fn is_function_at(&self, index: usize) -> bool {
        let start = index + usize::from(self.at(index) == "async");
        match self.at(start) {
            "function" => true,
            "(" => self.at(self.tokens[start].partner + 1) == "=>",
            _ => self.at(start + 1) == "=>",
        }
    }

    /// Whether a bracket opens the name of a member.
    fn is_member(&self, index: usize) -> bool {
        let before = index.wrapping_sub(1);
        self.at(index) == "[" && (self.ends_value(before) || self.at(before) == "?.")
    }
}
