//! Settings of a program: the declared ones, and all others of the stack (`yaml-runtime.md` 3).

use std::collections::BTreeMap;
use std::sync::Arc;

use ecow::EcoString;
use plumb_engine::program::ProgramContext;
use rustc_hash::FxHashSet;

use crate::config::{self, ConfigDecl};
use crate::diagnostic::Diagnostic;
use crate::eval::lift;
use crate::eval::value::Val;
use crate::graph::ConfigName;
use crate::syntax::expression::ExprKind;
use crate::syntax::interpolation;
use crate::syntax::node::{Key, Node, NodeKind};
use crate::syntax::program::Syntax;

/// A setting.
#[derive(Debug)]
pub(crate) struct Setting {
    pub(crate) name: EcoString,
    pub(crate) declared: Option<Key>,
    pub(crate) value: Val,
}

impl Setting {
    /// Name, in the form that the graph uses.
    pub(crate) fn name(&self) -> ConfigName<'_> {
        ConfigName {
            name: &self.name,
            declared: self.declared.as_ref(),
        }
    }
}

/// Name of a setting, and an error in it.
pub(crate) type Problem = (EcoString, Diagnostic);

/// Evaluates the settings for a run.
pub(crate) fn evaluate(
    syntax: &Syntax,
    info: &ProgramContext,
    problems: &mut Vec<Problem>,
) -> Vec<Setting> {
    let secret_keys: FxHashSet<&str> = info.config_secret_keys.iter().map(String::as_str).collect();
    let stack = Stack {
        values: &info.config,
        secret_keys,
        project: &info.project,
    };
    let mut settings = Vec::new();
    let mut seen: FxHashSet<EcoString> = FxHashSet::default();
    for decl in &syntax.config {
        let name = stack.stripped(&decl.key.text);
        let mut diagnostics = Vec::new();
        let value = stack.declared(decl, &mut diagnostics);
        let named_problems = diagnostics.into_iter().map(|it| (name.into(), it));
        problems.extend(named_problems);
        seen.insert(name.into());
        settings.push(Setting {
            name: name.into(),
            declared: Some(named(&decl.key, name)),
            value,
        });
    }
    for (key, text) in info.config.iter() {
        let name = stack.stripped(key);
        if !seen.contains(name) {
            let value = lift::secret(
                &config::stack_value(text),
                stack.secret_keys.contains(key.as_str()),
            );
            settings.push(Setting {
                name: name.into(),
                declared: None,
                value,
            });
        }
    }
    settings
}

fn named(key: &Key, name: &str) -> Key {
    Key {
        text: name.into(),
        span: key.span,
    }
}

struct Stack<'a> {
    values: &'a BTreeMap<String, String>,
    secret_keys: FxHashSet<&'a str>,
    project: &'a str,
}

impl Stack<'_> {
    /// The key without the project's namespace.
    fn stripped<'k>(&self, key: &'k str) -> &'k str {
        key.strip_prefix(self.project)
            .and_then(|rest| rest.strip_prefix(':'))
            .unwrap_or(key)
    }

    /// Text of the stack's setting `key`, and whether it is secret.
    fn find(&self, key: &str) -> Option<(&str, bool)> {
        let full = if key.contains(':') {
            key.to_owned()
        } else {
            format!("{}:{key}", self.project)
        };
        let text = self.values.get(&full)?;
        Some((text, self.secret_keys.contains(full.as_str())))
    }

    fn declared(&self, decl: &ConfigDecl, diagnostics: &mut Vec<Diagnostic>) -> Val {
        let marked = decl.secret == Some(true);
        if let Some((text, is_secret)) = self.find(&decl.key.text) {
            return lift::secret(&config::stack_value(text), is_secret || marked);
        }
        if let Some(problem) = &decl.problem {
            diagnostics.push(problem.clone());
            return Val::Poison;
        }
        if let Some((text, is_secret)) = decl.name.as_deref().and_then(|name| self.find(name)) {
            if is_secret && decl.secret == Some(false) {
                let summary = "Cannot mark a configuration value as not secret if the associated config value is secret";
                diagnostics.push(Diagnostic::error(decl.key.span, summary));
            }
            let value = match &decl.ty {
                None => Ok(config::stack_value(text)),
                Some(ty) => config::declared_value(ty, text, is_secret || marked),
            };
            return value.map_or_else(
                |summary| {
                    diagnostics.push(Diagnostic::error(decl.key.span, summary));
                    Val::Poison
                },
                |value| lift::secret(&value, is_secret || marked),
            );
        }
        if let Some(default) = &decl.default {
            return lift::secret(&default_value(default, diagnostics), marked);
        }
        diagnostics.push(self.missing(decl));
        Val::Poison
    }

    fn missing(&self, decl: &ConfigDecl) -> Diagnostic {
        if decl.ty.is_none() {
            let summary = "unable to infer type: either 'default' or 'type' is required";
            return Diagnostic::error(decl.key.span, summary);
        }
        let name = decl.name.as_ref().unwrap_or(&decl.key.text);
        let key = if name.contains(':') {
            name.to_string()
        } else {
            format!("{}:{name}", self.project)
        };
        let summary =
            format!("missing required configuration variable '{key}'; run `pulumi config` to set");
        Diagnostic::error(decl.key.span, summary)
    }
}

/// Value of a default, which must be a literal.
pub(crate) fn default_value(node: &Node, diagnostics: &mut Vec<Diagnostic>) -> Val {
    match &node.kind {
        NodeKind::Null => Val::Null,
        NodeKind::Bool(value) => Val::Bool(*value),
        NodeKind::Number(value) => Val::Number(*value),
        NodeKind::String(text) => {
            if let Ok(ExprKind::String(text)) = interpolation::parse(text) {
                Val::String(text)
            } else {
                let summary = "the default of a configuration value must be a literal";
                diagnostics.push(Diagnostic::error(node.span, summary));
                Val::Poison
            }
        }
        NodeKind::List(items) => Val::list(
            items
                .iter()
                .map(|item| default_value(item, diagnostics))
                .collect(),
        ),
        NodeKind::Map(entries) => {
            let entries = entries
                .iter()
                .map(|(key, item)| (key.text.clone(), default_value(item, diagnostics)));
            Val::Object(Arc::new(entries.collect()))
        }
    }
}
