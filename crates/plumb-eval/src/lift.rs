//! Lifting: removing outputs from values, and restoring them on results.

use std::sync::Arc;

use crate::value::{Deps, Output, Val};

/// Properties of the outputs that were removed from a value.
#[derive(Clone, Debug, Default)]
pub struct Lifted {
    /// Whether there was an output.
    pub any: bool,
    /// Whether an output was secret.
    pub secret: bool,
    /// Whether an output was unknown.
    pub unknown: bool,
    /// Whether a part could not be evaluated.
    pub poisoned: bool,
    /// Dependencies of the outputs.
    pub deps: Deps,
}

impl Lifted {
    /// `value` without outputs; unknown parts become null.
    pub fn strip(&mut self, value: &Val) -> Val {
        match value {
            Val::Output(output) => {
                self.note(output);
                output
                    .value
                    .as_ref()
                    .map_or(Val::Null, |inner| self.strip(inner))
            }
            Val::List(items) if items.iter().any(contains_outputs) => {
                Val::list(items.iter().map(|item| self.strip(item)).collect())
            }
            Val::Object(entries) if entries.values().any(contains_outputs) => {
                let entries = entries
                    .iter()
                    .map(|(key, item)| (key.clone(), self.strip(item)))
                    .collect();
                Val::Object(Arc::new(entries))
            }
            Val::Resource(resource) => {
                self.deps.merge(&Deps::one(resource.urn.clone()));
                value.clone()
            }
            Val::Poison => {
                self.poisoned = true;
                Val::Poison
            }
            _ => value.clone(),
        }
    }

    /// `value` without its outermost outputs; those inside are kept.
    pub fn strip_outer(&mut self, value: &Val) -> Val {
        match value {
            Val::Output(output) => {
                self.note(output);
                output
                    .value
                    .as_ref()
                    .map_or(Val::Null, |inner| self.strip_outer(inner))
            }
            Val::Poison => {
                self.poisoned = true;
                Val::Poison
            }
            _ => value.clone(),
        }
    }

    /// `value` without the outputs among the elements of the program's lists and objects. Values inside replies keep their
    /// secrets.
    pub fn strip_elements(&mut self, value: &Val) -> Val {
        match value {
            Val::List(items) => {
                Val::list(items.iter().map(|item| self.strip_elements(item)).collect())
            }
            Val::Object(entries) => {
                let entries = entries
                    .iter()
                    .map(|(key, item)| (key.clone(), self.strip_elements(item)))
                    .collect();
                Val::Object(Arc::new(entries))
            }
            other => self.strip_outer(other),
        }
    }

    fn note(&mut self, output: &Output) {
        self.any = true;
        self.secret |= output.secret;
        self.unknown |= output.value.is_none();
        self.deps.merge(&output.deps);
    }

    /// The result of a computation over stripped values, with secrecy and dependencies restored.
    pub fn wrap(self, value: Val) -> Val {
        if self.poisoned || value == Val::Poison {
            return Val::Poison;
        }
        if !self.any {
            return value;
        }
        if self.unknown {
            return Val::unknown(self.secret, self.deps);
        }
        self.wrap_around(value)
    }

    fn wrap_around(mut self, value: Val) -> Val {
        if let Val::Output(inner) = &value {
            self.secret |= inner.secret;
            self.deps.merge(&inner.deps);
            return Val::Output(Arc::new(Output {
                value: inner.value.clone(),
                secret: self.secret,
                deps: self.deps,
            }));
        }
        Val::Output(Arc::new(Output {
            value: Some(value),
            secret: self.secret,
            deps: self.deps,
        }))
    }
}

/// Whether a list or an object of the program has outputs among its elements.
pub fn has_output_elements(value: &Val) -> bool {
    let is_output = |item: &Val| matches!(item, Val::Output(_)) || has_output_elements(item);
    match value {
        Val::List(items) => items.iter().any(is_output),
        Val::Object(entries) => entries.values().any(is_output),
        _ => false,
    }
}

/// A list or an object with outputs among its elements as one output, which is secret or unknown if any of them is.
pub fn joined(value: Val) -> Val {
    if !has_output_elements(&value) {
        return value;
    }
    let mut lifted = Lifted::default();
    let elements = lifted.strip_elements(&value);
    lifted.wrap(elements)
}

/// Whether `value` contains an output, a resource or poison.
pub fn contains_outputs(value: &Val) -> bool {
    match value {
        Val::Output(_) | Val::Poison | Val::Resource(_) => true,
        Val::List(items) => items.iter().any(contains_outputs),
        Val::Object(entries) => entries.values().any(contains_outputs),
        Val::Null
        | Val::Bool(_)
        | Val::Number(_)
        | Val::String(_)
        | Val::Bytes(_)
        | Val::Asset(_)
        | Val::Archive(_)
        | Val::Reference(_) => false,
    }
}

/// Adds the dependencies of `value` to `deps`, including resources inside it.
pub fn dependencies(value: &Val, deps: &mut Deps) {
    match value {
        Val::Output(output) => {
            deps.merge(&output.deps);
            if let Some(inner) = &output.value {
                dependencies(inner, deps);
            }
        }
        Val::Resource(resource) => deps.merge(&Deps::one(resource.urn.clone())),
        Val::List(items) => items.iter().for_each(|item| dependencies(item, deps)),
        Val::Object(entries) => entries.values().for_each(|item| dependencies(item, deps)),
        Val::Null
        | Val::Bool(_)
        | Val::Number(_)
        | Val::String(_)
        | Val::Bytes(_)
        | Val::Asset(_)
        | Val::Archive(_)
        | Val::Reference(_)
        | Val::Poison => {}
    }
}

/// `value` with the secret mark set to `secret`.
pub fn secret(value: &Val, secret: bool) -> Val {
    match value {
        Val::Poison => Val::Poison,
        Val::Output(output) => Val::Output(Arc::new(Output {
            secret,
            ..(**output).clone()
        })),
        _ if !secret => value.clone(),
        _ => Val::Output(Arc::new(Output {
            value: Some(value.clone()),
            secret,
            deps: Deps::default(),
        })),
    }
}

/// Whether `value` is, or contains, a part that could not be evaluated.
pub fn is_poisoned(value: &Val) -> bool {
    match value {
        Val::Poison => true,
        Val::Output(output) => output.value.as_ref().is_some_and(is_poisoned),
        Val::List(items) => items.iter().any(is_poisoned),
        Val::Object(entries) => entries.values().any(is_poisoned),
        _ => false,
    }
}
