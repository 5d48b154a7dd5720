//! Statements in Go: definitions of a program.

use std::collections::BTreeMap;
use std::sync::Arc;

use ecow::EcoString;
use plumb_pcl::{
    Component, ComponentSource, Config, Definition, DefinitionKind, Expr, ExprKind, Input, Options,
    Program, Read, Resource, Span, Type,
};

use super::GO;
use super::collections::common;
use super::component;
use super::expression::Want;
use super::kinds::Kind;
use super::printer::{Form, Printer, Value};
use super::syntax::{Code, Entry, Statement};
use crate::flow::Flow;
use crate::lower::Lowering;
use crate::report::Report;
use crate::tree::Tree;

/// Kinds of the outputs of components, by folder.
pub(super) type Outputs = BTreeMap<String, Arc<Vec<(EcoString, Kind)>>>;

/// Writes the statements of one program.
pub(super) struct Statements<'s, 'p> {
    pub(super) program: &'p Program,
    pub(super) lowering: Lowering<'p>,
    pub(super) printer: Printer,
    pub(super) is_component: bool,
    /// Whether a definition is referred to.
    pub(super) is_used: Vec<bool>,
    pub(super) outputs: &'s Outputs,
    /// Names of the components of the whole program, by folder.
    pub(super) components: &'s BTreeMap<String, component::Component>,
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
            self.printer.emit(Statement::Blank);
        }
        for comment in &definition.comments {
            self.printer.emit(Statement::Comment(comment.clone()));
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
            DefinitionKind::Hook(hook) => self.hook(position, definition, hook),
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

    pub(super) fn name(&self, position: usize) -> String {
        if self.is_used[position] {
            self.printer.names.definition(position).to_owned()
        } else {
            "_".to_owned()
        }
    }

    pub(super) fn define(&mut self, position: usize, value: Value) {
        self.printer.definitions[position] = Some(value);
    }

    fn local(&mut self, position: usize, value: &Expr) {
        let tree = self.lowering.any(value);
        let name = self.name(position);
        if let Tree::Invoke(invoke) = &tree
            && !invoke.is_output
        {
            self.printer.result_name = Some(name.clone());
        }
        let value = self.printer.any(&tree);
        if matches!(value.kind, Kind::Null) {
            // `nil` has no type, and constants need no variable.
            return self.define(position, value);
        }
        let assignment = if name == "_" { "_ = " } else { ":= " };
        let (mut kind, mut code) = (value.kind, value.code);
        let mut form = value.form;
        if form == Form::Constant {
            form = Form::Plain;
            if matches!(kind, Kind::Float) {
                // Otherwise a whole number would make an integer.
                code = code.into_float();
            }
        }
        if matches!(kind, Kind::Result(_)) && form == Form::Plain && code.is_word() {
            // The call has a variable already.
            return self.define(position, Value { code, kind, form });
        }
        if let (Kind::Enum(_, _, underlying), Form::Plain) = (&kind, form) {
            let underlying = (**underlying).clone();
            let value = Value::plain(code, kind.clone());
            let want = Want::Plain(underlying);
            let value = self.printer.converted(value, &want);
            (code, kind) = (value.code, value.kind);
        }
        let text = if name == "_" {
            assignment.to_owned()
        } else {
            format!("{name} {assignment}")
        };
        self.printer.line(text, Some(code));
        let code = Code::word(name);
        self.define(position, Value { code, kind, form });
    }

    fn config(&mut self, position: usize, definition: &Definition, config: &Config) {
        for line in config.description.iter().flat_map(|it| it.lines()) {
            self.printer.emit(Statement::Comment(line.to_owned()));
        }
        let kind = Kind::of(&config.ty.without_none());
        let kind = match kind {
            Kind::Enum(_, _, underlying) => *underlying,
            // A struct has no literal without a name of its type.
            Kind::Struct(_) if has_default(config) => Kind::Map(Box::new(Kind::Any)),
            kind => kind,
        };
        let key = GO.string(&definition.logical_name);
        let name = self.printer.names.definition(position).to_owned();
        if let (true, Some(scalar)) = (config.is_secret && config.is_required(), kind.scalar()) {
            let variable = self.name(position);
            let assignment = if variable == "_" { "=" } else { ":=" };
            let call = format!("cfg.RequireSecret{}({key})", getter(scalar));
            self.printer
                .line(format!("{variable} {assignment} {call}"), None);
            return self.define(position, Value::output(Code::word(name), kind));
        }
        // Another secret is a plain value first, and an output then.
        let plain = if config.is_secret {
            self.printer.fresh(&format!("{name}Value"))
        } else {
            name.clone()
        };
        let kind = match &config.default {
            None if config.is_required() => self.required(&plain, &key, kind),
            default => {
                let tree = default
                    .as_ref()
                    .map_or(Tree::Null, |it| self.lowering.value(it, &config.ty));
                self.optional(&plain, &key, kind, &tree)
            }
        };
        let value = Value::plain(Code::word(plain), kind);
        if config.is_secret {
            let kind = value.kind.clone();
            let Some(output) = Printer::core_output(&kind) else {
                self.printer.refuse("a secret setting of such a type");
                return;
            };
            let input = self.printer.converted(value, &Want::Input(kind.clone()));
            let code = Code::call("pulumi.ToSecret", vec![input.code]).asserted(&output);
            self.printer.line(format!("{name} := "), Some(code));
            self.define(position, Value::output(Code::word(&*name), kind));
        } else {
            self.define(position, value);
        }
        if !self.is_used[position] {
            self.printer.line(format!("_ = {name}"), None);
        }
    }

    /// Declares a variable for a setting with a structure.
    fn declared(&mut self, name: &str, kind: &Kind) {
        match kind {
            Kind::Struct(fields) => {
                let lines = self.printer.struct_fields(name, fields);
                let head = format!("var {name} struct");
                self.printer.emit(Statement::Fields(head, lines));
            }
            kind => {
                self.printer.declare_structs(name, kind);
                let ty = self.printer.plain_type(kind);
                self.printer.line(format!("var {name} {ty}"), None);
            }
        }
    }

    fn required(&mut self, name: &str, key: &str, kind: Kind) -> Kind {
        let text = if let Some(scalar) = kind.scalar() {
            format!("{name} := cfg.Require{}({key})", getter(scalar))
        } else {
            self.declared(name, &kind);
            format!("cfg.RequireObject({key}, &{name})")
        };
        self.printer.line(text, None);
        kind
    }

    fn optional(&mut self, name: &str, key: &str, kind: Kind, default: &Tree) -> Kind {
        let is_null = matches!(default, Tree::Null);
        let kind = if is_null { kind.optional() } else { kind };
        // A text is the setting itself; others are read once more, so that a malformed one is an error.
        let is_text = matches!(kind.present(), Kind::Text);
        let body = match (kind.present().scalar(), is_null) {
            (Some(scalar), false) => {
                let value = self.printer.plain(default, kind.clone());
                let value = match kind {
                    Kind::Float => value.into_float(),
                    _ => value,
                };
                self.printer.line(format!("{name} := "), Some(value));
                if is_text {
                    vec![format!("{name} = value")]
                } else {
                    vec![format!("{name} = cfg.Require{}({key})", getter(scalar))]
                }
            }
            (Some(_), true) if is_text => {
                self.declared(name, &kind);
                vec![format!("{name} = &value")]
            }
            (Some(scalar), true) => {
                self.declared(name, &kind);
                let value = format!("value := cfg.Require{}({key})", getter(scalar));
                vec![value, format!("{name} = &value")]
            }
            (None, _) => {
                let mut body = vec![format!("cfg.RequireObject({key}, &{name})")];
                if is_null {
                    self.declared(name, &kind);
                } else {
                    // The setting replaces the default instead of adding to it.
                    body.insert(0, format!("{name} = nil"));
                    let value = self.printer.plain(default, kind.clone());
                    let ty = self.printer.plain_type(&kind);
                    if matches!(kind, Kind::Any) {
                        self.printer
                            .line(format!("var {name} {ty} = "), Some(value));
                    } else {
                        self.printer.line(format!("{name} := "), Some(value));
                    }
                }
                body
            }
        };
        let body = body.into_iter().map(|text| Statement::Simple(text, None));
        let variable = if is_text { "value" } else { "_" };
        let head = format!("if {variable}, err := cfg.Try({key}); err == nil");
        self.printer.when(&head, None, body.collect());
        kind
    }

    fn output(&mut self, definition: &Definition, value: &Expr) {
        let tree = self.lowering.any(value);
        let value = self.printer.any(&tree);
        let value = self.printer.converted(value, &Want::Input(Kind::Any));
        let key = Code::word(GO.string(&definition.logical_name));
        let call = Code::call("ctx.Export", vec![key, value.code]);
        self.printer.line("", Some(call));
    }

    /// Package-qualified type of a resource, and its constructor.
    fn class_of(&mut self, resource: &Resource) -> Option<[String; 2]> {
        if resource.token == "pulumi:pulumi:StackReference" {
            let class = "pulumi.StackReference".to_owned();
            return Some([class, "pulumi.NewStackReference".to_owned()]);
        }
        if resource.token == "pulumi:index:Stash" {
            return Some(["pulumi.Stash".to_owned(), "pulumi.NewStash".to_owned()]);
        }
        let ty = resource.ty.as_ref()?;
        let class = match resource.token.strip_prefix("pulumi:providers:") {
            Some(name) => {
                let token = format!("{name}:index:Provider");
                self.printer.class(&ty.package, &token)
            }
            None if resource.token.starts_with("pulumi:") => return None,
            None => self.printer.class(&ty.package, &resource.token),
        };
        let (alias, name) = class.split_once('.')?;
        let constructor = format!("{alias}.New{name}");
        Some([class, constructor])
    }

    fn resource(&mut self, position: usize, definition: &Definition, resource: &Resource) {
        let Some([class, constructor]) = self.class_of(resource) else {
            self.printer
                .refuse(&format!("resources of the type {}", resource.token));
            return;
        };
        let kind = Kind::Resource(resource.ty.clone(), class.clone());
        self.repeated(position, &resource.options, kind, |this, key| {
            let name = this.logical_name(definition, key);
            let args = this.inputs(&format!("&{class}Args"), &resource.inputs);
            let mut args = vec![Code::word("ctx"), name, args];
            args.extend(this.options(&resource.options, Some(resource)));
            Code::call(constructor, args)
        });
    }

    /// Struct with the inputs of a resource; `nil` if there are none.
    fn inputs(&mut self, ty: &str, inputs: &[Input]) -> Code {
        let mut entries = Vec::with_capacity(inputs.len());
        for input in inputs {
            let tree = self.lowering.value(&input.value, &input.ty);
            if matches!(tree, Tree::Null) {
                continue;
            }
            let value = self.printer.field(&tree, &input.ty, false);
            entries.push(Entry {
                comments: input.comments.clone(),
                key: Some(Code::word(GO.property(&input.name))),
                value,
            });
        }
        if entries.is_empty() {
            return Code::word("nil");
        }
        Code::Literal {
            ty: ty.to_owned(),
            entries,
            is_broken: true,
        }
    }

    fn read(&mut self, position: usize, definition: &Definition, read: &Read) {
        let Some([class, constructor]) = self.class_of(&read.resource) else {
            self.printer
                .refuse(&format!("resources of the type {}", read.resource.token));
            return;
        };
        let getter = constructor.replacen(".New", ".Get", 1);
        let tree = self.lowering.value(&read.id, &Type::String);
        let id = self.printer.any(&tree);
        let id = match id.kind {
            Kind::Id => id.code,
            _ if id.is_plain() => {
                let code = self.printer.converted(id, &Want::Plain(Kind::Text)).code;
                Code::call("pulumi.ID", vec![code])
            }
            _ => self.printer.refuse("an identifier that is an output").code,
        };
        let state = self.inputs(&format!("&{class}State"), &read.resource.inputs);
        let name = self.logical_name(definition, None);
        let mut args = vec![Code::word("ctx"), name, id, state];
        args.extend(self.options(&read.resource.options, Some(&read.resource)));
        let variable = self.name(position);
        self.printer.checked(&variable, Code::call(getter, args));
        let kind = Kind::Resource(read.resource.ty.clone(), class);
        self.define(position, Value::plain(Code::word(variable), kind));
    }

    fn component(&mut self, position: usize, definition: &Definition, component: &Component) {
        let ComponentSource::Program(inner) = &component.source else {
            return self.empty_component(position, definition, component);
        };
        let class = self.class_of_component(inner);
        let outputs = self.outputs.get(&inner.folder).cloned().unwrap_or_default();
        let kind = Kind::Component(class.clone(), outputs);
        let settings: BTreeMap<&str, (bool, Kind)> =
            component::settings(inner).into_iter().collect();
        self.repeated(position, &component.options, kind, |this, key| {
            let name = this.logical_name(definition, key);
            let mut entries = Vec::with_capacity(component.inputs.len());
            for input in &component.inputs {
                let tree = this.lowering.value(&input.value, &input.ty);
                if matches!(tree, Tree::Null) {
                    continue;
                }
                let Some((is_plain, kind)) = settings.get(input.name.as_str()) else {
                    this.printer
                        .refuse(&format!("the unknown input {}", input.name));
                    continue;
                };
                let want = if *is_plain {
                    Want::Plain(kind.clone())
                } else {
                    Want::Input(kind.clone())
                };
                let value = this.printer.expression(&tree, &want);
                entries.push((Code::word(GO.property(&input.name)), value));
            }
            let args = Code::keyed(format!("&{class}Args"), entries, true);
            let mut args = vec![Code::word("ctx"), name, args];
            args.extend(this.options(&component.options, None));
            Code::call(format!("New{class}"), args)
        });
    }

    /// Name of the struct of a component.
    pub(super) fn class_of_component(&self, program: &Program) -> String {
        let names = self.components.get(&program.folder);
        names.map(|it| it.class.clone()).unwrap_or_default()
    }

    /// A component without a program of its own.
    fn empty_component(&mut self, position: usize, definition: &Definition, component: &Component) {
        let ComponentSource::Token(token) = &component.source else {
            return;
        };
        if !component.inputs.is_empty() || component.options.range.is_some() {
            self.printer
                .refuse("components with inputs or a range, but without a program");
        }
        let variable = self.printer.names.definition(position).to_owned();
        let state = Code::word("&pulumi.ResourceState{}");
        self.printer.line(format!("{variable} := "), Some(state));
        let name = self.logical_name(definition, None);
        let mut args = vec![
            Code::word(GO.string(token)),
            name,
            Code::word(variable.clone()),
        ];
        args.extend(self.options(&component.options, None));
        let call = Code::call("ctx.RegisterComponentResource", args);
        self.registration(call);
        let kind = Kind::Component("pulumi.ResourceState".to_owned(), Arc::default());
        self.define(position, Value::plain(Code::word(variable), kind));
    }

    /// Writes a call that only returns an error.
    pub(super) fn registration(&mut self, call: Code) {
        let body = vec![Statement::Simple("return err".to_owned(), None)];
        self.printer.emit(Statement::Block {
            head: "if err := ".to_owned(),
            condition: Some(call),
            tail: "; err != nil",
            body,
            otherwise: None,
        });
    }

    /// Resource name for the engine; resources with a range have their key as a suffix.
    pub(super) fn logical_name(&mut self, definition: &Definition, key: Option<&Value>) -> Code {
        let name = definition.logical_name.as_str();
        if !self.is_component && key.is_none() {
            return Code::word(GO.string(name));
        }
        let mut format = if self.is_component { "%s-" } else { "" }.to_owned();
        format.push_str(&name.replace('%', "%%"));
        let mut args = Vec::new();
        if self.is_component {
            args.push(Code::word("name"));
        }
        if let Some(key) = key {
            format.push_str(if matches!(key.kind, Kind::Int) {
                "-%d"
            } else {
                "-%s"
            });
            if let Code::Word(name) = &key.code {
                self.printer.used.insert(name.clone());
            }
            args.push(key.code.clone());
        }
        self.printer.import("fmt");
        let format = Code::word(GO.string(&format));
        Code::call("fmt.Sprintf", std::iter::once(format).chain(args).collect())
    }

    /// Declares the result of `make`, once or for every element of the range; `make` gets the key.
    fn repeated(
        &mut self,
        position: usize,
        options: &Options,
        kind: Kind,
        make: impl FnOnce(&mut Self, Option<&Value>) -> Code,
    ) {
        let name = self.name(position);
        let Some(range) = &options.range else {
            let call = make(self, None);
            self.printer.checked(&name, call);
            return self.define(position, Value::plain(Code::word(name), kind));
        };
        let flow = self.lowering.flow(range);
        let tree = self.lowering.any(range);
        let range = self.printer.any(&tree);
        let is_later = flow.has_outputs();
        let range_kind = range.kind.clone();
        let (kind, empty) = match &range_kind {
            Kind::Bool => (kind, "var "),
            Kind::Map(_) => (Kind::Map(Box::new(kind)), "{}"),
            Kind::Int | Kind::Float | Kind::List(_) => (kind.list(), "{}"),
            _ => {
                self.printer.refuse("such a range");
                return;
            }
        };
        if name != "_" {
            let ty = self.printer.plain_type(&kind);
            let line = if empty == "{}" {
                format!("{name} := {ty}{{}}")
            } else {
                format!("var {name} {ty}")
            };
            self.printer.line(line, None);
        }
        if is_later {
            if name != "_" {
                // The resources exist only after the output is known.
                self.printer
                    .refuse("references to resources with a range that is an output");
            }
            let output = self.printer.as_output(range);
            let ty = self.printer.plain_type(&range_kind);
            self.printer.open(true);
            let elements = Value::plain(Code::word("elements"), range_kind);
            self.each(&name, elements, Flow::Plain, make);
            let mut body = self.printer.close();
            super::printer::with_result(&mut body, "nil");
            body.push(Statement::Simple("return nil, nil".to_owned(), None));
            let signature = format!("func(elements {ty}) (interface{{}}, error)");
            let function = Code::Function(signature, body);
            let call = output.code.method("ApplyT", vec![function]);
            self.printer.line("", Some(call));
        } else {
            self.each(&name, range, flow.element(), make);
        }
        self.define(position, Value::plain(Code::word(name), kind));
    }

    /// Writes the loop or the condition around a resource.
    fn each(
        &mut self,
        name: &str,
        range: Value,
        element: Flow,
        make: impl FnOnce(&mut Self, Option<&Value>) -> Code,
    ) {
        if !range.is_plain() {
            self.printer.refuse("such a range");
            return;
        }
        let own = if name == "_" { "_" } else { "created" };
        if matches!(range.kind, Kind::Bool) {
            self.printer.open(false);
            let call = make(self, None);
            self.printer.checked(own, call);
            if own != "_" {
                self.printer.line(format!("{name} = created"), None);
            }
            let body = self.printer.close();
            return self.printer.when("if ", Some(range.code), body);
        }
        let is_map = matches!(range.kind, Kind::Map(_));
        let (key_kind, value_kind) = match &range.kind {
            Kind::Map(element) => (Kind::Text, (**element).clone()),
            Kind::List(element) => (Kind::Int, (**element).clone()),
            _ => (Kind::Int, Kind::Int),
        };
        let is_number = range.kind.is_number();
        let (key, value) = match (is_number, is_map) {
            (true, _) => ("index", "index"),
            (false, true) => ("key", "value"),
            (false, false) => ("index", "value"),
        };
        let collection = if is_number {
            self.printer.converted(range, &Want::Plain(Kind::Int)).code
        } else {
            self.printer.as_word("items", range.code)
        };
        self.printer.open(false);
        let key_value = Value::plain(Code::word(key), key_kind);
        let item = Value::plain(Code::word(value), value_kind);
        self.printer.range = Some([key_value.clone(), item]);
        self.printer.used.remove(key);
        self.printer.used.remove(value);
        let fields = Flow::Fields(vec![("key".into(), Flow::Plain), ("value".into(), element)]);
        let outer = self.lowering.enter(vec![("range".into(), fields)]);
        let call = make(self, Some(&key_value));
        self.lowering.leave(outer);
        self.printer.range = None;
        self.printer.checked(own, call);
        if own != "_" {
            let line = if is_map {
                format!("{name}[key] = created")
            } else {
                format!("{name} = append({name}, created)")
            };
            self.printer.line(line, None);
        }
        let body = self.printer.close();
        if is_number {
            self.printer.emit(Statement::Block {
                head: "for index := 0; ".to_owned(),
                condition: Some(Code::binary(Code::word("index"), "<", collection)),
                tail: "; index++",
                body,
                otherwise: None,
            });
        } else {
            let uses_value = self.printer.used.contains(value);
            self.printer
                .iterate(&collection, [key, value], [true, uses_value], is_map, body);
        }
    }

    /// Writes the check of the required engine version.
    pub(super) fn requirement(&mut self) {
        if let Some(version) = &self.program.required_version {
            let tree = self.lowering.value(version, &Type::String);
            let version = self.printer.plain(&tree, Kind::Text);
            let call = Code::call("ctx.RequirePulumiVersion", vec![version]);
            self.registration(call);
        }
    }

    /// Kind of an output of a component, and its value as that output.
    pub(super) fn component_output(&mut self, value: &Expr) -> Value {
        let tree = self.lowering.any(value);
        let value = self.printer.any(&tree);
        if value.form == Form::Output {
            let is_core = Printer::core_output(&value.kind).is_some();
            return if is_core {
                value
            } else {
                self.printer.refuse("an output of such a type")
            };
        }
        let want = match common(std::slice::from_ref(&value)) {
            Want::Plain(kind) | Want::Input(kind) => Want::Input(kind),
            Want::Free => Want::Free,
        };
        let value = self.printer.converted(value, &want);
        self.printer.as_output(value)
    }
}

/// Suffix of the functions that read a setting of a scalar kind.
fn getter(scalar: &str) -> &str {
    match scalar {
        "String" => "",
        other => other,
    }
}

/// Whether a setting that is not there has another value than nothing.
fn has_default(config: &Config) -> bool {
    let default = config.default.as_ref();
    default.is_some_and(|it| !matches!(it.kind, ExprKind::Null))
}
