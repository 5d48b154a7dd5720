//! Tar stream that is hashed for archives.
//!
//! The stream equals that of Go's `archive/tar` for a name, mode 0600 and a size (`state.md` 1.7): a USTAR header if the
//! name fits or can be split, otherwise preceded by a PAX record.

use std::io::Read;

use super::{AssetError, Content};

const BLOCK: usize = 512;
const NAME_LENGTH: usize = 100;
const PREFIX_LENGTH: usize = 155;
/// First size that needs more than the eleven octal digits of a header.
const SIZE_LIMIT: u64 = 1 << 33;

/// Writer of a tar stream; the bytes are passed to a function.
pub struct TarStream<F> {
    sink: F,
}

impl<F: FnMut(&[u8])> TarStream<F> {
    /// A stream that passes its bytes to `sink`.
    pub fn new(sink: F) -> Self {
        TarStream { sink }
    }

    /// Writes one file.
    pub fn add(&mut self, name: &str, mut content: Content) -> Result<(), AssetError> {
        if name.contains('\0') || name.ends_with('/') {
            return Err(AssetError::InvalidName {
                name: name.to_owned(),
            });
        }
        self.write_headers(name, content.size);
        let copied = self.copy(name, &mut content)?;
        if copied != content.size {
            return Err(AssetError::SizeChanged {
                name: name.to_owned(),
            });
        }
        self.pad(copied);
        Ok(())
    }

    /// Writes the end of the stream.
    pub fn finish(mut self) {
        (self.sink)(&[0; 2 * BLOCK]);
    }

    fn copy(&mut self, name: &str, content: &mut Content) -> Result<u64, AssetError> {
        // One byte more than the announced size is requested, so that a file that grew is noticed.
        let mut rest = (&mut content.reader).take(content.size.saturating_add(1));
        let mut buffer = vec![0; 64 * 1024];
        let mut copied = 0;
        loop {
            match rest.read(&mut buffer) {
                Ok(0) => return Ok(copied),
                Ok(count) => {
                    (self.sink)(&buffer[..count]);
                    copied += count as u64;
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(source) => {
                    return Err(AssetError::Read {
                        location: name.to_owned(),
                        source,
                    });
                }
            }
        }
    }

    fn pad(&mut self, written: u64) {
        let over = (written % BLOCK as u64) as usize;
        if over > 0 {
            (self.sink)(&[0; BLOCK][over..]);
        }
    }

    fn write_headers(&mut self, name: &str, size: u64) {
        let split = split_name(name);
        let name_fits = name.is_ascii() && (name.len() <= NAME_LENGTH || split.is_some());
        if name_fits && size < SIZE_LIMIT {
            let (prefix, rest) = split.unwrap_or(("", name));
            (self.sink)(
                &Header {
                    name: rest,
                    prefix,
                    mode: 0o600,
                    size,
                    kind: b'0',
                    has_device: true,
                }
                .bytes(),
            );
            return;
        }
        let mut record = String::new();
        if !name.is_ascii() || name.len() > NAME_LENGTH {
            record.push_str(&pax_record("path", name));
        }
        if size >= SIZE_LIMIT {
            record.push_str(&pax_record("size", &size.to_string()));
        }
        let record_name = pax_header_name(name);
        let record_header = Header {
            name: &record_name,
            prefix: "",
            mode: 0,
            size: record.len() as u64,
            kind: b'x',
            has_device: false,
        };
        (self.sink)(&record_header.bytes());
        (self.sink)(record.as_bytes());
        self.pad(record.len() as u64);
        let size = if size < SIZE_LIMIT { size } else { 0 };
        (self.sink)(
            &Header {
                name: &ascii(name),
                prefix: "",
                mode: 0o600,
                size,
                kind: b'0',
                has_device: true,
            }
            .bytes(),
        );
    }
}

struct Header<'a> {
    name: &'a str,
    prefix: &'a str,
    mode: u32,
    size: u64,
    kind: u8,
    has_device: bool,
}

impl Header<'_> {
    fn bytes(&self) -> [u8; BLOCK] {
        let mut block = [0; BLOCK];
        put_text(&mut block[..NAME_LENGTH], self.name);
        put_octal(&mut block[100..108], u64::from(self.mode));
        put_octal(&mut block[108..116], 0);
        put_octal(&mut block[116..124], 0);
        put_octal(&mut block[124..136], self.size);
        put_octal(&mut block[136..148], 0);
        block[156] = self.kind;
        block[257..265].copy_from_slice(b"ustar\x0000");
        if self.has_device {
            put_octal(&mut block[329..337], 0);
            put_octal(&mut block[337..345], 0);
        }
        put_text(&mut block[345..345 + PREFIX_LENGTH], self.prefix);
        block[148..156].fill(b' ');
        let sum: u64 = block.iter().map(|byte| u64::from(*byte)).sum();
        put_octal(&mut block[148..155], sum);
        block
    }
}

