//! Text as part of a shell command.

/// `text` as one word of a POSIX shell, whatever is in it.
pub fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// `path` as one word that no program takes for an option.
pub fn quote_file(path: &str) -> String {
    match path.starts_with('-') {
        true => quote(&format!("./{path}")),
        false => quote(path),
    }
}

/// What becomes of a file that a text is put into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// The text goes behind what is there.
    Append,
    /// The text is all that is there; missing folders are made.
    Write,
}

impl Way {
    /// The redirection that does it.
    fn operator(self) -> &'static str {
        match self {
            Self::Append => ">>",
            Self::Write => ">",
        }
    }
}

/// A command that puts exactly `text` into the file `path`.
pub fn put(way: Way, text: &str, path: &str) -> String {
    let folder = match (way, path.rsplit_once('/')) {
        (Way::Write, Some((folder, _))) if !folder.is_empty() => {
            format!("mkdir -p {} && ", quote_file(folder))
        }
        _ => String::new(),
    };
    let (path, operator) = (quote_file(path), way.operator());
    // A here-document ends in a newline; a text that doesn't must not get one.
    if !text.ends_with('\n') {
        return format!("{folder}printf %s {} {operator} {path}", quote(text));
    }
    let delimiter = (0..)
        .map(|number| match number {
            0 => "EOF".to_owned(),
            number => format!("EOF_{number}"),
        })
        .find(|delimiter| !text.contains(delimiter.as_str()))
        .unwrap_or_default();
    format!("{folder}cat {operator} {path} <<'{delimiter}'\n{text}{delimiter}")
}

/// A command that runs `command` in `folder`: all of it, and nothing if there is no such folder.
pub fn run_in(folder: &str, command: &str) -> String {
    let (start, end) = braces(command);
    format!("cd {} && {start}{command}{end}", quote_file(folder))
}

/// What holds a command together that has more to it than words, `|` and `&&`: `a & b`, a here-document, a comment.
fn braces(command: &str) -> (&'static str, &'static str) {
    let plain = command.replace("&&", "").replace(">&", "");
    match plain.contains(['\n', ';', '&', '#', '\\', '`'])
        || plain.contains("||")
        || plain.contains("<<")
    {
        true => ("{\n", "\n}"),
        false => ("", ""),
    }
}

/// Words as one command line.
pub fn join<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<String> = words
        .into_iter()
        .map(|word| {
            let is_plain = !word.is_empty()
                && word
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"-_./:=,+@%".contains(&byte));
            match is_plain {
                true => word.to_owned(),
                false => quote(word),
            }
        })
        .collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The words of a command that has only plain characters, single quotes and escaped ones.
    fn words(command: &str) -> Option<Vec<String>> {
        let mut words = Vec::new();
        let mut word: Option<String> = None;
        let mut characters = command.chars();
        while let Some(character) = characters.next() {
            match character {
                ' ' => words.extend(word.take()),
                '\'' => {
                    let word = word.get_or_insert_default();
                    loop {
                        match characters.next()? {
                            '\'' => break,
                            inside => word.push(inside),
                        }
                    }
                }
                '\\' => word.get_or_insert_default().push(characters.next()?),
                plain if plain.is_ascii_alphanumeric() || "-_./:=,+@%>".contains(plain) => {
                    word.get_or_insert_default().push(plain);
                }
                _ => return None,
            }
        }
        words.extend(word);
        Some(words)
    }

    #[test]
    fn words_are_quoted() {
        assert_eq!(quote("it's"), r"'it'\''s'");
        assert_eq!(quote(""), "''");
        assert_eq!(quote_file("-rf"), "'./-rf'");
        assert_eq!(join(["git", "commit", "-m", "a b"]), "git commit -m 'a b'");
    }

    #[test]
    fn a_delimiter_is_not_in_the_text() {
        assert_eq!(put(Way::Append, "a\n", "f"), "cat >> 'f' <<'EOF'\na\nEOF");
        assert_eq!(
            put(Way::Append, "EOF\n", "f"),
            "cat >> 'f' <<'EOF_1'\nEOF\nEOF_1"
        );
        assert_eq!(put(Way::Append, "a", "f"), "printf %s 'a' >> 'f'");
        assert_eq!(
            put(Way::Write, "a", "d/-e/f"),
            "mkdir -p 'd/-e' && printf %s 'a' > 'd/-e/f'"
        );
    }

    proptest! {
        #[test]
        fn any_text_is_one_word(text in any::<String>(), file in any::<String>()) {
            prop_assert_eq!(words(&quote(&text)), Some(vec![text.clone()]));
            prop_assert_eq!(words(&join([text.as_str(), &file])), Some(vec![text.clone(), file.clone()]));
            let file = quote_file(&file);
            prop_assert!(!file.starts_with("'-"));
            let command = put(Way::Append, &text, "f");
            match text.ends_with('\n') {
                true => {
                    let (first, rest) = command.split_once('\n').expect("a here-document");
                    let delimiter = first.rsplit("<<").next().expect("a delimiter").trim_matches('\'');
                    prop_assert_eq!(rest.strip_suffix(delimiter), Some(text.as_str()));
                    prop_assert!(!text.contains(delimiter));
                }
                false => {
                    let expected = ["printf", "%s", text.as_str(), ">>", "f"].map(str::to_owned);
                    prop_assert_eq!(words(&command), Some(expected.to_vec()));
                }
            }
        }
    }
}
