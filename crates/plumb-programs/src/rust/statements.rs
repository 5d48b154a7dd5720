//! Statements in Rust: definitions of a program.

use std::collections::BTreeMap;
use std::sync::Arc;

use ecow::EcoString;
use plumb_pcl::{
    Component, ComponentSource, Config, Definition, DefinitionKind, Expr, Input, Program, Read,
    Resource, Span, Type,
};

use super::RUST;
use super::access::is_built_in;
use super::collections::kind_of;
use super::printer::{Form, Hold, Printer, Value};
use crate::components;
use crate::flow::Flows;
use crate::kinds::Kind;
use crate::layout::{Doc, Lines};
use crate::lower::Lowering;
use crate::names::component_class;
use crate::report::Report;
use crate::tree::Tree;

/// Kinds of the outputs of components, by folder.
pub(super) type Outputs = BTreeMap<String, Arc<Vec<(EcoString, Kind)>>>;

/// Writes the statements of one program.
pub(super) struct Statements<'s, 'p> {
    pub(super) program: &'p Program,
    pub(super) lowering: Lowering<'p>,
    pub(super) printer: Printer,
    pub(super) lines: Lines,
    /// Whether something refers to a definition, by index.
    pub(super) is_used: Vec<bool>,
    pub(super) outputs: &'s Outputs,
    pub(super) report: Report<'s>,
}

impl Statements<'_, '_> {
    /// Writes the statements of a definition.
    pub(super) fn definition(&mut self, position: usize) {
        let definition = &self.program.definitions[position];
        self.report.enter(definition);
        let is_own = matches!(
            definition.kind,
            DefinitionKind::Config(_) | DefinitionKind::Output(_)
        );
        if self.printer.is_component && is_own {
            return;
        }
        if !definition.comments.is_empty() {
            self.lines.blank();
        }
        for comment in &definition.comments {
            self.comment(comment);
        }
        match &definition.kind {
            DefinitionKind::Local(value) => self.variable(position, value),
            DefinitionKind::Config(config) => self.config(position, definition, config),
            DefinitionKind::Resource(resource) => self.resource(position, definition, resource),
            DefinitionKind::Read(read) => self.read(position, definition, read),
            DefinitionKind::Component(component) => {
                self.component(position, definition, component);
            }
            DefinitionKind::Output(value) => self.output(definition, value),
            DefinitionKind::Hook(hook) => self.hook(position, definition, hook),
            DefinitionKind::Unusable => {}
        }
        self.flush(definition.span);
    }

    fn comment(&mut self, comment: &str) {
        self.lines.plain(format!("// {comment}").trim_end());
    }

    /// Reports what the expressions of a definition could not express.
    pub(super) fn flush(&mut self, span: Span) {
        let lowering = std::mem::take(&mut self.lowering.problems);
        let printer = std::mem::take(&mut self.printer.problems).into_iter();
        self.report.formless(lowering);
        self.report.formless(printer.map(|it| (span, it)));
    }

    pub(super) fn name(&self, position: usize) -> String {
        self.printer.names.definition(position).to_owned()
    }

    pub(super) fn define(&mut self, position: usize, value: Value) {
        self.printer.definitions[position] = Some(value);
    }

    /// Declares a variable; one that nothing refers to has a name that says so.
    pub(super) fn declare(&mut self, position: usize, ty: &str, value: Doc) -> String {
        let name = self.name(position);
        let mark = if self.is_used[position] { "" } else { "_" };
        let row = vec![
            Doc::text(format!("let {mark}{name}{ty} = ")),
            value,
            ";".into(),
        ];
        self.lines.line(&Doc::Row(row));
        name
    }

    fn variable(&mut self, position: usize, value: &Expr) {
        let tree = self.lowering.any(value);
        let value = self.printer.any(&tree);
        if matches!(value.kind, Kind::Null) {
            // Nothing has no type, and constants need no variable.
            return self.define(position, value);
        }
        let value = Printer::settled(value);
        let value = match value.hold {
            Hold::Place => value.owned(),
            _ => value,
        };
        let hold = match value.hold {
            Hold::Text => Hold::Text,
            _ => Hold::Place,
        };
        let name = self.declare(position, "", value.code);
        self.define(
            position,
            Value::new(name, value.kind, value.form).held(hold),
        );
    }

