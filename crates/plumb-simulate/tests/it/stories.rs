//! Stories that failed in the past, found and shrunk by the simulation.

use plumb_simulate::found;
use plumb_simulate::story::Story;

/// Runs a story in many orders of events.
#[track_caller]
pub(crate) fn holds(text: &str) {
    let story: Story = text.parse().expect("it is a story");
    holds_in(40, &story);
}

/// Runs a story in that many orders of events.
#[track_caller]
pub(crate) fn holds_in(orders: u64, story: &Story) {
    if let Err(failed) = found::holds(story, orders) {
        let (operation, violation) = (failed.operation, failed.violation);
        panic!("operation {operation}: {violation}\n\n{story}");
    }
}

/// The step of registered outputs is known although its marker comes before the new state.
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

/// Outputs that a read returns as plain values are secret if their inputs are.
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

/// The live copy of a resource is deleted even if the refresh found the object of its old copy missing.
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

/// A resource deleted for its replacement is not compared again; its provider may be deleted too.
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

/// A provider with delete before replace stays while the old half of another replacement needs it.
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

/// COMP-03, COE-01: a dependency on a component is one on its descendants, also if its deletion fails.
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

/// COMP-03: the component itself need not be deleted for that.
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

/// COE-01: the dependencies of a protected resource are kept, also through resources whose deletion fails.
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

/// Inputs from a read are compared in their recorded form, including secrets.
#[test]
fn a_refresh_of_secrets_finds_nothing_changed() {
    holds(
        "up
           Thing j .v=!3
           Thing a .always=0 .v=$j.v
         refresh
         refresh legacy-refresh-diff",
    );
}

/// RBU-01: a resource that requires a refresh before updates is read before it is destroyed.
#[test]
fn what_asks_for_it_is_read_before_a_destroy() {
    holds(
        "up
           Other a .fresh=0
         destroy",
    );
}

/// The default version of a package whose providers all have a version is the highest of them.
#[test]
fn versions_of_default_providers_come_from_the_state() {
    holds(
        "up
           Other h version=2.0.0
           Thing i version=1.0.0
         up
           Thing f
         up
           P.test i",
    );
}

/// An update of a component removes outputs that the program does not register again.
#[test]
fn an_updated_component_has_the_outputs_of_this_run() {
    holds(
        "up
           Thing h
           Thing e .v=$h.oid
           Pack a out=x:$e.v
         up
           Pack a .w=1",
    );
}

/// The outputs of a partial update are as secret as its inputs, although the state keeps the former inputs.
#[test]
fn a_half_done_update_keeps_secret_what_it_was_given() {
    holds(
        "up
           Thing d
           Other h .w=!$d.oid
         up
           fail update h partial
           Thing d .v=2
           Other h .w=$d.v",
    );
}

/// UPD-01: a read continues a resource below the former URN of its parent.
#[test]
fn a_read_follows_its_renamed_parent() {
    holds(
        "up
           Thing h
           Thing f parent=h
         up
           Thing e
           Thing h alias=parent:none parent=e
           Thing f read=planted-1 parent=h",
    );
}

/// A component does not inherit the default provider of its parent to children.
#[test]
fn default_providers_are_not_inherited_through_components() {
    holds(
        "up
           Thing c version=2.0.0
           Group e parent=c
           Other j
           Thing g parent=e",
    );
}

/// A provider does not inherit the provider of its parent to children.
#[test]
fn providers_inherit_no_provider() {
    holds(
        "up
           Thing g
           P.test e parent=g
           Thing f parent=e version=2.0.0",
    );
}

/// A copy pending deletion is deleted with its provider, which does not affect the live one.
#[test]
fn an_old_copy_that_makes_way_has_no_replacement() {
    holds(
        "up seed=4 parallel=1
           Thing j
           Two b .v=!$j.oid
           P.two h .v=!$b.oid protect=yes
           Other i
         up seed=4 parallel=1
           Thing j .v=!1
           P.two h .r=!$j.v protect=yes
           Other i read=planted-3
         up seed=4 parallel=1
           config test:dbr 2
           config test:r 2
           Thing i",
    );
}

/// COE-01: a resource that a refresh found missing has no dependencies any more.
#[test]
fn what_a_refresh_found_gone_keeps_nothing() {
    holds(
        "up
           Thing j
           Thing i .w=$j.oid
         up refresh continue
           before vanish i
           fail create i clean
           Thing i",
    );
}

/// Dependents of a replaced default provider are deleted with it, whichever resource needs the provider first.
#[test]
fn dependents_of_a_default_provider_that_is_replaced_go_with_it() {
    holds(
        "up
           Thing h
           Two b deleted-with=h
           Thing j
         up
           config test:dbr 2
           config test:r 2
           Two b
           Thing j",
    );
}

