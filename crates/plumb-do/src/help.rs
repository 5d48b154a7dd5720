//! Help texts for the contents of a package.

use std::fmt::Write as _;

use plumb_schema::{
    Function, PackageSchema, Properties, Property, Resource, ReturnType, Section, Type,
    TypeDefinition, TypeKind,
};

use super::ask::text_of;
use super::prose;
use super::shape::{Flag, Kind, Meaning, Operation, Reading, Shape};
use super::subject::Listing;

const FLAGS: &str = "Simple inputs can be set with flags: --<input> <value> takes the value as a\n\
                     literal, while --<input>+ <value> parses the value as an expression in the\n\
                     input format.";

/// Flags of all commands on packages.
const SHARED: [(&str, &str); 5] = [
    ("--dry-run", "Run the operation in preview mode"),
    (
        "--output string",
        "Output format of results: default or json",
    ),
    (
        "--package string",
        "The package: a name, perhaps with @version, or the path of a plugin; parameters may follow",
    ),
    ("--show-secrets", "Show secret values in output"),
    (
        "--stateless",
        "Work directly with the provider, without a stack that keeps what is made",
    ),
];

/// Form of the call, which help repeats.
#[derive(Clone, Copy, Debug)]
pub(super) struct Called<'a> {
    /// Value of `--package`, if it is needed to find the package.
    pub(super) package: Option<&'a str>,
    /// The word that names the member.
    pub(super) word: &'a str,
}

impl Called<'_> {
    fn flag(&self) -> String {
        self.package
            .map(|package| format!(" --package {package}"))
            .unwrap_or_default()
    }
}

/// Help for the root module of a package.
pub(super) fn of_package(schema: &PackageSchema, called: Called<'_>) -> String {
    let mut text = format!("Interact with {} resources and functions.\n", schema.name());
    if let Some(description) = schema.description() {
        let _ = write!(text, "\n{description}\n");
    }
    listing(text, &Listing::of(schema, ""), called)
}

/// Help for a module.
pub(super) fn of_module(schema: &PackageSchema, module: &str, called: Called<'_>) -> String {
    let text = format!("Functions and resources for the {module} module.\n");
    listing(text, &Listing::of(schema, module), called)
}

fn listing(mut text: String, listing: &Listing, called: Called<'_>) -> String {
    let _ = write!(
        text,
        "\nRun 'plumb do{} <module/resource/function> --help' for more details on usage.\n\n",
        called.flag()
    );
    let lists = [
        ("Modules", &listing.modules),
        ("Functions", &listing.functions),
        ("Resources", &listing.resources),
    ];
    for (title, names) in lists.into_iter().filter(|(_, names)| !names.is_empty()) {
        let _ = writeln!(text, "{title}:");
        for name in names {
            let _ = writeln!(text, "  {name}");
        }
        text.push('\n');
    }
    text
}

/// Help for a function.
pub(super) fn of_function(
    schema: &PackageSchema,
    function: &Function,
    shape: &Shape,
    called: Called<'_>,
) -> String {
    let name = plumb_schema::bound::member_of(&function.token);
    let about = function.description.as_deref();
    let mut text = intro(
        &format!("Invoke the {name} function."),
        about,
        function.deprecation.as_deref(),
    );
    let none = Properties::default();
    let inputs = function.inputs.as_ref().map_or(&none, |it| &it.properties);
    properties(
        &mut text,
        schema,
        "Inputs",
        inputs,
        "Inputs marked with '*' are required",
    );
    match &function.returns {
        ReturnType::None => {}
        ReturnType::Object(object) => properties(
            &mut text,
            schema,
            "Outputs",
            &object.properties,
            "Outputs marked with '*' are always present",
        ),
        ReturnType::Value(ty) => {
            let _ = write!(text, "\nOutputs: {}\n", type_text(ty));
        }
    }
    if !inputs.is_empty() {
        let _ = write!(text, "\n{FLAGS}\n");
    }
    let _ = write!(
        text,
        "\nUsage:\n  plumb do{} {} [flags]\n",
        called.flag(),
        called.word
    );
    flags(&mut text, Some(shape));
    text
}

