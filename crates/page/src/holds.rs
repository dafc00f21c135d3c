//! Whether an assertion holds on a page.

use regex::RegexBuilder;

use super::dom::{DomElement, DomKind, NodeId, State};
use super::figures::{is_negative, number_of};
use super::selector::Finder;
use super::snapshot::single_spaces;
use super::words::{fold, holds_tokens, is_currency, seen, tokens};
use crate::{AssertKind, BrowserAssertion, Compare, TextMatch};
use cuecard_source::value::{as_text, cut};

/// The longest text that a message shows, in characters.
const LONGEST_SHOWN: usize = 120;

/// The most bytes that a compiled pattern may take.
const MAX_PATTERN: usize = 1024 * 1024;

/// Stands in a block where an inline element begins or ends: what is side by side on a page need not be one word.
const SEAM: char = '\u{1}';

/// What was seen of an assertion on one state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    /// Whether it holds, negation included.
    pub holds: bool,
    /// What is there, in words.
    pub observed: String,
    /// What comes nearest, if it does not hold: a text of the page.
    pub nearest: Option<String>,
    /// Why it can't be judged as it stands, such as a secret whose value is asked for.
    pub problem: Option<String>,
}

impl Finder<'_> {
    /// Whether an assertion holds. `targets` are the elements that are meant: none if nothing on the page fits, and
    /// several only for a count.
    pub fn holds(&self, assertion: &BrowserAssertion, targets: &[NodeId]) -> Observation {
        let mut seen = self.plainly(assertion, targets);
        if seen.problem.is_some() {
            seen.holds = false;
        } else if assertion.negate {
            seen.holds = !seen.holds;
        }
        if seen.holds {
            seen.nearest = None;
        }
        seen
    }

    /// As [`Finder::holds`], without a look at whether it is negated.
    fn plainly(&self, assertion: &BrowserAssertion, targets: &[NodeId]) -> Observation {
        let expected = assertion
            .expected
            .as_ref()
            .map(|expected| as_text(expected).into_owned())
            .unwrap_or_default();
        let page = &self.state.page;
        match assertion.kind {
            AssertKind::Text => self.text_holds(assertion, &expected, targets),
            AssertKind::Title => compared(assertion, &page.title, &expected),
            AssertKind::Url => url_holds(assertion, &page.url, &expected),
            AssertKind::Dialog => self.dialog_holds(assertion, &expected),
            AssertKind::Download => match &page.happened.download {
                Some(name) => compared(assertion, name, &expected),
                None => nothing("download"),
            },
            AssertKind::Count => {
                let count = targets.iter().filter(|&&id| self.is_visible(id)).count();
                let wanted = expected.parse::<usize>().ok();
                let holds = wanted.is_some_and(|wanted| match assertion.compare {
                    Compare::Equal => count == wanted,
                    Compare::AtLeast => count >= wanted,
                    Compare::AtMost => count <= wanted,
                });
                said(holds, format!("found {count}"))
            }
            AssertKind::Visible | AssertKind::Hidden => {
                let count = targets.iter().filter(|&&id| self.is_visible(id)).count();
                let holds = match (assertion.kind, assertion.negate) {
                    (AssertKind::Visible, false) => count == 1,
                    // Of what is not to be seen none may be, however many there are.
                    (AssertKind::Visible, true) => count > 0,
                    (_, false) => count == 0,
                    (_, true) => count != 1,
                };
                let observed = match count {
                    0 if targets.is_empty() => "it does not exist on the page".to_owned(),
                    0 => "it is hidden".to_owned(),
                    1 => "it is visible".to_owned(),
                    count => format!("{count} are visible"),
                };
                said(holds, observed)
            }
            AssertKind::Value => match self.one_of(targets) {
                Ok(element) => value_holds(assertion, element, &expected),
                Err(seen) => seen,
            },
            kind => match self.one_of(targets) {
                Ok(element) => state_holds(kind, element),
                Err(seen) => seen,
            },
        }
    }

    /// Of a dialog of the browser that the last action led to, or one of the page that is open.
    fn dialog_holds(&self, assertion: &BrowserAssertion, expected: &str) -> Observation {
        let is_dialog = |element: &DomElement| {
            element.is_visible && matches!(&*element.role, "dialog" | "alertdialog" | "alert")
        };
        let open = self.state.elements().filter(|(_, it)| is_dialog(it));
        let open = open.map(|(id, _)| in_blocks(assertion, &self.blocks(id, false), expected));
        let of_browser = self.state.page.happened.dialog.iter();
        let mut seen = of_browser
            .map(|text| compared(assertion, text, expected))
            .chain(open);
        let first = seen.next().unwrap_or_else(|| nothing("dialog"));
        match first.holds {
            true => first,
            false => seen.find(|seen| seen.holds).unwrap_or(first),
        }
    }

    pub(super) fn is_visible(&self, id: NodeId) -> bool {
        self.state
            .element(id)
            .is_some_and(|element| element.is_visible)
    }

    /// The one element that is meant.
    fn one_of(&self, targets: &[NodeId]) -> Result<&DomElement, Observation> {
        let wrong = |observed: String| Observation {
            holds: false,
            problem: Some(observed.clone()),
            observed,
            nearest: None,
        };
        match targets {
            [one] => self
                .state
                .element(*one)
                .ok_or_else(|| wrong("it is not an element".to_owned())),
            [] => Err(wrong("it does not exist on the page".to_owned())),
            several => Err(wrong(format!("{} match", several.len()))),
        }
    }

    /// Whether words are in the visible text of the page or an element, across inline elements. What is typed into
    /// fields doesn't count.
    fn text_holds(
        &self,
        assertion: &BrowserAssertion,
        expected: &str,
        targets: &[NodeId],
    ) -> Observation {
        if targets.is_empty() {
            let mut seen = in_blocks(assertion, &self.blocks(NodeId(0), false), expected);
            seen.observed = match seen.holds {
                true => "the text is on the page".to_owned(),
                false => "the text is not on the page".to_owned(),
            };
            seen.nearest = self.nearest_text(expected);
            return seen;
        }
        match self.one_of(targets) {
            Ok(_) => {
                let all = self.blocks(targets[0], false).into_iter();
                let valid = self.blocks(targets[0], true).into_iter();
                // What is struck out is no value, and beside what is not it is the old one.
                let is_old =
                    |valid: &str| assertion.matching == TextMatch::Equals || has_words(valid);
                let counted = all.zip(valid).map(|(all, valid)| match is_old(&valid) {
                    true => valid,
                    false => all,
                });
                in_blocks(assertion, &counted.collect::<Vec<_>>(), expected)
            }
            Err(seen) => seen,
        }
    }

    /// The visible texts inside a node with single spaces: one for each stretch that no block begins or ends in, with
    /// [`SEAM`]s. Some may be empty, above all without what is struck out.
    fn blocks(&self, id: NodeId, is_without_struck: bool) -> Vec<String> {
        let mut struck_until = 0;
        let mut blocks = vec![String::new()];
        let mut push = |text: &str, is_inline: bool| match blocks.last_mut() {
            Some(block) if is_inline => block.push_str(text),
            _ => blocks.push(String::new()),
        };
        let mut ends: Vec<(usize, bool)> = Vec::new();
        let seam = SEAM.to_string();
        let end = self.state.node(id).end as usize;
        for (place, node) in self.state.nodes[..end].iter().enumerate().skip(id.index()) {
            while let Some((_, is_inline)) = ends.pop_if(|(end, _)| *end <= place) {
                push(&seam, is_inline);
            }
            match &node.kind {
                DomKind::Text(run) if run.is_visible && place >= struck_until => {
                    push(&run.text, true);
                }
                DomKind::Text(_) => {}
                DomKind::Element(element) => {
                    if is_without_struck && matches!(element.tag_name.as_str(), "del" | "s") {
                        struck_until = struck_until.max(node.end as usize);
                    }
                    let is_inline = is_inline(element);
                    ends.push((node.end as usize, is_inline));
                    push(&seam, is_inline);
                }
            }
        }
        blocks.iter().map(|block| single_spaces(block)).collect()
    }

    /// The text on the page that has the most words of what is expected.
    fn nearest_text(&self, expected: &str) -> Option<String> {
        let wanted = tokens(expected);
        self.state
            .nodes
            .iter()
            .filter_map(|node| match &node.kind {
                DomKind::Text(run) if run.is_visible => Some(single_spaces(&run.text)),
                _ => None,
            })
            .map(|text| {
                let common = wanted
                    .iter()
                    .filter(|word| holds_tokens(&text, std::slice::from_ref(word)))
                    .count();
                (common, text)
            })
            .filter(|(common, _)| *common > 0)
            .max_by_key(|(common, text)| (*common, usize::MAX - text.len()))
            .map(|(_, text)| cut(&text, LONGEST_SHOWN).into_owned())
    }
}

