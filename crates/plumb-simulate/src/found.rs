//! Regression stories: a file of stories that failed in the past, each after a line with its title.

use crate::StoryError;
use crate::coverage::Coverage;
use crate::simulate::{Care, Failed, run};
use crate::story::Story;

/// Stories in a file, with their titles. Text before the first title is ignored.
pub fn stories(text: &str) -> Result<Vec<(&str, Story)>, StoryError> {
    let parts = text.split("\n# ").skip(1);
    parts
        .map(|part| {
            let (title, story) = part.split_once('\n').unwrap_or((part, ""));
            Ok((title, story.parse()?))
        })
        .collect()
}

/// Runs a story in that many orders of events.
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
