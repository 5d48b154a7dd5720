//! SDKs for Java. `tests/codegen/java.py` compiles them with a JDK and checks their public members.

use plumb_codegen::{FileMap, GenerateError, Language, Purpose};

use super::{expect_lines, sdk_for};

fn sdk_of(text: &str, purpose: Purpose) -> Result<FileMap, GenerateError> {
    sdk_for(Language::Java, text, purpose)
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
            "properties": {"size": {"type": "integer"}, "key": {"type": "string", "secret": true}, "id": {"type": "string"}},
            "required": ["size"],
            "inputProperties": {
                "size": {"type": "integer", "default": 3, "defaultInfo": {"environment": ["SIZE"]}},
                "kind": {"type": "string", "const": "box"},
                "token": {"type": "string", "secret": true}
            },
            "requiredInputs": ["size"],
            "aliases": ["lab:old:Box"]
        }}}"#,
    );
    let class = "src/main/java/com/pulumi/lab/box/Box.java";
    expect_lines(
        files.get(class).unwrap(),
        &[
            "package com.pulumi.lab.box;",
            "@ResourceType(type=\"lab:box:Box\")",
            "@java.lang.Deprecated",
            "public class Box extends CustomResource {",
            "public Output<Integer> size() {",
            "public Output<Optional<String>> key() {",
            "public Output<Optional<String>> id_() {",
            ".pluginDownloadURL(\"https://example.com\")",
            ".aliases(List.of(Output.of(Alias.builder().type(\"lab:old:Box\").build())))",
            ".additionalSecretOutputs(List.of(\"key\"))",
        ],
    );
    expect_lines(
        files
            .get("src/main/java/com/pulumi/lab/box/BoxArgs.java")
            .unwrap(),
        &[
            "public static final BoxArgs Empty = builder().build();",
            "$.kind = Codegen.stringProp(\"kind\").output().def(\"box\").require();",
            "$.size = Codegen.integerProp(\"size\").output().arg($.size).env(\"SIZE\").def(3).require();",
            "$.token = $.token.asSecret();",
        ],
    );
}

