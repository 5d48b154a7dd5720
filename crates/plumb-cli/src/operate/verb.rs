//! The way that every operation goes: open, preview, confirm, run, save.

use std::collections::BTreeMap;
use std::time::Duration;

use plumb_acquire::LockMode;
use plumb_deploy::autonaming::NamingRules;
use plumb_deploy::setup::{Operation, Options, Phase};
use plumb_deploy::target::UrnSet;
use plumb_display::{Action, DiffView, Options as DisplayOptions, View};
use plumb_engine::policies::PolicyPacks;
use plumb_events::{Event, OperationResult};

use super::args::{
    CommonArgs, DestroyArgs, ImportArgs, PreviewArgs, ProgramArgs, RefreshArgs, UpArgs, UpdateArgs,
    refuse,
};
use super::drift::{self, DriftArgs};
use super::event_log::{Delivery, EventLog};
use super::import::Listing;
use super::import_code::CodeRequest;
use super::pending::PendingCreates;
use super::screen::{Form, ScreenSetup};
use super::session::{Opening, Ran, Session};
use super::{import, import_code, import_file, interrupts, policies, runs};
use crate::commands::wants_json;
use crate::context::{ConfigCheck, IfMissing, StateFallback};
use crate::{Context, Error, ExitStatus, prompt};

/// How long the last events may take to arrive where somebody listens.
const DELIVERY: Duration = Duration::from_secs(10);

/// Which operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Up,
    Preview,
    Refresh,
    Destroy,
    Import,
}

impl Kind {
    /// The word in questions and messages.
    fn word(self) -> &'static str {
        match self {
            Kind::Up => "update",
            Kind::Preview => "preview",
            Kind::Refresh => "refresh",
            Kind::Destroy => "destroy",
            Kind::Import => "import",
        }
    }

    /// The kind in the history.
    fn history(self) -> &'static str {
        match self {
            Kind::Up | Kind::Preview => "update",
            Kind::Import => "resource-import",
            other => other.word(),
        }
    }

    fn action(self) -> Action {
        match self {
            Kind::Up | Kind::Preview => Action::Update,
            Kind::Refresh => Action::Refresh,
            Kind::Destroy => Action::Destroy,
            Kind::Import => Action::Import,
        }
    }
}

/// An operation with its flags, whatever command they came from.
pub(super) struct Verb {
    kind: Kind,
    common: CommonArgs,
    program: Option<ProgramArgs>,
    update: Option<UpdateArgs>,
    import: Option<ImportArgs>,
    exclude: Vec<String>,
    exclude_dependents: bool,
    exclude_protected: bool,
    refresh: Option<String>,
    expect_no_changes: bool,
    continue_on_error: bool,
    ignore_protect: bool,
    secrets_provider: Option<String>,
    preview_only: bool,
    skip_preview: bool,
    yes: bool,
    remove: bool,
    show_config: bool,
    show_full_output: bool,
    pending_creates: PendingCreates,
    /// Where to write the plan of the preview.
    save_plan: Option<String>,
    /// Where to list what the preview would create.
    import_file: Option<String>,
    /// The plan to keep to.
    plan: Option<String>,
    /// Whether the update keeps to its own preview.
    is_strict: bool,
    /// Whether the update is one of `watch`.
    is_watch: bool,
    /// Whether only the drift is wanted that a preview finds.
    is_drift: bool,
}

impl Verb {
    fn new(kind: Kind, common: CommonArgs) -> Self {
        Verb {
            kind,
            common,
            program: None,
            update: None,
            import: None,
            exclude: Vec::new(),
            exclude_dependents: false,
            exclude_protected: false,
            refresh: None,
            expect_no_changes: false,
            continue_on_error: false,
            ignore_protect: false,
            secrets_provider: None,
            preview_only: false,
            skip_preview: false,
            yes: false,
            remove: false,
            show_config: false,
            show_full_output: false,
            pending_creates: PendingCreates::default(),
            save_plan: None,
            import_file: None,
            plan: None,
            is_strict: false,
            is_watch: false,
            is_drift: false,
        }
    }

