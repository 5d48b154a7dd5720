//! `format` and `formatlist`: texts with verbs such as `%s` and `%05.1f`.

use plumb_value::Value;

use super::args::{Answer, Args};
use super::values::{json_text, text_of};

/// Flags, width and precision of a verb: the part between `%` and the letter.
#[derive(Clone, Copy, Debug, Default)]
struct Flags {
    is_left: bool,
    is_plus: bool,
    is_space: bool,
    is_sharp: bool,
    is_zero: bool,
    width: usize,
    precision: Option<usize>,
}

pub(super) fn format(args: &Args<'_>) -> Answer {
    Ok(formatted(args.text("input")?, args.list("args")?)?.into())
}

/// Formats the items of lists one by one; all lists must be as long as each other.
pub(super) fn formatlist(args: &Args<'_>) -> Answer {
    let (input, values) = (args.text("input")?, args.list("args")?);
    let mut lengths = values
        .iter()
        .filter_map(|it| it.as_array())
        .map(<[Value]>::len);
    let count = lengths.next().unwrap_or(1);
    if lengths.any(|it| it != count) {
        return Err("all list arguments must be of the same length".to_owned());
    }
    let texts = (0..count).map(|at| {
        let values = values.iter().map(|it| match it.as_array() {
            Some(items) => items[at].clone(),
            None => it.clone(),
        });
        formatted(input, &values.collect::<Vec<_>>()).map(Value::from)
    });
    Ok(Value::array(texts.collect::<Result<Vec<_>, _>>()?))
}

fn formatted(input: &str, values: &[Value]) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = input;
    let mut next = 0;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let (flags, place, behind) = flags(rest)?;
        if let Some(place) = place {
            next = place;
        }
        let verb = behind.chars().next().ok_or("the text ends within a verb")?;
        rest = &behind[verb.len_utf8()..];
        if verb == '%' {
            out.push('%');
            continue;
        }
        let value = values.get(next).ok_or_else(|| {
            format!(
                "there is no argument for the verb number {} of the text",
                next + 1
            )
        })?;
        next += 1;
        out.push_str(&padded(one(verb, value, flags)?, verb, flags));
    }
    out.push_str(rest);
    Ok(out)
}

/// Reads flags, and the number of the argument where it is written; returns what is behind.
fn flags(text: &str) -> Result<(Flags, Option<usize>, &str), String> {
    let mut flags = Flags::default();
    let mut rest = text;
    loop {
        match rest.chars().next() {
            Some('-') => flags.is_left = true,
            Some('+') => flags.is_plus = true,
            Some(' ') => flags.is_space = true,
            Some('#') => flags.is_sharp = true,
            Some('0') => flags.is_zero = true,
            _ => break,
        }
        rest = &rest[1..];
    }
    let number = |text: &mut &str| {
        let end = text
            .find(|it: char| !it.is_ascii_digit())
            .unwrap_or(text.len());
        let digits = &text[..end];
        *text = &text[end..];
        // Wide enough for every text; without a limit, a typing error takes all memory.
        digits.parse::<usize>().ok().map(|it| it.min(10_000))
    };
    flags.width = number(&mut rest).unwrap_or_default();
    if let Some(behind) = rest.strip_prefix('.') {
        rest = behind;
        flags.precision = Some(number(&mut rest).unwrap_or_default());
    }
    let mut place = None;
    if let Some(behind) = rest.strip_prefix('[') {
        let (digits, behind) = behind
            .split_once(']')
            .ok_or("an argument's number has no end")?;
        let number: usize = digits
            .parse()
            .map_err(|_| "an argument's number is no number")?;
        place = Some(
            number
                .checked_sub(1)
                .ok_or("arguments are numbered from 1")?,
        );
        rest = behind;
    }
    Ok((flags, place, rest))
}

