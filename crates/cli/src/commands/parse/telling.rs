//! What `parse` shows: the sentences with what was understood, one after the other.

use std::io::BufRead as _;
use std::path::Path;
use std::time::Duration;

use cuecard_browser::parse::{Choice, Marked, ParseEvent, ParseObserver, Proposal};
use cuecard_browser::stage::{Failure, Outcome};
use cuecard_browser_steps::model::browser_notes;
use cuecard_browser_steps::model::{
    BrowserScenario, ErrorInfo, ParseStatus, StepsFile, Translator,
};
use cuecard_report::{Style, duration};
use cuecard_source::diagnostic::codes;
use cuecard_source::value::printable;
use serde_json::json;

use super::kept::{Kept, STEPS};
use crate::args::ParseArgs;
use crate::output::{Output, counted, stderr, stderr_line};
use crate::waiting::LiveLine;

/// The widest that sentences and what they mean are on a terminal, in characters.
const SENTENCE: usize = 44;
const MEANING: usize = 48;

/// Follows a parse on standard error.
pub(super) struct Terminal {
    style: Style,
    live: LiveLine,
    sentences: Vec<String>,
    /// How wide sentences are.
    width: usize,
    /// What the action that is on means.
    understood: Option<(Translator, String)>,
    asks: bool,
    kept: Kept,
}

impl Terminal {
    pub(super) fn new(
        args: &ParseArgs,
        output: &Output,
        scenario: &BrowserScenario,
        kept: Kept,
    ) -> Self {
        let sentences: Vec<String> = scenario
            .actions
            .iter()
            .map(|action| {
                let sentence = printable(&action.text);
                output.stderr.shortened(&sentence, SENTENCE).into_owned()
            })
            .collect();
        let template = "{prefix} {spinner} {msg}  {elapsed}";
        let live = LiveLine::new(output, !args.reading.interactive, template, |style| style);
        Self {
            style: output.stderr,
            live,
            width: (sentences.iter().map(|it| it.chars().count()).max())
                .map_or(0, |longest| longest.min(SENTENCE + 1)),
            sentences,
            understood: None,
            asks: args.reading.interactive,
            kept,
        }
    }

    /// The last lines: how many sentences became steps, and where they are.
    pub(super) fn end(mut self, file: &StepsFile, output: Option<&Path>, run_dir: &Path) {
        // What can't be kept was said, and the result itself comes now.
        let _ = self.kept.keep(file);
        self.live.end();
        let style = self.style;
        let total = self.sentences.len();
        let mut facts = vec![match file.test_steps.len() {
            done if done == total => counted(total, "step"),
            done => format!("{done} of {total} steps"),
        }];
        if let Some(milliseconds) = file.execution_time_ms {
            facts.push(duration(Duration::from_millis(milliseconds)));
        }
        let status = match file.status {
            ParseStatus::Success => String::new(),
            status => format!(" ({})", status.as_str()),
        };
        if let Some(output) = output {
            facts.push(format!("{}{status}", output.display()));
        } else if !status.is_empty() {
            facts.push(status.trim().to_owned());
        }
        let mut text = String::new();
        // The page itself was not to be had: no action says so.
        let is_of_page = |error: &&ErrorInfo| error.step_id.is_none() && error.action.is_none();
        for error in file.errors.iter().filter(is_of_page) {
            let mark = style.mark(false);
            let message = printable(&error.message);
            text.push_str(&format!("  {mark} {}: {message}\n", error.code));
        }
        text.push_str(&format!("{}\n", facts.join(style.dot())));
        let files = run_dir.join("files");
        if file.status != ParseStatus::Success && files.exists() {
            text.push_str(
                &style.faint(&format!("what the page looked like: {}\n", files.display())),
            );
        }
        stderr(&text);
    }

    /// What is said of a parse that somebody broke off. `run_dir` is what people call the run directory.
    pub(super) fn interrupted(mut self, run_dir: &Path) {
        self.live.end();
        let total = self.sentences.len();
        let text = match self.kept.n_steps {
            0 => "interrupted before any step was recorded".to_owned(),
            count => format!(
                "interrupted: {count} of {total} steps are in {}",
                run_dir.join(STEPS).display()
            ),
        };
        stderr_line(&text);
    }

