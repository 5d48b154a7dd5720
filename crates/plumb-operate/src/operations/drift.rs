//! `drift`: a refresh preview that changes nothing. The exit code tells whether there is drift.

use plumb_display::{Explanation, RunExplanation};
use plumb_events::{OperationResult, strip_color};
use plumb_resource::Urn;
use serde_json::{Value as Json, json};

use crate::context::Stack;
use crate::json::{Indent, pretty};
use crate::{Context, ExitStatus};

/// Prints the drifted resources, and returns the exit code.
pub(super) fn report(
    ctx: &Context,
    stack: &Stack,
    run: &RunExplanation,
    result: OperationResult,
    as_json: bool,
) -> ExitStatus {
    let drifted: Vec<(&str, &Explanation)> = run
        .resources
        .iter()
        .filter(|(_, it)| matches!(it.op.as_str(), "update" | "delete"))
        .map(|(urn, it)| (urn.as_str(), it))
        .collect();
    let checked = run.resources.len() + run.unchanged.len();
    if as_json {
        let document = json!({
            "stack": stack.shown,
            "result": result.as_str(),
            "drifted": !drifted.is_empty(),
            "checked": checked,
            "resources": drifted.iter().map(|(urn, it)| resource(urn, it)).collect::<Vec<_>>(),
        });
        ctx.printer.data(&pretty(&document, Indent::Two));
    } else if result == OperationResult::Succeeded {
        ctx.printer.note(&match drifted.len() {
            0 => "Nothing has drifted.".to_owned(),
            count => format!(
                "{count} of {checked} resources have drifted. `plumb refresh` takes what exists into the state; `plumb up` \
                 after that makes it what the program says."
            ),
        });
    }
    match result {
        OperationResult::Succeeded if drifted.is_empty() => ExitStatus::Success,
        OperationResult::Succeeded => ExitStatus::Configuration,
        OperationResult::Failed => ExitStatus::Failure,
        OperationResult::Canceled => ExitStatus::Cancelled,
    }
}

fn resource(urn: &str, it: &Explanation) -> Json {
    let parsed = Urn::parse(urn).ok();
    json!({
        "urn": urn,
        "type": parsed.as_ref().map(|urn| urn.type_text().to_owned()),
        "name": parsed.as_ref().map(|urn| urn.name().to_owned()),
        "change": if it.op == "delete" { "deleted" } else { "changed" },
        "differs": it.differs,
        "difference": strip_color(&it.difference),
    })
}
