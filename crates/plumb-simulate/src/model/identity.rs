//! Lookup of the old resource of a registration (`engine.md` 4.4).

use plumb_resource::{Alias, AliasParent, Urn};

use super::Model;
use crate::story::{PROJECT, Res, STACK, token_of};
use crate::world::alias;

/// Old entry of a registration, and its former URN if it was renamed.
pub(super) struct Found {
    pub(super) node: usize,
    pub(super) former: Option<Urn>,
}

impl Model<'_> {
    /// Old entry of a registration. Fails if another registration, or a snippet that does not run, claims it too.
    pub(super) fn find_old(
        &mut self,
        urn: &Urn,
        res: &Res,
        parent: Option<&Urn>,
    ) -> (Option<Found>, Option<String>) {
        let (found, conflict) = self.claim(urn, res, parent);
        let state = found.as_ref().map(|found| self.state(found.node));
        let of_snippet = state.filter(|state| self.is_not_replayed(state));
        let of_snippet = of_snippet.map(|it| format!("{} is of a snippet", it.urn.name()));
        (found, conflict.or(of_snippet))
    }

    fn claim(
        &mut self,
        urn: &Urn,
        res: &Res,
        parent: Option<&Urn>,
    ) -> (Option<Found>, Option<String>) {
        let candidates = self.former_urns(res, parent);
        self.note_formers(&res.name, &candidates);
        let is_claimed = self.aliased.contains_key(urn);
        let conflict = is_claimed.then(|| format!("{} is claimed by an alias", urn.name()));
        if let Some(node) = self.live_old(urn) {
            return (Some(Found { node, former: None }), conflict);
        }
        let found = candidates
            .into_iter()
            .find_map(|former| Some((self.live_old(&former)?, former)));
        let Some((node, former)) = found else {
            return (None, conflict);
        };
        if self.fate(&former).seen || self.aliased.contains_key(&former) {
            let text = format!("{} is claimed twice", former.name());
            let former = Some(former);
            return (Some(Found { node, former }), Some(text));
        }
        self.coverage.reach("ALIAS-01");
        self.aliased.insert(former.clone(), urn.clone());
        self.former.insert(urn.clone(), former.clone());
        let former = Some(former);
        (Some(Found { node, former }), conflict)
    }

    fn former_urns(&self, res: &Res, parent: Option<&Urn>) -> Vec<Urn> {
        let make = |parent_type: &str, token: &str, name: &str| {
            Urn::new(STACK, PROJECT, parent_type, token, name)
        };
        let qualified = |parent: Option<&Urn>| {
            parent
                .filter(|parent| !parent.is_root_stack())
                .map_or(String::new(), |parent| parent.qualified_type().to_owned())
        };
        let (token, name) = (token_of(&res.type_name), res.name.as_str());
        let mut urns: Vec<Urn> = Vec::new();
        let mut parts: Vec<(String, String)> = vec![(token.to_owned(), name.to_owned())];
        for decl in &res.aliases {
            let urn = match alias(decl) {
                Alias::Urn(urn) => urn,
                Alias::Spec(spec) => {
                    let former_parent = match &spec.parent {
                        AliasParent::None => None,
                        AliasParent::Same => parent.cloned(),
                        AliasParent::Urn(urn) => Some(self.former.get(urn).unwrap_or(urn).clone()),
                    };
                    let token = spec.type_token.as_ref().map_or(token, |it| it.as_str());
                    let name = spec.name.as_deref().unwrap_or(name);
                    make(&qualified(former_parent.as_ref()), token, name)
                }
            };
            parts.push((urn.type_text().to_owned(), urn.name().to_owned()));
            urns.push(urn);
        }
        if let Some((parent, former)) = parent.and_then(|it| Some((it, self.former.get(it)?))) {
            for (token, name) in parts {
                let name = match name.strip_prefix(parent.name()) {
                    Some(rest) => format!("{}{rest}", former.name()),
                    None => name,
                };
                urns.push(make(&qualified(Some(former)), &token, &name));
            }
        }
        urns
    }
}
