//! Places boxes in layers, with boxes inside of boxes. It knows numbers alone, and nothing about resources.
//!
//! 1. An edge between boxes in different parents counts for those two boxes around them that stand beside each other.
//! 2. The children of each box are arranged, inner boxes before outer ones: in layers ([`layers`]), each below the layers of what it
//!    depends on, and in rows of at most a certain width. Children without edges follow in rows of their own.
//! 3. Positions become absolute, outer boxes before inner ones.
//!
//! **Boxes beside each other never overlap, and a box contains its children.** An arrow leads downwards, unless the boxes of its
//! parent depend on each other in a circle; circles are possible among parents even where there are none among resources.
//! Everything but sorting takes linear time, in boxes plus edges times the depth of nesting.

mod layers;
#[cfg(test)]
mod tests;

use layers::Layers;

/// Width and height.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) width: usize,
    pub(super) height: usize,
}

/// A placed box.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Rect {
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) width: usize,
    pub(super) height: usize,
}

/// Boxes to place.
#[derive(Clone, Debug, Default)]
pub(super) struct Shape {
    /// The box around each box, which precedes it.
    pub(super) parents: Vec<Option<usize>>,
    /// Size of each box without children.
    pub(super) leaf: Size,
    /// Edges, each from a box to a dependent of it.
    pub(super) edges: Vec<(usize, usize)>,
}

/// Width up to which rows are not broken, so that arrows of small graphs do not pass behind boxes.
const SMALL: usize = 960;

/// Placed boxes.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) boxes: Vec<Rect>,
    pub(super) size: Size,
}

/// Space between boxes beside each other.
pub(super) const GAP_X: usize = 28;
/// Space between rows of boxes that do not depend on each other.
pub(super) const GAP_Y: usize = 20;
/// Space between layers, for arrows.
const GAP_LAYER: usize = 56;
/// Space inside the border of a box with children.
const PADDING: usize = 20;
/// Height of the title of a box with children.
pub(super) const TITLE: usize = 34;

/// Places the boxes.
pub(super) fn place(shape: &Shape) -> Layout {
    let count = shape.parents.len();
    // The last entry stands for the whole picture.
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); count + 1];
    for (at, parent) in shape.parents.iter().enumerate() {
        debug_assert!(parent.is_none_or(|parent| parent < at));
        children[parent.unwrap_or(count)].push(at);
    }
    let mut edges = lifted(shape);
    let mut sizes = vec![shape.leaf; count + 1];
    let mut places = vec![(0, 0); count];
    let mut numbers = vec![0; count];
    // Inner boxes first, and the whole picture last.
    for at in (0..count).rev().chain([count]) {
        if children[at].is_empty() {
            continue;
        }
        let inside = &children[at];
        for (number, child) in inside.iter().enumerate() {
            numbers[*child] = number;
        }
        let mut own = std::mem::take(&mut edges[at]);
        for (from, to) in &mut own {
            (*from, *to) = (numbers[*from], numbers[*to]);
        }
        own.sort_unstable();
        own.dedup();
        let of_children: Vec<Size> = inside.iter().map(|child| sizes[*child]).collect();
        let arranged = arrange(&of_children, &own);
        for (child, (x, y)) in inside.iter().zip(arranged.places) {
            places[*child] = (x + PADDING, y + if at == count { PADDING } else { TITLE });
        }
        let before = if at == count { PADDING } else { TITLE };
        sizes[at] = Size {
            width: (arranged.size.width + 2 * PADDING).max(shape.leaf.width),
            height: arranged.size.height + before + PADDING,
        };
    }
    if count == 0 {
        sizes[count] = Size::default();
    }
    Layout {
        boxes: absolute(shape, &places, &sizes),
        size: sizes[count],
    }
}

fn absolute(shape: &Shape, places: &[(usize, usize)], sizes: &[Size]) -> Vec<Rect> {
    let mut boxes: Vec<Rect> = Vec::with_capacity(places.len());
    for (at, (x, y)) in places.iter().enumerate() {
        let (left, top) =
            shape.parents[at].map_or((0, 0), |parent| (boxes[parent].x, boxes[parent].y));
        boxes.push(Rect {
            x: left + x,
            y: top + y,
            width: sizes[at].width,
            height: sizes[at].height,
        });
    }
    boxes
}

