//! Conversion of members from their serialised to their bound form.

use std::collections::BTreeMap;

use crate::error::SchemaError;
use crate::reference;
use crate::spec::{
    AliasSpec, ComplexTypeSpec, DefaultInfoSpec, FunctionSpec, HasProperties, ObjectSpec,
    PropertySpec, ResourceSpec, TypeSpec,
};
use crate::types::{
    Constant, DefaultInfo, EnumType, EnumValue, Function, ObjectType, Primitive, Properties,
    Property, Resource, ResourceAlias, ReturnType, Type, TypeDefinition, TypeKind, Union,
};

/// A member that is parsed and bound from its text.
pub(crate) trait Member: Sized {
    /// Name of its kind in errors.
    const SECTION: &'static str;

    /// Binds `text`, the member called `token` of `package`.
    fn bind(package: &str, token: &str, text: &str) -> Result<Self, serde_json::Error>;

    /// [`Self::bind`] with the member named in errors.
    fn bind_named(package: &str, token: &str, text: &str) -> Result<Self, SchemaError> {
        Self::bind(package, token, text).map_err(|error| SchemaError::Member {
            section: Self::SECTION,
            token: token.to_owned(),
            message: error.to_string(),
        })
    }
}

impl Member for Resource {
    const SECTION: &'static str = "resource";

    fn bind(package: &str, token: &str, text: &str) -> Result<Self, serde_json::Error> {
        let spec: ResourceSpec = serde_json::from_str(text)?;
        Ok(Resource {
            token: token.to_owned(),
            properties: properties(package, spec.properties, &spec.required),
            input_properties: properties(package, spec.input_properties, &spec.required_inputs),
            state_inputs: spec
                .state_inputs
                .map(|inputs| object(package, inputs).properties),
            list_inputs: spec
                .list_inputs
                .map(|inputs| object(package, inputs).properties),
            aliases: spec.aliases.into_iter().map(alias).collect(),
            is_component: spec.is_component,
            methods: spec.methods,
            deprecation: spec.deprecation.filter(|text| !text.is_empty()),
            description: spec.description.filter(|text| !text.is_empty()),
        })
    }
}

impl Member for Function {
    const SECTION: &'static str = "function";

    fn bind(package: &str, token: &str, text: &str) -> Result<Self, serde_json::Error> {
        let spec: FunctionSpec<'_> = serde_json::from_str(text)?;
        let outputs = spec.outputs.map(serde_json::value::RawValue::get);
        let marks: Option<Marks> = outputs.map(serde_json::from_str).transpose()?.flatten();
        Ok(Function {
            token: token.to_owned(),
            inputs: spec.inputs.map(|inputs| object(package, inputs)),
            returns: return_type(package, outputs)?,
            returns_plain: marks.is_some_and(|it| it.plain),
            is_output_only: spec.plain == Some(false),
            positional_inputs: spec.positional,
            deprecation: spec.deprecation.filter(|text| !text.is_empty()),
            description: spec.description.filter(|text| !text.is_empty()),
        })
    }
}

impl Member for TypeDefinition {
    const SECTION: &'static str = "type";

    fn bind(package: &str, _token: &str, text: &str) -> Result<Self, serde_json::Error> {
        let spec: ComplexTypeSpec = serde_json::from_str(text)?;
        let Some(values) = spec.values else {
            return Ok(TypeDefinition::Object(ObjectType {
                properties: properties(package, spec.properties, &spec.required),
            }));
        };
        let underlying = spec
            .kind
            .as_deref()
            .and_then(Primitive::from_name)
            .unwrap_or(Primitive::String);
        let values = values
            .into_iter()
            .filter_map(|value| {
                Some(EnumValue {
                    name: value.name,
                    value: constant(value.value)?,
                })
            })
            .collect();
        Ok(TypeDefinition::Enum(EnumType { underlying, values }))
    }
}

/// Marks of a result besides its type.
#[derive(serde::Deserialize)]
struct Marks {
    #[serde(default)]
    plain: bool,
}

