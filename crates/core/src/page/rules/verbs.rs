//! What a sentence asks: its verb decides how the rest is read.

use super::assertion::{claim, is_claim};
use super::keys::{key, milliseconds};
use super::phrase::{Phrase, RoleWord, without_ignored, written};
use super::sentence::{Sentence, Token, TokenKind};
use super::{Intent, Pool, Understanding};
use crate::scenario::browser::{ActionKind, Direction, InputValue, IntermediateStep};

/// Words that a sentence of the grammar begins with.
const VERBS: &[&str] = &[
    "go",
    "navigate",
    "open",
    "visit",
    "reload",
    "click",
    "tap",
    "press",
    "double-click",
    "doubleclick",
    "double",
    "hover",
    "type",
    "enter",
    "fill",
    "set",
    "clear",
    "check",
    "tick",
    "uncheck",
    "untick",
    "select",
    "choose",
    "scroll",
    "wait",
    "upload",
    "extract",
    "verify",
    "assert",
    "expect",
];

type Read = Result<Intent, String>;

/// What a sentence asks.
pub(super) fn intent(sentence: &Sentence) -> Understanding {
    if let Some(parts) = compound(sentence) {
        return Understanding::Compound { parts };
    }
    let reader = Reader { sentence };
    match reader.read(&sentence.tokens) {
        Ok(intent) => Understanding::Understood(Box::new(intent)),
        Err(reason) => Understanding::NotUnderstood { reason },
    }
}

/// The sentences that one is made of, if outside of quotes another verb begins behind an "and".
fn compound(sentence: &Sentence) -> Option<Vec<String>> {
    let tokens = &sentence.tokens;
    let joins = |token: &Token| token.is_any(&["and", "then"]) || token.kind == TokenKind::Break;
    let mut parts = Vec::new();
    let mut start = 0;
    let mut has_several_names = false;
    for place in 1..tokens.len() {
        if !joins(&tokens[place - 1]) || place < 2 {
            continue;
        }
        let token = &tokens[place];
        has_several_names |=
            token.is_quoted() && tokens[place - 1].is("and") && tokens[place - 2].is_quoted();
        if !token.is_any(VERBS) {
            continue;
        }
        let mut end = place;
        while end > start && joins(&tokens[end - 1]) {
            end -= 1;
        }
        if end > start {
            parts.push(sentence.text[tokens[start].start..tokens[end - 1].end].to_owned());
            start = place;
        }
    }
    if parts.is_empty() {
        return has_several_names.then(Vec::new);
    }
    parts.push(sentence.text[tokens[start].start..tokens[tokens.len() - 1].end].to_owned());
    Some(parts)
}

struct Reader<'a> {
    sentence: &'a Sentence,
}

