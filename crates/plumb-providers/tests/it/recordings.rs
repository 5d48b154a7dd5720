//! Calls recorded with the real plugins, repeated with the built-in providers.

use std::path::Path;
use std::sync::Arc;

use plumb_plugin::Provider;
use plumb_resource::provider::{
    CheckConfigRequest, CheckRequest, CreateRequest, DeleteRequest, DiffRequest, InvokeRequest,
    ReadRequest, UpdateRequest,
};
use plumb_resource::{
    DiffChanges, DiffKind, DiffResult, PropertyDiff, ResourceId, TypeToken, UNKNOWN_SENTINEL, Urn,
};
use plumb_value::{Archive, ArchiveSource, Asset, AssetSource, PropertyMap, Value};
use serde_json::Value as Json;

use crate::registry::data;
use crate::support::start;

const SIGNATURE: &str = "4dabf18193072939515e22adb298388d";
const SECRET: &str = "1b47061264138c4ac30d75fd1eb44270";
const ASSET: &str = "c44067f5952c0a294b673a41bacd8c17";
const ARCHIVE: &str = "0def7320c3a5731c473e5ecbe6d01bc7";

fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => Value::Number(number.as_f64().unwrap()),
        Json::String(text) if text == UNKNOWN_SENTINEL => Value::UNKNOWN,
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => Value::array(items.iter().map(value)),
        Json::Object(_) => match json[SIGNATURE].as_str() {
            Some(SECRET) => Value::secret(value(&json["value"])),
            Some(ASSET) => Value::Asset(Arc::new(asset(json))),
            Some(ARCHIVE) => Value::Archive(Arc::new(archive(json))),
            _ => Value::from(properties(json)),
        },
    }
}

fn text<'a>(json: &'a Json, key: &str) -> &'a str {
    json[key].as_str().unwrap_or_default()
}

fn asset(json: &Json) -> Asset {
    let source = match text(json, "path") {
        "" => AssetSource::Elided,
        path => AssetSource::Path(path.into()),
    };
    Asset {
        hash: text(json, "hash").into(),
        source,
    }
}

fn archive(json: &Json) -> Archive {
    // The plugin adds an empty map to an archive whose contents were omitted.
    let members = json["assets"]
        .as_object()
        .filter(|members| !members.is_empty());
    let source = members.map_or(ArchiveSource::Elided, |members| {
        ArchiveSource::Assets(
            members
                .iter()
                .map(|(name, member)| (name.into(), value(member)))
                .collect(),
        )
    });
    Archive {
        hash: text(json, "hash").into(),
        source,
    }
}

fn properties(json: &Json) -> PropertyMap {
    json.as_object()
        .into_iter()
        .flatten()
        .map(|(key, json)| (key.as_str().into(), value(json)))
        .collect()
}

fn shared(json: &Json) -> Arc<PropertyMap> {
    Arc::new(properties(json))
}

struct Call {
    method: String,
    request: Json,
    response: Json,
}

fn calls(folder: &str, plugin: &str) -> Vec<Call> {
    let mut files: Vec<_> = std::fs::read_dir(data("recordings").join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().ends_with(".grpc.jsonl"))
        .collect();
    files.sort();
    let lines = files.iter().flat_map(|file| {
        let text = std::fs::read_to_string(file).unwrap();
        text.lines()
            .map(|line| serde_json::from_str::<Json>(line).unwrap())
            .collect::<Vec<_>>()
    });
    lines
        .filter(|call| call["metadata"]["name"] == plugin)
        .map(|call| Call {
            method: call["method"]
                .as_str()
                .unwrap()
                .rsplit('/')
                .next()
                .unwrap()
                .to_owned(),
            request: call["request"].clone(),
            response: call["response"].clone(),
        })
        .collect()
}

fn urn(call: &Call) -> Urn {
    Urn::parse(text(&call.request, "urn")).unwrap()
}

fn id(call: &Call) -> ResourceId {
    ResourceId::from_text(text(&call.request, "id"))
}

async fn assert_check(provider: &dyn Provider, call: &Call) {
    let request = CheckRequest {
        urn: urn(call),
        old_inputs: Some(shared(&call.request["olds"])),
        new_inputs: shared(&call.request["news"]),
        allow_unknowns: true,
        random_seed: Arc::new([]),
        autonaming: None,
    };
    let response = provider.check(request).await.unwrap();
    assert_eq!(response.failures, []);
    assert_eq!(response.inputs.unwrap(), shared(&call.response["inputs"]));
}

/// Provider settings are returned unchanged, except for those of the plugin itself.
async fn assert_config(provider: &dyn Provider, call: &Call) {
    let request = CheckConfigRequest {
        urn: urn(call),
        old_inputs: Some(shared(&call.request["olds"])),
        new_inputs: shared(&call.request["news"]),
        allow_unknowns: true,
    };
    let response = provider.check_config(request).await.unwrap();
    assert_eq!(response.failures, []);
    let mut expected = properties(&call.response["inputs"]);
    expected.remove("__pulumi-go-provider-version");
    assert_eq!(*response.inputs.unwrap(), expected);
}

