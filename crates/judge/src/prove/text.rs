//! Folding, stems, languages, sentences, clauses and blocks of Markdown.

use std::collections::HashSet;
use std::sync::LazyLock;

use icu_normalizer::ComposingNormalizerBorrowed;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use regex::Regex;
use rust_stemmers::{Algorithm, Stemmer};

use super::data::{
    ABBREVIATIONS, ENGLISH_CLAUSES, ENGLISH_STOP, GERMAN_CLAUSES, OTHER_LANGUAGES, RESTRICTING,
    words_of,
};

/// A language with data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Language {
    English,
    German,
}

/// A regular expression that is fixed.
pub(super) fn fixed(pattern: &str) -> Regex {
    Regex::new(pattern).expect("it is fixed")
}

macro_rules! pattern {
    ($name:ident, $pattern:expr) => {
        static $name: std::sync::LazyLock<regex::Regex> =
            std::sync::LazyLock::new(|| $crate::prove::text::fixed($pattern));
    };
}
pub(super) use pattern;

/// A text in one form: compatible characters, plain quotes, spaces and signs, `yes` and `no` for their pictures.
pub(crate) fn fold(text: &str) -> String {
    pattern!(
        DECORATED,
        r"(?i)[❌✗✘][^\n|,;]*(?:\b(?:not|no|never|nicht|kein\w*)\b|n't)|\bnot(?: \w+)? [❌✗✘]"
    );
    let normal = ComposingNormalizerBorrowed::new_nfkc().normalize(text);
    let is_crossed = normal.contains(['❌', '✗', '✘']);
    // Beside a text that denies, the picture denies nothing more.
    let normal = match is_crossed {
        true => {
            let bare = |found: &regex::Captures<'_>| found[0].replace(['❌', '✗', '✘'], "");
            DECORATED.replace_all(&normal, bare).into_owned().into()
        }
        false => normal,
    };
    let mut folded = String::with_capacity(normal.len());
    let mut letters = normal.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\r' => {
                if letters.peek() != Some(&'\n') {
                    folded.push('\n');
                }
            }
            '✅' | '✔' | '✓' | '☑' => folded.push_str(" yes "),
            '❌' | '✗' | '✘' => folded.push_str(" no "),
            '\u{fe0f}' => {}
            '“' | '”' | '„' | '‟' | '«' | '»' => folded.push('"'),
            '‘' | '’' | '‚' | '´' | '`' => {
                folded.push(if letter == '`' { '`' } else { '\'' });
            }
            '−' => folded.push('-'),
            '\u{a0}' | '\u{202f}' | '\u{2009}' => folded.push(' '),
            other => folded.push(other),
        }
    }
    folded
}

/// A folded text to compare as a whole: lower case, single spaces, no marks of Markdown, no punctuation around it.
pub(super) fn plain(text: &str) -> String {
    pattern!(
        MARKS,
        r"[*`]{1,3}|(?m:^#+ )|\b_+\B|\B_+\b|(?:^|\s)_+|_+(?:\s|$)"
    );
    let folded = fold(text);
    let bare = MARKS.replace_all(&folded, |found: &regex::Captures<'_>| {
        match found[0].contains(char::is_whitespace) && !found[0].contains('#') {
            true => " ",
            false => "",
        }
    });
    let words: Vec<&str> = bare.split_whitespace().collect();
    let joined = words.join(" ");
    joined
        .trim_matches(|letter: char| " .,;:!?-–—\"'".contains(letter))
        .to_lowercase()
}

/// A word without its ending.
pub(super) fn stem(word: &str, language: Option<Language>) -> String {
    static ENGLISH: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));
    static GERMAN: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::German));
    let lower = word.to_lowercase();
    match language {
        Some(Language::English) => ENGLISH.stem(&lower).into_owned(),
        Some(Language::German) => GERMAN.stem(&lower).into_owned(),
        None => lower,
    }
}

