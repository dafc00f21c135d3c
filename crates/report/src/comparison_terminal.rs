//! How two traces or two runs of tests differ, as people read it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Style, counted};
use cuecard_judge::compare::{
    AssertionDifference, Change, Comparison, Difference, How, Part, Place, TestDifference,
};
use cuecard_source::value::{Json, printable};

/// More differences are not shown.
const MAX_SHOWN: usize = 200;

/// More changed values of one event are not shown.
const MAX_CHANGES: usize = 20;

/// More lines of a changed text are not shown.
const MAX_LINES: usize = 12;

/// How far the values that changed stand in.
const INDENT: &str = "    ";

/// Two traces, called `first` and `second`: a line each difference, the values that changed below it, the counts at
/// the end. Each line has a newline.
pub fn traces(style: Style, first: &str, second: &str, comparison: &Comparison) -> String {
    let all = &comparison.differences;
    if all.is_empty() {
        return same(first, second);
    }
    let mut text = heading(style, first, second);
    for one in all.iter().take(MAX_SHOWN) {
        difference(&mut text, style, one);
    }
    let counted = all.iter().map(|one| (one.part.as_str(), one.how.as_str()));
    end(&mut text, style, all.len(), counted);
    text
}

/// The results of two runs, called `first` and `second`, likewise.
pub fn results(style: Style, first: &str, second: &str, all: &[TestDifference]) -> String {
    if all.is_empty() {
        return same(first, second);
    }
    let mut text = heading(style, first, second);
    for one in all.iter().take(MAX_SHOWN) {
        test(&mut text, style, one);
    }
    let counted = all.iter().map(|one| {
        let how = match (&one.was, &one.is) {
            (None, _) => "added",
            (_, None) => "removed",
            _ => "changed",
        };
        ("test", how)
    });
    end(&mut text, style, all.len(), counted);
    text
}

fn same(first: &str, second: &str) -> String {
    format!(
        "no difference: {} and {}\n",
        printable(first),
        printable(second)
    )
}

fn heading(style: Style, first: &str, second: &str) -> String {
    let line = format!(
        "{} {} {}",
        printable(first),
        style.symbol("→", "->"),
        printable(second)
    );
    format!("{}\n\n", style.strong(&line))
}

