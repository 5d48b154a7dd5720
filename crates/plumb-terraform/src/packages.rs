//! The packages that stand for Terraform's providers, and the tokens of their types.

use std::collections::BTreeMap;
use std::sync::Arc;

use plumb_schema::PackageSchema;

use crate::mapping::{Mapping, Member, Renames};
use crate::names::{pascal, words_of};
use crate::shape::{Fields, Holder};

/// Schemas and mappings by the name of the provider.
#[derive(Debug, Default)]
pub struct Packages {
    known: BTreeMap<String, Package>,
    /// Whether resources and data sources of unknown types are left out.
    pub(crate) leaves_out_unknown: bool,
}

#[derive(Debug, Default)]
struct Package {
    name: String,
    schema: Option<Arc<PackageSchema>>,
    mapping: Mapping,
    resources: Tokens,
    functions: Tokens,
}

/// Providers whose resources are those of the engine.
pub(crate) const BUILT_IN: [&str; 2] = ["terraform", "null"];

/// Mapping of the resources of [`BUILT_IN`] providers: all keep a value.
const BUILT_IN_MAPPING: &str = r#"{"name": "pulumi", "resources": {
    "terraform_data": {"tok": "pulumi:index:Stash"},
    "null_resource": {"tok": "pulumi:index:Stash", "fields": {"triggers": {"name": "input"}}}}}"#;

/// Tokens by what is left of them without punctuation and capitals.
type Tokens = BTreeMap<String, Vec<String>>;

/// A type of resources, or a data source.
#[derive(Clone, Debug)]
pub(crate) struct Kind {
    pub(crate) token: String,
    /// Inputs and outputs; `None` without a schema.
    pub(crate) fields: Option<Sides>,
}

#[derive(Clone, Debug)]
pub(crate) struct Sides {
    pub(crate) inputs: Fields,
    pub(crate) outputs: Fields,
}

/// The package that stands for a provider, by the provider's name.
pub fn package_of(provider: &str) -> &str {
    match provider {
        "google" | "google-beta" => "gcp",
        "azurerm" => "azure",
        "bigip" => "f5bigip",
        other => other,
    }
}

impl Packages {
    /// The packages of the engine itself.
    pub fn new() -> Self {
        let mut packages = Packages::default();
        for provider in BUILT_IN {
            let schema = plumb_schema::pulumi_package();
            packages.insert(provider, Some(schema), Some(BUILT_IN_MAPPING.as_bytes()));
        }
        packages
    }

    /// The same, for a program in a language that cannot have resources of unknown types: these stay as comments.
    #[must_use]
    pub fn without_guesses(self) -> Self {
        Packages {
            leaves_out_unknown: true,
            ..self
        }
    }

    /// Adds the schema and the mapping of the package that stands for `provider`, as far as there are any.
    pub fn insert(
        &mut self,
        provider: &str,
        schema: Option<Arc<PackageSchema>>,
        mapping: Option<&[u8]>,
    ) {
        let mapping = mapping.and_then(Mapping::read).unwrap_or_default();
        let name = match (&schema, mapping.name.is_empty()) {
            (Some(schema), _) => schema.name().to_owned(),
            (None, false) => mapping.name.clone(),
            (None, true) => package_of(provider).to_owned(),
        };
        let mut package = Package {
            name,
            mapping,
            ..Package::default()
        };
        if let Some(schema) = &schema {
            package.resources = tokens(&package.name, schema.resource_tokens(), |it| it);
            package.functions = tokens(&package.name, schema.function_tokens(), |it| {
                it.strip_prefix("get").unwrap_or(it)
            });
        }
        package.schema = schema;
        self.known.insert(provider.to_owned(), package);
    }

    /// Whether there is a schema for `provider`.
    pub(crate) fn has_schema(&self, provider: &str) -> bool {
        self.known
            .get(provider)
            .is_some_and(|it| it.schema.is_some())
    }

    /// Name of the package that stands for `provider`.
    pub(crate) fn name_of<'p>(&'p self, provider: &'p str) -> &'p str {
        match self.known.get(provider) {
            Some(package) => &package.name,
            None => package_of(provider),
        }
    }

