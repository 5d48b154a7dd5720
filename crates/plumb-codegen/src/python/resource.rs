//! Resource files: the class, its arguments and its state (`codegen.md` 3.3).

use std::collections::BTreeSet;

use plumb_schema::bound::{Property, Resource};

use super::imports::Imports;
use super::model::{
    Body, Callable, Class, Doc, DocParameter, Item, Parameter, Parameters, Setter, SourceFile, Text,
};
use super::names;
use super::object::{Member, Role};
use super::sdk::{Sdk, literal};
use super::types::{Form, Place, Shape};
use crate::kinds::Kind;
use crate::settings::Compatibility;
use crate::{FilePath, GenerateError};

fn base_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Custom => "pulumi.CustomResource",
        Kind::Component => "pulumi.ComponentResource",
        Kind::Provider => "pulumi.ProviderResource",
    }
}

/// Intermediate state while the file of a resource is built.
struct Lowering<'s, 'i, 'p, 'd> {
    sdk: &'s Sdk<'p, 'd>,
    resource: &'p Resource<'d>,
    kind: Kind,
    /// Names of the class and of its arguments class.
    name: String,
    args: String,
    about: Text,
    inputs: Vec<Member<'p, 'd>>,
    states: Vec<Member<'p, 'd>>,
    outputs: Vec<Member<'p, 'd>>,
    place: Place<'i>,
}

impl<'p, 'd> Sdk<'p, 'd> {
    /// File of a resource.
    pub(super) fn resource_file(
        &self,
        resource: &'p Resource<'d>,
    ) -> Result<SourceFile, GenerateError> {
        let kind = Kind::of(resource);
        let module = self.module_of(&resource.token);
        let file = self.file_name(&resource.token);
        let path = self.path(&module, &format!("{file}.py"))?;
        self.lower_resource(resource, kind, &module, path)
    }

    /// File of the provider resource.
    pub(super) fn provider_file(
        &self,
        provider: &'p Resource<'d>,
    ) -> Result<SourceFile, GenerateError> {
        let path = self.path("", "provider.py")?;
        self.lower_resource(provider, Kind::Provider, "", path)
    }

    fn lower_resource(
        &self,
        resource: &'p Resource<'d>,
        kind: Kind,
        module: &str,
        path: FilePath,
    ) -> Result<SourceFile, GenerateError> {
        let name = match kind {
            Kind::Provider => "Provider".to_owned(),
            Kind::Custom | Kind::Component => Self::resource_class(&resource.token),
        };
        let args = self.args_class(module, &name)?;
        let mut imports = Imports::in_module(module);
        let is_own =
            |it: &&Property<'_>| it.name != "urn" && (it.name != "id" || kind == Kind::Component);
        let states = resource.state_inputs.iter();
        let states: Vec<&Property<'d>> = states
            .filter(|_| kind == Kind::Custom)
            .flat_map(|state| &state.properties)
            .collect();
        let outputs: Vec<&Property<'d>> =
            resource.outputs.properties.iter().filter(is_own).collect();
        let mut lowering = Lowering {
            sdk: self,
            resource,
            kind,
            about: self.text(resource.outputs.description),
            inputs: self.members(&resource.inputs, names::parameter),
            states: self.members(states, names::parameter),
            outputs: self.members(outputs, names::snake),
            place: Place {
                module,
                imports: &mut imports,
            },
            name,
            args,
        };
        let items = lowering.items();
        let exports = vec![lowering.args, lowering.name];
        Ok(SourceFile {
            path,
            imports: imports.lines(self.settings.has_dicts()),
            exports: Some(exports),
            items,
        })
    }

