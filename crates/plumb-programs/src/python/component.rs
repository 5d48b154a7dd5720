//! Components in Python: a class whose constructor has the inputs as parameters.

use plumb_pcl::{Config, DefinitionKind, Program, Type};

use super::PYTHON;
use super::statements::Statements;
use crate::layout::Doc;
use crate::names::{Names, component_class};
use crate::order;
use crate::tree::Tree;

/// Parameter for an input, different from the constructor's other parameters.
pub(super) fn parameter(name: &str) -> String {
    let name = PYTHON.property(name);
    match name.as_str() {
        "resource_name" | "opts" | "self" => format!("{name}_"),
        _ => name,
    }
}

/// Renames settings to their parameters.
pub(super) fn rename_inputs(program: &Program, names: &mut Names) {
    for (position, definition) in program.definitions.iter().enumerate() {
        if matches!(definition.kind, DefinitionKind::Config(_)) {
            names.rename(position, parameter(&definition.logical_name));
        }
    }
}

/// Writes the class of a component.
pub(super) fn class(statements: &mut Statements<'_, '_>) {
    statements.uses_types = true;
    let program = statements.program;
    let class = component_class(program, PYTHON);
    statements
        .lines
        .plain(&format!("class {class}(pulumi.ComponentResource):"));
    statements.lines.deeper();
    for definition in &program.definitions {
        if matches!(definition.kind, DefinitionKind::Output(_)) {
            let name = PYTHON.property(&definition.logical_name);
            statements
                .lines
                .plain(&format!("{name}: pulumi.Output[Any]"));
        }
    }
    statements.lines.blank();
    constructor(statements, &class);
    statements.lines.shallower();
}

fn constructor(statements: &mut Statements<'_, '_>, class: &str) {
    let program = statements.program;
    let mut parameters = vec![Doc::text("self"), Doc::text("resource_name: str")];
    let mut defaults = Vec::new();
    let mut configs: Vec<(usize, &Config)> = Vec::new();
    for (position, definition) in program.definitions.iter().enumerate() {
        if let DefinitionKind::Config(config) = &definition.kind {
            configs.push((position, config));
        }
    }
    if !configs.is_empty() {
        parameters.push(Doc::text("*"));
    }
    for is_required in [true, false] {
        for (position, config) in configs
            .iter()
            .filter(|it| it.1.is_required() == is_required)
        {
            let name = statements.name(*position);
            let ty = input_type(
                &config.ty,
                !statements.lowering.flows.is_plain_input(*position),
            );
            parameters.push(Doc::text(match (&config.default, is_required) {
                (_, true) => format!("{name}: {ty}"),
                (None, false) => format!("{name}: Optional[{ty}] = None"),
                (Some(default), false) => {
                    let tree = statements.lowering.value(default, &config.ty);
                    if matches!(tree, Tree::Bool(_) | Tree::Number(_) | Tree::Text(_)) {
                        let value = statements.printer.value(&tree).flat().unwrap_or_default();
                        format!("{name}: {ty} = {value}")
                    } else {
                        defaults.push((name.clone(), tree));
                        format!("{name}: Optional[{ty}] = None")
                    }
                }
            }));
        }
    }
    parameters.push(Doc::text("opts: Optional[pulumi.ResourceOptions] = None"));
    statements
        .lines
        .line(&Doc::list("def __init__(", parameters, "):"));
    statements.lines.deeper();
    for (name, tree) in defaults {
        statements.lines.plain(&format!("if {name} is None:"));
        statements.lines.deeper();
        let value = statements.printer.value(&tree);
        statements.assign(&name, value);
        statements.lines.shallower();
    }
    registration(statements, class, &configs);
    statements.lines.blank();
    for position in order::order(program) {
        statements.definition(position);
    }
    outputs(statements);
    statements.lines.shallower();
}

/// Registers the component, with the values of its parameters as inputs.
fn registration(statements: &mut Statements<'_, '_>, class: &str, configs: &[(usize, &Config)]) {
    let token = Doc::text(PYTHON.string(&format!("components:index:{class}")));
    let input = |(position, _): &(usize, &Config)| {
        let key = PYTHON.string(&statements.program.definitions[*position].logical_name);
        Doc::text(format!("{key}: {}", statements.name(*position)))
    };
    let inputs = match configs {
        [] => Doc::text("None"),
        _ => Doc::list("{", configs.iter().map(input).collect(), "}"),
    };
    let arguments = vec![token, Doc::text("resource_name"), inputs, Doc::text("opts")];
    let line = Doc::list("super().__init__(", arguments, ")");
    statements.lines.line(&line);
}

fn outputs(statements: &mut Statements<'_, '_>) {
    let program = statements.program;
    let mut registered = Vec::new();
    statements.lines.blank();
    for definition in &program.definitions {
        let DefinitionKind::Output(value) = &definition.kind else {
            continue;
        };
        let flow = statements.lowering.flow(value);
        let tree = statements.lowering.any(value);
        let tree = if super::is_surely_output(&flow) {
            tree
        } else {
            Tree::AsOutput(Box::new(tree))
        };
        let value = statements.printer.value(&tree);
        let attribute = format!("self.{}", PYTHON.property(&definition.logical_name));
        statements.assign(&attribute, value);
        let key = PYTHON.string(&definition.logical_name);
        registered.push(Doc::text(format!("{key}: {attribute}")));
    }
    let registered = Doc::list("{", registered, "}");
    statements
        .lines
        .line(&Doc::hugged("self.register_outputs(", registered, ")"));
}

/// Type annotation for an input of a component.
fn input_type(ty: &Type, may_be_output: bool) -> String {
    let plain = match ty.without_none().expand() {
        Type::String | Type::Enum(..) => "str",
        Type::Int => "int",
        Type::Number => "float",
        Type::Bool => "bool",
        _ => "Any",
    };
    match (plain, may_be_output) {
        ("Any", _) => "Any".to_owned(),
        (plain, true) => format!("pulumi.Input[{plain}]"),
        (plain, false) => plain.to_owned(),
    }
}
