use super::*;

#[test]
fn names_of_flags_come_out_of_names_of_properties() {
    for (property, expected) in [
        ("name", "name"),
        ("intValue", "int-value"),
        ("already-kebab-case", "already-kebab-case"),
        ("snake_case", "snake-case"),
        ("HTTPServer", "http-server"),
        ("useHTTP2Only", "use-http2-only"),
        ("ipv6CIDR", "ipv6-cidr"),
        ("__defaults", "defaults"),
        ("with space", "with-space"),
        ("trailing_", "trailing"),
    ] {
        assert_eq!(flag_name(property), expected, "{property}");
    }
}

const SCHEMA: &str = r##"{
  "name": "pkg",
  "types": {
    "pkg:index:Size": {"type": "string", "enum": [{"value": "small"}, {"value": "large"}]},
    "pkg:index:Part": {"type": "object", "properties": {"x": {"type": "string"}}}
  },
  "provider": {"inputProperties": {"region": {"type": "string"}, "tags": {"type": "object"}}},
  "resources": {"pkg:index:Thing": {"inputProperties": {
    "name": {"type": "string", "description": "Its `name`.\n\nMore."},
    "count": {"type": "integer"}, "ratio": {"type": "number"}, "isOn": {"type": "boolean"},
    "size": {"$ref": "#/types/pkg:index:Size"}, "part": {"$ref": "#/types/pkg:index:Part"},
    "tags": {"type": "object"}, "items": {"type": "array", "items": {"type": "string"}},
    "file": {"$ref": "pulumi.json#/Asset"}, "any": {"$ref": "pulumi.json#/Any"},
    "output": {"type": "string"}, "yes": {"type": "boolean"}
  }}}
}"##;

fn shape(operation: Operation, keeping: Keeping) -> Shape {
    let schema = PackageSchema::parse(SCHEMA).unwrap();
    let thing = schema.resource("pkg:index:Thing").unwrap().unwrap();
    let provider = schema.provider().unwrap();
    let nothing = Properties::default();
    let inputs = match operation {
        Operation::Read | Operation::Delete => &nothing,
        _ => &thing.input_properties,
    };
    Shape::new(
        operation,
        keeping,
        &schema,
        inputs,
        &provider.input_properties,
    )
}

/// The flags that help lists, with the kinds of values that they take.
fn listed(shape: &Shape) -> String {
    let mut listed: Vec<String> = shape
        .flags
        .iter()
        .filter(|flag| flag.is_shown)
        .map(|flag| match &flag.meaning {
            Meaning::Own(_) => flag.name.clone(),
            Meaning::Property { kind, .. } => format!("{} {kind:?}", flag.name),
        })
        .collect();
    listed.sort();
    listed.join("\n")
}

#[test]
fn every_type_of_the_schema_has_a_flag() {
    let expected = r#"any+ Compound
count Integer
file+ Compound
input
input-file
input:output Text
input:yes Bool
is-on Bool
items+ Compound
name Text
part+ Compound
pkg:region Text
pkg:tags+ Compound
provider
provider-file
ratio Number
size Choice([String("small"), String("large")])
tags+ Compound
yes"#;
    assert_eq!(
        listed(&shape(Operation::Create, Keeping::Nowhere)),
        expected
    );
}

#[test]
fn each_operation_has_the_flags_that_it_needs() {
    for (operation, keeping, word, flags) in [
        (
            Operation::Create,
            Keeping::Stack,
            Some("name"),
            vec![
                "input",
                "input-file",
                "provider",
                "provider-file",
                "resources-file",
                "yes",
            ],
        ),
        (
            Operation::Patch,
            Keeping::Stack,
            Some("name"),
            vec!["input", "input-file", "resources-file", "yes"],
        ),
        (Operation::Delete, Keeping::Stack, Some("name"), vec!["yes"]),
        (
            Operation::Delete,
            Keeping::Nowhere,
            Some("id"),
            vec!["input", "provider", "provider-file", "yes"],
        ),
        (
            Operation::Create,
            Keeping::Nowhere,
            None,
            vec!["input", "input-file", "provider", "provider-file", "yes"],
        ),
        (
            Operation::Read,
            Keeping::Stack,
            Some("id"),
            vec!["input", "provider", "provider-file"],
        ),
        (
            Operation::List,
            Keeping::Stack,
            None,
            vec![
                "all",
                "count",
                "input",
                "input-file",
                "provider",
                "provider-file",
            ],
        ),
        (
            Operation::Invoke,
            Keeping::Stack,
            None,
            vec!["input", "input-file", "provider", "provider-file"],
        ),
    ] {
        let shape = shape(operation, keeping);
        let own = shape
            .flags
            .iter()
            .filter(|flag| matches!(flag.meaning, Meaning::Own(_)));
        let mut own: Vec<&str> = own.map(|flag| flag.name.as_str()).collect();
        own.sort_unstable();
        assert_eq!(own, flags, "{operation:?} {keeping:?}");
        assert_eq!(shape.word, word, "{operation:?} {keeping:?}");
    }
}

#[test]
fn a_property_has_several_names_and_one_is_listed() {
    let shape = shape(Operation::Create, Keeping::Nowhere);
    for (name, is_shown) in [
        ("name", true),
        ("name+", false),
        ("input:name", false),
        ("input:name+", false),
        ("tags", false),
        ("tags+", true),
        ("input:tags+", false),
        ("pkg:region", true),
        ("pkg:region+", false),
    ] {
        assert_eq!(
            shape.flag(name).map(|flag| flag.is_shown),
            Some(is_shown),
            "{name}"
        );
    }
    assert_eq!(shape.flag("region"), None);
    assert_eq!(shape.flag("output"), None);
    assert_eq!(shape.flag("name").unwrap().about, "Its name.");
}
