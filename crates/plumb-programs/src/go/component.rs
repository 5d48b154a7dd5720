//! Components in Go: a struct, the struct of its inputs, and its constructor.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ecow::EcoString;
use plumb_pcl::{Config, DefinitionKind, Program};

use super::GO;
use super::expression::Want;
use super::kinds::Kind;
use super::printer::{Form, Printer, Value};
use super::statements::Statements;
use super::syntax::{Code, Statement};
use crate::dialect::Dialect;
use crate::flow::Flows;
use crate::names::{camel, component_class};
use crate::tree::Tree;
use crate::{components, order};

/// Names of a component.
pub(super) struct Component {
    /// Name of its struct.
    pub(super) class: String,
    /// Path of its file.
    pub(super) file: String,
}

/// Names of the components of a program, by folder. All of them are in one package.
pub(super) fn components(program: &Program) -> BTreeMap<String, Component> {
    let mut classes = BTreeSet::new();
    let mut files = BTreeSet::from(["main".to_owned()]);
    let mut named = BTreeMap::new();
    for (folder, inner) in components::all(program) {
        let path = folder.replace(['/', '_'], "-");
        let mut class = component_class(&inner, GO);
        let longer = GO.class(&camel(&path));
        let mut number = 1;
        // The structs of inputs and the constructors have names, too.
        while names_of(&class).iter().any(|it| classes.contains(it)) {
            class.clone_from(&longer);
            if number > 1 {
                class.push_str(&number.to_string());
            }
            number += 1;
        }
        classes.extend(names_of(&class));
        let wanted = camel(&path);
        let mut file = wanted.clone();
        let mut number = 2;
        while !files.insert(file.to_lowercase()) {
            file = format!("{wanted}{number}");
            number += 1;
        }
        let file = format!("{file}.go");
        named.insert(folder, Component { class, file });
    }
    named
}

fn names_of(class: &str) -> [String; 3] {
    [
        class.to_owned(),
        format!("{class}Args"),
        format!("New{class}"),
    ]
}

fn configs(program: &Program) -> impl Iterator<Item = (usize, &Config)> {
    let definitions = program.definitions.iter().enumerate();
    definitions.filter_map(|(position, definition)| match &definition.kind {
        DefinitionKind::Config(config) => Some((position, &**config)),
        _ => None,
    })
}

/// Inputs of a component: whether they are plain, and their kinds.
pub(super) fn settings(program: &Program) -> Vec<(&str, (bool, Kind))> {
    let flows = Flows::new(program, Dialect::of(GO), true);
    let inputs = configs(program).map(|(position, config)| {
        let kind = Kind::of(&config.ty.without_none());
        let kind = if config.is_required() {
            kind
        } else {
            kind.optional()
        };
        let name = program.definitions[position].logical_name.as_str();
        (name, (flows.is_plain_input(position), kind))
    });
    inputs.collect()
}

/// Declarations of a component: its structs and its constructor. Returns the kinds of its outputs, too.
pub(super) fn declarations(
    statements: &mut Statements<'_, '_>,
) -> (Vec<Statement>, Arc<Vec<(EcoString, Kind)>>) {
    let program = statements.program;
    let class = statements.class_of_component(program);
    let args = args(statements, &class);
    let printer = &mut statements.printer;
    printer.open(true);
    let empty = vec![Statement::Simple(format!("args = &{class}Args{{}}"), None)];
    printer.when("if args == nil", None, empty);
    printer.line(format!("component := &{class}{{}}"), None);
    inputs(statements);
    registration(statements, &class);
    for position in order::order(program) {
        statements.definition(position);
    }
    let outputs = outputs(statements);
    let mut body = statements.printer.close();
    super::printer::with_result(&mut body, "nil");
    let mut fields = vec![[
        String::new(),
        "pulumi.ResourceState".to_owned(),
        String::new(),
    ]];
    if !outputs.is_empty() {
        fields.push([String::new(), String::new(), String::new()]);
    }
    for (name, kind) in &outputs {
        let ty = Printer::core_output(kind).unwrap_or_else(|| "pulumi.AnyOutput".to_owned());
        let tag = format!("`pulumi:{}`", GO.string(name));
        fields.push([GO.property(name), ty, tag]);
    }
    let signature = format!(
        "func New{class}(ctx *pulumi.Context, name string, args *{class}Args, opts ...pulumi.ResourceOption) (*{class}, error)"
    );
    let declarations = vec![
        Statement::Comment(format!("{class} is a component.")),
        Statement::Fields(format!("type {class} struct"), fields),
        Statement::Blank,
        Statement::Comment(format!("{class}Args has the inputs of {class}.")),
        args,
        Statement::Blank,
        Statement::Comment(format!("New{class} creates the component.")),
        Statement::Block {
            head: signature,
            condition: None,
            tail: "",
            body,
            otherwise: None,
        },
    ];
    (declarations, Arc::new(outputs))
}

