//! Access to members of large schemas without parsing the whole file each time.
//!
//! An index of the members' positions is stored on disk under the digest of the file's contents. Another note records, for
//! each path, the digest at the last access; a file with a different size, modification time or inode number is read again.
//! **Notes are optional and never trusted**: if one cannot be read, verified or written, the schema is read without it, and
//! notes are written atomically.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use plumb_schema::{Escapes, Format, MemberKind, SchemaError, SchemaIndex};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{SchemaText, schema_file};
use crate::{Context, Error};

/// Minimum age of a modification. A file modified shortly before it was read could have been modified again with the same
/// timestamp.
const SETTLED: Duration = Duration::from_secs(2);

/// A schema of which only parts are read.
pub struct Excerpts {
    index: SchemaIndex,
    text: Text,
    /// Version of the plugin, for schemas without a version.
    version: Option<semver::Version>,
    /// Name in messages.
    origin: String,
}

/// Source of the members' text.
enum Text {
    Memory(String),
    File(File),
}

impl Excerpts {
    /// Opens the schema of `source`, with the parameterization `parameters`.
    pub fn open(source: &str, parameters: &[String], ctx: &Context) -> Result<Self, Error> {
        let notes = Notes::of(ctx);
        let file = match Format::of_file(source) {
            _ if !parameters.is_empty() => None,
            Some(Format::Json) => Some((ctx.environment.cwd.join(source), None)),
            Some(Format::Yaml) => None,
            None => schema_file(source, ctx).map(|(path, version)| (path, Some(version))),
        };
        if let Some((path, version)) = file
            && let Some((index, file)) = notes.find(&path)
        {
            return Ok(Excerpts {
                index,
                text: Text::File(file),
                version,
                origin: source.to_owned(),
            });
        }
        Self::of_text(SchemaText::load(source, parameters, ctx)?)
    }

    /// Opens the schema of a package if that does not require running a plugin: the schema is cached, or the plugin is built
    /// in.
    pub fn at_hand(package: &str, ctx: &Context) -> Option<Self> {
        let builtins = plumb_providers::builtins();
        let is_builtin = builtins.iter().any(|it| it.name() == package);
        if !is_builtin {
            schema_file(package, ctx)?;
        }
        Self::open(package, &[], ctx).ok()
    }

    fn of_text(schema: SchemaText) -> Result<Self, Error> {
        let (version, origin) = (schema.version().cloned(), schema.origin().to_owned());
        let text = json_of(schema)?;
        let failed = |error: SchemaError| Error::user(format!("{origin}: {error}"));
        Ok(Excerpts {
            index: SchemaIndex::new(&text).map_err(failed)?,
            text: Text::Memory(text),
            version,
            origin,
        })
    }

    /// Index of the members.
    pub fn index(&self) -> &SchemaIndex {
        &self.index
    }

    /// JSON text of a schema with only the member `token`.
    pub fn member(&mut self, token: &str) -> Result<String, Error> {
        Ok(self.read(|_, known| known == token)?.into_text())
    }

    /// The schema with only the members accepted by `is_wanted`, and the names of the others.
    pub fn read(
        &mut self,
        is_wanted: impl Fn(MemberKind, &str) -> bool,
    ) -> Result<SchemaText, Error> {
        let text = &mut self.text;
        let excerpt = self
            .index
            .excerpt(is_wanted, |place| text.part(place))
            .map_err(|error| {
                Error::from(error).context(format!("could not read {}", self.origin))
            })?;
        Ok(SchemaText::of_json(
            excerpt,
            &self.origin,
            self.version.clone(),
        ))
    }
}

impl Text {
    fn part(&mut self, place: Range<u64>) -> io::Result<String> {
        let length = place.end.saturating_sub(place.start);
        match self {
            Text::Memory(text) => {
                let at = |place| usize::try_from(place).unwrap_or(usize::MAX);
                let part = text.get(at(place.start)..at(place.end));
                part.map(str::to_owned)
                    .ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
            }
            Text::File(file) => {
                file.seek(SeekFrom::Start(place.start))?;
                let mut part = String::new();
                let read = file.take(length).read_to_string(&mut part)?;
                if read as u64 == length {
                    Ok(part)
                } else {
                    Err(io::ErrorKind::UnexpectedEof.into())
                }
            }
        }
    }
}

