//! The context: what a program creates resources through.

use std::panic::Location;

use crate::callbacks::{self, ErrorHook, ErrorHookArgs, Hook, HookArgs, HookOptions, TransformFn};
use crate::input::Inputs;
use crate::output::{Cell, Deferred, Output, settle};
use crate::program::{Program, lock};
use crate::protocol::LogSeverity;
use crate::resource::{Handle, Kind, OptionData, Options, Registration, Resource, Way, kind};
use crate::value::{FromValue, IntoValue, Value};
use crate::{Error, InvokeTransform, Result, Transform};

/// Access of a program to the engine: resources are created through it.
///
/// A context is a cheap value: pass it on by reference, or [scope](Ctx::with) it, so that everything created through it
/// has a parent or a provider. Nothing is global.
///
/// ```
/// use plumb::prelude::*;
///
/// fn program(ctx: &Ctx) -> plumb::Result<()> {
///     let west = AnyProvider::new(ctx, "aws", "west", value!({ "region": "us-west-2" }));
///     let in_the_west = ctx.with(opts().provider(&west));
///     let bucket = AnyResource::new(&in_the_west, "aws:s3/bucket:Bucket", "logs", value!({}));
///     ctx.export("bucket", bucket.id());
///     ctx.info(format!("{} of {}", ctx.stack(), ctx.project()));
///     Ok(())
/// }
/// ```
#[derive(Clone)]
pub struct Ctx {
    pub(crate) program: Program,
    defaults: OptionData,
    /// Name of the component that is being built.
    component: Option<String>,
}

impl std::fmt::Debug for Ctx {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ctx")
    }
}

impl Ctx {
    pub(crate) fn new(program: Program) -> Self {
        Ctx {
            program,
            defaults: OptionData::default(),
            component: None,
        }
    }

    /// A context whose resources all have these options, unless their own say otherwise.
    #[must_use]
    pub fn with(&self, options: Options<kind::Scope>) -> Ctx {
        Ctx {
            defaults: self.defaults.clone().merge(options.data),
            ..self.clone()
        }
    }

    /// A context whose resources are parts of `parent`.
    #[must_use]
    pub fn child(&self, parent: &impl Resource) -> Ctx {
        self.with(Options::default().parent(parent))
    }

    /// The context of a component: only what children inherit of the options around it.
    pub(crate) fn inside(&self, component: &Handle) -> Ctx {
        Ctx {
            program: self.program.clone(),
            defaults: OptionData {
                parent: Some(component.clone()),
                ..OptionData::default()
            },
            component: Some(component.name().to_owned()),
        }
    }

    /// The name of a child of the component that is being built: `site-bucket` of `bucket`.
    pub fn name(&self, child: &str) -> String {
        match &self.component {
            Some(component) => format!("{component}-{child}"),
            None => child.to_owned(),
        }
    }

    /// Name of the project.
    pub fn project(&self) -> &str {
        &self.program.settings.project
    }

    /// Name of the stack.
    pub fn stack(&self) -> &str {
        &self.program.settings.stack
    }

    /// Name of the organization.
    pub fn organization(&self) -> &str {
        &self.program.settings.organization
    }

    /// Folder of the project file.
    pub fn root_directory(&self) -> &str {
        &self.program.settings.root_directory
    }

    /// Whether this is a preview, in which outputs of new resources are not known.
    pub fn is_preview(&self) -> bool {
        self.program.settings.is_preview
    }

    /// Makes a value an output of the stack.
    pub fn export(&self, name: &str, value: impl IntoValue) {
        let value = value.into_value();
        lock(&self.program.exports).insert(name.to_owned(), value);
    }

    /// An output of this program, for a value that may have outputs inside.
    pub fn output<T, V>(&self, value: V) -> Output<T>
    where
        T: FromValue + Clone + Send + Sync + 'static,
        V: IntoValue,
    {
        let program = Some(self.program.clone());
        Output::dynamic(Cell::driven(program, settle(value.into_value())))
    }

