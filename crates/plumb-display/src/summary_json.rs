//! `--output json`: one line with the result of an operation (`cli.md` 19.3).

use std::collections::BTreeMap;

use plumb_events::json::{changes_by_name, to_json_line};
use plumb_events::{Event, Summary};
use plumb_resource::StepOp;
use serde::Serialize;

/// Builds the summary line from events: the count of each operation, and every step that began.
#[derive(Debug, Default)]
pub struct ResultSummary {
    show_sames: bool,
    resources: Vec<Resource>,
    summary: Option<Summary>,
}

#[derive(Clone, Debug, Serialize)]
struct Resource {
    urn: String,
    #[serde(rename = "type")]
    type_token: String,
    name: String,
    op: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<String>,
}

#[derive(Serialize)]
struct Document<'a> {
    result: &'static str,
    duration: u64,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    summary: BTreeMap<&'static str, u32>,
    #[serde(skip_serializing_if = "<[Resource]>::is_empty")]
    resources: &'a [Resource],
}

impl ResultSummary {
    /// A summary without events; `show_sames` includes unchanged resources.
    pub fn new(show_sames: bool) -> Self {
        ResultSummary {
            show_sames,
            ..ResultSummary::default()
        }
    }

    /// Handles an event.
    pub fn handle(&mut self, event: &Event) {
        match event {
            Event::ResourcePre(step) if !step.internal => {
                let metadata = &step.metadata;
                if metadata.op == StepOp::Same && !self.show_sames {
                    return;
                }
                let resource = Resource {
                    urn: metadata.urn.to_string(),
                    type_token: metadata.type_token.to_string(),
                    name: metadata.urn.name().to_owned(),
                    op: metadata.op.as_str(),
                    parent: metadata.parent().map(ToString::to_string),
                };
                self.resources.push(resource);
            }
            Event::Summary(summary) => self.summary = Some(summary.clone()),
            _ => {}
        }
    }

    /// The line with its line break; empty before the end of the operation.
    pub fn to_line(&self) -> String {
        let Some(summary) = &self.summary else {
            return String::new();
        };
        let document = Document {
            result: summary.result.as_str(),
            duration: u64::try_from(summary.duration.as_nanos()).unwrap_or(u64::MAX),
            summary: changes_by_name(summary),
            resources: &self.resources,
        };
        format!("{}\n", to_json_line(&document))
    }
}
