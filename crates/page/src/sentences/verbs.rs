//! What a sentence asks: its verb decides how the rest is read.

use strum::VariantArray as _;

use super::assertion::{expanded, is_claim, is_like_claim, without_page};
use super::forms::{Verb, take_verb};
use super::keys::key;
use super::phrase::{Phrase, RoleWord, Words, item, take_place, without_ignored, written};
use super::sentence::{
    Sentence, Token, TokenKind, after, denies, is_address, plain_text, take_bare_value, take_value,
};
use super::{Intent, Pool, Understanding};
use crate::{ActionKind, Direction, InputValue, IntermediateStep};

/// Words before a verb that say nothing.
const FILLERS: &[&str] = &[
    "please", "then", "now", "next", "first", "finally", "and", "also",
];

/// Who does it.
const PERSONS: &[&str] = &["i", "we", "you", "user", "admin", "customer", "visitor"];

/// What people go to, by its name.
const DESTINATIONS: &[&str] = &["page", "section", "folder", "view", "screen"];

/// Which field something is put into.
const INTO: &[&str] = &["into", "in", "for", "as"];

/// What people do with an item, by the control in it of that name.
const ITEM_VERBS: &[&str] = &[
    "accept",
    "approve",
    "archive",
    "block",
    "bookmark",
    "cancel",
    "connect",
    "copy",
    "delete",
    "disconnect",
    "download",
    "duplicate",
    "edit",
    "follow",
    "like",
    "mute",
    "pin",
    "print",
    "reject",
    "remove",
    "rename",
    "reply",
    "report",
    "save",
    "share",
    "star",
    "unfollow",
    "view",
];

/// Where something is dragged.
const ONTO: &[&str] = &["to", "onto", "into"];

/// Words that say which element is meant, or when. In a name without quotes they stand only as a part of the whole name.
pub(super) const LIMITS: &[&str] = &[
    "above", "below", "beside", "before", "after", "except", "unless", "not", "never", "without",
    "but",
];

pub(super) type Read = Result<Intent, String>;

/// What a sentence asks.
pub(super) fn intent(sentence: &Sentence) -> Understanding {
    let reader = Reader { sentence };
    if let Some(parts) = reader.compound() {
        return Understanding::Compound { parts };
    }
    match reader.read(&sentence.tokens) {
        Ok(intent) => Understanding::Understood(Box::new(intent)),
        Err(reason) => Understanding::NotUnderstood {
            is_final: denies_action(&sentence.tokens),
            reason,
        },
    }
}

/// Whether words say what is not to be done: `do not click X`, `click X, but never Y`.
fn denies_action(tokens: &[Token]) -> bool {
    let tokens = expanded(without_fillers(tokens));
    let is_denied = |tokens: &[Token]| {
        let first = tokens.first();
        first.is_some_and(|first| first.is_any(&["not", "never"]))
    };
    let is_action = || {
        let verb = take_verb(&tokens).map(|(verb, _)| verb);
        verb.is_some_and(|verb| {
            !matches!(verb, Verb::Assert | Verb::See | Verb::Check | Verb::Wait)
        })
    };
    is_denied(after(&tokens, "do").unwrap_or(&tokens)) || (is_action() && denies(&tokens))
}

/// Without words before the verb that say nothing: `then`, `please`, `the user`.
pub(super) fn without_fillers(mut tokens: &[Token]) -> &[Token] {
    loop {
        let rest = match tokens {
            [first, rest @ ..] if first.is_any(FILLERS) || first.kind == TokenKind::Break => rest,
            [the, user, rest @ ..] if the.is("the") && user.is("user") => rest,
            [first, rest @ ..] if first.is_any(PERSONS) => rest,
            _ => return tokens,
        };
        // `Next is enabled` is about a button.
        let is_verb = take_verb(rest).is_some()
            || rest
                .first()
                .is_some_and(|next| next.kind == TokenKind::Break);
        let is_filler = tokens[0].is_any(&["please", "then", "now", "and"]);
        if !is_verb && !is_filler && without_fillers(rest).len() == rest.len() {
            return tokens;
        }
        tokens = rest;
    }
}

pub(super) struct Reader<'a> {
    sentence: &'a Sentence,
}

