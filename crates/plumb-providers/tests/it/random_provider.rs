//! Behaviour of `random` that the recordings do not cover.

use std::path::Path;
use std::sync::Arc;

use plumb_plugin::Provider;
use plumb_resource::provider::ReadRequest;
use plumb_resource::{DiffChanges, ResourceId};
use plumb_value::{PropertyMap, Value};

use crate::support::{check, create, diff, import, map, preview, start, texts, update, urn};

const STRING: &str = "random:index/randomString:RandomString";
const PASSWORD: &str = "random:index/randomPassword:RandomPassword";
const SHUFFLE: &str = "random:index/randomShuffle:RandomShuffle";
const PET: &str = "random:index/randomPet:RandomPet";
const UUID4: &str = "random:index/randomUuid4:RandomUuid4";
const UUID7: &str = "random:index/randomUuid7:RandomUuid7";
const INTEGER: &str = "random:index/randomInteger:RandomInteger";
const ID: &str = "random:index/randomId:RandomId";
const BYTES: &str = "random:index/randomBytes:RandomBytes";

fn provider() -> Arc<dyn Provider> {
    start("random", Path::new("/"), None).provider
}

fn number(value: u32) -> Value {
    Value::Number(f64::from(value))
}

async fn reasons(token: &str, inputs: PropertyMap) -> Vec<String> {
    let response = provider()
        .check(check(&urn(token, "r"), inputs))
        .await
        .unwrap();
    response
        .failures
        .into_iter()
        .map(|failure| failure.reason.to_string())
        .collect()
}

async fn outputs(token: &str, inputs: PropertyMap) -> PropertyMap {
    provider()
        .create(create(&urn(token, "r"), inputs))
        .await
        .unwrap()
        .outputs
        .as_ref()
        .clone()
}

fn string<'a>(outputs: &'a PropertyMap, name: &str) -> &'a str {
    match outputs.get(name) {
        Some(Value::Secret(inner)) => inner.as_str().unwrap(),
        Some(value) => value.as_str().unwrap(),
        None => panic!("no {name}"),
    }
}

#[tokio::test]
async fn wrong_inputs_are_refused() {
    let cases = [
        (STRING, map([]), "Missing required property 'length'"),
        (
            STRING,
            map([("length", number(0))]),
            "`length` must be at least 1, got 0",
        ),
        (
            STRING,
            map([("length", Value::from("x"))]),
            "`length`: expected a whole number, got a string",
        ),
        (
            STRING,
            map([("length", Value::Number(1.5))]),
            "`length`: expected a whole number, got a number",
        ),
        (
            STRING,
            map([
                ("length", number(3)),
                ("minUpper", number(2)),
                ("minLower", number(2)),
            ]),
            "`length` must be at least the sum of `minUpper`, `minLower`, `minNumeric` and `minSpecial` (4), got 3",
        ),
        (
            PASSWORD,
            map([
                ("length", number(3)),
                ("number", Value::Bool(true)),
                ("numeric", Value::Bool(false)),
            ]),
            "Number and numeric are both configured with different values. Number is deprecated, use numeric instead",
        ),
        (
            STRING,
            map([
                ("length", number(3)),
                ("upper", Value::Bool(false)),
                ("lower", Value::Bool(false)),
                ("numeric", Value::Bool(false)),
                ("special", Value::Bool(false)),
            ]),
            "at least one of `special`, `upper`, `lower` and `numeric` must be true",
        ),
        (
            INTEGER,
            map([("min", number(2)), ("max", number(1))]),
            "The minimum (min) value needs to be smaller than or equal to maximum (max) value.",
        ),
        (
            SHUFFLE,
            map([("inputs", Value::from("a"))]),
            "`inputs`: expected a list of strings, got a string",
        ),
        (
            BYTES,
            map([("length", number(0))]),
            "`length` must be at least 1, got 0",
        ),
        (
            ID,
            map([("byteLength", number(0))]),
            "`byteLength` must be at least 1, got 0",
        ),
    ];
    for (token, inputs, reason) in cases {
        assert_eq!(reasons(token, inputs).await, [reason]);
    }
}

