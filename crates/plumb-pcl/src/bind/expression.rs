//! Binding of expressions.

use ecow::EcoString;
use hcl_edit::expr::{
    self, BinaryOp, Expression, ForExpr, ObjectKey, Traversal, TraversalOperator, UnaryOp,
};
use hcl_edit::template::{Element, Strip, Template};
use plumb_eval::diagnostic::{Diagnostic, probably_meant};
use plumb_eval::source::Span;

use super::{Binder, Names};
use crate::expression::{BinaryOperator, Expr, ExprKind, For, Step, UnaryOperator};
use crate::syntax::span_of;
use crate::types::{Conversion, Field, Type};

impl Binder<'_> {
    /// Binds an expression. After an error, which is added to the diagnostics, the result is null with the dynamic
    /// type.
    pub(super) fn expression(&mut self, expression: &Expression) -> Expr {
        let span = span_of(expression);
        let of = |kind, ty| Expr { kind, ty, span };
        match expression {
            Expression::Null(_) => of(ExprKind::Null, Type::None),
            Expression::Bool(value) => of(ExprKind::Bool(*value.value()), Type::Bool),
            Expression::Number(number) => {
                let number = number.value();
                let is_whole = number.as_i64().is_some() || number.as_u64().is_some();
                let ty = if is_whole { Type::Int } else { Type::Number };
                of(ExprKind::Number(number.as_f64().unwrap_or(f64::NAN)), ty)
            }
            Expression::String(text) => {
                of(ExprKind::String(text.value().as_str().into()), Type::String)
            }
            Expression::StringTemplate(template) => self.template(template, span),
            Expression::HeredocTemplate(heredoc) => self.template(&heredoc.template, span),
            Expression::Parenthesis(inner) => self.expression(inner.inner()),
            Expression::Array(items) => {
                let items: Vec<Expr> = items.iter().map(|item| self.expression(item)).collect();
                let ty = Type::Tuple(items.iter().map(|item| item.ty.clone()).collect());
                of(ExprKind::List(items), ty)
            }
            Expression::Object(object) => self.object(object, span),
            Expression::Variable(name) => self.variable(name.as_str(), span),
            Expression::Conditional(it) => {
                let condition = self.expression(&it.cond_expr);
                self.check(&Type::Bool, &condition);
                let branches = [&it.true_expr, &it.false_expr].map(|it| self.expression(it));
                let [yes, no] = branches;
                let ty = either(&yes.ty, &no.ty);
                of(ExprKind::Conditional(Box::new([condition, yes, no])), ty)
            }
            Expression::FuncCall(call) => self.call(call, span),
            Expression::Traversal(traversal) => self.traversal(traversal, span),
            Expression::UnaryOp(it) => self.unary(it, span),
            Expression::BinaryOp(it) => self.binary(it, span),
            Expression::ForExpr(it) => self.for_expression(it, span),
        }
    }

    fn template(&mut self, template: &Template, span: Span) -> Expr {
        let mut parts: Vec<Expr> = Vec::new();
        let mut strips_next = false;
        let elements: Vec<&Element> = template.iter().collect();
        for (at, element) in elements.iter().enumerate() {
            match element {
                Element::Literal(text) => {
                    let mut text = text.value().as_str();
                    if std::mem::take(&mut strips_next) {
                        text = text.trim_start();
                    }
                    let next = elements.get(at + 1);
                    if matches!(next, Some(Element::Interpolation(it)) if strips_before(it.strip)) {
                        text = text.trim_end();
                    }
                    parts.push(Expr {
                        kind: ExprKind::String(text.into()),
                        ty: Type::String,
                        span,
                    });
                }
                Element::Interpolation(it) => {
                    strips_next = matches!(it.strip, Strip::End | Strip::Both);
                    let part = self.expression(&it.expr);
                    if Type::String.conversion_from(&part.ty) == Conversion::None {
                        let summary = format!("a value of type {} cannot be text", part.ty);
                        self.error(part.span, summary);
                    }
                    parts.push(part);
                }
                Element::Directive(directive) => {
                    let at = span_of(&**directive);
                    self.error(at, "template directives are not supported yet");
                }
            }
        }
        let kind = match parts.as_slice() {
            [] => ExprKind::String(EcoString::new()),
            // A template that consists of a single value is that value.
            [only] if template.len() == 1 => {
                return Expr {
                    span,
                    ..only.clone()
                };
            }
            _ => ExprKind::Template(parts),
        };
        Expr {
            kind,
            ty: Type::String,
            span,
        }
    }

    fn object(&mut self, object: &expr::Object, span: Span) -> Expr {
        let mut entries = Vec::with_capacity(object.len());
        let mut fields = Some(Vec::new());
        for (key, value) in object {
            let key = match key {
                ObjectKey::Ident(name) => Expr {
                    kind: ExprKind::String(name.as_str().into()),
                    ty: Type::String,
                    span: span_of(name),
                },
                ObjectKey::Expression(key) => self.expression(key),
            };
            self.check(&Type::String, &key);
            let value = self.expression(value.expr());
            match (&key.kind, &mut fields) {
                (ExprKind::String(name), Some(fields)) => fields.push(Field {
                    name: name.clone(),
                    ty: value.ty.clone(),
                    required: true,
                }),
                _ => fields = None,
            }
            entries.push((key, value));
        }
        let ty = match fields {
            Some(fields) => Type::Object(fields),
            None => Type::Map(Box::new(Type::Dynamic)),
        };
        Expr {
            kind: ExprKind::Object(entries),
            ty,
            span,
        }
    }

    fn variable(&mut self, name: &str, span: Span) -> Expr {
        let variable = self.variables.iter().rev().find(|(it, _)| it == name);
        if let Some((name, ty)) = variable {
            return Expr {
                kind: ExprKind::Variable(name.clone()),
                ty: ty.clone(),
                span,
            };
        }
        if let Some((index, ty)) = self.named(name, span) {
            return Expr {
                kind: ExprKind::Reference(index),
                ty,
                span,
            };
        }
        self.undefined(name, span)
    }

    /// Definition or reference with a name that is not a variable.
    fn named(&mut self, name: &str, span: Span) -> Option<(usize, Type)> {
        match &self.names {
            Names::References(references) => {
                let mut references = references.iter().enumerate();
                let (index, found) = references.find(|(_, it)| it.name == name)?;
                Some((index, found.ty.clone()))
            }
            Names::Definitions(_) => self.definition(name, span),
        }
    }

    fn undefined(&mut self, name: &str, span: Span) -> Expr {
        let mut known: Vec<EcoString> = self.variables.iter().map(|it| it.0.clone()).collect();
        match &self.names {
            Names::References(references) => {
                known.extend(references.iter().map(|it| it.name.clone()));
            }
            Names::Definitions(definitions) => known.extend(definitions.known_names()),
        }
        let summary = format!("undefined variable '{name}'");
        let diagnostic = Diagnostic::error(span, summary);
        let known = known.iter().map(EcoString::as_str);
        let diagnostic = match probably_meant(name, known) {
            Some(meant) => diagnostic.with_detail(format!("Did you mean '{meant}'?")),
            None => diagnostic,
        };
        let is_accepted = self.leniency.missing_variables;
        self.mistake(is_accepted, diagnostic);
        if !is_accepted {
            return nothing(span);
        }
        Expr {
            kind: ExprKind::Variable(name.into()),
            ty: Type::Dynamic,
            span,
        }
    }

    fn traversal(&mut self, traversal: &Traversal, span: Span) -> Expr {
        let mut receiver = self.expression(&traversal.expr);
        let mut steps = Vec::new();
        let mut ty = receiver.ty.clone();
        let mut operators = traversal.operators.iter();
        while let Some(operator) = operators.next() {
            let at = span_of(operator);
            let step = match operator.value() {
                TraversalOperator::GetAttr(name) => Step::Name(name.as_str().into()),
                TraversalOperator::LegacyIndex(index) => Step::Index(Expr {
                    kind: ExprKind::Number(*index.value() as f64),
                    ty: Type::Int,
                    span: at,
                }),
                TraversalOperator::Index(index) => match self.expression(index) {
                    Expr {
                        kind: ExprKind::String(name),
                        ..
                    } => Step::Name(name),
                    index => Step::Index(index),
                },
                TraversalOperator::AttrSplat(_) | TraversalOperator::FullSplat(_) => {
                    receiver = access(receiver, std::mem::take(&mut steps), ty.clone(), span);
                    let rest: Vec<_> = operators.collect();
                    return self.splat(receiver, &rest, span);
                }
            };
            ty = self.step_type(&ty, &step, at);
            steps.push(step);
        }
        access(receiver, steps, ty, span)
    }

    /// Remaining steps of a traversal, applied to each element.
    fn splat(
        &mut self,
        receiver: Expr,
        rest: &[&hcl_edit::Decorated<TraversalOperator>],
        span: Span,
    ) -> Expr {
        let mut ty = receiver.ty.element();
        let mut steps = Vec::new();
        for operator in rest {
            let at = span_of(*operator);
            let step = match operator.value() {
                TraversalOperator::GetAttr(name) => Step::Name(name.as_str().into()),
                TraversalOperator::Index(index) => Step::Index(self.expression(index)),
                _ => {
                    self.error(at, "this is not supported yet after a splat");
                    continue;
                }
            };
            ty = self.step_type(&ty, &step, at);
            steps.push(step);
        }
        Expr {
            kind: ExprKind::Splat(Box::new(receiver), steps),
            ty: Type::List(Box::new(ty)),
            span,
        }
    }

    fn step_type(&mut self, receiver: &Type, step: &Step, span: Span) -> Type {
        let Step::Name(name) = step else {
            return receiver.element();
        };
        if let Some(ty) = receiver.member(name) {
            return ty;
        }
        let known: Vec<String> = match receiver.expand() {
            Type::Resource(Some(it)) => it.members().map(str::to_owned).collect(),
            Type::Object(fields) => fields.iter().map(|it| it.name.to_string()).collect(),
            _ => Vec::new(),
        };
        let known = known.iter().map(String::as_str);
        self.wrong_name(span, format!("unsupported attribute '{name}'"), name, known);
        Type::Dynamic
    }

    fn unary(&mut self, operation: &UnaryOp, span: Span) -> Expr {
        let operand = self.expression(&operation.expr);
        let (operator, ty) = match operation.operator.value() {
            expr::UnaryOperator::Neg => (UnaryOperator::Negate, Type::Number),
            expr::UnaryOperator::Not => (UnaryOperator::Not, Type::Bool),
        };
        self.check(&ty, &operand);
        let ty = if operand.ty == Type::Int {
            Type::Int
        } else {
            ty
        };
        Expr {
            kind: ExprKind::Unary(operator, Box::new(operand)),
            ty,
            span,
        }
    }

    fn binary(&mut self, operation: &BinaryOp, span: Span) -> Expr {
        let left = self.expression(&operation.lhs_expr);
        let right = self.expression(&operation.rhs_expr);
        use BinaryOperator as To;
        use expr::BinaryOperator as From;
        let (operator, operands, result) = match operation.operator.value() {
            From::Eq => (To::Equal, Type::Dynamic, Type::Bool),
            From::NotEq => (To::NotEqual, Type::Dynamic, Type::Bool),
            From::And => (To::And, Type::Bool, Type::Bool),
            From::Or => (To::Or, Type::Bool, Type::Bool),
            From::Less => (To::Less, Type::Number, Type::Bool),
            From::LessEq => (To::LessOrEqual, Type::Number, Type::Bool),
            From::Greater => (To::Greater, Type::Number, Type::Bool),
            From::GreaterEq => (To::GreaterOrEqual, Type::Number, Type::Bool),
            From::Plus => (To::Add, Type::Number, Type::Number),
            From::Minus => (To::Subtract, Type::Number, Type::Number),
            From::Mul => (To::Multiply, Type::Number, Type::Number),
            From::Div => (To::Divide, Type::Number, Type::Number),
            From::Mod => (To::Modulo, Type::Number, Type::Number),
        };
        self.check(&operands, &left);
        self.check(&operands, &right);
        let are_whole = left.ty == Type::Int && right.ty == Type::Int;
        let ty = match result {
            Type::Number if are_whole && operator != To::Divide => Type::Int,
            other => other,
        };
        Expr {
            kind: ExprKind::Binary(operator, Box::new([left, right])),
            ty,
            span,
        }
    }

    fn for_expression(&mut self, it: &ForExpr, span: Span) -> Expr {
        if it.grouping {
            self.error(span, "grouping in a for expression is not supported yet");
        }
        let collection = self.expression(&it.intro.collection_expr);
        let key = it
            .intro
            .key_var
            .as_ref()
            .map(|name| EcoString::from(name.as_str()));
        let value = EcoString::from(it.intro.value_var.as_str());
        let outer = self.variables.len();
        let key_type = match collection.ty.expand() {
            Type::List(_) | Type::Tuple(_) => Type::Int,
            Type::Map(_) | Type::Object(_) => Type::String,
            _ => Type::Dynamic,
        };
        self.variables
            .extend(key.clone().map(|key| (key, key_type)));
        self.variables
            .push((value.clone(), collection.ty.element()));
        let condition = it.cond.as_ref().map(|it| self.expression(&it.expr));
        let result_key = it.key_expr.as_ref().map(|key| self.expression(key));
        let result = self.expression(&it.value_expr);
        self.variables.truncate(outer);
        let element = Box::new(result.ty.clone());
        let ty = match result_key {
            Some(_) => Type::Map(element),
            None => Type::List(element),
        };
        let inner = For {
            key,
            value,
            collection,
            result_key,
            result,
            condition,
        };
        Expr {
            kind: ExprKind::For(Box::new(inner)),
            ty,
            span,
        }
    }
}

