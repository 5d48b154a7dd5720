//! Detection of names that collide in SDKs (`schema.md` 11). All comparisons ignore case.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::Binder;
use super::section::TOKEN_LIMIT;
use crate::bound::Package;
use crate::problem::At;

/// A resource or function.
struct Source<'d> {
    section: &'static str,
    token: &'d str,
    offset: u32,
}

impl<'d> Binder<'d, '_> {
    pub(super) fn check_collisions(&mut self, package: &Package<'d>) {
        let sources = self.sources();
        self.check_forms(package, &sources);
        self.check_modules(package, &sources);
    }

    fn sources(&self) -> Vec<Source<'d>> {
        let sections = [&self.sections.resources, &self.sections.functions];
        let members = sections.into_iter().flat_map(|section| {
            section.members.iter().map(|member| Source {
                section: section.key,
                token: member.token,
                offset: member.offset,
            })
        });
        members
            .filter(|source| source.token.len() <= TOKEN_LIMIT)
            .filter(|source| source.token.split(':').count() == 3)
            .collect()
    }

    /// Reports members whose tokens are equal, either as written or with the module as SDKs have it.
    fn check_forms(&mut self, package: &Package<'d>, sources: &[Source<'d>]) {
        let mut by_form: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, source) in sources.iter().enumerate() {
            let literal = source.token.to_lowercase();
            let canonical = canonical(package, source.token).to_lowercase();
            for form in [literal, canonical] {
                let known = by_form.entry(form).or_default();
                if known.last() != Some(&index) {
                    known.push(index);
                }
            }
        }
        let mut told: FxHashSet<usize> = FxHashSet::default();
        for (form, members) in by_form.iter().filter(|(_, members)| members.len() > 1) {
            for &index in members {
                if !told.insert(index) {
                    continue;
                }
                let others: Vec<&str> = members
                    .iter()
                    .filter(|other| **other != index)
                    .take(10)
                    .map(|other| sources[*other].token)
                    .collect();
                let message = format!("multiple tokens map to {form}: also {}", others.join(", "));
                self.report(&sources[index], message);
            }
        }
    }

    /// Reports members with the name of a module.
    fn check_modules(&mut self, package: &Package<'d>, sources: &[Source<'d>]) {
        let mut modules: FxHashSet<String> = FxHashSet::default();
        for source in sources {
            let module = package.module_of(source.token);
            let lower = module.to_lowercase();
            let ends = lower
                .match_indices('/')
                .map(|(end, _)| end)
                .chain([lower.len()]);
            for end in ends.filter(|end| *end > 0) {
                modules.insert(lower[..end].to_owned());
            }
        }
        for source in sources {
            let module = package.module_of(source.token);
            let name = crate::bound::member_of(source.token);
            let path = if module.is_empty() {
                name.to_lowercase()
            } else {
                format!("{module}/{name}").to_lowercase()
            };
            if modules.contains(&path) {
                let message = format!("token {} collides with module {path}", source.token);
                self.report(source, message);
            }
        }
    }

    fn report(&mut self, source: &Source<'d>, message: String) {
        let section = At::ROOT_REF.key(source.section, source.offset);
        self.problems
            .error(&section.key(source.token, source.offset), message);
    }
}

/// The token with the module as SDKs have it: `<package>:<module>:<name>`, or `<package>:<name>` in the root module.
fn canonical(package: &Package<'_>, token: &str) -> String {
    let prefix = token.split(':').next().unwrap_or_default();
    let name = crate::bound::member_of(token);
    match package.module_of(token).as_str() {
        "" => format!("{prefix}:{name}"),
        module => format!("{prefix}:{module}:{name}"),
    }
}
