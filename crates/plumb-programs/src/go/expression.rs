//! Expressions in Go.
//!
//! Go is typed, and trees are not: an expression is printed together with its [`Kind`] and form. [`Want`] says what the
//! place of an expression accepts, and [`super::convert`] converts to that.

use plumb_pcl::{BinaryOperator, UnaryOperator};
use plumb_schema::{Constant, TypeDefinition};

use super::GO;
use super::convert::number;
use super::helpers::Helper;
use super::kinds::Kind;
use super::printer::{Form, Printer, Value};
use super::syntax::Code;
use crate::tree::{Conversion, Tree};

/// Values that are accepted where an expression stands.
#[derive(Clone, Debug)]
pub(super) enum Want {
    /// Any value.
    Free,
    /// A plain value of a kind.
    Plain(Kind),
    /// An input of a kind.
    Input(Kind),
}

impl Want {
    pub(super) fn element(&self) -> Want {
        let inner = |kind: &Kind| match kind {
            Kind::List(element) | Kind::Map(element) => (**element).clone(),
            _ => Kind::Any,
        };
        match self {
            Want::Free => Want::Free,
            Want::Plain(kind) => Want::Plain(inner(kind.present())),
            Want::Input(kind) => Want::Input(inner(kind.present())),
        }
    }
}

impl Printer {
    /// Prints an expression for a place.
    pub(super) fn expression(&mut self, tree: &Tree, want: &Want) -> Code {
        self.value(tree, want).code
    }

    /// Prints an expression in the form that a place accepts.
    pub(super) fn value(&mut self, tree: &Tree, want: &Want) -> Value {
        let value = match tree {
            Tree::List(items) => self.list(items, want),
            Tree::Map(entries) => self.map(entries, want),
            Tree::Object(object) => self.object(object, want),
            Tree::Conditional(it) => self.conditional(it, want),
            Tree::For(it) => self.loop_of(it),
            other => self.free(other),
        };
        self.converted(value, want)
    }

    pub(super) fn plain(&mut self, tree: &Tree, kind: Kind) -> Code {
        self.expression(tree, &Want::Plain(kind))
    }

    /// Prints an expression in its own form.
    pub(super) fn any(&mut self, tree: &Tree) -> Value {
        self.value(tree, &Want::Free)
    }

