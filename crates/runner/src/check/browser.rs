//! Browser scenarios and their steps, and what they would do.

use std::collections::BTreeMap;

use cuecard_browser::model::NamedModel;
use cuecard_browser_steps::format::{self as browser, BrowserEffects, check_variables};
use cuecard_browser_steps::model::{BrowserScenario, StepsFile, TranslatorChoice};
use cuecard_source::SourceFile;
use cuecard_source::diagnostic::Diagnostic;

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
    Named(Box<NamedModel>),
}

/// Reads a browser scenario: what it would do, unless it can't be read, and what is wrong with it.
pub(super) fn scenario(
    source: &SourceFile,
    environment: &BTreeMap<String, String>,
) -> (Option<BrowserPlan>, Vec<Diagnostic>) {
    let reading = browser::read(source);
    let mut diagnostics = reading.diagnostics;
    let plan = reading.scenario.map(|scenario| {
        diagnostics.extend(check_variables(&scenario, &[], false));
        let model = model(&scenario, environment).unwrap_or_else(|found| {
            diagnostics.push(found);
            AskedModel::Unasked
        });
        let effects = browser::effects(&scenario);
        BrowserPlan { effects, model }
    });
    (plan, diagnostics)
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
    let named = NamedModel::find(None, &scenario.options, environment)?;
    Ok(named.map_or(AskedModel::Unnamed, |named| {
        AskedModel::Named(Box::new(named))
    }))
}
