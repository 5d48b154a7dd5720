//! Classes of a resource: the resource itself, its arguments and its state (`codegen.md` 6).

use plumb_schema::bound::Resource;

use super::args::{Args, Purpose, written_name};
use super::docs::deprecated;
use super::imports::Imports;
use super::names::{self, Owner};
use super::sdk::{Sdk, split};
use super::types::Shape;
use crate::GenerateError;
use crate::classes::{Body, Class, Doc, Member, MemberKind, SourceFile};
use crate::kinds::Kind;

const OUTPUT: &str = "com.pulumi.core.Output";
const CODEGEN: &str = "com.pulumi.core.internal.Codegen";
const NULLABLE: &str = "javax.annotation.Nullable";
const STRING: &str = "java.lang.String";

/// Intermediate state while the class of a resource is built.
struct Lowering<'s, 'p, 'd> {
    sdk: &'s Sdk<'p, 'd>,
    resource: &'p Resource<'d>,
    kind: Kind,
    name: String,
    /// Names of the arguments, state and options classes in this file.
    args: String,
    state: Option<String>,
    options: String,
    imports: Imports,
}

impl<'p, 'd> Sdk<'p, 'd> {
    /// Files of a resource.
    pub(super) fn resource_files(
        &self,
        resource: &'p Resource<'d>,
    ) -> Result<Vec<SourceFile>, GenerateError> {
        let kind = Kind::of(resource);
        self.files_of(resource, kind, &self.resource_class(resource))
    }

    /// Files of the provider resource.
    pub(super) fn provider_files(
        &self,
        provider: &'p Resource<'d>,
    ) -> Result<Vec<SourceFile>, GenerateError> {
        self.files_of(provider, Kind::Provider, &self.provider_class())
    }

    fn files_of(
        &self,
        resource: &'p Resource<'d>,
        kind: Kind,
        class: &str,
    ) -> Result<Vec<SourceFile>, GenerateError> {
        let args_class = format!("{class}Args");
        let state_class = match kind {
            Kind::Custom => self.state_class(resource),
            Kind::Component | Kind::Provider => None,
        };
        let mut files = vec![
            self.class_file(resource, kind, class, &args_class, state_class.as_deref())?,
            self.args_file(Args {
                class: &args_class,
                doc: Doc::default(),
                properties: &resource.inputs,
                purpose: match kind {
                    Kind::Provider => Purpose::Provider,
                    Kind::Custom | Kind::Component => Purpose::Resource,
                },
                shape: Shape::Input,
            })?,
        ];
        if let (Some(class), Some(state)) = (&state_class, &resource.state_inputs) {
            files.push(self.args_file(Args {
                class,
                doc: Doc::default(),
                properties: &state.properties,
                purpose: Purpose::Nested,
                shape: Shape::Input,
            })?);
        }
        Ok(files)
    }

    /// Signatures of a resource's constructors, and of its `get` method if it has one.
    pub(super) fn resource_signatures(
        &self,
        resource: &'p Resource<'d>,
        class: &str,
        is_provider: bool,
    ) -> (Vec<String>, Option<String>) {
        let kind = Kind::with(resource, is_provider);
        let state = self.state_class(resource).filter(|_| kind == Kind::Custom);
        let args = format!("{class}Args");
        let mut lowering = self.lowering(resource, kind, class, &args, state.as_deref());
        let signature = |member: Member| match member.kind {
            MemberKind::Method { signature, .. } => Some(signature),
            _ => None,
        };
        let constructors = lowering.constructors().into_iter().filter_map(signature);
        let constructors = constructors
            .filter(|text| text.starts_with("public "))
            .collect();
        let get = (kind == Kind::Custom).then(|| lowering.get());
        (constructors, get.and_then(signature))
    }

    fn class_file(
        &self,
        resource: &'p Resource<'d>,
        kind: Kind,
        class: &str,
        args: &str,
        state: Option<&str>,
    ) -> Result<SourceFile, GenerateError> {
        let lowering = self.lowering(resource, kind, class, args, state);
        Ok(lowering.file(class, Self::path(class)?))
    }

    fn lowering<'s>(
        &'s self,
        resource: &'p Resource<'d>,
        kind: Kind,
        class: &str,
        args: &str,
        state: Option<&str>,
    ) -> Lowering<'s, 'p, 'd> {
        let (package, name) = split(class);
        let mut imports = Imports::of(package, name);
        let options = match kind {
            Kind::Custom | Kind::Provider => "com.pulumi.resources.CustomResourceOptions",
            Kind::Component => "com.pulumi.resources.ComponentResourceOptions",
        };
        Lowering {
            sdk: self,
            resource,
            kind,
            name: name.to_owned(),
            args: imports.name(args),
            state: state.map(|state| imports.name(state)),
            options: imports.name(options),
            imports,
        }
    }
}

