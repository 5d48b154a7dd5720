//! Loading of programs: reads the files, then the schemas that they refer to, then binds.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::Arc;

use hcl_edit::expr::{Expression, FuncCall};
use hcl_edit::structure::{Block, Structure};
use hcl_edit::visit::{Visit, visit_block, visit_func_call};
use plumb_eval::diagnostic::{Diagnostic, Severity};
use plumb_eval::source::{SourceFile, Span};
use plumb_schema::{PackageQuery, QueryParameterization, SchemaLoader};

use crate::bind;
use crate::packages::{Packages, package_of};
use crate::program::{Leniency, Loaded, Problem, Program};
use crate::syntax::{Parsed, span_of};

/// Extension of PCL files.
const ENDING: &str = ".pp";

/// Texts of a program and of its subfolders, by path with `/` as separator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources(BTreeMap<String, String>);

impl Sources {
    /// Sources with these texts by path.
    pub fn new(texts: impl IntoIterator<Item = (String, String)>) -> Self {
        Sources(texts.into_iter().collect())
    }

    /// Reads all PCL files in `folder` and its subfolders, except hidden folders and those of dependencies.
    pub fn in_folder(folder: &Path) -> io::Result<Self> {
        let mut sources = Sources::default();
        sources.read(folder, "")?;
        Ok(sources)
    }

    fn read(&mut self, folder: &Path, prefix: &str) -> io::Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_ignored = name.starts_with('.') || name == "node_modules";
            if is_ignored {
                continue;
            }
            let path = entry.path();
            if path.is_dir() {
                self.read(&path, &format!("{prefix}{name}/"))?;
            } else if name.ends_with(ENDING) {
                let text = std::fs::read_to_string(&path)?;
                self.0.insert(format!("{prefix}{name}"), text);
            }
        }
        Ok(())
    }

    /// Paths with their texts.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
    }

    fn paths_in<'s>(&'s self, folder: &str) -> impl Iterator<Item = &'s str> {
        let prefix = if folder.is_empty() {
            String::new()
        } else {
            format!("{folder}/")
        };
        let paths = self.0.keys();
        paths
            .filter(move |path| {
                path.strip_prefix(&prefix)
                    .is_some_and(|rest| !rest.contains('/') && rest.ends_with(ENDING))
            })
            .map(String::as_str)
    }

    fn parse_folder(&self, folder: &str, problems: &mut Vec<Problem>) -> Vec<Parsed> {
        let mut files = Vec::new();
        for path in self.paths_in(folder) {
            let text = self.0[path].as_str();
            let source = Arc::new(SourceFile::new(path, path.into(), text));
            match Parsed::read(source.clone()) {
                Ok(parsed) => files.push(parsed),
                Err(diagnostic) => problems.push(Problem { source, diagnostic }),
            }
        }
        files
    }
}

/// Folder that a component in `folder` refers to; `None` if it is outside of the program.
pub(crate) fn folder_below(folder: &str, source: &str) -> Option<String> {
    let mut steps: Vec<&str> = folder.split('/').filter(|it| !it.is_empty()).collect();
    for step in source.split('/') {
        match step {
            "" | "." => {}
            ".." => {
                steps.pop()?;
            }
            step => steps.push(step),
        }
    }
    Some(steps.join("/"))
}

impl Program {
    /// Loads and binds the program in the root folder of `sources`, with schemas from `loader`.
    pub async fn load(sources: &Sources, loader: &dyn SchemaLoader, leniency: Leniency) -> Loaded {
        let mut problems = Vec::new();
        let mut folders = BTreeMap::new();
        for (path, _) in sources.iter() {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            if !folders.contains_key(folder) {
                let files = sources.parse_folder(folder, &mut problems);
                folders.insert(folder.to_owned(), files);
            }
        }
        let mut needs = Needs::default();
        for file in folders.values().flatten() {
            needs.source = Some(file.source.clone());
            needs.visit_body(&file.body);
        }
        let packages = needs.load(loader, leniency, &mut problems).await;
        let bound = bind::program(&folders, &packages, leniency);
        problems.extend(bound.problems);
        problems.sort_by(|a, b| {
            let key = |it: &Problem| it.diagnostic.span.map(|span| span.start);
            (&a.source.name, key(a)).cmp(&(&b.source.name, key(b)))
        });
        Loaded {
            program: bound.program,
            problems,
        }
    }
}

/// Packages that the texts refer to, with their descriptors.
#[derive(Default)]
struct Needs {
    source: Option<Arc<SourceFile>>,
    /// Names of packages, with the first position of each.
    names: BTreeMap<String, (Arc<SourceFile>, Span)>,
    queries: BTreeMap<String, PackageQuery>,
    malformed: Vec<Problem>,
}

impl Needs {
    fn need(&mut self, token: &str, span: Span) {
        if let Some(source) = &self.source {
            let place = (source.clone(), span);
            self.names
                .entry(package_of(token).to_owned())
                .or_insert(place);
        }
    }

