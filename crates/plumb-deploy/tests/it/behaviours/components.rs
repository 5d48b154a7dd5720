//! COMP: components that providers construct, and their methods.

use std::sync::Arc;

use crate::world::{
    Res, World, component, for_orders, invoke, method, output, provider, read, remote, res, urn,
    urn_of,
};
use plumb_resource::PropertyDependencies as Dependencies;
use plumb_resource::provider::{
    CallRequest, ConstructRequest, ConstructResponse, InvokeResponse, ProviderCall, ProviderReply,
};
use plumb_resource::{ResourceId, Urn};
use plumb_value::{PropertyMap, Value};

const METHOD: &str = "test:index:Group/method";

/// A component with a child; it has the child's id as an output.
fn far() -> Res {
    remote("far").with("size", "2").builds([
        component("near").called("far").output("answer", "42"),
        res("in far").parent("near").with("value", "1"),
    ])
}

/// COMP-01
#[test]
fn a_remote_component_lives_and_dies() {
    for_orders(|world| {
        let program = [far(), res("user").uses("value", "far")];
        for run in [World::preview, World::up, World::up] {
            let ran = run(world, &program);
            ran.succeeded();
            let reply = ran.reply("far");
            assert_eq!(reply.urn, urn_of("test:index:Group", "far"));
            assert_eq!(
                reply.outputs.as_ref(),
                &PropertyMap::new().with("answer", "42")
            );
        }
        assert_eq!(world.names(), ["far", "in far", "user"]);
        assert_eq!(world.state("far").outputs.get("answer"), Some(&"42".into()));
        assert_eq!(world.refresh().counts(), [("same", 3)]);
        let ran = world.destroy();
        ran.succeeded();
        assert!(world.snapshot.resources.is_empty());
    });
}

/// COMP-03
#[test]
fn what_depends_on_a_component_goes_before_everything_in_it() {
    for_orders(|world| {
        let program = [
            component("outer"),
            component("inner").parent("outer"),
            res("leaf").parent("inner"),
            res("user").depends_on("outer").after("leaf"),
        ];
        world.up(&program).succeeded();
        let ran = world.destroy();
        ran.succeeded();
        let mut order = ran.announced();
        order.retain(|step| !step.ends_with("default"));
        assert_eq!(
            order,
            ["delete user", "delete leaf", "delete inner", "delete outer"]
        );
    });
}

fn depend(key: &str, urns: &[Urn]) -> Dependencies {
    Dependencies::from([(key.into(), urns.into())])
}

/// A provider that answers Construct and Call with one property.
fn answers(world: &mut World, value: Value, dependencies: Dependencies) {
    let outputs = Arc::new(PropertyMap::new().with("out", value));
    let constructed = ConstructResponse {
        urn: urn_of("test:index:Group", "far"),
        outputs: outputs.clone(),
        dependencies: dependencies.clone(),
    };
    let called = InvokeResponse {
        result: outputs,
        failures: Vec::new(),
        dependencies,
    };
    world.cloud.on("construct", "far", move |_| {
        Some(Ok(ProviderReply::Constructed(constructed.clone())))
    });
    world.cloud.on("call", METHOD, move |_| {
        Some(Ok(ProviderReply::Invoked(called.clone())))
    });
}

/// COMP-05, COMP-06: whichever way a provider tells what an output depends on, the program hears it once, and gets plain
/// values.
#[test]
fn outputs_tell_what_they_depend_on() {
    let on = [urn("a"), urn("b")];
    let secret = Value::secret("x".into());
    for (answered, explicit, told) in [
        (secret.clone(), depend("out", &on), secret.clone()),
        (Value::UNKNOWN, depend("out", &on), Value::UNKNOWN),
        (
            output(Some("x".into()), true, &on),
            Dependencies::new(),
            secret,
        ),
        (
            output(None, false, &on),
            Dependencies::new(),
            Value::UNKNOWN,
        ),
        (
            output(Some("x".into()), false, &on),
            depend("out", &on),
            "x".into(),
        ),
    ] {
        for_orders(|world| {
            answers(world, answered.clone(), explicit.clone());
            let ran = world.up(&[far(), method("m", METHOD).of("far")]);
            ran.succeeded();
            let (constructed, called) = (ran.reply("far"), ran.result("m"));
            assert_eq!(constructed.outputs.get("out"), Some(&told));
            assert_eq!(called.result.get("out"), Some(&told));
            assert_eq!(constructed.property_dependencies, depend("out", &on));
            assert_eq!(called.dependencies, depend("out", &on));
        });
    }
}

