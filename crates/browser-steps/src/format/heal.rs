//! Patches that heal steps: what a run learned of elements that are not as they were, as a file beside the steps.
//!
//! ```json
//! { "version": "cuecard-heal/1",
//!   "base": "9f86d081884c7d65…",
//!   "changes": [ { "stepId": "st-3f9a1c07b2de", "description": "Click 'Log in'", "reason": "…" } ],
//!   "patch": [ { "op": "test", "path": "/testSteps/1/id", "value": "st-3f9a1c07b2de" },
//!              { "op": "replace", "path": "/testSteps/1/selector", "value": "role=button[name=\"Sign in\"]" } ],
//!   "renames": [ { "stepId": "st-91be0d44a6f1", "description": "Click 'Save'", "reason": "…", "from": "Save", "to": "Publish",
//!                  "patch": [ … ] } ] }
//! ```
//!
//! `renames` are not part of `patch`: a person accepts each by the id of its step.
//! `patch` is a JSON Patch (RFC 6902), which other tools can apply too. `base` is the SHA-256 of the text of the steps
//! that it fits; to any other text it is not applied. Nothing but selectors, fingerprints and indexes is ever changed.

use serde_json::{Map, json};
use sha2::{Digest as _, Sha256};

use super::variables::references;
use crate::model::Fingerprint;
use cuecard_source::diagnostic::{Diagnostic, any_error, codes};
use cuecard_source::document::{Language, read_document};
use cuecard_source::value::patch::{Operation, apply, difference, read_patch};
use cuecard_source::value::{Json, cut};
use cuecard_source::{SourceFile, Span};

/// The version that is written.
pub const HEAL_VERSION: &str = "cuecard-heal/1";

/// What a step is known by: all that a patch may change of it.
const MAY_CHANGE: &[&str] = &["selector", "selectors", "fingerprint", "index"];

/// A step whose element is known by something else now.
#[derive(Debug, Clone, PartialEq)]
pub struct HealedStep {
    /// Its place among the steps, from 0.
    pub place: usize,
    /// Whether it is the element that the step drags to.
    pub is_destination: bool,
    /// Its id.
    pub id: String,
    /// Its sentence.
    pub description: String,
    /// Why the element is taken for the one that was meant.
    pub reason: String,
    /// Its selectors now, the most lasting first.
    pub selectors: Vec<String>,
    /// What it is now.
    pub fingerprint: Fingerprint,
    /// Its highlight index now.
    pub index: Option<u32>,
}

impl HealedStep {
    /// Where a file says what its element is known by.
    fn pointer(&self) -> String {
        let inside = if self.is_destination { "/to" } else { "" };
        format!("/testSteps/{}{inside}", self.place)
    }
}

/// A patch that fits one text of steps.
#[derive(Debug, Clone, PartialEq)]
pub struct HealPatch {
    /// The SHA-256 of the text that it fits, in hexadecimal.
    pub base: String,
    /// `changes`: for people.
    pub changes: Vec<Json>,
    /// What is changed.
    pub patch: Vec<Operation>,
    /// What was not done, since an element may have another name by now: each is accepted by itself.
    pub renames: Vec<ProposedRename>,
}

/// What would make a step know an element under another name.
#[derive(Debug, Clone, PartialEq)]
pub struct ProposedRename {
    /// The id of the step.
    pub id: String,
    /// The other keys of the file: for people.
    pub told: Map<String, Json>,
    /// What is changed, if a person says that it is the same element.
    pub patch: Vec<Operation>,
}

impl HealPatch {
    /// The file as it is written: indented, with a line end.
    pub fn to_text(&self) -> String {
        let operations =
            |patch: &[Operation]| -> Vec<Json> { patch.iter().map(Operation::to_json).collect() };
        let mut file = json!({
            "version": HEAL_VERSION,
            "base": self.base,
            "changes": self.changes,
            "patch": operations(&self.patch),
        });
        if !self.renames.is_empty() {
            let rename = |rename: &ProposedRename| {
                let mut told = rename.told.clone();
                told.insert("patch".to_owned(), operations(&rename.patch).into());
                Json::Object(told)
            };
            file["renames"] = self.renames.iter().map(rename).collect();
        }
        format!("{file:#}\n")
    }

