//! Statements in TypeScript.

use plumb_codegen::programs::typescript_key;
use plumb_pcl::{
    Component, ComponentSource, Config, Definition, DefinitionKind, Expr, ExprKind, Input, Options,
    Program, Read, Resource, Type,
};
use std::collections::BTreeMap;

use super::expression::{Level, Printer, call};
use super::helpers::Helper;
use super::{NODEJS, types};
use crate::flow::Flow;
use crate::layout::{Doc, Lines};
use crate::lower::Lowering;
use crate::names::{Names, component_class};
use crate::options::{self, AliasTree, OptionTree};
use crate::report::Report;
use crate::tree::Tree;

/// Form of an exported output.
pub(super) enum Export {
    /// `export const name = value;`
    Constant,
    /// `export { name };`, for an existing variable of that name.
    Itself,
    /// A variable with another name, exported under the output's name.
    Renamed(String),
    /// A member of the exports, because the output's name is not an identifier.
    Member,
}

/// Export forms of a program's outputs, by index.
pub(super) fn exports(
    program: &Program,
    names: &mut Names,
    _lowering: &mut Lowering<'_>,
    is_component: bool,
) -> BTreeMap<usize, Export> {
    let mut exports = BTreeMap::new();
    if is_component {
        return exports;
    }
    for (position, definition) in program.definitions.iter().enumerate() {
        if !matches!(definition.kind, DefinitionKind::Output(_)) {
            continue;
        }
        let name = definition.logical_name.as_str();
        let is_identifier = NODEJS.variable(name) == name && typescript_key(name) == name;
        let is_itself = matches!(&definition.kind, DefinitionKind::Output(Expr { kind: ExprKind::Reference(of), .. })
            if names.definition(*of) == name);
        let export = if is_itself && is_identifier {
            Export::Itself
        } else if !is_identifier || name == "default" {
            Export::Member
        } else if names.take(name) {
            names.rename(position, name.to_owned());
            Export::Constant
        } else {
            let own = names.fresh(&format!("{name}Output"));
            names.rename(position, own.clone());
            Export::Renamed(own)
        };
        exports.insert(position, export);
    }
    exports
}

/// Writes the statements of one program.
pub(super) struct Statements<'s, 'p> {
    pub(super) program: &'p Program,
    pub(super) lowering: Lowering<'p>,
    pub(super) printer: Printer<'s>,
    pub(super) lines: &'s mut Lines,
    pub(super) is_component: bool,
    pub(super) exports: BTreeMap<usize, Export>,
    pub(super) report: Report<'s>,
}

impl Statements<'_, '_> {
    pub(super) fn is_config(&self, position: usize) -> bool {
        matches!(
            self.program.definitions[position].kind,
            DefinitionKind::Config(_)
        )
    }

    /// Writes the statements of a definition.
    pub(super) fn definition(&mut self, position: usize) {
        let definition = &self.program.definitions[position];
        self.report.enter(definition);
        if self.is_component
            && matches!(
                definition.kind,
                DefinitionKind::Config(_) | DefinitionKind::Output(_)
            )
        {
            return;
        }
        if !definition.comments.is_empty() {
            self.lines.blank();
        }
        for comment in &definition.comments {
            self.lines.plain(format!("// {comment}").trim_end());
        }
        match &definition.kind {
            DefinitionKind::Local(value) => {
                let value = self.expression(value);
                let name = self.name(position);
                self.constant(&name, value);
            }
            DefinitionKind::Config(config) => self.config(position, definition, config),
            DefinitionKind::Resource(resource) => self.resource(position, definition, resource),
            DefinitionKind::Read(read) => self.read(position, definition, read),
            DefinitionKind::Component(component) => {
                self.component(position, definition, component);
            }
            DefinitionKind::Output(value) => self.output(position, definition, value),
            DefinitionKind::Hook(hook) => self.hook(position, definition, hook),
            DefinitionKind::Unusable => {}
        }
        self.flush();
    }

    fn flush(&mut self) {
        let lowering = std::mem::take(&mut self.lowering.problems);
        self.report.formless(lowering);
    }

    pub(super) fn name(&self, position: usize) -> String {
        self.printer.names.definition(position).to_owned()
    }

    pub(super) fn expression(&mut self, expr: &Expr) -> Doc {
        let tree = self.lowering.any(expr);
        self.printer.value(&tree)
    }

    pub(super) fn constant(&mut self, name: &str, value: Doc) {
        self.assign(&format!("const {name}"), value);
    }

