//! Assets and archives, whose changes are detected by their hashes.

use std::collections::{BTreeMap, BTreeSet};

use ecow::EcoString;
use plumb_resource::StepOp;
use plumb_value::{Archive, ArchiveSource, Asset, AssetSource, Value};

use super::{At, Title, ValuePrinter, longest};

type Members = BTreeMap<EcoString, Value>;

impl ValuePrinter<'_> {
    pub(super) fn asset(&mut self, asset: &Asset, at: At) {
        let hash = short_hash(&asset.hash);
        match &asset.source {
            AssetSource::Text(text) => {
                self.piece(at.op, &format!("asset(text:{hash}) {{\n"));
                for line in text.split('\n') {
                    self.plain_line(at, &format!("    {line}\n"));
                }
                self.plain_line(at, "}");
            }
            AssetSource::Path(path) => {
                self.piece(at.op, &format!("asset(file:{hash}) {{ {path} }}"));
            }
            AssetSource::Uri(uri) => {
                self.piece(at.op, &format!("asset(uri:{hash}) {{ {uri} }}"));
            }
            AssetSource::Elided => self.piece(at.op, &format!("asset(unknown:{hash}) {{ }}")),
        }
    }

    pub(super) fn archive(&mut self, archive: &Archive, at: At) {
        let hash = short_hash(&archive.hash);
        match &archive.source {
            ArchiveSource::Assets(members) => {
                self.piece(at.op, &format!("archive(assets:{hash}) {{\n"));
                for (name, member) in members {
                    self.line(at, &format!("    \"{name}\": "));
                    self.value(member, at.deeper(1));
                }
                self.plain_line(at, "}");
            }
            ArchiveSource::Path(path) => {
                self.piece(at.op, &format!("archive(file:{hash}) {{ {path} }}"));
            }
            ArchiveSource::Uri(uri) => {
                self.piece(at.op, &format!("archive(uri:{hash}) {{ {uri} }}"));
            }
            ArchiveSource::Elided => self.piece(at.op, &format!("archive({hash}) {{ }}")),
        }
    }

    /// Prints the change of an archive: in place if the kind stays the same, otherwise a deletion
    /// and an addition.
    pub(super) fn archive_update(
        &mut self,
        title: Title<'_>,
        old: &Archive,
        new: &Archive,
        at: At,
    ) {
        let at = at.signed(StepOp::Update);
        let hash = changed(&short_hash(&old.hash), &short_hash(&new.hash));
        match (&old.source, &new.source) {
            (ArchiveSource::Path(old), ArchiveSource::Path(new)) => {
                self.title(title, at);
                let path = changed(old, new);
                self.piece(at.op, &format!("archive(file:{hash}) {{ {path} }}\n"));
            }
            (ArchiveSource::Uri(old), ArchiveSource::Uri(new)) => {
                self.title(title, at);
                let uri = changed(old, new);
                self.piece(at.op, &format!("archive(uri:{hash}) {{ {uri} }}\n"));
            }
            (ArchiveSource::Assets(old), ArchiveSource::Assets(new)) => {
                self.title(title, at);
                self.piece(at.op, &format!("archive(assets:{hash}) {{\n"));
                self.members_update(old, new, at.deeper(1));
                self.plain_line(at, "}\n");
            }
            _ => {
                self.deleted(title, &Value::Archive(old.clone().into()), at);
                self.added(title, &Value::Archive(new.clone().into()), at);
            }
        }
    }

    /// Prints added, deleted and changed members of an archive.
    fn members_update(&mut self, old: &Members, new: &Members, at: At) {
        let quotes = |name: &EcoString| format!("\"{name}\"");
        let names: BTreeSet<&EcoString> = old.keys().chain(new.keys()).collect();
        let titles: Vec<String> = names.iter().map(|name| quotes(name)).collect();
        let width = longest(titles.iter().map(String::as_str));
        for (name, title) in names.iter().zip(&titles) {
            let title = Title::key(title, width);
            match (old.get(*name), new.get(*name)) {
                (Some(old), Some(new)) => self.member_update(title, old, new, at),
                (Some(old), None) => self.deleted(title, old, at.deeper(1)),
                (None, Some(new)) => self.added(title, new, at.deeper(1)),
                (None, None) => {}
            }
        }
    }

    fn member_update(&mut self, title: Title<'_>, old: &Value, new: &Value, at: At) {
        match (old, new) {
            (Value::Asset(old), Value::Asset(new)) => {
                if old.hash != new.hash {
                    self.asset_update(title, old, new, at);
                }
            }
            (Value::Archive(old), Value::Archive(new)) => {
                if old.hash != new.hash {
                    self.archive_update(title, old, new, at);
                }
            }
            _ => {
                self.deleted(title, old, at);
                self.added(title, new, at);
            }
        }
    }

    fn asset_update(&mut self, title: Title<'_>, old: &Asset, new: &Asset, at: At) {
        let at = at.signed(StepOp::Update);
        let hash = changed(&short_hash(&old.hash), &short_hash(&new.hash));
        match (&old.source, &new.source) {
            (AssetSource::Text(old), AssetSource::Text(new)) => {
                self.title(title, at);
                self.piece(at.op, &format!("asset(text:{hash}) {{"));
                self.text_update(old, new, at.deeper(1));
                self.plain_line(at, "}\n");
            }
            (AssetSource::Path(old), AssetSource::Path(new)) => {
                self.title(title, at);
                let path = changed(old, new);
                self.piece(at.op, &format!("asset(file:{hash}) {{ {path} }}\n"));
            }
            (AssetSource::Uri(old), AssetSource::Uri(new)) => {
                self.title(title, at);
                let uri = changed(old, new);
                self.piece(at.op, &format!("asset(uri:{hash}) {{ {uri} }}\n"));
            }
            _ => {
                self.deleted(title, &Value::Asset(old.clone().into()), at);
                self.added(title, &Value::Asset(new.clone().into()), at);
            }
        }
    }
}

fn short_hash(hash: &str) -> String {
    hash.chars().take(7).collect()
}

/// Text `old->new`, or the common value if they are equal.
fn changed(old: &str, new: &str) -> String {
    if old == new {
        old.to_owned()
    } else {
        format!("{old}->{new}")
    }
}
