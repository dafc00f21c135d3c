//! A sentence as words, quotes and references.

use crate::InputValue;

/// The longest sentence in characters.
pub(super) const LONGEST: usize = 2_000;

/// Words that say nothing.
pub(super) const IGNORED: &[&str] = &["the", "a", "an", "on", "please"];

/// A sentence taken apart.
#[derive(Debug, Clone)]
pub(super) struct Sentence {
    pub text: String,
    pub tokens: Vec<Token>,
}

/// A part of a sentence with its place in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub kind: TokenKind,
    pub start: usize,
    pub end: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A word as it is written.
    Word(String),
    /// What stands in quotes.
    Quoted(String),
    /// A reference, braces included.
    Reference(String),
    /// A comma or semicolon.
    Break,
}

impl Token {
    /// Whether it is this word, in any case.
    pub(super) fn is(&self, word: &str) -> bool {
        matches!(&self.kind, TokenKind::Word(own) if own.eq_ignore_ascii_case(word))
    }

    /// Whether it is one of these words.
    pub(super) fn is_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.is(word))
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        match &self.kind {
            TokenKind::Word(word) => Some(word),
            _ => None,
        }
    }

    /// What it says, apart from quotes.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.kind {
            TokenKind::Word(text) | TokenKind::Quoted(text) | TokenKind::Reference(text) => {
                Some(text)
            }
            TokenKind::Break => None,
        }
    }

    pub(super) fn is_quoted(&self) -> bool {
        matches!(self.kind, TokenKind::Quoted(_))
    }
}

/// What follows these words, if tokens begin with them.
pub(super) fn after<'t>(tokens: &'t [Token], words: &str) -> Option<&'t [Token]> {
    words.split(' ').try_fold(tokens, |tokens, word| {
        tokens
            .split_first()
            .filter(|(first, _)| first.is(word))
            .map(|(_, rest)| rest)
    })
}

/// Tokens as a text, if they are words alone.
pub(super) fn plain_text(tokens: &[Token]) -> Option<String> {
    let words: Option<Vec<&str>> = tokens.iter().map(Token::as_str).collect();
    words
        .map(|words| words.join(" "))
        .filter(|text| !text.is_empty())
}

/// Words with which a sentence says that something is not to be done, or not so.
const DENIALS: &[&str] = &["not", "never", "no", "except", "unless", "without"];

/// Whether words outside of quotes deny something.
pub(super) fn denies(tokens: &[Token]) -> bool {
    let is_short = |word: &str| word.to_lowercase().replace('’', "'").ends_with("n't");
    tokens.iter().any(|token| {
        token.is_any(DENIALS) || token.is("cannot") || token.as_str().is_some_and(is_short)
    })
}

/// Opening quotes with those that close them.
const QUOTES: &[(char, char)] = &[
    ('\'', '\''),
    ('"', '"'),
    ('“', '”'),
    ('‘', '’'),
    ('«', '»'),
    ('`', '`'),
];

impl Sentence {
    /// Takes a sentence apart.
    ///
    /// # Errors
    /// If it is too long, empty, or a quote is not closed.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        if text.chars().nth(LONGEST).is_some() {
            return Err(format!("it is longer than {LONGEST} characters"));
        }
        let text = text.trim();
        let mut tokens = Vec::new();
        let mut at = 0;
        while let Some(sign) = text[at..].chars().next() {
            if sign.is_whitespace() {
                at += sign.len_utf8();
                continue;
            }
            let (kind, end) = match QUOTES.iter().find(|(open, _)| *open == sign) {
                Some((_, close)) => {
                    let start = at + sign.len_utf8();
                    let Some(end) = closing(text, start, *close) else {
                        return Err(format!("the quote {sign} is not closed"));
                    };
                    let quoted = text[start..end].to_owned();
                    (TokenKind::Quoted(quoted), end + close.len_utf8())
                }
                None if matches!(sign, ',' | ';') => (TokenKind::Break, at + 1),
                None => word(text, at),
            };
            tokens.push(Token {
                kind,
                start: at,
                end,
            });
            at = end;
        }
        end_of_sentence(&mut tokens);
        while tokens
            .last()
            .is_some_and(|token| token.is("please") || token.kind == TokenKind::Break)
        {
            tokens.pop();
        }
        let tokens = in_order(tokens);
        match tokens.is_empty() {
            true => Err("it has no words".to_owned()),
            false => Ok(Self {
                text: text.to_owned(),
                tokens,
            }),
        }
    }
}

/// Words that say for whom or where something is, before a comma.
const PLACES: &[&str] = &["in", "on", "under", "inside", "within", "below", "from"];

/// What is done with a field whose name stands before it.
const FIELD_VERBS: &[&str] = &["type", "enter", "write", "select", "choose", "pick"];
const CHOICE_VERBS: &[&str] = &["select", "choose", "pick"];