impl Lowering<'_, '_, '_> {
    fn file(mut self, class: &str, path: crate::FilePath) -> SourceFile {
        let mut members = self.outputs();
        members.extend(self.constructors());
        members.push(self.make_args());
        members.push(self.make_options());
        if self.kind == Kind::Custom {
            members.push(self.get());
        }
        let base = match self.kind {
            Kind::Custom => "com.pulumi.resources.CustomResource",
            Kind::Component => "com.pulumi.resources.ComponentResource",
            Kind::Provider => "com.pulumi.resources.ProviderResource",
        };
        let base = self.imports.name(base);
        let annotation = self
            .imports
            .name("com.pulumi.core.annotations.ResourceType");
        let token = match self.kind {
            Kind::Provider => self.sdk.package.provider_token(),
            Kind::Custom | Kind::Component => self.resource.token.clone().into_owned(),
        };
        let mut attributes = deprecated(self.resource.deprecation);
        attributes.insert(0, format!("@{annotation}(type={})", names::string(&token)));
        let (_, name) = split(class);
        SourceFile {
            path,
            head: self.imports.lines(),
            namespace: None,
            types: vec![Class {
                doc: self
                    .sdk
                    .doc(self.resource.outputs.description, self.resource.deprecation),
                attributes,
                header: format!("public class {name} extends {base}"),
                members,
            }],
        }
    }

    fn outputs(&mut self) -> Vec<Member> {
        let properties = &self.resource.outputs.properties;
        let named = names::properties(properties.iter().map(written_name), Owner::Resource);
        let mut members = Vec::with_capacity(2 * properties.len());
        let imports = &mut self.imports;
        let export = imports.name("com.pulumi.core.annotations.Export");
        let output = imports.name(OUTPUT);
        for (property, names) in properties.iter().zip(named) {
            let ty = self.sdk.java_type(&property.ty, Shape::Output);
            let (refs, tree) = ty.tree(imports);
            let name = names::string(property.name);
            let (ty, field, method) = (ty.render(imports), names.field, names.method);
            members.push(
                Member::line(format!("private {output}<{ty}> {field};")).with_attributes(vec![
                    format!("@{export}(name={name}, refs={{{refs}}}, tree=\"{tree}\")"),
                ]),
            );
            let getter = if property.required {
                Member::method(
                    format!("public {output}<{ty}> {method}()"),
                    Body::of(format!("return this.{field};")),
                )
            } else {
                let optional = imports.name("java.util.Optional");
                let codegen = imports.name(CODEGEN);
                Member::method(
                    format!("public {output}<{optional}<{ty}>> {method}()"),
                    Body::of(format!("return {codegen}.optional(this.{field});")),
                )
            };
            members.push(
                getter
                    .with_doc(&self.sdk.doc(property.description, property.deprecation))
                    .with_attributes(deprecated(property.deprecation)),
            );
        }
        members
    }

    /// Arguments to the base constructor after the options.
    fn base_arguments(&mut self) -> String {
        let is_remote = self.kind == Kind::Component;
        if self.sdk.package.parameterization.is_none() {
            return format!(", {is_remote}");
        }
        let utilities = self.imports.name(&self.sdk.utilities_class());
        format!(", {is_remote}, {utilities}.getPackageRef()")
    }

    fn token(&self) -> String {
        match self.kind {
            Kind::Provider => names::string(self.sdk.package.name),
            Kind::Custom | Kind::Component => names::string(&self.resource.token),
        }
    }

    fn constructors(&mut self) -> Vec<Member> {
        let (name, args, options) = (&self.name, &self.args, &self.options);
        let string = self.imports.name(STRING);
        let nullable = self.imports.name(NULLABLE);
        let codegen = self.imports.name(CODEGEN);
        let is_needed = self
            .resource
            .inputs
            .iter()
            .any(|property| property.required);
        let given = if is_needed {
            args.clone()
        } else {
            format!("@{nullable} {args}")
        };
        let doc = |lines: &[&str]| Doc::new(lines.iter().map(|line| (*line).to_owned()).collect());
        let by_name = "@param name The unique name of the resource.";
        let by_args = "@param args The arguments that its properties are made of.";
        let by_options = "@param options Options that settle how the resource behaves.";
        let mut members = vec![
            Member::method(
                format!("public {name}({string} name)"),
                Body::of(format!("this(name, {args}.Empty);")),
            )
            .with_doc(&doc(&[by_name])),
            Member::method(
                format!("public {name}({string} name, {given} args)"),
                Body::of("this(name, args, null);"),
            )
            .with_doc(&doc(&[by_name, by_args])),
        ];
        let signature =
            format!("public {name}({string} name, {given} args, @{nullable} {options} options)");
        let (token, rest) = (self.token(), self.base_arguments());
        let call = format!(
            "super({token}, name, makeArgs(args, options), makeResourceOptions(options, {codegen}.empty()){rest});"
        );
        members.push(
            Member::method(signature, Body::of(call))
                .with_doc(&doc(&[by_name, by_args, by_options])),
        );
        if self.kind == Kind::Custom {
            members.push(self.existing(&token, &rest));
        }
        members
    }

    /// Constructor for an existing resource.
    fn existing(&mut self, token: &str, rest: &str) -> Member {
        let (name, options) = (&self.name, &self.options);
        let (string, output) = (self.imports.name(STRING), self.imports.name(OUTPUT));
        let nullable = self.imports.name(NULLABLE);
        let (parameter, state) = match &self.state {
            Some(state) => (format!("@{nullable} {state} state, "), "state"),
            None => (String::new(), "null"),
        };
        Member::method(
            format!(
                "private {name}({string} name, {output}<{string}> id, {parameter}@{nullable} {options} options)"
            ),
            Body::of(format!(
                "super({token}, name, {state}, makeResourceOptions(options, id){rest});"
            )),
        )
    }

    fn make_args(&mut self) -> Member {
        let (args, options) = (&self.args, &self.options);
        let nullable = self.imports.name(NULLABLE);
        let mut body = Body::default();
        body.block(
            "if (options != null && options.getUrn().isPresent())",
            |body| {
                body.line("return null;");
            },
        );
        body.line(format!("return args == null ? {args}.Empty : args;"));
        Member::method(
            format!(
                "private static {args} makeArgs(@{nullable} {args} args, @{nullable} {options} options)"
            ),
            body,
        )
    }

    fn make_options(&mut self) -> Member {
        let nullable = self.imports.name(NULLABLE);
        let (string, output) = (self.imports.name(STRING), self.imports.name(OUTPUT));
        let utilities = self.imports.name(&self.sdk.utilities_class());
        let defaults = self.defaults();
        let options = &self.options;
        let mut body = Body::default();
        body.line(format!("var defaultOptions = {options}.builder()"));
        body.deeper(|body| {
            body.line(format!(".version({utilities}.getVersion())"));
            for line in defaults {
                body.line(line);
            }
            body.line(".build();");
        });
        body.line(format!(
            "return {options}.merge(defaultOptions, options, id);"
        ));
        Member::method(
            format!(
                "private static {options} makeResourceOptions(@{nullable} {options} options, @{nullable} {output}<{string}> id)"
            ),
            body,
        )
    }

    /// Resource options that the schema requires.
    fn defaults(&mut self) -> Vec<String> {
        let resource = self.resource;
        let list = self.imports.name("java.util.List");
        let texts = |texts: Vec<String>| format!("{list}.of({})", texts.join(", "));
        let mut lines = Vec::new();
        if let Some(url) = self.sdk.package.download_url {
            lines.push(format!(".pluginDownloadURL({})", names::string(url)));
        }
        if !resource.aliases.is_empty() {
            let (alias, output) = (
                self.imports.name("com.pulumi.core.Alias"),
                self.imports.name(OUTPUT),
            );
            let aliases = resource.aliases.iter().map(|it| {
                let token = names::string(it.token);
                format!("{output}.of({alias}.builder().type({token}).build())")
            });
            lines.push(format!(".aliases({})", texts(aliases.collect())));
        }
        let secrets = resource.outputs.properties.iter().filter(|it| it.secret);
        let secrets: Vec<String> = secrets.map(|it| names::string(it.name)).collect();
        if !secrets.is_empty() && self.kind != Kind::Component {
            lines.push(format!(".additionalSecretOutputs({})", texts(secrets)));
        }
        let paths = self.sdk.package.replace_on_changes(resource);
        if !paths.is_empty() {
            let paths = paths.iter().map(|path| names::string(path));
            lines.push(format!(".replaceOnChanges({})", texts(paths.collect())));
        }
        lines
    }

    fn get(&mut self) -> Member {
        let (name, options) = (&self.name, &self.options);
        let (string, output) = (self.imports.name(STRING), self.imports.name(OUTPUT));
        let nullable = self.imports.name(NULLABLE);
        let mut doc = vec![
            format!("Gets an existing {name} resource's state with the given name and ID."),
            String::new(),
            "@param name The unique name of the resulting resource.".to_owned(),
            "@param id The unique provider ID of the resource to look up.".to_owned(),
        ];
        let (parameter, state) = match &self.state {
            Some(state) => {
                doc.push("@param state Properties that help to look it up.".to_owned());
                (format!("@{nullable} {state} state, "), "state, ")
            }
            None => (String::new(), ""),
        };
        doc.push("@param options Options that settle how the resource behaves.".to_owned());
        Member::method(
            format!(
                "public static {name} get({string} name, {output}<{string}> id, {parameter}@{nullable} {options} options)"
            ),
            Body::of(format!("return new {name}(name, id, {state}options);")),
        )
        .with_doc(&Doc::new(doc))
    }
}
