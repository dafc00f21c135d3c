//! A snapshot of a page, as the servers of browsers write it: the accessibility tree, one element a line.
//!
//! chrome-devtools-mcp and @playwright/mcp write it in forms of their own, which become the same tree here.

mod aria;
mod devtools;
#[cfg(test)]
mod tests;

/// A snapshot has at most this many elements.
const MOST_ELEMENTS: usize = 100_000;

/// A snapshot is nested at most this deep.
const DEEPEST: usize = 1_000;

/// The largest part of a page whose text is looked at, in elements.
const MOST_INSIDE: usize = 400;

/// The role of a line that a text takes on the page; all of them may have one id.
pub(super) const LINE_OF_TEXT: &str = "InlineTextBox";

/// The elements of a page, in the order of the page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Snapshot {
    /// The elements.
    pub elements: Vec<Element>,
}

/// An element of a page, or a text in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
    /// What its server knows it by (`uid` or `ref`), which lives as long as the snapshot. Texts may have none.
    pub id: String,
    /// Its role; empty for text.
    pub role: String,
    /// Its accessible name, with single spaces; of a text the text.
    pub name: String,
    /// What stands after the name: flags and values.
    pub attributes: String,
    /// The element that it is in, by its place among the elements.
    pub parent: Option<usize>,
    /// The place after the last element inside it.
    pub end: usize,
}

/// A snapshot with more elements than are read, or deeper ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge {
    /// The bound.
    pub limit: usize,
}

/// A line of a snapshot.
struct Line {
    indentation: usize,
    element: Element,
}

impl Snapshot {
    /// Reads the lines of a server's answer that are elements, and leaves out the rest.
    ///
    /// # Errors
    /// If there are more than 100,000.
    pub fn read(answer: &str) -> Result<Self, TooLarge> {
        let is_devtools = answer
            .lines()
            .any(|line| line.trim_start_matches(' ').starts_with("uid="));
        match is_devtools {
            true => devtools::read(answer),
            false => aria::read(answer),
        }
    }

    /// The tree of lines: each is inside the last one before it that is indented less.
    fn of_lines(lines: impl Iterator<Item = Line>) -> Result<Self, TooLarge> {
        let mut elements: Vec<Element> = Vec::new();
        // The elements that the next line may be in, with their indentation.
        let mut open: Vec<(usize, usize)> = Vec::new();
        for Line {
            indentation,
            mut element,
        } in lines
        {
            if elements.len() == MOST_ELEMENTS {
                return Err(TooLarge {
                    limit: MOST_ELEMENTS,
                });
            }
            while open.last().is_some_and(|(other, _)| *other >= indentation) {
                if let Some((_, index)) = open.pop() {
                    elements[index].end = elements.len();
                }
            }
            element.parent = open.last().map(|(_, index)| *index);
            // What is nested deeper stays beside the deepest.
            if open.len() < DEEPEST {
                open.push((indentation, elements.len()));
            }
            element.end = elements.len() + 1;
            elements.push(element);
        }
        for (_, index) in open {
            elements[index].end = elements.len();
        }
        Ok(Self { elements })
    }

    /// The elements that have this attribute with a value in which `word` is one of the words, by their places.
    pub fn with_attribute_word<'a>(
        &'a self,
        name: &str,
        word: &'a str,
    ) -> impl Iterator<Item = usize> + 'a {
        let start = format!(" {name}=\"");
        self.elements
            .iter()
            .enumerate()
            .filter(move |(_, element)| {
                element
                    .attributes
                    .split_once(&start)
                    .and_then(|(_, rest)| rest.split_once('"'))
                    .is_some_and(|(value, _)| value.split(' ').any(|found| found == word))
            })
            .map(|(index, _)| index)
    }

    /// The element that a server knows by this id, by its place.
    pub fn by_id(&self, id: &str) -> Option<usize> {
        self.elements
            .iter()
            .position(|element| !id.is_empty() && element.id == id && element.role != LINE_OF_TEXT)
    }

    /// The text inside an element, with single spaces, unless that is a large part of the page.
    pub(super) fn text(&self, index: usize) -> Option<String> {
        let end = self.elements[index].end;
        if end - index > MOST_INSIDE {
            return None;
        }
        let (mut text, mut at) = (String::new(), index);
        while at < end {
            let element = &self.elements[at];
            // A text is broken into the lines that it takes on the page; what has nothing inside is its name.
            let is_leaf = element.role.is_empty() || element.end == at + 1;
            if is_leaf {
                text.push(' ');
                text.push_str(&element.name);
            }
            at = if is_leaf { element.end } else { at + 1 };
        }
        Some(single_spaces(&text)).filter(|text| !text.is_empty())
    }

    /// The elements that one is in, innermost first.
    pub(super) fn ancestors(&self, index: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.elements[index].parent, |&outer| {
            self.elements[outer].parent
        })
    }
}

/// A role as ARIA calls it, where servers or older versions of ARIA call it otherwise; empty for mere text.
pub(super) fn plain_role(role: &str) -> &str {
    match role {
        "StaticText" | "text" => "",
        "image" => "img",
        "Iframe" | "IframePresentational" => "iframe",
        role => role,
    }
}

/// The words of a text with one space between.
pub fn single_spaces(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !spaced.is_empty() {
            spaced.push(' ');
        }
        spaced.push_str(word);
    }
    spaced
}