/// Whether text goes on across an element.
fn is_inline(element: &DomElement) -> bool {
    super::text::is_inline(&element.tag_name)
        || matches!(element.tag_name.as_str(), "label" | "output" | "slot")
}

fn said(holds: bool, observed: String) -> Observation {
    Observation {
        holds,
        observed,
        nearest: None,
        problem: None,
    }
}

fn has_words(block: &str) -> bool {
    block.chars().any(|sign| sign != SEAM && sign != ' ')
}

/// The blocks of a text against what is expected: all of them together equal it, or one of them has it.
fn in_blocks(assertion: &BrowserAssertion, blocks: &[String], expected: &str) -> Observation {
    let blocks: Vec<&str> = blocks
        .iter()
        .map(String::as_str)
        .filter(|block| has_words(block))
        .collect();
    let whole = blocks.join(" ");
    if assertion.matching == TextMatch::Equals {
        return compared(assertion, &whole, expected);
    }
    let one = blocks
        .iter()
        .map(|block| compared(assertion, block, expected))
        .find(|seen| seen.holds || seen.problem.is_some());
    match one {
        Some(seen) => seen,
        None => Observation {
            holds: false,
            ..compared(assertion, &whole, expected)
        },
    }
}

/// Without what it is about, nothing is known, not even that it is another.
fn nothing(what: &str) -> Observation {
    let observed = format!("the last action led to no {what}");
    Observation {
        problem: Some(observed.clone()),
        ..said(false, observed)
    }
}