/// What people write before they say what is done.
const OPENINGS: &[&str] = &[
    "let's",
    "let us",
    "i'd like to",
    "i would like to",
    "i want to",
    "we want to",
    "try to",
];

/// Tokens in the order of the forms: `in the poll, click Vote` says the place first, and `Memo: type 'Rent'` the field.
fn in_order(tokens: Vec<Token>) -> Vec<Token> {
    let is_plain = |token: &Token| Token {
        kind: match &token.kind {
            TokenKind::Word(word) => TokenKind::Word(word.replace('’', "'")),
            kind => kind.clone(),
        },
        ..token.clone()
    };
    let plain: Vec<Token> = tokens.iter().map(is_plain).collect();
    if let Some(rest) = OPENINGS.iter().find_map(|words| after(&plain, words)) {
        return tokens[tokens.len() - rest.len()..].to_vec();
    }
    let comma = tokens
        .iter()
        .position(|token| token.kind == TokenKind::Break);
    if let Some(comma) = comma
        && comma > 1
        && comma + 1 < tokens.len()
    {
        let (before, rest) = (&tokens[..comma], &tokens[comma + 1..]);
        if before[0].is_any(PLACES) {
            return [rest, before].concat();
        }
    }
    let colon = tokens.iter().position(|token| {
        token
            .as_str()
            .is_some_and(|word| word.len() > 1 && word.ends_with(':'))
    });
    match colon {
        Some(at)
            if tokens
                .get(at + 1)
                .is_some_and(|verb| verb.is_any(FIELD_VERBS)) =>
        {
            let mut field = tokens[..=at].to_vec();
            if let TokenKind::Word(word) = &mut field[at].kind {
                word.pop();
            }
            let join = match tokens[at + 1].is_any(CHOICE_VERBS) {
                true => "from",
                false => "into",
            };
            let into = Token {
                kind: TokenKind::Word(join.to_owned()),
                ..tokens[at].clone()
            };
            [&tokens[at + 1..], &[into], &field].concat()
        }
        _ => tokens,
    }
}

/// Where a quote is closed: at the first such sign that no letter or digit follows.
fn closing(text: &str, start: usize, close: char) -> Option<usize> {
    text[start..]
        .match_indices(close)
        .map(|(at, _)| start + at)
        .find(|&at| {
            let next = text[at + close.len_utf8()..].chars().next();
            !next.is_some_and(char::is_alphanumeric)
        })
}

/// A word or a reference, and where it ends.
fn word(text: &str, start: usize) -> (TokenKind, usize) {
    let mut end = start;
    let mut only_reference = false;
    while let Some(sign) = text[end..].chars().next() {
        if text[end..].starts_with("{{")
            && let Some(length) = text[end..].find("}}")
        {
            only_reference = end == start;
            end += length + 2;
            continue;
        }
        let next = text[end + sign.len_utf8()..].chars().next();
        let ends = sign.is_whitespace()
            || (matches!(sign, ',' | ';') && next.is_none_or(char::is_whitespace));
        if ends {
            break;
        }
        end += sign.len_utf8();
        only_reference &= matches!(sign, '.' | '!');
    }
    let written = &text[start..end];
    if only_reference && written.starts_with("{{") {
        let reference = written.trim_end_matches(['.', '!']);
        return (TokenKind::Reference(reference.to_owned()), end);
    }
    (TokenKind::Word(written.to_owned()), end)
}

/// Takes the full stop off.
fn end_of_sentence(tokens: &mut Vec<Token>) {
    let Some(last) = tokens.last_mut() else {
        return;
    };
    if let TokenKind::Word(word) = &mut last.kind {
        let plain = word.trim_end_matches(['.', '!', '…']);
        // "…" alone may be the name of a button, and ".." a path.
        if !plain.is_empty() && !plain.ends_with('/') {
            last.end -= word.len() - plain.len();
            *word = plain.to_owned();
        } else if plain.is_empty() && tokens.len() > 1 && tokens[tokens.len() - 2].is_quoted() {
            tokens.pop();
        }
    }
}

/// Whether a text is an address, or a path of one.
pub(super) fn is_address(text: &str) -> bool {
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

/// A value that is clear without quotes: an e-mail address, groups of digits, or one word before `into`.
pub(super) fn take_bare_value<'t>(
    tokens: &'t [Token],
    into: &[&str],
) -> Option<(InputValue, &'t [Token])> {
    let at = tokens.iter().position(|token| token.is_any(into))?;
    let (value, rest) = tokens.split_at(at);
    let text = plain_text(value)?;
    let is_mail = text
        .split_once('@')
        .is_some_and(|(user, host)| !user.is_empty() && host.contains('.') && value.len() == 1);
    let are_figures = text
        .split(' ')
        .all(|word| word.contains(|sign: char| sign.is_ascii_digit()));
    let is_before_into = value.len() == 1 && rest[0].is("into");
    (is_mail || are_figures || is_before_into).then_some((InputValue::Text(text), rest))
}
