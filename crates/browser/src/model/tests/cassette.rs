//! Cassettes in files.

use std::fs;
use std::path::{Path, PathBuf};

use cuecard_browser_steps::question::Answer;
use cuecard_source::SourceFile;

use super::*;

const ACTION: &str = "delete the first thing";

struct Recorded {
    folder: tempfile::TempDir,
}

impl Recorded {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("a.jsonl")
    }

    fn text(&self) -> String {
        fs::read_to_string(self.path()).expect("a cassette")
    }

    fn open(&self, mode: CassetteMode) -> Cassette {
        open(&self.path(), mode)
    }

    /// Records what a model replies to a sentence.
    async fn record(
        &self,
        action: &str,
        replies: impl IntoIterator<Item = Reply>,
    ) -> ScriptedClient {
        let cassette = self.open(CassetteMode::Record);
        let client = ScriptedClient::new(replies);
        ask(Some(client.clone()), &cassette, action)
            .await
            .expect("an answer");
        cassette.finish(true).expect("it is written");
        client
    }
}

fn open(path: &Path, mode: CassetteMode) -> Cassette {
    let (cassette, findings) =
        Cassette::open(path, mode, Redactor::default()).unwrap_or_else(|found| panic!("{found:?}"));
    assert!(findings.is_empty(), "{findings:?}");
    cassette
}

async fn ask(
    client: Option<ScriptedClient>,
    cassette: &Cassette,
    action: &str,
) -> Result<Answer, Failure> {
    let state = login();
    ModelInterpreter::new(client, Some(cassette.clone()), 3)
        .interpret(&question(&state, action), &prompt(&state, action))
        .await
}

#[tokio::test]
async fn what_was_recorded_is_answered_without_a_model() {
    let recorded = Recorded::new();
    // The first reply can't be used: the conversation is recorded, not the answer.
    let replies = [click(9), click(1)].map(Reply::calling);
    let client = recorded.record(ACTION, replies).await;
    assert_eq!(client.asked().len(), 2);
    assert_eq!(recorded.text().matches("\"kind\":\"reply\"").count(), 2);
    for (client, mode) in [
        (None, CassetteMode::Replies),
        // A client that would panic if it was asked.
        (Some(ScriptedClient::new([])), CassetteMode::Replies),
        (Some(ScriptedClient::new([])), CassetteMode::Record),
    ] {
        let found = ask(client, &recorded.open(mode), ACTION)
            .await
            .expect("it is recorded");
        assert!(matches!(found, Answer::Act { .. }));
    }
}

#[tokio::test]
async fn a_miss_names_the_nearest_and_what_differs() {
    let recorded = Recorded::new();
    recorded.record(ACTION, [Reply::calling(click(1))]).await;
    let cassette = recorded.open(CassetteMode::Replies);
    let error = ask(
        Some(ScriptedClient::new([])),
        &cassette,
        "delete the last thing",
    )
    .await
    .expect_err("it is not recorded");
    assert!(error.is(codes::BROWSER_CASSETTE));
    let name = recorded.path().display().to_string();
    assert_eq!(
        error.message,
        format!(
            "no recorded reply in `{name}` matches; the nearest differs\n\
             - sentence: delete the first thing\n\
             + sentence: delete the last thing\n  previous: none"
        )
    );
    assert!(error.help.expect("a way out").contains("--record"));

    // Another page.
    let state = login();
    let mut prompt = prompt(&state, ACTION);
    prompt.page = prompt.page.replace("\"E-mail\"", "\"Mail\"");
    let mut interpreter = ModelInterpreter::new(Some(ScriptedClient::new([])), Some(cassette), 3);
    let error = interpreter
        .interpret(&question(&state, ACTION), &prompt)
        .await
        .expect_err("it is not recorded");
    assert!(
        error.message.contains("the nearest differs\n")
            && error
                .message
                .contains("\n- [0] textbox \"E-mail\" type=email\n")
            && error
                .message
                .contains("\n+ [0] textbox \"Mail\" type=email\n"),
        "{error}"
    );
}

#[tokio::test]
async fn another_model_is_a_miss() {
    struct Other;
    impl ModelClient for Other {
        fn identity(&self) -> ModelIdentity {
            ModelIdentity {
                dialect: "anthropic".to_owned(),
                model: "other".to_owned(),
            }
        }

        async fn ask(&mut self, _: &Conversation<'_>) -> Result<Reply, Failure> {
            panic!("it is not asked")
        }
    }
    let recorded = Recorded::new();
    recorded.record(ACTION, [Reply::calling(click(1))]).await;
    let state = login();
    let cassette = recorded.open(CassetteMode::Replies);
    let error = ModelInterpreter::new(Some(Other), Some(cassette), 3)
        .interpret(&question(&state, ACTION), &prompt(&state, ACTION))
        .await
        .expect_err("it was another model");
    assert!(
        error.message.ends_with(
            "it was recorded with `scripted` over `openai`, and this is `other` over `anthropic`"
        ),
        "{error}"
    );
}

#[tokio::test]
async fn an_empty_cassette_says_so() {
    let recorded = Recorded::new();
    let cassette = recorded.open(CassetteMode::Record);
    cassette.finish(true).expect("it is written");
    let error = ask(
        Some(ScriptedClient::new([])),
        &recorded.open(CassetteMode::Replies),
        ACTION,
    )
    .await
    .expect_err("there is nothing");
    assert!(error.message.ends_with("has no model replies"), "{error}");
}

