//! Requests of a program, made from what it says and from the replies so far.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ecow::EcoString;
use plumb_deploy::request::{
    PackageRequest, ReadResourceRequest, RegisterOutputsRequest, RegisterRequest, Request,
};
use plumb_resource::{
    Alias, AliasParent, AliasSpec, CustomTimeouts, ProviderRef, ResourceId, TypeToken, Urn,
};
use plumb_value::{PropertyMap, Value};

use super::functions::callback;
use super::{Answer, Answered};
use crate::story::{AliasDecl, Program, Prop, Res, Source, package_of, token_of, urn_of_path};

/// Replies by name.
pub(super) type Answers = BTreeMap<String, Answer>;

/// What a source, the program or a snippet, knows when it asks for something.
pub(super) struct Known<'a> {
    pub(super) program: &'a Program,
    pub(super) snippet: Option<&'a str>,
    pub(super) answers: &'a Answers,
    /// What snippets were told of the resources of others.
    pub(super) told: &'a Answers,
    /// References of packages, by name.
    pub(super) packages: &'a BTreeMap<String, EcoString>,
    /// What methods answered.
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

    /// The reference of the provider of this name.
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

    /// The resources that a value comes from.
    /// What a resource says of its package.
    pub(super) fn package(&self, res: &Res) -> PackageRequest {
        let reference = res.package.as_ref().and_then(|it| self.packages.get(it));
        PackageRequest {
            version: res.version.clone().unwrap_or_default().into(),
            package_ref: reference.cloned().unwrap_or_default(),
            ..PackageRequest::default()
        }
    }

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
            // What is not there is left out.
            .filter(|(_, value)| !value.without_secrets().is_null());
        Arc::new(values.collect())
    }
}

/// The request that registers or reads `res`.
pub(super) fn request(known: &Known<'_>, res: &Res) -> Request {
    let program = known.program;
    let urn = |name: &str| known.urn(name);
    let reference = |name: &String| known.reference(name);
    let named = res.depends_on.iter().map(|name| urn(name));
    let used = res.properties.values().flat_map(|prop| known.urns(prop));
    let dependencies: BTreeSet<Urn> = named.chain(used).collect();
    let package = known.package(res);
    if let Some(id) = &res.read {
        return Request::Read(Box::new(ReadResourceRequest {
            id: ResourceId::from_text(id),
            type_token: token_of(&res.type_name).into(),
            name: res.name.as_str().into(),
            parent: program.parent_of(res).map(|name| urn(name)),
            properties: known.properties(&res.properties),
            dependencies: dependencies.into_iter().collect(),
            provider: res
                .provider
                .as_ref()
                .map(reference)
                .unwrap_or_default()
                .into(),
            package,
            additional_secret_outputs: keys(&res.secret_outputs).into(),
            source_position: None,
            stack_trace: [].into(),
        }));
    }
    let inputs = known.properties(&res.properties);
    let property_dependencies = if res.loose {
        BTreeMap::new()
    } else {
        let of_prop = |prop: &Prop| known.urns(prop).into();
        let given = res
            .properties
            .iter()
            .filter(|(key, _)| inputs.contains_key(key));
        given
            .map(|(key, prop)| (key.as_str().into(), of_prop(prop)))
            .collect()
    };
    let name = if res.is_stack() {
        format!("{}-{}", crate::story::PROJECT, crate::story::STACK)
    } else {
        res.name.clone()
    };
    // SDKs put the provider of a component among its providers too.
    let own = res.provider.iter().filter(|_| res.is_component());
    let providers = res.providers.iter().chain(own).map(|name| {
        let package = package_of(&program.get(name).expect("it was answered").type_name);
        (package.into(), reference(name).into())
    });
    Request::Register(Box::new(RegisterRequest {
        parent: program.parent_of(res).map(|name| urn(name)),
        properties: inputs,
        dependencies: dependencies.into_iter().collect(),
        property_dependencies: property_dependencies.into_iter().collect(),
        provider: res
            .provider
            .as_ref()
            .map(reference)
            .unwrap_or_default()
            .into(),
        providers: providers.collect(),
        package,
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
        deleted_with: res.deleted_with.as_ref().map(|name| urn(name)),
        replace_with: res.replace_with.iter().map(|name| urn(name)).collect(),
        replacement_trigger: res
            .trigger
            .as_ref()
            .map_or(Value::Null, |it| known.value(it)),
        ..RegisterRequest::new(token_of(&res.type_name), &name, !res.is_component())
    }))
}

/// The request that has a provider construct `res`.
pub(super) fn construction(known: &Known<'_>, res: &Res) -> Request {
    match request(known, res) {
        Request::Register(request) => Request::Register(Box::new(RegisterRequest {
            remote: true,
            ..*request
        })),
        other => other,
    }
}

/// The request by which a provider registers the component `res` that it constructs. It knows nothing of snippets and of
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

/// The request that completes `res` with its outputs.
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

/// An alias as programs send it.
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
