//! Expressions in C#.
//!
//! An expression is printed together with its [`Kind`] and form, because types decide about conversions.

use ecow::EcoString;
use plumb_pcl::{BinaryOperator, UnaryOperator};
use plumb_schema::Constant;

use super::CSHARP;
use super::convert::{cast, lambda};
use super::printer::{Form, Level, Printer, Value};
use super::types::is_value_type;
use crate::kinds::Kind;
use crate::layout::Doc;
use crate::tree::{Conversion, Tree};
use crate::values::{Want, number, symbol};

impl Printer {
    /// Prints an expression in the form that a place accepts.
    pub(super) fn value(&mut self, tree: &Tree, want: &Want) -> Value {
        let value = match tree {
            Tree::List(items) => return self.list(items, want),
            Tree::Map(entries) => return self.map(entries, want),
            Tree::Object(object) => return self.object(object, false),
            Tree::Conditional(it) => self.conditional(it, want),
            Tree::For(it) => self.loop_of(it, want),
            other => self.free(other),
        };
        self.converted(value, want)
    }

    pub(super) fn plain(&mut self, tree: &Tree, kind: Kind) -> Value {
        self.value(tree, &Want::Plain(kind))
    }

    /// Prints an expression in its own form.
    pub(super) fn any(&mut self, tree: &Tree) -> Value {
        self.value(tree, &Want::Free)
    }

    fn free(&mut self, tree: &Tree) -> Value {
        match tree {
            Tree::Null => Value::plain("null", Kind::Null),
            Tree::Bool(flag) => Value::plain(flag.to_string(), Kind::Bool),
            Tree::Number(value) => number(*value),
            Tree::Text(text) => Value::plain(CSHARP.string(text), Kind::Text),
            Tree::Template(parts) => {
                let text = self.interpolated(parts, false);
                Value::plain(text, Kind::Text)
            }
            Tree::Interpolation(parts, _) => {
                let text = self.interpolated(parts, true);
                Value::output(Doc::hugged("Output.Format(", text, ")"), Kind::Text)
            }
            Tree::Member {
                package,
                token,
                value,
            } => match Printer::names_of(package).enum_member(token, value) {
                Some(member) => {
                    let class = self.class(package, |it| it.class(package, token));
                    let underlying = match &value.value {
                        Constant::Bool(_) => Kind::Bool,
                        Constant::Number(_) => Kind::Float,
                        Constant::String(_) => Kind::Text,
                    };
                    let kind = Kind::Enum(package.clone(), token.clone(), Box::new(underlying));
                    Value::plain(format!("{class}.{member}"), kind)
                }
                None => match &value.value {
                    Constant::Bool(flag) => Value::plain(flag.to_string(), Kind::Bool),
                    Constant::Number(value) => number(*value),
                    Constant::String(text) => Value::plain(CSHARP.string(text), Kind::Text),
                },
            },
            Tree::Definition(position) => match self.definitions[*position].clone() {
                Some(value) => value,
                None => self.refuse("a reference to what has no form"),
            },
            Tree::Variable(name) => match self.scope.variable(name) {
                Some(value) => value.clone(),
                None => self.refuse(&format!("the variable {name}")),
            },
            Tree::RangeKey | Tree::RangeValue => match self.range.clone() {
                Some([key, _]) if matches!(tree, Tree::RangeKey) => key,
                Some([_, value]) => value,
                None => self.refuse("a range outside of a resource"),
            },
            Tree::Property(receiver, name, _) => {
                let receiver = self.any(receiver);
                self.property(receiver, name)
            }
            Tree::Key(receiver, name, _) => {
                let receiver = self.any(receiver);
                self.key(receiver, name)
            }
            Tree::Index(receiver, index, _) => self.index(receiver, index),
            Tree::Unary(operator, operand) => self.unary(*operator, operand),
            Tree::Binary(operator, operands) => self.binary(*operator, operands),
            Tree::Call(function, args) => self.call(*function, args),
            Tree::Invoke(invoke) => self.invoke(invoke),
            Tree::OwnComponent => Value::plain("this", Kind::Resource(None, String::new())),
            Tree::Method(method) => self.method(method),
            Tree::Apply(params, body) => self.apply(params, body),
            Tree::AsOutput(inner) => {
                let value = self.any(inner);
                self.as_output(value)
            }
            Tree::Present(inner) => self.free(inner),
            Tree::Convert(conversion, inner) => self.conversion(*conversion, inner),
            Tree::List(_)
            | Tree::Map(_)
            | Tree::Object(_)
            | Tree::Conditional(_)
            | Tree::For(_) => self.value(tree, &Want::Free),
        }
    }

