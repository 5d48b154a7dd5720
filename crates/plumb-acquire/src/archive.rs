//! Unpacking of untrusted archives.
//!
//! No entry is written outside the target folder, not even through links in the archive, and an archive cannot fill the
//! disk: **bytes, files and folders are counted as they are written**, because the sizes in the archive are not trusted. For
//! example, a sparse file is small in the archive and takes its full size on disk.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use flate2::read::GzDecoder;
use tar::{Archive, Entry, EntryType};

/// Maximum ratio of content to archive size, in addition to a fixed allowance.
const RATIO: u64 = 50;
const ALWAYS: u64 = 64 << 20;
/// Maximum number of files, folders and links.
const ENTRIES: usize = 500_000;

/// Errors of unpacking.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The archive is malformed, or the disk failed.
    #[error("could not unpack the archive")]
    Io(#[from] io::Error),
    /// An entry would be written outside the folder.
    #[error("the archive has an entry that would leave its folder: {}", path.display())]
    Escape {
        /// The entry.
        path: PathBuf,
    },
    /// An entry is not a file, folder or symbolic link.
    #[error("the archive has an entry that is no file, folder or symbolic link: {}", path.display())]
    Unexpected {
        /// The entry.
        path: PathBuf,
    },
    /// The content exceeds the limit.
    #[error(
        "the archive unpacks to more than {limit} bytes or {ENTRIES} files; it is not taken for a plugin"
    )]
    TooBig {
        /// Limit in bytes.
        limit: u64,
    },
}

/// Unpacks the `tar.gz` in `archive` into the folder `target`, which exists.
pub(crate) fn unpack(archive: &Path, target: &Path) -> Result<(), ArchiveError> {
    let file = File::open(archive)?;
    let limit = file
        .metadata()?
        .len()
        .saturating_mul(RATIO)
        .saturating_add(ALWAYS);
    // One byte more than the limit is read, so that excess content is detected.
    let content = GzDecoder::new(io::BufReader::new(file)).take(limit + 1);
    let mut archive = Archive::new(content);
    let mut budget = Budget {
        limit,
        bytes: limit,
        entries: ENTRIES,
    };
    let result = unpack_entries(&mut archive, target, &mut budget);
    if archive.into_inner().limit() == 0 {
        return Err(ArchiveError::TooBig { limit });
    }
    result
}

/// Remaining allowance of an archive: bytes, and entries of folders.
struct Budget {
    limit: u64,
    bytes: u64,
    entries: usize,
}

impl Budget {
    fn too_big(&self) -> ArchiveError {
        ArchiveError::TooBig { limit: self.limit }
    }

    fn entry(&mut self) -> Result<(), ArchiveError> {
        let left = self.entries.checked_sub(1);
        self.entries = left.ok_or_else(|| self.too_big())?;
        Ok(())
    }

    /// Writes `content`, within the allowance.
    fn write(&mut self, content: impl Read, file: &mut File) -> Result<(), ArchiveError> {
        // One byte more than the allowance is read, so that excess content is detected.
        let written = io::copy(&mut content.take(self.bytes.saturating_add(1)), file)?;
        let left = self.bytes.checked_sub(written);
        self.bytes = left.ok_or_else(|| self.too_big())?;
        Ok(())
    }
}

fn unpack_entries(
    archive: &mut Archive<impl Read>,
    target: &Path,
    budget: &mut Budget,
) -> Result<(), ArchiveError> {
    for entry in archive.entries()? {
        budget.entry()?;
        unpack_entry(entry?, target, budget)?;
    }
    Ok(())
}

fn unpack_entry(
    mut entry: Entry<'_, impl Read>,
    target: &Path,
    budget: &mut Budget,
) -> Result<(), ArchiveError> {
    let path = entry.path()?.into_owned();
    let Some(inside) = inside(&path) else {
        return Err(ArchiveError::Escape { path });
    };
    if inside.as_os_str().is_empty() {
        return Ok(());
    }
    let place = target.join(&inside);
    match entry.header().entry_type() {
        EntryType::Directory => make_folders(target, &inside, &path, budget),
        EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {
            make_folders(target, parent_of(&inside), &path, budget)?;
            write_file(&mut entry, &place, budget)
        }
        EntryType::Symlink => {
            make_folders(target, parent_of(&inside), &path, budget)?;
            make_link(&entry, &inside, &place)
        }
        EntryType::XGlobalHeader => Ok(()),
        _ => Err(ArchiveError::Unexpected { path }),
    }
}

fn parent_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// The normalized form of a relative path; `None` if it leaves the folder.
fn inside(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(part) => plain.push(part),
            Component::CurDir => {}
            Component::ParentDir => {
                if !plain.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(plain)
}

/// Creates the folders of `inside` one by one, because none of them may be a link that leads elsewhere.
fn make_folders(
    target: &Path,
    inside: &Path,
    entry: &Path,
    budget: &mut Budget,
) -> Result<(), ArchiveError> {
    let mut folder = target.to_owned();
    for part in inside.components() {
        folder.push(part);
        match fs::symlink_metadata(&folder) {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => {
                return Err(ArchiveError::Escape {
                    path: entry.to_owned(),
                });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                budget.entry()?;
                make_folder(&folder)?;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Creates a folder that only its owner can access.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Removes a file or link of an earlier entry, so that nothing is written through a link.
fn clear(place: &Path) -> io::Result<()> {
    match fs::remove_file(place) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn write_file(
    entry: &mut Entry<'_, impl Read>,
    place: &Path,
    budget: &mut Budget,
) -> Result<(), ArchiveError> {
    clear(place)?;
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        let mode = entry.header().mode().unwrap_or(0o600) & 0o777;
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode | 0o600);
    }
    let mut file = options.open(place)?;
    budget.write(entry, &mut file)
}

#[cfg(unix)]
fn make_link(
    entry: &Entry<'_, impl Read>,
    inside_target: &Path,
    place: &Path,
) -> Result<(), ArchiveError> {
    let escape = || ArchiveError::Escape {
        path: inside_target.to_owned(),
    };
    let link = entry.link_name()?.ok_or_else(escape)?;
    if link.is_absolute() || inside(&parent_of(inside_target).join(&link)).is_none() {
        return Err(escape());
    }
    clear(place)?;
    std::os::unix::fs::symlink(straight(&link), place)?;
    Ok(())
}

/// The link target with every `..` at its beginning. After the name of another link, `..` would lead to the parent of that
/// link's target: `a/b/up/..` is outside of the folder if `a/b/up` leads to the folder.
#[cfg(unix)]
fn straight(link: &Path) -> PathBuf {
    let mut straight = PathBuf::new();
    for component in link.components() {
        let last = straight.components().next_back();
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(last, Some(Component::Normal(_))) => {
                straight.pop();
            }
            other => straight.push(other),
        }
    }
    if straight.as_os_str().is_empty() {
        straight.push(".");
    }
    straight
}

#[cfg(not(unix))]
fn make_link(
    _entry: &Entry<'_, impl Read>,
    inside_target: &Path,
    _place: &Path,
) -> Result<(), ArchiveError> {
    Err(ArchiveError::Unexpected {
        path: inside_target.to_owned(),
    })
}
