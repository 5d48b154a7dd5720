//! Resolution of a program's tokens (`yaml-runtime.md` 5.4).

use std::sync::Arc;

use ecow::EcoString;
use futures::future::join_all;
use plumb_schema::{
    Function, PackageQuery, PackageSchema, QueryParameterization, Resource, SchemaLoader,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::diagnostic::Diagnostic;
use crate::graph::Graph;
use crate::packages::PackageDeclaration;
use crate::syntax::program::{InvokeDecl, ResourceDecl, Syntax, package_of};
use crate::syntax::source::Span;

/// Types of a program's resources and invokes, by index.
#[derive(Debug, Default)]
pub(crate) struct Types {
    pub(crate) resources: Vec<Resolved<Resource>>,
    pub(crate) invokes: Vec<Resolved<Function>>,
    /// Property paths whose changes replace a resource, by full token.
    pub(crate) replace_on_changes: FxHashMap<EcoString, Vec<EcoString>>,
}

/// A resolved token.
#[derive(Debug)]
pub(crate) struct Resolved<T> {
    /// Full token.
    pub(crate) token: EcoString,
    /// Schema of the package and of the member; `None` if no schema is available.
    pub(crate) schema: Option<(Arc<PackageSchema>, Arc<T>)>,
    /// Index of the package's declaration.
    pub(crate) declaration: Option<usize>,
    /// Error if the token could not be resolved.
    pub(crate) problem: Option<Diagnostic>,
}

impl<T> Clone for Resolved<T> {
    fn clone(&self) -> Self {
        Resolved {
            token: self.token.clone(),
            schema: self.schema.clone(),
            declaration: self.declaration,
            problem: self.problem.clone(),
        }
    }
}

/// Kind of package member, as needed for resolution.
trait Member: Sized {
    const KIND: &'static str;
    fn find(package: &Arc<PackageSchema>, token: &str) -> Option<(EcoString, Option<Arc<Self>>)>;
}

impl Member for Resource {
    const KIND: &'static str = "resource type";

    fn find(package: &Arc<PackageSchema>, token: &str) -> Option<(EcoString, Option<Arc<Self>>)> {
        if token.starts_with("pulumi:providers:") {
            return Some((token.into(), package.provider().ok()));
        }
        let full = package.resolve_resource(token)?;
        Some((full.into(), package.resource(full)?.ok()))
    }
}

impl Member for Function {
    const KIND: &'static str = "function";

    fn find(package: &Arc<PackageSchema>, token: &str) -> Option<(EcoString, Option<Arc<Self>>)> {
        let full = package.resolve_function(token)?;
        Some((full.into(), package.function(full)?.ok()))
    }
}

/// Package of a token, at the requested version.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Wanted {
    package: String,
    version: Option<String>,
    download_url: Option<String>,
}

/// Candidate packages, in order of precedence.
type Candidates = Vec<(Option<usize>, Candidate)>;

/// A package that may contain a token.
#[derive(Debug)]
enum Candidate {
    Loaded(Arc<PackageSchema>),
    /// There is no schema loader.
    Unavailable,
    /// The schema could not be loaded, with the error.
    Failed(String),
}

impl Candidate {
    fn schema(&self) -> Option<&Arc<PackageSchema>> {
        match self {
            Candidate::Loaded(schema) => Some(schema),
            Candidate::Unavailable | Candidate::Failed(_) => None,
        }
    }
}

/// Candidates of each wanted package.
type Packages<'w> = FxHashMap<&'w Wanted, Candidates>;

/// Loads the schemas that a program needs, and resolves its tokens.
pub(crate) async fn resolve(
    syntax: &Syntax,
    graph: &Graph,
    declarations: &[PackageDeclaration],
    loader: &dyn SchemaLoader,
) -> Types {
    let resource_wants = resource_wants(syntax, graph);
    let invoke_wants = invoke_wants(syntax, graph);
    let wants: FxHashSet<&Wanted> = resource_wants.iter().chain(&invoke_wants).collect();
    let packages = load_all(wants, declarations, loader).await;

    let mut types = Types::default();
    resolve_resources(syntax, &resource_wants, &packages, &mut types);
    for (want, invoke) in invoke_wants.iter().zip(&syntax.calls.invokes) {
        let found = find::<Function>(&packages[want], &invoke.token);
        types.invokes.push(found.unwrap_or_else(|problem| {
            let known = known_tokens(&packages[want], PackageSchema::function_tokens);
            problem.stand_in(invoke.span, "", &known)
        }));
    }
    types
}

/// Package of each resource, by index.
fn resource_wants(syntax: &Syntax, graph: &Graph) -> Vec<Wanted> {
    let wanted_by = |resource: &ResourceDecl| {
        let default = graph.default_provider(resource.package());
        let default = default.map(|index| syntax.resources[index].options());
        let own = resource.options();
        let version = own.version.as_ref();
        let download_url = own.download_url.as_ref();
        wanted(
            resource.package(),
            version.or(default.and_then(|options| options.version.as_ref())),
            download_url.or(default.and_then(|options| options.download_url.as_ref())),
        )
    };
    syntax.resources.iter().map(wanted_by).collect()
}

