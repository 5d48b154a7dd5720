//! Programs as data: what is registered, read and called, and what each needs to be there first.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use plumb_deploy::request::{
    AwaitRequest, CallMethodRequest, Callback, HookKind, InvokeFunctionRequest, InvokeReply,
    PackageRequest, ReadResourceReply, ReadResourceRequest, RegisterHookRequest,
    RegisterPackageRequest, RegisterReply, RegisterRequest, Request,
};
use plumb_resource::{Alias, AliasSpec, HookType, Hooks, PropertyDependencies, ResourceId, Urn};
use plumb_value::{PropertyMap, ReferenceId, ResourceReference, Value};

use super::{PROJECT, STACK};

/// Type of custom resources, unless a program says otherwise.
pub(crate) const THING: &str = "test:index:Thing";
/// Type of components.
pub(crate) const GROUP: &str = "test:index:Group";

/// Something that a program asks for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Res {
    /// Name in the story, and the name of the resource unless `called` is set.
    pub(crate) name: String,
    pub(crate) called: Option<String>,
    pub(crate) what: What,
    pub(crate) token: Option<String>,
    pub(crate) parent: Option<String>,
    /// Properties that hold the `value` output of another resource.
    pub(crate) uses: BTreeMap<String, String>,
    pub(crate) depends_on: Vec<String>,
    /// Requests that must be answered before this one is made.
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
    /// Plugin version to ask for.
    pub(crate) version: Option<String>,
    /// The registered package that it belongs to.
    pub(crate) package: Option<String>,
    /// The resource that a method belongs to.
    pub(crate) method_of: Option<String>,
    /// Registrations of the provider while it constructs this, the component itself first.
    pub(crate) builds: Vec<Res>,
    /// Hooks by type; what is named here is registered first.
    pub(crate) hooks: Hooks,
    /// Outputs to register once the resource is there.
    pub(crate) outputs: Option<PropertyMap>,
    /// The snippet that asks for it; the program does if there is none.
    pub(crate) snippet: Option<String>,
    pub(crate) tunes: Vec<Tune>,
}

/// Kind of a request.
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
    /// A component that its provider constructs.
    Remote,
    /// A method call, by token.
    Method(String),
    /// A package.
    Package(Box<RegisterPackageRequest>),
    /// A transform for everything, by the token of its function.
    Transform(String),
    /// A transform for function calls, by the token of its function.
    InvokeTransform(String),
    /// The end of all registrations, told by the program.
    Shutdown,
    /// A hook.
    Hook(HookKind),
    /// Something that somebody else registers.
    Await(Urn),
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

