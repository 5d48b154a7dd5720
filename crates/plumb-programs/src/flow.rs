//! Data flow of outputs: which expressions are outputs, and which contain outputs.
//!
//! Types do not say whether a value is an output. This module follows outputs from resources, secrets and provider
//! functions through definitions, loops and accesses. [`Flow`] mirrors the structure of a value as far as necessary.

use std::cell::RefCell;

use ecow::EcoString;
use plumb_eval::builtins::Function;
use plumb_pcl::{
    BinaryOperator, Callee, ComponentSource, DefinitionKind, Expr, ExprKind, For, Invoke,
    PackageFunction, Program, Step, Type,
};
use plumb_schema::ReturnType;

use crate::dialect::Dialect;

/// Outputs in a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// The value contains no outputs.
    Plain,
    /// The value is an output.
    Output,
    /// The value is an output or a plain value, like an input of a component.
    Input,
    /// The value is a resource, whose properties are outputs.
    Resource,
    /// The elements of the value have this flow.
    Each(Box<Flow>),
    /// The members of the value have these flows.
    Fields(Vec<(EcoString, Flow)>),
}

impl Flow {
    /// Whether the value is or may be an output.
    pub(crate) fn is_later(&self) -> bool {
        matches!(self, Flow::Output | Flow::Input)
    }

    /// Whether the value is or contains an output, apart from properties of resources.
    pub(crate) fn has_outputs(&self) -> bool {
        match self {
            Flow::Plain | Flow::Resource => false,
            Flow::Output | Flow::Input => true,
            Flow::Each(inner) => inner.has_outputs(),
            Flow::Fields(fields) => fields.iter().any(|(_, flow)| flow.has_outputs()),
        }
    }

    /// Flow of the elements.
    pub(crate) fn element(&self) -> Flow {
        match self {
            Flow::Plain => Flow::Plain,
            Flow::Output | Flow::Input | Flow::Resource => Flow::Output,
            Flow::Each(inner) => (**inner).clone(),
            Flow::Fields(fields) => {
                let flows = fields.iter().map(|(_, flow)| flow.clone());
                flows.reduce(Flow::or).unwrap_or(Flow::Plain)
            }
        }
    }

    /// Flow of the member `name`.
    pub(crate) fn member(&self, name: &str) -> Flow {
        match self {
            Flow::Fields(fields) => match fields.iter().find(|(known, _)| known == name) {
                Some((_, flow)) => flow.clone(),
                None => Flow::Plain,
            },
            other => other.element(),
        }
    }

    /// Flow of a value with one of two flows.
    pub(crate) fn or(self, other: Flow) -> Flow {
        match (self, other) {
            (a, b) if a == b => a,
            (Flow::Plain, other) | (other, Flow::Plain) => match other {
                Flow::Output | Flow::Input => Flow::Input,
                other => other,
            },
            (Flow::Each(a), Flow::Each(b)) => Flow::Each(Box::new(a.or(*b))),
            (a, b) if a.is_later() || b.is_later() => Flow::Input,
            (a, b) => Flow::Each(Box::new(a.element().or(b.element()))),
        }
    }
}

/// Flows of a program's definitions.
pub(crate) struct Flows<'p> {
    program: &'p Program,
    dialect: Dialect,
    is_component: bool,
    /// Inputs of a component that must be plain values, because ranges of resources depend on them.
    plain_inputs: Vec<usize>,
    known: RefCell<Vec<Option<Flow>>>,
}

/// Variables in scope, the innermost last.
pub(crate) type Variables = Vec<(EcoString, Flow)>;

impl<'p> Flows<'p> {
    pub(crate) fn new(program: &'p Program, dialect: Dialect, is_component: bool) -> Self {
        let mut flows = Flows {
            program,
            dialect,
            is_component,
            plain_inputs: Vec::new(),
            known: RefCell::new(vec![None; program.definitions.len()]),
        };
        flows.plain_inputs = flows.find_plain_inputs();
        flows
    }

    /// Whether the program is a component.
    pub(crate) fn is_component(&self) -> bool {
        self.is_component
    }

    /// Whether the input of a component must be a plain value.
    pub(crate) fn is_plain_input(&self, position: usize) -> bool {
        self.plain_inputs.contains(&position)
    }

    fn find_plain_inputs(&self) -> Vec<usize> {
        let mut found = Vec::new();
        for definition in &self.program.definitions {
            let range = match &definition.kind {
                DefinitionKind::Resource(it) => it.options.range.as_ref(),
                DefinitionKind::Component(it) => it.options.range.as_ref(),
                _ => None,
            };
            if let Some(range) = range {
                self.collect_inputs(range, &mut found);
            }
        }
        found
    }

