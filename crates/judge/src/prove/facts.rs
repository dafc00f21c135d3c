//! Facts, content words, signs and roles of a piece of text.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use fancy_regex::{Captures, RegexInput};

use super::data::{
    COMPARING, CURRENCIES, MONEY_BEFORE, MULTIPLIER_WORDS, NO, PREPOSITIONS, UNITS, Unit, WEEKDAYS,
    month, month_names, multiplier, number_word, ordinal, unit_of, words_of,
};
use super::glue::Glue;
pub(super) use super::said::Said;
use super::same::{Same, readings, same};
use super::text::{Language, fold, pattern, place, plain, stem};

/// What a fact says.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Number(f64),
    /// Year, month, day, as far as they are said.
    Date([Option<i32>; 3]),
    /// Hour, minute, second, as far as they are said.
    Time([Option<i32>; 3]),
    Url(String),
    Quote(String),
    Id(String),
    Name(String),
}

/// A number, a date, an address, a name: what must be found as it is.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fact {
    pub(super) value: Value,
    pub(super) unit: Option<Unit>,
    /// `month` of `5 EUR a month`, in three letters.
    pub(super) rate: Option<String>,
    /// Whether it can be read in two ways.
    pub(super) is_ambiguous: bool,
    /// The word before it that makes it a rough or a bounding one.
    pub(super) about: Option<String>,
    /// Where it stands in the folded text; -1 if it was taken from elsewhere.
    pub(super) at: i64,
    pub(super) glue: Glue,
    pub(super) text: String,
}

/// A content word.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Word {
    pub(super) at: i64,
    pub(super) glue: Glue,
    pub(super) stem: String,
    pub(super) lower: String,
    pub(super) is_capital: bool,
}

/// Which word, by its stem, or fact stands behind which preposition.
pub(super) type Roles = BTreeMap<String, String>;

/// Facts of one kind in a clause are rivals: each is of another thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rival {
    Number,
    Year,
    Date,
    Time,
}

impl Fact {
    fn new(value: Value, at: i64, text: &str) -> Self {
        Self {
            value,
            unit: None,
            rate: None,
            is_ambiguous: false,
            about: None,
            at,
            glue: Glue::default(),
            text: text.to_owned(),
        }
    }

    pub(super) fn rival(&self) -> Option<Rival> {
        match &self.value {
            Value::Date(_) => Some(Rival::Date),
            Value::Time(..) => Some(Rival::Time),
            Value::Number(number) => {
                let is_year = self.unit.is_none()
                    && (1900.0..=2100.0).contains(number)
                    && !self.text.contains(',');
                Some(if is_year { Rival::Year } else { Rival::Number })
            }
            _ => None,
        }
    }

    pub(super) fn number(&self) -> Option<f64> {
        match self.value {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    pub(super) fn is_name(&self) -> bool {
        matches!(self.value, Value::Name(_))
    }

    pub(super) fn is_id(&self) -> bool {
        matches!(self.value, Value::Id(_))
    }

    /// `0`, `none`, `no`: a denial.
    pub(super) fn is_zero(&self) -> bool {
        self.number() == Some(0.0) && self.unit.is_none()
    }

    /// Whether both are of one kind: numbers, dates, …
    pub(super) fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(&self.value) == std::mem::discriminant(&other.value)
    }

    /// Whether it is one of these of a source.
    pub(super) fn is_in<'f>(&self, facts: impl IntoIterator<Item = &'f Self>) -> bool {
        let mut facts = facts.into_iter();
        facts.any(|source| same(self, source) == Same::Yes)
    }

    pub(super) fn role_key(&self) -> String {
        format!("{:?}", self.value)
    }

    /// The fact as one that was taken from elsewhere.
    pub(super) fn carried(&self) -> Self {
        Self {
            at: -1,
            glue: self.glue.carried(),
            ..self.clone()
        }
    }
}

impl Word {
    /// The word as one that was taken from elsewhere.
    pub(super) fn carried(&self) -> Self {
        Self {
            at: -1,
            glue: self.glue.carried(),
            ..self.clone()
        }
    }
}

const NUMBER: &str = r"[-+]?\d{1,3}(?:[,.' ]\d{3})+(?:[.,]\d+)?(?!\d)|\d{1,2}(?:,\d\d)+,\d{3}(?!\d)|[-+]?\d+(?:[.,]\d+)?";

