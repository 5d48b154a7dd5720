//! Data shared by all pages of a package.

use plumb_codegen::uses::{self, Roots, Uses};
use plumb_codegen::vocabulary::{self, ResourceAt, Vocabulary};
use plumb_codegen::{GenerateError, Language};
use plumb_schema::bound::{Overlay, Package, TypeShape, member_of};
use rustc_hash::FxHashMap;

use super::address::{Addresses, PageAt};
use super::language::{PerLanguage, ProgramLanguage};
use super::users;
use super::yaml::Yaml;

/// A package, its vocabulary in each language and the addresses of its pages.
pub(crate) struct Guide<'p, 'd> {
    pub(crate) package: &'p Package<'d>,
    pub(crate) words: PerLanguage<Box<dyn Vocabulary + 'p>>,
    pub(crate) addresses: Addresses,
    /// Uses of each type, by position.
    pub(crate) uses: Vec<Uses>,
    /// Pages that use each type, by position.
    pub(crate) users: Vec<Vec<PageAt>>,
    tokens: Tokens<'p>,
}

/// Members by token, to resolve references in descriptions.
#[derive(Default)]
struct Tokens<'p> {
    resources: FxHashMap<&'p str, usize>,
    functions: FxHashMap<&'p str, usize>,
    types: FxHashMap<&'p str, usize>,
}

impl<'p, 'd> Guide<'p, 'd> {
    /// Collects the data. Languages whose SDK cannot be generated are omitted and returned with the
    /// error.
    pub(crate) fn new(package: &'p Package<'d>) -> (Self, Vec<(ProgramLanguage, GenerateError)>) {
        let mut words: PerLanguage<Box<dyn Vocabulary + 'p>> = PerLanguage::default();
        let mut missing = Vec::new();
        words.set(ProgramLanguage::Yaml, Box::new(Yaml(package)));
        for (language, sdk) in [
            (ProgramLanguage::Typescript, Language::Nodejs),
            (ProgramLanguage::Python, Language::Python),
            (ProgramLanguage::Go, Language::Go),
            (ProgramLanguage::Csharp, Language::Dotnet),
            (ProgramLanguage::Java, Language::Java),
        ] {
            match vocabulary::of(package, sdk) {
                Ok(vocabulary) => words.set(language, vocabulary),
                Err(error) => missing.push((language, error)),
            }
        }
        let roots = Roots {
            methods: true,
            overlays: true,
        };
        let guide = Guide {
            addresses: Addresses::of(package),
            uses: uses::analyse(package, roots),
            users: users::analyse(package),
            tokens: Tokens::of(package),
            package,
            words,
        };
        (guide, missing)
    }

    /// Documented languages.
    pub(crate) fn languages(&self) -> Vec<ProgramLanguage> {
        self.words.iter().map(|(language, _)| language).collect()
    }

    /// Languages of an overlay member. Its code is written by hand, possibly for some languages only.
    pub(crate) fn languages_of(&self, overlay: &Overlay<'_>) -> Vec<ProgramLanguage> {
        let all = self.languages();
        if !overlay.is_overlay || overlay.languages.is_empty() {
            return all;
        }
        let named = overlay.languages.iter();
        let named: Vec<ProgramLanguage> =
            named.filter_map(|it| ProgramLanguage::of_key(it)).collect();
        all.into_iter().filter(|it| named.contains(it)).collect()
    }

    /// Result of `make` for each of `languages`.
    pub(crate) fn each<T>(
        &self,
        languages: &[ProgramLanguage],
        make: impl Fn(&dyn Vocabulary) -> Option<T>,
    ) -> PerLanguage<T> {
        let words = self
            .words
            .iter()
            .filter(|(language, _)| languages.contains(language));
        words
            .filter_map(|(language, words)| Some((language, make(words.as_ref())?)))
            .collect()
    }

    /// Token of the member that a page describes.
    pub(crate) fn token(&self, page: PageAt) -> Option<String> {
        let package = self.package;
        Some(match page {
            PageAt::Package | PageAt::Module(_) => return None,
            PageAt::Resource(ResourceAt::Provider) => package.provider_token(),
            PageAt::Resource(ResourceAt::Position(it)) => package.resources[it].token.to_string(),
            PageAt::Function(position) => package.functions[position].token.to_owned(),
            PageAt::Type(position) => package.types[position].token.to_owned(),
        })
    }

    /// Title of a page.
    pub(crate) fn title(&self, page: PageAt) -> String {
        match page {
            PageAt::Package => self.package_title().to_owned(),
            PageAt::Module(position) => self.addresses.modules[position].name.clone(),
            PageAt::Resource(ResourceAt::Provider) => "Provider".to_owned(),
            _ => {
                let token = self.token(page).unwrap_or_default();
                member_of(&token).to_owned()
            }
        }
    }

