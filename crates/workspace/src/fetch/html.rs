//! HTML to Markdown.
//!
//! The page is tidied first: the converter works by recursion and in places in quadratic time, so it gets
//! only what is nested to a bounded depth and made of the elements that mean something in Markdown.
//! Tables are written here: the converter pads each cell to the widest one of its column, which lets a
//! small page grow without bound, and loses the row headers.

use htmd::element_handler::Handlers;
use htmd::options::{BulletListMarker, Options};
use htmd::{Element, HtmlToMarkdown};

use super::tidy;

/// Marks for the parts of a table on their way to the table; the tidied page holds no such characters.
const ROW: char = '\u{1}';
const CELL: char = '\u{2}';
const HEADER_CELL: char = '\u{3}';

/// The Markdown of a page, and whether the page was too large to be converted whole.
pub(super) fn to_markdown(page: &str, xml: bool) -> (String, bool) {
    let (tree, is_truncated) = tidy::tidy(page, xml);
    let converter = HtmlToMarkdown::builder()
        .options(Options {
            bullet_list_marker: BulletListMarker::Dash,
            ul_bullet_spacing: 1,
            ol_number_spacing: 1,
            ..Options::default()
        })
        .add_handler(vec!["td"], |handlers: &dyn Handlers, cell: Element<'_>| {
            Some(marked(CELL, handlers, &cell).into())
        })
        .add_handler(vec!["th"], |handlers: &dyn Handlers, cell: Element<'_>| {
            Some(marked(HEADER_CELL, handlers, &cell).into())
        })
        .add_handler(vec!["tr"], |handlers: &dyn Handlers, row: Element<'_>| {
            Some(marked(ROW, handlers, &row).into())
        })
        .add_handler(
            vec!["table"],
            |handlers: &dyn Handlers, table: Element<'_>| {
                Some(table_text(&handlers.walk_children(table.node).content).into())
            },
        )
        .build();
    let mut markdown = converter.tree_to_markdown(&tree);
    markdown.retain(|c| !matches!(c, ROW | CELL | HEADER_CELL));
    (markdown, is_truncated)
}

fn marked(mark: char, handlers: &dyn Handlers, element: &Element<'_>) -> String {
    format!(
        "{mark}{}",
        handlers.walk_children(element.node).content.trim()
    )
}

struct Cell<'t> {
    text: &'t str,
    header: bool,
}

/// A table from its marked rows and cells. One that has no header cell, and either a single column or
/// whole paragraphs in its cells, is there for the layout: its cells are given one after the other.
fn table_text(content: &str) -> String {
    let mut parts = content.split(ROW);
    let caption = parts.next().unwrap_or_default().trim();
    let rows: Vec<Vec<Cell<'_>>> = parts
        .map(cells)
        .filter(|row| row.iter().any(|cell| !cell.text.is_empty()))
        .collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut all = rows.iter().flatten();
    let for_layout = columns <= 1 || all.clone().any(|cell| cell.text.contains("\n\n"));

    let mut text = String::from("\n\n");
    if !caption.is_empty() {
        text.push_str(caption);
        text.push_str("\n\n");
    }
    if for_layout && !all.any(|cell| cell.header) {
        for cell in rows.iter().flatten().filter(|cell| !cell.text.is_empty()) {
            text.push_str(cell.text);
            text.push_str("\n\n");
        }
        return text;
    }
    let mut body = rows.as_slice();
    match rows.first() {
        Some(first) if first.iter().all(|cell| cell.header) => {
            push_row(&mut text, first);
            body = &rows[1..];
        }
        // Markdown has no table without a header, and the first row may be as good as any other.
        _ => text.extend(
            ["|"]
                .into_iter()
                .chain(std::iter::repeat_n("  |", columns))
                .chain(["\n"]),
        ),
    }
    text.extend(
        ["|"]
            .into_iter()
            .chain(std::iter::repeat_n(" --- |", columns))
            .chain(["\n"]),
    );
    for row in body {
        push_row(&mut text, row);
    }
    text.push('\n');
    text
}

