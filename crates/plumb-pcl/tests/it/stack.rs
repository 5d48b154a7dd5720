//! A stack with a cloud in memory: runs of the engine with programs and providers in the same process.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::Timestamp;
use plumb_backend::{Backend, FileBackend, LocalBucket, Owner, StoreOptions, Update};
use plumb_deploy::request::{RegisterRequest, Reply, Request};
use plumb_deploy::setup::{Operation, Options, Phase, Setup};
use plumb_deploy::snippets::SnippetChanges;
use plumb_engine::journal::RunJournal;
use plumb_engine::monitor::{DebugMessages, ResourceMonitor};
use plumb_engine::policies::PolicyPacks;
use plumb_engine::program::{Program, ProgramContext, ProgramResult};
use plumb_engine::{RunError, RunSetup, SecretsGate, Shell, SourceContext};
use plumb_events::{Event, OperationResult};
use plumb_pcl::PclSnippets;
use plumb_plugin::discovery::Cache;
use plumb_plugin::process::PluginTimeouts;
use plumb_plugin::{
    CallContext, ConstructContext, Discovery, HostOptions, PluginHost, Provider, ProviderInfo,
    ServiceAddresses,
};
use plumb_project::{ProjectName, StackReference};
use plumb_resource::provider::*;
use plumb_resource::{PropertyDependencies, ResourceId, ResourceState, Urn};
use plumb_schema::{PackageQuery, PackageSchema, SchemaLoadError, SchemaLoader};
use plumb_state::{
    CiphertextCache, CodecError, Plaintext, SecretCodec, Snapshot, Snippet, SnippetDescriptor,
};
use plumb_value::{PropertyMap, Value};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

const SCHEMA: &str = r#"{
  "name": "pkg",
  "resources": {
    "pkg:index:Thing": {
      "inputProperties": {"flag": {"type": "boolean"}, "text": {"type": "string"}, "count": {"type": "integer"}},
      "requiredInputs": ["flag"]
    },
    "pkg:index:Producer": {
      "inputProperties": {"seed": {"type": "string"}},
      "requiredInputs": ["seed"],
      "properties": {"value": {"type": "string"}},
      "required": ["value"]
    },
    "pkg:index:Group": {
      "isComponent": true,
      "properties": {"value": {"type": "string"}},
      "required": ["value"]
    }
  },
  "functions": {
    "pkg:index:echo": {
      "inputs": {"properties": {"text": {"type": "string"}}, "required": ["text"]},
      "outputs": {"properties": {"result": {"type": "string"}}, "required": ["result"]}
    }
  }
}"#;

/// Schema of the package `pkg`, the only one.
pub(crate) struct Schemas(Arc<PackageSchema>);

impl Schemas {
    pub(crate) fn of(text: &str) -> Arc<Self> {
        Arc::new(Schemas(Arc::new(PackageSchema::parse(text).unwrap())))
    }
}

#[async_trait]
impl SchemaLoader for Schemas {
    async fn load(
        &self,
        query: &PackageQuery,
    ) -> Result<Option<Arc<PackageSchema>>, SchemaLoadError> {
        if query.name != "pkg" {
            return Err(SchemaLoadError {
                package: query.name.clone(),
                source: "no such plugin".into(),
            });
        }
        Ok(Some(self.0.clone()))
    }
}

/// Context of the deployment, for a project in `folder`.
pub(crate) fn info(folder: &Path) -> ProgramContext {
    ProgramContext {
        project: "proj".to_owned(),
        stack: "dev".to_owned(),
        organization: "org".to_owned(),
        config: Arc::default(),
        config_secret_keys: Arc::default(),
        dry_run: false,
        parallel: 4,
        resource_references: true,
        root_directory: folder.to_owned(),
        program_directory: folder.join("program"),
        monitor_address: String::new(),
        engine_address: String::new(),
    }
}

