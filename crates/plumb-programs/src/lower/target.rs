//! Target types of expressions, as far as they affect the generated code.

use std::sync::Arc;

use ecow::EcoString;
use plumb_codegen::programs::ProgramLanguage;
use plumb_pcl::{BinaryOperator, Expr, ExprKind, Type};
use plumb_schema::{
    Constant, PackageSchema, Primitive, Properties, Section, Type as SchemaType, TypeDefinition,
    TypeKind,
};

use crate::tree::{Conversion, Tree};

/// Target type of an expression.
#[derive(Clone, Debug)]
pub(super) enum Target {
    /// Any type.
    Any,
    Bool,
    Int,
    Number,
    Text,
    /// An object type of a package.
    Object {
        package: Arc<PackageSchema>,
        token: EcoString,
        ty: Type,
        /// Whether other types are accepted, too.
        is_variant: bool,
    },
    /// An enum type of a package.
    Enum {
        package: Arc<PackageSchema>,
        token: EcoString,
    },
    /// A collection of elements of a type.
    Of(Type),
    /// An object type of a setting.
    Fields(Type),
    /// A union; the expression determines its member.
    Choice(Type),
}

impl Target {
    /// Target for an expression with the required type `wanted`.
    pub(super) fn of(wanted: &Type, expr: &Expr) -> Target {
        let wanted = wanted.without_none();
        if let Type::Schema(package, schema) = &wanted {
            match &schema.kind {
                TypeKind::Reference(reference) if reference.section == Section::Type => {
                    let token: EcoString = reference.token.as_str().into();
                    let Some(package) = &package.owner_of(reference) else {
                        return Target::Any;
                    };
                    return match package.type_definition(&reference.token) {
                        Some(Ok(definition)) => match &*definition {
                            TypeDefinition::Object(_) => Target::Object {
                                package: package.clone(),
                                token,
                                ty: wanted.clone(),
                                is_variant: false,
                            },
                            TypeDefinition::Enum(_) => Target::Enum {
                                package: package.clone(),
                                token,
                            },
                        },
                        _ => Target::Any,
                    };
                }
                TypeKind::Union(union) => {
                    let elements = union.elements.as_slice();
                    return match fitting(package, elements, expr) {
                        Some(found) => {
                            let found = Type::Schema(package.clone(), found.clone());
                            Target::of(&found, expr).into_variant()
                        }
                        None => Target::Choice(wanted.clone()),
                    };
                }
                _ => {}
            }
        }
        match wanted.expand() {
            Type::Bool => Target::Bool,
            Type::Int => Target::Int,
            Type::Number => Target::Number,
            Type::String => Target::Text,
            Type::List(element) | Type::Map(element) => Target::Of(*element),
            Type::Object(_) => Target::Fields(wanted),
            Type::Union(_) => Target::Choice(wanted),
            _ => Target::Any,
        }
    }

    /// Target that is one of several types.
    fn into_variant(mut self) -> Target {
        if let Target::Object { is_variant, .. } = &mut self {
            *is_variant = true;
        }
        self
    }

    pub(super) fn of_operand(operator: BinaryOperator) -> Target {
        match operator {
            BinaryOperator::Equal | BinaryOperator::NotEqual => Target::Any,
            BinaryOperator::And | BinaryOperator::Or => Target::Bool,
            _ => Target::Number,
        }
    }

    /// Target of an element of a collection.
    pub(super) fn element(&self, item: &Expr) -> Target {
        match self {
            Target::Of(element) => Target::of(element, item),
            _ => Target::Any,
        }
    }

    /// Target of the member `name` of an object.
    pub(super) fn member(&self, name: Option<&str>, value: &Expr) -> Target {
        match (self, name) {
            (Target::Fields(ty), Some(name)) => match ty.member(name) {
                Some(ty) => Target::of(&ty, value),
                None => Target::Any,
            },
            _ => self.element(value),
        }
    }

    /// Target of a branch of a conditional.
    pub(super) fn reduced(&self, branch: &Expr) -> Target {
        match self {
            Target::Choice(ty) => Target::of(ty, branch),
            other => other.clone(),
        }
    }

    /// Literal in the form of the target; `None` if it needs none.
    pub(super) fn literal(&self, expr: &Expr) -> Option<Tree> {
        match (self, &expr.kind) {
            (Target::Bool, ExprKind::String(text)) => match text.as_str() {
                "true" => Some(Tree::Bool(true)),
                "false" => Some(Tree::Bool(false)),
                _ => None,
            },
            (Target::Int | Target::Number, ExprKind::String(text)) => {
                text.parse().ok().map(Tree::Number)
            }
            (Target::Text, ExprKind::Bool(value)) => Some(Tree::Text(value.to_string().into())),
            (Target::Text, ExprKind::Number(value)) => Some(Tree::Text(value.to_string().into())),
            (Target::Enum { package, token }, _) => member_of(package, token, expr),
            _ => None,
        }
    }

