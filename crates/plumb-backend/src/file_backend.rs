//! The backend on a bucket in upstream's layout (`state.md` 3).

use std::collections::BTreeMap;
use std::sync::Arc;

use plumb_project::files::create_private_folder;
use plumb_project::yaml::{self, Resolved};
use plumb_project::{ProjectName, StackReference};
use plumb_state::EncryptedSnapshot;
use plumb_state::file::empty_checkpoint;
use uuid::Uuid;

use crate::backend::{Backend, Cancelled, Loaded, LoadedRoot, RemoveOptions, Rewrite};
use crate::bucket::{Bucket, io_error};
use crate::capability;
use crate::compression::Compression;
use crate::encryption::StackKey;
use crate::error::BackendError;
use crate::history::{Page, Past, UpdateRecord};
use crate::keys::{self, StoreLayout};
use crate::lease::{CancelProgress, CancelRequest};
use crate::local::LocalBucket;
use crate::lock::{self, HeldLock, Lock, TakenOver};
use crate::recovery::{self, Note, Present};
use crate::segments;
use crate::store::{Owner, Store, StoreOptions};
use crate::stored;
use crate::summary::{StackFilter, StackSummary};
use crate::update::{self, Update};
use crate::url::FileUrl;

/// A backend on a bucket.
pub struct FileBackend {
    store: Arc<Store>,
    layout: StoreLayout,
    url: String,
}

/// Warning about a store that was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenWarning {
    /// Stacks of the legacy layout are in a store of the project layout, where they are ignored.
    LegacyStacks {
        /// Names of the stacks.
        stacks: Vec<String>,
    },
}

/// Rewrites a snapshot for the stack that it is moved to.
pub type UpgradeRewrite<'r> =
    &'r mut dyn FnMut(
        &StackReference,
        EncryptedSnapshot,
    ) -> Result<EncryptedSnapshot, Box<dyn std::error::Error + Send + Sync>>;

/// A stack that an upgrade left in the legacy layout.
#[derive(Debug)]
pub struct LeftBehind {
    /// The stack.
    pub stack: StackReference,
    /// The error; `None` if no project was chosen for the stack.
    pub error: Option<BackendError>,
}

impl FileBackend {
    /// Opens the store in a folder.
    pub fn open(
        url: &FileUrl,
        owner: Owner,
        options: StoreOptions,
    ) -> Result<(Self, Option<OpenWarning>), BackendError> {
        if url.create_dir {
            create_private_folder(&url.path).map_err(io_error("make the folder", &url.path))?;
        }
        if !url.path.is_dir() {
            return Err(BackendError::NoFolder {
                url: url.url.clone(),
                path: url.path.clone(),
            });
        }
        FileBackend::open_bucket(
            Arc::new(LocalBucket::new(url.path.clone())),
            &url.url,
            owner,
            options,
        )
    }

    /// Opens the store in any bucket. A new store gets its `meta.yaml`.
    pub fn open_bucket(
        bucket: Arc<dyn Bucket>,
        url: &str,
        owner: Owner,
        options: StoreOptions,
    ) -> Result<(Self, Option<OpenWarning>), BackendError> {
        let store = Arc::new(Store::new(bucket, owner, options));
        let (layout, legacy) = store.join(
            || layout_of(&store),
            || {
                if store.options.no_legacy_warning {
                    Ok(Vec::new())
                } else {
                    legacy_stacks(&store)
                }
            },
        );
        let layout = layout?;
        if layout == StoreLayout::Legacy
            && !store.options.ignore_deprecation_error
            && !store.options.legacy_layout
        {
            return Err(BackendError::LegacyLayout);
        }
        let warning = match layout {
            StoreLayout::Project => {
                let stacks = legacy?;
                let names = stacks.iter().map(|stack| stack.stack.to_string()).collect();
                (!stacks.is_empty()).then_some(OpenWarning::LegacyStacks { stacks: names })
            }
            StoreLayout::Legacy => None,
        };
        Ok((
            FileBackend {
                store,
                layout,
                url: url.to_owned(),
            },
            warning,
        ))
    }

