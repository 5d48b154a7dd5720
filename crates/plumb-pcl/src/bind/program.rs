//! Binding of whole programs: definitions are bound after those whose types they need (`codegen.md` 11.2).
//!
//! 1. Every structure of every file becomes an entry with its name; duplicate names are reported.
//! 2. Entries are bound in source order. A reference to an unbound entry binds that entry first; a reference to an
//!    entry being bound is a cycle, which is an error.
//! 3. The folder of a component is bound in the same way together with the component.

use std::collections::BTreeMap;
use std::sync::Arc;

use ecow::EcoString;
use hcl_edit::Decorate as _;
use hcl_edit::expr::Expression;
use hcl_edit::structure::{Attribute, Block, BlockLabel, Body, Structure};
use plumb_eval::diagnostic::Diagnostic;
use plumb_eval::source::{SourceFile, Span};

use super::{Binder, Names, ResourceText};
use crate::expression::Expr;
use crate::load::{comments, structures};
use crate::packages::Packages;
use crate::program::{Config, Definition, DefinitionKind, Hook, Leniency, Problem, Program, Read};
use crate::syntax::{Parsed, span_of};
use crate::types::{Field, Type};

/// A bound program with its problems.
pub(crate) struct BoundProgram {
    pub(crate) program: Program,
    pub(crate) problems: Vec<Problem>,
}

/// Binds the program in the root folder of `folders`.
pub(crate) fn program(
    folders: &BTreeMap<String, Vec<Parsed>>,
    packages: &Packages,
    leniency: Leniency,
) -> BoundProgram {
    bind_folder("", &[], folders, packages, leniency)
}

pub(super) fn bind_folder(
    folder: &str,
    outer: &[String],
    folders: &BTreeMap<String, Vec<Parsed>>,
    packages: &Packages,
    leniency: Leniency,
) -> BoundProgram {
    let mut around = outer.to_vec();
    around.push(folder.to_owned());
    let files = folders.get(folder).map(Vec::as_slice).unwrap_or_default();
    let mut definitions = Definitions {
        folders,
        around,
        entries: Vec::new(),
        requirement: None,
        source: None,
        problems: Vec::new(),
    };
    for file in files {
        definitions.enter(file);
    }
    let count = definitions.entries.len();
    let mut binder = Binder {
        packages,
        names: Names::Definitions(definitions),
        variables: Vec::new(),
        leniency,
        diagnostics: Vec::new(),
    };
    for position in 0..count {
        binder.bind_entry(position);
    }
    let required_version = binder.requirement();
    let Names::Definitions(definitions) = binder.names else {
        unreachable!("the names of a program are its definitions");
    };
    BoundProgram {
        program: Program {
            folder: folder.to_owned(),
            required_version,
            packages: packages.known().cloned().collect(),
            definitions: definitions
                .entries
                .into_iter()
                .filter_map(|entry| match entry.state {
                    State::Bound(definition) => Some(*definition),
                    State::Waiting | State::Binding => None,
                })
                .collect(),
        },
        problems: definitions.problems,
    }
}

/// Definitions of a program that is being bound.
pub(super) struct Definitions<'a> {
    pub(super) folders: &'a BTreeMap<String, Vec<Parsed>>,
    /// Folders of this program and of the enclosing ones.
    pub(super) around: Vec<String>,
    entries: Vec<Entry<'a>>,
    /// Required range of engine versions, and its file.
    requirement: Option<(&'a Attribute, Arc<SourceFile>)>,
    /// File for diagnostics.
    source: Option<Arc<SourceFile>>,
    pub(super) problems: Vec<Problem>,
}

struct Entry<'a> {
    name: EcoString,
    is_output: bool,
    structure: &'a Structure,
    source: Arc<SourceFile>,
    state: State,
}

enum State {
    Waiting,
    Binding,
    Bound(Box<Definition>),
}

impl<'a> Definitions<'a> {
    fn enter(&mut self, file: &'a Parsed) {
        for structure in structures(file) {
            let Some((name, at)) = defined_name(structure) else {
                self.without_name(structure, file);
                continue;
            };
            let is_output =
                matches!(structure, Structure::Block(block) if block.has_ident("output"));
            let is_taken = self
                .entries
                .iter()
                .any(|it| it.name == name && it.is_output == is_output);
            if is_taken {
                let summary = format!("'{name}' is defined twice");
                self.problems.push(Problem {
                    source: file.source.clone(),
                    diagnostic: Diagnostic::error(at, summary),
                });
                continue;
            }
            self.entries.push(Entry {
                name: name.into(),
                is_output,
                structure,
                source: file.source.clone(),
                state: State::Waiting,
            });
        }
    }

