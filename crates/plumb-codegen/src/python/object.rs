//! Classes of objects: arguments, states, nested types (`codegen.md` 3.3, 3.4).

use plumb_schema::bound::Property;

use super::model::{
    self, Body, Callable, Class, Doc, DocParameter, Item, Parameter, Parameters, Setter, Text,
    Variable,
};
use super::names;
use super::sdk::{Sdk, literal};
use super::types::{Form, Place, Shape};
use super::values::unique_names;

/// A property with its Python name and its documentation.
pub(super) struct Member<'p, 'd> {
    pub(super) property: &'p Property<'d>,
    pub(super) name: String,
    pub(super) doc: Text,
}

/// Use of an object class.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Constructed by users.
    Given(Shape),
    /// Returned by functions or settings.
    Result,
    /// Returned by resources. Users may look for its keys by their names in other languages.
    ResourceOutput,
}

impl Role {
    fn shape(self) -> Shape {
        match self {
            Role::Given(shape) => shape,
            Role::Result | Role::ResourceOutput => Shape::Output,
        }
    }
}

impl<'d> Sdk<'_, 'd> {
    /// Properties with their Python names, in the order of the schema.
    pub(super) fn members<'p>(
        &self,
        properties: impl IntoIterator<Item = &'p Property<'d>> + Clone,
        name: fn(&str) -> String,
    ) -> Vec<Member<'p, 'd>> {
        let names = properties.clone().into_iter().map(|it| it.name);
        let names = unique_names(names, name);
        let members = properties.into_iter().zip(names);
        let members = members.map(|(property, name)| Member {
            property,
            name,
            doc: self.text(property.description),
        });
        members.collect()
    }

    /// Documentation of parameters; omits those without any.
    pub(super) fn doc_parameters(
        &self,
        members: &[&Member<'_, 'd>],
        shape: Shape,
        form: Form,
        place: &mut Place<'_>,
    ) -> Vec<DocParameter> {
        let members = members.iter().filter(|it| !it.doc.is_empty());
        let parameters = members.map(|member| DocParameter {
            name: member.name.clone(),
            ty: self.documented_type(member.property, shape, form, place),
            text: member.doc.clone(),
        });
        parameters.collect()
    }

    /// Class of an object, with required properties first.
    pub(super) fn object(
        &self,
        name: &str,
        about: &Text,
        members: &[Member<'_, 'd>],
        role: Role,
        place: &mut Place<'_>,
    ) -> Class {
        let (required, optional): (Vec<_>, Vec<_>) =
            members.iter().partition(|it| it.property.required);
        let members: Vec<&Member<'_, 'd>> = required.into_iter().chain(optional).collect();
        let shape = role.shape();
        let (decorator, head, doc) = match role {
            Role::Given(_) => ("@pulumi.input_type", name.to_owned(), Doc::default()),
            Role::Result | Role::ResourceOutput => (
                "@pulumi.output_type",
                format!("{name}(dict)"),
                Doc::of(about.clone()),
            ),
        };
        let mut items = Vec::new();
        if role == Role::ResourceOutput {
            items.extend(key_warnings(name, &members));
        }
        items.push(self.constructor(about, &members, role, place));
        for member in &members {
            let setter = match role {
                Role::Given(_) => Setter::Present,
                Role::Result | Role::ResourceOutput => Setter::None,
            };
            items.push(self.property(member, shape, setter, place));
        }
        Class {
            decorators: vec![decorator.to_owned()],
            head,
            doc,
            items,
        }
    }

    fn constructor(
        &self,
        about: &Text,
        members: &[&Member<'_, 'd>],
        role: Role,
        place: &mut Place<'_>,
    ) -> Item {
        let shape = role.shape();
        let mut parameters = Parameters {
            first: "__self__",
            rest: Vec::new(),
        };
        if !members.is_empty() {
            parameters.rest.push(Parameter::required("*", ""));
        }
        let mut body = Body::default();
        for member in members {
            let property = member.property;
            let is_needed = property.required && !Self::has_default(property);
            let ty = self.property_type(property, is_needed, shape, Form::Class, place);
            let parameter = if is_needed {
                Parameter::required(&member.name, ty)
            } else {
                Parameter::optional(&member.name, ty)
            };
            parameters.rest.push(parameter);
            self.assign(member, role, &mut body);
        }
        if members.is_empty() {
            body.line("pass");
        }
        let doc = Doc {
            text: about.clone(),
            parameters: self.doc_parameters(members, shape, Form::Class, place),
        };
        Item::Function(Callable {
            decorators: Vec::new(),
            name: "__init__".to_owned(),
            parameters,
            returns: None,
            doc,
            body: body.lines,
        })
    }

    /// Statements of the constructor that store the value of a property.
    fn assign(&self, member: &Member<'_, 'd>, role: Role, body: &mut Body) {
        let (name, property) = (&member.name, member.property);
        let is_given = matches!(role, Role::Given(_));
        if let (true, Some(deprecation)) = (is_given, property.deprecation) {
            body.block(format!("if {name} is not None:"), |body| {
                let message = names::string(&self.words(deprecation));
                body.line(format!("warnings.warn({message}, DeprecationWarning)"));
                self.warn(name, deprecation, body);
            });
        }
        self.fill_in(property, name, body);
        let value = match &property.constant {
            Some(constant) if is_given => literal(constant),
            _ => name.clone(),
        };
        let set = format!("pulumi.set(__self__, \"{name}\", {value})");
        if property.required || (is_given && property.constant.is_some()) {
            body.line(set);
        } else {
            body.block(format!("if {name} is not None:"), |body| body.line(set));
        }
    }

    /// A property with its getter.
    pub(super) fn property(
        &self,
        member: &Member<'_, 'd>,
        shape: Shape,
        setter: Setter,
        place: &mut Place<'_>,
    ) -> Item {
        let property = member.property;
        let ty = self.property_type(property, property.required, shape, Form::Class, place);
        Item::Property(self.property_of(member, ty, setter))
    }

    /// A property of type `ty`.
    pub(super) fn property_of(
        &self,
        member: &Member<'_, 'd>,
        ty: String,
        setter: Setter,
    ) -> model::Property {
        let property = member.property;
        let getter = if property.name == member.name {
            "@pulumi.getter".to_owned()
        } else {
            format!("@pulumi.getter(name={})", names::string(property.name))
        };
        let deprecation = property.deprecation.map(|deprecation| {
            let message = names::string(&self.words(deprecation));
            format!("@_utilities.deprecated({message})")
        });
        model::Property {
            name: member.name.clone(),
            getter,
            deprecation,
            ty,
            doc: member.doc.clone(),
            setter,
        }
    }

    /// Typed dictionary of an object.
    pub(super) fn dict(
        &self,
        name: &str,
        about: &Text,
        members: &[Member<'_, 'd>],
        shape: Shape,
        place: &mut Place<'_>,
    ) -> Class {
        let (required, optional): (Vec<_>, Vec<_>) =
            members.iter().partition(|it| it.property.required);
        let members = required.into_iter().chain(optional);
        let items = members.map(|member| {
            let property = member.property;
            let ty = self.property_type(property, property.required, shape, Form::Dict, place);
            Item::Variable(Variable {
                definition: format!("{}: {ty}", member.name),
                doc: member.doc.clone(),
            })
        });
        Class {
            decorators: Vec::new(),
            head: format!("{name}Dict(TypedDict)"),
            doc: Doc::of(about.clone()),
            items: items.collect(),
        }
    }
}

