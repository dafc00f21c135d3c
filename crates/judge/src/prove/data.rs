//! What the prover knows of words: units, months, stop words, signs, courtesies; English and German.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::text::Language;

/// A unit: its dimension, or the currency, and what one of it is in the smallest of its kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Unit {
    pub(super) dimension: &'static str,
    pub(super) factor: f64,
}

/// Dimension, factor, spellings; `_` is a space.
const UNIT_ROWS: &str = "time 0.001 ms millisecond milliseconds Millisekunden
time 1 s sec secs second seconds Sekunde Sekunden
time 60 min mins minute minutes Minute Minuten
time 3600 h hr hrs hour hours Stunde Stunden Std
time 86400 day days d Tag Tage Tagen
time 604800 week weeks Woche Wochen
month 1 month months mo Monat Monate Monaten
month 12 year years yr yrs Jahr Jahre Jahren
mass 0.001 mg
mass 1 g gram grams Gramm
mass 1000 kg kilo kilos kilogram kilograms Kilogramm
mass 1000000 t tonne tonnes Tonnen
mass 453.59237 lb lbs pound_mass
mass 28.349523 oz ounce ounces
length 0.001 mm
length 0.01 cm
length 1 m meter meters metre metres
length 1000 km kilometer kilometers kilometre kilometres
length 1609.344 mi mile miles Meilen
length 0.3048 ft foot feet
length 0.0254 inch inches
volume 0.001 ml milliliter milliliters
volume 1 l liter liters litre litres
volume 3.785411784 gal gallon gallons
area 1 m2 m² sqm
area 10000 ha hectare hectares Hektar
area 1000000 km2 km²
data 1 byte bytes
data 1000 kb
data 1000000 mb megabyte megabytes
data 1000000000 gb gigabyte gigabytes
data 1000000000000 tb terabyte terabytes
data 1024 kib
data 1048576 mib
data 1073741824 gib
speed 1 kmh km/h kph
speed 1.609344 mph
speed 3.6 m/s
celsius 1 °c ℃ celsius degrees_celsius degree_celsius grad_celsius
fahrenheit 1 °f ℉ fahrenheit degrees_fahrenheit degree_fahrenheit
angle 1 ° degree degrees Grad
power 1 w watt watts
power 1000 kw
power 1000000 mw
power 1000000000 gw
energy 1 wh
energy 1000 kwh
energy 1000000 mwh
energy 1000000000 gwh
pressure 1 pa
pressure 100 hpa
pressure 100000 bar
freq 1 hz
freq 1000000 mhz
freq 1000000000 ghz
volt 1 v volt volts
current 0.001 mah
permille 1 ‰ permille per_mille promille
percent 1 % percent pct percentage Prozent per_cent
px 1 px pixel pixels
bpm 1 bpm
points 1 percentage_points percentage_point pp Prozentpunkte
points 0.01 basis_points basis_point bp bps
ppm 1 ppm
mmhg 1 mmhg
mgdl 1 mg/dl
mmol 1 mmol/l
iu 1 iu
USD 1 $ usd dollar dollars us$
USD 0.01 cent cents ct
EUR 1 € eur euro euros
GBP 1 £ gbp pound pounds
JPY 1 ¥ jpy yen
CHF 1 chf franken
INR 1 ₹ inr rupees
SEK 1 sek
PLN 1 pln zł
CAD 1 cad c$ ca$
AUD 1 aud a$ au$
NZD 1 nzd nz$
HKD 1 hkd hk$
SGD 1 sgd s$ sg$
MXN 1 mxn mx$
BRL 1 brl r$
KRW 1 krw ₩ won
CNY 1 cny rmb yuan
NOK 1 nok
DKK 1 dkk
CZK 1 czk kč
HUF 1 huf
TRY 1 try ₺
ZAR 1 zar
THB 1 thb ฿
ILS 1 ils ₪
UAH 1 uah ₴
RUB 1 rub ₽";

/// The units by their spellings in lower case.
pub(super) static UNITS: LazyLock<HashMap<String, Unit>> = LazyLock::new(|| {
    let mut units = HashMap::new();
    for row in UNIT_ROWS.lines() {
        let mut parts = row.split(' ');
        let dimension = parts.next().unwrap_or_default();
        let factor = parts.next().and_then(|factor| factor.parse().ok());
        let factor = factor.unwrap_or(1.0);
        for name in parts {
            units.insert(
                name.to_lowercase().replace('_', " "),
                Unit { dimension, factor },
            );
        }
    }
    units
});

pub(super) const CURRENCIES: &[&str] = &[
    "USD", "EUR", "GBP", "JPY", "CHF", "INR", "SEK", "PLN", "CAD", "AUD", "NZD", "HKD", "SGD",
    "MXN", "BRL", "KRW", "CNY", "NOK", "DKK", "CZK", "HUF", "TRY", "ZAR", "THB", "ILS", "UAH",
    "RUB",
];

