//! Override files: their blocks change blocks of the same kind and name in the other files of a module.
//!
//! Files are merged as texts, before anything is converted: an attribute takes the place of the one that it overrides, nested
//! blocks that of all nested blocks of their type. `lifecycle`, `required_providers` and locals are merged attribute by attribute.
//! Blocks without a counterpart stay in the override file.

use std::ops::Range;

use hcl_edit::Span;
use hcl_edit::structure::{Block, BlockLabel, Body, Structure};

/// A file of a module, as text and as read.
pub(crate) struct Text<'t> {
    pub(crate) text: &'t str,
    pub(crate) body: &'t Body,
}

/// The texts of a file and of an override file after the override.
pub(crate) struct Merged {
    pub(crate) base: String,
    /// The override file without the blocks and locals that have been merged.
    pub(crate) rest: String,
}

/// Applies `over` to `base`; `None` if it changes nothing there.
pub(crate) fn merge(base: &Text<'_>, over: &Text<'_>) -> Option<Merged> {
    let mut edits = Edits::default();
    let mut used = Edits::default();
    for block in over.body.blocks() {
        if block.ident.as_str() == "locals" {
            override_locals(base, over, block, &mut edits, &mut used);
        } else if let Some(overridden) = base.body.blocks().find(|it| is_same(it, block)) {
            override_body(base, overridden, over, block, &mut edits);
            used.remove(block.span());
        }
    }
    (!used.0.is_empty()).then(|| Merged {
        base: edits.apply(base.text),
        rest: used.apply(over.text),
    })
}

/// Whether two blocks declare the same thing.
fn is_same(left: &Block, right: &Block) -> bool {
    let labels = |block: &Block| -> Vec<String> {
        let labels = block.labels.iter().map(BlockLabel::as_str);
        labels.map(str::to_owned).collect()
    };
    let alias = |block: &Block| match block.ident.as_str() {
        "provider" => crate::source::text_of(block, "alias"),
        _ => None,
    };
    left.ident.as_str() == right.ident.as_str()
        && labels(left) == labels(right)
        && alias(left) == alias(right)
}

/// Overrides locals one by one, wherever they are declared.
fn override_locals(
    base: &Text<'_>,
    over: &Text<'_>,
    block: &Block,
    edits: &mut Edits,
    used: &mut Edits,
) {
    let locals = || base.body.get_blocks("locals");
    for attribute in block.body.attributes() {
        let name = attribute.key.as_str();
        let overridden = locals().find_map(|it| it.body.get_attribute(name));
        if let Some(overridden) = overridden {
            edits.replace(overridden.span(), text_of(over, attribute.span()));
            used.remove(attribute.span());
        }
    }
}

/// Overrides what is in the body of a block.
fn override_body(
    base: &Text<'_>,
    overridden: &Block,
    over: &Text<'_>,
    block: &Block,
    edits: &mut Edits,
) {
    let mut replaced: Vec<&str> = Vec::new();
    let mut added: Vec<&str> = Vec::new();
    for structure in &block.body {
        match structure {
            Structure::Attribute(attribute) => {
                match overridden.body.get_attribute(attribute.key.as_str()) {
                    Some(former) => edits.replace(former.span(), text_of(over, attribute.span())),
                    None => added.push(text_of(over, attribute.span())),
                }
            }
            Structure::Block(nested) => {
                let kind = type_of(nested);
                let is_merged = matches!(kind, "lifecycle" | "required_providers");
                let former = overridden.body.blocks().find(|it| type_of(it) == kind);
                if let Some(former) = former.filter(|_| is_merged) {
                    override_body(base, former, over, nested, edits);
                    continue;
                }
                if !replaced.contains(&kind) {
                    replaced.push(kind);
                    let former = overridden.body.blocks().filter(|it| type_of(it) == kind);
                    former.for_each(|it| edits.remove(it.span()));
                }
                added.push(text_of(over, nested.span()));
            }
        }
    }
    edits.append(base, overridden, &added);
}

/// Type of a nested block, which a dynamic block has in its label. A backend and `cloud` exclude each other.
fn type_of(block: &Block) -> &str {
    match (block.ident.as_str(), &block.labels[..]) {
        ("dynamic", [label]) => label.as_str(),
        ("cloud", _) => "backend",
        (kind, _) => kind,
    }
}

