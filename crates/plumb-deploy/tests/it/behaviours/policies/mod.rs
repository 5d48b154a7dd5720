//! POLICY: packs that remediate and judge the resources of a program.

mod packs;
mod remediations;
mod resources;
mod stack;

use plumb_events::Event;

use crate::world::{Ran, World};

/// Whether nothing was asked of the cloud that changes anything.
fn nothing_was_done(world: &mut World) {
    assert_eq!(world.cloud.take_changes(), [""; 0]);
}

fn is_before(ran: &Ran, first: &str, second: &str) -> bool {
    let title = |event: &Event| match event {
        Event::Prelude { .. } => "prelude".to_owned(),
        Event::PolicyLoad => "load".to_owned(),
        Event::PolicyViolation(it) => format!("violation {}", it.policy),
        Event::PolicyAnalyzeSummary(it) => {
            format!(
                "summary {}",
                it.urn.as_ref().expect("it is about one").name()
            )
        }
        Event::ResourcePre(it) => format!("step {}", it.metadata.urn.name()),
        _ => String::new(),
    };
    let titles: Vec<String> = ran.events.iter().map(title).collect();
    let at = |wanted: &str| {
        let found = titles.iter().position(|title| title == wanted);
        found.unwrap_or_else(|| panic!("no {wanted:?} in {titles:?}"))
    };
    at(first) < at(second)
}
