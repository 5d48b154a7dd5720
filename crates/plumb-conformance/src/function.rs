//! Checks of a function.

use std::sync::Arc;

use plumb_resource::TypeToken;
use plumb_resource::provider::{CheckFailure, InvokeRequest};
use plumb_schema::PackageSchema;
use plumb_schema::{Function, ReturnType};
use plumb_value::PropertyMap;

use crate::conform::{self, Completeness};
use crate::finding::{Findings, Rule};
use crate::{Target, sample};

/// Calls a function and compares its result with the schema.
pub(crate) async fn check(target: Target<'_>, token: &str, findings: &mut Findings) {
    let Target {
        provider, schema, ..
    } = target;
    let Some(Ok(function)) = schema.function(token) else {
        findings.judge(
            Rule::Invoke,
            Some("the schema of the function is broken".to_owned()),
        );
        return;
    };
    let (args, is_made_up) = arguments(target, token, &function);
    let answer = provider
        .invoke(InvokeRequest {
            token: TypeToken::new(token),
            args: Arc::new(args),
            preview: false,
        })
        .await;
    match answer {
        Ok(answer) if answer.failures.is_empty() => {
            let problem = problem(schema, &function, &answer.result, Completeness::Whole);
            findings.judge(Rule::Invoke, problem);
        }
        Ok(answer) => {
            findings.skip(Rule::Invoke, reasons(&answer.failures));
        }
        // Arguments that are made up need not make sense.
        Err(error) if is_made_up => findings.skip(Rule::Invoke, error.message.as_str()),
        Err(error) => {
            findings.judge(
                Rule::Invoke,
                Some(format!("Invoke failed: {}", error.message)),
            );
        }
    }
}

/// Arguments for a function or a method, and whether they are made up from the schema.
pub(crate) fn arguments(
    target: Target<'_>,
    token: &str,
    function: &Function,
) -> (PropertyMap, bool) {
    if let Some(given) = target.options.inputs.get(token) {
        return (given.first.clone(), false);
    }
    let declared = function.inputs.as_ref();
    let args = declared.map(|it| sample::required(target.schema, &it.properties));
    (args.unwrap_or_default(), true)
}

/// The reasons of all failures.
pub(crate) fn reasons(failures: &[CheckFailure]) -> String {
    let reasons: Vec<&str> = failures.iter().map(|it| it.reason.as_str()).collect();
    reasons.join("; ")
}

/// The first difference between a result and its type in the schema.
pub(crate) fn problem(
    schema: &PackageSchema,
    function: &Function,
    result: &PropertyMap,
    completeness: Completeness,
) -> Option<String> {
    match &function.returns {
        ReturnType::None => None,
        ReturnType::Object(object) => {
            conform::problem(schema, &object.properties, result, completeness)
        }
        ReturnType::Value(ty) => match result.values().next() {
            Some(value) if result.len() == 1 => conform::problem_of_value(schema, ty, value),
            _ => Some("a result that is no object is the only property of the answer".to_owned()),
        },
    }
}
