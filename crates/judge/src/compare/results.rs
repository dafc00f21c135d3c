//! How the results of one run of tests differ from those of another.

use std::collections::HashMap;

use cuecard_source::value::Json;

/// The results of a run, as far as they are compared.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Results {
    /// The tests, in the order of the run.
    pub tests: Vec<TestOutcome>,
}

/// What came of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestOutcome {
    /// Its id.
    pub id: String,
    /// Its file.
    pub file: String,
    /// How it came out: `pass`, `fail`, `error` or `skipped`.
    pub status: String,
    /// Why nothing could be judged: the first reason.
    pub error: Option<String>,
    /// What came of its assertions, in order.
    pub assertions: Vec<AssertionOutcome>,
}

/// What came of an assertion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssertionOutcome {
    /// Its id.
    pub id: String,
    /// Its type.
    pub kind: String,
    /// How it came out: `pass`, `fail`, `warn` or `skip`.
    pub status: String,
    /// What was found.
    pub message: String,
}

/// A test that did not come out the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestDifference {
    /// Its id.
    pub id: String,
    /// How it came out in the first run; absent if it is new.
    pub was: Option<TestOutcome>,
    /// How it came out in the second run; absent if it is gone.
    pub is: Option<TestOutcome>,
    /// Its assertions that did not come out the same, if both runs have the test.
    pub assertions: Vec<AssertionDifference>,
}

/// An assertion that did not come out the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssertionDifference {
    /// Its id.
    pub id: String,
    /// How it came out in the first run; absent if it is new.
    pub was: Option<AssertionOutcome>,
    /// How it came out in the second run; absent if it is gone.
    pub is: Option<AssertionOutcome>,
}

impl Results {
    /// Whether a document looks like results: those of a suite, or the result of one test.
    pub fn are_in(document: &Json) -> bool {
        document.get("results").is_some_and(Json::is_array) || is_result(document)
    }

    /// Reads the document of a suite, or that of one test.
    ///
    /// # Errors
    /// Where what is missing, in words.
    pub fn read(document: &Json) -> Result<Self, String> {
        let tests = match document.get("results") {
            Some(Json::Array(results)) => results
                .iter()
                .enumerate()
                .map(|(idx, result)| test(result, &format!("/results/{idx}")))
                .collect::<Result<_, _>>()?,
            _ => vec![test(document, "")?],
        };
        Ok(Self { tests })
    }

    /// Which tests did not come out the same: in the order of `new`, then those that are gone.
    pub fn compared_with(&self, new: &Self) -> Vec<TestDifference> {
        let pairs = pairs(&self.tests, &new.tests, |test| &test.id).into_iter();
        let differences = pairs.filter_map(|(was, is)| {
            let both = was.zip(is);
            let assertions = both.map_or_else(Vec::new, |(was, is)| assertions(was, is));
            if both.is_some_and(|(was, is)| was.status == is.status) && assertions.is_empty() {
                return None;
            }
            Some(TestDifference {
                id: is.or(was)?.id.clone(),
                was: was.cloned(),
                is: is.cloned(),
                assertions,
            })
        });
        differences.collect()
    }
}

/// What has the same id in both runs, in the order of the second; then what is gone.
fn pairs<'t, T>(
    olds: &'t [T],
    news: &'t [T],
    id: impl Fn(&T) -> &String,
) -> Vec<(Option<&'t T>, Option<&'t T>)> {
    let by_id = |all: &'t [T]| -> HashMap<&'t str, &'t T> {
        all.iter().map(|one| (id(one).as_str(), one)).collect()
    };
    let (by_old, by_new) = (by_id(olds), by_id(news));
    let now = news
        .iter()
        .map(|is| (by_old.get(id(is).as_str()).copied(), Some(is)));
    let is_gone = |was: &&T| !by_new.contains_key(id(was).as_str());
    let gone = olds.iter().filter(is_gone).map(|was| (Some(was), None));
    now.chain(gone).collect()
}

