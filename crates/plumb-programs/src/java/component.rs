//! Components in Java: a class, and the class of its arguments.

use plumb_codegen::programs::{java_object_property, java_resource_property};
use plumb_pcl::DefinitionKind;

use super::JAVA;
use super::expression::Want;
use super::printer::Value;
use super::statements::Statements;
use crate::components;
use crate::kinds::Kind;
use crate::layout::Doc;
use crate::order;

/// Writes the class of a component; returns the kinds of its outputs.
pub(super) fn class(
    statements: &mut Statements<'_, '_>,
    class: &str,
) -> std::sync::Arc<Vec<(ecow::EcoString, Kind)>> {
    let program = statements.program;
    let base = statements
        .printer
        .class("com.pulumi.resources.ComponentResource");
    let options = statements
        .printer
        .class("com.pulumi.resources.ComponentResourceOptions");
    let outer = std::mem::replace(&mut statements.lines, crate::layout::Lines::new(4));
    statements.lines.deeper();
    statements.lines.deeper();
    let token = JAVA.string(&format!("components:index:{class}"));
    statements
        .lines
        .plain(&format!("super({token}, name, args, options);"));
    let plain = |it: usize| statements.lowering.flows.is_plain_input(it);
    for (position, name, config, kind, is_plain) in components::settings(program, plain) {
        let code = format!("args.{}()", java_object_property(name));
        let may_be_missing = config.default.is_none() && !config.is_required();
        let value = match (is_plain, may_be_missing) {
            (false, _) => Value::output(code, kind),
            (true, false) => Value::plain(code, kind),
            (true, true) => Value::plain(code, Kind::Pointer(Box::new(kind))),
        };
        statements.define(position, value);
    }
    for position in order::order(program) {
        statements.definition(position);
    }
    let outputs = outputs(statements);
    let body = std::mem::replace(&mut statements.lines, outer).into_text();
    let fields = outputs.iter().map(|(name, kind)| {
        let ty = statements.printer.output_type(kind);
        (ty, java_resource_property(name))
    });
    let fields: Vec<(String, String)> = fields.collect();
    let lines = &mut statements.lines;
    lines.plain(&format!("public class {class} extends {base} {{"));
    lines.deeper();
    for (ty, field) in &fields {
        lines.plain(&format!("private final {ty} {field};"));
    }
    lines.blank();
    let parameters = format!("String name, {class}Args args, {options} options");
    lines.plain(&format!("public {class}({parameters}) {{"));
    lines.raw(&body);
    lines.plain("}");
    for (ty, field) in &fields {
        lines.blank();
        lines.plain(&format!("public {ty} {field}() {{"));
        lines.deeper();
        lines.plain(&format!("return this.{field};"));
        lines.shallower();
        lines.plain("}");
    }
    lines.shallower();
    lines.plain("}");
    std::sync::Arc::new(outputs)
}

/// Sets the outputs of the component, and registers them.
fn outputs(statements: &mut Statements<'_, '_>) -> Vec<(ecow::EcoString, Kind)> {
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
        let field = java_resource_property(&name);
        let row = vec![
            Doc::text(format!("this.{field} = ")),
            value.code,
            ";".into(),
        ];
        statements.lines.line(&Doc::Row(row));
        statements.flush(definition.span);
        registered.push((JAVA.string(&name), format!("this.{field}")));
        kinds.push((name, value.kind));
    }
    let map = statements.printer.class("java.util.Map");
    let output = statements.printer.output_class();
    let entries = registered.into_iter().map(|(key, value)| {
        let pair = vec![key.into(), value.into()];
        Doc::arguments(&format!("{map}.entry("), pair, ")")
    });
    let entries = Doc::arguments(
        &format!("{map}.<String, {output}<?>>ofEntries("),
        entries.collect(),
        ")",
    );
    let call = Doc::hugged("this.registerOutputs(", entries, ");");
    statements.lines.line(&call);
    kinds
}

