//! A page as a tree that is harmless to convert.
//!
//! One pass over the source gives a tree that is nested properly and to a bounded depth, has a bounded
//! number of elements, and only such elements and attributes as mean something in Markdown. Everything
//! else is transparent: its text stays. Scripts, styles and drawings go with all that is in them.

mod elements;

use std::cell::RefCell;
use std::rc::Rc;

use html5ever::{Attribute, LocalName, QualName, ns};
use html5gum::{StartTag, Token, Tokenizer};
use markup5ever_rcdom::{Node, NodeData};

use elements::{
    CELLS, DROPPED, attribute, clean_url, is_inline, is_table_frame, is_table_part, language_of,
    meaning, raw_state,
};

/// How deep elements nest at most; what is deeper is joined to its surroundings.
const MAX_DEPTH: usize = 100;
/// How deep lists and quotes nest: each level indents all the lines in it.
const MAX_INDENTING: usize = 12;
/// How many elements a page may have; what follows is left out.
const MAX_ELEMENTS: usize = 250_000;

/// The tree of a page, and whether the page had more elements than are converted; `xml` if it is XHTML, where `<div/>` is a
/// whole element.
pub(super) fn tidy(page: &str, xml: bool) -> (Rc<Node>, bool) {
    let document = Node::new(NodeData::Document);
    let mut tidy = Tidy {
        stack: vec![Open {
            name: "",
            node: Rc::clone(&document),
        }],
        n_elements: 0,
        in_pre: Pre::No,
        swallowed: Vec::new(),
    };
    let mut is_dropped = false;
    let mut tokens = Tokenizer::new(page);
    while let Some(Ok(token)) = tokens.next() {
        if tidy.n_elements >= MAX_ELEMENTS {
            return (document, true);
        }
        match token {
            Token::String(text) if !is_dropped => tidy.text(&String::from_utf8_lossy(&text)),
            Token::StartTag(tag) => {
                let name = String::from_utf8_lossy(&tag.name);
                let is_empty = xml && tag.self_closing;
                tidy.start(&name, &tag);
                if is_empty {
                    tidy.end(&name);
                } else if let Some((state, is_read)) = raw_state(&name) {
                    tokens.set_state(state);
                    is_dropped = !is_read;
                }
            }
            Token::EndTag(tag) => {
                is_dropped = false;
                tidy.end(&String::from_utf8_lossy(&tag.name));
            }
            _ => {}
        }
    }
    (document, false)
}

struct Open {
    /// The name by which an end tag finds it.
    name: &'static str,
    node: Rc<Node>,
}

/// Preformatted text is given as `<pre><code>…</code></pre>` with nothing but text in it.
#[derive(PartialEq, Eq)]
enum Pre {
    No,
    /// The `code` is still to come: the page's own may name a language.
    Pending,
    Yes,
}

struct Tidy {
    /// The open elements, behind the document.
    stack: Vec<Open>,
    n_elements: usize,
    in_pre: Pre,
    /// Elements left out inside preformatted text, whose end tags mean nothing outside.
    swallowed: Vec<(&'static str, usize)>,
}

impl Tidy {
    fn top(&self) -> &Open {
        &self.stack[self.stack.len() - 1]
    }

    fn text(&mut self, text: &str) {
        let mut text = text;
        if self.in_pre == Pre::Pending {
            // A line end right after `<pre>` is not part of it.
            text = text.strip_prefix('\n').unwrap_or(text);
            if text.is_empty() {
                return;
            }
            self.open_code(None);
        }
        // The marks of the converter are control characters; no text needs any.
        let is_mark = |letter: char| letter.is_ascii_control() && !"\t\n\x0C".contains(letter);
        let mut text = text.replace(is_mark, "");
        if self.stack.len() == 1 && self.top().node.children.borrow().is_empty() {
            text = text.trim_start().to_owned();
        }
        // What stands in no cell goes before the table.
        let is_misplaced = is_table_frame(self.top().name);
        let table = self.stack.iter().rposition(|open| open.name == "table");
        let table = table.filter(|_| is_misplaced);
        let parent = &self.stack[table.unwrap_or(self.stack.len()) - 1].node;
        let mut siblings = parent.children.borrow_mut();
        let at = siblings.len() - usize::from(table.is_some());
        let before = at.checked_sub(1).map(|before| &siblings[before].data);
        if let Some(NodeData::Text { contents }) = before {
            contents.borrow_mut().push_slice(&text);
        } else if !(is_misplaced && text.trim().is_empty()) {
            let node = Node::new(NodeData::Text {
                contents: RefCell::new(text.into()),
            });
            node.parent.set(Some(Rc::downgrade(parent)));
            siblings.insert(at, node);
        }
    }