/// A snippet with one resource.
pub(crate) fn snippet(name: &str, token: &str, code: &str) -> Snippet {
    Snippet {
        uuid: format!("uuid-of-{name}").into(),
        name: name.into(),
        type_token: token.into(),
        code: code.into(),
        descriptor: SnippetDescriptor {
            name: "pkg".into(),
            ..SnippetDescriptor::default()
        },
        references: BTreeMap::new(),
    }
}

/// Adds a reference to a snippet.
pub(crate) fn referring(mut snippet: Snippet, name: &str, urn: &Urn) -> Snippet {
    snippet.references.insert(name.into(), urn.as_str().into());
    snippet
}

pub(crate) fn urn(token: &str, name: &str) -> Urn {
    Urn::new("dev", "proj", "", token, name)
}

/// Registrations of a program in sequence, with the outputs to register for each.
pub(crate) type Registrations = Vec<(RegisterRequest, Option<PropertyMap>)>;

/// A test stack.
pub(crate) struct Stack {
    pub(crate) cloud: Cloud,
    pub(crate) snapshot: Snapshot,
    pub(crate) folder: tempfile::TempDir,
}

/// Result of a run, and its displayed errors.
pub(crate) struct Ran {
    result: OperationResult,
    pub(crate) errors: Vec<String>,
}

impl Ran {
    #[track_caller]
    pub(crate) fn succeeded(&self) {
        assert_eq!(self.result, OperationResult::Succeeded, "{:?}", self.errors);
    }

    #[track_caller]
    pub(crate) fn failed(&self, text: &str) {
        assert_eq!(self.result, OperationResult::Failed);
        let is_said = self.errors.iter().any(|error| error.contains(text));
        assert!(is_said, "no {text:?} in {:?}", self.errors);
    }
}

