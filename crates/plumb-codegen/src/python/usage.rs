//! Where the types of a package are used.

use plumb_schema::bound::{Object, Package, Property, Returns, Type, TypeKind, TypeShape};

/// How one type is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    /// In inputs of resources and methods, with outputs at each level.
    pub(super) input: bool,
    /// In arguments of functions, which take no outputs within objects.
    pub(super) plain: bool,
    /// In results.
    pub(super) output: bool,
    /// In outputs of resources.
    pub(super) resource_output: bool,
    /// In arguments or results of functions.
    pub(super) function: bool,
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
    walk.usages
}

/// A use that is to be followed.
#[derive(Clone, Copy)]
enum Use {
    Input,
    FunctionInput,
    Config,
    ResourceOutput,
    FunctionOutput,
}

/// Marks the use, and tells whether it is new.
fn mark(usage: &mut Usage, how: Use) -> bool {
    let before = *usage;
    match how {
        Use::Input => usage.input = true,
        Use::FunctionInput => {
            usage.plain = true;
            usage.function = true;
        }
        Use::Config => usage.output = true,
        Use::ResourceOutput => {
            usage.output = true;
            usage.resource_output = true;
        }
        Use::FunctionOutput => {
            usage.output = true;
            usage.function = true;
        }
    }
    *usage != before
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
        self.properties(&package.config, Use::Config);
        for resource in package.resources.iter().chain(&package.provider) {
            self.properties(&resource.inputs, Use::Input);
            self.properties(&resource.outputs.properties, Use::ResourceOutput);
            self.object(resource.state_inputs.as_ref(), Use::Input);
        }
        for function in &package.functions {
            let how = if function.is_method {
                Use::Input
            } else {
                Use::FunctionInput
            };
            self.object(function.inputs.as_ref(), how);
            match &function.returns {
                Returns::Nothing => {}
                Returns::Object(object) => self.object(Some(object), Use::FunctionOutput),
                Returns::Value(ty) => self.ty(ty, Use::FunctionOutput),
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
            TypeKind::Defined(position) if mark(&mut self.usages[*position], how) => {
                self.open.push((*position, how));
            }
            _ => {}
        }
    }
}