    /// The patch of these renames, and with `is_whole` of everything else; it keeps the renames that it is made of.
    ///
    /// # Errors
    /// If one of them is not proposed.
    pub fn accepting(mut self, ids: &[String], is_whole: bool) -> Result<Self, Diagnostic> {
        if let Some(id) = ids
            .iter()
            .find(|id| self.renames.iter().all(|one| one.id != **id))
        {
            return Err(no_rename(id));
        }
        if !is_whole {
            self.patch.clear();
            self.changes.clear();
        }
        self.renames.retain(|rename| ids.contains(&rename.id));
        let accepted = self.renames.iter().flat_map(|rename| rename.patch.clone());
        self.patch.extend(accepted);
        Ok(self)
    }

    /// The text of the steps with the changes: what is not changed stays in its order.
    ///
    /// # Errors
    /// If the patch was made for another text, or the steps are not JSON.
    pub fn apply(&self, steps: &SourceFile) -> Result<String, Diagnostic> {
        if hash(steps.text()) != self.base {
            return Err(refused(format!(
                "the patch was made for a different version of `{}`",
                steps.name()
            ))
            .with_help("remove it, and create a new one: `cuecard play FILE --heal propose`"));
        }
        if Language::of(steps) == Language::Yaml {
            return Err(
                refused(format!("`{}` is a YAML file", steps.name())).with_help(
                    "only JSON steps can be healed: save them as JSON, or edit them by hand",
                ),
            );
        }
        let mut document = document(steps)?;
        apply(&mut document, &self.patch).map_err(|error| refused(error.to_string()))?;
        Ok(format!("{document:#}\n"))
    }
}

/// The patch that gives `steps` what the healed ones are known by now, and proposes the new names of the renamed ones.
///
/// # Errors
/// If the text can't be read as steps.
pub fn heal(
    steps: &SourceFile,
    healed: &[HealedStep],
    renamed: &[HealedStep],
) -> Result<HealPatch, Diagnostic> {
    let before = document(steps)?;
    let patches = operations(&before, healed)?;
    let renames = renamed.iter().zip(operations(&before, renamed)?);
    Ok(HealPatch {
        base: hash(steps.text()),
        changes: healed.iter().map(|step| change(step).into()).collect(),
        patch: patches.into_iter().flatten().collect(),
        renames: renames
            .map(|(step, patch)| ProposedRename {
                id: step.id.clone(),
                told: rename(&before, step),
                patch,
            })
            .collect(),
    })
}

/// What changes each step.
fn operations(before: &Json, healed: &[HealedStep]) -> Result<Vec<Vec<Operation>>, Diagnostic> {
    let mut patches = Vec::new();
    for step in healed {
        let place = format!("/testSteps/{}", step.place);
        let element = step.pointer();
        let Some(Json::Object(old)) = before.pointer(&element) else {
            return Err(refused(format!("there is no step {}", step.place + 1)));
        };
        if let Some(reference) = lost_reference(old, healed_name(step)) {
            let (number, now) = (step.place + 1, cut(healed_name(step), 60));
            return Err(refused(format!(
                "step {number}: its element was named by `{{{{{reference}}}}}`, and is now named `{now}` regardless of the variable"
            ))
            .with_help("if the page is right, change the variable, and parse the script again"));
        }
        let mut patch = vec![Operation::Test(
            format!("{place}/id"),
            step.id.clone().into(),
        )];
        let new = with_new_marks(old, step);
        let changes = difference(&Json::Object(old.clone()), &Json::Object(new));
        patch.extend(
            changes
                .into_iter()
                .map(|operation| operation.below(&element)),
        );
        patches.push(patch);
    }
    Ok(patches)
}

/// A proposed rename for people: the old name and the new one.
fn rename(before: &Json, step: &HealedStep) -> Map<String, Json> {
    let mut told = change(step);
    let known = before.pointer(&format!("{}/fingerprint", step.pointer()));
    let old = |key: &str| known?.get(key)?.as_str().filter(|name| !name.is_empty());
    let from = old("name").or_else(|| old("text")).unwrap_or_default();
    told.insert("from".to_owned(), from.into());
    told.insert("to".to_owned(), healed_name(step).into());
    told
}

/// What the element of a step is called now.
fn healed_name(step: &HealedStep) -> &str {
    step.fingerprint.called()
}

/// A reference to a variable in what an element was called that it isn't called by any more.
fn lost_reference<'o>(old: &'o Map<String, Json>, now: &str) -> Option<&'o str> {
    let known = old.get("fingerprint")?;
    let kept = references(now);
    ["name", "text"]
        .iter()
        .filter_map(|key| known.get(*key)?.as_str())
        .flat_map(references)
        .find(|reference| !kept.contains(reference))
}

