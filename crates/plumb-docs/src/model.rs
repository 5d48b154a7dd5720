//! Model of a package's documentation, in which everything but the layout is decided.

use super::address::PageAt;
use super::description::Description;
use super::language::{PerLanguage, ProgramLanguage};

/// A page.
pub(crate) struct Page {
    pub(crate) at: PageAt,
    pub(crate) kind: Kind,
    pub(crate) title: String,
    /// Qualified title, such as `aws.s3.Bucket`.
    pub(crate) tag: String,
    pub(crate) token: Option<String>,
    /// One line of plain text.
    pub(crate) summary: String,
    pub(crate) names: PerLanguage<String>,
    /// Import statement in programs.
    pub(crate) imports: PerLanguage<String>,
    pub(crate) languages: Vec<ProgramLanguage>,
    pub(crate) deprecation: Option<String>,
    pub(crate) description: Description,
    pub(crate) body: Body,
    /// Resources and functions that use the type; only on the page of a type.
    pub(crate) users: Vec<Entry>,
}

/// Subject of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Package,
    Module,
    Provider,
    Resource,
    Component,
    Function,
    Object,
    Enum,
}

impl Kind {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Kind::Package => "package",
            Kind::Module => "module",
            Kind::Provider => "provider",
            Kind::Resource => "resource",
            Kind::Component => "component",
            Kind::Function => "function",
            Kind::Object => "type",
            Kind::Enum => "enum",
        }
    }
}

/// The contents of a page.
pub(crate) enum Body {
    Index(Index),
    Resource(Box<Resource>),
    Function(Box<Function>),
    Type(Box<TypeSection>),
}

/// Contents of a package or a module.
#[derive(Default)]
pub(crate) struct Index {
    pub(crate) modules: Vec<Entry>,
    pub(crate) resources: Vec<Entry>,
    pub(crate) functions: Vec<Entry>,
    pub(crate) types: Vec<Entry>,
    /// Settings; only on the page of the package.
    pub(crate) config: Vec<Property>,
}

/// An entry in a list of pages.
pub(crate) struct Entry {
    pub(crate) at: PageAt,
    pub(crate) name: String,
    pub(crate) summary: String,
    pub(crate) is_deprecated: bool,
}

pub(crate) struct Resource {
    pub(crate) constructors: PerLanguage<Vec<String>>,
    pub(crate) inputs: Vec<Property>,
    pub(crate) outputs: Vec<Property>,
    pub(crate) lookup: Option<Lookup>,
    pub(crate) methods: Vec<Method>,
    pub(crate) types: Vec<TypeSection>,
    /// Former tokens.
    pub(crate) aliases: Vec<String>,
}

/// Lookup of an existing resource.
pub(crate) struct Lookup {
    pub(crate) signatures: PerLanguage<Vec<String>>,
    pub(crate) state: Vec<Property>,
}

pub(crate) struct Function {
    pub(crate) plain: PerLanguage<Vec<String>>,
    pub(crate) output: PerLanguage<Vec<String>>,
    pub(crate) arguments: Vec<Property>,
    pub(crate) outcome: Outcome,
    pub(crate) types: Vec<TypeSection>,
}

/// Result of a function or a method.
pub(crate) enum Outcome {
    Nothing,
    Object(Vec<Property>),
    Value(TypeText),
}

pub(crate) struct Method {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) names: PerLanguage<String>,
    pub(crate) signatures: PerLanguage<Vec<String>>,
    pub(crate) description: Description,
    pub(crate) deprecation: Option<String>,
    pub(crate) arguments: Vec<Property>,
    pub(crate) outcome: Outcome,
}

/// A nested type.
pub(crate) struct TypeSection {
    pub(crate) at: PageAt,
    pub(crate) id: String,
    pub(crate) name: String,
    /// Class names; several in languages that have one for inputs and one for outputs.
    pub(crate) names: PerLanguage<String>,
    pub(crate) description: Description,
    pub(crate) shape: Shape,
}

pub(crate) enum Shape {
    Object(Vec<Property>),
    Enum {
        underlying: &'static str,
        members: Vec<Member>,
    },
}

/// A value of an enum.
pub(crate) struct Member {
    /// JSON text of the value.
    pub(crate) value: String,
    pub(crate) names: PerLanguage<String>,
    pub(crate) description: Description,
    pub(crate) deprecation: Option<String>,
}

/// A type in each language, and in the neutral form of schemas.
pub(crate) struct TypeText {
    pub(crate) neutral: String,
    pub(crate) texts: PerLanguage<String>,
    pub(crate) links: Vec<TypeLink>,
}

/// A page that a type refers to, with the name by which the type mentions it.
pub(crate) struct TypeLink {
    pub(crate) at: PageAt,
    pub(crate) neutral: String,
    pub(crate) texts: PerLanguage<String>,
}

pub(crate) struct Property {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) names: PerLanguage<String>,
    pub(crate) ty: TypeText,
    pub(crate) description: Description,
    pub(crate) deprecation: Option<String>,
    pub(crate) is_required: bool,
    pub(crate) is_input: bool,
    pub(crate) is_secret: bool,
    pub(crate) is_replace_on_changes: bool,
    /// JSON text of the constant.
    pub(crate) constant: Option<String>,
    /// JSON text of the default.
    pub(crate) default: Option<String>,
    /// Environment variables that provide the default.
    pub(crate) environment: Vec<String>,
}
