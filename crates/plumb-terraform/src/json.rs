//! Configurations in JSON, such as CDK for Terraform writes them, as configurations in Terraform's own syntax.
//!
//! JSON does not tell attributes from nested blocks: what may be either becomes an attribute, which the schema gives its shape.
//! Texts are templates, but for those that Terraform reads as they are (a default, a source) or as references
//! (`depends_on`, a type).

use std::fmt::Write as _;

use indexmap::IndexMap;
use serde::Deserialize;

type Object = IndexMap<String, Value>;

/// A value of JSON, whose objects keep their order.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Value {
    Text(String),
    List(Vec<Value>),
    Object(Object),
    Other(serde_json::Value),
}

/// The configuration in `json` in Terraform's own syntax; the error says what is wrong.
pub(crate) fn to_hcl(json: &str) -> Result<String, String> {
    let value: Value = serde_json::from_str(json).map_err(|error| error.to_string())?;
    let mut writer = Writer::default();
    for object in objects(&value).ok_or("the file has to be an object")? {
        for (kind, value) in object {
            writer.top(kind, value)?;
        }
    }
    Ok(writer.text)
}

/// How a value is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// Texts are templates.
    Template,
    /// Texts stay as they are.
    Literal,
    /// Texts are expressions.
    Expression,
}

/// Reading of an attribute in a block of this kind.
fn reading(block: &str, name: &str) -> Reading {
    use Reading::{Expression, Literal, Template};
    match (block, name) {
        (
            _,
            "depends_on" | "provider" | "providers" | "ignore_changes" | "replace_triggered_by",
        )
        | ("variable", "type")
        | ("provisioner", "when" | "on_failure")
        | ("dynamic", "iterator")
        | ("moved" | "import" | "removed", "from" | "to") => Expression,
        ("variable", "default" | "description")
        | ("output", "description")
        | ("module", "source" | "version")
        | ("terraform" | "backend" | "cloud" | "required_providers", _) => Literal,
        _ => Template,
    }
}

/// The objects of a value that is one, or a list of some.
fn objects(value: &Value) -> Option<Vec<&Object>> {
    match value {
        Value::Object(object) => Some(vec![object]),
        Value::List(items) => {
            let objects = items.iter().map(|item| match item {
                Value::Object(object) => Some(object),
                _ => None,
            });
            objects.collect()
        }
        Value::Text(_) | Value::Other(_) => None,
    }
}

#[derive(Default)]
struct Writer {
    text: String,
    depth: usize,
}

impl Writer {
    /// Writes the blocks of a kind.
    fn top(&mut self, kind: &str, value: &Value) -> Result<(), String> {
        let labels = match kind {
            "//" => {
                self.comment(value);
                return Ok(());
            }
            "resource" | "data" | "ephemeral" => 2,
            "provider" | "module" | "variable" | "output" | "check" => 1,
            _ => 0,
        };
        self.blocks(kind, &mut Vec::new(), labels, value)
    }

    /// Writes blocks whose next `missing` labels are the keys of objects.
    fn blocks(
        &mut self,
        kind: &str,
        labels: &mut Vec<String>,
        missing: usize,
        value: &Value,
    ) -> Result<(), String> {
        let wrong = || {
            format!(
                "{} has to be an object",
                [&[kind.to_owned()], &labels[..]].concat().join(".")
            )
        };
        for object in objects(value).ok_or_else(wrong)? {
            if missing == 0 {
                self.block(kind, labels, object)?;
                continue;
            }
            for (label, inner) in object.iter().filter(|(label, _)| *label != "//") {
                labels.push(label.clone());
                self.blocks(kind, labels, missing - 1, inner)?;
                labels.pop();
            }
        }
        Ok(())
    }

    fn block(&mut self, kind: &str, labels: &[String], body: &Object) -> Result<(), String> {
        self.indent();
        self.text.push_str(kind);
        for label in labels {
            let _ = write!(self.text, " {}", quoted(label));
        }
        self.text.push_str(" {\n");
        self.depth += 1;
        for (name, value) in body {
            self.entry(kind, name, value)?;
        }
        self.depth -= 1;
        self.indent();
        self.text.push_str("}\n");
        Ok(())
    }

