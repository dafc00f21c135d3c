//! Options that mean the same in several commands. Each command gives them a heading.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// The values of an option: how each is written, what it is, and its help.
pub(super) type Choices<T> = &'static [(&'static str, T, &'static str)];

/// Reads one of `choices`.
pub(super) fn one_of<T: Copy + Send + Sync + 'static>(
    choices: Choices<T>,
) -> impl TypedValueParser<Value = T> {
    let values = choices.iter();
    let values = values.map(|(name, _, help)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(values).map(|name| {
        let chosen = choices.iter().find(|(known, ..)| *known == name);
        chosen.expect("no other name is possible").1
    })
}

/// Reads a number that is not negative.
pub(super) fn factor(text: &str) -> Result<f64, &'static str> {
    number(text, f64::MAX).ok_or("write a number that is 0 or more, such as 0.5")
}

/// Reads a number from 0 to 1.
fn share(text: &str) -> Result<f64, &'static str> {
    number(text, 1.0).ok_or("write a number from 0 to 1")
}

/// Reads a percentage.
pub(super) fn percentage(text: &str) -> Result<f64, &'static str> {
    number(text, 100.0).ok_or("write a number from 0 to 100")
}

/// Reads a number of seconds.
pub(super) fn seconds(text: &str) -> Result<Duration, &'static str> {
    let wait = wait(text).ok().filter(|wait| !wait.is_zero());
    wait.ok_or("write a number of seconds above 0")
}

/// The same, or 0.
pub(super) fn wait(text: &str) -> Result<Duration, &'static str> {
    let seconds = number(text, f64::MAX);
    let wait = seconds.and_then(|it| Duration::try_from_secs_f64(it).ok());
    wait.ok_or("write a number of seconds, 0 or more")
}

fn number(text: &str, most: f64) -> Option<f64> {
    text.parse().ok().filter(|it| (0.0..=most).contains(it))
}

/// Where servers are found, and how long they may take.
#[derive(Debug, Clone, Args)]
pub(crate) struct ConnectArgs {
    /// Read servers from this file only
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Timeout for a call or for starting a server, in seconds [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    pub timeout: Option<Duration>,
}

/// A file of variables.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct EnvFileArgs {
    /// Read variables from a file of NAME=VALUE lines
    #[arg(long = "env", value_name = "FILE")]
    pub env_file: Option<PathBuf>,
}

/// How servers are found and reached by commands that play nothing.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Servers")]
pub(crate) struct ServerArgs {
    #[command(flatten)]
    pub connect: ConnectArgs,
    #[command(flatten)]
    pub env: EnvFileArgs,
}

/// An address to listen on.
#[derive(Debug, Args)]
#[command(next_help_heading = "Network")]
pub(crate) struct AddressArgs {
    /// Port to listen on (0: any free port)
    #[arg(long, default_value_t = 0)]
    pub port: u16,
    /// Address to listen on; all but loopback require --token
    #[arg(long, default_value = "127.0.0.1", value_name = "ADDRESS")]
    pub bind: IpAddr,
}

impl AddressArgs {
    /// The address with its port; 0 stands for any free port.
    pub(crate) fn socket(&self) -> SocketAddr {
        SocketAddr::new(self.bind, self.port)
    }
}

/// Secrets that a recorded scenario doesn't contain.
#[derive(Debug, Args)]
pub(crate) struct SecretVariableArgs {
    /// Make a secret a variable without a value, from CUECARD_VAR_NAME or a prompt (repeatable)
    ///
    /// Its value is written nowhere. In the scenario it is the variable NAME, which must be given.
    #[arg(long = "secret", value_name = "NAME", value_parser = super::secret_name)]
    pub secrets: Vec<String>,
}

/// How fast a file is played.
#[derive(Debug, Args)]
pub(crate) struct SpeedArgs {
    /// Factor of scripted delays (0.5: faster, 0: no delay)
    #[arg(
        long,
        alias = "scenario-speed",
        value_parser = factor,
        value_name = "FACTOR",
        allow_negative_numbers = true,
        default_value_t = 1.0
    )]
    pub speed: f64,
}

/// Which of the tagged files are selected.
#[derive(Debug, Args)]
pub(crate) struct TagArgs {
    /// Only files with this tag (repeatable)
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
}

/// How near a prompt must be to that of a timeline.
#[derive(Debug, Args)]
pub(crate) struct DistanceArgs {
    /// Maximum distance between a prompt and the timeline's prompt, from 0 to 1
    #[arg(
        long,
        value_parser = share,
        value_name = "DISTANCE",
        allow_negative_numbers = true,
        hide_short_help = true,
        default_value_t = cuecard_timeline::script::DEFAULT_MAX_DISTANCE
    )]
    pub max_distance: f64,
}
