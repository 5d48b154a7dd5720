//! Types of properties, and the named ones of a package.

use std::any::type_name;
use std::collections::BTreeMap;

use plumb::Value;
use plumb::provider::Members;

use super::{Described, Properties};
use crate::values::exposed;

/// The type of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// True or false.
    Boolean,
    /// A number without a fraction.
    Integer,
    /// A number.
    Number,
    /// Text.
    String,
    /// Anything.
    Any,
    /// A file, a text or a folder.
    AssetOrArchive,
    /// A folder.
    Archive,
    /// A list of values of one type.
    List(Box<Type>),
    /// An object with any names, whose values have one type.
    Map(Box<Type>),
    /// A type of the package: its module and its name, as in `index:Rule`.
    Named(String),
    /// A value of one of several types.
    Union(Vec<Type>),
    /// An object of one of several types, which one of its properties names.
    TaggedUnion {
        /// The property that has the name.
        tag: String,
        /// Names, and the types that they stand for.
        members: Vec<(String, Type)>,
    },
}

/// A property of an object.
#[derive(Clone, Debug)]
pub struct Property {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) of: Type,
    pub(crate) is_required: bool,
    pub(crate) takes_outputs: bool,
    pub(crate) is_secret: bool,
    pub(crate) replaces: bool,
    pub(crate) default: Option<Value>,
    pub(crate) environment: Vec<String>,
    pub(crate) follows: Option<Vec<String>>,
    pub(crate) deprecated: Option<String>,
    /// The only value that there is.
    pub(crate) constant: Option<String>,
}

impl Property {
    /// A property of the type `T`.
    pub fn of<T: Described>(name: &str, description: &str, types: &mut Types) -> Self {
        Property {
            name: name.to_owned(),
            description: description.to_owned(),
            of: T::describe(types),
            is_required: T::IS_REQUIRED,
            takes_outputs: T::TAKES_OUTPUTS,
            is_secret: false,
            replaces: false,
            default: None,
            environment: Vec::new(),
            follows: None,
            deprecated: None,
            constant: None,
        }
    }

    /// The property that says which type of a union an object has.
    fn tag(name: &str, text: &str) -> Self {
        let mut tag = Property::of::<String>(name, "", &mut Types::default());
        tag.constant = Some(text.to_owned());
        tag
    }

    /// Its values are secrets.
    #[must_use]
    pub fn secret(self) -> Self {
        Property {
            is_secret: true,
            ..self
        }
    }

    /// A change replaces the resource.
    #[must_use]
    pub fn replaces(self) -> Self {
        Property {
            replaces: true,
            ..self
        }
    }

    /// The value if there is none.
    #[must_use]
    pub fn default_value(self, value: Value) -> Self {
        Property {
            default: Some(value),
            ..self
        }
    }

    /// Variables of the environment that have the value if there is none.
    #[must_use]
    pub fn environment(self, names: &[&str]) -> Self {
        Property {
            environment: names.iter().map(|it| (*it).to_owned()).collect(),
            ..self
        }
    }

    /// Inputs without whose change this output stays as it is.
    #[must_use]
    pub fn follows(self, inputs: &[&str]) -> Self {
        Property {
            follows: Some(inputs.iter().map(|it| (*it).to_owned()).collect()),
            ..self
        }
    }

    /// Why the property should not be used any more.
    #[must_use]
    pub fn deprecated(self, message: &str) -> Self {
        Property {
            deprecated: Some(message.to_owned()),
            ..self
        }
    }

    /// Whether a program has to set the input.
    pub(crate) fn must_be_set(&self) -> bool {
        self.is_required && self.default.is_none() && self.environment.is_empty()
    }
}

/// The definition of a named type.
#[derive(Clone, Debug)]
pub enum Definition {
    /// An object.
    Object {
        /// Documentation.
        description: String,
        /// Its properties.
        properties: Vec<Property>,
    },
    /// One of several texts.
    Enum {
        /// Documentation.
        description: String,
        /// The texts.
        values: Vec<EnumValue>,
    },
}

/// A value of an enum.
#[derive(Clone, Debug)]
pub struct EnumValue {
    /// The name in programs.
    pub name: String,
    /// The text.
    pub value: String,
    /// Documentation.
    pub description: String,
}

/// The named types of a package.
#[derive(Debug, Default)]
pub struct Types {
    definitions: BTreeMap<String, Definition>,
    /// The Rust type behind each token.
    origins: BTreeMap<String, &'static str>,
    problems: Vec<String>,
}

