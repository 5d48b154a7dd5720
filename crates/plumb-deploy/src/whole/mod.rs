//! The run as a whole: what happens before the program, after it, or without one.
//!
//! [`refresh`] reads resources before or after the program, and [`pending`] adopts objects of interrupted creates;
//! [`import_operation`] is an operation without a program. [`deletes`] removes what the program did not register. [`ending`]
//! answers the requests that are still open and says how the run ended. [`stalled`] ends a run that a defect keeps from ending.

pub(crate) mod deletes;
pub(crate) mod ending;
pub(crate) mod import_operation;
pub(crate) mod pending;
pub(crate) mod refresh;
pub(crate) mod stalled;
