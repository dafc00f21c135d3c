//! What the last answer says and what it leaves out.

use serde_json::json;

use super::Finding;
use super::fold::fold;
use super::view::View;
use super::words::{as_count, brief, count_of, excerpt};
use crate::scenario::TextPattern;
use crate::value::{Json, cut};

pub(super) fn contains(
    any_of: &[String],
    all_of: &[String],
    regex: &[TextPattern],
    case_sensitive: bool,
    view: &View<'_>,
) -> Finding {
    let output = view.output();
    if any_of.is_empty() && all_of.is_empty() && regex.is_empty() {
        return Finding::holds("nothing is asked of the output").vacuous();
    }
    let refs = view.output_ref();
    if view.output_is_empty() {
        return Finding::fails("the output is empty")
            .observed(json!({"output": output}))
            .help(empty_help(view))
            .refs(refs);
    }
    let folded = one_line(view.folded_output());
    // An empty text is in everything, which says nothing.
    let holds = |part: &String| {
        if part.is_empty() {
            false
        } else if case_sensitive {
            output.contains(part.as_str())
        } else {
            folded.contains(&one_line(&fold(part)))
        }
    };
    let mut broken = Vec::new();
    let found_any = any_of.iter().find(|part| holds(part));
    if found_any.is_none() && !any_of.is_empty() {
        broken.push(match any_of {
            [only] => format!("{} is not in the output", said(only)),
            _ => format!("none of {} is in the output", listed(any_of)),
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
        broken.push(format!("nothing matches /{}/", pattern.text));
    }
    if broken.is_empty() {
        return Finding::holds("the output contains what is asked")
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
            .chain(all_of)
            .any(|part| !holds(part) && folded.contains(&one_line(&fold(part))));
    if differs_in_case {
        finding.help("it is there in another case: `case_sensitive` is true")
    } else {
        finding.help("`any_of` takes other wordings, `regex` patterns")
    }
}

pub(super) fn omits(patterns: &[TextPattern], view: &View<'_>) -> Finding {
    let output = view.output();
    let refs = view.output_ref();
    let mut found: Vec<(&TextPattern, &str, usize)> = Vec::new();
    for pattern in patterns {
        // Other quotes or a hidden sign don't make it another text.
        let texts = [Some(output), view.plain_output()];
        let hit = texts
            .into_iter()
            .flatten()
            .find_map(|text| Some((text, pattern.regex.find(text)?)));
        if let Some((text, part)) = hit {
            let line = text[..part.start()].matches('\n').count() + 1;
            found.push((pattern, part.as_str(), line));
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
        "`{}` matches {} in line {line} of the output{more}",
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
        "the trace has no end: the run died before its answer".to_owned()
    } else {
        "the run ended without an answer".to_owned()
    }
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
    use super::super::Verdict::{self, Fails, Holds};
    use super::super::samples::{Events, answer, judged, pattern};
    use crate::scenario::AssertionCheck;

    fn texts(all: &[&str]) -> Vec<String> {
        all.iter().map(|text| (*text).to_owned()).collect()
    }

    fn asked(any: &[&str], all: &[&str], regex: &[&str], output: &str) -> (Verdict, bool) {
        let check = AssertionCheck::OutputContains {
            any_of: texts(any),
            all_of: texts(all),
            regex: regex.iter().map(|text| pattern(text)).collect(),
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
    fn case_counts_if_asked() {
        let check = AssertionCheck::OutputContains {
            any_of: texts(&["growth"]),
            all_of: Vec::new(),
            regex: Vec::new(),
            case_sensitive: true,
        };
        let finding = judged(check.clone(), &answer("Growth"));
        assert_eq!(finding.verdict, Fails);
        assert_eq!(
            finding.help.as_deref(),
            Some("it is there in another case: `case_sensitive` is true")
        );
        assert_eq!(judged(check, &answer("growth")).verdict, Holds);
    }

    #[test]
    fn what_is_missing_is_told() {
        let check = AssertionCheck::OutputContains {
            any_of: texts(&["a1", "b1"]),
            all_of: texts(&["done", "c1"]),
            regex: vec![pattern("^z")],
            case_sensitive: false,
        };
        let finding = judged(check, &answer("done"));
        assert_eq!(
            finding.message,
            "none of \"a1\", \"b1\" is in the output; 1 of 2 missing: \"c1\"; nothing matches /^z/"
        );
        assert_eq!(finding.event_refs, ["e2"]);
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
            let check = AssertionCheck::OutputOmits {
                patterns: patterns.iter().map(|text| pattern(text)).collect(),
            };
            let finding = judged(check, &answer(output));
            assert_eq!(
                (finding.verdict, finding.vacuous),
                (expected, vacuous),
                "{patterns:?}"
            );
        }
        let check = || AssertionCheck::OutputOmits {
            patterns: vec![pattern("source: \\w+")],
        };
        assert_eq!(
            judged(check(), &answer(output)).message,
            "`source: \\w+` matches \"Source: unknown\" in line 2 of the output"
        );
        let curly = "I can’t.\nSo\u{200b}urce:\u{a0}unknown";
        for text in ["can't", "^source: "] {
            let check = AssertionCheck::OutputOmits {
                patterns: vec![pattern(text)],
            };
            assert_eq!(judged(check, &answer(curly)).verdict, Fails, "{text}");
        }
        assert!(judged(check(), &answer(" ")).vacuous);
        assert!(judged(check(), &Events::new().trace()).vacuous);
    }
}
