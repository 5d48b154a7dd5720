//! The host of the project's language, for commands that run no program.

use std::sync::Arc;

use plumb_operate::acquire::language_options;
use plumb_operate::{Context, Error};
use plumb_plugin::{LanguageRuntime, OutputSink};

/// Built-in host of `language`, with output to `output`; `None` if there is none.
pub(super) fn host(
    language: &str,
    output: OutputSink,
    ctx: &Context,
) -> Option<Arc<dyn LanguageRuntime>> {
    let options = language_options(&ctx.environment, output);
    let language = plumb_language::language(language)?;
    Some((language.host)(options))
}

/// Runs a future to completion.
pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> Result<T, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    Ok(runtime.block_on(work))
}
