//! The look of the terminal: symbols and colours. Nothing depends on colour.

use std::borrow::Cow;
use std::fmt::Display;
use std::time::Duration;

use annotate_snippets::renderer::{AnsiColor, Effects};

use cuecard_source::value::cut;

/// How to write for a terminal or a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether colours are written.
    pub colour: bool,
    /// Whether symbols beyond ASCII are written.
    pub unicode: bool,
    /// Columns; lines are kept within them where they can be.
    pub width: usize,
    /// Whether a person looks at it now: then what is longer than its column is cut. In files everything is whole.
    pub is_terminal: bool,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            colour: false,
            unicode: true,
            width: 80,
            is_terminal: false,
        }
    }
}

impl Style {
    /// Something went well.
    pub fn good(self, text: &str) -> String {
        self.paint(text, AnsiColor::Green)
    }

    /// Something went wrong.
    pub fn bad(self, text: &str) -> String {
        self.paint(text, AnsiColor::BrightRed)
    }

    /// Something deserves a look.
    pub fn doubtful(self, text: &str) -> String {
        self.paint(text, AnsiColor::Yellow)
    }

    /// Less important than the rest.
    pub fn faint(self, text: &str) -> String {
        self.with(
            text,
            annotate_snippets::renderer::Style::new().effects(Effects::DIMMED),
        )
    }

    /// A heading.
    pub fn strong(self, text: &str) -> String {
        self.with(
            text,
            annotate_snippets::renderer::Style::new().effects(Effects::BOLD),
        )
    }

    /// `symbol`, or `ascii` where symbols can't be shown.
    pub fn symbol(self, symbol: &'static str, ascii: &'static str) -> &'static str {
        if self.unicode { symbol } else { ascii }
    }

    /// A mark for what went well, or did not.
    pub fn mark(self, is_good: bool) -> String {
        match is_good {
            true => self.good(self.symbol("✓", "ok")),
            false => self.bad(self.symbol("✗", "x")),
        }
    }

    /// What stands between facts on a line.
    pub fn dot(self) -> &'static str {
        self.symbol(" · ", " - ")
    }

    /// `text`, cut to a width in characters on a terminal.
    pub fn shortened(self, text: &str, width: usize) -> Cow<'_, str> {
        match self.is_terminal {
            true => cut(text, width),
            false => text.into(),
        }
    }

    fn paint(self, text: &str, colour: AnsiColor) -> String {
        self.with(text, colour.on_default())
    }

    fn with(self, text: &str, style: annotate_snippets::renderer::Style) -> String {
        if self.colour {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }
}

/// A duration for people: `0 ms`, `412 ms`, `1.9 s`, `3 min 5 s`.
pub fn duration(duration: Duration) -> String {
    let milliseconds = duration.as_millis();
    if milliseconds < 1000 {
        // Every step has one.
        [itoa::Buffer::new().format(milliseconds), " ms"].concat()
    } else if milliseconds < 99_950 {
        format!("{:.1} s", duration.as_secs_f64())
    } else {
        let seconds = (milliseconds + 500) / 1000;
        format!("{} min {} s", seconds / 60, seconds % 60)
    }
}

/// A number with its noun: `1 turn`, `2 turns`, `2 misses`.
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(number: N, one: &str) -> String {
    let ending = match (number == N::from(1), one.ends_with('s')) {
        (true, _) => "",
        (false, true) => "es",
        (false, false) => "s",
    };
    format!("{number} {one}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_fit_their_size() {
        let shown = |milliseconds| duration(Duration::from_millis(milliseconds));
        assert_eq!(shown(0), "0 ms");
        assert_eq!(shown(999), "999 ms");
        assert_eq!(shown(1900), "1.9 s");
        assert_eq!(shown(99_999), "1 min 40 s");
        assert_eq!(shown(3_723_000), "62 min 3 s");
    }
}
