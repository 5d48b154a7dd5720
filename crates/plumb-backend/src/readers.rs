//! Fuzz tests of the readers of files.
//!
//! Files may be damaged by failing disks, merges and other programs. [`run`] mutates real samples at random (bytes,
//! ranges, JSON values, parts of other samples) and passes them to the readers of checkpoints, exports, journals,
//! plans, projects, settings and schemas, and of encrypted objects. For each input:
//!
//! 1. The reader returns: it does not panic, and takes at most [`LIMIT`].
//! 2. Accepted input can be written, and the result is read as an equal value.
//! 3. An encrypted object is accepted only if nobody has changed it.
//!
//! Samples, and inputs that violated a rule in the past, are in `tests/data/readers/<reader>/`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, io};

use plumb_project::StackFile;
use plumb_project::project::Project;
use plumb_schema::{BindOptions, Document, Format, NoPackages, PackageSchema, SchemaIndex, bind};
use plumb_state::file::{Deployment, parse_checkpoint, parse_deployment, parse_root};
use plumb_state::journal::disk::{self, Tail};
use plumb_state::plan::PlanFile;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::encryption;

/// Time limit of a reader for one input.
const LIMIT: Duration = Duration::from_secs(5);

/// Stack size of the program for values in files, which may be nested 10,000 deep.
pub const STACK: usize = 256 << 20;

/// A reader of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// State files.
    Checkpoint,
    /// Exports of states.
    Deployment,
    /// Journals of updates.
    Journal,
    /// Plans of previews.
    Plan,
    /// `Pulumi.yaml`.
    Project,
    /// `Pulumi.<stack>.yaml`.
    Settings,
    /// Schemas of packages, in JSON or YAML.
    Schema,
    /// Encrypted states, journals and other objects.
    Encrypted,
}

impl Reader {
    /// All readers.
    pub const ALL: [Reader; 8] = [
        Reader::Checkpoint,
        Reader::Deployment,
        Reader::Journal,
        Reader::Plan,
        Reader::Project,
        Reader::Settings,
        Reader::Schema,
        Reader::Encrypted,
    ];

    /// Name of the folder with its samples.
    pub fn name(self) -> &'static str {
        match self {
            Reader::Checkpoint => "checkpoint",
            Reader::Deployment => "deployment",
            Reader::Journal => "journal",
            Reader::Plan => "plan",
            Reader::Project => "project",
            Reader::Settings => "settings",
            Reader::Schema => "schema",
            Reader::Encrypted => "encrypted",
        }
    }

    /// Reads `input`; returns whether it was accepted. An error names the violation.
    pub fn check(self, input: &[u8]) -> Result<bool, String> {
        let started = Instant::now();
        let read = catch_unwind(AssertUnwindSafe(|| self.read(input)));
        let accepted = read.map_err(|_| "the reader panics".to_owned())??;
        let took = started.elapsed();
        if took > LIMIT {
            return Err(format!("the reader takes {took:?}"));
        }
        Ok(accepted)
    }

    fn read(self, input: &[u8]) -> Result<bool, String> {
        match self {
            Reader::Checkpoint => checkpoint(input),
            Reader::Deployment => Ok(deployment(input)),
            Reader::Journal => journal(input),
            Reader::Plan => Ok(PlanFile::parse(input).is_ok()),
            Reader::Project => {
                let text = String::from_utf8_lossy(input);
                Ok(Project::parse("Pulumi.yaml", &text).is_ok())
            }
            Reader::Settings => {
                let text = String::from_utf8_lossy(input);
                Ok(StackFile::parse("Pulumi.dev.yaml", &text, "proj").is_ok())
            }
            Reader::Schema => schema(&String::from_utf8_lossy(input)),
            Reader::Encrypted => encrypted(input),
        }
    }
}

fn checkpoint(input: &[u8]) -> Result<bool, String> {
    drop(parse_root(input));
    let Ok(checkpoint) = parse_checkpoint(input) else {
        return Ok(false);
    };
    let latest = checkpoint.latest.map(Deployment::try_into_encrypted);
    if let Some(Ok(snapshot)) = latest {
        drop(snapshot.opaque().verify());
        let text = snapshot.checkpoint("organization/proj/dev");
        let again = parse_checkpoint(text.as_bytes());
        let again = again.map_err(|error| format!("what was written is not read: {error}"))?;
        let again = again.latest.ok_or("what was written has no state")?;
        if again.opaque() != snapshot.opaque() {
            return Err("what was written is read as something else".to_owned());
        }
    }
    Ok(true)
}

fn deployment(input: &[u8]) -> bool {
    let Ok(deployment) = parse_deployment(input) else {
        return false;
    };
    drop(deployment.opaque().verify());
    true
}

fn journal(input: &[u8]) -> Result<bool, String> {
    let Ok(journal) = disk::read(input) else {
        return Ok(false);
    };
    let whole = disk::read(&input[..journal.good]);
    let whole = whole.map_err(|error| format!("its good part is not read: {error}"))?;
    if whole.entries != journal.entries || whole.tail != Tail::Clean {
        return Err("its good part is read as something else".to_owned());
    }
    Ok(journal.header.is_some())
}

