//! Expressions in Java.
//!
//! Java is typed, and trees are not: an expression is printed together with its [`Kind`] and form. [`Want`] says what the
//! place of an expression accepts, and [`super::convert`] converts to that.

use ecow::EcoString;
use plumb_pcl::{BinaryOperator, UnaryOperator};
use plumb_schema::{Constant, TypeDefinition};

use super::JAVA;
use super::convert::{cast, lambda};
use super::helpers::Helper;
use super::printer::{Form, Level, Printer, Value};
use crate::kinds::Kind;
use crate::layout::Doc;
use crate::tree::{Conversion, Tree};
pub(super) use crate::values::Want;
use crate::values::{number, symbol};

impl Printer {
    /// Prints an expression in the form that a place accepts.
    pub(super) fn value(&mut self, tree: &Tree, want: &Want) -> Value {
        let value = match tree {
            Tree::List(items) => return self.list(items, want),
            Tree::Map(entries) => return self.map(entries, want),
            Tree::Object(object) => return self.object(object),
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
            Tree::Text(text) => Value::plain(JAVA.string(text), Kind::Text),
            Tree::Template(parts) => self.template(parts),
            Tree::Interpolation(parts, _) => self.interpolation(parts),
            Tree::Member {
                package,
                token,
                value,
            } => self.member_of_enum(package, token, value),
            Tree::Definition(position) => match self.definitions[*position].clone() {
                Some(value) => value,
                None => self.refuse("a reference to what has no form"),
            },
            Tree::Variable(name) => match self.scope.variable(name) {
                Some(value) => value.clone(),
                None => self.refuse(&format!("the variable {name}")),
            },
            Tree::RangeKey | Tree::RangeValue => match &self.range {
                Some([key, value]) => {
                    let part = if matches!(tree, Tree::RangeKey) {
                        key
                    } else {
                        value
                    };
                    part.clone()
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
            Tree::OwnComponent => Value::plain("this", Kind::Resource(None, String::new())),
            Tree::Method(_) => self.refuse("methods of resources"),
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
        package: &std::sync::Arc<plumb_schema::PackageSchema>,
        token: &EcoString,
        value: &plumb_schema::EnumValue,
    ) -> Value {
        let (classes, names) = Printer::package(package);
        let underlying = match package.type_definition(token) {
            Some(Ok(definition)) => match &*definition {
                TypeDefinition::Enum(it) => Kind::of_primitive(it.underlying),
                TypeDefinition::Object(_) => Kind::Text,
            },
            _ => Kind::Text,
        };
        match names.enum_member(token, value) {
            Some(member) => {
                let class = self.class(&classes.enumeration(package, token));
                let kind = Kind::Enum(package.clone(), token.clone(), Box::new(underlying));
                Value::plain(format!("{class}.{member}"), kind)
            }
            None => match &value.value {
                Constant::Bool(flag) => Value::plain(flag.to_string(), Kind::Bool),
                Constant::Number(value) => number(*value),
                Constant::String(text) => Value::plain(JAVA.string(text), Kind::Text),
            },
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
        let kind = match (&kind, branches.each_ref().map(|it| &it.kind)) {
            // A missing collection is none.
            (Kind::List(_) | Kind::Map(_), [Kind::Null, _] | [_, Kind::Null]) => {
                Kind::Pointer(Box::new(kind))
            }
            _ => kind,
        };
        let is_plain = branches.iter().all(Value::is_plain);
        let [yes, no] = branches.map(|branch| {
            let branch = if is_plain {
                self.converted(branch, &Want::Plain(kind.clone()))
            } else {
                let branch = self.converted(branch, &Want::Input(kind.clone()));
                self.as_output(branch)
            };
            branch.at(Level::Or)
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
        let kind = match level {
            Level::Add | Level::Multiply => left.kind.or(&right.kind),
            _ => Kind::Bool,
        };
        let is_whole_division = symbol == "/" && matches!(kind, Kind::Int);
        let kind = if is_whole_division {
            // A quotient may have a fraction.
            left = cast("double", &left);
            Kind::Float
        } else {
            kind
        };
        let code = Doc::Row(vec![
            left.at(level),
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
        let negation = if is_equal { "" } else { "!" };
        let bool = |code: Doc, level| Value::plain(code, Kind::Bool).at_level(level);
        let symbol = if is_equal { " == " } else { " != " };
        if matches!((&left.kind, &right.kind), (Kind::Null, _) | (_, Kind::Null)) {
            let other = if matches!(left.kind, Kind::Null) {
                right
            } else {
                left
            };
            if let Kind::Pointer(_) = other.kind {
                let name = if is_equal { "isEmpty" } else { "isPresent" };
                return bool(other.method(name, Vec::new()), Level::Atom);
            }
            let code = Doc::Row(vec![
                other.at(Level::Relation),
                symbol.into(),
                "null".into(),
            ]);
            return bool(code, Level::Equality);
        }
        let kind = left.kind.or(&right.kind);
        let is_literal = |value: &Value| {
            value
                .code
                .flat()
                .is_some_and(|it| it.parse::<f64>().is_ok())
        };
        if kind.is_number() && (is_literal(&left) || is_literal(&right)) {
            let (left, right) = (self.as_number(left), self.as_number(right));
            let code = Doc::Row(vec![
                left.at(Level::Relation),
                symbol.into(),
                right.at(Level::Relation),
            ]);
            return bool(code, Level::Equality);
        }
        let wanted = Want::Plain(kind);
        let left = self.converted(left, &wanted);
        let right = self.converted(right, &wanted);
        let class = self.class("java.util.Objects");
        let call = Doc::arguments(
            &format!("{negation}{class}.equals("),
            vec![left.code, right.code],
            ")",
        );
        bool(call, if is_equal { Level::Atom } else { Level::Sign })
    }

    fn conversion(&mut self, conversion: Conversion, inner: &Tree) -> Value {
        let value = self.any(inner);
        if !value.is_plain() {
            return self.refuse("the conversion of an output");
        }
        let text = |printer: &mut Self, value: Value| {
            printer.converted(value, &Want::Plain(Kind::Text)).code
        };
        match conversion {
            Conversion::BoolToText => {
                let code = self.converted(value, &Want::Plain(Kind::Bool)).code;
                Value::plain(Doc::hugged("String.valueOf(", code, ")"), Kind::Text)
            }
            Conversion::NumberToText => Value::plain(self.text_of_number(value), Kind::Text),
            Conversion::NumberToInt => self.converted(value, &Want::Plain(Kind::Int)),
            Conversion::TextToBool => {
                let code = text(self, value);
                Value::plain(Doc::hugged("\"true\".equals(", code, ")"), Kind::Bool)
            }
            Conversion::TextToInt => {
                let code = text(self, value);
                Value::plain(Doc::hugged("Integer.parseInt(", code, ")"), Kind::Int)
            }
            Conversion::TextToNumber => {
                let code = text(self, value);
                Value::plain(Doc::hugged("Double.parseDouble(", code, ")"), Kind::Float)
            }
        }
    }

    fn text_of_number(&mut self, value: Value) -> Doc {
        let value = self.as_number(value);
        if matches!(value.kind, Kind::Int) {
            Doc::hugged("String.valueOf(", value.code, ")")
        } else {
            self.help(Helper::Number, vec![value.code])
        }
    }

    fn template(&mut self, parts: &[Tree]) -> Value {
        let (format, mut args) = self.parts(parts, false);
        if args.is_empty() {
            return Value::plain(JAVA.string(&format.replace("%%", "%")), Kind::Text);
        }
        args.insert(0, JAVA.string(&format).into());
        Value::plain(Doc::arguments("String.format(", args, ")"), Kind::Text)
    }

    fn interpolation(&mut self, parts: &[Tree]) -> Value {
        let (format, mut args) = self.parts(parts, true);
        args.insert(0, JAVA.string(&format).into());
        let class = self.output_class();
        Value::output(
            Doc::arguments(&format!("{class}.format("), args, ")"),
            Kind::Text,
        )
    }

    /// Format and arguments of a template.
    fn parts(&mut self, parts: &[Tree], has_outputs: bool) -> (String, Vec<Doc>) {
        let mut format = String::new();
        let mut args = Vec::new();
        for part in parts {
            if let Tree::Text(text) = part {
                format.push_str(&text.replace("%", "%%"));
                continue;
            }
            let value = self.any(part);
            format.push_str("%s");
            args.push(match value.form {
                Form::Output if has_outputs => self.output_as_text(value),
                Form::Output | Form::Nested => self.refuse("an output in such a template").code,
                Form::Plain => self.as_text(value),
            });
        }
        (format, args)
    }

    /// A plain value that `%s` prints as PCL does.
    pub(super) fn as_text(&mut self, value: Value) -> Doc {
        match value.kind.present() {
            Kind::Float => self.text_of_number(value),
            Kind::Int | Kind::Bool => {
                let kind = value.kind.present().clone();
                self.converted(value, &Want::Plain(kind)).code
            }
            Kind::Text | Kind::Id | Kind::Enum(..) => {
                self.converted(value, &Want::Plain(Kind::Text)).code
            }
            Kind::Any => value.code,
            _ => self.refuse("such a value in a template").code,
        }
    }

    fn output_as_text(&mut self, value: Value) -> Doc {
        if matches!(
            value.kind,
            Kind::Text | Kind::Id | Kind::Int | Kind::Bool | Kind::Any
        ) {
            return value.code;
        }
        let scope = self.scope.open();
        let name = self.local("it");
        let item = Value::plain(name.clone(), value.kind.clone());
        let body = self.as_text(item);
        self.scope.close(scope);
        value.method("applyValue", vec![lambda(&name, body)])
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
                let code = format!("{local}.t{}", at + 1);
                let value = Value::plain(code, outputs[at].kind.clone());
                self.scope.bind(name.clone(), value);
            }
            local
        };
        let result = self.any(body);
        let result = match result.form {
            Form::Nested => self.as_output(result),
            Form::Plain | Form::Output => result,
        };
        self.scope.close(scope);
        let receiver = match <[Value; 1]>::try_from(outputs) {
            Ok([single]) => single,
            Err(several) => {
                let class = self.output_class();
                let codes = several.into_iter().map(|it| it.code).collect();
                let call = Doc::arguments(&format!("{class}.tuple("), codes, ")");
                Value::output(call, Kind::Any)
            }
        };
        let method = match result.form {
            Form::Output => "apply",
            Form::Plain | Form::Nested => "applyValue",
        };
        let callback = lambda(&parameter, result.code);
        let call = Doc::hugged(&format!(".{method}("), callback, ")");
        let code = Doc::Row(vec![receiver.at(Level::Atom), call]);
        Value::output(code, result.kind)
    }
}
