//! Manual edits.

use std::sync::Arc;

use plumb_resource::Urn;
use plumb_state::edit::{
    Broken, BrokenKind, DeleteError, DeleteOptions, Dependents, ImportProblem, LocateError,
    Missing, MoveError, Parents, Protected, RenameError, Selection, StackIdentity, delete,
    delete_all, drop_pending_operations, import_problems, locate, move_resources, rename_resource,
    rename_stack, set_protect, set_taint,
};
use plumb_state::file::{Layout, parse_deployment};
use plumb_state::upgrade::{DefaultProvider, UpgradeError, upgrade};
use plumb_state::{EncryptedSnapshot, Snapshot};
use plumb_value::PropertyMap;

use crate::integrity::snapshot;
use crate::support::{vector, vector_bytes};

fn urn(name: &str) -> Urn {
    Urn::parse(&format!("urn:pulumi:dev::lab::lab:index:Thing::{name}")).unwrap()
}

fn four() -> Snapshot {
    let provider = "urn:pulumi:dev::lab::pulumi:providers:lab::default";
    snapshot(&format!(
        r#"{{"urn":"{provider}","custom":true,"id":"1","type":"pulumi:providers:lab"}},
        {{"urn":"{a}","custom":true,"id":"a","type":"lab:index:Thing","provider":"{provider}::1"}},
        {{"urn":"{b}","custom":true,"id":"b","type":"lab:index:Thing","provider":"{provider}::1","dependencies":["{a}"]}},
        {{"urn":"urn:pulumi:dev::lab::lab:index:Thing$lab:index:Thing::c","custom":true,"id":"c","type":"lab:index:Thing",
            "provider":"{provider}::1","parent":"{a}"}},
        {{"urn":"{d}","custom":true,"id":"d","type":"lab:index:Thing","provider":"{provider}::1","protect":true}}"#,
        a = urn("a"),
        b = urn("b"),
        d = urn("d"),
    ))
}

#[test]
fn deletion_is_refused_while_others_need_the_resource() {
    let mut snapshot = four();
    let before = snapshot.clone();
    let at = locate(&snapshot, &urn("a")).unwrap();
    let Err(DeleteError::HasDependents { dependents, .. }) =
        delete(&mut snapshot, at, DeleteOptions::default())
    else {
        panic!("deleted");
    };
    assert_eq!(
        dependents.iter().map(Urn::name).collect::<Vec<_>>(),
        ["b", "c"]
    );
    assert_eq!(snapshot, before);

    let options = DeleteOptions {
        dependents: Dependents::Delete,
        ..DeleteOptions::default()
    };
    assert_eq!(
        delete(&mut snapshot, at, options).unwrap().resources.len(),
        3
    );
    snapshot.verify().unwrap();
}

#[test]
fn protected_resources_need_force() {
    let mut snapshot = four();
    let at = locate(&snapshot, &urn("d")).unwrap();
    assert!(matches!(
        delete(&mut snapshot, at, DeleteOptions::default()),
        Err(DeleteError::Protected { .. })
    ));
    let with_dependents = DeleteOptions {
        dependents: Dependents::Delete,
        ..DeleteOptions::default()
    };
    assert!(matches!(
        delete(&mut snapshot, 0, with_dependents),
        Err(DeleteError::Protected { .. })
    ));
    assert!(delete_all(&mut snapshot, Protected::Refuse).is_err());
    let deleted = delete(
        &mut snapshot,
        at,
        DeleteOptions {
            protected: Protected::Delete,
            ..DeleteOptions::default()
        },
    );
    assert_eq!(deleted.unwrap().protected().count(), 1);
    assert_eq!(
        delete_all(&mut snapshot, Protected::Refuse)
            .unwrap()
            .resources
            .len(),
        4
    );
}

#[test]
fn a_copy_may_go_while_another_serves_the_dependents() {
    let mut snapshot = four();
    let mut old = snapshot.resources[1].as_ref().clone();
    old.delete = true;
    snapshot.resources.insert(1, old.into());
    assert_eq!(
        locate(&snapshot, &urn("a")),
        Err(LocateError::Ambiguous {
            urn: urn("a"),
            indices: vec![1, 2]
        })
    );
    delete(&mut snapshot, 1, DeleteOptions::default()).unwrap();
    snapshot.verify().unwrap();
}

#[test]
fn what_is_due_for_deletion_is_not_tainted() {
    let mut snapshot = four();
    let mut old = snapshot.resources[1].as_ref().clone();
    old.delete = true;
    snapshot.resources.insert(1, old.into());
    let selected = set_taint(
        &mut snapshot,
        Selection::Named(&[urn("a").to_string()]),
        true,
    );
    assert_eq!(selected, Ok(1));
    let is_tainted = |idx: usize| snapshot.resources[idx].taint;
    assert_eq!((is_tainted(1), is_tainted(2)), (false, true));
}

