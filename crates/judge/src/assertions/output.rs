//! What the last answer says and what it leaves out.

use std::cell::LazyCell;
use std::ops::Range;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::parts::{Patterns, Rules, TextPattern, Texts};
use super::{Assert, Take};
use crate::Finding;
use crate::fold::{fold, plain};
use crate::mutate::{Mutation, say_more};
use crate::test_case::Params;
use crate::view::View;
use crate::words::{as_count, brief, count_of, excerpt};
use cuecard_source::value::{Json, cut};
use cuecard_trace::Trace;

/// The output contains something.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct OutputContains {
    /// Texts of which one must be there.
    #[serde(default)]
    pub any_of: Texts,
    /// Texts that must all be there.
    #[serde(default)]
    pub all_of: Texts,
    /// Regular expressions that must all match.
    #[serde(default)]
    pub regex: Patterns,
    /// Whether to match case (default: false).
    #[serde(default)]
    pub case_sensitive: bool,
}

impl Assert for OutputContains {
    const TYPE: &'static str = "output_contains";

    fn check(&mut self, params: &mut Params<'_, '_>) {
        self.regex = params.patterns("regex", Rules::regex(self.case_sensitive));
        let keys = ["any_of", "all_of", "regex"];
        for key in keys {
            if params.is_empty(key) {
                let message = format!("`{key}` is empty");
                params.conflict(key, &message, "add a text, or remove the key");
            }
        }
        if !keys.into_iter().any(|key| params.has(key)) {
            let message = "no requirement on the output";
            params.conflict("", message, "add `any_of`, `all_of` or `regex`");
        }
    }

    fn judge(&self, view: &View<'_>) -> Finding {
        let Self {
            any_of,
            all_of,
            regex,
            case_sensitive,
        } = self;
        let case_sensitive = *case_sensitive;
        let output = view.output();
        if any_of.is_empty() && all_of.is_empty() && regex.is_empty() {
            return Finding::holds("no requirement on the output").vacuous();
        }
        let refs = view.output_ref();
        if view.output_is_empty() {
            return Finding::fails("the output is empty")
                .observed(json!({"output": output}))
                .help(empty_help(view))
                .refs(refs);
        }
        let folded = one_line(view.folded_output());
        // Marks around words don't make it another text.
        let read = view.read_output().map(|read| (read, one_line(&fold(read))));
        // An empty text is in everything, which says nothing.
        let holds = |part: &String| {
            if part.is_empty() {
                false
            } else if case_sensitive {
                output.contains(part.as_str())
                    || read
                        .as_ref()
                        .is_some_and(|(read, _)| read.contains(part.as_str()))
            } else {
                let part = one_line(&fold(part));
                folded.contains(&part)
                    || read.as_ref().is_some_and(|(_, read)| read.contains(&part))
            }
        };
        let mut broken = Vec::new();
        let found_any = any_of.iter().find(|part| holds(part));
        if found_any.is_none() && !any_of.is_empty() {
            broken.push(match &**any_of {
                [only] => format!("{} is not in the output", said(only)),
                _ => format!("none of {} is in the output", listed(any_of.iter())),
            });
        }
        let missing: Vec<&String> = all_of.iter().filter(|part| !holds(part)).collect();
        if !missing.is_empty() {
            broken.push(format!(
                "{} of {} missing: {}",
                missing.len(),
                all_of.len(),
                listed(missing.iter().copied())
            ));
        }
        let unmatched: Vec<&TextPattern> = regex
            .iter()
            .filter(|pattern| !pattern.regex.is_match(output))
            .collect();
        for pattern in unmatched.iter().take(5) {
            broken.push(format!("no match for /{}/", pattern.text));
        }
        if broken.is_empty() {
            return Finding::holds("the output contains what is required")
                .observed(json!({"found_of_any": found_any}))
                .refs(refs);
        }
        let unmatched: Vec<&str> = unmatched.iter().map(|p| p.text.as_str()).collect();
        let finding = Finding::fails(broken.join("; "))
            .observed(json!({
                "missing": missing,
                "unmatched": unmatched,
                "output": excerpt(output),
            }))
            .refs(refs);
        let differs_in_case = case_sensitive
            && any_of
                .iter()
                .chain(all_of.iter())
                .any(|part| !holds(part) && folded.contains(&one_line(&fold(part))));
        if differs_in_case {
            finding.help("found with different case: `case_sensitive` is true")
        } else {
            finding.help("use `any_of` for alternative wordings, `regex` for patterns")
        }
    }

