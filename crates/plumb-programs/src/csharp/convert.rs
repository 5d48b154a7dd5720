//! Conversions of values to what their places accept. C# converts plain values and outputs to inputs of the same type
//! by itself.

use super::helpers::Helper;
use super::printer::{Form, Level, Printer, Value};
use super::types::is_value_type;
use crate::kinds::Kind;
use crate::layout::Doc;
use crate::values::Want;

impl Printer {
    /// Converts a value; a conversion that C# has no form for is reported.
    pub(super) fn converted(&mut self, value: Value, want: &Want) -> Value {
        match want {
            Want::Free => value,
            Want::Plain(kind) => self.as_plain(value, kind),
            Want::Input(kind) => self.as_input(value, kind),
        }
    }

    fn no_conversion(&mut self, value: &Value, kind: &Kind) -> Value {
        let (given, wanted) = (self.type_of(&value.kind), self.type_of(kind));
        self.refuse(&format!(
            "the conversion of such a value (from {given} to {wanted})"
        ))
    }

    fn as_plain(&mut self, value: Value, wanted: &Kind) -> Value {
        if !value.is_plain() {
            return self.no_conversion(&value, wanted);
        }
        let done = |code: Doc| Value::plain(code, wanted.clone());
        match (wanted, &value.kind) {
            (_, Kind::Null) => value.of_kind(wanted.clone()),
            (_, Kind::Enum(_, _, underlying)) if !matches!(wanted, Kind::Enum(..)) => {
                let kind = (**underlying).clone();
                let ty = self.type_of(&kind);
                let inner = cast(&ty, &value).of_kind(kind);
                self.as_plain(inner, wanted)
            }
            (Kind::Any, _) => value.of_kind(Kind::Any),
            (wanted, kind) if wanted.is(kind) => value,
            (Kind::Text, Kind::Id) | (Kind::Asset, Kind::Archive) | (Kind::Float, Kind::Int) => {
                value.of_kind(wanted.clone())
            }
            (Kind::Int, Kind::Float) => cast("int", &value).of_kind(Kind::Int),
            (Kind::Pointer(inner), kind) if !matches!(kind, Kind::Pointer(_)) => {
                let present = self.as_plain(value, inner);
                present.of_kind(wanted.clone())
            }
            (Kind::Pointer(_), Kind::Pointer(_)) => value.of_kind(wanted.clone()),
            (_, Kind::Pointer(inner)) => {
                let inner = (**inner).clone();
                let suffix = if is_value_type(&inner) { ".Value" } else { "!" };
                let code = Doc::Row(vec![value.at(Level::Atom), suffix.into()]);
                self.as_plain(Value::plain(code, inner), wanted)
            }
            (Kind::List(element), Kind::List(_)) if element.is(&Kind::Any) => {
                self.usings.insert("System.Linq");
                let close = ".Cast<object?>().ToList()".into();
                done(Doc::Row(vec![value.at(Level::Atom), close]))
            }
            (Kind::Struct(_), Kind::Struct(_)) => value.of_kind(wanted.clone()),
            (Kind::Map(element), Kind::Struct(_)) if element.is(&Kind::Any) => {
                value.of_kind(wanted.clone())
            }
            (Kind::Map(element), Kind::Map(_)) if element.is(&Kind::Any) => {
                self.usings.insert("System.Linq");
                let close = ".ToDictionary(it => it.Key, it => (object?)it.Value)".into();
                done(Doc::Row(vec![value.at(Level::Atom), close]))
            }
            (Kind::Int | Kind::Float, Kind::Any) => {
                self.usings.insert("System");
                let method = match wanted {
                    Kind::Int => "Convert.ToInt32(",
                    _ => "Convert.ToDouble(",
                };
                done(Doc::hugged(method, value.code, ")"))
            }
            (Kind::List(element) | Kind::Map(element), Kind::Any) => {
                let is_map = matches!(wanted, Kind::Map(_));
                let ty = if is_map {
                    "IDictionary<string, object?>"
                } else {
                    "IEnumerable<object?>"
                };
                let collection = cast(ty, &value);
                self.collection_of_any(&collection, wanted, element)
            }
            (Kind::List(element), Kind::List(given)) | (Kind::Map(element), Kind::Map(given))
                if given.is(&Kind::Any) =>
            {
                self.collection_of_any(&value, wanted, element)
            }
            (Kind::Map(element), Kind::Struct(_)) => {
                self.collection_of_any(&value, wanted, element)
            }
            (_, Kind::Any) => {
                let ty = self.type_of(wanted);
                let code = Doc::Row(vec![cast(&ty, &value).code, "!".into()]);
                done(code).at_level(Level::Sign)
            }
            _ => self.no_conversion(&value, wanted),
        }
    }

