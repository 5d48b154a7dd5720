//! Policy packs: loading, concurrent calls, and shutdown.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use plumb_deploy::request::RegisterRequest;
use plumb_engine::monitor::ResourceMonitor;
use plumb_engine::policies::{AcquireError, LocalPack, PolicyPacks, RequiredPack};
use plumb_engine::program::ProgramResult;
use plumb_events::OperationResult;
use plumb_plugin::PackPlace;
use plumb_plugin::process::Environment;
use plumb_proto::pulumirpc as pb;
use plumb_proto::pulumirpc::analyzer_server::{Analyzer, AnalyzerServer};
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;
use tokio::sync::{Barrier, watch};
use tokio::time::timeout;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Request, Response, Status};

use crate::support::{Ran, run_with_policies};
use crate::{group, register};

/// Limit that no step of these tests reaches.
const LONG: Duration = Duration::from_secs(20);

/// A policy pack in this process.
#[derive(Clone, Default)]
struct Pack {
    name: &'static str,
    /// Calls in the order of their start.
    calls: Arc<Mutex<Vec<String>>>,
    stack: Arc<Mutex<Option<pb::AnalyzerStackConfigureRequest>>>,
    config: Arc<Mutex<Option<pb::ConfigureAnalyzerRequest>>>,
    /// Analyses wait until this number of packs has begun one.
    together: Option<Arc<Barrier>>,
    /// Number of packs that run an analysis now, and the maximum so far.
    busy: Arc<Mutex<(u32, u32)>>,
    /// Notified of the first analysis, which never ends.
    hangs: Option<Arc<tokio::sync::Notify>>,
    /// Whether the pack knows only the oldest calls.
    is_old: bool,
}

impl Pack {
    fn note(&self, call: impl Into<String>) {
        self.calls.lock().unwrap().push(call.into());
    }

    fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap().clone()
    }

    fn unless_old(&self) -> Result<(), Status> {
        if self.is_old {
            return Err(Status::unimplemented("what is that?"));
        }
        Ok(())
    }

    async fn judge(&self) -> Result<Response<pb::AnalyzeResponse>, Status> {
        {
            let mut busy = self.busy.lock().unwrap();
            busy.0 += 1;
            busy.1 = busy.1.max(busy.0);
        }
        if let Some(begun) = &self.hangs {
            begun.notify_one();
            std::future::pending::<()>().await;
        }
        if let Some(together) = &self.together {
            let met = timeout(LONG, together.wait()).await;
            met.map_err(|_| Status::aborted(format!("{} is alone", self.name)))?;
        } else {
            tokio::task::yield_now().await;
        }
        self.busy.lock().unwrap().0 -= 1;
        Ok(Response::new(pb::AnalyzeResponse::default()))
    }

    /// Serves the pack; the pack's executable prints the port of this server.
    async fn serve(&self, folder: &tempfile::TempDir) -> LocalPack {
        let path = self.executable(folder).await;
        LocalPack {
            name: self.name.to_owned(),
            place: PackPlace::Path(path),
            config: Map::new(),
        }
    }

    async fn executable(&self, folder: &tempfile::TempDir) -> PathBuf {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = tonic::transport::Server::builder()
            .add_service(AnalyzerServer::new(self.clone()))
            .serve_with_incoming(TcpListenerStream::new(listener));
        tokio::spawn(server);
        let path = folder.path().join(self.name);
        fs::write(&path, format!("#!/bin/sh\necho {port}\nread _\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }
}

type Answer<M> = Result<Response<M>, Status>;

#[async_trait]
impl Analyzer for Pack {
    async fn handshake(
        &self,
        request: Request<pb::AnalyzerHandshakeRequest>,
    ) -> Answer<pb::AnalyzerHandshakeResponse> {
        self.note("Handshake");
        self.unless_old()?;
        assert!(!request.get_ref().engine_address.is_empty());
        Ok(Response::new(pb::AnalyzerHandshakeResponse {}))
    }
    async fn configure_stack(
        &self,
        request: Request<pb::AnalyzerStackConfigureRequest>,
    ) -> Answer<pb::AnalyzerStackConfigureResponse> {
        self.note("ConfigureStack");
        self.unless_old()?;
        *self.stack.lock().unwrap() = Some(request.into_inner());
        Ok(Response::new(pb::AnalyzerStackConfigureResponse {}))
    }
    async fn get_plugin_info(&self, _: Request<()>) -> Answer<pb::PluginInfo> {
        self.note("GetPluginInfo");
        Ok(Response::new(pb::PluginInfo::default()))
    }
    async fn get_analyzer_info(&self, _: Request<()>) -> Answer<pb::AnalyzerInfo> {
        self.note("GetAnalyzerInfo");
        Ok(Response::new(pb::AnalyzerInfo {
            name: self.name.to_owned(),
            version: "1.0.0".to_owned(),
            supports_config: !self.is_old,
            policies: vec![pb::PolicyInfo {
                name: "strict".to_owned(),
                enforcement_level: pb::EnforcementLevel::Advisory as i32,
                ..Default::default()
            }],
            ..Default::default()
        }))
    }
    async fn configure(&self, request: Request<pb::ConfigureAnalyzerRequest>) -> Answer<()> {
        self.note("Configure");
        *self.config.lock().unwrap() = Some(request.into_inner());
        Ok(Response::new(()))
    }
    async fn remediate(
        &self,
        request: Request<pb::AnalyzeRequest>,
    ) -> Answer<pb::RemediateResponse> {
        self.note(format!("Remediate {}", request.get_ref().name));
        self.unless_old()?;
        Ok(Response::new(pb::RemediateResponse::default()))
    }
    async fn analyze(&self, request: Request<pb::AnalyzeRequest>) -> Answer<pb::AnalyzeResponse> {
        self.note(format!("Analyze {}", request.get_ref().name));
        self.judge().await
    }
    async fn analyze_stack(
        &self,
        request: Request<pb::AnalyzeStackRequest>,
    ) -> Answer<pb::AnalyzeResponse> {
        self.note(format!(
            "AnalyzeStack {}",
            request.get_ref().resources.len()
        ));
        self.unless_old()?;
        self.judge().await
    }
    async fn cancel(&self, _: Request<()>) -> Answer<()> {
        self.note("Cancel");
        self.unless_old()?;
        Ok(Response::new(()))
    }
}

async fn one_group(monitor: Arc<dyn ResourceMonitor>) -> ProgramResult {
    let request: RegisterRequest = group("a");
    register(&monitor, request).await;
    ProgramResult::Finished
}

async fn run(policies: PolicyPacks) -> Ran {
    let (_interrupt, interrupts) = watch::channel(0);
    run_with_policies(policies, interrupts, one_group).await
}

fn packs(local: Vec<LocalPack>) -> PolicyPacks {
    PolicyPacks {
        local,
        ..PolicyPacks::default()
    }
}

/// POLICY-01
#[tokio::test]
async fn packs_are_told_of_the_stack_before_anything_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let pack = Pack {
        name: "house",
        ..Pack::default()
    };
    let mut local = pack.serve(&folder).await;
    local.config = Map::from_iter([("strict".to_owned(), json!("mandatory"))]);
    let policies = PolicyPacks {
        stack_tags: [("team".to_owned(), "core".to_owned())].into(),
        ..packs(vec![local])
    };
    run(policies).await.succeeded();
    let stack = pack.stack.lock().unwrap().take();
    let expected = pb::AnalyzerStackConfigureRequest {
        stack: "dev".to_owned(),
        project: "proj".to_owned(),
        organization: "org".to_owned(),
        dry_run: false,
        config: [("proj:size".to_owned(), "3".to_owned())].into(),
        config_secret_keys: vec!["proj:password".to_owned()],
        tags: [("team".to_owned(), "core".to_owned())].into(),
    };
    assert_eq!(stack, Some(expected));
    let config = pack.config.lock().unwrap().take().unwrap();
    let level = config.policy_config["strict"].enforcement_level();
    assert_eq!(level, pb::EnforcementLevel::Mandatory);
    assert_eq!(
        pack.calls(),
        [
            "Handshake",
            "ConfigureStack",
            "GetPluginInfo",
            "GetAnalyzerInfo",
            "Configure",
            "Remediate a",
            "Analyze a",
            "AnalyzeStack 1",
            "Cancel",
        ]
    );
}

/// POLICY-01
#[tokio::test]
async fn packs_that_know_only_the_first_calls_do_too() {
    let folder = tempfile::tempdir().unwrap();
    let pack = Pack {
        name: "old",
        is_old: true,
        ..Pack::default()
    };
    let local = pack.serve(&folder).await;
    run(packs(vec![local])).await.succeeded();
    assert!(!pack.calls().contains(&"Configure".to_owned()));
    assert!(pack.calls().contains(&"Analyze a".to_owned()));
}

/// POLICY-01
#[tokio::test]
async fn a_configuration_that_does_not_fit_fails_the_run_before_it_begins() {
    let folder = tempfile::tempdir().unwrap();
    let pack = Pack {
        name: "house",
        ..Pack::default()
    };
    let mut local = pack.serve(&folder).await;
    local.config = Map::from_iter([("strict".to_owned(), json!("very"))]);
    let ran = run(packs(vec![local])).await;
    assert_eq!(ran.outcome.result, OperationResult::Failed);
    assert!(!ran.outcome.has_begun);
    let error = ran.outcome.error.unwrap();
    assert!(
        error.starts_with("validating policy config: house 1.0.0  strict: enforcementLevel must"),
        "{error}"
    );
    assert!(!pack.calls().contains(&"Analyze a".to_owned()));
}

/// POLICY-09
#[tokio::test]
async fn an_interrupt_ends_a_judgement_and_every_pack_is_asked_to_stop() {
    let folder = tempfile::tempdir().unwrap();
    let begun = Arc::new(tokio::sync::Notify::new());
    let pack = |name| Pack {
        name,
        hangs: Some(begun.clone()),
        ..Pack::default()
    };
    let (one, two) = (pack("one"), pack("two"));
    let local = vec![one.serve(&folder).await, two.serve(&folder).await];
    let (interrupt, interrupts) = watch::channel(0);
    let user = async {
        begun.notified().await;
        interrupt.send_replace(1);
    };
    let run = run_with_policies(packs(local), interrupts, one_group);
    let (ran, ()) = timeout(LONG, async { tokio::join!(run, user) })
        .await
        .unwrap();
    assert_eq!(ran.outcome.result, OperationResult::Canceled);
    assert_eq!(ran.outcome.error.as_deref(), Some("canceled"));
    assert_eq!(ran.errors, ["update canceled"]);
    for pack in [one, two] {
        assert_eq!(pack.calls().last().map(String::as_str), Some("Cancel"));
    }
}

/// POLICY-12, POLICY-13: each pack waits until the other has begun too.
#[tokio::test]
async fn packs_judge_resources_and_the_stack_at_the_same_time() {
    let folder = tempfile::tempdir().unwrap();
    let together = Arc::new(Barrier::new(2));
    let pack = |name| Pack {
        name,
        together: Some(together.clone()),
        ..Pack::default()
    };
    let (one, two) = (pack("one"), pack("two"));
    let local = vec![one.serve(&folder).await, two.serve(&folder).await];
    run(packs(local)).await.succeeded();
    for pack in [one, two] {
        let calls = pack.calls();
        assert!(calls.contains(&"Analyze a".to_owned()), "{calls:?}");
        assert!(calls.contains(&"AnalyzeStack 1".to_owned()), "{calls:?}");
    }
}

/// POLICY-12
#[tokio::test]
async fn no_more_packs_judge_at_a_time_than_the_user_wants() {
    let folder = tempfile::tempdir().unwrap();
    let busy = Arc::default();
    let pack = |name| Pack {
        name,
        busy: Arc::clone(&busy),
        ..Pack::default()
    };
    let mut local = Vec::new();
    for name in ["one", "two", "three"] {
        local.push(pack(name).serve(&folder).await);
    }
    let policies = PolicyPacks {
        parallel: Some(1),
        ..packs(local)
    };
    run(policies).await.succeeded();
    assert_eq!(*busy.lock().unwrap(), (0, 1));
}

/// A pack required by a backend.
struct Demanded {
    path: PathBuf,
    downloads: bool,
    installs: bool,
}

#[async_trait]
impl RequiredPack for Demanded {
    fn name(&self) -> &'static str {
        "demanded"
    }
    async fn download(&self) -> Result<(), AcquireError> {
        if self.downloads {
            return Ok(());
        }
        Err("no such host".into())
    }
    async fn install(&self) -> Result<PathBuf, AcquireError> {
        if self.installs {
            return Ok(self.path.clone());
        }
        Err("no space left".into())
    }
    fn config(&self) -> Map<String, Value> {
        Map::from_iter([("all".to_owned(), json!("mandatory"))])
    }
    fn environment(&self) -> Environment {
        Environment::new()
    }
}

