use std::sync::Arc;

use plumb_events::Filter;
use plumb_value::{Asset, AssetSource};

use super::*;
use crate::diff::{diff_objects, visible};

fn plain(text: &str) -> String {
    plumb_events::strip_color(text).into_owned()
}

fn diff_text(old: PropertyMap, new: PropertyMap) -> String {
    let mut printer = ValuePrinter::default();
    printer.object_diff(
        &diff_objects(
            &visible(&old, Filter::default()),
            &visible(&new, Filter::default()),
        ),
        1,
    );
    plain(&printer.finish())
}

#[test]
fn nested_values_differ_member_by_member() {
    let tags = |value: &str| PropertyMap::new().with("a", value).with("b", "same");
    let old = PropertyMap::new()
        .with("tags", tags("1"))
        .with("gone", true)
        .with("list", vec![1.0.into()]);
    let new = PropertyMap::new()
        .with("tags", tags("2"))
        .with("added", 2.5)
        .with("list", vec![1.0.into(), Value::secret("x".into())]);
    insta::assert_snapshot!(diff_text(old, new));
}

#[test]
fn objects_in_lists_stand_deeper() {
    let item = |value: f64| Value::from(PropertyMap::new().with("a", value));
    let old = PropertyMap::new().with("list", vec![item(1.0)]);
    let new = PropertyMap::new().with("list", vec![item(2.0), item(3.0)]);
    insta::assert_snapshot!(diff_text(old, new));
}

#[test]
fn texts_of_many_lines_differ_line_by_line() {
    let old = PropertyMap::new().with("t", "1\n2\n3\n4\n5\na\nb\n6\n7\n8\n9\n10\n11\nc");
    let new = PropertyMap::new().with("t", "1\n2\n3\n4\n5\na\nx\n6\n7\n8\n9\n10\n11\nd");
    insta::assert_snapshot!(diff_text(old, new));
}

#[test]
fn json_texts_are_opened() {
    let old = PropertyMap::new().with("policy", r#"{"a":1,"b":[true]}"#);
    let new = PropertyMap::new()
        .with("policy", r#"{"a":2,"b":[true]}"#)
        .with("more", "[1]");
    insta::assert_snapshot!(diff_text(old, new));
}

#[test]
fn a_text_that_becomes_a_document_is_a_text() {
    let old = PropertyMap::new().with("t", "plain");
    let new = PropertyMap::new().with("t", "{\"a\": 1}");
    assert_eq!(
        diff_text(old, new),
        "  ~ t: \"plain\" => \"{\\\"a\\\": 1}\"\n"
    );
}

#[test]
fn changed_assets_are_replaced_and_members_of_archives_change() {
    let asset = |hash: &str, path: &str| {
        Value::Asset(Arc::new(Asset {
            hash: hash.into(),
            source: AssetSource::Path(path.into()),
        }))
    };
    let archive = |hash: &str, members: Vec<(&str, Value)>| {
        let members = members.into_iter().map(|(name, it)| (name.into(), it));
        Value::Archive(Arc::new(plumb_value::Archive {
            hash: hash.into(),
            source: plumb_value::ArchiveSource::Assets(members.collect()),
        }))
    };
    let old = PropertyMap::new()
        .with("f", asset("0123456789", "a.txt"))
        .with(
            "z",
            archive(
                "aaaaaaaaaa",
                vec![("a", asset("1", "a")), ("gone", asset("2", "g"))],
            ),
        );
    let new = PropertyMap::new()
        .with("f", asset("abcdefghij", "a.txt"))
        .with(
            "z",
            archive(
                "bbbbbbbbbb",
                vec![("a", asset("3", "a")), ("new", asset("4", "n"))],
            ),
        );
    insta::assert_snapshot!(diff_text(old, new));
}

#[test]
fn long_texts_are_cut_unless_they_change() {
    let long = |end: &str| format!("{}{end}", "x".repeat(160));
    let old = PropertyMap::new()
        .with("changed", long("a"))
        .with("gone", long("a"));
    let new = PropertyMap::new().with("changed", long("b"));
    insta::assert_snapshot!(diff_text(old, new));
}

#[test]
fn pieces_carry_the_colour_of_what_becomes_of_them() {
    let mut printer = ValuePrinter::default();
    let old = PropertyMap::new().with("a", "one two").with("gone", true);
    let new = PropertyMap::new().with("a", "one three");
    printer.object_diff(&diff_objects(&old, &new), 1);
    insta::assert_snapshot!(printer.finish());
}

#[test]
fn hidden_paths_only_say_that_they_differ() {
    let mut printer = ValuePrinter::default();
    printer.hidden(["a.b".to_owned()].iter(), 1);
    assert_eq!(plain(&printer.finish()), "  ~ a.b (hidden)\n");
}
