//! The loop over the actions: look, understand, act, keep.

use std::sync::Arc;
use std::time::Duration;

use cuecard_browser_steps::model::{
    ActionKind, BrowserAction, ErrorInfo, OnFailure, ParseStatus, Severity, StepsFile, TestStep,
    Translator, TranslatorChoice, step_id,
};
use cuecard_browser_steps::question::PreviousStep;
use cuecard_page::dom::NodeId;
use cuecard_page::selector::Finder;
use cuecard_page::sentences::Intent;
use cuecard_page::text::{PageText, TextOptions};
use cuecard_source::diagnostic::codes;
use cuecard_source::value::Json;

use super::ask::ParseQuestion;
use super::keep::{self, Done};
use super::observer::{Choice, Marked, ParseEvent, ParseObserver, Proposal};
use super::understand::{Translated, Unclear, meaning, read};
use super::{ParseRequest, Parsed};
use crate::model::Interpreter;
use crate::stage::{
    ActionTarget, ByIdentity, ByPhrase, Deadline, Failure, Limits, NoTargets, Outcome, PageState,
    Performed, Stage, StageAction, Targets,
};
use crate::{ElementAddress, WaitPolicy};
use cuecard_runtime::clock::Stopwatch;

/// How long an element that the words name may take to appear before a model is asked what they mean.
const BEFORE_A_MODEL: Duration = Duration::from_secs(1);
/// For how long an element must stay the one that has the words of a sentence as a part of its name.
const STEADY: Duration = Duration::from_millis(300);

/// How an action ended that gave no step.
enum Ended {
    Failed(Box<Failure>),
    Skipped,
    Quit,
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Self {
        Self::Failed(Box::new(failure))
    }
}

/// What is to be done, and with what.
struct Understood {
    translated: Translated,
    translator: Translator,
    /// The state that the elements are in.
    scene: Arc<PageState>,
    /// The index of the element on the page that was read.
    index: Option<u32>,
    /// The page that was read, as text.
    page: PageText,
}

impl Understood {
    fn new(
        translated: Translated,
        translator: Translator,
        scene: &Arc<PageState>,
        page: PageText,
    ) -> Self {
        let target = translated.target.and_then(|id| scene.state.element(id));
        Self {
            index: target.and_then(|target| target.highlight_index),
            translated,
            translator,
            scene: Arc::clone(scene),
            page,
        }
    }
}

/// Parses a scenario on a stage. Without an interpreter the rules are alone.
pub async fn parse<S: Stage, I: Interpreter, A: ParseObserver>(
    request: &ParseRequest<'_>,
    stage: &mut S,
    interpreter: Option<&mut I>,
    audience: &mut A,
) -> Parsed {
    let began = Stopwatch::start();
    let options = &request.scenario.options;
    let mut parse = Parse {
        request,
        stage,
        interpreter: interpreter.filter(|_| options.translator != TranslatorChoice::Rules),
        audience,
        total: Deadline::after(Duration::from_millis(options.timeout_ms)),
        previous: None,
        // Its status is partial until its end.
        file: StepsFile {
            url: request.scenario.url.clone(),
            options: request.options.clone(),
            variables: variables(request),
            secrets: request.secrets.clone(),
            ..StepsFile::default()
        },
    };
    let ended_by = parse.run().await;
    let mut file = parse.file;
    let is_error = |error: &ErrorInfo| !error.is_warning();
    file.status = match file.errors.iter().any(is_error) || ended_by.is_some() {
        false => ParseStatus::Success,
        true if file.test_steps.is_empty() => ParseStatus::Failed,
        true => ParseStatus::Partial,
    };
    let took = began.elapsed().as_millis();
    file.execution_time_ms = request
        .timings
        .then(|| u64::try_from(took).unwrap_or(u64::MAX));
    Parsed { file, ended_by }
}

/// The variables with their defaults. What was given for one run is not a default.
fn variables(request: &ParseRequest<'_>) -> serde_json::Map<String, Json> {
    request
        .scenario
        .variables
        .iter()
        .filter(|(name, _)| !request.secrets.contains(name))
        .map(|(name, value)| (name.clone(), value.clone().unwrap_or(Json::Null)))
        .collect()
}

