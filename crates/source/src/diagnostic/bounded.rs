//! How many findings are shown.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::{Diagnostic, Severity, codes};

/// More findings of one file are counted, not shown.
pub const MAX_SHOWN: usize = 100;

/// The findings that are shown: of each file the first [`MAX_SHOWN`], errors before all others, in their order. Where
/// there are more, a last one says how many (X-FIND-01), as grave as the worst of them.
pub fn bounded(all: &[Diagnostic]) -> Vec<Cow<'_, Diagnostic>> {
    let mut files: HashMap<Option<&str>, Vec<usize>> = HashMap::new();
    if all.len() > MAX_SHOWN {
        for (idx, found) in all.iter().enumerate() {
            let name = found.place.as_ref().map(|place| place.source.name());
            files.entry(name).or_default().push(idx);
        }
    }
    let mut left_out = HashSet::new();
    let mut rest = HashMap::new();
    for mut of_file in files.into_values().filter(|found| found.len() > MAX_SHOWN) {
        let last = of_file.last().copied();
        // The sort is stable: within a severity the first ones come first.
        of_file.sort_by_key(|&idx| Reverse(all[idx].severity));
        let hidden = of_file.split_off(MAX_SHOWN);
        if let Some(last) = last {
            rest.insert(last, count_hidden(all, &hidden));
        }
        left_out.extend(hidden);
    }
    let mut shown = Vec::with_capacity(all.len() - left_out.len() + rest.len());
    for (idx, found) in all.iter().enumerate() {
        if !left_out.contains(&idx) {
            shown.push(Cow::Borrowed(found));
        }
        shown.extend(rest.remove(&idx).map(Cow::Owned));
    }
    shown
}

/// Says how many findings are not shown.
fn count_hidden(all: &[Diagnostic], hidden: &[usize]) -> Diagnostic {
    let of = |severity: Severity| {
        let matching = hidden.iter().filter(|&&idx| all[idx].severity == severity);
        matching.count()
    };
    let counts: Vec<String> = [Severity::Error, Severity::Warning, Severity::Note]
        .into_iter()
        .filter_map(|severity| match (of(severity), severity.as_str()) {
            (0, _) => None,
            (1, word) => Some(format!("1 {word}")),
            (more, word) => Some(format!("{more} {word}s")),
        })
        .collect();
    let message = match hidden.len() {
        1 => format!("1 more finding is not shown: {}", counts.join(", ")),
        more => format!("{more} more findings are not shown: {}", counts.join(", ")),
    };
    let mut counted = Diagnostic::note(codes::FINDINGS_HIDDEN, message);
    counted.severity = hidden
        .iter()
        .map(|&idx| all[idx].severity)
        .max()
        .unwrap_or(Severity::Note);
    counted.place = hidden
        .iter()
        .min()
        .and_then(|&first| all[first].place.clone());
    counted.with_help("fix the ones above and run again")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SourceFile, Span};

    /// Findings of a file: so many warnings, then so many errors.
    fn findings(name: &str, n_warnings: usize, n_errors: usize) -> Vec<Diagnostic> {
        let source = SourceFile::new(name, "x\n".repeat(n_warnings + n_errors));
        let at = |idx: usize| Span::new(idx * 2, idx * 2 + 1);
        let warnings = (0..n_warnings)
            .map(|idx| Diagnostic::warning(codes::ARGUMENT, "w").at(&source, at(idx)));
        let errors = (n_warnings..n_warnings + n_errors)
            .map(|idx| Diagnostic::error(codes::ARGUMENT, "e").at(&source, at(idx)));
        warnings.chain(errors).collect()
    }

    #[test]
    fn of_each_file_some_findings_are_shown_and_the_rest_is_counted() {
        let few = findings("few", MAX_SHOWN, 0);
        assert_eq!(bounded(&few).len(), MAX_SHOWN);
        let mut all = findings("many", 150, 30);
        all.extend(findings("few", 3, 0));
        let shown = bounded(&all);
        assert_eq!(shown.len(), MAX_SHOWN + 1 + 3);
        let of = |severity| {
            shown
                .iter()
                .filter(|found| found.severity == severity)
                .count()
        };
        assert_eq!(
            (of(Severity::Error), of(Severity::Warning)),
            (30, 70 + 1 + 3)
        );
        let counted = &shown[MAX_SHOWN];
        assert_eq!(counted.code, codes::FINDINGS_HIDDEN);
        assert_eq!(
            counted.message,
            "80 more findings are not shown: 80 warnings"
        );
        let place = counted.place.as_ref().expect("a place");
        assert_eq!(place.source.position(place.span.start).line, 71);

        let mixed = findings("mixed", 1, 101);
        let shown = bounded(&mixed);
        let counted = shown.last().expect("one");
        assert_eq!(counted.severity, Severity::Error);
        assert_eq!(
            counted.message,
            "2 more findings are not shown: 1 error, 1 warning"
        );
    }
}
