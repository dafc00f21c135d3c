//! The routes of the API.

use std::sync::Arc;

use axum::Extension;
use axum::Json as AsJson;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use cuecard_runtime::http_server::ConnectionReset;
use cuecard_runtime::listener::Guard;
use cuecard_source::value::Json;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;
use tower_http::cors::CorsLayer;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::events::{Streaming, session_frame, stream, terminal_frame};
use super::once::{Made, once};
use super::problem::{Asked, Id, Problem, body, of_guard};
use super::service::{Service, lock};
use super::session::{Refused, Session, written};
use super::shapes::{
    AcceptedPrompt, AcceptedTask, Draft, Entry, EventFilter, Listed, LogFilter, NewPrompt, NewTask,
    Paging, ProblemDocument, SessionDocument, SessionEvent, SessionFilter, SessionInfo,
    StreamedEvent,
};

/// Longer prompts are refused, in bytes.
const LONGEST_PROMPT: usize = 16 << 10;
const PER_PAGE: u64 = 100;
const MOST_PER_PAGE: u64 = 1000;
const LAST_PAGE: u64 = 1_000_000;

/// The page that shows sessions.
const PAGE: &str = include_str!("page/index.html");

#[derive(OpenApi)]
#[openapi(
    info(title = "A mock agent service", description = "Sessions of scripted agents, with their events as they come."),
    tags((name = "sessions"), (name = "lists"), (name = "service"))
)]
struct Api;

type Shared = State<Arc<Service>>;
type Answer<T> = Result<T, Problem>;

/// All routes, behind the guard.
pub(crate) fn router(service: Arc<Service>, guard: &Guard) -> Router {
    let (api, document) = described();
    let document = Bytes::from(document);
    let document = axum::routing::get(move || {
        let document = document.clone();
        async move { ([(header::CONTENT_TYPE, "application/json")], document) }
    });
    let cors = service.options.cors_origin.as_deref();
    let cors = cors.and_then(|origin| HeaderValue::from_str(origin).ok());
    let routes = api
        .route("/api/v1/openapi.json", document)
        .route("/", axum::routing::get(async || page()))
        .fallback(async || {
            Problem::not_found("there is no such route; `/api/v1/openapi.json` lists all")
        })
        .method_not_allowed_fallback(async || {
            Problem::new(
                StatusCode::METHOD_NOT_ALLOWED,
                "this route has no such method",
            )
        })
        .layer(axum::middleware::from_fn_with_state(service.clone(), once))
        .with_state(service);
    let guarded = guard
        .wrap(routes)
        .layer(axum::middleware::map_response(of_guard));
    match cors {
        None => guarded,
        Some(origin) => guarded.layer(
            CorsLayer::new()
                .allow_origin(origin)
                .allow_methods([Method::GET, Method::POST, Method::PUT, Method::DELETE])
                .expose_headers([header::LOCATION])
                .allow_headers([
                    header::CONTENT_TYPE,
                    header::AUTHORIZATION,
                    HeaderName::from_static("idempotency-key"),
                    HeaderName::from_static("last-event-id"),
                    HeaderName::from_static("x-scenario-name"),
                ]),
        ),
    }
}

/// The routes with the OpenAPI document about them.
fn described() -> (Router<Arc<Service>>, String) {
    let (api, document) = OpenApiRouter::with_openapi(Api::openapi())
        .nest(
            "/api/v1",
            OpenApiRouter::new()
                .routes(routes!(new_task))
                .routes(routes!(list_sessions))
                .routes(routes!(get_session, delete_session))
                .routes(routes!(pause))
                .routes(routes!(resume))
                .routes(routes!(stop))
                .routes(routes!(prompt))
                .routes(routes!(events))
                .routes(routes!(logs))
                .routes(routes!(info))
                .routes(routes!(pty))
                .routes(routes!(agents))
                .routes(routes!(runtimes))
                .routes(routes!(executors))
                .routes(routes!(projects))
                .routes(routes!(repos))
                .routes(routes!(workspaces))
                .routes(routes!(branches))
                .routes(routes!(files))
                .routes(routes!(list_drafts, new_draft))
                .routes(routes!(get_draft, put_draft, delete_draft))
                .routes(routes!(healthz))
                .routes(routes!(readyz))
                .routes(routes!(version)),
        )
        .split_for_parts();
    (api, document.to_pretty_json().unwrap_or_default())
}

