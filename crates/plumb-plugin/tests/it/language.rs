//! Clients of language hosts, with a host inside the test.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::{Stream, StreamExt, stream};
use plumb_plugin::language::{InstallRequest, ProgramInfo, RunOutcome, RunRequest};
use plumb_plugin::{GrpcLanguageHost, LanguageRuntime, PluginHost};
use plumb_proto::pulumirpc as pb;
use plumb_proto::pulumirpc::language_runtime_server::{
    LanguageRuntime as Service, LanguageRuntimeServer,
};
use plumb_proto::pulumirpc::resource_provider_server::{ResourceProvider, ResourceProviderServer};
use plumb_resource::provider::PluginSpec;
use tokio_stream::wrappers::TcpListenerStream;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status};

use crate::support::World;

#[derive(Clone, Default)]
struct FakeHost {
    /// Answer to Run; without one, Run waits for Cancel.
    answer: Option<pb::RunResponse>,
    cancelled: CancellationToken,
    /// Whether the host is older than the Cancel call.
    is_deaf: bool,
    requests: Arc<Mutex<Vec<pb::RunRequest>>>,
}

type Chunks<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

#[tonic::async_trait]
impl Service for FakeHost {
    #[allow(deprecated, reason = "the call of older hosts is what is tested")]
    async fn get_required_plugins(
        &self,
        _: Request<pb::GetRequiredPluginsRequest>,
    ) -> Result<Response<pb::GetRequiredPluginsResponse>, Status> {
        let plugin = |name: &str, version: &str| pb::PluginDependency {
            name: name.to_owned(),
            kind: "resource".to_owned(),
            version: version.to_owned(),
            ..Default::default()
        };
        let plugins = vec![plugin("random", "v4.1"), plugin("aws", "")];
        Ok(Response::new(pb::GetRequiredPluginsResponse { plugins }))
    }

    async fn run(
        &self,
        request: Request<pb::RunRequest>,
    ) -> Result<Response<pb::RunResponse>, Status> {
        self.requests.lock().unwrap().push(request.into_inner());
        if let Some(answer) = &self.answer {
            return Ok(Response::new(answer.clone()));
        }
        self.cancelled.cancelled().await;
        Ok(Response::new(pb::RunResponse {
            error: String::new(),
            bail: true,
        }))
    }

    async fn install_dependencies(
        &self,
        _: Request<pb::InstallDependenciesRequest>,
    ) -> Result<Response<Chunks<pb::InstallDependenciesResponse>>, Status> {
        let chunk = |text: &str| {
            Ok(pb::InstallDependenciesResponse {
                stdout: text.as_bytes().to_vec(),
                stderr: Vec::new(),
            })
        };
        Ok(Response::new(
            stream::iter([chunk("first li"), chunk("ne\n\nsecond"), chunk(" line")]).boxed(),
        ))
    }

    async fn run_plugin(
        &self,
        request: Request<pb::RunPluginRequest>,
    ) -> Result<Response<Chunks<pb::RunPluginResponse>>, Status> {
        use pb::run_plugin_response::Output;
        let event = |output| {
            Ok(pb::RunPluginResponse {
                output: Some(output),
            })
        };
        if request
            .get_ref()
            .info
            .as_ref()
            .unwrap()
            .program_directory
            .ends_with("broken")
        {
            let events = [
                event(Output::Stderr(b"no compiler\n".to_vec())),
                event(Output::Exitcode(2)),
            ];
            return Ok(Response::new(stream::iter(events).boxed()));
        }
        let address = serve_provider().await;
        let port = address.rsplit(':').next().unwrap();
        let first = event(Output::Stdout(format!("{port}\n").into_bytes()));
        Ok(Response::new(
            stream::iter([first]).chain(stream::pending()).boxed(),
        ))
    }

    async fn cancel(&self, _: Request<()>) -> Result<Response<()>, Status> {
        if self.is_deaf {
            return Err(Status::unimplemented("no such call"));
        }
        self.cancelled.cancel();
        Ok(Response::new(()))
    }
}

/// A provider of the older kind, which does not know the handshake.
struct OldProvider;

