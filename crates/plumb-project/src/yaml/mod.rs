//! YAML trees with positions and comments, parsed and printed like go-yaml v3.
//!
//! 1. [`parse`] builds a [`Document`] from the parser's events, and attaches each comment to an entry: comments
//!    directly above an entry are its head, a comment after it on the same line is its line comment, and comments below
//!    it, separated from the next entry by a blank line or a smaller indentation, are its foot.
//! 2. [`scalar`] determines the values of untagged plain scalars.
//! 3. [`emit`] prints the tree with an indentation of two spaces. Styles, order and comments are preserved; blank
//!    lines between entries are not.
//!
//! **Invariant**: unedited parts are printed with the same value and the same style.

mod comments;
mod convert;
mod emit;
mod node;
mod order;
mod parse;
mod scalar;

pub use convert::{ToJsonError, from_json, to_json};
pub use emit::{emit, emit_json};
pub use node::{
    Alias, Comments, Data, Document, Item, Layout, Mapping, Node, Position, Scalar, ScalarStyle,
    Sequence,
};
pub use order::compare_keys;
pub use parse::{SyntaxError, parse};
pub use scalar::{Resolved, resolve_plain};

#[cfg(test)]
mod tests;
