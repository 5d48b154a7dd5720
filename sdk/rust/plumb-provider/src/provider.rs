//! A provider: its resources, functions and configuration.

use std::collections::BTreeMap;
use std::fmt;

use plumb::{FromValue, Result};
use serde_json::json;

use crate::component::{AnyComponent, AnyMethod};
use crate::config::ConfigType;
use crate::erased::{AnyFunction, AnyResource, Typed};
use crate::parameter::MakePackage;
use crate::schema::{Package, Properties, Spec, SpecKind};
use crate::{Function, Resource};

/// A provider.
///
/// ```no_run
/// # use plumb_provider::prelude::*;
/// # #[derive(Clone, Debug, Properties)] struct Settings { region: Option<String> }
/// # #[derive(Clone, Debug, Properties)] struct Args {}
/// # struct Note;
/// # #[plumb_provider::resource]
/// # impl Resource for Note {
/// #     type Args = Args;
/// #     type State = Args;
/// #     async fn create(cx: &Cx, args: Args) -> Result<Created<Args>> { Ok(Created::new("1", args)) }
/// # }
/// fn main() -> std::process::ExitCode {
///     Provider::new("notes", env!("CARGO_PKG_VERSION"))
///         .description("Notes that nobody reads")
///         .config::<Settings>()
///         .resource::<Note>()
///         .serve()
/// }
/// ```
pub struct Provider {
    pub(crate) package: Package,
    pub(crate) config: Option<ConfigType>,
    pub(crate) resources: BTreeMap<String, Box<dyn AnyResource>>,
    pub(crate) functions: BTreeMap<String, Box<dyn AnyFunction>>,
    pub(crate) components: BTreeMap<String, Box<dyn AnyComponent>>,
    pub(crate) methods: BTreeMap<String, Box<dyn AnyMethod>>,
    pub(crate) make_package: Option<MakePackage>,
    /// For a package that a parameter has made.
    pub(crate) parameter: Option<Vec<u8>>,
    pub(crate) mappings: Vec<Mapping>,
}

/// The names of another ecosystem for what a package has.
#[derive(Clone, Debug)]
pub(crate) struct Mapping {
    /// The ecosystem, as in `terraform`.
    pub(crate) ecosystem: String,
    /// The package there.
    pub(crate) package: String,
    pub(crate) data: Vec<u8>,
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provider")
            .field("name", &self.package.name)
            .field("version", &self.package.version)
            .finish_non_exhaustive()
    }
}

impl Provider {
    /// A provider for the package `name`.
    pub fn new(name: &str, version: &str) -> Self {
        Provider {
            package: Package {
                name: name.to_owned(),
                version: version.to_owned(),
                ..Package::default()
            },
            config: None,
            resources: BTreeMap::new(),
            functions: BTreeMap::new(),
            components: BTreeMap::new(),
            methods: BTreeMap::new(),
            make_package: None,
            parameter: None,
            mappings: Vec::new(),
        }
    }

    /// The purpose of the provider.
    #[must_use]
    pub fn description(self, text: &str) -> Self {
        self.fact("description", text)
    }

    /// The name for people.
    #[must_use]
    pub fn display_name(self, text: &str) -> Self {
        self.fact("displayName", text)
    }

    /// Who publishes it.
    #[must_use]
    pub fn publisher(self, text: &str) -> Self {
        self.fact("publisher", text)
    }

    /// The page of the project.
    #[must_use]
    pub fn homepage(self, url: &str) -> Self {
        self.fact("homepage", url)
    }

    /// Where the source is.
    #[must_use]
    pub fn repository(self, url: &str) -> Self {
        self.fact("repository", url)
    }

    /// The licence, as in `Apache-2.0`.
    #[must_use]
    pub fn license(self, text: &str) -> Self {
        self.fact("license", text)
    }

    /// Words to find it by.
    #[must_use]
    pub fn keywords<const N: usize>(mut self, words: [&str; N]) -> Self {
        let words = words.to_vec();
        self.package
            .facts
            .insert("keywords".to_owned(), json!(words));
        self
    }

