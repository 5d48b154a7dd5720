//! A whole package, bound: what generators work on.
//!
//! Everything borrows from the [`Document`](crate::Document) that it was bound from. Members are sorted by token and
//! properties by name, so that whatever walks over them comes out the same everywhere. References within the package are
//! positions in its lists.
//!
//! Types are kept as the schema has them, with the mark `plain` at each level. Whether a level may be an output is a matter
//! of position: in *input* position every level without the mark may, in *plain* position none (`schema.md` 5.2).

use std::borrow::Cow;
use std::sync::Arc;

use crate::document::Node;
use crate::package::PackageSchema;
use crate::print;
use crate::reference::Section;
use crate::token::ModuleFormat;
use crate::types::{Constant, Primitive};

/// A package.
#[derive(Debug)]
pub struct Package<'d> {
    /// Name.
    pub name: &'d str,
    /// Version, if the schema has one.
    pub version: Option<semver::Version>,
    /// What people want to know about the package.
    pub about: About<'d>,
    /// Where to download the plugin from, if not from the usual places.
    pub download_url: Option<&'d str>,
    /// Namespace that SDKs are published in.
    pub namespace: Option<&'d str>,
    /// How modules are taken out of tokens.
    pub(crate) module_format: ModuleFormat,
    /// Whether versions are written into what is generated.
    pub support_pack: bool,
    /// Package names other than its own that tokens may begin with.
    pub allowed_package_names: Vec<&'d str>,
    /// Blocks for languages.
    pub language: Language<'d>,
    /// Settings.
    pub config: Vec<Property<'d>>,
    /// Objects and enums.
    pub types: Vec<TypeDefinition<'d>>,
    /// The provider resource. Packages that extend another one have none.
    pub provider: Option<Resource<'d>>,
    /// Resources.
    pub resources: Vec<Resource<'d>>,
    /// Functions, methods among them.
    pub functions: Vec<Function<'d>>,
    /// Packages that it says it needs.
    pub dependencies: Vec<Dependency<'d>>,
    /// How it is made from another package.
    pub parameterization: Option<Parameterization<'d>>,
    /// Packages that it refers to.
    pub externals: Vec<ExternalPackage>,
}

/// Two packages are equal when their schemas mean the same.
impl PartialEq for Package<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.version == other.version
            && self.about == other.about
            && self.download_url == other.download_url
            && self.namespace == other.namespace
            && self.module_format.pattern() == other.module_format.pattern()
            && self.support_pack == other.support_pack
            && self.allowed_package_names == other.allowed_package_names
            && self.language == other.language
            && self.config == other.config
            && self.types == other.types
            && self.provider == other.provider
            && self.resources == other.resources
            && self.functions == other.functions
            && self.dependencies == other.dependencies
            && self.parameterization == other.parameterization
            && self.externals.len() == other.externals.len()
    }
}

/// What people want to know about a package.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct About<'d> {
    /// Name for people.
    pub display_name: Option<&'d str>,
    /// Description, in Markdown.
    pub description: Option<&'d str>,
    /// Words to find it by.
    pub keywords: Vec<&'d str>,
    /// Home page.
    pub homepage: Option<&'d str>,
    /// Licence.
    pub license: Option<&'d str>,
    /// On whose work it is built.
    pub attribution: Option<&'d str>,
    /// Where its sources are.
    pub repository: Option<&'d str>,
    /// Picture.
    pub logo_url: Option<&'d str>,
    /// Who publishes it.
    pub publisher: Option<&'d str>,
}

/// Blocks that only one language reads.
#[derive(Clone, Copy, Debug, Default)]
pub struct Language<'d>(pub(crate) Option<&'d Node<'d>>);

impl<'d> Language<'d> {
    /// The block of one language.
    pub fn get(&self, language: &str) -> Option<&'d Node<'d>> {
        self.0.and_then(|node| node.get(language))
    }
}

impl PartialEq for Language<'_> {
    fn eq(&self, other: &Self) -> bool {
        let own = self.0.map(print::sorted).unwrap_or_default();
        own == other.0.map(print::sorted).unwrap_or_default()
    }
}

/// How a package is made from another one. Two are equal if they say the same: members that mean nothing are not compared.
#[derive(Clone, Debug)]
pub struct Parameterization<'d> {
    /// Name of the plugin, or of the package that is extended.
    pub base_name: &'d str,
    /// Its version.
    pub base_version: &'d str,
    /// The parameter, in base64.
    pub parameter: &'d str,
    /// Whether the package adds to the base instead of taking its place.
    pub is_extension: bool,
    /// The description of the base of an extension, as it is.
    pub(crate) spec: &'d Node<'d>,
}

