//! Resources and the provider.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use plumb_schema::Primitive;
use plumb_schema::bound::{Package, Property, Resource, TypeKind};

use super::args::{Args, Parameters};
use super::model::{Sdk, named};
use super::names::{self, Taken};
use super::text;
use crate::kinds::Kind;
use crate::writer::Writer;

/// Names that accessors cannot have.
pub(super) const RESERVED: [&str; 12] = [
    "new",
    "with",
    "get",
    "get_with",
    "id",
    "urn",
    "handle",
    "from_handle",
    "to_output",
    "clone",
    "output",
    "into_value",
];

fn option_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Custom => "Custom",
        Kind::Component => "Component",
        Kind::Provider => "Provider",
    }
}

fn function_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Custom => "custom_resource",
        Kind::Component => "remote_component",
        Kind::Provider => "provider_resource",
    }
}

impl<'d> Sdk<'_, 'd> {
    /// Writes a resource and its arguments.
    pub(super) fn write_resource(&self, writer: &mut Writer, resource: &Resource<'d>) {
        if resource.outputs.overlay.is_overlay {
            return;
        }
        let position = self
            .package
            .resources
            .iter()
            .position(|it| std::ptr::eq(it, resource));
        let class = position.map_or("Provider", |position| self.resources[position].as_str());
        let kind = Kind::with(resource, position.is_none());
        text::doc(writer, resource.outputs.description, "A resource.");
        text::deprecated(writer, resource.deprecation);
        writer.line(&["#[derive(Clone, Debug)]"]);
        writer.line(&["pub struct ", class, "(::plumb::Handle);"]);
        writer.line(&["::plumb::resource!(", class, ", ", class, "::TOKEN);"]);
        writer.blank();
        writer.block(&["impl ", class, " {"], "}", |writer| {
            let token = match kind {
                Kind::Provider => self.package.provider_token(),
                Kind::Custom | Kind::Component => resource.token.to_string(),
            };
            writer.line(&["/// The token of the type."]);
            writer.line(&[
                "pub const TOKEN: &'static str = ",
                &text::literal(&token),
                ";",
            ]);
            write_properties(writer, class, resource);
            write_constructors(writer, self.package, class, kind, resource);
            self.write_accessors(writer, resource);
        });
        writer.blank();
        let args = Args {
            class: format!("{class}Args"),
            doc: format!("Inputs of a [`{class}`]."),
            object: None,
        };
        self.write_args(writer, &args, &resource.inputs);
    }

    fn write_accessors(&self, writer: &mut Writer, resource: &Resource<'d>) {
        if !resource.is_component {
            writer.line(&["/// The ID that the provider gave the resource."]);
            let open = "pub fn id(&self) -> ::plumb::Output<::std::string::String> {";
            writer.block(&[open], "}", |writer| writer.line(&["self.0.id()"]));
        }
        let methods: Vec<String> = resource
            .methods
            .iter()
            .map(|it| names::snake(it.name))
            .collect();
        let mut reserved = RESERVED.to_vec();
        reserved.extend(methods.iter().map(String::as_str));
        for it in named(&resource.outputs.properties, &reserved) {
            let ty = self.output_text(it.property);
            text::doc(writer, it.property.description, "An output.");
            text::deprecated(writer, it.property.deprecation);
            let open = format!("pub fn {}(&self) -> ::plumb::Output<{ty}> {{", it.name);
            let key = text::literal(it.property.name);
            writer.block(&[&open], "}", |writer| {
                // A provider may leave a secret out, which is one all the same.
                let end = if it.property.secret {
                    ").secret()"
                } else {
                    ")"
                };
                writer.line(&["self.0.output(", &key, end]);
            });
        }
        for (method, name) in resource.methods.iter().zip(methods) {
            self.write_method(writer, method.function, &name);
        }
    }

    /// The options that every resource of the package has.
    pub(super) fn common_options(&self, kind: &str) -> String {
        let mut options = format!("::plumb::opts::<{kind}>()");
        match (&self.package.parameterization, &self.package.version) {
            (Some(_), _) => options.push_str(".package(&package())"),
            (None, Some(version)) => {
                let _ = write!(options, ".version({})", text::literal(&version.to_string()));
            }
            (None, None) => {}
        }
        if let (None, Some(url)) = (&self.package.parameterization, self.package.download_url) {
            let _ = write!(options, ".plugin_download_url({})", text::literal(url));
        }
        options
    }
}

/// Writes a constant for the name of each property.
fn write_properties(writer: &mut Writer, class: &str, resource: &Resource<'_>) {
    let inputs = resource.inputs.iter();
    let all = inputs.chain(&resource.outputs.properties);
    let names: BTreeSet<&str> = all.map(|it| it.name).collect();
    let mut taken = Taken::with(&["TOKEN"]);
    for name in names {
        let constant = taken.take(names::constant(name));
        writer.line(&["/// The name of a property."]);
        writer.line(&[
            "pub const ",
            &constant,
            ": ::plumb::Property<",
            class,
            "> = ::plumb::Property::new(",
            &text::literal(name),
            ");",
        ]);
    }
}

