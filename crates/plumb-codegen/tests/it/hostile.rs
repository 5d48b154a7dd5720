//! Attacks that must fail in every language: writing outside of the folder, and text of the schema as
//! code.

use std::fmt::Write as _;

use plumb_codegen::{GenerateError, Language, Purpose};
use serde_json::json;

use super::sdk_for;

/// Names of members and modules that would be paths elsewhere are rejected or made harmless.
#[test]
fn no_name_leads_out_of_the_folder() {
    let names = [
        "../../up",
        "a/../../b",
        "./a",
        "a/..",
        "..",
        "C:x",
        "a\\..\\b",
        "\u{0}a",
        "con.",
        "/etc/x",
    ];
    for language in Language::ALL {
        for name in names {
            for token in [format!("lab:{name}:Box"), format!("lab:m:{name}")] {
                let schema = json!({
                    "name": "lab", "version": "1.0.0",
                    "resources": { token.as_str(): {} }, "functions": { format!("{token}F"): {} },
                });
                let made = sdk_for(language, &schema.to_string(), Purpose::Published);
                let Ok(files) = made else {
                    assert!(
                        matches!(
                            made,
                            Err(GenerateError::Name { .. } | GenerateError::SameFile(_))
                        ),
                        "{token}: {made:?}"
                    );
                    continue;
                };
                for path in files.0.keys() {
                    let steps: Vec<&str> = path.as_str().split('/').collect();
                    let is_safe = steps.iter().all(|step| !matches!(*step, "" | "." | ".."));
                    assert!(
                        is_safe && !path.as_str().contains(['\\', ':', '\0']),
                        "{path}"
                    );
                }
            }
        }
    }
}

/// A text that closes every construct in which it may be embedded: comments, strings, templates, documentation.
const TEXT: &str = "*/ evil(); /* \"\"\" evil() \"\"\" ''' ` ${evil()} \" evil(); // \n*/ evil();\n\"\"\"\nevil()\n--> </summary> \\";

#[test]
fn texts_stay_within_comments_and_strings() {
    let schema = json!({
        "name": "lab", "version": "1.0.0", "description": TEXT, "homepage": TEXT, "license": TEXT, "keywords": [TEXT],
        "attribution": TEXT, "publisher": TEXT, "repository": TEXT, "pluginDownloadURL": TEXT,
        "config": { "variables": { "c": { "type": "string", "description": TEXT, "default": TEXT } } },
        "types": { "lab:m:Part": {
            "type": "object", "description": TEXT,
            "properties": { "x": { "type": "string", "description": TEXT, "default": TEXT, "deprecationMessage": TEXT } },
        } },
        "resources": { "lab:m:Box": {
            "description": TEXT, "deprecationMessage": TEXT, "aliases": [{ "type": TEXT }],
            "inputProperties": { "part": { "$ref": "#/types/lab:m:Part", "description": TEXT } },
            "properties": { "part": { "$ref": "#/types/lab:m:Part" } },
        } },
        "functions": { "lab:m:find": {
            "description": TEXT, "deprecationMessage": TEXT, "outputs": { "properties": { "y": { "type": "string" } } },
        } },
    });
    for language in Language::ALL.into_iter().chain([Language::Rust]) {
        let files = sdk_for(language, &schema.to_string(), Purpose::Published).unwrap();
        for (path, text) in &files.0 {
            let code = without_texts(language, path.as_str(), text);
            assert!(!code.contains("evil"), "{path}:\n{code}\n----\n{text}");
        }
    }
}

/// Code of a file, without comments and strings according to the rules of its language.
fn without_texts(language: Language, path: &str, text: &str) -> String {
    let ending = path.rsplit('.').next().unwrap_or_default();
    match (language, ending) {
        (Language::Nodejs, "ts" | "js") => skip(text, &[("/*", "*/")], &["//"], &['"', '\'', '`']),
        (Language::Go, "go") => skip(text, &[("/*", "*/"), ("`", "`")], &["//"], &['"', '\'']),
        (Language::Java, "java") | (Language::Dotnet, "cs") => {
            skip(text, &[("/*", "*/")], &["//"], &['"', '\''])
        }
        (Language::Rust, "rs") => skip(text, &[("/*", "*/")], &["//"], &['"']),
        (Language::Python, "py" | "pyi") => skip(text, &[], &["#"], &['"', '\'']),
        _ => String::new(),
    }
}

fn skip(text: &str, blocks: &[(&str, &str)], lines: &[&str], quotes: &[char]) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let block = blocks.iter().find(|(open, _)| rest.starts_with(open));
        let triple = ["\"\"\"", "'''"]
            .iter()
            .find(|it| blocks.is_empty() && rest.starts_with(**it));
        rest = if let Some((open, close)) = block {
            after(&rest[open.len()..], close)
        } else if let Some(quote) = triple {
            after_string(&rest[3..], quote)
        } else if lines.iter().any(|mark| rest.starts_with(mark)) {
            rest.find('\n').map_or("", |end| &rest[end..])
        } else if quotes.contains(&char) {
            after_string(&rest[1..], &char.to_string())
        } else {
            // Writing to a string cannot fail.
            let _ = write!(code, "{char}");
            &rest[char.len_utf8()..]
        };
    }
    code
}

fn after<'t>(text: &'t str, close: &str) -> &'t str {
    text.find(close).map_or("", |at| &text[at + close.len()..])
}

/// Text after the end of a string with escapes.
fn after_string<'t>(text: &'t str, close: &str) -> &'t str {
    let mut at = 0;
    while at < text.len() {
        if text[at..].starts_with('\\') {
            let escaped = text[at + 1..].chars().next().map_or(0, char::len_utf8);
            at += 1 + escaped;
        } else if text[at..].starts_with(close) {
            return &text[at + close.len()..];
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    ""
}
