//! Secrets are in nothing that is written.

use serde_json::json;

use super::Lab;

/// A page that shows what is typed into it, in every way there is.
const ECHO: &str = r##"<!doctype html><meta charset="utf-8"><title>Echo</title>
<label>Token <input id="token"></label> <label>Password <input id="password" type="password"></label>
<button id="show">Show</button> <p id="said"></p>
<script>
const token = document.getElementById('token'), password = document.getElementById('password');
document.getElementById('show').onclick = () => {
  password.type = 'text';
  document.getElementById('said').textContent = `You typed ${token.value} and ${password.value}`;
  document.title = token.value;
  console.log('token', token.value, password.value);
  history.replaceState(null, '', '#' + encodeURIComponent(token.value));
  alert(token.value);
  fetch('http://127.0.0.1:1/' + token.value).catch(() => {});
};
</script>
"##;

const TOKEN: &str = "s3cr3t-t0ken/42";
const PASSWORD: &str = "open sesame";

#[test]
fn a_secret_that_the_page_tells_everywhere_is_told_nowhere() {
    let Some(mut lab) = Lab::new() else { return };
    lab.scratch.write("echo.html", ECHO).expect("writable");
    lab.scratch.set("CUECARD_VAR_TOKEN", TOKEN);
    let url = format!("file://{}", lab.scratch.work().join("echo.html").display());
    let actions = json!([
        "type '{{TOKEN}}' into Token",
        format!("type '{PASSWORD}' into Password"),
        "click 'Show'",
        "verify 'You typed {{TOKEN}}' is visible",
        "extract 'You typed {{TOKEN}} and'",
        {"action": "verify 'nothing {{TOKEN}}' is visible", "timeoutMs": 200},
    ]);
    let more = json!({"url": url, "secrets": ["TOKEN"]});
    let parsed = lab.parse_with("", actions, more, &["--full-dom", "-v"], 1);
    let encoded = "s3cr3t-t0ken%2F42";
    let mut written: Vec<(String, Vec<u8>)> = lab.run_files();
    assert!(
        written
            .iter()
            .any(|(path, _)| path.ends_with("failure.png"))
    );
    assert!(
        written
            .iter()
            .any(|(path, _)| path.ends_with("console.txt"))
    );
    written.push(("stdout".to_owned(), parsed.text.clone().into_bytes()));
    written.push(("stderr".to_owned(), parsed.stderr.clone().into_bytes()));
    for (name, content) in &written {
        let text = String::from_utf8_lossy(content);
        for secret in [TOKEN, encoded] {
            assert!(!text.contains(secret), "{name} tells `{secret}`");
        }
        // The password stands in its sentence and in its step's value, as its author wrote it, and nowhere else.
        let without = text
            .replace(&format!("type '{PASSWORD}' into Password"), "")
            .replace(&format!("\"value\": \"{PASSWORD}\""), "");
        assert!(!without.contains(PASSWORD), "{name} tells `{PASSWORD}`");
    }
    assert_eq!(parsed.steps().len(), 5, "{}", parsed.stderr);
    let warnings = parsed.steps()[1]["observed"]["warnings"].to_string();
    assert!(warnings.contains("password_literal"), "{warnings}");
    assert_eq!(parsed.steps()[2]["observed"]["title"], "***TOKEN***");
    assert_eq!(
        parsed.steps()[4]["observed"]["extractedContent"],
        "You typed ***TOKEN*** and ***"
    );
}

/// Its form writes what is typed into the address, in its charset.
const FORM: &str = r#"<!doctype html><meta charset="windows-1252"><title>Form</title>
<form><label>Password <input type="password" name="password"></label> <button>Send</button></form>
"#;

#[test]
fn a_secret_that_a_form_writes_into_the_address_is_told_nowhere() {
    let Some(mut lab) = Lab::new() else { return };
    lab.scratch.write("form.html", FORM).expect("writable");
    lab.scratch
        .set("CUECARD_VAR_PASSWORD", "pa~ss w\u{e5}rd/42");
    let url = format!("file://{}", lab.scratch.work().join("form.html").display());
    let more = json!({"url": url, "secrets": ["PASSWORD"]});
    let actions = json!(["type '{{PASSWORD}}' into Password", "click 'Send'"]);
    let parsed = lab.parse_with("", actions, more, &["--full-dom", "-v"], 0);
    let mut written: Vec<(String, Vec<u8>)> = lab.run_files();
    written.push(("stdout".to_owned(), parsed.text.clone().into_bytes()));
    written.push(("stderr".to_owned(), parsed.stderr.clone().into_bytes()));
    for (name, content) in &written {
        let text = String::from_utf8_lossy(content);
        for part in ["pa~ss", "pa%7Ess", "%E5rd", "rd%2F42"] {
            assert!(!text.contains(part), "{name} tells `{part}`");
        }
    }
    assert!(parsed.text.contains("?password=***"), "{}", parsed.text);
}

#[test]
fn a_trace_by_playwright_is_refused_where_there_are_secrets() {
    let Some(mut lab) = Lab::new() else { return };
    lab.scratch.set("CUECARD_VAR_TOKEN", TOKEN);
    let scenario = json!({"url": lab.site.url("login.html"), "secrets": ["TOKEN"],
        "actions": ["type '{{TOKEN}}' into Password"]});
    lab.scratch
        .write("s.json", scenario.to_string())
        .expect("writable");
    let finished = crate::program::run(&lab.scratch, &["parse", "s.json", "--playwright-trace"]);
    assert_eq!(finished.code(), Some(3));
    assert!(
        finished
            .stderr
            .contains("contains everything that is typed")
    );
    // Without secrets it is written.
    lab.parse_with(
        "login.html",
        json!(["click 'Forgot password?'"]),
        json!({}),
        &["--playwright-trace"],
        0,
    );
    let files = lab.run_files();
    let is_archive = |(path, content): &(String, Vec<u8>)| {
        path.ends_with("playwright-trace.zip") && content.starts_with(b"PK")
    };
    assert!(files.iter().any(is_archive));
}

#[test]
fn a_storage_state_is_used_and_never_told() {
    let Some(lab) = Lab::new() else { return };
    let host = lab.site.url("").trim_end_matches('/').to_owned();
    let state = json!({"cookies": [], "origins": [
        {"origin": host, "localStorage": [{"name": "who", "value": "very-secret-state"}]},
    ]});
    lab.scratch
        .write("state.json", state.to_string())
        .expect("writable");
    let more = json!({"options": {"storageState": "state.json"}});
    let parsed = lab.parse_with("login.html", json!(["click 'Show password'"]), more, &[], 0);
    assert!(!parsed.text.contains("very-secret-state"));
    assert_eq!(parsed.json["options"]["storageState"], "state.json");
    let more = json!({"url": lab.site.url("login.html"), "actions": ["go back"],
        "options": {"storageState": "../state.json"}});
    lab.scratch
        .write("s.json", more.to_string())
        .expect("writable");
    let finished = crate::program::run(&lab.scratch, &["parse", "s.json"]);
    assert_eq!(finished.code(), Some(3), "{}", finished.stderr);
}
