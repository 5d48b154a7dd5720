//! Options of resources in Rust.

use plumb_pcl::{Options, Resource};

use super::RUST;
use super::collections::{Setter, builder};
use super::functions::literal;
use super::statements::Statements;
use crate::kinds::Kind;
use crate::layout::Doc;
use crate::options::{self, AliasTree, OptionTree};
use crate::tree::{Resources, Tree};

impl Statements<'_, '_> {
    /// Options of a resource; `None` if there are none.
    pub(super) fn options(
        &mut self,
        options: &Options,
        resource: Option<&Resource>,
    ) -> Option<Doc> {
        let ty = resource.and_then(|it| it.ty.as_ref());
        let lowered = options::lower(&mut self.lowering, options, ty);
        let mut setters = Vec::with_capacity(lowered.len());
        for option in lowered {
            self.option(option, &mut setters);
        }
        for (moment, hooks) in options::hooks(&mut self.lowering, options) {
            self.hooks(&moment, &hooks, &mut setters);
        }
        (!setters.is_empty()).then(|| builder("opts()", setters))
    }

    fn option(&mut self, option: OptionTree, setters: &mut Vec<Setter>) {
        let setter = match option {
            OptionTree::Resources("replaceWith", Resources::Plain(tree)) => {
                for resource in Self::items(tree) {
                    let resource = self.printer.resource(&resource);
                    setters.push(Setter::new("replace_with", vec![resource]));
                }
                return;
            }
            OptionTree::Resources("replaceWith", Resources::Mixed(_)) => {
                self.printer
                    .refuse("all resources of a range in `replaceWith`");
                return;
            }
            OptionTree::Resources(name, resources) => {
                for list in self.printer.lists_of_resources(&resources) {
                    setters.push(Setter::new(RUST.property(name), vec![list]));
                }
                return;
            }
            OptionTree::Value("providers", tree) => {
                let list = self.printer.resources(&tree.values_as_list());
                Setter::new("providers", vec![list])
            }
            OptionTree::Value("envVarMappings", Tree::Map(entries)) => {
                for (known, new) in entries {
                    let args = vec![self.printer.text(&known), self.printer.text(&new)];
                    setters.push(Setter::new("env_var_mapping", args));
                }
                return;
            }
            OptionTree::Value("replacementTrigger", tree) => {
                let value = self.printer.any_argument(&tree);
                Setter::new("replacement_trigger", vec![value])
            }
            OptionTree::Value(name @ ("parent" | "provider" | "deletedWith"), tree) => {
                let resource = self.printer.resource(&tree);
                Setter::new(RUST.property(name), vec![resource])
            }
            OptionTree::Value(
                name @ ("protect" | "retainOnDelete" | "deleteBeforeReplace"),
                tree,
            ) => {
                let flag = self.printer.owned(&tree, Kind::Bool);
                Setter::new(RUST.property(name), vec![flag])
            }
            OptionTree::Value(name @ ("import" | "version" | "pluginDownloadURL"), tree) => {
                let text = self.printer.text(&tree);
                let name = match name {
                    "pluginDownloadURL" => "plugin_download_url",
                    name => name,
                };
                Setter::new(name, vec![text])
            }
            OptionTree::Value(name, _) => {
                self.printer.refuse(&format!("the option {name}"));
                return;
            }
            OptionTree::Paths(name, paths) => {
                let paths = paths.iter().map(|it| literal(it)).collect();
                Setter::new(RUST.property(name), vec![Doc::list("[", paths, "]")])
            }
            OptionTree::Aliases(aliases) => {
                let aliases = aliases.into_iter().map(|it| self.alias(it)).collect();
                Setter::new("aliases", vec![Doc::list("[", aliases, "]")])
            }
            OptionTree::Timeouts(entries) => {
                let class = self.printer.import("plumb::Timeouts");
                let mut fields = Vec::with_capacity(entries.len() + 1);
                for (name, value) in &entries {
                    let text = self.printer.owned(value, Kind::Text);
                    let open = format!("{name}: Some(");
                    fields.push(Doc::hugged(&open, text, ")"));
                }
                // The last part of a struct has no comma behind it.
                fields.push(format!("..{class}::default()").into());
                let fields = Doc::arguments(&format!("{class} {{ "), fields, " }");
                Setter::new("timeouts", vec![fields])
            }
        };
        setters.push(setter);
    }

    fn items(tree: Tree) -> Vec<Tree> {
        match tree {
            Tree::List(items) => items,
            other => vec![other],
        }
    }

    fn alias(&mut self, alias: AliasTree) -> Doc {
        match alias {
            AliasTree::Urn(urn) => {
                let urn = self.printer.text(&urn);
                Doc::hugged("Alias::urn(", urn, ")")
            }
            AliasTree::Spec {
                name,
                type_token,
                no_parent,
                parent,
            } => {
                let start = match name {
                    Some(name) => {
                        let name = self.printer.text(&name);
                        Doc::hugged("Alias::name(", name, ")")
                    }
                    None => "Alias::new()".into(),
                };
                let mut setters = Vec::new();
                if let Some(token) = type_token {
                    setters.push(Setter::new("token", vec![self.printer.text(&token)]));
                }
                if let Some(parent) = parent {
                    setters.push(Setter::new("parent", vec![self.printer.resource(&parent)]));
                }
                if no_parent {
                    setters.push(Setter::new("no_parent", Vec::new()));
                }
                Doc::Row(vec![start, builder("", setters)])
            }
        }
    }
}