    fn start(&mut self, name: &str, tag: &StartTag<()>) {
        if let Some(name) = DROPPED.iter().find(|known| **known == name) {
            self.start_dropped(name);
            return;
        }
        let Some((name, written)) = meaning(name) else {
            return;
        };
        self.n_elements += 1;
        if self.in_pre != Pre::No {
            self.start_in_pre(name, tag);
            return;
        }
        self.close_implied(name);
        let top = self.top().name;
        if is_table_part(name) {
            if !may_stand_in(name, top) {
                return;
            }
            if matches!(name, "td" | "th") && top != "tr" {
                self.open("tr", "tr", Vec::new());
            }
        } else if is_table_frame(top) {
            // It would be moved before the table.
            return;
        }
        match name {
            "br" | "hr" => {
                append(&self.top().node, element(name, Vec::new()));
            }
            "img" => self.image(tag),
            _ => self.push(name, written, tag),
        }
    }

    /// Begins what is left out as a whole, if it ends; else it is transparent.
    fn start_dropped(&mut self, name: &'static str) {
        self.n_elements += 1;
        if self.in_pre == Pre::Pending {
            self.open_code(None);
        }
        if self.stack.len() <= MAX_DEPTH {
            self.open(name, name, Vec::new());
        }
    }

    fn push(&mut self, name: &'static str, written: &str, tag: &StartTag<()>) {
        let is_indenting = |name: &str| matches!(name, "ul" | "ol" | "blockquote");
        let nested = self.stack.iter().filter(|open| is_indenting(open.name));
        let is_style = matches!(name, "strong" | "em" | "code");
        let is_again = is_style && self.stack.iter().any(|open| open.name == name);
        let is_too_deep = is_indenting(name) && nested.count() >= MAX_INDENTING;
        if self.stack.len() > MAX_DEPTH || is_again || is_too_deep {
            if !is_inline(name) {
                self.text(" ");
            }
            return;
        }
        // `</em><em>` is no boundary. Many of them in a row would cost the converter dearly.
        let last = self.top().node.children.borrow().last().cloned();
        if let Some(node) = last.filter(|last| is_style && name_of(last) == Some(written)) {
            self.stack.push(Open { name, node });
            return;
        }
        let attributes = match name {
            "a" => vec![(
                "href",
                attribute(tag, "href").and_then(|url| clean_url(&url)),
            )],
            "ol" => {
                let is_number = |start: &String| {
                    (1..=6).contains(&start.len())
                        && start.bytes().all(|byte| byte.is_ascii_digit())
                };
                vec![("start", attribute(tag, "start").filter(is_number))]
            }
            _ => Vec::new(),
        };
        self.open(name, written, attributes);
        if name == "pre" {
            self.in_pre = Pre::Pending;
            if let Some(language) = language_of(tag) {
                self.open_code(Some(language));
            }
        }
    }

    fn open(&mut self, name: &'static str, written: &str, attributes: Vec<(&str, Option<String>)>) {
        let node = element(written, attributes);
        append(&self.top().node, Rc::clone(&node));
        self.stack.push(Open { name, node });
    }

    fn start_in_pre(&mut self, name: &'static str, tag: &StartTag<()>) {
        match name {
            "code" => {
                if self.in_pre == Pre::Pending {
                    self.open_code(language_of(tag));
                }
            }
            "br" => self.text("\n"),
            "hr" | "img" => {}
            _ => {
                let mut swallowed = self.swallowed.iter_mut();
                match swallowed.find(|(known, _)| *known == name) {
                    Some((_, count)) => *count += 1,
                    None => self.swallowed.push((name, 1)),
                }
                let begins_line = match self.top().node.children.borrow().last() {
                    Some(last) => ends_line(last),
                    None => true,
                };
                if !is_inline(name) && !begins_line {
                    self.text("\n");
                }
            }
        }
    }

    fn open_code(&mut self, language: Option<String>) {
        self.in_pre = Pre::Yes;
        let class = language.map(|language| format!("language-{language}"));
        self.open("code", "code", vec![("class", class)]);
    }

    fn image(&mut self, tag: &StartTag<()>) {
        let source = attribute(tag, "src").and_then(|url| clean_url(&url));
        let description = attribute(tag, "alt").unwrap_or_default();
        let is_gap = |letter: char| letter.is_whitespace() || letter.is_control();
        let words = description.split(is_gap).filter(|word| !word.is_empty());
        let description = words.collect::<Vec<&str>>().join(" ");
        match source {
            Some(_) => {
                let attributes = vec![("src", source), ("alt", Some(description))];
                append(&self.top().node, element("img", attributes));
            }
            None => self.text(&description),
        }
    }

