//! Tests of programs, without an engine and without providers.
//!
//! [`Mocks`] stand in for the providers; [`Mocks::run`] runs a program in the process and answers what it registered.
//!
//! ```
//! use plumb::prelude::*;
//! use plumb::testing::{MockState, Mocks};
//!
//! fn program(ctx: &Ctx) -> plumb::Result<()> {
//!     let pet = AnyResource::new(ctx, "random:index/randomPet:RandomPet", "pet", value!({ "length": 2 }));
//!     ctx.export("greeting", interpolate!("Hello, {}", pet.id()));
//!     Ok(())
//! }
//!
//! let run = Mocks::new()
//!     .resource("random:index/randomPet:RandomPet", |_| MockState::new("funny-dog"))
//!     .run(async |ctx| program(&ctx))
//!     .expect_success();
//! assert_eq!(run.resource("pet").input("length"), &Value::Number(2.0));
//! assert_eq!(run.export("greeting"), &Value::String("Hello, funny-dog".to_owned()));
//! ```

mod monitor;
mod outcome;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::context::Ctx;
use crate::program::{Features, Program, Settings};
use crate::run::execute;
use crate::value::{IntoValue, Value};
use crate::{Exports, Result};

use monitor::MockMonitor;
pub use outcome::{Outcome, Registered};

/// A resource that a mock creates.
#[derive(Debug)]
pub struct MockRequest {
    /// The token of the type.
    pub token: String,
    /// The name in the program.
    pub name: String,
    /// The inputs, with secrets marked.
    pub inputs: BTreeMap<String, Value>,
    /// The ID, if the program looks at an existing resource.
    pub id: Option<String>,
}

/// The state of a resource that a mock created.
#[derive(Debug)]
pub struct MockState {
    id: String,
    outputs: BTreeMap<String, Value>,
}

impl MockState {
    /// A resource with this ID, whose outputs are its inputs.
    pub fn new(id: impl Into<String>) -> Self {
        MockState {
            id: id.into(),
            outputs: BTreeMap::new(),
        }
    }

    /// Sets an output.
    #[must_use]
    pub fn set(mut self, name: &str, value: impl IntoValue) -> Self {
        self.outputs.insert(name.to_owned(), value.into_value());
        self
    }
}

type ResourceMock = Box<dyn Fn(&MockRequest) -> MockState + Send + Sync>;
type FunctionMock = Box<dyn Fn(&BTreeMap<String, Value>) -> Value + Send + Sync>;

/// Stand-ins for providers.
///
/// A resource without a mock gets an ID from its name, and its inputs as outputs. A function without one is an error.
///
/// ```
/// use plumb::prelude::*;
/// use plumb::testing::{MockState, Mocks};
///
/// let mocks = Mocks::new()
///     .config("length", "8")
///     .resource("random:index/randomString:RandomString", |request| {
///         MockState::new(&request.name).set("result", "abcdefgh")
///     })
///     .function("aws:index/getRegion:getRegion", |_| value!({ "name": "eu-west-1" }));
/// let run = mocks.run(async |ctx| {
///     let length: i64 = ctx.values().require("length")?;
///     let text = AnyResource::new(&ctx, "random:index/randomString:RandomString", "text", value!({ "length": length }));
///     ctx.export("text", text.output::<String>("result"));
///     Ok(())
/// });
/// assert_eq!(run.expect_success().export("text"), &value!("abcdefgh"));
/// ```
#[derive(Default)]
pub struct Mocks {
    resources: HashMap<String, ResourceMock>,
    functions: HashMap<String, FunctionMock>,
    failing: HashMap<String, String>,
    config: BTreeMap<String, String>,
    secret_keys: BTreeSet<String>,
    is_preview: bool,
}

impl std::fmt::Debug for Mocks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Mocks")
    }
}

impl Mocks {
    /// No stand-ins.
    pub fn new() -> Self {
        Mocks::default()
    }

    /// A stand-in for resources of one type.
    #[must_use]
    pub fn resource(
        mut self,
        token: &str,
        mock: impl Fn(&MockRequest) -> MockState + Send + Sync + 'static,
    ) -> Self {
        self.resources.insert(token.to_owned(), Box::new(mock));
        self
    }

    /// A stand-in for a function or a method: the closure gets the arguments, and the answer is an object.
    #[must_use]
    pub fn function(
        mut self,
        token: &str,
        mock: impl Fn(&BTreeMap<String, Value>) -> Value + Send + Sync + 'static,
    ) -> Self {
        self.functions.insert(token.to_owned(), Box::new(mock));
        self
    }

    /// Lets the resource called `name` fail.
    #[must_use]
    pub fn fail(mut self, name: &str, message: &str) -> Self {
        self.failing.insert(name.to_owned(), message.to_owned());
        self
    }

    /// Sets a configuration variable; one without a namespace is of the project.
    #[must_use]
    pub fn config(mut self, key: &str, value: &str) -> Self {
        self.config.insert(full(key), value.to_owned());
        self
    }

    /// Sets a secret configuration variable.
    #[must_use]
    pub fn secret_config(self, key: &str, value: &str) -> Self {
        let mut mocks = self.config(key, value);
        mocks.secret_keys.insert(full(key));
        mocks
    }

    /// Runs a preview: outputs of resources that do not exist yet are unknown.
    #[must_use]
    pub fn preview(self) -> Self {
        Mocks {
            is_preview: true,
            ..self
        }
    }

    /// Runs a program to its end.
    ///
    /// The function blocks: call it from a plain `#[test]`, not from an asynchronous one.
    pub fn run<E: Exports>(self, body: impl AsyncFnOnce(Ctx) -> Result<E>) -> Outcome {
        let settings = Settings {
            project: PROJECT.to_owned(),
            stack: STACK.to_owned(),
            organization: "organization".to_owned(),
            is_preview: self.is_preview,
            config: self.config.clone(),
            secret_keys: self.secret_keys.clone(),
            ..Settings::default()
        };
        let features = Features {
            output_values: false,
            transforms: true,
            parameterization: true,
            resource_hooks: true,
            error_hooks: true,
            invoke_depends_on: false,
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build();
        let runtime = match runtime {
            Ok(runtime) => runtime,
            Err(error) => return Outcome::failed(error.into()),
        };
        let outcome = runtime.block_on(async {
            let monitor = Arc::new(MockMonitor::new(self));
            let program = Program::new(settings, features, Arc::clone(&monitor) as _);
            monitor.attach(&program);
            let failures = execute(&program, body).await;
            monitor.finish(failures)
        });
        runtime.shutdown_background();
        outcome
    }
}

const PROJECT: &str = "project";
const STACK: &str = "stack";

fn full(key: &str) -> String {
    if key.contains(':') {
        key.to_owned()
    } else {
        format!("{PROJECT}:{key}")
    }
}
