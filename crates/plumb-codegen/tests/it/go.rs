//! SDKs for Go.

use plumb_codegen::{FileMap, GenerateError, Language, Purpose};

use super::{expect_lines, sdk_for};

fn sdk_of(text: &str, purpose: Purpose) -> Result<FileMap, GenerateError> {
    sdk_for(Language::Go, text, purpose)
}

fn sdk(text: &str) -> FileMap {
    sdk_of(text, Purpose::Published).unwrap()
}

fn expect_in(files: &FileMap, path: &str, lines: &[&str]) {
    expect_lines(files.get(path).unwrap(), lines);
}

#[test]
fn the_same_schema_gives_the_same_bytes() {
    for name in ["docker.json", "eks.json"] {
        let text = std::fs::read_to_string(super::data().join(name)).unwrap();
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
    let lines = [
        "\t\"example.com/pulumi-lab/sdk/go/lab/internal\"",
        "// Deprecated: use a bag",
        "\tKey  pulumi.StringPtrOutput `pulumi:\"key\"`",
        "\tSize pulumi.IntOutput       `pulumi:\"size\"`",
        "\targs.Kind = pulumi.StringPtr(\"box\")",
        "\t\tif d := internal.GetEnvOrDefault(3, internal.ParseEnvInt, \"SIZE\"); d != nil {",
        "\t\t\targs.Size = pulumi.Int(d.(int))",
        "\t\targs.Token = pulumi.ToSecret(args.Token).(pulumi.StringPtrInput)",
        "\t\t\tType: pulumi.String(\"lab:old:Box\"),",
        "\tsecrets := pulumi.AdditionalSecretOutputs([]string{",
    ];
    expect_in(&files, "lab/box/box.go", &lines);
    expect_in(
        &files,
        "lab/box/init.go",
        &["\t\t\"box\",", "\t\tr = &Box{}"],
    );
}

/// Names that try to break out of a string, a tag, a comment or a line.
#[test]
fn hostile_texts_stay_what_they_are() {
    let files = sdk(
        r#"{"name": "lab", "description": "a\nfunc init() { evil() }\r\nb */", "resources": {"lab:index:Box": {
            "description": "*/ evil()\rfunc init() { evil() }\u2028",
            "inputProperties": {
                "a`\"b": {"type": "string", "default": "\"; evil(); \"\n`"},
                "type": {"type": "string"}, "Type": {"type": "string"}
            }}},
            "types": {"lab:index:Kind": {"type": "string", "enum": [{"name": "a b*/c", "value": "*/\"\n"}]}},
            "config": {"variables": {"a-b": {"type": "string", "defaultInfo": {"environment": ["A\"B"]}}}}}"#,
    );
    for (path, text) in &files.0 {
        let is_evil = |line: &str| {
            line.trim_start().starts_with("evil") || line.starts_with("func init() { evil")
        };
        assert!(
            path.as_str() == "README.md" || !text.split(['\n', '\r']).any(is_evil),
            "{path}\n{text}"
        );
    }
    let lines = [
        "\tA__b  *string \"pulumi:\\\"a`\\\\\\\"b\\\"\"",
        "\tType  *string `pulumi:\"Type\"`",
        "\tType_ *string `pulumi:\"type\"`",
        "\t\targs.A__b = pulumi.StringPtr(\"\\\"; evil(); \\\"\\n`\")",
    ];
    expect_in(&files, "lab/box.go", &lines);
    expect_in(
        &files,
        "lab/pulumiEnums.go",
        &["\tKind_A_b_c = Kind(\"*/\\\"\\n\")"],
    );
}