    fn conditional(&mut self, parts: &[Tree; 3], want: &Want) -> Value {
        let [condition, yes, no] = parts;
        let condition = self.plain(condition, Kind::Bool).at(Level::Or);
        let branches = [self.value(yes, want), self.value(no, want)];
        let kind = match want {
            Want::Free => branches[0].kind.or(&branches[1].kind),
            Want::Plain(kind) | Want::Input(kind) => kind.clone(),
        };
        let is_plain = branches.iter().all(Value::is_plain);
        let [yes, no] = branches.map(|branch| {
            if !is_plain {
                let branch = self.converted(branch, &Want::Input(kind.clone()));
                return self.as_output(branch).at(Level::Or);
            }
            let branch = self.converted(branch, &Want::Plain(kind.clone()));
            let needs_type = match &kind {
                Kind::Pointer(inner) => is_value_type(inner),
                kind => matches!(kind, Kind::Any),
            };
            if needs_type {
                // The branches have no type in common otherwise.
                let ty = match self.type_of(&kind) {
                    ty if ty == "object" => "object?".to_owned(),
                    ty => ty,
                };
                cast(&ty, &branch).at(Level::Or)
            } else {
                branch.at(Level::Or)
            }
        });
        let code = Doc::Row(vec![condition, " ? ".into(), yes, " : ".into(), no]);
        let form = if is_plain { Form::Plain } else { Form::Output };
        Value::new(code, kind, form).at_level(Level::Loose)
    }

    fn unary(&mut self, operator: UnaryOperator, operand: &Tree) -> Value {
        let (sign, value) = match operator {
            UnaryOperator::Not => ("!", self.plain(operand, Kind::Bool)),
            UnaryOperator::Negate => {
                let value = self.any(operand);
                ("-", self.as_number(value))
            }
        };
        let code = Doc::Row(vec![sign.into(), value.at(Level::Atom)]);
        Value::plain(code, value.kind).at_level(Level::Sign)
    }

    /// A plain number.
    fn as_number(&mut self, value: Value) -> Value {
        let kind = match value.kind.present() {
            Kind::Int => Kind::Int,
            _ => Kind::Float,
        };
        self.converted(value, &Want::Plain(kind))
    }

    fn binary(&mut self, operator: BinaryOperator, operands: &[Tree; 2]) -> Value {
        let [left, right] = operands;
        let Some((symbol, level, above)) = symbol(operator) else {
            return self.comparison(operator == BinaryOperator::Equal, left, right);
        };
        let is_logic = matches!(operator, BinaryOperator::And | BinaryOperator::Or);
        let (mut left, right) = if is_logic {
            (self.plain(left, Kind::Bool), self.plain(right, Kind::Bool))
        } else {
            let (left, right) = (self.any(left), self.any(right));
            (self.as_number(left), self.as_number(right))
        };
        let mut kind = match level {
            Level::Add | Level::Multiply => left.kind.or(&right.kind),
            _ => Kind::Bool,
        };
        if operator == BinaryOperator::Divide && matches!(kind, Kind::Int) {
            // A quotient may have a fraction.
            left = cast("double", &left);
            kind = Kind::Float;
        }
        let symbol = format!(" {symbol} ");
        let code = Doc::Row(vec![left.at(level), symbol.into(), right.at(above)]);
        Value::plain(code, kind).at_level(level)
    }

    fn comparison(&mut self, is_equal: bool, left: &Tree, right: &Tree) -> Value {
        let (left, right) = (self.any(left), self.any(right));
        if !left.is_plain() || !right.is_plain() {
            return self.refuse("the comparison of outputs");
        }
        let kind = left.kind.or(&right.kind);
        let has_null = matches!((&left.kind, &right.kind), (Kind::Null, _) | (_, Kind::Null));
        if matches!(kind, Kind::Any) && !has_null {
            // `==` would compare references.
            let negation = if is_equal { "" } else { "!" };
            let args = vec![left.code, right.code];
            let code = Doc::arguments(&format!("{negation}Equals("), args, ")");
            return Value::plain(code, Kind::Bool).at_level(Level::Sign);
        }
        let [left, right] = [left, right].map(|it| match it.kind {
            Kind::Enum(..) if matches!(kind, Kind::Text) => {
                self.converted(it, &Want::Plain(Kind::Text))
            }
            _ => it,
        });
        let code = Doc::Row(vec![
            left.at(Level::Relation),
            if is_equal { " == " } else { " != " }.into(),
            right.at(Level::Relation),
        ]);
        Value::plain(code, Kind::Bool).at_level(Level::Equality)
    }

    fn conversion(&mut self, conversion: Conversion, inner: &Tree) -> Value {
        let value = self.any(inner);
        if !value.is_plain() {
            return self.refuse("the conversion of an output");
        }
        let text =
            |printer: &mut Self, value: Value| printer.converted(value, &Want::Plain(Kind::Text));
        match conversion {
            Conversion::BoolToText => {
                let flag = self.converted(value, &Want::Plain(Kind::Bool));
                Value::plain(flag_text(&flag), Kind::Text)
            }
            Conversion::NumberToText => {
                let number = self.as_number(value);
                Value::plain(self.number_text(&number), Kind::Text)
            }
            Conversion::NumberToInt => self.converted(value, &Want::Plain(Kind::Int)),
            Conversion::TextToBool => {
                let value = text(self, value);
                let code = Doc::Row(vec![value.at(Level::Relation), " == \"true\"".into()]);
                Value::plain(code, Kind::Bool).at_level(Level::Equality)
            }
            Conversion::TextToInt => {
                let code = text(self, value).code;
                Value::plain(Doc::hugged("int.Parse(", code, ")"), Kind::Int)
            }
            Conversion::TextToNumber => {
                self.usings.insert("System.Globalization");
                let code = text(self, value).code;
                let args = vec![code, "CultureInfo.InvariantCulture".into()];
                Value::plain(Doc::arguments("double.Parse(", args, ")"), Kind::Float)
            }
        }
    }

