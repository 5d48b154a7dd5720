//! Round trips of values through encoding and decoding.

use plumb_value::{EMPTY_ARCHIVE_HASH, EMPTY_TEXT_HASH};
use proptest::prelude::*;

use super::*;

fn texts() -> impl Strategy<Value = ecow::EcoString> {
    "[a-zé]{0,6}".prop_map(Into::into)
}

fn names() -> impl Strategy<Value = ecow::EcoString> {
    "[a-z]{1,6}".prop_map(Into::into)
}

fn unknown_kinds() -> impl Strategy<Value = UnknownKind> {
    prop_oneof![
        Just(UnknownKind::String),
        Just(UnknownKind::Bool),
        Just(UnknownKind::Number),
        Just(UnknownKind::Array),
        Just(UnknownKind::Asset),
        Just(UnknownKind::Archive),
        Just(UnknownKind::Object),
    ]
}

fn assets() -> impl Strategy<Value = Value> {
    let sources = prop_oneof![
        names().prop_map(AssetSource::Text),
        names().prop_map(AssetSource::Path),
        names().prop_map(AssetSource::Uri),
    ];
    let with_content = (texts(), sources).prop_map(|(hash, source)| Asset { hash, source });
    let empty = Just(Asset {
        hash: EMPTY_TEXT_HASH.into(),
        source: AssetSource::Text("".into()),
    });
    let elided = names().prop_map(|hash| Asset {
        hash,
        source: AssetSource::Elided,
    });
    prop_oneof![with_content, empty, elided].prop_map(|asset| Value::Asset(Arc::new(asset)))
}

fn archives() -> impl Strategy<Value = Value> {
    let members =
        prop::collection::btree_map(texts(), assets(), 1..3).prop_map(ArchiveSource::Assets);
    let sources = prop_oneof![
        members,
        names().prop_map(ArchiveSource::Path),
        names().prop_map(ArchiveSource::Uri),
    ];
    let with_content = (texts(), sources).prop_map(|(hash, source)| Archive { hash, source });
    let empty = Just(Archive {
        hash: EMPTY_ARCHIVE_HASH.into(),
        source: ArchiveSource::Assets([].into()),
    });
    let elided = names().prop_map(|hash| Archive {
        hash,
        source: ArchiveSource::Elided,
    });
    prop_oneof![with_content, empty, elided].prop_map(|archive| Value::Archive(Arc::new(archive)))
}

fn references() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(ReferenceId::None),
        Just(ReferenceId::Unknown),
        names().prop_map(ReferenceId::Known)
    ]
    .prop_map(reference)
}

fn leaves() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<f64>()
            .prop_filter("NaN equals nothing", |number| !number.is_nan())
            .prop_map(Value::Number),
        texts().prop_map(Value::String),
        prop::collection::vec(any::<u8>(), 0..4).prop_map(|mut bytes| {
            bytes.push(0xff);
            Value::Bytes(bytes.into())
        }),
        unknown_kinds().prop_map(Value::Computed),
        assets(),
        archives(),
        references(),
    ]
}

fn values() -> impl Strategy<Value = Value> {
    leaves().prop_recursive(4, 24, 4, |inner| {
        let outputs = (
            prop::option::of(inner.clone()),
            any::<bool>(),
            prop::collection::vec(names(), 0..3),
        );
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(texts(), inner.clone(), 0..4).prop_map(|entries| {
                let entries = entries.into_iter().map(|(key, value)| (key.into(), value));
                entries.collect::<PropertyMap>().into()
            }),
            inner.prop_map(Value::secret),
            outputs.prop_map(|(value, secret, dependencies)| {
                Value::Output(Arc::new(Output {
                    value,
                    secret,
                    dependencies,
                }))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn with_every_feature_nothing_is_lost(value in values()) {
        let wire = encode(&value, EVERYTHING).unwrap().unwrap();
        prop_assert_eq!(decode_value("p", &wire, EVERYTHING).unwrap().unwrap(), value);
    }

    #[test]
    fn reducing_when_writing_is_reducing_when_reading(value in values()) {
        let reduced = MarshalOptions::PLAIN.unknowns(true).byte_strings(true);
        let early = encode(&value, reduced).unwrap().unwrap();
        let late = decode_value("p", &encode(&value, EVERYTHING).unwrap().unwrap(), reduced).unwrap();
        prop_assert_eq!(decode_value("p", &early, EVERYTHING).unwrap(), late);
    }

    #[test]
    fn whatever_comes_is_read_or_refused(value in values(), key in names(), other in values()) {
        let mut wire = encode(&value, EVERYTHING).unwrap().unwrap();
        if let Some(Kind::StructValue(map)) = &mut wire.kind {
            let member = encode(&other, EVERYTHING).unwrap().unwrap();
            map.fields.insert(signature::KEY.to_owned(), member.clone());
            map.fields.insert(key.to_string(), member);
        }
        for options in [MarshalOptions::PLAIN, EVERYTHING, UPGRADED, EVERYTHING.unknowns_or_reject(false)] {
            let _ = decode_value("p", &wire, options);
        }
    }
}
