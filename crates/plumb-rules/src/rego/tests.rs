//! Rules that are tests, in the form of OPA: `test_NAME` in the files `*_test.rego`.

use std::path::Path;

use regorus::Value;

use super::modules::Modules;
use crate::LoadError;
use crate::testing::Outcome;

/// Runs the tests in a folder.
pub(crate) fn run_tests(folder: &Path) -> Result<Vec<Outcome>, LoadError> {
    let modules = Modules::load(folder, |_| true)?;
    let rules = modules.rules();
    let mut engine = modules.into_engine();
    let tests = rules.into_iter().filter(|rule| {
        let file = rule.path.file_name().unwrap_or_default().to_string_lossy();
        rule.name.starts_with("test_") && file.ends_with("_test.rego")
    });
    let outcomes = tests.map(|rule| {
        let value = engine.eval_rule(rule.query());
        Outcome {
            name: rule.name,
            failure: match value {
                Ok(Value::Bool(true)) => None,
                Ok(Value::Undefined) => Some("the rule is not true".to_owned()),
                Ok(other) => Some(format!("the rule is {other}, and not true")),
                Err(error) => Some(error.to_string()),
            },
        }
    });
    Ok(outcomes.collect())
}
