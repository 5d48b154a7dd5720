//! Comparison of a resource: checked inputs, and the effective difference (`engine.md` 4.3 F, 4.6).

use std::collections::BTreeSet;
use std::sync::Arc;

use plumb_resource::provider::{DiffChanges, DiffResult};
use plumb_resource::{ProviderRef, ResourceKind, ResourceState, Urn};
use plumb_value::diff::{Wrappers, equal_maps};
use plumb_value::{PropertyMap, Value};

use super::Model;
use super::monitor::Wanted;
use super::registrations::Registration;
use crate::cloud::{Cloud, checkable};

/// Parts of a difference that decisions need.
#[derive(Clone, Debug, Default)]
pub(super) struct Difference {
    pub(super) is_some: bool,
    pub(super) replaces: bool,
    pub(super) keys: BTreeSet<String>,
    pub(super) delete_first: bool,
}

/// Configuration without the engine's internal key.
pub(super) fn visible(inputs: &PropertyMap) -> PropertyMap {
    let mut visible = inputs.clone();
    visible.remove("__internal");
    visible
}

impl Model<'_> {
    /// Effective difference, after the options are applied.
    pub(super) fn compare(&mut self, wanted: &Wanted, node: usize) -> Result<Difference, String> {
        let old = self.state(node).clone();
        if !self.is_preview() && wanted.state.replacement_trigger.contains_unknowns() {
            self.coverage.reach("RTRIG-04");
            return Err("the replacement trigger contains unknowns".to_owned());
        }
        if trigger_fires(&old.replacement_trigger, &wanted.state.replacement_trigger) {
            self.coverage.reach("RTRIG-01");
            return Ok(Difference {
                is_some: true,
                replaces: true,
                ..Difference::default()
            });
        }
        let mut diff = self.difference(wanted, &old)?;
        self.apply_replace_on_changes(&wanted.state, &old, &mut diff);
        Ok(diff)
    }

    /// Part F: applies ignoreChanges and Check to the inputs.
    pub(super) fn check(&mut self, number: usize) -> Result<(), String> {
        self.note_naming(number);
        let Registration {
            wanted,
            old,
            included,
            ..
        } = &mut self.registrations[number];
        let old = old.map(|node| self.nodes[node].state.clone());
        if let Some(old) = &old {
            let mut inputs = wanted.raw.as_ref().clone();
            reset_ignored(&wanted.state, &mut inputs, &old.inputs);
            wanted.state.inputs = Arc::new(inputs);
        }
        if wanted.state.kind == ResourceKind::Component {
            return Ok(());
        }
        if !*included {
            wanted.state.inputs = old.map(|old| old.inputs.clone()).unwrap_or_default();
            return Ok(());
        }
        let urn = wanted.state.urn.clone();
        let fresh = old.as_ref().is_none_or(|old| old.external)
            || self.fate(&urn).deleted
            || self.is_replace_target(&urn, old.as_deref());
        self.check_inputs(number, old.filter(|_| !fresh).as_deref())
    }

    /// Calls Check with the old inputs if they apply, otherwise as for a new resource.
    fn check_inputs(&mut self, number: usize, old: Option<&ResourceState>) -> Result<(), String> {
        let registration = &mut self.registrations[number];
        let wanted = &mut registration.wanted;
        let kind = wanted.state.kind;
        if kind == ResourceKind::Component || !registration.included {
            return Ok(());
        }
        if old.is_none() {
            wanted.state.inputs = wanted.raw.clone();
        }
        let (urn, inputs) = (wanted.state.urn.clone(), wanted.state.inputs.clone());
        let provider = wanted.state.provider.clone();
        if self.is_config_unknown(provider.as_ref()) {
            return Ok(());
        }
        let (olds, news) = if kind == ResourceKind::Provider {
            let olds = old.map(|old| visible(&old.inputs)).unwrap_or_default();
            (Some(olds), Arc::new(visible(&inputs)))
        } else {
            (old.map(|old| old.inputs.as_ref().clone()), inputs.clone())
        };
        // Providers are checked with what is unknown in updates, too.
        let news = checkable(&news, self.is_preview() || kind == ResourceKind::Provider);
        // Providers do not get a name.
        let naming = self.naming_of(&urn, kind);
        let naming = naming.filter(|_| kind == ResourceKind::Custom);
        let (faults, name) = (self.faults, urn.name());
        let checked = Cloud::check(faults, name, naming.as_ref(), olds.as_ref(), &news)
            .map_err(|reason| reason.to_string())?;
        self.registrations[number].wanted.state.inputs = match inputs.get("__internal") {
            Some(internal) => Arc::new(
                checked
                    .as_ref()
                    .clone()
                    .with("__internal", internal.clone()),
            ),
            None => checked,
        };
        Ok(())
    }

    /// Calls Check as for a new resource; the result is analyzed by policies again.
    pub(super) fn check_anew(&mut self, number: usize) -> Result<(), String> {
        self.check_inputs(number, None)?;
        self.put_to_policies(number)
    }

    /// Difference in the order of 4.6.
    fn difference(&mut self, wanted: &Wanted, old: &ResourceState) -> Result<Difference, String> {
        let new = &wanted.state;
        let replace = |key: &str| {
            Ok(Difference {
                is_some: true,
                replaces: true,
                keys: BTreeSet::from([key.to_owned()]),
                delete_first: false,
            })
        };
        if self.is_replace_target(&new.urn, Some(old)) {
            self.coverage
                .reach(if old.taint { "TAINT-01" } else { "TARGET-21" });
            return replace("id");
        }
        if new.replace_with.iter().any(|urn| self.fate(urn).replaced) {
            self.coverage.reach("RWITH-01");
            return replace("replaceWith");
        }
        if new
            .deleted_with
            .as_ref()
            .is_some_and(|urn| self.fate(urn).replaced)
        {
            self.coverage.reach("DWREPL-03");
            return replace("deletedWith");
        }
        if self.provider_changed(old.provider.as_ref(), new.provider.as_ref())? {
            return replace("provider");
        }
        let are_equal = equal_maps(&old.inputs, &new.inputs, Wrappers::Honour);
        if self.operation.flags.legacy_diff && are_equal {
            return Ok(Difference::default());
        }
        match new.kind {
            ResourceKind::Component => Ok(Difference {
                is_some: !are_equal,
                ..Difference::default()
            }),
            ResourceKind::Provider => {
                let (before, after) = (visible(&old.inputs), visible(&new.inputs));
                let diff = Cloud::diff(self.faults, new.urn.name(), &before, &after)
                    .map_err(|error| error.to_string())?;
                let mut result = told(&diff);
                if diff.changes == DiffChanges::Unknown {
                    result.is_some = old.outputs.as_ref() != &after;
                }
                Ok(result)
            }
            ResourceKind::Custom => {
                if self.is_config_unknown(new.provider.as_ref()) {
                    self.coverage.reach("PULUMI-03");
                    return Ok(Difference {
                        is_some: true,
                        ..Difference::default()
                    });
                }
                self.managed_difference(&new.urn, old, &new.inputs)
            }
        }
    }

    fn managed_difference(
        &mut self,
        urn: &Urn,
        old: &ResourceState,
        new: &PropertyMap,
    ) -> Result<Difference, String> {
        let diff = Cloud::diff(self.faults, urn.name(), &old.inputs, new)
            .map_err(|error| error.to_string())?;
        let mut result = told(&diff);
        if diff.changes == DiffChanges::Unknown {
            self.coverage.reach("PULUMI-49");
            let (before, after) = (old.inputs.without_secrets(), new.without_secrets());
            let keys = before.keys().chain(after.keys());
            result.keys = keys
                .filter(|key| before.get(key.as_str()) != after.get(key.as_str()))
                .map(|key| key.as_str().to_owned())
                .collect();
            result.is_some = !result.keys.is_empty();
        }
        Ok(result)
    }

    fn provider_changed(
        &mut self,
        before: Option<&ProviderRef>,
        after: Option<&ProviderRef>,
    ) -> Result<bool, String> {
        let (before, after) = match (before, after) {
            (None, None) => return Ok(false),
            (Some(before), Some(after)) => (before, after),
            _ => {
                self.coverage.reach("ALIAS-06");
                return Ok(true);
            }
        };
        let is_renamed = self.aliased.get(before.urn()) == Some(after.urn());
        if before == after || (is_renamed && before.id() == after.id()) {
            return Ok(false);
        }
        let Some(old) = self.provider_entry(before) else {
            return Ok(false);
        };
        let Some(new) = self.provider_state(after) else {
            return Ok(false);
        };
        self.coverage.reach("PROV-10");
        let diff = Cloud::diff(
            self.faults,
            after.urn().name(),
            &visible(&old.inputs),
            &visible(&new.inputs),
        )
        .map_err(|error| error.to_string())?;
        Ok(diff.is_replace())
    }

    /// Entry of a provider in the old state.
    fn provider_entry(&self, reference: &ProviderRef) -> Option<Arc<ResourceState>> {
        let text = reference.to_string();
        self.nodes[..self.olds]
            .iter()
            .map(|node| &node.state)
            .find(|state| {
                state
                    .as_provider_ref()
                    .is_some_and(|other| other.to_string() == text)
            })
            .cloned()
    }

    /// Whether a provider was registered, or can be loaded from the old state.
    pub(super) fn provider_is_there(&self, reference: &ProviderRef) -> bool {
        self.provider_state(reference).is_some()
    }

    fn provider_state(&self, reference: &ProviderRef) -> Option<Arc<ResourceState>> {
        let is_it = |state: &&Arc<ResourceState>| {
            self.is_preview() || state.as_provider_ref().as_ref() == Some(reference)
        };
        let registered = self.news.get(reference.urn()).map(|node| self.state(*node));
        let registered = registered.filter(is_it).cloned();
        registered.or_else(|| self.provider_entry(reference))
    }

    /// Whether the provider's configuration is unknown, so that it is not called: in a preview, or because a target leaves out
    /// what it comes from.
    pub(super) fn is_config_unknown(&self, reference: Option<&ProviderRef>) -> bool {
        let Some(node) = reference.and_then(|reference| self.news.get(reference.urn())) else {
            return false;
        };
        // A state that names the old object of a replaced provider is compared by that object, whose configuration is known.
        if self.state(*node).as_provider_ref().as_ref() != reference {
            return false;
        }
        let inputs = &self.state(*node).inputs;
        inputs
            .iter()
            .any(|(key, value)| key.as_str() != "version" && value.contains_unknowns())
    }

    pub(super) fn apply_replace_on_changes(
        &mut self,
        new: &ResourceState,
        old: &ResourceState,
        diff: &mut Difference,
    ) {
        let listed = |key: &str| {
            new.replace_on_changes
                .iter()
                .any(|path| path == "*" || path == key)
        };
        if diff.is_some && diff.keys.iter().any(|key| listed(key)) {
            self.coverage.reach("PULUMI-21");
            diff.replaces = true;
        }
        if !old.init_errors.is_empty() && listed("#initerror") {
            diff.is_some = true;
            diff.replaces = true;
        }
    }
}

