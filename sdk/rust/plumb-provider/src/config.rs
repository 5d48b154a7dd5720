//! The configuration of a provider.

use std::any::Any;
use std::sync::Arc;

use plumb::provider::Members;
use plumb::{FromValue, Mismatch, Value};

/// The type that a provider's configuration has.
#[derive(Clone, Copy)]
pub(crate) struct ConfigType {
    decode: fn(Members) -> Result<Arc<dyn Any + Send + Sync>, Mismatch>,
}

impl std::fmt::Debug for ConfigType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ConfigType")
    }
}

impl ConfigType {
    pub(crate) fn of<C: FromValue + Send + Sync + 'static>() -> Self {
        ConfigType {
            decode: |members| Ok(Arc::new(C::from_value(Value::Map(members))?)),
        }
    }

    pub(crate) fn decode(self, members: Members) -> Result<Arc<dyn Any + Send + Sync>, Mismatch> {
        (self.decode)(members)
    }
}
