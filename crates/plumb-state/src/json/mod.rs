//! JSON text in the form of state files: shortest numbers, a fixed set of escapes, three layouts.

mod layout;
mod number;
mod write;

pub(crate) use layout::compact;
pub(crate) use write::{Escape, JsonWriter};
