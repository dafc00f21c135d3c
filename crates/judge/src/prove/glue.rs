//! What stands between the facts and words of a text: what joins them, and which part the next one plays.

use std::collections::BTreeMap;

use super::text::{Language, part, pattern};

/// What stands before a fact or a word, up to the fact or word before it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Glue {
    /// Whether a comma joins them, or a word such as `and`, which is strong.
    pub(super) join: Option<Join>,
    /// The preposition, and in German the article that tells who does it from to whom it is done.
    pub(super) role: Option<String>,
    /// Whether a form of *be* stands there.
    pub(super) is_be: bool,
    /// Whether it begins what somebody says.
    pub(super) is_that: bool,
    /// Whether nothing but spaces stands there.
    pub(super) is_adjacent: bool,
    /// Whether the word before it owns it: of `Ina's sister`, the sister.
    pub(super) is_owned: bool,
    /// What denies it; `neither … nor` is one denial.
    pub(super) denials: Vec<i64>,
}

/// How two parts of a clause are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Join {
    Comma,
    Strong,
}

impl Glue {
    /// Whether what stands behind it is denied.
    pub(super) fn is_denied(&self) -> bool {
        self.denials.len() % 2 == 1
    }

    /// What is left of it elsewhere: the denials.
    pub(super) fn carried(&self) -> Self {
        Self {
            denials: self
                .denials
                .iter()
                .map(|denial| -1 - denial.abs())
                .collect(),
            ..Self::default()
        }
    }

    fn of(between: &str, language: Option<Language>) -> Self {
        pattern!(THAT, r"(?i)\b(?:that|dass)\b");
        pattern!(
            ROLE_WORD,
            r"(?i)\b(?:from|to|by|until|since|in|into|on|onto|at|for|with|during|von|vom|nach|bis|seit|in|im|an|am|auf|zu|zum|zur|für|aus|bei|beim|mit|um|against|gegen)\b"
        );
        pattern!(GERMAN_CASE, r"(?i)\b(?:den|dem|des|einen|einem|eines)\b");
        pattern!(
            STRONG_JOIN,
            r"(?i)[;&]|\b(?:and|or|but|nor|und|oder|noch|aber|sondern|sowie)\b"
        );
        pattern!(
            BE,
            r"(?i)\b(?:am|is|are|was|were|be|been|being|ist|sind|war|waren|wird|werden|wurden?|worden)\b|[:=]"
        );

        let found = ROLE_WORD.find_iter(between).last();
        let article = || match language {
            Some(Language::German) => GERMAN_CASE.find_iter(between).last(),
            _ => None,
        };
        let role = found.or_else(article);
        Self {
            join: match (STRONG_JOIN.is_match(between), between.contains(',')) {
                (true, _) => Some(Join::Strong),
                (false, true) => Some(Join::Comma),
                (false, false) => None,
            },
            role: role.map(|found| found.as_str().to_lowercase()),
            is_be: BE.is_match(between),
            is_that: THAT.is_match(between),
            is_adjacent: between.trim().is_empty(),
            is_owned: between.starts_with("'s") || between.starts_with("' "),
            denials: Vec::new(),
        }
    }
}

/// What stands before each fact and word of a folded text. `ends` says where they begin and end, `denials` where a denial
/// stands, and which one it is.
pub(super) fn glues(
    folded: &str,
    ends: &BTreeMap<i64, i64>,
    denials: &[(i64, i64)],
    language: Option<Language>,
) -> BTreeMap<i64, Glue> {
    let mut glues: BTreeMap<i64, Glue> = BTreeMap::new();
    let mut last = 0;
    let mut word = "";
    for (at, end) in ends {
        let (_, between) = part(folded, last, *at);
        let mut glue = Glue::of(between, language);
        // These are words, too.
        if glue.role.is_none() && matches!(word, "until" | "before" | "after" | "vor") {
            let is_beside = matches!(between.trim(), "" | ":" | "the" | "dem" | "den");
            glue.role = is_beside.then(|| word.to_owned());
        }
        glues.insert(*at, glue);
        (_, word) = part(folded, *at, *end);
        last = *end;
    }
    for (from, denial) in denials.iter().copied() {
        // `Wifi: no, sauna: yes` denies what stands before.
        let (_, rest) = part(folded, from, i64::MAX);
        let rest =
            rest.trim_start_matches(|letter: char| letter.is_alphanumeric() || letter == '\'');
        let ends = rest.trim_start().starts_with([',', ';', '|', ')', '\n']);
        let next = glues.range(from + 1..).next().map(|(at, _)| *at);
        let last = glues.range(..from).next_back().map(|(at, _)| *at);
        let at = if ends { last.or(next) } else { next.or(last) };
        if let Some(glue) = at.and_then(|at| glues.get_mut(&at)) {
            glue.denials.push(denial);
        }
    }
    glues
}
