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
