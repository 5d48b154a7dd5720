//! Imports of a file: a class is referred to by its simple name unless another class of that name
//! is in use.

use std::collections::BTreeMap;

/// Classes mentioned in a file.
pub(super) struct Imports {
    package: String,
    /// Qualified names by simple name.
    names: BTreeMap<String, String>,
}

impl Imports {
    /// Imports of a file with one class and possibly its builder.
    pub(super) fn of(package: &str, class: &str) -> Self {
        let own = |class: &str| (class.to_owned(), format!("{package}.{class}"));
        Imports {
            package: package.to_owned(),
            names: BTreeMap::from([own("Builder"), own(class)]),
        }
    }

    /// Name of a class in this file.
    pub(super) fn name(&mut self, full: &str) -> String {
        let simple = full.rsplit('.').next().unwrap_or(full);
        match self.names.get(simple) {
            Some(known) if known == full => simple.to_owned(),
            Some(_) => full.to_owned(),
            None => {
                self.names.insert(simple.to_owned(), full.to_owned());
                simple.to_owned()
            }
        }
    }

    /// Package declaration and imports, as lines.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("package {};", self.package)];
        let is_foreign = |full: &&String| {
            let package = full.rsplit_once('.').map_or("", |(package, _)| package);
            package != self.package
        };
        let mut imports: Vec<&String> = self.names.values().filter(is_foreign).collect();
        imports.sort();
        if !imports.is_empty() {
            lines.push(String::new());
        }
        lines.extend(imports.into_iter().map(|full| format!("import {full};")));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_for_one_class() {
        let mut imports = Imports::of("com.x", "String");
        assert_eq!(imports.name("java.lang.String"), "java.lang.String");
        assert_eq!(imports.name("com.x.Other"), "Other");
        assert_eq!(imports.name("com.y.Other"), "com.y.Other");
        assert_eq!(imports.name("java.util.List"), "List");
        assert_eq!(imports.name("com.y.Builder"), "com.y.Builder");
        assert_eq!(
            imports.lines(),
            ["package com.x;", "", "import java.util.List;"]
        );
    }
}