    fn watches(&self, mutation: Mutation) -> bool {
        mutation == Mutation::DropOutput
    }
}

/// The output does not contain something.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct OutputOmits {
    /// What must not be there.
    pub patterns: Patterns,
    /// Whether they are regular expressions (default: false).
    #[serde(default)]
    pub regex: bool,
    /// Whether to match case (default: false).
    #[serde(default)]
    pub case_sensitive: bool,
}

impl Assert for OutputOmits {
    const TYPE: &'static str = "output_omits";

    fn check(&mut self, params: &mut Params<'_, '_>) {
        let rules = Rules {
            is_regex: self.regex,
            ..Rules::by_line(self.case_sensitive)
        };
        self.patterns = params.patterns("patterns", rules);
        if params.is_empty("patterns") {
            let message = "`patterns` is empty, so nothing is forbidden";
            params.conflict("patterns", message, "add what the output must not contain");
        }
    }

    fn judge(&self, view: &View<'_>) -> Finding {
        let patterns = &self.patterns;
        let output = view.output();
        let refs = view.output_ref();
        let plain = plain(output);
        let read = view.read_output().unwrap_or(output);
        let lines = LazyCell::new(|| one_line(read));
        let mut found: Vec<(&TextPattern, &str, usize)> = Vec::new();
        for pattern in patterns.iter() {
            // Other quotes, a hidden sign or marks around its words don't make it another text.
            let hit = [output, &*plain, read].into_iter().find_map(|text| {
                let part = pattern.regex.find(text)?;
                let above = text[..part.start()].matches('\n').count();
                Some((above, whole_words(text, part.range())))
            });
            let in_lines = || {
                let part = pattern.regex.find(&lines)?;
                let before = lines[..part.start()].split_whitespace().count();
                Some((
                    line_of_word(read, before),
                    whole_words(&lines, part.range()),
                ))
            };
            let hit = hit.or_else(|| is_phrase(&pattern.text).then(in_lines).flatten());
            if let Some((above, part)) = hit {
                found.push((pattern, part, above + 1));
            }
        }
        let Some((pattern, part, line)) = found.first() else {
            let finding = Finding::holds(format!(
                "the output has none of {}",
                count_of(as_count(patterns.len()), "pattern")
            ))
            .observed(json!({"patterns_checked": patterns.len()}))
            .refs(refs);
            return if patterns.is_empty() {
                finding.help("`patterns` lists nothing").vacuous()
            } else if view.output_is_empty() {
                finding.help(empty_help(view)).vacuous()
            } else {
                finding
            };
        };
        let more = match found.len() {
            1 => String::new(),
            count => format!("; so do {} more patterns", count - 1),
        };
        let whole_line = output.lines().nth(line - 1).unwrap_or_default();
        Finding::fails(format!(
        "`{}` matches {} on line {line} of the output{more}",
        cut(&pattern.text, 120),
        said(part)
    ))
    .observed(json!({
        "matched": found
            .iter()
            .take(20)
            .map(|(pattern, part, line)| json!({"pattern": pattern.text, "text": excerpt(part), "line": line}))
            .collect::<Vec<Json>>(),
    }))
    .help(format!("the line is {}", said(whole_line)))
    .refs(refs)
    }

    fn watches(&self, mutation: Mutation) -> bool {
        mutation == Mutation::SayForbidden
    }

    fn break_trace(&self, _: Mutation, trace: &Trace, take: &mut Take<'_>) {
        let literal = self.patterns.iter().filter(|pattern| is_literal(pattern));
        for pattern in literal {
            say_more(trace, &pattern.text, take);
        }
    }

