//! Which language a text is in, by its script and its commonest words.

use std::collections::HashSet;
use std::sync::OnceLock;

use super::words;

macro_rules! languages {
    ($($name:ident, $code:literal, [$($called:literal),*], [$($common:literal),*];)*) => {
        /// A language whose words can be told apart.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) enum Language { $($name),* }

        impl Language {
            const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The name in English.
            pub(crate) fn name(self) -> &'static str {
                match self { $(Self::$name => stringify!($name),)* }
            }

            fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            fn called(self) -> &'static [&'static str] {
                match self { $(Self::$name => &[$($called),*],)* }
            }

            /// Words that nearly every text in it has, and few texts in others.
            fn common(self) -> &'static [&'static str] {
                match self { $(Self::$name => &[$($common),*],)* }
            }
        }
    };
}

languages! {
    English, "en", ["english", "englisch"],
        ["the", "and", "of", "to", "is", "are", "was", "were", "with", "that", "this", "for", "you", "it", "by", "from", "not", "have", "has", "be", "their", "they", "which", "your", "will", "what", "at", "an"];
    German, "de", ["german", "deutsch"],
        ["der", "die", "das", "und", "ist", "nicht", "ein", "eine", "einen", "mit", "auf", "für", "von", "zu", "den", "dem", "des", "sich", "werden", "wird", "wurde", "auch", "sind", "ich", "sie", "im", "zum", "zur", "aus", "bei"];
    French, "fr", ["french", "français", "französisch"],
        ["le", "les", "et", "des", "est", "une", "dans", "pour", "pas", "sur", "avec", "qui", "du", "au", "aux", "ce", "cette", "sont", "par", "plus", "nous", "vous", "été", "mais", "ne"];
    Spanish, "es", ["spanish", "español", "spanisch"],
        ["el", "los", "las", "y", "es", "una", "para", "con", "por", "del", "se", "su", "más", "pero", "al", "lo", "está", "fue", "son", "como", "en"];
    Italian, "it", ["italian", "italiano", "italienisch"],
        ["il", "gli", "che", "di", "è", "per", "con", "della", "del", "sono", "nel", "una", "non", "più", "anche", "dei", "alla", "questo", "le", "e"];
    Portuguese, "pt", ["portuguese", "português", "portugiesisch"],
        ["o", "os", "as", "e", "é", "uma", "para", "com", "não", "do", "da", "dos", "das", "em", "mais", "foi", "são", "ao", "pela", "um"];
    Dutch, "nl", ["dutch", "nederlands", "niederländisch"],
        ["de", "het", "een", "en", "van", "is", "niet", "zijn", "voor", "met", "dat", "op", "aan", "ook", "wordt", "werd", "naar", "bij", "uit", "maar"];
    Swedish, "sv", ["swedish", "svenska", "schwedisch"],
        ["och", "att", "det", "är", "som", "en", "på", "för", "med", "av", "inte", "den", "till", "ett", "har", "från"];
    Danish, "da", ["danish", "dansk", "dänisch"],
        ["og", "at", "det", "er", "som", "en", "på", "for", "med", "af", "ikke", "den", "til", "et", "har", "blev"];
    Norwegian, "no", ["norwegian", "norsk", "norwegisch"],
        ["og", "å", "det", "er", "som", "en", "på", "for", "med", "av", "ikke", "den", "til", "et", "har", "ble"];
    Finnish, "fi", ["finnish", "suomi", "finnisch"],
        ["ja", "on", "ei", "että", "se", "oli", "ovat", "mutta", "kun", "myös", "joka", "kuin", "hän", "sekä"];
    Polish, "pl", ["polish", "polski", "polnisch"],
        ["i", "w", "na", "nie", "się", "jest", "z", "do", "to", "że", "są", "dla", "przez", "oraz", "został"];
    Turkish, "tr", ["turkish", "türkçe", "türkisch"],
        ["ve", "bir", "bu", "için", "ile", "da", "değil", "olarak", "daha", "çok", "olan", "kadar"];
    Russian, "ru", ["russian", "русский", "русском", "russisch"], [];
    Ukrainian, "uk", ["ukrainian", "українська", "ukrainisch"], [];
    Greek, "el", ["greek", "ελληνικά", "griechisch"], [];
    Arabic, "ar", ["arabic", "arabisch"], [];
    Hebrew, "he", ["hebrew", "hebräisch"], [];
    Hindi, "hi", ["hindi"], [];
    Korean, "ko", ["korean", "한국어", "koreanisch"], [];
    Chinese, "zh", ["chinese", "mandarin", "中文", "chinesisch"], [];
    Japanese, "ja", ["japanese", "日本語", "japanisch"], [];
    Thai, "th", ["thai"], [];
}