    /// Tests what the store can do, and records the result in it. Returns what users should know.
    pub fn check_capabilities(&self) -> Result<Option<Note>, BackendError> {
        capability::renew(&self.store)?;
        Ok(Note::of_store(&self.store))
    }

    #[cfg(test)]
    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// Layout of the store.
    pub fn layout(&self) -> StoreLayout {
        self.layout
    }

    /// Upgrades a store to the project layout. `project_of` chooses the project of each stack, given the one in its
    /// resources; `None` leaves the stack where it is.
    pub fn upgrade(
        &mut self,
        project_of: &mut dyn FnMut(&StackReference, Option<&str>) -> Option<ProjectName>,
        rewrite: UpgradeRewrite<'_>,
    ) -> Result<Vec<LeftBehind>, BackendError> {
        if self.layout != StoreLayout::Legacy {
            return Err(BackendError::NotLegacy);
        }
        let mut chosen = Vec::new();
        let mut left = Vec::new();
        for stack in legacy_stacks(&self.store)? {
            let guess = self.project_of_resources(&stack);
            match project_of(&stack, guess.as_deref()) {
                Some(project) => chosen.push((stack, project)),
                None => left.push(LeftBehind { stack, error: None }),
            }
        }
        self.store.bucket.put(keys::META, b"version: 1\n")?;
        self.layout = StoreLayout::Project;
        for (from, project) in chosen {
            let to = StackReference {
                project: Some(project),
                stack: from.stack.clone(),
            };
            if let Err(error) =
                self.rename_stack(&from, &to, &mut |snapshot| rewrite(&to, snapshot))
            {
                left.push(LeftBehind {
                    stack: from,
                    error: Some(error),
                });
            }
        }
        Ok(left)
    }

    fn project_of_resources(&self, stack: &StackReference) -> Option<String> {
        let checkpoint = self.store.state_file(stack).ok()?.parse().ok()?;
        let latest = checkpoint.latest?;
        latest
            .opaque()
            .resources
            .first()
            .map(|resource| resource.urn.project().to_owned())
    }

    /// Fails if the stack exists. Journals of a former stack of that name, whose removal was interrupted, are deleted,
    /// because they could match the state of the new stack.
    fn make_room(&self, stack: &StackReference) -> Result<(), BackendError> {
        match self.store.state_key(stack)? {
            Some(_) => Err(BackendError::StackExists {
                stack: stack.qualified(),
            }),
            None => self.remove_journals(stack),
        }
    }

    /// Moves the history of a stack to its new name.
    fn move_history(&self, from: &StackReference, to: &StackReference) -> Result<(), BackendError> {
        let old_prefix = format!("{}-", from.stack);
        for key in self.store.history_keys(from)? {
            let rest = keys::file_name(&key)
                .strip_prefix(&old_prefix)
                .unwrap_or_default();
            let target = format!("{}/{}-{rest}", keys::history(to), to.stack);
            self.store.bucket.rename(&key, &target)?;
        }
        Ok(())
    }

    /// Deletes all variants of the state file; with `keep_copy`, renames them to `.bak`.
    fn remove_state(&self, stack: &StackReference, keep_copy: bool) -> Result<(), BackendError> {
        for compression in Compression::ALL {
            let key = format!("{}{}", keys::state(stack), compression.extension());
            if keep_copy {
                self.store.back_up(&key);
            } else {
                self.store.bucket.delete(&format!("{key}.bak"))?;
            }
            self.store.bucket.delete(&key)?;
        }
        // If the former state file reappeared, two stacks would own the same objects.
        self.store
            .bucket
            .settle(keys::folder_of(&keys::state(stack)))?;
        self.store.set_stack_key(stack, None)
    }

    /// Deletes the journals of a stack. Seals stay, so that a fenced writer remains fenced.
    fn remove_journals(&self, stack: &StackReference) -> Result<(), BackendError> {
        if self.store.bucket.files().is_some() {
            let folder = keys::journals(stack);
            self.remove_folder(&folder)?;
            // If a journal reappeared, it could match the state of a new stack of this name.
            return Ok(self.store.bucket.settle(&folder)?);
        }
        segments::remove_all(&self.store, stack)
    }

