//! Differences that are meant to be: each is a rule of `docs/compatibility.md`.

use serde_json::Value as Json;

use super::{Both, Difference};

/// A difference that is meant to be.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its name.
    pub name: &'static str,
    /// Whether a difference is of its kind.
    pub covers: fn(&Both, &Difference) -> bool,
}

/// Every rule.
pub const RULES: &[Rule] = &[
    Rule {
        name: "the reference does not end",
        covers: |both, _| text(&both.theirs["panic"]) == "the engine does not end",
    },
    Rule {
        name: "nothing is deleted where a target is unknown",
        covers: |both, difference| {
            let is_refused = says(&both.ours, UNKNOWN_TARGET) && says(&both.theirs, UNKNOWN_TARGET);
            is_refused && !difference.signature.starts_with("messages")
        },
    },
    Rule {
        name: "a target that is nowhere is refused by the engine",
        covers: |both, _| {
            let refused = text(&both.theirs["error"]).starts_with("no resource named");
            refused && both.ours["steps"].is_null() && says(&both.ours, UNKNOWN_TARGET)
        },
    },
    Rule {
        name: "no state with missing dependencies",
        covers: |both, _| says(&both.theirs, "failed to verify snapshot"),
    },
    Rule {
        name: "a refused secret is not shown",
        covers: |both, difference| {
            difference.signature.starts_with("messages") && says(&both.ours, "value {[secret]} has")
        },
    },
];

const UNKNOWN_TARGET: &str = "could not be found in the stack";

fn text(value: &Json) -> &str {
    value.as_str().unwrap_or_default()
}

/// Whether some message has this text.
fn says(seen: &Json, part: &str) -> bool {
    let mut messages = seen["messages"].as_array().into_iter().flatten();
    messages.any(|message| text(&message["text"]).contains(part))
}

/// The rule that a difference falls under.
pub fn rule_of(both: &Both, difference: &Difference) -> Option<&'static str> {
    let mut rules = RULES.iter();
    let rule = rules.find(|rule| (rule.covers)(both, difference));
    rule.map(|rule| rule.name)
}