    /// A collection whose elements have a type, from one of any values.
    fn collection_of_any(&mut self, collection: &Value, wanted: &Kind, element: &Kind) -> Value {
        self.usings.insert("System.Linq");
        let is_map = matches!(wanted, Kind::Map(_));
        let scope = self.scope.open();
        let name = self.local(if is_map { "entry" } else { "element" });
        let code = if is_map {
            format!("{name}.Value")
        } else {
            name.clone()
        };
        let item = self.as_plain(Value::plain(code, Kind::Any), element).code;
        self.scope.close(scope);
        let open = if is_map {
            format!(".ToDictionary({name} => {name}.Key, {name} => ")
        } else {
            format!(".Select({name} => ")
        };
        let close = if is_map { ")" } else { ").ToList()" };
        let code = Doc::Row(vec![
            collection.at(Level::Atom),
            open.into(),
            item,
            close.into(),
        ]);
        Value::plain(code, wanted.clone())
    }

    fn as_input(&mut self, value: Value, wanted: &Kind) -> Value {
        let is_object = matches!(
            (wanted, value.kind.present()),
            (Kind::Object(..), Kind::Object(..))
        );
        match value.form {
            _ if is_object => self.no_conversion(&value, wanted),
            Form::Nested => value,
            Form::Plain if matches!(wanted, Kind::Any) => value,
            Form::Plain => self.as_plain(value, wanted),
            Form::Output => self.output_as_input(value, wanted),
        }
    }

    fn output_as_input(&mut self, value: Value, wanted: &Kind) -> Value {
        let is_same = match (wanted, &value.kind) {
            (Kind::Text, Kind::Id) => true,
            (wanted, Kind::Pointer(inner)) => wanted.is(inner) && !is_value_type(inner),
            (wanted, kind) => wanted.is(kind),
        };
        if is_same {
            return value.of_kind(wanted.clone());
        }
        let scope = self.scope.open();
        let name = self.local("given");
        let item = Value::plain(name.clone(), value.kind.clone());
        let body = if matches!(wanted, Kind::Any) {
            Doc::Row(vec!["(object?)".into(), item.code])
        } else {
            self.as_plain(item, wanted).code
        };
        self.scope.close(scope);
        let code = value.method("Apply", vec![lambda(&name, body)]);
        Value::output(code, wanted.clone())
    }

    /// The output of a value.
    pub(super) fn as_output(&mut self, value: Value) -> Value {
        match value.form {
            Form::Output => value,
            Form::Nested => self.nested_output(value),
            Form::Plain if matches!(value.kind, Kind::Null) => {
                Value::output("Output.Create((object?)null)", Kind::Any)
            }
            Form::Plain => {
                Value::output(Doc::hugged("Output.Create(", value.code, ")"), value.kind)
            }
        }
    }

    /// Output of a collection that contains outputs.
    fn nested_output(&mut self, value: Value) -> Value {
        let element = match &value.kind {
            Kind::List(element) | Kind::Map(element) => (**element).clone(),
            _ => Kind::Any,
        };
        if let Kind::List(_) = value.kind
            && !matches!(element, Kind::Any | Kind::Pointer(_))
        {
            let code = Doc::hugged("Output.All(", value.code, ")");
            return Value::output(code, value.kind);
        }
        let code = self.help(Helper::OutputOf, "", vec![value.code]);
        let output = Value::output(code, Kind::Any);
        let kind = match value.kind {
            kind @ (Kind::Struct(_) | Kind::List(_)) => kind,
            kind => Kind::Struct(match kind {
                Kind::Map(_) => Vec::new(),
                _ => return output,
            }),
        };
        self.output_as_input(output, &kind)
    }
}

/// A cast.
pub(super) fn cast(ty: &str, value: &Value) -> Value {
    let code = Doc::Row(vec![format!("({ty})").into(), value.at(Level::Sign)]);
    Value::plain(code, value.kind.clone()).at_level(Level::Sign)
}

/// A callback with one parameter.
pub(super) fn lambda(parameter: &str, body: Doc) -> Doc {
    Doc::Row(vec![Doc::text(format!("{parameter} => ")), body])
}
