//! Components of a program, and the packages of its files.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plumb_pcl::{ComponentSource, Config, DefinitionKind, Expr, ExprKind, Program};
use plumb_schema::PackageSchema;

use crate::kinds::Kind;
use crate::{order, walk};

/// Programs of all components, by folder.
pub(crate) fn all(program: &Program) -> BTreeMap<String, Arc<Program>> {
    let mut found = BTreeMap::new();
    collect(program, &mut found);
    found
}

fn collect(program: &Program, found: &mut BTreeMap<String, Arc<Program>>) {
    for inner in direct(program) {
        if found.insert(inner.folder.clone(), inner.clone()).is_none() {
            collect(&inner, found);
        }
    }
}

/// Programs of the components that a program uses directly.
pub(crate) fn direct(program: &Program) -> Vec<Arc<Program>> {
    let mut programs: Vec<Arc<Program>> = Vec::new();
    for definition in &program.definitions {
        if let DefinitionKind::Component(component) = &definition.kind
            && let ComponentSource::Program(inner) = &component.source
            && !programs.iter().any(|it| it.folder == inner.folder)
        {
            programs.push(inner.clone());
        }
    }
    programs
}

/// Calls `visit` for each resource type and function that a program uses, without its components.
fn each_use(program: &Program, visit: &mut dyn FnMut(&Arc<PackageSchema>, &str)) {
    for definition in &program.definitions {
        let resource = match &definition.kind {
            DefinitionKind::Resource(resource) => Some(&**resource),
            DefinitionKind::Read(read) => Some(&read.resource),
            _ => None,
        };
        if let Some(resource) = resource
            && let Some(ty) = &resource.ty
        {
            visit(&ty.package, &resource.token);
        }
        order::each_expression(definition, &mut |expr| {
            walk::each(expr, &mut |expr: &Expr| {
                if let ExprKind::Invoke(invoke) = &expr.kind
                    && let Some(function) = &invoke.function
                {
                    visit(&function.package, &invoke.token);
                }
            });
        });
    }
}

/// Packages that a program uses, without its components.
pub(crate) fn packages(program: &Program) -> Vec<Arc<PackageSchema>> {
    let mut found: BTreeMap<String, Arc<PackageSchema>> = BTreeMap::new();
    each_use(program, &mut |package, _| {
        found.insert(package.name().to_owned(), package.clone());
    });
    found.into_values().collect()
}

/// Modules of a package that a program and its components use.
pub(crate) fn modules(program: &Program, package: &PackageSchema) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let components = all(program);
    for program in std::iter::once(program).chain(components.values().map(|it| &**it)) {
        each_use(program, &mut |used, token| {
            if used.name() == package.name() {
                found.insert(package.module_of(token));
            }
        });
    }
    found
}

/// Packages that a program and its components use.
pub fn all_packages(program: &Program) -> Vec<Arc<PackageSchema>> {
    let mut found: BTreeMap<String, Arc<PackageSchema>> = BTreeMap::new();
    let components = all(program);
    let programs = std::iter::once(program).chain(components.values().map(|it| &**it));
    for package in programs.flat_map(packages) {
        found.insert(package.name().to_owned(), package);
    }
    found.into_values().collect()
}

/// Settings of a component: position, name, declaration, kind, and whether only plain values are accepted.
pub(crate) fn settings(
    program: &Program,
    is_plain: impl Fn(usize) -> bool,
) -> Vec<(usize, &str, &Config, Kind, bool)> {
    let definitions = program.definitions.iter().enumerate();
    let settings = definitions.filter_map(|(position, definition)| match &definition.kind {
        DefinitionKind::Config(config) => {
            let kind = Kind::of(&config.ty.without_none());
            let kind = match kind {
                Kind::Enum(_, _, underlying) => *underlying,
                kind => kind,
            };
            let name = definition.logical_name.as_str();
            Some((position, name, &**config, kind, is_plain(position)))
        }
        _ => None,
    });
    settings.collect()
}