    /// Parameters of the constructor overload with one parameter per input.
    pub(super) fn constructor_parameters(&self, resource: &'p Resource<'d>) -> Vec<Parameter> {
        let mut imports = Imports::in_module("");
        let mut lowering = Lowering {
            sdk: self,
            resource,
            kind: Kind::Custom,
            name: String::new(),
            args: String::new(),
            about: Text::from(""),
            inputs: self.members(&resource.inputs, names::parameter),
            states: Vec::new(),
            outputs: Vec::new(),
            place: Place {
                module: "",
                imports: &mut imports,
            },
        };
        let mut parameters = lowering.inline_parameters().rest;
        // The last parameter, `__props__`, is internal.
        parameters.pop();
        parameters
    }

    /// Class of a resource's arguments, distinct from all nested types.
    pub(super) fn args_class(&self, module: &str, name: &str) -> Result<String, GenerateError> {
        let Some(members) = self.modules.get(module) else {
            return Ok(format!("{name}Args"));
        };
        let is_taken = |class: &str| {
            members.objects.iter().any(|&position| {
                let usage = self.usages[position];
                (usage.input && self.object_name(position, Shape::Input) == class)
                    || (usage.plain && self.object_name(position, Shape::Plain) == class)
            })
        };
        let names = [format!("{name}Args"), format!("{name}InitArgs")];
        let free = names.into_iter().find(|class| !is_taken(class));
        free.ok_or_else(|| GenerateError::Name {
            what: "the arguments of the resource",
            name: name.to_owned(),
            why: "types of the package have all names that they could have",
        })
    }
}

