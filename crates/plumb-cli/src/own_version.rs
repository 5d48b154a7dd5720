//! Version of Plumb itself, for reports of defects. [`VERSION`](crate::VERSION) is the version it is
//! compatible with.

use crate::Environment;

/// The version of the program itself.
pub(crate) const OWN_VERSION: &str = env!("CARGO_PKG_VERSION");
/// Commit of the build; `unknown` in a development build.
pub(crate) const COMMIT: &str = env!("PLUMB_BUILT_COMMIT");
/// Profile and target of the build.
pub(crate) const BUILD: &str = env!("PLUMB_BUILT_AS");

/// Completes `version --verbose` with a level, because this command takes the flag without one.
pub(crate) fn asked_in_full(mut environment: Environment) -> Environment {
    if let [verb, flag] = environment.arguments.as_slice()
        && verb == "version"
        && matches!(flag.as_str(), "--verbose" | "-v")
    {
        environment.arguments.push("1".to_owned());
    }
    environment
}