    /// Writes an attribute or nested blocks.
    fn entry(&mut self, block: &str, name: &str, value: &Value) -> Result<(), String> {
        if name == "//" {
            self.comment(value);
            return Ok(());
        }
        let labels = match (block, name) {
            ("resource" | "data" | "ephemeral", "lifecycle" | "connection")
            | ("resource" | "data" | "output" | "lifecycle", "precondition" | "postcondition")
            | ("provisioner", "connection")
            | ("variable", "validation")
            | ("check", "assert")
            | ("removed", "lifecycle")
            | ("dynamic", "content")
            | ("terraform", "required_providers" | "cloud" | "workspaces")
            | ("cloud" | "backend", "workspaces") => 0,
            ("resource", "provisioner")
            | ("terraform", "backend" | "provider_meta")
            | (
                "resource" | "data" | "ephemeral" | "provider" | "content" | "provisioner",
                "dynamic",
            ) => 1,
            ("check", "data") => 2,
            _ => {
                self.indent();
                let value = expression(value, reading(block, name));
                let _ = writeln!(self.text, "{name} = {value}");
                return Ok(());
            }
        };
        self.blocks(name, &mut Vec::new(), labels, value)
    }

    /// Writes a comment. Those of machines, which are objects, are left out.
    fn comment(&mut self, value: &Value) {
        if let Value::Text(text) = value {
            for line in text.lines() {
                self.indent();
                let _ = writeln!(self.text, "# {line}");
            }
        }
    }

    fn indent(&mut self) {
        self.text.push_str(&"  ".repeat(self.depth));
    }
}

