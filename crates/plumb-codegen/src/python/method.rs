//! Methods of resources (`codegen.md` 3.3).

use plumb_schema::bound::{Function, Method, Object, Property, Returns, Type, TypeKind, TypeShape};

use super::model::{Body, Callable, Class, Doc, Item, Parameter, Parameters, Text};
use super::names;
use super::object::Member;
use super::sdk::Sdk;
use super::types::{Form, Place, Shape};
use super::values::unique_names;

/// Parameters and properties of a result class.
struct Kept {
    names: Vec<String>,
    items: Vec<Item>,
}

impl<'p, 'd> Sdk<'p, 'd> {
    /// Object type that a function returns, inline or by reference.
    pub(super) fn returned_object<'f>(&self, function: &'f Function<'d>) -> Option<&'f Object<'d>>
    where
        'p: 'f,
    {
        match &function.returns {
            Returns::Object(object) => Some(object),
            Returns::Value(Type {
                kind: TypeKind::Defined(position),
                ..
            }) => match &self.package.types[*position].shape {
                TypeShape::Object(object) => Some(object),
                TypeShape::Enum(_) => None,
            },
            Returns::Nothing | Returns::Value(_) => None,
        }
    }

    /// A method, preceded by its result class.
    pub(super) fn method(
        &self,
        class: &str,
        method: &Method<'_>,
        place: &mut Place<'_>,
    ) -> Vec<Item> {
        let function: &'p Function<'d> = &self.package.functions[method.function];
        let object = self.returned_object(function);
        let mut items = Vec::new();
        let result = format!("{}Result", names::class(method.name));
        let has_result = object.is_some() || function.returns_plain;
        if let Some(object) = object {
            let about = self.text(object.description);
            let members = self.members(&object.properties, names::snake);
            items.push(self.result_class(&result, about, &members, place));
        } else if let (true, Returns::Value(ty)) = (has_result, &function.returns) {
            items.push(self.single_result(&result, ty, place));
        }
        let name = names::snake(method.name);
        let args = function.inputs.iter().flat_map(|inputs| &inputs.properties);
        let args: Vec<&Property<'d>> = args.filter(|it| it.name != "__self__").collect();
        let members = self.members(args, names::snake);
        let (required, optional): (Vec<_>, Vec<_>) =
            members.iter().partition(|it| it.property.required);
        let members: Vec<&Member<'_, 'd>> = required.into_iter().chain(optional).collect();
        let returns = self.method_returns(class, &result, function, object, place);
        let doc = Doc {
            text: self.text(function.description),
            parameters: self.doc_parameters(&members, Shape::Input, Form::Class, place),
        };
        let parameters = self.method_parameters(&members, place);
        let qualified = has_result.then(|| format!("{class}.{result}"));
        items.push(Item::Function(Callable {
            decorators: Vec::new(),
            body: self.method_body(&name, function, object, &members, qualified.as_deref()),
            name,
            parameters,
            returns: Some(returns),
            doc,
        }));
        items
    }

    fn method_parameters(&self, members: &[&Member<'_, 'd>], place: &mut Place<'_>) -> Parameters {
        let mut rest = Vec::new();
        if !members.is_empty() {
            rest.push(Parameter::required("*", ""));
        }
        for member in members {
            let property = member.property;
            let is_needed = property.required && !Self::has_default(property);
            let ty = self.property_type(property, is_needed, Shape::Input, Form::Class, place);
            rest.push(if is_needed {
                Parameter::required(&member.name, ty)
            } else {
                Parameter::optional(&member.name, ty)
            });
        }
        Parameters {
            first: "__self__",
            rest,
        }
    }

    fn method_returns(
        &self,
        class: &str,
        result: &str,
        function: &Function<'d>,
        object: Option<&Object<'d>>,
        place: &mut Place<'_>,
    ) -> String {
        let value = match (self.lifted(object), object, &function.returns) {
            (Some(only), ..) => {
                self.property_type(only, only.required, Shape::Output, Form::Class, place)
            }
            (None, Some(_), _) => format!("'{class}.{result}'"),
            (None, None, Returns::Value(ty)) if function.returns_plain => {
                self.level(ty, Shape::Output, Form::Class, place)
            }
            (None, None, _) => return "None".to_owned(),
        };
        if function.returns_plain {
            value
        } else {
            format!("pulumi.Output[{value}]")
        }
    }

