//! Type expressions of settings (`codegen.md` 10.3).

use hcl_edit::expr::{Expression, FuncCall, ObjectKey};
use plumb_eval::source::Span;

use super::Binder;
use crate::types::{Field, Type};

impl Binder<'_> {
    /// Parses the type of a setting. A value of an object type at the top level may lack members, which is no error here; an
    /// expression that reads such a member has the type of a member that is there.
    pub(super) fn config_type(&mut self, text: &str, span: Span) -> Type {
        let Ok(expression) = text.parse::<Expression>() else {
            self.error(span, format!("'{text}' is no type"));
            return Type::Dynamic;
        };
        let ty = self.type_of(&expression, span);
        match ty {
            Type::Object(fields) => Type::Object(optional(fields)),
            Type::List(element) => Type::List(Box::new(outer(*element))),
            Type::Map(element) => Type::Map(Box::new(outer(*element))),
            other => other,
        }
    }

    fn type_of(&mut self, expression: &Expression, span: Span) -> Type {
        match expression {
            Expression::Parenthesis(inner) => self.type_of(inner.inner(), span),
            Expression::Variable(name) => match name.as_str() {
                "string" => Type::String,
                "bool" | "boolean" => Type::Bool,
                "number" => Type::Number,
                "int" | "integer" => Type::Int,
                "any" => Type::Dynamic,
                other => self.no_type(other, span),
            },
            Expression::FuncCall(call) => self.made_type(call, span),
            other => self.no_type(other.to_string().trim(), span),
        }
    }

    fn made_type(&mut self, call: &FuncCall, span: Span) -> Type {
        let args: Vec<&Expression> = call.args.iter().collect();
        match (call.name.name.as_str(), args.as_slice()) {
            ("list" | "set", [element]) => Type::List(Box::new(self.type_of(element, span))),
            ("map", [element]) => Type::Map(Box::new(self.type_of(element, span))),
            ("optional", [inner]) => Type::Union(vec![self.type_of(inner, span), Type::None]),
            ("tuple", [Expression::Array(items)]) => {
                Type::Tuple(items.iter().map(|it| self.type_of(it, span)).collect())
            }
            ("object", [Expression::Object(object)]) => {
                let mut fields = Vec::with_capacity(object.len());
                for (key, value) in object {
                    let name = match key {
                        ObjectKey::Ident(name) => name.as_str(),
                        ObjectKey::Expression(key) => key.as_str().unwrap_or_default(),
                    };
                    let ty = self.type_of(value.expr(), span);
                    let required =
                        !matches!(&ty, Type::Union(types) if types.contains(&Type::None));
                    fields.push(Field {
                        name: name.into(),
                        ty,
                        required,
                    });
                }
                Type::Object(fields)
            }
            (name, _) => self.no_type(name, span),
        }
    }

    fn no_type(&mut self, name: &str, span: Span) -> Type {
        self.error(span, format!("'{name}' is no type"));
        Type::Dynamic
    }
}

fn outer(ty: Type) -> Type {
    match ty {
        Type::Object(fields) => Type::Object(optional(fields)),
        other => other,
    }
}

fn optional(fields: Vec<Field>) -> Vec<Field> {
    let fields = fields.into_iter().map(|field| Field {
        required: false,
        ..field
    });
    fields.collect()
}
