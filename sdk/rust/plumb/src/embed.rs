//! Programs inside a process that has an engine of its own.
//!
//! [`run`](crate::run) is for executables: it reads the environment, makes a runtime and ends the process. A process that
//! embeds the engine has a runtime, and knows what the environment would tell: it calls [`Embedded::run`], as often and
//! for as many stacks at the same time as it likes. Nothing here is global.

use std::collections::{BTreeMap, BTreeSet};

use crate::context::Ctx;
use crate::program::Settings;
use crate::run::connected;
use crate::{Exports, Result};

/// The deployment that a program is run for.
#[derive(Clone, Debug, Default)]
pub struct Embedded {
    /// `host:port` of the resource monitor.
    pub monitor: String,
    /// `host:port` of the engine, for messages; empty for none.
    pub engine: String,
    /// Name of the project.
    pub project: String,
    /// Name of the stack.
    pub stack: String,
    /// Name of the organization.
    pub organization: String,
    /// Folder of the project.
    pub root_directory: String,
    /// Whether nothing is changed.
    pub is_preview: bool,
    /// Configuration: `namespace:key` to text, which is JSON for structured values.
    pub config: BTreeMap<String, String>,
    /// Keys of the configuration that are secret.
    pub secret_keys: BTreeSet<String>,
}

/// The end of a program that reached the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Everything succeeded.
    Finished,
    /// Something failed, and the engine has the messages.
    Reported,
}

impl Embedded {
    /// Runs a program to its end. An error means that the engine could not be reached.
    ///
    /// ```no_run
    /// # async fn f(deployment: plumb::embed::Embedded) -> plumb::Result<()> {
    /// let ended = deployment
    ///     .run(|ctx| async move {
    ///         ctx.export("project", ctx.project());
    ///         Ok(())
    ///     })
    ///     .await?;
    /// assert_eq!(ended, plumb::embed::Ended::Finished);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn run<E, F>(self, body: impl FnOnce(Ctx) -> F + Send) -> Result<Ended>
    where
        E: Exports + Send,
        F: Future<Output = Result<E>> + Send,
    {
        let body = async move |ctx| body(ctx).await;
        Ok(if connected(self.settings(), body).await? {
            Ended::Finished
        } else {
            Ended::Reported
        })
    }

    fn settings(self) -> Settings {
        Settings {
            monitor: self.monitor,
            engine: self.engine,
            project: self.project,
            stack: self.stack,
            organization: self.organization,
            root_directory: self.root_directory,
            is_preview: self.is_preview,
            config: self.config,
            secret_keys: self.secret_keys,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Embedded;

    /// Processes run programs on tasks of their own.
    #[test]
    fn running_a_program_can_be_a_task() {
        fn is_send<T: Send>(_: &T) {}
        is_send(&Embedded::default().run(|_| async { Ok(()) }));
    }

    #[tokio::test]
    async fn an_engine_that_is_not_there_is_an_error() {
        let nowhere = Embedded {
            monitor: "127.0.0.1:1".to_owned(),
            ..Embedded::default()
        };
        let error = nowhere.run(|_| async { Ok(()) }).await.unwrap_err();
        assert!(
            error.to_string().contains("cannot connect to 127.0.0.1:1"),
            "{error}"
        );
    }
}
