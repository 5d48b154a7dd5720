//! Modules of a pack and the rules in them.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use plumb_resource::policy::PolicyKind;
use regorus::Engine;
use regorus::unstable::{Expr, Module, Ref, Rule, RuleHead};
use regorus::utils::limits::ExecutionTimerConfig;

use super::annotations::Annotation;
use super::functions;
use super::input::Format;
use super::reads;
use crate::policy::TypePattern;
use crate::reads::Reads;
use crate::{LoadError, files};

/// Longest time for one rule and one resource. A rule that needs longer loops.
const LIMIT: Duration = Duration::from_secs(5);

/// Compiled modules.
pub(super) struct Modules {
    engine: Engine,
    parsed: Vec<Ref<Module>>,
    /// File and source of each of `parsed`.
    sources: Vec<(PathBuf, String)>,
}

/// A rule in a module.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    /// Path of the package, such as `data.aws`.
    pub(super) package: String,
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) annotation: Annotation,
}

impl Declared {
    /// Path of the rule.
    pub(super) fn query(&self) -> String {
        format!("{}.{}", self.package, self.name)
    }
}

impl Modules {
    /// Compiles the files `*.rego` below a folder whose name, without `.rego`, `is_wanted` accepts.
    pub(super) fn load(folder: &Path, is_wanted: impl Fn(&str) -> bool) -> Result<Self, LoadError> {
        let mut modules = Modules {
            engine: Engine::new(),
            parsed: Vec::new(),
            sources: Vec::new(),
        };
        modules
            .engine
            .set_execution_timer_config(ExecutionTimerConfig {
                limit: LIMIT,
                check_interval: NonZeroU32::MIN.saturating_add(999),
            });
        modules.engine.set_gather_prints(true);
        functions::add(&mut modules.engine);
        for path in files::find(folder, |name| {
            name.strip_suffix(".rego").is_some_and(&is_wanted)
        })? {
            let source = files::read(&path)?;
            let shown = path.strip_prefix(folder).unwrap_or(&path);
            add(&mut modules.engine, &shown.to_string_lossy(), &source)?;
            modules.sources.push((path, source));
        }
        modules.parsed.clone_from(modules.engine.get_modules());
        let analyzed = modules.engine.eval_query("true".to_owned(), false);
        analyzed.map_err(|error| LoadError::Compile(error.to_string()))?;
        Ok(modules)
    }

    pub(super) fn into_engine(self) -> Engine {
        self.engine
    }

    /// Name for the pack: that of the package, if all modules have the same.
    pub(super) fn name(&self) -> Option<String> {
        let packages: BTreeSet<String> = self.modules().map(package).collect();
        let mut packages = packages.into_iter();
        match (packages.next(), packages.next()) {
            (Some(one), None) => one.strip_prefix("data.").map(ToOwned::to_owned),
            _ => None,
        }
    }

    fn modules(&self) -> impl Iterator<Item = &Module> {
        self.parsed.iter().map(|module| &**module)
    }

    /// The rules of all modules. A rule with several bodies is one rule, at its first place.
    pub(super) fn rules(&self) -> Vec<Declared> {
        let mut found: Vec<Declared> = Vec::new();
        for (module, (path, source)) in self.modules().zip(&self.sources) {
            let package = package(module);
            for rule in &module.policy {
                let Some(name) = rule_name(rule) else {
                    continue;
                };
                let is_known = found
                    .iter()
                    .any(|it| it.package == package && it.name == name);
                if is_known {
                    continue;
                }
                let line = rule.span().line as usize;
                found.push(Declared {
                    package: package.clone(),
                    name: name.to_owned(),
                    path: path.clone(),
                    annotation: Annotation::before(source, line),
                });
            }
        }
        found
    }

    /// Properties that a rule may read.
    pub(super) fn reads(&self, rule: &Declared, format: Format, kind: PolicyKind) -> Reads {
        let modules: Vec<&Module> = self.modules().collect();
        reads::of_rule(&modules, &rule.package, &rule.name, format, kind)
    }

    /// Types of resources that a rule is for, if all of its bodies compare the type with constants; also the name of the
    /// property that hides the type.
    pub(super) fn types(
        &self,
        rule: &Declared,
        format: Format,
        kind: PolicyKind,
    ) -> (Option<Vec<TypePattern>>, Option<&'static str>) {
        if format == Format::Admission || kind == PolicyKind::Stack {
            return (None, None);
        }
        let modules = self
            .modules()
            .filter(|module| package(module) == rule.package);
        let bodies = modules.flat_map(|module| &module.policy);
        let bodies = bodies.filter(|it| rule_name(it) == Some(&rule.name));
        let tokens = reads::types(bodies.map(|rule| &**rule));
        let patterns = tokens.map(|it| it.iter().map(|it| TypePattern::exact(it)).collect());
        (patterns, Some("type"))
    }
}

/// Adds a module, in the present syntax or in the one from before version 1.
fn add(engine: &mut Engine, name: &str, source: &str) -> Result<(), LoadError> {
    let attempt = |engine: &mut Engine, is_old: bool| {
        engine.set_rego_v0(is_old);
        let added = engine.add_policy(name.to_owned(), source.to_owned());
        added
            .map(drop)
            .map_err(|error| LoadError::Compile(error.to_string()))
    };
    match attempt(&mut Engine::new(), false) {
        Ok(()) => attempt(engine, false),
        // The old parser would take `if` for a variable, and print a warning about it.
        Err(error) if has_if(source) && !source.contains("future.keywords") => Err(error),
        Err(_) => attempt(engine, true),
    }
}

/// Whether `if` occurs outside of comments and texts.
fn has_if(source: &str) -> bool {
    source.lines().any(|line| {
        let code = line.split('#').next().unwrap_or_default();
        let outside = code.split(['"', '`']).step_by(2);
        let mut words = outside.flat_map(|code| code.split_whitespace());
        words.any(|word| word == "if")
    })
}

/// Path of the package of a module, such as `data.aws.storage`.
pub(super) fn package(module: &Module) -> String {
    fn path(expr: &Expr, parts: &mut Vec<String>) {
        match expr {
            Expr::Var { span, .. } => parts.push(span.text().to_owned()),
            Expr::RefDot { refr, field, .. } => {
                path(refr, parts);
                parts.push(field.0.text().to_owned());
            }
            Expr::RefBrack { refr, index, .. } => {
                path(refr, parts);
                parts.push(index.span().text().trim_matches('"').to_owned());
            }
            _ => {}
        }
    }
    let mut parts = vec!["data".to_owned()];
    path(&module.package.refr, &mut parts);
    parts.join(".")
}

/// Name of a rule; `None` for one that is no simple name, such as `a.b.c`.
pub(super) fn rule_name(rule: &Rule) -> Option<&str> {
    let refr = match rule {
        Rule::Default { refr, .. } => refr,
        Rule::Spec { head, .. } => match head {
            RuleHead::Compr { refr, .. }
            | RuleHead::Set { refr, .. }
            | RuleHead::Func { refr, .. } => refr,
        },
    };
    root(refr)
}

/// Name of the variable at the root of a reference.
fn root(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Var { span, .. } => Some(span.text()),
        Expr::RefBrack { refr, .. } => root(refr),
        _ => None,
    }
}