/// `3 differences · 2 calls added · 1 output changed`.
fn end<'a>(
    text: &mut String,
    style: Style,
    count: usize,
    all: impl Iterator<Item = (&'a str, &'a str)>,
) {
    if count > MAX_SHOWN {
        let _ = writeln!(
            text,
            "and {} more: `--json` has them all",
            count - MAX_SHOWN
        );
    }
    let mut counts: Vec<((&str, &str), usize)> = Vec::new();
    let mut rows: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for kind in all {
        let row = *rows.entry(kind).or_insert_with(|| {
            counts.push((kind, 0));
            counts.len() - 1
        });
        counts[row].1 += 1;
    }
    let mut facts = vec![counted(count, "difference")];
    if count > 1 {
        facts.extend(counts.into_iter().map(|((what, how), count)| {
            let what = match (what, count) {
                ("memory", 2..) => "memories".to_owned(),
                ("status" | "trace", _) | (_, 1) => what.to_owned(),
                (what, _) => format!("{what}s"),
            };
            format!("{count} {what} {how}")
        }));
    }
    let mut line = String::new();
    for fact in facts {
        let length = line.chars().count() + fact.chars().count() + style.dot().chars().count();
        if length > style.width && !line.is_empty() {
            let _ = write!(text, "\n{}", std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push_str(style.dot());
        }
        line.push_str(&fact);
    }
    let _ = writeln!(text, "\n{line}");
}

fn difference(text: &mut String, style: Style, one: &Difference) {
    let mark = match one.how {
        How::Added => style.good("+"),
        How::Removed => style.bad("-"),
        How::Moved => style.doubtful(style.symbol("↕", "^")),
        How::Changed => style.doubtful("~"),
    };
    let place = one.new.as_ref().or(one.old.as_ref());
    let mut head = format!(
        "{:17}",
        format!("{} {}", one.part.as_str(), one.how.as_str())
    );
    if let Some(place) = place {
        let what = place.tool.as_ref().unwrap_or(&place.kind);
        let _ = write!(head, " {}   {}", printable(what), events(style, one));
    }
    let head = head.trim_end();
    let _ = write!(text, "{mark} {head}");
    if let Some(place) = place.filter(|_| one.how != How::Changed) {
        let used = head.chars().count() + 5;
        let room = style.width.saturating_sub(used);
        // A few characters say nothing.
        if !place.text.is_empty() && room >= 8 {
            let shown = style.shortened(&place.text, room.saturating_sub(1));
            let _ = write!(text, "   {}", style.faint(&printable(&shown)));
        }
    }
    text.push('\n');
    for change in one.changes.iter().take(MAX_CHANGES) {
        changed(text, style, one.part, change, place);
    }
    if one.changes.len() > MAX_CHANGES {
        let _ = writeln!(text, "{INDENT}and {} more", one.changes.len() - MAX_CHANGES);
    }
}

/// `event 4`, or where it was and where it is.
fn events(style: Style, one: &Difference) -> String {
    match (&one.old, &one.new) {
        (Some(old), Some(new)) if old.seq != new.seq => {
            format!("event {} {} {}", old.seq, style.symbol("→", "->"), new.seq)
        }
        (_, Some(place)) | (Some(place), None) => format!("event {}", place.seq),
        (None, None) => String::new(),
    }
}

/// `/args/people   4 → 5`, or the lines of a long text.
fn changed(text: &mut String, style: Style, part: Part, change: &Change, place: Option<&Place>) {
    let pointer = match place {
        Some(place) => {
            let event = format!("/events/{}", place.index);
            let below = change.pointer.strip_prefix(&event);
            let below = below.unwrap_or(&change.pointer);
            below.strip_prefix("/data").unwrap_or(below)
        }
        None => change.pointer.as_str(),
    };
    let name = match part {
        Part::Status => String::new(),
        _ => format!("{}   ", printable(pointer)),
    };
    let (was, is) = (shown(change.was.as_ref()), shown(change.is.as_ref()));
    let line = format!("{name}{was} {} {is}", style.symbol("→", "->"));
    let fits = INDENT.len() + line.chars().count() <= style.width;
    if fits && !is_text_of_lines(change) {
        let _ = writeln!(text, "{INDENT}{line}");
        return;
    }
    let _ = writeln!(text, "{INDENT}{}", name.trim_end());
    lines(text, style, "-", change.was.as_ref());
    lines(text, style, "+", change.is.as_ref());
}

fn is_text_of_lines(change: &Change) -> bool {
    let values = [&change.was, &change.is];
    let mut texts = values.into_iter().flatten().filter_map(Json::as_str);
    texts.any(|text| text.contains('\n'))
}

/// A value behind its mark, a text with its lines.
fn lines(text: &mut String, style: Style, mark: &str, value: Option<&Json>) {
    let value = match value {
        Some(Json::String(text)) => text.clone(),
        value => shown(value),
    };
    let room = style.width.saturating_sub(INDENT.len() + 5);
    let mut all = value.lines();
    for line in all.by_ref().take(MAX_LINES) {
        let line = format!("{mark} {}", printable(&style.shortened(line, room)));
        let line = match mark {
            "-" => style.bad(&line),
            _ => style.good(&line),
        };
        let _ = writeln!(text, "{INDENT}  {line}");
    }
    let more = all.count();
    if more > 0 {
        let _ = writeln!(text, "{INDENT}  {mark} and {more} more lines");
    }
}

fn shown(value: Option<&Json>) -> String {
    value.map_or_else(
        || "missing".to_owned(),
        |value| printable(&value.to_string()).into_owned(),
    )
}

fn test(text: &mut String, style: Style, one: &TestDifference) {
    let arrow = style.symbol("→", "->");
    let id = style.strong(&printable(&one.id));
    let file = one.is.as_ref().or(one.was.as_ref());
    let file = style.faint(&file.map_or_else(Default::default, |test| printable(&test.file)));
    let line = match (&one.was, &one.is) {
        (None, Some(is)) => format!("{} {id}   new: {}   {file}", style.good("+"), is.status),
        (Some(was), Some(is)) => {
            let status = match was.status == is.status {
                true => is.status.clone(),
                false => format!("{} {arrow} {}", was.status, is.status),
            };
            format!(
                "{} {id}   {}   {file}",
                style.doubtful("~"),
                painted(style, &status)
            )
        }
        (Some(was), None) => format!(
            "{} {id}   gone: was {}   {file}",
            style.bad("-"),
            was.status
        ),
        (None, None) => return,
    };
    let _ = writeln!(text, "{}", line.trim_end());
    if let Some(error) = one.is.as_ref().and_then(|is| is.error.as_ref()) {
        let room = style.width.saturating_sub(INDENT.len() + 1);
        let _ = writeln!(text, "{INDENT}{}", printable(&style.shortened(error, room)));
    }
    for assertion in &one.assertions {
        assertion_line(text, style, assertion);
    }
}

fn assertion_line(text: &mut String, style: Style, one: &AssertionDifference) {
    let arrow = style.symbol("→", "->");
    let (status, outcome) = match (&one.was, &one.is) {
        (None, Some(is)) => (format!("new: {}", is.status), is),
        (Some(was), Some(is)) if was.status != is.status => {
            (format!("{} {arrow} {}", was.status, is.status), is)
        }
        (Some(was), Some(is)) => (format!("{} {arrow} {}", was.kind, is.kind), is),
        (Some(was), None) => (format!("gone: was {}", was.status), was),
        (None, None) => return,
    };
    let _ = writeln!(
        text,
        "{INDENT}{}   {}   {}",
        printable(&one.id),
        style.faint(&printable(&outcome.kind)),
        painted(style, &status)
    );
    if one.is.is_some() && outcome.status != "pass" {
        let room = style.width.saturating_sub(INDENT.len() + 3);
        let message = style.shortened(&outcome.message, room);
        let _ = writeln!(text, "{INDENT}  {}", printable(&message));
    }
}

/// Green if it ends well.
fn painted(style: Style, status: &str) -> String {
    match status.rsplit(' ').next() {
        Some("pass") => style.good(status),
        Some("fail" | "error") => style.bad(status),
        _ => style.doubtful(status),
    }
}
