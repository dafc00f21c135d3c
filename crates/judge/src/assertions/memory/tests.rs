use serde_json::json;

use super::*;
use crate::trials::{Trial, patterns};

fn recalled(
    view: &View<'_>,
    group_id: Option<&str>,
    fact: &str,
    patterns: &[TextPattern],
    require_event: bool,
) -> Finding {
    let check = MemoryRecallSameGroup {
        group_id: group_id.map(Into::into),
        expected_memory_fact: fact.into(),
        output_patterns: patterns.to_vec().into(),
        require_event,
        case_sensitive: false,
    };
    check.judge(view)
}

fn updated(view: &View<'_>, group_id: Option<&str>, fact: &str, stale: Option<&str>) -> Finding {
    let check = MemoryUpdateOnCorrection {
        group_id: group_id.map(Into::into),
        corrected_fact: fact.into(),
        stale_fact: stale.map(Into::into),
    };
    check.judge(view)
}

fn kept_apart(
    view: &View<'_>,
    current: Option<&str>,
    forbidden: &[String],
    canaries: &[String],
    proof: bool,
) -> Finding {
    let check = NoCrossGroupMemoryUse {
        current_group_id: current.map(Into::into),
        forbidden_group_ids: forbidden.to_vec().into(),
        canaries: canaries.to_vec().into(),
        require_event_level_proof: proof,
    };
    check.judge(view)
}

fn read(group: &str) -> Json {
    json!({ "source": "CLAUDE.md", "path": format!("groups/{group}/CLAUDE.md"), "group_id": group })
}

fn recall(output: &str, fact: &str) -> Finding {
    let trial = Trial::new(output).event("memory_read", read("group-a"));
    recalled(&trial.view(), Some("group-a"), fact, &[], true)
}

#[test]
fn forms_are_honoured() {
    let bullets = "- They catch regressions when prompts, tools, or logic change.\n- They make failures easier to debug by showing what behavior broke.\n- They improve reliability before shipping changes to users.";
    let long = "word ".repeat(200);
    for (fact, good, bad) in [
        (
            "responses should be brief and bullet-only",
            bullets,
            "They catch regressions. They help.",
        ),
        (
            "responses should be brief and bullet-only",
            bullets,
            &format!("Here you go:\n{bullets}"),
        ),
        ("user prefers brief answers", "Yes.", long.as_str()),
        ("user prefers bullet points", bullets, "One sentence."),
        ("never use bullets", "One sentence.", bullets),
        (
            "answers in exactly two paragraphs",
            "One.\n\nTwo.",
            "One.\n\nTwo.\n\nThree.",
        ),
        (
            "reply with at most two sentences",
            "One. Two.",
            "One. Two. Three.",
        ),
        ("always respond in JSON", "{\"a\": 1}", "a is 1"),
        (
            "respond in German",
            "Das ist die Antwort auf die Frage und nicht mehr.",
            "This is the answer to the question and that is it.",
        ),
        ("no emoji in replies", "Done.", "Done 🎉"),
        (
            "use a numbered list for answers",
            "1. One\n2. Two",
            "- One\n- Two",
        ),
    ] {
        let finding = recall(good, fact);
        assert_eq!(
            finding.verdict,
            Verdict::Holds,
            "{fact}: {}",
            finding.message
        );
        let finding = recall(bad, fact);
        assert_eq!(
            finding.verdict,
            Verdict::Fails,
            "{fact}: {}",
            finding.message
        );
    }
}

