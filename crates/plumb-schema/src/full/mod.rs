//! Strict binding of a whole schema (`schema.md` 3 to 14).
//!
//! 1. [`shape`](crate::shape) reports values of the wrong kind.
//! 2. The sections declare their tokens, sorted ([`section`]); from then on a reference is an index into a list.
//! 3. Every member is bound ([`members`], [`properties`], [`types`]). An invalid type is reported and becomes
//!    [`TypeKind::Invalid`](crate::bound::TypeKind::Invalid), which is compatible with everything, so that one error is
//!    reported only once.
//! 4. Checks that need the whole package come last: methods, colliding names, cycles of required properties, references in
//!    descriptions.
//!
//! **Recursion is limited by the depth of the document**, and each step takes linear or logarithmic time in its
//! size.

mod collisions;
mod cycles;
mod docs;
mod members;
mod methods;
mod properties;
mod references;
mod relations;
mod section;
mod types;

use std::sync::{Arc, LazyLock};

use regex::Regex;
use rustc_hash::FxHashSet;

use crate::bound::{About, ExternalPackage, Language, Package};
use crate::document::{Document, Node};
use crate::package::{PackageSchema, tolerant_version};
use crate::problem::{At, Problem, Problems};
use crate::shape;
use crate::token::ModuleFormat;
use section::Sections;

/// Schemas of the packages in references.
pub trait Packages {
    /// The schema of a package; any version if `version` is `None`.
    fn find(&self, name: &str, version: Option<&semver::Version>) -> Option<Arc<PackageSchema>>;
}

/// Options of binding.
#[derive(Clone, Copy)]
pub struct BindOptions<'o> {
    /// Whether references may have no destination. Generators then use the token.
    pub allow_dangling: bool,
    /// Schemas of other packages.
    pub packages: &'o dyn Packages,
}

/// Implementation of [`Packages`] without any package.
#[derive(Clone, Copy, Debug)]
pub struct NoPackages;

impl Packages for NoPackages {
    fn find(&self, _: &str, _: Option<&semver::Version>) -> Option<Arc<PackageSchema>> {
        None
    }
}

/// Result of binding.
#[derive(Debug)]
pub struct Bound<'d> {
    /// The package. If there are errors among the problems, it is fit for inspection only.
    pub package: Package<'d>,
    /// All problems, in the order of the text.
    pub problems: Vec<Problem>,
}

impl Bound<'_> {
    /// Whether there are no errors.
    pub fn is_usable(&self) -> bool {
        !self.problems.iter().any(Problem::is_error)
    }
}

/// Binds a whole schema.
pub fn bind<'d>(document: &'d Document<'d>, options: BindOptions<'_>) -> Bound<'d> {
    let mut problems = Problems::default();
    shape::check(document, &mut problems);
    let root = &document.root;
    let name = root.get("name").and_then(Node::as_str).unwrap_or_default();
    let mut binder = Binder {
        root,
        name,
        version: text(root, "version").and_then(tolerant_version),
        module_format: ModuleFormat::new(None),
        allowed: texts(root, "allowedPackageNames"),
        options,
        sections: Sections::declare(root),
        externals: Vec::new(),
        dangling: FxHashSet::default(),
        method_functions: FxHashSet::default(),
        problems,
    };
    let package = binder.package();
    binder.check_whole(&package);
    Bound {
        package,
        problems: binder.problems.finish(document),
    }
}

struct Binder<'d, 'o> {
    root: &'d Node<'d>,
    name: &'d str,
    version: Option<semver::Version>,
    module_format: ModuleFormat,
    allowed: Vec<&'d str>,
    options: BindOptions<'o>,
    sections: Sections<'d>,
    externals: Vec<ExternalPackage>,
    /// Tokens without a definition that have been reported.
    dangling: FxHashSet<String>,
    /// Tokens of functions that are methods.
    method_functions: FxHashSet<&'d str>,
    problems: Problems,
}

static NAME: LazyLock<Regex> = LazyLock::new(|| pattern("^[a-zA-Z][-a-zA-Z0-9_]*$"));
static NAMESPACE: LazyLock<Regex> = LazyLock::new(|| pattern("^([a-z][a-z0-9]*)(-[a-z0-9]+)*$"));

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is a constant of this module")
}

