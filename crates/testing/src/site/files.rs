//! The pages, and the two packages that one of them needs.

use std::path::{Component, Path};

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use super::Shared;

/// Where the scripts of React are in its packages.
const PACKAGES: &[(&str, &str)] = &[
    ("vendor/react.js", "react/umd/react.production.min.js"),
    (
        "vendor/react-dom.js",
        "react-dom/umd/react-dom.production.min.js",
    ),
];

/// The file at `path`, which has no leading slash.
pub(super) fn answer(shared: &Shared, path: &str) -> Response {
    let path = match path {
        "" => "index.html",
        "next" | "next/" => "next/index.html",
        path => path,
    };
    let is_plain = Path::new(path)
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    if !is_plain {
        return StatusCode::NOT_FOUND.into_response();
    }
    let component = path.strip_prefix("packages/");
    let package = PACKAGES.iter().find(|(known, _)| *known == path);
    let file = match (package, &shared.packages) {
        (Some((_, inside)), Some(packages)) => packages.join(inside),
        (Some(_), None) => return StatusCode::NOT_FOUND.into_response(),
        (None, _) => match (component, &shared.components) {
            (Some(inside), Some(components)) => components.join(inside),
            (Some(_), None) => return StatusCode::NOT_FOUND.into_response(),
            (None, _) => match path.strip_prefix("sentences/") {
                Some(page) => shared.pages.join("../scenarios/sentences").join(page),
                None => shared.pages.join(path),
            },
        },
    };
    let Ok(bytes) = std::fs::read(&file) else {
        let page = "<!doctype html><title>Not found</title><h1>Not found</h1>";
        let html = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
        return (StatusCode::NOT_FOUND, html, page).into_response();
    };
    let kind = match file.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    };
    // Libraries don't change while the site runs: a browser need not read and compile them for each page again.
    let is_library = component.is_some() || package.is_some();
    let caching = if is_library {
        "max-age=3600"
    } else {
        "no-store"
    };
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, caching),
    ];
    if kind.starts_with("text/html") {
        let text = String::from_utf8_lossy(&bytes)
            .replace("__OTHER_PORT__", &shared.other_port())
            .replace("__OTHER_SITE__", &shared.other_site());
        let text = match shared.script {
            Some(script) => {
                let begin = format!("<head><script src=\"/{script}\"></script>");
                text.replacen("<head>", &begin, 1)
            }
            None => text,
        };
        return (headers, text).into_response();
    }
    (headers, bytes).into_response()
}
