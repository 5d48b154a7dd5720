//! Checks of a store that is opened after a crash.

use std::path::Path;
use std::sync::Arc;

use plumb_state::file::Deployment;

use super::model::{Model, Stacks, State};
use super::simulated::{Image, SimulatedDisk};
use super::states::Crash;
use super::{backend, block_on, created, history_record, stack, state_of};
use crate::backend::Backend;
use crate::error::BackendError;
use crate::file_backend::FileBackend;
use crate::recovery::{Note, SetAsideReason};
use crate::summary::StackFilter;

/// Findings after a crash.
pub(super) struct Found {
    pub(super) stacks: Vec<(String, State, usize)>,
    /// Whether an unreadable lock had to be cancelled.
    pub(super) is_cancelled: bool,
}

/// Checks that later processes find a state allowed by the model, and can continue.
///
/// 1. Each stack is read without taking it: its state is allowed by the model, and passes the integrity check.
/// 2. An update begins, and recovers that state. No journal is set aside.
/// 3. The update records a new resource and ends; the state then contains it.
/// 4. The next update finds nothing to recover.
/// 5. A stack whose removal was acknowledged can be restored, with its last state.
pub(super) fn check(crash: &Crash, model: &Model) -> Result<Found, String> {
    let disk = SimulatedDisk::new(&without_processes(&crash.image), None);
    let backend = backend(Arc::new(disk)).map_err(|error| chain("cannot be opened", &error))?;
    let stacks = backend.stack_names(&StackFilter::default());
    let stacks = stacks.map_err(|error| chain("cannot be listed", &error))?;
    let mut found = Found {
        stacks: Vec::new(),
        is_cancelled: false,
    };
    for stack in stacks {
        let name = stack.stack.to_string();
        let state = read(&backend, &name)?;
        let updates = backend.history(&stack, None);
        let updates = updates.map_err(|error| chain("has no history", &error))?;
        found.stacks.push((name, state, updates.len()));
    }
    // The history is moved object by object, so a rename may be half done.
    let counts = crash.is_kill && model.is_settled();
    let allowed = |possible: &Stacks| allows(possible, &found.stacks, counts);
    if !model.possible().any(allowed) {
        let known: Vec<&Stacks> = model.possible().collect();
        return Err(format!("found {:?}, known are {known:?}", found.stacks));
    }
    for (name, state, _) in &found.stacks {
        let is_cancelled =
            go_on(&backend, name, state, crash).map_err(|text| format!("stack {name} {text}"))?;
        found.is_cancelled |= is_cancelled;
    }
    if model.is_settled() {
        for (name, state) in &model.removed {
            restore(&backend, name, state, crash).map_err(|text| format!("stack {name} {text}"))?;
        }
    }
    Ok(found)
}

/// Restores a removed stack, unless there is another stack of that name by now.
fn restore(backend: &FileBackend, name: &str, state: &State, crash: &Crash) -> Result<(), String> {
    let stack = stack(name);
    let exists = backend.stack_exists(&stack);
    if exists.map_err(|error| chain("cannot be looked for", &error))? {
        return Ok(());
    }
    match backend.restore_stack(&stack) {
        Ok(_) => {}
        // The lock of the removal, torn by a power failure.
        Err(BackendError::Locked { .. }) if crash.has_torn_locks => return Ok(()),
        Err(error) => return Err(chain("cannot be restored", &error)),
    }
    let restored = read(backend, name)?;
    if restored == *state {
        Ok(())
    } else {
        Err(format!(
            "was {state:?} when it was removed, and is {restored:?}"
        ))
    }
}

fn allows(possible: &Stacks, found: &[(String, State, usize)], counts: bool) -> bool {
    possible.len() == found.len()
        && found.iter().all(|(name, state, updates)| {
            possible
                .get(name)
                .is_some_and(|known| known.allows(state, counts.then_some(*updates)))
        })
}

