//! Lowering of bound expressions to trees: waits for outputs become callbacks, as few and as late as possible
//! (`codegen.md` 12).
//!
//! 1. An expression that needs the value of an output observes it: it becomes the body of a callback, with a parameter
//!    for each of its outputs. All outputs of an expression share one callback.
//! 2. Property accesses and string interpolations that the SDK supports on outputs need no callback.
//! 3. Lists and objects that only contain outputs do not change, because SDKs accept them.
//! 4. Literals are converted to their target types: enum members, numbers, objects of package types.

mod access;
mod calls;
mod resources;
mod target;
mod untyped;

use ecow::EcoString;
use plumb_codegen::programs::ProgramLanguage;
use plumb_pcl::{Definition, Expr, ExprKind, For, Program, Type};

use crate::dialect::Dialect;
use crate::flow::{Flow, Flows, Variables};
use crate::tree::{Collected, Function, Loop, Parts, Presence, Tree};
use crate::walk;
use target::Target;
use untyped::Untyped;

/// Lowers the expressions of one program.
pub(crate) struct Lowering<'p> {
    pub(crate) program: &'p Program,
    pub(crate) flows: Flows<'p>,
    pub(crate) dialect: Dialect,
    variables: Variables,
    untyped: Untyped,
    /// Callback being built.
    callback: Option<Callback>,
    /// Whether the current expression is an argument of `try` or `can`.
    is_trying: bool,
    /// Whether the current expression is the command of a hook.
    is_hook: bool,
    /// Constructs that the language cannot express, with their positions.
    pub(crate) problems: Vec<(plumb_pcl::Span, String)>,
}

/// A callback being built.
#[derive(Default)]
struct Callback {
    params: Vec<Param>,
    /// Variables that exist only inside the callback.
    bound: Vec<EcoString>,
    /// Names that have another meaning in the body.
    taken: Vec<EcoString>,
}

struct Param {
    name: EcoString,
    value: Tree,
    /// Identity of its value, if the expression determines it.
    path: Option<String>,
}

impl<'p> Lowering<'p> {
    pub(crate) fn new(program: &'p Program, dialect: Dialect, is_component: bool) -> Self {
        Lowering {
            program,
            flows: Flows::new(program, dialect, is_component),
            dialect,
            variables: Vec::new(),
            untyped: Untyped::default(),
            callback: None,
            is_trying: false,
            is_hook: false,
            problems: Vec::new(),
        }
    }

    /// Lowers an expression with the target type `wanted`.
    pub(crate) fn value(&mut self, expr: &Expr, wanted: &Type) -> Tree {
        let target = Target::of(wanted, expr);
        let tree = self.to(expr, &target);
        if self.needs_assertion(expr, wanted, &tree) {
            return Tree::Present(Box::new(tree));
        }
        tree
    }

    /// Whether TypeScript asks for a value that is there, and the type of the expression says that it may be missing.
    fn needs_assertion(&mut self, expr: &Expr, wanted: &Type, tree: &Tree) -> bool {
        let is_typed = self.dialect.language == ProgramLanguage::Nodejs;
        let is_needed = !wanted.has_none() && !matches!(wanted, Type::Dynamic | Type::None);
        is_typed
            && is_needed
            && expr.ty.has_none()
            && matches!(
                tree,
                Tree::Definition(_)
                    | Tree::Variable(_)
                    | Tree::Property(..)
                    | Tree::Key(..)
                    | Tree::Index(..)
                    | Tree::Conditional(_)
            )
            && self.flow(expr) != Flow::Output
    }

    /// Whether TypeScript knows no type of the elements of a range.
    pub(crate) fn is_untyped(&mut self, range: &Expr) -> bool {
        self.untyped.is(self.program, range)
    }

    /// Says whether TypeScript knows the type of `range.value` in what follows, up to [`Lowering::leave_range`].
    pub(crate) fn enter_range(&mut self, is_untyped: bool) {
        self.untyped.enter(&"range".into(), is_untyped);
    }

    /// Ends what follows [`Lowering::enter_range`].
    pub(crate) fn leave_range(&mut self) {
        self.untyped.leave();
    }

