//! Reads SPDX licence expressions: names, `WITH`, `AND`, `OR`, parentheses, and the older `/` for `OR`.

/// More nested parentheses than this are no licence.
const MAX_DEPTH: usize = 16;

/// Can the terms of `expression` be met with the `allowed` licences alone? A `NAME WITH EXCEPTION` is allowed if it
/// is listed as such.
///
/// # Errors
/// What can't be read as an expression.
pub(super) fn allowed(expression: &str, allowed: &[&str]) -> Result<bool, String> {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader {
        words: &words,
        at: 0,
        allowed,
    };
    let result = reader.any_of(MAX_DEPTH)?;
    match reader.next() {
        None => Ok(result),
        Some(word) => Err(format!("`{word}` is not expected there")),
    }
}

struct Reader<'a> {
    words: &'a [&'a str],
    at: usize,
    allowed: &'a [&'a str],
}

impl<'a> Reader<'a> {
    /// `AND` binds closer than `OR`.
    fn any_of(&mut self, depth: usize) -> Result<bool, String> {
        let mut result = self.all_of(depth)?;
        while self.take("OR") {
            result |= self.all_of(depth)?;
        }
        Ok(result)
    }

    fn all_of(&mut self, depth: usize) -> Result<bool, String> {
        let mut result = self.one(depth)?;
        while self.take("AND") {
            result &= self.one(depth)?;
        }
        Ok(result)
    }

    fn one(&mut self, depth: usize) -> Result<bool, String> {
        if self.take("(") {
            let depth = depth.checked_sub(1).ok_or("too many parentheses")?;
            let result = self.any_of(depth)?;
            return if self.take(")") {
                Ok(result)
            } else {
                Err("a parenthesis is not closed".to_owned())
            };
        }
        let name = self.name()?;
        if self.take("WITH") {
            let exception = self.name()?;
            return Ok(self
                .allowed
                .contains(&format!("{name} WITH {exception}").as_str()));
        }
        Ok(self.allowed.contains(&name))
    }

    fn name(&mut self) -> Result<&'a str, String> {
        match self.next() {
            Some(word) if !matches!(word, "(" | ")" | "AND" | "OR" | "WITH") => Ok(word),
            Some(word) => Err(format!("`{word}` where a licence is expected")),
            None => Err("it ends where a licence is expected".to_owned()),
        }
    }

    fn next(&mut self) -> Option<&'a str> {
        let word = self.words.get(self.at).copied();
        self.at += 1;
        word
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.words.get(self.at) == Some(&word);
        self.at += usize::from(found);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &[&str] = &[
        "MIT",
        "Apache-2.0",
        "Apache-2.0 WITH LLVM-exception",
        "BSD-3-Clause",
    ];

    #[test]
    fn expressions_are_judged_by_their_operators() {
        for (expression, expected) in [
            ("MIT", true),
            ("GPL-3.0-only", false),
            ("GPL-3.0-only OR MIT", true),
            ("GPL-3.0-only AND MIT", false),
            ("GPL-3.0-only/MIT", true),
            ("Apache-2.0 / MIT", true),
            ("(MIT OR GPL-2.0+) AND BSD-3-Clause", true),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", false),
            ("MIT OR Apache-2.0 AND GPL-2.0", true),
            ("GPL-2.0 AND MIT OR GPL-2.0", false),
            ("Apache-2.0 WITH LLVM-exception", true),
            ("MIT WITH LLVM-exception", false),
            ("Apache-2.0 WITH LLVM-exception OR GPL-2.0", true),
            ("LicenseRef-own", false),
        ] {
            assert_eq!(allowed(expression, LIST), Ok(expected), "{expression}");
        }
    }

    #[test]
    fn what_is_no_expression_is_an_error() {
        let deep = format!("{}MIT{}", "(".repeat(40), ")".repeat(40));
        for expression in [
            "",
            "MIT AND",
            "(MIT",
            "MIT)",
            "MIT Apache-2.0",
            "OR MIT",
            "MIT WITH",
            deep.as_str(),
        ] {
            assert!(allowed(expression, LIST).is_err(), "{expression}");
        }
    }
}
