//! Components in Rust: a type for the outputs, and one for the arguments.

use std::sync::Arc;

use ecow::EcoString;
use plumb_pcl::DefinitionKind;

use super::RUST;
use super::printer::{Form, Hold, Value};
use super::statements::Statements;
use crate::components;
use crate::kinds::Kind;
use crate::layout::{Doc, Lines};
use crate::order;
use crate::tree::Tree;

/// Writes the types of a component; returns the kinds of its outputs.
pub(super) fn types(
    statements: &mut Statements<'_, '_>,
    class: &str,
) -> Arc<Vec<(EcoString, Kind)>> {
    let program = statements.program;
    let plain = |it: usize| statements.lowering.flows.is_plain_input(it);
    let settings = components::settings(program, plain);
    let outer = std::mem::replace(&mut statements.lines, Lines::new(4));
    statements.lines.deeper();
    statements.lines.deeper();
    let mut fields = Vec::with_capacity(settings.len());
    let mut names = Vec::with_capacity(settings.len());
    for (position, name, config, kind, is_plain) in settings {
        let kind = super::types::normal(kind);
        let ty = statements.printer.type_of(&kind);
        let field = RUST.property(name);
        let local = statements.name(position);
        names.push(match statements.is_used[position] {
            false => format!("{field}: _"),
            true if local == field => field.clone(),
            true => format!("{field}: {local}"),
        });
        fields.push(Field {
            name: name.to_owned(),
            identifier: field,
            ty: if is_plain { ty } else { format!("Input<{ty}>") },
            presence: presence(statements, config, &kind, is_plain),
            is_plain,
            description: config.description.clone(),
        });
        statements.flush(program.definitions[position].span);
        setting(statements, position, config, kind, is_plain);
    }
    for position in order::order(program) {
        statements.definition(position);
    }
    let outputs = outputs(statements, class);
    let body = std::mem::replace(&mut statements.lines, outer).into_text();
    let lines = &mut statements.lines;
    let args = if fields.is_empty() {
        "()".to_owned()
    } else {
        format!("{class}Args")
    };
    if !fields.is_empty() {
        arguments(lines, &args, &fields);
    }
    let token = RUST.string(&format!("components:index:{class}"));
    lines.plain("#[derive(Clone, Component)]");
    lines.plain(&format!("#[component(token = {token})]"));
    lines.plain(&format!("pub struct {class} {{"));
    lines.deeper();
    for (name, kind) in &outputs {
        let field = RUST.property(name);
        rename(lines, "output", name, &field);
        let ty = statements.printer.type_of(kind);
        lines.plain(&format!("pub {field}: Output<{ty}>,"));
    }
    lines.shallower();
    lines.plain("}");
    lines.blank();
    lines.plain(&format!("impl BuildComponent for {class} {{"));
    lines.deeper();
    lines.plain(&format!("type Args = {args};"));
    lines.blank();
    let parameter = if names.is_empty() { "_" } else { "args" };
    lines.plain(&format!(
        "fn build(ctx: &Ctx, {parameter}: {args}) -> plumb::Result<Self> {{"
    ));
    lines.deeper();
    if !names.is_empty() {
        let names = names.into_iter().map(Doc::text).collect();
        let pattern = Doc::spaced_list(&format!("let {args} {{"), names, "} = args;");
        lines.line(&pattern);
    }
    lines.raw(&body);
    lines.shallower();
    lines.plain("}");
    lines.shallower();
    lines.plain("}");
    Arc::new(outputs)
}

/// Names a field on the wire if that does not follow from the field.
fn rename(lines: &mut Lines, attribute: &str, name: &str, field: &str) {
    if crate::names::camel(&field.replace('_', "-")) != name {
        lines.plain(&format!("#[{attribute}(name = {})]", RUST.string(name)));
    }
}

/// A setting of a component as a field of its arguments.
struct Field {
    name: String,
    identifier: String,
    ty: String,
    presence: Presence,
    is_plain: bool,
    description: Option<EcoString>,
}

/// Value of a setting that the program does not give.
enum Presence {
    Required,
    Optional,
    Default(Doc),
}