/// Methods that warn users who look up a property by its name in the schema, and suggest the Python
/// name.
fn key_warnings(name: &str, members: &[&Member<'_, '_>]) -> Vec<Item> {
    let renamed = members.iter().filter(|it| it.property.name != it.name);
    let renamed: Vec<_> = renamed.collect();
    if renamed.is_empty() {
        return Vec::new();
    }
    let mut body = Body::default();
    body.line("suggest = {");
    for member in renamed {
        let key = names::string(member.property.name);
        body.line(format!("    {key}: \"{}\",", member.name));
    }
    body.line("}.get(key)");
    body.block("if suggest:", |body| {
        body.line(format!(
            "pulumi.log.warn(f\"Key '{{key}}' not found in {name}. Access the value via the '{{suggest}}' property getter instead.\")"
        ));
    });
    let method = |name: &str, rest, returns: &str, decorators: Vec<String>, lines| {
        Item::Function(Callable {
            decorators,
            name: name.to_owned(),
            parameters: Parameters {
                first: rest,
                rest: Vec::new(),
            },
            returns: Some(returns.to_owned()),
            doc: Doc::default(),
            body: lines,
        })
    };
    let passing = |call: &str| {
        let mut body = Body::default();
        body.line(format!("{name}.__key_warning(key)"));
        body.line(format!("return super().{call}"));
        body.lines
    };
    vec![
        method(
            "__key_warning",
            "key: str",
            "None",
            vec!["@staticmethod".to_owned()],
            body.lines,
        ),
        method(
            "__getitem__",
            "self, key: str",
            "Any",
            Vec::new(),
            passing("__getitem__(key)"),
        ),
        method(
            "get",
            "self, key: str, default=None",
            "Any",
            Vec::new(),
            passing("get(key, default)"),
        ),
    ]
}
