//! Python types (`codegen.md` 1.5, 3.4).

use plumb_schema::bound::{External, Property, Type, TypeKind, TypeShape, Union, member_of};
use plumb_schema::{Primitive, Section};

use super::imports::{self, Imports};
use super::names;
use super::sdk::{Sdk, literal};
use super::settings::InputTypes;

/// Position in which a type is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Arguments that accept outputs at each level.
    Input,
    /// Arguments of functions that accept only plain values.
    Plain,
    /// Outputs and results.
    Output,
}

/// Form of an object type in arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The class.
    Class,
    /// The class or a dictionary, as constructors and functions accept it.
    Parameter,
    /// The typed dictionary.
    Dict,
}

/// File in which types are used.
pub(super) struct Place<'i> {
    /// Module of the file.
    pub(super) module: &'i str,
    pub(super) imports: &'i mut Imports,
}

impl Sdk<'_, '_> {
    /// Type without `Input` around it.
    fn bare(&self, ty: &Type<'_>, shape: Shape, form: Form, place: &mut Place<'_>) -> String {
        match &ty.kind {
            TypeKind::Primitive(primitive) => primitive_type(*primitive).to_owned(),
            TypeKind::Any | TypeKind::Json | TypeKind::Invalid => "Any".to_owned(),
            TypeKind::Archive => "pulumi.Archive".to_owned(),
            TypeKind::Asset => "Union[pulumi.Asset, pulumi.Archive]".to_owned(),
            TypeKind::Array(element) => {
                format!("Sequence[{}]", self.level(element, shape, form, place))
            }
            TypeKind::Map(element) => {
                format!("Mapping[str, {}]", self.level(element, shape, form, place))
            }
            TypeKind::Union(union) => self.union(union, ty.plain, shape, form, place),
            TypeKind::Defined(position) => self.defined(*position, shape, form, place),
            TypeKind::Resource(position) => {
                let token = &self.package.resources[*position].token;
                let class = Self::resource_class(token);
                Self::resource_type(
                    &self.module_of(token),
                    &self.file_name(token),
                    &class,
                    place,
                )
            }
            TypeKind::Provider => Self::resource_type("", "provider", "Provider", place),
            TypeKind::Opaque(opaque) => opaque.underlying.map_or("Any", primitive_type).to_owned(),
            TypeKind::External(external) => self.external(external, shape, form, place),
        }
    }

    /// Type at one level, with `Input` around it unless it is plain.
    pub(super) fn level(
        &self,
        ty: &Type<'_>,
        shape: Shape,
        form: Form,
        place: &mut Place<'_>,
    ) -> String {
        let text = self.bare(ty, shape, form, place);
        if shape == Shape::Input && !ty.plain && text != "Any" {
            return format!("pulumi.Input[{text}]");
        }
        text
    }

    /// Type of a property, without `Input` and `Optional` around it.
    fn property_bare(
        &self,
        property: &Property<'_>,
        shape: Shape,
        form: Form,
        place: &mut Place<'_>,
    ) -> String {
        match (&property.constant, &property.ty.kind) {
            (Some(constant), TypeKind::Primitive(primitive)) if *primitive != Primitive::Number => {
                format!("Literal[{}]", literal(constant))
            }
            _ => self.bare(&property.ty, shape, form, place),
        }
    }

    /// Type of a property.
    pub(super) fn property_type(
        &self,
        property: &Property<'_>,
        is_required: bool,
        shape: Shape,
        form: Form,
        place: &mut Place<'_>,
    ) -> String {
        let text = self.property_bare(property, shape, form, place);
        let is_input = shape == Shape::Input && !property.ty.plain && text != "Any";
        match (is_input, is_required, form) {
            (false, true, _) => text,
            (true, true, _) => format!("pulumi.Input[{text}]"),
            (false, false, Form::Dict) => format!("NotRequired[{text}]"),
            (true, false, Form::Dict) => format!("NotRequired[pulumi.Input[Optional[{text}]]]"),
            (false, false, _) => format!("Optional[{text}]"),
            (true, false, _) => format!("pulumi.Input[Optional[{text}]]"),
        }
    }

    /// Type of a property in its documentation.
    pub(super) fn documented_type(
        &self,
        property: &Property<'_>,
        shape: Shape,
        form: Form,
        place: &mut Place<'_>,
    ) -> String {
        self.property_type(property, true, shape, form, place)
            .replace("_builtins.", "")
    }

