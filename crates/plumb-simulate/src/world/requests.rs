//! Requests of a program, derived from its source and from earlier replies.

use std::collections::BTreeMap;
use std::sync::Arc;

use ecow::EcoString;
use plumb_deploy::request::{
    PackageRequest, ReadResourceRequest, RegisterOutputsRequest, RegisterRequest, Request,
};
use plumb_resource::{
    Alias, AliasParent, AliasSpec, CustomTimeouts, PropertyDependencies, ProviderRef, ResourceId,
    TypeToken, Urn,
};
use plumb_value::{PropertyMap, Value};

use super::functions::callback;
use super::{Answer, Answered};
use crate::story::{AliasDecl, Program, Prop, Res, Source, package_of, token_of, urn_of_path};

/// Replies by name.
pub(super) type Answers = BTreeMap<String, Answer>;

/// Knowledge of a source, the program or a snippet, when it sends a request.
pub(super) struct Known<'a> {
    pub(super) program: &'a Program,
    pub(super) snippet: Option<&'a str>,
    pub(super) answers: &'a Answers,
    /// Replies to snippets about resources of other sources.
    pub(super) told: &'a Answers,
    /// Package references, by name.
    pub(super) packages: &'a BTreeMap<String, EcoString>,
    /// Results of methods.
    pub(super) results: &'a BTreeMap<String, Answered>,
    pub(super) is_preview: bool,
}

impl Known<'_> {
    fn answer(&self, name: &str) -> &Answer {
        let told = self.told.get(name);
        let told = told.filter(|_| self.program.is_foreign(self.snippet, name));
        told.unwrap_or_else(|| &self.answers[name])
    }

    pub(super) fn urn(&self, name: &str) -> Urn {
        self.answer(name).urn.clone()
    }

    /// Reference to the provider with this name.
    pub(super) fn reference(&self, name: &str) -> String {
        let answer = self.answer(name);
        ProviderRef::new(answer.urn.clone(), answer.id.as_str()).to_string()
    }

    pub(super) fn value(&self, prop: &Prop) -> Value {
        prop.value(
            |name, key| self.answer(name).output(key, self.is_preview),
            |method, key| self.results[method].value(key, self.is_preview),
        )
    }

    /// Package options of a resource.
    pub(super) fn package(&self, res: &Res) -> PackageRequest {
        let reference = res.package.as_ref().and_then(|it| self.packages.get(it));
        PackageRequest {
            version: res.version.clone().unwrap_or_default().into(),
            package_ref: reference.cloned().unwrap_or_default(),
            ..PackageRequest::default()
        }
    }

    /// Resources that a value depends on.
    fn urns(&self, prop: &Prop) -> Vec<Urn> {
        match &prop.source {
            Source::Text(_) => Vec::new(),
            Source::Output { name, .. } => vec![self.urn(name)],
            Source::Answer { method, key } => self.results[method].urns(key),
        }
    }

    fn properties(&self, props: &BTreeMap<String, Prop>) -> Arc<PropertyMap> {
        let values = props
            .iter()
            .map(|(key, prop)| (key.as_str().into(), self.value(prop)))
            // Missing values are omitted.
            .filter(|(_, value)| !value.without_secrets().is_null());
        Arc::new(values.collect())
    }

    fn dependencies<C: FromIterator<Urn>>(&self, res: &Res) -> C {
        let named = res.depends_on.iter().map(|name| self.urn(name));
        let used = res.properties.values().flat_map(|prop| self.urns(prop));
        let all = named.chain(used).map(|urn| (urn.to_string(), urn));
        let all: BTreeMap<String, Urn> = all.collect();
        all.into_values().collect()
    }

    fn property_dependencies(&self, res: &Res, inputs: &PropertyMap) -> PropertyDependencies {
        let is_told = |key: &str| !res.loose && inputs.contains_key(key);
        let given = res.properties.iter().filter(|(key, _)| is_told(key));
        given
            .map(|(key, prop)| (key.as_str().into(), self.urns(prop).into()))
            .collect()
    }

    /// Providers of a component by package; SDKs include its own provider.
    fn providers<C: FromIterator<(EcoString, EcoString)>>(&self, res: &Res) -> C {
        let own = res.provider.iter().filter(|_| res.is_component());
        let providers = res.providers.iter().chain(own).map(|name| {
            let provider = self.program.get(name).expect("it was answered");
            let package = package_of(&provider.type_name);
            (package.into(), self.reference(name).into())
        });
        providers.collect()
    }
}

/// Request to register or read `res`.
pub(super) fn request(known: &Known<'_>, res: &Res) -> Request {
    match &res.read {
        Some(id) => Request::Read(Box::new(read(known, res, id))),
        None => Request::Register(Box::new(registration(known, res))),
    }
}

