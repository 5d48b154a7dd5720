//! Rows of a frame: which are worth showing, and which are left out if there is no room for all.

use std::collections::{BTreeSet, HashMap, HashSet};

use plumb_resource::StepOp;

use crate::rows::{Row, Rows};

/// Rows that are worth showing, and their ancestors.
pub(super) fn shown_rows(rows: &Rows) -> HashSet<usize> {
    let mut shown = HashSet::new();
    for idx in (0..rows.list.len()).filter(|idx| is_worth_showing(rows, *idx)) {
        let mut at = Some(idx);
        while let Some(idx) = at.filter(|idx| shown.insert(*idx)) {
            at = parent_of(rows, &rows.list[idx]);
        }
    }
    shown
}

fn is_worth_showing(rows: &Rows, idx: usize) -> bool {
    let row = &rows.list[idx];
    // The placeholder is hidden when the stack's own row exists.
    let is_spare = row.urn.is_none()
        && row.streams.is_empty()
        && rows
            .list
            .iter()
            .any(|row| row.urn.is_some() && row.is_root());
    let stayed_same = rows.done
        && row.op == StepOp::Same
        && !row.is_root()
        && !row.has_info()
        && !rows.options().show_sames;
    rows.is_visible(idx) && !is_spare && !stayed_same
}

/// Row under which a row stands: that of its parent, or else the root.
pub(super) fn parent_of(rows: &Rows, row: &Row) -> Option<usize> {
    if row.is_root() {
        return None;
    }
    let parent = row.parent.as_ref().and_then(|parent| rows.index_of(parent));
    parent.or_else(|| rows.list.iter().position(Row::is_root))
}

/// Rows that fit, and the number of dropped rows.
pub(super) fn fit(
    rows: &Rows,
    mut shown: HashSet<usize>,
    room: Option<usize>,
) -> (HashSet<usize>, usize) {
    let Some(room) = room.filter(|room| *room < shown.len()) else {
        return (shown, 0);
    };
    let total = shown.len();
    let wanted = room.saturating_sub(1).max(1);
    drop_leaves(rows, &mut shown, wanted, |row| {
        rows.is_done(row) && !row.failed && !row.has_errors()
    });
    drop_leaves(rows, &mut shown, wanted, |_| true);
    let left_out = total - shown.len();
    (shown, left_out)
}

/// Drops rows without children, oldest first, until `wanted` remain. Keeps the root, and rows for which `may_go` is
/// false.
fn drop_leaves(
    rows: &Rows,
    shown: &mut HashSet<usize>,
    wanted: usize,
    may_go: impl Fn(&Row) -> bool,
) {
    let parent = |idx: usize| parent_of(rows, &rows.list[idx]);
    let may_go = |idx: usize| !rows.list[idx].is_root() && may_go(&rows.list[idx]);
    let mut n_children: HashMap<usize, usize> = HashMap::new();
    for parent in shown.iter().filter_map(|idx| parent(*idx)) {
        *n_children.entry(parent).or_default() += 1;
    }
    let is_leaf = |idx: &usize| !n_children.contains_key(idx);
    let mut leaves: BTreeSet<usize> = shown
        .iter()
        .copied()
        .filter(|idx| is_leaf(idx) && may_go(*idx))
        .collect();
    while shown.len() > wanted {
        let Some(leaf) = leaves.pop_first() else {
            break;
        };
        shown.remove(&leaf);
        let Some(parent) = parent(leaf) else { continue };
        let left = n_children.entry(parent).or_insert(1);
        *left -= 1;
        if *left == 0 && may_go(parent) && shown.contains(&parent) {
            leaves.insert(parent);
        }
    }
}