#[test]
fn other_facts_are_found_by_their_words() {
    for (fact, output, verdict) in [
        (
            "The user's dog is called Rex",
            "I hope Rex, your dog, is well.",
            Verdict::Undecided,
        ),
        (
            "The user's dog is called Rex",
            "I hope your dog Max is well.",
            Verdict::Fails,
        ),
        (
            "The deploy window is Friday 17:00",
            "Deploy in the window on Friday at 5 pm.",
            Verdict::Holds,
        ),
        (
            "The deploy window is Friday 17:00",
            "Deploy in the window on Friday at 6 pm.",
            Verdict::Fails,
        ),
        (
            "The budget is 5,000 dollars",
            "Within the budget of 6,000 dollars that works.",
            Verdict::Fails,
        ),
        (
            "Alice eats peanuts",
            "Alice doesn't eat peanuts.",
            Verdict::Fails,
        ),
        (
            "prefers a friendly tone in replies",
            "Hello my friend!",
            Verdict::Undecided,
        ),
        ("respond in German", "42", Verdict::Undecided),
        (
            "Ada is allergic to peanuts.",
            "As Ada is allergic to peanuts, no satay.",
            Verdict::Holds,
        ),
        (
            "Ada is allergic to peanuts.",
            "Take the peanut satay for Ada, she loves peanuts.",
            Verdict::Undecided,
        ),
        (
            "Ada is allergic to peanuts.",
            "I forgot whether Ada is allergic to peanuts.",
            Verdict::Undecided,
        ),
        (
            "Ada is allergic to peanuts.",
            "Is Ada allergic to peanuts?",
            Verdict::Undecided,
        ),
        (
            "Ada is allergic to peanuts.",
            "Ada was allergic to peanuts, but no longer is.",
            Verdict::Fails,
        ),
        (
            "The group meets at 9.",
            "The group meets at 10, not at 9.",
            Verdict::Fails,
        ),
        (
            "The group meets on 3 March at 9:00.",
            "The group that meets on 3 March at 9:00 is cancelled.",
            Verdict::Undecided,
        ),
    ] {
        let finding = recall(output, fact);
        assert_eq!(
            finding.verdict, verdict,
            "{fact} / {output}: {}",
            finding.message
        );
    }
    let trial = Trial::new("Hello my friend!").event("memory_read", read("group-a"));
    let found = recalled(
        &trial.view(),
        None,
        "prefers a friendly tone",
        &patterns(&["friend"]),
        true,
    );
    assert_eq!(found.verdict, Verdict::Holds);
    let found = recalled(
        &trial.view(),
        None,
        "prefers a friendly tone",
        &patterns(&["friend", "sir"]),
        true,
    );
    assert_eq!(found.verdict, Verdict::Fails);
}

#[test]
fn the_memory_must_have_been_there() {
    let fact = "no emoji in replies";
    let none = Trial::new("Done.");
    assert_eq!(
        recalled(&none.view(), Some("group-a"), fact, &[], true).verdict,
        Verdict::Fails
    );
    assert_eq!(
        recalled(&none.view(), Some("group-a"), fact, &[], false).verdict,
        Verdict::Holds
    );
    let other = Trial::new("Done.").event("memory_read", read("group-b"));
    assert_eq!(
        recalled(&other.view(), Some("group-a"), fact, &[], true).verdict,
        Verdict::Fails
    );
    // It says that it is of this group, but the path is another's.
    let disguised = json!({ "source": "x", "path": "groups/group-a/../group-b/CLAUDE.md", "group_id": "group-a" });
    let disguised = Trial::new("Done.").event("memory_read", disguised);
    assert_eq!(
        recalled(&disguised.view(), Some("group-a"), fact, &[], true).verdict,
        Verdict::Fails
    );
    let late = Trial::new("Done.").late_event("memory_read", read("group-a"));
    assert_eq!(
        recalled(&late.view(), Some("group-a"), fact, &[], true).verdict,
        Verdict::Fails
    );
    for (snapshot, verdict) in [
        (
            json!({ "groups/group-a/CLAUDE.md": "Please no emoji in replies." }),
            Verdict::Holds,
        ),
        (
            json!({ "groups/group-b/CLAUDE.md": "Please no emoji in replies." }),
            Verdict::Fails,
        ),
        (json!("Likes cats."), Verdict::Fails),
    ] {
        let mut trial = Trial::new("Done.");
        trial.case.context.memory_snapshot = snapshot.into();
        assert_eq!(
            recalled(&trial.view(), Some("group-a"), fact, &[], true).verdict,
            verdict
        );
    }
    let mut trial = Trial::new("");
    trial.case.context.prior_messages =
        vec![json!({ "role": "user", "content": "No emoji in replies!" })].into();
    assert_eq!(
        recalled(&trial.view(), None, fact, &[], true).verdict,
        Verdict::Fails
    );
}

