//! What the recorded pages prove about names and texts: whether a plain locator means one element only.

use std::collections::BTreeSet;

use super::texts::Names;
use crate::model::StepsFile;
use cuecard_page::selector::Pattern;
use cuecard_source::value::Json;

/// Lines that are about a page, not of it.
const ABOUT_PAGE: &[&str] = &[
    "url: ",
    "title: ",
    "viewport: ",
    "tab ",
    "above pixels=",
    "below pixels=",
    "covered",
];

/// Roles whose elements all have a line of their own.
const PRINTED: &[&str] = &[
    "button",
    "checkbox",
    "combobox",
    "dialog",
    "form",
    "group",
    "heading",
    "link",
    "list",
    "menuitem",
    "menuitemcheckbox",
    "menuitemradio",
    "navigation",
    "radio",
    "region",
    "searchbox",
    "slider",
    "spinbutton",
    "switch",
    "tab",
    "table",
    "textbox",
    "treeitem",
];

/// The pages that steps were made on, each as the text before its step.
#[derive(Debug)]
pub(super) struct RecordedPages {
    pages: Vec<Page>,
    /// Every role with every name that it has on any of them, folded.
    names: BTreeSet<(String, String)>,
    /// Whether lines of any were left out.
    are_cut: bool,
}

#[derive(Debug, Default)]
struct Page {
    lines: Vec<Line>,
    /// All lines, folded, with single spaces between.
    folded: String,
}

#[derive(Debug)]
struct Line {
    text: String,
    folded: String,
    is_in_frame: bool,
}

/// On how many lines of a page a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Occurrence {
    /// On none.
    Never,
    /// On none, but its words are on lines that follow each other.
    AcrossLines,
    /// On one.
    Once,
    /// On several.
    Often,
}

impl RecordedPages {
    pub(super) fn of(file: &StepsFile) -> Self {
        let mut all = Self {
            pages: Vec::new(),
            names: BTreeSet::new(),
            are_cut: false,
        };
        for step in &file.test_steps {
            let page = all.read(&step.context.dom_structure_snapshot);
            all.pages.push(page);
        }
        all
    }

    fn read(&mut self, text: &str) -> Page {
        let mut page = Page::default();
        // The indentation of the frame that lines are in.
        let mut frame: Option<usize> = None;
        for line in text.lines() {
            let written = line.trim_start();
            let indentation = line.len() - written.len();
            frame = frame.filter(|frame| *frame < indentation);
            self.are_cut |= written.starts_with('…');
            if indentation == 0 && ABOUT_PAGE.iter().any(|start| written.starts_with(start)) {
                continue;
            }
            let element = written
                .trim_start_matches('*')
                .strip_prefix('[')
                .and_then(|rest| rest.split_once("] "))
                .map(|(_, element)| element);
            let line = written.strip_prefix("| ").or(element).unwrap_or(written);
            if !written.starts_with("| ") {
                let role = line.split(' ').next().unwrap_or_default();
                if let Some(name) = quoted_name(&line[role.len()..]) {
                    self.names.insert((role.to_owned(), fold(&name)));
                }
                if role == "frame" {
                    frame = frame.or(Some(indentation));
                }
                // What holds others stands above them again where a part of them is out of view.
                let is_again = element.is_none() && role != "heading";
                if is_again && page.lines.iter().any(|other| other.text == line) {
                    continue;
                }
            }
            page.lines.push(Line {
                text: line.to_owned(),
                folded: fold(line),
                is_in_frame: frame.is_some(),
            });
        }
        let lines: Vec<&str> = page.lines.iter().map(|line| line.folded.as_str()).collect();
        page.folded = lines.join(" ");
        page
    }

    /// Whether what is called like this pattern is the only element whose name, label or text has that in it.
    pub(super) fn is_only(&self, place: usize, pattern: &Pattern, names: &Names<'_>) -> bool {
        match pattern {
            Pattern::Role {
                role,
                name: Some(name),
            } if PRINTED.contains(&role.as_str()) => {
                let Some(name) = names.resolved(name).map(|name| fold(&name)) else {
                    return false;
                };
                let is_known = self.page(place).is_some_and(|page| {
                    let written = format!("{role} {}", Json::from(name.as_str()));
                    let mut lines = page.lines.iter();
                    lines.any(|line| line.folded.starts_with(&written))
                });
                let mut others = self.names.iter().filter(|(other, _)| other == role);
                is_known
                    && !self.are_cut
                    && others.all(|(_, other)| *other == name || !other.contains(&name))
            }
            Pattern::Label(text) | Pattern::Placeholder(text) | Pattern::Text(text) => {
                names
                    .resolved(text)
                    .is_some_and(|text| self.seen(place, &text) == Occurrence::Once)
                    && !self.are_cut
            }
            Pattern::Role { .. } | Pattern::TestId(_) | Pattern::Css(_) | Pattern::XPath(_) => {
                false
            }
        }
    }

    /// On how many lines of a step's page a text is.
    pub(super) fn seen(&self, place: usize, text: &str) -> Occurrence {
        let folded = fold(text);
        let Some(page) = self.page(place) else {
            return Occurrence::Never;
        };
        match page
            .lines
            .iter()
            .filter(|line| line.folded.contains(&folded))
            .count()
        {
            0 if page.folded.contains(&folded) => Occurrence::AcrossLines,
            0 => Occurrence::Never,
            1 => Occurrence::Once,
            _ => Occurrence::Often,
        }
    }

    /// Whether a text is on a step's page just as it is written.
    pub(super) fn is_written(&self, place: usize, text: &str) -> bool {
        self.page(place)
            .is_some_and(|page| page.lines.iter().any(|line| line.text.contains(text)))
    }

    /// Whether a text is on a step's page, and in no frame of it.
    pub(super) fn is_outside_of_frames(&self, place: usize, text: &str) -> bool {
        let folded = fold(text);
        let mut lines = self
            .page(place)
            .into_iter()
            .flat_map(|page| &page.lines)
            .filter(|line| line.folded.contains(&folded))
            .peekable();
        lines.peek().is_some() && lines.all(|line| !line.is_in_frame)
    }

    /// Whether the page of a step was not recorded.
    pub(super) fn is_blank(&self, place: usize) -> bool {
        self.page(place).is_none()
    }

    /// The page of a step, if it was recorded.
    fn page(&self, place: usize) -> Option<&Page> {
        self.pages.get(place).filter(|page| !page.lines.is_empty())
    }
}

/// The name that stands in quotes behind a role.
fn quoted_name(rest: &str) -> Option<String> {
    let rest = rest.strip_prefix(' ')?;
    serde_json::Deserializer::from_str(rest)
        .into_iter::<String>()
        .next()?
        .ok()
}

/// A text without what doesn't count when it is compared: capital letters and the kind and number of spaces.
fn fold(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .to_lowercase()
}
