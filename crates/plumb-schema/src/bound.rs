//! A whole package in bound form, the input of code generators.
//!
//! All data is borrowed from the [`Document`](crate::Document) that the package was bound from. Members are sorted by token
//! and properties by name, so that generated output is deterministic. References within the package are indexes into its
//! lists.
//!
//! Types have a `plain` mark at each level, as in the schema. Whether a level may be an output depends on its position: in
//! *input* position every level without the mark may, in *plain* position none (`schema.md` 5.2).

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
    /// Information about the package for people.
    pub about: About<'d>,
    /// Address to download the plugin from, if it differs from the default.
    pub download_url: Option<&'d str>,
    /// Namespace that SDKs are published in.
    pub namespace: Option<&'d str>,
    /// Pattern that extracts the module from a token.
    pub(crate) module_format: ModuleFormat,
    /// Whether generated code contains versions.
    pub support_pack: bool,
    /// Package names, besides its own, with which tokens may begin.
    pub allowed_package_names: Vec<&'d str>,
    /// Language-specific settings.
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
    /// Packages that it declares as dependencies.
    pub dependencies: Vec<Dependency<'d>>,
    /// Description of the base package and the parameter, for a parameterized package.
    pub parameterization: Option<Parameterization<'d>>,
    /// Other packages in its references.
    pub externals: Vec<ExternalPackage>,
}

/// Equality by meaning of the schemas.
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

/// Information about a package for people.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct About<'d> {
    /// Name for people.
    pub display_name: Option<&'d str>,
    /// Description, in Markdown.
    pub description: Option<&'d str>,
    /// Search keywords.
    pub keywords: Vec<&'d str>,
    /// Home page.
    pub homepage: Option<&'d str>,
    /// Licence.
    pub license: Option<&'d str>,
    /// Attribution to the work that the package builds on.
    pub attribution: Option<&'d str>,
    /// Address of the sources.
    pub repository: Option<&'d str>,
    /// Address of the logo.
    pub logo_url: Option<&'d str>,
    /// Publisher.
    pub publisher: Option<&'d str>,
}

/// Language-specific settings.
#[derive(Clone, Copy, Debug, Default)]
pub struct Language<'d>(pub(crate) Option<&'d Node<'d>>);

impl<'d> Language<'d> {
    /// Settings for one language.
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

/// Base package and parameter of a parameterized package. Equality ignores members without a meaning.
#[derive(Clone, Debug)]
pub struct Parameterization<'d> {
    /// Name of the plugin, or of the package that is extended.
    pub base_name: &'d str,
    /// Version of the base.
    pub base_version: &'d str,
    /// The parameter, in base64.
    pub parameter: &'d str,
    /// Whether the package extends the base instead of replacing it.
    pub is_extension: bool,
    /// Description of the base of an extension, as written.
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

/// A declared dependency. Equality ignores members without a meaning.
#[derive(Clone, Debug)]
pub struct Dependency<'d> {
    /// Name of the package.
    pub name: &'d str,
    /// Version of the package.
    pub version: Option<&'d str>,
    /// The entry as written.
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

/// Another package in a reference.
#[derive(Clone, Debug)]
pub struct ExternalPackage {
    /// Name.
    pub name: String,
    /// Version.
    pub version: Option<semver::Version>,
    /// Schema of the package, if it was found.
    pub schema: Option<Arc<PackageSchema>>,
}

/// A type, and whether it excludes outputs in input position.
#[derive(Clone, Debug, PartialEq)]
pub struct Type<'d> {
    /// Kind of the type.
    pub kind: TypeKind<'d>,
    /// Whether this level is never an output.
    pub plain: bool,
}

/// Kinds of types.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeKind<'d> {
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
    /// Kind of an invalid type; compatible with everything.
    Invalid,
}

/// A union of types.
#[derive(Clone, Debug, PartialEq)]
pub struct Union<'d> {
    /// Elements, at least two.
    pub elements: Vec<Type<'d>>,
    /// Type to assume if nothing else decides.
    pub default: Option<Primitive>,
    /// Property that selects the element.
    pub discriminator: Option<Discriminator<'d>>,
}

/// A property whose value selects an element of a union.
#[derive(Clone, Debug, PartialEq)]
pub struct Discriminator<'d> {
    /// The property.
    pub property: &'d str,
    /// References by value of the property, sorted.
    pub mapping: Vec<(&'d str, &'d str)>,
}

