//! The functions beside what the plugin answered.

use std::path::PathBuf;

use plumb_value::{PropertyMap, Value};
use serde_json::Value as Json;

use super::Std;
use super::args::Args;
use super::values::json_of;

/// Calls with the answers of version 2.3.2 of the plugin.
const CALLS: &str = include_str!("../../../../tests/data/std/calls.json");

/// Why an answer may differ from that of the plugin.
fn reason(call: &Json, answer: &Result<Json, String>) -> Option<&'static str> {
    let (function, args) = (call["function"].as_str().unwrap(), &call["args"]);
    let input = args["input"].as_str().unwrap_or_default();
    let is_error = answer.is_err();
    match function {
        _ if call["error"]
            .as_str()
            .is_some_and(|it| it.starts_with("Missing required field")) =>
        {
            Some("the plugin takes null for an argument that is not there")
        }
        "upper" | "title" if input == "\u{fb01}" => Some("the plugin keeps ligatures"),
        "cidrsubnets" if input == "0.0.0.0/0" => {
            Some("the plugin finds no room in the network of all addresses")
        }
        "jsondecode" if !input.starts_with('{') => Some("the plugin reads objects only"),
        "sort" if args["input"] == Json::Array(Vec::new()) => Some("the plugin answers null"),
        "substr" if args["offset"].as_i64() < Some(0) => {
            Some("the plugin counts bytes from the end, and Terraform characters")
        }
        "format" if call["result"].as_str().is_some_and(|it| it.contains("%!")) => Some(
            "the plugin takes a number without a fraction for an integer, and Terraform does not",
        ),
        "timecmp" => Some("the plugin tells no later time"),
        "csvdecode" if input.ends_with('\n') => {
            Some("the plugin takes the end of the last line for a line")
        }
        "format" | "formatlist" if is_error => {
            Some("the plugin puts its error into the text, and Terraform fails")
        }
        _ => None,
    }
}

#[test]
fn functions_answer_as_the_plugin() {
    let calls: Vec<Json> = serde_json::from_str(CALLS).unwrap();
    let package = Std {
        folder: PathBuf::from("/"),
        home: None,
    };
    let mut different = Vec::new();
    for call in &calls {
        let function = call["function"].as_str().unwrap();
        let Value::Object(args) = Value::from(&call["args"]) else {
            panic!("{call}");
        };
        let answer = package.call(function, &Args(&args)).expect(function);
        let answer = answer.map(|it| json_of(&it).unwrap());
        let is_same = match (&answer, call.get("error")) {
            (Ok(answer), None) => same(answer, &call["result"]),
            (Err(_), Some(_)) => true,
            _ => false,
        };
        if !is_same && reason(call, &answer).is_none() {
            different.push(format!("{call}: {answer:?}"));
        }
    }
    assert!(
        different.is_empty(),
        "{} of {}:\n{}",
        different.len(),
        calls.len(),
        different.join("\n")
    );
}

/// Whether two documents are the same; whole numbers may be written as fractions.
fn same(one: &Json, other: &Json) -> bool {
    match (one, other) {
        (Json::Number(one), Json::Number(other)) => one.as_f64() == other.as_f64(),
        (Json::Array(one), Json::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(a, b)| same(a, b))
        }
        (Json::Object(one), Json::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(key, it)| other.get(key).is_some_and(|other| same(it, other)))
        }
        _ => one == other,
    }
}

#[test]
fn every_function_of_the_schema_is_there() {
    let schema: Json = serde_json::from_str(include_str!("../../schemas/std.json")).unwrap();
    let package = Std {
        folder: PathBuf::from("/"),
        home: None,
    };
    let none = PropertyMap::new();
    for token in schema["functions"].as_object().unwrap().keys() {
        let name = token.rsplit(':').next().unwrap();
        assert!(package.call(name, &Args(&none)).is_some(), "{token}");
    }
}
