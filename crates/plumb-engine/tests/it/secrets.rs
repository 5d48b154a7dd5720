//! Secrets that a provider returns although the program did not ask for them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures::FutureExt;
use jiff::Timestamp;
use plumb_backend::{Backend as _, FileBackend, LocalBucket, Owner, StoreOptions, Update};
use plumb_deploy::request::RegisterRequest;
use plumb_deploy::setup::{Operation, Options, Phase, Setup};
use plumb_engine::journal::RunJournal;
use plumb_engine::monitor::{DebugMessages, ResourceMonitor};
use plumb_engine::policies::PolicyPacks;
use plumb_engine::program::{ProgramContext, ProgramResult};
use plumb_engine::{RunSetup, SecretsGate, Shell, SourceContext};
use plumb_events::{Event, OperationResult, Severity};
use plumb_plugin::{CallContext, ConstructContext, Provider, ProviderInfo};
use plumb_project::{ProjectName, StackReference};
use plumb_resource::provider::*;
use plumb_resource::{DiffChanges, ResourceId, ResourceState};
use plumb_state::{CiphertextCache, CodecError, Plaintext, SecretCodec, Snapshot};
use plumb_value::{PropertyMap, SortedMap, Value};
use tokio::sync::{mpsc, watch};

use crate::register;
use crate::support::{InProcess, host, info, setup};

/// A secrets manager that may stop working.
#[derive(Clone, Default)]
struct Manager {
    is_gone: Arc<AtomicBool>,
}

impl SecretCodec for Manager {
    fn encrypt_batch(&self, texts: &[&Plaintext]) -> Result<Vec<String>, CodecError> {
        if self.is_gone.load(Ordering::SeqCst) {
            return Err(CodecError::new("the key is gone"));
        }
        Ok(texts.iter().map(|text| text.reveal().to_owned()).collect())
    }

    fn decrypt_batch(&self, texts: &[&str]) -> Result<Vec<Plaintext>, CodecError> {
        Ok(texts
            .iter()
            .map(|text| Plaintext::new((*text).to_owned()))
            .collect())
    }
}

/// A provider whose objects have a secret output. Records its calls, and replaces an object that lacks its
/// password or its token.
#[derive(Clone, Default)]
struct Vault {
    calls: Arc<Mutex<Vec<String>>>,
    manager: Manager,
    /// Whether the manager stops working while an object is created or updated.
    takes_key_away: Arc<AtomicBool>,
}

impl Vault {
    fn note(&self, call: &str) {
        self.calls.lock().unwrap().push(call.to_owned());
    }

    fn calls(&self) -> Vec<String> {
        std::mem::take(&mut self.calls.lock().unwrap())
    }

    fn outputs(inputs: &PropertyMap) -> Arc<PropertyMap> {
        let mut outputs = inputs.clone();
        outputs.insert("address", "here");
        outputs.insert("token", Value::secret(Value::from("unasked")));
        Arc::new(outputs)
    }

    fn work(&self) {
        let is_gone = self.takes_key_away.load(Ordering::SeqCst);
        self.manager.is_gone.store(is_gone, Ordering::SeqCst);
    }
}

fn refused<T>() -> Result<T, ProviderError> {
    Err(ProviderError::clean("this provider only keeps things"))
}

