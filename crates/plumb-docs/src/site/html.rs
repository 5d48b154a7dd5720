//! HTML escaping and small HTML fragments.

use std::fmt::Write as _;

use crate::language::ProgramLanguage;

/// Text escaped for HTML, in elements and in attributes.
pub(crate) fn escape(text: &str) -> String {
    let mut result = String::with_capacity(text.len() + 8);
    escape_to(text, &mut result);
    result
}

pub(crate) fn escape_to(text: &str, result: &mut String) {
    for char in text.chars() {
        match char {
            '&' => result.push_str("&amp;"),
            '<' => result.push_str("&lt;"),
            '>' => result.push_str("&gt;"),
            '"' => result.push_str("&quot;"),
            '\'' => result.push_str("&#39;"),
            // Control characters are not allowed in HTML.
            char if char.is_control() && !matches!(char, '\n' | '\t') => result.push(' '),
            char => result.push(char),
        }
    }
}

/// Attribute that shows an element only to readers of `languages`.
pub(crate) fn only_for(languages: &[ProgramLanguage]) -> String {
    let words: Vec<&str> = languages.iter().map(|language| language.word()).collect();
    format!(" data-l=\"{}\"", words.join(" "))
}

/// The text with each mention of one of `names` turned into a link; each name comes with its target.
pub(crate) fn linked(text: &str, names: &[(&str, &str)]) -> String {
    let mut result = String::with_capacity(text.len() + 32);
    let is_part = |char: char| char.is_alphanumeric() || char == '_';
    let mut rest = text;
    let mut last: Option<char> = None;
    while let Some(first) = rest.chars().next() {
        let is_start = !last.is_some_and(|last| is_part(last) || last == '.');
        let fits = |(name, _): &&(&str, &str)| {
            !name.is_empty() && rest.starts_with(name) && !rest[name.len()..].starts_with(is_part)
        };
        // The longest name that fits, because one name can be a prefix of another.
        let found = names
            .iter()
            .filter(|_| is_start)
            .filter(fits)
            .max_by_key(|(name, _)| name.len());
        if let Some((name, way)) = found {
            let _ = write!(result, "<a href=\"{}\">{}</a>", escape(way), escape(name));
            last = name.chars().next_back();
            rest = &rest[name.len()..];
        } else {
            escape_to(first.encode_utf8(&mut [0; 4]), &mut result);
            last = Some(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stay_texts() {
        assert_eq!(
            escape("<a href=\"x\" on='y'>&\u{0}"),
            "&lt;a href=&quot;x&quot; on=&#39;y&#39;&gt;&amp; "
        );
    }

    #[test]
    fn names_in_types_become_links() {
        assert_eq!(
            linked("Map<Box, BoxArgs>[]", &[("Box", "b"), ("BoxArgs", "a")]),
            "Map&lt;<a href=\"b\">Box</a>, <a href=\"a\">BoxArgs</a>&gt;[]"
        );
        assert_eq!(linked("InBox | x.Box", &[("Box", "b")]), "InBox | x.Box");
    }
}
