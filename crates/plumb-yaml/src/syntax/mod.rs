//! Parsing: YAML nodes, expressions, declarations.

pub(crate) mod components;
pub(crate) mod expression;
pub(crate) mod functions;
pub(crate) mod interpolation;
pub(crate) mod node;
pub(crate) mod options;
pub(crate) mod program;
pub(crate) mod reader;
pub(crate) mod record;
pub(crate) use plumb_eval::source;
