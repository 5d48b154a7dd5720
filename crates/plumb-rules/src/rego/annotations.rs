//! Annotations of rules: comments that begin with the line `# METADATA` and hold YAML.

use plumb_project::yaml::{parse, to_json};
use plumb_resource::policy::PolicySeverity;
use serde_json::Value as Json;

use crate::policy::severity;

/// Annotation of a rule; empty if it has none.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Annotation(Json);

impl Annotation {
    /// The annotation in the comment that ends right before a line. Lines count from 1.
    pub(super) fn before(source: &str, line: usize) -> Self {
        let lines: Vec<&str> = source.lines().take(line.saturating_sub(1)).collect();
        let comments = lines
            .iter()
            .rev()
            .take_while(|line| line.trim_start().starts_with('#'));
        let mut comments: Vec<&str> = comments.map(|line| line.trim_start()).collect();
        comments.reverse();
        let Some(start) = comments.iter().rposition(|it| is_marker(it)) else {
            return Annotation::default();
        };
        let yaml = comments[start + 1..].iter().map(|line| {
            let line = &line[1..];
            line.strip_prefix(' ').unwrap_or(line)
        });
        let yaml = yaml.collect::<Vec<_>>().join("\n");
        let document = parse(&yaml).ok();
        let root = document.as_ref().and_then(|it| it.root.as_ref());
        Annotation(root.and_then(|root| to_json(root).ok()).unwrap_or_default())
    }

    fn text(&self, path: &str) -> Option<&str> {
        let text = self.0.pointer(path).and_then(Json::as_str);
        text.map(str::trim).filter(|text| !text.is_empty())
    }

    /// Purpose of the rule.
    pub(super) fn description(&self, name: &str) -> String {
        let text = self.text("/description").or(self.text("/title"));
        text.unwrap_or(name).to_owned()
    }

    /// Severity of violations.
    pub(super) fn severity(&self) -> Result<Option<PolicySeverity>, String> {
        self.text("/custom/severity").map(severity).transpose()
    }
}

fn is_marker(comment: &str) -> bool {
    comment.trim_start_matches('#').trim() == "METADATA"
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "\
package aws

# A remark.
# METADATA
# title: No Public Buckets
# description: >
#   Buckets must not
#   be public.
# custom:
#   severity: high
deny_public contains msg if { false }

# no annotation
warn contains msg if { false }
";

    #[test]
    fn the_comment_above_a_rule_describes_it() {
        let annotation = Annotation::before(SOURCE, 11);
        assert_eq!(annotation.description("x"), "Buckets must not be public.");
        assert_eq!(annotation.severity(), Ok(Some(PolicySeverity::High)));
        let none = Annotation::before(SOURCE, 14);
        assert_eq!(none.description("warn"), "warn");
        assert_eq!(none.severity(), Ok(None));
    }
}
