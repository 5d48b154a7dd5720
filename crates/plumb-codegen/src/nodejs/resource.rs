//! Resource files: the class, its arguments and its state (`codegen.md` 2.4).

use plumb_schema::bound::{Property, Resource};

use super::imports::Imports;
use super::model::{Body, Callable, Class, Doc, Field, Interface, Item, SourceFile};
use super::names;
use super::sdk::{Sdk, quoted};
use super::types::Shape;
use super::values::Given;
use crate::GenerateError;
use crate::kinds::Kind;
use crate::settings::Compatibility;

fn base_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Custom => "pulumi.CustomResource",
        Kind::Component => "pulumi.ComponentResource",
        Kind::Provider => "pulumi.ProviderResource",
    }
}

fn options_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Custom => "pulumi.CustomResourceOptions",
        Kind::Component => "pulumi.ComponentResourceOptions",
        Kind::Provider => "pulumi.ResourceOptions",
    }
}

/// Intermediate state while the file of a resource is built.
struct Lowering<'s, 'p, 'd> {
    sdk: &'s Sdk<'p, 'd>,
    resource: &'p Resource<'d>,
    kind: Kind,
    name: String,
    imports: Imports,
}

impl<'p, 'd> Sdk<'p, 'd> {
    /// File of a resource.
    pub(super) fn resource_file(
        &self,
        resource: &'p Resource<'d>,
    ) -> Result<SourceFile, GenerateError> {
        let module = self.module_of(&resource.token);
        let folder = Self::folder_of(&module);
        let file = self.file_name(&resource.token);
        let kind = Kind::of(resource);
        let name = Self::class_name(&resource.token);
        let path = Self::path(&folder, &format!("{file}.ts"))?;
        Ok(self.lower_resource(resource, kind, name, &folder, path))
    }

    /// File of the provider resource.
    pub(super) fn provider_file(
        &self,
        provider: &'p Resource<'d>,
    ) -> Result<SourceFile, GenerateError> {
        let path = Self::path("", "provider.ts")?;
        let name = "Provider".to_owned();
        Ok(self.lower_resource(provider, Kind::Provider, name, "", path))
    }

    fn lower_resource(
        &self,
        resource: &'p Resource<'d>,
        kind: Kind,
        name: String,
        folder: &str,
        path: crate::FilePath,
    ) -> SourceFile {
        let mut imports = Imports::in_folder(folder);
        imports.pulumi = true;
        imports.utilities = true;
        let mut lowering = Lowering {
            sdk: self,
            resource,
            kind,
            name,
            imports,
        };
        let mut items = vec![Item::Class(lowering.class())];
        items.extend(lowering.state().map(Item::Interface));
        items.push(Item::Interface(lowering.args()));
        items.extend(lowering.method_types());
        SourceFile {
            path,
            imports: lowering.imports.lines(),
            items,
        }
    }

    /// Signatures of a resource's constructor, and of its static `get` method if it has one.
    pub(super) fn resource_signatures(
        &self,
        resource: &'p Resource<'d>,
        name: String,
        is_provider: bool,
    ) -> (String, Option<String>) {
        let kind = Kind::with(resource, is_provider);
        let mut lowering = Lowering {
            sdk: self,
            resource,
            kind,
            name,
            imports: Imports::in_folder(""),
        };
        let constructor = lowering.constructor();
        let mut overloads = constructor.overloads.into_iter();
        let get = (kind == Kind::Custom).then(|| lowering.get().signature);
        (overloads.next().unwrap_or(constructor.signature), get)
    }

    /// Whether a resource has an interface for its state.
    pub(super) fn has_state(resource: &Resource<'_>) -> bool {
        !resource.is_component
            && resource
                .state_inputs
                .as_ref()
                .is_some_and(|state| !state.properties.is_empty())
    }
}

impl<'d> Lowering<'_, '_, 'd> {
    fn is_kubernetes(&self) -> bool {
        self.sdk.settings.compatibility == Compatibility::Kubernetes20
    }

