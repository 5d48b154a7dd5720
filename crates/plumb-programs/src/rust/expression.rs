//! Expressions in Rust.
//!
//! Rust is typed, and trees are not: an expression is printed together with its [`Kind`] and form. [`Want`] says what the
//! place of an expression accepts, and [`super::convert`] converts to that.

use std::sync::Arc;

use ecow::EcoString;
use plumb_codegen::programs::rust_items;
use plumb_pcl::{BinaryOperator, UnaryOperator};
use plumb_schema::{Constant, EnumValue, PackageSchema, TypeDefinition};

use super::RUST;
use super::printer::{Form, Hold, Level, Printer, Value};
use crate::kinds::Kind;
use crate::layout::Doc;
use crate::tree::{Conversion, Tree};
pub(super) use crate::values::Want;
use crate::values::symbol;

impl Printer {
    /// Prints an expression in the form that a place accepts.
    pub(super) fn value(&mut self, tree: &Tree, want: &Want) -> Value {
        let value = match tree {
            Tree::List(items) => return self.list(items, want),
            Tree::Map(entries) => return self.map(entries, want),
            Tree::Object(object) => self.object(object),
            Tree::Conditional(it) => self.conditional(it, want),
            Tree::For(it) => self.loop_of(it),
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

    /// A plain value that the place keeps.
    pub(super) fn owned(&mut self, tree: &Tree, kind: Kind) -> Doc {
        self.plain(tree, kind).owned().code
    }

    /// A reference to plain text.
    pub(super) fn text(&mut self, tree: &Tree) -> Doc {
        self.plain(tree, Kind::Text).reference()
    }

    fn free(&mut self, tree: &Tree) -> Value {
        match tree {
            Tree::Null => Value::plain("Value::Null", Kind::Null),
            Tree::Bool(flag) => Value::plain(flag.to_string(), Kind::Bool),
            Tree::Number(value) => number(*value),
            Tree::Text(text) => Value::text(RUST.string(text)),
            Tree::Template(parts) => self.template("format!", parts),
            Tree::Interpolation(parts, _) => self.template("interpolate!", parts),
            Tree::Member {
                package,
                token,
                value,
            } => self.member_of_enum(package, token, value),
            Tree::Definition(position) => match self.definitions[*position].clone() {
                Some(value) => self.used(value),
                None => self.refuse("a reference to what has no form"),
            },
            Tree::Variable(name) => match self.scope.variable(name).cloned() {
                Some(value) => self.used(value),
                None => self.refuse(&format!("the variable {name}")),
            },
            Tree::RangeKey | Tree::RangeValue => match self.range.clone() {
                Some([key, value]) => {
                    let is_key = matches!(tree, Tree::RangeKey);
                    self.used(if is_key { key } else { value })
                }
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
            Tree::OwnComponent => self.refuse("the component itself as a value"),
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

    fn member_of_enum(
        &mut self,
        package: &Arc<PackageSchema>,
        token: &EcoString,
        value: &EnumValue,
    ) -> Value {
        let member = match package.type_definition(token) {
            Some(Ok(definition)) => match &*definition {
                TypeDefinition::Enum(it) => rust_items::member(&it.values, value),
                TypeDefinition::Object(_) => None,
            },
            _ => None,
        };
        if let Some(member) = member {
            let kind = Kind::Enum(package.clone(), token.clone(), Box::new(Kind::Text));
            let ty = self.type_of(&kind);
            return Value::plain(format!("{ty}::{member}"), kind);
        }
        match &value.value {
            Constant::Bool(flag) => Value::plain(flag.to_string(), Kind::Bool),
            Constant::Number(value) => number(*value),
            Constant::String(text) => Value::text(RUST.string(text)),
        }
    }

    fn conditional(&mut self, parts: &[Tree; 3], want: &Want) -> Value {
        let [condition, yes, no] = parts;
        let condition = self.plain(condition, Kind::Bool);
        let free = match want {
            Want::Plain(_) => want.clone(),
            Want::Free | Want::Input(_) => Want::Free,
        };
        let branches = [self.branch(yes, &free), self.branch(no, &free)];
        let has_args = branches.iter().all(|it| it.hold == Hold::Args);
        let kind = branches[0].kind.or(&branches[1].kind);
        let kind = match (&kind, branches.each_ref().map(|it| &it.kind)) {
            (Kind::Pointer(_) | Kind::Any, _) => kind,
            (_, [Kind::Null, _] | [_, Kind::Null]) => Kind::Pointer(Box::new(kind)),
            _ => kind,
        };
        let is_plain = branches.iter().all(Value::is_plain);
        let [yes, no] = branches.map(|branch| {
            if has_args {
                return branch.code;
            }
            let branch = Self::settled(branch);
            if is_plain {
                return self.as_plain(branch, &kind).owned().code;
            }
            let branch = if branch.is_plain() {
                let plain = self.as_plain(branch, &kind);
                self.as_output(plain)
            } else {
                self.as_output(branch)
            };
            self.output_of_kind(branch, &kind).owned().code
        });
        let code = Doc::Group(vec![
            "if ".into(),
            condition.code,
            " {".into(),
            Doc::Nest(Box::new(Doc::Row(vec![Doc::Line, yes]))),
            Doc::Line,
            "} else {".into(),
            Doc::Nest(Box::new(Doc::Row(vec![Doc::Line, no]))),
            Doc::Line,
            "}".into(),
        ]);
        let form = if is_plain { Form::Plain } else { Form::Output };
        let hold = if has_args { Hold::Args } else { Hold::Owned };
        Value::new(code, kind, form)
            .at_level(Level::Loose)
            .held(hold)
    }

    /// A branch, in which the absence of a value stays apart from other values.
    fn branch(&mut self, tree: &Tree, want: &Want) -> Value {
        if matches!(tree, Tree::Null) {
            Value::plain("Value::Null", Kind::Null)
        } else {
            self.value(tree, want)
        }
    }

    fn unary(&mut self, operator: UnaryOperator, operand: &Tree) -> Value {
        let (sign, value) = match operator {
            UnaryOperator::Not => ("!", self.plain(operand, Kind::Bool)),
            UnaryOperator::Negate => {
                let value = self.any(operand);
                ("-", self.as_number(value))
            }
        };
        let code = Doc::Row(vec![sign.into(), value.at(Level::Sign)]);
        Value::plain(code, value.kind).at_level(Level::Sign)
    }

    /// A plain number.
    pub(super) fn as_number(&mut self, value: Value) -> Value {
        let kind = match value.kind.present() {
            Kind::Int => Kind::Int,
            _ => Kind::Float,
        };
        self.as_plain(value, &kind)
    }

    fn binary(&mut self, operator: BinaryOperator, operands: &[Tree; 2]) -> Value {
        let [left, right] = operands;
        let Some((symbol, level, above)) = symbol(operator) else {
            return self.comparison(operator == BinaryOperator::Equal, left, right);
        };
        let is_logic = matches!(operator, BinaryOperator::And | BinaryOperator::Or);
        let (left, right) = if is_logic {
            (self.plain(left, Kind::Bool), self.plain(right, Kind::Bool))
        } else {
            let (left, right) = (self.any(left), self.any(right));
            (self.as_number(left), self.as_number(right))
        };
        let mut operand = left.kind.or(&right.kind);
        if symbol == "/" {
            // A quotient may have a fraction.
            operand = Kind::Float;
        }
        let [left, right] = [left, right].map(|it| {
            if is_logic {
                it
            } else {
                self.as_plain(it, &operand)
            }
        });
        let kind = match level {
            Level::Add | Level::Multiply => operand,
            _ => Kind::Bool,
        };
        let left = match level {
            // Relations cannot be chained.
            Level::Relation => left.at(Level::Add),
            level => left.at(level),
        };
        let code = Doc::Row(vec![
            left,
            Doc::text(format!(" {symbol} ")),
            right.at(above),
        ]);
        Value::plain(code, kind).at_level(level)
    }

    fn comparison(&mut self, is_equal: bool, left: &Tree, right: &Tree) -> Value {
        let (left, right) = (self.any(left), self.any(right));
        if !left.is_plain() || !right.is_plain() {
            return self.refuse("the comparison of outputs");
        }
        let symbol = if is_equal { " == " } else { " != " };
        let compared = |left: Doc, right: Doc| {
            Value::plain(Doc::Row(vec![left, symbol.into(), right]), Kind::Bool)
                .at_level(Level::Equality)
        };
        if matches!((&left.kind, &right.kind), (Kind::Null, _) | (_, Kind::Null)) {
            let is_left = matches!(left.kind, Kind::Null);
            let other = if is_left { right } else { left };
            return match other.kind {
                Kind::Pointer(_) => {
                    let name = if is_equal { "is_none" } else { "is_some" };
                    Value::plain(other.method(name, Vec::new()), Kind::Bool)
                }
                Kind::Any | Kind::Null => compared(other.at(Level::Add), "Value::Null".into()),
                _ => Value::plain((!is_equal).to_string(), Kind::Bool),
            };
        }
        let kind = left.kind.or(&right.kind);
        let left = self.as_plain(left, &kind);
        let right = self.as_plain(right, &kind);
        compared(left.at(Level::Add), right.at(Level::Add))
    }

    fn conversion(&mut self, conversion: Conversion, inner: &Tree) -> Value {
        let value = self.any(inner);
        if !value.is_plain() {
            return self.refuse("the conversion of an output");
        }
        let parsed = |printer: &mut Self, value: Value, ty: &str| {
            let text = printer.as_plain(value, &Kind::Text);
            let call = Doc::Row(vec![
                text.at(Level::Atom),
                Doc::text(format!(".parse::<{ty}>()")),
            ]);
            printer.fallible(call)
        };
        match conversion {
            Conversion::BoolToText => {
                let flag = self.as_plain(value, &Kind::Bool);
                Value::plain(flag.method("to_string", Vec::new()), Kind::Text)
            }
            Conversion::NumberToText => {
                let number = self.as_number(value);
                Value::plain(number.method("to_string", Vec::new()), Kind::Text)
            }
            Conversion::NumberToInt => self.as_plain(value, &Kind::Int),
            Conversion::TextToBool => {
                let text = self.as_plain(value, &Kind::Text);
                let code = Doc::Row(vec![text.at(Level::Add), " == \"true\"".into()]);
                Value::plain(code, Kind::Bool).at_level(Level::Equality)
            }
            Conversion::TextToInt => Value::plain(parsed(self, value, "i64"), Kind::Int),
            Conversion::TextToNumber => Value::plain(parsed(self, value, "f64"), Kind::Float),
        }
    }

    /// `format!` or `interpolate!`
    fn template(&mut self, name: &str, parts: &[Tree]) -> Value {
        let has_outputs = name == "interpolate!";
        let mut format = String::new();
        let mut args = Vec::new();
        for part in parts {
            if let Tree::Text(text) = part {
                format.push_str(&text.replace("{", "{{").replace("}", "}}"));
                continue;
            }
            let value = self.any(part);
            let value = match value.form {
                Form::Output if has_outputs => self.output_as_text(value),
                Form::Plain => self.as_text(value),
                Form::Output | Form::Nested => self.refuse("an output in such a template"),
            };
            match value.code.flat() {
                Some(word) if is_variable(&word) => {
                    format.push('{');
                    format.push_str(&word);
                    format.push('}');
                }
                _ => {
                    format.push_str("{}");
                    args.push(if has_outputs {
                        value.lent()
                    } else {
                        value.code
                    });
                }
            }
        }
        if args.is_empty() && !format.contains(['{', '}']) && !has_outputs {
            return Value::text(RUST.string(&format));
        }
        args.insert(0, RUST.string(&format).into());
        let code = Doc::list(&format!("{name}("), args, ")");
        if has_outputs {
            Value::output(code, Kind::Text)
        } else {
            Value::plain(code, Kind::Text)
        }
    }

    /// A plain value that macros print as PCL does.
    fn as_text(&mut self, value: Value) -> Value {
        match value.kind.present() {
            Kind::Int | Kind::Float | Kind::Bool | Kind::Text | Kind::Id | Kind::Enum(..) => {
                let kind = match value.kind.present() {
                    Kind::Enum(..) | Kind::Id => Kind::Text,
                    kind => kind.clone(),
                };
                self.as_plain(value, &kind)
            }
            Kind::Any => {
                self.traits.insert("plumb::TextValue");
                Value::plain(value.method("text", Vec::new()), Kind::Text)
            }
            _ => self.refuse("such a value in a template"),
        }
    }

    fn output_as_text(&mut self, value: Value) -> Value {
        match &value.kind {
            Kind::Text | Kind::Id | Kind::Int | Kind::Float | Kind::Bool | Kind::Any => value,
            Kind::Pointer(inner) if inner.is_scalar() => {
                let code = value.method("map", vec!["|it| it.unwrap_or_default()".into()]);
                Value::output(code, (**inner).clone())
            }
            Kind::Enum(..) => self.output_of_kind(value, &Kind::Text),
            Kind::Pointer(inner) if matches!(**inner, Kind::Enum(..)) => {
                let text = Kind::Pointer(Box::new(Kind::Text));
                let value = self.output_of_kind(value, &text);
                self.output_as_text(value)
            }
            _ => self.refuse("such a value in a template"),
        }
    }
}

/// Whether code is the name of a variable.
pub(super) fn is_variable(code: &str) -> bool {
    let is_word = |it: char| it.is_alphanumeric() || it == '_';
    let starts = code.starts_with(|it: char| it.is_lowercase() || it == '_');
    starts && code.chars().all(is_word) && !matches!(code, "true" | "false")
}

/// A number: an integer if that is exact.
pub(super) fn number(value: f64) -> Value {
    let is_whole = value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0;
    let (text, kind) = match is_whole {
        // A literal without a type would be of 32 bits.
        true if value.abs() > f64::from(i32::MAX) => (format!("{value}_i64"), Kind::Int),
        true => (value.to_string(), Kind::Int),
        false => (format!("{value:?}"), Kind::Float),
    };
    let level = if value < 0.0 {
        Level::Sign
    } else {
        Level::Atom
    };
    Value::plain(text, kind).at_level(level)
}
