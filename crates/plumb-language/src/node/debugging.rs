//! Having Node.js wait for a debugger (`languages.md` 3.2).

use std::ffi::OsString;

use serde_json::{Map, json};

use super::NodeError;
use super::settings::Engine;
use crate::debugging::{Waiting, free_port, until_listening};

/// Where debuggers look first.
const PORT: u16 = 9229;

/// Puts what has the interpreter wait before its other arguments.
pub(super) fn wait(
    engine: Engine,
    what: &'static str,
    args: &mut Vec<OsString>,
) -> Result<Waiting, NodeError> {
    if engine == Engine::Bun {
        return Err(NodeError::Unsupported { what, engine });
    }
    let port = free_port(PORT).map_err(NodeError::NoPort)?;
    let flags = [
        format!("--inspect-brk={port}"),
        "--inspect-publish-uid=http".to_owned(),
    ];
    args.splice(0..0, flags.map(OsString::from));
    let mut config = Map::new();
    config.insert("name".to_owned(), json!("Pulumi: Program (Node.js)"));
    config.insert("type".to_owned(), json!("node"));
    config.insert("request".to_owned(), json!("attach"));
    config.insert("continueOnAttach".to_owned(), json!(true));
    config.insert("skipFiles".to_owned(), json!(["<node_internals>/**"]));
    config.insert("port".to_owned(), json!(port));
    Ok(Waiting {
        config,
        port,
        ready: Box::pin(until_listening(port)),
    })
}
