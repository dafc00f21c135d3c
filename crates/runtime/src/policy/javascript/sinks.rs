//! Scripts that make code of values, in the forms that people write by mistake. Data is a value whatever stands here; what a
//! script does with its values is the author's word.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::super::source::{is_in, is_integer};
use super::{Kind, Refusal, Script, refusal};

/// How a script with data may use a name. Reading is always fine.
#[derive(Clone, Copy)]
enum Use {
    /// Not at all.
    Never,
    /// Set it to literals, or call it with them.
    Literal,
    /// The same, where the script names a script element.
    LiteralInScriptElement,
    /// The same, where the script names jQuery; jQuery's own elements are fine too.
    LiteralInJquery,
    /// The same, if it is a member of `location`.
    LiteralInLocation,
    /// Set it to a URL that begins with a literal, or call it with one.
    Url,
    /// Call it with the name of an attribute that is a literal, and no handler or URL.
    Attribute,
    /// Call it with a function, or the name of one, first.
    Function,
    /// Call it without data at this place, where it sends a function elsewhere.
    Sent(usize),
    /// Call it with a text that begins with a literal, which is no tag.
    Selector,
    /// Copy no members that data names to what is no new object.
    Copy,
}

const USES: &[(Use, &str, &str)] = &[
    (
        Use::Never,
        "eval Function import Reflect insertAdjacentHTML setHTMLUnsafe createContextualFragment srcdoc setContent setAttributeNS",
        "call the function that is meant, with the reference as its argument",
    ),
    (
        Use::Literal,
        "innerHTML outerHTML write writeln html",
        "set `textContent` of an element",
    ),
    (
        Use::LiteralInScriptElement,
        "text textContent innerText nodeValue append appendChild prepend insertBefore insertAdjacentText replaceChildren createTextNode",
        "make script elements in a step without data",
    ),
    (
        Use::LiteralInJquery,
        "append prepend after before replaceWith replaceAll wrap wrapAll wrapInner load parseHTML globalEval getScript",
        "make the element first, and set its text: `$('<li>').text(REFERENCE)`",
    ),
    (
        Use::LiteralInLocation,
        "host hostname protocol port",
        "write the address literally",
    ),
    (
        Use::Url,
        "location href src action formAction assign replace open Worker SharedWorker importScripts",
        "begin the URL with its literal scheme and host, as `https://host/`, or with a literal path, or open it with the browser's tool for that",
    ),
    (
        Use::Attribute,
        "setAttribute attr prop",
        "write the attribute's name as a string, of one that is no handler and no URL; for a handler, use `addEventListener` with a function",
    ),
    (Use::Copy, "assign", OPEN),
    (
        Use::Function,
        "setTimeout setInterval",
        "write `setTimeout(() => …)`, with the reference as a value in the function",
    ),
    (
        Use::Sent(0),
        "evaluate evaluateHandle evaluateAll waitForFunction addInitScript addScriptTag",
        SENT,
    ),
    (Use::Sent(1), "$eval $$eval", SENT),
    (
        Use::Selector,
        JQUERY,
        "write `document.querySelector(REFERENCE)`",
    ),
];

const OPEN: &str = "name the members that are set: `{ title: REFERENCE }`";

const SENT: &str = "Playwright sends a function to the page without what is around it: pass data as its argument, `evaluate(value => …, REFERENCE)`";

const JQUERY: &str = "$ jQuery";

const WINDOWS: &str = "window globalThis self top parent frames this defaultView contentWindow";

/// What sets members of one object to those of another.
const COPIES: &str =
    "assign attr prop entries fromEntries defineProperty defineProperties $ jQuery";

/// A name in a script.
struct Name<'a> {
    text: &'a str,
    /// The token that it is a member of; empty if it is none.
    owner: &'a str,
    is_member: bool,
    /// The token after it.
    after: usize,
}

