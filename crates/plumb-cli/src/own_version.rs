//! Which Plumb this is, for reports of defects. [`VERSION`](crate::VERSION) says what it is compatible with.

use crate::Environment;

/// The version of the program itself.
pub(crate) const OWN_VERSION: &str = env!("CARGO_PKG_VERSION");
/// The commit that it was built from, `unknown` in a development build.
pub(crate) const COMMIT: &str = env!("PLUMB_BUILT_COMMIT");
/// How it was built, and for which system.
pub(crate) const BUILD: &str = env!("PLUMB_BUILT_AS");

/// The words `version --verbose` ask for the version in full; everywhere else, the flag has a level behind it.
pub(crate) fn asked_in_full(mut environment: Environment) -> Environment {
    if let [verb, flag] = environment.arguments.as_slice()
        && verb == "version"
        && matches!(flag.as_str(), "--verbose" | "-v")
    {
        environment.arguments.push("1".to_owned());
    }
    environment
}
