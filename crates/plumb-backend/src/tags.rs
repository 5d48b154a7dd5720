//! Tags of stacks (`state.md` 3.2).

use std::collections::BTreeMap;

use plumb_project::StackReference;
use serde::{Deserialize, Serialize};

use crate::error::BackendError;
use crate::keys;
use crate::store::{Store, json_bytes};

const VERSION: i64 = 1;

#[derive(Serialize, Deserialize)]
struct TagFile {
    version: i64,
    #[serde(default)]
    tags: BTreeMap<String, String>,
}

impl Store {
    pub(crate) fn tags(
        &self,
        stack: &StackReference,
    ) -> Result<BTreeMap<String, String>, BackendError> {
        let key = keys::tags(stack);
        match self.read_json::<TagFile>(&key)? {
            None => Ok(BTreeMap::new()),
            Some(file) if file.version == VERSION => Ok(file.tags),
            Some(file) => Err(BackendError::TagVersion {
                key,
                version: file.version,
            }),
        }
    }

    pub(crate) fn set_tags(
        &self,
        stack: &StackReference,
        tags: &BTreeMap<String, String>,
    ) -> Result<(), BackendError> {
        let key = keys::tags(stack);
        if tags.is_empty() {
            self.bucket.delete(&key)?;
            return Ok(());
        }
        Ok(self.bucket.put(
            &key,
            &json_bytes(&TagFile {
                version: VERSION,
                tags: tags.clone(),
            }),
        )?)
    }
}
