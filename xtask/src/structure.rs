//! Structure of the deployment core: how many of its files depend on each other.
//!
//! A file calls another if it calls a function or method whose name only the other file defines. Names that the
//! standard library defines too are ignored, so the figures are a lower bound. The output has the largest set of files
//! that all reach each other, the calls between the rooms of `crates/plumb-deploy/src` (its folders, and the files in its
//! root), and the files that call the most others.
//!
//! **A room uses only the rooms before it** in [`ROOMS`]: it neither calls nor imports what a later one defines. The type
//! `Deployment` itself is everybody's, because methods of the core are written for it room by room. A test checks this, and
//! that the largest component stays small.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use syn::visit::{self, Visit};

use crate::behaviours::rust_files;

const CORE: &str = "crates/plumb-deploy/src";
/// Methods of the core whose names the standard library uses too.
const OF_STD: [&str; 18] = [
    "chain",
    "clone",
    "contains",
    "default",
    "end",
    "entry",
    "extend",
    "from",
    "get",
    "get_mut",
    "insert",
    "is_empty",
    "iter",
    "name",
    "next",
    "push",
    "remove",
    "with_capacity",
];
/// The rooms of the core in their order: each may use those before it.
const ROOMS: [&str; 18] = [
    "seeds",
    "ids",
    "request",
    "event",
    "work",
    "setup",
    "facts",
    "step",
    "outbox",
    "report",
    "status",
    "steps",
    "scope",
    "decide",
    "monitor",
    "whole",
    "deployment",
    "lib",
];
/// Lines that may hang together, as a set of files that all reach each other.
#[cfg(test)]
const LARGEST_COMPONENT: usize = 4_000;
/// Number of files to list as callers.
const LISTED: usize = 10;

/// A file: its definitions and its calls.
#[derive(Default)]
struct Source {
    lines: usize,
    methods_of_deployment: usize,
    defines: BTreeSet<String>,
    calls: BTreeMap<String, usize>,
    /// Rooms that it imports something from.
    imports: BTreeSet<String>,
}

impl Source {
    fn note(&mut self, path: &syn::Path) {
        if let Some(last) = path.segments.last() {
            *self.calls.entry(last.ident.to_string()).or_default() += 1;
        }
    }
}

