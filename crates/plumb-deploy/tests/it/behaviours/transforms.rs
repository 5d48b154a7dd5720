//! XFORM: functions of the program that change what is registered.

use std::sync::Arc;

use crate::world::{
    Res, World, component, for_orders, invoke, invoke_transform, output, provider, remote, res,
    transform, urn, urn_of,
};
use plumb_deploy::request::{
    CallbackReply, CallbackRequest, InvokeFunctionRequest, RegisterRequest,
};
use plumb_resource::Urn;
use plumb_value::Value;

/// Defines a transform.
fn define(
    world: &mut World,
    token: &str,
    change: impl Fn(&mut RegisterRequest) + Send + Sync + 'static,
) {
    world.function(token, move |request| match request {
        CallbackRequest::Transform(request) => {
            let mut request = request.clone();
            change(&mut request);
            Ok(CallbackReply::Transformed(request))
        }
        _ => Err("not a registration".to_owned()),
    });
}

fn define_for_invokes(world: &mut World, token: &str, change: fn(&mut InvokeFunctionRequest)) {
    world.function(token, move |request| match request {
        CallbackRequest::InvokeTransform(request) => {
            let mut request = request.clone();
            change(&mut request);
            Ok(CallbackReply::InvokeTransformed(request))
        }
        _ => Err("not a function call".to_owned()),
    });
}

fn set(request: &mut RegisterRequest, key: &str, value: impl Into<Value>) {
    Arc::make_mut(&mut request.properties).insert(key, value.into());
}

/// Adds `token` to the property `seen`.
fn leaves_its_mark(world: &mut World, token: &'static str) {
    define(world, token, move |request| {
        let seen = request.properties.get("seen").map(Value::without_outputs);
        let seen = seen.as_ref().and_then(Value::as_str).unwrap_or_default();
        set(request, "seen", format!("{seen}{token} "));
    });
}

fn seen(world: &World, name: &str) -> String {
    let seen = world.state(name).inputs.get("seen");
    let text = seen.and_then(Value::as_str).unwrap_or_default();
    text.trim_end().to_owned()
}

/// XFORM-01
#[test]
fn transforms_run_from_the_resource_outwards() {
    for_orders(|world| {
        for token in ["own1", "own2", "parent", "grandparent", "stack"] {
            leaves_its_mark(world, token);
        }
        let program = [
            transform("stack"),
            component("g").transforms(&["grandparent"]).after("stack"),
            component("p").parent("g").transforms(&["parent"]),
            res("a").parent("p").transforms(&["own1", "own2"]),
            res("b").parent("p"),
        ];
        world.up(&program).succeeded();
        assert_eq!(seen(world, "a"), "own1 own2 parent grandparent stack");
        assert_eq!(seen(world, "b"), "parent grandparent stack");
    });
}

/// XFORM-02, XFORM-03
#[test]
fn a_failing_transform_fails_the_registration() {
    for_orders(|world| {
        world.function("bad", |_| {
            Err("rpc error: code = Unknown desc = bad transform".to_owned())
        });
        let ran = world.up(&[res("a").transforms(&["bad"])]);
        assert_eq!(
            ran.refusal("a"),
            "invoke transform: rpc error: code = Unknown desc = bad transform"
        );
        assert!(world.names().is_empty());
    });
}

/// XFORM-04, XFORM-07: what is in a remote component passes the transforms of the stack, and those of the component.
#[test]
fn what_is_in_a_remote_component_is_transformed() {
    for_orders(|world| {
        leaves_its_mark(world, "own");
        define(world, "stack", |request| {
            let parent = request
                .parent
                .as_ref()
                .map_or("none", Urn::as_str)
                .to_owned();
            set(request, "parent", parent);
        });
        let far = remote("far").after("stack").transforms(&["own"]).builds([
            component("near").called("far"),
            res("in far").parent("near"),
        ]);
        world.up(&[transform("stack"), far]).succeeded();
        let group = urn_of("test:index:Group", "far");
        let state = world.state("in far");
        assert_eq!(state.inputs.get("parent"), Some(&group.as_str().into()));
        assert_eq!(seen(world, "in far"), "own");
        assert_eq!(seen(world, "far"), "own");
    });
}