fn text_of<'t>(file: &Text<'t>, span: Option<Range<usize>>) -> &'t str {
    span.and_then(|span| file.text.get(span))
        .unwrap_or_default()
}

/// Changes of a text, which do not overlap.
#[derive(Default)]
struct Edits(Vec<(Range<usize>, String)>);

impl Edits {
    fn replace(&mut self, span: Option<Range<usize>>, text: &str) {
        self.0.extend(span.map(|span| (span, text.to_owned())));
    }

    fn remove(&mut self, span: Option<Range<usize>>) {
        self.replace(span, "");
    }

    /// Adds attributes and blocks at the end of a block, each on lines of its own.
    fn append(&mut self, file: &Text<'_>, block: &Block, added: &[&str]) {
        let Some(span) = block.span().filter(|_| !added.is_empty()) else {
            return;
        };
        let text = text_of(file, Some(span.clone()));
        let Some(end) = text.rfind('}') else { return };
        // A block on one line gets lines.
        let head = block
            .labels
            .last()
            .map_or_else(|| block.ident.span(), BlockLabel::span);
        let head = head.map_or(span.start, |it| it.end);
        let start = text_of(file, Some(head..span.end)).find('{');
        if let Some(start) = start.filter(|_| !text.contains('\n')) {
            let after = head + start + 1;
            self.replace(Some(after..after), "\n");
        }
        let at = span.start + end;
        self.replace(Some(at..at), &format!("\n{}\n", added.join("\n")));
    }

    fn apply(mut self, text: &str) -> String {
        self.0.sort_by_key(|(span, _)| (span.start, span.end));
        let mut out = String::new();
        let mut from = 0;
        for (span, replacement) in self.0 {
            if let Some(kept) = text.get(from..span.start) {
                out.push_str(kept);
                out.push_str(&replacement);
                from = span.end;
            }
        }
        out.push_str(text.get(from..).unwrap_or_default());
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(base: &str, over: &str, expected: &str, rest: &str) {
        let body = |text: &str| hcl_edit::parser::parse_body(text).unwrap();
        let (base_body, over_body) = (body(base), body(over));
        let base = Text {
            text: base,
            body: &base_body,
        };
        let over = Text {
            text: over,
            body: &over_body,
        };
        let merged = merge(&base, &over).unwrap();
        let lines = |text: &str| -> Vec<String> {
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            lines.map(str::to_owned).collect()
        };
        body(&merged.base);
        assert_eq!(lines(&merged.base), lines(expected));
        assert_eq!(merged.rest.trim(), rest);
    }

    #[test]
    fn attributes_and_nested_blocks_are_overridden() {
        check(
            "resource \"a\" \"b\" { # kept\n  x = 1 # one\n  rule { p = 1 }\n  dynamic \"rule\" {\n    for_each = []\n  }\n  lifecycle {\n    a = 1\n  }\n}\n",
            "resource \"a\" \"b\" {\n  x = 2\n  y = 3\n  rule { p = 2 }\n  lifecycle {\n    b = 2\n  }\n}\n",
            "resource \"a\" \"b\" { # kept\n x = 2 # one\n lifecycle {\n a = 1\n b = 2\n }\n y = 3\n rule { p = 2 }\n }",
            "",
        );
    }

    #[test]
    fn blocks_on_one_line_get_lines() {
        check(
            "variable \"v{\" { default = 1 }\n",
            "variable \"v{\" { type = number }\n",
            "variable \"v{\" {\n default = 1\n type = number\n }",
            "",
        );
    }

    #[test]
    fn what_overrides_nothing_stays() {
        check(
            "locals {\n  a = 1\n}\nprovider \"p\" {\n  r = 1\n}\nprovider \"p\" {\n  alias = \"x\"\n  r = 1\n}\n",
            "locals {\n  a = 2\n}\nprovider \"p\" {\n  alias = \"x\"\n  r = 2\n}\noutput \"o\" {}\n",
            "locals {\n a = 2\n }\n provider \"p\" {\n r = 1\n }\n provider \"p\" {\n alias = \"x\"\n r = 2\n }",
            "locals {\n  \n}\n\noutput \"o\" {}",
        );
    }
}