    fn with_update(mut self, update: UpdateArgs) -> Result<Self, Error> {
        refuse(&[(!update.attach_debugger.is_empty(), "attach-debugger")])?;
        policies::check_pairs(update.policy_pack.len(), update.policy_pack_config.len())?;
        self.refresh.clone_from(&update.refresh);
        self.expect_no_changes = update.expect_no_changes;
        self.exclude_dependents = update.exclude_dependents;
        self.ignore_protect = update.ignore_protect;
        self.show_config = update.show_config;
        self.show_full_output = update.show_full_output;
        self.update = Some(update);
        Ok(self)
    }

    fn with_program(mut self, program: ProgramArgs) -> Result<Self, Error> {
        refuse(&[(!program.override_env.is_empty(), "override-env")])?;
        self.program = Some(program);
        Ok(self)
    }

    pub(super) fn up(args: UpArgs) -> Result<Self, Error> {
        if args.strict && args.skip_preview {
            return Err(Error::user(
                "--strict cannot be used with --skip-preview; strict requires a preview",
            ));
        }
        Ok(Verb {
            exclude: args.exclude,
            continue_on_error: args.continue_on_error,
            secrets_provider: Some(args.secrets_provider),
            skip_preview: args.skip_preview,
            yes: args.yes,
            plan: args.plan,
            is_strict: args.strict,
            ..Verb::new(Kind::Up, args.common)
                .with_program(args.program)?
                .with_update(args.update)?
        })
    }

    /// An update of `watch`, which shows less.
    pub(super) fn watch(args: UpArgs) -> Result<Self, Error> {
        Ok(Verb {
            is_watch: true,
            ..Verb::up(args)?
        })
    }

    pub(super) fn preview(args: PreviewArgs) -> Result<Self, Error> {
        Ok(Verb {
            exclude: args.exclude,
            preview_only: true,
            import_file: args.import_file,
            save_plan: args.save_plan,
            ..Verb::new(Kind::Preview, args.common)
                .with_program(args.program)?
                .with_update(args.update)?
        })
    }

    pub(super) fn refresh(args: RefreshArgs) -> Result<Self, Error> {
        let pending_creates = PendingCreates::of(&args)?;
        check_preview_flags(args.yes, args.skip_preview, args.preview_only)?;
        Ok(Verb {
            exclude: args.exclude,
            exclude_dependents: args.exclude_dependents,
            expect_no_changes: args.expect_no_changes,
            preview_only: args.preview_only,
            skip_preview: args.skip_preview,
            yes: args.yes,
            pending_creates,
            ..Verb::new(Kind::Refresh, args.common).with_program(args.program)?
        })
    }

    pub(super) fn drift(args: DriftArgs) -> Result<Self, Error> {
        Ok(Verb {
            exclude: args.exclude,
            preview_only: true,
            is_drift: true,
            ..Verb::new(Kind::Refresh, args.common).with_program(args.program)?
        })
    }

    pub(super) fn destroy(args: DestroyArgs) -> Result<Self, Error> {
        check_preview_flags(args.yes, args.skip_preview, args.preview_only)?;
        Ok(Verb {
            exclude: args.exclude,
            exclude_protected: args.exclude_protected,
            refresh: args.refresh,
            continue_on_error: args.continue_on_error,
            ignore_protect: args.ignore_protect,
            preview_only: args.preview_only,
            skip_preview: args.skip_preview,
            yes: args.yes,
            remove: args.remove,
            show_config: args.show_config,
            show_full_output: args.show_full_output,
            ..Verb::new(Kind::Destroy, args.common).with_program(args.program)?
        })
    }

    pub(super) fn import(args: ImportArgs) -> Result<Self, Error> {
        refuse(&[
            (args.from.is_some(), "from"),
            (args.generate_resources.is_some(), "generate-resources"),
        ])?;
        check_preview_flags(args.yes, args.skip_preview, args.preview_only)?;
        Ok(Verb {
            preview_only: args.preview_only,
            skip_preview: args.skip_preview,
            yes: args.yes,
            import: Some(args.clone()),
            ..Verb::new(Kind::Import, args.common)
        })
    }

    fn is_yes(&self, ctx: &Context) -> bool {
        self.yes || ctx.environment.is_on("PULUMI_SKIP_CONFIRMATIONS")
    }

    fn runs_program(&self, ctx: &Context) -> bool {
        let asked = self
            .program
            .as_ref()
            .and_then(|program| program.run_program);
        asked.unwrap_or_else(|| ctx.environment.is_on("PULUMI_RUN_PROGRAM"))
    }