/// XFORM-06: properties arrive with what they depend on, and what they depend on afterwards counts.
#[test]
fn transforms_change_what_properties_depend_on() {
    for_orders(|world| {
        define(world, "moves", |request| {
            let Some(Value::Output(before)) = request.properties.get("link") else {
                panic!("{:?}", request.properties);
            };
            assert_eq!(before.dependencies, [urn("a").as_str()]);
            let moved = output(Some("moved".into()), false, &[urn("b")]);
            set(request, "link", moved);
            request.dependencies.clear();
        });
        let program = [
            res("a").with("value", "1"),
            res("b").with("value", "1"),
            res("user")
                .uses("link", "a")
                .after("b")
                .transforms(&["moves"]),
        ];
        let ran = world.up(&program);
        ran.succeeded();
        let state = world.state("user");
        assert_eq!(state.dependencies, [urn("b")]);
        assert_eq!(state.property_dependencies["link"], [urn("b")]);
        assert_eq!(state.inputs.get("link"), Some(&"moved".into()));
        assert!(ran.reply("user").property_dependencies.is_empty());
    });
}

/// XFORM-08: a transform sees the provider that was named for the resource, and may name another.
#[test]
fn transforms_see_and_set_the_provider() {
    for_orders(|world| {
        define(world, "shows", |request| {
            let name = request
                .provider
                .rsplit("::")
                .nth(1)
                .unwrap_or("none")
                .to_owned();
            set(request, "seen", name);
        });
        let with_map = |item: Res| {
            item.after("p").tune(|request, known| {
                let reference = known.reference("p").into();
                request.providers.insert("test".into(), reference);
            })
        };
        let program = [
            transform("shows"),
            provider("p").after("shows"),
            component("single").provider("p"),
            with_map(component("map")),
            res("explicit").provider("p"),
            with_map(res("own map")),
            res("below map").parent("map"),
            res("below single").parent("single"),
            res("plain").after("shows"),
        ];
        let ran = world.up(&program);
        ran.succeeded();
        for (name, saw, server) in [
            ("explicit", "p", "p"),
            ("own map", "p", "p"),
            ("below map", "p", "p"),
            ("below single", "none", "p"),
            ("plain", "none", "default"),
        ] {
            assert_eq!(seen(world, name), saw, "{name}");
            assert_eq!(
                ran.server(&format!("create {name}")).provider(),
                server,
                "{name}"
            );
        }
        let reference = ran.known.reference("p");
        define(world, "sets", move |request| {
            if request.custom {
                request.provider = reference.as_str().into();
            }
        });
        let program = [
            provider("p"),
            transform("sets").after("p"),
            res("new").after("sets"),
        ];
        let ran = world.up(&program);
        ran.succeeded();
        assert_eq!(ran.server("create new").provider(), "p");
        assert!(world.states("default").is_empty());
    });
}

/// XFORM-09, XFORM-10
#[test]
fn invoke_transforms_change_arguments_and_provider() {
    for_orders(|world| {
        define_for_invokes(world, "changes", |request| {
            Arc::make_mut(&mut request.args).insert("added", "yes");
        });
        define_for_invokes(world, "redirects", |request| {
            let given = request.args.get("provider").and_then(Value::as_str);
            request.provider = given.unwrap_or_default().into();
        });
        let program = [
            provider("p"),
            invoke_transform("changes").after("p"),
            invoke_transform("redirects").after("changes"),
        ];
        let ran = world.up(&program);
        ran.succeeded();
        let reference = ran.known.reference("p");
        let f = invoke("f", "test:index:f")
            .with("provider", reference.as_str())
            .after("redirects");
        let ran = world.up(&[program.as_slice(), &[f]].concat());
        ran.succeeded();
        assert_eq!(ran.result("f").result.get("added"), Some(&"yes".into()));
        assert_eq!(ran.server("invoke test:index:f").provider(), "p");
        assert_eq!(ran.configured(), ["p"]);
    });
}

/// XFORM-11: while one registration is being transformed, others go on.
#[test]
fn a_transform_may_wait_for_another_registration() {
    for_orders(|world| {
        leaves_its_mark(world, "waits");
        world.patient.insert("waits".to_owned(), "other".to_owned());
        world
            .up(&[res("a").transforms(&["waits"]), res("other")])
            .succeeded();
        assert_eq!(seen(world, "a"), "waits");
    });
}
