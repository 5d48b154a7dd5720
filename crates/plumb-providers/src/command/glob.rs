//! Glob patterns for file paths.
//!
//! `*` and `?` do not match `/`, `**` does; `[abc]`, `[a-c]`, `[!abc]` are sets, `{a,b}` alternatives, and a
//! backslash escapes the next character. A pattern must match the whole path.

use regex::Regex;

/// Error in a pattern.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    /// A set or a list of alternatives is not closed.
    #[error("`{pattern}` has an unclosed `{open}`")]
    Unclosed { pattern: String, open: char },
    /// A set is empty, or contains a reversed range.
    #[error("`{pattern}` is not a pattern")]
    Invalid {
        pattern: String,
        #[source]
        source: Box<regex::Error>,
    },
}

/// Converts a pattern to a regular expression.
pub(super) fn compile(pattern: &str) -> Result<Regex, Error> {
    let mut expression = String::from("^(?s:");
    let mut letters = pattern.chars().peekable();
    let mut depth = 0_usize;
    while let Some(letter) = letters.next() {
        match letter {
            '*' if letters.next_if_eq(&'*').is_some() => expression.push_str(".*"),
            '*' => expression.push_str("[^/]*"),
            '?' => expression.push_str("[^/]"),
            '[' => set(pattern, &mut letters, &mut expression)?,
            '{' => {
                depth += 1;
                expression.push_str("(?:");
            }
            '}' if depth > 0 => {
                depth -= 1;
                expression.push(')');
            }
            ',' if depth > 0 => expression.push('|'),
            '\\' => literal(letters.next().unwrap_or('\\'), &mut expression),
            other => literal(other, &mut expression),
        }
    }
    if depth > 0 {
        return Err(Error::Unclosed {
            pattern: pattern.to_owned(),
            open: '{',
        });
    }
    expression.push_str(")$");
    Regex::new(&expression).map_err(|source| Error::Invalid {
        pattern: pattern.to_owned(),
        source: Box::new(source),
    })
}

fn set(
    pattern: &str,
    letters: &mut std::iter::Peekable<std::str::Chars<'_>>,
    expression: &mut String,
) -> Result<(), Error> {
    expression.push('[');
    if letters.next_if_eq(&'!').is_some() {
        expression.push('^');
    }
    loop {
        match letters.next() {
            None => {
                return Err(Error::Unclosed {
                    pattern: pattern.to_owned(),
                    open: '[',
                });
            }
            Some(']') => break,
            Some('-') => expression.push('-'),
            Some('\\') => literal(letters.next().unwrap_or('\\'), expression),
            Some(letter) => literal(letter, expression),
        }
    }
    expression.push(']');
    Ok(())
}

fn literal(letter: char, expression: &mut String) {
    expression.push_str(&regex::escape(letter.encode_utf8(&mut [0; 4])));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_paths() {
        let cases = [
            ("*.txt", "a.txt", true),
            ("*.txt", "d/a.txt", false),
            ("assets/**", "assets/logos/logo.svg", true),
            ("src/**.js", "src/index.js", true),
            ("src/**.js", "src/deep/index.js", true),
            ("**secret.*", "src/secret.js", true),
            ("a?c", "abc", true),
            ("a?c", "a/c", false),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("{one,two}.txt", "two.txt", true),
            ("{one,two}.txt", "three.txt", false),
            ("a\\*", "a*", true),
            ("a\\*", "ab", false),
            ("a.b", "aXb", false),
        ];
        for (pattern, path, expected) in cases {
            assert_eq!(
                compile(pattern).unwrap().is_match(path),
                expected,
                "{pattern} {path}"
            );
        }
    }

    #[test]
    fn unclosed_patterns_are_refused() {
        assert!(matches!(
            compile("[ab"),
            Err(Error::Unclosed { open: '[', .. })
        ));
        assert!(matches!(
            compile("{a,b"),
            Err(Error::Unclosed { open: '{', .. })
        ));
        assert!(matches!(compile("[c-a]"), Err(Error::Invalid { .. })));
    }
}
