//! Running an operation: take the stack, run the deployment, save the state.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use ecow::EcoString;
use jiff::Timestamp;
use plumb_backend::{Update, UpdateRecord};
use plumb_deploy::setup::{Operation as Deployed, Setup};
use plumb_engine::journal::RunJournal;
use plumb_engine::monitor::{DebugMessages, ResourceMonitor};
use plumb_engine::policies::PolicyPacks;
use plumb_engine::program::ProgramContext;
use plumb_engine::{Ended, RunSetup, SecretsGate, Shell, SourceContext, Subscriber};
use plumb_events::OperationResult;
use plumb_language::LanguageOptions;
use plumb_pcl::PclSnippets;
use plumb_plugin::discovery::Cache;
use plumb_plugin::process::PluginTimeouts;
use plumb_plugin::{Discovery, HostOptions, PluginHost, ServiceAddresses};
use plumb_providers::BuiltinContext;
use plumb_resource::provider::PluginSpec;
use plumb_state::{CiphertextCache, SecretCodec as _, Snapshot};
use plumb_value::Value;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::error::chain;
use crate::hosting::{
    Schemas, log_sink, output_sink, register_builtins, register_languages, shared_variables,
};
use crate::operation::{Kind, Listener, Operation};
use crate::program::Prepared;
use crate::report::Collected;
use crate::secrets::StackCodec;
use crate::stack::outputs_of;
use crate::stacks::OtherStacks;
use crate::workspace::blocking;
use crate::{Error, Report, Stack, VERSION, config, old_states, semantic_version};

/// Organization of every stack of the supported stores.
const ORGANIZATION: &str = "organization";

/// A stack whose state was read, and which was locked unless this is a preview.
struct Taken {
    update: Option<Arc<Update>>,
    base: Snapshot,
    /// The state with what old programs left out.
    upgraded: Option<Snapshot>,
    cache: CiphertextCache,
    codec: Arc<StackCodec>,
}

/// Folders of an operation.
struct Folders {
    root: PathBuf,
    program: PathBuf,
}

/// Does an operation.
pub(crate) async fn run(operation: Operation) -> Result<Report, Error> {
    let began = Timestamp::now();
    let config = operation.config.qualified(operation.stack.project());
    let taken = take(&operation, &config).await?;
    let folders = folders(&operation)?;
    let info = program_info(&operation, &folders, &config);
    let source = SourceContext {
        root: folders.root.clone(),
        working_directory: folders.program.clone(),
        version: semantic_version(),
    };
    let shell = Shell::listen(&info, source, DebugMessages::Dropped).await;
    let shell = shell.map_err(|error| Error::Program(chain(&error)))?;
    let host = plugin_host(&operation, &folders, &config, &shell)?;
    let host = Arc::new(host);
    let prepared = match &operation.program {
        Some(program) => Some(program.prepare(&host).await?),
        None => None,
    };
    let (subscriber, collecting) = listen(operation.listener.clone());
    let (interrupts, forwarding) = interrupts(&operation, taken.update.as_deref());
    let (program, packages) = match prepared {
        Some(Prepared { program, packages }) => (Some(program), packages),
        None => (None, Vec::new()),
    };
    let setup = RunSetup {
        setup: setup(&operation, &taken, config.clone(), packages),
        program,
        snippets: Some(Arc::new(PclSnippets::new(Arc::new(Schemas(host.clone()))))),
        info,
        policies: PolicyPacks::default(),
        host,
        secrets: gate(&taken.codec),
        journal: journal(&taken)?,
        subscriber,
        interrupts,
    };
    let ended = Box::pin(shell.run(setup)).await;
    drop(forwarding);
    let collected = collecting.await.unwrap_or_default();
    let ended = ended.map_err(|error| Error::Program(chain(&error)))?;
    let report = conclude(operation, taken, ended, collected, &config, began).await?;
    match report.result {
        OperationResult::Succeeded => Ok(report),
        OperationResult::Failed => Err(Error::Failed(Box::new(report))),
        OperationResult::Canceled => Err(Error::Canceled(Box::new(report))),
    }
}

