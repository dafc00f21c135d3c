//! How long it takes to find an element in a large snapshot, in milliseconds, for `benches/run`:
//! `cargo run --release -p cuecard-testing --example snapshots`. With the argument `smoke` everything is done once.

use std::fmt::Write as _;
use std::time::Instant;

use cuecard_page::{Around, Snapshot, Wanted};

/// Rows of a table, of ten lines each.
const ROWS: usize = 1_000;

/// How often each is done.
const TIMES: usize = 101;

fn main() {
    let is_smoke = std::env::args().nth(1).is_some_and(|size| size == "smoke");
    let times = if is_smoke { 1 } else { TIMES };
    let row = |number: usize| {
        Some(Around {
            role: Some("row".to_owned()),
            name: Some(format!("Invoice {number}")),
            text: None,
        })
    };
    let by_place = Wanted {
        role: Some("button".to_owned()),
        name: Some("Delete".to_owned()),
        within: row(ROWS - 1),
        ..Wanted::default()
    };
    let by_text = Wanted {
        text: Some(format!("total of {}", ROWS - 1)),
        ..Wanted::default()
    };
    let nothing = Wanted {
        text: Some("Delete everything".to_owned()),
        ..Wanted::default()
    };
    for (server, snapshot) in [
        ("chrome-devtools-mcp", devtools()),
        ("@playwright/mcp", playwright()),
    ] {
        for (what, wanted) in [
            ("role, name, row", &by_place),
            ("text", &by_text),
            ("nothing fits", &nothing),
        ] {
            let mut took: Vec<f64> = (0..times)
                .map(|_| {
                    let started = Instant::now();
                    let read = Snapshot::read(&snapshot).expect("it is not too large");
                    let found = read.meant(wanted);
                    let took = started.elapsed();
                    assert_eq!(found.is_ok(), what != "nothing fits", "{server} {what}");
                    took.as_secs_f64() * 1000.0
                })
                .collect();
            took.sort_by(f64::total_cmp);
            let lines = snapshot.lines().count();
            #[expect(clippy::print_stdout, reason = "it is what it is for")]
            {
                println!(
                    "{server}, {what}\t{lines}\t{:.2}\t{:.2}",
                    took[times / 2],
                    took[times - 1]
                );
            }
        }
    }
}

fn devtools() -> String {
    let mut text =
        "## Latest page snapshot\nuid=1_0 RootWebArea \"Invoices\" url=\"http://shop.example/\"\n"
            .to_owned();
    let mut id = 0;
    for number in 0..ROWS {
        for (depth, element) in [
            (1, "row".to_owned()),
            (2, format!("cell \"Invoice {number}\"")),
            (3, format!("\"Invoice {number}\"")),
            (4, format!("InlineTextBox \"Invoice {number}\"")),
            (2, format!("cell \"total of {number}\"")),
            (3, format!("\"total of {number}\"")),
            (2, "cell \"Delete Send\"".to_owned()),
            (3, "button \"Delete\" focusable".to_owned()),
            (3, "button \"Send\" focusable".to_owned()),
            (
                3,
                "textbox \"Note\" focusable value=\"a \"quoted\" one\"".to_owned(),
            ),
        ] {
            id += 1;
            let _ = writeln!(text, "{}uid=1_{id} {element}", "  ".repeat(depth));
        }
    }
    text
}

fn playwright() -> String {
    let mut text =
        "### Page\n- Page Title: Invoices\n### Snapshot\n```yaml\n- table [ref=e1]:\n".to_owned();
    let mut id = 1;
    for number in 0..ROWS {
        for (depth, element, rest) in [
            (1, "row".to_owned(), ":"),
            (2, format!("cell \"Invoice {number}\""), ""),
            (2, "cell".to_owned(), ":"),
            (3, "paragraph".to_owned(), &*format!(": total of {number}")),
            (3, "link \"More\"".to_owned(), ":"),
            (4, "/url: \"/more\"".to_owned(), ""),
            (2, "cell".to_owned(), ":"),
            (3, "button \"Delete\"".to_owned(), ""),
            (3, "button \"Send\"".to_owned(), ""),
            (3, "textbox \"Note\"".to_owned(), ": a quoted one"),
        ] {
            id += 1;
            let indent = "  ".repeat(depth);
            let _ = match element.starts_with('/') {
                true => writeln!(text, "{indent}- {element}"),
                false => writeln!(text, "{indent}- {element} [ref=e{id}]{rest}"),
            };
        }
    }
    text + "```\n"
}