    /// Whether everything is read first: the flag, or else the project.
    fn refreshes(&self, ctx: &Context) -> Result<bool, Error> {
        if let Some(text) = &self.refresh {
            return match text.as_str() {
                "" | "true" => Ok(true),
                "false" => Ok(false),
                other => Err(Error::user(format!(
                    "invalid argument {other:?} for \"-r, --refresh\" flag"
                ))),
            };
        }
        let applies = matches!(self.kind, Kind::Up | Kind::Preview | Kind::Destroy);
        Ok(applies
            && ctx
                .find_project()?
                .is_some_and(|project| project.project.refresh_always))
    }

    fn options(
        &self,
        ctx: &Context,
        phase: Phase,
        session: &Session<'_>,
    ) -> Result<Options, Error> {
        let (mut targets, mut replaces) = (Vec::new(), Vec::new());
        if let Some(program) = &self.program {
            targets.extend(program.target.clone());
        }
        if let Some(update) = &self.update {
            targets.extend(update.target_replace.clone());
            replaces.extend(update.replace.clone());
            replaces.extend(update.target_replace.clone());
        }
        let mut excludes = self.exclude.clone();
        if self.exclude_protected {
            excludes.extend(protected_urns(&session.base));
        }
        let continue_on_error =
            self.continue_on_error || ctx.environment.is_on("PULUMI_CONTINUE_ON_ERROR");
        let parallel = ctx
            .environment
            .non_empty("PULUMI_PARALLEL")
            .and_then(|text| text.parse().ok());
        let asked = if self.common.parallel == crate::Environment::default_parallel() {
            parallel.unwrap_or(self.common.parallel)
        } else {
            self.common.parallel
        };
        Ok(Options {
            parallel: u32::try_from(asked.max(1)).unwrap_or(1),
            refresh: self.refreshes(ctx)?,
            run_program: self.runs_program(ctx),
            targets: UrnSet::new(targets),
            target_dependents: self
                .program
                .as_ref()
                .is_some_and(|program| program.target_dependents),
            excludes: UrnSet::new(excludes),
            exclude_dependents: self.exclude_dependents,
            replace_targets: UrnSet::new(replaces),
            continue_on_error,
            ignore_protect: self.ignore_protect,
            legacy_diff: ctx.environment.is_on("PULUMI_ENABLE_LEGACY_DIFF"),
            legacy_refresh_diff: ctx.environment.is_on("PULUMI_ENABLE_LEGACY_REFRESH_DIFF"),
            show_secrets: self
                .update
                .as_ref()
                .is_some_and(|update| update.show_secrets),
            resource_references: !ctx.environment.is_on("PULUMI_DISABLE_RESOURCE_REFERENCES"),
            naming: match self.kind {
                Kind::Up | Kind::Preview => session.naming()?,
                Kind::Refresh | Kind::Destroy | Kind::Import => NamingRules::default(),
            },
            adoptions: session.adoptions.clone(),
            makes_plan: phase == Phase::Preview && (self.is_strict || self.save_plan.is_some()),
            ..Options::new(phase)
        })
    }

    /// The policy packs that look at a run. Backends that store files demand none.
    fn policies(&self, ctx: &Context, session: &Session<'_>) -> Result<PolicyPacks, Error> {
        let Some(update) = &self.update else {
            return Ok(PolicyPacks::default());
        };
        let local = policies::local_packs(ctx, &update.policy_pack, &update.policy_pack_config)?;
        if local.is_empty() {
            return Ok(PolicyPacks::default());
        }
        let parallel = ctx.environment.non_empty("PULUMI_PARALLEL_ANALYZE");
        Ok(PolicyPacks {
            local,
            required: Vec::new(),
            stack_tags: session.tags()?,
            parallel: parallel.and_then(|text| text.parse().ok()),
        })
    }