    /// Handles a structure without a name: a setting of the whole program, or an error.
    fn without_name(&mut self, structure: &'a Structure, file: &Parsed) {
        let Structure::Block(block) = structure else {
            return;
        };
        let summary = match block.ident.as_str() {
            "package" => return,
            "pulumi" => {
                if let Some(range) = block.body.get_attribute("requiredVersionRange") {
                    self.requirement = Some((range, file.source.clone()));
                    return;
                }
                "a `pulumi` block needs a `requiredVersionRange`".to_owned()
            }
            "resource" | "read" => {
                format!("a `{}` block needs a name and a type", block.ident.as_str())
            }
            "config" | "output" | "component" => {
                format!("a `{}` block needs a name", block.ident.as_str())
            }
            "hook" => "a `hook` block needs a kind and a name".to_owned(),
            other => format!("programs have no `{other}` blocks"),
        };
        self.problems.push(Problem {
            source: file.source.clone(),
            diagnostic: Diagnostic::error(span_of(&block.ident), summary),
        });
    }

    /// Index of the definition called `name`; other definitions take precedence over outputs.
    fn find(&self, name: &str) -> Option<usize> {
        let named = |is_output: bool| {
            let mut entries = self.entries.iter();
            entries.position(|it| it.name == name && it.is_output == is_output)
        };
        named(false).or_else(|| named(true))
    }

    pub(super) fn known_names(&self) -> Vec<EcoString> {
        self.entries.iter().map(|it| it.name.clone()).collect()
    }
}

/// Name defined by a structure, and its position.
fn defined_name(structure: &Structure) -> Option<(String, Span)> {
    let label = |label: &BlockLabel| (label.as_str().to_owned(), span_of(label));
    match structure {
        Structure::Attribute(it) => Some((it.key.as_str().to_owned(), span_of(&it.key))),
        Structure::Block(block) => match (block.ident.as_str(), block.labels.as_slice()) {
            ("config" | "output" | "component", [name, ..])
            | ("resource" | "read", [name, _])
            | ("hook", [_, name]) => Some(label(name)),
            _ => None,
        },
    }
}