    fn remove_folder(&self, folder: &str) -> Result<(), BackendError> {
        let listed = self.store.bucket.list(folder)?;
        let keys: Vec<String> = listed.into_iter().map(|entry| entry.key).collect();
        Ok(self.store.bucket.delete_all(&keys)?)
    }
}

impl Backend for FileBackend {
    fn name(&self) -> &str {
        &self.store.owner.hostname
    }

    fn url(&self) -> &str {
        &self.url
    }

    fn parse_stack(
        &self,
        text: &str,
        current: Option<&ProjectName>,
    ) -> Result<StackReference, BackendError> {
        Ok(match self.layout {
            StoreLayout::Project => StackReference::parse(text, current)?,
            StoreLayout::Legacy => StackReference::parse_legacy(text)?,
        })
    }

    fn stack_exists(&self, stack: &StackReference) -> Result<bool, BackendError> {
        Ok(self.store.state_key(stack)?.is_some())
    }

    fn list_stacks(&self, filter: &StackFilter) -> Result<Vec<StackSummary>, BackendError> {
        self.store.summaries(self.layout, filter)
    }

    fn stack_names(&self, filter: &StackFilter) -> Result<Vec<StackReference>, BackendError> {
        let stacks = self.store.stacks(self.layout, filter)?;
        Ok(stacks.into_keys().collect())
    }

    fn create_stack(
        &self,
        stack: &StackReference,
        initial: Option<&EncryptedSnapshot>,
    ) -> Result<(), BackendError> {
        capability::ensure(&self.store)?;
        let (lock, former) = Lock::take(&self.store, stack)?;
        self.make_room(stack)?;
        let text = match initial {
            Some(initial) => initial.checkpoint(&stack.qualified()),
            None => empty_checkpoint(&stack.qualified()),
        };
        self.store.save_text(stack, &text, None)?;
        Lock::remove(&self.store, former.iter().map(TakenOver::lock))?;
        lock.release()
    }

    fn remove_stack(
        &self,
        stack: &StackReference,
        options: RemoveOptions,
    ) -> Result<(), BackendError> {
        self.store.expect_stack(stack)?;
        let (lock, former) = Lock::take(&self.store, stack)?;
        if !options.force {
            recovery::recover(&self.store, stack)?;
            let latest = self.store.state_file(stack)?.parse()?.latest;
            if latest.is_some_and(|latest| recovery::has_resources(latest.opaque())) {
                return Err(BackendError::HasResources {
                    stack: stack.stack.to_string(),
                });
            }
        }
        if !options.remove_backups {
            if options.force
                && let Err(error) = recovery::recover(&self.store, stack)
            {
                tracing::warn!(%error, "a journal of the removed stack cannot be used");
            }
            self.store.keep_removed(stack)?;
        }
        for key in self.store.history_keys(stack)? {
            self.store.bucket.delete(&key)?;
        }
        self.store.bucket.delete(&keys::tags(stack))?;
        self.remove_state(stack, !options.remove_backups)?;
        if options.remove_backups {
            self.remove_folder(&keys::backups(stack))?;
            self.remove_folder(&keys::removed(stack))?;
        }
        self.remove_journals(stack)?;
        self.remove_folder(&keys::leases(stack))?;
        Lock::remove(&self.store, former.iter().map(TakenOver::lock))?;
        lock.release()
    }

    fn restore_stack(&self, stack: &StackReference) -> Result<String, BackendError> {
        let not_removed = || BackendError::NotRemoved {
            stack: stack.qualified(),
        };
        let (lock, former) = Lock::take(&self.store, stack)?;
        self.make_room(stack)?;
        let removed = self.store.last_removed(stack)?.ok_or_else(not_removed)?;
        self.store.adopt_key(stack, removed.key())?;
        self.store.restore(stack, &removed)?;
        Lock::remove(&self.store, former.iter().map(TakenOver::lock))?;
        lock.release()?;
        Ok(removed.time)
    }

    fn prune_history(&self, stack: &StackReference, kept: usize) -> Result<usize, BackendError> {
        self.store.prune_to(stack, kept)
    }