/// The OpenAPI document of the service, as JSON.
pub fn openapi() -> String {
    described().1
}

fn page() -> Response {
    // Nothing comes from elsewhere, and nobody may frame it.
    let policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
    let headers = [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    (headers, Html(PAGE)).into_response()
}

const STATUSES: [&str; 11] = [
    "queued",
    "provisioning",
    "running",
    "pausing",
    "paused",
    "resuming",
    "stopping",
    "stopped",
    "completed",
    "failed",
    "cancelled",
];
const LEVELS: [&str; 5] = ["debug", "info", "warn", "warning", "error"];
const TYPES: [&str; 9] = [
    "status",
    "log",
    "message",
    "thought",
    "tool_use",
    "tool_result",
    "file_edit",
    "diff",
    "error",
];

/// Refuses a word that nothing is called.
fn known(what: &str, given: Option<&[&str]>, words: &[&str]) -> Answer<()> {
    match given
        .into_iter()
        .flatten()
        .find(|word| !words.contains(word))
    {
        None => Ok(()),
        Some(word) => Err(Problem::invalid(format!(
            "unknown {what} `{}`: it is one of {}",
            cuecard_source::value::cut(word, 50),
            words.join(", ")
        ))),
    }
}

/// A page of `items`.
fn paged<T: Serialize + Clone>(
    items: &[T],
    page: Option<u64>,
    per_page: Option<u64>,
) -> Answer<AsJson<Listed<T>>> {
    let page = page.unwrap_or(1);
    let per_page = per_page.unwrap_or(PER_PAGE);
    if !(1..=LAST_PAGE).contains(&page) || !(1..=MOST_PER_PAGE).contains(&per_page) {
        return Err(Problem::invalid(format!(
            "`page` is 1 to {LAST_PAGE}, and `perPage` is 1 to {MOST_PER_PAGE}"
        )));
    }
    let total = items.len() as u64;
    let from = (page - 1).saturating_mul(per_page).min(total);
    let to = from.saturating_add(per_page).min(total);
    let shown = &items[from as usize..to as usize];
    Ok(AsJson(Listed {
        items: shown.to_vec(),
        next_page: (to < total).then_some(page + 1),
        total,
    }))
}

/// Starts a task
#[utoipa::path(post, path = "/tasks", tag = "sessions", request_body = NewTask,
    params(
        ("Idempotency-Key" = Option<String>, Header, description = "The same key does the same request once"),
        ("X-Scenario-Name" = Option<String>, Header, description = "The scenario to play, in place of the one with the nearest prompt")),
    responses(
        (status = 201, body = AcceptedTask),
        (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
async fn new_task(State(service): Shared, headers: HeaderMap, bytes: Bytes) -> Answer<Response> {
    let name = headers.get("x-scenario-name").map(HeaderValue::to_str);
    let name = name
        .transpose()
        .map_err(|_| Problem::invalid("the header `x-scenario-name` is not text"))?;
    let task = body(&service, &bytes).await?;
    let accepted = service.begin(task, name).await?;
    let location = accepted.links.own.clone();
    Ok((
        StatusCode::CREATED,
        Extension(Made::Sessions(accepted.session_ids.clone())),
        [(header::LOCATION, location)],
        AsJson(accepted),
    )
        .into_response())
}

/// Lists sessions, the newest first
#[utoipa::path(get, path = "/sessions", tag = "sessions", params(SessionFilter),
    responses((status = 200, body = Listed<SessionDocument>), (status = 400, body = ProblemDocument, content_type = "application/problem+json")))]
async fn list_sessions(
    State(service): Shared,
    Asked(filter): Asked<SessionFilter>,
) -> Answer<AsJson<Listed<SessionDocument>>> {
    let statuses: Option<Vec<&str>> = filter
        .status
        .as_deref()
        .map(|list| list.split(',').collect());
    known("status", statuses.as_deref(), &STATUSES)?;
    let mut shown = Vec::new();
    for session in service.sessions() {
        let is_meant = match &statuses {
            Some(statuses) => statuses.contains(&session.status().as_str()),
            None => !session.is_put_away(),
        };
        let is_of_project =
            filter.project_id.is_none() || session.task.project_id == filter.project_id;
        if is_meant && is_of_project {
            shown.push(session.document());
        }
    }
    paged(&shown, filter.page, filter.per_page)
}

/// Shows a session
#[utoipa::path(get, path = "/sessions/{id}", tag = "sessions", params(("id" = String, Path)),
    responses((status = 200, body = SessionDocument), (status = 404, body = ProblemDocument, content_type = "application/problem+json")))]
