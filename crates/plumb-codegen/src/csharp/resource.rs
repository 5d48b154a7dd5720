//! Classes of a resource: the resource itself, its arguments, its state and its methods (`codegen.md`
//! 5.2).

use plumb_schema::bound::{Property, Resource};

use super::args::{Args, Purpose, written_name};
use super::docs::summary;
use super::names;
use super::sdk::{Sdk, Shape};
use super::types::DICTIONARY;
use crate::GenerateError;
use crate::classes::{Body, Class, Doc, Member, MemberKind, SourceFile};
use crate::kinds::Kind;
use crate::settings::Compatibility;

fn options_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Component => "global::Pulumi.ComponentResourceOptions",
        Kind::Custom | Kind::Provider => "global::Pulumi.CustomResourceOptions",
    }
}

/// Intermediate state while the class of a resource is built.
struct Lowering<'s, 'p, 'd> {
    sdk: &'s Sdk<'p, 'd>,
    resource: &'p Resource<'d>,
    kind: Kind,
    name: String,
    /// The class of arguments, qualified if it is in another namespace.
    args: String,
    options: &'static str,
}

impl<'p, 'd> Sdk<'p, 'd> {
    /// Files of a resource.
    pub(super) fn resource_files(
        &self,
        resource: &'p Resource<'d>,
    ) -> Result<Vec<SourceFile>, GenerateError> {
        let kind = Kind::of(resource);
        self.files_of(resource, kind, Self::resource_name(resource))
    }

    /// Files of the provider resource.
    pub(super) fn provider_files(
        &self,
        provider: &'p Resource<'d>,
    ) -> Result<Vec<SourceFile>, GenerateError> {
        self.files_of(provider, Kind::Provider, "Provider".to_owned())
    }

    /// Signatures of a resource's constructor and of its `Get` method, as its class declares them.
    pub(super) fn resource_signatures(
        &self,
        resource: &'p Resource<'d>,
        name: String,
        is_provider: bool,
    ) -> Vec<String> {
        let kind = Kind::with(resource, is_provider);
        let lowering = Lowering {
            sdk: self,
            resource,
            kind,
            args: format!("{name}Args"),
            options: options_of(kind),
            name,
        };
        let constructor = lowering.constructors().into_iter().take(1);
        let get = (kind == Kind::Custom).then(|| lowering.get());
        let signature = |member: Member| match member.kind {
            MemberKind::Method { signature, .. } => Some(signature),
            _ => None,
        };
        constructor.chain(get).filter_map(signature).collect()
    }

    fn files_of(
        &self,
        resource: &'p Resource<'d>,
        kind: Kind,
        name: String,
    ) -> Result<Vec<SourceFile>, GenerateError> {
        let is_kubernetes = self.settings.compatibility == Compatibility::Kubernetes20;
        let (module, purpose) = match kind {
            Kind::Provider => (String::new(), Purpose::Provider),
            _ => (self.package.module_of(&resource.token), Purpose::Resource),
        };
        let namespace = self.root.of(&module);
        let mut args_name = format!("{name}Args");
        let args = self.args_class(Args {
            name: &args_name,
            doc: Doc::default(),
            properties: &resource.inputs,
            purpose,
            shape: Shape::Input,
        });
        let is_apart = is_kubernetes && kind != Kind::Provider;
        let args_namespace = self.root.nested(&module, "Inputs");
        let args_file = self.path(&args_namespace, &args_name)?;
        if is_apart {
            args_name = format!("global::{args_namespace}.{args_name}");
        }
        let lowering = Lowering {
            sdk: self,
            resource,
            kind,
            args: args_name,
            options: options_of(kind),
            name,
        };
        let path = self.path(&namespace, &lowering.name)?;
        let mut types = vec![lowering.class()];
        let mut files = Vec::new();
        if is_apart {
            files.push(SourceFile {
                path: args_file,
                head: vec!["#nullable enable".to_owned()],
                namespace: Some(args_namespace),
                types: vec![args],
            });
        } else {
            types.push(args);
        }
        types.extend(lowering.state());
        for method in &resource.methods {
            types.extend(self.method_classes(&lowering.name, method));
        }
        files.push(Self::file(path, namespace, types));
        Ok(files)
    }
}

