//! Conversions of values to what their places accept.

use super::expression::Want;
use super::printer::{Form, Hold, Level, Printer, Value};
use crate::kinds::Kind;
use crate::layout::Doc;

impl Printer {
    /// Converts a value; a conversion that Rust has no form for is reported.
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

    pub(super) fn as_plain(&mut self, value: Value, wanted: &Kind) -> Value {
        if !value.is_plain() {
            return self.no_conversion(&value, wanted);
        }
        let done = |code: Doc| Value::plain(code, wanted.clone());
        match (wanted, &value.kind) {
            (Kind::Pointer(_), Kind::Null) => done("None".into()),
            (Kind::Any | Kind::Null | Kind::Struct(_), Kind::Null) => value.of_kind(Kind::Any),
            (Kind::Any | Kind::Struct(_), Kind::Any | Kind::Struct(_)) => {
                value.of_kind(wanted.clone())
            }
            (Kind::Any | Kind::Struct(_), _) => {
                let code = if value.hold == Hold::Args {
                    value.code
                } else {
                    value.lent()
                };
                done(made_value(code))
            }
            (wanted, kind) if wanted.is(kind) => value,
            (Kind::Text, Kind::Id) => value.of_kind(Kind::Text),
            (Kind::Text, Kind::Enum(..)) => Value::text(value.method("as_str", Vec::new())),
            (Kind::Enum(..), Kind::Text) => {
                let ty = self.type_path(wanted);
                done(Doc::hugged(&format!("{ty}::from("), value.reference(), ")"))
            }
            (_, Kind::Enum(..)) => {
                let text = Value::text(value.method("as_str", Vec::new()));
                self.as_plain(text, wanted)
            }
            (Kind::Asset, Kind::Archive) => {
                let ty = self.type_of(wanted);
                done(Doc::hugged(
                    &format!("{ty}::from("),
                    value.owned().code,
                    ")",
                ))
            }
            (Kind::Float, Kind::Int) => match value.code.flat() {
                Some(text) if text.bytes().all(|it| it.is_ascii_digit()) => {
                    done(format!("{text}.0").into())
                }
                _ => cast(&value, "f64", Kind::Float),
            },
            (Kind::Int, Kind::Float) => cast(&value, "i64", Kind::Int),
            (Kind::Pointer(wanted_inner), Kind::Pointer(inner)) => {
                let code = self.each_inside(&value, inner, wanted_inner, ["", ".transpose()"]);
                done(code)
            }
            (Kind::Pointer(inner), kind)
                if !matches!(kind, Kind::Any | Kind::Struct(_)) || matches!(**inner, Kind::Any) =>
            {
                let present = self.as_plain(value, inner).owned();
                done(Doc::hugged("Some(", present.code, ")"))
            }
            (_, Kind::Pointer(inner)) => {
                let inner = (**inner).clone();
                let error = "|| plumb::Error::new(\"a value is missing\")";
                let present = value.owned().method("ok_or_else", vec![error.into()]);
                let present = self.fallible(present);
                self.as_plain(Value::plain(present, inner), wanted)
            }
            (Kind::List(to), Kind::List(from)) => {
                let ty = self.type_of(to);
                let items = value.owned().method("into_iter", Vec::new());
                let items = Value::plain(items, Kind::Any);
                let plain = format!(".collect::<Vec<{ty}>>()");
                let results = format!(".collect::<plumb::Result<Vec<{ty}>>>()");
                let code = self.each_inside(&items, from, to, [&plain, &results]);
                done(code)
            }
            (_, Kind::Any | Kind::Struct(_)) => {
                let ty = self.type_path(wanted);
                self.traits.insert("plumb::FromValue");
                let call = Doc::hugged(&format!("{ty}::from_value("), value.owned().code, ")");
                done(self.fallible(call))
            }
            (Kind::Map(_), Kind::Map(_)) => {
                let any = Value::plain(made_value(value.lent()), Kind::Any);
                self.as_plain(any, wanted)
            }
            _ => self.no_conversion(&value, wanted),
        }
    }

