//! Did-you-mean.

/// The candidate that `name` was probably meant to be: the nearest by edit distance, if it is near enough
/// for its length, or the one that is called `name` in other formats. Case and the difference between `-`, `_` and ` ` count little.
pub fn did_you_mean<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let wanted = fold(name);
    let length = wanted.chars().count();
    let allowed = (length / 3).clamp(1, 4);
    candidates
        .into_iter()
        .filter_map(|candidate| {
            if candidate == "condition" && matches!(name, "if" | "when") {
                return Some((0, candidate));
            }
            let folded = fold(candidate);
            // Texts are as far from each other as their lengths, at least.
            let is_near = folded.chars().count().abs_diff(length) <= allowed;
            is_near.then(|| (strsim::damerau_levenshtein(&wanted, &folded), candidate))
        })
        .filter(|&(distance, candidate)| distance <= allowed && candidate != name)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

fn fold(name: &str) -> String {
    name.chars()
        .take(200)
        .flat_map(char::to_lowercase)
        .map(|character| {
            if matches!(character, '-' | ' ') {
                '_'
            } else {
                character
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::did_you_mean;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        assert_eq!(
            did_you_mean("creat_issue", ["create_issue", "close"]),
            Some("create_issue")
        );
        assert_eq!(
            did_you_mean("Create-Issue", ["create_issue"]),
            Some("create_issue")
        );
        assert_eq!(did_you_mean("if", ["id", "condition"]), Some("condition"));
        assert_eq!(did_you_mean("zebra", ["create_issue", "close"]), None);
        assert_eq!(did_you_mean("x", [] as [&str; 0]), None);
    }
}