impl PartialEq for Parameterization<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.base_name == other.base_name
            && self.base_version == other.base_version
            && self.parameter == other.parameter
            && self.is_extension == other.is_extension
    }
}

/// A package that another one says it needs. Two are equal if they say the same.
#[derive(Clone, Debug)]
pub struct Dependency<'d> {
    /// Name of the package.
    pub name: &'d str,
    /// Its version.
    pub version: Option<&'d str>,
    /// The entry as it is.
    pub(crate) spec: &'d Node<'d>,
}

impl PartialEq for Dependency<'_> {
    fn eq(&self, other: &Self) -> bool {
        let parameter = |it: &Self| {
            let spec = it.spec.get("parameterization")?;
            let members = ["name", "version", "value"];
            Some(members.map(|member| spec.get(member).cloned()))
        };
        self.name == other.name
            && self.version == other.version
            && parameter(self) == parameter(other)
    }
}

/// A package that references point into.
#[derive(Clone, Debug)]
pub struct ExternalPackage {
    /// Name.
    pub name: String,
    /// Version.
    pub version: Option<semver::Version>,
    /// Its schema, when there is one.
    pub schema: Option<Arc<PackageSchema>>,
}

/// A type and whether it must be given without outputs in input position.
#[derive(Clone, Debug, PartialEq)]
pub struct Type<'d> {
    /// What it is.
    pub kind: TypeKind<'d>,
    /// Whether this level is never an output.
    pub plain: bool,
}

/// Kinds of types.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeKind<'d> {
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
    Array(Box<Type<'d>>),
    /// A map from strings.
    Map(Box<Type<'d>>),
    /// One of several types.
    Union(Box<Union<'d>>),
    /// An object or enum of this package, by its position in [`Package::types`].
    Defined(usize),
    /// A resource of this package, by its position in [`Package::resources`].
    Resource(usize),
    /// The provider resource of this package.
    Provider,
    /// A token without a definition.
    Opaque(Box<Opaque<'d>>),
    /// A member of another package.
    External(Box<External>),
    /// The schema makes no sense here; goes with everything.
    Invalid,
}

/// A choice of types.
#[derive(Clone, Debug, PartialEq)]
pub struct Union<'d> {
    /// The choices, at least two.
    pub elements: Vec<Type<'d>>,
    /// Type to assume when nothing else decides.
    pub default: Option<Primitive>,
    /// What tells which element is meant.
    pub discriminator: Option<Discriminator<'d>>,
}

/// A property whose value tells which element of a union is meant.
#[derive(Clone, Debug, PartialEq)]
pub struct Discriminator<'d> {
    /// The property.
    pub property: &'d str,
    /// From its values to references, by value.
    pub mapping: Vec<(&'d str, &'d str)>,
}

/// A token without a definition.
#[derive(Clone, Debug, PartialEq)]
pub struct Opaque<'d> {
    /// The token.
    pub token: String,
    /// The reference as it is written.
    pub reference: &'d str,
    /// Type of the values.
    pub underlying: Option<Primitive>,
}

/// A member of another package.
#[derive(Clone, Debug, PartialEq)]
pub struct External {
    /// Position of the package in [`Package::externals`].
    pub package: usize,
    /// Which section.
    pub section: Section,
    /// The token.
    pub token: String,
    /// Whether it is an enum, which only its schema tells.
    pub enum_type: Option<Primitive>,
    /// Type of the values, for tokens that are defined nowhere.
    pub underlying: Option<Primitive>,
}

/// A property.
#[derive(Clone, Debug, PartialEq)]
pub struct Property<'d> {
    /// Name.
    pub name: &'d str,
    /// Description, in Markdown.
    pub description: Option<&'d str>,
    /// Type; its mark `plain` is that of the property.
    pub ty: Type<'d>,
    /// Whether it must be there.
    pub required: bool,
    /// The only value.
    pub constant: Option<Constant>,
    /// The value when none is given.
    pub default: Option<Constant>,
    /// Other places for the default.
    pub default_info: Option<Box<DefaultInfo<'d>>>,
    /// Why not to use it.
    pub deprecation: Option<&'d str>,
    /// Blocks for languages.
    pub language: Language<'d>,
    /// Whether values are secret.
    pub secret: bool,
    /// Whether a change replaces the resource.
    pub replace_on_changes: bool,
    /// Whether a change replaces the resource, for readers only.
    pub will_replace_on_changes: bool,
}

/// Where a default comes from, apart from the schema.
#[derive(Clone, Debug, PartialEq)]
pub struct DefaultInfo<'d> {
    /// Environment variables, the first that is set wins.
    pub environment: Vec<&'d str>,
    /// Blocks for languages.
    pub language: Language<'d>,
}

