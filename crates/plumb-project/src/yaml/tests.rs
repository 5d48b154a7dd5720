//! Golden tests against go-yaml.

use std::path::PathBuf;

use super::{Document, Item, Node, Resolved, emit, parse, resolve_plain, to_json};

fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/yaml")
        .join(name)
}

fn rows(name: &str) -> Vec<serde_json::Value> {
    serde_json::from_str(&std::fs::read_to_string(data(name)).unwrap()).unwrap()
}

#[test]
fn plain_scalars_mean_what_go_yaml_says() {
    for row in rows("resolve.json") {
        let text = row["text"].as_str().unwrap();
        let tag = match resolve_plain(text) {
            Resolved::Null => "!!null",
            Resolved::Bool(_) => "!!bool",
            Resolved::Integer(_) => "!!int",
            Resolved::Float(_) => "!!float",
            Resolved::Timestamp(_) => "!!timestamp",
            Resolved::String(_) => "!!str",
        };
        assert_eq!(tag, row["tag"], "{text}");
        if tag != "!!timestamp" {
            let json = to_json(&Node::plain(text)).unwrap();
            let same_number = json.as_f64().is_some() && json.as_f64() == row["json"].as_f64();
            assert!(same_number || json == row["json"], "{text}: {json}");
        }
    }
}

#[test]
fn strings_are_written_as_go_yaml_does() {
    for row in rows("strings.json") {
        let text = row["text"].as_str().unwrap();
        let mut root = Node::empty_mapping();
        if let super::Data::Mapping(mapping) = &mut root.data {
            mapping
                .entries
                .push((Node::string("k"), Item::new(Node::string(text))));
        }
        let out = emit(&Document {
            head: vec![],
            root: Some(root),
            foot: vec![],
        });
        assert_eq!(out, row["yaml"].as_str().unwrap(), "{text:?}");
        let back = parse(&out).unwrap().root.unwrap();
        assert_eq!(
            back.as_mapping()
                .unwrap()
                .get("k")
                .unwrap()
                .as_str()
                .as_deref(),
            Some(text)
        );
    }
}

#[test]
fn documents_are_written_again_as_go_yaml_does() {
    let mut failures = Vec::new();
    for entry in std::fs::read_dir(data("roundtrip")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let Some(stem) = name.strip_suffix(".in.yaml") else {
            continue;
        };
        let input = std::fs::read_to_string(&path).unwrap();
        let expected =
            std::fs::read_to_string(data(&format!("roundtrip/{stem}.out.yaml"))).unwrap();
        let output = emit(&parse(&input).unwrap());
        if output != expected {
            failures.push(format!("== {stem}\n{output}-- expected\n{expected}"));
        }
        let again = emit(&parse(&output).unwrap());
        assert_eq!(again, output, "{stem}: writing twice must change nothing");
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn nothing_is_lost_where_go_yaml_differs() {
    let folded = "t: >\n  fold fold\n  more\n\n  para\n\n    indented\n  end\n";
    let before = to_json(parse(folded).unwrap().root.as_ref().unwrap()).unwrap();
    let out = emit(&parse(folded).unwrap());
    assert_eq!(
        to_json(parse(&out).unwrap().root.as_ref().unwrap()).unwrap(),
        before,
        "{out}"
    );
    let inner = "a: {b: 1,\n  # kept\n  c: 2} # end\nd: 1\n";
    assert_eq!(
        emit(&parse(inner).unwrap()),
        "# kept\na: {b: 1, c: 2} # end\nd: 1\n"
    );
    let dash = "a:\n  - # on the dash\n    x: 1\n";
    assert!(emit(&parse(dash).unwrap()).contains("# on the dash"));
}

#[test]
fn errors_name_the_place() {
    let error = parse("a: 1\nb: [1\nc: 2\n").unwrap_err();
    assert!(error.position.line >= 2, "{error}");
    assert!(parse("a: 1\n---\nb: 2\n").is_err());
    assert_eq!(parse("").unwrap().root, None);
    assert_eq!(
        parse("# only a comment\n").unwrap().head,
        ["# only a comment"]
    );
}

#[test]
fn a_key_that_looks_like_a_merge_stays_a_key() {
    let value = serde_json::json!({"<<": null, "text": "<<"});
    let text = emit(&Document {
        head: vec![],
        root: Some(super::from_json(&value)),
        foot: vec![],
    });
    assert_eq!(text, "\"<<\": null\ntext: <<\n");
    assert_eq!(to_json(&parse(&text).unwrap().root.unwrap()), Ok(value));
}

use proptest::prelude::*;

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::Value as Json;
    let text = prop_oneof![
        "\\PC{0,12}",
        "[ -~\\n\\t]{0,20}",
        "[-+0-9.:eExo_ #'\"{}\\[\\],&*!|>%@`]{0,6}",
        any::<String>()
    ];
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        text.clone().prop_map(Json::from),
    ];
    leaf.prop_recursive(3, 24, 4, move |inner| {
        let key = prop_oneof!["[a-z]{1,4}", "\\PC{0,6}", "[-:#?, a]{1,4}"];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            prop::collection::btree_map(key, inner, 0..4)
                .prop_map(|map| Json::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    /// Printed values are parsed as the same values, in block and in flow layout.
    #[test]
    fn every_value_survives_writing(value in any_json()) {
        let mut root = Node::empty_mapping();
        if let super::Data::Mapping(mapping) = &mut root.data {
            mapping.set("root", super::from_json(&value));
            let flow = super::Sequence { layout: super::Layout::Flow, items: vec![Item::new(super::from_json(&value))] };
            mapping.set("flow", Node::new(super::Data::Sequence(flow)));
        }
        let text = emit(&Document { head: vec![], root: Some(root), foot: vec![] });
        let parsed = parse(&text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        let back = to_json(parsed.root.as_ref().unwrap()).unwrap();
        prop_assert_eq!(&back["root"], &value, "{}", text);
        prop_assert_eq!(&back["flow"][0], &value, "{}", text);
        prop_assert_eq!(emit(&parsed), text);
    }

    /// No text makes the parser panic, and everything that it accepts can be printed and parsed
    /// again.
    #[test]
    fn no_text_is_too_odd(text in "[a-c:#\\- \\n'\"{}\\[\\],|>&*!?~0-1]{0,40}") {
        if let Ok(document) = parse(&text)
            && let Some(root) = &document.root
            && let Ok(value) = to_json(root)
        {
            let written = emit(&document);
            let again = parse(&written).map_err(|error| TestCaseError::fail(format!("{error}\n{text}\n--\n{written}")))?;
            let back = again.root.as_ref().map_or(serde_json::Value::Null, |root| to_json(root).unwrap());
            prop_assert_eq!(back, value, "{}\n--\n{}", text, written);
        }
    }
}

#[test]
fn deep_documents_are_read() {
    // A thread with a stack as large as that of a main thread, because test threads have smaller
    // ones.
    let work = || {
        let flow = |depth: usize| format!("a: {}1{}\n", "[".repeat(depth), "]".repeat(depth));
        let block = |depth: usize| format!("{}1\n", "- ".repeat(depth));
        for text in [flow(9_000), block(9_000)] {
            assert!(parse(&text).is_ok());
        }
        for text in [flow(11_000), block(11_000)] {
            let error = parse(&text).unwrap_err();
            assert_eq!(error.message, "recursion limit exceeded");
        }
    };
    let thread = std::thread::Builder::new().stack_size(256 << 20);
    thread.spawn(work).unwrap().join().unwrap();
}