    /// Type of an argument of a function's output variant, which accepts an output only as a whole.
    pub(super) fn lifted_type(&self, property: &Property<'_>, place: &mut Place<'_>) -> String {
        let text = self.bare(&property.ty, Shape::Plain, Form::Parameter, place);
        if text == "Any" {
            "Optional[Any]".to_owned()
        } else {
            format!("pulumi.Input[Optional[{text}]]")
        }
    }

    fn union(
        &self,
        union: &Union<'_>,
        is_plain: bool,
        shape: Shape,
        form: Form,
        place: &mut Place<'_>,
    ) -> String {
        if shape == Shape::Output {
            return self.union_output(union);
        }
        let mut elements: Vec<String> = Vec::new();
        for element in &union.elements {
            // The whole union is an input, so its elements need not be inputs.
            let text = if is_plain {
                self.level(element, shape, form, place)
            } else {
                self.bare(element, shape, form, place)
            };
            if !elements.contains(&text) {
                elements.push(text);
            }
        }
        match &elements[..] {
            [only] => only.clone(),
            _ => format!("Union[{}]", elements.join(", ")),
        }
    }

    /// Result type of a union: that of its enum if it has one, or else its default type.
    fn union_output(&self, union: &Union<'_>) -> String {
        let mut elements = union.elements.iter();
        let of_enum = elements.find_map(|element| self.enum_values(element));
        of_enum
            .or(union.default)
            .map_or("Any", primitive_type)
            .to_owned()
    }

    /// Type of an enum's values; `None` for other types.
    pub(super) fn enum_values(&self, ty: &Type<'_>) -> Option<Primitive> {
        match &ty.kind {
            TypeKind::Defined(position) => match &self.package.types[*position].shape {
                TypeShape::Enum(definition) => Some(definition.underlying),
                TypeShape::Object(_) => None,
            },
            TypeKind::External(external) => external.enum_type,
            _ => None,
        }
    }

    fn defined(&self, position: usize, shape: Shape, form: Form, place: &mut Place<'_>) -> String {
        let definition = &self.package.types[position];
        let module = self.module_of(definition.token);
        match &definition.shape {
            TypeShape::Enum(_) => {
                let (prefix, kind) = prefix(&module, place);
                match kind {
                    Distance::Here => place.imports.enums = true,
                    Distance::Root => place.imports.root_enums = true,
                    Distance::Elsewhere => {}
                }
                let prefix = if kind == Distance::Root {
                    "_root_enums."
                } else {
                    &prefix
                };
                let class = names::class(member_of(definition.token));
                format!("'{prefix}{class}'")
            }
            TypeShape::Object(_) => {
                let name = self.object_name(position, shape);
                let path = object_path(&module, shape, place);
                match form {
                    Form::Class => format!("'{path}{name}'"),
                    _ if shape == Shape::Output => format!("'{path}{name}'"),
                    Form::Dict => format!("'{path}{name}Dict'"),
                    Form::Parameter if self.settings.has_dicts() => {
                        format!("Union['{path}{name}', '{path}{name}Dict']")
                    }
                    Form::Parameter => format!("pulumi.InputType['{path}{name}']"),
                }
            }
        }
    }

    /// Class of an object, in one shape.
    pub(super) fn object_name(&self, position: usize, shape: Shape) -> String {
        let name = names::object_class(member_of(self.package.types[position].token));
        let usage = self.usages[position];
        let has_older_names = self.settings.compatibility.is_older();
        match shape {
            Shape::Input => name + "Args",
            Shape::Plain if has_older_names => name + "Args",
            Shape::Output if has_older_names && usage.function => name + "Result",
            Shape::Plain | Shape::Output => name,
        }
    }

    fn resource_type(module: &str, file: &str, class: &str, place: &mut Place<'_>) -> String {
        if module.is_empty() || module == place.module {
            let dots = if module == place.module {
                ".".to_owned()
            } else {
                place.imports.root.clone()
            };
            let name = imports::resource_module(file);
            place.imports.resources.insert((dots, file.to_owned()));
            return format!("'{name}.{class}'");
        }
        let (prefix, _) = prefix(module, place);
        format!("'{prefix}{class}'")
    }

