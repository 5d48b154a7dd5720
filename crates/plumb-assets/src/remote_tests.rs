//! Remote assets from a real local server, and oversized archives.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use plumb_value::assets::{hash_archive, hash_asset};
use plumb_value::{Archive, ArchiveSource, Asset, AssetSource};
use sha2::{Digest, Sha256};

use super::unpack::unpack_within;
use super::*;

/// Responses by path, in order; the last one is repeated. A response is everything sent before the connection closes; an
/// empty one keeps the client waiting.
struct Server {
    address: String,
    asked: Arc<AtomicUsize>,
}

type Answers = BTreeMap<&'static str, Vec<Vec<u8>>>;

impl Server {
    fn start(answers: Answers) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let asked = Arc::new(AtomicUsize::new(0));
        let (count, answers) = (asked.clone(), Arc::new(Mutex::new(answers)));
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                count.fetch_add(1, Ordering::SeqCst);
                let answers = answers.clone();
                std::thread::spawn(move || serve(connection, &answers));
            }
        });
        Server { address, asked }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

fn serve(mut connection: TcpStream, answers: &Mutex<Answers>) {
    let mut lines = BufReader::new(connection.try_clone().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    let path = first.split(' ').nth(1).unwrap().to_owned();
    while lines
        .next()
        .is_some_and(|line| line.is_ok_and(|line| !line.is_empty()))
    {}
    let answer = {
        let mut answers = answers.lock().unwrap();
        let answers = answers.get_mut(path.as_str()).unwrap();
        if answers.len() > 1 {
            answers.remove(0)
        } else {
            answers[0].clone()
        }
    };
    // Fails if the client has closed the connection early.
    let _ = connection.write_all(&answer);
    if answer.is_empty() {
        let _ = connection.read(&mut [0]);
    }
}

fn ok(content: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        content.len()
    );
    [head.as_bytes(), content].concat()
}

fn status(line: &str) -> Vec<u8> {
    format!("HTTP/1.1 {line}\r\nContent-Length: 4\r\nConnection: close\r\n\r\noops").into_bytes()
}

fn asset(uri: String) -> Asset {
    Asset {
        hash: "".into(),
        source: AssetSource::Uri(uri.into()),
    }
}

fn reader(limits: FetchLimits) -> FsReader {
    FsReader::new("/nowhere").with_fetcher(Arc::new(HttpFetcher::new(limits)))
}

fn sha256(content: &[u8]) -> String {
    hex::encode(Sha256::digest(content))
}

