//! Snippets: programs in the state that run beside the program.

use std::sync::Arc;

use async_trait::async_trait;
use plumb_deploy::snippets::SnippetChanges;
use plumb_state::Snippet;

use crate::monitor::ResourceMonitor;
use crate::program::{ProgramContext, ProgramResult};

/// Evaluator for the code of snippets.
#[async_trait]
pub trait SnippetLanguage: Send + Sync {
    /// Checks a snippet without running it.
    async fn check(&self, snippet: &Snippet) -> Result<(), InvalidSnippet>;

    /// Evaluates the snippet to its end. Its registrations carry its uuid. The future may be dropped when the deployment is
    /// over.
    async fn run(
        &self,
        snippet: Snippet,
        info: ProgramContext,
        monitor: Arc<dyn ResourceMonitor>,
    ) -> ProgramResult;
}

/// Error for an invalid snippet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("snippet '{name}' is not valid:\n{problems}")]
pub struct InvalidSnippet {
    /// Name of the snippet.
    pub name: String,
    /// Problems with their positions, one paragraph each.
    pub problems: String,
}

/// Checks the snippets to be stored.
pub(crate) async fn check(
    changes: &SnippetChanges,
    language: Option<&dyn SnippetLanguage>,
) -> Result<(), InvalidSnippet> {
    for snippet in changes.changed() {
        match language {
            Some(language) => language.check(snippet).await?,
            None => {
                return Err(InvalidSnippet {
                    name: snippet.name.to_string(),
                    problems: NO_LANGUAGE.to_owned(),
                });
            }
        }
    }
    Ok(())
}

/// Error message for snippets without an evaluator.
pub(crate) const NO_LANGUAGE: &str = "snippets cannot be evaluated here";
