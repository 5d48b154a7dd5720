//! JSON output of commands (`cli.md` 1.6).

use serde::Serialize;

use crate::Error;

/// Indentation per level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indent {
    /// Two spaces, for most commands.
    Two,
    /// Four spaces, for exports.
    Four,
}

/// Indented JSON with a newline at its end.
pub fn pretty(value: &impl Serialize, indent: Indent) -> String {
    let spaces: &[u8] = match indent {
        Indent::Two => b"  ",
        Indent::Four => b"    ",
    };
    let mut out = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(spaces);
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, formatter);
    value
        .serialize(&mut serializer)
        .expect("what commands print has text keys only");
    let mut text = String::from_utf8(out).expect("JSON is UTF-8");
    text.push('\n');
    text
}

/// The JSON with HTML's special characters escaped.
pub fn escape_html(json: &str) -> String {
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
}

/// Whether a command prints JSON, from `--json` and `--output`.
pub fn wants_json(json: bool, output: &str) -> Result<bool, Error> {
    match output {
        "json" => Ok(true),
        "" | "default" => Ok(json),
        other => Err(Error::user(format!(
            "output \"{other}\" not supported, valid values are: default or json"
        ))),
    }
}
