//! Numbers with what they measure, and names that have digits in them.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::{Language, count_word, words};

/// A number to the digit that is shown: `mantissa` × 10 ^ `exponent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Quantity {
    pub mantissa: i128,
    pub exponent: i32,
}

/// More digits make a text, not a number.
const MOST_DIGITS: usize = 30;

impl Quantity {
    fn parse(digits: &str, decimals: usize) -> Option<Self> {
        if digits.len() > MOST_DIGITS {
            return None;
        }
        Some(Self {
            mantissa: digits.parse().ok()?,
            exponent: -i32::try_from(decimals).ok()?,
        })
    }

    /// The nearest number of the machine.
    pub(crate) fn value(self) -> f64 {
        // Decimal text is read more exactly than a product of powers.
        format!("{}e{}", self.mantissa, self.exponent)
            .parse()
            .unwrap_or(f64::NAN)
    }

    /// The same without zeros at its end.
    pub(crate) fn normal(mut self) -> Self {
        if self.mantissa == 0 {
            return Self {
                mantissa: 0,
                exponent: 0,
            };
        }
        while self.mantissa % 10 == 0 {
            self.mantissa /= 10;
            self.exponent += 1;
        }
        self
    }

    pub(crate) fn scaled(self, power: i32) -> Self {
        Self {
            exponent: self.exponent.saturating_add(power),
            ..self
        }
    }

    fn negated(self) -> Self {
        Self {
            mantissa: -self.mantissa,
            ..self
        }
    }
}

/// What a number measures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Measure {
    /// Nothing is said.
    Bare,
    /// Things that the next word names.
    Counted,
    /// Hundredths.
    Percent,
    /// Money of a currency.
    Money(&'static str),
    /// A dimension, and how many of its basic units one is.
    Of(&'static str, f64),
}

impl Measure {}

/// A number in a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FoundNumber {
    pub range: Range<usize>,
    /// What it may mean: `1.234` has two meanings. None if it has more digits than a number may have.
    pub readings: Vec<Quantity>,
    /// The numbers it may be a list of: `5 200`.
    pub parts: Vec<Quantity>,
    pub measure: Measure,
    /// Whether the text says that it is rounded: `about 1,200`.
    pub is_rough: bool,
    /// Whether it is written as a word.
    pub is_word: bool,
}

/// How numbers are written in a text.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NumberStyle {
    /// The language, if it is known: it tells points from commas.
    pub language: Option<Language>,
    /// Whether it is what an answer is compared with: `one` and `twice` are numbers there, and need be none in an answer.
    pub is_source: bool,
}

/// The numbers of a folded text in which dates, times, addresses and identifiers were blanked.
pub(crate) fn numbers(text: &str, style: NumberStyle) -> Vec<FoundNumber> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let groups = groups(text, at);
        let end = groups.last().map_or(at + 1, |group| group.1.end);
        let (mut readings, mut parts) = readings(text, &groups, style);
        let (start, is_negative, currency) = prefix(text, at);
        let suffix = suffix(&text[end..], style, currency.is_some());
        for quantity in readings.iter_mut().chain(&mut parts) {
            *quantity = quantity.scaled(suffix.power);
            if is_negative {
                *quantity = quantity.negated();
            }
        }
        found.push(FoundNumber {
            range: start..end + suffix.length,
            readings,
            parts,
            measure: currency.map_or(suffix.measure, Measure::Money),
            is_rough: is_rough(&text[..start]),
            is_word: false,
        });
        at = end;
    }
    found.extend(spelled(text, style));
    found.sort_by_key(|number| number.range.start);
    share_units(text, &mut found);
    found
}

/// Gives the first number of a range the unit of its second: `5 to 13 °C`, `between 2 and 3 km`.
fn share_units(text: &str, numbers: &mut [FoundNumber]) {
    for at in 1..numbers.len() {
        let (first, second) = (&numbers[at - 1], &numbers[at]);
        let joined = text
            .get(first.range.end..second.range.start)
            .unwrap_or_default();
        let before = text[..first.range.start].trim_end().to_lowercase();
        let is_range = match joined.trim().to_lowercase().as_str() {
            "-" | "\u{2013}" | "to" | "bis" => true,
            "and" | "und" => before.ends_with("between") || before.ends_with("zwischen"),
            _ => false,
        };
        if is_range
            && matches!(first.measure, Measure::Bare | Measure::Counted)
            && !matches!(second.measure, Measure::Bare | Measure::Counted)
        {
            numbers[at - 1].measure = second.measure;
        } else if is_range
            && matches!(first.measure, Measure::Money(_))
            && second.measure == Measure::Bare
        {
            numbers[at].measure = first.measure;
        }
    }
}

