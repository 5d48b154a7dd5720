//! Interpolation: `${…}` in strings.
//!
//! `$$` is an escaped dollar sign; any other `$` without a following `{` is literal.

use ecow::EcoString;

use super::expression::{Access, Accessor, ExprKind, Part};

/// Error in the text between `${` and `}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Problem {
    #[error("unterminated interpolation")]
    Unterminated,
    #[error("missing closing quote in property name")]
    Quote,
    #[error("missing closing bracket in property access")]
    Bracket,
    #[error("missing closing bracket in list index")]
    IndexBracket,
    #[error("invalid list index")]
    Index,
    #[error("the root property must be a string subscript or a name")]
    Root,
    #[error("Property access expressions cannot be empty")]
    Empty,
}

/// Parses `text` as an expression.
pub(crate) fn parse(text: &EcoString) -> Result<ExprKind, Problem> {
    if !text.contains('$') {
        return Ok(ExprKind::String(text.clone()));
    }
    let mut parts = Vec::new();
    let mut literal = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find('$') {
        literal.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            literal.push('$');
            rest = after;
        } else if let Some(after) = rest.strip_prefix('{') {
            let (access, after) = access(after)?;
            if !literal.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut literal).into()));
            }
            parts.push(Part::Access(access));
            rest = after;
        } else {
            literal.push('$');
        }
    }
    literal.push_str(rest);
    if parts.is_empty() {
        return Ok(ExprKind::String(literal.into()));
    }
    if !literal.is_empty() {
        parts.push(Part::Text(literal.into()));
    }
    if parts.len() == 1
        && let Some(Part::Access(access)) = parts.pop_if(|part| matches!(part, Part::Access(_)))
    {
        return Ok(ExprKind::Symbol(access));
    }
    Ok(ExprKind::Interpolate(parts))
}

/// Parses a property path up to its `}`; returns the rest of the text.
fn access(text: &str) -> Result<(Access, &str), Problem> {
    let mut accessors: Vec<Accessor> = Vec::new();
    let mut rest = text;
    loop {
        let Some(first) = rest.chars().next() else {
            return Err(Problem::Unterminated);
        };
        match first {
            '}' => {
                rest = &rest[1..];
                break;
            }
            '.' => rest = &rest[1..],
            '[' => {
                let (accessor, after) = subscript(&rest[1..])?;
                accessors.push(accessor);
                rest = after;
            }
            _ => {
                let end = rest.find(['.', '[', '}']).ok_or(Problem::Unterminated)?;
                accessors.push(Accessor::Name(rest[..end].into()));
                rest = &rest[end..];
            }
        }
    }
    let mut accessors = accessors.into_iter();
    match accessors.next() {
        None => Err(Problem::Empty),
        Some(Accessor::Index(_)) => Err(Problem::Root),
        Some(Accessor::Name(root)) => Ok((
            Access {
                root,
                path: accessors.collect(),
            },
            rest,
        )),
    }
}

/// Parses a subscript after its `[`, including the `]`; returns the rest of the text.
fn subscript(text: &str) -> Result<(Accessor, &str), Problem> {
    if let Some(quoted) = text.strip_prefix('"') {
        let (name, rest) = quoted_name(quoted)?;
        let rest = rest.strip_prefix(']').ok_or(Problem::Bracket)?;
        return Ok((Accessor::Name(name), rest));
    }
    let (digits, rest) = text.split_once(']').ok_or(Problem::IndexBracket)?;
    let index = digits.parse().map_err(|_| Problem::Index)?;
    Ok((Accessor::Index(index), rest))
}

fn quoted_name(text: &str) -> Result<(EcoString, &str), Problem> {
    let mut name = EcoString::new();
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return Ok((name, &text[at + 1..])),
            '\\' => match chars.next() {
                Some((_, '"')) => name.push('"'),
                Some((_, other)) => name.extend(['\\', other]),
                None => break,
            },
            _ => name.push(char),
        }
    }
    Err(Problem::Quote)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbol(text: &str) -> String {
        match parse(&text.into()) {
            Ok(ExprKind::Symbol(access)) => access.text(),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn a_single_access_is_a_symbol() {
        for (text, expected) in [
            ("${a}", "a"),
            ("${a.b[0].c}", "a.b[0].c"),
            ("${a[\"x y\"]}", "a[\"x y\"]"),
            ("${[\"a\"].b}", "a.b"),
            ("${aws:region}", "aws:region"),
            ("${..a..b}", "a.b"),
            (r#"${a["q\"x"].y}"#, r#"a["q\"x"].y"#),
        ] {
            assert_eq!(symbol(text), expected);
        }
    }

    #[test]
    fn dollars_are_literal_unless_a_brace_follows() {
        for (text, expected) in [
            ("a$b", "a$b"),
            ("$${a}", "${a}"),
            ("$$$$", "$$"),
            ("$", "$"),
            ("$1", "$1"),
        ] {
            assert_eq!(
                parse(&text.into()),
                Ok(ExprKind::String(expected.into())),
                "{text}"
            );
        }
        let Ok(ExprKind::Interpolate(parts)) = parse(&"x-${a}-$${b}${c}".into()) else {
            panic!()
        };
        assert_eq!(parts.len(), 4);
        assert_eq!(parts[2], Part::Text("-${b}".into()));
    }

    #[test]
    fn mistakes_are_named() {
        for (text, problem) in [
            ("${a", Problem::Unterminated),
            ("${a.", Problem::Unterminated),
            ("${a[\"b]}", Problem::Quote),
            ("${a[\"b\"}", Problem::Bracket),
            ("${a[0}", Problem::IndexBracket),
            ("${a[x]}", Problem::Index),
            ("${[0]}", Problem::Root),
            ("${}", Problem::Empty),
        ] {
            assert_eq!(parse(&text.into()), Err(problem), "{text}");
        }
    }
}
