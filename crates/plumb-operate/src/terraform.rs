//! Schemas and mappings from plugins, for conversions of Terraform configurations and states.

use std::path::Path;
use std::sync::Arc;

use plumb_plugin::{ConvertedResource, ConvertedState, ConverterMessage, MappingQuery, PluginHost};
use plumb_schema::{PackageQuery, SchemaLoader as _};
use plumb_terraform::{Adopted, Configuration, Note, Packages, StateValues, adopt};
use plumb_value::{PropertyMap, Value};
use serde_json::{Map, Value as Json};

use crate::{Error, Printer};
use plumb_automation::hosting::Schemas;

/// Whether a converter of this name reads Terraform.
pub fn is_named(from: &str) -> bool {
    matches!(from, "terraform" | "tf")
}

/// Loads the packages of a configuration. `explicit` are mappings by the name of the provider, which come before those of
/// plugins; what cannot be loaded is told.
pub async fn packages(
    configuration: &Configuration,
    host: &Arc<PluginHost>,
    explicit: &[(String, Vec<u8>)],
    printer: &Printer,
) -> Packages {
    let mut packages = Packages::new();
    let schemas = Schemas(host.clone());
    for (provider, package) in configuration.providers() {
        let schema = schemas.load(&PackageQuery::named(&package)).await;
        let schema = schema.unwrap_or_else(|error| {
            printer.warning(&format!("{error}: {}", error.causes()));
            None
        });
        let mut named = explicit.iter().filter(|(name, _)| *name == provider);
        let mapping = match named.next() {
            Some((_, mapping)) => Some(mapping.clone()),
            None => mapping(host, &provider, &package).await,
        };
        packages.insert(&provider, schema, mapping.as_deref());
    }
    packages
}

/// The mapping that the package's plugin has; none if the plugin cannot be started, which shows when its schema is loaded.
async fn mapping(host: &PluginHost, provider: &str, package: &str) -> Option<Vec<u8>> {
    let query = MappingQuery {
        ecosystem: "terraform".to_owned(),
        provider: provider.to_owned(),
        plugin: package.to_owned(),
        parameterization: None,
    };
    let mapping = host.own_mapping(&query).await.ok().flatten();
    mapping.map(|it| it.to_vec())
}

/// The resources of the state in a file, under their names in the program that its configuration is converted to.
pub async fn state(
    words: &[String],
    folder: &Path,
    host: &Arc<PluginHost>,
    printer: &Printer,
) -> Result<ConvertedState, Error> {
    let [path] = words else {
        return Err(Error::user(
            "name the file of the state: `plumb import --from terraform ../infrastructure/terraform.tfstate`",
        ));
    };
    let path = folder.join(path);
    let text = std::fs::read_to_string(&path)
        .map_err(|error| Error::from(error).context(path.display()))?;
    let beside = path.parent().unwrap_or(folder);
    let configuration = Configuration::read(beside, "").map_err(|error| {
        Error::user(error.to_string())
            .context("the configuration beside the state tells names and types")
    })?;
    let packages = packages(&configuration, host, &[], printer).await;
    let (adopted, notes) = adopt(&configuration, &packages, &text)
        .map_err(|why| Error::user(why).context(path.display()))?;
    Ok(ConvertedState {
        resources: adopted.iter().map(resource).collect::<Result<_, _>>()?,
        messages: notes.iter().map(message).collect(),
    })
}

fn message(note: &Note) -> ConverterMessage {
    ConverterMessage {
        is_error: false,
        text: format!("not imported: {}", note.text),
    }
}

fn resource(it: &Adopted) -> Result<ConvertedResource, Error> {
    let properties = |pick: fn(&StateValues) -> &Map<String, Json>| {
        let values = it.values.as_ref();
        values
            .map(|values| map_of(pick(values), values))
            .transpose()
    };
    Ok(ConvertedResource {
        type_token: it.type_token.clone(),
        name: it.name.clone(),
        logical_name: it.logical_name.clone(),
        id: it.id.clone(),
        parent: it.parent.clone(),
        is_component: it.is_component,
        inputs: properties(|it| &it.inputs)?,
        outputs: properties(|it| &it.outputs)?,
        ..ConvertedResource::default()
    })
}

fn map_of(map: &Map<String, Json>, values: &StateValues) -> Result<PropertyMap, Error> {
    let mut properties = PropertyMap::new();
    for (key, value) in map {
        let value = plumb_state::file::parse_value(&value.to_string())
            .map_err(|error| Error::user(error.to_string()))?;
        let is_secret = values.secrets.contains(key);
        let value = if is_secret {
            Value::secret(value)
        } else {
            value
        };
        properties.insert(key.as_str(), value);
    }
    Ok(properties)
}
