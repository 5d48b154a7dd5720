//! Imports of a file.

use std::collections::BTreeSet;

/// Imports that the types of a file need.
pub(super) struct Imports {
    /// Relative import prefix of the package root: one dot, and one for each step of the module.
    pub(super) root: String,
    pub(super) inputs: bool,
    pub(super) outputs: bool,
    pub(super) enums: bool,
    pub(super) root_inputs: bool,
    pub(super) root_outputs: bool,
    pub(super) root_enums: bool,
    /// First steps of the paths of other modules.
    pub(super) modules: BTreeSet<String>,
    /// Files of resources, each with the dots of its folder's relative import.
    pub(super) resources: BTreeSet<(String, String)>,
    /// Other packages.
    pub(super) externals: BTreeSet<String>,
}

/// Imports that the types of any file may need.
const COMMON: [&str; 10] = [
    "import builtins as _builtins",
    "import sys",
    "import warnings",
    "import pulumi",
    "import pulumi.runtime",
    "from typing import Any, Literal, Mapping, Optional, Sequence, Union, overload",
    "if sys.version_info >= (3, 11):",
    "    from typing import NotRequired, TypedDict",
    "else:",
    "    from typing_extensions import NotRequired, TypedDict",
];

impl Imports {
    /// Imports of a file in the module at this path.
    pub(super) fn in_module(module: &str) -> Self {
        Imports {
            root: root_of(module),
            inputs: false,
            outputs: false,
            enums: false,
            root_inputs: false,
            root_outputs: false,
            root_enums: false,
            modules: BTreeSet::new(),
            resources: BTreeSet::new(),
            externals: BTreeSet::new(),
        }
    }

    /// Import lines. Files that can import each other in a cycle import modules, not names in them.
    pub(super) fn lines(&self, has_dicts: bool) -> Vec<String> {
        let root = &self.root;
        let common = if has_dicts { &COMMON[..] } else { &COMMON[..6] };
        let mut lines: Vec<String> = common.iter().map(ToString::to_string).collect();
        lines.push(format!("from {root} import _utilities"));
        if self.outputs {
            lines.push("from . import outputs".to_owned());
        }
        if self.enums {
            lines.push("from ._enums import *".to_owned());
        }
        if self.inputs {
            lines.push("from ._inputs import *".to_owned());
        }
        let roots = [
            (self.root_enums, "_enums", "_root_enums"),
            (self.root_inputs, "_inputs", "_root_inputs"),
            (self.root_outputs, "outputs", "_root_outputs"),
        ];
        for (_, file, name) in roots.into_iter().filter(|(is_used, ..)| *is_used) {
            lines.push(format!("from {root} import {file} as {name}"));
        }
        for module in &self.modules {
            lines.push(format!("from {root} import {module} as _{module}"));
        }
        for (dots, file) in &self.resources {
            let name = resource_module(file);
            lines.push(format!("from {dots} import {file} as {name}"));
        }
        for package in &self.externals {
            lines.push(format!("import {package}"));
        }
        lines
    }
}

/// Relative import prefix from a module to the package root.
pub(super) fn root_of(module: &str) -> String {
    let depth = module.split('/').filter(|step| !step.is_empty()).count();
    ".".repeat(depth + 1)
}

/// Local name under which other files import a resource's file.
pub(super) fn resource_module(file: &str) -> String {
    format!("_resource_{file}")
}