fn args(statements: &mut Statements<'_, '_>, class: &str) -> Statement {
    let mut fields = Vec::new();
    for (name, (is_plain, kind)) in settings(statements.program) {
        if has_struct(&kind) {
            statements
                .printer
                .refuse("inputs of components with members");
        }
        let ty = if is_plain {
            statements.printer.plain_type(&kind)
        } else {
            statements.printer.input_type(&kind)
        };
        fields.push([GO.property(name), ty, String::new()]);
    }
    Statement::Fields(format!("type {class}Args struct"), fields)
}

/// Whether a kind has objects without a type of a package, which have no name that callers could use.
fn has_struct(kind: &Kind) -> bool {
    match kind {
        Kind::Struct(_) => true,
        Kind::List(inner) | Kind::Map(inner) | Kind::Pointer(inner) => has_struct(inner),
        _ => false,
    }
}

/// Defines the settings of the component as its inputs or their defaults.
fn inputs(statements: &mut Statements<'_, '_>) {
    let program = statements.program;
    let settings = settings(program);
    for ((position, config), (name, (is_plain, kind))) in configs(program).zip(settings) {
        let definition = &program.definitions[position];
        statements.report.enter(definition);
        for line in config.description.iter().flat_map(|it| it.lines()) {
            let comment = Statement::Comment(line.to_owned());
            statements.printer.emit(comment);
        }
        let field = Code::word(format!("args.{}", GO.property(name)));
        let form = if is_plain { Form::Plain } else { Form::Input };
        let is_used = statements.is_used[position] || config.default.is_some();
        if !is_used || config.is_required() || is_plain && config.default.is_none() {
            let code = field;
            statements.define(position, Value { code, kind, form });
            continue;
        }
        let variable = statements.printer.names.definition(position).to_owned();
        let tree = match &config.default {
            Some(default) => statements.lowering.value(default, &config.ty),
            None => Tree::Null,
        };
        let printer = &mut statements.printer;
        let is_missing = Code::binary(field.clone(), "==", Code::word("nil"));
        let is_given = Code::binary(field.clone(), "!=", Code::word("nil"));
        if is_plain && !matches!(tree, Tree::Null) {
            // A plain input with a default is present afterwards.
            let present = kind.present().clone();
            let default = printer.plain(&tree, present.clone());
            let default = match present {
                Kind::Float => default.into_float(),
                _ => default,
            };
            printer.line(format!("{variable} := "), Some(default));
            let given = if matches!(kind, Kind::Pointer(_)) {
                Code::Unary("*", Box::new(field))
            } else {
                field
            };
            let body = vec![Statement::Simple(format!("{variable} = "), Some(given))];
            printer.when("if ", Some(is_given), body);
            statements.define(position, Value::plain(Code::word(variable), present));
        } else {
            let value = if let (Tree::Null, Some(scalar)) = (&tree, kind.present().scalar()) {
                // An interface without a value has no methods.
                Code::call(
                    format!("pulumi.{scalar}PtrFromPtr"),
                    vec![Code::word("nil")],
                )
            } else {
                printer.expression(&tree, &Want::Input(kind.clone()))
            };
            printer.line(format!("{variable} := "), Some(field));
            let body = vec![Statement::Simple(format!("{variable} = "), Some(value))];
            printer.when("if ", Some(is_missing), body);
            let code = Code::word(variable);
            statements.define(position, Value { code, kind, form });
        }
        statements.flush(definition.span);
    }
}

/// Registers the component, with the values of its settings as inputs.
fn registration(statements: &mut Statements<'_, '_>, class: &str) {
    let program = statements.program;
    let mut inputs = Vec::new();
    for (position, _) in configs(program) {
        let key = GO.string(&program.definitions[position].logical_name);
        let input = Want::Input(Kind::Any);
        let value = statements
            .printer
            .expression(&Tree::Definition(position), &input);
        inputs.push((Code::word(key), value));
    }
    let token = GO.string(&format!("components:index:{class}"));
    let mut call = vec![Code::word(token), Code::word("name")];
    let function = if inputs.is_empty() {
        "ctx.RegisterComponentResource"
    } else {
        call.push(Code::keyed("pulumi.Map", inputs, true));
        "ctx.RegisterComponentResourceV2"
    };
    call.extend(["component", "opts..."].map(Code::word));
    statements.registration(Code::call(function, call));
}

/// Assigns and registers the outputs.
fn outputs(statements: &mut Statements<'_, '_>) -> Vec<(EcoString, Kind)> {
    let program = statements.program;
    let mut kinds = Vec::new();
    let mut registered = Vec::new();
    for definition in &program.definitions {
        let DefinitionKind::Output(value) = &definition.kind else {
            continue;
        };
        statements.report.enter(definition);
        let value = statements.component_output(value);
        let name = &definition.logical_name;
        let place = format!("component.{}", GO.property(name));
        statements
            .printer
            .line(format!("{place} = "), Some(value.code));
        kinds.push((name.clone(), value.kind));
        registered.push((Code::word(GO.string(name)), Code::word(place)));
        statements.flush(definition.span);
    }
    let registered = Code::keyed("pulumi.Map", registered, true);
    let args = vec![Code::word("component"), registered];
    statements.registration(Code::call("ctx.RegisterResourceOutputs", args));
    statements.printer.line("return component, nil", None);
    kinds
}
