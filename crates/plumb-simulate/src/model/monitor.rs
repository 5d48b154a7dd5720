//! Conversion of a program's registrations to goal states (`engine.md` 2.3).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plumb_resource::{
    CustomTimeouts, PropertyDependencies, ProviderRef, ResourceId, ResourceKind, ResourceState,
    TypeToken, Urn,
};
use plumb_value::{PropertyMap, Value};

use super::{Lineage, Model, Phase, illegal};
use crate::story::{PROJECT, Prop, Res, STACK, package_of, token_of};
use crate::world::Violation;

/// Goal state of a registration.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) state: ResourceState,
    /// Inputs given by the program.
    pub(super) raw: Arc<PropertyMap>,
    pub(super) delete_first: Option<bool>,
}

impl Model<'_> {
    /// Handles a registration with this URN, by the program or by the engine.
    pub(super) fn registered(&mut self, urn: &Urn) -> Result<(), Violation> {
        if self.phase != Phase::Program {
            return Err(illegal(format!("{} is registered now", urn.name())));
        }
        let mut resources = self.program.resources.iter();
        let of_program = resources.find(|res| self.urn_asked_for(res) == *urn);
        if let Some(res) = of_program {
            return self.visit(res);
        }
        if urn.is_root_stack() {
            let res = Res::new("Stack", "stack");
            let wanted = self.wanted(&res, None, &Lineage::default(), None);
            self.arrive(&res, wanted.by(None, None));
            return Ok(());
        }
        if !urn.is_default_provider() {
            return Err(illegal(format!("nobody registers {}", urn.name())));
        }
        self.default_provider(urn);
        Ok(())
    }

    /// Handles one registration or read of the program.
    fn visit(&mut self, res: &Res) -> Result<(), Violation> {
        self.source.clone_from(&res.snippet);
        for need in self.program.needs_of(res) {
            if self.answer_of(need).is_none() {
                let what = format!("{} is asked for before {need} is answered", res.name);
                return Err(Violation::new("model", what));
            }
        }
        let parent = self.program.parent_of(res);
        let parent = parent.map(|name| self.urn_of_name(name));
        let given = res;
        let Some(changed) = self.transformed(given, parent.as_ref()) else {
            return Err(illegal(format!("a transform of {} fails", given.name)));
        };
        let res = changed.as_ref();
        let lineage = self.lineage_of(res, parent.as_ref());
        let provider = if res.is_managed() {
            Some(self.provider_of(res, &lineage)?)
        } else {
            None
        };
        let mut wanted = self.wanted(given, parent.clone(), &lineage, provider.clone());
        if matches!(changed, Cow::Owned(_)) {
            self.apply_transforms(given, res, &mut wanted);
        }
        let registration = wanted.by(Some(res.name.clone()), None);
        if res.read.is_some() {
            self.read(res, registration);
            return Ok(());
        }
        let lineage = Lineage {
            provider: provider.or(lineage.provider),
            transforms: res.transforms.clone(),
            parent,
            ..lineage
        };
        let urn = registration.wanted.state.urn.clone();
        self.lineages.insert(urn, lineage);
        self.arrive(res, registration);
        Ok(())
    }

    /// URN of the resource that the current source knows by this name.
    pub(super) fn urn_of_name(&self, name: &str) -> Urn {
        let answer = self.answer_of(name).expect("it is needed, and so answered");
        answer.urn.clone()
    }

    pub(super) fn reference(&self, name: &str) -> ProviderRef {
        let answer = self.answer_of(name).expect("it is needed, and so answered");
        ProviderRef::new(answer.urn.clone(), answer.id.as_str())
    }

    /// Options of a resource, including those inherited from its parent.
    fn lineage_of(&mut self, res: &Res, parent: Option<&Urn>) -> Lineage {
        let mut lineage = self.lineage_said(res);
        let parent = parent.and_then(|parent| self.lineages.get(parent)).cloned();
        let Some(parent) = parent.filter(|_| res.read.is_none()) else {
            return lineage;
        };
        if lineage.protect.is_none() && parent.protect == Some(true) {
            self.coverage.reach("PROTECT-02");
        }
        lineage.protect = lineage.protect.or(parent.protect);
        lineage.retain = lineage.retain.or(parent.retain);
        if lineage.deleted_with.is_none() && parent.deleted_with.is_some() {
            self.coverage.reach("PROV-20");
            lineage.deleted_with.clone_from(&parent.deleted_with);
        }
        hand_providers_on(parent, res, &mut lineage);
        lineage
    }

    /// Options of a resource itself.
    fn lineage_said(&self, res: &Res) -> Lineage {
        let own = res.provider.iter().filter(|_| res.is_component());
        let providers = res.providers.iter().chain(own).map(|name| {
            let provider = self.program.get(name);
            let package = provider.map_or("", |res| package_of(&res.type_name));
            (package.to_owned(), self.reference(name))
        });
        Lineage {
            protect: res.protect,
            retain: res.retain,
            deleted_with: res.deleted_with.as_ref().map(|name| self.urn_of_name(name)),
            provider: res.provider.as_ref().map(|name| self.reference(name)),
            providers: providers.collect(),
            is_component: res.is_component(),
            ..Lineage::default()
        }
    }

    /// Provider of a managed resource; a default provider must be registered already.
    fn provider_of(&mut self, res: &Res, lineage: &Lineage) -> Result<ProviderRef, Violation> {
        if let Some(provider) = &lineage.provider {
            if res.provider.is_none() {
                self.coverage.reach("PROV-22");
            }
            return Ok(provider.clone());
        }
        let package = package_of(&res.type_name);
        if let Some(reference) = lineage.providers.get(package) {
            self.coverage.reach("PROV-23");
            return Ok(reference.clone());
        }
        if let Some(version) = &res.version
            && res.package.is_none()
        {
            let key = (package.to_owned(), Some(version.clone()));
            let reference = self.defaults.get(&key).cloned();
            return reference.ok_or_else(|| illegal(format!("{} has no provider yet", res.name)));
        }
        let reference = self.default_for(Some(res));
        reference.ok_or_else(|| illegal(format!("{} has no provider yet", res.name)))
    }

    /// Name of the default provider of a version.
    pub(super) fn default_name(version: Option<&str>) -> String {
        let version = version.map(|version| version.replace('.', "_"));
        version.map_or("default".to_owned(), |it| format!("default_{it}"))
    }

    /// Handles the registration of a default provider by the engine, which is identified by its URN.
    fn default_provider(&mut self, urn: &Urn) {
        let package = urn
            .type_token()
            .provided_package()
            .unwrap_or_default()
            .to_owned();
        let version = urn.name().strip_prefix("default_");
        let version = version.map(|text| text.replace('_', "."));
        self.coverage.reach(if version.is_some() {
            "PROV-13"
        } else {
            "PROV-01"
        });
        let mut res = Res::new(&format!("pulumi:providers:{package}"), urn.name());
        res.version.clone_from(&version);
        res.package = self.parameterized(&package, version.as_deref());
        // Dynamic providers can read all settings.
        let is_dynamic = matches!(package.as_str(), "pulumi-nodejs" | "pulumi-python");
        for (name, value) in &self.program.config {
            if is_dynamic {
                res.properties.insert(name.clone(), Prop::text(value));
            } else if let Some(key) = name.strip_prefix(&format!("{package}:")) {
                res.properties.insert(key.to_owned(), Prop::text(value));
            }
        }
        let wanted = self.wanted(&res, None, &Lineage::default(), None);
        self.arrive(&res, wanted.by(None, Some((package, version))));
    }

    /// Value of a property, as the program or a snippet knows it.
    pub(super) fn value(&self, snippet: Option<&str>, prop: &Prop) -> Value {
        let preview = self.is_preview();
        prop.value(
            |name, key| match self.answer_for(snippet, name) {
                Some(answer) => answer.output(key, preview),
                None => Value::UNKNOWN,
            },
            |method, key| match self.prediction.results.get(method) {
                Some(answered) => answered.value(key, preview),
                None => Value::UNKNOWN,
            },
        )
    }

    fn properties(&self, res: &Res, props: &BTreeMap<String, Prop>) -> PropertyMap {
        props
            .iter()
            .map(|(key, prop)| {
                (
                    key.as_str().into(),
                    self.value(res.snippet.as_deref(), prop),
                )
            })
            .filter(|(_, value)| !value.without_secrets().is_null())
            .collect()
    }

    fn wanted(
        &mut self,
        res: &Res,
        parent: Option<Urn>,
        lineage: &Lineage,
        provider: Option<ProviderRef>,
    ) -> Wanted {
        let mut inputs = self.properties(res, &res.properties);
        if res.is_provider() {
            self.write_plugin(res, &mut inputs);
        }
        let named = res.depends_on.iter().map(|name| self.urn_of_name(name));
        let used = res.properties.values().flat_map(|prop| self.urns_of(prop));
        let uses: BTreeSet<Urn> = named.chain(used).collect();
        let extension_ref = self.extension_of(res);
        if res.loose && !uses.is_empty() {
            self.coverage.reach("DBR-02");
        }
        let raw = Arc::new(inputs);
        let secret_outputs = res.secret_outputs.iter();
        let state = ResourceState {
            type_token: TypeToken::new(token_of(&res.type_name)),
            inputs: raw.clone(),
            property_dependencies: self.uses_by_property(res, &raw, &uses),
            dependencies: uses.into_iter().collect(),
            provider,
            additional_secret_outputs: secret_outputs.map(|key| key.as_str().into()).collect(),
            snippet_id: res.snippet.as_deref().map(Into::into),
            extension_ref,
            ..Self::identity_of(res, parent)
        };
        let state = match &res.read {
            None => self.with_options(res, lineage, state),
            // Reads have no options.
            Some(id) => ResourceState {
                id: ResourceId::from_text(id),
                external: true,
                ..state
            },
        };
        Wanted {
            state,
            raw,
            delete_first: res.delete_before_replace,
        }
    }

    /// Identity and kind of a resource.
    fn identity_of(res: &Res, parent: Option<Urn>) -> ResourceState {
        let kind = match (res.is_component(), res.is_provider()) {
            (true, _) => ResourceKind::Component,
            (_, true) => ResourceKind::Provider,
            _ => ResourceKind::Custom,
        };
        let parent_type = parent.as_ref().map_or("", Urn::qualified_type);
        let token = token_of(&res.type_name);
        let urn = if res.is_stack() {
            Self::root_urn()
        } else {
            Urn::new(STACK, PROJECT, parent_type, token, &res.name)
        };
        ResourceState {
            parent,
            ..ResourceState::new(urn, kind)
        }
    }

    /// Resources that each input depends on; all dependencies if the program does not say.
    fn uses_by_property(
        &self,
        res: &Res,
        inputs: &PropertyMap,
        uses: &BTreeSet<Urn>,
    ) -> PropertyDependencies {
        let of_prop = |prop: &Prop| -> Vec<Urn> {
            if res.loose {
                return uses.iter().cloned().collect();
            }
            self.urns_of(prop)
        };
        let is_given = |key: &str| inputs.contains_key(key) && res.read.is_none();
        let given = res.properties.iter().filter(|(key, _)| is_given(key));
        given
            .map(|(key, prop)| (key.as_str().into(), of_prop(prop).into()))
            .collect()
    }

    /// State with the options of a registration.
    fn with_options(&self, res: &Res, lineage: &Lineage, state: ResourceState) -> ResourceState {
        let texts = |names: &[String]| names.iter().map(|name| name.as_str().into()).collect();
        let urns = |names: &[String]| names.iter().map(|name| self.urn_of_name(name)).collect();
        let trigger = res.trigger.as_ref();
        ResourceState {
            protect: lineage.protect.unwrap_or(false),
            custom_timeouts: CustomTimeouts {
                create: f64::from(res.timeout.unwrap_or(0)),
                ..CustomTimeouts::default()
            },
            import_id: res.import.clone().unwrap_or_default().into(),
            retain_on_delete: lineage.retain.unwrap_or(false),
            hooks: res.hooks(),
            deleted_with: lineage.deleted_with.clone(),
            replace_with: urns(&res.replace_with),
            ignore_changes: texts(&res.ignore_changes),
            hide_diff: texts(&res.hide_diffs),
            replace_on_changes: texts(&res.replace_on_changes),
            replacement_trigger: trigger
                .map_or(Value::Null, |it| self.value(res.snippet.as_deref(), it)),
            ..state
        }
    }

    pub(super) fn outputs_of(&self, res: &Res) -> PropertyMap {
        self.properties(res, &res.outputs)
    }
}

