//! Runs of programs in this process, against a provider that only constructs components.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures::FutureExt;
use futures::future::BoxFuture;
use plumb_deploy::Outcome;
use plumb_deploy::setup::{Operation, Options, Phase, Setup};
use plumb_engine::journal::RunJournal;
use plumb_engine::monitor::{DebugMessages, ResourceMonitor};
use plumb_engine::policies::PolicyPacks;
use plumb_engine::program::{Program, ProgramContext, ProgramResult};
use plumb_engine::{RunSetup, SecretsGate, Shell, SourceContext};
use plumb_events::{Event, OperationResult};
use plumb_plugin::discovery::Cache;
use plumb_plugin::process::PluginTimeouts;
use plumb_plugin::{
    CallContext, ConstructContext, Discovery, HostOptions, PluginHost, Provider, ProviderInfo,
    ServiceAddresses,
};
use plumb_resource::Urn;
use plumb_resource::provider::*;
use plumb_state::{CiphertextCache, CodecError, Plaintext, SecretCodec, Snapshot};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

/// Schema that the provider returns.
pub(crate) const SCHEMA: &str = r#"{"name":"test"}"#;

/// Outcome of a run, and the errors that were shown.
pub(crate) struct Ran {
    pub(crate) outcome: Outcome,
    pub(crate) errors: Vec<String>,
}

impl Ran {
    pub(crate) fn succeeded(&self) {
        let result = self.outcome.result;
        assert_eq!(result, OperationResult::Succeeded, "{:?}", self.errors);
    }
}

/// Runs an update of the stack `dev` of the project `proj`, in the organization `org`.
pub(crate) async fn run<F>(
    constructor: &Constructor,
    program: impl Fn(Arc<dyn ResourceMonitor>) -> F + Send + Sync + 'static,
) -> Ran
where
    F: Future<Output = ProgramResult> + Send + 'static,
{
    run_program(
        constructor,
        InProcess(move |_, monitor| program(monitor).boxed()),
    )
    .await
}

/// [`run`] for a program that uses the services of the shell; it gets the address of the schema loader.
pub(crate) async fn run_with_loader<F>(
    constructor: &Constructor,
    program: impl Fn(String) -> F + Send + Sync + 'static,
) -> Ran
where
    F: Future<Output = ProgramResult> + Send + 'static,
{
    let program = InProcess(move |info: ProgramContext, _| program(info.engine_address).boxed());
    run_program(constructor, program).await
}

async fn run_program(constructor: &Constructor, program: impl Program + 'static) -> Ran {
    let (_interrupt, interrupts) = watch::channel(0);
    run_all(constructor, program, PolicyPacks::default(), interrupts).await
}

/// [`run`] with policy packs and interrupts.
pub(crate) async fn run_with_policies<F>(
    policies: PolicyPacks,
    interrupts: watch::Receiver<u32>,
    program: impl Fn(Arc<dyn ResourceMonitor>) -> F + Send + Sync + 'static,
) -> Ran
where
    F: Future<Output = ProgramResult> + Send + 'static,
{
    let program = InProcess(move |_, monitor| program(monitor).boxed());
    run_all(&Constructor::default(), program, policies, interrupts).await
}

async fn run_all(
    constructor: &Constructor,
    program: impl Program + 'static,
    policies: PolicyPacks,
    interrupts: watch::Receiver<u32>,
) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let info = info(folder.path());
    let source = SourceContext {
        root: folder.path().to_owned(),
        working_directory: folder.path().to_owned(),
        version: semver::Version::new(3, 260, 0),
    };
    let shell = Shell::listen(&info, source, DebugMessages::Dropped)
        .await
        .unwrap();
    let (subscriber, mut events) = mpsc::unbounded_channel();
    let setup = RunSetup {
        setup: setup(),
        program: Some(Arc::new(program)),
        snippets: None,
        info,
        secret_parts: Vec::new(),
        policies,
        host: Arc::new(host(
            folder.path(),
            shell.address(),
            Arc::new(constructor.clone()),
        )),
        secrets: SecretsGate::new(|| Ok(())),
        journal: RunJournal::new(
            Snapshot::default(),
            None,
            Arc::new(NoSecrets),
            CiphertextCache::default(),
        ),
        subscriber,
        interrupts,
    };
    let ended = shell.run(setup).boxed().await.unwrap();
    let mut errors = Vec::new();
    while let Ok(batch) = events.try_recv() {
        for (_, event) in batch {
            if let Event::Diagnostic(it) = event
                && it.severity == plumb_events::Severity::Error
            {
                errors.push(it.message.trim_end().to_owned());
            }
        }
    }
    Ran {
        outcome: ended.outcome,
        errors,
    }
}

pub(crate) fn setup() -> Setup {
    Setup {
        stack: "dev".into(),
        project: "proj".into(),
        config: BTreeMap::new(),
        partly_secret: BTreeMap::new(),
        snapshot: Snapshot::default(),
        operation: Operation::Update,
        options: Options::new(Phase::Execute),
        packages: Vec::new(),
        seed: [7; 32],
        plan: None,
    }
}

