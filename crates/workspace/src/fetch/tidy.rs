//! A page made harmless before it is converted.
//!
//! One pass over the source gives HTML that is nested properly and to a bounded depth, has a bounded
//! number of elements, and only such elements and attributes as mean something in Markdown. Everything
//! else is transparent: its text stays. Scripts, styles and drawings go with all that is in them.

mod elements;
mod scan;

use elements::{
    CELLS, Content, clean_url, content_of, is_inline, is_markup_inside, is_table_frame,
    is_table_part, language_of, meaning,
};
use scan::{Scanner, Tag, Token};

/// How deep elements nest at most; what is deeper is joined to its surroundings.
pub(super) const MAX_DEPTH: usize = 100;
/// How deep lists and quotes nest: each level indents all the lines in it.
const MAX_INDENTING: usize = 12;
/// How many elements a page may have; what follows is left out.
const MAX_ELEMENTS: usize = 250_000;
/// What came of a page.
pub(super) struct Tidied {
    pub(super) html: String,
    /// Whether the page had more elements than are converted.
    pub(super) truncated: bool,
}

/// Tidies a page; `xml` if it is XHTML, where `<div/>` is a whole element.
pub(super) fn tidy(page: &str, xml: bool) -> Tidied {
    let mut tidy = Tidy {
        html: String::new(),
        stack: Vec::new(),
        elements: 0,
        in_pre: Pre::No,
        swallowed: Vec::new(),
    };
    let mut scanner = Scanner::new(page);
    while let Some(token) = scanner.next() {
        if tidy.elements >= MAX_ELEMENTS {
            return Tidied {
                html: tidy.html,
                truncated: true,
            };
        }
        match token {
            Token::Text(text) => tidy.text(text),
            Token::Start(tag) => {
                let empty = xml && tag.self_closing;
                match content_of(&tag.name) {
                    Content::Dropped if empty => {}
                    // Raw content goes on to the end of the page if nothing ends it.
                    Content::Dropped => {
                        scanner.skip_past_end(&tag.name, !is_markup_inside(&tag.name));
                    }
                    Content::Raw => {
                        let text = scanner.raw_content(&tag.name);
                        tidy.raw_text(&tag.name, text);
                    }
                    Content::Markup => {
                        tidy.start(&tag);
                        if empty {
                            tidy.end(&tag.name);
                        }
                    }
                }
            }
            Token::End(name) => tidy.end(&name),
        }
    }
    Tidied {
        html: tidy.html,
        truncated: false,
    }
}

struct Open {
    name: &'static str,
    written: &'static str,
}

/// Preformatted text is written as `<pre><code>…</code></pre>` with nothing but text in it.
#[derive(PartialEq, Eq)]
enum Pre {
    No,
    /// The `code` is still to be written: the page's own may come and name a language.
    Pending,
    Yes,
}

struct Tidy {
    html: String,
    stack: Vec<Open>,
    elements: usize,
    in_pre: Pre,
    /// Elements left out inside preformatted text, whose end tags mean nothing outside.
    swallowed: Vec<(&'static str, usize)>,
}

impl Tidy {
    fn text(&mut self, text: &str) {
        let mut text = text;
        if self.in_pre == Pre::Pending {
            // A line end right after `<pre>` is not part of it.
            text = text.strip_prefix('\r').unwrap_or(text);
            text = text.strip_prefix('\n').unwrap_or(text);
            if text.is_empty() {
                return;
            }
            self.open_code("");
        }
        // The marks of the converter are control characters; no text needs any.
        for piece in
            text.split(|c: char| c.is_ascii_control() && !matches!(c, '\t' | '\n' | '\r' | '\x0C'))
        {
            self.html.push_str(piece);
        }
    }