/// A token without a definition.
#[derive(Clone, Debug, PartialEq)]
pub struct Opaque<'d> {
    /// The token.
    pub token: String,
    /// The reference as written.
    pub reference: &'d str,
    /// Type of the values.
    pub underlying: Option<Primitive>,
}

/// A member of another package.
#[derive(Clone, Debug, PartialEq)]
pub struct External {
    /// Position of the package in [`Package::externals`].
    pub package: usize,
    /// Section of the member.
    pub section: Section,
    /// The token.
    pub token: String,
    /// Type of the values, if the member is an enum. Known only with the package's schema.
    pub enum_type: Option<Primitive>,
    /// Type of the values of a token without a definition.
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
    /// Whether the property is required.
    pub required: bool,
    /// The only allowed value.
    pub constant: Option<Constant>,
    /// Default value.
    pub default: Option<Constant>,
    /// Further sources of the default.
    pub default_info: Option<Box<DefaultInfo<'d>>>,
    /// Reason for the deprecation.
    pub deprecation: Option<&'d str>,
    /// Language-specific settings.
    pub language: Language<'d>,
    /// Whether values are secret.
    pub secret: bool,
    /// Whether a change replaces the resource.
    pub replace_on_changes: bool,
    /// Whether a change replaces the resource; for documentation only.
    pub will_replace_on_changes: bool,
}

/// Sources of a default outside the schema.
#[derive(Clone, Debug, PartialEq)]
pub struct DefaultInfo<'d> {
    /// Environment variables; the first one that is set wins.
    pub environment: Vec<&'d str>,
    /// Language-specific settings.
    pub language: Language<'d>,
}

/// Marks of a member with a handwritten implementation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overlay<'d> {
    /// Whether no code is generated.
    pub is_overlay: bool,
    /// Languages with a handwritten implementation.
    pub languages: Vec<&'d str>,
}

/// An object type, named or inline.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object<'d> {
    /// Description, in Markdown.
    pub description: Option<&'d str>,
    /// Properties in name order.
    pub properties: Vec<Property<'d>>,
    /// Language-specific settings.
    pub language: Language<'d>,
    /// Marks of a handwritten implementation.
    pub overlay: Overlay<'d>,
}

/// A member of the section `types`.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeDefinition<'d> {
    /// Token.
    pub token: &'d str,
    /// Definition.
    pub shape: TypeShape<'d>,
}

/// Kinds of defined types.
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
    /// Marks of a handwritten implementation.
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
    /// Reason for the deprecation.
    pub deprecation: Option<&'d str>,
}

/// A resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource<'d> {
    /// Type token.
    pub token: Cow<'d, str>,
    /// Description, settings and outputs.
    pub outputs: Object<'d>,
    /// Inputs in name order.
    pub inputs: Vec<Property<'d>>,
    /// Properties that help to find an existing object.
    pub state_inputs: Option<Object<'d>>,
    /// Inputs for listing existing objects.
    pub list_inputs: Option<Object<'d>>,
    /// Former types.
    pub aliases: Vec<Alias<'d>>,
    /// Whether the resource is a remote component.
    pub is_component: bool,
    /// Reason for the deprecation.
    pub deprecation: Option<&'d str>,
    /// Methods by name.
    pub methods: Vec<Method<'d>>,
}

/// A former type of a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Alias<'d> {
    /// Former type token.
    pub token: &'d str,
    /// Whether the alias is written as an object in the schema.
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
    /// Arguments; `None` if there are none.
    pub inputs: Option<Object<'d>>,
    /// Names of positional arguments, in order.
    pub positional: Vec<&'d str>,
    /// Result.
    pub returns: Returns<'d>,
    /// Whether the result contains no outputs.
    pub returns_plain: bool,
    /// Whether there is a variant without outputs in arguments and result.
    pub plain: bool,
    /// Reason for the deprecation.
    pub deprecation: Option<&'d str>,
    /// Language-specific settings.
    pub language: Language<'d>,
    /// Marks of a handwritten implementation.
    pub overlay: Overlay<'d>,
    /// Whether the function is a method of a resource.
    pub is_method: bool,
}

/// Result of a function.
#[derive(Clone, Debug, PartialEq)]
pub enum Returns<'d> {
    /// No result.
    Nothing,
    /// An inline object.
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

/// The middle part of a token, unchanged.
pub fn runtime_module_of(token: &str) -> &str {
    token.split(':').nth(1).unwrap_or_default()
}
