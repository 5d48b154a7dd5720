//! Resources and the provider (`codegen.md` 4.3).

use std::collections::BTreeSet;

use plumb_schema::bound::Resource;

use super::forms::{Collection, Declarations};
use super::model::{Body, Doc, Function, Item, SourceFile, Struct};
use super::names;
use super::properties::{Entry, Fields, Holder};
use super::sdk::Sdk;
use super::usage::Usage;
use super::values::{Content, append};
use crate::GenerateError;
use crate::kinds::Kind;

fn base_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Custom => "pulumi.CustomResourceState",
        Kind::Component => "pulumi.ResourceState",
        Kind::Provider => "pulumi.ProviderResourceState",
    }
}

/// Intermediate state while the file of a resource is built.
struct Lowering<'s, 'p, 'd> {
    sdk: &'s Sdk<'p, 'd>,
    resource: &'p Resource<'d>,
    kind: Kind,
    name: &'s str,
    usage: &'s Usage,
    file: Declarations<'s>,
}

impl<'p, 'd> Sdk<'p, 'd> {
    pub(super) fn provider_file(
        &self,
        provider: &'p Resource<'d>,
    ) -> Result<SourceFile, GenerateError> {
        let usage = &self.usages.provider;
        let file = self.lower(provider, Kind::Provider, "Provider", usage, "");
        Ok(file.file(self.path("", "provider.go")?, self.layout.package_of("")))
    }

    pub(super) fn resource_file(&self, position: usize) -> Result<SourceFile, GenerateError> {
        let resource = &self.package.resources[position];
        let kind = Kind::of(resource);
        let name = &self.naming.resources[position];
        let module = self.module_of(&resource.token);
        let usage = &self.usages.resources[position];
        let file = self.lower(resource, kind, name, usage, &module);
        let path = self.path(&module, &Self::file_name(name, &module))?;
        Ok(file.file(path, self.layout.package_of(&module)))
    }

    /// File name of a resource or a function.
    pub(super) fn file_name(name: &str, module: &str) -> String {
        let base = names::camel(name);
        let is_taken = match base.as_str() {
            "init" | "pulumiTypes" | "pulumiEnums" => true,
            "doc" | "provider" => module.is_empty(),
            "config" => module == "config",
            // Go treats suffixes such as `_test` and `_linux` specially, and ignores files that start with a dot.
            _ => base.contains('_') || base.starts_with('.'),
        };
        if is_taken {
            format!("{base}_.go")
        } else {
            format!("{base}.go")
        }
    }

    fn lower<'s>(
        &'s self,
        resource: &'p Resource<'d>,
        kind: Kind,
        name: &'s str,
        usage: &'s Usage,
        module: &str,
    ) -> Declarations<'s> {
        let mut lowering = Lowering {
            file: Declarations::new(self.imports(module), &self.settings),
            sdk: self,
            resource,
            kind,
            name,
            usage,
        };
        lowering.items();
        lowering.file
    }

    /// The two arguments structs: one of values for the core SDK, one of inputs for users.
    pub(super) fn arguments(
        &self,
        doc: Doc,
        base: &str,
        entries: &[Entry<'_, '_>],
        file: &mut Declarations<'_>,
    ) {
        let (shown, hidden) = (
            format!("{base}Args"),
            format!("{}Args", names::hidden(base)),
        );
        let fields = self.fields(entries, Fields::Value, true, file);
        file.structure(Struct {
            doc: Doc::default(),
            name: hidden.clone(),
            base: None,
            fields,
        });
        let fields = self.fields(entries, Fields::Input, false, file);
        file.structure(Struct {
            doc,
            name: shown.clone(),
            base: None,
            fields,
        });
        file.element_type(&shown, &hidden);
    }
}

