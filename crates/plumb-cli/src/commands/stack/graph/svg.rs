//! The picture as an SVG image, which browsers show in light and dark.

use std::fmt::Write as _;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::GraphArgs;
use super::layout::{Rect, TITLE};
use super::model::{Drawing, Edge, Node};

/// Columns of text in the box of a resource.
const COLUMNS: usize = 25;
/// Colours of packages.
const ACCENTS: [&str; 8] = [
    "#3b82c4", "#c2703d", "#3f9a63", "#9a5fc0", "#b8484f", "#2f9aa0", "#8a8a2f", "#6b7690",
];

/// Colours, for the picture by itself and in a page.
pub(super) const STYLE: &str = include_str!("graph.css");

/// An image that needs nothing else.
pub(super) fn image(drawing: &Drawing<'_>, title: &str, args: &GraphArgs) -> String {
    let (width, height) = (
        drawing.layout.size.width.max(1),
        drawing.layout.size.height.max(1),
    );
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"graph\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\"><title>{}</title>\n<style>\n{STYLE}{}</style>\n\
         <rect class=\"page\" width=\"100%\" height=\"100%\"/>\n",
        escaped(title),
        colors(args)
    );
    body(drawing, &mut out);
    out.push_str("</svg>\n");
    out
}

/// Rules for the colours that the user chose.
pub(super) fn colors(args: &GraphArgs) -> String {
    if args.dependency_edge_color == super::DEPENDENCY_COLOR {
        return String::new();
    }
    // Only what colours are written with, because anything else could end the rule.
    let is_part = |letter: &char| letter.is_ascii_alphanumeric() || "#(),.% -".contains(*letter);
    let color: String = args.dependency_edge_color.chars().filter(is_part).collect();
    format!(".graph .e {{ stroke: {color}; }}\n.graph .tip {{ fill: {color}; }}\n")
}

/// Boxes with children from the outside to the inside, then arrows, then the other boxes.
pub(super) fn body(drawing: &Drawing<'_>, out: &mut String) {
    out.push_str(
        "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
         orient=\"auto\"><path class=\"tip\" d=\"M0 0L8 4L0 8z\"/></marker><marker id=\"tip-on\" viewBox=\"0 0 8 8\" refX=\"7\" \
         refY=\"4\" markerWidth=\"6\" markerHeight=\"6\" orient=\"auto\"><path class=\"on\" d=\"M0 0L8 4L0 8z\"/></marker></defs>\n",
    );
    let nodes = || drawing.nodes.iter().enumerate();
    for (at, node) in nodes().filter(|(_, node)| node.has_children) {
        group(at, node, drawing.layout.boxes[at], out);
    }
    for edge in &drawing.edges {
        arrow(edge, drawing, out);
    }
    for (at, node) in nodes().filter(|(_, node)| !node.has_children) {
        leaf(at, node, drawing.layout.boxes[at], out);
    }
}

fn arrow(edge: &Edge, drawing: &Drawing<'_>, out: &mut String) {
    let (from, to) = (
        drawing.layout.boxes[edge.from],
        drawing.layout.boxes[edge.to],
    );
    let is_inside = |outer: Rect, inner: Rect| {
        outer.x <= inner.x
            && outer.y <= inner.y
            && inner.x + inner.width <= outer.x + outer.width
            && inner.y + inner.height <= outer.y + outer.height
    };
    // A component and its own child touch already.
    if is_inside(from, to) || is_inside(to, from) {
        return;
    }
    let (x1, y1) = (from.x + from.width / 2, from.y + from.height);
    let (x2, y2) = (to.x + to.width / 2, to.y);
    let bend = (y1.abs_diff(y2) / 2).clamp(24, 120);
    let (c1, c2) = (y1 + bend, y2.saturating_sub(bend));
    let _ = writeln!(
        out,
        "<path class=\"e\" data-a=\"{}\" data-b=\"{}\" marker-end=\"url(#tip)\" d=\"M{x1} {y1}C{x1} {c1} {x2} {c2} {x2} {y2}\">\
         <title>{}</title></path>",
        edge.from,
        edge.to,
        escaped(&edge.label)
    );
}