/// Package of each invoke, by index.
fn invoke_wants(syntax: &Syntax, graph: &Graph) -> Vec<Wanted> {
    let wanted_by = |(index, invoke): (usize, &InvokeDecl)| {
        let default = graph.invoke_default_provider(index, invoke);
        let default = default.map(|index| syntax.resources[index].options());
        let version = invoke.options.version.as_ref();
        wanted(
            package_of(&invoke.token),
            version.or(default.and_then(|options| options.version.as_ref())),
            invoke.options.download_url.as_ref(),
        )
    };
    syntax
        .calls
        .invokes
        .iter()
        .enumerate()
        .map(wanted_by)
        .collect()
}

/// Loads all packages concurrently.
async fn load_all<'w>(
    wants: FxHashSet<&'w Wanted>,
    declarations: &[PackageDeclaration],
    loader: &dyn SchemaLoader,
) -> Packages<'w> {
    let wants: Vec<&Wanted> = wants.into_iter().collect();
    let loads = wants.iter().map(|want| load(want, declarations, loader));
    let loaded = join_all(loads).await;
    wants.into_iter().zip(loaded).collect()
}

/// Resolves the tokens of resources, each token once.
fn resolve_resources<'w>(
    syntax: &'w Syntax,
    wants: &'w [Wanted],
    packages: &Packages<'w>,
    types: &mut Types,
) {
    let mut known: FxHashMap<(&Wanted, &str), Result<Resolved<Resource>, Problem>> =
        FxHashMap::default();
    for (want, resource) in wants.iter().zip(&syntax.resources) {
        let found = known
            .entry((want, &resource.type_token))
            .or_insert_with(|| find::<Resource>(&packages[want], &resource.type_token));
        let prefix = format!("error resolving type of resource {}: ", resource.key.text);
        let mut resolved = found.as_ref().cloned().unwrap_or_else(|problem| {
            let known = known_tokens(&packages[want], PackageSchema::resource_tokens);
            problem.stand_in(resource.type_span, &prefix, &known)
        });
        if let Some(problem) = blocked(&resolved) {
            let summary = format!("{prefix}{problem}");
            resolved.problem = Some(Diagnostic::error(resource.type_span, summary));
        }
        if let Some((package, resource)) = &resolved.schema {
            let paths = || {
                let paths = package.replace_on_changes(resource);
                paths.into_iter().map(EcoString::from).collect()
            };
            let known = &mut types.replace_on_changes;
            known.entry(resolved.token.clone()).or_insert_with(paths);
        }
        types.resources.push(resolved);
    }
}

fn wanted(
    package: &str,
    version: Option<&(EcoString, Span)>,
    download_url: Option<&EcoString>,
) -> Wanted {
    Wanted {
        package: package.to_owned(),
        version: version.map(|(text, _)| text.to_string()),
        download_url: download_url.map(ToString::to_string),
    }
}

/// Candidates for a package: those of its declarations, or if there are none, the plugin's own
/// package.
async fn load(
    want: &Wanted,
    declarations: &[PackageDeclaration],
    loader: &dyn SchemaLoader,
) -> Candidates {
    if want.package == "pulumi" {
        let package = Candidate::Loaded(plumb_schema::pulumi_package());
        return vec![(None, package)];
    }
    let mut candidates = Candidates::new();
    let served: Vec<(usize, &PackageDeclaration)> = declarations
        .iter()
        .enumerate()
        .filter(|(_, declared)| declared.namespace() == want.package)
        .collect();
    let is_declared = !served.is_empty();
    let declared = served
        .into_iter()
        .map(|(index, declared)| (Some(index), declared_query(declared)));
    let base = (!is_declared).then(|| {
        let version = want
            .version
            .as_deref()
            .map(|text| text.strip_prefix('v').unwrap_or(text));
        let version = version.and_then(|text| semver::Version::parse(text).ok());
        (
            None,
            PackageQuery {
                version,
                download_url: want.download_url.clone(),
                ..PackageQuery::named(&want.package)
            },
        )
    });
    for (declaration, query) in declared.chain(base) {
        let candidate = match loader.load(&query).await {
            Ok(Some(schema)) => Candidate::Loaded(schema),
            Ok(None) => Candidate::Unavailable,
            Err(error) => Candidate::Failed(error.causes()),
        };
        candidates.push((declaration, candidate));
    }
    candidates
}

fn declared_query(declared: &PackageDeclaration) -> PackageQuery {
    let parameter = declared
        .parameterization
        .as_ref()
        .or(declared.extension.as_ref());
    PackageQuery {
        name: declared.name.clone(),
        version: semver::Version::parse(&declared.version).ok(),
        download_url: Some(declared.download_url.clone()).filter(|url| !url.is_empty()),
        parameterization: parameter.map(|parameter| QueryParameterization {
            name: parameter.name.to_string(),
            version: parameter.version.to_string(),
            value: parameter.value.to_vec(),
        }),
    }
}

#[derive(Clone, Debug)]
enum Problem {
    Invalid {
        token: EcoString,
    },
    /// The schema of the package could not be loaded.
    NotLoaded {
        token: EcoString,
        cause: String,
    },
    NotFound {
        token: EcoString,
        kind: &'static str,
        package: String,
    },
}

