//! Lowering from a package to the pages of [`model`](super::model).

use plumb_codegen::vocabulary::{Direction, FunctionForms, Holder, ResourceAt, wrapped};
use plumb_schema::bound::{
    Function as DeclaredFunction, Object, Property as Declared, Resource as DeclaredResource,
    Returns, TypeShape,
};

use super::address::{Addresses, PageAt};
use super::description;
use super::guide::{Guide, folded};
use super::language::PerLanguage;
use super::model::{Body, Entry, Function, Index, Kind, Lookup, Method, Outcome, Page, Resource};
use super::properties::{Draft, List};

impl<'p, 'd> Guide<'p, 'd> {
    /// Builds a page.
    pub(crate) fn page(&self, at: PageAt) -> Page {
        match at {
            PageAt::Package => self.package_page(),
            PageAt::Module(position) => self.module_page(position),
            PageAt::Resource(resource) => match resource.of(self.package) {
                Some(found) => self.resource_page(resource, found),
                None => self.package_page(),
            },
            PageAt::Function(position) => self.function_page(position),
            PageAt::Type(position) => self.type_page(position),
        }
    }

    /// A page with the fields that all pages have, for a member with the description `text`.
    fn bare_page(
        &self,
        at: PageAt,
        kind: Kind,
        draft: &Draft<'_, 'p, 'd>,
        text: Option<&str>,
    ) -> Page {
        let title = self.title(at);
        let module = &self.addresses.modules[self.addresses.owner(at)].name;
        let name = self.package.name;
        let tag = match (at, module.as_str()) {
            (PageAt::Package, _) => name.to_owned(),
            (PageAt::Module(_), _) | (_, "") => format!("{name}.{title}"),
            (_, module) => format!("{name}.{module}.{title}"),
        };
        let token = self.token(at);
        let summary = text.map(description::summary).unwrap_or_default();
        Page {
            summary: if summary.is_empty() {
                format!("Documentation of the {} {tag}.", kind.word())
            } else {
                summary
            },
            description: draft.description(text),
            imports: match &token {
                Some(token) => self.each(&draft.languages, |words| Some(words.module(token))),
                None => PerLanguage::default(),
            },
            names: PerLanguage::default(),
            languages: draft.languages.clone(),
            deprecation: None,
            body: Body::Index(Index::default()),
            users: Vec::new(),
            at,
            kind,
            title,
            tag,
            token,
        }
    }

    fn package_page(&self) -> Page {
        let mut draft = Draft::new(self, self.languages());
        let text = self.package.about.description;
        let mut page = self.bare_page(PageAt::Package, Kind::Package, &draft, text);
        // Only the module of the token matters; the member is a placeholder.
        let token = format!("{}:index:x", self.package.name);
        page.imports = self.each(&draft.languages, |words| Some(words.module(&token)));
        let mut index = self.index(0);
        let config: Vec<&Declared<'d>> = self.package.config.iter().collect();
        index.config = draft.properties(
            &config,
            &List {
                section: "config",
                holder: Holder::Config,
                direction: Direction::Output,
            },
        );
        page.body = Body::Index(index);
        page
    }

    fn module_page(&self, position: usize) -> Page {
        let draft = Draft::new(self, self.languages());
        let at = PageAt::Module(position);
        let mut page = self.bare_page(at, Kind::Module, &draft, None);
        let index = self.index(position);
        let first = index
            .resources
            .iter()
            .chain(&index.functions)
            .chain(&index.types)
            .next();
        if let Some(token) = first.and_then(|entry| self.token(entry.at)) {
            page.imports = self.each(&draft.languages, |words| Some(words.module(&token)));
        }
        page.body = Body::Index(index);
        page
    }

    /// Contents of a module.
    fn index(&self, position: usize) -> Index {
        let module = &self.addresses.modules[position];
        let package = self.package;
        let entry = |at: PageAt, text: Option<&str>, is_deprecated: bool| Entry {
            at,
            name: self.title(at),
            summary: text.map(description::summary).unwrap_or_default(),
            is_deprecated,
        };
        let resource = |position: &usize| {
            let found = &package.resources[*position];
            let at = PageAt::Resource(ResourceAt::Position(*position));
            entry(at, found.outputs.description, found.deprecation.is_some())
        };
        let function = |position: &usize| {
            let found = &package.functions[*position];
            entry(
                PageAt::Function(*position),
                found.description,
                found.deprecation.is_some(),
            )
        };
        let definition = |position: &usize| {
            let text = match &package.types[*position].shape {
                TypeShape::Object(object) => object.description,
                TypeShape::Enum(values) => values.description,
            };
            entry(PageAt::Type(*position), text, false)
        };
        let mut resources: Vec<Entry> = module.resources.iter().map(resource).collect();
        if position == 0
            && let Some(provider) = &package.provider
        {
            let at = PageAt::Resource(ResourceAt::Provider);
            resources.insert(
                0,
                entry(
                    at,
                    provider.outputs.description,
                    provider.deprecation.is_some(),
                ),
            );
        }
        let children = module.children.iter();
        Index {
            modules: children
                .map(|child| entry(Addresses::module_page(*child), None, false))
                .collect(),
            resources,
            functions: module.functions.iter().map(function).collect(),
            types: module.types.iter().map(definition).collect(),
            config: Vec::new(),
        }
    }

