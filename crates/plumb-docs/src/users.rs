//! Resources and functions that use each type, directly or through other types.

use plumb_codegen::vocabulary::ResourceAt;
use plumb_schema::bound::{
    Function, Object, Package, Resource, Returns, Type, TypeKind, TypeShape,
};

use super::address::PageAt;
use super::properties::collect_leaves;

/// Pages that use each type, by the type's position: the provider, then resources, then functions.
pub(crate) fn analyse(package: &Package<'_>) -> Vec<Vec<PageAt>> {
    let mut walk = Walk {
        package,
        users: vec![Vec::new(); package.types.len()],
        open: Vec::new(),
    };
    if let Some(provider) = &package.provider {
        walk.resource(PageAt::Resource(ResourceAt::Provider), provider);
    }
    for (position, resource) in package.resources.iter().enumerate() {
        let at = PageAt::Resource(ResourceAt::Position(position));
        walk.resource(at, resource);
    }
    for (position, function) in package.functions.iter().enumerate() {
        if !function.is_method {
            walk.function(PageAt::Function(position), function);
        }
    }
    walk.users
}

struct Walk<'p, 'd> {
    package: &'p Package<'d>,
    users: Vec<Vec<PageAt>>,
    /// Types of the current page whose properties are not visited yet.
    open: Vec<usize>,
}

impl<'d> Walk<'_, 'd> {
    fn resource(&mut self, at: PageAt, resource: &Resource<'d>) {
        let package = self.package;
        let state = resource.state_inputs.iter().flat_map(|it| &it.properties);
        let properties = resource.inputs.iter().chain(&resource.outputs.properties);
        for property in properties.chain(state) {
            self.ty(at, &property.ty);
        }
        for method in &resource.methods {
            self.function(at, &package.functions[method.function]);
        }
        self.drain(at);
    }

    fn function(&mut self, at: PageAt, function: &Function<'d>) {
        function.inputs.iter().for_each(|it| self.object(at, it));
        match &function.returns {
            Returns::Nothing => {}
            Returns::Object(object) => self.object(at, object),
            Returns::Value(ty) => self.ty(at, ty),
        }
        self.drain(at);
    }

    fn object(&mut self, at: PageAt, object: &Object<'d>) {
        for property in &object.properties {
            self.ty(at, &property.ty);
        }
    }

    fn ty(&mut self, at: PageAt, ty: &Type<'d>) {
        let mut leaves = Vec::new();
        collect_leaves(ty, &mut leaves);
        for leaf in leaves {
            if let TypeKind::Defined(position) = leaf.kind
                && self.users[position].last() != Some(&at)
            {
                self.users[position].push(at);
                self.open.push(position);
            }
        }
    }

    fn drain(&mut self, at: PageAt) {
        let package = self.package;
        while let Some(position) = self.open.pop() {
            if let TypeShape::Object(object) = &package.types[position].shape {
                self.object(at, object);
            }
        }
    }
}
