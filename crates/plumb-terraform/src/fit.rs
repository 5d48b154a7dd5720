//! Values in the form that their place expects.
//!
//! The value of a variable has the names of the configuration, and lacks attributes that are left to their defaults.
//! Where an attribute is used, its name and default are written there. Where the whole value is used, it is made again:
//! with the names of a package's object, or with the defaults.

use hcl_edit::expr::Expression;
use plumb_eval::hcl;

use crate::convert::Converter;
use crate::scope::{Scope, Typed};
use crate::shape::{Fields, Shape};
use crate::variable_type::{Attribute, VariableType};

impl Converter<'_, '_> {
    /// The value of `expression` in the form of `wanted`. Notes names that cannot be brought into that form.
    pub(crate) fn fitted_to(
        &self,
        expression: &Expression,
        value: Typed,
        wanted: &Shape,
        scope: &Scope,
    ) -> Typed {
        if has_other_names(wanted) && is_unknown(&value.shape) {
            let text =
                "the names in this value stay as they are; the package writes them in camel case";
            self.note_of(expression, text);
        }
        self.fitted(value, wanted, scope)
    }

    /// `value` in the form of `wanted`, as far as both are known.
    pub(crate) fn fitted(&self, value: Typed, wanted: &Shape, scope: &Scope) -> Typed {
        match (wanted, &value.shape) {
            (Shape::Whole, Shape::Variable(ty)) if ty.has_defaults() => {
                let text = self.with_defaults(&value.text, ty, scope);
                Typed::new(text, Shape::Variable(ty.without_defaults()))
            }
            (Shape::List(inner), Shape::Variable(VariableType::Object(_)))
                if matches!(**inner, Shape::Object(_)) =>
            {
                let one = self.fitted(value, inner, scope);
                Typed::new(format!("[{}]", one.text), wanted.clone())
            }
            (_, Shape::Variable(ty)) if has_names(wanted, ty) => {
                let text = self.renamed(&value.text, wanted, ty, scope);
                Typed::new(text, wanted.clone())
            }
            (Shape::Scalar | Shape::Object(_), Shape::List(inner)) => {
                let shape = (**inner).clone();
                Typed::new(format!("singleOrNone({})", value.text), shape)
            }
            (Shape::List(_), Shape::Object(_) | Shape::Scalar) => {
                let text = format!("[{}]", value.text);
                Typed::new(text, value.shape.list_of())
            }
            _ => value,
        }
    }

    /// A value of type `ty` whose objects have the defaults that they lack.
    fn with_defaults(&self, value: &str, ty: &VariableType, scope: &Scope) -> String {
        let text = match ty {
            VariableType::List(inner) => each_item(value, scope, |item, scope| {
                self.with_defaults(item, inner, scope)
            }),
            VariableType::Map(inner) => each_entry(value, scope, |item, scope| {
                self.with_defaults(item, inner, scope)
            }),
            VariableType::Object(attributes) => {
                let entries = attributes.iter().map(|(name, attribute)| {
                    let inner = access(value, name, attribute);
                    let inner = if attribute.ty.has_defaults() {
                        self.with_defaults(&inner, &attribute.ty, scope)
                    } else {
                        inner
                    };
                    (hcl::key(name), inner)
                });
                hcl::object(&entries.collect::<Vec<_>>())
            }
            VariableType::Other => return value.to_owned(),
        };
        self.unless_null(value, text)
    }

    /// A value of type `ty` with the names that the objects of `wanted` have.
    fn renamed(&self, value: &str, wanted: &Shape, ty: &VariableType, scope: &Scope) -> String {
        let text = match (wanted, ty) {
            (Shape::List(wanted), VariableType::List(ty)) => {
                each_item(value, scope, |item, scope| {
                    self.renamed(item, wanted, ty, scope)
                })
            }
            (Shape::Map(wanted), VariableType::Map(ty)) => {
                each_entry(value, scope, |item, scope| {
                    self.renamed(item, wanted, ty, scope)
                })
            }
            (Shape::Object(_), VariableType::List(ty)) => {
                let items = each_item(value, scope, |item, scope| {
                    self.renamed(item, wanted, ty, scope)
                });
                format!("singleOrNone({items})")
            }
            (Shape::Object(fields), VariableType::Object(attributes)) => {
                let entries = attributes.iter();
                let entries = entries.map(|(name, it)| self.entry(value, fields, name, it, scope));
                hcl::object(&entries.collect::<Vec<_>>())
            }
            _ => return value.to_owned(),
        };
        self.unless_null(value, text)
    }

