//! Forms that each nested type needs (`codegen.md` 4.4).

use std::collections::BTreeMap;

use plumb_schema::bound::{Object, Package, Property, Returns, Type, TypeKind, TypeShape};
use rustc_hash::FxHashSet;

/// Context in which a type is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Use {
    /// Among arguments, where each level that is not plain may be an output.
    is_argument: bool,
    /// An input type is needed.
    input: bool,
    /// An output type is needed.
    output: bool,
}

impl Use {
    const NOWHERE: Use = Use {
        is_argument: false,
        input: false,
        output: false,
    };
    const ARGUMENT: Use = Use {
        is_argument: true,
        ..Use::NOWHERE
    };
    const RESULT: Use = Use {
        output: true,
        ..Use::NOWHERE
    };

    /// Context of one level of a type.
    fn at(self, ty: &Type<'_>) -> Use {
        Use {
            input: self.input || self.is_argument && !ty.plain,
            ..self
        }
    }
}

/// Needed forms: input and output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Forms {
    pub(super) input: bool,
    pub(super) output: bool,
}

impl Forms {
    fn mark(&mut self, how: Use, is_extra: bool) {
        self.input |= how.input || is_extra;
        self.output |= how.input || how.output || is_extra;
    }
}

/// Needed forms of one type.
#[derive(Clone, Debug, Default)]
pub(super) struct Usage {
    pub(super) value: Forms,
    pub(super) pointer: Forms,
    /// Forms of its collections, by suffix: `Array`, `Map`, `ArrayMap` …
    pub(super) collections: BTreeMap<String, Forms>,
}

/// Uses of the types, the resources and the provider of a package, by position.
pub(super) struct Usages {
    pub(super) types: Vec<Usage>,
    pub(super) resources: Vec<Usage>,
    pub(super) provider: Usage,
}