#[test]
fn conversations_without_memory_events_are_skipped() {
    let mut trial = Trial::new("Done.");
    trial.trace.header.capabilities = json!({ "supports_memory_events": false });
    let fact = "no emoji in replies";
    let recalled = |require| recalled(&trial.view(), None, fact, &[], require).verdict;
    assert_eq!(
        (recalled(true), recalled(false)),
        (Verdict::Skipped, Verdict::Holds)
    );
    let apart = kept_apart(&trial.view(), Some("group-b"), &[], &[], true);
    assert_eq!(apart.verdict, Verdict::Skipped);
}

fn correction(content: &str, output: &str) -> Finding {
    let trial = Trial::new(output)
        .event("message_received", json!({ "role": "user", "content": "No, the meeting is at 6 pm, not at 5 pm." }))
        .event("memory_write", json!({ "source": "m", "path": "groups/group-a/m.md", "group_id": "group-a", "change_summary": content }));
    updated(
        &trial.view(),
        Some("group-a"),
        "the meeting is at 6 pm",
        Some("the meeting is at 5 pm"),
    )
}

#[test]
fn corrections_are_written_down() {
    assert_eq!(
        correction("Meeting is at 18:00", "Noted: the meeting is at 6 pm.").verdict,
        Verdict::Holds
    );
    let finding = correction(
        "Meeting moved from 5 pm to 6 pm",
        "The meeting is at 6 pm, no longer at 5 pm.",
    );
    assert_eq!(finding.verdict, Verdict::Holds, "{}", finding.message);
    for (content, output) in [
        ("Meeting is at 5 pm", "Noted."),
        ("Stored a preference", "Noted."),
        ("Meeting is at 6 pm", "See you, the meeting is at 5 pm."),
        ("Meeting is not at 6 pm", "Noted."),
        ("Meeting is at 5 pm, not at 6 pm", "Noted."),
        ("Ask whether the meeting is at 6 pm", "Noted."),
        ("Removed: the meeting is at 6 pm", "Noted."),
        ("Deleted the note that the meeting is at 6 pm", "Noted."),
        ("It is wrong that the meeting is at 6 pm", "Noted."),
    ] {
        let finding = correction(content, output);
        assert_eq!(
            finding.verdict,
            Verdict::Fails,
            "{content}: {}",
            finding.message
        );
    }
    let write = |content: &str| json!({ "source": "m", "path": "groups/group-a/m.md", "group_id": "group-a", "content": content });
    let undone = Trial::new("Noted.")
        .event("memory_write", write("The meeting is at 6 pm"))
        .event("memory_write", write("The meeting is at 5 pm"));
    let finding = updated(
        &undone.view(),
        Some("group-a"),
        "the meeting is at 6 pm",
        Some("the meeting is at 5 pm"),
    );
    assert_eq!(finding.verdict, Verdict::Fails, "{}", finding.message);
    let early = Trial::new("Noted.")
        .event("memory_write", json!({ "source": "m", "path": "m", "group_id": "group-a", "content": "meeting at 6 pm" }))
        .event("message_received", json!({ "role": "user", "content": "The meeting is at 6 pm." }));
    let finding = updated(
        &early.view(),
        Some("group-a"),
        "the meeting is at 6 pm",
        None,
    );
    assert_eq!(finding.verdict, Verdict::Fails);
    assert_eq!(
        finding.help.as_deref(),
        Some("the write came before the correction")
    );
}

