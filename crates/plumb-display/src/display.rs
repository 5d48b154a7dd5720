//! Display of an operation in the selected view.

use std::time::Duration;

use plumb_events::json::{JsonProperties, to_json_line};
use plumb_events::{Event, Filter, Progress, ProgressKind, Summary};

use crate::diff_view::DiffView;
use crate::options::{Action, Options, View};
use crate::policies::Policies;
use crate::progress::ProgressLines;
use crate::rows::{Rows, says_only_that_it_failed};
use crate::tree::{Size, Tree};
use crate::waits::Waits;
use crate::{colorize, sections};

/// Scroll command, for a tree longer than the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scroll {
    /// Up by this number of lines.
    Up(usize),
    /// Down by this number of lines.
    Down(usize),
    /// To the first line.
    First,
    /// To the last line.
    Last,
    /// Follow the running steps again.
    Follow,
}

/// Maximum number of annotated errors and warnings.
const MOST_ANNOTATIONS: usize = 20;

/// Text for the standard streams.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// For standard output.
    pub stdout: String,
    /// For standard error.
    pub stderr: String,
}

impl Output {
    pub(crate) fn stdout(text: String) -> Self {
        Output {
            stdout: text,
            stderr: String::new(),
        }
    }

    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.stdout.is_empty() && self.stderr.is_empty()
    }
}

/// Converts the events of one operation to text.
///
/// Pass every event to [`Display::handle`] with the time since the start of the operation, and write the result. For
/// [`View::Tree`], paint [`Display::frame`] at any rate, and write the results of events below the last frame. For
/// [`View::Progress`], call [`Display::tick`] once per second.
#[derive(Debug)]
pub struct Display {
    options: Options,
    body: Body,
    policies: Policies,
    waits: Waits,
    annotations: Vec<String>,
    group_open: bool,
    loads_policies: bool,
    summary: Option<Summary>,
    finished: bool,
}

#[derive(Debug)]
enum Body {
    Progress(ProgressLines),
    Tree(Tree),
    Diff(DiffView),
}

impl Display {
    /// A display without events.
    pub fn new(options: Options) -> Self {
        let body = match options.view {
            View::Progress => Body::Progress(ProgressLines::new(options.clone())),
            View::Tree => Body::Tree(Tree::new(options.clone())),
            View::Diff => Body::Diff(DiffView::new(options.clone())),
        };
        Display {
            waits: Waits::new(options.preview),
            annotations: Vec::new(),
            group_open: options.ci.is_some(),
            loads_policies: false,
            options,
            body,
            policies: Policies::default(),
            summary: None,
            finished: false,
        }
    }

    /// Text before the first event, including the banner.
    pub fn start(&self) -> String {
        let live = match &self.options.live_url {
            Some(url) if self.options.view == View::Tree => {
                format!("View in Browser (Ctrl+O): {url}\n\n")
            }
            Some(url) => format!("View Live: {url}\n\n"),
            None => String::new(),
        };
        let group = self.options.ci.map_or_else(String::new, |ci| {
            ci.group_start(&self.group_title(), self.options.began)
        });
        format!(
            "{group}{}{}",
            self.options.banner(),
            colorize(&live, self.options.color)
        )
    }

    fn group_title(&self) -> String {
        format!("{} ({})", self.options.title(), self.options.stack)
    }

    /// End of the group of steps, so that the following text is visible without expanding it.
    fn end_group(&mut self, now: Duration) -> String {
        let Some(ci) = self.options.ci.filter(|_| self.group_open) else {
            return String::new();
        };
        self.group_open = false;
        let at = self.options.began + i64::try_from(now.as_secs()).unwrap_or(0);
        ci.group_end(&self.group_title(), at)
    }

    /// Handles an event; `now` is the time since the start of the operation.
    pub fn handle(&mut self, event: &Event, now: Duration) -> Output {
        self.policies.handle(event);
        self.waits.handle(event, now);
        self.annotate(event);
        if let Event::Summary(summary) = event {
            self.summary = Some(summary.clone());
        }
        if matches!(event, Event::Cancel) {
            return self.finish(now);
        }
        if let Event::StartDebugging { config } = event {
            let config = to_json_line(&JsonProperties(config, Filter::hiding_secrets()));
            return Output::stdout(format!("Waiting for a debugger to attach: {config}\n"));
        }
        let before = match (&self.body, event) {
            (Body::Diff(_), Event::Summary(_)) => self.end_group(now),
            _ => String::new(),
        };
        let mut output = Output::default();
        if let Some(loading) = self.loading_policies(event) {
            output = self.fold(&Event::Progress(loading), now);
        }
        let told = self.fold(event, now);
        output.stdout.push_str(&told.stdout);
        output.stderr.push_str(&told.stderr);
        output.stdout.insert_str(0, &before);
        self.colored(output)
    }

    /// Progress of loading policy packs, which happens once before the steps begin.
    fn loading_policies(&mut self, event: &Event) -> Option<Progress> {
        let done = match event {
            Event::PolicyLoad if !self.loads_policies && self.options.action != Action::Analyze => {
                false
            }
            Event::Prelude { .. } if self.loads_policies => true,
            _ => return None,
        };
        self.loads_policies = !done;
        Some(Progress {
            kind: ProgressKind::PolicyPacksLoading,
            id: "policy-loading".into(),
            message: "Loading policy packs...".into(),
            received: 0,
            total: 0,
            done,
        })
    }

