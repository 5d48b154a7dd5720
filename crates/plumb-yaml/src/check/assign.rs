//! Assignability: whether a value of one type is accepted where another type is expected.
//!
//! A mismatch is a tree: a value that cannot be assigned, and below it the parts that cause this. While there is only
//! one such part, its position becomes that of the message.

use plumb_schema::{Constant, EnumValue, Primitive, TypeDefinition};

use super::target::{Member, Shape, Target};
use super::types::Ty;
use crate::diagnostic::{self, Diagnostic};
use crate::syntax::expression::{Expr, ExprKind};
use crate::syntax::source::Span;

/// Reason why a value cannot be assigned.
#[derive(Debug, Default)]
pub(crate) struct Mismatch {
    /// Name of the affected property.
    property: Option<String>,
    reason: String,
    /// Summary for the whole mismatch, if this part determines it.
    summary: Option<String>,
    span: Option<Span>,
    because: Vec<Mismatch>,
}

impl Mismatch {
    fn because(mut self, because: Vec<Mismatch>) -> Self {
        self.because = because;
        self
    }

    fn at(mut self, span: Option<Span>) -> Self {
        self.span = span.or(self.span);
        self
    }

    fn of_property(mut self, name: &str) -> Self {
        self.property = Some(name.to_owned());
        self
    }

    fn span(&self) -> Option<Span> {
        self.span.or_else(|| self.only_part()?.span())
    }

    fn summary(&self) -> Option<&str> {
        let own = self.summary.as_deref();
        own.or_else(|| self.only_part()?.summary())
    }

    fn only_part(&self) -> Option<&Mismatch> {
        match self.because.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Text of the tree, one line per part, indented by depth.
    fn text(&self, depth: usize) -> String {
        let mut text = "  ".repeat(depth);
        if let Some(property) = &self.property {
            text.push_str(property);
            text.push_str(": ");
        }
        text.push_str(&self.reason);
        if !self.because.is_empty() {
            text.push(':');
        }
        for part in &self.because {
            text.push('\n');
            text.push_str(&part.text(depth + 1));
        }
        text
    }
}

/// A value to assign: its type, its position, and its expression if the program contains one.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) ty: &'a Ty,
    /// Position; `None` for the properties of a resource as a whole.
    pub(crate) span: Option<Span>,
    pub(crate) written: Written<'a>,
}

