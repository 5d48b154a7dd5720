//! Arguments of modules that depend on the module's own outputs: the module of a bucket is given a policy that names the
//! bucket. Terraform orders single variables and outputs, so this is no cycle there. A component waits for all of its inputs
//! before it has outputs, so one reference of each cycle is left out.

use std::collections::{BTreeMap, BTreeSet};

use hcl_edit::expr::{Expression, Traversal, TraversalOperator};
use hcl_edit::structure::{Attribute, Block, BlockLabel};
use hcl_edit::visit::{Visit, visit_attr, visit_block, visit_traversal};

use crate::names::Declared;
use crate::source::ModuleSource;

/// References of a module's declarations.
type Needs = BTreeMap<Declared, BTreeSet<Declared>>;

/// The references that have to be left out of calls: the name of the call, and the declaration it refers to.
pub(crate) fn circles(source: &ModuleSource) -> BTreeSet<(String, Declared)> {
    let mut needs = Needs::new();
    for file in &source.files {
        for block in file.body.blocks() {
            add_block(block, &mut needs);
        }
    }
    let calls: Vec<String> = needs
        .keys()
        .filter_map(|it| match it {
            Declared::Call(name) => Some(name.clone()),
            _ => None,
        })
        .collect();
    let mut found = BTreeSet::new();
    for name in calls {
        let call = Declared::Call(name.clone());
        for needed in needs.get(&call).cloned().unwrap_or_default() {
            if reaches(&needs, &needed, &call) {
                if let Some(direct) = needs.get_mut(&call) {
                    direct.remove(&needed);
                }
                found.insert((name.clone(), needed));
            }
        }
    }
    found
}

fn add_block(block: &Block, needs: &mut Needs) {
    let labels: Vec<&str> = block.labels.iter().map(BlockLabel::as_str).collect();
    let declared = match (block.ident.as_str(), &labels[..]) {
        ("locals", []) => {
            for attribute in block.body.attributes() {
                let name = attribute.key.as_str().to_owned();
                let mut references = References::default();
                references.visit_attr(attribute);
                needs.insert(Declared::Local(name), references.found);
            }
            return;
        }
        ("resource", [kind, name]) => resource(kind, name),
        ("data", [kind, name]) => data(kind, name),
        ("module", [name]) => Declared::Call((*name).to_owned()),
        _ => return,
    };
    let mut references = References::default();
    references.visit_block(block);
    needs.insert(declared, references.found);
}

fn resource(kind: &str, name: &str) -> Declared {
    Declared::Resource(kind.to_owned(), name.to_owned())
}

fn data(kind: &str, name: &str) -> Declared {
    Declared::Data(kind.to_owned(), name.to_owned())
}

/// The declaration that a reference with this root and these attributes may mean.
pub(crate) fn declaration(root: &str, path: &[&str]) -> Option<Declared> {
    Some(match (root, path) {
        ("local", [name, ..]) => Declared::Local((*name).to_owned()),
        ("module", [name, ..]) => Declared::Call((*name).to_owned()),
        ("data", [kind, name, ..]) => data(kind, name),
        ("var" | "each" | "count" | "self" | "path" | "terraform", _) => return None,
        (kind, [name, ..]) => resource(kind, name),
        (_, []) => return None,
    })
}

/// Whether `from` is `to`, or needs it by way of others.
fn reaches(needs: &Needs, from: &Declared, to: &Declared) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(next) = open.pop() {
        if next == to {
            return true;
        }
        if seen.insert(next) {
            open.extend(needs.get(next).into_iter().flatten());
        }
    }
    false
}

/// Collects the declarations that expressions may refer to.
#[derive(Default)]
struct References {
    found: BTreeSet<Declared>,
}

impl Visit for References {
    fn visit_attr(&mut self, node: &Attribute) {
        visit_attr(self, node);
    }

    fn visit_block(&mut self, node: &Block) {
        visit_block(self, node);
    }

    fn visit_traversal(&mut self, node: &Traversal) {
        if let Expression::Variable(root) = &node.expr {
            let path: Vec<&str> = node
                .operators
                .iter()
                .map_while(|it| match it.value() {
                    TraversalOperator::GetAttr(name) => Some(name.as_str()),
                    _ => None,
                })
                .collect();
            self.found.extend(declaration(root.as_str(), &path));
        }
        visit_traversal(self, node);
    }
}
