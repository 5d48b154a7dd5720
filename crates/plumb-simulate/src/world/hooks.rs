//! Hooks of the program. The name of each determines its behaviour.
//!
//! | Name | Behaviour |
//! |---|---|
//! | `fine` | does nothing |
//! | `bad` | fails |
//! | `lenient` | fails with only a warning |
//! | `again` | retries a call without effect, at most twice |
//! | `enough` | does not retry a failed call |
//! | anything else | is not registered |

use ecow::EcoString;
use plumb_deploy::request::{
    Callback, CallbackReply, CallbackRequest, HookKind, RegisterHookRequest, Request,
};
use plumb_resource::HookType;
use plumb_resource::hook::{ErrorHookCall, HookCall};

use crate::cloud::NOT_READY;

/// Maximum number of attempts for a call that hooks retry.
const ATTEMPTS: usize = 3;

/// Requests that register the hooks of a program.
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

/// Whether a before hook refuses a step: one that is not registered, or one that fails where hooks are called.
pub(crate) fn refuse(names: &[EcoString], is_preview: bool) -> bool {
    let is_there = |name: &EcoString| matches!(name.as_str(), "fine" | "bad" | "lenient");
    let fails = |name: &EcoString| !is_there(name) || (name == "bad" && !is_preview);
    names.iter().any(fails)
}

/// Result of a hook.
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

/// Whether a hook is the last one that is called for a failure.
pub(super) fn is_last(callback: &Callback, call: &ErrorHookCall) -> bool {
    error_hooks(&call.resource).last() == Some(&callback.token)
}

/// Whether one of the error hooks retries the call.
pub(super) fn wants_again(call: &ErrorHookCall) -> bool {
    let mut names = error_hooks(&call.resource).iter();
    names.any(|name| name == "again") && is_worth_it(&call.errors)
}

fn error_hooks(call: &HookCall) -> &[EcoString] {
    let state = call.new_options.as_ref().or(call.old_options.as_ref());
    let names = state.and_then(|state| state.hooks.get(&HookType::OnError));
    names.map(Vec::as_slice).unwrap_or_default()
}
