//! Strict binding of whole schemas.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use plumb_schema::{
    BindOptions, Document, Format, NoPackages, PackageSchema, Packages, Problem, Severity, bind,
};
use proptest::prelude::*;

use crate::data;

const STRICT: BindOptions<'static> = BindOptions {
    allow_dangling: false,
    packages: &NoPackages,
};
const DANGLING: BindOptions<'static> = BindOptions {
    allow_dangling: true,
    packages: &NoPackages,
};

/// The schemas of the test folder, as external packages.
struct Folder;

impl Packages for Folder {
    fn find(&self, name: &str, _: Option<&semver::Version>) -> Option<Arc<PackageSchema>> {
        let text = std::fs::read_to_string(data().join(format!("{name}.json"))).ok()?;
        Some(Arc::new(PackageSchema::parse(text).ok()?))
    }
}

fn files(folders: &[&str]) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(data().join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| Format::of_file(path.to_str().unwrap()).is_some())
        .collect();
    files.sort();
    files
}

const ALL: [&str; 4] = ["", "cases", "cases/binder", "cases/parameterized"];

fn problems(text: &str, format: Format, options: BindOptions<'_>) -> Vec<Problem> {
    match Document::read(text, format) {
        Ok(document) => bind(&document, options).problems,
        Err(problem) => vec![problem],
    }
}

/// Problems of a JSON schema, one per line.
fn told(text: &str) -> String {
    problems(text, Format::Json, STRICT)
        .iter()
        .fold(String::new(), |mut lines, problem| {
            let kind = match problem.severity {
                Severity::Error => "",
                Severity::Warning => "warning ",
            };
            let _ = writeln!(lines, "{}:{} {kind}{problem}", problem.line, problem.column);
            lines
        })
}

#[test]
fn cases_for_binders_are_accepted_or_refused_as_their_names_say() {
    let mut refused = 0;
    for file in files(&["cases/binder"]) {
        let name = file.file_name().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        let format = Format::of_file(name).unwrap();
        let problems = problems(&text, format, STRICT);
        // Only the built-in package may have this name.
        let is_bad = name.starts_with("bad-") || name == "provider-methods-3.json";
        let is_refused = problems.iter().any(Problem::is_error);
        assert_eq!(is_refused, is_bad, "{name}: {problems:#?}");
        refused += usize::from(is_refused);
        for problem in problems {
            assert!(problem.line > 1, "{name}: {problem}");
        }
    }
    assert_eq!(refused, 15);
}

#[test]
fn real_schemas_have_no_problems_but_packages_that_are_not_here() {
    for file in files(&["", "cases", "cases/parameterized"]) {
        let name = file.file_name().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        let document = Document::read(&text, Format::of_file(name).unwrap()).unwrap();
        let options = BindOptions {
            packages: &Folder,
            ..STRICT
        };
        for problem in bind(&document, options).problems {
            let is_absent = problem.message.contains("cannot be found");
            let is_dangling = name == "regress-go-8664.json";
            let is_old = problem.severity == Severity::Warning;
            assert!(is_absent || is_dangling || is_old, "{name}: {problem}");
        }
        assert!(bind(&document, DANGLING).is_usable(), "{name}");
    }
}

#[test]
fn binding_what_was_marshalled_gives_the_same_package() {
    for file in files(&ALL) {
        let name = file.file_name().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        let document = Document::read(&text, Format::of_file(name).unwrap()).unwrap();
        let bound = bind(&document, DANGLING);
        if !bound.is_usable() {
            continue;
        }
        let marshalled = bound.package.to_json();
        let again = Document::read(&marshalled, Format::Json).unwrap();
        let second = bind(&again, DANGLING);
        assert_eq!(bound.package, second.package, "{name}");
        assert_eq!(marshalled, second.package.to_json(), "{name}");
        // The tolerant reader accepts the output too.
        PackageSchema::parse(marshalled).unwrap();
    }
}

