//! Keys that an object has twice. Terraform takes the last value; the parser refuses the text. So later keys are marked
//! until the text is read, and then replace the earlier ones.

use hcl_edit::expr::{Expression, Object, ObjectKey};
use hcl_edit::structure::Body;
use hcl_edit::visit_mut::{VisitMut, visit_object_mut};
use hcl_edit::{Decorated, Ident};

/// Mark of a repeated key, once for each time that the key was there before. The parser takes it as part of a name, and it
/// is invisible.
const MARK: char = '\u{fe00}';

/// Part of the parser's message about a repeated key.
const MESSAGE: &str = "redefined object key";

/// Maximum number of repeated keys in a file.
const MOST: usize = 1000;

/// Reads `text`, and gives the text that was read: with marks, if it has repeated keys.
pub(crate) fn parse(text: String) -> Result<(Body, String), hcl_edit::parser::Error> {
    let mut text = text;
    for _ in 0..MOST {
        match hcl_edit::parser::parse_body(&text) {
            Ok(mut body) => {
                if text.contains(MARK) {
                    Last.visit_body_mut(&mut body);
                }
                return Ok((body, text));
            }
            Err(error) => match end_of_key(&text, &error) {
                Some(end) => text.insert(end, MARK),
                None => return Err(error),
            },
        }
    }
    hcl_edit::parser::parse_body(&text).map(|body| (body, text))
}

/// `text` as it was before marks.
pub(crate) fn unmarked(text: &str) -> String {
    text.replace(MARK, "")
}

/// The end of the name of a repeated key.
fn end_of_key(text: &str, error: &hcl_edit::parser::Error) -> Option<usize> {
    if !error.message().contains(MESSAGE) {
        return None;
    }
    let start = error.location().offset();
    let rest = text.get(start..)?;
    let length = match rest.strip_prefix('"') {
        Some(inside) => 1 + inside.find(['"', '\n', '\\', '$', '%'])?,
        None => rest.find(|char: char| !is_name(char))?,
    };
    (length > 0).then_some(start + length)
}

fn is_name(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '_' | '-' | MARK)
}

/// Replaces earlier values of marked keys.
struct Last;

impl VisitMut for Last {
    fn visit_object_mut(&mut self, object: &mut Object) {
        let mut entries: Vec<(ObjectKey, _)> = Vec::with_capacity(object.len());
        for (key, value) in std::mem::take(object) {
            let key = without_mark(key);
            match entries.iter_mut().find(|(known, _)| *known == key) {
                Some(entry) => *entry = (key, value),
                None => entries.push((key, value)),
            }
        }
        *object = entries.into_iter().collect();
        visit_object_mut(self, object);
    }
}

fn without_mark(key: ObjectKey) -> ObjectKey {
    match key {
        ObjectKey::Ident(name) if name.contains(MARK) => {
            ObjectKey::Ident(Decorated::new(Ident::new(unmarked(&name))))
        }
        ObjectKey::Expression(Expression::String(text)) if text.contains(MARK) => {
            ObjectKey::Expression(Expression::from(unmarked(&text)))
        }
        key => key,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_of_a_key_counts() {
        for (text, expected) in [
            ("a = {\n b = 1\n c = 2\n b = 3\n b = 4\n}\n", "[b=4, c=2]"),
            (
                "a = { \"b c\" = 1, \"b c\" = { d = 1, d = 2 } }\n",
                "[b c={\"d\":2}]",
            ),
        ] {
            let (body, _) = parse(text.to_owned()).unwrap();
            let attribute = body.get_attribute("a").unwrap();
            let Expression::Object(object) = &attribute.value else {
                panic!("{text}");
            };
            let entries = object.iter().map(|(key, value)| {
                let key = match key {
                    ObjectKey::Ident(name) => name.as_str(),
                    ObjectKey::Expression(key) => key.as_str().unwrap_or_default(),
                };
                let value = match value.expr() {
                    Expression::Number(number) => number.value().to_string(),
                    Expression::Object(inner) => {
                        let inner = inner.iter().map(|(key, value)| {
                            let key = key.as_ident().unwrap().as_str();
                            format!("{key:?}:{}", value.expr().as_number().unwrap())
                        });
                        format!("{{{}}}", inner.collect::<Vec<_>>().join(", "))
                    }
                    other => panic!("{other}"),
                };
                format!("{key}={value}")
            });
            let entries = entries.collect::<Vec<_>>().join(", ");
            assert_eq!(format!("[{entries}]"), expected);
        }
        assert!(parse("a = { (b) = 1, (b) = 2 }\n".to_owned()).is_err());
    }
}
