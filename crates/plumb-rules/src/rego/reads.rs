//! Properties that rules may read, and the types of resources that they are for.

use std::collections::{BTreeMap, BTreeSet};

use plumb_resource::policy::PolicyKind;
use regorus::unstable::{
    AssignOp, BoolOp, Expr, Literal, LiteralStmt, Module, Query, Ref, Rule, RuleHead,
};

use super::input::Format;
use super::modules::{package, rule_name};
use crate::reads::{Reads, Step, Steps};

/// Properties that a rule and the rules that it uses may read.
pub(super) fn of_rule(
    modules: &[&Module],
    of_package: &str,
    name: &str,
    format: Format,
    kind: PolicyKind,
) -> Reads {
    let mut reader = Reader {
        format,
        kind,
        places: BTreeMap::new(),
        reads: Reads::default(),
        used: BTreeSet::new(),
    };
    let mut done = BTreeSet::new();
    let mut open = vec![(of_package.to_owned(), name.to_owned())];
    while let Some((in_package, name)) = open.pop() {
        if !done.insert((in_package.clone(), name.clone())) {
            continue;
        }
        for module in modules.iter().filter(|it| package(it) == in_package) {
            for rule in module
                .policy
                .iter()
                .filter(|it| rule_name(it) == Some(&name))
            {
                reader.imports(module);
                reader.rule(rule);
            }
        }
        let used = std::mem::take(&mut reader.used);
        // A reference to another package may be to any rule of it.
        if used.contains("data") {
            let all = modules.iter().flat_map(|module| {
                let names = module.policy.iter().filter_map(|rule| rule_name(rule));
                names.map(|name| (package(module), name.to_owned()))
            });
            open.extend(all.filter(|(other, _)| *other != in_package));
        }
        open.extend(used.into_iter().map(|name| (in_package.clone(), name)));
    }
    reader.reads
}

/// Where the value of a variable comes from.
#[derive(Clone)]
struct Place {
    /// Path that begins with `input`.
    path: Steps,
    /// Whether the variable holds a list of the values at this path.
    is_list: bool,
}

struct Reader {
    format: Format,
    kind: PolicyKind,
    /// Local variables of the body and names of imports.
    places: BTreeMap<String, Place>,
    reads: Reads,
    /// Other variables, which may be rules.
    used: BTreeSet<String>,
}

impl Reader {
    fn imports(&mut self, module: &Module) {
        self.places.clear();
        for import in &module.imports {
            let Some(place) = self.place(&import.refr) else {
                // An import of `data.…` may be of any rule.
                self.used.insert("data".to_owned());
                continue;
            };
            let name = import.r#as.as_ref().map(|name| name.text().to_owned());
            let last = place.path.last().cloned();
            if let Some(name) = name.or(match last {
                Some(Step::Key(key)) => Some(key),
                _ => None,
            }) {
                self.places.insert(name, place);
            }
        }
    }

    fn rule(&mut self, rule: &Rule) {
        let imports = self.places.clone();
        let Rule::Spec { head, bodies, .. } = rule else {
            return;
        };
        if bodies.is_empty() {
            self.head(head);
        }
        for body in bodies {
            self.places.clone_from(&imports);
            self.bind(&body.query);
            self.head(head);
            if let Some(assign) = &body.assign {
                self.visit(&assign.value);
            }
            self.query(&body.query);
        }
        self.places = imports;
    }

    fn head(&mut self, head: &RuleHead) {
        match head {
            RuleHead::Compr { refr, assign, .. } => {
                self.visit_indexes(refr);
                if let Some(assign) = assign {
                    self.visit(&assign.value);
                }
            }
            RuleHead::Set { refr, key, .. } => {
                self.visit_indexes(refr);
                if let Some(key) = key {
                    self.visit(key);
                }
            }
            RuleHead::Func { assign, .. } => {
                if let Some(assign) = assign {
                    self.visit(&assign.value);
                }
            }
        }
    }

    /// Notes the places of the variables that a query binds.
    fn bind(&mut self, query: &Query) {
        for statement in &query.stmts {
            match &statement.literal {
                Literal::SomeIn {
                    value, collection, ..
                } => self.bind_element(var(value), collection),
                Literal::Every {
                    value,
                    domain,
                    query,
                    ..
                } => {
                    self.bind_element(Some(value.text()), domain);
                    self.bind(query);
                }
                Literal::Expr { expr, .. } | Literal::NotExpr { expr, .. } => {
                    self.bind_expr(expr);
                }
                Literal::SomeVars { .. } => {}
            }
        }
    }

    fn bind_element(&mut self, name: Option<&str>, collection: &Expr) {
        let Some((name, place)) = name.zip(self.place(collection)) else {
            return;
        };
        self.places.insert(name.to_owned(), place.at(Step::Any));
    }

