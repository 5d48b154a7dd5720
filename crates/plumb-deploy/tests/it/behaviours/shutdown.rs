//! SHUTDOWN: programs that wait for the end of the run, so that their functions can be called until then.

use plumb_deploy::Effect;
use plumb_deploy::request::{Outcome, Reply};

use crate::world::{Fault, Ran, for_orders, res, wait};

/// Where the wait of a program is answered, and where the run ends, among all effects.
fn ends(ran: &Ran) -> (Option<usize>, Option<usize>) {
    let position = |is_it: fn(&Effect) -> bool| ran.effects.iter().flatten().position(is_it);
    let done = |effect: &Effect| {
        matches!(
            effect,
            Effect::Reply {
                reply: Reply::Done,
                ..
            }
        )
    };
    let journaled = |effect: &Effect| matches!(effect, Effect::Journal(_));
    let last_entry = ran
        .effects
        .iter()
        .flatten()
        .enumerate()
        .filter(|(_, it)| journaled(it));
    (position(done), last_entry.last().map(|(at, _)| at))
}

/// SHUTDOWN-01
#[test]
fn the_wait_ends_when_everything_is_done() {
    for_orders(|world| {
        let program = [res("a"), res("gone"), wait("end").after("a").after("gone")];
        world.up(&program).succeeded();
        // What is deleted at the end is done before, too.
        let ran = world.up(&[res("a"), wait("end").after("a")]);
        ran.succeeded();
        assert_eq!(ran.steps("gone"), ["delete"]);
        let (answered, last_entry) = ends(&ran);
        assert!(answered.unwrap() > last_entry.unwrap());
        // A program that does not wait ends as well.
        world.up(&[]).succeeded();
    });
}

/// SHUTDOWN-02
#[test]
fn a_failed_run_never_gets_to_the_wait() {
    for_orders(|world| {
        world.cloud.fail("create", "a", Fault::Clean);
        let ran = world.up(&[res("a"), wait("end").after("a")]);
        ran.failed("create of a failed");
        assert!(!ran.known.has("a") && !ran.known.has("end"));
    });
}

/// SHUTDOWN-03
#[test]
fn with_continue_on_error_the_registration_fails_and_the_wait_ends() {
    for_orders(|world| {
        world.cloud.fail("create", "a", Fault::Clean);
        for waits in [true, false] {
            let mut program = vec![res("a")];
            if waits {
                program.push(wait("end").after("a"));
            }
            let ran = world.up_with(&program, |options| options.continue_on_error = true);
            ran.failed("create of a failed");
            assert_eq!(ran.reply("a").outcome, Outcome::Failed);
            assert_eq!(ran.known.done.contains("end"), waits);
        }
    });
}
