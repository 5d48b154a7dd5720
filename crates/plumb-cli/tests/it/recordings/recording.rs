//! Reader of recordings: programs, their steps, the calls of a step.

use std::collections::BTreeSet;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::Value as Json;
use tonic::{Code, Status};

use super::data;
use super::protocol::Protocol;

/// A command, with the calls made while it ran, and the state after it.
pub(super) struct Step {
    /// Name in messages: `random/2-up`.
    pub(super) name: String,
    /// Arguments of the command.
    pub(super) command: Vec<&'static str>,
    /// Calls in the order of their answers.
    pub(super) calls: Vec<Call>,
    /// The event log.
    pub(super) events: String,
    /// The exported state.
    pub(super) state: Json,
}

/// One call.
#[derive(Clone)]
pub(super) struct Call {
    /// `/package.Service/Method`.
    pub(super) method: String,
    /// Recipient of the call.
    pub(super) peer: Peer,
    pub(super) request: Json,
    pub(super) answer: Result<Json, Failure>,
}

/// Recipient of a call: the engine for calls of a program, all others for calls of the engine.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Peer {
    Engine,
    Language(String),
    Provider(String),
    Callbacks,
}

/// The error of a call.
#[derive(Clone)]
pub(super) struct Failure {
    pub(super) code: Code,
    pub(super) message: String,
}

impl From<&Failure> for Status {
    fn from(failure: &Failure) -> Status {
        Status::new(failure.code, &failure.message)
    }
}

#[derive(Deserialize)]
struct Line {
    method: String,
    #[serde(default)]
    request: Json,
    #[serde(default)]
    response: Json,
    #[serde(default)]
    errors: Vec<String>,
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    mode: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    runtime: String,
}

const SUFFIX: &str = ".grpc.jsonl";

/// Names of the steps of a program, sorted: `1-preview`.
pub(super) fn step_names(program: &str) -> BTreeSet<String> {
    let files = std::fs::read_dir(data("recordings").join(program)).unwrap();
    files
        .filter_map(|file| {
            let name = file.unwrap().file_name().into_string().unwrap();
            Some(name.strip_suffix(SUFFIX)?.to_owned())
        })
        .collect()
}

/// Command of a step; `None` for an unknown step.
pub(super) fn command(step: &str) -> Option<Vec<&'static str>> {
    let (_, what) = step.split_once('-')?;
    Some(match what {
        "preview" => vec!["preview"],
        "preview-diff" => vec!["preview", "--diff"],
        "up" | "up-same" | "up-changed" => vec!["up", "--yes", "--skip-preview"],
        "refresh" => vec!["refresh", "--yes", "--skip-preview"],
        "destroy" => vec!["destroy", "--yes", "--skip-preview"],
        _ => return None,
    })
}

/// Reads a step.
pub(super) fn step(program: &str, name: &str) -> Step {
    let folder = data("recordings").join(program);
    let read = |suffix| std::fs::read_to_string(folder.join(format!("{name}{suffix}"))).unwrap();
    Step {
        name: format!("{program}/{name}"),
        command: command(name).unwrap(),
        calls: read(SUFFIX).lines().map(call).collect(),
        events: read(".events.jsonl"),
        state: serde_json::from_str(&read(".state.json")).unwrap(),
    }
}

/// Copies the project file of a program.
///
/// The file names the language double in `plugins`, because a host on the search path would not replace the built-in one.
pub(super) fn copy_project(program: &str, folder: &Path, plugins: &Path) {
    let file = data("recordings").join(program).join("program/Pulumi.yaml");
    let project = std::fs::read_to_string(file).unwrap();
    let names = ["go", "nodejs", "python", "yaml"]
        .map(|language| format!("    - {{name: {language}, path: {}}}\n", plugins.display()));
    let hosts = format!("plugins:\n  languages:\n{}", names.concat());
    std::fs::write(folder.join("Pulumi.yaml"), format!("{project}{hosts}")).unwrap();
}

fn call(line: &str) -> Call {
    let mut line: Line = serde_json::from_str(line).unwrap();
    let peer = match (line.metadata.mode.as_str(), line.metadata.kind.as_str()) {
        ("server", _) => Peer::Engine,
        (_, "language") => Peer::Language(line.metadata.runtime),
        (_, "callbacks") => Peer::Callbacks,
        (_, "resource") => Peer::Provider(line.metadata.name),
        (_, other) => panic!("the recording has a peer that is not known here: {other}"),
    };
    if peer == Peer::Callbacks {
        open_callback(&mut line.request, &mut line.response);
    }
    let answer = match line.errors.first() {
        Some(error) => Err(failure(error)),
        None => Ok(line.response),
    };
    Call {
        method: line.method,
        peer,
        request: line.request,
        answer,
    }
}

/// Decodes the bytes in a callback; the recorded callbacks are transforms of resources.
fn open_callback(request: &mut Json, response: &mut Json) {
    let open = |message: &str, json: &mut Json| {
        let bytes = BASE64_STANDARD.decode(json.as_str().unwrap()).unwrap();
        *json = Protocol::get().decode(message, &bytes);
    };
    open(TRANSFORM_REQUEST, &mut request["request"]);
    open(TRANSFORM_RESPONSE, &mut response["response"]);
}

pub(super) const TRANSFORM_REQUEST: &str = "pulumirpc.TransformRequest";
pub(super) const TRANSFORM_RESPONSE: &str = "pulumirpc.TransformResponse";

/// Parses `rpc error: code = Unimplemented desc = …`.
fn failure(text: &str) -> Failure {
    let rest = text.strip_prefix("rpc error: code = ").unwrap();
    let (code, message) = rest.split_once(" desc = ").unwrap();
    let code = match code {
        "Unimplemented" => Code::Unimplemented,
        "Unknown" => Code::Unknown,
        "InvalidArgument" => Code::InvalidArgument,
        other => panic!("the recording has an error that is not known here: {other}"),
    };
    Failure {
        code,
        message: message.to_owned(),
    }
}
