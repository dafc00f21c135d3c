//! Scripts that make code of values, in the forms that people write by mistake. Data is a value whatever stands here; what a
//! script does with its values is the author's word.

use std::ops::Range;

use super::super::source::{is_in, is_integer};
use super::{Kind, Refusal, Script, is_operator_word, refusal};

/// What a script with data may not do with a name.
enum Mistake {
    /// Name it.
    Named,
    /// Assign it anything but a literal.
    Set,
    /// The same, where the script names a script element.
    SetOfScript,
    /// Assign it, or open with it, anything but a URL that begins with a literal.
    Opened,
    /// Call it as a method, with anything but literals.
    Called,
    /// Call it with the name of an attribute that is a handler or a URL, or that is no literal.
    Attribute,
    /// Call it without a function, or its name, first.
    Function,
    /// Send a function elsewhere at this place with data in it, or data instead.
    Sent(usize),
    /// Call it with a text that begins with data or `<`.
    Selected,
}

const MISTAKES: &[(Mistake, &str, &str)] = &[
    (
        Mistake::Named,
        "eval Function import insertAdjacentHTML setHTMLUnsafe createContextualFragment srcdoc setContent setAttributeNS",
        "call the function that is meant, with the reference as its argument",
    ),
    (Mistake::Set, "innerHTML outerHTML", "set `textContent`"),
    (
        Mistake::SetOfScript,
        "text textContent innerText",
        "write the text of the script element literally",
    ),
    (
        Mistake::Opened,
        "location href src action formAction assign replace open",
        "begin the URL with its literal scheme and host, or with `/`, or open it with the browser's tool for that",
    ),
    (
        Mistake::Called,
        "write writeln html",
        "set `textContent` of an element",
    ),
    (
        Mistake::Attribute,
        "setAttribute attr prop",
        "write the attribute's name as a string, of one that is no handler and no URL; for a handler, use `addEventListener` with a function",
    ),
    (
        Mistake::Function,
        "setTimeout setInterval",
        "write `setTimeout(() => …)`, with the reference as a value in the function",
    ),
    (
        Mistake::Sent(0),
        "evaluate evaluateHandle evaluateAll waitForFunction addInitScript addScriptTag",
        SENT,
    ),
    (Mistake::Sent(1), "$eval $$eval", SENT),
    (
        Mistake::Selected,
        "$ jQuery",
        "write `document.querySelector(REFERENCE)`",
    ),
];

const SENT: &str = "Playwright sends a function to the page without what is around it: pass data as its argument, `evaluate(value => …, REFERENCE)`";

const WINDOWS: &str = "window globalThis self top parent frames this defaultView contentWindow";

