//! `package gen-sdk`.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use plumb_codegen::{FileMap, FilePath, GenerateError, Language, Purpose, Sink, Supplement};
use plumb_operate::packages::SchemaText;
use plumb_operate::{Context, Error};
use plumb_schema::bound::Package;

/// Generate SDK(s) from a package or schema
///
/// Each language has a folder of its own below the output folder, which is emptied first. The package is a schema file, the
/// name of a plugin, with a version (`NAME@VERSION`) or without, or the path of a plugin's program or folder.
#[derive(Args, Debug)]
pub struct GenSdkArgs {
    /// The SDK language to generate: [nodejs|python|go|dotnet|java|rust|all]
    #[arg(long, default_value = "all")]
    pub language: String,
    /// The directory to write the SDK to
    #[arg(short, long, default_value = "./sdk")]
    pub out: String,
    /// The provider plugin version to generate the SDK for
    #[arg(long)]
    pub version: Option<String>,
    /// Generate an SDK appropriate for local usage
    #[arg(long)]
    pub local: bool,
    /// A folder of extra files to copy to the generated SDK, with a folder for each language
    #[arg(long, hide = true)]
    pub overlays: Option<String>,
    /// A URL to download plugins from
    #[arg(long)]
    pub server: Option<String>,
    /// The package
    pub source: String,
    /// Parameters that make another package of it
    pub parameters: Vec<String>,
}

pub(super) fn run(args: GenSdkArgs, ctx: &Context) -> Result<(), Error> {
    let languages = languages(&args.language)?;
    let schema =
        SchemaText::load_from(&args.source, &args.parameters, args.server.as_deref(), ctx)?;
    let document = schema.document()?;
    let mut bound = schema.bind(&document, true, ctx)?;
    if !bound.is_usable() {
        return Err(Error::user("the schema is not valid"));
    }
    if let Some(version) = &args.version {
        replace_version(&mut bound.package, version, ctx)?;
    }
    let purpose = if args.local {
        Purpose::Local
    } else {
        Purpose::Published
    };
    let out = ctx.environment.cwd.join(&args.out);
    for language in &languages {
        let supplement = Supplement {
            written: match &args.overlays {
                Some(folder) => overlays(&ctx.environment.cwd.join(folder).join(language.name()))?,
                None => FileMap::default(),
            },
            ..Supplement::default()
        };
        let root = out.join(language.name());
        write_sdk(&bound.package, *language, purpose, &supplement, root)?;
    }
    let what = match languages[..] {
        [_] => "SDK has",
        _ => "SDKs have",
    };
    ctx.printer
        .info(&format!("{what} been written to {}", out.display()));
    Ok(())
}

/// Writes an SDK, including hand-written files, to a folder that is emptied first.
pub(super) fn write_sdk(
    package: &Package<'_>,
    language: Language,
    purpose: Purpose,
    supplement: &Supplement,
    root: PathBuf,
) -> Result<(), Error> {
    let mut folder = Folder::empty(root)?;
    let sink = &mut folder;
    Ok(plumb_codegen::generate_with(
        package, language, purpose, supplement, sink,
    )?)
}

/// Hand-written files for a language; none if there is no folder for it.
fn overlays(folder: &Path) -> Result<FileMap, Error> {
    let mut files = FileMap::default();
    let mut open = vec![(folder.to_owned(), String::new())];
    while let Some((folder, below)) = open.pop() {
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && below.is_empty() => break,
            entries => entries.map_err(|error| Error::from(error).context(folder.display()))?,
        };
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let inner = format!("{below}{name}");
            if path.is_dir() {
                open.push((path, format!("{inner}/")));
                continue;
            }
            let text = fs::read_to_string(&path)
                .map_err(|error| Error::from(error).context(path.display()))?;
            files.file(FilePath::new(&inner)?, text)?;
        }
    }
    Ok(files)
}

fn languages(name: &str) -> Result<Vec<Language>, Error> {
    if name == "all" {
        return Ok(Language::ALL.to_vec());
    }
    let language = Language::from_name(name)
        .ok_or_else(|| Error::user(format!("unknown language {name:?}")))?;
    Ok(vec![language])
}

pub(super) fn replace_version(
    package: &mut Package<'_>,
    text: &str,
    ctx: &Context,
) -> Result<(), Error> {
    let version = plumb_plugin::discovery::parse_tolerant(text)
        .ok_or_else(|| Error::user(format!("invalid version {text:?}")))?;
    if let Some(old) = package.version.as_ref().filter(|old| **old != version) {
        ctx.printer
            .info(&format!("overriding package version {old} with {version}"));
    }
    package.version = Some(version);
    Ok(())
}

/// Folder of an SDK or of documentation.
pub(super) struct Folder {
    root: PathBuf,
    /// Existing subfolders.
    known: BTreeSet<PathBuf>,
    files: BTreeSet<FilePath>,
}

impl Folder {
    /// A folder with nothing in it.
    pub(super) fn empty(root: PathBuf) -> io::Result<Self> {
        match fs::remove_dir_all(&root) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        fs::create_dir_all(&root)?;
        Ok(Folder {
            root,
            known: BTreeSet::new(),
            files: BTreeSet::new(),
        })
    }

    /// Writes a file; an error if it was already written.
    fn take(&mut self, path: FilePath, content: &[u8]) -> Result<(), GenerateError> {
        if !self.files.insert(path.clone()) {
            return Err(GenerateError::SameFile(path));
        }
        self.write(&path, content)
            .map_err(|source| GenerateError::Write { path, source })
    }

    fn write(&mut self, path: &FilePath, content: &[u8]) -> io::Result<()> {
        let path = self.root.join(path.as_str());
        let folder = path.parent().unwrap_or(Path::new("."));
        if !self.known.contains(folder) {
            fs::create_dir_all(folder)?;
            self.known.insert(folder.to_owned());
        }
        fs::write(&path, content)
    }
}

impl Sink for Folder {
    fn file(&mut self, path: FilePath, text: String) -> Result<(), GenerateError> {
        self.take(path, text.as_bytes())
    }

    fn picture(&mut self, path: FilePath, content: &'static [u8]) -> Result<(), GenerateError> {
        self.take(path, content)
    }
}
