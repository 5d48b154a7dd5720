//! Inputs from files and flags: first as PCL text, the form in which snippets are stored, then as
//! values.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::sync::Arc;

use plumb_engine::program::ProgramContext;
use plumb_eval::hcl;
use plumb_operate::{Context, Error};
use plumb_pcl::{BodyText, evaluate_inputs};
use plumb_schema::{Constant, PackageSchema, Properties, Property, Resource, TypeKind};
use plumb_value::PropertyMap;

use super::ask::{Given, Said};
use super::shape::{Side, flag_name};

/// Source of inputs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    /// Whether the inputs are for the resource or for the provider.
    pub(super) side: Side,
    /// Name of the package, which is a prefix of provider flags.
    pub(super) package: &'a str,
    pub(super) file: Option<&'a str>,
    /// Format of the file and of expressions.
    pub(super) format: Format,
    /// Values from flags, which take precedence over the file.
    pub(super) given: &'a Given,
}

/// Format of files and expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// YAML, including JSON.
    Yaml,
    /// PCL.
    Pcl,
}

impl Format {
    /// Format with this name.
    pub(super) fn named(name: Option<&str>) -> Result<Self, Error> {
        match name.unwrap_or("yaml") {
            "yaml" | "json" => Ok(Format::Yaml),
            "pcl" => Ok(Format::Pcl),
            other => Err(Error::user(format!(
                "load {other} input converter: inputs can be written in yaml, json and pcl"
            ))),
        }
    }
}

impl Source<'_> {
    /// Inputs as PCL text.
    pub(super) fn body(&self, ctx: &Context) -> Result<BodyText, Error> {
        let parsed = |error: Error| error.context(format!("parse {} file", self.side.word()));
        let (name, text) = self.read(ctx)?;
        let text = match self.format {
            Format::Yaml => plumb_yaml::inputs_as_pcl(&name, &text)
                .map_err(|error| parsed(Error::from(error)))?,
            Format::Pcl => text,
        };
        let mut body = BodyText::read(&name, &text).map_err(|error| parsed(Error::from(error)))?;
        for (property, said) in self.given {
            let flag = flag_name(property);
            let wrong = |error: Error| error.context(format!("--{flag}"));
            let expression = self.expression(&flag, said).map_err(wrong)?;
            body.set(property, &expression)
                .map_err(|error| wrong(Error::from(error)))?;
        }
        Ok(body)
    }

    /// Checks that all inputs required by the schema are present.
    pub(super) fn check_complete(
        &self,
        body: &BodyText,
        properties: &Properties,
    ) -> Result<(), Error> {
        let is_missing =
            |it: &&Property| it.required && it.constant.is_none() && !body.has(&it.name);
        let missing: Vec<&str> = properties
            .values()
            .filter(is_missing)
            .map(|it| it.name.as_str())
            .collect();
        let Some(first) = missing.first() else {
            return Ok(());
        };
        let prefix = match self.side {
            Side::Input => String::new(),
            Side::Provider => format!("{}:", self.package),
        };
        let what = self.side.word();
        let mark = match properties.get(*first).map(|it| &it.ty.kind) {
            Some(TypeKind::Primitive(_)) => "",
            _ => "+",
        };
        Err(Error::user(format!(
            "missing required {what} {}; set it with --{prefix}{}{mark} VALUE, or in a file: --{what}-file FILE",
            missing.join(", "),
            flag_name(first)
        )))
    }

    /// Name of the file in messages, and its text.
    fn read(&self, ctx: &Context) -> Result<(String, String), Error> {
        let what = self.side.word();
        let Some(file) = self.file else {
            return Ok((format!("<no {what} file>"), String::new()));
        };
        if file == "-" {
            let mut text = String::new();
            std::io::stdin().lock().read_to_string(&mut text)?;
            return Ok(("<stdin>".to_owned(), text));
        }
        let path = ctx.environment.cwd.join(file);
        let text = fs::read_to_string(&path)
            .map_err(|error| Error::from(error).context(format!("open {what} file {file}")))?;
        Ok((file.to_owned(), text))
    }

    fn expression(&self, flag: &str, said: &Said) -> Result<String, Error> {
        Ok(match said {
            Said::Value(Constant::String(text)) => hcl::quoted(text),
            Said::Value(Constant::Bool(value)) => value.to_string(),
            Said::Value(Constant::Number(value)) => hcl::number(*value).unwrap_or_default(),
            Said::Integer(value) => value.to_string(),
            Said::Expression(text) => match self.format {
                Format::Yaml => plumb_yaml::value_as_pcl(&format!("--{flag}+"), text)?,
                Format::Pcl => text.clone(),
            },
        })
    }
}

/// Required inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Completeness {
    /// All that the schema requires.
    Whole,
    /// None, because missing inputs keep their values.
    Part,
}

/// Values of a body whose attributes are `properties` of `schema`.
pub(super) async fn evaluate(
    body: &BodyText,
    side: Side,
    schema: &Arc<PackageSchema>,
    properties: &Properties,
    completeness: Completeness,
    info: &ProgramContext,
) -> Result<PropertyMap, Error> {
    let shape = Arc::new(as_resource(schema, properties, completeness));
    let values = evaluate_inputs(body.parsed(), schema, &shape, info).await;
    values.map_err(|problems| {
        let source = body.parsed().source();
        let texts: Vec<String> = problems.iter().map(|it| it.excerpt(source)).collect();
        Error::user(texts.join("\n\n")).context(format!("parse {} file", side.word()))
    })
}

/// A resource with only these inputs.
fn as_resource(
    schema: &PackageSchema,
    properties: &Properties,
    completeness: Completeness,
) -> Resource {
    let mut input_properties = properties.clone();
    if completeness == Completeness::Part {
        for property in input_properties.values_mut() {
            property.required = false;
            // A constant would be filled in.
            property.constant = None;
        }
    }
    Resource {
        token: format!("{}:index:Inputs", schema.name()),
        properties: Properties::default(),
        input_properties,
        state_inputs: None,
        list_inputs: None,
        aliases: Vec::new(),
        is_component: false,
        methods: indexmap::IndexMap::new(),
        deprecation: None,
        description: None,
    }
}

/// Reads names of resources from a file.
pub(super) fn read_names(
    file: Option<&str>,
    ctx: &Context,
) -> Result<BTreeMap<String, String>, Error> {
    let Some(file) = file else {
        return Ok(BTreeMap::new());
    };
    let text = fs::read_to_string(ctx.environment.cwd.join(file))
        .map_err(|error| Error::from(error).context(format!("open resources file {file}")))?;
    let names: BTreeMap<String, String> = serde_json::from_str(&text)
        .map_err(|error| Error::from(error).context(format!("parse resources file {file}")))?;
    for (name, urn) in &names {
        if !hcl::is_identifier(name) {
            return Err(Error::user(format!(
                "resources file {file}: {name:?} is no identifier: letters, digits and underscores are, digits not first"
            )));
        }
        if let Err(error) = plumb_resource::Urn::parse(urn) {
            return Err(Error::user(format!(
                "resources file contains invalid URN for {name:?}: {error}"
            )));
        }
    }
    Ok(names)
}
