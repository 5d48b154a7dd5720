//! Removal of features that the harness does not support.

use crate::story::{Operation, Res, Stop, Story};

/// Removes unsupported features from a story, and returns their names.
pub fn admit(story: &mut Story) -> Vec<&'static str> {
    let mut reasons = Vec::new();
    for operation in &mut story.operations {
        admit_operation(operation, &mut reasons);
        operation.program.tidy();
    }
    reasons.sort_unstable();
    reasons.dedup();
    reasons
}

fn admit_operation(operation: &mut Operation, reasons: &mut Vec<&'static str>) {
    let mut without = |reason: &'static str, is_there: bool| {
        reasons.extend(is_there.then_some(reason));
    };
    let (flags, program) = (&mut operation.flags, &mut operation.program);
    let is_cut = |stop: &mut Stop| !matches!(stop, Stop::ProgramFails(_));
    without("stops", operation.stop.take_if(is_cut).is_some());
    let mut snippets = clear(&mut flags.stores);
    snippets |= clear(&mut flags.removes) | clear(&mut flags.target_snippets);
    without("snippets", snippets);
    operation.parallel = 1;
    for res in &mut program.resources {
        admit_resource(res, &mut without);
    }
}

fn clear<T>(list: &mut Vec<T>) -> bool {
    let is_there = !list.is_empty();
    list.clear();
    is_there
}

fn admit_resource(res: &mut Res, without: &mut impl FnMut(&'static str, bool)) {
    without("snippets", res.snippet.take().is_some());
}
