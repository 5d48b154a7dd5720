//! Stack references and stashes.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use ecow::EcoString;
use plumb_providers::{ResourceOutputs, StackOutputs, StackReadError, StackReader};
use plumb_resource::provider::ReadRequest;
use plumb_resource::{DiffChanges, ResourceId};
use plumb_value::{PropertyMap, Value};

use crate::support::{
    Fixture, check, create, diff, import, invoke, map, preview, start, update, urn,
};

const STASH: &str = "pulumi:index:Stash";
const REFERENCE: &str = "pulumi:pulumi:StackReference";

/// A reader with one stack, `org/p/s`.
struct OneStack;

impl OneStack {
    fn find(name: &str) -> Result<(), StackReadError> {
        let unknown = || StackReadError {
            message: format!("unknown stack \"{name}\""),
            source: None,
        };
        (name == "org/p/s").then_some(()).ok_or_else(unknown)
    }
}

#[async_trait]
impl StackReader for OneStack {
    async fn stack_outputs(&self, name: &str) -> Result<StackOutputs, StackReadError> {
        OneStack::find(name)?;
        let nested = Value::array([Value::secret(Value::from("n"))]);
        let outputs = map([
            ("b", Value::secret(Value::from("s"))),
            ("a", Value::from("x")),
            ("0", nested),
        ]);
        Ok(StackOutputs {
            outputs,
            undecryptable: vec!["lost".into()],
        })
    }

    async fn stack_resource_outputs(
        &self,
        name: &str,
    ) -> Result<BTreeMap<EcoString, ResourceOutputs>, StackReadError> {
        OneStack::find(name)?;
        let resource = ResourceOutputs {
            type_token: "t:m:R".into(),
            outputs: map([("o", Value::from("v"))]),
        };
        Ok(BTreeMap::from([(
            "urn:pulumi:s::p::t:m:R::r".into(),
            resource,
        )]))
    }
}

fn pulumi() -> Fixture {
    start("pulumi", Path::new("/"), Some(Arc::new(OneStack)))
}

fn named(name: &str) -> PropertyMap {
    map([("name", Value::from(name))])
}

async fn reasons(token: &str, inputs: PropertyMap) -> Vec<String> {
    let response = pulumi()
        .provider
        .check(check(&urn(token, "r"), inputs))
        .await
        .unwrap();
    response
        .failures
        .into_iter()
        .map(|failure| failure.reason.to_string())
        .collect()
}

#[tokio::test]
async fn only_the_known_inputs_are_allowed() {
    let other = map([("other", Value::Null)]);
    let expected = [
        "unknown property \"other\"",
        "missing required property \"input\"",
    ];
    assert_eq!(reasons(STASH, other.clone()).await, expected);
    let expected = [
        "unknown property \"other\"",
        "missing required property \"name\"",
    ];
    assert_eq!(reasons(REFERENCE, other).await, expected);
    assert_eq!(
        reasons(REFERENCE, map([("name", Value::Null)])).await,
        ["property \"name\" must be a string"]
    );
    assert_eq!(
        reasons(REFERENCE, map([("name", Value::UNKNOWN)])).await,
        [] as [&str; 0]
    );
}

/// STASH-02
#[tokio::test]
async fn a_stash_keeps_its_first_value() {
    let provider = pulumi().provider;
    let urn = urn(STASH, "kept");
    let (first, second) = (
        map([("input", Value::secret(Value::from("1")))]),
        map([("input", Value::from("2"))]),
    );
    let created = provider.create(create(&urn, first.clone())).await.unwrap();
    assert!(matches!(&created.id, ResourceId::Known(id) if id.len() == 36));
    assert_eq!(created.outputs.get("output"), first.get("input"));
    let outputs = created.outputs.as_ref().clone();
    let changed = diff(&urn, first.clone(), outputs.clone(), second.clone());
    let changed = provider.diff(changed).await.unwrap();
    assert_eq!(
        (changed.changes, changed.is_replace()),
        (DiffChanges::Some, false)
    );
    let same = provider
        .diff(diff(&urn, first.clone(), outputs.clone(), first.clone()))
        .await
        .unwrap();
    assert_eq!(same.changes, DiffChanges::None);
    let updated = provider
        .update(update(&urn, first.clone(), outputs, second.clone()))
        .await
        .unwrap()
        .outputs;
    assert_eq!(
        (updated.get("input"), updated.get("output")),
        (second.get("input"), first.get("input"))
    );
}

#[tokio::test]
async fn a_previewed_stash_has_its_output_but_no_id() {
    let inputs = map([("input", Value::from("1"))]);
    let created = pulumi()
        .provider
        .create(preview(&urn(STASH, "s"), inputs))
        .await
        .unwrap();
    assert_eq!(
        (created.id, created.outputs.get("output")),
        (ResourceId::Unknown, Some(&Value::from("1")))
    );
}

/// STASH-01, IMPORT-19
#[tokio::test]
async fn neither_can_be_imported() {
    let provider = pulumi().provider;
    let stash = provider
        .read(import(&urn(STASH, "s"), "x"))
        .await
        .unwrap_err();
    assert_eq!(stash.message, "stash can not be imported");
    let reference = provider
        .read(import(&urn(REFERENCE, "s"), "x"))
        .await
        .unwrap_err();
    assert_eq!(reference.message, "stack reference can not be imported");
}