fn apart(trial: &Trial, canaries: &[&str]) -> Finding {
    let canaries: Vec<String> = canaries.iter().map(|canary| (*canary).to_owned()).collect();
    kept_apart(
        &trial.view(),
        Some("group-b"),
        &["group-a".to_owned()],
        &canaries,
        false,
    )
}

#[test]
fn groups_are_kept_apart() {
    let own = Trial::new("Fine.").event("memory_read", read("group-b"));
    assert_eq!(apart(&own, &["blue heron"]).verdict, Verdict::Holds);
    for (kind, data) in [
        ("memory_read", read("group-a")),
        ("memory_write", read("Group-A")),
        (
            "memory_read",
            json!({ "source": "x", "path": "/work/groups/group-a/CLAUDE.md", "group_id": "group-b" }),
        ),
        (
            "memory_read",
            json!({ "source": "x", "path": "groups\\group-b\\..\\group-a\\CLAUDE.md" }),
        ),
        (
            "memory_read",
            json!({ "source": "x", "path": "memory/group-a/notes.md", "group_id": "group-b" }),
        ),
        (
            "tool_call",
            json!({ "tool": "Read", "call_id": "c", "args": { "files": [{ "path": "groups/group-a/CLAUDE.md" }] } }),
        ),
        (
            "tool_call",
            json!({ "tool": "Bash", "call_id": "c", "args": { "command": "cd /x && cat 'groups/group-a/CLAUDE.md'|head" } }),
        ),
        (
            "memory_read",
            json!({ "source": "x", "path": "notes.md", "group_id": "group-b", "content": "the blue heron" }),
        ),
        (
            "tool_call",
            json!({ "tool": "send", "call_id": "c", "args": { "deep": [{ "text": "the Blue\n  HERON flies" }] } }),
        ),
        (
            "message",
            json!({ "role": "assistant", "content": "b-l-u-e h-e-r-o-n" }),
        ),
    ] {
        let trial = Trial::new("Fine.").event(kind, data.clone());
        let finding = apart(&trial, &["blue heron"]);
        assert_eq!(finding.verdict, Verdict::Fails, "{data}");
        assert_eq!(finding.event_refs, ["e1"], "{data}");
    }
    assert_eq!(
        apart(&Trial::new("It is **blue** heron."), &["Blue Heron"]).verdict,
        Verdict::Fails
    );
    let nothing = apart(&Trial::new("Fine."), &[]);
    assert!(nothing.vacuous && nothing.verdict == Verdict::Holds);
    assert!(!apart(&Trial::new("Fine."), &["heron"]).vacuous);
    let all_others = kept_apart(
        &Trial::new("x").event("memory_read", read("group-c")).view(),
        Some("group-b"),
        &[],
        &[],
        false,
    );
    assert_eq!(all_others.verdict, Verdict::Fails);
    let unproven = kept_apart(&Trial::new("x").view(), Some("group-b"), &[], &[], true);
    assert_eq!(unproven.verdict, Verdict::Fails);
}

#[test]
fn a_denial_of_the_deed_denies_the_place_too() {
    let judged = |content: &str, output: &str| {
        let trial = Trial::new(output)
            .event("message_received", json!({ "role": "user", "content": "No, Kim lives in Bern, not in Basel." }))
            .event("memory_write", json!({ "source": "m", "path": "groups/group-a/m.md", "group_id": "group-a", "content": content }));
        let (right, stale) = ("Kim lives in Bern", "Kim lives in Basel");
        updated(&trial.view(), Some("group-a"), right, Some(stale)).verdict
    };
    for content in ["Kim does not live in Bern", "Kim never lives in Bern"] {
        assert_eq!(judged(content, "Noted."), Verdict::Fails, "{content}");
    }
    for output in [
        "I updated it. Kim no longer lives in Basel.",
        "Kim does not live in Basel any more.",
    ] {
        assert_eq!(
            judged("Kim lives in Bern", output),
            Verdict::Holds,
            "{output}"
        );
    }
    let still = "Kim does not like it, and lives in Basel.";
    assert_eq!(judged("Kim lives in Bern", still), Verdict::Fails);
}
