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

use json_patch::{Patch, PatchOperation, diff, patch};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, json};
use sha2::{Digest as _, Sha256};

use super::variables::references;
use crate::model::Fingerprint;
use cuecard_source::decode::by_hand;
use cuecard_source::diagnostic::{Diagnostic, any_error, codes};
use cuecard_source::document::{Language, read_document};
use cuecard_source::reader::{Format, Reader};
use cuecard_source::value::{Json, cut};
use cuecard_source::{SourceFile, Span};

/// The version that is written.
pub const HEAL_VERSION: &str = "cuecard-heal/1";

/// What a patch calls its mistakes.
const HEAL_FORMAT: Format = Format {
    missing: codes::BROWSER_HEAL,
    wrong_type: codes::BROWSER_HEAL,
    unknown: codes::BROWSER_UNKNOWN_KEY,
    value: codes::BROWSER_HEAL,
    path: codes::BROWSER_HEAL,
    check: codes::BROWSER_HEAL,
};

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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HealPatch {
    /// Version of the format.
    #[schemars(extend("const" = HEAL_VERSION))]
    version: String,
    /// The SHA-256 of the text of the steps that it fits, in hexadecimal.
    pub base: String,
    /// What is healed, for people.
    #[serde(default)]
    pub changes: Vec<HealedChange>,
    /// What is changed: a JSON Patch (RFC 6902).
    #[serde(deserialize_with = "operations")]
    #[schemars(schema_with = "operations_schema")]
    pub patch: Patch,
    /// Elements that may have another name now: each is accepted by its step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub renames: Vec<ProposedRename>,
}

/// A step whose element was healed, for people.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct HealedChange {
    /// The id of the step.
    pub step_id: String,
    /// Its sentence.
    pub description: String,
    /// Why the element is taken for the one that was meant.
    pub reason: String,
}

/// What would make a step know an element under another name: what was not done, since a person must accept it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProposedRename {
    /// The id of the step.
    #[serde(rename = "stepId")]
    pub id: String,
    /// Its sentence.
    #[serde(default)]
    pub description: String,
    /// What the element has of the old one.
    #[serde(default)]
    pub reason: String,
    /// The old name.
    #[serde(default)]
    pub from: String,
    /// The new name.
    #[serde(default)]
    pub to: String,
    /// What is changed once it is accepted.
    #[serde(deserialize_with = "operations")]
    #[schemars(schema_with = "operations_schema")]
    pub patch: Patch,
}

/// Reads operations, which may change nothing but what elements are known by.
fn operations<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Patch, D::Error> {
    by_hand(
        deserializer,
        Some(Patch::default()),
        |reader, node, pointer| {
            let message = match serde_json::from_value::<Patch>(node.to_value()) {
                Err(error) => format!("`patch` is not a JSON Patch: {error}"),
                Ok(patch) => match patch.iter().find(|operation| !is_allowed(operation)) {
                    None => return Some(patch),
                    Some(operation) => format!(
                        "the patch would change `{}`, which does not identify an element",
                        cut(operation.path().as_str(), 100)
                    ),
                },
            };
            reader.error_at(codes::BROWSER_HEAL, node.span, pointer, message);
            None
        },
    )
}

fn operations_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "op": { "enum": ["test", "add", "remove", "replace"] },
                "path": {
                    "type": "string",
                    "pattern": "^/testSteps/[0-9]+/(id$|(to/)?(selector|selectors|fingerprint|index)(/|$))",
                },
                "value": {},
            },
            "required": ["op", "path"],
            "if": { "properties": { "op": { "const": "remove" } } },
            "else": { "required": ["value"] },
        },
    })
}

impl HealPatch {
    /// The file as it is written: indented, with a line end.
    pub fn to_text(&self) -> String {
        format!("{:#}\n", json!(self))
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
            self.patch.0.clear();
            self.changes.clear();
        }
        self.renames.retain(|rename| ids.contains(&rename.id));
        let accepted = self
            .renames
            .iter()
            .flat_map(|rename| rename.patch.0.clone());
        self.patch.0.extend(accepted);
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
        patch(&mut document, &self.patch).map_err(|error| refused(error.to_string()))?;
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
    let patches = changes(&before, healed)?;
    let renames = renamed.iter().zip(changes(&before, renamed)?);
    let proposed = renames.map(|(step, patch)| {
        // The old name.
        let known = before.pointer(&format!("{}/fingerprint", step.pointer()));
        let old = |key: &str| known?.get(key)?.as_str().filter(|name| !name.is_empty());
        let from = old("name").or_else(|| old("text")).unwrap_or_default();
        ProposedRename {
            id: step.id.clone(),
            description: step.description.clone(),
            reason: step.reason.clone(),
            from: from.to_owned(),
            to: healed_name(step).to_owned(),
            patch: Patch(patch),
        }
    });
    Ok(HealPatch {
        version: HEAL_VERSION.to_owned(),
        base: hash(steps.text()),
        changes: healed
            .iter()
            .map(|step| HealedChange {
                step_id: step.id.clone(),
                description: step.description.clone(),
                reason: step.reason.clone(),
            })
            .collect(),
        patch: Patch(patches.into_iter().flatten().collect()),
        renames: proposed.collect(),
    })
}