fn write_constructors(
    writer: &mut Writer,
    package: &Package<'_>,
    class: &str,
    kind: Kind,
    resource: &Resource<'_>,
) {
    let parameters = Parameters::of(&resource.inputs);
    let (bounded, used) = (parameters.bounded(), parameters.used());
    let option = format!("::plumb::Options<::plumb::kind::{}>", option_of(kind));
    writer.line(&["/// Registers the resource."]);
    writer.line(&["#[track_caller]"]);
    let open = format!(
        "pub fn new{bounded}(ctx: &::plumb::Ctx, name: &str, args: {class}Args{used}) -> Self {{"
    );
    writer.block(&[&open], "}", |writer| {
        writer.line(&["Self::with(ctx, name, args, ::plumb::opts())"]);
    });
    writer.line(&["/// Registers the resource with options."]);
    writer.line(&["#[track_caller]"]);
    let open = format!(
        "pub fn with{bounded}(ctx: &::plumb::Ctx, name: &str, args: {class}Args{used}, options: {option}) -> Self {{"
    );
    writer.block(&[&open], "}", |writer| {
        let texts = encoded(kind, &resource.inputs);
        let mutable = if texts.is_empty() { "" } else { "mut " };
        writer.line(&["let ", mutable, "inputs: ::plumb::Inputs = args.into();"]);
        if !texts.is_empty() {
            writer.line(&["inputs.into_json(&[", &texts.join(", "), "]);"]);
        }
        writer.line(&[
            "let own = ::plumb::opts()",
            &own_options(package, kind, resource),
            ";",
        ]);
        writer.line(&["let options = crate::options().merge(own).merge(options);"]);
        writer.line(&["let location = ::std::panic::Location::caller();"]);
        let call = format!(
            "{class}(ctx.{}(Self::TOKEN, name, inputs, options, location))",
            function_of(kind)
        );
        writer.line(&[&call]);
    });
    if kind == Kind::Custom {
        writer.line(&["/// Looks at a resource that exists already, with this ID."]);
        writer.line(&["#[track_caller]"]);
        let id = "id: impl ::std::convert::Into<::plumb::Input<::std::string::String>>";
        let open = format!("pub fn get(ctx: &::plumb::Ctx, name: &str, {id}) -> Self {{");
        writer.block(&[&open], "}", |writer| {
            let state = "::plumb::Inputs::new()";
            writer.line(&[
                "Self::get_with(ctx, name, id, ",
                state,
                ", ::plumb::opts())",
            ]);
        });
        writer.line(&["/// Looks at a resource that exists already, with what is known of its state, and with options."]);
        writer.line(&["#[track_caller]"]);
        let open = format!(
            "pub fn get_with(ctx: &::plumb::Ctx, name: &str, {id}, state: impl ::std::convert::Into<::plumb::Inputs>, options: {option}) -> Self {{"
        );
        writer.block(&[&open], "}", |writer| {
            writer.line(&["let id = ::plumb::IntoValue::into_value(id.into());"]);
            writer.line(&["let options = crate::options().merge(options);"]);
            writer.line(&["let location = ::std::panic::Location::caller();"]);
            let call =
                "(ctx.existing_resource(Self::TOKEN, name, id, state.into(), options, location))";
            writer.line(&[class, call]);
        });
    }
}

/// Inputs that a provider takes as JSON text.
fn encoded(kind: Kind, inputs: &[Property<'_>]) -> Vec<String> {
    let is_text = |property: &&Property<'_>| {
        !matches!(
            property.ty.kind,
            TypeKind::Primitive(Primitive::String) | TypeKind::Json
        )
    };
    match kind {
        Kind::Provider => inputs
            .iter()
            .filter(is_text)
            .map(|it| text::literal(it.name))
            .collect(),
        Kind::Custom | Kind::Component => Vec::new(),
    }
}

/// Options that the schema gives every resource of the type.
fn own_options(package: &Package<'_>, kind: Kind, resource: &Resource<'_>) -> String {
    let mut options = String::new();
    let secret = resource.outputs.properties.iter().filter(|it| it.secret);
    let secret: Vec<String> = secret.map(|it| text::literal(it.name)).collect();
    if !secret.is_empty() && kind != Kind::Component {
        let _ = write!(
            options,
            ".additional_secret_outputs([{}])",
            secret.join(", ")
        );
    }
    let replacing = package.replace_on_changes(resource);
    if !replacing.is_empty() && kind != Kind::Component {
        let paths: Vec<String> = replacing.iter().map(|it| text::literal(it)).collect();
        let _ = write!(options, ".replace_on_changes([{}])", paths.join(", "));
    }
    if !resource.aliases.is_empty() {
        let aliases = resource.aliases.iter();
        let aliases: Vec<String> = aliases
            .map(|it| format!("::plumb::Alias::new().token({})", text::literal(it.token)))
            .collect();
        let _ = write!(options, ".aliases([{}])", aliases.join(", "));
    }
    options
}
