//! Programs of the recordings make the recorded requests.

use std::collections::BTreeMap;
use std::sync::Arc;

use plumb_deploy::request::{InvokeReply, Outcome, RegisterReply, RegisterRequest, Reply, Request};
use plumb_resource::{CustomTimeouts, PropertyDependencies, ResourceId, UNKNOWN_SENTINEL, Urn};
use plumb_value::{Archive, ArchiveSource, Asset, AssetSource, PropertyKey, PropertyMap, Value};
use pretty_assertions::assert_eq;
use serde_json::Value as Json;

use crate::fake::{Case, data};

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
        Json::Object(entries) => match entries.get(SIGNATURE).and_then(Json::as_str) {
            Some(SECRET) => Value::secret(value(&entries["value"])),
            Some(ASSET) => Value::Asset(Arc::new(Asset {
                hash: text(json, "hash").into(),
                source: AssetSource::Path(text(json, "path").into()),
            })),
            Some(ARCHIVE) => {
                let members = entries["assets"].as_object().unwrap();
                let members = members
                    .iter()
                    .map(|(name, member)| (name.as_str().into(), value(member)));
                Value::Archive(Arc::new(Archive {
                    hash: text(json, "hash").into(),
                    source: ArchiveSource::Assets(members.collect()),
                }))
            }
            Some(other) => panic!("unexpected signature {other}"),
            None => Value::from(map(json)),
        },
    }
}

fn map(json: &Json) -> PropertyMap {
    let entries = json.as_object().into_iter().flatten();
    entries
        .map(|(key, json)| (PropertyKey::from(key.as_str()), value(json)))
        .collect()
}

fn text<'a>(json: &'a Json, key: &str) -> &'a str {
    json[key].as_str().unwrap_or_default()
}

fn texts<T: for<'a> From<&'a str>>(json: &Json, key: &str) -> Vec<T> {
    json[key]
        .as_array()
        .into_iter()
        .flatten()
        .map(|item| T::from(item.as_str().unwrap()))
        .collect()
}

fn urns(json: &Json) -> Vec<Urn> {
    json.as_array()
        .into_iter()
        .flatten()
        .map(|urn| Urn::parse(urn.as_str().unwrap()).unwrap())
        .collect()
}

/// Recorded request, in the engine's form.
fn registration(json: &Json) -> RegisterRequest {
    let known = [
        "type",
        "name",
        "parent",
        "custom",
        "object",
        "propertyDependencies",
        "dependencies",
        "acceptSecrets",
        "customTimeouts",
        "acceptResources",
        "sourcePosition",
        "stackTrace",
        "supportsResultReporting",
        "acceptsByteString",
        "additionalSecretOutputs",
        "replaceOnChanges",
        "ignoreChanges",
    ];
    for key in json.as_object().unwrap().keys() {
        assert!(
            known.contains(&key.as_str()),
            "the recording has a field that is not compared: {key}"
        );
    }
    let mut request = RegisterRequest::new(
        text(json, "type"),
        text(json, "name"),
        json["custom"] == true,
    );
    request.parent = Urn::parse(text(json, "parent")).ok();
    request.properties = Arc::new(map(&json["object"]));
    request.dependencies = urns(&json["dependencies"]).into();
    let dependencies = json["propertyDependencies"]
        .as_object()
        .into_iter()
        .flatten();
    request.property_dependencies = dependencies
        .map(|(key, entry)| (PropertyKey::from(key.as_str()), urns(&entry["urns"]).into()))
        .collect();
    request.additional_secret_outputs = texts::<String>(json, "additionalSecretOutputs")
        .into_iter()
        .map(PropertyKey::from)
        .collect();
    request.custom_timeouts =
        (json["customTimeouts"] == serde_json::json!({})).then(CustomTimeouts::default);
    request.replace_on_changes = texts(json, "replaceOnChanges").into();
    request.ignore_changes = texts(json, "ignoreChanges").into();
    request
}

