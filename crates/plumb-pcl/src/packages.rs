//! Schemas of the packages that a program uses.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use async_trait::async_trait;
use futures::lock::Mutex;
use hcl_edit::expr::{Expression, FuncCall};
use hcl_edit::visit::{Visit, visit_func_call};
use plumb_eval::diagnostic::Diagnostic;
use plumb_eval::source::Span;
use plumb_schema::{PackageQuery, PackageSchema, SchemaLoadError, SchemaLoader};

use crate::syntax::Parsed;

/// Schemas by package, including packages without a schema.
#[derive(Clone, Debug, Default)]
pub struct Packages {
    schemas: BTreeMap<String, Option<Arc<PackageSchema>>>,
}

impl Packages {
    /// Loads the package of the resource `token`, those of the functions that `parsed` calls, and those of the types in
    /// `referred`, which may belong to the program and have no schema. `own` describes the package that the program was
    /// written for; other packages are loaded in any version.
    pub(crate) async fn load(
        loader: &dyn SchemaLoader,
        own: (&str, PackageQuery),
        token: &str,
        referred: impl Iterator<Item = &str>,
        parsed: &Parsed,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Packages {
        let mut calls = Calls::default();
        calls.visit_body(&parsed.body);
        let needed = std::iter::once(package_of(token).to_owned()).chain(calls.packages);
        let needed = needed.map(|name| (name, true));
        let referred = referred.map(|token| (package_of(token).to_owned(), false));
        let mut packages = Packages::default();
        for (name, is_needed) in needed.chain(referred) {
            if packages.schemas.contains_key(&name) {
                continue;
            }
            let schema = match name.as_str() {
                "pulumi" => Ok(Some(plumb_schema::pulumi_package())),
                _ if name == own.0 => loader.load(&own.1).await,
                _ => loader.load(&PackageQuery::named(&name)).await,
            };
            let schema = schema.unwrap_or_else(|error| {
                if is_needed {
                    let cause = error.causes();
                    let problem = Diagnostic::error(Span::default(), error.to_string());
                    diagnostics.push(problem.with_detail(cause));
                }
                None
            });
            packages.schemas.insert(name, schema);
        }
        packages
    }

    /// Packages with these schemas.
    pub fn of(schemas: impl IntoIterator<Item = Arc<PackageSchema>>) -> Packages {
        Packages {
            schemas: schemas
                .into_iter()
                .map(|schema| (schema.name().to_owned(), Some(schema)))
                .collect(),
        }
    }

    pub(crate) fn insert(&mut self, name: &str, schema: Option<Arc<PackageSchema>>) {
        self.schemas.insert(name.to_owned(), schema);
    }

    /// Lets references of each package lead to the others. Example: a component of `awsx` takes an object type of `aws`.
    pub(crate) fn link(&self) {
        for package in self.known() {
            package.link(self.known());
        }
    }

    /// All schemas, sorted by package name.
    pub(crate) fn known(&self) -> impl Iterator<Item = &Arc<PackageSchema>> {
        self.schemas.values().flatten()
    }

    /// Schema of the package that `token` belongs to.
    pub(crate) fn of_token(&self, token: &str) -> Option<&Arc<PackageSchema>> {
        self.schemas.get(package_of(token))?.as_ref()
    }
}

/// Package that a token belongs to; for provider types, the package of the provider.
pub(crate) fn package_of(token: &str) -> &str {
    let rest = token.strip_prefix("pulumi:providers:").unwrap_or(token);
    rest.split(':').next().unwrap_or(rest)
}

/// Cache of schemas, because snippets of a stack often use the same packages.
pub(crate) struct LoadedOnce {
    schemas: Arc<dyn SchemaLoader>,
    loaded: Mutex<HashMap<PackageQuery, Option<Arc<PackageSchema>>>>,
}

impl LoadedOnce {
    pub(crate) fn new(schemas: Arc<dyn SchemaLoader>) -> Self {
        LoadedOnce {
            schemas,
            loaded: Mutex::default(),
        }
    }
}

#[async_trait]
impl SchemaLoader for LoadedOnce {
    async fn load(
        &self,
        query: &PackageQuery,
    ) -> Result<Option<Arc<PackageSchema>>, SchemaLoadError> {
        // The lock is held during the load, so that concurrent requests for the same schema wait for it.
        let mut loaded = self.loaded.lock().await;
        if let Some(schema) = loaded.get(query) {
            return Ok(schema.clone());
        }
        let schema = self.schemas.load(query).await?;
        loaded.insert(query.clone(), schema.clone());
        Ok(schema)
    }
}

/// Collects the packages of called functions.
#[derive(Default)]
struct Calls {
    packages: Vec<String>,
}

impl Visit for Calls {
    fn visit_func_call(&mut self, call: &FuncCall) {
        if !call.name.is_namespaced()
            && call.name.name.as_str() == "invoke"
            && let Some(Expression::String(token)) = call.args.get(0)
        {
            self.packages.push(package_of(token.value()).to_owned());
        }
        visit_func_call(self, call);
    }
}