/// Names that try to break out of a string or a comment, also with escapes that the compiler expands early.
#[test]
fn hostile_texts_stay_what_they_are() {
    let files = sdk(
        r#"{"name": "lab", "version": "1.0.0", "description": "a */ '; evil() /*", "resources": {"lab:index:Box": {
            "description": "*/ evil(); /* \\u002a\\u002f evil();",
            "inputProperties": {
                "a\";evil();\"b": {"type": "string", "default": "\"; evil(); \"\\u0022"},
                "x*/y": {"type": "string", "const": "it's \\ \"quoted\"\n"},
                "class": {"type": "string", "description": "one\n*/ evil()", "deprecationMessage": "*/ evil()"}
            }}},
            "types": {"lab:index:Kind": {"type": "string", "enum": [{"name": "a b*/c", "value": "*/\"\n"}]}},
            "config": {"variables": {"a-b": {"type": "string", "defaultInfo": {"environment": ["A\"B"]}}}}}"#,
    );
    for (path, text) in &files.0 {
        assert!(!text.contains("*/ evil"), "{path}\n{text}");
        if path.as_str().starts_with("src/main/java/") {
            let hidden = text.replace("\\\\", "").contains("\\u002");
            assert!(!hidden, "{path}\n{text}");
        }
    }
    let args = files
        .get("src/main/java/com/pulumi/lab/BoxArgs.java")
        .unwrap();
    expect_lines(
        args,
        &[
            r#"@Import(name="a\";evil();\"b")"#,
            "public Builder a__evil____b(String a__evil____b) {",
            "public Builder class_(String class_) {",
            r#"$.x__y = Codegen.stringProp("x*/y").output().def("it's \\ \"quoted\"\n").require();"#,
        ],
    );
    let config = files
        .get("src/main/java/com/pulumi/lab/Config.java")
        .unwrap();
    assert!(
        config.contains(r#"Codegen.stringProp("a-b").config(config).env("A\"B").get()"#),
        "{config}"
    );
    let kind = files
        .get("src/main/java/com/pulumi/lab/enums/Kind.java")
        .unwrap();
    expect_lines(kind, &[r#"A_b_c("*/\"\n");"#]);
    let build = files.get("build.gradle").unwrap();
    assert!(
        build.contains(r"description = 'a */ \'; evil() /*'"),
        "{build}"
    );
}

#[test]
fn modules_cannot_lead_out_of_the_folder() {
    for module in ["../../up", "a/../../b", "a//b", "./a"] {
        let files = sdk(&format!(
            r#"{{"name": "lab", "resources": {{"lab:{module}:Box": {{}}}}}}"#
        ));
        for path in files.0.keys() {
            let path = path.as_str();
            assert!(!path.contains("..") && !path.contains("//"), "{path}");
        }
    }
}

#[test]
fn settings_of_the_wrong_kind_are_told() {
    for (block, expected) in [
        (
            r#"{"packages": ["a"]}"#,
            "`language.java.packages` of the schema must be a map of strings",
        ),
        (
            r#"{"buildFiles": "ant"}"#,
            "`language.java.buildFiles` of the schema must be `gradle` or `none`",
        ),
    ] {
        let made = sdk_of(
            &format!(r#"{{"name": "lab", "language": {{"java": {block}}}}}"#),
            Purpose::Published,
        );
        assert_eq!(made.unwrap_err().to_string(), expected);
    }
}

#[test]
fn blocks_for_the_language_are_followed() {
    let files = sdk(
        r#"{"name": "lab-oratory", "version": "1.0.0", "language": {"java": {
            "basePackage": "org.acme.", "packages": {"lab-oratory": "science", "a/b": "deep.er"},
            "dependencies": {"com.pulumi:pulumi": "1.20.0"}, "gradleTest": "JUnitPlatform",
            "gradleNexusPublishPluginVersion": "2.0.0", "repositories": ["https://example.com/maven"]}},
            "resources": {"lab-oratory:a/b:Box": {"inputProperties": {"n": {"type": "string", "language": {"java": {"name": "called"}}}}}}}"#,
    );
    let args = files
        .get("src/main/java/org/acme/science/deep/er/BoxArgs.java")
        .unwrap();
    expect_lines(
        args,
        &[
            "@Import(name=\"n\")",
            "public Builder called(String called) {",
        ],
    );
    expect_lines(
        files.get("build.gradle").unwrap(),
        &[
            "group = 'org.acme'",
            "implementation('com.pulumi:pulumi:1.20.0')",
            "id(\"io.github.gradle-nexus.publish-plugin\") version '2.0.0'",
            "useJUnitPlatform()",
            "maven { url('https://example.com/maven') }",
        ],
    );
    assert_eq!(
        files.get("settings.gradle").unwrap().lines().last(),
        Some("rootProject.name = 'org.acme.science'")
    );
    let bare = sdk(r#"{"name": "lab", "language": {"java": {"buildFiles": "none"}}}"#);
    assert!(bare.get("build.gradle").is_none());
}

#[test]
fn packages_know_their_plugin() {
    for (kind, key) in [
        ("parameterization", "parameterization"),
        ("extensionParameterization", "extensionParameterization"),
    ] {
        let text = format!(
            r#"{{"name": "sub", "version": "2.0.0", "namespace": "acme", "allowedPackageNames": ["base"], "{kind}": {{
                "baseProvider": {{"name": "base", "version": "1.0.0"}}, "parameter": "YQ=="}},
                "functions": {{"sub:index:f": {{"outputs": {{"type": "integer"}}}}}}}}"#
        );
        let local = sdk_of(&text, Purpose::Local).unwrap();
        assert!(local.get("build.gradle").is_none());
        let resources = "src/main/resources/com/acme/sub";
        assert_eq!(
            local.get(&format!("{resources}/version.txt")),
            Some("2.0.0\n")
        );
        let plugin = local.get(&format!("{resources}/plugin.json")).unwrap();
        let plugin: serde_json::Value = serde_json::from_str(plugin).unwrap();
        assert_eq!(
            plugin,
            serde_json::json!({"resource": true, "name": "base", "version": "1.0.0",
                key: {"name": "sub", "version": "2.0.0", "value": "YQ=="}})
        );
        let utilities = local
            .get("src/main/java/com/acme/sub/Utilities.java")
            .unwrap();
        let extension = if kind == "parameterization" {
            ""
        } else {
            ", true"
        };
        let call = format!(
            "return Deployment.getInstance().registerPackage(\"base\", \"1.0.0\", \"\", \"sub\", getVersion(), \"YQ==\"{extension});"
        );
        expect_lines(utilities, &[&call]);
        let functions = local
            .get("src/main/java/com/acme/sub/SubFunctions.java")
            .unwrap();
        assert!(functions.contains("Utilities.withVersion(options), Utilities.getPackageRef())"));
        let provider = local.get("src/main/java/com/acme/sub/Provider.java");
        assert_eq!(provider.is_some(), kind == "parameterization");
    }
}