#[test]
fn what_cannot_be_imported_is_refused() {
    for module in ["../../up", "a/../../b", "a//b", "./a", "a b", "a\\\"b"] {
        let made = sdk_of(
            &format!(r#"{{"name": "lab", "resources": {{"lab:{module}:Box": {{}}}}}}"#),
            Purpose::Published,
        );
        assert!(
            matches!(made, Err(GenerateError::Name { .. })),
            "{module}: {made:?}"
        );
    }
    for (key, value) in [
        ("importBasePath", "a\\nreplace b => c/d"),
        ("modulePath", "a\\nreplace b => c"),
        ("internalModuleName", "../up"),
        ("pulumiSDKVersion", "v1.0.0\\nreplace a => b"),
    ] {
        let made = sdk_of(
            &format!(r#"{{"name": "lab", "language": {{"go": {{"{key}": "{value}"}}}}}}"#),
            Purpose::Local,
        );
        assert!(made.is_err(), "{key}: {made:?}");
    }
}

#[test]
fn generic_types_stand_beside_the_others_or_alone() {
    let schema = |generics: &str| {
        let text = r##"{"name": "lab", "language": {"go": {"generics": "HOW"}}, "resources": {"lab:box:Box": {
            "inputProperties": {"locks": {"type": "array", "items": {"$ref": "#/types/lab:box:Lock"}, "secret": true},
                "kind": {"$ref": "#/types/lab:box:Kind"}},
            "properties": {"locks": {"type": "array", "items": {"$ref": "#/types/lab:box:Lock"}}}}},
            "types": {"lab:box:Lock": {"type": "object", "properties": {"code": {"type": "string"}}},
                "lab:box:Kind": {"type": "string", "enum": [{"value": "big"}]}}}"##;
        sdk(&text.replace("HOW", generics))
    };
    let beside = schema("side-by-side");
    let alone = schema("generics-only");
    expect_in(
        &beside,
        "lab/box/box.go",
        &["\tLocks LockArrayOutput `pulumi:\"locks\"`"],
    );
    for (files, path) in [(&beside, "lab/x/box/box.go"), (&alone, "lab/box/box.go")] {
        expect_in(
            files,
            path,
            &[
                "Locks pulumix.GArrayOutput[Lock, LockOutput] `pulumi:\"locks\"`",
                "Locks pulumix.Input[[]*LockArgs]",
                "Kind  pulumix.Input[*Kind]",
                "args.Locks = internal.Secret(args.Locks)",
                "args.Locks = internal.Resolve(args.Locks, internal.Elements(internal.Object[Lock](LockArgs.ToLockOutput)))",
            ],
        );
    }
    assert!(alone.get("lab/x/box/box.go").is_none());
}

#[test]
fn packages_made_from_others_are_modules_that_say_so() {
    let files = sdk(
        r#"{"name": "sub", "version": "2.0.0", "namespace": "acme", "parameterization": {
            "baseProvider": {"name": "base", "version": "1.0.0"}, "parameter": "YQ=="},
            "functions": {"sub:index:one": {"outputs": {"type": "number"}}}}"#,
    );
    let manifest = files.get("go.mod").unwrap();
    assert!(
        manifest.starts_with("module github.com/acme/pulumi-sub/sdk/go/v2\n"),
        "{manifest}"
    );
    let lines = [
        "\treturn ctx.GetOrRegisterPackageRef(\"sub:2.0.0\", func() (*pulumirpc.RegisterPackageRequest, error) {",
    ];
    expect_in(&files, "sub/internal/pulumiUtilities.go", &lines);
    expect_in(
        &files,
        "sub/one.go",
        &[
            "\terr = ctx.InvokePackage(\"sub:index:one\", nil, &rv, ref, opts...)",
            "\t\tPackageRefF:   internal.PkgGetPackageRef,",
        ],
    );
    let plugin: serde_json::Value =
        serde_json::from_str(files.get("sub/pulumi-plugin.json").unwrap()).unwrap();
    assert_eq!(plugin["name"], "base");
    assert_eq!(plugin["parameterization"]["value"], "YQ==");
    let extension = sdk(
        r#"{"name": "more", "version": "2.0.0", "extensionParameterization": {
            "baseProvider": {"name": "base", "version": "1.0.0"}, "parameter": "YQ=="},
            "functions": {"more:index:one": {}}}"#,
    );
    assert!(
        extension
            .get("go.mod")
            .unwrap()
            .starts_with("module more\n")
    );
    let import = "\t\"example.com/pulumi-more/sdk/go/v2/more/internal\"";
    expect_in(&extension, "more/one.go", &[import]);
    assert!(extension.get("more/provider.go").is_none());
    // A local SDK is always a module of its own.
    let local = sdk_of(r#"{"name": "lab", "version": "1.0.0"}"#, Purpose::Local).unwrap();
    assert!(
        local
            .get("go.mod")
            .unwrap()
            .starts_with("module example.com/pulumi-lab/sdk/go\n")
    );
    assert!(sdk(r#"{"name": "lab"}"#).get("go.mod").is_none());
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
    for (count, names) in [(3_000, &["next"][..]), (60, &["left", "right"])] {
        let mut types: Vec<String> = (0..count).map(|index| object(index, names)).collect();
        types.push(format!(
            r#""lab:index:T{count}": {{"type": "object", "properties": {{"x": {{"type": "string", "default": "d"}}}}}}"#
        ));
        let root = r##""x": {"$ref": "#/types/lab:index:T0"}"##;
        let files = sdk(&format!(
            r#"{{"name": "lab", "types": {{{}}}, "resources": {{"lab:index:Box": {{
                "properties": {{{root}}}, "inputProperties": {{{root}}}}}}}}}"#,
            types.join(", ")
        ));
        expect_in(
            &files,
            "lab/pulumiTypes.go",
            &["func (val *T0Args) Defaults() *T0Args {"],
        );
    }
}