#[tokio::test]
async fn unknown_inputs_pass_and_stay_unknown() {
    let inputs = map([("length", Value::UNKNOWN), ("minUpper", number(3))]);
    assert_eq!(reasons(STRING, inputs.clone()).await, [] as [&str; 0]);
    let response = provider()
        .create(preview(&urn(STRING, "r"), inputs))
        .await
        .unwrap();
    assert_eq!(response.id, ResourceId::Unknown);
    assert_eq!(response.outputs.get("length"), Some(&Value::UNKNOWN));
    assert_eq!(response.outputs.get("minUpper"), Some(&number(3)));
    assert!(response.outputs.get("__meta").is_none());
}

#[tokio::test]
async fn strings_have_the_least_number_of_each_kind() {
    let inputs = map([
        ("length", number(20)),
        ("lower", Value::Bool(false)),
        ("minNumeric", number(4)),
        ("minSpecial", number(5)),
        ("overrideSpecial", Value::from("é_")),
        ("upper", Value::Bool(false)),
    ]);
    for _ in 0..50 {
        let outputs = outputs(STRING, inputs.clone()).await;
        let result = string(&outputs, "result");
        let digits = result.chars().filter(char::is_ascii_digit).count();
        let special = result
            .chars()
            .filter(|letter| "é_".contains(*letter))
            .count();
        assert_eq!(
            (result.chars().count(), digits + special),
            (20, 20),
            "{result}"
        );
        assert!(digits >= 4 && special >= 5, "{result}");
        assert_eq!(string(&outputs, "id"), result);
    }
}

#[tokio::test]
async fn the_old_name_of_numeric_still_works() {
    let outputs = outputs(
        STRING,
        map([("length", number(30)), ("number", Value::Bool(false))]),
    )
    .await;
    assert_eq!(outputs.get("numeric"), Some(&Value::Bool(false)));
    assert!(
        !string(&outputs, "result")
            .chars()
            .any(|letter| letter.is_ascii_digit())
    );
}

#[tokio::test]
async fn passwords_are_secret_and_hashed() {
    let outputs = outputs(PASSWORD, map([("length", number(100))])).await;
    assert!(
        outputs.get("result").unwrap().is_secret()
            && outputs.get("bcryptHash").unwrap().is_secret()
    );
    assert_eq!(string(&outputs, "id"), "none");
    let (password, hash) = (string(&outputs, "result"), string(&outputs, "bcryptHash"));
    assert!(hash.starts_with("$2a$10$"), "{hash}");
    assert!(bcrypt::verify(&password.as_bytes()[..72], hash).unwrap());
}

#[tokio::test]
async fn shuffles_repeat_items_only_after_all_were_taken() {
    let inputs = map([
        ("inputs", texts(&["a", "b", "c"])),
        ("resultCount", number(7)),
    ]);
    let outputs = outputs(SHUFFLE, inputs).await;
    let results = outputs
        .get("results")
        .and_then(Value::as_array)
        .unwrap()
        .to_vec();
    assert_eq!(results.len(), 7);
    for round in results.chunks_exact(3) {
        let mut round: Vec<_> = round.iter().map(|item| item.as_str().unwrap()).collect();
        round.sort_unstable();
        assert_eq!(round, ["a", "b", "c"]);
    }
    let empty = self::outputs(SHUFFLE, map([("inputs", texts(&[]))])).await;
    assert_eq!(empty.get("results"), Some(&texts(&[])));
}

#[tokio::test]
async fn names_have_prefix_separator_and_length() {
    let inputs = map([
        ("length", number(4)),
        ("prefix", Value::from("my")),
        ("separator", Value::from("_")),
    ]);
    let outputs = outputs(PET, inputs).await;
    let id = string(&outputs, "id");
    assert_eq!(
        (id.split('_').count(), id.starts_with("my_")),
        (5, true),
        "{id}"
    );
}

#[tokio::test]
async fn uuids_have_their_version() {
    for (token, version) in [(UUID4, 4), (UUID7, 7)] {
        let outputs = outputs(token, map([])).await;
        let result = string(&outputs, "result");
        assert_eq!(result.as_bytes()[14], b'0' + version);
        assert_eq!(string(&outputs, "id"), result);
    }
}

