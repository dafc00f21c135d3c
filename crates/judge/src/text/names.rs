//! Whom a text calls its source.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use super::words;
use crate::prove::{is_function_word, month, weekday};

/// Small words inside of names.
const CONNECTORS: &str = "of|de|del|van|von|der|den|la|du|di|da|des|al|bin|for|für";

/// Who says something without being anybody.
const NOBODY: &str = "article articles report reports study studies source sources document documents result results data search \
    official officials expert experts analyst analysts researcher researchers company website page file post team teams \
    schedule user users author authors survey paper people someone everyone bericht artikel quelle quellen studie angaben \
    experten étude plan log logs output tool tools fixture fixtures excerpt calendar record records note notes message email \
    memory information weather forecast database statement press release text summary critics customers developers both all \
    many some others one latest recent new provided available yesterday tomorrow tonight utc fyi tldr json url usd eur gbp";

/// Verbs of those who say something.
const SAYS: &str = "reports|reported|says|said|states|stated|claims|claimed|writes|wrote|announces|announced|confirms|confirmed|notes|noted|estimates|estimated|argues|argued|warns|warned|predicts|predicted|reveals|revealed|told|quoted|report|say|claim|write|berichtete?|meldete?|sagte?|schreibt|schrieb|rapporte|affirme|déclare|dit|informa|informó|dice|dijo|afirma|afirmó|riporta|scrive|meldt|zegt|(?:found|finds|shows|showed) that";

/// Capital words in a row.
static NAME: LazyLock<String> = LazyLock::new(|| {
    const WORD: &str = r"(?:\p{Lu}[\p{L}\p{M}'-]*\p{L}|\p{Ll}{1,2}\p{Lu}\p{L}+|\p{Lu}\.)";
    format!(r"{WORD}(?:(?: (?:{CONNECTORS}|de la|of the))? (?:& )?{WORD}|&{WORD})*")
});

fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a fixed pattern")
}

/// Those whom a text names as its source: `according to X`, `X reports`, `(X et al., 2024)`, `Source: X`.
pub(crate) fn attributions(text: &str) -> Vec<String> {
    static ALWAYS: LazyLock<Regex> = LazyLock::new(|| {
        compiled(
            r"(?i)\b(?:according to|as reported by|reported by|as stated by|as told to|cited by|citing|quoting|sourced? from|laut|nach angaben (?:von|der|des)|selon|d'après|según|secondo|segundo|de acordo com|volgens|enligt|ifølge|согласно|по данным)(?:\s?:\s?|\s)",
        )
    });
    static NAMED: LazyLock<Regex> = LazyLock::new(|| {
        compiled(&format!(
            r"\b(?i:per|via|source|sources|reference|references|quelle|fuente|fonte|credit|as per|published in|appeared in)(?:\s?:\s?|\s)(?:\p{{Ll}}+ )?(?P<name>{}|[a-z0-9-]+(?:\.[a-z0-9-]+)+)",
            *NAME
        ))
    });
    static AUTHORS: LazyLock<Regex> = LazyLock::new(|| {
        compiled(
            r"\(?(?P<name>\p{Lu}[\p{L}'-]+) (?:et al\.?|(?:and|&) \p{Lu}[\p{L}'-]+,? \(?(?:19|20)[0-9]{2})|[(\[](?P<single>\p{Lu}[\p{L}'-]+),? (?:19|20)[0-9]{2}[a-z]?[)\]]",
        )
    });
    static CHINESE: LazyLock<Regex> = LazyLock::new(|| {
        compiled(r"(?:根据|据|按照)(?P<name>[\p{L}]{2,12}?)(?:的?(?:报道|报告|数据|消息|研究))")
    });
    static SPEAKERS: LazyLock<Regex> = LazyLock::new(|| {
        compiled(&format!(
            r"(?P<name>{}) (?:(?:has|have|also|recently|today|hat|a|ha|had) ){{0,2}}(?:{SAYS})\b",
            *NAME
        ))
    });
    let mut found: Vec<String> = Vec::new();
    for phrase in ALWAYS.find_iter(text) {
        found.extend(named_in(&text[phrase.end()..]));
    }
    for pattern in [&*NAMED, &*AUTHORS, &*CHINESE, &*SPEAKERS] {
        for captures in pattern.captures_iter(text) {
            let name = captures.name("name").or_else(|| captures.name("single"));
            found.extend(name.and_then(|name| somebody(name.as_str())));
        }
    }
    let mut seen = HashSet::new();
    found.retain(|name| seen.insert(name.to_lowercase()));
    found
}

/// A name without what only begins its sentence, if it is somebody's.
fn somebody(name: &str) -> Option<String> {
    let is_nothing = |word: &str| {
        let lower = word.to_lowercase();
        let n_capitals = word.chars().filter(|letter| letter.is_uppercase()).count();
        lower.starts_with("i'")
            || weekday(&lower).is_some()
            || (lower.len() > 3 && month(&lower).is_some())
            || (n_capitals < 2 && is_function_word(&lower))
    };
    let name = name.strip_suffix("'s").unwrap_or(name);
    let start = words(name).find(|word| !is_nothing(word.as_str()))?.start();
    let name = &name[start..];
    (!words(name).all(|word| is_nobody(word.as_str()))).then(|| name.to_owned())
}

fn is_nobody(word: &str) -> bool {
    let lower = word.to_lowercase();
    NOBODY.split_whitespace().any(|nobody| nobody == lower)
}

/// Whom the text after `according to` names: the first name, or the first words in small letters.
fn named_in(after: &str) -> Option<String> {
    /// So many words may stand before a name.
    const FARTHEST: usize = 6;
    static RUN: LazyLock<Regex> = LazyLock::new(|| compiled(&NAME));
    static END: LazyLock<Regex> = LazyLock::new(|| compiled(r"[,;)\n!?:|]|[^\W\d_]{4,}\.\s|\.$"));
    let end = END.find(after).map_or(after.len(), |end| end.end());
    let after = &after[..end];
    let is_near = |found: &regex::Match<'_>| words(&after[..found.start()]).count() <= FARTHEST;
    let mut runs = RUN.find_iter(after).take_while(is_near);
    if let Some(name) = runs.find_map(|run| somebody(run.as_str())) {
        return Some(name);
    }
    let small = words(after)
        .take(3)
        .map(|word| word.as_str().to_lowercase());
    let small = small.filter(|word| !is_function_word(word) && !is_nobody(word));
    let small: Vec<String> = small
        .filter(|word| !word.contains(char::is_numeric))
        .collect();
    (!small.is_empty()).then(|| small.join(" "))
}