    pub(super) fn assign(&mut self, target: &str, value: Doc) {
        let row = vec![Doc::text(format!("{target} = ")), value, Doc::text(";")];
        self.lines.line(&Doc::Row(row));
    }

    fn config(&mut self, position: usize, definition: &Definition, config: &Config) {
        if let Some(description) = &config.description {
            for line in description.lines() {
                self.lines.plain(format!("// {line}").trim_end());
            }
        }
        let (kind, type_argument) = match config.ty.expand() {
            Type::String | Type::Enum(..) => ("", String::new()),
            Type::Int | Type::Number => ("Number", String::new()),
            Type::Bool => ("Boolean", String::new()),
            _ => ("Object", format!("<{}>", types::plain(&config.ty))),
        };
        let verb = if config.is_required() {
            "require"
        } else {
            "get"
        };
        let secret = if config.is_secret { "Secret" } else { "" };
        let key = NODEJS.string(&definition.logical_name);
        let call = format!("config.{verb}{secret}{kind}{type_argument}({key})");
        let mut row = vec![Doc::text(call)];
        if let Some(default) = &config.default {
            let tree = self.lowering.value(default, &config.ty);
            row.push(Doc::text(" ?? "));
            let value = self.printer.at(&tree, Level::Add);
            row.push(if config.is_secret {
                Doc::hugged("pulumi.secret(", value, ")")
            } else {
                value
            });
        }
        let name = self.name(position);
        self.constant(&name, Doc::Row(row));
    }

    fn output(&mut self, position: usize, definition: &Definition, value: &Expr) {
        let value = self.expression(value);
        let name = self.name(position);
        match self.exports.get(&position) {
            Some(Export::Itself) => {
                let name = &definition.logical_name;
                self.lines.plain(&format!("export {{ {name} }};"));
            }
            Some(Export::Constant) => self.assign(&format!("export const {name}"), value),
            Some(Export::Renamed(own)) => {
                let own = own.clone();
                self.constant(&own, value);
                let name = &definition.logical_name;
                self.lines.plain(&format!("export {{ {own} as {name} }};"));
            }
            Some(Export::Member) | None => {
                let key = NODEJS.string(&definition.logical_name);
                self.assign(&format!("module.exports[{key}]"), value);
            }
        }
    }

    fn class_of(&self, resource: &Resource) -> Option<String> {
        if let Some(member) = resource.token.strip_prefix("pulumi:providers:") {
            let package = self.printer.names.package(member)?;
            return Some(format!("{}.Provider", package.alias));
        }
        if resource.token.starts_with("pulumi:") {
            let class = resource.token.rsplit(':').next()?;
            return Some(format!("pulumi.{class}"));
        }
        let package = resource.ty.as_ref()?.package.name();
        self.printer.qualified(package, &resource.token, |names| {
            names.class(&resource.token)
        })
    }

    fn resource(&mut self, position: usize, definition: &Definition, resource: &Resource) {
        let Some(class) = self.class_of(resource) else {
            let what = format!("the type {} is unknown", resource.token);
            return self.report.problem(definition.span, &what);
        };
        let name = self.name(position);
        self.repeated(&name, &class, &resource.options, |this, suffix| {
            let logical = this.logical_name(definition, suffix);
            let inputs = this.inputs(&resource.inputs);
            let options = this.options(&resource.options, Some(resource));
            creation(&class, logical, inputs, options)
        });
    }

    fn inputs(&mut self, inputs: &[Input]) -> Vec<Doc> {
        let mut entries = Vec::with_capacity(inputs.len());
        for input in inputs {
            let tree = self.lowering.value(&input.value, &input.ty);
            let value = self.printer.value(&tree);
            let mut row = Vec::new();
            for comment in &input.comments {
                row.push(Doc::text(format!("// {comment}").trim_end().to_owned()));
                row.push(Doc::Hard);
            }
            let key = typescript_key(&input.name);
            // Use the shorthand for a property with the value of the variable of its name.
            if value.flat().is_some_and(|text| text == key) {
                row.push(value);
            } else {
                row.push(Doc::text(format!("{key}: ")));
                row.push(value);
            }
            entries.push(Doc::Row(row));
        }
        entries
    }