struct Parse<'a, 'r, S, I, A> {
    request: &'a ParseRequest<'r>,
    stage: &'a mut S,
    interpreter: Option<&'a mut I>,
    audience: &'a mut A,
    total: Deadline,
    previous: Option<PreviousStep>,
    file: StepsFile,
}

impl<'a, S: Stage, I: Interpreter, A: ParseObserver> Parse<'a, '_, S, I, A> {
    /// Every action in its order. Gives what ended the parse before the last one.
    async fn run(&mut self) -> Option<Failure> {
        let scenario = self.request.scenario;
        self.audience
            .hear(&ParseEvent::Opening { url: &scenario.url });
        let limit = Duration::from_millis(scenario.options.action_timeout_ms);
        let opened = self
            .stage
            .open(&scenario.url, WaitPolicy::Whole, self.total.and(limit))
            .await;
        match opened {
            Ok(outcome) => self.file.observed = outcome.observed,
            Err(failure) => {
                let info = self.info(None, &scenario.url, &failure, false);
                self.file.errors.push(ErrorInfo {
                    action: None,
                    ..info
                });
                self.leave(0);
                return Some(failure);
            }
        }
        for (ordinal, action) in scenario.actions.iter().enumerate() {
            let began = Stopwatch::start();
            self.audience.hear(&ParseEvent::Begun {
                ordinal,
                action: &action.text,
            });
            let mut tries = 0;
            let ended = loop {
                match self.action(ordinal, action).await {
                    Err(Ended::Failed(failure))
                        if failure.was_replaced
                            && tries < Failure::MOST_REPLACED
                            && !self.total.is_over() =>
                    {
                        tries += 1;
                    }
                    ended => break ended,
                }
            };
            let ended = match ended {
                Ok((step, outcome)) => {
                    self.keep(action, *step, &outcome);
                    self.audience.hear(&ParseEvent::Ended {
                        ordinal,
                        marked: Marked::Done(&outcome),
                        took: began.elapsed(),
                    });
                    continue;
                }
                Err(ended) => ended,
            };
            if let Some(failure) = self.end(ordinal, action, ended, began) {
                self.leave(ordinal + 1);
                return Some(failure);
            }
        }
        None
    }

    /// An action gave no step. Gives the failure if it ends the parse.
    fn end(
        &mut self,
        ordinal: usize,
        action: &BrowserAction,
        ended: Ended,
        began: Stopwatch,
    ) -> Option<Failure> {
        let (failure, is_warning, is_over) = match ended {
            Ended::Skipped => {
                let failure = Failure {
                    message: "it was skipped".to_owned(),
                    ..Failure::default()
                };
                (failure, true, false)
            }
            Ended::Quit => {
                let failure = Failure {
                    message: "the parse was stopped here".to_owned(),
                    ..Failure::default()
                };
                (failure, false, true)
            }
            Ended::Failed(failure) => {
                let is_final = failure.is_final() || self.total.is_over();
                let stops = self.request.scenario.options.on_failure == OnFailure::Stop;
                let is_warning = action.optional && !is_final;
                (*failure, is_warning, is_final || (stops && !is_warning))
            }
        };
        let marked = match (failure.code.is_empty(), is_warning) {
            (true, true) => Marked::Skipped,
            (false, true) => Marked::Warned(&failure),
            (_, false) => Marked::Failed(&failure),
        };
        let info = self.info(Some(ordinal), &action.text, &failure, is_warning);
        self.file.errors.push(info);
        self.audience.hear(&ParseEvent::Kept { file: &self.file });
        self.audience.hear(&ParseEvent::Ended {
            ordinal,
            marked,
            took: began.elapsed(),
        });
        self.previous = Some(PreviousStep {
            action: action.text.clone(),
            error: Some(failure.message.clone()),
            url: self.previous.as_ref().map_or_else(
                || self.request.scenario.url.clone(),
                |step| step.url.clone(),
            ),
        });
        is_over.then_some(failure)
    }

    /// Lists the actions from this one on as not tried.
    fn leave(&mut self, from: usize) {
        let actions = &self.request.scenario.actions;
        for (ordinal, action) in actions.iter().enumerate().skip(from) {
            self.audience.hear(&ParseEvent::Ended {
                ordinal,
                marked: Marked::NotTried,
                took: Duration::ZERO,
            });
            let failure = Failure {
                message: "it was not tried because an earlier action failed".to_owned(),
                ..Failure::default()
            };
            let info = self.info(Some(ordinal), &action.text, &failure, true);
            self.file.errors.push(info);
        }
    }

    fn keep(&mut self, action: &BrowserAction, step: TestStep, outcome: &Outcome) {
        self.previous = Some(PreviousStep {
            action: action.text.clone(),
            error: None,
            url: outcome.observed.url.clone().unwrap_or_default(),
        });
        if let Some(text) = &outcome.observed.extracted_content {
            self.file.extracted_content = Some(text.clone());
        }
        self.file.test_steps.push(step);
        self.audience.hear(&ParseEvent::Kept { file: &self.file });
    }

    fn info(
        &self,
        ordinal: Option<usize>,
        action: &str,
        failure: &Failure,
        is_warning: bool,
    ) -> ErrorInfo {
        let values = &self.request.values;
        let named = |text: &str| values.named(text);
        ErrorInfo {
            step_id: ordinal.map(|ordinal| step_id(&self.request.scenario.url, ordinal, action)),
            message: named(&failure.message),
            action: Some(named(action)),
            playwright_action: failure.call.clone(),
            llm_error: failure.model_error.as_deref().map(named),
            selector: failure.selector.clone(),
            stack: failure
                .stack
                .as_deref()
                .filter(|_| self.request.is_verbose)
                .map(named),
            code: failure.code.clone(),
            candidates: failure
                .candidates
                .iter()
                .map(|words| named(words))
                .collect(),
            help: failure.help.as_deref().map(named),
            severity: match is_warning {
                true => Severity::Warning,
                false => Severity::Error,
            },
        }
    }

    /// One action: what it means, and what comes of it.
    async fn action(
        &mut self,
        ordinal: usize,
        action: &BrowserAction,
    ) -> Result<(Box<TestStep>, Outcome), Ended> {
        if self.total.is_over() {
            let seconds = self.total.limit().as_secs_f64();
            let message = format!("the parse timed out after {seconds} s");
            return Err(Failure::new(codes::BROWSER_TIMEOUT, message)
                .help("increase `timeoutMs`")
                .into());
        }
        let options = &self.request.scenario.options;
        let own = action.timeout_ms.map(Duration::from_millis);
        let most = |milliseconds: u64| {
            let limit = own.unwrap_or(Duration::from_millis(milliseconds));
            limit.min(self.total.left())
        };
        let limits = Limits {
            action: most(options.action_timeout_ms),
            assertion: most(options.assert_timeout_ms),
        };
        let looked = self.stage.look().await?;
        let understood = self.understand(ordinal, action, &looked, limits).await?;
        let words = told(&understood, self.finder(&understood.scene));
        self.audience.hear(&ParseEvent::Understood {
            ordinal,
            translator: understood.translator,
            words: &words,
        });
        let scene = Arc::clone(&understood.scene);
        let Translated {
            step,
            target,
            to,
            intent,
        } = &understood.translated;
        let at = |id: Option<NodeId>| {
            let id = id.filter(|_| step.assertion.is_none())?;
            ActionTarget::at(self.finder(&scene), id)
        };
        let deed = StageAction {
            step,
            aim: at(*target),
            to: at(*to),
            limits,
            wait_for: None,
            settling: WaitPolicy::Whole,
        };
        let mut targets = self.targets(&understood);
        let Performed {
            mut outcome,
            scene: judged,
        } = self.stage.perform(&deed, targets.as_mut()).await?;
        let (scene, elements) = match judged {
            None => (scene, target.iter().copied().collect()),
            Some(judged) => {
                let elements = targets.find(self.finder(&judged)).elements;
                (judged, elements)
            }
        };
        let done = Done {
            id: step_id(&self.request.scenario.url, ordinal, &action.text),
            action,
            step,
            intent: intent.as_ref(),
            translator: understood.translator,
            page: &understood.page,
            full_dom: self.request.full_dom.then(|| full_dom(&understood.scene)),
            outcome: &outcome,
            index: understood.index,
            to: *to,
            expects_dialogs: self.request.options.get("onDialog").is_some(),
        };
        let kept = keep::step(done, self.finder(&scene), &elements, &self.request.values);
        // With what the step itself gives to think about.
        outcome
            .observed
            .warnings
            .clone_from(&kept.observed.warnings);
        Ok((Box::new(kept), outcome))
    }

    /// What an action means: by the rules, else by a model, else by what a person says.
    async fn understand(
        &mut self,
        ordinal: usize,
        action: &BrowserAction,
        looked: &Arc<PageState>,
        limits: Limits,
    ) -> Result<Understood, Ended> {
        let is_for_model = self.request.scenario.options.translator == TranslatorChoice::Model;
        let read = match read(&action.text, &self.request.values) {
            // A sentence that asks for two things is none, whoever reads it.
            Err((failure, true)) => return Err(failure.into()),
            Err((failure, false)) => Err(failure),
            Ok(intent) => Ok(intent),
        };
        let (unclear, scene) = match is_for_model {
            true => {
                let message = "no model is configured, and the rules are disabled";
                let unclear = Unclear {
                    candidates: Vec::new(),
                    failure: Failure::new(codes::BROWSER_MODEL, message),
                };
                (unclear, Arc::clone(looked))
            }
            false => {
                let found = self.found(&action.text, &read, looked, limits);
                match found.await? {
                    (Ok(translated), scene) => {
                        let page = self.page_text(&scene, &action.text, true)?;
                        let understood =
                            Understood::new(translated, Translator::Rules, &scene, page);
                        return self.agreed(ordinal, action, understood).await;
                    }
                    (Err(unclear), scene) => (unclear, scene),
                }
            }
        };
        let intent = read.ok().filter(|_| !is_for_model);
        let Unclear {
            candidates,
            failure,
        } = unclear;
        if self.interpreter.is_none() {
            return self
                .given_up(ordinal, action, intent, failure, &candidates, &scene)
                .await;
        }
        let scene = self.at_rest(scene, limits).await?;
        self.audience.hear(&ParseEvent::Asking { ordinal });
        let page = self.page_text(&scene, &action.text, false)?;
        let answered = self.ask(action, &scene, &page, &candidates).await;
        match answered {
            Ok(answered) => {
                let understood = Understood::new(answered, Translator::Model, &scene, page);
                let understood = self.found_again(understood).await?;
                self.agreed(ordinal, action, understood).await
            }
            Err(failure) => {
                self.given_up(ordinal, action, intent, failure, &candidates, &scene)
                    .await
            }
        }
    }

    async fn ask(
        &mut self,
        action: &BrowserAction,
        scene: &PageState,
        page: &PageText,
        candidates: &[NodeId],
    ) -> Result<Translated, Failure> {
        let options = &self.request.scenario.options;
        let asked = ParseQuestion {
            finder: Finder::new(&scene.state, &options.test_id_attribute),
            page,
            previous: self.previous.as_ref(),
            action: &action.text,
            candidates,
            min_confidence: options.min_confidence,
        };
        let Some(interpreter) = self.interpreter.as_mut() else {
            return Err(Failure::new(codes::BROWSER_MODEL, "no model is configured"));
        };
        asked.ask(*interpreter, self.total).await
    }

    /// What a sentence means, now or once the page shows it: what is not there is waited for.
    async fn found(
        &mut self,
        sentence: &str,
        read: &Result<Intent, Failure>,
        looked: &Arc<PageState>,
        limits: Limits,
    ) -> Result<(Result<Translated, Unclear>, Arc<PageState>), Failure> {
        let is_assertion = |intent: &Intent| intent.step.action_type == ActionKind::Assert;
        let limit = match (read, &self.interpreter) {
            (Ok(intent), _) if is_assertion(intent) => limits.assertion,
            (Ok(_), None) => limits.action,
            _ => limits.action.min(BEFORE_A_MODEL),
        };
        let deadline = Deadline::after(limit);
        let mut scene = Arc::clone(looked);
        // Only the stage has a clock: a run that is played from a cassette takes no time.
        let mut part: Option<(ElementAddress, Deadline)> = None;
        loop {
            let found = meaning(sentence, read, self.finder(&scene));
            part = match &found {
                Err(unclear) if unclear.candidates.is_empty() => None,
                // A page that is not done yet may still show what fits better.
                Ok(Translated {
                    target: Some(id),
                    step,
                    ..
                }) if step.in_full.is_some() => {
                    let address = scene.state.element(*id).map(ElementAddress::of);
                    match (part, address) {
                        (Some((known, until)), Some(address)) if known == address => {
                            Some((known, until))
                        }
                        (_, address) => address.map(|address| (address, deadline.and(STEADY))),
                    }
                }
                _ => return Ok((found, scene)),
            };
            let until = part.as_ref().map_or(deadline, |(_, until)| *until);
            match self.stage.look_again(until).await? {
                Some(next) => scene = next,
                None => return Ok((found, scene)),
            }
        }
    }

    /// A page that a model can be asked about: it has been as it is for a moment, and is not the skeleton of what is
    /// still to come. One that does not come to rest in its time is taken as it is.
    async fn at_rest(
        &mut self,
        mut scene: Arc<PageState>,
        limits: Limits,
    ) -> Result<Arc<PageState>, Failure> {
        let whole = Deadline::after(limits.action);
        let mut soon = whole.and(BEFORE_A_MODEL);
        let mut still = soon.and(STEADY);
        loop {
            let is_skeleton = scene.state.is_skeleton();
            let until = if is_skeleton { whole } else { still };
            let Some(next) = self.stage.look_again(until).await? else {
                return Ok(scene);
            };
            if is_skeleton {
                soon = whole.and(BEFORE_A_MODEL);
            }
            if next.state != scene.state {
                still = soon.and(STEADY);
            }
            scene = next;
        }
    }

    /// The element of a model's answer on the page as it is by now: it may have changed while the model thought.
    async fn found_again(&mut self, mut understood: Understood) -> Result<Understood, Failure> {
        let scene = Arc::clone(&understood.scene);
        let Translated { target, to, .. } = understood.translated;
        let Some(mut own) = target.and_then(|id| identity(self.finder(&scene), id)) else {
            return Ok(understood);
        };
        let mut onto = to.and_then(|id| identity(self.finder(&scene), id));
        // One look, however long the model took.
        let soon = Deadline::after(BEFORE_A_MODEL);
        let Some(now) = self.stage.look_again(soon).await? else {
            return Ok(understood);
        };
        let mut find = |identity: &mut ByIdentity| identity.find(self.finder(&now)).elements.pop();
        let to_now = onto.as_mut().and_then(&mut find);
        match find(&mut own) {
            Some(id) if to_now.is_some() == to.is_some() => {
                understood.translated.target = Some(id);
                understood.translated.to = to_now;
                understood.scene = now;
                Ok(understood)
            }
            _ => {
                let words = target.map(|id| self.finder(&scene).in_words(id));
                let message = format!(
                    "{} existed when the model was asked, but no longer does",
                    words.unwrap_or_default()
                );
                Err(Failure::new(codes::BROWSER_NOT_FOUND, message))
            }
        }
    }

    /// What a person decides, if there is one.
    async fn decide(&mut self, proposal: Proposal) -> Result<Choice, Ended> {
        match self.audience.decide(&proposal).await {
            Choice::Skip => Err(Ended::Skipped),
            Choice::Quit => Err(Ended::Quit),
            choice => Ok(choice),
        }
    }

    /// Lets a person decide about what was understood.
    async fn agreed(
        &mut self,
        ordinal: usize,
        action: &BrowserAction,
        understood: Understood,
    ) -> Result<Understood, Ended> {
        let words = told(&understood, self.finder(&understood.scene));
        self.decide(Proposal {
            ordinal,
            action: action.text.clone(),
            understood: Some(words),
            ..Proposal::default()
        })
        .await?;
        Ok(understood)
    }

    /// Nothing is clear enough to be done: unless a person picks one of the candidates, it fails.
    async fn given_up(
        &mut self,
        ordinal: usize,
        action: &BrowserAction,
        intent: Option<Intent>,
        failure: Failure,
        candidates: &[NodeId],
        scene: &Arc<PageState>,
    ) -> Result<Understood, Ended> {
        let finder = self.finder(scene);
        let proposal = Proposal {
            ordinal,
            action: action.text.clone(),
            reason: Some(failure.message.clone()),
            candidates: candidates.iter().map(|&id| finder.in_words(id)).collect(),
            ..Proposal::default()
        };
        match (self.decide(proposal).await?, intent) {
            (Choice::Pick(place), Some(intent))
                if place < candidates.len() && intent.to.is_none() =>
            {
                let translated = Translated {
                    step: intent.step,
                    target: Some(candidates[place]),
                    to: None,
                    intent: None,
                };
                let page = self.page_text(scene, &action.text, true)?;
                Ok(Understood::new(translated, Translator::Rules, scene, page))
            }
            _ => Err(failure.into()),
        }
    }

    /// What finds the elements of an action on each new state.
    fn targets(&self, understood: &Understood) -> Box<dyn Targets + Send> {
        let identity = || {
            let id = understood.translated.target?;
            identity(self.finder(&understood.scene), id)
        };
        match &understood.translated.intent {
            Some(intent) if intent.phrase.is_some() => Box::new(ByPhrase::new(intent.clone())),
            Some(_) => Box::new(NoTargets),
            None => match identity() {
                Some(identity) => Box::new(identity),
                None => Box::new(NoTargets),
            },
        }
    }

    /// The page as text. For the rules it is as long as it must be; a model has a budget.
    fn page_text(
        &self,
        scene: &PageState,
        action: &str,
        is_for_rules: bool,
    ) -> Result<PageText, Failure> {
        let options = &self.request.scenario.options;
        let finder = self.finder(scene);
        let action = self.request.values.in_words(action);
        let with = |budget: usize| TextOptions {
            budget,
            include_attributes: &options.include_attributes,
            action: &action,
        };
        let values = &self.request.values;
        let too_large = match values.page_text(finder, &with(options.prompt_budget)) {
            Ok(page) => return Ok(page),
            Err(too_large) => too_large,
        };
        let failure = || {
            Failure::new(codes::BROWSER_PAGE_TOO_LARGE, too_large.to_string())
                .help("increase `promptBudget`, or limit the page with --page-root CSS")
        };
        match is_for_rules {
            false => Err(failure()),
            true => values
                .page_text(finder, &with(too_large.characters))
                .map_err(|_| failure()),
        }
    }

    fn finder<'s>(&self, scene: &'s PageState) -> Finder<'s>
    where
        'a: 's,
    {
        Finder::new(
            &scene.state,
            &self.request.scenario.options.test_id_attribute,
        )
    }
}