/// Reads the state, from a stack that is locked first unless this is a preview.
async fn take(operation: &Operation, config: &BTreeMap<EcoString, Value>) -> Result<Taken, Error> {
    let (stack, config) = (operation.stack.clone(), config.clone());
    let is_preview = operation.options.is_preview();
    blocking(move || {
        let (backend, reference) = (stack.backend(), stack.reference());
        if !backend.stack_exists(reference)? {
            return Err(Error::NoStack(reference.qualified()));
        }
        let managers = &stack.shared().managers;
        let mut cache = CiphertextCache::new();
        let (update, base, codec) = if is_preview {
            let loaded = backend.load(reference)?;
            let provider = loaded.opaque().and_then(|it| it.secrets_provider.clone());
            let codec = managers.codec(provider.as_ref())?;
            (None, loaded.decrypt(&codec, &mut cache)?, codec)
        } else {
            let id = Uuid::new_v4().to_string();
            let update = backend.begin_update(reference, &id)?;
            let latest = update.base().latest.as_ref();
            let provider = latest.and_then(|it| it.opaque().secrets_provider.clone());
            let codec = managers.codec(provider.as_ref())?;
            let base = match latest {
                Some(deployment) => deployment.decrypt(&codec, &mut cache)?,
                None => Snapshot::default(),
            };
            (Some(Arc::new(update)), base, codec)
        };
        base.verify()
            .map_err(|error| Error::State(error.to_string()))?;
        let upgraded = old_states::with_providers(&base, &config);
        Ok(Taken {
            update,
            upgraded: upgraded.map_err(|error| Error::State(chain(&error)))?,
            base,
            cache,
            codec: Arc::new(codec),
        })
    })
    .await
}

fn folders(operation: &Operation) -> Result<Folders, Error> {
    let own = match &operation.program {
        Some(program) => program.folders()?,
        None => None,
    };
    let shared = &operation.stack.shared().folder;
    let (root, program) = own.unwrap_or_else(|| (shared.clone(), shared.clone()));
    Ok(Folders { root, program })
}

fn program_info(
    operation: &Operation,
    folders: &Folders,
    config: &BTreeMap<EcoString, Value>,
) -> ProgramContext {
    let secret = config.iter().filter(|(_, value)| value.is_secret());
    let plain = config.iter();
    ProgramContext {
        project: operation.stack.project().to_owned(),
        stack: operation.stack.name().to_owned(),
        organization: ORGANIZATION.to_owned(),
        config_secret_keys: Arc::new(secret.map(|(key, _)| key.to_string()).collect()),
        config: Arc::new(
            plain
                .map(|(key, value)| (key.to_string(), config::plain(value)))
                .collect(),
        ),
        dry_run: operation.options.is_preview(),
        parallel: i32::try_from(operation.options.parallel).unwrap_or(i32::MAX),
        resource_references: operation.options.resource_references,
        root_directory: folders.root.clone(),
        program_directory: folders.program.clone(),
        monitor_address: String::new(),
        engine_address: String::new(),
    }
}

fn plugin_host(
    operation: &Operation,
    folders: &Folders,
    config: &BTreeMap<EcoString, Value>,
    shell: &Shell,
) -> Result<PluginHost, Error> {
    let shared = operation.stack.shared();
    let monitor: Arc<dyn ResourceMonitor> = shell.monitor();
    let engine = shell.address().to_owned();
    let output = output_sink(monitor.clone());
    let mut host = PluginHost::new(HostOptions {
        discovery: Discovery {
            project: Vec::new(),
            search_path: shared.search_path.clone(),
            bundled: None,
            cache: Cache::new(shared.home.join("plugins")),
            accept_newer: false,
        },
        environment: shared.variables.clone(),
        working_directory: folders.program.clone(),
        project: Some(operation.stack.project().to_owned()),
        runtime_options: match &operation.program {
            Some(program) => program.runtime_options()?,
            None => BTreeMap::new(),
        },
        config: by_namespace(config),
        services: ServiceAddresses {
            engine: engine.clone(),
            loader: Some(engine.clone()),
            mapper: Some(engine.clone()),
            resolver: Some(engine.clone()),
        },
        log_arguments: Vec::new(),
        attached_providers: BTreeMap::new(),
        attached_languages: BTreeMap::new(),
        timeouts: PluginTimeouts::default(),
        refresh_before_update: true,
        use_provider_preview: true,
        ignore_versions: false,
        output: output.clone(),
        schema_cache: Some(shared.home.join("schemas")),
        acquire: None,
    });
    let context = BuiltinContext {
        working_dir: folders.program.clone(),
        environment: Some(shared_variables(&shared.variables)),
        log: log_sink(monitor),
        stacks: Some(Arc::new(other_stacks(&operation.stack))),
    };
    register_builtins(&mut host, &context);
    let languages = LanguageOptions {
        environment: shared.variables.clone(),
        engine_address: engine,
        debug_messages: false,
        cache_directory: shared.home.join("plumb"),
        version: semantic_version(),
        output,
    };
    register_languages(&mut host, &languages);
    Ok(host)
}