/// What changes each step.
fn changes(before: &Json, healed: &[HealedStep]) -> Result<Vec<Vec<PatchOperation>>, Diagnostic> {
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
        let mut after = before.clone();
        if let Some(now) = after.pointer_mut(&element) {
            *now = Json::Object(with_new_marks(old, step));
        }
        let is_it = json!({"op": "test", "path": format!("{place}/id"), "value": step.id});
        let is_it = serde_json::from_value(is_it).map_err(|error| refused(error.to_string()))?;
        let patch = std::iter::once(is_it).chain(diff(before, &after).0);
        let patch = patch.collect();
        patches.push(patch);
    }
    Ok(patches)
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

/// Reads a patch.
///
/// # Errors
/// Everything that is wrong with it: it is none, or would change what a patch may not.
pub fn read_heal(source: &SourceFile) -> Result<HealPatch, Vec<Diagnostic>> {
    let read = read_document(source);
    let Some(root) = read.root.filter(|_| !any_error(&read.diagnostics)) else {
        return Err(read.diagnostics);
    };
    let mut reader = Reader::new(source, &HEAL_FORMAT);
    let patch = reader.decode::<HealPatch>(&root, "", "the patch");
    let at = Span::new(root.span.start as usize, root.span.start as usize + 1);
    for (version, renames) in patch.iter().map(|patch| (&patch.version, &patch.renames)) {
        if version != HEAL_VERSION {
            let message = format!("unsupported version `{}`", cut(version, 40));
            let found = reader.error(codes::BROWSER_HEAL, at, message);
            found.help = Some(format!("supported version: `{HEAL_VERSION}`"));
        }
        if let Some(rename) = renames.iter().find(|rename| !is_of_step(rename)) {
            let id = cut(&rename.id, 40);
            let message = format!("a rename is not of its step `{id}`");
            reader.error(codes::BROWSER_HEAL, at, message);
        }
    }
    match patch.filter(|_| !any_error(&reader.diagnostics)) {
        Some(patch) => Ok(patch),
        None => Err(reader.diagnostics),
    }
}

/// Whether a rename changes only the step that it names.
fn is_of_step(rename: &ProposedRename) -> bool {
    let step = match rename.patch.first() {
        Some(PatchOperation::Test(test)) if test.value == rename.id.as_str() => {
            test.path.as_str().strip_suffix("id")
        }
        _ => None,
    };
    let is_there = |operation: &PatchOperation| {
        step.is_some_and(|step| operation.path().as_str().starts_with(step))
    };
    rename.patch.iter().all(is_there) && !rename.id.is_empty() && step.is_some()
}

/// Whether a patch may do this.
fn is_allowed(operation: &PatchOperation) -> bool {
    use PatchOperation::{Copy, Move, Test};
    let Some(rest) = operation.path().as_str().strip_prefix("/testSteps/") else {
        return false;
    };
    let Some((place, inside)) = rest.split_once('/') else {
        return false;
    };
    let element = inside.strip_prefix("to/").unwrap_or(inside);
    let key = element.split('/').next().unwrap_or_default();
    let is_place = place.bytes().all(|byte| byte.is_ascii_digit()) && !place.is_empty();
    let is_mark = MAY_CHANGE.contains(&key) && !matches!(operation, Move(_) | Copy(_));
    is_place && (is_mark || (inside == "id" && matches!(operation, Test(_))))
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
        let rename = &read.renames[0];
        assert_eq!((&*rename.from, &*rename.to), ("Log in", "Pay now"));
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
            ("/1/selectors/0\"", "/0/selectors/0\""),
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
                "would change `/url/0`",
            ),
            (
                patch.to_text().replace("\"test\"", "\"replace\""),
                "would change `/testSteps/1/id`",
            ),
            (patch.to_text().replace("\"base\"", "\"bass\""), "no `base`"),
            (
                patch.to_text().replace("\"patch\"", "\"path\""),
                "no `patch`",
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
            prop_assert!(rest.patch.iter().all(|operation| matches!(operation, PatchOperation::Test(_))));
        }

        #[test]
        fn hostile_patches_never_change_more(text in "\\PC{0,60}") {
            let _ = read_heal(&SourceFile::new("h.json", text.clone()));
            let _ = read_heal(&SourceFile::new("h.json", format!("{{\"version\": \"cuecard-heal/1\", \"base\": \"\", \"patch\": [{text}]}}")));
        }
    }
}
