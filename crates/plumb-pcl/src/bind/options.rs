//! Binding of resource options (`codegen.md` 10.4).

use ecow::EcoString;
use hcl_edit::expr::{Expression, ObjectKey, TraversalOperator};
use hcl_edit::structure::{Attribute, Block, Body, Structure};
use plumb_eval::source::Span;

use super::{Binder, Names};
use crate::expression::Expr;
use crate::resource::{AliasExpr, FormerIdentity, Options};
use crate::syntax::span_of;
use crate::types::{ResourceType, Type};

/// Hook types.
const MOMENTS: [&str; 7] = [
    "beforeCreate",
    "afterCreate",
    "beforeUpdate",
    "afterUpdate",
    "beforeDelete",
    "afterDelete",
    "onError",
];

const OPTIONS: [&str; 21] = [
    "additionalSecretOutputs",
    "aliases",
    "customTimeouts",
    "deleteBeforeReplace",
    "deletedWith",
    "dependsOn",
    "envVarMappings",
    "hideDiffs",
    "ignoreChanges",
    "import",
    "parent",
    "pluginDownloadURL",
    "protect",
    "provider",
    "providers",
    "range",
    "replaceOnChanges",
    "replaceWith",
    "replacementTrigger",
    "retainOnDelete",
    "version",
];

impl Binder<'_> {
    /// Range of the resource, to which later expressions may refer.
    pub(super) fn range(&mut self, options: &Body) -> Option<Expr> {
        let range = self.expression(&options.get_attribute("range")?.value);
        let fits = matches!(
            range.ty.expand(),
            Type::Bool
                | Type::Int
                | Type::Number
                | Type::List(_)
                | Type::Tuple(_)
                | Type::Map(_)
                | Type::Object(_)
                | Type::Dynamic
                | Type::Union(_)
        );
        if !fits {
            let summary = format!(
                "range must be a truth value, a number, a list or a map, not {}",
                range.ty
            );
            self.error(range.span, summary);
        }
        Some(range)
    }

    pub(super) fn options(
        &mut self,
        block: &Block,
        ty: Option<&ResourceType>,
        options: &mut Options,
    ) {
        for structure in &block.body {
            match structure {
                Structure::Attribute(attribute) => self.option(attribute, ty, options),
                Structure::Block(block) => {
                    let what = format!("options have no block '{}'", block.ident.as_str());
                    self.error(span_of(&block.ident), what);
                }
            }
        }
    }

    fn option(&mut self, attribute: &Attribute, ty: Option<&ResourceType>, options: &mut Options) {
        let value = &attribute.value;
        let slot = match attribute.key.as_str() {
            "range" => return,
            "aliases" => {
                options.aliases = self.aliases(value);
                return;
            }
            "ignoreChanges" => {
                options.ignore_changes = self.paths(value, ty);
                return;
            }
            "hideDiffs" => {
                options.hide_diffs = self.paths(value, ty);
                return;
            }
            "replaceOnChanges" => {
                options.replace_on_changes = self.paths(value, ty);
                return;
            }
            "additionalSecretOutputs" => {
                options.additional_secret_outputs = self.paths(value, ty);
                return;
            }
            "parent" => (&mut options.parent, Type::Resource(None)),
            "provider" => (&mut options.provider, Type::Resource(None)),
            "deletedWith" => (&mut options.deleted_with, Type::Resource(None)),
            "providers" => (&mut options.providers, Type::Dynamic),
            "dependsOn" => (&mut options.depends_on, Type::Dynamic),
            "replaceWith" => (&mut options.replace_with, Type::Dynamic),
            "protect" => (&mut options.protect, Type::Bool),
            "retainOnDelete" => (&mut options.retain_on_delete, Type::Bool),
            "deleteBeforeReplace" => (&mut options.delete_before_replace, Type::Bool),
            "import" => (&mut options.import, Type::String),
            "version" => (&mut options.version, Type::String),
            "pluginDownloadURL" => (&mut options.download_url, Type::String),
            "customTimeouts" => (&mut options.custom_timeouts, Type::Dynamic),
            "replacementTrigger" => (&mut options.replacement_trigger, Type::Dynamic),
            "envVarMappings" => {
                let texts = Type::Map(Box::new(Type::String));
                (&mut options.env_var_mappings, texts)
            }
            "hooks" if matches!(self.names, Names::Definitions(_)) => {
                options.hooks = self.hooks(value);
                return;
            }
            "hooks" => {
                let span = span_of(&attribute.key);
                return self.error(
                    span,
                    "hooks are not supported here: they belong to programs",
                );
            }
            other => {
                let summary = format!("a resource has no option '{other}'");
                let span = span_of(&attribute.key);
                return self.wrong_name(span, summary, other, OPTIONS.into_iter());
            }
        };
        let (slot, wanted) = slot;
        let value = self.expression(value);
        self.check(&wanted, &value);
        *slot = Some(value);
    }

    /// Hooks by hook type.
    fn hooks(&mut self, value: &Expression) -> Vec<(EcoString, Expr)> {
        let Expression::Object(object) = value else {
            self.error(span_of(value), "hooks are an object of lists of hooks");
            return Vec::new();
        };
        let mut hooks = Vec::with_capacity(object.len());
        for (key, value) in object {
            let name = match key {
                ObjectKey::Ident(name) => name.as_str(),
                ObjectKey::Expression(key) => key.as_str().unwrap_or_default(),
            };
            if !MOMENTS.contains(&name) {
                let span = span_of(value.expr());
                let summary = format!("there are no hooks '{name}'");
                self.wrong_name(span, summary, name, MOMENTS.into_iter());
                continue;
            }
            let name = EcoString::from(name);
            hooks.push((name, self.expression(value.expr())));
        }
        hooks
    }

    /// List of property paths.
    fn paths(&mut self, list: &Expression, ty: Option<&ResourceType>) -> Vec<EcoString> {
        let Expression::Array(items) = list else {
            self.error(span_of(list), "this must be a list of properties");
            return Vec::new();
        };
        items
            .iter()
            .filter_map(|item| {
                let path = match item {
                    // Snippets may name properties without quotes.
                    Expression::String(_) if matches!(self.names, Names::References(_)) => None,
                    item => path_of(item),
                };
                if path.is_none() {
                    let wanted = "this must be a property, like tags[\"a\"] or spec[0].name";
                    self.error(span_of(item), wanted);
                }
                let (root, path) = path?;
                self.check_root(&root, span_of(item), ty);
                Some(path)
            })
            .collect()
    }

    fn check_root(&mut self, root: &str, span: Span, ty: Option<&ResourceType>) {
        let Some(ty) = ty else { return };
        let inputs = ty.schema.input_properties.keys();
        let known: Vec<&str> = inputs
            .chain(ty.schema.properties.keys())
            .map(String::as_str)
            .collect();
        if !known.contains(&root) && root != "id" {
            let summary = format!("unsupported attribute '{root}'");
            self.wrong_name(span, summary, root, known.into_iter());
        }
    }

    fn aliases(&mut self, list: &Expression) -> Vec<AliasExpr> {
        let Expression::Array(items) = list else {
            self.error(span_of(list), "aliases must be a list");
            return Vec::new();
        };
        items.iter().filter_map(|item| self.alias(item)).collect()
    }

    fn alias(&mut self, item: &Expression) -> Option<AliasExpr> {
        let Expression::Object(object) = item else {
            let urn = self.expression(item);
            self.check(&Type::String, &urn);
            return Some(AliasExpr::Urn(urn));
        };
        let (mut name, mut type_token, mut no_parent, mut parent) = (None, None, None, None);
        for (key, value) in object {
            let ObjectKey::Ident(field) = key else {
                self.error(span_of(item), "the names in an alias stand without quotes");
                return None;
            };
            let value = self.expression(value.expr());
            let slot = match field.as_str() {
                "name" => &mut name,
                "type" => &mut type_token,
                "noParent" => &mut no_parent,
                "parent" => &mut parent,
                other => {
                    let summary = format!("an alias has no '{other}'");
                    let known = ["name", "type", "noParent", "parent"];
                    self.wrong_name(span_of(field), summary, other, known.into_iter());
                    continue;
                }
            };
            *slot = Some(value);
        }
        Some(AliasExpr::Spec(Box::new(FormerIdentity {
            name,
            type_token,
            no_parent,
            parent,
        })))
    }
}

