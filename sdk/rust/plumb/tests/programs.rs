//! Whole programs with stand-ins for providers.

use std::collections::BTreeMap;

use plumb::prelude::*;
use plumb::testing::{MockState, Mocks};
use plumb::{Inputs, Property};

const PET: &str = "random:index/randomPet:RandomPet";

#[derive(Clone, Debug, ComponentArgs)]
struct SiteArgs {
    domain: Input<String>,
    pages: i64,
    note: Option<String>,
}

#[derive(Clone, Debug, Component)]
#[component(token = "acme:index:Site")]
struct Site {
    url: Output<String>,
    first_page: Output<String>,
}

impl BuildComponent for Site {
    type Args = SiteArgs;

    fn build(cx: &Ctx, args: SiteArgs) -> plumb::Result<Self> {
        if args.pages < 1 {
            plumb::bail!("a site needs a page");
        }
        let pages: Vec<AnyResource> = (0..args.pages)
            .map(|page| AnyResource::new(cx, PET, &cx.name(&format!("page{page}")), value!({})))
            .collect();
        Ok(Site {
            url: interpolate!("https://{}", args.domain),
            first_page: pages[0].id(),
        })
    }
}

fn site_args(pages: i64) -> SiteArgs {
    SiteArgs {
        domain: "a.example".into(),
        pages,
        note: None,
    }
}

#[test]
fn a_component_has_children_inputs_and_outputs() {
    let outcome = Mocks::new().run(async |ctx| {
        let site = Site::with(&ctx, "docs", site_args(2), opts().protect(true))?;
        ctx.export("url", &site.url);
        AnyResource::with(&ctx, PET, "after", value!({}), opts().depends_on([&site]));
        Ok(())
    });
    let outcome = outcome.expect_success();
    let site = outcome.resource("docs");
    assert_eq!(site.token, "acme:index:Site");
    assert_eq!(
        site.inputs,
        *value!({ "domain": "a.example", "pages": 2 })
            .as_map()
            .unwrap()
    );
    assert_eq!(site.output("url"), &value!("https://a.example"));
    assert_eq!(site.output("firstPage"), &value!("docs-page0-id"));
    let page = outcome.resource("docs-page1");
    assert_eq!(page.parent, site.urn);
    assert_eq!(page.is_protected, Some(true));
    assert!(page.urn.contains("acme:index:Site$random"), "{}", page.urn);
    let pages = ["docs-page0", "docs-page1"].map(|name| outcome.resource(name).urn.clone());
    assert_eq!(outcome.resource("after").dependencies, pages);
}

#[test]
fn a_component_that_cannot_be_built_says_why() {
    let outcome = Mocks::new().run(async |ctx| {
        Site::new(&ctx, "docs", site_args(0))?;
        Ok(())
    });
    let report = outcome.report();
    assert!(
        report.contains("cannot build the component `docs`: a site needs a page"),
        "{report}"
    );
    assert!(report.contains("tests/programs.rs:"), "{report}");
}

#[derive(Debug, Config)]
struct Settings {
    #[config(default = 8)]
    length: i64,
    api_key: Secret<String>,
    #[config(namespace = "aws")]
    region: Option<String>,
    names: Vec<String>,
}