/// Help for a resource and its operations.
pub(super) fn of_resource(
    schema: &PackageSchema,
    resource: &Resource,
    called: Called<'_>,
) -> String {
    let name = plumb_schema::bound::member_of(&resource.token);
    let about = resource.description.as_deref();
    let mut text = intro(
        &format!("Operate on the {name} resource."),
        about,
        resource.deprecation.as_deref(),
    );
    properties(
        &mut text,
        schema,
        "Inputs",
        &resource.input_properties,
        "Inputs marked with '*' are required",
    );
    properties(
        &mut text,
        schema,
        "Outputs",
        &resource.properties,
        "Outputs marked with '*' are always present",
    );
    if let Some(inputs) = resource.list_inputs.as_ref().filter(|it| !it.is_empty()) {
        let note = "List inputs marked with '*' are required";
        properties(&mut text, schema, "List Inputs", inputs, note);
    }
    if !resource.input_properties.is_empty() {
        let _ = write!(text, "\n{FLAGS}\n");
    }
    let command = format!("plumb do{} {}", called.flag(), called.word);
    let _ = write!(
        text,
        "\nUsage:\n  {command} [command]\n\nAvailable Commands:\n"
    );
    for operation in Operation::OF_RESOURCES {
        if operation != Operation::List || resource.list_inputs.is_some() {
            let _ = writeln!(text, "  {:12}{}", operation.word(), operation.about());
        }
    }
    flags(&mut text, None);
    let _ = write!(
        text,
        "\nUse `{command} [command] --help` for more information about a command.\n"
    );
    text
}

/// Help for an operation of a resource.
pub(super) fn of_operation(shape: &Shape, called: Called<'_>) -> String {
    let operation = shape.operation;
    let word = shape
        .word
        .map(|word| format!(" <{word}>"))
        .unwrap_or_default();
    let mut text = format!("{}\n", about(shape));
    let _ = write!(
        text,
        "\nUsage:\n  plumb do{} {} {}{word} [flags]\n",
        called.flag(),
        called.word,
        operation.word()
    );
    flags(&mut text, Some(shape));
    text
}

/// Description of an operation.
fn about(shape: &Shape) -> &'static str {
    let is_kept = shape.word == Some("name");
    match (shape.operation, is_kept) {
        (Operation::Create, true) => {
            "Create a resource.\n\nThe stack keeps it under its name, and later updates keep it as it is said here. Fails if \
             the stack\nhas a resource of the name already: `upsert` replaces what is said of one."
        }
        (Operation::Upsert, true) => {
            "Create a resource or fully update an existing one.\n\nThe stack keeps it under its name. No other resources of \
             the stack are touched."
        }
        (Operation::Patch, true) => {
            "Patch a resource.\n\nThe inputs that are given take the place of those that the stack keeps; everything else \
             stays as it is.\nFails if the stack keeps no resource of the name."
        }
        (Operation::Delete, true) => "Delete a resource that the stack keeps under its name.",
        (Operation::Create, false) => {
            "Create a resource that no stack keeps. What becomes of it is up to you."
        }
        (Operation::Upsert, false) => {
            "Create a resource or fully update an existing one.\n\nIf there is an object of the id, the given inputs take the \
             place of all that it has; else one is\ncreated, with an id that the provider chooses."
        }
        (Operation::Patch, false) => {
            "Patch a resource.\n\nThe inputs that are given take the place of those that the object has; the others stay."
        }
        (Operation::Delete, false) => "Delete an object by its id.",
        (Operation::Read, _) => "Read an object by its id, as the provider knows it.",
        (Operation::List, _) => {
            "List existing objects as JSON. Without flags it is the first page of them."
        }
        (Operation::Invoke, _) => "Call the function.",
    }
}

fn intro(first: &str, description: Option<&str>, deprecation: Option<&str>) -> String {
    let mut text = format!("{first}\n");
    let description = prose::description(description.unwrap_or_default());
    if !description.is_empty() {
        let _ = write!(text, "\n{description}\n");
    }
    if let Some(why) = deprecation {
        let _ = write!(text, "\nDeprecated: {why}\n");
    }
    text
}