/// State of a stack, read without taking the stack.
fn read(backend: &FileBackend, name: &str) -> Result<State, String> {
    let loaded = backend.load(&stack(name));
    let loaded = loaded.map_err(|error| chain("cannot be read", &error))?;
    let snapshot = loaded.opaque();
    if let Some(snapshot) = snapshot {
        let verified = snapshot.verify();
        verified.map_err(|error| format!("{name} does not verify: {error}"))?;
        for resource in snapshot.resources.iter().filter(|it| it.kind.is_custom()) {
            let id = format!("id-{}", resource.urn.name());
            if resource.id.as_str() != id {
                return Err(format!("{} has lost its id", resource.urn));
            }
        }
    }
    Ok(state_of(snapshot))
}

fn go_on(backend: &FileBackend, name: &str, state: &State, crash: &Crash) -> Result<bool, String> {
    let stack = stack(name);
    let mut notes = Vec::new();
    let mut is_cancelled = false;
    let update = match backend.begin_update(&stack, "after") {
        // A power failure may leave an unreadable lock, whose owner is unknown.
        Err(BackendError::Locked { locks })
            if crash.has_torn_locks && locks.iter().all(|lock| lock.content.is_none()) =>
        {
            is_cancelled = true;
            let cancelled = backend.cancel(&stack);
            notes = cancelled
                .map_err(|error| chain("cannot be cancelled", &error))?
                .notes;
            backend.begin_update(&stack, "after")
        }
        begun => begun,
    };
    let update = update.map_err(|error| chain("cannot be updated", &error))?;
    notes.extend(update.notes().iter().cloned());
    if let Some(note) = notes.iter().find(|note| !is_harmless(note, crash)) {
        return Err(note.to_string());
    }
    let base = state_of(update.base().latest.as_ref().map(Deployment::opaque));
    if base != *state {
        return Err(format!("was {state:?} when it was read, and is {base:?}"));
    }
    let seq = update.record(vec![created("probe")]);
    let durable = seq.and_then(|seq| block_on(update.wait(seq)));
    durable.map_err(|error| format!("records nothing: {error}"))?;
    let finished = update.finish(None, Some(&history_record()));
    let finished = finished.map_err(|error| chain("cannot end", &error))?;
    if let Some(error) = finished.history.or(finished.backup) {
        return Err(chain("has no history", &error));
    }
    let mut expected = state.clone();
    expected.resources.insert("probe".to_owned());
    let after = read(backend, name)?;
    if after != expected {
        return Err(format!("was {state:?}, and is {after:?} after an update"));
    }
    let next = backend.begin_update(&stack, "next");
    let next = next.map_err(|error| chain("cannot be updated twice", &error))?;
    match next.notes() {
        [] => Ok(is_cancelled),
        notes => Err(format!("is recovered twice: {notes:?}")),
    }
}

/// Whether a note is acceptable. A gap in a journal is possible only in parts without a sync; if the header is in the
/// gap, nothing can be read.
fn is_harmless(note: &Note, crash: &Crash) -> bool {
    match note {
        Note::SetAside { reason, .. } => {
            crash.has_gap && matches!(reason, SetAsideReason::Damaged | SetAsideReason::Unreadable)
        }
        _ => true,
    }
}

/// Disk after the death of the process that holds the locks.
pub(super) fn without_processes(image: &Image) -> Image {
    let mut image = image.clone();
    let own = format!(r#""pid":{},"startTime""#, std::process::id());
    let dead = format!(r#""pid":{},"startTime""#, i32::MAX);
    for (path, content) in &mut image.files {
        if path.starts_with(Path::new("/store/.pulumi/locks"))
            && let Ok(text) = std::str::from_utf8(&content.bytes)
        {
            content.bytes = text.replace(&own, &dead).into_bytes();
        }
    }
    image
}

fn chain(what: &str, error: &BackendError) -> String {
    let mut text = format!("{what}: {error}");
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text += ": ";
        text += &error.to_string();
        cause = error.source();
    }
    text
}
