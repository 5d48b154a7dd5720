//! SDKs for .NET. `tests/codegen/csharp.py` parses them with a C# grammar and checks their public
//! members.

use plumb_codegen::{FileMap, GenerateError, Language, Purpose};

use super::{expect_lines, sdk_for};

fn sdk_of(text: &str, purpose: Purpose) -> Result<FileMap, GenerateError> {
    sdk_for(Language::Dotnet, text, purpose)
}

fn sdk(text: &str) -> FileMap {
    sdk_of(text, Purpose::Published).unwrap()
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
        r#"{"name": "lab", "version": "1.2.3", "pluginDownloadURL": "https://example.com", "resources": {"lab:box:Box": {
            "deprecationMessage": "use a bag",
            "properties": {"size": {"type": "integer"}, "key": {"type": "string", "secret": true}},
            "required": ["size"],
            "inputProperties": {
                "size": {"type": "integer", "default": 3, "defaultInfo": {"environment": ["SIZE"]}},
                "kind": {"type": "string", "const": "box"},
                "tags": {"type": "array", "items": {"type": "string"}}
            },
            "requiredInputs": ["size"],
            "aliases": ["lab:old:Box"]
        }}}"#,
    );
    expect_lines(
        files.get("Box/Box.cs").unwrap(),
        &[
            "namespace Pulumi.Lab.Box",
            "[global::System.Obsolete(\"use a bag\")]",
            "[global::Pulumi.Lab.LabResourceTypeAttribute(\"lab:box:Box\")]",
            "public partial class Box : global::Pulumi.CustomResource",
            "public global::Pulumi.Output<int> Size { get; private set; } = null!;",
            "public global::Pulumi.Output<string?> Key { get; private set; } = null!;",
            "PluginDownloadURL = \"https://example.com\",",
            "Aliases = { new global::Pulumi.Alias { Type = \"lab:old:Box\" } },",
            "AdditionalSecretOutputs = { \"key\" },",
            "args.Kind = \"box\";",
            "Size = global::Pulumi.Lab.Utilities.GetEnvInt32(\"SIZE\") ?? 3;",
            "public global::Pulumi.InputList<string> Tags",
        ],
    );
    let project = files.get("Pulumi.Lab.csproj").unwrap();
    assert!(project.contains("<PackageReference Include=\"Pulumi\" Version=\"[3.76.1.0,4)\" />"));
    assert!(project.contains("<PackageIcon>logo.png</PackageIcon>"));
    let mut pictures = files.1.iter();
    assert!(
        pictures
            .any(|(path, content)| path.as_str() == "logo.png" && content.starts_with(b"\x89PNG"))
    );
    assert!(files.get("version.txt").is_none());
}

/// Names that try to break out of a string, a comment or the project file.
#[test]
fn hostile_texts_stay_what_they_are() {
    let files = sdk(
        r#"{"name": "lab", "version": "1.0.0", "description": "</Description><Evil/>", "resources": {"lab:index:Box": {
            "description": "one\u2028evil();\u0085evil();\revil(); </summary><evil>",
            "deprecationMessage": "\")] evil(); //\n",
            "inputProperties": {
                "a\";evil();\"b": {"type": "string", "default": "\"; evil(); \""},
                "box": {"type": "string"}
            }}}}"#,
    );
    for (path, text) in &files.0 {
        let is_evil = |line: &str| line.trim_start().starts_with("evil()");
        assert!(
            !text
                .split(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'])
                .any(is_evil),
            "{path}\n{text}"
        );
        assert!(
            !text.contains("<Evil/>") || path.as_str() == "README.md",
            "{path}\n{text}"
        );
    }
    expect_lines(
        files.get("Box.cs").unwrap(),
        &[
            r#"[global::Pulumi.Input("a\";evil();\"b")]"#,
            r#"A__evil____b = "\"; evil(); \"";"#,
            r#"[global::System.Obsolete("\")] evil(); //\n")]"#,
        ],
    );
}

#[test]
fn packages_know_their_plugin() {
    let local = sdk_of(
        r#"{"name": "sub", "version": "2.0.0", "namespace": "acme-corp", "parameterization": {
            "baseProvider": {"name": "base", "version": "1.0.0"}, "parameter": "YQ=="}}"#,
        Purpose::Local,
    )
    .unwrap();
    assert_eq!(local.get("version.txt"), Some("2.0.0\n"));
    assert!(local.get("AcmeCorp.Sub.csproj").is_some());
    let plugin = local.get("pulumi-plugin.json").unwrap();
    let plugin: serde_json::Value = serde_json::from_str(plugin).unwrap();
    assert_eq!(plugin["parameterization"]["value"], "YQ==");
    let utilities = local.get("Utilities.cs").unwrap();
    assert!(utilities.contains("value: global::System.Convert.FromBase64String(\"YQ==\")"));
    let provider = local.get("Provider.cs").unwrap();
    assert!(provider.contains(
        "registerPackageRequest: global::AcmeCorp.Sub.Utilities.PackageParameterization()"
    ));
}

#[test]
fn resources_can_be_made_of_dictionaries_where_the_schema_says_so() {
    let schema = |said: &str| {
        format!(
            r#"{{"name": "lab", "language": {{"csharp": {{{said}}}}}, "resources": {{"lab:index:Box": {{}}}}}}"#
        )
    };
    let with = sdk(&schema(r#""dictionaryConstructors": true"#));
    let box_ = with.get("Box.cs").unwrap();
    assert!(
        box_.contains("internal Box(string name, ")
            && box_.contains("new global::Pulumi.DictionaryResourceArgs(dictionary)"),
        "{box_}"
    );
    let provider = with.get("Provider.cs").unwrap();
    assert!(!provider.contains("DictionaryResourceArgs"), "{provider}");
    assert!(
        !sdk(&schema(""))
            .get("Box.cs")
            .unwrap()
            .contains("DictionaryResourceArgs")
    );
}
