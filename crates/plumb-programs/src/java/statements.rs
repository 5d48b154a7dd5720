//! Statements in Java: definitions of a program.

use std::collections::BTreeMap;
use std::sync::Arc;

use ecow::EcoString;
use plumb_codegen::programs::JavaClasses;
use plumb_pcl::{
    Component, ComponentSource, Config, Definition, DefinitionKind, Expr, Input, Options, Program,
    Read, Resource, Span, Type,
};

use super::JAVA;
use super::collections::{Setter, builder};
use super::expression::Want;
use super::printer::{Form, Level, Printer, Value};
use super::types::left_of;
use crate::components;
use crate::flow::{Flow, Flows};
use crate::kinds::{Kind, is_plain};
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
    pub(super) is_component: bool,
    pub(super) outputs: &'s Outputs,
    pub(super) report: Report<'s>,
}

/// Head of a loop over a range.
enum Head {
    /// A loop over the entries of a map.
    Entries(Doc),
    /// A loop that counts up to a limit.
    Below(Doc),
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
            self.comment(comment);
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

    fn comment(&mut self, comment: &str) {
        // A Unicode escape has a meaning in comments, too.
        let text = comment.replace("\\u", "\\ u");
        self.lines.plain(format!("// {text}").trim_end());
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
        let row = vec![Doc::text(format!("final var {name} = ")), value, ";".into()];
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
            self.comment(line);
        }
        let kind = match Kind::of(&config.ty.without_none()) {
            Kind::Enum(_, _, underlying) => *underlying,
            kind => kind,
        };
        let (suffix, shape) = match &kind {
            Kind::Text => ("", None),
            Kind::Int => ("Integer", None),
            Kind::Bool => ("Boolean", None),
            Kind::Float if !config.is_secret => ("Double", None),
            kind => ("Object", Some(self.printer.shape(kind))),
        };
        let key = JAVA.string(&definition.logical_name);
        let mut args = vec![Doc::text(key)];
        args.extend(shape.map(Doc::text));
        let secret = if config.is_secret { "Secret" } else { "" };
        let verb = if config.is_required() {
            "require"
        } else {
            "get"
        };
        let call = Doc::arguments(&format!("config.{verb}{secret}{suffix}("), args, ")");
        let value = if config.is_required() {
            Value::plain(call, kind)
        } else {
            let optional = Value::plain(call, Kind::Pointer(Box::new(kind.clone())));
            self.with_default(optional, kind, config)
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

    /// A setting, or its default.
    fn with_default(&mut self, optional: Value, kind: Kind, config: &Config) -> Value {
        let default = config.default.as_ref();
        let default = default.map(|default| self.lowering.value(default, &config.ty));
        let Some(default) = default.filter(|it| !matches!(it, Tree::Null)) else {
            return optional;
        };
        let default = self.printer.plain(&default, kind.clone()).code;
        if !config.is_secret {
            return Value::plain(optional.method("orElse", vec![default]), kind);
        }
        let scope = self.printer.scope.open();
        let item = self.printer.local("it");
        self.printer.scope.close(scope);
        let body = Doc::Row(vec![
            Doc::text(format!("{item} -> {item}.orElse(")),
            default,
            ")".into(),
        ]);
        let chosen = optional.method("applyValue", vec![body]);
        Value::plain(Doc::Row(vec![chosen, ".asSecret()".into()]), kind)
    }

    fn output(&mut self, definition: &Definition, value: &Expr) {
        let tree = self.lowering.any(value);
        let value = self.printer.value(&tree, &Want::Input(Kind::Any));
        let value = match (value.form, &value.kind) {
            (Form::Nested, _) | (_, Kind::Null) => self.printer.as_output(value),
            _ => value,
        };
        let key = Doc::text(JAVA.string(&definition.logical_name));
        let call = Doc::arguments("context.export(", vec![key, value.code], ");");
        self.lines.line(&call);
    }

    /// Qualified class of a resource.
    fn class_of(resource: &Resource) -> Option<String> {
        match resource.token.strip_prefix("pulumi:") {
            Some("pulumi:StackReference") => {
                return Some("com.pulumi.resources.StackReference".to_owned());
            }
            Some("index:Stash") => return Some("com.pulumi.resources.Stash".to_owned()),
            _ => {}
        }
        let ty = resource.ty.as_ref()?;
        let classes = JavaClasses::new(&ty.package);
        if resource.token.starts_with("pulumi:providers:") {
            return Some(classes.provider());
        }
        if resource.token.starts_with("pulumi:") {
            return None;
        }
        Some(classes.resource(&ty.package, &resource.token))
    }

    fn resource(&mut self, position: usize, definition: &Definition, resource: &Resource) {
        let Some(qualified) = Self::class_of(resource) else {
            self.printer
                .refuse(&format!("resources of the type {}", resource.token));
            return;
        };
        let kind = Kind::Resource(resource.ty.clone(), qualified.clone());
        self.repeated(position, &resource.options, kind, |this, key| {
            let name = this.logical_name(definition, key);
            let setters = this.inputs(&resource.inputs);
            let options = this.options(&resource.options, Some(resource));
            let mut args = vec![name];
            if !setters.is_empty() || options.is_some() {
                let class = this.printer.class(&format!("{qualified}Args"));
                args.push(builder(&class, setters));
            }
            args.extend(options);
            let class = this.printer.class(&qualified);
            creation(&class, args)
        });
    }

    fn inputs(&mut self, inputs: &[Input]) -> Vec<Setter> {
        let mut setters = Vec::with_capacity(inputs.len());
        for input in inputs {
            let tree = self.lowering.value(&input.value, &input.ty);
            if matches!(tree, Tree::Null) {
                continue;
            }
            let kind = Kind::of(&input.ty.without_none());
            let left = left_of(&input.ty);
            let args = self.printer.input(&tree, kind, is_plain(&input.ty), left);
            setters.push(Setter {
                comments: input.comments.clone(),
                name: JAVA.property(&input.name),
                args,
            });
        }
        setters
    }

    fn read(&mut self, position: usize, definition: &Definition, read: &Read) {
        let Some(qualified) = Self::class_of(&read.resource) else {
            self.printer
                .refuse(&format!("resources of the type {}", read.resource.token));
            return;
        };
        let tree = self.lowering.value(&read.id, &Type::String);
        let id = self.printer.value(&tree, &Want::Input(Kind::Text));
        let id = self.printer.as_output(id);
        let mut args = vec![self.logical_name(definition, None), id.code];
        let state = read.resource.ty.as_ref().filter(|ty| {
            let inputs = ty.schema.state_inputs.as_ref();
            inputs.is_some_and(|it| !it.is_empty())
        });
        let setters = self.inputs(&read.resource.inputs);
        if let Some(ty) = state {
            let class = JavaClasses::new(&ty.package).state(&ty.package, &read.resource.token);
            args.push(if setters.is_empty() {
                "null".into()
            } else {
                let class = self.printer.class(&class);
                builder(&class, setters)
            });
        }
        let options = self.options(&read.resource.options, Some(&read.resource));
        args.push(options.unwrap_or_else(|| "null".into()));
        let class = self.printer.class(&qualified);
        let call = Doc::arguments(&format!("{class}.get("), args, ")");
        let name = self.name(position);
        self.declare(&name, call);
        let kind = Kind::Resource(read.resource.ty.clone(), qualified);
        self.define(position, Value::plain(name, kind));
    }

    fn component(&mut self, position: usize, definition: &Definition, component: &Component) {
        let ComponentSource::Program(inner) = &component.source else {
            return self.empty_component(position, definition, component);
        };
        let class = component_class(inner, JAVA);
        let outputs = self.outputs.get(&inner.folder).cloned().unwrap_or_default();
        let kind = Kind::Component(class.clone(), outputs);
        let flows = Flows::new(inner, self.lowering.dialect, true);
        let settings = components::settings(inner, |it| flows.is_plain_input(it));
        self.repeated(position, &component.options, kind, |this, key| {
            let name = this.logical_name(definition, key);
            let mut setters = Vec::with_capacity(component.inputs.len());
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
                let want = if *is_plain {
                    Want::Plain(kind.clone())
                } else {
                    Want::Input(kind.clone())
                };
                let value = this.printer.value(&tree, &want);
                let value = match (is_plain, kind) {
                    // The setter of any value would take an output as the value.
                    (false, Kind::Any | Kind::Struct(_)) => this.printer.as_output(value),
                    _ => value,
                };
                setters.push(Setter {
                    comments: input.comments.clone(),
                    name: JAVA.property(&input.name),
                    args: vec![value.code],
                });
            }
            let args = builder(&format!("{class}Args"), setters);
            let options = this.options(&component.options, None);
            let options = options.unwrap_or_else(|| "null".into());
            creation(&class, vec![name, args, options])
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
        let class = "com.pulumi.resources.ComponentResource".to_owned();
        let kind = Kind::Component(class.clone(), Arc::default());
        self.repeated(position, &component.options, kind, |this, key| {
            let mut args = vec![Doc::text(JAVA.string(token))];
            args.push(this.logical_name(definition, key));
            args.extend(this.options(&component.options, None));
            let class = this.printer.class(&class);
            creation(&class, args)
        });
    }

    /// Resource name for the engine; resources with a range have their key as a suffix.
    fn logical_name(&mut self, definition: &Definition, key: Option<&Value>) -> Doc {
        let name = definition.logical_name.as_str();
        let mut row: Vec<Doc> = Vec::new();
        let mut literal = name.to_owned();
        if self.is_component {
            row.push("name + ".into());
            literal.insert(0, '-');
        }
        if key.is_some() {
            literal.push('-');
        }
        row.push(JAVA.string(&literal).into());
        if let Some(key) = key {
            row.extend([" + ".into(), key.at(Level::Multiply)]);
        }
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
            let class = if is_map {
                "java.util.LinkedHashMap"
            } else {
                "java.util.ArrayList"
            };
            let class = self.printer.class(class);
            self.lines
                .plain(&format!("final {ty} {name} = new {class}<>();"));
        }
        if is_later {
            let scope = self.printer.scope.open();
            let elements = self.printer.local("elements");
            let open = format!(".applyValue({elements} -> {{");
            self.lines
                .line(&Doc::Row(vec![range.at(Level::Atom), open.into()]));
            self.lines.deeper();
            let range = Value::plain(elements, range.kind);
            self.each(&name, range, Flow::Plain, make);
            self.lines.plain("return null;");
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
            let head = Doc::Row(vec!["if (".into(), range.code, ") {".into()]);
            self.lines.line(&head);
            self.lines.deeper();
            let made = make(self, None);
            self.lines.line(&Doc::Row(vec![made, ";".into()]));
            self.lines.shallower();
            return self.lines.plain("}");
        }
        let scope = self.printer.scope.open();
        let is_map = matches!(range.kind, Kind::Map(_));
        let (head, key, value) = self.head(range);
        self.printer.range = Some([key.clone(), value]);
        let fields = Flow::Fields(vec![("key".into(), Flow::Plain), ("value".into(), element)]);
        let outer = self.lowering.enter(vec![("range".into(), fields)]);
        let made = make(self, Some(&key));
        self.lowering.leave(outer);
        self.printer.range = None;
        self.printer.scope.close(scope);
        // A callback cannot use a variable that changes.
        let has_callback = made.render(0, 0, 4).contains(" -> ");
        let counter = if has_callback { "i" } else { "index" };
        self.lines.line(&match head {
            Head::Entries(head) => head,
            Head::Below(limit) => Doc::Row(vec![
                Doc::text(format!("for (int {counter} = 0; {counter} < ")),
                limit,
                Doc::text(format!("; {counter}++) {{")),
            ]),
        });
        self.lines.deeper();
        if has_callback && !is_map {
            self.lines.plain("final int index = i;");
        }
        let mut row = if is_map {
            vec![Doc::text(format!("{name}.put(")), key.code, ", ".into()]
        } else {
            vec![Doc::text(format!("{name}.add("))]
        };
        row.extend([made, ");".into()]);
        self.lines.line(&Doc::Row(row));
        self.lines.shallower();
        self.lines.plain("}");
    }

    /// Head of a loop, with the key and the value of the current element.
    fn head(&mut self, range: Value) -> (Head, Value, Value) {
        let is_nested = range.form == Form::Nested;
        let index = Value::plain("index", Kind::Int);
        match range.kind.clone() {
            Kind::Map(inner) => {
                let entry = self.printer.local("entry");
                let class = self.printer.class("java.util.TreeMap");
                let head = Doc::Row(vec![
                    Doc::text(format!("for (var {entry} : new {class}<>(")),
                    range.code,
                    ").entrySet()) {".into(),
                ]);
                let value = Value::plain(format!("{entry}.getValue()"), *inner);
                let value = self.printer.element_of(value, is_nested);
                let key = Value::plain(format!("{entry}.getKey()"), Kind::Text);
                (Head::Entries(head), key, value)
            }
            Kind::List(inner) => {
                let items = match range.code.flat() {
                    Some(word) if word.chars().all(char::is_alphanumeric) => word,
                    _ => {
                        let items = self.printer.names.fresh("items");
                        self.declare(&items, range.code);
                        items
                    }
                };
                let item = Value::plain(format!("{items}.get(index)"), *inner);
                let value = if is_nested && !matches!(item.kind, Kind::Any) {
                    Value::output(item.code, item.kind)
                } else {
                    self.printer.element_of(item, is_nested)
                };
                (Head::Below(format!("{items}.size()").into()), index, value)
            }
            _ => {
                let count = self.printer.converted(range, &Want::Plain(Kind::Int));
                (Head::Below(count.at(Level::Add)), index.clone(), index)
            }
        }
    }

    /// Writes the check of the required engine version.
    pub(super) fn requirement(&mut self) {
        if let Some(version) = &self.program.required_version {
            let tree = self.lowering.value(version, &Type::String);
            let version = self.printer.plain(&tree, Kind::Text).code;
            let class = self.printer.class("com.pulumi.deployment.Deployment");
            let open = format!("{class}.getInstance().requirePulumiVersion(");
            self.lines.line(&Doc::hugged(&open, version, ");"));
        }
    }
}

/// `new Class(args)`.
fn creation(class: &str, args: Vec<Doc>) -> Doc {
    let mut row = vec![Doc::text(format!("new {class}("))];
    for (at, arg) in args.into_iter().enumerate() {
        if at > 0 {
            row.push(", ".into());
        }
        row.push(arg);
    }
    row.push(")".into());
    Doc::Row(row)
}
