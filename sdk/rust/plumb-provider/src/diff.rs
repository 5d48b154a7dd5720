//! Differences between the recorded inputs of a resource and the new ones.

use std::collections::BTreeSet;

use plumb::Value;
use plumb::provider::Members;

use crate::protocol as pb;
use crate::schema::{Property, Type, Types};
use crate::values::{Path, exposed, exposed_members};

/// A property that differs.
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
/// async fn update(cx: &Cx, update: Update<Note>) -> Result<Updated<Args>> {
///     for change in update.changes() {
///         cx.info(format!("{} is {:?}", change.path(), change.kind())).await;
///     }
///     Ok(update.args.into())
/// }
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub(crate) path: Path,
    pub(crate) kind: ChangeKind,
    pub(crate) replaces: bool,
}

/// How a property differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// It has another value.
    Changed,
}

impl Change {
    /// The path of the property, as in `rules[0].port`.
    pub fn path(&self) -> &str {
        self.path.as_str()
    }

    /// How it differs.
    pub fn kind(&self) -> ChangeKind {
        self.kind
    }

    /// Whether the change replaces the resource.
    pub fn replaces(&self) -> bool {
        self.replaces
    }
}

/// Differences of a resource, which its own `diff` may look at and correct.
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
/// async fn diff(_: &Cx, diff: &mut Diff<Note>) -> Result<()> {
///     if diff.has_changed("size") {
///         diff.replace_on("size");
///     }
///     Ok(())
/// }
/// # async fn update(_: &Cx, update: Update<Note>) -> Result<Updated<Args>> { Ok(update.args.into()) }
/// # }
/// ```
#[derive(Debug)]
pub struct Diff<R: crate::Resource> {
    /// The ID.
    pub id: String,
    /// The state.
    pub state: R::State,
    pub(crate) plan: Plan,
}

/// The differences, and whether a replacement deletes first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    pub(crate) changes: Vec<Change>,
    pub(crate) deletes_first: bool,
}

impl<R: crate::Resource> Diff<R> {
    /// What differs.
    pub fn changes(&self) -> &[Change] {
        &self.plan.changes
    }

    /// Whether a property, or something inside it, differs.
    pub fn has_changed(&self, path: &str) -> bool {
        self.plan.changes.iter().any(|it| it.path.is_inside(path))
    }

    /// A change of this property, or of something inside it, is none: two texts may mean the same.
    pub fn ignore(&mut self, path: &str) {
        self.plan.changes.retain(|it| !it.path.is_inside(path));
    }

    /// A change of this property replaces the resource.
    pub fn replace_on(&mut self, path: &str) {
        let changes = self.plan.changes.iter_mut();
        for change in changes.filter(|it| it.path.is_inside(path)) {
            change.replaces = true;
        }
    }

    /// A change of this property does not replace the resource.
    pub fn update_on(&mut self, path: &str) {
        let changes = self.plan.changes.iter_mut();
        for change in changes.filter(|it| it.path.is_inside(path)) {
            change.replaces = false;
        }
    }

    /// Whether a replacement deletes the old resource first.
    pub fn delete_before_replace(&mut self, first: bool) {
        self.plan.deletes_first = first;
    }
}

/// Compares inputs, apart from the paths in `ignored`.
pub(crate) fn compare(
    types: &Types,
    properties: &[Property],
    old: &Members,
    new: &Members,
    ignored: &[String],
) -> Vec<Change> {
    let mut comparison = Comparison {
        types,
        changes: Vec::new(),
    };
    comparison.members(
        Some(properties),
        &exposed_members(old),
        &exposed_members(new),
        &Path::default(),
        false,
    );
    let is_ignored = |change: &Change| {
        ignored
            .iter()
            .any(|it| it == "*" || change.path.is_inside(it))
    };
    comparison.changes.retain(|change| !is_ignored(change));
    comparison.changes
}

struct Comparison<'a> {
    types: &'a Types,
    changes: Vec<Change>,
}

