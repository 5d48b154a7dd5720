//! Properties and types on pages.

use std::collections::VecDeque;

use plumb_codegen::uses::Uses;
use plumb_codegen::vocabulary::{Direction, Holder, ResourceAt, without_inputs};
use plumb_schema::Constant;
use plumb_schema::bound::{
    EnumType, Object, Property as Declared, Type, TypeKind, TypeShape, member_of,
};
use rustc_hash::FxHashSet;

use super::address::PageAt;
use super::description::{self, Description};
use super::guide::{Guide, folded};
use super::language::{PerLanguage, ProgramLanguage};
use super::model::{Member, Property, Shape, TypeLink, TypeSection, TypeText};
use super::yaml::neutral_type;

/// Maximum number of nested types on a page; others are linked, because some packages have hundreds that refer
/// to each other.
const NESTED: usize = 40;

/// Anchors in use on a page.
#[derive(Default)]
pub(crate) struct Anchors(FxHashSet<String>);

impl Anchors {
    pub(crate) fn claim(&mut self, wanted: String) -> String {
        let mut free = wanted.clone();
        let mut number = 1;
        while !self.0.insert(free.clone()) {
            number += 1;
            free = format!("{wanted}-{number}");
        }
        free
    }
}

/// A page under construction: its languages, anchors and mentioned types.
pub(crate) struct Draft<'g, 'p, 'd> {
    pub(crate) guide: &'g Guide<'p, 'd>,
    pub(crate) languages: Vec<ProgramLanguage>,
    pub(crate) anchors: Anchors,
    mentioned: FxHashSet<usize>,
    open: VecDeque<usize>,
}

/// Properties that are shown in one list.
pub(crate) struct List<'l> {
    /// Prefix of the properties' anchors.
    pub(crate) section: &'l str,
    pub(crate) holder: Holder<'l>,
    pub(crate) direction: Direction,
}

impl<'g, 'p, 'd> Draft<'g, 'p, 'd> {
    pub(crate) fn new(guide: &'g Guide<'p, 'd>, languages: Vec<ProgramLanguage>) -> Self {
        Draft {
            guide,
            languages,
            anchors: Anchors::default(),
            mentioned: FxHashSet::default(),
            open: VecDeque::new(),
        }
    }

    pub(crate) fn description(&self, text: Option<&str>) -> Description {
        text.map(|text| description::read(text, &self.languages))
            .unwrap_or_default()
    }

    /// Properties, required ones first, then by name.
    pub(crate) fn properties(
        &mut self,
        declared: &[&'p Declared<'d>],
        list: &List<'_>,
    ) -> Vec<Property> {
        let names = self.guide.each(&self.languages, |words| {
            Some(words.properties(declared, list.holder))
        });
        let mut order: Vec<usize> = (0..declared.len()).collect();
        order.sort_by_key(|at| (!declared[*at].required, declared[*at].name));
        let property = |at: usize| {
            let own = names
                .iter()
                .filter_map(|(language, names)| Some((language, names.get(at)?.clone())));
            self.property(declared[at], own.collect(), list)
        };
        order.into_iter().map(property).collect()
    }

    fn property(
        &mut self,
        declared: &'p Declared<'d>,
        names: PerLanguage<String>,
        list: &List<'_>,
    ) -> Property {
        let name = declared.name;
        let info = declared.default_info.as_ref();
        Property {
            id: self
                .anchors
                .claim(format!("{}-{}", list.section, folded(name))),
            name: name.to_owned(),
            names,
            ty: self.type_text(&declared.ty, list.direction),
            description: self.description(declared.description),
            deprecation: declared.deprecation.map(ToOwned::to_owned),
            is_required: declared.required,
            is_input: list.direction != Direction::Output,
            is_secret: declared.secret,
            is_replace_on_changes: declared.replace_on_changes || declared.will_replace_on_changes,
            constant: declared.constant.as_ref().map(literal),
            default: declared.default.as_ref().map(literal),
            environment: info
                .iter()
                .flat_map(|info| &info.environment)
                .map(|name| (*name).to_owned())
                .collect(),
        }
    }

    /// A type with links to the pages that it mentions.
    pub(crate) fn type_text(&mut self, ty: &Type<'d>, direction: Direction) -> TypeText {
        let ty = without_inputs(ty);
        let guide = self.guide;
        let mut leaves = Vec::new();
        collect_leaves(&ty, &mut leaves);
        let mut links: Vec<TypeLink> = Vec::new();
        for leaf in leaves {
            let at = match leaf.kind {
                TypeKind::Defined(position) => {
                    if self.mentioned.insert(position) {
                        self.open.push_back(position);
                    }
                    PageAt::Type(position)
                }
                TypeKind::Resource(position) => PageAt::Resource(ResourceAt::Position(position)),
                TypeKind::Provider if guide.package.provider.is_some() => {
                    PageAt::Resource(ResourceAt::Provider)
                }
                _ => continue,
            };
            if links.iter().all(|known| known.at != at) {
                links.push(TypeLink {
                    at,
                    neutral: neutral_type(guide.package, leaf),
                    texts: self.texts(leaf, direction),
                });
            }
        }
        TypeText {
            neutral: neutral_type(guide.package, &ty),
            texts: self.texts(&ty, direction),
            links,
        }
    }

