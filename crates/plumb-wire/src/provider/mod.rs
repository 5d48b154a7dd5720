//! Messages of providers (`protocol.md` 3.1 and 5).
//!
//! For each call there is a function that encodes the request and one that decodes the response, from the engine's side;
//! `*_error` functions decode errors. Errors of encoding and decoding are
//! [`ProviderError`](plumb_resource::provider::ProviderError)s with the right status, like those that a provider reports.
//!
//! The settings of the deployment (project, stack, configuration, monitor address, stack trace handle) are left empty in
//! constructions and method calls; the caller adds them.
//!
//! [`server`] is the provider's side.

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
