//! Resources, as rules see them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use plumb::provider::{Members, describe};
use plumb::{FromValue, Result, Value};

use crate::{Error, Info};

/// A resource, as a rule sees it.
///
/// Rules for single resources see inputs, those for stacks see outputs. Secrets are there as plain values: take care that
/// no message shows one.
///
/// ```
/// # use plumb_policy::prelude::*;
/// # use plumb_policy::testing::Tester;
/// let policy = Policy::resource("kept", "Databases are protected").of("cloud:index:Database").check(|database, report| {
///     if !database.options().protect {
///         report.violation(format!("`{}` may be deleted", database.name()));
///     }
///     Ok(())
/// });
/// # let _ = policy;
/// ```
#[derive(Debug, Default)]
pub struct Resource {
    pub(crate) token: String,
    pub(crate) name: String,
    pub(crate) urn: String,
    pub(crate) properties: Members,
    pub(crate) options: Options,
    pub(crate) provider: Option<Provider>,
    pub(crate) parent: String,
    pub(crate) dependencies: Vec<String>,
    pub(crate) property_dependencies: BTreeMap<String, Vec<String>>,
    pub(crate) config: Members,
    pub(crate) info: Arc<Info>,
    /// Names of properties with secrets.
    pub(crate) secrets: BTreeSet<String>,
    /// The unknown property that the rule asked for.
    pub(crate) unknown: Arc<Mutex<Option<String>>>,
}

/// Options of a resource.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Whether no deployment deletes it.
    pub protect: bool,
    /// Properties whose changes are ignored.
    pub ignore_changes: Vec<String>,
    /// Whether a replacement deletes the old resource first, if the program says so.
    pub delete_before_replace: Option<bool>,
    /// Outputs that are secrets although the provider does not say so.
    pub additional_secret_outputs: Vec<String>,
    /// Former URNs.
    pub aliases: Vec<String>,
    /// Seconds that operations may take, by `create`, `update`, `delete` and `read`.
    pub timeouts: BTreeMap<&'static str, f64>,
}

/// The provider of a resource.
#[derive(Clone, Debug, Default)]
pub struct Provider {
    /// The token of its type.
    pub token: String,
    /// The name in the program.
    pub name: String,
    /// The URN.
    pub urn: String,
    /// Its configuration.
    pub properties: BTreeMap<String, Value>,
}

impl Resource {
    /// The token of the type.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// The name in the program.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The URN.
    pub fn urn(&self) -> &str {
        &self.urn
    }

    /// All properties; in a preview, some may be [`Value::Unknown`].
    pub fn properties(&self) -> &BTreeMap<String, Value> {
        &self.properties
    }

    /// A property; `None` if it is not there.
    ///
    /// In a preview, one that is not known is an error. Pass it on with `?`: the deployment says that the rule could not be
    /// looked at, and the real deployment looks at it.
    pub fn get<T: FromValue>(&self, name: &str) -> Result<Option<T>> {
        let value = match self.properties.get(name) {
            None | Some(Value::Null) => return Ok(None),
            Some(value) => value,
        };
        if value.contains_unknown() {
            let mut unknown = self.unknown.lock().unwrap_or_else(PoisonError::into_inner);
            *unknown = Some(name.to_owned());
            return Err(Error::new(format!(
                "the property `{name}` is not known yet"
            )));
        }
        let converted = T::from_value(value.clone());
        converted.map(Some).map_err(|mismatch| {
            let is_secret = self.secrets.contains(name);
            Error::new(describe(&mismatch.in_key(name), is_secret))
        })
    }

    /// The settings of the rule.
    pub fn config<T: FromValue>(&self) -> Result<T> {
        settings(&self.config)
    }

    /// The options of the resource.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The provider; components have none.
    pub fn provider(&self) -> Option<&Provider> {
        self.provider.as_ref()
    }

    /// The URN of the parent; empty without one.
    pub fn parent(&self) -> &str {
        &self.parent
    }

    /// URNs of resources that this one depends on: for rules for stacks only.
    pub fn dependencies(&self) -> &[String] {
        &self.dependencies
    }

    /// URNs of resources that a property depends on: for rules for stacks only.
    pub fn dependencies_of(&self, property: &str) -> &[String] {
        self.property_dependencies
            .get(property)
            .map_or(&[], Vec::as_slice)
    }

    /// The stack of the resource.
    pub fn info(&self) -> &Info {
        &self.info
    }
}

/// All resources of a stack, as a rule sees them.
///
/// ```
/// # use plumb_policy::prelude::*;
/// # use plumb_policy::testing::Tester;
/// let policy = Policy::stack("few", "A stack has one bucket").check(|stack, report| {
///     for bucket in stack.of("cloud:index:Bucket").skip(1) {
///         report.violation_of(bucket.urn(), "one bucket is enough");
///     }
///     Ok(())
/// });
/// # let _ = policy;
/// ```
#[derive(Debug, Default)]
pub struct Stack {
    pub(crate) resources: Vec<Resource>,
    pub(crate) config: Members,
    pub(crate) info: Arc<Info>,
}

impl Stack {
    /// All resources.
    pub fn resources(&self) -> &[Resource] {
        &self.resources
    }

    /// The resources of one type.
    pub fn of<'a>(&'a self, token: &'a str) -> impl Iterator<Item = &'a Resource> {
        self.resources.iter().filter(move |it| it.token == token)
    }

    /// The settings of the rule.
    pub fn config<T: FromValue>(&self) -> Result<T> {
        settings(&self.config)
    }

    /// The stack itself.
    pub fn info(&self) -> &Info {
        &self.info
    }
}

/// Settings as the type that a rule asks for.
fn settings<T: FromValue>(config: &Members) -> Result<T> {
    T::from_value(Value::Map(config.clone()))
        .map_err(|mismatch| Error::new(format!("the settings of the policy: {mismatch}")))
}