fn construct_request(world: &World) -> &ConstructRequest {
    match world.cloud.request("construct", "far") {
        ProviderCall::Construct(request) => request,
        other => panic!("{other:?}"),
    }
}

fn call_request(world: &World) -> &CallRequest {
    match world.cloud.request("call", METHOD) {
        ProviderCall::Call(request) => request,
        other => panic!("{other:?}"),
    }
}

/// COMP-04, COMP-07, COMP-08: inputs and arguments reach the provider as they are, with what they depend on, once.
#[test]
fn inputs_tell_what_they_depend_on() {
    for explicit in [false, true] {
        for_orders(|world| {
            let on = [urn("a"), urn("b")];
            let value = output(Some("x".into()), true, &on);
            let dependencies = move |urns: &[Urn]| {
                if explicit {
                    depend("in", &urns[..1])
                } else {
                    Dependencies::new()
                }
            };
            let own = on.clone();
            let far = far().with("in", value.clone()).tune(move |request, _| {
                request.property_dependencies = dependencies(&own);
            });
            let ran = world.up(&[far, method("m", METHOD).of("far").with("in", value.clone())]);
            ran.succeeded();
            let constructed = construct_request(world);
            assert_eq!(constructed.inputs.get("in"), Some(&value));
            assert_eq!(
                constructed.goal.property_dependencies.get("in"),
                Some(&ecow::EcoVec::from(on.clone()))
            );
            let called = call_request(world);
            assert_eq!(called.args.get("in"), Some(&value));
            assert_eq!(called.dependencies.get("in"), Some(&ecow::EcoVec::from(on)));
        });
    }
}

/// COMP-09, COMP-10
#[test]
fn methods_may_create_resources() {
    for_orders(|world| {
        let call = method("m", METHOD)
            .of("far")
            .builds([res("made").parent("far").output("ignored", "")]);
        let program = [
            far(),
            call,
            method("n", "test:index:Group/pure").with("x", "1"),
        ];
        for run in [World::preview, World::up, World::up] {
            let ran = run(world, &program);
            ran.succeeded();
            assert_eq!(ran.result("n").result.get("x"), Some(&"1".into()));
        }
        assert_eq!(world.names(), ["far", "in far", "made"]);
        assert_eq!(
            world.state("made").parent.as_ref(),
            Some(&world.state("far").urn)
        );
        world.destroy().succeeded();
        assert!(world.snapshot.resources.is_empty());
    });
}

fn hydrate(of: &str, urn: Urn) -> Res {
    let mut get = invoke("get", "pulumi:pulumi:getResource").with("urn", urn.as_str());
    get.after.push(of.to_owned());
    get
}