fn return_type(package: &str, outputs: Option<&str>) -> Result<ReturnType, serde_json::Error> {
    let Some(text) = outputs.filter(|text| !matches!(text.trim(), "null" | "{}")) else {
        return Ok(ReturnType::None);
    };
    let probe: HasProperties<'_> = serde_json::from_str(text)?;
    if probe.properties.is_some() {
        return Ok(ReturnType::Object(object(
            package,
            serde_json::from_str(text)?,
        )));
    }
    Ok(ReturnType::Value(bind_type(
        package,
        serde_json::from_str(text)?,
    )))
}

fn alias(spec: AliasSpec) -> ResourceAlias {
    match spec {
        AliasSpec::Token(token) | AliasSpec::Object { token } => {
            ResourceAlias { type_token: token }
        }
    }
}

fn object(package: &str, spec: ObjectSpec) -> ObjectType {
    ObjectType {
        properties: properties(package, spec.properties, &spec.required),
    }
}

/// Binds properties; `specs` is already sorted by name.
pub(crate) fn properties(
    package: &str,
    specs: BTreeMap<String, PropertySpec>,
    required: &[String],
) -> Properties {
    specs
        .into_iter()
        .map(|(name, spec)| {
            let is_required = required.contains(&name);
            (name.clone(), property(package, name, spec, is_required))
        })
        .collect()
}

fn property(package: &str, name: String, spec: PropertySpec, required: bool) -> Property {
    let ty = TypeSpec {
        kind: spec.kind,
        reference: spec.reference,
        items: spec.items,
        element: spec.element,
        one_of: spec.one_of,
        discriminator: spec.discriminator,
        plain: spec.plain,
    };
    Property {
        name,
        ty: bind_type(package, ty),
        required,
        constant: spec.constant.and_then(constant),
        default: spec.default.and_then(constant),
        default_info: spec
            .default_info
            .map(|DefaultInfoSpec { environment }| DefaultInfo { environment }),
        secret: spec.secret,
        replace_on_changes: spec.replace_on_changes,
        deprecation: spec.deprecation.filter(|text| !text.is_empty()),
        description: spec.description.filter(|text| !text.is_empty()),
    }
}

fn bind_type(package: &str, spec: TypeSpec) -> Type {
    let plain = spec.plain;
    Type {
        kind: bind_kind(package, spec),
        plain,
    }
}

/// Binds the kind of a type. `$ref` takes precedence over `oneOf`, and `oneOf` over `type`.
fn bind_kind(package: &str, spec: TypeSpec) -> TypeKind {
    let primitive = spec.kind.as_deref().and_then(Primitive::from_name);
    if let Some(text) = spec.reference {
        return reference::parse(&text, package, primitive);
    }
    if !spec.one_of.is_empty() {
        return TypeKind::Union(Box::new(Union {
            elements: spec
                .one_of
                .into_iter()
                .map(|element| bind_type(package, element))
                .collect(),
            default: primitive,
            discriminator: spec
                .discriminator
                .map(|discriminator| discriminator.property),
        }));
    }
    match (spec.kind.as_deref(), primitive) {
        (_, Some(primitive)) => TypeKind::Primitive(primitive),
        (Some("array"), None) => match spec.items {
            Some(items) => TypeKind::Array(Box::new(bind_type(package, *items))),
            None => TypeKind::Invalid,
        },
        (Some("object"), None) => {
            let string = || Type::new(TypeKind::Primitive(Primitive::String));
            TypeKind::Map(Box::new(
                spec.element
                    .map_or_else(string, |element| bind_type(package, *element)),
            ))
        }
        _ => TypeKind::Invalid,
    }
}

fn constant(value: serde_json::Value) -> Option<Constant> {
    match value {
        serde_json::Value::Bool(value) => Some(Constant::Bool(value)),
        serde_json::Value::Number(value) => value.as_f64().map(Constant::Number),
        serde_json::Value::String(value) => Some(Constant::String(value)),
        serde_json::Value::Null | serde_json::Value::Array(_) | serde_json::Value::Object(_) => {
            None
        }
    }
}
