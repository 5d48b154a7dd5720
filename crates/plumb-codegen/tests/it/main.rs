//! SDKs, through the public interface. `tests/codegen` compiles them with real tools and checks their public members.

#![allow(clippy::unwrap_used)] // helpers of tests count as tests

mod csharp;
mod go;
mod hostile;
mod java;
mod local_dependencies;
mod python;
mod rust;
mod tables;

use std::path::{Path, PathBuf};

use plumb_codegen::{FileMap, GenerateError, Language, Purpose, generate};
use plumb_schema::{BindOptions, Document, Format, NoPackages, bind};

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/schemas")
}

/// SDK for a schema, ignoring the schema's diagnostics.
fn sdk_for(language: Language, text: &str, purpose: Purpose) -> Result<FileMap, GenerateError> {
    let document = Document::read(text, Format::Json).unwrap();
    let options = BindOptions {
        allow_dangling: true,
        packages: &NoPackages,
    };
    let bound = bind(&document, options);
    let mut files = FileMap::default();
    generate(&bound.package, language, purpose, &mut files)?;
    Ok(files)
}

/// Asserts that `text` contains each of `lines`; lines without leading spaces match at any indentation.
fn expect_lines(text: &str, lines: &[&str]) {
    for line in lines {
        let found = text
            .lines()
            .any(|known| known == *line || known.trim() == *line);
        assert!(found, "{line}\n{text}");
    }
}

fn sdk_of(text: &str, purpose: Purpose) -> Result<FileMap, GenerateError> {
    sdk_for(Language::Nodejs, text, purpose)
}

fn sdk(text: &str) -> FileMap {
    sdk_of(text, Purpose::Published).unwrap()
}

#[test]
fn the_same_schema_gives_the_same_bytes() {
    for name in ["random.json", "docker.json", "eks.json"] {
        let text = std::fs::read_to_string(data().join(name)).unwrap();
        assert_eq!(sdk(&text), sdk(&text), "{name}");
    }
}

#[test]
fn a_resource_has_what_users_expect() {
    let files = sdk(
        r#"{"name": "lab", "version": "1.2.3", "resources": {"lab:box:Box": {
            "deprecationMessage": "use a bag",
            "properties": {"size": {"type": "integer"}, "key": {"type": "string", "secret": true}},
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
    let text = files.get("box/box.ts").unwrap();
    for line in [
        "export class Box extends pulumi.CustomResource {",
        "    public static get(name: string, id: pulumi.Input<pulumi.ID>, opts?: pulumi.CustomResourceOptions): Box {",
        "    declare public readonly key: pulumi.Output<string | undefined>;",
        "    declare public readonly size: pulumi.Output<number>;",
        "    constructor(name: string, args: BoxArgs, opts?: pulumi.CustomResourceOptions) {",
        "        pulumi.log.warn(\"Box is deprecated: use a bag\");",
        "            if (args?.size === undefined && !opts.urn) {",
        "            resourceInputs[\"kind\"] = \"box\";",
        "            resourceInputs[\"size\"] = (args?.size) ?? (utilities.getEnvNumber(\"SIZE\") ?? 3);",
        "            resourceInputs[\"token\"] = (args?.token ? pulumi.secret(args.token) : undefined);",
        "            resourceInputs[\"key\"] = undefined /*out*/;",
        "        opts = pulumi.mergeOptions(opts, { aliases: [{ type: \"lab:old:Box\" }] });",
        "        opts = pulumi.mergeOptions(opts, <any>{ additionalSecretOutputs: [\"key\"] });",
        "    kind?: pulumi.Input<\"box\" | undefined>;",
        "    size: pulumi.Input<number>;",
    ] {
        assert!(text.lines().any(|known| known == line), "{line}\n{text}");
    }
    let index = files.get("box/index.ts").unwrap();
    assert!(index.contains("pulumi.runtime.registerResourceModule(\"lab\", \"box\", _module);"));
}

/// Names that try to break out of a folder, a string, a comment or a template.
#[test]
fn hostile_texts_stay_what_they_are() {
    let files = sdk(
        r#"{"name": "lab", "description": "a */ process.exit(1) /*", "resources": {"lab:index:Box": {
            "description": "*/ evil(); /*",
            "inputProperties": {
                "a\"];evil();[\"b": {"type": "string", "default": "\"; evil(); \"\u2028`${evil()}`"},
                "x*/y": {"type": "string", "const": "it's \\ \"quoted\"\n"},
                "constructor": {"type": "string", "description": "one\n*/ evil()"}
            }}},
            "types": {"lab:index:Kind": {"type": "string", "enum": [{"name": "a b*/c", "value": "*/\"\n"}]}},
            "config": {"variables": {"a-b": {"type": "string", "defaultInfo": {"environment": ["A\"B"]}}}}}"#,
    );
    for (path, text) in &files.0 {
        assert!(!text.contains("*/ evil"), "{path}\n{text}");
        assert!(!text.contains("\u{2028}"), "{path}");
    }
    let text = files.get("box.ts").unwrap();
    assert!(
        text.contains(r#"resourceInputs["a\"];evil();[\"b"]"#),
        "{text}"
    );
    assert!(text.contains(r#""a\"];evil();[\"b"?: pulumi.Input"#));
    assert!(text.contains("\"it's \\\\ \\\"quoted\\\"\\n\""));
    let vars = files.get("config/vars.ts").unwrap();
    assert!(vars.contains("export declare const a_b: string | undefined;"));
    assert!(vars.contains(r#"utilities.getEnv("A\"B")"#));
    let enums = files.get("types/enums/index.ts").unwrap();
    assert!(
        enums.contains(r#"A_b__c: "*/\"\n","#) || enums.contains(r#"A_b_c: "*/\"\n","#),
        "{enums}"
    );
}

#[test]
fn modules_cannot_lead_out_of_the_folder() {
    for module in ["../../up", "a/../../b", "a//b", "./a"] {
        let text = format!(r#"{{"name": "lab", "resources": {{"lab:{module}:Box": {{}}}}}}"#);
        let document = Document::read(&text, Format::Json).unwrap();
        let options = BindOptions {
            allow_dangling: true,
            packages: &NoPackages,
        };
        let bound = bind(&document, options);
        let mut files = FileMap::default();
        let made = generate(
            &bound.package,
            Language::Nodejs,
            Purpose::Published,
            &mut files,
        );
        assert!(
            matches!(made, Err(GenerateError::Name { .. })),
            "{module}: {made:?}"
        );
    }
    let extra = r#"{"name": "lab", "language": {"nodejs": {"extraTypeScriptFiles": ["../x.ts"]}}}"#;
    assert!(sdk_of(extra, Purpose::Published).is_err());
}

/// Long chains and dense graphs of types take time proportional to their size.
#[test]
fn types_of_any_form_are_followed() {
    let object = |index: usize, names: &[&str]| {
        let property = |name: &&str| {
            format!(
                r##""{name}": {{"$ref": "#/types/lab:index:T{}"}}"##,
                index + 1
            )
        };
        let properties: Vec<String> = names.iter().map(property).collect();
        format!(
            r#""lab:index:T{index}": {{"type": "object", "properties": {{{}}}}}"#,
            properties.join(", ")
        )
    };
    for (count, names) in [(30_000, &["next"][..]), (60, &["left", "right"])] {
        let mut types: Vec<String> = (0..count).map(|index| object(index, names)).collect();
        types.push(format!(
            r#""lab:index:T{count}": {{"type": "object", "properties": {{"x": {{"type": "string", "replaceOnChanges": true, "default": "d"}}}}}}"#
        ));
        let root = r##""x": {"$ref": "#/types/lab:index:T0"}"##;
        let files = sdk(&format!(
            r#"{{"name": "lab", "types": {{{}}}, "resources": {{"lab:index:Box": {{
                "properties": {{{root}}}, "inputProperties": {{{root}}}}}}}}}"#,
            types.join(", ")
        ));
        assert!(
            files
                .get("types/input.ts")
                .unwrap()
                .contains("export interface T0Args {")
        );
        assert!(
            files
                .get("box.ts")
                .unwrap()
                .contains("inputs.t0argsProvideDefaults")
        );
    }
}

