//! Names and texts in statements, and IDs of several names.

use std::fmt::Write as _;

/// A name as it stands in a statement: `"a name"`.
pub(crate) fn name(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text as it stands in a statement: `'a text'`.
pub(crate) fn text(text: &str) -> String {
    let quoted = text.replace('\'', "''");
    if quoted.contains('\\') {
        // Whether a backslash is one depends on a setting of the server otherwise.
        return format!("E'{}'", quoted.replace('\\', "\\\\"));
    }
    format!("'{quoted}'")
}

/// The statement that gives an object a text for people, or takes it away.
pub(crate) fn comment(kind: &str, of: &str, comment: Option<&String>) -> String {
    let comment = comment.map_or("NULL".to_owned(), |it| text(it));
    format!("COMMENT ON {kind} {} IS {comment}", name(of))
}

/// An ID of several names: `app/public`. A name with a slash in it is put into quotation marks.
pub(crate) fn id<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut id = String::new();
    for (at, part) in parts.into_iter().enumerate() {
        let between = if at == 0 { "" } else { "/" };
        let is_plain = !part.contains(['/', '"']) && !part.is_empty();
        let part = if is_plain {
            part.to_owned()
        } else {
            name(part)
        };
        let _ = write!(id, "{between}{part}");
    }
    id
}

/// The names in an ID; `None` if quotation marks do not end.
pub(crate) fn parts(id: &str) -> Option<Vec<String>> {
    let mut parts = vec![String::new()];
    let mut is_quoted = false;
    let mut characters = id.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if is_quoted && characters.next_if_eq(&'"').is_some() => push(&mut parts, '"'),
            '"' => is_quoted = !is_quoted,
            '/' if !is_quoted => parts.push(String::new()),
            other => push(&mut parts, other),
        }
    }
    (!is_quoted).then_some(parts)
}

fn push(parts: &mut [String], character: char) {
    if let Some(last) = parts.last_mut() {
        last.push(character);
    }
}

#[cfg(test)]
mod tests {
    use super::{id, name, parts, text};

    #[test]
    fn names_and_texts_are_quoted() {
        assert_eq!(name("a \"b\""), "\"a \"\"b\"\"\"");
        assert_eq!(text("it's"), "'it''s'");
        assert_eq!(text("a\\'b"), "E'a\\\\''b'");
    }

    #[test]
    fn an_id_has_its_names_in_it() {
        for names in [
            &["app", "public"][..],
            &["a/b", "c\"d"],
            &["", "x", ""],
            &["one"],
            &["\"", "//", "\"/\""],
        ] {
            let id = id(names.iter().copied());
            assert_eq!(parts(&id).expect("it is whole"), names, "{id}");
        }
        assert_eq!(id(["app", "public"]), "app/public");
        assert_eq!(parts("\"app"), None);
    }
}