/// Expression in place of one with errors.
pub(super) fn nothing(span: Span) -> Expr {
    Expr {
        kind: ExprKind::Null,
        ty: Type::Dynamic,
        span,
    }
}

fn access(receiver: Expr, steps: Vec<Step>, ty: Type, span: Span) -> Expr {
    if steps.is_empty() {
        return receiver;
    }
    Expr {
        kind: ExprKind::Access(Box::new(receiver), steps),
        ty,
        span,
    }
}

fn strips_before(strip: Strip) -> bool {
    matches!(strip, Strip::Start | Strip::Both)
}

pub(super) fn either(left: &Type, right: &Type) -> Type {
    match (left, right) {
        (left, right) if left == right => left.clone(),
        (Type::None, other) | (other, Type::None) => Type::Union(vec![other.clone(), Type::None]),
        _ if left.has_none() || right.has_none() => {
            match either(&left.without_none(), &right.without_none()) {
                Type::Dynamic => Type::Dynamic,
                joined => Type::Union(vec![joined, Type::None]),
            }
        }
        _ => collection_of(&left.expand(), &right.expand()),
    }
}

/// Type of values that are collections of one type or of another. An empty literal is one of any type.
fn collection_of(left: &Type, right: &Type) -> Type {
    use Type::{List, Map, Object, Tuple};
    let element = || {
        let is_empty = |ty: &Type| match ty {
            Tuple(elements) => elements.is_empty(),
            Object(fields) => fields.is_empty(),
            _ => false,
        };
        match (is_empty(left), is_empty(right)) {
            (true, _) => right.element(),
            (_, true) => left.element(),
            _ => either(&left.element(), &right.element()),
        }
    };
    match (left, right) {
        (List(_) | Tuple(_), List(_) | Tuple(_)) => List(Box::new(element())),
        (Map(_) | Object(_), Map(_) | Object(_)) => Map(Box::new(element())),
        _ => Type::Dynamic,
    }
}
