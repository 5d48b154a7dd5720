//! SDKs for Python, through the public interface. `tests/codegen` compiles them with real tools and checks their
//! public members.

use plumb_codegen::{
    FileMap, FilePath, GenerateError, Language, Purpose, Sink as _, Supplement, generate_with,
};
use plumb_schema::{BindOptions, Document, Format, NoPackages, bind};

use super::{expect_lines, sdk_for};

fn sdk_of(text: &str) -> Result<FileMap, GenerateError> {
    sdk_for(Language::Python, text, Purpose::Published)
}

fn sdk(text: &str) -> FileMap {
    sdk_of(text).unwrap()
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
            "deprecationMessage": "use a bag",
            "properties": {"size": {"type": "integer"}, "secretKey": {"type": "string", "secret": true}},
            "required": ["size"],
            "inputProperties": {
                "size": {"type": "integer", "default": 3, "defaultInfo": {"environment": ["SIZE"]}},
                "kind": {"type": "string", "const": "box"},
                "opts": {"type": "string"},
                "apiToken": {"type": "string", "secret": true}
            },
            "requiredInputs": ["size"],
            "aliases": ["lab:old:Box"]
        }}}"#,
    );
    expect_lines(
        files.get("pulumi_lab/box/box.py").unwrap(),
        &[
            "class BoxArgs:",
            "@pulumi.type_token(\"lab:box:Box\")",
            "class Box(pulumi.CustomResource):",
            "    warnings.warn(\"use a bag\", DeprecationWarning)",
            "        pulumi.log.warn(\"Box is deprecated: use a bag\")",
            "            if size is None:",
            "                size = _utilities.get_env_int(\"SIZE\", default=3)",
            "            if size is None and not opts.urn:",
            "            __props__.__dict__[\"kind\"] = \"box\"",
            "            __props__.__dict__[\"opts_\"] = opts_",
            "            __props__.__dict__[\"api_token\"] = None if api_token is None else pulumi.Output.secret(api_token)",
            "            __props__.__dict__[\"secret_key\"] = None",
            "        alias_opts = pulumi.ResourceOptions(aliases=[pulumi.Alias(type_=\"lab:old:Box\")])",
            "        secret_opts = pulumi.ResourceOptions(additional_secret_outputs=[\"secretKey\"])",
            "    @pulumi.getter(name=\"secretKey\")",
            "    def secret_key(self) -> pulumi.Output[Optional[_builtins.str]]:",
        ],
    );
    let root = files.get("pulumi_lab/__init__.py").unwrap();
    assert!(root.contains("box = _utilities.lazy_import(\"pulumi_lab.box\")"));
    assert!(
        root.contains(r#""fqn":"pulumi_lab.box","mod":"box""#),
        "{root}"
    );
}

/// Names that try to break out of a folder, a string or a docstring.
#[test]
fn hostile_texts_stay_what_they_are() {
    let files = sdk(
        r#"{"name": "lab", "description": "a \"\"\" evil() \\", "resources": {"lab:index:Box": {
            "description": "one \"\"\"\nevil()\n\"\"\" \\",
            "deprecationMessage": "no \"more\"\n\"\"\"; evil()",
            "inputProperties": {
                "a\"];evil();[\"b": {"type": "string", "default": "\"; evil(); \"\u2028"},
                "x\ny": {"type": "string", "const": "it's \\ \"quoted\"\n"},
                "self": {"type": "string", "description": "\"\"\"\"\"\nevil()\u0000"},
                "fooBar": {"type": "string"}, "foo_bar": {"type": "string"}
            }}},
            "types": {"lab:index:Kind": {"type": "string", "enum": [{"name": "a b\"c", "value": "\"\n"}]}},
            "config": {"variables": {"a-b": {"type": "string", "defaultInfo": {"environment": ["A\"B"]}}}}}"#,
    );
    let text = files.get("pulumi_lab/box.py").unwrap();
    assert!(text.contains("one \\\"\\\"\""), "{text}");
    expect_lines(
        text,
        &[
            "    warnings.warn(\"no \\\"more\\\"\\n\\\"\\\"\\\"; evil()\", DeprecationWarning)",
            "    @pulumi.getter(name=\"a\\\"];evil();[\\\"b\")",
            "            __props__.__dict__[\"x_y\"] = \"it's \\\\ \\\"quoted\\\"\\n\"",
            "            __props__.__dict__[\"foo_bar\"] = foo_bar",
            "            __props__.__dict__[\"foo_bar_\"] = foo_bar_",
        ],
    );
    for (path, text) in &files.0 {
        assert!(!text.contains('\0'), "{path}");
        // Descriptions end where they should: the hostile text occurs only between the quotes of a docstring.
        let name = path.as_str().rsplit('/').next().unwrap();
        if name
            .rsplit_once('.')
            .is_some_and(|(_, ending)| ending == "py")
            && name != "setup.py"
        {
            for (index, part) in text.replace("\\\"", "'").split("\"\"\"").enumerate() {
                let is_code = index % 2 == 0;
                let is_call = part.lines().any(|line| line.trim() == "evil()");
                assert!(!(is_code && is_call), "{path}\n{text}");
            }
        }
    }
    let enums = files.get("pulumi_lab/_enums.py").unwrap();
    expect_lines(enums, &["    A_B_C = \"\\\"\\n\""]);
}