    /// An attribute of a variable's object as the property of a package's object.
    fn entry(
        &self,
        object: &str,
        fields: &Fields,
        name: &str,
        attribute: &Attribute,
        scope: &Scope,
    ) -> (String, String) {
        let value = access(object, name, attribute);
        let value = Typed::new(value, Shape::Variable(attribute.ty.clone()));
        match fields.find(name) {
            Some(found) => {
                let fitted = self.fitted(value, &found.shape, scope);
                (hcl::key(&found.name), fitted.text)
            }
            None => (hcl::key(&crate::names::camel(name)), value.text),
        }
    }

    /// `text`, which is made of `value`; null if that is null and may be.
    fn unless_null(&self, value: &str, text: String) -> String {
        let may_be_null = value.ends_with(", null)") || self.is_null_by_default(value);
        if may_be_null {
            format!("{value} == null ? null : {text}")
        } else {
            text
        }
    }

    /// Whether `name` is a variable of the module whose default is null.
    fn is_null_by_default(&self, name: &str) -> bool {
        self.module.variables.iter().any(|(variable, block)| {
            let declared = crate::names::Declared::Variable((*variable).to_owned());
            let default = block.body.get_attribute("default");
            self.module.names.get(&declared) == Some(name)
                && default.is_some_and(|it| it.value.is_null())
        })
    }
}

/// An attribute of an object, or its default.
pub(crate) fn access(object: &str, name: &str, attribute: &Attribute) -> String {
    match &attribute.default {
        Some(default) => format!("lookup({object}, {}, {default})", hcl::quoted(name)),
        None => member(object, name),
    }
}

/// An attribute that is there.
pub(crate) fn member(object: &str, name: &str) -> String {
    if hcl::is_identifier(name) {
        format!("{object}.{name}")
    } else {
        format!("{object}[{}]", hcl::quoted(name))
    }
}

/// Whether `wanted` has objects with names that Terraform spells differently.
fn has_other_names(wanted: &Shape) -> bool {
    match wanted {
        Shape::List(inner) | Shape::Map(inner) => has_other_names(inner),
        Shape::Object(fields) => fields.has_capitals(),
        _ => false,
    }
}

/// Whether a value may be an object of which nothing is known.
fn is_unknown(shape: &Shape) -> bool {
    match shape {
        Shape::Unknown | Shape::Variable(VariableType::Other) => true,
        Shape::List(inner) | Shape::Map(inner) => is_unknown(inner),
        _ => false,
    }
}

/// Whether a value of type `ty` has objects whose names `wanted` may spell differently.
fn has_names(wanted: &Shape, ty: &VariableType) -> bool {
    match (wanted, ty) {
        (Shape::List(wanted), VariableType::List(ty))
        | (Shape::Map(wanted), VariableType::Map(ty)) => has_names(wanted, ty),
        (Shape::Object(_), VariableType::List(ty)) => has_names(wanted, ty),
        (Shape::Object(_), VariableType::Object(_)) => true,
        _ => false,
    }
}

fn each_item(list: &str, scope: &Scope, item: impl FnOnce(&str, &Scope) -> String) -> String {
    let (name, inner) = scope.with_fresh("item");
    format!("[for {name} in {list} : {}]", item(&name, &inner))
}

fn each_entry(map: &str, scope: &Scope, item: impl FnOnce(&str, &Scope) -> String) -> String {
    let (key, inner) = scope.with_fresh("key");
    let (name, inner) = inner.with_fresh("item");
    format!(
        "{{ for {key}, {name} in {map} : {key} => {} }}",
        item(&name, &inner)
    )
}