    /// The type of resources that `provider` calls `kind`. `used` are the arguments in use, which decide between types
    /// that may be meant.
    pub(crate) fn resource(&self, provider: &str, kind: &str, used: &[&str]) -> Kind {
        let guess = || {
            format!(
                "{}:index:{}",
                self.name_of(provider),
                pascal(words_of(kind))
            )
        };
        let Some(package) = self.known.get(provider) else {
            return Kind {
                token: guess(),
                fields: None,
            };
        };
        let mapped = package.mapping.resources.get(kind);
        let (tokens, renames) = Package::candidates(mapped, &package.resources, kind);
        let sides = |token: &str| {
            let schema = package.schema.as_ref()?;
            let token = schema.resolve_resource(token)?;
            let resource = schema.resource(token)?.ok()?;
            Some(Sides {
                inputs: Fields::new(schema, Holder::Inputs(resource.clone()), renames.as_ref()),
                outputs: Fields::new(schema, Holder::Outputs(resource), renames.as_ref()),
            })
        };
        best(&tokens, used, sides).unwrap_or_else(|| Kind {
            token: guess(),
            fields: None,
        })
    }

    /// The function that stands for the data source that `provider` calls `kind`.
    pub(crate) fn data_source(&self, provider: &str, kind: &str, used: &[&str]) -> Kind {
        let guess = || {
            format!(
                "{}:index:get{}",
                self.name_of(provider),
                pascal(words_of(kind))
            )
        };
        let Some(package) = self.known.get(provider) else {
            return Kind {
                token: guess(),
                fields: None,
            };
        };
        let mapped = package.mapping.data_sources.get(kind);
        let (tokens, renames) = Package::candidates(mapped, &package.functions, kind);
        let sides = |token: &str| {
            let schema = package.schema.as_ref()?;
            let token = schema.resolve_function(token)?;
            let function = schema.function(token)?.ok()?;
            Some(Sides {
                inputs: Fields::new(
                    schema,
                    Holder::Arguments(function.clone()),
                    renames.as_ref(),
                ),
                outputs: Fields::new(schema, Holder::Results(function), renames.as_ref()),
            })
        };
        best(&tokens, used, sides).unwrap_or_else(|| Kind {
            token: guess(),
            fields: None,
        })
    }

    /// Settings of `provider`.
    pub(crate) fn provider(&self, provider: &str) -> Option<Fields> {
        let package = self.known.get(provider)?;
        let schema = package.schema.as_ref()?;
        let resource = schema.provider().ok()?;
        Some(Fields::new(schema, Holder::Inputs(resource), None))
    }
}

impl Package {
    fn candidates<'p>(
        mapped: Option<&'p Member>,
        tokens: &'p Tokens,
        kind: &str,
    ) -> (Candidates<'p>, Option<Arc<Renames>>) {
        if let Some(member) = mapped.filter(|it| !it.token.is_empty()) {
            let candidates = Candidates {
                exact: vec![&member.token],
                similar: Vec::new(),
            };
            return (candidates, member.fields.clone());
        }
        let kind = without_version(kind);
        let words = [words_of(kind), kind].map(squeezed);
        let found = words.iter().filter_map(|it| tokens.get(it)).flatten();
        let exact = found.map(String::as_str).collect();
        // Some types have a longer name, such as `RemoteImage`, and others a shorter one, such as `Instance` in the module
        // `rds`; what they take tells which one is meant.
        let last = words_of(kind).rsplit('_').next().unwrap_or_default();
        let last = squeezed(last);
        let mut similar: Vec<(usize, &str)> = Vec::new();
        for (name, tokens) in tokens.iter().filter(|(name, _)| name.ends_with(&last)) {
            let length = shared_end(name, &words[0]);
            similar.extend(tokens.iter().map(|token| (length, token.as_str())));
        }
        similar.sort_by_key(|(length, _)| std::cmp::Reverse(*length));
        let similar = similar.into_iter().map(|(_, token)| token).collect();
        (Candidates { exact, similar }, None)
    }
}

/// Number of bytes that two names have in common at their ends.
fn shared_end(one: &str, other: &str) -> usize {
    let pairs = one.bytes().rev().zip(other.bytes().rev());
    pairs.take_while(|(one, other)| one == other).count()
}

/// The name of a type without the version of its API, as in `kubernetes_namespace_v1`.
fn without_version(kind: &str) -> &str {
    match kind.rsplit_once("_v") {
        Some((name, version)) if version.starts_with(|it: char| it.is_ascii_digit()) => name,
        _ => kind,
    }
}