/// A number with its unit as an end of a range.
const BOUND: &str = r"[€$£]?\d[\d.,]*(?: ?[^\s\d.,;:]{1,5})?";

/// What makes a number of a source the end of a range, which is no number of its own.
pub(super) const RANGE_END: &str = "to";

static UNIT: LazyLock<String> = LazyLock::new(|| {
    let mut names: Vec<&String> = UNITS.keys().collect();
    names.sort_by_key(|name| (std::cmp::Reverse(name.len()), name.as_str().to_owned()));
    let escaped = names
        .iter()
        .map(|name| fancy_regex::escape(name).into_owned());
    escaped.collect::<Vec<String>>().join("|")
});

static MONTH: LazyLock<String> = LazyLock::new(|| format!("(?:{})", month_names().join("|")));

/// A pattern, which may look around. One that does is tried only where a plain one finds that it may begin.
struct Pattern {
    whole: fancy_regex::Regex,
    begins: Option<regex::Regex>,
}

impl Pattern {
    fn new(whole: &str, begins: Option<&str>) -> Self {
        Self {
            whole: fancy_regex::Regex::new(whole).expect("it is fixed"),
            begins: begins.map(super::text::fixed),
        }
    }

    fn all<'t>(&self, text: &'t str) -> Vec<Captures<'t, str>> {
        let Some(begins) = &self.begins else {
            // What takes too long to match is no match.
            return self
                .whole
                .captures_iter(text)
                .filter_map(Result::ok)
                .collect();
        };
        let (mut all, mut from) = (Vec::new(), 0);
        while let Some(start) = begins.find_at(text, from).map(|found| found.start()) {
            let here = RegexInput::new(text).from_pos(start).anchored(true);
            let found = self.whole.captures_input(here).ok().flatten();
            let end = found
                .as_ref()
                .and_then(|found| found.get(0))
                .map(|whole| whole.end());
            from = end.unwrap_or_else(|| text.ceil_char_boundary(start + 1));
            all.extend(found);
        }
        all
    }

    fn is_match(&self, text: &str) -> bool {
        self.whole.is_match(text).unwrap_or(false)
    }
}

macro_rules! patterns {
    ($($name:ident = $pattern:expr $(, where $begins:expr)?;)*) => {$(
        static $name: LazyLock<Pattern> =
            LazyLock::new(|| Pattern::new(&$pattern, None::<&str>$(.or(Some(&$begins)))?));
    )*};
}