    fn rename_stack(
        &self,
        from: &StackReference,
        to: &StackReference,
        rewrite: Rewrite<'_>,
    ) -> Result<Vec<Note>, BackendError> {
        self.store.expect_stack(from)?;
        let (lock, former) = Lock::take(&self.store, from)?;
        self.make_room(to)?;
        let notes = recovery::recover(&self.store, from)?;
        let checkpoint = self.store.state_file(from)?.parse()?;
        self.store.set_stack_key(to, self.store.stack_key(from)?)?;
        if checkpoint.latest.is_some() {
            let snapshot =
                rewrite(recovery::encrypted(from, checkpoint)?).map_err(BackendError::Rewrite)?;
            self.store.save_snapshot(to, &snapshot)?;
        } else {
            self.store
                .save_text(to, &empty_checkpoint(&to.qualified()), None)?;
        }
        self.remove_state(from, true)?;
        self.move_history(from, to)?;
        self.store.set_tags(to, &self.store.tags(from)?)?;
        self.store.bucket.delete(&keys::tags(from))?;
        Lock::remove(&self.store, former.iter().map(TakenOver::lock))?;
        lock.release()?;
        Ok(notes)
    }

    fn stack_key(&self, stack: &StackReference) -> Result<Option<StackKey>, BackendError> {
        self.store.stack_key(stack)
    }

    fn set_stack_key(
        &self,
        stack: &StackReference,
        key: Option<StackKey>,
    ) -> Result<(), BackendError> {
        if self.store.state_key(stack)?.is_none() {
            return self.store.set_stack_key(stack, key);
        }
        let (lock, former) = Lock::take(&self.store, stack)?;
        recovery::recover(&self.store, stack)?;
        self.store.encrypt_stack(stack, key)?;
        Lock::remove(&self.store, former.iter().map(TakenOver::lock))?;
        lock.release()
    }

    fn load(&self, stack: &StackReference) -> Result<Loaded, BackendError> {
        Ok(match recovery::present(&self.store, stack)? {
            Present::Folded(snapshot) => Loaded::Folded(snapshot),
            Present::Checkpoint(state) => Loaded::Checkpoint(Box::new(state.parse()?)),
        })
    }

    fn load_root(&self, stack: &StackReference) -> Result<LoadedRoot, BackendError> {
        // In this order, like `recovery::present`.
        if stored::journals(&self.store, stack)?.is_empty()
            && let Some(root) = self.store.root_at_start(stack)?
        {
            return Ok(LoadedRoot::Alone(Box::new(root)));
        }
        Ok(match recovery::present(&self.store, stack)? {
            Present::Folded(snapshot) => LoadedRoot::Among(Loaded::Folded(snapshot)),
            Present::Checkpoint(state) => LoadedRoot::Alone(Box::new(state.parse_root()?)),
        })
    }

    fn begin_update(&self, stack: &StackReference, id: &str) -> Result<Update, BackendError> {
        Update::begin(&self.store, stack, id)
    }

    fn lock(
        &self,
        stack: &StackReference,
        reason: Option<&str>,
    ) -> Result<Vec<Note>, BackendError> {
        let update = self.begin_update(stack, &Uuid::new_v4().to_string())?;
        let notes = update.notes().to_vec();
        update.lock_by_hand(reason)?;
        Ok(notes)
    }

    fn unlock(&self, stack: &StackReference) -> Result<Vec<String>, BackendError> {
        self.store.expect_stack(stack)?;
        let mut locks = lock::locks_of(&self.store, stack)?;
        locks.retain(HeldLock::is_by_hand);
        for lock in &locks {
            self.store.bucket.delete(&lock.key)?;
        }
        Ok(locks.iter().map(ToString::to_string).collect())
    }

    fn cancel(&self, stack: &StackReference) -> Result<Cancelled, BackendError> {
        self.store.expect_stack(stack)?;
        let (kept, locks): (Vec<HeldLock>, Vec<HeldLock>) = lock::locks_of(&self.store, stack)?
            .into_iter()
            .partition(HeldLock::is_by_hand);
        let shown = |locks: &[HeldLock]| locks.iter().map(ToString::to_string).collect();
        Ok(Cancelled {
            locks: shown(&locks),
            kept: shown(&kept),
            notes: if locks.is_empty() {
                Vec::new()
            } else {
                update::take_from(&self.store, stack, &locks)?
            },
        })
    }

