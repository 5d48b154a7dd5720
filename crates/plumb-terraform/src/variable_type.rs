//! Types of variables: which attributes of their objects are optional, and the defaults of these.

use std::collections::BTreeMap;
use std::sync::Arc;

use hcl_edit::expr::{Expression, Object, ObjectKey};

use crate::convert::Converter;
use crate::module::Module;
use crate::scope::Scope;

/// The type of a variable, or of a part of it. Only objects and collections are told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum VariableType {
    List(Arc<VariableType>),
    Map(Arc<VariableType>),
    Object(Arc<BTreeMap<String, Attribute>>),
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

    /// Whether objects of the type may lack attributes.
    pub(crate) fn has_optional(&self) -> bool {
        match self {
            VariableType::List(inner) | VariableType::Map(inner) => inner.has_optional(),
            VariableType::Object(attributes) => attributes
                .values()
                .any(|it| it.default.is_some() || it.ty.has_optional()),
            VariableType::Other => false,
        }
    }

    /// Whether objects of the type get values that they lack.
    pub(crate) fn has_defaults(&self) -> bool {
        match self {
            VariableType::List(inner) | VariableType::Map(inner) => inner.has_defaults(),
            VariableType::Object(attributes) => attributes
                .values()
                .any(|it| it.given_default().is_some() || it.ty.has_defaults()),
            VariableType::Other => false,
        }
    }

    /// The type of values that have all that they may lack.
    pub(crate) fn without_defaults(&self) -> VariableType {
        match self {
            VariableType::List(inner) => VariableType::List(Arc::new(inner.without_defaults())),
            VariableType::Map(inner) => VariableType::Map(Arc::new(inner.without_defaults())),
            VariableType::Object(attributes) => {
                let attributes = attributes.iter().map(|(name, it)| {
                    let is_filled = it.given_default().is_some();
                    let default = it.default.clone().filter(|_| !is_filled);
                    let ty = it.ty.without_defaults();
                    (name.clone(), Attribute { ty, default })
                });
                VariableType::Object(Arc::new(attributes.collect()))
            }
            VariableType::Other => VariableType::Other,
        }
    }
}

impl Attribute {
    /// The default, if it is a value.
    pub(crate) fn given_default(&self) -> Option<&str> {
        self.default.as_deref().filter(|it| *it != "null")
    }
}

impl Converter<'_, '_> {
    /// The type that a variable of `module` declares.
    pub(crate) fn type_in(&self, module: &Module<'_>, variable: &str) -> VariableType {
        let block = module.variables.get(variable);
        let Some(ty) = block.and_then(|it| it.body.get_attribute("type")) else {
            return VariableType::Other;
        };
        let address = std::ptr::from_ref(ty).addr();
        if let Some(known) = self.context.types.borrow().get(&address) {
            return known.clone();
        }
        let read = self.read_type(&ty.value);
        let mut types = self.context.types.borrow_mut();
        types.insert(address, read.clone());
        read
    }

    fn read_type(&self, ty: &Expression) -> VariableType {
        let Expression::FuncCall(call) = ty else {
            return VariableType::Other;
        };
        match (call.name.name.as_str(), call.args.get(0)) {
            ("list" | "set", Some(inner)) => VariableType::List(Arc::new(self.read_type(inner))),
            ("map", Some(inner)) => VariableType::Map(Arc::new(self.read_type(inner))),
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
        VariableType::Object(Arc::new(attributes.collect()))
    }
}
