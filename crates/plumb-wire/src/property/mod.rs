//! Encoding and decoding of property values and maps.

mod decode;
mod encode;
mod error;
mod options;
pub mod signature;

pub use decode::{decode_map, decode_optional_map, decode_value};
pub use encode::{encode_map, encode_optional_map, encode_value};
pub use error::Error;
pub use options::{MarshalOptions, monitor, peers};

#[cfg(test)]
mod tests;
