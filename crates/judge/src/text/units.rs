//! What an answer is made of: bullets and sentences, and what of them claims nothing.

use std::sync::LazyLock;

use regex::Regex;

/// A bullet, a sentence, a row of a table, a heading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unit<'a> {
    /// Its text, without the mark of a bullet.
    pub text: &'a str,
    /// What it is.
    pub kind: UnitKind,
    /// How many entries the list has that it introduces.
    pub items: usize,
    /// Whether it is an entry of a list, or a row of a table.
    pub is_entry: bool,
}

/// What a unit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnitKind {
    /// It says something.
    Claim,
    /// It introduces the list that follows.
    LeadIn,
    /// It names what follows.
    Heading,
    /// A greeting, a thank-you, an offer, a word about the answer itself.
    Courtesy,
    /// It asks something.
    Question,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlockKind {
    Paragraph,
    Bullet,
    Row,
    Heading,
    Code,
}

#[derive(Debug)]
struct Block {
    start: usize,
    end: usize,
    indent: usize,
    kind: BlockKind,
}

/// The units of a folded answer, in order.
pub(crate) fn units(folded: &str) -> Vec<Unit<'_>> {
    let blocks = blocks(folded);
    let list_lengths = list_lengths(&blocks);
    let mut units = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        let text = folded[block.start..block.end].trim();
        let items = list_lengths.get(index + 1).copied().unwrap_or(0);
        match block.kind {
            BlockKind::Heading => units.push(Unit {
                text,
                kind: UnitKind::Heading,
                items,
                is_entry: false,
            }),
            BlockKind::Bullet | BlockKind::Row | BlockKind::Code => {
                units.push(Unit {
                    text,
                    kind: kind_of(text, 0),
                    items: 0,
                    is_entry: true,
                });
            }
            BlockKind::Paragraph if is_bold_line(text) => {
                units.push(Unit {
                    text,
                    kind: UnitKind::Heading,
                    items,
                    is_entry: false,
                });
            }
            BlockKind::Paragraph => {
                let sentences = sentences(text);
                let last = sentences.len().saturating_sub(1);
                for (at, sentence) in sentences.into_iter().enumerate() {
                    let items = if at == last { items } else { 0 };
                    units.push(Unit {
                        text: sentence,
                        kind: kind_of(sentence, items),
                        items,
                        is_entry: false,
                    });
                }
            }
        }
    }
    units.retain(|unit| unit.text.contains(char::is_alphanumeric));
    units
}

/// For each block the number of entries of the list that begins there.
fn list_lengths(blocks: &[Block]) -> Vec<usize> {
    let mut lengths = vec![0; blocks.len()];
    let mut at = 0;
    while at < blocks.len() {
        let kind = blocks[at].kind;
        if !matches!(kind, BlockKind::Bullet | BlockKind::Row) {
            at += 1;
            continue;
        }
        let indent = blocks[at].indent;
        let length = blocks[at..]
            .iter()
            .take_while(|block| block.kind == kind)
            .count();
        lengths[at] = blocks[at..at + length]
            .iter()
            .filter(|block| block.indent <= indent)
            .count();
        at += length;
    }
    lengths
}

fn kind_of(text: &str, items: usize) -> UnitKind {
    let bare = text.trim_end_matches(['*', '_', ' ', '"', ')']);
    if items > 0 && bare.ends_with([':', '\u{ff1a}']) {
        UnitKind::LeadIn
    } else if bare.ends_with(['?', '\u{ff1f}']) {
        UnitKind::Question
    } else if COURTESY.is_match(text) {
        UnitKind::Courtesy
    } else {
        UnitKind::Claim
    }
}

