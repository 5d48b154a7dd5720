//! Inputs of resources in registrations.

use std::sync::Arc;

use ecow::EcoString;
use plumb_deploy::request::RegisterRequest;
use plumb_schema::{Constant, Resource};
use plumb_value::{PropertyKey, PropertyMap};

use crate::convert::{self, Form};
use crate::lift;
use crate::value::{Deps, Val};

/// Inputs by name, in order of declaration.
pub type Inputs = Vec<(EcoString, Val)>;

/// Applies secrets and constants of the schema.
pub fn apply_schema(inputs: &mut Inputs, schema: &Resource) {
    for (name, value) in inputs.iter_mut() {
        if schema
            .input_properties
            .get(name.as_str())
            .is_some_and(|property| property.secret)
            && *value != Val::Null
        {
            *value = lift::secret(value, true);
        }
    }
    for property in schema.input_properties.values() {
        if let Some(constant) = &property.constant
            && !inputs
                .iter()
                .any(|(name, _)| name == property.name.as_str())
        {
            let value = match constant {
                Constant::Bool(value) => Val::Bool(*value),
                Constant::Number(value) => Val::Number(*value),
                Constant::String(text) => Val::String(text.as_str().into()),
            };
            inputs.push((property.name.as_str().into(), value));
        }
    }
}

/// Adds `inputs` with their dependencies to `request`. Null inputs without dependencies are omitted.
pub fn set_properties(request: &mut RegisterRequest, inputs: &Inputs, form: Form) {
    let mut properties = PropertyMap::new();
    for (name, value) in inputs {
        let mut deps = Deps::default();
        if form == Form::Plain || !matches!(value, Val::Resource(_)) {
            lift::dependencies(value, &mut deps);
        }
        let converted = convert::to_value(value, form);
        if converted.is_null() && deps.is_empty() {
            continue;
        }
        let key = PropertyKey::from(name.clone());
        request
            .property_dependencies
            .insert(key.clone(), deps.to_vec().into());
        properties.insert(key, converted);
    }
    request.properties = Arc::new(properties);
}
