//! Whole runs of the shell, with programs in this process.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod policies;
mod secrets;
mod support;

use std::sync::Arc;

use plumb_deploy::request::{Callback, RegisterRequest, Reply, Request};
use plumb_engine::monitor::ResourceMonitor;
use plumb_engine::program::ProgramResult;
use plumb_events::{OperationResult, Severity};
use plumb_proto::codegen::GetSchemaRequest;
use plumb_proto::codegen::loader_client::LoaderClient;
use plumb_proto::pulumirpc::callbacks_server::{Callbacks, CallbacksServer};
use plumb_proto::pulumirpc::{CallbackInvokeRequest, CallbackInvokeResponse};
use support::{Constructor, SCHEMA, run, run_with_loader};
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Response, Status};

fn group(name: &str) -> RegisterRequest {
    RegisterRequest::new("test:index:Group", name, false)
}

async fn register(monitor: &Arc<dyn ResourceMonitor>, request: RegisterRequest) -> Reply {
    monitor.request(Request::Register(Box::new(request))).await
}

/// COMP-02
#[tokio::test]
async fn constructors_are_told_of_project_stack_and_organization() {
    let constructor = Constructor::default();
    let ran = run(
        &constructor,
        |monitor: Arc<dyn ResourceMonitor>| async move {
            let far = RegisterRequest {
                remote: true,
                ..group("far")
            };
            let Reply::Registered(_) = register(&monitor, far).await else {
                return ProgramResult::Bailed;
            };
            ProgramResult::Finished
        },
    )
    .await;
    ran.succeeded();
    let contexts = constructor.contexts.lock().unwrap();
    let [context] = contexts.as_slice() else {
        panic!("{contexts:?}");
    };
    assert_eq!(
        (&*context.project, &*context.stack, &*context.organization),
        ("proj", "dev", "org")
    );
}

/// SHUTDOWN-01, SHUTDOWN-04: errors that a program reports after the end of the deployment count.
#[tokio::test]
async fn a_program_that_fails_after_the_wait_fails_the_operation() {
    for fails in [false, true] {
        let ran = run(
            &Constructor::default(),
            move |monitor: Arc<dyn ResourceMonitor>| async move {
                register(&monitor, group("a")).await;
                let reply = monitor.request(Request::SignalAndWaitForShutdown).await;
                if reply == Reply::Done && fails {
                    return ProgramResult::Failed {
                        message: "after the end".to_owned(),
                    };
                }
                ProgramResult::Finished
            },
        )
        .await;
        if fails {
            assert_eq!(ran.outcome.result, OperationResult::Failed);
            let said = "an unhandled error occurred: after the end";
            assert_eq!(ran.outcome.error.as_deref(), Some(said));
            assert_eq!(ran.errors, [said]);
        } else {
            ran.succeeded();
        }
    }
}

/// An error that a program logs is shown; whether the program fails is for its SDK to say.
#[tokio::test]
async fn a_logged_error_alone_does_not_fail_the_operation() {
    for fails in [false, true] {
        let ran = run(
            &Constructor::default(),
            move |monitor: Arc<dyn ResourceMonitor>| async move {
                register(&monitor, group("a")).await;
                monitor.log(Severity::Error, None, "careful");
                if fails {
                    ProgramResult::Bailed
                } else {
                    ProgramResult::Finished
                }
            },
        )
        .await;
        let expected = if fails {
            OperationResult::Failed
        } else {
            OperationResult::Succeeded
        };
        assert_eq!(ran.outcome.result, expected);
        assert_eq!(ran.errors, ["careful"]);
    }
}

/// SDKs report a request that fails because the deployment is over as an error of the program.
#[tokio::test]
async fn failed_requests_of_a_cancelled_program_are_not_errors_of_their_own() {
    let ran = run(
        &Constructor::default(),
        |monitor: Arc<dyn ResourceMonitor>| async move {
            let refused = RegisterRequest::new("test:index:Thing", "refused", true);
            let reply = register(&monitor, refused).await;
            assert!(matches!(reply, Reply::Failed(_)), "{reply:?}");
            // Answered by nobody, because the deployment is over.
            let reply = register(&monitor, group("late")).await;
            assert!(matches!(reply, Reply::Failed(_)), "{reply:?}");
            monitor.log(Severity::Error, None, "the monitor has terminated");
            ProgramResult::Bailed
        },
    )
    .await;
    assert_eq!(ran.outcome.result, OperationResult::Failed);
    let [error] = ran.errors.as_slice() else {
        panic!("{:?}", ran.errors);
    };
    assert!(error.contains("this provider only constructs"), "{error}");
}

