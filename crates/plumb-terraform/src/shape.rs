//! Shapes of values: how the package of a value names its properties.
//!
//! Terraform's providers call properties `like_this`, packages `likeThis`, and where a provider has a list of at most one
//! block, the package may have the block itself. Values that a configuration makes itself keep their names.

use std::sync::Arc;

use plumb_schema::{
    Function, PackageSchema, Properties, Property, Resource, ReturnType, Section, Type,
    TypeDefinition, TypeKind,
};

use crate::mapping::Renames;
use crate::names::camel;
use crate::variable_type::VariableType;

/// Knowledge of the structure of a value, which decides how names and indexes are converted.
#[derive(Clone, Debug, Default)]
pub(crate) enum Shape {
    /// Nothing is known; names stay as they are.
    #[default]
    Unknown,
    /// A value of a package without a schema; names become camel case, because most packages use it.
    Guessed,
    /// A text, number or boolean.
    Scalar,
    /// An object of a package.
    Object(Fields),
    List(Box<Shape>),
    Map(Box<Shape>),
    /// A value of a variable, or a part of one.
    Variable(VariableType),
    /// The outputs of a module, by its place.
    Module(usize),
    /// Expected where a value is used as a whole, with all of its attributes.
    Whole,
}

/// Properties of an object of a package.
#[derive(Clone, Debug)]
pub(crate) struct Fields {
    package: Arc<PackageSchema>,
    holder: Holder,
    renames: Option<Arc<Renames>>,
}

/// Owner of the properties of an object.
#[derive(Clone, Debug)]
pub(crate) enum Holder {
    Inputs(Arc<Resource>),
    Outputs(Arc<Resource>),
    Arguments(Arc<Function>),
    Results(Arc<Function>),
    Type(Arc<TypeDefinition>),
}

impl Shape {
    pub(crate) fn list_of(self) -> Self {
        Shape::List(Box::new(self))
    }

    pub(crate) fn map_of(self) -> Self {
        Shape::Map(Box::new(self))
    }

    /// Shape of the elements of a list or map.
    pub(crate) fn element(&self) -> Shape {
        match self {
            Shape::List(inner) | Shape::Map(inner) => (**inner).clone(),
            Shape::Variable(ty) => Shape::Variable(ty.element()),
            Shape::Whole => Shape::Whole,
            _ => Shape::Unknown,
        }
    }

    fn of_type(package: &Arc<PackageSchema>, ty: &Type, renames: Option<Arc<Renames>>) -> Self {
        match &ty.kind {
            TypeKind::Primitive(_) => Shape::Scalar,
            TypeKind::Array(inner) => Shape::of_type(package, inner, renames).list_of(),
            TypeKind::Map(inner) => Shape::of_type(package, inner, renames).map_of(),
            TypeKind::Union(union) => {
                let shapes = union.elements.iter();
                let mut shapes = shapes.map(|it| Shape::of_type(package, it, renames.clone()));
                let first = shapes.next().unwrap_or_default();
                match first {
                    Shape::Scalar => shapes
                        .find(|it| matches!(it, Shape::Object(_)))
                        .unwrap_or(first),
                    _ => first,
                }
            }
            TypeKind::Reference(reference) => {
                if reference.package.is_some() || reference.section != Section::Type {
                    return Shape::Unknown;
                }
                match package.type_definition(&reference.token) {
                    Some(Ok(definition)) => match &*definition {
                        TypeDefinition::Enum(_) => Shape::Scalar,
                        TypeDefinition::Object(_) => Shape::Object(Fields {
                            package: package.clone(),
                            holder: Holder::Type(definition),
                            renames,
                        }),
                    },
                    _ => Shape::Unknown,
                }
            }
            TypeKind::Any
            | TypeKind::Json
            | TypeKind::Asset
            | TypeKind::Archive
            | TypeKind::Invalid => Shape::Unknown,
        }
    }
}

/// A property found by its name in Terraform.
#[derive(Debug)]
pub(crate) struct Found {
    /// Its name in the package.
    pub(crate) name: String,
    pub(crate) shape: Shape,
    /// Whether the package marks its values as secret.
    pub(crate) is_secret: bool,
}

impl Fields {
    pub(crate) fn new(
        package: &Arc<PackageSchema>,
        holder: Holder,
        renames: Option<&Arc<Renames>>,
    ) -> Self {
        Fields {
            package: package.clone(),
            holder,
            renames: renames.cloned(),
        }
    }

    fn properties(&self) -> Option<&Properties> {
        match &self.holder {
            Holder::Inputs(resource) => Some(&resource.input_properties),
            Holder::Outputs(resource) => Some(&resource.properties),
            Holder::Arguments(function) => function.inputs.as_ref().map(|it| &it.properties),
            Holder::Results(function) => match &function.returns {
                ReturnType::Object(object) => Some(&object.properties),
                ReturnType::None | ReturnType::Value(_) => None,
            },
            Holder::Type(definition) => match &**definition {
                TypeDefinition::Object(object) => Some(&object.properties),
                TypeDefinition::Enum(_) => None,
            },
        }
    }

    /// Whether a property has a name in camel case.
    pub(crate) fn has_capitals(&self) -> bool {
        let mut properties = self.properties().into_iter().flat_map(Properties::values);
        properties.any(|it| it.name.contains(char::is_uppercase))
    }

    /// Number of `names` that are properties.
    pub(crate) fn count<'n>(&self, names: impl Iterator<Item = &'n str>) -> usize {
        names.filter(|name| self.find(name).is_some()).count()
    }

    /// The property that Terraform calls `name`.
    pub(crate) fn find(&self, name: &str) -> Option<Found> {
        let properties = self.properties()?;
        let rename = self.renames.as_ref().and_then(|it| it.get(name));
        let renamed = rename
            .map(|it| it.name.as_str())
            .filter(|it| !it.is_empty());
        let property = match renamed {
            Some(name) => properties.get(name),
            None => by_name(properties, name),
        }?;
        let inner = rename.and_then(crate::mapping::Rename::inner);
        Some(Found {
            name: property.name.clone(),
            shape: Shape::of_type(&self.package, &property.ty, inner),
            is_secret: property.secret,
        })
    }
}

/// The property whose name follows from `name`: in camel case, in the plural or singular, or with other capitals.
fn by_name<'p>(properties: &'p Properties, name: &str) -> Option<&'p Property> {
    let plain = camel(name);
    let forms = [
        plain.clone(),
        format!("{plain}s"),
        format!("{plain}es"),
        plain
            .strip_suffix('y')
            .map_or_else(String::new, |stem| format!("{stem}ies")),
        plain.strip_suffix('s').unwrap_or_default().to_owned(),
    ];
    let exact = forms.iter().find_map(|form| properties.get(form.as_str()));
    exact.or_else(|| {
        let mut all = properties.values();
        all.find(|it| forms.iter().any(|form| it.name.eq_ignore_ascii_case(form)))
    })
}
