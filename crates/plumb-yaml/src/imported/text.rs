//! Texts that programs in YAML read back as themselves.

use plumb_project::yaml::Node;

/// Words that were booleans in older versions of YAML. Writers of today quote them; programs need not.
const FORMER_BOOLEANS: [&str; 16] = [
    "y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "n", "N", "no", "No", "NO", "off", "Off",
    "OFF",
];

/// A key of a mapping, without quotes that programs do not need.
pub(crate) fn key(text: &str) -> Node {
    if FORMER_BOOLEANS.contains(&text) {
        Node::plain(text)
    } else {
        Node::key(text)
    }
}

/// A text that reads back as itself, without quotes that programs do not need.
pub(crate) fn string(text: &str) -> Node {
    if FORMER_BOOLEANS.contains(&text) {
        Node::plain(text)
    } else {
        Node::string(escaped(text))
    }
}

/// Text that reads back as itself.
pub(crate) fn escaped(text: &str) -> String {
    doubled(text, false)
}

/// Text that reads back as itself in front of a reference.
pub(crate) fn escaped_before_reference(text: &str) -> String {
    doubled(text, true)
}

/// Doubles dollar signs that programs would read as the beginning of a reference or as two for one: those before a brace,
/// and those beside another.
fn doubled(text: &str, is_before_brace: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        let (before, signs) = rest.split_at(at);
        let after = signs.trim_start_matches('$');
        let count = signs.len() - after.len();
        let is_before_brace = after.starts_with('{') || (after.is_empty() && is_before_brace);
        let times = if count > 1 || is_before_brace { 2 } else { 1 };
        out.push_str(before);
        out.extend(std::iter::repeat_n('$', count * times));
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::expression::{ExprKind, Part};
    use crate::syntax::interpolation::parse;

    /// All texts of up to `length` of these letters.
    fn texts(length: usize) -> Vec<String> {
        let mut all = vec![String::new()];
        let mut from = 0;
        for _ in 0..length {
            let to = all.len();
            for at in from..to {
                all.extend(["a", "$", "{", "}"].map(|letter| format!("{}{letter}", all[at])));
            }
            from = to;
        }
        all
    }

    #[test]
    fn escaped_texts_are_read_as_themselves() {
        for text in texts(6) {
            let read = parse(&escaped(&text).into());
            assert_eq!(read, Ok(ExprKind::String(text.into())));
        }
    }

    #[test]
    fn a_reference_after_an_escaped_text_stays_one() {
        for text in texts(5) {
            let written = format!("{}${{b}}", escaped_before_reference(&text));
            let mut literal = String::new();
            let mut references = 0;
            match parse(&written.into()) {
                Ok(ExprKind::Symbol(_)) => references += 1,
                Ok(ExprKind::Interpolate(parts)) => {
                    for part in parts {
                        match part {
                            Part::Text(piece) => literal.push_str(&piece),
                            Part::Access(_) => references += 1,
                        }
                    }
                }
                other => panic!("{text}: {other:?}"),
            }
            assert_eq!((literal, references), (text, 1));
        }
    }
}