/// Runs of digits that a separator joins, with the separator before each.
fn groups(text: &str, start: usize) -> Vec<(Option<char>, Range<usize>)> {
    let run = |from: usize| {
        let length = text.as_bytes()[from..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        from..from + length
    };
    let mut groups = vec![(None, run(start))];
    while let Some((_, last)) = groups.last() {
        let Some(separator) = text[last.end..].chars().next() else {
            break;
        };
        let next = run(last.end + separator.len_utf8());
        let is_group = match separator {
            '.' | ',' => !next.is_empty(),
            ' ' | '\u{a0}' | '\'' => {
                next.len() == 3
                    && (1..=3).contains(&groups[0].1.len())
                    && groups[1..]
                        .last()
                        .is_none_or(|(used, _)| *used == Some(separator))
            }
            _ => false,
        };
        if !is_group {
            break;
        }
        groups.push((Some(separator), next));
    }
    groups
}

/// What groups of digits mean together, and what they mean one by one.
fn readings(
    text: &str,
    groups: &[(Option<char>, Range<usize>)],
    style: NumberStyle,
) -> (Vec<Quantity>, Vec<Quantity>) {
    let digits = |groups: &[(Option<char>, Range<usize>)]| -> String {
        groups
            .iter()
            .map(|(_, range)| &text[range.clone()])
            .collect()
    };
    let whole = |groups: &[(Option<char>, Range<usize>)]| Quantity::parse(&digits(groups), 0);
    let last = groups.len() - 1;
    let decimal = || Quantity::parse(&digits(groups), groups[last].1.len());
    let separators: Vec<char> = groups
        .iter()
        .filter_map(|(separator, _)| *separator)
        .collect();
    let is_grouped = |groups: &[(Option<char>, Range<usize>)]| {
        let rest = &groups[1..];
        (1..=3).contains(&groups[0].1.len())
            && rest.last().is_none_or(|(_, range)| range.len() == 3)
            && rest.iter().all(|(separator, range)| {
                range.len() == 3 || (*separator == Some(',') && range.len() == 2)
            })
            && rest.windows(2).all(|pair| pair[0].0 == pair[1].0)
    };
    let mut readings: Vec<Option<Quantity>> = Vec::new();
    match separators.as_slice() {
        [] => readings.push(whole(groups)),
        [sign @ ('.' | ',')]
            if is_grouped(groups) && !text[groups[0].1.clone()].starts_with('0') =>
        {
            let is_decimal = style
                .language
                .map(|language| language.has_decimal_comma() == (*sign == ','));
            if is_decimal != Some(true) {
                readings.push(whole(groups));
            }
            if is_decimal != Some(false) {
                readings.push(decimal());
            }
        }
        ['.' | ','] => readings.push(decimal()),
        [.., final_sign @ ('.' | ',')]
            if separators[..last - 1].iter().all(|sign| sign != final_sign)
                && is_grouped(&groups[..last]) =>
        {
            readings.push(decimal());
        }
        _ if is_grouped(groups) => readings.push(whole(groups)),
        _ => {}
    }
    let is_list = separators.iter().any(|sign| matches!(sign, ',' | ' ')) || readings.is_empty();
    let parts = if is_list && last > 0 {
        groups
            .iter()
            .filter_map(|group| whole(std::slice::from_ref(group)))
            .collect()
    } else {
        Vec::new()
    };
    (readings.into_iter().flatten().collect(), parts)
}

/// A dollar, of whichever country.
const DOLLAR: &str = "$";

const CURRENCIES: &[(&str, &[&str])] = &[
    (DOLLAR, &["$", "dollar", "dollars"]),
    ("USD", &["us$", "usd"]),
    ("AUD", &["a$", "au$", "aud"]),
    ("CAD", &["c$", "ca$", "cad"]),
    ("NZD", &["nz$", "nzd"]),
    ("HKD", &["hk$", "hkd"]),
    ("SGD", &["s$", "sg$", "sgd"]),
    ("MXN", &["mx$", "mxn"]),
    ("BRL", &["r$", "brl", "reais"]),
    ("EUR", &["€", "eur", "euro", "euros"]),
    ("GBP", &["£", "gbp", "pound", "pounds"]),
    ("JPY", &["¥", "jpy", "yen"]),
    ("CNY", &["cn¥", "cny", "yuan"]),
    ("CHF", &["chf", "francs"]),
    ("INR", &["₹", "inr", "rupees"]),
    ("KRW", &["₩", "krw"]),
    ("RUB", &["₽", "rub"]),
    ("TRY", &["₺"]),
    ("ILS", &["₪"]),
    ("VND", &["₫", "vnd"]),
    ("PLN", &["zł", "pln"]),
    ("NOK", &["nok"]),
    ("DKK", &["dkk"]),
    ("ZAR", &["zar"]),
];

/// The signs of money that names of currencies end with.
const MONEY_SIGNS: &str = "$€£¥₹₩₽₺₪₫";

fn currency(word: &str) -> Option<&'static str> {
    let word = word.to_lowercase();
    CURRENCIES
        .iter()
        .find(|(_, names)| names.contains(&word.as_str()))
        .map(|(code, _)| *code)
}