/// LOADER-01: schemas are requested from providers, each once.
#[tokio::test]
async fn the_loader_serves_schemas_of_providers() {
    let constructor = Constructor::default();
    let ran = run_with_loader(&constructor, |address| async move {
        let endpoint = tonic::transport::Endpoint::from_shared(format!("http://{address}"));
        let mut loader = LoaderClient::new(endpoint.unwrap().connect_lazy());
        let of = |package: &str| GetSchemaRequest {
            package: package.to_owned(),
            ..GetSchemaRequest::default()
        };
        for _ in 0..2 {
            let schema = loader.get_schema(of("test")).await.unwrap().into_inner();
            assert_eq!(schema.schema, SCHEMA.as_bytes());
        }
        // Programs request the schemas of the engine's own types like those of plugins.
        let own = loader.get_schema(of("pulumi")).await.unwrap().into_inner();
        let own: serde_json::Value = serde_json::from_slice(&own.schema).unwrap();
        assert!(own["resources"]["pulumi:index:Stash"].is_object(), "{own}");
        let nowhere = loader.get_schema(of("nowhere")).await.unwrap_err();
        assert!(
            nowhere
                .message()
                .starts_with("could not load the schema of nowhere: "),
            "{nowhere}"
        );
        let bad = GetSchemaRequest {
            version: "best".to_owned(),
            ..of("test")
        };
        let bad = loader.get_schema(bad).await.unwrap_err();
        assert_eq!(bad.message(), "invalid version \"best\"");
        ProgramResult::Finished
    })
    .await;
    ran.succeeded();
    assert_eq!(*constructor.schemas_told.lock().unwrap(), 1);
}

/// Callbacks that fail.
struct BadCallbacks;

#[tonic::async_trait]
impl Callbacks for BadCallbacks {
    async fn invoke(
        &self,
        request: tonic::Request<CallbackInvokeRequest>,
    ) -> Result<Response<CallbackInvokeResponse>, Status> {
        match request.into_inner().token.as_str() {
            "undecodable" => Ok(Response::new(CallbackInvokeResponse {
                response: b"not a response".to_vec(),
            })),
            _ => Err(Status::unknown("bad transform")),
        }
    }
}

/// XFORM-02, XFORM-03
#[tokio::test]
async fn bad_transforms_fail_the_registration_and_the_operation() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = listener.local_addr().unwrap().to_string();
    let server = tonic::transport::Server::builder()
        .add_service(CallbacksServer::new(BadCallbacks))
        .serve_with_incoming(TcpListenerStream::new(listener));
    let server = tokio::spawn(server);
    for (token, message) in [
        (
            "undecodable",
            "invoke transform: unmarshaling transform response: proto: ",
        ),
        (
            "failing",
            "invoke transform: rpc error: code = Unknown desc = bad transform",
        ),
    ] {
        let bad = Callback {
            target: target.as_str().into(),
            token: token.into(),
            accepts_byte_string: true,
        };
        let mut request = group("a");
        request.transforms.push(bad);
        let ran = run(
            &Constructor::default(),
            move |monitor: Arc<dyn ResourceMonitor>| {
                let request = request.clone();
                async move {
                    match register(&monitor, request).await {
                        Reply::Failed(error) => ProgramResult::Failed {
                            message: error.to_string(),
                        },
                        _ => ProgramResult::Finished,
                    }
                }
            },
        )
        .await;
        assert_eq!(ran.outcome.result, OperationResult::Failed);
        let expected = format!("an unhandled error occurred: {message}");
        assert!(ran.errors[0].starts_with(&expected), "{:?}", ran.errors);
    }
    server.abort();
}
