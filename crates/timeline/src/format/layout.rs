//! The layout of a timeline's text: the order of its keys, blank lines, white space at the ends of lines. Indentation,
//! quotes, comments and everything inside of texts stay.

use super::{fields, parse};
use cuecard_source::SourceFile;
use cuecard_source::diagnostic::Diagnostic;
use cuecard_source::json::{Node, NodeKind};

/// The text of a timeline in its layout, which says the same; `None` if it is laid out so already, or if that can't be
/// done without a change of what it says.
///
/// - A line ends with a line feed and without white space before it; the last line ends too.
/// - There are no two blank lines in a row, and none at the beginning or the end.
/// - The keys at the top stand in the order of the format, each with the comments right above it.
///
/// # Errors
///
/// The text is no YAML, or no timeline.
pub fn layout(source: &SourceFile) -> Result<Option<String>, Vec<Diagnostic>> {
    let (root, _) = parse::parse(source)?;
    if let Some(diagnostic) = parse::refuse(source, &root) {
        return Err(vec![diagnostic]);
    }
    let is_same = |text: &str| {
        let again = SourceFile::new(source.name(), text);
        parse::parse(&again).is_ok_and(|(again, _)| again.to_value() == root.to_value())
    };
    let lines = Lines::new(source, &root);
    let candidates = [
        lines.in_order(&root),
        Some((0..lines.texts.len()).collect()),
    ];
    let text = candidates
        .into_iter()
        .flatten()
        .map(|order| lines.text(&order))
        .find(|text| is_same(text));
    Ok(text.filter(|text| text != source.text()))
}

struct Lines<'a> {
    /// Without line ends.
    texts: Vec<&'a str>,
    /// Whether the line is in the middle of a text, so that its white space may mean something.
    is_inside: Vec<bool>,
    /// The offset of each line.
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn new(source: &'a SourceFile, root: &Node) -> Self {
        let mut texts = Vec::new();
        let mut starts = Vec::new();
        let mut at = 0;
        for line in source.text().split_inclusive('\n') {
            starts.push(at);
            at += line.len();
            let line = line.strip_suffix('\n').unwrap_or(line);
            texts.push(line.strip_suffix('\r').unwrap_or(line));
        }
        if let Some(first) = texts.first_mut() {
            *first = first.trim_start_matches('\u{feff}');
        }
        let mut lines = Self {
            is_inside: vec![false; texts.len()],
            texts,
            starts,
        };
        let mut nodes = vec![root];
        while let Some(node) = nodes.pop() {
            match &node.kind {
                NodeKind::Array(items) => nodes.extend(items),
                NodeKind::Object(members) => {
                    nodes.extend(members.iter().map(|member| &member.value));
                }
                NodeKind::String(_) => lines.protect(node, source),
                _ => {}
            }
        }
        lines
    }

    /// Keeps the lines of a text that has several. A text in a block may hold the blank lines below it.
    fn protect(&mut self, node: &Node, source: &SourceFile) {
        let (start, end) = (node.span.start as usize, node.span.end as usize);
        let below = self.starts.partition_point(|line| *line <= start);
        // The span of a text in a block may begin below the `|`.
        let is_below_its_mark = below >= 2
            && source.text()[self.starts[below - 1]..start]
                .trim()
                .is_empty()
            && is_mark(self.texts[below - 2]);
        let is_block = is_below_its_mark || source.slice(node.span).starts_with(['|', '>']);
        let first = if is_below_its_mark { below - 1 } else { below };
        let mut next = self.starts.partition_point(|line| *line < end).max(first);
        while is_block
            && self
                .texts
                .get(next)
                .is_some_and(|line| line.trim().is_empty())
        {
            next += 1;
        }
        self.is_inside[first..next].fill(true);
    }

    /// The lines with the keys at the top in their order; `None` if they can't be told apart by lines.
    fn in_order(&self, root: &Node) -> Option<Vec<usize>> {
        let mut begins = Vec::new();
        for member in root.members() {
            let key = member.key_span.start as usize;
            let line = self.starts.binary_search(&key).ok()?;
            begins.push((line, rank(&member.key)));
        }
        begins.sort_unstable();
        // What stands above the first key is about the file.
        let head = begins.first()?.0;
        let parts: Vec<(usize, usize)> = begins
            .iter()
            .enumerate()
            .map(|(idx, (line, rank))| match idx {
                0 => (*line, *rank),
                _ => (self.with_comments(*line, head), *rank),
            })
            .collect();
        let mut ordered: Vec<(usize, std::ops::Range<usize>)> = parts
            .iter()
            .enumerate()
            .map(|(idx, (line, rank))| {
                let end = parts.get(idx + 1).map_or(self.texts.len(), |next| next.0);
                (*rank, *line..end)
            })
            .collect();
        ordered.sort_by_key(|(rank, _)| *rank);
        let lines = ordered.into_iter().flat_map(|(_, lines)| lines);
        Some((0..head).chain(lines).collect())
    }

    /// The first of the comments right above a line.
    fn with_comments(&self, line: usize, head: usize) -> usize {
        let is_comment =
            |line: &usize| self.texts[*line].starts_with('#') && !self.is_inside[*line];
        let comments = (head..line).rev().take_while(is_comment);
        comments.last().unwrap_or(line)
    }

    fn text(&self, order: &[usize]) -> String {
        let mut text = String::new();
        let mut n_blank = 0;
        for &line in order {
            let written = self.texts[line];
            if self.is_inside[line] {
                text.push_str(&"\n".repeat(n_blank.min(1)));
                n_blank = 0;
                text.push_str(written);
            } else if written.trim().is_empty() {
                n_blank += 1;
                continue;
            } else {
                if !text.is_empty() {
                    text.push_str(&"\n".repeat(n_blank.min(1)));
                }
                n_blank = 0;
                text.push_str(written.trim_end_matches([' ', '\t']));
            }
            text.push('\n');
        }
        text
    }
}

