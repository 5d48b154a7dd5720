//! Generator of TypeScript programs (`codegen.md` 13.2).
//!
//! The program is `index.ts`; each component is a class in a file of its own. Outputs of the program are exports.

mod component;
mod expression;
mod functions;
mod helpers;
mod hooks;
mod statements;
mod types;

use plumb_codegen::programs::ProgramLanguage;
use plumb_pcl::Program;

use crate::components;
use crate::dialect::Dialect;
use crate::layout::{Doc, Lines};
use crate::lower::Lowering;
use crate::names::{Names, camel, component_class};
use crate::report::Report;
use crate::{Generated, order};
use expression::Printer;
use statements::Statements;

const NODEJS: ProgramLanguage = ProgramLanguage::Nodejs;

/// Reserved names in addition to keywords: names that generated files use themselves.
const RESERVED: [&str; 34] = [
    "Array",
    "Buffer",
    "Intl",
    "JSON",
    "Math",
    "Number",
    "Object",
    "String",
    "any",
    "async",
    "await",
    "can",
    "child_process",
    "config",
    "console",
    "crypto",
    "elements",
    "entriesOf",
    "error",
    "exports",
    "firstOf",
    "fs",
    "global",
    "index",
    "key",
    "let",
    "module",
    "notImplemented",
    "process",
    "pulumi",
    "require",
    "singleOrNone",
    "undefined",
    "value",
];

/// Parameters of component constructors.
const RESERVED_IN_COMPONENTS: [&str; 3] = ["args", "name", "opts"];

/// Generates all files of a program.
pub(crate) fn generate(program: &Program, generated: &mut Generated) {
    let text = file(program, Part::Main, generated);
    generated.files.insert("index.ts".to_owned(), text);
    for component in components::all(program).values() {
        let path = format!("{}.ts", module_of(component));
        let text = file(component, Part::Component, generated);
        generated.files.insert(path, text);
    }
}

/// Module of a component.
fn module_of(program: &Program) -> String {
    camel(&program.folder.replace('/', "-"))
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
    let mut names = Names::new(program, &packages, NODEJS, &[&RESERVED, own].concat());
    let mut lowering = Lowering::new(program, Dialect::of(NODEJS), is_component);
    if is_component {
        component::rename_inputs(program, &mut names);
    }
    let exports = statements::exports(program, &mut names, &mut lowering, is_component);
    let mut body = Lines::new(4);
    let mut statements = Statements {
        program,
        lowering,
        printer: Printer::new(&names),
        lines: &mut body,
        is_component,
        exports,
        report: Report::new("TypeScript", &mut generated.problems),
    };
    if is_component {
        component::class(&mut statements);
    } else {
        main(&mut statements);
    }
    let (modules, helpers) = (statements.printer.modules, statements.printer.helpers);
    let mut lines = Lines::new(4);
    for module in &modules {
        lines.plain(&format!("import * as {module} from \"{module}\";"));
    }
    lines.plain("import * as pulumi from \"@pulumi/pulumi\";");
    for package in names.packages() {
        let (import, alias) = (NODEJS.string(&package.names.import), &package.alias);
        lines.plain(&format!("import * as {alias} from {import};"));
    }
    for component in components::direct(program) {
        let class = component_class(&component, NODEJS);
        let module = module_of(&component);
        lines.plain(&format!("import {{ {class} }} from \"./{module}\";"));
    }
    let mut text = lines.into_text();
    for helper in helpers {
        text.push('\n');
        text.push_str(helper.text());
    }
    let body = body.into_text();
    if !body.is_empty() {
        text.push('\n');
        text.push_str(body.trim_start_matches('\n'));
    }
    text
}

fn main(statements: &mut Statements<'_, '_>) {
    let order = order::order(statements.program);
    let mut awaited = order::requirement(statements.program);
    if awaited.as_ref().is_some_and(Vec::is_empty) {
        requirement(statements);
        awaited = None;
    }
    if order.iter().any(|position| statements.is_config(*position)) {
        statements
            .lines
            .plain("const config = new pulumi.Config();");
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
        let call = Doc::hugged("pulumi.requirePulumiVersion(", version, ");");
        statements.lines.line(&call);
    }
}