/// A failed run does not show its order of decisions; some order must explain it.
#[test]
fn a_protected_dependent_may_be_decided_late() {
    holds(
        "up
           Other b
           Thing i replace-with=b
         up
           before protect i
           before taint b
           Thing i
           Other b dbr=yes",
    );
}

/// The outputs of the stack are recorded before the state is rebuilt after a refresh.
#[test]
fn a_refresh_with_program_records_outputs_of_the_stack() {
    holds(
        "up
           Stack stack
         refresh run-program
           Stack stack out=x:2
           P.test h",
    );
}

/// A read below a skipped resource is not recorded.
#[test]
fn a_read_below_something_left_out_is_left_out() {
    holds(
        "refresh run-program
           Thing e
           Other a read=planted-1 parent=e
         destroy run-program
           Thing e
           Other a read=planted-1 parent=e",
    );
}

/// A resource renamed in a refresh has its new URN from then on.
#[test]
fn a_refresh_with_program_renames() {
    holds(
        "up
           Thing j
         refresh run-program
           Other j alias=type:Thing",
    );
}

/// The old half of an import is renamed too.
#[test]
fn an_import_may_rename() {
    holds(
        "up
           Thing h
         up
           Thing g
           Thing h alias=parent:none parent=g import=planted-1 replace-on=v",
    );
}

/// STEPGEN-03, IMPORT-17: outputs of an imported object are as secret as the inputs in the program.
#[test]
fn an_imported_object_has_the_secrets_of_the_program() {
    holds(
        "up
           Thing h .v=!3 import=planted-3",
    );
}

/// An import of a resource that was deleted for its provider is its replacement.
#[test]
fn an_import_follows_a_deletion_for_its_provider() {
    holds(
        "up
           Thing f
         up
           config test:dbr 2
           config test:r 0
           config test:v 1
           Thing f import=planted-5",
    );
}

/// TARGET-14: imports must not refer to skipped resources either.
#[test]
fn a_targeted_import_depends_on_nothing_left_out() {
    holds(
        "up targets=d
           Thing c
           Other d import=planted-3 replace-with=c
         up excludes=b
           Other b
           Other e .v=$b.oid import=planted-4",
    );
}

/// A reply is not affected by the resource having been kept unchanged before.
#[test]
fn a_resource_left_out_is_answered_for_itself() {
    holds(
        "up
           Thing h
           Thing a .w=$h.v
         up targets=a
           Thing c
           Thing e .v=!$c.oid
           Thing a",
    );
}

/// TARGET-16: dependents of a renamed target are targeted.
#[test]
fn dependents_of_a_renamed_target_go() {
    holds(
        "up
           Thing a
           Other j .v=$a.v
         up target-dependents targets=c
           Thing c alias=name:a",
    );
}

/// Resources kept by a destroy need no refresh before.
#[test]
fn what_a_destroy_excludes_is_not_read() {
    holds(
        "up
           Two e .fresh=2
           Thing a .v=$e.oid
           P.two f .v=$a.oid
         destroy excludes=f",
    );
}

/// The former dependencies of a targeted resource stay before it.
#[test]
fn what_an_included_resource_needed_is_passed_on() {
    holds(
        "up
           P.test h
           Thing f provider=h
         up excludes=a
           Thing f",
    );
}

/// A resource kept unchanged must not depend on its new dependents.
#[test]
fn no_circles_through_what_is_left_as_it_is() {
    holds(
        "up
           Thing c
           Thing i .w=$c.v
         up targets=c
           Thing i
           Thing c .w=$i.oid",
    );
}

/// A cycle through a resource that was renamed.
#[test]
fn no_circles_through_former_names() {
    holds(
        "up
           Thing j
           Thing b .v=$j.v
         up excludes=b
           Thing b
           Thing j alias=name:b alias=urn:Thing::j parent=b",
    );
}

/// A cycle through a provider.
#[test]
fn no_circles_through_providers() {
    holds(
        "up
           P.test b
           Thing g provider=b
           Two d .v=$g.oid
           Thing h replace-with=d
         up targets=a
           Thing h
           P.test b .w=$h.oid",
    );
}

/// A replaced provider stays while a resource kept unchanged refers to it.
#[test]
fn a_replaced_provider_stays_for_what_is_passed_on() {
    holds(
        "up
           Thing h
           Other e replace-with=h
         up excludes=g
           config test:r 1
           Other e",
    );
}

