//! Formats of dates (`formatdate`), as one replacement in the text of a timestamp.

use plumb_eval::hcl;

use crate::functions::std_call;

/// A timestamp by RFC 3339. Month, day, hour, minute and second are groups with the leading zero, and without.
const TIMESTAMP: &str = "/^(\\d\\d)(\\d\\d)-(0?(\\d{1,2}))-(0?(\\d{1,2}))T(0?(\\d{1,2})):(0?(\\d{1,2})):(0?(\\d{1,2}))(?:\\.\\d+)?(.*)$/";

/// Letters of a format, and the groups that they stand for.
const PARTS: &[(&str, &str)] = &[
    ("YYYY", "${1}${2}"),
    ("YY", "${2}"),
    ("MM", "${3}"),
    ("M", "${4}"),
    ("DD", "${5}"),
    ("D", "${6}"),
    ("hh", "${7}"),
    ("h", "${8}"),
    ("mm", "${9}"),
    ("m", "${10}"),
    ("ss", "${11}"),
    ("s", "${12}"),
    ("Z", "${13}"),
];

/// A timestamp in a format; `None` if the format has other parts, such as names of days.
pub(crate) fn formatted(format: &str, timestamp: &str) -> Option<String> {
    let pairs = [
        ("text", timestamp.to_owned()),
        ("search", hcl::quoted(TIMESTAMP)),
        ("replace", hcl::quoted(&replacement(format)?)),
    ];
    Some(std_call(
        "replace",
        &pairs.map(|(name, it)| (name.to_owned(), it)),
    ))
}

/// The replacement for a format. Letters that repeat are one part; text between apostrophes stays, and two of them are
/// one.
fn replacement(format: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = format;
    while let Some(first) = rest.chars().next() {
        if let Some(quoted) = rest.strip_prefix('\'') {
            rest = push_quoted(quoted, &mut out)?;
            continue;
        }
        let end = rest.find(|it| it != first).unwrap_or(rest.len());
        let (part, behind) = rest.split_at(end);
        rest = behind;
        if first.is_ascii_alphabetic() {
            out.push_str(PARTS.iter().find(|(letters, _)| *letters == part)?.1);
        } else {
            push_literal(part, &mut out);
        }
    }
    Some(out)
}

/// Adds the text up to the closing apostrophe; returns what follows it.
fn push_quoted<'f>(mut rest: &'f str, out: &mut String) -> Option<&'f str> {
    loop {
        let (text, behind) = rest.split_once('\'')?;
        push_literal(text, out);
        match behind.strip_prefix('\'') {
            Some(more) => {
                out.push('\'');
                rest = more;
            }
            None => return Some(behind),
        }
    }
}

fn push_literal(text: &str, out: &mut String) {
    out.push_str(&text.replace('$', "$$"));
}

#[cfg(test)]
mod tests {
    use super::replacement;

    #[test]
    fn formats_are_replacements() {
        let of = |format| replacement(format);
        assert_eq!(of("YYYY-MM-DD").as_deref(), Some("${1}${2}-${3}-${5}"));
        assert_eq!(
            of("D.M.YY 'at' h").as_deref(),
            Some("${6}.${4}.${2} at ${8}")
        );
        assert_eq!(of("'o''clock' $").as_deref(), Some("o'clock $$"));
        assert_eq!(of("EEEE"), None, "names of days");
        assert_eq!(of("'open"), None);
    }
}
