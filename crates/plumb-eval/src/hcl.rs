//! Pieces of HCL text, for generators of PCL.

use std::fmt::Write as _;

/// `text` as a quoted literal without interpolations.
pub fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

/// `text` escaped for use inside quotes, between the interpolations of a template.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '$' | '%' => {
                out.push(char);
                // Doubled, because otherwise an interpolation or a directive would begin.
                if chars.peek() == Some(&'{') {
                    out.push(char);
                }
            }
            char if char.is_control() => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(char));
            }
            char => out.push(char),
        }
    }
    out
}

/// Whether `name` is an identifier.
pub fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    let begins = |char: char| char.is_alphabetic() || char == '_';
    chars.next().is_some_and(begins)
        && chars.all(|char| char.is_alphanumeric() || matches!(char, '_' | '-'))
}

/// Key of an entry in an object.
pub fn key(name: &str) -> String {
    // Keywords must be quoted.
    let is_word = matches!(name, "for" | "null" | "true" | "false");
    if is_identifier(name) && !is_word {
        name.to_owned()
    } else {
        quoted(name)
    }
}

/// A number; `None` for infinities and NaN, which HCL cannot express.
pub fn number(number: f64) -> Option<String> {
    number.is_finite().then(|| number.to_string())
}

/// A list expression.
pub fn list(items: &[String]) -> String {
    format!("[{}]", items.join(", "))
}

/// An object expression, one entry per line.
pub fn object(entries: &[(String, String)]) -> String {
    if entries.is_empty() {
        return "{}".to_owned();
    }
    let mut out = "{\n".to_owned();
    for (key, value) in entries {
        let _ = writeln!(out, "  {key} = {}", value.replace('\n', "\n  "));
    }
    out.push('}');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_as_they_are() {
        for (text, expected) in [
            ("plain", r#""plain""#),
            ("a\"b\\c\nd", r#""a\"b\\c\nd""#),
            ("${x} $y %{if} 5%", r#""$${x} $y %%{if} 5%""#),
            ("$${x}", r#""$$${x}""#),
            ("\u{1b}[", r#""\u001b[""#),
        ] {
            assert_eq!(quoted(text), expected, "{text:?}");
        }
    }

    #[test]
    fn keys_are_quoted_where_they_must_be() {
        for (name, expected) in [
            ("name", "name"),
            ("with-dash", "with-dash"),
            ("a b", "\"a b\""),
            ("1st", "\"1st\""),
            ("for", "\"for\""),
            ("", "\"\""),
        ] {
            assert_eq!(key(name), expected);
        }
    }

    #[test]
    fn numbers_and_objects_have_one_form() {
        assert_eq!(number(2.0).as_deref(), Some("2"));
        assert_eq!(number(0.5).as_deref(), Some("0.5"));
        assert_eq!(number(f64::NAN), None);
        let inner = object(&[("b".to_owned(), "1".to_owned())]);
        let outer = object(&[("a".to_owned(), inner)]);
        assert_eq!(outer, "{\n  a = {\n    b = 1\n  }\n}");
        assert_eq!(object(&[]), "{}");
    }
}
