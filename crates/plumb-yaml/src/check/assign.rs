//! Whether a value of one type may stand where another is wanted.

use std::sync::Arc;

use plumb_schema::{
    Constant, PackageSchema, Primitive, Properties, Section, Type, TypeDefinition, TypeKind,
};

use super::types::Ty;
use crate::diagnostic::{self, Diagnostic};
use crate::syntax::expression::{Expr, ExprKind};
use crate::syntax::functions::Function;
use crate::syntax::source::Span;

/// Why not, and which part of the program is to blame.
pub(crate) struct Mismatch {
    pub(crate) span: Span,
    pub(crate) summary: String,
    /// From the outside in, what the mismatch prevents.
    pub(crate) reasons: Vec<String>,
}

impl Mismatch {
    fn new(span: Span, summary: String) -> Self {
        Mismatch {
            span,
            summary,
            reasons: Vec::new(),
        }
    }

    /// The mismatch as the reason of another one around it.
    fn inside(mut self, source: &Ty, target: &str) -> Self {
        self.reasons.insert(
            0,
            format!("Cannot assign '{}' to '{target}':", source.label()),
        );
        self
    }

    pub(crate) fn into_diagnostic(self) -> Diagnostic {
        let mut detail = String::new();
        for (depth, reason) in self.reasons.iter().enumerate() {
            if depth > 0 {
                detail.push('\n');
            }
            detail.push_str(&"  ".repeat(depth));
            detail.push_str(reason);
        }
        Diagnostic::error(self.span, self.summary).with_detail(detail)
    }
}

/// A value to be assigned: its type, its place, and its expression where the program writes it out.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) ty: &'a Ty,
    pub(crate) span: Span,
    pub(crate) expr: Option<&'a Expr>,
}

impl<'a> Source<'a> {
    fn part(self, ty: &'a Ty, expr: Option<&'a Expr>) -> Source<'a> {
        Source {
            ty,
            span: expr.map_or(self.span, |expr| expr.span),
            expr,
        }
    }

    /// The expression that gives the value, below secrets.
    fn unwrapped(self) -> Option<&'a Expr> {
        let mut expr = self.expr?;
        while let ExprKind::Function(Function::Secret | Function::Unsecret, inner) = &expr.kind {
            expr = inner;
        }
        Some(expr)
    }
}

/// Whether `source` may stand where `target` of `package` is wanted.
pub(crate) fn assign(
    source: Source<'_>,
    package: &Arc<PackageSchema>,
    target: &Type,
) -> Result<(), Mismatch> {
    match (source.ty, &target.kind) {
        (Ty::Any | Ty::Null, _) | (_, TypeKind::Any | TypeKind::Json | TypeKind::Invalid) => {
            return Ok(());
        }
        (Ty::Union(elements), _) => {
            return elements.iter().try_for_each(|element| {
                assign(
                    Source {
                        ty: element,
                        ..source
                    },
                    package,
                    target,
                )
            });
        }
        _ => {}
    }
    match &target.kind {
        TypeKind::Primitive(primitive) => assign_primitive(source, *primitive, package, target),
        TypeKind::Asset if matches!(source.ty, Ty::Asset | Ty::Archive) => Ok(()),
        TypeKind::Archive if matches!(source.ty, Ty::Archive) => Ok(()),
        TypeKind::Union(union) => {
            let accepted = union
                .elements
                .iter()
                .any(|element| assign(source, package, element).is_ok());
            if accepted {
                Ok(())
            } else {
                Err(plain_mismatch(source, package, target))
            }
        }
        TypeKind::Array(element) => assign_list(source, package, target, element),
        TypeKind::Map(element) => assign_map(source, package, target, element),
        TypeKind::Reference(reference) if reference.package.is_none() => match reference.section {
            Section::Resource | Section::Provider => match source.ty {
                Ty::Resource(token, _) if *token == reference.token.as_str() => Ok(()),
                _ => Err(plain_mismatch(source, package, target)),
            },
            Section::Type => match package.type_definition(&reference.token) {
                Some(Ok(definition)) => match &*definition {
                    TypeDefinition::Enum(enumeration) => {
                        let underlying = Type::new(TypeKind::Primitive(enumeration.underlying));
                        assign(source, package, &underlying)?;
                        check_enum(source, &enumeration.values)
                    }
                    TypeDefinition::Object(object) => {
                        assign_object(source, package, &reference.token, &object.properties)
                    }
                },
                _ => Ok(()),
            },
        },
        TypeKind::Reference(_) | TypeKind::Any | TypeKind::Json | TypeKind::Invalid => Ok(()),
        TypeKind::Asset | TypeKind::Archive => Err(plain_mismatch(source, package, target)),
    }
}

fn plain_mismatch(source: Source<'_>, package: &Arc<PackageSchema>, target: &Type) -> Mismatch {
    let wanted = Ty::of_schema(package, target).label();
    Mismatch::new(
        source.span,
        format!("{wanted} is not assignable from {}", source.ty.label()),
    )
}

fn assign_primitive(
    source: Source<'_>,
    primitive: Primitive,
    package: &Arc<PackageSchema>,
    target: &Type,
) -> Result<(), Mismatch> {
    let fits = match primitive {
        Primitive::Bool => matches!(source.ty, Ty::Bool),
        Primitive::Number | Primitive::Integer => matches!(source.ty, Ty::Number | Ty::Integer),
        Primitive::String => {
            matches!(
                source.ty,
                Ty::String | Ty::Number | Ty::Integer | Ty::Bool | Ty::Resource(..)
            )
        }
    };
    if fits {
        Ok(())
    } else {
        Err(plain_mismatch(source, package, target))
    }
}