    fn read(&mut self, position: usize, definition: &Definition, read: &Read) {
        let Some(class) = self.class_of(&read.resource) else {
            let what = format!("the type {} is unknown", read.resource.token);
            return self.report.problem(definition.span, &what);
        };
        let id = self.expression(&read.id);
        let mut args = vec![self.logical_name(definition, None), id];
        let inputs = self.inputs(&read.resource.inputs);
        let options = self.options(&read.resource.options, Some(&read.resource));
        if !inputs.is_empty() || options.is_some() {
            args.push(Doc::spaced_list("{", inputs, "}"));
        }
        args.extend(options);
        let name = self.name(position);
        self.constant(&name, call(&format!("{class}.get"), args));
    }

    fn component(&mut self, position: usize, definition: &Definition, component: &Component) {
        let name = self.name(position);
        let class = match &component.source {
            ComponentSource::Program(program) => component_class(program, NODEJS),
            ComponentSource::Token(_) => "pulumi.ComponentResource".to_owned(),
        };
        self.repeated(&name, &class, &component.options, |this, suffix| {
            let logical = this.logical_name(definition, suffix);
            let inputs = this.inputs(&component.inputs);
            let options = this.options(&component.options, None);
            match &component.source {
                ComponentSource::Program(_) => {
                    let mut args = vec![logical, Doc::spaced_list("{", inputs, "}")];
                    args.extend(options);
                    call(&format!("new {class}"), args)
                }
                ComponentSource::Token(token) => {
                    let mut args = vec![Doc::text(NODEJS.string(token)), logical];
                    if !inputs.is_empty() || options.is_some() {
                        args.push(Doc::spaced_list("{", inputs, "}"));
                    }
                    args.extend(options);
                    call(&format!("new {class}"), args)
                }
            }
        });
    }

    /// Resource name for the engine; resources with a range have their key as a suffix.
    pub(super) fn logical_name(&mut self, definition: &Definition, key: Option<&str>) -> Doc {
        let plain = NODEJS.string(&definition.logical_name);
        if !self.is_component && key.is_none() {
            return Doc::text(plain);
        }
        let inner = plain[1..plain.len() - 1]
            .replace('`', "\\`")
            .replace("${", "\\${");
        let prefix = if self.is_component { "${name}-" } else { "" };
        let suffix = key.map(|key| format!("-${{{key}}}")).unwrap_or_default();
        Doc::text(format!("`{prefix}{inner}{suffix}`"))
    }

    /// Declares the result of `make`, once or for every element of the range; `make` gets the variable of the key.
    fn repeated(
        &mut self,
        name: &str,
        class: &str,
        options: &Options,
        make: impl FnOnce(&mut Self, Option<&str>) -> Doc,
    ) {
        let Some(range) = &options.range else {
            let value = make(self, None);
            return self.constant(name, value);
        };
        let flow = self.lowering.flow(range);
        let tree = self.lowering.any(range);
        let ty = range.ty.without_none().expand();
        let is_later = flow.has_outputs();
        let is_bool = ty == Type::Bool;
        self.lines.plain(&match (is_bool, is_map(&ty)) {
            (true, _) => format!("let {name}: {class} | undefined;"),
            (false, true) => format!("const {name}: {{ [key: string]: {class} }} = {{}};"),
            (false, false) => format!("const {name}: {class}[] = [];"),
        });
        let (collection, element) = if is_later {
            let output = match flow {
                Flow::Output => self.printer.at(&tree, Level::Atom),
                _ => self.printer.value(&Tree::AsOutput(Box::new(tree))),
            };
            self.lines
                .line(&Doc::Row(vec![output, Doc::text(".apply((elements) => {")]));
            self.lines.deeper();
            (Doc::text("elements"), Flow::Plain)
        } else {
            (self.printer.at(&tree, Level::Add), flow.element())
        };
        if is_bool {
            self.lines.line(&Doc::hugged("if (", collection, ") {"));
            self.lines.deeper();
            let value = make(self, None);
            self.assign(name, value);
        } else {
            let is_untyped = self.lowering.is_untyped(range);
            self.each(name, collection, (&ty, is_untyped), element, make);
        }
        self.lines.shallower();
        self.lines.plain("}");
        if is_later {
            self.lines.shallower();
            self.lines.plain("});");
        }
    }

