//! Schemas of the packages of a project.

use std::collections::BTreeMap;
use std::sync::Arc;

use plumb_operate::context::LoadedProject;
use plumb_operate::packages::{self, SchemaText};
use plumb_operate::{Context, Error};
use plumb_resource::provider::PluginSpec;
use plumb_schema::PackageSchema;

use crate::commands::package::sdk;
use crate::commands::{install, language};

/// Packages that are in the executable, and in every document.
const BUILT_IN: [&str; 2] = ["command", "random"];

/// Schemas by the names of their packages. A package of the program that has no schema is reported and left out, so that a broken
/// program does not keep its editor from helping.
pub(super) fn find(
    project: &LoadedProject,
    named: &[String],
    ctx: &Context,
) -> Result<Vec<Arc<PackageSchema>>, Error> {
    let mut found: BTreeMap<String, Arc<PackageSchema>> = BTreeMap::new();
    let asked: Vec<PluginSpec> = named
        .iter()
        .map(|name| packages::named(name))
        .collect::<Result<_, _>>()?;
    let of_program = if project
        .project
        .runtime
        .as_ref()
        .is_some_and(|it| it.name == "yaml")
    {
        of_program(project, ctx)?
    } else {
        Vec::new()
    };
    let built_in = BUILT_IN.map(PluginSpec::named);
    let specs: Vec<PluginSpec> = built_in
        .into_iter()
        .chain(of_program)
        .chain(asked.clone())
        .collect();
    let schemas = language::block_on(packages::schemas(&specs, ctx))??;
    for (spec, schema) in specs.iter().zip(schemas) {
        match schema {
            Some(schema) => {
                found.insert(schema.name().to_owned(), schema);
            }
            None if asked.contains(spec) => {
                return Err(Error::user(format!("the package {} has no schema here", spec.name))
                    .hint("`plumb plugin install resource NAME VERSION` gets its plugin"));
            }
            None if spec.name != "pulumi" => ctx.printer.warning(&format!(
                "the package {} has no schema here, and its types are left out; `plumb install` gets its plugin",
                spec.name
            )),
            None => {}
        }
    }
    for (name, spec) in &project.project.packages {
        let text = sdk::schema_of(spec, project.root(), ctx).map(SchemaText::into_text);
        let schema = text.and_then(|text| {
            PackageSchema::parse(text).map_err(|error| Error::user(error.to_string()))
        });
        match schema {
            Ok(schema) => {
                found.insert(schema.name().to_owned(), Arc::new(schema));
            }
            Err(error) => ctx.printer.warning(&format!(
                "the types of the package {name} are left out: {}",
                error.text().unwrap_or_default()
            )),
        }
    }
    // The package of resources that every program has.
    let own = plumb_schema::pulumi_package();
    found.insert(own.name().to_owned(), own);
    Ok(found.into_values().collect())
}

/// Packages of a YAML program. Those of a program with errors are not known.
fn of_program(project: &LoadedProject, ctx: &Context) -> Result<Vec<PluginSpec>, Error> {
    let required = language::block_on(install::required(project, ctx))?;
    Ok(required.unwrap_or_else(|error| {
        let text = error.text().unwrap_or_default();
        ctx.printer.warning(&format!(
            "the packages of the program are not known, because it has errors: {text}"
        ));
        Vec::new()
    }))
}

/// Name and version of a package.
pub(super) fn shown(schema: &PackageSchema) -> String {
    match schema.version() {
        Some(version) => format!("{} {version}", schema.name()),
        None => schema.name().to_owned(),
    }
}
