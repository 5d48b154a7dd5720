//! Comparison of a run with the model's prediction.

use std::collections::BTreeMap;
use std::sync::Arc;

use plumb_deploy::request::Outcome;
use plumb_events::OperationResult;
use plumb_resource::{ResourceState, StepOp};
use plumb_state::Snippet;

use super::{Prediction, passes_on};
use crate::cloud::Cloud;
use crate::story::Operation;
use crate::world::{Mutation, Trace, Violation, World};

/// Compares the result of a run with the prediction; `world` is the world after the run.
pub(super) fn compare(
    world: &World,
    operation: &Operation,
    trace: &Trace,
    cloud: &Cloud,
    prediction: &Prediction,
) -> Result<(), Violation> {
    compare_result(trace, prediction)?;
    compare_mutations(&trace.mutations, &prediction.mutations)?;
    compare_answers(trace, prediction)?;
    compare_results(trace, prediction)?;
    compare_counts(operation, trace, prediction)?;
    if !operation.preview {
        compare_states(&trace.after.resources, &prediction.resources)?;
        super::packages::compare(operation, trace)?;
        compare_snippets(&trace.after.snippets, &prediction.snippets)?;
        if world.cloud.objects() != cloud.objects() {
            let what = format!(
                "objects are {:?}, the model has {:?}",
                world.cloud.objects(),
                cloud.objects()
            );
            return Err(Violation::new("model: cloud", what));
        }
    }
    Ok(())
}

fn compare_result(trace: &Trace, prediction: &Prediction) -> Result<(), Violation> {
    let result = trace.result().unwrap_or(OperationResult::Failed);
    let reasons = &prediction.reasons;
    let legal = match result {
        OperationResult::Succeeded => reasons.is_empty(),
        OperationResult::Failed => !reasons.is_empty(),
        OperationResult::Canceled => trace.interrupted,
    };
    // An interrupt may arrive after all work is done.
    let late = trace.interrupted && result == OperationResult::Succeeded && reasons.len() == 1;
    if legal || late {
        return Ok(());
    }
    let what = format!(
        "{result:?} {:?}; the model's reasons: {reasons:?}",
        trace.errors
    );
    Err(Violation::new("model: result", what))
}

fn compare_mutations(actual: &[Mutation], expected: &[Mutation]) -> Result<(), Violation> {
    let mut left: Vec<&Mutation> = expected.iter().collect();
    for mutation in actual {
        let Some(found) = left.iter().position(|other| *other == mutation) else {
            let what = format!("{mutation:?} is not among {left:?}");
            return Err(Violation::new("model: calls", what));
        };
        left.swap_remove(found);
    }
    match left.first() {
        Some(mutation) => Err(Violation::new(
            "model: calls",
            format!("missing {mutation:?}"),
        )),
        None => Ok(()),
    }
}

fn compare_snippets(actual: &[Snippet], expected: &[Snippet]) -> Result<(), Violation> {
    if actual == expected {
        return Ok(());
    }
    let what = format!("{actual:?} are stored, the model has {expected:?}");
    Err(Violation::new("model: snippets", what))
}

fn compare_answers(trace: &Trace, prediction: &Prediction) -> Result<(), Violation> {
    for (name, answer) in &trace.answers {
        let Some(expected) = prediction.answers.get(name) else {
            let what = format!("{name} is answered {answer:?}, the model does not answer");
            return Err(Violation::new("model: replies", what));
        };
        let is_same = if answer.outcome == Outcome::Success {
            answer == expected
        } else {
            answer.outcome == expected.outcome && answer.urn == expected.urn
        };
        if !is_same {
            let what = format!("{name} is answered {answer:?}, the model says {expected:?}");
            return Err(Violation::new("model: replies", what));
        }
    }
    if trace.result() == Some(OperationResult::Succeeded)
        && let Some(name) = prediction
            .answers
            .keys()
            .find(|name| !trace.answers.contains_key(*name))
    {
        return Err(Violation::new(
            "model: replies",
            format!("{name} is not answered"),
        ));
    }
    Ok(())
}

