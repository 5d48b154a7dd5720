//! Paths whose changes replace a resource (`schema.md` 7).

use crate::package::PackageSchema;
use crate::reference::Section;
use crate::types::{Properties, Resource, Type, TypeDefinition, TypeKind};

impl PackageSchema {
    /// The paths of outputs of `resource` that the schema marks with `replaceOnChanges`.
    pub fn replace_on_changes(&self, resource: &Resource) -> Vec<String> {
        let mut paths = Vec::new();
        self.collect(&resource.properties, "", &mut Vec::new(), &mut paths);
        paths
    }

    fn collect(
        &self,
        properties: &Properties,
        prefix: &str,
        open: &mut Vec<String>,
        paths: &mut Vec<String>,
    ) {
        for property in properties.values() {
            let path = format!("{prefix}{}", property.name);
            let (path, element) = through_collections(path, &property.ty);
            if property.replace_on_changes {
                paths.push(path);
                continue;
            }
            let TypeKind::Reference(reference) = &element.kind else {
                continue;
            };
            let is_own_type = reference.package.is_none() && reference.section == Section::Type;
            if !is_own_type || open.contains(&reference.token) {
                continue;
            }
            let Some(Ok(definition)) = self.type_definition(&reference.token) else {
                continue;
            };
            if let TypeDefinition::Object(object) = &*definition {
                open.push(reference.token.clone());
                self.collect(&object.properties, &format!("{path}."), open, paths);
                open.pop();
            }
        }
    }
}

/// Steps into lists and maps, and says so in the path.
fn through_collections(mut path: String, ty: &Type) -> (String, &Type) {
    let mut ty = ty;
    loop {
        match &ty.kind {
            TypeKind::Array(element) => {
                path.push_str("[*]");
                ty = element;
            }
            TypeKind::Map(element) => {
                path.push_str(".*");
                ty = element;
            }
            _ => return (path, ty),
        }
    }
}