fn schema(text: &str) -> Result<bool, String> {
    let mut is_usable = false;
    for format in [Format::Json, Format::Yaml] {
        if let Ok(document) = Document::read(text, format) {
            is_usable |= whole_schema(&document)?;
        }
    }
    if let Ok(package) = PackageSchema::parse(text) {
        drop((package.provider(), package.config()));
        for token in package.resource_tokens() {
            drop(package.resource(token));
        }
        for token in package.function_tokens() {
            drop(package.function(token));
        }
        for token in package.type_tokens() {
            drop(package.type_definition(token));
        }
    }
    if let Ok(index) = SchemaIndex::new(text)
        && SchemaIndex::from_bytes(&index.to_bytes()).is_none()
    {
        return Err("its index is written and not read".to_owned());
    }
    Ok(is_usable)
}

fn whole_schema(document: &Document<'_>) -> Result<bool, String> {
    let options = BindOptions {
        allow_dangling: true,
        packages: &NoPackages,
    };
    let bound = bind(document, options);
    if !bound.is_usable() {
        return Ok(false);
    }
    let text = bound.package.to_json();
    let again = Document::read(&text, Format::Json);
    let again = again.map_err(|problem| format!("what was written is not read: {problem}"))?;
    if bind(&again, options).package != bound.package {
        return Err("what was written is read as something else".to_owned());
    }
    Ok(true)
}

/// The samples are encrypted with keys that are not secret. They contain JSON or a part of a journal.
fn encrypted(input: &[u8]) -> Result<bool, String> {
    let Some(content) = encryption::read_unprotected(input) else {
        return Ok(false);
    };
    if encryption::is_log(input) {
        return journal(&content);
    }
    let is_json = serde_json::from_slice::<serde_json::Value>(&content).is_ok();
    if is_json || disk::read(&content).is_ok_and(|journal| journal.tail == Tail::Clean) {
        return Ok(true);
    }
    Err("a changed object is decrypted".to_owned())
}

/// Samples of a reader, from the folder of all samples.
pub fn samples(reader: Reader, folder: &Path) -> io::Result<Vec<Vec<u8>>> {
    let mut paths: Vec<_> = fs::read_dir(folder.join(reader.name()))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<_>>()?;
    paths.sort();
    paths.into_iter().map(fs::read).collect()
}

/// An input that violates a rule.
#[derive(Debug)]
pub struct Violation {
    /// The reader.
    pub reader: Reader,
    /// Seed that generates the input.
    pub seed: u64,
    /// Description of the violation.
    pub text: String,
    /// The input.
    pub input: Vec<u8>,
}

/// Passes the input generated from `seed` to a reader; returns whether it was accepted.
pub fn run(reader: Reader, samples: &[Vec<u8>], seed: u64) -> Result<bool, Box<Violation>> {
    let mut chance = StdRng::seed_from_u64(seed);
    let mut input = samples[chance.random_range(0..samples.len())].clone();
    for _ in 0..chance.random_range(1..6) {
        mutate(&mut input, samples, &mut chance);
    }
    reader.check(&input).map_err(|text| {
        Box::new(Violation {
            reader,
            seed,
            text,
            input,
        })
    })
}

/// Texts with a meaning for some reader.
const TOKENS: [&str; 24] = [
    "null",
    "true",
    "-1",
    "0",
    "1e999",
    "18446744073709551616",
    "\"\"",
    "{}",
    "[]",
    "[[[[",
    "{\"a\":",
    "\"\\ud800\"",
    "\\u0000",
    "\u{feff}",
    "- ",
    ": ",
    "&a *a",
    "<<: *a",
    "!!binary ",
    "|\n",
    "\t",
    "\r\n",
    "---\n",
    "urn:pulumi:::::",
];

fn mutate(input: &mut Vec<u8>, samples: &[Vec<u8>], chance: &mut StdRng) {
    let at = chance.random_range(0..=input.len());
    let end = (at + chance.random_range(0..64)).min(input.len());
    match chance.random_range(0..9) {
        0 => {
            if let Some(byte) = input.get_mut(at) {
                *byte ^= 1 << chance.random_range(0..8);
            }
        }
        1 => input.insert(at, chance.random()),
        2 => drop(input.drain(at..end)),
        3 => {
            let copy = input[at..end].to_vec();
            input.splice(at..at, copy);
        }
        4 => input.truncate(at),
        5 => {
            let other = &samples[chance.random_range(0..samples.len())];
            let from = chance.random_range(0..=other.len());
            let to = (from + chance.random_range(0..256)).min(other.len());
            input.splice(at..end, other[from..to].iter().copied());
        }
        6 => {
            let token = TOKENS[chance.random_range(0..TOKENS.len())];
            input.splice(at..end, token.bytes());
        }
        7 => replace_value(input, chance),
        _ => {
            let token = TOKENS[chance.random_range(0..TOKENS.len())];
            let many = token.repeat(chance.random_range(1..2000));
            input.splice(at..at, many.bytes());
        }
    }
}

/// Replaces the text between two separators, which is a value in most formats.
fn replace_value(input: &mut Vec<u8>, chance: &mut StdRng) {
    let is_separator = |byte: &u8| matches!(byte, b':' | b',' | b'[' | b'{' | b'\n');
    let places: Vec<usize> = (0..input.len())
        .filter(|at| is_separator(&input[*at]))
        .collect();
    if places.len() < 2 {
        return;
    }
    let one = chance.random_range(0..places.len() - 1);
    let token = TOKENS[chance.random_range(0..TOKENS.len())];
    input.splice(places[one] + 1..places[one + 1], token.bytes());
}
