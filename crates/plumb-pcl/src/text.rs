//! Edits of the text of a body that preserve comments, blocks and formatting.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use hcl_edit::Ident;
use hcl_edit::expr::Expression;
use hcl_edit::structure::{Attribute, Block, Body};
use hcl_edit::visit::{Visit, visit_expr};
use plumb_eval::diagnostic::Diagnostic;
use plumb_eval::hcl;
use plumb_eval::source::{SourceFile, Span};
use plumb_value::{ArchiveSource, AssetSource, Value};

use crate::syntax::{Parsed, span_of};

/// Text of a body that was parsed successfully.
#[derive(Clone, Debug)]
pub struct BodyText {
    name: String,
    parsed: Parsed,
}

/// Parse error, with the text.
#[derive(Debug, thiserror::Error)]
#[error("{}", .problem.excerpt(.source_file))]
pub struct Unreadable {
    problem: Box<Diagnostic>,
    source_file: Arc<SourceFile>,
}

impl BodyText {
    /// Parses `text`; `name` is its name in diagnostics.
    pub fn read(name: &str, text: &str) -> Result<Self, Unreadable> {
        let source = Arc::new(SourceFile::new(name, name.into(), text));
        match Parsed::read(source.clone()) {
            Ok(parsed) => Ok(BodyText {
                name: name.to_owned(),
                parsed,
            }),
            Err(problem) => Err(Unreadable {
                problem: Box::new(problem),
                source_file: source,
            }),
        }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.parsed.source.text
    }

    /// The parsed text, for binding.
    pub fn parsed(&self) -> &Parsed {
        &self.parsed
    }

    fn body(&self) -> &Body {
        &self.parsed.body
    }

    /// Attributes at the top level of the body, by name, with the texts of their expressions.
    pub fn attributes(&self) -> Vec<(String, String)> {
        let attributes = self.body().attributes();
        let of = |it: &Attribute| {
            let value = self.text()[range(span_of(&it.value))].to_owned();
            (it.key.as_str().to_owned(), value)
        };
        attributes.map(of).collect()
    }

    /// Whether the body has the attribute `name`.
    pub fn has(&self, name: &str) -> bool {
        self.body().has_attribute(name)
    }

    /// Replaces the expression of the attribute `name`; a new attribute is appended.
    pub fn set(&mut self, name: &str, expression: &str) -> Result<(), Unreadable> {
        let expression = expression.trim();
        let text = match self.body().get_attribute(name) {
            Some(attribute) => replaced(self.text(), range(span_of(&attribute.value)), expression),
            None => format!("{}{name} = {expression}\n", ended(self.text())),
        };
        *self = BodyText::read(&self.name, &text)?;
        Ok(())
    }

    /// Sets all attributes of `other`.
    pub fn overlay(&mut self, other: &BodyText) -> Result<(), Unreadable> {
        for (name, expression) in other.attributes() {
            self.set(&name, &expression)?;
        }
        Ok(())
    }

    /// Sets the provider option to `reference`, unless the body sets it itself.
    pub fn set_provider(&mut self, reference: &str) -> Result<(), Unreadable> {
        let text = match self.body().get_blocks("options").next() {
            Some(block) if block.body.has_attribute("provider") => return Ok(()),
            Some(block) => self.with_option(block, reference),
            None => format!(
                "{}options {{\n  provider = {reference}\n}}\n",
                ended(self.text())
            ),
        };
        *self = BodyText::read(&self.name, &text)?;
        Ok(())
    }

    /// Text with the provider added to the options in `block`. A block on one line can hold only one option.
    fn with_option(&self, block: &Block, reference: &str) -> String {
        let place = range(span_of(block));
        let inner = &self.text()[place.clone()];
        let inner = inner.find('{').map_or(inner, |at| &inner[at + 1..]);
        let inner = inner.trim_end().trim_end_matches('}');
        let inner = inner.trim_matches([' ', '\t']).trim_matches('\n');
        let kept = if inner.trim().is_empty() {
            String::new()
        } else {
            format!("  {}\n", inner.trim())
        };
        let block = format!("options {{\n{kept}  provider = {reference}\n}}");
        replaced(self.text(), place, &block)
    }

    /// First names of all traversals: those of resources, and of variables.
    pub fn mentioned(&self) -> BTreeSet<String> {
        let mut names = Names::default();
        names.visit_body(self.body());
        names.0
    }
}

#[derive(Default)]
struct Names(BTreeSet<String>);

impl Visit for Names {
    fn visit_expr(&mut self, expression: &Expression) {
        if let Expression::Variable(name) = expression {
            let name: &Ident = name;
            self.0.insert(name.as_str().to_owned());
        }
        visit_expr(self, expression);
    }
}

fn range(span: Span) -> Range<usize> {
    span.start as usize..span.end as usize
}

fn replaced(text: &str, place: Range<usize>, by: &str) -> String {
    format!("{}{by}{}", &text[..place.start], &text[place.end..])
}

/// Text with a final newline, unless it is empty.
fn ended(text: &str) -> String {
    if text.is_empty() || text.ends_with('\n') {
        text.to_owned()
    } else {
        format!("{text}\n")
    }
}

