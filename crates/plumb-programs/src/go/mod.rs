//! Generator of Go programs (`codegen.md` 13.4).
//!
//! The program is `main.go`; each component has a file of its own in the same package. Go is typed and has no
//! expressions with statements inside:
//!
//! 1. [`expression`], [`collections`] and [`access`] print trees together with their [`kinds`]; [`convert`] converts values
//!    to what a place accepts, and [`functions`] prints calls of functions of PCL. Statements that an expression needs precede its own.
//! 2. [`statements`], [`options`] and [`component`] print definitions.
//! 3. [`syntax`] is the code as a tree, and its layout, which is that of `gofmt`.
//!
//! Constructs without a form in Go, and values whose conversion is unknown, are reported with their definitions.

mod access;
mod apply;
mod attempts;
mod collections;
mod component;
mod convert;
mod expression;
mod functions;
mod helpers;
mod hooks;
mod kinds;
mod options;
mod places;
mod printer;
mod statements;
mod syntax;

use std::collections::{BTreeMap, BTreeSet};

use plumb_codegen::programs::{ProgramLanguage, go_package};
use plumb_pcl::{DefinitionKind, Program};

use crate::dialect::Dialect;
use crate::lower::Lowering;
use crate::names::Names;
use crate::report::Report;
use crate::{Generated, components, order};
use helpers::Helper;
use printer::Printer;
use statements::{Outputs, Statements};
use syntax::{Code, Statement};

pub(crate) use kinds::has_method;

const GO: ProgramLanguage = ProgramLanguage::Go;

const PULUMI: &str = "github.com/pulumi/pulumi/sdk/v3/go/pulumi";

/// Reserved names in addition to keywords: names that generated files use themselves, and functions of Go.
const RESERVED: &[&str] = &[
    "args",
    "asResources",
    "base64",
    "cap",
    "cfg",
    "clear",
    "close",
    "complex",
    "config",
    "copy",
    "created",
    "ctx",
    "delete",
    "elements",
    "err",
    "exec",
    "false",
    "find",
    "fmt",
    "imag",
    "index",
    "iota",
    "itemAt",
    "json",
    "key",
    "lookup",
    "main",
    "maps",
    "max",
    "memberOf",
    "min",
    "new",
    "nil",
    "number",
    "os",
    "print",
    "println",
    "pulumi",
    "real",
    "recover",
    "sha1",
    "sha256",
    "singleOrNone",
    "slices",
    "strconv",
    "strings",
    "value",
    "valueOf",
];

/// Names that constructors of components use.
const IN_COMPONENTS: &[&str] = &["component", "name", "opts"];

/// Generates all files of a program.
pub(crate) fn generate(program: &Program, generated: &mut Generated) {
    let mut files = Files {
        components: component::components(program),
        outputs: Outputs::new(),
        helpers: BTreeSet::new(),
    };
    files.components_of(program, generated);
    let mut statements = files.statements(program, false, generated);
    statements.printer.open(true);
    main(&mut statements);
    statements.printer.line("return nil", None);
    let body = statements.printer.close();
    let signature = "func(ctx *pulumi.Context) error".to_owned();
    let run = Code::call("pulumi.Run", vec![Code::Function(signature, body)]);
    let main = Statement::Block {
        head: "func main()".to_owned(),
        condition: None,
        tail: "",
        body: vec![Statement::Simple(String::new(), Some(run))],
        otherwise: None,
    };
    let mut printer = statements.printer;
    files.helpers.append(&mut printer.helpers);
    for path in files.helpers.iter().flat_map(|it| it.imports()) {
        printer.import(path);
    }
    let mut text = file(&printer, &[main]);
    for helper in files.helpers {
        let call = format!("{}(", helper.name());
        let is_called = |text: &String| text.contains(&call);
        // Callbacks may have made a helper unnecessary.
        if is_called(&text) || generated.files.values().any(is_called) {
            text.push('\n');
            text.push_str(helper.text());
        }
    }
    generated.files.insert("main.go".to_owned(), text);
}

/// State that the files of a program share.
struct Files {
    /// Names of components, by folder.
    components: BTreeMap<String, component::Component>,
    /// Outputs of the components that have been generated.
    outputs: Outputs,
    /// Helpers that the files call; they are in `main.go`.
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
            let mut statements = self.statements(&inner, true, generated);
            let (declarations, kinds) = component::declarations(&mut statements);
            let mut printer = statements.printer;
            self.helpers.append(&mut printer.helpers);
            let text = file(&printer, &declarations);
            if let Some(names) = self.components.get(&inner.folder) {
                generated.files.insert(names.file.clone(), text);
            }
            self.outputs.insert(inner.folder.clone(), kinds);
        }
    }

    fn statements<'s, 'p>(
        &'s self,
        program: &'p Program,
        is_component: bool,
        generated: &'s mut Generated,
    ) -> Statements<'s, 'p> {
        let classes = self.components.values().map(|it| it.class.as_str());
        let own = if is_component { IN_COMPONENTS } else { &[] };
        let reserved = RESERVED.iter().chain(own).copied().chain(classes);
        let reserved: Vec<&str> = reserved.collect();
        let names = Names::new(program, &[], GO, &reserved);
        Statements {
            program,
            lowering: Lowering::new(program, Dialect::of(GO), is_component),
            printer: Printer::new(names, program.definitions.len()),
            is_component,
            is_used: order::used(program),
            outputs: &self.outputs,
            components: &self.components,
            report: Report::new("Go", &mut generated.problems),
        }
    }
}

fn main(statements: &mut Statements<'_, '_>) {
    let program = statements.program;
    let mut awaited = order::requirement(program);
    if awaited.as_ref().is_some_and(Vec::is_empty) {
        statements.requirement();
        awaited = None;
    }
    let has_config = |it: &plumb_pcl::Definition| matches!(it.kind, DefinitionKind::Config(_));
    if program.definitions.iter().any(has_config) {
        statements.printer.import(&format!("{PULUMI}/config"));
        statements
            .printer
            .line("cfg := config.New(ctx, \"\")", None);
    }
    for position in order::order(program) {
        statements.definition(position);
        if order::is_last_awaited(&mut awaited, position) {
            statements.requirement();
        }
    }
}

/// Text of a file with its imports.
fn file(printer: &Printer, declarations: &[Statement]) -> String {
    let mut imports = printer.imports.clone();
    imports.insert(PULUMI.to_owned(), "pulumi".to_owned());
    let mut text = "package main\n\nimport (\n".to_owned();
    let is_standard = |path: &str| !path.split('/').next().unwrap_or_default().contains('.');
    for wants_standard in [true, false] {
        let mut has_any = false;
        for (path, alias) in &imports {
            if is_standard(path) != wants_standard {
                continue;
            }
            if !has_any && !wants_standard && !text.ends_with("(\n") {
                text.push('\n');
            }
            has_any = true;
            let alias = if *alias == go_package(path) && path.ends_with(alias.as_str()) {
                String::new()
            } else {
                format!("{alias} ")
            };
            text.extend(["\t", &alias, &GO.string(path), "\n"]);
        }
    }
    text.push_str(")\n\n");
    text.push_str(&syntax::print(declarations, 0));
    text
}
