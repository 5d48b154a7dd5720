//! Unknown runtime options, which are probably misspelt.
//!
//! They are warnings, not errors, because other versions of a host may know them.

use plumb_eval::diagnostic::probably_meant;
use serde_json::{Map, Value};

use crate::language;

/// Warnings for options that programs in `runtime` do not have; empty for languages without a built-in host.
pub fn strange_options(runtime: &str, options: &Map<String, Value>) -> Vec<String> {
    let Some(language) = language(runtime) else {
        return Vec::new();
    };
    let known = language.options;
    options
        .keys()
        .filter(|name| !known.contains(&name.as_str()))
        .map(|name| {
            let advice = match probably_meant(name, known.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("there {}", listed(known)),
            };
            format!(
                "the runtime option `{name}` in Pulumi.yaml means nothing for {runtime} programs and is ignored; {advice}"
            )
        })
        .collect()
}

fn listed(known: &[&str]) -> String {
    let quoted: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => format!("is only {last}"),
        Some((last, others)) => format!("are {} and {last}", others.join(", ")),
        None => "are none".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(runtime: &str, options: Value) -> Vec<String> {
        strange_options(runtime, options.as_object().unwrap())
    }

    #[test]
    fn options_with_no_meaning_are_told_with_what_was_meant() {
        let [told] = &told(
            "python",
            serde_json::json!({"virtualenvv": "venv", "toolchain": "pip"}),
        )[..] else {
            panic!("one option means nothing");
        };
        assert!(
            told.contains("`virtualenvv`") && told.ends_with("did you mean `virtualenv`?"),
            "{told}"
        );
    }

    #[test]
    fn where_nothing_is_near_all_are_named() {
        let strange = serde_json::json!({"colour": "red"});
        assert!(told("go", strange.clone())[0].ends_with("there are `binary` and `buildTarget`"));
        assert!(told("yaml", strange)[0].ends_with("there is only `compiler`"));
    }

    #[test]
    fn languages_of_plugins_have_options_of_their_own() {
        assert!(told("cobol", serde_json::json!({"column": 7})).is_empty());
    }
}
