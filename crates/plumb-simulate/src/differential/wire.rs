//! Cases as JSON: an operation with its initial state and cloud (`tests/differential/harness/story.go`).

use std::collections::BTreeMap;

use plumb_resource::provider::Parameterization;
use plumb_resource::{Alias, AliasParent, Urn};
use plumb_state::file::Layout;
use plumb_value::{PropertyMap, ReferenceId, Value};
use serde_json::{Map, Value as Json, json};

use crate::story::{
    AliasDecl, CallKind, Fault, FaultKind, Item, Method, Operation, PROJECT, Package, Program,
    Prop, Res, STACK, Source, Verb, package_of, token_of,
};
use crate::world::{World, alias, has_hooks};

/// Case of an operation on `world`, in which all incidents before it have happened.
pub(super) fn case(world: &World, operation: &Operation) -> Json {
    let flags = &operation.flags;
    let urns = |names: &[String]| world.urns_of(operation, names);
    let objects = world.cloud.objects().iter();
    let objects = objects.map(|(id, object)| (id.to_string(), map(object)));
    let state = world
        .snapshot
        .deployment_with_secrets_exposed(Layout::Compact);
    let program = &operation.program;
    let items = program.in_order();
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
            "naming": flags.naming.clone().unwrap_or_default(),
            "policies": flags.policies,
        },
        "config": program.config,
        "state": serde_json::from_str::<Json>(&state).unwrap_or_default(),
        "cloud": {
            "objects": objects.collect::<Map<_, _>>(),
            "numbers": world.cloud.numbers(),
        },
        "faults": operation.faults.iter().map(fault).collect::<Vec<_>>(),
        "runs": operation.verb == Verb::Up || flags.run_program,
        "program": items.iter().map(|it| item(program, *it)).collect::<Vec<_>>(),
        "failsAfter": operation.stop.and_then(|stop| stop.in_program(items.len())),
        "hooks": has_hooks(&world.snapshot, program),
        "transforms": program.transforms,
        "askTransforms": program.ask_transforms,
        "packages": program.packages.iter().map(package).collect::<Json>(),
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
        FaultKind::Part => "part",
        FaultKind::HalfPart => "half-part",
    };
    json!({"call": call, "name": fault.name, "kind": kind})
}

fn item(program: &Program, item: Item<'_>) -> Json {
    match item {
        Item::Resource(res) => resource(program, res),
        Item::Ask(number) => json!({"ask": ask(program, number)}),
        Item::Method(it) => json!({"method": method(program, it)}),
    }
}

fn package(package: &Package) -> Json {
    json!({
        "name": package.name,
        "plugin": package.plugin,
        "version": package.version,
        "parameter": package.parameterization().map(|it| parameter(&it)),
        "extension": package.extension().map(|it| parameter(&it)),
    })
}

fn parameter(it: &Parameterization) -> Json {
    json!({
        "name": it.name.as_str(),
        "version": it.version.to_string(),
        "value": String::from_utf8_lossy(&it.value),
    })
}

fn ask(program: &Program, number: usize) -> Json {
    let ask = &program.asks[number];
    json!({
        "number": number,
        "package": ask.package,
        "needs": ask.needs,
        "provider": ask.provider.clone().unwrap_or_default(),
    })
}

fn method(program: &Program, method: &Method) -> Json {
    let owner = method.of.as_deref().and_then(|name| program.get(name));
    json!({
        "name": method.name,
        "token": method.token(owner.map(|res| res.type_name.as_str())),
        "of": method.of.clone().unwrap_or_default(),
        "arguments": props(&method.arguments),
        "wrapped": method.wrapped,
        "provider": method.provider.clone().unwrap_or_default(),
        "version": owner.and_then(|res| res.version.clone()).unwrap_or_default(),
        "package": owner.and_then(|res| res.package.clone()).unwrap_or_default(),
    })
}

/// Names of hooks by hook type.
fn hooks(res: &Res) -> Json {
    let hooks = res.hooks();
    let members = hooks.iter().map(|(at, names)| {
        let names: Vec<&str> = names.iter().map(ecow::EcoString::as_str).collect();
        (at.as_str().to_owned(), json!(names))
    });
    Json::Object(members.collect())
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
        "hooks": hooks(res),
        "transforms": res.transforms,
        "remote": res.remote,
        "registered": res.package.clone().unwrap_or_default(),
        "by": res.by.clone().unwrap_or_default(),
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
        Source::Answer { method, key } => {
            json!({"secret": prop.secret, "answer": method, "key": key})
        }
    }
}

/// A map with its secrets and unknown values as separate members; null if it is empty.
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
        Value::Output(it) => {
            let inner = it.value.as_ref();
            let inner = inner.map_or_else(|| json!({"$unknown": true}), value);
            if it.secret {
                json!({"$secret": inner})
            } else {
                inner
            }
        }
        Value::Resource(it) => json!({"$resource": it.urn.as_str(), "$id": id(&it.id)}),
        other => json!(format!("?{other:?}")),
    }
}

fn id(id: &ReferenceId) -> Json {
    match id {
        ReferenceId::None => Json::Null,
        ReferenceId::Unknown => json!({"$unknown": true}),
        ReferenceId::Known(id) => json!(id.as_str()),
    }
}