    fn display_options(
        &self,
        ctx: &Context,
        session: &Session<'_>,
        preview: bool,
    ) -> DisplayOptions {
        let update = self.update.as_ref();
        let program = self.program.as_ref();
        let is_tree = ctx.is_interactive()
            && !self.common.diff
            && !self.is_json()
            && !self.is_watch
            && !logs_to_terminal(ctx)
            // Screen readers read lines.
            && !ctx.environment.is_on("ACCESSIBLE");
        DisplayOptions {
            view: match (self.common.diff, is_tree) {
                (true, _) => View::Diff,
                (false, true) => View::Tree,
                (false, false) => View::Progress,
            },
            color: ctx.printer.color(),
            show_config: self.show_config,
            show_sames: program.is_some_and(|program| program.show_sames),
            show_reads: update.is_some_and(|update| update.show_reads),
            show_secrets: update.is_some_and(|update| update.show_secrets),
            show_replacement_steps: program.is_some_and(|program| program.show_replacement_steps),
            show_policy_remediations: update.is_some_and(|update| update.show_policy_remediations),
            suppress_outputs: self.common.suppress_outputs,
            suppress_progress: self.common.suppress_progress,
            show_urns: program.is_some_and(|program| program.urns),
            full_output: self.show_full_output,
            debug: self.common.debug,
            emoji: ctx.globals.emoji,
            explain: ctx.is_interactive(),
            ci: self.ci(ctx),
            began: jiff::Timestamp::now().as_second(),
            link: link(ctx, session),
            live_url: None,
            ..DisplayOptions::new(
                self.kind.action(),
                preview,
                session.stack.shown.as_str(),
                session.stack.project_name(),
            )
        }
    }

    /// The system of continuous integration that shows this run; programs that drive this one show it themselves.
    fn ci(&self, ctx: &Context) -> Option<plumb_display::CiSystem> {
        let is_driven = self
            .common
            .exec_kind
            .as_deref()
            .is_some_and(|kind| kind != "cli");
        ctx.environment.ci_system().filter(|_| !is_driven)
    }

    /// Where what happens is written down for `why`; nowhere for programs that drive this one.
    fn record(&self, ctx: &Context, session: &Session<'_>) -> Option<std::path::PathBuf> {
        let is_driven = self
            .common
            .exec_kind
            .as_deref()
            .is_some_and(|kind| kind != "cli");
        let path = runs::path(ctx, &session.stack);
        Some(path).filter(|_| !is_driven && !self.is_drift)
    }

    fn is_json(&self) -> bool {
        self.common.json || self.common.output == "json"
    }

    fn form(&self) -> Result<Form, Error> {
        let program = self.program.as_ref();
        if self.is_watch {
            return Ok(Form::Watch);
        }
        if self.is_drift && wants_json(self.common.json, &self.common.output)? {
            return Ok(Form::Quiet);
        }
        match self.common.output.as_str() {
            "default" => {}
            "json" => {
                return Ok(Form::ResultLine {
                    show_sames: program.is_some_and(|program| program.show_sames),
                });
            }
            other => {
                return Err(Error::user(format!(
                    "output \"{other}\" not supported, valid values are: default or json"
                )));
            }
        }
        Ok(match (self.common.json, self.kind) {
            (false, _) => Form::Human,
            (true, Kind::Preview) => Form::Digest {
                show_replacement_steps: program
                    .is_some_and(|program| program.show_replacement_steps),
            },
            (true, _) => Form::EventLines,
        })
    }

    fn event_log(&self, ctx: &Context) -> Result<Option<(EventLog, Delivery)>, Error> {
        let Some(target) = &self.common.event_log else {
            return Ok(None);
        };
        if !ctx.environment.is_on("PULUMI_DEBUG_COMMANDS") {
            return Err(Error::user("unknown flag: --event-log"));
        }
        EventLog::open(target, &ctx.environment.cwd).map(Some)
    }

    fn operation(&self, session: &Session<'_>) -> Result<Operation, Error> {
        Ok(match self.kind {
            Kind::Up | Kind::Preview => Operation::Update,
            Kind::Refresh => Operation::Refresh,
            Kind::Destroy => Operation::Destroy,
            Kind::Import => Operation::Import(match &self.import {
                Some(args) => listing(args, session)?.specs,
                None => Vec::new(),
            }),
        })
    }

    /// What a program has to say of the resources that an import adopted, if that is wanted.
    fn code_request(&self, session: &Session<'_>, ran: &Ran) -> Result<Option<CodeRequest>, Error> {
        let wanted = self.import.as_ref().filter(|args| args.generate_code);
        let Some(args) = wanted.filter(|_| ran.outcome.result == OperationResult::Succeeded) else {
            return Ok(None);
        };
        let listing = listing(args, session)?;
        Ok(Some(CodeRequest::new(
            args,
            listing,
            &session.stack,
            &ran.snapshot,
        )))
    }
}

