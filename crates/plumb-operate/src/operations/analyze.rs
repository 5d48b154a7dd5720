//! `policy analyze` (`cli.md` 11): policy packs over a state as it is.
//!
//! The state is that of a stack, or of a file that `stack export` has written; a file needs no backend. No program runs and
//! no provider is called.

use std::collections::BTreeMap;
use std::sync::Arc;

use plumb_acquire::LockMode;
use plumb_deploy::setup::{Options, Phase};
use plumb_display::{Action, Options as DisplayOptions, View};
use plumb_engine::analysis::{AnalysisSetup, Analyzed};
use plumb_engine::policies::PolicyPacks;
use plumb_engine::program::ProgramContext;
use plumb_engine::{Shell, SourceContext};
use plumb_state::file::{Deployment, parse_deployment};
use plumb_state::{CiphertextCache, CodecError, SecretCodec, Snapshot};
use plumb_value::Value;

use super::debugging::Debugged;
use super::host::ProjectEnvironment;
use super::policies::PackFlags;
use super::screen::{self, Form, ScreenSetup};
use super::session::{ORGANIZATION, Opening, Session, plugin_source, recorded_codec};
use super::standalone_host::project_environment;
use super::{interrupts, policies};
use crate::context::{ConfigCheck, IfMissing, StateFallback};
use crate::identity::Code;
use crate::{Context, Error, ExitStatus};

/// Request to run policy packs over a state.
#[derive(Clone, Debug, Default)]
pub struct AnalysisRequest {
    /// Name of the stack; the selected one without it.
    pub stack: Option<String>,
    /// Path of a file with a state, instead of a stack.
    pub file: Option<String>,
    /// Whether violations are shown as a difference.
    pub diff: bool,
    /// Whether events are printed as JSON.
    pub json: bool,
    /// The packs: at least one.
    pub packs: PackFlags,
}

/// Input of the packs.
struct Subject {
    /// Name of the stack or file, for the message about an empty state.
    description: String,
    snapshot: Snapshot,
    project_environment: ProjectEnvironment,
    info: ProgramContext,
    secret_parts: Vec<Value>,
    tags: BTreeMap<String, String>,
}

