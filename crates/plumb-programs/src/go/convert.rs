//! Conversions of values to what their places accept.

use super::expression::Want;
use super::helpers::Helper;
use super::kinds::Kind;
use super::printer::{Form, Printer, Value};
use super::syntax::Code;

impl Printer {
    /// Converts a value; a conversion that Go has no form for is reported.
    pub(super) fn converted(&mut self, value: Value, want: &Want) -> Value {
        match want {
            Want::Free => value,
            Want::Plain(kind) => self.as_plain(value, kind),
            Want::Input(kind) => self.as_input(value, kind),
        }
    }

    fn no_conversion(&mut self, value: &Value, kind: &Kind) -> Value {
        let form = match value.form {
            Form::Plain | Form::Constant => "plain",
            Form::Input => "input",
            Form::Output => "output",
        };
        let (wanted, given) = (name_of(kind), name_of(&value.kind));
        self.refuse(&format!(
            "the conversion of such a value (from {given}, {form}, to {wanted})"
        ))
    }

    fn as_plain(&mut self, value: Value, wanted: &Kind) -> Value {
        let done = |code: Code| Value::plain(code, wanted.clone());
        if !value.is_plain() {
            return self.no_conversion(&value, wanted);
        }
        let code = value.code.clone();
        match (wanted, &value.kind) {
            (wanted, Kind::Null) if nil_fits(wanted) => done(Code::word("nil")),
            (Kind::Any, Kind::Struct(_)) => value,
            (Kind::Any, _) => done(code),
            (wanted, kind) if wanted.is(kind) => Value {
                form: if value.form == Form::Constant {
                    Form::Constant
                } else {
                    Form::Plain
                },
                kind: wanted.clone(),
                code,
            },
            (Kind::Float, Kind::Int) if value.form == Form::Constant => done(code),
            (Kind::Float, Kind::Int) => done(Code::call("float64", vec![code])),
            (Kind::Int, Kind::Float) if value.form == Form::Plain => {
                done(Code::call("int", vec![code]))
            }
            (Kind::List(wanted), Kind::List(_)) if wanted.is(&Kind::Any) => {
                let helper = self.help(Helper::Anys);
                done(Code::call(helper, vec![code]))
            }
            (Kind::Map(wanted), Kind::Map(_)) if wanted.is(&Kind::Any) => {
                let helper = self.help(Helper::AnyMap);
                done(Code::call(helper, vec![code]))
            }
            (Kind::Text, Kind::Id) => done(Code::call("string", vec![code])),
            // Only texts and flags are the same in all programs.
            (Kind::Text, Kind::Any) => done(code.asserted("string")),
            (Kind::Bool, Kind::Any) => done(code.asserted("bool")),
            (scalar, Kind::Enum(_, _, underlying)) if scalar.is(underlying) => {
                let ty = self.plain_type(wanted);
                done(Code::call(ty, vec![code]))
            }
            (Kind::Enum(_, _, underlying), kind) if underlying.is(kind) => {
                let ty = self.plain_type(wanted);
                done(Code::call(ty, vec![code]))
            }
            (Kind::Pointer(inner), _) => {
                let inner = (**inner).clone();
                let present = self.as_plain(value, &inner);
                if let Some(name) = inner.scalar() {
                    done(Code::call(format!("pulumi.{name}Ref"), vec![present.code]))
                } else {
                    let variable = self.variable("value", present.code);
                    done(Code::Unary("&", Box::new(variable)))
                }
            }
            (_, Kind::Pointer(inner)) => {
                let inner = (**inner).clone();
                let present = Value::plain(self.value_of(code), inner);
                self.as_plain(present, wanted)
            }
            (Kind::List(_), Kind::List(_)) | (Kind::Map(_), Kind::Map(_)) => {
                self.no_conversion(&value, wanted)
            }
            _ => self.no_conversion(&value, wanted),
        }
    }

