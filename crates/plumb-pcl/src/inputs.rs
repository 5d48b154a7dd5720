//! Evaluation of inputs without a snippet, for a function, a provider or a resource.

use std::sync::Arc;

use async_trait::async_trait;
use ecow::EcoString;
use plumb_deploy::request::{PackageRequest, Reply, Request, RequestError, RequestErrorKind};
use plumb_engine::monitor::ResourceMonitor;
use plumb_engine::program::ProgramContext;
use plumb_eval::convert::{self, Form};
use plumb_eval::diagnostic::Diagnostic;
use plumb_events::Severity;
use plumb_resource::Urn;
use plumb_schema::{PackageSchema, Resource};
use plumb_value::{PropertyKey, PropertyMap};

use crate::eval::{self, Context, Stop};
use crate::packages::Packages;
use crate::resource::SnippetProgram;
use crate::syntax::Parsed;
use crate::types::ResourceType;

/// Binds and evaluates `parsed`, whose attributes are the inputs of `schema`. References to resources and calls of
/// provider functions are errors.
pub async fn evaluate_inputs(
    parsed: &Parsed,
    package: &Arc<PackageSchema>,
    schema: &Arc<Resource>,
    info: &ProgramContext,
) -> Result<PropertyMap, Vec<Diagnostic>> {
    let ty = ResourceType {
        package: package.clone(),
        schema: schema.clone(),
    };
    let program = SnippetProgram::bind_inputs(parsed, ty, &Packages::of([package.clone()]))?;
    let context = Context {
        info,
        monitor: &Nothing,
        snippet: EcoString::new(),
        package_name: package.name().into(),
        package: PackageRequest::default(),
    };
    let inputs = match eval::inputs(&program, &context).await {
        Ok(inputs) => inputs,
        Err(Stop::Problem(problem)) => return Err(vec![*problem]),
        Err(Stop::Over) => return Ok(PropertyMap::new()),
    };
    let mut properties = PropertyMap::new();
    for (name, value) in &inputs {
        let value = convert::to_value(value, Form::Plain);
        if !value.is_null() {
            properties.insert(PropertyKey::from(name.clone()), value);
        }
    }
    Ok(properties)
}

/// A resource monitor without a deployment.
struct Nothing;

#[async_trait]
impl ResourceMonitor for Nothing {
    async fn request(&self, request: Request) -> Reply {
        let refusal = match request {
            Request::Invoke(_) => "functions of providers cannot be called here",
            _ => "resources cannot be referred to here",
        };
        Reply::Failed(RequestError::new(
            RequestErrorKind::FailedPrecondition,
            refusal,
        ))
    }

    fn log(&self, _: Severity, _: Option<&Urn>, _: &str) {}
}
