//! Replay, and the binary form of the journal.

use std::sync::Arc;

use jiff::Timestamp;
use plumb_resource::{OperationType, ResourceKind, ResourceState, Urn};
use plumb_state::file::{Layout, parse_body, parse_deployment};
use plumb_state::integrity::repair;
use plumb_state::journal::disk::{
    CheckpointDigest, Header, Packer, ReadError, Reader, SegmentRole, Tail, entry_record,
    header_record, is_seal, read, segment_record,
};
use plumb_state::journal::{
    EncryptedEntry, Entry, EntryKind, Fold, FoldError, OperationId, ReplayError, Slot, parse_entry,
    replay,
};
use plumb_state::{CiphertextCache, EncryptedSnapshot, PendingOperation, Snapshot};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use crate::generate::{Choices, Run, base, properties, provider, value};
use crate::support::{CountingCodec, NoCodec, list, vector};

const VERSION: &str = "v1.2.3";

fn now() -> Timestamp {
    Timestamp::UNIX_EPOCH
}

fn entries_of(case: &Json) -> Vec<(u64, EncryptedEntry)> {
    list(case, "entries")
        .iter()
        .map(|entry| parse_entry(&entry.to_string()).unwrap())
        .collect()
}

fn without_manifest(document: &Json) -> Json {
    let mut document = document.clone();
    document["deployment"]
        .as_object_mut()
        .unwrap()
        .remove("manifest");
    document
}

#[test]
fn replay_gives_what_upstream_gives() {
    let vectors = vector("journal-replay.json");
    assert_eq!(list(&vectors, "cases").len(), 20);
    for case in list(&vectors, "cases") {
        let base = parse_body(&vectors["base"].to_string())
            .unwrap()
            .try_into_encrypted()
            .unwrap();
        let mut entries = entries_of(case);
        // Entries may arrive out of order and twice.
        entries.reverse();
        entries.push(entries[0].clone());
        let snapshot = replay(base, entries)
            .unwrap()
            .snapshot(now(), VERSION)
            .unwrap();
        let written = crate::support::json(&snapshot.deployment(Layout::Compact));
        assert_eq!(
            without_manifest(&written),
            without_manifest(&case["result"]),
            "{}",
            case["name"]
        );
        snapshot.opaque().verify().unwrap();
        assert_eq!(snapshot.opaque().manifest.version, VERSION);
    }
}

#[test]
fn entries_are_written_as_they_were_read() {
    let vectors = vector("journal-replay.json");
    for case in list(&vectors, "cases") {
        for entry in list(case, "entries") {
            let (sequence, parsed) = parse_entry(&entry.to_string()).unwrap();
            let written = crate::support::json(&parsed.to_json(sequence));
            assert_eq!(
                without_empty_parts(&written),
                without_empty_parts(entry),
                "{}",
                case["name"]
            );
            let opened = parsed
                .decrypt(&NoCodec, &mut CiphertextCache::new())
                .unwrap();
            assert_eq!(opened, *parsed.opaque());
        }
    }
}

/// Removes empty members, which are optional.
fn without_empty_parts(entry: &Json) -> Json {
    let mut entry = entry.clone();
    if entry["kind"] == 2 {
        entry.as_object_mut().unwrap().remove("state");
    }
    if entry["kind"] == 3 {
        entry["isRefresh"] = json!(true);
    }
    if let Some(snapshot) = entry.get_mut("newSnapshot") {
        snapshot["metadata"] = json!({});
    }
    entry
}

