//! Text files.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use plumb_provider::prelude::*;

use crate::Settings;

#[derive(Clone, Debug, PartialEq, Properties)]
pub struct FileArgs {
    /// Where the file is, below the root of the provider; the name of the resource and a few digits, if it is not set.
    #[property(replace)]
    path: Option<String>,
    /// The content of the file.
    content: String,
    /// Who may read it.
    #[property(default = "everybody")]
    readers: Readers,
}

#[derive(Clone, Debug, Properties)]
pub struct FileState {
    #[property(flatten)]
    args: FileArgs,
    /// Number of bytes.
    #[property(follows = ["content"])]
    size: i64,
}

/// Who may read a file.
#[derive(Clone, Copy, Debug, PartialEq, EnumType)]
pub enum Readers {
    /// Only its owner.
    #[property(name = "owner")]
    Owner,
    /// Everybody on this machine.
    #[property(name = "everybody")]
    Everybody,
}

pub struct File;

/// A text file.
#[plumb_provider::resource]
impl Resource for File {
    type Args = FileArgs;
    type State = FileState;

    async fn check(_: &Cx, check: &mut Check) -> Result<()> {
        check.autoname("path")?;
        if let Some(path) = check.get::<String>("path")?
            && path.split('/').any(|part| part == "..")
        {
            check.fail("path", "a path must stay below the root of the provider");
        }
        Ok(())
    }

    async fn preview(_: &Cx, preview: &mut Preview<File>) -> Result<()> {
        if let Some(content) = preview.get::<String>("content")? {
            preview.set("size", content.len());
        }
        Ok(())
    }

    async fn create(cx: &Cx, args: FileArgs) -> Result<Created<FileState>> {
        let path = args.path.clone().context("the check sets a path")?;
        if place(cx, &path)?.exists() {
            plumb_provider::bail!(
                "there is a file at `{path}` already: import it, or choose another path"
            );
        }
        Ok(Created::new(path.clone(), write(cx, &path, args)?))
    }

    async fn update(cx: &Cx, update: Update<File>) -> Result<Updated<FileState>> {
        Ok(write(cx, &update.id, update.args)?.into())
    }

    async fn read(cx: &Cx, read: Read<File>) -> Result<Option<Found<File>>> {
        let content = match fs::read_to_string(place(cx, &read.id)?) {
            Ok(content) => content,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let readers = read.args.map_or(Readers::Everybody, |it| it.readers);
        let args = FileArgs {
            path: Some(read.id),
            content,
            readers,
        };
        Ok(Some(Found::new(args.clone(), state(args)?)))
    }

    async fn delete(cx: &Cx, delete: Delete<File>) -> Result<()> {
        match fs::remove_file(place(cx, &delete.id)?) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }
}

/// The file at `path` below the root.
fn place(cx: &Cx, path: &str) -> Result<PathBuf> {
    Ok(PathBuf::from(&cx.config::<Settings>()?.root).join(path))
}

fn write(cx: &Cx, path: &str, args: FileArgs) -> Result<FileState> {
    let place = place(cx, path)?;
    if let Some(folder) = place.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(&place, &args.content).context(format!("cannot write `{path}`"))?;
    restrict(&place, args.readers)?;
    state(args)
}

#[cfg(unix)]
fn restrict(place: &std::path::Path, readers: Readers) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = match readers {
        Readers::Owner => 0o600,
        Readers::Everybody => 0o644,
    };
    Ok(fs::set_permissions(
        place,
        fs::Permissions::from_mode(mode),
    )?)
}

#[cfg(not(unix))]
fn restrict(_: &std::path::Path, _: Readers) -> Result<()> {
    Ok(())
}

fn state(args: FileArgs) -> Result<FileState> {
    let size = i64::try_from(args.content.len())?;
    Ok(FileState { args, size })
}

#[derive(Clone, Debug, Properties)]
pub struct CountArgs {
    /// The text.
    text: String,
}

#[derive(Clone, Debug, Properties)]
pub struct Count {
    /// Number of words.
    words: i64,
}

/// Counts the words of a text.
#[plumb_provider::function]
pub async fn count_words(_: &Cx, args: CountArgs) -> Result<Count> {
    let words = args.text.split_whitespace().count();
    Ok(Count {
        words: i64::try_from(words)?,
    })
}

#[cfg(test)]
mod tests {
    use plumb_provider::prelude::*;
    use plumb_provider::testing::{Step, Tester};

    /// A provider whose root is a new folder.
    fn tester(name: &str) -> Tester {
        let root = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
        let tester = Tester::new(crate::provider()).expect("the schema is valid");
        tester
            .configure(value!({ "root": root.display().to_string() }))
            .expect("the configuration is valid");
        tester
    }

    #[test]
    fn a_file_is_written_changed_and_removed() -> Result<()> {
        let tester = tester("written");
        let mut file = tester.resource("index:File", "greeting");
        assert_eq!(file.apply(value!({ "content": "Hello" }))?, Step::Created);
        assert_eq!(file.output("size"), &Value::Number(5.0));
        assert_eq!(file.apply(value!({ "content": "Hello" }))?, Step::Same);
        assert_eq!(file.apply(value!({ "content": "Bye" }))?, Step::Updated);
        assert_eq!(
            file.apply(value!({ "content": "Bye", "path": "b" }))?,
            Step::Replaced
        );
        assert!(file.refresh()?);
        let mut other = tester.resource("index:File", "other");
        let error = other
            .apply(value!({ "content": "", "path": "b" }))
            .expect_err("it exists");
        assert!(error.to_string().contains("there is a file at `b` already"));
        assert!(other.import("b")?);
        file.delete()?;
        assert!(!other.refresh()?);
        Ok(())
    }

    #[test]
    fn wrong_inputs_are_refused() -> Result<()> {
        let tester = tester("wrong");
        let file = tester.resource("index:File", "greeting");
        let failures = file.failures(value!({ "path": "../x", "readers": "nobody" }))?;
        let properties: Vec<_> = failures
            .iter()
            .map(|(property, _)| property.as_str())
            .collect();
        assert_eq!(properties, ["path", "content", "readers"]);
        Ok(())
    }
}