/// Properties that identify an unchanged file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    size: u64,
    /// Times of the last modification and of the last status change, in nanoseconds.
    changed: [u128; 2],
    number: u64,
}

impl Stamp {
    fn of(file: &File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        let modified = since_epoch(metadata.modified()?).as_nanos();
        #[cfg(unix)]
        let (changed, number) = {
            use std::os::unix::fs::MetadataExt as _;
            let seconds = u128::try_from(metadata.ctime()).unwrap_or_default();
            let nanoseconds = u128::try_from(metadata.ctime_nsec()).unwrap_or_default();
            (seconds * 1_000_000_000 + nanoseconds, metadata.ino())
        };
        #[cfg(not(unix))]
        let (changed, number) = (modified, 0);
        Ok(Stamp {
            size: metadata.len(),
            changed: [modified, changed],
            number,
        })
    }

    /// Whether a modification after `time` would have a different timestamp.
    fn is_settled(&self, time: SystemTime) -> bool {
        let last = self.changed.iter().max().copied().unwrap_or_default();
        since_epoch(time).as_nanos() > last + SETTLED.as_nanos()
    }
}

fn since_epoch(time: SystemTime) -> Duration {
    time.duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Note about a path.
#[derive(Debug, Serialize, Deserialize)]
struct Seen {
    stamp: Stamp,
    digest: String,
}

/// Notes on disk.
struct Notes {
    folder: PathBuf,
}

impl Notes {
    fn of(ctx: &Context) -> Self {
        Notes {
            folder: ctx.environment.pulumi_home.join("plumb/schemas"),
        }
    }

    /// Index of the schema at `path`, and the open file; `None` if the file is unsuitable, in which case reading the whole
    /// file reports the error.
    fn find(&self, path: &Path) -> Option<(SchemaIndex, File)> {
        let path = path.canonicalize().ok()?;
        let mut file = File::open(&path).ok()?;
        let stamp = Stamp::of(&file).ok()?;
        let note = self.folder.join("files").join(digest(path_bytes(&path)));
        let seen = fs::read(&note).ok();
        let seen: Option<Seen> = seen.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        if let Some(seen) = &seen
            && seen.stamp == stamp
            && let Some(index) = self.index(&seen.digest)
        {
            return Some((index, file));
        }
        let mut text = String::new();
        file.read_to_string(&mut text).ok()?;
        let now = Seen {
            digest: digest(text.as_bytes()),
            stamp,
        };
        let index = match self.index(&now.digest) {
            Some(index) => index,
            None => SchemaIndex::new(&text).ok()?,
        };
        // The file may have been written to in the meantime.
        let is_same = Stamp::of(&file).is_ok_and(|stamp| stamp == now.stamp);
        if is_same && now.stamp.is_settled(SystemTime::now()) {
            self.note(&note, &now, &index, seen.as_ref());
        }
        Some((index, file))
    }

    fn index(&self, digest: &str) -> Option<SchemaIndex> {
        let is_digest = digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        let path = self.folder.join(format!("{digest}.index"));
        SchemaIndex::from_bytes(&fs::read(path).ok().filter(|_| is_digest)?)
    }

    /// Writes the notes, and deletes the index of the file's previous contents.
    fn note(&self, note: &Path, now: &Seen, index: &SchemaIndex, before: Option<&Seen>) {
        let written = write_whole(
            &self.folder.join(format!("{}.index", now.digest)),
            &index.to_bytes(),
        )
        .and_then(|()| write_whole(note, &serde_json::to_vec(now)?));
        if let Err(error) = written {
            tracing::debug!(%error, "where the members of a schema stand could not be noted");
        }
        let old = before.filter(|before| before.digest != now.digest);
        if let Some(old) = old.filter(|old| self.index(&old.digest).is_some()) {
            // Another path with the same contents will recreate it.
            let _ = fs::remove_file(self.folder.join(format!("{}.index", old.digest)));
        }
    }
}

fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}

