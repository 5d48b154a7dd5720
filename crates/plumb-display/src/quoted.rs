//! Strings and numbers in the formats of the reference: Go's `%q`, `%g` and `strconv.QuoteToGraphic`.

use std::fmt::Write as _;

/// `text` without quotes around it, and with unprintable characters escaped. Invalid UTF-8, which occurs in text cut inside
/// a character, is escaped byte by byte.
pub(crate) fn escaped(text: &[u8]) -> String {
    let mut out = String::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        for letter in chunk.valid().chars() {
            escape(letter, &mut out, is_printable);
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

/// `text` in quotes.
pub(crate) fn quoted(text: &[u8]) -> String {
    format!("\"{}\"", escaped(text))
}

/// `text` with characters escaped that are neither graphic nor spaces; quotes and backslashes are kept.
pub(crate) fn graphic(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.push(letter),
            _ => escape(letter, &mut out, |it| is_printable(it) || is_blank(it)),
        }
    }
    out
}

fn escape(letter: char, out: &mut String, is_plain: impl Fn(char) -> bool) {
    let short = match letter {
        '"' | '\\' => Some(letter),
        '\u{7}' => Some('a'),
        '\u{8}' => Some('b'),
        '\u{c}' => Some('f'),
        '\n' => Some('n'),
        '\r' => Some('r'),
        '\t' => Some('t'),
        '\u{b}' => Some('v'),
        _ => None,
    };
    let code = u32::from(letter);
    if let Some(short) = short {
        out.push('\\');
        out.push(short);
    } else if is_plain(letter) {
        out.push(letter);
    } else if code < 0x20 || code == 0x7f {
        let _ = write!(out, "\\x{code:02x}");
    } else if code < 0x1_0000 {
        let _ = write!(out, "\\u{code:04x}");
    } else {
        let _ = write!(out, "\\U{code:08x}");
    }
}

/// Whether the character is a letter, mark, number, punctuation, symbol or the ASCII space. Tested with `escape_debug` of
/// the standard library, which escapes all others; the letter before it prevents the escaping of marks.
fn is_printable(letter: char) -> bool {
    if letter.is_ascii() {
        return matches!(letter, ' '..='~');
    }
    let mut text = [b'x', 0, 0, 0, 0];
    let length = letter.encode_utf8(&mut text[1..]).len();
    let text = std::str::from_utf8(&text[..=length]).expect("a letter and a character are text");
    text.escape_debug().nth(2).is_none()
}

/// Spaces that the standard library escapes although they are visible as such.
fn is_blank(letter: char) -> bool {
    matches!(
        letter,
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
    )
}

/// Number: integers with all digits, others with the shortest unique digits; without an exponent from 1e-4 up to 1e6.
pub(crate) fn number(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    if number.fract() == 0.0 {
        return format!("{number:.0}");
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific
        .split_once('e')
        .expect("the form with an exponent has one");
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        return format!("{number}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_those_of_go() {
        assert_eq!(
            escaped(
                "a\"b\\c\n\t\u{7}\u{1}\u{7f}é\u{a0}\u{200b}\u{1f600}\u{e000}x\u{301}".as_bytes()
            ),
            r#"a\"b\\c\n\t\a\x01\x7fé\u00a0\u200b😀\ue000x"#.to_owned() + "\u{301}"
        );
        assert_eq!(quoted(&"é".as_bytes()[..1]), r#""\xc3""#);
        assert_eq!(
            graphic("a \"b\"\\\u{a0}\n\u{200b}"),
            "a \"b\"\\\u{a0}\\n\\u200b"
        );
    }

    #[test]
    fn numbers_are_those_of_go() {
        for (value, text) in [
            (1.0, "1"),
            (-0.0, "-0"),
            (1e21, "1000000000000000000000"),
            (0.5, "0.5"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1.5e-7, "1.5e-07"),
            (1_234_567.5, "1.2345675e+06"),
            (123_456.5, "123456.5"),
        ] {
            assert_eq!(number(value), text);
        }
    }
}
