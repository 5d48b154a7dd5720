//! The bound form of schema members.

use indexmap::IndexMap;

use crate::reference::Reference;

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub struct Type {
    /// What it is.
    pub kind: TypeKind,
    /// In input position: whether the value must be given without outputs.
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
    /// Anything.
    Any,
    /// Anything, sent as JSON text.
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
    /// The schema makes no sense here; goes with everything.
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

/// A choice of types.
#[derive(Clone, Debug, PartialEq)]
pub struct Union {
    /// The choices, at least two in valid schemas.
    pub elements: Vec<Type>,
    /// Type to assume when nothing else decides.
    pub default: Option<Primitive>,
    /// Property whose value tells which element is meant.
    pub discriminator: Option<String>,
}

/// A constant or default: only scalars are possible.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(f64),
    /// A string.
    String(String),
}

/// Where a default comes from, apart from the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefaultInfo {
    /// Environment variables, the first that is set wins.
    pub environment: Vec<String>,
}

/// A property of an object, a resource or a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    /// Name.
    pub name: String,
    /// Type.
    pub ty: Type,
    /// Whether it must be there.
    pub required: bool,
    /// The only value.
    pub constant: Option<Constant>,
    /// The value when none is given.
    pub default: Option<Constant>,
    /// Other places for the default.
    pub default_info: Option<DefaultInfo>,
    /// Whether values are secret.
    pub secret: bool,
    /// Whether a change replaces the resource.
    pub replace_on_changes: bool,
    /// Why not to use it.
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
    /// Inputs for listing existing objects; `None` where they cannot be listed.
    pub list_inputs: Option<Properties>,
    /// Former types.
    pub aliases: Vec<ResourceAlias>,
    /// Whether it is a component that the provider constructs.
    pub is_component: bool,
    /// Function tokens by method name.
    pub methods: IndexMap<String, String>,
    /// Why not to use it.
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
    /// Arguments; `None` when it takes none.
    pub inputs: Option<ObjectType>,
    /// Result.
    pub returns: ReturnType,
    /// Names of the arguments when they are passed by position.
    pub positional_inputs: Vec<String>,
    /// Why not to use it.
    pub deprecation: Option<String>,
    /// Description, in Markdown.
    pub description: Option<String>,
}

/// Result of a function.
#[derive(Clone, Debug, PartialEq)]
pub enum ReturnType {
    /// Nothing.
    None,
    /// An object described in place.
    Object(ObjectType),
    /// Any other type; on the wire the single property of the result.
    Value(Type),
}
