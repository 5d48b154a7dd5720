//! Options of resources in Java.

use plumb_pcl::{Options, Resource};

use super::JAVA;
use super::collections::{Setter, builder};
use super::expression::Want;
use super::printer::Form;
use super::statements::Statements;
use crate::kinds::Kind;
use crate::layout::Doc;
use crate::options::{self, AliasTree, OptionTree};
use crate::tree::Resources;

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
        if self.is_component && options.parent.is_none() {
            setters.push(Setter::new("parent", "this".into()));
        }
        for option in lowered {
            setters.extend(self.option(option));
        }
        if !options.hooks.is_empty() {
            self.printer.refuse("hooks of resources");
        }
        if setters.is_empty() {
            return None;
        }
        let is_custom =
            ty.is_some_and(|ty| !ty.schema.is_component) || (ty.is_none() && resource.is_some());
        let name = if is_custom {
            "CustomResourceOptions"
        } else {
            "ComponentResourceOptions"
        };
        let class = self.printer.class(&format!("com.pulumi.resources.{name}"));
        Some(builder(&class, setters))
    }

    fn option(&mut self, option: OptionTree) -> Option<Setter> {
        let (name, args) = match option {
            OptionTree::Value("deletedWith" | "envVarMappings", _) => {
                let OptionTree::Value(name, _) = option else {
                    return None;
                };
                self.printer.refuse(&format!("the option {name}"));
                return None;
            }
            OptionTree::Resources(name, resources) => (name, self.printer.resources(&resources)),
            OptionTree::Value(name @ "providers", tree) => {
                let resources = Resources::Plain(tree.values_as_list());
                (name, self.printer.resources(&resources))
            }
            OptionTree::Value("replacementTrigger", tree) => {
                let value = self.printer.any(&tree);
                let value = self.printer.as_output(value);
                ("replacementTrigger", vec![value.code])
            }
            OptionTree::Value(name, tree) => {
                let want = match name {
                    "protect" | "retainOnDelete" | "deleteBeforeReplace" => Want::Plain(Kind::Bool),
                    "import" | "version" | "pluginDownloadURL" => Want::Plain(Kind::Text),
                    _ => Want::Free,
                };
                let value = self.printer.value(&tree, &want);
                if value.form != Form::Plain {
                    self.printer
                        .refuse(&format!("an output as the option {name}"));
                }
                let name = if name == "import" { "importId" } else { name };
                (name, vec![value.code])
            }
            OptionTree::Paths(name, paths) => {
                let paths = paths.iter().map(|it| Doc::text(JAVA.string(it)));
                (name, paths.collect())
            }
            OptionTree::Aliases(aliases) => {
                let aliases = aliases.into_iter().map(|it| self.alias(it)).collect();
                ("aliases", aliases)
            }
            OptionTree::Timeouts(entries) => {
                let class = self.printer.class("com.pulumi.resources.CustomTimeouts");
                let entries = entries.iter().map(|(name, value)| {
                    let text = self.printer.plain(value, Kind::Text).code;
                    let open = format!("{class}.parseTimeoutString(");
                    Setter::new(name.as_str(), Doc::hugged(&open, text, ")"))
                });
                let entries = entries.collect();
                ("customTimeouts", vec![builder(&class, entries)])
            }
        };
        Some(Setter {
            comments: Vec::new(),
            name: name.to_owned(),
            args,
        })
    }

    fn alias(&mut self, alias: AliasTree) -> Doc {
        let class = self.printer.class("com.pulumi.core.Alias");
        match alias {
            AliasTree::Urn(urn) => {
                let urn = self.printer.plain(&urn, Kind::Text).code;
                Doc::hugged(&format!("{class}.withUrn("), urn, ")")
            }
            AliasTree::Spec {
                name,
                type_token,
                no_parent,
                parent,
            } => {
                let mut setters = Vec::new();
                for (key, value) in [("name", name), ("type", type_token)] {
                    if let Some(value) = value {
                        let value = self.printer.value(&value, &Want::Input(Kind::Text));
                        setters.push(Setter::new(key, value.code));
                    }
                }
                if let Some(parent) = parent {
                    let parent = self.printer.any(&parent);
                    let is_resource =
                        matches!(parent.kind, Kind::Resource(..) | Kind::Component(..));
                    let key = if is_resource { "parent" } else { "parentUrn" };
                    let parent = if is_resource {
                        parent
                    } else {
                        self.printer.as_output(parent)
                    };
                    setters.push(Setter::new(key, parent.code));
                }
                if no_parent {
                    setters.push(Setter {
                        comments: Vec::new(),
                        name: "noParent".to_owned(),
                        args: Vec::new(),
                    });
                }
                builder(&class, setters)
            }
        }
    }
}
