//! `why`: changes of a resource in the last preview or update, with reasons.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use clap::Args;
use ecow::EcoString;
use plumb_display::{Explanation, RunExplanation};
use plumb_events::strip_color;
use plumb_operate::context::{IfMissing, Stack};
use plumb_operate::identity::Code;
use plumb_operate::json::wants_json;
use plumb_operate::json::{Indent, pretty};
use plumb_operate::operations::runs::{self, RecordedRun};
use plumb_operate::{Context, Error, ExitStatus};
use plumb_resource::Urn;
use serde_json::{Value as Json, json};

use crate::times::{json_time, time_ago};

/// Show why a resource is created, changed, replaced, deleted or kept
///
/// Tells what the last preview or update of the stack on this machine did with the resource, and for what reason: which
/// properties differ, which of them force a replacement, and what else makes it happen.
#[derive(Args, Debug)]
pub struct WhyArgs {
    /// The name of the stack to operate on. Defaults to the current stack
    #[arg(short, long)]
    pub stack: Option<String>,
    /// Emit output as JSON
    #[arg(short, long)]
    pub json: bool,
    /// Format of the result: default or json
    #[arg(long, default_value = "default", hide = true)]
    pub output: String,
    /// The URN of the resource, its name, or its type and name as `TYPE::NAME`
    pub resource: String,
}

/// Runs `why`.
pub fn run(args: WhyArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    let as_json = wants_json(args.json, &args.output)?;
    let stack = ctx.require_stack(args.stack.as_deref(), IfMissing::Fail)?;
    let Some(recorded) = runs::last(ctx, &stack)? else {
        return Err(Error::user(format!(
            "no preview or update of stack '{}' is known on this machine; run `plumb preview` first",
            stack.shown
        ))
        .known(Code::NoRun));
    };
    let known = known_urns(&recorded.run, &args.resource, &stack, ctx)?;
    let found = find(&recorded.run, &known, &args.resource)?;
    if as_json {
        ctx.printer
            .data(&pretty(&document(&recorded, &found), Indent::Two));
    } else {
        ctx.printer.styled(&text(&recorded, &found));
    }
    Ok(ExitStatus::Success)
}

/// A resource in a run, with its explanation if it was changed.
struct Found<'r> {
    urn: &'r str,
    explanation: Option<&'r Explanation>,
}

/// URNs in the state, which are needed to find unchanged resources. Empty if `words` is the URN of a changed resource.
fn known_urns(
    run: &RunExplanation,
    words: &str,
    stack: &Stack,
    ctx: &Context,
) -> Result<Vec<Urn>, Error> {
    if run.resources.contains_key(words) {
        return Ok(Vec::new());
    }
    let state = ctx.load_state(stack)?;
    let resources = state.opaque().map(|snapshot| snapshot.resources.as_slice());
    let resources = resources.unwrap_or_default().iter();
    Ok(resources.map(|state| state.urn.clone()).collect())
}

fn find<'r>(run: &'r RunExplanation, known: &'r [Urn], words: &str) -> Result<Found<'r>, Error> {
    let changed = run.resources.iter();
    let changed = changed.filter(|(urn, _)| is_meant(urn, words));
    let mut exact: Vec<Found<'_>> = changed
        .map(|(urn, explanation)| Found {
            urn: urn.as_str(),
            explanation: Some(explanation),
        })
        .collect();
    // During a replacement, the state can contain a URN twice.
    let mut kept: Vec<&str> = known.iter().map(Urn::as_str).collect();
    kept.retain(|urn| is_meant(urn, words) && !run.resources.contains_key(*urn));
    kept.sort_unstable();
    kept.dedup();
    kept.retain(|urn| run.unchanged.contains(urn));
    exact.extend(kept.into_iter().map(|urn| Found {
        urn,
        explanation: None,
    }));
    match exact.len() {
        1 => Ok(exact.remove(0)),
        0 => Err(not_found(run, known, words)),
        _ => {
            let mut text = format!("several resources are called '{words}'; say which:");
            for found in exact {
                let _ = write!(text, "\n  {}", found.urn);
            }
            Err(Error::user(text))
        }
    }
}

