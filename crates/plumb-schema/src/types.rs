//! Bound form of schema members.

use indexmap::IndexMap;

use crate::reference::Reference;

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub struct Type {
    /// Kind of the type.
    pub kind: TypeKind,
    /// Whether outputs are excluded in input position.
    pub plain: bool,
}

impl Type {
    /// A type that is not marked as plain.
    pub fn new(kind: TypeKind) -> Self {
        Type { kind, plain: false }
    }
}

/// Kinds of types.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeKind {
    /// One of the four primitives.
    Primitive(Primitive),
    /// Any value.
    Any,
    /// Any value, sent as JSON text.
    Json,
    /// An asset; archives are accepted too.
    Asset,
    /// An archive.
    Archive,
    /// A list.
    Array(Box<Type>),
    /// A map from strings.
    Map(Box<Type>),
    /// One of several types.
    Union(Box<Union>),
    /// An object, enum or resource by reference.
    Reference(Reference),
    /// Kind of an invalid type; compatible with everything.
    Invalid,
}

/// Primitive types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Primitive {
    /// `boolean`.
    Bool,
    /// `integer`, 32 bits.
    Integer,
    /// `number`, a double.
    Number,
    /// `string`.
    String,
}

impl Primitive {
    /// The primitive called `name` in schemas.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "boolean" => Primitive::Bool,
            "integer" => Primitive::Integer,
            "number" => Primitive::Number,
            "string" => Primitive::String,
            _ => return None,
        })
    }

    /// The name in schemas.
    pub fn name(self) -> &'static str {
        match self {
            Primitive::Bool => "boolean",
            Primitive::Integer => "integer",
            Primitive::Number => "number",
            Primitive::String => "string",
        }
    }
}

/// A union of types.
#[derive(Clone, Debug, PartialEq)]
pub struct Union {
    /// Elements, at least two in valid schemas.
    pub elements: Vec<Type>,
    /// Type to assume if nothing else decides.
    pub default: Option<Primitive>,
    /// Property whose value selects the element.
    pub discriminator: Option<String>,
}

/// A constant or default, always a scalar.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(f64),
    /// A string.
    String(String),
}

/// Sources of a default outside the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefaultInfo {
    /// Environment variables; the first one that is set wins.
    pub environment: Vec<String>,
}

/// A property of an object, a resource or a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    /// Name.
    pub name: String,
    /// Type.
    pub ty: Type,
    /// Whether the property is required.
    pub required: bool,
    /// The only allowed value.
    pub constant: Option<Constant>,
    /// Default value.
    pub default: Option<Constant>,
    /// Further sources of the default.
    pub default_info: Option<DefaultInfo>,
    /// Whether values are secret.
    pub secret: bool,
    /// Whether a change replaces the resource.
    pub replace_on_changes: bool,
    /// Reason for the deprecation.
    pub deprecation: Option<String>,
    /// Description, in Markdown.
    pub description: Option<String>,
}

/// Properties by name, in name order.
pub type Properties = IndexMap<String, Property>;

/// An object type.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjectType {
    /// Properties by name, in name order.
    pub properties: Properties,
}

/// An enum type.
#[derive(Clone, Debug, PartialEq)]
pub struct EnumType {
    /// Type of the values.
    pub underlying: Primitive,
    /// Values in order of declaration.
    pub values: Vec<EnumValue>,
}

/// One value of an enum.
#[derive(Clone, Debug, PartialEq)]
pub struct EnumValue {
    /// Name, if it differs from the value.
    pub name: Option<String>,
    /// The value.
    pub value: Constant,
}

/// A member of the `types` section.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeDefinition {
    /// An object.
    Object(ObjectType),
    /// An enum.
    Enum(EnumType),
}

/// A resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// Type token.
    pub token: String,
    /// Outputs.
    pub properties: Properties,
    /// Inputs.
    pub input_properties: Properties,
    /// Properties that help to find an existing object.
    pub state_inputs: Option<Properties>,
    /// Inputs for listing existing objects; `None` if they cannot be listed.
    pub list_inputs: Option<Properties>,
    /// Former types.
    pub aliases: Vec<ResourceAlias>,
    /// Whether the resource is a remote component.
    pub is_component: bool,
    /// Function tokens by method name.
    pub methods: IndexMap<String, String>,
    /// Reason for the deprecation.
    pub deprecation: Option<String>,
    /// Description, in Markdown.
    pub description: Option<String>,
}

impl Resource {
    /// Outputs that the schema marks as secret, in name order.
    pub fn secret_outputs(&self) -> impl Iterator<Item = &str> {
        self.properties
            .values()
            .filter(|property| property.secret)
            .map(|property| property.name.as_str())
    }
}

/// A former type of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceAlias {
    /// Former type token.
    pub type_token: String,
}

/// A function or method.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Token.
    pub token: String,
    /// Arguments; `None` if there are none.
    pub inputs: Option<ObjectType>,
    /// Result.
    pub returns: ReturnType,
    /// Whether the result is a plain value even where arguments may be outputs.
    pub returns_plain: bool,
    /// Whether the only variant is the one that accepts and returns outputs.
    pub is_output_only: bool,
    /// Names of positional arguments, in order.
    pub positional_inputs: Vec<String>,
    /// Reason for the deprecation.
    pub deprecation: Option<String>,
    /// Description, in Markdown.
    pub description: Option<String>,
}

/// Result of a function.
#[derive(Clone, Debug, PartialEq)]
pub enum ReturnType {
    /// No result.
    None,
    /// An inline object.
    Object(ObjectType),
    /// Any other type; on the wire the single property of the result.
    Value(Type),
}
