//! Programs as data: what is registered, read and called, and what each needs to be there first.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use plumb_deploy::request::{
    InvokeFunctionRequest, InvokeReply, ReadResourceReply, ReadResourceRequest, RegisterReply,
    RegisterRequest, Request,
};
use plumb_resource::{Alias, AliasSpec, ResourceId, Urn};
use plumb_value::{PropertyMap, Value};

use super::{PROJECT, STACK};

/// Type of custom resources, unless a program says otherwise.
pub(crate) const THING: &str = "test:index:Thing";
/// Type of components.
pub(crate) const GROUP: &str = "test:index:Group";

/// Something that a program asks for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Res {
    pub(crate) name: String,
    pub(crate) what: What,
    pub(crate) token: Option<String>,
    pub(crate) parent: Option<String>,
    /// Properties that hold the `value` output of another resource.
    pub(crate) uses: BTreeMap<String, String>,
    pub(crate) depends_on: Vec<String>,
    /// What must be answered before this is asked, for no other reason.
    pub(crate) after: Vec<String>,
    pub(crate) properties: PropertyMap,
    /// Former name.
    pub(crate) alias: Option<String>,
    pub(crate) protect: Option<bool>,
    pub(crate) retain: bool,
    pub(crate) deleted_with: Option<String>,
    pub(crate) replace_with: Vec<String>,
    pub(crate) delete_before_replace: Option<bool>,
    pub(crate) ignore_changes: Vec<String>,
    pub(crate) replace_on_changes: Vec<String>,
    pub(crate) import: Option<String>,
    /// Name of the explicit provider.
    pub(crate) provider: Option<String>,
    /// Outputs to register once the resource is there.
    pub(crate) outputs: Option<PropertyMap>,
    pub(crate) tunes: Vec<Tune>,
}

/// What kind of thing is asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum What {
    #[default]
    Custom,
    Component,
    /// A provider of the package `test`, or of the one that the token names.
    Provider,
    /// An existing object, by id.
    Read(String),
    /// A function call, by token.
    Invoke(String),
}

type Change = dyn Fn(&mut RegisterRequest, &Known) + Send + Sync;

/// Changes a registration in ways that have no field of their own.
#[derive(Clone)]
pub(crate) struct Tune(Arc<Change>);

impl fmt::Debug for Tune {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tune")
    }
}

/// A custom resource.
pub(crate) fn res(name: &str) -> Res {
    Res::new(name)
}

/// A component.
pub(crate) fn component(name: &str) -> Res {
    Res {
        what: What::Component,
        ..Res::new(name)
    }
}

/// An explicit provider of the package `test`.
pub(crate) fn provider(name: &str) -> Res {
    Res {
        what: What::Provider,
        ..Res::new(name)
    }
}

/// The root stack.
pub(crate) fn stack() -> Res {
    component(&format!("{PROJECT}-{STACK}")).token("pulumi:pulumi:Stack")
}

/// A read of the object `id`.
pub(crate) fn read(name: &str, id: &str) -> Res {
    Res {
        what: What::Read(id.to_owned()),
        ..Res::new(name)
    }
}

/// A call of the function `token`; `name` is for assertions.
pub(crate) fn invoke(name: &str, token: &str) -> Res {
    Res {
        what: What::Invoke(token.to_owned()),
        ..Res::new(name)
    }
}

impl Res {
    pub(crate) fn new(name: &str) -> Self {
        Res {
            name: name.to_owned(),
            ..Res::default()
        }
    }