/// Whole sentences that claim nothing about the world. Each alternative is closed at its end or speaks of the
/// answer itself, so that no claim hides behind a friendly beginning.
static COURTESY: LazyLock<Regex> = LazyLock::new(|| {
    let alternatives = [
        r"(?:hi|hello|hey|good (?:morning|afternoon|evening)|dear|hallo|guten (?:tag|morgen|abend)|bonjour|hola|ciao)(?:[ ,]+[\p{L}']+){0,3}[ ,.!]*$",
        r"(?:sure|certainly|of course|absolutely|great|okay|ok|got it|no problem|you're welcome|thanks|thank you|cheers|best(?: regards)?|kind regards|gern(?: geschehen)?|danke|vielen dank|merci|gracias)(?: (?:so much|a lot|for asking|thing))?[ ,.!]*$",
        r"(?:please )?(?:let me know|feel free|don't hesitate|just ask|reach out)\b[^0-9.;]{0,80}[.!]*$",
        r"(?:i )?hope (?:this|that|it) helps\b[^0-9.;]{0,30}[.!]*$",
        r"(?:if you (?:want|like|need|have|would like|'d like)\b[^0-9.;]{0,60}, )(?:i can|i'm happy|i am happy|let me know|just ask|feel free|please)\b[^0-9.;]{0,60}[.!]*$",
        r"(?:sure|certainly|of course|okay|ok)?[ ,!]*(?:here(?:'s| is| are)|below (?:is|are)|these are|the following (?:is|are))\b[^0-9.;,]{0,60}:$",
        r"(?:sag|sagen sie|lass|melde) [^0-9.;]{0,60}[.!]*$",
        r"(?:i|we) (?:couldn't|could not|can't|cannot|wasn't able to|was not able to|am unable to|was unable to|did not|didn't|don't|do not) (?:find|verify|confirm|access|locate|determine|fetch|retrieve|load|know|have access)\b",
    ];
    Regex::new(&format!("(?i)^(?:{})", alternatives.join("|"))).expect("a fixed pattern")
});

/// Where the text of a bullet or a numbered entry begins in its line; absent for other lines.
pub(crate) fn is_bullet(line: &str) -> Option<usize> {
    let body = line.trim_start_matches([' ', '\t', '>']);
    let offset = line.len() - body.len();
    let marker = if let Some(sign) = body
        .chars()
        .next()
        .filter(|sign| "-*+•‣◦–▪●".contains(*sign))
    {
        sign.len_utf8()
    } else {
        let digits = body.bytes().take_while(u8::is_ascii_digit).count();
        if !(1..=3).contains(&digits) || !body[digits..].starts_with(['.', ')']) {
            return None;
        }
        digits + 1
    };
    let rest = &body[marker..];
    let gap = rest.len() - rest.trim_start().len();
    (gap > 0 && !rest.trim().is_empty()).then_some(offset + marker + gap)
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    // Whether the next line may go on with the last block.
    let mut is_open = false;
    let mut fence: Option<&str> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let end = start + line.trim_end().len();
        let body = line.trim_start_matches([' ', '\t', '>']).trim_end();
        let indent = line.len() - line.trim_start().len();
        let marker = ["```", "~~~"]
            .into_iter()
            .find(|marker| body.starts_with(marker));
        if let Some(open) = fence {
            if marker == Some(open) {
                fence = None;
                is_open = false;
            } else if let Some(block) = blocks.last_mut().filter(|_| is_open) {
                block.end = end.max(block.end);
            }
            continue;
        }
        if let Some(marker) = marker {
            fence = Some(marker);
            blocks.push(Block {
                start: at,
                end: at,
                indent,
                kind: BlockKind::Code,
            });
            is_open = true;
        } else if body.is_empty() {
            is_open = false;
        } else if body.starts_with('#') && body.trim_start_matches('#').starts_with(' ') {
            blocks.push(Block {
                start: end - body.trim_start_matches(['#', ' ']).len(),
                end,
                indent,
                kind: BlockKind::Heading,
            });
            is_open = false;
        } else if body
            .bytes()
            .all(|byte| matches!(byte, b'|' | b'-' | b':' | b' ' | b'=' | b'*' | b'_'))
        {
            // A rule, the line below a heading, or the line below the head of a table.
            if let Some(last) = blocks.last_mut().filter(|block| match block.kind {
                BlockKind::Row => body.contains('|'),
                BlockKind::Paragraph => is_open && !text[block.start..block.end].contains('\n'),
                _ => false,
            }) {
                last.kind = BlockKind::Heading;
            }
            is_open = false;
        } else if body.starts_with('|') {
            blocks.push(Block {
                start,
                end,
                indent,
                kind: BlockKind::Row,
            });
            is_open = false;
        } else if let Some(offset) = is_bullet(line) {
            blocks.push(Block {
                start: start + offset,
                end,
                indent,
                kind: BlockKind::Bullet,
            });
            is_open = true;
        } else if let Some(last) = blocks.last_mut().filter(|last| {
            is_open && !(last.kind == BlockKind::Bullet && is_new_line(body, indent))
        }) {
            last.end = end;
        } else {
            blocks.push(Block {
                start,
                end,
                indent,
                kind: BlockKind::Paragraph,
            });
            is_open = true;
        }
    }
    blocks
}

