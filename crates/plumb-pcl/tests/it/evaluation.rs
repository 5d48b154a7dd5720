//! Expressions and options, up to the resulting registration.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use plumb_deploy::request::{
    AwaitReply, InvokeReply, Outcome, RegisterReply, RegisterRequest, Reply, Request,
};
use plumb_engine::monitor::ResourceMonitor;
use plumb_engine::program::ProgramResult;
use plumb_engine::snippet::SnippetLanguage;
use plumb_events::Severity;
use plumb_pcl::PclSnippets;
use plumb_resource::{PropertyDependencies, ResourceId, Urn};
use plumb_state::Snippet;
use plumb_value::{PropertyMap, Value};
use pretty_assertions::assert_eq;

use crate::stack::{Schemas, info};

const SCHEMA: &str = r#"{
  "name": "pkg",
  "resources": {
    "pkg:index:Any": {
      "inputProperties": {
        "it": {"$ref": "pulumi.json#/Any"},
        "text": {"type": "string"},
        "number": {"type": "integer"},
        "numbers": {"type": "array", "items": {"type": "number"}},
        "hidden": {"type": "string", "secret": true}
      }
    },
    "pkg:index:Other": {
      "properties": {
        "list": {"type": "array", "items": {"$ref": "pulumi.json#/Any"}},
        "later": {"type": "string"},
        "hush": {"type": "string"}
      }
    }
  },
  "functions": {"pkg:index:echo": {"inputs": {"properties": {"text": {"type": "string"}}}}}
}"#;

/// Resource monitor that answers all requests, and records registrations and messages.
#[derive(Default)]
struct Fake {
    registered: Mutex<Vec<RegisterRequest>>,
    said: Mutex<Vec<String>>,
    invoked: Mutex<usize>,
}

fn other() -> Urn {
    Urn::new("dev", "proj", "", "pkg:index:Other", "other")
}

fn provider() -> Urn {
    Urn::new("dev", "proj", "", "pulumi:providers:pkg", "prov")
}

#[async_trait]
impl ResourceMonitor for Fake {
    async fn request(&self, request: Request) -> Reply {
        match request {
            Request::Register(request) => {
                let urn = Urn::new("dev", "proj", "", &request.type_token, &request.name);
                self.registered.lock().unwrap().push(*request);
                Reply::Registered(RegisterReply {
                    urn,
                    id: ResourceId::Known("id".into()),
                    outputs: Arc::default(),
                    property_dependencies: PropertyDependencies::new(),
                    outcome: Outcome::Success,
                    unknown: false,
                })
            }
            Request::Await(request) => {
                let one = Value::from(PropertyMap::new().with("name", "one"));
                let two = Value::from(PropertyMap::new().with("name", "two"));
                let outputs = PropertyMap::new()
                    .with("list", Value::array([one, two]))
                    .with("later", Value::UNKNOWN)
                    .with("hush", Value::secret("h".into()));
                Reply::Awaited(AwaitReply {
                    urn: request.urn,
                    id: ResourceId::Known("other-id".into()),
                    custom: true,
                    outputs: Arc::new(outputs),
                    unknown: false,
                })
            }
            Request::Invoke(request) => {
                *self.invoked.lock().unwrap() += 1;
                Reply::Invoked(InvokeReply {
                    result: request.args,
                    failures: Vec::new(),
                    dependencies: PropertyDependencies::new(),
                    unknown: false,
                })
            }
            other => panic!("{other:?}"),
        }
    }

    fn log(&self, _: Severity, _: Option<&Urn>, message: &str) {
        self.said.lock().unwrap().push(message.to_owned());
    }
}

/// Evaluates the body of a resource; returns errors, if there are any.
async fn evaluate(code: &str) -> Result<(Vec<RegisterRequest>, usize), String> {
    let snippet = Snippet {
        uuid: "U".into(),
        name: "it".into(),
        type_token: "pkg:index:Any".into(),
        descriptor: plumb_state::SnippetDescriptor {
            name: "pkg".into(),
            ..plumb_state::SnippetDescriptor::default()
        },
        code: code.into(),
        references: [
            ("other".into(), other().as_str().into()),
            ("prov".into(), provider().as_str().into()),
        ]
        .into(),
    };
    let fake = Arc::new(Fake::default());
    let language = PclSnippets::new(Schemas::of(SCHEMA));
    let info = info(std::path::Path::new("/proj"));
    match language.run(snippet, info, fake.clone()).await {
        ProgramResult::Finished => {
            let registered = std::mem::take(&mut *fake.registered.lock().unwrap());
            let invoked = *fake.invoked.lock().unwrap();
            Ok((registered, invoked))
        }
        _ => Err(fake.said.lock().unwrap().join("\n")),
    }
}

async fn registration(code: &str) -> RegisterRequest {
    let (mut registered, _) = evaluate(code).await.unwrap();
    assert_eq!(registered.len(), 1);
    registered.remove(0)
}

