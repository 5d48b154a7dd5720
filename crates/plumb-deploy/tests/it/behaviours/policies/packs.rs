//! Packs as plugins: loading, order of answers, failures, interrupts.

use plumb_events::{Event, OperationResult};
use plumb_resource::policy::EnforcementLevel::Advisory;

use super::{is_before, nothing_was_done};
use crate::world::{for_orders, pack, res, violation};

/// POLICY-02
#[test]
fn packs_are_loaded_before_the_run_does_anything_and_listed_in_its_summary() {
    for_orders(|world| {
        world.packs = vec![pack("house").at("packs/house"), pack("cloud")];
        let ran = world.up(&[res("a")]);
        ran.succeeded();
        assert!(is_before(&ran, "load", "prelude"));
        assert!(is_before(&ran, "load", "step a"));
        let Some(Event::Summary(summary)) = ran
            .events
            .iter()
            .find(|event| matches!(event, Event::Summary(_)))
        else {
            panic!("no summary");
        };
        let packs = summary.policy_packs.iter();
        let packs: Vec<_> = packs.map(|(name, version)| (&**name, &**version)).collect();
        assert_eq!(
            packs,
            [("cloud", "1.0.0"), ("house|local|packs/house", "1.0.0")]
        );
    });
}

/// POLICY-06
#[test]
fn a_pack_that_fails_ends_the_run_before_anything_is_done() {
    let cases = [
        ("remediate", "failed to run remediation: it broke"),
        ("analyze", "failed to run policy: it broke"),
    ];
    for (operation, message) in cases {
        for_orders(|world| {
            world.packs = vec![pack("fine"), pack("house").fails(operation, "it broke")];
            world.up(&[res("a")]).failed(message);
            nothing_was_done(world);
            world.preview(&[res("a")]).failed(message);
        });
    }
}

/// POLICY-09
#[test]
fn an_interrupt_does_not_wait_for_packs() {
    for_orders(|world| {
        world.packs = vec![pack("house")];
        world.interrupt_after = Some(1);
        let ran = world.up(&[res("a"), res("b")]);
        assert_eq!(ran.outcome.result, OperationResult::Canceled);
        assert_eq!(ran.outcome.error.as_deref(), Some("canceled"));
        assert!(ran.consultations().iter().all(|it| !it.contains("Stack")));
    });
}

/// POLICY-13
#[test]
fn violations_stand_in_the_order_of_packs_whoever_answers_first() {
    for_orders(|world| {
        let strict = |name| {
            pack(name)
                .judges_stack(move |_| vec![violation(name, Advisory)])
                .finds("a", vec![violation(name, Advisory)])
        };
        world.packs = vec![strict("z"), strict("m"), strict("a")];
        let ran = world.up(&[res("a")]);
        ran.succeeded();
        assert_eq!(
            ran.violated(),
            [
                "advisory z a",
                "advisory m a",
                "advisory a a",
                "advisory z proj-dev",
                "advisory m proj-dev",
                "advisory a proj-dev"
            ]
        );
    });
}

/// POLICY-14, POLICY-15
#[test]
fn a_pack_that_cannot_be_loaded_fails_the_operation_with_the_reason() {
    for_orders(|world| {
        world.packs_fail = Some("failed to download policy pack: no such host".to_owned());
        let ran = world.up(&[res("a")]);
        ran.refused("failed to download policy pack: no such host");
        assert_eq!(world.cloud.take_calls(), [""; 0]);
    });
}

/// POLICY-02
#[test]
fn operations_without_a_program_ask_no_packs() {
    for_orders(|world| {
        world.up(&[res("a")]).succeeded();
        world.packs = vec![pack("house")];
        let ran = world.refresh();
        ran.succeeded();
        assert_eq!(ran.consultations(), [""; 0]);
        // A destroy has nothing to put to them but the empty stack.
        let ran = world.destroy();
        ran.succeeded();
        assert_eq!(ran.consultations(), ["analyzeStack 0 stack"]);
        assert_eq!(ran.analyzed_stack().len(), 0);
    });
}
