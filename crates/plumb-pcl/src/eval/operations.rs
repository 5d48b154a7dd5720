//! Operators and conversions of values.

use std::sync::Arc;

use ecow::{EcoString, eco_format};
use plumb_eval::lift::Lifted;
use plumb_eval::source::Span;
use plumb_eval::value::{Output, Val};

use super::{Stop, problem};
use crate::expression::{BinaryOperator, UnaryOperator};
use crate::types::{Conversion, Type};

/// Conversion of a plain value to text; `None` if it has no text form.
pub(crate) fn text(value: &Val) -> Option<EcoString> {
    match value {
        Val::String(text) => Some(text.clone()),
        Val::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into()),
        Val::Bool(value) => Some(eco_format!("{value}")),
        Val::Number(value) => Some(eco_format!("{value}")),
        _ => None,
    }
}

/// Conversion of a plain value to a boolean.
pub(crate) fn truth(value: &Val, span: Span) -> Result<bool, Stop> {
    match value {
        Val::Bool(value) => Ok(*value),
        Val::String(text) if text == "true" => Ok(true),
        Val::String(text) if text == "false" => Ok(false),
        other => problem(
            span,
            format!("this must be true or false, not {}", other.kind()),
        ),
    }
}

/// Conversion of a plain value to a number.
pub(crate) fn number(value: &Val, span: Span) -> Result<f64, Stop> {
    let read = match value {
        Val::Number(value) => Some(*value),
        Val::String(text) => text.parse().ok(),
        _ => None,
    };
    match read {
        Some(value) => Ok(value),
        None => problem(span, format!("this must be a number, not {}", value.kind())),
    }
}

/// Keys and values of a collection.
pub(crate) fn entries(collection: &Val) -> Option<Vec<(Val, Val)>> {
    match collection {
        Val::List(items) => {
            let numbered = items.iter().enumerate();
            Some(
                numbered
                    .map(|(at, item)| (Val::Number(at as f64), item.clone()))
                    .collect(),
            )
        }
        Val::Object(entries) => Some(
            entries
                .iter()
                .map(|(key, item)| (Val::String(key.clone()), item.clone()))
                .collect(),
        ),
        _ => None,
    }
}

pub(super) fn unary(operator: UnaryOperator, operand: &Val, span: Span) -> Result<Val, Stop> {
    let mut lifted = Lifted::default();
    let plain = lifted.strip(operand);
    if lifted.unknown {
        return Ok(lifted.wrap(Val::Null));
    }
    let result = match operator {
        UnaryOperator::Negate => Val::Number(-number(&plain, span)?),
        UnaryOperator::Not => Val::Bool(!truth(&plain, span)?),
    };
    Ok(lifted.wrap(result))
}

pub(super) fn binary(
    operator: BinaryOperator,
    left: &Val,
    right: &Val,
    span: Span,
) -> Result<Val, Stop> {
    let mut lifted = Lifted::default();
    let (left, right) = (lifted.strip(left), lifted.strip(right));
    if lifted.unknown {
        return Ok(lifted.wrap(Val::Null));
    }
    let numbers = || Ok::<_, Stop>((number(&left, span)?, number(&right, span)?));
    let truths = || Ok::<_, Stop>((truth(&left, span)?, truth(&right, span)?));
    let compare = |test: fn(&f64, &f64) -> bool| {
        let (left, right) = numbers()?;
        Ok::<_, Stop>(Val::Bool(test(&left, &right)))
    };
    let compute = |compute: fn(f64, f64) -> f64| {
        let (left, right) = numbers()?;
        Ok::<_, Stop>(Val::Number(compute(left, right)))
    };
    let result = match operator {
        BinaryOperator::Equal => Val::Bool(left == right),
        BinaryOperator::NotEqual => Val::Bool(left != right),
        BinaryOperator::And => truths().map(|(left, right)| Val::Bool(left && right))?,
        BinaryOperator::Or => truths().map(|(left, right)| Val::Bool(left || right))?,
        BinaryOperator::Less => compare(f64::lt)?,
        BinaryOperator::LessOrEqual => compare(f64::le)?,
        BinaryOperator::Greater => compare(f64::gt)?,
        BinaryOperator::GreaterOrEqual => compare(f64::ge)?,
        BinaryOperator::Add => compute(|left, right| left + right)?,
        BinaryOperator::Subtract => compute(|left, right| left - right)?,
        BinaryOperator::Multiply => compute(|left, right| left * right)?,
        BinaryOperator::Divide | BinaryOperator::Modulo if numbers()?.1 == 0.0 => {
            return problem(span, "division by zero");
        }
        BinaryOperator::Divide => compute(|left, right| left / right)?,
        BinaryOperator::Modulo => compute(|left, right| left % right)?,
    };
    Ok(lifted.wrap(result))
}