    fn unmet(&self) -> Vec<&TextPattern> {
        self.patterns
            .iter()
            .filter(|pattern| !is_literal(pattern))
            .collect()
    }
}

/// Whether a pattern matches its own text, as every text does, and most expressions that only list words.
fn is_literal(pattern: &TextPattern) -> bool {
    pattern.regex.is_match(&pattern.text)
}

/// Whether a pattern is words alone, which may stand in two lines.
fn is_phrase(pattern: &str) -> bool {
    let mut rest = pattern.chars();
    while let Some(sign) = rest.next() {
        match sign {
            '\\' => drop(rest.next()),
            '*' | '+' | '{' | '[' | '^' | '$' | '.' => return false,
            _ => {}
        }
    }
    true
}

/// How many lines are above the word that so many words are before.
fn line_of_word(text: &str, words: usize) -> usize {
    let mut before = 0;
    text.lines()
        .position(|line| {
            before += line.split_whitespace().count();
            before > words
        })
        .unwrap_or_default()
}

/// A text in which every run of spaces and line breaks is one space.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        match character.is_whitespace() {
            true if line.ends_with(' ') => {}
            true => line.push(' '),
            false => line.push(character),
        }
    }
    line
}

/// Why there may be no output.
pub(super) fn empty_help(view: &View<'_>) -> String {
    if view.trace.end.is_none() {
        "the trace is incomplete: the run ended before the answer".to_owned()
    } else {
        "the run ended without an answer".to_owned()
    }
}

/// A part of a text with the whole of the words that it begins and ends in: a part of a secret isn't known as one.
fn whole_words(text: &str, part: Range<usize>) -> &str {
    let is_in_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-');
    let (mut start, mut end) = (part.start, part.end);
    if text[part.clone()].starts_with(is_in_word) {
        start = text[..start].trim_end_matches(is_in_word).len();
    }
    if text[part].ends_with(is_in_word) {
        end = text.len() - text[end..].trim_start_matches(is_in_word).len();
    }
    &text[start..end]
}

fn said(text: &str) -> String {
    brief(&Json::from(text))
}

