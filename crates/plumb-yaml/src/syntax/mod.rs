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

/// Keys that call functions, such as `fn::join`, without those of packages.
pub fn function_names() -> impl Iterator<Item = &'static str> {
    functions::names()
}

/// Names of the options of resources.
pub fn resource_option_names() -> &'static [&'static str] {
    &options::RESOURCE_OPTIONS
}
