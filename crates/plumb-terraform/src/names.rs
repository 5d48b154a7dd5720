//! Identifiers of what a module declares. Terraform has a namespace for each kind, PCL has one for all.

use std::collections::{BTreeMap, BTreeSet};

/// `snake_case` or `kebab-case` as `camelCase`.
pub(crate) fn camel(name: &str) -> String {
    let mut out = String::new();
    let mut is_next_upper = false;
    for char in name.chars() {
        match char {
            '_' | '-' | '.' | ' ' => is_next_upper = !out.is_empty(),
            _ if is_next_upper => {
                out.extend(char.to_uppercase());
                is_next_upper = false;
            }
            _ => out.push(char),
        }
    }
    let mut chars = out.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        // Nothing but punctuation.
        None => name.to_owned(),
    }
}

/// `snake_case` as `PascalCase`.
pub(crate) fn pascal(name: &str) -> String {
    let name = camel(name);
    let mut chars = name.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => name,
    }
}

/// A declaration of a module, by its name in Terraform.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Declared {
    Variable(String),
    Local(String),
    Resource(String, String),
    Data(String, String),
    Call(String),
    /// A provider with its alias, empty for the default one.
    Provider(String, String),
}

impl Declared {
    fn name(&self) -> &str {
        match self {
            Declared::Variable(name)
            | Declared::Local(name)
            | Declared::Resource(_, name)
            | Declared::Data(_, name)
            | Declared::Call(name) => name,
            Declared::Provider(name, alias) if alias.is_empty() => name,
            Declared::Provider(_, alias) => alias,
        }
    }

    /// Words behind the name that tell it from others.
    fn suffix(&self) -> String {
        match self {
            Declared::Variable(_) => "Config".to_owned(),
            Declared::Local(_) => "Local".to_owned(),
            Declared::Call(_) => "Module".to_owned(),
            Declared::Provider(..) => "Provider".to_owned(),
            Declared::Resource(kind, _) | Declared::Data(kind, _) => pascal(words_of(kind)),
        }
    }
}

/// The type of a resource without the name of its provider.
pub(crate) fn words_of(kind: &str) -> &str {
    kind.split_once('_').map_or(kind, |(_, rest)| rest)
}

/// Identifiers by declaration.
#[derive(Debug, Default)]
pub(crate) struct Names {
    given: BTreeMap<Declared, String>,
}

impl Names {
    /// Gives names to declarations. Those that come first keep theirs; resources that share a name say what they are.
    pub(crate) fn of(declared: &[Declared]) -> Self {
        let mut wanted: BTreeMap<String, usize> = BTreeMap::new();
        for it in declared {
            *wanted.entry(camel(it.name())).or_default() += 1;
        }
        let mut names = Names::default();
        let mut taken: BTreeSet<String> = BTreeSet::new();
        for it in declared {
            let plain = camel(it.name());
            let long = format!("{plain}{}", it.suffix());
            let is_shared = wanted[&plain] > 1;
            let first = match it {
                // The usual name of what a module has one of says nothing.
                Declared::Resource(kind, name) | Declared::Data(kind, name) if name == "this" => {
                    camel(words_of(kind))
                }
                Declared::Resource(..) | Declared::Data(..) if is_shared => long.clone(),
                Declared::Provider(..) => long.clone(),
                _ => plain,
            };
            let more = (2..).map(|number| format!("{long}{number}"));
            let mut candidates = [first, long.clone()].into_iter().chain(more);
            let name = candidates.find(|it| !taken.contains(it));
            let name = name.unwrap_or(long);
            taken.insert(name.clone());
            names.given.insert(it.clone(), name);
        }
        names
    }

    pub(crate) fn get(&self, declared: &Declared) -> Option<&str> {
        self.given.get(declared).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_camel_case() {
        assert_eq!(camel("instance_type"), "instanceType");
        assert_eq!(camel("my-bucket_2"), "myBucket2");
        assert_eq!(camel("VPC_id"), "vPCId");
        assert_eq!(pascal("s3_bucket"), "S3Bucket");
    }

    #[test]
    fn resources_that_share_a_name_say_what_they_are() {
        let text = |it: &str| it.to_owned();
        let declared = [
            Declared::Variable(text("main")),
            Declared::Resource(text("aws_vpc"), text("main")),
            Declared::Resource(text("aws_subnet"), text("main")),
            Declared::Resource(text("aws_subnet"), text("this")),
            Declared::Data(text("aws_subnet"), text("this")),
            Declared::Local(text("main")),
        ];
        let names = Names::of(&declared);
        let given: Vec<&str> = declared.iter().filter_map(|it| names.get(it)).collect();
        let expected = [
            "main",
            "mainVpc",
            "mainSubnet",
            "subnet",
            "thisSubnet",
            "mainLocal",
        ];
        assert_eq!(given, expected);
    }
}