    fn config(&mut self, position: usize, definition: &Definition, config: &Config) {
        for line in config.description.iter().flat_map(|it| it.lines()) {
            self.comment(line);
        }
        let kind = setting_kind(&config.ty);
        let ty = self.printer.type_of(&kind);
        let key = RUST.string(&definition.logical_name);
        let verb = if config.is_required() {
            "require"
        } else {
            "get"
        };
        let default = config.default.as_ref();
        let is_later = default.is_some_and(|it| self.lowering.flow(it).has_outputs());
        let default = default.map(|default| self.lowering.value(default, &config.ty));
        let default = default.filter(|it| !matches!(it, Tree::Null));
        let is_literal = matches!(default, Some(Tree::Bool(_) | Tree::Number(_)));
        let outer = std::mem::replace(&mut self.printer.is_fallible, false);
        let default = default.map(|it| {
            if is_later {
                let value = self.printer.any(&it);
                let output = self.printer.as_output(value);
                self.printer.output_of_kind(output, &kind).owned().code
            } else {
                self.printer.owned(&it, kind.clone())
            }
        });
        let may_fail = std::mem::replace(&mut self.printer.is_fallible, outer);
        let is_optional = default.is_none() && !config.is_required();
        let kind = if is_optional {
            Kind::Pointer(Box::new(kind))
        } else {
            kind
        };
        let code = if config.is_secret {
            let mut row = vec![Doc::text(format!("config.{verb}_secret::<{ty}>({key})?"))];
            match default {
                Some(_) if may_fail => {
                    self.printer.refuse("a secret with a default that may fail");
                }
                Some(default) if is_later => {
                    row.push(Doc::hugged(".unwrap_or_else(|| ", default, ".secret())"));
                }
                Some(default) => {
                    row.push(Doc::hugged(
                        ".unwrap_or_else(|| Output::of(",
                        default,
                        ").secret())",
                    ));
                }
                None if is_optional => {
                    row.push(".map_or_else(|| Output::of(None), |it| it.map(Some))".into());
                }
                None => {}
            }
            Doc::Row(row)
        } else {
            let mut row = vec![Doc::text(format!("config.{verb}({key})?"))];
            if let Some(default) = default.clone().filter(|_| is_later) {
                let open = ".map_or_else(|| ";
                row.push(Doc::hugged(open, default, ", Output::of)"));
            } else if let Some(default) = default {
                row.push(if may_fail {
                    let open = ".map_or_else(|| Ok::<_, plumb::Error>(";
                    Doc::hugged(open, default, "), Ok)?")
                } else if is_literal {
                    Doc::hugged(".unwrap_or(", default, ")")
                } else {
                    Doc::hugged(".unwrap_or_else(|| ", default, ")")
                });
            }
            Doc::Row(row)
        };
        let annotation = match (config.is_secret, is_optional) {
            (true, _) => String::new(),
            (false, _) if is_later => format!(": Output<{ty}>"),
            (false, true) => format!(": Option<{ty}>"),
            (false, false) => format!(": {ty}"),
        };
        let name = self.declare(position, &annotation, code);
        let form = if config.is_secret || is_later {
            Form::Output
        } else {
            Form::Plain
        };
        self.define(position, Value::new(name, kind, form).held(Hold::Place));
    }

    fn output(&mut self, definition: &Definition, value: &Expr) {
        let tree = self.lowering.any(value);
        let value = self.printer.any_argument(&tree);
        let key = Doc::text(RUST.string(&definition.logical_name));
        self.lines
            .line(&Doc::list("ctx.export(", vec![key, value], ");"));
    }

    /// Absolute path of the type of a resource; `None` for one without generated code.
    fn path_of(&mut self, resource: &Resource) -> Option<String> {
        let ty = resource.ty.as_ref().filter(|ty| !is_built_in(ty))?;
        self.printer.resource_path(&ty.package, &resource.token)
    }

