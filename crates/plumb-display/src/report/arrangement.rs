//! The resources of a report below their parents.

use super::ChangeReport;

/// Resources with a change in or below them, by their numbers in the report.
#[derive(Debug)]
pub(super) struct Arrangement {
    /// Those without a parent in the report.
    pub(super) roots: Vec<usize>,
    /// Those below each resource.
    pub(super) children: Vec<Vec<usize>>,
    /// Number of changes in and below each resource.
    pub(super) changes: Vec<usize>,
}

impl Arrangement {
    pub(super) fn of(report: &ChangeReport) -> Self {
        let resources = &report.resources;
        let parent = |at: usize| {
            let parent = resources[at].parent.as_ref()?;
            resources
                .get_index_of(parent)
                .filter(|parent| *parent != at)
        };
        let mut changes = vec![0; resources.len()];
        for (at, resource) in resources.values().enumerate() {
            let mut above = Some(at);
            // Counted, because nothing here knows that no resource is its own ancestor.
            for _ in 0..resources.len() {
                let Some(at) = above.filter(|_| !resource.steps.is_empty()) else {
                    break;
                };
                changes[at] += resource.steps.len();
                above = parent(at);
            }
        }
        let (mut roots, mut children) = (Vec::new(), vec![Vec::new(); resources.len()]);
        for at in (0..resources.len()).filter(|at| changes[*at] > 0) {
            match parent(at) {
                Some(parent) => children[parent].push(at),
                None => roots.push(at),
            }
        }
        Arrangement {
            roots,
            children,
            changes,
        }
    }
}
