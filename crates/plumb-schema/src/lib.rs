//! Package schemas: what resources, functions and types a package has (`schema.md`).
//!
//! This crate knows the JSON form of a schema and its meaning: [`PackageSchema`] indexes the members of a package by
//! token and binds each on first use, so that a schema of a hundred megabytes costs one scan of its text. It does not
//! know where schemas come from ([`SchemaLoader`] is implemented elsewhere), languages, or code generation.
//!
//! Binding is tolerant, as it is for packages that a program merely uses: what makes no sense becomes
//! [`TypeKind::Invalid`], which goes with everything.
//!
//! Start with [`PackageSchema::parse`] and [`PackageSchema::resolve_resource`].

mod bind;
mod builtin;
mod error;
mod loader;
mod package;
mod paths;
mod reference;
mod spec;
mod token;
mod types;

pub use builtin::pulumi_package;
pub use error::SchemaError;
pub use loader::{PackageQuery, QueryParameterization, SchemaLoadError, SchemaLoader};
pub use package::{PackageSchema, Parameterization};
pub use reference::{ExternalPackage, Reference, Section};
pub use types::{
    Constant, DefaultInfo, EnumType, EnumValue, Function, ObjectType, Primitive, Properties,
    Property, Resource, ResourceAlias, ReturnType, Type, TypeDefinition, TypeKind, Union,
};
