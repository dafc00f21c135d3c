//! The demo tools, one method each. Every tool shows one thing that a scenario can do.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::tool::{InputResponses, schema_for_output};
use rmcp::handler::server::wrapper::{Json, Parameters};
use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, ErrorData, ProgressNotificationParam,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, tool, tool_router};
use serde_json::Value;
use tokio::sync::Notify;

use super::arguments::{
    AddNote, Attempts, Confirm, Count, Counter, Echo, EchoJson, Fail, ListNotes, NoteAdded,
    NoteDeleted, NoteHead, NoteId, NoteList, Nothing, Operation, PictureMade, Reset, SearchNotes,
    Slow, Text, TextResult, TextValue, Waited, WholeNote,
};
use super::confirm;
use super::notes::{Note, Notes};

/// How many counters and how many keys of `fail` a server keeps.
const MAX_NAMES: usize = 1_000;
const MAX_NAME_BYTES: usize = 100;
const MAX_FAILURES: u32 = 1_000;
const MAX_SECONDS: f64 = 60.0;
/// The file of `picture` in base64, and its size.
const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAAEAAAABAAQMAAACQp+OdAAAABlBMVEUbfIP///8PBnmeAAAAF0lEQVR42mNg\
    +A+FFDKoZAzDqHuGlHsA8wL/AYF093AAAAAASUVORK5CYII=";
const PICTURE_BYTES: usize = 98;
/// How many progress notifications `slow` sends, at equal distances.
const PROGRESS_STEPS: u32 = 10;

/// One demo server. Clones share its notes and counters, as the sessions of one HTTP server do.
#[derive(Clone)]
pub(super) struct Demo {
    state: Arc<Mutex<State>>,
    /// Told when `crash` is called; absent where a crash would take more than the server with it.
    crash: Option<Arc<Notify>>,
    pub(super) tools: Arc<ToolRouter<Self>>,
}

#[derive(Default)]
struct State {
    notes: Notes,
    counters: BTreeMap<String, i64>,
    calls_by_key: BTreeMap<String, u64>,
}

impl Demo {
    pub(super) fn new(crash: Option<Arc<Notify>>) -> Self {
        Self {
            state: Arc::default(),
            crash,
            tools: Arc::new(without_formats(Self::tool_router())),
        }
    }

    /// How many clones there are, this one included.
    pub(super) fn clones(&self) -> usize {
        Arc::strong_count(&self.state)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[tool_router]
impl Demo {
    #[tool(
        description = "Stores a note and returns its number. Try `\"output\": {\"id\": \"$.id\"}` to use the number in later steps."
    )]
    async fn add_note(
        &self,
        Parameters(new): Parameters<AddNote>,
    ) -> Result<Json<NoteAdded>, String> {
        let mut state = self.state();
        let title = new.title.clone();
        let id = state.notes.add(Note {
            title: new.title,
            text: new.text,
            tags: new.tags,
        })?;
        Ok(Json(NoteAdded {
            id,
            title,
            count: state.notes.len(),
        }))
    }

