//! Property values: inputs, outputs and configuration, as programs, providers and state files exchange them.
//!
//! This crate knows the shapes of values ([`Value`], [`PropertyMap`]), secrets and unknowns, assets and archives with their
//! hashes, property paths, and differences between two values. It does not know resources, wire formats or state files;
//! those crates convert to and from the types here.
//!
//! Start with [`Value`]. Values are immutable and shared: cloning is cheap for a value of any size.

mod asset;
pub mod assets;
mod depth;
pub mod diff;
pub mod go_number;
mod map;
pub mod path;
mod reference;
mod secrecy;
pub mod sorted_map;
#[cfg(test)]
mod test_values;
mod value;

pub use asset::{Archive, ArchiveSource, Asset, AssetSource, EMPTY_ARCHIVE_HASH, EMPTY_TEXT_HASH};
pub use depth::{MAX_DEPTH, json_depth};
pub use map::{PropertyKey, PropertyMap};
pub use path::{PathSegment, PropertyPath};
pub use reference::{ReferenceId, ResourceReference};
pub use sorted_map::SortedMap;
pub use value::{Output, UnknownKind, Value};