#[test]
fn configuration_becomes_a_struct() {
    let mocks = Mocks::new()
        .secret_config("apiKey", "k3y")
        .config("aws:region", "eu-west-1")
        .config("names", r#"["a","b"]"#);
    let outcome = mocks.run(async |ctx| {
        let settings: Settings = ctx.config()?;
        assert_eq!(settings.length, 8);
        assert_eq!(settings.region.as_deref(), Some("eu-west-1"));
        assert_eq!(settings.names, ["a", "b"]);
        assert!(!format!("{settings:?}").contains("k3y"));
        AnyResource::new(
            &ctx,
            PET,
            "pet",
            value!({ "key": settings.api_key.clone() }),
        );
        ctx.export("text", interpolate!("key={}", settings.api_key));
        ctx.export("one", ctx.values().require_secret::<String>("apiKey")?);
        Ok(())
    });
    let outcome = outcome.expect_success();
    assert_eq!(
        outcome.resource("pet").input("key"),
        &value!(Secret::new("k3y"))
    );
    assert_eq!(outcome.export("text"), &value!(Secret::new("key=k3y")));
    assert_eq!(outcome.export("one"), &value!(Secret::new("k3y")));
}

#[test]
fn all_problems_of_the_configuration_come_together() {
    let mocks = Mocks::new().config("length", "many");
    let outcome = mocks.run(async |ctx| {
        ctx.config::<Settings>()?;
        Ok(())
    });
    let report = outcome.report();
    assert!(
        report.contains("`project:length` has to be an integer"),
        "{report}"
    );
    assert!(
        report.contains("plumb config set --secret apiKey <value>"),
        "{report}"
    );
    assert!(
        report.contains("plumb config set names <value>"),
        "{report}"
    );
}

#[derive(Exports)]
struct Results {
    name: Output<String>,
    #[output(name = "howMany")]
    count: i64,
}

#[test]
fn a_struct_can_be_the_result() {
    let outcome = Mocks::new().run(async |ctx| {
        let pet = AnyResource::new(&ctx, PET, "pet", value!({}));
        Ok(Results {
            name: pet.id(),
            count: 2,
        })
    });
    let outcome = outcome.expect_success();
    assert_eq!(outcome.export("name"), &value!("pet-id"));
    assert_eq!(outcome.export("howMany"), &value!(2));
}

#[test]
fn providers_are_inherited() {
    let outcome = Mocks::new().run(async |ctx| {
        let random = AnyProvider::new(&ctx, "random", "own", value!({}));
        let other = AnyProvider::new(&ctx, "other", "other", value!({}));
        let cx = ctx.with(opts().provider(&random));
        AnyResource::new(&cx, PET, "scoped", value!({}));
        let group = Group::with(
            &ctx,
            "acme:index:Group",
            "group",
            opts().providers([&random, &other]),
        );
        let inside = ctx.child(&group);
        AnyResource::new(&inside, PET, "child", value!({}));
        AnyResource::with(&inside, PET, "foreign", value!({}), opts().provider(&other));
        AnyResource::new(&ctx, PET, "default", value!({}));
        group.finish(value!({}));
        Ok(())
    });
    let outcome = outcome.expect_success();
    let reference = format!("{}::own-id", outcome.resource("own").urn);
    assert_eq!(outcome.resource("scoped").provider, reference);
    assert_eq!(outcome.resource("child").provider, reference);
    assert_eq!(outcome.resource("foreign").provider, reference);
    assert_eq!(outcome.resource("default").provider, "");
}

use plumb::Group;

#[test]
fn functions_answer_outputs_and_plain_values() {
    let mocks = Mocks::new().function("pkg:index:greet", |args| {
        let name = args
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        value!({ "text": format!("Hello, {name}") })
    });
    let outcome = mocks.run(async |ctx| {
        let pet = AnyResource::new(&ctx, PET, "pet", value!({}));
        let greeting: Output<Value> = ctx.invoke("pkg:index:greet", value!({ "name": pet.id() }));
        ctx.export("text", greeting.key::<String>("text"));
        let args = value!({ "name": "you" });
        let plain: Value = ctx
            .invoke_plain("pkg:index:greet", args, InvokeOptions::new())
            .await?;
        ctx.export("plain", plain);
        let secret: Output<Value> =
            ctx.invoke("pkg:index:greet", value!({ "name": Secret::new("x") }));
        ctx.export("secret", secret.key::<String>("text"));
        AnyResource::new(
            &ctx,
            PET,
            "user",
            value!({ "text": greeting.key::<String>("text") }),
        );
        Ok(())
    });
    let outcome = outcome.expect_success();
    assert_eq!(outcome.export("text"), &value!("Hello, pet-id"));
    assert_eq!(outcome.export("plain"), &value!({ "text": "Hello, you" }));
    assert_eq!(outcome.export("secret"), &value!(Secret::new("Hello, x")));
    assert_eq!(
        outcome.resource("user").dependencies,
        [outcome.resource("pet").urn.clone()]
    );
}

#[test]
fn a_failed_resource_names_itself_and_the_line() {
    let outcome = Mocks::new()
        .fail("bad", "the name is taken")
        .run(async |ctx| {
            let bad = AnyResource::new(&ctx, PET, "bad", value!({}));
            AnyResource::new(&ctx, PET, "dependent", value!({ "id": bad.id() }));
            ctx.export("id", bad.id());
            ctx.export("other", 1);
            Ok(())
        });
    let report = outcome.report();
    assert!(
        report.starts_with(
            "could not register `bad` (random:index/randomPet:RandomPet): the name is taken"
        ),
        "{report}"
    );
    assert!(report.contains("tests/programs.rs:"), "{report}");
    assert_eq!(outcome.failures().len(), 1, "{report}");
    assert_eq!(outcome.export("other"), &value!(1));
    assert!(!outcome.resources().iter().any(|it| it.name == "dependent"));
}

#[test]
fn an_error_of_the_body_keeps_the_exports() {
    let outcome = Mocks::new().run(async |ctx| {
        ctx.export("early", 1);
        let port: u16 = "x".parse()?;
        ctx.export("late", port);
        Ok(())
    });
    assert!(
        outcome.report().contains("invalid digit"),
        "{}",
        outcome.report()
    );
    assert!(
        outcome.report().contains("tests/programs.rs:"),
        "{}",
        outcome.report()
    );
    assert_eq!(outcome.export("early"), &value!(1));
}

#[test]
fn resources_that_wait_for_each_other_are_named() {
    let outcome = Mocks::new().run(async |ctx| {
        let (promised, promise) = ctx.deferred::<String>();
        let first = AnyResource::new(&ctx, PET, "first", value!({ "name": promised }));
        let second = AnyResource::new(&ctx, PET, "second", value!({ "name": first.id() }));
        promise.resolve(&second.id());
        Ok(())
    });
    let report = outcome.report();
    assert!(report.contains("these wait for each other"), "{report}");
    assert!(
        report.contains("`first` (random:index/randomPet:RandomPet) at "),
        "{report}"
    );
    assert!(report.contains("its input `name`"), "{report}");
    assert!(report.contains("`second`"), "{report}");
}

#[test]
fn a_promise_that_is_broken_is_an_error() {
    let outcome = Mocks::new().run(async |ctx| {
        let (promised, promise) = ctx.deferred::<String>();
        drop(promise);
        ctx.export("promised", promised);
        Ok(())
    });
    assert!(
        outcome
            .report()
            .contains("a deferred output was never resolved"),
        "{}",
        outcome.report()
    );
}

#[test]
fn a_part_that_depends_on_its_component_is_an_error() {
    let outcome = Mocks::new().run(async |ctx| {
        let group = Group::new(&ctx, "acme:index:Group", "group");
        let cx = ctx.child(&group);
        AnyResource::with(&cx, PET, "part", value!({}), opts().depends_on([&group]));
        group.finish(value!({}));
        Ok(())
    });
    let report = outcome.report();
    assert!(
        report.contains("`part` (random:index/randomPet:RandomPet) depends on `group`"),
        "{report}"
    );
}

#[test]
fn promises_tie_knots_that_are_none() {
    let outcome = Mocks::new().run(async |ctx| {
        let (promised, promise) = ctx.deferred::<String>();
        let text = interpolate!("<{promised}>");
        let pet = AnyResource::new(&ctx, PET, "pet", value!({}));
        promise.resolve(&pet.id());
        ctx.export("text", text);
        Ok(())
    });
    assert_eq!(outcome.expect_success().export("text"), &value!("<pet-id>"));
}

#[test]
fn transforms_change_resources() {
    let outcome = Mocks::new().run(async |ctx| {
        ctx.stack_transform(|mut resource| async move {
            if resource.is_custom() {
                resource.set("owner", "infra");
                resource.protect(true);
            }
            Ok(resource)
        });
        let own = opts().transform(|mut resource| async move {
            let token = resource.token().to_owned();
            resource.set("token", token);
            Ok(resource)
        });
        AnyResource::with(&ctx, PET, "pet", value!({ "key": Secret::new("x") }), own);
        Ok(())
    });
    let outcome = outcome.expect_success();
    let pet = outcome.resource("pet");
    assert_eq!(pet.input("owner"), &value!("infra"));
    assert_eq!(pet.input("token"), &value!(PET));
    assert_eq!(pet.input("key"), &value!(Secret::new("x")));
    assert_eq!(pet.is_protected, Some(true));
}

#[test]
fn a_transform_that_panics_is_an_error() {
    let outcome = Mocks::new().run(async |ctx| {
        ctx.stack_transform(|resource| async move {
            assert!(resource.name().is_empty(), "on purpose");
            Ok(resource)
        });
        AnyResource::new(&ctx, PET, "pet", value!({}));
        Ok(())
    });
    assert!(
        outcome.report().contains("panicked: on purpose"),
        "{}",
        outcome.report()
    );
}

#[test]
fn other_stacks_have_outputs() {
    let mocks = Mocks::new().resource("pulumi:pulumi:StackReference", |_| {
        MockState::new("organization/network/prod")
            .set("outputs", value!({ "vpc": "vpc-1", "key": "k3y" }))
            .set("secretOutputNames", value!(["key"]))
    });
    let outcome = mocks.run(async |ctx| {
        let network = StackReference::new(&ctx, "organization/network/prod");
        ctx.export("vpc", network.require::<String>("vpc"));
        ctx.export("key", network.require::<String>("key"));
        ctx.export("none", network.get::<Option<String>>("none"));
        let missing = network
            .require::<String>("missing")
            .recover(|error| error.to_string());
        ctx.export("missing", missing);
        Ok(())
    });
    let outcome = outcome.expect_success();
    assert_eq!(outcome.export("vpc"), &value!("vpc-1"));
    assert_eq!(outcome.export("key"), &value!(Secret::new("k3y")));
    assert_eq!(outcome.export("none"), &Value::Null);
    assert_eq!(
        outcome.export("missing"),
        &value!("the stack `organization/network/prod` has no output `missing`")
    );
}

/// A resource with a type, as generated packages have them.
#[derive(Clone, Debug)]
struct Pet(plumb::Handle);
plumb::resource!(Pet, PET);

impl Pet {
    const LENGTH: Property<Pet> = Property::new("length");
}

#[test]
fn types_of_resources_are_told_apart() {
    let outcome = Mocks::new().run(async |ctx| {
        ctx.stack_transform(|mut resource| async move {
            if resource.is::<Pet>() {
                resource.set(Pet::LENGTH, 5);
            }
            Ok(resource)
        });
        AnyResource::new(&ctx, PET, "pet", value!({}));
        let options = opts().ignore_changes([Pet::LENGTH.key("a.b").at(1), Pet::LENGTH.into()]);
        AnyResource::with(&ctx, "a:b:C", "other", value!({}), options);
        Ok(())
    });
    let outcome = outcome.expect_success();
    assert_eq!(outcome.single::<Pet>().input(Pet::LENGTH), &value!(5));
    assert_eq!(outcome.resource("other").input("length"), &Value::Null);
    let ignored = &outcome.resource("other").ignore_changes;
    assert_eq!(ignored, &["length[\"a.b\"][1]", "length"]);
}

/// Where a stack is for.
#[derive(Clone, Copy, Debug, PartialEq, plumb::EnumType)]
enum Stage {
    #[property(name = "dev")]
    Development,
    Prod,
}

/// A port or its name.
#[derive(Clone, Debug, PartialEq, plumb::EnumType)]
enum Port {
    Number(i64),
    Name(String),
}

#[derive(Debug, Config)]
struct Staged {
    stage: Stage,
    ports: Vec<Port>,
    next: Option<Stage>,
}

#[test]
fn an_enum_is_a_value_of_the_configuration_and_an_input() {
    let run = async |ctx: Ctx| {
        let settings: Staged = ctx.config()?;
        assert_eq!(settings.next, None);
        let stage: Input<Stage> = settings.stage.into();
        AnyResource::new(
            &ctx,
            PET,
            "pet",
            value!({ "stage": stage, "ports": settings.ports }),
        );
        Ok(())
    };
    let mocks = Mocks::new()
        .config("stage", "dev")
        .config("ports", r#"[80, "http"]"#);
    let outcome = mocks.run(run).expect_success();
    assert_eq!(outcome.resource("pet").input("stage"), &value!("dev"));
    assert_eq!(
        outcome.resource("pet").input("ports"),
        &value!([80, "http"])
    );
    let mocks = Mocks::new()
        .config("stage", "test")
        .config("ports", "[true]");
    let report = mocks.run(run).report();
    assert!(report.contains("one of: dev, Prod"), "{report}");
    assert!(report.contains("one of: Number, Name"), "{report}");
}

#[test]
fn lists_and_maps_take_what_is_there_and_what_is_not_yet() {
    let outcome = Mocks::new().run(async |ctx| {
        let pet = AnyResource::new(&ctx, PET, "pet", value!({}));
        let names: Input<Vec<String>> = list![&pet.id(), "b", Secret::new("c")];
        let variables: Input<BTreeMap<String, String>> = map! { "A" => pet.id(), "B" => "b" };
        let mut inputs = Inputs::new();
        inputs.set::<Vec<String>>("names", names);
        inputs.set::<BTreeMap<String, String>>("variables", variables);
        inputs.set::<Vec<Value>>("anything", list![1, "two", &pet.id().map(|id| value!(id))]);
        AnyResource::new(&ctx, "a:b:C", "other", inputs);
        Ok(())
    });
    let outcome = outcome.expect_success();
    let other = outcome.resource("other");
    assert_eq!(
        other.input("names"),
        &value!(["pet-id", "b", Secret::new("c")])
    );
    assert_eq!(
        other.input("variables"),
        &value!({ "A": "pet-id", "B": "b" })
    );
    assert_eq!(other.input("anything"), &value!([1, "two", "pet-id"]));
    assert_eq!(other.property_dependencies["names"].len(), 1);
}

#[test]
fn resources_travel_as_values() {
    let outcome = Mocks::new().run(async |ctx| {
        let pet = Pet(plumb::Resource::handle(&AnyResource::new(
            &ctx,
            PET,
            "pet",
            value!({ "length": 4 }),
        ))
        .clone());
        let output: Output<Pet> = pet.to_output();
        ctx.export(
            "id",
            output.and_then(|pet| pet.handle().output::<i64>("length")),
        );
        AnyResource::new(&ctx, "a:b:C", "holder", value!({ "pet": &pet }));
        Ok(())
    });
    let outcome = outcome.expect_success();
    assert_eq!(outcome.export("id"), &value!(4));
    assert!(matches!(
        outcome.resource("holder").input("pet"),
        Value::Resource(_)
    ));
}

#[test]
fn existing_resources_are_read() {
    let mocks = Mocks::new().resource(PET, |request| {
        let id = request.id.clone().unwrap_or_default();
        MockState::new(&id).set("word", format!("read {id}"))
    });
    let outcome = mocks.run(async |ctx| {
        let pet = AnyResource::get(&ctx, PET, "old", "old-id");
        ctx.export("word", pet.output::<String>("word"));
        Ok(())
    });
    assert_eq!(
        outcome.expect_success().export("word"),
        &value!("read old-id")
    );
}

#[test]
fn a_group_may_have_inputs() {
    let outcome = Mocks::new().run(async |ctx| {
        let inputs = value!({ "zone": "north" });
        let group =
            plumb::Group::with_inputs(&ctx, "acme:index:Network", "network", inputs, opts());
        AnyResource::new(&ctx.child(&group), PET, "pet", value!({}));
        group.finish(value!({}));
        Ok(())
    });
    let outcome = outcome.expect_success();
    assert_eq!(outcome.resource("network").input("zone"), &value!("north"));
}

#[test]
fn assets_and_archives_arrive() {
    let outcome = Mocks::new().run(async |ctx| {
        let site = Archive::of([
            ("index.html", Asset::text("<h1>Hi</h1>")),
            ("logo", Asset::file("a.png")),
        ]);
        AnyResource::new(
            &ctx,
            PET,
            "pet",
            value!({ "site": site, "one": Asset::remote("https://a.example") }),
        );
        Ok(())
    });
    let outcome = outcome.expect_success();
    let pet = outcome.resource("pet");
    assert_eq!(
        pet.input("one"),
        &value!(Asset::remote("https://a.example"))
    );
    assert!(
        matches!(pet.input("site"), Value::Archive(Archive::Assets(members)) if members.len() == 2)
    );
}

#[test]
fn a_thousand_resources_are_no_problem() {
    let outcome = Mocks::new().run(async |ctx| {
        let mut last = AnyResource::new(&ctx, PET, "pet", value!({}));
        for number in 0..1000 {
            last = AnyResource::new(
                &ctx,
                PET,
                &format!("pet{number}"),
                value!({ "id": last.id() }),
            );
        }
        Ok(())
    });
    assert_eq!(outcome.expect_success().resources().len(), 1001);
}
