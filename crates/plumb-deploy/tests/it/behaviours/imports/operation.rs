//! The import operation.

use super::{object, reads_as};
use crate::world::{Ran, World, for_orders, provider, res, stack, urn, urn_of};
use plumb_deploy::setup::{ImportSpec, ImportSubject};
use plumb_resource::provider::{
    CheckFailure, CheckResponse, Parameterization, PluginSpec, ProviderCall, ProviderReply,
};
use plumb_resource::{ResourceKind, Urn};
use plumb_value::{PropertyMap, Value};

fn spec(name: &str, id: &str) -> ImportSpec {
    ImportSpec {
        type_token: "test:index:Thing".into(),
        name: name.into(),
        subject: ImportSubject::Object { id: id.into() },
        parent: None,
        provider: None,
        plugin: PluginSpec::named("test"),
        extension: None,
        protect: false,
        properties: Vec::new(),
        inputs: None,
        outputs: None,
    }
}

fn component(name: &str, subject: ImportSubject) -> ImportSpec {
    ImportSpec {
        type_token: "test:index:Group".into(),
        subject,
        ..spec(name, "")
    }
}

fn root() -> Urn {
    urn_of("pulumi:pulumi:Stack", "proj-dev")
}

fn check_calls(world: &World) -> usize {
    let is_check = |call: &&String| call.starts_with("check ");
    world.cloud.calls.iter().filter(is_check).count()
}

/// IMPORT-06: what is there stays as it is.
#[test]
fn objects_are_imported_into_a_stack() {
    for_orders(|world| {
        world
            .up(&[stack(), res("old").parent("proj-dev")])
            .succeeded();
        let before = world.contents();
        world.cloud.put("ext-1", object("1"));
        let inputs = object("in");
        reads_as(world, "a", "ext-1", inputs.clone(), object("out"));
        let ran = world.import(&[spec("a", "path/to/ext-1")]);
        ran.succeeded();
        assert_eq!(ran.counts(), [("import", 1), ("same", 2)]);
        let state = world.state("a").clone();
        assert_eq!((state.id.as_str(), state.import_id.as_str()), ("ext-1", ""));
        assert_eq!(state.inputs.as_ref(), &inputs);
        assert_eq!(state.outputs.as_ref(), &object("out"));
        assert_eq!(state.parent.as_ref(), Some(&root()));
        for state in &world.snapshot.resources {
            assert!(
                state.created.is_some() && state.modified.is_some(),
                "{}",
                state.urn
            );
        }
        let mut after = world.contents();
        after.retain(|_, state| state.urn.name() != "a");
        assert_eq!(after, before);
    });
}

/// IMPORT-08
#[test]
fn what_is_in_the_state_is_not_imported_again() {
    for_orders(|world| {
        world.cloud.put("ext-1", object("1"));
        world.import(&[spec("a", "ext-1")]).succeeded();
        world.cloud.take_calls();
        let ran = world.import(&[spec("a", "ext-1")]);
        ran.succeeded();
        assert_eq!(ran.steps("a"), ["same"]);
        assert!(world.cloud.take_calls().is_empty());
        let before = world.contents();
        let ran = world.import(&[spec("a", "ext-2")]);
        ran.failed("resource 'urn:pulumi:dev::proj::test:index:Thing::a' already exists");
        assert_eq!(ran.steps("a"), ["same", "import"]);
        assert_eq!(world.contents(), before);
        world
            .import(&[spec("b", "kept-1"), spec("b", "kept-2")])
            .failed("duplicate import 'b' of type 'test:index:Thing'");
    });
}