/// The plugins do not report whether settings differ.
async fn assert_config_diff(provider: &dyn Provider, call: &Call) {
    assert!(call.response.get("changes").is_none());
    let request = DiffRequest {
        urn: urn(call),
        id: ResourceId::None,
        old_inputs: shared(&call.request["oldInputs"]),
        old_outputs: shared(&call.request["olds"]),
        new_inputs: shared(&call.request["news"]),
        allow_unknowns: true,
        ignore_changes: [].into(),
    };
    let answer = provider.diff_config(request).await.unwrap();
    assert_eq!(answer, DiffResult::of(DiffChanges::Unknown));
}

/// The remaining calls concern the plugin as a process, which built-in providers are not.
fn assert_is_about_the_process(call: &Call) {
    let methods = [
        "Handshake",
        "GetPluginInfo",
        "GetSchema",
        "Configure",
        "Cancel",
    ];
    assert!(methods.contains(&call.method.as_str()), "{}", call.method);
}

async fn assert_diff(provider: &dyn Provider, call: &Call) {
    let keys = |json: &Json| {
        json.as_array()
            .into_iter()
            .flatten()
            .map(|key| key.as_str().unwrap().into())
            .collect()
    };
    let request = DiffRequest {
        urn: urn(call),
        id: id(call),
        old_inputs: shared(&call.request["oldInputs"]),
        old_outputs: shared(&call.request["olds"]),
        new_inputs: shared(&call.request["news"]),
        allow_unknowns: true,
        ignore_changes: keys(&call.request["ignoreChanges"]),
    };
    let changes = match text(&call.response, "changes") {
        "DIFF_NONE" => DiffChanges::None,
        "DIFF_SOME" => DiffChanges::Some,
        other => panic!("{other}"),
    };
    let kind = |json: &Json| match text(json, "kind") {
        "UPDATE" => PropertyDiff {
            kind: DiffKind::Update,
            input_diff: false,
        },
        other => panic!("{other}"),
    };
    let detailed = call.response["detailedDiff"].as_object();
    let detailed = detailed
        .into_iter()
        .flatten()
        .map(|(path, json)| (path.into(), kind(json)))
        .collect();
    let expected = DiffResult {
        replace_keys: keys(&call.response["replaces"]).to_vec(),
        changed_keys: keys(&call.response["diffs"]).to_vec(),
        detailed_diff: (call.response["hasDetailedDiff"] == true).then_some(detailed),
        ..DiffResult::of(changes)
    };
    assert_eq!(provider.diff(request).await.unwrap(), expected);
}

async fn created(provider: &dyn Provider, call: &Call) -> (ResourceId, PropertyMap) {
    let preview = call.request["preview"] == true;
    let inputs = shared(&call.request["properties"]);
    let request = CreateRequest {
        urn: urn(call),
        inputs,
        timeout: 0.0,
        preview,
        status: None,
    };
    let response = provider.create(request).await.unwrap();
    assert_eq!(response.id == ResourceId::Unknown, preview);
    (response.id, response.outputs.as_ref().clone())
}

async fn read(provider: &dyn Provider, call: &Call) -> (PropertyMap, PropertyMap) {
    let request = ReadRequest {
        urn: urn(call),
        id: id(call),
        inputs: Some(shared(&call.request["inputs"])),
        outputs: shared(&call.request["properties"]),
        timeout: 0.0,
        old_views: Vec::new(),
        status: None,
    };
    let response = provider.read(request).await.unwrap();
    assert_eq!(response.id, id(call));
    (
        response.inputs.unwrap().as_ref().clone(),
        response.outputs.unwrap().as_ref().clone(),
    )
}

async fn deleted(provider: &dyn Provider, call: &Call) {
    let request = DeleteRequest {
        urn: urn(call),
        id: id(call),
        inputs: shared(&call.request["oldInputs"]),
        outputs: shared(&call.request["properties"]),
        timeout: 0.0,
        old_views: Vec::new(),
        status: None,
    };
    provider.delete(request).await.unwrap();
}

/// Recorded outputs, without the record that is deliberately not written.
fn recorded_outputs(call: &Call) -> PropertyMap {
    let mut outputs = properties(&call.response["properties"]);
    outputs.remove("__pulumi_raw_state_delta");
    outputs
}