/// Writes the class of a component's arguments.
pub(super) fn arguments(statements: &mut Statements<'_, '_>, class: &str) {
    let program = statements.program;
    let base = statements
        .printer
        .class("com.pulumi.resources.ResourceArgs");
    let import = statements
        .printer
        .class("com.pulumi.core.annotations.Import");
    let output = statements.printer.output_class();
    let plain = |it: usize| statements.lowering.flows.is_plain_input(it);
    let settings = components::settings(program, plain);
    let mut fields = Vec::with_capacity(settings.len());
    for (position, name, config, kind, is_plain) in settings {
        let default = config.default.as_ref().map(|default| {
            let tree = statements.lowering.value(default, &config.ty);
            let value = statements.printer.value(&tree, &Want::Input(kind.clone()));
            let value = if is_plain {
                value
            } else {
                statements.printer.as_output(value)
            };
            value.code
        });
        statements.flush(program.definitions[position].span);
        let inner = statements.printer.type_of(&kind);
        let ty = if is_plain {
            inner.clone()
        } else {
            format!("{output}<{inner}>")
        };
        let default = default.or_else(|| {
            let is_missing = !config.is_required() && !is_plain;
            is_missing.then(|| format!("{output}.ofNullable(null)").into())
        });
        let may_be_missing = is_plain && config.default.is_none() && !config.is_required();
        fields.push((name, config, [ty, inner], default, may_be_missing));
    }
    let optional = fields
        .iter()
        .any(|it| it.4)
        .then(|| statements.printer.class("java.util.Optional"));
    let optional = optional.unwrap_or_default();
    let lines = &mut statements.lines;
    lines.plain(&format!("public final class {class}Args extends {base} {{"));
    lines.deeper();
    for (name, config, [ty, _], default, _) in &fields {
        if let Some(description) = &config.description {
            lines.plain(&format!("/** {} */", description.replace("*/", "* /")));
        }
        let required = if config.is_required() {
            ", required = true"
        } else {
            ""
        };
        let key = JAVA.string(name);
        lines.plain(&format!("@{import}(name = {key}{required})"));
        let field = java_object_property(name);
        let mut row = vec![Doc::text(format!("private {ty} {field}"))];
        if let Some(default) = default {
            row.extend([" = ".into(), default.clone()]);
        }
        row.push(";".into());
        lines.line(&Doc::Row(row));
        lines.blank();
    }
    for (name, _, [ty, _], _, may_be_missing) in &fields {
        let field = java_object_property(name);
        let (ty, value) = if *may_be_missing {
            (
                format!("{optional}<{ty}>"),
                format!("{optional}.ofNullable(this.{field})"),
            )
        } else {
            (ty.clone(), format!("this.{field}"))
        };
        method(
            lines,
            &format!("public {ty} {field}()"),
            &[&format!("return {value};")],
        );
    }
    method(
        lines,
        "public static Builder builder()",
        &["return new Builder();"],
    );
    lines.plain("public static final class Builder {");
    lines.deeper();
    lines.plain(&format!(
        "private final {class}Args args = new {class}Args();"
    ));
    lines.blank();
    for (name, _, [ty, inner], _, _) in &fields {
        let field = java_object_property(name);
        let signature = format!("public Builder {field}({ty} {field})");
        let assignment = format!("this.args.{field} = {field};");
        method(lines, &signature, &[&assignment, "return this;"]);
        if ty != inner {
            let signature = format!("public Builder {field}({inner} {field})");
            let call = format!("return this.{field}({output}.of({field}));");
            method(lines, &signature, &[&call]);
        }
    }
    lines.plain(&format!("public {class}Args build() {{"));
    lines.deeper();
    lines.plain("return this.args;");
    lines.shallower();
    lines.plain("}");
    lines.shallower();
    lines.plain("}");
    lines.shallower();
    lines.plain("}");
}

fn method(lines: &mut crate::layout::Lines, signature: &str, body: &[&str]) {
    lines.plain(&format!("{signature} {{"));
    lines.deeper();
    for line in body {
        lines.plain(line);
    }
    lines.shallower();
    lines.plain("}");
    lines.blank();
}