/// A text against what is expected, apart from spaces, and from capital letters unless they count.
fn compared(assertion: &BrowserAssertion, text: &str, expected: &str) -> Observation {
    let folded = |text: &str| match assertion.case_sensitive {
        true => seen(&single_spaces(text)).into_owned(),
        false => fold(text),
    };
    let plain = single_spaces(&text.replace(SEAM, ""));
    let observed = format!("it is \"{}\"", cut(&plain, LONGEST_SHOWN));
    if assertion.compare != Compare::Equal {
        let (Some(found), Some(bound)) = (number_of(&plain), number_of(expected)) else {
            return said(false, format!("{observed}, which is not one clear number"));
        };
        let holds = match assertion.compare {
            Compare::AtMost => found <= bound,
            _ => found >= bound,
        };
        return said(holds, observed);
    }
    match assertion.matching {
        TextMatch::Equals => said(folded(&plain) == folded(expected), observed),
        TextMatch::Contains if matches!(assertion.kind, AssertKind::Text | AssertKind::Dialog) => {
            said(has_text(&folded(text), &folded(expected)), observed)
        }
        TextMatch::Contains => said(folded(&plain).contains(&folded(expected)), observed),
        TextMatch::Regex => {
            let pattern = RegexBuilder::new(expected)
                .case_insensitive(!assertion.case_sensitive)
                .size_limit(MAX_PATTERN)
                .build();
            match pattern {
                Ok(pattern) => said(pattern.is_match(&plain), observed),
                Err(error) => Observation {
                    problem: Some(format!(
                        "`{}` is not a valid regular expression: {}",
                        cut(expected, 60),
                        cuecard_source::matching::regex_reason(&error)
                    )),
                    ..said(false, observed)
                },
            }
        }
    }
}

