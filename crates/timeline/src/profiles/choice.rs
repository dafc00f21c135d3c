//! Which profile an agent has.

use std::sync::LazyLock;

use super::advertised::AdvertisedTool;
use super::profile::Profile;
use super::read::read_profile;
use super::version::Version;
use cuecard_source::SourceFile;
use cuecard_source::diagnostic::{Diagnostic, codes};

/// The built-in profile of this version of an agent, as name and text.
macro_rules! built_in {
    ($agent:literal) => {
        (
            concat!("profiles/", $agent, ".toml"),
            include_str!(concat!($agent, ".toml")),
        )
    };
}

/// The profiles that are built in.
const BUILT_IN: &[(&str, &str)] = &[
    built_in!("claude-code/2.0.5"),
    built_in!("cline/3.0.65"),
    built_in!("codex/0.169.0"),
    built_in!("gemini-cli/0.61.0"),
    built_in!("mini-swe-agent/2.4.6"),
    built_in!("mistral-vibe/3.0.2"),
    built_in!("opencode/1.18.33"),
    built_in!("openhands/1.58.2"),
    built_in!("pi/0.73.1"),
    built_in!("qwen-code/0.15.10"),
    built_in!("qwen-code/0.24.4"),
];

static PARSED: LazyLock<Vec<Profile>> = LazyLock::new(|| {
    BUILT_IN
        .iter()
        .filter_map(|(name, text)| read_profile(&SourceFile::new(*name, *text)).ok())
        .collect()
});

/// An agent gives itself away by at least so many of its tools; by fewer only if it has no more, and the request has no
/// others.
const MIN_DETECTED: usize = 2;

/// The profiles there are.
#[derive(Debug, Clone)]
pub struct Profiles {
    profiles: Vec<Profile>,
}

/// An agent as the user names it: `claude-code` or `claude-code@2.0.5`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentName {
    /// The agent.
    pub agent: String,
    /// Its version, if one is named.
    pub version: Option<Version>,
}

/// The profile for a request.
#[derive(Debug, Clone, Copy)]
pub struct ProfileChoice<'p> {
    /// The profile; `None` if nothing says which, and calls go as they were written.
    pub profile: Option<&'p Profile>,
    /// The agent that was named, if the advertised tools are those of another one.
    pub disagrees_with: Option<&'p AgentName>,
    /// Whether the request or the user says which agent it is; else the profile is only that of the usual one.
    pub is_told: bool,
}

impl AgentName {
    /// Reads `agent` or `agent@version`. `None` if the version is none.
    pub fn parse(text: &str) -> Option<Self> {
        let (agent, version) = match text.split_once('@') {
            None => (text, None),
            Some((agent, version)) => (agent, Some(Version::parse(version)?)),
        };
        (!agent.is_empty()).then(|| Self {
            agent: agent.to_owned(),
            version,
        })
    }
}

impl Profiles {
    /// Those that are built in, and `more`, which go before them.
    pub fn with(more: Vec<Profile>) -> Self {
        let mut profiles = more;
        profiles.extend(PARSED.iter().cloned());
        Self { profiles }
    }

    /// The names of all agents, each once.
    pub fn agents(&self) -> Vec<&str> {
        let mut agents: Vec<&str> = self
            .profiles
            .iter()
            .map(|profile| profile.agent.as_str())
            .collect();
        agents.sort_unstable();
        agents.dedup();
        agents
    }

    /// The profile of an agent: the nearest whose range holds its version, the newest if none is named.
    pub fn of_agent(&self, name: &AgentName) -> Option<&Profile> {
        let fitting = self.profiles.iter().filter(|profile| {
            let version = name.version.as_ref();
            profile.agent == name.agent
                && version.is_none_or(|version| profile.versions.holds(version))
        });
        newest(fitting)
    }