/// First name of a path, and the path as text.
fn path_of(expression: &Expression) -> Option<(String, EcoString)> {
    match expression {
        Expression::String(path) => {
            let root = path.value().split(['.', '[']).next().unwrap_or_default();
            Some((root.to_owned(), path.value().as_str().into()))
        }
        Expression::Variable(name) => Some((name.as_str().to_owned(), name.as_str().into())),
        Expression::Traversal(traversal) => {
            let (root, mut path) = path_of(&traversal.expr)?;
            for operator in &traversal.operators {
                match operator.value() {
                    TraversalOperator::GetAttr(name) => {
                        path.push('.');
                        path.push_str(name.as_str());
                    }
                    TraversalOperator::LegacyIndex(index) => {
                        path.push_str(&format!("[{}]", index.value()));
                    }
                    TraversalOperator::Index(Expression::Number(index)) => {
                        path.push_str(&format!("[{}]", index.value()));
                    }
                    TraversalOperator::Index(Expression::String(name)) => {
                        path.push_str(&format!("[{:?}]", name.value()));
                    }
                    TraversalOperator::FullSplat(_) | TraversalOperator::AttrSplat(_) => {
                        path.push_str("[*]");
                    }
                    TraversalOperator::Index(_) => return None,
                }
            }
            Some((root, path))
        }
        _ => None,
    }
}
