//! Generator of Java programs (`codegen.md` 13.5).
//!
//! The program is the class `App`; each component is a class of its own, beside a class of its arguments. Java is typed:
//!
//! 1. [`expression`], [`collections`] and [`access`] print trees together with their [kinds](crate::kinds); [`convert`]
//!    converts values to what a place accepts, and [`functions`] prints calls of functions of PCL.
//! 2. [`statements`], [`options`] and [`component`] print definitions.
//! 3. [`helpers`] are methods of `App` for what Java has no expression for.

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
use plumb_pcl::{DefinitionKind, Program};

use crate::dialect::Dialect;
use crate::layout::Lines;
use crate::lower::Lowering;
use crate::names::{Names, component_class};
use crate::report::Report;
use crate::{Generated, components, order};
use helpers::Helper;
use printer::Printer;
use statements::{Outputs, Statements};

const JAVA: ProgramLanguage = ProgramLanguage::Java;

/// Java package of a program.
pub(crate) const PACKAGE: &str = "app";

/// Folder of a program's files.
const FOLDER: &str = "src/main/java/app";

/// Names that generated files use themselves.
const RESERVED: [&str; 10] = [
    "App", "app", "args", "com", "config", "context", "i", "index", "java", "value",
];

/// Parameters of component constructors, and methods of components.
const RESERVED_IN_COMPONENTS: [&str; 2] = ["name", "options"];

/// Generates all files of a program.
pub(crate) fn generate(program: &Program, generated: &mut Generated) {
    let components = components::all(program);
    let mut files = Files {
        components: components
            .values()
            .map(|it| component_class(it, JAVA))
            .collect(),
        ..Files::default()
    };
    files.components_of(program, generated);
    let mut statements = files.statements(program, false, generated);
    main(&mut statements);
    let (mut printer, body) = (statements.printer, statements.lines);
    files.helpers.append(&mut printer.helpers);
    let text = app(&mut printer, body.into_text(), &files.helpers);
    generated.files.insert(format!("{FOLDER}/App.java"), text);
}

/// State that the files of a program share.
#[derive(Default)]
struct Files {
    /// Classes of all components.
    components: Vec<String>,
    /// Outputs of the components that have been generated, by folder.
    outputs: Outputs,
    /// Helpers that the files call; they are in `App`.
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
            let class = component_class(&inner, JAVA);
            let mut statements = self.statements(&inner, true, generated);
            let outputs = component::class(&mut statements, &class);
            let (mut printer, body) = (statements.printer, statements.lines);
            self.helpers.append(&mut printer.helpers);
            let text = file(&printer, &body.into_text());
            let mut statements = self.statements(&inner, true, generated);
            component::arguments(&mut statements, &class);
            let (mut printer, body) = (statements.printer, statements.lines);
            self.helpers.append(&mut printer.helpers);
            let args = file(&printer, &body.into_text());
            let path = |name: &str| format!("{FOLDER}/{name}.java");
            generated.files.insert(path(&class), text);
            generated.files.insert(path(&format!("{class}Args")), args);
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
        // Components are in the same package, so that their names hide those of imported classes.
        let classes: Vec<String> = self
            .components
            .iter()
            .flat_map(|class| [class.clone(), format!("{class}Args")])
            .collect();
        let classes: Vec<&str> = classes.iter().map(String::as_str).collect();
        let names = Names::new(program, &[], JAVA, &[&RESERVED, own, &classes].concat());
        Statements {
            program,
            lowering: Lowering::new(program, Dialect::of(JAVA), is_component),
            printer: Printer::new(names, program.definitions.len(), is_component),
            lines: Lines::new(4),
            is_component,
            outputs: &self.outputs,
            report: Report::new("Java", &mut generated.problems),
        }
    }
}

fn main(statements: &mut Statements<'_, '_>) {
    let program = statements.program;
    statements.lines.deeper();
    statements.lines.deeper();
    let mut awaited = order::requirement(program);
    if awaited.as_ref().is_some_and(Vec::is_empty) {
        statements.requirement();
        awaited = None;
    }
    let has_config = |it: &plumb_pcl::Definition| matches!(it.kind, DefinitionKind::Config(_));
    if program.definitions.iter().any(has_config) {
        statements
            .lines
            .plain("final var config = context.config();");
    }
    for position in order::order(program) {
        statements.definition(position);
        if order::is_last_awaited(&mut awaited, position) {
            statements.requirement();
        }
    }
}

/// Text of `App.java`.
fn app(printer: &mut Printer, body: String, helpers: &BTreeSet<Helper>) -> String {
    let context = printer.class("com.pulumi.Context");
    let pulumi = printer.class("com.pulumi.Pulumi");
    let mut text = String::from("public class App {\n");
    text.push_str("    public static void main(String[] args) {\n");
    let _ = write!(text, "        {pulumi}.run(App::stack);\n    }}\n\n");
    let _ = writeln!(text, "    public static void stack({context} context) {{");
    text.push_str(body.trim_start_matches('\n'));
    text.push_str("    }\n");
    for helper in helpers {
        text.push('\n');
        let mut method = helper.text().to_owned();
        for class in helper.imports() {
            let name = printer.class(class);
            if name == *class {
                method = with_name(&method, class);
            }
        }
        for line in method.lines() {
            text.push_str("    ");
            text.push_str(line);
            text.push('\n');
        }
    }
    text.push_str("}\n");
    file(printer, &text)
}

/// The text with the simple name of a class replaced by the qualified one.
fn with_name(text: &str, qualified: &str) -> String {
    let simple = qualified.rsplit('.').next().unwrap_or_default();
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(simple) {
        let (before, after) = (&rest[..at], &rest[at + simple.len()..]);
        let is_part = |char: char| char.is_alphanumeric() || char == '.' || char == '_';
        let is_whole = !before.ends_with(is_part) && !after.starts_with(char::is_alphanumeric);
        result.push_str(before);
        result.push_str(if is_whole { qualified } else { simple });
        rest = after;
    }
    result.push_str(rest);
    result
}

/// Text of a file with its imports.
fn file(printer: &Printer, body: &str) -> String {
    let mut text = format!("package {PACKAGE};\n\n");
    let mut classes: Vec<&String> = printer.imports.values().collect();
    classes.sort();
    for class in &classes {
        let _ = writeln!(text, "import {class};");
    }
    if !classes.is_empty() {
        text.push('\n');
    }
    for class in &printer.statics {
        let _ = write!(text, "import static {class}.*;\n\n");
    }
    text + body
}

#[cfg(test)]
mod tests {
    use super::with_name;

    #[test]
    fn simple_names_become_qualified() {
        let text = with_name(
            "List<ListOf> x = java.util.List.of(MyList)",
            "java.util.List",
        );
        assert_eq!(text, "java.util.List<ListOf> x = java.util.List.of(MyList)");
    }
}