pub(super) fn told(diff: &DiffResult) -> Difference {
    let detailed = diff.detailed_diff.iter().flatten();
    Difference {
        is_some: diff.changes == DiffChanges::Some,
        replaces: diff.changes == DiffChanges::Some && diff.is_replace(),
        keys: detailed
            .map(|(key, _)| key.to_string())
            .chain(diff.changed_keys.iter().map(ToString::to_string))
            .collect(),
        delete_first: diff.delete_before_replace,
    }
}

/// Resets a property in ignoreChanges to its old value.
pub(super) fn reset_ignored(state: &ResourceState, inputs: &mut PropertyMap, old: &PropertyMap) {
    for path in &state.ignore_changes {
        let keys: Vec<String> = if path == "*" {
            let all = inputs.keys().chain(old.keys());
            all.map(|key| key.as_str().to_owned()).collect()
        } else {
            vec![path.to_string()]
        };
        for key in keys {
            match old.get(&key) {
                Some(value) => drop(inputs.insert(key.as_str(), value.clone())),
                None => drop(inputs.remove(&key)),
            }
        }
    }
}

fn trigger_fires(old: &Value, new: &Value) -> bool {
    let (old, new) = (old.without_secrets(), new.without_secrets());
    if old.contains_unknowns() || new.contains_unknowns() {
        return true;
    }
    !old.is_null() && !new.is_null() && old != new
}
