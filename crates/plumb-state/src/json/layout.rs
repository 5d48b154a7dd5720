//! White space in JSON text.

/// Removes the white space between tokens.
pub(crate) fn compact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for token in Tokens(text) {
        out.push_str(token);
    }
    out
}

/// Appends JSON text with every member and element on a line of its own, indented by four more spaces than its
/// container, which is at `depth`. Empty containers stay on one line. No newline at the end.
pub(crate) fn indent_at(out: &mut String, text: &str, mut depth: usize) {
    let mut is_after_open = false;
    for token in Tokens(text) {
        let is_close = matches!(token, "}" | "]");
        if is_close {
            depth -= 1;
        }
        if is_after_open != is_close {
            newline(out, depth);
        }
        is_after_open = false;
        out.push_str(token);
        match token {
            "{" | "[" => {
                depth += 1;
                is_after_open = true;
            }
            "," => newline(out, depth),
            ":" => out.push(' '),
            _ => {}
        }
    }
}

/// Appends the end of a line and the indentation of the next one.
pub(crate) fn newline(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("    ", depth));
}

/// Tokens of valid JSON text: punctuation, strings with their quotes, and other scalars.
struct Tokens<'a>(&'a str);

impl<'a> Iterator for Tokens<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let text = self.0.trim_start_matches([' ', '\t', '\n', '\r']);
        let length = match *text.as_bytes().first()? {
            b'{' | b'}' | b'[' | b']' | b',' | b':' => 1,
            b'"' => string_length(text),
            _ => text
                .find([',', '}', ']', ':', ' ', '\t', '\n', '\r'])
                .unwrap_or(text.len()),
        };
        let (token, rest) = text.split_at(length);
        self.0 = rest;
        Some(token)
    }
}

/// Length in bytes of the string literal at the beginning of `text`, including both quotes.
fn string_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}