/// Whether words are in a text, with [`SEAM`]s: as whole words and numbers. `1 comment` is not in `11 comments`, nor
/// `Paid` in `Unpaid`.
fn has_text(text: &str, words: &str) -> bool {
    let (mut plain, mut seams) = (String::new(), Vec::new());
    for sign in text.chars() {
        match sign {
            SEAM => seams.push(plain.len()),
            ' ' if plain.ends_with(' ') => {}
            sign => plain.push(sign),
        }
    }
    let is_one_word = |at: usize| {
        let sides = (plain[..at].chars().next_back(), plain[at..].chars().next());
        let is_cased = |sign: char| sign.is_lowercase() || sign.is_uppercase();
        matches!(sides, (Some(left), Some(right)) if is_cased(left) && is_cased(right))
            && (seams.binary_search(&at).is_err() || is_prefix(&plain[..at]))
    };
    plain.match_indices(words).any(|(at, found)| {
        let (before, after) = (&plain[..at], &plain[at + found.len()..]);
        let is_plural = after
            .strip_prefix('s')
            .is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
        !(is_one_word(at)
            || is_one_word(at + found.len()) && !is_plural
            || is_one_number(before, found)
            || is_one_number(found, after))
    })
}

/// Whether a text ends with what makes the contrary of the word behind it: `Un<b>insured</b>`.
fn is_prefix(before: &str) -> bool {
    const PREFIXES: &[&str] = &["un", "in", "im", "ir", "dis", "non"];
    let is_letter = |sign: char| sign.is_alphanumeric();
    let word = before.rsplit(|sign| !is_letter(sign)).next();
    word.is_some_and(|word| PREFIXES.contains(&word.to_lowercase().as_str()))
}

/// Whether a number goes on from one text to the next: its sign, its digits, its thousands, its decimals but zeros.
fn is_one_number(left: &str, right: &str) -> bool {
    let is_digit = |sign: char| sign.is_ascii_digit();
    let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).count();
    let is_negative = is_negative(left) == Some(true)
        && right.starts_with(|sign: char| is_digit(sign) || is_currency(sign));
    let is_part = |mark: char, part: &str| {
        let (n, is_zero) = (
            digits(part),
            part[..digits(part)].bytes().all(|sign| sign == b'0'),
        );
        match mark {
            '.' => n > 0 && !is_zero,
            _ => n == 3 || n == 2 && !is_zero,
        }
    };
    let is_mark = |sign: &char| matches!(sign, '.' | ',');
    let goes_on = match (left.chars().next_back(), right.chars().next()) {
        (Some(last), Some(first)) if is_digit(last) && is_digit(first) => true,
        (Some(last), Some(mark)) if is_digit(last) && is_mark(&mark) => is_part(mark, &right[1..]),
        (Some(mark), Some(first)) if is_mark(&mark) && is_digit(first) => {
            left[..left.len() - 1].ends_with(is_digit) && is_part(mark, right)
        }
        _ => false,
    };
    is_negative || goes_on
}

/// The value of a field; of a select its label does too. A secret can only be asked whether it is filled.
fn value_holds(assertion: &BrowserAssertion, element: &DomElement, expected: &str) -> Observation {
    if let Some(filled) = element.filled {
        let observed = match filled {
            true => "it is filled; its value is secret",
            false => "it is empty",
        };
        return match expected {
            "" => said(!filled, observed.to_owned()),
            _ => Observation {
                problem: Some("the value of a secret field is not read".to_owned()),
                ..said(false, observed.to_owned())
            },
        };
    }
    let value = element.attribute("value").unwrap_or_default();
    let exact = BrowserAssertion {
        case_sensitive: true,
        ..assertion.clone()
    };
    let by_value = compared(&exact, value, expected);
    if by_value.holds {
        return by_value;
    }
    let label = element.options.iter().find(|option| option.value == value);
    match label {
        Some(option) => compared(&exact, &option.label, expected),
        None => by_value,
    }
}

