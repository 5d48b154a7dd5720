//! Phases of every operation: open, preview, confirm, run, save.

use std::sync::Arc;
use std::time::Duration;

use plumb_acquire::LockMode;
use plumb_deploy::setup::Phase;
use plumb_display::{DiffView, Options as DisplayOptions, RunExplanation, View};
use plumb_events::OperationResult;
use tracing::field::Empty;
use tracing::{Instrument as _, info_span};

use super::converted::Converted;
use super::destroyed;
use super::drift;
use super::event_log::EventLog;
use super::request::{Kind, OperationRequest};
use super::screen::{Form, ScreenSetup};
use super::session::{Opening, RunResult, Session};
use super::{browse, import_file, interrupts, reports};
use crate::context::{ConfigCheck, IfMissing, StateFallback};
use crate::identity::Code;
use crate::metadata::{Facts, Gathering, Metadata};
use crate::trace::{FAILED, TARGET};
use crate::{Context, Error, ExitStatus, go, prompt};

/// Maximum time to deliver the last events to a listener.
const DELIVERY: Duration = Duration::from_secs(10);

/// Runs an operation.
///
/// A user who stops it gets [`ExitStatus::Cancelled`].
pub fn run(ctx: &Context, request: &OperationRequest) -> Result<ExitStatus, Error> {
    let event_log = request.event_log(ctx)?;
    let session = open(ctx, request)?;
    // A single thread, because requests, decisions and answers follow each other: none of them waits for another thread
    // to wake up. The journal and long-running work have threads of their own.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .thread_stack_size(crate::WORKER_STACK)
        .enable_all()
        .build()
        .map_err(|error| Error::user(format!("could not start: {error}")))?;
    let (event_log, delivery) = event_log.unzip();
    let result = runtime.block_on(async {
        let delivery = delivery.map(tokio::spawn);
        let result = Box::pin(converted(ctx, request, session, event_log)).await;
        if let Some(delivery) = delivery {
            // A slow listener must not delay the end.
            let _ = tokio::time::timeout(DELIVERY, delivery).await;
        }
        result
    });
    // The plugins have ended; a task that still reads from a dead pipe must not delay the end.
    runtime.shutdown_background();
    result
}

fn open<'c>(ctx: &'c Context, request: &OperationRequest) -> Result<Session<'c>, Error> {
    let choice = &request.stack;
    let missing = match (choice.creates, request.kind) {
        (true, _) => IfMissing::Create,
        (false, Kind::Import | Kind::Destroy) => IfMissing::Fail,
        (false, _) if request.snippets.is_some() => IfMissing::Fail,
        (false, _) => IfMissing::Offer,
    };
    let runs_program =
        matches!(request.kind, Kind::Up | Kind::Preview) || request.runs_program(ctx);
    // Snippets are stored in the state: an update of only snippets needs no program.
    let needs_project = request.snippets.is_none()
        && (runs_program || request.kind == Kind::Import || !choice.config.is_empty());
    let skips_check = choice.skips_config_check || request.snippets.is_some() || !runs_program;
    let session = Session::open(
        ctx,
        &Opening {
            stack: choice.name.as_deref(),
            config_file: choice.config_file.as_deref(),
            config: &choice.config,
            config_paths: choice.config_paths,
            missing,
            secrets_provider: choice.secrets_provider.as_deref(),
            check: if skips_check {
                ConfigCheck::Skipped
            } else {
                ConfigCheck::Required
            },
            fallback: if request.kind == Kind::Destroy || request.snippets.is_some() {
                StateFallback::Always
            } else {
                StateFallback::IfEnabled
            },
            client: request.language_host.clone(),
            debugged: request.debugged.clone(),
            checks_plugins: !request.skips_plugin_install,
            lock_mode: if request.is_locked {
                LockMode::Frozen
            } else {
                LockMode::Update
            },
            changes: !request.preview_only,
            needs_project,
            // Mistakes in the list are reported before those in the settings.
            check_stack: &|stack| match request.kind {
                Kind::Import => request.listing_for(stack).map(drop),
                _ => Ok(()),
            },
        },
    )?;
    request.pending_creates.check()?;
    if request.kind == Kind::Import {
        session.check_config()?;
    }
    Ok(session)
}