impl<'p, 'd> Lowering<'_, 'p, 'd> {
    fn items(&mut self) {
        let (sdk, resource, name) = (self.sdk, self.resource, self.name);
        let required = |property: &plumb_schema::bound::Property<'d>| property.required;
        let outputs = sdk.entries(name, &resource.outputs.properties, required);
        let inputs = sdk.entries(&format!("{name}Args"), &resource.inputs, required);
        self.file.imports.pulumi();
        let fields = sdk.fields(&outputs, Fields::Output, true, &mut self.file);
        let outputs_doc = sdk.doc(resource.outputs.description, resource.deprecation);
        self.file.structure(Struct {
            doc: outputs_doc,
            name: name.to_owned(),
            base: Some(base_of(self.kind)),
            fields,
        });
        self.constructor(&inputs);
        if self.kind == Kind::Custom {
            self.getter();
            self.state();
        }
        let doc = Doc::of([format!(
            "The set of arguments for constructing a {name} resource."
        )]);
        sdk.arguments(doc, name, &inputs, &mut self.file);
        for method in &resource.methods {
            sdk.method(name, method, &mut self.file);
        }
        self.conversions(&outputs);
    }

    fn conversions(&mut self, outputs: &[Entry<'_, '_>]) {
        let name = self.name;
        if self.sdk.is_generic() {
            self.file.generic_output(Doc::default(), name, name);
            self.sdk
                .generic_accessors(name, Holder::Resource, outputs, &mut self.file);
            return;
        }
        let pointer = format!("*{name}");
        self.file.input_interface(Doc::default(), name, "ctx ");
        self.file.element_type(&pointer, &pointer);
        self.file.conversions(&pointer, name, &pointer);
        self.file.register_input(name, &format!("&{name}{{}}"));
        let collections = self.collections();
        for ending in &collections {
            self.collection_input(ending);
        }
        self.file.output(Doc::default(), name, &pointer);
        self.sdk
            .accessors(name, Holder::Resource, outputs, &mut self.file);
        for ending in &collections {
            self.collection_output(ending);
        }
    }

    /// Collections of the resource, by suffix: those that the package enables for all resources, and those in use. Includes
    /// the inner collections of each.
    fn collections(&self) -> BTreeSet<String> {
        let mut collections = BTreeSet::new();
        for ending in self.usage.collections.keys() {
            let steps = ending
                .char_indices()
                .filter(|(at, char)| *at > 0 && char.is_uppercase());
            collections.extend(steps.map(|(at, _)| ending[..at].to_owned()));
            collections.insert(ending.clone());
        }
        if self.sdk.settings.has_resource_containers && self.kind != Kind::Provider {
            collections.extend(["Array".to_owned(), "Map".to_owned()]);
        }
        collections
    }

    fn collection_input(&mut self, ending: &str) {
        let kind = Collection::of(ending);
        let inner = ending.strip_suffix(kind.name()).unwrap_or_default();
        let value = value_of(&format!("*{}", self.name), ending);
        let own = format!("{}{ending}", self.name);
        let element = format!("{}{inner}Input", self.name);
        self.file.collection_input(kind, &own, &element, &value);
    }

    fn collection_output(&mut self, ending: &str) {
        let kind = Collection::of(ending);
        let inner = ending.strip_suffix(kind.name()).unwrap_or_default();
        let value = value_of(&format!("*{}", self.name), inner);
        let own = format!("{}{ending}", self.name);
        let element = format!("{}{inner}", self.name);
        self.file.collection_output(kind, &own, &element, &value);
    }

    fn token(&self) -> String {
        match self.kind {
            Kind::Provider => names::string(&format!("pulumi:providers:{}", self.sdk.package.name)),
            Kind::Custom | Kind::Component => names::string(&self.resource.token),
        }
    }

    fn constructor(&mut self, inputs: &[Entry<'p, 'd>]) {
        let name = self.name;
        let mut body = Body::default();
        let needs_args = inputs.iter().any(|entry| entry.required);
        body.block("if args == nil {", "}", |body| {
            body.line(if needs_args {
                "return nil, errors.New(\"missing one or more required arguments\")".to_owned()
            } else {
                format!("args = &{name}Args{{}}")
            });
        });
        if needs_args {
            self.file.imports.standard("errors");
        }
        body.blank();
        self.required(inputs, &mut body);
        let completion = self
            .sdk
            .completion("args", inputs, Content::Inputs, true, &mut self.file);
        append(&mut body, completion);
        self.secrets(inputs, &mut body);
        if self.sdk.is_generic() {
            let resolution = self.sdk.resolution("args", inputs, &mut self.file);
            append(&mut body, resolution);
        }
        self.options(&mut body);
        self.registration(&mut body);
        let doc = Doc::of([format!(
            "New{name} registers a new resource with the given unique name, arguments, and options."
        )]);
        self.file.items.push(Item::Function(Function {
            doc,
            signature: constructor_signature(name),
            body: body.lines,
        }));
    }

    /// Checks that required arguments are set, where their type has `nil`.
    fn required(&mut self, inputs: &[Entry<'p, 'd>], body: &mut Body) {
        for entry in inputs {
            let property = entry.property;
            let has_other = property.constant.is_some()
                || property.default.is_some()
                || property.default_info.is_some();
            let is_nilable = !property.ty.plain || self.sdk.is_nilable(&property.ty);
            if !entry.required || has_other || !is_nilable {
                continue;
            }
            self.file.imports.standard("errors");
            let field = &entry.name;
            body.block(format!("if args.{field} == nil {{"), "}", |body| {
                let message =
                    names::string(&format!("invalid value for required argument '{field}'"));
                body.line(format!("return nil, errors.New({message})"));
            });
        }
    }

    fn secrets(&mut self, inputs: &[Entry<'p, 'd>], body: &mut Body) {
        for entry in inputs
            .iter()
            .filter(|entry| entry.property.secret && !entry.property.ty.plain)
        {
            let ty = self.sdk.input_at(entry.place(), &mut self.file.imports);
            let field = &entry.name;
            let secret = if self.sdk.is_generic() {
                format!("{}.Secret(args.{field})", self.file.imports.internal())
            } else {
                format!("pulumi.ToSecret(args.{field}).({ty})")
            };
            body.block(format!("if args.{field} != nil {{"), "}", |body| {
                body.line(format!("args.{field} = {secret}"));
            });
        }
    }

    fn options(&mut self, body: &mut Body) {
        let resource = self.resource;
        if !resource.aliases.is_empty() {
            body.block("aliases := pulumi.Aliases([]pulumi.Alias{", "})", |body| {
                for alias in &resource.aliases {
                    body.block("{", "},", |body| {
                        body.line(format!(
                            "Type: pulumi.String({}),",
                            names::string(alias.token)
                        ));
                    });
                }
            });
            body.line("opts = append(opts, aliases)");
        }
        let secrets = resource
            .outputs
            .properties
            .iter()
            .filter(|property| property.secret);
        let secrets: Vec<&str> = secrets.map(|property| property.name).collect();
        if self.kind != Kind::Component {
            list_option(body, "secrets", "AdditionalSecretOutputs", &secrets);
        }
        let paths = self.sdk.package.replace_on_changes(resource);
        list_option(body, "replaceOnChanges", "ReplaceOnChanges", &paths);
        let internal = self.file.imports.internal();
        body.line(format!("opts = {internal}.PkgResourceDefaultOpts(opts)"));
    }

    fn registration(&mut self, body: &mut Body) {
        let call = match self.kind {
            Kind::Component => "RemoteComponentResource",
            Kind::Custom | Kind::Provider => "Resource",
        };
        let arguments = format!("{}, name, args, &resource", self.token());
        if self.sdk.is_parameterized() {
            let internal = self.file.imports.internal();
            body.line(format!("ref, err := {internal}.PkgGetPackageRef(ctx)"));
            body.return_error("nil, err");
            body.line(format!("var resource {}", self.name));
            body.line(format!(
                "err = ctx.RegisterPackage{call}({arguments}, ref, opts...)"
            ));
        } else {
            body.line(format!("var resource {}", self.name));
            body.line(format!("err := ctx.Register{call}({arguments}, opts...)"));
        }
        body.return_error("nil, err");
        body.line("return &resource, nil");
    }

    fn getter(&mut self) {
        let name = self.name;
        let mut body = Body::default();
        body.line(format!("var resource {name}"));
        let arguments = format!("{}, name, id, state, &resource", self.token());
        if self.sdk.is_parameterized() {
            let internal = self.file.imports.internal();
            body.line(format!("ref, err := {internal}.PkgGetPackageRef(ctx)"));
            body.return_error("nil, err");
            body.line(format!(
                "err = ctx.ReadPackageResource({arguments}, ref, opts...)"
            ));
        } else {
            body.line(format!("err := ctx.ReadResource({arguments}, opts...)"));
        }
        body.return_error("nil, err");
        body.line("return &resource, nil");
        let doc = Doc::of([
            format!(
                "Get{name} gets an existing {name} resource's state with the given name, ID, and optional"
            ),
            "state properties that are used to uniquely qualify the lookup (nil if not required)."
                .to_owned(),
        ]);
        self.file.items.push(Item::Function(Function {
            doc,
            signature: lookup_signature(name),
            body: body.lines,
        }));
    }

    fn state(&mut self) {
        let (sdk, name) = (self.sdk, self.name);
        let (shown, hidden) = (
            format!("{name}State"),
            format!("{}State", names::hidden(name)),
        );
        let properties = self
            .resource
            .state_inputs
            .iter()
            .flat_map(|state| &state.properties);
        let entries = sdk.entries(&shown, properties, |_| false);
        let fields = sdk.fields(&entries, Fields::Value, true, &mut self.file);
        let doc = Doc::of([format!(
            "Input properties used for looking up and filtering {name} resources."
        )]);
        self.file.structure(Struct {
            doc: doc.clone(),
            name: hidden.clone(),
            base: None,
            fields,
        });
        let fields = sdk.fields(&entries, Fields::State, false, &mut self.file);
        self.file.structure(Struct {
            doc,
            name: shown.clone(),
            base: None,
            fields,
        });
        self.file.element_type(&shown, &hidden);
    }
}