    fn as_input(&mut self, value: Value, wanted: &Kind) -> Value {
        if value.is_plain() {
            return self.plain_as_input(value, wanted);
        }
        let done = |code: Code| Value {
            code,
            kind: wanted.clone(),
            form: value.form,
        };
        let code = value.code.clone();
        match (wanted, &value.kind) {
            (Kind::Any, _) => value,
            (wanted, kind) if wanted.is(kind) => value,
            (wanted, Kind::Id) if wanted.present().is(&Kind::Text) => done(code),
            (Kind::Pointer(inner), kind) if inner.is(kind) => done(code),
            (wanted, Kind::Float) if wanted.present().is(&Kind::Int) => {
                let output = match value.form {
                    Form::Output => code,
                    _ => code.method("ToFloat64Output", Vec::new()),
                };
                let function = Code::word("func(value float64) int { return int(value) }");
                let whole = output.method("ApplyT", vec![function]);
                Value::output(whole.asserted("pulumi.IntOutput"), Kind::Int)
            }
            (wanted, Kind::Int) if wanted.present().is(&Kind::Float) => {
                let output = match value.form {
                    Form::Output => code,
                    _ => code.method("ToIntOutput", Vec::new()),
                };
                let function = Code::word("func(value int) float64 { return float64(value) }");
                let fraction = output.method("ApplyT", vec![function]);
                Value::output(fraction.asserted("pulumi.Float64Output"), Kind::Float)
            }
            (wanted, Kind::Pointer(inner)) if wanted.is(inner) && value.form == Form::Output => {
                done(code.method("Elem", Vec::new()))
            }
            (wanted, Kind::Pointer(inner)) if wanted.is(inner) && inner.is_scalar() => {
                let name = inner.scalar().unwrap_or_default();
                let output = code.method(&format!("To{name}PtrOutput"), Vec::new());
                done(output.method("Elem", Vec::new()))
            }
            (wanted, Kind::Any) if value.form == Form::Output => match wanted.present() {
                // Only texts and flags are the same in all programs.
                Kind::Text => done(code.method("AsStringOutput", Vec::new())),
                Kind::Bool => done(code.method("AsBoolOutput", Vec::new())),
                _ => self.no_conversion(&value, wanted),
            },
            _ => self.no_conversion(&value, wanted),
        }
    }

    fn plain_as_input(&mut self, value: Value, wanted: &Kind) -> Value {
        let done = |code: Code| Value::input(code, wanted.clone());
        let code = value.code.clone();
        match (wanted, &value.kind) {
            (Kind::Any, kind) => match kind {
                Kind::Null | Kind::Any => done(Code::call("pulumi.Any", vec![code])),
                Kind::Asset | Kind::Archive | Kind::Resource(..) => done(code),
                Kind::Component(..) => self.no_conversion(&value, wanted),
                Kind::Struct(_) | Kind::Object(..) | Kind::Result(_) => {
                    self.no_conversion(&value, wanted)
                }
                Kind::Pointer(inner) if !inner.is_scalar() => self.no_conversion(&value, wanted),
                kind => {
                    let kind = kind.clone();
                    // The SDK converts no collections of assets that are no literals.
                    let is_literal = matches!(code, Code::Literal { .. })
                        && matches!(&kind, Kind::List(it) | Kind::Map(it) if it.is(&Kind::Asset));
                    let stem = kind.core_stem();
                    match stem.filter(|it| {
                        !it.starts_with("AssetOrArchive") || kind.is(&Kind::Asset) || is_literal
                    }) {
                        Some(_) => {
                            let input = self.plain_as_input(value, &kind);
                            done(input.code)
                        }
                        None => done(Code::call("pulumi.Any", vec![code])),
                    }
                }
            },
            (wanted, Kind::Null) if nil_fits(wanted) => done(Code::word("nil")),
            (Kind::Asset, Kind::Asset | Kind::Archive) | (Kind::Archive, Kind::Archive) => {
                done(code)
            }
            (Kind::Pointer(inner), Kind::Pointer(given)) if inner.is(given) => {
                match inner.scalar() {
                    Some(name) => done(Code::call(format!("pulumi.{name}PtrFromPtr"), vec![code])),
                    None => self.no_conversion(&value, wanted),
                }
            }
            (Kind::Pointer(inner), _) => {
                let inner = (**inner).clone();
                let present = self.plain_as_input(value, &inner);
                done(present.code)
            }
            (_, Kind::Pointer(inner)) => {
                let inner = (**inner).clone();
                let present = Value::plain(self.value_of(code), inner);
                self.plain_as_input(present, wanted)
            }
            (Kind::Enum(..), Kind::Enum(..)) if wanted.is(&value.kind) => done(code),
            (Kind::List(element), Kind::List(given)) | (Kind::Map(element), Kind::Map(given)) => {
                let is_list = matches!(wanted, Kind::List(_));
                if !element.is(given) {
                    return self.no_conversion(&value, wanted);
                }
                let name = match (&**element, element.scalar()) {
                    (_, Some(name)) => name,
                    (Kind::Any, _) => "",
                    (inner, _) => {
                        // The SDK converts collections of scalar collections.
                        match inner.core_stem() {
                            // The SDK converts no collections of assets; literals get its type.
                            Some(stem) if stem.starts_with("AssetOrArchive") => {
                                let ty = wanted.core_stem().filter(|_| inner.is(&Kind::Asset));
                                let typed = ty.and_then(|ty| code.retyped(&format!("pulumi.{ty}")));
                                return match typed {
                                    Some(code) => done(code),
                                    None => self.no_conversion(&value, wanted),
                                };
                            }
                            Some(stem) if !matches!(inner, Kind::Pointer(_)) => {
                                let suffix = if is_list { "Array" } else { "Map" };
                                let function = format!("pulumi.To{stem}{suffix}");
                                return done(Code::call(function, vec![code]));
                            }
                            _ => return self.no_conversion(&value, wanted),
                        }
                    }
                };
                let suffix = if is_list { "Array" } else { "Map" };
                done(Code::call(format!("pulumi.To{name}{suffix}"), vec![code]))
            }
            (wanted, _) if wanted.is_scalar() || matches!(wanted, Kind::Enum(..)) => {
                let plain = self.as_plain(value, wanted);
                match wanted.scalar() {
                    Some(name) => done(Code::call(format!("pulumi.{name}"), vec![plain.code])),
                    None => done(plain.code),
                }
            }
            _ => self.no_conversion(&value, wanted),
        }
    }

