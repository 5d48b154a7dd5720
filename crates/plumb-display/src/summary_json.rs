//! `--output json`: one line that says what happened (`cli.md` 19.3).

use std::collections::BTreeMap;

use indexmap::IndexMap;
use plumb_events::json::{changes_by_name, to_json_line};
use plumb_events::{Event, Summary};
use plumb_resource::{StepOp, Urn};
use serde::Serialize;

/// Folds events to the summary line.
#[derive(Debug, Default)]
pub struct ResultSummary {
    show_sames: bool,
    resources: IndexMap<Urn, Resource>,
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
    summary: BTreeMap<&'static str, u32>,
    resources: Vec<&'a Resource>,
}

impl ResultSummary {
    /// A summary of nothing; `show_sames` lists resources that did not change as well.
    pub fn new(show_sames: bool) -> Self {
        ResultSummary {
            show_sames,
            ..ResultSummary::default()
        }
    }

    /// Takes an event in.
    pub fn handle(&mut self, event: &Event) {
        match event {
            Event::ResourcePre(step) | Event::ResourceOutputs(step) if !step.internal => {
                let metadata = &step.metadata;
                let is_part = metadata.op.is_replacement() && metadata.op != StepOp::Replace;
                if is_part || metadata.op == StepOp::Refresh {
                    return;
                }
                let resource = Resource {
                    urn: metadata.urn.to_string(),
                    type_token: metadata.type_token.to_string(),
                    name: metadata.urn.name().to_owned(),
                    op: metadata.op.as_str(),
                    parent: metadata.parent().map(ToString::to_string),
                };
                self.resources.insert(metadata.urn.clone(), resource);
            }
            Event::Summary(summary) => self.summary = Some(summary.clone()),
            _ => {}
        }
    }

    /// The line, with its line break; empty before the operation is over.
    pub fn to_line(&self) -> String {
        let Some(summary) = &self.summary else {
            return String::new();
        };
        let document = Document {
            result: summary.result.as_str(),
            duration: u64::try_from(summary.duration.as_nanos()).unwrap_or(u64::MAX),
            summary: changes_by_name(summary),
            resources: self
                .resources
                .values()
                .filter(|resource| self.show_sames || resource.op != StepOp::Same.as_str())
                .collect(),
        };
        format!("{}\n", to_json_line(&document))
    }
}