fn path_bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

fn digest(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// JSON text of a schema.
fn json_of(schema: SchemaText) -> Result<String, Error> {
    match schema.format() {
        Format::Json => Ok(schema.into_text()),
        Format::Yaml => Ok(schema.document()?.to_json(Escapes::Needed)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = r#"{"name": "p", "resources": {"p:index:A": {"description": "one"}}}"#;

    struct World {
        folder: tempfile::TempDir,
        notes: Notes,
    }

    impl World {
        fn new(text: &str) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let notes = Notes {
                folder: folder.path().join("notes"),
            };
            let world = World { folder, notes };
            world.write(text);
            world
        }

        fn path(&self) -> PathBuf {
            self.folder.path().join("schema.json")
        }

        /// Writes the schema with an old modification time.
        fn write(&self, text: &str) {
            fs::write(self.path(), text).unwrap();
        }

        /// Backdates the note, so that it counts as settled.
        fn note(&self) {
            let (index, file) = self.notes.find(&self.path()).unwrap();
            let path = self.path().canonicalize().unwrap();
            let note = self
                .notes
                .folder
                .join("files")
                .join(digest(path_bytes(&path)));
            let seen = Seen {
                stamp: Stamp::of(&file).unwrap(),
                digest: digest(&fs::read(&path).unwrap()),
            };
            self.notes.note(&note, &seen, &index, None);
        }

        fn description(&self) -> String {
            let (index, file) = self.notes.find(&self.path()).unwrap();
            let mut text = Text::File(file);
            let excerpt = index
                .excerpt(|_, _| true, |place| text.part(place))
                .unwrap();
            let value: serde_json::Value = serde_json::from_str(&excerpt).unwrap();
            value["resources"]["p:index:A"]["description"].to_string()
        }

        fn indexes(&self) -> Vec<PathBuf> {
            let entries = fs::read_dir(&self.notes.folder).into_iter().flatten();
            let paths = entries.map(|entry| entry.unwrap().path());
            paths.filter(|path| path.is_file()).collect()
        }
    }

    #[test]
    fn a_file_that_has_just_changed_is_not_noted() {
        let world = World::new(SCHEMA);
        assert_eq!(world.description(), "\"one\"");
        assert!(world.indexes().is_empty());
    }

    #[test]
    fn what_is_noted_is_used_until_the_file_changes() {
        let world = World::new(SCHEMA);
        world.note();
        let [index] = &world.indexes()[..] else {
            panic!("one index");
        };
        // An index with a correct checksum and wrong contents proves that the index is used.
        let other = SchemaIndex::new(&SCHEMA.replace("\"p\"", "\"other\"")).unwrap();
        fs::write(index, other.to_bytes()).unwrap();
        let (found, _) = world.notes.find(&world.path()).unwrap();
        assert_eq!(found.to_bytes(), other.to_bytes());
        world.write(&SCHEMA.replace("one", "three"));
        assert_eq!(world.description(), "\"three\"");
    }

    #[test]
    fn damaged_notes_are_made_anew() {
        let world = World::new(SCHEMA);
        for damage in [&b""[..], b"plumbix1", b"{}"] {
            world.note();
            for index in world.indexes() {
                fs::write(index, damage).unwrap();
            }
            assert_eq!(world.description(), "\"one\"");
            for entry in fs::read_dir(world.notes.folder.join("files")).unwrap() {
                fs::write(entry.unwrap().path(), damage).unwrap();
            }
            assert_eq!(world.description(), "\"one\"");
        }
    }

    #[test]
    fn many_may_look_at_the_same_time() {
        let world = World::new(SCHEMA);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        world.note();
                        assert_eq!(world.description(), "\"one\"");
                    }
                });
            }
        });
        assert_eq!(world.indexes().len(), 1);
    }
}