fn compare_results(trace: &Trace, prediction: &Prediction) -> Result<(), Violation> {
    let wrong = trace
        .results
        .iter()
        .find(|(name, answered)| prediction.results.get(*name) != Some(answered));
    if let Some((name, answered)) = wrong {
        let expected = prediction.results.get(name);
        let what = format!("{name} is answered {answered:?}, the model says {expected:?}");
        return Err(Violation::new("model: replies", what));
    }
    let mut expected = prediction.results.keys();
    let missing = expected.find(|name| !trace.results.contains_key(*name));
    match missing.filter(|_| trace.result() == Some(OperationResult::Succeeded)) {
        Some(name) => {
            let what = format!("method {name} is not answered");
            Err(Violation::new("model: replies", what))
        }
        None => Ok(()),
    }
}

fn compare_counts(
    operation: &Operation,
    trace: &Trace,
    prediction: &Prediction,
) -> Result<(), Violation> {
    let has_begun = trace.outcome.as_ref().is_none_or(|it| it.has_begun);
    let Some(summary) = &trace.summary else {
        if !has_begun {
            return Ok(());
        }
        return Err(Violation::new("events", "there is no summary"));
    };
    let mut actual: BTreeMap<StepOp, u32> = summary.resource_changes.clone();
    let mut expected = prediction.counts.clone();
    actual.retain(|_, count| *count > 0);
    expected.retain(|_, count| *count > 0);
    if passes_on(operation) {
        actual.remove(&StepOp::Same);
        expected.remove(&StepOp::Same);
    }
    if actual != expected {
        let what = format!("the summary is {actual:?}, the model says {expected:?}");
        return Err(Violation::new("model: summary", what));
    }
    Ok(())
}

/// State without the members that the model does not predict.
fn essence(state: &ResourceState) -> ResourceState {
    let mut state = state.clone();
    state.created = None;
    state.modified = None;
    state
        .property_dependencies
        .retain(|_, urns| !urns.is_empty());
    state.dependencies.make_mut().sort();
    state
}

fn compare_states(
    actual: &[Arc<ResourceState>],
    expected: &[Arc<ResourceState>],
) -> Result<(), Violation> {
    let mut left: Vec<ResourceState> = expected.iter().map(|state| essence(state)).collect();
    let mut wrong: Vec<ResourceState> = Vec::new();
    for state in actual {
        let state = essence(state);
        match left.iter().position(|other| *other == state) {
            Some(found) => drop(left.swap_remove(found)),
            None => wrong.push(state),
        }
    }
    if wrong.is_empty() && left.is_empty() {
        return Ok(());
    }
    let what = match (wrong.first(), left.first()) {
        (Some(wrong), Some(_)) => {
            let nearest = left
                .iter()
                .find(|other| other.urn == wrong.urn && other.delete == wrong.delete);
            match nearest {
                Some(nearest) => difference(wrong, nearest),
                None => format!("{wrong:?} is not among {left:?}"),
            }
        }
        (Some(wrong), None) => format!("the state holds {wrong:?}, which the model does not know"),
        (None, _) => format!("the state lacks {:?}", left.first()),
    };
    Err(Violation::new("model: state", what))
}

/// Lines in which two states differ.
fn difference(actual: &ResourceState, expected: &ResourceState) -> String {
    let (left, right) = (format!("{actual:#?}"), format!("{expected:#?}"));
    let (left, right): (Vec<&str>, Vec<&str>) = (left.lines().collect(), right.lines().collect());
    let only = |these: &[&str], those: &[&str]| -> Vec<String> {
        these
            .iter()
            .filter(|line| !those.contains(line))
            .map(|line| line.trim().to_owned())
            .collect()
    };
    format!(
        "{}: state {:?}, model {:?}",
        actual.urn.name(),
        only(&left, &right),
        only(&right, &left)
    )
}