fn state_holds(kind: AssertKind, element: &DomElement) -> Observation {
    let is = |state| element.is(state);
    let (holds, observed) = match kind {
        AssertKind::Enabled => (
            !is(State::Disabled),
            is_or_not(!is(State::Disabled), "enabled"),
        ),
        AssertKind::Disabled => (
            is(State::Disabled),
            is_or_not(is(State::Disabled), "disabled"),
        ),
        AssertKind::Checked | AssertKind::Unchecked => {
            let is_checked = is(State::Checked) || is(State::Pressed) || is(State::Selected);
            let holds = !is(State::Mixed) && is_checked == (kind == AssertKind::Checked);
            let observed = match is(State::Mixed) {
                true => "it is partly checked".to_owned(),
                false => is_or_not(is_checked, "checked"),
            };
            (holds, observed)
        }
        AssertKind::Focused => (is(State::Focused), is_or_not(is(State::Focused), "focused")),
        _ => {
            let is_field = matches!(
                element.role.as_str(),
                "textbox" | "searchbox" | "combobox" | "spinbutton"
            ) || is(State::Editable);
            let holds = is_field && !is(State::Disabled) && !is(State::Readonly);
            (holds, is_or_not(holds, "editable"))
        }
    };
    said(holds, observed)
}

fn is_or_not(holds: bool, word: &str) -> String {
    match holds {
        true => format!("it is {word}"),
        false => format!("it is not {word}"),
    }
}

/// An address against what is expected, which may be its end from the path, the query or the fragment on. A default port, a missing path and the case of
/// scheme and host don't count.
fn url_holds(assertion: &BrowserAssertion, url: &str, expected: &str) -> Observation {
    let observed = format!("it is \"{}\"", cut(url, LONGEST_SHOWN));
    if assertion.matching != TextMatch::Equals {
        let exact = BrowserAssertion {
            case_sensitive: true,
            ..assertion.clone()
        };
        return compared(&exact, url, expected);
    }
    let own = normal(url);
    let holds = match expected.chars().next() {
        Some('/') => path_of(&own) == Some(expected),
        Some(sign @ ('?' | '#')) => own.find(sign).map(|at| &own[at..]) == Some(expected),
        _ => own == normal(expected),
    };
    said(holds, observed)
}

fn normal(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    let (scheme, mut host) = (scheme.to_lowercase(), host.to_lowercase());
    let port = match scheme.as_str() {
        "http" => ":80",
        "https" => ":443",
        _ => "",
    };
    if !port.is_empty() && host.ends_with(port) {
        host.truncate(host.len() - port.len());
    }
    let slash = if path.starts_with('/') { "" } else { "/" };
    format!("{scheme}://{host}{slash}{path}")
}

