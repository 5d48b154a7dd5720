//! Parameters of an operation: flags and settings of the commands that run one.

use plumb_deploy::autonaming::NamingRules;
use plumb_deploy::setup::{Operation, Options, Phase};
use plumb_deploy::target::UrnSet;
use plumb_display::{Action, Options as DisplayOptions, View};
use plumb_engine::policies::PolicyPacks;
use plumb_state::Snapshot;

use super::debugging::Debugged;
use super::destroyed::Kept;
use super::event_log::{Delivery, EventLog};
use super::import::Listing;
use super::import_code::CodeRequest;
use super::import_document::ImportFile;
use super::pending::PendingCreates;
use super::policies::PackFlags;
use super::screen::Form;
use super::session::Session;
use super::snippets::SnippetOrder;
use super::{import, policies, runs};
use crate::context::Stack;
use crate::identity::Code;
use crate::{Context, Error, ExitStatus};

/// Kind of operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An update.
    Up,
    /// A preview of an update.
    Preview,
    /// A refresh.
    Refresh,
    /// A destroy.
    Destroy,
    /// An import.
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

/// The stack of an operation, and how it is opened.
#[derive(Clone, Debug, Default)]
pub struct StackChoice {
    /// Name of the stack; the selected one without it.
    pub name: Option<String>,
    /// Path of the file with its settings.
    pub config_file: Option<String>,
    /// Values for the settings, as `KEY=VALUE`, which are saved.
    pub config: Vec<String>,
    /// Whether the keys of `config` are paths.
    pub config_paths: bool,
    /// Whether settings may lack values that the project requires.
    pub skips_config_check: bool,
    /// Whether a stack that does not exist is created.
    pub creates: bool,
    /// Secrets provider of a stack that is created.
    pub secrets_provider: Option<String>,
}

/// Resources that an operation is limited to.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// URNs of the targets, with wildcards.
    pub targets: Vec<String>,
    /// Whether dependents of the targets are included.
    pub target_dependents: bool,
    /// URNs of resources to leave alone.
    pub excludes: Vec<String>,
    /// Whether dependents of the excluded resources are left alone too.
    pub exclude_dependents: bool,
    /// Whether protected resources and their dependencies are left alone.
    pub exclude_protected: bool,
    /// URNs of resources to replace.
    pub replaces: Vec<String>,
    /// URNs of targets to replace.
    pub target_replaces: Vec<String>,
}

impl Scope {
    pub(super) fn has_targets(&self) -> bool {
        !self.targets.is_empty()
    }
}

/// Choices about the output.
#[derive(Clone, Debug, Default)]
pub struct DisplayFlags {
    /// Whether changes are shown as a difference.
    pub diff: bool,
    /// Whether debug messages are shown.
    pub debug: bool,
    /// Whether outputs of the stack are left out.
    pub suppress_outputs: bool,
    /// Whether the dots of long steps are left out.
    pub suppress_progress: bool,
    /// Whether the end has a row for each resource, also where many are alike.
    pub all_rows: bool,
    /// Whether the link to the state of the stack is shown.
    pub show_permalink: bool,
    /// Whether the settings are shown.
    pub show_config: bool,
    /// Whether outputs of the stack are shown in full length.
    pub show_full_output: bool,
    /// Whether each step of a replacement is shown.
    pub show_replacement_steps: bool,
    /// Whether unchanged resources are shown.
    pub show_sames: bool,
    /// Whether whole URNs are shown.
    pub show_urns: bool,
    /// Whether resources that are only read are shown.
    pub show_reads: bool,
    /// Whether each remediation of a policy is shown.
    pub show_policy_remediations: bool,
    /// Whether secrets are shown.
    pub show_secrets: bool,
}

/// The program that has started the command.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    /// Kind of its call; `cli`, or none, for a user.
    pub kind: Option<String>,
    /// Its name and version.
    pub agent: Option<String>,
}

impl Caller {
    /// Whether a program runs the command and shows its output itself.
    fn is_program(&self) -> bool {
        self.kind.as_deref().is_some_and(|kind| kind != "cli")
    }
}

/// Files with a report of the operation, or of its preview if nothing follows that.
#[derive(Clone, Debug, Default)]
pub struct ReportFiles {
    /// Path of a page of HTML.
    pub html: Option<String>,
    /// Path of a file in Markdown.
    pub markdown: Option<String>,
    /// Whether the files are for the program itself, so that no message mentions them.
    pub is_internal: bool,
}