/// Something that somebody else registers, for a snippet to wait for.
pub(crate) fn awaited(name: &str, urn: Urn) -> Res {
    Res {
        what: What::Await(urn),
        ..Res::new(name)
    }
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

/// A component of the package `test` that its provider constructs.
pub(crate) fn remote(name: &str) -> Res {
    Res {
        what: What::Remote,
        ..Res::new(name)
    }
}

/// A call of the method `token`; `name` is for assertions.
pub(crate) fn method(name: &str, token: &str) -> Res {
    Res {
        what: What::Method(token.to_owned()),
        ..Res::new(name)
    }
}

/// A version of the plugin `plugin` as a package; `name` is for those that belong to it.
pub(crate) fn package(name: &str, plugin: &str, version: &str) -> Res {
    let request = RegisterPackageRequest {
        name: plugin.into(),
        version: version.into(),
        download_url: ecow::EcoString::new(),
        checksums: BTreeMap::new(),
        parameterization: None,
        extension: None,
    };
    Res {
        what: What::Package(Box::new(request)),
        ..Res::new(name)
    }
}

/// Has everything pass through the function `token`.
pub(crate) fn transform(token: &str) -> Res {
    Res {
        what: What::Transform(token.to_owned()),
        ..Res::new(token)
    }
}

/// Has every function call pass through the function `token`.
pub(crate) fn invoke_transform(token: &str) -> Res {
    Res {
        what: What::InvokeTransform(token.to_owned()),
        ..Res::new(token)
    }
}

/// The program has registered everything, and waits for the end of the deployment.
pub(crate) fn shutdown() -> Res {
    Res {
        what: What::Shutdown,
        ..Res::new("shutdown")
    }
}

/// A function of the program.
pub(crate) fn callback(token: &str) -> Callback {
    Callback {
        target: "program".into(),
        token: token.into(),
        accepts_byte_string: true,
    }
}

/// A hook that succeeds, unless [`World::hook_fails`](super::World::hook_fails) says otherwise.
pub(crate) fn hook(name: &str) -> Res {
    let kind = HookKind::Resource {
        on_dry_run: false,
        ignore_errors: false,
    };
    Res {
        what: What::Hook(kind),
        ..Res::new(name)
    }
}

/// An error hook, which [`World::retries`](super::World::retries) has ask for another attempt.
pub(crate) fn error_hook(name: &str) -> Res {
    Res {
        what: What::Hook(HookKind::Error),
        ..Res::new(name)
    }
}

/// A [`shutdown`] under a name for assertions.
pub(crate) fn wait(name: &str) -> Res {
    Res {
        what: What::Shutdown,
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

    /// The name of the resource, where the story calls it otherwise.
    pub(crate) fn called(mut self, name: &str) -> Self {
        self.called = Some(name.to_owned());
        self
    }

    pub(crate) fn version(mut self, version: &str) -> Self {
        self.version = Some(version.to_owned());
        self
    }

    /// The package, registered in the same program, that serves this.
    pub(crate) fn package(mut self, name: &str) -> Self {
        self.package = Some(name.to_owned());
        self
    }

    /// The resource whose method is called.
    pub(crate) fn of(mut self, name: &str) -> Self {
        self.method_of = Some(name.to_owned());
        self
    }

    /// Registrations of the provider while it works on this: first the component itself, then its children.
    pub(crate) fn builds<const N: usize>(mut self, items: [Res; N]) -> Self {
        self.builds = items.into();
        self
    }

    /// Changes the package that is registered.
    pub(crate) fn with_package(mut self, change: impl FnOnce(&mut RegisterPackageRequest)) -> Self {
        match &mut self.what {
            What::Package(request) => change(request),
            other => panic!("not a package: {other:?}"),
        }
        self
    }

    /// Transforms of this resource and its children, by the tokens of their functions.
    pub(crate) fn transforms(self, tokens: &'static [&'static str]) -> Self {
        self.tune(|request, _| {
            request.transforms = tokens.iter().map(|token| callback(token)).collect();
        })
    }

    /// Binds a hook that the program registers.
    pub(crate) fn binds(mut self, hook: HookType, name: &str) -> Self {
        self.hooks.entry(hook).or_default().push(name.into());
        self.after(name)
    }

    /// Has a hook run in previews too.
    pub(crate) fn on_dry_run(mut self) -> Self {
        if let What::Hook(HookKind::Resource { on_dry_run, .. }) = &mut self.what {
            *on_dry_run = true;
        }
        self
    }

    /// Has failures of a hook be warnings.
    pub(crate) fn ignoring_errors(mut self) -> Self {
        if let What::Hook(HookKind::Resource { ignore_errors, .. }) = &mut self.what {
            *ignore_errors = true;
        }
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

    /// Has a snippet ask for it.
    pub(crate) fn of_snippet(mut self, uuid: &str) -> Self {
        self.snippet = Some(uuid.to_owned());
        let uuid = ecow::EcoString::from(uuid);
        self.tune(move |request, _| request.snippet_id = Some(uuid.clone()))
    }

    pub(crate) fn is_component(&self) -> bool {
        matches!(self.what, What::Component | What::Remote)
    }

    /// The name of the resource.
    pub(crate) fn own_name(&self) -> &str {
        self.called.as_ref().unwrap_or(&self.name)
    }

    fn type_token(&self) -> String {
        let by_default = match self.what {
            What::Component | What::Remote => GROUP,
            What::Provider => "pulumi:providers:test",
            _ => THING,
        };
        self.token.clone().unwrap_or_else(|| by_default.to_owned())
    }

    /// Requests that must have been answered before this one can be made.
    pub(crate) fn needs(&self) -> impl Iterator<Item = &String> {
        self.parent
            .iter()
            .chain(self.uses.values())
            .chain(&self.depends_on)
            .chain(&self.after)
            .chain(&self.deleted_with)
            .chain(&self.replace_with)
            .chain(&self.provider)
            .chain(&self.package)
            .chain(&self.method_of)
    }

    fn package_request(&self, known: &Known) -> PackageRequest {
        PackageRequest {
            version: self.version.as_deref().unwrap_or_default().into(),
            package_ref: self
                .package
                .as_ref()
                .map(|name| known.packages[name].clone())
                .unwrap_or_default(),
            ..PackageRequest::default()
        }
    }

    /// The request, with what is known of the resources that it needs.
    pub(crate) fn request(&self, known: &Known) -> Request {
        match &self.what {
            What::Custom | What::Component | What::Provider | What::Remote => {
                Request::Register(Box::new(self.registration(known)))
            }
            What::Read(id) => Request::Read(Box::new(ReadResourceRequest {
                id: if id.is_empty() {
                    ResourceId::None
                } else {
                    ResourceId::Known(id.as_str().into())
                },
                type_token: self.type_token().into(),
                name: self.own_name().into(),
                parent: known.urn_if(self.parent.as_ref()),
                properties: Arc::new(self.properties.clone()),
                dependencies: self.depends_on.iter().map(|it| known.urn(it)).collect(),
                provider: known.reference_if(self.provider.as_ref()),
                package: self.package_request(known),
                additional_secret_outputs: [].into(),
                source_position: None,
                stack_trace: [].into(),
            })),
            What::Invoke(token) => Request::Invoke(Box::new(InvokeFunctionRequest {
                token: token.as_str().into(),
                args: Arc::new(self.properties.clone()),
                provider: known.reference_if(self.provider.as_ref()),
                package: self.package_request(known),
                parent: known.urn_if(self.parent.as_ref()),
                depends_on: self.depends_on.iter().map(|it| known.urn(it)).collect(),
            })),
            What::Method(token) => Request::Call(Box::new(self.method_call(token, known))),
            What::Package(request) => Request::RegisterPackage(request.clone()),
            What::Transform(token) => Request::RegisterStackTransform(callback(token)),
            What::InvokeTransform(token) => Request::RegisterStackInvokeTransform(callback(token)),
            What::Shutdown => Request::SignalAndWaitForShutdown,
            What::Await(urn) => Request::Await(AwaitRequest {
                snippet: self.snippet.as_deref().unwrap_or_default().into(),
                urn: urn.clone(),
            }),
            What::Hook(kind) => Request::RegisterHook(RegisterHookRequest {
                name: self.token.as_ref().unwrap_or(&self.name).into(),
                callback: Callback {
                    target: "program".into(),
                    token: self.name.as_str().into(),
                    accepts_byte_string: true,
                },
                kind: *kind,
            }),
        }
    }

    fn method_call(&self, token: &str, known: &Known) -> CallMethodRequest {
        let mut args = self.properties.clone();
        if let Some(own) = &self.method_of {
            let reply = &known.registered[own];
            let reference = ResourceReference {
                urn: reply.urn.as_str().into(),
                id: match &reply.id {
                    ResourceId::None => ReferenceId::None,
                    ResourceId::Unknown => ReferenceId::Unknown,
                    ResourceId::Known(id) => ReferenceId::Known(id.clone()),
                },
                name: None,
                type_token: None,
                package_version: ecow::EcoString::new(),
            };
            args.insert("__self__", Value::Resource(Arc::new(reference)));
        }
        CallMethodRequest {
            token: token.into(),
            args: Arc::new(args),
            dependencies: PropertyDependencies::new(),
            provider: known.reference_if(self.provider.as_ref()),
            package: self.package_request(known),
        }
    }

    fn registration(&self, known: &Known) -> RegisterRequest {
        let mut properties = self.properties.clone();
        let mut property_dependencies = PropertyDependencies::new();
        let mut dependencies: Vec<Urn> = self.depends_on.iter().map(|it| known.urn(it)).collect();
        for (key, other) in &self.uses {
            properties.insert(key.as_str(), known.output(other, "value"));
            property_dependencies.insert(key.as_str().into(), [known.urn(other)].into());
            dependencies.push(known.urn(other));
        }
        for key in properties.keys() {
            property_dependencies.get_or_default(key.clone());
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
            dependencies: dependencies.into(),
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
            hooks: self.hooks.clone(),
            remote: self.what == What::Remote,
            package: self.package_request(known),
            ..RegisterRequest::new(&self.type_token(), self.own_name(), !self.is_component())
        };
        for tune in &self.tunes {
            (tune.0)(&mut request, known);
        }
        request
    }
}

/// Replies to a program so far, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    pub(crate) registered: BTreeMap<String, RegisterReply>,
    pub(crate) read: BTreeMap<String, ReadResourceReply>,
    pub(crate) invoked: BTreeMap<String, InvokeReply>,
    pub(crate) packages: BTreeMap<String, ecow::EcoString>,
    /// Transforms that were taken, and the like.
    pub(crate) done: BTreeSet<String>,
    pub(crate) failed: BTreeMap<String, plumb_deploy::request::RequestError>,
}

impl Known {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.registered.contains_key(name)
            || self.read.contains_key(name)
            || self.invoked.contains_key(name)
            || self.packages.contains_key(name)
            || self.done.contains(name)
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
