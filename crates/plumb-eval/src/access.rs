//! Property access (`yaml-runtime.md` 6.2).

use ecow::EcoString;
use plumb_resource::ResourceId;
use plumb_value::ReferenceId;

use crate::convert;
use crate::lift::{self, Lifted};
use crate::value::{Deps, ResourceVal, Val};

/// One step of a property access.
#[derive(Clone, Debug, PartialEq)]
pub enum Accessor {
    /// A property or an entry.
    Name(EcoString),
    /// An element of a list.
    Index(usize),
}

/// Reasons why an access has no value.
#[derive(Debug, PartialEq, Eq)]
pub enum Failure {
    /// The program is wrong; holds the message.
    Problem(String),
    /// The resource with this URN has to be fetched first.
    Fetch(EcoString),
}

/// Resources that a program refers to.
pub trait References {
    /// The resource with this URN; `None` if it must be fetched first, [`Val::Poison`] if it cannot be fetched.
    fn resource(&self, urn: &str) -> Option<Val>;
}

/// The value at `path` inside `value`.
///
/// If the resulting output is partly unknown, the whole result is unknown, because nothing can be computed from a list with
/// an unknown element. The containers on the way may be partly unknown.
pub fn access(value: &Val, path: &[Accessor], references: &dyn References) -> Result<Val, Failure> {
    let found = follow(value, path, references)?;
    Ok(if path.is_empty() {
        found
    } else {
        known_as_a_whole(found)
    })
}

fn known_as_a_whole(found: Val) -> Val {
    let Val::Output(output) = &found else {
        return found;
    };
    let mut inside = Lifted::default();
    if let Some(value) = &output.value {
        inside.strip(value);
    }
    if !inside.unknown {
        return found;
    }
    inside.deps.merge(&output.deps);
    Val::unknown(output.secret || inside.secret, inside.deps)
}

fn follow(value: &Val, path: &[Accessor], references: &dyn References) -> Result<Val, Failure> {
    let Some((first, rest)) = path.split_first() else {
        return Ok(value.clone());
    };
    match value {
        Val::Output(output) => {
            let mut lifted = Lifted::default();
            lifted.strip_outer(value);
            if lifted.poisoned {
                return Ok(Val::Poison);
            }
            let Some(inner) = &output.value else {
                return Ok(Val::unknown(lifted.secret, lifted.deps));
            };
            let found = follow(inner, path, references)?;
            Ok(lifted.wrap_known(found))
        }
        Val::Null => Ok(Val::Null),
        Val::Poison => Ok(Val::Poison),
        Val::Resource(resource) => follow(&property(resource, first)?, rest, references),
        Val::Reference(reference) => match first {
            Accessor::Name(name) if name == "urn" => {
                follow(&Val::String(reference.urn.clone()), rest, references)
            }
            Accessor::Name(name)
                if name == "id" && matches!(reference.id, ReferenceId::Known(_)) =>
            {
                let ReferenceId::Known(id) = &reference.id else {
                    return Ok(Val::Null);
                };
                follow(&Val::String(id.clone()), rest, references)
            }
            _ => match references.resource(&reference.urn) {
                Some(resource) => follow(&resource, path, references),
                None => Err(Failure::Fetch(reference.urn.clone())),
            },
        },
        Val::Object(entries) => match first {
            Accessor::Index(_) => Err(Failure::Problem(
                "cannot access an object property using an integer index".to_owned(),
            )),
            Accessor::Name(name) => match entries.get(name) {
                Some(found) => follow(found, rest, references),
                None if entries.values().any(is_unknown) => {
                    Ok(Val::unknown(false, Deps::default()))
                }
                None => Ok(Val::Null),
            },
        },
        Val::List(items) => match first {
            Accessor::Name(_) => Err(Failure::Problem(
                "cannot access a list element using a property name".to_owned(),
            )),
            Accessor::Index(index) => match items.get(*index) {
                Some(found) => follow(found, rest, references),
                None => Err(Failure::Problem(out_of_bounds(*index, items.len()))),
            },
        },
        Val::Asset(_) | Val::Archive(_) => Ok(value.clone()),
        Val::Bool(_) | Val::Number(_) | Val::String(_) | Val::Bytes(_) => {
            Err(Failure::Problem(format!(
                "receiver must be a list or object, not {}",
                value.described()
            )))
        }
    }
}

/// Message for an index past the end of a list.
pub fn out_of_bounds(index: usize, length: usize) -> String {
    format!("list index {index} out-of-bounds for list of length {length}")
}

fn is_unknown(value: &Val) -> bool {
    matches!(value, Val::Output(output) if output.value.is_none())
}

/// A property of a resource, as an output that depends on the resource.
fn property(resource: &ResourceVal, accessor: &Accessor) -> Result<Val, Failure> {
    let Accessor::Name(name) = accessor else {
        return Err(Failure::Problem(
            "cannot access a resource property using an integer index".to_owned(),
        ));
    };
    let deps = Deps::one(resource.urn.clone());
    let known = |value: Val| {
        Lifted {
            any: true,
            deps: deps.clone(),
            ..Lifted::default()
        }
        .wrap(value)
    };
    match name.as_str() {
        "urn" => return Ok(known(Val::String(resource.urn.as_str().into()))),
        "id" if resource.custom => {
            return Ok(match &resource.id {
                ResourceId::Known(id) => known(Val::String(id.clone())),
                ResourceId::None | ResourceId::Unknown => Val::unknown(false, deps),
            });
        }
        _ => {}
    }
    Ok(match resource.outputs.get(name) {
        Some(value) => known(convert::from_value(value)),
        None if resource.partial => Val::unknown(false, deps),
        None => known(Val::Null),
    })
}

impl Lifted {
    /// Adds the secrecy and dependencies of the receiver to the result of an access.
    fn wrap_known(mut self, found: Val) -> Val {
        self.unknown = false;
        if let Val::Output(output) = &found
            && output.value.is_none()
        {
            self.secret |= output.secret;
            self.deps.merge(&output.deps);
            return Val::unknown(self.secret, self.deps);
        }
        if lift::is_poisoned(&found) {
            return Val::Poison;
        }
        self.wrap(found)
    }
}
