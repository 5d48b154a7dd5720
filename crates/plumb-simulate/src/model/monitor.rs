//! From what a program says to what is wanted (`engine.md` 2.3).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plumb_deploy::request::Outcome;
use plumb_resource::{
    CustomTimeouts, ProviderRef, ResourceId, ResourceKind, ResourceState, TypeToken, Urn,
};
use plumb_value::{PropertyMap, Value};

use super::{Flow, Lineage, Model, is_managed};
use crate::story::{PROJECT, Program, Prop, Res, STACK, Verb, package_of, token_of};
use crate::world::{Answer, Violation};

/// What a registration wants.
pub(super) struct Wanted {
    pub(super) state: ResourceState,
    /// Inputs as the program gave them.
    pub(super) raw: Arc<PropertyMap>,
    pub(super) delete_first: Option<bool>,
}

impl Model<'_> {
    /// One registration or read of the program.
    pub(super) fn visit(&mut self, res: &Res) -> Result<Flow, Violation> {
        for need in self.program.needs_of(res) {
            if !self.prediction.answers.contains_key(need) {
                let what = format!("{} is asked for before {need} is answered", res.name);
                return Err(Violation::new("model", what));
            }
        }
        let parent = self
            .program
            .parent_of(res)
            .map(|name| self.urn_of_name(name));
        let lineage = self.lineage_of(res, parent.as_ref());
        let provider = if res.is_managed() {
            match self.provider_of(res, &lineage) {
                Some(provider) => Some(provider),
                None => return Ok(Flow::Cut),
            }
        } else {
            None
        };
        let wanted = self.wanted(res, parent.clone(), &lineage, provider.clone());
        if res.read.is_some() {
            return Ok(self.read(res, wanted));
        }
        let lineage = Lineage {
            provider: provider.or(lineage.provider),
            ..lineage
        };
        self.lineages.insert(wanted.state.urn.clone(), lineage);
        Ok(self.register(res, wanted))
    }

    pub(super) fn urn_of_name(&self, name: &str) -> Urn {
        self.prediction.answers[name].urn.clone()
    }

    fn reference(&self, name: &str) -> ProviderRef {
        let answer = &self.prediction.answers[name];
        ProviderRef::new(answer.urn.clone(), answer.id.as_str())
    }

    /// What the resource says, completed by what its parent hands on.
    fn lineage_of(&mut self, res: &Res, parent: Option<&Urn>) -> Lineage {
        let named = res.deleted_with.as_ref().map(|name| self.urn_of_name(name));
        let provider = res.provider.as_ref().map(|name| self.reference(name));
        let mut lineage = Lineage {
            protect: res.protect,
            retain: res.retain,
            deleted_with: named,
            provider,
            providers: BTreeMap::new(),
            is_component: res.is_component(),
        };
        for name in res
            .providers
            .iter()
            .chain(res.provider.iter().filter(|_| res.is_component()))
        {
            let package = self
                .program
                .get(name)
                .map_or("", |res| package_of(&res.type_name));
            let reference = self.reference(name);
            lineage.providers.insert(package.to_owned(), reference);
        }
        let parent = parent.and_then(|parent| self.lineages.get(parent)).cloned();
        if res.read.is_some() {
            return lineage;
        }
        let Some(parent) = parent else { return lineage };
        if lineage.protect.is_none() && parent.protect == Some(true) {
            self.coverage.reach("PROTECT-02");
        }
        lineage.protect = lineage.protect.or(parent.protect);
        lineage.retain = lineage.retain.or(parent.retain);
        if lineage.deleted_with.is_none() && parent.deleted_with.is_some() {
            self.coverage.reach("PROV-20");
            lineage.deleted_with = parent.deleted_with;
        }
        let fits = |reference: &ProviderRef| {
            if res.is_provider() {
                false
            } else if res.is_component() {
                !reference.urn().is_default_provider()
            } else {
                reference.package() == package_of(&res.type_name)
            }
        };
        if lineage.provider.is_none() {
            lineage.provider = parent.provider.filter(fits);
        }
        if parent.is_component {
            if lineage.provider.is_none() && res.is_managed() {
                let package = package_of(&res.type_name);
                lineage.provider = lineage.providers.get(package).cloned();
                lineage.provider = lineage.provider.or(parent.providers.get(package).cloned());
            }
            if res.is_component() {
                for (package, reference) in parent.providers {
                    lineage.providers.entry(package).or_insert(reference);
                }
            }
        }
        lineage
    }

    /// The provider of a managed resource; the default one is registered when it is first needed.
    fn provider_of(&mut self, res: &Res, lineage: &Lineage) -> Option<ProviderRef> {
        if let Some(provider) = &lineage.provider {
            if !res.is_provider() && res.provider.is_none() {
                self.coverage.reach("PROV-22");
            }
            return Some(provider.clone());
        }
        let package = package_of(&res.type_name).to_owned();
        let version = res.version.as_ref().or(self.versions.get(&package));
        let version = version.cloned();
        if let Some(reference) = lineage.providers.get(&package) {
            self.coverage.reach("PROV-23");
            return Some(reference.clone());
        }
        self.default_provider(package, version)
    }

    /// The same for a default provider that is known by its URN.
    pub(super) fn default_provider_of(&mut self, urn: &Urn) {
        let package = urn.type_token().provided_package().map(str::to_owned);
        let version = urn.name().strip_prefix("default_");
        let version = version.map(|text| text.replace('_', "."));
        self.default_provider(package.unwrap_or_default(), version);
    }

    /// What a resource without parent and provider wants.
    pub(super) fn bare(&mut self, res: &Res) -> Wanted {
        self.wanted(res, None, &Lineage::default(), None)
    }

    /// Name of the default provider of a version.
    pub(super) fn default_name(version: Option<&str>) -> String {
        let version = version.map(|version| version.replace('.', "_"));
        version.map_or("default".to_owned(), |it| format!("default_{it}"))
    }

    pub(super) fn default_provider(
        &mut self,
        package: String,
        version: Option<String>,
    ) -> Option<ProviderRef> {
        let key = (package.clone(), version.clone());
        if let Some(reference) = self.defaults.get(&key) {
            return Some(reference.clone());
        }
        let name = Self::default_name(version.as_deref());
        let mut default = Res::new(&format!("P.{package}"), &name);
        if version.is_some() {
            self.coverage.reach("PROV-13");
        }
        default.version = version;
        for (name, value) in &self.program.config {
            if let Some(key) = name.strip_prefix(&format!("{package}:")) {
                default.properties.insert(key.to_owned(), Prop::text(value));
            }
        }
        let wanted = self.bare(&default);
        let urn = wanted.state.urn.clone();
        match self.register(&default, wanted) {
            Flow::Answered(answer) => {
                self.coverage.reach("PROV-01");
                let reference = ProviderRef::new(urn, answer.id.as_str());
                self.defaults.insert(key, reference.clone());
                Some(reference)
            }
            Flow::Cut => None,
        }
    }

    fn value(&self, prop: &Prop) -> Value {
        let preview = self.is_preview();
        prop.value(|name, key| match self.prediction.answers.get(name) {
            Some(answer) => answer.output(key, preview),
            None => Value::UNKNOWN,
        })
    }

    fn properties(&self, props: &BTreeMap<String, Prop>) -> PropertyMap {
        props
            .iter()
            .map(|(key, prop)| (key.as_str().into(), self.value(prop)))
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
        let kind = match (res.is_component(), res.is_provider()) {
            (true, _) => ResourceKind::Component,
            (_, true) => ResourceKind::Provider,
            _ => ResourceKind::Custom,
        };
        let parent_type = parent.as_ref().map_or("", Urn::qualified_type);
        let urn = if res.is_stack() {
            Self::root_urn()
        } else {
            Urn::new(
                STACK,
                PROJECT,
                parent_type,
                token_of(&res.type_name),
                &res.name,
            )
        };
        let mut inputs = self.properties(&res.properties);
        let version = self.versions.get(package_of(&res.type_name));
        let version = res.version.as_ref().or(version);
        if let (true, Some(version)) = (res.is_provider(), version) {
            inputs.insert("version", version.as_str());
            inputs.insert("__internal", PropertyMap::new());
        }
        let uses: BTreeSet<Urn> = res
            .depends_on
            .iter()
            .chain(res.properties.values().filter_map(Prop::from))
            .map(|name| self.urn_of_name(name))
            .collect();
        let of_prop = |key: &str| -> Vec<Urn> {
            if res.loose {
                return uses.iter().cloned().collect();
            }
            let prop = res.properties.get(key).and_then(Prop::from);
            prop.map(|name| self.urn_of_name(name))
                .into_iter()
                .collect()
        };
        let property_dependencies = if res.read.is_some() {
            BTreeMap::new()
        } else {
            let keys = res.properties.keys().filter(|key| inputs.contains_key(key));
            keys.map(|key| (key.as_str().into(), of_prop(key)))
                .collect()
        };
        if res.loose && !uses.is_empty() {
            self.coverage.reach("DBR-02");
        }
        let texts = |names: &[String]| names.iter().map(|name| name.as_str().into()).collect();
        let urns = |names: &[String]| names.iter().map(|name| self.urn_of_name(name)).collect();
        let raw = Arc::new(inputs);
        let state = ResourceState {
            type_token: TypeToken::new(token_of(&res.type_name)),
            inputs: raw.clone(),
            parent,
            protect: lineage.protect.unwrap_or(false),
            dependencies: uses.into_iter().collect(),
            provider,
            property_dependencies: property_dependencies.into_iter().collect(),
            additional_secret_outputs: res
                .secret_outputs
                .iter()
                .map(|key| key.as_str().into())
                .collect(),
            custom_timeouts: CustomTimeouts {
                create: f64::from(res.timeout.unwrap_or(0)),
                ..CustomTimeouts::default()
            },
            import_id: res.import.clone().unwrap_or_default().into(),
            retain_on_delete: lineage.retain.unwrap_or(false),
            deleted_with: lineage.deleted_with.clone(),
            replace_with: urns(&res.replace_with),
            ignore_changes: texts(&res.ignore_changes),
            hide_diff: texts(&res.hide_diffs),
            replace_on_changes: texts(&res.replace_on_changes),
            replacement_trigger: res
                .trigger
                .as_ref()
                .map_or(Value::Null, |it| self.value(it)),
            ..ResourceState::new(urn, kind)
        };
        Wanted {
            state: match &res.read {
                None => state,
                // Reads have no options of their own.
                Some(id) => ResourceState {
                    id: ResourceId::from_text(id),
                    external: true,
                    protect: false,
                    retain_on_delete: false,
                    deleted_with: None,
                    replace_with: Vec::new(),
                    ignore_changes: Vec::new(),
                    hide_diff: Vec::new(),
                    replace_on_changes: Vec::new(),
                    replacement_trigger: Value::Null,
                    custom_timeouts: CustomTimeouts::default(),
                    import_id: ecow::EcoString::new(),
                    ..state
                },
            },
            raw,
            delete_first: res.delete_before_replace,
        }
    }

    /// The reply that tells `state`.
    pub(super) fn answer(state: &ResourceState, outcome: Outcome, unknown: bool) -> Flow {
        Flow::Answered(Answer {
            urn: state.urn.clone(),
            id: state.id.clone(),
            outputs: if state.kind == ResourceKind::Component {
                Arc::default()
            } else {
                state.outputs.clone()
            },
            outcome,
            unknown,
        })
    }

    pub(super) fn outputs_of(&self, res: &Res) -> PropertyMap {
        self.properties(&res.outputs)
    }

    /// Outputs that the program registered for its components; those of the stack wait for the end.
    pub(super) fn register_outputs(&mut self) {
        let program: &Program = self.program;
        for res in &program.resources {
            if res.is_stack() || !self.witness.outputs_taken.contains(&res.name) {
                continue;
            }
            let Some(answer) = self.prediction.answers.get(&res.name) else {
                continue;
            };
            let Some(node) = self.news.get(&answer.urn).copied() else {
                continue;
            };
            if self.operation.verb == Verb::Refresh && self.fate(&answer.urn).refreshed {
                continue;
            }
            let outputs = Arc::new(self.outputs_of(res));
            let mut state = self.state(node).as_ref().clone();
            debug_assert!(!is_managed(&state));
            state.outputs = outputs;
            self.nodes[node].state = Arc::new(state);
        }
    }
}

/// The highest version of each package that all its providers in the state have one of (`engine.md` 3.4).
pub(super) fn versions_in(resources: &[Arc<ResourceState>]) -> BTreeMap<String, String> {
    let mut versions: BTreeMap<String, Option<String>> = BTreeMap::new();
    for state in resources {
        let Some(package) = state.type_token.provided_package() else {
            continue;
        };
        let version = state.inputs.get("version").and_then(Value::as_str);
        let version = version.map(str::to_owned);
        let highest = versions.entry(package.to_owned());
        let highest = highest.or_insert_with(|| version.clone());
        *highest = highest
            .take()
            .zip(version)
            .map(|(one, other)| one.max(other));
    }
    let all = versions.into_iter();
    all.filter_map(|(package, version)| Some((package, version?)))
        .collect()
}