    pub(crate) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.properties.insert(key, value);
        self
    }

    pub(crate) fn uses(mut self, key: &str, other: &str) -> Self {
        self.uses.insert(key.to_owned(), other.to_owned());
        self
    }

    pub(crate) fn parent(mut self, parent: &str) -> Self {
        self.parent = Some(parent.to_owned());
        self
    }

    pub(crate) fn depends_on(mut self, other: &str) -> Self {
        self.depends_on.push(other.to_owned());
        self
    }

    pub(crate) fn after(mut self, other: &str) -> Self {
        self.after.push(other.to_owned());
        self
    }

    pub(crate) fn token(mut self, token: &str) -> Self {
        self.token = Some(token.to_owned());
        self
    }

    /// The former name, everything else as now.
    pub(crate) fn alias(mut self, name: &str) -> Self {
        self.alias = Some(name.to_owned());
        self
    }

    /// A former identity; what it leaves open is as now.
    pub(crate) fn former(self, spec: AliasSpec) -> Self {
        self.tune(move |request, _| request.aliases.push(Alias::Spec(spec.clone())))
    }

    pub(crate) fn protect(mut self, protect: bool) -> Self {
        self.protect = Some(protect);
        self
    }

    pub(crate) fn deleted_with(mut self, other: &str) -> Self {
        self.deleted_with = Some(other.to_owned());
        self
    }

    pub(crate) fn replace_with(mut self, other: &str) -> Self {
        self.replace_with.push(other.to_owned());
        self
    }

    pub(crate) fn delete_before_replace(mut self, first: bool) -> Self {
        self.delete_before_replace = Some(first);
        self
    }

    pub(crate) fn provider(mut self, name: &str) -> Self {
        self.provider = Some(name.to_owned());
        self
    }

    pub(crate) fn import(mut self, id: &str) -> Self {
        self.import = Some(id.to_owned());
        self
    }

    /// Registers an output once the resource is there.
    pub(crate) fn output(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.outputs
            .get_or_insert_with(PropertyMap::new)
            .insert(key, value);
        self
    }

    /// Changes the registration in any way; `Known` gives the URNs of what has been answered.
    pub(crate) fn tune(
        mut self,
        change: impl Fn(&mut RegisterRequest, &Known) + Send + Sync + 'static,
    ) -> Self {
        self.tunes.push(Tune(Arc::new(change)));
        self
    }

    pub(crate) fn is_component(&self) -> bool {
        self.what == What::Component
    }

    fn type_token(&self) -> String {
        let by_default = match self.what {
            What::Component => GROUP,
            What::Provider => "pulumi:providers:test",
            What::Custom | What::Read(_) | What::Invoke(_) => THING,
        };
        self.token.clone().unwrap_or_else(|| by_default.to_owned())
    }

    /// What must have been answered before this can be asked.
    pub(crate) fn needs(&self) -> impl Iterator<Item = &String> {
        self.parent
            .iter()
            .chain(self.uses.values())
            .chain(&self.depends_on)
            .chain(&self.after)
            .chain(&self.deleted_with)
            .chain(&self.replace_with)
            .chain(&self.provider)
    }

    /// The request, with what is known of the resources that it needs.
    pub(crate) fn request(&self, known: &Known) -> Request {
        match &self.what {
            What::Custom | What::Component | What::Provider => {
                Request::Register(Box::new(self.registration(known)))
            }
            What::Read(id) => Request::Read(Box::new(ReadResourceRequest {
                id: if id.is_empty() {
                    ResourceId::None
                } else {
                    ResourceId::Known(id.as_str().into())
                },
                type_token: self.type_token().into(),
                name: self.name.as_str().into(),
                parent: known.urn_if(self.parent.as_ref()),
                properties: Arc::new(self.properties.clone()),
                dependencies: self.depends_on.iter().map(|it| known.urn(it)).collect(),
                provider: known.reference_if(self.provider.as_ref()),
                package: plumb_deploy::request::PackageRequest::default(),
                additional_secret_outputs: Vec::new(),
                source_position: None,
                stack_trace: Vec::new(),
            })),
            What::Invoke(token) => Request::Invoke(Box::new(InvokeFunctionRequest {
                token: token.as_str().into(),
                args: Arc::new(self.properties.clone()),
                provider: known.reference_if(self.provider.as_ref()),
                package: plumb_deploy::request::PackageRequest::default(),
                parent: known.urn_if(self.parent.as_ref()),
                depends_on: self.depends_on.iter().map(|it| known.urn(it)).collect(),
            })),
        }
    }

    fn registration(&self, known: &Known) -> RegisterRequest {
        let mut properties = self.properties.clone();
        let mut property_dependencies = BTreeMap::new();
        let mut dependencies: Vec<Urn> = self.depends_on.iter().map(|it| known.urn(it)).collect();
        for (key, other) in &self.uses {
            properties.insert(key.as_str(), known.output(other, "value"));
            property_dependencies.insert(key.as_str().into(), vec![known.urn(other)]);
            dependencies.push(known.urn(other));
        }
        for key in properties.keys() {
            property_dependencies.entry(key.clone()).or_default();
        }
        let texts = |list: &[String]| list.iter().map(|it| it.as_str().into()).collect();
        let alias = |name: &String| {
            Alias::Spec(AliasSpec {
                name: Some(name.as_str().into()),
                ..AliasSpec::default()
            })
        };
        let mut request = RegisterRequest {
            parent: known.urn_if(self.parent.as_ref()),
            properties: Arc::new(properties),
            dependencies,
            property_dependencies,
            provider: known.reference_if(self.provider.as_ref()),
            aliases: self.alias.iter().map(alias).collect(),
            protect: self.protect,
            retain_on_delete: Some(self.retain),
            deleted_with: known.urn_if(self.deleted_with.as_ref()),
            replace_with: self.replace_with.iter().map(|it| known.urn(it)).collect(),
            delete_before_replace: self.delete_before_replace,
            ignore_changes: texts(&self.ignore_changes),
            replace_on_changes: texts(&self.replace_on_changes),
            import_id: self.import.clone().unwrap_or_default().into(),
            ..RegisterRequest::new(&self.type_token(), &self.name, !self.is_component())
        };
        for tune in &self.tunes {
            (tune.0)(&mut request, known);
        }
        request
    }
}

