use super::*;
use crate::html::parts;

fn end(verdict: Verdict, healed: usize) -> BrowserEnd<'static> {
    BrowserEnd {
        name: "login.steps.json",
        url: "https://shop.example/login",
        verdict,
        summary: Summary {
            total: 4,
            passed: 2,
            healed,
            failed: usize::from(verdict == Verdict::Failed),
            ..Summary::default()
        },
        failure: Some("the element is gone"),
        started: jiff::Timestamp::UNIX_EPOCH,
        took: Duration::from_millis(2400),
    }
}

fn step(number: u64, words: &str) -> BrowserStep {
    BrowserStep {
        number,
        id: format!("st-{number}"),
        words: words.to_owned(),
        action: "click".to_owned(),
        status: Some(StepStatus::Passed),
        ms: Some(12.0),
        ..BrowserStep::default()
    }
}

fn report(steps: &[BrowserStep], end: &BrowserEnd<'_>, secrets: &[&str]) -> String {
    let secrets = Redactor::new(secrets.iter().map(|&secret| secret.to_owned()));
    let mut report = BrowserHtml::begin(Vec::new()).expect("begun");
    for step in steps {
        report.step(step, &secrets).expect("written");
    }
    String::from_utf8(report.end(end, &secrets).expect("ended")).expect("text")
}

fn data(html: &str, id: &str) -> Json {
    let (_, rest) = around(html, &format!("id=\"{id}\">"));
    let (json, _) = around(rest, "</script>");
    serde_json::from_str(json).expect("JSON")
}

#[test]
fn the_page_lets_its_own_script_and_style_run_and_nothing_else() {
    let policy = parts::policy(STYLE, SCRIPT);
    assert!(
        PAGE.contains(&policy),
        "the policy in page.html must say: {policy}"
    );
    assert!(PAGE.contains("default-src 'none'") && PAGE.contains("img-src data:;"));
    let html = report(&[step(1, "click")], &end(Verdict::Passed, 0), &[]);
    for (what, count) in [
        ("<script", 4),
        ("<style", 2),
        ("<link", 0),
        ("<img", 0),
        (" src=", 0),
    ] {
        assert_eq!(html.matches(what).count(), count, "{what}");
    }
    assert!(!html.contains("<!-- ") && !html.contains("/* script */"));
}

#[test]
fn the_page_knows_steps_pictures_and_the_verdict() {
    let mut healed = step(2, "click 'Log in'");
    healed.verdict = Some(BrowserVerdict {
        word: "healed".to_owned(),
        reason: Some("it has the id `go`".to_owned()),
    });
    healed.picture = Some(Picture {
        png: b"PNG".to_vec(),
        size: (1280.0, 720.0),
        target: Some([10.0, 20.0, 30.0, 40.0]),
    });
    let mut later = step(4, "click 'Never'");
    later.status = None;
    let html = report(
        &[step(1, "open"), healed, later],
        &end(Verdict::Passed, 1),
        &[],
    );
    let steps = data(&html, "step-data");
    assert_eq!(steps[0], Json::Null);
    assert_eq!(steps[1]["status"], "pass");
    assert_eq!(steps[2]["status"], "healed");
    assert_eq!(steps[2]["picture"]["data"], "UE5H");
    assert_eq!(
        steps[2]["picture"]["target"],
        json!([10.0, 20.0, 30.0, 40.0])
    );
    assert_eq!(steps[3]["status"], "skipped");
    let run = data(&html, "run-data");
    assert_eq!(run["words"], "All 4 steps passed, 1 of them healed");
    assert_eq!(run["state"], "healed");
    assert_eq!(run["counts"]["skipped"], 2);
}

#[test]
fn nothing_on_a_page_becomes_markup_and_no_secret_is_shown() {
    let hostile = "</script><script>alert(1)</script><!--";
    let mut step = step(1, hostile);
    step.page = format!("{hostile} hunter22");
    step.console = vec!["error: hunter22".to_owned()];
    let html = report(&[step], &end(Verdict::Failed, 0), &["hunter22"]);
    assert!(!html.contains("alert(1)</script>") && !html.contains("<!--"));
    assert!(!html.contains("hunter22"));
    assert_eq!(data(&html, "step-data")[1]["words"], hostile);
    assert_eq!(
        data(&html, "run-data")["words"],
        "1 of 4 steps failed, 1 did not run"
    );
}

#[test]
fn what_fails_has_room_for_its_picture() {
    let picture = |bytes: usize| {
        Some(Picture {
            png: vec![0; bytes],
            ..Picture::default()
        })
    };
    let mut passed = step(1, "one");
    passed.picture = picture(MAX_PICTURES / 2);
    let mut failed = step(3, "three");
    failed.status = Some(StepStatus::Failed);
    failed.picture = picture(MAX_PICTURES / 4);
    let mut second = passed.clone();
    second.number = 2;
    let html = report(&[passed, second, failed], &end(Verdict::Failed, 0), &[]);
    let steps = data(&html, "step-data");
    assert!(steps[1]["picture"].is_object());
    assert!(steps[2]["picture"].is_null());
    assert!(steps[3]["picture"].is_object());
}