    fn number_text(&mut self, number: &Value) -> Doc {
        self.usings.insert("System.Globalization");
        number.method("ToString", vec!["CultureInfo.InvariantCulture".into()])
    }

    /// An interpolated string.
    fn interpolated(&mut self, parts: &[Tree], has_outputs: bool) -> Doc {
        let mut row = vec![Doc::text("$\"")];
        for part in parts {
            if let Tree::Text(text) = part {
                let literal = CSHARP.string(text);
                let inner = &literal[1..literal.len() - 1];
                row.push(Doc::text(inner.replace('{', "{{").replace('}', "}}")));
                continue;
            }
            let value = self.any(part);
            let code = match value.form {
                Form::Output if has_outputs => self.output_in_text(value),
                Form::Output | Form::Nested => self.refuse("an output in such a template"),
                Form::Plain => self.in_text(value),
            };
            // A colon or a conditional would begin a format.
            let code = code.at(Level::Atom);
            let has_text = code.flat().is_none_or(|it| it.contains(['"', ':']));
            row.push("{".into());
            row.push(if has_text {
                // Texts inside of an interpolated string are in parentheses.
                Doc::hugged("(", code, ")")
            } else {
                code
            });
            row.push("}".into());
        }
        row.push("\"".into());
        Doc::Row(row)
    }

    /// A plain value that is printed as PCL does.
    fn in_text(&mut self, value: Value) -> Value {
        match value.kind.present() {
            Kind::Bool => {
                let flag = self.converted(value, &Want::Plain(Kind::Bool));
                Value::plain(flag_text(&flag), Kind::Text)
            }
            Kind::Float => {
                let number = self.converted(value, &Want::Plain(Kind::Float));
                Value::plain(self.number_text(&number), Kind::Text)
            }
            Kind::Text | Kind::Id | Kind::Int | Kind::Enum(..) | Kind::Any => value,
            _ => self.refuse("such a value in a template"),
        }
    }

    fn output_in_text(&mut self, value: Value) -> Value {
        if !matches!(value.kind.present(), Kind::Bool | Kind::Float) {
            return value;
        }
        let scope = self.scope.open();
        let name = self.local("given");
        let item = Value::plain(name.clone(), value.kind.clone());
        let body = self.in_text(item).code;
        self.scope.close(scope);
        Value::output(value.method("Apply", vec![lambda(&name, body)]), Kind::Text)
    }

    fn apply(&mut self, params: &[(EcoString, Tree)], body: &Tree) -> Value {
        let mut outputs = Vec::with_capacity(params.len());
        for (_, tree) in params {
            let value = self.any(tree);
            outputs.push(self.as_output(value));
        }
        if outputs.len() > 8 {
            return self.refuse("a callback that waits for more than eight outputs");
        }
        let scope = self.scope.open();
        let parameter = if let [(name, _)] = params {
            let local = self.local(name);
            let value = Value::plain(local.clone(), outputs[0].kind.clone());
            self.scope.bind(name.clone(), value);
            local
        } else {
            let local = self.local("values");
            for (at, (name, _)) in params.iter().enumerate() {
                let code = format!("{local}.Item{}", at + 1);
                let value = Value::plain(code, outputs[at].kind.clone());
                self.scope.bind(name.clone(), value);
            }
            local
        };
        let result = self.any(body);
        let result = match (result.form, &result.kind) {
            (Form::Nested, _) => self.as_output(result),
            // Without a type, the callback would fit all overloads.
            (Form::Plain, Kind::Null) => Value::plain("(object?)null", Kind::Any),
            _ => result,
        };
        self.scope.close(scope);
        let receiver = match <[Value; 1]>::try_from(outputs) {
            Ok([single]) => single.at(Level::Atom),
            Err(several) => {
                let codes = several.into_iter().map(|it| it.code).collect();
                Doc::arguments("Output.Tuple(", codes, ")")
            }
        };
        let call = Doc::hugged(".Apply(", lambda(&parameter, result.code), ")");
        Value::output(Doc::Row(vec![receiver, call]), result.kind)
    }
}

fn flag_text(flag: &Value) -> Doc {
    Doc::Row(vec![
        "(".into(),
        flag.at(Level::Or),
        " ? \"true\" : \"false\")".into(),
    ])
}
