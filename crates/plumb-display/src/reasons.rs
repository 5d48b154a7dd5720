//! Reasons for steps, as text derived from their events.

use ecow::EcoString;
use plumb_events::Metadata;
use plumb_resource::{ResourceState, StepOp};

use crate::options::Action;
use crate::steps::replacing_paths;

/// Reasons for a step, the most specific first; each is a clause without a full stop.
pub(crate) fn causes(metadata: &Metadata, action: Action) -> Vec<String> {
    match metadata.op {
        StepOp::Same => vec!["nothing differs between the program and the state".to_owned()],
        StepOp::Create => vec!["the program has it and the state does not".to_owned()],
        StepOp::Import | StepOp::ImportReplacement => {
            vec!["it exists already and is to be taken over".to_owned()]
        }
        StepOp::Read | StepOp::ReadReplacement => {
            vec!["the program reads it; it is managed elsewhere".to_owned()]
        }
        StepOp::Update | StepOp::Refresh if action == Action::Refresh => {
            vec!["what exists differs from what the state says".to_owned()]
        }
        StepOp::Refresh => vec!["it is read to find out what exists".to_owned()],
        StepOp::Update => update_causes(metadata),
        StepOp::Replace | StepOp::CreateReplacement | StepOp::DeleteReplaced => {
            replacement_causes(metadata)
        }
        StepOp::Delete | StepOp::Discard | StepOp::DiscardReplaced => {
            vec![deletion_cause(metadata, action)]
        }
        StepOp::RemovePendingReplace => {
            vec!["an earlier run has deleted it to replace it".to_owned()]
        }
    }
}

fn update_causes(metadata: &Metadata) -> Vec<String> {
    let mut causes: Vec<String> = differing_paths(metadata)
        .iter()
        .map(|path| format!("`{path}` differs"))
        .collect();
    if let (Some(old), Some(new)) = (&metadata.old, &metadata.new) {
        causes.extend(provider_change(old, new));
        let flags = [
            ("protect", old.protect != new.protect),
            (
                "retainOnDelete",
                old.retain_on_delete != new.retain_on_delete,
            ),
        ];
        let changed = flags.iter().filter(|(_, changed)| *changed);
        causes.extend(changed.map(|(name, _)| format!("the option `{name}` differs")));
        if !old.init_errors.is_empty() {
            causes.push(format!(
                "it was not ready when it was made: {}",
                old.init_errors.join("; ")
            ));
        }
    }
    if causes.is_empty() {
        causes.push("its provider says that it differs, and not in what".to_owned());
    }
    causes
}

/// Paths that differ: those reported by the provider, or else those found by the engine.
pub(crate) fn differing_paths(metadata: &Metadata) -> Vec<EcoString> {
    match &metadata.detailed_diff {
        Some(paths) if !paths.is_empty() => paths.keys().cloned().collect(),
        _ => metadata.diffs.clone(),
    }
}

fn provider_change(old: &ResourceState, new: &ResourceState) -> Option<String> {
    let (old, new) = (old.provider.as_ref()?, new.provider.as_ref()?);
    (old.urn() != new.urn()).then(|| {
        format!(
            "its provider changes from `{}` to `{}`",
            old.urn().name(),
            new.urn().name()
        )
    })
}

fn replacement_causes(metadata: &Metadata) -> Vec<String> {
    let states = metadata.old.as_deref().zip(metadata.new.as_deref());
    let paths = if metadata.op == StepOp::DeleteReplaced {
        metadata.keys.clone()
    } else {
        replacing_paths(metadata)
    };
    let mut causes: Vec<String> = paths
        .iter()
        .map(|path| replacement_cause(path, metadata))
        .collect();
    let Some((old, new)) = states else {
        return with_default(causes);
    };
    if causes.is_empty() && old.replacement_trigger != new.replacement_trigger {
        causes.push("its trigger changes (option `replacementTrigger`)".to_owned());
    }
    if causes.is_empty() && old.pending_replacement {
        causes.push(
            "an earlier run has deleted it to replace it, and did not get further".to_owned(),
        );
    }
    with_default(causes)
}

fn with_default(mut causes: Vec<String>) -> Vec<String> {
    if causes.is_empty() {
        causes.push(
            "something that it needs is replaced, and the old one must go before the new one is made"
                .to_owned(),
        );
    }
    causes
}

/// Reason for a key that requires a replacement: usually a property, or one of the engine's own keys.
fn replacement_cause(path: &str, metadata: &Metadata) -> String {
    let is_property = |state: &Option<plumb_events::StateView>| {
        state
            .as_ref()
            .is_some_and(|state| state.inputs.contains_key(path))
    };
    let is_input = is_property(&metadata.old) || is_property(&metadata.new);
    let states = metadata.old.as_deref().zip(metadata.new.as_deref());
    match path {
        "provider" if !is_input => states
            .and_then(|(old, new)| provider_change(old, new))
            .map_or_else(
                || "its provider changes".to_owned(),
                |change| format!("{change}, which cannot take it over"),
            ),
        "id" if !is_input => {
            if states.is_some_and(|(old, _)| old.taint) {
                "it is tainted".to_owned()
            } else {
                "that was asked for (`--replace`, `--target-replace`), or its identity changes"
                    .to_owned()
            }
        }
        "replaceWith" => {
            "a resource that it goes together with is replaced (option `replaceWith`)".to_owned()
        }
        "deletedWith" => {
            "the resource that it lives in is replaced (option `deletedWith`)".to_owned()
        }
        path => {
            let asked = states.is_some_and(|(_, new)| {
                let top = path.split(['.', '[']).next().unwrap_or(path);
                let names = |asked: &EcoString| asked == path || asked == top || asked == "*";
                new.replace_on_changes.iter().any(names)
            });
            if asked {
                format!("`{path}` changes (option `replaceOnChanges`)")
            } else {
                format!("`{path}` changes, which its provider cannot do in place")
            }
        }
    }
}

fn deletion_cause(metadata: &Metadata, action: Action) -> String {
    let old = metadata.old.as_deref();
    let cause = match action {
        Action::Refresh => "it does not exist any more",
        _ if old.is_some_and(|old| old.delete) => {
            "it was replaced by an earlier run, and the old object is still there"
        }
        Action::Destroy => "everything in the stack is destroyed",
        _ if old.is_some_and(|old| old.snippet_id.is_some()) => {
            "the stack is not to keep it any more"
        }
        Action::Update | Action::Import | Action::Analyze => {
            "the program does not have it any more"
        }
    };
    if old.is_some_and(|old| old.retain_on_delete) {
        return format!("{cause}; the object stays (option `retainOnDelete`)");
    }
    cause.to_owned()
}
