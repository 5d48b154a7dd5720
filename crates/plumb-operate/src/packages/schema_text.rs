//! Schema of a package as text, with its source (`schema.md` 1).

use std::fs;
use std::io::Read as _;

use plumb_plugin::discovery::Repository;
use plumb_plugin::is_repository;
use plumb_schema::{BindOptions, Bound, Document, Format, bind};

use super::plugins::{Plugins, Wanted, of_plugin};
use crate::{Context, Error};

/// A schema's text, with its source.
pub struct SchemaText {
    text: String,
    format: Format,
    /// Name of the source in messages.
    origin: String,
    /// Version of the plugin, for schemas without a version.
    version: Option<semver::Version>,
    /// Source of the plugin, if the user has named one.
    place: Place,
}

/// Source of a plugin.
#[derive(Debug, Default)]
pub(super) enum Place {
    /// As given in its schema.
    #[default]
    Unsaid,
    Server(String),
    Repository(Repository),
}

impl SchemaText {
    /// Loads the schema of `source`, with the parameterization `parameters`.
    pub fn load(source: &str, parameters: &[String], ctx: &Context) -> Result<Self, Error> {
        Self::load_from(source, parameters, None, ctx)
    }

    /// Loads like [`SchemaText::load`]; a missing plugin is downloaded from `server`.
    pub fn load_from(
        source: &str,
        parameters: &[String],
        server: Option<&str>,
        ctx: &Context,
    ) -> Result<Self, Error> {
        let wanted = Wanted {
            source,
            parameters,
            extension: None,
            server,
        };
        Self::load_wanted(wanted, ctx)
    }

    /// Loads the schema of a package.
    pub fn load_wanted(wanted: Wanted<'_>, ctx: &Context) -> Result<Self, Error> {
        let source = wanted.source;
        if let Some(format) = Format::of_file(source).filter(|_| !is_repository(source)) {
            if !wanted.parameters.is_empty() || wanted.extension.is_some() {
                let kind = source.rsplit('.').next().unwrap_or_default();
                return Err(Error::user(format!(
                    "parameterization arguments are not supported for {kind} files"
                )));
            }
            let path = ctx.environment.cwd.join(source);
            let bytes =
                fs::read(&path).map_err(|error| Error::user(crate::go::open(source, &error)))?;
            return Ok(Self::of_bytes(bytes, format, source));
        }
        of_plugin(wanted, ctx)
    }

    /// The schema of a package that is loaded already.
    pub fn of_package(package: &plumb_schema::PackageSchema) -> Self {
        let bytes = package.text().as_bytes().to_vec();
        Self::of_bytes(bytes, Format::Json, package.name())
    }

    /// Reads JSON from standard input.
    pub fn from_stdin() -> Result<Self, Error> {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes)?;
        Ok(Self::of_bytes(bytes, Format::Json, "<stdin>"))
    }

    /// A schema as JSON, derived from one from `origin`.
    pub fn of_json(text: String, origin: &str, version: Option<semver::Version>) -> Self {
        SchemaText {
            text,
            format: Format::Json,
            origin: origin.to_owned(),
            version,
            place: Place::Unsaid,
        }
    }

    /// Replaces the version of the plugin.
    pub(super) fn with_version(mut self, version: Option<semver::Version>) -> Self {
        self.version = version;
        self
    }

    /// Names the source of the plugin.
    pub(super) fn at(mut self, place: Place) -> Self {
        self.place = place;
        self
    }

    /// Format of the text.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Place of the text, for messages.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Version of the package, where the source of the text knows it.
    pub fn version(&self) -> Option<&semver::Version> {
        self.version.as_ref()
    }

    /// The text itself.
    pub fn into_text(self) -> String {
        self.text
    }

    fn of_bytes(bytes: Vec<u8>, format: Format, origin: &str) -> Self {
        let text = String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        SchemaText {
            text,
            format,
            origin: origin.to_owned(),
            version: None,
            place: Place::Unsaid,
        }
    }

    /// The document.
    pub fn document(&self) -> Result<Document<'_>, Error> {
        let mut document = Document::read(&self.text, self.format).map_err(|problem| {
            let (line, column) = (problem.line, problem.column);
            Error::user(format!("{}:{line}:{column}: {problem}", self.origin))
        })?;
        if document.is_empty() {
            return Err(Error::user(format!("{} has no schema", self.origin)));
        }
        if let Some(version) = &self.version {
            document.fill_version(version);
        }
        self.place.write_into(&mut document, self.version.as_ref());
        Ok(document)
    }

    /// Binds the whole schema, and reports its errors.
    pub fn bind<'d>(
        &self,
        document: &'d Document<'d>,
        allow_dangling: bool,
        ctx: &Context,
    ) -> Result<Bound<'d>, Error> {
        let plugins = Plugins::new(ctx)?;
        let options = BindOptions {
            allow_dangling,
            packages: &plugins,
        };
        let bound = bind(document, options);
        for problem in &bound.problems {
            let (line, column) = (problem.line, problem.column);
            let text = format!("{}:{line}:{column}: {problem}", self.origin);
            if problem.is_error() {
                ctx.printer.error(&text);
            } else {
                ctx.printer.warning(&text);
            }
        }
        Ok(bound)
    }
}

impl Place {
    /// Writes the source of the plugin to the schema, so that SDKs contain it (`schema.md` 1).
    fn write_into(&self, document: &mut Document<'_>, version: Option<&semver::Version>) {
        match self {
            Place::Unsaid => {}
            Place::Server(server) => document.set_text("pluginDownloadURL", server),
            Place::Repository(repository) => {
                document.set_text("pluginDownloadURL", &repository.download_url());
                if document.root().get("namespace").is_none() {
                    document.set_text("namespace", &repository.owner());
                }
                // The version of a source plugin is the one that was fetched, even if its schema contains
                // another.
                if let Some(version) = version {
                    document.set_text("version", &version.to_string());
                }
            }
        }
    }
}
