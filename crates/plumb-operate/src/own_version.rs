//! Version of Plumb itself, for reports of defects. [`VERSION`](crate::VERSION) is the version it is
//! compatible with.

/// The version of the program itself.
pub const OWN_VERSION: &str = env!("CARGO_PKG_VERSION");
/// Commit of the build; `unknown` in a development build.
pub const COMMIT: &str = env!("PLUMB_BUILT_COMMIT");
/// Profile and target of the build.
pub const BUILD: &str = env!("PLUMB_BUILT_AS");
