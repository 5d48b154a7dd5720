//! Violations that a check reports, and changes that a correction makes.

use plumb::provider::Members;
use plumb::{IntoValue, Value};

/// The violations that a check reports.
#[derive(Debug, Default)]
pub struct Report {
    pub(crate) violations: Vec<Violation>,
}

#[derive(Clone, Debug)]
pub(crate) struct Violation {
    pub(crate) message: String,
    /// Empty for the resource that the rule looks at, or for the stack.
    pub(crate) urn: String,
}

impl Report {
    /// The rule is broken: by the resource, or by the stack.
    pub fn violation(&mut self, message: impl Into<String>) {
        self.violation_of("", message);
    }

    /// The rule is broken by the resource with this URN.
    pub fn violation_of(&mut self, urn: &str, message: impl Into<String>) {
        self.violations.push(Violation {
            message: message.into(),
            urn: urn.to_owned(),
        });
    }
}

/// Changes of the inputs of a resource.
///
/// ```
/// # use plumb_policy::prelude::*;
/// # use plumb_policy::testing::Tester;
/// let policy = Policy::resource("private", "Buckets are private").level(Level::Remediate).fix(|_, fix| {
///     fix.set("acl", "private");
///     fix.remove("website");
///     Ok(())
/// });
/// let tester = Tester::new(Pack::new("buckets", "1.0.0").policy(policy))?;
/// let fixed = tester.fix("cloud:index:Bucket", "b", value!({ "acl": "public" }))?;
/// assert_eq!(fixed.map(|it| it["acl"].clone()), Some(value!("private")));
/// # Ok::<_, Error>(())
/// ```
#[derive(Debug)]
pub struct Fix {
    pub(crate) properties: Members,
    pub(crate) is_changed: bool,
}

impl Fix {
    /// Sets an input. One that was a secret stays one.
    pub fn set(&mut self, name: &str, value: impl IntoValue) {
        let mut value = value.into_value();
        let old = self.properties.get(name);
        if matches!(old, Some(Value::Secret(_))) && !matches!(value, Value::Secret(_)) {
            value = Value::Secret(Box::new(value));
        }
        if old != Some(&value) {
            self.properties.insert(name.to_owned(), value);
            self.is_changed = true;
        }
    }

    /// Removes an input.
    pub fn remove(&mut self, name: &str) {
        self.is_changed |= self.properties.remove(name).is_some();
    }
}
