//! One conversation for each sentence.

use std::future::Future;

use cuecard_browser_steps::question::{Answer, Prompt, Question, cassette_key};

use super::Interpreter;
use super::cassette::{Cassette, ModelIdentity};
use super::reply::{Conversation, Reply, Turn};
use crate::stage::Failure;
use cuecard_source::diagnostic::codes;

/// Speaks with a model.
pub trait ModelClient: Send {
    /// Which model, over which API.
    fn identity(&self) -> ModelIdentity;

    /// Gets the next reply of a conversation.
    ///
    /// # Errors
    /// `model_unavailable`, with what the model's side said.
    fn ask(
        &mut self,
        conversation: &Conversation<'_>,
    ) -> impl Future<Output = Result<Reply, Failure>> + Send;
}

/// Interprets sentences with a model, a cassette or both.
#[derive(Debug)]
pub struct ModelInterpreter<C> {
    client: Option<C>,
    cassette: Option<Cassette>,
    /// Whose replies are looked for, if nobody is asked.
    identity: Option<ModelIdentity>,
    max_replies: usize,
}

impl<C: ModelClient> ModelInterpreter<C> {
    /// An interpreter that asks `cassette` first, and then `client` if the cassette lets it. `max_replies` is how
    /// often the model may reply for one sentence.
    pub fn new(client: Option<C>, cassette: Option<Cassette>, max_replies: u64) -> Self {
        let identity = match (&client, &cassette) {
            (Some(client), _) => Some(client.identity()),
            (None, Some(cassette)) => cassette.identity(),
            (None, None) => None,
        };
        Self {
            client,
            cassette,
            identity,
            max_replies: usize::try_from(max_replies).unwrap_or(usize::MAX).max(1),
        }
    }

    /// Looks for replies of this model, also when nobody is asked.
    #[must_use]
    pub fn as_model(self, identity: ModelIdentity) -> Self {
        Self {
            identity: Some(identity),
            ..self
        }
    }

    /// The model that is asked, or whose replies are recorded. None if there is neither.
    pub fn identity(&self) -> Option<ModelIdentity> {
        self.identity.clone()
    }

    /// The next reply: a recorded one, or the model's.
    async fn reply(
        &mut self,
        identity: &ModelIdentity,
        conversation: &Conversation<'_>,
    ) -> Result<Reply, Failure> {
        let Conversation { prompt, turns } = *conversation;
        let earlier: Vec<String> = turns.iter().map(Turn::earlier).collect();
        let ModelIdentity { dialect, model } = identity;
        let key = cassette_key(dialect, model, prompt, &earlier);
        if let Some(cassette) = &self.cassette {
            if let Some(reply) = cassette.reply(&key) {
                return Ok(reply);
            }
            if !cassette.may_ask() {
                return Err(cassette.miss(identity, prompt, &earlier));
            }
        }
        let Some(client) = &mut self.client else {
            return Err(not_configured());
        };
        let reply = client.ask(conversation).await?;
        if let Some(cassette) = &self.cassette {
            cassette.add_reply(key, identity, prompt, earlier, &reply);
        }
        Ok(reply)
    }
}

impl<C: ModelClient> Interpreter for ModelInterpreter<C> {
    async fn interpret(
        &mut self,
        question: &Question<'_>,
        prompt: &Prompt,
    ) -> Result<Answer, Failure> {
        let Some(identity) = self.identity() else {
            return Err(not_configured());
        };
        let mut turns: Vec<Turn> = Vec::new();
        while turns.len() < self.max_replies {
            let conversation = Conversation {
                prompt,
                turns: &turns,
            };
            let reply = self.reply(&identity, &conversation).await?;
            match question.judge(&reply.calls) {
                Ok(answer) => return Ok(answer),
                Err(breach) => turns.push(Turn { reply, breach }),
            }
        }
        Err(unusable(&turns))
    }
}

fn not_configured() -> Failure {
    Failure::new(codes::BROWSER_MODEL, "no model is configured").help(
        "configure one with `options.llm` or `--model`, or rephrase the sentence so that the rules can parse it",
    )
}

/// No reply can be used.
fn unusable(turns: &[Turn]) -> Failure {
    let why = turns.last().map_or("", |turn| turn.breach.0.as_str());
    let replies = match turns.len() {
        1 => "the model's reply can't be used".to_owned(),
        count => format!("none of the model's {count} replies can be used"),
    };
    let shown: Vec<String> = turns
        .iter()
        .enumerate()
        .map(|(index, turn)| turn.shown(index + 1))
        .collect();
    Failure::new(
        codes::BROWSER_TRANSLATION,
        format!("{replies}: {why}"),
    )
    .with_model_error(shown.join("\n"))
    .help(
        "rephrase the sentence so that the rules can parse it: with the name in quotes and the kind of element",
    )
}
