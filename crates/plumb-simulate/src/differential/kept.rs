//! Stories that once showed a difference, with recorded answers of the reference.

use serde_json::{Value as Json, json};

use super::normal::Known;
use super::{Both, Reference};
use crate::story::Story;

/// A story, with the reference's account of each operation.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The story.
    pub story: Story,
    /// Accounts of the reference, with names for the ids that the core drew.
    pub answers: Vec<Json>,
}

impl Kept {
    /// Parses the text of a file.
    pub fn parse(text: &str) -> Option<Self> {
        let document: Json = serde_json::from_str(text).ok()?;
        let lines: Vec<&str> = document["story"]
            .as_array()?
            .iter()
            .filter_map(Json::as_str)
            .collect();
        Some(Kept {
            story: lines.join("\n").parse().ok()?,
            answers: document["answers"].as_array()?.clone(),
        })
    }

    /// Text of a file.
    pub fn text(&self) -> String {
        let story = self.story.to_string();
        let lines: Vec<&str> = story.lines().collect();
        let document = json!({"story": lines, "answers": self.answers});
        format!("{document:#}\n")
    }
}

impl Both {
    /// Account of the reference as it is kept.
    pub fn kept(&self) -> Json {
        Known::of(&self.case).named(&self.theirs)
    }
}

/// Replays recorded answers.
impl Reference for std::vec::IntoIter<Json> {
    fn perform(&mut self, case: &Json) -> Json {
        let answer = self.next().unwrap_or_default();
        Known::of(case).unnamed(&answer)
    }
}
