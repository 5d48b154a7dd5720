//! Output of a watched stack: a line per event, with the time and the resource (`cli.md` 3.5).

use plumb_events::{Event, Metadata, Severity, StepEvent};
use plumb_resource::StepOp;

use crate::color::{BOLD, INFO, RESET};
use crate::options::Options;
use crate::steps::{OutputView, outputs_text};
use crate::{colorize, ops};

const GREY: &str = "<{%fg 8%}>";

/// Width of the resource name before each line.
const NAME_WIDTH: usize = 20;

/// Formats events of a watched stack.
#[derive(Clone, Copy, Debug)]
pub struct WatchLines<'a> {
    options: &'a Options,
}

impl<'a> WatchLines<'a> {
    /// Formatter with the colours, secrets and unchanged resources of `options`.
    pub fn new(options: &'a Options) -> Self {
        WatchLines { options }
    }

    /// Lines for an event, with line breaks. `clock` is the time of day.
    pub fn event(self, event: &Event, clock: &str) -> String {
        colorize(&self.tagged(event, clock), self.options.color).into_owned()
    }

    /// Lines of `text`, each with the time and `name` before it, in tags for [`colorize`].
    pub fn text(name: &str, text: &str, clock: &str) -> String {
        let name: String = name.chars().take(NAME_WIDTH).collect();
        let color = color_of(&name);
        let prefix =
            format!("{GREY}   {clock}[ {color}{BOLD}{name:<NAME_WIDTH$}{RESET}{GREY} ]{RESET} ");
        let mut all = String::new();
        for line in text.lines().map(str::trim_end) {
            if !line.is_empty() {
                all.extend([&prefix, line, "\n"]);
            }
        }
        all
    }

    fn tagged(self, event: &Event, clock: &str) -> String {
        match event {
            Event::ResourcePre(step) => self.step(step, clock, |kind, op| {
                format!("{BOLD}{kind}{RESET}: {op}...")
            }),
            Event::ResourceOutputs(step) => {
                let done = self.step(step, clock, |kind, op| {
                    format!("{BOLD}{kind}{RESET}: {op}... ✅")
                });
                done + &self.outputs_of_stack(&step.metadata, clock)
            }
            Event::ResourceFailed(failed) => self.step_of(&failed.metadata, clock, |kind, op| {
                format!("failed {op} {kind}")
            }),
            Event::Diagnostic(it) if it.severity != Severity::Debug && !it.ephemeral => {
                let name = it.urn.as_ref().map_or("", |urn| urn.name());
                Self::text(name, &self.options.text_of(it), clock)
            }
            Event::Stdout { message, .. } => Self::text("", message, clock),
            _ => String::new(),
        }
    }

    fn step(self, step: &StepEvent, clock: &str, say: impl Fn(&str, &str) -> String) -> String {
        if step.internal {
            return String::new();
        }
        self.step_of(&step.metadata, clock, say)
    }

    fn step_of(
        self,
        metadata: &Metadata,
        clock: &str,
        say: impl Fn(&str, &str) -> String,
    ) -> String {
        let is_hidden = metadata.op == StepOp::Same && !self.options.show_sames
            || ops::is_read(metadata.op) && !self.options.show_reads;
        if is_hidden {
            return String::new();
        }
        let text = say(metadata.urn.type_text(), metadata.op.as_str());
        Self::text(metadata.urn.name(), &text, clock)
    }

    /// Changed outputs of the stack.
    fn outputs_of_stack(self, metadata: &Metadata, clock: &str) -> String {
        if !metadata.urn.is_root_stack() {
            return String::new();
        }
        let view = OutputView {
            indent: 1,
            planning: true,
            refreshed: false,
        };
        let outputs = outputs_text(metadata, self.options, view);
        if outputs.is_empty() {
            return String::new();
        }
        let outputs = outputs.trim_end_matches(RESET);
        let head = format!("{INFO}--- Outputs ---{RESET}");
        Self::text("", &format!("{head}\n{outputs}"), clock)
    }
}

/// Colour for a name, always the same for the same name.
fn color_of(name: &str) -> String {
    if name.is_empty() {
        return String::new();
    }
    let sum: u32 = name
        .bytes()
        .fold(0, |sum, byte| sum.wrapping_mul(31) + u32::from(byte));
    format!("<{{%fg {}%}}>", 1 + sum % 6)
}
