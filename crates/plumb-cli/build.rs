//! Packs the pages of the book.

#[path = "build/book.rs"]
mod book;

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let folder = std::env::var_os("OUT_DIR").map(PathBuf::from);
    let folder = folder.expect("cargo sets the folder for output");
    pack_book(&folder.join("book.gz")).expect("the pages of the book can be packed");
}

/// Writes the pages of the book, compressed to a third.
fn pack_book(to: &Path) -> io::Result<()> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let mut file = GzEncoder::new(File::create(to)?, Compression::best());
    file.write_all(book::pages(&docs)?.as_bytes())?;
    file.finish().map(drop)
}
