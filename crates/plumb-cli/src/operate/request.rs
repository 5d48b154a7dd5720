//! Parameters of an operation: flags and settings of the commands that run one.

use plumb_deploy::autonaming::NamingRules;
use plumb_deploy::setup::{Operation, Options, Phase};
use plumb_deploy::target::UrnSet;
use plumb_display::{Action, Options as DisplayOptions, View};
use plumb_engine::policies::PolicyPacks;
use plumb_state::Snapshot;

use super::args::{
    CommonArgs, DestroyArgs, ImportArgs, PreviewArgs, ProgramArgs, RefreshArgs, ReportArgs, UpArgs,
    UpdateArgs,
};
use super::debugging::Debugged;
use super::destroyed::Kept;
use super::drift::DriftArgs;
use super::event_log::{Delivery, EventLog};
use super::import::Listing;
use super::import_code::{self, CodeRequest};
use super::import_document::{self, ImportFile};
use super::pending::PendingCreates;
use super::screen::Form;
use super::session::Session;
use super::snippets::SnippetOrder;
use super::{import, policies, runs};
use crate::context::Stack;
use crate::identity::Code;
use crate::json::wants_json;
use crate::{Context, Error, ExitStatus};

/// Kind of operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Up,
    Preview,
    Refresh,
    Destroy,
    Import,
}

impl Kind {
    /// Verb in questions and messages.
    pub(super) fn word(self) -> &'static str {
        match self {
            Kind::Up => "update",
            Kind::Preview => "preview",
            Kind::Refresh => "refresh",
            Kind::Destroy => "destroy",
            Kind::Import => "import",
        }
    }

    /// Name of the kind in the history.
    pub(super) fn history(self) -> &'static str {
        match self {
            Kind::Up | Kind::Preview => "update",
            Kind::Import => "resource-import",
            other => other.word(),
        }
    }

    pub(super) fn action(self) -> Action {
        match self {
            Kind::Up | Kind::Preview => Action::Update,
            Kind::Refresh => Action::Refresh,
            Kind::Destroy => Action::Destroy,
            Kind::Import => Action::Import,
        }
    }
}

/// An operation with its flags, independent of the command.
pub(super) struct OperationRequest {
    pub(super) kind: Kind,
    pub(super) common: CommonArgs,
    pub(super) program: Option<ProgramArgs>,
    pub(super) update: Option<UpdateArgs>,
    pub(super) import: Option<ImportArgs>,
    /// Resources to import, from arguments or a file; `None` with a converter.
    pub(super) listed: Option<ImportFile>,
    pub(super) exclude: Vec<String>,
    pub(super) exclude_dependents: bool,
    pub(super) exclude_protected: bool,
    pub(super) refresh: Option<String>,
    pub(super) expect_no_changes: bool,
    pub(super) continue_on_error: bool,
    pub(super) ignore_protect: bool,
    pub(super) secrets_provider: Option<String>,
    pub(super) preview_only: bool,
    pub(super) skip_preview: bool,
    pub(super) yes: bool,
    pub(super) remove: bool,
    pub(super) show_config: bool,
    pub(super) show_full_output: bool,
    pub(super) pending_creates: PendingCreates,
    /// Path for the plan of the preview.
    pub(super) save_plan: Option<String>,
    /// Path for the list of resources that the preview would create.
    pub(super) import_file: Option<String>,
    /// Paths for reports.
    pub(super) report: ReportArgs,
    /// Path of the plan that constrains the update.
    pub(super) plan: Option<String>,
    /// Whether the update is constrained by its own preview.
    pub(super) is_strict: bool,
    /// Whether `watch` runs the update.
    pub(super) is_watch: bool,
    /// Whether the command is `drift`: a preview whose drift is reported.
    pub(super) is_drift: bool,
    /// Processes that wait for a debugger.
    pub(super) debugged: Debugged,
    /// Snippet changes, for an update of only snippets.
    pub(super) snippets: Option<SnippetOrder>,
}

impl OperationRequest {
    pub(super) fn new(kind: Kind, common: CommonArgs) -> Self {
        OperationRequest {
            kind,
            common,
            program: None,
            update: None,
            import: None,
            listed: None,
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
            report: ReportArgs::default(),
            plan: None,
            is_strict: false,
            is_watch: false,
            is_drift: false,
            debugged: Debugged::default(),
            snippets: None,
        }
    }

