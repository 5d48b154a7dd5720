//! The resource monitor as SDKs see it, with a scripted deployment.

use std::path::PathBuf;
use std::sync::Arc;

use plumb_deploy::request::{Outcome, RegisterReply, RegisterRequest, Reply, Request};
use plumb_proto::pulumirpc::alias::{self, spec};
use plumb_proto::pulumirpc::engine_server::Engine as _;
use plumb_proto::pulumirpc::resource_monitor_server::ResourceMonitor as _;
use plumb_proto::pulumirpc::{
    Alias, LogRequest, RegisterResourceRequest, RegisterResourceResponse, SupportsFeatureRequest,
};
use plumb_resource::{Alias as Former, AliasParent, AliasSpec, ResourceId, Urn};
use plumb_value::{PropertyMap, ReferenceId, ResourceReference, Value};
use plumb_wire::MarshalOptions;
use plumb_wire::property::decode_map;
use tonic::{Code, Status};

use super::engine::EngineService;
use super::monitor::MonitorService;
use crate::monitor::{DebugMessages, Incoming, MonitorHandle};
use crate::program::ProgramContext;

fn info() -> ProgramContext {
    ProgramContext {
        project: "proj".to_owned(),
        stack: "dev".to_owned(),
        organization: "organization".to_owned(),
        config: Arc::default(),
        config_secret_keys: Arc::default(),
        dry_run: false,
        parallel: 1,
        resource_references: true,
        root_directory: PathBuf::from("/"),
        program_directory: PathBuf::from("/"),
        monitor_address: String::new(),
        engine_address: String::new(),
    }
}

/// A monitor whose registrations are answered by `answer`.
fn monitor(
    info: ProgramContext,
    answer: impl Fn(RegisterRequest) -> RegisterReply + Send + 'static,
) -> MonitorService {
    let (handle, mut incoming) = MonitorHandle::new(PathBuf::from("/"), DebugMessages::Told);
    tokio::spawn(async move {
        while let Some(incoming) = incoming.recv().await {
            if let Incoming::Request(Request::Register(request), reply) = incoming {
                let _ = reply.send(Reply::Registered(answer(*request)));
            }
        }
    });
    MonitorService::new(handle, info, PathBuf::from("/"))
}

fn reply(outputs: PropertyMap) -> RegisterReply {
    RegisterReply {
        urn: Urn::new("dev", "proj", "", "test:index:Thing", "a"),
        id: ResourceId::Known("a-1".into()),
        outputs: outputs.into(),
        property_dependencies: plumb_resource::PropertyDependencies::new(),
        outcome: Outcome::Success,
        unknown: false,
    }
}

fn thing() -> RegisterResourceRequest {
    RegisterResourceRequest {
        r#type: "test:index:Thing".to_owned(),
        name: "a".to_owned(),
        custom: true,
        ..RegisterResourceRequest::default()
    }
}

/// Registers a resource with a deployment that answers `outputs`.
async fn register(
    request: RegisterResourceRequest,
    outputs: PropertyMap,
) -> Result<RegisterResourceResponse, Status> {
    let monitor = monitor(info(), move |_| reply(outputs.clone()));
    let response = monitor.register_resource(tonic::Request::new(request));
    response.await.map(tonic::Response::into_inner)
}

/// Aliases that the deployment receives from an SDK of this runtime.
async fn aliases_of(
    runtime: &'static str,
    request: RegisterResourceRequest,
) -> ecow::EcoVec<Former> {
    let (seen, mut sees) = tokio::sync::mpsc::unbounded_channel();
    let monitor = monitor(info(), move |request| {
        seen.send(request.aliases).expect("the test listens");
        reply(PropertyMap::new())
    });
    let mut request = tonic::Request::new(request);
    let metadata = request.metadata_mut();
    metadata.insert("pulumi-runtime", runtime.parse().expect("plain text"));
    monitor.register_resource(request).await.expect("a reply");
    sees.recv().await.expect("it was seen")
}

/// ALIAS-02: an old Node.js SDK omits the parent to say that there was none, and sets "no parent" to mean the current one.
/// Other SDKs encode the parent literally.
#[tokio::test]
async fn old_node_sdks_say_parents_in_their_own_way() {
    let urn = Urn::new("dev", "proj", "", "test:index:Thing", "p");
    let unsaid = None;
    let empty = Some(spec::Parent::ParentUrn(String::new()));
    let none = Some(spec::Parent::NoParent(true));
    let some = Some(spec::Parent::ParentUrn(urn.to_string()));
    let some_urn = AliasParent::Urn(urn);
    let cases = [
        (&unsaid, AliasParent::None, AliasParent::Same),
        (&empty, AliasParent::None, AliasParent::Same),
        (&none, AliasParent::Same, AliasParent::None),
        (&some, some_urn.clone(), some_urn),
    ];
    for (parent, by_old_node, literally) in cases {
        for (runtime, alias_specs, expected) in [
            ("nodejs", false, &by_old_node),
            ("nodejs", true, &literally),
            ("python", false, &literally),
        ] {
            let spec = alias::Spec {
                parent: parent.clone(),
                ..alias::Spec::default()
            };
            let alias = Alias {
                alias: Some(alias::Alias::Spec(spec)),
            };
            let request = RegisterResourceRequest {
                aliases: vec![alias],
                alias_specs,
                ..thing()
            };
            let former = AliasSpec {
                parent: expected.clone(),
                ..AliasSpec::default()
            };
            assert_eq!(
                aliases_of(runtime, request).await,
                [Former::Spec(former)],
                "{parent:?} by {runtime}, {alias_specs}"
            );
        }
    }
}

