//! The graph in the DOT language, byte for byte as the reference writes it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use plumb_resource::{ResourceState, Urn};
use plumb_state::Snapshot;
use rustc_hash::FxHashMap;

use super::{GraphArgs, properties_with};

/// The graph in the DOT language.
///
/// Nodes are sorted by URN, and numbered in the order of their first mention. Dependency edges lead from a resource to its
/// dependents; parent edges lead from a child to its parent.
pub(super) fn dot(snapshot: &Snapshot, args: &GraphArgs) -> String {
    // If a URN occurs several times, the last copy counts.
    let states: BTreeMap<&Urn, &ResourceState> = snapshot
        .resources
        .iter()
        .map(|state| (&state.urn, state.as_ref()))
        .collect();
    let mut edges: FxHashMap<&Urn, Vec<Edge<'_>>> = FxHashMap::default();
    for copy in &snapshot.resources {
        let state = states[&copy.urn];
        if !args.ignore_dependency_edges {
            for dependency in state
                .dependencies
                .iter()
                .filter(|urn| states.contains_key(urn))
            {
                let edge = Edge {
                    to: &state.urn,
                    color: &args.dependency_edge_color,
                    label: properties_with(state, dependency),
                };
                edges.entry(dependency).or_default().push(edge);
            }
        }
        let parent = state.parent.as_ref().filter(|urn| states.contains_key(urn));
        if let Some(parent) = parent.filter(|_| !args.ignore_parent_edges) {
            let edge = Edge {
                to: parent,
                color: &args.parent_edge_color,
                label: String::new(),
            };
            edges.entry(&state.urn).or_default().push(edge);
        }
    }
    let mut out = String::from("strict digraph {\n");
    if !args.dot_fragment.is_empty() {
        let _ = writeln!(out, "{}", args.dot_fragment);
    }
    let mut numbers = FxHashMap::default();
    for urn in states.keys() {
        let at = number_of(urn, &mut numbers);
        let label = if args.short_node_name {
            urn.name()
        } else {
            urn.as_str()
        };
        if label.is_empty() {
            let _ = writeln!(out, "    Resource{at};");
        } else {
            let _ = writeln!(out, "    Resource{at} [label={}];", quoted(label));
        }
        for edge in edges.get(urn).into_iter().flatten() {
            let to = number_of(edge.to, &mut numbers);
            let _ = writeln!(
                out,
                "    Resource{at} -> Resource{to}{};",
                edge.attributes()
            );
        }
    }
    out.push_str("}\n");
    out
}

struct Edge<'a> {
    to: &'a Urn,
    color: &'a str,
    label: String,
}

impl Edge<'_> {
    fn attributes(&self) -> String {
        let attributes = [("color", self.color), ("label", &self.label)]
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| format!("{name} = {}", quoted(value)))
            .collect::<Vec<_>>()
            .join(", ");
        if attributes.is_empty() {
            attributes
        } else {
            format!(" [{attributes}]")
        }
    }
}

fn number_of<'u>(urn: &'u Urn, numbers: &mut FxHashMap<&'u Urn, usize>) -> usize {
    let next = numbers.len();
    *numbers.entry(urn).or_insert(next)
}

/// The text quoted for DOT, where only quotes and backslashes are special.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use plumb_resource::ResourceKind;

    use super::*;

    #[test]
    fn dependencies_lead_to_dependents_in_the_order_of_urns() {
        let state = |name: &str| {
            let urn = format!("urn:pulumi:dev::lab::lab:index:Thing::{name}");
            ResourceState::new(Urn::parse(&urn).unwrap(), ResourceKind::Custom)
        };
        let (z, mut a) = (state("z"), state("a"));
        a.dependencies = vec![z.urn.clone()].into();
        a.parent = Some(z.urn.clone());
        let resources = vec![Arc::new(z), Arc::new(a)];
        let snapshot = Snapshot {
            resources,
            ..Snapshot::default()
        };
        let args = GraphArgs {
            ignore_parent_edges: false,
            ignore_dependency_edges: false,
            dependency_edge_color: "red".into(),
            parent_edge_color: String::new(),
            short_node_name: true,
            dot_fragment: String::new(),
            format: None,
            open: false,
            file: None,
        };
        let expected = "strict digraph {\n    Resource0 [label=\"a\"];\n    Resource0 -> Resource1;\n    \
                        Resource1 [label=\"z\"];\n    Resource1 -> Resource0 [color = \"red\"];\n}\n";
        assert_eq!(dot(&snapshot, &args), expected);
        assert_eq!(quoted(r#"a"b\c"#), r#""a\"b\\c""#);
    }
}