/// Form of a value in a program.
#[derive(Clone, Copy)]
pub(crate) enum Written<'a> {
    Expr(&'a Expr),
    /// Names, their positions and their values.
    Entries(&'a [(&'a str, Span, &'a Expr)]),
}

impl<'a> Source<'a> {
    /// Source for the value of an expression.
    pub(crate) fn of(expr: &'a Expr, ty: &'a Ty) -> Self {
        Source {
            ty,
            span: Some(expr.span),
            written: Written::Expr(expr),
        }
    }

    fn as_type(self, ty: &'a Ty) -> Self {
        Source { ty, ..self }
    }

    /// Position of the key and the value of an entry, if the program contains it.
    fn entry(self, name: &str) -> Option<(Span, &'a Expr)> {
        match self.written {
            Written::Expr(Expr {
                kind: ExprKind::Object(entries),
                ..
            }) => {
                let named = |(key, _): &&(Expr, Expr)| key.kind == ExprKind::String(name.into());
                entries.iter().find(named).map(|(key, it)| (key.span, it))
            }
            Written::Entries(entries) => {
                let found = entries.iter().find(|(known, ..)| *known == name);
                found.map(|(_, span, value)| (*span, *value))
            }
            Written::Expr(_) => None,
        }
    }
}

/// Error for a value that cannot be assigned to `target`; `None` if it can.
pub(crate) fn assertion(source: Source<'_>, target: Target<'_>) -> Option<Diagnostic> {
    let mismatch = assign(source, target)?;
    let summary = mismatch.summary().map_or_else(
        || {
            let (wanted, found) = (target.label(), source.ty.label());
            format!("{wanted} is not assignable from {found}")
        },
        str::to_owned,
    );
    let span = mismatch.span().or(source.span);
    let diagnostic = Diagnostic::error(span.unwrap_or_default(), summary);
    Some(Diagnostic {
        span,
        ..diagnostic.with_detail(mismatch.text(0))
    })
}

/// Reason why `source` cannot be assigned to `target`; `None` if it can.
fn assign(source: Source<'_>, target: Target<'_>) -> Option<Mismatch> {
    let shape = target.shape();
    if matches!(source.ty, Ty::Any | Ty::Invalid) || matches!(shape, Shape::Any) {
        return None;
    }
    if let Ty::Union(elements) = source.ty {
        let parts = elements.iter();
        let parts: Vec<_> = parts
            .filter_map(|element| assign(source.as_type(element), target))
            .collect();
        return (!parts.is_empty()).then(|| failure(source, target).because(parts));
    }
    let fits = match &shape {
        Shape::Any => true,
        Shape::Primitive(primitive) => fits_primitive(source.ty, *primitive),
        Shape::AnyResource => matches!(source.ty, Ty::Resource(..)),
        Shape::Asset => matches!(source.ty, Ty::Asset | Ty::Archive),
        Shape::Archive => matches!(source.ty, Ty::Archive),
        Shape::Resource(wanted) => matches!(source.ty, Ty::Resource(found, _) if found == wanted),
        Shape::Union(elements) => {
            let mut parts = Vec::with_capacity(elements.len());
            for element in elements {
                parts.push(assign(source, *element)?);
            }
            return Some(failure(source, target).because(parts));
        }
        Shape::List(element) => {
            let Ty::List(found) = source.ty else {
                return Some(failure(source, target));
            };
            let part = assign(source.as_type(found), *element)?;
            return Some(failure(source, target).because(vec![part]));
        }
        Shape::Map(element) => return assign_map(source, target, *element),
        Shape::Enum(definition) => {
            let TypeDefinition::Enum(enumeration) = &**definition else {
                return None;
            };
            if fits_primitive(source.ty, enumeration.underlying) {
                let part = not_a_value(source, &enumeration.values)?;
                return Some(failure(source, target).because(vec![part]));
            }
            false
        }
        Shape::Object(members) => return assign_object(source, target, &members.list()),
    };
    (!fits).then(|| failure(source, target))
}

fn failure(source: Source<'_>, target: Target<'_>) -> Mismatch {
    let prefix = match source.ty {
        Ty::Bool | Ty::Number | Ty::Integer | Ty::String | Ty::Asset | Ty::Archive => "type ",
        _ => "",
    };
    let (found, wanted) = (source.ty.label(), target.label());
    Mismatch {
        reason: format!("Cannot assign {prefix}'{found}' to {prefix}'{wanted}'"),
        ..Mismatch::default()
    }
}

fn fits_primitive(source: &Ty, wanted: Primitive) -> bool {
    match wanted {
        Primitive::Bool => matches!(source, Ty::Bool),
        Primitive::Number | Primitive::Integer => matches!(source, Ty::Number | Ty::Integer),
        // Numbers and booleans are converted to strings, and a resource to its URN.
        Primitive::String => matches!(
            source,
            Ty::String | Ty::Number | Ty::Integer | Ty::Bool | Ty::Resource(..)
        ),
    }
}

fn assign_map(source: Source<'_>, target: Target<'_>, element: Target<'_>) -> Option<Mismatch> {
    match source.ty {
        Ty::Map(found) => {
            let part = assign(source.as_type(found), element)?;
            Some(failure(source, target).because(vec![part]))
        }
        Ty::Literal(_) | Ty::Object(_) => {
            for (name, ty) in source.ty.members() {
                if let Some(part) = assign(source.as_type(&ty), element) {
                    let part = part.of_property(&name);
                    return Some(failure(source, target).because(vec![part]));
                }
            }
            None
        }
        _ => Some(failure(source, target)),
    }
}

/// Compares an object with a type, member by member.
fn assign_object(
    source: Source<'_>,
    target: Target<'_>,
    members: &[Member<'_>],
) -> Option<Mismatch> {
    let mut parts = Vec::new();
    match source.ty {
        Ty::Map(element) => {
            parts.extend(members.iter().filter_map(|member| {
                let part = assign(source.as_type(element), member.target)?;
                Some(part.of_property(member.name).at(source.span))
            }));
        }
        Ty::Literal(_) | Ty::Object(_) => {
            // Object types with the same name are equal, so their members need not be compared.
            if matches!(source.ty, Ty::Object(_)) && source.ty.label() == target.label() {
                return None;
            }
            let given = source.ty.members();
            parts.extend(
                members
                    .iter()
                    .filter_map(|member| member_mismatch(source, member, &given)),
            );
            for (name, _) in &given {
                if !members.iter().any(|member| member.name == name.as_str()) {
                    parts.push(unknown_member(source, target, name, members));
                }
            }
        }
        _ => return Some(failure(source, target)),
    }
    (!parts.is_empty()).then(|| failure(source, target).because(parts))
}

fn member_mismatch(
    source: Source<'_>,
    member: &Member<'_>,
    given: &[(ecow::EcoString, Ty)],
) -> Option<Mismatch> {
    let found = given.iter().find(|(name, _)| name == member.name);
    let Some((_, ty)) = found else {
        let missing = Mismatch {
            reason: format!("Missing required property '{}'", member.name),
            ..Mismatch::default()
        };
        return member
            .required
            .then(|| missing.of_property(member.name).at(source.span));
    };
    let part = match source.entry(member.name) {
        Some((_, value)) => assign(Source::of(value, ty), member.target)?.at(Some(value.span)),
        None => assign(source.as_type(ty), member.target)?.at(source.span),
    };
    Some(part.of_property(member.name))
}

/// Mismatch for a member that the type does not have.
fn unknown_member(
    source: Source<'_>,
    target: Target<'_>,
    name: &str,
    members: &[Member<'_>],
) -> Mismatch {
    let (label, names) = (target.label(), members.iter().map(|member| member.name));
    let place = source.entry(name).map(|(key, _)| key);
    Mismatch {
        reason: known_names(name, &format!("'{label}'"), "properties", names),
        summary: Some(format!("Property {name} does not exist on '{label}'")),
        span: place.or(source.span),
        ..Mismatch::default()
    }
}

/// Text `Existing … are: …` with the known names similar to `wrong`.
pub(super) fn known_names<'a>(
    wrong: &str,
    label: &str,
    kind: &str,
    names: impl ExactSizeIterator<Item = &'a str>,
) -> String {
    if names.len() == 0 {
        return format!("{label} has no {kind}");
    }
    format!(
        "Existing {kind} are: {}",
        diagnostic::existing(wrong, names)
    )
}

/// Mismatch for a literal that is not one of an enum's values.
fn not_a_value(source: Source<'_>, values: &[EnumValue]) -> Option<Mismatch> {
    let Written::Expr(expr) = source.written else {
        return None;
    };
    let written = match &expr.kind {
        ExprKind::String(text) => Constant::String(text.to_string()),
        ExprKind::Number(number) => Constant::Number(*number),
        _ => return None,
    };
    if values.iter().any(|value| value.value == written) {
        return None;
    }
    let show = |constant: &Constant| match constant {
        Constant::Bool(value) => value.to_string(),
        Constant::Number(value) => value.to_string(),
        Constant::String(text) => format!("{text:?}"),
    };
    let allowed = values.iter().map(|value| match &value.name {
        Some(name) if !name.is_empty() => format!("{name} ({})", show(&value.value)),
        _ => show(&value.value),
    });
    Some(Mismatch {
        reason: format!(
            "Allowed values are {}",
            allowed.collect::<Vec<_>>().join(", ")
        ),
        span: Some(expr.span),
        ..Mismatch::default()
    })
}