    fn bind_expr(&mut self, expr: &Expr) {
        if let Expr::AssignExpr { lhs, rhs, .. } = expr {
            let place = match &**rhs {
                Expr::ArrayCompr { term, query, .. } | Expr::SetCompr { term, query, .. } => {
                    self.bind(query);
                    self.place(term)
                        .filter(|it| !it.is_list)
                        .map(|place| Place {
                            is_list: true,
                            ..place
                        })
                }
                other => self.place(other),
            };
            if let Some((name, place)) = var(lhs).zip(place) {
                self.places.insert(name.to_owned(), place);
            }
        }
        if let Some(query) = query_of(expr) {
            self.bind(query);
        }
        for child in children(expr) {
            self.bind_expr(child);
        }
    }

    fn query(&mut self, query: &Query) {
        for statement in &query.stmts {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &LiteralStmt) {
        match &statement.literal {
            Literal::SomeVars { .. } => {}
            Literal::SomeIn {
                key,
                value,
                collection,
                ..
            } => {
                if let Some(key) = key {
                    self.visit(key);
                }
                self.iterate(collection);
                self.binding(value, collection);
            }
            Literal::Every { domain, query, .. } => {
                self.iterate(domain);
                self.visit_indexes(domain);
                self.query(query);
            }
            Literal::Expr { expr, .. } | Literal::NotExpr { expr, .. } => match &**expr {
                Expr::AssignExpr { lhs, rhs, .. } => self.binding(lhs, rhs),
                other => self.visit(other),
            },
        }
        for modifier in &statement.with_mods {
            self.visit(&modifier.r#as);
        }
    }

    /// Notes that a rule goes through the elements of a collection.
    fn iterate(&mut self, collection: &Expr) {
        if let Some(place) = self.place(collection)
            && let Some(elements) = self.properties(&place.at(Step::Any).path)
        {
            self.reads.add_presence(elements);
        }
    }

    /// A binding of a variable to a value. It reads nothing by itself if the place of the variable is known.
    fn binding(&mut self, left: &Expr, right: &Expr) {
        let is_known = var(left).is_some_and(|name| self.places.contains_key(name));
        if !is_known {
            self.visit(left);
            self.visit(right);
        } else if let Expr::ArrayCompr { query, .. } | Expr::SetCompr { query, .. } = right {
            self.query(query);
        } else {
            self.visit_indexes(right);
        }
    }

    /// Notes the reads of an expression.
    fn visit(&mut self, expr: &Expr) {
        if let Some(place) = self.place(expr) {
            if let Some(properties) = self.properties(&place.path) {
                self.reads.add(properties);
            }
            self.visit_indexes(expr);
            return;
        }
        match expr {
            Expr::Var { span, .. } => {
                self.used.insert(span.text().to_owned());
            }
            Expr::Call { fcn, params, .. } => {
                self.visit(fcn);
                for param in params {
                    if fcn.span().text() == "count" && self.place(param).is_some() {
                        self.iterate(param);
                        self.visit_indexes(param);
                    } else {
                        self.visit(param);
                    }
                }
            }
            _ => {
                if let Some(query) = query_of(expr) {
                    self.query(query);
                }
                for child in children(expr) {
                    self.visit(child);
                }
            }
        }
    }

    /// Notes the reads of the indexes in a reference, as in `input.tags[input.key]`.
    fn visit_indexes(&mut self, expr: &Expr) {
        match expr {
            Expr::RefDot { refr, .. } => self.visit_indexes(refr),
            Expr::RefBrack { refr, index, .. } => {
                self.visit_indexes(refr);
                self.visit(index);
            }
            _ => {}
        }
    }

    /// The place of a value in the input; `None` for values that are computed.
    fn place(&self, expr: &Expr) -> Option<Place> {
        match expr {
            Expr::Var { span, .. } if span.text() == "input" => Some(Place {
                path: vec![Step::Key("input".to_owned())],
                is_list: false,
            }),
            Expr::Var { span, .. } => self.places.get(span.text()).cloned(),
            Expr::RefDot { refr, field, .. } => {
                Some(self.place(refr)?.at(Step::Key(field.0.text().to_owned())))
            }
            Expr::RefBrack { refr, index, .. } => {
                let step = match &**index {
                    Expr::String { span, .. } => {
                        Step::Key(span.text().trim_matches('"').to_owned())
                    }
                    Expr::RawString { span, .. } => {
                        Step::Key(span.text().trim_matches('`').to_owned())
                    }
                    Expr::Number { span, .. } => Step::Key(span.text().to_owned()),
                    _ => Step::Any,
                };
                Some(self.place(refr)?.at(step))
            }
            _ => None,
        }
    }

    /// The part of a path below the properties of a resource; `None` if no property is read.
    fn properties(&self, path: &[Step]) -> Option<Steps> {
        let rest = path.get(1..)?;
        let rest = match self.kind {
            PolicyKind::Resource => rest,
            PolicyKind::Stack => match rest {
                [Step::Key(key), _, rest @ ..] if key == "resources" => rest,
                [Step::Key(key)] if key != "resources" => return None,
                _ => return Some(Vec::new()),
            },
        };
        match self.format {
            Format::Properties => Some(below_resource(rest)),
            Format::Admission => below_review(rest),
        }
    }
}

impl Place {
    fn at(mut self, step: Step) -> Self {
        if self.is_list {
            self.is_list = false;
        } else {
            self.path.push(step);
        }
        self
    }
}

/// A path below the input for a resource, which holds properties beside facts.
fn below_resource(path: &[Step]) -> Steps {
    let bags = ["properties", "props", "__properties", "__props"];
    match path {
        [Step::Key(bag), rest @ ..] if bags.contains(&bag.as_str()) => rest.to_vec(),
        path => path.to_vec(),
    }
}

/// A path below the input for a resource of Kubernetes.
fn below_review(path: &[Step]) -> Option<Steps> {
    let key = |at: usize| match path.get(at) {
        Some(Step::Key(key)) => Some(key.as_str()),
        _ => None,
    };
    let metadata = |name: &str| {
        Some(vec![
            Step::Key("metadata".to_owned()),
            Step::Key(name.to_owned()),
        ])
    };
    match (key(0), key(1)) {
        (Some("review"), Some("object")) => Some(path[2..].to_vec()),
        (Some("review"), Some(name @ ("name" | "namespace"))) => metadata(name),
        (Some("review"), Some("kind" | "operation")) => None,
        (Some("review") | None, _) => Some(Vec::new()),
        (Some(_), _) => None,
    }
}

/// Name of a variable.
fn var(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Var { span, .. } => Some(span.text()),
        _ => None,
    }
}

/// Query of a comprehension.
fn query_of(expr: &Expr) -> Option<&Query> {
    match expr {
        Expr::ArrayCompr { query, .. }
        | Expr::SetCompr { query, .. }
        | Expr::ObjectCompr { query, .. } => Some(query),
        _ => None,
    }
}

/// The expressions directly in an expression, without those of queries.
fn children(expr: &Expr) -> Vec<&Expr> {
    fn all(items: &[Ref<Expr>]) -> Vec<&Expr> {
        items.iter().map(|item| &**item).collect()
    }
    match expr {
        Expr::Array { items, .. } | Expr::Set { items, .. } => all(items),
        Expr::Object { fields, .. } => fields
            .iter()
            .flat_map(|(_, key, value)| [&**key, &**value])
            .collect(),
        Expr::ArrayCompr { term, .. } | Expr::SetCompr { term, .. } => vec![term],
        Expr::ObjectCompr { key, value, .. } => vec![key, value],
        Expr::Call { fcn, params, .. } => std::iter::once(&**fcn).chain(all(params)).collect(),
        Expr::UnaryExpr { expr, .. } => vec![expr],
        Expr::RefDot { refr, .. } => vec![refr],
        Expr::RefBrack { refr, index, .. } => vec![refr, index],
        Expr::BinExpr { lhs, rhs, .. }
        | Expr::BoolExpr { lhs, rhs, .. }
        | Expr::ArithExpr { lhs, rhs, .. }
        | Expr::AssignExpr { lhs, rhs, .. } => vec![lhs, rhs],
        Expr::Membership {
            key,
            value,
            collection,
            ..
        } => {
            let key = key.iter().map(|key| &**key);
            key.chain([&**value, &**collection]).collect()
        }
        _ => Vec::new(),
    }
}

/// Types of resources that bodies of a rule compare `input.type` with; `None` if a body compares it with none.
pub(super) fn types<'a>(rules: impl Iterator<Item = &'a Rule>) -> Option<BTreeSet<String>> {
    let mut types = BTreeSet::new();
    for rule in rules {
        let Rule::Spec { bodies, .. } = rule else {
            return None;
        };
        for body in bodies {
            types.extend(guard(&body.query)?);
        }
    }
    (!types.is_empty()).then_some(types)
}