#[test]
fn holes_and_contradictions_are_errors() {
    let failure = |operation| Entry {
        operation: OperationId(operation),
        kind: EntryKind::Failure,
    };
    let entries = EncryptedEntry::encrypt_all(
        &[failure(1), failure(2)],
        &NoCodec,
        &mut CiphertextCache::new(),
    )
    .unwrap();
    let numbered = |a, b| [(a, entries[0].clone()), (b, entries[1].clone())];
    let fold = |numbers| replay(EncryptedSnapshot::default(), numbers).map(|_| ());
    assert_eq!(fold(numbered(1, 2)), Ok(()));
    assert_eq!(
        fold(numbered(1, 3)),
        Err(ReplayError::Gap {
            before: 1,
            after: 3
        })
    );
    assert_eq!(
        fold(numbered(4, 4)),
        Err(ReplayError::Conflict { sequence: 4 })
    );

    let mut fold = Fold::new(Snapshot::default());
    let write = || Entry {
        operation: OperationId::NONE,
        kind: EntryKind::Write(Arc::default()),
    };
    assert_eq!(fold.apply(write()), Ok(()));
    let begin = EntryKind::Begin { operation: None };
    fold.apply(Entry {
        operation: OperationId(3),
        kind: begin,
    })
    .unwrap();
    assert_eq!(fold.apply(write()), Err(FoldError::LateWrite));

    let outputs = |slot| Entry {
        operation: OperationId(1),
        kind: EntryKind::Outputs {
            slot,
            state: Arc::new(provider()),
        },
    };
    assert_eq!(
        fold.apply(outputs(Slot::Old(0))),
        Err(FoldError::NoSuchBaseResource {
            index: 0,
            length: 0
        })
    );
    assert_eq!(
        fold.apply(outputs(Slot::New(OperationId(7)))),
        Err(FoldError::NoSuchNewResource { operation: 7 })
    );
}