    fn print(&self, line: &str) {
        self.live.above(|| stderr_line(line));
    }

    fn ended(&self, ordinal: usize, marked: &Marked<'_>, took: Duration) {
        let style = self.style;
        let (mark, failure) = match marked {
            Marked::Done(outcome) if outcome.observed.warnings.is_empty() => {
                (style.mark(true), None)
            }
            Marked::Done(_) => (style.doubtful(style.symbol("✓", "ok")), None),
            Marked::Failed(failure) if is_unclear(failure) => (style.bad("?"), Some(*failure)),
            Marked::Failed(failure) => (style.mark(false), Some(*failure)),
            Marked::Warned(failure) => (style.doubtful("!"), Some(*failure)),
            Marked::NotTried | Marked::Skipped => (style.faint(style.symbol("–", "-")), None),
        };
        let sentence = self.sentences.get(ordinal).map_or("", String::as_str);
        let gap = " ".repeat(self.width.saturating_sub(sentence.chars().count()));
        let (translator, meaning) = match (&self.understood, marked) {
            (_, Marked::NotTried) => ("", "not tried".to_owned()),
            (_, Marked::Skipped) => ("", "skipped".to_owned()),
            (Some((translator, words)), _) => (translator.as_str(), words.clone()),
            (None, _) => ("", String::new()),
        };
        let time = match marked {
            Marked::NotTried | Marked::Skipped => String::new(),
            _ => duration(took),
        };
        let meaning = printable(&meaning);
        let meaning = style.shortened(&meaning, MEANING);
        let line = format!(
            "  {:>3} {mark} {sentence}{gap}  {translator:<6}  {meaning}",
            ordinal + 1
        );
        let time = match time.is_empty() {
            true => String::new(),
            false => format!("  {}", style.faint(&time)),
        };
        self.print(&format!("{}{time}", line.trim_end()));
        if let Marked::Done(outcome) = marked {
            self.outcome(outcome);
        }
        if let Some(failure) = failure {
            self.failure(failure);
        }
    }

    /// What deserves a second look though all went well.
    fn outcome(&self, outcome: &Outcome) {
        let mut observed = outcome.observed.clone();
        // A dialog that nobody expected is a warning.
        observed.dialogs.retain(|dialog| {
            let said = format!("`{}`", dialog.message);
            let mut warnings = outcome.observed.warnings.iter();
            !warnings.any(|warning| warning.contains(&said))
        });
        for note in browser_notes(&json!(observed)) {
            self.print(&format!("        {}", printable(&note)));
        }
        for warning in &outcome.observed.warnings {
            self.indented(&self.style.doubtful("warning:"), warning);
        }
    }

    fn failure(&self, failure: &Failure) {
        let style = self.style;
        let code = match failure.code.as_str() {
            "" => String::new(),
            code => format!("{}: ", style.bad(code)),
        };
        let mut lines = failure.message.lines();
        let first = lines.next().unwrap_or_default();
        self.print(&format!("        {code}{}", printable(first)));
        for line in lines {
            self.print(&format!("          {}", printable(line)));
        }
        for words in &failure.candidates {
            self.print(&format!("          {}", printable(words)));
        }
        if let Some(said) = &failure.model_error {
            for line in said.lines().take(5) {
                self.indented("model:", line);
            }
        }
        if let Some(help) = &failure.help {
            for (number, line) in help.lines().enumerate() {
                let word = if number == 0 { "help:" } else { "     " };
                self.print(&format!(
                    "        {} {}",
                    style.faint(word),
                    printable(line)
                ));
            }
        }
    }

    fn indented(&self, word: &str, text: &str) {
        self.print(&format!("        {word} {}", printable(text)));
    }
}

/// Whether nothing was done since it was not clear what is meant.
fn is_unclear(failure: &Failure) -> bool {
    [
        codes::BROWSER_AMBIGUOUS,
        codes::BROWSER_COMPOUND,
        codes::BROWSER_NOT_UNDERSTOOD,
    ]
    .iter()
    .any(|&code| failure.is(code))
}