/// Writes as much of `text` as fits. A name cut right after a slash loses the slash, because it would mark a directory.
fn put_text(field: &mut [u8], text: &str) {
    let length = text.len().min(field.len());
    field[..length].copy_from_slice(&text.as_bytes()[..length]);
    if text.len() > field.len() && field.ends_with(b"/") {
        let kept = field
            .iter()
            .rposition(|byte| *byte != b'/')
            .map_or(0, |last| last + 1);
        field[kept] = 0;
    }
}

/// Writes octal digits that fill the field up to a final NUL.
fn put_octal(field: &mut [u8], number: u64) {
    let digits = field.len() - 1;
    field.copy_from_slice(format!("{number:0digits$o}\0").as_bytes());
}

/// Prefix and rest of a name that is too long for its field, if the name can be split at a slash.
fn split_name(name: &str) -> Option<(&str, &str)> {
    if name.len() <= NAME_LENGTH || !name.is_ascii() {
        return None;
    }
    let slash = name[..name.len().min(PREFIX_LENGTH + 1)]
        .rfind('/')
        .filter(|slash| *slash > 0)?;
    let (prefix, rest) = (&name[..slash], &name[slash + 1..]);
    (1..=NAME_LENGTH)
        .contains(&rest.len())
        .then_some((prefix, rest))
}

/// The PAX record `<length> <key>=<value>` with a line feed. The length includes its own digits.
fn pax_record(key: &str, value: &str) -> String {
    let rest = format!(" {key}={value}\n");
    let mut length = rest.len();
    loop {
        let record = format!("{length}{rest}");
        if record.len() == length {
            return record;
        }
        length = record.len();
    }
}

fn pax_header_name(name: &str) -> String {
    let (directory, base) = name
        .rfind('/')
        .map_or(("", name), |slash| name.split_at(slash + 1));
    let mut header = ascii(&super::members::clean_path(&format!(
        "{directory}/PaxHeaders.0/{base}"
    )));
    if !name.starts_with('/') && directory.is_empty() {
        header.remove(0);
    }
    header.truncate(NAME_LENGTH);
    header.truncate(header.trim_end_matches('/').len());
    header
}

fn ascii(text: &str) -> String {
    text.chars().filter(char::is_ascii).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut tar = TarStream::new(|part: &[u8]| bytes.extend_from_slice(part));
        for (name, content) in files {
            tar.add(name, Content::from_bytes(content.to_vec()))
                .unwrap();
        }
        tar.finish();
        bytes
    }

    #[test]
    fn nothing_is_two_empty_blocks() {
        assert_eq!(stream(&[]), [0; 1024]);
    }

    #[test]
    fn a_long_name_is_split_at_the_last_possible_slash() {
        let name = format!("{}/{}", "d/".repeat(70), "f".repeat(60));
        let (prefix, rest) = split_name(&name).unwrap();
        assert!(prefix.len() <= 155 && rest.len() <= 100);
        assert_eq!(format!("{prefix}/{rest}"), name);
        assert_eq!(split_name(&"f".repeat(101)), None);
        assert_eq!(split_name(&format!("/{}", "f".repeat(100))), None);
        assert_eq!(
            split_name(&format!("{}/{}", "d".repeat(10), "f".repeat(101))),
            None
        );
    }

    #[test]
    fn the_length_of_a_record_counts_itself() {
        assert_eq!(pax_record("path", "x"), "9 path=x\n");
        for length in 0..1200 {
            let record = pax_record("path", &"x".repeat(length));
            assert_eq!(record.split_once(' ').unwrap().0.parse(), Ok(record.len()));
        }
    }

    #[test]
    fn names_of_records_are_clean_ascii_and_short() {
        assert_eq!(pax_header_name("é.txt"), "PaxHeaders.0/.txt");
        assert_eq!(pax_header_name("dir/é.txt"), "dir/PaxHeaders.0/.txt");
        assert_eq!(pax_header_name("/dir/é.txt"), "/dir/PaxHeaders.0/.txt");
        assert_eq!(pax_header_name("/é"), "/PaxHeaders.0");
        assert_eq!(pax_header_name(&"f".repeat(120)).len(), 100);
    }

    #[test]
    fn a_name_cut_at_a_slash_ends_before_it() {
        let name = format!("{}/é{}", "d".repeat(99), "f".repeat(200));
        let bytes = stream(&[(&name, b"")]);
        assert_eq!(
            &bytes[1024..1124],
            format!("{}\0", "d".repeat(99)).as_bytes()
        );
    }

    #[test]
    fn names_that_no_file_can_have_are_refused() {
        let mut tar = TarStream::new(|_: &[u8]| {});
        for name in ["a\0b", "dir/"] {
            assert!(matches!(
                tar.add(name, Content::from_bytes([])),
                Err(AssetError::InvalidName { .. })
            ));
        }
    }

    #[test]
    fn a_file_that_changes_size_is_noticed() {
        for size in [2, 4] {
            let content = Content {
                size,
                reader: Box::new(&b"abc"[..]),
            };
            let outcome = TarStream::new(|_: &[u8]| {}).add("f", content);
            assert!(matches!(outcome, Err(AssetError::SizeChanged { .. })));
        }
    }
}