    /// The output of a value.
    pub(super) fn as_output(&mut self, value: Value) -> Value {
        if value.form == Form::Output {
            return value;
        }
        let kind = match value.kind.clone() {
            Kind::Null | Kind::Struct(_) => Kind::Any,
            Kind::Enum(_, _, underlying) => *underlying,
            kind => kind,
        };
        let input = self.as_input(value, &kind);
        match kind.core_stem() {
            Some(stem) if stem.is_empty() => self.refuse("the output of such a value"),
            Some(stem) => {
                let method = format!("To{stem}Output");
                Value::output(input.code.method(&method, Vec::new()), kind)
            }
            None => self.refuse("the output of such a value"),
        }
    }
}

/// Name of a kind in messages.
fn name_of(kind: &Kind) -> String {
    match kind {
        Kind::Any => "any".to_owned(),
        Kind::Null => "null".to_owned(),
        Kind::Bool => "bool".to_owned(),
        Kind::Int => "int".to_owned(),
        Kind::Float => "number".to_owned(),
        Kind::Text | Kind::Id => "string".to_owned(),
        Kind::Asset | Kind::Archive => "asset".to_owned(),
        Kind::List(element) => format!("list({})", name_of(element)),
        Kind::Map(element) => format!("map({})", name_of(element)),
        Kind::Pointer(inner) => format!("optional({})", name_of(inner)),
        Kind::Object(_, token) | Kind::Enum(_, token, _) => token.to_string(),
        Kind::Struct(_) | Kind::Result(_) => "object".to_owned(),
        Kind::Resource(..) | Kind::Component(..) => "resource".to_owned(),
    }
}

/// Whether a missing value of the kind is `nil`.
fn nil_fits(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Any | Kind::Pointer(_) | Kind::List(_) | Kind::Map(_) | Kind::Asset | Kind::Archive
    )
}

/// Literal of a number that is not negative. Very large and very small ones have an exponent; without one, a large number would
/// be an integer that is too large for the compiler.
fn magnitude(value: f64) -> String {
    if value != 0.0 && !(1e-6..1e21).contains(&value) {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}

/// A number: an integer if it has no fraction.
pub(super) fn number(value: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let is_whole = value.fract() == 0.0 && value.abs() < EXACT;
    Value {
        code: if value < 0.0 {
            Code::Unary("-", Box::new(Code::word(magnitude(-value))))
        } else {
            Code::word(magnitude(value))
        },
        kind: if is_whole { Kind::Int } else { Kind::Float },
        form: Form::Constant,
    }
}