/// Settings in plain text, by namespace, then name.
fn by_namespace(config: &BTreeMap<EcoString, Value>) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut found: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for (key, value) in config {
        if let Some((namespace, name)) = key.split_once(':') {
            let settings = found.entry(namespace.to_owned()).or_default();
            settings.insert(name.to_owned(), config::plain(value));
        }
    }
    found
}

/// Reader of the other stacks of the workspace, which are named as in the command line.
fn other_stacks(stack: &Stack) -> OtherStacks {
    let stack = stack.clone();
    OtherStacks::new(Arc::new(move |name| {
        let text = |error: Error| chain(&error);
        let project = stack.reference().project.as_ref();
        let reference = stack.backend().parse_stack(name, project);
        let reference = reference.map_err(|error| text(error.into()))?;
        let other = Stack::new(stack.shared().clone(), reference);
        let exists = other.backend().stack_exists(other.reference());
        if !exists.map_err(|error| text(error.into()))? {
            return Err(format!("unknown stack {name:?}"));
        }
        other.snapshot().map_err(text)
    }))
}

/// Collects the events of a run, and passes them on.
fn listen(listener: Option<Listener>) -> (Subscriber, JoinHandle<Collected>) {
    let (subscriber, mut events) = mpsc::unbounded_channel::<Vec<(Timestamp, _)>>();
    let collecting = tokio::spawn(async move {
        let mut collected = Collected::default();
        while let Some(batch) = events.recv().await {
            for (_, event) in &batch {
                collected.add(event);
                if let Some(listener) = &listener {
                    listener(event);
                }
            }
        }
        collected
    });
    (subscriber, collecting)
}

/// Interrupts of the caller, and the requests of other processes to end, as `plumb cancel` makes them. They are
/// forwarded until the second value is dropped.
fn interrupts(
    operation: &Operation,
    update: Option<&Update>,
) -> (
    watch::Receiver<u32>,
    Option<tokio_util::task::AbortOnDropHandle<()>>,
) {
    let Some(mut asked) = update.and_then(Update::asked_to_end) else {
        return (operation.interrupts.receiver(), None);
    };
    let mut own = operation.interrupts.receiver();
    let (sender, receiver) = watch::channel(*own.borrow());
    let forwarding = tokio::spawn(async move {
        loop {
            tokio::select! {
                changed = own.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    let count = *own.borrow();
                    sender.send_modify(|sent| *sent = count.max(*sent));
                }
                changed = asked.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    sender.send_modify(|sent| *sent = (*sent).max(1));
                }
            }
        }
    });
    let forwarding = tokio_util::task::AbortOnDropHandle::new(forwarding);
    (receiver, Some(forwarding))
}

fn setup(
    operation: &Operation,
    taken: &Taken,
    config: BTreeMap<EcoString, Value>,
    packages: Vec<PluginSpec>,
) -> Setup {
    let deployed = match &operation.kind {
        Kind::Update => Deployed::Update,
        Kind::Refresh => Deployed::Refresh,
        Kind::Destroy => Deployed::Destroy,
        Kind::Import(objects) => Deployed::Import(objects.iter().map(|it| it.0.clone()).collect()),
    };
    let snapshot = taken.upgraded.as_ref().unwrap_or(&taken.base);
    Setup {
        stack: operation.stack.name().into(),
        project: operation.stack.project().into(),
        config,
        snapshot: snapshot.clone(),
        operation: deployed,
        options: operation.options.clone(),
        packages,
        seed: seed(),
        plan: operation.plan.clone(),
    }
}

/// Chance for ids and names.
pub(crate) fn seed() -> [u8; 32] {
    let mut seed = [0; 32];
    seed[..16].copy_from_slice(Uuid::new_v4().as_bytes());
    seed[16..].copy_from_slice(Uuid::new_v4().as_bytes());
    seed
}