/// A step with what it is known by now. Keys that it does not have stay away: a short file stays short.
fn with_new_marks(step: &Map<String, Json>, healed: &HealedStep) -> Map<String, Json> {
    let mut step = step.clone();
    let values = [
        (
            "selector",
            healed.selectors.first().map(|first| json!(first)),
        ),
        ("selectors", Some(json!(healed.selectors))),
        ("fingerprint", Some(json!(healed.fingerprint))),
        ("index", healed.index.map(Json::from)),
    ];
    for (key, value) in values {
        if let (Some(old), Some(value)) = (step.get_mut(key), value) {
            *old = value;
        }
    }
    step
}

fn change(step: &HealedStep) -> Map<String, Json> {
    let entries = [
        ("stepId", json!(step.id)),
        ("description", json!(step.description)),
        ("reason", json!(step.reason)),
    ];
    entries
        .map(|(key, value)| (key.to_owned(), value))
        .into_iter()
        .collect()
}

/// Reads a patch.
///
/// # Errors
/// Everything that is wrong with it: it is none, or would change what a patch may not.
pub fn read_heal(source: &SourceFile) -> Result<HealPatch, Vec<Diagnostic>> {
    let read = read_document(source);
    let Some(root) = read.root.filter(|_| !any_error(&read.diagnostics)) else {
        return Err(read.diagnostics);
    };
    let file = root.to_value();
    let at = Span::new(root.span.start as usize, root.span.start as usize + 1);
    let wrong = |message: String| refused(message).at(source, at);
    let text = |key: &str| file.get(key).and_then(Json::as_str);
    let mut found = Vec::new();
    match text("version") {
        Some(HEAL_VERSION) => {}
        Some(other) => found.push(
            wrong(format!("unsupported version `{}`", cut(other, 40)))
                .with_help(format!("supported version: `{HEAL_VERSION}`")),
        ),
        None => found.push(wrong("the patch has no `version`".to_owned())),
    }
    if text("base").is_none() {
        found.push(wrong("the patch has no `base`".to_owned()));
    }
    let patch = match read_patch(&file["patch"]) {
        Ok(patch) => patch,
        Err(error) => {
            found.push(wrong(error.to_string()));
            Vec::new()
        }
    };
    let renames = file["renames"].as_array().map_or(&[][..], Vec::as_slice);
    let renames: Vec<ProposedRename> = match renames.iter().map(read_rename).collect() {
        Ok(renames) => renames,
        Err(message) => {
            found.push(wrong(message));
            Vec::new()
        }
    };
    let of_renames = renames.iter().flat_map(|rename| &rename.patch);
    let foreign = patch
        .iter()
        .chain(of_renames)
        .find(|operation| !is_allowed(operation));
    if let Some(operation) = foreign {
        found.push(wrong(format!(
            "the patch would change `{}`, which does not identify an element",
            cut(operation.pointer(), 100)
        )));
    }
    if !found.is_empty() {
        return Err(found);
    }
    Ok(HealPatch {
        base: text("base").unwrap_or_default().to_owned(),
        changes: file["changes"].as_array().cloned().unwrap_or_default(),
        patch,
        renames,
    })
}

/// Reads a proposed rename: it may change only the step that it names.
fn read_rename(rename: &Json) -> Result<ProposedRename, String> {
    let mut told = rename.as_object().cloned().unwrap_or_default();
    let patch = told.remove("patch").unwrap_or_default();
    let patch = read_patch(&patch).map_err(|error| error.to_string())?;
    let id = rename["stepId"].as_str().unwrap_or_default().to_owned();
    let step = match patch.first() {
        Some(Operation::Test(pointer, tested)) if *tested == id.as_str() => {
            pointer.strip_suffix("id")
        }
        _ => None,
    };
    let is_of_step =
        |operation: &Operation| step.is_some_and(|step| operation.pointer().starts_with(step));
    match patch.iter().all(is_of_step) && !id.is_empty() && step.is_some() {
        true => Ok(ProposedRename { id, told, patch }),
        false => Err(format!("a rename is not of its step `{}`", cut(&id, 40))),
    }
}

