//! What a provider surely refuses, in its words: demands that no model can meet, and contents that nobody can read.
//! What it may refuse one day, or refuses only of some models, is passed over.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use cuecard_source::value::{Json, cut};
use cuecard_timeline::script::Endpoint;

use super::errors::ApiError;
use super::ids;

/// The least budget for thinking, in tokens.
const LEAST_BUDGET: u64 = 1024;

/// More texts to stop at Chat does not take.
const MOST_STOPS: usize = 4;

/// The longest names of tools: of Anthropic's and Google's, and of Responses; and of Chat.
const LONGEST: usize = 128;
const LONGEST_OF_CHAT: usize = 64;

/// The images that Anthropic reads.
const CLAUDE_IMAGES: &[&str] = &["image/jpeg", "image/png", "image/gif", "image/webp"];

/// Base64, padded or not.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The refusal of the provider, if it refuses a request with this body and, of Anthropic's, these `betas`.
pub(super) fn refusal(endpoint: Endpoint, body: &Json, betas: &str) -> Option<ApiError> {
    let checked = match endpoint {
        Endpoint::Messages => messages(body, betas),
        Endpoint::Chat | Endpoint::Responses => open_ai(endpoint, body),
        Endpoint::Gemini => gemini(body),
    };
    let (place, message) = checked.err()?;
    Some(match endpoint {
        Endpoint::Messages if place.is_empty() => ApiError::new(400, message),
        Endpoint::Messages => ApiError::new(400, format!("{place}: {message}")),
        Endpoint::Gemini => ApiError::new(400, message),
        Endpoint::Chat | Endpoint::Responses => {
            let mut error = ApiError::new(400, message);
            error.param = Some(place);
            error.code = Some("invalid_value".to_owned());
            error
        }
    })
}

/// Nothing, or where something is refused, and what is wrong with it.
type Checked = Result<(), (String, String)>;

fn refuse(place: impl Into<String>, message: impl Into<String>) -> Checked {
    Err((place.into(), message.into()))
}

fn items<'j>(json: &'j Json, key: &str) -> impl Iterator<Item = (usize, &'j Json)> + use<'j> {
    json[key].as_array().into_iter().flatten().enumerate()
}

fn text<'j>(json: &'j Json, key: &str) -> &'j str {
    json[key].as_str().unwrap_or_default()
}

fn is_word(name: &str, also: &str, most: usize) -> bool {
    let is_sign = |sign: char| sign.is_ascii_alphanumeric() || also.contains(sign);
    !name.is_empty() && name.len() <= most && name.chars().all(is_sign)
}

fn messages(body: &Json, betas: &str) -> Checked {
    let mut names = Vec::new();
    for (idx, tool) in items(body, "tools") {
        let name = text(tool, "name");
        let is_custom = matches!(text(tool, "type"), "" | "custom");
        if is_custom && !is_word(name, "_-", LONGEST) {
            let message = "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'";
            return refuse(format!("tools.{idx}.custom.name"), message);
        }
        if names.contains(&name) && !name.is_empty() {
            return refuse("tools", "Tool names must be unique.");
        }
        names.push(name);
    }
    let choice = &body["tool_choice"];
    if text(choice, "type") == "tool" && !names.contains(&text(choice, "name")) {
        let name = cut(text(choice, "name"), 100);
        return refuse("", format!("Tool '{name}' not found in provided tools"));
    }
    if text(&body["thinking"], "type") == "enabled" {
        let budget = body["thinking"]["budget_tokens"]
            .as_u64()
            .unwrap_or_default();
        if budget < LEAST_BUDGET {
            let message = format!("Input should be greater than or equal to {LEAST_BUDGET}");
            return refuse("thinking.enabled.budget_tokens", message);
        }
        if body["temperature"].as_f64().is_some_and(|it| it != 1.0) {
            let message = "`temperature` may only be set to 1 when thinking is enabled.";
            return refuse("", message);
        }
        // Between calls, where thinking may go on there, the budget is that of all answers together.
        let is_interleaved = !names.is_empty() && betas.contains("interleaved-thinking");
        if !is_interleaved
            && body["max_tokens"]
                .as_u64()
                .is_some_and(|most| most <= budget)
        {
            let message = "`max_tokens` must be greater than `thinking.budget_tokens`.";
            return refuse("", message);
        }
    }
    // `system` is a text, or text blocks.
    for (_, block) in items(body, "system") {
        says_something("system", text(block, "text"))?;
    }
    for (idx, message) in items(body, "messages") {
        for (block_idx, block) in items(message, "content") {
            if let Some(said) = block["text"].as_str().filter(|_| block["type"] == "text") {
                says_something("messages", said)?;
            }
            let source = &block["source"];
            let media_type = text(source, "media_type");
            if block["type"] == "image"
                && source["type"] == "base64"
                && !CLAUDE_IMAGES.contains(&media_type)
            {
                let place =
                    format!("messages.{idx}.content.{block_idx}.image.source.base64.media_type");
                let message = format!("Input should be '{}'", CLAUDE_IMAGES.join("', '"));
                return refuse(place, message);
            }
            if text(source, "type") == "base64" && !is_base64(text(source, "data")) {
                let kind = text(block, "type");
                let place = format!("messages.{idx}.content.{block_idx}.{kind}.source.base64");
                return refuse(place, "invalid base64 data");
            }
        }
    }
    signatures(body)
}

