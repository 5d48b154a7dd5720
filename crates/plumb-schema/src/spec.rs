//! The serialised form of a schema, as far as it is used.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::value::RawValue;

/// A document with its members as unparsed text.
#[derive(Deserialize)]
pub(crate) struct Document<'a> {
    #[serde(default)]
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) version: Option<String>,
    #[serde(default)]
    pub(crate) description: Option<String>,
    #[serde(default)]
    pub(crate) namespace: Option<String>,
    #[serde(default, rename = "pluginDownloadURL")]
    pub(crate) download_url: Option<String>,
    #[serde(default)]
    pub(crate) meta: Option<Meta>,
    #[serde(default, rename = "allowedPackageNames")]
    pub(crate) allowed_package_names: Vec<String>,
    #[serde(default, borrow)]
    pub(crate) config: Option<&'a RawValue>,
    #[serde(default, borrow)]
    pub(crate) provider: Option<&'a RawValue>,
    #[serde(default, borrow)]
    pub(crate) types: IndexMap<String, &'a RawValue>,
    #[serde(default, borrow)]
    pub(crate) resources: IndexMap<String, &'a RawValue>,
    #[serde(default, borrow)]
    pub(crate) functions: IndexMap<String, &'a RawValue>,
    #[serde(default)]
    pub(crate) parameterization: Option<ParameterizationSpec>,
}

/// The language-specific settings of a document.
#[derive(Deserialize)]
pub(crate) struct LanguageBlocks {
    #[serde(default)]
    pub(crate) language: BTreeMap<String, serde_json::Value>,
}