/// An import.
#[derive(Default)]
pub struct ImportRequest {
    /// Resources to adopt; empty if there is a converter.
    pub listed: ImportFile,
    /// Converter that lists the resources.
    pub conversion: Option<Conversion>,
    /// Whether the resources are protected afterwards.
    pub protects: bool,
    /// Whether declarations of the resources are printed or written.
    pub declares: bool,
    /// Path of the file for the declarations.
    pub out: Option<String>,
}

/// Call of a converter that finds resources in the state of another system.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// Name of the converter.
    pub converter: String,
    /// Arguments for it.
    pub arguments: Vec<String>,
    /// Path of the file that lists the resources it finds.
    pub file: Option<String>,
}

/// An operation, and how it is run.
pub struct OperationRequest {
    /// Kind of the operation.
    pub kind: Kind,
    /// The stack.
    pub stack: StackChoice,
    /// Message for the history.
    pub message: Option<String>,
    /// Number of steps that may run at once.
    pub parallel: i32,
    /// Form of the output.
    pub form: Form,
    /// Contents of the output.
    pub display: DisplayFlags,
    /// Path or address that events are written to.
    pub event_log: Option<String>,
    /// Caller of the command.
    pub caller: Caller,
    /// Whether missing plugins are not installed before the operation.
    pub skips_plugin_install: bool,
    /// Whether only plugins that plumb.lock names may be used.
    pub is_locked: bool,
    /// Address of a language host that runs already.
    pub language_host: Option<String>,
    /// Whether the program runs in a refresh or destroy; by default a variable decides.
    pub runs_program: Option<bool>,
    /// Resources that are included.
    pub scope: Scope,
    /// Policy packs.
    pub packs: PackFlags,
    /// Import, for that kind.
    pub import: Option<ImportRequest>,
    /// Text that says whether to refresh first; the project decides without it. Read when the stack is open.
    pub refresh: Option<String>,
    /// Whether changes are an error.
    pub expect_no_changes: bool,
    /// Whether other steps go on after one failed.
    pub continue_on_error: bool,
    /// Whether protected resources may be changed.
    pub ignore_protect: bool,
    /// Whether only a preview runs.
    pub preview_only: bool,
    /// Whether no preview runs.
    pub skip_preview: bool,
    /// Whether no confirmation is needed.
    pub yes: bool,
    /// Whether the stack is removed after a destroy.
    pub remove: bool,
    /// Decisions about creates that were interrupted.
    pub pending_creates: PendingCreates,
    /// Path for the plan of the preview.
    pub save_plan: Option<String>,
    /// Path for the list of resources that the preview would create.
    pub import_file: Option<String>,
    /// Whether the reader looks around in the changes when the preview is over.
    pub browses: bool,
    /// Paths for reports.
    pub report: ReportFiles,
    /// Path of the plan that constrains the update.
    pub plan: Option<String>,
    /// Whether the update is constrained by its own preview.
    pub is_strict: bool,
    /// Whether the command is `drift`: a preview whose drift is reported.
    pub is_drift: bool,
    /// Processes that wait for a debugger.
    pub debugged: Debugged,
    /// Snippet changes, for an update of only snippets.
    pub snippets: Option<SnippetOrder>,
}

impl OperationRequest {
    /// An operation with the defaults of its command.
    pub fn new(kind: Kind) -> Self {
        OperationRequest {
            kind,
            stack: StackChoice::default(),
            message: None,
            parallel: crate::Environment::default_parallel(),
            form: Form::Human,
            display: DisplayFlags::default(),
            event_log: None,
            caller: Caller::default(),
            skips_plugin_install: false,
            is_locked: false,
            language_host: None,
            runs_program: None,
            scope: Scope::default(),
            packs: PackFlags::default(),
            import: None,
            refresh: None,
            expect_no_changes: false,
            continue_on_error: false,
            ignore_protect: false,
            preview_only: false,
            skip_preview: false,
            yes: false,
            remove: false,
            pending_creates: PendingCreates::default(),
            save_plan: None,
            import_file: None,
            browses: false,
            report: ReportFiles::default(),
            plan: None,
            is_strict: false,
            is_drift: false,
            debugged: Debugged::default(),
            snippets: None,
        }
    }

    pub(super) fn is_yes(&self, ctx: &Context) -> bool {
        self.yes || ctx.environment.is_on("PULUMI_SKIP_CONFIRMATIONS")
    }