    fn resource(&mut self, position: usize, definition: &Definition, resource: &Resource) {
        if resource.token == "pulumi:pulumi:StackReference" {
            return self.stack_reference(position, definition, resource);
        }
        let path = self.path_of(resource);
        let known = path
            .clone()
            .unwrap_or_else(|| "plumb::AnyResource".to_owned());
        let kind = Kind::Resource(resource.ty.clone(), known);
        self.repeated(position, &resource.options, kind, |this, key| {
            let name = this.logical_name(definition, key);
            let mut args = vec![this.printer.context().into()];
            let path = if let (Some(path), Some(ty)) = (&path, &resource.ty) {
                let class = this.printer.named(&format!("{path}Args"));
                let trees = this.inputs(&resource.inputs);
                let fields = resource.inputs.iter().zip(&trees);
                let fields = fields.map(|(it, tree)| (&*it.name, tree, it.comments.as_slice()));
                let inputs = &ty.schema.input_properties;
                args.push(name);
                args.push(this.printer.arguments(&class, &ty.package, inputs, fields));
                this.printer.named(path)
            } else {
                args.push(RUST.string(&resource.token).into());
                args.push(name);
                args.push(this.untyped_inputs(&resource.inputs));
                "AnyResource".to_owned()
            };
            let function = match this.options(&resource.options, Some(resource)) {
                Some(options) => {
                    args.push(options);
                    "with"
                }
                None => "new",
            };
            Doc::list(&format!("{path}::{function}("), args, ")")
        });
    }

    /// Values of inputs, in the same order.
    fn inputs(&mut self, inputs: &[Input]) -> Vec<Tree> {
        let inputs = inputs.iter();
        inputs
            .map(|it| self.lowering.value(&it.value, &it.ty))
            .collect()
    }

    fn untyped_inputs(&mut self, inputs: &[Input]) -> Doc {
        let entries = inputs.iter().map(|it| {
            let value = self.lowering.value(&it.value, &it.ty);
            (Tree::Text(it.name.clone()), value)
        });
        let document = self.printer.document(&Tree::Map(entries.collect()));
        Doc::hugged("value!(", document, ")")
    }

    fn stack_reference(&mut self, position: usize, definition: &Definition, resource: &Resource) {
        let kind = Kind::Resource(resource.ty.clone(), "plumb::StackReference".to_owned());
        self.repeated(position, &resource.options, kind, |this, key| {
            let name = this.logical_name(definition, key);
            let stack = resource.inputs.iter().find(|it| it.name == "name");
            let stack = stack.map(|it| this.lowering.value(&it.value, &it.ty));
            let stack = match stack {
                Some(stack) => this.printer.argument(&stack, &Kind::Text).0,
                None => name.clone(),
            };
            if this.options(&resource.options, None).is_some() {
                this.printer.refuse("options of stack references");
            }
            let context = this.printer.context();
            let args = vec![context.into(), name, stack];
            Doc::list("StackReference::named(", args, ")")
        });
    }

    fn read(&mut self, position: usize, definition: &Definition, read: &Read) {
        let Some(path) = self.path_of(&read.resource) else {
            self.printer
                .refuse(&format!("resources of the type {}", read.resource.token));
            return;
        };
        let tree = self.lowering.value(&read.id, &Type::String);
        let (id, _) = self.printer.argument(&tree, &Kind::Text);
        let context = self.printer.context();
        let mut args = vec![context.into(), self.logical_name(definition, None), id];
        let options = self.options(&read.resource.options, Some(&read.resource));
        let function = if read.resource.inputs.is_empty() && options.is_none() {
            "get"
        } else {
            args.push(self.untyped_inputs(&read.resource.inputs));
            args.push(options.unwrap_or_else(|| "opts()".into()));
            "get_with"
        };
        let class = self.printer.named(&path);
        let code = Doc::list(&format!("{class}::{function}("), args, ")");
        let kind = Kind::Resource(read.resource.ty.clone(), path);
        self.single(position, code, kind);
    }