/// Where the number begins with its sign and currency, whether it is negative, and what money it is.
fn prefix(text: &str, digits: usize) -> (usize, bool, Option<&'static str>) {
    let before = &text[..digits];
    let signed = |before: &str| {
        before.strip_suffix('-').is_some_and(|rest| {
            !rest.ends_with(|character: char| {
                character.is_alphanumeric() || matches!(character, ')' | '%' | '-')
            })
        })
    };
    let is_negative = signed(before);
    let minus = before
        .strip_suffix(' ')
        .and_then(|before| before.strip_suffix("minus"))
        .filter(|before| !before.ends_with(char::is_alphanumeric));
    if let Some(before) = minus {
        return (before.len(), true, None);
    }
    let start = digits - usize::from(is_negative);
    let bare = text[..start].trim_end_matches([' ', '\u{a0}']);
    let word_start = bare
        .char_indices()
        .rev()
        .take(4)
        .take_while(|(_, character)| character.is_alphabetic() || MONEY_SIGNS.contains(*character))
        .last()
        .map_or(bare.len(), |(at, _)| at);
    match currency(&bare[word_start..]) {
        Some(code) => {
            let is_negative = is_negative || signed(&text[..word_start]);
            (word_start, is_negative, Some(code))
        }
        None => (start, is_negative, None),
    }
}

struct Suffix {
    power: i32,
    measure: Measure,
    length: usize,
}

/// What follows a number and belongs to it.
fn suffix(rest: &str, style: NumberStyle, is_money: bool) -> Suffix {
    let mut suffix = Suffix {
        power: 0,
        measure: Measure::Bare,
        length: 0,
    };
    for _ in 0..3 {
        let after = &rest[suffix.length..];
        let gap = after
            .chars()
            .next()
            .filter(|character| matches!(character, ' ' | '\u{a0}' | '-'))
            .map_or(0, char::len_utf8);
        let word = &after[gap..];
        let length: usize = word
            .chars()
            .take(20)
            .take_while(|character| {
                character.is_alphabetic()
                    || "%‰°µ'²³×".contains(*character)
                    || MONEY_SIGNS.contains(*character)
            })
            .map(char::len_utf8)
            .sum();
        let word = &word[..length];
        if word.is_empty() {
            break;
        }
        if suffix.power == 0
            && let Some((power, used)) = scale(word, gap == 0, style, is_money)
        {
            suffix.power = power;
            suffix.length += gap + used;
            continue;
        }
        let squared = ["square ", "sq "].iter().find_map(|square| {
            let rest = after[gap..].strip_prefix(square)?;
            let end = rest
                .find(|sign: char| !sign.is_alphabetic())
                .unwrap_or(rest.len());
            let measure = match &rest[..end] {
                "m" | "metres" | "meters" | "metre" | "meter" => Measure::Of("area", 1.0),
                "km" | "kilometres" | "kilometers" => Measure::Of("area", 1e6),
                _ => return None,
            };
            Some((measure, square.len() + end))
        });
        if let Some((measure, length)) = squared {
            suffix.measure = measure;
            suffix.length += gap + length;
            break;
        }
        match unit(word, gap == 0) {
            Some(measure) => {
                suffix.measure = measure;
                suffix.length += gap + length;
            }
            None if word.chars().all(super::words::is_unspaced) => {}
            None if suffix.measure == Measure::Bare && gap < 2 => suffix.measure = Measure::Counted,
            None => {}
        }
        break;
    }
    suffix
}

