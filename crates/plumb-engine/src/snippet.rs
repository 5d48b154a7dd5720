//! Snippets: programs in the state that run beside the program.

use std::sync::Arc;

use async_trait::async_trait;
use plumb_deploy::snippets::SnippetChanges;
use plumb_state::Snippet;

use crate::monitor::ResourceMonitor;
use crate::program::{ProgramContext, ProgramResult};

/// Understands the code of snippets.
#[async_trait]
pub trait SnippetLanguage: Send + Sync {
    /// Whether the snippet makes sense, as far as this can be told without running it.
    async fn check(&self, snippet: &Snippet) -> Result<(), InvalidSnippet>;

    /// Evaluates the snippet to its end. What it registers carries its uuid. It may be dropped when the deployment is over.
    async fn run(
        &self,
        snippet: Snippet,
        info: ProgramContext,
        monitor: Arc<dyn ResourceMonitor>,
    ) -> ProgramResult;
}

/// A snippet makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("snippet '{name}' is not valid:\n{problems}")]
pub struct InvalidSnippet {
    /// Its name.
    pub name: String,
    /// What is wrong, and where: one paragraph for each problem.
    pub problems: String,
}

/// Checks what is to be stored.
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

/// Why snippets cannot be evaluated where nobody understands them.
pub(crate) const NO_LANGUAGE: &str = "snippets cannot be evaluated here";
