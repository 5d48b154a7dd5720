//! Methods of resources. The name of each determines its behaviour. Each returns all of its arguments, except those
//! that identify the receiver.
//!
//! | Name | Behaviour |
//! |---|---|
//! | `echo` | returns its arguments unchanged |
//! | `tells` | returns plain values and explicit dependencies, including its resource |
//! | `hides` | returns secrets, with dependencies in both forms |
//!
//! Every method registers the resources of the program whose `Res::by` names it.

use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::provider::{CallRequest, InvokeResponse};
use plumb_resource::{PropertyDependencies, ResourceId, Urn};
use plumb_value::{Output, PropertyMap, ReferenceId, ResourceReference, Value};

use crate::story::{Method, Prop};

/// Argument that identifies the call in the program.
const NAME: &str = "name";

/// Argument that identifies the resource of a method.
const SELF: &str = "__self__";

/// Arguments as a program sends them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Arguments {
    pub(crate) values: PropertyMap,
    pub(crate) dependencies: PropertyDependencies,
}

/// Arguments for a method. `own` has the resource of the method, `value` the values of the arguments, and `urn` their
/// dependencies.
pub(crate) fn arguments(
    method: &Method,
    own: Option<(&Urn, &ResourceId)>,
    value: impl Fn(&Prop) -> Value,
    urn: impl Fn(&Prop) -> Option<Urn>,
) -> Arguments {
    let mut arguments = Arguments {
        values: PropertyMap::new().with(NAME, method.name.as_str()),
        dependencies: PropertyDependencies::new(),
    };
    if let Some((urn, id)) = own {
        arguments.values.insert(SELF, reference(urn, id));
        let own = [urn.clone()].into();
        arguments.dependencies.insert(SELF.into(), own);
    }
    for (key, prop) in &method.arguments {
        let (value, urn) = (value(prop), urn(prop));
        if method.wrapped {
            arguments.values.insert(key.as_str(), wrapped(&value, urn));
        } else {
            arguments.values.insert(key.as_str(), value);
            let urns = urn.into_iter().collect();
            arguments.dependencies.insert(key.as_str().into(), urns);
        }
    }
    arguments
}

fn reference(urn: &Urn, id: &ResourceId) -> Value {
    Value::Resource(Arc::new(ResourceReference {
        urn: urn.as_str().into(),
        id: match id {
            ResourceId::None => ReferenceId::None,
            ResourceId::Unknown => ReferenceId::Unknown,
            ResourceId::Known(id) => ReferenceId::Known(id.clone()),
        },
        name: None,
        type_token: None,
        package_version: EcoString::new(),
    }))
}

/// An output value with its own dependencies.
fn wrapped(value: &Value, urn: Option<Urn>) -> Value {
    let plain = value.without_secrets();
    Value::Output(Arc::new(Output {
        secret: value.is_secret(),
        value: (!plain.contains_unknowns()).then_some(plain),
        dependencies: urn.iter().map(|urn| urn.as_str().into()).collect(),
    }))
}

/// Name of the call in the program.
pub(crate) fn name_of(call: &CallRequest) -> &str {
    let name = call.args.get(NAME).and_then(Value::as_str);
    name.unwrap_or_default()
}

/// Result of a method.
pub(crate) fn answer(call: &CallRequest) -> InvokeResponse {
    let does = call.token.as_str().rsplit('/').next().unwrap_or_default();
    let mut result = PropertyMap::new();
    let mut dependencies = PropertyDependencies::new();
    let own = call.dependencies.get(SELF);
    for (key, value) in call.args.as_ref() {
        if matches!(key.as_str(), NAME | SELF) {
            continue;
        }
        let told = call.dependencies.get(key);
        let mut told: Vec<Urn> = told.into_iter().flatten().cloned().collect();
        if does == "tells" {
            let own = own.into_iter().flatten();
            let others: Vec<Urn> = own.filter(|urn| !told.contains(urn)).cloned().collect();
            told.extend(others);
        }
        let value = match does {
            "echo" => value.clone(),
            "tells" => value.without_outputs(),
            _ => hidden(value, &told),
        };
        result.insert(key.clone(), value);
        if does != "echo" {
            dependencies.insert(key.clone(), told.into());
        }
    }
    InvokeResponse {
        result: Arc::new(result),
        failures: Vec::new(),
        dependencies,
    }
}

fn hidden(value: &Value, on: &[Urn]) -> Value {
    let plain = value.without_outputs().without_secrets();
    Value::Output(Arc::new(Output {
        secret: true,
        value: (!plain.contains_unknowns()).then_some(plain),
        dependencies: on.iter().map(|urn| urn.as_str().into()).collect(),
    }))
}