#[test]
fn names_cannot_lead_out_of_the_folder() {
    for module in ["../../up", "./a", "a/../../b"] {
        let text = format!(r#"{{"name": "lab", "resources": {{"lab:{module}:Box": {{}}}}}}"#);
        for path in sdk(&text).0.keys() {
            assert!(!path.as_str().contains(".."), "{path}");
        }
    }
    for block in [
        r#""packageName": "../x""#,
        r#""packageName": "a b""#,
        r#""moduleNameOverrides": {"a": "../x"}"#,
        r#""moduleNameOverrides": {"a": "x/class"}"#,
    ] {
        let text = format!(r#"{{"name": "lab", "language": {{"python": {{{block}}}}}}}"#);
        assert!(
            matches!(sdk_of(&text), Err(GenerateError::Name { .. })),
            "{block}"
        );
    }
    let empty = r#"{"name": "lab", "resources": {"lab:a//b:Box": {}}}"#;
    assert!(matches!(sdk_of(empty), Err(GenerateError::Name { .. })));
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
            r#""lab:index:T{count}": {{"type": "object", "properties": {{"x": {{"type": "string"}}}}}}"#
        ));
        let root = r##""x": {"$ref": "#/types/lab:index:T0"}"##;
        let files = sdk(&format!(
            r#"{{"name": "lab", "types": {{{}}}, "resources": {{"lab:index:Box": {{
                "properties": {{{root}}}, "inputProperties": {{{root}}}}}}}}}"#,
            types.join(", ")
        ));
        let inputs = files.get("pulumi_lab/_inputs.py").unwrap();
        assert!(inputs.contains(&format!("class T{count}Args:")));
    }
}

#[test]
fn the_block_of_the_language_is_heeded() {
    let files = sdk(
        r##"{"name": "a-lab", "version": "1.2.3-beta.4", "namespace": "some-one", "license": "MIT",
            "pluginDownloadURL": "https://example.com/\"x",
            "language": {"python": {"pyproject": {"enabled": true}, "inputTypes": "classes", "respectSchemaVersion": true,
                "pythonRequires": ">=3.11", "requires": {"pulumi": ">=3.250.0", "other": "==1"}, "readme": "Read me",
                "moduleNameOverrides": {"deep/Module": "deep/other"}}},
            "types": {"a-lab:deep/Module:Inner": {"type": "object", "properties": {"x": {"type": "string"}}}},
            "resources": {"a-lab:index:Box": {"inputProperties": {"inner": {"$ref": "#/types/a-lab:deep%2FModule:Inner"}}}}}"##,
    );
    expect_lines(
        files.get("pyproject.toml").unwrap(),
        &[
            "name = \"some_one_a_lab\"",
            "version = \"1.2.3b4\"",
            "requires-python = \">=3.11\"",
            "license = { text = \"MIT\" }",
            "dependencies = [\"other==1\", \"packaging>=24.0\", \"pulumi>=3.250.0\", \"semver>=2.8.1\"]",
        ],
    );
    assert!(files.get("setup.py").is_none());
    assert_eq!(files.get("README.md"), Some("Read me\n"));
    let plugin = files.get("some_one_a_lab/pulumi-plugin.json").unwrap();
    let plugin: serde_json::Value = serde_json::from_str(plugin).unwrap();
    assert_eq!(plugin["version"], "1.2.3-beta.4");
    assert_eq!(plugin["server"], "https://example.com/\"x");
    let inputs = files.get("some_one_a_lab/deep/other/_inputs.py").unwrap();
    assert!(inputs.contains("class InnerArgs:") && !inputs.contains("TypedDict"));
    let resource = files.get("some_one_a_lab/box.py").unwrap();
    expect_lines(resource, &["from . import deep as _deep"]);
    assert!(resource.contains("pulumi.InputType['_deep.other.InnerArgs']"));
    let utilities = files.get("some_one_a_lab/_utilities.py").unwrap();
    expect_lines(utilities, &["    return \"https://example.com/\\\"x\""]);
}

