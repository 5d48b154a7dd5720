//! What to show.

use ecow::EcoString;
use plumb_events::ColorMode;

use crate::ci::CiSystem;
use crate::color::{HEADLINE, paint};

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Resources are made what the program says.
    Update,
    /// The state is made what the world is.
    Refresh,
    /// Everything is deleted.
    Destroy,
    /// Existing objects are adopted.
    Import,
    /// Policies look at what there is.
    Analyze,
}

/// How people see an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// A line for each step.
    Progress,
    /// A tree that is repainted.
    Tree,
    /// Every resource with its differences.
    Diff,
}

/// What to show, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// What is being done.
    pub action: Action,
    /// Whether it is only previewed.
    pub preview: bool,
    /// Name of the stack.
    pub stack: EcoString,
    /// Name of the project.
    pub project: EcoString,
    /// How people see it.
    pub view: View,
    /// What to do with colours.
    pub color: ColorMode,
    /// Whether to show configuration at the start.
    pub show_config: bool,
    /// Whether to show resources that do not change.
    pub show_sames: bool,
    /// Whether to show resources that are only read.
    pub show_reads: bool,
    /// Whether to show secrets.
    pub show_secrets: bool,
    /// Whether to show the parts of a replacement each on its own.
    pub show_replacement_steps: bool,
    /// Whether to show what policies changed in full.
    pub show_policy_remediations: bool,
    /// Whether to leave out the outputs of the stack.
    pub suppress_outputs: bool,
    /// Whether to leave out signs of life while nothing happens.
    pub suppress_progress: bool,
    /// Whether to show URNs in place of types and names.
    pub show_urns: bool,
    /// Whether to show long values in full.
    pub full_output: bool,
    /// Whether to show messages for developers.
    pub debug: bool,
    /// Whether to use characters beyond ASCII for decoration.
    pub emoji: bool,
    /// Whether what forces a replacement is said in words, and not by colour alone.
    pub explain: bool,
    /// Whether what is written is read aloud: then there are no signs of life without words.
    pub read_aloud: bool,
    /// The system of continuous integration that reads along.
    pub ci: Option<CiSystem>,
    /// When the operation began, in Unix seconds.
    pub began: i64,
    /// Where URNs lead, if the terminal shows links.
    pub link: Option<String>,
    /// Address where the operation can be watched.
    pub live_url: Option<String>,
}

impl Options {
    /// Plain progress of `action` on `stack`, without colours.
    pub fn new(
        action: Action,
        preview: bool,
        stack: impl Into<EcoString>,
        project: impl Into<EcoString>,
    ) -> Self {
        Options {
            action,
            preview,
            stack: stack.into(),
            project: project.into(),
            view: View::Progress,
            color: ColorMode::Never,
            show_config: false,
            show_sames: false,
            show_reads: false,
            show_secrets: false,
            show_replacement_steps: false,
            show_policy_remediations: false,
            suppress_outputs: false,
            suppress_progress: false,
            show_urns: false,
            full_output: false,
            debug: false,
            emoji: false,
            explain: false,
            read_aloud: false,
            ci: None,
            began: 0,
            link: None,
            live_url: None,
        }
    }

    /// The words that introduce the operation, such as `Previewing update`.
    pub fn title(&self) -> &'static str {
        match (self.action, self.preview) {
            (Action::Update, true) => "Previewing update",
            (Action::Update, false) => "Updating",
            (Action::Refresh, true) => "Previewing refresh",
            (Action::Refresh, false) => "Refreshing",
            (Action::Destroy, true) => "Previewing destroy",
            (Action::Destroy, false) => "Destroying",
            (Action::Import, true) => "Previewing import",
            (Action::Import, false) => "Importing",
            (Action::Analyze, _) => "Analyzing",
        }
    }

    /// The line before everything else, with its line break.
    pub fn banner(&self) -> String {
        let line = paint(HEADLINE, format!("{} ({}):", self.title(), self.stack));
        format!("{}\n", crate::colorize(&line, self.color))
    }
}
