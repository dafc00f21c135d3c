//! Browser scenarios and their steps, and what they would do.

use std::collections::BTreeMap;

use cuecard_browser::model::ModelSettings;
use cuecard_browser_steps::format::{self as browser, BrowserEffects, Declared};
use cuecard_browser_steps::model::{BrowserScenario, StepsFile, TranslatorChoice};
use cuecard_page::sentences::{Understanding, nearest_form, understand};
use cuecard_source::SourceFile;
use cuecard_source::diagnostic::{Diagnostic, codes};

/// What a browser file would do.
#[derive(Debug)]
pub struct BrowserPlan {
    /// What its actions do.
    pub effects: BrowserEffects,
    /// Who is asked what the rules can't read.
    pub model: AskedModel,
}

/// Who is asked what the rules can't read.
#[derive(Debug)]
pub enum AskedModel {
    /// Nobody: it is no scenario, or it says so.
    Unasked,
    /// Nobody, since none is named.
    Unnamed,
    /// This one.
    Named(Box<ModelSettings>),
}

/// Reads a browser script: what it would do, unless it can't be read, and what is wrong with it.
pub(super) fn scenario(
    source: &SourceFile,
    environment: &BTreeMap<String, String>,
) -> (Option<BrowserPlan>, Vec<Diagnostic>) {
    let reading = browser::read(source);
    let mut diagnostics = reading.diagnostics;
    let plan = reading.scenario.map(|scenario| {
        diagnostics.extend(Declared::of_scenario(&scenario).check(source, &[], false));
        let model = model(&scenario, environment).unwrap_or_else(|found| {
            diagnostics.push(found);
            AskedModel::Unasked
        });
        diagnostics.extend(unread(&scenario, source, &model));
        let effects = browser::effects(&scenario);
        BrowserPlan { effects, model }
    });
    (plan, diagnostics)
}

/// What is wrong with sentences that no rule reads: an error if nobody does, a warning if only the page can tell.
fn unread(scenario: &BrowserScenario, source: &SourceFile, model: &AskedModel) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (number, action) in (1..).zip(&scenario.actions) {
        let diagnostic = match understand(&action.text) {
            Understanding::NotUnderstood { reason, is_final }
                if is_final || !matches!(model, AskedModel::Named(_)) =>
            {
                let message = format!("action {number} matches no rule: {reason}");
                Diagnostic::warning(codes::BROWSER_NOT_UNDERSTOOD, message).with_help(
                    match nearest_form(&action.text) {
                        Some(form) => format!("the closest form is: {form}"),
                        None => {
                            "start with a verb: click X, type 'text' into X, verify X is visible"
                                .to_owned()
                        }
                    },
                )
            }
            Understanding::Compound { parts } => {
                let message = format!("action {number} asks for more than one action");
                let parts: String = parts.iter().map(|part| format!("\n- {part}")).collect();
                Diagnostic::error(codes::BROWSER_COMPOUND, message)
                    .with_help(format!("write one action for each:{parts}"))
            }
            _ => continue,
        };
        found.push(diagnostic.at(source, action.span));
    }
    found
}

/// Reads browser steps, as [`scenario`] does.
pub(super) fn steps(source: &SourceFile) -> (Option<BrowserPlan>, Vec<Diagnostic>) {
    let reading = browser::read_steps(source);
    let plan = reading.steps.as_ref().map(steps_plan);
    (plan, reading.diagnostics)
}

/// What steps would do.
pub fn steps_plan(steps: &StepsFile) -> BrowserPlan {
    BrowserPlan {
        effects: browser::steps_effects(steps),
        model: AskedModel::Unasked,
    }
}

fn model(
    scenario: &BrowserScenario,
    environment: &BTreeMap<String, String>,
) -> Result<AskedModel, Diagnostic> {
    if scenario.options.translator == TranslatorChoice::Rules {
        return Ok(AskedModel::Unasked);
    }
    let named = ModelSettings::find(None, &scenario.options, environment)?;
    Ok(named.map_or(AskedModel::Unnamed, |named| {
        AskedModel::Named(Box::new(named))
    }))
}