/// What is remembered of an element to find it again on the next state.
fn identity(finder: Finder<'_>, id: NodeId) -> Option<ByIdentity> {
    let known = finder.identify(id, None)?;
    Some(ByIdentity {
        selectors: known.selectors,
        fingerprint: known.fingerprint,
    })
}

/// What is done, in words.
fn told(understood: &Understood, finder: Finder<'_>) -> String {
    let Translated {
        step, target, to, ..
    } = &understood.translated;
    if let &Some(target) = target {
        let to = to.map(|to| format!(" to {}", finder.in_words(to)));
        return finder.in_words(target) + &to.unwrap_or_default();
    }
    match (step.action_type, &step.url, &step.key) {
        (ActionKind::Navigate, Some(url), _) => url.clone(),
        (ActionKind::Press, _, Some(key)) => key.clone(),
        _ => match &step.assertion {
            Some(assertion) => assertion.kind.as_str().to_owned(),
            None => step.action_type.as_str().to_owned(),
        },
    }
}

/// The whole page for a file. The number of its load would differ each time.
fn full_dom(scene: &PageState) -> Json {
    let mut recorded = scene.state.to_recorded();
    if let Some(page) = recorded.get_mut("page").and_then(Json::as_object_mut) {
        page.remove("documentId");
    }
    recorded
}