fn cells(row: &str) -> Vec<Cell<'_>> {
    let mut cells = Vec::new();
    let mut rest = row;
    while let Some(start) = rest.find([CELL, HEADER_CELL]) {
        let header = rest[start..].starts_with(HEADER_CELL);
        let after = &rest[start + 1..];
        let end = after.find([CELL, HEADER_CELL]).unwrap_or(after.len());
        cells.push(Cell {
            text: after[..end].trim(),
            header,
        });
        rest = &after[end..];
    }
    cells
}

fn push_row(text: &mut String, row: &[Cell<'_>]) {
    text.push('|');
    for cell in row {
        text.push(' ');
        for (index, line) in cell
            .text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .enumerate()
        {
            if index > 0 {
                text.push(' ');
            }
            text.push_str(&line.replace('|', "\\|"));
        }
        text.push_str(" |");
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn markdown(page: &str) -> String {
        let (markdown, truncated) = to_markdown(page, false);
        assert!(!truncated);
        markdown
    }

    #[test]
    fn a_page_becomes_markdown() {
        let page = "<!doctype html><html><head><title>T &amp; t</title><style>p{}</style>\
            <script>if (a < b) document.write('<p>no</p>')</script></head><body class=x>\
            <nav><a href='/home'>Home</a></nav>\
            <h1>Hello</h1><p>A <b>bold</b> and <i>slanted</i> <a href=\"https://x.test/?a=1&amp;b=2\">link</a>,\
            <code>x_y</code>.<p>Second<br>line<noscript>no</noscript><img src=a.png alt=\"An image\">\
            <ul><li>one<li>two<ol start=3><li>three</ol></ul>\
            <blockquote><p>quoted</p></blockquote><hr>\
            <pre><code class='hl language-rust'>fn main() {\n    1 &lt; 2\n}\n</code></pre>\
            <pre>plain <b>text</b>\n  kept</pre></body></html>";
        let expected = "\
T & t

[Home](/home)

# Hello

A **bold** and *slanted* [link](https://x.test/?a=1&b=2),`x_y`.

Second  \nline![An image](a.png)

- one
- two
  3. three

> quoted

* * *

```rust
fn main() {
    1 < 2
}
```

```
plain text
  kept
```";
        assert_eq!(markdown(page), expected);
    }

    #[test]
    fn tables_keep_every_cell() {
        let page = "<table><caption>Prices</caption><thead><tr><th>What</th><th>How | much</th></tr></thead>\
            <tbody><tr><th>Apple<td>1<br>2<tr><td>Pear<td><b>3</b><td>x</table>";
        assert_eq!(
            markdown(page),
            "Prices\n\n| What | How \\| much |\n| --- | --- | --- |\n| Apple | 1 2 |\n| Pear | **3** | x |"
        );
        assert_eq!(
            markdown("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>"),
            "|  |  |\n| --- | --- |\n| a | b |\n| c | d |"
        );
    }

    #[test]
    fn a_table_for_layout_is_its_cells() {
        let page = "<table><tr><td><p>one</p><p>two</p></td><td>three</td></tr></table>";
        assert_eq!(markdown(page), "one\n\ntwo\n\nthree");
        let nested =
            "<table><tr><td><table><tr><th>a</th><th>b</th></tr></table></td></tr></table>after";
        assert_eq!(markdown(nested), "| a | b |\n| --- | --- |\n\nafter");
    }

    #[test]
    fn text_that_looks_like_markdown_is_escaped() {
        assert_eq!(markdown("<p>*a* [b] 1 &lt; 2</p>"), "\\*a\\* \\[b\\] 1 < 2");
    }

    /// Pages made to hurt: each would take minutes, gigabytes or the stack if it went through as it is.
    #[test]
    fn hostile_pages_are_converted_in_bounds() {
        let size = 100_000;
        for piece in [
            "<div>",
            "<b>",
            "<b>x</b>",
            "<i>x</i><em>y</em>",
            "<a href=x>",
            "<ul><li>",
            "<blockquote>x",
            "<table><tr><td>",
            "<table><td></div>",
            "<p>",
            "</p>",
            "<span a",
            "<a b=c ",
            "<!--",
            "<",
            "&",
            "&#1;",
            "<svg>",
            "<pre>",
            "`",
            "<table><b>x</b>",
            "<div><table><td></div></table>",
            "<select>",
            "<math><mi>",
            "<font color=a>x</font>",
            "<tr><td>x",
            "<h1>",
            "<code>`",
            "<form>",
            "<button>",
            "<template>",
            "<title>",
            "<textarea>",
            "<dl><dt>",
            "<br>",
        ] {
            let page = piece.repeat(size / piece.len());
            let (markdown, _) = to_markdown(&page, false);
            assert!(markdown.len() < 40 * size, "{piece}: {}", markdown.len());
        }
        let wide = format!(
            "<table><tr>{}</tr>{}</table>",
            "<th>a".repeat(50_000),
            "<tr><td>b".repeat(50_000)
        );
        assert!(markdown_len(&wide) < 2_000_000);
        let long = format!(
            "<table><tr><th>{}</th></tr>{}</table>",
            "a".repeat(500_000),
            "<tr><td>b".repeat(50_000)
        );
        assert!(markdown_len(&long) < 2_000_000);
        let attributes: String = (0..100_000).map(|index| format!(" a{index}=b")).collect();
        assert_eq!(markdown(&format!("<p{attributes}>x</p>")), "x");
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config { failure_persistence: None, ..Default::default() })]

        /// The converter has places that panic; no page that was tidied may lead there.
        #[test]
        fn no_page_is_too_odd(pieces in proptest::collection::vec(proptest::sample::select(ODD), 0..80)) {
            to_markdown(&pieces.concat(), false);
            to_markdown(&pieces.concat(), true);
        }
    }

    const ODD: &[&str] = &[
        "<p>",
        "</p>",
        "<div>",
        "</div>",
        "<b>",
        "</b>",
        "<i>",
        "</i>",
        "<a href=x>",
        "</a>",
        "<ul>",
        "</ul>",
        "<ol start=0>",
        "</ol>",
        "<ol start=999999>",
        "<li>",
        "</li>",
        "<blockquote>",
        "</blockquote>",
        "<pre>",
        "</pre>",
        "<code>",
        "</code>",
        "<table>",
        "</table>",
        "<thead>",
        "<tbody>",
        "<tfoot>",
        "<tr>",
        "</tr>",
        "<td>",
        "</td>",
        "<th>",
        "</th>",
        "<caption>",
        "</caption>",
        "<h1>",
        "</h1>",
        "<h6>",
        "<hr>",
        "<br>",
        "<img src=a alt=b>",
        "<select>",
        "<option>",
        "<title>",
        "</title>",
        "<svg>",
        "</svg>",
        "<math>",
        "<template>",
        "</template>",
        "<script>",
        "</script>",
        "<!-- x -->",
        "<?xml x?>",
        "<!doctype html>",
        "<![CDATA[x]]>",
        "<body>",
        "</body>",
        "</html>",
        "<frameset>",
        "<form/>",
        "&amp;",
        "&#1;",
        "&#2;",
        "&lt;p>",
        "x",
        " ",
        "\n",
        "é",
        "|",
        "`",
        "```",
        "*",
        "# x",
        "1. x",
        "\u{1}",
        "\0",
        "<",
        "</",
        "<!--",
        "<a href='",
    ];

    fn markdown_len(page: &str) -> usize {
        to_markdown(page, false).0.len()
    }
}
