//! The package of the engine's own types (`schema.md` 12).

use std::sync::{Arc, LazyLock};

use crate::package::PackageSchema;

/// Name of the package of the engine's own types.
pub const PULUMI_PACKAGE: &str = "pulumi";

/// Schema of the package, as loaders serve it.
pub const PULUMI_SCHEMA: &str = r#"{
  "name": "pulumi",
  "version": "3.0.0",
  "provider": {"inputProperties": {"name": {"type": "string"}}},
  "resources": {
    "pulumi:index:Stash": {
      "inputProperties": {"input": {"$ref": "pulumi.json#/Any"}},
      "requiredInputs": ["input"],
      "properties": {"input": {"$ref": "pulumi.json#/Any"}, "output": {"$ref": "pulumi.json#/Any"}},
      "required": ["input", "output"]
    },
    "pulumi:pulumi:StackReference": {
      "inputProperties": {"name": {"type": "string"}},
      "properties": {
        "name": {"type": "string"},
        "outputs": {"type": "object", "additionalProperties": {"$ref": "pulumi.json#/Any"}},
        "secretOutputNames": {"type": "array", "items": {"type": "string"}}
      },
      "required": ["outputs"]
    }
  }
}"#;

/// The built-in `pulumi` package.
pub fn pulumi_package() -> Arc<PackageSchema> {
    static PACKAGE: LazyLock<Arc<PackageSchema>> = LazyLock::new(|| {
        Arc::new(
            PackageSchema::parse(PULUMI_SCHEMA).expect("the text is a constant of this module"),
        )
    });
    PACKAGE.clone()
}