pub(crate) fn info(folder: &Path) -> ProgramContext {
    ProgramContext {
        project: "proj".to_owned(),
        stack: "dev".to_owned(),
        organization: "org".to_owned(),
        config: Arc::new([("proj:size".to_owned(), "3".to_owned())].into()),
        config_secret_keys: Arc::new(vec!["proj:password".to_owned()]),
        dry_run: false,
        parallel: 4,
        resource_references: true,
        root_directory: folder.to_owned(),
        program_directory: folder.to_owned(),
        monitor_address: String::new(),
        engine_address: String::new(),
    }
}

pub(crate) fn host(folder: &Path, engine: &str, provider: Arc<dyn Provider>) -> PluginHost {
    let mut host = PluginHost::new(HostOptions {
        schema_cache: None,
        acquire: None,
        discovery: Discovery {
            project: Vec::new(),
            search_path: None,
            bundled: None,
            cache: Cache::new(folder.join("plugins")),
            accept_newer: false,
        },
        environment: BTreeMap::new(),
        working_directory: folder.to_owned(),
        project: None,
        runtime_options: BTreeMap::new(),
        config: BTreeMap::new(),
        services: ServiceAddresses {
            engine: engine.to_owned(),
            ..ServiceAddresses::default()
        },
        log_arguments: Vec::new(),
        attached_providers: BTreeMap::new(),
        attached_languages: BTreeMap::new(),
        timeouts: PluginTimeouts::default(),
        refresh_before_update: true,
        use_provider_preview: true,
        ignore_versions: false,
        output: Arc::new(|_| {}),
    });
    host.register_builtin("test", Box::new(move |_| Some(provider.clone())));
    host
}

pub(crate) struct InProcess<F>(pub(crate) F);

#[async_trait]
impl<F> Program for InProcess<F>
where
    F: Fn(ProgramContext, Arc<dyn ResourceMonitor>) -> BoxFuture<'static, ProgramResult>
        + Send
        + Sync,
{
    fn needs_server(&self) -> bool {
        false
    }

    async fn run(
        &self,
        info: ProgramContext,
        monitor: Arc<dyn ResourceMonitor>,
        _: CancellationToken,
    ) -> ProgramResult {
        (self.0)(info, monitor).await
    }
}

struct NoSecrets;

impl SecretCodec for NoSecrets {
    fn encrypt_batch(&self, _: &[&Plaintext]) -> Result<Vec<String>, CodecError> {
        Err(CodecError::new("these runs have no secrets"))
    }

    fn decrypt_batch(&self, _: &[&str]) -> Result<Vec<Plaintext>, CodecError> {
        Err(CodecError::new("these runs have no secrets"))
    }
}

/// A provider that constructs empty components, and records the deployment settings of each call.
#[derive(Clone, Default)]
pub(crate) struct Constructor {
    pub(crate) contexts: Arc<Mutex<Vec<ConstructContext>>>,
    pub(crate) schemas_told: Arc<Mutex<u32>>,
}

fn refused<T>() -> Result<T, ProviderError> {
    Err(ProviderError::clean("this provider only constructs"))
}

#[async_trait]
impl Provider for Constructor {
    async fn info(&self) -> Result<ProviderInfo, ProviderError> {
        refused()
    }
    async fn get_schema(&self, _: Option<(&str, &str)>) -> Result<Option<String>, ProviderError> {
        *self.schemas_told.lock().unwrap() += 1;
        Ok(Some(SCHEMA.to_owned()))
    }
    async fn parameterize(&self, _: &Parameterization) -> Result<(String, String), ProviderError> {
        refused()
    }
    async fn check_config(&self, it: CheckConfigRequest) -> Result<CheckResponse, ProviderError> {
        Ok(CheckResponse {
            inputs: Some(it.new_inputs),
            failures: Vec::new(),
            ignored_autonaming: false,
        })
    }
    async fn diff_config(&self, _: DiffRequest) -> Result<DiffResult, ProviderError> {
        refused()
    }
    async fn configure(&self, _: ConfigureRequest) -> Result<(), ProviderError> {
        Ok(())
    }
    async fn check(&self, _: CheckRequest) -> Result<CheckResponse, ProviderError> {
        refused()
    }
    async fn diff(&self, _: DiffRequest) -> Result<DiffResult, ProviderError> {
        refused()
    }
    async fn create(&self, _: CreateRequest) -> Result<CreateResponse, ProviderError> {
        refused()
    }
    async fn read(&self, _: ReadRequest) -> Result<ReadResponse, ProviderError> {
        refused()
    }
    async fn update(&self, _: UpdateRequest) -> Result<UpdateResponse, ProviderError> {
        refused()
    }
    async fn delete(&self, _: DeleteRequest) -> Result<(), ProviderError> {
        refused()
    }
    async fn invoke(&self, _: InvokeRequest) -> Result<InvokeResponse, ProviderError> {
        refused()
    }
    async fn construct(
        &self,
        request: ConstructRequest,
        context: &ConstructContext,
    ) -> Result<ConstructResponse, ProviderError> {
        self.contexts.lock().unwrap().push(context.clone());
        let goal = &request.goal;
        Ok(ConstructResponse {
            urn: Urn::new("dev", "proj", "", goal.type_token.as_str(), &goal.name),
            outputs: Arc::default(),
            dependencies: plumb_value::SortedMap::default(),
        })
    }
    async fn call(&self, _: CallRequest, _: &CallContext) -> Result<InvokeResponse, ProviderError> {
        refused()
    }
    async fn cancel(&self) {}
    async fn shutdown(&self) {}
}
