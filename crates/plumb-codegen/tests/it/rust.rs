//! SDKs for Rust. That they compile, and that a missing input does not, is checked in `tests/rust/sdks.py`.

use plumb_codegen::{FileMap, Language, Purpose};

use super::{expect_lines, sdk_for};

fn sdk(text: &str) -> FileMap {
    sdk_for(Language::Rust, text, Purpose::Local).unwrap()
}

#[test]
fn the_same_schema_gives_the_same_bytes() {
    for name in ["random.json", "docker.json", "eks.json"] {
        let text = std::fs::read_to_string(super::data().join(name)).unwrap();
        assert_eq!(sdk(&text), sdk(&text), "{name}");
    }
}

#[test]
fn a_resource_has_what_users_expect() {
    let files = sdk(
        r#"{"name": "lab", "version": "1.2.3", "resources": {"lab:box:Box": {
            "properties": {"size": {"type": "integer"}, "key": {"type": "string", "secret": true}, "id": {"type": "string"}},
            "required": ["size"],
            "inputProperties": {
                "size": {"type": "integer"},
                "count": {"type": "integer", "default": 3, "defaultInfo": {"environment": ["COUNT"]}},
                "kind": {"type": "string", "const": "box"},
                "tags": {"type": "object", "additionalProperties": {"type": "string"}}
            },
            "requiredInputs": ["size", "count", "kind"],
            "aliases": [{"type": "lab:old:Box"}]
        }}}"#,
    );
    expect_lines(
        files.get("src/box_.rs").unwrap(),
        &[
            "pub struct Box(::plumb::Handle);",
            "pub const TOKEN: &'static str = \"lab:box:Box\";",
            "pub fn new<P0: ::plumb::generated::Provided>(ctx: &::plumb::Ctx, name: &str, args: BoxArgs<P0>) -> Self {",
            "pub fn size(&self) -> ::plumb::Output<i64> {",
            "pub fn key(&self) -> ::plumb::Output<::std::option::Option<::std::string::String>> {",
            "let own = ::plumb::opts().additional_secret_outputs([\"key\"]).aliases([::plumb::Alias::new().token(\"lab:old:Box\")]);",
            "pub struct BoxArgs<P0 = crate::missing::size> {",
            "inputs.set_value(\"kind\", ::plumb::value!(\"box\"));",
            "inputs.set_default(\"count\", &[\"COUNT\"], ::plumb::generated::DefaultKind::Number, ::plumb::value!(3.0_f64));",
            "pub fn size(mut self, value: impl ::std::convert::Into<::plumb::Input<i64>>) -> BoxArgs<::plumb::generated::Set> {",
            "pub fn count(mut self, value: impl ::std::convert::Into<::plumb::Input<i64>>) -> BoxArgs<P0> {",
        ],
    );
    expect_lines(files.get("src/missing.rs").unwrap(), &["pub enum size {}"]);
    expect_lines(
        files.get("src/lib.rs").unwrap(),
        &["#[cfg(feature = \"box_\")]", "pub mod box_;"],
    );
}

#[test]
fn a_feature_implies_those_that_its_module_mentions() {
    let files = sdk(r##"{"name": "lab", "version": "1.2.3",
            "types": {"lab:parts:Part": {"type": "object", "properties": {"size": {"type": "integer"}}}},
            "resources": {
                "lab:box:Box": {"inputProperties": {"parts": {"type": "array", "items": {"$ref": "#/types/lab:parts:Part"}}}},
                "lab:lid:Lid": {}
            }}"##);
    expect_lines(
        files.get("Cargo.toml").unwrap(),
        &[
            "name = \"pulumi_lab\"",
            "default = []",
            "box_ = [\"parts\"]",
            "lid = []",
            "parts = []",
            "full = [\"box_\", \"lid\", \"parts\"]",
        ],
    );
}