/// Value of an expression.
async fn value(expression: &str) -> Value {
    let request = registration(&format!("it = {expression}")).await;
    request.properties.get("it").cloned().unwrap_or(Value::Null)
}

fn text(text: &str) -> Value {
    text.into()
}

fn texts(all: &[&str]) -> Value {
    Value::array(all.iter().map(|it| text(it)))
}

#[tokio::test]
async fn expressions_have_values() {
    for (expression, expected) in [
        ("true", Value::Bool(true)),
        ("1.5", Value::Number(1.5)),
        ("null", Value::Null),
        (r#""a${1 + 2}b${true}""#, text("a3btrue")),
        (r#""$${a}""#, text("${a}")),
        ("<<-EOT\n  one\n    two\n  EOT\n", text("one\n  two\n")),
        ("[1, \"x\"]", Value::array([Value::Number(1.0), text("x")])),
        (
            "{ a = 1, \"b\" = 2 }",
            Value::from(
                PropertyMap::new()
                    .with("a", Value::Number(1.0))
                    .with("b", Value::Number(2.0)),
            ),
        ),
        ("{ a = [1, { b = \"deep\" }] }.a[1].b", text("deep")),
        ("[\"a\", \"b\"][1 - 1]", text("a")),
        ("[{ n = \"a\" }, { n = \"b\" }][*].n", texts(&["a", "b"])),
        (
            "[for v in [1, 2, 3] : v * 10 if v != 2]",
            Value::array([Value::Number(10.0), Value::Number(30.0)]),
        ),
        ("[for k, v in { a = \"x\" } : \"${k}${v}\"]", texts(&["ax"])),
        (
            "{ for i, v in [\"a\"] : v => i }",
            Value::from(PropertyMap::new().with("a", Value::Number(0.0))),
        ),
        ("1 < 2 ? \"yes\" : \"no\"", text("yes")),
        ("!(1 == 1) || -1 <= 0 && 7 % 4 == 3", Value::Bool(true)),
    ] {
        assert_eq!(value(expression).await, expected, "{expression}");
    }
}

#[tokio::test]
async fn functions_have_values() {
    for (expression, expected) in [
        ("project()", text("proj")),
        ("stack()", text("dev")),
        ("organization()", text("org")),
        ("max(1, 7, 3)", Value::Number(7.0)),
        ("min(4, 2)", Value::Number(2.0)),
        ("length([1, 2])", Value::Number(2.0)),
        ("length(\"e\u{301}x\")", Value::Number(2.0)),
        ("element([\"a\", \"b\"], 1)", text("b")),
        ("join(\"-\", split(\",\", \"a,b\"))", text("a-b")),
        ("lookup({ a = \"x\" }, \"b\", \"default\")", text("default")),
        (
            "[for e in entries({ b = 1, a = 2 }) : e.key]",
            texts(&["a", "b"]),
        ),
        (
            "range(1, 3)",
            Value::array([Value::Number(1.0), Value::Number(2.0)]),
        ),
        ("toJSON({ a = [true] })", text("{\"a\":[true]}")),
        ("fromBase64(toBase64(\"hi\"))", text("hi")),
        (
            "sha1(\"abc\")",
            text("a9993e364706816aba3e25717850c26c9cd0d89d"),
        ),
        ("singleOrNone([\"x\"])", text("x")),
        ("secret(\"s\")", Value::secret(text("s"))),
        ("unsecret(other.hush)", text("h")),
        ("try(element([], 1), \"fallback\")", text("fallback")),
        ("can(element([], 1))", Value::Bool(false)),
        ("pulumiResourceName(other)", text("other")),
    ] {
        assert_eq!(value(expression).await, expected, "{expression}");
    }
}

#[tokio::test]
async fn outputs_carry_what_they_come_from() {
    let request = registration("it = [for x in other.list : x.name]\ntext = other.later").await;
    assert_eq!(request.properties.get("it"), Some(&texts(&["one", "two"])));
    assert_eq!(request.properties.get("text"), Some(&Value::UNKNOWN));
    assert_eq!(request.dependencies, [other()]);
    let of_text = request.property_dependencies.get("text");
    assert_eq!(of_text.map(ecow::EcoVec::as_slice), Some(&[other()][..]));
    let secret = registration("text = \"<${other.hush}>\"").await;
    let expected = Value::secret(text("<h>"));
    assert_eq!(secret.properties.get("text"), Some(&expected));
    assert_eq!(value("other.id").await, text("other-id"));
}

#[tokio::test]
async fn inputs_become_what_the_schema_says() {
    let code = "text = 5\nnumber = \"7\"\nnumbers = [\"1\", 2]\nhidden = \"s\"";
    let request = registration(code).await;
    let numbers = Value::array([Value::Number(1.0), Value::Number(2.0)]);
    assert_eq!(request.properties.get("text"), Some(&text("5")));
    assert_eq!(request.properties.get("number"), Some(&Value::Number(7.0)));
    assert_eq!(request.properties.get("numbers"), Some(&numbers));
    assert_eq!(
        request.properties.get("hidden"),
        Some(&Value::secret(text("s")))
    );
}

#[tokio::test]
async fn options_reach_the_registration() {
    let request = registration(
        r#"
        text = "x"
        options {
          protect = 1 == 1
          parent = other
          provider = prov
          deletedWith = other
          replaceWith = [other]
          dependsOn = [other]
          version = "1.2.3"
          import = "id-1"
          deleteBeforeReplace = true
          retainOnDelete = false
          hideDiffs = [text]
          additionalSecretOutputs = [text]
          replacementTrigger = "t"
          customTimeouts = { create = "5m", delete = "1h" }
          aliases = [{ name = "former", noParent = true }, other.urn, { type = "pkg:index:Old", parent = other }]
        }"#,
    )
    .await;
    assert_eq!(request.protect, Some(true));
    assert_eq!(request.parent, Some(other()));
    assert_eq!(request.provider, format!("{}::other-id", provider()));
    assert_eq!(request.deleted_with, Some(other()));
    assert_eq!(request.replace_with, [other()]);
    assert_eq!(request.dependencies, [other()]);
    assert_eq!(request.package.version, "1.2.3");
    assert_eq!(request.import_id, "id-1");
    assert_eq!(request.delete_before_replace, Some(true));
    assert_eq!(request.retain_on_delete, Some(false));
    assert_eq!(*request.hide_diff, ["text"]);
    assert_eq!(request.replacement_trigger, text("t"));
    let timeouts = request.custom_timeouts.unwrap();
    assert_eq!((timeouts.create, timeouts.delete), (300.0, 3600.0));
    assert_eq!(request.aliases.len(), 3);
    assert_eq!(request.snippet_id.as_deref(), Some("U"));
}

#[tokio::test]
async fn a_range_makes_one_resource_for_each_entry() {
    for (range, expected) in [
        ("2", vec![("it-0", "0=0"), ("it-1", "1=1")]),
        ("[\"a\"]", vec![("it-0", "0=a")]),
        (
            "{ x = \"1\", y = \"2\" }",
            vec![("it-x", "x=1"), ("it-y", "y=2")],
        ),
        ("0", vec![]),
    ] {
        let code =
            format!("text = \"${{range.key}}=${{range.value}}\"\noptions {{ range = {range} }}");
        let (registered, _) = evaluate(&code).await.unwrap();
        let found: Vec<_> = registered
            .iter()
            .map(|it| {
                (
                    it.name.as_str(),
                    it.properties.get("text").unwrap().as_str().unwrap(),
                )
            })
            .collect();
        assert_eq!(found, expected, "{range}");
    }
    for (range, count) in [("true", 1), ("1 == 2", 0)] {
        let (registered, _) = evaluate(&format!("options {{ range = {range} }}"))
            .await
            .unwrap();
        assert_eq!(registered.len(), count);
        assert!(registered.iter().all(|it| it.name == "it"));
    }
    // While the length of the range is unknown, there are no resources.
    let (registered, _) = evaluate("options { range = length(other.later) }")
        .await
        .unwrap();
    assert!(registered.is_empty());
}

/// PCL-08
#[tokio::test]
async fn functions_of_providers_are_called_once() {
    let code = "text = invoke(\"pkg:index:echo\", { text = \"a\" }).text";
    let (registered, invoked) = evaluate(code).await.unwrap();
    assert_eq!(invoked, 1);
    assert_eq!(registered[0].properties.get("text"), Some(&text("a")));
    // Functions are not called with unknown arguments.
    let code = "text = invoke(\"pkg:index:echo\", { text = other.later }).text";
    let (registered, invoked) = evaluate(code).await.unwrap();
    assert_eq!(invoked, 0);
    assert_eq!(registered[0].properties.get("text"), Some(&Value::UNKNOWN));
}

#[tokio::test]
async fn what_cannot_be_evaluated_is_told_with_its_place() {
    for (code, problem) in [
        (
            "it = element([1], 2)",
            "list index 2 out-of-bounds for list of length 1\n\n  on it.pp line 1:\n   1: it = element([1], 2)",
        ),
        ("it = 1 / 0", "division by zero"),
        ("it = lookup({}, \"a\")", "there is no key 'a'"),
        ("it = notImplemented(\"later\")", "not implemented: later"),
        ("options { provider = other }", "'other' is no provider"),
        (
            "options { customTimeouts = { create = \"x\" } }",
            "unable to parse customTimeouts.create \"x\"",
        ),
        ("options { aliases = [\"x\"] }", "this is not a valid URN"),
    ] {
        let error = evaluate(code).await.unwrap_err();
        assert!(error.contains(problem), "{code}: {error}");
    }
}
