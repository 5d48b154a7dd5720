//! Java virtual machines that wait for a debugger (`languages.md` 7).

use std::ffi::OsString;

use serde_json::{Map, json};

use crate::LanguageOptions;
use crate::compiled::{CompiledError, Executable};
use crate::debugging::{Waiting, free_port, until_listening};
use crate::tool::variable;

/// Port that debuggers try first.
const PORT: u16 = 8000;

/// A port for a debugger, and the flag that makes a virtual machine listen there and wait. The flag suppresses messages
/// on standard output, because the first line there must be a plugin's port.
pub(super) struct Agent {
    port: u16,
    pub(super) flag: String,
}

impl Agent {
    pub(super) fn new() -> Result<Self, CompiledError> {
        let port = free_port(PORT).map_err(CompiledError::NoPort)?;
        let flag = format!(
            "-agentlib:jdwp=transport=dt_socket,server=y,suspend=y,quiet=y,address=127.0.0.1:{port}"
        );
        Ok(Agent { port, flag })
    }

    /// Passes the flag to tools that read arguments for their virtual machine from the variable `name`.
    pub(super) fn through_variable(
        &self,
        name: &str,
        executable: Executable,
        options: &LanguageOptions,
    ) -> Executable {
        let own = variable(&options.environment, name).unwrap_or_default();
        let both = format!("{own} {}", self.flag);
        let both = (name.into(), OsString::from(both.trim()));
        Executable {
            variables: [executable.variables, vec![both]].concat(),
            ..executable
        }
    }

    pub(super) fn waiting(&self) -> Waiting {
        let mut config = Map::new();
        config.insert("name".to_owned(), json!("Pulumi: Program (Java)"));
        config.insert("type".to_owned(), json!("java"));
        config.insert("request".to_owned(), json!("attach"));
        config.insert("hostName".to_owned(), json!("127.0.0.1"));
        config.insert("port".to_owned(), json!(self.port));
        Waiting {
            config,
            port: self.port,
            ready: Box::pin(until_listening(self.port)),
        }
    }
}