/// The language of a text; `fallback` if nothing tells. None is a language without data.
pub(super) fn language(text: &str, fallback: Option<Language>) -> Option<Language> {
    let is_foreign = |letter: char| matches!(letter, 'а'..='я' | 'А'..='Я' | '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{600}'..='\u{6ff}');
    if text.contains(is_foreign) {
        return None;
    }
    let lower = text.to_lowercase();
    let (mut english, mut german, mut other) = (0, 0, 0);
    let words = |language| words_of(language);
    let (of_english, of_german) = (words(Language::English), words(Language::German));
    for word in lower.split(|letter: char| !letter.is_alphabetic()) {
        if word.is_empty() {
            continue;
        }
        english += usize::from(of_english.stop.contains(word) || of_english.not.contains(word));
        german += usize::from(of_german.stop.contains(word) || of_german.not.contains(word));
        other += usize::from(OTHER_LANGUAGES.contains(word));
    }
    // One word may be a name: Uma, Les.
    if other == 1 {
        other = 0;
    }
    if english >= german && english >= other {
        return if english > 0 {
            Some(Language::English)
        } else {
            fallback
        };
    }
    match german >= other {
        true => Some(Language::German),
        false => None,
    }
}

/// The sentences of a text, without those of its lines that are empty.
pub(crate) fn sentences(text: &str) -> Vec<&str> {
    pattern!(END, r#"[.!?…]+["')\]]*|[。！？؟⁇⁈‽]+|\n+"#);
    pattern!(LAST, r"([\w.]+)\.$");
    pattern!(
        GOES_ON,
        r"^\s+[a-zäöü]|^\s+(?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)"
    );
    let (mut found, mut start) = (Vec::new(), 0);
    for end in END.find_iter(text) {
        let rest = &text[end.end()..];
        let is_line = end
            .as_str()
            .starts_with(['\n', '。', '！', '？', '؟', '⁇', '⁈', '‽']);
        // `"Lunch on Friday?" is from Tara.`
        let is_quoted = end.as_str().ends_with('"');
        if is_quoted && rest.trim_start().starts_with(char::is_lowercase) {
            continue;
        }
        if !is_line && !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
            continue;
        }
        if end.as_str().starts_with('.')
            && let Some(word) = LAST.captures(text[..end.end()].trim_end())
        {
            let word = &word[1];
            // `The plan is B. It`, but `J. R. R. Tolkien`
            let next = rest
                .trim_start()
                .split(|letter: char| !letter.is_alphabetic())
                .next();
            let next = next.unwrap_or_default().to_lowercase();
            let is_word =
                ENGLISH_STOP.contains(next.as_str()) || RESTRICTING.contains(next.as_str());
            let is_letter = word.len() == 1
                && word.bytes().all(|byte| byte.is_ascii_uppercase())
                && !(is_word || matches!(next.as_str(), "shall" | "will" | "let"));
            let is_day = word.len() <= 2 && word.bytes().all(|byte| byte.is_ascii_digit());
            // `22 °C. It` and `9 a.m. It` end.
            let lower = word.to_lowercase();
            let begins = rest.trim_start().starts_with(char::is_uppercase);
            let may_end = match lower.as_str() {
                "a.m" | "p.m" | "etc" => true,
                "inc" | "ltd" | "co" | "u.s" => is_word,
                _ => false,
            };
            let is_degree = text[..end.start()]
                .trim_end_matches(char::is_alphabetic)
                .ends_with('°');
            if is_degree || (may_end && begins) {
                found.push(&text[start..end.end()]);
                start = end.end();
                continue;
            }
            if ABBREVIATIONS.contains(lower.as_str())
                || is_letter
                || (is_day && GOES_ON.is_match(rest))
            {
                continue;
            }
        }
        found.push(&text[start..end.end()]);
        start = end.end();
    }
    found.push(&text[start..]);
    let trimmed = found.into_iter().map(str::trim);
    trimmed.filter(|sentence| !sentence.is_empty()).collect()
}

/// The clauses of a sentence.
pub(super) fn clauses(text: &str, language: Option<Language>) -> Vec<&str> {
    pattern!(ENGLISH, ENGLISH_CLAUSES);
    pattern!(GERMAN, GERMAN_CLAUSES);
    let between = match language {
        Some(Language::German) => &GERMAN,
        _ => &ENGLISH,
    };
    let parts = between
        .split(text)
        .map(|part| part.trim_matches([' ', ',']));
    parts.filter(|part| !part.is_empty()).collect()
}

/// Whether most words of a text begin with a capital letter.
pub(super) fn is_title(text: &str) -> bool {
    let words = text.split(|letter: char| !letter.is_alphabetic());
    let words = words
        .filter(|word| !word.is_empty() && !ENGLISH_STOP.contains(word.to_lowercase().as_str()));
    let (mut count, mut capitals) = (0_usize, 0_usize);
    for word in words {
        count += 1;
        capitals += usize::from(word.starts_with(char::is_uppercase));
    }
    count > 1 && capitals * 10 >= count * 8
}

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    Paragraph,
    Item,
    Heading,
    Cell,
    /// The heading of a column, or the first cell of a row, which names the row.
    HeadCell,
}

