//! Taking outputs off values, and putting them back on results.

use std::sync::Arc;

use crate::value::{Deps, Output, Val};

/// What was found on the way through a value.
#[derive(Clone, Debug, Default)]
pub struct Lifted {
    /// There was an output somewhere.
    pub any: bool,
    /// Something is secret.
    pub secret: bool,
    /// Something is unknown.
    pub unknown: bool,
    /// Something could not be evaluated.
    pub poisoned: bool,
    /// What it was computed from.
    pub deps: Deps,
}

impl Lifted {
    /// The plain form of `value`; where it is unknown, null stands in.
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

    /// Takes the outermost outputs off `value`, and leaves those inside.
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

    /// The value that lists and objects of the program have once the outputs among their elements are known: those are
    /// taken off. Replies keep the secrets inside them.
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

    /// The result of a computation over what was stripped, with secrecy and dependencies back on.
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

/// Whether a list or an object of the program has an output among its elements.
pub fn has_output_elements(value: &Val) -> bool {
    let is_output = |item: &Val| matches!(item, Val::Output(_)) || has_output_elements(item);
    match value {
        Val::List(items) => items.iter().any(is_output),
        Val::Object(entries) => entries.values().any(is_output),
        _ => false,
    }
}

/// One output in place of a list or an object with outputs among its elements: it is secret, or unknown, if any of them is.
pub fn joined(value: Val) -> Val {
    if !has_output_elements(&value) {
        return value;
    }
    let mut lifted = Lifted::default();
    let elements = lifted.strip_elements(&value);
    lifted.wrap(elements)
}

/// Whether there is an output, a resource or poison anywhere in `value`.
pub fn contains_outputs(value: &Val) -> bool {
    match value {
        Val::Output(_) | Val::Poison | Val::Resource(_) => true,
        Val::List(items) => items.iter().any(contains_outputs),
        Val::Object(entries) => entries.values().any(contains_outputs),
        Val::Null
        | Val::Bool(_)
        | Val::Number(_)
        | Val::String(_)
        | Val::Asset(_)
        | Val::Archive(_)
        | Val::Reference(_) => false,
    }
}

/// Everything that `value` was computed from, resources in it among them.
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
        | Val::Asset(_)
        | Val::Archive(_)
        | Val::Reference(_)
        | Val::Poison => {}
    }
}

/// `value` as a secret.
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

/// Whether `value` is, or has in it, something that could not be evaluated.
pub fn is_poisoned(value: &Val) -> bool {
    match value {
        Val::Poison => true,
        Val::Output(output) => output.value.as_ref().is_some_and(is_poisoned),
        Val::List(items) => items.iter().any(is_poisoned),
        Val::Object(entries) => entries.values().any(is_poisoned),
        _ => false,
    }
}
