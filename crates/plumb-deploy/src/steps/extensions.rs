//! Extension parameters: packages that add to what a provider serves (`engine.md` 8.8).
//!
//! The parameter of an extension is applied once to each provider instance that serves a resource of it, whether the program
//! registered the package or the state remembers it. While it is being applied, other calls to the instance wait; functions
//! and methods among them are not called any more if the run fails meanwhile.

use ecow::EcoString;
use plumb_resource::ResourceState;
use plumb_resource::provider::{Parameterization, ProviderCall, ProviderError, ProviderReply};
use plumb_state::Extension;
use plumb_state::journal::EntryKind;

use crate::deployment::Deployment;
use crate::event::Effect;
use crate::ids::{CallId, Fence, InstanceId};
use crate::request::PackageRequest;
use crate::status::Failure;
use crate::steps::calls::Waiter;
use crate::work::Work;

/// A call that waits for an extension of its provider.
#[derive(Debug)]
pub(crate) struct Held {
    call: CallId,
    request: ProviderCall,
    fence: Fence,
}

impl Deployment {
    /// Has `instance` serve the extension that `reference` names, unless it does already. The reference may also be that of
    /// a package that is none.
    pub(crate) fn apply_extension(
        &mut self,
        instance: InstanceId,
        reference: &EcoString,
    ) -> Result<(), String> {
        let instance = self.providers.current(instance);
        if let Some(why) = self.providers.refusal(instance, reference) {
            return Err(why.into());
        }
        let registered = self.packages.get(reference);
        let known = self.base.extensions.get(reference);
        let parameter = match (registered.map(|package| &package.extension), known) {
            (Some(Some(parameter)), _) => parameter.clone(),
            (Some(None), _) => return Ok(()),
            (None, Some(known)) => Parameterization {
                name: known.name.clone(),
                version: known.version.clone(),
                value: known.value.clone(),
            },
            (None, None) => {
                return Err(format!(
                    "extension blob for '{reference}' not found in snapshot"
                ));
            }
        };
        let is_known = known.is_some();
        if self.providers.add_extension(instance, reference) {
            if !is_known {
                self.record_extension(reference, &parameter);
            }
            let request = ProviderCall::Parameterize(parameter);
            let waiter = Waiter::Extension(instance, reference.clone());
            self.call(waiter, instance, request, Fence::NONE);
        }
        Ok(())
    }

    /// Keeps the extension that a state is of, which is not needed before the resource is deleted, perhaps in another run.
    pub(crate) fn keep_extension(&mut self, state: &ResourceState) {
        let Some(reference) = &state.extension_ref else {
            return;
        };
        let registered = self.packages.get(reference);
        let parameter = registered.and_then(|package| package.extension.clone());
        if let Some(parameter) = parameter
            && !self.base.extensions.contains_key(reference)
        {
            self.record_extension(reference, &parameter);
        }
    }

    /// The provider that serves a state of the base, with the extension that the state needs; none for components.
    pub(crate) fn instance_for_state(
        &mut self,
        state: &ResourceState,
    ) -> Result<Option<InstanceId>, String> {
        let Some(reference) = &state.provider else {
            return Ok(None);
        };
        let instance = self.ensure_provider(reference)?;
        if let Some(extension) = &state.extension_ref {
            self.apply_extension(instance, extension)?;
        }
        Ok(Some(instance))
    }

    /// Sends a call to the instance that stands for `instance` now, once its extensions are applied.
    pub(crate) fn send_call(
        &mut self,
        call: CallId,
        instance: InstanceId,
        request: ProviderCall,
        fence: Fence,
    ) {
        let current = self.providers.current(instance);
        if !matches!(request, ProviderCall::Parameterize(_)) {
            self.hand_extensions_on(instance);
            if let Some(held) = self.providers.held(current) {
                held.push(Held {
                    call,
                    request,
                    fence,
                });
                return;
            }
        }
        if let Some(why) = self.refusal_for(call, current) {
            // The call is not sent, so it has no effect, even if the extension was applied.
            let error = Box::new(Err(ProviderError::clean(why)));
            return self.work.push_back(Work::Answer(call, error));
        }
        self.outbox.push(Effect::Call {
            call,
            instance: current,
            request,
            fence,
        });
    }

    /// Hands the extensions of `instance` on to the instance that stands for it now.
    fn hand_extensions_on(&mut self, instance: InstanceId) {
        for reference in self.providers.outdated_extensions(instance) {
            if let Err(message) = self.apply_extension(instance, &reference) {
                self.refuse(None, &message);
            }
        }
    }

    /// Why `instance` does not have the extension that a call is about; a call may have waited for room since it was asked
    /// to have it.
    fn refusal_for(&self, call: CallId, instance: InstanceId) -> Option<EcoString> {
        if self.providers.have_refused_nothing() {
            return None;
        }
        let extension = match self.calls.waiters.get(&call)? {
            Waiter::Registration(_, extension) => extension.as_ref(),
            Waiter::Chain(idx) => {
                let (step, _) = self.chains.running_step(*idx)?;
                let old = || step.old().map(|idx| self.arena.state(idx));
                let state = step.new_state().or_else(old);
                state.and_then(|state| state.extension_ref.as_ref())
            }
            // What they are about is applied just before they are sent, or they wait until it is.
            Waiter::Invoke(..) | Waiter::Call(..) | Waiter::Construct(..) => None,
            Waiter::Extension(..) => None,
        };
        self.providers.refusal(instance, extension?)
    }

    /// An extension is applied, or is not: what waited for it, and is not about what was refused, goes on.
    pub(crate) fn extension_answered(
        &mut self,
        instance: InstanceId,
        reference: &EcoString,
        result: Result<ProviderReply, ProviderError>,
    ) {
        if let Err(error) = result {
            self.error(None, &error.message);
            self.providers
                .refuse_extension(instance, reference, error.message);
            self.fail(Failure::Refused);
        }
        for Held {
            call,
            request,
            fence,
        } in self.providers.extension_applied(instance)
        {
            if !self.is_too_late_for(call) {
                self.send_call(call, instance, request, fence);
            }
        }
    }

    /// Whether a call is of a function or a method that the program waits for in vain: none is begun after a failure.
    fn is_too_late_for(&self, call: CallId) -> bool {
        let waiter = self.calls.waiters.get(&call);
        let is_function = waiter.is_some_and(|waiter| {
            matches!(
                waiter,
                Waiter::Invoke(..) | Waiter::Call(..) | Waiter::Construct(..)
            )
        });
        self.status.has_failed() && is_function
    }

    /// The extension that a request names.
    pub(crate) fn extension_of(&self, request: &PackageRequest) -> Option<EcoString> {
        let package = self.packages.get(&request.package_ref)?;
        package
            .extension
            .is_some()
            .then(|| request.package_ref.clone())
    }

    /// Records the parameter of an extension, so that later runs can apply it again.
    fn record_extension(&mut self, reference: &EcoString, parameter: &Parameterization) {
        let extension = Extension {
            name: parameter.name.clone(),
            version: parameter.version.clone(),
            value: parameter.value.clone(),
        };
        let operation = self.outbox.operation();
        self.journal(
            operation,
            EntryKind::Extension {
                reference: reference.clone(),
                extension,
            },
        );
    }
}