    fn fold(&mut self, event: &Event, now: Duration) -> Output {
        match &mut self.body {
            Body::Progress(progress) => Output::stdout(progress.handle(event, now)),
            Body::Tree(tree) => {
                tree.handle(event, now);
                match event {
                    Event::Prelude { config } => {
                        Output::stdout(sections::configuration(config, &self.options))
                    }
                    Event::Stdout { message, .. } => Output::stdout(message.to_string()),
                    _ => Output::default(),
                }
            }
            Body::Diff(view) => view.handle(event),
        }
    }

    fn annotate(&mut self, event: &Event) {
        if let (Some(ci), Event::Diagnostic(diagnostic)) = (self.options.ci, event) {
            let annotation = ci.of_diagnostic(diagnostic, &self.options.program);
            let is_known = self.options.has_own_name()
                && !self.annotations.is_empty()
                && says_only_that_it_failed(diagnostic);
            // CI systems show only a few annotations.
            if let Some(annotation) = annotation
                && !is_known
                && self.annotations.len() < MOST_ANNOTATIONS
                && !self.annotations.contains(&annotation)
            {
                self.annotations.push(annotation);
            }
        }
    }

    /// Text for a second without output: a progress indicator, and the current waits. Must be called once per second.
    pub fn tick(&mut self, now: Duration) -> Output {
        let waits = match &self.body {
            // The tree shows waits in its rows.
            Body::Tree(_) => return Output::default(),
            Body::Progress(_) | Body::Diff(_) => self.waits.report(now),
        };
        let output = match &mut self.body {
            Body::Progress(progress) => Output::stdout(progress.tick(&waits, now)),
            Body::Diff(_) if !self.options.suppress_progress => Output {
                stdout: String::new(),
                stderr: crate::text::lines("", &waits),
            },
            Body::Tree(_) | Body::Diff(_) => Output::default(),
        };
        self.colored(output)
    }

    /// Sets the line about the store of the state, if the run waits for it. It stands for a line about the program.
    pub fn set_store_wait(&mut self, line: Option<String>) {
        self.waits.set_store_wait(line);
    }

    /// Scrolls a tree that is longer than `height` lines.
    pub fn scroll(&mut self, to: Scroll, height: usize) {
        if let Body::Tree(tree) = &mut self.body {
            tree.scroll(to, height);
        }
    }

    /// Current tree, with at most `height` lines of at most `width` columns; empty for other views.
    pub fn frame(&self, width: usize, height: usize, now: Duration) -> Vec<String> {
        let Body::Tree(tree) = &self.body else {
            return Vec::new();
        };
        let size = Size {
            width,
            height: Some(height),
        };
        self.colored_lines(&tree.frame(size, &self.waits, now))
    }

    /// The tree as it stays on a screen of this size: complete, but rows that are alike are one line if there are too many.
    pub fn last_frame(&self, width: usize, height: usize, now: Duration) -> Vec<String> {
        let Body::Tree(tree) = &self.body else {
            return Vec::new();
        };
        self.colored_lines(&tree.last_frame(width, height, &self.waits, now))
    }

    fn colored_lines(&self, lines: &[String]) -> Vec<String> {
        let colored = lines.iter();
        colored
            .map(|line| colorize(line, self.options.color).into_owned())
            .collect()
    }

    /// Text after the end of the operation. [`Event::Cancel`] has the same effect; repeated calls return nothing.
    pub fn finish(&mut self, now: Duration) -> Output {
        if std::mem::replace(&mut self.finished, true) {
            return Output::default();
        }
        let end_of_group = self.end_group(now);
        let mut text = match &mut self.body {
            Body::Progress(progress) => {
                let last_rows = progress.finish(now);
                format!(
                    "{last_rows}{end_of_group}{}",
                    final_sections(&progress.rows, &self.policies, self.summary.as_ref())
                )
            }
            Body::Tree(tree) => {
                tree.rows.end_all();
                let sections = final_sections(&tree.rows, &self.policies, self.summary.as_ref());
                // Separated from the last frame of the tree by an empty line.
                if sections.is_empty() {
                    sections
                } else {
                    format!("\n{sections}")
                }
            }
            Body::Diff(_) => end_of_group,
        };
        self.annotations.drain(..).for_each(|it| text.push_str(&it));
        self.colored(Output::stdout(text))
    }

    fn colored(&self, output: Output) -> Output {
        Output {
            stdout: colorize(&output.stdout, self.options.color).into_owned(),
            stderr: colorize(&output.stderr, self.options.color).into_owned(),
        }
    }
}

fn final_sections(rows: &Rows, policies: &Policies, summary: Option<&Summary>) -> String {
    let options = rows.options();
    let mut text = policies.section(options);
    // Errors come last: when a run is over, people see the last lines first.
    let diagnostics = sections::diagnostics(rows);
    let (first, last) = if options.has_own_name() && rows.errored() > 0 {
        (String::new(), diagnostics)
    } else {
        (diagnostics, String::new())
    };
    text.push_str(&first);
    text.push_str(&sections::stack_outputs(
        rows.stack_outputs.as_ref(),
        options,
    ));
    // Analysis does not change resources, so there are no counts to show.
    let has_results = !policies.has_mandatory() && options.action != Action::Analyze;
    if let Some(summary) = summary.filter(|_| has_results) {
        text.push_str(&sections::resources(summary, rows.errored()));
        text.push_str(&sections::duration(summary));
        text.push('\n');
    }
    text.push_str(&last);
    text
}
