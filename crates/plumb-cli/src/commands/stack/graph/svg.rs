//! The graph as an SVG image: boxes in layers, dependencies above their dependents.

use std::fmt::Write as _;

use plumb_resource::Urn;
use plumb_state::Snapshot;
use rustc_hash::FxHashMap;

use super::GraphArgs;

const BOX_HEIGHT: usize = 44;
const GAP_X: usize = 24;
const GAP_Y: usize = 64;
const MARGIN: usize = 24;
/// Width of a character in labels.
const LETTER: usize = 8;
/// Maximum number of boxes in a row.
const MOST_ABREAST: usize = 12;

/// A resource in the image.
struct Node<'s> {
    title: &'s str,
    type_name: &'s str,
    urn: &'s Urn,
    x: usize,
    y: usize,
    width: usize,
}

/// SVG text of the graph.
pub(super) fn svg(snapshot: &Snapshot, args: &GraphArgs) -> String {
    let index: FxHashMap<&Urn, usize> = snapshot
        .resources
        .iter()
        .enumerate()
        .map(|(index, state)| (&state.urn, index))
        .collect();
    let edges = edges(snapshot, args, &index);
    let nodes = placed(snapshot, &layers(snapshot.resources.len(), &edges));
    let right = nodes.iter().map(|node| node.x + node.width).max();
    let bottom = nodes.iter().map(|node| node.y + BOX_HEIGHT).max();
    let (width, height) = (right.unwrap_or(0) + MARGIN, bottom.unwrap_or(0) + MARGIN);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"monospace\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
    );
    for edge in &edges {
        out.push_str(&line(&nodes[edge.from], &nodes[edge.to], edge));
    }
    for node in &nodes {
        out.push_str(&rectangle(node));
    }
    out.push_str("</svg>\n");
    out
}

/// A dependency edge.
struct Edge<'a> {
    from: usize,
    to: usize,
    color: &'a str,
    label: String,
}

fn edges<'a>(
    snapshot: &Snapshot,
    args: &'a GraphArgs,
    index: &FxHashMap<&Urn, usize>,
) -> Vec<Edge<'a>> {
    let mut edges = Vec::new();
    for (from, state) in snapshot.resources.iter().enumerate() {
        let mut add = |urn: &Urn, color: &'a str, label: String| {
            if let Some(to) = index.get(urn).copied().filter(|to| *to != from) {
                edges.push(Edge {
                    from,
                    to,
                    color,
                    label,
                });
            }
        };
        if let Some(parent) = state.parent.as_ref().filter(|_| !args.ignore_parent_edges) {
            add(parent, &args.parent_edge_color, "parent".to_owned());
        }
        if args.ignore_dependency_edges {
            continue;
        }
        for dependency in &state.dependencies {
            let properties = state.property_dependencies.iter();
            let names: Vec<&str> = properties
                .filter(|(_, urns)| urns.contains(dependency))
                .map(|(key, _)| key.as_str())
                .collect();
            add(dependency, &args.dependency_edge_color, names.join(", "));
        }
    }
    edges
}

/// Layer of each resource: one below the lowest of its dependencies, which precede it in the state.
fn layers(count: usize, edges: &[Edge<'_>]) -> Vec<usize> {
    let mut needs: Vec<Vec<usize>> = vec![Vec::new(); count];
    for edge in edges {
        needs[edge.from].push(edge.to);
    }
    let mut layers = vec![0; count];
    for at in 0..count {
        let below = needs[at].iter().filter(|to| **to < at);
        layers[at] = below.map(|to| layers[*to] + 1).max().unwrap_or(0);
    }
    layers
}

fn placed<'s>(snapshot: &'s Snapshot, layers: &[usize]) -> Vec<Node<'s>> {
    let mut nodes: Vec<Node<'s>> = snapshot
        .resources
        .iter()
        .map(|state| {
            let (title, type_name) = (state.urn.name(), state.urn.type_text());
            let letters = title.chars().count().max(type_name.chars().count());
            Node {
                title,
                type_name,
                urn: &state.urn,
                x: 0,
                y: 0,
                width: letters * LETTER + 2 * LETTER,
            }
        })
        .collect();
    let mut y = MARGIN;
    for layer in 0..=layers.iter().copied().max().unwrap_or(0) {
        let members: Vec<usize> = (0..nodes.len()).filter(|at| layers[*at] == layer).collect();
        for row in members.chunks(MOST_ABREAST) {
            let mut x = MARGIN;
            for at in row {
                (nodes[*at].x, nodes[*at].y) = (x, y);
                x += nodes[*at].width + GAP_X;
            }
            y += BOX_HEIGHT + GAP_Y;
        }
    }
    nodes
}

fn line(from: &Node<'_>, to: &Node<'_>, edge: &Edge<'_>) -> String {
    let (x1, y1) = (from.x + from.width / 2, from.y);
    let (x2, y2) = (to.x + to.width / 2, to.y + BOX_HEIGHT);
    let middle = usize::midpoint(y1, y2);
    format!(
        "<path d=\"M{x1} {y1} C{x1} {middle} {x2} {middle} {x2} {y2}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\">\
         <title>{}</title></path>\n",
        escaped(edge.color),
        escaped(&edge.label)
    )
}

fn rectangle(node: &Node<'_>) -> String {
    let mut out = format!(
        "<g><title>{}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{BOX_HEIGHT}\" rx=\"6\" fill=\"#f4f6fb\" \
         stroke=\"#475272\"/>",
        escaped(node.urn.as_str()),
        node.x,
        node.y,
        node.width
    );
    let x = node.x + LETTER;
    let _ = writeln!(
        out,
        "<text x=\"{x}\" y=\"{}\" font-weight=\"bold\">{}</text><text x=\"{x}\" y=\"{}\" fill=\"#5b647d\">{}</text></g>",
        node.y + 18,
        escaped(node.title),
        node.y + 36,
        escaped(node.type_name)
    );
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
