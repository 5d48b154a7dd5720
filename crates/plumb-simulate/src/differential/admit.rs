//! Stories without what the harness cannot do yet.

use crate::story::{Fault, FaultKind, Operation, Res, Story};

/// Takes out of a story what the harness cannot do, and names it.
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
    without("stops", operation.stop.take().is_some());
    without("naming", flags.naming.take().is_some());
    without("policies", clear(&mut flags.policies));
    let mut snippets = clear(&mut flags.stores);
    snippets |= clear(&mut flags.removes) | clear(&mut flags.target_snippets);
    without("snippets", snippets);
    without("transforms", clear(&mut program.transforms));
    without("functions", clear(&mut program.ask_transforms));
    without("functions", clear(&mut program.asks));
    without("methods", clear(&mut program.methods));
    without("packages", clear(&mut program.packages));
    let count = operation.faults.len();
    operation.faults.retain(is_plain);
    without("faults of views", operation.faults.len() < count);
    operation.parallel = 1;
    for fault in &mut operation.faults {
        if fault.kind == FaultKind::Hang {
            fault.kind = FaultKind::Clean;
        }
    }
    for res in &mut program.resources {
        admit_resource(res, &mut without);
    }
}

fn is_plain(fault: &Fault) -> bool {
    use FaultKind::{HalfPart, Part, Told};
    !matches!(fault.kind, Part | HalfPart | Told)
}

fn clear<T>(list: &mut Vec<T>) -> bool {
    let is_there = !list.is_empty();
    list.clear();
    is_there
}

fn admit_resource(res: &mut Res, without: &mut impl FnMut(&'static str, bool)) {
    without("hooks", clear(&mut res.hooks));
    without("transforms", clear(&mut res.transforms));
    without("snippets", res.snippet.take().is_some());
    without("methods", res.by.take().is_some());
    without("packages", res.package.take().is_some());
    without("views", res.properties.remove("parts").is_some());
    without("remote components", std::mem::take(&mut res.remote));
}