/// Types that a query asks for, in one of its statements.
fn guard(query: &Query) -> Option<Vec<String>> {
    let mut statements = query.stmts.iter();
    statements.find_map(|statement| {
        let Literal::Expr { expr, .. } = &statement.literal else {
            return None;
        };
        match &**expr {
            Expr::BoolExpr {
                op: BoolOp::Eq,
                lhs,
                rhs,
                ..
            }
            | Expr::AssignExpr {
                op: AssignOp::Eq,
                lhs,
                rhs,
                ..
            } => match (is_type(lhs), is_type(rhs)) {
                (true, _) => Some(vec![text(rhs)?]),
                (_, true) => Some(vec![text(lhs)?]),
                _ => None,
            },
            Expr::Membership {
                key: None,
                value,
                collection,
                ..
            } if is_type(value) => match &**collection {
                Expr::Array { items, .. } | Expr::Set { items, .. } => {
                    items.iter().map(|item| text(item)).collect()
                }
                _ => None,
            },
            _ => None,
        }
    })
}

fn is_type(expr: &Expr) -> bool {
    match expr {
        Expr::RefDot { refr, field, .. } => {
            var(refr) == Some("input") && matches!(field.0.text(), "type" | "__type")
        }
        _ => false,
    }
}

fn text(expr: &Expr) -> Option<String> {
    match expr {
        Expr::String { span, .. } => Some(span.text().trim_matches('"').to_owned()),
        _ => None,
    }
}
