//! Version of Plumb itself, for reports of defects. [`VERSION`](crate::VERSION) is the version it is
//! compatible with.

use crate::Environment;

/// The version of the program itself.
pub(crate) const OWN_VERSION: &str = env!("CARGO_PKG_VERSION");
/// Commit of the build; `unknown` in a development build.
pub(crate) const COMMIT: &str = env!("PLUMB_BUILT_COMMIT");
/// Profile and target of the build.
pub(crate) const BUILD: &str = env!("PLUMB_BUILT_AS");

/// Replaces `version --verbose` by the flag for it, because everywhere else `--verbose` is followed by a level, and writes a log.
pub(crate) fn asked_in_full(mut environment: Environment) -> Environment {
    if let [verb, flag] = environment.arguments.as_mut_slice()
        && verb == "version"
        && matches!(flag.as_str(), "--verbose" | "-v")
    {
        "--full".clone_into(flag);
    }
    environment
}
