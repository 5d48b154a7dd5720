//! Conformance suite for implementations of [`Bucket`].
//!
//! Call [`check`] with an empty bucket. A failure is a panic that names the violated rule, as in tests.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::bucket::{Bucket, Version};
use crate::error::BucketError;

/// Checks all rules.
pub fn check(bucket: &dyn Bucket) {
    check_one_at_a_time(bucket);
    of_many_who_write_at_once_one_wins(bucket);
}

/// Checks the rules for a single caller, which are all that emulators of stores may satisfy.
pub fn check_one_at_a_time(bucket: &dyn Bucket) {
    objects_are_read_as_they_were_written(bucket);
    the_start_of_an_object_is_read_alone(bucket);
    an_object_is_made_only_once(bucket);
    an_object_is_replaced_in_its_version_only(bucket);
    objects_are_copied_moved_and_removed(bucket);
    listings_show_folders(bucket);
    listings_show_changes(bucket);
    listings_are_current_and_complete(bucket);
    illegal_keys_are_refused(bucket);
    journals_are_made_once(bucket);
}

fn get(bucket: &dyn Bucket, key: &str) -> Option<Vec<u8>> {
    bucket.get(key).expect("reading works")
}

fn version(bucket: &dyn Bucket, key: &str) -> Version {
    let found = bucket.get_versioned(key).expect("reading works");
    found.expect("the object is there").version
}

fn keys(entries: Vec<crate::Entry>) -> Vec<String> {
    entries.into_iter().map(|entry| entry.key).collect()
}

fn objects_are_read_as_they_were_written(bucket: &dyn Bucket) {
    assert_eq!(get(bucket, "io/none"), None, "a missing object is none");
    let large: Vec<u8> = (0..300_000_u32).map(|it| (it % 251) as u8).collect();
    let contents: [&[u8]; 4] = [b"", b"text", &[0, 159, 146, 150], &large];
    for content in contents {
        bucket.put("io/a", content).expect("writing works");
        assert_eq!(get(bucket, "io/a").as_deref(), Some(content));
        bucket.put_relaxed("io/b", content).expect("writing works");
        assert_eq!(get(bucket, "io/b").as_deref(), Some(content));
    }
    // Characters that URLs escape.
    let odd = "io/p.r_o-j/a b+c%2F=@:,~é";
    bucket.put(odd, b"odd").expect("writing works");
    assert_eq!(get(bucket, odd).as_deref(), Some(&b"odd"[..]));
    assert!(keys(bucket.list("io/p.r_o-j").expect("listing works")).contains(&odd.to_owned()));
    let wanted = ["io/a", "io/none", "io/b"].map(str::to_owned);
    let found = bucket.get_all(&wanted).expect("reading works");
    let lengths: Vec<Option<usize>> = found.iter().map(|it| it.as_ref().map(Vec::len)).collect();
    assert_eq!(lengths, [Some(large.len()), None, Some(large.len())]);
}

fn the_start_of_an_object_is_read_alone(bucket: &dyn Bucket) {
    let start = |key: &str| bucket.get_start(key, 4).expect("reading works");
    for content in [&b""[..], b"abc", b"abcd", b"abcdefgh"] {
        bucket.put("start/a", content).expect("writing works");
        let found = start("start/a").expect("the object exists");
        assert!(content.starts_with(&found), "{found:?} begins {content:?}");
        assert!(
            found.len() >= content.len().min(4),
            "all that was asked for"
        );
    }
    assert_eq!(start("start/none"), None, "a missing object is none");
}

fn an_object_is_made_only_once(bucket: &dyn Bucket) {
    assert!(bucket.put_if_absent("once/a", b"1").expect("writing works"));
    assert!(!bucket.put_if_absent("once/a", b"2").expect("writing works"));
    assert_eq!(get(bucket, "once/a").as_deref(), Some(&b"1"[..]));
    bucket.delete("once/a").expect("removing works");
    assert!(
        bucket.put_if_absent("once/a", b"3").expect("writing works"),
        "a removed object is absent"
    );
}

fn an_object_is_replaced_in_its_version_only(bucket: &dyn Bucket) {
    let replace = |content: &[u8], expected: Option<&Version>| {
        let replaced = bucket.replace("versions/a", content, expected);
        replaced.expect("writing works")
    };
    assert!(replace(b"1", None), "none expected, and none there");
    assert!(!replace(b"2", None), "none expected, and one there");
    let first = version(bucket, "versions/a");
    assert_eq!(
        version(bucket, "versions/a"),
        first,
        "reading changes nothing"
    );
    assert!(replace(b"two", Some(&first)));
    assert!(!replace(b"three", Some(&first)), "the version is gone");
    assert_eq!(get(bucket, "versions/a").as_deref(), Some(&b"two"[..]));
    let second = version(bucket, "versions/a");
    assert_ne!(first, second);
    bucket.put("versions/a", b"four").expect("writing works");
    assert!(
        !replace(b"five", Some(&second)),
        "a plain write is a version"
    );
    let last = version(bucket, "versions/a");
    bucket.delete("versions/a").expect("removing works");
    assert!(!replace(b"six", Some(&last)), "the object is gone");
    assert_eq!(get(bucket, "versions/a"), None);
}

