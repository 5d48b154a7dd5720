//! Bound resources, and programs of snippets.

use std::sync::Arc;

use ecow::EcoString;
use plumb_eval::source::{SourceFile, Span};
use plumb_resource::Urn;

use crate::expression::Expr;
use crate::types::{ResourceType, Type};

/// Program of a snippet: one resource, with references to others.
#[derive(Clone, Debug)]
pub struct SnippetProgram {
    /// Source text.
    pub source: Arc<SourceFile>,
    /// Referenced resources.
    pub references: Vec<Reference>,
    /// The resource.
    pub resource: Resource,
}

/// A reference to a resource that another source registers.
#[derive(Clone, Debug)]
pub struct Reference {
    /// Name in the snippet.
    pub name: EcoString,
    /// URN of the resource.
    pub urn: Urn,
    /// Type of the resource.
    pub ty: Type,
}

/// A resource.
#[derive(Clone, Debug)]
pub struct Resource {
    /// Name of the registration.
    pub name: EcoString,
    /// Full type token.
    pub token: EcoString,
    /// Schema of the resource, if its package has one.
    pub ty: Option<ResourceType>,
    /// Inputs, in order.
    pub inputs: Vec<Input>,
    /// Options of the resource.
    pub options: Options,
}

/// An input of a resource.
#[derive(Clone, Debug)]
pub struct Input {
    /// Name of the input.
    pub name: EcoString,
    /// Position of the name.
    pub span: Span,
    /// Comments before the input, without comment markers.
    pub comments: Vec<String>,
    /// Value of the input.
    pub value: Expr,
    /// Type in the schema.
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
    /// hooks: names of hooks by hook type.
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
    /// A whole former URN.
    Urn(Expr),
    /// The parts of the identity that were different.
    Spec(Box<FormerIdentity>),
}

/// The parts of a former identity that were different.
#[derive(Clone, Debug)]
pub struct FormerIdentity {
    /// Former name.
    pub name: Option<Expr>,
    /// Former type.
    pub type_token: Option<Expr>,
    /// Whether the resource had no parent.
    pub no_parent: Option<Expr>,
    /// Former parent.
    pub parent: Option<Expr>,
}