    pub(super) fn runs_program(&self, ctx: &Context) -> bool {
        self.runs_program
            .unwrap_or_else(|| ctx.environment.is_on("PULUMI_RUN_PROGRAM"))
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
        let scope = &self.scope;
        let with_replaced = |urns: &[String]| [urns, scope.target_replaces.as_slice()].concat();
        let mut excludes = scope.excludes.clone();
        if scope.exclude_protected {
            excludes.extend(Kept::of(&session.base).urns);
        }
        let continue_on_error =
            self.continue_on_error || ctx.environment.is_on("PULUMI_CONTINUE_ON_ERROR");
        let parallel = ctx
            .environment
            .non_empty("PULUMI_PARALLEL")
            .and_then(|text| text.parse().ok());
        let asked = if self.parallel == crate::Environment::default_parallel() {
            parallel.unwrap_or(self.parallel)
        } else {
            self.parallel
        };
        Ok(Options {
            parallel: u32::try_from(asked.max(1)).unwrap_or(1),
            refresh: self.refreshes(ctx)?,
            run_program: self.runs_program(ctx),
            targets: UrnSet::new(with_replaced(&scope.targets)),
            target_dependents: scope.target_dependents,
            excludes: UrnSet::new(excludes),
            exclude_dependents: scope.exclude_dependents,
            replace_targets: UrnSet::new(with_replaced(&scope.replaces)),
            continue_on_error,
            ignore_protect: self.ignore_protect,
            legacy_diff: ctx.environment.is_on("PULUMI_ENABLE_LEGACY_DIFF"),
            legacy_refresh_diff: ctx.environment.is_on("PULUMI_ENABLE_LEGACY_REFRESH_DIFF"),
            show_secrets: self.display.show_secrets,
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
        let local = policies::local_packs(ctx, &self.packs)?;
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
        let shown = &self.display;
        let is_tree = ctx.is_interactive()
            && !shown.diff
            && !self.is_json()
            && self.form != Form::Watch
            && !logs_to_terminal(ctx)
            && !ctx.environment.is_read_aloud();
        DisplayOptions {
            view: match (shown.diff, is_tree) {
                (true, _) => View::Diff,
                (false, true) => View::Tree,
                (false, false) => View::Progress,
            },
            program: ctx.printer.program().into(),
            color: ctx.printer.color(),
            show_config: shown.show_config,
            show_sames: shown.show_sames,
            show_reads: shown.show_reads,
            show_secrets: shown.show_secrets,
            show_replacement_steps: shown.show_replacement_steps,
            show_policy_remediations: shown.show_policy_remediations,
            suppress_outputs: shown.suppress_outputs,
            suppress_progress: shown.suppress_progress,
            all_rows: shown.all_rows,
            expected: session.expected.filter(|_| !preview),
            show_urns: shown.show_urns,
            full_output: shown.show_full_output,
            debug: shown.debug,
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
        let system = ctx.environment.ci_system();
        system.filter(|_| !self.caller.is_program())
    }

    /// File in which the run is recorded for `why`; `None` if another program runs this one, and for `drift`.
    pub(super) fn record(
        &self,
        ctx: &Context,
        session: &Session<'_>,
    ) -> Option<std::path::PathBuf> {
        let path = runs::path(ctx, &session.stack);
        Some(path).filter(|_| !self.caller.is_program() && !self.is_drift)
    }

    pub(super) fn is_json(&self) -> bool {
        !matches!(self.form, Form::Human | Form::Watch)
    }

    /// Output form of a phase: with `--json`, a preview is one document, unless streaming is on.
    pub(super) fn form_of(&self, ctx: &Context, phase: Phase) -> Form {
        let form = self.form;
        let streams = || {
            let name = "PULUMI_ENABLE_STREAMING_JSON_PREVIEW";
            ctx.environment.is_on(name)
        };
        if form != Form::EventLines || phase != Phase::Preview || streams() {
            return form;
        }
        Form::Digest {
            show_replacement_steps: self.display.show_replacement_steps,
        }
    }

    pub(super) fn event_log(&self, ctx: &Context) -> Result<Option<(EventLog, Delivery)>, Error> {
        let Some(target) = &self.event_log else {
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
        let Some(import) = &self.import else {
            return Ok(Listing::default());
        };
        import::from_file(
            &import.listed,
            import.protects,
            stack.name(),
            stack.project_name(),
        )
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
        let Some(import) = self.import.as_ref().filter(|import| import.declares) else {
            return Ok(None);
        };
        let listing = self.listing(session)?;
        Ok(Some(CodeRequest::new(
            import,
            listing,
            &session.stack,
            snapshot,
            session.settings_of_code(!self.preview_only),
        )))
    }
}

/// Whether log lines go to the terminal, where they would tear the tree.
fn logs_to_terminal(ctx: &Context) -> bool {
    ctx.globals.logtostderr && ctx.globals.verbose > 0
}

/// Error for an operation that needs confirmation if nobody can be asked.
pub fn check_confirmed(ctx: &Context, kind: Kind, is_sure: bool) -> Result<(), Error> {
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
