//! The text of the page.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use plumb_resource::{StepOp, Urn};

use super::arrangement::Arrangement;
use super::tags::{escaped, tagged};
use super::{ChangeReport, MOST_OPEN, Message, Step};
use crate::ops;
use crate::text::{counted, short_type};

/// Template of the page.
const PAGE: &str = include_str!("page.html");
/// Maximum depth of folds; what is deeper stands beside each other.
const DEEPEST: usize = 24;

pub(super) fn page(page: &ChangeReport) -> String {
    let tree = Tree::of(page);
    let mut changes = String::new();
    for root in &tree.order.roots {
        tree.node(*root, 0, &mut changes);
    }
    if changes.is_empty() {
        changes.push_str("<p class=\"none\">No changes.</p>");
    }
    let title = escaped(&page.title());
    let outputs = section("Outputs", &page.outputs);
    // Each place is filled once, in the order of the template, so that no text is taken for another place.
    let mut out = String::with_capacity(PAGE.len() + changes.len());
    let mut rest = PAGE;
    for (place, text) in [
        ("<!--TITLE-->", title.as_str()),
        ("<!--TITLE-->", &title),
        ("<!--RESULT-->", &incompleteness(page)),
        ("<!--COUNTS-->", &tagged(page.counts().trim_end())),
        ("<!--KINDS-->", &kinds(page)),
        ("<!--MESSAGES-->", &messages(&page.messages)),
        ("<!--CHANGES-->", &changes),
        ("<!--OUTPUTS-->", &outputs),
    ] {
        let (before, after) = rest.split_once(place).unwrap_or((rest, ""));
        out.extend([before, text]);
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Note that the page does not show everything.
fn incompleteness(page: &ChangeReport) -> String {
    page.incompleteness()
        .map(|note| format!("<p class=\"failed\">{}</p>", escaped(&note)))
        .unwrap_or_default()
}

fn section(title: &str, text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    format!(
        "<section><h2>{title}</h2><pre>{}</pre></section>",
        tagged(text)
    )
}

fn messages(messages: &[Message]) -> String {
    if messages.is_empty() {
        return String::new();
    }
    let mut out = String::from("<section><h2>Messages</h2>");
    for message in messages {
        let subject = message.urn.as_ref().map(|urn| {
            let (name, type_name) = (escaped(urn.name()), escaped(&short_type(urn.type_text())));
            format!("<p>{name} <span class=\"t\">{type_name}</span></p>")
        });
        let _ = write!(
            out,
            "<div class=\"m {}\">{}<pre>{}</pre></div>",
            message.class,
            subject.unwrap_or_default(),
            escaped(message.text.trim_end())
        );
    }
    out.push_str("</section>");
    out
}

/// A switch for each kind of change.
fn kinds(page: &ChangeReport) -> String {
    let mut counts: BTreeMap<&str, (StepOp, usize)> = BTreeMap::new();
    for step in page.resources.values().flat_map(|resource| &resource.steps) {
        counts.entry(step.op.as_str()).or_insert((step.op, 0)).1 += 1;
    }
    let mut out = String::new();
    for (name, (op, count)) in counts {
        let _ = write!(
            out,
            "<label class=\"k {}\"><input type=\"checkbox\" checked value=\"{name}\"> {} {count}</label>",
            color_class(op),
            sign_and_name(op)
        );
    }
    out
}

fn sign_and_name(op: StepOp) -> String {
    escaped(format!("{} {}", ops::sign(op).trim(), op.as_str()).trim())
}

/// Class of the colour of an operation, such as `f2`.
fn color_class(op: StepOp) -> String {
    let tag = ops::color(op);
    let number = tag.trim_start_matches("<{%fg ").trim_end_matches("%}>");
    if number.is_empty() {
        String::new()
    } else {
        format!("f{number}")
    }
}

/// The changes as they are folded on the page.
struct Tree<'p> {
    page: &'p ChangeReport,
    order: Arrangement,
    opens: bool,
}

impl<'p> Tree<'p> {
    fn of(page: &'p ChangeReport) -> Self {
        Tree {
            page,
            order: Arrangement::of(page),
            opens: page.count() <= MOST_OPEN,
        }
    }

    /// A resource with those below it.
    fn node(&self, at: usize, depth: usize, out: &mut String) {
        let Some((urn, resource)) = self.page.resources.get_index(at) else {
            return;
        };
        let children = &self.order.children[at];
        let is_group = !children.is_empty() && depth < DEEPEST;
        if is_group {
            let _ = write!(
                out,
                "<details class=\"g\" open><summary>{} <span class=\"t\">{}</span> <span class=\"n\">{}</span></summary>",
                escaped(urn.name()),
                escaped(&short_type(urn.type_text())),
                counted(self.order.changes[at], "change"),
            );
        }
        for step in &resource.steps {
            self.step(urn, step, out);
        }
        if is_group || depth == DEEPEST {
            self.below(at, depth, out);
        }
        if is_group {
            out.push_str("</details>\n");
        }
    }

    /// The resources below one; at the maximum depth, all of them beside each other.
    fn below(&self, at: usize, depth: usize, out: &mut String) {
        if depth < DEEPEST {
            for child in &self.order.children[at] {
                self.node(*child, depth + 1, out);
            }
            return;
        }
        let mut left: Vec<usize> = self.order.children[at].iter().rev().copied().collect();
        while let Some(at) = left.pop() {
            self.node(at, DEEPEST + 1, out);
            left.extend(self.order.children[at].iter().rev());
        }
    }

    fn step(&self, urn: &Urn, step: &Step, out: &mut String) {
        let open = if self.opens { " open" } else { "" };
        let lock = if step.is_protected {
            " <span class=\"t\">protected</span>"
        } else {
            ""
        };
        let _ = write!(
            out,
            "<details class=\"r\" data-op=\"{}\"{open}><summary><span class=\"op {}\">{}</span> {} <span class=\"t\">{}</span>{lock}</summary>",
            step.op.as_str(),
            color_class(step.op),
            sign_and_name(step.op),
            escaped(urn.name()),
            escaped(&step.type_name),
        );
        if !step.causes.is_empty() {
            out.push_str("<p class=\"why\">Because ");
            out.push_str(&escaped(&step.causes.join("; ")));
            out.push_str("</p>");
        }
        let _ = writeln!(
            out,
            "<pre>{}</pre></details>",
            tagged(step.text.trim_end_matches('\n'))
        );
    }
}
