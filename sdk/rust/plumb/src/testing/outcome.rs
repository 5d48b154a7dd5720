//! Results of a program under test.

use std::collections::BTreeMap;

use crate::Error;
use crate::resource::TypedResource;
use crate::value::Value;

/// Results of a program: its resources, outputs and failures.
///
/// ```
/// use plumb::prelude::*;
/// use plumb::testing::Mocks;
///
/// let run = Mocks::new().fail("one", "quota exceeded").run(async |ctx| {
///     AnyResource::new(&ctx, "a:b:C", "one", value!({}));
///     Ok(())
/// });
/// assert_eq!(run.failures().len(), 1);
/// assert!(run.report().contains("quota exceeded"));
/// ```
#[derive(Debug, Default)]
pub struct Outcome {
    pub(super) resources: Vec<Registered>,
    pub(super) exports: BTreeMap<String, Value>,
    pub(super) messages: Vec<String>,
    pub(super) failures: Vec<Error>,
}

/// A resource that the program registered or looked at.
///
/// ```
/// use plumb::prelude::*;
/// use plumb::testing::Mocks;
///
/// let run = Mocks::new().run(async |ctx| {
///     AnyResource::with(&ctx, "a:b:C", "one", value!({ "size": 2 }), opts().protect(true));
///     Ok(())
/// });
/// let run = run.expect_success();
/// let one = run.resource("one");
/// assert_eq!((one.input("size"), one.is_protected), (&value!(2), Some(true)));
/// ```
#[derive(Clone, Debug)]
pub struct Registered {
    /// The token of the type.
    pub token: String,
    /// The name.
    pub name: String,
    /// The URN.
    pub urn: String,
    /// The URN of the parent.
    pub parent: String,
    /// The inputs, with secrets and unknown values marked.
    pub inputs: BTreeMap<String, Value>,
    /// The outputs of a component.
    pub outputs: BTreeMap<String, Value>,
    /// URNs of everything that it depends on.
    pub dependencies: Vec<String>,
    /// URNs that each input depends on.
    pub property_dependencies: BTreeMap<String, Vec<String>>,
    /// The reference of its provider; empty for the default one.
    pub provider: String,
    /// Whether it is protected.
    pub is_protected: Option<bool>,
    /// Properties whose changes are ignored.
    pub ignore_changes: Vec<String>,
    /// Outputs that are secrets.
    pub additional_secret_outputs: Vec<String>,
}

impl Registered {
    /// Whether it has the type `R`.
    pub fn is<R: TypedResource>(&self) -> bool {
        self.token == R::TOKEN
    }

    /// An input; null if it is not set.
    pub fn input(&self, name: impl AsRef<str>) -> &Value {
        self.inputs.get(name.as_ref()).unwrap_or(&Value::Null)
    }

    /// An output of a component; null if there is none.
    pub fn output(&self, name: &str) -> &Value {
        self.outputs.get(name).unwrap_or(&Value::Null)
    }
}

impl Outcome {
    pub(super) fn failed(error: Error) -> Self {
        Outcome {
            failures: vec![error],
            ..Outcome::default()
        }
    }

    /// The outcome of a program that did not fail.
    ///
    /// # Panics
    ///
    /// If it failed, with everything that it would have reported.
    #[must_use]
    #[track_caller]
    pub fn expect_success(self) -> Self {
        assert!(
            self.failures.is_empty(),
            "the program failed:\n{}",
            self.report()
        );
        self
    }

    /// The failures as they would be reported.
    pub fn report(&self) -> String {
        let reports: Vec<String> = self.failures.iter().map(Error::report).collect();
        reports.join("\n")
    }

    /// Failures.
    pub fn failures(&self) -> &[Error] {
        &self.failures
    }

    /// All resources in the order of their registration; the stack is not among them.
    pub fn resources(&self) -> &[Registered] {
        &self.resources
    }

    /// The resource called `name`.
    ///
    /// # Panics
    ///
    /// If there is none.
    #[track_caller]
    pub fn resource(&self, name: &str) -> &Registered {
        let found = self.resources.iter().find(|it| it.name == name);
        found.unwrap_or_else(|| {
            let names: Vec<&str> = self.resources.iter().map(|it| it.name.as_str()).collect();
            panic!("there is no resource `{name}`, only {names:?}")
        })
    }

    /// The resources of the type `R`, in the order of their registration.
    pub fn all<R: TypedResource>(&self) -> Vec<&Registered> {
        self.resources.iter().filter(|it| it.is::<R>()).collect()
    }

    /// The only resource of the type `R`.
    ///
    /// # Panics
    ///
    /// If there is none, or more than one.
    #[track_caller]
    pub fn single<R: TypedResource>(&self) -> &Registered {
        match self.all::<R>()[..] {
            [resource] => resource,
            ref all => {
                let names: Vec<&str> = all.iter().map(|it| it.name.as_str()).collect();
                panic!(
                    "there is not one resource of the type `{}`: {names:?}",
                    R::TOKEN
                )
            }
        }
    }

    /// An output of the stack; null if there is none.
    pub fn export(&self, name: &str) -> &Value {
        self.exports.get(name).unwrap_or(&Value::Null)
    }

    /// Messages that the program wrote.
    pub fn messages(&self) -> &[String] {
        &self.messages
    }
}
