//! JSON as Go writes it with HTML escaping off: its forms of numbers and strings.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::Formatter;

/// JSON of `value` on one line.
pub fn to_json_line(value: &impl Serialize) -> String {
    let mut bytes = Vec::with_capacity(256);
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, GoFormatter);
    value
        .serialize(&mut serializer)
        .expect("writing to memory cannot fail, and every map key is a string");
    String::from_utf8(bytes).expect("the serializer writes UTF-8")
}

struct GoFormatter;

impl Formatter for GoFormatter {
    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        writer.write_all(number(value).as_bytes())
    }

    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(['\u{2028}', '\u{2029}']) {
            let (plain, separator) = rest.split_at(at);
            writer.write_all(plain.as_bytes())?;
            let escaped: &[u8] = if separator.starts_with('\u{2028}') {
                b"\\u2028"
            } else {
                b"\\u2029"
            };
            writer.write_all(escaped)?;
            rest = &separator['\u{2028}'.len_utf8()..];
        }
        writer.write_all(rest.as_bytes())
    }
}

/// The number, with an exponent only where Go uses one: below 1e-6 and from 1e21.
fn number(value: f64) -> String {
    let size = value.abs();
    if value != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = format!("{value:e}");
        return match text.split_once('e') {
            Some((digits, exponent)) if !exponent.starts_with('-') => {
                format!("{digits}e+{exponent}")
            }
            _ => text,
        };
    }
    format!("{value}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_look_as_go_writes_them() {
        let cases = [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.5, "1.5"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (1e-6, "0.000001"),
            (1.5e-9, "1.5e-9"),
            (5e-324, "5e-324"),
        ];
        for (value, expected) in cases {
            assert_eq!(to_json_line(&value), expected);
        }
    }

    #[test]
    fn html_stays_and_line_separators_are_escaped() {
        assert_eq!(to_json_line(&"a<b>&\u{2028}c\u{8}"), "\"a<b>&\\u2028c\\b\"");
    }
}