fn path_of(url: &str) -> Option<&str> {
    let rest = url.split_once("://")?.1;
    rest.find('/').map(|at| &rest[at..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dom::testing::page;
    use crate::sentences::{Understanding, understand};

    const PAGE: &str = "h1 \"Welcome back\"
p
  | Three
  b |  attempts
  |  left
input \"Name\" value=Ana +focused
input \"Password\" type=password filled=true
select \"Colour\" value=red options=Red,Green
input \"News\" type=checkbox +checked
input \"Some\" type=checkbox +mixed
button \"Save\" disabled
button \"Delete\"
button \"Delete\"
p ~hidden | never seen
button \"Far\" ~below
iframe \"Pay\"
  #frame x
    p | Inside the frame";

    fn seen(sentence: &str) -> Observation {
        let state = page(PAGE);
        let finder = Finder::new(&state, "data-testid");
        let Understanding::Understood(intent) = understand(sentence) else {
            panic!("{sentence}");
        };
        let targets = intent.phrase.as_ref().map_or(Vec::new(), |phrase| {
            finder
                .meant(phrase, intent.pool)
                .map(|found| found.elements)
                .unwrap_or_default()
        });
        finder.holds(&intent.step.assertion.expect("an assertion"), &targets)
    }

    #[test]
    fn a_number_is_no_part_of_a_greater_one() {
        for (text, words, has_it) in [
            ("11 comments", "1 comment", false),
            ("1 comments", "1 comment", true),
            ("of 15 and 5", "5", true),
            ("150", "15", false),
            ("€15.00", "15", true),
            ("a1", "1", true),
            ("comments: 1", "comment", true),
            ("unpaid", "paid", false),
            // What a text says of its words is for people to judge.
            ("no internet connection", "internet connection", true),
            ("在庫ありません", "在庫", true),
            ("invoice no 17", "17", true),
            ("saved", "save", false),
            ("ana\u{1}paid", "paid", true),
            ("ana\u{1}paid \u{1} open", "paid open", true),
            ("un\u{1}paid", "paid", false),
            ("inbox\u{1}new", "new", true),
            ("1\u{1}5", "5", false),
            ("total -100", "100", false),
            ("a-100", "100", true),
            ("15.50", "15", false),
            ("1,500", "500", false),
            ("1,500", "1", false),
            ("1,2,3", "2", true),
            ("-$100", "$100", false),
            ("-$100", "100", false),
            ("balance: -€20.00", "20.00", false),
            ("2024-11-05", "11", true),
            ("version 1.0", "1", true),
        ] {
            assert_eq!(has_text(text, words), has_it, "{words:?} in {text:?}");
        }
    }

    #[test]
    fn what_nobody_sees_in_a_text_does_not_count() {
        let state = page("p | Failed to up\u{ad}load\np | Ready");
        let mut assertion = BrowserAssertion::new(AssertKind::Text);
        assertion.expected = Some("Failed to upload".into());
        let finder = Finder::new(&state, "data-testid");
        assert!(finder.holds(&assertion, &[]).holds);
        assertion.case_sensitive = true;
        assert!(finder.holds(&assertion, &[]).holds);
    }

    #[test]
    fn assertions_hold_or_not() {
        for (sentence, expected) in [
            ("'welcome  BACK' is visible", true),
            ("'Three attempts left' is visible", true),
            ("'Inside the frame' is visible", true),
            // A text ends with its block.
            ("'Save Delete' is visible", false),
            ("'Welcome back Three attempts' is visible", false),
            ("'left Save' is not visible", true),
            ("'never seen' is visible", false),
            ("'never seen' is not visible", true),
            // What is typed is no text of the page.
            ("'Ana' is visible", false),
            ("the Welcome back heading is visible", true),
            ("the Far button is visible", true),
            ("the 'Delete' button is visible", false),
            ("the 'Nothing' button is hidden", true),
            // Both of them are there.
            ("the 'Delete' button is not visible", false),
            ("the 'Nothing' button is visible", false),
            ("Save is disabled", true),
            ("Save is not enabled", true),
            ("Save is enabled", false),
            ("Name is enabled", true),
            ("News is checked", true),
            ("News is unchecked", false),
            ("Some is checked", false),
            ("Some is unchecked", false),
            ("Name is focused", true),
            ("News is focused", false),
            ("Name is editable", true),
            ("Save is editable", false),
            ("the value of Name is 'Ana'", true),
            ("the value of Name is 'ana'", false),
            ("the value of Name contains 'An'", true),
            ("the value of Name is not 'Bob'", true),
            ("the value of Colour is 'Red'", true),
            ("the value of Colour is 'red'", true),
            ("the value of Colour is 'Green'", false),
            ("the value of Password is 'x'", false),
            ("the value of Password is not 'x'", false),
            ("the value of Password is not ''", true),
            ("the URL is 'https://shop.example/login'", true),
            ("the URL is 'HTTPS://Shop.example:443/login'", true),
            ("the URL is '/login'", true),
            ("the URL is '/'", false),
            ("the URL is 'login'", false),
            ("the URL is '?page=2'", false),
            ("the URL is not '?page=2'", true),
            ("the URL is '#top'", false),
            ("the URL contains 'login'", true),
            ("the title is 'sign in'", true),
            ("the title contains 'in'", true),
            ("the title is 'Sign'", false),
            ("there are 2 'Delete' buttons", true),
            ("there are at least 3 'Delete' buttons", false),
            ("there are at most 3 'Delete' buttons", true),
            ("there are no 'Nothing' buttons", true),
            // A state of what is not there holds neither way.
            ("the 'Nothing' button is enabled", false),
            ("the 'Nothing' button is not enabled", false),
            ("Delete is not enabled", false),
        ] {
            let found = seen(sentence);
            assert_eq!(found.holds, expected, "{sentence}: {found:?}");
        }
    }

    #[test]
    fn the_end_of_an_address_is_compared_from_its_first_sign_on() {
        let assertion = |expected: &str| {
            let mut assertion = BrowserAssertion::new(AssertKind::Url);
            assertion.expected = Some(expected.into());
            assertion
        };
        let url = "https://shop.example/list?page=2#top";
        for (expected, holds) in [
            ("?page=2#top", true),
            ("#top", true),
            ("/list?page=2#top", true),
            ("?page=2", false),
            ("?page=3#top", false),
            ("#", false),
        ] {
            assert_eq!(url_holds(&assertion(expected), url, expected).holds, holds);
        }
    }

    #[test]
    fn what_is_struck_out_is_no_value() {
        let state = page("div class=price\n  del | $12\n  span | $9\nul\n  li\n    s | Milk");
        let finder = Finder::new(&state, "data-testid");
        let of = |tag: &str| {
            let mut all = state.elements();
            all.find(|(_, element)| element.tag_name == tag)
                .map(|(id, _)| id)
        };
        let holds = |matching, expected: &str, tag: &str| {
            let mut assertion = BrowserAssertion::new(AssertKind::Text);
            assertion.matching = matching;
            assertion.expected = Some(expected.into());
            finder.holds(&assertion, &[of(tag).expect(tag)]).holds
        };
        for (matching, expected, tag, is_so) in [
            (TextMatch::Equals, "$9", "div", true),
            (TextMatch::Equals, "$12 $9", "div", false),
            (TextMatch::Contains, "$12", "div", false),
            (TextMatch::Contains, "$9", "div", true),
            (TextMatch::Equals, "Milk", "li", false),
            // It stands there, done.
            (TextMatch::Contains, "Milk", "ul", true),
        ] {
            assert_eq!(holds(matching, expected, tag), is_so, "{expected} {tag}");
        }
    }

    #[test]
    fn what_was_seen_is_told() {
        let text = seen("'Four attempts left' is visible");
        assert_eq!(text.nearest.as_deref(), Some("left"));
        assert_eq!(seen("the value of Name is 'Bob'").observed, "it is \"Ana\"");
        assert_eq!(seen("Some is checked").observed, "it is partly checked");
        let secret = seen("the value of Password is 'x'");
        assert!(secret.problem.is_some());
        assert!(
            seen("the Delete button is enabled")
                .problem
                .expect("two")
                .contains("2 match")
        );
    }

    #[test]
    fn patterns_are_found_in_texts_and_bad_ones_told() {
        let state = page("p | Order 1234 placed");
        let finder = Finder::new(&state, "data-testid");
        let mut assertion = BrowserAssertion::new(AssertKind::Text);
        assertion.matching = TextMatch::Regex;
        assertion.expected = Some("order [0-9]+".into());
        assert!(finder.holds(&assertion, &[]).holds);
        assertion.expected = Some("(".into());
        let seen = finder.holds(&assertion, &[]);
        assert!(!seen.holds && seen.problem.is_some());
    }
}
