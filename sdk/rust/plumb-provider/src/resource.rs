//! Resources: what a provider creates, changes and deletes.

use std::collections::BTreeMap;
use std::future::Future;

use plumb::{FromValue, IntoValue, Result, Value};

use crate::check::Check;
use crate::diff::{Change, Diff};
use crate::preview::Preview;
use crate::schema::Properties;
use crate::{Cx, Error, List, Listed};

/// A type of resource. Put the attribute [`resource`](crate::resource) on the implementation: it adds the constants.
///
/// ```
/// use plumb_provider::prelude::*;
///
/// #[derive(Clone, Debug, Properties)]
/// struct NoteArgs {
///     /// What the note says.
///     text: String,
/// }
///
/// #[derive(Clone, Debug, Properties)]
/// struct NoteState {
///     #[property(flatten)]
///     args: NoteArgs,
///     /// How many letters there are.
///     letters: i64,
/// }
///
/// struct Note;
///
/// /// A note that nobody reads.
/// #[plumb_provider::resource]
/// impl Resource for Note {
///     type Args = NoteArgs;
///     type State = NoteState;
///
///     async fn create(cx: &Cx, args: NoteArgs) -> Result<Created<NoteState>> {
///         let letters = i64::try_from(args.text.len())?;
///         Ok(Created::new(cx.name(), NoteState { args, letters }))
///     }
/// }
///
/// let provider = Provider::new("notes", "0.1.0").resource::<Note>();
/// assert!(provider.schema().unwrap().contains("How many letters"));
/// ```
///
/// Only `create` has to be there. What happens without the others:
///
/// | Function | Without it |
/// |---|---|
/// | `check` | the schema is checked, and its defaults are set; both happen around a `check`, too |
/// | `diff` | inputs that differ are changes |
/// | `preview` | outputs with names of inputs have their values, others are unknown |
/// | `update` | every change replaces the resource |
/// | `read` | the resource is taken to be as it was, and cannot be imported |
/// | `delete` | nothing has to be done |
/// | `list` | nobody can ask which resources of the type there are |
/// | `upgrade` | what older versions of the provider recorded has to fit |
pub trait Resource: Sized + Send + Sync + 'static {
    /// Module and name, as in `index:File`.
    const TOKEN: &'static str;
    /// Documentation.
    const DESCRIPTION: &'static str = "";
    /// Why the resource should not be used any more.
    const DEPRECATED: Option<&'static str> = None;
    /// Former tokens.
    const ALIASES: &'static [&'static str] = &[];
    /// Whether there is an `update`.
    const UPDATES: bool;
    /// Whether there is a `read`.
    const READS: bool;
    /// Whether there is a `preview`.
    const PREVIEWS: bool;
    /// Whether there is a `diff`.
    const DIFFS: bool;
    /// Whether there is a `list`.
    const LISTS: bool = false;
    /// Whether a replacement deletes the old resource first.
    const DELETES_BEFORE_REPLACING: bool = false;

    /// The inputs.
    type Args: Properties + FromValue + IntoValue + Clone + Send + Sync + 'static;
    /// The outputs.
    type State: Properties + FromValue + IntoValue + Clone + Send + Sync + 'static;
    /// The arguments of a `list`. The attribute sets `()`, no arguments, if the type is not there.
    type Query: Properties + FromValue + Send + Sync + 'static;

    /// Brings what an older version of the provider recorded to the shape of this one's types, before anything looks at it.
    ///
    /// ```
    /// # use plumb_provider::prelude::*;
    /// # use plumb_provider::Recorded;
    /// fn upgrade(recorded: &mut Recorded) {
    ///     // Version 1 called it `file`.
    ///     recorded.rename("file", "path");
    /// }
    /// ```
    fn upgrade(recorded: &mut Recorded) {
        let _ = recorded;
    }

    /// Looks at the inputs before anything is done with them: sets defaults, and says what is wrong.
    fn check(cx: &Cx, check: &mut Check) -> impl Future<Output = Result<()>> + Send {
        let _ = (cx, check);
        async { Ok(()) }
    }

    /// Looks at what differs before it becomes an update or a replacement.
    fn diff(cx: &Cx, diff: &mut Diff<Self>) -> impl Future<Output = Result<()>> + Send {
        let _ = (cx, diff);
        async { Ok(()) }
    }

    /// Says what outputs will be, in a preview.
    fn preview(cx: &Cx, preview: &mut Preview<Self>) -> impl Future<Output = Result<()>> + Send {
        let _ = (cx, preview);
        async { Ok(()) }
    }

    /// Creates the resource.
    fn create(
        cx: &Cx,
        args: Self::Args,
    ) -> impl Future<Output = Result<Created<Self::State>>> + Send;

    /// Changes the resource.
    fn update(
        cx: &Cx,
        update: Update<Self>,
    ) -> impl Future<Output = Result<Updated<Self::State>>> + Send {
        let _ = (cx, update);
        async { Err(Error::new("the resource cannot be updated")) }
    }

    /// Looks how the resource is; `None` if it is gone.
    fn read(cx: &Cx, read: Read<Self>) -> impl Future<Output = Result<Option<Found<Self>>>> + Send {
        let _ = (cx, read);
        async { Err(Error::new("the resource cannot be read")) }
    }

    /// Deletes the resource; one that is gone already is no error.
    fn delete(cx: &Cx, delete: Delete<Self>) -> impl Future<Output = Result<()>> + Send {
        let _ = (cx, delete);
        async { Ok(()) }
    }

    /// Finds the resources of this type that exist, in a stack or not.
    fn list(cx: &Cx, list: List<Self::Query>) -> impl Future<Output = Result<Listed>> + Send {
        let _ = (cx, list);
        async { Err(Error::new("the resources cannot be listed")) }
    }
}