impl<'d> Lowering<'_, '_, '_, 'd> {
    fn items(&mut self) -> Vec<Item> {
        let mut items = vec![Item::Class(self.args_item())];
        items.extend(self.state_item().map(Item::Class));
        if let (Some(warning), true) = (self.warning(), self.kind != Kind::Provider) {
            let mut body = Body::default();
            body.line(warning);
            items.push(Item::Lines(body.lines));
        }
        items.push(Item::Class(self.class()));
        items
    }

    fn args_item(&mut self) -> Class {
        let about = format!(
            "The set of arguments for constructing a {} resource.",
            self.name
        );
        let role = Role::Given(Shape::Input);
        let about = Text::from(about);
        self.sdk
            .object(&self.args, &about, &self.inputs, role, &mut self.place)
    }

    fn has_state(&self) -> bool {
        !self.states.is_empty()
    }

    fn state_item(&mut self) -> Option<Class> {
        if !self.has_state() {
            return None;
        }
        let about = format!(
            "Input properties used for looking up and filtering {} resources.",
            self.name
        );
        let name = self.state_name();
        let role = Role::Given(Shape::Input);
        let about = Text::from(about);
        let state = self
            .sdk
            .object(&name, &about, &self.states, role, &mut self.place);
        Some(state)
    }

    fn state_name(&self) -> String {
        format!("_{}State", self.name)
    }

    /// Deprecation message for run time; `None` for Kubernetes packages, which do not warn at run
    /// time.
    fn deprecation(&self) -> Option<&'d str> {
        let is_told = self.sdk.settings.compatibility != Compatibility::Kubernetes20;
        self.resource.deprecation.filter(|_| is_told)
    }

    fn warning(&self) -> Option<String> {
        let message = names::string(&self.sdk.words(self.deprecation()?));
        Some(format!("warnings.warn({message}, DeprecationWarning)"))
    }

    fn class(&mut self) -> Class {
        let mut items = Vec::new();
        if let Some(warning) = self.warning() {
            let mut body = Body::default();
            body.line(warning);
            items.push(Item::Lines(body.lines));
        }
        items.push(self.inline_overload());
        items.push(self.args_overload());
        items.push(self.dispatch());
        items.push(self.internal_init());
        if self.kind == Kind::Custom {
            items.push(self.get());
        }
        for member in &self.outputs {
            let property = member.property;
            let ty = self.sdk.property_type(
                property,
                property.required,
                Shape::Output,
                Form::Class,
                &mut self.place,
            );
            let ty = format!("pulumi.Output[{ty}]");
            items.push(Item::Property(self.sdk.property_of(
                member,
                ty,
                Setter::None,
            )));
        }
        for method in &self.resource.methods {
            let method = self.sdk.method(&self.name, method, &mut self.place);
            items.extend(method);
        }
        Class {
            decorators: vec![format!(
                "@pulumi.type_token({})",
                names::string(&self.resource.token)
            )],
            head: format!("{}({})", self.name, base_of(self.kind)),
            doc: Doc::default(),
            items,
        }
    }

    /// Parameters of a constructor with one parameter per input.
    fn inline_parameters(&mut self) -> Parameters {
        let mut rest = vec![
            Parameter::required("resource_name", "str"),
            Parameter::optional("opts", "Optional[pulumi.ResourceOptions]"),
        ];
        for member in &self.inputs {
            let ty = self.sdk.property_type(
                member.property,
                false,
                Shape::Input,
                Form::Parameter,
                &mut self.place,
            );
            rest.push(Parameter::optional(&member.name, ty));
        }
        rest.push(Parameter::optional("__props__", ""));
        Parameters {
            first: "__self__",
            rest,
        }
    }

    fn common_doc() -> Vec<DocParameter> {
        let parameter = |name: &str, ty: &str, text: &str| DocParameter {
            name: name.to_owned(),
            ty: ty.to_owned(),
            text: Text::from(text),
        };
        vec![
            parameter("resource_name", "str", "The name of the resource."),
            parameter(
                "opts",
                "pulumi.ResourceOptions",
                "Options that settle how the resource behaves.",
            ),
        ]
    }

    /// Documentation of the resource, with a default text for resources without a description.
    fn about(&self) -> Text {
        if self.about.is_empty() {
            let name = &self.name;
            return Text::from(format!(
                "Create a {name} resource with the given unique name, arguments, and options."
            ));
        }
        self.about.clone()
    }

    fn overload(parameters: Parameters, doc: Doc) -> Item {
        Item::Function(Callable {
            decorators: vec!["@overload".to_owned()],
            name: "__init__".to_owned(),
            parameters,
            returns: None,
            doc,
            body: Vec::new(),
        })
    }

    fn inline_overload(&mut self) -> Item {
        let parameters = self.inline_parameters();
        let mut doc = Doc {
            text: self.about(),
            parameters: Self::common_doc(),
        };
        doc.parameters.extend(self.sdk.doc_parameters(
            &self.inputs.iter().collect::<Vec<_>>(),
            Shape::Input,
            Form::Parameter,
            &mut self.place,
        ));
        Self::overload(parameters, doc)
    }

    fn args_overload(&self) -> Item {
        let args = &self.args;
        let are_needed = self.inputs.iter().any(|it| it.property.required);
        let given = if are_needed {
            Parameter::required("args", args)
        } else {
            Parameter::optional("args", format!("Optional[{args}]"))
        };
        let parameters = Parameters {
            first: "__self__",
            rest: vec![
                Parameter::required("resource_name", "str"),
                given,
                Parameter::optional("opts", "Optional[pulumi.ResourceOptions]"),
            ],
        };
        let mut doc = Doc {
            text: self.about(),
            parameters: Self::common_doc(),
        };
        let about_args = DocParameter {
            name: "args".to_owned(),
            ty: args.clone(),
            text: Text::from("The arguments that its properties are made of."),
        };
        doc.parameters.insert(1, about_args);
        Self::overload(parameters, doc)
    }

    /// The actual `__init__`, which determines the overload that was called.
    fn dispatch(&self) -> Item {
        let mut body = Body::default();
        body.line(format!(
            "resource_args, opts = _utilities.get_resource_args_opts({}, pulumi.ResourceOptions, *args, **kwargs)",
            self.args
        ));
        body.block("if resource_args is not None:", |body| {
            body.line("__self__._internal_init(resource_name, opts, **resource_args.__dict__)");
        });
        body.block("else:", |body| {
            body.line("__self__._internal_init(resource_name, *args, **kwargs)");
        });
        Item::Function(Callable {
            decorators: Vec::new(),
            name: "__init__".to_owned(),
            parameters: Parameters {
                first: "__self__, resource_name: str, *args, **kwargs",
                rest: Vec::new(),
            },
            returns: None,
            doc: Doc::default(),
            body: body.lines,
        })
    }

    fn internal_init(&mut self) -> Item {
        let parameters = self.inline_parameters();
        let mut body = Body::default();
        if let Some(deprecation) = self.deprecation() {
            self.sdk.warn(&self.name, deprecation, &mut body);
        }
        body.line(
            "opts = pulumi.ResourceOptions.merge(_utilities.get_resource_opts_defaults(), opts)",
        );
        body.block("if not isinstance(opts, pulumi.ResourceOptions):", |body| {
            body.line(
                "raise TypeError(\"Expected resource options to be a ResourceOptions instance\")",
            );
        });
        if self.kind == Kind::Component {
            body.block("if opts.id is not None:", |body| {
                body.line("raise ValueError(\"Components cannot be looked up with opts.id\")");
            });
            body.block("else:", |body| self.given(body));
        } else {
            body.block("if opts.id is None:", |body| self.given(body));
        }
        for (name, options) in self.merged_options() {
            body.line(format!("{name} = pulumi.ResourceOptions({options})"));
            body.line(format!("opts = pulumi.ResourceOptions.merge(opts, {name})"));
        }
        self.super_call(&mut body);
        Item::Function(Callable {
            decorators: Vec::new(),
            name: "_internal_init".to_owned(),
            parameters,
            returns: None,
            doc: Doc::default(),
            body: body.lines,
        })
    }

    /// Statements for a new resource.
    fn given(&self, body: &mut Body) {
        let args = &self.args;
        body.block("if __props__ is not None:", |body| {
            body.line("raise TypeError(\"__props__ is only valid together with opts.id, to get an existing resource\")");
        });
        body.line(format!("__props__ = {args}.__new__({args})"));
        for member in &self.inputs {
            self.input(member, body);
        }
        for member in &self.outputs {
            let is_input = self
                .resource
                .inputs
                .binary_search_by(|input| input.name.cmp(member.property.name))
                .is_ok();
            if !is_input {
                body.line(format!("__props__.__dict__[\"{}\"] = None", member.name));
            }
        }
    }

    fn input(&self, member: &Member<'_, 'd>, body: &mut Body) {
        let (name, property) = (&member.name, member.property);
        self.sdk.fill_in(property, name, body);
        if property.required && property.constant.is_none() {
            body.block(format!("if {name} is None and not opts.urn:"), |body| {
                let message = names::string(&format!("Missing required property '{name}'"));
                body.line(format!("raise TypeError({message})"));
            });
        }
        let constant = property.constant.as_ref().map(literal);
        let mut value = constant.clone().unwrap_or_else(|| name.clone());
        if property.secret {
            value = format!("pulumi.Output.secret({value})");
        }
        if self.kind == Kind::Provider && !self.sdk.is_textual(&property.ty) {
            if !property.secret {
                value = format!("pulumi.Output.from_input({value})");
            }
            value.push_str(".apply(pulumi.runtime.to_json)");
        }
        if constant.is_none() && value != *name {
            value = format!("None if {name} is None else {value}");
        }
        body.line(format!("__props__.__dict__[\"{name}\"] = {value}"));
    }

    /// Resource options that are merged with those of the caller.
    fn merged_options(&self) -> Vec<(&'static str, String)> {
        let resource = self.resource;
        let mut merged = Vec::new();
        let aliases = resource.aliases.iter();
        let aliases: Vec<String> = aliases
            .map(|alias| format!("pulumi.Alias(type_={})", names::string(alias.token)))
            .collect();
        if !aliases.is_empty() {
            merged.push(("alias_opts", format!("aliases=[{}]", aliases.join(", "))));
        }
        let secrets = resource.outputs.properties.iter().filter(|it| it.secret);
        let secrets: Vec<String> = secrets.map(|it| names::string(it.name)).collect();
        if !secrets.is_empty() && self.kind != Kind::Component {
            let secrets = secrets.join(", ");
            merged.push((
                "secret_opts",
                format!("additional_secret_outputs=[{secrets}]"),
            ));
        }
        let paths = self.sdk.package.replace_on_changes(resource);
        let paths: Vec<String> = paths.iter().map(|path| names::string(path)).collect();
        if !paths.is_empty() {
            let paths = paths.join(", ");
            merged.push((
                "replace_on_changes_opts",
                format!("replace_on_changes=[{paths}]"),
            ));
        }
        merged
    }

    fn super_call(&self, body: &mut Body) {
        let token = match self.kind {
            Kind::Provider => self.sdk.package.name,
            Kind::Custom | Kind::Component => self.resource.token.as_ref(),
        };
        let mut arguments = vec![
            names::string(token),
            "resource_name".to_owned(),
            "__props__".to_owned(),
            "opts".to_owned(),
        ];
        if self.kind == Kind::Component {
            arguments.push("remote=True".to_owned());
        }
        if self.sdk.is_parameterized() {
            arguments.push("package_ref=_utilities.get_package()".to_owned());
        }
        body.block(
            format!("super({}, __self__).__init__(", self.name),
            |body| {
                for argument in arguments {
                    body.line(format!("{argument},"));
                }
            },
        );
        body.line(")");
    }

    fn get(&mut self) -> Item {
        let name = self.name.clone();
        let mut rest = vec![
            Parameter::required("resource_name", "str"),
            Parameter::required("id", "pulumi.Input[str]"),
            Parameter::optional("opts", "Optional[pulumi.ResourceOptions]"),
        ];
        // State with the name of a parameter of `get` cannot be passed.
        let states: Vec<&Member<'_, 'd>> =
            self.states.iter().filter(|it| it.name != "id").collect();
        for member in &states {
            let ty = self.sdk.property_type(
                member.property,
                false,
                Shape::Input,
                Form::Parameter,
                &mut self.place,
            );
            rest.push(Parameter::optional(&member.name, ty));
        }
        let mut doc = Doc {
            text: Text::from(format!(
                "Get an existing {name} resource's state with the given name, id, and optional extra\nproperties used to qualify the lookup."
            )),
            parameters: Self::common_doc(),
        };
        let about_id = DocParameter {
            name: "id".to_owned(),
            ty: "pulumi.Input[str]".to_owned(),
            text: Text::from("The unique provider id of the resource to look up."),
        };
        doc.parameters.insert(1, about_id);
        doc.parameters.extend(self.sdk.doc_parameters(
            &states,
            Shape::Input,
            Form::Parameter,
            &mut self.place,
        ));
        Item::Function(Callable {
            decorators: vec!["@staticmethod".to_owned()],
            name: "get".to_owned(),
            parameters: Parameters { first: "", rest },
            returns: Some(format!("'{name}'")),
            doc,
            body: self.get_body(),
        })
    }

    fn get_body(&self) -> Vec<super::model::Line> {
        let mut body = Body::default();
        body.line("opts = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(id=id))");
        let class = if self.has_state() {
            self.state_name()
        } else {
            self.args.clone()
        };
        body.line(format!("__props__ = {class}.__new__({class})"));
        let mut looked_up = BTreeSet::new();
        for member in self.states.iter().filter(|it| it.name != "id") {
            let name = &member.name;
            body.line(format!("__props__.__dict__[\"{name}\"] = {name}"));
            looked_up.insert(member.property.name);
        }
        for member in &self.outputs {
            if !looked_up.contains(member.property.name) {
                body.line(format!("__props__.__dict__[\"{}\"] = None", member.name));
            }
        }
        let name = &self.name;
        body.line(format!(
            "return {name}(resource_name, opts=opts, __props__=__props__)"
        ));
        body.lines
    }
}
