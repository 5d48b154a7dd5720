//! Expressions.

use hcl_edit::expr::{
    Conditional, Expression, ForExpr, Object, ObjectKey, Traversal, TraversalOperator,
};
use hcl_edit::{Decorated, Span};
use plumb_eval::hcl;

use crate::convert::Converter;
use crate::fit::{access, member};
use crate::functions::std_call;
use crate::names::camel;
use crate::scope::{Meaning, Scope, Typed};
use crate::shape::Shape;
use crate::variable_type::VariableType;

impl Converter<'_, '_> {
    /// Converts an expression that may be anything.
    pub(crate) fn convert(&self, expression: &Expression, scope: &Scope) -> Typed {
        self.convert_to(expression, &Shape::Unknown, scope)
    }

    /// The text of a converted expression.
    pub(crate) fn text(&self, expression: &Expression, scope: &Scope) -> String {
        self.convert(expression, scope).text
    }

    /// Converts an expression that stands where `wanted` is expected.
    pub(crate) fn convert_to(
        &self,
        expression: &Expression,
        wanted: &Shape,
        scope: &Scope,
    ) -> Typed {
        match expression {
            Expression::Null(_) => Typed::unknown("null"),
            Expression::Bool(value) => Typed::scalar(value.value().to_string()),
            Expression::Number(number) => Typed::scalar(number.value().to_string()),
            Expression::String(text) => Typed::scalar(hcl::quoted(text.value())),
            Expression::Array(items) => {
                let items: Vec<&Expression> = items.iter().collect();
                self.list(expression, &items, wanted, scope)
            }
            Expression::Object(object) => self.object(object, wanted, scope),
            Expression::StringTemplate(template) => self.template(template.iter(), wanted, scope),
            Expression::HeredocTemplate(heredoc) => self.heredoc(heredoc, scope),
            Expression::Parenthesis(inner) => {
                let inner = self.convert_to(inner.inner(), wanted, scope);
                Typed::new(format!("({})", inner.text), inner.shape)
            }
            Expression::Conditional(it) => self.conditional(it, wanted, scope),
            Expression::UnaryOp(it) => {
                let inner = self.text(&it.expr, scope);
                Typed::scalar(format!("{}{inner}", it.operator.value()))
            }
            Expression::BinaryOp(it) => {
                let left = self.text(&it.lhs_expr, scope);
                let right = self.text(&it.rhs_expr, scope);
                Typed::scalar(format!("{left} {} {right}", it.operator.value()))
            }
            Expression::ForExpr(it) => self.for_expression(it, wanted, scope),
            Expression::FuncCall(call) => {
                let result = self.call(call, wanted, scope);
                self.fitted_to(expression, result, wanted, scope)
            }
            Expression::Variable(_) | Expression::Traversal(_) => {
                let result = self.reference(expression, scope);
                self.fitted_to(expression, result, wanted, scope)
            }
        }
    }

    fn list(
        &self,
        node: &impl Span,
        items: &[&Expression],
        wanted: &Shape,
        scope: &Scope,
    ) -> Typed {
        // A list of at most one item, which the package has without the list.
        if let Shape::Scalar | Shape::Object(_) = wanted {
            return match items {
                [] => Typed::unknown("null"),
                [one] => self.convert_to(one, wanted, scope),
                [first, ..] => {
                    self.left_out(
                        node,
                        "only the first item of the list is converted: the package has one",
                    );
                    self.convert_to(first, wanted, scope)
                }
            };
        }
        let inner = wanted.element();
        let converted = items.iter().map(|it| self.convert_to(it, &inner, scope));
        let converted: Vec<Typed> = converted.collect();
        let element = converted.first().map(|it| it.shape.clone());
        let texts: Vec<String> = converted.into_iter().map(|it| it.text).collect();
        Typed::new(hcl::list(&texts), element.unwrap_or_default().list_of())
    }

    fn object(&self, object: &Object, wanted: &Shape, scope: &Scope) -> Typed {
        let mut lines = Vec::new();
        let mut element = None;
        for (key, value) in object {
            let word = match key {
                ObjectKey::Ident(name) => Some(name.as_str()),
                ObjectKey::Expression(key) => key.as_str(),
            };
            let (key, inner) = match (word, wanted) {
                (Some(word), Shape::Object(fields)) => match fields.find(word) {
                    Some(found) => (hcl::key(&found.name), found.shape),
                    None => (hcl::key(&camel(word)), Shape::Unknown),
                },
                (Some(word), _) => (hcl::key(word), wanted.element()),
                (None, _) => (self.key(key, scope), wanted.element()),
            };
            let value = self.convert_to(value.expr(), &inner, scope);
            element.get_or_insert(value.shape);
            lines.push((key, value.text));
        }
        if let Shape::List(inner) = wanted
            && matches!(**inner, Shape::Object(_))
        {
            // JSON has the only block of a kind without a list.
            let item = self.object(object, inner, scope);
            return Typed::new(hcl::list(&[item.text]), wanted.clone());
        }
        let shape = match wanted {
            Shape::Object(_) => wanted.clone(),
            _ => element.unwrap_or_default().map_of(),
        };
        let is_short = lines.len() < 2 && !lines.iter().any(|(_, value)| value.contains('\n'));
        let text = match &lines[..] {
            [(key, value)] if is_short => format!("{{ {key} = {value} }}"),
            _ => hcl::object(&lines),
        };
        Typed::new(text, shape)
    }

