//! Order of statements: source order, but each definition after its dependencies.

use plumb_pcl::{AliasExpr, Definition, DefinitionKind, Expr, Input, Options, Program};

use crate::walk;

/// Indices of all definitions, in the order of their statements.
pub(crate) fn order(program: &Program) -> Vec<usize> {
    let mut order = Vec::with_capacity(program.definitions.len());
    let mut is_done = vec![false; program.definitions.len()];
    // Settings come first, as is customary.
    let is_config = |it: &Definition| matches!(it.kind, DefinitionKind::Config(_));
    for is_first in [true, false] {
        for (position, definition) in program.definitions.iter().enumerate() {
            if is_config(definition) == is_first {
                place(program, position, &mut is_done, &mut order);
            }
        }
    }
    order
}

/// Definitions in the expression of the required engine version; `None` if there is no requirement.
pub(crate) fn requirement(program: &Program) -> Option<Vec<usize>> {
    let version = program.required_version.as_ref()?;
    let mut needed = Vec::new();
    walk::references(version, &mut needed);
    Some(needed)
}

/// Whether something refers to a definition, by index.
pub(crate) fn used(program: &Program) -> Vec<bool> {
    let mut found = requirement(program).unwrap_or_default();
    for definition in &program.definitions {
        each_expression(definition, &mut |expr| walk::references(expr, &mut found));
    }
    let mut used = vec![false; program.definitions.len()];
    for position in found {
        used[position] = true;
    }
    used
}

/// Removes a definition that was written; returns whether it was the last one awaited.
pub(crate) fn is_last_awaited(awaited: &mut Option<Vec<usize>>, position: usize) -> bool {
    let Some(left) = awaited else {
        return false;
    };
    left.retain(|it| *it != position);
    let is_last = left.is_empty();
    if is_last {
        *awaited = None;
    }
    is_last
}

fn place(program: &Program, position: usize, is_done: &mut [bool], order: &mut Vec<usize>) {
    if std::mem::replace(&mut is_done[position], true) {
        return;
    }
    let mut needed = Vec::new();
    each_expression(&program.definitions[position], &mut |expr| {
        walk::references(expr, &mut needed);
    });
    for other in needed {
        place(program, other, is_done, order);
    }
    order.push(position);
}

/// Calls `visit` for the top-level expressions of a definition.
pub(crate) fn each_expression(definition: &Definition, visit: &mut dyn FnMut(&Expr)) {
    match &definition.kind {
        DefinitionKind::Local(value) | DefinitionKind::Output(value) => visit(value),
        DefinitionKind::Config(config) => config.default.iter().for_each(visit),
        DefinitionKind::Resource(resource) => {
            in_inputs(&resource.inputs, visit);
            in_options(&resource.options, visit);
        }
        DefinitionKind::Read(read) => {
            visit(&read.id);
            in_inputs(&read.resource.inputs, visit);
            in_options(&read.resource.options, visit);
        }
        DefinitionKind::Component(component) => {
            in_inputs(&component.inputs, visit);
            in_options(&component.options, visit);
        }
        DefinitionKind::Hook(hook) => {
            visit(&hook.command);
            let rest = [&hook.on_dry_run, &hook.ignore_errors];
            rest.into_iter().flatten().for_each(visit);
        }
        DefinitionKind::Unusable => {}
    }
}

fn in_inputs(inputs: &[Input], visit: &mut dyn FnMut(&Expr)) {
    for input in inputs {
        visit(&input.value);
    }
}

fn in_options(options: &Options, visit: &mut dyn FnMut(&Expr)) {
    let single = [
        &options.range,
        &options.parent,
        &options.provider,
        &options.providers,
        &options.depends_on,
        &options.deleted_with,
        &options.replace_with,
        &options.protect,
        &options.retain_on_delete,
        &options.delete_before_replace,
        &options.import,
        &options.version,
        &options.download_url,
        &options.custom_timeouts,
        &options.replacement_trigger,
        &options.env_var_mappings,
    ];
    single.into_iter().flatten().for_each(&mut *visit);
    options.hooks.iter().for_each(|(_, hook)| visit(hook));
    for alias in &options.aliases {
        match alias {
            AliasExpr::Urn(urn) => visit(urn),
            AliasExpr::Spec(spec) => {
                let parts = [&spec.name, &spec.type_token, &spec.no_parent, &spec.parent];
                parts.into_iter().flatten().for_each(&mut *visit);
            }
        }
    }
}