#[tonic::async_trait]
impl ResourceProvider for OldProvider {
    async fn get_plugin_info(&self, _: Request<()>) -> Result<Response<pb::PluginInfo>, Status> {
        Ok(Response::new(pb::PluginInfo {
            version: "1.2.3".to_owned(),
        }))
    }
}

async fn listen() -> (tokio::net::TcpListener, String) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

async fn serve_provider() -> String {
    let (listener, address) = listen().await;
    let service = ResourceProviderServer::new(OldProvider);
    let server = tonic::transport::Server::builder().add_service(service);
    tokio::spawn(server.serve_with_incoming(TcpListenerStream::new(listener)));
    address
}

async fn serve(host: FakeHost) -> String {
    let (listener, address) = listen().await;
    let server = tonic::transport::Server::builder().add_service(LanguageRuntimeServer::new(host));
    tokio::spawn(server.serve_with_incoming(TcpListenerStream::new(listener)));
    address
}

async fn dial(host: FakeHost) -> GrpcLanguageHost {
    GrpcLanguageHost::dial("client", &serve(host).await, Duration::from_secs(5))
        .await
        .unwrap()
}

fn info() -> ProgramInfo {
    ProgramInfo {
        root_directory: "/project".into(),
        program_directory: "/project/infra".into(),
        entry_point: ".".to_owned(),
        options: serde_json::json!({"typescript": true, "nested": {"list": [1, null]}})
            .as_object()
            .unwrap()
            .clone(),
    }
}

fn run_request() -> RunRequest {
    RunRequest {
        info: info(),
        working_directory: "/project/infra".into(),
        project: "proj".to_owned(),
        stack: "dev".to_owned(),
        organization: "org".to_owned(),
        args: vec!["a".to_owned()],
        config: [("proj:key".to_owned(), "value".to_owned())].into(),
        config_secret_keys: Vec::new(),
        dry_run: true,
        parallel: 3,
        monitor_address: "127.0.0.1:2".to_owned(),
        loader_target: String::new(),
        mapper_target: String::new(),
        attach_debugger: false,
    }
}

#[tokio::test]
async fn runs_end_well_or_not() {
    let response = |error: &str, bail| pb::RunResponse {
        error: error.to_owned(),
        bail,
    };
    for (answer, expected) in [
        (response("", false), RunOutcome::Succeeded),
        (response("", true), RunOutcome::Bailed),
        (
            response("it broke", false),
            RunOutcome::Failed("it broke".to_owned()),
        ),
    ] {
        let fake = FakeHost {
            answer: Some(answer),
            ..FakeHost::default()
        };
        let host = dial(fake.clone()).await;
        assert_eq!(
            host.run(run_request(), CancellationToken::new())
                .await
                .unwrap(),
            expected
        );
        let requests = fake.requests.lock().unwrap();
        assert_eq!(
            (
                requests[0].stack.as_str(),
                requests[0].dry_run,
                requests[0].parallel
            ),
            ("dev", true, 3)
        );
        let options = requests[0].info.as_ref().unwrap().options.as_ref().unwrap();
        assert!(options.fields.contains_key("typescript"));
    }
}

/// PULUMI-30
#[tokio::test]
async fn an_sdk_that_runs_programs_itself_is_dialled() {
    let world = World::new();
    let fake = FakeHost {
        answer: Some(pb::RunResponse::default()),
        ..FakeHost::default()
    };
    let mut options = world.options();
    let address = serve(fake.clone()).await;
    options
        .runtime_options
        .insert("address".to_owned(), address);
    let host = PluginHost::new(options).language("client").await.unwrap();
    let run = host.run(run_request(), CancellationToken::new());
    assert_eq!(run.await.unwrap(), RunOutcome::Succeeded);
    assert_eq!(fake.requests.lock().unwrap().len(), 1);
}

/// PULUMI-10
#[tokio::test]
async fn a_cancelled_run_tells_the_host() {
    let fake = FakeHost::default();
    let host = dial(fake.clone()).await;
    let cancel = CancellationToken::new();
    let stop = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(host.run(run_request(), cancel.clone()), stop);
    assert_eq!(outcome.unwrap(), RunOutcome::Bailed);
    assert!(fake.cancelled.is_cancelled());
}