impl<'d> Lowering<'_, '_, 'd> {
    fn class(&self) -> Class {
        let resource = self.resource;
        let mut members = self.outputs();
        members.extend(self.constructors());
        members.extend(self.make_args());
        members.push(self.make_options());
        if self.kind == Kind::Custom {
            members.push(self.get());
        }
        for method in &resource.methods {
            members.extend(self.sdk.method(&self.name, method));
        }
        let base = match self.kind {
            Kind::Custom if self.sdk.settings.compatibility == Compatibility::Kubernetes20 => {
                format!("global::{}.KubernetesResource", self.sdk.root.package)
            }
            Kind::Custom => "global::Pulumi.CustomResource".to_owned(),
            Kind::Component => "global::Pulumi.ComponentResource".to_owned(),
            Kind::Provider => "global::Pulumi.ProviderResource".to_owned(),
        };
        let token = match self.kind {
            Kind::Provider => names::string(&self.sdk.package.provider_token()),
            Kind::Custom | Kind::Component => names::string(&resource.token),
        };
        let mut attributes = self.sdk.obsolete(resource.deprecation);
        attributes.push(format!("[{}({token})]", self.sdk.type_attribute()));
        Class {
            doc: self.sdk.doc(resource.outputs.description),
            attributes,
            header: format!("public partial class {} : {base}", self.name),
            members,
        }
    }

    fn outputs(&self) -> Vec<Member> {
        let properties = &self.resource.outputs.properties;
        let named = names::properties(properties.iter().map(written_name), &self.name);
        let output = |(property, name): (&Property<'d>, String)| {
            let ty = self.sdk.optional_value(property, Shape::Output);
            // Members that every resource inherits.
            let hides = match (name.as_str(), self.kind) {
                ("Urn", _) | ("Id", Kind::Custom | Kind::Provider) => "new ",
                _ => "",
            };
            let mark = format!("[global::Pulumi.Output({})]", names::string(property.name));
            Member::line(format!(
                "public {hides}global::Pulumi.Output<{ty}> {name} {{ get; private set; }} = null!;"
            ))
            .with_doc(&self.sdk.doc(property.description))
            .with_attributes(vec![mark])
        };
        properties.iter().zip(named).map(output).collect()
    }

    fn token(&self) -> String {
        match self.kind {
            Kind::Provider => names::string(self.sdk.package.name),
            Kind::Custom | Kind::Component => names::string(&self.resource.token),
        }
    }

    /// Arguments to the base constructor after the options.
    fn base_arguments(&self) -> String {
        let remote = match self.kind {
            Kind::Component => ", remote: true",
            Kind::Custom | Kind::Provider => "",
        };
        match self.sdk.package_argument() {
            Some(package) => format!("{remote}, registerPackageRequest: {package}"),
            None => remote.to_owned(),
        }
    }

    fn constants(&self) -> impl Iterator<Item = (&Property<'d>, String)> {
        let inputs = &self.resource.inputs;
        let class = self.args.rsplit('.').next().unwrap_or(&self.args);
        let named = names::properties(inputs.iter().map(written_name), class);
        let named = inputs.iter().zip(named);
        named.filter(|(property, _)| property.constant.is_some())
    }

    fn constructors(&self) -> Vec<Member> {
        let (name, args, options) = (&self.name, &self.args, self.options);
        let is_needed = self
            .resource
            .inputs
            .iter()
            .any(|property| property.required);
        let parameter = if is_needed {
            format!("{args} args")
        } else {
            format!("{args}? args = null")
        };
        let given = if self.constants().next().is_some() {
            "MakeArgs(args)".to_owned()
        } else {
            format!("args ?? new {args}()")
        };
        let (token, rest) = (self.token(), self.base_arguments());
        let doc = summary(&format!(
            "Create a {name} resource with the given unique name, arguments, and options."
        ));
        let mut members = vec![
            Member::method(
                format!(
                    "public {name}(string name, {parameter}, {options}? options = null) : base({token}, name, {given}, MakeResourceOptions(options, \"\"){rest})"
                ),
                Body::default(),
            )
            .with_doc(&doc),
        ];
        if self.sdk.settings.dictionary_constructors && self.kind != Kind::Provider {
            // Constructor for overlay sources, which know the arguments only at run time.
            members.push(Member::method(
                format!(
                    "internal {name}(string name, {DICTIONARY}<string, object?> dictionary, {options}? options = null) : base({token}, name, new global::Pulumi.DictionaryResourceArgs(dictionary), MakeResourceOptions(options, \"\"){rest})"
                ),
                Body::default(),
            ));
        }
        if self.kind == Kind::Custom {
            let (parameter, state) = self.state_parameter();
            let state = if state.is_empty() { "null" } else { "state" };
            members.push(Member::method(
                format!(
                    "private {name}(string name, global::Pulumi.Input<string> id, {parameter}{options}? options = null) : base({token}, name, {state}, MakeResourceOptions(options, id){rest})"
                ),
                Body::default(),
            ));
        }
        members
    }

