//! Running an operation: take the stack, run the deployment, save the state.

use std::collections::BTreeMap;
use std::sync::Arc;

use ecow::EcoString;
use jiff::Timestamp;
use plumb_backend::{Update, UpdateRecord};
use plumb_deploy::setup::{Operation as Deployed, Setup};
use plumb_engine::monitor::DebugMessages;
use plumb_engine::policies::PolicyPacks;
use plumb_engine::program::ProgramContext;
use plumb_engine::{Ended, RunSetup, Shell, SourceContext, Subscriber, with_causes};
use plumb_events::OperationResult;
use plumb_pcl::PclSnippets;
use plumb_resource::provider::PluginSpec;
use plumb_value::Value;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

use crate::host::{Folders, folders, plugin_host};
use crate::hosting::Schemas;
use crate::operation::{Kind, Listener, Operation};
use crate::program::Prepared;
use crate::report::Collected;
use crate::stack::outputs_of;
use crate::taken::{Taken, gate, journal, save, take};
use crate::workspace::blocking;
use crate::{Error, Report, VERSION, config, semantic_version};

/// Organization of every stack of the supported stores.
const ORGANIZATION: &str = "organization";

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
    let shell = shell.map_err(|error| Error::Program(with_causes(&error)))?;
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
        secret_parts: Vec::new(),
        policies: PolicyPacks {
            local: operation.packs.clone(),
            ..PolicyPacks::default()
        },
        host,
        secrets: gate(&taken.codec),
        journal: journal(&taken)?,
        subscriber,
        interrupts,
    };
    let ended = Box::pin(shell.run(setup)).await;
    drop(forwarding);
    let (collected, panic) = match collecting.await {
        Ok(collected) => (collected, None),
        Err(error) => (Collected::default(), error.try_into_panic().ok()),
    };
    let ended = ended.map_err(|error| Error::Program(with_causes(&error)))?;
    let report = conclude(operation, taken, ended, collected, &config, began).await?;
    // The caller's listener panicked, which must not lose the state.
    if let Some(panic) = panic {
        std::panic::resume_unwind(panic);
    }
    match report.result {
        OperationResult::Succeeded => Ok(report),
        OperationResult::Failed => Err(Error::Failed(Box::new(report))),
        OperationResult::Canceled => Err(Error::Canceled(Box::new(report))),
    }
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

/// Interrupts of the caller, those before the operation too, and the requests of other processes to end, as `plumb cancel`
/// makes them. They are forwarded until the second value is dropped.
fn interrupts(
    operation: &Operation,
    update: Option<&Update>,
) -> (watch::Receiver<u32>, AbortOnDropHandle<()>) {
    let mut own = operation.interrupts.receiver();
    let mut asked = update.and_then(Update::asked_to_end);
    let (sender, receiver) = watch::channel(0);
    let forwarding = tokio::spawn(async move {
        loop {
            let count = *own.borrow_and_update();
            let requests = u32::from(asked.as_mut().is_some_and(|it| *it.borrow_and_update()));
            let count = count.max(requests);
            sender.send_if_modified(|sent| std::mem::replace(sent, count) != count);
            tokio::select! {
                Ok(()) = own.changed() => {}
                Ok(()) = changed(&mut asked) => {}
                else => return,
            }
        }
    });
    (receiver, AbortOnDropHandle::new(forwarding))
}

/// The next change; there is none if nobody can ask.
async fn changed(asked: &mut Option<watch::Receiver<bool>>) -> Result<(), watch::error::RecvError> {
    match asked {
        Some(asked) => asked.changed().await,
        None => std::future::pending().await,
    }
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
        partly_secret: BTreeMap::new(),
        snapshot: snapshot.clone(),
        operation: deployed,
        options: operation.options.clone(),
        packages,
        seed: seed(),
        plan: operation.plan.clone(),
    }
}

/// Chance for the ids and names of one run.
pub fn seed() -> [u8; 32] {
    let mut seed = [0; 32];
    seed[..16].copy_from_slice(Uuid::new_v4().as_bytes());
    seed[16..].copy_from_slice(Uuid::new_v4().as_bytes());
    seed
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
        violations: collected.violations,
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