fn presence(
    statements: &mut Statements<'_, '_>,
    config: &plumb_pcl::Config,
    kind: &Kind,
    is_plain: bool,
) -> Presence {
    let Some(default) = &config.default else {
        return if config.is_required() {
            Presence::Required
        } else {
            Presence::Optional
        };
    };
    let tree = statements.lowering.value(default, &config.ty);
    if matches!(tree, Tree::Null) {
        return Presence::Optional;
    }
    let outer = std::mem::replace(&mut statements.printer.is_fallible, false);
    let code = if is_plain {
        statements.printer.owned(&tree, kind.clone())
    } else {
        let (code, word) = statements.printer.argument(&tree, kind);
        into_input(code, &word)
    };
    if std::mem::replace(&mut statements.printer.is_fallible, outer) {
        statements.printer.refuse("a default that may fail");
    }
    Presence::Default(code)
}

/// Writes the type of the arguments, with a function for those that are required.
fn arguments(lines: &mut Lines, class: &str, fields: &[Field]) {
    lines.plain("#[derive(Clone, Debug, ComponentArgs)]");
    lines.plain(&format!("pub struct {class} {{"));
    lines.deeper();
    for it in fields {
        for line in it.description.iter().flat_map(|it| it.lines()) {
            lines.plain(format!("/// {line}").trim_end());
        }
        rename(lines, "input", &it.name, &it.identifier);
        let ty = match it.presence {
            Presence::Optional => format!("Option<{}>", it.ty),
            Presence::Required | Presence::Default(_) => it.ty.clone(),
        };
        lines.plain(&format!("pub {}: {ty},", it.identifier));
    }
    lines.shallower();
    lines.plain("}");
    lines.blank();
    lines.plain(&format!("impl {class} {{"));
    lines.deeper();
    let required = fields
        .iter()
        .filter(|it| matches!(it.presence, Presence::Required));
    let parameters = required.map(|it| {
        let ty = if it.is_plain {
            it.ty.clone()
        } else {
            format!("impl Into<{}>", it.ty)
        };
        Doc::text(format!("{}: {ty}", it.identifier))
    });
    let signature = Doc::list("pub fn new(", parameters.collect(), ") -> Self {");
    lines.line(&signature);
    lines.deeper();
    lines.plain(&format!("{class} {{"));
    lines.deeper();
    for it in fields {
        let field = &it.identifier;
        let line = match &it.presence {
            Presence::Required if it.is_plain => Doc::text(format!("{field},")),
            Presence::Required => Doc::text(format!("{field}: {field}.into(),")),
            Presence::Optional => Doc::text(format!("{field}: None,")),
            Presence::Default(code) => Doc::hugged(&format!("{field}: "), code.clone(), ","),
        };
        lines.line(&line);
    }
    for _ in 0..3 {
        lines.shallower();
        lines.plain("}");
    }
    lines.blank();
}

/// Makes a variable of a setting: an output if it may be one.
fn setting(
    statements: &mut Statements<'_, '_>,
    position: usize,
    config: &plumb_pcl::Config,
    kind: Kind,
    is_plain: bool,
) {
    let name = statements.name(position);
    let is_optional = is_optional(config);
    let is_used = statements.is_used[position];
    if is_used && !is_plain {
        let code = if is_optional {
            let ty = statements.printer.type_of(&kind);
            let none = format!("Output::<Option<{ty}>>::of(None)");
            let some = "|it| it.to_output().map(Some)";
            let items = vec![Doc::text(format!("|| {none}")), some.into()];
            Doc::list(&format!("{name}.map_or_else("), items, ")")
        } else {
            Doc::text(format!("{name}.to_output()"))
        };
        let open = format!("let {name} = ");
        statements.lines.line(&Doc::hugged(&open, code, ";"));
    }
    let kind = if is_optional {
        Kind::Pointer(Box::new(kind))
    } else {
        kind
    };
    let form = if is_plain { Form::Plain } else { Form::Output };
    statements.define(position, Value::new(name, kind, form).held(Hold::Place));
}

/// A setting of a component: position, name, declaration, kind, and whether only plain values are accepted.
type Setting<'p> = (usize, &'p str, &'p plumb_pcl::Config, Kind, bool);

