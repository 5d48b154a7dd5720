//! Generator of C# programs (`codegen.md` 13.6).
//!
//! The program is `Program.cs`, with statements at the top level; each component has a file of its own. Outputs have no
//! properties, so that every access is a callback. Modules as for Java ([`crate::java`]).

mod access;
mod collections;
mod component;
mod convert;
mod expression;
mod functions;
mod helpers;
mod options;
mod printer;
mod statements;
mod types;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use plumb_codegen::programs::ProgramLanguage;
use plumb_pcl::{Definition, DefinitionKind, Program};

use crate::dialect::Dialect;
use crate::layout::{Doc, Lines};
use crate::lower::Lowering;
use crate::names::{Names, component_class};
use crate::report::Report;
use crate::{Generated, components, order};
use helpers::Helper;
use printer::Printer;
use statements::{Outputs, Statements};

const CSHARP: ProgramLanguage = ProgramLanguage::Csharp;

/// Names that generated files use themselves.
const RESERVED: [&str; 20] = [
    "Alias",
    "Config",
    "Convert",
    "Deployment",
    "Enumerable",
    "File",
    "Helpers",
    "JsonSerializer",
    "KeyValuePair",
    "Math",
    "Output",
    "TimeSpan",
    "args",
    "config",
    "index",
    "it",
    "item",
    "position",
    "value",
    "var",
];

/// Parameters of component constructors.
const RESERVED_IN_COMPONENTS: [&str; 2] = ["name", "options"];

/// Generates all files of a program.
pub(crate) fn generate(program: &Program, generated: &mut Generated) {
    let mut files = Files::default();
    files.components_of(program, generated);
    let mut statements = files.statements(program, false, generated);
    main(&mut statements);
    let (mut printer, body) = (statements.printer, statements.lines);
    files.helpers.append(&mut printer.helpers);
    let mut text = body.into_text();
    if !files.helpers.is_empty() {
        helper_class(&mut printer, &files.helpers, &mut text);
    }
    let text = file(&printer, &text);
    generated.files.insert("Program.cs".to_owned(), text);
}

/// State that the files of a program share.
#[derive(Default)]
struct Files {
    /// Outputs of the components that have been generated, by folder.
    outputs: Outputs,
    /// Helpers that the files call; they are in `Program.cs`.
    helpers: BTreeSet<Helper>,
}

impl Files {
    /// Generates the components of a program, the inner ones first.
    fn components_of(&mut self, program: &Program, generated: &mut Generated) {
        for inner in components::direct(program) {
            if self.outputs.contains_key(&inner.folder) {
                continue;
            }
            self.components_of(&inner, generated);
            let class = component_class(&inner, CSHARP);
            let mut statements = self.statements(&inner, true, generated);
            let outputs = component::classes(&mut statements, &class);
            let (mut printer, body) = (statements.printer, statements.lines);
            self.helpers.append(&mut printer.helpers);
            let text = file(&printer, &body.into_text());
            generated.files.insert(format!("{class}.cs"), text);
            self.outputs.insert(inner.folder.clone(), outputs);
        }
    }

    fn statements<'s, 'p>(
        &'s self,
        program: &'p Program,
        is_component: bool,
        generated: &'s mut Generated,
    ) -> Statements<'s, 'p> {
        let own: &[&str] = if is_component {
            &RESERVED_IN_COMPONENTS
        } else {
            &[]
        };
        let names = Names::new(program, &[], CSHARP, &[&RESERVED, own].concat());
        Statements {
            program,
            lowering: Lowering::new(program, Dialect::of(CSHARP), is_component),
            printer: Printer::new(names, program.definitions.len()),
            lines: Lines::new(4),
            is_component,
            outputs: &self.outputs,
            exports: Vec::new(),
            report: Report::new("C#", &mut generated.problems),
        }
    }
}

fn main(statements: &mut Statements<'_, '_>) {
    let program = statements.program;
    if let Some(version) = &program.required_version {
        statements
            .printer
            .refuse("the required version of the engine");
        statements.flush(version.span);
    }
    statements
        .lines
        .plain("return await Deployment.RunAsync(() =>");
    statements.lines.plain("{");
    statements.lines.deeper();
    let has_config = |it: &Definition| matches!(it.kind, DefinitionKind::Config(_));
    if program.definitions.iter().any(has_config) {
        statements.lines.plain("var config = new Config();");
    }
    for position in order::order(program) {
        statements.definition(position);
    }
    let exports = std::mem::take(&mut statements.exports);
    if !exports.is_empty() {
        let lines = &mut statements.lines;
        statements
            .printer
            .usings
            .insert("System.Collections.Generic");
        lines.blank();
        lines.plain("return new Dictionary<string, object?>");
        lines.plain("{");
        lines.deeper();
        for (key, value) in exports {
            let row = vec![Doc::text(format!("[{key}] = ")), value, ",".into()];
            lines.line(&Doc::Row(row));
        }
        lines.shallower();
        lines.plain("};");
    }
    statements.lines.shallower();
    statements.lines.plain("});");
}

/// Appends the class of the helpers.
fn helper_class(printer: &mut Printer, helpers: &BTreeSet<Helper>, text: &mut String) {
    text.push_str("\nstatic class Helpers\n{\n");
    for (at, helper) in helpers.iter().enumerate() {
        printer.usings.extend(helper.usings());
        if at > 0 {
            text.push('\n');
        }
        for line in helper.text().lines() {
            if !line.is_empty() {
                text.push_str("    ");
                text.push_str(line);
            }
            text.push('\n');
        }
    }
    text.push_str("}\n");
}

/// Text of a file with its imports.
fn file(printer: &Printer, body: &str) -> String {
    let mut usings = printer.usings.clone();
    usings.insert("Pulumi");
    let mut text = String::new();
    // Namespaces of the system come first.
    for is_system in [true, false] {
        for namespace in &usings {
            if namespace.starts_with("System") == is_system {
                let _ = writeln!(text, "using {namespace};");
            }
        }
    }
    for (alias, namespace) in &printer.aliases {
        let _ = writeln!(text, "using {alias} = {namespace};");
    }
    text.push('\n');
    text + body
}

/// A call whose arguments follow each other on their lines.
fn joined(open: &str, args: Vec<Doc>) -> Doc {
    let mut row = vec![Doc::text(open)];
    for (at, arg) in args.into_iter().enumerate() {
        if at > 0 {
            row.push(", ".into());
        }
        row.push(arg);
    }
    row.push(")".into());
    Doc::Row(row)
}
