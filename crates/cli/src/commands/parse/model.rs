//! The model that is asked, and the cassette that is played or recorded.

use std::ffi::OsString;

use cuecard_browser::model::{
    Cassette, CassetteMode, HttpModelClient, ModelInterpreter, ModelSettings,
};
use cuecard_browser_steps::model::{BrowserOptions, TranslatorChoice};
use cuecard_runner::timeline::is_ci;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::value::Redactor;

use crate::args::ModelArgs;
use crate::commands::browser_stage::diagnostic;
use crate::context::Stop;
use crate::exit_code::ExitCode;
use crate::inputs::text_environment;

/// What stands beside the stage.
pub(super) struct Sources {
    /// Reads what the rules can't; none if there is no model, nor a recorded one.
    pub(super) interpreter: Option<ModelInterpreter<HttpModelClient>>,
    pub(super) cassette: Option<Cassette>,
    pub(super) warnings: Vec<Diagnostic>,
}

/// Opens the cassette, and makes ready to ask the model.
///
/// # Errors
/// With all that is wrong.
pub(super) fn sources(
    args: &ModelArgs,
    options: &BrowserOptions,
    environment: &[(OsString, OsString)],
    secrets: Redactor,
) -> Result<Sources, Stop> {
    let settings = match options.translator {
        TranslatorChoice::Rules => Ok(None),
        TranslatorChoice::Model | TranslatorChoice::RulesThenModel => {
            settings(args, options, environment)
        }
    };
    let settings = settings.map_err(Stop::invalid)?;
    let mut warnings = Vec::new();
    let mode = match args.record {
        true if is_ci(environment) => {
            warnings.push(
                Diagnostic::warning(codes::ARGUMENT, "`--record` is ignored because `CI` is set")
                    .with_help(
                        "record on your own machine, and commit the cassette with the scenario",
                    ),
            );
            CassetteMode::Replies
        }
        true => CassetteMode::Record,
        false => CassetteMode::Replies,
    };
    let cassette = match &args.cassette {
        Some(path) => {
            let (cassette, found) = Cassette::open(path, mode, secrets).map_err(|found| {
                let is_unwritable = found.iter().any(|found| found.code == codes::FILE_WRITE);
                let exit = match is_unwritable {
                    true => ExitCode::CouldNotRun,
                    false => ExitCode::Invalid,
                };
                Stop::new(found, exit)
            })?;
            warnings.extend(found);
            Some(cassette)
        }
        None => None,
    };
    let identity = settings.as_ref().map(ModelSettings::identity);
    let client = match settings {
        None => None,
        Some(settings) => {
            let client = HttpModelClient::new(settings)
                .map_err(|error| Stop::could_not_run(diagnostic(&error)))?;
            Some(client)
        }
    };
    let mut interpreter = ModelInterpreter::new(client, cassette.clone(), options.max_replies);
    if let Some(identity) = identity {
        interpreter = interpreter.as_model(identity);
    }
    Ok(Sources {
        interpreter: interpreter.identity().is_some().then_some(interpreter),
        cassette,
        warnings,
    })
}

/// How the model is asked that the command line or the scenario names.
fn settings(
    args: &ModelArgs,
    options: &BrowserOptions,
    environment: &[(OsString, OsString)],
) -> Result<Option<ModelSettings>, Diagnostic> {
    ModelSettings::find(
        args.model.as_deref(),
        options,
        &text_environment(environment),
    )
}

#[cfg(test)]
mod tests {
    use cuecard_browser_steps::model::{Provider, ProviderKind};

    use super::*;

    fn provider(kind: ProviderKind, base_url: Option<&str>, api_key_env: Option<&str>) -> Provider {
        Provider {
            kind,
            model: "of-file".to_owned(),
            base_url: base_url.map(str::to_owned),
            api_key_env: api_key_env.map(str::to_owned),
        }
    }

    /// The API, the model, the address, the variable of the key, and the key.
    fn told(model: Option<&str>, llm: Option<Provider>, environment: &[(&str, &str)]) -> String {
        let args = ModelArgs {
            model: model.map(str::to_owned),
            cassette: None,
            record: false,
        };
        let options = BrowserOptions {
            llm,
            ..BrowserOptions::default()
        };
        let environment: Vec<(OsString, OsString)> = environment
            .iter()
            .map(|(name, value)| ((*name).into(), (*value).into()))
            .collect();
        match settings(&args, &options, &environment) {
            Ok(None) => "none".to_owned(),
            Ok(Some(settings)) => format!(
                "{} {} {} {} {}",
                settings.kind.as_str(),
                settings.model,
                settings.provider,
                settings.key_variable.as_deref().unwrap_or("-"),
                settings.key.as_deref().unwrap_or("-")
            ),
            Err(diagnostic) => format!("error: {}", diagnostic.message),
        }
    }

    #[test]
    fn the_command_line_comes_before_the_file_and_the_file_before_the_environment() {
        use ProviderKind::{Anthropic, OpenAi};
        let keys = [
            ("OPENAI_API_KEY", "ko"),
            ("ANTHROPIC_API_KEY", "ka"),
            ("OWN", "kx"),
        ];
        let local = [("OPENAI_BASE_URL", "http://h:1/v1"), ("OPENAI_API_KEY", "")];
        for (model, llm, environment, expected) in [
            (None, None, &keys[..], "none"),
            (
                Some("openai/a/b"),
                None,
                &keys[..],
                "openai a/b https://api.openai.com/v1 OPENAI_API_KEY ko",
            ),
            (
                None,
                Some(provider(Anthropic, None, None)),
                &keys[..],
                "anthropic of-file https://api.anthropic.com ANTHROPIC_API_KEY ka",
            ),
            (
                Some("other"),
                Some(provider(Anthropic, None, Some("OWN"))),
                &keys[..],
                "anthropic other https://api.anthropic.com OWN kx",
            ),
            (
                Some("openai/x"),
                Some(provider(Anthropic, Some("http://a"), Some("OWN"))),
                &local[..],
                "openai x http://h:1/v1 OPENAI_API_KEY -",
            ),
            // A key goes to no server that a file names by itself.
            (
                None,
                Some(provider(OpenAi, Some("http://evil.example"), None)),
                &keys[..],
                "openai of-file http://evil.example - -",
            ),
            (
                None,
                Some(provider(OpenAi, Some("ftp://a"), None)),
                &keys[..],
                "error: `options.llm.baseUrl` is not a valid base URL: it must start with `http://` or `https://`",
            ),
            (
                Some("gpt"),
                None,
                &keys[..],
                "error: `--model gpt` does not specify the API",
            ),
            (
                Some("openai/"),
                None,
                &keys[..],
                "error: `--model openai/` does not specify the API",
            ),
        ] {
            assert_eq!(told(model, llm, environment), expected);
        }
    }
}
