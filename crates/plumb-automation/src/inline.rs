//! Programs that are functions of this process.

use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;

use async_trait::async_trait;
use plumb::embed::{Embedded, Ended};
use plumb::{Ctx, Exports};
use plumb_engine::monitor::ResourceMonitor;
use plumb_engine::program::{Program, ProgramContext, ProgramResult};
use tokio_util::sync::CancellationToken;

/// A function as a program.
pub(crate) struct Inline<B, E> {
    body: Arc<B>,
    exports: PhantomData<fn() -> E>,
}

impl<B, E> Inline<B, E> {
    pub(crate) fn new(body: B) -> Self {
        Inline {
            body: Arc::new(body),
            exports: PhantomData,
        }
    }
}

#[async_trait]
impl<B, E, F> Program for Inline<B, E>
where
    B: Fn(Ctx) -> F + Send + Sync + 'static,
    E: Exports + Send + 'static,
    F: Future<Output = plumb::Result<E>> + Send + 'static,
{
    fn needs_server(&self) -> bool {
        true
    }

    async fn run(
        &self,
        info: ProgramContext,
        _: Arc<dyn ResourceMonitor>,
        cancel: CancellationToken,
    ) -> ProgramResult {
        let body = self.body.clone();
        let deployment = deployment(info);
        // A task of its own, so that a panic of the program ends the program alone.
        let mut running = tokio::spawn(deployment.run(move |ctx| body(ctx)));
        let Some(ended) = cancel.run_until_cancelled(&mut running).await else {
            running.abort();
            return ProgramResult::Bailed;
        };
        match ended {
            Ok(Ok(Ended::Finished)) => ProgramResult::Finished,
            Ok(Ok(Ended::Reported)) => ProgramResult::Bailed,
            Ok(Err(error)) => ProgramResult::Failed {
                message: error.to_string(),
            },
            Err(error) => ProgramResult::Failed {
                message: match error.try_into_panic() {
                    Ok(panic) => format!("the program panicked: {}", panic_text(&*panic)),
                    Err(error) => error.to_string(),
                },
            },
        }
    }
}

fn deployment(info: ProgramContext) -> Embedded {
    let config = info.config.iter();
    Embedded {
        monitor: info.monitor_address,
        engine: info.engine_address,
        project: info.project,
        stack: info.stack,
        organization: info.organization,
        root_directory: info.root_directory.to_string_lossy().into_owned(),
        is_preview: info.dry_run,
        config: config
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
        secret_keys: info.config_secret_keys.iter().cloned().collect(),
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    text.or(owned).unwrap_or("without a message")
}
