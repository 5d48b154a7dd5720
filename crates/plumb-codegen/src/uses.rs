//! Uses of the types of a package. Languages generate a separate class or interface of an object for each kind of use.

use plumb_schema::bound::{Object, Package, Property, Returns, Type, TypeKind, TypeShape};

/// Set of kinds of uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uses(u8);

impl Uses {
    /// Inputs of resources.
    pub const INPUT: Uses = Uses(1);
    /// State for the lookup of an existing resource.
    pub const STATE: Uses = Uses(2);
    /// Arguments of methods.
    pub const METHOD: Uses = Uses(4);
    /// Arguments of functions that accept only plain values.
    pub const PLAIN: Uses = Uses(8);
    /// Outputs of resources.
    pub const OUTPUT: Uses = Uses(16);
    /// Results of functions and methods.
    pub const RESULT: Uses = Uses(32);
    /// Settings.
    pub const CONFIG: Uses = Uses(64);
    /// Arguments of functions that are not methods.
    pub const FUNCTION: Uses = Uses(128);
    /// Arguments of functions and methods.
    pub const FUNCTION_INPUT: Uses = Uses::FUNCTION.or(Uses::METHOD);

    /// Whether the set contains any of these.
    pub fn has(self, any: Uses) -> bool {
        self.0 & any.0 != 0
    }

    /// Both sets together.
    #[must_use]
    pub const fn or(self, other: Uses) -> Uses {
        Uses(self.0 | other.0)
    }
}

/// Members from which uses are followed, besides settings, resources and functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Roots {
    /// Whether methods of resources are included.
    pub methods: bool,
    /// Whether overlay resources and functions are included, which are written by hand.
    pub overlays: bool,
}

/// Uses of each type of a package, by position.
pub fn analyse(package: &Package<'_>, roots: Roots) -> Vec<Uses> {
    let mut walk = Walk {
        package,
        uses: vec![Uses::default(); package.types.len()],
        open: Vec::new(),
    };
    walk.roots(roots);
    walk.drain();
    walk.uses
}

struct Walk<'p, 'd> {
    package: &'p Package<'d>,
    uses: Vec<Uses>,
    /// A work list instead of recursion, because chains of types can be as long as the schema.
    open: Vec<(usize, Uses)>,
}

impl<'d> Walk<'_, 'd> {
    fn roots(&mut self, roots: Roots) {
        let package = self.package;
        self.properties(&package.config, Uses::CONFIG);
        for resource in package.resources.iter().chain(&package.provider) {
            if resource.outputs.overlay.is_overlay && !roots.overlays {
                continue;
            }
            self.properties(&resource.inputs, Uses::INPUT);
            self.properties(&resource.outputs.properties, Uses::OUTPUT);
            if !resource.is_component {
                self.object(resource.state_inputs.as_ref(), Uses::STATE);
            }
        }
        for function in &package.functions {
            if (function.overlay.is_overlay && !roots.overlays)
                || (function.is_method && !roots.methods)
            {
                continue;
            }
            let inputs = function.inputs.as_ref();
            if function.is_method {
                self.object(inputs, Uses::METHOD);
            } else {
                self.object(inputs, Uses::FUNCTION);
                if function.plain {
                    self.object(inputs, Uses::PLAIN);
                }
            }
            match &function.returns {
                Returns::Nothing => {}
                Returns::Object(object) => self.object(Some(object), Uses::RESULT),
                Returns::Value(ty) => self.ty(ty, Uses::RESULT),
            }
        }
    }

    fn drain(&mut self) {
        let package = self.package;
        while let Some((position, how)) = self.open.pop() {
            if let TypeShape::Object(object) = &package.types[position].shape {
                self.properties(&object.properties, how);
            }
        }
    }

    fn object(&mut self, object: Option<&Object<'d>>, how: Uses) {
        if let Some(object) = object {
            self.properties(&object.properties, how);
        }
    }

    fn properties(&mut self, properties: &[Property<'d>], how: Uses) {
        for property in properties {
            self.ty(&property.ty, how);
        }
    }

    fn ty(&mut self, ty: &Type<'d>, how: Uses) {
        match &ty.kind {
            TypeKind::Array(element) | TypeKind::Map(element) => self.ty(element, how),
            TypeKind::Union(union) => {
                for element in &union.elements {
                    self.ty(element, how);
                }
            }
            TypeKind::Defined(position) => {
                let uses = &mut self.uses[*position];
                if !uses.has(how) {
                    *uses = uses.or(how);
                    self.open.push((*position, how));
                }
            }
            _ => {}
        }
    }
}

/// Types with defaults, by position: objects that have a default, directly or in nested objects.
pub fn defaults(package: &Package<'_>) -> Vec<bool> {
    let mut has_defaults = vec![false; package.types.len()];
    let mut holders: Vec<Vec<usize>> = vec![Vec::new(); package.types.len()];
    let mut open = Vec::new();
    for (position, definition) in package.types.iter().enumerate() {
        let TypeShape::Object(object) = &definition.shape else {
            continue;
        };
        for property in &object.properties {
            if let TypeKind::Defined(inner) = property.ty.kind {
                holders[inner].push(position);
            }
            if property.default.is_some() || property.default_info.is_some() {
                open.push(position);
            }
        }
    }
    while let Some(position) = open.pop() {
        if !std::mem::replace(&mut has_defaults[position], true) {
            open.extend(&holders[position]);
        }
    }
    has_defaults
}