/// Whether a patch may do this.
fn is_allowed(operation: &Operation) -> bool {
    let Some(rest) = operation.pointer().strip_prefix("/testSteps/") else {
        return false;
    };
    let Some((place, inside)) = rest.split_once('/') else {
        return false;
    };
    let element = inside.strip_prefix("to/").unwrap_or(inside);
    let key = element.split('/').next().unwrap_or_default();
    let is_place = place.bytes().all(|byte| byte.is_ascii_digit()) && !place.is_empty();
    let is_mark = MAY_CHANGE.contains(&key);
    is_place && (is_mark || (inside == "id" && matches!(operation, Operation::Test(..))))
}

fn document(steps: &SourceFile) -> Result<Json, Diagnostic> {
    let read = read_document(steps);
    match read.root {
        Some(root) => Ok(root.to_value()),
        None => Err(refused(format!("`{}` can't be read", steps.name()))),
    }
}

/// The error for a rename that is accepted, and not proposed.
pub fn no_rename(id: &str) -> Diagnostic {
    refused(format!("no rename is proposed for step `{}`", cut(id, 40)))
        .with_help("play the steps without `--accept-rename` first")
}

fn refused(message: String) -> Diagnostic {
    Diagnostic::error(codes::BROWSER_HEAL, message)
}

