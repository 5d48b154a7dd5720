//! Where the types of a package are used, and which of them have defaults.

use plumb_schema::bound::{Object, Package, Property, Returns, Type, TypeKind, TypeShape};

use super::types::Shape;

/// How one type is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    /// In inputs, with outputs at each level.
    pub(super) input: bool,
    /// In arguments of functions that take no outputs.
    pub(super) plain: bool,
    /// In results.
    pub(super) output: bool,
    /// In arguments of functions that take outputs.
    pub(super) function_input: bool,
    /// Whether it, or an object within it, has a default.
    pub(super) has_defaults: bool,
}

/// How each type of a package is used, by its position.
pub(super) fn analyse(package: &Package<'_>) -> Vec<Usage> {
    let mut walk = Walk {
        package,
        usages: vec![Usage::default(); package.types.len()],
        open: Vec::new(),
    };
    walk.roots();
    walk.drain();
    let mut usages = walk.usages;
    mark_defaults(package, &mut usages);
    usages
}

/// A use that is to be followed.
#[derive(Clone, Copy)]
enum Use {
    Shape(Shape),
    FunctionInput,
}

struct Walk<'p, 'd> {
    package: &'p Package<'d>,
    usages: Vec<Usage>,
    /// A list instead of recursion: chains of types can be as long as the schema.
    open: Vec<(usize, Use)>,
}

impl<'d> Walk<'_, 'd> {
    fn roots(&mut self) {
        let package = self.package;
        self.properties(&package.config, Use::Shape(Shape::Output));
        for resource in package.resources.iter().chain(&package.provider) {
            self.properties(&resource.inputs, Use::Shape(Shape::Input));
            self.properties(&resource.outputs.properties, Use::Shape(Shape::Output));
            self.object(resource.state_inputs.as_ref(), Use::Shape(Shape::Input));
        }
        for function in &package.functions {
            self.object(function.inputs.as_ref(), Use::Shape(Shape::Input));
            if !function.is_method {
                self.object(function.inputs.as_ref(), Use::FunctionInput);
                if function.plain {
                    self.object(function.inputs.as_ref(), Use::Shape(Shape::Plain));
                }
            }
            match &function.returns {
                Returns::Nothing => {}
                Returns::Object(object) => self.object(Some(object), Use::Shape(Shape::Output)),
                Returns::Value(ty) => self.ty(ty, Use::Shape(Shape::Output)),
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

    fn object(&mut self, object: Option<&Object<'d>>, how: Use) {
        if let Some(object) = object {
            self.properties(&object.properties, how);
        }
    }

    fn properties(&mut self, properties: &[Property<'d>], how: Use) {
        for property in properties {
            self.ty(&property.ty, how);
        }
    }

    fn ty(&mut self, ty: &Type<'d>, how: Use) {
        match &ty.kind {
            TypeKind::Array(element) | TypeKind::Map(element) => self.ty(element, how),
            TypeKind::Union(union) => {
                for element in &union.elements {
                    self.ty(element, how);
                }
            }
            TypeKind::Defined(position) => {
                let usage = &mut self.usages[*position];
                let mark = match how {
                    Use::Shape(Shape::Input) => &mut usage.input,
                    Use::Shape(Shape::Plain) => &mut usage.plain,
                    Use::Shape(Shape::Output) => &mut usage.output,
                    Use::FunctionInput => &mut usage.function_input,
                };
                if !std::mem::replace(mark, true) {
                    self.open.push((*position, how));
                }
            }
            _ => {}
        }
    }
}

/// An object has defaults when it has one itself, or an object right in it has.
fn mark_defaults(package: &Package<'_>, usages: &mut [Usage]) {
    let mut holders: Vec<Vec<usize>> = vec![Vec::new(); usages.len()];
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
        if !std::mem::replace(&mut usages[position].has_defaults, true) {
            open.extend(&holders[position]);
        }
    }
}