#[test]
fn printing_a_document_changes_nothing_that_it_says() {
    for file in files(&ALL) {
        let name = file.file_name().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        let document = Document::read(&text, Format::of_file(name).unwrap()).unwrap();
        let printed = document.to_json(plumb_schema::Escapes::Html);
        let again = Document::read(&printed, Format::Json).unwrap();
        let (one, other) = (bind(&document, DANGLING), bind(&again, DANGLING));
        assert_eq!(one.package, other.package, "{name}");
        assert!(!printed.contains(['<', '>', '&']), "{name}");
    }
}

#[test]
fn all_problems_are_told_at_once_with_their_places() {
    let text = r##"{
  "name": "lab",
  "version": "one",
  "types": {
    "lab:index:Node": {
      "type": "object",
      "properties": {"next": {"$ref": "#/types/lab:index:Node"}, "x": {"type": "array"}},
      "required": ["next", "nothing"]
    }
  },
  "resources": {
    "other:index:Thing": {"properties": {"urn": {"type": "string"}, "pulumi": {"type": "text"}}},
    "lab:index:Bad": {
      "inputProperties": {
        "a": {"type": "integer", "default": 1.5},
        "b": {"$ref": "#/nowhere/x"},
        "c": {"oneOf": [{"type": "string"}]},
        "d": {"type": "string", "items": {"type": "string"}, "description": 3},
        "e": {"$ref": "#/types/lab:index:Missing", "defaultInfo": {"environment": []}}
      },
      "description": "See {{% ref #/resources/lab:index:Gone %}}.",
      "isComponent": "yes"
    }
  }
}"##;
    assert_eq!(
        told(text),
        r#"3:3 #/version: `one` is no version; expected a semantic version such as `1.2.3`
5:5 #/types/lab:index:Node: object type has unsatisfiable required-property cycle: lab:index:Node -> lab:index:Node
7:71 #/types/lab:index:Node/properties/x: missing "items" property in array type spec; expected `items` with the type of the elements
8:28 #/types/lab:index:Node/required/1: unknown required property "nothing"; expected the name of one of the properties
12:5 #/resources/other:index:Thing: invalid token 'other:index:Thing' (must have package name 'lab')
12:27 warning #/resources/other:index:Thing/properties/urn: urn is a reserved property name
12:79 #/resources/other:index:Thing/properties/pulumi: 'pulumi' is a reserved property name
12:80 #/resources/other:index:Thing/properties/pulumi/type: unknown primitive type text; expected boolean, integer, number, string, array or object
13:5 #/resources/lab:index:Bad/description: reference to resource 'lab:index:Gone' not found in package lab
15:34 #/resources/lab:index:Bad/inputProperties/a/default: invalid constant of type number: 1.5 is not an integer
16:15 #/resources/lab:index:Bad/inputProperties/b/$ref: invalid type reference '#/nowhere/x'; expected `#/types/<token>`, `#/resources/<token>`, `#/provider` or `pulumi.json#/<name>`, with `/<package>/v<version>/schema.json` before it for another package
17:15 #/resources/lab:index:Bad/inputProperties/c/oneOf: oneOf should list at least two types; expected two or more
18:33 #/resources/lab:index:Bad/inputProperties/d/items: `items` does not go with the type `string`
18:62 #/resources/lab:index:Bad/inputProperties/d/description: this is a number; expected a string
19:15 #/resources/lab:index:Bad/inputProperties/e/$ref: type lab:index:Missing not found in package lab
19:52 #/resources/lab:index:Bad/inputProperties/e/defaultInfo: Default must specify an environment; expected `environment` with names of environment variables
22:7 #/resources/lab:index:Bad/isComponent: this is a string; expected `true` or `false`
"#
    );
}

#[test]
fn names_that_collide_are_refused() {
    let lines = told(
        r#"{"name": "lab", "meta": {"moduleFormat": "(.*)(?:/[^/]*)"}, "resources": {
"lab:a/thing:Thing": {}, "lab:a/other:Thing": {}, "lab:index/a:A": {}, "lab:b/c:C": {}
}}"#,
    );
    assert!(
        lines.contains("multiple tokens map to lab:a:thing: also lab:a/other:Thing"),
        "{lines}"
    );
    assert!(
        lines.contains("token lab:index/a:A collides with module a"),
        "{lines}"
    );
    assert_eq!(lines.lines().count(), 3, "{lines}");
}

