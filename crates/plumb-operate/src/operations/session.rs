//! A stack that is opened for an operation, and the runs on it: first the preview, then the operation.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ecow::EcoString;
use jiff::Timestamp;
use plumb_acquire::LockMode;
use plumb_automation::codec::{ManagerCodec, recorded_manager};
use plumb_automation::hosting::by_namespace;
use plumb_automation::old_states;
use plumb_automation::stacks::{OtherStacks, Part};
use plumb_backend::{Update, UpdateRecord};
use plumb_deploy::Outcome;
use plumb_deploy::autonaming::NamingRules;
use plumb_deploy::setup::{Adoption, Operation, Options, Setup};
use plumb_deploy::snippets::SnippetChanges;
use plumb_engine::journal::RunJournal;
use plumb_engine::policies::PolicyPacks;
use plumb_engine::program::ProgramContext;
use plumb_engine::{RunSetup, SecretsGate, Shell, SourceContext};
use plumb_events::OperationResult;
use plumb_plugin::{Acquire, PluginHost};
use plumb_resource::provider::PluginSpec;

use plumb_state::plan::Plan;
use plumb_state::{CiphertextCache, Snapshot};
use plumb_value::Value;
use plumb_yaml::DiagnosticStyle;
use tokio::sync::watch;
use tracing::{Instrument as _, info_span};

use super::converted::Converted;
use super::debugging::Debugged;
use super::host::{ProjectEnvironment, ProjectProgram};
use super::import_code::SettingsOfCode;
use super::plan::{self, PlanPath};
use super::screen::{self, ScreenSetup, Seen};
use super::{naming, secrecy};
use crate::packages::log_arguments;

use crate::acquire::{self, Demands};
use crate::context::{
    ConfigCheck, LoadedProject, NewStack, Stack, StackConfig, StackSecrets, StackSettings,
    StackState, StateFallback,
};
use crate::trace::TARGET;
use crate::{Context, Error, VERSION};

/// Organization of every stack in a file store.
pub(super) const ORGANIZATION: &str = "organization";

/// Stack and settings to open.
pub(super) struct Opening<'a> {
    pub(super) stack: Option<&'a str>,
    pub(super) config_file: Option<&'a str>,
    pub(super) config: &'a [String],
    pub(super) config_paths: bool,
    pub(super) missing: crate::context::IfMissing,
    pub(super) secrets_provider: Option<&'a str>,
    pub(super) check: ConfigCheck,
    pub(super) fallback: StateFallback,
    pub(super) client: Option<String>,
    pub(super) debugged: Debugged,
    /// Whether to download missing plugins of the program before it runs.
    pub(super) checks_plugins: bool,
    /// Permitted changes of the project's lock file.
    pub(super) lock_mode: LockMode,
    /// Whether the operation changes the stack.
    pub(super) changes: bool,
    /// Whether a missing project is an error.
    pub(super) needs_project: bool,
    /// Check that needs the stack alone, made before settings are decrypted.
    pub(super) check_stack: &'a dyn Fn(&Stack) -> Result<(), Error>,
}

/// An opened stack.
pub(super) struct Session<'c> {
    ctx: &'c Context,
    pub(super) stack: Stack,
    settings: StackSettings,
    secrets: Arc<StackSecrets>,
    pub(super) config: StackConfig,
    pub(super) project_environment: ProjectEnvironment,
    /// Whether missing plugins are still to be reported.
    checks_plugins: AtomicBool,
    /// State before the operation: first as read, then with old forms upgraded.
    pub(super) base: Snapshot,
    /// Why the state is invalid, until it is reported. No run starts from an invalid state.
    invalid: Option<Error>,
    upgraded: Option<Snapshot>,
    cache: CiphertextCache,
    /// Objects of pending creates that a refresh adopts.
    pub(super) adoptions: Vec<Adoption>,
    /// Plan that constrains the runs.
    pub(super) plan: Option<Plan>,
    /// Number of resources that the preview expects the run to handle.
    pub(super) expected: Option<usize>,
    /// Resources found by a converter.
    pub(super) converted: Option<Arc<Converted>>,
    /// Snippets that runs add, change or remove.
    pub(super) snippet_changes: Option<SnippetChanges>,
    /// Snippets that the runs are limited to.
    pub(super) target_snippets: BTreeSet<EcoString>,
    /// Lock of the stack; `None` once finished, or if the stack is not changed.
    update: Option<Arc<Update>>,
    began: Timestamp,
}

