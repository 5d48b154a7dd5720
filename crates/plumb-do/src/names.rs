//! Names of a stack's resources in expressions, and `do show-resources`, which lists them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt::Write as _;

use plumb_operate::json::{Indent, pretty};
use plumb_operate::{Context, Error, ExitStatus};
use plumb_state::Snapshot;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::home;

/// Prints the names of the resources of the selected stack.
pub fn show(is_json: bool, ctx: &Context) -> Result<ExitStatus, Error> {
    let home = home::context(ctx)?;
    let ctx = home.as_ref().unwrap_or(ctx);
    let stack = home::stack(ctx)?;
    let state = ctx.load_state(&stack)?;
    let nothing = Snapshot::default();
    let names = names(state.opaque().unwrap_or(&nothing));
    if is_json {
        ctx.printer.data(&pretty(&json!(names), Indent::Two));
    } else {
        ctx.printer.data(&text(&names));
    }
    Ok(ExitStatus::Success)
}

fn text(names: &BTreeMap<String, String>) -> String {
    if names.is_empty() {
        return "(no resources)\n".to_owned();
    }
    let width = names.keys().map(String::len).max().unwrap_or(0).max(4);
    let mut out = format!("{:width$}  URN\n", "NAME");
    for (name, urn) in names {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{name:width$}  {urn}");
    }
    out
}

/// URNs by identifier: a snippet's resource has the snippet's name if it is unique; other resources have their name followed
/// by a part of their URN's digest.
pub fn names(snapshot: &Snapshot) -> BTreeMap<String, String> {
    let mut entries: Vec<(&str, &str, Option<&str>)> = snapshot
        .resources
        .iter()
        .filter(|state| !state.delete && !state.type_token.is_provider())
        .filter(|state| !state.type_token.is_root_stack())
        .map(|state| {
            let uuid = state.snippet_id.as_ref();
            let snippet =
                uuid.and_then(|uuid| snapshot.snippets.iter().find(|it| it.uuid == *uuid));
            let snippet = snippet.map(|it| it.name.as_str());
            (state.urn.as_str(), state.urn.name(), snippet)
        })
        .collect();
    entries.sort_unstable();
    let mut claims: BTreeMap<String, usize> = BTreeMap::new();
    for name in entries.iter().filter_map(|(_, _, snippet)| *snippet) {
        *claims.entry(identifier(name)).or_default() += 1;
    }
    let mut assigned = BTreeMap::new();
    for (urn, name, snippet) in entries {
        if let Some(name) = snippet.map(identifier)
            && claims[&name] == 1
            && let Entry::Vacant(free) = assigned.entry(name)
        {
            free.insert(urn.to_owned());
            continue;
        }
        let name = with_digest(snippet.unwrap_or(name), urn, &assigned);
        assigned.insert(name, urn.to_owned());
    }
    assigned
}

/// The name, followed by the shortest prefix of the digest that makes it unique.
fn with_digest(name: &str, urn: &str, assigned: &BTreeMap<String, String>) -> String {
    let name = identifier(name);
    let digest = hex::encode(Sha256::digest(urn.as_bytes()));
    (6..=digest.len())
        .map(|length| format!("{name}_{}", &digest[..length]))
        .find(|name| !assigned.contains_key(name))
        .unwrap_or_else(|| format!("{name}_{digest}"))
}

/// The name with invalid characters replaced by underscores.
fn identifier(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for char in name.chars() {
        if char.is_ascii_digit() && out.is_empty() {
            out.push('_');
        }
        out.push(if char.is_ascii_alphanumeric() {
            char
        } else {
            '_'
        });
    }
    out
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use plumb_resource::{ResourceKind, ResourceState, Urn};
    use plumb_state::Snippet;

    use super::*;

    fn snapshot(resources: &[(&str, Option<&str>)], snippets: &[(&str, &str)]) -> Snapshot {
        let mut snapshot = Snapshot::default();
        for (urn, snippet) in resources {
            let urn = Urn::parse(urn).unwrap();
            let mut state = ResourceState::new(urn, ResourceKind::Custom);
            state.snippet_id = snippet.map(Into::into);
            snapshot.resources.push(Arc::new(state));
        }
        for (uuid, name) in snippets {
            snapshot.snippets.push(Snippet {
                uuid: (*uuid).into(),
                name: (*name).into(),
                type_token: "t".into(),
                code: "".into(),
                descriptor: plumb_state::SnippetDescriptor::default(),
                references: BTreeMap::new(),
            });
        }
        snapshot
    }

    const BUCKET: &str = "urn:pulumi:dev::proj::aws:s3/bucket:Bucket::bucket";
    const VPC: &str = "urn:pulumi:dev::proj::aws:ec2/vpc:Vpc::vpc";

    fn shown(snapshot: &Snapshot) -> Vec<(String, String)> {
        names(snapshot).into_iter().collect()
    }

    fn pair(name: &str, urn: &str) -> (String, String) {
        (name.to_owned(), urn.to_owned())
    }

    #[test]
    fn resources_of_snippets_have_their_names() {
        let snapshot = snapshot(&[(BUCKET, Some("1"))], &[("1", "my-bucket.v2")]);
        assert_eq!(shown(&snapshot), [pair("my_bucket_v2", BUCKET)]);
    }

    #[test]
    fn others_have_a_digest_behind_their_names() {
        let stack = "urn:pulumi:dev::proj::pulumi:pulumi:Stack::proj-dev";
        let provider = "urn:pulumi:dev::proj::pulumi:providers:aws::default";
        let snapshot = snapshot(&[(stack, None), (provider, None), (BUCKET, None)], &[]);
        assert_eq!(shown(&snapshot), [pair("bucket_d22a6a", BUCKET)]);
    }

    #[test]
    fn nobody_wins_a_name_that_two_claim() {
        let snapshot = snapshot(
            &[(BUCKET, Some("1")), (VPC, Some("2"))],
            &[("1", "it"), ("2", "it")],
        );
        let names = shown(&snapshot);
        assert!(
            names.iter().all(|(name, _)| name.starts_with("it_")),
            "{names:?}"
        );
        assert_eq!(names.len(), 2);
    }

    #[test]
    fn a_taken_digest_grows() {
        let snapshot = snapshot(
            &[(BUCKET, None), (VPC, Some("1"))],
            &[("1", "bucket_d22a6a")],
        );
        assert_eq!(
            shown(&snapshot),
            [pair("bucket_d22a6a", VPC), pair("bucket_d22a6ac", BUCKET)]
        );
    }

    #[test]
    fn identifiers_begin_with_no_digit() {
        for (name, expected) in [
            ("1st", "_1st"),
            ("a-b", "a_b"),
            ("ä", "_"),
            ("_x", "_x"),
            ("", ""),
        ] {
            assert_eq!(identifier(name), expected);
        }
    }
}