    fn key(&self, key: &ObjectKey, scope: &Scope) -> String {
        let ObjectKey::Expression(key) = key else {
            return String::new();
        };
        match key {
            Expression::Parenthesis(_) | Expression::StringTemplate(_) | Expression::Number(_) => {
                let text = self.text(key, scope);
                if text.starts_with(['"', '(']) || key.is_number() {
                    text
                } else {
                    format!("({text})")
                }
            }
            other => format!("({})", self.text(other, scope)),
        }
    }

    fn conditional(&self, it: &Conditional, wanted: &Shape, scope: &Scope) -> Typed {
        let condition = self.text(&it.cond_expr, scope);
        let yes = self.convert_to(&it.true_expr, wanted, scope);
        let no = self.convert_to(&it.false_expr, wanted, scope);
        let shape = better(yes.shape, no.shape);
        Typed::new(format!("{condition} ? {} : {}", yes.text, no.text), shape)
    }

    fn for_expression(&self, it: &ForExpr, wanted: &Shape, scope: &Scope) -> Typed {
        let collection = self.convert(&it.intro.collection_expr, scope);
        let element = collection.shape.element();
        let value_name = scope.fresh(&camel(it.intro.value_var.as_str()));
        let value = Meaning::Value(Typed::new(value_name.clone(), element));
        let mut inner = scope.with(it.intro.value_var.as_str(), value);
        let mut names = value_name;
        if let Some(key) = &it.intro.key_var {
            let name = inner.fresh(&camel(key.as_str()));
            inner = inner.with(key.as_str(), Meaning::Value(Typed::scalar(name.clone())));
            names = format!("{name}, {names}");
        }
        let condition = it.cond.as_ref().map(|it| self.text(&it.expr, &inner));
        let condition = condition.map(|it| format!(" if {it}")).unwrap_or_default();
        let intro = format!("for {names} in {}", collection.text);
        let Some(key) = &it.key_expr else {
            let is_one = matches!(wanted, Shape::Scalar | Shape::Object(_));
            let item = if is_one {
                wanted.clone()
            } else {
                wanted.element()
            };
            let value = self.convert_to(&it.value_expr, &item, &inner);
            let text = format!("[{intro} : {}{condition}]", value.text);
            return if is_one {
                Typed::new(format!("singleOrNone({text})"), wanted.clone())
            } else {
                Typed::new(text, value.shape.list_of())
            };
        };
        let key = self.text(key, &inner);
        if it.grouping {
            let value = self.convert_to(&it.value_expr, &wanted.element().element(), &inner);
            let group = inner.fresh("group");
            let keys = format!("[{intro} : {key}{condition}]");
            let keys = std_call("distinct", &[("input".to_owned(), keys)]);
            let condition = match condition.strip_prefix(" if ") {
                Some(condition) => format!("{key} == {group} && ({condition})"),
                None => format!("{key} == {group}"),
            };
            let values = format!("[{intro} : {} if {condition}]", value.text);
            let text = format!("{{ for {group} in {keys} : {group} => {values} }}");
            return Typed::new(text, value.shape.list_of().map_of());
        }
        let value = self.convert_to(&it.value_expr, &wanted.element(), &inner);
        let text = format!("{{ {intro} : {key} => {}{condition} }}", value.text);
        Typed::new(text, value.shape.map_of())
    }

