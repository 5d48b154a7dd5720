//! What a command about one member looks like: its operation, its positional word and its flags, out of the schema alone.

use plumb_schema::{
    Constant, EnumType, PackageSchema, Primitive, Properties, Property, Section, TypeDefinition,
    TypeKind,
};

use super::prose;

/// What is done with a resource or a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// A function is called.
    Invoke,
    /// A resource is made.
    Create,
    /// An existing object is looked at.
    Read,
    /// Some inputs of a resource are changed.
    Patch,
    /// A resource is made, or gets other inputs.
    Upsert,
    /// A resource is deleted.
    Delete,
    /// Existing objects are listed.
    List,
}

impl Operation {
    /// What can be done with resources, in the order of lists.
    pub(super) const OF_RESOURCES: [Operation; 6] = [
        Operation::Create,
        Operation::Delete,
        Operation::List,
        Operation::Patch,
        Operation::Read,
        Operation::Upsert,
    ];

    /// The word for it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Operation::Invoke => "invoke",
            Operation::Create => "create",
            Operation::Read => "read",
            Operation::Patch => "patch",
            Operation::Upsert => "upsert",
            Operation::Delete => "delete",
            Operation::List => "list",
        }
    }

    /// One line about it.
    pub(super) fn about(self) -> &'static str {
        match self {
            Operation::Invoke => "Call the function",
            Operation::Create => "Create a resource",
            Operation::Read => "Read a resource",
            Operation::Patch => "Patch a resource",
            Operation::Upsert => "Create a resource or fully update an existing one",
            Operation::Delete => "Delete a resource",
            Operation::List => "List resources",
        }
    }

    /// Whether something is changed.
    pub(super) fn changes(self) -> bool {
        !matches!(self, Operation::Invoke | Operation::Read | Operation::List)
    }
}

/// Where it is written down what was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keeping {
    /// In the state of a stack.
    Stack,
    /// Nowhere.
    Nowhere,
}

/// Which values a flag takes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// True, or what follows an equals sign.
    Bool,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// Text.
    Text,
    /// One of these, which are texts or numbers.
    Choice(Vec<Constant>),
    /// Nothing that a word could be: an expression is needed.
    Compound,
}

impl Kind {
    /// The kind of `property`.
    fn of(schema: &PackageSchema, property: &Property) -> Self {
        match &property.ty.kind {
            TypeKind::Primitive(Primitive::Bool) => Kind::Bool,
            TypeKind::Primitive(Primitive::Integer) => Kind::Integer,
            TypeKind::Primitive(Primitive::Number) => Kind::Number,
            TypeKind::Primitive(Primitive::String) => Kind::Text,
            TypeKind::Reference(reference)
                if reference.section == Section::Type && reference.package.is_none() =>
            {
                match schema.type_definition(&reference.token) {
                    Some(Ok(definition)) => Kind::of_definition(&definition),
                    _ => Kind::Compound,
                }
            }
            _ => Kind::Compound,
        }
    }

    fn of_definition(definition: &TypeDefinition) -> Self {
        match definition {
            TypeDefinition::Enum(EnumType { values, .. }) => {
                Kind::Choice(values.iter().map(|value| value.value.clone()).collect())
            }
            TypeDefinition::Object(_) => Kind::Compound,
        }
    }
}

/// Flags that do not come from the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Own {
    /// `--input-file`
    InputFile,
    /// `--input`
    Format,
    /// `--provider-file`
    ProviderFile,
    /// `--provider`
    Provider,
    /// `--resources-file`
    ResourcesFile,
    /// `--yes`
    Yes,
    /// `--all`
    All,
    /// `--count`
    Count,
}

impl Own {
    fn name(self) -> &'static str {
        match self {
            Own::InputFile => "input-file",
            Own::Format => "input",
            Own::ProviderFile => "provider-file",
            Own::Provider => "provider",
            Own::ResourcesFile => "resources-file",
            Own::Yes => "yes",
            Own::All => "all",
            Own::Count => "count",
        }
    }

    fn about(self) -> &'static str {
        match self {
            Own::InputFile => {
                "Path to a file containing the inputs; - reads them from standard input"
            }
            Own::Format => {
                "Format of the files and expressions: yaml, json or pcl (default \"yaml\")"
            }
            Own::ProviderFile => "Path to a file containing provider configuration",
            Own::Provider => {
                "The URN of a provider resource in the current stack whose inputs to use as the base of the provider \
                 configuration"
            }
            Own::ResourcesFile => {
                "Path to a JSON file of identifiers and the URNs of resources in the stack that they stand for in \
                 expressions; `plumb do show-resources` shows those that there are without it"
            }
            Own::Yes => {
                "Automatically approve and perform the operation without a confirmation prompt"
            }
            Own::All => "Enumerate all matching resources",
            Own::Count => "Enumerate up to so many matching resources",
        }
    }

    /// Whether it takes no value.
    pub(super) fn is_switch(self) -> bool {
        matches!(self, Own::Yes | Own::All)
    }
}

/// Whose property a flag sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// What the command is about.
    Input,
    /// The provider.
    Provider,
}

impl Side {
    /// What messages and names of flags call it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Side::Input => "input",
            Side::Provider => "provider",
        }
    }
}

/// How the value of a flag is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// As it is.
    Value,
    /// As an expression in the format of files.
    Expression,
}

/// What a flag means.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Meaning {
    /// Something of the command itself.
    Own(Own),
    /// A property.
    Property {
        side: Side,
        /// Its name in the schema.
        name: String,
        kind: Kind,
        reading: Reading,
    },
}

/// A flag.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Flag {
    /// Its name without dashes.
    pub(super) name: String,
    pub(super) meaning: Meaning,
    pub(super) about: String,
    /// Whether help lists it.
    pub(super) is_shown: bool,
}