    fn resource_page(&self, at: ResourceAt, resource: &'p DeclaredResource<'d>) -> Page {
        let languages = self.languages_of(&resource.outputs.overlay);
        let mut draft = Draft::new(self, languages);
        let kind = match at {
            ResourceAt::Provider => Kind::Provider,
            ResourceAt::Position(_) if resource.is_component => Kind::Component,
            ResourceAt::Position(_) => Kind::Resource,
        };
        let text = resource.outputs.description;
        let mut page = self.bare_page(PageAt::Resource(at), kind, &draft, text);
        page.deprecation = resource.deprecation.map(ToOwned::to_owned);
        page.names = self.each(&draft.languages, |words| Some(words.resource(at)));
        let inputs: Vec<&Declared<'d>> = resource.inputs.iter().collect();
        let is_output = |property: &&Declared<'d>| {
            !resource
                .inputs
                .iter()
                .any(|input| input.name == property.name)
        };
        let outputs = resource.outputs.properties.iter().filter(is_output);
        let outputs: Vec<&Declared<'d>> = outputs.collect();
        let constructors = self.each(&draft.languages, |words| {
            let list: Vec<String> = words
                .constructors(at)
                .iter()
                .map(|it| wrapped(it))
                .collect();
            (!list.is_empty()).then_some(list)
        });
        let inputs = draft.properties(
            &inputs,
            &List {
                section: "inputs",
                holder: Holder::Inputs(at),
                direction: Direction::Input,
            },
        );
        let outputs = draft.properties(
            &outputs,
            &List {
                section: "outputs",
                holder: Holder::Outputs(at),
                direction: Direction::Output,
            },
        );
        let lookup = self.lookup(at, resource, &mut draft);
        let methods =
            (0..resource.methods.len()).map(|index| self.method(at, resource, index, &mut draft));
        let methods = methods.collect();
        page.body = Body::Resource(Box::new(Resource {
            constructors,
            inputs,
            outputs,
            lookup,
            methods,
            types: draft.nested(),
            aliases: resource
                .aliases
                .iter()
                .map(|alias| alias.token.to_owned())
                .collect(),
        }));
        page
    }

    /// Lookup of an existing resource; `None` for components and providers, which have none.
    fn lookup(
        &self,
        at: ResourceAt,
        resource: &'p DeclaredResource<'d>,
        draft: &mut Draft<'_, 'p, 'd>,
    ) -> Option<Lookup> {
        let ResourceAt::Position(position) = at else {
            return None;
        };
        if resource.is_component {
            return None;
        }
        let state = resource
            .state_inputs
            .iter()
            .flat_map(|state| &state.properties);
        let state: Vec<&Declared<'d>> = state.collect();
        let list = List {
            section: "state",
            holder: Holder::State(position),
            direction: Direction::Input,
        };
        Some(Lookup {
            signatures: self.each(&draft.languages, |words| {
                Some(vec![wrapped(&words.lookup(position)?)])
            }),
            state: draft.properties(&state, &list),
        })
    }

    fn method(
        &self,
        at: ResourceAt,
        resource: &'p DeclaredResource<'d>,
        index: usize,
        draft: &mut Draft<'_, 'p, 'd>,
    ) -> Method {
        let method = &resource.methods[index];
        let function: &'p DeclaredFunction<'d> = &self.package.functions[method.function];
        let id = draft
            .anchors
            .claim(format!("method-{}", folded(method.name)));
        let arguments = function.inputs.iter().flat_map(|inputs| &inputs.properties);
        let arguments: Vec<&Declared<'d>> = arguments.filter(|it| it.name != "__self__").collect();
        let list = List {
            section: &id,
            holder: Holder::MethodArguments(at, method.name),
            direction: Direction::Input,
        };
        let arguments = draft.properties(&arguments, &list);
        let result = List {
            section: &format!("{id}-result"),
            holder: Holder::MethodResult(at, method.name),
            direction: Direction::Output,
        };
        Method {
            name: method.name.to_owned(),
            names: self.each(&draft.languages, |words| {
                words.method(at, index)?;
                Some(words.method_name(method.name))
            }),
            signatures: self.each(&draft.languages, |words| {
                Some(vec![wrapped(&words.method(at, index)?)])
            }),
            description: draft.description(function.description),
            deprecation: function.deprecation.map(ToOwned::to_owned),
            arguments,
            outcome: outcome(function, &result, draft),
            id,
        }
    }

    fn function_page(&self, position: usize) -> Page {
        let function: &'p DeclaredFunction<'d> = &self.package.functions[position];
        let languages = self.languages_of(&function.overlay);
        let mut draft = Draft::new(self, languages);
        let at = PageAt::Function(position);
        let mut page = self.bare_page(at, Kind::Function, &draft, function.description);
        page.deprecation = function.deprecation.map(ToOwned::to_owned);
        page.names = self.each(&draft.languages, |words| Some(words.function(position)));
        let forms = self.each(&draft.languages, |words| Some(words.forms(position)));
        let of = |form: fn(&FunctionForms) -> &Option<String>| {
            let found = forms.iter().filter_map(|(language, forms)| {
                Some((language, vec![wrapped(form(forms).as_ref()?)]))
            });
            found.collect()
        };
        let arguments = function.inputs.iter().flat_map(|inputs| &inputs.properties);
        let arguments: Vec<&Declared<'d>> = arguments.collect();
        let list = List {
            section: "arguments",
            holder: Holder::Arguments(position),
            direction: Direction::Plain,
        };
        let arguments = draft.properties(&arguments, &list);
        let list = List {
            section: "results",
            holder: Holder::Result(position),
            direction: Direction::Output,
        };
        let outcome = outcome(function, &list, &mut draft);
        page.body = Body::Function(Box::new(Function {
            plain: of(|forms| &forms.plain),
            output: of(|forms| &forms.output),
            arguments,
            outcome,
            types: draft.nested(),
        }));
        page
    }

    /// Pages of the resources and functions that use a type, sorted by name.
    fn users(&self, position: usize) -> Vec<Entry> {
        let entry = |at: &PageAt| {
            let module = &self.addresses.modules[self.addresses.owner(*at)].name;
            let title = self.title(*at);
            Entry {
                at: *at,
                name: match module.as_str() {
                    "" => title,
                    module => format!("{module}.{title}"),
                },
                summary: String::new(),
                is_deprecated: false,
            }
        };
        let mut users: Vec<Entry> = self.users[position].iter().map(entry).collect();
        users.sort_by(|one, other| one.name.cmp(&other.name));
        users
    }

    fn type_page(&self, position: usize) -> Page {
        let definition = &self.package.types[position];
        let (kind, text, overlay) = match &definition.shape {
            TypeShape::Object(object) => (Kind::Object, object.description, &object.overlay),
            TypeShape::Enum(values) => (Kind::Enum, values.description, &values.overlay),
        };
        let mut draft = Draft::new(self, self.languages_of(overlay));
        let mut page = self.bare_page(PageAt::Type(position), kind, &draft, text);
        let section = draft.section(position, "properties".to_owned(), "properties");
        page.names = section.names.clone();
        page.body = Body::Type(Box::new(section));
        page.users = self.users(position);
        page
    }
}

fn outcome<'p, 'd>(
    function: &'p DeclaredFunction<'d>,
    list: &List<'_>,
    draft: &mut Draft<'_, 'p, 'd>,
) -> Outcome {
    match &function.returns {
        Returns::Nothing => Outcome::Nothing,
        Returns::Value(ty) => Outcome::Value(draft.type_text(ty, Direction::Output)),
        Returns::Object(object) => {
            let properties = results(function, object);
            Outcome::Object(draft.properties(&properties, list))
        }
    }
}

/// Properties of a function's result that are not also arguments.
fn results<'p, 'd>(
    function: &'p DeclaredFunction<'d>,
    object: &'p Object<'d>,
) -> Vec<&'p Declared<'d>> {
    let is_argument = |name: &str| {
        let mut arguments = function.inputs.iter().flat_map(|inputs| &inputs.properties);
        arguments.any(|argument| argument.name == name)
    };
    let properties = object.properties.iter();
    properties
        .filter(|property| !is_argument(property.name))
        .collect()
}