#[test]
fn an_alias_is_followed_by_children_and_references() {
    let snapshot = |aliases: &str| {
        crate::integrity::snapshot(&format!(
            r#"{{"urn":"urn:pulumi:s::p::n:n:New::top","custom":false,"type":"n:n:New"{aliases}}},
            {{"urn":"urn:pulumi:s::p::o:o:Old$a:b:C::child","custom":false,"type":"a:b:C","parent":"urn:pulumi:s::p::o:o:Old::top"}},
            {{"urn":"urn:pulumi:s::p::o:o:Old$a:b:C$a:b:D::grandchild","custom":false,"type":"a:b:D",
                "parent":"urn:pulumi:s::p::o:o:Old$a:b:C::child","replaceWith":["urn:pulumi:s::p::o:o:Old::top"]}}"#
        ))
    };
    let mut aliased = snapshot(r#","aliases":["urn:pulumi:s::p::o:o:Old::top"]"#);
    aliased.normalize_urns().unwrap();
    aliased.verify().unwrap();
    let urns: Vec<&str> = aliased
        .resources
        .iter()
        .map(|state| state.urn.as_str())
        .collect();
    assert_eq!(
        urns,
        [
            "urn:pulumi:s::p::n:n:New::top",
            "urn:pulumi:s::p::n:n:New$a:b:C::child",
            "urn:pulumi:s::p::n:n:New$a:b:C$a:b:D::grandchild",
        ]
    );
    assert!(aliased.resources[0].aliases.is_empty());
}

/// A renamed resource that is recorded below a renamed parent is found by each of its former URNs.
#[test]
fn an_alias_leads_to_the_name_below_the_present_parent() {
    let mut aliased = crate::integrity::snapshot(
        r#"{"urn":"urn:pulumi:s::p::n:n:New::top","custom":false,"type":"n:n:New","aliases":["urn:pulumi:s::p::o:o:Old::top"]},
        {"urn":"urn:pulumi:s::p::o:o:Old$a:b:C::new","custom":false,"type":"a:b:C","parent":"urn:pulumi:s::p::o:o:Old::top",
            "aliases":["urn:pulumi:s::p::o:o:Old$a:b:C::old"]},
        {"urn":"urn:pulumi:s::p::a:b:C::other","custom":false,"type":"a:b:C",
            "deletedWith":"urn:pulumi:s::p::o:o:Old$a:b:C::old","replaceWith":["urn:pulumi:s::p::o:o:Old$a:b:C::new"]}"#,
    );
    aliased.normalize_urns().unwrap();
    aliased.verify().unwrap();
    let present = aliased.resources[1].urn.clone();
    assert_eq!(present.as_str(), "urn:pulumi:s::p::n:n:New$a:b:C::new");
    let other = &aliased.resources[2];
    assert_eq!(other.deleted_with.as_ref(), Some(&present));
    assert_eq!(other.replace_with, [present]);
}

const HEADER_SEGMENT: u64 = 0;

/// A create of `urn` without a known outcome, and the entries of an import of that resource.
fn interrupted_create() -> (Snapshot, impl Fn(EntryKind) -> Entry, PendingOperation) {
    let lost = Urn::new("dev", "proj", "", "test:index:Component", "lost");
    let resource = Arc::new(ResourceState::new(lost, ResourceKind::Component));
    let pending = |operation| PendingOperation {
        resource: resource.clone(),
        operation,
    };
    let base = Snapshot {
        pending_operations: vec![pending(OperationType::Creating); 2],
        ..Snapshot::default()
    };
    let entry = |kind| Entry {
        operation: OperationId(1),
        kind,
    };
    (base, entry, pending(OperationType::Importing))
}

/// PULUMI-13: pending creates remain, except for one whose object a refresh has imported.
#[test]
fn an_import_of_a_refresh_settles_one_pending_create() {
    let (base, entry, import) = interrupted_create();
    let begin = || {
        entry(EntryKind::Begin {
            operation: Some(import.clone()),
        })
    };
    let success = |is_refresh| {
        entry(EntryKind::Success {
            state: Some(import.resource.clone()),
            remove: None,
            delete: None,
            pending_replacement: None,
            is_refresh,
            owner: None,
        })
    };
    let after = |entries: Vec<Entry>| {
        let sealed =
            EncryptedEntry::encrypt_all(&entries, &NoCodec, &mut CiphertextCache::new()).unwrap();
        let mut fold = Fold::new(base.clone());
        for (sequence, entry) in (1..).zip(sealed) {
            // The written form keeps that information.
            let (_, entry) = parse_entry(&entry.to_json(sequence)).unwrap();
            fold.apply(entry.opaque().clone()).unwrap();
        }
        let snapshot = fold.snapshot(now(), VERSION).unwrap();
        let pending = snapshot.pending_operations.iter();
        let pending: Vec<_> = pending.map(|it| it.operation).collect();
        (snapshot.resources.len(), pending)
    };
    use OperationType::{Creating, Importing};
    assert_eq!(
        after(vec![begin()]),
        (0, vec![Importing, Creating, Creating])
    );
    assert_eq!(
        after(vec![begin(), entry(EntryKind::Failure)]),
        (0, vec![Creating, Creating])
    );
    assert_eq!(
        after(vec![begin(), success(false)]),
        (1, vec![Creating, Creating])
    );
    assert_eq!(after(vec![begin(), success(true)]), (1, vec![Creating]));
    let rebuilt = Entry {
        operation: OperationId::NONE,
        kind: EntryKind::RebuiltBaseState,
    };
    assert_eq!(
        after(vec![begin(), success(true), rebuilt]),
        (1, vec![Creating])
    );
}

/// Two old copies of one resource, each with a view; the second one gets another view.
#[test]
fn a_new_view_stands_behind_its_own_copy() {
    let urn = |name: &str| Urn::new("dev", "proj", "", "test:index:Component", name);
    let due = |name: &str, owner: Option<&str>| {
        Arc::new(ResourceState {
            delete: true,
            parent: owner.map(urn),
            view_of: owner.map(urn),
            ..ResourceState::new(urn(name), ResourceKind::Component)
        })
    };
    let base = Snapshot {
        resources: vec![
            due("a", None),
            due("of the first", Some("a")),
            due("a", None),
            due("of the second", Some("a")),
        ],
        ..Snapshot::default()
    };
    let success = |operation, state, remove, owner| Entry {
        operation: OperationId(operation),
        kind: EntryKind::Success {
            state: Some(state),
            remove,
            delete: None,
            pending_replacement: None,
            is_refresh: false,
            owner,
        },
    };
    let entries = [
        success(1, due("new", Some("a")), None, Some(Slot::Old(2))),
        // The second copy is recorded again; its views move with it.
        success(2, due("a", None), Some(Slot::Old(2)), None),
        success(
            3,
            due("newer", Some("a")),
            None,
            Some(Slot::New(OperationId(2))),
        ),
    ];
    let sealed =
        EncryptedEntry::encrypt_all(&entries, &NoCodec, &mut CiphertextCache::new()).unwrap();
    let mut fold = Fold::new(base);
    for (sequence, entry) in (1..).zip(sealed) {
        let (_, entry) = parse_entry(&entry.to_json(sequence)).unwrap();
        fold.apply(entry.opaque().clone()).unwrap();
    }
    let listed = fold.snapshot(now(), VERSION).unwrap().resources;
    let names: Vec<&str> = listed.iter().map(|state| state.urn.name()).collect();
    let expected = ["a", "new", "newer", "of the second", "a", "of the first"];
    assert_eq!(names, expected);
}

fn header() -> Header {
    Header {
        checkpoint: CheckpointDigest::of(b"checkpoint"),
        segment: HEADER_SEGMENT,
    }
}

#[test]
fn what_is_not_a_journal_is_refused() {
    let mut bytes = header_record(&header());
    assert_eq!(read(&bytes).unwrap().header, Some(header()));
    let entry = EncryptedEntry::encrypt_all(
        &[Entry {
            operation: OperationId::NONE,
            kind: EntryKind::RebuiltBaseState,
        }],
        &NoCodec,
        &mut CiphertextCache::new(),
    )
    .unwrap()
    .remove(0);
    assert!(matches!(
        read(&entry_record(1, &entry)),
        Err(ReadError::NotAJournal)
    ));

    bytes.extend(entry_record(1, &entry));
    let good = bytes.len();
    bytes.extend([0; 64]);
    let journal = read(&bytes).unwrap();
    assert_eq!(
        (journal.good, journal.tail, journal.entries.len()),
        (good, Tail::Torn, 1)
    );

    bytes.truncate(good);
    bytes[good - 3] ^= 1;
    assert_eq!(read(&bytes).unwrap().tail, Tail::Torn);
    bytes.extend(entry_record(2, &entry));
    assert_eq!(read(&bytes).unwrap().tail, Tail::Damaged);
}

/// A run with its records: base, entries, and the bytes with the end of each record.
struct Recorded {
    base: Snapshot,
    entries: Vec<Entry>,
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

fn record(choices: Vec<u8>, codec: &CountingCodec) -> Recorded {
    let mut choices = Choices::new(choices);
    let count = choices.below(8);
    let base = base(&mut choices, count);
    let entries = Run::generate(&mut choices, &base);
    let encrypted =
        EncryptedEntry::encrypt_all(&entries, codec, &mut CiphertextCache::new()).unwrap();
    let mut bytes = header_record(&header());
    let mut ends = vec![bytes.len()];
    for (sequence, entry) in (1..).zip(&encrypted) {
        bytes.extend(entry_record(sequence, entry));
        ends.push(bytes.len());
    }
    Recorded {
        base,
        entries,
        bytes,
        ends,
    }
}

/// Reads the bytes before a cut, and checks that the result is the fold of the complete entries.
fn check_cut(run: &Recorded, codec: &CountingCodec, cut: usize) {
    let journal = read(&run.bytes[..cut]).unwrap();
    let complete = run.ends.iter().filter(|end| **end <= cut).count();
    assert_eq!(journal.header.is_some(), complete > 0);
    assert_eq!(journal.entries.len(), complete.saturating_sub(1));
    assert_eq!(
        journal.tail == Tail::Clean,
        cut == 0 || run.ends.contains(&cut)
    );

    let base = run
        .base
        .encrypt(codec, &mut CiphertextCache::new())
        .unwrap();
    let recovered = replay(base, journal.entries)
        .unwrap()
        .snapshot(now(), VERSION)
        .unwrap();
    recovered.opaque().verify().unwrap();
    let mut fold = Fold::new(run.base.clone());
    run.entries[..complete.saturating_sub(1)]
        .iter()
        .for_each(|entry| fold.apply(entry.clone()).unwrap());
    let expected = fold.snapshot(now(), VERSION).unwrap();
    assert_eq!(
        recovered
            .decrypt(codec, &mut CiphertextCache::new())
            .unwrap(),
        expected
    );
}

/// A journal of packed records, also as segments: the bytes and number of entries of each part.
struct Packed {
    entries: Vec<(u64, EncryptedEntry)>,
    parts: Vec<(Vec<u8>, usize)>,
}

/// Writes entries in batches. Batches of an even length after the first ones are not packed, as after a failure.
fn pack(choices: Vec<u8>, mut sizes: Choices) -> Packed {
    let codec = CountingCodec::default();
    let entries = record(choices, &codec).entries;
    let encrypted =
        EncryptedEntry::encrypt_all(&entries, &codec, &mut CiphertextCache::new()).unwrap();
    let mut waiting: Vec<_> = (1..).zip(encrypted).collect();
    let entries = waiting.clone();
    let mut packer = Packer::new().unwrap();
    let mut parts = Vec::new();
    while !waiting.is_empty() {
        let size = 1 + sizes.below(4).min(waiting.len() - 1);
        let batch = waiting.drain(..size).collect::<Vec<_>>();
        let records: Vec<u8> = batch
            .iter()
            .flat_map(|(seq, entry)| entry_record(*seq, entry))
            .collect();
        let bytes = if parts.len() > 2 && size.is_multiple_of(2) {
            records
        } else {
            packer.pack(&records).unwrap().into_owned()
        };
        parts.push((bytes, size));
    }
    Packed { entries, parts }
}

#[test]
fn similar_records_take_little_room() {
    let run = record((0..80).collect(), &CountingCodec::default());
    let codec = CountingCodec::default();
    let encrypted =
        EncryptedEntry::encrypt_all(&run.entries, &codec, &mut CiphertextCache::new()).unwrap();
    let records: Vec<_> = encrypted
        .iter()
        .map(|entry| entry_record(1, entry))
        .collect();
    let mut packer = Packer::new().unwrap();
    for record in &records {
        packer.pack(record).unwrap();
    }
    for record in records.iter().filter(|record| record.len() > 400) {
        let again = packer.pack(record).unwrap();
        assert!(
            again.len() * 8 < record.len(),
            "{} of {}",
            again.len(),
            record.len()
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn packed_records_are_read_up_to_any_cut(
        choices in prop::collection::vec(any::<u8>(), 0..80),
        sizes in prop::collection::vec(any::<u8>(), 0..20),
    ) {
        let packed = pack(choices, Choices::new(sizes));
        let mut bytes = header_record(&header());
        let mut count = 0;
        for (part, size) in &packed.parts {
            for cut in [0, 1, 7, 8, 9, part.len() / 2, part.len() - 1] {
                let torn = [&bytes[..], &part[..cut.min(part.len() - 1)]].concat();
                let journal = read(&torn).unwrap();
                prop_assert!(journal.good >= bytes.len());
                prop_assert_eq!(&journal.entries[..], &packed.entries[..journal.entries.len()]);
                prop_assert!((count..count + size).contains(&journal.entries.len()));
            }
            bytes.extend(part);
            count += size;
            let journal = read(&bytes).unwrap();
            prop_assert_eq!((journal.good, journal.tail), (bytes.len(), Tail::Clean));
            prop_assert_eq!(&journal.entries[..], &packed.entries[..count]);
        }
    }

    #[test]
    fn packed_segments_are_read_in_order(
        choices in prop::collection::vec(any::<u8>(), 0..80),
        sizes in prop::collection::vec(any::<u8>(), 0..20),
    ) {
        let packed = pack(choices, Choices::new(sizes));
        let mut reader = Reader::new().unwrap();
        let mut entries = Vec::new();
        for (segment, (part, _)) in (0..).zip(&packed.parts) {
            let header = Header { segment, ..header() };
            let content = [segment_record(&header, "writer", SegmentRole::Entries), part.clone()].concat();
            prop_assert!(!is_seal(&content));
            let journal = reader.read(&content).unwrap();
            prop_assert_eq!(journal.header, Some(header));
            entries.extend(journal.entries);
        }
        prop_assert_eq!(entries, packed.entries);
    }

    #[test]
    fn damage_in_packed_records_is_found(
        choices in prop::collection::vec(any::<u8>(), 20..80),
        at in any::<prop::sample::Index>(),
    ) {
        let packed = pack(choices, Choices::new(Vec::new()));
        let start = header_record(&header());
        let parts: Vec<u8> = packed.parts.iter().flat_map(|(part, _)| part.clone()).collect();
        prop_assume!(!parts.is_empty());
        let mut bytes = [start.clone(), parts.clone()].concat();
        let place = start.len() + at.index(parts.len());
        bytes[place] ^= 0x10;
        let journal = read(&bytes).unwrap();
        prop_assert!(journal.good <= place);
        prop_assert_ne!(journal.tail, Tail::Clean);
        prop_assert_eq!(&journal.entries[..], &packed.entries[..journal.entries.len()]);
    }

    #[test]
    fn a_journal_may_be_cut_anywhere(choices in prop::collection::vec(any::<u8>(), 0..80)) {
        let codec = CountingCodec::default();
        let run = record(choices, &codec);
        for end in &run.ends {
            check_cut(&run, &codec, *end);
        }
        let last = run.ends.len().checked_sub(2).map_or(0, |at| run.ends[at]);
        for cut in last..run.bytes.len() {
            let journal = read(&run.bytes[..cut]).unwrap();
            prop_assert_eq!(journal.good, last);
        }
        check_cut(&run, &codec, run.bytes.len() - 1);
    }

    #[test]
    fn a_snapshot_comes_back_as_it_was(
        inputs in properties(),
        outputs in properties(),
        trigger in value(),
        choices in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let codec = CountingCodec::default();
        let mut snapshot = base(&mut Choices::new(choices), 3);
        let state = Arc::make_mut(&mut snapshot.resources[2]);
        state.inputs = inputs.into();
        state.outputs = outputs.into();
        state.replacement_trigger = trigger;
        let mut cache = CiphertextCache::new();
        let text = snapshot.encrypt(&codec, &mut cache).unwrap().deployment(Layout::Indented);
        let parsed = parse_deployment(text.as_bytes()).unwrap();
        prop_assert!(!parsed.has_plaintext());
        let mut again = CiphertextCache::new();
        let opened = parsed.decrypt(&codec, &mut again).unwrap();
        prop_assert_eq!(&opened, &snapshot);
        prop_assert_eq!(opened.encrypt(&NoCodec, &mut again).unwrap().deployment(Layout::Indented), text);

        let exposed = snapshot.deployment_with_secrets_exposed(Layout::CompactHtml);
        let imported = parse_deployment(exposed.as_bytes()).unwrap();
        prop_assert_eq!(imported.decrypt(&NoCodec, &mut cache).unwrap(), snapshot);
    }

    #[test]
    fn whatever_can_be_repaired_is_valid_afterwards(
        choices in prop::collection::vec(any::<u8>(), 0..60),
        order in Just((0..8_usize).collect::<Vec<_>>()).prop_shuffle(),
        dropped in 1..8_usize,
    ) {
        let whole = base(&mut Choices::new(choices), 7);
        let mut broken = whole.clone();
        broken.resources = order.iter().map(|at| whole.resources[*at].clone()).collect();
        broken.resources.retain(|state| state.urn != whole.resources[dropped].urn);
        let repaired = repair(&broken).unwrap().snapshot;
        prop_assert_eq!(repaired.verify(), Ok(()));
        prop_assert_eq!(repaired.resources.len(), 7);
        let again = repair(&repaired).unwrap();
        prop_assert!(again.reordered.is_empty() && again.pruned.is_empty());
    }
}
