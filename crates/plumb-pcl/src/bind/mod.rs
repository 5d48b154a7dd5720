//! From a tree to a program: names, functions and types are resolved, and what does not fit is told with its place.

mod calls;
mod expression;
mod options;

use std::collections::BTreeMap;

use ecow::EcoString;
use hcl_edit::structure::{Attribute, Body, Structure};
use plumb_eval::diagnostic::{Diagnostic, probably_meant};
use plumb_eval::source::Span;
use plumb_resource::Urn;

use crate::expression::Expr;
use crate::packages::Packages;
use crate::program::{Input, Options, Program, Reference, Resource};
use crate::syntax::{Parsed, span_of};
use crate::types::{Conversion, ResourceType, Type};

/// What a resource is called whose body is bound.
#[derive(Clone, Debug)]
pub struct ResourceHead {
    /// Its name.
    pub name: EcoString,
    /// Its type token, short or full.
    pub token: EcoString,
    /// Resources that the body may name, by what it calls them.
    pub references: BTreeMap<EcoString, Urn>,
}

impl Program {
    /// Binds the body of one resource. All problems come back, in the order of their places.
    pub fn bind(
        parsed: &Parsed,
        head: ResourceHead,
        packages: &Packages,
    ) -> Result<Program, Vec<Diagnostic>> {
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
            references: &references,
            variables: Vec::new(),
            diagnostics: Vec::new(),
        };
        let resource = binder.resource(head.name, &head.token, &parsed.body);
        let mut diagnostics = binder.diagnostics;
        if !diagnostics.is_empty() {
            diagnostics.sort_by_key(|it| it.span.map(|span| span.start));
            return Err(diagnostics);
        }
        Ok(Program {
            source: parsed.source.clone(),
            references,
            resource,
        })
    }

    /// Binds the inputs of `ty` alone: there are attributes, and nothing else.
    pub(crate) fn bind_inputs(
        parsed: &Parsed,
        ty: ResourceType,
        packages: &Packages,
    ) -> Result<Program, Vec<Diagnostic>> {
        let mut binder = Binder {
            packages,
            references: &[],
            variables: Vec::new(),
            diagnostics: Vec::new(),
        };
        for block in parsed.body.blocks() {
            let what = format!("a block '{}' cannot stand here", block.ident.as_str());
            binder.error(span_of(&block.ident), what);
        }
        let attributes: Vec<&Attribute> = parsed.body.attributes().collect();
        let inputs = binder.inputs(&attributes, Some(&ty));
        let mut diagnostics = binder.diagnostics;
        if !diagnostics.is_empty() {
            diagnostics.sort_by_key(|it| it.span.map(|span| span.start));
            return Err(diagnostics);
        }
        let token = ty.schema.token.as_str().into();
        Ok(Program {
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

/// The type of a resource that others registered; unknown where its package says nothing of it.
fn resource_type(packages: &Packages, token: &str) -> Option<ResourceType> {
    let package = packages.of_token(token)?;
    let schema = package.resource(package.resolve_resource(token).unwrap_or(token))?;
    Some(ResourceType {
        package: package.clone(),
        schema: schema.ok()?,
    })
}

struct Binder<'a> {
    packages: &'a Packages,
    references: &'a [Reference],
    /// Variables in scope, the innermost last.
    variables: Vec<(EcoString, Type)>,
    diagnostics: Vec<Diagnostic>,
}

impl Binder<'_> {
    fn error(&mut self, span: Span, summary: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(span, summary));
    }

    /// An error about the name `wrong`, with what was probably meant.
    fn wrong_name<'n>(
        &mut self,
        span: Span,
        summary: String,
        wrong: &str,
        known: impl Iterator<Item = &'n str>,
    ) {
        let diagnostic = Diagnostic::error(span, summary);
        self.diagnostics.push(match probably_meant(wrong, known) {
            Some(meant) => diagnostic.with_detail(format!("Did you mean '{meant}'?")),
            None => diagnostic,
        });
    }

    fn resource(&mut self, name: EcoString, token: &str, body: &Body) -> Resource {
        let (token, ty) = self.type_of_resource(token);
        let mut attributes = Vec::new();
        let mut blocks = Vec::new();
        for structure in body {
            match structure {
                Structure::Attribute(attribute) => attributes.push(attribute),
                Structure::Block(block) if block.has_ident("options") => blocks.push(block),
                Structure::Block(block) => {
                    let what = format!("a resource has no block '{}'", block.ident.as_str());
                    self.error(span_of(&block.ident), what);
                }
            }
        }
        if let Some(second) = blocks.get(1) {
            self.error(span_of(&second.ident), "a resource has one block 'options'");
        }
        // The range comes first: inputs and other options may name it.
        let mut options = Options::default();
        let block = blocks.first();
        if let Some(block) = block {
            options.range = self.range(&block.body);
        }
        let scope = options.range.as_ref().and_then(range_scope);
        self.variables.extend(scope);
        if let Some(block) = block {
            self.options(block, ty.as_ref(), &mut options);
        }
        let inputs = self.inputs(&attributes, ty.as_ref());
        self.variables.clear();
        Resource {
            name,
            token,
            ty,
            inputs,
            options,
        }
    }

    fn type_of_resource(&mut self, token: &str) -> (EcoString, Option<ResourceType>) {
        let Some(package) = self.packages.of_token(token).cloned() else {
            return (token.into(), None);
        };
        let full = package.resolve_resource(token).unwrap_or(token).to_owned();
        match package.resource(&full) {
            Some(Ok(schema)) => (full.into(), Some(ResourceType { package, schema })),
            Some(Err(error)) => {
                self.error(Span::default(), error.to_string());
                (full.into(), None)
            }
            None => {
                let known = package.resource_tokens();
                let summary = format!("unknown resource type '{token}'");
                self.wrong_name(Span::default(), summary, token, known);
                (full.into(), None)
            }
        }
    }

    fn inputs(&mut self, attributes: &[&Attribute], ty: Option<&ResourceType>) -> Vec<Input> {
        let mut inputs: Vec<Input> = Vec::with_capacity(attributes.len());
        for attribute in attributes {
            let name = attribute.key.as_str();
            let span = span_of(&attribute.key);
            if inputs.iter().any(|input| input.name == name) {
                self.error(span, format!("attribute '{name}' is set twice"));
            }
            let value = self.expression(&attribute.value);
            let ty = match ty {
                None => Type::Dynamic,
                Some(ty) => self.input_type(ty, name, span),
            };
            self.check(&ty, &value);
            inputs.push(Input {
                name: name.into(),
                span,
                value,
                ty,
            });
        }
        for property in ty
            .into_iter()
            .flat_map(|ty| ty.schema.input_properties.values())
        {
            let is_set = inputs.iter().any(|input| input.name == property.name);
            if property.required && property.constant.is_none() && !is_set {
                let summary = format!("missing required attribute '{}'", property.name);
                self.error(Span::default(), summary);
            }
        }
        inputs
    }

    fn input_type(&mut self, ty: &ResourceType, name: &str, span: Span) -> Type {
        if let Some(property) = ty.schema.input_properties.get(name) {
            return Type::of_property(&ty.package, property);
        }
        let known = ty.schema.input_properties.keys().map(String::as_str);
        self.wrong_name(span, format!("unsupported attribute '{name}'"), name, known);
        Type::Dynamic
    }

    /// Whether `value` can be what is wanted.
    fn check(&mut self, wanted: &Type, value: &Expr) {
        if wanted.conversion_from(&value.ty) == Conversion::None {
            let summary = format!(
                "cannot assign expression of type {} to location of type {wanted}",
                value.ty
            );
            self.error(value.span, summary);
        }
    }
}

/// The variable `range`, for the resources of a range of this type.
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