/// Where a key at the top belongs. Unknown ones stand before the timeline, as settings do.
fn rank(key: &str) -> usize {
    let known = |key: &str| fields::ROOT.iter().position(|field| field.name == key);
    match known(key) {
        Some(at) => at * 2 + 1,
        None => known("timeline").map_or(0, |at| at * 2),
    }
}

/// Whether a line ends with the mark of a text in a block: `|`, `>-`, `|2+`, perhaps with a comment.
fn is_mark(line: &str) -> bool {
    let line = line.split(" #").next().unwrap_or_default();
    let line = line.trim_end();
    let rest = line.trim_end_matches(|end: char| end == '+' || end == '-' || end.is_ascii_digit());
    rest.ends_with(['|', '>'])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn laid_out(text: &str) -> Option<String> {
        layout(&SourceFile::new("a.yaml", text)).expect("a timeline")
    }

    #[test]
    fn keys_stand_in_order_with_their_comments() {
        let text = "# about the file\n\ntimeline:  \n  - log: a   # said\n\n\n\n# in the end\nexpect: {exitCode: 0}\n# its name\nname: x\nother: 1\n\n\n";
        let found = laid_out(text).expect("it changes");
        assert_eq!(
            found,
            "# about the file\n\n# its name\nname: x\nother: 1\n\ntimeline:\n  - log: a   # said\n\n# in the end\nexpect: {exitCode: 0}\n"
        );
        assert_eq!(laid_out(&found), None);
    }

    #[test]
    fn what_is_inside_of_texts_stays() {
        let text = "name: x\r\ntimeline:\n  - log: |\n      one  \n\n\n      two\n\n  - log: \"three  \n\n\n      four\"\n";
        let found = laid_out(text).expect("the line end changes");
        assert!(found.contains("one  \n\n\n      two\n"));
        assert!(found.contains("three\n\n\n      four"));
        assert_eq!(laid_out(&found), None);
    }

    #[test]
    fn what_can_not_be_told_apart_by_lines_stays() {
        assert_eq!(laid_out("{timeline: [], name: x}\n"), None);
        // The alias would come before its anchor.
        assert_eq!(laid_out("timeline: &t []\nname: x\ntags: *t\n"), None);
        assert!(layout(&SourceFile::new("a.yaml", "name: [")).is_err());
        assert!(layout(&SourceFile::new("a.yaml", "version: '2.1'\nsteps: []")).is_err());
    }

    fn line() -> impl Strategy<Value = String> {
        prop_oneof![
            Just(String::new()),
            Just("   ".to_owned()),
            Just("# a comment  ".to_owned()),
            Just("name: x ".to_owned()),
            Just("tags: [a,\n  b]".to_owned()),
            Just("description: |+\n  a  \n\n\n  b\n\n".to_owned()),
            Just("description: 'a\n\n\n  b'".to_owned()),
            Just("timeline:\n- log: >-\n    a\n\n    b  \n\n- complete".to_owned()),
            Just("expect: {exitCode: 0}\t".to_owned()),
            Just("other: a\n  b".to_owned()),
        ]
    }

    proptest! {
        #[test]
        fn the_layout_says_the_same_and_is_its_own_layout(
            lines in prop::collection::vec(line(), 0..9), end in prop::sample::select(vec!["", "\n", "\r\n\n"]),
        ) {
            let text = format!("{}{end}", lines.join("\n"));
            let source = SourceFile::new("a.yaml", text.as_str());
            if let Ok(Some(found)) = layout(&source) {
                let value = |text: &str| {
                    let source = SourceFile::new("a.yaml", text);
                    parse::parse(&source).expect("YAML").0.to_value()
                };
                prop_assert_eq!(value(&text), value(&found));
                let again = layout(&SourceFile::new("a.yaml", found.as_str())).expect("a timeline");
                prop_assert_eq!(again, None, "{:?}", found);
            }
        }
    }
}