/// Where URNs lead on a terminal that knows links: to the state that has the resource.
fn link(ctx: &Context, session: &Session<'_>) -> Option<String> {
    if !ctx.is_interactive() || !ctx.environment.knows_links() {
        return None;
    }
    let stack = &session.stack;
    stack.backend.permalink(&stack.reference).ok().flatten()
}

/// Whether log lines go where the tree would be.
fn logs_to_terminal(ctx: &Context) -> bool {
    ctx.globals.logtostderr && ctx.globals.verbose > 0
}

fn listing(args: &ImportArgs, session: &Session<'_>) -> Result<Listing, Error> {
    import::listing(args, session.stack.name(), session.stack.project_name())
}

fn check_preview_flags(yes: bool, skip_preview: bool, preview_only: bool) -> Result<(), Error> {
    if yes && preview_only {
        return Err(Error::user(
            "--yes and --preview-only cannot be used together",
        ));
    }
    if skip_preview && preview_only {
        return Err(Error::user(
            "--skip-preview and --preview-only cannot be used together",
        ));
    }
    Ok(())
}

fn protected_urns(base: &plumb_state::Snapshot) -> Vec<String> {
    base.resources
        .iter()
        .filter(|state| state.protect && !state.delete)
        .map(|state| state.urn.to_string())
        .collect()
}

/// Runs an operation from its flags to its exit code.
pub(super) fn run(ctx: &Context, verb: &Verb) -> Result<ExitStatus, Error> {
    let is_yes = verb.is_yes(ctx) || verb.skip_preview;
    if !ctx.is_interactive() && !is_yes && !verb.preview_only {
        let text = "--yes or --skip-preview or --preview-only must be passed in to proceed when running in \
                    non-interactive mode";
        let status = if verb.kind == Kind::Refresh {
            ExitStatus::Failure
        } else {
            ExitStatus::Configuration
        };
        return Err(Error::with_status(status, text));
    }
    let form = verb.form()?;
    let event_log = verb.event_log(ctx)?;
    if let Some(args) = &verb.import {
        import_code::check(ctx, args)?;
    }
    let session = open(ctx, verb)?;
    // Requests, decisions and answers follow each other: on one thread none of them waits for another thread to wake up.
    // The journal has a thread of its own, and so has work that takes long.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::user(format!("could not start: {error}")))?;
    let (event_log, delivery) = event_log.unzip();
    let result = runtime.block_on(async {
        let delivery = delivery.map(tokio::spawn);
        let result = operate(ctx, verb, session, form, event_log).await;
        if let Some(delivery) = delivery {
            // Who does not listen in time does not hold up the end.
            let _ = tokio::time::timeout(DELIVERY, delivery).await;
        }
        result
    });
    // Plugins are gone by now; what still reads from a dead pipe must not hold up the end.
    runtime.shutdown_background();
    result
}

fn open<'c>(ctx: &'c Context, verb: &Verb) -> Result<Session<'c>, Error> {
    let program = verb.program.as_ref();
    let creates = program.is_some_and(|program| program.create);
    let missing = match (creates, verb.kind) {
        (true, _) => IfMissing::Create,
        (false, Kind::Import) => IfMissing::Fail,
        (false, _) => IfMissing::Offer,
    };
    let runs_program = matches!(verb.kind, Kind::Up | Kind::Preview) || verb.runs_program(ctx);
    let skips_check =
        program.is_some_and(|program| program.skip_config_validation) || !runs_program;
    Session::open(
        ctx,
        &Opening {
            stack: verb.common.stack.as_deref(),
            config_file: verb.common.config_file.as_deref(),
            config: program
                .map(|program| program.config.as_slice())
                .unwrap_or_default(),
            config_paths: program.is_some_and(|program| program.config_path),
            missing,
            secrets_provider: verb.secrets_provider.as_deref(),
            check: if skips_check {
                ConfigCheck::Skipped
            } else {
                ConfigCheck::Required
            },
            fallback: if verb.kind == Kind::Destroy {
                StateFallback::Always
            } else {
                StateFallback::IfEnabled
            },
            client: program.and_then(|program| program.client.clone()),
            checks_plugins: !verb.common.skip_plugin_pre_install,
            lock_mode: if verb.common.locked {
                LockMode::Frozen
            } else {
                LockMode::Update
            },
            changes: !verb.preview_only,
        },
    )
}

