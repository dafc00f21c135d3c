//! Conversations with a model whose replies are scripted, and with our own stand-in for one.

mod cassette;
mod client;
mod conversation;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use cuecard_browser_steps::question::{Prompt, Question};
use cuecard_page::dom::{DomProcessor, DomState};
use cuecard_page::selector::Finder;
use cuecard_page::text::PageText;
use cuecard_source::diagnostic::codes;
use cuecard_source::value::{Json, Redactor};
use serde_json::json;

use super::*;

/// A page with a field and two buttons of one name.
pub(super) fn login() -> DomState {
    let nodes = json!([
        {"tagName": "body", "path": "/html/body", "isVisible": true},
        {"parent": 0, "tagName": "input", "path": "input", "role": "textbox", "name": "E-mail",
         "isVisible": true, "isInteractive": true, "isInViewport": true, "attributes": {"type": "email"}},
        {"parent": 0, "tagName": "button", "path": "button[1]", "role": "button", "name": "Delete",
         "isVisible": true, "isInteractive": true, "isInViewport": true},
        {"parent": 0, "tagName": "button", "path": "button[2]", "role": "button", "name": "Delete",
         "isVisible": true, "isInteractive": true, "isInViewport": true},
    ]);
    let capture = json!({"version": 1, "documents": [{"url": "https://shop.example/", "title": "Shop", "nodes": nodes}]});
    DomProcessor::new("data-testid", Redactor::default())
        .read(&capture.to_string())
        .expect("a capture")
}

pub(super) fn question<'a>(state: &'a DomState, action: &'a str) -> Question<'a> {
    Question {
        finder: Finder::new(state, "data-testid"),
        action,
        candidates: &[],
        min_confidence: 0.6,
    }
}

pub(super) fn prompt(state: &DomState, action: &str) -> Prompt {
    let page = Finder::new(state, "data-testid")
        .text_for_model(&Default::default())
        .expect("a small page");
    Prompt::new(&page, None, action)
}

/// A prompt with this page.
pub(super) fn prompt_with(page: &str, action: &str) -> Prompt {
    let page = PageText {
        text: page.to_owned(),
        cut: None,
    };
    Prompt::new(&page, None, action)
}

/// Arguments of a call that clicks an element.
pub(super) fn click(index: u32) -> Json {
    json!({"actionType": "click", "targetSelector": format!("highlightIndex={index}"),
           "description": "click", "isAmbiguous": false, "confidence": 0.9})
}

/// A model whose replies are given beforehand.
#[derive(Debug, Clone, Default)]
pub(super) struct ScriptedClient {
    replies: VecDeque<Result<Reply, Failure>>,
    /// What it was told was wrong, each time that it was asked.
    asked: Arc<Mutex<Vec<Vec<String>>>>,
}

impl ScriptedClient {
    pub(super) fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self {
            replies: replies.into_iter().map(Ok).collect(),
            asked: Arc::default(),
        }
    }

    pub(super) fn asked(&self) -> Vec<Vec<String>> {
        self.asked.lock().expect("nobody panicked").clone()
    }
}

impl ModelClient for ScriptedClient {
    fn identity(&self) -> ModelIdentity {
        ModelIdentity {
            dialect: "openai".to_owned(),
            model: "scripted".to_owned(),
        }
    }

    async fn ask(&mut self, conversation: &Conversation<'_>) -> Result<Reply, Failure> {
        let told = conversation.turns.iter().map(|turn| turn.breach.0.clone());
        self.asked
            .lock()
            .expect("nobody panicked")
            .push(told.collect());
        self.replies.pop_front().expect("a reply is scripted")
    }
}