impl Script<'_> {
    pub(super) fn check_sinks(&self) -> Result<(), Refusal> {
        for index in 0..self.tokens.len() {
            let name = self.name(index);
            let rule = name.as_ref().and_then(|name| {
                let mut uses = USES.iter();
                let (_, _, help) = uses.find(|(used, names, _)| {
                    is_in(names, name.text) && !self.keeps(*used, index, name)
                })?;
                Some((format!("`{}`", name.text), *help))
            });
            let (what, help) = match rule {
                Some(found) => found,
                None if self.is_computed(index) => (
                    "it as the name of a member that is called or set".to_owned(),
                    "write the name literally, or keep the values in a `Map`",
                ),
                None => continue,
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

    /// Whether a name is used as it may be.
    fn keeps(&self, used: Use, index: usize, name: &Name<'_>) -> bool {
        let after = name.after;
        let is_call = self.at(after) == "(";
        match used {
            Use::Never => false,
            Use::Literal => self.sets(index, name, |value| self.is_literal(&value)),
            Use::LiteralInLocation => {
                name.owner != "location" || self.sets(index, name, |value| self.is_literal(&value))
            }
            Use::LiteralInScriptElement => {
                !self.has_script_element || self.sets(index, name, |value| self.is_literal(&value))
            }
            Use::LiteralInJquery => {
                !self.has_jquery
                    || self.sets(index, name, |value| {
                        self.is_literal(&value) || self.is_jquery(&value)
                    })
                    || self.only_value(name.owner).is_some_and(|made| {
                        self.at(made.start) == "new"
                            && is_in("FormData URLSearchParams Headers", self.at(made.start + 1))
                    })
            }
            Use::Url => {
                let is_window = !name.is_member || is_in(WINDOWS, name.owner);
                let is_meant = match name.text {
                    // A text is replaced by another one, a page by one URL.
                    "assign" | "replace" => {
                        name.owner == "location" || (is_call && self.argument(after, 1).is_none())
                    }
                    "open" | "Worker" | "SharedWorker" | "importScripts" => is_window && is_call,
                    "location" => !is_in("const let var", self.at(index.wrapping_sub(1))),
                    _ => true,
                };
                !is_meant
                    || self.sets(index, name, |value| {
                        // An object is the place of a router.
                        self.is_literal(&value)
                            || self.is_url(value.start)
                            || self.at(value.start) == "{"
                    })
            }
            Use::Attribute if !name.is_member => true,
            Use::Attribute if self.at(after + 2) == ")" => {
                !self.is_open(&self.argument(after, 0).unwrap_or_default())
            }
            Use::Attribute if self.at(after + 2) != "," => false,
            Use::Attribute => self.literal(after + 1).is_some_and(|name| {
                let name = name.to_ascii_lowercase();
                let acts = is_in(
                    "href src srcdoc xlink:href action formaction data innerhtml outerhtml",
                    &name,
                );
                !(acts || name.starts_with("on"))
                    || self
                        .argument(after, 1)
                        .is_some_and(|value| self.is_literal(&value))
            }),
            Use::Function => {
                let first = self.meant(self.argument(after, 0).unwrap_or_default());
                is_call
                    && !self.is_data(first.start)
                    && (self.is_path(&first) || self.is_function(&first))
            }
            Use::Sent(_) if name.owner == "document" => true,
            Use::Sent(place) => {
                let sent = self.argument(after, place).unwrap_or_default();
                !self.holds_data(sent)
            }
            Use::Selector if name.is_member && !is_in(WINDOWS, name.owner) || !is_call => true,
            Use::Selector if !self.has_jquery => true,
            Use::Selector => {
                let first = self.argument(after, 0).unwrap_or_default();
                let start = self.beginning(first.start).unwrap_or_default().trim_start();
                let is_selector =
                    !self.holds_data(first) || !(start.is_empty() || start.starts_with('<'));
                let mut members = self.argument(after, 1).unwrap_or_default();
                is_selector && !self.is_open(&members) && members.all(|at| self.is_no_handler(at))
            }
            Use::Copy if name.owner != "Object" || !is_call => true,
            Use::Copy => {
                let target = self.meant(self.argument(after, 0).unwrap_or_default());
                let mut others = (1..).map_while(|place| self.argument(after, place));
                self.at(target.start) == "{" || !others.any(|other| self.is_open(&other))
            }
        }
    }

    /// Whether data names the members of an object: it is data, or data is spread into it.
    fn is_open(&self, value: &Range<usize>) -> bool {
        let value = self.meant(value.clone());
        let is_spread = |at: usize| at == value.start || self.at(at.wrapping_sub(1)).ends_with('.');
        value.clone().any(|at| self.is_data(at) && is_spread(at))
    }

    /// Whether a token is no key of a handler, or of one that is a function or a literal.
    fn is_no_handler(&self, index: usize) -> bool {
        let is_handler =
            |name: &Name<'_>| name.text.starts_with("on") && self.at(name.after) == ":";
        self.name(index).filter(is_handler).is_none_or(|name| {
            let value = self.expression(name.after + 1);
            self.is_function(&value) || self.is_literal(&value)
        })
    }

    /// Whether a name is read, or gets nothing but harmless values, each as the tokens where it begins.
    fn sets(
        &self,
        index: usize,
        name: &Name<'_>,
        is_harmless: impl Fn(Range<usize>) -> bool,
    ) -> bool {
        let after = name.after;
        let is_global = is_in("location open Worker SharedWorker importScripts", name.text);
        // A key may stand in brackets: `["innerHTML"]: …`.
        let is_bracket = |at: &usize| matches!(self.at(*at), "[" | "`");
        let start = (0..index).rev().take_while(is_bracket).last();
        let start = start.filter(|_| !name.is_member).unwrap_or(index);
        let parent = self.tokens[start].parent;
        let is_key = matches!(self.at(start.wrapping_sub(1)), "{" | ",")
            && parent.is_some_and(|parent| self.at(parent) == "{");
        if is_key && matches!(self.at(after), ":" | "," | "}") {
            let close = parent.map_or(0, |parent| self.tokens[parent].partner);
            let value = self.expression(after + 1);
            let is_member = value.len() > 2
                && (value.clone()).all(|at| {
                    self.kind(at) == Some(Kind::Word) || matches!(self.at(at), "." | "?.")
                });
            return self.at(close + 1) == "="
                || !self.names(COPIES)
                || (self.at(after) == ":" && (is_member || is_harmless(value)));
        }
        if !name.is_member && !is_global {
            return true;
        }
        match self.at(after) {
            operator if is_assignment(operator) => is_harmless(self.expression(after + 1)),
            "(" => (0..)
                .map_while(|place| self.argument(after, place))
                .all(|argument| argument.is_empty() || is_harmless(argument)),
            "." | "?." => !is_in("call apply bind", self.at(after + 1)),
            "of" | "in" => false,
            _ => !name.is_member || !self.is_pattern(index),
        }
    }

    /// Whether an expression is a name, or a member of one.
    fn is_path(&self, value: &Range<usize>) -> bool {
        let is_part = |at| self.kind(at) == Some(Kind::Word) || matches!(self.at(at), "." | "?.");
        !value.is_empty() && value.clone().all(is_part)
    }

    /// Whether this token stands in a list or object that is assigned to.
    fn is_pattern(&self, index: usize) -> bool {
        std::iter::successors(self.tokens[index].parent, |&at| self.tokens[at].parent)
            .take_while(|&at| {
                matches!(self.at(at), "[" | "{") && !self.ends_value(at.wrapping_sub(1))
            })
            .any(|at| self.at(self.tokens[at].partner + 1) == "=")
    }

    /// Whether this token names a script element.
    pub(super) fn is_script_element(&self, index: usize) -> bool {
        let text = self.literal(index).unwrap_or_default();
        let text = text.trim_start_matches('<').to_ascii_lowercase();
        let rest = text.strip_prefix("script");
        is_in("script scripts currentScript", self.at(index))
            || rest.is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric()))
    }

    /// Whether the script has one of these words.
    fn names(&self, words: &str) -> bool {
        words.split(' ').any(|word| self.words.contains(word))
    }

    /// Whether jQuery may be meant. A script may have a function of its own that is called `$`.
    pub(super) fn may_have_jquery(&self) -> bool {
        let is_own = || {
            let own = self.only_value("$");
            own.is_some_and(|value| self.is_function(&value))
        };
        self.names("jQuery") || (self.names("$") && !is_own())
    }

    /// The tokens of the value that a variable gets, if it gets one only.
    fn only_value(&self, variable: &str) -> Option<Range<usize>> {
        let is_set = |&at: &usize| {
            self.at(at) == variable
                && !matches!(self.at(at.wrapping_sub(1)), "." | "?.")
                && is_assignment(self.at(at + 1))
        };
        let mut all = (0..self.tokens.len()).filter(is_set);
        let only = all.next().filter(|_| all.next().is_none())?;
        Some(self.expression(only + 2))
    }

    /// The tokens of a value; of a variable that gets one only, those of that.
    fn meant(&self, value: Range<usize>) -> Range<usize> {
        let named = (value.len() == 1).then(|| self.only_value(self.at(value.start)));
        named.flatten().unwrap_or(value)
    }

    /// Whether an expression is a jQuery object and what its methods give, or the name of one.
    fn is_jquery(&self, value: &Range<usize>) -> bool {
        let value = self.meant(value.clone());
        if value.is_empty() {
            return false;
        }
        let parent = self.tokens[value.start].parent;
        is_in(JQUERY, self.at(value.start))
            && self.at(value.start + 1) == "("
            && value.clone().all(|at| {
                self.tokens[at].parent != parent
                    || self.kind(at) == Some(Kind::Word)
                    || matches!(self.at(at), "." | "(" | ")")
            })
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
        let acts = matches!(self.at(after), "(" | "`" | "++" | "--")
            || is_assignment(self.at(after))
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
            let mut data = self.data_in(&token.range).map(|data| data.range.start);
            data.any(|start| start == token.range.start || start == token.range.start + 1)
        })
    }

    /// The name that a token is: a word, a key, or a text in the brackets of a member.
    fn name(&self, index: usize) -> Option<Name<'_>> {
        let (text, n_around) = match self.kind(index)? {
            Kind::Word => (self.at(index), 0),
            Kind::String => (self.literal(index)?, 1),
            Kind::Template if self.has_data(&self.tokens[index].range) => return None,
            Kind::Template => (self.at(index), 2),
            _ => return None,
        };
        let (before, after) = (index.wrapping_sub(n_around.max(1)), index + n_around.max(1));
        let is_bracketed = n_around > 0 && (self.at(before), self.at(after)) == ("[", "]");
        let is_in_brackets = is_bracketed
            && (self.ends_value(before.wrapping_sub(1)) || self.at(before.wrapping_sub(1)) == "?.");
        let is_key = is_bracketed && !is_in_brackets && self.at(after + 1) == ":";
        let is_member = is_in_brackets || (n_around == 0 && matches!(self.at(before), "." | "?."));
        if n_around > 0 && !is_in_brackets && !is_key && self.at(index + 1) != ":" {
            return None;
        }
        let after = if is_bracketed { after + 1 } else { index + 1 };
        let is_optional = self.at(after) == "?." && matches!(self.at(after + 1), "(" | "[");
        Some(Name {
            text,
            owner: if is_member {
                self.at(before.wrapping_sub(1))
            } else {
                ""
            },
            is_member,
            after: after + usize::from(is_optional),
        })
    }

    /// The tokens from here to where a list, a bracket or a statement goes on.
    fn expression(&self, start: usize) -> Range<usize> {
        let parent = self.tokens.get(start).and_then(|token| token.parent);
        let is_end = |&at: &usize| {
            let token = &self.tokens[at];
            (token.parent == parent
                && (matches!(self.at(at), "," | ";") || self.begins_statement(at)))
                || parent.is_some_and(|parent| self.tokens[parent].partner == at)
        };
        start
            ..(start..self.tokens.len())
                .find(is_end)
                .unwrap_or(self.tokens.len())
    }

    /// Whether an expression is made of literals: texts, `null` and numbers, with `+` between them.
    fn is_literal(&self, value: &Range<usize>) -> bool {
        let is_plain = |at: usize| match self.kind(at) {
            Some(Kind::String) => self.literal(at).is_some(),
            Some(Kind::Template) => !self.has_data(&self.tokens[at].range),
            Some(Kind::Word) => is_in("null true false", self.at(at)) || is_integer(self.at(at)),
            _ => matches!(self.at(at), "+" | "`"),
        };
        !value.is_empty() && value.clone().all(is_plain)
    }

    /// Whether an expression ends before this token.
    fn is_end(&self, index: usize) -> bool {
        matches!(self.at(index), "" | ";" | "," | ")" | "]" | "}") || self.begins_statement(index)
    }

    /// Whether a word at the beginning of a line begins a statement, and doesn't go on with what stands before it.
    fn begins_statement(&self, index: usize) -> bool {
        self.kind(index) == Some(Kind::Word)
            && self.tokens[index].is_line_start
            && !is_in("in instanceof of", self.at(index))
            && self.ends_value(index.wrapping_sub(1))
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

    /// Whether a URL begins here whose scheme and host no data decides.
    fn is_url(&self, index: usize) -> bool {
        static URL: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r"^(?:(?:https?:)?//[^/?#\\]+[/?#]|/[^/\\]|[?#]|\.\.?/)")
                .expect("a fixed pattern")
        });
        let is_template = self.at(index) == "`";
        let after = match self.tokens.get(index) {
            Some(token) if is_template => token.partner + 1,
            _ => index + 1,
        };
        (self.at(after) == "+" || self.is_end(after))
            && self.beginning(index).is_some_and(|text| URL.is_match(text))
    }

    /// A string without data in it.
    fn literal(&self, index: usize) -> Option<&str> {
        let token = self.tokens.get(index)?;
        let is_literal = token.kind == Kind::String && !self.has_data(&token.range);
        is_literal.then(|| self.at(index).trim_matches(['"', '\'']))
    }

    /// The tokens of an argument of a call with this bracket.
    fn argument(&self, bracket: usize, place: usize) -> Option<Range<usize>> {
        let end = self
            .tokens
            .get(bracket)
            .filter(|_| self.at(bracket) == "(")?
            .partner;
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

fn is_assignment(operator: &str) -> bool {
    operator.ends_with('=') && !is_in("== === != !== <= >=", operator)
}
