//! Words for numbers.

use super::Language;

const ENGLISH: &[&str] = &[
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
];
const GERMAN: &[&str] = &[
    "null", "ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn",
    "elf", "zwölf",
];
const FRENCH: &[&str] = &[
    "zéro", "un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix", "onze",
    "douze",
];
const SPANISH: &[&str] = &[
    "cero", "un", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve", "diez",
    "once", "doce",
];
const ITALIAN: &[&str] = &[
    "zero", "un", "due", "tre", "quattro", "cinque", "sei", "sette", "otto", "nove", "dieci",
    "undici", "dodici",
];
const TENS: &[&str] = &[
    "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
];

/// The number that a word stands for.
pub(crate) fn count_word(word: &str, language: Option<Language>) -> Option<u32> {
    let words = match language {
        Some(Language::German) => GERMAN,
        Some(Language::French) => FRENCH,
        Some(Language::Spanish) => SPANISH,
        Some(Language::Italian) => ITALIAN,
        None | Some(Language::English) => {
            if let Some(at) = TENS.iter().position(|tens| *tens == word) {
                return u32::try_from((at + 2) * 10).ok();
            }
            ENGLISH
        }
        Some(_) => return None,
    };
    u32::try_from(words.iter().position(|name| *name == word)?).ok()
}