    /// Follows steps from a value.
    pub(crate) fn follow(
        &self,
        base: Typed,
        steps: &[Decorated<TraversalOperator>],
        scope: &Scope,
    ) -> Typed {
        let mut value = base;
        for (at, step) in steps.iter().enumerate() {
            let rest = &steps[at + 1..];
            match step.value() {
                TraversalOperator::GetAttr(name) => value = self.attribute(value, name.as_str()),
                TraversalOperator::LegacyIndex(index) => {
                    value = item(value, &index.value().to_string(), true);
                }
                TraversalOperator::Index(Expression::String(key))
                    if matches!(value.shape, Shape::Object(_) | Shape::Module(_)) =>
                {
                    value = self.attribute(value, key.value());
                }
                TraversalOperator::Index(index) => {
                    let text = self.text(index, scope);
                    value = item(value, &text, index.is_number());
                }
                TraversalOperator::FullSplat(_) => return self.splat(value, rest, &[], scope),
                TraversalOperator::AttrSplat(_) => {
                    let is_attribute = |it: &Decorated<TraversalOperator>| {
                        matches!(it.value(), TraversalOperator::GetAttr(_))
                    };
                    let end = rest.iter().position(|it| !is_attribute(it));
                    let (inner, outer) = rest.split_at(end.unwrap_or(rest.len()));
                    return self.splat(value, inner, outer, scope);
                }
            }
        }
        value
    }

    /// `inner` steps from each item of a list, then `outer` steps from the list of the results.
    fn splat(
        &self,
        list: Typed,
        inner: &[Decorated<TraversalOperator>],
        outer: &[Decorated<TraversalOperator>],
        scope: &Scope,
    ) -> Typed {
        let result = match &list.shape {
            // One block that is a list of at most one in Terraform.
            Shape::Object(_) => {
                let one = self.follow(list, inner, scope);
                Typed::new(format!("[{}]", one.text), one.shape.list_of())
            }
            shape => {
                let element = match shape {
                    Shape::Guessed => Shape::Guessed,
                    shape => shape.element(),
                };
                let is_splat = |it: &Decorated<TraversalOperator>| {
                    matches!(
                        it.value(),
                        TraversalOperator::FullSplat(_) | TraversalOperator::AttrSplat(_)
                    )
                };
                let is_looked_up = matches!(&element, Shape::Variable(ty) if ty.has_optional());
                // PCL has no splat within a splat, and no `lookup` behind one.
                if is_looked_up || inner.iter().any(is_splat) {
                    let (name, scope) = scope.with_fresh("item");
                    let item = self.follow(Typed::new(&name, element), inner, &scope);
                    let text = format!("[for {name} in {} : {}]", list.text, item.text);
                    Typed::new(text, item.shape.list_of())
                } else {
                    let item = Typed::new(format!("{}[*]", list.text), element);
                    let item = self.follow(item, inner, scope);
                    Typed::new(item.text, item.shape.list_of())
                }
            }
        };
        self.follow(result, outer, scope)
    }

    /// The property that Terraform calls `name`.
    fn attribute(&self, value: Typed, name: &str) -> Typed {
        let (name, shape) = match &value.shape {
            Shape::Object(_) if name == "id" => (name.to_owned(), Shape::Scalar),
            Shape::Object(fields) => match fields.find(name) {
                Some(found) => (found.name, found.shape),
                None => (camel(name), Shape::Unknown),
            },
            Shape::Guessed => (camel(name), Shape::Guessed),
            Shape::Module(place) => (camel(name), self.output_shape(*place, name)),
            Shape::Map(inner) => (name.to_owned(), (**inner).clone()),
            Shape::Variable(VariableType::Object(attributes)) => match attributes.get(name) {
                Some(attribute) => {
                    let text = access(&value.text, name, attribute);
                    return Typed::new(text, Shape::Variable(attribute.ty.clone()));
                }
                None => (name.to_owned(), Shape::Unknown),
            },
            Shape::Variable(ty) => (name.to_owned(), Shape::Variable(ty.element())),
            _ => (name.to_owned(), Shape::Unknown),
        };
        Typed::new(member(&value.text, &name), shape)
    }

    /// A traversal of something that is no name.
    pub(crate) fn other_traversal(&self, it: &Traversal, scope: &Scope) -> Typed {
        let base = self.convert(&it.expr, scope);
        self.follow(base, &it.operators, scope)
    }
}

/// An item of a list or map. What the package has without the list has no items.
fn item(value: Typed, index: &str, is_number: bool) -> Typed {
    match &value.shape {
        Shape::Object(_) | Shape::Scalar if is_number => value,
        Shape::Guessed => Typed::new(format!("{}[{index}]", value.text), Shape::Guessed),
        shape => {
            let element = shape.element();
            Typed::new(format!("{}[{index}]", value.text), element)
        }
    }
}

/// The shape of which more is known.
pub(crate) fn better(one: Shape, other: Shape) -> Shape {
    match (&one, &other) {
        (Shape::Unknown | Shape::Scalar, _) => other,
        (Shape::List(inner) | Shape::Map(inner), Shape::List(_) | Shape::Map(_))
            if matches!(**inner, Shape::Unknown) =>
        {
            other
        }
        _ => one,
    }
}
