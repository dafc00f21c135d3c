//! Asks a model about a sentence that the rules can't read.

use cuecard_browser_steps::model::{ActionKind, IntermediateStep};
use cuecard_browser_steps::question::{Answer, PreviousStep, Prompt, Question};
use cuecard_page::dom::NodeId;
use cuecard_page::selector::Finder;
use cuecard_page::sentences::{Intent, Phrase, Pool, given_texts};
use cuecard_page::text::PageText;
use cuecard_source::diagnostic::codes;

use super::understand::Translated;
use crate::model::Interpreter;
use crate::stage::{Deadline, Failure, choices};

/// How many sentences for candidates a message has.
const MOST_CHOICES: usize = 5;

/// What is asked.
pub(super) struct ParseQuestion<'a> {
    pub finder: Finder<'a>,
    pub page: &'a PageText,
    pub previous: Option<&'a PreviousStep>,
    pub action: &'a str,
    /// What the rules found to be possible, if they found several.
    pub candidates: &'a [NodeId],
    pub min_confidence: f64,
}

impl ParseQuestion<'_> {
    /// Asks.
    ///
    /// # Errors
    /// Why nothing is done: with the elements that could be meant, if the model told which.
    pub(super) async fn ask<I: Interpreter>(
        &self,
        interpreter: &mut I,
        deadline: Deadline,
    ) -> Result<Translated, Failure> {
        let question = Question {
            finder: self.finder,
            action: self.action,
            candidates: self.candidates,
            min_confidence: self.min_confidence,
        };
        let prompt = Prompt::new(self.page, self.previous, self.action);
        let asked = interpreter.interpret(&question, &prompt);
        let answer = match tokio::time::timeout(deadline.left(), asked).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => return Err(error),
            Err(_) => {
                let message = "the model did not answer before the parse timed out";
                return Err(
                    Failure::new(codes::BROWSER_TIMEOUT, message).help("increase `timeoutMs`")
                );
            }
        };
        match answer {
            Answer::Act { step, target, to } => Ok(Translated {
                intent: self.absent(&step, target)?,
                step: *step,
                target,
                to,
            }),
            Answer::Unclear { reason, candidates } => Err(self.unclear(&reason, &candidates)),
        }
    }

    /// Words for what must not be there, which has no index.
    fn absent(
        &self,
        step: &IntermediateStep,
        target: Option<NodeId>,
    ) -> Result<Option<Intent>, Failure> {
        let is_about_an_element = step.action_type == ActionKind::Assert
            && step
                .assertion
                .as_ref()
                .is_some_and(|assertion| assertion.kind.needs_target());
        if target.is_some() || !is_about_an_element {
            return Ok(None);
        }
        let Some(name) = given_texts(self.action).into_iter().next() else {
            let message = "the sentence does not name what must be absent";
            return Err(Failure::new(codes::BROWSER_NOT_UNDERSTOOD, message).help("quote its name"));
        };
        Ok(Some(Intent {
            step: step.clone(),
            phrase: Some(Phrase {
                name,
                is_quoted: true,
                role: None,
                within: None,
                position: None,
            }),
            span: 0..0,
            pool: Pool::Anything,
            to: None,
        }))
    }

    /// Nothing is done, since it is not clear what is meant.
    fn unclear(&self, reason: &str, candidates: &[NodeId]) -> Failure {
        let words = |&id: &NodeId| self.finder.in_words(id);
        let failure = Failure::new(
            codes::BROWSER_AMBIGUOUS,
            format!("{reason}: nothing was done"),
        )
        .among(candidates.iter().map(words).collect());
        let say = candidates
            .iter()
            .filter_map(|&id| self.finder.words_for(id));
        match choices(
            "specify which one",
            &say.take(MOST_CHOICES).collect::<Vec<_>>(),
        ) {
            Some(help) => failure.help(help),
            None => failure.help("describe the element by its role and name"),
        }
    }
}