async fn get_session(State(service): Shared, Id(id): Id) -> Answer<AsJson<SessionDocument>> {
    Ok(AsJson(service.session(&id)?.document()))
}

/// Stops a session and forgets it
#[utoipa::path(delete, path = "/sessions/{id}", tag = "sessions", params(("id" = String, Path)),
    responses((status = 204), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
async fn delete_session(State(service): Shared, Id(id): Id) -> Answer<StatusCode> {
    let session = service.session(&id)?;
    if session.script.is_none() {
        return Err(refusal(&Refused::Shown, "be deleted"));
    }
    service.delete(&session);
    Ok(StatusCode::NO_CONTENT)
}

type Steered = (Extension<Made>, AsJson<SessionDocument>);

async fn steered(
    service: &Service,
    id: &str,
    steer: impl Fn(&Session) -> Result<Vec<Arc<super::session::Told>>, Refused>,
    verb: &str,
) -> Answer<Steered> {
    let session = service.session(id)?;
    let told = steer(&session).map_err(|refused| refusal(&refused, verb))?;
    for told in told {
        service.tell(&session, Some(told)).await;
    }
    if super::script::is_final(session.status()) {
        service.ended(&session).await;
    }
    let made = Made::Sessions(vec![id.to_owned()]);
    Ok((Extension(made), AsJson(session.document())))
}

fn refusal(refused: &Refused, verb: &str) -> Problem {
    match refused {
        Refused::WrongState(status) => Problem::new(
            StatusCode::CONFLICT,
            format!("a session that is {status} can't {verb}"),
        ),
        Refused::Unscripted(..) => Problem::unscripted(),
        Refused::Shown => Problem::new(
            StatusCode::CONFLICT,
            format!("a session that shows a run can't {verb}"),
        ),
        Refused::Over(status) => Problem::new(StatusCode::GONE, format!("the session is {status}")),
        Refused::Full => Problem::new(
            StatusCode::TOO_MANY_REQUESTS,
            "the session has too many events",
        ),
    }
}

/// Freezes a session
#[utoipa::path(post, path = "/sessions/{id}/pause", tag = "sessions",
    params(("id" = String, Path), ("Idempotency-Key" = Option<String>, Header, description = "The same key does the same request once")),
    responses((status = 200, body = SessionDocument), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
async fn pause(State(service): Shared, Id(id): Id) -> Answer<Steered> {
    steered(&service, &id, Session::pause, "be paused").await
}

/// Lets a paused session go on where it was
#[utoipa::path(post, path = "/sessions/{id}/resume", tag = "sessions",
    params(("id" = String, Path), ("Idempotency-Key" = Option<String>, Header, description = "The same key does the same request once")),
    responses((status = 200, body = SessionDocument), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
async fn resume(State(service): Shared, Id(id): Id) -> Answer<Steered> {
    steered(&service, &id, Session::resume, "be resumed").await
}

/// Ends a session; its history is kept
#[utoipa::path(post, path = "/sessions/{id}/stop", tag = "sessions",
    params(("id" = String, Path), ("Idempotency-Key" = Option<String>, Header, description = "The same key does the same request once")),
    responses((status = 200, body = SessionDocument), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
async fn stop(State(service): Shared, Id(id): Id) -> Answer<Steered> {
    steered(&service, &id, Session::stop, "be stopped").await
}

/// Sends a prompt to a session
#[utoipa::path(post, path = "/sessions/{id}/prompt", tag = "sessions", request_body = NewPrompt,
    params(("id" = String, Path), ("Idempotency-Key" = Option<String>, Header, description = "The same key does the same request once")),
    responses((status = 202, body = AcceptedPrompt), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
async fn prompt(State(service): Shared, Id(id): Id, bytes: Bytes) -> Answer<Response> {
    let session = service.session(&id)?;
    let sent: NewPrompt = body(&service, &bytes).await?;
    let text = sent.text().ok_or_else(|| {
        Problem::invalid("send either `prompt` (a text or blocks) or `message` (a text), not empty")
    })?;
    if text.len() > LONGEST_PROMPT {
        let detail = format!("a prompt has {} KiB at most", LONGEST_PROMPT >> 10);
        return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail));
    }
    let told = match (
        session.prompt(&text, &sent, &service.options),
        &session.script,
    ) {
        (Ok(told), _) => told,
        (Err(Refused::Unscripted(idx, why)), Some((_, script))) => {
            let found = script.unscripted(&format!("`{id}`"), &text, idx, why);
            return Err(service.unscripted(found).await);
        }
        (Err(refused), _) => return Err(refusal(&refused, "take a prompt")),
    };
    service.tell(&session, told).await;
    let made = Made::Sessions(vec![id.clone()]);
    let accepted = AcceptedPrompt {
        session_id: id,
        accepted: true,
        ts: written(session.now()),
    };
    Ok((StatusCode::ACCEPTED, Extension(made), AsJson(accepted)).into_response())
}

/// Streams the events of a session: all so far, then those that come
///
/// `Last-Event-ID` resumes behind an event. With a filter, the events so far come as one document.
#[utoipa::path(get, path = "/sessions/{id}/events", tag = "sessions",
    params(("id" = String, Path), EventFilter, ("Last-Event-ID" = Option<String>, Header)),
    responses(
        (status = 200, description = "Server-sent events, or a list if a filter is given",
            content((StreamedEvent = "text/event-stream"), (Listed<SessionEvent> = "application/json"))),
        (status = 204, description = "All was seen, and nothing more comes"),
        (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
async fn events(
    State(service): Shared,
    Id(id): Id,
    Asked(filter): Asked<EventFilter>,
    reset: Option<Extension<ConnectionReset>>,
    headers: HeaderMap,
) -> Answer<Response> {
    let session = service.session(&id)?;
    if !filter.is_given() {
        return stream(
            session,
            &headers,
            session_frame,
            None,
            streaming(service, reset, true),
        );
    }
    let time = |name: &str, text: &Option<String>| match text {
        None => Ok(None),
        Some(text) => match text.parse::<Timestamp>() {
            Ok(time) => Ok(Some(time)),
            Err(_) => Err(Problem::invalid(format!(
                "`{name}` must be a time in RFC 3339"
            ))),
        },
    };
    let (since, until) = (time("since", &filter.since)?, time("until", &filter.until)?);
    let kinds: Option<Vec<&str>> = filter
        .kind
        .as_deref()
        .map(|kinds| kinds.split(',').collect());
    known("type", kinds.as_deref(), &TYPES)?;
    let level = filter.level.as_deref();
    known("level", level.as_ref().map(std::slice::from_ref), &LEVELS)?;
    let (mut events, _) = session.events_from(0, usize::MAX);
    events.retain(|told| {
        let kind = told.data["type"].as_str().unwrap_or_default();
        kinds.as_ref().is_none_or(|kinds| kinds.contains(&kind))
            && level.is_none_or(|level| told.data["level"] == level)
            && since.is_none_or(|since| told.ts >= since)
            && until.is_none_or(|until| told.ts < until)
    });
    match filter.sort.as_deref() {
        None | Some("asc") => {}
        Some("desc") => events.reverse(),
        Some(_) => return Err(Problem::invalid("`sort` is `asc` or `desc`")),
    }
    let events = events
        .iter()
        .map(|told| SessionEvent::of(&told.data, told.seq));
    let events: Vec<SessionEvent> = events.collect();
    Ok(paged(&events, filter.page, filter.per_page)?.into_response())
}

fn streaming(
    service: Arc<Service>,
    reset: Option<Extension<ConnectionReset>>,
    is_spoiled: bool,
) -> Streaming {
    Streaming {
        service,
        reset: reset.map(|Extension(reset)| reset).unwrap_or_default(),
        is_spoiled,
    }
}

/// Shows the logs of a session
#[utoipa::path(get, path = "/sessions/{id}/logs", tag = "sessions", params(("id" = String, Path), LogFilter),
    responses((status = 200, body = Listed<SessionEvent>), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
async fn logs(
    State(service): Shared,
    Id(id): Id,
    Asked(filter): Asked<LogFilter>,
) -> Answer<AsJson<Listed<SessionEvent>>> {
    let (events, _) = service.session(&id)?.events_from(0, usize::MAX);
    let logs = events.iter().filter(|told| told.data["type"] == "log");
    let mut logs: Vec<SessionEvent> = logs
        .map(|told| SessionEvent::of(&told.data, told.seq))
        .collect();
    let total = logs.len() as u64;
    let tail = usize::try_from(filter.tail.unwrap_or(i64::MAX))
        .map_err(|_| Problem::invalid("`tail` must be 0 or more"))?;
    logs.drain(..logs.len().saturating_sub(tail));
    Ok(AsJson(Listed {
        items: logs,
        next_page: None,
        total,
    }))
}

/// Shows where the parts of a session are
#[utoipa::path(get, path = "/sessions/{id}/info", tag = "sessions", params(("id" = String, Path)),
    responses((status = 200, body = SessionInfo), (status = 404, body = ProblemDocument, content_type = "application/problem+json")))]
async fn info(State(service): Shared, Id(id): Id) -> Answer<AsJson<SessionInfo>> {
    let session = service.session(&id)?;
    let at = |tail: &str| format!("/api/v1/sessions/{id}{tail}");
    Ok(AsJson(SessionInfo {
        status: session.status().as_str().to_owned(),
        fleet: json!({"leader": "local", "followers": []}),
        endpoints: json!({"events": at("/events"), "logs": at("/logs"), "pty": at("/pty")}),
        id,
    }))
}

/// Streams what a terminal would show of a session
#[utoipa::path(get, path = "/sessions/{id}/pty", tag = "sessions",
    params(("id" = String, Path), ("Last-Event-ID" = Option<String>, Header)),
    responses(
        (status = 200, description = "Server-sent events", content((StreamedEvent = "text/event-stream"))),
        (status = 204, description = "All was seen, and nothing more comes"),
        (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
async fn pty(
    State(service): Shared,
    Id(id): Id,
    reset: Option<Extension<ConnectionReset>>,
    headers: HeaderMap,
) -> Answer<Response> {
    let session = service.session(&id)?;
    let size = json!({"type": "terminal_resize", "cols": 80, "rows": 24});
    let first = Bytes::from(format!("event: pty\ndata: {size}\n\n"));
    stream(
        session,
        &headers,
        terminal_frame,
        Some(first),
        streaming(service, reset, false),
    )
}

fn entries(items: Vec<Json>) -> Vec<Entry> {
    items.into_iter().map(Entry).collect()
}

macro_rules! lists {
    ($($name:ident $path:literal $doc:literal;)*) => {$(
        #[doc = $doc]
        #[utoipa::path(get, path = $path, tag = "lists", params(Paging),
            responses((status = 200, body = Listed<Entry>), (status = 400, body = ProblemDocument, content_type = "application/problem+json")))]
        async fn $name(State(service): Shared, Asked(asked): Asked<Paging>) -> Answer<AsJson<Listed<Entry>>> {
            paged(&entries(service.listed(stringify!($name))), asked.page, asked.per_page)
        }
    )*};
}

lists! {
    agents "/agents" "Lists agents";
    runtimes "/runtimes" "Lists runtimes";
    executors "/executors" "Lists executors";
    projects "/projects" "Lists projects";
    repos "/repos" "Lists repositories";
    workspaces "/workspaces" "Lists workspaces";
}

/// Lists the branches of a repository
#[utoipa::path(get, path = "/repositories/{id}/branches", tag = "lists", params(("id" = String, Path), Paging),
    responses((status = 200, body = Listed<Entry>), (status = 400, body = ProblemDocument, content_type = "application/problem+json")))]
async fn branches(
    State(service): Shared,
    Id(id): Id,
    Asked(asked): Asked<Paging>,
) -> Answer<AsJson<Listed<Entry>>> {
    paged(
        &entries(service.of_repository(&id, "branches")),
        asked.page,
        asked.per_page,
    )
}

/// Lists the files of a repository
#[utoipa::path(get, path = "/repositories/{id}/files", tag = "lists", params(("id" = String, Path), Paging),
    responses((status = 200, body = Listed<Entry>), (status = 400, body = ProblemDocument, content_type = "application/problem+json")))]