/// A resource that a destroy deleted for its provider is not deleted again.
#[test]
fn a_destroy_with_program_deletes_once() {
    holds(
        "up
           Thing f
         destroy run-program
           config test:dbr 2
           config test:r 2
           Thing f",
    );
}

/// A refresh continues with the existing resources, whatever their new dependencies are.
#[test]
fn a_refresh_with_program_goes_on_after_a_failed_read() {
    holds(
        "up
           Thing h
           Thing a
         refresh run-program continue
           fail read h clean
           Thing h
           Thing a .w=$h.r",
    );
}

/// Two resources that claim the same former URN are refused, also in a refresh.
#[test]
fn former_names_are_claimed_once() {
    holds(
        "up
           Thing f
         up refresh run-program
           Thing e alias=parent:none alias=urn:Thing::f
           Thing f
         refresh run-program
           Thing e alias=parent:none alias=urn:Thing::f
           Thing f",
    );
}

/// PROV-07: a provider that is renamed and replaced is another provider.
#[test]
fn a_renamed_provider_may_be_replaced() {
    holds(
        "up
           P.test f
           Thing j provider=f
         up
           Thing d
           P.test f .r=0 alias=parent:none parent=d
           Thing j provider=f",
    );
}

/// The dependencies of an old copy are kept with it, wherever the live copy is.
#[test]
fn excluded_copies_keep_what_they_need() {
    holds(
        "up
           Other f
           Thing i .v=$f.v
         up target-dependents targets=b
           Other b .v=0
           Thing i .w=!$b.v replace-on=*
           Thing a .v=$i.v
         up excludes=a",
    );
}

/// ALIAS-07: an alias of a child is resolved below the current and the former URN of its parent.
#[test]
fn aliases_of_children_of_renamed_parents() {
    holds(
        "up
           Thing j
           Thing a parent=j
         up
           Thing a alias=parent:Thing::a alias=parent:none alias=urn:Thing::j
           Thing c alias=parent:none alias=name:a parent=a
           Thing f .v=$c.v",
    );
}

/// A dependent of a failed resource is skipped, even if it is untargeted.
#[test]
fn what_is_left_out_may_be_skipped() {
    holds(
        "up
           Thing g .w=1
         up
           before vanish g
           Thing g
         up continue excludes=d
           Thing g
           Other d .w=$g.v",
    );
}

/// Providers belong to every operation; if they depend on a target, so do their users.
#[test]
fn what_a_following_provider_provides_follows() {
    holds(
        "up target-dependents targets=d
           Thing d
           P.test b .v=$d.v
           Other a provider=b",
    );
}

/// An import may be interrupted before its comparison.
#[test]
fn an_import_may_be_interrupted() {
    holds(
        "refresh run-program
           Thing d
         up
           stop interrupt 9
           Two a .v=!0 import=planted-0
           Thing d",
    );
}

/// An import operation keeps all existing resources.
#[test]
fn an_import_operation_passes_everything_on() {
    holds(
        "up
           Thing a
         import
           adopt Thing na planted-10
         import
           adopt Thing na planted-10
           adopt Two nb planted-11
         up
           Thing a",
    );
}

/// References to a former URN survive a refresh, wherever the renamed resource is in the state.
#[test]
fn a_refresh_keeps_references_to_former_names() {
    holds(
        "up
           Thing h
           Thing f .v=$h.v
         refresh run-program
           Thing f .v=3
           Thing j alias=urn:Thing::h",
    );
}

/// IMPORT-17: the state of an imported object that needs no step keeps the inputs that were read.
#[test]
fn an_imported_object_keeps_what_was_read() {
    holds(
        "up
           Thing a .q=0 .v=0 import=planted-0",
    );
}

/// A destroy does not switch to a provider that it would have to create first: the resource is deleted with its current
/// one.
#[test]
fn a_destroy_keeps_the_provider_where_another_one_cannot_be_made() {
    holds(
        "up
           Thing e
         destroy run-program
           Thing g
           P.test j .w=$g.v
           Thing e provider=j",
    );
}

/// A copy pending deletion is deleted with its targeted dependency; dependents of the live copy stay, and so does the
/// live copy.
#[test]
fn an_old_copy_that_depends_on_a_target_does_not_drag_the_live_one_along() {
    holds(
        "up
           Other f
           Thing i .w=!$f.v
         up
           Thing i .r=!1
           Other h .v=!$i.v
           Thing d .v=$i.oid alias=name:i
         up target-dependents targets=f",
    );
}

/// Resources without a version use the highest version in the state at the beginning of the run.
#[test]
fn a_version_that_comes_into_the_state_counts_from_the_next_run_on() {
    holds(
        "up
           Other d version=1.0.0
         up
           Thing i version=2.0.0
           P.test f",
    );
}