fn group(at: usize, node: &Node<'_>, place: Rect, out: &mut String) {
    let columns = (place.width / 8).saturating_sub(4).max(COLUMNS);
    let label = format!("{}  {}", node.urn.name(), short_type(node.urn.type_text()));
    let Rect {
        x,
        y,
        width,
        height,
    } = place;
    let _ = writeln!(
        out,
        "<g class=\"n c\" data-i=\"{at}\" transform=\"translate({x} {y})\"><title>{}</title>\
         <rect width=\"{width}\" height=\"{height}\" rx=\"10\"/><text x=\"14\" y=\"{}\">{}</text></g>",
        escaped(node.urn.as_str()),
        TITLE - 12,
        escaped(&cut(&label, columns))
    );
}

fn leaf(at: usize, node: &Node<'_>, place: Rect, out: &mut String) {
    let Rect {
        x,
        y,
        width,
        height,
    } = place;
    let type_text = short_type(node.urn.type_text());
    let class = if node.marks.contains(&"to be deleted") {
        "n l old"
    } else {
        "n l"
    };
    let _ = writeln!(
        out,
        "<g class=\"{class}\" data-i=\"{at}\" transform=\"translate({x} {y})\"><title>{}</title>\
         <rect width=\"{width}\" height=\"{height}\" rx=\"6\"/><rect class=\"a\" width=\"5\" height=\"{height}\" rx=\"2\" fill=\"{}\"/>\
         <text x=\"14\" y=\"19\" class=\"b\">{}</text><text x=\"14\" y=\"36\" class=\"t\">{}</text></g>",
        escaped(node.urn.as_str()),
        accent(&type_text),
        escaped(&cut(node.urn.name(), COLUMNS)),
        escaped(&cut(&type_text, COLUMNS + 2))
    );
}

/// Colour of the package of a type.
fn accent(type_text: &str) -> &'static str {
    let package = type_text.split(':').next().unwrap_or_default();
    let sum = package
        .bytes()
        .fold(7_usize, |sum, byte| (sum * 31 + usize::from(byte)) % 65_521);
    ACCENTS[sum % ACCENTS.len()]
}

/// A type without the file of its module: `aws:s3/bucket:Bucket` is `aws:s3:Bucket`.
fn short_type(text: &str) -> String {
    let parts: Vec<&str> = text.split(':').collect();
    match parts[..] {
        [package, module, name] => match module.split('/').next().unwrap_or_default() {
            "" | "index" => format!("{package}:{name}"),
            module => format!("{package}:{module}:{name}"),
        },
        _ => text.to_owned(),
    }
}

/// The text in at most this number of columns.
fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut used = 1;
    let start: String = text
        .chars()
        .take_while(|letter| {
            used += letter.width().unwrap_or(0);
            used <= columns
        })
        .collect();
    format!("{start}…")
}

/// The text for XML and HTML, without the control characters that neither may contain.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            letter if letter.is_control() || ('\u{fffe}'..='\u{ffff}').contains(&letter) => {
                out.push('\u{fffd}');
            }
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_short_and_fit() {
        assert_eq!(short_type("aws:s3/bucket:Bucket"), "aws:s3:Bucket");
        assert_eq!(
            short_type("random:index/randomPet:RandomPet"),
            "random:RandomPet"
        );
        assert_eq!(short_type("site"), "site");
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdefg", 6), "abcde…");
        assert_eq!(cut("日本語日本語", 6), "日本…");
    }

    #[test]
    fn no_name_ends_its_text() {
        assert_eq!(
            escaped("<a href=\"x\">'&\u{1}"),
            "&lt;a href=&quot;x&quot;&gt;&#39;&amp;\u{fffd}"
        );
    }
}
