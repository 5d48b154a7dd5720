//! Components in C#: a class, and the class of its arguments.

use std::sync::Arc;

use ecow::EcoString;
use plumb_codegen::programs::csharp_property;
use plumb_pcl::DefinitionKind;

use super::CSHARP;
use super::printer::Value;
use super::statements::Statements;
use crate::components;
use crate::kinds::Kind;
use crate::layout::{Doc, Lines};
use crate::order;
use crate::values::Want;

/// Writes the classes of a component; returns the kinds of its outputs.
pub(super) fn classes(
    statements: &mut Statements<'_, '_>,
    class: &str,
) -> Arc<Vec<(EcoString, Kind)>> {
    arguments(statements, class);
    let program = statements.program;
    let outer = std::mem::replace(&mut statements.lines, Lines::new(4));
    statements.lines.deeper();
    statements.lines.deeper();
    let plain = |it: usize| statements.lowering.flows.is_plain_input(it);
    let args = format!("{class}Args");
    for (position, name, config, kind, is_plain) in components::settings(program, plain) {
        let code = format!("args.{}", csharp_property(name, &args));
        let may_be_missing = config.default.is_none() && !config.is_required();
        let value = match (is_plain, may_be_missing) {
            (false, _) => Value::output(format!("{code}.ToOutput()"), kind),
            (true, false) => Value::plain(code, kind),
            (true, true) => Value::plain(code, Kind::Pointer(Box::new(kind))),
        };
        statements.define(position, value);
    }
    for position in order::order(program) {
        statements.definition(position);
    }
    let outputs = outputs(statements, class);
    let body = std::mem::replace(&mut statements.lines, outer).into_text();
    let lines = &mut statements.lines;
    lines.blank();
    lines.plain(&format!("public class {class} : ComponentResource"));
    lines.plain("{");
    lines.deeper();
    for (name, kind) in &outputs {
        let ty = statements.printer.output_type(kind);
        let property = csharp_property(name, class);
        lines.plain(&format!("[Output({})]", CSHARP.string(name)));
        lines.plain(&format!(
            "public {ty} {property} {{ get; private set; }} = null!;"
        ));
        lines.blank();
    }
    let parameters = format!("string name, {args} args, ComponentResourceOptions? options = null");
    lines.plain(&format!("public {class}({parameters})"));
    lines.deeper();
    let token = CSHARP.string(&format!("components:index:{class}"));
    lines.plain(&format!(": base({token}, name, args, options)"));
    lines.shallower();
    lines.plain("{");
    lines.raw(&body);
    lines.plain("}");
    lines.shallower();
    lines.plain("}");
    Arc::new(outputs)
}

/// Sets the outputs of the component, and registers them.
fn outputs(statements: &mut Statements<'_, '_>, class: &str) -> Vec<(EcoString, Kind)> {
    let program = statements.program;
    let mut kinds = Vec::new();
    let mut registered = Vec::new();
    for definition in &program.definitions {
        let DefinitionKind::Output(value) = &definition.kind else {
            continue;
        };
        let tree = statements.lowering.any(value);
        let value = statements.printer.any(&tree);
        let value = statements.printer.as_output(value);
        let name = definition.logical_name.clone();
        let property = csharp_property(&name, class);
        let row = vec![
            Doc::text(format!("this.{property} = ")),
            value.code,
            ";".into(),
        ];
        statements.lines.line(&Doc::Row(row));
        statements.flush(definition.span);
        let key = CSHARP.string(&name);
        registered.push(Doc::text(format!("[{key}] = this.{property}")));
        kinds.push((name, value.kind));
    }
    statements
        .printer
        .usings
        .insert("System.Collections.Generic");
    let map = Doc::spaced_list("new Dictionary<string, object?> {", registered, "}");
    let map = if kinds.is_empty() { Doc::text("") } else { map };
    let call = Doc::hugged("this.RegisterOutputs(", map, ");");
    statements.lines.line(&call);
    kinds
}

/// Writes the class of a component's arguments.
fn arguments(statements: &mut Statements<'_, '_>, class: &str) {
    let program = statements.program;
    let plain = |it: usize| statements.lowering.flows.is_plain_input(it);
    let settings = components::settings(program, plain);
    let name_of_class = format!("{class}Args");
    statements.lines.plain(&format!(
        "public sealed class {name_of_class} : ResourceArgs"
    ));
    statements.lines.plain("{");
    statements.lines.deeper();
    for (at, (position, name, config, kind, is_plain)) in settings.into_iter().enumerate() {
        if at > 0 {
            statements.lines.blank();
        }
        let default = config.default.as_ref().map(|default| {
            let tree = statements.lowering.value(default, &config.ty);
            let value = statements.printer.value(&tree, &Want::Input(kind.clone()));
            value.code
        });
        statements.flush(program.definitions[position].span);
        let inner = statements.printer.type_of(&kind);
        let is_missing = default.is_none() && !config.is_required();
        let ty = match (is_plain, &kind) {
            (true, _) if is_missing => format!("{inner}?"),
            (true, _) => inner.clone(),
            (false, Kind::List(element)) => {
                format!("InputList<{}>", statements.printer.type_of(element))
            }
            (false, Kind::Map(element)) => {
                format!("InputMap<{}>", statements.printer.type_of(element))
            }
            (false, _) => format!("Input<{inner}>"),
        };
        if let Some(description) = &config.description {
            let text = description.replace("&", "&amp;").replace("<", "&lt;");
            let text = text.lines().collect::<Vec<_>>().join("\n    /// ");
            statements
                .lines
                .plain(&format!("/// <summary>{text}</summary>"));
        }
        let required = if config.is_required() {
            ", required: true"
        } else {
            ""
        };
        let key = CSHARP.string(name);
        statements.lines.plain(&format!("[Input({key}{required})]"));
        let property = csharp_property(name, &name_of_class);
        let mut row = vec![Doc::text(format!("public {ty} {property} {{ get; set; }}"))];
        match default {
            Some(default) => row.extend([" = ".into(), default, ";".into()]),
            None if is_missing && !is_plain => {
                row.push(format!(" = Output.Create<{inner}>(default!);").into());
            }
            None if config.is_required() => row.push(" = default!;".into()),
            None => {}
        }
        statements.lines.line(&Doc::Row(row));
    }
    statements.lines.shallower();
    statements.lines.plain("}");
}
