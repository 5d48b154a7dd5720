//! Description of a command on one member, derived from the schema: operation, positional word and flags.

use plumb_schema::{
    Constant, EnumType, PackageSchema, Primitive, Properties, Property, Section, TypeDefinition,
    TypeKind,
};

use super::prose;

/// Operation on a resource or a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// Calls a function.
    Invoke,
    /// Creates a resource.
    Create,
    /// Reads an existing object.
    Read,
    /// Changes some inputs of a resource.
    Patch,
    /// Creates a resource, or replaces its inputs.
    Upsert,
    /// Deletes a resource.
    Delete,
    /// Lists existing objects.
    List,
}

impl Operation {
    /// Operations of resources, in display order.
    pub(super) const OF_RESOURCES: [Operation; 6] = [
        Operation::Create,
        Operation::Delete,
        Operation::List,
        Operation::Patch,
        Operation::Read,
        Operation::Upsert,
    ];

    /// Name of the operation on the command line.
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

    /// Summary line.
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

    /// Whether the operation makes changes.
    pub(super) fn changes(self) -> bool {
        !matches!(self, Operation::Invoke | Operation::Read | Operation::List)
    }
}

/// Storage of created resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keeping {
    /// In the state of a stack.
    Stack,
    /// None.
    Nowhere,
}

/// Type of a flag's value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// Boolean; true without a value, which must follow an equals sign.
    Bool,
    /// Integer.
    Integer,
    /// A number.
    Number,
    /// Text.
    Text,
    /// One of these strings or numbers.
    Choice(Vec<Constant>),
    /// Not a scalar; requires an expression.
    Compound,
}

impl Kind {
    /// Type for a property.
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

/// Flags that are not derived from the schema.
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

    /// Whether the flag has no value.
    pub(super) fn is_switch(self) -> bool {
        matches!(self, Own::Yes | Own::All)
    }
}

/// Owner of the property that a flag sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The resource or function.
    Input,
    /// The provider.
    Provider,
}

impl Side {
    /// Name in messages and in flags.
    pub(super) fn word(self) -> &'static str {
        match self {
            Side::Input => "input",
            Side::Provider => "provider",
        }
    }
}

/// Interpretation of a flag's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// As a literal value.
    Value,
    /// As an expression in the format of the input file.
    Expression,
}

/// Meaning of a flag.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Meaning {
    /// A flag of the command itself.
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
    /// Name, without dashes.
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
    /// Name of the positional word.
    pub(super) word: Option<&'static str>,
    pub(super) flags: Vec<Flag>,
}

impl Shape {
    /// Description of `operation` with the inputs in `schema`, and the inputs of `provider` for the provider.
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

    /// Flag with this name.
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
    // Resources in the stack already have a provider.
    let is_made = matches!(operation, Operation::Create | Operation::Upsert);
    if keeping == Keeping::Nowhere || !operation.changes() || is_made {
        flags.extend([Provider, ProviderFile]);
    }
    if flags.contains(&InputFile) || flags.contains(&ProviderFile) {
        flags.push(Format);
    }
    flags
}

/// Adds the flags of a property: its name with the owner as a prefix, and for inputs also the name alone unless another
/// flag has it. A plus sign after the name marks the value as an expression.
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

/// Names of flags that all commands share; properties with such a name need the prefix.
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

/// Flag name of a property: `max-pod-i-ps` for `maxPodIPs`, as in the reference.
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