/// Runs policy packs over a state.
pub fn analyze(ctx: &Context, request: &AnalysisRequest) -> Result<ExitStatus, Error> {
    if request.packs.packs.is_empty() {
        return Err(Error::user(
            "at least one --policy-pack path must be specified",
        ));
    }
    request.packs.check()?;
    let subject = match &request.file {
        Some(file) => of_file(file, ctx)?,
        None => of_stack(request.stack.as_deref(), ctx)?,
    };
    if subject.snapshot.resources.is_empty() {
        let description = &subject.description;
        ctx.printer.info(&format!(
            "{description} has no resources; nothing to analyze."
        ));
        return Ok(ExitStatus::Success);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .thread_stack_size(crate::WORKER_STACK)
        .enable_all()
        .build()
        .map_err(|error| Error::user(format!("could not start: {error}")))?;
    let analyzed = runtime.block_on(judge(ctx, request, subject));
    runtime.shutdown_background();
    match analyzed? {
        Analyzed::Passed => Ok(ExitStatus::Success),
        Analyzed::Refused => Err(
            Error::user("one or more mandatory policy violations were found")
                .known(Code::PolicyViolated),
        ),
        Analyzed::Interrupted => Ok(ExitStatus::Cancelled),
        Analyzed::Failed => Ok(ExitStatus::Failure),
    }
}

async fn judge(
    ctx: &Context,
    request: &AnalysisRequest,
    subject: Subject,
) -> Result<Analyzed, Error> {
    let interrupts = interrupts::listen(ctx.printer.clone(), None)?;
    let local = policies::local_packs(ctx, &request.packs)?;
    let screen = ScreenSetup {
        printer: ctx.printer.clone(),
        store: ctx.store.clone(),
        explains: false,
        record: None,
        options: display_options(ctx, request, &subject.info),
        form: if request.json {
            Form::EventLines
        } else {
            Form::Human
        },
        event_log: None,
        keeps_events: false,
        reports: false,
        show_secrets: false,
        advises: ctx.environment.stderr_is_terminal,
    };
    let project_environment = &subject.project_environment;
    let source = SourceContext {
        root: project_environment.root.clone(),
        working_directory: project_environment.program_directory.clone(),
        version: crate::semantic_version(),
    };
    let debug = screen.debug_messages();
    let shell = Shell::listen(&subject.info, source, debug).await?;
    let host = project_environment.plugin_host(shell.address(), shell.monitor(), debug)?;
    let parallel = ctx.environment.non_empty("PULUMI_PARALLEL_ANALYZE");
    let (subscriber, shown) = screen::start(screen);
    let setup = AnalysisSetup {
        snapshot: subject.snapshot,
        info: subject.info,
        secret_parts: subject.secret_parts,
        policies: PolicyPacks {
            local,
            required: Vec::new(),
            stack_tags: subject.tags,
            parallel: parallel.and_then(|text| text.parse().ok()),
        },
        host: Arc::new(host),
        subscriber,
        interrupts,
    };
    let analyzed = Box::pin(shell.analyze(setup)).await;
    shown
        .await
        .map_err(|error| Error::user(format!("the display ended: {error}")))?;
    Ok(analyzed)
}

fn display_options(
    ctx: &Context,
    request: &AnalysisRequest,
    info: &ProgramContext,
) -> DisplayOptions {
    DisplayOptions {
        view: if request.diff {
            View::Diff
        } else {
            View::Progress
        },
        program: ctx.printer.program().into(),
        color: ctx.printer.color(),
        show_policy_remediations: true,
        emoji: ctx.globals.emoji,
        began: jiff::Timestamp::now().as_second(),
        ..DisplayOptions::new(
            Action::Analyze,
            false,
            info.stack.as_str(),
            info.project.as_str(),
        )
    }
}

/// State of a stack.
fn of_stack(name: Option<&str>, ctx: &Context) -> Result<Subject, Error> {
    let mut session = Session::open(
        ctx,
        &Opening {
            stack: name,
            config_file: None,
            config: &[],
            config_paths: false,
            missing: IfMissing::Fail,
            secrets_provider: None,
            check: ConfigCheck::Skipped,
            fallback: StateFallback::Always,
            client: None,
            debugged: Debugged::default(),
            checks_plugins: false,
            lock_mode: LockMode::Update,
            changes: false,
            needs_project: false,
            check_stack: &|_| Ok(()),
        },
    )?;
    session.check_state()?;
    Ok(Subject {
        description: format!("Stack {}", session.stack.shown),
        info: session.program_info(&Options::new(Phase::Preview)),
        secret_parts: session.config.secret_parts.clone(),
        tags: session.tags()?,
        snapshot: session.base,
        project_environment: session.project_environment,
    })
}

/// State in a file. Needs neither a backend nor settings.
fn of_file(file: &str, ctx: &Context) -> Result<Subject, Error> {
    let path = ctx.environment.cwd.join(file);
    let bytes = std::fs::read(&path).map_err(|error| {
        Error::from(error).context(format!("could not open file {}", path.display()))
    })?;
    let deployment = parse_deployment(&bytes)
        .map_err(|error| Error::from(error).context(format!("reading deployment from {file}")))?;
    let snapshot = decrypted(&deployment, file, ctx)?;
    let (stack, project) = origin(&snapshot);
    let mut project_environment =
        project_environment(ctx, Vec::new(), "a state in a file knows no other stacks")?;
    project_environment.acquire = Some(plugin_source(ctx, &project_environment, LockMode::Update)?);
    let info = ProgramContext {
        project,
        stack,
        organization: ORGANIZATION.to_owned(),
        config: Arc::default(),
        config_secret_keys: Arc::default(),
        dry_run: true,
        parallel: crate::Environment::default_parallel(),
        resource_references: true,
        root_directory: project_environment.root.clone(),
        program_directory: project_environment.program_directory.clone(),
        monitor_address: String::new(),
        engine_address: String::new(),
    };
    Ok(Subject {
        description: format!("File {file}"),
        snapshot,
        project_environment,
        info,
        secret_parts: Vec::new(),
        tags: BTreeMap::new(),
    })
}

/// The state with its secrets decrypted, or redacted if they cannot be decrypted here.
fn decrypted(deployment: &Deployment, file: &str, ctx: &Context) -> Result<Snapshot, Error> {
    let codec = recorded_codec(deployment.opaque(), ctx.passphrases(), ctx.cloud_keys());
    let opened =
        codec.and_then(|codec| Ok(deployment.decrypt(&codec, &mut CiphertextCache::new())?));
    opened.or_else(|_| {
        let snapshot = deployment.decrypt(&Redaction, &mut CiphertextCache::new())?;
        ctx.printer.warning(&format!(
            "could not decrypt secrets in {file}; analyzing with secret values redacted"
        ));
        Ok(snapshot)
    })
}

/// Stack and project in the URNs of the resources.
fn origin(snapshot: &Snapshot) -> (String, String) {
    let mut origins = snapshot
        .resources
        .iter()
        .map(|state| (state.urn.stack().to_owned(), state.urn.project().to_owned()));
    let Some(first) = origins.next() else {
        return ("unknown".to_owned(), "unknown".to_owned());
    };
    if origins.all(|other| other == first) {
        first
    } else {
        ("multiple".to_owned(), "multiple".to_owned())
    }
}

/// Replacement for a secrets manager that is not available: decrypts every secret to the same text.
struct Redaction;

impl SecretCodec for Redaction {
    fn encrypt_batch(&self, _: &[&plumb_state::Plaintext]) -> Result<Vec<String>, CodecError> {
        Err(CodecError::new(
            "secrets that cannot be read cannot be written",
        ))
    }

    fn decrypt_batch(
        &self,
        ciphertexts: &[&str],
    ) -> Result<Vec<plumb_state::Plaintext>, CodecError> {
        let redacted = || plumb_state::Plaintext::new("\"[secret]\"".to_owned());
        Ok(ciphertexts.iter().map(|_| redacted()).collect())
    }
}