/// Outputs with random values replaced by their lengths; values from a seed are kept, because they
/// must be equal.
fn blurred(outputs: &PropertyMap) -> PropertyMap {
    let by_chance = ["b64Std", "b64Url", "hex", "base64", "bcryptHash", "result"];
    let seeded = outputs.contains_key("seed");
    let mut blurred = outputs.clone();
    for (key, value) in blurred.iter_mut() {
        if key.as_str() == "dec" || (key.as_str() == "id" && outputs.contains_key("separator")) {
            *value = Value::Null;
        } else if (by_chance.contains(&key.as_str()) || key.as_str() == "id") && !seeded {
            *value = value.map(&mut |value| match value {
                Value::String(text) => Value::Number(text.len() as f64),
                other => other,
            });
        }
    }
    blurred
}

async fn replay_random(folder: &str) -> usize {
    let provider = start("random", Path::new("/"), None).provider;
    let calls = calls(folder, "random");
    for call in &calls {
        match call.method.as_str() {
            "CheckConfig" => assert_config(&*provider, call).await,
            "DiffConfig" => assert_config_diff(&*provider, call).await,
            "Check" => assert_check(&*provider, call).await,
            "Diff" => assert_diff(&*provider, call).await,
            "Create" => {
                let (id, outputs) = created(&*provider, call).await;
                let expected = recorded_outputs(call);
                assert_eq!(blurred(&outputs), blurred(&expected), "{}", urn(call));
                if let (ResourceId::Known(id), Some(output)) = (id, outputs.get("id")) {
                    assert_eq!(output.as_str(), Some(id.as_str()));
                }
            }
            "Read" => {
                let (inputs, mut outputs) = read(&*provider, call).await;
                outputs.remove("__pulumi_raw_state_delta");
                assert_eq!(inputs, properties(&call.response["inputs"]));
                assert_eq!(outputs, recorded_outputs(call));
            }
            "Delete" => deleted(&*provider, call).await,
            _ => assert_is_about_the_process(call),
        }
    }
    calls.len()
}

#[tokio::test]
async fn random_answers_as_recorded() {
    for folder in ["random", "python", "node"] {
        assert!(replay_random(folder).await > 20, "{folder}");
    }
}

async fn assert_updated(provider: &dyn Provider, call: &Call) {
    let request = UpdateRequest {
        urn: urn(call),
        id: id(call),
        old_inputs: shared(&call.request["oldInputs"]),
        old_outputs: shared(&call.request["olds"]),
        new_inputs: shared(&call.request["news"]),
        ignore_changes: [].into(),
        timeout: 0.0,
        preview: call.request["preview"] == true,
        old_views: Vec::new(),
        status: None,
    };
    let response = provider.update(request).await.unwrap();
    assert_eq!(
        *response.outputs,
        properties(&call.response["properties"]),
        "{}",
        urn(call)
    );
}

/// Outputs without the year that the recorded script printed.
fn without_year(mut outputs: PropertyMap, call: &Call) -> PropertyMap {
    if urn(call).name() == "trig" && call.request["preview"] != true {
        outputs.insert("stdout", "year");
    }
    outputs
}

#[tokio::test]
async fn command_answers_as_recorded() {
    let root = tempfile::tempdir().unwrap();
    let fixture = start("command", root.path(), None);
    let provider = &*fixture.provider;
    let calls = calls("command", "command");
    for call in &calls {
        match call.method.as_str() {
            "CheckConfig" => assert_config(provider, call).await,
            "DiffConfig" => assert_config_diff(provider, call).await,
            "Check" => assert_check(provider, call).await,
            "Diff" => assert_diff(provider, call).await,
            "Create" => {
                let (id, outputs) = created(provider, call).await;
                let expected = without_year(properties(&call.response["properties"]), call);
                assert_eq!(without_year(outputs, call), expected, "{}", urn(call));
                if let ResourceId::Known(id) = id {
                    let recorded = text(&call.response, "id");
                    assert_eq!(
                        (id.len(), &id[..id.len() - 8]),
                        (recorded.len(), &recorded[..recorded.len() - 8])
                    );
                }
            }
            "Update" => assert_updated(provider, call).await,
            "Read" => {
                let answer = read(provider, call).await;
                let expected = (
                    properties(&call.response["inputs"]),
                    properties(&call.response["properties"]),
                );
                assert_eq!(answer, expected);
            }
            "Delete" => deleted(provider, call).await,
            "Invoke" => {
                let request = InvokeRequest {
                    token: TypeToken::new(text(&call.request, "tok")),
                    args: shared(&call.request["args"]),
                    preview: call.request["preview"] == true,
                };
                let response = provider.invoke(request).await.unwrap();
                assert_eq!(*response.result, properties(&call.response["return"]));
            }
            _ => assert_is_about_the_process(call),
        }
    }
    assert!(calls.len() > 50);
    let logged = fixture.log.take();
    for line in [
        ("plain", "hello"),
        ("env", "warn"),
        ("env", "lab"),
        ("plain", "bye"),
        ("", "ran"),
    ] {
        assert!(
            logged
                .iter()
                .any(|(name, text)| (name.as_str(), text.as_str()) == line),
            "{line:?}"
        );
    }
}