fn is_meant(urn: &str, words: &str) -> bool {
    urn == words
        || Urn::parse(urn).is_ok_and(|urn| {
            let (type_name, name) = (urn.type_text(), urn.name());
            name == words
                || words.strip_suffix(name).is_some_and(|before| {
                    before.strip_suffix("::").is_some_and(|it| it == type_name)
                })
        })
}

fn not_found(run: &RunExplanation, known: &[Urn], words: &str) -> Error {
    let what = if run.preview {
        "preview"
    } else {
        run.operation.as_str()
    };
    let mut text = format!("the last {what} did not look at a resource '{words}'");
    let changed = run.resources.keys().map(EcoString::as_str);
    let is_near = |urn: &&str| {
        let name = urn.rsplit("::").next().unwrap_or_default();
        strsim::jaro_winkler(name, words.rsplit("::").next().unwrap_or(words)) > 0.8
    };
    let near: BTreeSet<&str> = changed
        .chain(known.iter().map(Urn::as_str))
        .filter(is_near)
        .take(3)
        .collect();
    if !near.is_empty() {
        text.push_str("\nDid you mean:");
    }
    for urn in near {
        let _ = write!(text, "\n  {urn}");
    }
    Error::user(text).known(Code::NoResource)
}

fn document(recorded: &RecordedRun, found: &Found<'_>) -> Json {
    let kept = Explanation {
        op: "same".to_owned(),
        because: vec![KEPT.to_owned()],
        differs: Vec::new(),
        replaces: Vec::new(),
        difference: String::new(),
        errors: Vec::new(),
    };
    let it = found.explanation.unwrap_or(&kept);
    json!({
        "urn": found.urn,
        "operation": recorded.run.operation,
        "preview": recorded.run.preview,
        "result": recorded.run.result,
        "time": json_time(recorded.time),
        "op": it.op,
        "because": it.because,
        "differs": it.differs,
        "replaces": it.replaces,
        "difference": strip_color(&it.difference),
        "errors": it.errors,
    })
}

const KEPT: &str = "nothing that the program says about it differs from the state";

fn text(recorded: &RecordedRun, found: &Found<'_>) -> String {
    let run = &recorded.run;
    let mut out = format!("{}\n", plumb_operate::Printer::headline(found.urn));
    let did = match (found.explanation, run.preview) {
        (None, true) => "would be kept as it is".to_owned(),
        (None, false) => "was kept as it is".to_owned(),
        (Some(it), true) => format!("would be {}", participle(&it.op)),
        (Some(it), false) if it.errors.is_empty() => format!("was {}", participle(&it.op)),
        (Some(it), false) => format!("was to be {}, and that failed", participle(&it.op)),
    };
    let preview = if run.preview { "preview of the " } else { "" };
    let _ = writeln!(
        out,
        "In the last {preview}{} ({}), it {did}, because",
        run.operation,
        time_ago(recorded.time)
    );
    let causes = found
        .explanation
        .map_or_else(|| vec![KEPT.to_owned()], |it| it.because.clone());
    for cause in causes {
        let _ = writeln!(out, "  - {cause}");
    }
    let Some(it) = found.explanation else {
        return out;
    };
    if !it.difference.is_empty() {
        let _ = write!(out, "\n{}", it.difference);
    }
    for error in &it.errors {
        let _ = writeln!(out, "\n<{{%fg 1%}}>error: <{{%reset%}}>{error}");
    }
    out
}

fn participle(op: &str) -> &str {
    match op {
        "create" => "created",
        "update" => "updated",
        "delete" => "deleted",
        "replace" | "create-replacement" | "delete-replaced" => "replaced",
        "read" | "read-replacement" => "read",
        "refresh" => "refreshed",
        "import" | "import-replacement" => "imported",
        "discard" | "discard-replaced" => "forgotten",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::is_meant;

    #[test]
    fn resources_are_meant_by_urn_name_or_type_and_name() {
        let urn = "urn:pulumi:dev::proj::a:b:C$x:y:Z::name";
        for words in [urn, "name", "x:y:Z::name"] {
            assert!(is_meant(urn, words), "{words}");
        }
        for words in ["nam", "a:b:C::name", "::name", "x:y:Z"] {
            assert!(!is_meant(urn, words), "{words}");
        }
    }
}
