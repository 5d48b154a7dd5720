//! Deployment and checkpoint files.

use plumb_state::file::{
    Layout, ParseError, empty_checkpoint, no_deployment, parse_body, parse_checkpoint,
    parse_deployment,
};
use plumb_state::{CiphertextCache, EncryptedSnapshot, magic_of};
use serde_json::Value as Json;

use crate::support::{CountingCodec, KeyCodec, NoCodec, json, list, vector, vector_bytes};

const DEV: &str = "organization/proj/dev";

fn codec_of_vectors() -> KeyCodec {
    let cases = vector("secrets-passphrase.json");
    let ascii = list(&cases, "cases")
        .iter()
        .find(|case| case["name"] == "ascii")
        .unwrap()
        .clone();
    KeyCodec::from_hex(ascii["keyHex"].as_str().unwrap())
}

fn sealed(name: &str) -> EncryptedSnapshot {
    parse_deployment(&vector_bytes(name))
        .unwrap()
        .try_into_encrypted()
        .unwrap()
}

#[test]
fn a_deployment_is_written_as_it_was_read_without_the_secrets_manager() {
    for name in ["deployment-v3.json", "deployment-v4.json"] {
        let text = String::from_utf8(vector_bytes(name)).unwrap();
        let snapshot = sealed(name);
        assert_eq!(
            json(&snapshot.deployment(Layout::Indented)),
            json(&text),
            "{name}"
        );
        assert_eq!(
            snapshot.deployment(Layout::Indented).trim_end(),
            text.trim_end(),
            "{name}"
        );
    }
}

/// Deployment with one snippet that uses every member.
const SNIPPET: &str = r#"{
    "uuid": "6f0f6b1e-0000-4000-8000-000000000002",
    "name": "snip",
    "type": "pkg:index:Thing",
    "code": "flag = other.flag\\n",
    "descriptor": {
        "name": "base",
        "version": "1.0.0",
        "downloadURL": "https://example.com",
        "parameterization": {"name": "pkg", "version": "2.0.0", "value": "cGFyYW0="}
    },
    "references": {"other": "urn:pulumi:dev::proj::pkg:index:Thing::other"}
}"#;

#[test]
fn snippets_are_written_as_they_were_read() {
    let mut deployment: Json = serde_json::from_slice(&vector_bytes("deployment-v4.json")).unwrap();
    deployment["deployment"]["snippets"] = Json::Array(vec![json(SNIPPET)]);
    let read = parse_deployment(deployment.to_string().as_bytes()).unwrap();
    let sealed = read.try_into_encrypted().unwrap();
    assert_eq!(json(&sealed.deployment(Layout::Indented)), deployment);
}

#[test]
fn a_checkpoint_is_written_with_the_exact_bytes() {
    let bytes = vector_bytes("checkpoint-v3.min.json");
    let checkpoint = parse_checkpoint(&bytes).unwrap();
    assert_eq!(checkpoint.stack, DEV);
    let snapshot = checkpoint.latest.unwrap().try_into_encrypted().unwrap();
    assert_eq!(snapshot.checkpoint(DEV), String::from_utf8(bytes).unwrap());
}

#[test]
fn secrets_are_shown_on_demand_only() {
    let codec = codec_of_vectors();
    let snapshot = sealed("deployment-v3.json")
        .decrypt(&codec, &mut CiphertextCache::new())
        .unwrap();
    let shown = snapshot.deployment_with_secrets_exposed(Layout::Indented);
    assert_eq!(json(&shown), vector("deployment-v3.show-secrets.json"));
}

#[test]
fn a_secret_that_did_not_change_keeps_its_ciphertext() {
    let text = vector_bytes("deployment-v3.json");
    let mut cache = CiphertextCache::new();
    let snapshot = sealed("deployment-v3.json")
        .decrypt(&codec_of_vectors(), &mut cache)
        .unwrap();
    assert!(!cache.is_empty());
    let again = snapshot.encrypt(&NoCodec, &mut cache).unwrap();
    assert_eq!(
        json(&again.deployment(Layout::Compact)),
        json(&String::from_utf8(text).unwrap())
    );
}

#[test]
fn plaintext_from_a_file_is_encrypted_before_it_can_be_written() {
    let deployment = parse_deployment(&vector_bytes("deployment-v3.show-secrets.json")).unwrap();
    assert!(deployment.has_plaintext());
    assert!(deployment.clone().try_into_encrypted().is_err());
    assert!(deployment.clone().into_encrypted(&NoCodec).is_err());

    let codec = CountingCodec::default();
    let sealed = deployment.clone().into_encrypted(&codec).unwrap();
    assert!(!sealed.deployment(Layout::Compact).contains("plaintext"));
    let mut cache = CiphertextCache::new();
    let opened = sealed.decrypt(&codec, &mut cache).unwrap();
    assert_eq!(opened, deployment.decrypt(&NoCodec, &mut cache).unwrap());
}