/// Tokens that a type may have.
struct Candidates<'p> {
    /// Those with exactly the name of the type.
    exact: Vec<&'p str>,
    /// Those that end like it, the longest match first.
    similar: Vec<&'p str>,
}

/// The candidate with most of the arguments in use; the first one of several. One with a similar name has to have nearly
/// all of them, and clearly more than those with exactly the name.
fn best(
    candidates: &Candidates<'_>,
    used: &[&str],
    sides: impl Fn(&str) -> Option<Sides>,
) -> Option<Kind> {
    let first_of_most = |tokens: &[&str]| {
        let mut found: Option<(usize, Kind)> = None;
        for token in tokens {
            let fields = sides(token);
            let count = fields
                .as_ref()
                .map_or(0, |it| it.inputs.count(used.iter().copied()));
            if found.as_ref().is_none_or(|(most, _)| count > *most) {
                let token = (*token).to_owned();
                found = Some((count, Kind { token, fields }));
            }
        }
        found
    };
    let exact = first_of_most(&candidates.exact);
    let most = exact.as_ref().map_or(0, |(count, _)| *count);
    // Others are looked at only if there is a chance, because each has to be read from the schema.
    if exact.is_none() || used.len() > most + most / 2 {
        let similar = first_of_most(&candidates.similar);
        let is_better = |count: usize| {
            count > 0 && count > most + most / 2 && (exact.is_none() || count * 5 >= used.len() * 4)
        };
        if let Some((count, kind)) = similar
            && is_better(count)
        {
            return Some(kind);
        }
    }
    exact.map(|(_, kind)| kind)
}

fn squeezed(text: &str) -> String {
    let chars = text.chars().filter(|char| char.is_alphanumeric());
    chars.flat_map(char::to_lowercase).collect()
}

/// Tokens by the names that Terraform may have for them: the last part, with and without its module.
fn tokens<'t>(
    package: &str,
    all: impl Iterator<Item = &'t str>,
    stem: impl Fn(&str) -> &str,
) -> Tokens {
    let mut tokens = Tokens::new();
    let mut add = |words: String, token: &str, is_preferred: bool| {
        let list = tokens.entry(words).or_default();
        if list.iter().any(|it| it == token) {
            return;
        }
        let place = if is_preferred { 0 } else { list.len() };
        list.insert(place, token.to_owned());
    };
    for token in all {
        let parts: Vec<&str> = token.split(':').collect();
        let [owner, module, name] = parts[..] else {
            continue;
        };
        if owner != package {
            continue;
        }
        let name = stem(name);
        let module = module.split('/').next().unwrap_or_default();
        add(squeezed(&format!("{module}{name}")), token, true);
        add(squeezed(name), token, module == "index");
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = r#"{"name": "cloud", "version": "1.0.0", "resources": {
        "cloud:s3/bucket:Bucket": {"inputProperties": {"name": {"type": "string"}}},
        "cloud:gcs/bucket:Bucket": {"inputProperties": {"size": {"type": "integer"}}},
        "cloud:index/thing:Thing": {}},
        "functions": {"cloud:index/getThing:getThing": {}}}"#;

    fn packages() -> Packages {
        let mut packages = Packages::default();
        let schema = PackageSchema::parse(SCHEMA).unwrap();
        packages.insert("cloud", Some(Arc::new(schema)), None);
        packages
    }

    #[test]
    fn tokens_are_found_by_their_words() {
        let packages = packages();
        for (kind, used, expected) in [
            ("cloud_s3_bucket", "", "cloud:s3/bucket:Bucket"),
            ("cloud_bucket", "size", "cloud:gcs/bucket:Bucket"),
            ("cloud_thing", "", "cloud:index/thing:Thing"),
            ("cloud_no_such", "", "cloud:index:NoSuch"),
        ] {
            assert_eq!(packages.resource("cloud", kind, &[used]).token, expected);
        }
        let found = packages.data_source("cloud", "cloud_thing", &[]);
        assert_eq!(found.token, "cloud:index/getThing:getThing");
        assert_eq!(
            packages.resource("azurerm", "azurerm_x", &[]).token,
            "azure:index:X"
        );
    }
}
