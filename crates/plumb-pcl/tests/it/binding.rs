//! Errors of binding and their positions.

use std::sync::Arc;

use ecow::EcoString;
use plumb_pcl::{Packages, Parsed, ResourceHead, SnippetProgram, SourceFile};
use plumb_resource::Urn;
use plumb_schema::PackageSchema;

const SCHEMA: &str = r##"{
  "name": "pkg",
  "types": {
    "pkg:index:Spec": {
      "type": "object",
      "properties": {
        "name": {"type": "string"},
        "size": {"type": "integer"},
        "inner": {"$ref": "#/types/pkg:index:Spec"}
      },
      "required": ["name"]
    },
    "pkg:index:Color": {"type": "string", "enum": [{"value": "red"}]}
  },
  "resources": {
    "pkg:index/thing:Thing": {
      "inputProperties": {
        "flag": {"type": "boolean"},
        "count": {"type": "integer"},
        "title": {"type": "string"},
        "tags": {"type": "object", "additionalProperties": {"type": "string"}},
        "list": {"type": "array", "items": {"type": "string"}},
        "spec": {"$ref": "#/types/pkg:index:Spec"},
        "color": {"$ref": "#/types/pkg:index:Color"}
      },
      "properties": {
        "title": {"type": "string"},
        "made": {"type": "number"},
        "spec": {"$ref": "#/types/pkg:index:Spec"},
        "specs": {"type": "array", "items": {"$ref": "#/types/pkg:index:Spec"}}
      },
      "requiredInputs": ["flag"]
    }
  },
  "functions": {
    "pkg:index/find:find": {
      "inputs": {"properties": {"key": {"type": "string"}}, "required": ["key"]},
      "outputs": {"properties": {"result": {"type": "string"}}, "required": ["result"]}
    }
  }
}"##;

/// Problems in the form `line:column summary`, followed by the first line of the detail.
fn bind_as(token: &str, text: &str) -> Result<SnippetProgram, Vec<String>> {
    let source = Arc::new(SourceFile::new("it.pp", "it.pp".into(), text));
    let shown = |it: &plumb_pcl::Diagnostic| {
        let (line, column) = source.position(it.span.unwrap_or_default().start);
        let detail = it.detail.as_ref().map(|it| format!(" ({it})"));
        format!(
            "{line}:{column} {}{}",
            it.summary,
            detail.unwrap_or_default()
        )
    };
    let parsed = Parsed::read(source.clone()).map_err(|it| vec![shown(&it)])?;
    let other = Urn::new("dev", "proj", "", "pkg:index/thing:Thing", "other");
    let head = ResourceHead {
        name: "it".into(),
        token: token.into(),
        references: [("other".into(), other)].into(),
    };
    let packages = Packages::of([Arc::new(PackageSchema::parse(SCHEMA).unwrap())]);
    SnippetProgram::bind(&parsed, head, &packages)
        .map_err(|problems| problems.iter().map(shown).collect())
}

fn bind(text: &str) -> Result<SnippetProgram, Vec<String>> {
    bind_as("pkg:index:Thing", text)
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(bind(text).err().unwrap_or_default(), expected, "{text}");
}

#[test]
fn a_short_token_is_completed() {
    let program = bind("flag = true").unwrap();
    assert_eq!(program.resource.token, "pkg:index/thing:Thing");
}

/// PCL-02
#[test]
fn attributes_must_be_there_and_known() {
    check("title = \"x\"", &["1:1 missing required attribute 'flag'"]);
    check(
        "flag = true\ntitel = \"x\"",
        &["2:1 unsupported attribute 'titel' (Did you mean 'title'?)"],
    );
    let twice = bind("flag = true\nflag = false").unwrap_err();
    assert!(twice[0].starts_with("2:1 syntax error: "), "{twice:?}");
    let unknown = bind_as("pkg:index:Thong", "flag = true").unwrap_err();
    assert!(
        unknown[0].starts_with("1:1 unknown resource type 'pkg:index:Thong'"),
        "{unknown:?}"
    );
}