    /// Lowers an expression with any target type.
    pub(crate) fn any(&mut self, expr: &Expr) -> Tree {
        self.to(expr, &Target::Any)
    }

    /// Lowers the command of a hook: its words; `None`, with a problem, if a callback cannot have them.
    pub(crate) fn command(&mut self, command: &Expr) -> Option<Vec<Tree>> {
        let problem = if self.flow(command).has_outputs() {
            "outputs in commands of hooks"
        } else {
            self.is_hook = true;
            let tree = self.value(command, &Type::List(Box::new(Type::String)));
            self.is_hook = false;
            match tree {
                Tree::List(words) if !words.is_empty() => return Some(words),
                _ => "hooks whose command is no list of words",
            }
        };
        self.problems.push((command.span, problem.to_owned()));
        None
    }

    /// Adds variables to the scope; returns the previous scope.
    pub(crate) fn enter(&mut self, variables: Vec<(EcoString, Flow)>) -> Vec<(EcoString, Flow)> {
        std::mem::replace(&mut self.variables, variables)
    }

    /// Restores the previous scope.
    pub(crate) fn leave(&mut self, outer: Vec<(EcoString, Flow)>) {
        self.variables = outer;
    }

    pub(crate) fn flow(&mut self, expr: &Expr) -> Flow {
        let mut variables = std::mem::take(&mut self.variables);
        let flow = self.flows.of(expr, &mut variables);
        self.variables = variables;
        flow
    }

