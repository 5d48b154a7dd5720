//! Schemas of methods, and methods that are refused. `tests/rust/plugins.py` calls a method through the engine.

use plumb::prelude::*;
use plumb::testing::Mocks;
use plumb_provider::{Described, Properties, Provider};

#[derive(Clone, Debug, ComponentArgs, Properties)]
struct SiteArgs {
    domain: Input<String>,
}

#[derive(Clone, Component, Described)]
#[component(token = "acme:index:Site")]
struct Site {
    url: Output<String>,
    #[property(secret)]
    key: Output<String>,
}

impl BuildComponent for Site {
    type Args = SiteArgs;

    fn build(_: &Ctx, args: SiteArgs) -> plumb::Result<Self> {
        Ok(Site {
            url: args.domain.to_output(),
            key: args.domain.to_output(),
        })
    }
}

#[derive(Clone, Debug, Properties)]
struct PageArgs {
    name: Input<String>,
    depth: i64,
}

#[derive(Clone, Debug, Properties)]
struct Page {
    #[property(secret)]
    address: Input<String>,
}

/// Says where a page is.
#[plumb_provider::method]
fn page_address(_: &Ctx, site: Site, args: PageArgs) -> plumb::Result<Page> {
    let depth = "/..".repeat(usize::try_from(args.depth)?);
    Ok(Page {
        address: interpolate!("{}{depth}/{}", site.url, args.name).into(),
    })
}

#[plumb_provider::method]
fn url(_: &Ctx, _: Site, (): ()) -> plumb::Result<()> {
    Ok(())
}

fn schema(provider: &Provider) -> serde_json::Value {
    let schema = provider.schema().expect("the schema is valid");
    serde_json::from_str(&schema).expect("it is JSON")
}

#[test]
fn the_schema_lists_methods_with_the_component_as_first_argument() {
    let provider = Provider::new("acme", "0.1.0").component::<Site>();
    let schema = schema(&provider.method(page_address));
    let token = "acme:index:Site/pageAddress";
    let site = &schema["resources"]["acme:index:Site"];
    assert_eq!(site["methods"], serde_json::json!({ "pageAddress": token }));
    let method = &schema["functions"][token];
    assert_eq!(method["description"], "Says where a page is.");
    let inputs = &method["inputs"];
    let of = &inputs["properties"]["__self__"]["$ref"];
    assert_eq!(of, "#/resources/acme:index:Site");
    let required = serde_json::json!(["__self__", "depth", "name"]);
    assert_eq!(inputs["required"], required);
    assert_eq!(inputs["properties"]["depth"]["plain"], true);
    assert!(inputs["properties"]["name"]["plain"].is_null());
    let address = &method["outputs"]["properties"]["address"];
    let expected = serde_json::json!({ "type": "string", "secret": true });
    assert_eq!(address, &expected);
}

#[test]
fn methods_that_do_not_fit_their_component_are_refused() {
    let error = Provider::new("acme", "0.1.0").method(page_address).schema();
    let error = error.expect_err("there is no component").to_string();
    assert!(
        error.contains("`acme:index:Site`, which is no component"),
        "{error}"
    );
    let provider = Provider::new("acme", "0.1.0").component::<Site>();
    let error = provider.method(url).schema().expect_err("it is an output");
    let error = error.to_string();
    assert!(error.contains("an output and a method `url`"), "{error}");
}

#[test]
fn outputs_that_the_schema_calls_secret_are_secret() {
    let body = async |ctx: Ctx| {
        let domain = "example.org".into();
        Site::new(&ctx, "site", SiteArgs { domain })?;
        Ok(())
    };
    let run = Mocks::new().run(body).expect_success();
    let domain = Value::String("example.org".to_owned());
    let site = run.resource("site");
    assert_eq!(site.output("url"), &domain);
    assert_eq!(site.output("key"), &Value::Secret(Box::new(domain)));
}
