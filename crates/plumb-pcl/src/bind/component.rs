//! Binding of components, whose folders are programs.

use std::sync::Arc;

use hcl_edit::structure::{Attribute, Block, BlockLabel};
use plumb_eval::source::Span;

use super::program::{bind_folder, output_fields};
use super::{Binder, Names, range_scope};
use crate::load::folder_below;
use crate::program::{Component, ComponentSource, DefinitionKind, Program};
use crate::resource::{Input, Options};
use crate::syntax::span_of;
use crate::types::Type;

impl Binder<'_> {
    pub(super) fn component(&mut self, block: &Block, name: &str) -> (DefinitionKind, Type) {
        let folder = block.labels.get(1);
        let token = block.body.get_attribute("token");
        let (source, fields) = match (folder, token) {
            (Some(label), None) => match self.component_program(label) {
                Some(program) => {
                    let fields = output_fields(&program);
                    (ComponentSource::Program(Arc::new(program)), fields)
                }
                None => return (DefinitionKind::Unusable, Type::Dynamic),
            },
            (None, Some(token)) => {
                let text = token.value.as_str().unwrap_or_default();
                if text.split(':').count() != 3 {
                    let at = span_of(&token.value);
                    self.error(at, format!("'{text}' is no type token"));
                }
                (ComponentSource::Token(text.into()), Vec::new())
            }
            _ => {
                let summary = format!("component '{name}' needs either a folder or a `token`");
                self.error(span_of(&block.ident), summary);
                return (DefinitionKind::Unusable, Type::Dynamic);
            }
        };
        let (attributes, options) = self.parts(&block.body, false);
        let attributes: Vec<&Attribute> = attributes
            .into_iter()
            .filter(|it| !it.has_key("token"))
            .collect();
        let mut bound = Options::default();
        if let Some(block) = options {
            bound.range = self.range(&block.body);
            self.variables
                .extend(bound.range.as_ref().and_then(range_scope));
            self.options(block, None, &mut bound);
        }
        let inputs = match &source {
            ComponentSource::Token(_) => self.inputs(&attributes, None, span_of(&block.ident)),
            ComponentSource::Program(program) => {
                let at = span_of(&block.ident);
                self.component_inputs(&attributes, program, at)
            }
        };
        let one = Type::Component(Arc::new(fields));
        let ty = match &bound.range {
            None => one,
            Some(range) => match range.ty.expand() {
                Type::Bool => Type::Union(vec![one, Type::None]),
                Type::Map(_) | Type::Object(_) => Type::Map(Box::new(one)),
                _ => Type::List(Box::new(one)),
            },
        };
        let component = Component {
            source,
            inputs,
            options: bound,
        };
        (DefinitionKind::Component(Box::new(component)), ty)
    }

    fn component_program(&mut self, label: &BlockLabel) -> Option<Program> {
        let Names::Definitions(definitions) = &self.names else {
            return None;
        };
        let own = definitions
            .around
            .last()
            .map(String::as_str)
            .unwrap_or_default();
        let found = folder_below(own, label.as_str()).filter(|it| {
            definitions
                .folders
                .get(it)
                .is_some_and(|files| !files.is_empty())
        });
        let Some(folder) = found else {
            let summary = format!("there are no files with PCL in '{}'", label.as_str());
            self.error(span_of(label), summary);
            return None;
        };
        if definitions.around.contains(&folder) {
            let summary = "a component cannot be made of a program that it is part of";
            self.error(span_of(label), summary);
            return None;
        }
        let (folders, around) = (definitions.folders, definitions.around.clone());
        let bound = bind_folder(&folder, &around, folders, self.packages, self.leniency);
        if let Names::Definitions(definitions) = &mut self.names {
            // A folder shared by several components is bound once for each, with the same problems.
            for problem in bound.problems {
                let is_known = definitions.problems.iter().any(|it| {
                    it.source.name == problem.source.name && it.diagnostic == problem.diagnostic
                });
                if !is_known {
                    definitions.problems.push(problem);
                }
            }
        }
        Some(bound.program)
    }

    fn component_inputs(
        &mut self,
        attributes: &[&Attribute],
        program: &Program,
        at: Span,
    ) -> Vec<Input> {
        let config = |name: &str| {
            program.definitions.iter().find_map(|it| match &it.kind {
                DefinitionKind::Config(config) if it.logical_name == name => Some(config),
                _ => None,
            })
        };
        let mut inputs = Vec::with_capacity(attributes.len());
        for attribute in attributes {
            let name = attribute.key.as_str();
            let ty = if let Some(config) = config(name) {
                Type::Union(vec![config.ty.clone(), Type::None])
            } else {
                let known = program.definitions.iter();
                let known = known
                    .filter(|it| matches!(it.kind, DefinitionKind::Config(_)))
                    .map(|it| it.logical_name.as_str());
                let summary = format!("unsupported attribute '{name}'");
                self.wrong_name(span_of(&attribute.key), summary, name, known);
                Type::Dynamic
            };
            inputs.push(self.input(attribute, ty));
        }
        for definition in &program.definitions {
            let name = definition.logical_name.as_str();
            let is_set = attributes.iter().any(|it| it.key.as_str() == name);
            if let DefinitionKind::Config(config) = &definition.kind
                && config.is_required()
                && !is_set
            {
                self.missing(name, at);
            }
        }
        inputs
    }
}