fn one(verb: char, value: &Value, flags: Flags) -> Result<String, String> {
    let number = || {
        let number = value.as_number();
        let number = number.or_else(|| value.as_str()?.parse().ok());
        number.ok_or_else(|| format!("the verb %{verb} takes a number"))
    };
    let signed = |text: String, is_negative: bool| match (is_negative, flags) {
        (true, _) => format!("-{text}"),
        (_, Flags { is_plus: true, .. }) => format!("+{text}"),
        (_, Flags { is_space: true, .. }) => format!(" {text}"),
        _ => text,
    };
    let integer = || -> Result<i64, String> {
        let number = number()?;
        let is_whole = number.fract() == 0.0 && number.abs() < 9.3e18;
        is_whole
            .then_some(number as i64)
            .ok_or_else(|| format!("the verb %{verb} takes a whole number"))
    };
    let whole = |digits: fn(u64) -> String, mark: &str| -> Result<String, String> {
        let number = integer()?;
        let mark = if flags.is_sharp { mark } else { "" };
        Ok(signed(
            format!("{mark}{}", digits(number.unsigned_abs())),
            number < 0,
        ))
    };
    Ok(match verb {
        'v' if flags.is_sharp => json_text(value)?,
        'v' => match text_of(value) {
            Some(text) if value.as_number().is_some_and(|it| it >= 0.0) => signed(text, false),
            Some(text) => text,
            None => json_text(value)?,
        },
        't' => match value.as_bool() {
            Some(value) => value.to_string(),
            None => return Err("the verb %t takes a boolean".to_owned()),
        },
        'd' => whole(|it| it.to_string(), "")?,
        'b' => whole(|it| format!("{it:b}"), "0b")?,
        'o' => whole(|it| format!("{it:o}"), "0")?,
        'x' | 'X' if value.as_str().is_some() => {
            let text = hex::encode(value.as_str().unwrap_or_default());
            if verb == 'X' {
                text.to_uppercase()
            } else {
                text
            }
        }
        'x' => whole(|it| format!("{it:x}"), "0x")?,
        'X' => whole(|it| format!("{it:X}"), "0X")?,
        'e' | 'E' => {
            let number = number()?;
            signed(
                exponential(number.abs(), flags.precision.unwrap_or(6), verb),
                number < 0.0,
            )
        }
        'f' | 'F' => {
            let number = number()?;
            let precision = flags.precision.unwrap_or(6);
            signed(format!("{:.precision$}", number.abs()), number < 0.0)
        }
        'g' | 'G' => {
            let number = number()?;
            signed(general(number.abs(), flags.precision, verb), number < 0.0)
        }
        's' | 'q' => {
            let text = text_of(value).ok_or_else(|| format!("the verb %{verb} takes a string"))?;
            let text: String = match flags.precision {
                Some(count) => text.chars().take(count).collect(),
                None => text,
            };
            if verb == 'q' {
                json_text(&text.into())?
            } else {
                text
            }
        }
        _ => return Err(format!("there is no verb %{verb}")),
    })
}

fn exponential(number: f64, precision: usize, verb: char) -> String {
    let text = format!("{number:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}{verb}{sign}{:02}", exponent.abs()).replace(['e', 'E'], &verb.to_string())
}

/// The shorter of both forms: an exponent below 1e-4 and from 1e21, or from the precision.
fn general(number: f64, precision: Option<usize>, verb: char) -> String {
    let verb = if verb == 'G' { 'E' } else { 'e' };
    let exponent = if number == 0.0 {
        0
    } else {
        number.log10().floor() as i32
    };
    let Some(precision) = precision else {
        if (-4..21).contains(&exponent) {
            return super::values::number_text(number);
        }
        let text = format!("{number:e}");
        let (digits, _) = text.split_once('e').unwrap_or((&text, ""));
        let places = digits.split_once('.').map_or(0, |(_, it)| it.len());
        return exponential(number, places, verb);
    };
    let precision = precision.max(1);
    if exponent < -4 || exponent >= precision as i32 {
        return exponential(number, precision - 1, verb);
    }
    let places = (precision as i32 - 1 - exponent).max(0) as usize;
    let text = format!("{number:.places$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

fn padded(text: String, verb: char, flags: Flags) -> String {
    let missing = flags.width.saturating_sub(text.chars().count());
    if missing == 0 {
        return text;
    }
    if flags.is_left {
        return text + &" ".repeat(missing);
    }
    let is_number = !matches!(verb, 's' | 'q' | 'v' | 't');
    if flags.is_zero && is_number {
        let sign = text.find(|it: char| it.is_ascii_hexdigit()).unwrap_or(0);
        return format!("{}{}{}", &text[..sign], "0".repeat(missing), &text[sign..]);
    }
    " ".repeat(missing) + &text
}
