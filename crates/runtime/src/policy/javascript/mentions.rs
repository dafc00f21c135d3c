//! Names in a script that run a text, show it as HTML or open it as a URL, in the forms in which people mix them with data
//! by mistake. Data is a value whatever stands here; what a script does with its values is the author's word. A script
//! with data that mentions one of these is refused, unless the name is only read or gets literals.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::super::source::{is_in, is_integer};
use super::{Kind, Refusal, Script, reference, refusal};

/// Names, whether a mention of one is harmless, and what to write instead.
type Rule = (
    &'static str,
    fn(&Script<'_>, &Name<'_>) -> bool,
    &'static str,
);

const RULES: &[Rule] = &[
    (
        "eval Function import require Reflect insertAdjacentHTML setHTMLUnsafe createContextualFragment srcdoc setContent \
         setAttributeNS setAttributeNode getAttributeNode createAttribute execCommand parseFromString defineProperty \
         defineProperties importScripts Worker SharedWorker with addModule globalEval",
        |_, _| false,
        "call the function that is meant, with the reference as its argument",
    ),
    (
        "innerHTML outerHTML",
        |script, name| script.sets(name, |value| script.is_literal(value)),
        "set `textContent` of an element",
    ),
    (
        "constructor",
        |script, name| !name.is_member || script.at(name.after) != "(",
        "call the function that is meant, with the reference as its argument",
    ),
    // What is not called is passed on.
    (
        "write writeln",
        |script, name| {
            script.at(name.after) == "(" && script.sets(name, |value| script.is_literal(value))
        },
        "set `textContent` of an element",
    ),
    (
        "text textContent innerText nodeValue append appendChild prepend insertBefore insertAdjacentText replaceChildren createTextNode \
         data appendData insertData replaceData before after replaceWith",
        |script, name| {
            let has_script = (0..script.tokens.len()).any(|at| script.is_script_element(at));
            !has_script || script.sets(name, |value| script.is_literal(value))
        },
        "make script elements in a step without data",
    ),
    (
        "href src action formAction location host hostname protocol port",
        |script, name| {
            let is_part = is_in("host hostname protocol port", name.text);
            (is_part && name.owner != "location") || script.sets(name, |url| script.is_url(url))
        },
        URL,
    ),
    // A text is replaced by another one, a page by one URL.
    (
        "assign replace",
        |script, name| {
            let is_page = name.owner == "location" || script.arguments(name.after).count() == 1;
            !is_page || script.sets(name, |url| script.is_url(url))
        },
        URL,
    ),
    (
        "navigate",
        |script, name| name.owner != "navigation" || script.sets(name, |url| script.is_url(url)),
        URL,
    ),
    (
        "open",
        |script, name| {
            (name.is_member && !is_in(WINDOWS, name.owner))
                || script.at(name.after) != "("
                || script.sets(name, |url| script.is_literal(url) || script.is_url(url))
        },
        URL,
    ),
    (
        "assign",
        |script, name| name.owner != "Object" || script.at(script.argument(name, 0).start) == "{",
        "set each member by its name: `element.title = REFERENCE`",
    ),
    (
        "setAttribute",
        |script, name| !name.is_member || script.names_attribute(name),
        "write one attribute by its name, of one that is no handler and no URL; for a handler, use `addEventListener` with a function",
    ),
    (
        "setTimeout setInterval",
        |script, name| {
            script.at(name.after) == "(" && script.names_function(&script.argument(name, 0))
        },
        "write `setTimeout(() => …)`, with the reference as a value in the function",
    ),
    (
        "evaluate evaluateHandle evaluateAll waitForFunction addInitScript addScriptTag",
        |script, name| name.owner == "document" || !script.holds_data(script.argument(name, 0)),
        SENT,
    ),
    (
        "$eval $$eval",
        |script, name| !script.holds_data(script.argument(name, 1)),
        SENT,
    ),
    // It takes texts for HTML, and more in each method.
    (
        "$ jQuery",
        |script, name| {
            let is_global = !name.is_member || is_in(WINDOWS, name.owner);
            !is_global || script.at(name.after) != "(" || script.is_own(name.text)
        },
        "without jQuery it is `document.querySelector(…)`, with `textContent = REFERENCE` or `value = REFERENCE`",
    ),
];

const URL: &str = "begin the URL with its literal scheme and host, as `https://host/`, or with a literal path, or open it with the browser's tool for that";

const SENT: &str = "Playwright sends a function to the page without what is around it: pass data as its argument, `evaluate(value => …, REFERENCE)`";

const WINDOWS: &str = "window globalThis self top parent frames this defaultView contentWindow";

/// Where a name of the table is mentioned.
struct Name<'a> {
    text: &'a str,
    /// The token that it or its bracket is.
    start: usize,
    /// The token after it and its brackets.
    after: usize,
    /// The token that it is a member of; empty if it is none.
    owner: &'a str,
    is_member: bool,
}