#[async_trait]
impl Provider for Vault {
    async fn info(&self) -> Result<ProviderInfo, ProviderError> {
        refused()
    }
    async fn get_schema(&self, _: Option<(&str, &str)>) -> Result<Option<String>, ProviderError> {
        Ok(None)
    }
    async fn parameterize(&self, _: &Parameterization) -> Result<(String, String), ProviderError> {
        refused()
    }
    async fn check_config(&self, it: CheckConfigRequest) -> Result<CheckResponse, ProviderError> {
        Ok(CheckResponse {
            inputs: Some(it.new_inputs),
            ..CheckResponse::default()
        })
    }
    async fn diff_config(&self, _: DiffRequest) -> Result<DiffResult, ProviderError> {
        Ok(DiffResult::of(DiffChanges::None))
    }
    async fn configure(&self, _: ConfigureRequest) -> Result<(), ProviderError> {
        Ok(())
    }
    async fn check(&self, it: CheckRequest) -> Result<CheckResponse, ProviderError> {
        Ok(CheckResponse {
            inputs: Some(it.new_inputs),
            ..CheckResponse::default()
        })
    }
    async fn diff(&self, it: DiffRequest) -> Result<DiffResult, ProviderError> {
        if it.old_inputs == it.new_inputs {
            return Ok(DiffResult::of(DiffChanges::None));
        }
        let mut diff = DiffResult::of(DiffChanges::Some);
        if !it.old_inputs.contains_key("password") || !it.old_outputs.contains_key("token") {
            diff.replace_keys.push("password".into());
        }
        Ok(diff)
    }
    async fn create(&self, it: CreateRequest) -> Result<CreateResponse, ProviderError> {
        self.note("create");
        self.work();
        Ok(CreateResponse {
            id: ResourceId::Known("id-1".into()),
            outputs: Self::outputs(&it.inputs),
            refresh_before_update: false,
        })
    }
    async fn read(&self, it: ReadRequest) -> Result<ReadResponse, ProviderError> {
        self.note("read");
        let inputs = it.inputs.unwrap_or_default();
        Ok(ReadResponse {
            id: it.id,
            outputs: Some(Self::outputs(&inputs)),
            inputs: Some(inputs),
            refresh_before_update: false,
        })
    }
    async fn update(&self, it: UpdateRequest) -> Result<UpdateResponse, ProviderError> {
        self.note("update");
        self.work();
        let mut outputs = Self::outputs(&it.new_inputs).as_ref().clone();
        outputs.insert("token", Value::secret(Value::from("another")));
        Ok(UpdateResponse {
            outputs: Arc::new(outputs),
            refresh_before_update: false,
        })
    }
    async fn delete(&self, it: DeleteRequest) -> Result<(), ProviderError> {
        let token = it.outputs.contains_key("token");
        self.note(if token { "delete" } else { "delete unread" });
        Ok(())
    }
    async fn invoke(&self, _: InvokeRequest) -> Result<InvokeResponse, ProviderError> {
        refused()
    }
    async fn construct(
        &self,
        _: ConstructRequest,
        _: &ConstructContext,
    ) -> Result<ConstructResponse, ProviderError> {
        refused()
    }
    async fn call(&self, _: CallRequest, _: &CallContext) -> Result<InvokeResponse, ProviderError> {
        refused()
    }
    async fn cancel(&self) {}
    async fn shutdown(&self) {}
}

/// A stack with one object, `it`, in the vault.
struct Stack {
    vault: Vault,
    snapshot: Snapshot,
    cache: CiphertextCache,
    folder: tempfile::TempDir,
}