async fn operate(
    ctx: &Context,
    verb: &Verb,
    mut session: Session<'_>,
    form: Form,
    mut event_log: Option<EventLog>,
) -> Result<ExitStatus, Error> {
    let interrupts = interrupts::listen(ctx.printer.clone());
    if verb.kind == Kind::Refresh && !verb.is_drift {
        verb.pending_creates.settle(ctx, &mut session)?;
    }
    if let Some(path) = &verb.plan {
        session.hold_to(path)?;
    }
    if verb.preview_only || !verb.skip_preview {
        let asks = !verb.preview_only && !verb.is_yes(ctx);
        let ran = phase(
            ctx,
            verb,
            &mut session,
            Phase::Preview,
            form,
            event_log.take(),
            asks || verb.import_file.is_some(),
            &interrupts,
        )
        .await?;
        if verb.is_drift {
            let stack = session.stack.clone();
            session.leave();
            let run = ran.seen.run.unwrap_or_default();
            let result = ran.outcome.result;
            return Ok(drift::report(
                ctx,
                &stack,
                &run,
                result,
                form == Form::Quiet,
            ));
        }
        if verb.preview_only || ran.outcome.result != OperationResult::Succeeded {
            if let Some(path) = &verb.import_file {
                import_file::write(
                    &ctx.environment.cwd.join(path),
                    &ran.seen.events,
                    &session.base,
                )?;
            }
            let status = status_of(verb, &ran).and_then(|status| {
                save_plan(ctx, verb, &session, &ran)?;
                Ok(status)
            });
            session.leave();
            return status;
        }
        if asks && !confirmed(ctx, verb, &session, &ran)? {
            session.leave();
            return Ok(ExitStatus::Failure);
        }
        session.prepare_secrets(&ran.snapshot)?;
        if verb.is_strict && session.plan.is_none() {
            session.plan = ran.plan;
        }
        event_log = ran.seen.event_log.map(EventLog::restarted);
    } else if ctx.is_interactive() && !verb.is_yes(ctx) && !verb.skip_preview {
        return Err(Error::user("the operation was not confirmed"));
    }
    let ran = phase(
        ctx,
        verb,
        &mut session,
        Phase::Execute,
        form,
        event_log,
        false,
        &interrupts,
    )
    .await?;
    let status = status_of(verb, &ran);
    let message = verb.common.message.clone().unwrap_or_default();
    let environment = history_environment(verb);
    let succeeded = ran.outcome.result == OperationResult::Succeeded;
    let left = Session::resource_count(&ran.snapshot);
    let stack = session.stack.clone();
    let code = verb.code_request(&session, &ran)?;
    let shows_permalink = succeeded
        && form == Form::Human
        && verb.common.suppress_permalink.as_deref() == Some("false");
    session.finish(ran, verb.kind.history(), message, environment)?;
    if let Some(code) = code {
        code.fulfil(ctx, form == Form::Human).await?;
    }
    if shows_permalink && let Some(url) = stack.backend.permalink(&stack.reference)? {
        ctx.printer.styled_line(&format!(
            "<{{%underline%}}><{{%fg 12%}}>Permalink: {url}<{{%reset%}}>"
        ));
    }
    if verb.kind == Kind::Destroy && succeeded && form == Form::Human {
        after_destroy(ctx, verb, &stack, left)?;
    }
    status
}

#[expect(
    clippy::too_many_arguments,
    reason = "what a phase shares with the other is few things of many kinds"
)]
async fn phase(
    ctx: &Context,
    verb: &Verb,
    session: &mut Session<'_>,
    phase: Phase,
    form: Form,
    event_log: Option<EventLog>,
    keeps_events: bool,
    interrupts: &tokio::sync::watch::Receiver<u32>,
) -> Result<Ran, Error> {
    let options = verb.options(ctx, phase, session)?;
    let is_preview = phase == Phase::Preview;
    let screen = ScreenSetup {
        printer: ctx.printer.clone(),
        explains: is_preview && !verb.is_drift,
        record: verb.record(ctx, session),
        options: verb.display_options(ctx, session, is_preview),
        form,
        event_log,
        keeps_events,
        show_secrets: options.show_secrets,
    };
    let operation = verb.operation(session)?;
    let policies = verb.policies(ctx, session)?;
    session
        .run(operation, options, policies, screen, interrupts.clone())
        .await
}

