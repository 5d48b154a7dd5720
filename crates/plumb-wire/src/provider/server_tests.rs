//! Round trips between the engine's and the provider's side.

use std::collections::BTreeMap;
use std::sync::Arc;

use plumb_proto::tonic::{Code, Status};
use plumb_resource::provider::{
    Autonaming, CheckFailure, CheckRequest, CheckResponse, ConfigureRequest, CreateRequest,
    CreateResponse, DeleteRequest, DiffChanges, DiffKind, DiffRequest, DiffResult, InvokeRequest,
    InvokeResponse, Parameterization, PartialFailure, PropertyDiff, ProviderError, ReadRequest,
    ReadResponse, ResourceStatus, UpdateRequest, UpdateResponse,
};
use plumb_resource::{PropertyDependencies, ResourceId, StatusTarget, TypeToken, Urn, View};
use plumb_value::{PropertyMap, Value};

use super::server::{self, EngineFeatures, RequestError};
use crate::ProviderFeatures;

const PROVIDER: ProviderFeatures = ProviderFeatures {
    accept_secrets: true,
    accept_resources: true,
    accept_outputs: true,
    accepts_byte_strings: true,
    supports_autonaming: true,
    supports_preview: true,
    handshake: true,
};
const ENGINE: EngineFeatures = EngineFeatures {
    accept_secrets: true,
    accept_resources: true,
    accepts_byte_strings: true,
};

fn urn() -> Urn {
    Urn::parse("urn:pulumi:s::p::pulumi:providers:a::n").unwrap()
}

fn id() -> ResourceId {
    ResourceId::from_text("i")
}

fn map(text: &str) -> Arc<PropertyMap> {
    let bytes = Value::Bytes(Arc::from([0xff]));
    Arc::new(
        PropertyMap::new()
            .with("k", text)
            .with("s", Value::secret("s".into()))
            .with("b", bytes),
    )
}

fn check() -> CheckRequest {
    CheckRequest {
        urn: urn(),
        old_inputs: Some(map("old")),
        new_inputs: map("new"),
        allow_unknowns: true,
        random_seed: Arc::from([1, 2]),
        autonaming: Some(Autonaming::Propose("p".into())),
    }
}

fn views() -> Vec<View> {
    vec![View {
        type_token: TypeToken::new("a:b:Part"),
        name: "part".into(),
        inputs: map("in"),
        outputs: map("out"),
    }]
}

fn status() -> StatusTarget {
    StatusTarget {
        address: "127.0.0.1:1".into(),
        token: "t".into(),
    }
}

fn create() -> CreateRequest {
    CreateRequest {
        urn: urn(),
        inputs: map("new"),
        timeout: 1.5,
        preview: false,
        status: Some(status()),
    }
}

fn update() -> UpdateRequest {
    UpdateRequest {
        urn: urn(),
        id: id(),
        old_inputs: map("a"),
        old_outputs: map("b"),
        new_inputs: map("c"),
        ignore_changes: ["x".into()].into(),
        timeout: 1.5,
        preview: false,
        old_views: views(),
        status: Some(status()),
    }
}

fn read() -> ReadRequest {
    ReadRequest {
        urn: urn(),
        id: id(),
        inputs: Some(map("a")),
        outputs: map("b"),
        timeout: 2.0,
        old_views: views(),
        status: Some(status()),
    }
}

#[test]
fn requests_arrive() {
    let check = check();
    assert_eq!(
        server::check_request(&super::check_request(&check, &PROVIDER).unwrap()),
        Ok(check)
    );
    let create = create();
    assert_eq!(
        server::create_request(&super::create_request(&create, &PROVIDER).unwrap()),
        Ok(create)
    );
    let update = update();
    assert_eq!(
        server::update_request(&super::update_request(&update, &PROVIDER).unwrap()),
        Ok(update)
    );
    let read = read();
    assert_eq!(
        server::read_request(&super::read_request(&read, &PROVIDER).unwrap()),
        Ok(read)
    );
    let diff = DiffRequest {
        urn: urn(),
        id: id(),
        old_inputs: map("a"),
        old_outputs: map("b"),
        new_inputs: map("c"),
        allow_unknowns: true,
        ignore_changes: ["x".into()].into(),
    };
    assert_eq!(
        server::diff_request(&super::diff_request(&diff, &PROVIDER).unwrap()),
        Ok(diff)
    );
    let delete = DeleteRequest {
        urn: urn(),
        id: id(),
        inputs: map("a"),
        outputs: map("b"),
        timeout: 3.0,
        old_views: views(),
        status: Some(status()),
    };
    assert_eq!(
        server::delete_request(&super::delete_request(&delete, &PROVIDER).unwrap()),
        Ok(delete)
    );
    let invoke = InvokeRequest {
        token: TypeToken::new("a:b:c"),
        args: map("a"),
        preview: true,
    };
    assert_eq!(
        server::invoke_request(&super::invoke_request(&invoke, &PROVIDER).unwrap()),
        Ok(invoke)
    );
    let parameter = Parameterization {
        name: "n".into(),
        version: "1.0.0".into(),
        value: Arc::from([7]),
    };
    assert_eq!(
        server::parameterize_request(&super::parameterize_request(&parameter)),
        Ok(parameter)
    );
}