#[test]
fn protect_and_taint_work_without_the_secrets_manager() {
    let text = vector_bytes("deployment-v3.json");
    let mut sealed: EncryptedSnapshot = parse_deployment(&text)
        .unwrap()
        .try_into_encrypted()
        .unwrap();
    let first = [sealed.opaque().resources[2].urn.to_string()];
    assert_eq!(
        set_taint(&mut sealed, Selection::Named(&first), true),
        Ok(1)
    );
    assert_eq!(sealed.features(), ["taint"]);
    assert_eq!(
        set_taint(&mut sealed, Selection::All, false),
        Ok(sealed.opaque().resources.len())
    );
    let protect =
        |sealed: &mut EncryptedSnapshot, on| set_protect(sealed, Selection::Named(&first), on);
    protect(&mut sealed, true).unwrap();
    assert!(sealed.opaque().resources[2].protect);
    protect(&mut sealed, false).unwrap();
    assert_eq!(
        crate::support::json(&sealed.deployment(Layout::Compact)),
        vector("deployment-v3.json")
    );
    assert_eq!(
        set_protect(
            &mut sealed,
            Selection::Named(&["no".into(), first[0].clone(), "none".into()]),
            true
        ),
        Err(Missing(vec!["no".into(), "none".into()]))
    );
}

#[test]
fn a_renamed_resource_keeps_its_dependents() {
    let mut snapshot = four();
    let at = locate(&snapshot, &urn("a")).unwrap();
    assert_eq!(
        rename_resource(&mut snapshot, at, "b"),
        Err(RenameError::Taken { urn: urn("b") })
    );
    assert_eq!(rename_resource(&mut snapshot, at, "z"), Ok(urn("z")));
    snapshot.verify().unwrap();
    assert_eq!(snapshot.resources[2].dependencies, [urn("z")]);
    assert_eq!(snapshot.resources[3].parent, Some(urn("z")));

    rename_resource(&mut snapshot, 0, "mine").unwrap();
    snapshot.verify().unwrap();
}

#[test]
fn a_rename_leaves_out_properties_that_depend_on_nothing() {
    let mut snapshot = four();
    let dependencies = [
        ("none".into(), [].into()),
        ("some".into(), [urn("a")].into()),
    ];
    Arc::make_mut(&mut snapshot.resources[2]).property_dependencies = dependencies.into();
    let at = locate(&snapshot, &urn("a")).unwrap();
    Arc::make_mut(&mut snapshot.resources[at]).property_dependencies =
        [("none".into(), [].into())].into();
    rename_resource(&mut snapshot, at, "z").unwrap();
    assert_eq!(
        snapshot.resources[2].property_dependencies,
        [("some".into(), [urn("z")].into())].into()
    );
    assert_eq!(
        snapshot.resources[at].property_dependencies,
        [("none".into(), [].into())].into()
    );
}

#[test]
fn a_renamed_stack_takes_everything_along() {
    let mut sealed = parse_deployment(&vector_bytes("deployment-v3.json"))
        .unwrap()
        .try_into_encrypted()
        .unwrap();
    rename_stack(
        &mut sealed,
        &StackIdentity {
            stack: "prod".into(),
            project: Some("other".into()),
        },
    );
    sealed.opaque().verify().unwrap();
    let text = sealed.deployment(Layout::Compact);
    assert!(!text.contains("urn:pulumi:dev::"), "{text}");
    assert!(text.contains("urn:pulumi:prod::other::pulumi:pulumi:Stack::other-prod"));
    assert!(import_problems(sealed.opaque(), "prod").is_empty());
    let problems = import_problems(sealed.opaque(), "dev");
    assert_eq!(
        problems[0].to_string(),
        "resource 'urn:pulumi:prod::other::pulumi:pulumi:Stack::other-prod' is from a different stack (prod != dev)"
    );
    assert!(matches!(problems[0], ImportProblem::ForeignResource { .. }));
    assert_eq!(
        drop_pending_operations(&mut sealed).len(),
        sealed.opaque().pending_operations.len() + 1
    );
}

#[test]
fn old_resources_get_default_providers() {
    let mut old = snapshot(
        r#"{"urn":"urn:pulumi:s::p::pulumi:providers:x::mine","custom":true,"id":"1","type":"pulumi:providers:x",
            "inputs":{"__internal":{},"region":"r"}},
        {"urn":"urn:pulumi:s::p::aws:s3:Bucket::b","custom":true,"id":"b","type":"aws:s3:Bucket"},
        {"urn":"urn:pulumi:s::p::aws:s3:Bucket::c","custom":true,"id":"c","type":"aws:s3:Bucket"}"#,
    );
    let mut asked = Vec::new();
    let mut make = |package: &str, _: Option<&plumb_state::ManifestPlugin>| {
        asked.push(package.to_owned());
        let inputs = PropertyMap::new().with("version", "1.0.0");
        Ok::<_, std::convert::Infallible>(DefaultProvider {
            id: "uuid".into(),
            inputs: inputs.into(),
        })
    };
    assert_eq!(upgrade(&mut old, &mut make), Ok(true));
    old.verify().unwrap();
    assert_eq!(
        old.resources[0].urn.as_str(),
        "urn:pulumi:s::p::pulumi:providers:aws::default"
    );
    assert_eq!(old.resources[1].outputs.len(), 1);
    assert_eq!(upgrade(&mut old, &mut make), Ok(false));
    assert_eq!(asked, ["aws"]);

    let twin = old.resources[2].clone();
    old.resources.push(twin);
    let never = |_: &str, _: Option<&plumb_state::ManifestPlugin>| {
        Err::<DefaultProvider, _>(std::fmt::Error)
    };
    assert!(matches!(
        upgrade(&mut old, never),
        Err(UpgradeError::Duplicate { .. })
    ));
}

