//! Tests of rules, in the process and without an engine.
//!
//! ```
//! use plumb_policy::prelude::*;
//! use plumb_policy::testing::Tester;
//!
//! let pack = Pack::new("names", "1.0.0").policy(
//!     Policy::resource("short", "Names are short").check(|resource, report| {
//!         if resource.name().len() > 8 {
//!             report.violation("shorten it");
//!         }
//!         Ok(())
//!     }),
//! );
//! let tester = Tester::new(pack)?;
//! assert!(tester.check("a:b:C", "short", value!({}))?.is_empty());
//! let found = tester.check("a:b:C", "very-long-name", value!({}))?;
//! assert_eq!(found[0].message, "Names are short\nshorten it");
//! # Ok::<(), Error>(())
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use plumb::provider::{Members, decode, encode};
use prost_types::Struct;
use tonic::Status;

use crate::protocol as pb;
use crate::service::{Service, Source};
use crate::{Error, Level, Pack, Result, Value};

/// A pack under test.
#[derive(Debug)]
pub struct Tester {
    service: Service,
}

/// A rule that is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The name of the policy.
    pub policy: String,
    /// The description of the policy, and what the rule says.
    pub message: String,
    /// The level at which it is reported.
    pub level: Level,
    /// The resource, if the rule names one.
    pub urn: String,
}

impl Tester {
    /// A pack in a deployment.
    pub fn new(pack: Pack) -> Result<Self> {
        pack.check()?;
        Ok(Tester {
            service: Service::of(Source::Pack(Arc::new(pack))),
        })
    }

    /// The pack in a preview, where properties may be [`Value::Unknown`].
    #[must_use]
    pub fn preview(self) -> Self {
        self.service
            .configure_stack(pb::AnalyzerStackConfigureRequest {
                project: "project".to_owned(),
                stack: "stack".to_owned(),
                dry_run: true,
                ..pb::AnalyzerStackConfigureRequest::default()
            });
        self
    }

    /// Sets the level and the settings of a policy.
    pub fn configure(&self, policy: &str, level: Level, settings: Value) -> Result<()> {
        let config = pb::PolicyConfig {
            enforcement_level: level.wire().into(),
            properties: Some(object(settings)?),
        };
        let request = pb::ConfigureAnalyzerRequest {
            policy_config: BTreeMap::from([(policy.to_owned(), config)]),
        };
        self.service.configure(request).map_err(|it| error(&it))
    }

    /// The violations of a resource.
    pub fn check(&self, token: &str, name: &str, inputs: Value) -> Result<Vec<Violation>> {
        let findings = self.service.analyze(request(token, name, inputs)?);
        Ok(violations(findings.map_err(|it| error(&it))?.diagnostics))
    }

    /// The inputs of a resource after corrections; `None` if nothing corrects it.
    pub fn fix(&self, token: &str, name: &str, inputs: Value) -> Result<Option<Members>> {
        let fixes = self.service.remediate(request(token, name, inputs)?);
        let fixes = fixes.map_err(|it| error(&it))?.remediations.into_iter();
        let last = fixes.filter_map(|it| it.properties).next_back();
        last.map(|it| decode(Some(it))).transpose()
    }

    /// The violations of a stack with these resources, given as tokens, names and outputs.
    pub fn check_stack<'a>(
        &self,
        resources: impl IntoIterator<Item = (&'a str, &'a str, Value)>,
    ) -> Result<Vec<Violation>> {
        let resources = resources
            .into_iter()
            .map(|(token, name, outputs)| request(token, name, outputs).map(Into::into));
        let request = pb::AnalyzeStackRequest {
            resources: resources.collect::<Result<_>>()?,
        };
        let findings = self.service.analyze_stack(request);
        Ok(violations(findings.map_err(|it| error(&it))?.diagnostics))
    }
}

fn request(token: &str, name: &str, properties: Value) -> Result<pb::AnalyzeRequest> {
    Ok(pb::AnalyzeRequest {
        r#type: token.to_owned(),
        properties: Some(object(properties)?),
        urn: format!("urn:pulumi:stack::project::{token}::{name}"),
        name: name.to_owned(),
        ..pb::AnalyzeRequest::default()
    })
}

fn violations(diagnostics: Vec<pb::AnalyzeDiagnostic>) -> Vec<Violation> {
    let diagnostics = diagnostics.into_iter();
    diagnostics
        .map(|it| Violation {
            level: Level::of(it.enforcement_level()),
            policy: it.policy_name,
            message: it.message,
            urn: it.urn,
        })
        .collect()
}

fn object(value: Value) -> Result<Struct> {
    match value {
        Value::Map(members) => encode(&members),
        other => Err(Error::new(format!(
            "expected an object, found {}",
            other.kind()
        ))),
    }
}

fn error(status: &Status) -> Error {
    Error::new(status.message())
}