    /// The property that replaces the result object, if the package returns single values without
    /// the object around them.
    fn lifted<'o>(&self, object: Option<&'o Object<'d>>) -> Option<&'o Property<'d>> {
        match &object?.properties[..] {
            [only] if self.settings.lift_single_value_returns => Some(only),
            _ => None,
        }
    }

    fn method_body(
        &self,
        name: &str,
        function: &Function<'d>,
        object: Option<&Object<'d>>,
        members: &[&Member<'_, 'd>],
        result: Option<&str>,
    ) -> Vec<super::model::Line> {
        let mut body = Body::default();
        if let Some(deprecation) = function.deprecation {
            self.warn(name, deprecation, &mut body);
        }
        body.line("__args__: dict[str, Any] = {}");
        body.line("__args__[\"__self__\"] = __self__");
        self.pass(members, &mut body);
        let mut arguments = format!("{}, __args__, res=__self__", names::string(function.token));
        if let Some(result) = result {
            arguments.push_str(", typ=");
            arguments.push_str(result);
        }
        if self.is_parameterized() {
            arguments.push_str(", package_ref=_utilities.get_package()");
        }
        let lifted = self.lifted(object).map(|only| names::snake(only.name));
        let member = match (&lifted, object) {
            (Some(name), _) => format!(".{name}"),
            (None, None) if function.returns_plain => ".res".to_owned(),
            _ => String::new(),
        };
        body.line(match (function.returns_plain, object) {
            (true, _) => format!("return _utilities.call_plain({arguments}){member}"),
            (false, None) => format!("pulumi.runtime.call({arguments})"),
            (false, Some(_)) => format!("return pulumi.runtime.call({arguments}){member}"),
        });
        body.lines
    }

    /// Statements that store arguments in `__args__`.
    pub(super) fn pass(&self, members: &[&Member<'_, 'd>], body: &mut Body) {
        for member in members {
            let (name, property) = (&member.name, member.property);
            self.fill_in(property, name, body);
            let constant = property.constant.as_ref().map(super::sdk::literal);
            let value = constant.unwrap_or_else(|| name.clone());
            let key = names::string(property.name);
            body.line(format!("__args__[{key}] = {value}"));
        }
    }

    /// Class of a result that consists of one value.
    fn single_result(&self, name: &str, ty: &Type<'d>, place: &mut Place<'_>) -> Item {
        let ty = self.level(ty, Shape::Output, Form::Class, place);
        let mut check = Body::default();
        check.line("pulumi.set(__self__, \"res\", res)");
        let kept = Kept {
            names: vec!["res".to_owned()],
            items: vec![Item::Property(super::model::Property {
                name: "res".to_owned(),
                getter: "@pulumi.getter".to_owned(),
                deprecation: None,
                ty,
                doc: Text::from(""),
                setter: super::model::Setter::None,
            })],
        };
        result_item(name, Text::from(""), check, kept)
    }

    /// Class of a result, whose constructor checks the types of its values.
    pub(super) fn result_class(
        &self,
        name: &str,
        about: Text,
        members: &[Member<'_, 'd>],
        place: &mut Place<'_>,
    ) -> Item {
        let mut body = Body::default();
        let mut items = Vec::with_capacity(members.len());
        for member in members {
            let name = &member.name;
            if let Some(class) = self.runtime_type(&member.property.ty) {
                let test = format!("if {name} and not isinstance({name}, {class}):");
                body.block(test, |body| {
                    let what = article(class);
                    let message = format!("Expected argument '{name}' to be {what}");
                    body.line(format!("raise TypeError({})", names::string(&message)));
                });
            }
            body.line(format!("pulumi.set(__self__, \"{name}\", {name})"));
            let setter = super::model::Setter::None;
            items.push(self.property(member, Shape::Output, setter, place));
        }
        if members.is_empty() {
            body.line("pass");
        }
        let names = unique_names(members.iter().map(|it| it.name.as_str()), str::to_owned);
        result_item(name, about, body, Kept { names, items })
    }
}

fn result_item(name: &str, about: Text, constructor: Body, kept: Kept) -> Item {
    let parameters = kept.names.into_iter();
    let parameters = parameters.map(|name| Parameter::optional(name, ""));
    let mut items = vec![Item::Function(Callable {
        decorators: Vec::new(),
        name: "__init__".to_owned(),
        parameters: Parameters {
            first: "__self__",
            rest: parameters.collect(),
        },
        returns: None,
        doc: Doc::default(),
        body: constructor.lines,
    })];
    items.extend(kept.items);
    Item::Class(Class {
        decorators: vec!["@pulumi.output_type".to_owned()],
        head: name.to_owned(),
        doc: Doc::of(about),
        items,
    })
}

/// Description of the expected value, for an error message.
fn article(class: &str) -> &'static str {
    match class {
        "_builtins.bool" => "a bool",
        "_builtins.int" => "an int",
        "_builtins.str" => "a str",
        "_builtins.list" => "a list",
        "_builtins.dict" => "a dict",
        "pulumi.Archive" => "an archive",
        "(pulumi.Asset, pulumi.Archive)" => "an asset or an archive",
        _ => "a float",
    }
}
