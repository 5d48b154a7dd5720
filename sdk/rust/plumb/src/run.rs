//! The life of a program.
//!
//! 1. Read the settings, connect to the engine, ask for its features.
//! 2. Register the stack, which is the parent of everything without another one.
//! 3. Run the body. It only describes: registrations and closures go on behind it.
//! 4. Register the exports, also if the body failed, so that outputs of resources that exist are not lost.
//! 5. Wait until nothing is left to do; tasks that wait for each other are an error.
//! 6. Report each failure once. Without one, tell the engine that the program has finished, and answer its hooks until it
//!    needs none.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;

use crate::context::Ctx;
use crate::monitor::Monitor;
use crate::monitor::grpc::Grpc;
use crate::program::{Features, Program, Settings, lock};
use crate::protocol as pb;
use crate::resource::{Handle, Kind, OptionData, Registration, Way, monitor_error};
use crate::value::Value;
use crate::wire::Encoder;
use crate::{Error, Inputs, Result};

/// The code that tells the language host that everything was reported.
const REPORTED: u8 = 32;

/// The result of a program: nothing, or a struct with `#[derive(Exports)]`, whose fields are outputs of the stack.
///
/// ```
/// use plumb::prelude::*;
///
/// #[derive(Exports)]
/// struct Outputs {
///     url: Output<String>,
///     #[output(name = "pageCount")]
///     pages: usize,
/// }
///
/// async fn program(ctx: Ctx) -> plumb::Result<Outputs> {
///     let bucket = AnyResource::new(&ctx, "aws:s3/bucket:Bucket", "site", value!({}));
///     Ok(Outputs { url: interpolate!("https://{}", bucket.id()), pages: 2 })
/// }
/// ```
pub trait Exports {
    /// The outputs by name.
    fn exports(self) -> Vec<(&'static str, Value)>;
}

impl Exports for () {
    fn exports(self) -> Vec<(&'static str, Value)> {
        Vec::new()
    }
}

/// Runs a program: the macro [`main`](crate::main) calls this.
///
/// ```no_run
/// fn main() -> std::process::ExitCode {
///     plumb::run(async |ctx: plumb::Ctx| {
///         ctx.export("project", ctx.project());
///         Ok(())
///     })
/// }
/// ```
pub fn run<E: Exports>(body: impl AsyncFnOnce(Ctx) -> Result<E>) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => return complain(&Error::at(format!("cannot start: {error}"), None)),
    };
    let outcome = runtime.block_on(async {
        let settings = Settings::read(|name| std::env::var(name).ok())?;
        connected(settings, body).await
    });
    // A task of the user that never ends must not keep the process.
    runtime.shutdown_background();
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(REPORTED),
        Err(error) => complain(&error),
    }
}

#[allow(
    clippy::print_stderr,
    reason = "without an engine there is nobody else to tell"
)]
fn complain(error: &Error) -> ExitCode {
    eprintln!("error: {}", error.report());
    ExitCode::FAILURE
}

/// Connects to the engine, runs a program to its end, and reports what failed; the answer is whether nothing did.
pub(crate) async fn connected<E: Exports>(
    settings: Settings,
    body: impl AsyncFnOnce(Ctx) -> Result<E>,
) -> Result<bool> {
    let monitor: Arc<dyn Monitor> =
        Arc::new(Grpc::connect(&settings.monitor, &settings.engine).await?);
    let features = Features::discover(monitor.as_ref()).await;
    let features = features.map_err(|it| monitor_error(&it, "cannot ask the engine", None))?;
    let program = Program::new(settings, features, Arc::clone(&monitor));
    let failures = execute(&program, body).await;
    report(monitor.as_ref(), &failures).await;
    Ok(failures.is_empty())
}

/// Runs a program to its end; the answer is what failed.
pub(crate) async fn execute<E: Exports>(
    program: &Program,
    body: impl AsyncFnOnce(Ctx) -> Result<E>,
) -> Vec<Error> {
    let stack = register_stack(program);
    program.set_stack(stack.clone());
    match body(Ctx::new(program.clone())).await {
        Ok(exports) => {
            for (name, value) in exports.exports() {
                lock(&program.exports).insert(name.to_owned(), value);
            }
        }
        Err(error) => program.fail(error),
    }
    register_exports(program, stack);
    if let Err(error) = program.rest().await {
        program.fail(error);
    }
    program.end();
    let failures = program.failures();
    if failures.is_empty() {
        // The engine may be gone: then it needs no callbacks either.
        let _ = program.engine().wait_for_shutdown().await;
    }
    program.release();
    failures
}

fn register_stack(program: &Program) -> Handle {
    let settings = &program.settings;
    let registration = Registration {
        kind: Kind::Component,
        way: Way::Register,
        token: "pulumi:pulumi:Stack".to_owned(),
        name: format!("{}-{}", settings.project, settings.stack),
        inputs: Inputs::new(),
        options: OptionData::default(),
    };
    registration.start(program)
}

/// Sends the outputs of the stack: those that failed are left out, and their failures are reported by themselves.
fn register_exports(program: &Program, stack: Handle) {
    let exports = std::mem::take(&mut *lock(&program.exports));
    let owner = program.clone();
    let waiting = program.waiting("the outputs of the stack".to_owned());
    program.spawn(async move {
        let _waiting = waiting;
        let urn = stack.registered_urn().await?;
        let mut outputs = prost_types::Struct::default();
        for (name, value) in exports {
            let one = BTreeMap::from([(name.clone(), value)]);
            match Encoder::default().members(&one, |_, _| {}).await {
                Ok(encoded) => outputs.fields.extend(encoded.fields),
                Err(error) => owner.fail(error.context(format!("the output `{name}` failed"))),
            }
        }
        let request = pb::RegisterResourceOutputsRequest {
            urn,
            outputs: Some(outputs),
        };
        let sent = owner.engine().register_outputs(request).await;
        let what = "could not register the outputs of the stack";
        sent.map_err(|status| monitor_error(&status, what, None))
    });
}

async fn report(monitor: &dyn Monitor, failures: &[Error]) {
    for error in failures.iter().filter(|error| !error.is_quiet()) {
        let request = pb::LogRequest {
            severity: pb::LogSeverity::Error.into(),
            message: error.report(),
            ..pb::LogRequest::default()
        };
        if monitor.log(request).await.is_err() {
            complain(error);
        }
    }
}