/// Signs and codes that stand before an amount.
pub(super) const MONEY_BEFORE: &str = r"(?:(?:US|AU|A|CA|C|NZ|HK|SG|S|MX|R)?\$|[€£¥₹₩₺฿₪₴₽]|\b(?:USD|EUR|GBP|CHF|JPY|INR|SEK|PLN|CAD|AUD|NZD|HKD|SGD|MXN|BRL|KRW|CNY|RMB|NOK|DKK|CZK|HUF|TRY|ZAR|THB|ILS|UAH|RUB)\s?)";

/// A unit by a spelling.
pub(super) fn unit_of(name: &str) -> Option<Unit> {
    UNITS.get(name.trim().to_lowercase().as_str()).copied()
}

/// What a word behind a number multiplies it by.
pub(super) fn multiplier(word: &str) -> Option<f64> {
    Some(match word {
        "k" | "thousand" | "tausend" => 1e3,
        "million" | "millions" | "mio" | "millionen" | "m" | "mn" => 1e6,
        "bn" | "b" | "billion" | "mrd" | "milliarden" | "milliarde" => 1e9,
        "trillion" => 1e12,
        "dozen" => 12.0,
        "hundred" => 100.0,
        _ => return None,
    })
}

pub(super) const MULTIPLIER_WORDS: &str = "thousand|tausend|million|millions|mio|millionen|billion|mrd|milliarden|milliarde|trillion|dozen|hundred";

