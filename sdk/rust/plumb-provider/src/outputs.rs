//! Outputs: what of them is known in a preview, and which are secrets.

use plumb::Value;
use plumb::provider::Members;

use crate::diff::Change;
use crate::schema::Property;
use crate::values::{contains_secret, exposed, secret};

/// The resource as it is before an update.
pub(crate) struct Before<'a> {
    /// The inputs that the update changes.
    pub(crate) changes: &'a [Change],
    /// The outputs.
    pub(crate) state: &'a Members,
}

/// Outputs that a preview foretells without asking the code of the provider: an output with the name of an input has its
/// value, and others are unknown, unless nothing that they follow changes. An output that is always there and has the name of
/// an input without a value is one that the provider fills in: it follows this input.
pub(crate) fn foretell(
    inputs: &[Property],
    outputs: &[Property],
    values: &Members,
    before: Option<&Before<'_>>,
) -> Members {
    let mut foretold = Members::new();
    for output in outputs {
        let has_input = inputs.iter().any(|it| it.name == output.name);
        let given = values.get(&output.name).filter(|it| **it != Value::Null);
        let value = if has_input && (given.is_some() || !output.is_required) {
            given.cloned()
        } else if before.is_some_and(|it| it.keeps(output, has_input)) {
            before.and_then(|it| it.state.get(&output.name)).cloned()
        } else {
            Some(Value::Unknown)
        };
        if let Some(value) = value {
            foretold.insert(output.name.clone(), value);
        }
    }
    foretold
}

impl Before<'_> {
    fn keeps(&self, output: &Property, has_input: bool) -> bool {
        let is_touched = |input: &String| self.changes.iter().any(|it| it.path.root() == input);
        match &output.follows {
            Some(inputs) => !inputs.iter().any(is_touched),
            None if has_input => !is_touched(&output.name),
            None => self.changes.is_empty(),
        }
    }
}

/// Marks secrets among outputs: those of the schema, and those that came as secret inputs of the same name.
pub(crate) fn mark_secrets(outputs: &[Property], inputs: &Members, members: &mut Members) {
    for (name, value) in members.iter_mut() {
        let is_secret = outputs.iter().any(|it| it.name == *name && it.is_secret);
        let input = inputs.get(name).filter(|it| contains_secret(it));
        match input {
            // The same value has its secrets where the input has them.
            Some(input) if exposed(input) == *value => *value = input.clone(),
            Some(_) => *value = secret(std::mem::take(value)),
            None => {}
        }
        if is_secret {
            *value = secret(std::mem::take(value));
        }
    }
}

/// Marks inputs as secrets that the schema says are.
pub(crate) fn mark_secret_inputs(inputs: &[Property], members: &mut Members) {
    for property in inputs.iter().filter(|it| it.is_secret) {
        if let Some(value) = members.get_mut(&property.name)
            && *value != Value::Null
        {
            *value = secret(std::mem::take(value));
        }
    }
}