impl Reader<'_> {
    /// The sentences that one is made of, if outside of quotes another one begins behind an "and".
    fn compound(&self) -> Option<Vec<String>> {
        let tokens = &self.sentence.tokens;
        let joins =
            |token: &Token| token.is_any(&["and", "then"]) || token.kind == TokenKind::Break;
        let ends: Vec<usize> = (1..tokens.len())
            .filter(|&place| joins(&tokens[place]) && !joins(&tokens[place - 1]))
            .collect();
        let is_read = |tokens: &[Token]| self.read(tokens).is_ok();
        let written = |part: &[Token]| {
            let part = without_fillers(part);
            let ends = part.first().zip(part.last());
            ends.map(|(first, last)| self.sentence.text[first.start..last.end].to_owned())
        };
        // Behind each of these another verb begins.
        let verbs: Vec<usize> = ends
            .iter()
            .copied()
            .filter(|&end| {
                let rest = &tokens[end..];
                // Behind `then` anything is the next action: its verb may be the name of a button.
                let is_next = rest.iter().take(2).any(|token| token.is("then"));
                let rest = without_fillers(rest);
                take_verb(rest).is_some() || (is_next && rest.len() > 1)
            })
            .collect();
        let starts = || [0].into_iter().chain(verbs.iter().copied());
        let parts: Vec<&[Token]> = starts()
            .zip(starts().skip(1).chain([tokens.len()]))
            .map(|(start, end)| &tokens[start..end])
            .collect();
        let is_next = |part: &&[Token]| part.iter().take(2).any(|token| token.is("then"));
        let are_read = |part: &&[Token]| is_read(part) || is_next(part);
        if parts.len() > 1 && parts.iter().all(are_read) {
            return Some(parts.into_iter().filter_map(written).collect());
        }
        let claims = ends.iter().find(|&&end| {
            let rest = without_fillers(&tokens[end..]);
            is_claim(rest) && is_read(&tokens[..end])
        });
        if let Some(&end) = claims {
            let parts = [&tokens[..end], &tokens[end..]];
            return Some(parts.into_iter().filter_map(written).collect());
        }
        let has_several_names = tokens
            .windows(3)
            .any(|tokens| tokens[0].is_quoted() && tokens[1].is("and") && tokens[2].is_quoted());
        has_several_names.then(Vec::new)
    }

    fn read(&self, tokens: &[Token]) -> Read {
        let tokens = without_fillers(tokens);
        let Some((verb, rest)) = take_verb(tokens) else {
            return match (is_claim(tokens), tokens.first().and_then(Token::as_str)) {
                (true, _) => self.assertion(tokens),
                (false, Some(verb)) if tokens[0].is_any(ITEM_VERBS) => {
                    self.on_item(verb, &tokens[1..])
                }
                (false, _) if is_like_claim(tokens) => self.assertion(tokens),
                (false, Some(verb)) => Err(format!("unknown verb `{verb}`")),
                (false, None) => Err("it does not start with a verb".to_owned()),
            };
        };
        if !matches!(verb, Verb::Assert | Verb::See | Verb::Check | Verb::Wait) {
            return self.read_verb(verb, tokens, without_page(rest));
        }
        self.read_verb(verb, tokens, rest)
    }

    fn read_verb(&self, verb: Verb, tokens: &[Token], rest: &[Token]) -> Read {
        match verb {
            Verb::Navigate => self.navigate(tokens, rest),
            Verb::History => self.history(rest),
            Verb::Reload => self.reload(rest),
            Verb::Click => self.on_element(ActionKind::Click, rest),
            Verb::DoubleClick => self.on_element(ActionKind::DoubleClick, rest),
            Verb::RightClick => self.on_element(ActionKind::RightClick, rest),
            Verb::Hover => self.on_element(ActionKind::Hover, rest),
            Verb::Press => self.press(rest),
            Verb::Unfold(pool) => self.unfold(rest, pool),
            Verb::Close => self.close(rest),
            Verb::Type => self.type_into(rest),
            Verb::Fill => self.fill(rest),
            Verb::Set => self.set(rest),
            Verb::Clear => {
                let value = InputValue::Text(String::new());
                self.with_value(ActionKind::Input, value, rest, Pool::Fields)
            }
            Verb::Search => self.search(rest),
            Verb::Check if is_check_of_claim(rest) => self.assertion(rest),
            Verb::Check => self.flag(rest, true),
            Verb::Flag(flag) => self.flag(rest, flag),
            Verb::Turn => self.turn(rest),
            Verb::Select => self.select(rest),
            Verb::Scroll => self.scroll(rest),
            Verb::Wait => self.wait(rest),
            Verb::Upload => self.upload(rest),
            Verb::Extract => {
                let mut intent = self.on_element(ActionKind::Extract, rest)?;
                intent.pool = Pool::Anything;
                Ok(intent)
            }
            Verb::Drag => self.drag(rest),
            Verb::Assert => self.assertion(rest),
            Verb::See => self.assertion(tokens),
            Verb::Refused(reason) => Err(reason.to_owned()),
        }
    }

    pub(super) fn step(&self, action: ActionKind) -> IntermediateStep {
        IntermediateStep::new(action, self.sentence.text.as_str())
    }

    pub(super) fn intent(
        &self,
        step: IntermediateStep,
        words: Option<Words>,
        pool: Pool,
    ) -> Intent {
        let (mut phrase, span) = words.unzip();
        // `click Archive above Bob` means nothing that is called so only in part.
        if let Some(phrase) = phrase.as_mut().filter(|_| step.assertion.is_none()) {
            let mut words = phrase.name.split(' ');
            phrase.is_quoted |= words.any(|word| LIMITS.contains(&word.to_lowercase().as_str()));
        }
        Intent {
            step,
            phrase,
            span: span.unwrap_or_default(),
            pool,
            to: None,
        }
    }

    fn on_element(&self, action: ActionKind, tokens: &[Token]) -> Read {
        let words = Phrase::read(tokens)?;
        let pool = match (action, words.0.role) {
            // Menus open below what is no button, too.
            (ActionKind::Hover | ActionKind::RightClick, _) => Pool::Anything,
            (_, Some(RoleWord::Heading | RoleWord::Image)) => Pool::Anything,
            _ => Pool::Interactive,
        };
        Ok(self.intent(self.step(action), Some(words), pool))
    }

    /// `drag X to Y`: at the only word behind which an element follows, as one stands before it.
    fn drag(&self, rest: &[Token]) -> Read {
        let ways = (0..rest.len()).filter(|&at| rest[at].is_any(ONTO));
        let mut ways = ways.filter_map(|at| {
            let (what, onto) = (Phrase::read(&rest[..at]), Phrase::read(&rest[at + 1..]));
            what.ok().zip(onto.ok())
        });
        let (Some((what, onto)), None) = (ways.next(), ways.next()) else {
            return Err("write drag 'X' to 'Y'".to_owned());
        };
        let is_number = onto.0.name.trim_end_matches('%').parse::<f64>().is_ok();
        if is_number && !onto.0.is_quoted {
            return Err(format!("write set {} to '{}'", what.0, onto.0.name));
        }
        let of = |words| self.intent(self.step(ActionKind::Drag), Some(words), Pool::Anything);
        Ok(Intent {
            to: Some(Box::new(of(onto))),
            ..of(what)
        })
    }

    fn with_value(
        &self,
        action: ActionKind,
        value: InputValue,
        tokens: &[Token],
        pool: Pool,
    ) -> Read {
        let words = Phrase::read(tokens)?;
        let mut step = self.step(action);
        step.input_value = Some(value);
        Ok(self.intent(step, Some(words), pool))
    }

    fn flag(&self, tokens: &[Token], flag: bool) -> Read {
        let value = InputValue::Flag(flag);
        let mut intent = self.with_value(ActionKind::Input, value, tokens, Pool::Checks)?;
        if let Some(phrase) = &mut intent.phrase
            && phrase.role == Some(RoleWord::Field)
        {
            // `the Remember me box`
            phrase.role = Some(RoleWord::Checkbox);
        }
        Ok(intent)
    }

    /// `delete Hana Novak`, `star the message from GitHub`: the control of that name in the item.
    fn on_item(&self, verb: &str, rest: &[Token]) -> Read {
        let (within, has_kind) = item(rest)
            .ok_or_else(|| format!("it does not say what to {} and where", verb.to_lowercase()))?;
        // In the row of somebody anything may stand.
        let pool = if has_kind {
            Pool::Interactive
        } else {
            Pool::OfItem
        };
        let phrase = Phrase {
            within: Some(within),
            ..Phrase::named(verb)
        };
        Ok(self.intent(self.step(ActionKind::Click), Some((phrase, 0..0)), pool))
    }

    /// `turn X on`
    fn turn(&self, rest: &[Token]) -> Read {
        match rest {
            [rest @ .., way] if way.is_any(&["on", "off"]) => self.flag(rest, way.is("on")),
            _ => Err("write turn on X, or turn off X".to_owned()),
        }
    }

    fn unfold(&self, rest: &[Token], pool: Pool) -> Read {
        let mut intent = self.on_element(ActionKind::Click, rest)?;
        intent.pool = pool;
        Ok(intent)
    }

    /// `close the dialog` is its button of that name, `close X` what is open.
    fn close(&self, rest: &[Token]) -> Read {
        let mut intent = self.unfold(rest, Pool::Expanded)?;
        if let Some(phrase) = &mut intent.phrase
            && phrase.is_dialog()
        {
            phrase.name = "Close".to_owned();
            phrase.is_quoted = true;
            phrase.role = Some(RoleWord::Button);
            intent.span = 0..0;
            intent.pool = Pool::Interactive;
        }
        Ok(intent)
    }

    /// `open X` and `go to X`: an address, or what is clicked if it is called so.
    fn navigate(&self, tokens: &[Token], rest: &[Token]) -> Read {
        let mut step = self.step(ActionKind::Navigate);
        let named = without_ignored(rest);
        let address = match named {
            [token] => token.text().filter(|text| is_address(text)),
            _ => None,
        };
        if let Some(address) = address {
            step.url = Some(address.to_owned());
            return Ok(self.intent(step, None, Pool::Interactive));
        }
        let is_open = tokens[0].is_any(&["open", "opens"]);
        let is_like_address = |token: &Token| {
            token.text().is_some_and(|text| {
                text.contains("://")
                    || (token.as_str().is_some() && text.contains(['/', ':']))
                    || (token.as_str().is_some() && named.len() == 1 && text.contains('.'))
            })
        };
        if !rest.is_empty() && !rest.iter().any(is_like_address) {
            // `the Drafts folder`, `the 'Settings' page`
            let named = match named {
                [rest @ .., noun] if noun.is_any(DESTINATIONS) && !rest.is_empty() => rest,
                named => named,
            };
            let words = Phrase::read(if is_open && named.len() == rest.len() {
                rest
            } else {
                named
            })?;
            let has_role = words.0.role.is_some();
            let is_name = words.0.is_quoted || !words.0.name.starts_with(char::is_lowercase);
            let pool = match is_open || has_role {
                true => Pool::NotExpanded,
                false => Pool::Destinations,
            };
            if is_open || has_role || (is_name && !words.0.is_container()) {
                return Ok(self.intent(self.step(ActionKind::Click), Some(words), pool));
            }
        }
        Err(format!(
            "`{}` is not a URL: write a URL, or a path that starts with `/`",
            written(rest)
        ))
    }

    fn history(&self, rest: &[Token]) -> Read {
        match rest {
            [word, rest @ ..] if word.is_any(&["back", "forward"]) && is_page(rest) => {
                let word = if word.is("back") { "back" } else { "forward" };
                Ok(self.to_page(word))
            }
            _ => Err("`go` is followed by to and an address, back or forward".to_owned()),
        }
    }

    fn reload(&self, rest: &[Token]) -> Read {
        match is_page(rest) {
            true => Ok(self.to_page("reload")),
            false => Err("only the page can be reloaded".to_owned()),
        }
    }

    fn to_page(&self, url: &str) -> Intent {
        let mut step = self.step(ActionKind::Navigate);
        step.url = Some(url.to_owned());
        self.intent(step, None, Pool::Interactive)
    }

    /// `press Enter` is a key, `press 'Enter'` a button.
    fn press(&self, rest: &[Token]) -> Read {
        let at = rest.iter().position(|token| token.is_any(&["in", "on"]));
        let (keys, place) = match at {
            Some(at) => (&rest[..at], Some(&rest[at + 1..])),
            None => (rest, None),
        };
        let Some(key) = key(keys) else {
            return self.on_element(ActionKind::Click, rest);
        };
        let mut step = self.step(ActionKind::Press);
        step.key = Some(key);
        let words = place.map(Phrase::read).transpose()?;
        Ok(self.intent(step, words, Pool::Interactive))
    }

    fn type_into(&self, rest: &[Token]) -> Read {
        let value = take_value(rest)
            .filter(|(_, rest)| rest.first().is_some_and(|into| into.is_any(INTO)))
            .or_else(|| take_bare_value(rest, INTO))
            .or_else(|| take_value(rest));
        let Some((value, rest)) = value else {
            return Err("the text to type must be in quotes: type 'text' into X".to_owned());
        };
        match rest {
            [into, rest @ ..] if into.is_any(INTO) => {
                self.with_value(ActionKind::Input, value, rest, Pool::Fields)
            }
            _ => Err("the field to type into is missing: … into X".to_owned()),
        }
    }

    fn fill(&self, rest: &[Token]) -> Read {
        let rest = match rest {
            [first, rest @ ..] if first.is_any(&["in", "out"]) => rest,
            rest => rest,
        };
        if let Some((value, [into, after @ ..])) = take_value(rest)
            && into.is_any(INTO)
        {
            return self.with_value(ActionKind::Input, value, after, Pool::Fields);
        }
        let form = "write fill X with 'text', or fill 'text' into X";
        self.value_after(rest, &["with"], Pool::Fields)
            .ok_or_else(|| form.to_owned())?
    }

    fn set(&self, rest: &[Token]) -> Read {
        if let [rest @ .., to, way] = rest
            && to.is("to")
            && way.is_any(&["on", "off"])
        {
            return self.flag(rest, way.is("on"));
        }
        let form = "write set X to 'text'";
        self.value_after(rest, &["to", "as"], Pool::FieldsAndSelects)
            .ok_or_else(|| form.to_owned())?
    }

    /// `X with 'v'`: the last such word that a value and nothing more follows.
    fn value_after(&self, tokens: &[Token], words: &[&str], pool: Pool) -> Option<Read> {
        let at = tokens.iter().rposition(|token| token.is_any(words))?;
        let (value, rest) = take_value(&tokens[at + 1..])
            .filter(|(_, rest)| rest.is_empty())
            .or_else(|| Some((InputValue::Text(plain_text(&tokens[at + 1..])?), &[][..])))?;
        rest.is_empty()
            .then(|| self.with_value(ActionKind::Input, value, &tokens[..at], pool))
    }

    /// Types into the one field for searching.
    fn search(&self, rest: &[Token]) -> Read {
        let form = || "write search for 'text'".to_owned();
        // `search the help for 'tents'`: there is only one field for it.
        let at = rest
            .iter()
            .position(|token| token.is("for"))
            .map_or(0, |at| at + 1);
        if rest[..at].iter().any(|token| token.as_str().is_none()) {
            return Err(form());
        }
        let (value, rest) = take_value(&rest[at..])
            .or_else(|| Some((InputValue::Text(plain_text(&rest[at..])?), &[][..])))
            .ok_or_else(form)?;
        let mut step = self.step(ActionKind::Input);
        step.input_value = Some(value);
        let mut phrase = Phrase::nameless(RoleWord::Field);
        match rest {
            [] => {}
            [into, rest @ ..] => {
                // Only a part of the page may follow.
                let (outside, within) = take_place(&self.sentence.tokens).ok_or_else(form)?;
                if outside.len() + rest.len() + 1 != self.sentence.tokens.len() || into.is("as") {
                    return Err(form());
                }
                phrase.within = Some(within);
            }
        }
        Ok(self.intent(step, Some((phrase, 0..0)), Pool::Search))
    }

    fn select(&self, rest: &[Token]) -> Read {
        let rest = without_ignored(rest);
        let from = rest.iter().rposition(|token| token.is("from"));
        let value = match (from, take_value(rest)) {
            // `select Red from X`: what stands before "from" is an option.
            (Some(from), None) if rest[..from].iter().all(|token| token.as_str().is_some()) => {
                let value = InputValue::Text(written(&rest[..from]));
                Some((value, &rest[from..])).filter(|_| from > 0)
            }
            (_, value) => value,
        };
        let is_place = take_place(rest).is_some();
        if let Some((value, [from, list @ ..])) = value
            && (from.is("from") || (!is_place && from.is_any(INTO)))
        {
            return self.with_value(ActionKind::Select, value, list, Pool::Selects);
        }
        let (phrase, span) = Phrase::read(rest)?;
        if phrase.is_container() {
            return Err("the list to select from is missing: select 'option' from X".to_owned());
        }
        match phrase.role {
            Some(RoleWord::Checkbox) => self.flag(rest, true),
            _ => {
                let step = self.step(ActionKind::Click);
                Ok(self.intent(step, Some((phrase, span)), Pool::Options))
            }
        }
    }

    fn upload(&self, rest: &[Token]) -> Read {
        let rest = without_ignored(rest);
        let rest = after(rest, "file").unwrap_or(rest);
        let value = match rest {
            [
                Token {
                    kind: TokenKind::Word(file),
                    ..
                },
                ..,
            ] if file.contains('.') => Some((InputValue::Text(file.clone()), &rest[1..])),
            rest => take_value(rest),
        };
        match value {
            Some((value, [to, rest @ ..])) if to.is_any(&["to", "into", "in", "as"]) => {
                self.with_value(ActionKind::Upload, value, rest, Pool::Files)
            }
            // There may be only one place for it.
            Some((value, [])) => {
                let mut step = self.step(ActionKind::Upload);
                step.input_value = Some(value);
                Ok(self.intent(step, Some((Phrase::any(), 0..0)), Pool::Files))
            }
            _ => Err("write upload 'file' to X".to_owned()),
        }
    }

    fn scroll(&self, rest: &[Token]) -> Read {
        let mut step = self.step(ActionKind::Scroll);
        let ends = Direction::VARIANTS.iter().find(|direction| match rest {
            [one] => one.is(direction.as_str()),
            _ => {
                let word = direction.as_str();
                let is_all = |way: &str, end: &str| {
                    word == end && after(rest, way).is_some_and(<[Token]>::is_empty)
                };
                if is_all("all the way down", "bottom") || is_all("all the way up", "top") {
                    return true;
                }
                let rest = ["all the way", "down", "up"]
                    .iter()
                    .find_map(|words| after(rest, words))
                    .unwrap_or(rest);
                let end = after(rest, &format!("to the {word}"))
                    .or_else(|| after(rest, "to the end").filter(|_| word == "bottom"));
                end.is_some_and(|rest| is_page(after(rest, "of").unwrap_or(rest)))
            }
        });
        if let Some(direction) = ends {
            step.direction = Some(*direction);
            return Ok(self.intent(step, None, Pool::Anything));
        }
        let to = after(rest, "down to")
            .or_else(|| after(rest, "up to"))
            .or_else(|| after(rest, "to"))
            .or_else(|| match rest {
                [rest @ .., into, view] if into.is("into") && view.is("view") => Some(rest),
                _ => None,
            });
        match to {
            Some(rest) => {
                let words = Phrase::read(rest)?;
                let pool = match words.0.role {
                    Some(RoleWord::Link) => Pool::Anything,
                    _ => Pool::NoAnchors,
                };
                Ok(self.intent(step, Some(words), pool))
            }
            None => Err("write scroll up, scroll to the bottom, or scroll to X".to_owned()),
        }
    }
}

pub(super) fn without_that(tokens: &[Token]) -> &[Token] {
    match tokens {
        [that, rest @ ..] if that.is_any(&["that", "if", "whether"]) => rest,
        tokens => tokens,
    }
}

fn is_page(tokens: &[Token]) -> bool {
    match without_ignored(tokens) {
        [] => true,
        [page] => page.is("page"),
        _ => false,
    }
}

/// Whether `check` is followed by something that holds or not: `check that …`, `check X is checked`.
pub(super) fn is_check_of_claim(rest: &[Token]) -> bool {
    without_that(rest).len() < rest.len() || is_claim(rest)
}
