//! Hooks: functions of the program that run before and after steps (`engine.md` 8.1).
//!
//! The program registers each hook under a name. Resources bind names; the state keeps the bindings, so that a deletion
//! finds its hooks although the program does not mention the resource any more. In previews only those run that were
//! registered for previews.
//!
//! This module decides which hooks run and with which arguments, `step_hooks.rs` how their results affect the step, and
//! `retries.rs` has the error hooks.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::hook::HookCall;
use plumb_resource::{HookType, ResourceKind, ResourceState, StepOp, Urn};
use plumb_value::PropertyMap;
use rustc_hash::FxHashMap;

use crate::deployment::Deployment;
use crate::facts::urns::Remembered;
use crate::ids::{CallId, ChainIdx, Fence, RequestId};
use crate::request::{
    Callback, CallbackReply, CallbackRequest, HookKind, RegisterHookRequest, Reply, RequestError,
    RequestErrorKind,
};
use crate::setup::Operation;
use crate::step::{Deletion, Step, StepKind};
use crate::steps::scheduler::StepEnd;

/// Why a destroy operation without program refuses states with hooks.
pub(crate) const NEEDS_PROGRAM: &str =
    "You must run with the `--run-program` flag to use delete hooks during destroy.";

/// Error for a callback whose answer has another kind than the request: a fault of the shell.
pub(crate) const MISMATCHED: &str = "the callback answered something else than was asked";

/// The hooks of the program, and who waits for those that run.
#[derive(Debug, Default)]
pub(crate) struct Hooks {
    registered: FxHashMap<EcoString, (Callback, HookKind)>,
    running: FxHashMap<CallId, HookWaiter>,
}

/// Who waits for a hook.
#[derive(Debug)]
pub(crate) enum HookWaiter {
    /// The current step of a chain.
    Chain(ChainIdx),
    /// The registration of a component's outputs.
    Outputs {
        id: RequestId,
        hooks: Box<HookRun>,
        /// Of the outputs.
        fence: Fence,
    },
}

/// Hooks of one resource for one occasion, called one after another.
#[derive(Debug)]
pub(crate) struct HookRun {
    occasion: Occasion,
    hook: HookType,
    pub(crate) call: HookCall,
    remaining: VecDeque<EcoString>,
    /// The hook that runs.
    current: EcoString,
    ignores_errors: bool,
}

/// When hooks run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Occasion {
    Before,
    After,
}

impl fmt::Display for Occasion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Occasion::Before => "before",
            Occasion::After => "after",
        })
    }
}

impl Hooks {
    /// Whether no hook runs.
    pub(crate) fn is_idle(&self) -> bool {
        self.running.is_empty()
    }

    /// A call ended: who waits for it, if it was a hook.
    pub(crate) fn ended(&mut self, call: CallId) -> Option<HookWaiter> {
        self.running.remove(&call)
    }

    /// Has `waiter` hear of the end of `call`.
    pub(crate) fn started(&mut self, call: CallId, waiter: HookWaiter) {
        self.running.insert(call, waiter);
    }

    /// The hook of this name, if there is one of that kind.
    pub(crate) fn get<T>(
        &self,
        name: &str,
        of_kind: impl FnOnce(HookKind) -> Option<T>,
    ) -> Result<(&Callback, T), String> {
        let found = self.registered.get(name);
        found
            .and_then(|(callback, kind)| Some((callback, of_kind(*kind)?)))
            .ok_or_else(|| format!("hook \"{name}\" was not registered"))
    }
}

impl HookRun {
    /// The hooks that `state` binds for `hook`, if any.
    fn new(
        occasion: Occasion,
        state: &ResourceState,
        hook: HookType,
        call: impl FnOnce() -> HookCall,
    ) -> Option<Self> {
        let names = bound(state, hook);
        (!names.is_empty()).then(|| HookRun {
            occasion,
            hook,
            call: call(),
            remaining: names.iter().cloned().collect(),
            current: EcoString::new(),
            ignores_errors: false,
        })
    }

    /// Hooks that get the outputs a step returned instead of those in the state.
    fn with_outputs(mut self, end: &StepEnd) -> Self {
        if let Some(returned) = &end.returned {
            self.call.new_outputs = Some(returned.clone());
        }
        self
    }
}

/// Names of hooks that a state binds.
pub(crate) fn bound(state: &ResourceState, hook: HookType) -> &[EcoString] {
    state
        .hooks
        .get(&hook)
        .map(Vec::as_slice)
        .unwrap_or_default()
}

impl Deployment {
    /// RegisterResourceHook and RegisterErrorHook.
    pub(crate) fn take_hook(&mut self, id: RequestId, request: RegisterHookRequest) {
        let RegisterHookRequest {
            name,
            callback,
            kind,
        } = request;
        let problem = if name.is_empty() {
            Some("resource hook name cannot be empty".to_owned())
        } else if callback.target.is_empty() {
            Some("target must be specified".to_owned())
        } else if self.hooks.registered.contains_key(&name) {
            Some(format!(
                "resource hook already registered for name \"{name}\""
            ))
        } else {
            None
        };
        if let Some(message) = problem {
            let error = RequestError::new(RequestErrorKind::InvalidArgument, message);
            return self.send_reply(id, Reply::Failed(error), Fence::NONE);
        }
        self.hooks.registered.insert(name, (callback, kind));
        self.send_reply(id, Reply::Done, Fence::NONE);
    }

