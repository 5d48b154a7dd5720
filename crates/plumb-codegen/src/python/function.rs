//! Functions: a plain variant and an output variant (`codegen.md` 3.6).

use plumb_schema::Section;
use plumb_schema::bound::{Function, Property, Returns, Type, TypeKind, member_of};

use super::imports::Imports;
use super::model::{Body, Callable, Class, Doc, Item, Parameter, Parameters, SourceFile};
use super::names;
use super::object::Member;
use super::sdk::Sdk;
use super::types::{Form, Place, Shape};
use crate::GenerateError;

/// Variants of a function.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Variant {
    Plain,
    Output,
}

/// Result of a function.
enum Outcome<'p, 'd> {
    Nothing,
    /// A result class of its own, with these members.
    Class(String, Vec<Member<'p, 'd>>),
    /// The only value of the map that the provider returns.
    Single(String),
    /// An object of another package.
    External(String),
}

/// Intermediate state while the file of a function is built.
struct Lowering<'s, 'i, 'p, 'd> {
    sdk: &'s Sdk<'p, 'd>,
    function: &'p Function<'d>,
    name: String,
    members: Vec<Member<'p, 'd>>,
    result: Outcome<'p, 'd>,
    place: Place<'i>,
}

impl<'p, 'd> Sdk<'p, 'd> {
    /// File of a function.
    pub(super) fn function_file(
        &self,
        function: &'p Function<'d>,
    ) -> Result<SourceFile, GenerateError> {
        let module = self.module_of(function.token);
        let mut imports = Imports::in_module(&module);
        let mut place = Place {
            module: &module,
            imports: &mut imports,
        };
        let class = names::class(member_of(function.token));
        let mut lowering = Lowering {
            sdk: self,
            function,
            name: names::snake(&class),
            members: self.members(Self::arguments(function), names::parameter),
            result: self.result(function, &class, &mut place),
            place,
        };
        let items = lowering.items();
        let exports = lowering.exports();
        let file = self.file_name(function.token);
        let path = self.path(&module, &format!("{file}.py"))?;
        let mut lines = imports.lines(self.settings.has_dicts());
        if matches!(function.returns, Returns::Nothing) {
            lines.push("from typing import Awaitable".to_owned());
        }
        Ok(SourceFile {
            path,
            imports: lines,
            exports: Some(exports),
            items,
        })
    }

    /// The plain variant and the output variant of a function, without bodies.
    pub(super) fn function_variants(&self, function: &'p Function<'d>) -> [Option<Callable>; 2] {
        let mut imports = Imports::in_module("");
        let mut place = Place {
            module: "",
            imports: &mut imports,
        };
        let class = names::class(member_of(function.token));
        let mut lowering = Lowering {
            sdk: self,
            function,
            name: names::snake(&class),
            members: self.members(Self::arguments(function), names::parameter),
            result: self.result(function, &class, &mut place),
            place,
        };
        [Variant::Plain, Variant::Output].map(|variant| {
            let is_there = lowering.variants().contains(&variant);
            let item = is_there.then(|| lowering.variant(variant));
            item.and_then(|item| match item {
                Item::Function(callable) => Some(callable),
                _ => None,
            })
        })
    }

    /// Arguments in positional order.
    fn arguments(function: &'p Function<'d>) -> Vec<&'p Property<'d>> {
        let properties = function.inputs.iter().flat_map(|inputs| &inputs.properties);
        if function.positional.is_empty() {
            return properties.collect();
        }
        let properties: Vec<&Property<'d>> = properties.collect();
        let find = |name: &&str| properties.iter().find(|it| it.name == *name).copied();
        function.positional.iter().filter_map(find).collect()
    }

    fn result(
        &self,
        function: &'p Function<'d>,
        class: &str,
        place: &mut Place<'_>,
    ) -> Outcome<'p, 'd> {
        let package = self.package;
        match &function.returns {
            Returns::Nothing => Outcome::Nothing,
            Returns::Object(object) => Outcome::Class(
                format!("{class}Result"),
                self.members(&object.properties, names::snake),
            ),
            Returns::Value(Type {
                kind: TypeKind::Defined(position),
                ..
            }) if self.returned_object(function).is_some() => {
                let object = self.returned_object(function);
                let properties = object.map(|it| &it.properties[..]).unwrap_or_default();
                let name = names::object_class(member_of(package.types[*position].token));
                Outcome::Class(name, self.members(properties, names::snake))
            }
            Returns::Value(ty) => {
                let text = self.level(ty, Shape::Output, Form::Class, place);
                match &ty.kind {
                    TypeKind::External(it)
                        if it.section == Section::Type && it.enum_type.is_none() =>
                    {
                        Outcome::External(text)
                    }
                    _ => Outcome::Single(text),
                }
            }
        }
    }
}

impl Lowering<'_, '_, '_, '_> {
    fn variants(&self) -> Vec<Variant> {
        let mut variants = Vec::new();
        if self.function.plain || matches!(self.result, Outcome::Nothing) {
            variants.push(Variant::Plain);
        }
        if !matches!(self.result, Outcome::Nothing) {
            variants.push(Variant::Output);
        }
        variants
    }

    fn exports(&self) -> Vec<String> {
        let mut exports = Vec::new();
        if let Outcome::Class(name, _) = &self.result {
            exports.push(name.clone());
            exports.push(format!("Awaitable{name}"));
        }
        for variant in self.variants() {
            exports.push(self.variant_name(variant));
        }
        exports
    }

    fn variant_name(&self, variant: Variant) -> String {
        match variant {
            Variant::Plain => self.name.clone(),
            Variant::Output => format!("{}_output", self.name),
        }
    }

