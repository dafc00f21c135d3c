//! Which option of a list a text means, whether the list is a `select` or made by the page.

/// How many options an error lists.
const LISTED: usize = 10;

/// An option of a list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Choice<'o> {
    pub(crate) label: &'o str,
    /// What a `select` calls it.
    pub(crate) value: Option<&'o str>,
    pub(crate) is_disabled: bool,
}

/// The place of the option that a text means, and whether it does so by its value: by its label, else by its value, else
/// by the only label that differs from it in case.
///
/// # Errors
/// Why there is none, with `when_empty` of a list without options, and whether the page may still get it.
pub(crate) fn chosen(
    option: &str,
    options: &[Choice<'_>],
    when_empty: &str,
) -> Result<(usize, bool), (String, bool)> {
    let folded = option.to_lowercase();
    let having = |is_it: &dyn Fn(&Choice<'_>) -> bool| -> Vec<usize> {
        let all = options.iter().enumerate();
        all.filter(|(_, known)| is_it(known))
            .map(|(idx, _)| idx)
            .collect()
    };
    let by_label = having(&|known| known.label == option);
    if by_label.len() > 1 {
        let count = by_label.len();
        let message = format!("{count} options are named `{option}`: nothing was selected");
        return Err((message, false));
    }
    let by_value = having(&|known| known.value == Some(option));
    let alike = having(&|known| known.label.to_lowercase() == folded);
    let (idx, is_by_value) = match (by_label.as_slice(), by_value.first(), alike.as_slice()) {
        ([one], ..) | ([], None, [one]) => (*one, false),
        (_, Some(one), _) => (*one, true),
        _ => return Err((no_option(option, options, when_empty), true)),
    };
    match options[idx].is_disabled {
        true => Err((format!("option `{option}` is disabled"), true)),
        false => Ok((idx, is_by_value)),
    }
}

fn no_option(option: &str, options: &[Choice<'_>], when_empty: &str) -> String {
    let labels: Vec<&str> = options.iter().map(|known| known.label).collect();
    let mut listed = labels[..labels.len().min(LISTED)].join("`, `");
    if labels.len() > LISTED {
        listed.push_str(&format!("` and {} more", labels.len() - LISTED));
    } else {
        listed.push('`');
    }
    match labels.is_empty() {
        true => format!("option `{option}` not found: {when_empty}"),
        false => format!("option `{option}` not found; available: `{listed}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choices(labels: &[String]) -> Vec<Choice<'_>> {
        let all = labels.iter().map(|label| Choice {
            label,
            value: None,
            is_disabled: false,
        });
        all.collect()
    }

    #[test]
    fn a_missing_option_lists_those_that_are_there() {
        let text = |option: &str, labels: &[String]| {
            no_option(option, &choices(labels), "the list is empty")
        };
        assert_eq!(
            text("Green", &["Red".to_owned(), "Blue".to_owned()]),
            "option `Green` not found; available: `Red`, `Blue`"
        );
        let many: Vec<String> = (0..12).map(|number| number.to_string()).collect();
        assert!(text("x", &many).ends_with("`9` and 2 more"));
        assert!(text("x", &[]).ends_with("the list is empty"));
    }
}
