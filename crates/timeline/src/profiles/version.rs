//! Versions of agents.

use std::fmt;

/// A version: numbers with dots. What follows them, as in `2.0.5-beta`, doesn't count.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(Vec<u64>);

/// The versions from one on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionRange {
    /// The first.
    pub from: Version,
    /// The first that is no longer meant.
    pub before: Option<Version>,
}

impl Version {
    /// Reads `2.0.5` or `v2.0.5`. `None` if there is no number.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let text = text.strip_prefix('v').unwrap_or(text);
        let end = text
            .find(|character: char| !character.is_ascii_digit() && character != '.')
            .unwrap_or(text.len());
        let mut numbers = text[..end]
            .split('.')
            .map(str::parse)
            .collect::<Result<Vec<u64>, _>>()
            .ok()?;
        // 2.0 and 2.0.0 are one version.
        while numbers.len() > 1 && numbers.last() == Some(&0) {
            numbers.pop();
        }
        Some(Self(numbers))
    }
}

impl VersionRange {
    /// Reads `>=2.0.5` or `>=2.0.5, <3`.
    pub fn parse(text: &str) -> Option<Self> {
        let (from, before) = match text.split_once(',') {
            None => (text, None),
            Some((from, before)) => (from, Some(before)),
        };
        let from = Version::parse(from.trim().strip_prefix(">=")?)?;
        let before = match before {
            None => None,
            Some(before) => Some(Version::parse(before.trim().strip_prefix('<')?)?),
        };
        Some(Self { from, before })
    }

    /// Whether `version` is one of them.
    pub fn holds(&self, version: &Version) -> bool {
        self.from <= *version && self.before.as_ref().is_none_or(|before| version < before)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (idx, number) in self.0.iter().enumerate() {
            if idx > 0 {
                formatter.write_str(".")?;
            }
            write!(formatter, "{number}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_by_their_numbers() {
        let version = |text: &str| Version::parse(text).expect("a version");
        assert!(version("2.0.5") < version("2.0.10"));
        assert!(version("2") < version("2.0.1"));
        assert_eq!(version("v2.0"), version("2.0.0-beta"));
        assert_eq!(version("2.0.5").to_string(), "2.0.5");
        assert_eq!(Version::parse("latest"), None);
        assert_eq!(Version::parse(""), None);
    }

    #[test]
    fn a_range_has_a_start_and_perhaps_an_end() {
        let range = VersionRange::parse(">=2.0.5, <3").expect("a range");
        let holds = |text: &str| range.holds(&Version::parse(text).expect("a version"));
        assert!(holds("2.0.5") && holds("2.9") && !holds("3.0") && !holds("2.0.4"));
        assert_eq!(VersionRange::parse("2.0.5"), None);
        assert_eq!(VersionRange::parse(">=2, 3"), None);
    }
}