fn expression(value: &Value, reading: Reading) -> String {
    match value {
        Value::Other(value) => value.to_string(),
        Value::Text(text) => match reading {
            Reading::Template => template(text),
            Reading::Literal => quoted(text),
            Reading::Expression => text.clone(),
        },
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(|it| expression(it, reading)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(object) => {
            let entries = object.iter().filter(|(key, _)| *key != "//");
            let entries: Vec<String> = entries
                .map(|(key, value)| {
                    let key = match reading {
                        Reading::Template if has_template(key) => format!("({})", template(key)),
                        _ => quoted(key),
                    };
                    format!("{key} = {}", expression(value, reading))
                })
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

/// A text without templates.
fn quoted(text: &str) -> String {
    format!(
        "\"{}\"",
        escaped(text).replace("${", "$${").replace("%{", "%%{")
    )
}

/// A text as it is between quotes, with its templates.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => out.push(c),
        }
    }
    out
}

fn has_template(text: &str) -> bool {
    parts(text)
        .iter()
        .any(|part| matches!(part, Part::Sequence(_)))
}

/// A text with templates; one that is a single interpolation is its expression.
fn template(text: &str) -> String {
    let parts = parts(text);
    if let [Part::Sequence(sequence)] = parts.as_slice()
        && let Some(inner) = sequence
            .strip_prefix("${")
            .and_then(|it| it.strip_suffix('}'))
        && !inner.starts_with('~')
        && !inner.ends_with('~')
    {
        return inner.trim().to_owned();
    }
    let parts = parts.iter().map(|part| match part {
        Part::Text(text) => escaped(text),
        Part::Sequence(sequence) => (*sequence).to_owned(),
    });
    format!("\"{}\"", parts.collect::<String>())
}

/// A part of a template.
#[derive(Debug, PartialEq, Eq)]
enum Part<'t> {
    Text(&'t str),
    /// An interpolation or a directive, with its delimiters.
    Sequence(&'t str),
}

/// The parts of a template. A sequence without an end is text.
fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(found) = text[at..].find(['$', '%']).map(|it| at + it) {
        let rest = &text[found..];
        let escape = ["$${", "%%{"].iter().find(|it| rest.starts_with(**it));
        if let Some(escape) = escape {
            at = found + escape.len();
        } else if rest[1..].starts_with('{')
            && let Some(length) = sequence(rest)
        {
            if from < found {
                parts.push(Part::Text(&text[from..found]));
            }
            parts.push(Part::Sequence(&text[found..found + length]));
            from = found + length;
            at = from;
        } else {
            at = found + 1;
        }
    }
    if from < text.len() {
        parts.push(Part::Text(&text[from..]));
    }
    parts
}

/// Length of the sequence at the start of `text`: up to the brace that closes it, outside of texts.
fn sequence(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = 1;
    loop {
        let found = at + text.get(at..)?.find(['{', '}', '"'])?;
        at = found + 1;
        match text.as_bytes()[found] {
            b'{' => depth += 1,
            b'}' if depth == 1 => return Some(at),
            b'}' => depth -= 1,
            _ => at += text_within(&text[at..])?,
        }
    }
}

/// Length of a text within a sequence, with the quote that ends it. It may have sequences itself.
fn text_within(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        let found = at + text.get(at..)?.find(['"', '\\', '$', '%'])?;
        let rest = &text[found..];
        at = match rest.as_bytes() {
            [b'"', ..] => return Some(found + 1),
            [b'\\', ..] => found + 1 + rest[1..].chars().next()?.len_utf8(),
            [_, b'{', ..] => found + sequence(rest)?,
            _ => found + 1,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_templates() {
        for (text, expected) in [
            ("plain \"x\"\n", r#""plain \"x\"\n""#),
            ("${var.x}", "var.x"),
            (
                "a ${f(\"}\", {b = \"${c}\"})} d",
                r#""a ${f("}", {b = "${c}"})} d""#,
            ),
            ("$${kept} ${open", r#""$${kept} ${open""#),
            ("%{ if x }a%{ endif }", r#""%{ if x }a%{ endif }""#),
            ("${a}${b}", r#""${a}${b}""#),
            ("100%", r#""100%""#),
        ] {
            assert_eq!(template(text), expected, "{text}");
        }
        assert_eq!(quoted("${kept}"), r#""$${kept}""#);
    }

    #[test]
    fn a_file_becomes_blocks() {
        let json = r#"{
            "//": {"metadata": {"version": "1"}},
            "terraform": {"required_providers": {"aws": {"source": "aws", "version": "5.0"}}, "backend": {"local": {"path": "x"}}},
            "provider": {"aws": [{"region": "r"}, {"alias": "w", "region": "${var.r}"}]},
            "variable": {"r": {"type": "list(string)", "default": ["${x}"]}},
            "locals": {"a": {"${var.k}": 1, "b c": null}},
            "resource": {"aws_x": {"y": {
                "//": "Why.",
                "count": 2, "depends_on": ["aws_x.z"], "provider": "aws.w", "tags": {"n": "${count.index}"},
                "rule": [{"p": 1}],
                "lifecycle": {"ignore_changes": ["tags"]},
                "provisioner": [{"local-exec": {"command": "c", "when": "destroy"}}],
                "dynamic": {"r": {"for_each": "${var.l}", "content": {"v": "${r.value}"}}}
            }}},
            "output": {"o": {"value": "${aws_x.y[0].id}"}}
        }"#;
        let expected = r#"terraform {
  required_providers {
    aws = {"source" = "aws", "version" = "5.0"}
  }
  backend "local" {
    path = "x"
  }
}
provider "aws" {
  region = "r"
}
provider "aws" {
  alias = "w"
  region = var.r
}
variable "r" {
  type = list(string)
  default = ["$${x}"]
}
locals {
  a = {(var.k) = 1, "b c" = null}
}
resource "aws_x" "y" {
  # Why.
  count = 2
  depends_on = [aws_x.z]
  provider = aws.w
  tags = {"n" = count.index}
  rule = [{"p" = 1}]
  lifecycle {
    ignore_changes = [tags]
  }
  provisioner "local-exec" {
    command = "c"
    when = destroy
  }
  dynamic "r" {
    for_each = var.l
    content {
      v = r.value
    }
  }
}
output "o" {
  value = aws_x.y[0].id
}
"#;
        assert_eq!(to_hcl(json).unwrap(), expected);
        hcl_edit::parser::parse_body(expected).unwrap();
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (json, expected) in [
            ("[1]", "the file has to be an object"),
            (
                r#"{"resource": {"a": 1}}"#,
                "resource.a has to be an object",
            ),
            ("{", "EOF while parsing an object at line 1 column 1"),
        ] {
            assert_eq!(to_hcl(json).unwrap_err(), expected);
        }
    }
}
