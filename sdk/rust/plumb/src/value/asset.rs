//! Files and folders as values.

use std::collections::BTreeMap;

/// A file, text or address whose content is an input.
///
/// ```
/// use plumb::{Asset, value};
/// let inputs = value!({
///     "source": Asset::file("index.html"),
///     "config": Asset::text("debug = true"),
///     "logo": Asset::remote("https://example.org/logo.png"),
/// });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asset {
    /// The content itself.
    Text(String),
    /// A file, relative to the folder of the program.
    File(String),
    /// An address to load.
    Remote(String),
}

impl Asset {
    /// The content itself.
    pub fn text(text: impl Into<String>) -> Self {
        Asset::Text(text.into())
    }

    /// A file, relative to the folder of the program.
    pub fn file(path: impl Into<String>) -> Self {
        Asset::File(path.into())
    }

    /// An address to load.
    pub fn remote(uri: impl Into<String>) -> Self {
        Asset::Remote(uri.into())
    }
}

/// A folder of files.
///
/// ```
/// use plumb::{Archive, Asset, value};
/// let code = Archive::of([("main.py", Asset::file("src/main.py")), ("settings.json", Asset::text("{}"))]);
/// let inputs = value!({ "code": code, "layer": Archive::path("dist/layer.zip") });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Archive {
    /// A folder or an archive file, relative to the folder of the program.
    Path(String),
    /// An address to load.
    Remote(String),
    /// Assets and archives by their names inside.
    Assets(BTreeMap<String, AssetOrArchive>),
}

impl Archive {
    /// A folder or an archive file, relative to the folder of the program.
    pub fn path(path: impl Into<String>) -> Self {
        Archive::Path(path.into())
    }

    /// An address to load.
    pub fn remote(uri: impl Into<String>) -> Self {
        Archive::Remote(uri.into())
    }

    /// Assets and archives by their names inside.
    ///
    /// ```
    /// use plumb::{Archive, Asset};
    /// let site = Archive::of([("index.html", Asset::text("<h1>Hello</h1>"))]);
    /// ```
    pub fn of<K: Into<String>, V: Into<AssetOrArchive>>(
        members: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        let members = members.into_iter();
        Archive::Assets(members.map(|(name, it)| (name.into(), it.into())).collect())
    }
}

/// Either of the two.
///
/// ```
/// use plumb::{Archive, AssetOrArchive, Input};
/// fn source(source: impl Into<Input<AssetOrArchive>>) { let _ = source.into(); }
/// source(Archive::path("dist"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AssetOrArchive {
    /// A file.
    Asset(Asset),
    /// A folder.
    Archive(Archive),
}

impl From<Asset> for AssetOrArchive {
    fn from(asset: Asset) -> Self {
        AssetOrArchive::Asset(asset)
    }
}

impl From<Archive> for AssetOrArchive {
    fn from(archive: Archive) -> Self {
        AssetOrArchive::Archive(archive)
    }
}
