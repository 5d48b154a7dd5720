//! Binding: resolves names, functions and types of a syntax tree, and reports errors with their positions.

mod calls;
mod component;
mod expression;
mod options;
mod program;
mod types;

use std::collections::BTreeMap;

use ecow::EcoString;
use hcl_edit::Decorate as _;
use hcl_edit::structure::{Attribute, Block, BlockLabel, Body};
use plumb_eval::diagnostic::{Diagnostic, Severity, probably_meant};
use plumb_eval::source::Span;
use plumb_resource::Urn;

use crate::expression::Expr;
use crate::load::comments;
use crate::packages::Packages;
use crate::program::Leniency;
use crate::resource::{Input, Options, Reference, Resource, SnippetProgram};
use crate::syntax::{Parsed, span_of};
use crate::types::{Conversion, ResourceType, Type};
use program::Definitions;
pub(crate) use program::program;

/// Name and type of the resource whose body is bound.
#[derive(Clone, Debug)]
pub struct ResourceHead {
    /// Name of the resource.
    pub name: EcoString,
    /// Type token, short or full.
    pub token: EcoString,
    /// Resources that the body may refer to, by identifier.
    pub references: BTreeMap<EcoString, Urn>,
}

impl SnippetProgram {
    /// Binds the body of one resource. Returns all problems, sorted by position.
    pub fn bind(
        parsed: &Parsed,
        head: ResourceHead,
        packages: &Packages,
    ) -> Result<SnippetProgram, Vec<Diagnostic>> {
        let references: Vec<Reference> = head
            .references
            .into_iter()
            .map(|(name, urn)| Reference {
                ty: Type::Resource(resource_type(packages, urn.type_text())),
                name,
                urn,
            })
            .collect();
        let mut binder = Binder {
            packages,
            names: Names::References(&references),
            variables: Vec::new(),
            leniency: Leniency::NONE,
            diagnostics: Vec::new(),
        };
        let resource = binder.resource(&ResourceText {
            name: head.name,
            token: &head.token,
            at: Span::default(),
            body: &parsed.body,
            is_read: false,
        });
        let mut diagnostics = binder.diagnostics;
        if !diagnostics.is_empty() {
            diagnostics.sort_by_key(|it| it.span.map(|span| span.start));
            return Err(diagnostics);
        }
        Ok(SnippetProgram {
            source: parsed.source.clone(),
            references,
            resource,
        })
    }

    /// Binds the inputs of `ty`, in a body with only attributes.
    pub(crate) fn bind_inputs(
        parsed: &Parsed,
        ty: ResourceType,
        packages: &Packages,
    ) -> Result<SnippetProgram, Vec<Diagnostic>> {
        let mut binder = Binder {
            packages,
            names: Names::References(&[]),
            variables: Vec::new(),
            leniency: Leniency::NONE,
            diagnostics: Vec::new(),
        };
        for block in parsed.body.blocks() {
            let what = format!("a block '{}' cannot stand here", block.ident.as_str());
            binder.error(span_of(&block.ident), what);
        }
        let attributes: Vec<&Attribute> = parsed.body.attributes().collect();
        let inputs = binder.inputs(&attributes, Some(&ty), Span::default());
        let mut diagnostics = binder.diagnostics;
        if !diagnostics.is_empty() {
            diagnostics.sort_by_key(|it| it.span.map(|span| span.start));
            return Err(diagnostics);
        }
        let token = ty.schema.token.as_str().into();
        Ok(SnippetProgram {
            source: parsed.source.clone(),
            references: Vec::new(),
            resource: Resource {
                name: EcoString::new(),
                token,
                ty: Some(ty),
                inputs,
                options: Options::default(),
            },
        })
    }
}

/// Type of a resource that another source registers; `None` if its package has no schema for it.
fn resource_type(packages: &Packages, token: &str) -> Option<ResourceType> {
    let package = packages.of_token(token)?;
    let schema = package.resource(package.resolve_resource(token).unwrap_or(token))?;
    Some(ResourceType {
        package: package.clone(),
        schema: schema.ok()?,
    })
}