/// Whether a property is required, taking cycles of types into account.
pub(super) type IsRequired<'a> = &'a dyn Fn(usize, &Property<'_>) -> bool;

pub(super) fn analyse(
    package: &Package<'_>,
    is_extra: bool,
    is_required: IsRequired<'_>,
) -> Usages {
    let mut walk = Walk {
        package,
        is_extra,
        is_required,
        usages: Usages {
            types: vec![Usage::default(); package.types.len()],
            resources: vec![Usage::default(); package.resources.len()],
            provider: Usage::default(),
        },
        seen: FxHashSet::default(),
        open: Vec::new(),
    };
    walk.roots();
    walk.drain();
    walk.usages
}

struct Walk<'p, 'd> {
    package: &'p Package<'d>,
    is_extra: bool,
    is_required: IsRequired<'p>,
    usages: Usages,
    seen: FxHashSet<(usize, bool, Use)>,
    /// A work list instead of recursion, because chains of types can be as long as the schema.
    open: Vec<(usize, bool, Use)>,
}

impl<'d> Walk<'_, 'd> {
    fn roots(&mut self) {
        let package = self.package;
        for position in 0..package.types.len() {
            self.defined(position, false, Use::NOWHERE);
        }
        for property in &package.config {
            self.ty(&property.ty, false, Use::NOWHERE);
        }
        for (resource, is_provider) in package
            .resources
            .iter()
            .map(|resource| (resource, false))
            .chain(package.provider.iter().map(|provider| (provider, true)))
        {
            self.properties(&resource.outputs.properties, is_provider, Use::RESULT);
            self.properties(&resource.inputs, is_provider, Use::ARGUMENT);
            let state = resource.state_inputs.as_ref();
            self.properties(
                state.map_or(&[], |state| &state.properties),
                true,
                Use::ARGUMENT,
            );
        }
        for function in &package.functions {
            self.object(function.inputs.as_ref(), Use::ARGUMENT);
            match &function.returns {
                Returns::Nothing => {}
                Returns::Object(object) => self.object(Some(object), Use::RESULT),
                Returns::Value(ty) => {
                    self.ty(ty, false, Use::RESULT);
                    // The provider returns a map with the value in it.
                    self.element(ty, "Map", Use::RESULT);
                }
            }
        }
    }

    fn drain(&mut self) {
        let package = self.package;
        while let Some((position, is_optional, how)) = self.open.pop() {
            if let TypeShape::Object(object) = &package.types[position].shape {
                let is_required = self.is_required;
                let is_required = |property: &Property<'_>| is_required(position, property);
                self.each(&object.properties, &is_required, is_optional, how);
            }
        }
    }

    fn object(&mut self, object: Option<&Object<'d>>, how: Use) {
        if let Some(object) = object {
            self.properties(&object.properties, false, how);
        }
    }

    fn properties(&mut self, properties: &[Property<'d>], is_optional: bool, how: Use) {
        self.each(properties, &|property| property.required, is_optional, how);
    }

    /// Visits properties in order. upstream: a plain object needs the input form, and so do all types that follow it in
    /// the list.
    fn each(
        &mut self,
        properties: &[Property<'d>],
        is_required: &dyn Fn(&Property<'_>) -> bool,
        is_optional: bool,
        mut how: Use,
    ) {
        for property in properties {
            let is_absent = !is_required(property);
            if let TypeKind::Defined(position) = property.ty.kind
                && property.ty.plain
                && !self.is_enum(position)
            {
                how.input = true;
                if is_absent {
                    self.usages.types[position].pointer.mark(how, self.is_extra);
                }
            }
            self.ty(&property.ty, is_optional || is_absent, how);
        }
    }

    fn ty(&mut self, ty: &Type<'d>, is_optional: bool, how: Use) {
        let how = how.at(ty);
        match &ty.kind {
            TypeKind::Array(element) => {
                self.element(element, "Array", how);
                self.ty(element, false, how);
            }
            TypeKind::Map(element) => {
                self.element(element, "Map", how);
                self.ty(element, false, how);
            }
            TypeKind::Union(union) => {
                for element in &union.elements {
                    self.ty(element, is_optional, how);
                }
            }
            TypeKind::Defined(position) => self.defined(*position, is_optional, how),
            _ => {}
        }
    }

    fn is_enum(&self, position: usize) -> bool {
        matches!(self.package.types[position].shape, TypeShape::Enum(_))
    }

    fn defined(&mut self, position: usize, is_optional: bool, how: Use) {
        let usage = &mut self.usages.types[position];
        usage.value.mark(how, self.is_extra);
        if is_optional {
            usage.pointer.mark(how, self.is_extra);
        }
        if self.seen.insert((position, is_optional, how)) {
            self.open.push((position, is_optional, how));
        }
    }

    /// Marks the collection whose elements have the type; `outer` is the kind of the collection.
    fn element(&mut self, ty: &Type<'d>, outer: &str, how: Use) {
        let mut words = vec![outer];
        let mut inner = ty;
        loop {
            match &inner.kind {
                TypeKind::Array(element) => {
                    words.push("Array");
                    inner = element;
                }
                TypeKind::Map(element) => {
                    words.push("Map");
                    inner = element;
                }
                _ => break,
            }
        }
        let usage = match inner.kind {
            TypeKind::Defined(position) => &mut self.usages.types[position],
            TypeKind::Resource(position) => &mut self.usages.resources[position],
            TypeKind::Provider => &mut self.usages.provider,
            _ => return,
        };
        let name: String = words.into_iter().rev().collect();
        let forms = usage.collections.entry(name).or_default();
        forms.mark(how, self.is_extra);
    }
}

/// Objects on a cycle of required properties, or between two such cycles. No finite value satisfies them.
pub(super) fn endless_objects(package: &Package<'_>) -> Vec<bool> {
    let count = package.types.len();
    let mut inner: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut outer: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (position, definition) in package.types.iter().enumerate() {
        let TypeShape::Object(object) = &definition.shape else {
            continue;
        };
        for property in object
            .properties
            .iter()
            .filter(|property| property.required)
        {
            if let TypeKind::Defined(other) = property.ty.kind {
                inner[position].push(other);
                outer[other].push(position);
            }
        }
    }
    let leads_to_end = without_end(&inner, &outer);
    let comes_from_start = without_end(&outer, &inner);
    let pairs = leads_to_end.into_iter().zip(comes_from_start);
    pairs.map(|(down, up)| down && up).collect()
}

/// Nodes that remain after nodes without successors are removed repeatedly.
fn without_end(next: &[Vec<usize>], previous: &[Vec<usize>]) -> Vec<bool> {
    let mut left: Vec<usize> = next.iter().map(Vec::len).collect();
    let mut remains = vec![true; next.len()];
    let mut ends: Vec<usize> = (0..next.len()).filter(|node| left[*node] == 0).collect();
    while let Some(node) = ends.pop() {
        remains[node] = false;
        for &before in &previous[node] {
            left[before] -= 1;
            if left[before] == 0 {
                ends.push(before);
            }
        }
    }
    remains
}