fn read(known: &Known<'_>, res: &Res, id: &str) -> ReadResourceRequest {
    let parent = known.program.parent_of(res);
    let provider = res.provider.as_ref();
    ReadResourceRequest {
        id: ResourceId::from_text(id),
        type_token: token_of(&res.type_name).into(),
        name: res.name.as_str().into(),
        parent: parent.map(|name| known.urn(name)),
        properties: known.properties(&res.properties),
        dependencies: known.dependencies(res),
        provider: provider
            .map(|name| known.reference(name).into())
            .unwrap_or_default(),
        package: known.package(res),
        additional_secret_outputs: keys(&res.secret_outputs).into(),
        source_position: None,
        stack_trace: [].into(),
    }
}

fn registration(known: &Known<'_>, res: &Res) -> RegisterRequest {
    let urn = |name: &String| known.urn(name);
    let inputs = known.properties(&res.properties);
    let provider = res.provider.as_ref();
    let trigger = res.trigger.as_ref();
    RegisterRequest {
        parent: known.program.parent_of(res).map(urn),
        property_dependencies: known.property_dependencies(res, &inputs),
        properties: inputs,
        dependencies: known.dependencies(res),
        provider: provider
            .map(|name| known.reference(name).into())
            .unwrap_or_default(),
        providers: known.providers(res),
        package: known.package(res),
        protect: res.protect,
        delete_before_replace: res.delete_before_replace,
        ignore_changes: texts(&res.ignore_changes).into(),
        hide_diff: texts(&res.hide_diffs).into(),
        replace_on_changes: texts(&res.replace_on_changes).into(),
        additional_secret_outputs: keys(&res.secret_outputs).into(),
        aliases: res.aliases.iter().map(alias).collect(),
        import_id: res.import.clone().unwrap_or_default().into(),
        custom_timeouts: Some(CustomTimeouts {
            create: f64::from(res.timeout.unwrap_or(0)),
            ..CustomTimeouts::default()
        }),
        hooks: res.hooks(),
        transforms: res.transforms.iter().map(|it| callback(it)).collect(),
        snippet_id: res.snippet.as_deref().map(Into::into),
        retain_on_delete: res.retain,
        deleted_with: res.deleted_with.as_ref().map(urn),
        replace_with: res.replace_with.iter().map(urn).collect(),
        replacement_trigger: trigger.map_or(Value::Null, |it| known.value(it)),
        ..RegisterRequest::new(token_of(&res.type_name), &name_of(res), !res.is_component())
    }
}

fn name_of(res: &Res) -> String {
    if res.is_stack() {
        format!("{}-{}", crate::story::PROJECT, crate::story::STACK)
    } else {
        res.name.clone()
    }
}

/// Request to construct `res`.
pub(super) fn construction(known: &Known<'_>, res: &Res) -> Request {
    match request(known, res) {
        Request::Register(request) => Request::Register(Box::new(RegisterRequest {
            remote: true,
            ..*request
        })),
        other => other,
    }
}

/// Request by which a provider registers the component `res` that it constructs. It does not know about snippets and
/// transforms.
pub(super) fn constructed(known: &Known<'_>, res: &Res) -> Request {
    match request(known, res) {
        Request::Register(request) => Request::Register(Box::new(RegisterRequest {
            snippet_id: None,
            transforms: Vec::new(),
            ..*request
        })),
        other => other,
    }
}

/// Request to register the outputs of `res`.
pub(super) fn outputs(known: &Known<'_>, res: &Res) -> Request {
    Request::RegisterOutputs(RegisterOutputsRequest {
        urn: known.urn(&res.name),
        outputs: known.properties(&res.outputs),
    })
}

fn texts(names: &[String]) -> Vec<ecow::EcoString> {
    names.iter().map(|name| name.as_str().into()).collect()
}

fn keys(names: &[String]) -> Vec<plumb_value::PropertyKey> {
    names.iter().map(|name| name.as_str().into()).collect()
}

/// Alias in the form of requests.
pub(crate) fn alias(decl: &AliasDecl) -> Alias {
    if let Some(urn) = decl.urn.as_deref().and_then(urn_of_path) {
        return Alias::Urn(urn);
    }
    let parent = match decl.parent.as_deref() {
        None => AliasParent::Same,
        Some("none") => AliasParent::None,
        Some(path) => urn_of_path(path).map_or(AliasParent::Same, AliasParent::Urn),
    };
    Alias::Spec(AliasSpec {
        name: decl.name.as_ref().map(|name| name.as_str().into()),
        type_token: decl
            .type_name
            .as_ref()
            .map(|name| TypeToken::new(token_of(name))),
        stack: None,
        project: None,
        parent,
    })
}
