//! What generation has found: seeds, and orders of decisions that are legal.

use plumb_simulate::found::stories;

use crate::stories::{holds, holds_in};

/// Every seed that has failed, of those that have no test of their own: most are about orders of decisions.
#[test]
fn what_generation_has_found_holds() {
    let stories = stories(include_str!("found.txt")).expect("they are stories");
    assert!(stories.len() > 30);
    for (seed, story) in stories {
        println!("{seed}");
        holds_in(10, &story);
    }
}

/// Stories in which several orders are legal, and the model once knew only some of them: decisions are taken in the order
/// of arrivals and answers, not of steps.
#[test]
fn decisions_may_be_taken_in_any_legal_order() {
    for text in ORDERS {
        holds(text);
    }
}

const ORDERS: &[&str] = &[
    // A run of targets is refused early; a resource was only passed on by then.
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
    // A delete-first replacement begins before what used the resource is decided.
    "up
       Stack stack
       Other e
       Other j .v=$e.r
     up parallel=16
       fail update j unknown
       Stack stack
       Other e .r=3 dbr=yes
       Other j .v=0",
    // Aliases are resolved when a registration comes, not when it is decided.
    "up
       Thing g
       Pack c parent=g
     up
       P.test i
       Other b
       Other g alias=type:Thing
       Other h .v=$b.r
       Pack c alias=parent:Other::g",
    // Whether a provider has been registered yet depends on which registration comes first.
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
    // A destroy with the program, and something protected in it.
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
    // What a destroy registers goes after what is left under a former name.
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
    // What refers to a component needs everything below it, also if it stands below it itself.
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
