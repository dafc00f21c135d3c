//! Elements of pages.

use serde_json::json;

use super::{call, findings, of_one, param, questions, recording};

#[test]
fn elements_become_targets() {
    let page = "uid=1_0 RootWebArea \"Shop\"\n  uid=1_1 textbox \"Name\"\n  uid=1_2 button \"Save\"\n  uid=1_3 link \"More\"\n  uid=1_4 link \"More\"";
    let recording = recording(
        "Go",
        vec![
            call("take_snapshot", json!({}), json!(page)),
            call(
                "fill_form",
                json!({"elements": [{"uid": "1_1", "value": "Ann"}]}),
                json!("ok"),
            ),
            call("click", json!({"uid": "1_2"}), json!("ok")),
            call("click", json!({"uid": "1_4"}), json!("ok")),
            call("click", json!({"uid": "9_9"}), json!("ok")),
        ],
    );
    let inferred = of_one(&recording);
    let steps = &inferred.scenario.steps;
    assert_eq!(steps.len(), 4, "{steps:?}");
    assert_eq!(
        json!(steps[0].targets),
        json!({"elements[0].uid": {"role": "textbox", "name": "Name"}})
    );
    assert_eq!(
        json!(steps[0].params),
        json!({"elements": [{"value": "Ann"}]})
    );
    assert_eq!(
        steps[1].target,
        Some(json!({"role": "button", "name": "Save"}))
    );
    assert_eq!(json!(steps[1].params), json!({}));
    assert_eq!(
        steps[2].target,
        Some(json!({"role": "link", "name": "More", "nth": 2}))
    );
    assert_eq!(param(&steps[3], "uid"), "9_9");
    assert_eq!(
        questions(&inferred),
        [
            "several elements were alike, and this is number 2 of them: what tells it from the others?",
            "no snapshot before it has the element `9_9`: give the step a `target`"
        ]
    );
    assert_eq!(inferred.left_out[0].call, Some(1));
    assert_eq!(findings(&inferred), Vec::<String>::new());
}