fn prod() -> StackIdentity {
    StackIdentity {
        stack: "prod".into(),
        project: Some("shop".into()),
    }
}

#[test]
fn a_resource_moves_with_what_is_below_it_and_a_copy_of_its_provider() {
    let (mut source, mut dest) = (four(), Snapshot::default());
    let moved =
        move_resources(&mut source, &mut dest, &[urn("a")], Parents::Stay, &prod()).unwrap();
    source.verify().unwrap();
    dest.verify().unwrap();
    let names = |snapshot: &Snapshot| -> Vec<String> {
        let urns = snapshot.resources.iter().map(|state| state.urn.as_str());
        urns.map(|urn| urn.trim_start_matches("urn:pulumi:").to_owned())
            .collect()
    };
    assert_eq!(
        names(&dest),
        [
            "prod::shop::pulumi:pulumi:Stack::shop-prod",
            "prod::shop::pulumi:providers:lab::default",
            "prod::shop::lab:index:Thing::a",
            "prod::shop::lab:index:Thing$lab:index:Thing::c",
        ]
    );
    assert_eq!(
        names(&source),
        [
            "dev::lab::pulumi:providers:lab::default",
            "dev::lab::lab:index:Thing::b",
            "dev::lab::lab:index:Thing::d"
        ]
    );
    assert_eq!(
        dest.resources[3].parent.as_ref(),
        Some(&dest.resources[2].urn)
    );
    assert_eq!(
        dest.resources[2]
            .provider
            .as_ref()
            .map(plumb_resource::ProviderRef::urn),
        Some(&dest.resources[1].urn)
    );
    let broken = Broken {
        resource: urn("b"),
        kind: BrokenKind::Dependency,
        dependency: urn("a"),
    };
    assert_eq!(moved.broken_behind, [broken]);
    // Resources without a parent become children of the other root stack resource.
    let root = &dest.resources[0].urn;
    assert_eq!(dest.resources[1].parent.as_ref(), Some(root));
    assert_eq!(dest.resources[2].parent.as_ref(), Some(root));
    assert!(moved.broken_ahead.is_empty() && source.resources[1].dependencies.is_empty());

    // Resources moved later use the provider that was copied first.
    move_resources(&mut source, &mut dest, &[urn("b")], Parents::Stay, &prod()).unwrap();
    dest.verify().unwrap();
    assert_eq!(dest.resources.len(), 5);
    assert_eq!(dest.resources[4].provider, dest.resources[2].provider);
}

#[test]
fn parents_move_only_if_that_is_wanted() {
    let child = Urn::parse("urn:pulumi:dev::lab::lab:index:Thing$lab:index:Thing::c").unwrap();
    let (mut source, mut dest) = (four(), Snapshot::default());
    let urns = [child];
    let moved = move_resources(&mut source, &mut dest, &urns, Parents::Stay, &prod()).unwrap();
    assert_eq!(moved.resources[0].1.qualified_type(), "lab:index:Thing");
    assert_eq!(source.resources.len(), 4);

    let (mut source, mut dest) = (four(), Snapshot::default());
    let moved = move_resources(&mut source, &mut dest, &urns, Parents::Move, &prod()).unwrap();
    assert_eq!(moved.resources.len(), 2);
    dest.verify().unwrap();
}

#[test]
fn a_refused_move_changes_nothing() {
    let provider = Urn::parse("urn:pulumi:dev::lab::pulumi:providers:lab::default").unwrap();
    let (mut source, mut dest) = (four(), four());
    let mut refused = |urns: &[Urn], to: &StackIdentity| {
        let error = move_resources(&mut source, &mut dest, urns, Parents::Stay, to).unwrap_err();
        assert!(source == four() && dest == four());
        error
    };
    let same = StackIdentity {
        stack: "dev".into(),
        project: Some("lab".into()),
    };
    assert_eq!(refused(&[provider], &prod()), MoveError::Provider);
    assert_eq!(refused(&[urn("x")], &prod()), MoveError::Nothing);
    let child = Urn::parse("urn:pulumi:dev::lab::lab:index:Thing$lab:index:Thing::c").unwrap();
    assert_eq!(
        refused(&[urn("a")], &same),
        MoveError::Taken {
            taken: urn("a"),
            planned: vec![urn("a"), child],
        }
    );
}