/// A text block of Anthropic's must not be blank.
fn says_something(place: &str, said: &str) -> Checked {
    match said.trim().is_empty() {
        true if said.is_empty() => refuse(place, "text content blocks must be non-empty"),
        true => refuse(
            place,
            "text content blocks must contain non-whitespace text",
        ),
        false => Ok(()),
    }
}

/// In a loop of calls, the provider goes on from its own thinking, and knows it by its signature.
fn signatures(body: &Json) -> Checked {
    let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    let [.., answer, results] = messages else {
        return Ok(());
    };
    let is_loop = items(results, "content").any(|(_, block)| block["type"] == "tool_result");
    if !is_loop || text(&body["thinking"], "type") != "enabled" {
        return Ok(());
    }
    let at = messages.len() - 2;
    for (idx, block) in items(answer, "content").filter(|(_, it)| it["type"] == "thinking") {
        let place = format!("messages.{at}.content.{idx}");
        match block["signature"].as_str() {
            None => return refuse(format!("{place}.thinking.signature"), "Field required"),
            Some(signature) if signature != ids::signature(text(block, "thinking")) => {
                return refuse(place, "Invalid `signature` in `thinking` block");
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// A tool as the function that it is: in Chat this is a member of it.
fn function_of(endpoint: Endpoint, tool: &Json) -> Option<&Json> {
    match endpoint {
        Endpoint::Chat => Some(&tool["function"]).filter(|it| it.is_object()),
        _ => Some(tool).filter(|it| it["type"] == "function"),
    }
}

fn open_ai(endpoint: Endpoint, body: &Json) -> Checked {
    let is_chat = endpoint == Endpoint::Chat;
    if !is_chat && !body["conversation"].is_null() {
        let message = "Invalid 'conversation': this mock keeps no conversations. Send the whole input, or 'previous_response_id'.";
        return refuse("conversation", message);
    }
    let mut names = Vec::new();
    for (idx, tool) in items(body, "tools") {
        let Some(function) = function_of(endpoint, tool) else {
            continue;
        };
        let (place, most) = match is_chat {
            true => (format!("tools[{idx}].function"), LONGEST_OF_CHAT),
            false => (format!("tools[{idx}]"), LONGEST),
        };
        well_named(function, &place, most)?;
        strict(function, &function["parameters"], "function", &place)?;
        names.push(text(function, "name"));
    }
    let choice = &body["tool_choice"];
    let allowed = if is_chat {
        &choice["allowed_tools"]
    } else {
        choice
    };
    let allowed = items(allowed, "tools").map(|(_, tool)| tool);
    for chosen in std::iter::once(choice).chain(allowed) {
        let name = function_of(endpoint, chosen).map(|function| text(function, "name"));
        if let Some(name) = name.filter(|name| !names.contains(name)) {
            let name = cut(name, 100);
            let message = format!("Tool choice '{name}' not found in 'tools' parameter.");
            return refuse("tool_choice", message);
        }
    }
    if is_chat {
        sampling(body)?;
    }
    let format = match is_chat {
        true => &body["response_format"],
        false => &body["text"]["format"],
    };
    match (text(format, "type"), is_chat) {
        ("json_object", true) if !says_json(&body["messages"]) => {
            return refuse(
                "messages",
                "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
            );
        }
        ("json_object", false)
            if !says_json(&body["input"]) && !says_json(&body["instructions"]) =>
        {
            return refuse(
                "input",
                "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.",
            );
        }
        ("json_schema", true) => {
            let (inner, place) = (&format["json_schema"], "response_format");
            strict(inner, &inner["schema"], place, place)?;
        }
        ("json_schema", false) => {
            strict(
                format,
                &format["schema"],
                "text.format",
                "text.format.schema",
            )?;
        }
        _ => {}
    }
    match is_chat {
        true => chat_blocks(body),
        false => responses_blocks(body),
    }
}

fn chat_blocks(body: &Json) -> Checked {
    for (idx, message) in items(body, "messages") {
        for (block_idx, block) in items(message, "content") {
            let place = format!("messages[{idx}].content[{block_idx}]");
            let url = match &block["image_url"] {
                Json::String(url) => url,
                image => text(image, "url"),
            };
            if !is_data(url) {
                return refuse(format!("{place}.image_url"), "Invalid base64 image_url.");
            }
            if block["type"] == "image_url" && !url.starts_with("data:") && !url.contains("://") {
                let place = format!("{place}.image_url.url");
                let message = format!(
                    "Invalid '{place}'. Expected a valid URL, but got a value with an invalid format."
                );
                return refuse(place, message);
            }
            let sound = text(&block["input_audio"], "data");
            if !is_base64(sound) {
                return refuse(
                    format!("{place}.input_audio.data"),
                    "Invalid base64 audio data.",
                );
            }
            if !is_data(text(&block["file"], "file_data")) {
                return refuse(
                    format!("{place}.file.file_data"),
                    "Invalid base64 file data.",
                );
            }
        }
    }
    Ok(())
}

/// What Chat takes only with something else, or only so much of.
fn sampling(body: &Json) -> Checked {
    let is_absent = |key: &str| body[key].is_null();
    if is_absent("tools") && is_absent("functions") && !is_absent("tool_choice") {
        let message = "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.";
        return refuse("tool_choice", message);
    }
    if body["tools"].as_array().is_some_and(Vec::is_empty) {
        let message = "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.";
        return refuse("tools", message);
    }
    if body["n"].as_u64().is_some_and(|n_choices| n_choices > 1) {
        let message = "Invalid 'n': this mock gives one choice.";
        return refuse("n", message);
    }
    if !is_absent("stream_options") && body["stream"] != true {
        let message = "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
        return refuse("stream_options", message);
    }
    let n_stops = body["stop"].as_array().map_or(0, Vec::len);
    if n_stops > MOST_STOPS {
        let message = format!(
            "Invalid 'stop': array too long. Expected an array with maximum length {MOST_STOPS}, but got an array with length {n_stops} instead."
        );
        return refuse("stop", message);
    }
    for key in ["frequency_penalty", "presence_penalty"] {
        if let Some(penalty) = body[key].as_f64()
            && penalty.abs() > 2.0
        {
            let message = format!(
                "Invalid '{key}': expected a value from -2 to 2, but got {penalty} instead."
            );
            return refuse(key, message);
        }
    }
    Ok(())
}

fn responses_blocks(body: &Json) -> Checked {
    for (idx, item) in items(body, "input") {
        for (block_idx, block) in items(item, "content") {
            let place = format!("input[{idx}].content[{block_idx}]");
            for key in ["image_url", "file_data"] {
                if !is_data(text(block, key)) {
                    let message = format!("Invalid '{place}.{key}': not valid base64.");
                    return refuse(format!("{place}.{key}"), message);
                }
            }
        }
    }
    Ok(())
}

fn gemini(body: &Json) -> Checked {
    let either = |json: &Json, one: &str, other: &str| match &json[one] {
        Json::Null => json[other].clone(),
        found => found.clone(),
    };
    let mut names: Vec<String> = Vec::new();
    for (_, tool) in items(body, "tools") {
        let declared = either(tool, "functionDeclarations", "function_declarations");
        for function in declared.as_array().into_iter().flatten() {
            let name = text(function, "name");
            let begins = name.starts_with(|sign: char| sign.is_ascii_alphabetic() || sign == '_');
            if !begins || !is_word(name, "_.:-", LONGEST) {
                return refuse(
                    "",
                    "Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-).",
                );
            }
            if names.iter().any(|known| known == name) {
                return refuse("", format!("Duplicate function declaration found: {name}"));
            }
            names.push(name.to_owned());
        }
    }
    let config = either(body, "toolConfig", "tool_config");
    let calling = either(&config, "functionCallingConfig", "function_calling_config");
    let allowed = either(&calling, "allowedFunctionNames", "allowed_function_names");
    let mut allowed = allowed
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Json::as_str);
    if !allowed.all(|name| names.iter().any(|known| known == name)) {
        return refuse(
            "",
            "The allowed_function_names must be a subset of the declared functions.",
        );
    }
    let config = either(body, "generationConfig", "generation_config");
    let n_candidates = either(&config, "candidateCount", "candidate_count");
    if n_candidates.as_u64().is_some_and(|count| count > 1) {
        let place = "generation_config.candidate_count";
        let message = format!("Invalid value at '{place}': this mock gives one candidate.");
        return refuse("", message);
    }
    for (idx, content) in items(body, "contents") {
        for (part_idx, part) in items(content, "parts") {
            let data = either(part, "inlineData", "inline_data");
            let data = text(&data, "data").replace('-', "+").replace('_', "/");
            if !is_base64(&data) {
                let shown = cut(&data, 60).into_owned();
                let place = format!("contents[{idx}].parts[{part_idx}].inline_data.data");
                let message = format!(
                    "Invalid value at '{place}' (TYPE_BYTES), Base64 decoding failed for \"{shown}\""
                );
                return refuse(place, message);
            }
        }
    }
    Ok(())
}

/// The name of a function of OpenAI's, which has at most so many characters.
fn well_named(function: &Json, place: &str, most: usize) -> Checked {
    let name = text(function, "name");
    if is_word(name, "_-", most) {
        return Ok(());
    }
    let message = match name.len() > most {
        true => format!(
            "Invalid '{place}.name': string too long. Expected a string with maximum length {most}, but got a string with length {} instead.",
            name.chars().count()
        ),
        false => format!(
            "Invalid '{place}.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
        ),
    };
    refuse(format!("{place}.name"), message)
}

/// A strict schema of OpenAI's: each object has all of its properties, and no others.
fn strict(outer: &Json, schema: &Json, whose: &str, place: &str) -> Checked {
    if outer["strict"] != true || !schema.is_object() {
        return Ok(());
    }
    let Some(problem) = loose(schema, &mut Vec::new(), 0) else {
        return Ok(());
    };
    let name = cut(text(outer, "name"), 100);
    refuse(
        place,
        format!("Invalid schema for {whose} '{name}': {problem}"),
    )
}

fn loose(schema: &Json, path: &mut Vec<String>, depth: usize) -> Option<String> {
    const DEEPEST: usize = 64;
    if depth > DEEPEST {
        return None;
    }
    let context = |path: &[String]| {
        let names: Vec<String> = path.iter().map(|name| format!("'{name}'")).collect();
        format!("In context=({})", names.join(", "))
    };
    let is_object = schema["type"] == "object" || schema["properties"].is_object();
    if is_object && schema["additionalProperties"] != false {
        let context = context(path);
        return Some(format!(
            "{context}, 'additionalProperties' is required to be supplied and to be false."
        ));
    }
    let properties = schema["properties"].as_object();
    let required = |name: &String| {
        let mut required = schema["required"].as_array().into_iter().flatten();
        required.any(|known| known == name.as_str())
    };
    if let Some(missing) = properties.and_then(|all| all.keys().find(|name| !required(name))) {
        let context = context(path);
        return Some(format!(
            "{context}, 'required' is required to be supplied and to be an array including every key in properties. Missing '{}'.",
            cut(missing, 60)
        ));
    }
    let named = ["properties", "$defs", "definitions"].into_iter();
    let named = named.flat_map(|key| {
        let members = schema[key].as_object().into_iter().flatten();
        members.map(move |(name, inner)| (vec![key.to_owned(), name.clone()], inner))
    });
    let listed = ["anyOf", "allOf"].into_iter().flat_map(|key| {
        items(schema, key).map(move |(idx, inner)| (vec![key.to_owned(), idx.to_string()], inner))
    });
    let items = schema["items"]
        .is_object()
        .then(|| (vec!["items".to_owned()], &schema["items"]));
    for (steps, inner) in named.chain(listed).chain(items) {
        let n_steps = steps.len();
        path.extend(steps);
        if let Some(problem) = loose(inner, path, depth + 1) {
            return Some(problem);
        }
        path.truncate(path.len() - n_steps);
    }
    None
}

/// Whether the word is in any text there.
fn says_json(json: &Json) -> bool {
    match json {
        Json::String(text) => text.to_ascii_lowercase().contains("json"),
        Json::Array(items) => items.iter().any(says_json),
        Json::Object(members) => members.values().any(says_json),
        _ => false,
    }
}

/// Whether a text is no data URL, or one that can be read.
fn is_data(url: &str) -> bool {
    let inner = url
        .strip_prefix("data:")
        .and_then(|rest| rest.split_once(";base64,"));
    inner.is_none_or(|(_, data)| is_base64(data))
}

fn is_base64(data: &str) -> bool {
    match data.contains(char::is_whitespace) {
        false => BASE64.decode(data).is_ok(),
        true => BASE64
            .decode(data.split_whitespace().collect::<String>())
            .is_ok(),
    }
}
