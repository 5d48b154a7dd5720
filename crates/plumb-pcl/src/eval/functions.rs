//! Calls of functions of the language.

use std::collections::BTreeMap;
use std::sync::Arc;

use plumb_eval::access;
use plumb_eval::builtins;
use plumb_eval::lift::Lifted;
use plumb_eval::source::Span;
use plumb_eval::value::Val;

use super::{Evaluator, Scope, Stop, operations, problem};
use crate::expression::Expr;
use crate::functions::Callee;

impl Evaluator<'_> {
    pub(super) async fn call(
        &self,
        callee: Callee,
        args: &[Expr],
        span: Span,
        scope: &Scope<'_>,
    ) -> Result<Val, Stop> {
        let info = self.context.info;
        let text = |text: &str| Ok(Val::String(text.into()));
        match callee {
            Callee::Project => return text(&info.project),
            Callee::Stack => return text(&info.stack),
            Callee::Organization => return text(&info.organization),
            Callee::Cwd => return text(&info.program_directory.to_string_lossy()),
            Callee::RootDirectory => return text(&info.root_directory.to_string_lossy()),
            Callee::Try => return self.first_that_works(args, span, scope).await,
            Callee::Can => return self.can(&args[0], scope).await,
            Callee::GetOutput => return problem(span, "getOutput can be called by programs only"),
            Callee::Recover => return problem(span, "recover can be called by programs only"),
            _ => {}
        }
        let values = self.eval_all(args, scope).await?;
        match callee {
            Callee::Compute(name, function) => {
                let argument = match values.as_slice() {
                    [only] => only.clone(),
                    _ => Val::list(values),
                };
                builtins::call(function, name, &argument, &info.program_directory)
                    .or_else(|summary| problem(span, summary))
            }
            Callee::NotImplemented => {
                let mut lifted = Lifted::default();
                let message = lifted.strip(&values[0]);
                let message = operations::text(&message).unwrap_or_default();
                problem(span, format!("not implemented: {message}"))
            }
            _ => pure(callee, &values, span),
        }
    }

    async fn first_that_works(
        &self,
        args: &[Expr],
        span: Span,
        scope: &Scope<'_>,
    ) -> Result<Val, Stop> {
        for arg in args {
            match self.eval(arg, scope).await {
                Err(Stop::Problem(_)) => {}
                other => return other,
            }
        }
        problem(span, "no argument of try could be evaluated")
    }

    async fn can(&self, arg: &Expr, scope: &Scope<'_>) -> Result<Val, Stop> {
        match self.eval(arg, scope).await {
            Ok(_) => Ok(Val::Bool(true)),
            Err(Stop::Problem(_)) => Ok(Val::Bool(false)),
            Err(Stop::Over) => Err(Stop::Over),
        }
    }
}

/// Evaluates a function of plain values. Outputs inside collections stay as they are.
fn pure(callee: Callee, values: &[Val], span: Span) -> Result<Val, Stop> {
    let mut lifted = Lifted::default();
    let plain: Vec<Val> = values
        .iter()
        .map(|value| lifted.strip_outer(value))
        .collect();
    if lifted.unknown {
        return Ok(lifted.wrap(Val::Null));
    }
    let result = match callee {
        Callee::Element => element(&plain[0], &plain[1], span)?,
        Callee::Entries => match operations::entries(&plain[0]) {
            Some(entries) => Val::list(entries.into_iter().map(entry).collect()),
            None => return problem(span, "entries takes a list or a map"),
        },
        Callee::Lookup => lookup(&plain, span)?,
        Callee::Range => range(&plain, span)?,
        Callee::Max => extreme(&plain, f64::max, span)?,
        Callee::Min => extreme(&plain, f64::min, span)?,
        _ => Val::Null,
    };
    Ok(lifted.wrap(result))
}

fn entry((key, value): (Val, Val)) -> Val {
    let fields = [("key".into(), key), ("value".into(), value)];
    Val::Object(Arc::new(BTreeMap::from(fields)))
}

fn element(list: &Val, index: &Val, span: Span) -> Result<Val, Stop> {
    let Val::List(items) = list else {
        return problem(span, format!("element takes a list, not {}", list.kind()));
    };
    let index = operations::number(index, span)?;
    if index < 0.0 || index.fract() != 0.0 {
        return problem(span, "an index is a whole number that is not negative");
    }
    #[allow(clippy::cast_sign_loss)] // checked above
    let index = index as usize;
    match items.get(index) {
        Some(item) => Ok(item.clone()),
        None => problem(span, access::out_of_bounds(index, items.len())),
    }
}

fn lookup(args: &[Val], span: Span) -> Result<Val, Stop> {
    let (Val::Object(entries), Some(key)) = (&args[0], operations::text(&args[1])) else {
        return problem(span, "lookup takes a map and a key");
    };
    match (entries.get(&key), args.get(2)) {
        (Some(found), _) => Ok(found.clone()),
        (None, Some(default)) => Ok(default.clone()),
        (None, None) => problem(span, format!("there is no key '{key}'")),
    }
}

/// Maximum length of a range.
const MOST_NUMBERS: f64 = 1e6;

fn range(args: &[Val], span: Span) -> Result<Val, Stop> {
    let first = operations::number(&args[0], span)?;
    let (from, to) = match args.get(1) {
        None => (0.0, first),
        Some(to) => (first, operations::number(to, span)?),
    };
    if to - from > MOST_NUMBERS {
        return problem(span, "this range is too long");
    }
    let mut numbers = Vec::new();
    let mut next = from;
    while next < to {
        numbers.push(Val::Number(next));
        next += 1.0;
    }
    Ok(Val::list(numbers))
}

fn extreme(args: &[Val], pick: fn(f64, f64) -> f64, span: Span) -> Result<Val, Stop> {
    let mut best: Option<f64> = None;
    for arg in args {
        let number = operations::number(arg, span)?;
        best = Some(best.map_or(number, |best| pick(best, number)));
    }
    Ok(best.map_or(Val::Null, Val::Number))
}