    fn collect_inputs(&self, expr: &Expr, found: &mut Vec<usize>) {
        crate::walk::each(expr, &mut |expr| {
            if let ExprKind::Reference(position) = expr.kind
                && !found.contains(&position)
            {
                found.push(position);
                if let DefinitionKind::Local(value) = &self.program.definitions[position].kind {
                    self.collect_inputs(value, found);
                }
            }
        });
    }

    /// Flow of references to a definition.
    pub(crate) fn of_definition(&self, position: usize) -> Flow {
        if let Some(known) = &self.known.borrow()[position] {
            return known.clone();
        }
        let definition = &self.program.definitions[position];
        let flow = match &definition.kind {
            DefinitionKind::Local(value) | DefinitionKind::Output(value) => {
                self.of(value, &mut Vec::new())
            }
            DefinitionKind::Config(config) => {
                let is_input = self.is_component && !self.is_plain_input(position);
                let default = config.default.as_ref();
                let default = default.map_or(Flow::Plain, |it| self.of(it, &mut Vec::new()));
                match (is_input, config.is_secret) {
                    (true, _) => Flow::Input,
                    (false, true) => Flow::Output,
                    (false, false) => default.or(Flow::Plain),
                }
            }
            DefinitionKind::Resource(resource) => ranged(resource.options.range.as_ref()),
            DefinitionKind::Component(component) => match component.source {
                ComponentSource::Program(_) | ComponentSource::Token(_) => {
                    ranged(component.options.range.as_ref())
                }
            },
            DefinitionKind::Read(_) => Flow::Resource,
            DefinitionKind::Hook(_) | DefinitionKind::Unusable => Flow::Plain,
        };
        self.known.borrow_mut()[position] = Some(flow.clone());
        flow
    }

    /// Flow of an expression.
    pub(crate) fn of(&self, expr: &Expr, variables: &mut Variables) -> Flow {
        match &expr.kind {
            ExprKind::Null | ExprKind::Bool(_) | ExprKind::Number(_) | ExprKind::String(_) => {
                Flow::Plain
            }
            ExprKind::Template(parts) => self.later_if_any(parts, variables),
            ExprKind::List(items) => {
                let flows = items.iter().map(|item| self.of(item, variables));
                let joined = flows.collect::<Vec<_>>().into_iter().reduce(Flow::or);
                match joined {
                    None | Some(Flow::Plain) => Flow::Plain,
                    Some(flow) => Flow::Each(Box::new(flow)),
                }
            }
            ExprKind::Object(entries) => self.object(entries, variables),
            ExprKind::Reference(position) => self.of_definition(*position),
            ExprKind::Variable(name) => {
                let found = variables.iter().rev().find(|(known, _)| known == name);
                found.map_or(Flow::Plain, |(_, flow)| flow.clone())
            }
            ExprKind::Access(receiver, steps) => {
                let flow = self.of(receiver, variables);
                self.after(flow, steps, variables)
            }
            ExprKind::Splat(receiver, steps) => {
                let receiver = self.of(receiver, variables);
                if receiver.is_later() {
                    return Flow::Output;
                }
                match self.after(receiver.element(), steps, variables) {
                    Flow::Plain => Flow::Plain,
                    flow => Flow::Each(Box::new(flow)),
                }
            }
            ExprKind::For(it) => self.of_loop(it, variables),
            ExprKind::Conditional(it) => {
                if self.of(&it[0], variables).is_later() {
                    return Flow::Output;
                }
                self.of(&it[1], variables).or(self.of(&it[2], variables))
            }
            ExprKind::Unary(_, operand) => self.later_if(operand, variables),
            ExprKind::Binary(operator, operands) => {
                // Whether a resource or a list of outputs is null does not depend on the outputs.
                let compares = matches!(operator, BinaryOperator::Equal | BinaryOperator::NotEqual);
                if compares && operands.iter().any(|it| matches!(it.kind, ExprKind::Null)) {
                    let mut flows = operands.iter().map(|it| self.of(it, variables));
                    return if flows.any(|flow| flow.is_later()) {
                        Flow::Output
                    } else {
                        Flow::Plain
                    };
                }
                self.later_if_any(operands.as_slice(), variables)
            }
            ExprKind::Call(callee, args) => self.of_call(*callee, args, variables),
            ExprKind::Invoke(invoke) => {
                if self.is_output_invoke(invoke, variables) {
                    Flow::Output
                } else {
                    Flow::Plain
                }
            }
            ExprKind::Method(_) => Flow::Output,
        }
    }