    /// Where command lines download the plugin.
    #[must_use]
    pub fn plugin_download_url(self, url: &str) -> Self {
        self.fact("pluginDownloadURL", url)
    }

    /// The organization whose package it is; SDKs are named after it.
    #[must_use]
    pub fn namespace(self, name: &str) -> Self {
        self.fact("namespace", name)
    }

    /// Settings for the generator of one language: `python`, `nodejs`, `go`, `csharp`, `java`.
    #[must_use]
    pub fn language(mut self, name: &str, settings: &plumb::Value) -> Self {
        let languages = self.package.facts.entry("language").or_insert(json!({}));
        // Values of a schema are plain: something else has no JSON.
        let settings = settings.to_json().ok();
        let settings = settings.and_then(|it| serde_json::from_str(&it).ok());
        if let (Some(languages), Some(settings)) = (languages.as_object_mut(), settings) {
            languages.insert(name.to_owned(), settings);
        }
        self
    }

    fn fact(mut self, key: &str, text: &str) -> Self {
        self.package.facts.insert(key.to_owned(), json!(text));
        self
    }

    /// Gives the provider a configuration, which [`Cx::config`](crate::Cx::config) reads.
    ///
    /// A change of a property with `#[property(replace)]` replaces the provider, and all its resources with it.
    #[must_use]
    pub fn config<C: Properties + FromValue + Send + Sync + 'static>(mut self) -> Self {
        self.package.config = C::properties(&mut self.package.types);
        self.config = Some(ConfigType::of::<C>());
        self
    }

    /// Adds a type of resource.
    #[must_use]
    pub fn resource<R: Resource>(mut self) -> Self {
        let types = &mut self.package.types;
        let spec = Spec {
            kind: SpecKind::Resource,
            token: R::TOKEN.to_owned(),
            description: R::DESCRIPTION,
            deprecated: R::DEPRECATED,
            aliases: R::ALIASES,
            inputs: R::Args::properties(types),
            outputs: R::State::properties(types),
            query: R::LISTS.then(|| R::Query::properties(types)),
        };
        let token = self.package.full(R::TOKEN);
        self.package.specs.push(spec);
        self.resources.insert(token, Box::new(Typed::<R>::new()));
        self
    }

    /// Adds a function.
    #[must_use]
    pub fn function<F: Function>(mut self, function: F) -> Self {
        let _ = function;
        let types = &mut self.package.types;
        let spec = Spec {
            kind: SpecKind::Function,
            token: F::TOKEN.to_owned(),
            description: F::DESCRIPTION,
            deprecated: F::DEPRECATED,
            aliases: &[],
            inputs: F::Args::properties(types),
            outputs: F::Answer::properties(types),
            query: None,
        };
        let token = self.package.full(F::TOKEN);
        self.package.specs.push(spec);
        self.functions.insert(token, Box::new(Typed::<F>::new()));
        self
    }

    /// Says how names of another ecosystem become names of this package, for `plumb convert`: of the package `package` there,
    /// in the form of its tools. The ecosystem is `terraform`, for instance.
    #[must_use]
    pub fn mapping(mut self, ecosystem: &str, package: &str, data: impl Into<Vec<u8>>) -> Self {
        self.mappings.push(Mapping {
            ecosystem: ecosystem.to_owned(),
            package: package.to_owned(),
            data: data.into(),
        });
        self
    }

    /// The schema of the package, as JSON.
    pub fn schema(&self) -> Result<String> {
        self.package.schema()
    }

    /// The specification behind a token, which may be a former one.
    pub(crate) fn spec(&self, token: &str) -> Option<&Spec> {
        let is_called = |spec: &&Spec| {
            let names = spec.aliases.iter().copied();
            let mut names = names.chain([spec.token.as_str()]);
            names.any(|name| self.package.full(name) == token)
        };
        self.package.specs.iter().find(is_called)
    }
}
