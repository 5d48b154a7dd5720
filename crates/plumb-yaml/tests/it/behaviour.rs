//! Results of programs.

use std::sync::Arc;

use plumb_deploy::request::{
    Outcome, RegisterReply, Reply, Request, RequestError, RequestErrorKind,
};
use plumb_engine::program::ProgramResult;
use plumb_resource::{Alias, AliasParent, AliasSpec, ResourceId};
use plumb_value::{PropertyMap, Value};

use crate::fake::{Case, urn};

fn text(text: &str) -> Value {
    Value::from(text)
}

#[test]
fn resources_are_registered_in_document_order_below_the_stack() {
    let ran = Case::of(
        "resources:\n  b: {type: lab:Thing, properties: {value: '${a.value}'}}\n  a: {type: lab:Thing, properties: {value: x}}\n  c: {type: lab:Thing}\n",
    )
    .run()
    .finished();
    assert_eq!(ran.names(), ["a", "c", "b"]);
    let stack = urn(None, "pulumi:pulumi:Stack", "proj-dev");
    let b = ran.registration("b");
    assert_eq!(b.parent.as_ref(), Some(&stack));
    assert_eq!(b.type_token, "lab:index:Thing");
    assert_eq!(*b.properties, PropertyMap::new().with("value", "x"));
    let a = urn(Some(&stack), "lab:index:Thing", "a");
    assert_eq!(b.dependencies, std::slice::from_ref(&a));
    assert_eq!(b.property_dependencies["value"], [a]);
    assert_eq!(
        b.source_position.as_deref(),
        Some("project:///Pulumi.yaml#4,3")
    );
}

#[test]
fn options_travel_with_the_request() {
    let ran = Case::of(
        "resources:
  a: {type: lab:Thing}
  p: {type: 'pulumi:providers:lab', options: {version: 1.0.0}}
  b:
    type: lab:Thing
    name: other
    options:
      dependsOn: ['${a}']
      parent: ${a}
      provider: ${p}
      protect: true
      retainOnDelete: true
      deleteBeforeReplace: false
      ignoreChanges: [value, 'tags.x']
      replaceOnChanges: ['*']
      hideDiffs: [value]
      additionalSecretOutputs: [computed]
      customTimeouts: {create: 5m, delete: 1h30m}
      import: ext-1
      deletedWith: ${a}
      replaceWith: ['${a}']
      replacementTrigger: ${a.value}
      aliases: [{name: x, noParent: true}, 'urn:pulumi:dev::proj::lab:index:Thing::y', {parent: '${a}'}]
",
    )
    .run()
    .finished();
    let stack = urn(None, "pulumi:pulumi:Stack", "proj-dev");
    let a = urn(Some(&stack), "lab:index:Thing", "a");
    let b = ran.registration("other");
    assert_eq!(b.parent, Some(a.clone()));
    assert_eq!(b.dependencies, std::slice::from_ref(&a));
    assert_eq!(
        b.provider,
        "urn:pulumi:dev::proj::pulumi:providers:lab::p::p-id"
    );
    assert_eq!(
        (b.protect, b.retain_on_delete, b.delete_before_replace),
        (Some(true), Some(true), Some(false))
    );
    assert_eq!(*b.ignore_changes, ["value", "tags.x"]);
    assert_eq!(*b.replace_on_changes, ["*"]);
    assert_eq!(*b.hide_diff, ["value"]);
    let secrets: Vec<&str> = b
        .additional_secret_outputs
        .iter()
        .map(plumb_value::PropertyKey::as_str)
        .collect();
    assert_eq!(secrets, ["computed", "password"]);
    let timeouts = b.custom_timeouts.unwrap();
    assert_eq!((timeouts.create, timeouts.delete), (300.0, 5400.0));
    assert_eq!(b.import_id, "ext-1");
    assert_eq!(b.deleted_with, Some(a.clone()));
    assert_eq!(b.replace_with, std::slice::from_ref(&a));
    assert_eq!(b.aliases.len(), 3);
    let spec = AliasSpec {
        name: Some("x".into()),
        parent: AliasParent::None,
        ..AliasSpec::default()
    };
    assert_eq!(b.aliases[0], Alias::Spec(spec));
    assert_eq!(
        b.aliases[2],
        Alias::Spec(AliasSpec {
            parent: AliasParent::Urn(a),
            ..AliasSpec::default()
        })
    );
}

