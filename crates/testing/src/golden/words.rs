//! One command line of a case: words as a shell splits them, with the few variables a case has.

/// Splits `line` at spaces. `'…'` is taken as it is; in `"…"` and outside quotes `\` takes the next character as
/// it is, and `$NAME` or `${NAME}` is replaced by `lookup`. A `$` before anything but a name is a plain `$`.
///
/// # Errors
/// An unclosed quote, a lone `\` at the end, and a name that `lookup` doesn't know.
pub(super) fn split(
    line: &str,
    lookup: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = line;
    let mut quoted = false;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '"' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            '\'' if !quoted => {
                let end = rest
                    .find('\'')
                    .ok_or_else(|| format!("`'` is not closed in `{line}`"))?;
                word.get_or_insert_default().push_str(&rest[..end]);
                rest = &rest[end + 1..];
            }
            '\\' => {
                let next = rest
                    .chars()
                    .next()
                    .ok_or_else(|| format!("`\\` at the end of `{line}`"))?;
                rest = &rest[next.len_utf8()..];
                word.get_or_insert_default().push(next);
            }
            '$' => {
                let (value, after) = variable(rest, lookup)?;
                word.get_or_insert_default().push_str(&value);
                rest = after;
            }
            c if c.is_whitespace() && !quoted => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    if quoted {
        return Err(format!("`\"` is not closed in `{line}`"));
    }
    words.extend(word);
    Ok(words)
}

/// The value of the variable whose name stands at the start of `rest`, and what follows it.
fn variable<'a>(
    rest: &'a str,
    lookup: &dyn Fn(&str) -> Option<String>,
) -> Result<(String, &'a str), String> {
    let braced = rest.strip_prefix('{');
    let body = braced.unwrap_or(rest);
    let end = body
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .unwrap_or(body.len());
    let (name, after) = body.split_at(end);
    let after = match (braced, after.strip_prefix('}')) {
        (None, _) => after,
        (Some(_), Some(after)) => after,
        (Some(_), None) => return Ok(("$".to_owned(), rest)),
    };
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(("$".to_owned(), rest));
    }
    let value = lookup(name).ok_or_else(|| {
        format!("`${name}` is not defined; quote it with '…' if it is plain text")
    })?;
    Ok((value, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Result<Vec<String>, String> {
        split(line, &|name| {
            (name == "CASE").then(|| "/the case".to_owned())
        })
    }

    #[test]
    fn words_split_and_quote_as_in_a_shell() {
        let split = words(r#"play  "$CASE/a.json" --var 'A=$x "y"' a\ b "" c"d e"f"#);
        let expected = [
            "play",
            "/the case/a.json",
            "--var",
            "A=$x \"y\"",
            "a b",
            "",
            "cd ef",
        ];
        assert_eq!(split, Ok(expected.map(str::to_owned).to_vec()));
        assert_eq!(words("  "), Ok(Vec::new()));
    }

    #[test]
    fn a_value_with_spaces_stays_one_word_and_a_lone_dollar_is_itself() {
        let split = words("${CASE}x $.a $5 a$ ${ ${CASE");
        let expected = ["/the casex", "$.a", "$5", "a$", "${", "${CASE"];
        assert_eq!(split, Ok(expected.map(str::to_owned).to_vec()));
    }

    #[test]
    fn what_a_shell_would_not_take_is_an_error() {
        for line in ["'a", "\"a", "a\\", "$HOME"] {
            assert!(words(line).is_err(), "{line}");
        }
        assert!(words("$HOME").expect_err("unknown").contains("`$HOME`"));
    }
}