    /// Converts each value inside an option or an iterator. `ends` follow if no conversion may fail, and if one may.
    fn each_inside(&mut self, value: &Value, from: &Kind, to: &Kind, ends: [&str; 2]) -> Doc {
        let scope = self.scope.open();
        let name = self.local("it");
        let outer = std::mem::replace(&mut self.is_fallible, false);
        let item = Value::plain(name.clone(), from.clone()).held(Hold::Place);
        let item = self.as_plain(item, to).owned();
        self.scope.close(scope);
        let may_fail = std::mem::replace(&mut self.is_fallible, outer);
        let [plain, results] = ends;
        let (open, close, end) = if may_fail {
            (format!("|{name}| Ok::<_, plumb::Error>("), ")", results)
        } else {
            (format!("|{name}| "), "", plain)
        };
        let closure = Doc::hugged(&open, item.code, close);
        let mapped = value.owned().method("map", vec![closure]);
        let code = Doc::Row(vec![mapped, Doc::text(end)]);
        if may_fail { self.fallible(code) } else { code }
    }

    fn as_input(&mut self, value: Value, wanted: &Kind) -> Value {
        match value.form {
            Form::Plain => self.plain_as_input(value, wanted),
            Form::Nested => Self::nested_as_input(value, wanted),
            Form::Output => self.output_of_kind(value, wanted),
        }
    }

    fn plain_as_input(&mut self, value: Value, wanted: &Kind) -> Value {
        if value.hold == Hold::Args && matches!(wanted, Kind::Object(..)) {
            return value;
        }
        match (wanted, &value.kind) {
            (_, Kind::Null) if !matches!(wanted, Kind::Any) => {
                Value::plain("Input::unset()", wanted.clone())
            }
            (Kind::Any, Kind::Bool | Kind::Int | Kind::Float | Kind::Text | Kind::Id) => value,
            (Kind::Float, Kind::Int) | (Kind::Enum(..), Kind::Text) => value,
            (Kind::Resource(..), Kind::Resource(..)) => value,
            (Kind::Text, Kind::Enum(..)) => self.as_plain(value, wanted),
            (Kind::Asset, Kind::Asset | Kind::Archive) => value,
            (Kind::Any | Kind::Struct(_), _) => self.as_plain(value, wanted),
            (wanted, kind) if wanted.is(kind) => value,
            (_, Kind::Pointer(inner)) if wanted.is(inner) => value,
            (_, Kind::Any | Kind::Struct(_)) => untyped(value.owned().code, wanted),
            (_, Kind::List(_) | Kind::Map(_)) => untyped(made_value(value.lent()), wanted),
            _ => self.as_plain(value, wanted),
        }
    }

    fn nested_as_input(value: Value, wanted: &Kind) -> Value {
        let is_typed = is_collection(&value.kind);
        match (wanted, is_typed) {
            (Kind::Any | Kind::Struct(_), false) => value,
            (Kind::Any | Kind::Struct(_), true) => {
                let code = made_value(value.owned().code);
                Value::new(code, wanted.clone(), Form::Nested)
            }
            (wanted, true) if wanted.is(&value.kind) => value,
            (_, true) => untyped(made_value(value.owned().code), wanted),
            (_, false) => untyped(value.owned().code, wanted),
        }
    }

    /// The output of a value.
    pub(super) fn as_output(&mut self, value: Value) -> Value {
        match value.form {
            Form::Output => value,
            Form::Nested => self.nested_output(&value),
            Form::Plain => {
                let value = Self::settled(value);
                if matches!(value.kind, Kind::Resource(..)) {
                    return Value::output(value.method("to_output", Vec::new()), value.kind);
                }
                let code = match (&value.kind, value.code.flat()) {
                    (Kind::Int, Some(text)) if text.bytes().all(|it| it.is_ascii_digit()) => {
                        format!("{text}_i64").into()
                    }
                    _ => value.owned().code,
                };
                Value::output(Doc::hugged("Output::of(", code, ")"), value.kind)
            }
        }
    }

