//! How two traces or two runs of tests differ, as one document.

use serde_json::json;

use cuecard_judge::compare::{
    AssertionDifference, AssertionOutcome, Change, Comparison, Difference, Place, TestDifference,
    TestOutcome,
};
use cuecard_source::value::Json;
use cuecard_trace::SCHEMA_VERSION;

/// The document of two traces, called `first` and `second`.
pub fn traces(first: &str, second: &str, comparison: &Comparison) -> Json {
    let differences = comparison.differences.iter().map(difference).collect();
    document("traces", first, second, differences)
}

/// The document of the results of two runs, called `first` and `second`.
pub fn results(first: &str, second: &str, differences: &[TestDifference]) -> Json {
    let differences = differences.iter().map(test).collect();
    document("results", first, second, differences)
}

fn document(kind: &str, first: &str, second: &str, differences: Vec<Json>) -> Json {
    json!({
        "schema_version": SCHEMA_VERSION,
        "compared": kind,
        "first": first,
        "second": second,
        "same": differences.is_empty(),
        "differences": differences,
    })
}

fn difference(difference: &Difference) -> Json {
    let place = |place: &Option<Place>| {
        place.as_ref().map(|place| {
            json!({
                "event_id": place.event_id,
                "seq": place.seq,
                "type": place.kind,
                "tool": place.tool,
                "text": place.text,
            })
        })
    };
    let changes: Vec<Json> = difference
        .changes
        .iter()
        .map(|change| {
            let Change { pointer, was, is } = change;
            let mut entry = json!({"pointer": pointer});
            // A value that is missing is no null.
            for (key, value) in [("was", was), ("is", is)] {
                if let Some(value) = value {
                    entry[key] = value.clone();
                }
            }
            entry
        })
        .collect();
    json!({
        "what": difference.part.as_str(),
        "how": difference.how.as_str(),
        "first": place(&difference.old),
        "second": place(&difference.new),
        "changes": changes,
    })
}

fn test(difference: &TestDifference) -> Json {
    let outcome = |test: &Option<TestOutcome>| {
        test.as_ref()
            .map(|test| json!({"file": test.file, "status": test.status, "error": test.error}))
    };
    let how = match (&difference.was, &difference.is) {
        (None, _) => "added",
        (_, None) => "removed",
        _ => "changed",
    };
    let entry = |outcome: &Option<AssertionOutcome>| {
        outcome.as_ref().map(|outcome| {
            json!({
                "type": outcome.kind,
                "status": outcome.status,
                "message": outcome.message,
            })
        })
    };
    let assertion = |one: &AssertionDifference| json!({"id": one.id, "first": entry(&one.was), "second": entry(&one.is)});
    json!({
        "what": "test",
        "how": how,
        "test_case_id": difference.id,
        "first": outcome(&difference.was),
        "second": outcome(&difference.is),
        "assertions": difference.assertions.iter().map(assertion).collect::<Vec<_>>(),
    })
}
