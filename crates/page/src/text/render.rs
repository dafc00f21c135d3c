//! Prints lines.

use super::Cut;
use super::lines::{Kind, Line, Zone};
use crate::dom::DomState;
use crate::snapshot::single_spaces;
use crate::words::cut_graphemes;
use cuecard_source::value::Json;

/// The longest title and address, in graphemes.
const LONGEST_TITLE: usize = 200;
const LONGEST_URL: usize = 2_000;

/// The text of a state whose lines are these.
pub(super) fn render(state: &DomState, lines: &[Line], cut: Option<&Cut>) -> String {
    let mut text = head(state);
    // Lines with something in them that is printed, for each zone.
    let mut required: Vec<[bool; 4]> = vec![[false; 4]; lines.len()];
    for (place, line) in lines.iter().enumerate().rev() {
        let zone = line.zone as usize;
        let is_own = !line.is_out && line.kind != Kind::Region;
        required[place][zone] |= is_own || line.more.is_some();
        if let Some(parent) = line.parent {
            let inner = required[place];
            for (outer, inner) in required[parent].iter_mut().zip(inner) {
                *outer |= inner;
            }
        }
    }
    let any = |zone: Zone| required.iter().any(|required| required[zone as usize]);
    let page = &state.page;
    let above = page.scroll.1;
    if above > 0.0 || any(Zone::Above) {
        text.push_str(&format!("above pixels={above:.0}\n"));
        zone(&mut text, lines, &required, Zone::Above, 1);
    }
    zone(&mut text, lines, &required, Zone::InView, 0);
    let below = (page.size.1 - page.scroll.1 - page.viewport.1).max(0.0);
    if below > 0.0 || any(Zone::Below) {
        text.push_str(&format!("below pixels={below:.0}\n"));
        zone(&mut text, lines, &required, Zone::Below, 1);
    }
    if any(Zone::Covered) {
        text.push_str("covered\n");
        zone(&mut text, lines, &required, Zone::Covered, 1);
    }
    if let Some(cut) = cut.filter(|cut| cut.elements + cut.texts > 0) {
        let (elements, texts) = (cut.elements, cut.texts);
        text.push_str(&format!(
            "… {elements} elements and {texts} texts left out\n"
        ));
    }
    text
}

fn head(state: &DomState) -> String {
    let page = &state.page;
    let mut text = format!(
        "url: {}\ntitle: {}\nviewport: {:.0}x{:.0} at {:.0},{:.0} of {:.0}x{:.0}\n",
        cut_graphemes(&one_line(&page.url), LONGEST_URL),
        cut_graphemes(&one_line(&page.title), LONGEST_TITLE),
        page.viewport.0,
        page.viewport.1,
        page.scroll.0,
        page.scroll.1,
        page.size.0,
        page.size.1,
    );
    if page.tabs.len() > 1 {
        for tab in &page.tabs {
            text.push_str(&format!(
                "tab {}/{}{}: {} {}\n",
                tab.page_index,
                page.tabs.len(),
                if tab.current { " current" } else { "" },
                cut_graphemes(&one_line(&tab.url), LONGEST_TITLE),
                quoted(&cut_graphemes(&one_line(&tab.title), LONGEST_TITLE)),
            ));
        }
    }
    text
}

/// Prints the lines of a zone, with those that they are in although these may stand elsewhere.
fn zone(text: &mut String, lines: &[Line], required: &[[bool; 4]], zone: Zone, least: usize) {
    // How deep each printed line stands.
    let mut depths: Vec<Option<usize>> = vec![None; lines.len()];
    for (place, line) in lines.iter().enumerate() {
        if !required[place][zone as usize] {
            continue;
        }
        let outer = std::iter::successors(line.parent, |&outer| lines[outer].parent);
        let above = outer.filter_map(|outer| depths[outer]).next();
        let depth = above.map_or(least, |depth| depth + 1);
        let indentation = "  ".repeat(depth);
        if let Some((count, like)) = line.more
            && line.zone == zone
        {
            text.push_str(&format!("{indentation}… {count} more like [{like}]\n"));
        }
        let is_own = line.zone == zone;
        // What is around a line of another zone gives it its place; an index stands once only.
        if line.is_out || (!is_own && line.kind == Kind::Element) {
            continue;
        }
        depths[place] = Some(depth);
        text.push_str(&indentation);
        if line.kind == Kind::Text {
            text.push_str("| ");
        }
        text.push_str(&line.head);
        text.push_str(&line.attributes);
        text.push('\n');
    }
}

/// A text with single spaces and without signs that could move or turn around what is printed.
pub(super) fn one_line(text: &str) -> String {
    let plain: String = text
        .chars()
        .map(|sign| if is_steering(sign) { ' ' } else { sign })
        .collect();
    single_spaces(&plain)
}

/// A JSON string on one line.
pub(super) fn quoted(text: &str) -> String {
    let json = Json::String(text.to_owned()).to_string();
    if !json.contains(is_steering) {
        return json;
    }
    let mut safe = String::with_capacity(json.len());
    for sign in json.chars() {
        match is_steering(sign) {
            true => safe.push_str(&format!("\\u{:04x}", u32::from(sign))),
            false => safe.push(sign),
        }
    }
    safe
}

/// A value as it is, if nothing in it could be taken for something else; else in quotes.
pub(super) fn bareword(text: &str) -> String {
    let is_bare = !text.is_empty()
        && text
            .chars()
            .all(|sign| sign.is_ascii_graphic() && !matches!(sign, '"' | '\\'));
    match is_bare {
        true => text.to_owned(),
        false => quoted(text),
    }
}

/// Control characters, line separators and what changes the direction of writing.
fn is_steering(sign: char) -> bool {
    sign.is_control()
        || matches!(sign, '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}