impl Script<'_> {
    pub(super) fn check_sinks(&self) -> Result<(), Refusal> {
        for index in 0..self.tokens.len() {
            let name = self.named(index);
            let mut mistakes = MISTAKES.iter();
            let (what, help) = match mistakes.find(|(_, names, _)| is_in(names, name)) {
                Some((mistake, _, help)) if self.makes(mistake, index) => {
                    (format!("`{name}`"), *help)
                }
                _ if self.is_computed(index) => (
                    "it as the name of a member that is called or set".to_owned(),
                    "write the name literally, or keep the values in a `Map`",
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

    fn makes(&self, mistake: &Mistake, index: usize) -> bool {
        let (before, after) = (index.wrapping_sub(1), self.after(index));
        let owner = self.at(index.wrapping_sub(2));
        let is_member = matches!(self.at(before), "." | "?.") || after > index + 1;
        let is_call = self.at(after) == "(";
        match mistake {
            Mistake::Named => true,
            Mistake::Set => is_member && self.is_set(after),
            Mistake::SetOfScript => {
                let is_script = |at| {
                    is_in("script scripts currentScript", self.at(at))
                        || self
                            .literal(at)
                            .is_some_and(|text| text.eq_ignore_ascii_case("script"))
                };
                is_member && self.is_set(after) && (0..self.tokens.len()).any(is_script)
            }
            Mistake::Opened => match self.at(index) {
                "assign" | "replace" => owner == "location" && is_call && !self.is_url(after + 1),
                "open" => {
                    (!is_member || is_in(WINDOWS, owner)) && is_call && !self.is_url(after + 1)
                }
                name => {
                    let is_declared = is_in("const let var", self.at(before));
                    (is_member || (name == "location" && !is_declared))
                        && self.is_set(after)
                        && !self.is_url(after + 1)
                }
            },
            Mistake::Called => is_member && is_call && !self.has_only_literals(after),
            Mistake::Attribute if !is_member || self.at(after + 2) == ")" => false,
            Mistake::Attribute if self.at(after + 2) != "," => true,
            Mistake::Attribute => self.literal(after + 1).is_none_or(|name| {
                let name = name.to_ascii_lowercase();
                let acts = is_in("href src srcdoc xlink:href action formaction data", &name);
                (acts || name.starts_with("on")) && !self.is_only_literal(after + 3)
            }),
            Mistake::Function => {
                let first = self.argument(after, 0).unwrap_or_default();
                let is_name = first.len() == 1 && self.kind(first.start) == Some(Kind::Word);
                !is_call || self.is_data(first.start) || !(is_name || self.is_function(&first))
            }
            Mistake::Sent(_) if owner == "document" => false,
            Mistake::Sent(place) => {
                let sent = self.argument(after, *place).unwrap_or_default();
                self.holds_data(sent)
            }
            Mistake::Selected if is_member || !is_call => false,
            Mistake::Selected => {
                let first = self.argument(after, 0).unwrap_or_default();
                let start = self.beginning(first.start).unwrap_or_default().trim_start();
                self.holds_data(first) && (start.is_empty() || start.starts_with('<'))
            }
        }
    }

    /// Whether data as the name of a member decides what is called or set, or of a window.
    fn is_computed(&self, bracket: usize) -> bool {
        let before = bracket.wrapping_sub(1);
        let is_member = self.ends_value(before) || self.at(before) == "?.";
        if self.at(bracket) != "[" || !is_member {
            return false;
        }
        let close = self.tokens[bracket].partner;
        let inside = self.tokens[bracket].range.start..self.tokens[close].range.end;
        let after = close + 1 + usize::from(self.at(close + 1) == "?.");
        let acts = matches!(self.at(after), "(" | "`")
            || self.is_set(after)
            || is_in(WINDOWS, self.at(before));
        acts && self
            .data_in(&inside)
            .any(|data| !is_integer(&data.piece.text))
    }

    fn has_data(&self, range: &Range<usize>) -> bool {
        self.data_in(range).next().is_some()
    }

    /// Whether one of these tokens has data in it.
    fn holds_data(&self, tokens: Range<usize>) -> bool {
        self.tokens[tokens]
            .iter()
            .any(|token| self.has_data(&token.range))
    }

    /// Whether a token begins with data.
    fn is_data(&self, index: usize) -> bool {
        self.tokens.get(index).is_some_and(|token| {
            let mut data = self.data.iter().map(|data| data.range.start);
            data.any(|start| start == token.range.start || start == token.range.start + 1)
        })
    }

    /// The name that a token is: a word, or a string in brackets.
    fn named(&self, index: usize) -> &str {
        match self.kind(index) {
            Some(Kind::Word) => self.at(index),
            Some(Kind::String) if self.after(index) > index + 1 => {
                self.literal(index).unwrap_or_default()
            }
            _ => "",
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

    /// Whether this token assigns anything but a literal.
    fn is_set(&self, operator: usize) -> bool {
        let is_comparison = is_in("== === != !== <= >=", self.at(operator));
        self.at(operator).ends_with('=') && !is_comparison && !self.is_only_literal(operator + 1)
    }

    /// Whether an expression is this literal and nothing else.
    fn is_only_literal(&self, index: usize) -> bool {
        self.literal(index).is_some() && self.is_end(index + 1)
    }

    /// Whether a call with this bracket has nothing but literals.
    fn has_only_literals(&self, bracket: usize) -> bool {
        (bracket + 1..self.tokens[bracket].partner)
            .all(|index| self.at(index) == "," || self.is_only_literal(index))
    }

    /// Whether an expression ends before this token.
    fn is_end(&self, index: usize) -> bool {
        let begins_statement = self.kind(index) == Some(Kind::Word)
            && self.tokens[index].is_line_start
            && !is_operator_word(self.at(index));
        matches!(self.at(index), "" | ";" | "," | ")" | "]" | "}") || begins_statement
    }

    /// The text with which a string begins, up to data in it.
    fn beginning(&self, index: usize) -> Option<&str> {
        let start = index + usize::from(self.at(index) == "`");
        let token = self.tokens.get(start)?;
        let first = self.data_in(&token.range).next();
        let end = first.map_or(token.range.end, |data| data.range.start);
        let is_text = matches!(token.kind, Kind::String | Kind::Template);
        is_text.then(|| self.text[token.range.start..end].trim_matches(['"', '\'']))
    }

    /// Whether a URL begins here, and can be no `javascript:`.
    fn is_url(&self, index: usize) -> bool {
        let is_template = self.at(index) == "`";
        let after = match self.tokens.get(index) {
            Some(token) if is_template => token.partner + 1,
            _ => index + 1,
        };
        let is_url = |text: &str| {
            ["https://", "http://", "/", "?", "#", "./", "../"]
                .iter()
                .any(|start| text.starts_with(start))
        };
        (self.at(after) == "+" || self.is_end(after)) && self.beginning(index).is_some_and(is_url)
    }

    /// A string without data in it.
    fn literal(&self, index: usize) -> Option<&str> {
        let token = self.tokens.get(index)?;
        let is_literal = token.kind == Kind::String && !self.has_data(&token.range);
        is_literal.then(|| self.at(index).trim_matches(['"', '\'']))
    }

    /// The tokens of an argument of a call with this bracket.
    fn argument(&self, bracket: usize, place: usize) -> Option<Range<usize>> {
        let end = self.tokens.get(bracket)?.partner;
        let is_comma = |&at: &usize| self.at(at) == "," && self.tokens[at].parent == Some(bracket);
        let commas = (bracket + 1..end).filter(is_comma);
        let mut bounds = std::iter::once(bracket)
            .chain(commas)
            .chain([end])
            .skip(place);
        Some(bounds.next()? + 1..bounds.next()?)
    }

    /// Whether an argument is a function, and not what it gives.
    fn is_function(&self, argument: &Range<usize>) -> bool {
        let start = argument.start + usize::from(self.at(argument.start) == "async");
        match self.at(start) {
            "function" => self.at(argument.end - 1) == "}",
            "(" => self.at(self.tokens[start].partner + 1) == "=>",
            _ => self.at(start + 1) == "=>",
        }
    }
}
