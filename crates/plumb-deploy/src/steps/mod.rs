//! Steps: from a decision to its outcome in the journal.
//!
//! The steps of one decision form a [`chain`]; the [`scheduler`] runs chains side by side. A step is an intent, a provider call
//! ([`perform`], [`calls`]), an answer ([`answer`]) and an outcome ([`record`]). [`refresh`] and [`import`] are steps of
//! several calls; [`compare`] has the rules by which states differ. [`removal`] knows what is being deleted. [`hooks`] of the
//! program run before and after it ([`step_hooks`]), and [`retries`] make a failed call again if an error hook asks for it. A
//! provider may publish [`views`] while it works on a resource.
//!
//! [`providers`] says which instance a call goes to, [`provider_inputs`] what the engine keeps in the inputs of a provider
//! resource, and [`extensions`] when the extensions of a package are applied to an instance. [`shown`] writes values into
//! messages.

pub(crate) mod answer;
pub(crate) mod calls;
pub(crate) mod chain;
pub(crate) mod compare;
pub(crate) mod extensions;
pub(crate) mod hooks;
pub(crate) mod import;
pub(crate) mod perform;
pub(crate) mod provider_inputs;
pub(crate) mod providers;
pub(crate) mod record;
pub(crate) mod refresh;
pub(crate) mod removal;
pub(crate) mod retries;
pub(crate) mod scheduler;
pub(crate) mod shown;
pub(crate) mod step_hooks;
pub(crate) mod views;