    fn texts(&self, ty: &Type<'d>, direction: Direction) -> PerLanguage<String> {
        self.guide.each(&self.languages, |words| {
            Some(words.type_text(ty, direction))
        })
    }

    /// Types mentioned on the page, directly or by other mentioned types, up to [`NESTED`].
    pub(crate) fn nested(&mut self) -> Vec<TypeSection> {
        let mut sections = Vec::new();
        while let Some(position) = self.open.pop_front() {
            if sections.len() == NESTED {
                break;
            }
            let name = member_of(self.guide.package.types[position].token);
            let id = self.anchors.claim(format!("type-{}", folded(name)));
            sections.push(self.section(position, id.clone(), &id));
        }
        sections.sort_by(|one, other| one.name.cmp(&other.name).then(one.id.cmp(&other.id)));
        sections
    }

    /// Section of a nested type. Anchors of its properties begin with `prefix`.
    pub(crate) fn section(&mut self, position: usize, id: String, prefix: &str) -> TypeSection {
        let package = self.guide.package;
        let definition = &package.types[position];
        let (text, shape) = match &definition.shape {
            TypeShape::Object(object) => {
                let direction = self.directions(position)[0];
                (
                    object.description,
                    self.object(object, position, direction, prefix),
                )
            }
            TypeShape::Enum(values) => (values.description, self.enumeration(values, position)),
        };
        TypeSection {
            at: PageAt::Type(position),
            id,
            name: member_of(definition.token).to_owned(),
            names: self.class_names(position),
            description: self.description(text),
            shape,
        }
    }

    fn object(
        &mut self,
        object: &'p Object<'d>,
        position: usize,
        direction: Direction,
        prefix: &str,
    ) -> Shape {
        let properties: Vec<_> = object.properties.iter().collect();
        let list = List {
            section: prefix,
            holder: Holder::Type(position, direction),
            direction,
        };
        Shape::Object(self.properties(&properties, &list))
    }

    fn enumeration(&self, definition: &EnumType<'d>, position: usize) -> Shape {
        let names = self
            .guide
            .each(&self.languages, |words| Some(words.enum_members(position)));
        let values = definition.values.iter().enumerate();
        let member = |(at, value): (usize, &plumb_schema::bound::EnumValue<'d>)| {
            let own = names
                .iter()
                .filter_map(|(language, names)| Some((language, names.get(at)?.clone()?)));
            Member {
                value: literal(&value.value),
                names: own.collect(),
                description: self.description(value.description),
                deprecation: value.deprecation.map(ToOwned::to_owned),
            }
        };
        Shape::Enum {
            underlying: definition.underlying.name(),
            members: values.map(member).collect(),
        }
    }

    /// Directions in which values of a type are used, at least one.
    fn directions(&self, position: usize) -> Vec<Direction> {
        const GIVEN: Uses = Uses::INPUT.or(Uses::STATE).or(Uses::FUNCTION_INPUT);
        const GOT: Uses = Uses::OUTPUT.or(Uses::RESULT).or(Uses::CONFIG);
        let uses = self.guide.uses[position];
        let mut directions = Vec::new();
        for (any, direction) in [
            (GIVEN, Direction::Input),
            (Uses::PLAIN, Direction::Plain),
            (GOT, Direction::Output),
        ] {
            if uses.has(any) {
                directions.push(direction);
            }
        }
        if directions.is_empty() {
            directions.push(Direction::Output);
        }
        directions
    }

    /// Class names of a type, which can differ between directions.
    fn class_names(&self, position: usize) -> PerLanguage<String> {
        let ty = Type {
            kind: TypeKind::Defined(position),
            plain: true,
        };
        let directions = self.directions(position);
        self.guide.each(&self.languages, |words| {
            let mut names: Vec<String> = Vec::new();
            for direction in &directions {
                let name = words.type_text(&ty, *direction);
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            Some(names.join(", "))
        })
    }
}

/// Named types within a type.
pub(crate) fn collect_leaves<'t, 'd>(ty: &'t Type<'d>, leaves: &mut Vec<&'t Type<'d>>) {
    match &ty.kind {
        TypeKind::Array(element) | TypeKind::Map(element) => collect_leaves(element, leaves),
        TypeKind::Union(union) => {
            for element in &union.elements {
                collect_leaves(element, leaves);
            }
        }
        TypeKind::Defined(_) | TypeKind::Resource(_) | TypeKind::Provider => leaves.push(ty),
        _ => {}
    }
}

/// JSON text of a constant.
fn literal(constant: &Constant) -> String {
    match constant {
        Constant::Bool(value) => value.to_string(),
        Constant::Number(value) => value.to_string(),
        Constant::String(value) => serde_json::Value::from(value.as_str()).to_string(),
    }
}
