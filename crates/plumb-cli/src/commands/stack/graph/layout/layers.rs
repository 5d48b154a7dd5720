//! Layers of a graph: each node below the nodes that it depends on, and near to them.
//!
//! 1. Nodes are taken in an order in which dependencies come first; in a circle, the node with the lowest number comes first, and
//!    edges that lead back to it do not count.
//! 2. A node stands one layer below its lowest dependency. A node without dependencies stands above its highest dependent.
//! 3. In sweeps down and up, the nodes of each layer are sorted by the mean place of their neighbours, so that few arrows cross.

/// Number of sweeps that sort layers.
const SWEEPS: usize = 4;

/// Nodes by their layers, from the top.
pub(super) struct Layers {
    pub(super) layers: Vec<Vec<usize>>,
    /// Nodes without edges.
    pub(super) single: Vec<usize>,
}

/// Neighbours of each node.
struct Neighbours {
    above: Vec<Vec<usize>>,
    below: Vec<Vec<usize>>,
}

/// Layers of `count` nodes with these edges, each from a node to a dependent.
pub(super) fn layers(count: usize, edges: &[(usize, usize)]) -> Layers {
    let mut neighbours = Neighbours {
        above: vec![Vec::new(); count],
        below: vec![Vec::new(); count],
    };
    for (from, to) in edges {
        neighbours.above[*to].push(*from);
        neighbours.below[*from].push(*to);
    }
    let depths = depths(&neighbours);
    let is_single =
        |at: &usize| neighbours.above[*at].is_empty() && neighbours.below[*at].is_empty();
    let mut layers: Vec<Vec<usize>> = Vec::new();
    for at in (0..count).filter(|at| !is_single(at)) {
        if layers.len() <= depths[at] {
            layers.resize(depths[at] + 1, Vec::new());
        }
        layers[depths[at]].push(at);
    }
    layers.retain(|layer| !layer.is_empty());
    sort(&mut layers, &neighbours);
    Layers {
        layers,
        single: (0..count).filter(is_single).collect(),
    }
}

/// Layer of each node.
fn depths(neighbours: &Neighbours) -> Vec<usize> {
    let order = order(neighbours);
    let mut places = vec![0; order.len()];
    for (place, at) in order.iter().enumerate() {
        places[*at] = place;
    }
    let mut depths = vec![0; order.len()];
    for at in &order {
        // Edges that lead back close a circle.
        let above = neighbours.above[*at].iter();
        let above = above.filter(|from| places[**from] < places[*at]);
        depths[*at] = above.map(|from| depths[*from] + 1).max().unwrap_or(0);
    }
    for at in order.iter().rev() {
        let has_none_above = !neighbours.above[*at]
            .iter()
            .any(|from| places[*from] < places[*at]);
        let below = neighbours.below[*at].iter();
        let below = below.filter(|to| places[**to] > places[*at]);
        let highest = below.map(|to| depths[*to]).min();
        if let Some(highest) = highest.filter(|_| has_none_above) {
            depths[*at] = highest - 1;
        }
    }
    depths
}

/// All nodes, each behind its dependencies where there is no circle.
fn order(neighbours: &Neighbours) -> Vec<usize> {
    let count = neighbours.above.len();
    let mut missing: Vec<usize> = neighbours.above.iter().map(Vec::len).collect();
    let mut is_taken = vec![false; count];
    let mut ready: Vec<usize> = (0..count).rev().filter(|at| missing[*at] == 0).collect();
    let mut order = Vec::with_capacity(count);
    let mut next = 0;
    while order.len() < count {
        let at = ready.pop().unwrap_or_else(|| {
            while is_taken[next] {
                next += 1;
            }
            next
        });
        if std::mem::replace(&mut is_taken[at], true) {
            continue;
        }
        order.push(at);
        for to in &neighbours.below[at] {
            missing[*to] -= 1;
            if missing[*to] == 0 && !is_taken[*to] {
                ready.push(*to);
            }
        }
    }
    order
}

fn sort(layers: &mut [Vec<usize>], neighbours: &Neighbours) {
    let count = neighbours.above.len();
    let mut places = vec![0.0; count];
    for layer in layers.iter() {
        note_places(layer, &mut places);
    }
    let mut means = vec![0.0; count];
    for sweep in 0..SWEEPS {
        let is_down = sweep % 2 == 0;
        let neighbours = if is_down {
            &neighbours.above
        } else {
            &neighbours.below
        };
        let mut step = |layer: &mut Vec<usize>| {
            for at in layer.iter() {
                let near = &neighbours[*at];
                let sum: f64 = near.iter().map(|it| places[*it]).sum();
                means[*at] = if near.is_empty() {
                    places[*at]
                } else {
                    sum / near.len() as f64
                };
            }
            layer.sort_by(|left, right| means[*left].total_cmp(&means[*right]));
            note_places(layer, &mut places);
        };
        if is_down {
            layers.iter_mut().for_each(&mut step);
        } else {
            layers.iter_mut().rev().for_each(&mut step);
        }
    }
}

/// Places within a layer, from 0 to 1, so that layers of different lengths can be compared.
fn note_places(layer: &[usize], places: &mut [f64]) {
    for (place, at) in layer.iter().enumerate() {
        places[*at] = (place as f64 + 0.5) / layer.len() as f64;
    }
}
