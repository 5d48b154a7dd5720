//! The host of the project's language, for commands that run no program.

use std::sync::Arc;

use plumb_plugin::{LanguageRuntime, OutputSink};

use crate::acquire::language_options;
use crate::{Context, Error};

/// The host of `language`, if it has one here; it prints to `output`.
pub(super) fn host(
    language: &str,
    output: OutputSink,
    ctx: &Context,
) -> Option<Arc<dyn LanguageRuntime>> {
    let options = language_options(&ctx.environment, output);
    let language = plumb_language::language(language)?;
    Some((language.host)(options))
}

/// Runs what waits for tools and servers to its end.
pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> Result<T, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    Ok(runtime.block_on(work))
}