fn assign_list(
    source: Source<'_>,
    package: &Arc<PackageSchema>,
    target: &Type,
    element: &Type,
) -> Result<(), Mismatch> {
    let Ty::List(found) = source.ty else {
        return Err(plain_mismatch(source, package, target));
    };
    let wanted = || Ty::of_schema(package, target).label();
    assign(source.part(found, None), package, element)
        .map_err(|mismatch| mismatch.inside(source.ty, &wanted()))
}

fn assign_map(
    source: Source<'_>,
    package: &Arc<PackageSchema>,
    target: &Type,
    element: &Type,
) -> Result<(), Mismatch> {
    let wanted = || Ty::of_schema(package, target).label();
    match source.ty {
        Ty::Map(found) => assign(source.part(found, None), package, element),
        Ty::Literal(entries) => entries.iter().enumerate().try_for_each(|(at, (_, ty))| {
            let part = source.part(ty, entry(source, at).map(|(_, value)| value));
            assign(part, package, element).map_err(|mismatch| mismatch.inside(source.ty, &wanted()))
        }),
        // Properties of a known object: their types belong to another schema, and are rarely of one kind.
        Ty::Object(_) => Ok(()),
        _ => Err(plain_mismatch(source, package, target)),
    }
}

/// The key and value at `at` of an object that the program writes out.
fn entry(source: Source<'_>, at: usize) -> Option<&(Expr, Expr)> {
    match &source.unwrapped()?.kind {
        ExprKind::Object(entries) => entries.get(at),
        _ => None,
    }
}

/// Compares an object property by property.
pub(crate) fn assign_object(
    source: Source<'_>,
    package: &Arc<PackageSchema>,
    label: &str,
    properties: &Properties,
) -> Result<(), Mismatch> {
    match source.ty {
        Ty::Literal(entries) => {
            for (at, (name, ty)) in entries.iter().enumerate() {
                let written = entry(source, at);
                let Some(property) = properties.get(name.as_str()) else {
                    let span = written.map_or(source.span, |(key, _)| key.span);
                    return Err(unknown_property(span, name, source.ty, label, properties));
                };
                let part = source.part(ty, written.map(|(_, value)| value));
                assign(part, package, &property.ty)
                    .map_err(|mismatch| mismatch.inside(source.ty, label))?;
            }
            let is_given = |name: &str| {
                entries
                    .iter()
                    .any(|(key, ty)| key == name && !matches!(ty, Ty::Null))
            };
            check_required(source.span, properties, is_given)
                .map_err(|mismatch| mismatch.inside(source.ty, label))
        }
        Ty::Map(element) => properties.values().try_for_each(|property| {
            assign(source.part(element, None), package, &property.ty)
                .map_err(|mismatch| mismatch.inside(source.ty, label))
        }),
        Ty::Object(object) if object.label == label => Ok(()),
        Ty::Object(object) => check_required(source.span, properties, |name| {
            object.properties.contains_key(name)
        })
        .map_err(|mismatch| mismatch.inside(source.ty, label)),
        other => Err(Mismatch::new(
            source.span,
            format!("{label} is not assignable from {}", other.label()),
        )),
    }
}

/// A property that the type does not have.
pub(crate) fn unknown_property(
    span: Span,
    name: &str,
    source: &Ty,
    label: &str,
    properties: &Properties,
) -> Mismatch {
    let existing = diagnostic::existing(name, properties.keys().map(String::as_str));
    let mut mismatch = Mismatch::new(span, format!("Property {name} does not exist on '{label}'"))
        .inside(source, label);
    mismatch
        .reasons
        .push(format!("Existing properties are: {existing}"));
    mismatch
}

/// Whether everything is given that must be.
pub(crate) fn check_required(
    span: Span,
    properties: &Properties,
    is_given: impl Fn(&str) -> bool,
) -> Result<(), Mismatch> {
    let missing = |property: &&plumb_schema::Property| {
        property.required
            && property.constant.is_none()
            && property.default.is_none()
            && !is_given(&property.name)
    };
    match properties.values().find(missing) {
        None => Ok(()),
        Some(property) => Err(Mismatch::new(
            span,
            format!("Missing required property '{}'", property.name),
        )),
    }
}

/// A literal where an enum is wanted must be one of its values.
fn check_enum(source: Source<'_>, values: &[plumb_schema::EnumValue]) -> Result<(), Mismatch> {
    let written = match source.unwrapped().map(|expr| &expr.kind) {
        Some(ExprKind::String(text)) => Constant::String(text.to_string()),
        Some(ExprKind::Number(number)) => Constant::Number(*number),
        _ => return Ok(()),
    };
    if values.iter().any(|value| value.value == written) {
        return Ok(());
    }
    let show = |constant: &Constant| match constant {
        Constant::Bool(value) => value.to_string(),
        Constant::Number(value) => value.to_string(),
        Constant::String(text) => format!("{text:?}"),
    };
    let allowed: Vec<String> = values
        .iter()
        .map(|value| match &value.name {
            Some(name) => format!("{name} ({})", show(&value.value)),
            None => show(&value.value),
        })
        .collect();
    let mut mismatch = Mismatch::new(
        source.span,
        format!("{} is not a valid value", show(&written)),
    );
    mismatch
        .reasons
        .push(format!("Allowed values are {}", allowed.join(", ")));
    Err(mismatch)
}
