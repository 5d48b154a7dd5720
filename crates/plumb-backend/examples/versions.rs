//! Measures the size of the history of a large state: `versions [MEGABYTES] [VERSIONS]`. One resource in a thousand
//! changes between versions, to values that do not compress.
//!
//! `cargo run --release -p plumb-backend --example versions -- 10 100`

#![allow(clippy::print_stdout)] // The figures are the output.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, io};

use plumb_backend::{Backend as _, FileBackend, FileUrl, Owner, StoreOptions, UpdateRecord};
use plumb_project::StackReference;
use plumb_state::file::parse_deployment;

fn main() {
    let number = |at: usize, default: usize| {
        let text = std::env::args().nth(at);
        text.map_or(default, |text| text.parse().expect("it is a number"))
    };
    let (bytes, versions) = (number(1, 10) * 1_000_000, number(2, 100));
    let folder = std::env::temp_dir().join(format!("plumb-versions-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("the folder can be made");
    let backend = open(&folder);
    let stack = StackReference::parse("organization/proj/dev", None).expect("it is a reference");
    backend.create_stack(&stack, None).expect("it can be made");
    let (mut naive, mut ending) = (0, Duration::ZERO);
    for version in 1..=versions {
        let text = state(version, bytes);
        let parsed = parse_deployment(text.as_bytes()).expect("it is a state");
        let snapshot = parsed.try_into_encrypted().expect("it has no secrets");
        naive += snapshot.checkpoint(&stack.qualified()).len();
        let update = backend.begin_update(&stack, &format!("u{version}"));
        let update = update.expect("it begins");
        let began = Instant::now();
        let ended = update.finish(Some(&snapshot), Some(&record()));
        ended.expect("it ends");
        ending += began.elapsed();
    }
    let first = Instant::now();
    let last = backend.past(&stack, versions as u64).expect("it is read");
    assert!(last.is_some_and(|past| past.state.is_some()));
    for name in ["history", "backups"] {
        let taken = size_of(&folder.join(".pulumi").join(name)).expect("it is there");
        println!(
            "{name}: {taken} bytes, {:.2} % of {naive} bytes of copies",
            100.0 * taken as f64 / naive as f64
        );
    }
    println!(
        "the end of an update takes {:?}, reading a version {:?}",
        ending / u32::try_from(versions).unwrap_or(1),
        first.elapsed()
    );
    fs::remove_dir_all(&folder).expect("the folder can be removed");
}

fn open(folder: &Path) -> FileBackend {
    let owner = Owner {
        pid: std::process::id(),
        username: String::new(),
        hostname: String::new(),
    };
    let url = FileUrl {
        url: format!("file://{}", folder.display()),
        path: folder.to_owned(),
        create_dir: false,
    };
    let opened = FileBackend::open(&url, owner, StoreOptions::new("v0.1.0"));
    opened.expect("it can be opened").0
}

fn state(version: usize, bytes: usize) -> String {
    let resources: Vec<String> = (0..bytes / 1000)
        .map(|at| {
            let changed = if at % 1000 == version % 1000 { version } else { 0 };
            let value = noise((changed * 1_000_000 + at) as u64);
            format!(r#"{{"urn":"urn:pulumi:dev::proj::a:b:C::r{at}","custom":false,"type":"a:b:C","outputs":{{"v":"{value}"}}}}"#)
        })
        .collect();
    format!(
        r#"{{"version":3,"deployment":{{"manifest":{{"time":"2025-01-02T03:04:05Z","magic":"","version":""}},"metadata":{{}},"resources":[{}]}}}}"#,
        resources.join(",")
    )
}

/// Text of 900 characters that does not compress well.
fn noise(seed: u64) -> String {
    let (mut text, mut state) = (String::new(), seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    while text.len() < 900 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let _ = write!(text, "{state:016x}");
    }
    text
}

fn record() -> UpdateRecord {
    let text = r#"{"kind":"update","startTime":1,"result":"succeeded","endTime":2}"#;
    serde_json::from_str(text).expect("it is a record")
}

fn size_of(folder: &Path) -> io::Result<u64> {
    let mut size = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        size += if entry.file_type()?.is_dir() {
            size_of(&entry.path())?
        } else {
            entry.metadata()?.len()
        };
    }
    Ok(size)
}
