//! Large snapshots.

use std::fmt::Write;
use std::time::Instant;

use plumb_state::CiphertextCache;
use plumb_state::file::parse_checkpoint;

use crate::support::NoCodec;

fn large_checkpoint(count: usize) -> String {
    let provider = "urn:pulumi:dev::proj::pulumi:providers:random::default";
    let mut resources = format!(
        r#"{{"urn":"{provider}","custom":true,"id":"u","type":"pulumi:providers:random"}}"#
    );
    for index in 0..count {
        let dependency = match index {
            0 => String::new(),
            _ => format!(
                r#""dependencies":["urn:pulumi:dev::proj::random:index/randomString:RandomString::r{}"],"#,
                index - 1
            ),
        };
        let properties = format!(
            r#"{{"id":"string-{index}","keepers":{{"a":"{index:0>200}","list":[1,2,3.5,true,null]}},"length":{index},"text":"a \"quoted\" line\n"}}"#
        );
        write!(
            resources,
            r#",{{"urn":"urn:pulumi:dev::proj::random:index/randomString:RandomString::r{index}","custom":true,"id":"string-{index}","type":"random:index/randomString:RandomString","inputs":{properties},"outputs":{properties},{dependency}"provider":"{provider}::u","propertyDependencies":{{"keepers":[],"length":[]}},"created":"2025-01-02T03:00:00Z","modified":"2025-01-02T03:00:00Z"}}"#
        )
        .unwrap();
    }
    format!(
        r#"{{"version":3,"checkpoint":{{"stack":"organization/proj/dev","latest":{{"manifest":{{"time":"2025-01-02T03:04:05Z","magic":"","version":""}},"resources":[{resources}],"metadata":{{}}}}}}}}"#
    )
}

#[test]
fn a_large_checkpoint_comes_back_byte_for_byte() {
    let text = large_checkpoint(10_000);
    let start = Instant::now();
    let deployment = parse_checkpoint(text.as_bytes()).unwrap().latest.unwrap();
    let parse = start.elapsed();
    let start = Instant::now();
    let snapshot = deployment
        .decrypt(&NoCodec, &mut CiphertextCache::new())
        .unwrap();
    snapshot.verify().unwrap();
    let verify = start.elapsed();
    let start = Instant::now();
    let sealed = snapshot
        .encrypt(&NoCodec, &mut CiphertextCache::new())
        .unwrap();
    let written = sealed.checkpoint("organization/proj/dev");
    let write = start.elapsed();
    println!(
        "{} MB: parse {parse:?}, decrypt and verify {verify:?}, write {write:?}",
        text.len() >> 20
    );
    assert!(written == text, "the text differs");
}