#[test]
fn secrets_and_unknowns_stay_where_they_are() {
    let mut case = Case::of(
        "config: {token: {type: string, secret: true}}
resources:
  a: {type: lab:Thing, properties: {value: '${token}', password: plain}}
  b: {type: lab:Thing, properties: {value: '${a.value}', other: {list: ['${a.id}', 1], text: 'x-${a.id}'}, third: {fn::secret: '${a.serial}'}}}
outputs:
  joined: {fn::join: ['-', ['${token}', y]]}
  id: ${a.id}
",
    )
    .config("proj:token", "hush");
    case.secret_keys.push("proj:token".to_owned());
    case.dry_run = true;
    let ran = case.run().finished();
    let a = ran.registration("a");
    assert_eq!(
        a.properties.get("value"),
        Some(&Value::secret(text("hush")))
    );
    assert_eq!(
        a.properties.get("password"),
        Some(&Value::secret(text("plain")))
    );
    let b = ran.registration("b");
    assert_eq!(
        b.properties.get("value"),
        Some(&Value::secret(text("hush")))
    );
    assert_eq!(
        b.properties.get("third"),
        Some(&Value::secret(Value::UNKNOWN))
    );
    let other = PropertyMap::new()
        .with("list", Value::array([Value::UNKNOWN, Value::Number(1.0)]))
        .with("text", Value::UNKNOWN);
    assert_eq!(b.properties.get("other"), Some(&Value::from(other)));
    assert_eq!(
        ran.outputs().get("joined"),
        Some(&Value::secret(text("hush-y")))
    );
    assert_eq!(ran.outputs().get("id"), Some(&Value::UNKNOWN));
}

#[test]
fn what_is_unknown_in_part_is_unknown_as_a_whole() {
    let mut case = Case::of(
        "resources:
  a: {type: lab:Thing}
  b: {type: lab:Thing, properties: {value: ['${a.id}', 1], other: {known: x, unknown: {fn::secret: '${a.id}'}}}}
  c: {type: lab:Thing, properties: {value: '${b.value}', other: '${b.other}', third: ['${b.other.known}']}}
",
    );
    case.dry_run = true;
    let ran = case.run().finished();
    let c = ran.registration("c");
    assert_eq!(c.properties.get("value"), Some(&Value::UNKNOWN));
    assert_eq!(
        c.properties.get("other"),
        Some(&Value::secret(Value::UNKNOWN))
    );
    assert_eq!(c.properties.get("third"), Some(&Value::array([text("x")])));
}

#[test]
fn invokes_run_before_resources_and_their_errors_stop_them() {
    let ran = Case::of(
        "variables: {bad: {fn::invoke: {function: 'lab:fail', arguments: {message: broken}}}}
resources:
  a: {type: lab:Thing, properties: {value: '${bad.value}'}}
  keep: {type: lab:Thing}
",
    )
    .script(|request| match request {
        Request::Invoke(_) => Some(Reply::Failed(RequestError::new(
            RequestErrorKind::Unknown,
            "invocation of lab:index:fail returned an error: broken",
        ))),
        _ => None,
    })
    .run();
    assert_eq!(ran.result, ProgramResult::Bailed);
    assert_eq!(ran.names(), [""; 0]);
    assert_eq!(
        ran.messages(),
        [
            "rpc error: code = Unknown desc = invocation of lab:index:fail returned an error: broken\n\n  on Pulumi.yaml line 3:\n   3: variables: {bad: {fn::invoke: {function: 'lab:fail', arguments: {message: broken}}}}",
            "Error registering variable [bad]: no diagnostics",
            "Error registering resource [keep]: no diagnostics",
        ]
    );
}