impl ParseObserver for Terminal {
    fn hear(&mut self, event: &ParseEvent<'_>) {
        match event {
            ParseEvent::Opening { url } => self.print(&self.style.strong(&printable(url))),
            ParseEvent::Begun { ordinal, .. } => {
                self.understood = None;
                if let Some(bar) = self.live.bar() {
                    bar.set_prefix(format!("  {:>3}", ordinal + 1));
                    bar.set_message(self.sentences.get(*ordinal).cloned().unwrap_or_default());
                    bar.reset_elapsed();
                    bar.enable_steady_tick(Duration::from_millis(100));
                }
            }
            ParseEvent::Asking { ordinal } => {
                if let Some(bar) = self.live.bar() {
                    let sentence = self.sentences.get(*ordinal).map_or("", String::as_str);
                    bar.set_message(format!("{sentence}  asking the model"));
                }
            }
            ParseEvent::Understood {
                translator, words, ..
            } => self.understood = Some((*translator, (*words).to_owned())),
            ParseEvent::Kept { file } => {
                if let Err(error) = self.kept.keep(file) {
                    self.indented(&self.style.doubtful("warning:"), &error);
                }
            }
            ParseEvent::Ended {
                ordinal,
                marked,
                took,
            } => {
                if let Some(bar) = self.live.bar() {
                    bar.disable_steady_tick();
                }
                self.ended(*ordinal, marked, *took);
            }
        }
    }

    async fn decide(&mut self, proposal: &Proposal) -> Choice {
        if !self.asks {
            return Choice::Go;
        }
        let style = self.style;
        stderr_line(&format!(
            "  {:>3} {}",
            proposal.ordinal + 1,
            printable(&proposal.action)
        ));
        if let Some(understood) = &proposal.understood {
            stderr_line(&format!("        {}", printable(understood)));
        }
        if let Some(reason) = &proposal.reason {
            stderr_line(&format!("        {}", style.doubtful(&printable(reason))));
        }
        for (number, words) in proposal.candidates.iter().enumerate() {
            stderr_line(&format!("        {} {}", number + 1, printable(words)));
        }
        let question = match (&proposal.understood, proposal.candidates.len()) {
            (Some(_), _) => "run it? y = yes, s = skip, q = quit: ".to_owned(),
            (None, 0) => "s = skip, q = quit, anything else = fail: ".to_owned(),
            (None, count) => format!("which one? 1 to {count}, s = skip, q = quit: "),
        };
        loop {
            stderr(&format!("        {question}"));
            // Somebody may press Ctrl-C instead.
            let answer = tokio::task::spawn_blocking(|| {
                let mut line = String::new();
                let read = std::io::stdin().lock().read_line(&mut line);
                read.ok().filter(|count| *count > 0).map(|_| line)
            });
            let Ok(Some(line)) = answer.await else {
                // Nobody is there any more.
                return Choice::Quit;
            };
            if let Some(choice) = choice(line.trim(), proposal) {
                return choice;
            }
        }
    }
}

/// What an answer means; none if nothing.
fn choice(answer: &str, proposal: &Proposal) -> Option<Choice> {
    let picked = answer
        .parse::<usize>()
        .ok()
        .filter(|number| (1..=proposal.candidates.len()).contains(number));
    match (answer, picked) {
        ("s" | "S", _) => Some(Choice::Skip),
        ("q" | "Q", _) => Some(Choice::Quit),
        (_, Some(number)) => Some(Choice::Pick(number - 1)),
        ("y" | "Y" | "", None) if proposal.understood.is_some() => Some(Choice::Go),
        (_, None) if proposal.understood.is_none() && proposal.candidates.is_empty() => {
            Some(Choice::Go)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read() {
        let clear = Proposal {
            ordinal: 0,
            action: String::new(),
            understood: Some("button".to_owned()),
            reason: None,
            candidates: Vec::new(),
        };
        let unclear = Proposal {
            understood: None,
            candidates: vec!["one".to_owned(), "two".to_owned()],
            ..clear.clone()
        };
        for (answer, proposal, expected) in [
            ("y", &clear, Some(Choice::Go)),
            ("", &clear, Some(Choice::Go)),
            ("2", &clear, None),
            ("s", &clear, Some(Choice::Skip)),
            ("2", &unclear, Some(Choice::Pick(1))),
            ("3", &unclear, None),
            ("0", &unclear, None),
            ("y", &unclear, None),
            ("q", &unclear, Some(Choice::Quit)),
        ] {
            assert_eq!(choice(answer, proposal), expected, "{answer}");
        }
    }
}
