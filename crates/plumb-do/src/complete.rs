//! Shell completion for `do`, from locally available data, without running plugins.

use std::collections::BTreeSet;

use plumb_operate::Context;
use plumb_plugin::PluginKind;
use plumb_plugin::discovery::Cache;
use plumb_schema::{MemberKind, PackageSchema, Properties, SchemaIndex};

use super::shape::{Keeping, Operation, Shape};
use super::subject::{Subject, shown_in};
use super::{package_of, split};
use plumb_operate::packages::Excerpts;

/// Candidates for `word` after the words of `do`, each with a description.
pub fn candidates(words: &[String], word: &str, ctx: &Context) -> Vec<(String, String)> {
    let (subject, rest) = split(words);
    let found = match subject {
        None if word.starts_with('-') => None,
        None => Some(members(word, ctx)),
        Some(subject) => about(subject, &rest, word, ctx),
    };
    found.unwrap_or_default()
}

/// Packages, and the members of the one that `word` names.
fn members(word: &str, ctx: &Context) -> Vec<(String, String)> {
    let mut names: BTreeSet<String> = BTreeSet::new();
    if !word.contains(':') {
        let builtins = plumb_providers::builtins();
        names.extend(builtins.iter().map(|it| it.name().to_owned()));
        let cache = Cache::new(ctx.environment.pulumi_home.join("plugins"));
        let plugins = cache.list().unwrap_or_default();
        let providers = plugins
            .into_iter()
            .filter(|it| it.kind == PluginKind::Resource);
        names.extend(providers.map(|it| it.name));
    }
    if let Some(excerpts) = Excerpts::at_hand(package_of(word), ctx) {
        let index = excerpts.index();
        for kind in [MemberKind::Resource, MemberKind::Function] {
            // Tokens of methods consist of the resource's token, a slash and a name.
            let tokens = index.tokens(kind).filter(|it| !is_method(it));
            names.extend(tokens.map(|token| shown_in(&index.module_of(token), token)));
        }
    }
    names
        .into_iter()
        .map(|name| (name, String::new()))
        .collect()
}

fn is_method(token: &str) -> bool {
    token
        .rsplit(':')
        .next()
        .is_some_and(|name| name.contains('/'))
}

/// Token for `subject`, as users write it.
fn token_of(index: &SchemaIndex, subject: &str) -> Option<String> {
    let mut tokens = [MemberKind::Resource, MemberKind::Function]
        .into_iter()
        .flat_map(|kind| index.tokens(kind));
    let is_meant =
        |token: &&str| *token == subject || shown_in(&index.module_of(token), token) == subject;
    tokens.find(is_meant).map(ToOwned::to_owned)
}

/// Operations of the member named by `subject`, or flags.
fn about(
    subject: &str,
    words: &[String],
    word: &str,
    ctx: &Context,
) -> Option<Vec<(String, String)>> {
    let mut excerpts = Excerpts::at_hand(package_of(subject), ctx)?;
    let token = token_of(excerpts.index(), subject)?;
    let schema = PackageSchema::parse(excerpts.member(&token).ok()?).ok()?;
    let none = Properties::default();
    let (operation, inputs) = match Subject::find(&schema, Some(&token)).ok()? {
        Subject::Function(function) => {
            let inputs = function.inputs.as_ref().map(|it| it.properties.clone());
            (Operation::Invoke, inputs.unwrap_or_default())
        }
        Subject::Resource(resource) => {
            let said = split(words).0.map(ToOwned::to_owned);
            let has = |it: &Operation| *it != Operation::List || resource.list_inputs.is_some();
            let mut known = Operation::OF_RESOURCES.into_iter().filter(has);
            let Some(said) = said else {
                let words = known.map(|it| (it.word().to_owned(), it.about().to_owned()));
                return (!word.starts_with('-')).then(|| words.collect());
            };
            let operation = known.find(|it| it.word() == said)?;
            let inputs = match operation {
                Operation::List => resource.list_inputs.clone().unwrap_or_default(),
                Operation::Read | Operation::Delete => none.clone(),
                _ => resource.input_properties.clone(),
            };
            (operation, inputs)
        }
        Subject::Package | Subject::Module(_) => return None,
    };
    if !word.starts_with('-') {
        return None;
    }
    let shape = Shape::new(operation, Keeping::Stack, &schema, &inputs, &none);
    let listed = shape.flags.into_iter().filter(|flag| flag.is_shown);
    Some(
        listed
            .map(|flag| (format!("--{}", flag.name), flag.about))
            .collect(),
    )
}
