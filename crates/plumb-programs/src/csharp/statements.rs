//! Statements in C#: definitions of a program.

use std::collections::BTreeMap;
use std::sync::Arc;

use ecow::EcoString;
use plumb_codegen::programs::csharp_property;
use plumb_pcl::{
    Component, ComponentSource, Config, Definition, DefinitionKind, Expr, Input, Options, Program,
    Read, Resource, Span, Type,
};

use super::collections::{Member, object};
use super::helpers::Helper;
use super::printer::{Form, Level, Printer, Value};
use super::{CSHARP, joined};
use crate::components;
use crate::flow::{Flow, Flows};
use crate::kinds::{Kind, is_plain};
use crate::layout::{Doc, Lines};
use crate::lower::Lowering;
use crate::names::component_class;
use crate::report::Report;
use crate::tree::Tree;
use crate::values::Want;

/// Kinds of the outputs of components, by folder.
pub(super) type Outputs = BTreeMap<String, Arc<Vec<(EcoString, Kind)>>>;

/// Writes the statements of one program.
pub(super) struct Statements<'s, 'p> {
    pub(super) program: &'p Program,
    pub(super) lowering: Lowering<'p>,
    pub(super) printer: Printer,
    pub(super) lines: Lines,
    pub(super) is_component: bool,
    pub(super) outputs: &'s Outputs,
    /// Outputs of the program: their names as literals, and their values.
    pub(super) exports: Vec<(String, Doc)>,
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
        if self.is_component && is_own {
            return;
        }
        if !definition.comments.is_empty() {
            self.lines.blank();
        }
        for comment in &definition.comments {
            self.lines.plain(format!("// {comment}").trim_end());
        }
        match &definition.kind {
            DefinitionKind::Local(value) => self.local(position, value),
            DefinitionKind::Config(config) => self.config(position, definition, config),
            DefinitionKind::Resource(resource) => self.resource(position, definition, resource),
            DefinitionKind::Read(read) => self.read(position, definition, read),
            DefinitionKind::Component(component) => {
                self.component(position, definition, component);
            }
            DefinitionKind::Output(value) => self.output(definition, value),
            DefinitionKind::Hook(_) => {
                self.printer.refuse("hooks");
            }
            DefinitionKind::Unusable => {}
        }
        self.flush(definition.span);
    }

    /// Reports what the expressions of a definition could not express.
    pub(super) fn flush(&mut self, span: Span) {
        let lowering = std::mem::take(&mut self.lowering.problems);
        let printer = std::mem::take(&mut self.printer.problems).into_iter();
        self.report.formless(lowering);
        self.report.formless(printer.map(|it| (span, it)));
    }

    fn name(&self, position: usize) -> String {
        self.printer.names.definition(position).to_owned()
    }

    pub(super) fn define(&mut self, position: usize, value: Value) {
        self.printer.definitions[position] = Some(value);
    }

    /// Declares a variable.
    fn declare(&mut self, name: &str, value: Doc) {
        let row = vec![Doc::text(format!("var {name} = ")), value, ";".into()];
        self.lines.line(&Doc::Row(row));
    }

    fn local(&mut self, position: usize, value: &Expr) {
        let tree = self.lowering.any(value);
        let value = self.printer.any(&tree);
        if matches!(value.kind, Kind::Null) {
            // `null` has no type, and constants need no variable.
            return self.define(position, value);
        }
        let name = self.name(position);
        self.declare(&name, value.code);
        self.define(position, Value::new(name, value.kind, value.form));
    }

    fn config(&mut self, position: usize, definition: &Definition, config: &Config) {
        for line in config.description.iter().flat_map(|it| it.lines()) {
            self.lines.plain(format!("// {line}").trim_end());
        }
        let kind = match Kind::of(&config.ty.without_none()) {
            Kind::Enum(_, _, underlying) => *underlying,
            kind => kind,
        };
        let is_dynamic = matches!(kind, Kind::Any | Kind::Struct(_));
        let suffix = match &kind {
            Kind::Text => String::new(),
            Kind::Int => "Int32".to_owned(),
            Kind::Bool => "Boolean".to_owned(),
            Kind::Float => "Double".to_owned(),
            _ if is_dynamic => {
                self.printer.usings.insert("System.Text.Json");
                "Object<JsonElement>".to_owned()
            }
            kind => {
                self.printer.usings.insert("System.Collections.Generic");
                format!("Object<{}>", self.printer.type_of(kind))
            }
        };
        let verb = if config.is_required() || (is_dynamic && config.default.is_none()) {
            "Require"
        } else {
            "Get"
        };
        let key = CSHARP.string(&definition.logical_name);
        let secret = if config.is_secret { "Secret" } else { "" };
        let call = Doc::text(format!("config.{verb}{secret}{suffix}({key})"));
        let code = match (is_dynamic, config.is_secret) {
            (true, true) => {
                self.printer.helpers.insert(Helper::Plain);
                Doc::Row(vec![call, ".Apply(Helpers.Plain)".into()])
            }
            (true, false) => {
                let plain = self.printer.help(Helper::Plain, "", vec![call]);
                self.typed(plain, &kind, verb == "Require")
            }
            (false, _) => call,
        };
        let value = if verb == "Require" {
            Value::plain(code, kind)
        } else {
            self.with_default(Value::plain(code, kind), config)
        };
        let name = self.name(position);
        self.declare(&name, value.code);
        let form = if config.is_secret {
            Form::Output
        } else {
            Form::Plain
        };
        self.define(position, Value::new(name, value.kind, form));
    }

    /// A setting of any type, as a map if it has members.
    fn typed(&mut self, plain: Doc, kind: &Kind, is_required: bool) -> Doc {
        if !matches!(kind, Kind::Struct(_)) {
            return plain;
        }
        let ty = self.printer.type_of(kind);
        if is_required {
            Doc::Row(vec![format!("({ty})").into(), plain, "!".into()])
        } else {
            Doc::Row(vec![format!("({ty}?)").into(), plain])
        }
    }

    /// A setting, or its default.
    fn with_default(&mut self, value: Value, config: &Config) -> Value {
        let default = config.default.as_ref();
        let default = default.map(|default| self.lowering.value(default, &config.ty));
        let Some(default) = default.filter(|it| !matches!(it, Tree::Null)) else {
            let kind = Kind::Pointer(Box::new(value.kind.clone()));
            return value.of_kind(kind);
        };
        let default = self
            .printer
            .plain(&default, value.kind.clone())
            .at(Level::Add);
        let row = if config.is_secret {
            vec![
                value.code,
                " ?? Output.CreateSecret(".into(),
                default,
                ")".into(),
            ]
        } else {
            vec![value.code, " ?? ".into(), default]
        };
        Value::plain(Doc::Row(row), value.kind)
    }

    fn output(&mut self, definition: &Definition, value: &Expr) {
        let tree = self.lowering.any(value);
        let want = match tree {
            Tree::List(_) | Tree::Map(_) => Want::Input(Kind::Any),
            _ => Want::Free,
        };
        let value = self.printer.value(&tree, &want);
        let key = CSHARP.string(&definition.logical_name);
        self.exports.push((key, value.code));
    }

    /// Class of a resource.
    fn class_of(&mut self, resource: &Resource) -> Option<String> {
        match resource.token.strip_prefix("pulumi:") {
            Some("pulumi:StackReference") => return Some("StackReference".to_owned()),
            Some("index:Stash") => return Some("Stash".to_owned()),
            _ => {}
        }
        let ty = resource.ty.as_ref()?;
        let package = &ty.package;
        if resource.token.starts_with("pulumi:providers:") {
            return Some(self.printer.class(package, |_| "Provider".to_owned()));
        }
        if resource.token.starts_with("pulumi:") {
            return None;
        }
        let token = &resource.token;
        Some(self.printer.class(package, |it| it.class(package, token)))
    }

    fn resource(&mut self, position: usize, definition: &Definition, resource: &Resource) {
        let Some(class) = self.class_of(resource) else {
            self.printer
                .refuse(&format!("resources of the type {}", resource.token));
            return;
        };
        let kind = Kind::Resource(resource.ty.clone(), class.clone());
        self.repeated(position, &resource.options, kind, |this, key| {
            let name = this.logical_name(definition, key);
            let members = this.inputs(&resource.inputs, &class);
            let options = this.options(&resource.options, Some(resource));
            let mut args = vec![name];
            if !members.is_empty() || options.is_some() {
                args.push(object("new()", members));
            }
            args.extend(options);
            joined(&format!("new {class}("), args)
        });
    }

    fn inputs(&mut self, inputs: &[Input], class: &str) -> Vec<Member> {
        let own = class.rsplit('.').next().unwrap_or_default();
        let own = format!("{own}Args");
        let mut members = Vec::with_capacity(inputs.len());
        for input in inputs {
            let tree = self.lowering.value(&input.value, &input.ty);
            if matches!(tree, Tree::Null) {
                continue;
            }
            let kind = Kind::of(&input.ty.without_none());
            let value = self.printer.input(&tree, &kind, is_plain(&input.ty));
            members.push(Member {
                comments: input.comments.clone(),
                name: csharp_property(&input.name, &own),
                value,
            });
        }
        members
    }

    fn read(&mut self, position: usize, definition: &Definition, read: &Read) {
        let Some(class) = self.class_of(&read.resource) else {
            self.printer
                .refuse(&format!("resources of the type {}", read.resource.token));
            return;
        };
        let tree = self.lowering.value(&read.id, &Type::String);
        let id = self.printer.value(&tree, &Want::Input(Kind::Text));
        let mut args = vec![self.logical_name(definition, None), id.code];
        let members = self.inputs(&read.resource.inputs, &class);
        let options = self.options(&read.resource.options, Some(&read.resource));
        if !members.is_empty() {
            args.push(object("new()", members));
        }
        if let Some(options) = options {
            let named = Doc::Row(vec!["options: ".into(), options]);
            args.push(named);
        }
        let name = self.name(position);
        self.declare(&name, joined(&format!("{class}.Get("), args));
        let kind = Kind::Resource(read.resource.ty.clone(), class);
        self.define(position, Value::plain(name, kind));
    }

    fn component(&mut self, position: usize, definition: &Definition, component: &Component) {
        let ComponentSource::Program(inner) = &component.source else {
            return self.empty_component(position, definition, component);
        };
        let class = component_class(inner, CSHARP);
        let outputs = self.outputs.get(&inner.folder).cloned().unwrap_or_default();
        let kind = Kind::Component(class.clone(), outputs);
        let flows = Flows::new(inner, self.lowering.dialect, true);
        let settings = components::settings(inner, |it| flows.is_plain_input(it));
        self.repeated(position, &component.options, kind, |this, key| {
            let name = this.logical_name(definition, key);
            let mut members = Vec::with_capacity(component.inputs.len());
            for input in &component.inputs {
                let tree = this.lowering.value(&input.value, &input.ty);
                if matches!(tree, Tree::Null) {
                    continue;
                }
                let Some((.., kind, is_plain)) = settings.iter().find(|it| it.1 == input.name)
                else {
                    this.printer
                        .refuse(&format!("the unknown input {}", input.name));
                    continue;
                };
                // The collections of the class are missing at first.
                let want = if *is_plain {
                    Want::Plain(kind.clone())
                } else {
                    Want::Input(kind.clone())
                };
                let value = this.printer.value(&tree, &want);
                members.push(Member {
                    comments: input.comments.clone(),
                    name: csharp_property(&input.name, &format!("{class}Args")),
                    value: value.code,
                });
            }
            let args = object("new()", members);
            let options = this.options(&component.options, None);
            let args = [name, args].into_iter().chain(options);
            joined(&format!("new {class}("), args.collect())
        });
    }

    /// A component without a program of its own.
    fn empty_component(&mut self, position: usize, definition: &Definition, component: &Component) {
        let ComponentSource::Token(token) = &component.source else {
            return;
        };
        if !component.inputs.is_empty() {
            self.printer
                .refuse("components with inputs, but without a program");
        }
        let kind = Kind::Component("ComponentResource".to_owned(), Arc::default());
        self.repeated(position, &component.options, kind, |this, key| {
            let mut args = vec![Doc::text(CSHARP.string(token))];
            args.push(this.logical_name(definition, key));
            args.extend(this.options(&component.options, None));
            joined("new ComponentResource(", args)
        });
    }

    /// Resource name for the engine; resources with a range have their key as a suffix.
    fn logical_name(&mut self, definition: &Definition, key: Option<&Value>) -> Doc {
        let literal = CSHARP.string(&definition.logical_name);
        if !self.is_component && key.is_none() {
            return literal.into();
        }
        let name = &literal[1..literal.len() - 1];
        let name = name.replace('{', "{{").replace('}', "}}");
        let prefix = if self.is_component { "{name}-" } else { "" };
        let mut row = vec![Doc::text(format!("$\"{prefix}{name}"))];
        if let Some(key) = key {
            row.extend(["-{".into(), key.code.clone(), "}".into()]);
        }
        row.push("\"".into());
        Doc::Row(row)
    }

    /// Declares the result of `make`, once or for every element of the range; `make` gets the key.
    fn repeated(
        &mut self,
        position: usize,
        options: &Options,
        kind: Kind,
        make: impl FnOnce(&mut Self, Option<&Value>) -> Doc,
    ) {
        let name = self.name(position);
        let Some(range) = &options.range else {
            let value = make(self, None);
            self.declare(&name, value);
            return self.define(position, Value::plain(name, kind));
        };
        let flow = self.lowering.flow(range);
        let tree = self.lowering.any(range);
        let range = self.printer.any(&tree);
        let is_map = matches!(range.kind, Kind::Map(_) | Kind::Struct(_));
        let range = self.printer.collection(range, is_map);
        let is_later = range.form == Form::Output;
        if !is_later && matches!(range.kind, Kind::Bool) {
            let made = make(self, None);
            let row = vec![range.at(Level::Or), " ? ".into(), made, " : null".into()];
            self.declare(&name, Doc::Row(row));
            return self.define(position, Value::plain(name, kind));
        }
        let kind = match &range.kind {
            Kind::Map(_) => Kind::Map(Box::new(kind)),
            Kind::Int | Kind::Float | Kind::List(_) => kind.list(),
            Kind::Bool => kind,
            _ => {
                self.printer.refuse("such a range");
                return;
            }
        };
        if !matches!(range.kind, Kind::Bool) {
            let ty = self.printer.type_of(&kind);
            self.printer.usings.insert("System.Collections.Generic");
            self.lines.plain(&format!("var {name} = new {ty}();"));
        }
        if is_later {
            let scope = self.printer.scope.open();
            let elements = self.printer.local("elements");
            let open = format!(".Apply({elements} =>");
            self.lines
                .line(&Doc::Row(vec![range.at(Level::Atom), open.into()]));
            self.lines.plain("{");
            self.lines.deeper();
            let range = Value::plain(elements, range.kind);
            self.each(&name, range, Flow::Plain, make);
            self.lines.plain("return 0;");
            self.lines.shallower();
            self.lines.plain("});");
            self.printer.scope.close(scope);
        } else {
            self.each(&name, range, flow.element(), make);
        }
        self.define(position, Value::plain(name, kind));
    }

    /// Writes the loop or the condition around a resource.
    fn each(
        &mut self,
        name: &str,
        range: Value,
        element: Flow,
        make: impl FnOnce(&mut Self, Option<&Value>) -> Doc,
    ) {
        if matches!(range.kind, Kind::Bool) {
            self.lines.line(&Doc::hugged("if (", range.code, ")"));
            self.lines.plain("{");
            self.lines.deeper();
            let made = make(self, None);
            self.lines.line(&Doc::Row(vec![made, ";".into()]));
            self.lines.shallower();
            return self.lines.plain("}");
        }
        self.printer.usings.insert("System.Linq");
        let scope = self.printer.scope.open();
        let is_map = matches!(range.kind, Kind::Map(_));
        let is_nested = range.form == Form::Nested;
        let (head, key, value) = match range.kind.clone() {
            Kind::Map(inner) => {
                self.printer.usings.insert("System");
                let entry = self.printer.local("entry");
                let close = ".OrderBy(it => it.Key, StringComparer.Ordinal))";
                let row = vec![
                    format!("foreach (var {entry} in ").into(),
                    range.at(Level::Atom),
                    close.into(),
                ];
                let code = format!("{entry}.Value");
                let value = if is_nested {
                    self.printer.output_member(code.into(), *inner)
                } else {
                    Value::plain(code, *inner)
                };
                let key = Value::plain(format!("{entry}.Key"), Kind::Text);
                (Doc::Row(row), key, value)
            }
            Kind::List(inner) => {
                let close = ".Select((value, index) => (value, index)))";
                let row = vec![
                    "foreach (var (value, index) in ".into(),
                    range.at(Level::Atom),
                    close.into(),
                ];
                let form = range.form;
                let value = Value::new("value", *inner, form);
                let value = match form {
                    Form::Nested => Value::output("value", value.kind),
                    Form::Plain | Form::Output => value,
                };
                (Doc::Row(row), Value::plain("index", Kind::Int), value)
            }
            _ => {
                let count = self.printer.converted(range, &Want::Plain(Kind::Int));
                let open = "foreach (var index in Enumerable.Range(0, ";
                let index = Value::plain("index", Kind::Int);
                (Doc::hugged(open, count.code, "))"), index.clone(), index)
            }
        };
        self.lines.line(&head);
        self.lines.plain("{");
        self.lines.deeper();
        self.printer.range = Some([key.clone(), value]);
        let fields = Flow::Fields(vec![("key".into(), Flow::Plain), ("value".into(), element)]);
        let outer = self.lowering.enter(vec![("range".into(), fields)]);
        let made = make(self, Some(&key));
        self.lowering.leave(outer);
        self.printer.range = None;
        self.printer.scope.close(scope);
        let mut row = if is_map {
            vec![Doc::text(format!("{name}[")), key.code, "] = ".into()]
        } else {
            vec![Doc::text(format!("{name}.Add("))]
        };
        row.extend([made, if is_map { ";".into() } else { ");".into() }]);
        self.lines.line(&Doc::Row(row));
        self.lines.shallower();
        self.lines.plain("}");
    }
}
