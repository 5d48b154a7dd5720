//! Configurations of providers: settings of the project where they are constant, resources elsewhere.

use hcl_edit::expr::Expression;
use hcl_edit::structure::Block;
use plumb_eval::hcl;
use serde_json::Value as Json;

use crate::convert::Converter;
use crate::module::ProviderBlock;
use crate::names::{Declared, camel};
use crate::scope::Scope;
use crate::text::{Entry, Statement, head};

/// Attributes of the blocks that are not settings.
const META: [&str; 2] = ["alias", "version"];

impl Converter<'_, '_> {
    /// Whether nothing is known of the package of a provider, and what needs it is left out.
    pub(crate) fn is_provider_left_out(&self, provider: &str) -> bool {
        let packages = self.context.packages;
        packages.leaves_out_unknown && packages.provider(provider).is_none()
    }

    /// The settings of a default provider as those of the project; `None` if they depend on anything.
    pub(crate) fn settings_of(&self, provider: &ProviderBlock<'_>) -> Option<Vec<(String, Json)>> {
        let body = &provider.block.body;
        if provider.alias.is_some() || body.blocks().next().is_some() {
            return None;
        }
        let fields = self.context.packages.provider(provider.name);
        let package = self.context.packages.name_of(provider.name);
        let attributes = body.attributes();
        let attributes = attributes.filter(|it| !META.contains(&it.key.as_str()));
        let settings = attributes.map(|it| {
            let value = match &it.value {
                Expression::String(text) => text.value().as_str().into(),
                Expression::Bool(value) => (*value.value()).into(),
                Expression::Number(number) => {
                    serde_json::from_str(&number.value().to_string()).ok()?
                }
                _ => return None,
            };
            let name = it.key.as_str();
            let found = fields.as_ref().and_then(|it| it.find(name));
            let key = found.map_or_else(|| camel(name), |it| it.name);
            Some((format!("{package}:{key}"), value))
        });
        settings.collect()
    }

    /// The resource of a provider; `None` if its settings are those of the project.
    pub(crate) fn provider_block(&self, block: &Block) -> Option<String> {
        let provider = self.module.providers.iter();
        let mut provider = provider.filter(|it| std::ptr::eq(it.block, block));
        let provider = provider.next()?;
        if self.settings_of(provider).is_some() {
            return None;
        }
        let alias = provider.alias.unwrap_or_default();
        let declared = Declared::Provider(provider.name.to_owned(), alias.to_owned());
        let own = self.module.names.get(&declared)?;
        let package = self.context.packages.name_of(provider.name);
        let mut statement = Statement {
            head: head("resource", own, &format!("pulumi:providers:{package}")),
            ..Statement::default()
        };
        let logical = if alias.is_empty() {
            provider.name
        } else {
            alias
        };
        if logical != own {
            let entry = Entry::new("__logicalName", hcl::quoted(logical));
            statement.entries.push(entry);
        }
        let fields = self.context.packages.provider(provider.name);
        let entries = self.inputs(&block.body, fields.as_ref(), &META, &Scope::default());
        statement.entries.extend(entries);
        Some(statement.print())
    }
}