impl Stack {
    pub(crate) fn new() -> Self {
        Stack {
            cloud: Cloud::default(),
            snapshot: Snapshot::default(),
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// Stack with these stored snippets.
    pub(crate) fn with(snippets: impl IntoIterator<Item = Snippet>) -> Self {
        let mut stack = Stack::new();
        stack.snapshot.snippets = snippets.into_iter().collect();
        stack
    }

    pub(crate) async fn up(&mut self, program: Registrations) -> Ran {
        let options = Options::new(Phase::Execute);
        self.run(Operation::Update, options, program).await.unwrap()
    }

    /// Runs an update that adds, changes and removes snippets.
    pub(crate) async fn change(
        &mut self,
        changes: impl IntoIterator<Item = (&str, Option<Snippet>)>,
    ) -> Result<Ran, RunError> {
        let changes = changes.into_iter().map(|(name, it)| (uuid(name), it));
        let changes = SnippetChanges::new(&self.snapshot.snippets, changes.collect()).unwrap();
        let options = Options {
            snippet_changes: Some(changes),
            ..Options::new(Phase::Execute)
        };
        self.run(Operation::Update, options, Vec::new()).await
    }

    pub(crate) async fn run(
        &mut self,
        operation: Operation,
        options: Options,
        program: Registrations,
    ) -> Result<Ran, RunError> {
        let info = ProgramContext {
            dry_run: options.is_preview(),
            ..info(self.folder.path())
        };
        let source = SourceContext {
            root: self.folder.path().to_owned(),
            working_directory: self.folder.path().to_owned(),
            version: semver::Version::new(3, 260, 0),
        };
        let shell = Shell::listen(&info, source, DebugMessages::Dropped).await?;
        let (subscriber, mut events) = mpsc::unbounded_channel();
        let (_interrupt, interrupts) = watch::channel(0);
        let is_preview = options.is_preview();
        let setup = RunSetup {
            setup: self.setup(operation, options),
            program: Some(Arc::new(Registers(program))),
            snippets: Some(Arc::new(PclSnippets::new(Schemas::of(SCHEMA)))),
            secret_parts: Vec::new(),
            policies: PolicyPacks::default(),
            info,
            host: Arc::new(self.host(shell.address())),
            secrets: SecretsGate::new(|| Ok(())),
            journal: RunJournal::new(
                self.snapshot.clone(),
                (!is_preview).then(|| Arc::new(self.update())),
                Arc::new(NoSecrets),
                CiphertextCache::default(),
            ),
            subscriber,
            interrupts,
        };
        let ended = shell.run(setup).boxed().await?;
        if !is_preview {
            let (snapshot, _) = ended.journal.finish(Timestamp::now(), "v0.0.0").unwrap();
            snapshot.verify().unwrap();
            self.snapshot = snapshot;
        }
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
        let result = ended.outcome.result;
        Ok(Ran { result, errors })
    }

    /// Update with a journal, whose entries must be durable before providers are called.
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

    fn setup(&self, operation: Operation, options: Options) -> Setup {
        Setup {
            stack: "dev".into(),
            project: "proj".into(),
            config: BTreeMap::new(),
            partly_secret: BTreeMap::new(),
            snapshot: self.snapshot.clone(),
            operation,
            options,
            packages: Vec::new(),
            seed: [7; 32],
            plan: None,
        }
    }

    fn host(&self, engine: &str) -> PluginHost {
        let mut host = PluginHost::new(HostOptions {
            schema_cache: None,
            acquire: None,
            discovery: Discovery {
                project: Vec::new(),
                search_path: None,
                bundled: None,
                cache: Cache::new(self.folder.path().join("plugins")),
                accept_newer: false,
            },
            environment: BTreeMap::new(),
            working_directory: self.folder.path().to_owned(),
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
        let cloud = self.cloud.clone();
        host.register_builtin("pkg", Box::new(move |_| Some(Arc::new(cloud.clone()))));
        host
    }

    /// State of the resource with this name.
    #[track_caller]
    pub(crate) fn state(&self, name: &str) -> &ResourceState {
        let mut states = self.snapshot.resources.iter();
        let state = states.find(|state| state.urn.name() == name);
        state.unwrap_or_else(|| panic!("there is no {name}"))
    }

    /// Input of the resource with this name.
    #[track_caller]
    pub(crate) fn input(&self, name: &str, key: &str) -> Option<&Value> {
        self.state(name).inputs.get(key)
    }

    /// Names of all resources except providers, sorted.
    pub(crate) fn names(&self) -> Vec<&str> {
        let states = self.snapshot.resources.iter();
        let states = states.filter(|state| !state.type_token.is_provider());
        let mut names: Vec<&str> = states.map(|state| state.urn.name()).collect();
        names.sort_unstable();
        names
    }

    /// Names of the stored snippets.
    pub(crate) fn stored(&self) -> Vec<&str> {
        let snippets = self.snapshot.snippets.iter();
        snippets.map(|snippet| snippet.name.as_str()).collect()
    }
}

pub(crate) fn uuid(name: &str) -> ecow::EcoString {
    format!("uuid-of-{name}").into()
}

/// A program with a list of registrations.
struct Registers(Registrations);

#[async_trait]
impl Program for Registers {
    fn needs_server(&self) -> bool {
        false
    }

    async fn run(
        &self,
        _: ProgramContext,
        monitor: Arc<dyn ResourceMonitor>,
        _: CancellationToken,
    ) -> ProgramResult {
        for (request, outputs) in &self.0 {
            let registered = register(&monitor, request.clone(), outputs.clone()).await;
            if !registered {
                return ProgramResult::Bailed;
            }
        }
        ProgramResult::Finished
    }
}

fn register(
    monitor: &Arc<dyn ResourceMonitor>,
    request: RegisterRequest,
    outputs: Option<PropertyMap>,
) -> BoxFuture<'static, bool> {
    let monitor = monitor.clone();
    async move {
        let reply = monitor.request(Request::Register(Box::new(request))).await;
        let Reply::Registered(reply) = reply else {
            return false;
        };
        let Some(outputs) = outputs else { return true };
        let request = plumb_deploy::request::RegisterOutputsRequest {
            urn: reply.urn,
            outputs: Arc::new(outputs),
        };
        monitor.request(Request::RegisterOutputs(request)).await == Reply::Done
    }
    .boxed()
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

/// Provider that creates every requested object, and records its calls.
#[derive(Clone, Default)]
pub(crate) struct Cloud {
    calls: Arc<Mutex<Vec<String>>>,
    /// Names of resources that cannot be deleted.
    pub(crate) stuck: Arc<Mutex<Vec<String>>>,
}

impl Cloud {
    fn note(&self, call: &str, name: &str) {
        self.calls.lock().unwrap().push(format!("{call} {name}"));
    }

    /// Returns and clears the recorded creates, updates, deletes and invokes, in order.
    pub(crate) fn take_calls(&self) -> Vec<String> {
        std::mem::take(&mut *self.calls.lock().unwrap())
    }
}

fn refused<T>() -> Result<T, ProviderError> {
    Err(ProviderError::clean("this provider does not do that"))
}

fn checked(inputs: Arc<PropertyMap>) -> CheckResponse {
    CheckResponse {
        inputs: Some(inputs),
        failures: Vec::new(),
        ignored_autonaming: false,
    }
}

#[async_trait]
impl Provider for Cloud {
    async fn info(&self) -> Result<ProviderInfo, ProviderError> {
        refused()
    }
    async fn get_schema(&self, _: Option<(&str, &str)>) -> Result<Option<String>, ProviderError> {
        Ok(Some(SCHEMA.to_owned()))
    }
    async fn parameterize(&self, _: &Parameterization) -> Result<(String, String), ProviderError> {
        refused()
    }
    async fn check_config(&self, it: CheckConfigRequest) -> Result<CheckResponse, ProviderError> {
        Ok(checked(it.new_inputs))
    }
    async fn diff_config(&self, _: DiffRequest) -> Result<DiffResult, ProviderError> {
        Ok(DiffResult::of(DiffChanges::None))
    }
    async fn configure(&self, _: ConfigureRequest) -> Result<(), ProviderError> {
        Ok(())
    }
    async fn check(&self, it: CheckRequest) -> Result<CheckResponse, ProviderError> {
        Ok(checked(it.new_inputs))
    }
    async fn diff(&self, it: DiffRequest) -> Result<DiffResult, ProviderError> {
        Ok(DiffResult::of(if it.old_inputs == it.new_inputs {
            DiffChanges::None
        } else {
            DiffChanges::Some
        }))
    }
    async fn create(&self, it: CreateRequest) -> Result<CreateResponse, ProviderError> {
        let mut outputs = it.inputs.as_ref().clone();
        if let Some(seed) = it.inputs.get("seed").and_then(Value::as_str) {
            outputs.insert("value", Value::from(format!("value-of-{seed}").as_str()));
        }
        let id = if it.preview {
            ResourceId::Unknown
        } else {
            self.note("create", it.urn.name());
            ResourceId::Known(format!("id-of-{}", it.urn.name()).into())
        };
        Ok(CreateResponse {
            id,
            outputs: Arc::new(outputs),
            refresh_before_update: false,
        })
    }
    async fn read(&self, _: ReadRequest) -> Result<ReadResponse, ProviderError> {
        refused()
    }
    async fn update(&self, it: UpdateRequest) -> Result<UpdateResponse, ProviderError> {
        self.note("update", it.urn.name());
        Ok(UpdateResponse {
            outputs: it.new_inputs,
            refresh_before_update: false,
        })
    }
    async fn delete(&self, it: DeleteRequest) -> Result<(), ProviderError> {
        let is_stuck = |stuck: &String| stuck == it.urn.name();
        if self.stuck.lock().unwrap().iter().any(is_stuck) {
            return refused();
        }
        self.note("delete", it.urn.name());
        Ok(())
    }
    async fn invoke(&self, it: InvokeRequest) -> Result<InvokeResponse, ProviderError> {
        let text = it
            .args
            .get("text")
            .and_then(Value::as_str)
            .unwrap_or_default();
        self.note("invoke", text);
        let result = PropertyMap::new().with("result", format!("echo of {text}").as_str());
        Ok(InvokeResponse {
            result: Arc::new(result),
            failures: Vec::new(),
            dependencies: PropertyDependencies::new(),
        })
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
