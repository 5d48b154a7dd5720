//! Printer for TypeScript files.

use super::model::{Callable, Class, Doc, Enum, Field, Interface, Item, Line, SourceFile};
use crate::writer::Writer;

const HEADER: &str =
    "// Generated from a package schema. Changes by hand are lost when it is generated again.";

/// Source text of a file.
pub(super) fn print(file: &SourceFile) -> String {
    let mut writer = Writer::new();
    writer.line(&[HEADER]);
    writer.blank();
    for import in &file.imports {
        writer.line(&[import]);
    }
    if !file.imports.is_empty() {
        writer.blank();
    }
    items(&mut writer, &file.items);
    writer.finish()
}

fn items(writer: &mut Writer, list: &[Item]) {
    for (index, item) in list.iter().enumerate() {
        if index > 0 {
            writer.blank();
        }
        match item {
            Item::Interface(item) => interface(writer, item),
            Item::Class(item) => class(writer, item),
            Item::Function(item) => callable(writer, item),
            Item::Enum(item) => enumeration(writer, item),
            Item::Namespace { name, items: inner } => {
                writer.block(&["export namespace ", name, " {"], "}", |writer| {
                    items(writer, inner);
                });
            }
            Item::Lines(list) => lines(writer, list),
        }
    }
}

fn doc(writer: &mut Writer, doc: &Doc) {
    if doc.lines.is_empty() {
        return;
    }
    writer.line(&["/**"]);
    for line in &doc.lines {
        if line.is_empty() {
            writer.line(&[" *"]);
        } else {
            writer.line(&[" * ", line]);
        }
    }
    writer.line(&[" */"]);
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
        writer.line(&[INDENTS[line.indent.min(INDENTS.len() - 1)], &line.text]);
    }
}

fn field(writer: &mut Writer, item: &Field) {
    doc(writer, &item.doc);
    writer.line(&[item.modifiers, &item.name, ": ", &item.ty, ";"]);
}

fn interface(writer: &mut Writer, item: &Interface) {
    doc(writer, &item.doc);
    writer.block(&["export interface ", &item.name, " {"], "}", |writer| {
        for item in &item.fields {
            field(writer, item);
        }
    });
}

fn class(writer: &mut Writer, item: &Class) {
    doc(writer, &item.doc);
    let open = ["export class ", &item.name, " extends ", item.base, " {"];
    writer.block(&open, "}", |writer| {
        for item in &item.before {
            callable(writer, item);
            writer.blank();
        }
        for item in &item.fields {
            field(writer, item);
        }
        if !item.fields.is_empty() {
            writer.blank();
        }
        for (index, item) in item.after.iter().enumerate() {
            if index > 0 {
                writer.blank();
            }
            callable(writer, item);
        }
    });
}

fn callable(writer: &mut Writer, item: &Callable) {
    doc(writer, &item.doc);
    for overload in &item.overloads {
        writer.line(&[overload, ";"]);
    }
    match &item.body {
        None => writer.line(&[&item.signature, ";"]),
        Some(body) => writer.block(&[&item.signature, " {"], "}", |writer| lines(writer, body)),
    }
}

fn enumeration(writer: &mut Writer, item: &Enum) {
    writer.block(
        &["export const ", &item.name, " = {"],
        "} as const;",
        |writer| {
            for member in &item.members {
                doc(writer, &member.doc);
                writer.line(&[&member.name, ": ", &member.value, ","]);
            }
        },
    );
    writer.blank();
    doc(writer, &item.doc);
    let name = &item.name;
    writer.line(&[
        "export type ",
        name,
        " = (typeof ",
        name,
        ")[keyof typeof ",
        name,
        "];",
    ]);
}
