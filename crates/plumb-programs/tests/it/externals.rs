//! Types of one package in the inputs of another one.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use futures::executor::block_on;
use plumb_pcl::{Leniency, Program, Sources};
use plumb_programs::{ProgramLanguage, generate};
use plumb_schema::{PackageQuery, PackageSchema, SchemaLoadError, SchemaLoader};

const LAB: &str = r#"{"name": "lab", "version": "1.2.0", "resources": {"lab:index:Box": {}}, "types": {
    "lab:index:Size": {"type": "string", "enum": [{"name": "Small", "value": "s"}]},
    "lab:index:Place": {"type": "object", "properties": {"row": {"type": "integer"}}}}}"#;

const SITE: &str = r#"{"name": "site", "version": "3.0.0", "resources": {"site:index:Shelf": {"inputProperties": {
    "size": {"$ref": "/lab/v1.0.0/schema.json#/types/lab:index:Size"},
    "place": {"$ref": "/lab/v1.0.0/schema.json#/types/lab:index:Place"},
    "old": {"$ref": "/lab/v0.9.0/schema.json#/types/lab:index:Size"}}}}}"#;

struct Schemas(BTreeMap<&'static str, Arc<PackageSchema>>);

#[async_trait]
impl SchemaLoader for Schemas {
    async fn load(
        &self,
        query: &PackageQuery,
    ) -> Result<Option<Arc<PackageSchema>>, SchemaLoadError> {
        Ok(self.0.get(query.name.as_str()).cloned())
    }
}

#[test]
fn inputs_have_the_types_of_other_packages_of_the_program() {
    let parsed = [("lab", LAB), ("site", SITE)]
        .map(|(name, text)| (name, Arc::new(PackageSchema::parse(text).unwrap())));
    let schemas = Schemas(parsed.into());
    let text = "resource box \"lab:index:Box\" {}\n\
                resource shelf \"site:index:Shelf\" {\n  size = \"s\"\n  place = { row = 2 }\n  old = \"s\"\n}\n";
    let sources = Sources::new([("main.pp".to_owned(), text.to_owned())]);
    let loaded = block_on(Program::load(&sources, &schemas, Leniency::NONE));
    for (language, file, expected) in [
        (
            ProgramLanguage::Go,
            "main.go",
            ["lab.SizeSmall", "&lab.PlaceArgs{", "pulumi.String(\"s\")"],
        ),
        (
            ProgramLanguage::Java,
            "src/main/java/app/App.java",
            ["Size.Small", "PlaceArgs.builder()", ".old(\"s\")"],
        ),
        (
            ProgramLanguage::Csharp,
            "Program.cs",
            ["Size.Small", "PlaceArgs", "Old = \"s\""],
        ),
        (
            ProgramLanguage::Rust,
            "src/main.rs",
            ["Size::SMALL", "PlaceArgs", "\"s\""],
        ),
    ] {
        let generated = generate(&loaded.program, language);
        let text = &generated.files[file];
        for part in expected {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }
}
