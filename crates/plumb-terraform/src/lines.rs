//! Line endings that mean nothing to Terraform: those within parentheses, lists and `for` expressions. The parser does not take
//! them everywhere, so they become spaces before it reads a text again; places in the text stay the same.

/// Content of a bracket.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    /// Entries or attributes, which line endings part.
    Lines,
    /// An expression over any number of lines.
    Joined,
    /// An interpolation within a text.
    Interpolation,
}

/// `text` with spaces in place of line endings, and of comments, within brackets that need none.
pub(crate) fn joined(text: &str) -> String {
    let mut scan = Scan {
        rest: text,
        out: String::with_capacity(text.len()),
        stack: Vec::new(),
    };
    while !scan.rest.is_empty() {
        scan.step();
    }
    scan.out
}

struct Scan<'t> {
    rest: &'t str,
    out: String,
    stack: Vec<Inside>,
}

impl Scan<'_> {
    fn is_joined(&self) -> bool {
        self.stack.last().is_some_and(|it| *it != Inside::Lines)
    }

    /// Copies `length` bytes, or as many spaces.
    fn take(&mut self, length: usize, blank: bool) {
        let (taken, rest) = self.rest.split_at(length);
        if blank {
            self.out.extend(std::iter::repeat_n(' ', length));
        } else {
            self.out.push_str(taken);
        }
        self.rest = rest;
    }

    fn step(&mut self) {
        let char = self.rest.chars().next().unwrap_or_default();
        let line = self.rest.find('\n').unwrap_or(self.rest.len());
        match char {
            '#' => self.take(line, self.is_joined()),
            '/' if self.rest.starts_with("//") => self.take(line, self.is_joined()),
            '/' if self.rest.starts_with("/*") => {
                let end = self.rest.find("*/").map_or(self.rest.len(), |at| at + 2);
                self.take(end, self.is_joined());
            }
            '\n' => self.take(1, self.is_joined()),
            '\r' => self.take(1, self.is_joined()),
            '"' => self.text(),
            '<' if self.rest.starts_with("<<") => self.heredoc(line),
            '(' | '[' => {
                self.stack.push(Inside::Joined);
                self.take(1, false);
            }
            '{' => {
                let inner = self.rest[1..].trim_start();
                let is_for = inner
                    .strip_prefix("for")
                    .is_some_and(|it| it.starts_with([' ', '\t', '\n']));
                self.stack.push(if is_for {
                    Inside::Joined
                } else {
                    Inside::Lines
                });
                self.take(1, false);
            }
            ')' | ']' | '}' => {
                let was = self.stack.pop();
                self.take(1, false);
                if was == Some(Inside::Interpolation) {
                    self.quoted();
                }
            }
            char => self.take(char.len_utf8(), false),
        }
    }

    /// A text in quotes, up to its end or its next interpolation.
    fn text(&mut self) {
        self.take(1, false);
        self.quoted();
    }

    fn quoted(&mut self) {
        while let Some(char) = self.rest.chars().next() {
            match char {
                '"' => return self.take(1, false),
                '\n' => return,
                '\\' => {
                    let next = self.rest[1..].chars().next().map_or(0, char::len_utf8);
                    self.take(1 + next, false);
                }
                '$' | '%'
                    if self.rest[1..].starts_with("${") || self.rest[1..].starts_with("%{") =>
                {
                    self.take(3, false);
                }
                '$' | '%' if self.rest[1..].starts_with('{') => {
                    self.stack.push(Inside::Interpolation);
                    return self.take(2, false);
                }
                char => self.take(char.len_utf8(), false),
            }
        }
    }

    /// A heredoc, whose lines stay.
    fn heredoc(&mut self, line: usize) {
        let first = &self.rest[..line];
        let word = first.trim_start_matches('<').trim_start_matches('-').trim();
        let is_word = !word.is_empty() && word.chars().all(|it| it.is_alphanumeric() || it == '_');
        if !is_word {
            return self.take(1, false);
        }
        let mut length = line;
        for inner in self.rest[line..].split_inclusive('\n').skip(1) {
            length += inner.len();
            if inner.trim() == word {
                break;
            }
        }
        // The line ending behind the last line is part of the heredoc.
        let length = (length + 1).min(self.rest.len());
        self.take(length, false);
    }
}

#[cfg(test)]
mod tests {
    use super::joined;

    #[test]
    fn lines_within_expressions_are_joined() {
        for (text, expected) in [
            ("a = (\n1)\nb = 2\n", "a = ( 1)\nb = 2\n"),
            (
                "a = { for k in x : k =>\n y }\n",
                "a = { for k in x : k =>  y }\n",
            ),
            (
                "a = {\n b = [1, # one\n 2]\n}\n",
                "a = {\n b = [1,        2]\n}\n",
            ),
            ("a = \"${(\n1)}\n\"", "a = \"${( 1)}\n\""),
            ("a = [<<E\nx(\nE\n, 1]\n", "a = [<<E\nx(\nE\n, 1]\n"),
            ("a = \"$${(\"\nb = 1\n", "a = \"$${(\"\nb = 1\n"),
        ] {
            assert_eq!(joined(text), expected);
        }
    }
}
