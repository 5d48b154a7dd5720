//! Methods of resources, which do what their names say. Each answers all of its arguments, but for those that say what it
//! is called on.
//!
//! | Name | The method |
//! |---|---|
//! | `echo` | answers what it was given as it was given |
//! | `tells` | answers plain values, and says beside them what they depend on: the resource that it belongs to, too |
//! | `hides` | answers secrets, which tell what they depend on in both ways |
//!
//! Whatever it does, it registers the resources of the program that say so (`Res::by`).

use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::provider::{CallRequest, InvokeResponse};
use plumb_resource::{PropertyDependencies, ResourceId, Urn};
use plumb_value::{Output, PropertyMap, ReferenceId, ResourceReference, Value};

use crate::story::{Method, Prop};

/// The argument by which a method knows which of the calls of a program it is.
const NAME: &str = "name";

/// The argument that says which resource a method belongs to.
const SELF: &str = "__self__";

/// Arguments as a program sends them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Arguments {
    pub(crate) values: PropertyMap,
    pub(crate) dependencies: PropertyDependencies,
}

/// What a program sends for a method, where `own` tells of the resource that the method belongs to, `value` what its
/// arguments are, and `urn` where they come from.
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

/// A value that tells by itself what it depends on.
fn wrapped(value: &Value, urn: Option<Urn>) -> Value {
    let plain = value.without_secrets();
    Value::Output(Arc::new(Output {
        secret: value.is_secret(),
        value: (!plain.contains_unknowns()).then_some(plain),
        dependencies: urn.iter().map(|urn| urn.as_str().into()).collect(),
    }))
}

/// The name of the call of a program.
pub(crate) fn name_of(call: &CallRequest) -> &str {
    let name = call.args.get(NAME).and_then(Value::as_str);
    name.unwrap_or_default()
}

/// What a method answers.
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