patterns! {
    URL = r#"(?i)(?:https?://|www\.)[^\s<>"')\]]+"#;
    QUOTE = r#""([^"\n]{2,300})""#;
    PHONE = r"(?<![\w.-])(?:\+|0)\d[\d ()/-]{7,}\d(?!\w)", where r"[+0]\d[\d ()/-]{7}";
    DATE_ISO = r"\b(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)(?:[T ](?P<t>\d\d:\d\d(?::\d\d)?)(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?)?(?!\d)", where r"\d{4}-\d\d-\d\d";
    MONTH_ISO = r"(?<![\w-])(?P<y>(?:19|20)\d\d)-(?P<m>0[1-9]|1[0-2])(?![\w-])|(?<![\w/-])(?P<m2>0?[1-9]|1[0-2])/(?P<y2>(?:19|20)\d\d)(?![\w/-])", where r"(?:19|20)\d\d-[01]\d|[01]?\d/(?:19|20)\d\d";
    DAYS_MONTH = format!(r"(?i)\b(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.)?\s*(?:-|–|to|and|or|until|bis|und)\s*(?P<d2>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?(?P<mon>{})\b\.?(?:,?\s+(?P<y>\d{{4}})\b)?", *MONTH);
    MONTH_DAYS = format!(r"(?i)\b(?P<mon>{})\b\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s*(?:-|–|to|until|through)\s*(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:\d|\.\d|\s?%|\s[ap]m\b)(?:,?\s+(?P<y>\d{{4}})\b)?", *MONTH), where format!(r"(?i)\b{}\b\.?\s+\d", *MONTH);
    DATE_DAY_MONTH = format!(r"(?i)\b(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?(?P<mon>{})\b\.?(?:,?\s+(?P<y>\d{{4}})\b)?", *MONTH);
    DATE_MONTH_DAY = format!(r"(?i)\b(?P<mon>{})\b\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:\d|\.\d)(?:,?\s+(?P<y>\d{{4}})\b)?", *MONTH), where format!(r"(?i)\b{}\b\.?\s+\d", *MONTH);
    DATE_MONTH_YEAR = format!(r"(?i)\b(?P<mon>{})\b\.?\s+(?P<y>\d{{4}})\b", *MONTH);
    DATE_GERMAN = r"(?i)\b(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>\d{4})(?!\d)|(?<=\bam |\bab )(?P<d2>\d{1,2})\.(?P<m2>\d{1,2})\.(?!\d)", where r"\d{1,2}\.\d{1,2}\.";
    DATE_SLASHES = r"\b(?P<m>\d{1,2})/(?P<d>\d{1,2})/(?P<y>\d{4})\b";
    MONTH_ALONE = {
        let names = month_names();
        let names = names.iter().filter(|name| name.chars().count() > 3).map(|name| {
            let mut letters = name.chars();
            letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
        });
        format!(r"(?:(?<=[a-zäöü,:] )|^(?=\w+\s*(?:[:(|–-]|$)))({})\b", names.collect::<Vec<String>>().join("|"))
    }, where r"\b\p{Lu}\w\w\w";
    TIME = r"(?i)\b([01]?\d|2[0-3])[:]([0-5]\d)(?::([0-5]\d))?\s*(am\b|pm\b|a\.m\.|p\.m\.|uhr\b)?|\b(1[0-2]|0?[1-9])(?:\.([0-5]\d))?\s*(am|pm|a\.m\.|p\.m\.)(?!\w)|\b([01]?\d|2[0-3])(?:\.([0-5]\d))?\s*uhr\b", where r"(?i)\d(?:\d?:[0-5]\d|[\d.]{0,4}\s*(?:[ap]\.?m|uhr))";
    ID = r"(?:\b|\B[@#])[A-Za-z0-9]\w*(?:[-./:@#+_]+\w+)*";
    GRADE = r"(?<![\w+-])(?:[A-Z]{1,2}[+-]|[A-Za-z](?:\+\+|#))(?![\w+#-])", where r"[A-Z]{1,2}[+-]|[A-Za-z](?:\+\+|#)";
    COUNTED = r"^\d+-[a-z]{3,}$";
    COMPOUND = format!(r"(?i)(?<![\w.])(\d+) ?({unit}) ?(?:and )?(\d+(?:\.\d+)?) ?({unit})(?!\w)", unit = *UNIT), where r"\d+[^\d]{1,30}\d";
    VERSION = r"(?i)\b(version|release|v)[: ]*(\d+(?:\.\d+)+)\b";
    AMOUNT = format!(
        r"(?i)(?P<pre>{MONEY_BEFORE})?(?<![\p{{Latin}}\p{{Greek}}\p{{Cyrillic}}\d_.,])(?P<n>{NUMBER})(?:(?P<mult>\s?(?:k|m|bn|b|mn)\b(?!/)|\s(?:{MULTIPLIER_WORDS})\b))?(?:[ -]?(?P<u>{})(?![\w²]))?",
        *UNIT
    ), where format!(r"(?i){MONEY_BEFORE}?[-+]?\d");
    RATE = r"(?i)^\s*(?:/|per\b|a\b|an\b|each\b|pro\b|je\b)\s*([^\W\d_]+)";
    ONLY_AMOUNT = format!(r"(?i)^(?:{NUMBER})\s?-?(?:{}|k|m|bn|x|st|nd|rd|th)(?:-old)?$", *UNIT);
    RANGE = format!(r"^(?:{NUMBER})\s?-\s?(?:{NUMBER})\w*$");
    RANGE_BEHIND = format!(r"(?i)^{BOUND}(?: to | or | bis | oder |(?<=\d) ?– ?){BOUND}");
    RANGE_BEFORE = format!(r"(?i){BOUND}(?: to | or | bis | oder | ?– ?){BOUND}$|\b(?:between|zwischen) {BOUND} (?:and|und) {BOUND}$|\b(?:between|zwischen) \d[\d.,]*$");
    OPEN = r"(?i)\bup to $|(?:^|: )from $";
    CHANGE = format!(r"(?i)\b(?:from|von) {BOUND}(?: (?:to|bis) {BOUND})?$");
    CODE = r"[A-Za-z0-9](?:_|@)\w|\w\.[a-z]\w+$|^@\w|\d+\.\d+\.\d+|\w+/\w+\.\w";
    GROUPED = r"^\d{1,3}(?:\.\d{3}){2,}$";
    DIGITS_WITH_DASHES = r"^\d{2,}(?:-\d+)+$";
    WORD = r"(?:\d+(?:st|nd|rd|th)|[Qq][1-4]|[^\W\d_]+(?:'[^\W\d_]+)?)\b";
    PAIR = r"(?i)\b(?:neither\b.*\bnor|weder\b.*\bnoch)\b";
    PLAIN_NUMBER = format!(r"^(?:{NUMBER})$");
}

