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

/// A command that appends exactly `text` to the file `path`.
pub fn append(text: &str, path: &str) -> String {
    let path = quote_file(path);
    // A here-document ends in a newline; a text that doesn't must not get one.
    if !text.ends_with('\n') {
        return format!("printf %s {} >> {path}", quote(text));
    }
    let delimiter = (0..)
        .map(|number| match number {
            0 => "EOF".to_owned(),
            number => format!("EOF_{number}"),
        })
        .find(|delimiter| !text.contains(delimiter.as_str()))
        .unwrap_or_default();
    format!("cat >> {path} <<'{delimiter}'\n{text}{delimiter}")
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
        assert_eq!(append("a\n", "f"), "cat >> 'f' <<'EOF'\na\nEOF");
        assert_eq!(append("EOF\n", "f"), "cat >> 'f' <<'EOF_1'\nEOF\nEOF_1");
        assert_eq!(append("a", "f"), "printf %s 'a' >> 'f'");
    }

    proptest! {
        #[test]
        fn any_text_is_one_word(text in any::<String>(), file in any::<String>()) {
            prop_assert_eq!(words(&quote(&text)), Some(vec![text.clone()]));
            prop_assert_eq!(words(&join([text.as_str(), &file])), Some(vec![text.clone(), file.clone()]));
            let file = quote_file(&file);
            prop_assert!(!file.starts_with("'-"));
            let command = append(&text, "f");
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