async fn files(
    State(service): Shared,
    Id(id): Id,
    Asked(asked): Asked<Paging>,
) -> Answer<AsJson<Listed<Entry>>> {
    paged(
        &entries(service.of_repository(&id, "files")),
        asked.page,
        asked.per_page,
    )
}

/// More drafts are refused.
const MOST_DRAFTS: usize = 1000;

fn no_draft(id: &str) -> Problem {
    Problem::not_found(format!(
        "there is no draft `{}`",
        cuecard_source::value::cut(id, 100)
    ))
}

/// Lists drafts
#[utoipa::path(get, path = "/drafts", tag = "lists", params(Paging),
    responses((status = 200, body = Listed<Entry>), (status = 400, body = ProblemDocument, content_type = "application/problem+json")))]
async fn list_drafts(
    State(service): Shared,
    Asked(asked): Asked<Paging>,
) -> Answer<AsJson<Listed<Entry>>> {
    let drafts = lock(&service.drafts).values().cloned().collect();
    paged(&entries(drafts), asked.page, asked.per_page)
}

/// Keeps a draft
#[utoipa::path(post, path = "/drafts", tag = "lists", request_body = Draft,
    params(("Idempotency-Key" = Option<String>, Header, description = "The same key does the same request once")),
    responses((status = 201, body = Draft), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
async fn new_draft(State(service): Shared, bytes: Bytes) -> Answer<Response> {
    let mut draft: Draft = body(&service, &bytes).await?;
    draft.id = service.new_draft_id();
    let mut drafts = lock(&service.drafts);
    if drafts.len() >= MOST_DRAFTS {
        let detail = format!("there are {MOST_DRAFTS} drafts already: delete some");
        return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, detail));
    }
    drafts.insert(draft.id.clone(), json!(draft));
    let made = Made::Draft(draft.id.clone());
    Ok((StatusCode::CREATED, Extension(made), AsJson(draft)).into_response())
}

