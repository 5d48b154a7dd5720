//! Members of the modules of a package, for languages whose SDKs have a folder per module.

use std::collections::{BTreeMap, BTreeSet};

use plumb_schema::bound::{Package, TypeShape};

/// Members of a module, by position.
#[derive(Default)]
pub(crate) struct Module {
    pub(crate) resources: Vec<usize>,
    pub(crate) functions: Vec<usize>,
    /// Object types.
    pub(crate) objects: Vec<usize>,
    pub(crate) enums: Vec<usize>,
    /// Hand-written sources, by name without extension.
    pub(crate) written: Vec<String>,
    /// Paths of the direct child modules.
    pub(crate) children: BTreeSet<String>,
    /// Whether the module contains the package's settings.
    pub(crate) is_config: bool,
}

impl Module {
    /// Whether the module has no members, apart from child modules.
    pub(crate) fn is_bare(&self) -> bool {
        self.resources.is_empty()
            && self.functions.is_empty()
            && self.objects.is_empty()
            && self.enums.is_empty()
            && self.written.is_empty()
            && !self.is_config
    }
}

/// Modules by path.
pub(crate) type Modules = BTreeMap<String, Module>;

/// Package under which SDKs register a resource's class: the one in its token. Extensions use their own name, because two
/// SDKs cannot register the same module.
pub(crate) fn registered_package<'a>(package: &Package<'a>, token: &'a str) -> &'a str {
    match &package.parameterization {
        Some(parameterization) if parameterization.is_extension => package.name,
        _ => token.split(':').next().unwrap_or_default(),
    }
}

/// Sorts the members of a package into modules, including the root. Omits methods and overlays; `has_object` tells whether
/// an object type is generated.
pub(crate) fn sort(
    package: &Package<'_>,
    module_of: impl Fn(&str) -> String,
    has_object: impl Fn(usize) -> bool,
) -> Modules {
    let mut modules = Modules::new();
    modules.entry(String::new()).or_default();
    let mut enter = |token: &str, list: fn(&mut Module) -> &mut Vec<usize>, position| {
        list(modules.entry(module_of(token)).or_default()).push(position);
    };
    for (position, resource) in package.resources.iter().enumerate() {
        if !resource.outputs.overlay.is_overlay {
            enter(&resource.token, |module| &mut module.resources, position);
        }
    }
    for (position, function) in package.functions.iter().enumerate() {
        if !function.is_method && !function.overlay.is_overlay {
            enter(function.token, |module| &mut module.functions, position);
        }
    }
    for (position, definition) in package.types.iter().enumerate() {
        match &definition.shape {
            TypeShape::Object(object) if !object.overlay.is_overlay && has_object(position) => {
                enter(definition.token, |module| &mut module.objects, position);
            }
            TypeShape::Enum(it) if !it.overlay.is_overlay => {
                enter(definition.token, |module| &mut module.enums, position);
            }
            TypeShape::Object(_) | TypeShape::Enum(_) => {}
        }
    }
    modules
}

/// Adds missing parent modules, and records the children of each.
pub(crate) fn add_parents(modules: &mut Modules) {
    let mut open: Vec<String> = modules.keys().cloned().collect();
    while let Some(module) = open.pop() {
        if module.is_empty() {
            continue;
        }
        let parent = module.rsplit_once('/').map_or("", |(parent, _)| parent);
        if !modules.contains_key(parent) {
            open.push(parent.to_owned());
        }
        let parent = modules.entry(parent.to_owned()).or_default();
        parent.children.insert(module);
    }
}

/// Last step of a module's path.
pub(crate) fn last_step(module: &str) -> &str {
    module.rsplit('/').next().unwrap_or(module)
}
