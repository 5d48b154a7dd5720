//! Stories with renamed resources, found and shrunk by the simulation.

use crate::stories::holds;

/// A resource deleted for its provider under its former URN is created again under its current URN.
#[test]
fn a_renamed_dependent_of_a_replaced_provider_is_made_anew() {
    holds(
        "up
           Thing e
         up
           fail create e unknown
           config test:dbr 2
           config test:r 1
           Other e alias=type:Thing",
    );
}

/// A child of a renamed parent keeps its URN while another resource has its new one.
#[test]
fn children_of_renamed_parents_never_take_the_name_of_another_resource() {
    holds(
        "up
           Other a
           Thing b parent=a
         up
           Thing c
           Thing b parent=c
           Thing a alias=urn:Other::a",
    );
    holds(
        "up
           Pack i
           Thing f parent=i
         up
           fail delete f unknown
           Group h
           Thing f parent=h
         up
           Pack h alias=type:Group",
    );
    holds(
        "up
           Thing a
           Thing h parent=a
           Other d parent=h
           Thing c parent=d
         up
           before protect c
         up
           Thing a
           Thing h parent=a
           Thing d alias=type:Other parent=h
         up
           Thing j
           Thing d parent=j
         up
           Thing h
           Thing j alias=urn:Thing::j parent=h",
    );
}

/// Dependents of a resource whose delete-before-replace failed are skipped, even if it was renamed.
#[test]
fn dependents_of_a_renamed_resource_that_fails_to_make_way_are_left_out() {
    holds(
        "up
           Thing e
         up continue
           fail delete e unknown
           Thing b .r=1 alias=urn:Thing::e dbr=yes
           Pack j .w=$b.r",
    );
}

/// A resource with a new parent is not renamed with the former one.
#[test]
fn what_left_its_parent_keeps_its_name() {
    holds(
        "up
           Pack e
           Thing j parent=e
         refresh run-program
           Thing j alias=parent:Pack::e
         up
           Pack b alias=name:e
           Thing j parent=b",
    );
}

/// A resource deleted for the replacement of another one is created again, under its current name in the program.
#[test]
fn what_made_way_is_made_anew_under_another_name() {
    holds(
        "up
           Other b
           Thing h .v=1 deleted-with=b
         up
           Other b .r=2 dbr=yes
           Thing i .v=1 alias=urn:Thing::h
         up
           Other b .r=2
           Thing i .v=1",
    );
}

/// A resource that has been decided under its new URN is not deleted, and keeps its object.
#[test]
fn what_was_decided_under_another_name_does_not_make_way() {
    holds(
        "up
           Other b
           Thing h .v=1 deleted-with=b
           Thing a .v=1
         up
           Thing i .v=1 alias=urn:Thing::h
           Thing c .v=$i.v
           Other b .r=$c.v dbr=yes
         up
           Thing i .v=1",
    );
}
