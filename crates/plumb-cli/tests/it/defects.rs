//! Defects of the program as users see them: a report, a valid state, and no Rust internals.

use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

use crate::context::TestContext;

const PROGRAM: &str = "
name: proj
runtime: yaml
resources:
  before: {type: pulumi:index:Stash, properties: {input: kept}}
  broken:
    type: pulumi:pulumi:StackReference
    properties: {name: organization/proj/dev}
    options: {dependsOn: ['${before}']}
  after:
    type: pulumi:index:Stash
    properties: {input: '${broken.id}'}
";

/// A panic between two resources: the finished ones are in the state, and the next update continues from there.
#[test]
fn a_defect_in_the_middle_of_an_update_leaves_a_report_and_a_sound_state() {
    let mut context = TestContext::without_project();
    context.write("Pulumi.yaml", PROGRAM);
    context.ok(&["stack", "init", "dev"]);
    context.set("PLUMB_TEST_DEFECT", Some("organization/proj/dev"));
    let ran = context.run(&["up", "--yes", "--skip-preview"]);
    assert_eq!(ran.code, 255, "{}{}", ran.stdout, ran.stderr);
    let shown = format!("{}{}", ran.stdout, ran.stderr);
    assert!(shown.contains("The Plumb CLI encountered a fatal error. This is a bug!"));
    assert_eq!(shown.matches("fatal error").count(), 1, "{shown}");
    for inside in ["panicked at", "RUST_BACKTRACE", "thread '", ".rs:"] {
        assert!(!shown.contains(inside), "{inside} in {shown}");
    }
    let logs = context.home().join(".pulumi/logs");
    let mut reports = fs::read_dir(logs).unwrap().map(|it| it.unwrap().path());
    let report = fs::read_to_string(reports.next().unwrap()).unwrap();
    assert!(report.contains("a test wants a defect") && report.contains("command `up`"));
    assert!(reports.next().is_none());

    let state = context.ok(&["stack", "export"]);
    assert!(
        state.contains("Stash::before") && !state.contains("Stash::after"),
        "{state}"
    );
    context.set("PLUMB_TEST_DEFECT", None);
    let again = context.run(&["up", "--yes", "--skip-preview"]);
    assert_eq!(again.code, 0, "{}{}", again.stdout, again.stderr);
    assert!(
        again
            .stdout
            .contains("StackReference::broken, interrupted while reading"),
        "{}",
        again.stdout
    );
    let state = context.ok(&["stack", "export"]);
    assert!(state.contains("Stash::after"));
    context.ok(&["destroy", "--yes", "--skip-preview"]);
}

/// Names formatted with `{name:?}` in sources: their values are strings, which this format quotes. Add a name only if its
/// value is a string too, and not a type of ours.
const QUOTED: &[&str] = &[
    "address",
    "answered",
    "binary",
    "character",
    "color",
    "converter",
    "default",
    "entry",
    "expected",
    "given",
    "import",
    "index",
    "key",
    "kind",
    "label",
    "limit",
    "line",
    "markers",
    "member",
    "module",
    "name",
    "near",
    "number",
    "option",
    "other",
    "pack",
    "package",
    "part",
    "path",
    "range",
    "resource",
    "spec",
    "tag",
    "target",
    "text",
    "token",
    "told",
    "value",
    "version",
];

/// Files with `{:?}`, and the formatted expressions: strings, and well-known names of gRPC codes.
const QUOTED_ELSEWHERE: &[&str] = &[
    "plumb-cli/src/commands/package/gen_docs.rs",
    "plumb-cli/src/commands/stack/graph/mod.rs",
    "plumb-engine/src/callbacks.rs",
    "plumb-pcl/src/bind/options.rs",
    "plumb-language/src/python/project_file.rs",
    "plumb-plugin/src/analyzer/config.rs",
    "plumb-plugin/src/process/port.rs",
    "plumb-yaml/src/check/shape.rs",
    "plumb-yaml/src/eval/evaluator.rs",
    "plumb-yaml/src/eval/references.rs",
    "plumb-yaml/src/graph.rs",
    "plumb-yaml/src/syntax/program.rs",
];

#[test]
fn no_type_of_ours_is_written_in_the_form_for_developers() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let form = Regex::new(r"\{([a-z_0-9]*):#?\?\}").unwrap();
    let mut wrong = Vec::new();
    for file in sources(&crates) {
        let shown = file.strip_prefix(&crates).unwrap().display().to_string();
        let text = fs::read_to_string(&file).unwrap();
        let text = text.split("#[cfg(test)]").next().unwrap();
        for line in text.lines().filter(|line| !is_for_developers(line)) {
            for found in form.captures_iter(line) {
                let name = found.get(1).unwrap().as_str();
                let is_known = match name {
                    "" | "0" => QUOTED_ELSEWHERE.contains(&shown.as_str()),
                    name => QUOTED.contains(&name),
                };
                if !is_known {
                    wrong.push(format!("{shown}: {}", line.trim()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Whether only developers see a line: comments, assertions, unreachable cases.
fn is_for_developers(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("//")
        || ["assert", "unreachable!", "panic!"]
            .iter()
            .any(|it| line.contains(it))
}

/// Sources of crates with user-visible messages: without tests and generators.
fn sources(crates: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = fs::read_dir(crates)
        .unwrap()
        .map(|it| it.unwrap().path().join("src"))
        .filter(|path| {
            !path.ends_with("plumb-simulate/src") && !path.ends_with("plumb-codegen/src")
        })
        .collect();
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            // Parts that only tests compile.
            let is_for_tests = ["tests", "tests.rs", "histories", "crashes", "readers.rs"];
            if is_for_tests.contains(&name.as_str()) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                files.push(path);
            }
        }
    }
    files
}

/// Checks the output in all transcripts.
#[test]
fn no_transcript_has_insides_of_rust() {
    let inside = Regex::new(
        r"\b(Some|Ok|Err)\(|\b[A-Z][A-Za-z]+ \{ [a-z_]+: |\b[A-Z]\w*(::[A-Z]\w*)+\b|panicked at|RUST_BACKTRACE|\.rs:\d",
    )
    .unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    for entry in fs::read_dir(folder).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        for line in text.lines().filter(|line| line.starts_with(['|', '!'])) {
            assert!(!inside.is_match(line), "{line}");
        }
    }
}