#[test]
fn packages_made_of_others_say_so_in_each_request() {
    let files = sdk(
        r#"{"name": "sub", "version": "2.0.0", "resources": {"sub:index:Box": {}},
            "functions": {"sub:index:find": {"outputs": {"properties": {"x": {"type": "string"}}}}},
            "parameterization": {"baseProvider": {"name": "base", "version": "1.0.0"}, "parameter": "YQ=="}}"#,
    );
    let utilities = files.get("pulumi_sub/_utilities.py").unwrap();
    expect_lines(
        utilities,
        &[
            "_SEMVER = SemVersion.parse(\"2.0.0\")",
            "        base_provider_name=\"base\",",
            "        base64_parameter=\"YQ==\",",
        ],
    );
    for file in ["box", "find", "provider"] {
        let text = files.get(&format!("pulumi_sub/{file}.py")).unwrap();
        assert!(
            text.contains("package_ref=_utilities.get_package()"),
            "{file}"
        );
    }
    let setup = files.get("setup.py").unwrap();
    expect_lines(
        setup,
        &["VERSION = \"2.0.0\"", "        \"pulumi>=3.247.0,<4.0.0\","],
    );
    let extension = sdk(
        r#"{"name": "more", "version": "2.0.0", "allowedPackageNames": ["base"], "resources": {"base:index:Box": {}},
            "extensionParameterization": {"baseProvider": {"name": "base", "version": "1.0.0"}, "parameter": "YQ=="}}"#,
    );
    assert!(extension.get("pulumi_more/provider.py").is_none());
    let utilities = extension.get("pulumi_more/_utilities.py").unwrap();
    expect_lines(utilities, &["        extension=True,"]);
    let root = extension.get("pulumi_more/__init__.py").unwrap();
    assert!(root.contains("base:index:Box"), "{root}");
}

#[test]
fn enums_of_booleans_are_refused() {
    let error = sdk_of(
        r#"{"name": "lab", "types": {"lab:index:Flag": {"type": "boolean", "enum": [{"value": true}]}}}"#,
    );
    assert_eq!(
        error.unwrap_err().to_string(),
        "the enum `lab:index:Flag` cannot be generated: enums of booleans cannot be had in Python"
    );
}

#[test]
fn files_that_people_wrote_are_part_of_the_sdk() {
    let mut written = FileMap::default();
    for path in [
        "extra.py",
        "extra.ts",
        "deep/more.py",
        "deep/more.ts",
        "deep/index.d.ts",
        "notes.txt",
    ] {
        let path = FilePath::new(path).unwrap();
        written.file(path, "# by hand\n".to_owned()).unwrap();
    }
    let document = Document::read(r#"{"name": "lab"}"#, Format::Json).unwrap();
    let options = BindOptions {
        allow_dangling: false,
        packages: &NoPackages,
    };
    let bound = bind(&document, options);
    let supplement = Supplement {
        written,
        ..Supplement::default()
    };
    let make = |language| {
        let mut files = FileMap::default();
        let purpose = Purpose::Published;
        generate_with(&bound.package, language, purpose, &supplement, &mut files).map(|()| files)
    };
    let files = make(Language::Python).unwrap();
    assert_eq!(files.get("pulumi_lab/notes.txt"), Some("# by hand\n"));
    expect_lines(
        files.get("pulumi_lab/__init__.py").unwrap(),
        &[
            "from .extra import *",
            "    deep = _utilities.lazy_import(\"pulumi_lab.deep\")",
        ],
    );
    let deep = files.get("pulumi_lab/deep/__init__.py").unwrap();
    expect_lines(deep, &["from .more import *"]);
    let files = make(Language::Nodejs).unwrap();
    let index = files.get("index.ts").unwrap();
    expect_lines(
        index,
        &[
            "export * from \"./extra\";",
            "import * as deep from \"./deep\";",
        ],
    );
    let deep = files.get("deep/index.ts").unwrap();
    expect_lines(deep, &["export * from \"./more\";"]);
    let project = files.get("tsconfig.json").unwrap();
    assert!(
        project.contains("\"deep/more.ts\"") && !project.contains("index.d.ts"),
        "{project}"
    );
    for language in [Language::Go, Language::Java, Language::Dotnet] {
        let files = make(language).unwrap();
        assert_eq!(files.get("deep/more.ts"), Some("# by hand\n"));
    }
}