    fn has_state(&self) -> bool {
        self.kind == Kind::Custom && Sdk::has_state(self.resource)
    }

    /// Deprecation warning at run time; `None` if the resource is not deprecated, or warns in its documentation
    /// only.
    fn warning(&self) -> Option<String> {
        let deprecation = self.resource.deprecation?;
        (!self.is_kubernetes()).then(|| Sdk::warning(&self.name, deprecation))
    }

    fn class(&mut self) -> Class {
        let mut before = Vec::new();
        if self.kind == Kind::Custom {
            before.push(self.get());
        }
        before.push(self.type_field());
        before.push(self.is_instance());
        let fields = self.fields();
        let mut after = vec![self.constructor()];
        after.extend(self.methods());
        let outputs = &self.resource.outputs;
        Class {
            doc: self.sdk.doc(outputs.description, self.resource.deprecation),
            name: self.name.clone(),
            base: base_of(self.kind),
            before,
            fields,
            after,
        }
    }

    fn get(&self) -> Callable {
        let name = &self.name;
        let state = if self.has_state() {
            format!("state?: {name}State, ")
        } else {
            String::new()
        };
        let given = if self.has_state() {
            "<any>state"
        } else {
            "undefined as any"
        };
        let mut body = Body::default();
        if let Some(warning) = self.warning() {
            body.line(warning);
        }
        body.line(format!(
            "return new {name}(name, {given}, {{ ...opts, id: id }});"
        ));
        let mut doc = vec![
            format!(
                "Get an existing {name} resource's state with the given name, ID, and optional extra"
            ),
            "properties used to qualify the lookup.".to_owned(),
            String::new(),
            "@param name The unique name of the resulting resource.".to_owned(),
            "@param id The unique provider ID of the resource to lookup.".to_owned(),
        ];
        if self.has_state() {
            doc.push("@param state Any extra arguments used during the lookup.".to_owned());
        }
        doc.push("@param opts Options that settle how the resource behaves.".to_owned());
        Callable {
            doc: Doc { lines: doc },
            overloads: Vec::new(),
            signature: format!(
                "public static get(name: string, id: pulumi.Input<pulumi.ID>, {state}opts?: pulumi.CustomResourceOptions): {name}"
            ),
            body: Some(body.lines),
        }
    }

    fn type_field(&self) -> Callable {
        let token = match self.kind {
            Kind::Provider => self.sdk.package.name,
            Kind::Custom | Kind::Component => self.resource.token.as_ref(),
        };
        Callable {
            doc: Doc {
                lines: vec!["@internal".to_owned()],
            },
            overloads: Vec::new(),
            signature: format!("public static readonly __pulumiType = {}", quoted(token)),
            body: None,
        }
    }

    fn is_instance(&self) -> Callable {
        let name = &self.name;
        let prefix = match self.kind {
            Kind::Provider => "\"pulumi:providers:\" + ",
            Kind::Custom | Kind::Component => "",
        };
        let mut body = Body::default();
        body.block("if (obj === undefined || obj === null) {", "}", |body| {
            body.line("return false;");
        });
        body.line(format!(
            "return obj[\"__pulumiType\"] === {prefix}{name}.__pulumiType;"
        ));
        Callable {
            doc: Doc {
                lines: vec![format!(
                    "Whether an object is an instance of {name}, of whichever copy of this package."
                )],
            },
            overloads: Vec::new(),
            signature: format!("public static isInstance(obj: any): obj is {name}"),
            body: Some(body.lines),
        }
    }

    /// Outputs that the base class already has.
    fn is_inherited(&self, property: &Property<'_>) -> bool {
        property.name == "urn" || (property.name == "id" && self.kind != Kind::Component)
    }

    fn fields(&mut self) -> Vec<Field> {
        let properties = &self.resource.outputs.properties;
        let mut fields = Vec::with_capacity(properties.len());
        for property in properties {
            if self.is_inherited(property) {
                continue;
            }
            let is_there = property.required || self.is_kubernetes();
            let ty = self.sdk.output_type(property, is_there, &mut self.imports);
            fields.push(Field {
                doc: self.sdk.doc(property.description, property.deprecation),
                modifiers: "declare public readonly ",
                name: names::key(property.name).into_owned(),
                ty,
            });
        }
        fields
    }