#[test]
fn types_that_cannot_fit_are_refused() {
    for (text, problem) in [
        (
            "flag = []",
            "1:8 cannot assign expression of type tuple() to location of type bool",
        ),
        (
            "flag = true\ncount = { a = 1 }",
            "2:9 cannot assign expression of type object to location of type int",
        ),
        (
            "flag = true\ntags = { a = [1] }",
            "2:8 cannot assign expression of type object to location of type map(string)",
        ),
        (
            "flag = true\nspec = { size = 1 }",
            "2:8 cannot assign expression of type object to location of type object",
        ),
        (
            "flag = other.made",
            "1:8 cannot assign expression of type number to location of type bool",
        ),
        (
            "flag = true\ntitle = other",
            "2:9 cannot assign expression of type pkg:index/thing:Thing to location of type string",
        ),
    ] {
        check(text, &[problem]);
    }
    for text in [
        "flag = \"true\"\ncount = \"5\"\ntitle = 5",
        "flag = true\ntags = { a = 1, b = true }\nlist = [1, \"x\"]",
        "flag = true\nspec = { name = \"x\", size = \"1\" }\ncolor = \"red\"",
        "flag = null == 1\ntitle = null",
        "flag = true\nspec = other.spec.inner.inner",
        "flag = true\nspec = { name = \"x\", inner = other.specs[0] }",
        "flag = other.title\nlist = [for k, v in { a = 1 } : k]",
    ] {
        check(text, &[]);
    }
}

#[test]
fn names_must_mean_something() {
    check(
        "flag = othr.title",
        &["1:8 undefined variable 'othr' (Did you mean 'other'?)"],
    );
    check(
        "flag = true\ntitle = other.titel",
        &["2:14 unsupported attribute 'titel' (Did you mean 'title'?)"],
    );
    check(
        "flag = true\ntitle = upper(\"x\")",
        &["2:9 unknown function 'upper'"],
    );
    check(
        "flag = true\ntitle = getOutput(other, \"x\")",
        &["2:9 the function 'getOutput' is not supported yet"],
    );
    check(
        "flag = true\ntitle = join(\",\")",
        &["2:9 join takes 2 arguments, not 1"],
    );
    check(
        "flag = true\ncount = range.value",
        &["2:9 undefined variable 'range'"],
    );
}

#[test]
fn invokes_are_checked_against_their_schema() {
    check(
        "flag = true\ntitle = invoke(\"pkg:index:find\", { kee = 1 }).result",
        &[
            "2:34 missing required attribute 'key'",
            "2:36 unsupported attribute 'kee' (Did you mean 'key'?)",
        ],
    );
    check(
        "flag = true\ntitle = invoke(\"pkg:index:find\", { key = \"x\" }).resalt",
        &["2:48 unsupported attribute 'resalt' (Did you mean 'result'?)"],
    );
    let problems = bind("flag = true\ntitle = invoke(\"pkg:index:fond\", {})").unwrap_err();
    assert!(
        problems[0].starts_with("2:16 unknown function 'pkg:index:fond'"),
        "{problems:?}"
    );
}

#[test]
fn options_are_known_and_their_lists_are_paths() {
    let program = bind(
        "flag = true\noptions {\n  ignoreChanges = [title, tags[\"a b\"], spec.name, list[0], list[*]]\n}",
    );
    let paths: Vec<EcoString> = program.unwrap().resource.options.ignore_changes;
    assert_eq!(
        paths,
        ["title", "tags[\"a b\"]", "spec.name", "list[0]", "list[*]"]
    );
    for (option, problem) in [
        (
            "protec = true",
            "3:3 a resource has no option 'protec' (Did you mean 'protect'?)",
        ),
        (
            "ignoreChanges = [\"title\"]",
            "3:20 this must be a property, like tags[\"a\"] or spec[0].name",
        ),
        (
            "ignoreChanges = [nothing]",
            "3:20 unsupported attribute 'nothing'",
        ),
        (
            "hooks = {}",
            "3:3 hooks are not supported here: they belong to programs",
        ),
        (
            "parent = \"x\"",
            "3:12 cannot assign expression of type string to location of type resource",
        ),
        (
            "range = \"3\"",
            "3:11 range must be a truth value, a number, a list or a map, not string",
        ),
    ] {
        check(
            &format!("flag = true\noptions {{\n  {option}\n}}"),
            &[problem],
        );
    }
    check(
        "flag = true\nother {\n}",
        &["2:1 a resource has no block 'other'"],
    );
    check(
        "flag = true\noptions {\n  range = 2\n}\ncount = range.value",
        &[],
    );
}

#[test]
fn all_problems_come_in_order_and_text_that_is_no_hcl_says_where() {
    check(
        "titel = 1\nflag = []",
        &[
            "1:1 unsupported attribute 'titel' (Did you mean 'title'?)",
            "2:8 cannot assign expression of type tuple() to location of type bool",
        ],
    );
    let broken = bind("flag = true\ntitle = = 1").unwrap_err();
    assert!(broken[0].starts_with("2:9 syntax error: "), "{broken:?}");
}