impl Statements<'_, '_> {
    /// Arguments of a component: the required ones for the function that makes them, and fields for the others.
    pub(super) fn component_arguments(
        &mut self,
        path: &str,
        component: &plumb_pcl::Component,
        settings: &[Setting<'_>],
    ) -> Doc {
        for input in &component.inputs {
            if !settings.iter().any(|it| it.1 == input.name) {
                let name = &input.name;
                self.printer.refuse(&format!("the unknown input {name}"));
            }
        }
        if settings.is_empty() {
            return "()".into();
        }
        let mut required = Vec::new();
        let mut fields = Vec::with_capacity(settings.len());
        for (_, name, config, kind, is_plain) in settings {
            let given = component.inputs.iter().find(|it| it.name == *name);
            let tree = given.map(|it| self.lowering.value(&it.value, &it.ty));
            let tree = tree.filter(|it| !matches!(it, Tree::Null));
            let kind = super::types::normal(kind.clone());
            match tree {
                Some(tree) if config.is_required() && !is_plain => {
                    required.push(self.printer.argument(&tree, &kind).0);
                }
                Some(tree) if config.is_required() => {
                    required.push(self.printer.owned(&tree, kind));
                }
                Some(tree) => fields.push(self.field(name, config, &tree, &kind, *is_plain)),
                None if config.is_required() => {
                    self.printer.refuse("a component without a required input");
                }
                None => {}
            }
        }
        let class = self.printer.import(&format!("{path}Args"));
        let is_whole = fields.len() == settings.len();
        let made = Doc::list(&format!("{class}::new("), required, ")");
        if fields.is_empty() {
            return made;
        }
        if !is_whole {
            fields.push(Doc::Row(vec!["..".into(), made]));
        }
        // The last part of a struct has no comma behind it.
        Doc::arguments(&format!("{class} {{ "), fields, " }")
    }

    /// Field of an optional setting.
    fn field(
        &mut self,
        name: &str,
        config: &plumb_pcl::Config,
        tree: &Tree,
        kind: &Kind,
        is_plain: bool,
    ) -> Doc {
        let value = if is_plain {
            self.printer.owned(tree, kind.clone())
        } else {
            let (code, word) = self.printer.argument(tree, kind);
            into_input(code, &word)
        };
        let value = if is_optional(config) {
            Doc::hugged("Some(", value, ")")
        } else {
            value
        };
        let field = RUST.property(name);
        match value.flat() {
            Some(text) if text == field => value,
            _ => Doc::Row(vec![Doc::text(format!("{field}: ")), value]),
        }
    }
}

/// The input of an argument, whose type has this word.
fn into_input(code: Doc, word: &str) -> Doc {
    match code.flat() {
        _ if word == "Input" => code,
        Some(text) if text.starts_with('&') || text.contains([' ', '[']) => {
            Doc::hugged("(", code, ").into()")
        }
        _ => Doc::Row(vec![code, ".into()".into()]),
    }
}

/// Whether a setting may be missing.
fn is_optional(config: &plumb_pcl::Config) -> bool {
    match &config.default {
        Some(default) => matches!(default.kind, plumb_pcl::ExprKind::Null),
        None => !config.is_required(),
    }
}

/// Returns the component from its function.
fn outputs(statements: &mut Statements<'_, '_>, class: &str) -> Vec<(EcoString, Kind)> {
    let program = statements.program;
    let mut kinds = Vec::new();
    let mut fields = Vec::new();
    for definition in &program.definitions {
        let DefinitionKind::Output(value) = &definition.kind else {
            continue;
        };
        let tree = statements.lowering.any(value);
        let value = statements.printer.any(&tree);
        let value = statements.printer.as_output(value);
        statements.flush(definition.span);
        let field = RUST.property(&definition.logical_name);
        let kind = match &value.kind {
            Kind::Null => Kind::Any,
            kind => kind.clone(),
        };
        let code = value.owned().code;
        fields.push(match code.flat() {
            Some(text) if text == field => code,
            _ => Doc::Row(vec![Doc::text(format!("{field}: ")), code]),
        });
        kinds.push((definition.logical_name.clone(), kind));
    }
    let made = Doc::spaced_list(&format!("Ok({class} {{"), fields, "})");
    statements.lines.line(&made);
    kinds
}
