//! `package info`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use clap::Args;
use plumb_schema::bound::{
    Function, Object, Package, Property, Resource, Returns, Type, TypeKind, member_of,
};

use super::source::SchemaText;
use crate::{Context, Error};

/// Show information about a package
///
/// Without flags, this shows what the package is and which modules it has. `--module` lists the members of one module,
/// `--resource` and `--function` show the properties of one member.
#[derive(Args, Debug)]
pub struct InfoArgs {
    /// Module name
    #[arg(short, long)]
    pub module: Option<String>,
    /// Resource name
    #[arg(short, long)]
    pub resource: Option<String>,
    /// Function name
    #[arg(short, long)]
    pub function: Option<String>,
    /// The package
    pub source: String,
    /// Parameters that make another package of it
    pub parameters: Vec<String>,
}

pub(super) fn run(args: InfoArgs, ctx: &Context) -> Result<(), Error> {
    let schema = SchemaText::load(&args.source, &args.parameters, ctx)?;
    let document = schema.document()?;
    let bound = schema.bind(&document, true, ctx)?;
    if !bound.is_usable() {
        return Err(Error::user("the schema is not valid"));
    }
    let package = bound.package;
    let module = args.module.as_deref();
    let text = match (&args.resource, &args.function) {
        (Some(_), Some(_)) => {
            return Err(Error::user(
                "only one of --resource and --function may be specified",
            ));
        }
        (Some(name), None) => resource_text(&package, find_resource(&package, module, name)?),
        (None, Some(name)) => function_text(&package, find_function(&package, module, name)?),
        (None, None) => match module {
            Some(module) => module_text(&package, module)?,
            None => package_text(&package),
        },
    };
    ctx.printer.data(&text);
    Ok(())
}

/// A module as people call it.
fn module_name(package: &Package<'_>, token: &str) -> String {
    Some(package.module_of(token))
        .filter(|module| !module.is_empty())
        .unwrap_or_else(|| "index".to_owned())
}

fn is_at(package: &Package<'_>, token: &str, module: Option<&str>, name: &str) -> bool {
    let is_here = module.is_none_or(|module| module_name(package, token) == module);
    token == name || (is_here && member_of(token) == name)
}

fn find_resource<'p, 'd>(
    package: &'p Package<'d>,
    module: Option<&str>,
    name: &str,
) -> Result<&'p Resource<'d>, Error> {
    let matches = package
        .resources
        .iter()
        .filter(|resource| is_at(package, &resource.token, module, name));
    one(
        matches.collect(),
        |it| it.token.to_string(),
        "resource",
        name,
    )
}

fn find_function<'p, 'd>(
    package: &'p Package<'d>,
    module: Option<&str>,
    name: &str,
) -> Result<&'p Function<'d>, Error> {
    let matches = package
        .functions
        .iter()
        .filter(|function| is_at(package, function.token, module, name));
    one(
        matches.collect(),
        |it| it.token.to_owned(),
        "function",
        name,
    )
}

fn one<'p, T>(
    matches: Vec<&'p T>,
    token: impl Fn(&T) -> String,
    kind: &str,
    name: &str,
) -> Result<&'p T, Error> {
    match matches[..] {
        [found] => Ok(found),
        [] => Err(Error::user(format!("{kind} {name:?} not found"))),
        _ => {
            let tokens: Vec<String> = matches.iter().map(|it| token(it)).collect();
            Err(Error::user(format!(
                "{kind} {name:?} is ambiguous; say which with --module, or by its token: {}",
                tokens.join(", ")
            )))
        }
    }
}

fn package_text(package: &Package<'_>) -> String {
    let mut modules: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for resource in &package.resources {
        modules
            .entry(module_name(package, &resource.token))
            .or_default()
            .0 += 1;
    }
    for function in &package.functions {
        modules
            .entry(module_name(package, function.token))
            .or_default()
            .1 += 1;
    }
    let mut text = String::new();
    let _ = writeln!(text, "Name: {}", package.name);
    if let Some(version) = &package.version {
        let _ = writeln!(text, "Version: {version}");
    }
    if let Some(description) = package.about.description {
        let _ = writeln!(text, "Description: {}", summary(description));
    }
    let _ = writeln!(text, "Total resources: {}", package.resources.len());
    let _ = writeln!(text, "Total functions: {}", package.functions.len());
    let _ = writeln!(text, "Total modules: {}\n\nModules:", modules.len());
    for (module, (resources, functions)) in modules {
        let _ = writeln!(
            text,
            " - {module}: {resources} resources, {functions} functions"
        );
    }
    text
}