#[test]
fn a_failed_resource_takes_only_its_dependents_along() {
    let ran = Case::of(
        "resources:
  a: {type: lab:Thing}
  b: {type: lab:Thing, properties: {value: '${a.value}'}}
  c: {type: lab:Thing}
outputs: {b: '${b.id}', c: '${c.id}'}
",
    )
    .script(|request| match request {
        Request::Register(request) if request.name == "a" => {
            Some(Reply::Registered(RegisterReply {
                urn: urn(None, "lab:index:Thing", "a"),
                id: ResourceId::None,
                outputs: Arc::default(),
                property_dependencies: plumb_resource::PropertyDependencies::new(),
                outcome: Outcome::Failed,
                unknown: false,
            }))
        }
        _ => None,
    })
    .run();
    let message = "waiting for RPCs: resource a [lab:index:Thing] failed to register".into();
    assert_eq!(ran.result, ProgramResult::Failed { message });
    assert_eq!(ran.names(), ["a", "c"]);
    assert_eq!(*ran.outputs(), PropertyMap::new().with("c", "c-id"));
}

#[test]
fn several_mistakes_are_shown_at_once() {
    let ran = Case::of(
        "resources:
  a: {type: lab:Thing, properties: {valeu: 1}}
  b: {type: lab:Thing, options: {protct: true}, nam: x}
  c: {type: lab:Thing, properties: {value: '${nothing.id}', other: '${bb.id}'}}
  d: {type: lab:Thingy}
",
    )
    .run();
    assert_eq!(ran.result, ProgramResult::Bailed);
    let messages = ran.messages();
    for expected in [
        "Error: Property valeu does not exist on 'lab:index:Thing'",
        "Error: protct does not exist on resource options",
        "Error: Resource lab:index:Thing has invalid key 'nam'",
        "Did you mean one of the following:",
        "  * 'name' under keys 'properties' or 'b'",
        "Error: resource, variable, or config value \"nothing\" not found",
        "  on Pulumi.yaml line 6:",
    ] {
        assert!(messages.contains(&expected), "{expected}: {messages:#?}");
    }
    let unexpected = messages
        .iter()
        .any(|it| it.contains("\"bb\"") || it.contains("Thingy"));
    assert!(
        !unexpected,
        "a name of nothing ends the check: {messages:#?}"
    );
    assert_eq!(
        ran.registrations().count(),
        1,
        "only the stack is registered"
    );
}

#[test]
fn types_are_compared_with_the_schema() {
    let check = |resources: &str, expected: &[&str]| {
        let ran = Case::of(&format!("resources:\n{resources}")).run();
        assert_eq!(ran.result, ProgramResult::Bailed, "{resources}");
        for expected in expected {
            assert!(
                ran.messages().contains(expected),
                "{expected}: {:#?}",
                ran.messages()
            );
        }
    };
    check(
        "  a:\n    type: lab:Thing\n    properties: {value: 1, valeu: 2}\n",
        &[
            "Error: Property valeu does not exist on 'lab:index:Thing'",
            "  on Pulumi.yaml line 6:",
            "Cannot assign '{value: number, valeu: number}' to 'lab:index:Thing':",
        ],
    );
    check(
        "  a: {type: lab:Thingy}\n",
        &[
            "Error: error resolving type of resource a: unable to find resource type \"lab:Thingy\" in resource provider \"lab\"",
        ],
    );
    check(
        "  a: {type: random:RandomString}\n",
        &["  length: Missing required property 'length'"],
    );
    check(
        "  a: {type: random:RandomString, properties: {length: [1]}}\n",
        &["  length: Cannot assign 'List<number>' to 'integer'"],
    );
    check(
        "  a: {type: random:RandomPet}\n  b: {type: lab:Thing, properties: {value: '${a.pett}'}}\n",
        &["Error: pett does not exist on a"],
    );
}

#[test]
fn without_a_schema_tokens_are_completed_and_nothing_is_checked() {
    let mut case = Case::of(
        "resources: {a: {type: other:Thing, properties: {x: 1}}, b: {type: 'other:m:T'}}\n",
    );
    case.schemas = &[];
    let ran = case.run().finished();
    assert_eq!(ran.registration("a").type_token, "other:index:Thing");
    assert_eq!(ran.registration("b").type_token, "other:m:T");
}

