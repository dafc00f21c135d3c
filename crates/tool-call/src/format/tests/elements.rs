use crate::format::read;
use crate::model::Expectation;
use cuecard_source::SourceFile;

fn reading(expect: &str) -> Result<Expectation, Vec<String>> {
    let text = format!(
        r#"{{"version": "2.1", "metadata": {{"name": "x"}}, "steps": [{{"step": 1, "tool": "mcp__s__t", "params": {{}}, "expect": {expect}}}]}}"#
    );
    let reading = read(&SourceFile::new("scenario.json", text));
    let found = reading.diagnostics.into_iter().map(|found| found.message);
    match reading.scenario {
        Some(mut scenario) => Ok(scenario.steps.remove(0).expectations.remove(0)),
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
        let expectation = reading(&format!(r#"{{"elements": {{"role": "button"{count}}}}}"#));
        let elements = expectation.expect(count).elements.expect(count);
        assert_eq!(elements.count.bounds(), bounds, "{count}");
    }
}

#[test]
fn what_can_not_be_counted_is_said() {
    let count =
        "`count` must be a non-negative integer, or an object with integers `min` and `max`, not";
    for (expect, message) in [
        (
            r#"{"elements": {"count": 3}}"#,
            "`elements` does not say which elements".to_owned(),
        ),
        (
            r#"{"elements": "button"}"#,
            "`elements` must be an object, not the string `button`".to_owned(),
        ),
        (
            r#"{"elements": {"role": "button", "count": -1}}"#,
            "`count` must be a non-negative integer, not -1".to_owned(),
        ),
        (
            r#"{"elements": {"role": "button", "count": {"min": 3, "max": 2}}}"#,
            format!("{count} an object"),
        ),
        (
            r#"{"elements": {"role": "knob"}}"#,
            "unknown role `knob`".to_owned(),
        ),
        (
            r#"{"shows": ""}"#,
            "`shows` is empty: it matches everything".to_owned(),
        ),
    ] {
        assert_eq!(reading(expect).expect_err(expect), [message], "{expect}");
    }
}
