//! Binding of whole programs, and the positions of errors.

use std::sync::Arc;

use async_trait::async_trait;
use futures::executor::block_on;
use plumb_pcl::{DefinitionKind, Leniency, Loaded, Program, Sources};
use plumb_schema::{PackageQuery, PackageSchema, SchemaLoadError, SchemaLoader};

const SCHEMA: &str = r##"{
  "name": "pkg", "version": "1.2.3",
  "resources": {
    "pkg:index:Thing": {
      "inputProperties": {"count": {"type": "integer"}, "title": {"type": "string"}},
      "requiredInputs": ["title"],
      "properties": {"title": {"type": "string"}},
      "required": ["title"],
      "methods": {"open": "pkg:index:Thing/open"}
    }
  },
  "functions": {
    "pkg:index:Thing/open": {
      "inputs": {"properties": {"__self__": {"$ref": "#/resources/pkg:index:Thing"}, "wide": {"type": "boolean"}},
                 "required": ["__self__"]},
      "outputs": {"properties": {"done": {"type": "boolean"}}, "required": ["done"]}
    },
    "pkg:index:pair": {
      "inputs": {"properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["a"]},
      "multiArgumentInputs": ["a", "b"],
      "outputs": {"properties": {"both": {"type": "string"}}, "required": ["both"]}
    }
  }
}"##;

struct Schemas;

#[async_trait]
impl SchemaLoader for Schemas {
    async fn load(
        &self,
        query: &PackageQuery,
    ) -> Result<Option<Arc<PackageSchema>>, SchemaLoadError> {
        let known = (query.name == "pkg").then(|| PackageSchema::parse(SCHEMA).unwrap());
        Ok(known.map(Arc::new))
    }
}

fn load(files: &[(&str, &str)], leniency: Leniency) -> Loaded {
    let files = files.iter();
    let sources = Sources::new(files.map(|(path, text)| ((*path).to_owned(), (*text).to_owned())));
    block_on(Program::load(&sources, &Schemas, leniency))
}

#[track_caller]
fn check_files(files: &[(&str, &str)], expected: &[&str]) -> Program {
    let loaded = load(files, Leniency::NONE);
    let problems: Vec<String> = loaded
        .problems
        .iter()
        .map(plumb_pcl::Problem::one_line)
        .collect();
    assert_eq!(problems, expected);
    loaded.program
}

#[track_caller]
fn check(text: &str, expected: &[&str]) -> Program {
    check_files(&[("main.pp", text)], expected)
}

#[test]
fn definitions_of_all_kinds_bind_in_any_order() {
    let program = check(
        "output both {\n  value = \"${made}${thing.title}\"\n}\nmade = size + 1\nconfig size int {\n  default = 2\n}\nresource thing \"pkg:Thing\" {\n  title = \"t\"\n}\nread old \"pkg:index:Thing\" {\n  id = \"x\"\n}\nresult = call(thing, \"open\", { wide = true }).done\npair = invoke(\"pkg:index:pair\", \"x\", \"y\").both\nhook resource log {\n  command = [\"echo\", args.urn]\n}\n",
        &[],
    );
    let kinds: Vec<bool> = program
        .definitions
        .iter()
        .map(|it| matches!(it.kind, DefinitionKind::Unusable))
        .collect();
    assert_eq!(kinds, [false; 8]);
}

#[test]
fn definitions_that_need_each_other_are_errors() {
    check(
        "a = b\nb = \"${a}\"\n",
        &["main.pp:2:8: 'a' refers to itself, by way of others"],
    );
}

#[test]
fn names_are_defined_once_and_outputs_apart() {
    check(
        "a = 1\nb = 2\nconfig a int {}\noutput a {\n  value = b\n}\n",
        &["main.pp:3:8: 'a' is defined twice"],
    );
}

#[test]
fn mistakes_have_their_places() {
    check(
        "resource thing \"pkg:index:Thing\" {\n  titel = \"t\"\n}\nx = thing.titl\ny = thin\nz = nothing(1)\n",
        &[
            "main.pp:1:16: missing required attribute 'title'",
            "main.pp:2:3: unsupported attribute 'titel': Did you mean 'title'?",
            "main.pp:4:10: unsupported attribute 'titl': Did you mean 'title'?",
            "main.pp:5:5: undefined variable 'thin': Did you mean 'thing'?",
            "main.pp:6:5: unknown function 'nothing'",
        ],
    );
}

#[test]
fn lenient_programs_have_warnings() {
    let text = "resource thing \"other:index:Thing\" {\n  any = missing\n}\nresource known \"pkg:index:Thing\" {}\n";
    let loaded = load(&[("main.pp", text)], Leniency::ALL);
    assert!(!loaded.has_errors());
    assert_eq!(loaded.problems.len(), 3);
    assert!(load(&[("main.pp", text)], Leniency::NONE).has_errors());
}

#[test]
fn components_are_programs_below() {
    let files = [
        (
            "main.pp",
            "component a \"./inner\" {\n  size = 1\n}\noutput x {\n  value = a.y\n}\n",
        ),
        (
            "inner/main.pp",
            "config size int {}\nconfig name string {\n  default = \"n\"\n}\noutput y {\n  value = size\n}\n",
        ),
    ];
    check_files(&files, &[]);
    let wrong = [
        (
            "main.pp",
            "component a \"./inner\" {\n  sise = 1\n}\noutput x {\n  value = a.z\n}\n",
        ),
        files[1],
    ];
    check_files(
        &wrong,
        &[
            "main.pp:1:1: missing required attribute 'size'",
            "main.pp:2:3: unsupported attribute 'sise': Did you mean 'size'?",
            "main.pp:5:12: unsupported attribute 'z'",
        ],
    );
    check(
        "component a \"./none\" {}\ncomponent b \"../up\" {}\ncomponent c {}\n",
        &[
            "main.pp:1:13: there are no files with PCL in './none'",
            "main.pp:2:13: there are no files with PCL in '../up'",
            "main.pp:3:1: component 'c' needs either a folder or a `token`",
        ],
    );
}

#[test]
fn ranges_decide_what_a_name_means() {
    let program = check(
        "resource some \"pkg:index:Thing\" {\n  title = range.key\n  options {\n    range = { a = 1 }\n  }\n}\nresource one \"pkg:index:Thing\" {\n  title = \"t\"\n  options {\n    range = true\n  }\n}\nx = some[\"a\"].title\ny = one.title\n",
        &[],
    );
    let types: Vec<String> = program
        .definitions
        .iter()
        .map(|it| it.ty.to_string())
        .collect();
    assert_eq!(types[0], "map(pkg:index:Thing)");
    assert_eq!(types[1], "pkg:index:Thing");
}

#[test]
fn packages_are_declared_once() {
    let file =
        "package pkg {\n  baseProviderName = \"pkg\"\n  baseProviderVersion = \"1.0.0\"\n}\n";
    check_files(&[("a.pp", file), ("b.pp", file)], &[]);
    let other = file.replace("1.0.0", "2.0.0");
    check_files(
        &[("a.pp", file), ("b.pp", &other)],
        &["b.pp:1:1: package 'pkg' is declared twice, in different ways"],
    );
}