    fn free(&mut self, tree: &Tree) -> Value {
        let constant = |text: String, kind| Value {
            code: Code::word(text),
            kind,
            form: Form::Constant,
        };
        match tree {
            Tree::Null => Value::plain(Code::word("nil"), Kind::Null),
            Tree::Bool(flag) => constant(flag.to_string(), Kind::Bool),
            Tree::Number(value) => number(*value),
            Tree::Text(text) => constant(GO.string(text), Kind::Text),
            Tree::Template(parts) => self.template(parts),
            Tree::Interpolation(parts, _) => self.interpolation(parts),
            Tree::Member {
                package,
                token,
                value,
            } => {
                let underlying = match &value.value {
                    Constant::Bool(_) => Kind::Bool,
                    Constant::Number(_) => match package.type_definition(token) {
                        Some(Ok(it)) if matches!(&*it, TypeDefinition::Enum(it) if it.underlying == plumb_schema::Primitive::Integer) => {
                            Kind::Int
                        }
                        _ => Kind::Float,
                    },
                    Constant::String(_) => Kind::Text,
                };
                let kind = Kind::Enum(package.clone(), token.clone(), Box::new(underlying));
                let names = self.package(package);
                let (class, member) = (names.class(token), names.enum_member(token, value));
                match member.as_deref().and_then(|it| it.strip_prefix(&class)) {
                    Some(member) => {
                        let name = self.type_name(package, token) + member;
                        let name = self.qualified(package, token, &name);
                        Value::plain(Code::word(name), kind)
                    }
                    None => self.refuse("a member of an enum without a name"),
                }
            }
            Tree::Definition(position) => match &self.definitions[*position] {
                Some(value) => value.clone(),
                None => self.refuse("a reference to this definition"),
            },
            Tree::Variable(name) => self.bound(name),
            Tree::RangeKey | Tree::RangeValue => match &self.range {
                Some([key, value]) => {
                    let value = if matches!(tree, Tree::RangeKey) {
                        key
                    } else {
                        value
                    };
                    let value = value.clone();
                    if let Code::Word(name) = &value.code {
                        self.used.insert(name.clone());
                    }
                    value
                }
                None => self.refuse("`range` without a range"),
            },
            Tree::Property(receiver, name, _) if self.is_hook_argument(receiver) => {
                self.hook_argument(name)
            }
            Tree::Property(receiver, name, presence) => {
                let receiver = self.any(receiver);
                self.property(receiver, name, *presence)
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
            Tree::OwnComponent => Value::plain(Code::word("component"), Kind::Any),
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
            | Tree::For(_) => self.any(tree),
        }
    }

    fn bound(&mut self, name: &str) -> Value {
        let found = self.variables.iter().rev().find(|(known, _)| known == name);
        let Some((_, value)) = found else {
            return self.refuse(&format!("the variable {name}"));
        };
        let value = value.clone();
        if let Code::Word(name) = &value.code {
            self.used.insert(name.clone());
        }
        value
    }

    /// Name of a variable of a loop or a callback.
    pub(super) fn local(&mut self, name: &str) -> String {
        let mut local = GO.variable(name);
        let is_special = super::RESERVED.contains(&local.as_str());
        if is_special || self.imports.values().any(|alias| *alias == local) {
            local.push_str("Value");
        }
        self.names.take(&local);
        local
    }

    /// The expression, or a variable with its value if it is no name.
    pub(super) fn as_word(&mut self, wanted: &str, code: Code) -> Code {
        if code.is_word() {
            code
        } else {
            self.variable(wanted, code)
        }
    }

    fn unary(&mut self, operator: UnaryOperator, operand: &Tree) -> Value {
        match operator {
            UnaryOperator::Not => {
                let operand = self.plain(operand, Kind::Bool).operand();
                Value::plain(Code::Unary("!", Box::new(operand)), Kind::Bool)
            }
            UnaryOperator::Negate => {
                let operand = self.any(operand);
                if !operand.kind.is_number() || !operand.is_plain() {
                    return self.refuse("the negation of such a value");
                }
                let code = Code::Unary("-", Box::new(operand.code.operand()));
                Value { code, ..operand }
            }
        }
    }

    fn binary(&mut self, operator: BinaryOperator, operands: &[Tree; 2]) -> Value {
        let [left, right] = operands;
        let symbol = match operator {
            BinaryOperator::And => "&&",
            BinaryOperator::Or => "||",
            BinaryOperator::Equal => "==",
            BinaryOperator::NotEqual => "!=",
            BinaryOperator::Less => "<",
            BinaryOperator::LessOrEqual => "<=",
            BinaryOperator::Greater => ">",
            BinaryOperator::GreaterOrEqual => ">=",
            BinaryOperator::Add => "+",
            BinaryOperator::Subtract => "-",
            BinaryOperator::Multiply => "*",
            BinaryOperator::Divide => "/",
            BinaryOperator::Modulo => "%",
        };
        if matches!(symbol, "&&" | "||") {
            // The right operand must be computed only if it is needed.
            let left = self.plain(left, Kind::Bool);
            self.open(false);
            let right = self.plain(right, Kind::Bool);
            let statements = self.close();
            if !statements.is_empty() {
                return self.refuse("such an operand of a logical operator");
            }
            return Value::plain(Code::binary(left, symbol, right), Kind::Bool);
        }
        let (left, right) = (self.any(left), self.any(right));
        if matches!(symbol, "==" | "!=") {
            return self.comparison(left, symbol, right);
        }
        let (left, right) = (self.present_number(left), self.present_number(right));
        if !left.kind.is_number()
            || !right.kind.is_number()
            || !left.is_plain()
            || !right.is_plain()
        {
            return self.refuse(&format!("`{symbol}` with such operands"));
        }
        let mut kind = left.kind.or(&right.kind);
        if symbol == "/" {
            kind = Kind::Float;
        }
        if symbol == "%" && kind.is(&Kind::Float) {
            return self.refuse("the remainder of numbers with fractions");
        }
        let is_comparison = matches!(symbol, "<" | "<=" | ">" | ">=");
        let form = match (left.form, right.form) {
            (Form::Constant, Form::Constant) => Form::Constant,
            _ => Form::Plain,
        };
        if form == Form::Constant && symbol == "/" {
            return self.refuse("the division of constants");
        }
        let wanted = Want::Plain(kind.clone());
        let (left, right) = (
            self.converted(left, &wanted),
            self.converted(right, &wanted),
        );
        Value {
            code: Code::binary(left.code, symbol, right.code),
            kind: if is_comparison { Kind::Bool } else { kind },
            form: if is_comparison { Form::Plain } else { form },
        }
    }

    /// The value that a pointer to a number refers to.
    fn present_number(&mut self, value: Value) -> Value {
        match &value.kind {
            Kind::Pointer(inner) if inner.is_number() && value.is_plain() => {
                let want = Want::Plain((**inner).clone());
                self.converted(value, &want)
            }
            _ => value,
        }
    }

    fn comparison(&mut self, left: Value, symbol: &'static str, right: Value) -> Value {
        if !left.is_plain() || !right.is_plain() {
            return self.refuse("the comparison of outputs");
        }
        if matches!((&left.kind, &right.kind), (Kind::Null, _) | (_, Kind::Null)) {
            let other = if matches!(left.kind, Kind::Null) {
                right
            } else {
                left
            };
            let has_nil = matches!(
                other.kind,
                Kind::Any
                    | Kind::Pointer(_)
                    | Kind::List(_)
                    | Kind::Map(_)
                    | Kind::Resource(..)
                    | Kind::Component(..)
            );
            if !has_nil {
                return self.refuse("the comparison of such a value with null");
            }
            let code = Code::binary(other.code, symbol, Code::word("nil"));
            return Value::plain(code, Kind::Bool);
        }
        let kind = left.kind.or(&right.kind);
        let underlying = match &kind {
            Kind::Enum(..) => kind.clone(),
            kind if kind.is_scalar() => kind.clone(),
            _ => return self.refuse("the comparison of such values"),
        };
        let wanted = Want::Plain(underlying);
        let (left, right) = (
            self.converted(left, &wanted),
            self.converted(right, &wanted),
        );
        Value::plain(Code::binary(left.code, symbol, right.code), Kind::Bool)
    }

    fn conversion(&mut self, conversion: Conversion, inner: &Tree) -> Value {
        let value = self.any(inner);
        if !value.is_plain() {
            return self.refuse("the conversion of an output");
        }
        if !matches!(conversion, Conversion::TextToBool | Conversion::NumberToInt) {
            self.import("strconv");
        }
        match conversion {
            Conversion::BoolToText => {
                let code = self.converted(value, &Want::Plain(Kind::Bool)).code;
                Value::plain(Code::call("strconv.FormatBool", vec![code]), Kind::Text)
            }
            Conversion::NumberToInt => value,
            Conversion::NumberToText => Value::plain(self.number_text(value), Kind::Text),
            Conversion::TextToBool => {
                let code = self.converted(value, &Want::Plain(Kind::Text)).code;
                let code = Code::binary(code, "==", Code::word("\"true\""));
                Value::plain(code, Kind::Bool)
            }
            Conversion::TextToInt => {
                let code = self.converted(value, &Want::Plain(Kind::Text)).code;
                let call = Code::call("strconv.Atoi", vec![code]);
                Value::plain(self.attempt("number", call), Kind::Int)
            }
            Conversion::TextToNumber => {
                let code = self.converted(value, &Want::Plain(Kind::Text)).code;
                let call = Code::call("strconv.ParseFloat", vec![code, Code::word("64")]);
                Value::plain(self.attempt("number", call), Kind::Float)
            }
        }
    }

    /// Text of a number.
    pub(super) fn number_text(&mut self, value: Value) -> Code {
        self.import("strconv");
        if matches!(value.kind.present(), Kind::Int) {
            let code = self.converted(value, &Want::Plain(Kind::Int)).code;
            return Code::call("strconv.Itoa", vec![code]);
        }
        let code = self.converted(value, &Want::Plain(Kind::Float)).code;
        let args = ["'f'", "-1", "64"].map(Code::word);
        let args = std::iter::once(code).chain(args).collect();
        Code::call("strconv.FormatFloat", args)
    }

    fn template(&mut self, parts: &[Tree]) -> Value {
        let (format, args) = self.parts(parts, false);
        let code = if args.is_empty() {
            return Value {
                code: Code::word(GO.string(&format.replace("%%", "%"))),
                kind: Kind::Text,
                form: Form::Constant,
            };
        } else {
            self.import("fmt");
            let format = Code::word(GO.string(&format));
            let args = std::iter::once(format).chain(args).collect();
            Code::call("fmt.Sprintf", args)
        };
        Value::plain(code, Kind::Text)
    }

    fn interpolation(&mut self, parts: &[Tree]) -> Value {
        let (format, args) = self.parts(parts, true);
        let format = Code::word(GO.string(&format));
        let args = std::iter::once(format).chain(args).collect();
        Value::output(Code::call("pulumi.Sprintf", args), Kind::Text)
    }

    /// Format and arguments of a template.
    fn parts(&mut self, parts: &[Tree], has_outputs: bool) -> (String, Vec<Code>) {
        let mut format = String::new();
        let mut args = Vec::new();
        for part in parts {
            if let Tree::Text(text) = part {
                format.push_str(&text.replace("%", "%%"));
                continue;
            }
            let value = self.any(part);
            let value = match (&value.kind, value.form) {
                (Kind::Pointer(inner), Form::Output) if inner.is_scalar() => {
                    let kind = (**inner).clone();
                    Value::output(value.code.method("Elem", Vec::new()), kind)
                }
                (Kind::Pointer(inner), Form::Plain) => {
                    let wanted = Want::Plain((**inner).clone());
                    self.converted(value, &wanted)
                }
                _ => value,
            };
            match (&value.kind, value.form) {
                (_, Form::Input | Form::Output) if !has_outputs => {
                    self.refuse("an output in such a template");
                }
                (Kind::Float, Form::Plain | Form::Constant) => {
                    format.push_str("%s");
                    let text = self.number_text(value);
                    args.push(text);
                    continue;
                }
                (Kind::Float, _) => {
                    self.refuse("an output with a fraction in a template");
                }
                (Kind::Text | Kind::Id, _) => format.push_str("%s"),
                (Kind::Enum(..) | Kind::Any, _) => format.push_str("%v"),
                (Kind::Int, _) => format.push_str("%d"),
                (Kind::Bool, _) => format.push_str("%t"),
                _ => {
                    self.refuse("such a value in a template");
                }
            }
            args.push(value.code);
        }
        (format, args)
    }

    pub(super) fn value_of(&mut self, code: Code) -> Code {
        let helper = self.help(Helper::ValueOf);
        Code::call(helper, vec![code])
    }
}
