use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::format::read;
use crate::script::{Given, bind_variables};
use cuecard_source::SourceFile;
use cuecard_source::value::Redactor;

/// The answers of a scenario with these entries of `elicitation`.
fn answers(elicitation: Json) -> ReadyAnswers {
    answers_of(json!({ "elicitation": elicitation }))
}

/// The answers of a scenario with this `answers` and the variables `AGE` and `WHO`, played in `/w`.
fn answers_of(answers: Json) -> ReadyAnswers {
    let text = json!({
        "version": "2.1",
        "metadata": {"name": "n"},
        "variables": {"AGE": 30, "WHO": "Ada"},
        "answers": answers,
        "steps": [{"step": 1, "id": "one", "tool": "mcp__s__t", "params": {}, "output": {"out": "$"}}],
    });
    let reading = read(&SourceFile::new("scenario.json", text.to_string()));
    let scenario = Arc::new(reading.scenario.expect("a valid scenario"));
    let (bindings, _) = bind_variables(&scenario, &[] as &[Given]);
    ReadyAnswers::at_start(&scenario, &bindings.in_directory(Path::new("/w")))
}

impl ReadyAnswers {
    fn elicit(&self, server: &str, params: &Json) -> Result<Answered, Unanswered> {
        self.answer(QuestionKind::Elicitation, server, params)
    }
}

fn asks(message: &str, schema: Json) -> Json {
    json!({"message": message, "requestedSchema": schema})
}

fn form() -> Json {
    json!({"type": "object", "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer", "default": 7},
        "size": {"type": "string", "enum": ["small", "large"], "default": "small"},
        "tags": {"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}, "default": ["a"]},
        "sure": {"type": "boolean", "default": false},
    }})
}

#[test]
fn the_first_entry_that_fits_answers() {
    let answers = answers(json!([
        {"match": {"server": "other"}, "action": "cancel"},
        {"match": "delete", "action": "decline"},
        {"match": {"equals": "Who is {{WHO}}?"}, "content": {"name": "{{WHO}}", "age": "{{AGE}}"}},
        {"match": {"matches": "^Wh(o|at)", "contains": "?"}, "content": {"name": "x"}},
        {"action": "accept"},
    ]));
    let elicit = |message: &str| {
        answers
            .elicit("s", &asks(message, form()))
            .expect("an answer")
    };
    let place = |idx| AnswerPlace {
        kind: QuestionKind::Elicitation,
        idx,
    };
    let decline = Answered {
        place: place(1),
        result: json!({"action": "decline"}),
    };
    assert_eq!(elicit("delete all?"), decline);
    let ada = json!({"action": "accept", "content": {"name": "Ada", "age": 30}});
    assert_eq!(elicit("Who is Ada?").result, ada);
    assert_eq!(elicit("What is it?").place, place(3));
    let defaults = json!({"age": 7, "size": "small", "tags": ["a"], "sure": false});
    assert_eq!(elicit("anything").result["content"], defaults);
    let other = answers.elicit("other", &asks("delete", form()));
    assert_eq!(other.expect("an answer").place, place(0));
}

#[test]
fn what_nothing_answers_is_told_with_the_entry_that_would() {
    let mut schema = form();
    schema["required"] = json!(["name", "size"]);
    let refused = answers(json!([{"match": "other", "action": "accept"}]))
        .elicit("s", &asks("  Who?\nreally", schema))
        .expect_err("nothing fits");
    assert_eq!(refused.kind, FailureKind::Unanswered);
    assert_eq!(
        refused.message,
        "server `s` asked `Who?\nreally`, and no entry of `answers` matches"
    );
    assert_eq!(
        refused.help,
        r#"add "answers": { "elicitation": [ { "content": { "name": …, "size": … } } ] }"#
    );
}

#[test]
fn no_secret_of_a_question_is_cut_in_the_entry_that_would_answer_it() {
    let secret = "Qw7xrtZ9pLmX2vB4kHy8";
    let redactor = Redactor::new([secret.to_owned()]);
    for n_before in 0..300 {
        let text = format!("{} {secret} and more?", "x".repeat(n_before));
        let refused = answers(json!([]))
            .elicit("s", &asks(&text, form()))
            .expect_err("no entry");
        let told = redactor.text(&refused.help).into_owned() + &redactor.text(&refused.message);
        // Of a text that is cut, so little of a secret tells nobody it.
        assert!(!told.contains(&secret[..8]), "{told}");
    }
}

#[test]
fn content_is_held_against_the_schema() {
    let unfit = |entry: Json, required: Json| {
        let mut schema = form();
        schema["required"] = required;
        let unanswered = answers(json!([entry]))
            .elicit("s", &asks("Who?", schema))
            .expect_err("it does not fit");
        assert_eq!(unanswered.kind, FailureKind::UnfitAnswer);
        let told = unanswered.message;
        told.strip_prefix("server `s` asked `Who?`, and answer 1 ")
            .expect("the question first")
            .to_owned()
    };
    assert_eq!(
        unfit(json!({"action": "accept"}), json!(["age", "name"])),
        "does not match the form: the field `name` is required, and it has no default"
    );
    assert_eq!(
        unfit(json!({"content": {"age": 1}}), json!(["name"])),
        "does not match the form: the field `name` is required, and `content` does not set it"
    );
    assert_eq!(
        unfit(json!({"content": {"nam": "Ada"}}), json!([])),
        "does not match the form: the form has no field `nam`; did you mean `name`?"
    );
    assert_eq!(
        unfit(json!({"content": {"age": "{{WHO}}"}}), json!([])),
        "does not match the form: `age`: \"Ada\" is not of type \"integer\""
    );
    let size = unfit(json!({"content": {"size": "huge"}}), json!([]));
    assert!(
        size.starts_with("does not match the form: `size`: \"huge\" is not one of"),
        "{size}"
    );
    assert_eq!(
        unfit(json!({"content": {"name": "{{one.out}}"}}), json!([])),
        "can't be sent: `one.out` has no value: step 1 (`one`) has not run"
    );
}