    /// Conversion of a value that is not a literal.
    pub(super) fn converted(&self, tree: Tree, from: &Type, language: ProgramLanguage) -> Tree {
        let from = from.without_none().expand();
        let conversion = match (self, from) {
            (Target::Text, Type::Bool) => Conversion::BoolToText,
            (Target::Text, Type::Int | Type::Number) => Conversion::NumberToText,
            (Target::Bool, Type::String) => Conversion::TextToBool,
            (Target::Int, Type::String) => Conversion::TextToInt,
            (Target::Number, Type::String) => Conversion::TextToNumber,
            // Go and Java convert by their own types, and JavaScript has one kind of number.
            (Target::Int, Type::Number) if language == ProgramLanguage::Python => {
                Conversion::NumberToInt
            }
            _ => return tree,
        };
        if matches!(tree, Tree::Text(_) | Tree::Bool(_) | Tree::Number(_)) {
            return tree;
        }
        Tree::Convert(conversion, Box::new(tree))
    }

    /// Whether a value needs a conversion function, which must wait for outputs.
    pub(super) fn needs_conversion(&self, expr: &Expr, language: ProgramLanguage) -> bool {
        let converted = self.converted(Tree::Null, &expr.ty, language);
        matches!(converted, Tree::Convert(..)) && self.literal(expr).is_none()
    }
}

/// Member of a union that a literal belongs to.
fn fitting<'t>(
    package: &Arc<PackageSchema>,
    elements: &'t [SchemaType],
    expr: &Expr,
) -> Option<&'t SchemaType> {
    let fits = |ty: &&SchemaType| match (&ty.kind, &expr.kind) {
        (TypeKind::Reference(reference), kind) => {
            let owner = package.owner_of(reference);
            let definition = owner
                .as_ref()
                .and_then(|it| it.type_definition(&reference.token));
            let (Some(owner), Some(Ok(definition))) = (&owner, definition) else {
                return false;
            };
            match (&*definition, kind) {
                (TypeDefinition::Object(object), ExprKind::Object(entries)) => {
                    is_of(&object.properties, entries)
                }
                (TypeDefinition::Enum(_), _) => member_of(owner, &reference.token, expr).is_some(),
                _ => false,
            }
        }
        (TypeKind::Primitive(primitive), kind) => matches!(
            (primitive, kind),
            (Primitive::Bool, ExprKind::Bool(_))
                | (Primitive::Integer | Primitive::Number, ExprKind::Number(_))
                | (
                    Primitive::String,
                    ExprKind::String(_) | ExprKind::Template(_)
                )
        ),
        (TypeKind::Array(_), ExprKind::List(_) | ExprKind::Splat(..))
        | (TypeKind::Map(_), ExprKind::Object(_)) => true,
        _ => false,
    };
    elements.iter().find(fits)
}

/// Whether an object literal matches a type with these properties, by its keys and by constant values.
fn is_of(properties: &Properties, entries: &[(Expr, Expr)]) -> bool {
    let value_of = |name: &str| {
        let mut entries = entries.iter();
        entries.find(|(key, _)| matches!(&key.kind, ExprKind::String(text) if text == name))
    };
    let has_all = properties.values().all(|property| {
        let found = value_of(&property.name);
        match (&property.constant, found) {
            (Some(Constant::String(wanted)), Some((_, value))) => {
                matches!(&value.kind, ExprKind::String(text) if text == wanted)
            }
            (_, Some(_)) => true,
            (Some(_), None) => true,
            (None, None) => !property.required,
        }
    });
    has_all
        && entries.iter().all(|(key, _)| {
            matches!(&key.kind, ExprKind::String(name) if properties.contains_key(name.as_str()))
        })
}

/// Enum member for a literal.
fn member_of(package: &Arc<PackageSchema>, token: &str, expr: &Expr) -> Option<Tree> {
    let Some(Ok(definition)) = package.type_definition(token) else {
        return None;
    };
    let TypeDefinition::Enum(it) = &*definition else {
        return None;
    };
    let value = it
        .values
        .iter()
        .find(|value| match (&value.value, &expr.kind) {
            (Constant::String(known), ExprKind::String(text)) => known == text.as_str(),
            (Constant::Number(known), ExprKind::Number(number)) => known.total_cmp(number).is_eq(),
            (Constant::Bool(known), ExprKind::Bool(flag)) => known == flag,
            _ => false,
        })?;
    Some(Tree::Member {
        package: package.clone(),
        token: token.into(),
        value: Box::new(value.clone()),
    })
}