impl Types {
    /// The object type that `T` is.
    pub fn object<T: Properties>(&mut self) -> Type {
        let token = format!("index:{}", T::NAME);
        if self.claims(&token, type_name::<T>()) {
            // Types may contain themselves: the place is taken before they are looked at.
            let empty = Definition::Object {
                description: T::DESCRIPTION.to_owned(),
                properties: Vec::new(),
            };
            self.definitions.insert(token.clone(), empty);
            let mut properties = T::properties(self);
            // A union that mentions the type may have tagged it in the meantime.
            if let Some(Definition::Object {
                properties: tags, ..
            }) = self.definitions.get(&token)
            {
                properties.extend(tags.iter().cloned());
            }
            let definition = Definition::Object {
                description: T::DESCRIPTION.to_owned(),
                properties,
            };
            self.definitions.insert(token.clone(), definition);
        }
        Type::Named(token)
    }

    /// An object of one of the types in `members`: the property `tag`, which all of them get, has the text before it.
    pub fn tagged_union(&mut self, tag: &str, members: Vec<(&str, Type)>) -> Type {
        for (text, of) in &members {
            if let Err(problem) = self.add_tag(tag, text, of) {
                self.problems.push(problem);
            }
        }
        let members = members.into_iter();
        Type::TaggedUnion {
            tag: tag.to_owned(),
            members: members.map(|(text, of)| (text.to_owned(), of)).collect(),
        }
    }

    fn add_tag(&mut self, tag: &str, text: &str, of: &Type) -> Result<(), String> {
        let Type::Named(token) = of else {
            return Err(format!(
                "the variant `{text}` with the tag `{tag}` is no struct"
            ));
        };
        let Some(Definition::Object { properties, .. }) = self.definitions.get_mut(token) else {
            return Err(format!(
                "`{token}`, the variant `{text}` with the tag `{tag}`, is no struct"
            ));
        };
        match properties.iter().find(|it| it.name == tag) {
            None => {
                properties.push(Property::tag(tag, text));
                Ok(())
            }
            Some(known) if known.constant.as_deref() == Some(text) => Ok(()),
            Some(_) => Err(format!(
                "`{token}` cannot have the tag `{tag}` for the variant `{text}`: it has a property of this name"
            )),
        }
    }

    /// The enum called `name`: names, texts and documentation of its values.
    pub fn enumeration(
        &mut self,
        name: &str,
        description: &str,
        values: &[(&str, &str, &str)],
    ) -> Type {
        let token = format!("index:{name}");
        let values = values.iter().map(|(name, value, description)| EnumValue {
            name: (*name).to_owned(),
            value: (*value).to_owned(),
            description: (*description).to_owned(),
        });
        let definition = Definition::Enum {
            description: description.to_owned(),
            values: values.collect(),
        };
        self.definitions.insert(token.clone(), definition);
        Type::Named(token)
    }

    /// The type called `token`.
    pub fn get(&self, token: &str) -> Option<&Definition> {
        self.definitions.get(token)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Definition)> {
        self.definitions
            .iter()
            .map(|(token, definition)| (token.as_str(), definition))
    }

    /// Two types of one name, which the schema cannot tell apart.
    pub(crate) fn problems(&self) -> &[String] {
        &self.problems
    }

    /// The properties of an object of this type, which may decide itself which type of a union it is.
    pub(crate) fn properties_of(&self, of: &Type, object: &Members) -> Option<&[Property]> {
        match of {
            Type::Named(token) => match self.get(token) {
                Some(Definition::Object { properties, .. }) => Some(properties),
                _ => None,
            },
            Type::TaggedUnion { tag, members } => {
                let text = exposed(object.get(tag)?);
                let named = members.iter().find(|(name, _)| text.as_str() == Some(name));
                named.and_then(|(_, of)| self.properties_of(of, object))
            }
            Type::Union(members) => {
                let mut objects = members
                    .iter()
                    .filter_map(|of| self.properties_of(of, object));
                let first = objects.next();
                // Of several types of objects, none is known to be the right one.
                first.filter(|_| objects.next().is_none())
            }
            _ => None,
        }
    }

    /// Whether the type is new.
    fn claims(&mut self, token: &str, origin: &'static str) -> bool {
        match self.origins.insert(token.to_owned(), origin) {
            None => true,
            Some(known) => {
                if known != origin {
                    self.problems
                        .push(format!("{known} and {origin} are both the type `{token}`"));
                }
                false
            }
        }
    }
}
