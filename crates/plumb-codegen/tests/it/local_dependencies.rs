//! SDKs that depend on SDKs in folders instead of published versions.

use std::collections::BTreeMap;

use plumb_codegen::{FileMap, Language, Purpose, Supplement, generate_with};
use plumb_schema::{BindOptions, Document, Format, NoPackages, bind};

use super::expect_lines;

const SCHEMA: &str = r#"{
    "name": "lab", "version": "1.0.0", "dependencies": [{"name": "docker", "version": "4.0.0"}, {"name": "random"}],
    "language": {"nodejs": {"dependencies": {"@org/tools": "^1.0.0"}}}
}"#;

fn manifest(language: Language, name: &str, local: &[(&str, &str)]) -> String {
    let document = Document::read(SCHEMA, Format::Json).unwrap();
    let options = BindOptions {
        allow_dangling: true,
        packages: &NoPackages,
    };
    let bound = bind(&document, options);
    let local = local.iter();
    let supplement = Supplement {
        local_dependencies: local
            .map(|(name, path)| ((*name).to_owned(), (*path).to_owned()))
            .collect::<BTreeMap<_, _>>(),
        ..Supplement::default()
    };
    let mut files = FileMap::default();
    let package = &bound.package;
    generate_with(package, language, Purpose::Local, &supplement, &mut files).unwrap();
    files.get(name).unwrap().to_owned()
}

#[test]
fn packages_for_node_name_files_instead_of_versions() {
    let local = [
        ("pulumi", "/sdks/core.tgz"),
        ("docker", "/sdks/docker.tgz"),
        ("@org/tools", "/sdks/tools.tgz"),
    ];
    let linked = manifest(Language::Nodejs, "package.json", &local);
    expect_lines(
        &linked,
        &[
            r#""@pulumi/pulumi": "/sdks/core.tgz","#,
            r#""@pulumi/docker": "/sdks/docker.tgz","#,
            r#""@org/tools": "/sdks/tools.tgz","#,
            r#""@pulumi/random": "*","#,
        ],
    );
    let published = manifest(Language::Nodejs, "package.json", &[]);
    expect_lines(&published, &[r#""@pulumi/docker": "4.0.0","#]);
    assert!(!published.contains("/sdks"), "{published}");
}

#[test]
fn modules_for_go_replace_the_core_sdk() {
    let linked = manifest(Language::Go, "go.mod", &[("pulumi", "/sdks/core")]);
    expect_lines(
        &linked,
        &["replace github.com/pulumi/pulumi/sdk/v3 => /sdks/core"],
    );
    let quoted = manifest(Language::Go, "go.mod", &[("pulumi", "/my sdks/a\nb")]);
    expect_lines(
        &quoted,
        &[r#"replace github.com/pulumi/pulumi/sdk/v3 => "/my sdks/a\nb""#],
    );
    assert!(!manifest(Language::Go, "go.mod", &[]).contains("replace"));
}