#[derive(Deserialize, Default)]
pub(crate) struct Meta {
    #[serde(default, rename = "moduleFormat")]
    pub(crate) module_format: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct ParameterizationSpec {
    #[serde(rename = "baseProvider")]
    pub(crate) base: BaseProvider,
    #[serde(default)]
    pub(crate) parameter: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct BaseProvider {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) version: Option<String>,
}

#[derive(Deserialize, Default)]
pub(crate) struct ConfigSpec {
    #[serde(default)]
    pub(crate) variables: BTreeMap<String, PropertySpec>,
    /// Names of the required variables, in spite of the key's name.
    #[serde(default)]
    pub(crate) defaults: Vec<String>,
}

#[derive(Deserialize, Default)]
pub(crate) struct TypeSpec {
    #[serde(default, rename = "type")]
    pub(crate) kind: Option<String>,
    #[serde(default, rename = "$ref")]
    pub(crate) reference: Option<String>,
    #[serde(default)]
    pub(crate) items: Option<Box<TypeSpec>>,
    #[serde(default, rename = "additionalProperties")]
    pub(crate) element: Option<Box<TypeSpec>>,
    #[serde(default, rename = "oneOf")]
    pub(crate) one_of: Vec<TypeSpec>,
    #[serde(default)]
    pub(crate) discriminator: Option<DiscriminatorSpec>,
    #[serde(default)]
    pub(crate) plain: bool,
}

#[derive(Deserialize)]
pub(crate) struct DiscriminatorSpec {
    #[serde(default, rename = "propertyName")]
    pub(crate) property: String,
}

/// A property: the keys of a type and further ones. The keys of the type are repeated because flattening is slow.
#[derive(Deserialize, Default)]
pub(crate) struct PropertySpec {
    #[serde(default, rename = "type")]
    pub(crate) kind: Option<String>,
    #[serde(default, rename = "$ref")]
    pub(crate) reference: Option<String>,
    #[serde(default)]
    pub(crate) items: Option<Box<TypeSpec>>,
    #[serde(default, rename = "additionalProperties")]
    pub(crate) element: Option<Box<TypeSpec>>,
    #[serde(default, rename = "oneOf")]
    pub(crate) one_of: Vec<TypeSpec>,
    #[serde(default)]
    pub(crate) discriminator: Option<DiscriminatorSpec>,
    #[serde(default)]
    pub(crate) plain: bool,
    #[serde(default, rename = "const")]
    pub(crate) constant: Option<serde_json::Value>,
    #[serde(default)]
    pub(crate) default: Option<serde_json::Value>,
    #[serde(default, rename = "defaultInfo")]
    pub(crate) default_info: Option<DefaultInfoSpec>,
    #[serde(default)]
    pub(crate) secret: bool,
    #[serde(default, rename = "replaceOnChanges")]
    pub(crate) replace_on_changes: bool,
    #[serde(default, rename = "deprecationMessage")]
    pub(crate) deprecation: Option<String>,
    #[serde(default)]
    pub(crate) description: Option<String>,
}

#[derive(Deserialize, Default)]
pub(crate) struct DefaultInfoSpec {
    #[serde(default)]
    pub(crate) environment: Vec<String>,
}

#[derive(Deserialize, Default)]
pub(crate) struct ObjectSpec {
    #[serde(default)]
    pub(crate) properties: BTreeMap<String, PropertySpec>,
    #[serde(default)]
    pub(crate) required: Vec<String>,
}

/// A member of `types`: an object or an enum.
#[derive(Deserialize)]
pub(crate) struct ComplexTypeSpec {
    #[serde(default, rename = "type")]
    pub(crate) kind: Option<String>,
    #[serde(default)]
    pub(crate) properties: BTreeMap<String, PropertySpec>,
    #[serde(default)]
    pub(crate) required: Vec<String>,
    #[serde(default, rename = "enum")]
    pub(crate) values: Option<Vec<EnumValueSpec>>,
}

#[derive(Deserialize)]
pub(crate) struct EnumValueSpec {
    #[serde(default)]
    pub(crate) name: Option<String>,
    #[serde(default)]
    pub(crate) value: serde_json::Value,
}

#[derive(Deserialize, Default)]
pub(crate) struct ResourceSpec {
    #[serde(default)]
    pub(crate) properties: BTreeMap<String, PropertySpec>,
    #[serde(default)]
    pub(crate) required: Vec<String>,
    #[serde(default, rename = "inputProperties")]
    pub(crate) input_properties: BTreeMap<String, PropertySpec>,
    #[serde(default, rename = "requiredInputs")]
    pub(crate) required_inputs: Vec<String>,
    #[serde(default, rename = "stateInputs")]
    pub(crate) state_inputs: Option<ObjectSpec>,
    #[serde(default, rename = "listInputs")]
    pub(crate) list_inputs: Option<ObjectSpec>,
    #[serde(default)]
    pub(crate) aliases: Vec<AliasSpec>,
    #[serde(default, rename = "isComponent")]
    pub(crate) is_component: bool,
    #[serde(default)]
    pub(crate) methods: IndexMap<String, String>,
    #[serde(default, rename = "deprecationMessage")]
    pub(crate) deprecation: Option<String>,
    #[serde(default)]
    pub(crate) description: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum AliasSpec {
    Token(String),
    Object {
        #[serde(rename = "type")]
        token: String,
    },
}

#[derive(Deserialize)]
pub(crate) struct FunctionSpec<'a> {
    #[serde(default)]
    pub(crate) inputs: Option<ObjectSpec>,
    #[serde(default, borrow)]
    pub(crate) outputs: Option<&'a RawValue>,
    #[serde(default, rename = "multiArgumentInputs")]
    pub(crate) positional: Vec<String>,
    /// Whether there is a variant with a plain result.
    #[serde(default)]
    pub(crate) plain: Option<bool>,
    #[serde(default, rename = "deprecationMessage")]
    pub(crate) deprecation: Option<String>,
    #[serde(default)]
    pub(crate) description: Option<String>,
}

/// The key that distinguishes an inline object from a type.
#[derive(Deserialize)]
pub(crate) struct HasProperties<'a> {
    #[serde(default, borrow)]
    pub(crate) properties: Option<&'a RawValue>,
}
