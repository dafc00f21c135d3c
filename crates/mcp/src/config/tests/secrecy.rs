//! What is not shown.

use super::*;

#[test]
fn secrets_are_gathered() {
    let environment = [("MY_TOKEN", "token-1234"), ("PLACE", "somewhere")];
    let program = server(
        r#"{"command":"x","args":["--key=argument-1","${MY_TOKEN}","${PLACE}"],"env":{"A":"short","B_TOKEN":"a long value","C":"${PLACE}"}}"#,
        &environment,
    );
    assert_eq!(
        program.secrets,
        ["token-1234", "argument-1", "a long value"]
    );
    let address = server(
        r#"{"url":"https://u:password1@h/","headers":{"Authorization":"Bearer ${MY_TOKEN}","X-Debug":"true"}}"#,
        &environment,
    );
    assert_eq!(
        address.secrets,
        ["token-1234", "password1", "Bearer token-1234"]
    );
    // Also of a server that can't be used.
    let other = server(r#"{"command":"${NONE}","env":{"A_KEY":"12345678"}}"#, &[]);
    assert_eq!(other.secrets, ["12345678"]);
    for shown in [
        format!("{program:?}"),
        format!("{address:?}"),
        format!("{other:?}"),
    ] {
        for secret in [
            "token-1234",
            "argument-1",
            "a long value",
            "password1",
            "12345678",
        ] {
            assert!(!shown.contains(secret), "{shown}");
        }
    }
}

#[test]
fn findings_point_into_a_text_without_them() {
    let entry = r#"{"command":"x --key=sekret-000","env":{"A":"sekret-one","B":"sekret-${NONE}"},"args":["--token","sekret-two"]}"#;
    let problem = server(entry, &[]).spec.expect_err("a variable is not set");
    let shown = problem.place.expect("it has a place").source;
    assert!(!shown.text().contains("sekret"), "{}", shown.text());
    assert!(shown.is_withheld());
    assert_eq!(
        shown.text().len(),
        format!("{{\"mcpServers\":\n{{\"s\":{entry}}}}}").len()
    );
}

#[test]
fn errors_in_the_syntax_do_not_repeat_them() {
    for value in ["'sekret-one'", "sekret-one", "\"sekret-one", "“sekret-one”"] {
        let found = findings(&format!(
            "{{\"command\":\"x\",\"env\":{{\"A\":{value}\n}}}}"
        ));
        assert!(
            !found.is_empty() && !found.concat().contains("sekret"),
            "{found:?}"
        );
        let content = format!("{{\"servers\":{{\"s\":{{\"env\":{{\"A\":{value}\n}}}}}}}}");
        let project = Project::new().with(".mcp.json", &content);
        let place = project.find().expect_err("it is no JSON")[0]
            .place
            .clone()
            .expect("it has one");
        assert!(
            !place.source.text().contains("sekret"),
            "{}",
            place.source.text()
        );
    }
}

#[test]
fn what_stands_where_no_text_belongs_is_not_shown_either() {
    for entry in [
        r#"{"command":"x","env":{"A":["sekret-one"]}}"#,
        r#"{"command":"x","env":{"A":{"value":"sekret-one"}}}"#,
        r#"{"command":"x","env":"A=sekret-one"}"#,
        r#"{"command":"x","envv":{"A":"sekret-one"}}"#,
        r#"{"command":"x","args":["--token",["sekret-one"]]}"#,
        r#"{"url":"http://h/","headers":"Authorization: Bearer sekret-one"}"#,
        r#"{"url":"http://h/","auth":{"type":"client_credentials","client_id":"a","client_secret":["sekret-one"]}}"#,
    ] {
        let found = findings(entry);
        assert!(!found.concat().contains("sekret"), "{found:?}");
        if let Err(problem) = server(entry, &[]).spec {
            let text = problem.place.expect("it has a place").source;
            assert!(!text.text().contains("sekret"), "{}", text.text());
        }
    }
}