/// What a program has been told so far, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    pub(crate) registered: BTreeMap<String, RegisterReply>,
    pub(crate) read: BTreeMap<String, ReadResourceReply>,
    pub(crate) invoked: BTreeMap<String, InvokeReply>,
    pub(crate) failed: BTreeMap<String, plumb_deploy::request::RequestError>,
}

impl Known {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.registered.contains_key(name)
            || self.read.contains_key(name)
            || self.invoked.contains_key(name)
    }

    pub(crate) fn urn(&self, name: &str) -> Urn {
        let registered = self.registered.get(name).map(|reply| &reply.urn);
        let urn = registered.or_else(|| self.read.get(name).map(|reply| &reply.urn));
        urn.unwrap_or_else(|| panic!("{name} is not known")).clone()
    }

    fn urn_if(&self, name: Option<&String>) -> Option<Urn> {
        name.map(|name| self.urn(name))
    }

    /// The reference of a provider.
    pub(crate) fn reference(&self, name: &str) -> String {
        let reply = &self.registered[name];
        let id = match reply.id.as_str() {
            "" => plumb_resource::UNKNOWN_SENTINEL,
            id => id,
        };
        format!("{}::{id}", reply.urn)
    }

    fn reference_if(&self, name: Option<&String>) -> ecow::EcoString {
        name.map(|name| self.reference(name))
            .unwrap_or_default()
            .into()
    }

    /// An output; unknown where there is none.
    pub(crate) fn output(&self, name: &str, key: &str) -> Value {
        let registered = self.registered.get(name).map(|reply| &reply.outputs);
        let outputs = registered.or_else(|| self.read.get(name).map(|reply| &reply.outputs));
        outputs
            .and_then(|outputs| outputs.get(key))
            .cloned()
            .unwrap_or(Value::UNKNOWN)
    }
}
