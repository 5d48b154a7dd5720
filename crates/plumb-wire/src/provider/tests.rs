use std::collections::BTreeMap;
use std::sync::Arc;

use plumb_proto::pulumirpc::{
    self, check_request::autonaming_options::Mode, property_diff::Kind as DiffKindOnWire,
};
use plumb_proto::status::{to_any, with_details};
use plumb_proto::tonic::{Code, Status};
use plumb_resource::provider::{
    Autonaming, CallRequest, CheckConfigRequest, CheckRequest, ConfigureRequest, ConstructRequest,
    CreateRequest, DiffChanges, DiffKind, DiffRequest, InvokeRequest, PropertyDiff, ReadRequest,
    ResourceStatus, UpdateRequest,
};
use plumb_resource::{CustomTimeouts, Goal, Hooks, ResourceId, ResourceKind, TypeToken, Urn};
use plumb_value::{Asset, AssetSource, Output, PropertyMap, Value};
use prost_types::Struct;

use super::*;
use crate::property::encode_map;
use crate::{MarshalOptions, ProviderFeatures};

const MODERN: ProviderFeatures = ProviderFeatures {
    accept_secrets: true,
    accept_resources: true,
    accept_outputs: true,
    accepts_byte_strings: true,
    supports_autonaming: true,
    supports_preview: true,
    handshake: true,
};

fn urn() -> Urn {
    Urn::parse("urn:pulumi:s::p::a:b:C$d:e:F::n").unwrap()
}

fn map(key: &str, value: impl Into<Value>) -> Arc<PropertyMap> {
    Arc::new(PropertyMap::new().with(key, value))
}

#[allow(clippy::unnecessary_wraps, reason = "messages hold maps as options")]
fn rich(map: &PropertyMap) -> Option<Struct> {
    let options = MarshalOptions::RICH.outputs(true).byte_strings(true);
    Some(encode_map(map, options).unwrap())
}

fn secret() -> Value {
    Value::secret("hush".into())
}

fn text_asset() -> Value {
    Value::Asset(Arc::new(Asset {
        hash: "h".into(),
        source: AssetSource::Text("content".into()),
    }))
}

fn elided_asset() -> Value {
    Value::Asset(Arc::new(Asset {
        hash: "h".into(),
        source: AssetSource::Elided,
    }))
}

fn check(allow_unknowns: bool) -> CheckRequest {
    CheckRequest {
        urn: urn(),
        old_inputs: None,
        new_inputs: Arc::new(
            PropertyMap::new()
                .with("s", secret())
                .with("u", Value::UNKNOWN),
        ),
        allow_unknowns,
        random_seed: Arc::from([1, 2, 3]),
        autonaming: Some(Autonaming::Enforce("x".into())),
    }
}

fn create(preview: bool) -> CreateRequest {
    CreateRequest {
        urn: urn(),
        inputs: map("s", secret()),
        timeout: 5.0,
        preview,
        status: None,
    }
}

fn read(inputs: Option<Arc<PropertyMap>>) -> ReadRequest {
    let id = ResourceId::from_text("i");
    ReadRequest {
        urn: urn(),
        id,
        inputs,
        outputs: map("a", text_asset()),
        timeout: 0.0,
        old_views: Vec::new(),
        status: None,
    }
}