#[test]
fn a_state_without_secrets_never_needs_the_codec() {
    let deployment = parse_deployment(&vector_bytes("deployment-v4.json")).unwrap();
    let snapshot = deployment
        .decrypt(&NoCodec, &mut CiphertextCache::new())
        .unwrap();
    let sealed = snapshot
        .encrypt(&NoCodec, &mut CiphertextCache::new())
        .unwrap();
    assert_eq!(
        json(&sealed.deployment(Layout::Compact)),
        vector("deployment-v4.json")
    );
    assert_eq!(sealed.features().len(), 8);
}

/// Removes empty members, and treats null and empty lists inside property dependencies alike.
fn without_empty(value: &Json) -> Json {
    match value {
        Json::Object(members) => {
            let kept = members
                .iter()
                .filter(|(key, _)| *key != "defaults")
                .map(|(key, member)| {
                    let member = match key.as_str() {
                        "propertyDependencies" => member.clone(),
                        _ => without_empty(member),
                    };
                    (key.clone(), member)
                });
            kept.filter(|(key, member)| {
                key == "metadata"
                    || !(member.is_null()
                        || *member == serde_json::json!([])
                        || *member == serde_json::json!({}))
            })
            .collect()
        }
        Json::Array(items) => items.iter().map(without_empty).collect(),
        other => other.clone(),
    }
}

#[test]
fn old_versions_become_the_present_one() {
    let vectors = vector("migrations.json");
    for (version, old, new) in [
        (1, "v1", "v1AsV3"),
        (2, "v2", "v2AsV3"),
        (3, "v2AsV3", "v2AsV3"),
    ] {
        let document = serde_json::json!({"version": version, "deployment": vectors[old]});
        let snapshot = parse_deployment(document.to_string().as_bytes())
            .unwrap()
            .try_into_encrypted()
            .unwrap();
        let written = json(&snapshot.deployment(Layout::Compact));
        assert_eq!(written["version"], 3);
        assert_eq!(
            without_empty(&written["deployment"]),
            without_empty(&vectors[new]),
            "{old}"
        );
    }
}

#[test]
fn every_wrapper_of_a_checkpoint_is_read() {
    let vectors = vector("migrations.json");
    let forms = vectors["checkpointForms"].as_object().unwrap();
    for (name, document) in forms {
        let checkpoint = parse_checkpoint(document.to_string().as_bytes()).unwrap();
        if name == "emptyStack" {
            assert!(checkpoint.latest.is_none());
            continue;
        }
        let snapshot = checkpoint.latest.unwrap().try_into_encrypted().unwrap();
        let resources = &snapshot.opaque().resources;
        assert_eq!(resources.len(), 3, "{name}");
        assert_eq!(resources[2].property_dependencies.len(), 2, "{name}");
    }
}

