//! Checks of a function.

use std::sync::Arc;

use plumb_resource::TypeToken;
use plumb_resource::provider::InvokeRequest;
use plumb_schema::PackageSchema;
use plumb_schema::{Function, ReturnType};
use plumb_value::PropertyMap;

use crate::conform::{self, Completeness};
use crate::finding::{Findings, Rule};
use crate::{Target, sample};

/// Calls a function and compares its result with the schema.
pub(crate) async fn check(target: Target<'_>, token: &str, findings: &mut Findings) {
    let Target {
        provider,
        schema,
        options,
    } = target;
    let Some(Ok(function)) = schema.function(token) else {
        findings.judge(
            Rule::Invoke,
            Some("the schema of the function is broken".to_owned()),
        );
        return;
    };
    let given = options.inputs.get(token).map(|inputs| inputs.first.clone());
    let is_made_up = given.is_none();
    let args = given.unwrap_or_else(|| {
        let inputs = function.inputs.as_ref();
        inputs.map_or_else(PropertyMap::new, |it| {
            sample::required(schema, &it.properties)
        })
    });
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
            let refused = answer.failures.iter().map(|it| it.reason.as_str());
            findings.skip(Rule::Invoke, refused.collect::<Vec<_>>().join("; "));
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
