//! Policies: rules with a name.

use plumb::{Result, Value};

use crate::protocol as pb;
use crate::report::{Fix, Report};
use crate::resource::{Resource, Stack};

/// What happens when a rule is broken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// The deployment says so, and goes on.
    #[default]
    Advisory,
    /// The deployment fails.
    Mandatory,
    /// The rule corrects the resource, if it can; what is still broken then fails the deployment.
    Remediate,
    /// The rule is not looked at.
    Disabled,
}

impl Level {
    pub(crate) fn wire(self) -> pb::EnforcementLevel {
        match self {
            Level::Advisory => pb::EnforcementLevel::Advisory,
            Level::Mandatory => pb::EnforcementLevel::Mandatory,
            Level::Remediate => pb::EnforcementLevel::Remediate,
            Level::Disabled => pb::EnforcementLevel::Disabled,
        }
    }

    pub(crate) fn of(level: pb::EnforcementLevel) -> Self {
        match level {
            pb::EnforcementLevel::Advisory => Level::Advisory,
            pb::EnforcementLevel::Mandatory => Level::Mandatory,
            pb::EnforcementLevel::Remediate => Level::Remediate,
            pb::EnforcementLevel::Disabled => Level::Disabled,
        }
    }
}

/// How bad it is when a rule is broken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Severity {
    /// Nobody says.
    #[default]
    Unspecified,
    /// Hardly.
    Low,
    /// Somewhat.
    Medium,
    /// Very.
    High,
    /// It cannot wait.
    Critical,
}

impl Severity {
    pub(crate) fn wire(self) -> pb::PolicySeverity {
        match self {
            Severity::Unspecified => pb::PolicySeverity::Unspecified,
            Severity::Low => pb::PolicySeverity::Low,
            Severity::Medium => pb::PolicySeverity::Medium,
            Severity::High => pb::PolicySeverity::High,
            Severity::Critical => pb::PolicySeverity::Critical,
        }
    }
}

/// A rule: for single resources ([`Policy::resource`]), or for a stack as a whole ([`Policy::stack`]).
///
/// Its functions may take time and wait for others: each call has a thread of its own.
///
/// ```
/// # use plumb_policy::prelude::*;
/// # use plumb_policy::testing::Tester;
/// let policy = Policy::resource("small", "Disks are small")
///     .of("cloud:index:Disk")
///     .level(Level::Mandatory)
///     .severity(Severity::High)
///     .remediation_steps("Set `size` to 100 at most.")
///     .check(|disk, report| {
///         if disk.get::<i64>("size")?.unwrap_or_default() > 100 {
///             report.violation("more than 100");
///         }
///         Ok(())
///     });
/// let tester = Tester::new(Pack::new("disks", "1.0.0").policy(policy))?;
/// let found = tester.check("cloud:index:Disk", "d", value!({ "size": 200 }))?;
/// assert_eq!(found[0].message, "Disks are small\nmore than 100");
/// # Ok::<_, Error>(())
/// ```
#[derive(Debug)]
pub struct Policy<K> {
    pub(crate) about: About,
    pub(crate) rule: K,
}

/// Name, description and other facts about a policy.
#[derive(Clone, Debug, Default)]
pub(crate) struct About {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) display_name: String,
    pub(crate) level: Option<Level>,
    pub(crate) severity: Severity,
    pub(crate) tags: Vec<String>,
    pub(crate) url: String,
    pub(crate) steps: String,
    /// The schema of its settings: properties, and the names of those that have to be there.
    pub(crate) schema: Option<(Value, Vec<String>)>,
}

type Check<T> = Box<dyn Fn(&T, &mut Report) -> Result<()> + Send + Sync>;
type Correction = Box<dyn Fn(&Resource, &mut Fix) -> Result<()> + Send + Sync>;

/// A rule for single resources.
#[derive(Default)]
pub struct OfResource {
    pub(crate) tokens: Vec<String>,
    pub(crate) check: Option<Check<Resource>>,
    pub(crate) fix: Option<Correction>,
}

/// A rule for a stack as a whole.
#[derive(Default)]
pub struct OfStack {
    pub(crate) check: Option<Check<Stack>>,
}

impl std::fmt::Debug for OfResource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OfResource")
    }
}

impl std::fmt::Debug for OfStack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OfStack")
    }
}

impl Policy<OfResource> {
    /// A rule for single resources, with the sentence that says what must be so.
    pub fn resource(name: &str, description: &str) -> Self {
        Policy::new(name, description)
    }

    /// The rule is for resources of this type; for those of several, if it is called several times.
    #[must_use]
    pub fn of(mut self, token: &str) -> Self {
        self.rule.tokens.push(token.to_owned());
        self
    }

    /// Looks at a resource before it is created or updated.
    #[must_use]
    pub fn check(
        mut self,
        check: impl Fn(&Resource, &mut Report) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        self.rule.check = Some(Box::new(check));
        self
    }

    /// Corrects the inputs of a resource. It runs if the level of the policy is [`Level::Remediate`], before the check.
    #[must_use]
    pub fn fix(
        mut self,
        fix: impl Fn(&Resource, &mut Fix) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        self.rule.fix = Some(Box::new(fix));
        self
    }
}

impl Policy<OfStack> {
    /// A rule for a stack as a whole, with the sentence that says what must be so.
    pub fn stack(name: &str, description: &str) -> Self {
        Policy::new(name, description)
    }

    /// Looks at all resources after the last one has been created or updated.
    #[must_use]
    pub fn check(
        mut self,
        check: impl Fn(&Stack, &mut Report) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        self.rule.check = Some(Box::new(check));
        self
    }
}

impl<K: Default> Policy<K> {
    fn new(name: &str, description: &str) -> Self {
        Policy {
            about: About {
                name: name.to_owned(),
                description: description.to_owned(),
                ..About::default()
            },
            rule: K::default(),
        }
    }
}

impl<K> Policy<K> {
    /// The level, unless the configuration sets another one; without it, the level of the pack counts.
    #[must_use]
    pub fn level(mut self, level: Level) -> Self {
        self.about.level = Some(level);
        self
    }

    /// How bad it is when the rule is broken.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.about.severity = severity;
        self
    }

    /// The name for people.
    #[must_use]
    pub fn display_name(mut self, name: &str) -> Self {
        name.clone_into(&mut self.about.display_name);
        self
    }

    /// Words to find it by.
    #[must_use]
    pub fn tags<const N: usize>(mut self, tags: [&str; N]) -> Self {
        self.about.tags = tags.map(str::to_owned).into();
        self
    }

    /// A page about the rule.
    #[must_use]
    pub fn url(mut self, url: &str) -> Self {
        url.clone_into(&mut self.about.url);
        self
    }

    /// Steps that put a violation right.
    #[must_use]
    pub fn remediation_steps(mut self, steps: &str) -> Self {
        steps.clone_into(&mut self.about.steps);
        self
    }

    /// Gives the rule settings: their JSON schemas by name, and the names of those that have to be there.
    ///
    /// ```
    /// use plumb_policy::prelude::*;
    /// let policy = Policy::resource("small", "Disks are small")
    ///     .config_schema(value!({ "gigabytes": { "type": "integer", "minimum": 1 } }), &["gigabytes"]);
    /// ```
    #[must_use]
    pub fn config_schema(mut self, properties: Value, required: &[&str]) -> Self {
        let required = required.iter().map(|it| (*it).to_owned()).collect();
        self.about.schema = Some((properties, required));
        self
    }
}
