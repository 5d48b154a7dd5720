//! Components in TypeScript: a class, and the interface of its inputs.

use plumb_codegen::programs::typescript_key;
use plumb_pcl::{Config, DefinitionKind, Program};

use super::statements::Statements;
use super::{NODEJS, types};
use crate::flow::Flow;
use crate::layout::Doc;
use crate::names::{Names, component_class};
use crate::order;
use crate::tree::Tree;

/// Renames settings to their access paths: members of the inputs, or variables if they have defaults.
pub(super) fn rename_inputs(program: &Program, names: &mut Names) {
    for (position, definition) in program.definitions.iter().enumerate() {
        if let DefinitionKind::Config(config) = &definition.kind
            && config.default.is_none()
        {
            names.rename(position, member("args", &definition.logical_name));
        }
    }
}

fn member(object: &str, name: &str) -> String {
    let key = typescript_key(name);
    if key == name {
        format!("{object}.{name}")
    } else {
        format!("{object}[{key}]")
    }
}

/// Writes the interface and the class of a component.
pub(super) fn class(statements: &mut Statements<'_, '_>) {
    let program = statements.program;
    let class = component_class(program, NODEJS);
    inputs(statements, &class);
    statements.lines.plain(&format!(
        "export class {class} extends pulumi.ComponentResource {{"
    ));
    statements.lines.deeper();
    for definition in &program.definitions {
        if let DefinitionKind::Output(value) = &definition.kind {
            let ty = types::plain(&value.ty);
            let name = typescript_key(&definition.logical_name);
            let line = format!("public readonly {name}: pulumi.Output<{ty}>;");
            statements.lines.plain(&line);
        }
    }
    statements.lines.blank();
    let parameters =
        format!("name: string, args: {class}Args, opts?: pulumi.ComponentResourceOptions");
    statements
        .lines
        .plain(&format!("constructor({parameters}) {{"));
    statements.lines.deeper();
    defaults(statements);
    registration(statements, &class);
    for position in order::order(program) {
        statements.definition(position);
    }
    outputs(statements);
    statements.lines.shallower();
    statements.lines.plain("}");
    statements.lines.shallower();
    statements.lines.plain("}");
}

/// Registers the component, with the values of its arguments as inputs.
fn registration(statements: &mut Statements<'_, '_>, class: &str) {
    let token = Doc::text(NODEJS.string(&format!("components:index:{class}")));
    let mut inputs = vec![Doc::text("...args")];
    for (position, config) in configs(statements.program) {
        if config.default.is_some() {
            let key = typescript_key(&statements.program.definitions[position].logical_name);
            let value = statements.name(position);
            inputs.push(Doc::text(if key == value {
                key
            } else {
                format!("{key}: {value}")
            }));
        }
    }
    let inputs = match inputs.len() {
        1 => Doc::text("args"),
        _ => Doc::spaced_list("{", inputs, "}"),
    };
    let arguments = vec![token, Doc::text("name"), inputs, Doc::text("opts")];
    statements.lines.line(&Doc::list("super(", arguments, ");"));
}

fn configs(program: &Program) -> impl Iterator<Item = (usize, &Config)> {
    let definitions = program.definitions.iter().enumerate();
    definitions.filter_map(|(position, definition)| match &definition.kind {
        DefinitionKind::Config(config) => Some((position, &**config)),
        _ => None,
    })
}

fn inputs(statements: &mut Statements<'_, '_>, class: &str) {
    let program = statements.program;
    statements
        .lines
        .plain(&format!("export interface {class}Args {{"));
    statements.lines.deeper();
    for (position, config) in configs(program) {
        if let Some(description) = &config.description {
            statements
                .lines
                .plain(&format!("/** {} */", description.replace("*/", "* /")));
        }
        let name = typescript_key(&program.definitions[position].logical_name);
        let mark = if config.is_required() { "" } else { "?" };
        let ty = types::plain(&config.ty);
        let ty = if statements.lowering.flows.is_plain_input(position) {
            ty
        } else {
            format!("pulumi.Input<{ty}>")
        };
        statements.lines.plain(&format!("{name}{mark}: {ty};"));
    }
    statements.lines.shallower();
    statements.lines.plain("}");
    statements.lines.blank();
}

fn defaults(statements: &mut Statements<'_, '_>) {
    let program = statements.program;
    for (position, config) in configs(program) {
        if let Some(default) = &config.default {
            let tree = statements.lowering.value(default, &config.ty);
            let value = statements.printer.at(&tree, super::expression::Level::Add);
            let given = member("args", &program.definitions[position].logical_name);
            let name = statements.name(position);
            let row = vec![Doc::text(format!("{given} ?? ")), value];
            statements.constant(&name, Doc::Row(row));
        }
    }
}

fn outputs(statements: &mut Statements<'_, '_>) {
    let program = statements.program;
    let mut registered = Vec::new();
    for definition in &program.definitions {
        let DefinitionKind::Output(value) = &definition.kind else {
            continue;
        };
        let flow = statements.lowering.flow(value);
        let tree = statements.lowering.any(value);
        let tree = if flow == Flow::Output {
            tree
        } else {
            Tree::AsOutput(Box::new(tree))
        };
        let value = statements.printer.value(&tree);
        let attribute = member("this", &definition.logical_name);
        statements.assign(&attribute, value);
        let key = typescript_key(&definition.logical_name);
        registered.push(Doc::text(format!("{key}: {attribute}")));
    }
    let registered = Doc::spaced_list("{", registered, "}");
    statements
        .lines
        .line(&Doc::hugged("this.registerOutputs(", registered, ");"));
}
