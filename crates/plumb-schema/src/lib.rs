//! Package schemas: what resources, functions and types a package has (`schema.md`).
//!
//! This crate knows the JSON form of a schema and its meaning, in three ways:
//!
//! - For packages that a program merely uses, [`PackageSchema`] indexes the members by token and binds each on first use,
//!   so that a schema of a hundred megabytes costs one scan of its text. That is tolerant: what makes no sense becomes
//!   [`TypeKind::Invalid`], which goes with everything. Start with [`PackageSchema::parse`] and
//!   [`PackageSchema::resolve_resource`].
//! - For whoever looks up a member now and then, [`SchemaIndex`] keeps where they stand, so that the text need not be read.
//! - For a package that something is made from, [`Document::read`] and [`bind()`] bind the whole of it strictly, and tell all
//!   that is wrong, each [`Problem`] with its place. What comes out is a [`bound::Package`], which can be written back.
//!
//! It does not know where schemas come from ([`SchemaLoader`] and [`Packages`] are implemented elsewhere), languages, or
//! code generation.

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

/// The rules of schema documents as a JSON Schema, for editors and other tools.
pub const METASCHEMA: &str = include_str!("../metaschema.json");
