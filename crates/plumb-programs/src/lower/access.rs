//! Lowering of property and index accesses.

use plumb_codegen::programs::ProgramLanguage;
use plumb_pcl::{DefinitionKind, Expr, ExprKind, Step, Type};
use plumb_schema::TypeKind;

use super::{Lowering, Target, presence_of};
use crate::dialect::Lifting;
use crate::flow::Flow;
use crate::tree::{Function, Loop, Presence, Tree};

impl Lowering<'_> {
    /// Whether an access needs a callback.
    pub(super) fn access_observes(&mut self, receiver: &Expr, steps: &[Step]) -> bool {
        let mut flow = self.flow(receiver);
        if flow.is_later() && self.observes(receiver) {
            return true;
        }
        let mut ty = receiver.ty.clone();
        for step in steps {
            if flow.is_later() && !self.can_lift(&ty, step) {
                return true;
            }
            if let Step::Index(index) = step
                && self.flow(index).has_outputs()
            {
                return true;
            }
            flow = self.flow_after(flow, step);
            ty = after(&ty, step);
        }
        false
    }

    fn flow_after(&mut self, flow: Flow, step: &Step) -> Flow {
        let mut variables = std::mem::take(&mut self.variables);
        let flow = self
            .flows
            .after(flow, std::slice::from_ref(step), &mut variables);
        self.variables = variables;
        flow
    }

    /// Whether the SDK supports a step on an output of type `ty`.
    fn can_lift(&self, ty: &Type, step: &Step) -> bool {
        if self.dialect.lifting == Lifting::Nothing {
            return false;
        }
        if self.dialect.language == ProgramLanguage::Go {
            return crate::go::has_method(ty, step)
                && match step {
                    Step::Name(name) if is_property_of(ty) => {
                        self.dialect.lifts(&self.dialect.language.property(name))
                    }
                    _ => true,
                };
        }
        if self.dialect.lifting == Lifting::Known {
            if presence_of(ty) == Presence::Optional {
                return false;
            }
            let is_known = matches!(
                ty.expand(),
                Type::List(_) | Type::Map(_) | Type::Object(_) | Type::Tuple(_)
            );
            if !is_known {
                return false;
            }
        }
        match step {
            Step::Name(name) => {
                let is_key = !is_property_of(ty);
                is_key || self.dialect.lifts(&self.dialect.language.property(name))
            }
            Step::Index(_) => true,
        }
    }

    /// Whether a step on an output of type `ty` always gives an output.
    fn lifts_to_output(&self, ty: &Type, step: &Step) -> bool {
        self.dialect.lifts_optional || presence_of(&after(ty, step)) != Presence::Optional
    }

    pub(super) fn access(&mut self, receiver: &Expr, steps: &[Step]) -> Tree {
        if let (ExprKind::Variable(name), [Step::Name(member), rest @ ..]) = (&receiver.kind, steps)
            && name == "range"
        {
            let (tree, is_value) = match member.as_str() {
                "key" => (Tree::RangeKey, false),
                _ => (Tree::RangeValue, true),
            };
            let ty = receiver.ty.member(member).unwrap_or(Type::Dynamic);
            let flow = if is_value {
                self.flow(receiver).member("value")
            } else {
                Flow::Plain
            };
            return self.steps(tree, ty, flow, rest);
        }
        let flow = self.flow(receiver);
        let tree = self.to(receiver, &Target::Any);
        let tree = if flow == Flow::Input && self.callback.is_none() && !steps.is_empty() {
            Tree::AsOutput(Box::new(tree))
        } else {
            tree
        };
        self.steps(tree, receiver.ty.clone(), flow, steps)
    }

    fn steps(&mut self, mut tree: Tree, mut ty: Type, mut flow: Flow, steps: &[Step]) -> Tree {
        for step in steps {
            // Lifted properties of outputs do not support optional access.
            let presence = if flow.is_later() {
                Presence::Certain
            } else {
                presence_of(&ty)
            };
            tree = self.step(tree, &ty, step, presence);
            flow = self.flow_after(flow, step);
            ty = after(&ty, step);
        }
        tree
    }

    fn step(&mut self, tree: Tree, ty: &Type, step: &Step, presence: Presence) -> Tree {
        match step {
            Step::Name(name) if is_property_of(ty) || self.is_hook_argument(&tree) => {
                Tree::Property(Box::new(tree), name.clone(), presence)
            }
            Step::Name(name) => Tree::Key(Box::new(tree), name.clone(), presence),
            Step::Index(index) => {
                let is_fixed = matches!(index.kind, ExprKind::Number(_) | ExprKind::String(_));
                let is_there = matches!(presence, Presence::Certain);
                let index = self.to(index, &Target::Any);
                // TypeScript looks up no computed key in an object whose properties it knows.
                let has_names = matches!(ty.without_none().expand(), Type::Object(_));
                if has_names
                    && is_there
                    && !is_fixed
                    && self.dialect.language == ProgramLanguage::Nodejs
                {
                    return Tree::Call(Function::LookupInObject, vec![tree, index]);
                }
                Tree::Index(Box::new(tree), Box::new(index), presence)
            }
        }
    }

    /// Whether an expression stands for what a hook is told, an object of the SDK.
    fn is_hook_argument(&self, tree: &Tree) -> bool {
        self.is_hook && matches!(tree, Tree::Variable(name) if name == "args")
    }

    /// Lowers an access in a callback: the output becomes a parameter, to which the remaining steps are applied.
    pub(super) fn access_in_callback(&mut self, receiver: &Expr, steps: &[Step]) -> Tree {
        let mut flow = self.flow(receiver);
        let mut ty = receiver.ty.clone();
        let mut count = 0;
        while !flow.is_later() && count < steps.len() {
            flow = self.flow_after(flow, &steps[count]);
            ty = after(&ty, &steps[count]);
            count += 1;
        }
        // Steps that the SDK can lift are applied to the output outside of the callback.
        while let Some(step @ Step::Name(_)) = steps.get(count)
            && !self.is_trying
            && self.can_lift(&ty, step)
            && self.lifts_to_output(&ty, step)
        {
            ty = after(&ty, step);
            count += 1;
        }
        let (before, behind) = steps.split_at(count);
        let output = if before.is_empty() {
            receiver.clone()
        } else {
            Expr {
                kind: ExprKind::Access(Box::new(receiver.clone()), before.to_vec()),
                ty: ty.clone(),
                span: receiver.span,
            }
        };
        let tree = if self.observes(&output) {
            if behind.is_empty() {
                // Nothing but an index is an output: the receiver and the index each become a parameter.
                let receiver_tree = self.to(receiver, &Target::Any);
                return self.steps(receiver_tree, receiver.ty.clone(), Flow::Plain, steps);
            }
            self.to(&output, &Target::Any)
        } else {
            let names = self.names_of(&output);
            let path = Self::path_of(&output);
            let value = self.outside(&output, &Target::Any);
            let value = if self.flow(&output) == Flow::Input {
                Tree::AsOutput(Box::new(value))
            } else {
                value
            };
            Tree::Variable(self.parameter(names, value, path))
        };
        self.steps(tree, ty, Flow::Plain, behind)
    }

    pub(super) fn splat(&mut self, receiver: &Expr, steps: &[Step]) -> Tree {
        let element_flow = match self.flow(receiver).element() {
            flow if self.callback.is_some() && flow.has_outputs() => Flow::Plain,
            flow => flow,
        };
        let collection = self.to(receiver, &Target::Any);
        let element = receiver.ty.element();
        let name = self.element_name(receiver);
        let variable = Tree::Variable(name.clone());
        let depth = self.variables.len();
        self.bind(Some((name.clone(), element_flow.clone())));
        let result = self.steps(variable, element, element_flow, steps);
        self.unbind(depth);
        let is_untyped = self.untyped.is(self.program, receiver);
        Tree::For(Box::new(Loop {
            key: None,
            value: name,
            collection,
            collected: super::collected(&receiver.ty, false),
            is_untyped,
            result_key: None,
            result,
            condition: None,
        }))
    }

    /// Name for an element of a collection: the singular of the collection's name.
    fn element_name(&self, receiver: &Expr) -> ecow::EcoString {
        let name = self.name_of(receiver);
        let is_resource = matches!(receiver.kind, ExprKind::Reference(position)
            if matches!(self.definition(position).kind, DefinitionKind::Resource(_)));
        match name.strip_suffix('s') {
            Some(singular) if singular.len() > 1 && !singular.ends_with('s') => singular.into(),
            _ if is_resource => "resource".into(),
            _ => "item".into(),
        }
    }
}

/// Whether members of the type are properties, whose names the SDK spells, instead of literal keys.
fn is_property_of(ty: &Type) -> bool {
    match ty {
        Type::Resource(_) | Type::Component(_) | Type::Result(_) => true,
        Type::Schema(_, schema) => matches!(schema.kind, TypeKind::Reference(_)),
        Type::Union(types) => types.iter().any(is_property_of),
        _ => false,
    }
}

pub(super) fn after(ty: &Type, step: &Step) -> Type {
    let ty = ty.without_none();
    match step {
        Step::Name(name) => ty.member(name).unwrap_or(Type::Dynamic),
        Step::Index(_) => ty.element(),
    }
}
