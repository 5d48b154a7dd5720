//! Names of types and functions, and the resolution of conflicts (`codegen.md` 4.2).

use plumb_schema::bound::{Function, Package, Returns, TypeShape, member_of};
use rustc_hash::{FxHashMap, FxHashSet};

use super::names;

/// Names by position.
pub(super) struct Naming {
    pub(super) resources: Vec<String>,
    pub(super) types: Vec<String>,
    pub(super) functions: Vec<String>,
    taken: Taken,
}

impl Naming {
    /// Whether a declaration in the module has this name.
    pub(super) fn is_taken(&self, module: &str, name: &str) -> bool {
        let names = self.taken.0.get(module);
        names.is_some_and(|names| names.contains(name))
    }
}

/// Names in use, by Go package.
#[derive(Default)]
struct Taken(FxHashMap<String, FxHashSet<String>>);

impl Taken {
    /// Claims the first of `candidates` whose `forms` are all free; if there is none, the last one with underscores
    /// appended.
    fn claim(
        &mut self,
        module: &str,
        candidates: Vec<String>,
        forms: impl Fn(&str) -> Vec<String>,
    ) -> String {
        let taken = self.0.entry(module.to_owned()).or_default();
        let is_free = |name: &str| forms(name).iter().all(|form| !taken.contains(form));
        let mut last = candidates.last().cloned().unwrap_or_default();
        let name = candidates
            .into_iter()
            .find(|name| is_free(name))
            .unwrap_or_else(|| {
                while !is_free(&last) {
                    last.push('_');
                }
                last
            });
        taken.extend(forms(&name));
        name
    }
}

/// Chooses the names of a package. `module_of` returns the Go package of a token.
pub(super) fn decide(
    package: &Package<'_>,
    has_containers: bool,
    module_of: &dyn Fn(&str) -> String,
) -> Naming {
    let mut taken = Taken::default();
    if package.provider.is_some() {
        taken.claim("", vec!["Provider".to_owned()], |name| {
            resource_forms(name, has_containers)
        });
    }
    let mut tokens = FxHashSet::default();
    let resources = package.resources.iter().map(|resource| {
        tokens.insert(resource.token.to_string());
        let title = names::title(member_of(&resource.token));
        let candidates = with_endings(&title, &["Resource", "Res"]);
        let module = module_of(&resource.token);
        taken.claim(&module, candidates, |name| {
            resource_forms(name, has_containers)
        })
    });
    let resources = resources.collect();
    let mut types = vec![String::new(); package.types.len()];
    for wants_enums in [false, true] {
        for (position, definition) in package.types.iter().enumerate() {
            let is_enum = matches!(definition.shape, TypeShape::Enum(_));
            if is_enum != wants_enums {
                continue;
            }
            let title = names::title(member_of(definition.token));
            let candidates = if is_enum {
                with_endings(&title, &["Enum"])
            } else if tokens.contains(definition.token) {
                vec![format!("{title}Type")]
            } else {
                with_endings(&title, &["Type", "Typ"])
            };
            let module = module_of(definition.token);
            types[position] = taken.claim(&module, candidates, type_forms);
        }
    }
    let functions = package.functions.iter().map(|function| {
        if function.is_method {
            return String::new();
        }
        let title = names::title(member_of(function.token));
        let candidates = function_candidates(&title);
        let module = module_of(function.token);
        taken.claim(&module, candidates, |name| function_forms(name, function))
    });
    let functions = functions.collect();
    Naming {
        resources,
        types,
        functions,
        taken,
    }
}

fn with_endings(name: &str, endings: &[&str]) -> Vec<String> {
    let others = endings.iter().map(|ending| format!("{name}{ending}"));
    std::iter::once(name.to_owned()).chain(others).collect()
}

fn function_candidates(title: &str) -> Vec<String> {
    let mut candidates = vec![title.to_owned()];
    for (from, to) in [("New", "Create"), ("Get", "Lookup")] {
        if let Some(rest) = title.strip_prefix(from) {
            candidates.push(format!("{to}{rest}"));
        }
    }
    candidates
}

/// Names in a Go package that a resource uses.
pub(crate) fn resource_forms(name: &str, has_containers: bool) -> Vec<String> {
    let camel = names::hidden(name);
    let mut forms = vec![
        name.to_owned(),
        format!("{name}Input"),
        format!("{name}Output"),
        format!("{name}Args"),
        format!("{camel}Args"),
        format!("New{name}"),
        format!("{name}State"),
        format!("{camel}State"),
        format!("Get{name}"),
    ];
    if has_containers {
        forms.extend([format!("{name}Array"), format!("{name}Map")]);
    }
    forms
}

fn type_forms(name: &str) -> Vec<String> {
    vec![
        name.to_owned(),
        format!("{name}Input"),
        format!("{name}Output"),
    ]
}

fn function_forms(name: &str, function: &Function<'_>) -> Vec<String> {
    let mut forms = vec![name.to_owned()];
    if function.inputs.is_some() {
        forms.push(format!("{name}Args"));
    }
    if matches!(function.returns, Returns::Object(_)) {
        forms.push(format!("{name}Result"));
    }
    forms
}