fn of_many_who_write_at_once_one_wins(bucket: &dyn Bucket) {
    const MANY: usize = 6;
    for round in 0..3 {
        let key = format!("race/{round}");
        let race = |expected: Option<&Version>| {
            let (winners, start) = (AtomicUsize::new(0), Barrier::new(MANY));
            thread::scope(|scope| {
                for number in 0..MANY {
                    let (key, winners, start) = (&key, &winners, &start);
                    scope.spawn(move || {
                        let kind = expected.map_or("made", |_| "replaced");
                        let content = format!("{kind} by {number}");
                        start.wait();
                        let won = match expected {
                            None => bucket.put_if_absent(key, content.as_bytes()),
                            Some(_) => bucket.replace(key, content.as_bytes(), expected),
                        };
                        winners
                            .fetch_add(usize::from(won.expect("writing works")), Ordering::SeqCst);
                    });
                }
            });
            winners.into_inner()
        };
        assert_eq!(race(None), 1, "one makes {key}");
        let made = version(bucket, &key);
        assert_eq!(race(Some(&made)), 1, "one replaces {key}");
    }
}

fn objects_are_copied_moved_and_removed(bucket: &dyn Bucket) {
    bucket.put("move/a", b"a").expect("writing works");
    bucket.put("move/to/b", b"old").expect("writing works");
    assert!(bucket.copy("move/a", "move/to/b").expect("copying works"));
    assert_eq!(get(bucket, "move/to/b").as_deref(), Some(&b"a"[..]));
    assert!(!bucket.copy("move/none", "move/c").expect("copying works"));
    assert_eq!(get(bucket, "move/c"), None);
    bucket.put("move/to/b", b"old").expect("writing works");
    bucket
        .rename("move/a", "move/to/b")
        .expect("renaming works");
    assert_eq!(get(bucket, "move/a"), None);
    assert_eq!(get(bucket, "move/to/b").as_deref(), Some(&b"a"[..]));
    bucket.delete("move/to/b").expect("removing works");
    assert_eq!(get(bucket, "move/to/b"), None);
    bucket
        .delete("move/to/b")
        .expect("removing nothing is no error");
    let doomed = ["move/x", "move/y", "move/none"].map(str::to_owned);
    bucket.put("move/x", b"x").expect("writing works");
    bucket.put("move/y", b"y").expect("writing works");
    bucket.delete_all(&doomed).expect("removing works");
    assert!(bucket.list("move").expect("listing works").is_empty());
}

fn listings_show_folders(bucket: &dyn Bucket) {
    assert!(bucket.list("folders").expect("listing works").is_empty());
    for key in [
        "folders/a/c/d",
        "folders/a/b",
        "folders/ab",
        "folders/a.json",
    ] {
        bucket.put(key, b"x").expect("writing works");
    }
    let list = |folder: &str| keys(bucket.list(folder).expect("listing works"));
    let direct = |folder: &str| keys(bucket.list_direct(folder).expect("listing works"));
    assert_eq!(
        list("folders"),
        [
            "folders/a.json",
            "folders/a/b",
            "folders/a/c/d",
            "folders/ab"
        ],
        "sorted by key"
    );
    assert_eq!(list("folders/a"), ["folders/a/b", "folders/a/c/d"]);
    assert_eq!(direct("folders/a"), ["folders/a/b"]);
    assert_eq!(direct("folders"), ["folders/a.json", "folders/ab"]);
    let found = bucket.find("folders/ab").expect("finding works");
    assert_eq!(found.expect("the object is there").key, "folders/ab");
    assert_eq!(bucket.find("folders/a").expect("finding works"), None);
    assert_eq!(bucket.find("folders/none").expect("finding works"), None);
}

fn listings_show_changes(bucket: &dyn Bucket) {
    // Times of files may be too coarse.
    if bucket.files().is_some() {
        return;
    }
    let stamp = || bucket.list("stamps").expect("listing works")[0].stamp();
    let mut seen = Vec::new();
    for content in [b"1", b"2", b"3"] {
        bucket.put("stamps/one", content).expect("it is written");
        assert_eq!(stamp(), stamp());
        seen.push(stamp());
    }
    seen.dedup();
    assert_eq!(seen.len(), 3, "{seen:?}");
    bucket.delete("stamps/one").expect("it is removed");
}

fn listings_are_current_and_complete(bucket: &dyn Bucket) {
    // Enough objects to check the order of keys; more than a page of a listing would be slow.
    let mut expected = Vec::new();
    for number in (0..40).rev() {
        let key = format!("many/{number:03}");
        bucket.put(&key, b"x").expect("writing works");
        expected.insert(0, key);
        assert_eq!(keys(bucket.list("many").expect("listing works")), expected);
    }
    let before = bucket.find("many/000").expect("finding works");
    bucket.put("many/000", b"y").expect("writing works");
    let after = bucket.find("many/000").expect("finding works");
    assert!(
        after.map(|it| it.modified) >= before.map(|it| it.modified),
        "the clock of the store does not go back"
    );
}

fn illegal_keys_are_refused(bucket: &dyn Bucket) {
    for illegal in ["", "/a", "a/", "a//b", "../a", "a/.."] {
        let refused = bucket.put(illegal, b"x");
        assert!(
            matches!(refused, Err(BucketError::IllegalKey { .. })),
            "'{illegal}' is no key"
        );
    }
}

fn journals_are_made_once(bucket: &dyn Bucket) {
    let Some(files) = bucket.files() else {
        return;
    };
    let mut journal = files
        .create_journal("files/a.journal")
        .expect("making works");
    journal.append(b"one").expect("appending works");
    journal.append(b" two").expect("appending works");
    journal.sync().expect("syncing works");
    assert_eq!(
        get(bucket, "files/a.journal").as_deref(),
        Some(&b"one two"[..])
    );
    assert!(files.create_journal("files/a.journal").is_err());
}
