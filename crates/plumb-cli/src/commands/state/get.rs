//! `state get`.

use std::fmt::Write as _;

use clap::Args;
use plumb_resource::{ResourceState, Urn};
use plumb_state::Snapshot;
use plumb_value::PropertyMap;
use serde_json::{Value as Json, json};

use super::not_located;
use crate::commands::stack::values::{Secrets, map_json, value_text};
use crate::commands::wants_json;
use crate::context::IfMissing;
use crate::identity::Code;
use crate::json::{Indent, pretty};
use crate::{Context, Error};

/// Show a resource of a stack's state
#[derive(Args, Debug)]
pub struct GetArgs {
    /// The name of the stack to operate on. Defaults to the current stack
    #[arg(short, long)]
    pub stack: Option<String>,
    /// Show secrets in plaintext
    #[arg(long)]
    pub show_secrets: bool,
    /// Format of the result: default or json
    #[arg(long, default_value = "default")]
    pub output: String,
    /// The URN of the resource, or its name
    pub resource: Option<String>,
}

pub(super) fn run(args: GetArgs, ctx: &Context) -> Result<(), Error> {
    let as_json = wants_json(false, &args.output)?;
    let stack = ctx.require_stack(args.stack.as_deref(), IfMissing::Fail)?;
    let state = ctx.load_state(&stack)?;
    let snapshot = if args.show_secrets {
        ctx.decrypt_state(&state)?
    } else {
        state.opaque().cloned().unwrap_or_default()
    };
    let resource = if let Some(text) = &args.resource {
        find(&snapshot, text)?
    } else {
        let urn = super::urns(&[], &stack, ctx)?.remove(0);
        find(&snapshot, urn.as_str())?
    };
    let secrets = if args.show_secrets {
        Secrets::Shown
    } else {
        Secrets::Hidden
    };
    if as_json {
        ctx.printer
            .data(&pretty(&document(resource, secrets), Indent::Two));
    } else {
        ctx.printer.data(&text(resource, secrets));
    }
    Ok(())
}

fn find<'s>(snapshot: &'s Snapshot, text: &str) -> Result<&'s ResourceState, Error> {
    if let Ok(urn) = Urn::parse(text) {
        let index = plumb_state::edit::locate(snapshot, &urn)
            .map_err(|error| not_located(error, snapshot))?;
        return Ok(&snapshot.resources[index]);
    }
    let named: Vec<&ResourceState> = snapshot
        .resources
        .iter()
        .map(AsRef::as_ref)
        .filter(|state| state.urn.name() == text)
        .collect();
    match named.as_slice() {
        [one] => Ok(one),
        [] => Err(Error::user(format!(
            "No resource named \"{text}\" exists in the current state\n{}",
            super::LISTING_HINT
        ))
        .known(Code::NoResource)),
        several => {
            let mut message = format!("the name \"{text}\" is that of several resources:");
            for state in several {
                let _ = write!(message, "\n  {}", state.urn);
            }
            Err(Error::user(message))
        }
    }
}

fn document(state: &ResourceState, secrets: Secrets) -> Json {
    let mut object = json!({
        "urn": state.urn.as_str(),
        "id": state.id.as_str(),
        "type": state.type_token.as_str(),
        "inputs": map_json(&visible(&state.inputs), secrets),
        "outputs": map_json(&visible(&state.outputs), secrets),
    });
    if state.delete {
        object["pendingDeletion"] = Json::from(true);
    }
    object
}

/// The properties without those that providers keep for themselves.
fn visible(map: &PropertyMap) -> PropertyMap {
    let mut map = map.clone();
    map.retain(|key, _| !key.as_str().starts_with("__"));
    map
}

fn text(state: &ResourceState, secrets: Secrets) -> String {
    let mut out = format!("Type: {}\nURN:  {}\n", state.type_token, state.urn);
    if !state.id.as_str().is_empty() {
        let _ = writeln!(out, "ID:   {}", state.id.as_str());
    }
    if state.delete {
        out.push_str("Pending deletion: yes\n");
    }
    for (title, map) in [("Inputs", &state.inputs), ("Outputs", &state.outputs)] {
        let map = visible(map);
        if map.is_empty() {
            continue;
        }
        let _ = writeln!(out, "{title}:");
        let width = map.keys().map(|key| key.as_str().len()).max().unwrap_or(0);
        for (key, value) in &map {
            let _ = writeln!(
                out,
                "    {:width$}: {}",
                key.as_str(),
                value_text(value, secrets)
            );
        }
    }
    out
}