impl<'ast> Visit<'ast> for Source {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        let is_test = module.attrs.iter().any(|it| it.path().is_ident("cfg"));
        if !is_test {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_impl(&mut self, block: &'ast syn::ItemImpl) {
        if let syn::Type::Path(path) = &*block.self_ty
            && path.path.is_ident("Deployment")
        {
            let is_method = |item: &&syn::ImplItem| matches!(item, syn::ImplItem::Fn(_));
            self.methods_of_deployment += block.items.iter().filter(is_method).count();
        }
        visit::visit_item_impl(self, block);
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        self.defines.insert(signature.ident.to_string());
        visit::visit_signature(self, signature);
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let mut paths = Vec::new();
        leaves(&item.tree, &mut Vec::new(), &mut paths);
        self.imports
            .extend(paths.iter().filter_map(|path| imported_room(path)));
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let path_segments: Vec<String> = path
            .segments
            .iter()
            .map(|it| it.ident.to_string())
            .collect();
        self.imports.extend(imported_room(&path_segments));
        visit::visit_path(self, path);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        *self.calls.entry(call.method.to_string()).or_default() += 1;
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let syn::Expr::Path(function) = &*call.func {
            self.note(&function.path);
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        // A function that is passed as a value; a single segment is a variable.
        if path.path.segments.len() > 1 {
            self.note(&path.path);
        }
        visit::visit_expr_path(self, path);
    }
}

/// Every path that a `use` names.
fn leaves(tree: &syn::UseTree, prefix: &mut Vec<String>, paths: &mut Vec<Vec<String>>) {
    match tree {
        syn::UseTree::Path(path) => {
            prefix.push(path.ident.to_string());
            leaves(&path.tree, prefix, paths);
            prefix.pop();
        }
        syn::UseTree::Group(group) => {
            for tree in &group.items {
                leaves(tree, prefix, paths);
            }
        }
        syn::UseTree::Name(syn::UseName { ident })
        | syn::UseTree::Rename(syn::UseRename { ident, .. }) => {
            paths.push(prefix.iter().cloned().chain([ident.to_string()]).collect());
        }
        syn::UseTree::Glob(_) => paths.push(prefix.clone()),
    }
}

/// The room of the core that a path leads to; none for other crates and for the type `Deployment`.
fn imported_room(path: &[String]) -> Option<String> {
    let (start, rest) = path.split_first()?;
    let is_deployment = rest.last().is_some_and(|it| it == "Deployment");
    (start == "crate" && !is_deployment).then(|| rest.first().cloned())?
}

/// All files of the core, by path without extension.
struct Core(BTreeMap<String, Source>);

impl Core {
    fn read(root: &Path) -> Result<Self> {
        let folder = root.join(CORE);
        let mut sources = BTreeMap::new();
        for file in rust_files(&folder)? {
            let text = fs::read_to_string(&file)?;
            let mut source = Source {
                lines: text.lines().count(),
                ..Source::default()
            };
            let parsed = syn::parse_file(&text).with_context(|| file.display().to_string())?;
            source.visit_file(&parsed);
            let name = file.strip_prefix(&folder)?.with_extension("");
            sources.insert(name.to_string_lossy().into_owned(), source);
        }
        Ok(Core(sources))
    }

    /// File that alone defines a name.
    fn definitions(&self) -> BTreeMap<&str, &str> {
        let mut found: BTreeMap<&str, Option<&str>> = BTreeMap::new();
        for (file, source) in &self.0 {
            for name in source
                .defines
                .iter()
                .filter(|it| !OF_STD.contains(&it.as_str()))
            {
                let owner = found.entry(name).or_insert(Some(file));
                if *owner != Some(file) {
                    *owner = None;
                }
            }
        }
        let alone = found.into_iter();
        alone
            .filter_map(|(name, file)| Some((name, file?)))
            .collect()
    }

    /// Number of calls from file to file.
    fn calls(&self) -> BTreeMap<(&str, &str), usize> {
        let definitions = self.definitions();
        let mut calls = BTreeMap::new();
        for (file, source) in &self.0 {
            for (name, count) in &source.calls {
                if let Some(to) = definitions.get(name.as_str()).filter(|to| *to != file) {
                    *calls.entry((file.as_str(), *to)).or_default() += count;
                }
            }
        }
        calls
    }

    /// Rooms that something in an earlier room calls or imports, with that file.
    fn back_arrows(&self) -> BTreeSet<(&str, &str)> {
        let place = |room: &str| ROOMS.iter().position(|it| *it == room);
        let calls = self.calls().into_keys().map(|(from, to)| (from, room(to)));
        let imports = self.0.iter().flat_map(|(file, source)| {
            source
                .imports
                .iter()
                .map(move |room| (file.as_str(), room.as_str()))
        });
        // Names that are no rooms are public items of the crate.
        let rooms = calls.chain(imports).filter(|(_, to)| place(to).is_some());
        rooms
            .filter(|(from, to)| place(room(from)) < place(to))
            .collect()
    }

    /// Files of the largest strongly connected component of calls.
    fn largest_component(&self) -> Vec<&str> {
        let mut graph = DiGraph::<&str, ()>::new();
        let nodes: BTreeMap<&str, NodeIndex> = self
            .0
            .keys()
            .map(|file| (file.as_str(), graph.add_node(file)))
            .collect();
        for (from, to) in self.calls().into_keys() {
            graph.add_edge(nodes[from], nodes[to], ());
        }
        let components = tarjan_scc(&graph).into_iter();
        let files = components.map(|nodes| nodes.into_iter().map(|it| graph[it]).collect());
        files
            .max_by_key(|files: &Vec<&str>| self.lines(files))
            .unwrap_or_default()
    }

    fn lines(&self, files: &[&str]) -> usize {
        files.iter().map(|file| self.0[*file].lines).sum()
    }
}

/// Folder of a file, or the file itself in the root of the crate.
fn room(file: &str) -> &str {
    file.split('/').next().unwrap_or(file)
}

/// Prints the figures.
#[allow(clippy::print_stdout)] // The figures are the output.
pub(crate) fn print(root: &Path) -> Result<()> {
    print!("{}", Core::read(root)?.figures()?);
    Ok(())
}

impl Core {
    fn figures(&self) -> Result<String> {
        let all: Vec<&str> = self.0.keys().map(String::as_str).collect();
        let largest = self.largest_component();
        let methods: usize = self.0.values().map(|it| it.methods_of_deployment).sum();
        let mut text = String::new();
        writeln!(text, "files: {}, lines: {}", all.len(), self.lines(&all))?;
        writeln!(text, "methods of Deployment: {methods}")?;
        let lines = self.lines(&largest);
        writeln!(
            text,
            "largest component: {} files, {lines} lines",
            largest.len()
        )?;
        let calls = self.calls();
        let mut rooms: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        let mut others: BTreeMap<&str, usize> = BTreeMap::new();
        for ((from, to), count) in &calls {
            *others.entry(*from).or_default() += 1;
            if room(from) != room(to) {
                *rooms.entry((room(from), room(to))).or_default() += count;
            }
        }
        writeln!(text, "\ncalls between rooms:")?;
        for ((from, to), count) in rooms {
            writeln!(text, "  {from} -> {to}: {count}")?;
        }
        writeln!(text, "\nuses of later rooms:")?;
        for (from, to) in self.back_arrows() {
            writeln!(text, "  {from} -> {to}")?;
        }
        writeln!(text, "\nfiles that call most others:")?;
        let mut others: Vec<(&str, usize)> = others.into_iter().collect();
        others.sort_by_key(|(file, count)| (Reverse(*count), *file));
        for (file, count) in others.into_iter().take(LISTED) {
            writeln!(text, "  {file}: {count}")?;
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn core() -> Core {
        Core::read(&crate::repository_root()).unwrap()
    }

    #[test]
    fn each_file_stands_in_a_room_that_has_its_place() {
        let core = core();
        let rooms: BTreeSet<&str> = core.0.keys().map(|file| room(file)).collect();
        assert_eq!(rooms, BTreeSet::from(ROOMS));
    }

    #[test]
    fn rooms_use_only_the_rooms_before_them() {
        let core = core();
        let back: Vec<_> = core.back_arrows().into_iter().collect();
        assert!(back.is_empty(), "these use a later room: {back:?}");
    }

    #[test]
    fn no_large_part_of_the_core_hangs_together() {
        let core = core();
        let largest = core.largest_component();
        let lines = core.lines(&largest);
        assert!(
            lines < LARGEST_COMPONENT,
            "{lines} lines hang together: {largest:?}"
        );
    }
}
