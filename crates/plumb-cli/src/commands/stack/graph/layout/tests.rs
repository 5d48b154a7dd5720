use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

const LEAF: Size = Size {
    width: 200,
    height: 44,
};

/// Any forest of boxes with edges that lead from lower to higher numbers.
fn shapes(nested: bool) -> impl Strategy<Value = Shape> {
    (1..60_usize).prop_flat_map(move |count| {
        let parents = prop::collection::vec(
            prop::option::weighted(0.6, any::<prop::sample::Index>()),
            count,
        );
        let edges = prop::collection::vec((0..count, 0..count), 0..2 * count);
        (parents, edges).prop_map(move |(parents, edges)| Shape {
            parents: parents
                .iter()
                .enumerate()
                .map(|(at, parent)| {
                    parent
                        .filter(|_| nested && at > 0)
                        .map(|parent| parent.index(at))
                })
                .collect(),
            leaf: LEAF,
            edges: edges
                .into_iter()
                .filter(|(from, to)| from != to)
                .map(|(from, to)| (from.min(to), from.max(to)))
                .collect(),
        })
    })
}

fn is_around(shape: &Shape, outer: usize, inner: usize) -> bool {
    let mut at = shape.parents[inner];
    while let Some(parent) = at {
        if parent == outer {
            return true;
        }
        at = shape.parents[parent];
    }
    false
}

fn contains(outer: Rect, inner: Rect) -> bool {
    outer.x < inner.x
        && outer.y + TITLE <= inner.y
        && inner.x + inner.width < outer.x + outer.width
        && inner.y + inner.height < outer.y + outer.height
}

fn are_apart(left: Rect, right: Rect) -> bool {
    left.x + left.width + GAP_X <= right.x
        || right.x + right.width + GAP_X <= left.x
        || left.y + left.height + GAP_Y <= right.y
        || right.y + right.height + GAP_Y <= left.y
}

/// Whether boxes beside each other depend on each other in a circle.
fn has_circle(shape: &Shape) -> bool {
    lifted(shape).iter().any(|edges| {
        let mut left = edges.clone();
        loop {
            let before = left.len();
            let sources: Vec<usize> = left.iter().map(|(from, _)| *from).collect();
            left.retain(|(_, to)| sources.contains(to));
            if left.len() == before {
                return before > 0;
            }
        }
    })
}

proptest! {
    #[test]
    fn boxes_overlap_only_with_those_around_them(shape in shapes(true)) {
        let layout = place(&shape);
        for (at, this) in layout.boxes.iter().enumerate() {
            prop_assert!(this.x + this.width <= layout.size.width && this.y + this.height <= layout.size.height);
            for (to, that) in layout.boxes.iter().enumerate().skip(at + 1) {
                if is_around(&shape, at, to) {
                    prop_assert!(contains(*this, *that), "{at} around {to}");
                } else {
                    prop_assert!(are_apart(*this, *that), "{at} and {to}");
                }
            }
        }
    }

    #[test]
    fn arrows_lead_downwards_without_circles(shape in shapes(true)) {
        prop_assume!(!has_circle(&shape));
        let layout = place(&shape);
        for (from, to) in &shape.edges {
            let is_inside = is_around(&shape, *from, *to) || is_around(&shape, *to, *from);
            let (above, below) = (layout.boxes[*from], layout.boxes[*to]);
            prop_assert!(is_inside || above.y + above.height < below.y, "{from} to {to}");
        }
    }

    #[test]
    fn graphs_without_boxes_in_boxes_have_no_circles(shape in shapes(false)) {
        prop_assert!(!has_circle(&shape));
        let layout = place(&shape);
        for (from, to) in &shape.edges {
            prop_assert!(layout.boxes[*from].y + LEAF.height < layout.boxes[*to].y);
        }
    }
}

#[test]
fn circles_among_parents_are_drawn_too() {
    // 0 and 1 are parents; 2 and 3 are in 0, 4 in 1; 2 -> 4 -> 3.
    let shape = Shape {
        parents: vec![None, None, Some(0), Some(0), Some(1)],
        leaf: LEAF,
        edges: vec![(2, 4), (4, 3)],
    };
    assert!(has_circle(&shape));
    let layout = place(&shape);
    assert!(are_apart(layout.boxes[0], layout.boxes[1]));
}

#[test]
fn an_empty_graph_takes_no_space() {
    let layout = place(&Shape::default());
    assert!(layout.boxes.is_empty());
    assert_eq!(layout.size, Size::default());
}

/// Many resources side by side make a picture of the form of a screen, and not a row.
#[test]
fn wide_layers_are_broken_into_rows() {
    let shape = Shape {
        parents: vec![None; 1000],
        leaf: LEAF,
        edges: (1..1000).map(|to| (0, to)).collect(),
    };
    let Size { width, height } = place(&shape).size;
    assert!(
        width < 3 * height && height < 3 * width,
        "{width} x {height}"
    );
}

/// Three kinds of stacks of 10,000 resources. With the square of the number, each would take minutes in a build without optimization.
#[test]
fn the_time_does_not_grow_with_the_square() {
    const MANY: usize = 10_000;
    let flat = |edges: Vec<(usize, usize)>| Shape {
        parents: vec![None; MANY],
        leaf: LEAF,
        edges,
    };
    let chain = flat((1..MANY).map(|to| (to - 1, to)).collect());
    let star = flat((1..MANY).map(|to| (0, to)).collect());
    let mut groups = flat((1..MANY).map(|to| (to / 2, to)).collect());
    groups.parents = (0..MANY).map(|at| (at > 0).then_some(at / 10)).collect();
    for shape in [chain, star, groups] {
        let began = Instant::now();
        assert_eq!(place(&shape).boxes.len(), MANY);
        assert!(
            began.elapsed() < Duration::from_secs(20),
            "{:?}",
            began.elapsed()
        );
    }
}
