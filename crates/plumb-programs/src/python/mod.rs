//! Generator of Python programs (`codegen.md` 13.3).
//!
//! The program is `__main__.py`; each component is a class in a file of its own. Inputs of a component are parameters
//! of its constructor, like those of resources.

mod captures;
mod component;
mod expression;
mod functions;
mod helpers;
mod hooks;
mod modules;
mod statements;

use plumb_codegen::programs::ProgramLanguage;
use plumb_pcl::{DefinitionKind, Program};

use crate::components;
use crate::dialect::Dialect;
use crate::flow::Flow;
use crate::layout::{Doc, Lines};
use crate::lower::Lowering;
use crate::names::{Names, component_class};
use crate::report::Report;
use crate::{Generated, order};
use expression::Printer;
use statements::Statements;

const PYTHON: ProgramLanguage = ProgramLanguage::Python;

/// Reserved names in addition to keywords: names that generated files use themselves.
const RESERVED: [&str; 38] = [
    "Any",
    "Optional",
    "args",
    "base64",
    "can_",
    "config",
    "dict",
    "elements",
    "entries_of",
    "enumerate",
    "error",
    "float",
    "hashlib",
    "index",
    "int",
    "isinstance",
    "json",
    "key",
    "len",
    "length_of_text",
    "list",
    "max",
    "min",
    "not_implemented",
    "open",
    "os",
    "pathlib",
    "pulumi",
    "range",
    "single_or_none",
    "sorted",
    "str",
    "subprocess",
    "try_",
    "type",
    "unicodedata",
    "value",
    "print",
];

/// Parameters of component constructors.
const RESERVED_IN_COMPONENTS: [&str; 3] = ["opts", "resource_name", "self"];

/// Generates all files of a program.
pub(crate) fn generate(program: &Program, generated: &mut Generated) {
    let text = file(program, Part::Main, generated);
    generated.files.insert("__main__.py".to_owned(), text);
    for component in components::all(program).values() {
        let path = format!("{}.py", module_of(component));
        let text = file(component, Part::Component, generated);
        generated.files.insert(path, text);
    }
}

/// Module of a component.
fn module_of(program: &Program) -> String {
    let name = program.folder.replace(['/', '-'], "_");
    if modules::is_taken(&name) {
        format!("{name}_component")
    } else {
        name
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Main,
    Component,
}

fn file(program: &Program, part: Part, generated: &mut Generated) -> String {
    let packages = components::packages(program);
    let is_component = part == Part::Component;
    let own: &[&str] = if is_component {
        &RESERVED_IN_COMPONENTS
    } else {
        &[]
    };
    let mut names = Names::new(program, &packages, PYTHON, &[&RESERVED, own].concat());
    let lowering = Lowering::new(program, Dialect::of(PYTHON), is_component);
    if is_component {
        component::rename_inputs(program, &mut names);
    }
    let mut body = Lines::new(4);
    let mut statements = Statements {
        program,
        lowering,
        printer: Printer::new(&names),
        lines: &mut body,
        is_component,
        uses_types: false,
        report: Report::new("Python", &mut generated.problems),
    };
    if is_component {
        component::class(&mut statements);
    } else {
        main(&mut statements);
    }
    let (modules, helpers) = (statements.printer.modules, statements.printer.helpers);
    let uses_types = statements.uses_types;
    let mut lines = Lines::new(4);
    for module in &modules {
        lines.plain(&format!("import {module}"));
    }
    let body = body.into_text();
    let types: Vec<&str> = [("Any", "Any"), ("Optional", "Optional[")]
        .into_iter()
        .filter(|(_, used)| uses_types && body.contains(used))
        .map(|(name, _)| name)
        .collect();
    if !types.is_empty() {
        lines.plain(&format!("from typing import {}", types.join(", ")));
    }
    if !modules.is_empty() || !types.is_empty() {
        lines.blank();
    }
    lines.plain("import pulumi");
    for package in names.packages() {
        let (import, alias) = (&package.names.import, &package.alias);
        if import == alias {
            lines.plain(&format!("import {import}"));
        } else {
            lines.plain(&format!("import {import} as {alias}"));
        }
    }
    let inner = components::direct(program);
    if !inner.is_empty() {
        lines.blank();
        for component in inner {
            let class = component_class(&component, PYTHON);
            lines.plain(&format!("from {} import {class}", module_of(&component)));
        }
    }
    let mut text = lines.into_text();
    for helper in helpers {
        text.push_str("\n\n");
        text.push_str(helper.text());
    }
    if !body.is_empty() {
        let is_apart = is_component || text.contains("\ndef ");
        text.push_str(if is_apart { "\n\n" } else { "\n" });
        text.push_str(body.trim_start_matches('\n'));
    }
    text
}

fn main(statements: &mut Statements<'_, '_>) {
    let program = statements.program;
    let order = order::order(program);
    let is_config = |position: &usize| {
        matches!(
            program.definitions[*position].kind,
            DefinitionKind::Config(_)
        )
    };
    let mut awaited = order::requirement(program);
    if awaited.as_ref().is_some_and(Vec::is_empty) {
        requirement(statements);
        awaited = None;
    }
    if order.iter().any(is_config) {
        statements.lines.plain("config = pulumi.Config()");
    }
    for position in order {
        statements.definition(position);
        if order::is_last_awaited(&mut awaited, position) {
            requirement(statements);
        }
    }
}

/// Writes the check of the required engine version.
fn requirement(statements: &mut Statements<'_, '_>) {
    if let Some(version) = &statements.program.required_version {
        let version = statements.lowering.any(version);
        let version = statements.printer.value(&version);
        let call = Doc::hugged("pulumi.require_pulumi_version(", version, ")");
        statements.lines.line(&call);
    }
}

/// Whether a value is always an output; otherwise it must be converted to one.
fn is_surely_output(flow: &Flow) -> bool {
    *flow == Flow::Output
}
