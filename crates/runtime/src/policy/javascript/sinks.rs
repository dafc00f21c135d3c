//! Scripts that make code of values, in the forms that people write by mistake. Data is a value whatever stands here; what a
//! script does with its values is the author's word.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::super::source::{is_in, is_integer};
use super::{Kind, Refusal, Script, refusal};

/// Names, whether a script with data uses one of them as it may, and what to write instead. Reading is always fine.
type Rule = (
    &'static str,
    fn(&Script<'_>, &Name<'_>) -> bool,
    &'static str,
);

const RULES: &[Rule] = &[
    (
        "eval Function import Reflect insertAdjacentHTML setHTMLUnsafe createContextualFragment srcdoc setContent setAttributeNS",
        |_, _| false,
        "call the function that is meant, with the reference as its argument",
    ),
    (
        "innerHTML outerHTML write writeln html",
        |script, name| script.sets_literals(name),
        "set `textContent` of an element",
    ),
    (
        "text textContent innerText nodeValue append appendChild prepend insertBefore insertAdjacentText replaceChildren createTextNode",
        |script, name| !script.has_script_element || script.sets_literals(name),
        "make script elements in a step without data",
    ),
    (
        "append prepend after before replaceWith replaceAll wrap wrapAll wrapInner load parseHTML globalEval getScript",
        |script, name| {
            let is_harmless = |value: &_| script.is_literal(value) || script.is_jquery(value);
            let is_form = |made: Range<usize>| {
                script.at(made.start) == "new"
                    && is_in(
                        "FormData URLSearchParams Headers",
                        script.at(made.start + 1),
                    )
            };
            !script.has_jquery
                || script.sets(name, is_harmless)
                || script.only_value(name.owner).is_some_and(is_form)
        },
        "make the element first, and set its text: `$('<li>').text(REFERENCE)`",
    ),
    (
        "host hostname protocol port",
        |script, name| name.owner != "location" || script.sets_literals(name),
        "write the address literally",
    ),
    (
        "href src action formAction",
        |script, name| script.sets_urls(name),
        URL,
    ),
    (
        "location",
        |script, name| is_in("const let var", script.before(name.index)) || script.sets_urls(name),
        URL,
    ),
    // A text is replaced by another one, a page by one URL.
    (
        "assign replace",
        |script, name| {
            let is_meant = name.owner == "location"
                || (script.is_call(name) && script.arguments(name.after).count() == 1);
            !is_meant || script.sets_urls(name)
        },
        URL,
    ),
    (
        "open Worker SharedWorker importScripts",
        |script, name| !name.is_global() || !script.is_call(name) || script.sets_urls(name),
        URL,
    ),
    (
        "setAttribute attr prop",
        |script, name| !name.is_member || script.names_attribute(name),
        "write the attribute's name as a string, of one that is no handler and no URL; for a handler, use `addEventListener` with a function",
    ),
    (
        "assign",
        |script, name| {
            let target = script.meant(script.argument(name, 0));
            let mut others = script.arguments(name.after).skip(1);
            name.owner != "Object"
                || !script.is_call(name)
                || script.at(target.start) == "{"
                || !others.any(|other| script.is_open(other))
        },
        "name the members that are set: `{ title: REFERENCE }`",
    ),
    (
        "setTimeout setInterval",
        |script, name| {
            let first = script.meant(script.argument(name, 0));
            script.is_call(name)
                && !script.is_data(first.start)
                && (script.is_path(&first) || script.is_function(&first))
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
    (
        JQUERY,
        |script, name| {
            !name.is_global()
                || !script.is_call(name)
                || !script.has_jquery
                || script.is_selector(name)
        },
        "write `document.querySelector(REFERENCE)`",
    ),
];

const URL: &str = "begin the URL with its literal scheme and host, as `https://host/`, or with a literal path, or open it with the browser's tool for that";

const SENT: &str = "Playwright sends a function to the page without what is around it: pass data as its argument, `evaluate(value => …, REFERENCE)`";

const JQUERY: &str = "$ jQuery";

const WINDOWS: &str = "window globalThis self top parent frames this defaultView contentWindow";

/// What sets members of one object to those of another.
const COPIES: &str =
    "assign attr prop entries fromEntries defineProperty defineProperties $ jQuery";

/// A name in a script: a word, a key, or a text in the brackets of a member.
struct Name<'a> {
    text: &'a str,
    index: usize,
    /// The first token of it with its brackets, and the token after it.
    start: usize,
    after: usize,
    /// The token that it is a member of; empty if it is none.
    owner: &'a str,
    is_member: bool,
}

impl Name<'_> {
    fn is_global(&self) -> bool {
        !self.is_member || is_in(WINDOWS, self.owner)
    }
}