/// IMPORT-09: nothing is read that is supplied; secrets stay secret.
#[test]
fn supplied_outputs_are_not_read() {
    for_orders(|world| {
        let secret = PropertyMap::new().with("value", Value::secret("1".into()));
        world.cloud.put("ext-1", object("1"));
        let supplied = ImportSpec {
            inputs: Some(secret.clone()),
            outputs: Some(secret.clone()),
            ..spec("a", "ext-1")
        };
        let group = ImportSpec {
            inputs: Some(secret.clone()),
            outputs: Some(object("2")),
            ..component("g", ImportSubject::Component)
        };
        world.import(&[supplied, group]).succeeded();
        assert!(!world.cloud.calls.contains(&"read a".to_owned()));
        assert_eq!(check_calls(world), 1);
        let state = world.state("a");
        assert_eq!(state.id.as_str(), "ext-1");
        assert_eq!(
            (state.inputs.as_ref(), state.outputs.as_ref()),
            (&secret, &secret)
        );
        let group = world.state("g");
        assert_eq!(group.kind, ResourceKind::Component);
        assert_eq!(group.inputs.as_ref(), &secret);
        assert_eq!(
            group.outputs.get("value").map(Value::without_secrets),
            Some("2".into())
        );
    });
}

/// IMPORT-10: what was read comes first.
#[test]
fn supplied_inputs_fill_what_was_not_read() {
    for_orders(|world| {
        world.cloud.put("ext-1", object("1"));
        let found = object("read")
            .with("null", Value::Null)
            .with("secret", "read");
        reads_as(world, "a", "ext-1", found, object("1"));
        let supplied = object("supplied")
            .with("null", "supplied")
            .with("missing", "supplied")
            .with("secret", Value::secret("supplied".into()));
        let spec = ImportSpec {
            inputs: Some(supplied),
            ..spec("a", "ext-1")
        };
        world.import(&[spec]).succeeded();
        let expected = object("read")
            .with("null", "supplied")
            .with("missing", "supplied")
            .with("secret", Value::secret("read".into()));
        assert_eq!(world.state("a").inputs.as_ref(), &expected);
    });
}

/// IMPORT-11
#[test]
fn an_import_makes_the_stack_and_its_default_provider() {
    for_orders(|world| {
        world.cloud.put("ext-1", object("1"));
        let ran = world.import(&[spec("a", "ext-1")]);
        ran.succeeded();
        assert_eq!(ran.counts(), [("create", 1), ("import", 1)]);
        assert_eq!(world.names(), ["a", "proj-dev"]);
        let reference = world.state("default").as_provider_ref();
        assert_eq!(world.state("a").provider, reference);
    });
}

/// IMPORT-12
#[test]
fn an_import_may_name_its_provider() {
    for_orders(|world| {
        world
            .up(&[stack(), provider("p").with("x", "1")])
            .succeeded();
        world.cloud.put("ext-1", object("1"));
        let by_p = ImportSpec {
            provider: Some(world.state("p").urn.clone()),
            ..spec("a", "ext-1")
        };
        let ran = world.import(&[by_p]);
        ran.succeeded();
        let server = ran.server("read a");
        assert_eq!((server.provider(), server.setting("x")), ("p", Some("1")));
        assert!(world.states("default").is_empty());
    });
}

/// IMPORT-12: a provider that is nowhere is made, without settings, before whoever names it.
#[test]
fn a_provider_that_imports_name_is_made() {
    for_orders(|world| {
        world.cloud.put("ext-1", object("1"));
        world.cloud.put("ext-2", object("1"));
        let by_p = |name, id| ImportSpec {
            provider: Some(urn_of("pulumi:providers:test", "p")),
            ..spec(name, id)
        };
        world
            .import(&[by_p("a", "ext-1"), by_p("b", "ext-2")])
            .succeeded();
        let made = world.state("p").clone();
        assert_eq!((made.parent.as_ref(), made.protect), (None, false));
        for name in ["a", "b"] {
            assert_eq!(world.state(name).provider, made.as_provider_ref());
        }
        assert!(world.states("default").is_empty());
        let no_provider = ImportSpec {
            provider: Some(urn("a")),
            ..spec("c", "ext-3")
        };
        world.import(&[no_provider]).failed(
            "unknown provider 'urn:pulumi:dev::proj::test:index:Thing::a' for resource 'c'",
        );
    });
}

