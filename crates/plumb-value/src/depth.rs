//! Limit for the nesting of values.
//!
//! Recursive functions over values need stack space for each level, so the depth of foreign JSON is measured before it is
//! parsed.

/// Deepest nesting that is parsed; upstream has the same limit.
pub const MAX_DEPTH: usize = 10_000;

/// Nesting depth of the containers in JSON text. Invalid JSON is measured as well.
pub fn json_depth(text: &str) -> usize {
    let (mut depth, mut deepest, mut is_string, mut is_escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_string => is_escaped = true,
            b'"' => is_string = !is_string,
            _ if is_string => {}
            b'{' | b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_texts_are_no_nesting() {
        for (text, expected) in [
            ("1", 0),
            ("[]", 1),
            (r#"{"a": [[1], {"b": {}}], "c": []}"#, 4),
            (r#"["[[[", "\"[[", "\\"]"#, 1),
            ("]]][", 1),
        ] {
            assert_eq!(json_depth(text), expected, "{text}");
        }
    }
}