#[test]
fn what_has_been_removed_is_told() {
    let lines = told(
        r#"{"name": "lab", "types": {"lab:index:T": {"type": "object", "plain": ["a"]}},
"resources": {"lab:index:R": {"plainInputs": ["a"]}},
"config": {"required": ["x"]}, "provider": {"inputProperties": {"version": {"type": "string"}}}}"#,
    );
    assert_eq!(
        lines.matches("plain has been removed").count(),
        2,
        "{lines}"
    );
    assert!(lines.contains("`required` says nothing here"), "{lines}");
    assert!(
        lines.contains("reserved provider input property name"),
        "{lines}"
    );
}

#[test]
fn long_cycles_and_chains_of_types_are_followed() {
    let mut text = String::from(r#"{"name": "lab", "types": {"#);
    for index in 0..20_000 {
        let _ = write!(
            text,
            r##""lab:index:T{index}": {{"type": "object", "properties": {{"next": {{"$ref": "#/types/lab:index:T{}"}}}}, "required": ["next"]}},"##,
            index + 1
        );
    }
    text.push_str(r##""lab:index:T20000": {"type": "object", "properties": {"next": {"$ref": "#/types/lab:index:T0"}}, "required": ["next"]}}}"##);
    let lines = told(&text);
    assert_eq!(lines.lines().count(), 1);
    assert!(lines.contains("unsatisfiable required-property cycle"));
}

/// Input that makes naive readers slow or overflows their stack. The limit is generous, because tests run without
/// optimisation.
#[test]
fn bad_input_is_refused_in_time() {
    let deep_type = format!(
        r#"{{"name": "lab", "config": {{"variables": {{"x": {}{{"type": "string"}}{}}}}}}}"#,
        r#"{"type": "array", "items": "#.repeat(100_000),
        "}".repeat(100_000)
    );
    let wide: String = (0..200_000).fold(
        String::from(r#"{"name": "lab", "config": {"variables": {"#),
        |mut text, index| {
            let _ = write!(text, r#""p{index}": {{"type": 1}},"#);
            text
        },
    ) + r#""q": {}}}}"#;
    let refs = "{{% ref ".repeat(100_000);
    let inputs = [
        deep_type,
        wide,
        "{".repeat(1_000_000),
        format!(r#"{{"name": "{}"}}"#, "x".repeat(10_000_000)),
        format!(
            r#"{{"name": "lab", "resources": {{"lab:{}:A": {{}}}}}}"#,
            "a/".repeat(1_000_000)
        ),
        format!(r#"{{"name": "lab", "description": "{refs}"}}"#),
        r#"{"name": "lab", "meta": {"moduleFormat": "(a{1000}){1000}"}}"#.to_owned(),
        "\u{0}".to_owned(),
        "[]".to_owned(),
        "3".to_owned(),
    ];
    for text in inputs {
        for format in [Format::Json, Format::Yaml] {
            let start = Instant::now();
            let _ = problems(&text, format, STRICT);
            let took = start.elapsed();
            let head: String = text.chars().take(60).collect();
            assert!(took < Duration::from_secs(20), "{head} took {took:?}");
        }
    }
}

#[test]
fn the_number_of_problems_is_bounded() {
    let items = r#"{"type": "nothing"},"#.repeat(5_000);
    let text = format!(
        r#"{{"name": "lab", "config": {{"variables": {{"x": {{"oneOf": [{items}{{}}]}}}}}}}}"#
    );
    let problems = problems(&text, Format::Json, STRICT);
    assert_eq!(problems.len(), 1_001);
    assert_eq!(problems[1_000].message, "there are 4001 more problems");
}

#[test]
fn the_metaschema_agrees_with_the_binder() {
    let mut compiler = boon::Compiler::new();
    let metaschema = serde_json::from_str(plumb_schema::METASCHEMA).unwrap();
    compiler
        .add_resource("urn:plumb:package-schema", metaschema)
        .unwrap();
    let mut schemas = boon::Schemas::new();
    let metaschema = compiler
        .compile("urn:plumb:package-schema", &mut schemas)
        .unwrap();
    for file in files(&ALL) {
        let name = file.file_name().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        let document = Document::read(&text, Format::of_file(name).unwrap()).unwrap();
        let is_usable = bind(&document, DANGLING).is_usable();
        // Unknown keys are removed before the metaschema is applied.
        let known = document.to_json(plumb_schema::Escapes::Needed);
        let value = serde_json::from_str(&known).unwrap();
        let verdict = schemas.validate(&value, metaschema);
        if is_usable {
            assert!(verdict.is_ok(), "{name}: {}", verdict.unwrap_err());
        }
    }
    for bad in [
        "{}",
        r#"{"name": "9"}"#,
        r#"{"name": "a", "config": {"variables": {"x": {"type": "array"}}}}"#,
        r#"{"name": "a", "config": {"variables": {"x": {"type": "string", "default": []}}}}"#,
        r#"{"name": "a", "types": {"a:b": {"type": "object"}}}"#,
        r#"{"name": "a", "types": {"a:b:C": {"type": "string"}}}"#,
        r#"{"name": "a", "resources": {"a:b:C": {"aliases": [1]}}}"#,
    ] {
        let value = serde_json::from_str(bad).unwrap();
        assert!(schemas.validate(&value, metaschema).is_err(), "{bad}");
        assert!(
            problems(bad, Format::Json, DANGLING)
                .iter()
                .any(Problem::is_error),
            "{bad}"
        );
    }
}

fn sample() -> impl Strategy<Value = String> {
    let files = files(&["cases", "cases/binder"]);
    let texts: Vec<String> = files
        .iter()
        .filter(|path| path.metadata().unwrap().len() < 8_000)
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    proptest::sample::select(texts)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Any damaged text is either bound or rejected, and the positions of problems are within the text.
    #[test]
    fn damaged_schemas_are_refused_or_bound(
        text in sample(),
        cut in any::<prop::sample::Index>(),
        to in any::<prop::sample::Index>(),
        put in prop_oneof![
            Just(String::new()), Just("\"".to_owned()), Just("{".to_owned()), Just("null".to_owned()),
            Just("[[[]]]".to_owned()), Just("\\u0000".to_owned()), Just("$ref".to_owned()),
            Just("pulumi".to_owned()), Just("../%2F..".to_owned()), "\\PC{0,6}",
        ],
    ) {
        let chars: Vec<char> = text.chars().collect();
        let (from, to) = (cut.index(chars.len()), to.index(chars.len()));
        let to = to.clamp(from, from + 12).min(chars.len());
        let damaged: String =
            chars[..from].iter().copied().chain(put.chars()).chain(chars[to..].iter().copied()).collect();
        let lines = damaged.lines().count() as u32 + 1;
        for format in [Format::Json, Format::Yaml] {
            for problem in problems(&damaged, format, STRICT) {
                prop_assert!(problem.line >= 1 && problem.line <= lines, "{problem}");
            }
            let Ok(document) = Document::read(&damaged, format) else { continue };
            let bound = bind(&document, DANGLING);
            if bound.is_usable() {
                let marshalled = bound.package.to_json();
                let again = Document::read(&marshalled, Format::Json).unwrap();
                prop_assert_eq!(&bound.package, &bind(&again, DANGLING).package);
            }
        }
    }

    /// The parser accepts the same texts as `serde_json`.
    #[test]
    fn json_is_read_as_the_usual_reader_does(text in "[\\[\\]{}\",:0-9a-e\\\\. -]{0,12}") {
        let ours = Document::read(&text, Format::Json).is_ok();
        let usual = serde_json::from_str::<serde_json::Value>(&text);
        // Numbers beyond the range of a double are accepted until their value is needed.
        if !usual.as_ref().is_err_and(|error| error.to_string().contains("out of range")) {
            prop_assert_eq!(ours, usual.is_ok(), "{}", text);
        }
    }
}