/// Nothing to import: nothing is looked at, and the stack does not come to be.
#[test]
fn an_import_of_nothing_does_nothing() {
    for_orders(|world| {
        let ran = world.import(&[]);
        ran.succeeded();
        assert!(world.snapshot.resources.is_empty());
        world.up(&[stack(), res("a")]).succeeded();
        let before = world.contents();
        let ran = world.import(&[]);
        ran.succeeded();
        assert!(ran.counts().is_empty(), "{:?}", ran.counts());
        assert_eq!(world.contents(), before);
    });
}

/// IMPORT-12: a provider may be among what is imported.
#[test]
fn an_import_may_bring_its_provider() {
    for_orders(|world| {
        world.cloud.put("ext-1", object("1"));
        let p = ImportSpec {
            type_token: "pulumi:providers:test".into(),
            inputs: Some(PropertyMap::new().with("x", "1")),
            ..spec("p", "any")
        };
        let by_p = ImportSpec {
            provider: Some(urn_of("pulumi:providers:test", "p")),
            ..spec("a", "ext-1")
        };
        let ran = world.import(&[by_p, p]);
        ran.succeeded();
        assert_eq!(ran.server("read a").setting("x"), Some("1"));
        assert_eq!(
            world.state("a").provider,
            world.state("p").as_provider_ref()
        );
    });
}

/// IMPORT-13: the other inputs are dropped, outputs are not.
#[test]
fn only_the_properties_that_are_asked_for_are_inputs() {
    for_orders(|world| {
        let whole = object("1").with("other", "2");
        world.cloud.put("ext-1", whole.clone());
        let spec = ImportSpec {
            properties: vec!["value".into()],
            ..spec("a", "ext-1")
        };
        world.import(&[spec]).succeeded();
        assert_eq!(world.state("a").inputs.as_ref(), &object("1"));
        assert_eq!(world.state("a").outputs.as_ref(), &whole);
    });
}

/// IMPORT-14, IMPORT-15, IMPORT-16: parents come before their children, wherever they are listed.
#[test]
fn parents_are_imported_first() {
    for subject in [ImportSubject::Component, ImportSubject::RemoteComponent] {
        for_orders(|world| {
            world.cloud.put("ext-1", object("1"));
            world.cloud.put("ext-2", object("2"));
            let group = urn_of("test:index:Group", "g");
            let parent = Urn::new(
                "dev",
                "proj",
                group.qualified_type(),
                "test:index:Thing",
                "parent",
            );
            let specs = [
                ImportSpec {
                    parent: Some(parent.clone()),
                    ..spec("child", "ext-2")
                },
                ImportSpec {
                    parent: Some(group.clone()),
                    ..spec("parent", "ext-1")
                },
                component("g", subject.clone()),
            ];
            let ran = world.import(&specs);
            ran.succeeded();
            assert_eq!(ran.counts(), [("create", 1), ("import", 3)]);
            assert_eq!(world.state("child").parent, Some(parent));
            assert_eq!(world.state("parent").parent, Some(group));
            assert_eq!(world.state("g").parent, Some(root()));
            let program = [
                stack(),
                crate::world::component("g").parent("proj-dev"),
                res("parent").parent("g").with("value", "1"),
                res("child").parent("parent").with("value", "2"),
            ];
            assert_eq!(world.up(&program).counts(), [("same", 4)]);
        });
    }
}

/// IMPORT-15, IMPORT-16: only a remote component needs a provider.
#[test]
fn remote_components_get_a_default_provider() {
    for (subject, providers) in [
        (ImportSubject::Component, 0),
        (ImportSubject::RemoteComponent, 1),
    ] {
        for_orders(|world| {
            world.import(&[component("g", subject.clone())]).succeeded();
            assert_eq!(world.names(), ["g", "proj-dev"]);
            assert_eq!(world.states("default").len(), providers);
        });
    }
}

