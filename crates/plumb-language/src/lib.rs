//! Language hosts that run inside the program: no plugin process stands between the engine and the interpreter.
//!
//! [`PythonHost`] installs, inspects and runs Python programs against the published SDK. Other languages are found as
//! plugins by `plumb-plugin`. This crate knows tool chains and interpreters; it does not know what programs register.

mod python;

pub use python::{PythonError, PythonHost, PythonOptions, dynamic_provider};