/// Opens once secrets can be encrypted.
fn gate(codec: &Arc<StackCodec>) -> SecretsGate {
    let codec = codec.clone();
    SecretsGate::new(move || codec.prepare().map_err(|error| chain(&error)))
}

/// Journal of the run. A state that was changed before the run is its first entry.
fn journal(taken: &Taken) -> Result<RunJournal, Error> {
    let (base, cache) = (taken.base.clone(), taken.cache.clone());
    let mut journal = RunJournal::new(base, taken.update.clone(), taken.codec.clone(), cache);
    if let (Some(upgraded), true) = (&taken.upgraded, taken.update.is_some()) {
        journal.begin_with(upgraded.clone())?;
    }
    Ok(journal)
}

/// Saves the state, and makes the report.
async fn conclude(
    operation: Operation,
    taken: Taken,
    ended: Ended,
    collected: Collected,
    config: &BTreeMap<EcoString, Value>,
    began: Timestamp,
) -> Result<Report, Error> {
    let (snapshot, cache) = ended.journal.finish(Timestamp::now(), VERSION)?;
    if ended.outcome.result == OperationResult::Failed && !ended.outcome.has_begun {
        return Err(Error::Refused(ended.outcome.error.unwrap_or_default()));
    }
    let summary = collected.summary;
    let report = Report {
        result: ended.outcome.result,
        is_preview: operation.options.is_preview(),
        has_changes: ended.outcome.has_changes,
        duration: summary.as_ref().map(|it| it.duration).unwrap_or_default(),
        changes: summary.map(|it| it.resource_changes).unwrap_or_default(),
        messages: collected.messages,
        outputs: outputs_of(&snapshot),
        resources: snapshot.resources.clone(),
        plan: ended.plan,
        error: ended.outcome.error,
    };
    let Taken { update, codec, .. } = taken;
    if let Some(update) = update.and_then(Arc::into_inner) {
        let record = record(&operation, &report, began);
        let config = config.clone();
        blocking(move || save(update, &snapshot, cache, &codec, record, &config)).await?;
    }
    Ok(report)
}

fn record(operation: &Operation, report: &Report, began: Timestamp) -> UpdateRecord {
    let changes = report.changes.iter();
    UpdateRecord {
        kind: operation.kind.name().to_owned(),
        start_time: began.as_second(),
        message: operation.message.clone(),
        environment: BTreeMap::from([("exec.kind".to_owned(), "library".to_owned())]),
        config: serde_json::Map::new(),
        version: 0,
        result: match report.result {
            OperationResult::Succeeded => "succeeded",
            OperationResult::Failed | OperationResult::Canceled => "failed",
        }
        .to_owned(),
        end_time: Timestamp::now().as_second(),
        resource_changes: Some(
            changes
                .map(|(op, count)| (op.as_str().to_owned(), u64::from(*count)))
                .collect(),
        ),
    }
}

/// Writes the state and the record of the operation, and releases the stack. Blocks.
fn save(
    update: Update,
    snapshot: &Snapshot,
    mut cache: CiphertextCache,
    codec: &StackCodec,
    mut record: UpdateRecord,
    config: &BTreeMap<EcoString, Value>,
) -> Result<(), Error> {
    record.config = recorded_config(config, codec)?;
    let mut encrypted = snapshot.encrypt(codec, &mut cache)?;
    // Asked for after the encryption, because the first secret adds a manager to a stack that has none.
    if let Some(provider) = codec.provider() {
        encrypted.set_secrets_provider(Some(provider));
    }
    let finished = update.finish(Some(&encrypted), Some(&record))?;
    for error in [finished.history, finished.backup].into_iter().flatten() {
        tracing::warn!(%error, "the history or the backup of the stack was not written");
    }
    Ok(())
}

/// Settings for the history, with secrets encrypted as in the files of the command line.
fn recorded_config(
    config: &BTreeMap<EcoString, Value>,
    codec: &StackCodec,
) -> Result<serde_json::Map<String, serde_json::Value>, Error> {
    let mut recorded = serde_json::Map::new();
    for (key, value) in config {
        let plain = config::plain(value);
        let json = if value.is_secret() {
            let text = plumb_state::Plaintext::new(plain);
            let encrypted = codec.encrypt_batch(&[&text]).map_err(Error::secrets)?;
            serde_json::json!({ "secure": encrypted.concat() })
        } else {
            plain.into()
        };
        recorded.insert(key.to_string(), json);
    }
    Ok(recorded)
}