/// A line of Markdown with the lines that it hangs under: heading, lead-in, items around it; heads of its row and column.
#[derive(Debug, Clone)]
pub(super) struct Block {
    pub(super) kind: BlockKind,
    pub(super) text: String,
    pub(super) over: Vec<String>,
}

#[derive(Default)]
struct Blocks {
    found: Vec<Block>,
    heads: Vec<(u8, String)>,
    lead: Option<String>,
    items: Vec<Option<String>>,
    columns: Vec<String>,
    row: Vec<String>,
    n_rows: usize,
    column: usize,
    /// First cells of several rows of the table: the second cells name these rows, too.
    repeated: HashSet<String>,
    /// Whether the first column has the numbers of the rows.
    is_ranked: bool,
    is_head: bool,
    /// The text of the paragraph, item, heading or cell that is read, and where it began.
    text: String,
    start: usize,
}

/// The blocks of a Markdown text, in order; of no block with nothing in it.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    pattern!(TAG, r"<[^>]*>");
    pattern!(
        EMPHASIS,
        r"(?i)</?(?:a|abbr|b|code|em|i|kbd|mark|small|span|strong|sub|sup|u)\b[^>]*>"
    );
    let text = fold(text);
    let mut blocks = Blocks::default();
    let mut code = false;
    for (event, range) in Parser::new_ext(&text, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::List(_)) => {
                blocks.paragraph(&text, range.start);
                let lead = blocks.lead.clone();
                blocks.items.push(lead);
            }
            Event::End(TagEnd::List(_)) => {
                let lead = blocks.items.pop().flatten();
                blocks.lead = lead.filter(|_| !blocks.items.is_empty());
            }
            Event::Start(Tag::Item | Tag::Paragraph | Tag::Heading { .. } | Tag::TableCell) => {
                blocks.paragraph(&text, range.start);
                blocks.start = range.start;
            }
            Event::End(TagEnd::Item | TagEnd::Paragraph) => blocks.paragraph(&text, range.end),
            Event::End(TagEnd::Heading(level)) => blocks.heading(level),
            Event::Start(Tag::Table(_)) => {
                let rows = text[range].lines();
                let first = |row: &str| {
                    row.trim()
                        .trim_start_matches("|")
                        .split("|")
                        .next()
                        .map(plain)
                };
                let mut seen = HashSet::new();
                let firsts = rows.filter_map(first);
                blocks.repeated = firsts
                    .filter(|cell: &String| !seen.insert(cell.clone()))
                    .collect();
            }
            Event::Start(Tag::TableHead) => {
                blocks.columns.clear();
                blocks.row.clear();
                (blocks.n_rows, blocks.is_head) = (0, true);
            }
            Event::End(TagEnd::TableHead) => blocks.is_head = false,
            Event::Start(Tag::TableRow) => {
                blocks.row.clear();
                blocks.column = 0;
                blocks.n_rows += 1;
                blocks.is_ranked = false;
            }
            Event::End(TagEnd::TableCell) => blocks.cell(),
            Event::Start(Tag::CodeBlock(_) | Tag::HtmlBlock) => {
                blocks.paragraph(&text, range.start);
                code = true;
            }
            Event::End(TagEnd::CodeBlock | TagEnd::HtmlBlock) => {
                code = false;
                let lines = std::mem::take(&mut blocks.text);
                let lines = EMPHASIS.replace_all(&lines, "");
                for line in TAG.replace_all(&lines, "\n").lines() {
                    blocks.push(BlockKind::Paragraph, line, Vec::new());
                }
            }
            Event::InlineHtml(tag) if !EMPHASIS.is_match(&tag) => blocks.text.push('\n'),
            Event::Text(part) | Event::Code(part) => blocks.text.push_str(&part),
            Event::Html(part) if code => blocks.text.push_str(&part),
            Event::SoftBreak => blocks.text.push(match is_wrapped(&text, range.start) {
                true => ' ',
                false => '\n',
            }),
            Event::HardBreak => blocks.text.push('\n'),
            _ => {}
        }
    }
    blocks.paragraph(&text, text.len());
    blocks.found
}

