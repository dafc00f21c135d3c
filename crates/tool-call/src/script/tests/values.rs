//! What outputs, references and expectations make of results.

use super::*;

/// The parameters of the second of two steps, the first of which has these outputs of `result`.
fn second_params(output: Json, result: Json, params: Json) -> Result<Json, String> {
    let steps = json!([
        {"step": 1, "id": "a", "tool": "mcp__s__t", "params": {}, "output": output},
        {"step": 2, "tool": "mcp__s__u", "params": params},
    ]);
    let run = play(steps, |_| returned(result.clone()));
    match run.verdict {
        Verdict::Passed => Ok(Json::clone(&run.calls[1].0.params.json)),
        _ => Err(run.error().to_owned()),
    }
}

#[test]
fn nothing_behind_a_wildcard_is_an_empty_list_if_what_stands_before_is_there() {
    let of = |path: &str| {
        let result = json!({"empty": [], "none": null, "text": "x", "some": [{"n": 1}]});
        second_params(json!({"x": path}), result, json!({"x": "{{a.x}}"}))
    };
    let empty = Ok(json!({"x": []}));
    for path in [
        "$.empty[*]",
        "$.empty[*].id",
        "$['empty'][?@.a == 'b.c']",
        "$.none[*]",
        "$.some[*].id",
        "$.some[5:]",
        "$..nowhere",
    ] {
        assert_eq!(of(path), empty, "{path}");
    }
    assert_eq!(of("$.some[*].n"), Ok(json!({"x": [1]})));
    for path in ["$.emtpy[*]", "$.text[*]", "$.empty[0]", "$.some[0].a[*]"] {
        let error = of(path).expect_err(path);
        assert!(error.contains("matched nothing"), "{path}: {error}");
    }
    let equals = json!({"json_path": "$.empty[*]", "equals": []});
    let steps = json!([{"step": 1, "tool": "mcp__s__t", "params": {}, "expect": equals}]);
    let run = play(steps, |_| returned(json!({"empty": []})));
    assert_eq!(run.verdict, Verdict::Passed, "{}", run.error());
}

#[test]
fn an_index_below_zero_counts_from_the_end() {
    let of = |params| second_params(json!({"l": "$"}), json!(["a", "b", "c"]), params);
    assert_eq!(
        of(json!({"x": "{{a.l[-1]}}", "y": "{{a.l[-3]}}", "z": "{{a.l[-4] | default('none')}}"})),
        Ok(json!({"x": "c", "y": "a", "z": "none"}))
    );
    let error = of(json!({"x": "{{a.l[-4]}}"})).expect_err("there is no fourth");
    assert!(error.contains("no element -4"), "{error}");
}

#[test]
fn a_strict_expectation_compares_types() {
    let passes = |expect: Json, result: Json| {
        let steps = json!([{"step": 1, "tool": "mcp__s__t", "params": {}, "expect": expect}]);
        play(steps, |_| returned(result.clone())).verdict == Verdict::Passed
    };
    assert!(passes(json!({"equals": 5}), json!("5")));
    assert!(!passes(json!({"equals": 5, "strict": true}), json!("5")));
    assert!(passes(json!({"equals": 5, "strict": true}), json!(5.0)));
    assert!(!passes(
        json!({"contains": "5", "strict": true}),
        json!([5])
    ));
    assert!(passes(
        json!({"contains": "5", "strict": false}),
        json!([5])
    ));
}
