//! Statements in Rust: definitions of a program.

use std::collections::BTreeMap;
use std::sync::Arc;

use ecow::EcoString;
use plumb_pcl::{
    Component, ComponentSource, Config, Definition, DefinitionKind, Expr, Input, Options, Program,
    Read, Resource, Span, Type,
};

use super::RUST;
use super::access::is_built_in;
use super::collections::kind_of;
use super::printer::{Form, Hold, Level, Printer, Value};
use crate::components;
use crate::flow::{Flow, Flows};
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
    pub(super) is_component: bool,
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
    fn declare(&mut self, position: usize, ty: &str, value: Doc) -> String {
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
            let mut required = Vec::new();
            let mut fields = Vec::with_capacity(settings.len());
            let mut is_complete = true;
            for (_, name, config, kind, is_plain) in &settings {
                let given = component.inputs.iter().find(|it| it.name == *name);
                let tree = given.map(|it| this.lowering.value(&it.value, &it.ty));
                let tree = tree.filter(|it| !matches!(it, Tree::Null));
                let kind = super::types::normal(kind.clone());
                let Some(tree) = tree else {
                    is_complete = false;
                    if config.is_required() {
                        this.printer.refuse("a component without a required input");
                    }
                    continue;
                };
                if config.is_required() && !is_plain {
                    required.push(this.printer.argument(&tree, &kind).0);
                    continue;
                }
                let value = this.setting(&tree, &kind, *is_plain);
                if config.is_required() {
                    required.push(value);
                    continue;
                }
                let value = if super::component::is_optional(config) {
                    Doc::hugged("Some(", value, ")")
                } else {
                    value
                };
                let field = RUST.property(name);
                fields.push(match value.flat() {
                    Some(text) if text == field => value,
                    _ => Doc::Row(vec![Doc::text(format!("{field}: ")), value]),
                });
            }
            // All optional ones are given, so that nothing is left for the update.
            let is_complete = is_complete && required.is_empty();
            for input in &component.inputs {
                if !settings.iter().any(|it| it.1 == input.name) {
                    let name = &input.name;
                    this.printer.refuse(&format!("the unknown input {name}"));
                }
            }
            let class = this.printer.import(&path);
            let args = if settings.is_empty() {
                "()".into()
            } else {
                let args = this.printer.import(&format!("{path}Args"));
                let made = Doc::list(&format!("{args}::new("), required, ")");
                if fields.is_empty() {
                    made
                } else {
                    if !is_complete {
                        fields.push(Doc::Row(vec!["..".into(), made]));
                    }
                    // The last part of a struct has no comma behind it.
                    Doc::arguments(&format!("{args} {{ "), fields, " }")
                }
            };
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

    /// Value of a component's setting.
    fn setting(&mut self, tree: &Tree, kind: &Kind, is_plain: bool) -> Doc {
        if is_plain {
            return self.printer.owned(tree, kind.clone());
        }
        let (code, word) = self.printer.argument(tree, kind);
        into_input(code, &word)
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
        if self.is_component {
            Doc::hugged("&ctx.name(", code, ")")
        } else {
            code
        }
    }

    /// Declares the result of `make`, once or for every element of the range; `make` gets the key.
    fn repeated(
        &mut self,
        position: usize,
        options: &Options,
        kind: Kind,
        make: impl FnOnce(&mut Self, Option<&Value>) -> Doc,
    ) {
        let Some(range) = &options.range else {
            let value = make(self, None);
            return self.single(position, value, kind);
        };
        let flow = self.lowering.flow(range);
        let tree = self.lowering.any(range);
        let range = self.printer.any(&tree);
        let is_map = matches!(range.kind.present(), Kind::Map(_) | Kind::Struct(_));
        let range = self.printer.collection(range, is_map);
        if range.form == Form::Output {
            return self.later(position, &range, kind, make);
        }
        if matches!(range.kind, Kind::Bool) {
            let outer = std::mem::replace(&mut self.printer.is_fallible, false);
            let made = make(self, None);
            self.printer.is_fallible = outer;
            let row = vec![
                "if ".into(),
                range.code,
                " { Some(".into(),
                made,
                ") } else { None }".into(),
            ];
            let name = self.declare(position, "", Doc::Row(row));
            let kind = Kind::Pointer(Box::new(kind));
            return self.define(position, Value::plain(name, kind).held(Hold::Place));
        }
        let whole = match &range.kind {
            Kind::Map(_) => Kind::Map(Box::new(kind)),
            Kind::Int | Kind::Float | Kind::List(_) => kind.list(),
            _ => {
                self.printer.refuse("such a range");
                return;
            }
        };
        let name = self.name(position);
        let collected = self.is_used[position].then_some(name.as_str());
        if collected.is_some() {
            let empty = self.empty(&whole);
            self.lines.plain(&format!("let mut {name} = {empty};"));
        }
        self.each(collected, range, flow.element(), make);
        self.define(position, Value::plain(name, whole).held(Hold::Place));
    }

    fn empty(&mut self, kind: &Kind) -> String {
        match kind {
            Kind::Map(_) => format!("{}::new()", self.printer.map_type()),
            _ => "Vec::new()".to_owned(),
        }
    }

    /// Declares a resource without a range.
    fn single(&mut self, position: usize, code: Doc, kind: Kind) {
        let name = self.name(position);
        if self.is_used[position] {
            self.declare(position, "", code);
        } else {
            self.lines.line(&Doc::Row(vec![code, ";".into()]));
        }
        self.define(position, Value::plain(name, kind).held(Hold::Place));
    }

    /// Resources for a range that is known later: a callback makes them.
    fn later(
        &mut self,
        position: usize,
        range: &Value,
        kind: Kind,
        make: impl FnOnce(&mut Self, Option<&Value>) -> Doc,
    ) {
        let scope = self.printer.scope.open();
        let elements = self.printer.local("elements");
        let inner = Value::plain(elements.clone(), range.kind.clone()).held(Hold::Place);
        let outer = std::mem::replace(&mut self.lines, Lines::new(4));
        let captured = std::mem::take(&mut self.printer.captured);
        let fallible = std::mem::replace(&mut self.printer.is_fallible, false);
        self.printer.depth += 1;
        self.lines.deeper();
        let is_map = matches!(range.kind.present(), Kind::Map(_) | Kind::Struct(_));
        let inner = self.printer.collection(inner, is_map);
        let (whole, result) = match &inner.kind {
            Kind::Bool => (Kind::Pointer(Box::new(kind)), "made"),
            Kind::Map(_) => (Kind::Map(Box::new(kind)), "made"),
            _ => (kind.list(), "made"),
        };
        if matches!(inner.kind, Kind::Bool) {
            self.lines.plain(&format!("let mut {result} = None;"));
            self.lines
                .line(&Doc::Row(vec!["if ".into(), inner.code, " {".into()]));
            self.lines.deeper();
            let made = make(self, None);
            let open = format!("{result} = Some(");
            self.lines.line(&Doc::hugged(&open, made, ");"));
            self.lines.shallower();
            self.lines.plain("}");
        } else {
            let empty = self.empty(&whole);
            self.lines.plain(&format!("let mut {result} = {empty};"));
            self.each(Some(result), inner, Flow::Plain, make);
        }
        let is_fallible = std::mem::replace(&mut self.printer.is_fallible, fallible);
        self.lines.plain(if is_fallible {
            "Ok::<_, plumb::Error>(made)"
        } else {
            result
        });
        self.printer.depth -= 1;
        let body = std::mem::replace(&mut self.lines, outer).into_text();
        let mut used = std::mem::replace(&mut self.printer.captured, captured);
        used.remove(&elements);
        self.printer.scope.close(scope);
        let method = if is_fallible { "try_map" } else { "map" };
        let copies = used.iter().filter(|it| *it.1);
        let mut rows = vec![range.at(Level::Atom), Doc::text(format!(".{method}({{"))];
        let mut inner = Vec::new();
        for (name, _) in copies {
            inner.push(Doc::Hard);
            inner.push(Doc::text(format!("let {name} = {name}.clone();")));
        }
        inner.push(Doc::Hard);
        inner.push(Doc::text(format!("move |{elements}| {{")));
        for line in body.lines() {
            inner.push(Doc::Hard);
            inner.push(Doc::text(line));
        }
        inner.extend([Doc::Hard, "}".into()]);
        rows.push(Doc::Nest(Box::new(Doc::Row(inner))));
        rows.extend([Doc::Hard, "})".into()]);
        self.printer.captured.extend(used);
        let name = self.declare(position, "", Doc::Row(rows));
        self.define(position, Value::output(name, whole).held(Hold::Place));
    }

    /// Writes the loop around a resource.
    fn each(
        &mut self,
        collected: Option<&str>,
        range: Value,
        element: Flow,
        make: impl FnOnce(&mut Self, Option<&Value>) -> Doc,
    ) {
        let scope = self.printer.scope.open();
        let form = if range.form == Form::Nested {
            Form::Output
        } else {
            Form::Plain
        };
        let is_map = matches!(range.kind, Kind::Map(_));
        let key = self.printer.local(if is_map { "key" } else { "index" });
        let kind = if is_map { Kind::Text } else { Kind::Int };
        let is_lent = matches!(range.hold, Hold::Place | Hold::Borrowed);
        let key = if is_map && is_lent {
            self.printer.element_variable(&key, kind, Form::Plain)
        } else {
            Value::plain(key, kind).held(Hold::Place)
        };
        let (head, value) = match &range.kind {
            Kind::Map(inner) | Kind::List(inner) => {
                let name = self.printer.local("value");
                let kind = (**inner).clone();
                let value = if is_lent {
                    self.printer.element_variable(&name, kind, form)
                } else {
                    Value::new(name, kind, form).held(Hold::Place)
                };
                let source = match (is_lent, is_map) {
                    (true, false) if value.is_copy() => {
                        let copies = Doc::text(".iter().copied()");
                        Doc::Row(vec![range.at(Level::Atom), copies])
                    }
                    (true, _) => range.reference(),
                    (false, _) => without_vec(range.code.clone()),
                };
                let source = if is_map {
                    source
                } else {
                    Doc::hugged("(0_i64..).zip(", source, ")")
                };
                (source, value)
            }
            _ => {
                let count = self.printer.as_plain(range.clone(), &Kind::Int);
                let head = Doc::Row(vec!["0..".into(), count.at(Level::Add)]);
                (head, key.clone())
            }
        };
        self.printer.range = Some([key.clone(), value.clone()]);
        let fields = Flow::Fields(vec![("key".into(), Flow::Plain), ("value".into(), element)]);
        let outer = self.lowering.enter(vec![("range".into(), fields)]);
        let fallible = self.printer.is_fallible;
        let made = make(self, Some(&key));
        if self.printer.depth == 0 {
            self.printer.is_fallible = fallible;
        }
        self.lowering.leave(outer);
        self.printer.range = None;
        self.printer.scope.close(scope);
        let text = made.render(0, 0, 4);
        let word = |value: &Value, is_needed: bool| {
            let name = value.code.flat().unwrap_or_default();
            let mark = if is_needed || mentions(&text, &name) {
                ""
            } else {
                "_"
            };
            format!("{mark}{name}")
        };
        let key_word = word(&key, is_map && collected.is_some());
        let pattern = match &range.kind {
            Kind::Map(_) | Kind::List(_) => {
                let mark = if is_map && is_lent && value.is_copy() {
                    "&"
                } else {
                    ""
                };
                format!("({key_word}, {mark}{})", word(&value, false))
            }
            _ => key_word,
        };
        for name in [&key, &value] {
            self.printer
                .captured
                .remove(&name.code.flat().unwrap_or_default());
        }
        let open = Doc::text(format!("for {pattern} in "));
        self.lines.line(&Doc::Row(vec![open, head, " {".into()]));
        self.lines.deeper();
        self.lines.line(&match (collected, is_map) {
            (None, _) => Doc::Row(vec![made, ";".into()]),
            (Some(name), false) => Doc::hugged(&format!("{name}.push("), made, ");"),
            (Some(_), true) => Doc::Row(vec!["let created = ".into(), made, ";".into()]),
        });
        if let (Some(name), true) = (collected, is_map) {
            let open = format!("{name}.insert(");
            let line = Doc::hugged(&open, key.owned().code, ", created);");
            self.lines.line(&line);
        }
        self.lines.shallower();
        self.lines.plain("}");
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

/// The elements of a new vector as an array.
fn without_vec(code: Doc) -> Doc {
    match code {
        Doc::Group(mut pieces) => {
            if let Some(Doc::Text(open)) = pieces.first_mut()
                && open == "vec!["
            {
                "[".clone_into(open);
            }
            Doc::Group(pieces)
        }
        other => other,
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

/// The input of an argument, whose type has this word.
pub(super) fn into_input(code: Doc, word: &str) -> Doc {
    match code.flat() {
        _ if word == "Input" => code,
        Some(text) if text.starts_with('&') || text.contains([' ', '[']) => {
            Doc::hugged("(", code, ").into()")
        }
        _ => Doc::Row(vec![code, ".into()".into()]),
    }
}
