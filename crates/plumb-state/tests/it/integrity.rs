//! The integrity check and the repair.

use plumb_state::file::{ParseError, ResourceError, parse_body};
use plumb_state::integrity::{IntegrityError, ReferenceFault, ReferenceKind, repair};
use plumb_state::{Snapshot, file};

use crate::support::{list, vector};

/// Name of a failure in the vectors.
fn class(deployment: &str) -> &'static str {
    let parsed = match parse_body(deployment) {
        Ok(parsed) => parsed,
        Err(ParseError::Resource(error)) => return class_of_parse(&error),
        Err(error) => panic!("{error}"),
    };
    match parsed.opaque().verify() {
        Ok(()) => "ok",
        Err(error) => class_of(&error),
    }
}

fn class_of_parse(error: &ResourceError) -> &'static str {
    match error {
        ResourceError::MissingUrn => "missing-urn",
        ResourceError::MissingType { .. } => "missing-type",
        ResourceError::IdOnComponent { .. } => "id-on-component",
        ResourceError::Provider { .. } => "bad-provider-reference",
        other => panic!("{other}"),
    }
}

fn class_of(error: &IntegrityError) -> &'static str {
    use ReferenceFault::{After, Missing};
    match error {
        IntegrityError::Magic => "magic",
        IntegrityError::MissingType { .. } => "missing-type",
        IntegrityError::IdOnComponent { .. } => "id-on-component",
        IntegrityError::UnknownProvider { .. } => "unknown-provider",
        IntegrityError::Duplicate { .. } => "duplicate",
        IntegrityError::SnippetWithoutUuid { .. } => "snippet-without-uuid",
        IntegrityError::DuplicateSnippet { .. } => "duplicate-snippet",
        IntegrityError::Reference { kind, fault, .. } => match (kind, fault) {
            (ReferenceKind::Parent, After) => "parent-after",
            (ReferenceKind::Parent, Missing) => "parent-missing",
            (ReferenceKind::Dependency, After) => "dependency-after",
            (ReferenceKind::Dependency, Missing) => "dependency-missing",
            (ReferenceKind::PropertyDependency(_), After) => "property-dependency-after",
            (ReferenceKind::PropertyDependency(_), Missing) => "property-dependency-missing",
            (ReferenceKind::DeletedWith, After) => "deleted-with-after",
            (ReferenceKind::DeletedWith, Missing) => "deleted-with-missing",
            (ReferenceKind::ReplaceWith, After) => "replace-with-after",
            (ReferenceKind::ReplaceWith, Missing) => "replace-with-missing",
        },
    }
}

#[test]
fn the_first_fault_is_found() {
    let vectors = vector("integrity.json");
    assert_eq!(list(&vectors, "cases").len(), 32);
    for case in list(&vectors, "cases") {
        assert_eq!(
            class(&case["deployment"].to_string()),
            case["expected"].as_str().unwrap(),
            "{}",
            case["name"]
        );
    }
}

#[test]
fn the_message_about_a_provider_is_upstreams() {
    let case = snapshot(
        r#"{"urn":"urn:pulumi:dev::p::a:b:C::x","custom":true,"id":"1","type":"a:b:C",
        "provider":"urn:pulumi:dev::p::pulumi:providers:a::default::u"}"#,
    );
    assert_eq!(
        case.verify().unwrap_err().to_string(),
        "resource urn:pulumi:dev::p::a:b:C::x refers to unknown provider urn:pulumi:dev::p::pulumi:providers:a::default::u"
    );
}

pub(crate) fn snapshot(resources: &str) -> Snapshot {
    file::parse_body(&format!("{{\"resources\":[{resources}]}}"))
        .unwrap()
        .opaque()
        .clone()
}

#[test]
fn repair_sorts_and_prunes() {
    let broken = snapshot(
        r#"
        {"urn":"urn:pulumi:s::p::a:b:C$a:b:D::child","custom":false,"type":"a:b:D","parent":"urn:pulumi:s::p::a:b:C::top"},
        {"urn":"urn:pulumi:s::p::a:b:C::top","custom":false,"type":"a:b:C","dependencies":["urn:pulumi:s::p::a:b:C::gone"],
            "propertyDependencies":{"k":["urn:pulumi:s::p::a:b:C::gone"],"empty":[]}},
        {"urn":"urn:pulumi:s::p::a:b:G$a:b:E::orphan","custom":false,"type":"a:b:E","parent":"urn:pulumi:s::p::a:b:G::gone"},
        {"urn":"urn:pulumi:s::p::a:b:G$a:b:E$a:b:F::grandchild","custom":false,"type":"a:b:F",
            "parent":"urn:pulumi:s::p::a:b:G$a:b:E::orphan","replaceWith":["urn:pulumi:s::p::a:b:C::top","urn:pulumi:s::p::a:b:C::gone"]}"#,
    );
    let repaired = repair(&broken).unwrap();
    repaired.snapshot.verify().unwrap();
    let urns: Vec<&str> = repaired
        .snapshot
        .resources
        .iter()
        .map(|state| state.urn.as_str())
        .collect();
    assert_eq!(
        urns,
        [
            "urn:pulumi:s::p::a:b:C::top",
            "urn:pulumi:s::p::a:b:C$a:b:D::child",
            "urn:pulumi:s::p::a:b:E::orphan",
            "urn:pulumi:s::p::a:b:E$a:b:F::grandchild",
        ]
    );
    assert_eq!(repaired.reordered.len(), 2);
    assert_eq!(repaired.pruned.len(), 3);
    let top = &repaired.snapshot.resources[0];
    assert!(top.dependencies.is_empty());
    assert!(top.property_dependencies.is_empty());
    assert_eq!(
        repaired.snapshot.resources[3].replace_with,
        std::slice::from_ref(&top.urn)
    );
}

#[test]
fn a_valid_snapshot_is_left_alone_and_a_circle_is_reported() {
    let valid = snapshot(
        r#"{"urn":"urn:pulumi:s::p::a:b:C::x","custom":false,"type":"a:b:C","delete":true},
           {"urn":"urn:pulumi:s::p::a:b:C::y","custom":false,"type":"a:b:C","dependencies":["urn:pulumi:s::p::a:b:C::x"]}"#,
    );
    let repaired = repair(&valid).unwrap();
    assert_eq!(repaired.snapshot, valid);
    assert!(repaired.reordered.is_empty() && repaired.pruned.is_empty());

    let circle = snapshot(
        r#"{"urn":"urn:pulumi:s::p::a:b:C::x","custom":false,"type":"a:b:C","dependencies":["urn:pulumi:s::p::a:b:C::y"]},
           {"urn":"urn:pulumi:s::p::a:b:C::y","custom":false,"type":"a:b:C","dependencies":["urn:pulumi:s::p::a:b:C::x"]}"#,
    );
    assert_eq!(repair(&circle).unwrap_err().circle.len(), 2);
}
