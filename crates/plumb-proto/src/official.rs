//! Comparison with the messages of the reference SDK: its bytes are decoded and encoded again, and the SDK checks the result.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use prost::Message;
use serde_json::{Value as Json, json};

use crate::generated::messages::for_each_message;

/// The oldest supported release, and the release that the protocol facts are from.
const VERSIONS: [&str; 2] = ["3.259", "3.272"];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn run(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed:\n{errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// The Python of an environment with this release of the SDK.
fn python(version: &str) -> PathBuf {
    let venv = run(Command::new("bash")
        .arg(repository().join("tests/setup-python.sh"))
        .arg(version));
    Path::new(venv.trim()).join("bin/python")
}

fn messages_script(python: &Path) -> Command {
    let mut command = Command::new(python);
    command.arg(repository().join("tests/wire/messages.py"));
    command
}

/// Decodes bytes as the message of this name and encodes them again.
fn rewrite(name: &str, bytes: &[u8]) -> Vec<u8> {
    macro_rules! by_name {
        ($($known:literal => $message:ty,)*) => {
            match name {
                $($known => <$message>::decode(bytes).map(|message| message.encode_to_vec()),)*
                other => panic!("there is no message {other}"),
            }
        };
    }
    for_each_message!(by_name).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn every_message_comes_back_the_same() {
    for version in VERSIONS {
        let python = python(version);
        let folder = tempfile::tempdir().unwrap();
        let (sent, answers) = (
            folder.path().join("sent.json"),
            folder.path().join("answers.json"),
        );
        run(messages_script(&python).arg("make").arg(&sent));
        let sent_messages: Vec<Json> = serde_json::from_slice(&fs::read(&sent).unwrap()).unwrap();
        let rewritten: Vec<Json> = sent_messages
            .iter()
            .map(|message| {
                let name = message["message"].as_str().unwrap();
                let bytes = hex::decode(message["bytes"].as_str().unwrap()).unwrap();
                json!({"message": name, "bytes": hex::encode(rewrite(name, &bytes))})
            })
            .collect();
        assert!(rewritten.len() > 400, "{} messages", rewritten.len());
        fs::write(&answers, serde_json::to_vec(&rewritten).unwrap()).unwrap();
        run(messages_script(&python)
            .arg("check")
            .arg(&sent)
            .arg(&answers));
    }
}

#[test]
fn every_field_and_method_is_the_same() {
    let folder = repository().join("proto");
    let mut sources = Vec::new();
    find_protos(&folder, &mut sources);
    let descriptors = protox::compile(&sources, [&folder]).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("descriptors");
    fs::write(&file, descriptors.encode_to_vec()).unwrap();
    for version in VERSIONS {
        run(messages_script(&python(version))
            .arg("descriptors")
            .arg(&file));
    }
}

fn find_protos(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            find_protos(&path, found);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "proto")
        {
            found.push(path);
        }
    }
}