/// Edges between boxes beside each other, for each box around them. An edge between a box and one inside of it is left out.
fn lifted(shape: &Shape) -> Vec<Vec<(usize, usize)>> {
    let count = shape.parents.len();
    let mut depths = vec![0_usize; count];
    for (at, parent) in shape.parents.iter().enumerate() {
        depths[at] = parent.map_or(0, |parent| depths[parent] + 1);
    }
    let mut edges = vec![Vec::new(); count + 1];
    for (from, to) in &shape.edges {
        let (mut from, mut to) = (*from, *to);
        while depths[from] > depths[to] {
            from = shape.parents[from].expect("a box below the top has a parent");
        }
        while depths[to] > depths[from] {
            to = shape.parents[to].expect("a box below the top has a parent");
        }
        if from == to {
            continue;
        }
        while shape.parents[from] != shape.parents[to] {
            from = shape.parents[from].expect("boxes with different parents are below the top");
            to = shape.parents[to].expect("boxes with different parents are below the top");
        }
        edges[shape.parents[from].unwrap_or(count)].push((from, to));
    }
    edges
}

/// Positions of the children of a box, and the space that they take.
struct Arranged {
    places: Vec<(usize, usize)>,
    size: Size,
}

/// Arranges boxes by their edges, which are numbers of `sizes`.
fn arrange(sizes: &[Size], edges: &[(usize, usize)]) -> Arranged {
    let widest = row_width(sizes);
    let Layers { layers, single } = layers::layers(sizes.len(), edges);
    let mut places = vec![(0, 0); sizes.len()];
    let (mut y, mut width) = (0, 0);
    let mut rows: Vec<Row> = Vec::new();
    for layer in &layers {
        y = add_rows(layer, sizes, widest, y, &mut rows);
        y += GAP_LAYER;
    }
    let centered = rows.len();
    y = add_rows(&single, sizes, widest, y, &mut rows);
    if single.is_empty() {
        y = y.saturating_sub(GAP_LAYER);
    }
    for row in &rows {
        width = width.max(row.width);
    }
    for (at, row) in rows.iter().enumerate() {
        let mut x = if at < centered {
            (width - row.width) / 2
        } else {
            0
        };
        for member in &row.members {
            places[*member] = (x, row.y);
            x += sizes[*member].width + GAP_X;
        }
    }
    Arranged {
        places,
        size: Size { width, height: y },
    }
}

/// Boxes beside each other.
struct Row {
    members: Vec<usize>,
    y: usize,
    width: usize,
}

/// Adds the rows of a layer from `y` downwards; returns where they end.
fn add_rows(
    layer: &[usize],
    sizes: &[Size],
    widest: usize,
    y: usize,
    rows: &mut Vec<Row>,
) -> usize {
    let (mut y, mut height, mut is_first) = (y, 0, true);
    for member in layer {
        let size = sizes[*member];
        let fits = rows
            .last()
            .is_some_and(|row| !is_first && row.width + GAP_X + size.width <= widest);
        if fits {
            let row = rows.last_mut().expect("a row that fits is there");
            row.width += GAP_X + size.width;
            row.members.push(*member);
            height = height.max(size.height);
            continue;
        }
        if !is_first {
            y += height + GAP_Y;
        }
        rows.push(Row {
            members: vec![*member],
            y,
            width: size.width,
        });
        (height, is_first) = (size.height, false);
    }
    y + height
}

/// Width of rows that makes the whole about as wide as a screen.
fn row_width(sizes: &[Size]) -> usize {
    let area: usize = sizes
        .iter()
        .map(|size| (size.width + GAP_X) * (size.height + GAP_Y + GAP_LAYER / 2))
        .sum();
    let widest = sizes
        .iter()
        .map(|size| size.width)
        .max()
        .unwrap_or_default();
    (area * 8 / 5).isqrt().max(widest).max(SMALL)
}
