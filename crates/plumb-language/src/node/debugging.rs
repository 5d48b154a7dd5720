//! Node.js and Bun programs that wait for a debugger (`languages.md` 3.2).

use std::ffi::OsString;

use serde_json::{Map, json};

use super::NodeError;
use super::settings::Engine;
use crate::debugging::{Waiting, free_port, until_listening};

/// Ports that debuggers try first.
const NODE_PORT: u16 = 9229;
const BUN_PORT: u16 = 6499;

/// Inserts the flags that make the interpreter wait before its other arguments.
pub(super) fn wait(engine: Engine, args: &mut Vec<OsString>) -> Result<Waiting, NodeError> {
    match engine {
        Engine::Node => wait_with_node(args),
        Engine::Bun => wait_with_bun(args),
    }
}

/// Bun has a debugging protocol of its own, on a WebSocket with a path that only the announced URL
/// contains.
fn wait_with_bun(args: &mut Vec<OsString>) -> Result<Waiting, NodeError> {
    let port = free_port(BUN_PORT).map_err(NodeError::NoPort)?;
    let url = format!("ws://127.0.0.1:{port}/pulumi");
    args.insert(0, format!("--inspect-wait={url}").into());
    let mut config = Map::new();
    config.insert("name".to_owned(), json!("Pulumi: Program (Bun)"));
    config.insert("type".to_owned(), json!("bun"));
    config.insert("request".to_owned(), json!("attach"));
    config.insert("url".to_owned(), json!(url));
    Ok(Waiting {
        config,
        port,
        ready: Box::pin(until_listening(port)),
    })
}

fn wait_with_node(args: &mut Vec<OsString>) -> Result<Waiting, NodeError> {
    let port = free_port(NODE_PORT).map_err(NodeError::NoPort)?;
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