    fn are_args_optional(&self) -> bool {
        self.is_kubernetes()
            || !self
                .resource
                .inputs
                .iter()
                .any(|property| property.required)
    }

    fn constructor(&mut self) -> Callable {
        let (name, options) = (self.name.clone(), options_of(self.kind));
        let mark = if self.are_args_optional() { "?" } else { "" };
        let doc = Doc {
            lines: vec![
                format!(
                    "Create a {name} resource with the given unique name, arguments, and options."
                ),
                String::new(),
                "@param name The unique name of the resource.".to_owned(),
                "@param args The arguments that its properties are made of.".to_owned(),
                "@param opts Options that settle how the resource behaves.".to_owned(),
            ],
        };
        let typed = format!("constructor(name: string, args{mark}: {name}Args, opts?: {options})");
        let body = Some(self.constructor_body());
        if !self.has_state() {
            return Callable {
                doc,
                overloads: Vec::new(),
                signature: typed,
                body,
            };
        }
        Callable {
            doc,
            overloads: vec![typed],
            signature: format!(
                "constructor(name: string, argsOrState?: {name}Args | {name}State, opts?: {options})"
            ),
            body,
        }
    }

    fn constructor_body(&mut self) -> Vec<super::model::Line> {
        let mut body = Body::default();
        if let Some(warning) = self.warning() {
            body.line(warning);
        }
        body.line("let resourceInputs: pulumi.Inputs = {};");
        body.line("opts = opts || {};");
        let given = self.given();
        match self.kind {
            Kind::Provider => {
                for line in given {
                    body.line(line);
                }
            }
            Kind::Custom | Kind::Component => {
                let looked_up = self.looked_up();
                body.block("if (opts.id) {", "} else {", |body| {
                    for line in looked_up {
                        body.line(line);
                    }
                });
                // The `else` branch. Its lines are indented by hand, because `block` has already written its
                // opening line.
                for line in given {
                    body.line(format!("    {line}"));
                }
                body.line("}");
            }
        }
        body.line("opts = pulumi.mergeOptions(utilities.resourceOptsDefaults(), opts);");
        for line in self.merged_options() {
            body.line(line);
        }
        body.line(self.super_call());
        body.lines
    }

    /// Statements of the branch for the lookup of an existing resource.
    fn looked_up(&self) -> Vec<String> {
        let resource = self.resource;
        let mut lines = Vec::new();
        if !self.has_state() {
            for property in &resource.outputs.properties {
                let name = quoted(property.name);
                lines.push(format!("resourceInputs[{name}] = undefined /*out*/;"));
            }
            return lines;
        }
        lines.push(format!(
            "const state = argsOrState as {}State | undefined;",
            self.name
        ));
        for property in resource
            .state_inputs
            .iter()
            .flat_map(|state| &state.properties)
        {
            let name = quoted(property.name);
            let value = names::optional_member("state", property.name);
            lines.push(format!("resourceInputs[{name}] = {value};"));
        }
        lines
    }

    /// Statements of the branch for a new resource.
    fn given(&mut self) -> Vec<String> {
        let resource = self.resource;
        let mut lines = Vec::new();
        if self.has_state() {
            lines.push(format!(
                "const args = argsOrState as {}Args | undefined;",
                self.name
            ));
        }
        for property in resource.inputs.iter().filter(|property| property.required) {
            let value = names::optional_member("args", property.name);
            let message =
                quoted(&format!("Missing required property '{}'", property.name)).into_owned();
            lines.push(format!("if ({value} === undefined && !opts.urn) {{"));
            lines.push(format!("    throw new Error({message});"));
            lines.push("}".to_owned());
        }
        for property in &resource.inputs {
            let value = self.input_value(property);
            lines.push(format!(
                "resourceInputs[{}] = {value};",
                quoted(property.name)
            ));
        }
        for property in &resource.outputs.properties {
            let is_input = resource
                .inputs
                .binary_search_by(|input| input.name.cmp(property.name))
                .is_ok();
            if !is_input {
                let name = quoted(property.name);
                lines.push(format!("resourceInputs[{name}] = undefined /*out*/;"));
            }
        }
        lines
    }