/// A resource as the state has it, recorded by this version of the provider or an older one.
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
/// fn upgrade(recorded: &mut plumb_provider::Recorded) {
///     recorded.rename("content", "text");     // the name in version 1
/// }
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// The inputs, with their markers.
    pub inputs: BTreeMap<String, Value>,
    /// The outputs, with their markers.
    pub outputs: BTreeMap<String, Value>,
}

impl Recorded {
    /// Gives a property another name, where it is there and the new one is not.
    pub fn rename(&mut self, old: &str, new: &str) {
        for members in [&mut self.inputs, &mut self.outputs] {
            if !members.contains_key(new)
                && let Some(value) = members.remove(old)
            {
                members.insert(new.to_owned(), value);
            }
        }
    }
}

/// A resource that was created.
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
/// async fn create(_: &Cx, args: Args) -> Result<Created<Args>> {
///     // The next deployment updates it.
///     Ok(Created::new("1", args).but("the server does not answer yet"))
/// }
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Created<S> {
    pub(crate) id: String,
    pub(crate) state: S,
    pub(crate) problems: Vec<String>,
}

impl<S> Created<S> {
    /// The resource with this ID.
    pub fn new(id: impl Into<String>, state: S) -> Self {
        Created {
            id: id.into(),
            state,
            problems: Vec::new(),
        }
    }

    /// The resource exists, but is not as it should be: the deployment fails, and the next one updates it.
    #[must_use]
    pub fn but(mut self, problem: impl Into<String>) -> Self {
        self.problems.push(problem.into());
        self
    }
}

/// A change of a resource.
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
/// async fn update(_: &Cx, update: Update<Note>) -> Result<Updated<Args>> {
///     if update.has_changed("text") {
///         println!("{}: {} is now {}", update.id, update.state.text, update.args.text);
///     }
///     Ok(update.args.into())
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct Update<R: Resource> {
    /// The ID.
    pub id: String,
    /// The inputs that it shall have.
    pub args: R::Args,
    /// The inputs that it has; `None` if an older version of the provider recorded some that do not fit any more.
    pub old_args: Option<R::Args>,
    /// The state that it has.
    pub state: R::State,
    pub(crate) changes: Vec<Change>,
}

impl<R: Resource> Update<R> {
    /// What differs.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Whether an input, or something inside it, differs.
    pub fn has_changed(&self, path: &str) -> bool {
        self.changes.iter().any(|it| it.path.is_inside(path))
    }
}

/// A resource that was changed.
#[derive(Clone, Debug)]
pub struct Updated<S> {
    pub(crate) state: S,
    pub(crate) problems: Vec<String>,
}

impl<S> From<S> for Updated<S> {
    fn from(state: S) -> Self {
        Updated {
            state,
            problems: Vec::new(),
        }
    }
}

impl<S> Updated<S> {
    /// The resource has changed, but is not as it should be: the deployment fails, and the next one updates it.
    #[must_use]
    pub fn but(mut self, problem: impl Into<String>) -> Self {
        self.problems.push(problem.into());
        self
    }
}

/// A look at a resource: of a stack, or one that shall be imported.
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
/// async fn read(_: &Cx, read: Read<Note>) -> Result<Option<Found<Note>>> {
///     let Ok(text) = std::fs::read_to_string(&read.id) else {
///         return Ok(None);                    // it is gone
///     };
///     let args = Args { text, size: None };
///     Ok(Some(Found::new(args.clone(), args)))
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct Read<R: Resource> {
    /// The ID.
    pub id: String,
    /// The inputs, if the resource is one of a stack.
    pub args: Option<R::Args>,
    /// The state as it was last, if the resource is one of a stack.
    pub state: Option<R::State>,
}

/// A resource as it is.
#[derive(Clone, Debug)]
pub struct Found<R: Resource> {
    pub(crate) id: Option<String>,
    pub(crate) args: R::Args,
    pub(crate) state: R::State,
    pub(crate) problems: Vec<String>,
}

impl<R: Resource> Found<R> {
    /// The inputs that a program would set for it, and its state.
    pub fn new(args: R::Args, state: R::State) -> Self {
        Found {
            id: None,
            args,
            state,
            problems: Vec::new(),
        }
    }

    /// The resource has another ID than the one it was looked for with.
    #[must_use]
    pub fn with_id(self, id: impl Into<String>) -> Self {
        Found {
            id: Some(id.into()),
            ..self
        }
    }

    /// The resource exists, but is not as it should be.
    #[must_use]
    pub fn but(mut self, problem: impl Into<String>) -> Self {
        self.problems.push(problem.into());
        self
    }
}

/// The end of a resource.
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
/// async fn delete(_: &Cx, delete: Delete<Note>) -> Result<()> {
///     Ok(std::fs::remove_file(delete.id)?)
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct Delete<R: Resource> {
    /// The ID.
    pub id: String,
    /// The state that it has.
    pub state: R::State,
}
