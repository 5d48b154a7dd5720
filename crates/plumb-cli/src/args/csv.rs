//! Lists in a single word: a record of comma-separated values.

/// Fields of a record. In quoted fields, two quotes are an escaped one.
pub(super) fn fields(record: &str) -> Vec<String> {
    if record.is_empty() {
        return Vec::new();
    }
    let mut fields = vec![String::new()];
    let mut is_quoted = false;
    let mut chars = record.chars().peekable();
    while let Some(next) = chars.next() {
        let field = fields.last_mut().expect("there is always one field");
        match next {
            '"' if is_quoted && chars.peek() == Some(&'"') => {
                field.push('"');
                chars.next();
            }
            '"' if is_quoted => is_quoted = false,
            '"' if field.is_empty() => is_quoted = true,
            ',' if !is_quoted => fields.push(String::new()),
            other => field.push(other),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::fields;

    #[test]
    fn records_are_split_at_commas_outside_quotes() {
        assert_eq!(fields("a,b"), ["a", "b"]);
        assert_eq!(fields(r#""a,b",c"#), ["a,b", "c"]);
        assert_eq!(fields(r#""say ""hi""",x"#), [r#"say "hi""#, "x"]);
        assert_eq!(fields("a,"), ["a", ""]);
        assert!(fields("").is_empty());
    }
}