/// Runs an operation. For an import with `--from`, runs the converter first.
async fn converted(
    ctx: &Context,
    request: &OperationRequest,
    mut session: Session<'_>,
    event_log: Option<EventLog>,
) -> Result<ExitStatus, Error> {
    let import = request.import.as_ref();
    let conversion = import.and_then(|import| Some((import.conversion.as_ref()?, import.protects)));
    let Some((conversion, protects)) = conversion else {
        return Box::pin(operate(ctx, request, session, event_log)).await;
    };
    let converted = Arc::new(Converted::of(ctx, conversion, protects, &session).await?);
    session.converted = Some(converted.clone());
    let result = Box::pin(operate(ctx, request, session, event_log)).await;
    let failed = !matches!(result, Ok(ExitStatus::Success));
    let wanted = conversion.file.as_deref();
    if failed || wanted.is_some() {
        converted.write(ctx, wanted, failed)?;
    }
    result
}

async fn operate(
    ctx: &Context,
    request: &OperationRequest,
    mut session: Session<'_>,
    mut event_log: Option<EventLog>,
) -> Result<ExitStatus, Error> {
    let interrupts = interrupts::listen(ctx.printer.clone(), session.asked_to_end())?;
    if destroyed::is_all_protected(ctx, request, &session.base)? {
        session.leave();
        return Ok(ExitStatus::Success);
    }
    let metadata = (!request.preview_only)
        .then(|| Gathering::start(&ctx.environment, session.project_environment.root.clone()));
    if request.kind == Kind::Refresh && !request.is_drift {
        request.pending_creates.settle(ctx, &mut session)?;
    }
    if let Some(path) = &request.plan {
        session.hold_to(path)?;
    }
    if let Some(order) = &request.snippets {
        session.change_snippets(order)?;
    }
    if request
        .import
        .as_ref()
        .is_some_and(|import| !import.listed.provider_inputs.is_empty())
    {
        ctx.printer.warning(
            "the 'providerInputs' field is deprecated: declare the provider in 'resources' and set its configuration via its \
             'inputs' instead",
        );
    }
    if request.preview_only || !request.skip_preview {
        let previewed = preview(ctx, request, &mut session, event_log.take(), &interrupts);
        match Box::pin(previewed).await? {
            Previewed::Confirmed(log) => event_log = log,
            Previewed::Last(ran) => {
                let code = request.code_request(&session, &session.base)?;
                let status = ends_with_preview(ctx, request, session, &ran);
                if let Some(code) = code {
                    code.fulfil(ctx, request.form == Form::Human).await?;
                }
                return status;
            }
            Previewed::Declined => {
                session.leave();
                return Ok(ExitStatus::Failure);
            }
        }
    } else if ctx.is_interactive() && !request.is_yes(ctx) && !request.skip_preview {
        return Err(Error::user("the operation was not confirmed").known(Code::NotConfirmed));
    }
    let ran = phase(
        ctx,
        request,
        &mut session,
        Phase::Execute,
        event_log,
        false,
        &interrupts,
    )
    .await?;
    let metadata = metadata.map(Gathering::finish).unwrap_or_default();
    Box::pin(conclude(ctx, request, session, ran, metadata)).await
}

/// Outcome of a preview.
enum Previewed {
    /// The operation follows, with the event log of the preview.
    Confirmed(Option<EventLog>),
    /// The command ends here: only a preview was requested, or the preview failed.
    Last(Box<RunResult>),
    /// The user declined.
    Declined,
}

