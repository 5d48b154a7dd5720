//! Properties of a resource that the engine has answered for.

use std::collections::BTreeMap;

use crate::output::Resolved;
use crate::value::Value;

/// Values by name, in no more space than they take: a program keeps those of all its resources, and most have few.
#[derive(Debug, Default)]
pub(crate) struct Resolutions(Box<[(String, Resolved<Value>)]>);

impl Resolutions {
    pub(crate) fn get(&self, name: &str) -> Option<&Resolved<Value>> {
        let found = self.0.binary_search_by(|(key, _)| key.as_str().cmp(name));
        found.ok().map(|index| &self.0[index].1)
    }
}

impl From<BTreeMap<String, Resolved<Value>>> for Resolutions {
    fn from(values: BTreeMap<String, Resolved<Value>>) -> Self {
        Resolutions(values.into_iter().collect())
    }
}