/// Result of a run.
pub(super) struct RunResult {
    pub(super) outcome: Outcome,
    pub(super) seen: Seen,
    /// State after the run.
    pub(super) snapshot: Snapshot,
    /// Plan that the run made.
    pub(super) plan: Option<Plan>,
    cache: CiphertextCache,
}

impl<'c> Session<'c> {
    /// Checks the settings against the declarations of the project, for sessions that were opened without this check.
    pub(super) fn check_config(&self) -> Result<(), Error> {
        let checked = self.ctx.stack_config(
            &self.stack,
            &self.settings,
            &self.secrets,
            ConfigCheck::Required,
        );
        checked.map(drop)
    }

    /// Finds the stack, reads settings and state, and locks the stack if it will be changed.
    pub(super) fn open(ctx: &'c Context, opening: &Opening<'_>) -> Result<Self, Error> {
        let project = if opening.needs_project {
            Some(ctx.program_project()?.clone())
        } else {
            ctx.find_project()?.cloned()
        };
        if let Some(project) = &project {
            project.check_version()?;
        }
        let new = NewStack {
            secrets_provider: opening.secrets_provider,
            config_file: opening.config_file,
        };
        let stack = ctx.require_stack_with(opening.stack, opening.missing, new)?;
        if opening.changes || opening.needs_project {
            ctx.check_project_of(&stack)?;
        }
        let mut settings = ctx.settings_or_last(&stack, opening.config_file)?;
        crate::context::save_config_flags(
            &mut settings,
            stack.project_name(),
            opening.config,
            opening.config_paths,
        )?;
        // Without a settings file, only the state records how secrets are encrypted.
        let fallback = match settings.path {
            Some(_) => opening.fallback,
            None => StateFallback::Always,
        };
        ctx.check_environments(&stack, &settings)
            .map_err(|error| error.context("getting stack configuration: opening environment"))?;
        let (update, state) = taken(ctx, &stack, opening.changes)?;
        let secrets = Arc::new(ctx.stack_secrets(&settings, &stack, state.provider(), fallback)?);
        (opening.check_stack)(&stack)?;
        // If there are secret settings, most of this time goes into deriving the key from the passphrase.
        let config = info_span!(target: TARGET, "decrypt settings")
            .in_scope(|| ctx.stack_config(&stack, &settings, &secrets, opening.check))?;
        let (base, cache) = info_span!(target: TARGET, "decrypt state")
            .in_scope(|| decrypted(ctx, &state, &secrets))?;
        let invalid = if ctx.globals.disable_integrity_checking {
            None
        } else {
            verify(&base).err()
        };
        let mut project_environment = project_environment(ctx, project, &stack, &config, opening);
        project_environment.acquire =
            Some(plugin_source(ctx, &project_environment, opening.lock_mode)?);
        let mut session = Session {
            ctx,
            stack,
            settings,
            secrets,
            config,
            project_environment,
            checks_plugins: AtomicBool::new(opening.checks_plugins),
            base,
            invalid,
            upgraded: None,
            cache,
            adoptions: Vec::new(),
            plan: None,
            expected: None,
            converted: None,
            snippet_changes: None,
            target_snippets: BTreeSet::new(),
            update,
            began: Timestamp::now(),
        };
        if session.invalid.is_none() {
            session.upgrade()?;
        }
        session.save_settings()?;
        Ok(session)
    }

    /// Error if the state is invalid. It is taken: whoever asks must report it.
    pub(super) fn check_state(&mut self) -> Result<(), Error> {
        self.invalid.take().map_or(Ok(()), Err)
    }

    /// Adds the missing providers to resources of old programs (`engine.md` 3.6).
    fn upgrade(&mut self) -> Result<(), Error> {
        self.upgraded = old_states::with_providers(&self.base, &self.config.values)?;
        Ok(())
    }

    /// Naming rules in the settings.
    pub(super) fn naming(&self) -> Result<NamingRules, Error> {
        naming::rules(&naming::Place {
            organization: ORGANIZATION,
            project: self.stack.project_name(),
            stack: self.stack.name(),
            config: &self.config.encrypted,
            decrypt: &|ciphertext| Ok(self.secrets.decrypt(ciphertext)?.expose().to_owned()),
        })
    }

