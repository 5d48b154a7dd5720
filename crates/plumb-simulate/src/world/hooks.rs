//! Hooks: functions of the program, which do what their names say.
//!
//! | Name | The function |
//! |---|---|
//! | `fine` | does nothing |
//! | `bad` | fails |
//! | `lenient` | fails, and that is only a warning |
//! | `again` | has a call made again that did nothing, twice at most |
//! | `enough` | says that a failure stands |
//! | anything else | is not there |

use ecow::EcoString;
use plumb_deploy::request::{
    Callback, CallbackReply, CallbackRequest, HookKind, RegisterHookRequest, Request,
};
use plumb_resource::HookType;
use plumb_resource::hook::{ErrorHookCall, HookCall};

use crate::cloud::NOT_READY;

/// How often a call is made when hooks want it made again.
const ATTEMPTS: usize = 3;

/// The requests by which a program names its functions.
pub(super) fn registrations() -> impl Iterator<Item = Request> {
    let hook = |ignore_errors| HookKind::Resource {
        on_dry_run: false,
        ignore_errors,
    };
    let all = [
        ("fine", hook(false)),
        ("bad", hook(false)),
        ("lenient", hook(true)),
        ("again", HookKind::Error),
        ("enough", HookKind::Error),
    ];
    all.into_iter().map(|(name, kind)| {
        Request::RegisterHook(RegisterHookRequest {
            name: name.into(),
            callback: Callback {
                target: "program".into(),
                token: name.into(),
                accepts_byte_string: true,
            },
            kind,
        })
    })
}

/// Whether a hook before a step keeps it from being done: one that is not there, or, where hooks are called, one that fails.
pub(crate) fn refuse(names: &[EcoString], is_preview: bool) -> bool {
    let is_there = |name: &EcoString| matches!(name.as_str(), "fine" | "bad" | "lenient");
    let fails = |name: &EcoString| !is_there(name) || (name == "bad" && !is_preview);
    names.iter().any(fails)
}

/// What a function answers.
pub(super) fn answer(
    callback: &Callback,
    request: &CallbackRequest,
) -> Result<CallbackReply, String> {
    match (callback.token.as_str(), request) {
        ("fine", CallbackRequest::Hook(_)) => Ok(CallbackReply::Hooked),
        ("again", CallbackRequest::ErrorHook(call)) => {
            Ok(CallbackReply::Retry(is_worth_it(&call.errors)))
        }
        ("enough", CallbackRequest::ErrorHook(_)) => Ok(CallbackReply::Retry(false)),
        _ => Err("it broke".to_owned()),
    }
}

fn is_worth_it(errors: &[EcoString]) -> bool {
    let is_half_done = errors
        .first()
        .is_some_and(|error| error.contains(NOT_READY));
    errors.len() < ATTEMPTS && !is_half_done
}

/// Whether a function is the last one that is asked about a failure.
pub(super) fn is_last(callback: &Callback, call: &ErrorHookCall) -> bool {
    error_hooks(&call.resource).last() == Some(&callback.token)
}

/// Whether one of the functions that are asked about a failure has the call made again.
pub(super) fn wants_again(call: &ErrorHookCall) -> bool {
    let mut names = error_hooks(&call.resource).iter();
    names.any(|name| name == "again") && is_worth_it(&call.errors)
}

fn error_hooks(call: &HookCall) -> &[EcoString] {
    let state = call.new_options.as_ref().or(call.old_options.as_ref());
    let names = state.and_then(|state| state.hooks.get(&HookType::OnError));
    names.map(Vec::as_slice).unwrap_or_default()
}
