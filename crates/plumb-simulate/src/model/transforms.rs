//! Transforms: functions of the program that change its registrations (`engine.md` 2.4).

use std::borrow::Cow;
use std::sync::Arc;

use plumb_resource::Urn;

use super::monitor::Wanted;
use super::{Model, illegal};
use crate::story::Res;
use crate::world::{Violation, functions};

impl Model<'_> {
    /// Registration after its transforms; `None` if one of them fails.
    pub(super) fn transformed<'r>(
        &mut self,
        res: &'r Res,
        parent: Option<&Urn>,
    ) -> Option<Cow<'r, Res>> {
        // Reads have no transforms.
        if res.read.is_some() {
            return Some(Cow::Borrowed(res));
        }
        let names = self.transforms_of(res, parent);
        if names.is_empty() {
            return Some(Cow::Borrowed(res));
        }
        self.note_transforms(res, &names);
        functions::transformed(names.iter(), res).map(Cow::Owned)
    }

    /// Applies the result of transforms to the goal state. Dependencies are derived again from the properties only if
    /// the resource has transforms of its own.
    pub(super) fn apply_transforms(&mut self, given: &Res, res: &Res, wanted: &mut Wanted) {
        // The provider of a remote component says itself what the properties depend on.
        let has_own = !given.transforms.is_empty() && !given.remote;
        let names = self.transforms_of(given, wanted.state.parent.as_ref());
        let written: Vec<&str> = names
            .iter()
            .filter_map(|name| functions::written_by(name))
            .collect();
        let mut inputs = wanted.raw.as_ref().clone();
        let mut dependencies = wanted.state.property_dependencies.clone();
        for key in given.properties.keys() {
            if !res.properties.contains_key(key) {
                inputs.remove(key);
            }
        }
        for key in &written {
            let value = self.value(None, &res.properties[*key]);
            inputs.insert(*key, value);
        }
        if has_own {
            let is_kept = |key: &str| inputs.contains_key(key) && !written.contains(&key);
            dependencies.retain(|key, _| is_kept(key.as_str()));
        }
        wanted.raw = Arc::new(inputs);
        wanted.delete_first = res.delete_before_replace;
        wanted.state.inputs = wanted.raw.clone();
        wanted.state.property_dependencies = dependencies;
        wanted.state.custom_timeouts.create = f64::from(res.timeout.unwrap_or(0));
    }

    /// Transforms in order: the resource's own, those of its ancestors from the nearest on, those of the stack.
    fn transforms_of(&self, res: &Res, parent: Option<&Urn>) -> Vec<String> {
        let mut names = res.transforms.clone();
        let mut ancestor = parent.and_then(|urn| self.lineages.get(urn));
        while let Some(lineage) = ancestor {
            names.extend(lineage.transforms.iter().cloned());
            let parent = lineage.parent.as_ref();
            ancestor = parent.and_then(|urn| self.lineages.get(urn));
        }
        names.extend(self.program.transforms.iter().cloned());
        names
    }

    fn note_transforms(&mut self, res: &Res, names: &[String]) {
        self.coverage.reach("XFORM-05");
        let has_own = !res.transforms.is_empty();
        if has_own && names.len() > res.transforms.len() {
            self.coverage.reach("XFORM-01");
        }
        if has_own && names.iter().any(|name| name == "plain") {
            self.coverage.reach("XFORM-06");
        }
        if has_own && res.remote {
            self.coverage.reach("XFORM-07");
        }
        let parent = res
            .parent
            .as_deref()
            .and_then(|name| self.program.get(name));
        if parent.is_some_and(|parent| parent.remote) {
            self.coverage.reach("XFORM-04");
        }
    }

    /// Handles a registration that is refused because a transform failed.
    pub(super) fn refused(&mut self, name: &str) -> Result<(), Violation> {
        let Some(res) = self.program.get(name) else {
            return Err(illegal(format!("nobody registers {name}")));
        };
        self.source.clone_from(&res.snippet);
        let parent = self.program.parent_of(res);
        let parent = parent.map(|name| self.urn_of_name(name));
        self.coverage.reach("XFORM-03");
        match self.transformed(res, parent.as_ref()) {
            None => Ok(()),
            Some(_) => Err(illegal(format!("{name} is refused without a reason"))),
        }
    }
}
