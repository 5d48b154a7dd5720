//! Addresses of the pages of a package's documentation.
//!
//! An address consists of lower-case steps: none for the package, `module` for a module, `module/name` for a resource or
//! a function, `module/types/name` for a nested type. Addresses are unique, however members are named, and a step never
//! leads out of the folder (no `..`). [`links`](super::links) turns addresses into files.

use std::collections::BTreeMap;

use plumb_codegen::vocabulary::ResourceAt;
use plumb_schema::bound::{Package, member_of};
use rustc_hash::{FxHashMap, FxHashSet};

/// Reference to a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PageAt {
    Package,
    /// Position in [`Addresses::modules`].
    Module(usize),
    Resource(ResourceAt),
    Function(usize),
    Type(usize),
}

/// A module and its members, each list sorted by name.
#[derive(Debug, Default)]
pub(crate) struct Module {
    /// Name; empty for the root module, which the page of the package describes.
    pub(crate) name: String,
    address: String,
    pub(crate) resources: Vec<usize>,
    pub(crate) functions: Vec<usize>,
    pub(crate) types: Vec<usize>,
    /// Direct child modules.
    pub(crate) children: Vec<usize>,
    pub(crate) parent: Option<usize>,
}

/// Addresses of all pages.
#[derive(Debug)]
pub(crate) struct Addresses {
    /// Sorted by name, the root module first.
    pub(crate) modules: Vec<Module>,
    provider: String,
    resources: Vec<String>,
    functions: Vec<String>,
    types: Vec<String>,
    /// Module of each member.
    owners: FxHashMap<PageAt, usize>,
}

/// Addresses in use.
#[derive(Default)]
struct Taken(FxHashSet<String>);

impl Taken {
    fn claim(&mut self, wanted: &str) -> String {
        let mut free = wanted.to_owned();
        let mut number = 1;
        while !self.0.insert(free.clone()) {
            number += 1;
            free = format!("{wanted}-{number}");
        }
        free
    }
}

impl Addresses {
    /// Assigns an address to each page of a package.
    pub(crate) fn of(package: &Package<'_>) -> Self {
        let mut taken = Taken::default();
        taken.claim("");
        let mut addresses = Addresses {
            modules: modules_of(package),
            provider: String::new(),
            resources: vec![String::new(); package.resources.len()],
            functions: vec![String::new(); package.functions.len()],
            types: vec![String::new(); package.types.len()],
            owners: FxHashMap::default(),
        };
        for position in 1..addresses.modules.len() {
            let name = &addresses.modules[position].name;
            let steps: Vec<String> = name.split('/').map(step).collect();
            addresses.modules[position].address = taken.claim(&steps.join("/"));
        }
        if package.provider.is_some() {
            addresses.provider = taken.claim("provider");
        }
        addresses.place_members(package, &mut taken);
        addresses
    }

    fn place_members(&mut self, package: &Package<'_>, taken: &mut Taken) {
        let mut owners = FxHashMap::default();
        owners.insert(PageAt::Resource(ResourceAt::Provider), 0);
        for (owner, module) in self.modules.iter().enumerate() {
            let mut place = |token: &str, folder: &str| {
                let name = step(member_of(token));
                let steps = [module.address.as_str(), folder, &name];
                let steps: Vec<&str> = steps.into_iter().filter(|it| !it.is_empty()).collect();
                taken.claim(&steps.join("/"))
            };
            for &position in &module.resources {
                self.resources[position] = place(&package.resources[position].token, "");
                owners.insert(PageAt::Resource(ResourceAt::Position(position)), owner);
            }
            for &position in &module.functions {
                self.functions[position] = place(package.functions[position].token, "");
                owners.insert(PageAt::Function(position), owner);
            }
            for &position in &module.types {
                self.types[position] = place(package.types[position].token, "types");
                owners.insert(PageAt::Type(position), owner);
            }
        }
        self.owners = owners;
    }

    /// Address of a page.
    pub(crate) fn address(&self, page: PageAt) -> &str {
        match page {
            PageAt::Package => "",
            PageAt::Module(position) => &self.modules[position].address,
            PageAt::Resource(ResourceAt::Provider) => &self.provider,
            PageAt::Resource(ResourceAt::Position(position)) => &self.resources[position],
            PageAt::Function(position) => &self.functions[position],
            PageAt::Type(position) => &self.types[position],
        }
    }

    /// Module of a member.
    pub(crate) fn owner(&self, page: PageAt) -> usize {
        self.owners.get(&page).copied().unwrap_or(0)
    }

    /// Page that describes a module.
    pub(crate) fn module_page(position: usize) -> PageAt {
        if position == 0 {
            PageAt::Package
        } else {
            PageAt::Module(position)
        }
    }

    /// All pages, in display order.
    pub(crate) fn pages(&self, package: &Package<'_>) -> Vec<PageAt> {
        let mut pages = vec![PageAt::Package];
        if package.provider.is_some() {
            pages.push(PageAt::Resource(ResourceAt::Provider));
        }
        for (position, module) in self.modules.iter().enumerate() {
            if position > 0 {
                pages.push(PageAt::Module(position));
            }
            let resources = module.resources.iter().map(|it| ResourceAt::Position(*it));
            pages.extend(resources.map(PageAt::Resource));
            pages.extend(module.functions.iter().map(|it| PageAt::Function(*it)));
            pages.extend(module.types.iter().map(|it| PageAt::Type(*it)));
        }
        pages
    }
}

