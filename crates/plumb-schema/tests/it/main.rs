//! The tolerant reader on real schemas.

#![allow(clippy::unwrap_used)] // helpers of tests count as tests

mod full;

use std::path::{Path, PathBuf};

use plumb_schema::{PackageSchema, Primitive, ReturnType, TypeKind};

pub(crate) fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/schemas")
}

fn load(name: &str) -> PackageSchema {
    PackageSchema::parse(std::fs::read_to_string(data().join(name)).unwrap()).unwrap()
}

#[test]
fn short_tokens_find_their_members() {
    let random = load("random.json");
    assert_eq!(
        random.resolve_resource("random:RandomPet"),
        Some("random:index/randomPet:RandomPet")
    );
    assert_eq!(
        random.resolve_resource("random:index:RandomPet"),
        Some("random:index/randomPet:RandomPet")
    );
    assert_eq!(
        random.resolve_resource("random:index/randomPet:RandomPet"),
        Some("random:index/randomPet:RandomPet")
    );
    assert_eq!(
        random.resolve_resource("random:randompet"),
        Some("random:index/randomPet:RandomPet")
    );
    assert_eq!(random.resolve_resource("random:RandomPett"), None);
    let command = load("command.json");
    assert_eq!(
        command.resolve_function("command:local:run"),
        Some("command:local:run")
    );
    assert_eq!(command.resolve_resource("command:run"), None);
}

#[test]
fn secrets_and_replacement_paths_come_from_outputs() {
    let random = load("random.json");
    let password = random
        .resource("random:index/randomPassword:RandomPassword")
        .unwrap()
        .unwrap();
    assert_eq!(
        password.secret_outputs().collect::<Vec<_>>(),
        ["bcryptHash", "result"]
    );
    assert!(password.input_properties["length"].required);
    assert_eq!(
        password.input_properties["length"].ty.kind,
        TypeKind::Primitive(Primitive::Integer)
    );
    let command = load("command.json");
    let local = command.resource("command:local:Command").unwrap().unwrap();
    assert_eq!(command.replace_on_changes(&local), ["triggers[*]"]);
    let run = command.function("command:local:run").unwrap().unwrap();
    assert!(matches!(run.returns, ReturnType::Object(_)));
}

#[test]
fn every_member_of_every_schema_binds() {
    let mut members = 0;
    for folder in [data(), data().join("cases")] {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let Ok(package) = PackageSchema::parse(std::fs::read_to_string(&path).unwrap()) else {
                panic!("{} does not parse", path.display());
            };
            let resources = package
                .resource_tokens()
                .map(|token| package.resource(token).unwrap().err());
            let functions = package
                .function_tokens()
                .map(|token| package.function(token).unwrap().err());
            for problem in resources.chain(functions) {
                assert!(problem.is_none(), "{}: {problem:?}", path.display());
                members += 1;
            }
            package.provider().unwrap();
            package.config().unwrap();
        }
    }
    assert!(members > 200, "only {members} members");
}

#[test]
fn an_empty_answer_means_no_schema() {
    assert!(matches!(
        PackageSchema::parse("{ }"),
        Err(plumb_schema::SchemaError::Empty)
    ));
    assert!(matches!(
        PackageSchema::parse("{\"x\": 1}"),
        Err(plumb_schema::SchemaError::Nameless)
    ));
    assert!(matches!(
        PackageSchema::parse("[1"),
        Err(plumb_schema::SchemaError::Document { .. })
    ));
}