/// The month of this name beside a day or a year; none of small words that are others, too.
fn named_month(name: &str) -> Option<i32> {
    match name {
        "may" | "march" | "mar" => None,
        name => month(&name.to_lowercase()),
    }
}

/// Whether a text is a number and nothing else.
pub(super) fn is_number(text: &str) -> bool {
    PLAIN_NUMBER.is_match(text)
}

/// Takes facts out of a text, one kind after the other, so that none is read twice.
struct Reader {
    text: String,
    facts: Vec<Fact>,
    language: Option<Language>,
}

/// A number of more digits is one by its digits only.
const LONGEST_NUMBER: usize = 15;

impl Reader {
    fn take(&mut self, range: Range<usize>) {
        let spaces = " ".repeat(range.len());
        self.text.replace_range(range, &spaces);
    }

    fn add(&mut self, value: Value, at: usize, text: &str) -> &mut Fact {
        self.facts.push(Fact::new(value, place(at), text.trim()));
        let last = self.facts.len() - 1;
        &mut self.facts[last]
    }

    /// Calls `read` with each match of a pattern in what is left of the text, and takes out what it has read.
    fn each(
        &mut self,
        pattern: &Pattern,
        mut read: impl FnMut(&mut Self, &Captures<'_, str>) -> Option<Range<usize>>,
    ) {
        let text = self.text.clone();
        for found in pattern.all(&text) {
            if let Some(range) = read(self, &found) {
                self.take(range);
            }
        }
    }

    fn texts(&mut self) {
        self.each(&URL, |reader, found| {
            let url = found.get(0)?;
            let bare = url
                .as_str()
                .trim_end_matches(['.', ',', ';', ':', '!', '?']);
            let bare = bare.trim_end_matches('/').to_lowercase();
            reader.add(Value::Url(bare), url.start(), url.as_str());
            Some(url.range())
        });
        self.each(&QUOTE, |reader, found| {
            let (whole, quote) = (found.get(0)?, found.get(1)?.as_str());
            reader.add(Value::Quote(plain(quote)), whole.start(), quote);
            Some(whole.range())
        });
        self.each(&PHONE, |reader, found| {
            let phone = found.get(0)?;
            let digits = phone.as_str().chars().filter(char::is_ascii_digit);
            let digits: String = digits.collect();
            (digits.len() >= 9).then(|| {
                reader.add(Value::Id(digits), phone.start(), phone.as_str());
                phone.range()
            })
        });
    }

    /// Reads two days of one month: `12 and 16 January 2026`.
    fn days(&mut self) {
        for pattern in [&DAYS_MONTH, &MONTH_DAYS] {
            self.each(pattern, |reader, found| {
                let number = |name: &str| found.name(name)?.as_str().parse::<i32>().ok();
                let month = named_month(found.name("mon")?.as_str())?;
                for name in ["d", "d2"] {
                    let day = found.name(name)?;
                    if !(1..=31).contains(&number(name)?) {
                        return None;
                    }
                    let date = Value::Date([number("y"), Some(month), number(name)]);
                    reader.add(date, day.start(), day.as_str());
                }
                Some(found.get(0)?.range())
            });
        }
    }

    fn dates(&mut self) {
        self.days();
        let patterns = [
            &DATE_ISO,
            &MONTH_ISO,
            &DATE_DAY_MONTH,
            &DATE_MONTH_DAY,
            &DATE_MONTH_YEAR,
            &DATE_GERMAN,
            &DATE_SLASHES,
        ];
        for pattern in patterns {
            let is_american = std::ptr::eq(pattern, &DATE_SLASHES);
            self.each(pattern, |reader, found| {
                let whole = found.get(0)?;
                let group = |names: &[&str]| {
                    let mut groups = names.iter().filter_map(|name| found.name(name));
                    groups.next().map(|group| group.as_str())
                };
                let number = |names: &[&str]| group(names)?.parse::<i32>().ok();
                let named = || named_month(group(&["mon"])?);
                let mut day = number(&["d", "d2"]);
                let mut month = number(&["m", "m2"]).or_else(named)?;
                if let Some(day) = day.as_mut().filter(|_| is_american && month > 12) {
                    std::mem::swap(&mut month, day);
                }
                if !(1..=12).contains(&month) || day > Some(31) {
                    return None;
                }
                let date = Value::Date([number(&["y", "y2"]), Some(month), day]);
                reader.add(date, whole.start(), whole.as_str()).is_ambiguous =
                    is_american && day <= Some(12) && day != Some(month);
                if let Some(time) = group(&["t"]).filter(|time| !time.starts_with("00:00")) {
                    let mut parts = time.split(':').map(|part| part.parse().ok());
                    let parts = [(); 3].map(|()| parts.next().flatten());
                    reader.add(Value::Time(parts), whole.start() + 11, time);
                }
                Some(whole.range())
            });
        }
        self.each(&MONTH_ALONE, |reader, found| {
            let (whole, name) = (found.get(0)?, found.get(1)?.as_str());
            let date = Value::Date([None, month(&name.to_lowercase()), None]);
            reader.add(date, whole.start(), name);
            Some(whole.range())
        });
        self.each(&TIME, |reader, found| {
            let whole = found.get(0)?;
            let group = |groups: &[usize]| {
                let mut groups = groups.iter().filter_map(|group| found.get(*group));
                groups.next().map(|group| group.as_str())
            };
            let number = |groups: &[usize]| group(groups)?.parse::<i32>().ok();
            let hour = number(&[1, 5, 8])?;
            let half = group(&[4, 7]).unwrap_or_default().to_lowercase();
            let hour = match half.replace('.', "").as_str() {
                "am" => hour % 12,
                "pm" => hour % 12 + 12,
                _ => hour,
            };
            let minute = number(&[2, 6, 9]).or(Some(0));
            let time = Value::Time([Some(hour), minute, number(&[3])]);
            reader.add(time, whole.start(), whole.as_str());
            Some(whole.range())
        });
    }

    fn ids(&mut self) {
        self.each(&COMPOUND, |reader, found| {
            let whole = found.get(0)?;
            let unit = |group: usize| unit_of(found.get(group)?.as_str());
            let number = |group: usize| found.get(group)?.as_str().parse::<f64>().ok();
            let (first, second) = (unit(2)?, unit(4)?);
            let is_one = first.dimension == second.dimension && second.factor < first.factor;
            let number = number(1)? * first.factor / second.factor + number(3)?;
            is_one.then(|| {
                let text = whole.as_str();
                reader.add(Value::Number(number), whole.start(), text).unit = Some(second);
                whole.range()
            })
        });
        self.each(&VERSION, |reader, found| {
            let version = found.get(2)?;
            let id = Value::Id(version.as_str().to_lowercase());
            reader.add(id, version.start(), version.as_str());
            Some(version.range())
        });
        // `B+` is another grade than `B`.
        self.each(&GRADE, |reader, found| {
            let grade = found.get(0)?;
            let id = Value::Id(grade.as_str().to_lowercase());
            reader.add(id, grade.start(), grade.as_str());
            Some(grade.range())
        });
        self.each(&ID, |reader, found| {
            let whole = found.get(0)?;
            let id = whole.as_str().trim_matches(['.', ':', '-', '/']);
            let has_digit = id.contains(|letter: char| letter.is_ascii_digit());
            let has_letter = id.contains(|letter: char| letter.is_ascii_alphabetic());
            let is_mixed =
                has_digit && has_letter && unit_of(id).is_none() && !ONLY_AMOUNT.is_match(id);
            // `1.234.567,89`
            let is_grouped = GROUPED.is_match(id);
            let is_dashed = id.len() > 6 && DIGITS_WITH_DASHES.is_match(id);
            let is_rate = id
                .split_once('/')
                .is_some_and(|(number, unit)| is_number(number) && unit_of(unit).is_some());
            let is_id = !is_rate && !is_grouped && (is_mixed || CODE.is_match(id) || is_dashed);
            let is_quarter =
                id.len() == 2 && id.starts_with(['Q', 'q']) && id.ends_with(['1', '2', '3', '4']);
            // `a 4-star hotel`
            let is_counted = COUNTED.is_match(id);
            (is_id && !is_quarter && !is_counted && !RANGE.is_match(id)).then(|| {
                let bare = id.to_lowercase();
                let bare = bare.trim_start_matches(['#', '@']).to_owned();
                reader.add(Value::Id(bare), whole.start(), id);
                whole.range()
            })
        });
    }

    fn amounts(&mut self) {
        let whole = self.text.clone();
        self.each(&AMOUNT, |reader, found| reader.amount(found, &whole));
    }

    /// Reads an amount of a text `whole`, of which what was read before is taken out.
    fn amount(&mut self, found: &Captures<'_, str>, whole: &str) -> Option<Range<usize>> {
        let group = |name: &str| found.name(name).map_or("", |group| group.as_str().trim());
        let (Range { start, end }, number) = (found.get(0)?.range(), found.name("n")?.range());
        let written = self.text[start..end].trim().to_owned();
        let rest = &self.text[number.end..];
        let is_ordinal = ["st", "nd", "rd", "th"].iter().any(|ending| {
            let after = rest.strip_prefix(ending);
            after.is_some_and(|after| !after.starts_with(char::is_alphanumeric))
        });
        if is_ordinal {
            return None;
        }
        let front = &self.text[..start];
        let mut numeral = self.text[number.clone()].to_owned();
        let last = |text: &str| {
            let word = text.split_whitespace().next_back().unwrap_or_default();
            word.to_lowercase().trim_matches('(').to_owned()
        };
        let mut word = last(front);
        let before = group("pre");
        let minus_before = front.strip_suffix('-').is_some_and(|front| {
            front.is_empty()
                || front.ends_with(|sign: char| sign.is_whitespace() || "(|:".contains(sign))
        });
        if !before.is_empty() && !numeral.starts_with('-') && minus_before {
            numeral.insert(0, '-');
        } else if numeral.starts_with('-') {
            let front = &self.text[..number.start];
            let bare = front.strip_suffix(' ').unwrap_or(front);
            let joins = bare.ends_with(|sign: char| sign.is_numeric() || "%€$".contains(sign))
                || front.ends_with(|letter: char| letter.is_alphanumeric() || letter == '_');
            if joins {
                numeral.remove(0);
            }
        }
        let times = group("mult").to_lowercase();
        // `50G` are no grams, and `8.0T` are no tonnes.
        let behind_it = unit_of(group("u")).filter(|_| !matches!(group("u"), "G" | "T"));
        let is_money = |unit: Unit| CURRENCIES.contains(&unit.dimension);
        let is_length = before.is_empty() && !behind_it.is_some_and(is_money);
        let is_unit = matches!(times.as_str(), "m" | "b") && is_length;
        let factor = multiplier(&times).filter(|_| !is_unit).unwrap_or(1.0);
        let metres = || unit_of(&times).filter(|_| is_unit && times == "m");
        let unit = unit_of(before).or(behind_it).or_else(metres);
        let behind = &self.text[end..];
        let mut taken = end;
        let mut rate = None;
        if unit.is_some()
            && let Ok(Some(found)) = RATE.whole.captures(behind)
            && let Some(word) = found.get(1).filter(|word| unit_of(word.as_str()).is_some())
        {
            rate = Some(word.as_str().to_lowercase().chars().take(3).collect());
            taken = end + word.end();
        }
        let mut from = start;
        if word == "than" {
            let than = front.to_lowercase().rfind(" than");
            from = than.unwrap_or(start).min(start);
            let before = front.split_whitespace().rev().nth(1);
            word = before.unwrap_or_default().to_lowercase();
        }
        let is_rough = self
            .language
            .is_some_and(|language| words_of(language).about.contains(word.as_str()));
        let has_tilde = word == "~" || front.ends_with('~');
        let is_comparing = COMPARING.contains(word.as_str());
        // `2 or 3 cats` are neither 2 nor 3.
        let until = &whole[floor_before(whole, number.end)..number.end];
        let is_end = RANGE_BEHIND.is_match(&whole[number.start..]) || RANGE_BEFORE.is_match(until);
        let is_end = is_end && !CHANGE.is_match(until);
        let is_end = is_end || OPEN.is_match(&whole[floor_before(whole, start)..start]);
        let about = match is_rough || is_comparing {
            true => Some(word.clone()),
            false if has_tilde => Some("~".to_owned()),
            false => is_end.then(|| RANGE_END.to_owned()),
        };
        let digits: String = numeral.chars().filter(char::is_ascii_digit).collect();
        // `01067` is no number, and no float tells one of many digits from its neighbours.
        let is_code = digits.len() > 2 && digits.starts_with('0');
        if (is_code || digits.len() > LONGEST_NUMBER) && !numeral.contains(['.', ',']) {
            self.add(Value::Id(digits), start, &written);
            return Some(start..end);
        }
        // `8.900 EUR` without a word of German
        pattern!(GROUP, r"^-?[1-9]\d{0,2}\.\d{3}$");
        let is_unsure = unit.is_some_and(is_money) && GROUP.is_match(&numeral);
        let language = self
            .language
            .filter(|language| !(is_unsure && *language == Language::English));
        let values = readings(&numeral, language);
        let is_ambiguous = values.len() > 1;
        for value in values {
            let fact = self.add(Value::Number(value * factor), start, &written);
            fact.unit = unit;
            fact.rate.clone_from(&rate);
            fact.is_ambiguous = is_ambiguous;
            fact.about.clone_from(&about);
        }
        if is_rough
            && !is_comparing
            && let Some(at) = self.text[..start].to_lowercase().rfind(word.as_str())
            && self.text.get(at..at + word.len()).is_some()
        {
            self.take(at..at + word.len());
        }
        Some(self.text.floor_char_boundary(from)..taken)
    }
}

/// Where the end of a text begins in which a range may stand that ends at `end`.
fn floor_before(text: &str, end: usize) -> usize {
    /// No range is longer, in bytes.
    const LONGEST: usize = 80;
    text.floor_char_boundary(end.saturating_sub(LONGEST))
}

/// What a text says. `names` says whether capital words inside of sentences are names that must be found.
pub(super) fn read(text: &str, language: Option<Language>, names: bool) -> Said {
    let folded = fold(text);
    let mut text = folded.clone();
    // `e-mail` is one word, and `no longer` denies once.
    let lower = folded.to_ascii_lowercase();
    for (phrase, instead) in [
        ("e-mail", " email"),
        ("no longer", "not      "),
        ("no one ", "nobody "),
        ("none but ", "only     "),
        ("nobody but ", "only       "),
        ("nicht mehr", "nicht     "),
    ] {
        for (at, _) in lower.match_indices(phrase) {
            text.replace_range(at..at + phrase.len(), instead);
        }
    }
    for (at, phrase) in lower.match_indices("minus ") {
        let is_sign = !text[..at]
            .trim_end()
            .ends_with(|sign: char| sign.is_ascii_digit());
        if is_sign && lower[at + phrase.len()..].starts_with(|sign: char| sign.is_ascii_digit()) {
            text.replace_range(at..at + phrase.len(), "     -");
        }
    }
    // `twenty-five` is one number, and so is the first word of the key `fiftyTwoWeekHigh`.
    pattern!(
        TENS,
        r"(?i)\b(twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)[- ](one|two|three|four|five|six|seven|eight|nine)\b"
    );
    if language == Some(Language::English) {
        for found in TENS.captures_iter(&lower) {
            let number = |part: usize| number_word(&found[part], language);
            if let (Some(tens), Some(ones)) = (number(1), number(2)) {
                let width = found[0].len();
                let whole = found.get_match().range();
                text.replace_range(whole, &format!("{:>width$}", tens + ones));
            }
        }
    }
    // `No, it is open.` denies what was asked.
    for answer in ["no, ", "nein, "] {
        for (at, _) in lower.match_indices(answer) {
            let before = text[..at].trim_end();
            if before.is_empty() || before.ends_with(['.', '?', '!', '"']) {
                text.replace_range(at..at + answer.len(), &" ".repeat(answer.len()));
            }
        }
    }
    let mut reader = Reader {
        text,
        facts: Vec::new(),
        language,
    };
    reader.texts();
    reader.dates();
    reader.ids();
    reader.amounts();
    let Reader {
        text, mut facts, ..
    } = reader;
    let data = language.map(words_of);
    let is_stop = |word: &str| data.as_ref().is_some_and(|data| data.stop.contains(word));
    let mut said = Said::default();
    let mut ends: BTreeMap<i64, i64> = facts
        .iter()
        .map(|fact| (fact.at, fact.at + place(fact.text.len())))
        .collect();
    let has_pair = PAIR.is_match(&text);
    for found in WORD.all(&text) {
        let Some(found) = found.get(0) else {
            continue;
        };
        let at = place(found.start());
        let word = found.as_str();
        let word = word
            .strip_suffix("'s")
            .or(word.strip_suffix('\''))
            .unwrap_or(word);
        let mut lower = word.to_lowercase();
        // `isn't` denies, and is a stop word beside.
        if lower.ends_with("n't") {
            said.denials.push(at);
            continue;
        }
        let rest = &text[found.end()..];
        let number = number_word(&lower, language);
        // `Ocean is one of the tracks` counts nothing.
        if lower == "one" && rest.starts_with(" of ") {
            continue;
        }
        // `Bylaw No. 17` denies nothing.
        pattern!(NTH, r"^\. ?\d");
        let front = folded[..found.start()].trim_end();
        let is_nth = || {
            let written = folded.get(found.end()..).unwrap_or_default();
            lower == "no" && NTH.is_match(written) && front.ends_with(char::is_alphanumeric)
        };
        let is_zero = NO.contains(lower.as_str()) && !is_nth();
        let number = number.or_else(|| is_zero.then_some(0.0));
        if let Some(number) = number {
            facts.push(Fact::new(Value::Number(number), at, word));
            ends.insert(at, at + place(word.len()));
            continue;
        }
        if matches!(lower.as_str(), "nor" | "noch") && !said.denials.is_empty() && has_pair {
            said.nor.push(at);
            continue;
        }
        let is_denial = |data: &super::data::Words| data.not.contains(lower.as_str());
        if !is_nth() && (lower == "non" || data.as_ref().is_some_and(is_denial)) {
            said.denials.push(at);
            continue;
        }
        // `Plan D` is not `Plan B`.
        let is_letter = word.len() == 1 && !matches!(word, "A" | "I") && word != lower;
        // `The cache is on.`
        let written = folded.get(found.end()..).unwrap_or_default();
        let is_last = !written.contains(|letter: char| letter.is_alphanumeric())
            || written.starts_with([',', ';', ')']);
        let is_switch = is_last && matches!(lower.as_str(), "on" | "an");
        // `5 EUR each`, but not `each of them`
        let is_behind = |fact: &Fact| (fact.at + place(fact.text.len()) + 1) == at;
        let is_rate = lower == "each" && facts.iter().any(is_behind);
        // `From: Lima`, and the column `To`
        let before = text[..found.start()].trim_end();
        let begins = before.is_empty() || before.ends_with([',', ';', '(', '|']);
        let is_label = PREPOSITIONS.contains(lower.as_str())
            && begins
            && (folded.trim() == word || rest.starts_with(": "));
        if is_rate || (is_stop(&lower) && !is_letter && !is_switch && !is_label) {
            continue;
        }
        lower = ordinal(&lower);
        let front = &text[..found.start()];
        let bare = front.trim_end_matches(['"', '\'']).trim_end();
        let is_first = !front.contains(|letter: char| letter.is_alphanumeric() || letter == '_')
            || bare.ends_with(['.', '!', '?', ':'])
            || matches!(bare.trim_start(), "yes" | "no");
        let is_capital = word.starts_with(char::is_uppercase)
            && !WEEKDAYS.contains(lower.as_str())
            && month(&lower).is_none();
        let stem = stem(&lower, language);
        if names && language == Some(Language::English) && is_capital && !is_first {
            facts.push(Fact::new(Value::Name(stem.clone()), at, word));
        }
        // What stands behind a label is in its role.
        if !is_label {
            ends.insert(at, at + place(word.len()));
        }
        said.words.push(Word {
            at,
            glue: Glue::default(),
            stem,
            lower,
            is_capital,
        });
    }
    facts.sort_by_key(|fact| fact.at);
    said.facts = facts;
    said.set_glue(&folded, &ends, language);
    said
}