impl<'text> Script<'text> {
    pub(super) fn check_sinks(&mut self) -> Result<(), Refusal> {
        self.has_script_element = (0..self.tokens.len()).any(|at| self.is_script_element(at));
        self.copies_members = self.has_word(COPIES);
        // A script may have a function of its own that is called `$`.
        let own = self.only_value("$").filter(|value| self.is_function(value));
        self.has_jquery = self.has_word("jQuery") || (self.has_word("$") && own.is_none());
        for index in 0..self.tokens.len() {
            let rule = self.name(index).and_then(|name| {
                let is_broken = |rule: &&Rule| is_in(rule.0, name.text) && !(rule.1)(self, &name);
                let (.., help) = RULES.iter().find(is_broken)?;
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

    /// Whether the script has one of these words.
    fn has_word(&self, words: &str) -> bool {
        (0..self.tokens.len())
            .any(|at| self.kind(at) == Some(Kind::Word) && is_in(words, self.at(at)))
    }

    /// Whether this token names a script element.
    fn is_script_element(&self, index: usize) -> bool {
        let text = self.literal(index).unwrap_or_default();
        let text = text.trim_start_matches('<').to_ascii_lowercase();
        let rest = text.strip_prefix("script");
        is_in("script scripts currentScript", self.at(index))
            || rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    }

    /// The name that a token is.
    fn name(&self, index: usize) -> Option<Name<'text>> {
        let (text, n_around) = match self.kind(index)? {
            Kind::Word => (self.at(index), 0),
            Kind::String => (self.literal(index)?, 1),
            Kind::Template if !self.has_data(index) => (self.at(index), 2),
            _ => return None,
        };
        let (before, after) = (index.wrapping_sub(n_around.max(1)), index + n_around.max(1));
        let is_bracketed = n_around > 0 && (self.at(before), self.at(after)) == ("[", "]");
        let is_in_brackets = is_bracketed
            && (self.ends_value(before.wrapping_sub(1)) || self.before(before) == "?.");
        let is_key = is_bracketed && !is_in_brackets && self.at(after + 1) == ":";
        if n_around > 0 && !is_in_brackets && !is_key && self.at(index + 1) != ":" {
            return None;
        }
        let is_member = is_in_brackets || (n_around == 0 && matches!(self.at(before), "." | "?."));
        let after = if is_bracketed { after + 1 } else { index + 1 };
        let is_optional = self.at(after) == "?." && matches!(self.at(after + 1), "(" | "[");
        Some(Name {
            text,
            index,
            start: if is_key { before } else { index },
            after: after + usize::from(is_optional),
            owner: if is_member { self.before(before) } else { "" },
            is_member,
        })
    }

    fn is_call(&self, name: &Name<'_>) -> bool {
        self.at(name.after) == "("
    }

    fn sets_literals(&self, name: &Name<'_>) -> bool {
        self.sets(name, |value| self.is_literal(value))
    }

    fn sets_urls(&self, name: &Name<'_>) -> bool {
        // An object is the place of a router.
        self.sets(name, |value| {
            self.is_literal(value) || self.is_url(value.start) || self.at(value.start) == "{"
        })
    }

    /// Whether a name is read, or gets nothing but harmless values.
    fn sets(&self, name: &Name<'_>, is_harmless: impl Fn(&Range<usize>) -> bool) -> bool {
        let after = name.after;
        let object = self.tokens[name.start].parent;
        let object = object.filter(|&object| {
            self.at(object) == "{"
                && matches!(self.before(name.start), "{" | ",")
                && matches!(self.at(after), ":" | "," | "}")
        });
        if let Some(object) = object {
            let value = self.expression(after + 1);
            let is_member = value.len() > 2 && self.is_path(&value);
            return self.at(self.tokens[object].partner + 1) == "="
                || !self.copies_members
                || (self.at(after) == ":" && (is_member || is_harmless(&value)));
        }
        if !name.is_member && !is_in("location open Worker SharedWorker importScripts", name.text) {
            return true;
        }
        match self.at(after) {
            operator if is_assignment(operator) => is_harmless(&self.expression(after + 1)),
            "(" => self
                .arguments(after)
                .all(|argument| argument.is_empty() || is_harmless(&argument)),
            "." | "?." => !is_in("call apply bind", self.at(after + 1)),
            "of" | "in" => false,
            _ => !name.is_member || !self.is_pattern(name.index),
        }
    }

    /// Whether this token stands in a list or object that is assigned to.
    fn is_pattern(&self, index: usize) -> bool {
        std::iter::successors(self.tokens[index].parent, |&at| self.tokens[at].parent)
            .take_while(|&at| {
                matches!(self.at(at), "[" | "{") && !self.ends_value(at.wrapping_sub(1))
            })
            .any(|at| self.at(self.tokens[at].partner + 1) == "=")
    }

    /// Whether a call names an attribute with a literal, which is no handler or URL, or gets one.
    fn names_attribute(&self, name: &Name<'_>) -> bool {
        const URLS: &str = "href src srcdoc xlink:href action formaction data innerhtml outerhtml";
        match self.at(name.after + 2) {
            ")" => !self.is_open(self.argument(name, 0)),
            "," => self.literal(name.after + 1).is_some_and(|attribute| {
                let attribute = attribute.to_ascii_lowercase();
                !(is_in(URLS, &attribute) || attribute.starts_with("on"))
                    || self.is_literal(&self.argument(name, 1))
            }),
            _ => false,
        }
    }

    /// Whether a call of jQuery gets a text that begins with a literal, which is no tag, and no handlers.
    fn is_selector(&self, name: &Name<'_>) -> bool {
        let first = self.argument(name, 0);
        let start = self.beginning(first.start).unwrap_or_default().trim_start();
        let is_text = !self.holds_data(first) || !(start.is_empty() || start.starts_with('<'));
        // A handler is fine if it is a function or a literal.
        let is_harmless = |index: usize| {
            let key = self.name(index);
            let key = key.filter(|key| key.text.starts_with("on") && self.at(key.after) == ":");
            key.is_none_or(|key| {
                let value = self.expression(key.after + 1);
                self.is_function(&value) || self.is_literal(&value)
            })
        };
        let mut members = self.argument(name, 1);
        is_text && !self.is_open(members.clone()) && members.all(is_harmless)
    }

    /// Whether data names the members of an object: it is data, or data is spread into it.
    fn is_open(&self, value: Range<usize>) -> bool {
        let value = self.meant(value);
        let is_spread = |at: usize| at == value.start || self.before(at).ends_with('.');
        (value.clone()).any(|at| self.is_data(at) && is_spread(at))
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
        let mut data = self.data_in(&inside);
        acts && data.any(|data| !is_integer(&data.piece.text))
    }

    fn has_data(&self, index: usize) -> bool {
        self.data_in(&self.tokens[index].range).next().is_some()
    }

    /// Whether one of these tokens has data in it.
    fn holds_data(&self, mut tokens: Range<usize>) -> bool {
        tokens.any(|at| self.has_data(at))
    }

    /// Whether a token begins with data.
    fn is_data(&self, index: usize) -> bool {
        self.tokens.get(index).is_some_and(|token| {
            let mut data = self.data_in(&token.range);
            data.any(|data| data.range.start <= token.range.start + 1)
        })
    }

    /// The tokens of the value that a variable gets, if it gets one only.
    fn only_value(&self, variable: &str) -> Option<Range<usize>> {
        let is_set = |&at: &usize| {
            self.at(at) == variable
                && !matches!(self.before(at), "." | "?.")
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
        let mut value = self.meant(value.clone());
        let parent = self.tokens.get(value.start).map(|token| token.parent);
        !value.is_empty()
            && is_in(JQUERY, self.at(value.start))
            && self.at(value.start + 1) == "("
            && value.all(|at| {
                Some(self.tokens[at].parent) != parent
                    || self.kind(at) == Some(Kind::Word)
                    || matches!(self.at(at), "." | "(" | ")")
            })
    }

    /// Whether an expression is a name, or a member of one.
    fn is_path(&self, value: &Range<usize>) -> bool {
        let is_part = |at| self.kind(at) == Some(Kind::Word) || matches!(self.at(at), "." | "?.");
        !value.is_empty() && value.clone().all(is_part)
    }

    /// Whether an expression is made of literals: texts, `null` and numbers, with `+` between them.
    fn is_literal(&self, value: &Range<usize>) -> bool {
        let is_plain = |at: usize| match self.kind(at) {
            Some(Kind::String | Kind::Template) => !self.has_data(at),
            Some(Kind::Word) => is_in("null true false", self.at(at)) || is_integer(self.at(at)),
            _ => matches!(self.at(at), "+" | "`"),
        };
        !value.is_empty() && value.clone().all(is_plain)
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

    /// Whether a URL begins here whose scheme and host no data decides.
    fn is_url(&self, index: usize) -> bool {
        static URL: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r"^(?:(?:https?:)?//[^/?#\\]+[/?#]|/[^/\\]|[?#]|\.\.?/)")
                .expect("a fixed pattern")
        });
        let end = match self.tokens.get(index) {
            Some(token) if self.at(index) == "`" => token.partner,
            _ => index,
        };
        (self.at(end + 1) == "+" || self.expression(index).end == end + 1)
            && self.beginning(index).is_some_and(|text| URL.is_match(text))
    }

    /// The text with which a string begins, up to data in it.
    fn beginning(&self, index: usize) -> Option<&'text str> {
        let start = index + usize::from(self.at(index) == "`");
        let token = self.tokens.get(start)?;
        let first = self.data_in(&token.range).next();
        let end = first.map_or(token.range.end, |data| data.range.start);
        let is_text = matches!(token.kind, Kind::String | Kind::Template);
        is_text.then(|| self.text[token.range.start..end].trim_matches(['"', '\'']))
    }

    /// A string without data in it.
    fn literal(&self, index: usize) -> Option<&'text str> {
        let is_literal = self.kind(index)? == Kind::String && !self.has_data(index);
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
