//! Identifiers of definitions: valid in the language, and unique.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plumb_codegen::programs::{PackageNames, ProgramLanguage};
use plumb_pcl::{DefinitionKind, Program};
use plumb_schema::PackageSchema;

/// Names in a file.
pub(crate) struct Names {
    /// Names of definitions, by index.
    definitions: Vec<String>,
    taken: BTreeSet<String>,
    packages: BTreeMap<String, Package>,
}

/// An imported package.
pub(crate) struct Package {
    pub(crate) schema: Arc<PackageSchema>,
    pub(crate) names: PackageNames,
    /// Alias of the import.
    pub(crate) alias: String,
}

impl Names {
    /// Names for a program, different from all in `reserved`.
    pub(crate) fn new(
        program: &Program,
        used: &[Arc<PackageSchema>],
        language: ProgramLanguage,
        reserved: &[&str],
    ) -> Self {
        let mut names = Names {
            definitions: Vec::new(),
            taken: reserved.iter().map(|name| (*name).to_owned()).collect(),
            packages: BTreeMap::new(),
        };
        for schema in used.iter().filter(|it| it.name() != "pulumi") {
            let wanted = match language {
                ProgramLanguage::Python | ProgramLanguage::Rust => language.variable(schema.name()),
                ProgramLanguage::Nodejs
                | ProgramLanguage::Go
                | ProgramLanguage::Java
                | ProgramLanguage::Csharp => language.variable(&camel(schema.name())),
            };
            let alias = names.fresh(&wanted);
            let package = Package {
                schema: schema.clone(),
                names: PackageNames::new(schema, language),
                alias,
            };
            names.packages.insert(schema.name().to_owned(), package);
        }
        for definition in &program.definitions {
            let wanted = language.variable(&definition.name);
            let name = match &definition.kind {
                // Not every output is a variable; emitters reserve a name when they need one.
                DefinitionKind::Output(_) => wanted,
                _ => names.fresh(&wanted),
            };
            names.definitions.push(name);
        }
        names
    }

    /// Identifier of a definition.
    pub(crate) fn definition(&self, position: usize) -> &str {
        &self.definitions[position]
    }

    /// Renames a definition.
    pub(crate) fn rename(&mut self, position: usize, name: String) {
        self.definitions[position] = name;
    }

    pub(crate) fn package(&self, name: &str) -> Option<&Package> {
        self.packages.get(name)
    }

    pub(crate) fn packages(&self) -> impl Iterator<Item = &Package> {
        self.packages.values()
    }

    /// Reserves a name; returns whether it was free.
    pub(crate) fn take(&mut self, name: &str) -> bool {
        self.taken.insert(name.to_owned())
    }

    /// Names that are not free.
    pub(crate) fn taken(&self) -> &BTreeSet<String> {
        &self.taken
    }

    /// Frees all names but `taken`.
    pub(crate) fn restore(&mut self, taken: BTreeSet<String>) {
        self.taken = taken;
    }

    /// Reserves a free name derived from `wanted`.
    pub(crate) fn fresh(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        let mut number = 2;
        while !self.take(&name) {
            name = format!("{wanted}{number}");
            number += 1;
        }
        name
    }
}

/// Camel-case form of a name with hyphens.
pub(crate) fn camel(name: &str) -> String {
    let mut result = String::with_capacity(name.len());
    let mut is_next_upper = false;
    for char in name.chars() {
        if char.is_alphanumeric() {
            if is_next_upper {
                result.extend(char.to_uppercase());
            } else {
                result.push(char);
            }
            is_next_upper = false;
        } else {
            is_next_upper = !result.is_empty();
        }
    }
    if result.starts_with(|char: char| char.is_ascii_digit()) {
        result.insert(0, '_');
    }
    result
}

/// Name of a component's class, derived from its folder.
pub(crate) fn component_class(program: &Program, language: ProgramLanguage) -> String {
    let last = program.folder.rsplit('/').next().unwrap_or_default();
    let name = camel(&last.replace('_', "-"));
    language.class(&name)
}