#[test]
fn only_forms_are_answered() {
    let url =
        json!({"mode": "url", "message": "Log in", "url": "https://example.com/?code=secret"});
    let refused = answers(json!([{"action": "accept"}]))
        .elicit("s", &url)
        .expect_err("no form");
    assert!(
        refused
            .message
            .contains("a web page that a user must visit")
    );
    assert!(!refused.message.contains("secret"), "{}", refused.message);
}

/// A request to a model, with this last message of the user.
fn prompt(content: Json) -> Json {
    json!({
        "messages": [
            {"role": "user", "content": {"type": "text", "text": "first"}},
            {"role": "user", "content": content},
            {"role": "assistant", "content": {"type": "text", "text": "hm"}},
        ],
        "modelPreferences": {"hints": [{"name": "large-4"}, {}]},
        "maxTokens": 9,
    })
}

#[test]
fn a_request_to_a_model_gets_the_first_reply_that_matches() {
    let tool_use =
        json!([{"type": "tool_use", "id": "1", "name": "t", "input": {"who": "{{WHO}}"}}]);
    let answers = answers_of(json!({"sampling": [
        {"match": "first", "reply": "not the last message"},
        {"match": {"model": "small"}, "reply": "not this model"},
        {"match": {"equals": "a\nb", "model": "large"}, "reply": "{{AGE}}"},
        {"match": "tools", "reply": {"content": tool_use, "model": "m", "stopReason": "toolUse"}},
        {"match": {"server": "s"}, "reply": {"content": "hi {{WHO}}"}},
    ]}));
    let ask = |content| answers.answer(QuestionKind::Sampling, "s", &prompt(content));
    let text = |text: &str, place: usize| {
        let content = json!({"type": "text", "text": text});
        let result = json!({"role": "assistant", "content": content, "model": "mock", "stopReason": "endTurn"});
        let kind = QuestionKind::Sampling;
        let place = AnswerPlace { kind, idx: place };
        Ok(Answered { place, result })
    };
    let blocks = json!([{"type": "text", "text": "a"}, {"type": "image"}, {"type": "tool_result", "content": [{"type": "text", "text": "b"}]}]);
    assert_eq!(ask(blocks), text("30", 2));
    assert_eq!(
        ask(json!({"type": "text", "text": "else"})),
        text("hi Ada", 4)
    );
    let used = ask(json!({"type": "text", "text": "tools"})).expect("an answer");
    let mut sent = tool_use;
    sent[0]["input"]["who"] = json!("Ada");
    let used_tools =
        json!({"role": "assistant", "content": sent, "model": "m", "stopReason": "toolUse"});
    assert_eq!(used.result, used_tools);
}

#[test]
fn roots_are_file_uris() {
    let answers = answers_of(json!({"roots": [
        ".", "a b/../ä", "/{{WHO}}", "file:///as/is", {"uri": "src", "name": "{{WHO}}"},
    ]}));
    let answered = answers.answer(QuestionKind::Roots, "any", &Json::Null);
    let answered = answered.expect("an answer");
    assert_eq!(answered.place.pointer(), "/answers/roots");
    assert_eq!(
        answered.result,
        json!({"roots": [
            {"uri": "file:///w"}, {"uri": "file:///w/%C3%A4"}, {"uri": "file:///Ada"},
            {"uri": "file:///as/is"}, {"uri": "file:///w/src", "name": "Ada"},
        ]})
    );
}

#[test]
fn questions_of_a_kind_without_entries_are_not_offered() {
    let answers = answers_of(json!({"sampling": [{"match": {"server": "t"}, "reply": "x"}]}));
    assert!(answers.offers(QuestionKind::Sampling, "t"));
    assert!(!answers.offers(QuestionKind::Sampling, "s"));
    let refused = |kind, params| {
        let refused = answers.answer(kind, "s", &params).expect_err("no entry");
        assert!(!refused.is_offered && refused.kind == FailureKind::Unanswered);
        (refused.message, refused.help)
    };
    assert_eq!(
        refused(QuestionKind::Roots, Json::Null),
        (
            "server `s` asked for roots, and no entry of `answers` matches".to_owned(),
            r#"add "answers": { "roots": [ "." ] }"#.to_owned()
        )
    );
    assert_eq!(
        refused(
            QuestionKind::Sampling,
            prompt(json!({"type": "text", "text": "\n Who?\nI ask"}))
        ),
        (
            "server `s` asked a model `Who?\nI ask`, and no entry of `answers` matches".to_owned(),
            r#"add "answers": { "sampling": [ { "reply": "…" } ] }"#.to_owned()
        )
    );
}
