//! Options of resources in C#.

use plumb_pcl::{Options, Resource};

use super::CSHARP;
use super::collections::{Member, object};
use super::printer::Form;
use super::statements::Statements;
use crate::kinds::Kind;
use crate::layout::Doc;
use crate::options::{self, AliasTree, OptionTree};
use crate::tree::{Resources, Tree};
use crate::values::Want;

impl Statements<'_, '_> {
    /// Options of a resource; `None` if there are none.
    pub(super) fn options(
        &mut self,
        options: &Options,
        resource: Option<&Resource>,
    ) -> Option<Doc> {
        let ty = resource.and_then(|it| it.ty.as_ref());
        let lowered = options::lower(&mut self.lowering, options, ty);
        let mut members = Vec::with_capacity(lowered.len());
        if self.is_component && options.parent.is_none() {
            members.push(Member::new("Parent", "this".into()));
        }
        for option in lowered {
            members.extend(self.option(option));
        }
        if !options.hooks.is_empty() {
            self.printer.refuse("hooks of resources");
        }
        if members.is_empty() {
            return None;
        }
        let is_custom =
            ty.is_some_and(|ty| !ty.schema.is_component) || (ty.is_none() && resource.is_some());
        let class = if is_custom {
            "new CustomResourceOptions"
        } else {
            "new ComponentResourceOptions"
        };
        Some(object(class, members))
    }

    fn option(&mut self, option: OptionTree) -> Option<Member> {
        Some(match option {
            OptionTree::Value("envVarMappings", _) => {
                self.printer.refuse("the option envVarMappings");
                return None;
            }
            OptionTree::Resources(name, resources) => {
                Member::new(CSHARP.property(name), self.printer.resources(&resources))
            }
            OptionTree::Value(name @ "providers", tree) => {
                let resources = Resources::Plain(tree.values_as_list());
                Member::new(CSHARP.property(name), self.printer.resources(&resources))
            }
            OptionTree::Value("replacementTrigger", tree) => {
                let value = self.printer.value(&tree, &Want::Input(Kind::Any));
                Member::new("ReplacementTrigger", value.code)
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
                let name = match name {
                    "import" => "ImportId".to_owned(),
                    name => CSHARP.property(name),
                };
                Member::new(name, value.code)
            }
            OptionTree::Paths(name, paths) => {
                let paths = paths.iter().map(|it| Doc::text(CSHARP.string(it)));
                let list = Doc::spaced_list("{", paths.collect(), "}");
                Member::new(CSHARP.property(name), list)
            }
            OptionTree::Aliases(aliases) => {
                let aliases = aliases.into_iter().map(|it| self.alias(it)).collect();
                Member::new("Aliases", Doc::spaced_list("{", aliases, "}"))
            }
            OptionTree::Timeouts(entries) => {
                let entries = entries.iter().filter_map(|(name, value)| {
                    let Tree::Text(text) = value else {
                        self.printer.refuse("a timeout that is no literal");
                        return None;
                    };
                    let Some(span) = time_span(text) else {
                        self.printer.refuse(&format!("the timeout {text}"));
                        return None;
                    };
                    Some(Member::new(CSHARP.property(name), span.into()))
                });
                let entries: Vec<Member> = entries.collect();
                self.printer.usings.insert("System");
                Member::new("CustomTimeouts", object("new CustomTimeouts", entries))
            }
        })
    }

    fn alias(&mut self, alias: AliasTree) -> Doc {
        let mut members = Vec::new();
        match alias {
            AliasTree::Urn(urn) => {
                let urn = self.printer.plain(&urn, Kind::Text).code;
                members.push(Member::new("Urn", urn));
            }
            AliasTree::Spec {
                name,
                type_token,
                no_parent,
                parent,
            } => {
                for (key, value) in [("Name", name), ("Type", type_token)] {
                    if let Some(value) = value {
                        let value = self.printer.value(&value, &Want::Input(Kind::Text));
                        members.push(Member::new(key, value.code));
                    }
                }
                if let Some(parent) = parent {
                    let parent = self.printer.any(&parent);
                    let is_resource =
                        matches!(parent.kind, Kind::Resource(..) | Kind::Component(..));
                    let key = if is_resource { "Parent" } else { "ParentUrn" };
                    members.push(Member::new(key, parent.code));
                }
                if no_parent {
                    members.push(Member::new("NoParent", "true".into()));
                }
            }
        }
        let members = members.into_iter().map(|member| {
            let name = format!("{} = ", member.name);
            Doc::Row(vec![name.into(), member.value])
        });
        Doc::spaced_list("new Alias {", members.collect(), "}")
    }
}

/// Expression for a duration such as `1h30m`; `None` if it is malformed.
fn time_span(text: &str) -> Option<String> {
    let seconds = plumb_eval::duration::seconds(text)?;
    let minutes = seconds / 60.0;
    Some(if minutes >= 1.0 && minutes.fract() == 0.0 {
        format!("TimeSpan.FromMinutes({minutes})")
    } else {
        format!("TimeSpan.FromSeconds({seconds})")
    })
}

#[cfg(test)]
mod tests {
    use super::time_span;

    #[test]
    fn durations_become_time_spans() {
        for (text, expected) in [
            ("5m", Some("TimeSpan.FromMinutes(5)")),
            ("1h30m", Some("TimeSpan.FromMinutes(90)")),
            ("1.5s", Some("TimeSpan.FromSeconds(1.5)")),
            ("90s", Some("TimeSpan.FromSeconds(90)")),
            ("5", None),
            ("m", None),
        ] {
            assert_eq!(time_span(text).as_deref(), expected, "{text}");
        }
    }
}