    pub(crate) fn package_title(&self) -> &str {
        let display = self
            .package
            .about
            .display_name
            .filter(|name| !name.trim().is_empty());
        display.unwrap_or(self.package.name)
    }

    /// Ancestors of a page, starting with the package.
    pub(crate) fn trail(&self, page: PageAt) -> Vec<PageAt> {
        let mut module = match page {
            PageAt::Package => return Vec::new(),
            PageAt::Module(position) => self.addresses.modules[position].parent,
            _ => Some(self.addresses.owner(page)),
        };
        let mut trail = Vec::new();
        while let Some(position) = module {
            trail.push(Addresses::module_page(position));
            module = self.addresses.modules[position].parent;
        }
        trail.reverse();
        trail
    }

    /// Whether a type is an enum.
    pub(crate) fn is_enum(&self, position: usize) -> bool {
        matches!(self.package.types[position].shape, TypeShape::Enum(_))
    }

    /// Target of a reference in a description: its text, and its page and anchor if it is in this
    /// package.
    pub(crate) fn reference(&self, destination: &str) -> Reference {
        let (package, fragment) = destination.split_once('#').unwrap_or(("", destination));
        let mut steps = fragment.trim_start_matches('/').split('/');
        let section = steps.next().unwrap_or_default();
        let token = steps.next().unwrap_or_default();
        let token = token.replace("%2F", "/").replace("%2f", "/");
        let rest: Vec<&str> = steps.collect();
        let is_own = package.is_empty()
            || package.trim_start_matches('/').split('/').next() == Some(self.package.name);
        let page = is_own.then(|| self.tokens.page(section, &token)).flatten();
        match rest.last() {
            Some(property) => Reference {
                text: (*property).to_owned(),
                anchor: page.and_then(|page| self.property_anchor(page, &rest)),
                page,
            },
            None => Reference {
                text: match page {
                    Some(page) => self.title(page),
                    None if token.is_empty() => destination.to_owned(),
                    None => member_of(&token).to_owned(),
                },
                page,
                anchor: None,
            },
        }
    }

    /// Anchor of a property. A property that is both input and output has its anchor among the inputs.
    fn property_anchor(&self, page: PageAt, rest: &[&str]) -> Option<String> {
        let name = rest.last()?;
        let package = self.package;
        let is_in =
            |list: &[plumb_schema::bound::Property<'_>]| list.iter().any(|it| it.name == *name);
        let section = match page {
            PageAt::Resource(resource) => {
                let resource = resource.of(package)?;
                if is_in(&resource.inputs) {
                    "inputs"
                } else if is_in(&resource.outputs.properties) {
                    "outputs"
                } else {
                    return None;
                }
            }
            PageAt::Function(position) => {
                let inputs = package.functions[position].inputs.as_ref();
                match rest.first() {
                    Some(&"inputs") if inputs.is_some_and(|it| is_in(&it.properties)) => {
                        "arguments"
                    }
                    _ => return None,
                }
            }
            PageAt::Type(position) => match &package.types[position].shape {
                TypeShape::Object(object) if is_in(&object.properties) => "properties",
                _ => return None,
            },
            PageAt::Package | PageAt::Module(_) => return None,
        };
        Some(format!("{section}-{}", folded(name)))
    }
}

/// Target of a reference in a description.
pub(crate) struct Reference {
    pub(crate) text: String,
    pub(crate) page: Option<PageAt>,
    pub(crate) anchor: Option<String>,
}

impl<'p> Tokens<'p> {
    fn of(package: &'p Package<'_>) -> Self {
        let resources = package.resources.iter().map(|it| it.token.as_ref());
        let functions = package.functions.iter().map(|it| it.token);
        let types = package.types.iter().map(|it| it.token);
        Tokens {
            resources: resources
                .enumerate()
                .map(|(at, token)| (token, at))
                .collect(),
            functions: functions
                .enumerate()
                .map(|(at, token)| (token, at))
                .collect(),
            types: types.enumerate().map(|(at, token)| (token, at)).collect(),
        }
    }

    /// Page of a member. Methods have no page of their own.
    fn page(&self, section: &str, token: &str) -> Option<PageAt> {
        match section {
            "provider" => Some(PageAt::Resource(ResourceAt::Provider)),
            "resources" if token.starts_with("pulumi:providers:") => {
                Some(PageAt::Resource(ResourceAt::Provider))
            }
            "resources" => {
                let position = *self.resources.get(token)?;
                Some(PageAt::Resource(ResourceAt::Position(position)))
            }
            "functions" => self.functions.get(token).map(|it| PageAt::Function(*it)),
            "types" => self.types.get(token).map(|it| PageAt::Type(*it)),
            _ => None,
        }
    }
}

/// A name in the form used in anchors.
pub(crate) fn folded(name: &str) -> String {
    let fold = |char: char| if char.is_alphanumeric() { char } else { '-' };
    name.to_lowercase().chars().map(fold).collect()
}
