//! `state get`.

use std::fmt::Write as _;

use clap::Args;
use plumb_operate::context::IfMissing;
use plumb_operate::identity::Code;
use plumb_operate::json::wants_json;
use plumb_operate::json::{Indent, pretty};
use plumb_operate::{Context, Error};
use plumb_resource::{ResourceState, Urn};
use plumb_state::Snapshot;
use plumb_value::PropertyMap;
use serde_json::{Value as Json, json};

use super::{choose, parse_urn, require_words};
use plumb_automation::values::{Secrets, map_json};

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
    let stack = ctx
        .require_stack(args.stack.as_deref(), IfMissing::Fail)
        .map_err(|error| error.context("load stack"))?;
    let state = ctx.load_state(&stack)?;
    let snapshot = if args.show_secrets {
        ctx.decrypt_state(&state)?
    } else {
        state.opaque().cloned().unwrap_or_default()
    };
    require_words(args.resource.is_some(), "<resource>", ctx)?;
    let resource = if let Some(text) = &args.resource {
        find(&snapshot, text, ctx)?
    } else {
        find(&snapshot, choose(&stack, ctx)?.as_str(), ctx)?
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
        ctx.printer.styled(&text(resource, secrets));
    }
    Ok(())
}

/// Resource identified by `text`: its URN, its identifier in expressions, or its name if that is unique.
fn find<'s>(snapshot: &'s Snapshot, text: &str, ctx: &Context) -> Result<&'s ResourceState, Error> {
    if Urn::parse(text).is_ok() {
        return by_urn(snapshot, text, ctx);
    }
    if text.starts_with("urn:") {
        return Err(parse_urn(text).err().unwrap_or_else(|| Error::user(text)));
    }
    let mut named: Vec<&str> = Vec::new();
    for state in &snapshot.resources {
        if state.urn.name() == text && !named.contains(&state.urn.as_str()) {
            named.push(state.urn.as_str());
        }
    }
    if let Some(urn) = plumb_do::names::names(snapshot).get(text) {
        named.retain(|other| other != urn);
        if named.is_empty() {
            return by_urn(snapshot, urn, ctx);
        }
        return Err(Error::user(format!(
            "{text:?} is ambiguous: it is the reference identifier for\n    {urn}\nbut also the name of\n    {}\nspecify \
             the resource by URN instead",
            named.join("\n    ")
        )));
    }
    match named.as_slice() {
        [one] => by_urn(snapshot, one, ctx),
        [] => Err(Error::user(format!(
            "no resource identified by {text:?} found in the stack; run `pulumi do show-resources` to list resource \
             reference identifiers"
        ))
        .known(Code::NoResource)),
        several => Err(Error::user(format!(
            "{} resources in the stack are named {text:?}:\n    {}\nspecify one by URN",
            several.len(),
            several.join("\n    ")
        ))),
    }
}

/// Resource with this URN. Copies pending deletion count only if there is no other.
fn by_urn<'s>(
    snapshot: &'s Snapshot,
    urn: &str,
    ctx: &Context,
) -> Result<&'s ResourceState, Error> {
    let states = snapshot.resources.iter().map(AsRef::as_ref);
    let copies: Vec<&ResourceState> = states.filter(|it| it.urn.as_str() == urn).collect();
    let doomed = copies.iter().filter(|state| state.delete).count();
    let found = copies.iter().find(|state| !state.delete).or(copies.first());
    let Some(found) = found else {
        let candidates = snapshot.resources.iter().map(|state| state.urn.as_str());
        return Err(Error::user(super::not_found(urn, candidates)).known(Code::NoResource));
    };
    if doomed > 0 && !found.delete {
        ctx.printer.info(&format!(
            "warning: {doomed} copy(ies) of this resource are pending deletion; showing the live resource (`pulumi stack \
             export` lists all copies)"
        ));
    }
    Ok(found)
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

/// Properties without the providers' internal ones.
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
        if !map.is_empty() {
            let shown = secrets == Secrets::Shown;
            let _ = writeln!(out, "{title}:\n{}", plumb_display::object_text(map, shown));
        }
    }
    out
}