/// IMPORT-14
#[test]
fn a_parent_must_be_there() {
    for_orders(|world| {
        let orphan = ImportSpec {
            parent: Some(urn("nobody")),
            ..spec("a", "kept-1")
        };
        world.import(&[orphan]).failed(
            "unknown parent 'urn:pulumi:dev::proj::test:index:Thing::nobody' for resource \
             'urn:pulumi:dev::proj::test:index:Thing$test:index:Thing::a'",
        );
    });
}

/// IMPORT-18
#[test]
fn the_packages_of_the_program_choose_the_default_provider() {
    for_orders(|world| {
        world.packages = vec![PluginSpec {
            version: Some(semver::Version::new(1, 2, 3)),
            ..PluginSpec::named("test")
        }];
        world.cloud.put("ext-1", object("1"));
        let ran = world.import(&[spec("a", "ext-1")]);
        ran.succeeded();
        assert_eq!(ran.loaded(), ["test@1.2.3"]);
        assert_eq!(world.states("default_1_2_3").len(), 1);
    });
}

/// IMPORT-21: what else could be imported is.
#[test]
fn what_does_not_exist_is_not_imported() {
    for_orders(|world| {
        world.cloud.put("ext-1", object("1"));
        let ran: Ran = world.import(&[spec("a", "ext-1"), spec("b", "nowhere")]);
        ran.failed("step application failed: resource 'nowhere' does not exist");
        assert_eq!(world.names(), ["a", "proj-dev"]);
    });
}

/// `engine.md` 7.5: an object that its provider would not make like that is imported with a warning.
#[test]
fn failed_checks_are_warnings() {
    for_orders(|world| {
        world.cloud.put("ext-1", object("1"));
        world.cloud.on("check", "a", |call| {
            let ProviderCall::Check(request) = call else {
                return None;
            };
            assert_eq!(request.old_inputs.as_deref(), Some(&object("1")));
            Some(Ok(ProviderReply::Checked(CheckResponse {
                inputs: None,
                failures: vec![CheckFailure {
                    property: "value".into(),
                    reason: "not like that".into(),
                }],
                ignored_autonaming: false,
            })))
        });
        let ran = world.import(&[spec("a", "ext-1")]);
        ran.succeeded();
        let because = |why: &str| {
            format!(
                "One or more imported inputs failed to validate. {why} The import will still proceed, but you will need to edit \
                 the generated code after copying it into your program."
            )
        };
        let invalid =
            "test:index:Thing resource 'a': property value value {1} has a problem: not like that";
        let why = because("This is almost certainly a bug in the `test` provider.");
        assert_eq!(ran.warnings, [why.as_str(), invalid]);
        assert_eq!(world.state("a").inputs.as_ref(), &object("1"));
    });
}

/// IMPORT-04: the plugin is told of the extension before the object is read.
#[test]
fn an_import_may_need_an_extension() {
    for_orders(|world| {
        world.cloud.put("ext-1", object("1"));
        let extension = Parameterization {
            name: "ext".into(),
            version: "0.1.0".into(),
            value: b"x".as_slice().into(),
        };
        let extended = ImportSpec {
            extension: Some(extension.clone()),
            ..spec("a", "ext-1")
        };
        let ran = world.import(&[extended]);
        ran.succeeded();
        assert_eq!(ran.server("read a").extensions, [extension]);
        let mut calls = world.cloud.take_calls();
        calls.retain(|call| call == "read a" || call.starts_with("parameterize"));
        assert_eq!(calls, ["parameterize ext", "read a"]);
        let reference = world.state("a").extension_ref.clone().unwrap();
        assert_eq!(world.snapshot.extensions[&reference].name, "ext");
        world.destroy().succeeded();
    });
}