/// The words of a list.
fn set(words: &'static str) -> HashSet<&'static str> {
    words.split_whitespace().collect()
}

macro_rules! word_sets {
    ($($(#[$doc:meta])* $name:ident = $words:literal;)*) => {$(
        $(#[$doc])*
        pub(super) static $name: LazyLock<HashSet<&'static str>> = LazyLock::new(|| set($words));
    )*};
}

word_sets! {
    /// Words for zero.
    NO = "no none zero kein keine keinen keinem keiner keines";
    /// Of a word that names only the dimension of a fact.
    OF_MONEY = "cost costs price priced worth amount kostet kosten preis";
    OF_TIME = "take takes took last lasts lasted duration dauert dauer";
    OF_MASS = "weigh weighs weight wiegt gewicht";
    ENGLISH_STOP = "yes yet still now sorry note source found instead currently article a an the this that these those it its it's i'm i me my we our us you your he she they them their his her him who which what whose where when how why
        is am are was were be been being has have had having do does did of in on at to for from by with as into onto upon about than then there here so and or but nor
        via per also too just very s re ve ll d t can please s' while whereas although though because since hence thus therefore however such within through across between during
        according i've we've you've you're they're i'll";
    ENGLISH_NOT = "not no never none nothing nobody neither nor without cannot zero nowhere";
    ENGLISH_ABOUT = "about around roughly approximately some nearly almost ca circa ~ ≈";
    GERMAN_STOP = "der die das den dem des ein eine einen einem einer eines dies diese dieser dieses diesen ich mich mir mein meine wir uns unser du dein sie ihr ihre ihnen er es ihm ihn ist bin sind war waren
        sein hat haben hatte hatten wird werden wurde wurden von in im an am auf zu zum zur für aus bei mit als und oder aber auch so da hier dort wie was wer wo wann nach über um per pro via durch
        beim vom ins beträgt betragen heißt liegt gibt laut dass sich man bitte kann können den während";
    GERMAN_NOT = "nicht kein keine keinen keinem keiner keines nie niemals nichts niemand ohne weder null";
    GERMAN_ABOUT = "etwa rund ungefähr circa ca fast knapp";
    /// Common words of languages without data.
    OTHER_LANGUAGES = "el la los las un una unos de del que y en por para con es son fue está su le les des du et est une dans pour avec sur pas ne il lo gli che di per non è sono het een van niet op voor met zijn
        o os uma não em do da dos das ao é foi são och att som på av ett är på";
    SIGN_VALUES = "off disabled none null false no 0 aus deaktiviert";
    TRUE_VALUES = "enabled true yes ja";
    LISTED_HEADINGS = "summary below details detail overview next steps step results result notes note key points highlights findings conclusion recommendation recommendations answer
        zusammenfassung überblick ergebnis ergebnisse nächste schritte hinweis hinweise fazit and & und the";
    ABBREVIATIONS = "e.g i.e etc mr mrs ms dr prof st vs no approx ca z.b bzw usw d.h nr inc ltd co jr sr dept fig u.s a.m p.m";
    COMPARING = "over under more less above below fewer über mehr weniger";
    /// What bounds a time: `before 1500` is not in 1500.
    BOUNDING = "until before after bis vor";
    WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun";
    ON = "on enabled active yes true aktiv aktiviert ja an";
    OFF = "off disabled inactive no false inaktiv deaktiviert nein aus";
    /// A passage with one of these proves only a claim that has the word, too.
    RESTRICTING = "against gegen cancelled canceled postponed abgesagt verschoben whether ob asked asks wonders wondered claimed claims alleged rumored rumoured denied denies plans planned hopes hoped wants wanted only may might could would should if unless except some few several half most nur falls wenn außer einige wenige könnte würde sollte";
    /// Verbs of those who say what is so.
    REPORTING = "reports reported says said states stated announced announces confirms confirmed notes noted writes wrote adds added finds found shows showed berichtet sagt sagte meldet schreibt";
    UPWARD = "over more above über mehr";
    DOWNWARD = "under less below fewer almost nearly fast knapp weniger";
    QUANTIFIERS = "all every each both alle jede beide";
    /// Words that belong to the fact after them.
    PREPOSITIONS = "from to by until before after since von nach bis vor seit";
    UNIT_KEYS = "currency unit units currency_code";
}

/// Whether a word in lower case says that something is on or off.
pub(super) fn is_sign(word: &str) -> bool {
    ON.contains(word) || OFF.contains(word)
}

/// Whether a word in lower case is one of the commonest of its language.
pub(crate) fn is_function_word(word: &str) -> bool {
    [
        &*ENGLISH_STOP,
        &*ENGLISH_NOT,
        &*GERMAN_STOP,
        &*GERMAN_NOT,
        &*OTHER_LANGUAGES,
    ]
    .iter()
    .any(|words| words.contains(word))
}

/// What is known of a language.
pub(super) struct Words {
    pub(super) stop: &'static HashSet<&'static str>,
    pub(super) not: &'static HashSet<&'static str>,
    pub(super) about: &'static HashSet<&'static str>,
}

pub(super) fn words_of(language: Language) -> Words {
    match language {
        Language::English => Words {
            stop: &ENGLISH_STOP,
            not: &ENGLISH_NOT,
            about: &ENGLISH_ABOUT,
        },
        Language::German => Words {
            stop: &GERMAN_STOP,
            not: &GERMAN_NOT,
            about: &GERMAN_ABOUT,
        },
    }
}

/// The words for a dimension, which a fact of it covers.
pub(super) fn names_dimension(dimension: &str, word: &str) -> bool {
    match dimension {
        "time" => OF_TIME.contains(word),
        "mass" => OF_MASS.contains(word),
        currency if CURRENCIES.contains(&currency) => OF_MONEY.contains(word),
        _ => false,
    }
}

const NUMBER_WORDS: &str = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty";
const TENS: &str = "thirty forty fifty sixty seventy eighty ninety";

const GERMAN_NUMBERS: &str = "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf";

/// The number that a word of a language stands for.
pub(crate) fn number_word(word: &str, language: Option<Language>) -> Option<f64> {
    match language {
        Some(Language::English) => {}
        Some(Language::German) => {
            let nth = GERMAN_NUMBERS.split(' ').position(|known| known == word)?;
            return Some((nth + 2) as f64);
        }
        None => return None,
    }
    let units = NUMBER_WORDS.split(' ').position(|known| known == word);
    let tens = || TENS.split(' ').position(|known| known == word);
    let number = units.or_else(|| tens().map(|at| 10 * (at + 3)))?;
    Some(number as f64)
}

const ORDINALS: &str = "first second third fourth fifth sixth seventh eighth ninth tenth";

/// `first` as `1st`, and `q1` too; other words as they are.
pub(super) fn ordinal(word: &str) -> String {
    let nth = match word {
        "q1" => Some(0),
        "q2" => Some(1),
        "q3" => Some(2),
        "q4" => Some(3),
        _ => ORDINALS.split(' ').position(|known| known == word),
    };
    match nth {
        Some(0) => "1st".to_owned(),
        Some(1) => "2nd".to_owned(),
        Some(2) => "3rd".to_owned(),
        Some(nth) => format!("{}th", nth + 1),
        None => word.to_owned(),
    }
}

const MONTH_ROWS: &[&str] = &[
    "january february march april may june july august september october november december",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "jan feb mar apr may jun jul aug sep oct nov dec",
    "jan feb mär apr mai jun jul aug sept okt nov dez",
];

/// The number of a month by its name in lower case.
pub(crate) fn month(name: &str) -> Option<i32> {
    let nth = |row: &&str| row.split(' ').position(|known| known == name);
    MONTH_ROWS
        .iter()
        .find_map(nth)
        .and_then(|nth| i32::try_from(nth + 1).ok())
}

/// All names of months, the longest first.
pub(super) fn month_names() -> Vec<&'static str> {
    let mut names: Vec<&str> = MONTH_ROWS.iter().flat_map(|row| row.split(' ')).collect();
    names.sort_unstable();
    names.dedup();
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    names
}

/// The weekday of a name in lower case, Monday being 0.
pub(crate) fn weekday(name: &str) -> Option<i8> {
    const ROWS: &[&str] = &[
        "monday tuesday wednesday thursday friday saturday sunday",
        "montag dienstag mittwoch donnerstag freitag samstag sonntag",
    ];
    let nth = |row: &&str| row.split(' ').position(|known| known == name);
    ROWS.iter()
        .find_map(nth)
        .and_then(|nth| i8::try_from(nth).ok())
}

/// Whole sentences that claim nothing, if they are short.
pub(super) const COURTESIES: &[&str] = &[
    r"(hi|hello|hey|dear|good (morning|afternoon|evening|day)|greetings|hallo|guten (tag|morgen|abend)|liebe[r]?)( \w+){0,3}",
    r"(sure( thing)?|of course|certainly|absolutely|gladly|no problem|you'?re welcome|thanks|thank you|great question|gern(e)?|natürlich|danke|okay|ok|got it|all right)(,? (thing|so much|very much|a lot|for (asking|waiting|reaching out|your (message|patience|question|order|time))|again|sehr|schön|i can (help|do that|assist)( you)?( with (that|this))?|happy to help|glad to help|let me (check|look|see)( that| it)?( up)?( for you)?|here (you go|it is)))*",
    r"(please )?(let me know|feel free|don'?t hesitate|just ask|say the word|sag(en sie)? (mir|bescheid))\b.*",
    r"(if you|should you|wenn (du|sie)|falls (du|sie))\b.*\b(let me know|feel free|just ask|happy to help|(i|we) can( also| then)? \w+|tell me|melde[n]?)\b.*",
    r"(i|we) can (also )?\w+ .*\bif (that|it) (helps|would help)|just tell me\b.*|(i'?m|i am) not sure( about (that|this|it))?|i don'?t know( that)?|i (have )?(checked|looked) (it|this|that|the \w+)( up)?( for you)?",
    r"(below|here|hier) (are|is|sind|ist|die) (the |die |der |das )?(details|data|overview|summary|list|results?|daten|übersicht|zusammenfassung)( for you| below)?|in short|to sum up|in summary|(please )?note the following|the results? (is|are) as follows|as requested,? here (is|are) (the )?\w+|that'?s (all|it)|enjoy|good luck|cheers|viel (erfolg|spaß)|bitte sehr|bonjour|bonne journée|hola",
    r"(i'?m|i am|i'?d be|i would be|we'?re)? ?(happy|glad) to (help|assist)( (you )?(further|with (that|this|anything( else)?)))?",
    r"(i )?hope (this|that|it) helps( you)?",
    r"(i'?m |i am |we'?re )?(so |very |really )?sorry( (about|for|to hear( about)?) (the|that|this|any|your) ?(\w+ ?){0,2})?|(my )?apologies( for (the|that|this|any) \w+)?|i apologi[sz]e( for (the|that|this|any) \w+)?|(es )?tut mir leid|entschuldigung",
    r"(have|enjoy) (a|your|the)( \w+){1,3}|(best|kind) regards( \w+){0,3}|viele grüße|mit freundlichen grüßen( \w+){0,3}|(einen )?schönen tag( noch)?|melden? (sie sich|dich) gerne?\b.*|ich habe folgendes gefunden|here you go|here'?s what i found|here (it is|they are)|as requested|hier (ist|sind)( \w+){0,2}",
];

/// What may stand before a claim in its sentence.
pub(super) const GREETING: &str = r"^(?:hi|hello|hey|dear|hallo|liebe[r]?|sure|sure thing|of course|certainly|absolutely|gladly|thanks|thank you|sorry|ok|okay|got it|all right|danke|gern(?:e)?)(?: \w+)?[,!.] +|^(?:here(?:'s| is| are) what|this is what|hier ist, was) [^:.]{0,40}: +";

/// Where a sentence falls into clauses.
pub(super) const ENGLISH_CLAUSES: &str = r"\s*[;—·|]\s*|\s+[–-]\s+|,?\s+(?:but|whereas|although|though|because|however)\s+|,\s+(?:and|so|while|which|who|where)\s+";
pub(super) const GERMAN_CLAUSES: &str = r"\s*[;—·|]\s*|\s+[–-]\s+|,?\s+(?:aber|sondern|während)\s+|,\s+(?:und|weil|obwohl|da|sodass|wobei|die|der|das)\s+";