#[test]
fn configuration_arrives_with_what_the_engine_accepts() {
    let inputs = Arc::new(PropertyMap::new().with("s", Value::secret("s".into())));
    let configure = ConfigureRequest {
        urn: urn(),
        id: id(),
        inputs,
    };
    let wire = super::configure_request(&configure).unwrap();
    assert_eq!(server::configure_request(&wire), Ok(configure));
    let features = EngineFeatures::default().after_configure(&wire);
    assert!(features.accept_secrets && features.accept_resources && !features.accepts_byte_strings);
}

#[test]
fn a_name_that_contradicts_the_urn_is_refused() {
    let mut wire = super::create_request(&create(), &PROVIDER).unwrap();
    wire.name = "other".into();
    let error = server::create_request(&wire).unwrap_err();
    assert!(matches!(
        error,
        RequestError::Mismatch { field: "name", .. }
    ));
    assert_eq!(Status::from(error).code(), Code::InvalidArgument);
    wire.name.clear();
    wire.r#type.clear();
    assert_eq!(
        server::create_request(&wire),
        Ok(create()),
        "older engines send neither"
    );
}

#[test]
fn answers_arrive() {
    let failures = vec![CheckFailure {
        property: "p".into(),
        reason: "r".into(),
    }];
    let checked = CheckResponse {
        inputs: Some(map("x")),
        failures: failures.clone(),
        ignored_autonaming: false,
    };
    let wire = server::check_response(&checked, ENGINE).unwrap();
    assert_eq!(
        super::check_response(&wire, &check(), &PROVIDER),
        Ok(checked)
    );
    let created = CreateResponse {
        id: id(),
        outputs: map("x"),
        refresh_before_update: true,
    };
    let wire = server::create_response(&created, ENGINE).unwrap();
    assert_eq!(
        super::create_response(&wire, &create(), &PROVIDER),
        Ok(created)
    );
    let updated = UpdateResponse {
        outputs: map("x"),
        refresh_before_update: true,
    };
    let wire = server::update_response(&updated, ENGINE).unwrap();
    assert_eq!(
        super::update_response(&wire, &update(), &PROVIDER),
        Ok(updated)
    );
    let found = ReadResponse {
        id: id(),
        inputs: None,
        outputs: Some(map("x")),
        refresh_before_update: false,
    };
    let wire = server::read_response(&found, ENGINE).unwrap();
    assert_eq!(super::read_response(&wire, &read(), &PROVIDER), Ok(found));
    let invoke = InvokeRequest {
        token: TypeToken::new("a:b:c"),
        args: map("a"),
        preview: true,
    };
    let invoked = InvokeResponse {
        result: map("x"),
        failures,
        dependencies: PropertyDependencies::new(),
    };
    let wire = server::invoke_response(&invoked, ENGINE).unwrap();
    assert_eq!(
        super::invoke_response(&wire, &invoke, &PROVIDER),
        Ok(invoked)
    );
}

#[test]
fn differences_arrive() {
    let kinds = [
        DiffKind::Add,
        DiffKind::AddReplace,
        DiffKind::Delete,
        DiffKind::DeleteReplace,
        DiffKind::Update,
        DiffKind::UpdateReplace,
    ];
    let detailed = kinds.map(|kind| {
        (
            kind.as_str().into(),
            PropertyDiff {
                kind,
                input_diff: kind.is_replace(),
            },
        )
    });
    let result = DiffResult {
        changes: DiffChanges::Some,
        replace_keys: vec!["a".into()],
        stable_keys: vec!["b".into()],
        changed_keys: vec!["c".into()],
        detailed_diff: Some(detailed.into()),
        delete_before_replace: true,
    };
    assert_eq!(
        super::diff_response(&server::diff_response(&result)),
        result
    );
    let empty = DiffResult {
        detailed_diff: Some(BTreeMap::new()),
        ..DiffResult::of(DiffChanges::None)
    };
    assert_eq!(super::diff_response(&server::diff_response(&empty)), empty);
}

#[test]
fn failures_arrive() {
    let unchanged = ProviderError::clean("no");
    let status = server::error_status(&unchanged, ENGINE);
    assert_eq!(
        super::create_error(&status, &create(), &PROVIDER),
        unchanged
    );
    let unknown = ProviderError::unknown("who knows");
    let status = server::error_status(&unknown, ENGINE);
    assert_eq!(super::update_error(&status, &update(), &PROVIDER), unknown);
    let failure = PartialFailure {
        id: id(),
        outputs: Some(map("x")),
        inputs: None,
        reasons: ["slow".into()].into(),
        refresh_before_update: true,
    };
    let partial = ProviderError {
        message: "1 error occurred:\n\t* slow".into(),
        status: ResourceStatus::Partial(Box::new(failure)),
        properties: Vec::new(),
    };
    let status = server::error_status(&partial, ENGINE);
    assert_eq!(super::read_error(&status, &read(), &PROVIDER), partial);
    let problem = CheckFailure {
        property: "k".into(),
        reason: "bad".into(),
    };
    let wrong = ProviderError {
        properties: vec![problem],
        ..ProviderError::clean("wrong")
    };
    let error = super::construct_error(&server::error_status(&wrong, ENGINE), &map("x"));
    assert_eq!(error.properties, wrong.properties);
    assert_eq!(
        error.message,
        "wrong\n\t\t- property k with value '{x}' has a problem: bad"
    );
}