    fn external(
        &self,
        external: &External,
        shape: Shape,
        form: Form,
        place: &mut Place<'_>,
    ) -> String {
        if let (Section::Type, Some(primitive)) = (external.section, external.underlying) {
            return primitive_type(primitive).to_owned();
        }
        let package = &self.externals[external.package];
        place.imports.externals.insert(package.name.clone());
        let root = &package.name;
        let path = dotted(&package.module_of(&external.token));
        let member = member_of(&external.token);
        match external.section {
            Section::Provider => format!("'{root}.Provider'"),
            Section::Resource => format!("'{root}.{path}{}'", names::class(member)),
            Section::Type if external.enum_type.is_some() => {
                format!("'{root}.{path}{}'", names::class(member))
            }
            Section::Type => {
                let name = names::object_class(member);
                let has_args = shape == Shape::Input || package.compatibility.is_older();
                match (shape, form) {
                    (Shape::Output, _) => format!("'{root}.{path}outputs.{name}'"),
                    (_, Form::Dict) if package.input_types == Some(InputTypes::ClassesAndDicts) => {
                        let args = if has_args { "Args" } else { "" };
                        format!("'{root}.{path}{name}{args}Dict'")
                    }
                    (_, form) => {
                        let args = if has_args { "Args" } else { "" };
                        let class = format!("'{root}.{path}{name}{args}'");
                        if form == Form::Parameter {
                            format!("pulumi.InputType[{class}]")
                        } else {
                            class
                        }
                    }
                }
            }
        }
    }

    /// Classes for a run-time type check; `None` if the type cannot be checked.
    pub(super) fn runtime_type(&self, ty: &Type<'_>) -> Option<&'static str> {
        let of_primitive = |primitive| match primitive {
            Primitive::Bool => "_builtins.bool",
            Primitive::Integer => "_builtins.int",
            Primitive::Number => "(_builtins.float, _builtins.int)",
            Primitive::String => "_builtins.str",
        };
        Some(match &ty.kind {
            TypeKind::Primitive(primitive) => of_primitive(*primitive),
            TypeKind::Array(_) => "_builtins.list",
            TypeKind::Map(_) => "_builtins.dict",
            TypeKind::Archive => "pulumi.Archive",
            TypeKind::Asset => "(pulumi.Asset, pulumi.Archive)",
            TypeKind::Opaque(opaque) => of_primitive(opaque.underlying?),
            TypeKind::Defined(position) => match &self.package.types[*position].shape {
                TypeShape::Enum(definition) => of_primitive(definition.underlying),
                TypeShape::Object(_) => "_builtins.dict",
            },
            _ => return None,
        })
    }
}

/// Location of a module relative to a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Distance {
    Here,
    Root,
    Elsewhere,
}

/// Qualifier for names of a module. Adds the import that it needs.
fn prefix(module: &str, place: &mut Place<'_>) -> (String, Distance) {
    if module == place.module {
        return (String::new(), Distance::Here);
    }
    if module.is_empty() {
        return (String::new(), Distance::Root);
    }
    let first = module.split('/').next().unwrap_or(module);
    place.imports.modules.insert(first.to_owned());
    (format!("_{}", dotted(module)), Distance::Elsewhere)
}

/// Qualifier for the class of an object. Adds the import that it needs.
fn object_path(module: &str, shape: Shape, place: &mut Place<'_>) -> String {
    let (prefix, distance) = prefix(module, place);
    let is_output = shape == Shape::Output;
    match (distance, is_output) {
        (Distance::Here, true) => place.imports.outputs = true,
        (Distance::Here, false) => place.imports.inputs = true,
        (Distance::Root, true) => {
            place.imports.root_outputs = true;
            return "_root_outputs.".to_owned();
        }
        (Distance::Root, false) => {
            place.imports.root_inputs = true;
            return "_root_inputs.".to_owned();
        }
        (Distance::Elsewhere, _) => {}
    }
    if is_output {
        prefix + "outputs."
    } else {
        prefix
    }
}

/// Steps of a module, each followed by a dot.
pub(super) fn dotted(module: &str) -> String {
    let steps = module.split('/').filter(|step| !step.is_empty());
    steps.fold(String::new(), |path, step| path + step + ".")
}

fn primitive_type(primitive: Primitive) -> &'static str {
    match primitive {
        Primitive::Bool => "_builtins.bool",
        Primitive::Integer => "_builtins.int",
        Primitive::Number => "_builtins.float",
        Primitive::String => "_builtins.str",
    }
}
