//! Package schemas: the resources, functions and types of a package (`schema.md`).
//!
//! This crate knows the JSON form of a schema and its meaning. There are three readers:
//!
//! - [`PackageSchema`] is for packages used by a program. It indexes the members by token and binds each on first use, so
//!   that a schema of a hundred megabytes costs one scan of its text. It is tolerant: an invalid type becomes
//!   [`TypeKind::Invalid`], which is compatible with everything. Start with [`PackageSchema::parse`] and
//!   [`PackageSchema::resolve_resource`].
//! - [`SchemaIndex`] is for occasional lookups. It stores the positions of the members, so that the text need not be parsed.
//! - [`Document::read`] and [`bind()`] are for code generators. They bind a whole package strictly and report every
//!   [`Problem`] with its position. The result is a [`bound::Package`], which can be written back.
//!
//! The crate does not know where schemas come from ([`SchemaLoader`] and [`Packages`] are implemented elsewhere), and knows
//! nothing of languages or code generation.

mod bind;
pub mod bound;
mod builtin;
mod document;
mod error;
mod full;
mod index;
mod loader;
mod marshal;
mod package;
mod paths;
mod print;
mod problem;
mod reference;
mod shape;
mod spec;
mod token;
mod types;

pub use builtin::{PULUMI_PACKAGE, PULUMI_SCHEMA, pulumi_package};
pub use document::{Document, Format, Node};
pub use error::SchemaError;
pub use full::{BindOptions, Bound, NoPackages, Packages, bind};
pub use index::{MemberKind, SchemaIndex};
pub use loader::{PackageQuery, QueryParameterization, SchemaLoadError, SchemaLoader};
pub use package::{PackageSchema, Parameterization};
pub use print::Escapes;
pub use problem::{Problem, Severity};
pub use reference::{ExternalPackage, Reference, Section};
pub use types::{
    Constant, DefaultInfo, EnumType, EnumValue, Function, ObjectType, Primitive, Properties,
    Property, Resource, ResourceAlias, ReturnType, Type, TypeDefinition, TypeKind, Union,
};

/// JSON Schema of schema documents, for editors and other tools.
pub const METASCHEMA: &str = include_str!("../metaschema.json");