#[test]
fn check_sends_an_empty_map_when_there_are_no_old_inputs() {
    let request = check_request(&check(true), &MODERN).unwrap();
    assert_eq!(request.olds, Some(Struct::default()));
    assert_eq!(
        (request.name.as_str(), request.r#type.as_str()),
        ("n", "d:e:F")
    );
    assert_eq!(request.random_seed, [1, 2, 3]);
    let autonaming = request.autonaming.unwrap();
    assert_eq!(
        (autonaming.proposed_name.as_str(), autonaming.mode()),
        ("x", Mode::Enforce)
    );
    assert_eq!(request.news, rich(&check(true).new_inputs));
}

#[test]
fn check_tells_older_providers_less() {
    let request = check_request(&check(false), &ProviderFeatures::default()).unwrap();
    assert_eq!(request.autonaming, None);
    assert_eq!(
        request.news,
        rich(&PropertyMap::new().with("s", "hush")),
        "plain secrets, no unknowns"
    );
}

#[test]
fn checked_inputs_stay_secret() {
    let response = pulumirpc::CheckResponse {
        inputs: rich(&PropertyMap::new().with("s", "hush")),
        failures: vec![pulumirpc::CheckFailure {
            property: "s".into(),
            reason: "bad".into(),
        }],
    };
    let plain = check_response(&response, &check(false), &MODERN).unwrap();
    assert_eq!(plain.inputs, Some(map("s", "hush")));
    assert_eq!(plain.failures[0].reason, "bad");
    let annotated = check_response(&response, &check(false), &ProviderFeatures::default()).unwrap();
    assert_eq!(annotated.inputs, Some(map("s", secret())));
    let absent =
        check_response(&pulumirpc::CheckResponse::default(), &check(false), &MODERN).unwrap();
    assert_eq!(absent.inputs, None);
    assert!(absent.failures.is_empty() && !absent.ignored_autonaming);
    assert!(annotated.ignored_autonaming, "nobody told the provider");
}

#[test]
fn unknowns_in_answers_are_refused_outside_of_previews() {
    let response = pulumirpc::CheckResponse {
        inputs: rich(&map("u", Value::UNKNOWN)),
        failures: Vec::new(),
    };
    let error = check_response(&response, &check(false), &MODERN).unwrap_err();
    assert_eq!(error.message, "unexpected unknown property value for \"u\"");
    assert_eq!(
        check_response(&response, &check(true), &MODERN)
            .unwrap()
            .inputs,
        Some(map("u", Value::UNKNOWN))
    );
}

#[test]
fn configuration_is_checked_without_the_engines_own_key() {
    let inputs = PropertyMap::new()
        .with("__internal", PropertyMap::new())
        .with("s", secret());
    let request = CheckConfigRequest {
        urn: urn(),
        old_inputs: None,
        new_inputs: Arc::new(inputs.clone()),
        allow_unknowns: false,
    };
    let wire = check_config_request(&request).unwrap();
    assert_eq!((wire.olds, wire.news), (None, rich(&map("s", "hush"))));
    let response = pulumirpc::CheckResponse {
        inputs: rich(&map("s", "hush")),
        failures: Vec::new(),
    };
    let checked = check_config_response(&response, &request).unwrap();
    assert_eq!(checked.inputs.as_deref(), Some(&inputs));
}

#[test]
#[allow(deprecated)]
fn configure_sends_both_forms() {
    let list = Value::array([1.0.into(), 1.5.into(), "<a>".into()]);
    let inputs = PropertyMap::new()
        .with("s", secret())
        .with("n", 3.0)
        .with("l", list)
        .with("version", "1.0.0");
    let urn = Urn::parse("urn:pulumi:s::p::pulumi:providers:aws::default").unwrap();
    let request = ConfigureRequest {
        urn,
        id: ResourceId::from_text("id"),
        inputs: Arc::new(inputs.clone()),
    };
    let wire = configure_request(&request).unwrap();
    assert_eq!(wire.args, rich(&inputs));
    let expected = [
        ("aws:config:l", "[1,1.5,\"\\u003ca\\u003e\"]"),
        ("aws:config:n", "3"),
        ("aws:config:s", "hush"),
    ];
    assert_eq!(
        wire.variables,
        expected
            .map(|(key, text)| (key.to_owned(), text.to_owned()))
            .into()
    );
    assert!(
        wire.accept_secrets
            && wire.accept_resources
            && wire.sends_old_inputs
            && wire.sends_old_inputs_to_delete
    );
    assert_eq!(
        (wire.id.as_deref(), wire.name.as_deref()),
        (Some("id"), Some("default"))
    );
}

#[test]
fn handshake_wins_over_configure() {
    let handshake = pulumirpc::ProviderHandshakeResponse {
        accept_secrets: true,
        ..Default::default()
    };
    let features = ProviderFeatures::from_handshake(&handshake);
    assert!(features.supports_preview && features.accept_secrets && !features.accept_resources);
    let answer = pulumirpc::ConfigureResponse {
        accept_resources: true,
        ..Default::default()
    };
    assert_eq!(features.after_configure(&answer), features);
    let older = ProviderFeatures::default().after_configure(&answer);
    assert!(older.accept_resources && !older.accept_secrets && !older.supports_preview);
}

#[test]
fn diff_sends_no_contents_of_assets() {
    let request = DiffRequest {
        urn: urn(),
        id: ResourceId::from_text("i"),
        old_inputs: map("a", text_asset()),
        old_outputs: map("a", text_asset()),
        new_inputs: map("a", text_asset()),
        allow_unknowns: true,
        ignore_changes: ["x".into()].into(),
    };
    let wire = diff_request(&request, &MODERN).unwrap();
    let elided = rich(&map("a", elided_asset()));
    assert_eq!(
        (&wire.olds, &wire.news, &wire.old_inputs),
        (&elided, &elided, &elided)
    );
    assert_eq!(
        (wire.id.as_str(), wire.ignore_changes.as_slice()),
        ("i", &["x".to_owned()][..])
    );
    assert_eq!(diff_config_request(&request).unwrap().id, "");
}

#[test]
fn differences_of_unknown_kind_are_updates() {
    let detail = |kind| pulumirpc::PropertyDiff {
        kind,
        input_diff: true,
    };
    let mut response = pulumirpc::DiffResponse {
        changes: 2,
        replaces: vec!["r".into()],
        detailed_diff: [
            ("a".to_owned(), detail(77)),
            ("b".to_owned(), detail(DiffKindOnWire::DeleteReplace as i32)),
        ]
        .into(),
        has_detailed_diff: true,
        ..Default::default()
    };
    let result = diff_response(&response);
    assert_eq!(
        (result.changes, result.replace_keys[0].as_str()),
        (DiffChanges::Some, "r")
    );
    let expected = |kind| PropertyDiff {
        kind,
        input_diff: true,
    };
    let detailed = BTreeMap::from([
        ("a".into(), expected(DiffKind::Update)),
        ("b".into(), expected(DiffKind::DeleteReplace)),
    ]);
    assert_eq!(result.detailed_diff, Some(detailed));
    response.has_detailed_diff = false;
    response.changes = 99;
    let result = diff_response(&response);
    assert_eq!(
        (result.changes, result.detailed_diff),
        (DiffChanges::Unknown, None)
    );
}

#[test]
fn create_must_answer_an_id() {
    let response = pulumirpc::CreateResponse {
        properties: rich(&map("s", "hush")),
        ..Default::default()
    };
    let error = create_response(&response, &create(false), &MODERN).unwrap_err();
    assert_eq!(
        error.message,
        format!("plugin returned empty resource.ID from create '{}'", urn())
    );
    assert_eq!(error.status, ResourceStatus::Unknown);
    let previewed =
        create_response(&response, &create(true), &ProviderFeatures::default()).unwrap();
    assert_eq!(
        (previewed.id, previewed.outputs),
        (ResourceId::Unknown, map("s", secret()))
    );
}

#[test]
fn update_elides_old_contents_only() {
    let request = UpdateRequest {
        urn: urn(),
        id: ResourceId::from_text("i"),
        old_inputs: map("a", text_asset()),
        old_outputs: map("a", text_asset()),
        new_inputs: map("a", text_asset()),
        ignore_changes: [].into(),
        timeout: 1.0,
        preview: false,
        old_views: Vec::new(),
        status: None,
    };
    let wire = update_request(&request, &MODERN).unwrap();
    assert_eq!(wire.news, rich(&map("a", text_asset())));
    assert_eq!(
        (&wire.olds, &wire.old_inputs),
        (
            &rich(&map("a", elided_asset())),
            &rich(&map("a", elided_asset()))
        )
    );
}

#[test]
fn read_gives_contents_back() {
    let request = read(Some(map("a", text_asset())));
    let wire = read_request(&request, &MODERN).unwrap();
    assert_eq!(wire.inputs, rich(&map("a", elided_asset())));
    assert_eq!(read_request(&read(None), &MODERN).unwrap().inputs, None);
    let response = pulumirpc::ReadResponse {
        id: "i".into(),
        properties: wire.properties,
        inputs: wire.inputs,
        refresh_before_update: true,
    };
    let answer = read_response(&response, &request, &MODERN).unwrap();
    assert_eq!(
        (answer.inputs, answer.outputs),
        (Some(map("a", text_asset())), Some(map("a", text_asset())))
    );
    let gone = pulumirpc::ReadResponse {
        id: String::new(),
        ..response
    };
    let answer = read_response(&gone, &request, &MODERN).unwrap();
    assert_eq!((answer.id, answer.outputs), (ResourceId::None, None));
}

#[test]
fn invoke_marks_everything_when_secrets_were_lost() {
    let request = InvokeRequest {
        token: TypeToken::new("a:b:c"),
        args: map("s", secret()),
        preview: true,
    };
    let response = pulumirpc::InvokeResponse {
        r#return: rich(&map("r", 1.0)),
        failures: Vec::new(),
    };
    assert_eq!(
        invoke_response(&response, &request, &MODERN)
            .unwrap()
            .result,
        map("r", 1.0)
    );
    let marked = invoke_response(&response, &request, &ProviderFeatures::default()).unwrap();
    assert_eq!(marked.result, map("r", Value::secret(1.0.into())));
    assert!(invoke_request(&request, &MODERN).unwrap().preview);
}

fn goal() -> Goal {
    Goal {
        type_token: TypeToken::new("d:e:F"),
        name: "n".into(),
        kind: ResourceKind::Component,
        properties: Arc::default(),
        parent: Some(urn()),
        protect: Some(false),
        dependencies: [urn()].into(),
        provider: None,
        property_dependencies: [("k".into(), [urn()].into())].into(),
        delete_before_replace: None,
        ignore_changes: ["i".into()].into(),
        hide_diff: [].into(),
        additional_secret_outputs: ["o".into()].into(),
        aliases: [plumb_resource::Alias::Urn(urn())].into(),
        import_id: None,
        custom_timeouts: Some(CustomTimeouts {
            create: 1000.0,
            ..Default::default()
        }),
        replace_on_changes: [].into(),
        replacement_trigger: Value::Null,
        retain_on_delete: None,
        deleted_with: None,
        replace_with: [].into(),
        source_position: None,
        stack_trace: [].into(),
        hooks: Hooks::new(),
        extension_ref: None,
        snippet_id: None,
    }
}

#[test]
fn construct_carries_options_and_outputs() {
    let output = Output {
        value: Some("v".into()),
        secret: false,
        dependencies: vec![urn().as_str().into()],
    };
    let inputs = map("k", Value::Output(Arc::new(output)));
    let providers = [("a".into(), "urn::id".into())].into();
    let request = ConstructRequest {
        goal: goal(),
        inputs: inputs.clone(),
        providers,
    };
    let wire = construct_request(&request, &MODERN, true).unwrap();
    assert_eq!(wire.inputs, rich(&inputs));
    assert_eq!(
        (wire.protect, wire.retain_on_delete, wire.dry_run),
        (Some(false), None, true)
    );
    assert_eq!(wire.custom_timeouts.as_ref().unwrap().create, "16m40s");
    let silent = ConstructRequest {
        goal: Goal {
            custom_timeouts: None,
            ..goal()
        },
        ..request.clone()
    };
    let silent = construct_request(&silent, &MODERN, true).unwrap();
    assert_eq!(silent.custom_timeouts, None);
    assert_eq!(wire.input_dependencies["k"].urns, [urn().to_string()]);
    assert_eq!(wire.providers["a"], "urn::id");
    assert_eq!(
        (
            wire.resource_hooks,
            wire.replacement_trigger,
            wire.accepts_output_values
        ),
        (None, None, true)
    );
    let older = ProviderFeatures {
        accept_secrets: false,
        ..MODERN
    };
    let error = construct_request(&request, &older, true).unwrap_err();
    assert_eq!(
        error.message,
        "plugins that can construct components must support secrets"
    );
    let response = pulumirpc::ConstructResponse {
        urn: urn().to_string(),
        state: rich(&inputs),
        state_dependencies: BTreeMap::new(),
    };
    let answer = construct_response(&response, true).unwrap();
    assert_eq!((answer.urn, answer.outputs), (urn(), inputs));
    assert_eq!(
        answer.dependencies,
        [("k".into(), [urn()].into())].into(),
        "from the output value"
    );
}

#[test]
fn calls_keep_secrets_whatever_was_negotiated() {
    let request = CallRequest {
        token: TypeToken::new("a:b:C/m"),
        args: map("s", secret()),
        dependencies: [("s".into(), [urn()].into())].into(),
    };
    let wire = call_request(&request, &ProviderFeatures::default(), false).unwrap();
    assert_eq!(wire.args, rich(&request.args));
    assert_eq!(wire.arg_dependencies["s"].urns, [urn().to_string()]);
    let dependencies = pulumirpc::call_response::ReturnDependencies {
        urns: vec!["nonsense".into()],
    };
    let mut response = pulumirpc::CallResponse {
        r#return: rich(&map("r", 1.0)),
        ..Default::default()
    };
    assert_eq!(
        call_response(&response, false).unwrap().result,
        map("r", 1.0)
    );
    response
        .return_dependencies
        .insert("r".into(), dependencies);
    assert_eq!(
        call_response(&response, false).unwrap_err().message,
        "invalid URN \"nonsense\""
    );
}

/// COMP-04
#[test]
fn calls_take_outputs_only_for_their_dependencies() {
    let output = |value: Option<Value>, secret, dependencies: Vec<ecow::EcoString>| {
        Value::Output(Arc::new(Output {
            value,
            secret,
            dependencies,
        }))
    };
    let depends = output(Some("v".into()), true, vec![urn().as_str().into()]);
    let args = PropertyMap::new()
        .with("plain", output(Some("v".into()), false, Vec::new()))
        .with("secret", output(Some("v".into()), true, Vec::new()))
        .with("unknown", output(None, false, Vec::new()))
        .with("depends", depends.clone());
    let expected = PropertyMap::new()
        .with("plain", "v")
        .with("secret", Value::secret("v".into()))
        .with("unknown", Value::UNKNOWN)
        .with("depends", depends);
    let request = CallRequest {
        token: TypeToken::new("a:b:C/m"),
        args: Arc::new(args),
        dependencies: plumb_resource::PropertyDependencies::new(),
    };
    let wire = call_request(&request, &MODERN, false).unwrap();
    assert_eq!(wire.args, rich(&expected));
}

#[test]
fn the_code_says_whether_the_resource_may_have_changed() {
    for (code, unknown) in [
        (Code::Internal, true),
        (Code::DataLoss, true),
        (Code::Unknown, true),
        (Code::InvalidArgument, false),
        (Code::Unavailable, false),
    ] {
        let error = delete_error(&Status::new(code, "no"));
        assert_eq!(
            (
                error.message.as_str(),
                error.status == ResourceStatus::Unknown
            ),
            ("no", unknown),
            "{code:?}"
        );
    }
    let waited = with_details(
        Code::Unknown,
        "slow",
        vec![to_any(&pulumirpc::ErrorResourceAwaitFailed {})],
    );
    assert!(is_await_failure(&waited));
    assert_eq!(
        create_error(&waited, &create(false), &MODERN).status,
        ResourceStatus::Unchanged
    );
}

#[test]
fn partial_failures_tell_what_there_is() {
    let failed = pulumirpc::ErrorResourceInitFailed {
        id: "i".into(),
        properties: rich(&map("s", "hush")),
        reasons: vec!["not ready".into(), "no, really".into()],
        inputs: None,
        refresh_before_update: true,
    };
    let status = with_details(Code::Unknown, "x", vec![to_any(&failed)]);
    let error = create_error(&status, &create(false), &ProviderFeatures::default());
    assert_eq!(
        error.message,
        "2 errors occurred:\n\t* not ready\n\t* no, really"
    );
    let ResourceStatus::Partial(partial) = error.status else {
        panic!("{:?}", error.status)
    };
    assert_eq!(
        (partial.id, partial.outputs),
        (ResourceId::from_text("i"), Some(map("s", secret())))
    );
    assert_eq!(
        (partial.inputs, partial.refresh_before_update),
        (None, true)
    );
    let broken = pulumirpc::ErrorResourceInitFailed {
        properties: rich(&map("u", Value::UNKNOWN)),
        ..failed.clone()
    };
    let status = with_details(Code::Unknown, "x", vec![to_any(&broken)]);
    assert_eq!(
        create_error(&status, &create(false), &MODERN).status,
        ResourceStatus::Unknown
    );
    let status = with_details(Code::Unknown, "x", vec![to_any(&failed)]);
    let error = read_error(&status, &read(None), &MODERN);
    assert!(matches!(error.status, ResourceStatus::Partial(_)));
    assert_eq!(init_error_message::<&str>(&[]), "resource init failed");
}

#[test]
fn missing_keys_are_explained() {
    let key = pulumirpc::configure_error_missing_keys::MissingKey {
        name: "aws:region".into(),
        description: "Where.".into(),
    };
    let details = pulumirpc::ConfigureErrorMissingKeys {
        missing_keys: vec![key],
    };
    let error = configure_error(&with_details(
        Code::InvalidArgument,
        "x",
        vec![to_any(&details)],
    ));
    let expected = "1 error occurred:\n\
                    \t* missing required configuration key \"aws:region\": Where.\n\
                    Set a value using the command `pulumi config set aws:region <value>`.";
    assert_eq!(error.message, expected);
}

#[test]
fn problems_with_inputs_are_listed_without_secrets() {
    let problem = |path: &str| pulumirpc::input_properties_error::PropertyError {
        property_path: path.into(),
        reason: "it is wrong".into(),
    };
    let list = Value::array([map("k", "v").as_ref().clone().into(), secret()]);
    let inputs = PropertyMap::new().with("list", list);
    let paths = ["list[0].k", "list[1]", "gone.x", "list[0][\"k\"]"];
    let details = pulumirpc::InputPropertiesError {
        errors: paths.map(problem).into(),
    };
    let cause = pulumirpc::ErrorCause {
        message: "why".into(),
        stack_trace: String::new(),
    };
    let status = with_details(
        Code::InvalidArgument,
        "bad",
        vec![to_any(&details), to_any(&cause)],
    );
    let error = construct_error(&status, &inputs);
    let expected = "bad: why\
        \n\t\t- property list[0].k with value '{v}' has a problem: it is wrong\
        \n\t\t- property list[1] with value '[secret]' has a problem: it is wrong\
        \n\t\t- property gone.x has a problem: it is wrong\
        \n\t\t- property list[0][\"k\"] with value '{v}' has a problem: it is wrong";
    assert_eq!(error.message, expected);
    assert_eq!(error.properties.len(), 4);
    assert!(!error.message.contains("hush"));

    // A provider may leave the message out. The words for its code would say less than the problems.
    let inputs = PropertyMap::new().with("list", Value::array([Value::from(1.0), Value::Null]));
    let details = pulumirpc::InputPropertiesError {
        errors: vec![problem("list")],
    };
    let status = with_details(Code::InvalidArgument, "", vec![to_any(&details)]);
    let error = construct_error(&status, &inputs);
    let expected = "\n\t\t- property list with value '{[{1} {<nil>}]}' has a problem: it is wrong";
    assert_eq!(error.message, expected);
}