    fn items(&mut self) -> Vec<Item> {
        let mut items = Vec::new();
        if let Outcome::Class(name, members) = &self.result {
            let object = self.sdk.returned_object(self.function);
            let about = self.sdk.text(object.and_then(|it| it.description));
            items.push(self.sdk.result_class(name, about, members, &mut self.place));
            items.push(awaitable(name, members));
        }
        for variant in self.variants() {
            items.push(self.variant(variant));
        }
        items
    }

    fn variant(&mut self, variant: Variant) -> Item {
        let mut rest = Vec::new();
        for member in &self.members {
            let ty = match variant {
                Variant::Plain => self.sdk.property_type(
                    member.property,
                    false,
                    Shape::Plain,
                    Form::Parameter,
                    &mut self.place,
                ),
                Variant::Output => self.sdk.lifted_type(member.property, &mut self.place),
            };
            rest.push(Parameter::optional(&member.name, ty));
        }
        let options = match variant {
            Variant::Plain => "Optional[pulumi.InvokeOptions]",
            Variant::Output => "Optional[Union[pulumi.InvokeOptions, pulumi.InvokeOutputOptions]]",
        };
        rest.push(Parameter::optional("opts", options));
        let doc = Doc {
            text: self.sdk.text(self.function.description),
            parameters: self.sdk.doc_parameters(
                &self.members.iter().collect::<Vec<_>>(),
                Shape::Plain,
                Form::Parameter,
                &mut self.place,
            ),
        };
        Item::Function(Callable {
            decorators: Vec::new(),
            name: self.variant_name(variant),
            parameters: Parameters { first: "", rest },
            returns: Some(self.returns(variant)),
            doc,
            body: self.body(variant),
        })
    }

    fn returns(&self, variant: Variant) -> String {
        match (&self.result, variant) {
            (Outcome::Nothing, _) => "Awaitable[None]".to_owned(),
            (Outcome::Class(name, _), Variant::Plain) => format!("Awaitable{name}"),
            (Outcome::Single(ty) | Outcome::External(ty), Variant::Plain) => ty.clone(),
            (
                Outcome::Class(ty, _) | Outcome::Single(ty) | Outcome::External(ty),
                Variant::Output,
            ) => {
                format!("pulumi.Output[{ty}]")
            }
        }
    }

    fn body(&self, variant: Variant) -> Vec<super::model::Line> {
        let mut body = Body::default();
        if let Some(deprecation) = self.function.deprecation {
            self.sdk.warn(&self.name, deprecation, &mut body);
        }
        body.line("__args__: dict[str, Any] = {}");
        self.sdk
            .pass(&self.members.iter().collect::<Vec<_>>(), &mut body);
        let options = match variant {
            Variant::Plain => "InvokeOptions",
            Variant::Output => "InvokeOutputOptions",
        };
        body.line(format!(
            "opts = pulumi.{options}.merge(_utilities.get_invoke_opts_defaults(), opts)"
        ));
        let call = self.call(variant);
        match (&self.result, variant) {
            (Outcome::Class(name, members), Variant::Plain) => {
                body.line(format!("__ret__ = {call}.value"));
                body.block(format!("return Awaitable{name}("), |body| {
                    copy("__ret__", members, body);
                });
                body.line(")");
            }
            (Outcome::Class(name, members), Variant::Output) => {
                body.line(format!("__ret__ = {call}"));
                let open = format!("return __ret__.apply(lambda __response__: {name}(");
                body.block(open, |body| copy("__response__", members, body));
                body.line("))");
            }
            (Outcome::Single(_) | Outcome::External(_), Variant::Plain) => {
                body.line(format!("return {call}.value"));
            }
            (Outcome::Single(_) | Outcome::External(_), Variant::Output)
            | (Outcome::Nothing, _) => body.line(format!("return {call}")),
        }
        body.lines
    }

    fn call(&self, variant: Variant) -> String {
        let single = match &self.result {
            Outcome::Single(_) => "_single",
            _ => "",
        };
        let function = match variant {
            Variant::Plain => "invoke",
            Variant::Output => "invoke_output",
        };
        let mut arguments = format!(
            "{}, __args__, opts=opts",
            names::string(self.function.token)
        );
        match &self.result {
            Outcome::Class(ty, _) | Outcome::External(ty) => {
                arguments.push_str(", typ=");
                arguments.push_str(ty.trim_matches('\''));
            }
            Outcome::Nothing | Outcome::Single(_) => {}
        }
        if self.sdk.is_parameterized() {
            arguments.push_str(", package_ref=_utilities.get_package()");
        }
        format!("pulumi.runtime.{function}{single}({arguments})")
    }
}

/// Arguments that copy a result without calling its getters, which would log deprecation warnings.
fn copy(from: &str, members: &[Member<'_, '_>], body: &mut Body) {
    for member in members {
        let name = &member.name;
        body.line(format!("{name}=pulumi.get({from}, \"{name}\"),"));
    }
}

/// Awaitable subclass of a result. Its value is available immediately.
fn awaitable(name: &str, members: &[Member<'_, '_>]) -> Item {
    let mut body = Body::default();
    // The unreachable `yield` makes the function a generator, which `await` requires.
    body.block("if False:", |body| body.line("yield self"));
    body.block(format!("return {name}("), |body| {
        for member in members {
            body.line(format!("{0}=self.{0},", member.name));
        }
    });
    body.line(")");
    Item::Class(Class {
        decorators: Vec::new(),
        head: format!("Awaitable{name}({name})"),
        doc: Doc::default(),
        items: vec![Item::Function(Callable {
            decorators: Vec::new(),
            name: "__await__".to_owned(),
            parameters: Parameters {
                first: "self",
                rest: Vec::new(),
            },
            returns: None,
            doc: Doc::default(),
            body: body.lines,
        })],
    })
}
