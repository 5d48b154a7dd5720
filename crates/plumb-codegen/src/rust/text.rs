//! Texts of a schema in Rust.

use plumb_schema::Constant;
use plumb_schema::bound::Property;

use super::names;
use crate::markdown::{self, Dialect};
use crate::writer::Writer;

pub(super) const GENERATED: &str =
    "// @generated from a package schema. Changes by hand are lost when it is generated again.";

pub(super) use super::names::string as literal;

/// A doc comment: the first paragraph of the description.
///
/// Descriptions of large packages are larger than their code, and examples in them are of other languages.
pub(super) fn doc(writer: &mut Writer, description: Option<&str>, otherwise: &str) {
    let text = markdown::translate(description.unwrap_or_default(), &Descriptions);
    let paragraph = text
        .lines()
        .map(str::trim)
        .skip_while(|line| line.is_empty())
        .take_while(|line| !line.is_empty() && !line.starts_with("{{"));
    let mut is_empty = true;
    for line in paragraph {
        // Square brackets would be links to items, and indented text would be code that is tested.
        let line = line.replace('[', "\\[").replace(']', "\\]");
        let line: String = line.chars().filter(|char| !char.is_control()).collect();
        writer.line(&["/// ", &line]);
        is_empty = false;
    }
    if is_empty {
        writer.line(&["/// ", otherwise]);
    }
}

/// Descriptions for people who write Rust.
struct Descriptions;

impl Dialect for Descriptions {
    const FENCE: &'static str = "rust";
    const SPAN: &'static str = "rust";

    /// The name of the target in Rust.
    fn reference(&self, destination: &str) -> String {
        let path = destination.rsplit('#').next().unwrap_or_default();
        let last = path.rsplit('/').next().unwrap_or_default();
        let member = last.rsplit(':').next().unwrap_or_default();
        let is_property = path.contains("/properties/") || path.contains("/inputProperties/");
        let name = if is_property || path.starts_with("/functions/") {
            names::snake(member)
        } else {
            names::class(member)
        };
        format!("`{name}`")
    }
}

/// The attribute of something deprecated.
pub(super) fn deprecated(writer: &mut Writer, reason: Option<&str>) {
    if let Some(reason) = reason {
        let reason = reason.lines().next().unwrap_or_default();
        writer.line(&["#[deprecated(note = ", &literal(reason), ")]"]);
    }
}

/// The expression of a constant.
pub(super) fn constant(constant: &Constant) -> String {
    match constant {
        Constant::String(text) => format!("::plumb::value!({})", literal(text)),
        Constant::Bool(value) => format!("::plumb::value!({value})"),
        Constant::Number(number) => format!("::plumb::value!({number:?}_f64)"),
    }
}

/// Whether the input must be set by the program: others have a value without it.
pub(super) fn is_demanded(property: &Property<'_>) -> bool {
    property.required
        && property.constant.is_none()
        && property.default.is_none()
        && property.default_info.is_none()
}
