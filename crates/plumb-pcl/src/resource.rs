//! Bound resources, and the program of a snippet.

use std::sync::Arc;

use ecow::EcoString;
use plumb_eval::source::{SourceFile, Span};
use plumb_resource::Urn;

use crate::expression::Expr;
use crate::types::{ResourceType, Type};

/// The program of a snippet: one resource, and the resources that it refers to.
#[derive(Clone, Debug)]
pub struct SnippetProgram {
    /// Its text.
    pub source: Arc<SourceFile>,
    /// Resources that others register.
    pub references: Vec<Reference>,
    /// The resource.
    pub resource: Resource,
}

/// A resource that somebody else registers.
#[derive(Clone, Debug)]
pub struct Reference {
    /// What the program calls it.
    pub name: EcoString,
    /// Its URN.
    pub urn: Urn,
    /// Its type.
    pub ty: Type,
}

/// A resource.
#[derive(Clone, Debug)]
pub struct Resource {
    /// The name that it is registered under.
    pub name: EcoString,
    /// Its full type token.
    pub token: EcoString,
    /// Its schema, if its package has one.
    pub ty: Option<ResourceType>,
    /// Its inputs, in order.
    pub inputs: Vec<Input>,
    /// Its options.
    pub options: Options,
}

/// An input of a resource.
#[derive(Clone, Debug)]
pub struct Input {
    /// Its name.
    pub name: EcoString,
    /// Where the name stands.
    pub span: Span,
    /// Comments above it, without their marks.
    pub comments: Vec<String>,
    /// Its value.
    pub value: Expr,
    /// The type that is wanted.
    pub ty: Type,
}

/// Options of a resource (`codegen.md` 10.4). Lists of properties hold property paths.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// range
    pub range: Option<Expr>,
    /// aliases
    pub aliases: Vec<AliasExpr>,
    /// parent
    pub parent: Option<Expr>,
    /// provider
    pub provider: Option<Expr>,
    /// providers
    pub providers: Option<Expr>,
    /// dependsOn
    pub depends_on: Option<Expr>,
    /// deletedWith
    pub deleted_with: Option<Expr>,
    /// replaceWith
    pub replace_with: Option<Expr>,
    /// protect
    pub protect: Option<Expr>,
    /// retainOnDelete
    pub retain_on_delete: Option<Expr>,
    /// deleteBeforeReplace
    pub delete_before_replace: Option<Expr>,
    /// import
    pub import: Option<Expr>,
    /// version
    pub version: Option<Expr>,
    /// pluginDownloadURL
    pub download_url: Option<Expr>,
    /// customTimeouts
    pub custom_timeouts: Option<Expr>,
    /// replacementTrigger
    pub replacement_trigger: Option<Expr>,
    /// envVarMappings
    pub env_var_mappings: Option<Expr>,
    /// hooks: names of hooks by the moment at which they run.
    pub hooks: Vec<(EcoString, Expr)>,
    /// ignoreChanges
    pub ignore_changes: Vec<EcoString>,
    /// hideDiffs
    pub hide_diffs: Vec<EcoString>,
    /// replaceOnChanges
    pub replace_on_changes: Vec<EcoString>,
    /// additionalSecretOutputs
    pub additional_secret_outputs: Vec<EcoString>,
}

/// A former identity of a resource.
#[derive(Clone, Debug)]
pub enum AliasExpr {
    /// By URN.
    Urn(Expr),
    /// By what was different.
    Spec(Box<FormerIdentity>),
}

/// What was different about a resource.
#[derive(Clone, Debug)]
pub struct FormerIdentity {
    /// Former name.
    pub name: Option<Expr>,
    /// Former type.
    pub type_token: Option<Expr>,
    /// Whether it had no parent.
    pub no_parent: Option<Expr>,
    /// Former parent.
    pub parent: Option<Expr>,
}