    /// Deletions with hooks need the program: whether this operation can have them. Reports each resource that cannot.
    pub(crate) fn can_run_delete_hooks(&mut self) -> bool {
        if self.ctx.operation != Operation::Destroy || self.ctx.options.run_program {
            return true;
        }
        // By resource, which may have former copies.
        let mut hooked: BTreeMap<Urn, Vec<EcoString>> = BTreeMap::new();
        for idx in self.olds.order() {
            let state = self.arena.state(*idx);
            let before = bound(state, HookType::BeforeDelete);
            let after = bound(state, HookType::AfterDelete);
            if before.is_empty() && after.is_empty() {
                continue;
            }
            let names = hooked.entry(state.urn.clone()).or_default();
            if !before.is_empty() {
                *names = before.to_vec();
            }
            names.extend_from_slice(after);
        }
        for (urn, names) in &hooked {
            let names = names.join(", ");
            let message = format!(
                "Resource has delete hooks registered, but the program is not running. Hooks: {names}"
            );
            self.error(Some(urn), &message);
        }
        hooked.is_empty()
    }

    /// Hooks that come before a step.
    pub(crate) fn hooks_before(&self, step: &Step) -> Option<HookRun> {
        match &step.kind {
            StepKind::Create { new, .. } => {
                HookRun::new(Occasion::Before, new, HookType::BeforeCreate, || {
                    HookCall::create(new.clone())
                })
            }
            StepKind::Update { old, new, .. } => {
                HookRun::new(Occasion::Before, new, HookType::BeforeUpdate, || {
                    let old = self.arena.state(*old).clone();
                    HookCall::update(old, new.clone())
                })
            }
            StepKind::Delete { old, deletion, .. } => {
                let old = self.arena.state(*old);
                // What is refused is not about to happen.
                let happens = *deletion != Deletion::Forgotten && !self.is_guarded(old, *deletion);
                let call = || HookCall::delete(old.clone());
                HookRun::new(Occasion::Before, old, HookType::BeforeDelete, call)
                    .filter(|_| happens)
            }
            _ => None,
        }
    }

    /// Hooks that come after a step that is done, even if the step of a view failed: the object itself was created or
    /// updated. Components have theirs when their outputs are registered.
    pub(crate) fn hooks_after(&self, step: &Step, end: &StepEnd) -> Option<HookRun> {
        match (&step.kind, end.state) {
            (StepKind::Create { new, .. }, Some(state)) if new.is_custom() => {
                let hooks = after_create(self.arena.state(state));
                hooks.map(|hooks| hooks.with_outputs(end))
            }
            (StepKind::Update { old, new, .. }, Some(state)) if new.is_custom() => {
                let hooks = after_update(self.arena.state(*old), self.arena.state(state));
                hooks.map(|hooks| hooks.with_outputs(end))
            }
            (StepKind::Delete { old, deletion, .. }, _)
                if *deletion != Deletion::Forgotten && !end.is_failed =>
            {
                let old = self.arena.state(*old);
                let call = || HookCall::delete(old.clone());
                HookRun::new(Occasion::After, old, HookType::AfterDelete, call)
            }
            _ => None,
        }
    }

    /// Hooks that come after the registration of outputs.
    pub(crate) fn hooks_after_outputs(
        &self,
        step: &Remembered,
        outputs: &Arc<PropertyMap>,
    ) -> Option<HookRun> {
        let state = self.arena.state(step.state);
        if state.kind != ResourceKind::Component || state.hooks.is_empty() {
            return None;
        }
        let state = Arc::new(ResourceState {
            outputs: outputs.clone(),
            ..state.as_ref().clone()
        });
        match (step.op, &step.old) {
            (StepOp::Create | StepOp::CreateReplacement | StepOp::Replace, _) => {
                after_create(&state)
            }
            (StepOp::Update, Some(old)) => after_update(old, &state),
            _ => None,
        }
    }

    /// Calls the next hook that is to run, once the entry of number `fence` is durable. `None` when there is none left.
    pub(crate) fn call_next_hook(
        &mut self,
        run: &mut HookRun,
        fence: Fence,
    ) -> Result<Option<CallId>, String> {
        while let Some(name) = run.remaining.pop_front() {
            let (callback, (on_dry_run, ignores_errors)) =
                self.hooks.get(&name, |kind| match kind {
                    HookKind::Resource {
                        on_dry_run,
                        ignore_errors,
                    } => Some((on_dry_run, ignore_errors)),
                    HookKind::Error => None,
                })?;
            if self.ctx.options.is_preview() && !on_dry_run {
                continue;
            }
            let callback = callback.clone();
            run.current = name;
            run.ignores_errors = ignores_errors;
            let request = CallbackRequest::Hook(Box::new(run.call.clone()));
            return Ok(Some(self.outbox.call_back(callback, request, fence)));
        }
        Ok(None)
    }

    /// Whether the hook that ran lets the resource go on.
    pub(crate) fn hook_result(
        &mut self,
        run: &HookRun,
        result: Result<CallbackReply, String>,
    ) -> Result<(), String> {
        let reason = match result {
            Ok(CallbackReply::Hooked) => return Ok(()),
            Ok(_) => MISMATCHED.to_owned(),
            Err(reason) => reason,
        };
        let current = &run.current;
        if run.ignores_errors {
            let hook = run.hook.as_str();
            let message = format!("{hook} hook \"{current}\" failed: {reason}");
            self.warning(Some(&run.call.urn), &message);
            return Ok(());
        }
        Err(format!(
            "{} hook \"{current}\" failed: {reason}",
            run.occasion
        ))
    }
}

fn after_create(new: &Arc<ResourceState>) -> Option<HookRun> {
    HookRun::new(Occasion::After, new, HookType::AfterCreate, || {
        HookCall::create(new.clone()).after(new)
    })
}

fn after_update(old: &Arc<ResourceState>, new: &Arc<ResourceState>) -> Option<HookRun> {
    HookRun::new(Occasion::After, new, HookType::AfterUpdate, || {
        HookCall::update(old.clone(), new.clone()).after(new)
    })
}