    fn component(&mut self, position: usize, definition: &Definition, component: &Component) {
        let ComponentSource::Program(inner) = &component.source else {
            return self.empty_component(position, definition, component);
        };
        let class = component_class(inner, RUST);
        let outputs = self.outputs.get(&inner.folder).cloned().unwrap_or_default();
        let path = super::component_path(&class);
        let kind = Kind::Component(path.clone(), outputs);
        let flows = Flows::new(inner, self.lowering.dialect, true);
        let settings = components::settings(inner, |it| flows.is_plain_input(it));
        self.repeated(position, &component.options, kind, |this, key| {
            let name = this.logical_name(definition, key);
            let class = this.printer.import(&path);
            let args = this.component_arguments(&path, component, &settings);
            let context = this.printer.context();
            let mut words = vec![context.into(), name, args];
            let function = match this.options(&component.options, None) {
                Some(options) => {
                    words.push(options);
                    "with"
                }
                None => "new",
            };
            let call = Doc::list(&format!("{class}::{function}("), words, ")");
            this.printer.fallible(call)
        });
    }

    /// A component without a program of its own.
    fn empty_component(&mut self, position: usize, definition: &Definition, component: &Component) {
        let ComponentSource::Token(token) = &component.source else {
            return;
        };
        let kind = Kind::Resource(None, "plumb::Group".to_owned());
        self.repeated(position, &component.options, kind, |this, key| {
            let name = this.logical_name(definition, key);
            let context = this.printer.context();
            let mut args = vec![context.into(), RUST.string(token).into(), name];
            let has_inputs = !component.inputs.is_empty();
            if has_inputs {
                args.push(this.untyped_inputs(&component.inputs));
            }
            let function = match this.options(&component.options, None) {
                None if !has_inputs => "new",
                options => {
                    args.push(options.unwrap_or_else(|| "opts()".into()));
                    if has_inputs { "with_inputs" } else { "with" }
                }
            };
            let class = this.printer.import("plumb::Group");
            Doc::list(&format!("{class}::{function}("), args, ")")
        });
    }

    /// Resource name for the engine; resources with a range have their key as a suffix.
    pub(super) fn logical_name(&mut self, definition: &Definition, key: Option<&Value>) -> Doc {
        let name = definition.logical_name.as_str();
        let code: Doc = match key {
            None => RUST.string(name).into(),
            Some(key) => {
                let format = name.replace('{', "{{").replace('}', "}}");
                match key.code.flat() {
                    Some(word) if super::expression::is_variable(&word) => {
                        let format = RUST.string(&format!("{format}-{{{word}}}"));
                        Doc::text(format!("&format!({format})"))
                    }
                    _ => {
                        let format = RUST.string(&format!("{format}-{{}}"));
                        Doc::hugged(&format!("&format!({format}, "), key.code.clone(), ")")
                    }
                }
            }
        };
        if self.printer.is_component {
            Doc::hugged("&ctx.name(", code, ")")
        } else {
            code
        }
    }

    /// Declares a resource without a range.
    pub(super) fn single(&mut self, position: usize, code: Doc, kind: Kind) {
        let name = self.name(position);
        if self.is_used[position] {
            self.declare(position, "", code);
        } else {
            self.lines.line(&Doc::Row(vec![code, ";".into()]));
        }
        self.define(position, Value::plain(name, kind).held(Hold::Place));
    }

    /// Writes the check of the required engine version.
    pub(super) fn requirement(&mut self) {
        if let Some(version) = &self.program.required_version {
            let tree = self.lowering.value(version, &Type::String);
            let version = self.printer.text(&tree);
            self.lines
                .line(&Doc::hugged("ctx.require_version(", version, ").await?;"));
        }
    }
}

/// Kind of the values of a setting.
pub(super) fn setting_kind(ty: &Type) -> Kind {
    match kind_of(ty) {
        Kind::Enum(_, _, underlying) => *underlying,
        kind => kind,
    }
}

/// Whether code mentions a variable.
pub(super) fn mentions(code: &str, name: &str) -> bool {
    let is_word = |it: char| it.is_alphanumeric() || it == '_';
    code.match_indices(name).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let after = code[at + name.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}