#[test]
fn default_providers_serve_their_package() {
    let ran = Case::of(
        "variables: {v: {fn::invoke: {function: 'lab:echo', arguments: {value: 1}}}}
resources:
  a: {type: lab:Thing, properties: {value: '${v.value}'}}
  p: {type: 'pulumi:providers:lab', defaultProvider: true, options: {version: 1.2.3}}
",
    )
    .run()
    .finished();
    let provider = "urn:pulumi:dev::proj::pulumi:providers:lab::p::p-id";
    let a = ran.registration("a");
    assert_eq!(
        (a.provider.as_str(), a.package.version.as_str()),
        (provider, "1.2.3")
    );
    let invoke = ran.requests.iter().find_map(|request| match request {
        Request::Invoke(request) => Some(request),
        _ => None,
    });
    assert_eq!(invoke.unwrap().provider, provider);
}

#[test]
fn stack_references_and_gets_are_read() {
    let ran = Case::of(
        "resources:
  ref: {type: 'pulumi:pulumi:StackReference', properties: {name: organization/proj/prod}}
  old: {type: lab:Thing, get: {id: thing-1, state: {value: x}}}
  a: {type: lab:Thing, properties: {value: '${old.id}'}}
outputs: {other: '${ref.outputs[\"x\"]}', old: {fn::stackReference: [organization/proj/prod, y]}}
",
    )
    .script(|request| match request {
        Request::Read(request) if request.type_token == "pulumi:pulumi:StackReference" => {
            let outputs = PropertyMap::new()
                .with("x", Value::secret(text("hush")))
                .with("y", 1.0);
            Some(Reply::Read(plumb_deploy::request::ReadResourceReply {
                urn: urn(None, &request.type_token, &request.name),
                id: request.id.clone(),
                outputs: Arc::new(PropertyMap::new().with("outputs", Value::from(outputs))),
                outcome: Outcome::Success,
            }))
        }
        _ => None,
    })
    .run()
    .finished();
    assert_eq!(
        ran.registration("a").properties.get("value"),
        Some(&text("thing-1"))
    );
    assert_eq!(
        ran.outputs().get("other"),
        Some(&Value::secret(text("hush")))
    );
    assert_eq!(ran.outputs().get("old"), Some(&Value::Number(1.0)));
}

#[test]
fn declared_packages_are_registered_and_referred_to() {
    let case = Case::of("resources: {a: {type: 'docker:index:Container'}}\n");
    let declaration = "packageDeclarationVersion: 1\nname: terraform-provider\nversion: 0.3.0\n\
                       parameterization: {name: docker, version: 1.0.0, value: aGk=}\n";
    std::fs::write(case.directory.join("docker-1.0.0.yaml"), declaration).unwrap();
    let ran = case.run().finished();
    assert_eq!(
        ran.registration("a").package.package_ref,
        "ref-terraform-provider"
    );
    let Request::RegisterPackage(package) = &ran.requests[1] else {
        panic!()
    };
    assert_eq!(package.parameterization.as_ref().unwrap().name, "docker");
}

#[test]
fn facts_of_the_deployment_and_files_are_at_hand() {
    let case = Case::of(
        "outputs: {where: '${pulumi.stack}/${pulumi.project}/${pulumi.organization}', file: {fn::readFile: ./note.txt}, number: 'n${big}', kept: '${big}'}\nvariables: {big: 1000000}\n",
    );
    std::fs::write(case.directory.join("note.txt"), "hello").unwrap();
    let ran = case.run().finished();
    assert_eq!(
        ran.outputs().get("where"),
        Some(&text("dev/proj/organization"))
    );
    assert_eq!(ran.outputs().get("file"), Some(&text("hello")));
    assert_eq!(ran.outputs().get("number"), Some(&text("n1e+06")));
    assert_eq!(ran.outputs().get("kept"), Some(&Value::Number(1_000_000.0)));
}

#[test]
fn a_missing_setting_is_named() {
    let ran = Case::of("config: {size: {type: integer}}\n").run();
    assert_eq!(ran.result, ProgramResult::Bailed);
    assert!(
        ran.messages()[0].contains("missing required configuration variable 'proj:size'"),
        "{:?}",
        ran.messages()
    );
}