/// Modules with their members, including parent modules that have no members of their own.
fn modules_of(package: &Package<'_>) -> Vec<Module> {
    let names = Names::of(package);
    let mut modules: BTreeMap<String, Module> = BTreeMap::new();
    modules.insert(String::new(), Module::default());
    let mut enter = |token: &str, list: fn(&mut Module) -> &mut Vec<usize>, position| {
        list(modules.entry(names.module_of(token)).or_default()).push(position);
    };
    for (position, resource) in package.resources.iter().enumerate() {
        enter(&resource.token, |module| &mut module.resources, position);
    }
    for (position, function) in package.functions.iter().enumerate() {
        if !function.is_method {
            enter(function.token, |module| &mut module.functions, position);
        }
    }
    for (position, definition) in package.types.iter().enumerate() {
        enter(definition.token, |module| &mut module.types, position);
    }
    let known: Vec<String> = modules.keys().cloned().collect();
    for name in known {
        for (end, _) in name.match_indices('/') {
            modules.entry(name[..end].to_owned()).or_default();
        }
    }
    let mut modules: Vec<Module> = modules
        .into_iter()
        .map(|(name, module)| Module { name, ..module })
        .collect();
    for module in &mut modules {
        module
            .resources
            .sort_by_key(|it| member_of(&package.resources[*it].token));
        module
            .functions
            .sort_by_key(|it| member_of(package.functions[*it].token));
        module
            .types
            .sort_by_key(|it| member_of(package.types[*it].token));
    }
    let positions: FxHashMap<String, usize> = modules
        .iter()
        .enumerate()
        .map(|(position, module)| (module.name.clone(), position))
        .collect();
    for position in 1..modules.len() {
        let parent = modules[position]
            .name
            .rsplit_once('/')
            .map_or("", |(parent, _)| parent);
        let parent = positions.get(parent).copied().unwrap_or(0);
        modules[position].parent = Some(parent);
        modules[parent].children.push(position);
    }
    modules
}

/// Displayed module names. The schema's `moduleToPackage` for Go takes precedence over tokens, because its names are
/// often better.
struct Names<'p, 'd> {
    package: &'p Package<'d>,
    better: FxHashMap<&'d str, &'d str>,
}

impl<'p, 'd> Names<'p, 'd> {
    fn of(package: &'p Package<'d>) -> Self {
        let block = package.language.get("go");
        let map = block.and_then(|block| block.get("moduleToPackage"));
        let pairs = map.into_iter().flat_map(plumb_schema::Node::members);
        let better = pairs.filter_map(|(from, to)| Some((from, to.as_str()?)));
        Names {
            package,
            better: better.collect(),
        }
    }

    fn module_of(&self, token: &str) -> String {
        let module = self.package.module_of(token);
        match self.better.get(module.as_str()) {
            Some(better) => (*better).to_owned(),
            None => module,
        }
    }
}

/// File names that Windows reserves.
const DEVICES: [&str; 4] = ["aux", "con", "nul", "prn"];

/// Maximum length of a step, in bytes.
const LENGTH: usize = 100;

/// Step of an address for a name.
fn step(name: &str) -> String {
    let fit = |char: char| {
        let is_fit = char.is_alphanumeric() || matches!(char, '-' | '_' | '.');
        if is_fit { char } else { '-' }
    };
    let lower = name.to_lowercase();
    let mut step: String = lower.chars().map(fit).take(LENGTH).collect();
    let is_dots = step.chars().all(|char| char == '.');
    // Each folder has an `index` page, which lists the others.
    if is_dots || step == "index" || step.starts_with("_index") || DEVICES.contains(&step.as_str())
    {
        step.insert_str(0, "--");
    }
    // A folder must not have the extension of a file.
    let is_file = [".css", ".html", ".js", ".json", ".md"]
        .iter()
        .any(|it| step.ends_with(it));
    if step.ends_with('.') || is_file {
        step.push('-');
    }
    step
}

/// Relative path from the folder of `from` to `to`; both are paths of files.
pub(crate) fn relative(from: &str, to: &str) -> String {
    let folder: Vec<&str> = from.split('/').collect();
    let folder = &folder[..folder.len() - 1];
    let steps: Vec<&str> = to.split('/').collect();
    let common = folder
        .iter()
        .zip(&steps[..steps.len() - 1])
        .take_while(|(one, other)| one == other)
        .count();
    let mut way = "../".repeat(folder.len() - common);
    way.push_str(&steps[common..].join("/"));
    way
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_lead_nowhere_else() {
        for (name, expected) in [
            ("Bucket", "bucket"),
            ("index", "--index"),
            ("..", "--..-"),
            ("", "--"),
            ("a/b\\c", "a-b-c"),
            ("apps.k8s.io", "apps.k8s.io"),
            ("x.HTML", "x.html-"),
            ("_index.md", "--_index.md-"),
            ("tree.json", "tree.json-"),
            ("CON", "--con"),
            ("a\u{0}<b>", "a--b-"),
        ] {
            assert_eq!(step(name), expected, "{name}");
        }
        assert_eq!(step(&"x".repeat(500)).len(), LENGTH);
    }

    #[test]
    fn ways_between_files_are_relative() {
        for (from, to, expected) in [
            ("index.html", "a/b.html", "a/b.html"),
            ("a/b.html", "index.html", "../index.html"),
            ("a/b.html", "a/c.html", "c.html"),
            ("a/b/c.html", "a/x/y.html", "../x/y.html"),
            ("a/b.html", "a/b.html", "b.html"),
        ] {
            assert_eq!(relative(from, to), expected);
        }
    }
}
