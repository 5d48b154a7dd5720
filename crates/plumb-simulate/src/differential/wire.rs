//! A case as JSON: an operation with everything that it starts from (`tests/differential/harness/story.go`).

use std::collections::BTreeMap;

use plumb_resource::{Alias, AliasParent, Urn};
use plumb_state::file::Layout;
use plumb_value::{PropertyMap, Value};
use serde_json::{Map, Value as Json, json};

use crate::story::{
    AliasDecl, CallKind, Fault, FaultKind, Operation, PROJECT, Program, Prop, Res, STACK, Source,
    Verb, package_of, token_of,
};
use crate::world::{World, alias};

/// The case of an operation on `world`, to which nothing happens before it any more.
pub(super) fn case(world: &World, operation: &Operation) -> Json {
    let flags = &operation.flags;
    let urns = |names: &[String]| world.urns_of(operation, names);
    let objects = world.cloud.objects().iter();
    let objects = objects.map(|(id, object)| (id.to_string(), map(object)));
    let state = world
        .snapshot
        .deployment_with_secrets_exposed(Layout::Compact);
    let program = &operation.program;
    json!({
        "verb": verb(operation.verb),
        "preview": operation.preview,
        "flags": {
            "refresh": flags.refresh,
            "runProgram": flags.run_program,
            "continueOnError": flags.continue_on_error,
            "ignoreProtect": flags.ignore_protect,
            "legacyDiff": flags.legacy_diff,
            "legacyRefreshDiff": flags.legacy_refresh_diff,
            "targets": urns(&flags.targets),
            "targetDependents": flags.target_dependents,
            "excludes": urns(&flags.excludes),
            "excludeDependents": flags.exclude_dependents,
            "replace": urns(&flags.replace),
        },
        "config": program.config,
        "state": serde_json::from_str::<Json>(&state).unwrap_or_default(),
        "cloud": {
            "objects": objects.collect::<Map<_, _>>(),
            "numbers": world.cloud.numbers(),
        },
        "faults": operation.faults.iter().map(fault).collect::<Vec<_>>(),
        "runs": operation.verb == Verb::Up || flags.run_program,
        "program": in_order(program).into_iter().map(|res| resource(program, res)).collect::<Vec<_>>(),
        "imports": operation.imports.iter().map(|it| json!({
            "name": it.name, "id": it.id, "type": token_of(&it.type_name),
        })).collect::<Vec<_>>(),
    })
}

fn verb(verb: Verb) -> &'static str {
    match verb {
        Verb::Up => "up",
        Verb::Refresh => "refresh",
        Verb::Destroy => "destroy",
        Verb::Import => "import",
    }
}

fn fault(fault: &Fault) -> Json {
    let call = match fault.call {
        CallKind::Check => "check",
        CallKind::Diff => "diff",
        CallKind::Create => "create",
        CallKind::Read => "read",
        CallKind::Update => "update",
        CallKind::Delete => "delete",
        CallKind::Call => "call",
    };
    let kind = match fault.kind {
        FaultKind::Clean => "clean",
        FaultKind::Partial => "partial",
        FaultKind::Unknown => "unknown",
        FaultKind::Hang => "hang",
        FaultKind::Once => "once",
        FaultKind::Told => "told",
        FaultKind::Part | FaultKind::HalfPart => "part",
    };
    json!({"call": call, "name": fault.name, "kind": kind})
}

/// The resources in the order in which a program can register them one after the other.
fn in_order(program: &Program) -> Vec<&Res> {
    let mut waiting: Vec<&Res> = program.resources.iter().collect();
    let mut ordered: Vec<&Res> = Vec::new();
    let is_ready = |res: &Res, ordered: &[&Res]| {
        let mut needs = program.needs_of(res);
        needs.all(|need| ordered.iter().any(|other| other.name == *need))
    };
    while let Some(at) = waiting.iter().position(|res| is_ready(res, &ordered)) {
        ordered.push(waiting.remove(at));
    }
    ordered
}

fn resource(program: &Program, res: &Res) -> Json {
    let called = if res.is_stack() {
        format!("{PROJECT}-{STACK}")
    } else {
        res.name.clone()
    };
    json!({
        "name": res.name,
        "called": called,
        "type": token_of(&res.type_name),
        "package": package_of(&res.type_name),
        "custom": !res.is_component(),
        "read": res.read.clone().unwrap_or_default(),
        "properties": props(&res.properties),
        "outputs": props(&res.outputs),
        "parent": program.parent_of(res).cloned().unwrap_or_default(),
        "dependsOn": res.depends_on,
        "loose": res.loose,
        "provider": res.provider.clone().unwrap_or_default(),
        "providers": res.providers,
        "aliases": res.aliases.iter().map(former).collect::<Vec<_>>(),
        "protect": res.protect,
        "retain": res.retain,
        "deletedWith": res.deleted_with.clone().unwrap_or_default(),
        "replaceWith": res.replace_with,
        "deleteBeforeReplace": res.delete_before_replace,
        "ignoreChanges": res.ignore_changes,
        "replaceOnChanges": res.replace_on_changes,
        "hideDiffs": res.hide_diffs,
        "secretOutputs": res.secret_outputs,
        "import": res.import.clone().unwrap_or_default(),
        "trigger": res.trigger.as_ref().map(prop),
        "version": res.version.clone().unwrap_or_default(),
        "timeout": res.timeout.unwrap_or(0),
    })
}

fn former(decl: &AliasDecl) -> Json {
    match alias(decl) {
        Alias::Urn(urn) => json!({"urn": urn.to_string()}),
        Alias::Spec(spec) => json!({
            "name": spec.name.map(|it| it.to_string()).unwrap_or_default(),
            "type": spec.type_token.map(|it| it.to_string()).unwrap_or_default(),
            "noParent": spec.parent == AliasParent::None,
            "parent": match &spec.parent {
                AliasParent::Urn(urn) => Urn::to_string(urn),
                _ => String::new(),
            },
        }),
    }
}

fn props(props: &BTreeMap<String, Prop>) -> Json {
    let members = props.iter().map(|(key, it)| (key.clone(), prop(it)));
    Json::Object(members.collect())
}

fn prop(prop: &Prop) -> Json {
    match &prop.source {
        Source::Text(text) => json!({"secret": prop.secret, "text": text}),
        Source::Output { name, key } => {
            json!({"secret": prop.secret, "from": name, "key": key})
        }
        Source::Answer { .. } => json!({"secret": prop.secret, "text": ""}),
    }
}

/// A map with its secrets and unknowns as members of their own; nothing for an empty one.
pub(super) fn map(properties: &PropertyMap) -> Json {
    if properties.is_empty() {
        return Json::Null;
    }
    let members = properties.iter();
    let members = members.map(|(key, it)| (key.as_str().to_owned(), value(it)));
    Json::Object(members.collect())
}

fn value(it: &Value) -> Json {
    match it {
        Value::Null => Json::Null,
        Value::Bool(it) => json!(it),
        Value::Number(it) => json!(it),
        Value::String(it) => json!(it.as_str()),
        Value::Array(items) => items.iter().map(value).collect(),
        Value::Object(members) => {
            let members = members.iter();
            let members = members.map(|(key, it)| (key.as_str().to_owned(), value(it)));
            Json::Object(members.collect())
        }
        Value::Secret(inner) => json!({"$secret": value(inner)}),
        Value::Computed(_) => json!({"$unknown": true}),
        other => json!(format!("?{other:?}")),
    }
}