fn status_of(verb: &Verb, ran: &Ran) -> Result<ExitStatus, Error> {
    match ran.outcome.result {
        OperationResult::Succeeded => {}
        OperationResult::Failed => return Ok(ExitStatus::Failure),
        OperationResult::Canceled => return Ok(ExitStatus::Cancelled),
    }
    let has_changes = ran
        .seen
        .summary
        .as_ref()
        .is_some_and(plumb_events::Summary::has_changes);
    if verb.expect_no_changes && has_changes {
        return Err(Error::with_status(
            ExitStatus::Changes,
            format!(
                "no changes were expected for {} but changes were proposed",
                verb.kind.word()
            ),
        ));
    }
    Ok(ExitStatus::Success)
}

/// Writes the plan of a preview that succeeded, and says what it is good for.
fn save_plan(ctx: &Context, verb: &Verb, session: &Session<'_>, ran: &Ran) -> Result<(), Error> {
    let (Some(path), Some(plan)) = (&verb.save_plan, &ran.plan) else {
        return Ok(());
    };
    let update = verb.update.as_ref();
    session.save_plan(path, plan, update.is_some_and(|update| update.show_secrets))?;
    if !verb.is_json() {
        ctx.printer
            .info(&format!("Update plan written to '{path}'"));
        ctx.printer.info(&format!(
            "Run `pulumi up --plan='{path}'` to constrain the update to the operations planned by this preview"
        ));
    }
    Ok(())
}

/// Asks whether to go on, and shows the details of the preview as often as the user likes.
fn confirmed(ctx: &Context, verb: &Verb, session: &Session<'_>, ran: &Ran) -> Result<bool, Error> {
    let word = verb.kind.word();
    loop {
        let mut question = format!("Do you want to perform this {word}?");
        if verb.kind == Kind::Refresh {
            question.push_str("\nNo resources will be modified as part of this refresh; just your stack's state will be.");
        }
        let mut choices = vec!["no".to_owned(), "yes".to_owned()];
        if !verb.common.diff {
            choices.push("details".to_owned());
        }
        match prompt::select(&question, choices)? {
            1 => return Ok(true),
            2 => {
                let options = DisplayOptions {
                    view: View::Diff,
                    ..verb.display_options(ctx, session, true)
                };
                let events: Vec<&Event> = ran.seen.events.iter().collect();
                ctx.printer.data(&DiffView::render(options, events));
            }
            _ => {
                ctx.printer.line(&format!(
                    "confirmation declined, not proceeding with the {word}"
                ));
                return Ok(false);
            }
        }
    }
}

fn history_environment(verb: &Verb) -> BTreeMap<String, String> {
    let kind = verb
        .common
        .exec_kind
        .as_deref()
        .filter(|kind| matches!(*kind, "auto.local" | "auto.inline"))
        .unwrap_or("cli");
    let mut environment = BTreeMap::from([("exec.kind".to_owned(), kind.to_owned())]);
    if let Some(agent) = &verb.common.exec_agent {
        environment.insert("exec.agent".to_owned(), agent.clone());
    }
    if verb.plan.is_some() {
        environment.insert("updatePlan".to_owned(), "true".to_owned());
    }
    environment
}

fn after_destroy(
    ctx: &Context,
    verb: &Verb,
    stack: &crate::context::Stack,
    left: usize,
) -> Result<(), Error> {
    if verb.exclude_protected && left > 0 {
        ctx.printer.line(&format!(
            "All unprotected resources were destroyed. There are still {left} protected resources associated with this stack."
        ));
        return Ok(());
    }
    if left > 0 {
        return Ok(());
    }
    if verb.remove {
        stack
            .backend
            .remove_stack(&stack.reference, plumb_backend::RemoveOptions::default())?;
        if let Some(path) = ctx.settings_path(stack, verb.common.config_file.as_deref())? {
            plumb_project::files::remove(&path)?;
        }
        ctx.printer.line("The resources in the stack have been deleted, and the history and configuration removed.");
        return Ok(());
    }
    ctx.printer.line(&format!(
        "The resources in the stack have been deleted, but the history and configuration associated with the stack are \
         still maintained. \nIf you want to remove the stack completely, run `pulumi stack rm {}`.",
        stack.shown
    ));
    Ok(())
}
