use std::collections::BTreeMap;
use std::sync::Arc;

use plumb_resource::{ResourceId, ResourceKind, ResourceState, Urn};
use plumb_schema::PackageSchema;
use plumb_value::{PropertyMap, Value};
use pretty_assertions::assert_eq;

use super::*;

const SCHEMA: &str = r##"{
  "name": "lab", "version": "1.0.0",
  "types": {
    "lab:index:Rule": {"type": "object", "properties": {
      "port": {"type": "integer"}, "host": {"type": "string"}, "kind": {"type": "string"}}, "required": ["port", "kind"]}
  },
  "resources": {
    "lab:index/thing:Thing": {
      "inputProperties": {
        "value": {"type": "string"},
        "size": {"type": "integer"},
        "rule": {"$ref": "#/types/lab:index:Rule"},
        "other": {"type": "string"},
        "script": {"$ref": "pulumi.json#/Asset"},
        "tags": {"type": "object", "additionalProperties": {"type": "string"}}
      },
      "requiredInputs": ["size"]
    }
  }
}"##;

fn thing(name: &str, id: &str, inputs: PropertyMap) -> ResourceState {
    let urn = Urn::new("dev", "proj", "", "lab:index/thing:Thing", name);
    let mut state = ResourceState::new(urn, ResourceKind::Custom);
    state.id = ResourceId::from_text(id);
    state.inputs = Arc::new(inputs);
    state
}

fn code(states: &[ResourceState], is_protected: bool) -> Code {
    let package = Arc::new(PackageSchema::parse(SCHEMA).unwrap());
    let resources: Vec<Imported<'_>> = states
        .iter()
        .map(|state| Imported {
            state,
            package: Some(Arc::clone(&package)),
            is_protected,
        })
        .collect();
    declarations(&resources, &BTreeMap::new())
}

#[test]
fn inputs_are_those_of_the_schema_in_its_order() {
    let rule = PropertyMap::new()
        .with("host", "n")
        .with("port", 80.0)
        .with("old", true);
    let tags = PropertyMap::new().with("b", "${x}").with("a", "true");
    let inputs = PropertyMap::new()
        .with("value", Value::secret("v".into()))
        .with("rule", rule)
        .with("tags", tags)
        .with("gone", "x")
        .with("other", Value::Null)
        .with("script", "run.sh");
    assert_eq!(
        code(&[thing("a.b", "1", inputs)], true).text,
        "resources:
  a_b:
    type: lab:Thing
    name: a.b
    properties:
      rule:
        host: n
        kind: \"\"
        port: 80
      script:
        fn::fileAsset: run.sh
      size: 0
      tags:
        a: \"true\"
        b: $${x}
      value:
        fn::secret: v
    options:
      protect: true
"
    );
}

#[test]
fn what_names_one_other_resource_becomes_a_reference() {
    let inputs = |value: &str| PropertyMap::new().with("size", 1.0).with("value", value);
    let mut first = thing("a", "id-a", inputs("id-a"));
    first.outputs = Arc::new(PropertyMap::new().with("arn", "arn:a").with("name", "same"));
    let mut second = thing("b", "id-b", inputs("arn:a"));
    second.outputs = Arc::new(PropertyMap::new().with("name", "same"));
    second.dependencies = [first.urn.clone()].into();
    let third = thing("c", "id-c", inputs("same"));
    let text = code(&[first, second, third], false).text;
    // Not to itself, and not where it could be either of two.
    assert_eq!(
        text.matches("value: ").collect::<Vec<_>>().len(),
        3,
        "{text}"
    );
    assert!(
        text.contains("value: id-a\n") && text.contains("value: same\n"),
        "{text}"
    );
    assert!(
        text.contains("value: ${a.arn}\n") && !text.contains("dependsOn"),
        "{text}"
    );
}

#[test]
fn what_cannot_be_said_is_told() {
    let mut below = thing("a", "1", PropertyMap::new());
    let parent = Urn::new("dev", "proj", "", "proj:index:Group", "group");
    below.parent = Some(parent.clone());
    let component = ResourceState::new(parent, ResourceKind::Component);
    let code = code(&[component, below], false);
    assert_eq!(code.notes.len(), 2, "{:?}", code.notes);
    assert!(
        code.notes[0].contains("is a component of a program"),
        "{:?}",
        code.notes
    );
    assert!(
        code.notes[1].contains("for which the program has no name"),
        "{:?}",
        code.notes
    );
    assert!(!code.text.contains("parent"), "{}", code.text);
}

#[test]
fn tokens_are_written_short() {
    assert_eq!(short_token("aws:s3/bucket:Bucket"), "aws:s3:Bucket");
    assert_eq!(short_token("x:index/foo:Foo"), "x:Foo");
    assert_eq!(short_token("x:index:Foo"), "x:Foo");
    assert_eq!(short_token("x::Foo"), "x:Foo");
    assert_eq!(
        short_token("aws:s3/bucketV2:Bucket"),
        "aws:s3/bucketV2:Bucket"
    );
    assert_eq!(short_token("pulumi:providers:aws"), "pulumi:providers:aws");
}
