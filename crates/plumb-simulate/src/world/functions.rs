//! Transforms of the program for registrations and for function calls. The name of each determines its behaviour.
//!
//! | Name | Effect on a registration |
//! |---|---|
//! | `marks` | adds a property `t` |
//! | `slows` | sets a create timeout of seven seconds |
//! | `frees` | requires creation before deletion in replacements |
//! | `guards` | protects the resource |
//! | `plain` | sets `v` to the constant `0` |
//! | `drops` | removes the property `w` |
//! | `bad` | fails |
//! | a letter | appends itself to the property `signed` |
//!
//! | Name | Effect on a function call |
//! |---|---|
//! | `adds` | adds an argument `added` |
//! | `unbinds` | makes the call use the default provider |
//! | `bad` | fails |

use std::sync::Arc;

use plumb_deploy::request::{
    Callback, CallbackReply, InvokeFunctionRequest, RegisterRequest, Request,
};
use plumb_value::{PropertyMap, Value};

use crate::story::{Program, Prop, Res, Source};

/// Timeout set by `slows`, in seconds.
const LONG: u32 = 7;

/// Property to which functions append their letters.
const SIGNED: &str = "signed";

/// Callback for the name of a function.
pub(super) fn callback(name: &str) -> Callback {
    Callback {
        target: "program".into(),
        token: name.into(),
        accepts_byte_string: true,
    }
}

/// Requests that register the transforms of the whole program.
pub(super) fn registrations(program: &Program) -> impl Iterator<Item = Request> {
    let of_resources = program.transforms.iter();
    let of_resources = of_resources.map(|name| Request::RegisterStackTransform(callback(name)));
    let of_asks = program.ask_transforms.iter();
    of_resources.chain(of_asks.map(|name| Request::RegisterStackInvokeTransform(callback(name))))
}

fn broken() -> String {
    "it broke".to_owned()
}

/// Result of a transform for a registration.
pub(super) fn transform(
    name: &str,
    mut request: Box<RegisterRequest>,
) -> Result<CallbackReply, String> {
    match name {
        "bad" => return Err(broken()),
        "slows" => {
            let limits = request.custom_timeouts.get_or_insert_default();
            limits.create = f64::from(LONG);
        }
        "frees" => request.delete_before_replace = Some(false),
        "guards" => request.protect = Some(true),
        _ => change(name, Arc::make_mut(&mut request.properties)),
    }
    Ok(CallbackReply::Transformed(request))
}

fn change(name: &str, properties: &mut PropertyMap) {
    match name {
        "marks" => drop(properties.insert("t", "1")),
        "plain" => drop(properties.insert("v", "0")),
        "drops" => drop(properties.remove("w")),
        letter => {
            let before = properties.get(SIGNED).map(Value::without_outputs);
            let before = before.as_ref().and_then(Value::as_str).unwrap_or_default();
            let text = format!("{before}{letter}");
            properties.insert(SIGNED, text);
        }
    }
}

/// Result of a transform for a function call.
pub(super) fn transform_ask(
    name: &str,
    mut request: Box<InvokeFunctionRequest>,
) -> Result<CallbackReply, String> {
    match name {
        "bad" => return Err(broken()),
        "unbinds" => request.provider = ecow::EcoString::new(),
        _ => drop(Arc::make_mut(&mut request.args).insert("added", "yes")),
    }
    Ok(CallbackReply::InvokeTransformed(request))
}

/// Property that a transform overwrites.
pub(crate) fn written_by(name: &str) -> Option<&'static str> {
    match name {
        "slows" | "frees" | "guards" | "drops" | "bad" => None,
        "marks" => Some("t"),
        "plain" => Some("v"),
        _ => Some(SIGNED),
    }
}

/// Whether a transform overwrites a property whose source is then known only in an update.
pub(crate) fn hide_origins(program: &Program) -> bool {
    let of_resources = program.resources.iter().flat_map(|res| &res.transforms);
    let mut all = program.transforms.iter().chain(of_resources);
    all.any(|name| name == "plain")
}

/// Registration after all these transforms; `None` if one of them fails.
pub(crate) fn transformed<'n>(names: impl Iterator<Item = &'n String>, res: &Res) -> Option<Res> {
    let mut res = res.clone();
    for name in names {
        match name.as_str() {
            "bad" => return None,
            "marks" => drop(res.properties.insert("t".to_owned(), Prop::text("1"))),
            "slows" => res.timeout = Some(LONG),
            "frees" => res.delete_before_replace = Some(false),
            "guards" => res.protect = Some(true),
            "plain" => drop(res.properties.insert("v".to_owned(), Prop::text("0"))),
            "drops" => drop(res.properties.remove("w")),
            letter => {
                let before = res.properties.get(SIGNED).map(|prop| &prop.source);
                let text = match before {
                    Some(Source::Text(text)) => format!("{text}{letter}"),
                    _ => letter.to_owned(),
                };
                res.properties.insert(SIGNED.to_owned(), Prop::text(text));
            }
        }
    }
    Some(res)
}