    #[tool(
        description = "Returns one note in full. An unknown number is an error that lists the existing numbers.",
        annotations(read_only_hint = true)
    )]
    async fn get_note(
        &self,
        Parameters(NoteId { id }): Parameters<NoteId>,
    ) -> Result<Json<WholeNote>, String> {
        let state = self.state();
        let Note { title, text, tags } = state.notes.get(id)?.clone();
        Ok(Json(WholeNote {
            id,
            title,
            text,
            tags,
        }))
    }

    #[tool(
        description = "Lists the notes without their texts. Try `$.notes[*].title`, which gives a list, and `$.count`, which gives a number.",
        annotations(read_only_hint = true)
    )]
    async fn list_notes(
        &self,
        Parameters(ListNotes { tag }): Parameters<ListNotes>,
    ) -> Json<NoteList> {
        let state = self.state();
        let wanted = |note: &Note| tag.is_empty() || note.tags.contains(&tag);
        Json(listed(state.notes.iter().filter(|(_, note)| wanted(note))))
    }

    #[tool(
        description = "Finds notes by a word in their title, text or tags. If none matches, the list is empty.",
        annotations(read_only_hint = true)
    )]
    async fn search_notes(
        &self,
        Parameters(SearchNotes { query }): Parameters<SearchNotes>,
    ) -> Json<NoteList> {
        Json(listed(self.state().notes.search(&query)))
    }

    #[tool(
        description = "Deletes a note. The second call with the same number is an error: useful for trying `on_error`.",
        annotations(destructive_hint = true)
    )]
    async fn delete_note(
        &self,
        Parameters(NoteId { id }): Parameters<NoteId>,
    ) -> Result<Json<NoteDeleted>, String> {
        let mut state = self.state();
        state.notes.delete(id)?;
        Ok(Json(NoteDeleted {
            id,
            count: state.notes.len(),
        }))
    }

    #[tool(description = "Changes a counter and returns its value. Counters start at 0.")]
    async fn count(
        &self,
        Parameters(Count { by, name }): Parameters<Count>,
    ) -> Result<Json<Counter>, String> {
        let mut state = self.state();
        let counter = entry(&mut state.counters, &name, "name")?;
        *counter = counter.checked_add(by).ok_or_else(|| {
            format!("the counter `{name}` is at {counter} and can't move by {by}")
        })?;
        Ok(Json(Counter {
            value: *counter,
            name,
        }))
    }

    #[tool(
        description = "Sets a counter back to 0.",
        annotations(idempotent_hint = true)
    )]
    async fn reset(&self, Parameters(Reset { name }): Parameters<Reset>) -> Json<Counter> {
        self.state().counters.remove(&name);
        Json(Counter { name, value: 0 })
    }

    #[tool(
        description = "Changes or measures a text. `words` returns a list and `length` a number: outputs keep their types.",
        annotations(read_only_hint = true)
    )]
    async fn text(
        &self,
        Parameters(Text { text, operation }): Parameters<Text>,
    ) -> Json<TextResult> {
        Json(TextResult {
            result: changed(&text, operation),
        })
    }

    #[tool(
        description = "Returns the message as plain text, without structured content: the shape many servers use.",
        annotations(read_only_hint = true)
    )]
    async fn echo(&self, Parameters(Echo { message }): Parameters<Echo>) -> String {
        message
    }

    #[tool(
        description = "Returns the value as JSON in a text block. JSON in a text is read as JSON, so `$.a.b` works on it.",
        annotations(read_only_hint = true)
    )]
    async fn echo_json(&self, Parameters(EchoJson { value }): Parameters<EchoJson>) -> String {
        value.to_string()
    }

    #[tool(
        description = "Fails the first `times` calls with a `key`, then succeeds: what a step with `\"on_error\": \"retry\"` is for."
    )]
    async fn fail(
        &self,
        Parameters(Fail {
            times,
            key,
            message,
        }): Parameters<Fail>,
    ) -> Result<Json<Attempts>, String> {
        if times > MAX_FAILURES {
            return Err(format!("`times` may be at most {MAX_FAILURES}"));
        }
        let mut state = self.state();
        let calls = entry(&mut state.calls_by_key, &key, "key")?;
        *calls += 1;
        match *calls {
            attempts if attempts > u64::from(times) => Ok(Json(Attempts { attempts })),
            attempt if message.is_empty() => {
                Err(format!("not ready yet (attempt {attempt} of {times})"))
            }
            _ => Err(message),
        }
    }

    #[tool(
        description = "Waits, then answers. Reports progress to callers that ask for it. For trying `timeout`.",
        annotations(read_only_hint = true)
    )]
    async fn slow(
        &self,
        Parameters(Slow { seconds }): Parameters<Slow>,
        context: RequestContext<RoleServer>,
    ) -> Result<Json<Waited>, String> {
        if !(0.0..=MAX_SECONDS).contains(&seconds) {
            return Err(format!(
                "`seconds` must be between 0 and {MAX_SECONDS}, not {seconds}"
            ));
        }
        tokio::select! {
            () = pass(seconds, &context) => Ok(Json(Waited { waited: seconds })),
            // Nobody waits for the answer any more.
            () = context.ct.cancelled() => Err("cancelled".to_owned()),
        }
    }

    #[tool(
        description = "Asks the user a question with a form (`sure`, `reason`) and returns what was filled in. `answers` of a scenario can fill it in.",
        output_schema = confirm::output_schema(),
        annotations(read_only_hint = true)
    )]
    async fn confirm(
        &self,
        Parameters(Confirm { question }): Parameters<Confirm>,
        given: InputResponses,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        confirm::confirm(&question, given, &context).await
    }

    #[tool(
        description = "Returns a chequered PNG picture. Images in results become files in the run directory.",
        output_schema = schema_for_output::<PictureMade>(),
        annotations(read_only_hint = true)
    )]
    async fn picture(
        &self,
        Parameters(Nothing {}): Parameters<Nothing>,
    ) -> Result<CallToolResult, String> {
        let made = PictureMade {
            width: 64,
            height: 64,
            bytes: PICTURE_BYTES,
        };
        let mut result = CallToolResult::structured(
            serde_json::to_value(made).map_err(|error| error.to_string())?,
        );
        result.content = vec![
            ContentBlock::image(PICTURE, "image/png"),
            ContentBlock::text("a picture of 64 by 64 pixels in teal and white"),
        ];
        Ok(result)
    }

    #[tool(
        description = "Ends the server without an answer, as a crash would: exit status 3 and a last line on stderr. Over stdio only.",
        annotations(destructive_hint = true)
    )]
    async fn crash(&self, Parameters(Nothing {}): Parameters<Nothing>) -> Result<(), String> {
        let Some(crash) = &self.crash else {
            return Err(
                "this server can't crash: others share its process; one started over stdio can"
                    .to_owned(),
            );
        };
        crash.notify_one();
        // No answer, not even an error: the process ends while the caller waits.
        std::future::pending().await
    }
}

