//! Reads `options`.

use std::path::PathBuf;

use super::fields;
use crate::model::{
    BrowserOptions, OnDialog, OnFailure, Provider, ProviderKind, TranslatorChoice, Viewport,
};
use cuecard_source::diagnostic::codes;
use cuecard_source::json::{Node, NodeKind};
use cuecard_source::reader::{Object, Reader, found};

/// The longest times, in milliseconds.
const LONGEST_PARSE: u64 = 3_600_000;
pub(super) const LONGEST_ACTION: u64 = 600_000;

/// The largest viewport, and the bounds of counts.
const WIDEST: u64 = 10_000;
const MOST_REPLIES: u64 = 10;
const BUDGET: (u64, u64) = (500, 1_000_000);
const MOST_ATTRIBUTES: usize = 50;

const TRANSLATORS: &[(&str, TranslatorChoice)] = &[
    ("rules", TranslatorChoice::Rules),
    ("model", TranslatorChoice::Model),
    ("rules+model", TranslatorChoice::RulesThenModel),
];
const ON_FAILURE: &[(&str, OnFailure)] =
    &[("stop", OnFailure::Stop), ("continue", OnFailure::Continue)];
const ON_DIALOG: &[(&str, OnDialog)] =
    &[("dismiss", OnDialog::Dismiss), ("accept", OnDialog::Accept)];
const PROVIDERS: &[(&str, ProviderKind)] = &[
    ("openai", ProviderKind::OpenAi),
    ("anthropic", ProviderKind::Anthropic),
];

/// The options of a scenario; what can't be read is reported and has its default.
pub(super) fn options(reader: &mut Reader<'_>, root: Object<'_>) -> BrowserOptions {
    let mut options = BrowserOptions::default();
    let Some(object) = object_at(reader, root, "options", "/options") else {
        return options;
    };
    reader.unknown_keys(object, fields::OPTIONS, &[], "`options`");
    let mut time = |key, most, into: &mut u64| {
        if let Some(value) = milliseconds(reader, object, key, most) {
            *into = value;
        }
    };
    time("timeoutMs", LONGEST_PARSE, &mut options.timeout_ms);
    time(
        "actionTimeoutMs",
        LONGEST_ACTION,
        &mut options.action_timeout_ms,
    );
    time(
        "assertTimeoutMs",
        LONGEST_ACTION,
        &mut options.assert_timeout_ms,
    );
    if let Some(viewport) = viewport(reader, object) {
        options.viewport = viewport;
    }
    if let Some(locale) = word(reader, object, "locale", |sign| {
        sign.is_ascii_alphanumeric() || sign == '-'
    }) {
        options.locale = locale;
    }
    if let Some(timezone) = word(reader, object, "timezone", |sign| {
        sign.is_ascii_alphanumeric() || matches!(sign, '/' | '_' | '-' | '+')
    }) {
        options.timezone = timezone;
    }
    options.storage_state = file(reader, object);
    if let Some(name) = word(reader, object, "testIdAttribute", is_attribute) {
        options.test_id_attribute = name;
    }
    if let Some(choice) = reader.one_of(object, "translator", "`translator`", TRANSLATORS) {
        options.translator = choice;
    }
    if let Some(confidence) = confidence(reader, object) {
        options.min_confidence = confidence;
    }
    if let Some(replies) = whole(reader, object, "maxReplies", 1, MOST_REPLIES) {
        options.max_replies = replies;
    }
    if let Some(budget) = whole(reader, object, "promptBudget", BUDGET.0, BUDGET.1) {
        options.prompt_budget = usize::try_from(budget).unwrap_or(usize::MAX);
    }
    if let Some(choice) = reader.one_of(object, "onFailure", "`onFailure`", ON_FAILURE) {
        options.on_failure = choice;
    }
    if let Some(choice) = reader.one_of(object, "onDialog", "`onDialog`", ON_DIALOG) {
        options.on_dialog = choice;
    }
    options.include_attributes = attributes(reader, object);
    options.llm = provider(reader, object);
    options
}

/// An object below another.
pub(super) fn object_at<'n>(
    reader: &mut Reader<'_>,
    object: Object<'n>,
    key: &str,
    pointer: &'n str,
) -> Option<Object<'n>> {
    let node = reader.get(object, key)?;
    if !matches!(node.kind, NodeKind::Object(_)) {
        reader.wrong_type(node, pointer, &format!("`{key}`"), "an object");
        return None;
    }
    Some(Object { node, pointer })
}

fn invalid(reader: &mut Reader<'_>, node: &Node, pointer: String, message: String) {
    let diagnostic = reader.error(codes::BROWSER_OPTION, node.span, message);
    diagnostic.pointer = Some(pointer);
}

