//! A YAML tree with positions and comments, read and written the way go-yaml v3 does.
//!
//! 1. [`parse`] builds a [`Document`] from the parser's events and hangs every comment on an entry: comments right
//!    above an entry are its head, a comment behind it on the same line is its line comment, and comments below it
//!    that a blank line (or a smaller indentation) parts from what follows are its foot.
//! 2. [`scalar`] decides what an untagged plain scalar means.
//! 3. [`emit`] prints the tree with two spaces of indentation; styles, order and comments are kept, blank lines between
//!    entries are not.
//!
//! **Invariant**: what was not edited prints with the same meaning and the same style.

mod comments;
mod convert;
mod emit;
mod node;
mod parse;
mod scalar;

pub use convert::{ToJsonError, from_json, to_json};
pub use emit::{emit, emit_json};
pub use node::{
    Alias, Comments, Data, Document, Item, Layout, Mapping, Node, Position, Scalar, ScalarStyle,
    Sequence,
};
pub use parse::{SyntaxError, parse};
pub use scalar::{Resolved, resolve_plain};

#[cfg(test)]
mod tests;
