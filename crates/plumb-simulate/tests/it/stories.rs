//! Stories that failed once, as the simulation found and shrank them.

use plumb_simulate::coverage::Coverage;
use plumb_simulate::simulate::{Care, run};
use plumb_simulate::story::Story;

/// Runs a story in many orders of events.
#[track_caller]
fn holds(text: &str) {
    let story: Story = text.parse().expect("it is a story");
    for order in 0..40 {
        let mut story = story.clone();
        for operation in &mut story.operations {
            operation.seed += order;
        }
        if let Err(failed) = run(&story, Care::Full, &mut Coverage::default()) {
            panic!(
                "operation {}: {}\n\n{story}",
                failed.operation, failed.violation
            );
        }
    }
}

/// The step that outputs belong to is remembered although its marker comes before the new state.
#[test]
fn a_component_replaced_delete_first_may_register_outputs() {
    holds(
        "up
           Other f
           Thing g parent=f
           Group d parent=g
         up
           Other f .r=2
           Thing g parent=f deleted-with=f
           Group d out=x:1 parent=g dbr=yes",
    );
}

/// What comes back plain from a read is secret if its input is.
#[test]
fn outputs_stay_secret_through_a_refresh() {
    holds(
        "up
           Thing c .fresh=2 .v=!2
         up
           stop crash 3
         refresh
         up refresh
           Thing c .v=!2",
    );
}

/// The live copy of a resource is deleted although the refresh found its old copy gone.
#[test]
fn a_copy_that_is_gone_says_nothing_about_the_live_one() {
    holds(
        "up
           Thing i .fresh=1
         up
           fail delete i unknown
           config test:r 0
           Thing i
         up",
    );
}

/// What was deleted for its replacement is not asked about again; its provider may be gone.
#[test]
fn dependents_that_are_deleted_already_are_not_compared() {
    holds(
        "up
           Thing e .r=3
           Thing h .r=$e.r
         up
           fail create j clean
           config test:dbr 2
           config test:r 0
           Thing j
         up
           Thing e",
    );
}

/// A provider that its plugin wants deleted first stays while the old half of another replacement needs it.
#[test]
fn a_provider_outlives_old_copies_that_need_it() {
    holds(
        "up
           Thing i
         up
           config test:dbr 1
           config test:r 0
           Thing h
           Thing i version=1.0.0",
    );
}

/// COMP-03, COE-01: depending on a component is depending on what is below it, also when its deletion fails.
#[test]
fn what_a_kept_resource_needs_through_a_component_is_kept() {
    holds(
        "up
           Group d
           P.test b parent=d
           Thing c deps=d
           P.test a .v=$c.r protect=yes
         up",
    );
}

/// COMP-03: the component itself need not go for that.
#[test]
fn what_is_below_a_component_that_stays_goes_after_its_dependents() {
    holds(
        "up
           Group g
           Other a parent=g
           Thing j replace-with=g protect=yes
         up
           Group g",
    );
}

/// COE-01: what a protected resource needs stays, through what is deleted in vain.
#[test]
fn the_dependencies_of_a_protected_resource_are_kept() {
    holds(
        "up
           Thing f
           Thing e .w=$f.v protect=yes
         up
           Thing i
           Thing j .w=$i.v
           Thing f replace-with=j
         up continue
           Thing j",
    );
}