    /// Removes the pending operations of the state for which `keeps` is false.
    pub(super) fn keep_pending(&mut self, keeps: &[bool]) {
        for snapshot in std::iter::once(&mut self.base).chain(&mut self.upgraded) {
            let mut keeps = keeps.iter();
            snapshot
                .pending_operations
                .retain(|_| keeps.next().copied().unwrap_or(true));
        }
    }

    /// Constrains all following runs by the plan in a file.
    pub(super) fn hold_to(&mut self, shown: &str) -> Result<(), Error> {
        let path = self.ctx.environment.cwd.join(shown);
        let named = PlanPath { path: &path, shown };
        self.plan = Some(plan::read(named, self.secrets.as_ref())?);
        Ok(())
    }

    /// Writes a plan to a file.
    pub(super) fn save_plan(
        &self,
        shown: &str,
        plan: &Plan,
        show_secrets: bool,
    ) -> Result<(), Error> {
        let path = self.ctx.environment.cwd.join(shown);
        let named = PlanPath { path: &path, shown };
        let config = &self.config.encrypted;
        plan::write(named, plan, config, self.secrets.as_ref(), show_secrets)
    }

    /// Runs an operation on the state before.
    pub(super) async fn run(
        &mut self,
        operation: Operation,
        options: Options,
        policies: PolicyPacks,
        screen: ScreenSetup,
        interrupts: watch::Receiver<u32>,
    ) -> Result<RunResult, Error> {
        let is_preview = options.is_preview();
        let info = self.program_info(&options);
        let source = SourceContext {
            root: self.project_environment.root.clone(),
            working_directory: self.project_environment.program_directory.clone(),
            version: crate::semantic_version(),
        };
        let debug = screen.debug_messages();
        let shell = Shell::listen(&info, source, debug).await?;
        let host = Arc::new(self.project_environment.plugin_host(
            shell.address(),
            shell.monitor(),
            debug,
        )?);
        let runs_program = runs_program(&operation, &options);
        let program = if runs_program || matches!(operation, Operation::Import(_)) {
            let span = info_span!(target: TARGET, "prepare program");
            let program = self
                .project_environment
                .program(&host)
                .instrument(span)
                .await;
            program.inspect_err(|_| screen.announce())?
        } else {
            ProjectProgram::default()
        };
        let base = self.upgraded.clone().unwrap_or_else(|| self.base.clone());
        self.require_secrets(&base, &program.packages, &host, is_preview)?;
        let journal = self.open_journal(&base, is_preview)?;
        // Nothing below fails before the run begins.
        let has_downloads = screen.has_downloads();
        let (subscriber, shown) = screen::start(screen);
        if has_downloads {
            self.project_environment.downloads.follow(&subscriber);
        }
        if runs_program {
            self.warn_of_missing_plugins(&program, &host).await;
        } else {
            self.project_environment
                .warn_of_older_packages(&operation, &base, &host)
                .await;
        }
        let run = RunSetup {
            setup: self.setup(base, operation, options, program.packages),
            program: program.program.filter(|_| runs_program),
            snippets: Some(self.project_environment.snippets(&host)),
            info,
            secret_parts: self.config.secret_parts.clone(),
            policies,
            host,
            secrets: self.secrets_gate(is_preview),
            journal,
            subscriber,
            interrupts,
        };
        let ended = Box::pin(shell.run(run)).await;
        let seen = shown
            .await
            .map_err(|error| Error::user(format!("the display ended: {error}")))?;
        let ended = ended?;
        let (snapshot, cache) = ended.journal.finish(Timestamp::now(), VERSION)?;
        Ok(RunResult {
            outcome: ended.outcome,
            seen,
            snapshot,
            plan: ended.plan,
            cache,
        })
    }

    /// Only once, because an update would repeat the warning of its preview.
    async fn warn_of_missing_plugins(&self, program: &ProjectProgram, host: &Arc<PluginHost>) {
        if self.checks_plugins.swap(false, Ordering::Relaxed)
            && let Some(missing) = program.missing_plugins(host).await
        {
            self.ctx.printer.warning(&missing);
        }
    }