#[tokio::test]
async fn a_later_run_replaces_the_one_before_and_what_it_did_not_need() {
    let recorded = Recorded::new();
    recorded
        .record("first sentence", [Reply::calling(click(1))])
        .await;
    recorded.record(ACTION, [Reply::calling(click(1))]).await;
    let text = recorded.text();
    assert!(!text.contains("first sentence"), "{text}");
    assert_eq!(text.matches("\"kind\":\"reply\"").count(), 1);

    // A run that stopped in the middle keeps what was paid for.
    let cassette = recorded.open(CassetteMode::Record);
    cassette.finish(false).expect("it is written");
    let text = recorded.text();
    assert!(text.contains(ACTION), "{text}");
}

#[tokio::test]
async fn a_recording_that_was_interrupted_goes_on_from_its_last_whole_line() {
    let recorded = Recorded::new();
    recorded.record(ACTION, [Reply::calling(click(1))]).await;
    let whole = recorded.text();
    fs::write(recorded.path(), format!("{whole}{{\"kind\":\"rep")).expect("writable");
    let (cassette, findings) =
        Cassette::open(&recorded.path(), CassetteMode::Replies, Redactor::default())
            .expect("it can be read");
    assert_eq!(findings.len(), 1);
    assert!(
        findings[0].message.contains("the last line is truncated"),
        "{findings:?}"
    );
    ask(None, &cassette, ACTION).await.expect("it is recorded");

    let (cassette, _) = Cassette::open(&recorded.path(), CassetteMode::Record, Redactor::default())
        .expect("it can be read");
    assert_eq!(recorded.text(), whole);
    drop(cassette);
}

#[tokio::test]
async fn lines_are_in_the_file_at_once() {
    let recorded = Recorded::new();
    let cassette = recorded.open(CassetteMode::Record);
    ask(
        Some(ScriptedClient::new([Reply::calling(click(1))])),
        &cassette,
        ACTION,
    )
    .await
    .expect("an answer");
    assert_eq!(recorded.text().lines().count(), 2);
}

#[tokio::test]
async fn secrets_are_not_written() {
    let recorded = Recorded::new();
    let secret = "hunter2 \"quoted\"";
    let (cassette, _) = Cassette::open(
        &recorded.path(),
        CassetteMode::Record,
        Redactor::new([secret.to_owned()]),
    )
    .expect("it can be opened");
    let reply = Reply {
        text: format!("I type {secret}."),
        calls: Reply::calling(json!({"inputValue": secret})).calls,
    };
    let prompt = prompt_with(&format!("| {secret}\n"), secret);
    let identity = ScriptedClient::default().identity();
    let earlier = vec![format!("it was {secret}")];
    cassette.add_reply("key".to_owned(), &identity, &prompt, earlier, &reply);
    cassette.finish(true).expect("it is written");
    let text = recorded.text();
    assert!(!text.contains("hunter2"), "{text}");
    assert_eq!(text.matches("I type ***.").count(), 1);
}

#[test]
fn what_is_no_cassette_is_refused_line_by_line() {
    let header = "{\"kind\":\"cassette\",\"version\":\"cuecard-cassette/1\"}\n";
    // Of older recordings only the replies are read.
    let older = format!("{header}{{\"kind\":\"look\",\"sameState\":true}}\n");
    assert!(Cassette::check(&SourceFile::new("a.jsonl", older)).is_empty());
    for (text, expected) in [
        (String::new(), "not a cassette"),
        ("x\n".to_owned(), "not a valid cassette line"),
        (
            "{\"kind\":\"run\"}\n".to_owned(),
            "must start with its header",
        ),
        (
            "{\"kind\":\"cassette\",\"version\":\"cuecard-cassette/2\"}\n".to_owned(),
            "unsupported version `cuecard-cassette/2`",
        ),
        (format!("{header}{header}"), "duplicate header"),
        (format!("{header}{{\"kind\":\"odd\"}}\n"), "unknown variant"),
    ] {
        let findings = Cassette::check(&SourceFile::new("a.jsonl", text.as_str()));
        assert!(
            findings
                .iter()
                .any(|found| found.message.contains(expected)),
            "{text}: {findings:?}"
        );
        assert!(
            findings
                .iter()
                .all(|found| found.code == codes::BROWSER_CASSETTE_INVALID)
        );
    }
    // Everything wrong at once.
    let both = format!("{header}1\n2\n");
    assert_eq!(Cassette::check(&SourceFile::new("a.jsonl", both)).len(), 2);
}

#[test]
fn files_that_are_not_there_are_told() {
    let recorded = Recorded::new();
    let open = |mode| Cassette::open(&recorded.path(), mode, Redactor::default());
    let error = open(CassetteMode::Replies).expect_err("there is no file");
    assert!(
        error[0]
            .help
            .as_deref()
            .expect("a way out")
            .contains("--record"),
        "{error:?}"
    );
    let missing = recorded.folder.path().join("no/such/folder/a.jsonl");
    let error = Cassette::open(&missing, CassetteMode::Record, Redactor::default())
        .expect_err("there is no folder");
    assert_eq!(error[0].code, codes::FILE_WRITE);
}
