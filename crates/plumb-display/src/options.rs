//! Options of displays.

use ecow::EcoString;
use plumb_events::{ColorMode, Diagnostic, Filter};

use crate::ci::CiSystem;
use crate::color::{HEADLINE, paint};
use crate::names::{OWN_NAME, REFERENCE_NAME, with_program};

/// Kind of operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Updates resources according to the program.
    Update,
    /// Updates the state to match the existing resources.
    Refresh,
    /// Deletes all resources.
    Destroy,
    /// Imports existing resources.
    Import,
    /// Analyzes existing resources with policies.
    Analyze,
}

impl Action {
    /// Noun of the operation, such as `update`.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Action::Update => "update",
            Action::Refresh => "refresh",
            Action::Destroy => "destroy",
            Action::Import => "import",
            Action::Analyze => "analysis",
        }
    }
}

/// View of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// A line per step.
    Progress,
    /// A repainted tree.
    Tree,
    /// All resources with their differences.
    Diff,
}

/// Options of displays.
#[derive(Clone, Debug)]
pub struct Options {
    /// Kind of operation.
    pub action: Action,
    /// Whether the operation is a preview.
    pub preview: bool,
    /// The name that the program was started by, for what diagnostics say of it.
    pub program: EcoString,
    /// Name of the stack.
    pub stack: EcoString,
    /// Name of the project.
    pub project: EcoString,
    /// Selected view.
    pub view: View,
    /// Treatment of colour tags.
    pub color: ColorMode,
    /// Whether to show configuration at the start.
    pub show_config: bool,
    /// Whether to show resources that do not change.
    pub show_sames: bool,
    /// Whether to show resources that are only read.
    pub show_reads: bool,
    /// Whether to show secrets.
    pub show_secrets: bool,
    /// Whether texts of assets are shown as they are: those of recorded events were shortened when the events were written.
    pub whole_asset_texts: bool,
    /// Whether to show the parts of a replacement as separate steps.
    pub show_replacement_steps: bool,
    /// Whether to show the changes made by policy remediations in full.
    pub show_policy_remediations: bool,
    /// Whether to omit the outputs of the stack.
    pub suppress_outputs: bool,
    /// Whether to omit progress indicators while nothing happens.
    pub suppress_progress: bool,
    /// Whether to show URNs instead of types and names.
    pub show_urns: bool,
    /// Whether to show long values in full.
    pub full_output: bool,
    /// Whether to show debug messages.
    pub debug: bool,
    /// Whether to use non-ASCII characters for decoration.
    pub emoji: bool,
    /// Number of resources that the operation will change, as far as a preview has found; `None` if there was none.
    pub expected: Option<usize>,
    /// Whether the last frame of a tree has a row for each resource, also where many are alike.
    pub all_rows: bool,
    /// Whether to mark properties that require a replacement by words in addition to colour.
    pub explain: bool,
    /// Whether a screen reader is used, which excludes progress indicators without words.
    pub read_aloud: bool,
    /// Continuous integration system that shows the output.
    pub ci: Option<CiSystem>,
    /// Start of the operation, in Unix seconds.
    pub began: i64,
    /// Target of links on URNs; `None` if the terminal does not support links.
    pub link: Option<String>,
    /// URL of the operation's live view.
    pub live_url: Option<String>,
}

impl Options {
    /// Filter of properties that are shown.
    pub(crate) fn filter(&self) -> Filter {
        if self.whole_asset_texts {
            Filter::of_recorded(self.show_secrets)
        } else {
            Filter::new(self.show_secrets)
        }
    }

    /// Whether the output is for people who look at a terminal, and who started this program by a name of its own: programs
    /// that were made for the reference see what they know.
    pub fn is_for_people(&self) -> bool {
        self.explain && self.has_own_name()
    }

    /// Whether the program was started by a name of its own, and not by that of the reference.
    pub(crate) fn has_own_name(&self) -> bool {
        self.program != REFERENCE_NAME
    }

    /// Options for progress lines of `action` on `stack`, without colours.
    pub fn new(
        action: Action,
        preview: bool,
        stack: impl Into<EcoString>,
        project: impl Into<EcoString>,
    ) -> Self {
        Options {
            action,
            preview,
            program: OWN_NAME.into(),
            stack: stack.into(),
            project: project.into(),
            view: View::Progress,
            color: ColorMode::Never,
            show_config: false,
            show_sames: false,
            show_reads: false,
            show_secrets: false,
            whole_asset_texts: false,
            show_replacement_steps: false,
            show_policy_remediations: false,
            suppress_outputs: false,
            suppress_progress: false,
            show_urns: false,
            full_output: false,
            debug: false,
            emoji: false,
            expected: None,
            all_rows: false,
            explain: false,
            read_aloud: false,
            ci: None,
            began: 0,
            link: None,
            live_url: None,
        }
    }

    /// Title of the operation, such as `Previewing update`.
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

    /// Text of a diagnostic.
    pub(crate) fn text_of(&self, diagnostic: &Diagnostic) -> String {
        let text = format!("{}{}", diagnostic.prefix, diagnostic.message);
        with_program(&text, &self.program).into_owned()
    }

    /// First line of the output, with its line break.
    pub fn banner(&self) -> String {
        let line = paint(HEADLINE, format!("{} ({}):", self.title(), self.stack));
        format!("{}\n", crate::colorize(&line, self.color))
    }
}
