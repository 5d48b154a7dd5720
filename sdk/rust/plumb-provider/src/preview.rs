//! Outputs in a preview.

use plumb::provider::Members;
use plumb::{FromValue, IntoValue, Result};

use crate::Resource;
use crate::diff::Change;
use crate::values::read_known;

/// The preview of a resource that is not created or changed yet.
///
/// ```
/// # use plumb_provider::prelude::*;
/// # #[derive(Clone, Debug, Properties)]
/// # struct Args { text: String, size: Option<i64> }
/// # struct Note;
/// # #[plumb_provider::resource]
/// # impl Resource for Note {
/// #     type Args = Args;
/// #     type State = Args;
/// #     async fn create(_: &Cx, args: Args) -> Result<Created<Args>> { Ok(Created::new("1", args)) }
/// async fn preview(_: &Cx, preview: &mut Preview<Note>) -> Result<()> {
///     if let Some(text) = preview.get::<String>("text")? {
///         preview.set("size", text.len());
///     }
///     Ok(())
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct Preview<R: Resource> {
    pub(crate) inputs: Members,
    pub(crate) outputs: Members,
    pub(crate) changes: Vec<Change>,
    pub(crate) state: Option<R::State>,
}

impl<R: Resource> Preview<R> {
    /// The state that the resource has; `None` if it is new.
    pub fn state(&self) -> Option<&R::State> {
        self.state.as_ref()
    }

    /// An input, if it is there and known.
    pub fn get<T: FromValue>(&self, name: &str) -> Result<Option<T>> {
        read_known(&self.inputs, name)
    }

    /// Whether an input differs from the one that the resource has.
    pub fn has_changed(&self, path: &str) -> bool {
        self.changes.iter().any(|it| it.path.is_inside(path))
    }

    /// Says what an output will be. It has to be that in the end.
    pub fn set(&mut self, output: &str, value: impl IntoValue) {
        self.outputs.insert(output.to_owned(), value.into_value());
    }
}