    fn raw_text(&mut self, name: &str, text: &str) {
        let text = text.replace('<', "&lt;");
        if name == "title"
            && self.in_pre == Pre::No
            && !self.stack.iter().any(|open| open.name == "table")
        {
            self.elements += 1;
            self.html.push_str("<div>");
            self.text(&text);
            self.html.push_str("</div>");
        } else {
            self.text(&text);
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        let Some((name, written)) = meaning(&tag.name) else {
            return;
        };
        self.elements += 1;
        if self.in_pre != Pre::No {
            self.start_in_pre(name, tag);
            return;
        }
        self.close_implied(name);
        let top = self.stack.last().map(|open| open.name);
        if is_table_part(name) {
            if !self.may_stand_in(name, top) {
                return;
            }
        } else if top.is_some_and(is_table_frame) {
            // It would be moved before the table.
            return;
        }
        match name {
            "br" | "hr" => self
                .html
                .push_str(if name == "br" { "<br>" } else { "<hr>" }),
            "img" => self.image(tag),
            _ => self.push(name, written, tag),
        }
    }

    /// Whether the part of a table named `name` may be opened where `top` is the innermost element.
    fn may_stand_in(&self, name: &str, top: Option<&str>) -> bool {
        match name {
            "td" | "th" => top.is_some_and(is_table_frame),
            "tr" => matches!(top, Some("table" | "thead" | "tbody" | "tfoot")),
            _ => top == Some("table"),
        }
    }

    fn push(&mut self, name: &'static str, written: &'static str, tag: &Tag<'_>) {
        let indenting = |name: &str| matches!(name, "ul" | "ol" | "blockquote");
        let nested = self
            .stack
            .iter()
            .filter(|open| indenting(open.written))
            .count();
        let again = matches!(name, "strong" | "em" | "code")
            && self.stack.iter().any(|open| open.name == name);
        if self.stack.len() >= MAX_DEPTH || again || indenting(written) && nested >= MAX_INDENTING {
            if !is_inline(name) {
                self.html.push(' ');
            }
            return;
        }
        if matches!(name, "strong" | "em" | "code") && self.rejoin(written) {
            self.stack.push(Open { name, written });
            return;
        }
        self.html.push('<');
        self.html.push_str(written);
        match name {
            "a" => self.attribute("href", tag.href.as_deref().and_then(clean_url)),
            "ol" => {
                let start = tag.start.as_deref().filter(|start| {
                    (1..=6).contains(&start.len())
                        && start.bytes().all(|byte| byte.is_ascii_digit())
                });
                self.attribute("start", start.map(str::to_owned));
            }
            _ => {}
        }
        self.html.push('>');
        self.stack.push(Open { name, written });
        if name == "pre" {
            self.in_pre = Pre::Pending;
            if let Some(language) = language_of(tag) {
                self.open_code(language);
            }
        }
    }

    /// `</em><em>` is no boundary. Many of them in a row would cost the converter dearly.
    fn rejoin(&mut self, written: &str) -> bool {
        let joined = self
            .html
            .strip_suffix('>')
            .and_then(|html| html.strip_suffix(written))
            .and_then(|html| html.strip_suffix("</"))
            .map(str::len);
        if let Some(length) = joined {
            self.html.truncate(length);
        }
        joined.is_some()
    }

    fn start_in_pre(&mut self, name: &'static str, tag: &Tag<'_>) {
        match name {
            "code" => {
                if self.in_pre == Pre::Pending {
                    self.open_code(language_of(tag).unwrap_or_default());
                }
            }
            "br" => self.text("\n"),
            "hr" | "img" => {}
            _ => {
                match self
                    .swallowed
                    .iter_mut()
                    .find(|(swallowed, _)| *swallowed == name)
                {
                    Some((_, count)) => *count += 1,
                    None => self.swallowed.push((name, 1)),
                }
                if !is_inline(name) && !self.html.ends_with(['\n', '>']) {
                    self.text("\n");
                }
            }
        }
    }

    fn open_code(&mut self, language: &str) {
        self.in_pre = Pre::Yes;
        if language.is_empty() {
            self.html.push_str("<code>");
        } else {
            self.html.push_str("<code class=\"language-");
            self.html.push_str(language);
            self.html.push_str("\">");
        }
        self.stack.push(Open {
            name: "code",
            written: "code",
        });
    }

    fn image(&mut self, tag: &Tag<'_>) {
        let source = tag.src.as_deref().and_then(clean_url);
        let description = tag.alt.as_deref().unwrap_or_default();
        if source.is_some() {
            self.html.push_str("<img");
            self.attribute("src", source);
            self.attribute("alt", Some(description.to_owned()));
            self.html.push('>');
        } else {
            self.text(&description.replace('<', "&lt;"));
        }
    }

    fn attribute(&mut self, name: &str, value: Option<String>) {
        let Some(value) = value else { return };
        self.html.push(' ');
        self.html.push_str(name);
        self.html.push_str("=\"");
        for piece in value.split(|c: char| c.is_ascii_control()) {
            self.html.push_str(&piece.replace('"', "&quot;"));
        }
        self.html.push('"');
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

    /// Closes the innermost open element of these names with all in it, unless one of `bounds` is
    /// further in.
    fn close_nearest(&mut self, names: &[&str], bounds: &[&str]) {
        for index in (0..self.stack.len()).rev() {
            let name = self.stack[index].name;
            if names.contains(&name) {
                self.close_to(index);
                return;
            }
            if bounds.contains(&name) {
                return;
            }
        }
    }

    fn close_to(&mut self, length: usize) {
        while self.stack.len() > length {
            let Some(open) = self.stack.pop() else { return };
            if open.name == "pre" {
                self.in_pre = Pre::No;
                self.swallowed.clear();
            }
            self.html.push_str("</");
            self.html.push_str(open.written);
            self.html.push('>');
        }
    }

    fn end(&mut self, name: &str) {
        let Some((name, _)) = meaning(name) else {
            return;
        };
        if self.in_pre != Pre::No {
            if name == "code" {
                return;
            }
            if let Some((_, count)) = self
                .swallowed
                .iter_mut()
                .find(|(swallowed, count)| *swallowed == name && *count > 0)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn html(page: &str) -> String {
        tidy(page, false).html
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
        assert_eq!(html("a<svg>b"), "ab");
        assert_eq!(
            html("<section><header>x</header></section>"),
            "<div><div>x</div></div>"
        );
        assert_eq!(tidy("<script src=x /><div/>a", true).html, "<div></div>a");
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
            "<table><td>a</td><tr><td>b</td></tr><tfoot><td>c</td></tfoot></table>"
        );
        assert_eq!(
            html("<table><div><b>x</b><tr><td>y</table>"),
            "<table>x<tr><td>y</td></tr></table>"
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
        assert_eq!(html("<pre>\n<code> a"), "<pre><code> a");
        assert_eq!(html("<pre><code class='language-\"><x'>a"), "<pre><code>a");
    }

    #[test]
    fn attributes_are_few_and_clean() {
        assert_eq!(
            html("<a onclick=x HREF='a\"b\n' id=y>t</a><a href=javascript:x>u</a><a href>v</a>"),
            "<a href=\"a&quot;b\">t</a><a>u</a><a>v</a>"
        );
        assert_eq!(
            html("<img src=a.png alt='x > y'><img src=data:abc alt='<b>'>"),
            "<img src=\"a.png\" alt=\"x > y\">&lt;b>"
        );
        assert_eq!(
            html("<ol start=7><li></ol><ol start=-1>"),
            "<ol start=\"7\"><li></li></ol><ol>"
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
        let many = tidy(&"<hr>".repeat(MAX_ELEMENTS + 10), false);
        assert!(many.truncated);
        assert_eq!(many.html.len(), 4 * MAX_ELEMENTS);
    }
}