/// The power of ten that a word stands for, and how many bytes of it.
fn scale(
    word: &str,
    is_attached: bool,
    style: NumberStyle,
    is_money: bool,
) -> Option<(i32, usize)> {
    let is_long_scale = style.language.is_some_and(|language| {
        !matches!(
            language,
            Language::English | Language::Portuguese | Language::Turkish | Language::Russian
        )
    });
    let first = word.chars().next()?;
    if let Some(power) = match first {
        '万' | '萬' | '만' => Some(4),
        '亿' | '億' | '억' => Some(8),
        _ => None,
    } {
        return Some((power, first.len_utf8()));
    }
    let power = match word {
        "K" | "k" if is_attached => 3,
        "M" if is_attached || is_money => 6,
        "m" if is_money => 6,
        "B" if is_attached => 9,
        _ => match word.to_lowercase().as_str() {
            "hundred" | "hundert" => 2,
            "thousand" | "thousands" | "tausend" | "mille" | "tsd" | "tysięcy" | "тысяч"
            | "тыс" => 3,
            "million" | "millions" | "millionen" | "mio" | "mln" | "mn" | "millón" | "millones"
            | "milione" | "milioni" | "milhão" | "milhões" | "miljoen" | "miljoner"
            | "миллионов" | "млн" => 6,
            "milliarde"
            | "milliarden"
            | "mrd"
            | "milliard"
            | "milliards"
            | "miliardo"
            | "miliardi"
            | "miljard"
            | "bn"
            | "bilhão"
            | "bilhões"
            | "миллиардов"
            | "млрд" => 9,
            "billion" | "billions" | "billionen" if is_long_scale => 12,
            "billion" | "billions" => 9,
            "trillion" | "trillions" | "tn" => 12,
            _ => return None,
        },
    };
    Some((power, word.len()))
}

/// Degrees of some scale.
const TEMPERATURE: &str = "temperature";

