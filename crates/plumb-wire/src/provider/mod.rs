//! The calls of a provider (`protocol.md` 3.1 and 5).
//!
//! For each call there is a function that writes the request and one that reads the answer, from the engine's side;
//! `*_error` functions read failures. Errors of writing and reading are [`ProviderError`](plumb_resource::provider::ProviderError)s
//! like those that the provider reports, with the right status.
//!
//! What every construction and method call of a deployment has in common (project, stack, configuration, monitor address,
//! stack trace handle) is left empty, to be filled in by the caller.
//!
//! [`server`] has the other side.

mod component;
mod config;
mod errors;
mod function;
mod request;
mod response;
pub mod server;
mod view;

pub use component::{call_request, call_response, construct_request, construct_response};
pub use config::{
    check_config_request, check_config_response, configure_request, diff_config_request,
};
pub use errors::{
    call_error, configure_error, construct_error, create_error, delete_error, init_error_message,
    is_await_failure, read_error, update_error,
};
pub use function::{
    add_list_response, invoke_request, invoke_response, list_request, parameterize_args_request,
    parameterize_request,
};
pub use request::{
    check_request, create_request, delete_request, diff_request, read_request, update_request,
};
pub use response::{
    check_response, create_response, diff_response, read_response, update_response,
};
pub use view::{ViewStepError, view_steps};

#[cfg(test)]
mod server_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod view_tests;
