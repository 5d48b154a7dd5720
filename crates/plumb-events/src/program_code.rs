//! Functions that a program in Node.js has serialized, as a person wants to see them.
//!
//! The SDK turns a function of the program, for example the handler of a Lambda, into a text asset. Around the function is code
//! that restores what it captures. That code has no meaning for users, and its hashes change with every change of a captured
//! value, so it is left out of what is shown.

use std::sync::LazyLock;

use regex::Regex;

/// Beginning of a serialized function.
static FUNCTION: LazyLock<Regex> = LazyLock::new(|| pattern("function __.*"));
/// Captured values, in scope of the function.
static CAPTURED: LazyLock<Regex> = LazyLock::new(|| pattern(r"    with\(\{ .* \}\) \{"));
/// Call with the captured `this` and arguments.
static CALL: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"  \}\)\.apply\(.*\)\.apply\(this, arguments\);"));
/// Code before a function without parameters, and after any function, once both of the above were shortened.
static AROUND: LazyLock<Regex> = LazyLock::new(|| {
    let before =
        r"function __.*\(\) \{\n  return \(function\(\) \{\n    with \(__closure\) \{\n\nreturn ";
    let after = r";\n\n    \}\n  \}\)\.apply\(__environment\)\.apply\(this, arguments\);\n\}";
    pattern(&format!("{before}|{after}"))
});
static BLANK_LINES: LazyLock<Regex> = LazyLock::new(|| pattern("\n{3,}"));

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is tested")
}

/// The code of a serialized function without what surrounds it; `None` for any other text.
pub(crate) fn shown(text: &str) -> Option<String> {
    let begin = FUNCTION.find(text)?.start();
    if !CAPTURED.is_match(text) || !CALL.is_match(text) {
        return None;
    }
    let code = BLANK_LINES.replace_all(&text[begin..], "\n\n");
    let code = CAPTURED.replace_all(&code, "    with (__closure) {");
    let code = CALL.replace_all(&code, "  }).apply(__environment).apply(this, arguments);");
    let code = AROUND.replace_all(&code, "");
    Some(BLANK_LINES.replace_all(&code, "\n\n").into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module as the SDK writes it, with a handler that has `parameters` and captures `captured`.
    fn module(parameters: &str, captured: &str) -> String {
        format!(
            "exports.handler = __f0;\n\nconst table = {{name: \"t\"}};\n\nfunction __f0({parameters}) {{\n  return (function() {{\n    \
             with({{ {captured}, this: undefined, arguments: undefined }}) {{\n\n\nreturn async () => 1;\n\n    }}\n  \
             }}).apply(undefined, undefined).apply(this, arguments);\n}}\n"
        )
    }

    #[test]
    fn a_function_without_parameters_stands_alone() {
        assert_eq!(
            shown(&module("", "table: table")).unwrap(),
            "async () => 1\n"
        );
    }

    #[test]
    fn what_a_function_captures_is_left_out() {
        let code = shown(&module("__0", "table: table")).unwrap();
        assert_eq!(
            code,
            "function __f0(__0) {\n  return (function() {\n    with (__closure) {\n\nreturn async () => 1\n"
        );
        assert_eq!(code, shown(&module("__0", "other: __other")).unwrap());
    }

    #[test]
    fn other_texts_are_no_functions() {
        for text in ["hello", "function __f0() {}", "exports.handler = __f0;"] {
            assert_eq!(shown(text), None);
        }
    }
}
