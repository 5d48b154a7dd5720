//! Numbers in the form of state files.

use std::fmt::Write;

/// Appends a finite number with its shortest digits; an exponent is used only below 1e-6 and from 1e21.
pub(crate) fn push_number(out: &mut String, number: f64) {
    debug_assert!(number.is_finite(), "other numbers have their own form");
    let size = number.abs();
    if size < 9_007_199_254_740_992.0
        && size.fract() == 0.0
        && (size != 0.0 || number.is_sign_positive())
    {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "an integer below two to the 53rd"
        )]
        let integer = number as i64;
        write!(out, "{integer}").expect("writing to a string cannot fail");
    } else if size != 0.0 && !(1e-6..1e21).contains(&size) {
        push_with_exponent(out, number);
    } else {
        // `Display` gives the shortest digits that parse to the same number, without an exponent.
        write!(out, "{number}").expect("writing to a string cannot fail");
    }
}

fn push_with_exponent(out: &mut String, number: f64) {
    let start = out.len();
    write!(out, "{number:e}").expect("writing to a string cannot fail");
    let digits_end = out[start..]
        .find('e')
        .map_or(out.len(), |at| start + at + 1);
    if !out[digits_end..].starts_with('-') {
        out.insert(digits_end, '+');
    }
}
