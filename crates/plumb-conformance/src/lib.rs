//! Checks of a provider plugin: every call that an engine makes, and what it relies on in the answers.
//!
//! [`check`] goes through the package ([`package`]), its resources ([`resource`]) with their lists ([`list`]), its
//! components ([`component`]) and its functions ([`function`]), and returns a [`Finding`] for every [`Rule`] and subject. Inputs come from the caller ([`Options::inputs`]) or are made up
//! from the schema ([`sample`]). **Nothing is created unless [`Options::create`] says so**; what was created is deleted
//! again, whatever fails in between.

mod component;
mod conform;
mod finding;
mod function;
mod list;
mod monitor;
mod package;
mod resource;
mod sample;

use std::collections::BTreeMap;

use plumb_plugin::Provider;
use plumb_resource::TypeToken;
use plumb_schema::PackageSchema;
use plumb_value::PropertyMap;

pub use finding::{Finding, Rule, Verdict};

use finding::Findings;

/// Scope of a check, and data for it.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Inputs of resources and arguments of functions, by token.
    pub inputs: BTreeMap<String, Inputs>,
    /// Tokens to check; all if empty.
    pub only: Vec<String>,
    /// Whether to create, update and delete real objects.
    pub create: bool,
    /// Configuration of the provider.
    pub config: PropertyMap,
}

/// Inputs of a resource, or arguments of a function.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// Inputs to begin with.
    pub first: PropertyMap,
    /// Other inputs, to update the resource to; `None` if it is not updated.
    pub changed: Option<PropertyMap>,
    /// Arguments of a list of the existing ones.
    pub list: Option<PropertyMap>,
}

impl Options {
    fn wants(&self, token: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == token)
    }
}

/// Checks a provider that nobody has configured yet.
pub async fn check(
    provider: &dyn Provider,
    schema: &PackageSchema,
    options: &Options,
) -> Vec<Finding> {
    let mut findings = Findings::default();
    let target = Target {
        provider,
        schema,
        options,
    };
    let is_configured = package::check(target, &mut findings).await;
    if is_configured {
        for token in schema
            .resource_tokens()
            .filter(|token| options.wants(token))
        {
            findings.subject(token);
            resource::check(target, token, &mut findings).await;
        }
        for token in schema
            .function_tokens()
            .filter(|token| options.wants(token))
        {
            if schema.is_method(token) {
                continue;
            }
            findings.subject(token);
            function::check(target, token, &mut findings).await;
        }
        findings.subject(schema.name());
        package::check_parameter(target, &mut findings).await;
        package::check_mappings(provider, &mut findings).await;
        package::check_strangers(provider, schema.name(), &mut findings).await;
    }
    findings.into_vec()
}

/// The provider that is checked.
#[derive(Clone, Copy)]
struct Target<'a> {
    provider: &'a dyn Provider,
    schema: &'a PackageSchema,
    options: &'a Options,
}

/// URN of the resources in checks.
fn urn(token: &str) -> plumb_resource::Urn {
    let token = TypeToken::new(token);
    plumb_resource::Urn::new("check", "conformance", "", token.as_str(), "checked")
}