fn listed<'a>(texts: impl IntoIterator<Item = &'a String>) -> String {
    const SHOWN: usize = 6;
    let mut texts = texts.into_iter();
    let shown: Vec<String> = texts.by_ref().take(SHOWN).map(|text| said(text)).collect();
    let shown = shown.join(", ");
    match texts.count() {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::{OutputContains, OutputOmits, Texts, whole_words};
    use crate::Verdict::{self, Fails, Holds};
    use crate::samples::{Events, answer, judged, pattern};

    fn texts(all: &[&str]) -> Texts {
        Texts(all.iter().map(|text| (*text).to_owned()).collect())
    }

    fn asked(any: &[&str], all: &[&str], regex: &[&str], output: &str) -> (Verdict, bool) {
        let check = OutputContains {
            any_of: texts(any),
            all_of: texts(all),
            regex: regex
                .iter()
                .map(|text| pattern(text))
                .collect::<Vec<_>>()
                .into(),
            case_sensitive: false,
        };
        let finding = judged(check, &answer(output));
        (finding.verdict, finding.vacuous)
    }

    #[test]
    fn every_group_that_is_given_holds() {
        let output = "Die STRASSE ist lang.\nGrowth: 4 %";
        for (any, all, regex, expected) in [
            (&["x", "straße"][..], &[][..], &[][..], Holds),
            (&["x", "y"], &[], &[], Fails),
            (&["growth"], &["lang", "4 %"], &[], Holds),
            (&["growth"], &["lang", "5 %"], &[], Fails),
            (&["x"], &["lang"], &[], Fails),
            (&[], &[], &["^growth: \\d"], Holds),
            (&[], &[], &["^growth: \\d", "x$"], Fails),
            (&["growth"], &[], &["zzz"], Fails),
            (&["4\u{a0}%"], &[], &[], Holds),
            (&["lang. growth:  4"], &[], &[], Holds),
            (&[""], &[], &[], Fails),
        ] {
            assert_eq!(
                asked(any, all, regex, output),
                (expected, false),
                "{any:?} {all:?}"
            );
        }
        assert_eq!(asked(&[], &[], &[], output), (Holds, true));
        for empty in ["", " \n\t"] {
            assert_eq!(asked(&[" "], &[], &[], empty), (Fails, false));
            assert_eq!(asked(&[], &[], &[".*"], empty), (Fails, false));
        }
    }

    #[test]
    fn marks_around_words_make_no_other_text() {
        let check = |case_sensitive| OutputContains {
            any_of: texts(&[]),
            all_of: texts(&["total is 40 EUR"]),
            regex: Vec::new().into(),
            case_sensitive,
        };
        for output in ["The total is **40 EUR**.", "The `total` is 40&nbsp;EUR."] {
            for case_sensitive in [false, true] {
                let finding = judged(check(case_sensitive), &answer(output));
                assert_eq!(finding.verdict, Holds, "{output}");
            }
        }
    }

    #[test]
    fn case_counts_if_asked() {
        let check = OutputContains {
            any_of: texts(&["growth"]),
            all_of: texts(&[]),
            regex: Vec::new().into(),
            case_sensitive: true,
        };
        let finding = judged(check.clone(), &answer("Growth"));
        assert_eq!(finding.verdict, Fails);
        assert_eq!(
            finding.help.as_deref(),
            Some("found with different case: `case_sensitive` is true")
        );
        assert_eq!(judged(check, &answer("growth")).verdict, Holds);
    }

    #[test]
    fn what_is_missing_is_told() {
        let check = OutputContains {
            any_of: texts(&["a1", "b1"]),
            all_of: texts(&["done", "c1"]),
            regex: vec![pattern("^z")].into(),
            case_sensitive: false,
        };
        let finding = judged(check, &answer("done"));
        assert_eq!(
            finding.message,
            "none of \"a1\", \"b1\" is in the output; 1 of 2 missing: \"c1\"; no match for /^z/"
        );
        assert_eq!(finding.event_refs, ["e2"]);
    }

    /// What a reader takes for the same words.
    #[test]
    fn what_matches_is_shown_with_its_whole_words() {
        let text = "Use sk_live_9aB-7x, it works.";
        for (part, whole) in [
            ("sk_live_9a", "sk_live_9aB-7x"),
            ("9aB-7", "sk_live_9aB-7x"),
            ("_9aB-7x, it", "sk_live_9aB-7x, it"),
            (" it ", " it "),
            ("", ""),
        ] {
            let start = text.find(part).expect("a part of it");
            assert_eq!(whole_words(text, start..start + part.len()), whole);
        }
    }

    #[test]
    fn no_disguise_hides_what_is_forbidden() {
        let said = "guarantee a full refund of $40";
        let letters: Vec<usize> = (0..said.len())
            .filter(|at| said.is_char_boundary(*at))
            .collect();
        let mut outputs = Vec::new();
        for &at in &letters {
            for hidden in ["\u{200b}", "\u{ad}", "\u{2060}", "\u{feff}", "\u{e0041}"] {
                outputs.push(format!("{}{hidden}{}", &said[..at], &said[at..]));
            }
            for &end in letters.iter().filter(|end| **end > at) {
                let (before, part, after) = (&said[..at], &said[at..end], &said[end..]);
                let is_word = |beside: Option<char>| beside.is_some_and(char::is_alphanumeric);
                let is_marked = is_word(part.chars().next()) && is_word(part.chars().next_back());
                // `4**0` is a power.
                let is_power = part.ends_with('4') && after.starts_with('0');
                if !is_marked || is_power {
                    continue;
                }
                for (open, close) in [
                    ("**", "**"),
                    ("*", "*"),
                    ("`", "`"),
                    ("~~", "~~"),
                    ("<b>", "</b>"),
                    ("<em>", "</em>"),
                ] {
                    outputs.push(format!("{before}{open}{part}{close}{after}"));
                }
                if !is_word(before.chars().next_back()) && !is_word(after.chars().next()) {
                    outputs.push(format!("{before}__{part}__{after}"));
                }
            }
        }
        let wide = |letter: char| match letter {
            'a'..='z' => char::from_u32(u32::from(letter) - 0x61 + 0xff41).expect("a letter"),
            other => other,
        };
        outputs.push(said.chars().map(wide).collect());
        for space in ["\n", "\n  ", "\u{a0}", "\u{2003}", "\u{3000}", "  "] {
            outputs.push(said.replace(' ', space));
        }
        outputs.push(said.to_uppercase());
        outputs.push(
            said.chars()
                .map(|sign| format!("&#{};", u32::from(sign)))
                .collect(),
        );
        outputs.push(said.replace('$', "&#x24;").replace(' ', "&nbsp;"));
        for output in outputs {
            let check = OutputOmits {
                patterns: vec![pattern("guarantee a full refund of \\$40")].into(),
                ..OutputOmits::default()
            };
            let output = format!("We\n{output}, sure.");
            let finding = judged(check, &answer(&output));
            assert_eq!(finding.verdict, Fails, "{output:?}");
        }
    }

    #[test]
    fn nothing_forbidden_is_in_the_output() {
        let output = "All good.\nSource: unknown";
        for (patterns, expected, vacuous) in [
            (&["bad"][..], Holds, false),
            (&["GOOD"], Fails, false),
            (&["^source"], Fails, false),
            (&["good\\.$"], Fails, false),
            (&["x", "unknown$"], Fails, false),
            (&[], Holds, true),
        ] {
            let check = OutputOmits {
                patterns: patterns
                    .iter()
                    .map(|text| pattern(text))
                    .collect::<Vec<_>>()
                    .into(),
                ..OutputOmits::default()
            };
            let finding = judged(check, &answer(output));
            assert_eq!(
                (finding.verdict, finding.vacuous),
                (expected, vacuous),
                "{patterns:?}"
            );
        }
        let check = || OutputOmits {
            patterns: vec![pattern("source: \\w+")].into(),
            ..OutputOmits::default()
        };
        assert_eq!(
            judged(check(), &answer(output)).message,
            "`source: \\w+` matches \"Source: unknown\" on line 2 of the output"
        );
        let curly = "I can’t.\nSo\u{200b}urce:\u{a0}unknown";
        for text in ["can't", "^source: "] {
            let check = OutputOmits {
                patterns: vec![pattern(text)].into(),
                ..OutputOmits::default()
            };
            assert_eq!(judged(check, &answer(curly)).verdict, Fails, "{text}");
        }
        for (written, text) in [
            ("I don&rsquo;t", "don't"),
            ("caf&eacute;", "café"),
            ("se&zwnj;cret", "secret"),
            ("[sec](http://x)ret", "secret"),
            ("foo\\_bar", "foo_bar"),
            ("a foo\\@bar.com", "foo@bar.com"),
            ("credit<br>card", "credit card"),
            ("credit</p>\n<p>card", "credit card"),
            ("> top\n> secret", "top secret"),
            ("sec<span class='x'>ret</span>", "secret"),
        ] {
            let check = OutputOmits {
                patterns: vec![pattern(&text.replace(' ', "\\s+"))].into(),
                ..OutputOmits::default()
            };
            assert_eq!(judged(check, &answer(written)).verdict, Fails, "{written}");
        }
        let two_lines = OutputOmits {
            patterns: vec![pattern("full refund"), pattern("unknown.*yes")].into(),
            ..OutputOmits::default()
        };
        let finding = judged(
            two_lines,
            &answer("It is\nunknown:\nyes, a full\n  refund."),
        );
        assert_eq!(
            finding.message,
            "`full refund` matches \"full refund\" on line 3 of the output"
        );
        assert!(judged(check(), &answer(" ")).vacuous);
        assert!(judged(check(), &Events::new().trace()).vacuous);
    }
}