#[tokio::test]
async fn inputs_of_other_types_are_converted_in_outputs() {
    let keepers = map([
        ("a", number(1)),
        ("b", Value::Bool(true)),
        ("c", Value::Null),
    ]);
    let inputs = map([
        ("length", Value::from("3")),
        ("keepers", Value::from(keepers)),
    ]);
    let outputs = outputs(PET, inputs).await;
    assert_eq!(outputs.get("length"), Some(&number(3)));
    let expected = map([
        ("a", Value::from("1")),
        ("b", Value::from("true")),
        ("c", Value::Null),
    ]);
    assert_eq!(outputs.get("keepers"), Some(&Value::from(expected)));
}

#[tokio::test]
async fn secret_inputs_stay_secret_and_do_not_differ_from_plain_ones() {
    let inputs = map([("length", Value::secret(number(3)))]);
    let outputs = outputs(PET, inputs.clone()).await;
    assert_eq!(outputs.get("length"), inputs.get("length"));
    let request = diff(
        &urn(PET, "r"),
        inputs,
        outputs,
        map([("length", number(3))]),
    );
    assert_eq!(
        provider().diff(request).await.unwrap().changes,
        DiffChanges::None
    );
}

async fn diffed(
    token: &str,
    state: PropertyMap,
    new: PropertyMap,
) -> (DiffChanges, Vec<String>, Vec<String>) {
    let result = provider()
        .diff(diff(&urn(token, "r"), map([]), state, new))
        .await
        .unwrap();
    let keys = |keys: Vec<ecow::EcoString>| keys.iter().map(ToString::to_string).collect();
    (
        result.changes,
        keys(result.changed_keys),
        keys(result.replace_keys),
    )
}

#[tokio::test]
async fn state_of_old_versions_does_not_differ_for_what_it_lacks() {
    let state = map([
        ("length", number(3)),
        ("result", Value::from("abc")),
        ("number", Value::Bool(false)),
    ]);
    let new = map([("length", number(3)), ("numeric", Value::Bool(false))]);
    assert_eq!(
        diffed(STRING, state, new.clone()).await.0,
        DiffChanges::None
    );
    let imported = map([("result", Value::from("abc"))]);
    assert_eq!(
        diffed(STRING, imported, map([("length", number(3))]))
            .await
            .0,
        DiffChanges::None
    );
}

#[tokio::test]
async fn null_entries_of_keepers_and_empty_texts_do_not_replace() {
    let keepers =
        |entries: PropertyMap| map([("length", number(3)), ("keepers", Value::from(entries))]);
    let some = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>();
    let without = map([("length", number(3)), ("separator", Value::from("-"))]);
    let nulls = keepers(map([("a", Value::Null)]));
    let expected = (DiffChanges::Some, some(&["keepers"]), some(&[]));
    assert_eq!(diffed(PET, without.clone(), nulls.clone()).await, expected);
    let values = keepers(map([("a", Value::from("1"))]));
    let expected = (DiffChanges::Some, some(&["keepers"]), some(&["keepers"]));
    assert_eq!(diffed(PET, without, values).await, expected);

    let empty = map([("length", number(3)), ("overrideSpecial", Value::from(""))]);
    let expected = (DiffChanges::Some, some(&["overrideSpecial"]), some(&[]));
    assert_eq!(
        diffed(STRING, empty, map([("length", number(3))])).await,
        expected
    );

    let old = map([
        ("id", Value::from("x")),
        ("length", number(2)),
        ("__pulumi_raw_state_delta", Value::Null),
    ]);
    let request = update(
        &urn(PET, "r"),
        map([]),
        old,
        map([("keepers", Value::from(map([("a", Value::Null)])))]),
    );
    let updated = provider().update(request).await.unwrap().outputs;
    let keys: Vec<_> = updated.keys().map(|key| key.as_str().to_owned()).collect();
    assert_eq!(keys, ["id", "keepers", "length", "separator"]);
}

#[tokio::test]
async fn ignored_properties_do_not_differ() {
    let state = map([("length", number(2)), ("separator", Value::from("-"))]);
    let mut request = diff(&urn(PET, "r"), map([]), state, map([("length", number(3))]));
    request.ignore_changes = ["length".into()].into();
    assert_eq!(
        provider().diff(request).await.unwrap().changes,
        DiffChanges::None
    );
}