/// Whether a line that ends at `end` goes on in the next one: it is long, or goes on with a small letter.
fn is_wrapped(text: &str, end: usize) -> bool {
    const SHORTEST: usize = 40;
    const LONG: usize = 60;
    let length = end - text[..end].rfind('\n').map_or(0, |start| start + 1);
    let next = text[end..].trim_start().chars().next();
    // The lines of a log begin with their times.
    let is_entry = next.is_some_and(|next| next.is_ascii_digit() || next == '[');
    !is_entry && (length >= LONG || (length >= SHORTEST && next.is_some_and(char::is_lowercase)))
}

impl Blocks {
    fn push(&mut self, kind: BlockKind, text: &str, over: Vec<String>) {
        if !text.trim().is_empty() {
            self.found.push(Block {
                kind,
                text: text.to_owned(),
                over,
            });
        }
    }

    /// Ends the paragraph or item that is read, if it has a text.
    fn paragraph(&mut self, source: &str, end: usize) {
        /// A bold line is a heading below all others.
        const BOLD_LEVEL: u8 = 7;
        pattern!(BOLD, r"^\s*(?:\*\*.+\*\*|__.+__):?\s*$");
        let text = std::mem::take(&mut self.text);
        if text.trim().is_empty() {
            return;
        }
        let written = source.get(self.start..end).unwrap_or_default();
        let rest = source.get(end..).unwrap_or_default();
        let rest = rest.strip_prefix('\n').unwrap_or(rest);
        // A name right above a list.
        let is_list = rest.starts_with(['-', '*', '+']) && text.split_whitespace().count() <= 6;
        let is_bold =
            self.items.is_empty() && BOLD.is_match(written.lines().next().unwrap_or_default());
        let kind = match (self.items.is_empty(), is_bold) {
            (false, _) => BlockKind::Item,
            (true, true) => BlockKind::Heading,
            (true, false) => BlockKind::Paragraph,
        };
        let head = self.heads.last().filter(|_| !is_bold);
        let head = head.map(|(_, text)| text.clone());
        let leads = self.items.iter().flatten().cloned();
        let over: Vec<String> = head.into_iter().chain(leads).collect();
        for line in text.split('\n') {
            self.push(kind, line, over.clone());
        }
        if is_bold {
            self.heads.retain(|(above, _)| *above < BOLD_LEVEL);
            self.heads.push((BOLD_LEVEL, text.clone()));
        }
        let is_lead = !self.items.is_empty() || is_list || text.trim_end().ends_with(':');
        self.lead = is_lead.then(|| text.rsplit('\n').next().unwrap_or_default().to_owned());
        self.start = end;
    }

    fn heading(&mut self, level: HeadingLevel) {
        let text = std::mem::take(&mut self.text);
        let level = level as u8;
        self.heads.retain(|(above, _)| *above < level);
        self.push(BlockKind::Heading, &text, Vec::new());
        self.heads.push((level, text));
        self.lead = None;
    }

    fn cell(&mut self) {
        let text = std::mem::take(&mut self.text);
        if self.is_head {
            self.push(BlockKind::HeadCell, &text, Vec::new());
            self.columns.push(text);
            return;
        }
        pattern!(RANK, r"(?i)^\W*(?:no|nr)?\W*$");
        let head = self.columns.first().filter(|_| self.column == 0);
        let is_number = || text.trim_matches(['.', ' ', '#']) == self.n_rows.to_string();
        if head.is_some_and(|head| RANK.is_match(head)) && is_number() {
            (self.is_ranked, self.column) = (true, 1);
            return;
        }
        let over = match self.row.first() {
            Some(first) => {
                let column = self.columns.get(self.column).cloned();
                let is_one_of = |_: &&String| self.repeated.contains(&plain(first));
                let second = self.row.get(1).filter(is_one_of).cloned();
                [Some(first.clone()), second, column]
                    .into_iter()
                    .flatten()
                    .collect()
            }
            None if self.is_ranked => self.columns.get(1).cloned().into_iter().collect(),
            None => Vec::new(),
        };
        let n_columns = self.columns.len() - usize::from(self.is_ranked);
        let kind = match self.row.is_empty() && n_columns >= 2 {
            true => BlockKind::HeadCell,
            false => BlockKind::Cell,
        };
        self.push(kind, &text, over);
        self.row.push(text);
        self.column += 1;
    }
}