impl Binder<'_> {
    /// Index and type of the definition called `name`, which is bound if necessary.
    pub(super) fn definition(&mut self, name: &str, span: Span) -> Option<(usize, Type)> {
        let Names::Definitions(definitions) = &self.names else {
            return None;
        };
        let position = definitions.find(name)?;
        self.bind_entry(position);
        let Names::Definitions(definitions) = &self.names else {
            return None;
        };
        match &definitions.entries[position].state {
            State::Bound(definition) => Some((position, definition.ty.clone())),
            State::Waiting | State::Binding => {
                self.error(span, format!("'{name}' refers to itself, by way of others"));
                Some((position, Type::Dynamic))
            }
        }
    }

    fn bind_entry(&mut self, position: usize) {
        let Names::Definitions(definitions) = &mut self.names else {
            return;
        };
        let entry = &mut definitions.entries[position];
        if !matches!(entry.state, State::Waiting) {
            return;
        }
        entry.state = State::Binding;
        let (structure, source) = (entry.structure, entry.source.clone());
        let name = entry.name.clone();
        let outer = self.turn_to(Some(source.clone()));
        let variables = std::mem::take(&mut self.variables);
        let (kind, ty) = self.kind(structure, &name);
        self.variables = variables;
        self.turn_to(outer);
        let (above, logical, span) = match structure {
            Structure::Attribute(it) => (it.decor().prefix(), None, span_of(it)),
            Structure::Block(it) => {
                let logical = it.body.get_attribute("__logicalName");
                let logical = logical.and_then(|it| it.value.as_str());
                (it.decor().prefix(), logical, span_of(it))
            }
        };
        let definition = Definition {
            logical_name: logical.map_or_else(|| name.clone(), EcoString::from),
            name,
            comments: comments(above),
            source,
            span,
            ty,
            kind,
        };
        if let Names::Definitions(definitions) = &mut self.names {
            definitions.entries[position].state = State::Bound(Box::new(definition));
        }
    }

    fn requirement(&mut self) -> Option<Expr> {
        let Names::Definitions(definitions) = &self.names else {
            return None;
        };
        let (range, source) = definitions.requirement.clone()?;
        let outer = self.turn_to(Some(source));
        let range = self.expression(&range.value);
        self.check(&Type::String, &range);
        self.turn_to(outer);
        Some(range)
    }

    /// Sets the file for diagnostics; returns the previous one.
    fn turn_to(&mut self, source: Option<Arc<SourceFile>>) -> Option<Arc<SourceFile>> {
        let Names::Definitions(definitions) = &mut self.names else {
            return None;
        };
        if let Some(source) = &definitions.source {
            let found = self.diagnostics.drain(..).map(|diagnostic| Problem {
                source: source.clone(),
                diagnostic,
            });
            definitions.problems.extend(found);
        }
        std::mem::replace(&mut definitions.source, source)
    }

    fn kind(&mut self, structure: &Structure, name: &EcoString) -> (DefinitionKind, Type) {
        let block = match structure {
            Structure::Attribute(attribute) => {
                let value = self.expression(&attribute.value);
                let ty = value.ty.clone();
                return (DefinitionKind::Local(value), ty);
            }
            Structure::Block(block) => block,
        };
        match block.ident.as_str() {
            "config" => self.config(block),
            "output" => self.output(block),
            "component" => self.component(block, name),
            "hook" => self.hook(block),
            "read" => self.read(block, name),
            _ => self.resource_block(block, name),
        }
    }

    fn config(&mut self, block: &Block) -> (DefinitionKind, Type) {
        let known = [
            "default",
            "description",
            "nullable",
            "secret",
            "__logicalName",
        ];
        self.only_attributes(block, &known);
        let mut default = self.value_of(block, "default");
        let written = block
            .labels
            .get(1)
            .map(|label| (label.as_str(), span_of(label)));
        let is_null = default.as_ref().is_some_and(|it| it.ty == Type::None);
        let mut ty = match (written, &default) {
            (Some((text, span)), _) => self.config_type(text, span),
            (None, Some(default)) if !is_null => default.ty.clone(),
            _ => Type::Dynamic,
        };
        if let (Type::Tuple(_), None) = (&ty, written) {
            ty = Type::List(Box::new(ty.element()));
        }
        let is_optional = matches!(&ty, Type::Union(types) if types.contains(&Type::None));
        let ty = ty.without_none();
        if let Some(default) = default.as_ref().filter(|_| !is_null) {
            self.check(&ty, default);
        }
        if is_null {
            default = None;
        }
        let flag = |key: &str| {
            let value = block.body.get_attribute(key).map(|it| &it.value);
            matches!(value, Some(Expression::Bool(value)) if *value.value())
        };
        let description = block.body.get_attribute("description");
        let config = Config {
            description: description
                .and_then(|it| it.value.as_str())
                .map(EcoString::from),
            is_nullable: is_null || is_optional || flag("nullable"),
            is_secret: flag("secret"),
            default,
            ty,
        };
        let ty = if config.is_nullable && config.default.is_none() {
            Type::Union(vec![config.ty.clone(), Type::None])
        } else {
            config.ty.clone()
        };
        (DefinitionKind::Config(Box::new(config)), ty)
    }

    fn output(&mut self, block: &Block) -> (DefinitionKind, Type) {
        self.only_attributes(block, &["value", "description", "secret", "__logicalName"]);
        let Some(value) = self.value_of(block, "value") else {
            self.error(span_of(&block.ident), "an `output` block needs a `value`");
            return (DefinitionKind::Unusable, Type::Dynamic);
        };
        if let Some(label) = block.labels.get(1) {
            let wanted = self.config_type(label.as_str(), span_of(label));
            self.check(&wanted, &value);
        }
        let ty = value.ty.clone();
        (DefinitionKind::Output(value), ty)
    }

    fn hook(&mut self, block: &Block) -> (DefinitionKind, Type) {
        self.only_attributes(block, &["command", "onDryRun", "ignoreErrors"]);
        let kind = block.labels.first().map(BlockLabel::as_str);
        let is_for_errors = match kind {
            Some("error") => true,
            Some("resource") => false,
            _ => {
                self.error(
                    span_of(&block.ident),
                    "a hook is of the kind `resource` or `error`",
                );
                false
            }
        };
        let args = hook_arguments(is_for_errors);
        self.variables.push(("args".into(), args));
        let command = self.value_of(block, "command");
        self.variables.clear();
        let Some(command) = command else {
            self.error(span_of(&block.ident), "a `hook` block needs a `command`");
            return (DefinitionKind::Unusable, Type::Dynamic);
        };
        let hook = Hook {
            is_for_errors,
            command,
            on_dry_run: self.value_of(block, "onDryRun"),
            ignore_errors: self.value_of(block, "ignoreErrors"),
        };
        (DefinitionKind::Hook(Box::new(hook)), Type::Dynamic)
    }

    fn value_of(&mut self, block: &Block, key: &str) -> Option<Expr> {
        let attribute = block.body.get_attribute(key)?;
        Some(self.expression(&attribute.value))
    }

    fn only_attributes(&mut self, block: &Block, known: &[&str]) {
        for structure in &block.body {
            match structure {
                Structure::Attribute(it) if known.contains(&it.key.as_str()) => {}
                Structure::Attribute(it) => {
                    let name = it.key.as_str();
                    let summary = format!("unsupported attribute '{name}'");
                    let known = known.iter().copied().filter(|it| !it.starts_with('_'));
                    self.wrong_name(span_of(&it.key), summary, name, known);
                }
                Structure::Block(it) => {
                    let summary = format!("unsupported block '{}'", it.ident.as_str());
                    self.error(span_of(&it.ident), summary);
                }
            }
        }
    }

    fn resource_block(&mut self, block: &Block, name: &EcoString) -> (DefinitionKind, Type) {
        let text = ResourceText::new(block, name, false);
        let resource = self.resource(&text);
        let one = Type::Resource(resource.ty.clone());
        let ty = match &resource.options.range {
            None => one,
            Some(range) => match range.ty.expand() {
                Type::Bool => Type::Union(vec![one, Type::None]),
                Type::Map(_) | Type::Object(_) => Type::Map(Box::new(one)),
                _ => Type::List(Box::new(one)),
            },
        };
        (DefinitionKind::Resource(Box::new(resource)), ty)
    }

    fn read(&mut self, block: &Block, name: &EcoString) -> (DefinitionKind, Type) {
        let text = ResourceText::new(block, name, true);
        let resource = self.resource(&text);
        let is_component = resource
            .ty
            .as_ref()
            .is_some_and(|ty| ty.schema.is_component);
        if is_component || text.token.starts_with("pulumi:providers:") {
            self.error(text.at, "components and providers cannot be read");
        }
        let Some(id) = self.value_of(block, "id") else {
            self.error(span_of(&block.ident), "missing required attribute 'id'");
            return (DefinitionKind::Unusable, Type::Dynamic);
        };
        self.check(&Type::String, &id);
        let ty = Type::Resource(resource.ty.clone());
        (DefinitionKind::Read(Box::new(Read { id, resource })), ty)
    }

    /// Attributes and options of a body.
    pub(super) fn parts<'b>(
        &mut self,
        body: &'b Body,
        is_read: bool,
    ) -> (Vec<&'b Attribute>, Option<&'b Block>) {
        let mut attributes = Vec::new();
        let mut options: Option<&Block> = None;
        for structure in body {
            match structure {
                Structure::Attribute(it) if it.has_key("__logicalName") => {}
                Structure::Attribute(it) if is_read && it.has_key("id") => {}
                Structure::Attribute(attribute) => attributes.push(attribute),
                Structure::Block(block) if block.has_ident("options") && options.is_none() => {
                    options = Some(block);
                }
                Structure::Block(block) if block.has_ident("options") => {
                    let at = span_of(&block.ident);
                    self.error(at, "a resource has one block 'options'");
                }
                Structure::Block(block) => {
                    let what = format!("a resource has no block '{}'", block.ident.as_str());
                    self.error(span_of(&block.ident), what);
                }
            }
        }
        (attributes, options)
    }
}

pub(super) fn output_fields(program: &Program) -> Vec<Field> {
    let outputs = program.definitions.iter();
    outputs
        .filter(|it| matches!(it.kind, DefinitionKind::Output(_)))
        .map(|it| Field {
            name: it.logical_name.clone(),
            ty: it.ty.clone(),
            required: true,
        })
        .collect()
}

/// Type of what a hook learns about the step that it belongs to.
fn hook_arguments(is_for_errors: bool) -> Type {
    let field = |name: &str, ty, required| Field {
        name: name.into(),
        ty,
        required,
    };
    let texts = ["urn", "id", "name", "type"].map(|name| field(name, Type::String, true));
    let values = ["newInputs", "oldInputs", "newOutputs", "oldOutputs"].into_iter();
    // What failed has no new outputs.
    let values = values.filter(|name| !is_for_errors || *name != "newOutputs");
    let values = values.map(|name| field(name, Type::Map(Box::new(Type::Dynamic)), false));
    Type::Object(texts.into_iter().chain(values).collect())
}
