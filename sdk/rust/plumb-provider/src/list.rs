//! Lists of the resources that exist, whether a stack has them or not.

/// The question which resources of a type there are.
///
/// ```
/// use plumb_provider::prelude::*;
///
/// # #[derive(Clone, Debug, Properties)]
/// # struct NoteArgs { text: String }
/// #[derive(Clone, Debug, Properties)]
/// struct NoteQuery {
///     /// The beginning of the names.
///     prefix: Option<String>,
/// }
///
/// struct Note;
///
/// /// A note.
/// #[plumb_provider::resource]
/// impl Resource for Note {
/// #   type Args = NoteArgs;
/// #   type State = NoteArgs;
///     // …
///     type Query = NoteQuery;
/// #   async fn create(cx: &Cx, args: NoteArgs) -> Result<Created<NoteArgs>> {
/// #       Ok(Created::new(cx.name(), args))
/// #   }
///
///     async fn list(_: &Cx, list: List<NoteQuery>) -> Result<Listed> {
///         let prefix = list.query.prefix.unwrap_or_default();
///         let names = ["milk", "money"].into_iter();
///         Ok(names.filter(|it| it.starts_with(&prefix)).map(|it| (it, it)).collect())
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List<Q> {
    /// The arguments.
    pub query: Q,
    /// The number of resources after which nobody reads on; `None` if all are wanted. More than that are left out by themselves.
    pub limit: Option<usize>,
    /// The number of resources that the answer should have at most; `None` leaves it to the provider.
    pub page_size: Option<usize>,
    /// The text that an earlier answer gave to [`Listed::and_more`]: the list goes on there.
    pub after: Option<String>,
}

/// Resources that exist: an ID, which can be imported, and a name for people.
///
/// ```
/// use plumb_provider::Listed;
/// let page: Listed = [("1".to_owned(), "first".to_owned()), ("2".to_owned(), "second".to_owned())].into_iter().collect();
/// let page = page.and_more("2");
/// assert_eq!(page.resources().next(), Some(("1", "first")));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    pub(crate) resources: Vec<(String, String)>,
    pub(crate) next: Option<String>,
}

impl Listed {
    /// IDs and names.
    pub fn resources(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        let resources = self.resources.iter();
        resources.map(|(id, name)| (id.as_str(), name.as_str()))
    }

    /// There are more; `after` of the next question is this text.
    #[must_use]
    pub fn and_more(self, after: impl Into<String>) -> Self {
        Listed {
            next: Some(after.into()),
            ..self
        }
    }
}

impl<I: Into<String>, N: Into<String>> FromIterator<(I, N)> for Listed {
    fn from_iter<T: IntoIterator<Item = (I, N)>>(resources: T) -> Self {
        let resources = resources.into_iter();
        Listed {
            resources: resources
                .map(|(id, name)| (id.into(), name.into()))
                .collect(),
            next: None,
        }
    }
}