/// What a word after a number makes of it.
fn unit(word: &str, is_attached: bool) -> Option<Measure> {
    if let Some(code) = currency(word) {
        return Some(Measure::Money(code));
    }
    Some(match word {
        // Short signs whose case tells them apart.
        "C" if is_attached => Measure::Of("temperature in °C", 1.0),
        "F" if is_attached => Measure::Of("temperature in °F", 1.0),
        "MB" => Measure::Of("data", 1e6),
        "Mb" => Measure::Of("bits", 1e6),
        "mW" => Measure::Of("power", 1e-3),
        "MW" => Measure::Of("power", 1e6),
        "GW" => Measure::Of("power", 1e9),
        "kW" => Measure::Of("power", 1e3),
        _ => match word.to_lowercase().as_str() {
            "%" | "percent" | "pct" | "prozent" | "procent" | "procento" | "percento"
            | "процентов" | "процента" => Measure::Percent,
            "‰" => Measure::Of("permille", 1.0),
            "ms" | "msec" | "millisecond" | "milliseconds" | "millisekunden" => {
                Measure::Of("time", 1e-3)
            }
            "s" | "sec" | "secs" | "second" | "seconds" | "sekunde" | "sekunden" | "secondes"
            | "segundos" => Measure::Of("time", 1.0),
            "min" | "mins" | "minute" | "minutes" | "minuten" | "minutos" => {
                Measure::Of("time", 60.0)
            }
            "h" | "hr" | "hrs" | "hour" | "hours" | "stunde" | "stunden" | "heures" | "horas" => {
                Measure::Of("time", 3600.0)
            }
            "day" | "days" | "tag" | "tage" | "tagen" | "jours" | "días" => {
                Measure::Of("time", 86_400.0)
            }
            "week" | "weeks" | "woche" | "wochen" => Measure::Of("time", 604_800.0),
            "month" | "months" | "monat" | "monate" | "monaten" | "mois" | "meses" => {
                Measure::Of("months", 1.0)
            }
            "year" | "years" | "jahr" | "jahre" | "jahren" | "ans" | "años" => {
                Measure::Of("months", 12.0)
            }
            "mm" => Measure::Of("length", 1e-3),
            "cm" => Measure::Of("length", 1e-2),
            "m" | "meter" | "meters" | "metre" | "metres" | "metern" => Measure::Of("length", 1.0),
            "km" | "kilometer" | "kilometers" | "kilometre" | "kilometres" | "kilometern"
            | "kph" | "kmh" => Measure::Of("length", 1e3),
            "mile" | "miles" | "mi" | "mph" => Measure::Of("miles", 1.0),
            "g" | "gram" | "grams" | "gramm" => Measure::Of("mass", 1e-3),
            "mg" | "milligram" | "milligrams" | "milligramm" => Measure::Of("mass", 1e-6),
            "µg" | "μg" | "mcg" | "microgram" | "micrograms" => Measure::Of("mass", 1e-9),
            "kg" | "kilogram" | "kilograms" | "kilogramm" => Measure::Of("mass", 1.0),
            "t" | "ton" | "tons" | "tonne" | "tonnes" | "tonnen" => Measure::Of("mass", 1e3),
            "l" | "liter" | "liters" | "litre" | "litres" | "litern" => Measure::Of("volume", 1.0),
            "dl" => Measure::Of("volume", 0.1),
            "cl" => Measure::Of("volume", 0.01),
            "ml" | "milliliter" | "milliliters" | "millilitre" | "millilitres" => {
                Measure::Of("volume", 1e-3)
            }
            "kwh" => Measure::Of("energy", 1e3),
            "wh" => Measure::Of("energy", 1.0),
            "kb" => Measure::Of("data", 1e3),
            "gb" => Measure::Of("data", 1e9),
            "tb" => Measure::Of("data", 1e12),
            "byte" | "bytes" => Measure::Of("data", 1.0),
            "°c" | "celsius" => Measure::Of("temperature in °C", 1.0),
            "°f" | "fahrenheit" => Measure::Of("temperature in °F", 1.0),
            "°" | "degree" | "degrees" | "grad" | "degrés" | "grados" | "gradi" => {
                Measure::Of(TEMPERATURE, 1.0)
            }
            "m²" | "m2" | "sqm" => Measure::Of("area", 1.0),
            "km²" | "km2" => Measure::Of("area", 1e6),
            "m³" | "m3" => Measure::Of("volume", 1e3),
            "st" | "nd" | "rd" | "th" | "x" | "×" if is_attached => Measure::Bare,
            _ => return None,
        },
    })
}

/// Whether the words before a number say that it is rounded.
fn is_rough(before: &str) -> bool {
    let before = before.trim_end_matches([' ', '\u{a0}']);
    if before.ends_with(['~', '≈']) {
        return true;
    }
    let start = before
        .char_indices()
        .rev()
        .take(16)
        .last()
        .map_or(0, |(at, _)| at);
    let lower = before[start..].to_lowercase();
    [
        "about",
        "around",
        "roughly",
        "approximately",
        "nearly",
        "almost",
        "over",
        "more than",
        "some",
        "circa",
        "approx.",
        "ca.",
        "etwa",
        "rund",
        "fast",
        "über",
        "ungefähr",
        "environ",
        "près de",
        "unos",
        "casi",
        "quasi",
    ]
    .iter()
    .any(|word| {
        lower
            .strip_suffix(word)
            .is_some_and(|rest| !rest.ends_with(char::is_alphanumeric))
    })
}

