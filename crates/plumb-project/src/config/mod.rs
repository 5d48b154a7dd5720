//! Configuration: keys, values, paths into values, declared types (`cli.md` 14.2, 15; `state.md` 5.5).

mod apply;
mod key;
mod map;
mod path;
mod types;
mod value;

pub use apply::{Problem, apply, merge};
pub use key::{Key, KeyError};
pub use map::{ConfigMap, NewValue, SetError};
pub use path::{KeyPath, PathError, Segment};
pub use types::{ConfigType, TypeError};
pub use value::{Tree, Value, ValueError, WireValue};