/// What generators are to do with a member that somebody writes by hand.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overlay<'d> {
    /// Whether nothing is to be generated.
    pub is_overlay: bool,
    /// Languages for which it is written.
    pub languages: Vec<&'d str>,
}

/// An object type, by name or in place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object<'d> {
    /// Description, in Markdown.
    pub description: Option<&'d str>,
    /// Properties in name order.
    pub properties: Vec<Property<'d>>,
    /// Blocks for languages.
    pub language: Language<'d>,
    /// Whether it is written by hand.
    pub overlay: Overlay<'d>,
}

/// A member of the section `types`.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeDefinition<'d> {
    /// Token.
    pub token: &'d str,
    /// What it is.
    pub shape: TypeShape<'d>,
}

/// What a defined type is.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeShape<'d> {
    /// An object.
    Object(Object<'d>),
    /// An enum.
    Enum(EnumType<'d>),
}

/// An enum type.
#[derive(Clone, Debug, PartialEq)]
pub struct EnumType<'d> {
    /// Description, in Markdown.
    pub description: Option<&'d str>,
    /// Type of the values.
    pub underlying: Primitive,
    /// Values in order of declaration.
    pub values: Vec<EnumValue<'d>>,
    /// Whether it is written by hand.
    pub overlay: Overlay<'d>,
}

/// One value of an enum.
#[derive(Clone, Debug, PartialEq)]
pub struct EnumValue<'d> {
    /// Name, if it differs from the value.
    pub name: Option<&'d str>,
    /// Description, in Markdown.
    pub description: Option<&'d str>,
    /// The value.
    pub value: Constant,
    /// Why not to use it.
    pub deprecation: Option<&'d str>,
}

/// A resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource<'d> {
    /// Type token.
    pub token: Cow<'d, str>,
    /// Description, blocks and outputs.
    pub outputs: Object<'d>,
    /// Inputs in name order.
    pub inputs: Vec<Property<'d>>,
    /// Properties that help to find an existing object.
    pub state_inputs: Option<Object<'d>>,
    /// Inputs for listing existing objects.
    pub list_inputs: Option<Object<'d>>,
    /// Former types.
    pub aliases: Vec<Alias<'d>>,
    /// Whether it is a component that the provider constructs.
    pub is_component: bool,
    /// Why not to use it.
    pub deprecation: Option<&'d str>,
    /// Methods by name.
    pub methods: Vec<Method<'d>>,
}

/// A former type of a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Alias<'d> {
    /// Former type token.
    pub token: &'d str,
    /// Whether it was written as an object.
    pub as_object: bool,
}

/// A method of a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Method<'d> {
    /// Name.
    pub name: &'d str,
    /// Position in [`Package::functions`].
    pub function: usize,
}

/// A function or method.
#[derive(Clone, Debug, PartialEq)]
pub struct Function<'d> {
    /// Token.
    pub token: &'d str,
    /// Description, in Markdown.
    pub description: Option<&'d str>,
    /// Arguments; `None` when it takes none.
    pub inputs: Option<Object<'d>>,
    /// Names of the arguments in order, when they are passed by position.
    pub positional: Vec<&'d str>,
    /// Result.
    pub returns: Returns<'d>,
    /// Whether the result comes without outputs.
    pub returns_plain: bool,
    /// Whether there is a variant that takes and gives values without outputs.
    pub plain: bool,
    /// Why not to use it.
    pub deprecation: Option<&'d str>,
    /// Blocks for languages.
    pub language: Language<'d>,
    /// Whether it is written by hand.
    pub overlay: Overlay<'d>,
    /// Whether it is a method of some resource.
    pub is_method: bool,
}

/// Result of a function.
#[derive(Clone, Debug, PartialEq)]
pub enum Returns<'d> {
    /// Nothing.
    Nothing,
    /// An object described in place.
    Object(Object<'d>),
    /// Any other type.
    Value(Type<'d>),
}

impl Package<'_> {
    /// The module that `token` belongs to; empty for the root module (`schema.md` 11).
    pub fn module_of(&self, token: &str) -> String {
        self.module_format.module_of(token)
    }

    /// The token of the provider resource.
    pub fn provider_token(&self) -> String {
        format!("pulumi:providers:{}", self.name)
    }
}

/// The last part of a token.
pub fn member_of(token: &str) -> &str {
    token.rsplit(':').next().unwrap_or(token)
}

/// The middle part of a token, as it is.
pub fn runtime_module_of(token: &str) -> &str {
    token.split(':').nth(1).unwrap_or_default()
}