    pub(super) fn with_update(mut self, update: UpdateArgs) -> Result<Self, Error> {
        self.debugged = Debugged::parse(&update.attach_debugger)?;
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

    pub(super) fn with_program(mut self, program: ProgramArgs) -> Result<Self, Error> {
        program.remote.check()?;
        if !program.override_env.is_empty() {
            let text = "`--override-env` is not supported: stores in files have no environments";
            return Err(Error::user(text)
                .hint("`--config KEY=VALUE` gives values to this stack, `plumb config cp --dest STACK` to another")
                .known(Code::NotSupported));
        }
        self.program = Some(program);
        Ok(self)
    }

    /// An update. The project is read first, and flags are checked before the stack is opened.
    pub(super) fn up(args: UpArgs, ctx: &Context) -> Result<Self, Error> {
        args.program.remote.check()?;
        ctx.program_project()?.check_version()?;
        if args.strict && args.skip_preview {
            return Err(Error::user(
                "--strict cannot be used with --skip-preview; strict requires a preview",
            ));
        }
        check_confirmed(ctx, Kind::Up, args.yes || args.skip_preview)?;
        Ok(OperationRequest {
            exclude: args.exclude,
            continue_on_error: args.continue_on_error,
            secrets_provider: Some(args.secrets_provider),
            skip_preview: args.skip_preview,
            yes: args.yes,
            plan: args.plan,
            is_strict: args.strict,
            report: args.report,
            ..OperationRequest::new(Kind::Up, args.common)
                .with_program(args.program)?
                .with_update(args.update)?
        })
    }

    /// An update run by `watch`, which prints less.
    pub(super) fn watch(args: UpArgs, ctx: &Context) -> Result<Self, Error> {
        Ok(OperationRequest {
            is_watch: true,
            ..OperationRequest::up(args, ctx)?
        })
    }

    pub(super) fn preview(args: PreviewArgs, ctx: &Context) -> Result<Self, Error> {
        args.program.remote.check()?;
        ctx.program_project()?.check_version()?;
        let request =
            OperationRequest::new(Kind::Preview, args.common).with_program(args.program)?;
        Debugged::parse(&args.update.attach_debugger)?;
        request.form()?;
        Ok(OperationRequest {
            exclude: args.exclude,
            preview_only: true,
            import_file: args.import_file,
            report: args.report,
            save_plan: args.save_plan,
            ..request.with_update(args.update)?
        })
    }

    pub(super) fn refresh(args: RefreshArgs, ctx: &Context) -> Result<Self, Error> {
        args.program.remote.check()?;
        if let Some(project) = ctx.find_project()? {
            project.check_version()?;
        }
        let is_sure = args.yes || args.skip_preview || args.preview_only;
        check_confirmed(ctx, Kind::Refresh, is_sure)?;
        let pending_creates = PendingCreates::of(&args);
        let request =
            OperationRequest::new(Kind::Refresh, args.common).with_program(args.program)?;
        request.form()?;
        check_preview_flags(args.yes, args.skip_preview, args.preview_only)?;
        Ok(OperationRequest {
            exclude: args.exclude,
            exclude_dependents: args.exclude_dependents,
            expect_no_changes: args.expect_no_changes,
            preview_only: args.preview_only,
            skip_preview: args.skip_preview,
            yes: args.yes,
            pending_creates,
            report: args.report,
            ..request
        })
    }

    pub(super) fn drift(args: DriftArgs) -> Result<Self, Error> {
        Ok(OperationRequest {
            exclude: args.exclude,
            preview_only: true,
            is_drift: true,
            report: args.report,
            ..OperationRequest::new(Kind::Refresh, args.common).with_program(args.program)?
        })
    }

    pub(super) fn destroy(args: DestroyArgs, ctx: &Context) -> Result<Self, Error> {
        let is_sure = args.yes || args.skip_preview || args.preview_only;
        check_confirmed(ctx, Kind::Destroy, is_sure)?;
        let request =
            OperationRequest::new(Kind::Destroy, args.common).with_program(args.program)?;
        request.form()?;
        check_preview_flags(args.yes, args.skip_preview, args.preview_only)?;
        Ok(OperationRequest {
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
            report: args.report,
            ..request
        })
    }

    /// An import. Arguments and file are checked first, before anything else happens.
    pub(super) fn import(args: ImportArgs, ctx: &Context) -> Result<Self, Error> {
        let request = OperationRequest {
            preview_only: args.preview_only,
            skip_preview: args.skip_preview,
            yes: args.yes,
            import: Some(args.clone()),
            ..OperationRequest::new(Kind::Import, args.common.clone())
        };
        request.form()?;
        ctx.program_project()?.check_version()?;
        let listed = import_document::asked(&args, &ctx.environment.cwd)?;
        import_code::prepare(ctx, &args)?;
        let is_sure = args.yes || args.skip_preview || args.preview_only;
        check_confirmed(ctx, Kind::Import, is_sure)?;
        check_preview_flags(args.yes, args.skip_preview, args.preview_only)?;
        Ok(OperationRequest { listed, ..request })
    }

    pub(super) fn has_targets(&self) -> bool {
        let program = self.program.as_ref();
        program.is_some_and(|program| !program.target.is_empty())
    }

    pub(super) fn is_yes(&self, ctx: &Context) -> bool {
        self.yes || ctx.environment.is_on("PULUMI_SKIP_CONFIRMATIONS")
    }

    pub(super) fn runs_program(&self, ctx: &Context) -> bool {
        let asked = self
            .program
            .as_ref()
            .and_then(|program| program.run_program);
        asked.unwrap_or_else(|| ctx.environment.is_on("PULUMI_RUN_PROGRAM"))
    }

    /// Whether to refresh before the operation: the flag, or else the project's setting.
    pub(super) fn refreshes(&self, ctx: &Context) -> Result<bool, Error> {
        if let Some(text) = self.refresh.as_deref().filter(|text| !text.is_empty()) {
            return match text {
                "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(true),
                "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(false),
                _ => Err(Error::user("unable to determine value for --refresh")),
            };
        }
        let applies = matches!(self.kind, Kind::Up | Kind::Preview | Kind::Destroy);
        Ok(applies
            && ctx
                .find_project()?
                .is_some_and(|project| project.project.refresh_always))
    }

    pub(super) fn options(
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
            excludes.extend(Kept::of(&session.base).urns);
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
            snippet_changes: session.snippet_changes.clone(),
            target_snippets: session.target_snippets.clone(),
            makes_plan: phase == Phase::Preview && (self.is_strict || self.save_plan.is_some()),
            ..Options::new(phase)
        })
    }

    /// Policy packs of a run. File backends require none.
    pub(super) fn policies(
        &self,
        ctx: &Context,
        session: &Session<'_>,
    ) -> Result<PolicyPacks, Error> {
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

    pub(super) fn display_options(
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
            && !ctx.environment.is_read_aloud();
        DisplayOptions {
            view: match (self.common.diff, is_tree) {
                (true, _) => View::Diff,
                (false, true) => View::Tree,
                (false, false) => View::Progress,
            },
            program: ctx.printer.program().into(),
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
            emoji: ctx.globals.emoji && !ctx.environment.has_few_characters(),
            explain: ctx.is_interactive(),
            read_aloud: ctx.environment.is_read_aloud(),
            ci: self.ci(ctx),
            began: jiff::Timestamp::now().as_second(),
            link: ctx
                .is_interactive()
                .then(|| ctx.link(&session.stack))
                .flatten(),
            live_url: None,
            ..DisplayOptions::new(
                self.kind.action(),
                preview,
                session.stack.shown.as_str(),
                session.stack.project_name(),
            )
        }
    }

    /// CI system whose log format to use; `None` if another program runs this one, because that program shows the
    /// output.
    pub(super) fn ci(&self, ctx: &Context) -> Option<plumb_display::CiSystem> {
        let is_driven = self
            .common
            .exec_kind
            .as_deref()
            .is_some_and(|kind| kind != "cli");
        ctx.environment.ci_system().filter(|_| !is_driven)
    }

    /// File in which the run is recorded for `why`; `None` if another program runs this one, and for `drift`.
    pub(super) fn record(
        &self,
        ctx: &Context,
        session: &Session<'_>,
    ) -> Option<std::path::PathBuf> {
        let is_driven = self
            .common
            .exec_kind
            .as_deref()
            .is_some_and(|kind| kind != "cli");
        let path = runs::path(ctx, &session.stack);
        Some(path).filter(|_| !is_driven && !self.is_drift)
    }

    pub(super) fn is_json(&self) -> bool {
        self.common.json || self.common.output == "json"
    }

    pub(super) fn form(&self) -> Result<Form, Error> {
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
                    "invalid --output value \"{other}\" (expected \"default\" or \"json\")"
                )));
            }
        }
        Ok(if self.common.json {
            Form::EventLines
        } else {
            Form::Human
        })
    }

    /// Output form of a phase: with `--json`, a preview is one document, unless streaming is on.
    pub(super) fn form_of(&self, ctx: &Context, form: Form, phase: Phase) -> Form {
        let streams = || {
            let name = "PULUMI_ENABLE_STREAMING_JSON_PREVIEW";
            ctx.environment.is_on(name)
        };
        if form != Form::EventLines || phase != Phase::Preview || streams() {
            return form;
        }
        let program = self.program.as_ref();
        Form::Digest {
            show_replacement_steps: program.is_some_and(|program| program.show_replacement_steps),
        }
    }

    pub(super) fn event_log(&self, ctx: &Context) -> Result<Option<(EventLog, Delivery)>, Error> {
        let Some(target) = &self.common.event_log else {
            return Ok(None);
        };
        if !ctx.environment.is_on("PULUMI_DEBUG_COMMANDS") {
            return Err(Error::user("unknown flag: --event-log").known(Code::UnknownCommand));
        }
        EventLog::open(target, &ctx.environment.cwd).map(Some)
    }

    pub(super) fn operation(&self, session: &Session<'_>) -> Result<Operation, Error> {
        Ok(match self.kind {
            Kind::Up | Kind::Preview => Operation::Update,
            Kind::Refresh => Operation::Refresh,
            Kind::Destroy => Operation::Destroy,
            Kind::Import => {
                let Listing {
                    specs, providers, ..
                } = self.listing(session)?;
                Operation::Import(specs.into_iter().chain(providers).collect())
            }
        })
    }

    /// Resources that an import adopts.
    pub(super) fn listing(&self, session: &Session<'_>) -> Result<Listing, Error> {
        if let Some(converted) = &session.converted {
            return Ok(converted.listing.clone());
        }
        self.listing_for(&session.stack)
    }

    /// Resources of the arguments or the file that an import into `stack` adopts.
    pub(super) fn listing_for(&self, stack: &Stack) -> Result<Listing, Error> {
        let nothing = ImportFile::default();
        let file = self.listed.as_ref().unwrap_or(&nothing);
        let protect = self.import.as_ref().is_some_and(|args| args.protect);
        import::from_file(file, protect, stack.name(), stack.project_name())
    }

    /// Request for code that declares those listed resources that the stack has now, if code is wanted.
    ///
    /// After failures and previews some resources of the list may be missing. Example: of `a` and `b`, `a` was adopted before
    /// the import of `b` failed, and the program has to declare `a`.
    pub(super) fn code_request(
        &self,
        session: &Session<'_>,
        snapshot: &Snapshot,
    ) -> Result<Option<CodeRequest>, Error> {
        let Some(args) = self.import.as_ref().filter(|args| args.generate_code) else {
            return Ok(None);
        };
        let listing = self.listing(session)?;
        Ok(Some(CodeRequest::new(
            args,
            listing,
            &session.stack,
            snapshot,
        )))
    }
}

/// Whether log lines go to the terminal, where they would tear the tree.
fn logs_to_terminal(ctx: &Context) -> bool {
    ctx.globals.logtostderr && ctx.globals.verbose > 0
}

/// Error for an operation that needs confirmation if nobody can be asked.
pub(super) fn check_confirmed(ctx: &Context, kind: Kind, is_sure: bool) -> Result<(), Error> {
    if ctx.is_interactive() || is_sure || ctx.environment.is_on("PULUMI_SKIP_CONFIRMATIONS") {
        return Ok(());
    }
    let text = "--yes or --skip-preview or --preview-only must be passed in to proceed when running in \
                non-interactive mode";
    let status = if kind == Kind::Refresh {
        ExitStatus::Failure
    } else {
        ExitStatus::Configuration
    };
    Err(Error::with_status(status, text).known(Code::NotConfirmed))
}

fn check_preview_flags(yes: bool, skip_preview: bool, preview_only: bool) -> Result<(), Error> {
    let other = if skip_preview {
        "--skip-preview"
    } else {
        "--yes"
    };
    if !preview_only || !(skip_preview || yes) {
        return Ok(());
    }
    Err(Error::user(format!(
        "{other} and --preview-only cannot be used together"
    )))
}