    fn input_value(&mut self, property: &Property<'d>) -> String {
        let given = Given::of_resource(property);
        let value = self
            .sdk
            .sent_value(property, &given, Shape::Input, &mut self.imports);
        if self.kind == Kind::Provider && !self.sdk.is_textual(&property.ty) {
            return format!("pulumi.output({value}).apply(JSON.stringify)");
        }
        value
    }

    fn merged_options(&self) -> Vec<String> {
        let resource = self.resource;
        let list = |names: Vec<String>| names.join(", ");
        let mut merged = Vec::new();
        let aliases = resource.aliases.iter();
        let aliases: Vec<String> = aliases
            .map(|alias| format!("{{ type: {} }}", quoted(alias.token)))
            .collect();
        if !aliases.is_empty() {
            merged.push(format!("{{ aliases: [{}] }}", list(aliases)));
        }
        let secrets = resource.outputs.properties.iter().filter(|it| it.secret);
        let secrets: Vec<String> = secrets.map(|it| names::string(it.name)).collect();
        if !secrets.is_empty() && self.kind != Kind::Component {
            merged.push(format!(
                "<any>{{ additionalSecretOutputs: [{}] }}",
                list(secrets)
            ));
        }
        let paths = self.sdk.package.replace_on_changes(resource);
        let paths: Vec<String> = paths.iter().map(|path| names::string(path)).collect();
        if !paths.is_empty() {
            merged.push(format!("{{ replaceOnChanges: [{}] }}", list(paths)));
        }
        merged
            .into_iter()
            .map(|options| format!("opts = pulumi.mergeOptions(opts, {options});"))
            .collect()
    }

    fn super_call(&self) -> String {
        let mut arguments = format!("{}.__pulumiType, name, resourceInputs, opts", self.name);
        let is_parameterized = self.sdk.is_parameterized();
        match self.kind {
            Kind::Component => arguments.push_str(", true /*remote*/"),
            Kind::Custom | Kind::Provider if is_parameterized => {
                arguments.push_str(", false /*dependency*/");
            }
            Kind::Custom | Kind::Provider => {}
        }
        if is_parameterized {
            arguments.push_str(", utilities.getPackage()");
        }
        format!("super({arguments});")
    }

    fn state(&mut self) -> Option<Interface> {
        let state = self
            .resource
            .state_inputs
            .as_ref()
            .filter(|_| self.has_state())?;
        let doc = Doc {
            lines: vec![format!(
                "Input properties used for looking up and filtering {} resources.",
                self.name
            )],
        };
        let name = format!("{}State", self.name);
        Some(self.sdk.interface(
            doc,
            name,
            &state.properties,
            Shape::Input,
            &mut self.imports,
        ))
    }

    fn args(&mut self) -> Interface {
        let doc = Doc {
            lines: vec![format!(
                "The set of arguments for constructing a {} resource.",
                self.name
            )],
        };
        let name = format!("{}Args", self.name);
        self.sdk.interface(
            doc,
            name,
            &self.resource.inputs,
            Shape::Input,
            &mut self.imports,
        )
    }

    fn methods(&mut self) -> Vec<Callable> {
        let methods = self.resource.methods.iter();
        methods
            .filter_map(|method| self.sdk.method(&self.name, method, &mut self.imports))
            .collect()
    }

    /// Namespace with the class's name, for the types of its methods.
    fn method_types(&mut self) -> Option<Item> {
        let mut items = Vec::new();
        for method in &self.resource.methods {
            items.extend(self.sdk.method_types(method, &mut self.imports));
        }
        (!items.is_empty()).then(|| Item::Namespace {
            name: self.name.clone(),
            items: items.into_iter().map(Item::Interface).collect(),
        })
    }
}
