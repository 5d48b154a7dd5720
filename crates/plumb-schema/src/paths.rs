//! Paths whose changes replace a resource (`schema.md` 7).

use rustc_hash::{FxHashMap, FxHashSet};

use crate::bound;
use crate::package::PackageSchema;
use crate::reference::Section;
use crate::types::{Properties, Resource, Type, TypeDefinition, TypeKind};

impl PackageSchema {
    /// Paths of the resource's outputs that the schema marks with `replaceOnChanges`.
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

/// Extends a path through lists and maps; returns the path and the innermost element type.
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

/// Maximum number of paths of a resource, because nested objects multiply them.
const PATH_LIMIT: usize = 10_000;

/// Maximum nesting of objects.
const DEPTH_LIMIT: usize = 100;

impl bound::Package<'_> {
    /// Paths of the resource's outputs that the schema marks with `replaceOnChanges`. An object inside itself is not
    /// entered.
    pub fn replace_on_changes(&self, resource: &bound::Resource<'_>) -> Vec<String> {
        let mut walk = BoundWalk {
            package: self,
            marked: FxHashMap::default(),
            open: Vec::new(),
            paths: Vec::new(),
        };
        walk.collect(&resource.outputs.properties, "");
        walk.paths
    }
}

struct BoundWalk<'p, 'd> {
    package: &'p bound::Package<'d>,
    /// Whether a mark is reachable from an object, by its index.
    marked: FxHashMap<usize, bool>,
    /// Objects that enclose the current one.
    open: Vec<usize>,
    paths: Vec<String>,
}

impl<'p, 'd> BoundWalk<'p, 'd> {
    fn collect(&mut self, properties: &'p [bound::Property<'d>], prefix: &str) {
        for property in properties {
            let path = format!("{prefix}{}", property.name);
            let (path, element) = through_bound_collections(path, &property.ty);
            if self.paths.len() >= PATH_LIMIT {
                return;
            }
            if property.replace_on_changes {
                self.paths.push(path);
                continue;
            }
            let Some((position, object)) = self.object(element) else {
                continue;
            };
            let is_cut = self.open.len() >= DEPTH_LIMIT || self.open.contains(&position);
            if is_cut || !self.is_marked(position) {
                continue;
            }
            self.open.push(position);
            self.collect(&object.properties, &format!("{path}."));
            self.open.pop();
        }
    }

    fn object(&self, ty: &bound::Type<'d>) -> Option<(usize, &'p bound::Object<'d>)> {
        let bound::TypeKind::Defined(position) = ty.kind else {
            return None;
        };
        match &self.package.types[position].shape {
            bound::TypeShape::Object(object) => Some((position, object)),
            bound::TypeShape::Enum(_) => None,
        }
    }

    /// Whether any property within the object is marked. This check saves time, because most schemas have many objects and
    /// no marks.
    fn is_marked(&mut self, start: usize) -> bool {
        if let Some(known) = self.marked.get(&start) {
            return *known;
        }
        let mut seen: FxHashSet<usize> = FxHashSet::from_iter([start]);
        let mut open = vec![start];
        let mut is_marked = false;
        while let Some(position) = open.pop() {
            let bound::TypeShape::Object(object) = &self.package.types[position].shape else {
                continue;
            };
            for property in &object.properties {
                is_marked |= property.replace_on_changes;
                let (_, element) = through_bound_collections(String::new(), &property.ty);
                if let Some((inner, _)) = self.object(element)
                    && seen.insert(inner)
                {
                    open.push(inner);
                }
            }
        }
        self.marked.insert(start, is_marked);
        is_marked
    }
}

/// [`through_collections`] for bound types.
fn through_bound_collections<'t, 'd>(
    mut path: String,
    ty: &'t bound::Type<'d>,
) -> (String, &'t bound::Type<'d>) {
    let mut ty = ty;
    loop {
        match &ty.kind {
            bound::TypeKind::Array(element) => {
                path.push_str("[*]");
                ty = element;
            }
            bound::TypeKind::Map(element) => {
                path.push_str(".*");
                ty = element;
            }
            _ => return (path, ty),
        }
    }
}