/// Numbers written as words. `one` is as often no number as it is one.
fn spelled(text: &str, style: NumberStyle) -> Vec<FoundNumber> {
    let mut found: Vec<FoundNumber> = Vec::new();
    let mut before: Option<(u32, usize)> = None;
    for word in words(text) {
        let lower = word.text.to_lowercase();
        let value = match lower.as_str() {
            "once" if style.is_source => Some(1),
            "twice" if style.is_source => Some(2),
            word if word.len() <= 12 => count_word(word, style.language),
            _ => None,
        };
        let Some(value) = value else {
            before = None;
            continue;
        };
        let joined = before
            .filter(|(tens, end)| {
                *tens >= 20 && tens % 10 == 0 && value < 10 && word.start == end + 1
            })
            .map(|(tens, _)| tens);
        let start = match joined {
            Some(_) => found.pop().map_or(word.start, |tens| tens.range.start),
            None => word.start,
        };
        let value = value + joined.unwrap_or(0);
        before = Some((value, word.end()));
        let suffix = suffix(&text[word.end()..], style, false);
        let is_amount = !matches!(suffix.measure, Measure::Bare | Measure::Counted);
        if value == 1 && !is_amount && !style.is_source {
            continue;
        }
        found.push(FoundNumber {
            range: start..word.end() + suffix.length,
            readings: vec![
                Quantity {
                    mantissa: value.into(),
                    exponent: 0,
                }
                .scaled(suffix.power),
            ],
            parts: Vec::new(),
            measure: suffix.measure,
            is_rough: is_rough(&text[..start]),
            is_word: true,
        });
    }
    found
}

/// A name with digits in it, or a version: `GPT-5`, `Q3`, `H100`, `1.2.3`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identifier {
    pub range: Range<usize>,
    /// Letters and digits, and points between digits, in lower case.
    pub key: String,
}

/// The identifiers of a folded text in which dates, times and addresses were blanked.
pub(crate) fn identifiers(text: &str) -> Vec<Identifier> {
    static IDENTIFIER: LazyLock<Regex> = LazyLock::new(|| {
        const L: &str = r"A-Za-z\u{c0}-\u{24f}\u{370}-\u{4ff}_";
        let attached = format!(r"[{L}]+[0-9][{L}0-9]*(?:[.-][{L}0-9]*[0-9][{L}0-9]*)*");
        let hyphened = format!(
            r"[A-Z][{L}]*[A-Z][{L}]*-[0-9][{L}0-9]*(?:[.-][0-9]+[{L}0-9]*)*|\b[A-Z]-[0-9]+"
        );
        let version = r"v?[0-9]+(?:\.[0-9]+){2,}".to_owned();
        let reversed = format!(r"[0-9]+[{L}]+[{L}0-9]*");
        Regex::new(&format!("{attached}|{hyphened}|{version}|{reversed}")).expect("a fixed pattern")
    });
    IDENTIFIER
        .find_iter(text)
        .filter(|found| {
            let name = found.as_str();
            let before = text[..found.start()].chars().next_back();
            if before.is_some_and(|before| before.is_ascii_digit() || matches!(before, '.' | ','))
                && name.starts_with(|first: char| first.is_ascii_digit())
            {
                return false;
            }
            let word = name.trim_start_matches(|character: char| character.is_ascii_digit());
            if word.len() < name.len() && !word.starts_with('.') {
                // `5km`, `10k`, `3rd` are numbers.
                let is_word = word.chars().all(char::is_alphabetic);
                return !(is_word
                    && (unit(word, true).is_some()
                        || scale(word, true, NumberStyle::default(), false).is_some()));
            }
            if word.starts_with('.') {
                // `1.234.567` is a number.
                return !name.split('.').skip(1).all(|group| group.len() == 3);
            }
            // `USD5`, `EUR20`
            currency(name.trim_end_matches(|character: char| character.is_ascii_digit())).is_none()
        })
        .map(|found| Identifier {
            range: found.range(),
            key: identifier_key(found.as_str()),
        })
        .collect()
}

fn identifier_key(name: &str) -> String {
    name.chars()
        .filter(|character| character.is_alphanumeric() || *character == '.')
        .flat_map(char::to_lowercase)
        .collect()
}
