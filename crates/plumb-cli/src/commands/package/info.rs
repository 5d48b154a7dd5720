//! `package info`.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

use clap::Args;
use plumb_operate::packages::Excerpts;
use plumb_operate::{Context, Error};
use plumb_schema::bound::{
    Function, Object, Package, Property, Resource, Returns, Type, TypeKind, member_of,
};
use plumb_schema::{BindOptions, MemberKind, NoPackages, SchemaIndex, bind};

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
    if args.resource.is_some() && args.function.is_some() {
        return Err(Error::user(
            "only one of --resource and --function may be specified",
        ));
    }
    let mut excerpts = Excerpts::open(&args.source, &args.parameters, ctx)?;
    let shown = Shown::find(&args, excerpts.index())?;
    let index = excerpts.index();
    let wanted = match &shown {
        Shown::Package => Vec::new(),
        Shown::Module(module) => members_of(index, module),
        Shown::Resource(token) => vec![(MemberKind::Resource, token.clone())],
        Shown::Function(token) => vec![(MemberKind::Function, token.clone())],
    };
    let wanted: HashSet<(MemberKind, String)> = wanted.into_iter().collect();
    let schema = excerpts.read(|kind, token| wanted.contains(&(kind, token.to_owned())))?;
    let document = schema.document()?;
    // Errors in the schema are ignored here; `schema check` reports them.
    let options = BindOptions {
        allow_dangling: true,
        packages: &NoPackages,
    };
    let package = bind(&document, options).package;
    let text = match &shown {
        Shown::Package => package_text(&package),
        Shown::Module(module) => module_text(&package, module)?,
        Shown::Resource(token) => {
            let mut resources = package.resources.iter();
            let found = resources.find(|it| *it.token == **token);
            resource_text(&package, found.ok_or_else(|| none("resource", token))?)
        }
        Shown::Function(token) => {
            let found = package.functions.iter().find(|it| it.token == *token);
            function_text(&package, found.ok_or_else(|| none("function", token))?)
        }
    };
    ctx.printer.data(&text);
    Ok(())
}

/// Selected part of the package, members by their tokens.
enum Shown {
    Package,
    Module(String),
    Resource(String),
    Function(String),
}

impl Shown {
    fn find(args: &InfoArgs, index: &SchemaIndex) -> Result<Self, Error> {
        let module = args.module.as_deref();
        let one = |kind, name: &str| one_member(index, kind, module, name);
        Ok(match (&args.resource, &args.function, module) {
            (Some(name), _, _) => Shown::Resource(one(MemberKind::Resource, name)?),
            (None, Some(name), _) => Shown::Function(one(MemberKind::Function, name)?),
            (None, None, Some(module)) => Shown::Module(module.to_owned()),
            (None, None, None) => Shown::Package,
        })
    }
}

/// Name of a module, as users write it.
fn named(module: String) -> String {
    Some(module)
        .filter(|module| !module.is_empty())
        .unwrap_or_else(|| "index".to_owned())
}

fn module_name(package: &Package<'_>, token: &str) -> String {
    named(package.module_of(token))
}

fn members_of(index: &SchemaIndex, module: &str) -> Vec<(MemberKind, String)> {
    let of_kind = |kind| {
        let tokens = index.tokens(kind);
        let here = tokens.filter(move |token| named(index.module_of(token)) == module);
        here.map(move |token| (kind, token.to_owned()))
    };
    let resources = of_kind(MemberKind::Resource);
    resources.chain(of_kind(MemberKind::Function)).collect()
}

fn none(kind: &str, name: &str) -> Error {
    Error::user(format!("{kind} {name:?} not found"))
}

/// Token of the member with the name `name`.
fn one_member(
    index: &SchemaIndex,
    kind: MemberKind,
    module: Option<&str>,
    name: &str,
) -> Result<String, Error> {
    let is_here = |token: &str| module.is_none_or(|module| named(index.module_of(token)) == module);
    let is_meant = |token: &&str| *token == name || (member_of(token) == name && is_here(token));
    let matches: Vec<&str> = index.tokens(kind).filter(is_meant).collect();
    let kind = match kind {
        MemberKind::Resource => "resource",
        MemberKind::Function => "function",
    };
    match matches[..] {
        [found] => Ok(found.to_owned()),
        [] => Err(none(kind, name)),
        _ => Err(Error::user(format!(
            "{kind} {name:?} is ambiguous; say which with --module, or by its token: {}",
            matches.join(", ")
        ))),
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

/// First line of a description that contains text, without its tags.
fn summary(description: &str) -> String {
    let mut lines = description.lines().map(without_tags);
    let is_said = |line: &String| !line.is_empty() && !line.starts_with(['#', '{', '`']);
    lines.find(is_said).unwrap_or_default()
}

/// Tags in descriptions that are removed.
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
