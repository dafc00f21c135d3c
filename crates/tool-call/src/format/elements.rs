//! Reads `elements` of an expectation: which elements of a page there must be, and how many.

use super::fields;
use super::reader::{Object, Reader};
use super::target::{part, role, within};
use crate::model::{ExpectedElements, Target};
use cuecard_source::diagnostic::codes;
use cuecard_source::json::{Node, NodeKind};

const EXAMPLE: &str = "\"elements\": { \"role\": \"button\", \"name\": \"Delete\", \"count\": 3 }";

pub(super) fn elements(
    reader: &mut Reader<'_>,
    node: &Node,
    pointer: &str,
) -> Option<ExpectedElements> {
    let what = "`elements`";
    if !matches!(node.kind, NodeKind::Object(_)) {
        reader.wrong_type(
            node,
            pointer,
            what,
            "an object with `role`, `name` or `text`, and `count`",
        );
        return None;
    }
    let object = Object { node, pointer };
    reader.unknown_keys(object, fields::ELEMENTS, &[], what);
    let says_something = ["role", "name", "text"]
        .iter()
        .any(|name| reader.get(object, name).is_some());
    if !says_something {
        let message = "`elements` does not say which elements";
        let diagnostic = reader.error(codes::EXPECT_INVALID, node.span, message);
        diagnostic.pointer = Some(pointer.to_owned());
        diagnostic.help = Some(format!(
            "give their role, their name or their text: {EXAMPLE}"
        ));
        return None;
    }
    let target = Target {
        role: role(reader, object, "elements"),
        name: part(reader, object, "elements", "name"),
        text: part(reader, object, "elements", "text"),
        within: within(reader, object),
        span: node.span,
        ..Target::default()
    };
    let (least, most) = match reader.get(object, "count") {
        None => (1, None),
        Some(count) => bounds(reader, count, &object.child_pointer("count"))?,
    };
    Some(ExpectedElements {
        target,
        least,
        most,
    })
}

/// The least and the most that `count` allows.
fn bounds(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<(usize, Option<usize>)> {
    let number = |node: &Node| {
        node.as_u64()
            .and_then(|number| usize::try_from(number).ok())
    };
    if let Some(count) = number(node) {
        return Some((count, Some(count)));
    }
    let object = Object { node, pointer };
    let bound = |key: &str| match object.get(key) {
        None => Some(None),
        Some(node) => number(node).map(Some),
    };
    let is_object = matches!(node.kind, NodeKind::Object(_));
    if let (true, Some(least), Some(most)) = (is_object, bound("min"), bound("max"))
        && (least.is_some() || most.is_some())
        && most.is_none_or(|most| least.unwrap_or(0) <= most)
    {
        reader.unknown_keys(object, fields::COUNT, &[], "`count`");
        return Some((least.unwrap_or(0), most));
    }
    reader.wrong_type(
        node,
        pointer,
        "`count`",
        "a non-negative integer, or an object with integers `min` and `max`",
    );
    None
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use crate::model::ExpectedTest;
    use cuecard_source::SourceFile;

    fn reading(expect: &str) -> Result<Vec<ExpectedTest>, Vec<String>> {
        let text = format!(
            r#"{{"version": "2.1", "metadata": {{"name": "x"}}, "steps": [{{"step": 1, "tool": "mcp__s__t", "params": {{}}, "expect": {expect}}}]}}"#
        );
        let reading = read(&SourceFile::new("scenario.json", text));
        let found = reading.diagnostics.into_iter().map(|found| found.message);
        match reading.scenario {
            Some(mut scenario) => Ok(scenario.steps.remove(0).expectations.remove(0).tests),
            None => Err(found.collect()),
        }
    }

    #[test]
    fn a_count_is_a_number_or_bounds() {
        for (count, bounds) in [
            ("", (1, None)),
            (r#", "count": 0"#, (0, Some(0))),
            (r#", "count": 20"#, (20, Some(20))),
            (r#", "count": {"min": 2}"#, (2, None)),
            (r#", "count": {"max": 3}"#, (0, Some(3))),
            (r#", "count": {"min": 2, "max": 3}"#, (2, Some(3))),
        ] {
            let tests = reading(&format!(r#"{{"elements": {{"role": "button"{count}}}}}"#));
            let Ok([ExpectedTest::Elements(elements)]) = tests.as_deref() else {
                panic!("{count}: {tests:?}");
            };
            assert_eq!((elements.least, elements.most), bounds, "{count}");
        }
    }

    #[test]
    fn what_can_not_be_counted_is_said() {
        let count = "`count` must be a non-negative integer, or an object with integers `min` and `max`, not";
        for (expect, message) in [
            (
                r#"{"elements": {"count": 3}}"#,
                "`elements` does not say which elements".to_owned(),
            ),
            (
                r#"{"elements": "button"}"#,
                "`elements` must be an object with `role`, `name` or `text`, and `count`, not the string `button`"
                    .to_owned(),
            ),
            (
                r#"{"elements": {"role": "button", "count": -1}}"#,
                format!("{count} -1"),
            ),
            (
                r#"{"elements": {"role": "button", "count": {"min": 3, "max": 2}}}"#,
                format!("{count} an object"),
            ),
            (
                r#"{"elements": {"role": "knob"}}"#,
                "unknown role `knob`".to_owned(),
            ),
            (r#"{"shows": ""}"#, "`shows` is empty".to_owned()),
        ] {
            assert_eq!(reading(expect).expect_err(expect), [message], "{expect}");
        }
    }
}