    pub(crate) fn definition(&self, position: usize) -> &'p Definition {
        &self.program.definitions[position]
    }

    fn to(&mut self, expr: &Expr, target: &Target) -> Tree {
        let flow = self.flow(expr);
        if self.callback.is_some() {
            return self.in_callback(expr, target, &flow);
        }
        if self.waits_inside(expr) {
            return self.structure(expr, target);
        }
        if flow.is_later()
            && (self.observes(expr) || target.needs_conversion(expr, self.dialect.language))
        {
            return self.observe(expr, target);
        }
        self.structure(expr, target)
    }

    /// Whether an expression must be computed from the values of outputs, instead of being an output.
    fn observes(&mut self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Null
            | ExprKind::Bool(_)
            | ExprKind::Number(_)
            | ExprKind::String(_)
            | ExprKind::Reference(_)
            | ExprKind::Variable(_)
            | ExprKind::List(_)
            | ExprKind::Invoke(_)
            | ExprKind::Method(_) => false,
            ExprKind::Template(parts) => !self.can_interpolate(parts),
            ExprKind::Object(entries) => entries.iter().any(|(key, _)| self.flow(key).is_later()),
            ExprKind::Access(receiver, steps) => self.access_observes(receiver, steps),
            ExprKind::Splat(receiver, _) => self.flow(receiver).is_later(),
            ExprKind::For(_) | ExprKind::Unary(..) | ExprKind::Binary(..) => true,
            ExprKind::Conditional(it) => self.flow(&it[0]).is_later(),
            ExprKind::Call(callee, args) => self.call_observes(*callee, args),
        }
    }

    /// Whether the SDK can interpolate the parts of a template.
    fn can_interpolate(&mut self, parts: &[Expr]) -> bool {
        parts.iter().all(|part| {
            let flow = self.flow(part);
            let is_text = matches!(
                part.ty.without_none().expand(),
                Type::String | Type::Int | Type::Number | Type::Enum(..)
            );
            match flow {
                Flow::Output | Flow::Input => is_text && !self.observes(part),
                flow => !flow.has_outputs() && is_text,
            }
        })
    }

    fn observe(&mut self, expr: &Expr, target: &Target) -> Tree {
        let mut taken = Vec::new();
        let mut positions = Vec::new();
        walk::references(expr, &mut positions);
        for position in positions {
            if !self.flows.of_definition(position).is_later() {
                taken.push(self.definition(position).name.clone());
            }
        }
        taken.extend(self.variables.iter().map(|(name, _)| name.clone()));
        self.callback = Some(Callback {
            taken,
            ..Callback::default()
        });
        let body = self.root(expr, target);
        let callback = self.callback.take().unwrap_or_default();
        let params = callback.params.into_iter().map(|it| (it.name, it.value));
        Tree::Apply(params.collect(), Box::new(body))
    }

    /// Lowers the body of a callback, which may be an output itself.
    fn root(&mut self, expr: &Expr, target: &Target) -> Tree {
        let ExprKind::Conditional(it) = &expr.kind else {
            let flow = self.flow(expr);
            return self.in_callback(expr, target, &flow);
        };
        let condition = self.to(&it[0], &Target::Bool);
        let branches = [&it[1], &it[2]].map(|branch| {
            let flow = self.flow(branch);
            if flow.is_later() && !self.observes(branch) {
                self.outside(branch, target)
            } else {
                self.root(branch, target)
            }
        });
        let [yes, no] = branches;
        Tree::Conditional(Box::new([condition, yes, no]))
    }

    /// Lowers an expression outside of the current callback.
    fn outside(&mut self, expr: &Expr, target: &Target) -> Tree {
        let callback = self.callback.take();
        let tree = self.to(expr, target);
        self.callback = callback;
        tree
    }

    fn in_callback(&mut self, expr: &Expr, target: &Target, flow: &Flow) -> Tree {
        if !flow.has_outputs() {
            return self.structure(expr, target);
        }
        let bound = self.callback.as_ref().map(|it| it.bound.clone());
        let bound = bound.unwrap_or_default();
        if self.waits_inside(expr) {
            // A parameter of this callback cannot depend on variables that exist only inside. The loop then waits in
            // callbacks of its own.
            if walk::mentions(expr, &bound) {
                return self.outside(expr, target);
            }
            let names = self.names_of(expr);
            let value = self.outside(expr, &Target::Any);
            return Tree::Variable(self.parameter(names, value, None));
        }
        let is_structural = match &expr.kind {
            ExprKind::List(_)
            | ExprKind::Object(_)
            | ExprKind::Template(_)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Conditional(_) => true,
            ExprKind::For(it) => self.flow(&it.collection).is_later() || flow.is_later(),
            ExprKind::Splat(..) | ExprKind::Call(..) => flow.is_later() && self.observes(expr),
            _ => false,
        };
        if is_structural {
            return self.structure(expr, target);
        }
        if walk::mentions(expr, &bound) {
            return self.outside(expr, target);
        }
        if let ExprKind::Access(receiver, steps) = &expr.kind
            && flow.is_later()
        {
            let tree = self.access_in_callback(receiver, steps);
            return target.converted(tree, &expr.ty, self.dialect.language);
        }
        let names = self.names_of(expr);
        let path = Self::path_of(expr);
        let value = self.outside(expr, &Target::Any);
        let value = if *flow == Flow::Output {
            value
        } else {
            Tree::AsOutput(Box::new(value))
        };
        let tree = Tree::Variable(self.parameter(names, value, path));
        target.converted(tree, &expr.ty, self.dialect.language)
    }

    /// Parameter of the current callback for `value`.
    fn parameter(
        &mut self,
        [wanted, longer]: [EcoString; 2],
        value: Tree,
        path: Option<String>,
    ) -> EcoString {
        let Some(callback) = &mut self.callback else {
            return wanted;
        };
        let same = callback
            .params
            .iter()
            .find(|it| path.is_some() && it.path == path);
        if let Some(same) = same {
            return same.name.clone();
        }
        let is_taken = |name: &EcoString| {
            callback.params.iter().any(|it| it.name == *name) || callback.taken.contains(name)
        };
        let mut name = wanted;
        if is_taken(&name) {
            name = longer.clone();
        }
        let mut number = 2;
        while is_taken(&name) {
            name = format!("{longer}{number}").into();
            number += 1;
        }
        callback.params.push(Param {
            name: name.clone(),
            value,
            path,
        });
        name
    }

    /// Name of a parameter for an expression, and an alternative in case of a conflict, which starts with the name of
    /// the receiver, as in `petLength`.
    fn names_of(&self, expr: &Expr) -> [EcoString; 2] {
        let name = self.name_of(expr);
        let root = match &expr.kind {
            ExprKind::Access(receiver, _) => self.name_of(receiver),
            _ => return [name.clone(), name],
        };
        let mut letters = name.chars();
        let first = letters.next().map(char::to_uppercase);
        let longer: String = root
            .chars()
            .chain(first.into_iter().flatten())
            .chain(letters)
            .collect();
        [name.clone(), longer.into()]
    }

    /// Preferred name of a parameter for an expression.
    fn name_of(&self, expr: &Expr) -> EcoString {
        match &expr.kind {
            ExprKind::Reference(position) => self.definition(*position).name.clone(),
            ExprKind::Variable(name) => name.clone(),
            ExprKind::Invoke(_) | ExprKind::Method(_) => "result".into(),
            ExprKind::Splat(..) | ExprKind::For(_) => "values".into(),
            ExprKind::Call(_, args) => match args.first() {
                Some(first) => self.name_of(first),
                None => "value".into(),
            },
            ExprKind::Access(receiver, steps) => {
                let last = steps.iter().rev().find_map(|step| match step {
                    plumb_pcl::Step::Name(name) => Some(name.clone()),
                    plumb_pcl::Step::Index(_) => None,
                });
                last.unwrap_or_else(|| self.name_of(receiver))
            }
            _ => "value".into(),
        }
    }

    /// Path that two expressions have in common only if they have the same value.
    fn path_of(expr: &Expr) -> Option<String> {
        use std::fmt::Write as _;
        match &expr.kind {
            ExprKind::Reference(position) => Some(format!("#{position}")),
            ExprKind::Access(receiver, steps) => {
                let mut path = Self::path_of(receiver)?;
                for step in steps {
                    match step {
                        plumb_pcl::Step::Name(name) => {
                            let _ = write!(path, ".{name}");
                        }
                        plumb_pcl::Step::Index(index) => match &index.kind {
                            ExprKind::Number(number) => {
                                let _ = write!(path, "[{number}]");
                            }
                            _ => return None,
                        },
                    }
                }
                Some(path)
            }
            _ => None,
        }
    }

    /// Lowers an expression according to its structure.
    fn structure(&mut self, expr: &Expr, target: &Target) -> Tree {
        if let Some(literal) = target.literal(expr) {
            return literal;
        }
        let tree = match &expr.kind {
            ExprKind::Null => Tree::Null,
            ExprKind::Bool(value) => Tree::Bool(*value),
            ExprKind::Number(value) => Tree::Number(*value),
            ExprKind::String(text) => Tree::Text(text.clone()),
            ExprKind::Template(parts) => return self.template(parts),
            ExprKind::List(items) => {
                return Tree::List(
                    items
                        .iter()
                        .map(|item| {
                            let target = target.element(item);
                            self.to(item, &target)
                        })
                        .collect(),
                );
            }
            ExprKind::Object(entries) => return self.object(entries, target),
            ExprKind::Reference(position) => {
                return target.converted(
                    Tree::Definition(*position),
                    &expr.ty,
                    self.dialect.language,
                );
            }
            ExprKind::Variable(name) => Tree::Variable(name.clone()),
            ExprKind::Access(receiver, steps) => self.access(receiver, steps),
            ExprKind::Splat(receiver, steps) => self.splat(receiver, steps),
            ExprKind::For(it) => return self.for_loop(it, target),
            ExprKind::Conditional(it) => {
                let condition = self.to(&it[0], &Target::Bool);
                let branches = [&it[1], &it[2]].map(|branch| {
                    let target = target.reduced(branch);
                    self.to(branch, &target)
                });
                let [yes, no] = branches;
                return Tree::Conditional(Box::new([condition, yes, no]));
            }
            ExprKind::Unary(operator, operand) => {
                let target = match operator {
                    plumb_pcl::UnaryOperator::Negate => Target::Number,
                    plumb_pcl::UnaryOperator::Not => Target::Bool,
                };
                Tree::Unary(*operator, Box::new(self.to(operand, &target)))
            }
            ExprKind::Binary(operator, operands) => {
                let [left, right] = &**operands;
                let target = Target::of_operand(*operator);
                let operands = [self.to(left, &target), self.to(right, &target)];
                Tree::Binary(*operator, Box::new(operands))
            }
            ExprKind::Call(callee, args) => self.call(*callee, args),
            ExprKind::Invoke(invoke) => self.invoke(invoke),
            ExprKind::Method(method) => self.method(method),
        };
        target.converted(tree, &expr.ty, self.dialect.language)
    }

    fn template(&mut self, parts: &[Expr]) -> Tree {
        let later = parts.iter().any(|part| self.flow(part).has_outputs());
        let is_text = |part: &Expr| matches!(part.ty.expand(), Type::String | Type::Enum(..));
        let kind = if parts.iter().all(is_text) {
            Parts::Texts
        } else {
            Parts::Mixed
        };
        let parts = parts.iter().map(|part| {
            let tree = self.to(part, &Target::Any);
            match part.ty.without_none().expand() {
                Type::Bool => Tree::Convert(crate::tree::Conversion::BoolToText, Box::new(tree)),
                _ => tree,
            }
        });
        let parts = parts.collect();
        if later && self.callback.is_none() {
            Tree::Interpolation(parts, kind)
        } else {
            Tree::Template(parts)
        }
    }

    fn object(&mut self, entries: &[(Expr, Expr)], target: &Target) -> Tree {
        if let Target::Object {
            package,
            token,
            ty,
            is_variant,
        } = target
        {
            let mut fields = Vec::with_capacity(entries.len());
            for (key, value) in entries {
                let ExprKind::String(name) = &key.kind else {
                    continue;
                };
                let wanted = ty.member(name).unwrap_or(Type::Dynamic);
                let value = self.value(value, &wanted);
                fields.push((name.clone(), value));
            }
            return Tree::Object(Box::new(crate::tree::Object {
                package: package.clone(),
                token: token.clone(),
                fields,
                is_variant: *is_variant,
                is_in_callback: self.callback.is_some(),
            }));
        }
        let mut lowered = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            let name = match &key.kind {
                ExprKind::String(name) => Some(name.clone()),
                _ => None,
            };
            let inner = target.member(name.as_deref(), value);
            let key = self.to(key, &Target::Text);
            lowered.push((key, self.to(value, &inner)));
        }
        Tree::Map(lowered)
    }

    fn for_loop(&mut self, it: &For, target: &Target) -> Tree {
        let collection_flow = self.flow(&it.collection);
        let collection = self.to(&it.collection, &Target::Any);
        let is_kept = matches!((&it.key, &it.result_key), (Some(key), Some(result))
            if matches!(&result.kind, ExprKind::Variable(name) if name == key));
        let collected = collected(&it.collection.ty, is_kept);
        let is_untyped = self.untyped.is(self.program, &it.collection);
        let depth = self.variables.len();
        let element = match collection_flow.element() {
            // Inside a callback, outputs are resolved.
            flow if self.callback.is_some() && flow.has_outputs() => Flow::Plain,
            flow => flow,
        };
        self.bind(it.key.clone().map(|key| (key, Flow::Plain)));
        self.bind(Some((it.value.clone(), element)));
        self.untyped.enter(&it.value, is_untyped);
        let waits = self.chooses_later(it);
        let condition = it.condition.as_ref().map(|it| self.to(it, &Target::Bool));
        let result_key = it.result_key.as_ref().map(|it| self.to(it, &Target::Text));
        let target = target.element(&it.result);
        let result = self.to(&it.result, &target);
        self.untyped.leave();
        self.unbind(depth);
        let plain = Loop {
            key: it.key.clone(),
            value: it.value.clone(),
            collection,
            collected,
            is_untyped,
            result_key,
            result,
            condition,
        };
        if waits {
            chosen_later(plain)
        } else {
            Tree::For(Box::new(plain))
        }
    }

    /// Whether an expression is a loop over plain values whose choice of elements waits for outputs.
    fn waits_inside(&mut self, expr: &Expr) -> bool {
        let ExprKind::For(it) = &expr.kind else {
            return false;
        };
        let collection = self.flow(&it.collection);
        if collection.is_later() {
            return false;
        }
        let depth = self.variables.len();
        let key = it.key.clone().map(|key| (key, Flow::Plain));
        self.variables.extend(key);
        self.variables
            .push((it.value.clone(), collection.element()));
        let waits = self.chooses_later(it);
        self.variables.truncate(depth);
        waits
    }

    /// Whether the condition or the key of a loop, whose variables are in scope, needs outputs of the elements. Other
    /// outputs are the same for all elements, so one callback around the loop has them.
    fn chooses_later(&mut self, it: &For) -> bool {
        let variables: Vec<EcoString> = it.key.iter().chain([&it.value]).cloned().collect();
        let mut sources = Vec::new();
        for part in [&it.condition, &it.result_key].into_iter().flatten() {
            walk::each(part, &mut |expr| {
                let is_source = matches!(
                    expr.kind,
                    ExprKind::Variable(_)
                        | ExprKind::Access(..)
                        | ExprKind::Invoke(_)
                        | ExprKind::Method(_)
                        | ExprKind::Call(..)
                );
                if is_source && walk::mentions(expr, &variables) {
                    sources.push(expr.clone());
                }
            });
        }
        sources.iter().any(|expr| self.flow(expr).is_later())
    }

    fn bind(&mut self, variable: Option<(EcoString, Flow)>) {
        if let (Some(callback), Some((name, _))) = (&mut self.callback, &variable) {
            callback.bound.push(name.clone());
        }
        self.variables.extend(variable);
    }

    fn unbind(&mut self, depth: usize) {
        let count = self.variables.len() - depth;
        self.variables.truncate(depth);
        if let Some(callback) = &mut self.callback {
            let left = callback.bound.len().saturating_sub(count);
            callback.bound.truncate(left);
        }
    }
}