impl<'d> Binder<'d, '_> {
    fn package(&mut self) -> Package<'d> {
        let root = self.root;
        self.check_identity();
        self.module_format = self.bind_module_format();
        let parameterization = self.parameterization();
        self.check_tokens();
        Package {
            name: self.name,
            about: about(root),
            download_url: text(root, "pluginDownloadURL"),
            namespace: text(root, "namespace"),
            support_pack: parameterization.is_some() || self.support_pack(),
            allowed_package_names: self.allowed.clone(),
            language: language(root),
            config: self.config(),
            types: self.type_definitions(),
            provider: self.provider(parameterization.as_ref()),
            resources: self.resources(),
            functions: self.functions(),
            dependencies: self.dependencies(),
            parameterization,
            version: self.version.clone(),
            module_format: ModuleFormat::new(self.module_format.pattern()),
            externals: std::mem::take(&mut self.externals),
        }
    }

    fn check_identity(&mut self) {
        let at = place(&At::ROOT, self.root, "name");
        match self.name {
            "" => self.problems.error(&at, "no name provided"),
            "pulumi" | "input" => {
                let message = format!("`{}` is a reserved package name", self.name);
                self.problems.expected(&at, message, "another name");
            }
            name if !NAME.is_match(name) => self.problems.expected(
                &at,
                format!("`{name}` is no package name"),
                "a letter, then letters, digits, `-` and `_`",
            ),
            _ => {}
        }
        if let Some(namespace) = text(self.root, "namespace").filter(|it| !NAMESPACE.is_match(it)) {
            self.problems.expected(
                &place(&At::ROOT, self.root, "namespace"),
                format!("`{namespace}` is no namespace"),
                "lower-case letters and digits, in words joined by `-`",
            );
        }
        self.check_version();
    }

    fn check_version(&mut self) {
        let at = place(&At::ROOT, self.root, "version");
        let written = text(self.root, "version");
        if let (Some(written), None) = (written, &self.version) {
            let message = format!("`{written}` is no version");
            self.problems
                .expected(&at, message, "a semantic version such as `1.2.3`");
        }
        if written.is_none() && self.support_pack() {
            self.problems
                .error(&at, "a package with `meta.supportPack` needs a version");
        }
    }

    fn bind_module_format(&mut self) -> ModuleFormat {
        let meta = self.root.get("meta");
        let Some((meta, pattern)) = meta.and_then(|meta| Some((meta, text(meta, "moduleFormat")?)))
        else {
            return ModuleFormat::new(None);
        };
        let owner = place(&At::ROOT, self.root, "meta");
        let at = place(&owner, meta, "moduleFormat");
        match Regex::new(pattern) {
            Err(error) => {
                let message = format!("`{pattern}` is no regular expression: {error}");
                self.problems.error(&at, message);
            }
            Ok(regex) if regex.captures_len() < 2 => self.problems.expected(
                &at,
                format!("`{pattern}` captures nothing"),
                "a group that captures the name of the module",
            ),
            Ok(_) => return ModuleFormat::new(Some(pattern)),
        }
        ModuleFormat::new(None)
    }

    fn check_whole(&mut self, package: &Package<'d>) {
        self.check_collisions(package);
        self.check_cycles(package);
        self.check_docs(package);
    }
}

fn about<'d>(root: &'d Node<'d>) -> About<'d> {
    About {
        display_name: text(root, "displayName"),
        description: text(root, "description"),
        keywords: texts(root, "keywords"),
        homepage: text(root, "homepage"),
        license: text(root, "license"),
        attribution: text(root, "attribution"),
        repository: text(root, "repository"),
        logo_url: text(root, "logoUrl"),
        publisher: text(root, "publisher"),
    }
}

/// The text of `key`; `None` if it is empty or absent.
fn text<'d>(node: &'d Node<'d>, key: &str) -> Option<&'d str> {
    node.get(key)?.as_str().filter(|text| !text.is_empty())
}

fn texts<'d>(node: &'d Node<'d>, key: &str) -> Vec<&'d str> {
    node.get(key)
        .map(|list| list.items().iter().filter_map(Node::as_str).collect())
        .unwrap_or_default()
}

fn flag(node: &Node<'_>, key: &str) -> bool {
    node.get(key).and_then(Node::as_bool).unwrap_or_default()
}

fn language<'d>(node: &'d Node<'d>) -> Language<'d> {
    Language(node.get("language"))
}

/// The position of `key` below `node`, even if the key is absent.
fn place<'a>(at: &'a At<'a>, node: &Node<'_>, key: &'a str) -> At<'a> {
    let found = node
        .entries()
        .iter()
        .rev()
        .find(|(name, _)| name.name == key);
    match found {
        Some((name, _)) => at.key(key, name.offset),
        None => at.absent(key),
    }
}
