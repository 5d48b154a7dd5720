//! Types that variables declare, as far as they say what is optional.

use std::collections::BTreeMap;

use hcl_edit::expr::{Expression, Object, ObjectKey};

use crate::convert::Converter;
use crate::scope::Scope;

/// A type with the attributes that may be missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Declared {
    List(Box<Declared>),
    Map(Box<Declared>),
    Object(BTreeMap<String, Attribute>),
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attribute {
    pub(crate) ty: Declared,
    /// What stands for it where it is missing, as PCL; `None` if it is required.
    pub(crate) default: Option<String>,
}

impl Declared {
    /// The type of what is in a list or map.
    pub(crate) fn element(&self) -> Declared {
        match self {
            Declared::List(inner) | Declared::Map(inner) => (**inner).clone(),
            Declared::Object(_) | Declared::Other => Declared::Other,
        }
    }
}

impl Converter<'_, '_> {
    /// The type that a variable declares.
    pub(crate) fn declared(&self, variable: &str) -> Declared {
        let block = self.module.variables.get(variable);
        let ty = block.and_then(|it| it.body.get_attribute("type"));
        ty.map_or(Declared::Other, |it| self.read_type(&it.value))
    }

    fn read_type(&self, ty: &Expression) -> Declared {
        let Expression::FuncCall(call) = ty else {
            return Declared::Other;
        };
        match (call.name.name.as_str(), call.args.get(0)) {
            ("list" | "set", Some(inner)) => Declared::List(Box::new(self.read_type(inner))),
            ("map", Some(inner)) => Declared::Map(Box::new(self.read_type(inner))),
            ("optional", Some(inner)) => self.read_type(inner),
            ("object", Some(Expression::Object(object))) => self.read_object(object),
            _ => Declared::Other,
        }
    }

    fn read_object(&self, object: &Object) -> Declared {
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
        Declared::Object(attributes.collect())
    }
}
