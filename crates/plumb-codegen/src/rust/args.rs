//! Arguments: what resources, functions and objects are made from.

use plumb_schema::bound::{Property, Type, TypeKind, TypeShape};
use plumb_schema::{Constant, Primitive};

use super::model::{Named, Sdk, named};
use super::{names, text};
use crate::writer::Writer;

/// Names that setters cannot have.
pub(super) const RESERVED: [&str; 5] = ["new", "dynamic", "from", "into", "apply_if"];

/// Names of the generated type and of the type that it builds.
pub(super) struct Args<'a> {
    pub(super) class: String,
    pub(super) doc: String,
    /// The object that the arguments are in another one.
    pub(super) object: Option<&'a str>,
}

/// Text for the parameters of a type with required inputs.
pub(super) struct Parameters {
    /// `P0, P1`.
    names: Vec<String>,
}

impl Parameters {
    pub(super) fn of(properties: &[Property<'_>]) -> Self {
        let count = properties.iter().filter(|it| text::is_demanded(it)).count();
        Parameters {
            names: (0..count).map(|number| format!("P{number}")).collect(),
        }
    }

    /// `<P0, P1>`, or nothing.
    pub(super) fn used(&self) -> String {
        brackets(&self.names)
    }

    /// `<P0: ::plumb::generated::Provided>`, or nothing.
    pub(super) fn bounded(&self) -> String {
        let bound = |name: &String| format!("{name}: ::plumb::generated::Provided");
        brackets(&self.names.iter().map(bound).collect::<Vec<_>>())
    }

    /// `<::plumb::generated::Set, P1>` for the input number `at`.
    fn with_set(&self, at: usize) -> String {
        let mut names = self.names.clone();
        SET.clone_into(&mut names[at]);
        brackets(&names)
    }

    fn all_set(&self) -> String {
        brackets(&vec![SET.to_owned(); self.names.len()])
    }
}

const SET: &str = "::plumb::generated::Set";

fn brackets(items: &[String]) -> String {
    match items {
        [] => String::new(),
        items => format!("<{}>", items.join(", ")),
    }
}

impl<'d> Sdk<'_, 'd> {
    /// Writes a type for arguments.
    pub(super) fn write_args(
        &self,
        writer: &mut Writer,
        args: &Args<'_>,
        properties: &[Property<'d>],
    ) {
        let class = args.class.as_str();
        let parameters = Parameters::of(properties);
        let demanded: Vec<&Property<'_>> = properties
            .iter()
            .filter(|it| text::is_demanded(it))
            .collect();
        let marks: Vec<String> = demanded
            .iter()
            .zip(&parameters.names)
            .map(|(it, name)| format!("{name} = crate::missing::{}", names::snake(it.name)))
            .collect();
        writer.line(&["/// ", &args.doc]);
        let open = format!("pub struct {class}{} {{", brackets(&marks));
        writer.block(&[&open], "}", |writer| {
            writer.line(&["inputs: ::plumb::Inputs,"]);
            let state = match parameters.names.as_slice() {
                [] => "()".to_owned(),
                names => format!("({},)", names.join(", ")),
            };
            writer.line(&["state: ::std::marker::PhantomData<fn() -> ", &state, ">,"]);
        });
        writer.blank();
        self.write_start(writer, class, &parameters, properties);
        self.write_setters(writer, args, &parameters, properties);
        write_conversions(writer, args, &parameters);
    }

    /// The functions that begin: without inputs, and with all of them.
    fn write_start(
        &self,
        writer: &mut Writer,
        class: &str,
        parameters: &Parameters,
        properties: &[Property<'d>],
    ) {
        writer.line(&["#[allow(clippy::new_without_default)]"]);
        writer.block(&["impl ", class, " {"], "}", |writer| {
            writer.line(&["/// No inputs yet."]);
            writer.block(&["pub fn new() -> Self {"], "}", |writer| {
                let presets: Vec<String> =
                    properties.iter().filter_map(|it| self.preset(it)).collect();
                let mutable = if presets.is_empty() { "" } else { "mut " };
                writer.line(&["let ", mutable, "inputs = ::plumb::Inputs::new();"]);
                for preset in presets {
                    writer.line(&[&preset]);
                }
                writer.line(&[class, " { inputs, state: ::std::marker::PhantomData }"]);
            });
        });
        writer.blank();
        let complete = format!("impl {class}{} {{", parameters.all_set());
        writer.block(&[&complete], "}", |writer| {
            writer.line(&["/// Inputs that nothing checks: an object from `value!`."]);
            let open =
                "pub fn dynamic(inputs: impl ::std::convert::Into<::plumb::Inputs>) -> Self {";
            writer.block(&[open], "}", |writer| {
                let body = " { inputs: inputs.into(), state: ::std::marker::PhantomData }";
                writer.line(&[class, body]);
            });
        });
        writer.blank();
    }

    /// The line that gives an input a value before the program does.
    fn preset(&self, property: &Property<'d>) -> Option<String> {
        let name = text::literal(property.name);
        if let Some(constant) = &property.constant {
            let value = text::constant(constant);
            return Some(format!("inputs.set_value({name}, {value});"));
        }
        let variables = property
            .default_info
            .as_ref()
            .map(|it| it.environment.as_slice());
        let variables = variables.unwrap_or_default();
        if variables.is_empty() && property.default.is_none() {
            return None;
        }
        let variables: Vec<String> = variables.iter().map(|it| text::literal(it)).collect();
        let kind = self.default_kind(&property.ty, property.default.as_ref());
        let value = property
            .default
            .as_ref()
            .map_or_else(|| "::plumb::Value::Null".to_owned(), text::constant);
        Some(format!(
            "inputs.set_default({name}, &[{}], ::plumb::generated::DefaultKind::{kind}, {value});",
            variables.join(", ")
        ))
    }

    fn default_kind(&self, ty: &Type<'d>, default: Option<&Constant>) -> &'static str {
        let primitive = match &ty.kind {
            TypeKind::Primitive(primitive) => Some(*primitive),
            TypeKind::Defined(position) => match &self.package.types[*position].shape {
                TypeShape::Enum(it) => Some(it.underlying),
                TypeShape::Object(_) => None,
            },
            _ => None,
        };
        match (primitive, default) {
            (Some(Primitive::Bool), _) | (None, Some(Constant::Bool(_))) => "Bool",
            (Some(Primitive::Integer | Primitive::Number), _)
            | (None, Some(Constant::Number(_))) => "Number",
            _ => "String",
        }
    }

    fn write_setters(
        &self,
        writer: &mut Writer,
        args: &Args<'_>,
        parameters: &Parameters,
        properties: &[Property<'d>],
    ) {
        let class = args.class.as_str();
        let settable = properties.iter().filter(|it| it.constant.is_none());
        let settable = named(settable, &RESERVED);
        let used = parameters.used();
        let open = format!("impl{used} {class}{used} {{");
        writer.block(&[&open], "}", |writer| {
            let mut position = 0;
            for Named { name, property } in &settable {
                let result = if text::is_demanded(property) {
                    position += 1;
                    parameters.with_set(position - 1)
                } else {
                    used.clone()
                };
                let ty = self.type_text(&property.ty);
                let key = text::literal(property.name);
                text::doc(writer, property.description, "An input.");
                text::deprecated(writer, property.deprecation);
                let open = format!(
                    "pub fn {name}(mut self, value: impl ::std::convert::Into<::plumb::Input<{ty}>>) -> {class}{result} {{"
                );
                writer.block(&[&open], "}", |writer| {
                    // A secret inside an object makes the whole input one, which is up to the provider.
                    let is_secret = property.secret && args.object.is_none();
                    let set = if is_secret { "set_secret" } else { "set" };
                    writer.line(&["self.inputs.", set, "::<", &ty, ">(", &key, ", value);"]);
                    let body = " { inputs: self.inputs, state: ::std::marker::PhantomData }";
                    writer.line(&[class, body]);
                });
            }
            writer.line(&["/// Applies `change` if `condition` holds."]);
            let open = "pub fn apply_if(self, condition: bool, change: impl FnOnce(Self) -> Self) -> Self {";
            writer.block(&[open], "}", |writer| {
                writer.line(&["if condition { change(self) } else { self }"]);
            });
        });
        writer.blank();
    }
}

/// Conversion of complete arguments.
fn write_conversions(writer: &mut Writer, args: &Args<'_>, parameters: &Parameters) {
    let (bounded, used, class) = (parameters.bounded(), parameters.used(), &args.class);
    let open = format!("impl{bounded} ::plumb::IntoValue for {class}{used} {{");
    writer.block(&[&open], "}", |writer| {
        writer.block(
            &["fn into_value(self) -> ::plumb::Value {"],
            "}",
            |writer| {
                writer.line(&["::plumb::IntoValue::into_value(self.inputs)"]);
            },
        );
    });
    writer.blank();
    let mut write = |target: &str, value: &str| {
        let open = format!("impl{bounded} ::std::convert::From<{class}{used}> for {target} {{");
        writer.block(&[&open], "}", |writer| {
            let open = format!("fn from(args: {class}{used}) -> Self {{");
            writer.block(&[&open], "}", |writer| writer.line(&[value]));
        });
        writer.blank();
    };
    write("::plumb::Inputs", "args.inputs");
    if let Some(object) = args.object {
        let target = format!("::plumb::Input<{object}>");
        write(
            &target,
            "::plumb::Input::from_value(::plumb::IntoValue::into_value(args.inputs))",
        );
    }
}