/// Whether a line below a bullet begins something else, and does not go on with it: people leave no empty line there.
fn is_new_line(body: &str, indent: usize) -> bool {
    indent == 0 && body.starts_with(char::is_uppercase)
}

fn is_bold_line(text: &str) -> bool {
    text.len() > 4
        && text.starts_with("**")
        && (text.ends_with("**") || text.ends_with("**:"))
        && !text.contains('\n')
        && !text[2..text.len() - 2].contains("**")
        && !text.contains(['.', '!'])
}

/// The sentences of a text.
pub(crate) fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let is_wide = matches!(character, '\u{3002}' | '\u{ff01}' | '\u{ff1f}');
        if !is_wide && !matches!(character, '.' | '!' | '?' | '…') {
            continue;
        }
        let mut end = at + character.len_utf8();
        while let Some((_, next)) = characters.next_if(|(_, next)| {
            matches!(
                next,
                '.' | '!'
                    | '?'
                    | '…'
                    | '"'
                    | '\''
                    | ')'
                    | ']'
                    | '*'
                    | '_'
                    | '\u{201d}'
                    | '\u{bb}'
                    | '\u{300d}'
            )
        }) {
            end += next.len_utf8();
        }
        let after = &text[end..];
        let next = after.trim_start().chars().next();
        let has_gap = after.starts_with(char::is_whitespace);
        let goes_on = !is_wide
            && (!has_gap
                || next.is_some_and(char::is_lowercase)
                || (character == '.' && is_abbreviation(&text[start..at])));
        if !goes_on {
            push_trimmed(&mut sentences, &text[start..end]);
            start = end;
        }
    }
    push_trimmed(&mut sentences, &text[start..]);
    sentences
}

/// Whether what stands before a full stop is cut short: an initial, a title, a number of a list.
fn is_abbreviation(before: &str) -> bool {
    let length = before
        .char_indices()
        .rev()
        .take(12)
        .find(|(_, character)| character.is_whitespace() || *character == '(')
        .map_or(before.len().min(13), |(at, character)| {
            before.len() - at - character.len_utf8()
        });
    let Some(word) = before.get(before.len() - length..) else {
        return false;
    };
    let mut characters = word.chars();
    let is_initial =
        characters.next().is_some_and(char::is_uppercase) && characters.next().is_none();
    is_initial
        || matches!(
            word.to_lowercase().as_str(),
            "mr" | "mrs"
                | "ms"
                | "dr"
                | "prof"
                | "st"
                | "vs"
                | "e.g"
                | "i.e"
                | "etc"
                | "no"
                | "fig"
                | "approx"
                | "u.s"
                | "u.k"
                | "jan"
                | "feb"
                | "mar"
                | "apr"
                | "jun"
                | "jul"
                | "aug"
                | "sep"
                | "sept"
                | "oct"
                | "nov"
                | "dec"
                | "z.b"
                | "d.h"
                | "ca"
                | "nr"
                | "bzw"
                | "usw"
                | "inc"
                | "ltd"
                | "co"
                | "al"
                | "p"
                | "pp"
        )
}

/// The parts of a sentence that say something each.
pub(crate) fn clauses(text: &str) -> Vec<&str> {
    static BREAK: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"(?i)[,:.]\s|[;!?()\n–—]|\s-+\s|[。，；：！？、]|\b(?:but|and|while|whereas|although|though|however|because|which|aber|sondern|und|während|obwohl|weil|mais|et|pero|sino|y|ma|maar|en)\b",
        )
        .expect("a fixed pattern")
    });
    let mut clauses = Vec::new();
    let mut start = 0;
    for found in BREAK.find_iter(text) {
        push_trimmed(&mut clauses, &text[start..found.start()]);
        start = found.end();
    }
    push_trimmed(&mut clauses, &text[start..]);
    clauses
}

fn push_trimmed<'a>(parts: &mut Vec<&'a str>, part: &'a str) {
    let part = part.trim();
    if part.contains(char::is_alphanumeric) {
        parts.push(part);
    }
}
