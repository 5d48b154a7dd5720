//! Statements in Python.

use ecow::EcoString;
use plumb_pcl::{
    Component, ComponentSource, Config, Definition, DefinitionKind, Expr, Input, Options, Program,
    Read, Resource, Type,
};

use super::PYTHON;
use super::expression::{Level, Printer};
use super::helpers::Helper;
use crate::flow::Flow;
use crate::layout::{Doc, Lines};
use crate::lower::Lowering;
use crate::names::component_class;
use crate::options::{self, AliasTree, OptionTree};
use crate::report::Report;
use crate::tree::Tree;

/// Writes the statements of one program.
pub(super) struct Statements<'s, 'p> {
    pub(super) program: &'p Program,
    pub(super) lowering: Lowering<'p>,
    pub(super) printer: Printer<'s>,
    pub(super) lines: &'s mut Lines,
    pub(super) is_component: bool,
    pub(super) uses_types: bool,
    pub(super) report: Report<'s>,
}

impl Statements<'_, '_> {
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
            self.lines.plain(format!("# {comment}").trim_end());
        }
        match &definition.kind {
            DefinitionKind::Local(value) => {
                let value = self.expression(value);
                let name = self.name(position);
                self.assign(&name, value);
            }
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
        self.flush();
    }

    fn flush(&mut self) {
        let lowering = std::mem::take(&mut self.lowering.problems);
        self.report.formless(lowering);
    }

    pub(super) fn name(&self, position: usize) -> String {
        self.printer.names.definition(position).to_owned()
    }

    fn expression(&mut self, expr: &Expr) -> Doc {
        let tree = self.lowering.any(expr);
        self.printer.value(&tree)
    }

    pub(super) fn assign(&mut self, name: &str, value: Doc) {
        let row = vec![Doc::text(format!("{name} = ")), value];
        self.lines.line(&Doc::Row(row));
    }

    fn config(&mut self, position: usize, definition: &Definition, config: &Config) {
        if let Some(description) = &config.description {
            for line in description.lines() {
                self.lines.plain(format!("# {line}").trim_end());
            }
        }
        let (kind, is_object) = match config.ty.expand() {
            Type::String | Type::Enum(..) => ("", false),
            Type::Int => ("_int", false),
            Type::Number => ("_float", false),
            Type::Bool => ("_bool", false),
            _ => ("_object", true),
        };
        let verb = if config.is_required() {
            "require"
        } else {
            "get"
        };
        let secret = if config.is_secret { "_secret" } else { "" };
        let method = format!("config.{verb}{secret}{kind}(");
        let mut args = vec![Doc::text(PYTHON.string(&definition.logical_name))];
        if let Some(default) = &config.default {
            let tree = self.lowering.value(default, &config.ty);
            args.push(self.printer.value(&tree));
        }
        let name = self.name(position);
        let call = Doc::list(&method, args, ")");
        if is_object {
            // Object-valued settings have no type.
            self.uses_types = true;
            return self.assign(&format!("{name}: Any"), call);
        }
        self.assign(&name, call);
    }

    fn output(&mut self, definition: &Definition, value: &Expr) {
        let value = self.expression(value);
        let name = Doc::text(PYTHON.string(&definition.logical_name));
        self.lines
            .line(&Doc::list("pulumi.export(", vec![name, value], ")"));
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
        self.repeated(&name, &resource.options, |this, suffix| {
            let mut args = vec![this.logical_name(definition, suffix)];
            args.extend(this.inputs(resource));
            args.extend(this.options(&resource.options, Some(resource), "pulumi.ResourceOptions("));
            Doc::list(&format!("{class}("), args, ")")
        });
    }

    fn inputs(&mut self, resource: &Resource) -> Vec<Doc> {
        let package = resource.ty.as_ref().map(|it| it.package.name().to_owned());
        let is_stack = resource.token == "pulumi:pulumi:StackReference";
        let mut args = Vec::with_capacity(resource.inputs.len());
        for input in &resource.inputs {
            let names = package
                .as_ref()
                .and_then(|it| self.printer.names.package(it));
            let name = match names {
                _ if is_stack && input.name == "name" => "stack_name".to_owned(),
                Some(package) => package.names.parameter(&input.name),
                None => PYTHON.property(&input.name),
            };
            args.push(self.input(&name, input));
        }
        args
    }

    fn input(&mut self, name: &str, input: &Input) -> Doc {
        let tree = self.lowering.value(&input.value, &input.ty);
        let value = self.printer.value(&tree);
        let mut row = Vec::new();
        for comment in &input.comments {
            row.push(Doc::text(format!("# {comment}").trim_end().to_owned()));
            row.push(Doc::Hard);
        }
        row.push(Doc::text(format!("{name}=")));
        row.push(value);
        Doc::Row(row)
    }

    fn read(&mut self, position: usize, definition: &Definition, read: &Read) {
        let Some(class) = self.class_of(&read.resource) else {
            let what = format!("the type {} is unknown", read.resource.token);
            return self.report.problem(definition.span, &what);
        };
        let id = self.expression(&read.id);
        let mut args = vec![self.logical_name(definition, None), id];
        args.extend(self.inputs(&read.resource));
        let resource = Some(&read.resource);
        args.extend(self.options(&read.resource.options, resource, "pulumi.ResourceOptions("));
        let name = self.name(position);
        self.assign(&name, Doc::list(&format!("{class}.get("), args, ")"));
    }

    fn component(&mut self, position: usize, definition: &Definition, component: &Component) {
        let name = self.name(position);
        self.repeated(&name, &component.options, |this, suffix| {
            let logical = this.logical_name(definition, suffix);
            match &component.source {
                ComponentSource::Program(program) => {
                    let mut args = vec![logical];
                    for input in &component.inputs {
                        args.push(this.input(&super::component::parameter(&input.name), input));
                    }
                    args.extend(this.options(&component.options, None, "pulumi.ResourceOptions("));
                    let class = component_class(program, PYTHON);
                    Doc::list(&format!("{class}("), args, ")")
                }
                ComponentSource::Token(token) => {
                    let mut entries = Vec::new();
                    for input in &component.inputs {
                        let value = this.expression(&input.value);
                        let key = format!("{}: ", PYTHON.string(&input.name));
                        entries.push(Doc::Row(vec![Doc::text(key), value]));
                    }
                    let mut args = vec![
                        Doc::text(PYTHON.string(token)),
                        logical,
                        Doc::list("{", entries, "}"),
                    ];
                    args.extend(this.options(&component.options, None, "pulumi.ResourceOptions("));
                    Doc::list("pulumi.ComponentResource(", args, ")")
                }
            }
        });
    }

    /// Resource name for the engine; resources with a range have their key as a suffix.
    pub(super) fn logical_name(&mut self, definition: &Definition, key: Option<&str>) -> Doc {
        let plain = PYTHON.string(&definition.logical_name);
        if !self.is_component && key.is_none() {
            return Doc::text(plain);
        }
        let inner = plain[1..plain.len() - 1]
            .replace('{', "{{")
            .replace('}', "}}");
        let prefix = if self.is_component {
            "{resource_name}-"
        } else {
            ""
        };
        let suffix = key.map(|key| format!("-{{{key}}}")).unwrap_or_default();
        Doc::text(format!("f\"{prefix}{inner}{suffix}\""))
    }

    /// Assigns the result of `make`, once or for every element of the range; `make` gets the variable of the key.
    fn repeated(
        &mut self,
        name: &str,
        options: &Options,
        make: impl FnOnce(&mut Self, Option<&str>) -> Doc,
    ) {
        let Some(range) = &options.range else {
            let value = make(self, None);
            return self.assign(name, value);
        };
        let flow = self.lowering.flow(range);
        let tree = self.lowering.any(range);
        let ty = range.ty.without_none().expand();
        if flow.has_outputs() {
            return self.repeated_later(name, &tree, &flow, &ty, make);
        }
        if ty == Type::Bool {
            let condition = self.printer.value(&tree);
            self.lines.plain(&format!("{name} = None"));
            self.lines.line(&Doc::hugged("if ", condition, ":"));
            self.lines.deeper();
            let value = make(self, None);
            self.assign(name, value);
            self.lines.shallower();
            return;
        }
        let collection = self.printer.value(&tree);
        let atom = self.printer.at(&tree, Level::Atom);
        self.start(name, &ty);
        self.each(name, collection, atom, &ty, flow.element(), make);
    }

    fn start(&mut self, name: &str, ty: &Type) {
        let empty = if is_map(ty) { "{}" } else { "[]" };
        self.lines.plain(&format!("{name} = {empty}"));
    }

    /// Writes a loop that fills the variable `name`.
    fn each(
        &mut self,
        name: &str,
        collection: Doc,
        atom: Doc,
        ty: &Type,
        element: Flow,
        make: impl FnOnce(&mut Self, Option<&str>) -> Doc,
    ) {
        let is_number = matches!(ty, Type::Int | Type::Number);
        let (key, value, head) = if is_number {
            let head = Doc::hugged("for index in range(", collection, "):");
            ("index", "index", head)
        } else if is_map(ty) {
            let head = Doc::hugged("for key, value in sorted(", atom, ".items()):");
            ("key", "value", head)
        } else {
            let open = if *ty == Type::Dynamic {
                self.printer.helpers.insert(Helper::Entries);
                "for index, value in entries_of("
            } else {
                "for index, value in enumerate("
            };
            ("index", "value", Doc::hugged(open, collection, "):"))
        };
        self.lines.line(&head);
        self.lines.deeper();
        self.printer.range = Some((key.to_owned(), value.to_owned()));
        let names: &[&str] = if key == value { &[key] } else { &[key, value] };
        let depth = self.printer.loops.enter(names);
        let fields = Flow::Fields(vec![("key".into(), Flow::Plain), ("value".into(), element)]);
        let variables: Vec<(EcoString, Flow)> = vec![("range".into(), fields)];
        let outer = self.lowering.enter(variables);
        let made = make(self, Some(key));
        self.lowering.leave(outer);
        self.printer.loops.leave(depth);
        self.printer.range = None;
        let row = if is_map(ty) {
            vec![Doc::text(format!("{name}[{key}] = ")), made]
        } else {
            vec![Doc::text(format!("{name}.append(")), made, Doc::text(")")]
        };
        self.lines.line(&Doc::Row(row));
        self.lines.shallower();
    }

    /// Writes registrations that wait for a range that is an output.
    fn repeated_later(
        &mut self,
        name: &str,
        tree: &Tree,
        flow: &Flow,
        ty: &Type,
        make: impl FnOnce(&mut Self, Option<&str>) -> Doc,
    ) {
        let output = if super::is_surely_output(flow) {
            self.printer.at(tree, Level::Atom)
        } else {
            let tree = Tree::AsOutput(Box::new(tree.clone()));
            self.printer.value(&tree)
        };
        let is_bool = *ty == Type::Bool;
        if is_bool {
            self.lines.plain(&format!("{name} = None"));
        } else {
            self.start(name, ty);
        }
        self.lines.blank();
        self.lines.plain(&format!("def create_{name}(elements):"));
        self.lines.deeper();
        if is_bool {
            self.lines.plain(&format!(
                "{} {name}",
                if self.is_component {
                    "nonlocal"
                } else {
                    "global"
                }
            ));
            self.lines.plain("if elements:");
            self.lines.deeper();
            let value = make(self, None);
            self.assign(name, value);
            self.lines.shallower();
        } else {
            let elements = Doc::text("elements");
            self.each(name, elements.clone(), elements, ty, Flow::Plain, make);
        }
        self.lines.shallower();
        self.lines.blank();
        let call = vec![output, Doc::text(format!(".apply(create_{name})"))];
        self.lines.line(&Doc::Row(call));
    }

    fn options(
        &mut self,
        options: &Options,
        resource: Option<&Resource>,
        class: &str,
    ) -> Option<Doc> {
        let ty = resource.and_then(|it| it.ty.as_ref());
        let lowered = options::lower(&mut self.lowering, options, ty);
        let mut args = Vec::with_capacity(lowered.len());
        if self.is_component && options.parent.is_none() {
            args.push(Doc::text("parent=self"));
        }
        for option in lowered {
            args.push(self.option(option));
        }
        args.extend(self.hooks(options));
        if args.is_empty() {
            return None;
        }
        let list = Doc::list(class, args, ")");
        Some(Doc::Row(vec![Doc::text("opts="), list]))
    }

    fn option(&mut self, option: OptionTree) -> Doc {
        let named = |name: &str, value: Doc| {
            let name = match name {
                "import" => "import_".to_owned(),
                "pluginDownloadURL" => "plugin_download_url".to_owned(),
                name => PYTHON.property(name),
            };
            Doc::Row(vec![Doc::text(format!("{name}=")), value])
        };
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
                let paths = paths.iter().map(|path| Doc::text(PYTHON.string(path)));
                named(name, Doc::list("[", paths.collect(), "]"))
            }
            OptionTree::Aliases(aliases) => {
                let aliases = aliases.into_iter().map(|it| self.alias(it)).collect();
                named("aliases", Doc::list("[", aliases, "]"))
            }
            OptionTree::Timeouts(entries) => {
                let entries = entries.iter().map(|(name, value)| {
                    let value = self.printer.value(value);
                    Doc::Row(vec![Doc::text(format!("{name}=")), value])
                });
                let entries = entries.collect();
                named(
                    "customTimeouts",
                    Doc::list("pulumi.CustomTimeouts(", entries, ")"),
                )
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
                let mut args = Vec::new();
                for (key, value) in [("name", name), ("type_", type_token), ("parent", parent)] {
                    if let Some(value) = value {
                        let row = vec![Doc::text(format!("{key}=")), self.printer.value(&value)];
                        args.push(Doc::Row(row));
                    }
                }
                if no_parent {
                    args.push(Doc::text("parent=None"));
                }
                Doc::list("pulumi.Alias(", args, ")")
            }
        }
    }
}

fn is_map(ty: &Type) -> bool {
    matches!(ty, Type::Map(_) | Type::Object(_))
}