/// Error for a value that cannot be expressed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path} holds {what}, which cannot be written down")]
pub struct NoExpression {
    /// Path of the value.
    pub path: String,
    /// Kind of value.
    pub what: &'static str,
}

/// Expression that evaluates to `value`; `path` is the path of the value in errors.
pub fn expression_of(value: &Value, path: &str) -> Result<String, NoExpression> {
    let none = |what| {
        Err(NoExpression {
            path: path.to_owned(),
            what,
        })
    };
    Ok(match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(value) => match hcl::number(*value) {
            Some(text) => text,
            None => return none("a number without a value"),
        },
        Value::String(text) => hcl::quoted(text),
        Value::Array(items) => {
            let items = items.iter().enumerate();
            let items = items.map(|(at, item)| expression_of(item, &format!("{path}[{at}]")));
            hcl::list(&items.collect::<Result<Vec<_>, _>>()?)
        }
        Value::Object(map) => {
            let entries = map.iter().map(|(name, value)| {
                let name = name.to_text();
                let value = expression_of(value, &format!("{path}.{name}"))?;
                Ok((hcl::key(&name), value))
            });
            hcl::object(&entries.collect::<Result<Vec<_>, _>>()?)
        }
        Value::Secret(inner) => format!("secret({})", expression_of(inner, path)?),
        Value::Asset(asset) => match &asset.source {
            AssetSource::Text(text) => format!("stringAsset({})", hcl::quoted(text)),
            AssetSource::Path(path) => format!("fileAsset({})", hcl::quoted(path)),
            AssetSource::Uri(uri) => format!("remoteAsset({})", hcl::quoted(uri)),
            AssetSource::Elided => return none("an asset without content"),
        },
        Value::Archive(archive) => match &archive.source {
            ArchiveSource::Path(path) => format!("fileArchive({})", hcl::quoted(path)),
            ArchiveSource::Uri(uri) => format!("remoteArchive({})", hcl::quoted(uri)),
            ArchiveSource::Assets(_) | ArchiveSource::Elided => {
                return none("an archive of several members");
            }
        },
        Value::Bytes(_) => return none("bytes that are no text"),
        Value::Computed(_) | Value::Output(_) => return none("a value that is not known"),
        Value::Resource(_) => return none("a resource"),
    })
}

#[cfg(test)]
mod tests {
    use plumb_value::PropertyMap;

    use super::*;

    fn body(text: &str) -> BodyText {
        BodyText::read("test.pp", text).unwrap()
    }

    #[test]
    fn attributes_change_where_they_stand() {
        let mut text = body("# the name\nname = \"a\" # here\nsize = 1");
        text.set("name", "\"b\"").unwrap();
        text.set("tags", "{ x = 1 }").unwrap();
        let expected = "# the name\nname = \"b\" # here\nsize = 1\ntags = { x = 1 }\n";
        assert_eq!(text.text(), expected);
        assert!(text.set("x", "1 +").is_err());
        assert_eq!(text.text(), expected, "a mistake changes nothing");
    }

    #[test]
    fn a_body_takes_over_attributes_and_nothing_else() {
        let mut text = body("a = 1\noptions {\n  protect = true\n}\n");
        text.overlay(&body(
            "a = 2\nb = [\n  1\n]\noptions {\n  protect = false\n}",
        ))
        .unwrap();
        assert_eq!(
            text.text(),
            "a = 2\noptions {\n  protect = true\n}\nb = [\n  1\n]\n"
        );
    }

    #[test]
    fn a_provider_joins_the_options() {
        for (text, expected) in [
            ("a = 1", "a = 1\noptions {\n  provider = p\n}\n"),
            ("", "options {\n  provider = p\n}\n"),
            (
                "options { protect = true }\n",
                "options {\n  protect = true\n  provider = p\n}\n",
            ),
            (
                "options {\n  protect = true\n  ignoreChanges = [a]\n}\n",
                "options {\n  protect = true\n  ignoreChanges = [a]\n  provider = p\n}\n",
            ),
            ("options {\n}\n", "options {\n  provider = p\n}\n"),
            (
                "options {\n  provider = mine\n}\n",
                "options {\n  provider = mine\n}\n",
            ),
        ] {
            let mut changed = body(text);
            changed.set_provider("p").unwrap();
            assert_eq!(changed.text(), expected, "{text:?}");
        }
    }

    #[test]
    fn names_are_found_wherever_they_stand() {
        let text = body(
            "a = one.id\nb = \"x ${two.name}\"\nc = [for it in three: it[four.index]]\noptions {\n  parent = five\n}",
        );
        let names: Vec<_> = text.mentioned().into_iter().collect();
        assert_eq!(names, ["five", "four", "it", "one", "three", "two"]);
    }

    #[test]
    fn values_have_expressions() {
        let value = Value::from(
            PropertyMap::new()
                .with("a b", Value::secret(Value::from("${x}")))
                .with("n", 1.5),
        );
        assert_eq!(
            expression_of(&value, "it").unwrap(),
            "{\n  \"a b\" = secret(\"$${x}\")\n  n = 1.5\n}"
        );
        let problem = expression_of(&Value::from(f64::NAN), "it").unwrap_err();
        assert_eq!(
            problem.to_string(),
            "it holds a number without a value, which cannot be written down"
        );
    }
}