/// PULUMI-47
#[tokio::test]
async fn bad_urns_in_options_are_told_apart() {
    let bad = || "very-bad urn".to_owned();
    let parent_alias = Alias {
        alias: Some(alias::Alias::Spec(alias::Spec {
            parent: Some(spec::Parent::ParentUrn(bad())),
            ..alias::Spec::default()
        })),
    };
    let cases = [
        (
            "alias",
            RegisterResourceRequest {
                alias_ur_ns: vec![bad()],
                ..thing()
            },
        ),
        (
            "parent alias",
            RegisterResourceRequest {
                aliases: vec![parent_alias],
                ..thing()
            },
        ),
        (
            "parent",
            RegisterResourceRequest {
                parent: bad(),
                ..thing()
            },
        ),
        (
            "DeletedWith",
            RegisterResourceRequest {
                deleted_with: bad(),
                ..thing()
            },
        ),
        (
            "dependency",
            RegisterResourceRequest {
                dependencies: vec![bad()],
                ..thing()
            },
        ),
    ];
    for (what, request) in cases {
        let status = register(request, PropertyMap::new()).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument);
        let expected = format!("invalid {what} URN: invalid URN \"very-bad urn\"");
        assert_eq!(status.message(), expected);
    }
}

/// COE-05, COE-06: an SDK that does not support results gets an error instead.
#[tokio::test]
async fn failed_registrations_are_errors_for_sdks_that_know_no_results() {
    for outcome in [Outcome::Failed, Outcome::Skipped] {
        for supports_result_reporting in [false, true] {
            let monitor = monitor(info(), move |_| RegisterReply {
                outcome,
                ..reply(PropertyMap::new())
            });
            let request = RegisterResourceRequest {
                supports_result_reporting,
                ..thing()
            };
            let response = monitor
                .register_resource(tonic::Request::new(request))
                .await;
            match response {
                Ok(_) => assert!(supports_result_reporting),
                Err(status) => {
                    assert!(!supports_result_reporting);
                    assert_eq!(
                        (status.code(), status.message()),
                        (Code::Internal, "resource registration failed")
                    );
                }
            }
        }
    }
}

fn reference(name: &str, id: ReferenceId) -> Value {
    let urn = Urn::new("dev", "proj", "", "test:index:Thing", name);
    Value::Resource(Arc::new(ResourceReference {
        urn: urn.as_str().into(),
        id,
        name: None,
        type_token: None,
        package_version: "".into(),
    }))
}

/// RREF-02, RREF-05: an SDK that accepts references gets them with name and type; other SDKs get URNs and ids.
#[tokio::test]
async fn references_in_answers_are_for_sdks_that_take_them() {
    let outputs = PropertyMap::new()
        .with("component", reference("c", ReferenceId::None))
        .with("custom", reference("b", ReferenceId::Known("b-1".into())))
        .with("later", reference("l", ReferenceId::Unknown));
    for accept_resources in [true, false] {
        let request = RegisterResourceRequest {
            accept_resources,
            supports_partial_values: true,
            ..thing()
        };
        let response = register(request, outputs.clone()).await.expect("a reply");
        let object = response.object.as_ref();
        let told = decode_map(object, MarshalOptions::RICH).expect("properties");
        if accept_resources {
            let Some(Value::Resource(custom)) = told.get("custom") else {
                panic!("a reference is a reference");
            };
            assert_eq!(custom.name.as_deref(), Some("b"));
            assert_eq!(custom.type_token.as_deref(), Some("test:index:Thing"));
            assert_eq!(custom.id, ReferenceId::Known("b-1".into()));
        } else {
            let expected = PropertyMap::new()
                .with("component", "urn:pulumi:dev::proj::test:index:Thing::c")
                .with("custom", "b-1")
                .with("later", Value::UNKNOWN);
            assert_eq!(told, expected);
        }
    }
}

/// RREF-03: programs can see that references are disabled.
#[tokio::test]
async fn references_may_be_switched_off() {
    for resource_references in [true, false] {
        let info = ProgramContext {
            resource_references,
            ..info()
        };
        let monitor = monitor(info, |_| reply(PropertyMap::new()));
        let feature = SupportsFeatureRequest {
            id: "resourceReferences".to_owned(),
        };
        let response = monitor.supports_feature(tonic::Request::new(feature)).await;
        assert_eq!(
            response.expect("an answer").into_inner().has_support,
            resource_references
        );
    }
}

/// PULUMI-18: plugins may log after the receiver was dropped.
#[tokio::test]
async fn logs_after_the_end_are_dropped() {
    let (handle, incoming) = MonitorHandle::new(PathBuf::from("/"), DebugMessages::Told);
    drop(incoming);
    let engine = EngineService::new(handle, semver::Version::new(0, 0, 0));
    let late = tonic::Request::new(LogRequest {
        message: "late".to_owned(),
        ..LogRequest::default()
    });
    engine.log(late).await.expect("no harm is done");
}
