//! Printer for Go files, in the layout of `gofmt`.

use super::model::{Constant, Doc, Field, Function, Interface, Item, SourceFile, Struct};

const HEADER: &str = "// Code generated from a package schema; DO NOT EDIT.\n";

/// Source text of a file.
pub(super) fn print(file: &SourceFile) -> String {
    let mut out = String::with_capacity(16 * 1024);
    out.push_str(HEADER);
    out.push('\n');
    doc(&mut out, "", &file.doc);
    line(&mut out, &["package ", &file.package]);
    imports(&mut out, &file.imports);
    for item in &file.items {
        out.push('\n');
        match item {
            Item::Struct(item) => structure(&mut out, item),
            Item::Interface(item) => interface(&mut out, item),
            Item::Function(item) => function(&mut out, item),
            Item::Constants(items) => constants(&mut out, items),
            Item::Lines { doc: about, lines } => {
                doc(&mut out, "", about);
                for text in lines {
                    line(&mut out, &[text]);
                }
            }
        }
    }
    out
}

fn line(out: &mut String, parts: &[&str]) {
    for part in parts {
        out.push_str(part);
    }
    out.push('\n');
}

fn imports(out: &mut String, groups: &[Vec<String>; 2]) {
    if groups.iter().all(Vec::is_empty) {
        return;
    }
    out.push_str("\nimport (\n");
    let mut is_first = true;
    for group in groups.iter().filter(|group| !group.is_empty()) {
        if !std::mem::replace(&mut is_first, false) {
            out.push('\n');
        }
        for import in group {
            line(out, &["\t", import]);
        }
    }
    out.push_str(")\n");
}

fn doc(out: &mut String, indent: &str, doc: &Doc) {
    for text in doc.lines.iter() {
        let space = if text.is_empty() || text.starts_with('\t') {
            ""
        } else {
            " "
        };
        line(out, &[indent, "//", space, text]);
    }
}

fn structure(out: &mut String, item: &Struct) {
    doc(out, "", &item.doc);
    line(out, &["type ", &item.name, " struct {"]);
    if let Some(base) = item.base {
        line(out, &["\t", base]);
        if !item.fields.is_empty() {
            out.push('\n');
        }
    }
    for run in runs(&item.fields, |field| &field.doc) {
        fields(out, run);
    }
    out.push_str("}\n");
}

/// Runs of items without comments between them, whose columns `gofmt` aligns.
fn runs<T>(items: &[T], doc: impl Fn(&T) -> &Doc) -> impl Iterator<Item = &[T]> {
    items.chunk_by(move |_, next| doc(next).lines.is_empty())
}

fn fields(out: &mut String, run: &[Field]) {
    let names = run.iter().map(|field| width(&field.name)).max();
    let types = run.iter().map(|field| width(&field.ty)).max();
    for field in run {
        doc(out, "\t", &field.doc);
        out.push('\t');
        padded(out, &field.name, names.unwrap_or(0));
        if field.tag.is_empty() {
            out.push_str(&field.ty);
        } else {
            padded(out, &field.ty, types.unwrap_or(0));
            out.push_str(&field.tag);
        }
        out.push('\n');
    }
}

fn constants(out: &mut String, items: &[Constant]) {
    out.push_str("const (\n");
    for run in runs(items, |item| &item.doc) {
        let names = run.iter().map(|item| width(&item.name)).max();
        for item in run {
            doc(out, "\t", &item.doc);
            out.push('\t');
            padded(out, &item.name, names.unwrap_or(0));
            line(out, &["= ", &item.value]);
        }
    }
    out.push_str(")\n");
}

fn width(text: &str) -> usize {
    text.chars().count()
}

fn padded(out: &mut String, text: &str, columns: usize) {
    out.push_str(text);
    for _ in width(text)..=columns {
        out.push(' ');
    }
}

fn interface(out: &mut String, item: &Interface) {
    doc(out, "", &item.doc);
    line(out, &["type ", &item.name, " interface {"]);
    out.push_str("\tpulumi.Input\n\n");
    for method in &item.methods {
        line(out, &["\t", method]);
    }
    out.push_str("}\n");
}

fn function(out: &mut String, item: &Function) {
    doc(out, "", &item.doc);
    for (index, text) in item.signature.iter().enumerate() {
        let indent = if index == 0 { "" } else { "\t" };
        let is_last = index + 1 == item.signature.len();
        line(out, &[indent, text, if is_last { " {" } else { "" }]);
    }
    for text in &item.body {
        if !text.text.is_empty() {
            for _ in 0..=text.indent {
                out.push('\t');
            }
        }
        line(out, &[&text.text]);
    }
    out.push_str("}\n");
}