/// Inherits providers from the parent, if their packages match.
fn hand_providers_on(parent: Lineage, res: &Res, lineage: &mut Lineage) {
    let package = package_of(&res.type_name);
    let fits = |reference: &ProviderRef| {
        if res.is_provider() {
            false
        } else if res.is_component() {
            !reference.urn().is_default_provider()
        } else {
            reference.package() == package
        }
    };
    if lineage.provider.is_none() {
        lineage.provider = parent.provider.filter(fits);
    }
    if !parent.is_component {
        return;
    }
    if lineage.provider.is_none() && res.is_managed() {
        lineage.provider = lineage.providers.get(package).cloned();
        lineage.provider = lineage
            .provider
            .take()
            .or(parent.providers.get(package).cloned());
    }
    if res.is_component() {
        for (package, reference) in parent.providers {
            lineage.providers.entry(package).or_insert(reference);
        }
    }
}

/// Highest version of each package among its providers in the state (`engine.md` 3.4).
pub fn versions_in(resources: &[Arc<ResourceState>]) -> BTreeMap<String, String> {
    let numbers = |text: &String| -> Vec<u64> {
        let parts = text.split('.');
        parts.filter_map(|part| part.parse().ok()).collect()
    };
    let mut versions: BTreeMap<String, String> = BTreeMap::new();
    for state in resources {
        let version = state.inputs.get("version").and_then(Value::as_str);
        let package = state.type_token.provided_package();
        if let Some((package, version)) = package.zip(version) {
            let highest = versions.entry(package.to_owned()).or_default();
            let both = [std::mem::take(highest), version.to_owned()];
            *highest = both.into_iter().max_by_key(numbers).unwrap_or_default();
        }
    }
    versions
}