    /// Journal of a run. If the state must be rewritten first, the rewritten state is its first entry.
    fn open_journal(&self, base: &Snapshot, is_preview: bool) -> Result<RunJournal, Error> {
        let codec: Arc<StackSecrets> = self.secrets.clone();
        let update = self.update.clone().filter(|_| !is_preview);
        let mut journal = RunJournal::new(self.base.clone(), update, codec, self.cache.clone());
        if !is_preview && let Some(written) = self.rewritten(base)? {
            journal.begin_with(written)?;
        }
        Ok(journal)
    }

    /// Prepares the secrets manager, with a question if needed, before any output, if it is known that plugins will be
    /// called.
    fn require_secrets(
        &self,
        base: &Snapshot,
        packages: &[PluginSpec],
        host: &PluginHost,
        is_preview: bool,
    ) -> Result<(), Error> {
        if self.secrets.is_given()? {
            return Ok(());
        }
        // A preview finds out which of the packages the program uses; the question can follow it.
        let packages = if !is_preview && self.secrets.would_ask()? {
            packages
        } else {
            &[]
        };
        if secrecy::calls_plugins(base, packages, host) {
            self.secrets.prepare().map_err(secrecy::unavailable)?;
        }
        Ok(())
    }

    /// A gate that opens once secrets can be encrypted; it never prompts.
    fn secrets_gate(&self, is_preview: bool) -> SecretsGate {
        let secrets = self.secrets.clone();
        SecretsGate::new(move || {
            let prepared = secrets.prepare_unasked(is_preview);
            prepared.map_err(|error| crate::error::chain(&error))
        })
    }

    fn setup(
        &self,
        snapshot: Snapshot,
        operation: Operation,
        options: Options,
        packages: Vec<PluginSpec>,
    ) -> Setup {
        Setup {
            stack: self.stack.name().into(),
            project: self.stack.project_name().into(),
            config: self.config.values.clone(),
            partly_secret: self.config.partly_secret.clone(),
            snapshot,
            operation,
            options,
            packages,
            seed: plumb_automation::seed(),
            plan: self.plan.clone(),
        }
    }

    pub(super) fn program_info(&self, options: &Options) -> ProgramContext {
        let mut config = BTreeMap::new();
        let mut secret_keys = Vec::new();
        for (key, value) in &self.config.values {
            let plain = value.without_secrets();
            config.insert(
                key.to_string(),
                plain.as_str().unwrap_or_default().to_owned(),
            );
            if matches!(value, Value::Secret(_)) {
                secret_keys.push(key.to_string());
            }
        }
        ProgramContext {
            project: self.stack.project_name().to_owned(),
            stack: self.stack.name().to_owned(),
            organization: ORGANIZATION.to_owned(),
            config: Arc::new(config),
            config_secret_keys: Arc::new(secret_keys),
            dry_run: options.is_preview(),
            parallel: i32::try_from(options.parallel).unwrap_or(i32::MAX),
            resource_references: options.resource_references,
            root_directory: self.project_environment.root.clone(),
            program_directory: self.project_environment.program_directory.clone(),
            monitor_address: String::new(),
            engine_address: String::new(),
        }
    }

    /// Tags of the stack.
    pub(super) fn tags(&self) -> Result<BTreeMap<String, String>, Error> {
        Ok(self.stack.backend.tags(&self.stack.reference)?)
    }

    /// The state with which the journal must begin if it differs from the one that was read: an upgraded one, or one
    /// encrypted in a different way than the following entries. Otherwise the two could not be read together after a
    /// crash.
    fn rewritten(&self, base: &Snapshot) -> Result<Option<Snapshot>, Error> {
        if base.resources.iter().any(|state| state.has_secrets()) {
            self.prepare_secrets()?;
        }
        let provider = self.secrets.provider();
        if provider.is_none() || provider == base.secrets_provider {
            return Ok(self.upgraded.clone());
        }
        Ok(Some(Snapshot {
            secrets_provider: provider,
            ..base.clone()
        }))
    }

    /// Checks before any change that secrets can be encrypted. Called if the state or the preview contains secrets.
    pub(super) fn prepare_secrets(&self) -> Result<(), Error> {
        self.secrets.manager_or_new()?.check()?;
        Ok(())
    }

