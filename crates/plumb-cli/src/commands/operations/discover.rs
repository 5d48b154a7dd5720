//! `import --discover`: resources that exist and are in no stack.
//!
//! 1. The provider lists the resources of the type, as for `do TYPE list`.
//! 2. What a stack of the backend has already is left out, and what `--filter` does not match.
//! 3. The user chooses: on a terminal from a list, elsewhere all with `--yes`. Without either, the list is printed.
//! 4. The chosen resources are imported like those of a file.

use std::collections::BTreeSet;

use plumb_backend::StackFilter;
use plumb_operate::json::wants_json;
use plumb_operate::json::{Indent, pretty};
use plumb_operate::operations::{DiscoveredResource, ImportSource};
use plumb_operate::table::Table;
use plumb_operate::{Context, Error, prompt};
use plumb_resource::provider::ListedObject;
use regex::Regex;
use serde_json::json;

use super::args::ImportArgs;

/// The resources of the type or its short name `word` that are imported; `None` if there are none, or if they were only shown.
pub(super) fn chosen(
    word: &str,
    args: &ImportArgs,
    ctx: &Context,
) -> Result<Option<ImportSource>, Error> {
    let is_wanted = Filter::new(args.filter.as_deref())?;
    let (token, objects) = plumb_do::listed(word, &args.arguments, ctx)?;
    let known = ids_in_stacks(&token, ctx)?;
    let found: Vec<_> = objects
        .into_iter()
        .filter(|it| !known.contains(it.id.as_str()) && is_wanted.matches(it))
        .collect();
    let chosen = choose(&token, found, args, ctx)?;
    Ok(chosen.map(|chosen| ImportSource::Discovered(named(&token, &chosen))))
}

/// The expression of `--filter`.
struct Filter(Option<Regex>);

impl Filter {
    fn new(text: Option<&str>) -> Result<Self, Error> {
        let regex = text.map(Regex::new).transpose();
        let regex = regex.map_err(|error| Error::user(format!("--filter: {error}")))?;
        Ok(Filter(regex))
    }

    fn matches(&self, object: &ListedObject) -> bool {
        let regex = self.0.as_ref();
        regex.is_none_or(|it| it.is_match(&object.name) || it.is_match(&object.id))
    }
}

/// IDs of the resources of a type that the stacks of the backend have.
fn ids_in_stacks(token: &str, ctx: &Context) -> Result<BTreeSet<String>, Error> {
    let mut ids = BTreeSet::new();
    for summary in ctx.backend()?.list_stacks(&StackFilter::default())? {
        let stack = ctx.stack_of(summary.stack)?;
        let state = ctx.load_state(&stack)?;
        let resources = state.opaque().map(|it| &it.resources);
        let resources = resources.into_iter().flatten();
        let same_type = resources.filter(|it| it.urn.type_text() == token);
        ids.extend(same_type.map(|it| it.id.as_str().to_owned()));
    }
    Ok(ids)
}

/// The resources to import; `None` if there are none, or if they were only shown.
fn choose(
    token: &str,
    found: Vec<ListedObject>,
    args: &ImportArgs,
    ctx: &Context,
) -> Result<Option<Vec<ListedObject>>, Error> {
    if found.is_empty() {
        let text = format!("There is no resource of the type {token} that is in no stack.");
        ctx.printer.info(&text);
        return Ok(None);
    }
    if args.yes {
        return Ok(Some(found));
    }
    if ctx.is_interactive() {
        let choices = found.iter().map(described).collect();
        let chosen = prompt::select_some("Which of these shall be imported?", choices)?;
        let chosen: Vec<_> = chosen.into_iter().map(|at| found[at].clone()).collect();
        return Ok((!chosen.is_empty()).then_some(chosen));
    }
    if args.preview_only || args.skip_preview {
        return Ok(Some(found));
    }
    show(token, &found, args, ctx)?;
    Ok(None)
}

fn described(object: &ListedObject) -> String {
    if object.name.is_empty() || object.name == object.id {
        return object.id.to_string();
    }
    format!("{} ({})", object.name, object.id)
}

fn show(
    token: &str,
    found: &[ListedObject],
    args: &ImportArgs,
    ctx: &Context,
) -> Result<(), Error> {
    if wants_json(args.common.json, &args.common.output)? {
        let found = found.iter();
        let found = found
            .map(|it| json!({ "type": token, "name": it.name.as_str(), "id": it.id.as_str() }));
        let found: Vec<_> = found.collect();
        ctx.printer.data(&pretty(&found, Indent::Two));
        return Ok(());
    }
    let mut table = Table::new(["NAME", "ID"]);
    for object in found {
        table.row([object.name.to_string(), object.id.to_string()]);
    }
    ctx.printer.styled(&table.render());
    let text = "Run the command with --yes to import them, or with --filter to leave some out.";
    ctx.printer.info(text);
    Ok(())
}

/// The resources to import; objects of the same name are called by their ids.
fn named(token: &str, chosen: &[ListedObject]) -> Vec<DiscoveredResource> {
    let count = |name: &str| chosen.iter().filter(|it| it.name == name).count();
    let name = |object: &ListedObject| match object.name.as_str() {
        "" => object.id.to_string(),
        name if count(name) > 1 => object.id.to_string(),
        name => name.to_owned(),
    };
    let chosen = chosen.iter();
    let resources = chosen.map(|it| DiscoveredResource {
        type_token: token.to_owned(),
        name: name(it),
        id: it.id.to_string(),
    });
    resources.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(id: &str, name: &str) -> ListedObject {
        ListedObject {
            id: id.into(),
            name: name.into(),
        }
    }

    #[test]
    fn objects_without_a_name_of_their_own_are_called_by_their_ids() {
        let chosen = [
            object("1", "a"),
            object("2", "b"),
            object("3", "b"),
            object("4", ""),
        ];
        let names = named("t", &chosen).into_iter().map(|it| it.name);
        let names: Vec<_> = names.collect();
        assert_eq!(names, ["a", "2", "3", "4"]);
    }

    #[test]
    fn a_filter_looks_at_names_and_ids() {
        let filter = Filter::new(Some("^logs")).unwrap();
        assert!(filter.matches(&object("1", "logs-a")));
        assert!(filter.matches(&object("logs-a", "")));
        assert!(!filter.matches(&object("1", "my-logs")));
        assert!(Filter::new(Some("(")).is_err());
    }
}
