use std::collections::BTreeSet;
use std::sync::Arc;

use plumb_schema::PackageSchema;
use serde_json::json;

use super::program::{Program, spellings};

fn package() -> Arc<PackageSchema> {
    let schema = json!({
        "name": "shop",
        "version": "1.0.0",
        "types": {
            "shop:index/tree:Tree": { "type": "object", "properties": {
                "branches": { "type": "array", "items": { "$ref": "#/types/shop:index%2Ftree:Tree" } },
                "kind": { "$ref": "#/types/shop:index:Kind" },
            }, "required": ["kind"] },
            "shop:index:Kind": { "type": "string", "enum": [{ "value": "oak" }, { "value": "elm" }] },
        },
        "resources": {
            "shop:index/garden:Garden": {
                "description": "A garden.\n\nWith trees.",
                "inputProperties": {
                    "size": { "type": "integer", "description": "Trees at most.", "default": 4 },
                    "tree": { "$ref": "#/types/shop:index%2Ftree:Tree" },
                },
                "requiredInputs": ["size", "tree"],
            },
        },
        "functions": {},
    });
    Arc::new(PackageSchema::parse(schema.to_string()).unwrap())
}

#[test]
fn every_option_of_a_resource_is_described() {
    let document = Program::of(&[package()]).document();
    let options = document["definitions"]["options"]["properties"]
        .as_object()
        .unwrap();
    let described: BTreeSet<&str> = options.keys().map(String::as_str).collect();
    let known = plumb_yaml::resource_option_names().iter().copied();
    assert_eq!(described, known.collect());
    for (name, option) in options {
        assert!(
            option["description"].is_string() || name == "customTimeouts",
            "{name}"
        );
    }
}

#[test]
fn every_function_can_be_completed() {
    let document = Program::of(&[package()]).document();
    let functions = &document["definitions"]["call"]["properties"];
    for name in plumb_yaml::function_names() {
        assert!(functions.get(name).is_some(), "{name}");
    }
}

/// References of a document, and the names of its definitions.
fn references(value: &serde_json::Value, found: &mut BTreeSet<String>) {
    match value {
        serde_json::Value::Object(members) => {
            if let Some(target) = members.get("$ref").and_then(|it| it.as_str()) {
                found.insert(target.trim_start_matches("#/definitions/").to_owned());
            }
            members.values().for_each(|it| references(it, found));
        }
        serde_json::Value::Array(items) => items.iter().for_each(|it| references(it, found)),
        _ => {}
    }
}

#[test]
fn types_may_contain_themselves_and_every_reference_leads_to_a_definition() {
    let document = Program::of(&[package(), plumb_schema::pulumi_package()]).document();
    let mut found = BTreeSet::new();
    references(&document, &mut found);
    let defined = document["definitions"].as_object().unwrap();
    let missing: Vec<&String> = found
        .iter()
        .filter(|name| !defined.contains_key(*name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(defined.keys().any(|name| name.ends_with("-Tree")));
}

#[test]
fn a_property_with_a_default_need_not_be_given() {
    let document = Program::of(&[package()]).document().to_string();
    assert!(document.contains(r#""required":["tree"]"#), "{document}");
    assert!(
        document.contains("Trees at most.\\n\\nRequired."),
        "{document}"
    );
    assert!(document.contains(r#""default":4"#) && document.contains(r#""enum":["oak","elm"]"#));
}

#[test]
fn names_for_each_language_are_taken_out_of_descriptions() {
    let text = "The <span pulumi-lang-nodejs=\"`a`\" pulumi-lang-go=\"`B`\">`a`</span> of <b>. \n";
    assert_eq!(super::prose(text), "The `a` of <b>.");
}

#[test]
fn tokens_are_offered_in_their_shortest_form() {
    let package = package();
    let token = "shop:index/garden:Garden";
    let all = spellings(token, |it| package.resolve_resource(it) == Some(token));
    assert_eq!(all[0], "shop:Garden");
    assert!(all.contains(&"shop:index:Garden".to_owned()) && all.contains(&token.to_owned()));
}
