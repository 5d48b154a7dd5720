//! Imports of a file.

use std::collections::BTreeMap;

use super::sdk::ExternalSdk;

/// Imports that the types of a file need.
#[derive(Default)]
pub(super) struct Imports {
    /// Relative path from the file to the root of the package: `./`, or `../` repeated.
    pub(super) root: String,
    pub(super) pulumi: bool,
    pub(super) inputs: bool,
    pub(super) outputs: bool,
    pub(super) enums: bool,
    pub(super) utilities: bool,
    /// Modules of other packages, by their name in the file.
    externals: BTreeMap<String, String>,
}

impl Imports {
    /// Imports of a file in `folder`.
    pub(super) fn in_folder(folder: &str) -> Self {
        let root = if folder.is_empty() {
            "./".to_owned()
        } else {
            "../".repeat(folder.split('/').count())
        };
        Imports {
            root,
            ..Imports::default()
        }
    }

    /// Local name of another package.
    pub(super) fn external(&mut self, package: &ExternalSdk) -> String {
        self.externals
            .insert(package.alias.clone(), package.npm_name.clone());
        package.alias.clone()
    }

    /// Import lines.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.pulumi {
            lines.push("import * as pulumi from \"@pulumi/pulumi\";".to_owned());
        }
        let own = [
            (self.inputs, "inputs", "types/input"),
            (self.outputs, "outputs", "types/output"),
            (self.enums, "enums", "types/enums"),
            (self.utilities, "utilities", "utilities"),
        ];
        for (_, name, path) in own.into_iter().filter(|(is_used, ..)| *is_used) {
            lines.push(format!("import * as {name} from \"{}{path}\";", self.root));
        }
        for (alias, module) in &self.externals {
            let module = super::names::string(module);
            lines.push(format!("import * as {alias} from {module};"));
        }
        lines
    }
}