/// Signature of the constructor, in two lines.
pub(super) fn constructor_signature(name: &str) -> Vec<String> {
    vec![
        format!("func New{name}(ctx *pulumi.Context,"),
        format!("name string, args *{name}Args, opts ...pulumi.ResourceOption) (*{name}, error)"),
    ]
}

/// Signature of the lookup of an existing resource, in two lines.
pub(super) fn lookup_signature(name: &str) -> Vec<String> {
    vec![
        format!("func Get{name}(ctx *pulumi.Context,"),
        format!(
            "name string, id pulumi.IDInput, state *{name}State, opts ...pulumi.ResourceOption) (*{name}, error)"
        ),
    ]
}

fn list_option<T: AsRef<str>>(body: &mut Body, variable: &str, option: &str, values: &[T]) {
    if values.is_empty() {
        return;
    }
    body.block(
        format!("{variable} := pulumi.{option}([]string{{"),
        "})",
        |body| {
            for value in values {
                body.line(format!("{},", names::string(value.as_ref())));
            }
        },
    );
    body.line(format!("opts = append(opts, {variable})"));
}

/// Value type of a collection; `ending` is the suffix of its name.
pub(super) fn value_of(inner: &str, ending: &str) -> String {
    let mut value = inner.to_owned();
    let mut rest = ending;
    while !rest.is_empty() {
        let kind = if rest.starts_with("Map") {
            Collection::Map
        } else {
            Collection::Array
        };
        value.insert_str(0, kind.before());
        rest = rest.strip_prefix(kind.name()).unwrap_or_default();
    }
    value
}
