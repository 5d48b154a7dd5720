//! Conversions of values to what their places accept.

use super::expression::Want;
use super::helpers::Helper;
use super::printer::{Form, Level, Printer, Value};
use crate::kinds::Kind;
use crate::layout::Doc;

impl Printer {
    /// Converts a value; a conversion that Java has no form for is reported.
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
            (Kind::Pointer(inner), Kind::Null) => {
                let empty = self.empty(inner);
                done(empty)
            }
            (_, Kind::Null) => value.of_kind(wanted.clone()),
            (Kind::Any, Kind::Pointer(_)) => done(value.method("orElse", vec!["null".into()])),
            (_, Kind::Enum(_, _, underlying)) if !matches!(wanted, Kind::Enum(..)) => {
                let kind = (**underlying).clone();
                let inner = Value::plain(value.method("getValue", Vec::new()), kind);
                self.as_plain(inner, wanted)
            }
            (Kind::Any, _) => value.of_kind(Kind::Any),
            (wanted, kind) if wanted.is(kind) => value,
            (Kind::Text, Kind::Id) => value.of_kind(Kind::Text),
            (Kind::Asset, Kind::Archive) => value.of_kind(Kind::Asset),
            (Kind::Float, Kind::Int) => match value.code.flat() {
                Some(text) if text.bytes().all(|it| it.is_ascii_digit()) => {
                    done(format!("{text}.0").into())
                }
                _ => cast("double", &value).of_kind(Kind::Float),
            },
            (Kind::Int, Kind::Float) => {
                let unboxed = cast("double", &value);
                cast("int", &unboxed).of_kind(Kind::Int)
            }
            (Kind::Pointer(inner), kind) if !matches!(kind, Kind::Pointer(_)) => {
                let present = self.as_plain(value, inner);
                let class = self.class("java.util.Optional");
                done(Doc::hugged(&format!("{class}.of("), present.code, ")"))
            }
            (Kind::Pointer(wanted_inner), Kind::Pointer(inner)) => {
                let mapped = self.mapped(&value, inner, wanted_inner);
                done(mapped)
            }
            (_, Kind::Pointer(inner)) => {
                let inner = (**inner).clone();
                let present = Value::plain(value.method("orElseThrow", Vec::new()), inner);
                self.as_plain(present, wanted)
            }
            (Kind::List(element), Kind::List(_)) if element.is(&Kind::Any) => {
                let class = self.class("java.util.List");
                let open = format!("{class}.<Object>copyOf(");
                done(Doc::hugged(&open, value.code, ")"))
            }
            (Kind::Struct(_), Kind::Struct(_)) => value.of_kind(wanted.clone()),
            (Kind::Map(element), Kind::Struct(_)) if element.is(&Kind::Any) => {
                value.of_kind(wanted.clone())
            }
            (Kind::Map(element), Kind::Map(_)) if element.is(&Kind::Any) => {
                let class = self.class("java.util.Map");
                let open = format!("{class}.<String, Object>copyOf(");
                done(Doc::hugged(&open, value.code, ")"))
            }
            (Kind::Int | Kind::Float, Kind::Any) => {
                let number = cast("Number", &value);
                let method = match wanted {
                    Kind::Int => "intValue",
                    _ => "doubleValue",
                };
                done(number.method(method, Vec::new()))
            }
            (Kind::List(element) | Kind::Map(element), Kind::Any) if has_numbers(element) => {
                self.numbers(&value, wanted, element)
            }
            (_, Kind::Any) => {
                let ty = self.type_of(wanted);
                cast(&ty, &value).of_kind(wanted.clone())
            }
            _ => self.no_conversion(&value, wanted),
        }
    }

    /// A collection of any values as one of numbers, which JSON knows no integers of.
    fn numbers(&mut self, value: &Value, wanted: &Kind, element: &Kind) -> Value {
        let is_map = matches!(wanted, Kind::Map(_));
        let scope = self.scope.open();
        let name = self.local(if is_map { "entry" } else { "it" });
        let code = if is_map {
            format!("{name}.getValue()")
        } else {
            name.clone()
        };
        let item = self.as_plain(Value::plain(code, Kind::Any), element).code;
        self.scope.close(scope);
        let collection = self.collection(value.clone(), is_map);
        let collectors = self.class("java.util.stream.Collectors");
        let code = if is_map {
            let key = lambda(&name, format!("{name}.getKey()").into());
            let open = format!(".entrySet().stream().collect({collectors}.toMap(");
            let call = Doc::arguments(&open, vec![key, lambda(&name, item)], "))");
            Doc::Row(vec![collection.at(Level::Atom), call])
        } else {
            let close = format!(").collect({collectors}.toList())");
            let call = Doc::hugged(".stream().map(", lambda(&name, item), &close);
            Doc::Row(vec![collection.at(Level::Atom), call])
        };
        Value::plain(code, wanted.clone())
    }

    /// The value in an `Optional`, converted.
    fn mapped(&mut self, value: &Value, from: &Kind, to: &Kind) -> Doc {
        let scope = self.scope.open();
        let name = self.local("it");
        let item = Value::plain(name.clone(), from.clone());
        let item = self.as_plain(item, to);
        self.scope.close(scope);
        value.method("map", vec![lambda(&name, item.code)])
    }

    fn empty(&mut self, inner: &Kind) -> Doc {
        let ty = self.type_of(inner);
        let class = self.class("java.util.Optional");
        format!("{class}.<{ty}>empty()").into()
    }

    fn as_input(&mut self, value: Value, wanted: &Kind) -> Value {
        match value.form {
            Form::Plain => self.plain_as_input(value, wanted),
            Form::Nested if matches!(wanted, Kind::Any) => value,
            Form::Nested => {
                let output = self.nested_output(value, wanted.clone());
                if output.kind.is(wanted) {
                    output
                } else {
                    self.no_conversion(&output, wanted)
                }
            }
            Form::Output => self.output_as_input(value, wanted),
        }
    }

    fn plain_as_input(&mut self, value: Value, wanted: &Kind) -> Value {
        match (wanted, &value.kind) {
            (Kind::Any, Kind::Pointer(_)) => self.as_plain(value, wanted),
            (Kind::Any, _) => value,
            (Kind::Object(..), Kind::Object(..)) => self.no_conversion(&value, wanted),
            (wanted, Kind::Pointer(inner)) => {
                let code = if wanted.is(inner) {
                    value
                } else {
                    let mapped = self.mapped(&value, inner, wanted);
                    Value::plain(mapped, wanted.clone().optional())
                };
                let nullable = code.method("orElse", vec!["null".into()]);
                let output = self.output_class();
                let open = format!("{output}.ofNullable(");
                Value::output(Doc::hugged(&open, nullable, ")"), wanted.clone())
            }
            _ => self.as_plain(value, wanted),
        }
    }

    fn output_as_input(&mut self, value: Value, wanted: &Kind) -> Value {
        if matches!(wanted, Kind::Any) {
            return value;
        }
        if matches!(
            (wanted, value.kind.present()),
            (Kind::Object(..), Kind::Object(..))
        ) {
            return self.no_conversion(&value, wanted);
        }
        if wanted.is(&value.kind) || matches!((wanted, &value.kind), (Kind::Text, Kind::Id)) {
            return value.of_kind(wanted.clone());
        }
        let scope = self.scope.open();
        let name = self.local("it");
        let item = Value::plain(name.clone(), value.kind.clone());
        let body = match &value.kind {
            Kind::Pointer(inner) if !matches!(wanted, Kind::Pointer(_)) => {
                let present = if wanted.is(inner) {
                    item
                } else {
                    let mapped = self.mapped(&item, inner, wanted);
                    Value::plain(mapped, wanted.clone().optional())
                };
                present.method("orElse", vec!["null".into()])
            }
            _ => self.as_plain(item, wanted).code,
        };
        self.scope.close(scope);
        let code = value.method("applyValue", vec![lambda(&name, body)]);
        Value::output(code, wanted.clone())
    }

    /// Output of a collection that contains outputs.
    fn nested_output(&mut self, value: Value, wanted: Kind) -> Value {
        let kind = if value.kind.is(&Kind::Any) {
            wanted
        } else {
            value.kind.clone()
        };
        if let Kind::List(element) = &kind
            && !matches!(**element, Kind::Any)
        {
            let class = self.output_class();
            let open = format!("{class}.all(");
            return Value::output(Doc::hugged(&open, value.code, ")"), kind);
        }
        let ty = self.type_of(&kind);
        let name = self.helper(Helper::OutputOf, &format!("<{ty}>"));
        let code = Doc::hugged(&format!("{name}("), value.code, ")");
        Value::output(code, kind)
    }

    /// The output of a value.
    pub(super) fn as_output(&mut self, value: Value) -> Value {
        match value.form {
            Form::Output => value,
            Form::Nested => self.nested_output(value, Kind::Any),
            Form::Plain => {
                let class = self.output_class();
                let name = if matches!(value.kind, Kind::Null) {
                    "ofNullable"
                } else {
                    "of"
                };
                let open = format!("{class}.{name}(");
                Value::output(Doc::hugged(&open, value.code, ")"), value.kind)
            }
        }
    }

    /// Value for the setter of an input whose type may be an `Either`.
    pub(super) fn for_setter(&mut self, value: Value, left: Option<Kind>) -> Doc {
        let Some(left) = left.filter(|_| value.form == Form::Output) else {
            return value.code;
        };
        let class = self.output_class();
        let side = if left.is(&value.kind) {
            "ofLeft"
        } else {
            "ofRight"
        };
        Doc::hugged(&format!("{class}.{side}("), value.code, ")")
    }
}

/// Whether the values of a kind contain numbers.
fn has_numbers(kind: &Kind) -> bool {
    match kind {
        Kind::List(element) | Kind::Map(element) => has_numbers(element),
        kind => kind.is_number(),
    }
}

/// A cast.
pub(super) fn cast(ty: &str, value: &Value) -> Value {
    let code = Doc::Row(vec![Doc::text(format!("({ty}) ")), value.at(Level::Sign)]);
    Value::plain(code, value.kind.clone()).at_level(Level::Sign)
}

/// A callback with one parameter.
pub(super) fn lambda(parameter: &str, body: Doc) -> Doc {
    Doc::Row(vec![Doc::text(format!("{parameter} -> ")), body])
}