    /// Output of a collection that contains outputs.
    fn nested_output(&mut self, value: &Value) -> Value {
        let code = value.owned().code;
        match &value.kind {
            Kind::List(element) if is_collection(&value.kind) => {
                let kind = (**element).clone().list();
                let items = without_collect(code);
                Value::output(Doc::hugged("Output::join_all(", items, ")"), kind)
            }
            Kind::Map(_) if is_collection(&value.kind) => {
                let ty = self.type_of(&value.kind);
                let close = format!(")).typed::<{ty}>()");
                let open = "Output::from_value(value!(";
                let code = Doc::hugged(open, no_block(code), &close);
                Value::output(code, value.kind.clone())
            }
            kind => {
                let kind = match kind {
                    Kind::Struct(_) => kind.clone(),
                    _ => Kind::Any,
                };
                Value::output(Doc::hugged("Output::from_value(", code, ")"), kind)
            }
        }
    }

    /// The output with another type.
    pub(super) fn output_of_kind(&mut self, value: Value, wanted: &Kind) -> Value {
        let is_value = matches!(value.kind, Kind::Any | Kind::Struct(_) | Kind::Null);
        match (wanted, &value.kind) {
            (Kind::Any | Kind::Struct(_), _) if is_value => value,
            (Kind::Any | Kind::Struct(_), _) => {
                Value::output(value.method("untyped", Vec::new()), wanted.clone())
            }
            (Kind::Text, Kind::Id) => value.of_kind(Kind::Text),
            (wanted, kind) if wanted.is(kind) => value,
            // An input is unset by an output without a value.
            (_, Kind::Pointer(inner)) if wanted.is(inner) => value,
            _ => {
                let ty = self.type_of(wanted);
                let value = if is_value {
                    value
                } else {
                    Value::output(value.method("untyped", Vec::new()), Kind::Any)
                };
                let code = value.method(&format!("typed::<{ty}>"), Vec::new());
                Value::output(code, wanted.clone())
            }
        }
    }
}

/// Whether a collection of outputs is a list or a map of Rust, and not a value.
pub(super) fn is_collection(kind: &Kind) -> bool {
    matches!(kind, Kind::List(element) | Kind::Map(element)
        if !matches!(**element, Kind::Any | Kind::Struct(_) | Kind::Null))
}

/// The macro `value!` for an expression.
pub(super) fn made_value(code: Doc) -> Doc {
    Doc::hugged("value!(", no_block(code), ")")
}

/// The code, with parentheses around a block, which the macro `value!` would take for an object.
pub(super) fn no_block(code: Doc) -> Doc {
    if starts_with(&code, '{') {
        Doc::hugged("(", code, ")")
    } else {
        code
    }
}

/// Whether the first letter of code is `letter`.
fn starts_with(code: &Doc, letter: char) -> bool {
    match code {
        Doc::Text(text) => text.starts_with(letter),
        Doc::Row(pieces) | Doc::Group(pieces) => {
            pieces.first().is_some_and(|it| starts_with(it, letter))
        }
        Doc::Nest(inner) => starts_with(inner, letter),
        Doc::Line | Doc::Soft | Doc::Broken(_) | Doc::Hard => false,
    }
}

/// An input of a value whose type is not known.
fn untyped(code: Doc, kind: &Kind) -> Value {
    Value::plain(Doc::hugged("Input::from_value(", code, ")"), kind.clone())
}

/// The iterator of a list that was just collected.
fn without_collect(code: Doc) -> Doc {
    match code {
        Doc::Row(mut pieces) => {
            if matches!(pieces.last(), Some(Doc::Text(text)) if text == ".collect::<Vec<_>>()") {
                pieces.pop();
            }
            Doc::Row(pieces)
        }
        other => other,
    }
}

/// A cast.
fn cast(value: &Value, ty: &str, kind: Kind) -> Value {
    let code = Doc::Row(vec![value.at(Level::Sign), Doc::text(format!(" as {ty}"))]);
    Value::plain(code, kind).at_level(Level::Loose)
}
