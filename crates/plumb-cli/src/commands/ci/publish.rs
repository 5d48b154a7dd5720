//! Reports in comments, issues and summaries.

use std::fs::OpenOptions;
use std::io::Write as _;

use plumb_display::fenced;
use plumb_operate::{Context, Error, ExitStatus};

use super::forge::{Forge, Place};
use super::pipeline::Pipeline;
use super::{CiArgs, Operation, Subject};

/// Result of an operation, to be published.
pub(super) struct Publication {
    pub(super) operation: Operation,
    pub(super) subject: Subject,
    /// Report in Markdown; `None` if the operation ended before there was one.
    pub(super) report: Option<String>,
    /// Error that ended the operation, if the report does not have it.
    pub(super) failure: Option<String>,
    pub(super) status: ExitStatus,
}

impl Publication {
    /// Publishes the result; failures become warnings.
    pub(super) fn publish(&self, args: &CiArgs, pipeline: &Pipeline, ctx: &Context) {
        let body = self.body(pipeline);
        let published = [
            append(ctx, "GITHUB_STEP_SUMMARY", &body),
            self.hand_on(ctx),
            self.tell_forge(&body, args, pipeline, ctx),
        ];
        for error in published.into_iter().filter_map(Result::err) {
            ctx.printer.warning(&error.text().unwrap_or_default());
        }
    }

    /// The report with a first line by which later runs recognise it.
    fn body(&self, pipeline: &Pipeline) -> String {
        let failure = || {
            let text = self.failure.as_deref().unwrap_or("See the log.");
            let (operation, subject) = (self.operation, &self.subject);
            let block = fenced("text", text);
            format!("### `{operation}` of `{subject}` failed\n\n{block}")
        };
        let report = self.report.clone().unwrap_or_else(failure);
        let (mark, footer) = (self.mark(), pipeline.footer());
        format!("{mark}\n{}\n\n{footer}\n", report.trim_end())
    }

    /// Comment of HTML by which the reports about one stack are recognised. The project is not in it, because it is not known while
    /// its file cannot be read.
    fn mark(&self) -> String {
        let Subject { stack, folder, .. } = &self.subject;
        format!(
            "<!-- plumb ci: {} of {stack} in /{folder} -->",
            self.operation
        )
    }

    /// Sets outputs for later steps of the job.
    fn hand_on(&self, ctx: &Context) -> Result<(), Error> {
        let (operation, code) = (self.operation, self.status.code());
        let outputs = format!("operation={operation}\nexit-code={code}\n");
        append(ctx, "GITHUB_OUTPUT", &outputs)
    }

    fn tell_forge(
        &self,
        body: &str,
        args: &CiArgs,
        pipeline: &Pipeline,
        ctx: &Context,
    ) -> Result<(), Error> {
        let change = pipeline.change.as_deref().filter(|_| args.comment);
        let is_about_drift = args.issue && self.operation == Operation::Drift;
        let Some(kind) = pipeline
            .forge
            .filter(|_| change.is_some() || is_about_drift)
        else {
            return Ok(());
        };
        let forge = Forge::of(kind, &ctx.environment)?;
        let mark = self.mark();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        runtime.block_on(async {
            if let Some(change) = change {
                forge.put(Place::CommentOn(change), &mark, body).await?;
            }
            if is_about_drift {
                let title = format!("Drift in {}", self.subject);
                let place = Place::Issue { title: &title };
                match self.status {
                    ExitStatus::Success => forge.close(place, &mark).await?,
                    ExitStatus::Configuration if self.failure.is_none() => {
                        forge.put(place, &mark, body).await?;
                    }
                    // A failure says nothing about drift.
                    _ => {}
                }
            }
            Ok(())
        })
    }
}

/// Appends to the file that a variable of the system names, if there is one.
fn append(ctx: &Context, variable: &str, text: &str) -> Result<(), Error> {
    let Some(path) = ctx.environment.non_empty(variable) else {
        return Ok(());
    };
    let file = OpenOptions::new().append(true).create(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| {
            Error::user(format!(
                "could not write to the file of {variable}: {error}"
            ))
        })
}