async fn preview(
    ctx: &Context,
    request: &OperationRequest,
    session: &mut Session<'_>,
    event_log: Option<EventLog>,
    interrupts: &tokio::sync::watch::Receiver<u32>,
) -> Result<Previewed, Error> {
    let asks = !request.preview_only && !request.is_yes(ctx);
    let ran = phase(
        ctx,
        request,
        session,
        Phase::Preview,
        event_log,
        asks || request.import_file.is_some() || request.browses,
        interrupts,
    )
    .await?;
    if request.browses && ran.outcome.result == OperationResult::Succeeded {
        show_details(ctx, request, session, &ran)?;
    }
    let is_last = request.is_drift || request.preview_only;
    if is_last || ran.outcome.result != OperationResult::Succeeded {
        return Ok(Previewed::Last(Box::new(ran)));
    }
    if asks && !confirmed(ctx, request, session, &ran)? {
        return Ok(Previewed::Declined);
    }
    if ran.seen.has_secrets {
        session.prepare_secrets()?;
    }
    session.prepare_wanted_secrets()?;
    let summary = ran.seen.summary.as_ref();
    session.expected = summary.map(|it| plumb_display::expected_changes(it, request.kind.action()));
    if request.is_strict && session.plan.is_none() {
        session.plan = ran.plan;
    }
    Ok(Previewed::Confirmed(
        ran.seen.event_log.map(EventLog::restarted),
    ))
}

fn ends_with_preview(
    ctx: &Context,
    request: &OperationRequest,
    session: Session<'_>,
    ran: &RunResult,
) -> Result<ExitStatus, Error> {
    if let Some(refusal) = refusal(ran) {
        session.leave();
        return Err(refusal);
    }
    let report = ran.seen.report.as_ref();
    if request.is_drift {
        let stack = session.stack.clone();
        session.leave();
        reports::write(ctx, request, report)?;
        let nothing = RunExplanation::default();
        let run = ran.seen.run.as_ref().unwrap_or(&nothing);
        let result = ran.outcome.result;
        return Ok(drift::report(
            ctx,
            &stack,
            run,
            result,
            request.form == Form::Quiet,
        ));
    }
    let status = reports::write(ctx, request, report)
        .and_then(|()| status_of(request, ran))
        .and_then(|status| {
            if status == ExitStatus::Success {
                save_plan(ctx, request, &session, ran)?;
                write_import_file(ctx, request, &session, ran)?;
                if request.kind == Kind::Destroy {
                    destroyed::conclude(ctx, request, &session.stack, &session.base)?;
                }
            }
            Ok(status)
        });
    session.leave();
    status
}

/// Saves the state, then prints generated code and what remains after a destroy.
async fn conclude(
    ctx: &Context,
    request: &OperationRequest,
    session: Session<'_>,
    mut ran: RunResult,
    metadata: Metadata,
) -> Result<ExitStatus, Error> {
    let status = status_of(request, &ran);
    let report = ran.seen.report.take();
    let asked = request.message.clone().filter(|it| !it.is_empty());
    let message = asked.unwrap_or(metadata.message);
    let mut environment = metadata.facts;
    add_execution(ctx, request, &session, &mut environment);
    let succeeded = ran.outcome.result == OperationResult::Succeeded;
    let before = (request.kind == Kind::Destroy && succeeded).then(|| session.base.clone());
    let stack = session.stack.clone();
    let code = request.code_request(&session, &ran.snapshot);
    // Saved before any other result is reported, because an earlier failure would lose the state.
    session.finish(ran, request.kind.history(), message, environment)?;
    if let Some(code) = code? {
        code.fulfil(ctx, request.form == Form::Human).await?;
    }
    if let Some(before) = before {
        destroyed::conclude(ctx, request, &stack, &before)?;
    }
    reports::write(ctx, request, report.as_ref())?;
    status
}