    fn request_cancel(
        &self,
        stack: &StackReference,
    ) -> Result<Option<CancelRequest>, BackendError> {
        self.store.expect_stack(stack)?;
        let mut locks = lock::locks_of(&self.store, stack)?;
        locks.retain(|lock| !lock.is_by_hand());
        let [lock] = locks.as_slice() else {
            return Ok(None);
        };
        match lock.lease().filter(|_| !lock.is_dead()) {
            Some(token) => CancelRequest::send(&self.store, stack, token, &lock.key),
            None => Ok(None),
        }
    }

    fn cancel_progress(&self, request: &mut CancelRequest) -> Result<CancelProgress, BackendError> {
        request.progress(&self.store)
    }

    fn history(
        &self,
        stack: &StackReference,
        page: Option<Page>,
    ) -> Result<Vec<UpdateRecord>, BackendError> {
        self.store.history(stack, page)
    }

    fn locks(&self, stack: &StackReference) -> Result<Vec<String>, BackendError> {
        let locks = lock::locks_of(&self.store, stack)?;
        Ok(locks.iter().map(ToString::to_string).collect())
    }

    fn past(&self, stack: &StackReference, version: u64) -> Result<Option<Past>, BackendError> {
        self.store.past(stack, version)
    }

    fn history_objects(&self, stack: &StackReference) -> Result<Vec<String>, BackendError> {
        self.store.history_endings(stack)
    }

    fn history_object(
        &self,
        stack: &StackReference,
        name: &str,
    ) -> Result<Option<Vec<u8>>, BackendError> {
        self.store.history_object(stack, name)
    }

    fn put_history_object(
        &self,
        stack: &StackReference,
        name: &str,
        content: &[u8],
    ) -> Result<(), BackendError> {
        self.store.put_history_object(stack, name, content)
    }

    fn tags(&self, stack: &StackReference) -> Result<BTreeMap<String, String>, BackendError> {
        self.store.tags(stack)
    }

    fn set_tags(
        &self,
        stack: &StackReference,
        tags: &BTreeMap<String, String>,
    ) -> Result<(), BackendError> {
        self.store.expect_stack(stack)?;
        self.store.set_tags(stack, tags)
    }

    fn permalink(&self, stack: &StackReference) -> Result<Option<String>, BackendError> {
        Ok(self
            .store
            .state_key(stack)?
            .map(|key| self.store.bucket.address(&key)))
    }
}

/// Stacks in the legacy layout, sorted.
fn legacy_stacks(store: &Store) -> Result<Vec<StackReference>, BackendError> {
    let stacks = store.stacks(StoreLayout::Legacy, &StackFilter::default())?;
    Ok(stacks.into_keys().collect())
}

/// Detects the layout; a new store gets its `meta.yaml`.
fn layout_of(store: &Store) -> Result<StoreLayout, BackendError> {
    let Some(content) = store.bucket.get(keys::META)? else {
        if store.options.legacy_layout || !legacy_stacks(store)?.is_empty() {
            return Ok(StoreLayout::Legacy);
        }
        store.bucket.put(keys::META, b"version: 1\n")?;
        return Ok(StoreLayout::Project);
    };
    let corrupt = |detail: String| BackendError::CorruptMeta { detail };
    let text = String::from_utf8(content).map_err(|error| corrupt(error.to_string()))?;
    let document = yaml::parse(&text).map_err(|error| corrupt(error.to_string()))?;
    let root = document.root.as_ref().and_then(yaml::Node::as_mapping);
    match root
        .and_then(|root| root.get("version"))
        .and_then(yaml::Node::as_scalar)
    {
        Some(Resolved::Integer(0)) => Ok(StoreLayout::Legacy),
        Some(Resolved::Integer(1)) => Ok(StoreLayout::Project),
        Some(Resolved::Integer(version)) => Err(BackendError::UnsupportedMeta { version }),
        _ => Err(corrupt("`version` is missing".to_owned())),
    }
}