/// COMP-11, COMP-12, COMP-13, COMP-14: whatever a component registered or read can be looked up by its URN, by the program
/// and by other components.
#[test]
fn resources_of_components_can_be_looked_up() {
    for is_read in [false, true] {
        for by_component in [false, true] {
            for_orders(|world| {
                world
                    .cloud
                    .put("kept-1", PropertyMap::new().with("value", "1"));
                let inner = if is_read {
                    read("inner", "kept-1").parent("near")
                } else {
                    res("inner").parent("near").with("value", "1")
                };
                let far = remote("far").builds([component("near").called("far"), inner]);
                let group = urn_of("test:index:Group", "far");
                let inner = Urn::new(
                    "dev",
                    "proj",
                    group.qualified_type(),
                    "test:index:Thing",
                    "inner",
                );
                let get = hydrate("far", inner.clone());
                let program = if by_component {
                    let other = component("other near").called("other").after("far");
                    vec![far, remote("other").builds([other, get])]
                } else {
                    vec![far, get]
                };
                let ran = world.up(&program);
                ran.succeeded();
                let state = world.state("inner");
                let found = &ran.result("get").result;
                assert_eq!(found.get("urn"), Some(&inner.as_str().into()));
                assert_eq!(found.get("id"), Some(&state.id.as_str().into()));
                assert_eq!(
                    found.get("state"),
                    Some(&Value::Object(state.outputs.clone()))
                );
                let provider = state.provider.as_ref().unwrap().to_string();
                assert_eq!(found.get("provider"), Some(&provider.into()));
            });
        }
    }
}

/// COMP-15: components have no provider of their own.
#[test]
fn a_method_is_called_on_the_provider_of_its_resource() {
    for_orders(|world| {
        let program = [
            provider("p"),
            res("a").provider("p"),
            remote("far")
                .provider("p")
                .builds([component("near").called("far").provider("p")]),
            method("1", "test:index:Thing/method").of("a"),
            method("2", METHOD).of("far"),
            method("3", "pulumi:providers:test/method").of("p"),
            method("4", "test:index:function"),
        ];
        let ran = world.up(&program);
        ran.succeeded();
        for (call, server) in [
            ("call test:index:Thing/method", "p"),
            ("call test:index:Group/method", "default"),
            ("call pulumi:providers:test/method", "p"),
            ("call test:index:function", "default"),
        ] {
            assert_eq!(ran.server(call).provider(), server, "{call}");
        }
        let ran = world.up(&[method("5", METHOD).with("__self__", reference_to_nothing())]);
        assert_eq!(
            ran.refusal("5"),
            "unknown resource urn:pulumi:dev::proj::test:index:Thing::nothing"
        );
    });
}

/// COMP-15: a provider has its methods before it has an id, and nobody else has them.
#[test]
fn a_provider_that_is_yet_to_be_made_has_its_methods() {
    for_orders(|world| {
        let program = [
            provider("p"),
            provider("q"),
            method("1", "pulumi:providers:test/method").of("p"),
            method("2", "pulumi:providers:test/other")
                .of("p")
                .provider("q"),
        ];
        for run in [World::preview, World::up] {
            let ran = run(world, &program);
            ran.succeeded();
            assert_eq!(
                ran.server("call pulumi:providers:test/method").provider(),
                "p"
            );
            assert_eq!(
                ran.server("call pulumi:providers:test/other").provider(),
                "p"
            );
            assert_eq!(ran.configured(), ["p", "q"]);
        }
    });
}

fn reference_to_nothing() -> Value {
    Value::Resource(Arc::new(plumb_value::ResourceReference {
        urn: urn("nothing").as_str().into(),
        id: plumb_value::ReferenceId::Known("1".into()),
        name: None,
        type_token: None,
        package_version: "".into(),
    }))
}

/// GOSDK-07: inputs are not added to.
#[test]
fn an_input_that_is_left_out_is_not_there() {
    for_orders(|world| {
        let child = urn("child").as_str().to_owned();
        let far = far().with("child", child.as_str());
        world.up(&[far]).succeeded();
        let expected = PropertyMap::new()
            .with("child", child.as_str())
            .with("size", "2");
        assert_eq!(construct_request(world).inputs.as_ref(), &expected);
    });
}

/// GOSDK-04
#[test]
fn a_read_needs_its_provider() {
    for_orders(|world| {
        world.cloud.put("kept-1", PropertyMap::new());
        let ran = world.up(&[crate::world::stack(), read("a", "kept-1").after("proj-dev")]);
        ran.succeeded();
        assert_eq!(
            ran.announced(),
            ["create proj-dev", "create default", "read a"]
        );
        assert_eq!(world.state("a").id, ResourceId::Known("kept-1".into()));
        assert!(world.state("a").external);
    });
}
