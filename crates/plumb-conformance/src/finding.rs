//! Rules and what was found about them.

use plumb_resource::provider::ProviderError;

/// Property of a provider that engines rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// The plugin reports the name and version of its schema.
    Info,
    /// The configuration is checked, compared and taken.
    Configure,
    /// Types that the package does not have are refused.
    UnknownType,
    /// Functions that the package does not have are refused.
    UnknownFunction,
    /// The plugin answers after all of that.
    Alive,
    /// Check accepts inputs, or names the properties that are wrong.
    Check,
    /// Check gives the same answer to the same request.
    CheckRepeats,
    /// Check accepts what it has answered, unchanged.
    CheckSettles,
    /// Check refuses inputs that lack a required property.
    CheckRequired,
    /// Check passes values on that are not known yet.
    CheckUnknown,
    /// A preview of Create has outputs of the types in the schema, and makes nothing.
    CreatePreview,
    /// Create returns an id, and outputs of the types in the schema.
    Create,
    /// Outputs that the schema calls secret are secret.
    Secrets,
    /// Diff finds no difference from what was just created.
    DiffSame,
    /// Read finds what was created, without a difference.
    Read,
    /// Diff finds the change, and Update makes it.
    Update,
    /// Delete deletes.
    Delete,
    /// Deleting what is gone already is no failure.
    DeleteAgain,
    /// Read says of what is gone that it is gone.
    ReadGone,
    /// The function answers a value of the type in the schema, or says what is wrong.
    Invoke,
    /// List answers ids page by page, each once.
    List,
    /// List finds what was created.
    ListFinds,
    /// Construct registers the component and answers outputs of the types in the schema.
    Construct,
    /// Construct passes options on to the registration.
    ConstructOptions,
    /// Resources of a component have a parent.
    Children,
    /// The method answers a value of the type in the schema, or says what is wrong.
    Call,
    /// The parameter of the package makes the same package again.
    Parameterize,
    /// Mappings that the plugin lists are there.
    Mappings,
}

impl Rule {
    /// Every rule, in the order of the calls.
    pub const ALL: [Rule; 28] = [
        Rule::Info,
        Rule::Configure,
        Rule::UnknownType,
        Rule::UnknownFunction,
        Rule::Alive,
        Rule::Check,
        Rule::CheckRepeats,
        Rule::CheckSettles,
        Rule::CheckRequired,
        Rule::CheckUnknown,
        Rule::CreatePreview,
        Rule::Create,
        Rule::Secrets,
        Rule::DiffSame,
        Rule::Read,
        Rule::Update,
        Rule::Delete,
        Rule::DeleteAgain,
        Rule::ReadGone,
        Rule::Invoke,
        Rule::List,
        Rule::ListFinds,
        Rule::Construct,
        Rule::ConstructOptions,
        Rule::Children,
        Rule::Call,
        Rule::Parameterize,
        Rule::Mappings,
    ];

