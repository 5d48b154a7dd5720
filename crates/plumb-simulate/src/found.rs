//! Stories that failed once, and hold now: a file of them, each below a line with its title.

use crate::StoryError;
use crate::coverage::Coverage;
use crate::simulate::{Care, Failed, run};
use crate::story::Story;

/// The stories of a file, with their titles. What stands before the first title counts for nothing.
pub fn stories(text: &str) -> Result<Vec<(&str, Story)>, StoryError> {
    let parts = text.split("\n# ").skip(1);
    parts
        .map(|part| {
            let (title, story) = part.split_once('\n').unwrap_or((part, ""));
            Ok((title, story.parse()?))
        })
        .collect()
}

/// Runs a story in so many orders of events.
pub fn holds(story: &Story, orders: u64) -> Result<(), Failed> {
    for order in 0..orders {
        let mut story = story.clone();
        for operation in &mut story.operations {
            operation.seed += order;
        }
        run(&story, Care::Full, &mut Coverage::default())?;
    }
    Ok(())
}
