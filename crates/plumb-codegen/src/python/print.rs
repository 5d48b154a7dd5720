//! Printer for Python files.

use super::model::{
    Callable, Class, Doc, Item, Line, Parameter, Parameters, Property, Setter, SourceFile, Variable,
};
use crate::writer::Writer;

const HEADER: &str =
    "# Generated from a package schema. Changes by hand are lost when it is generated again.";

/// Source text of a file.
pub(super) fn print(file: &SourceFile) -> String {
    let mut writer = Writer::new();
    writer.line(&[HEADER]);
    writer.blank();
    for import in &file.imports {
        writer.line(&[import]);
    }
    if let Some(exports) = &file.exports {
        writer.blank();
        writer.line(&["__all__ = ["]);
        for name in exports {
            writer.line(&["    '", name, "',"]);
        }
        writer.line(&["]"]);
    }
    for top in &file.items {
        match top {
            Item::Class(_) | Item::Function(_) => {
                writer.blank();
                writer.blank();
            }
            Item::Lines(_) | Item::Variable(_) | Item::Property(_) => writer.blank(),
        }
        item(&mut writer, top);
    }
    writer.finish()
}

fn item(writer: &mut Writer, one: &Item) {
    match one {
        Item::Class(it) => class(writer, it),
        Item::Function(it) => callable(writer, it),
        Item::Property(it) => property(writer, it),
        Item::Variable(it) => variable(writer, it),
        Item::Lines(it) => lines(writer, it),
    }
}

fn doc(writer: &mut Writer, doc: &Doc) {
    if doc.text.is_empty() && doc.parameters.is_empty() {
        return;
    }
    writer.line(&["\"\"\""]);
    for line in doc.text.lines() {
        writer.line(&[line]);
    }
    if !doc.text.is_empty() && !doc.parameters.is_empty() {
        writer.blank();
    }
    for parameter in &doc.parameters {
        let mut text = parameter.text.lines();
        let first = text.next().unwrap_or_default();
        let (ty, name) = (&parameter.ty, &parameter.name);
        writer.line(&[":param ", ty, " ", name, ": ", first]);
        for line in text {
            let indent = if line.is_empty() { "" } else { "       " };
            writer.line(&[indent, line]);
        }
    }
    writer.line(&["\"\"\""]);
}

fn lines(writer: &mut Writer, list: &[Line]) {
    const INDENTS: [&str; 6] = [
        "",
        "    ",
        "        ",
        "            ",
        "                ",
        "                    ",
    ];
    for line in list {
        if line.text.is_empty() {
            writer.blank();
        } else {
            writer.line(&[INDENTS[line.indent.min(INDENTS.len() - 1)], &line.text]);
        }
    }
}

fn class(writer: &mut Writer, it: &Class) {
    for decorator in &it.decorators {
        writer.line(&[decorator]);
    }
    writer.line(&["class ", &it.head, ":"]);
    writer.indented(|writer| {
        doc(writer, &it.doc);
        if it.doc.text.is_empty() && it.items.is_empty() {
            writer.line(&["pass"]);
        }
        for (index, inner) in it.items.iter().enumerate() {
            let is_apart = !matches!(inner, Item::Variable(_));
            if is_apart && (index > 0 || !it.doc.text.is_empty()) {
                writer.blank();
            }
            item(writer, inner);
        }
    });
}

fn callable(writer: &mut Writer, it: &Callable) {
    for decorator in &it.decorators {
        writer.line(&[decorator]);
    }
    signature(writer, it);
    writer.indented(|writer| {
        doc(writer, &it.doc);
        if it.body.is_empty() {
            writer.line(&["..."]);
        }
        lines(writer, &it.body);
    });
}

fn signature(writer: &mut Writer, it: &Callable) {
    let Parameters { first, rest } = &it.parameters;
    let (arrow, returns) = match &it.returns {
        Some(returns) => (" -> ", returns.as_str()),
        None => ("", ""),
    };
    let Some((last, before)) = rest.split_last() else {
        writer.line(&["def ", &it.name, "(", first, ")", arrow, returns, ":"]);
        return;
    };
    writer.line(&["def ", &it.name, "("]);
    if !first.is_empty() {
        writer.line(&["        ", first, ","]);
    }
    for one in before {
        parameter(writer, one);
    }
    parameter(writer, last);
    writer.line(&[")", arrow, returns, ":"]);
}

fn parameter(writer: &mut Writer, it: &Parameter) {
    let (colon, default) = match (it.ty.is_empty(), it.default) {
        (true, " = None") => ("", "=None"),
        (true, default) => ("", default),
        (false, default) => (": ", default),
    };
    // The `*` that ends the positional parameters gets a comma like every other parameter.
    writer.line(&["        ", &it.name, colon, &it.ty, default, ","]);
}

fn property(writer: &mut Writer, it: &Property) {
    writer.line(&["@_builtins.property"]);
    writer.line(&[&it.getter]);
    if let Some(deprecation) = &it.deprecation {
        writer.line(&[deprecation]);
    }
    let name = &it.name;
    writer.line(&["def ", name, "(self) -> ", &it.ty, ":"]);
    writer.indented(|writer| {
        text(writer, &it.doc);
        writer.line(&["return pulumi.get(self, \"", name, "\")"]);
    });
    if it.setter == Setter::Present {
        writer.blank();
        writer.line(&["@", name, ".setter"]);
        writer.line(&["def ", name, "(self, value: ", &it.ty, ") -> None:"]);
        writer.indented(|writer| {
            writer.line(&["pulumi.set(self, \"", name, "\", value)"]);
        });
    }
}

fn variable(writer: &mut Writer, it: &Variable) {
    writer.line(&[&it.definition]);
    text(writer, &it.doc);
}

fn text(writer: &mut Writer, text: &str) {
    if text.is_empty() {
        return;
    }
    writer.line(&["\"\"\""]);
    for line in text.lines() {
        writer.line(&[line]);
    }
    writer.line(&["\"\"\""]);
}