impl Stack {
    fn new() -> Self {
        Stack {
            vault: Vault::default(),
            snapshot: Snapshot::default(),
            cache: CiphertextCache::default(),
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// Runs an operation with a program that gives the object this value. Returns whether the operation succeeded, and the
    /// errors.
    async fn run(
        &mut self,
        operation: Operation,
        phase: Phase,
        value: &'static str,
        gate: SecretsGate,
    ) -> (bool, Vec<String>) {
        let folder = self.folder.path();
        let info = info(folder);
        let source = SourceContext {
            root: folder.to_owned(),
            working_directory: folder.to_owned(),
            version: semver::Version::new(3, 260, 0),
        };
        let shell = Shell::listen(&info, source, DebugMessages::Dropped)
            .await
            .unwrap();
        let (subscriber, mut events) = mpsc::unbounded_channel();
        let (_interrupt, interrupts) = watch::channel(0);
        let program = InProcess(
            move |_: ProgramContext, monitor: Arc<dyn ResourceMonitor>| {
                async move {
                    register(&monitor, wanted(value)).await;
                    ProgramResult::Finished
                }
                .boxed()
            },
        );
        let update = (phase == Phase::Execute).then(|| Arc::new(self.update()));
        let run = RunSetup {
            setup: Setup {
                snapshot: self.snapshot.clone(),
                operation,
                options: Options::new(phase),
                ..setup()
            },
            program: Some(Arc::new(program)),
            snippets: None,
            policies: PolicyPacks::default(),
            host: Arc::new(host(folder, shell.address(), Arc::new(self.vault.clone()))),
            info,
            secret_parts: Vec::new(),
            secrets: gate,
            journal: RunJournal::new(
                self.snapshot.clone(),
                update,
                Arc::new(self.vault.manager.clone()),
                self.cache.clone(),
            ),
            subscriber,
            interrupts,
        };
        let ended = shell.run(run).boxed().await.unwrap();
        if phase == Phase::Execute {
            let (snapshot, cache) = ended.journal.finish(Timestamp::now(), "v0.0.0").unwrap();
            snapshot.verify().unwrap();
            (self.snapshot, self.cache) = (snapshot, cache);
        }
        let mut errors = Vec::new();
        while let Ok(batch) = events.try_recv() {
            for (_, event) in batch {
                if let Event::Diagnostic(it) = event
                    && it.severity == Severity::Error
                {
                    errors.push(it.message.trim_end().to_owned());
                }
            }
        }
        let succeeded = ended.outcome.result == OperationResult::Succeeded;
        (succeeded, errors)
    }

    async fn up(&mut self, value: &'static str) -> (bool, Vec<String>) {
        self.run(Operation::Update, Phase::Execute, value, open())
            .await
    }

    /// Runs an update in which the secrets manager stops working.
    async fn up_without_manager(&mut self, value: &'static str) -> Vec<String> {
        self.vault.takes_key_away.store(true, Ordering::SeqCst);
        let (succeeded, errors) = self.up(value).await;
        assert!(!succeeded);
        self.vault.takes_key_away.store(false, Ordering::SeqCst);
        self.vault.manager.is_gone.store(false, Ordering::SeqCst);
        errors
    }

    fn update(&self) -> Update {
        let folder = tempfile::tempdir_in(self.folder.path()).unwrap().keep();
        let owner = Owner {
            pid: std::process::id(),
            username: "alice".to_owned(),
            hostname: "here".to_owned(),
        };
        let bucket = Arc::new(LocalBucket::new(folder));
        let options = StoreOptions::new("v0.0.0");
        let opened = FileBackend::open_bucket(bucket, "file:///store", owner, options);
        let (backend, _) = opened.unwrap();
        let project = ProjectName::parse("proj").unwrap();
        let stack = StackReference::parse("dev", Some(&project)).unwrap();
        backend.create_stack(&stack, None).unwrap();
        backend.begin_update(&stack, "u").unwrap()
    }

    fn it(&self) -> &ResourceState {
        let mut states = self.snapshot.resources.iter();
        states.find(|state| state.urn.name() == "it").unwrap()
    }
}

fn open() -> SecretsGate {
    SecretsGate::new(|| Ok(()))
}

fn wanted(value: &str) -> RegisterRequest {
    let mut request = RegisterRequest::new("test:index:Thing", "it", true);
    let mut inputs = PropertyMap::new();
    inputs.insert("value", value);
    inputs.insert("password", Value::secret(Value::from("asked")));
    request.properties = Arc::new(inputs);
    request
}

/// The secrets manager works at the intent of the creation, and not at its outcome.
#[tokio::test]
async fn what_cannot_be_recorded_whole_is_read_again_and_never_replaced() {
    let mut stack = Stack::new();
    let errors = stack.up_without_manager("1").await;
    assert!(
        errors[0].contains("is recorded without them, to be read again by the next update"),
        "{errors:?}"
    );
    assert_eq!(stack.vault.calls(), ["create"]);
    let it = stack.it();
    assert_eq!(it.id.as_str(), "id-1");
    assert!(it.inputs.get("password").unwrap().is_secret());
    assert_eq!(it.outputs.get("address"), Some(&"here".into()));
    assert!(!it.outputs.contains_key("token") && !it.taint);

    assert!(stack.up("1").await.0);
    assert_eq!(stack.vault.calls(), ["read"]);
    let it = stack.it();
    assert_eq!(it.outputs.get("token").map(Value::is_secret), Some(true));
    assert!(!it.refresh_before_update);

    let errors = stack.up_without_manager("2").await;
    assert!(errors[0].contains("recorded without them"), "{errors:?}");
    assert_eq!(stack.vault.calls(), ["update"]);
    assert_eq!(stack.it().inputs.get("value"), Some(&"2".into()));
    assert!(stack.up("3").await.0);
    assert_eq!(stack.vault.calls(), ["read", "update"]);
    assert!(stack.up("3").await.0);
    assert!(stack.vault.calls().is_empty());
}

#[tokio::test]
async fn what_is_not_whole_is_read_before_it_is_deleted() {
    let mut stack = Stack::new();
    stack.up_without_manager("1").await;
    stack.vault.calls();
    let (succeeded, errors) = stack
        .run(Operation::Destroy, Phase::Execute, "1", open())
        .await;
    assert!(succeeded, "{errors:?}");
    assert_eq!(stack.vault.calls(), ["read", "delete"]);
}

#[tokio::test]
async fn no_plugin_changes_or_reads_anything_before_secrets_can_be_recorded() {
    let closed = || SecretsGate::new(|| Err("there is no passphrase".to_owned()));
    let mut stack = Stack::new();
    for phase in [Phase::Preview, Phase::Execute] {
        let (succeeded, errors) = stack.run(Operation::Update, phase, "1", closed()).await;
        assert!(!succeeded);
        assert!(errors[0].ends_with("there is no passphrase"), "{errors:?}");
        assert!(stack.vault.calls().is_empty());
    }
    let mut states = stack.snapshot.resources.iter();
    assert!(states.all(|state| state.urn.name() != "it"));
    assert!(stack.snapshot.pending_operations.is_empty());

    assert!(stack.up("1").await.0);
    stack.vault.calls();
    let mut before = stack.it().clone();
    for (operation, value) in [
        (Operation::Update, "2"),
        (Operation::Refresh, "1"),
        (Operation::Destroy, "1"),
    ] {
        let is_refresh = operation == Operation::Refresh;
        let ran = stack.run(operation, Phase::Execute, value, closed()).await;
        assert!(!ran.0);
        assert!(stack.vault.calls().is_empty());
        if is_refresh {
            // A refresh drops empty entries, even if its reads fail.
            before.property_dependencies = SortedMap::default();
        }
        assert_eq!(stack.it(), &before);
    }
}