/// Takes Rust's names of number types out of the schemas: validators complain about a `format` they
/// don't know.
fn without_formats(mut tools: ToolRouter<Demo>) -> ToolRouter<Demo> {
    for tool in tools.map.values_mut().map(|route| &mut route.attr) {
        let schemas = [Some(&mut tool.input_schema), tool.output_schema.as_mut()];
        for schema in schemas.into_iter().flatten() {
            Arc::make_mut(schema).values_mut().for_each(strip_format);
        }
    }
    tools
}

/// Only ever sees our own schemas, which are a few levels deep.
fn strip_format(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|key, value| key != "format" || !value.is_string());
            map.values_mut().for_each(strip_format);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_format),
        _ => {}
    }
}

fn listed<'a>(notes: impl Iterator<Item = (u64, &'a Note)>) -> NoteList {
    let notes: Vec<NoteHead> = notes
        .map(|(id, note)| NoteHead {
            id,
            title: note.title.clone(),
            tags: note.tags.clone(),
        })
        .collect();
    NoteList {
        count: notes.len(),
        notes,
    }
}

/// The value of `name`, made if need be and possible. `parameter` is what the caller called the name.
fn entry<'map, T: Default>(
    map: &'map mut BTreeMap<String, T>,
    name: &str,
    parameter: &str,
) -> Result<&'map mut T, String> {
    if name.is_empty() || name.len() > MAX_NAME_BYTES {
        return Err(format!(
            "`{parameter}` must have between 1 and {MAX_NAME_BYTES} bytes"
        ));
    }
    if map.len() >= MAX_NAMES && !map.contains_key(name) {
        return Err(format!("this server stores at most {MAX_NAMES} of them"));
    }
    Ok(map.entry(name.to_owned()).or_default())
}

fn changed(text: &str, operation: Operation) -> TextValue {
    TextValue::Text(match operation {
        Operation::Upper => text.to_uppercase(),
        Operation::Lower => text.to_lowercase(),
        Operation::Title => title_case(text),
        Operation::Reverse => text.chars().rev().collect(),
        Operation::Slug => slug(text),
        Operation::Words => {
            return TextValue::Words(text.split_whitespace().map(str::to_owned).collect());
        }
        Operation::Length => return TextValue::Length(text.chars().count()),
    })
}

fn title_case(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut inside_word = false;
    for character in text.chars() {
        if inside_word {
            result.extend(character.to_lowercase());
        } else {
            result.extend(character.to_uppercase());
        }
        inside_word = character.is_alphanumeric() || (inside_word && character == '\'');
    }
    result
}

fn slug(text: &str) -> String {
    let words: Vec<String> = text
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.join("-")
}

async fn pass(seconds: f64, context: &RequestContext<RoleServer>) {
    let token = context.meta.get_progress_token();
    let step = Duration::from_secs_f64(seconds / f64::from(PROGRESS_STEPS));
    for passed in 1..=PROGRESS_STEPS {
        tokio::time::sleep(step).await;
        let Some(token) = token.clone() else { continue };
        let done = seconds * f64::from(passed) / f64::from(PROGRESS_STEPS);
        let progress = ProgressNotificationParam::new(token, done).with_total(seconds);
        // A caller that went away is noticed by the service, not here.
        let _ = context.peer.notify_progress(progress).await;
    }
}