fn hash(text: &str) -> String {
    Sha256::digest(text)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::format::read_steps;

    const STEPS: &str = r#"{
  "testSteps": [
    { "id": "st-1", "description": "Open", "action": "navigate", "url": "/a", "mine": 1 },
    { "id": "st-2", "description": "Click 'Log in'", "action": "click", "selector": "css=#a", "note": [1, 2],
      "selectors": ["css=#a"], "fingerprint": { "role": "button", "name": "Log in", "tag": "button", "testId": "go" } }
  ],
  "version": "cuecard-steps/1", "url": "https://example.org", "x-mine": {"b": 1, "a": 2}
}"#;

    #[test]
    fn a_name_that_a_variable_gave_is_not_made_a_fixed_one() {
        let steps = SourceFile::new("steps.json", STEPS.replace("Log in\"", "{{BTN}}\""));
        let error =
            heal(&steps, &[healed("Apply")], &[]).expect_err("another one with other values");
        assert_eq!(error.code, codes::BROWSER_HEAL);
        assert!(error.message.contains("`{{BTN}}`"), "{}", error.message);
        heal(&steps, &[healed("{{BTN}} now")], &[]).expect("it still says so");
    }

    fn healed(name: &str) -> HealedStep {
        HealedStep {
            place: 1,
            is_destination: false,
            id: "st-2".to_owned(),
            description: "Click 'Log in'".to_owned(),
            reason: "it has the id `a`".to_owned(),
            selectors: vec![format!("role=button[name={name:?}]"), "css=#a".to_owned()],
            fingerprint: Fingerprint {
                role: "button".to_owned(),
                name: name.to_owned(),
                tag: "button".to_owned(),
                alone: true,
                ..Fingerprint::default()
            },
            index: Some(3),
        }
    }

    fn source(text: &str) -> SourceFile {
        SourceFile::new("steps.json", text)
    }

    #[test]
    fn a_patch_changes_what_an_element_is_known_by_and_nothing_else() {
        let steps = source(STEPS);
        let patch = heal(&steps, &[healed("Sign in")], &[]).expect("it fits");
        let text = patch.apply(&steps).expect("it fits");
        let read = read_steps(&source(&text));
        let step = &read.steps.expect("valid").test_steps[1];
        assert_eq!(step.selectors[0], "role=button[name=\"Sign in\"]");
        let fingerprint = step.fingerprint.as_ref().expect("it has one");
        assert_eq!(
            (fingerprint.name.as_str(), &fingerprint.test_id),
            ("Sign in", &None)
        );
        assert_eq!(step.index, None, "a key that was not there");
        let order = [
            "testSteps",
            "mine",
            "note",
            "version",
            "x-mine",
            "\"b\"",
            "\"a\": 2",
        ];
        let places: Vec<_> = order.iter().map(|key| text.find(key).expect(key)).collect();
        assert!(places.is_sorted(), "{text}");
    }

    #[test]
    fn a_patch_is_read_as_it_was_written() {
        let steps = source(STEPS);
        let patch = heal(&steps, &[healed("Sign in")], &[]).expect("it fits");
        let read = read_heal(&SourceFile::new("steps.heal.json", patch.to_text()));
        assert_eq!(read.expect("readable"), patch);
    }

    #[test]
    fn a_rename_is_no_part_of_the_patch_until_it_is_accepted() {
        let steps = source(STEPS);
        let patch = heal(&steps, &[], &[healed("Pay now")]).expect("it fits");
        let file = SourceFile::new("steps.heal.json", patch.to_text());
        let read = read_heal(&file).expect("readable");
        assert_eq!(read, patch);
        let told = &read.renames[0].told;
        assert_eq!(
            (&told["from"], &told["to"]),
            (&json!("Log in"), &json!("Pay now"))
        );
        let ids = ["st-2".to_owned()];
        for (ids, is_whole, is_renamed) in [(&[][..], true, false), (&ids[..], false, true)] {
            let accepted = read.clone().accepting(ids, is_whole).expect("proposed");
            let text = accepted.apply(&steps).expect("it fits");
            assert_eq!(text.contains("Pay now"), is_renamed);
        }
        let error = read
            .accepting(&["st-1".to_owned()], true)
            .expect_err("another step");
        assert!(error.message.contains("`st-1`"), "{}", error.message);
        for (from, to) in [
            ("/1/selectors\"", "/0/selectors\""),
            ("\"stepId\": \"st-2\"", "\"stepId\": \"st-1\""),
            ("/1/fingerprint/name", "/1/value"),
        ] {
            let changed = patch.to_text().replace(from, to);
            assert_ne!(changed, patch.to_text(), "{from}");
            assert!(
                read_heal(&SourceFile::new("h.json", changed)).is_err(),
                "{from}"
            );
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let steps = source(STEPS);
        let patch = heal(&steps, &[healed("Sign in")], &[]).expect("it fits");
        let other = source(&STEPS.replace("Open", "Close"));
        let error = patch.apply(&other).expect_err("another text");
        assert_eq!(error.code, codes::BROWSER_HEAL);
        assert!(
            error.message.contains("a different version"),
            "{}",
            error.message
        );
        let yaml = SourceFile::new("steps.yaml", STEPS);
        assert!(
            patch
                .apply(&yaml)
                .expect_err("YAML")
                .message
                .contains("YAML")
        );
        for (changed, message) in [
            (
                patch.to_text().replace("heal/1", "heal/2"),
                "unsupported version",
            ),
            (
                patch.to_text().replace("/1/selector\"", "/1/action\""),
                "would change `/testSteps/1/action`",
            ),
            (
                patch.to_text().replace("/testSteps/1/selectors", "/url"),
                "would change `/url`",
            ),
            (
                patch.to_text().replace("\"test\"", "\"replace\""),
                "would change `/testSteps/1/id`",
            ),
            (patch.to_text().replace("\"base\"", "\"bass\""), "no `base`"),
            (
                patch.to_text().replace("\"patch\"", "\"path\""),
                "not an array",
            ),
            ("[".to_owned(), ""),
        ] {
            let errors = read_heal(&SourceFile::new("steps.heal.json", changed.clone()))
                .expect_err(&changed);
            assert!(
                errors.iter().any(|error| error.message.contains(message)),
                "{errors:?}"
            );
        }
        let nowhere = HealedStep {
            place: 7,
            is_destination: false,
            ..healed("x")
        };
        assert!(heal(&steps, &[nowhere], &[]).is_err());
    }

    proptest! {
        #[test]
        fn applying_a_patch_gives_what_was_learned(name in "\\PC{0,12}", test_id in proptest::option::of("[a-z]{1,4}"), near in "\\PC{0,6}") {
            let mut step = healed(&name);
            step.fingerprint.test_id = test_id;
            step.fingerprint.column = Some(near);
            let steps = source(STEPS);
            let patch = heal(&steps, &[step.clone()], &[]).expect("it fits");
            let again = read_heal(&SourceFile::new("h.json", patch.to_text())).expect("readable");
            let text = again.apply(&steps).expect("it fits");
            let read = read_steps(&source(&text)).steps.expect("valid");
            prop_assert_eq!(&read.test_steps[1].selectors, &step.selectors);
            prop_assert_eq!(read.test_steps[1].fingerprint.as_ref(), Some(&step.fingerprint));
            // Healed once, there is nothing left to heal.
            let rest = heal(&source(&text), &[step], &[]).expect("it fits");
            prop_assert!(rest.patch.iter().all(|operation| matches!(operation, Operation::Test(..))));
        }

        #[test]
        fn hostile_patches_never_change_more(text in "\\PC{0,60}") {
            let _ = read_heal(&SourceFile::new("h.json", text.clone()));
            let _ = read_heal(&SourceFile::new("h.json", format!("{{\"version\": \"cuecard-heal/1\", \"base\": \"\", \"patch\": [{text}]}}")));
        }
    }
}