impl Problem {
    fn diagnostic(&self, span: Span, prefix: &str, known: &[&str]) -> Diagnostic {
        match self {
            Problem::Invalid { token } => {
                Diagnostic::error(span, format!("{prefix}invalid type token {token:?}"))
            }
            Problem::NotLoaded { token, cause } => {
                let package = package_of(token);
                let summary = format!(
                    "{prefix}internal error loading package {package:?}: rpc error: code = Unknown desc = {cause}"
                );
                Diagnostic::error(span, summary)
            }
            Problem::NotFound {
                token,
                kind,
                package,
            } => {
                let summary = format!(
                    "{prefix}unable to find {kind} {token:?} in resource provider {package:?}"
                );
                let wanted = token.rsplit(':').next().unwrap_or(token);
                let names = known
                    .iter()
                    .map(|token| token.rsplit(':').next().unwrap_or(token));
                let near = crate::diagnostic::probably_meant(wanted, names)
                    .and_then(|name| known.iter().find(|token| token.ends_with(name)));
                match near.filter(|_| *kind == Resource::KIND || known.len() > 1) {
                    Some(near) => Diagnostic::error(span, summary)
                        .with_hint(format!("Did you mean {near:?}?")),
                    None => Diagnostic::error(span, summary),
                }
            }
        }
    }

    fn stand_in<T>(&self, span: Span, prefix: &str, known: &[&str]) -> Resolved<T> {
        let (Problem::Invalid { token }
        | Problem::NotLoaded { token, .. }
        | Problem::NotFound { token, .. }) = self;
        Resolved {
            token: token.clone(),
            schema: None,
            declaration: None,
            problem: Some(self.diagnostic(span, prefix, known)),
        }
    }
}

fn known_tokens<'a, I>(
    candidates: &'a Candidates,
    tokens: impl Fn(&'a PackageSchema) -> I,
) -> Vec<&'a str>
where
    I: Iterator<Item = &'a str>,
{
    candidates
        .iter()
        .filter_map(|(_, candidate)| candidate.schema().map(|schema| &**schema))
        .flat_map(tokens)
        .collect()
}

fn find<T: Member>(candidates: &Candidates, token: &EcoString) -> Result<Resolved<T>, Problem> {
    let n_parts = token.split(':').count();
    if !matches!(n_parts, 2 | 3) || token.split(':').next().is_none_or(str::is_empty) {
        return Err(Problem::Invalid {
            token: token.clone(),
        });
    }
    let mut package_name = None;
    for (declaration, candidate) in candidates {
        let package = match candidate {
            Candidate::Loaded(package) => package,
            Candidate::Unavailable => continue,
            Candidate::Failed(cause) => {
                return Err(Problem::NotLoaded {
                    token: token.clone(),
                    cause: cause.clone(),
                });
            }
        };
        package_name.get_or_insert_with(|| package.name().to_owned());
        if let Some((full, member)) = T::find(package, token) {
            let schema = member.map(|member| (package.clone(), member));
            return Ok(Resolved {
                token: full,
                schema,
                declaration: *declaration,
                problem: None,
            });
        }
    }
    // Without a schema, the token is completed by syntax only.
    let without = candidates.iter().find(|(_, it)| it.schema().is_none());
    match (without, package_name) {
        (Some((declaration, _)), None) => Ok(Resolved {
            token: complete(token),
            schema: None,
            declaration: *declaration,
            problem: None,
        }),
        (_, package) => Err(Problem::NotFound {
            token: token.clone(),
            kind: T::KIND,
            package: package.unwrap_or_else(|| package_of(token).to_owned()),
        }),
    }
}

/// Full form of a token: `pkg:Type` is short for `pkg:index:Type`.
fn complete(token: &EcoString) -> EcoString {
    match token.split_once(':') {
        Some((package, name)) if !name.contains(':') => format!("{package}:index:{name}").into(),
        Some((package, name)) if name.starts_with(':') => format!("{package}:index{name}").into(),
        _ => token.clone(),
    }
}

const BLOCKED: [&str; 6] = [
    "kubernetes:apiextensions.k8s.io:CustomResource",
    "kubernetes:kustomize:Directory",
    "kubernetes:yaml:ConfigFile",
    "kubernetes:yaml:ConfigGroup",
    "kubernetes:helm.sh/v2:Chart",
    "kubernetes:helm.sh/v3:Chart",
];

/// Reason why a type cannot be used in YAML: it is implemented in the SDKs of other languages.
fn blocked(resolved: &Resolved<Resource>) -> Option<String> {
    let token = resolved.token.as_str();
    let old_docker = matches!(
        token,
        "docker:Image" | "docker:image:Image" | "docker:index/image:Image"
    ) && resolved
        .schema
        .as_ref()
        .and_then(|(package, _)| package.version())
        .is_some_and(|version| version.major < 4);
    (BLOCKED.contains(&token) || old_docker)
        .then(|| format!("The resource type [{token}] is not supported in YAML at this time"))
}