fn demanded(pack: Demanded) -> PolicyPacks {
    PolicyPacks {
        required: vec![Arc::new(pack)],
        ..PolicyPacks::default()
    }
}

async fn fails_with(pack: Demanded, message: &str) {
    let ran = run(demanded(pack)).await;
    assert_eq!(ran.outcome.result, OperationResult::Failed);
    assert!(!ran.outcome.has_begun);
    assert_eq!(ran.errors, [""; 0]);
    assert_eq!(ran.outcome.error.as_deref(), Some(message));
}

/// POLICY-14
#[tokio::test]
async fn a_demanded_pack_that_cannot_be_downloaded_fails_the_operation() {
    let pack = Demanded {
        path: PathBuf::new(),
        downloads: false,
        installs: true,
    };
    fails_with(
        pack,
        "failed to download policy pack \"demanded\": no such host",
    )
    .await;
}

/// POLICY-15
#[tokio::test]
async fn a_demanded_pack_that_cannot_be_installed_fails_the_operation() {
    let pack = Demanded {
        path: PathBuf::new(),
        downloads: true,
        installs: false,
    };
    fails_with(
        pack,
        "failed to install policy pack \"demanded\": no space left",
    )
    .await;
}

/// POLICY-14, POLICY-15
#[tokio::test]
async fn a_demanded_pack_looks_at_the_run_with_the_configuration_of_the_backend() {
    let folder = tempfile::tempdir().unwrap();
    let pack = Pack {
        name: "house",
        ..Pack::default()
    };
    let path = pack.executable(&folder).await;
    let required = Demanded {
        path,
        downloads: true,
        installs: true,
    };
    run(demanded(required)).await.succeeded();
    assert!(pack.calls().contains(&"Analyze a".to_owned()));
    let config = pack.config.lock().unwrap().take().unwrap();
    let level = config.policy_config["strict"].enforcement_level();
    assert_eq!(level, pb::EnforcementLevel::Mandatory);
}