impl Reader<'_> {
    fn read(&self, tokens: &[Token]) -> Read {
        let Some((verb, rest)) = tokens.split_first() else {
            return Err("it has no words".to_owned());
        };
        let Some(verb) = verb.word().map(str::to_lowercase) else {
            return match is_claim(tokens) {
                true => self.assertion(tokens),
                false => Err("it begins with no verb".to_owned()),
            };
        };
        match verb.as_str() {
            "go" | "navigate" | "open" | "visit" | "reload" => self.navigate(&verb, rest),
            "click" | "tap" => self.on_element(ActionKind::Click, rest),
            "doubleclick" | "double-click" => self.on_element(ActionKind::DoubleClick, rest),
            "double" => match rest {
                [click, rest @ ..] if click.is("click") => {
                    self.on_element(ActionKind::DoubleClick, rest)
                }
                _ => Err("`double` is followed by `click`".to_owned()),
            },
            "hover" => match rest {
                [over, rest @ ..] if over.is("over") => self.on_element(ActionKind::Hover, rest),
                _ => self.on_element(ActionKind::Hover, rest),
            },
            "press" => self.press(rest),
            "type" | "enter" => self.type_into(rest, &verb),
            "fill" => self.fill(rest),
            "set" => self.set(rest),
            "clear" => {
                let value = InputValue::Text(String::new());
                self.with_value(ActionKind::Input, value, rest, Pool::Fields)
            }
            "check" if is_check_of_claim(rest) => self.assertion(rest),
            "check" | "tick" => self.flag(rest, true),
            "uncheck" | "untick" => self.flag(rest, false),
            "select" | "choose" => self.select(rest),
            "scroll" => self.scroll(rest),
            "wait" => self.wait(rest),
            "upload" => self.upload(rest),
            "extract" => {
                let mut intent = self.on_element(ActionKind::Extract, rest)?;
                intent.pool = Pool::Anything;
                Ok(intent)
            }
            "verify" | "assert" | "expect" | "should" => self.assertion(rest),
            _ if is_claim(tokens) => self.assertion(tokens),
            _ => Err(format!("no rule begins with `{verb}`")),
        }
    }

    fn step(&self, action: ActionKind) -> IntermediateStep {
        IntermediateStep::new(action, self.sentence.text.trim())
    }

    fn intent(&self, step: IntermediateStep, phrase: Option<Phrase>, pool: Pool) -> Intent {
        Intent { step, phrase, pool }
    }

    fn on_element(&self, action: ActionKind, tokens: &[Token]) -> Read {
        let phrase = Phrase::read(tokens)?;
        let pool = match (action, phrase.role) {
            // Menus open below what is no button, too.
            (ActionKind::Hover, _) => Pool::Anything,
            (_, Some(RoleWord::Heading | RoleWord::Image)) => Pool::Anything,
            _ => Pool::Interactive,
        };
        Ok(self.intent(self.step(action), Some(phrase), pool))
    }

    fn with_value(
        &self,
        action: ActionKind,
        value: InputValue,
        tokens: &[Token],
        pool: Pool,
    ) -> Read {
        let phrase = Phrase::read(tokens)?;
        let mut step = self.step(action);
        step.input_value = Some(value);
        Ok(self.intent(step, Some(phrase), pool))
    }

    fn flag(&self, tokens: &[Token], flag: bool) -> Read {
        self.with_value(
            ActionKind::Input,
            InputValue::Flag(flag),
            tokens,
            Pool::Checks,
        )
    }

    fn navigate(&self, verb: &str, rest: &[Token]) -> Read {
        let mut step = self.step(ActionKind::Navigate);
        let is_page = |tokens: &[Token]| match without_ignored(tokens) {
            [] => true,
            [page] => page.is("page"),
            _ => false,
        };
        let history = match (verb, rest) {
            ("reload", rest) if is_page(rest) => Some("reload"),
            ("go", [word, rest @ ..]) if is_page(rest) && word.is("back") => Some("back"),
            ("go", [word, rest @ ..]) if is_page(rest) && word.is("forward") => Some("forward"),
            _ => None,
        };
        if let Some(word) = history {
            step.url = Some(word.to_owned());
            return Ok(self.intent(step, None, Pool::Interactive));
        }
        let rest = match (verb, rest) {
            ("go" | "navigate", [to, rest @ ..]) if to.is("to") => rest,
            ("open" | "visit", rest) => rest,
            _ => return Err(format!("`{verb}` is followed by an address")),
        };
        let address = match without_ignored(rest) {
            [token] => match &token.kind {
                TokenKind::Word(text) | TokenKind::Quoted(text) | TokenKind::Reference(text) => {
                    Some(text.clone())
                }
                TokenKind::Break => None,
            },
            _ => None,
        };
        match address.filter(|address| is_address(address)) {
            Some(address) => {
                step.url = Some(address);
                Ok(self.intent(step, None, Pool::Interactive))
            }
            None => Err(format!(
                "`{}` is no address: write a URL, or a path that begins with `/`",
                written(rest)
            )),
        }
    }

    /// `press Enter` is a key, `press 'Enter'` a button.
    fn press(&self, rest: &[Token]) -> Read {
        let at = rest.iter().position(|token| token.is("in"));
        let (keys, place) = match at {
            Some(at) => (&rest[..at], Some(&rest[at + 1..])),
            None => (rest, None),
        };
        let Some(key) = key(keys) else {
            return self.on_element(ActionKind::Click, rest);
        };
        let mut step = self.step(ActionKind::Press);
        step.key = Some(key);
        let phrase = place.map(Phrase::read).transpose()?;
        Ok(self.intent(step, phrase, Pool::Interactive))
    }

    fn type_into(&self, rest: &[Token], verb: &str) -> Read {
        let Some((value, rest)) = take_value(rest) else {
            return Err(format!(
                "`{verb}` is followed by what to type, in quotes: {verb} 'text' into X"
            ));
        };
        match rest {
            [into, rest @ ..] if into.is_any(&["into", "in"]) => {
                self.with_value(ActionKind::Input, value, rest, Pool::Fields)
            }
            _ => Err(format!("it does not say where to {verb} it: … into X")),
        }
    }

    fn fill(&self, rest: &[Token]) -> Read {
        let rest = match rest {
            [first, rest @ ..] if first.is("in") => rest,
            rest => rest,
        };
        if let Some((value, after)) = take_value(rest)
            && let [into, after @ ..] = after
            && into.is_any(&["into", "in"])
        {
            return self.with_value(ActionKind::Input, value, after, Pool::Fields);
        }
        let form = "write fill X with 'text', or fill 'text' into X";
        self.value_after(rest, "with")
            .ok_or_else(|| form.to_owned())?
    }

    fn set(&self, rest: &[Token]) -> Read {
        let form = "write set X to 'text'";
        self.value_after(rest, "to")
            .ok_or_else(|| form.to_owned())?
    }

    /// `X with 'v'`: the last such word that a value and nothing more follows.
    fn value_after(&self, tokens: &[Token], word: &str) -> Option<Read> {
        let at = tokens.iter().rposition(|token| token.is(word))?;
        let (value, rest) = take_value(&tokens[at + 1..])?;
        rest.is_empty()
            .then(|| self.with_value(ActionKind::Input, value, &tokens[..at], Pool::Fields))
    }

    fn select(&self, rest: &[Token]) -> Read {
        let Some((value, rest)) = take_value(without_ignored(rest)) else {
            return Err("write select 'option' from X".to_owned());
        };
        match rest {
            [from, rest @ ..] if from.is("from") => {
                self.with_value(ActionKind::Select, value, rest, Pool::Selects)
            }
            _ => Err("it does not say from what: select 'option' from X".to_owned()),
        }
    }

    fn upload(&self, rest: &[Token]) -> Read {
        let value = match rest {
            [
                Token {
                    kind: TokenKind::Word(file),
                    ..
                },
                to,
                ..,
            ] if to.is("to") && file.contains('.') => {
                Some((InputValue::Text(file.clone()), &rest[1..]))
            }
            rest => take_value(rest),
        };
        match value {
            Some((value, [to, rest @ ..])) if to.is("to") => {
                self.with_value(ActionKind::Upload, value, rest, Pool::Files)
            }
            _ => Err("write upload 'file' to X".to_owned()),
        }
    }

    fn scroll(&self, rest: &[Token]) -> Read {
        let mut step = self.step(ActionKind::Scroll);
        match rest {
            [word] if word.is_any(&["up", "down"]) => {
                step.direction = Some(match word.is("up") {
                    true => Direction::Up,
                    false => Direction::Down,
                });
                Ok(self.intent(step, None, Pool::Anything))
            }
            [to, rest @ ..] if to.is("to") => {
                let phrase = Phrase::read(rest)?;
                Ok(self.intent(step, Some(phrase), Pool::Anything))
            }
            _ => Err("write scroll up, scroll down, or scroll to X".to_owned()),
        }
    }

    fn wait(&self, rest: &[Token]) -> Read {
        if let [until, rest @ ..] = rest
            && until.is("until")
        {
            let mut intent = self.assertion(rest)?;
            intent.step.action_type = ActionKind::Wait;
            return Ok(intent);
        }
        let rest = match rest {
            [first, rest @ ..] if first.is("for") => rest,
            rest => rest,
        };
        let duration = match rest {
            [one] => one.word().and_then(|word| {
                let at = word.find(|sign: char| sign.is_ascii_alphabetic())?;
                milliseconds(&word[..at], &word[at..])
            }),
            [number, unit] => number
                .word()
                .zip(unit.word())
                .and_then(|(number, unit)| milliseconds(number, unit)),
            _ => None,
        };
        let Some(duration) = duration else {
            return Err("write wait 2 s, or wait until …".to_owned());
        };
        let mut step = self.step(ActionKind::Wait);
        step.duration_ms = Some(duration);
        Ok(self.intent(step, None, Pool::Anything))
    }

    fn assertion(&self, tokens: &[Token]) -> Read {
        let tokens = match tokens {
            [that, rest @ ..] if that.is("that") => rest,
            tokens => tokens,
        };
        let (assertion, phrase) = claim(tokens)?;
        let mut step = self.step(ActionKind::Assert);
        step.assertion = Some(assertion);
        Ok(self.intent(step, phrase, Pool::Anything))
    }
}

