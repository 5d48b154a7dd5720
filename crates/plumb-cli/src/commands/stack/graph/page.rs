//! The picture as a page: with search, details, zoom and keys. The page needs no network, and shows the picture without its script.

use std::fmt::Write as _;

use serde_json::json;

use super::GraphArgs;
use super::model::Drawing;
use super::svg::{STYLE, body, colors, escaped};

/// Template of the page.
const PAGE: &str = include_str!("page.html");

/// Page of a picture.
pub(super) fn page(drawing: &Drawing<'_>, title: &str, args: &GraphArgs) -> String {
    let size = drawing.layout.size;
    let mut picture = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"graph\" class=\"graph\" viewBox=\"0 0 {} {}\" tabindex=\"0\" \
         role=\"application\" aria-label=\"Graph of the stack; arrow keys move between resources\">\n<g id=\"view\">\n",
        size.width.max(1),
        size.height.max(1)
    );
    body(drawing, &mut picture);
    picture.push_str("</g>\n</svg>");
    let facts = format!(
        "{} resources, {} dependencies",
        drawing.nodes.len(),
        drawing.edges.len()
    );
    let mut out = String::with_capacity(PAGE.len() + picture.len() * 2);
    let mut rest = PAGE;
    // Each place is filled once, in the order of the template, so that no text is taken for another place.
    let style = format!("{STYLE}{}", colors(args));
    for (place, text) in [
        ("<!--TITLE-->", escaped(title).as_str()),
        ("/*STYLE*/", &style),
        ("<!--TITLE-->", &escaped(title)),
        ("<!--FACTS-->", &facts),
        ("<!--GRAPH-->", &picture),
        ("/*DATA*/", &data(drawing)),
    ] {
        let (before, after) = rest.split_once(place).unwrap_or((rest, ""));
        out.extend([before, text]);
        rest = after;
    }
    out.push_str(rest);
    out
}

/// JSON of the details of all resources and dependencies, which no text of a resource can end.
fn data(drawing: &Drawing<'_>) -> String {
    let mut out = String::from("{\"nodes\":[");
    for (at, node) in drawing.nodes.iter().enumerate() {
        let place = drawing.layout.boxes[at];
        let fields = json!({
            "urn": node.urn.as_str(),
            "name": node.urn.name(),
            "type": node.urn.type_text(),
            "id": node.id,
            "provider": node.provider.map(plumb_resource::Urn::as_str),
            "parent": node.parent,
            "marks": node.marks,
            "box": [place.x, place.y, place.width, place.height],
        });
        let comma = if at == 0 { "" } else { "," };
        let _ = write!(out, "{comma}\n{fields}");
    }
    out.push_str("\n],\"edges\":[");
    for (at, edge) in drawing.edges.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let _ = write!(out, "{comma}{}", json!([edge.from, edge.to, edge.label]));
    }
    out.push_str("]}");
    out.replace('<', "\\u003c")
}
