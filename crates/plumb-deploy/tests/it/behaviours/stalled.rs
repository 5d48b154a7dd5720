//! Runs that nothing can happen to any more, although they have not ended: a defect of the core, which must not become a
//! command that hangs.

use std::collections::BTreeMap;

use jiff::Timestamp;
use plumb_deploy::request::{RegisterRequest, Request};
use plumb_deploy::setup::{Operation, Options, Phase, Setup};
use plumb_deploy::{Deployment, Effect, Event, Outcome, RequestId};
use plumb_events::{Event as EngineEvent, OperationResult};

use crate::world::World;

fn started() -> Deployment {
    let setup = Setup {
        stack: "dev".into(),
        project: "proj".into(),
        config: BTreeMap::new(),
        partly_secret: BTreeMap::new(),
        snapshot: World::new(0).snapshot,
        operation: Operation::Update,
        options: Options::new(Phase::Execute),
        packages: Vec::new(),
        seed: [0; 32],
        plan: None,
    };
    let mut deployment = Deployment::new(setup, Timestamp::UNIX_EPOCH).expect("the base is empty");
    deployment.handle(Timestamp::UNIX_EPOCH, Event::Start);
    deployment
}

fn outcome(effect: &Effect) -> Option<&Outcome> {
    match effect {
        Effect::Finished(outcome) => Some(outcome),
        _ => None,
    }
}

fn outcomes(effects: &[Effect]) -> Vec<&Outcome> {
    effects.iter().filter_map(outcome).collect()
}

/// The run ends at once, its requests are answered, and the error names what waited.
#[test]
fn a_stalled_run_ends_with_an_error_that_names_what_waits() {
    let mut deployment = started();
    let request = RegisterRequest::new("lab:index:Thing", "a", true);
    let register = Event::Request {
        id: RequestId(1),
        request: Request::Register(Box::new(request)),
    };
    let asked = deployment.handle(Timestamp::UNIX_EPOCH, register);
    assert!(outcomes(&asked).is_empty());
    let effects = deployment.handle(Timestamp::UNIX_EPOCH, Event::Stalled);
    let [outcome] = &outcomes(&effects)[..] else {
        panic!("{effects:?}");
    };
    assert_eq!(outcome.result, OperationResult::Failed);
    let said = |effect: &Effect| match effect {
        Effect::Emit(EngineEvent::Diagnostic(said)) => Some(said.message.to_string()),
        _ => None,
    };
    let messages: Vec<String> = effects.iter().filter_map(said).collect();
    let [message, ..] = &messages[..] else {
        panic!("{effects:?}");
    };
    assert!(message.contains("internal error"), "{message}");
    assert!(message.contains("waits for CheckConfig"), "{message}");
    let replies = |effect: &&Effect| {
        matches!(
            effect,
            Effect::Reply {
                id: RequestId(1),
                ..
            }
        )
    };
    assert_eq!(effects.iter().filter(replies).count(), 1);
}

/// Events after the end change nothing.
#[test]
fn a_finished_run_cannot_stall() {
    let mut deployment = started();
    let ended = Event::ProgramEnded(plumb_deploy::ProgramEnd::Finished);
    let effects = deployment.handle(Timestamp::UNIX_EPOCH, ended);
    assert_eq!(outcomes(&effects)[0].result, OperationResult::Succeeded);
    let effects = deployment.handle(Timestamp::UNIX_EPOCH, Event::Stalled);
    assert!(effects.is_empty(), "{effects:?}");
}
