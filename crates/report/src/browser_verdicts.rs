//! What `verify` says of each step: a line for people, an entry for machines.

use serde_json::{Map, json};

use super::Style;
use super::browser_html::BrowserStep;
use cuecard_source::value::{Json, printable};
use cuecard_trace::StepStatus;

/// A step and whether it was done on the way to the next.
pub type Looked<'a> = (&'a BrowserStep, bool);

/// The widest verdict: `not checked`.
const VERDICT: usize = 13;

/// A line for each step, and below it what speaks for a verdict that is not the best; each ends with a line end.
pub fn lines(style: Style, steps: &[Looked<'_>]) -> String {
    let numbers = steps
        .last()
        .map_or(1, |(step, _)| step.number.to_string().len());
    let room = style.width.saturating_sub(numbers + VERDICT + 8).max(30);
    let words = steps
        .iter()
        .map(|(step, _)| step.words.chars().count())
        .max()
        .unwrap_or(0)
        .min(room * 3 / 5);
    let mut text = String::new();
    for (step, was_done) in steps {
        let mark = match (step.status, word(step)) {
            (Some(StepStatus::Passed), "healed") => style.doubtful(style.symbol("~", "~ ")),
            (Some(StepStatus::Passed), _) => style.good(style.symbol("✓", "ok")),
            (Some(StepStatus::Failed | StepStatus::Unknown), _) => {
                style.bad(style.symbol("✗", "x "))
            }
            (Some(StepStatus::Tolerated), _) => style.doubtful(style.symbol("!", "! ")),
            (Some(StepStatus::Skipped) | None, _) => style.faint(style.symbol("–", "- ")),
        };
        let sentence = printable(&step.words).into_owned();
        let sentence = style.shortened(&sentence, words);
        let pad = " ".repeat(words.saturating_sub(sentence.chars().count()));
        let target = step.target.as_deref().map(printable).unwrap_or_default();
        let line = format!(
            "{:>width$} {mark} {:<VERDICT$}  {sentence}{pad}  {}{}",
            step.number,
            word(step),
            style.faint(&target),
            if *was_done {
                style.faint("  (done)")
            } else {
                String::new()
            },
            width = numbers + 2,
        );
        text.push_str(line.trim_end());
        text.push('\n');
        for line in reasons(step) {
            text.push_str(&format!(
                "{}{}\n",
                " ".repeat(numbers + 5),
                printable(&line)
            ));
        }
    }
    text
}

/// The verdict on a step, or why there is none.
fn word(step: &BrowserStep) -> &str {
    match (&step.verdict, step.status) {
        (Some(verdict), _) => &verdict.word,
        (None, Some(StepStatus::Passed)) => "done",
        (None, Some(StepStatus::Failed | StepStatus::Unknown)) => "failed",
        (None, _) => "not checked",
    }
}

fn reasons(step: &BrowserStep) -> Vec<String> {
    let reason = step
        .verdict
        .as_ref()
        .and_then(|verdict| verdict.reason.clone());
    let message = step.error.as_ref().map(|error| error.message.clone());
    let is_failure = message.is_some();
    let near = step
        .candidates
        .iter()
        .filter(|_| is_failure)
        .map(|words| format!("similar: {words}"));
    let notes = step.notes.iter().cloned();
    message
        .or(reason)
        .into_iter()
        .chain(near)
        .chain(notes)
        .collect()
}

/// The counts: `3 same · 1 healed · 1 gone · 2 not checked`.
pub fn counts(style: Style, steps: &[Looked<'_>]) -> String {
    let words = [
        "same",
        "healed",
        "renamed",
        "ambiguous",
        "gone",
        "failed",
        "done",
        "not checked",
    ];
    let facts: Vec<String> = words
        .iter()
        .filter_map(|known| {
            let count = steps
                .iter()
                .filter(|(step, _)| word(step) == *known)
                .count();
            let fact = format!("{count} {known}");
            (count > 0).then(|| match *known {
                "same" => style.good(&fact),
                "healed" => style.doubtful(&fact),
                "done" | "not checked" => fact,
                _ => style.bad(&fact),
            })
        })
        .collect();
    match facts.is_empty() {
        true => "no steps".to_owned(),
        false => facts.join(style.dot()),
    }
}

/// The same for machines, one entry a step.
pub fn entries(steps: &[Looked<'_>]) -> Vec<Json> {
    steps.iter().map(entry).collect()
}

fn entry((step, was_done): &Looked<'_>) -> Json {
    let mut entry = Map::new();
    let mut put = |key: &str, value: Json| {
        if !value.is_null() {
            entry.insert(key.to_owned(), value);
        }
    };
    put("step", step.number.into());
    put("id", step.id.as_str().into());
    put("description", step.words.as_str().into());
    put("action", step.action.as_str().into());
    put("verdict", word(step).into());
    put("done", (*was_done).into());
    put("target", json!(step.target));
    put("selector", json!(step.selector));
    if let Some(verdict) = &step.verdict {
        put("reason", json!(verdict.reason));
    }
    if !step.candidates.is_empty() {
        put("candidates", json!(step.candidates));
    }
    if let Some(error) = &step.error {
        put("code", error.code.as_str().into());
        put("error", error.message.as_str().into());
    }
    Json::Object(entry)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::browser_html::BrowserVerdict;
    use cuecard_trace::StepError;

    fn step(
        number: u64,
        words: &str,
        verdict: Option<&str>,
        status: Option<StepStatus>,
    ) -> BrowserStep {
        BrowserStep {
            number,
            words: words.to_owned(),
            verdict: verdict.map(|word| BrowserVerdict {
                word: word.to_owned(),
                reason: (word == "healed").then(|| "it has the id `go`".to_owned()),
            }),
            status,
            ..BrowserStep::default()
        }
    }

    #[test]
    fn each_step_has_its_verdict_and_what_speaks_for_it() {
        let mut same = step(1, "type 'a' into X", Some("same"), Some(StepStatus::Passed));
        same.target = Some("textbox \"X\"".to_owned());
        let healed = step(
            2,
            "click 'Log in'",
            Some("healed"),
            Some(StepStatus::Passed),
        );
        let mut gone = step(3, "click 'Buy'", Some("gone"), Some(StepStatus::Failed));
        gone.candidates = vec!["button \"Sell\"".to_owned()];
        gone.error = Some(StepError {
            code: "B-element_not_found".to_owned(),
            error_type: "element_not_found".to_owned(),
            message: "nothing is there".to_owned(),
            notes: Vec::new(),
            help: None,
        });
        let later = step(4, "wait 1 s", None, None);
        let steps = [
            (&same, true),
            (&healed, false),
            (&gone, false),
            (&later, false),
        ];
        let style = Style::default();
        assert_eq!(
            lines(style, &steps),
            "  1 ✓ same           type 'a' into X  textbox \"X\"  (done)\n  2 ~ healed         click 'Log in'\n      it has the id `go`\n  3 ✗ gone           click 'Buy'\n      nothing is there\n      similar: button \"Sell\"\n  4 – not checked    wait 1 s\n"
        );
        assert_eq!(
            counts(style, &steps),
            "1 same · 1 healed · 1 gone · 1 not checked"
        );
        let entries = entries(&steps);
        assert_eq!(entries[2]["code"], "B-element_not_found");
        assert_eq!(entries[0]["done"], true);
        assert_eq!(entries[3]["verdict"], "not checked");
        assert!(entries[3].get("target").is_none());
    }
}
