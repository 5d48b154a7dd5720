//! The core's account of an operation, in the form that the harness uses for the reference (`tests/differential/harness/observed.go`).

use plumb_deploy::request::Outcome;
use plumb_events::{OperationResult, Severity, strip_color};
use plumb_resource::provider::{Autonaming, ProviderCall};
use plumb_resource::{ResourceId, StepOp, Urn};
use plumb_state::file::Layout;
use plumb_value::PropertyMap;
use serde_json::{Map, Value as Json, json};

use super::wire::map;
use crate::story::Operation;
use crate::world::{Answer, Trace};

/// What happened in an operation.
pub(super) fn seen(operation: &Operation, trace: &Trace) -> Json {
    let step = |op: StepOp, urn: &Urn| json!({"op": op.as_str(), "urn": urn.to_string()});
    let steps = trace.steps.iter().map(|it| step(it.op, &it.urn));
    let failed = trace.failures.iter().map(|(urn, op)| step(*op, urn));
    let replies = trace.answers.iter();
    let replies = replies.map(|(name, answer)| (name.clone(), reply(answer)));
    let changes = trace.summary.iter().flat_map(|it| &it.resource_changes);
    let changes = changes.filter(|(_, count)| **count != 0);
    let changes = changes.map(|(op, count)| (op.as_str().to_owned(), json!(count)));
    let outcome = trace.outcome.as_ref();
    let is_good = trace.result() == Some(OperationResult::Succeeded);
    let error = outcome.and_then(|it| it.error.clone()).unwrap_or_default();
    json!({
        "steps": steps.collect::<Vec<_>>(),
        "failed": failed.collect::<Vec<_>>(),
        "calls": trace.provider_calls.iter().filter_map(call).collect::<Vec<_>>(),
        "replies": replies.collect::<Map<_, _>>(),
        "state": state(operation, trace),
        "messages": messages(trace),
        "changes": changes.collect::<Map<_, _>>(),
        "error": if is_good { String::new() } else { format!("failed: {error}") },
        "panic": "",
    })
}

fn state(operation: &Operation, trace: &Trace) -> Json {
    if operation.preview {
        return Json::Null;
    }
    let text = trace.after.deployment_with_secrets_exposed(Layout::Compact);
    let document: Json = serde_json::from_str(&text).unwrap_or_default();
    document["deployment"].clone()
}

fn messages(trace: &Trace) -> Json {
    let shown = trace.diagnostics.iter();
    let shown = shown.filter(|it| !it.ephemeral && it.severity != Severity::Debug);
    let shown = shown.map(|it| {
        json!({
            "severity": it.severity.as_str(),
            "urn": it.urn.as_ref().map(ToString::to_string).unwrap_or_default(),
            "text": strip_color(&it.message).trim(),
        })
    });
    shown.collect()
}

/// The shell tells programs that the id of a provider is not known yet; that of others is none.
fn reply(answer: &Answer) -> Json {
    let is_open = answer.id == ResourceId::Unknown && answer.urn.type_token().is_provider();
    json!({
        "urn": answer.urn.to_string(),
        "id": if is_open { "unknown" } else { answer.id.as_str() },
        "outputs": map(&answer.outputs),
        "outcome": match answer.outcome {
            Outcome::Success => "",
            Outcome::Failed => "failed",
            Outcome::Skipped => "skipped",
        },
        "unknown": answer.unknown,
    })
}

/// A call with all its fields; none for calls that are not compared.
fn call(call: &ProviderCall) -> Option<Json> {
    let optional = |it: Option<&PropertyMap>| it.map_or(Json::Null, map);
    let fields = match call {
        // The reference allows unknowns here in updates too, and cannot use a provider then whose configuration has some.
        ProviderCall::CheckConfig(it) => json!({
            "olds": optional(it.old_inputs.as_deref()), "news": map(&it.new_inputs),
            "unknowns": true,
        }),
        ProviderCall::Check(it) => json!({
            "olds": optional(it.old_inputs.as_deref()), "news": map(&it.new_inputs),
            "unknowns": it.allow_unknowns, "naming": naming(it.autonaming.as_ref()),
        }),
        ProviderCall::DiffConfig(it) => json!({
            "oldInputs": map(&it.old_inputs), "oldOutputs": map(&it.old_outputs),
            "newInputs": map(&it.new_inputs), "unknowns": it.allow_unknowns,
            "ignore": paths(&it.ignore_changes),
        }),
        ProviderCall::Diff(it) => json!({
            "id": it.id.as_str(), "oldInputs": map(&it.old_inputs), "oldOutputs": map(&it.old_outputs),
            "newInputs": map(&it.new_inputs), "unknowns": it.allow_unknowns,
            "ignore": paths(&it.ignore_changes),
        }),
        ProviderCall::Create(it) => json!({
            "inputs": map(&it.inputs), "timeout": it.timeout, "preview": it.preview,
        }),
        ProviderCall::Read(it) => json!({
            "id": it.id.as_str(), "inputs": optional(it.inputs.as_deref()), "outputs": map(&it.outputs),
            "timeout": it.timeout,
        }),
        ProviderCall::Update(it) => json!({
            "id": it.id.as_str(), "oldInputs": map(&it.old_inputs), "oldOutputs": map(&it.old_outputs),
            "newInputs": map(&it.new_inputs), "ignore": paths(&it.ignore_changes),
            "timeout": it.timeout, "preview": it.preview,
        }),
        ProviderCall::Delete(it) => json!({
            "id": it.id.as_str(), "inputs": map(&it.inputs), "outputs": map(&it.outputs),
            "timeout": it.timeout,
        }),
        _ => return None,
    };
    let mut all = json!({"call": call.name(), "urn": call.urn()?.to_string()});
    if let (Json::Object(all), Json::Object(fields)) = (&mut all, fields) {
        all.extend(fields);
    }
    Some(all)
}

fn paths(paths: &[ecow::EcoString]) -> Json {
    if paths.is_empty() {
        return Json::Null;
    }
    paths.iter().map(|it| json!(it.as_str())).collect()
}

fn naming(naming: Option<&Autonaming>) -> Json {
    match naming {
        None => Json::Null,
        Some(Autonaming::Propose(name)) => json!({"propose": name.as_str()}),
        Some(Autonaming::Enforce(name)) => json!({"enforce": name.as_str()}),
        Some(Autonaming::Disabled) => json!("disabled"),
    }
}