    /// The rule in one word, for scripts.
    pub fn name(self) -> &'static str {
        match self {
            Rule::Info => "info",
            Rule::Configure => "configure",
            Rule::UnknownType => "unknown-type",
            Rule::UnknownFunction => "unknown-function",
            Rule::Alive => "alive",
            Rule::Check => "check",
            Rule::CheckRepeats => "check-repeats",
            Rule::CheckSettles => "check-settles",
            Rule::CheckRequired => "check-required",
            Rule::CheckUnknown => "check-unknown",
            Rule::CreatePreview => "create-preview",
            Rule::Create => "create",
            Rule::Secrets => "secrets",
            Rule::DiffSame => "diff-same",
            Rule::Read => "read",
            Rule::Update => "update",
            Rule::Delete => "delete",
            Rule::DeleteAgain => "delete-again",
            Rule::ReadGone => "read-gone",
            Rule::Invoke => "invoke",
            Rule::List => "list",
            Rule::ListFinds => "list-finds",
            Rule::Construct => "construct",
            Rule::ConstructOptions => "construct-options",
            Rule::Children => "children",
            Rule::Call => "call",
            Rule::Parameterize => "parameterize",
            Rule::Mappings => "mappings",
        }
    }

    /// Sentence about the behaviour that the rule demands.
    pub fn text(self) -> &'static str {
        match self {
            Rule::Info => "GetPluginInfo reports the version of the schema",
            Rule::Configure => "CheckConfig, DiffConfig and Configure take the configuration",
            Rule::UnknownType => "calls for types that the package does not have fail",
            Rule::UnknownFunction => "calls of functions that the package does not have fail",
            Rule::Alive => "the plugin still answers",
            Rule::Check => "Check accepts inputs, or names what is wrong",
            Rule::CheckRepeats => "Check gives the same answer to the same request",
            Rule::CheckSettles => "Check accepts its own answer unchanged",
            Rule::CheckRequired => "Check refuses inputs that lack a required property",
            Rule::CheckUnknown => "Check passes on values that are not known yet",
            Rule::CreatePreview => "a preview of Create has outputs as in the schema",
            Rule::Create => "Create returns an id, and outputs as in the schema",
            Rule::Secrets => "outputs that the schema calls secret are secret",
            Rule::DiffSame => "Diff finds nothing to do right after Create",
            Rule::Read => "Read finds what was created, as it was created",
            Rule::Update => "Diff finds a change, and Update makes it",
            Rule::Delete => "Delete deletes",
            Rule::DeleteAgain => "Delete of what is gone is no failure",
            Rule::ReadGone => "Read says that what is gone is gone",
            Rule::Invoke => "the function answers as in the schema, or says what is wrong",
            Rule::List => "List answers ids page by page, each once",
            Rule::ListFinds => "List finds what was created",
            Rule::Construct => "Construct registers the component, and answers as in the schema",
            Rule::ConstructOptions => "Construct passes the parent and protect on",
            Rule::Children => "resources of a component have a parent",
            Rule::Call => "the method answers as in the schema, or says what is wrong",
            Rule::Parameterize => "the parameter in the schema makes the same package",
            Rule::Mappings => "GetMapping has what GetMappings lists",
        }
    }

    /// Whether a provider that breaks the rule is only inconvenient: engines manage.
    pub fn is_advice(self) -> bool {
        matches!(
            self,
            Rule::CheckRequired
                | Rule::Secrets
                | Rule::DeleteAgain
                | Rule::ReadGone
                | Rule::ListFinds
                | Rule::Children
        )
    }
}

/// Result of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The provider keeps the rule.
    Kept,
    /// The provider breaks it, in this way.
    Broken(String),
    /// The rule could not be looked at, for this reason.
    Skipped(String),
}

/// Result of one rule for one subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Token of a resource or function, or the name of the package.
    pub subject: String,
    /// The rule.
    pub rule: Rule,
    /// The result.
    pub verdict: Verdict,
}

/// Findings so far.
#[derive(Default)]
pub(crate) struct Findings {
    subject: String,
    found: Vec<Finding>,
}

impl Findings {
    /// Begins with another subject.
    pub(crate) fn subject(&mut self, subject: &str) {
        subject.clone_into(&mut self.subject);
    }

    fn add(&mut self, rule: Rule, verdict: Verdict) {
        self.found.push(Finding {
            subject: self.subject.clone(),
            rule,
            verdict,
        });
    }

    /// The rule is kept if `problem` is `None`; returns whether it is.
    pub(crate) fn judge(&mut self, rule: Rule, problem: Option<String>) -> bool {
        let is_kept = problem.is_none();
        self.add(rule, problem.map_or(Verdict::Kept, Verdict::Broken));
        is_kept
    }

    pub(crate) fn skip(&mut self, rule: Rule, reason: impl Into<String>) {
        self.add(rule, Verdict::Skipped(reason.into()));
    }

    /// The answer of a call; a failure breaks the rule.
    pub(crate) fn answer<T>(
        &mut self,
        rule: Rule,
        call: &str,
        answer: Result<T, ProviderError>,
    ) -> Option<T> {
        match answer {
            Ok(answer) => Some(answer),
            Err(error) => {
                self.judge(rule, Some(format!("{call} failed: {}", error.message)));
                None
            }
        }
    }

    pub(crate) fn into_vec(self) -> Vec<Finding> {
        self.found
    }
}