    /// A promised output, and the other end that keeps the promise: for values that refer to each other.
    #[track_caller]
    pub fn deferred<T: Clone + Send + Sync + 'static>(&self) -> (Output<T>, Deferred<T>) {
        Deferred::pair(&self.program, Location::caller())
    }

    /// Fails if the engine is not of a version in `range`, as in `">=3.200.0"`.
    pub async fn require_version(&self, range: &str) -> Result<()> {
        let range = range.to_owned();
        let result = self.program.engine().require_version(range).await;
        result.map_err(|status| Error::at(status.message(), None))
    }

    /// Writes to the output of the deployment.
    pub fn info(&self, message: impl Into<String>) {
        self.program.log(LogSeverity::Info, message.into(), None);
    }

    /// Writes to the output of the deployment, if it shows details.
    pub fn debug(&self, message: impl Into<String>) {
        self.program.log(LogSeverity::Debug, message.into(), None);
    }

    /// Writes a warning to the output of the deployment.
    pub fn warn(&self, message: impl Into<String>) {
        self.program.log(LogSeverity::Warning, message.into(), None);
    }

    /// Writes an error to the output of the deployment, and lets the program fail when it ends.
    pub fn error(&self, message: impl Into<String>) {
        self.program.fail(Error::at(message, None));
    }

    /// Writes a message about one resource to the output of the deployment.
    pub fn info_about(&self, resource: &impl Resource, message: impl Into<String>) {
        let handle = resource.handle().clone();
        self.program
            .log(LogSeverity::Info, message.into(), Some(handle));
    }

    /// A function that may change every resource created after it, before it is registered.
    ///
    /// ```no_run
    /// # fn program(ctx: &plumb::Ctx) {
    /// ctx.stack_transform(|mut resource| async move {
    ///     if resource.token() == "aws:s3/bucket:Bucket" {
    ///         resource.set("tags", plumb::value!({ "owner": "infra" }));
    ///     }
    ///     Ok(resource)
    /// });
    /// # }
    /// ```
    pub fn stack_transform<F, Fut>(&self, transform: F)
    where
        F: Fn(Transform) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Transform>> + Send + 'static,
    {
        TransformFn::new(transform).register_for_stack(&self.program);
    }

    /// A function that may change every call of a function of a provider that comes after it.
    pub fn invoke_transform<F, Fut>(&self, transform: F)
    where
        F: Fn(InvokeTransform) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<InvokeTransform>> + Send + 'static,
    {
        callbacks::register_invoke_transform(&self.program, transform);
    }

    /// A hook: a function that the engine calls before or after it works on a resource.
    ///
    /// ```no_run
    /// # use plumb::prelude::*;
    /// # fn program(ctx: &Ctx) {
    /// let audit = ctx.hook("audit", HookOptions::new(), |args| async move {
    ///     if args.new_inputs().get("length").is_none() {
    ///         plumb::bail!("{} has no length", args.name());
    ///     }
    ///     Ok(())
    /// });
    /// AnyResource::with(ctx, "random:index/randomPet:RandomPet", "pet", value!({}), opts().before_create(&audit));
    /// # }
    /// ```
    pub fn hook<F, Fut>(&self, name: &str, options: HookOptions, hook: F) -> Hook
    where
        F: Fn(HookArgs) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<()>> + Send + 'static,
    {
        callbacks::register_hook(&self.program, name, options, hook)
    }

    /// A hook that decides whether a failed operation is tried again.
    pub fn error_hook<F, Fut>(&self, name: &str, hook: F) -> ErrorHook
    where
        F: Fn(ErrorHookArgs) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<bool>> + Send + 'static,
    {
        callbacks::register_error_hook(&self.program, name, hook)
    }

    fn options(&self, own: OptionData, location: &'static Location<'static>) -> OptionData {
        OptionData {
            location: Some(location),
            ..self.defaults.clone().merge(own)
        }
    }

    /// The resource below which a function of a provider is called.
    pub(crate) fn scope(&self) -> Option<Handle> {
        let parent = self.defaults.parent.clone();
        parent.or_else(|| self.program.stack())
    }

    /// The provider that the context has for `token`, apart from those of the parent.
    pub(crate) fn provider_for(&self, token: &str) -> Option<Handle> {
        let package = crate::resource::package_of(token)?;
        let given = self
            .defaults
            .providers
            .iter()
            .chain(&self.defaults.provider);
        let mut matching = given.filter(|it| it.provided_package() == Some(package));
        matching
            .next_back()
            .cloned()
            .or_else(|| self.scope()?.provider_for(token).cloned())
    }

    /// Registers a resource of a provider: for generated code, which has typed constructors.
    #[doc(hidden)]
    pub fn custom_resource(
        &self,
        token: &str,
        name: &str,
        inputs: Inputs,
        options: Options<kind::Custom>,
        location: &'static Location<'static>,
    ) -> Handle {
        self.custom(token, name, inputs, options.data, location)
    }

    /// Registers a provider: for generated code.
    #[doc(hidden)]
    pub fn provider_resource(
        &self,
        token: &str,
        name: &str,
        inputs: Inputs,
        options: Options<kind::Provider>,
        location: &'static Location<'static>,
    ) -> Handle {
        self.custom(token, name, inputs, options.data, location)
    }

    /// Registers a component of a provider: for generated code.
    #[doc(hidden)]
    pub fn remote_component(
        &self,
        token: &str,
        name: &str,
        inputs: Inputs,
        options: Options<kind::Component>,
        location: &'static Location<'static>,
    ) -> Handle {
        self.remote(token, name, inputs, options.data, location)
    }

    /// Looks at an existing resource: for generated code.
    #[doc(hidden)]
    pub fn existing_resource(
        &self,
        token: &str,
        name: &str,
        id: Value,
        state: Inputs,
        options: Options<kind::Custom>,
        location: &'static Location<'static>,
    ) -> Handle {
        let options = self.options(options.data, location);
        self.start(Kind::Custom, Way::Read(id), token, name, state, options)
    }

    pub(crate) fn custom(
        &self,
        token: &str,
        name: &str,
        inputs: Inputs,
        options: OptionData,
        location: &'static Location<'static>,
    ) -> Handle {
        let options = self.options(options, location);
        self.start(Kind::Custom, Way::Register, token, name, inputs, options)
    }

    pub(crate) fn remote(
        &self,
        token: &str,
        name: &str,
        inputs: Inputs,
        options: OptionData,
        location: &'static Location<'static>,
    ) -> Handle {
        let options = self.options(options, location);
        self.start(Kind::Remote, Way::Register, token, name, inputs, options)
    }

    pub(crate) fn local(
        &self,
        token: &str,
        name: &str,
        inputs: Inputs,
        options: OptionData,
        location: &'static Location<'static>,
    ) -> Handle {
        let options = self.options(options, location);
        self.start(Kind::Component, Way::Register, token, name, inputs, options)
    }

    pub(crate) fn read(
        &self,
        token: &str,
        name: &str,
        id: Value,
        inputs: Inputs,
        location: &'static Location<'static>,
    ) -> Handle {
        let options = self.options(OptionData::default(), location);
        self.start(Kind::Custom, Way::Read(id), token, name, inputs, options)
    }

    fn start(
        &self,
        kind: Kind,
        way: Way,
        token: &str,
        name: &str,
        inputs: Inputs,
        options: OptionData,
    ) -> Handle {
        let registration = Registration {
            kind,
            way,
            token: token.to_owned(),
            name: name.to_owned(),
            inputs,
            options,
        };
        registration.start(&self.program)
    }
}