    /// Checks that secrets can be encrypted if the preview called a plugin, because plugins may return secrets.
    pub(super) fn prepare_wanted_secrets(&self) -> Result<(), Error> {
        if self.secrets.is_wanted() {
            self.secrets.prepare()?;
        }
        Ok(())
    }

    /// Saves the state after a run, and unlocks the stack.
    pub(super) fn finish(
        mut self,
        ran: RunResult,
        kind: &str,
        message: String,
        environment: BTreeMap<String, String>,
    ) -> Result<(), Error> {
        let RunResult {
            outcome,
            seen,
            snapshot,
            plan: _,
            mut cache,
        } = ran;
        let Some(update) = self.update.take().and_then(Arc::into_inner) else {
            return Ok(());
        };
        let mut encrypted = info_span!(target: TARGET, "encrypt state")
            .in_scope(|| snapshot.encrypt(self.secrets.as_ref(), &mut cache))?;
        // Queried after the encryption, because the first secret adds a manager to a stack whose settings name none.
        if let Some(provider) = self.secrets.provider() {
            encrypted.set_secrets_provider(Some(provider));
        }
        let record = UpdateRecord {
            kind: kind.to_owned(),
            start_time: self.began.as_second(),
            message,
            environment,
            config: match self.config.encrypted.to_json() {
                serde_json::Value::Object(map) => map,
                _ => serde_json::Map::new(),
            },
            version: 0,
            result: match outcome.result {
                OperationResult::Succeeded => "succeeded",
                OperationResult::Failed | OperationResult::Canceled => "failed",
            }
            .to_owned(),
            end_time: Timestamp::now().as_second(),
            resource_changes: seen.summary.map(|summary| {
                summary
                    .resource_changes
                    .iter()
                    .map(|(op, n)| (op.as_str().to_owned(), u64::from(*n)))
                    .collect()
            }),
        };
        let saving = info_span!(target: TARGET, "save state").entered();
        let finished = update.finish(Some(&encrypted), Some(&record))?;
        drop(saving);
        for error in [finished.history, finished.backup].into_iter().flatten() {
            self.ctx.printer.warning(&crate::error::chain(&error));
        }
        self.save_settings()
    }

    /// The settings for secrets in generated code.
    pub(super) fn settings_of_code(&self, can_save: bool) -> SettingsOfCode {
        SettingsOfCode {
            file: self.settings.clone(),
            secrets: Arc::clone(&self.secrets),
            project: self.stack.project_name().to_owned(),
            can_save,
        }
    }

    /// Saves the settings, if they have a file. Without one, only the state records the secrets manager.
    fn save_settings(&mut self) -> Result<(), Error> {
        if self.settings.path.is_none() {
            return Ok(());
        }
        self.settings.save(Some(&self.secrets))
    }

    /// Becomes true when somebody asks for the end of the update; none if the stack is not taken.
    pub(super) fn asked_to_end(&self) -> Option<watch::Receiver<bool>> {
        self.update.as_ref()?.asked_to_end()
    }

    /// Unlocks the stack without a change.
    pub(super) fn leave(mut self) {
        self.update = None;
    }
}

/// State of the stack, which is locked first if it will be changed.
fn taken(
    ctx: &Context,
    stack: &Stack,
    changes: bool,
) -> Result<(Option<Arc<Update>>, StackState), Error> {
    if !changes {
        let span = info_span!(target: TARGET, "load state");
        return Ok((None, span.in_scope(|| ctx.load_state(stack))?));
    }
    let update = info_span!(target: TARGET, "take the stack").in_scope(|| ctx.take_stack(stack))?;
    let state = StackState::of_update(&update);
    Ok((Some(Arc::new(update)), state))
}

fn verify(base: &Snapshot) -> Result<(), Error> {
    base.verify().map_err(|error| {
        Error::user(format!("{error}; `plumb state repair` may help"))
            .context("the state of the stack is invalid")
    })
}

/// The state with decrypted secrets. Ciphertexts are kept for reuse if the stack still uses the same encryption.
fn decrypted(
    ctx: &Context,
    state: &StackState,
    secrets: &StackSecrets,
) -> Result<(Snapshot, CiphertextCache), Error> {
    let mut cache = CiphertextCache::new();
    let recorded = state.provider().cloned();
    let snapshot = if recorded.is_some() && recorded == secrets.provider() {
        decrypt(state, secrets, &mut cache)?
    } else {
        let codec = ctx.codec_of(recorded.as_ref())?;
        decrypt(state, &codec, &mut CiphertextCache::new())?
    };
    Ok((snapshot, cache))
}

