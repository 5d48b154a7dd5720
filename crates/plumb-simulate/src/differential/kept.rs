//! Stories that once showed a difference, with recorded answers of the reference.

use serde_json::{Value as Json, json};

use super::Reference;
use crate::story::Story;

/// A story, with the reference's account of each operation.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The story.
    pub story: Story,
    /// Accounts of the reference.
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

/// Replays recorded answers.
impl Reference for std::vec::IntoIter<Json> {
    fn perform(&mut self, _: &Json) -> Json {
        self.next().unwrap_or_default()
    }
}
