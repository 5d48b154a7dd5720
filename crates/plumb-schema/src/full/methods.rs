//! Binding of methods: functions that belong to a resource (`schema.md` 7).

use super::{Binder, place};
use crate::bound::{Method, Property};
use crate::document::Node;
use crate::print;
use crate::problem::At;

impl<'d> Binder<'d, '_> {
    pub(super) fn methods(
        &mut self,
        resource: &str,
        node: &'d Node<'d>,
        outputs: &[Property<'d>],
        at: &At<'_>,
    ) -> Vec<Method<'d>> {
        let map = place(at, node, "methods");
        let specs = node.get("methods").map(print::sorted).unwrap_or_default();
        let mut methods = Vec::with_capacity(specs.len());
        for (name, spec) in specs {
            let Some(token) = spec.as_str() else { continue };
            let at = map.key(name, spec.offset);
            match self.method(resource, name, token, outputs) {
                Ok(function) => methods.push(Method { name, function }),
                Err(message) => self.problems.error(&at, message),
            }
        }
        methods
    }

    /// Index of a method's function.
    fn method(
        &mut self,
        resource: &str,
        name: &str,
        token: &'d str,
        outputs: &[Property<'d>],
    ) -> Result<usize, String> {
        let Some(position) = self.sections.functions.position(token) else {
            return Err(format!("unknown function {token} for method {name}"));
        };
        if !self.method_functions.insert(token) {
            return Err(format!("function {token} is already a method"));
        }
        let owner = token.rsplit_once('/').map(|(owner, _)| owner);
        if owner != Some(resource) {
            return Err(format!(
                "invalid function token format {token}; a method of {resource} is called {resource}/{name}"
            ));
        }
        let function = self.sections.functions.members[position].node;
        let inputs = function
            .get("inputs")
            .and_then(|inputs| inputs.get("properties"))
            .map(print::sorted)
            .unwrap_or_default();
        if inputs.first().is_none_or(|(name, _)| *name != "__self__") {
            return Err(format!("function {token} has no __self__ parameter"));
        }
        if outputs
            .binary_search_by(|property| property.name.cmp(name))
            .is_ok()
        {
            return Err(format!("method {name} is called like a property"));
        }
        Ok(position)
    }
}