/// Shows a draft
#[utoipa::path(get, path = "/drafts/{id}", tag = "lists", params(("id" = String, Path)),
    responses((status = 200, body = Draft), (status = 404, body = ProblemDocument, content_type = "application/problem+json")))]
async fn get_draft(State(service): Shared, Id(id): Id) -> Answer<AsJson<Json>> {
    let found = lock(&service.drafts).get(&id).cloned();
    found.map(AsJson).ok_or_else(|| no_draft(&id))
}

/// Replaces a draft
#[utoipa::path(put, path = "/drafts/{id}", tag = "lists", params(("id" = String, Path)), request_body = Draft,
    responses((status = 200, body = Draft), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
async fn put_draft(State(service): Shared, Id(id): Id, bytes: Bytes) -> Answer<AsJson<Draft>> {
    let mut draft: Draft = body(&service, &bytes).await?;
    draft.id.clone_from(&id);
    let mut drafts = lock(&service.drafts);
    let kept = drafts.get_mut(&id).ok_or_else(|| no_draft(&id))?;
    *kept = json!(draft);
    Ok(AsJson(draft))
}

/// Forgets a draft
#[utoipa::path(delete, path = "/drafts/{id}", tag = "lists", params(("id" = String, Path)),
    responses((status = 204), (status = 404, body = ProblemDocument, content_type = "application/problem+json")))]
async fn delete_draft(State(service): Shared, Id(id): Id) -> Answer<StatusCode> {
    match lock(&service.drafts).remove(&id) {
        Some(_) => Ok(StatusCode::NO_CONTENT),
        None => Err(no_draft(&id)),
    }
}

/// Whether the service is alive
#[utoipa::path(get, path = "/healthz", tag = "service", responses((status = 200, description = "It is", body = Object)))]
async fn healthz() -> AsJson<Json> {
    AsJson(json!({"status": "ok"}))
}

/// Whether the service takes requests
#[utoipa::path(get, path = "/readyz", tag = "service", responses((status = 200, description = "It does", body = Object)))]
async fn readyz() -> AsJson<Json> {
    AsJson(json!({"status": "ready"}))
}

/// The version of the service
#[utoipa::path(get, path = "/version", tag = "service", responses((status = 200, description = "The version", body = Object)))]
async fn version() -> AsJson<Json> {
    AsJson(json!({"name": "cuecard", "version": env!("CARGO_PKG_VERSION"), "api": "v1"}))
}