fn assertions(was: &TestOutcome, is: &TestOutcome) -> Vec<AssertionDifference> {
    let pairs = pairs(&was.assertions, &is.assertions, |one| &one.id).into_iter();
    let differences = pairs.filter_map(|(was, is)| {
        let is_same = |(was, is): (&AssertionOutcome, &AssertionOutcome)| {
            was.status == is.status && was.kind == is.kind
        };
        if was.zip(is).is_some_and(is_same) {
            return None;
        }
        Some(AssertionDifference {
            id: is.or(was)?.id.clone(),
            was: was.cloned(),
            is: is.cloned(),
        })
    });
    differences.collect()
}

fn is_result(document: &Json) -> bool {
    document.get("test_case_id").is_some()
        && document.get("assertions").is_some_and(Json::is_array)
        && document.get("status").is_some()
}

fn test(result: &Json, place: &str) -> Result<TestOutcome, String> {
    let Some(Json::Array(all)) = result.get("assertions") else {
        return Err(format!("`{place}/assertions` must be a list"));
    };
    let assertions = all.iter().enumerate().map(|(idx, one)| {
        let place = format!("{place}/assertions/{idx}");
        Ok(AssertionOutcome {
            id: text(one, "id", &place)?,
            kind: text(one, "type", &place)?,
            status: text(one, "status", &place)?,
            message: optional(one, "message"),
        })
    });
    Ok(TestOutcome {
        id: text(result, "test_case_id", place)?,
        file: optional(result, "file"),
        status: text(result, "status", place)?,
        error: result
            .pointer("/errors/0/message")
            .and_then(Json::as_str)
            .map(str::to_owned),
        assertions: assertions.collect::<Result<_, String>>()?,
    })
}

fn text(object: &Json, key: &str, place: &str) -> Result<String, String> {
    let value = object.get(key).and_then(Json::as_str);
    value
        .map(str::to_owned)
        .ok_or_else(|| format!("`{place}/{key}` must be a text"))
}

fn optional(object: &Json, key: &str) -> String {
    let value = object.get(key).and_then(Json::as_str);
    value.unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn result(id: &str, status: &str, assertions: &[(&str, &str)]) -> Json {
        let assertions: Vec<Json> = assertions
            .iter()
            .map(|(id, status)| json!({"id": id, "type": "t", "status": status, "message": "m"}))
            .collect();
        json!({"test_case_id": id, "status": status, "assertions": assertions})
    }

    fn suite(results: &[Json]) -> Results {
        let document = json!({"results": results});
        assert!(Results::are_in(&document));
        Results::read(&document).expect("results")
    }

    #[test]
    fn tests_that_came_out_otherwise_are_told() {
        let old = suite(&[
            result("same", "pass", &[("a", "pass")]),
            result("broke", "pass", &[("a", "pass"), ("b", "pass")]),
            result("gone", "pass", &[]),
        ]);
        let new = suite(&[
            result("new", "pass", &[]),
            result(
                "broke",
                "fail",
                &[("a", "pass"), ("b", "fail"), ("c", "warn")],
            ),
            result("same", "pass", &[("a", "pass")]),
        ]);
        let differences = old.compared_with(&new);
        let short: Vec<String> = differences
            .iter()
            .map(|test| {
                let status = |outcome: &Option<TestOutcome>| {
                    outcome.as_ref().map_or("-", |test| &test.status).to_owned()
                };
                let assertions: Vec<&str> =
                    test.assertions.iter().map(|one| one.id.as_str()).collect();
                format!(
                    "{} {}>{} {}",
                    test.id,
                    status(&test.was),
                    status(&test.is),
                    assertions.join(",")
                )
            })
            .collect();
        assert_eq!(
            short,
            ["new ->pass ", "broke pass>fail b,c", "gone pass>- "]
        );
        assert_eq!(new.compared_with(&new), []);
    }

    #[test]
    fn one_result_is_a_run_of_one_test_and_gaps_are_named() {
        let one = result("a", "pass", &[("x", "pass")]);
        assert!(Results::are_in(&one));
        assert_eq!(Results::read(&one).expect("a result").tests.len(), 1);
        let gap = json!({"results": [{"test_case_id": "a", "status": "pass", "assertions": [{"id": "x"}]}]});
        assert_eq!(
            Results::read(&gap),
            Err("`/results/0/assertions/0/type` must be a text".to_owned())
        );
        assert!(!Results::are_in(&json!({"events": []})));
    }
}
