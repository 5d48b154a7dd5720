//! Inputs of resources that a read finds.

use plumb_provider::prelude::*;

/// An input that the server chooses a value for if the program leaves it out: then it stays left out, and changes of it are
/// nobody's business. An import takes what it finds, unless it is the usual value.
pub(crate) fn chosen<A, T: PartialEq>(
    args: Option<&A>,
    input: impl FnOnce(&A) -> &Option<T>,
    found: T,
    is_usual: bool,
) -> Option<T> {
    let is_left_out = match args {
        Some(args) => input(args).is_none(),
        None => is_usual,
    };
    (!is_left_out).then_some(found)
}

/// An input that only the creation or the deletion looks at: there is nothing to be found.
pub(crate) fn kept<A, T: Clone>(args: Option<&A>, input: impl FnOnce(&A) -> &T, usual: T) -> T {
    args.map_or(usual, |args| input(args).clone())
}

/// The names in an ID that shall be imported.
pub(crate) fn parts<const N: usize>(id: &str, form: &str) -> Result<[String; N]> {
    let parts = crate::sql::parts(id).and_then(|it| <[String; N]>::try_from(it).ok());
    parts.ok_or_else(|| Error::new(format!("`{id}` is no ID of the form `{form}`")))
}