/// SDKs that run a program in their own process do not know Cancel, so a program that hangs is soon abandoned.
#[tokio::test]
async fn a_host_that_knows_no_cancel_is_waited_for_shortly() {
    let fake = FakeHost {
        is_deaf: true,
        ..FakeHost::default()
    };
    let host = dial(fake.clone()).await;
    let cancel = CancellationToken::new();
    cancel.cancel();
    // A host that knows the call would have five seconds.
    let run = tokio::time::timeout(Duration::from_secs(4), host.run(run_request(), cancel));
    assert_eq!(run.await.unwrap().unwrap(), RunOutcome::Bailed);
}

#[tokio::test]
async fn older_hosts_list_plugins() {
    let host = dial(FakeHost::default()).await;
    let packages = host.required_packages(&info()).await.unwrap().packages;
    let shown: Vec<_> = packages
        .iter()
        .map(|package| {
            (
                package.name.as_str(),
                package.version.as_ref().map(ToString::to_string),
            )
        })
        .collect();
    assert_eq!(shown, [("random", Some("4.1.0".to_owned())), ("aws", None)]);
    assert_eq!(host.version().await.unwrap(), None);
}

#[tokio::test]
async fn chunks_of_output_become_lines() {
    let world = World::new();
    let host = dial(FakeHost::default()).await;
    let request = InstallRequest {
        info: info(),
        is_terminal: false,
        use_language_version_tools: false,
        is_plugin: false,
    };
    host.install_dependencies(request, world.sink())
        .await
        .unwrap();
    assert_eq!(world.texts(), ["first line", "", "second line"]);
}

fn source_plugin_host(world: &World, folder: &str, address: &str) -> PluginHost {
    let directory = world.root.path().join(folder);
    std::fs::create_dir(&directory).unwrap();
    std::fs::write(directory.join("PulumiPlugin.yaml"), "runtime: fake\n").unwrap();
    let mut options = world.options();
    options
        .discovery
        .project
        .push(plumb_plugin::discovery::ProjectPlugin {
            kind: plumb_plugin::PluginKind::Resource,
            name: "source".to_owned(),
            version: None,
            path: directory,
        });
    let port = address.rsplit(':').next().unwrap().parse().unwrap();
    options.attached_languages.insert("fake".to_owned(), port);
    PluginHost::new(options)
}

/// A host under a debugger, which knows the handshake.
#[derive(Clone)]
struct Debugged(FakeHost);

#[tonic::async_trait]
impl Service for Debugged {
    async fn handshake(
        &self,
        _: Request<pb::LanguageHandshakeRequest>,
    ) -> Result<Response<pb::LanguageHandshakeResponse>, Status> {
        Ok(Response::new(pb::LanguageHandshakeResponse {}))
    }

    async fn run_plugin(
        &self,
        request: Request<pb::RunPluginRequest>,
    ) -> Result<Response<Chunks<pb::RunPluginResponse>>, Status> {
        self.0.run_plugin(request).await
    }
}

impl Debugged {
    async fn serve(self) -> String {
        let (listener, address) = listen().await;
        let server =
            tonic::transport::Server::builder().add_service(LanguageRuntimeServer::new(self));
        tokio::spawn(server.serve_with_incoming(TcpListenerStream::new(listener)));
        address
    }
}

#[tokio::test]
async fn sources_are_run_by_their_language_host() {
    let world = World::new();
    let address = Debugged(FakeHost::default()).serve().await;
    let host = source_plugin_host(&world, "good", &address);
    let provider = host.provider(&PluginSpec::named("source")).await.unwrap();
    assert_eq!(
        provider.info().await.unwrap().version,
        Some(semver::Version::new(1, 2, 3))
    );
    host.shutdown().await;
}

#[tokio::test]
async fn sources_that_do_not_run_show_their_output() {
    let world = World::new();
    let address = Debugged(FakeHost::default()).serve().await;
    let host = source_plugin_host(&world, "broken", &address);
    let Err(error) = host.provider(&PluginSpec::named("source")).await else {
        panic!("it started")
    };
    let text = error.to_string();
    assert!(
        text.contains("exit status 2") && text.ends_with("no compiler"),
        "{text}"
    );
}