struct Recording {
    registrations: BTreeMap<String, (Json, Json)>,
    invokes: BTreeMap<String, (Json, Json)>,
    outputs: Json,
}

fn read(path: &std::path::Path) -> Recording {
    let mut recording = Recording {
        registrations: BTreeMap::new(),
        invokes: BTreeMap::new(),
        outputs: Json::Null,
    };
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let call: Json = serde_json::from_str(line).unwrap();
        let (request, response) = (call["request"].clone(), call["response"].clone());
        match text(&call, "method") {
            "/pulumirpc.ResourceMonitor/RegisterResource" => {
                let key = format!("{}::{}", text(&request, "type"), text(&request, "name"));
                recording.registrations.insert(key, (request, response));
            }
            "/pulumirpc.ResourceMonitor/Invoke" => {
                recording
                    .invokes
                    .insert(text(&request, "tok").to_owned(), (request, response));
            }
            "/pulumirpc.ResourceMonitor/RegisterResourceOutputs" => {
                recording.outputs = request["outputs"].clone();
            }
            _ => {}
        }
    }
    recording
}

fn answer(recording: &Recording, request: &Request) -> Option<Reply> {
    match request {
        Request::Register(request) => {
            let key = format!("{}::{}", request.type_token, request.name);
            let (_, response) = &recording.registrations[&key];
            let id = match ResourceId::from_text(text(response, "id")) {
                ResourceId::None if request.custom => ResourceId::Unknown,
                id => id,
            };
            Some(Reply::Registered(RegisterReply {
                urn: Urn::parse(text(response, "urn")).unwrap(),
                id,
                outputs: Arc::new(map(&response["object"])),
                property_dependencies: PropertyDependencies::new(),
                outcome: Outcome::Success,
                unknown: false,
            }))
        }
        Request::Invoke(request) => Some(Reply::Invoked(InvokeReply {
            result: Arc::new(map(&recording.invokes[request.token.as_str()].1["return"])),
            failures: Vec::new(),
            dependencies: PropertyDependencies::new(),
            unknown: false,
        })),
        _ => None,
    }
}

fn check(name: &str, step: &str, program: &str) {
    let folder = data().join("data/recordings").join(name);
    let recording = Arc::new(read(&folder.join(format!("{step}.grpc.jsonl"))));
    let directory = tempfile::tempdir().unwrap();
    std::fs::copy(
        folder.join("program/Pulumi.yaml"),
        directory.path().join("Pulumi.yaml"),
    )
    .unwrap();
    std::fs::copy(
        folder.join("program").join(program),
        directory.path().join("Main.yaml"),
    )
    .unwrap();
    let mut case = Case::at(directory.path());
    case.project = "recording";
    case.dry_run = step.contains("preview");
    let script = recording.clone();
    let ran = case
        .script(move |request| answer(&script, request))
        .run()
        .finished();

    let mut seen = 0;
    for request in ran.registrations() {
        let mut request = request.clone();
        request.source_position = None;
        let key = format!("{}::{}", request.type_token, request.name);
        assert_eq!(
            request,
            registration(&recording.registrations[&key].0),
            "{name} {step}: {key}"
        );
        seen += 1;
    }
    assert_eq!(seen, recording.registrations.len(), "{name} {step}");
    for request in &ran.requests {
        if let Request::Invoke(request) = request {
            assert_eq!(
                *request.args,
                map(&recording.invokes[request.token.as_str()].0["args"])
            );
        }
    }
    assert_eq!(
        *ran.outputs(),
        map(&recording.outputs),
        "{name} {step}: outputs"
    );
}

#[test]
fn recorded_programs_make_the_recorded_requests() {
    for name in ["random", "command"] {
        for (step, program) in [
            ("1-preview", "Main1.yaml"),
            ("2-up", "Main1.yaml"),
            ("3-up-same", "Main1.yaml"),
            ("5-preview-diff", "Main2.yaml"),
            ("6-up-changed", "Main2.yaml"),
        ] {
            check(name, step, program);
        }
    }
}
