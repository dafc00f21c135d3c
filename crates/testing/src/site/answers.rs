//! What the pages ask for beside files.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::json;

use super::{Shared, files};

/// Who may sign in.
const EMAIL: &str = "ana@example.org";
/// With what.
const PASSWORD: &str = "correct horse";

/// The longest that an answer is held back, in milliseconds.
const LONGEST: u64 = 60_000;

type Words = HashMap<String, String>;

pub(super) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/api/login", post(login))
        .route("/api/slow", get(slow))
        .route("/api/poll", get(slow))
        .route("/api/told", post(told))
        .route("/api/late", get(late))
        .route("/api/hang", get(std::future::pending::<()>))
        .route("/api/news", get(news))
        .route("/api/events", get(events))
        .route("/api/upload", post(upload))
        .route("/api/count/{name}", post(count))
        .route("/download/{name}", get(download))
        .route("/status/{code}", get(status))
        .fallback(file)
        .with_state(shared)
}

async fn file(State(shared): State<Arc<Shared>>, uri: Uri) -> Response {
    files::answer(&shared, uri.path().trim_start_matches('/'))
}

async fn login(State(shared): State<Arc<Shared>>, body: String) -> Response {
    shared.counted("login");
    let query = format!("/?{body}");
    let words: Words = query
        .parse::<Uri>()
        .ok()
        .and_then(|uri| Query::try_from_uri(&uri).ok())
        .map(|Query(words)| words)
        .unwrap_or_default();
    let word = |name: &str| words.get(name).map_or("", String::as_str);
    let is_known = word("email") == EMAIL && word("password") == PASSWORD;
    let next = match word("next") {
        "" => "home.html",
        next => next,
    };
    let to = match is_known {
        true => format!("/{next}"),
        false => format!("/{}?error=1", next.replace("home", "login")),
    };
    (StatusCode::SEE_OTHER, [(header::LOCATION, to)]).into_response()
}

/// Waits as many milliseconds as the query says.
async fn hold(words: &Words) {
    let wanted = words.get("ms").and_then(|text| text.parse().ok());
    tokio::time::sleep(Duration::from_millis(wanted.unwrap_or(0).min(LONGEST))).await;
}

async fn slow(Query(words): Query<Words>) -> Response {
    hold(&words).await;
    axum::Json(json!({"ok": true})).into_response()
}

/// An answer that is not to be kept: of one that no script reads the browser never says that it ended.
async fn told() -> Response {
    let headers = [(header::CACHE_CONTROL, "no-store")];
    (headers, axum::Json(json!({"ok": true}))).into_response()
}

/// The same with its head at once and the rest later, which its head says nothing of.
async fn late(Query(words): Query<Words>) -> Response {
    let rest = futures::stream::once(async move {
        hold(&words).await;
        Ok::<_, Infallible>(Bytes::from_static(b"{\"ok\":true}"))
    });
    let headers = [
        (header::CONTENT_TYPE, "application/json"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (headers, Body::from_stream(rest)).into_response()
}

async fn news(Query(words): Query<Words>) -> Response {
    hold(&words).await;
    let page: u32 = words
        .get("page")
        .and_then(|text| text.parse().ok())
        .unwrap_or(0);
    let page = page.min(1000);
    let titles: Vec<String> = (1..=10)
        .map(|idx| format!("Story {}", page * 10 + idx))
        .collect();
    axum::Json(json!({"titles": titles})).into_response()
}

/// A stream of events that never ends, ten a second.
async fn events() -> Response {
    let ticks = futures::stream::unfold(0_u64, |number| async move {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let event = Ok::<_, Infallible>(Bytes::from(format!("data: {number}\n\n")));
        Some((event, number + 1))
    });
    let kind = [(header::CONTENT_TYPE, "text/event-stream")];
    (kind, Body::from_stream(ticks)).into_response()
}

/// The names of the files of a form, without what is in them.
async fn upload(State(shared): State<Arc<Shared>>, body: Bytes) -> Response {
    shared.counted("upload");
    let text = String::from_utf8_lossy(&body);
    let names: Vec<&str> = text
        .split("filename=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    axum::Json(json!({"files": names, "bytes": body.len()})).into_response()
}

async fn count(State(shared): State<Arc<Shared>>, Path(name): Path<String>) -> Response {
    let count = shared.counted(&name);
    axum::Json(json!({"count": count})).into_response()
}

async fn download(State(shared): State<Arc<Shared>>, Path(name): Path<String>) -> Response {
    shared.counted("download");
    let disposition = format!("attachment; filename=\"{}\"", name.replace('"', ""));
    let headers = [
        (header::CONTENT_TYPE, "text/csv".to_owned()),
        (header::CONTENT_DISPOSITION, disposition),
    ];
    (headers, "number,amount\n1,10\n2,20\n").into_response()
}

async fn status(Path(code): Path<u16>) -> Response {
    let code = StatusCode::from_u16(code).unwrap_or(StatusCode::NOT_FOUND);
    let html = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
    let page = format!("<!doctype html><title>{code}</title><h1>{code}</h1>");
    (code, html, page).into_response()
}
