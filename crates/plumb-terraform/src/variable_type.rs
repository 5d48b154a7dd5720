//! Types of variables: which attributes of their objects are optional, and the defaults of these.

use std::collections::BTreeMap;

use hcl_edit::expr::{Expression, Object, ObjectKey};

use crate::convert::Converter;
use crate::scope::Scope;

/// The type of a variable, or of a part of it. Only objects and collections are told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum VariableType {
    List(Box<VariableType>),
    Map(Box<VariableType>),
    Object(BTreeMap<String, Attribute>),
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attribute {
    pub(crate) ty: VariableType,
    /// Default of an optional attribute, as PCL; `None` if the attribute is required.
    pub(crate) default: Option<String>,
}

impl VariableType {
    /// Type of the elements of a list or map.
    pub(crate) fn element(&self) -> VariableType {
        match self {
            VariableType::List(inner) | VariableType::Map(inner) => (**inner).clone(),
            VariableType::Object(_) | VariableType::Other => VariableType::Other,
        }
    }
}

impl Converter<'_, '_> {
    /// The type that a variable declares.
    pub(crate) fn variable_type(&self, variable: &str) -> VariableType {
        let block = self.module.variables.get(variable);
        let ty = block.and_then(|it| it.body.get_attribute("type"));
        ty.map_or(VariableType::Other, |it| self.read_type(&it.value))
    }

    fn read_type(&self, ty: &Expression) -> VariableType {
        let Expression::FuncCall(call) = ty else {
            return VariableType::Other;
        };
        match (call.name.name.as_str(), call.args.get(0)) {
            ("list" | "set", Some(inner)) => VariableType::List(Box::new(self.read_type(inner))),
            ("map", Some(inner)) => VariableType::Map(Box::new(self.read_type(inner))),
            ("optional", Some(inner)) => self.read_type(inner),
            ("object", Some(Expression::Object(object))) => self.read_object(object),
            _ => VariableType::Other,
        }
    }

    fn read_object(&self, object: &Object) -> VariableType {
        let attributes = object.iter().filter_map(|(key, value)| {
            let name = match key {
                ObjectKey::Ident(name) => name.as_str(),
                ObjectKey::Expression(key) => key.as_str()?,
            };
            let default =
                match value.expr() {
                    Expression::FuncCall(call) if call.name.name.as_str() == "optional" => {
                        let default = call.args.get(1);
                        Some(default.map_or_else(
                            || "null".to_owned(),
                            |it| self.text(it, &Scope::default()),
                        ))
                    }
                    _ => None,
                };
            let ty = self.read_type(value.expr());
            Some((name.to_owned(), Attribute { ty, default }))
        });
        VariableType::Object(attributes.collect())
    }
}