/// A time in milliseconds from 1 to `most`.
pub(super) fn milliseconds(
    reader: &mut Reader<'_>,
    object: Object<'_>,
    key: &str,
    most: u64,
) -> Option<u64> {
    whole(reader, object, key, 1, most)
}

fn whole(
    reader: &mut Reader<'_>,
    object: Object<'_>,
    key: &str,
    least: u64,
    most: u64,
) -> Option<u64> {
    let node = reader.get(object, key)?;
    let number = node
        .as_u64()
        .filter(|number| (least..=most).contains(number));
    if number.is_none() {
        let message = format!(
            "`{key}` must be a whole number from {least} to {most}, not {}",
            found(node)
        );
        invalid(reader, node, object.child_pointer(key), message);
    }
    number
}

fn viewport(reader: &mut Reader<'_>, object: Object<'_>) -> Option<Viewport> {
    let below = object_at(reader, object, "viewport", "/options/viewport")?;
    reader.unknown_keys(below, fields::VIEWPORT, &[], "`viewport`");
    let mut side = |key: &str| {
        let example = format!("\"{key}\": 1000");
        reader.required(below, key, "`viewport`", &example)?;
        whole(reader, below, key, 1, WIDEST).and_then(|side| u32::try_from(side).ok())
    };
    let (width, height) = (side("width"), side("height"));
    Some(Viewport {
        width: width?,
        height: height?,
    })
}

/// A short text of certain characters.
fn word(
    reader: &mut Reader<'_>,
    object: Object<'_>,
    key: &str,
    is_allowed: fn(char) -> bool,
) -> Option<String> {
    let (text, node) = reader.text(object, key, &format!("`{key}`"))?;
    if text.is_empty() || text.len() > 64 || !text.chars().all(is_allowed) {
        let message = format!("`{key}` can't be {}", found(node));
        invalid(reader, node, object.child_pointer(key), message);
        return None;
    }
    Some(text.to_owned())
}

fn is_attribute(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_' | ':' | '.')
}

fn file(reader: &mut Reader<'_>, object: Object<'_>) -> Option<PathBuf> {
    let (text, node) = reader.text(object, "storageState", "`storageState`")?;
    if text.trim().is_empty() || text.contains('\0') {
        let message = "`storageState` is not a valid file name".to_owned();
        invalid(reader, node, object.child_pointer("storageState"), message);
        return None;
    }
    Some(PathBuf::from(text))
}

fn confidence(reader: &mut Reader<'_>, object: Object<'_>) -> Option<f64> {
    let node = reader.get(object, "minConfidence")?;
    let number = node.as_f64().filter(|number| (0.0..=1.0).contains(number));
    if number.is_none() {
        let message = format!(
            "`minConfidence` must be a number between 0 and 1, not {}",
            found(node)
        );
        invalid(reader, node, object.child_pointer("minConfidence"), message);
    }
    number
}

fn attributes(reader: &mut Reader<'_>, object: Object<'_>) -> Vec<String> {
    let key = "includeAttributes";
    let Some(node) = reader.get(object, key) else {
        return Vec::new();
    };
    let pointer = object.child_pointer(key);
    let Some(items) = node.as_array() else {
        reader.wrong_type(node, &pointer, "`includeAttributes`", "a list of names");
        return Vec::new();
    };
    if items.len() > MOST_ATTRIBUTES {
        let message = format!("`includeAttributes` has more than {MOST_ATTRIBUTES} names");
        invalid(reader, node, pointer, message);
        return Vec::new();
    }
    items
        .iter()
        .enumerate()
        .filter_map(|(index, item)| {
            let pointer = format!("{pointer}/{index}");
            let text = reader.text_of(item, &pointer, "the name of an attribute")?;
            if text.is_empty() || text.len() > 64 || !text.chars().all(is_attribute) {
                let message = format!("{} is not a valid attribute name", found(item));
                invalid(reader, item, pointer, message);
                return None;
            }
            Some(text.to_owned())
        })
        .collect()
}

fn provider(reader: &mut Reader<'_>, object: Object<'_>) -> Option<Provider> {
    let below = object_at(reader, object, "llm", "/options/llm")?;
    reader.unknown_keys(below, fields::LLM, &[], "`llm`");
    reader.required(below, "provider", "`llm`", "\"provider\": \"openai\"");
    let kind = reader.one_of(below, "provider", "`provider`", PROVIDERS);
    let model = reader
        .required(below, "model", "`llm`", "the name of a model")
        .and_then(|_| reader.text(below, "model", "`model`"))
        .map(|(text, _)| text.to_owned());
    let base_url = reader
        .text(below, "baseUrl", "`baseUrl`")
        .map(|(text, _)| text.to_owned());
    let api_key_env = word(reader, below, "apiKeyEnv", |sign| {
        sign.is_ascii_alphanumeric() || sign == '_'
    });
    Some(Provider {
        kind: kind?,
        model: model?,
        base_url,
        api_key_env,
    })
}