/// Converts `value` to the type `wanted` where both are forms of the same value, such as `"5"` and `5`. Outputs are
/// converted when they are resolved.
pub(crate) fn coerce(value: Val, wanted: &Type) -> Val {
    match (&value, wanted.expand()) {
        (Val::Output(output), wanted) => {
            let Some(inner) = &output.value else {
                return value;
            };
            let inner = coerce(inner.clone(), &wanted);
            Val::Output(Arc::new(Output {
                value: Some(inner),
                ..(**output).clone()
            }))
        }
        (Val::Bool(_) | Val::Number(_), Type::String) => text(&value).map_or(value, Val::String),
        (Val::String(text), Type::Number | Type::Int) => {
            text.parse().map_or_else(|_| value.clone(), Val::Number)
        }
        (Val::String(text), Type::Bool) => match text.as_str() {
            "true" => Val::Bool(true),
            "false" => Val::Bool(false),
            _ => value,
        },
        (Val::List(items), Type::List(element)) => Val::list(
            items
                .iter()
                .map(|item| coerce(item.clone(), &element))
                .collect(),
        ),
        (Val::Object(entries), Type::Map(element)) => {
            let entries = entries.iter();
            let coerced = entries.map(|(key, item)| (key.clone(), coerce(item.clone(), &element)));
            Val::Object(Arc::new(coerced.collect()))
        }
        (Val::Object(entries), Type::Object(fields)) => {
            let coerced = entries.iter().map(|(key, item)| {
                let field = fields.iter().find(|field| field.name == *key);
                let item = item.clone();
                (
                    key.clone(),
                    field.map_or(item.clone(), |it| coerce(item, &it.ty)),
                )
            });
            Val::Object(Arc::new(coerced.collect()))
        }
        (_, Type::Enum(underlying, _)) => coerce(value, &underlying),
        (_, Type::Union(types)) => {
            let own = type_of(&value);
            let as_it_is = types.iter().any(|ty| is_same_kind(&ty.expand(), &own));
            let other = types
                .iter()
                .find(|ty| !as_it_is && ty.conversion_from(&own) != Conversion::None);
            match (as_it_is, other) {
                (true, _) => {
                    let kind = types.iter().find(|ty| is_same_kind(&ty.expand(), &own));
                    kind.map_or(value.clone(), |ty| coerce(value, &ty.expand()))
                }
                (false, Some(ty)) => coerce(value, ty),
                (false, None) => value,
            }
        }
        _ => value,
    }
}

fn is_same_kind(ty: &Type, own: &Type) -> bool {
    match (ty, own) {
        (Type::Dynamic, _) | (Type::Number | Type::Int, Type::Number) => true,
        (Type::Enum(underlying, _), own) => is_same_kind(underlying, own),
        (Type::Object(_) | Type::Map(_), Type::Map(_)) => true,
        (ty, own) => std::mem::discriminant(ty) == std::mem::discriminant(own),
    }
}

/// Type of a value, without the types of its parts.
fn type_of(value: &Val) -> Type {
    match value {
        Val::Null => Type::None,
        Val::Bool(_) => Type::Bool,
        Val::Number(_) => Type::Number,
        Val::String(_) | Val::Bytes(_) => Type::String,
        Val::List(_) => Type::List(Box::new(Type::Dynamic)),
        Val::Object(_) => Type::Map(Box::new(Type::Dynamic)),
        Val::Asset(_) => Type::Asset,
        Val::Archive(_) => Type::Archive,
        Val::Resource(_) | Val::Reference(_) => Type::Resource(None),
        Val::Output(_) | Val::Poison => Type::Dynamic,
    }
}