    /// Elements whose end tag the page may leave out.
    fn close_implied(&mut self, name: &str) {
        if !is_inline(name) {
            self.close_nearest(&["p"], CELLS);
        }
        match name {
            "a" => self.close_nearest(&["a"], CELLS),
            "li" => self.close_nearest(&["li"], &["ul", "ol", "td", "th", "caption", "table"]),
            "dt" | "dd" => {
                self.close_nearest(&["dt", "dd"], &["dl", "td", "th", "caption", "table"]);
            }
            "option" => self.close_nearest(&["option"], CELLS),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.close_nearest(&["h1", "h2", "h3", "h4", "h5", "h6"], CELLS);
            }
            // From the inside out; what a part may stand in stays open.
            "td" | "th" => self.close_nearest(&["td", "th", "caption"], &["table"]),
            "tr" => {
                self.close_nearest(&["td", "th", "caption"], &["table"]);
                self.close_nearest(&["tr"], &["table"]);
            }
            "thead" | "tbody" | "tfoot" | "caption" => {
                self.close_nearest(&["td", "th", "caption"], &["table"]);
                self.close_nearest(&["tr"], &["table"]);
                self.close_nearest(&["thead", "tbody", "tfoot"], &["table"]);
            }
            _ => {}
        }
    }

    /// Closes the innermost open element of these names with all in it, unless one of `bounds`, or something that is left
    /// out, is further in.
    fn close_nearest(&mut self, names: &[&str], bounds: &[&str]) {
        for index in (1..self.stack.len()).rev() {
            let name = self.stack[index].name;
            if names.contains(&name) {
                self.close_to(index);
                return;
            }
            if bounds.contains(&name) || DROPPED.contains(&name) {
                return;
            }
        }
    }

    fn close_to(&mut self, length: usize) {
        if self.stack[length..].iter().any(|open| open.name == "pre") {
            self.in_pre = Pre::No;
            self.swallowed.clear();
        }
        self.stack.truncate(length);
    }

    fn end(&mut self, name: &str) {
        if DROPPED.contains(&name) {
            if let Some(index) = self.stack.iter().rposition(|open| open.name == name) {
                self.close_to(index);
                self.top().node.children.borrow_mut().pop();
            }
            return;
        }
        let Some((name, _)) = meaning(name) else {
            return;
        };
        if self.in_pre != Pre::No {
            if name == "code" {
                return;
            }
            let mut swallowed = self.swallowed.iter_mut();
            if let Some((_, count)) = swallowed.find(|(known, count)| *known == name && *count > 0)
            {
                *count -= 1;
                return;
            }
        }
        let bounds: &[&str] = match name {
            "table" => &[],
            name if is_table_part(name) => &["table"],
            _ => CELLS,
        };
        self.close_nearest(&[name], bounds);
    }
}

/// Whether the part of a table named `name` may be opened where `top` is the innermost element.
fn may_stand_in(name: &str, top: &str) -> bool {
    match name {
        "td" | "th" => is_table_frame(top),
        "tr" => matches!(top, "table" | "thead" | "tbody" | "tfoot"),
        _ => top == "table",
    }
}

fn element(name: &str, attributes: Vec<(&str, Option<String>)>) -> Rc<Node> {
    let attributes = attributes.into_iter().filter_map(|(name, value)| {
        Some(Attribute {
            name: QualName::new(None, ns!(), LocalName::from(name)),
            value: value?.into(),
        })
    });
    Node::new(NodeData::Element {
        name: QualName::new(None, ns!(html), LocalName::from(name)),
        attrs: RefCell::new(attributes.collect()),
        template_contents: RefCell::default(),
        mathml_annotation_xml_integration_point: false,
    })
}

fn append(parent: &Rc<Node>, child: Rc<Node>) {
    child.parent.set(Some(Rc::downgrade(parent)));
    parent.children.borrow_mut().push(child);
}

fn ends_line(node: &Node) -> bool {
    matches!(&node.data, NodeData::Text { contents } if contents.borrow().ends_with('\n'))
}