fn module_text(package: &Package<'_>, module: &str) -> Result<String, Error> {
    let is_here = |token: &str| module_name(package, token) == module;
    let resources = package.resources.iter();
    let resources: Vec<_> = resources.filter(|it| is_here(&it.token)).collect();
    let functions = package.functions.iter();
    let functions: Vec<_> = functions.filter(|it| is_here(it.token)).collect();
    if resources.is_empty() && functions.is_empty() {
        return Err(Error::user(format!("module {module:?} not found")));
    }
    let mut text = String::new();
    let _ = writeln!(text, "Name: {}\nModule: {module}", package.name);
    let _ = writeln!(text, "Resources: {}\n", resources.len());
    for resource in resources {
        let about = resource
            .outputs
            .description
            .map_or_else(String::new, summary);
        line(&mut text, 0, member_of(&resource.token), &about);
    }
    let _ = writeln!(text, "\nFunctions: {}\n", functions.len());
    for function in functions {
        let about = function.description.map_or_else(String::new, summary);
        line(&mut text, 0, member_of(function.token), &about);
    }
    Ok(text)
}

fn resource_text(package: &Package<'_>, resource: &Resource<'_>) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "Resource: {}", resource.token);
    if let Some(description) = resource.outputs.description {
        let _ = writeln!(text, "Description: {}", summary(description));
    }
    let _ = writeln!(text, "\nInputs:");
    properties(&mut text, package, &resource.inputs);
    let _ = writeln!(text, "\nOutputs:");
    properties(&mut text, package, &resource.outputs.properties);
    text
}

fn function_text(package: &Package<'_>, function: &Function<'_>) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "Function: {}", function.token);
    if let Some(description) = function.description {
        let _ = writeln!(text, "Description: {}", summary(description));
    }
    let _ = writeln!(text, "\nInputs:");
    let none = Object::default();
    let inputs = function.inputs.as_ref().unwrap_or(&none);
    properties(&mut text, package, &inputs.properties);
    let _ = writeln!(text, "\nOutputs:");
    match &function.returns {
        Returns::Nothing => {}
        Returns::Object(object) => properties(&mut text, package, &object.properties),
        Returns::Value(ty) => line(&mut text, 0, &type_text(package, ty), ""),
    }
    text
}

fn properties(text: &mut String, package: &Package<'_>, properties: &[Property<'_>]) {
    for property in properties {
        let mark = if property.required { "*" } else { "" };
        let name = format!(
            "{} ({}{mark})",
            property.name,
            type_text(package, &property.ty)
        );
        let about = property.description.map_or_else(String::new, summary);
        line(text, 0, &name, &about);
    }
}

fn line(text: &mut String, indent: usize, name: &str, about: &str) {
    let separator = if about.is_empty() { "" } else { ": " };
    let _ = writeln!(text, "{:indent$} - {name}{separator}{about}", "");
}

fn type_text(package: &Package<'_>, ty: &Type<'_>) -> String {
    match &ty.kind {
        TypeKind::Primitive(primitive) => primitive.name().to_owned(),
        TypeKind::Any | TypeKind::Invalid => "any".to_owned(),
        TypeKind::Json => "JSON".to_owned(),
        TypeKind::Asset => "asset".to_owned(),
        TypeKind::Archive => "archive".to_owned(),
        TypeKind::Array(element) => format!("{}[]", type_text(package, element)),
        TypeKind::Map(element) => format!("map of {}", type_text(package, element)),
        TypeKind::Union(union) => {
            let elements = union.elements.iter();
            let elements: Vec<String> = elements.map(|it| type_text(package, it)).collect();
            elements.join(" | ")
        }
        TypeKind::Defined(position) => member_of(package.types[*position].token).to_owned(),
        TypeKind::Resource(position) => member_of(&package.resources[*position].token).to_owned(),
        TypeKind::Provider => "provider".to_owned(),
        TypeKind::Opaque(opaque) => member_of(&opaque.token).to_owned(),
        TypeKind::External(external) => external.token.clone(),
    }
}

/// The first line of a description that says something, without its tags.
fn summary(description: &str) -> String {
    let mut lines = description.lines().map(without_tags);
    let is_said = |line: &String| !line.is_empty() && !line.starts_with(['#', '{', '`']);
    lines.find(is_said).unwrap_or_default()
}

/// What descriptions have that is not meant for reading.
const TAGS: [&str; 3] = ["<span", "</span", "<!--"];

fn without_tags(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    let next_tag = |text: &str| TAGS.iter().filter_map(|tag| text.find(tag)).min();
    while let Some(start) = next_tag(rest) {
        text.push_str(&rest[..start]);
        let Some(end) = rest[start..].find('>') else {
            rest = "";
            break;
        };
        rest = &rest[start + end + 1..];
    }
    text.push_str(rest);
    text.trim().to_owned()
}