fn properties(
    text: &mut String,
    schema: &PackageSchema,
    title: &str,
    properties: &Properties,
    note: &str,
) {
    let _ = write!(text, "\n{title}:\n");
    for property in properties.values() {
        let mark = if property.required { "*" } else { "" };
        let _ = write!(
            text,
            " - {} ({}{mark})",
            property.name,
            type_text(&property.ty)
        );
        let about = prose::summary(property.description.as_deref().unwrap_or_default());
        if !about.is_empty() {
            let _ = write!(text, ": {about}");
        }
        text.push_str(&more(schema, property));
        text.push('\n');
    }
    if properties.values().any(|property| property.required) {
        let _ = writeln!(text, "{note}");
    }
}

/// Additional facts about a property: allowed values, defaults and marks.
fn more(schema: &PackageSchema, property: &Property) -> String {
    let mut more = String::new();
    let quoted = |constant| match constant {
        plumb_schema::Constant::String(text) => format!("{text:?}"),
        other => text_of(&other),
    };
    let values: Vec<String> = choices(schema, &property.ty)
        .into_iter()
        .map(quoted)
        .collect();
    if !values.is_empty() {
        let _ = write!(more, " [one of {}]", values.join(", "));
    }
    if let Some(constant) = &property.constant {
        let _ = write!(more, " [always {}]", quoted(constant.clone()));
    }
    if let Some(default) = &property.default {
        let _ = write!(more, " [default {}]", quoted(default.clone()));
    }
    if property.secret {
        more.push_str(" [secret]");
    }
    if let Some(why) = &property.deprecation {
        let _ = write!(more, " [deprecated: {}]", prose::summary(why));
    }
    more
}

/// The values of an enum.
fn choices(schema: &PackageSchema, ty: &Type) -> Vec<plumb_schema::Constant> {
    let TypeKind::Reference(reference) = &ty.kind else {
        return Vec::new();
    };
    if reference.package.is_some() || reference.section != Section::Type {
        return Vec::new();
    }
    match schema.type_definition(&reference.token) {
        Some(Ok(definition)) => match &*definition {
            TypeDefinition::Enum(it) => it.values.iter().map(|value| value.value.clone()).collect(),
            TypeDefinition::Object(_) => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn type_text(ty: &Type) -> String {
    match &ty.kind {
        TypeKind::Primitive(primitive) => primitive.name().to_owned(),
        TypeKind::Any | TypeKind::Invalid => "any".to_owned(),
        TypeKind::Json => "JSON".to_owned(),
        TypeKind::Asset => "Asset".to_owned(),
        TypeKind::Archive => "Archive".to_owned(),
        TypeKind::Array(element) => format!("Array<{}>", type_text(element)),
        TypeKind::Map(element) => format!("Map<{}>", type_text(element)),
        TypeKind::Union(union) => {
            let elements: Vec<String> = union.elements.iter().map(type_text).collect();
            format!("Union<{}>", elements.join(", "))
        }
        TypeKind::Reference(reference) => reference.token.clone(),
    }
}

fn flags(text: &mut String, shape: Option<&Shape>) {
    let mut rows: Vec<(String, String)> = SHARED
        .iter()
        .map(|(flag, about)| ((*flag).to_owned(), (*about).to_owned()))
        .collect();
    let listed = shape.into_iter().flat_map(|shape| &shape.flags);
    rows.extend(listed.filter(|flag| flag.is_shown).map(row));
    rows.push(("--help".to_owned(), "Show this help".to_owned()));
    rows.sort();
    let width = rows.iter().map(|(flag, _)| flag.len()).max().unwrap_or(0) + 3;
    text.push_str("\nFlags:\n");
    for (flag, about) in rows {
        let letter = if flag == "--help" { "-h, " } else { "    " };
        let _ = writeln!(
            text,
            "{}",
            format!("  {letter}{flag:width$}{about}").trim_end()
        );
    }
}

fn row(flag: &Flag) -> (String, String) {
    let value = match &flag.meaning {
        Meaning::Own(own) if own.is_switch() => "",
        Meaning::Own(_) => " string",
        Meaning::Property {
            reading: Reading::Expression,
            ..
        } => " expression",
        Meaning::Property { kind, .. } => match kind {
            Kind::Bool => "",
            Kind::Integer => " int",
            Kind::Number => " number",
            Kind::Text | Kind::Choice(_) | Kind::Compound => " string",
        },
    };
    (format!("--{}{value}", flag.name), flag.about.clone())
}