fn expected_reference() -> PropertyMap {
    let nested = Value::array([Value::secret(Value::from("n"))]);
    let outputs = map([
        ("0", nested),
        ("a", Value::from("x")),
        ("b", Value::secret(Value::from("s"))),
    ]);
    let secret_names = Value::array([Value::from("0"), Value::from("b")]);
    named("org/p/s")
        .with("outputs", outputs)
        .with("secretOutputNames", secret_names)
}

fn read(inputs: Option<PropertyMap>, outputs: PropertyMap) -> ReadRequest {
    ReadRequest {
        inputs: inputs.map(Arc::new),
        outputs: Arc::new(outputs),
        ..import(&urn(REFERENCE, "r"), "org/p/s")
    }
}

/// PULUMI-16
#[tokio::test]
async fn references_are_read_in_every_way() {
    let Fixture { provider, log } = pulumi();
    let urn = urn(REFERENCE, "r");
    let created = provider
        .create(create(&urn, named("org/p/s")))
        .await
        .unwrap()
        .outputs;
    assert_eq!(*created, expected_reference());
    let first = provider.read(read(None, named("org/p/s"))).await.unwrap();
    assert_eq!(*first.outputs.unwrap(), expected_reference());
    assert_eq!(first.id, ResourceId::from_text("org/p/s"));
    let refreshed = provider
        .read(read(Some(named("org/p/s")), expected_reference()))
        .await
        .unwrap();
    assert_eq!(*refreshed.outputs.unwrap(), expected_reference());
    let invoked = provider
        .invoke(invoke("pulumi:pulumi:readStackOutputs", named("org/p/s")))
        .await
        .unwrap();
    assert_eq!(*invoked.result, expected_reference());
    let message =
        "secret outputs of stack `org/p/s` that cannot be decrypted are left out: lost".to_owned();
    assert_eq!(log.take()[0], ("r".to_owned(), message));
}

/// PULUMI-16, PULUMI-17
#[tokio::test]
async fn unknown_stacks_names_and_properties_are_errors() {
    let provider = pulumi().provider;
    let error = provider
        .create(create(&urn(REFERENCE, "r"), named("nope")))
        .await
        .unwrap_err();
    assert_eq!(error.message, "unknown stack \"nope\"");
    let error = provider
        .read(read(None, map([("foo", Value::Null)])))
        .await
        .unwrap_err();
    assert_eq!(error.message, "unknown property \"foo\"");
    let unknown = provider
        .create(preview(
            &urn(REFERENCE, "r"),
            map([("name", Value::UNKNOWN)]),
        ))
        .await
        .unwrap();
    assert_eq!(unknown.outputs.get("outputs"), Some(&Value::UNKNOWN));
}

/// PULUMI-17
#[tokio::test]
async fn another_name_replaces_a_reference() {
    let provider = pulumi().provider;
    let result = provider
        .diff(diff(
            &urn(REFERENCE, "r"),
            named("a"),
            named("a"),
            named("b"),
        ))
        .await
        .unwrap();
    assert_eq!(result.replace_keys, ["name"]);
}

/// PULUMI-17
#[tokio::test]
async fn registering_a_reference_warns() {
    let Fixture { provider, log } = pulumi();
    provider
        .check(check(&urn(REFERENCE, "r"), named("a")))
        .await
        .unwrap();
    let logged = log.take();
    assert!(
        logged[0]
            .1
            .starts_with("The \"pulumi:pulumi:StackReference\" resource type is deprecated.")
    );
}

#[tokio::test]
async fn resource_outputs_come_by_urn() {
    let args = map([("stackName", Value::from("org/p/s"))]);
    let response = pulumi()
        .provider
        .invoke(invoke("pulumi:pulumi:readStackResourceOutputs", args))
        .await
        .unwrap();
    let resource = map([
        ("outputs", Value::from(map([("o", Value::from("v"))]))),
        ("type", Value::from("t:m:R")),
    ]);
    let outputs = map([("urn:pulumi:s::p::t:m:R::r", Value::from(resource))]);
    assert_eq!(*response.result, named("org/p/s").with("outputs", outputs));
}

#[tokio::test]
async fn without_a_reader_there_is_no_backend_client() {
    let provider = start("pulumi", Path::new("/"), None).provider;
    for (token, args) in [
        ("pulumi:pulumi:readStackOutputs", named("s")),
        (
            "pulumi:pulumi:readStackResourceOutputs",
            map([("stackName", Value::from("s"))]),
        ),
    ] {
        let error = provider.invoke(invoke(token, args)).await.unwrap_err();
        assert_eq!(error.message, "no backend client is available");
    }
    let error = provider
        .invoke(invoke("pulumi:pulumi:nothing", map([])))
        .await
        .unwrap_err();
    assert_eq!(
        error.message,
        "unrecognized function name: pulumi:pulumi:nothing"
    );
    let error = provider
        .create(create(&urn("pulumi:pulumi:Nothing", "r"), map([])))
        .await
        .unwrap_err();
    assert_eq!(
        error.message,
        "unrecognized resource type: pulumi:pulumi:Nothing"
    );
}

#[tokio::test]
async fn ten_thousand_stashes_take_no_time() {
    let provider = pulumi().provider;
    let urn = urn(STASH, "many");
    let started = Instant::now();
    for index in 0..10_000_u32 {
        let inputs = map([("input", Value::Number(f64::from(index)))]);
        provider.check(check(&urn, inputs.clone())).await.unwrap();
        provider.create(create(&urn, inputs)).await.unwrap();
    }
    // A generous limit for debug builds on busy machines.
    assert!(
        started.elapsed() < Duration::from_secs(5),
        "{:?}",
        started.elapsed()
    );
}
