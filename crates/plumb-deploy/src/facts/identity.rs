//! Which old resource a registration continues: URNs and aliases (`engine.md` 4.4).

use plumb_resource::{Alias, AliasParent, AliasSpec, Goal, TypeToken, Urn};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::deployment::Deployment;
use crate::facts::arena::StateIdx;
use crate::facts::urn_flags::UrnFlag;

/// Who has taken over from whom.
#[derive(Debug, Default)]
pub(crate) struct Aliases {
    /// The new URN that claimed an old one.
    pub(crate) claimed: FxHashMap<Urn, Urn>,
    /// The old URN that a new one claimed.
    pub(crate) former: FxHashMap<Urn, Urn>,
    /// Old URNs that a new one claimed, and that stay because a target leaves the resource out.
    pub(crate) kept: FxHashSet<Urn>,
}

/// The old resource that a registration continues.
pub(crate) struct Predecessor {
    pub(crate) state: StateIdx,
    /// Its URN, if it is not the registration's own.
    pub(crate) former_urn: Option<Urn>,
}

impl Deployment {
    /// The URN that `goal` gets.
    pub(crate) fn urn_of(&self, goal: &Goal) -> Urn {
        self.urn_below(goal.parent.as_ref(), &goal.type_token, &goal.name)
    }

    /// The URN of a resource of this stack.
    pub(crate) fn urn_below(&self, parent: Option<&Urn>, token: &TypeToken, name: &str) -> Urn {
        let parent_type = parent.map_or("", Urn::qualified_type);
        let (stack, project) = (&self.ctx.stack, &self.ctx.project);
        Urn::new(stack, project, parent_type, token.as_str(), name)
    }

    /// Finds the old resource of a registration: by its own URN, else by the first alias that names one.
    ///
    /// With it comes a message that names both claimants if another resource lays claim to it too (ALIAS-04).
    pub(crate) fn predecessor(
        &mut self,
        urn: &Urn,
        goal: &Goal,
    ) -> (Option<Predecessor>, Option<String>) {
        let conflict = self.aliases.claimed.get(urn).map(|claimant| {
            format!("Duplicate resource URN '{urn}' conflicting with alias on resource with URN '{claimant}'")
        });
        if let Some(state) = self.urns.of_base(urn) {
            let found = Predecessor {
                state,
                former_urn: None,
            };
            return (Some(found), conflict);
        }
        let Some((state, former)) = self
            .former_urns(urn, goal)
            .into_iter()
            // A view has its owner, and becomes nothing else.
            .filter(|former| !self.views.has(former))
            .find_map(|former| Some((self.urns.of_base(&former)?, former)))
        else {
            return (None, conflict);
        };
        let found = Predecessor {
            state,
            former_urn: Some(former.clone()),
        };
        let claimant = match self.aliases.claimed.get(&former) {
            Some(claimant) => Some(claimant),
            None => self.urns.has(&former, UrnFlag::Seen).then_some(urn),
        };
        if let Some(claimant) = claimant {
            let message = format!(
                "Duplicate resource alias '{former}' applied to resource with URN '{urn}' conflicting with resource \
                 with URN '{claimant}'"
            );
            return (Some(found), Some(message));
        }
        if self.urns.settled(&former).is_some() {
            self.urns.unsettle_all();
        }
        self.aliases.claimed.insert(former.clone(), urn.clone());
        self.aliases.former.insert(urn.clone(), former);
        (Some(found), conflict)
    }

    /// Every former URN that `goal` may have had, in the order of its aliases; those inherited from the parent last.
    pub(crate) fn former_urns(&self, urn: &Urn, goal: &Goal) -> Vec<Urn> {
        let mut formers: Vec<Urn> = Vec::new();
        let mut add = |former: Urn| {
            if former != *urn && !formers.contains(&former) {
                formers.push(former);
            }
        };
        for alias in &goal.aliases {
            add(self.collapse_alias(alias, goal));
        }
        let parent = goal.parent.as_ref();
        if let Some((parent, former_parent)) =
            parent.and_then(|parent| Some((parent, self.aliases.former.get(parent)?)))
        {
            let name = |child: &str| inherited_name(child, parent.name(), former_parent.name());
            let inherit = |token: &str, child: &str| {
                Urn::new(
                    &self.ctx.stack,
                    &self.ctx.project,
                    former_parent.qualified_type(),
                    token,
                    &name(child),
                )
            };
            add(inherit(goal.type_token.as_str(), &goal.name));
            for alias in &goal.aliases {
                match alias {
                    Alias::Urn(former) => add(inherit(former.type_text(), former.name())),
                    Alias::Spec(spec) => {
                        let token = spec.type_token.as_ref().unwrap_or(&goal.type_token);
                        add(inherit(
                            token.as_str(),
                            spec.name.as_ref().unwrap_or(&goal.name),
                        ));
                    }
                }
            }
        }
        formers
    }

    fn collapse_alias(&self, alias: &Alias, goal: &Goal) -> Urn {
        match alias {
            Alias::Urn(urn) => urn.clone(),
            Alias::Spec(AliasSpec {
                name,
                type_token,
                stack,
                project,
                parent,
            }) => {
                let parent = match parent {
                    AliasParent::None => None,
                    AliasParent::Same => goal.parent.as_ref(),
                    // One that was itself renamed had its children under its former type (ALIAS-07).
                    AliasParent::Urn(urn) => Some(self.aliases.former.get(urn).unwrap_or(urn)),
                };
                Urn::new(
                    stack.as_ref().unwrap_or(&self.ctx.stack),
                    project.as_ref().unwrap_or(&self.ctx.project),
                    parent.map_or("", Urn::qualified_type),
                    type_token.as_ref().unwrap_or(&goal.type_token).as_str(),
                    name.as_ref().unwrap_or(&goal.name),
                )
            }
        }
    }

    /// The URN under which an old resource goes on, if it was renamed.
    pub(crate) fn current_urn<'a>(&'a self, urn: &'a Urn) -> &'a Urn {
        if self.aliases.kept.contains(urn) {
            return urn;
        }
        self.registered_as(urn)
    }

    /// The former URN of a resource that keeps it; otherwise `urn` itself.
    pub(crate) fn kept_urn<'a>(&'a self, urn: &'a Urn) -> &'a Urn {
        let former = self.aliases.former.get(urn);
        former
            .filter(|former| self.aliases.kept.contains(*former))
            .unwrap_or(urn)
    }

    /// The URN under which the program registers what was called `urn`; `urn` itself if it was not renamed.
    pub(crate) fn registered_as<'a>(&'a self, urn: &'a Urn) -> &'a Urn {
        self.aliases.claimed.get(urn).unwrap_or(urn)
    }

    /// Whether the program has registered `urn`, under this name or another.
    pub(crate) fn is_registered(&self, urn: &Urn) -> bool {
        self.urns.has(urn, UrnFlag::Seen) || self.aliases.claimed.contains_key(urn)
    }
}

/// The name that a child had below the parent's former name: names that start with the parent's follow it.
fn inherited_name(child: &str, parent: &str, former_parent: &str) -> String {
    match child.strip_prefix(parent) {
        Some(rest) => format!("{former_parent}{rest}"),
        None => child.to_owned(),
    }
}
