//! Generator of Rust programs.
//!
//! The program is `src/main.rs`; each component is a module of its own. Rust is typed, and values have one owner:
//!
//! 1. [`expression`], [`collections`] and [`access`] print trees together with their [kinds](crate::kinds) and with what
//!    [owns](printer::Hold) them; [`convert`] converts values to what a place accepts, and [`functions`] prints calls of
//!    functions of PCL.
//! 2. [`closures`] copies the variables that closures use, because outputs call them later.
//! 3. [`statements`], [`ranges`], [`options`], [`hooks`] and [`component`] print definitions.

mod access;
mod closures;
mod collections;
mod component;
mod convert;
mod expression;
mod functions;
mod hooks;
mod options;
mod printer;
mod ranges;
mod statements;
mod types;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use plumb_codegen::programs::ProgramLanguage;
use plumb_pcl::{Definition, DefinitionKind, Program};

use crate::dialect::Dialect;
use crate::layout::Lines;
use crate::lower::Lowering;
use crate::names::{Names, component_class};
use crate::report::Report;
use crate::{Generated, components, order};
use printer::Printer;
use statements::{Outputs, Statements};

const RUST: ProgramLanguage = ProgramLanguage::Rust;

/// Names that generated files use themselves.
const RESERVED: [&str; 11] = [
    "args",
    "single_or_none",
    "config",
    "ctx",
    "main",
    "made",
    "created",
    "opts",
    "plumb",
    "collected",
    "status",
];

/// Path of a component's type.
fn component_path(class: &str) -> String {
    format!("crate::{}::{class}", module(class))
}

/// Module of a component.
fn module(class: &str) -> String {
    match RUST.variable(class).as_str() {
        "main" => "main_component".to_owned(),
        name => name.to_owned(),
    }
}

/// Generates all files of a program.
pub(crate) fn generate(program: &Program, generated: &mut Generated) {
    let mut files = Files::default();
    files.components_of(program, generated);
    let mut statements = files.statements(program, false, generated);
    main(&mut statements);
    let (printer, body) = (statements.printer, statements.lines.into_text());
    let mut text = String::new();
    for module in &files.modules {
        let _ = writeln!(text, "mod {module};");
    }
    if !files.modules.is_empty() {
        text.push('\n');
    }
    text.push_str(&uses(&printer, &body));
    text.push_str("#[plumb::main]\nasync fn main(ctx: Ctx) -> plumb::Result<()> {\n");
    text.push_str(body.trim_start_matches('\n'));
    text.push_str("    Ok(())\n}\n");
    text.push_str(&helpers(&printer));
    generated.files.insert("src/main.rs".to_owned(), text);
}

/// State that the files of a program share.
#[derive(Default)]
struct Files {
    /// Outputs of the components that have been generated, by folder.
    outputs: Outputs,
    modules: BTreeSet<String>,
}

impl Files {
    /// Generates the components of a program, the inner ones first.
    fn components_of(&mut self, program: &Program, generated: &mut Generated) {
        for inner in components::direct(program) {
            if self.outputs.contains_key(&inner.folder) {
                continue;
            }
            self.components_of(&inner, generated);
            let class = component_class(&inner, RUST);
            let mut statements = self.statements(&inner, true, generated);
            let outputs = component::types(&mut statements, &class);
            let (printer, body) = (statements.printer, statements.lines.into_text());
            let text = uses(&printer, &body) + &body + &helpers(&printer);
            let module = module(&class);
            generated.files.insert(format!("src/{module}.rs"), text);
            self.modules.insert(module);
            self.outputs.insert(inner.folder.clone(), outputs);
        }
    }

    fn statements<'s, 'p>(
        &'s self,
        program: &'p Program,
        is_component: bool,
        generated: &'s mut Generated,
    ) -> Statements<'s, 'p> {
        let names = Names::new(program, &[], RUST, &RESERVED);
        Statements {
            program,
            lowering: Lowering::new(program, Dialect::of(RUST), is_component),
            printer: Printer::new(names, program.definitions.len(), is_component),
            lines: Lines::new(4),
            is_used: order::used(program),
            outputs: &self.outputs,
            report: Report::new("Rust", &mut generated.problems),
        }
    }
}

fn main(statements: &mut Statements<'_, '_>) {
    let program = statements.program;
    statements.lines.deeper();
    let mut awaited = order::requirement(program);
    if awaited.as_ref().is_some_and(Vec::is_empty) {
        statements.requirement();
        awaited = None;
    }
    let has_config = |it: &Definition| matches!(it.kind, DefinitionKind::Config(_));
    if program.definitions.iter().any(has_config) {
        statements.lines.plain("let config = ctx.values();");
    }
    for position in order::order(program) {
        statements.definition(position);
        if order::is_last_awaited(&mut awaited, position) {
            statements.requirement();
        }
    }
}

/// Functions that a file calls.
fn helpers(printer: &Printer) -> String {
    let mut text = String::new();
    for helper in &printer.helpers {
        text.push('\n');
        text.push_str(helper);
    }
    text
}

/// Imports of a file.
fn uses(printer: &Printer, body: &str) -> String {
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in printer.imports.values() {
        // Types of values that need no annotation are imported in vain.
        if let Some((parent, name)) = path.rsplit_once("::")
            && statements::mentions(body, name)
        {
            groups
                .entry(parent.to_owned())
                .or_default()
                .push(name.to_owned());
        }
    }
    for path in &printer.traits {
        if let Some((parent, name)) = path.rsplit_once("::") {
            groups
                .entry(parent.to_owned())
                .or_default()
                .push(format!("{name} as _"));
        }
    }
    let mut text = String::new();
    let mut own = String::new();
    let mut standard = String::new();
    for (parent, names) in groups {
        let group = match parent.split("::").next() {
            Some("crate") => &mut own,
            Some("std") => &mut standard,
            _ => &mut text,
        };
        let _ = match names.as_slice() {
            [name] => writeln!(group, "use {parent}::{name};"),
            names => writeln!(group, "use {parent}::{{{}}};", names.join(", ")),
        };
    }
    let mut all = String::new();
    if !standard.is_empty() {
        all = standard + "\n";
    }
    all.push_str("use plumb::prelude::*;\n");
    all.push_str(&text);
    if !own.is_empty() {
        all.push('\n');
        all.push_str(&own);
    }
    all.push('\n');
    all
}