/// Source of names.
enum Names<'a> {
    /// Resources registered by other sources.
    References(&'a [Reference]),
    /// Definitions of the program.
    Definitions(Definitions<'a>),
}

/// Syntax of a resource.
struct ResourceText<'t> {
    name: EcoString,
    token: &'t str,
    /// Position of the token.
    at: Span,
    body: &'t Body,
    /// Whether the resource is read by its id.
    is_read: bool,
}

impl<'t> ResourceText<'t> {
    /// Syntax of a block, whose second label is the token.
    fn new(block: &'t Block, name: &EcoString, is_read: bool) -> Self {
        let token = block.labels.get(1);
        ResourceText {
            name: name.clone(),
            token: token.map(BlockLabel::as_str).unwrap_or_default(),
            at: token.map(span_of).unwrap_or_default(),
            body: &block.body,
            is_read,
        }
    }
}

struct Binder<'a> {
    packages: &'a Packages,
    names: Names<'a>,
    /// Variables in scope, the innermost last.
    variables: Vec<(EcoString, Type)>,
    leniency: Leniency,
    diagnostics: Vec<Diagnostic>,
}

impl Binder<'_> {
    fn error(&mut self, span: Span, summary: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(span, summary));
    }

    /// Reports an error, or a warning if such mistakes are accepted.
    fn mistake(&mut self, is_accepted: bool, diagnostic: Diagnostic) {
        let severity = if is_accepted {
            Severity::Warning
        } else {
            Severity::Error
        };
        self.diagnostics.push(Diagnostic {
            severity,
            ..diagnostic
        });
    }

    /// Error for the unknown name `wrong`, with a suggestion.
    fn wrong_name<'n>(
        &mut self,
        span: Span,
        summary: String,
        wrong: &str,
        known: impl Iterator<Item = &'n str>,
    ) {
        let diagnostic = Diagnostic::error(span, summary);
        let diagnostic = match probably_meant(wrong, known) {
            Some(meant) => diagnostic.with_detail(format!("Did you mean '{meant}'?")),
            None => diagnostic,
        };
        self.mistake(self.leniency.properties, diagnostic);
    }

    fn missing(&mut self, name: &str, span: Span) {
        let summary = format!("missing required attribute '{name}'");
        self.mistake(self.leniency.properties, Diagnostic::error(span, summary));
    }

    fn resource(&mut self, text: &ResourceText<'_>) -> Resource {
        let (token, ty) = self.type_of_resource(text.token, text.at);
        let (attributes, block) = self.parts(text.body, text.is_read);
        // The range is bound first, because inputs and other options may refer to it.
        let mut options = Options::default();
        if let Some(block) = block {
            options.range = self.range(&block.body);
        }
        let scope = options.range.as_ref().and_then(range_scope);
        self.variables.extend(scope);
        if let Some(block) = block {
            self.options(block, ty.as_ref(), &mut options);
        }
        let inputs = if text.is_read {
            self.state(&attributes, ty.as_ref())
        } else {
            self.inputs(&attributes, ty.as_ref(), text.at)
        };
        self.variables.clear();
        Resource {
            name: text.name.clone(),
            token,
            ty,
            inputs,
            options,
        }
    }

    fn type_of_resource(&mut self, token: &str, at: Span) -> (EcoString, Option<ResourceType>) {
        let parts = token.split(':').count();
        if !(2..=3).contains(&parts) {
            self.error(at, format!("'{token}' is no type token"));
            return (token.into(), None);
        }
        let Some(package) = self.packages.of_token(token).cloned() else {
            return (token.into(), None);
        };
        let full = package.resolve_resource(token).unwrap_or(token).to_owned();
        match package.resource(&full) {
            Some(Ok(schema)) => (full.into(), Some(ResourceType { package, schema })),
            Some(Err(error)) => {
                self.error(at, error.to_string());
                (full.into(), None)
            }
            None => {
                let known = package.resource_tokens();
                let summary = format!("unknown resource type '{token}'");
                let diagnostic = Diagnostic::error(at, summary);
                let diagnostic = match probably_meant(token, known) {
                    Some(meant) => diagnostic.with_detail(format!("Did you mean '{meant}'?")),
                    None => diagnostic,
                };
                self.mistake(self.leniency.unknown_types, diagnostic);
                (full.into(), None)
            }
        }
    }

    fn inputs(
        &mut self,
        attributes: &[&Attribute],
        ty: Option<&ResourceType>,
        at: Span,
    ) -> Vec<Input> {
        let mut inputs: Vec<Input> = Vec::with_capacity(attributes.len());
        for attribute in attributes {
            let name = attribute.key.as_str();
            let span = span_of(&attribute.key);
            if inputs.iter().any(|input| input.name == name) {
                self.error(span, format!("attribute '{name}' is set twice"));
            }
            let ty = match ty {
                None => Type::Dynamic,
                Some(ty) => self.input_type(ty, name, span),
            };
            inputs.push(self.input(attribute, ty));
        }
        for property in ty
            .into_iter()
            .flat_map(|ty| ty.schema.input_properties.values())
        {
            let is_set = inputs.iter().any(|input| input.name == property.name);
            if property.required && property.constant.is_none() && !is_set {
                self.missing(&property.name, at);
            }
        }
        inputs
    }

    /// Properties of a resource that is read.
    fn state(&mut self, attributes: &[&Attribute], ty: Option<&ResourceType>) -> Vec<Input> {
        let mut inputs = Vec::with_capacity(attributes.len());
        for attribute in attributes {
            let name = attribute.key.as_str();
            let known = ty.and_then(|ty| {
                let state = ty.schema.state_inputs.as_ref();
                let property = state.and_then(|it| it.get(name));
                let property = property.or_else(|| ty.schema.properties.get(name))?;
                Some(Type::of_property(&ty.package, property))
            });
            let wanted = match (known, ty) {
                (Some(known), _) => known,
                (None, None) => Type::Dynamic,
                (None, Some(ty)) => {
                    let known = ty.schema.properties.keys().map(String::as_str);
                    let summary = format!("unsupported attribute '{name}'");
                    self.wrong_name(span_of(&attribute.key), summary, name, known);
                    Type::Dynamic
                }
            };
            inputs.push(self.input(attribute, wanted));
        }
        inputs
    }

    fn input(&mut self, attribute: &Attribute, ty: Type) -> Input {
        let value = self.expression(&attribute.value);
        self.check(&ty, &value);
        Input {
            name: attribute.key.as_str().into(),
            span: span_of(&attribute.key),
            comments: comments(attribute.decor().prefix()),
            value,
            ty,
        }
    }

    fn input_type(&mut self, ty: &ResourceType, name: &str, span: Span) -> Type {
        if let Some(property) = ty.schema.input_properties.get(name) {
            return Type::of_property(&ty.package, property);
        }
        let known = ty.schema.input_properties.keys().map(String::as_str);
        self.wrong_name(span, format!("unsupported attribute '{name}'"), name, known);
        Type::Dynamic
    }

    /// Checks that `value` can be assigned to the type `wanted`.
    fn check(&mut self, wanted: &Type, value: &Expr) {
        if wanted.conversion_from(&value.ty) == Conversion::None {
            let summary = format!(
                "cannot assign expression of type {} to location of type {wanted}",
                value.ty
            );
            let diagnostic = Diagnostic::error(value.span, summary);
            self.mistake(self.leniency.properties, diagnostic);
        }
    }
}

/// The variable `range` for resources with a range of this type.
fn range_scope(range: &Expr) -> Option<(EcoString, Type)> {
    let field = |name: &str, ty| crate::types::Field {
        name: name.into(),
        ty,
        required: true,
    };
    let (key, value) = match range.ty.expand() {
        Type::Bool => return None,
        Type::Int | Type::Number => (Type::Int, Type::Int),
        Type::List(_) | Type::Tuple(_) => (Type::Int, range.ty.element()),
        Type::Map(_) | Type::Object(_) => (Type::String, range.ty.element()),
        _ => (Type::Dynamic, Type::Dynamic),
    };
    let fields = vec![field("key", key), field("value", value)];
    Some(("range".into(), Type::Object(fields)))
}
