//! A sample store in upstream's format.

use plumb_state::magic_of;

use super::{World, options, owner, resources, stack};
use crate::backend::{Backend, Loaded, RemoveOptions};
use crate::compression::Compression;
use crate::error::BackendError;
use crate::history::Page;
use crate::store::StoreOptions;
use crate::summary::StackFilter;

#[test]
fn stacks_are_listed_with_time_and_count() {
    let world = World::sample();
    let listed = world
        .backend()
        .list_stacks(&StackFilter::default())
        .unwrap();
    let shown: Vec<(String, Option<usize>, bool)> = listed
        .iter()
        .map(|summary| {
            (
                summary.stack.qualified(),
                summary.resource_count,
                summary.last_update.is_some(),
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("organization/proj/dev".to_owned(), Some(9), true),
            ("organization/proj/zipped".to_owned(), Some(0), true)
        ]
    );
    let tagged = |value: Option<&str>| {
        let tag = Some(("owner".to_owned(), value.map(str::to_owned)));
        world
            .backend()
            .list_stacks(&StackFilter { tag, project: None })
            .unwrap()
            .len()
    };
    assert_eq!(
        (tagged(None), tagged(Some("team-a")), tagged(Some("x"))),
        (1, 1, 0)
    );
}

#[test]
fn plain_and_packed_state_is_read() {
    let world = World::sample();
    let backend = world.backend();
    assert_eq!(resources(&backend, &stack("dev")).len(), 9);
    let Loaded::Checkpoint(zipped) = backend.load(&stack("zipped")).unwrap() else {
        panic!("no journal there")
    };
    let manifest = zipped.latest.unwrap().opaque().manifest.clone();
    assert_eq!(
        magic_of("v3.260.0"),
        "7dff0d166258e7f1d265e8e044021ea087795d58a0c6415ab6fe8b7c790e447f"
    );
    assert_eq!(manifest.version, "v3.260.0");
    assert!(matches!(
        backend.load(&stack("none")),
        Err(BackendError::NoStack { .. })
    ));
    assert_eq!(backend.tags(&stack("dev")).unwrap()["owner"], "team-a");
    let link = backend.permalink(&stack("dev")).unwrap().unwrap();
    assert!(
        link.starts_with("file:///") && link.ends_with("/.pulumi/stacks/proj/dev.json"),
        "{link}"
    );
}

#[test]
fn history_is_paged() {
    let world = World::sample();
    let history = world.backend().history(&stack("dev"), None).unwrap();
    assert_eq!(history.len(), 1);
    assert_eq!(
        (history[0].kind.as_str(), history[0].result.as_str()),
        ("update", "succeeded")
    );
    assert_eq!(history[0].resource_changes.as_ref().unwrap()["create"], 8);
    let second = Page {
        size: 10,
        number: 2,
    };
    assert!(
        world
            .backend()
            .history(&stack("dev"), Some(second))
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_locked_stack_can_be_updated_only_after_cancel() {
    let world = World::sample();
    let backend = world.backend();
    let error = backend
        .begin_update(&stack("dev"), "u1")
        .map(|_| ())
        .unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with(
            "the stack is currently locked by 1 lock(s). Either wait for the other process(es) to end or delete the \
             lock file with `pulumi cancel`.\n  file:///"
        ),
        "{text}"
    );
    let tail = "3f2504e0-4f89-41d3-9a0c-0305e82c3301.json: created by ci@build-7 (pid 4242) at 2025-01-02T03:04:05.678901234Z";
    assert!(text.ends_with(tail), "{text}");
    assert!(matches!(
        backend.remove_stack(&stack("dev"), RemoveOptions::default()),
        Err(BackendError::Locked { .. })
    ));
    assert_eq!(backend.cancel(&stack("dev")).unwrap().locks.len(), 1);
    let update = backend.begin_update(&stack("dev"), "u1").unwrap();
    assert_eq!(
        update
            .base()
            .latest
            .as_ref()
            .unwrap()
            .opaque()
            .resources
            .len(),
        9
    );
    assert!(update.notes().is_empty());
    let before = world.read(".pulumi/stacks/proj/dev.json");
    update.finish(None, None).unwrap();
    assert_eq!(
        world.read(".pulumi/stacks/proj/dev.json"),
        before,
        "nothing was recorded, nothing changes"
    );
    assert!(
        world
            .names(".pulumi/locks/organization/proj/dev")
            .is_empty()
    );
    assert!(world.names(".pulumi/journals/proj/dev").is_empty());
}

#[test]
fn saving_with_another_compression_moves_the_file() {
    let world = World::sample();
    for (compression, name) in [
        (Compression::Zstd, "zipped.json.zst"),
        (Compression::None, "zipped.json"),
    ] {
        let backend = world.backend_with(StoreOptions {
            compression,
            ..options()
        });
        let update = backend.begin_update(&stack("zipped"), "u").unwrap();
        super::record(&update, &["a"]);
        update.finish(None, None).unwrap();
        let variants: Vec<String> = world
            .names(".pulumi/stacks/proj")
            .into_iter()
            .filter(|n| n.starts_with("zipped") && !n.contains(".bak"))
            .collect();
        assert_eq!(variants, [name]);
        assert!(resources(&backend, &stack("zipped")).contains(&"a".to_owned()));
    }
    assert!(world.exists(".pulumi/stacks/proj/zipped.json.gz.bak"));
    assert!(world.exists(".pulumi/stacks/proj/zipped.json.zst.bak"));
}

#[test]
fn the_owner_is_written_as_upstream_does() {
    let world = World::sample();
    let backend = world.backend();
    let update = backend.begin_update(&stack("zipped"), "u").unwrap();
    let names = world.names(".pulumi/locks/organization/proj/zipped");
    let lock = world.read(&format!(
        ".pulumi/locks/organization/proj/zipped/{}",
        names[0]
    ));
    assert!(lock.starts_with(&format!(
        "{{\"pid\":{},\"username\":\"alice\",\"hostname\":\"here\",\"timestamp\":\"",
        owner().pid
    )));
    drop(update);
    assert!(
        world
            .names(".pulumi/locks/organization/proj/zipped")
            .is_empty()
    );
}