/// Whether `check` is followed by something that holds or not: `check that …`, `check X is checked`.
fn is_check_of_claim(rest: &[Token]) -> bool {
    rest.first().is_some_and(|first| first.is("that")) || is_claim(rest)
}

/// A value in quotes, a reference or a number, and what follows it.
pub(super) fn take_value(tokens: &[Token]) -> Option<(InputValue, &[Token])> {
    let (first, rest) = tokens.split_first()?;
    let value = match &first.kind {
        TokenKind::Quoted(text) | TokenKind::Reference(text) => InputValue::Text(text.clone()),
        TokenKind::Word(word) => {
            let is_number = word.parse::<f64>().is_ok_and(f64::is_finite)
                && word.starts_with(|sign: char| sign.is_ascii_digit() || sign == '-');
            if !is_number {
                return None;
            }
            match word.parse::<i64>() {
                Ok(number) if number.to_string() == *word => InputValue::Number(number.into()),
                // As it is written: `1.50` stays so.
                _ => InputValue::Text(word.clone()),
            }
        }
        TokenKind::Break => return None,
    };
    Some((value, rest))
}

fn is_address(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let has_scheme = ["http://", "https://", "file://", "about:"]
        .iter()
        .any(|scheme| lower.starts_with(scheme));
    let is_path = ["/", "./", "../", "?", "#"]
        .iter()
        .any(|start| text.starts_with(start));
    (has_scheme || is_path || text.starts_with("{{")) && !text.contains(char::is_whitespace)
        || (text.starts_with("{{") && text.ends_with("}}"))
}
