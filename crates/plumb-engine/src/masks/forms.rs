//! Encoded forms of a text that may occur in messages: JSON, URLs, base64.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// Maximum length of a text whose base64 form is masked, because long base64 is usually broken into lines.
const LONGEST_IN_BASE64: usize = 16 * 1024;
/// Minimum length of a masked base64 text; shorter ones occur in ordinary text.
const SHORTEST_BASE64: usize = 6;

/// Encoded forms of a text that differ from the text itself.
pub(super) fn of(text: &str) -> Vec<String> {
    let whole = text.trim();
    let mut forms = Vec::new();
    let json = in_json(whole);
    forms.push(in_json(&json));
    forms.push(
        json.replace('<', "\\u003c")
            .replace('>', "\\u003e")
            .replace('&', "\\u0026"),
    );
    forms.push(in_ascii(&json));
    forms.push(json);
    let percent = in_url(whole, "%20", UPPER);
    forms.push(in_url(whole, "%20", LOWER));
    forms.push(percent.replace("%20", "+"));
    forms.push(percent);
    if whole.len() <= LONGEST_IN_BASE64 {
        in_base64(whole, &mut forms);
    }
    forms.sort();
    forms.dedup();
    forms.retain(|form| form != whole);
    forms
}

fn in_json(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap_or_default();
    let inner = quoted.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    inner.unwrap_or_default().to_owned()
}

/// The JSON string with all characters outside ASCII escaped.
fn in_ascii(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        if character.is_ascii() {
            text.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            let _ = write!(text, "\\u{unit:04x}");
        }
    }
    text
}

const UPPER: &[u8; 16] = b"0123456789ABCDEF";
const LOWER: &[u8; 16] = b"0123456789abcdef";

fn in_url(text: &str, space: &str, digits: &[u8; 16]) -> String {
    let mut form = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                form.push(byte.into());
            }
            b' ' => form.push_str(space),
            _ => {
                form.push('%');
                form.push(digits[usize::from(byte >> 4)].into());
                form.push(digits[usize::from(byte & 15)].into());
            }
        }
    }
    form
}

/// Base64 forms of the text alone, and of the part that is the same wherever the text stands in a longer one, as in
/// `user:password`. Three bytes become four characters, so there are three alignments.
fn in_base64(text: &str, forms: &mut Vec<String>) {
    for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
        forms.push(engine.encode(text));
        for before in 0..3_usize {
            let mut bytes = vec![0; before];
            bytes.extend_from_slice(text.as_bytes());
            let encoded = engine.encode(&bytes);
            // Characters that also hold bits of neighbouring bytes are excluded.
            let start = (before * 8).div_ceil(6);
            let end = bytes.len() * 8 / 6;
            if end >= start + SHORTEST_BASE64 {
                forms.push(encoded[start..end].to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    const SECRET: &str = "päss <\"&> wörd/+";

    fn is_found(text: &str) -> bool {
        of(SECRET).iter().any(|form| text.contains(form))
    }

    #[test]
    fn texts_are_found_in_json() {
        for text in [
            r#"{"a": "päss <\"&> wörd/+"}"#,
            r#""{\"a\": \"päss <\\\"&> wörd/+\"}""#,
            r#"{"a": "päss \u003c\"\u0026\u003e wörd/+"}"#,
            r#"{"a": "p\u00e4ss <\"&> w\u00f6rd/+"}"#,
        ] {
            assert!(is_found(text), "{text}");
        }
    }

    #[test]
    fn texts_are_found_in_urls() {
        for text in [
            "https://x/?a=p%C3%A4ss%20%3C%22%26%3E%20w%C3%B6rd%2F%2B",
            "https://x/?a=p%c3%a4ss%20%3c%22%26%3e%20w%c3%b6rd%2f%2b",
            "a=p%C3%A4ss+%3C%22%26%3E+w%C3%B6rd%2F%2B",
        ] {
            assert!(is_found(text), "{text}");
        }
    }

    #[test]
    fn texts_are_found_in_base64_wherever_they_stand() {
        for before in ["", "u", "me", "user:", "user1:"] {
            for behind in ["", "!", "!!", "!!!"] {
                let text = format!("{before}{SECRET}{behind}");
                assert!(is_found(&STANDARD.encode(&text)), "{text}");
                assert!(is_found(&URL_SAFE_NO_PAD.encode(&text)), "{text}");
            }
        }
    }

    #[test]
    fn a_text_that_looks_alike_in_all_forms_has_few() {
        assert!(of("plain").iter().all(|form| form.len() >= SHORTEST_BASE64));
        assert!(!of("plain").contains(&"plain".to_owned()));
    }
}
