//! What the modules of a package hold, for languages whose SDKs have a folder for each.

use std::collections::{BTreeMap, BTreeSet};

use plumb_schema::bound::{Package, TypeShape};

/// Positions of what a module holds.
#[derive(Default)]
pub(crate) struct Module {
    pub(crate) resources: Vec<usize>,
    pub(crate) functions: Vec<usize>,
    /// Objects among the types.
    pub(crate) objects: Vec<usize>,
    pub(crate) enums: Vec<usize>,
    /// Sources that people wrote, by their names without the ending.
    pub(crate) written: Vec<String>,
    /// Paths of the modules right below.
    pub(crate) children: BTreeSet<String>,
    /// Whether it holds the settings of the package.
    pub(crate) is_config: bool,
}

impl Module {
    /// Whether nothing is in it, leaving aside modules below it.
    pub(crate) fn is_bare(&self) -> bool {
        self.resources.is_empty()
            && self.functions.is_empty()
            && self.objects.is_empty()
            && self.enums.is_empty()
            && self.written.is_empty()
            && !self.is_config
    }
}

/// What each module holds, by its path.
pub(crate) type Modules = BTreeMap<String, Module>;

/// The package that SDKs register the class of a resource under: the one in its token. Extensions register theirs under their
/// own name, because no two SDKs can register the same module.
pub(crate) fn registered_package<'a>(package: &Package<'a>, token: &'a str) -> &'a str {
    match &package.parameterization {
        Some(parameterization) if parameterization.is_extension => package.name,
        _ => token.split(':').next().unwrap_or_default(),
    }
}

/// Sorts the members of a package into modules, the root among them. Methods are in none, nor is what people write
/// themselves; `has_object` says which objects there are at all.
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

/// Modules above others exist too, and know those below them.
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

/// The last step of a module's path.
pub(crate) fn last_step(module: &str) -> &str {
    module.rsplit('/').next().unwrap_or(module)
}