#[test]
fn versions_and_features_decide_what_is_read() {
    let vectors = vector("migrations.json");
    for case in list(&vectors, "mustReject") {
        let text = case["document"].to_string();
        assert!(
            parse_deployment(text.as_bytes()).is_err(),
            "{}",
            case["why"]
        );
    }
    for case in list(&vectors, "mustAccept") {
        let text = case["document"].to_string();
        assert!(parse_deployment(text.as_bytes()).is_ok(), "{}", case["why"]);
    }
    let unknown = br#"{"version":4,"features":["taint","timeTravel"],"deployment":{}}"#;
    let Err(ParseError::UnknownFeatures { features }) = parse_deployment(unknown) else {
        panic!("accepted")
    };
    assert_eq!(features, ["timeTravel"]);
    assert!(matches!(
        parse_checkpoint(br#"{"version":5}"#),
        Err(ParseError::UnsupportedCheckpoint { version: 5 })
    ));
    assert!(matches!(
        parse_deployment(br#"{"version":3}"#),
        Err(ParseError::NoDeployment)
    ));
    assert!(parse_deployment(br#"{"version":3,"Deployment":null}"#).is_ok());
    assert!(matches!(
        parse_deployment(b"hello"),
        Err(ParseError::NotJson { found: 'h' })
    ));
}

#[test]
fn the_sample_store_is_read() {
    let folder = "diy-sample/dot-pulumi";
    let current =
        parse_checkpoint(&vector_bytes(&format!("{folder}/stacks/proj/dev.json"))).unwrap();
    let latest = current.latest.unwrap();
    latest.opaque().verify().unwrap();
    assert_eq!(
        latest
            .try_into_encrypted()
            .unwrap()
            .checkpoint(&current.stack)
            .into_bytes(),
        vector_bytes(&format!("{folder}/stacks/proj/dev.json"))
    );

    let backup =
        parse_checkpoint(&vector_bytes(&format!("{folder}/stacks/proj/dev.json.bak"))).unwrap();
    assert!(
        backup
            .latest
            .is_none_or(|latest| latest.opaque().resources.len() < 10)
    );
    for name in [
        "backups/proj/dev/dev.1735787045678906234.json",
        "history/proj/dev/dev-1735787045678901234.checkpoint.json",
    ] {
        assert!(
            parse_checkpoint(&vector_bytes(&format!("{folder}/{name}")))
                .unwrap()
                .latest
                .is_some(),
            "{name}"
        );
    }
}

#[test]
fn stacks_without_a_deployment_have_their_own_forms() {
    let text = empty_checkpoint(DEV);
    assert_eq!(
        text,
        r#"{"version":0,"checkpoint":{"stack":"organization/proj/dev"}}"#
    );
    assert!(parse_checkpoint(text.as_bytes()).unwrap().latest.is_none());
    assert_eq!(
        no_deployment(Layout::Compact),
        r#"{"version":3,"deployment":null}"#
    );
    assert!(
        parse_deployment(no_deployment(Layout::Indented).as_bytes())
            .unwrap()
            .opaque()
            .resources
            .is_empty()
    );
}

#[test]
fn member_names_may_come_in_any_case_and_unknown_members_are_kept() {
    let text = r#"{"Manifest":{"time":"2025-01-02T03:04:05.5+02:00","MAGIC":"","version":""},
        "Resources":[{"URN":"urn:pulumi:s::p::a:b:C::x","CUSTOM":true,"Id":"i","type":"a:b:C","future":{ "a" : [1, 2] },
            "resourcehooks":null,"propertydependencies":{"k":null}}],
        "later": true}"#;
    let snapshot = parse_body(text).unwrap().try_into_encrypted().unwrap();
    let written = snapshot.deployment(Layout::Compact);
    assert!(written.contains(r#""future":{"a":[1,2]}"#), "{written}");
    assert!(written.ends_with(r#""later":true}}"#), "{written}");
    assert!(
        written.contains(r#""time":"2025-01-02T03:04:05.5+02:00""#),
        "{written}"
    );
    assert!(
        written.contains(r#""id":"i","type":"a:b:C","propertyDependencies":{"k":[]}"#),
        "{written}"
    );
}

#[test]
fn paths_of_hidden_differences_are_written_as_text() {
    let text = r#"{"resources":[{"urn":"urn:pulumi:s::p::a:b:C::x","custom":false,"type":"a:b:C",
        "hideDiff":[["a",0,"b.c"],["x"],["q\"uote"],"y[1].z"]}]}"#;
    let snapshot = parse_body(text).unwrap().try_into_encrypted().unwrap();
    assert_eq!(
        *snapshot.opaque().resources[0].hide_diff,
        ["a[0][\"b.c\"]", "x", "[\"q\\\"uote\"]", "y[1].z"]
    );
    assert!(
        snapshot
            .deployment(Layout::Compact)
            .contains(r#""hideDiff":["a[0][\"b.c\"]","x","[\"q\\\"uote\"]","y[1].z"]"#)
    );
}

#[test]
fn the_magic_is_the_digest_of_the_version() {
    for case in list(&vector("manifest-magic.json"), "cases") {
        assert_eq!(
            magic_of(case["version"].as_str().unwrap()),
            case["magic"].as_str().unwrap()
        );
    }
    for case in list(&vector("manifest-magic.json"), "mustReject") {
        let body = serde_json::json!({"manifest": case["manifest"]}).to_string();
        assert!(
            parse_body(&body).unwrap().opaque().verify().is_err(),
            "{}",
            case["why"]
        );
    }
}

#[test]
fn deep_values_are_read_and_written() {
    // Use the stack size of a main thread, because threads of tests have less.
    let work = || {
        let depth = 9_000;
        let value = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        let text = format!(
            r#"{{"resources":[{{"urn":"urn:pulumi:s::p::a:b:C::x","custom":false,"type":"a:b:C","inputs":{{"v":{value}}}}}]}}"#
        );
        let deployment = parse_body(&text).unwrap();
        let snapshot = deployment
            .decrypt(&NoCodec, &mut CiphertextCache::new())
            .unwrap();
        let sealed = snapshot
            .encrypt(&NoCodec, &mut CiphertextCache::new())
            .unwrap();
        assert!(sealed.deployment(Layout::Compact).contains(&value));
        let too_deep = text.replace(
            &value,
            &format!("{}1{}", "[".repeat(10_001), "]".repeat(10_001)),
        );
        assert!(parse_body(&too_deep).is_err());
    };
    std::thread::Builder::new()
        .stack_size(8 << 20)
        .spawn(work)
        .unwrap()
        .join()
        .unwrap();
}