#[test]
fn settings_of_the_wrong_kind_are_told() {
    let error = sdk_of(
        r#"{"name": "lab", "language": {"nodejs": {"dependencies": ["a"]}}}"#,
        Purpose::Published,
    );
    assert_eq!(
        error.unwrap_err().to_string(),
        "`language.nodejs.dependencies` of the schema must be a map of strings"
    );
    let error = sdk_of(
        r#"{"name": "lab", "language": {"nodejs": {"packageName": 3, "respectSchemaVersion": "yes"}}}"#,
        Purpose::Published,
    );
    assert_eq!(
        error.unwrap_err().to_string(),
        "`language.nodejs.respectSchemaVersion` of the schema must be `true` or `false`"
    );
}

#[test]
fn packages_know_their_plugin() {
    let files =
        sdk(r#"{"name": "lab", "version": "1.2.3", "pluginDownloadURL": "https://example.com"}"#);
    let json: serde_json::Value = serde_json::from_str(files.get("package.json").unwrap()).unwrap();
    assert_eq!(json["name"], "@pulumi/lab");
    assert_eq!(json["version"], "${VERSION}");
    assert_eq!(
        json["pulumi"],
        serde_json::json!({"resource": true, "name": "lab", "server": "https://example.com"})
    );
    let local = sdk_of(
        r#"{"name": "sub", "version": "2.0.0", "namespace": "acme", "parameterization": {
            "baseProvider": {"name": "base", "version": "1.0.0"}, "parameter": "YQ=="}}"#,
        Purpose::Local,
    )
    .unwrap();
    let json: serde_json::Value = serde_json::from_str(local.get("package.json").unwrap()).unwrap();
    assert_eq!(json["name"], "@acme/sub");
    assert_eq!(json["main"], "bin/index.js");
    assert_eq!(json["pulumi"]["name"], "base");
    assert_eq!(json["pulumi"]["parameterization"]["value"], "YQ==");
    assert!(
        local
            .get("utilities.ts")
            .unwrap()
            .contains("baseProviderName: \"base\",")
    );
    assert!(
        local
            .get("provider.ts")
            .unwrap()
            .contains("utilities.getPackage()")
    );
    assert!(local.get("scripts/postinstall.js").is_some());
}