async fn phase(
    ctx: &Context,
    request: &OperationRequest,
    session: &mut Session<'_>,
    phase: Phase,
    event_log: Option<EventLog>,
    keeps_events: bool,
    interrupts: &tokio::sync::watch::Receiver<u32>,
) -> Result<RunResult, Error> {
    let options = request.options(ctx, phase, session)?;
    let is_preview = phase == Phase::Preview;
    let form = request.form_of(ctx, phase);
    let screen = ScreenSetup {
        printer: ctx.printer.clone(),
        store: ctx.store.clone(),
        explains: is_preview && !request.is_drift,
        record: request.record(ctx, session),
        options: request.display_options(ctx, session, is_preview),
        form,
        event_log,
        keeps_events,
        reports: request.report.is_wanted(),
        show_secrets: options.show_secrets,
        advises: ctx.environment.stderr_is_terminal,
    };
    session.check_state().inspect_err(|_| {
        if !matches!(form, Form::Digest { .. }) {
            screen.announce();
        }
    })?;
    let operation = request.operation(session)?;
    if request.kind == Kind::Import
        && let Err(error) = request.listing(session)?.check_types()
    {
        if !matches!(form, Form::ResultLine { .. }) {
            screen.announce();
        }
        return Err(error);
    }
    let policies = request.policies(ctx, session)?;
    let shown = if is_preview {
        "preview"
    } else {
        request.kind.word()
    };
    let span = info_span!(
        target: TARGET, "phase", otel.name = "pulumi-plan", operation = request.kind.word(), phase = shown, outcome = Empty,
    );
    let ran = session
        .run(operation, options, policies, screen, interrupts.clone())
        .instrument(span.clone())
        .await;
    let succeeded = |ran: &RunResult| ran.outcome.result == OperationResult::Succeeded;
    if !ran.as_ref().is_ok_and(succeeded) {
        span.record("outcome", FAILED);
    }
    let ran = ran?;
    if succeeded(&ran) && request.form == Form::Human {
        show_permalink(ctx, request, session)?;
    }
    Ok(ran)
}

/// Prints the link to the state of the stack, if requested.
fn show_permalink(
    ctx: &Context,
    request: &OperationRequest,
    session: &Session<'_>,
) -> Result<(), Error> {
    if !request.display.show_permalink {
        return Ok(());
    }
    let stack = &session.stack;
    if let Some(url) = stack.backend.permalink(&stack.reference)? {
        let query = permalink_query(stack.backend.url());
        ctx.printer.styled_line(&format!(
            "<{{%underline%}}><{{%fg 12%}}>Permalink: {url}{query}<{{%reset%}}>"
        ));
    }
    Ok(())
}

/// Query of the backend address as the links contain it: sorted, with the write mode for files. Links to other stores
/// have no query.
fn permalink_query(backend: &str) -> String {
    if !backend.starts_with("file://") {
        return String::new();
    }
    let given = backend.split_once('?').map_or("", |(_, query)| query);
    let mut pairs: Vec<&str> = given.split('&').filter(|it| !it.is_empty()).collect();
    if !pairs.iter().any(|it| it.starts_with("no_tmp_dir=")) {
        pairs.push("no_tmp_dir=true");
    }
    pairs.retain(|it| *it != "no_tmp_dir=false");
    pairs.sort_unstable();
    let mark = if pairs.is_empty() { "" } else { "?" };
    format!("{mark}{}", pairs.join("&"))
}

/// Error of a run that was refused before it began, for which there is no event.
fn refusal(ran: &RunResult) -> Option<Error> {
    let is_refused = ran.outcome.result == OperationResult::Failed && !ran.outcome.has_begun;
    is_refused.then(|| Error::user(ran.outcome.error.clone().unwrap_or_default()))
}

fn status_of(request: &OperationRequest, ran: &RunResult) -> Result<ExitStatus, Error> {
    if let Some(refusal) = refusal(ran) {
        return Err(refusal);
    }
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
    if request.expect_no_changes && has_changes {
        return Err(Error::with_status(
            ExitStatus::Changes,
            format!(
                "no changes were expected for {} but changes were proposed",
                request.kind.word()
            ),
        )
        .known(Code::UnexpectedChanges));
    }
    Ok(ExitStatus::Success)
}

/// Writes the plan of a successful preview, and prints how to use it.
fn save_plan(
    ctx: &Context,
    request: &OperationRequest,
    session: &Session<'_>,
    ran: &RunResult,
) -> Result<(), Error> {
    let (Some(path), Some(plan)) = (&request.save_plan, &ran.plan) else {
        return Ok(());
    };
    session.save_plan(path, plan, request.display.show_secrets)?;
    if !request.is_json() {
        ctx.printer
            .info(&format!("Update plan written to '{path}'"));
        ctx.printer.info(&format!(
            "Run `pulumi up --plan='{path}'` to constrain the update to the operations planned by this preview"
        ));
    }
    Ok(())
}

