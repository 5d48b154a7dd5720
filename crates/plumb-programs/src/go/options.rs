//! Options of resources in Go.

use plumb_pcl::{Options, Resource};

use super::GO;
use super::expression::Want;
use super::kinds::Kind;
use super::statements::Statements;
use super::syntax::Code;
use crate::options::{self, AliasTree, OptionTree};
use crate::tree::Tree;

impl Statements<'_, '_> {
    pub(super) fn options(&mut self, options: &Options, resource: Option<&Resource>) -> Vec<Code> {
        let ty = resource.and_then(|it| it.ty.as_ref());
        let lowered = options::lower(&mut self.lowering, options, ty);
        let mut codes = Vec::with_capacity(lowered.len());
        if self.is_component && options.parent.is_none() {
            let component = Code::word("component");
            codes.push(Code::call("pulumi.Parent", vec![component]));
        }
        for option in lowered {
            self.option(option, &mut codes);
        }
        codes.extend(self.hooks(options));
        codes
    }

    fn option(&mut self, option: OptionTree, codes: &mut Vec<Code>) {
        match option {
            OptionTree::Value(name, tree) => {
                if let Some(code) = self.value_option(name, &tree) {
                    codes.push(code);
                }
            }
            OptionTree::Resources(name, resources) => {
                let function = if name == "dependsOn" {
                    "pulumi.DependsOn"
                } else {
                    "pulumi.ReplaceWith"
                };
                for list in self.printer.lists_of_resources(&resources) {
                    codes.push(Code::call(function, vec![list]));
                }
            }
            OptionTree::Paths(name, paths) => {
                let function = match name {
                    "ignoreChanges" => "pulumi.IgnoreChanges",
                    "hideDiffs" => "pulumi.HideDiffs",
                    "replaceOnChanges" => "pulumi.ReplaceOnChanges",
                    "additionalSecretOutputs" => "pulumi.AdditionalSecretOutputs",
                    _ => {
                        self.printer.refuse(&format!("the option `{name}`"));
                        return;
                    }
                };
                let paths = paths.iter().map(|path| Code::word(GO.string(path)));
                let list = Code::list("[]string", paths.collect());
                codes.push(Code::call(function, vec![list]));
            }
            OptionTree::Aliases(aliases) => {
                let aliases = aliases.into_iter().map(|it| self.alias(it)).collect();
                let list = Code::list("[]pulumi.Alias", aliases);
                codes.push(Code::call("pulumi.Aliases", vec![list]));
            }
            OptionTree::Timeouts(entries) => {
                let mut fields = Vec::with_capacity(entries.len());
                for (name, tree) in &entries {
                    if !matches!(name.as_str(), "create" | "update" | "delete") {
                        self.printer.refuse(&format!("the timeout `{name}`"));
                        continue;
                    }
                    let value = self.printer.plain(tree, Kind::Text);
                    fields.push((Code::word(GO.property(name)), value));
                }
                let timeouts = Code::keyed("&pulumi.CustomTimeouts", fields, false);
                codes.push(Code::call("pulumi.Timeouts", vec![timeouts]));
            }
        }
    }

    fn value_option(&mut self, name: &str, tree: &Tree) -> Option<Code> {
        let (function, kind) = match name {
            "protect" => ("pulumi.Protect", Some(Kind::Bool)),
            "retainOnDelete" => ("pulumi.RetainOnDelete", Some(Kind::Bool)),
            "deleteBeforeReplace" => ("pulumi.DeleteBeforeReplace", Some(Kind::Bool)),
            "version" => ("pulumi.Version", Some(Kind::Text)),
            "pluginDownloadURL" => ("pulumi.PluginDownloadURL", Some(Kind::Text)),
            "import" => {
                let id = self.printer.plain(tree, Kind::Text);
                let id = Code::call("pulumi.ID", vec![id]);
                return Some(Code::call("pulumi.Import", vec![id]));
            }
            "parent" => ("pulumi.Parent", None),
            "provider" => ("pulumi.Provider", None),
            "deletedWith" => ("pulumi.DeletedWith", None),
            "envVarMappings" => {
                let map = Kind::Map(Box::new(Kind::Text));
                let value = self.printer.plain(tree, map);
                return Some(Code::call("pulumi.EnvVarMappings", vec![value]));
            }
            "providers" => {
                if let Tree::Map(entries) = tree {
                    return Some(self.providers_by_name(entries));
                }
                let Tree::List(items) = tree else {
                    self.printer.refuse("such a value of `providers`");
                    return None;
                };
                let providers = self.printer.resource_codes(items.iter());
                return Some(Code::call("pulumi.Providers", providers));
            }
            "replacementTrigger" => {
                let value = self.printer.expression(tree, &Want::Input(Kind::Any));
                return Some(Code::call("pulumi.ReplacementTrigger", vec![value]));
            }
            _ => {
                self.printer.refuse(&format!("the option `{name}`"));
                return None;
            }
        };
        let value = if let Some(kind) = kind {
            self.printer.plain(tree, kind)
        } else {
            let value = self.printer.any(tree);
            if !matches!(value.kind, Kind::Resource(..) | Kind::Component(..)) {
                self.printer.refuse(&format!("such a value of `{name}`"));
            }
            value.code
        };
        Some(Code::call(function, vec![value]))
    }

    fn providers_by_name(&mut self, entries: &[(Tree, Tree)]) -> Code {
        let mut fields = Vec::with_capacity(entries.len());
        for (key, provider) in entries {
            let key = self.printer.plain(key, Kind::Text);
            let provider = self.printer.any(provider);
            if !matches!(provider.kind, Kind::Resource(..)) {
                self.printer.refuse("such a value of `providers`");
            }
            fields.push((key, provider.code));
        }
        let map = Code::keyed("map[string]pulumi.ProviderResource", fields, false);
        Code::call("pulumi.ProviderMap", vec![map])
    }

    fn alias(&mut self, alias: AliasTree) -> Code {
        let mut fields = Vec::new();
        match alias {
            AliasTree::Urn(urn) => {
                let urn = self.printer.plain(&urn, Kind::Text);
                let urn = Code::call("pulumi.URN", vec![urn]);
                fields.push((Code::word("URN"), urn));
            }
            AliasTree::Spec {
                name,
                type_token,
                no_parent,
                parent,
            } => {
                for (field, tree) in [("Name", name), ("Type", type_token)] {
                    if let Some(tree) = tree {
                        let want = Want::Input(Kind::Text);
                        let value = self.printer.expression(&tree, &want);
                        fields.push((Code::word(field), value));
                    }
                }
                if let Some(parent) = parent {
                    let parent = self.printer.any(&parent);
                    let field = if matches!(parent.kind, Kind::Resource(..) | Kind::Component(..)) {
                        "Parent"
                    } else {
                        self.printer.refuse("such a parent in an alias");
                        "Parent"
                    };
                    fields.push((Code::word(field), parent.code));
                }
                if no_parent {
                    let flag = Code::call("pulumi.Bool", vec![Code::word("true")]);
                    fields.push((Code::word("NoParent"), flag));
                }
            }
        }
        Code::keyed("", fields, false)
    }
}
