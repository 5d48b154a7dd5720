//! Resources of a state as boxes and arrows.
//!
//! Of a resource, a picture has the parts of its URN, its id and provider, and what it depends on. It never has properties, so that
//! no secret can be in it.

use std::collections::BTreeMap;

use plumb_resource::{ProviderRef, ResourceKind, ResourceState, Urn};
use plumb_state::Snapshot;
use rustc_hash::FxHashMap;

use super::layout::{self, Layout, Shape, Size};
use super::{GraphArgs, properties_with};

/// Size of the box of a resource without children.
pub(super) const LEAF: Size = Size {
    width: 208,
    height: 46,
};

/// A resource in the picture.
pub(super) struct Node<'s> {
    pub(super) urn: &'s Urn,
    pub(super) id: &'s str,
    /// URN of the provider.
    pub(super) provider: Option<&'s Urn>,
    /// The box around it.
    pub(super) parent: Option<usize>,
    pub(super) has_children: bool,
    /// What is unusual about it.
    pub(super) marks: Vec<&'static str>,
}

/// An arrow from a resource to a dependent of it.
pub(super) struct Edge {
    pub(super) from: usize,
    pub(super) to: usize,
    /// Properties of the dependent that cause the dependency.
    pub(super) label: String,
}

/// A picture.
pub(super) struct Drawing<'s> {
    pub(super) nodes: Vec<Node<'s>>,
    pub(super) edges: Vec<Edge>,
    pub(super) layout: Layout,
}

impl<'s> Drawing<'s> {
    /// Picture of a state.
    pub(super) fn of(snapshot: &'s Snapshot, args: &GraphArgs) -> Self {
        // If a URN occurs several times, the last copy counts.
        let index: FxHashMap<&Urn, usize> = snapshot
            .resources
            .iter()
            .enumerate()
            .map(|(at, state)| (&state.urn, at))
            .collect();
        let states = || snapshot.resources.iter().enumerate();
        let mut nodes: Vec<Node<'s>> = states()
            .map(|(at, state)| {
                let parent = state.parent.as_ref().filter(|_| !args.ignore_parent_edges);
                // A parent precedes its children in every valid state.
                let parent = parent
                    .and_then(|urn| index.get(urn).copied())
                    .filter(|parent| *parent < at);
                node(state, parent)
            })
            .collect();
        for at in 0..nodes.len() {
            if let Some(parent) = nodes[at].parent {
                nodes[parent].has_children = true;
            }
        }
        let edges = states().filter(|_| !args.ignore_dependency_edges);
        let edges: Vec<Edge> = edges
            .flat_map(|(to, state)| edges_of(to, state, &index))
            .collect();
        let layout = place(&nodes, &edges);
        Drawing {
            nodes,
            edges,
            layout,
        }
    }
}

fn place(nodes: &[Node<'_>], edges: &[Edge]) -> Layout {
    layout::place(&Shape {
        parents: nodes.iter().map(|node| node.parent).collect(),
        leaf: LEAF,
        edges: edges.iter().map(|edge| (edge.from, edge.to)).collect(),
    })
}

fn node(state: &ResourceState, parent: Option<usize>) -> Node<'_> {
    let marks = [
        (state.delete, "to be deleted"),
        (state.protect, "protected"),
        (state.taint, "to be replaced"),
        (state.external, "only read"),
        (state.pending_replacement, "deleted, to be created again"),
        (state.kind == ResourceKind::Component, "component"),
    ];
    Node {
        urn: &state.urn,
        id: state.id.as_str(),
        provider: state.provider.as_ref().map(ProviderRef::urn),
        parent,
        has_children: false,
        marks: marks
            .iter()
            .filter(|(is, _)| *is)
            .map(|(_, mark)| *mark)
            .collect(),
    }
}

fn edges_of(to: usize, state: &ResourceState, index: &FxHashMap<&Urn, usize>) -> Vec<Edge> {
    let mut labels: BTreeMap<usize, String> = BTreeMap::new();
    let found = |urn: &Urn| index.get(urn).copied().filter(|from| *from != to);
    for dependency in &state.dependencies {
        if let Some(from) = found(dependency) {
            labels.insert(from, properties_with(state, dependency));
        }
    }
    if let Some(from) = state.deleted_with.as_ref().and_then(found) {
        labels
            .entry(from)
            .or_insert_with(|| "deleted with it".to_owned());
    }
    let edges = labels.into_iter();
    edges
        .map(|(from, label)| Edge { from, to, label })
        .collect()
}