/// A loop whose condition or key is an output: all elements are made, and chosen when these are known.
fn chosen_later(it: Loop) -> Tree {
    let text = |name: &str| Tree::Text(name.into());
    let mut made = vec![(text("value"), it.result)];
    let item = Tree::Variable("item".into());
    let part = |name: &str| Tree::Key(Box::new(item.clone()), name.into(), Presence::Certain);
    let condition = it.condition.map(|keep| {
        made.push((text("keep"), keep));
        part("keep")
    });
    let result_key = it.result_key.map(|key| {
        made.push((text("key"), key));
        part("key")
    });
    let all = Tree::For(Box::new(Loop {
        result_key: None,
        result: Tree::Map(made),
        condition: None,
        ..it
    }));
    let chosen = Tree::For(Box::new(Loop {
        key: None,
        value: "item".into(),
        collection: Tree::Variable("items".into()),
        collected: Collected::List,
        is_untyped: false,
        result_key,
        result: part("value"),
        condition,
    }));
    let all = Tree::AsOutput(Box::new(all));
    Tree::Apply(vec![("items".into(), all)], Box::new(chosen))
}

/// Kind of a collection by its type. One whose keys are kept is meant to be a map.
fn collected(ty: &Type, is_kept: bool) -> Collected {
    match ty.without_none().expand() {
        Type::Map(_) | Type::Object(_) => Collected::Map,
        Type::List(_) | Type::Tuple(_) => Collected::List,
        _ if is_kept => Collected::Map,
        _ => Collected::Unknown,
    }
}

/// Presence of a value of this type.
fn presence_of(ty: &Type) -> Presence {
    match ty {
        Type::Union(types) if types.contains(&Type::None) => Presence::Optional,
        _ => Presence::Certain,
    }
}

/// Function for the length of a value of this type.
fn length_of(ty: &Type) -> Function {
    match ty.without_none().expand() {
        Type::String | Type::Enum(..) => Function::LengthOfText,
        Type::Map(_) | Type::Object(_) => Function::LengthOfMap,
        _ => Function::Length,
    }
}
