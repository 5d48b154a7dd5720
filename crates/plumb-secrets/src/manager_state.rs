//! JSON states of managers, as stored in state files.

use serde::Serialize;
use serde_json::value::RawValue;

/// JSON of a state whose serialization cannot fail.
pub(crate) fn of(state: &impl Serialize) -> Box<RawValue> {
    serde_json::value::to_raw_value(state).expect("strings and objects of strings are valid JSON")
}

/// Copy of the JSON without white space; members keep their order.
pub(crate) fn compact(state: &RawValue) -> Box<RawValue> {
    let mut compact = String::with_capacity(state.get().len());
    let (mut in_text, mut is_escaped) = (false, false);
    for next in state.get().chars() {
        if in_text || !next.is_ascii_whitespace() {
            compact.push(next);
        }
        if next == '"' && !is_escaped {
            in_text = !in_text;
        }
        is_escaped = next == '\\' && !is_escaped;
    }
    RawValue::from_string(compact).expect("valid JSON stays valid without its white space")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_goes_and_the_rest_stays() {
        let state = RawValue::from_string(
            r#" { "url" : "a b\\\" c" , "a": [ 1, null ] } "#.trim().to_owned(),
        )
        .unwrap();
        assert_eq!(compact(&state).get(), r#"{"url":"a b\\\" c","a":[1,null]}"#);
    }
}
