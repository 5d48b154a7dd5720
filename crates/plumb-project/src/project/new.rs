//! Text of project files that are generated.

use serde_json::Value as Json;

use crate::yaml::{Data, Document, Node, emit, from_json};

/// Text of the project file for a description in JSON and a runtime. Name and runtime come first, as people write them.
pub fn file_text(mut description: Json, runtime: Json) -> String {
    description["runtime"] = runtime;
    let mut root = from_json(&description);
    if let Data::Mapping(mapping) = &mut root.data {
        let place = |key: &Node| match key.as_str().as_deref() {
            Some("name") => 0,
            Some("runtime") => 1,
            _ => 2,
        };
        mapping.entries.sort_by_key(|(key, _)| place(key));
    }
    emit(&Document {
        head: Vec::new(),
        root: Some(root),
        foot: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn name_and_runtime_come_first() {
        let description = json!({"description": "text", "main": "inner", "name": "made"});
        let text = file_text(
            description,
            json!({"name": "go", "options": {"binary": "x"}}),
        );
        assert_eq!(
            text,
            "name: made\nruntime:\n  name: go\n  options:\n    binary: x\ndescription: text\nmain: inner\n"
        );
    }
}