async fn imported(token: &str, id: &str) -> Result<(ResourceId, PropertyMap, PropertyMap), String> {
    let response = provider()
        .read(import(&urn(token, "r"), id))
        .await
        .map_err(|error| error.message.to_string())?;
    let (inputs, outputs) = (response.inputs.unwrap(), response.outputs.unwrap());
    let again = diff(
        &urn(token, "r"),
        map([]),
        outputs.as_ref().clone(),
        inputs.as_ref().clone(),
    );
    assert_eq!(
        provider().diff(again).await.unwrap().changes,
        DiffChanges::None,
        "{token}"
    );
    Ok((
        response.id,
        inputs.as_ref().clone(),
        outputs.as_ref().clone(),
    ))
}

/// A read with only an id returns the value, like an import.
#[tokio::test]
async fn values_are_read_by_their_text() {
    let (_, _, outputs) = imported(STRING, "abc").await.unwrap();
    let request = ReadRequest {
        inputs: Some(Arc::default()),
        ..import(&urn(STRING, "r"), "abc")
    };
    let read = provider().read(request).await.unwrap();
    assert_eq!(*read.outputs.unwrap(), outputs);
    assert_eq!(outputs.get("result"), Some(&Value::from("abc")));
}

#[tokio::test]
async fn values_are_imported_by_their_text() {
    let (id, inputs, outputs) = imported(ID, "my-prefix-,p-9hUg").await.unwrap();
    assert_eq!(id, ResourceId::from_text("p-9hUg"));
    assert_eq!(
        inputs,
        map([
            ("byteLength", number(4)),
            ("prefix", Value::from("my-prefix-"))
        ])
    );
    assert_eq!(string(&outputs, "hex"), "my-prefix-a7ef6152");

    let (id, inputs, outputs) = imported(INTEGER, "15390,1,50000,x").await.unwrap();
    assert_eq!(id, ResourceId::from_text("15390"));
    assert_eq!(
        inputs,
        map([
            ("max", number(50000)),
            ("min", number(1)),
            ("seed", Value::from("x"))
        ])
    );
    assert_eq!(outputs.get("result"), Some(&number(15390)));

    let (id, inputs, outputs) = imported(BYTES, "8/fu3q+2DcgSJ19i0jZ5Cw==").await.unwrap();
    assert_eq!(id, ResourceId::from_text("8/fu3q+2DcgSJ19i0jZ5Cw=="));
    assert_eq!(inputs, map([("length", number(16))]));
    assert!(outputs.get("hex").unwrap().is_secret());

    let (id, inputs, outputs) = imported(PASSWORD, "supersecret").await.unwrap();
    assert_eq!(
        (id, inputs.get("length")),
        (ResourceId::from_text("none"), Some(&number(11)))
    );
    assert!(outputs.get("result").unwrap().is_secret());

    let uuid = "7e4436da-7c71-486e-a57c-830b25fff7bd";
    let (id, inputs, _) = imported(UUID4, uuid).await.unwrap();
    assert_eq!((id, inputs), (ResourceId::from_text(uuid), map([])));
}

#[tokio::test]
async fn bad_import_ids_are_refused() {
    let usage = "Import Random Integer Error: Invalid import usage: expecting {result},{min},{max} or \
                 {result},{min},{max},{seed}";
    assert_eq!(imported(INTEGER, "1,2").await.unwrap_err(), usage);
    assert!(
        imported(UUID4, "x")
            .await
            .unwrap_err()
            .starts_with("Import Random UUID Error: ")
    );
    assert!(
        imported(ID, "?")
            .await
            .unwrap_err()
            .starts_with("Import Random ID Error: ")
    );
    let refused = format!("{PET} resources can not be imported");
    assert_eq!(imported(PET, "happy-cat").await.unwrap_err(), refused);
}

#[tokio::test]
async fn other_types_are_refused() {
    let error = provider()
        .create(create(&urn("random:index:Nothing", "r"), map([])))
        .await
        .unwrap_err();
    assert_eq!(
        error.message,
        "unrecognized resource type: random:index:Nothing"
    );
}