    async fn load(
        self,
        loader: &dyn SchemaLoader,
        leniency: Leniency,
        problems: &mut Vec<Problem>,
    ) -> Packages {
        problems.extend(self.malformed);
        let mut packages = Packages::default();
        let declared: BTreeSet<&String> = self.queries.keys().collect();
        for (name, (source, span)) in &self.names {
            let query = self.queries.get(name).cloned();
            let query = query.unwrap_or_else(|| PackageQuery::named(name));
            let found = match name.as_str() {
                "pulumi" => Ok(Some(plumb_schema::pulumi_package())),
                _ => loader.load(&query).await,
            };
            let (schema, reason) = match found {
                Ok(Some(schema)) => (Some(schema), String::new()),
                Ok(None) => (None, "it has no schema".to_owned()),
                Err(error) => (None, error.causes()),
            };
            if schema.is_none() {
                let declared = if declared.contains(name) {
                    ""
                } else {
                    "unknown "
                };
                let summary = format!("{declared}package '{name}' cannot be used");
                let diagnostic = Diagnostic {
                    severity: if leniency.unknown_types {
                        Severity::Warning
                    } else {
                        Severity::Error
                    },
                    ..Diagnostic::error(*span, summary).with_detail(reason)
                };
                problems.push(Problem {
                    source: source.clone(),
                    diagnostic,
                });
            }
            packages.insert(name, schema);
        }
        packages.link();
        packages
    }

    fn package_block(&mut self, block: &Block) {
        let text = |key: &str| {
            let value = block.body.get_attribute(key)?.value.as_str()?;
            Some(value.to_owned())
        };
        let label = block.labels.first().map(|it| it.as_str().to_owned());
        let Some(base) = text("baseProviderName").or(label) else {
            return self.malformed(block, "a package block needs a `baseProviderName`");
        };
        let version = text("baseProviderVersion");
        let parsed = version.as_deref().map(semver::Version::parse);
        if matches!(parsed, Some(Err(_))) {
            self.malformed(block, "`baseProviderVersion` is no version");
        }
        let parameter = block
            .body
            .blocks()
            .find(|it| it.has_ident("parameterization"));
        let parameterization = parameter.and_then(|parameter| {
            let text = |key: &str| parameter.body.get_attribute(key)?.value.as_str();
            Some(QueryParameterization {
                name: text("name")?.to_owned(),
                version: text("version")?.to_owned(),
                value: decoded(text("value")?)?,
            })
        });
        if parameter.is_some() && parameterization.is_none() {
            let wanted = "a parameterization needs a name, a version and a value in base64";
            self.malformed(block, wanted);
        }
        let name = parameterization.as_ref().map_or(&base, |it| &it.name);
        let query = PackageQuery {
            version: parsed.and_then(Result::ok),
            download_url: text("baseProviderDownloadUrl").filter(|url| !url.is_empty()),
            name: base.clone(),
            parameterization: parameterization.clone(),
        };
        match self.queries.get(name) {
            Some(known) if *known != query => {
                let summary = format!("package '{name}' is declared twice, in different ways");
                self.malformed(block, &summary);
            }
            _ => {
                self.queries.insert(name.clone(), query);
            }
        }
    }

    fn malformed(&mut self, block: &Block, summary: &str) {
        if let Some(source) = &self.source {
            self.malformed.push(Problem {
                source: source.clone(),
                diagnostic: Diagnostic::error(span_of(&block.ident), summary),
            });
        }
    }
}

impl Visit for Needs {
    fn visit_block(&mut self, block: &Block) {
        match (block.ident.as_str(), block.labels.as_slice()) {
            ("resource" | "read", [_, token, ..]) => self.need(token.as_str(), span_of(token)),
            ("package", _) => self.package_block(block),
            _ => {}
        }
        visit_block(self, block);
    }

    fn visit_func_call(&mut self, call: &FuncCall) {
        if call.name.name.as_str() == "invoke"
            && let Some(Expression::String(token)) = call.args.get(0)
        {
            self.need(token.value(), span_of(token));
        }
        visit_func_call(self, call);
    }
}

fn decoded(text: &str) -> Option<Vec<u8>> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode(text).ok()
}

/// Texts of the comments before an item, without comment markers.
pub fn comments(above: Option<&hcl_edit::RawString>) -> Vec<String> {
    let text = above.map(|it| it.to_string()).unwrap_or_default();
    let mut comments = Vec::new();
    let mut is_in_block = false;
    for line in text.lines() {
        let mut line = line.trim();
        if !is_in_block && let Some(rest) = line.strip_prefix("/*") {
            is_in_block = true;
            line = rest.trim_start_matches('*').trim_start();
            if line.is_empty() {
                continue;
            }
        }
        if is_in_block {
            let ended = line.strip_suffix("*/");
            is_in_block = ended.is_none();
            let inner = ended.unwrap_or(line).trim();
            let inner = inner.strip_prefix('*').unwrap_or(inner).trim_start();
            if !(inner.is_empty() && ended.is_some()) {
                comments.push(inner.to_owned());
            }
        } else if let Some(words) = line.strip_prefix("//").or_else(|| line.strip_prefix('#')) {
            comments.push(
                words
                    .strip_prefix(' ')
                    .unwrap_or(words)
                    .trim_end()
                    .to_owned(),
            );
        }
    }
    comments
}

/// Structures of a file.
pub(crate) fn structures(parsed: &Parsed) -> impl Iterator<Item = &Structure> {
    parsed.body.iter()
}