    /// Method that fills in constants, which are sent even if the user gave another value; `None`
    /// without constants.
    fn make_args(&self) -> Option<Member> {
        let args = &self.args;
        let mut body = Body::of(format!("args ??= new {args}();"));
        let mut has_any = false;
        for (property, name) in self.constants() {
            if let Some(value) = self.sdk.filled_value(property) {
                body.line(format!("args.{name} = {value};"));
                has_any = true;
            }
        }
        body.line("return args;");
        has_any.then(|| {
            Member::method(
                format!("private static {args} MakeArgs({args}? args)"),
                body,
            )
        })
    }

    fn has_state(&self) -> bool {
        let state = self.resource.state_inputs.as_ref();
        self.kind == Kind::Custom && state.is_some_and(|state| !state.properties.is_empty())
    }

    /// Parameter for the state, and the argument that passes it to the constructor.
    fn state_parameter(&self) -> (String, &'static str) {
        if self.has_state() {
            (format!("{}State? state = null, ", self.name), "state, ")
        } else {
            (String::new(), "")
        }
    }

    fn make_options(&self) -> Member {
        let options = self.options;
        let mut body = Body::default();
        body.line(format!("var defaultOptions = new {options}"));
        body.line("{");
        body.deeper(|body| {
            body.line(format!("Version = {}.Version,", self.sdk.utilities()));
            for (name, values) in self.defaults() {
                body.line(format!("{name} = {values},"));
            }
        });
        body.line("};");
        body.line(format!(
            "var merged = {options}.Merge(defaultOptions, options);"
        ));
        body.line("// The id that is asked for wins over that of the options.");
        body.line("merged.Id = id ?? merged.Id;");
        body.line("return merged;");
        Member::method(
            format!(
                "private static {options} MakeResourceOptions({options}? options, global::Pulumi.Input<string>? id)"
            ),
            body,
        )
    }

    /// Resource options that the schema requires.
    fn defaults(&self) -> Vec<(&'static str, String)> {
        let resource = self.resource;
        let list = |values: Vec<String>| format!("{{ {} }}", values.join(", "));
        let mut options = Vec::new();
        if let Some(url) = self.sdk.package.download_url {
            options.push(("PluginDownloadURL", names::string(url)));
        }
        if !resource.aliases.is_empty() {
            let alias = |token| format!("new global::Pulumi.Alias {{ Type = {token} }}");
            let aliases = resource
                .aliases
                .iter()
                .map(|it| alias(names::string(it.token)));
            options.push(("Aliases", list(aliases.collect())));
        }
        let secrets = resource.outputs.properties.iter().filter(|it| it.secret);
        let secrets: Vec<String> = secrets.map(|it| names::string(it.name)).collect();
        if !secrets.is_empty() && self.kind != Kind::Component {
            options.push(("AdditionalSecretOutputs", list(secrets)));
        }
        let paths = self.sdk.package.replace_on_changes(resource);
        if !paths.is_empty() {
            let paths = paths.iter().map(|path| names::string(path));
            options.push(("ReplaceOnChanges", list(paths.collect())));
        }
        options
    }

    fn get(&self) -> Member {
        let (name, options) = (&self.name, self.options);
        let (parameter, state) = self.state_parameter();
        let doc = summary(&format!(
            "Get an existing {name} resource's state with the given name and ID."
        ));
        Member::method(
            format!(
                "public static {name} Get(string name, global::Pulumi.Input<string> id, {parameter}{options}? options = null)"
            ),
            Body::of(format!("return new {name}(name, id, {state}options);")),
        )
        .with_doc(&doc)
    }

    fn state(&self) -> Option<Class> {
        let state = self
            .resource
            .state_inputs
            .as_ref()
            .filter(|_| self.has_state())?;
        Some(self.sdk.args_class(Args {
            name: &format!("{}State", self.name),
            doc: Doc::default(),
            properties: &state.properties,
            purpose: Purpose::Resource,
            shape: Shape::State,
        }))
    }
}