impl Comparison<'_> {
    fn members(
        &mut self,
        properties: Option<&[Property]>,
        old: &Members,
        new: &Members,
        path: &Path,
        replaces: bool,
    ) {
        let names: BTreeSet<_> = old.keys().chain(new.keys()).collect();
        // Names with two underscores are the engine's own.
        for name in names.into_iter().filter(|it| !it.starts_with("__")) {
            let property = properties.and_then(|all| all.iter().find(|it| it.name == *name));
            let replaces = replaces || property.is_some_and(|it| it.replaces);
            let of = property.map(|it| &it.of);
            self.values(of, old.get(name), new.get(name), &path.key(name), replaces);
        }
    }

    fn values(
        &mut self,
        of: Option<&Type>,
        old: Option<&Value>,
        new: Option<&Value>,
        path: &Path,
        replaces: bool,
    ) {
        let present = |value: Option<&Value>| value.filter(|it| **it != Value::Null).map(exposed);
        let kind = match (present(old), present(new)) {
            (None, None) => return,
            (Some(old), Some(new)) if old == new => return,
            (Some(Value::Map(old)), Some(Value::Map(new))) => {
                return self.maps(of, &old, &new, path, replaces);
            }
            (Some(Value::List(old)), Some(Value::List(new))) => {
                let of = match of {
                    Some(Type::List(of)) => Some(&**of),
                    _ => None,
                };
                for index in 0..old.len().max(new.len()) {
                    let inside = path.item(index);
                    self.values(of, old.get(index), new.get(index), &inside, replaces);
                }
                return;
            }
            (None, Some(_)) => ChangeKind::Added,
            (Some(_), None) => ChangeKind::Removed,
            (Some(_), Some(_)) => ChangeKind::Changed,
        };
        self.changes.push(Change {
            path: path.clone(),
            kind,
            replaces,
        });
    }

    fn maps(
        &mut self,
        of: Option<&Type>,
        old: &Members,
        new: &Members,
        path: &Path,
        replaces: bool,
    ) {
        let Some(Type::Map(of)) = of else {
            let properties = of.and_then(|of| self.types.properties_of(of, new));
            return self.members(properties, old, new, path, replaces);
        };
        let names: BTreeSet<_> = old.keys().chain(new.keys()).collect();
        for name in names {
            let inside = path.key(name);
            self.values(Some(of), old.get(name), new.get(name), &inside, replaces);
        }
    }
}

impl Plan {
    /// The answer to the engine.
    pub(crate) fn response(&self) -> pb::DiffResponse {
        use pb::diff_response::DiffChanges;
        let changes = if self.changes.is_empty() {
            DiffChanges::DiffNone
        } else {
            DiffChanges::DiffSome
        };
        let roots = |changes: &mut dyn Iterator<Item = &Change>| -> Vec<String> {
            let roots: BTreeSet<_> = changes.map(|it| it.path.root().to_owned()).collect();
            roots.into_iter().collect()
        };
        let detailed = self.changes.iter().map(|change| {
            let diff = pb::PropertyDiff {
                kind: change.wire_kind().into(),
                input_diff: true,
            };
            (change.path.to_string(), diff)
        });
        pb::DiffResponse {
            replaces: roots(&mut self.changes.iter().filter(|it| it.replaces)),
            delete_before_replace: self.deletes_first,
            changes: changes.into(),
            diffs: roots(&mut self.changes.iter()),
            detailed_diff: detailed.collect(),
            has_detailed_diff: true,
            ..pb::DiffResponse::default()
        }
    }
}

impl Change {
    fn wire_kind(&self) -> pb::property_diff::Kind {
        use pb::property_diff::Kind;
        match (self.kind, self.replaces) {
            (ChangeKind::Added, false) => Kind::Add,
            (ChangeKind::Added, true) => Kind::AddReplace,
            (ChangeKind::Removed, false) => Kind::Delete,
            (ChangeKind::Removed, true) => Kind::DeleteReplace,
            (ChangeKind::Changed, false) => Kind::Update,
            (ChangeKind::Changed, true) => Kind::UpdateReplace,
        }
    }
}
