//! Numbers.

use plumb_value::Value;

use super::args::{Answer, Args};

/// A function of one number.
pub(super) fn of_one(args: &Args<'_>, compute: impl FnOnce(f64) -> f64) -> Answer {
    Ok(compute(args.number("input")?).into())
}

pub(super) fn signum(args: &Args<'_>) -> Answer {
    of_one(args, |it| if it == 0.0 { 0.0 } else { it.signum() })
}

pub(super) fn log(args: &Args<'_>) -> Answer {
    let (input, base) = (args.number("input")?, args.number("base")?);
    Ok((input.ln() / base.ln()).into())
}

pub(super) fn pow(args: &Args<'_>) -> Answer {
    Ok(args.number("base")?.powf(args.number("exponent")?).into())
}

pub(super) fn sum(args: &Args<'_>) -> Answer {
    Ok(args.numbers("input")?.into_iter().sum::<f64>().into())
}

/// The greatest or the least of a list.
pub(super) fn extreme(args: &Args<'_>, pick: impl Fn(f64, f64) -> f64) -> Answer {
    let numbers = args.numbers("input")?.into_iter();
    match numbers.reduce(pick) {
        Some(number) => Ok(number.into()),
        None => Err("input list must not be empty".to_owned()),
    }
}

pub(super) fn parseint(args: &Args<'_>) -> Answer {
    let base = args.optional_integer("base")?.unwrap_or(10);
    if !(2..=36).contains(&base) {
        return Err("the base must be between 2 and 36".to_owned());
    }
    let text = args.text("input")?;
    match i64::from_str_radix(text, base as u32) {
        Ok(number) => Ok((number as f64).into()),
        Err(_) => Err(format!(
            "cannot parse {text:?} as an integer of base {base}"
        )),
    }
}

/// Greatest length of a range, so that a mistake does not take all memory.
const MOST: f64 = 1e6;

pub(super) fn range(args: &Args<'_>) -> Answer {
    let limit = args.number("limit")?;
    let optional = |name: &str| -> Result<Option<f64>, String> {
        if args.any(name).is_null() {
            Ok(None)
        } else {
            args.number(name).map(Some)
        }
    };
    let start = optional("start")?.unwrap_or(0.0);
    let default = if start > limit { -1.0 } else { 1.0 };
    let step = optional("step")?.filter(|it| *it != 0.0).unwrap_or(default);
    let count = ((limit - start) / step).ceil().max(0.0);
    if count > MOST {
        return Err(format!("the range has more than {MOST} numbers"));
    }
    let numbers = (0..count as u32).map(|at| Value::from(start + f64::from(at) * step));
    Ok(Value::array(numbers))
}