fn name_of(node: &Node) -> Option<&str> {
    match &node.data {
        NodeData::Element { name, .. } => Some(&name.local),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(page: &str) -> String {
        written(&tidy(page, false).0)
    }

    /// A tree as HTML, without references for letters.
    fn written(node: &Node) -> String {
        let children = node.children.borrow();
        let children: String = children.iter().map(|child| written(child)).collect();
        match &node.data {
            NodeData::Element { name, attrs, .. } => {
                let attributes = attrs.borrow();
                let attributes = attributes
                    .iter()
                    .map(|it| format!(" {}={:?}", it.name.local, &*it.value));
                let start = format!("<{}{}>", name.local, attributes.collect::<String>());
                match &*name.local {
                    "br" | "hr" | "img" => start,
                    name => format!("{start}{children}</{name}>"),
                }
            }
            NodeData::Text { contents } => contents.borrow().to_string(),
            _ => children,
        }
    }

    #[test]
    fn what_means_nothing_is_transparent() {
        assert_eq!(
            html("<HTML lang=en><body><span class=a>x</span><custom-e>y</custom-e><b>z</B>"),
            "xy<strong>z</strong>"
        );
        assert_eq!(
            html("a<svg><title>t</title><path></svg>b<script>'<p>'</script>c<style>"),
            "abc"
        );
        assert_eq!(html("a<svg>b"), "a<svg>b</svg>");
        assert_eq!(
            html("<section><header>x</header></section>"),
            "<div><div>x</div></div>"
        );
        assert_eq!(
            written(&tidy("<script src=x /><div/>a", true).0),
            "<div></div>a"
        );
    }

    #[test]
    fn ends_are_supplied_where_they_may_be_missing() {
        assert_eq!(html("<p>a<p>b<div>c</div>"), "<p>a</p><p>b</p><div>c</div>");
        assert_eq!(
            html("<ul><li>a<li>b<ul><li>c</ul><li>d</ul>"),
            "<ul><li>a</li><li>b<ul><li>c</li></ul></li><li>d</li></ul>"
        );
        assert_eq!(
            html("<table><tr><td>a<td>b<tr><th>c</table>"),
            "<table><tr><td>a</td><td>b</td></tr><tr><th>c</th></tr></table>"
        );
        assert_eq!(
            html("<dl><dt>a<dd>b<dt>c</dl>"),
            "<div><div>a</div><div>b</div><div>c</div></div>"
        );
        assert_eq!(html("<p><em>a</p>b</em>"), "<p><em>a</em></p>b");
    }

    #[test]
    fn ends_that_match_nothing_are_left_out() {
        assert_eq!(html("a</p></div>b"), "ab");
        assert_eq!(
            html("<div><table><tr><td></div>x</table></div>"),
            "<div><table><tr><td>x</td></tr></table></div>"
        );
        assert_eq!(html("<td>x</td><tr>"), "x");
        assert_eq!(
            html("<table><td>a<tr><td>b<tfoot><td>c</table>"),
            "<table><tr><td>a</td></tr><tr><td>b</td></tr><tfoot><tr><td>c</td></tr></tfoot></table>"
        );
        assert_eq!(
            html("<table><div><b>x</b><tr><td>y</table>"),
            "x<table><tr><td>y</td></tr></table>"
        );
    }

    #[test]
    fn neighbours_of_one_kind_are_joined() {
        assert_eq!(
            html("<b>a</b><strong>b</strong> <b>c</b>"),
            "<strong>ab</strong> <strong>c</strong>"
        );
        assert_eq!(html("<em>a<i>b</i></em>"), "<em>ab</em>");
    }

    #[test]
    fn preformatted_text_is_code() {
        assert_eq!(
            html("<pre>a<b>b</b><br>c</pre>"),
            "<pre><code>ab\nc</code></pre>"
        );
        assert_eq!(
            html("<pre class=language-c++><code>a</code>\n<code>b</code></pre>"),
            "<pre><code class=\"language-c++\">a\nb</code></pre>"
        );
        assert_eq!(
            html("<div><pre><div>a</div><div>b</div></pre>c</div>"),
            "<div><pre><code>a\nb</code></pre>c</div>"
        );
        assert_eq!(html("<pre></pre>"), "<pre></pre>");
        assert_eq!(html("<pre>\n<code> a"), "<pre><code> a</code></pre>");
        assert_eq!(
            html("<pre><code class='language-\"><x'>a"),
            "<pre><code>a</code></pre>"
        );
    }

    #[test]
    fn attributes_are_few_and_clean() {
        assert_eq!(
            html("<a onclick=x HREF='a\"b\n' id=y>t</a><a href=javascript:x>u</a><a href>v</a>"),
            "<a href=\"a\\\"b\">t</a><a>u</a><a>v</a>"
        );
        assert_eq!(
            html("<img src=a.png alt='x > y'><img src=data:abc alt='<b>'>"),
            "<img src=\"a.png\" alt=\"x > y\"><b>"
        );
        assert_eq!(
            html("<ol start=7><li></ol><ol start=-1>"),
            "<ol start=\"7\"><li></li></ol><ol></ol>"
        );
    }

    #[test]
    fn depth_and_number_are_bounded() {
        let deep = html(&"<div>".repeat(1_000));
        assert_eq!(deep.matches("<div>").count(), MAX_DEPTH);
        assert_eq!(
            html(&"<blockquote>x".repeat(100))
                .matches("<blockquote>")
                .count(),
            MAX_INDENTING
        );
        let (many, is_truncated) = tidy(&"<hr>".repeat(MAX_ELEMENTS + 10), false);
        assert!(is_truncated);
        assert_eq!(many.children.borrow().len(), MAX_ELEMENTS);
    }
}