impl Language {
    /// Words that say nothing by themselves.
    pub(crate) fn stop_words(self) -> &'static HashSet<&'static str> {
        static SETS: [OnceLock<HashSet<&'static str>>; Language::ALL.len()] =
            [const { OnceLock::new() }; Language::ALL.len()];
        SETS[self as usize].get_or_init(|| {
            stop_words::lookup(self.code())
                .unwrap_or_default()
                .iter()
                .copied()
                .collect()
        })
    }
}

/// So much of a text tells its language.
const SAMPLE: usize = 4000;

/// The language of a text; absent if it is too short or too mixed to tell.
pub(crate) fn detect(folded: &str) -> Option<Language> {
    let end = folded
        .char_indices()
        .nth(SAMPLE)
        .map_or(folded.len(), |(end, _)| end);
    let sample = &folded[..end];
    by_script(sample).or_else(|| by_common_words(sample))
}

fn by_script(sample: &str) -> Option<Language> {
    let mut letters = 0_usize;
    let mut latin = 0_usize;
    let (mut han, mut kana) = (0_usize, 0_usize);
    let mut others = [
        (Language::Korean, 0_usize),
        (Language::Thai, 0),
        (Language::Russian, 0),
        (Language::Greek, 0),
        (Language::Arabic, 0),
        (Language::Hebrew, 0),
        (Language::Hindi, 0),
    ];
    let mut is_ukrainian = false;
    for character in sample.chars().filter(|character| character.is_alphabetic()) {
        letters += 1;
        let script = match character {
            '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' => {
                han += 1;
                continue;
            }
            '\u{3040}'..='\u{30ff}' => {
                kana += 1;
                continue;
            }
            '\u{ac00}'..='\u{d7af}' => 0,
            '\u{e00}'..='\u{e7f}' => 1,
            '\u{400}'..='\u{4ff}' => {
                is_ukrainian |= matches!(character, 'і' | 'ї' | 'є' | 'ґ');
                2
            }
            '\u{370}'..='\u{3ff}' => 3,
            '\u{600}'..='\u{6ff}' => 4,
            '\u{590}'..='\u{5ff}' => 5,
            '\u{900}'..='\u{97f}' => 6,
            _ => {
                latin += 1;
                continue;
            }
        };
        others[script].1 += 1;
    }
    if letters == 0 || latin * 2 > letters {
        return None;
    }
    // A character of these says as much as several letters.
    if (han + kana) * 2 >= letters.saturating_sub(latin) && han + kana > 0 {
        return Some(if kana > 0 {
            Language::Japanese
        } else {
            Language::Chinese
        });
    }
    let (language, _) = others.into_iter().max_by_key(|(_, count)| *count)?;
    Some(if language == Language::Russian && is_ukrainian {
        Language::Ukrainian
    } else {
        language
    })
}

fn by_common_words(sample: &str) -> Option<Language> {
    static COMMON: OnceLock<Vec<(Language, HashSet<&'static str>)>> = OnceLock::new();
    let common = COMMON.get_or_init(|| {
        Language::ALL
            .iter()
            .filter(|language| !language.common().is_empty())
            .map(|language| (*language, language.common().iter().copied().collect()))
            .collect()
    });
    let mut counts = vec![0_usize; common.len()];
    for word in words(sample) {
        let word = word.text.to_lowercase();
        for ((_, set), count) in common.iter().zip(&mut counts) {
            *count += usize::from(set.contains(word.as_str()));
        }
    }
    let best = counts.iter().copied().max().unwrap_or(0);
    let mut leaders = common
        .iter()
        .zip(&counts)
        .filter(|(_, count)| **count == best);
    let ((language, _), _) = leaders.next()?;
    (best >= 2 && leaders.next().is_none()).then_some(*language)
}

/// The language that a word names, for example `German` or `Deutsch`.
pub(crate) fn language_called(word: &str) -> Option<Language> {
    let word = word.to_lowercase();
    Language::ALL
        .iter()
        .copied()
        .find(|language| language.called().contains(&word.as_str()))
}
