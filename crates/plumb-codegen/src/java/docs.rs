//! Javadoc comments.
//!
//! Descriptions are escaped as text: nothing in them may end the comment, or have a meaning for Javadoc or for the
//! compiler, which interprets `\u` even in comments. Code blocks become `<pre>`.

use std::rc::Rc;

use plumb_schema::bound::member_of;

use super::names;
use super::sdk::Sdk;
use crate::classes::Doc;
use crate::markdown::{self, Dialect};

impl Sdk<'_, '_> {
    /// Comment for a description and a deprecation message.
    pub(super) fn doc(&self, description: Option<&str>, deprecation: Option<&str>) -> Doc {
        let mut lines = Vec::new();
        if let Some(description) = description {
            self.describe(description, &mut lines);
        }
        if let Some(deprecation) = deprecation {
            if !lines.is_empty() {
                lines.push(String::new());
            }
            let mut deprecation = deprecation.lines().map(escape);
            lines.push(format!(
                "@deprecated {}",
                deprecation.next().unwrap_or_default()
            ));
            lines.extend(deprecation);
        }
        Rc::new(lines)
    }

    fn describe(&self, description: &str, lines: &mut Vec<String>) {
        let text = markdown::translate(description, self);
        let text = text.trim_matches(['\n', '\r']);
        if text.trim().is_empty() {
            return;
        }
        let mut is_code = false;
        for line in text.lines() {
            // Markers of the web documentation's code chooser.
            if line.ends_with("PulumiCodeChooser -->") {
                continue;
            }
            if !line.trim_start().starts_with("```") {
                lines.push(escape(line));
                continue;
            }
            lines.push(if is_code { "</pre>" } else { "<pre>" }.to_owned());
            is_code = !is_code;
        }
        if is_code {
            lines.push("</pre>".to_owned());
        }
    }
}

/// Annotation of a deprecated item.
pub(super) fn deprecated(deprecation: Option<&str>) -> Vec<String> {
    let marks = deprecation.map(|_| "@java.lang.Deprecated".to_owned());
    marks.into_iter().collect()
}

/// The line, escaped as text.
fn escape(line: &str) -> String {
    let line = line.trim_end();
    let mut result = String::with_capacity(line.len() + 8);
    let mut chars = line.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '<' => result.push_str("&lt;"),
            '>' => result.push_str("&gt;"),
            '&' => result.push_str("&amp;"),
            '@' => result.push_str("&#64;"),
            '*' if chars.peek() == Some(&'/') => {
                chars.next();
                result.push_str("*&#47;");
            }
            '\\' if chars.peek() == Some(&'u') => result.push_str("&#92;"),
            char if char.is_control() && char != '\t' => result.push(' '),
            char => result.push(char),
        }
    }
    // The previous line may end with an asterisk, which together with `/` would end the comment.
    if result.starts_with('/') {
        result.replace_range(..1, "&#47;");
    }
    result
}

impl Dialect for Sdk<'_, '_> {
    const FENCE: &'static str = "java";
    const SPAN: &'static str = "java";

    fn reference(&self, destination: &str) -> String {
        let fragment = destination.rsplit('#').next().unwrap_or_default();
        let mut steps = fragment.trim_start_matches('/').split('/');
        let (section, token) = (steps.next(), steps.next().unwrap_or_default());
        let token = token.replace("%2F", "/").replace("%2f", "/");
        let name = match (steps.next_back(), section) {
            (Some(property), _) => names::identifier(property),
            (None, Some("functions")) => names::identifier(member_of(&token)),
            (None, _) => names::class(member_of(&token)),
        };
        format!("`{name}`")
    }
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn nothing_ends_a_comment_or_speaks_to_the_compiler() {
        for (text, expected) in [
            ("a */ b", "a *&#47; b"),
            ("\\u002a\\u002f", "&#92;u002a&#92;u002f"),
            ("{@link x} <b>&", "{&#64;link x} &lt;b&gt;&amp;"),
            ("/", "&#47;"),
            ("a\rb", "a b"),
        ] {
            assert_eq!(escape(text), expected);
        }
    }
}
