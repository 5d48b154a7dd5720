use std::sync::Arc;

use plumb_resource::{ProviderRef, ResourceId, ResourceKind, ResourceState, Urn};
use plumb_schema::PackageSchema;
use plumb_value::{Asset, AssetSource, PropertyMap, Value};
use pretty_assertions::assert_eq;

use super::*;

const SCHEMA: &str = r##"{
  "name": "lab", "version": "1.0.0",
  "types": {
    "lab:index:Rule": {"type": "object", "properties": {
      "port": {"type": "integer"}, "host": {"type": "string"}, "proto": {"type": "string", "default": "tcp"}, "kind": {"type": "string"}}, "required": ["port", "kind"]}
  },
  "resources": {
    "lab:index/thing:Thing": {
      "inputProperties": {
        "value": {"type": "string"},
        "size": {"type": "integer"},
        "rule": {"$ref": "#/types/lab:index:Rule"},
        "count": {"type": "integer", "default": 3},
        "password": {"type": "string", "secret": true},
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

fn imported(states: &[ResourceState], is_protected: bool) -> Vec<Imported<'_>> {
    let package = Arc::new(PackageSchema::parse(SCHEMA).unwrap());
    let resources = states.iter().map(|state| Imported {
        state,
        package: Some(Arc::clone(&package)),
        is_protected,
    });
    resources.collect()
}

fn code(states: &[ResourceState], is_protected: bool) -> Code {
    declarations(&imported(states, is_protected), Target::default()).code
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
    let code = code(&[thing("a.b", "1", inputs)], true);
    assert_eq!(
        code.text,
        "config:
  aBValue:
    type: string
    secret: true
resources:
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
      value: ${aBValue}
    options:
      protect: true
"
    );
    assert_eq!(
        code.notes,
        [
            "urn:pulumi:dev::proj::lab:index/thing:Thing::a.b: `rule.old` is left out: the schema has no such input",
            "urn:pulumi:dev::proj::lab:index/thing:Thing::a.b: `gone` is left out: the schema has no such input",
        ]
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
fn a_reference_that_closed_a_circle_stays_a_text() {
    let inputs = |value: &str| PropertyMap::new().with("size", 1.0).with("value", value);
    let first = thing("a", "id-a", inputs("id-b"));
    let second = thing("b", "id-b", inputs("id-c"));
    let third = thing("c", "id-c", inputs("id-a"));
    let text = code(&[first, second, third], false).text;
    assert!(text.contains("value: ${b.id}\n"), "{text}");
    assert!(text.contains("value: ${c.id}\n"), "{text}");
    assert!(text.contains("value: id-a\n"), "{text}");
    let guess = "  # A guess, from equal texts: value is b.id.\n  a:\n";
    assert!(text.contains(guess), "{text}");
}

#[test]
fn no_declaration_takes_the_name_of_another() {
    let inputs = || PropertyMap::new().with("size", 1.0);
    let states = ["a.b", "a_b", "a/b"].map(|name| thing(name, name, inputs()));
    let text = code(&states, false).text;
    for declared in ["  a_b:\n", "  a_b-Thing:\n", "  a-b-Thing-2:\n"] {
        assert!(text.contains(declared), "{text}");
    }
}

#[test]
fn defaults_are_written_for_languages_that_fill_in_none() {
    let inputs = PropertyMap::new().with("count", 3.0).with(
        "rule",
        PropertyMap::new().with("port", 80.0).with("proto", "tcp"),
    );
    let states = [thing("a", "1", inputs)];
    let text = |is_yaml| {
        let target = Target {
            is_yaml,
            ..Target::default()
        };
        declarations(&imported(&states, false), target).code.text
    };
    let (with, without) = (text(true), text(false));
    assert!(with.contains("count: 3\n"), "{with}");
    assert!(!without.contains("count:"), "{without}");
    // Not every language fills in those of nested objects.
    assert!(without.contains("proto: tcp\n"), "{without}");
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

fn resource(urn: Urn, id: &str) -> ResourceState {
    let mut state = ResourceState::new(urn, ResourceKind::Custom);
    state.id = ResourceId::from_text(id);
    state
}

fn whole(states: &[ResourceState], outputs: &PropertyMap, known: &[(&str, &str)]) -> WholeProgram {
    let known = known.iter();
    let known = known.map(|(value, name)| ((*value).to_owned(), (*name).to_owned()));
    let target = Target {
        known_secrets: known.collect(),
        ..Target::default()
    };
    whole_program(&imported(states, false), outputs, target)
}

const THING: &str = "lab:index/thing:Thing";

#[test]
fn a_whole_program_refers_to_what_its_resources_depend_on() {
    let mut network = thing("network", "net-1234", PropertyMap::new().with("size", 1.0));
    network.outputs = Arc::new(PropertyMap::new().with("value", "10.0.0.0/8"));
    let mut same_text = thing("same-text", "other", PropertyMap::new().with("size", 1.0));
    let inputs = PropertyMap::new()
        .with("value", "at net-1234 in 10.0.0.0/8")
        .with("other", "net-1234")
        .with("size", 2.0);
    let mut server = thing("server", "srv", inputs.clone());
    server.dependencies = [network.urn.clone()].into_iter().collect();
    for property in ["value", "other"] {
        let urns = [network.urn.clone()].into_iter().collect();
        server.property_dependencies.insert(property.into(), urns);
    }
    same_text.inputs = Arc::new(inputs);
    let outputs = PropertyMap::new().with("id", "net-1234").with("n", 1.0);
    let made = whole(&[network, same_text, server], &outputs, &[]);
    assert_eq!(
        made.code.text,
        "resources:\n  network:\n    type: lab:Thing\n    properties:\n      size: 1\n  \
         same-text:\n    type: lab:Thing\n    properties:\n      other: net-1234\n      size: 2\n      value: at net-1234 in 10.0.0.0/8\n  \
         server:\n    type: lab:Thing\n    properties:\n      other: ${network.id}\n      size: 2\n      value: at ${network.id} in ${network.value}\n\
         outputs:\n  id: ${network.id}\n  n: 1\n"
    );
}

#[test]
fn secrets_of_a_whole_program_are_settings() {
    let secret = |text: &str| Value::secret(Value::String(text.into()));
    let mut made = thing("made", "m", PropertyMap::new().with("size", 1.0));
    made.outputs = Arc::new(PropertyMap::new().with("value", secret("made-by-it")));
    let mut tags = PropertyMap::new();
    tags.insert("a", secret("unheard-of"));
    tags.insert("b", secret("unheard-of"));
    let mut inputs = PropertyMap::new().with("size", 1.0).with("tags", tags);
    inputs.insert("value", secret("known"));
    inputs.insert("other", secret("made-by-it"));
    let mut user = thing("user", "u", inputs);
    let urns = [made.urn.clone()].into_iter().collect();
    user.property_dependencies.insert("other".into(), urns);
    let whole = whole(&[made, user], &PropertyMap::new(), &[("known", "password")]);
    let text = &whole.code.text;
    assert!(text.contains("value: ${password}\n"), "{text}");
    assert!(text.contains("other: ${made.value}\n"), "{text}");
    assert!(
        text.contains("a: ${userTags}\n        b: ${userTags}\n"),
        "{text}"
    );
    assert!(
        text.contains("password:\n    type: string\n    secret: true\n"),
        "{text}"
    );
    assert!(
        !text.contains("unheard-of") && !text.contains("known\n"),
        "{text}"
    );
    assert!(!text.contains("fn::secret"), "{text}");
    let added: Vec<_> = whole
        .settings
        .iter()
        .map(|it| (&*it.name, &*it.value))
        .collect();
    assert_eq!(added, [("userTags", "unheard-of")]);
}

#[test]
fn settings_for_yaml_are_read_as_the_texts_that_they_are() {
    for (text, setting) in [
        ("1.0", "\"1.0\""),
        ("true", "\"true\""),
        ("\"a\"", "\"\\\"a\\\"\""),
        ("007", "007"),
    ] {
        let secret = Value::secret(Value::String(text.into()));
        let states = [thing("t", "t", PropertyMap::new().with("value", secret))];
        let target = |is_yaml| Target {
            is_yaml,
            known_secrets: [("1.0".to_owned(), "version".to_owned())].into(),
            ..Target::default()
        };
        let made = declarations(&imported(&states, false), target(true));
        assert_eq!(made.settings[0].value, setting, "{}", made.code.text);
        let made = declarations(&imported(&states, false), target(false));
        let added: Vec<_> = made.settings.iter().map(|it| it.value.as_str()).collect();
        assert_eq!(added, if text == "1.0" { vec![] } else { vec![text] });
    }
}

#[test]
fn what_the_schema_calls_secret_is_a_setting() {
    let states = [thing(
        "t",
        "t",
        PropertyMap::new().with("password", "plain"),
    )];
    let made = declarations(&imported(&states, false), Target::default());
    assert!(!made.code.text.contains("plain"), "{}", made.code.text);
    assert_eq!(made.settings.len(), 1, "{}", made.code.text);
}

#[test]
fn a_secret_asset_of_a_whole_program_is_reported() {
    let mut inputs = PropertyMap::new().with("size", 1.0);
    let asset = Asset {
        hash: "".into(),
        source: AssetSource::Text("unheard-of".into()),
    };
    inputs.insert("value", Value::secret(Value::Asset(Arc::new(asset))));
    let whole = whole(&[thing("t", "t", inputs)], &PropertyMap::new(), &[]);
    let text = &whole.code.text;
    assert!(text.contains("value: null\n"), "{text}");
    assert!(!text.contains("fn::secret"), "{text}");
    assert_eq!(whole.code.notes.len(), 1, "{:?}", whole.code.notes);
}

#[test]
fn scalars_in_a_secret_are_settings_of_their_types() {
    let mut port = PropertyMap::new();
    port.insert("port", Value::Number(8042.0));
    port.insert("host", Value::String("inside".into()));
    port.insert("kind", Value::Null);
    let mut inputs = PropertyMap::new().with("size", 1.0);
    inputs.insert("rule", Value::secret(Value::Object(port.into())));
    let whole = whole(&[thing("t", "t", inputs)], &PropertyMap::new(), &[]);
    let text = &whole.code.text;
    let rule = "rule:\n        fn::secret:\n          port: ${tRule2}\n          host: ${tRule}\n";
    let other = "rule:\n        fn::secret:\n          host: ${tRule}\n";
    assert!(text.contains(rule) || text.contains(other), "{text}");
    assert!(
        text.contains("tRule2:\n    type: number\n    secret: true\n"),
        "{text}"
    );
    assert!(!text.contains("8042") && !text.contains("inside"), "{text}");
}

#[test]
fn resources_of_components_have_aliases_and_names_of_their_own() {
    let stack = Urn::new("dev", "proj", "", "pulumi:pulumi:Stack", "proj-dev");
    let root = ResourceState::new(stack.clone(), ResourceKind::Component);
    let component = |name: &str| {
        let urn = Urn::new("dev", "proj", "", "my:index:Site", name);
        let mut state = ResourceState::new(urn, ResourceKind::Component);
        state.parent = Some(stack.clone());
        state
    };
    let (local, mut remote) = (component("local"), component("remote"));
    remote.provider =
        ProviderRef::parse("urn:pulumi:dev::proj::pulumi:providers:my::default::id").ok();
    let child = |parent: &ResourceState, name: &str| {
        let urn = Urn::new("dev", "proj", "my:index:Site", THING, name);
        let mut state = resource(urn, "id");
        state.parent = Some(parent.urn.clone());
        state.inputs = Arc::new(PropertyMap::new().with("size", 1.0));
        state
    };
    let (kept, made_by_provider) = (child(&local, "Web_site"), child(&remote, "hidden"));
    let same_name = thing("website", "x", PropertyMap::new().with("size", 1.0));
    let states = [
        root,
        local,
        remote,
        kept.clone(),
        made_by_provider,
        same_name,
    ];
    let made = whole(&states, &PropertyMap::new(), &[]);
    let text = &made.code.text;
    let alias = format!("aliases:\n        - {}\n", kept.urn);
    assert!(text.contains(&alias), "{text}");
    assert!(
        !text.contains("parent:") && !text.contains("hidden"),
        "{text}"
    );
    assert!(
        text.contains("website-thing:") || text.contains("website-Thing:"),
        "{text}"
    );
    assert_eq!(made.code.notes.len(), 1, "{:?}", made.code.notes);
}