/// Writes the list of resources that a successful preview would create.
fn write_import_file(
    ctx: &Context,
    request: &OperationRequest,
    session: &Session<'_>,
    ran: &RunResult,
) -> Result<(), Error> {
    let Some(shown) = &request.import_file else {
        return Ok(());
    };
    let path = ctx.environment.cwd.join(shown);
    import_file::write(&path, &ran.seen.events, &session.base)
        .map_err(|error| Error::user(go::open(shown, &error)))
}

/// Asks for confirmation; shows the details of the preview as often as the user requests.
fn confirmed(
    ctx: &Context,
    request: &OperationRequest,
    session: &Session<'_>,
    ran: &RunResult,
) -> Result<bool, Error> {
    let word = request.kind.word();
    let _waits = info_span!(target: TARGET, "wait for the answer").entered();
    loop {
        let mut question = format!("Do you want to perform this {word}?");
        if request.kind == Kind::Refresh {
            question.push_str("\nNo resources will be modified as part of this refresh; just your stack's state will be.");
        }
        let mut choices = vec!["no".to_owned(), "yes".to_owned()];
        if !request.display.diff {
            choices.push("details".to_owned());
        }
        match prompt::select(&question, choices)? {
            1 => return Ok(true),
            2 => show_details(ctx, request, session, ran)?,
            _ => {
                ctx.printer.line(&format!(
                    "confirmation declined, not proceeding with the {word}"
                ));
                return Ok(false);
            }
        }
    }
}

/// Shows the changes of the preview: in a browser, or as a text where that is not for people at a terminal.
fn show_details(
    ctx: &Context,
    request: &OperationRequest,
    session: &Session<'_>,
    ran: &RunResult,
) -> Result<(), Error> {
    let options = DisplayOptions {
        view: View::Diff,
        ..request.display_options(ctx, session, true)
    };
    let events = ran.seen.events.iter();
    let browses = options.is_for_people() && !options.read_aloud;
    if browses && ctx.environment.stdin_is_terminal {
        let has_few = ctx.environment.has_few_characters();
        return browse::changes(options, events, has_few);
    }
    ctx.printer.data(&DiffView::render(options, events));
    Ok(())
}

/// Adds how the program was started, and the runtime of the user's program.
fn add_execution(
    ctx: &Context,
    request: &OperationRequest,
    session: &Session<'_>,
    facts: &mut Facts,
) {
    let kind = request
        .caller
        .kind
        .as_deref()
        .filter(|kind| matches!(*kind, "auto.local" | "auto.inline"))
        .unwrap_or("cli");
    facts.insert("exec.kind".to_owned(), kind.to_owned());
    if let Some(agent) = &request.caller.agent {
        facts.insert("exec.agent".to_owned(), agent.clone());
    }
    facts.insert("updatePlan".to_owned(), request.plan.is_some().to_string());
    // No supported backend has environments.
    facts.insert("stack.environments".to_owned(), "[]".to_owned());
    let runtime = session.project_environment.runtime();
    let is_update = request.kind == super::request::Kind::Up;
    if let Some(runtime) = runtime.filter(|it| is_update && !it.name.is_empty()) {
        facts.insert("runtime.name".to_owned(), runtime.name.clone());
    }
    for (flag, told) in &ctx.globals.user_flags {
        facts.insert(format!("pulumi.flag.{flag}"), told.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::permalink_query;

    #[test]
    fn permanent_links_have_the_parameters_of_the_address() {
        for (backend, query) in [
            ("file:///x", "?no_tmp_dir=true"),
            (
                "file:///x?no_tmp_dir=1&create_dir=true",
                "?create_dir=true&no_tmp_dir=1",
            ),
            ("file:///x?no_tmp_dir=false", ""),
        ] {
            assert_eq!(permalink_query(backend), query);
        }
    }
}
