//! Account of the core for an operation, in the JSON form of the harness (`tests/differential/harness/observed.go`).

use plumb_deploy::request::{CallbackRequest, Outcome};
use plumb_events::{OperationResult, Severity, strip_color};
use plumb_resource::provider::{Autonaming, ProviderCall};
use plumb_resource::{PropertyDependencies, ResourceId, StepOp, Urn};
use plumb_state::file::Layout;
use plumb_value::PropertyMap;
use serde_json::{Map, Value as Json, json};

use super::wire::map;
use crate::story::Operation;
use crate::world::{Answer, Finding, Made, Trace};

/// Account of an operation.
pub(super) fn seen(operation: &Operation, trace: &Trace) -> Json {
    let step = |op: StepOp, urn: &Urn| json!({"op": op.as_str(), "urn": urn.to_string()});
    let steps = trace.begun().map(|(op, urn)| step(op, urn));
    let failed = trace.failures.iter().map(|(urn, op)| step(*op, urn));
    let replies = trace.answers.iter();
    let replies = replies.map(|(name, answer)| (name.clone(), reply(operation, name, answer)));
    let replies = replies.chain(others(trace));
    let changes = trace.summary.iter().flat_map(|it| &it.resource_changes);
    let changes = changes.filter(|(_, count)| **count != 0);
    let changes = changes.map(|(op, count)| (op.as_str().to_owned(), json!(count)));
    let outcome = trace.outcome.as_ref();
    let is_good = trace.result() == Some(OperationResult::Succeeded);
    let error = outcome.and_then(|it| it.error.clone()).unwrap_or_default();
    json!({
        "steps": steps.collect::<Vec<_>>(),
        "failed": failed.collect::<Vec<_>>(),
        "calls": trace.made.iter().map(made).collect::<Vec<_>>(),
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
    shown.chain(trace.findings.iter().map(finding)).collect()
}

/// Message for a finding of a policy pack.
fn finding(finding: &Finding) -> Json {
    let urn = |urn: &Option<Urn>| urn.as_ref().map(ToString::to_string).unwrap_or_default();
    match finding {
        Finding::Violation(it) => json!({
            "severity": format!("policy {}", it.enforcement_level),
            "urn": urn(&it.urn),
            "text": format!("{} {} {}", it.pack.name, it.policy, strip_color(&it.message).trim()),
        }),
        Finding::Remediation(it) => json!({
            "severity": "remediation",
            "urn": urn(&it.urn),
            "text": format!("{} {}", it.pack.name, it.policy),
        }),
    }
}

/// Results of functions and methods, among the replies.
fn others(trace: &Trace) -> impl Iterator<Item = (String, Json)> {
    let asked = trace.asked.iter().map(|(number, (result, unknown))| {
        let answer = json!({
            "urn": "", "id": "", "outputs": map(result), "outcome": "", "unknown": unknown,
        });
        (format!("ask {number}"), answer)
    });
    let called = trace.results.iter().map(|(name, it)| {
        let answer = json!({
            "urn": "", "id": "", "outputs": map(&it.result), "outcome": "", "unknown": false,
            "depends": depends(&it.dependencies),
        });
        (format!("method {name}"), answer)
    });
    asked.chain(called)
}

fn depends(dependencies: &PropertyDependencies) -> Json {
    let members = dependencies.iter().map(|(key, urns)| {
        let mut urns: Vec<String> = urns.iter().map(ToString::to_string).collect();
        urns.sort();
        (key.as_str().to_owned(), json!(urns))
    });
    Json::Object(members.collect())
}

fn made(made: &Made) -> Json {
    match made {
        Made::Provider(it) => call(it),
        Made::Callback(name, request) => callback(name, request),
    }
}

/// Call of a function of the program, with all fields.
fn callback(name: &str, request: &CallbackRequest) -> Json {
    let optional = |it: &Option<std::sync::Arc<PropertyMap>>| {
        let it = it.as_ref();
        it.map_or(Json::Null, |it| map(it))
    };
    match request {
        CallbackRequest::Transform(it) => json!({
            "call": format!("transform {name}"), "urn": "",
            "type": it.type_token.as_str(), "name": it.name.as_str(), "custom": it.custom,
            "parent": text(it.parent.as_ref()), "properties": map(&it.properties),
            "ignore": paths(&it.ignore_changes), "provider": it.provider.as_str(),
            "dependsOn": it.dependencies.iter().map(|it| json!(it.to_string())).collect::<Json>(),
            "protect": it.protect, "retain": it.retain_on_delete,
            "import": it.import_id.as_str(), "deletedWith": text(it.deleted_with.as_ref()),
        }),
        CallbackRequest::InvokeTransform(it) => json!({
            "call": format!("transform ask {name}"), "urn": "",
            "token": it.token.as_str(), "args": map(&it.args), "provider": it.provider.as_str(),
        }),
        CallbackRequest::Hook(it) => json!({
            "call": format!("hook {name}"), "urn": it.urn.to_string(), "id": it.id.as_str(),
            "oldInputs": optional(&it.old_inputs), "newInputs": optional(&it.new_inputs),
            "oldOutputs": optional(&it.old_outputs), "newOutputs": optional(&it.new_outputs),
        }),
        CallbackRequest::ErrorHook(it) => json!({
            "call": format!("hook {name}"), "urn": it.resource.urn.to_string(),
            "id": it.resource.id.as_str(), "operation": it.operation.as_str(),
            "errors": it.errors.iter().map(|it| json!(it.as_str())).collect::<Json>(),
            "oldInputs": optional(&it.resource.old_inputs),
            "newInputs": optional(&it.resource.new_inputs),
            "oldOutputs": optional(&it.resource.old_outputs),
        }),
    }
}

fn text(urn: Option<&Urn>) -> String {
    urn.map(ToString::to_string).unwrap_or_default()
}

/// Reply to a registration. The shell sends an unknown id only for providers; other resources without a known id have
/// none. Replies to reads have no result field.
fn reply(operation: &Operation, name: &str, answer: &Answer) -> Json {
    let res = operation.program.get(name);
    let is_read = res.is_some_and(|res| res.read.is_some());
    let is_open = answer.id == ResourceId::Unknown && answer.urn.type_token().is_provider();
    json!({
        "urn": answer.urn.to_string(),
        "id": if is_open { "unknown" } else { answer.id.as_str() },
        "outputs": map(&answer.outputs),
        "outcome": match answer.outcome {
            _ if is_read => "",
            Outcome::Success => "",
            Outcome::Failed => "failed",
            Outcome::Skipped => "skipped",
        },
        "unknown": answer.unknown,
    })
}

/// Call of a provider, with all fields.
fn call(call: &ProviderCall) -> Json {
    let optional = |it: Option<&PropertyMap>| it.map_or(Json::Null, map);
    let fields = match call {
        // The reference allows unknown values here also in updates, and then cannot use a provider whose configuration
        // has some.
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
        ProviderCall::Parameterize(it) => json!({
            "name": it.name.as_str(), "version": it.version.to_string(),
            "value": String::from_utf8_lossy(&it.value),
        }),
        ProviderCall::Invoke(it) => json!({"token": it.token.as_str(), "args": map(&it.args)}),
        ProviderCall::Call(it) => json!({
            "token": it.token.as_str(), "args": map(&it.args), "depends": depends(&it.dependencies),
        }),
        ProviderCall::Construct(it) => json!({
            "type": it.goal.type_token.as_str(), "name": it.goal.name.as_str(),
            "parent": text(it.goal.parent.as_ref()), "inputs": map(&it.inputs),
            "providers": it.providers.iter().map(|(package, it)| {
                (package.to_string(), json!(it.as_str()))
            }).collect::<Map<_, _>>(),
        }),
    };
    // Functions and methods have no resource, and components have no URN before they are registered.
    let urn = call
        .urn()
        .filter(|_| !matches!(call, ProviderCall::Construct(_)));
    let urn = match call {
        // Parameterizations are calls of plugins, not of resources.
        ProviderCall::Parameterize(it) => it.name.to_string(),
        _ => text(urn),
    };
    let mut all = json!({"call": call.name(), "urn": urn});
    if let (Json::Object(all), Json::Object(fields)) = (&mut all, fields) {
        all.extend(fields);
    }
    all
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
        // A proposed name is random.
        Some(Autonaming::Propose(_)) => json!("proposed"),
        Some(Autonaming::Enforce(name)) => json!({"enforce": name.as_str()}),
        Some(Autonaming::Disabled) => json!("disabled"),
    }
}