/// A command about one member.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shape {
    pub(super) operation: Operation,
    /// What the positional word is called, if there is one.
    pub(super) word: Option<&'static str>,
    pub(super) flags: Vec<Flag>,
}

impl Shape {
    /// The command that does `operation` with inputs as they are in `schema`, through a provider of `provider`'s inputs.
    pub(super) fn new(
        operation: Operation,
        keeping: Keeping,
        schema: &PackageSchema,
        inputs: &Properties,
        provider: &Properties,
    ) -> Self {
        let own = own_flags(operation, keeping);
        let mut flags: Vec<Flag> = own
            .iter()
            .map(|own| Flag {
                name: own.name().to_owned(),
                meaning: Meaning::Own(*own),
                about: own.about().to_owned(),
                is_shown: true,
            })
            .collect();
        if own.contains(&Own::Provider) {
            for property in provider.values() {
                let prefix = format!("{}:", schema.name());
                add_property(&mut flags, Side::Provider, schema, property, &prefix);
            }
        }
        for property in inputs.values() {
            add_property(&mut flags, Side::Input, schema, property, "input:");
        }
        Shape {
            operation,
            word: word(operation, keeping),
            flags,
        }
    }

    /// The flag of this name.
    pub(super) fn flag(&self, name: &str) -> Option<&Flag> {
        self.flags.iter().find(|flag| flag.name == name)
    }
}

fn word(operation: Operation, keeping: Keeping) -> Option<&'static str> {
    match (operation, keeping) {
        (Operation::Invoke | Operation::List, _) | (Operation::Create, Keeping::Nowhere) => None,
        (Operation::Read, _) | (_, Keeping::Nowhere) => Some("id"),
        (_, Keeping::Stack) => Some("name"),
    }
}

fn own_flags(operation: Operation, keeping: Keeping) -> Vec<Own> {
    use Own::{All, Count, Format, InputFile, Provider, ProviderFile, ResourcesFile, Yes};
    let mut flags = match operation {
        Operation::Invoke => vec![InputFile],
        Operation::List => vec![InputFile, All, Count],
        Operation::Read => Vec::new(),
        Operation::Delete => vec![Yes],
        Operation::Create | Operation::Upsert | Operation::Patch => vec![InputFile, Yes],
    };
    if operation.changes() && keeping == Keeping::Stack && operation != Operation::Delete {
        flags.push(ResourcesFile);
    }
    // What is in the stack already has its provider there.
    let is_made = matches!(operation, Operation::Create | Operation::Upsert);
    if keeping == Keeping::Nowhere || !operation.changes() || is_made {
        flags.extend([Provider, ProviderFile]);
    }
    if flags.contains(&InputFile) || flags.contains(&ProviderFile) {
        flags.push(Format);
    }
    flags
}

/// Adds the flags of a property: by its name with what it belongs to before it, and inputs by their name alone where no
/// other flag has it. With a plus sign behind it, the value is an expression.
fn add_property(
    flags: &mut Vec<Flag>,
    side: Side,
    schema: &PackageSchema,
    property: &Property,
    prefix: &str,
) {
    let name = flag_name(&property.name);
    let kind = Kind::of(schema, property);
    let mut names = vec![format!("{prefix}{name}")];
    let is_taken = |name: &str| flags.iter().any(|flag| flag.name == name);
    if side == Side::Input && !is_taken(&name) && !RESERVED.contains(&name.as_str()) {
        names.push(name);
    }
    let last = names.len() - 1;
    for (at, name) in names.into_iter().enumerate() {
        for reading in [Reading::Value, Reading::Expression] {
            let is_usual = (kind == Kind::Compound) == (reading == Reading::Expression);
            let mark = if reading == Reading::Expression {
                "+"
            } else {
                ""
            };
            flags.push(Flag {
                name: format!("{name}{mark}"),
                meaning: Meaning::Property {
                    side,
                    name: property.name.clone(),
                    kind: kind.clone(),
                    reading,
                },
                about: prose::summary(property.description.as_deref().unwrap_or_default())
                    .replace('`', ""),
                is_shown: is_usual && at == last,
            });
        }
    }
}

/// Flags that every command knows: they mean the same here, and properties of their names need the prefix.
const RESERVED: [&str; 21] = [
    "color",
    "cwd",
    "disable-integrity-checking",
    "dry-run",
    "emoji",
    "fully-qualify-stack-names",
    "help",
    "logflow",
    "logtostderr",
    "memprofilerate",
    "non-interactive",
    "otel-traces",
    "output",
    "package",
    "profiling",
    "show-secrets",
    "stateless",
    "tracing",
    "tracing-header",
    "verbose",
    "version",
];

/// The name of a property as words of flags are written: `maxPodIPs` is `max-pod-i-ps`, as it is everywhere.
pub(super) fn flag_name(property: &str) -> String {
    let chars: Vec<char> = property.chars().collect();
    let mut name = String::new();
    let mut before: Option<char> = None;
    for (at, &char) in chars.iter().enumerate() {
        if matches!(char, '_' | '-') || char.is_whitespace() {
            if !name.is_empty() && !name.ends_with('-') {
                name.push('-');
            }
            before = None;
            continue;
        }
        let next_is_small = chars.get(at + 1).is_some_and(|next| next.is_lowercase());
        let ends_a_word = |before: char| before.is_lowercase() || before.is_ascii_digit();
        if char.is_uppercase() && before.is_some_and(|it| ends_a_word(it) || next_is_small) {
            name.push('-');
        }
        name.extend(char.to_lowercase());
        before = Some(char);
    }
    name.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests;