/// The error with its causes.
fn failure(uri: String, limits: FetchLimits) -> String {
    let error = hash_asset(&asset(uri), &reader(limits)).unwrap_err();
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

#[test]
fn remote_content_hashes_as_local_content_does() {
    let archive = tar_gz(|tar| append(tar, "a.txt", b"content"));
    let server = Server::start(BTreeMap::from([
        ("/a.txt", vec![ok(b"hello")]),
        ("/old", vec![b"HTTP/1.1 302 Found\r\nLocation: /a.txt\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_vec()]),
        ("/a.tar.gz", vec![ok(&archive)]),
        ("/busy", vec![status("503 Busy"), status("429 Too Many"), ok(b"at last")]),
        ("/half", vec![b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhal".to_vec(), ok(b"whole")]),
    ]));
    let reader = reader(FetchLimits::default());
    for (path, content) in [
        ("/a.txt", b"hello".as_slice()),
        ("/old", b"hello"),
        ("/busy", b"at last"),
        ("/half", b"whole"),
    ] {
        let hash = hash_asset(&asset(server.url(path)), &reader).unwrap();
        assert_eq!(hash.as_str(), sha256(content), "{path}");
    }
    let remote = Archive {
        hash: "".into(),
        source: ArchiveSource::Uri(server.url("/a.tar.gz").into()),
    };
    assert_eq!(
        hash_archive(&remote, &reader).unwrap().as_str(),
        sha256(&archive)
    );
    // Inside another archive, the members are hashed.
    let outer = |inner: Archive| Archive {
        hash: "".into(),
        source: ArchiveSource::Assets(
            [("in".into(), plumb_value::Value::Archive(Arc::new(inner)))].into(),
        ),
    };
    let text = plumb_value::Value::Asset(Arc::new(Asset {
        hash: "".into(),
        source: AssetSource::Text("content".into()),
    }));
    let local = outer(Archive {
        hash: "".into(),
        source: ArchiveSource::Assets([("a.txt".into(), text)].into()),
    });
    assert_eq!(
        hash_archive(&outer(remote), &reader).unwrap(),
        hash_archive(&local, &reader).unwrap()
    );
}

#[test]
fn file_addresses_are_read_here() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("with space.txt");
    std::fs::write(&path, "here").unwrap();
    let uri = format!("file://{}", path.display()).replace(' ', "%20");
    let hash = hash_asset(&asset(uri), &reader(FetchLimits::default())).unwrap();
    assert_eq!(hash.as_str(), sha256(b"here"));
}

#[test]
fn answers_that_are_no_success_are_errors() {
    let server = Server::start(BTreeMap::from([
        ("/missing?token=hidden", vec![status("404 Not Found")]),
        ("/broken", vec![status("500 Broken")]),
    ]));
    let uri = format!("http://user:hidden@{}/missing?token=hidden", server.address);
    let text = failure(uri, FetchLimits::default());
    assert!(text.contains("/missing`") && text.contains("404"), "{text}");
    assert!(!text.contains("hidden"), "{text}");
    assert_eq!(server.asked.load(Ordering::SeqCst), 1);
    let text = failure(server.url("/broken"), FetchLimits::default());
    assert!(text.contains("500"), "{text}");
    assert_eq!(server.asked.load(Ordering::SeqCst), 4);
}

#[test]
fn too_much_and_too_late_is_refused() {
    let endless = [
        b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".as_slice(),
        &[b'x'; 2000],
    ]
    .concat();
    let server = Server::start(BTreeMap::from([
        (
            "/announced",
            vec![b"HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n".to_vec()],
        ),
        ("/endless", vec![endless]),
        ("/exact", vec![ok(&[b'x'; 1000])]),
        ("/silent", vec![Vec::new()]),
    ]));
    let limits = FetchLimits {
        bytes: 1000,
        ..FetchLimits::default()
    };
    for path in ["/announced", "/endless"] {
        let text = failure(server.url(path), limits);
        assert!(text.contains("longer than 1000 bytes"), "{text}");
    }
    assert!(hash_asset(&asset(server.url("/exact")), &reader(limits)).is_ok());
    let hasty = FetchLimits {
        silence: Duration::from_millis(20),
        ..limits
    };
    let text = failure(server.url("/silent"), hasty);
    assert!(text.contains("the connection failed"), "{text}");
}

fn append(tar: &mut tar::Builder<Vec<u8>>, name: &str, content: &[u8]) {
    let mut header = tar::Header::new_gnu();
    header.set_size(content.len() as u64);
    header.set_mode(0o644);
    tar.append_data(&mut header, name, content).unwrap();
}

fn tar_gz(fill: impl FnOnce(&mut tar::Builder<Vec<u8>>)) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    fill(&mut tar);
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(&tar.into_inner().unwrap()).unwrap();
    packed.finish().unwrap()
}

#[test]
fn archives_that_unpack_to_too_much_are_refused() {
    let zeros = vec![0; 50_000];
    let tar = tar_gz(|tar| append(tar, "zeros", &zeros));
    let mut zip = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
    zip.start_file("zeros", zip::write::SimpleFileOptions::default())
        .unwrap();
    zip.write_all(&zeros).unwrap();
    let zip = zip.finish().unwrap().into_inner();
    for (format, bytes) in [(ArchiveFormat::TarGz, tar), (ArchiveFormat::Zip, zip)] {
        let unpacked =
            |limit| unpack_within(format, Content::from_bytes(bytes.clone()), "it", limit);
        assert_eq!(unpacked(50_000).unwrap().len(), 1);
        assert!(matches!(
            unpacked(49_999),
            Err(AssetError::TooBig { limit: 49_999, .. })
        ));
    }
}
