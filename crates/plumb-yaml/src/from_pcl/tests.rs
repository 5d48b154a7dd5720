//! Programs in both languages.

use pretty_assertions::assert_eq;

use super::{PclFile, from_pcl};

fn translated(pcl: &str) -> super::Translated {
    from_pcl(&[PclFile {
        name: "main.pp".to_owned(),
        text: pcl.to_owned(),
    }])
}

fn check(pcl: &str, yaml: &str) {
    let translated = translated(pcl);
    assert_eq!(translated.problems, Vec::<String>::new(), "{pcl}");
    assert_eq!(translated.text, yaml, "{pcl}");
}

#[test]
fn words_that_were_booleans_have_no_quotes() {
    check(
        r#"resource "n" "kitchen:index:Cup" { on = { y = "no", "1" = "true" } }"#,
        r#"resources:
  n:
    type: kitchen:Cup
    properties:
      on:
        y: no
        "1": "true"
"#,
    );
}

#[test]
fn every_section_stands_in_its_place() {
    check(
        r#"
# The greeting.
message = "hello ${who}, costs $${nothing}"
output "said" { value = message }
resource "cup" "kitchen:index:Cup" {
  __logicalName = "a-cup"
  label = message
  size = -1.5
  options {
    parent = table
    ignoreChanges = [tags["a b"], parts[0].name, "plain"]
    providers = { kitchen = stove }
  }
}
read "table" "kitchen:furniture/table:Table" {
  id = "t-1"
  room = "hall"
}
config "who" "string" { default = "world" }
config "many" "list(map(string))" { secret = true }
pulumi { requiredVersionRange = ">=3" }
"#,
        r#"configuration:
  who:
    type: string
    default: world
  many:
    type: list<object>
    secret: true
resources:
  cup:
    type: kitchen:Cup
    name: a-cup
    properties:
      label: ${message}
      size: -1.5
    options:
      parent: ${table}
      ignoreChanges:
        - tags["a b"]
        - parts[0].name
        - plain
      providers:
        - ${stove}
  table:
    type: kitchen:furniture:Table
    get:
      id: t-1
      state:
        room: hall
variables:
  # The greeting.
  message: hello ${who}, costs $${nothing}
outputs:
  said: ${message}
pulumi:
  requiredVersion: '>=3'
"#,
    );
}

#[test]
fn functions_have_their_forms() {
    check(
        r#"
a = element(xs, 1)
b = "${length(xs)} of ${n}"
c = invoke("kitchen:index:cook", { what = "soup" }, { pluginDownloadUrl = "u" }).meal
d = invoke("kitchen:index:cook", {}).pot["lid"][0]
e = cwd()
f = getOutput(other, "key")
g = split(",", unsecret(s))
"#,
        r#"variables:
  a:
    fn::select:
      - 1
      - ${xs}
  b:
    fn::join:
      - ""
      - - fn::length: ${xs}
        - ' of '
        - ${n}
  c:
    fn::invoke:
      function: kitchen:cook
      arguments:
        what: soup
      options:
        pluginDownloadURL: u
      return: meal
  value1:
    fn::invoke:
      function: kitchen:cook
      arguments: {}
      return: pot
  d: ${value1["lid"][0]}
  e: ${pulumi.cwd}
  f: ${other.outputs["key"]}
  g:
    fn::split:
      - ','
      - fn::unsecret: ${s}
"#,
    );
}

#[test]
fn what_yaml_cannot_say_is_reported_with_its_place() {
    let problems = translated("a = x ? 1 : 2\nb = 1 + 2\ncomponent \"c\" \"./c\" {}\n").problems;
    assert_eq!(
        problems,
        [
            "main.pp:1:5: YAML programs have no form for conditions",
            "main.pp:2:5: YAML programs have no form for operators",
            "main.pp:3:1: YAML programs have no form for `component` blocks",
        ]
    );
    let problems = translated("a = [").problems;
    assert!(problems[0].starts_with("main.pp:1:"), "{problems:?}");
}

#[test]
fn an_empty_program_is_an_empty_text() {
    check("# Nothing yet.\n", "");
}
