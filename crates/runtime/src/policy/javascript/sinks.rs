//! Scripts that make code of values.
//!
//! The list is of what a page, jQuery and Playwright offer. It is asked of the whole script: where a value goes is not
//! followed.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::super::source::is_integer;
use super::{Kind, Refusal, Script, refusal};

/// Patterns of what a script with data may not use, what it may be nevertheless, and what helps. A space stands around
/// each token, and the last group is the name. `SET` is an assignment of anything but a literal, `FUNCTION` a function,
/// `WRITTEN` one that is written there, `@data` data, and `[@ @]` the brackets of a member with data in them.
const SINKS: &[(&str, &str, &str)] = &[
    (
        " (eval|Function|import|constructor|execScript|importScripts|Reflect|Worker|SharedWorker|insertAdjacentHTML\
         |createContextualFragment|setHTMLUnsafe|srcdoc|dangerouslySetInnerHTML|setAttributeNS|setAttributeNode\
         |createAttribute|globalEval|getScript|parseHTML|addScriptTag|setContent|execCommand|parseFromString|parseHTMLUnsafe\
         |serviceWorker|addModule|runIn\\w+Context) ",
        "",
        CALL,
    ),
    (r#"(?i)"[\s_]*(javascript:)"#, "", CALL),
    (
        r" (setTimeout|setInterval) ",
        r" \w+ \( FUNCTION",
        "write `setTimeout(() => …)`, with the reference as a value in the function",
    ),
    (
        r" (?:\S+ \. )?(evaluate|evaluateHandle|evaluateAll|waitForFunction|addInitScript) \( ",
        r#" (?:document \. |(?:\S+ \. )?\w+ \( (?:FUNCTION|"[^"]*" [,)]))"#,
        SENT,
    ),
    (
        r" (evaluate|evaluateHandle|evaluateAll|waitForFunction|addInitScript) \( WRITTEN [^,]*@data",
        "",
        SENT,
    ),
    (r" (\$\$?eval) \( ", r" \S+ \( \S+ , FUNCTION", SENT),
    (r" (\$\$?eval) \( \S+ , WRITTEN [^,]*@data", "", SENT),
    (r" \. (innerHTML|outerHTML) SET", "", "set `textContent`"),
    (r" \. (location|href|src|action|formAction) SET", "", OPEN),
    (r" (?:\S+ )?(location) SET", " (?:const|let|var) ", OPEN),
    (r" location \. (assign|replace) ", "", OPEN),
    (
        r"(?:[^.] |^ )(?:(?:window|self|top|parent|globalThis) \. )?(open) \( ",
        "",
        OPEN,
    ),
    (
        r#" (setAttribute) (?:[^(]|$|\( [^"]|\( "[^"]*" [^,]|\( "(?i:on[^"]*|href|src|srcdoc|xlink:href|action|formaction|data)" , (?:[^"]|"[^"]*" [^)]))"#,
        "",
        "write the attribute's name as a string; for a handler, use `addEventListener` with a function",
    ),
    (
        r" \S*(?i:document) \. (write|writeln) ",
        "",
        "set `textContent` of an element",
    ),
    (
        r" Object \. (assign) (?:\( )?[^{( ]",
        "",
        "set each property by its name: `element.value = …`",
    ),
    (r#" (createElement) \( "(?i:script)" "#, "", SCRIPT),
    (
        r"(?i)\b(?:current)?scripts?\b.* \. (text|textContent|innerText) SET",
        "",
        SCRIPT,
    ),
    (
        r"(?:[^.] |^ )(\$|jQuery) \( @data",
        "",
        "write `document.querySelector(REFERENCE)`",
    ),
    (r" \. (html) \( [^)]", "", "use `.text(…)`"),
    (
        r"(?:[^.] |^ )(?:\$|jQuery) \( .* \. (append|prepend|after|before|replaceWith) \( ",
        "",
        "use `.text(…)`",
    ),
    (
        r" (window|globalThis|self|top|parent|frames|this|defaultView|contentWindow) \[@ ",
        "",
        MEMBER,
    ),
    (r" @(\]) (?:\( |` |SET|\. (?:call|apply|bind) )", "", MEMBER),
];

const CALL: &str = "call the function that is meant, with the reference as its argument";
const OPEN: &str =
    "open the URL with the browser's tool for it (`navigate_page`, `browser_navigate`)";
const SCRIPT: &str = "write the text of the script element literally";
const SENT: &str = "Playwright sends a function to the page without what is around it: pass data as its argument, `evaluate(value => …, REFERENCE)`";
const MEMBER: &str = "write the name of the member literally";

const SET: &str = r#"(?:=|\+=|\|\|=|&&=|\?\?=) (?:[^"]|"[^"]*" [^;)},\w])"#;
const FUNCTION: &str = r"(?:WRITTEN|@function [,)])";
const WRITTEN: &str = r"(?:async )?(?:function |\([^()]*\) =>|[\w$]+ =>)";

static TABLE: LazyLock<Vec<(Regex, Option<Regex>, &str)>> = LazyLock::new(|| {
    let sinks = SINKS.iter().map(|(pattern, unless, help)| {
        let unless = (!unless.is_empty()).then(|| read(&format!("^{unless}")));
        (read(pattern), unless, *help)
    });
    sinks.collect()
});

fn read(pattern: &str) -> Regex {
    let pattern = pattern
        .replace("SET", SET)
        .replace("FUNCTION", FUNCTION)
        .replace("WRITTEN", WRITTEN);
    Regex::new(&pattern).expect("a fixed pattern")
}

impl Script<'_> {
    pub(super) fn check_sinks(&self) -> Result<(), Refusal> {
        let tokens = self.spaced_tokens();
        for (pattern, unless, help) in TABLE.iter() {
            for found in pattern.captures_iter(&tokens) {
                let start = found.get(0).map_or(0, |whole| whole.start());
                let is_fine = |unless: &Regex| unless.is_match(&tokens[start..]);
                if unless.as_ref().is_some_and(is_fine) {
                    continue;
                }
                let name = found.iter().flatten().last();
                let what = match name.map_or("", |name| name.as_str()) {
                    "]" => "it as the name of a member that is called or set".to_owned(),
                    name if found[0].contains("= ") => format!("`{name} = …`"),
                    name => format!("`{name}`"),
                };
                return Err(refusal(
                    format!(
                        "the script with the data of `{}` uses {what}, which can run text as code",
                        self.source()
                    ),
                    help.replace("REFERENCE", &self.source()),
                ));
            }
        }
        Ok(())
    }

    /// The tokens with a space around each, and what the patterns need to know of them.
    fn spaced_tokens(&self) -> String {
        static NAMED: LazyLock<Regex> = LazyLock::new(|| {
            read(
                r" function ([\w$]+) \(| ([\w$]+) = WRITTEN| Promise \( (?:async )?(?:function )?(?:\( )?([\w$]+) (?:, ([\w$]+) )?(?:=>|\))",
            )
        });
        static CALLBACK: LazyLock<Regex> = LazyLock::new(|| {
            read(r"( (?:setTimeout|setInterval|evaluate\w*|waitForFunction) \( )([\w$]+) ")
        });
        let mut tokens = String::from(" ");
        for (index, token) in self.tokens.iter().enumerate() {
            let mut data = self.data_in(&token.range).peekable();
            let bracket = if self.at(index) == "[" {
                index
            } else {
                token.partner
            };
            tokens += &match token.kind {
                _ if data.peek().is_some() => "@data".to_owned(),
                Kind::String
                    if self.is_member(index.wrapping_sub(1)) && self.at(index + 1) == "]" =>
                {
                    self.at(index)[1..self.at(index).len() - 1].to_owned()
                }
                Kind::String | Kind::Template => {
                    let text = self.at(index).trim_matches(['"', '\'']);
                    format!("\"{}\"", text.replace(['"', ' ', '\n'], "_"))
                }
                Kind::Symbol if self.is_member(bracket) => {
                    let inside = token
                        .range
                        .start
                        .min(self.tokens[token.partner].range.start)
                        ..token.range.end.max(self.tokens[token.partner].range.end);
                    let mut keys = self.data_in(&inside).map(|data| data.piece.text.as_str());
                    let name = &self.tokens[bracket + 1];
                    match (keys.find(|key| !is_integer(key)), self.at(index)) {
                        (Some("constructor" | "__proto__"), _) => "constructor".to_owned(),
                        (Some(_), "[") => "[@".to_owned(),
                        (Some(_), _) => "@]".to_owned(),
                        // `window["eval"]` is `window.eval`.
                        (None, "[") if name.kind == Kind::String => ".".to_owned(),
                        (None, _) if name.kind == Kind::String && bracket + 2 == index => continue,
                        (None, symbol) => symbol.to_owned(),
                    }
                }
                // What is called at once is not the function.
                Kind::Word if self.at(index) == "function" && self.is_called(index) => {
                    "@called".to_owned()
                }
                _ if self.at(index) == "?." => match self.at(index + 1) {
                    "(" | "[" => continue,
                    _ => ".".to_owned(),
                },
                _ => self.at(index).to_owned(),
            };
            tokens.push(' ');
        }
        let named = NAMED.captures_iter(&tokens);
        let named: HashSet<&str> = named
            .flat_map(|found| {
                found
                    .iter()
                    .skip(1)
                    .flatten()
                    .map(|name| name.as_str())
                    .collect::<Vec<_>>()
            })
            .collect();
        let with_functions = CALLBACK.replace_all(&tokens, |found: &Captures<'_>| {
            let name = if named.contains(&found[2]) {
                "@function"
            } else {
                &found[2]
            };
            format!("{}{name} ", &found[1])
        });
        with_functions.into_owned()
    }

    /// Whether something is done with the function that is written at `index`.
    fn is_called(&self, index: usize) -> bool {
        let parent = self.tokens[index].parent;
        let mut following = index..self.tokens.len();
        let body = following.find(|&at| self.at(at) == "{" && self.tokens[at].parent == parent);
        let after = body.map(|body| self.tokens[body].partner + 1);
        after.is_some_and(|after| {
            self.kind(after) == Some(Kind::Symbol)
                && !matches!(self.at(after), "," | ";" | ":" | ")" | "]" | "}")
        })
    }

    /// Whether a bracket opens the name of a member.
    fn is_member(&self, index: usize) -> bool {
        let before = index.wrapping_sub(1);
        self.at(index) == "[" && (self.ends_value(before) || self.at(before) == "?.")
    }
}