    /// The profile for a request: that of the agent whose tools it advertises, else that of the agent which was
    /// named, else that of the usual agent of its `endpoint` (`messages`, `responses`, `chat`, `gemini`), unless it
    /// advertises tools that that one doesn't have.
    pub fn choose<'p>(
        &'p self,
        advertised: &[AdvertisedTool],
        named: Option<&'p AgentName>,
        endpoint: &str,
    ) -> ProfileChoice<'p> {
        let detected = self.detect(advertised);
        let is_other = |name: &&AgentName| detected.is_some_and(|it| it.agent != name.agent);
        let disagrees_with = named.filter(is_other);
        let of_named = named.filter(|name| !is_other(name));
        let of_named = of_named.and_then(|name| self.of_agent(name));
        let is_told = detected.is_some() || named.is_some();
        let usual = || {
            let of_endpoint = |profile: &&Profile| profile.endpoint.as_deref() == Some(endpoint);
            let profiles = self.profiles.iter().filter(of_endpoint);
            newest(profiles.filter(|profile| {
                advertised.iter().all(|tool| profile.takes(tool))
                    && profile.unknown_tools(advertised).is_empty()
            }))
        };
        ProfileChoice {
            profile: match is_told {
                true => of_named.or(detected),
                false => usual(),
            },
            disagrees_with,
            is_told,
        }
    }

    /// All profiles, the user's own first.
    pub fn iter(&self) -> impl Iterator<Item = &Profile> {
        self.profiles.iter()
    }

    fn detect(&self, advertised: &[AdvertisedTool]) -> Option<&Profile> {
        // How many of its tools are there, and how many are not.
        let overlap = |profile: &Profile| {
            let is_own = |tool: &AdvertisedTool| profile.takes(tool);
            let is_there = |name: &&String| {
                advertised
                    .iter()
                    .any(|tool| tool.name == **name && is_own(tool))
            };
            let n_there = profile.detect.iter().filter(is_there).count();
            let n_missing = profile.detect.len() - n_there;
            let is_all = n_missing == 0 && n_there == advertised.len();
            let is_enough = n_there >= MIN_DETECTED || (n_there > 0 && is_all);
            is_enough.then_some((n_there, std::cmp::Reverse(n_missing)))
        };
        let best = self.profiles.iter().filter_map(overlap).max()?;
        newest(
            self.profiles
                .iter()
                .filter(|profile| overlap(profile) == Some(best)),
        )
    }
}

impl Default for Profiles {
    fn default() -> Self {
        Self::with(Vec::new())
    }
}

fn newest<'p>(profiles: impl Iterator<Item = &'p Profile>) -> Option<&'p Profile> {
    // Of equally new ones the first, which is the user's own.
    profiles.reduce(|best, next| {
        if next.versions.from > best.versions.from {
            next
        } else {
            best
        }
    })
}

impl ProfileChoice<'_> {
    /// Which profile it is, and why, for people.
    pub fn describe(&self) -> String {
        let why = match (self.disagrees_with, self.is_told) {
            (Some(_), _) => "by its tools",
            (None, true) => "by its tools, or by `--agent`",
            (None, false) => {
                "as the usual agent of this API: the tools are those of no agent that is known"
            }
        };
        match self.profile {
            Some(profile) => format!("the profile is `{}`, chosen {why}", profile.title()),
            None => {
                "no profile has these tools; calls go by the names and arguments in the timeline"
                    .into()
            }
        }
    }

    /// T-TOOL-02, if the agent is another one than was named.
    pub fn diagnostic(&self) -> Option<Diagnostic> {
        let (name, profile) = (self.disagrees_with?, self.profile?);
        let message = format!(
            "the advertised tools are those of `{}`, but `--agent` specifies `{}`",
            profile.agent, name.agent
        );
        Some(
            Diagnostic::warning(codes::TOOL_PROFILE_DIFFERS, message)
                .with_help("the advertised tools take precedence; correct `--agent`, or remove it"),
        )
    }
}