fn decrypt(
    state: &StackState,
    codec: &dyn plumb_state::SecretCodec,
    cache: &mut CiphertextCache,
) -> Result<Snapshot, Error> {
    Ok(match state {
        StackState::Nothing => Snapshot::default(),
        StackState::File(deployment) => deployment.decrypt(codec, cache)?,
        StackState::Folded(snapshot) => snapshot.decrypt(codec, cache)?,
    })
}

fn project_environment(
    ctx: &Context,
    project: Option<LoadedProject>,
    stack: &Stack,
    config: &StackConfig,
    opening: &Opening<'_>,
) -> ProjectEnvironment {
    let (root, program_directory) = ctx.program_folders(project.as_ref());
    ProjectEnvironment {
        environment: ctx.environment.clone(),
        project,
        root,
        program_directory,
        plugins: Vec::new(),
        config: by_namespace(&config.values),
        log_arguments: log_arguments(&ctx.globals),
        client: opening.client.clone(),
        debugged: opening.debugged.clone(),
        stacks: Arc::new(stack_reader(ctx, stack)),
        acquire: None,
        downloads: Arc::default(),
        told: Arc::default(),
        diagnostics: if ctx.is_interactive() {
            DiagnosticStyle::Annotated
        } else {
            DiagnosticStyle::Excerpt
        },
    }
}

/// Downloader of missing plugins, which also verifies installed ones.
pub(super) fn plugin_source(
    ctx: &Context,
    project_environment: &ProjectEnvironment,
    lock_mode: LockMode,
) -> Result<Arc<dyn Acquire>, Error> {
    let has_project = project_environment.project.is_some();
    if !has_project && lock_mode == LockMode::Frozen {
        return Err(Error::user(
            "--locked needs plumb.lock, which is beside the project file, and there is no project here; change to its folder, \
             or name it with --cwd",
        ));
    }
    let demands = Demands {
        project: has_project.then_some(project_environment.root.as_path()),
        lock_mode,
        listener: project_environment.downloads.clone(),
        ..Demands::default()
    };
    acquire::unasked(&ctx.environment, &ctx.printer, &demands)
}

/// Reads other stacks in the same backend, each with the secrets manager that its state records.
fn stack_reader(ctx: &Context, stack: &Stack) -> OtherStacks {
    let backend = stack.backend.clone();
    let project = plumb_project::ProjectName::unchecked(stack.project_name());
    let (passphrases, keys) = (ctx.passphrases().clone(), ctx.cloud_keys().clone());
    let fails_at = ctx
        .environment
        .get("PLUMB_TEST_DEFECT")
        .map(ToOwned::to_owned);
    let read = move |name: &str, part: Part| -> Result<Snapshot, Error> {
        // Hook for tests, which have no other way to cause a panic in the middle of an update of the shipped binary.
        let is_wanted = fails_at.as_deref() == Some(name);
        assert!(!is_wanted, "a test wants a defect");
        let reference = backend.parse_stack(name, Some(&project))?;
        if !backend.stack_exists(&reference)? {
            return Err(Error::user(format!("unknown stack {name:?}")));
        }
        part.read(&*backend, &reference, |recorded| {
            recorded_codec(recorded, &passphrases, &keys)
        })
    };
    OtherStacks::new(Arc::new(move |name, part| {
        read(name, part).map_err(|error| error.text().unwrap_or_default())
    }))
}

/// Codec for the secrets manager that a snapshot records.
pub(super) fn recorded_codec(
    snapshot: &Snapshot,
    passphrases: &plumb_secrets::Passphrases,
    keys: &plumb_secrets::CloudKeys,
) -> Result<ManagerCodec, Error> {
    let provider = snapshot.secrets_provider.as_ref();
    Ok(ManagerCodec(recorded_manager(provider, passphrases, keys)?))
}

fn runs_program(operation: &Operation, options: &Options) -> bool {
    match operation {
        Operation::Update => true,
        Operation::Refresh | Operation::Destroy => options.run_program,
        Operation::Import(_) => false,
    }
}