impl<'text> Script<'text> {
    pub(super) fn check_mentions(&self) -> Result<(), Refusal> {
        let source = reference(self.data[0].piece);
        for index in 0..self.tokens.len() {
            let name = self.name(index);
            let broken = name.as_ref().and_then(|name| {
                let mut rules = RULES.iter();
                rules.find(|(names, is_harmless, _)| {
                    is_in(names, name.text) && !is_harmless(self, name)
                })
            });
            let (what, help) = match (broken, name) {
                (Some((.., help)), Some(name)) => (format!("`{}`", name.text), *help),
                _ if self.is_computed(index) => (
                    "a name that is no literal for a member that is called or set".to_owned(),
                    "write the name literally, or keep the values in a `Map`",
                ),
                _ => continue,
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
        let literal = self.literal(index);
        if literal.is_some() && (self.before(index), self.at(index + 1)) != ("[", "]") {
            return None;
        }
        let (text, start, after) = match literal {
            Some(text) => (text, index - 1, index + 2),
            None if self.kind(index)? == Kind::Word => (self.at(index), index, index + 1),
            None => return None,
        };
        let is_behind_dot = matches!(self.before(start), "." | "?.");
        let owner = start.wrapping_sub(if is_behind_dot { 2 } else { 1 });
        let is_member = is_behind_dot || (literal.is_some() && self.ends_value(owner));
        Some(Name {
            text,
            start,
            after: after + usize::from(self.at(after) == "?."),
            owner: if is_member { self.at(owner) } else { "" },
            is_member,
        })
    }

    /// Whether a name is read, or gets nothing but harmless values.
    fn sets(&self, name: &Name<'_>, is_harmless: impl Fn(&Range<usize>) -> bool) -> bool {
        match self.at(name.after) {
            _ if !name.is_member && !is_in("location open", name.text) => true,
            operator if is_assignment(operator) => is_harmless(&self.expression(name.after + 1)),
            "(" => {
                let mut arguments = self.arguments(name.after);
                arguments.all(|argument| argument.is_empty() || is_harmless(&argument))
            }
            "." | "?." => !is_in("call apply bind", self.at(name.after + 1)),
            "of" | "in" => false,
            // In a list or an object that is assigned to, it is set.
            _ => {
                let parent = |at: usize| self.tokens[at].parent;
                let mut lists = std::iter::successors(parent(name.start), |at| parent(*at));
                !lists.any(|at| {
                    self.at(self.tokens[at].partner + 1) == "="
                        && !self.ends_value(at.wrapping_sub(1))
                })
            }
        }
    }

    /// Whether a call names an attribute by a literal, which is no handler or URL, or gets a literal.
    fn names_attribute(&self, name: &Name<'_>) -> bool {
        const URLS: &str = "href src srcdoc xlink:href action formaction data";
        let attribute = self.literal(name.after + 1).map(str::to_ascii_lowercase);
        attribute.is_some_and(|attribute| {
            let is_code = is_in(URLS, &attribute) || attribute.starts_with("on");
            self.at(name.after + 2) == "," && (!is_code || self.is_literal(&self.argument(name, 1)))
        })
    }

    /// Whether the script has a function of its own of this name.
    fn is_own(&self, name: &str) -> bool {
        (0..self.tokens.len()).any(|at| {
            self.at(at) == name
                && self.at(at + 1) == "="
                && self.is_function(&self.expression(at + 2))
        })
    }

    /// Whether this token names a script element.
    fn is_script_element(&self, index: usize) -> bool {
        let text = self.literal(index).unwrap_or_default();
        let text = text.trim_start_matches('<').to_ascii_lowercase();
        let rest = text.strip_prefix("script");
        let selects = "querySelector querySelectorAll closest matches";
        let is_selector =
            self.before(index) == "(" && is_in(selects, self.before(index.wrapping_sub(1)));
        let is_name = |sign: char| sign.is_alphanumeric() || matches!(sign, '-' | '_');
        let mut names = text.split([' ', '>', '+', '~', ',']);
        let mut is_script = || {
            let mut rests = names
                .by_ref()
                .filter_map(|name| name.strip_prefix("script"));
            rests.any(|rest| !rest.starts_with(is_name))
        };
        is_in("script scripts currentScript", self.at(index))
            || rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
            || (is_selector && is_script())
    }

    /// Whether data, or a template, is the name of a member that is called or set, or of one of a window.
    fn is_computed(&self, bracket: usize) -> bool {
        let before = bracket.wrapping_sub(1);
        if self.at(bracket) != "[" || !(self.ends_value(before) || self.at(before) == "?.") {
            return false;
        }
        let close = self.tokens[bracket].partner;
        let inside = self.tokens[bracket].range.start..self.tokens[close].range.end;
        let after = close + 1 + usize::from(self.at(close + 1) == "?.");
        let acts = matches!(self.at(after), "(" | "`" | "++" | "--")
            || is_assignment(self.at(after))
            || is_in(WINDOWS, self.at(before));
        let mut data = self.data_in(&inside);
        acts && (self.at(bracket + 1) == "`" || data.any(|data| !is_integer(&data.piece.text)))
    }

    /// Whether one of these tokens has data in it.
    fn holds_data(&self, mut tokens: Range<usize>) -> bool {
        tokens.any(|at| self.data_in(&self.tokens[at].range).next().is_some())
    }

    /// Whether an expression is made of literals: texts, `null` and numbers, with `+` between them.
    fn is_literal(&self, value: &Range<usize>) -> bool {
        let is_plain = |at: usize| match self.kind(at) {
            Some(Kind::String | Kind::Template) => !self.holds_data(at..at + 1),
            Some(Kind::Word) => is_in("null true false", self.at(at)) || is_integer(self.at(at)),
            _ => matches!(self.at(at), "+" | "`"),
        };
        !value.is_empty() && value.clone().all(is_plain)
    }

    /// Whether an argument is a function, and not what it gives.
    fn is_function(&self, argument: &Range<usize>) -> bool {
        let start = argument.start + usize::from(self.at(argument.start) == "async");
        match self.at(start) {
            "function" => self.at(argument.end.wrapping_sub(1)) == "}",
            "(" => self.at(self.tokens[start].partner + 1) == "=>",
            _ => self.at(start + 1) == "=>",
        }
    }

    /// The same, or the name of one: whatever it is set to in the script is a function.
    fn names_function(&self, argument: &Range<usize>) -> bool {
        let is_part = |at| self.kind(at) == Some(Kind::Word) || matches!(self.at(at), "." | "?.");
        let name = self.at(argument.start);
        let is_set = |at: &usize| self.at(*at) == name && is_assignment(self.at(at + 1));
        let mut set = (0..self.tokens.len()).filter(is_set);
        self.is_function(argument)
            || (!argument.is_empty()
                && !self.holds_data(argument.clone())
                && argument.clone().all(is_part)
                && set.all(|at| self.is_function(&self.expression(at + 2))))
    }

    /// Whether a value is literal, or a URL whose scheme and host no data decides; an object is the place of a router.
    fn is_url(&self, value: &Range<usize>) -> bool {
        static URL: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r"^(?:(?:https?:)?//[^/?#\\]+[/?#]|/[^/\\]|[?#]|\.\.?/)")
                .expect("a fixed pattern")
        });
        let Some(first) = self.tokens.get(value.start) else {
            return false;
        };
        let end = if self.at(value.start) == "`" {
            first.partner
        } else {
            value.start
        };
        let is_choice = |at: usize| {
            self.tokens[at].parent == first.parent
                && matches!(self.at(at), "?" | "&&" | "||" | "??")
        };
        let begins = self
            .beginning(value.start)
            .is_some_and(|text| URL.is_match(text));
        let goes_on = end + 1 == value.end || self.at(end + 1) == "+";
        self.is_literal(value)
            || self.at(value.start) == "{"
            || (begins && goes_on && !value.clone().any(is_choice))
    }

    /// The text with which a string begins, up to data in it.
    fn beginning(&self, index: usize) -> Option<&'text str> {
        let token = self
            .tokens
            .get(index + usize::from(self.at(index) == "`"))?;
        let first = self.data_in(&token.range).next();
        let end = first.map_or(token.range.end, |data| data.range.start);
        let is_text = matches!(token.kind, Kind::String | Kind::Template);
        is_text.then(|| self.text[token.range.start..end].trim_matches(['"', '\'']))
    }

    /// A string without data in it.
    fn literal(&self, index: usize) -> Option<&'text str> {
        let is_literal = self.kind(index)? == Kind::String && !self.holds_data(index..index + 1);
        is_literal.then(|| self.at(index).trim_matches(['"', '\'']))
    }

    /// The tokens of each argument of a call with this bracket.
    fn arguments(&self, bracket: usize) -> impl Iterator<Item = Range<usize>> {
        let end = match self.at(bracket) {
            "(" => self.tokens[bracket].partner,
            _ => bracket,
        };
        let mut start = bracket + 1;
        let is_end = move |&at: &usize| {
            at == end || (self.at(at) == "," && self.tokens[at].parent == Some(bracket))
        };
        (start..=end)
            .filter(is_end)
            .map(move |end| std::mem::replace(&mut start, end + 1)..end)
    }

    /// The tokens of an argument of a call, if it is one.
    fn argument(&self, name: &Name<'_>, place: usize) -> Range<usize> {
        self.arguments(name.after).nth(place).unwrap_or_default()
    }

    /// The tokens from here to where a list, a bracket or a statement goes on.
    fn expression(&self, start: usize) -> Range<usize> {
        let parent = self.tokens.get(start).and_then(|token| token.parent);
        let is_end = |&at: &usize| {
            let is_inside = self.tokens[at].parent != parent;
            let is_over = matches!(self.at(at), "," | ";") || self.begins_statement(at);
            (!is_inside && is_over)
                || parent.is_some_and(|parent| self.tokens[parent].partner == at)
        };
        let all = self.tokens.len();
        start..(start..all).find(is_end).unwrap_or(all)
    }
}

fn is_assignment(operator: &str) -> bool {
    operator.ends_with('=') && !is_in("== === != !== <= >=", operator)
}
