//! Regression tests found by generation: seeds, and legal orders of decisions.

use plumb_simulate::found::stories;

use crate::stories::{holds, holds_in};

/// All failed seeds without a test of their own; most are about the order of decisions.
#[test]
fn what_generation_has_found_holds() {
    let stories = stories(include_str!("found.txt")).expect("they are stories");
    assert!(stories.len() > 30);
    for (seed, story) in stories {
        println!("{seed}");
        holds_in(10, &story);
    }
}

/// Stories with several legal orders, of which the model once knew only some: the order of decisions is that of
/// requests and replies, not of steps.
#[test]
fn decisions_may_be_taken_in_any_legal_order() {
    for text in ORDERS {
        holds(text);
    }
}

const ORDERS: &[&str] = &[
    // A targeted run is refused early, when a resource has only been kept unchanged.
    "up
       Thing i .v=3 .w=1
       Thing c .v=1
       Thing f .w=$i.v
       Thing h .v=$c.v
     up targets=f,i
       Thing b
       Thing c
       Thing a
       Thing f .v=$b.r
       Thing h
       Thing i .v=3 .w=$h.v",
    // The deletion for the replacement of a default provider fails, and the run goes on.
    "up
       Other h
       Thing i
     up refresh run-program continue
       fail delete i clean
       config test:dbr 1
       config test:r 2
       config test:v 0
       Other h
       Thing b .w=$h.r",
    "up
       Thing c
     up refresh run-program continue
       fail delete c clean
       config test:dbr 2
       config test:r 0
       Thing c
       Other i deps=c",
    // A delete-before-replace begins before the dependents of the resource are decided.
    "up
       Stack stack
       Other e
       Other j .v=$e.r
     up parallel=16
       fail update j unknown
       Stack stack
       Other e .r=3 dbr=yes
       Other j .v=0",
    // Aliases are resolved when a registration arrives, not when it is decided.
    "up
       Thing g
       Pack c parent=g
     up
       P.test i
       Other b
       Other g alias=type:Thing
       Other h .v=$b.r
       Pack c alias=parent:Other::g",
    // The order of registrations determines whether a provider has been registered.
    "up
       Other d version=2.0.0
       Thing c
       Thing i .w=$d.oid
     up targets=i
       Stack stack
       Thing i
       Thing c version=1.0.0
       Other d deleted-with=c",
    "up
       Thing g
       Thing b
     up excludes=b
       config test:r 0
       Thing g dbr=yes
       Thing b",
    // A destroy with the program and a protected resource.
    "up
       Thing c
       Thing i deps=c protect=yes
     destroy run-program continue
       Other g
       Thing c parent=g
       Thing i deps=c",
    // A preview refreshes through a provider whose configuration is unknown.
    "up
       Thing d
       P.test i
       Thing b provider=i
     refresh preview run-program
       Thing d
       P.test i .w=$d.r
       Thing b provider=i",
    // The program fails while the old state of a renamed resource is read.
    "up
       Thing e
       Thing j
     refresh run-program
       stop program-fails 7
       Thing e
       Thing b alias=name:j",
    // Resources registered by a destroy are deleted after those left under a former URN.
    "up
       Other a
       Thing f .w=$a.oid
       Thing d
     destroy parallel=16 run-program
       Other g alias=urn:Other::a
       Thing d .w=$g.oid",
    "up
       Thing i
       Thing a protect=yes
       Thing e .v=$i.r parent=a
     destroy run-program
       Other i alias=urn:Thing::i",
    // A reference to a component depends on all of its descendants, even if the dependent is one of them.
    "up
       Pack f
       Pack i parent=f
       Thing d parent=f replace-with=f
       Thing a .w=$d.oid protect=yes
     up",
    "up
       Thing d
       Thing b replace-with=d
       Thing i deleted-with=d
     up
       Thing d .dbr=0 .r=1",
    // The deletion for a replacement waits for a chain that fails.
    "up
       Thing c .v=!0
     up
       before vanish c
       Thing c
     up
       Thing c
       Thing d
       Thing g .v=$d.v
     up continue excludes=g
       Thing c
       Thing d deleted-with=c
       Thing g",
    "up
       Thing g version=1.0.0
       Other a deleted-with=g
       Thing j parent=a
     up
       config test:dbr 2
       config test:r 1
       config two:v 1
       Thing f
       Thing j version=1.0.0
       Other i",
];
