//! Values of variables in files, which become settings of a stack.

use std::collections::BTreeMap;
use std::fs;

use hcl_edit::expr::{Expression, ObjectKey};
use serde_json::Value as Json;

use crate::names::camel;
use crate::source::{Configuration, ReadError};

/// Values of the root module's variables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    /// Values by the name of the setting.
    pub settings: BTreeMap<String, Json>,
    /// Names of secret settings that have a value, which is left out.
    pub secrets: Vec<String>,
    /// Names of settings whose values are not constant, which are left out too.
    pub computed: Vec<String>,
}

impl Configuration {
    /// The values in `terraform.tfvars` and the files that end with `.auto.tfvars`, the last one of each name.
    pub fn values(&self) -> Result<Values, ReadError> {
        let folder = self.folder.join(&self.modules[0].folder);
        let mut names = Vec::new();
        let failed = |source| ReadError::Io {
            path: folder.clone(),
            source,
        };
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let name = name.to_string_lossy().into_owned();
            if name == "terraform.tfvars" || name.ends_with(".auto.tfvars") {
                names.push(name);
            }
        }
        names.sort_by_key(|name| (name != "terraform.tfvars", name.clone()));
        let mut values = Values::default();
        for name in names {
            let path = folder.join(&name);
            let text = fs::read_to_string(&path).map_err(|source| ReadError::Io {
                path: path.clone(),
                source,
            })?;
            let body = hcl_edit::parser::parse_body(&text).map_err(|error| {
                ReadError::Syntax(vec![format!(
                    "{}: syntax error: {}",
                    path.display(),
                    error.message()
                )])
            })?;
            for attribute in body.attributes() {
                let name = attribute.key.as_str();
                if self.is_secret(name) {
                    values.secrets.push(camel(name));
                } else if let Some(value) = constant(&attribute.value) {
                    values.settings.insert(camel(name), value);
                } else {
                    values.computed.push(camel(name));
                }
            }
        }
        values.secrets.sort();
        values.secrets.dedup();
        Ok(values)
    }

    fn is_secret(&self, variable: &str) -> bool {
        let files = self.modules[0].files.iter();
        let mut blocks = files.flat_map(|it| it.body.get_blocks("variable"));
        blocks.any(|it| {
            let is_it = it.labels.first().is_some_and(|it| it.as_str() == variable);
            let secret = it.body.get_attribute("sensitive");
            is_it && secret.is_some_and(|it| it.value.as_bool() == Some(true))
        })
    }
}

/// The value of an expression without references.
fn constant(expression: &Expression) -> Option<Json> {
    Some(match expression {
        Expression::Null(_) => Json::Null,
        Expression::Bool(value) => (*value.value()).into(),
        Expression::Number(number) => serde_json::from_str(&number.value().to_string()).ok()?,
        Expression::String(text) => text.value().as_str().into(),
        Expression::HeredocTemplate(heredoc) => {
            let mut text = String::new();
            for element in &heredoc.template {
                text.push_str(element.as_literal()?.value());
            }
            text.into()
        }
        Expression::Parenthesis(inner) => constant(inner.inner())?,
        Expression::UnaryOp(it) => {
            let inner = constant(&it.expr)?;
            serde_json::from_str(&format!("{}{inner}", it.operator.value())).ok()?
        }
        Expression::Array(items) => {
            let items: Option<Vec<Json>> = items.iter().map(constant).collect();
            items?.into()
        }
        Expression::Object(object) => {
            let mut entries = serde_json::Map::new();
            for (key, value) in object {
                let key = match key {
                    ObjectKey::Ident(name) => name.as_str(),
                    ObjectKey::Expression(key) => key.as_str()?,
                };
                entries.insert(key.to_owned(), constant(value.expr())?);
            }
            entries.into()
        }
        _ => return None,
    })
}