    /// Whether a call of a provider function uses the variant that accepts and returns outputs.
    pub(crate) fn is_output_invoke(&self, invoke: &Invoke, variables: &mut Variables) -> bool {
        if self.dialect.invokes_are_outputs || invoke.depends_on.is_some() {
            return true;
        }
        // A plain result would no longer be known as a secret, and some functions have none.
        let function = invoke.function.as_ref();
        if function.is_some_and(|it| has_secrets(it) || it.schema.is_output_only) {
            return true;
        }
        let args = invoke.args.as_ref();
        args.is_some_and(|args| self.of(args, variables).has_outputs())
    }

    fn object(&self, entries: &[(Expr, Expr)], variables: &mut Variables) -> Flow {
        let mut fields = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            if self.of(key, variables).is_later() {
                return Flow::Output;
            }
            let flow = self.of(value, variables);
            match &key.kind {
                ExprKind::String(name) => fields.push((name.clone(), flow)),
                _ => fields.push((EcoString::new(), flow)),
            }
        }
        if fields.iter().all(|(_, flow)| *flow == Flow::Plain) {
            Flow::Plain
        } else {
            Flow::Fields(fields)
        }
    }

    fn of_loop(&self, it: &For, variables: &mut Variables) -> Flow {
        let collection = self.of(&it.collection, variables);
        if collection.is_later() {
            return Flow::Output;
        }
        let depth = variables.len();
        variables.extend(it.key.clone().map(|key| (key, Flow::Plain)));
        variables.push((it.value.clone(), collection.element()));
        let waits = [&it.condition, &it.result_key].into_iter().flatten();
        let waits = waits
            .map(|it| self.of(it, variables))
            .any(|it| it.is_later());
        let result = self.of(&it.result, variables);
        variables.truncate(depth);
        match result {
            _ if waits => Flow::Output,
            Flow::Plain => Flow::Plain,
            flow => Flow::Each(Box::new(flow)),
        }
    }

    fn of_call(&self, callee: Callee, args: &[Expr], variables: &mut Variables) -> Flow {
        let first = args
            .first()
            .map_or(Flow::Plain, |it| self.of(it, variables));
        match callee {
            Callee::GetOutput | Callee::Recover => Flow::Output,
            Callee::Compute(_, Function::Secret | Function::Unsecret) => Flow::Output,
            Callee::Compute(_, Function::SingleOrNone) if !first.is_later() => first.element(),
            Callee::Compute(_, Function::Length) if !first.is_later() => Flow::Plain,
            Callee::Compute(
                _,
                Function::AssetArchive | Function::ResourceName | Function::ResourceType,
            ) => first.or(Flow::Plain),
            Callee::Element | Callee::Lookup => {
                let rest = args.get(1).map_or(Flow::Plain, |it| self.of(it, variables));
                if first.is_later() || rest.is_later() {
                    return Flow::Output;
                }
                let default = args.get(2).map(|it| self.of(it, variables));
                let element = first.element();
                default.map_or(element.clone(), |it| element.or(it))
            }
            Callee::Entries if !first.is_later() => match first.element() {
                Flow::Plain => Flow::Plain,
                flow => Flow::Each(Box::new(Flow::Fields(vec![
                    ("key".into(), Flow::Plain),
                    ("value".into(), flow),
                ]))),
            },
            _ => self.later_if_any(args, variables),
        }
    }

    pub(crate) fn after(&self, mut flow: Flow, steps: &[Step], variables: &mut Variables) -> Flow {
        for step in steps {
            flow = match step {
                Step::Name(name) => flow.member(name),
                Step::Index(index) => {
                    if self.of(index, variables).is_later() {
                        return Flow::Output;
                    }
                    flow.element()
                }
            };
            if flow == Flow::Input {
                flow = Flow::Output;
            }
        }
        flow
    }

    fn later_if(&self, expr: &Expr, variables: &mut Variables) -> Flow {
        if self.of(expr, variables).has_outputs() {
            Flow::Output
        } else {
            Flow::Plain
        }
    }

    fn later_if_any(&self, exprs: &[Expr], variables: &mut Variables) -> Flow {
        let mut exprs = exprs.iter();
        if exprs.any(|expr| self.of(expr, variables).has_outputs()) {
            Flow::Output
        } else {
            Flow::Plain
        }
    }
}

/// Whether the schema says that parts of a function's result are secret.
fn has_secrets(function: &PackageFunction) -> bool {
    match &function.schema.returns {
        ReturnType::Object(object) => object.properties.values().any(|it| it.secret),
        ReturnType::None | ReturnType::Value(_) => false,
    }
}

fn ranged(range: Option<&Expr>) -> Flow {
    match range.map(|range| range.ty.expand()) {
        None | Some(Type::Bool) => Flow::Resource,
        Some(_) => Flow::Each(Box::new(Flow::Resource)),
    }
}
