//! What a terminal shows while several things are waited for.

use std::collections::BTreeSet;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::Output;

/// How much of the names is shown, in characters: a line that breaks can't be redrawn.
const LONGEST: usize = 50;

/// The last line of a terminal, which is drawn again and again. Off a terminal it is nothing. It is gone when this is dropped.
pub(crate) struct LiveLine(Option<ProgressBar>);

impl LiveLine {
    /// A line of this template, unless `is_needed` is false; `style` adds keys.
    pub(crate) fn new(
        output: &Output,
        is_needed: bool,
        template: &str,
        style: impl FnOnce(ProgressStyle) -> ProgressStyle,
    ) -> Self {
        let template = ProgressStyle::with_template(template).ok();
        let template = template.filter(|_| is_needed && output.is_live);
        Self(template.map(|template| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
            let ticks = output.stderr.symbol("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ ", "|/-\\ ");
            bar.set_style(style(template.tick_chars(ticks)));
            bar
        }))
    }

    pub(crate) fn bar(&self) -> Option<&ProgressBar> {
        self.0.as_ref()
    }

    /// Prints above the line.
    pub(crate) fn above(&self, print: impl FnOnce()) {
        match &self.0 {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// Takes the line away.
    pub(crate) fn end(&mut self) {
        if let Some(bar) = self.0.take() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for LiveLine {
    fn drop(&mut self) {
        self.end();
    }
}

/// A line that says what is still waited for.
pub(crate) struct Waiting {
    line: LiveLine,
    what: &'static str,
    names: BTreeSet<String>,
}

impl Waiting {
    /// Waits for `names`; `what` says what is done with them, as in `trying`.
    pub(crate) fn new(output: &Output, what: &'static str, names: BTreeSet<String>) -> Self {
        let template = "{spinner} {msg}  {elapsed}";
        let line = LiveLine::new(output, !names.is_empty(), template, |style| style);
        let waiting = Self { line, what, names };
        waiting.show();
        if let Some(bar) = waiting.line.bar() {
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        waiting
    }

    /// `name` is no longer waited for.
    pub(crate) fn done(&mut self, name: &str) {
        self.names.remove(name);
        match self.names.is_empty() {
            true => self.end(),
            false => self.show(),
        }
    }

    /// Nothing is waited for any more.
    pub(crate) fn end(&mut self) {
        self.line.end();
    }

    fn show(&self) {
        let Some(bar) = self.line.bar() else {
            return;
        };
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let names = names.join(", ");
        let shown: String = names.chars().take(LONGEST).collect();
        let more = if shown.len() < names.len() { "…" } else { "" };
        bar.set_message(format!("{} {shown}{more}", self.what));
    }
}
