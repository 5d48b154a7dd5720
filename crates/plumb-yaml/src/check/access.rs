//! Types of parts of values: properties and elements.

use ecow::EcoString;

use super::assign::known_names;
use super::types::Ty;
use crate::syntax::expression::Accessor;

/// A problem of an access: summary and detail.
pub(super) type Problem = (String, String);

/// Type of the part at `path` of a value of type `root`. `name` is the name of the value in the program.
pub(super) fn part(root: &Ty, name: &str, path: &[Accessor]) -> Result<Ty, Problem> {
    let Some((accessor, rest)) = path.split_first() else {
        return Ok(root.clone());
    };
    match (root, accessor) {
        (Ty::Any, _) => Ok(Ty::Any),
        (Ty::Invalid, _) => Ok(Ty::Invalid),
        (Ty::Union(elements), _) => of_union(root, elements, name, path),
        (_, Accessor::Name(property)) => part(
            &named(root, name, property)?,
            &format!("{name}.{property}"),
            rest,
        ),
        (_, Accessor::Index(index)) => {
            part(&indexed(root, name)?, &format!("{name}[{index}]"), rest)
        }
    }
}

fn named(root: &Ty, name: &str, property: &EcoString) -> Result<Ty, Problem> {
    let members = match root {
        Ty::Map(element) => return Ok((**element).clone()),
        Ty::Literal(_) | Ty::Object(_) => root.members(),
        Ty::Resource(_, None) => return Ok(Ty::Invalid),
        Ty::Resource(_, Some((package, resource))) => {
            let properties = resource.properties.iter();
            let member = |(name, property): (&String, &plumb_schema::Property)| {
                (name.as_str().into(), Ty::of_schema(package, &property.ty))
            };
            let mut members: Vec<(EcoString, Ty)> = properties.map(member).collect();
            let own = ["id", "urn"]
                .into_iter()
                .skip(usize::from(resource.is_component));
            members.extend(own.map(|name| (name.into(), Ty::String)));
            members
        }
        _ => {
            let summary = format!(
                "cannot access a property on '{name}' (type {})",
                root.label()
            );
            let detail = "Property access is only allowed on Resources and Objects";
            return Err((summary, detail.to_owned()));
        }
    };
    // The last declaration of a name takes precedence.
    if let Some((_, ty)) = members.iter().rev().find(|(known, _)| known == property) {
        return Ok(ty.clone());
    }
    let names = members.iter().map(|(name, _)| name.as_str());
    Err((
        format!("{property} does not exist on {name}"),
        known_names(property, name, "properties", names),
    ))
}

fn indexed(root: &Ty, name: &str) -> Result<Ty, Problem> {
    match root {
        Ty::List(element) => Ok((**element).clone()),
        Ty::Map(_) => Err((
            format!(
                "Cannot index via number into '{name}' (type {})",
                root.label()
            ),
            "Index via number is only allowed on Arrays".to_owned(),
        )),
        _ => Err(not_indexed(root, name)),
    }
}

fn not_indexed(root: &Ty, name: &str) -> Problem {
    (
        format!("Cannot index into '{name}' (type {})", root.label()),
        "Index property access is only allowed on Maps and Lists".to_owned(),
    )
}

/// Type of the part in a union; the part must exist in each of its types.
fn of_union(root: &Ty, elements: &[Ty], name: &str, path: &[Accessor]) -> Result<Ty, Problem> {
    let mut problems = Vec::new();
    let mut found = Vec::new();
    for element in elements {
        match part(element, name, path) {
            Ok(Ty::Invalid) => {}
            Ok(ty) => found.push(ty),
            Err((summary, _)) => problems.push(format!("\n  {}: {summary}", element.label())),
        }
    }
    if problems.is_empty() {
        return Ok(Ty::union_of(found));
    }
    let verb = match path.first() {
        Some(Accessor::Index(_)) => "index",
        _ => "access",
    };
    let summary = format!("Cannot {verb} into {name} of type {}", root.label());
    let detail = format!(
        "'{name}' could be a type that does not support {verb}ing:{}",
        problems.concat()
    );
    Err((summary, detail))
}
