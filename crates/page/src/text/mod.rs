//! A state as text, for models and for people who read what a model saw:
//!
//! ```text
//! url: https://shop.example/login
//! title: Sign in
//! viewport: 1280x720 at 0,0 of 1280x1460
//! heading "Sign in" level=1
//! form "Account"
//!   [0] textbox "E-mail" type=email value="ana@example.org" required
//!   [1] textbox "Password" type=password filled=true
//! *[2] link "Forgot password?" href=/reset
//! | Three attempts left.
//! below pixels=740
//! ```
//!
//! What a page says can't make a line of its own: names and values are JSON strings, text always stands behind `| `.
//! Lines out of view stand below `above` and `below`, what is covered below `covered`, without an index.

mod attributes;
mod budget;
mod lines;
mod render;
#[cfg(test)]
mod tests;

use std::fmt;

pub(super) use lines::is_inline;

use super::selector::Finder;

/// What is printed and how much of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextOptions<'a> {
    /// The most characters.
    pub budget: usize,
    /// Attributes that are printed too, in this order.
    pub include_attributes: &'a [String],
    /// The sentence that the text is for: what shares a word with it is never left out.
    pub action: &'a str,
}

impl Default for TextOptions<'_> {
    fn default() -> Self {
        Self {
            budget: 24_000,
            include_attributes: &[],
            action: "",
        }
    }
}

/// A page as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageText {
    /// The text; each line ends with a line end.
    pub text: String,
    /// What was left out to stay within the budget.
    pub cut: Option<Cut>,
}

/// What was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cut {
    /// Elements.
    pub elements: usize,
    /// Texts.
    pub texts: usize,
    /// Texts that were shortened.
    pub shortened: usize,
    /// Elements without their attributes.
    pub attributes: usize,
}

impl fmt::Display for Cut {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} elements and {} texts left out",
            self.elements, self.texts
        )?;
        if self.attributes > 0 {
            write!(formatter, ", {} without attributes", self.attributes)?;
        }
        match self.shortened {
            0 => Ok(()),
            count => write!(formatter, ", {count} texts shortened"),
        }
    }
}

/// What may not be left out is more than the budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextTooLarge {
    /// The characters it would have.
    pub characters: usize,
    /// The budget.
    pub budget: usize,
}

impl fmt::Display for TextTooLarge {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "what is in view takes {} characters, more than the {} of `promptBudget`",
            self.characters, self.budget
        )
    }
}

impl std::error::Error for TextTooLarge {}

impl Finder<'_> {
    /// The state as text.
    ///
    /// # Errors
    /// If what is in view and may not be left out is more than the budget.
    pub fn text_for_model(&self, options: &TextOptions<'_>) -> Result<PageText, TextTooLarge> {
        let mut lines = lines::lines(self, options);
        let cut = budget::fit(self.state, &mut lines, options)?;
        Ok(PageText {
            text: render::render(self.state, &lines, cut.as_ref()),
            cut,
        })
    }
}