    /// Opens a loop that fills the variable `name`.
    fn each(
        &mut self,
        name: &str,
        collection: Doc,
        (ty, is_untyped): (&Type, bool),
        element: Flow,
        make: impl FnOnce(&mut Self, Option<&str>) -> Doc,
    ) {
        let is_number = matches!(ty, Type::Int | Type::Number);
        let (key, value, head) = if is_number {
            let head = Doc::Row(vec![
                Doc::text("for (let index = 0; index < "),
                collection,
                Doc::text("; index++) {"),
            ]);
            ("index", "index", head)
        } else if is_map(ty) {
            let open = if is_untyped {
                "for (const [key, value] of Object.entries<any>("
            } else {
                "for (const [key, value] of Object.entries("
            };
            ("key", "value", Doc::hugged(open, collection, ").sort()) {"))
        } else {
            let open = "for (const [index, value] of ";
            let head = if *ty == Type::Dynamic {
                self.printer.helpers.insert(Helper::Entries);
                Doc::Row(vec![
                    Doc::text(open),
                    Doc::hugged("entriesOf(", collection, ")"),
                    Doc::text(") {"),
                ])
            } else {
                Doc::hugged(open, collection, ".entries()) {")
            };
            ("index", "value", head)
        };
        self.lines.line(&head);
        self.lines.deeper();
        self.printer.range = Some((key.to_owned(), value.to_owned()));
        let fields = Flow::Fields(vec![("key".into(), Flow::Plain), ("value".into(), element)]);
        let outer = self.lowering.enter(vec![("range".into(), fields)]);
        self.lowering.enter_range(is_untyped);
        let made = make(self, Some(key));
        self.lowering.leave_range();
        self.lowering.leave(outer);
        self.printer.range = None;
        if is_map(ty) {
            self.assign(&format!("{name}[{key}]"), made);
        } else {
            let row = vec![Doc::text(format!("{name}.push(")), made, Doc::text(");")];
            self.lines.line(&Doc::Row(row));
        }
    }

    fn options(&mut self, options: &Options, resource: Option<&Resource>) -> Option<Doc> {
        let ty = resource.and_then(|it| it.ty.as_ref());
        let lowered = options::lower(&mut self.lowering, options, ty);
        let mut entries = Vec::with_capacity(lowered.len());
        if self.is_component && options.parent.is_none() {
            entries.push(Doc::text("parent: this"));
        }
        for option in lowered {
            entries.push(self.option(option));
        }
        entries.extend(self.hooks(options));
        (!entries.is_empty()).then(|| Doc::spaced_list("{", entries, "}"))
    }

    fn option(&mut self, option: OptionTree) -> Doc {
        let named = |name: &str, value: Doc| Doc::Row(vec![Doc::text(format!("{name}: ")), value]);
        match option {
            OptionTree::Value(name, tree) => {
                let value = self.printer.value(&tree);
                named(name, value)
            }
            OptionTree::Resources(name, resources) => {
                let value = self.printer.resources(&resources);
                named(name, value)
            }
            OptionTree::Paths(name, paths) => {
                let paths = paths.iter().map(|path| Doc::text(NODEJS.string(path)));
                named(name, Doc::list("[", paths.collect(), "]"))
            }
            OptionTree::Aliases(aliases) => {
                let aliases = aliases.into_iter().map(|it| self.alias(it)).collect();
                named("aliases", Doc::list("[", aliases, "]"))
            }
            OptionTree::Timeouts(entries) => {
                let entries = entries.iter().map(|(name, value)| {
                    let value = self.printer.value(value);
                    Doc::Row(vec![Doc::text(format!("{name}: ")), value])
                });
                let entries = entries.collect();
                named("customTimeouts", Doc::spaced_list("{", entries, "}"))
            }
        }
    }

    fn alias(&mut self, alias: AliasTree) -> Doc {
        match alias {
            AliasTree::Urn(urn) => self.printer.value(&urn),
            AliasTree::Spec {
                name,
                type_token,
                no_parent,
                parent,
            } => {
                let mut entries = Vec::new();
                for (key, value) in [("name", name), ("type", type_token), ("parent", parent)] {
                    if let Some(value) = value {
                        let row = vec![Doc::text(format!("{key}: ")), self.printer.value(&value)];
                        entries.push(Doc::Row(row));
                    }
                }
                if no_parent {
                    entries.push(Doc::text("parent: pulumi.rootStackResource"));
                }
                Doc::spaced_list("{", entries, "}")
            }
        }
    }
}

fn is_map(ty: &Type) -> bool {
    matches!(ty, Type::Map(_) | Type::Object(_))
}

/// `new Class(name, { inputs }, options)`.
fn creation(class: &str, name: Doc, inputs: Vec<Doc>, options: Option<Doc>) -> Doc {
    let mut args = vec![name];
    if !inputs.is_empty() || options.is_some() {
        args.push(Doc::spaced_list("{", inputs, "}"));
    }
    args.extend(options);
    call(&format!("new {class}"), args)
}
