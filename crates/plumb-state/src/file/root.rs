//! Reading of the root stack resource alone.
//!
//! The outputs of a stack are those of its root resource. Showing them, or a stack reference, does not need the other
//! resources, which are skipped as text. A resource is recognized by its URN, which comes first in files; members
//! before it are buffered.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, IgnoredAny, IntoDeserializer as _, MapAccess,
    SeqAccess, Visitor,
};
use serde_json::value::RawValue;

use super::document::{Deployment, ParseError, Versioned, read_body, read_document, text_of};
use super::object::{Text, canonical, wire_object};
use super::wire::{WireBody, WireManifest, WireResource, WireSecretsProvider};
use crate::value::SECRET;
use crate::{CiphertextCache, SecretCodec, SecretsError, Snapshot};

/// The root resource of a stack, with the data to decrypt its secrets. It is only a part of the state, so it cannot be
/// written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RootState {
    deployment: Deployment,
}

impl RootState {
    /// Snapshot with only the root resource, if there is one; secrets are opaque.
    pub fn opaque(&self) -> &Snapshot {
        self.deployment.opaque()
    }

    /// Snapshot with only the root resource, decrypted. Calls `codec` only if there is an encrypted secret.
    pub fn decrypt(
        &self,
        codec: &dyn SecretCodec,
        cache: &mut CiphertextCache,
    ) -> Result<Snapshot, SecretsError> {
        self.deployment.decrypt(codec, cache)
    }
}

/// Parses the root resource from the beginning of a state file of a bucket-layout store. `None` if the whole file is
/// needed: the resource is not in this part, or the members before it are not in the order in which Plumb and Pulumi
/// write them.
pub fn parse_root_at_start(start: &[u8]) -> Option<RootState> {
    let text = match std::str::from_utf8(start) {
        Ok(text) => text,
        // The last character may be cut off.
        Err(error) => std::str::from_utf8(&start[..error.valid_up_to()]).ok()?,
    };
    let mut found = Start::default();
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let document = Within {
        level: Level::Document,
        found: &mut found,
    };
    // Parsing ends with an error in any case: after the first resource, or where the text is cut off.
    let _ = document.deserialize(&mut deserializer);
    // Other programs may write the secrets provider after the resources.
    let may_need_provider = found.secrets_providers.is_none() && text.contains(SECRET);
    if found.version != Some(3) || may_need_provider {
        return None;
    }
    let body = WireBody {
        manifest: found.manifest?,
        secrets_providers: found.secrets_providers,
        resources: vec![found.root?],
        ..WireBody::default()
    };
    let deployment = read_body(body, 3, &[]).ok()?;
    let is_live = !deployment.opaque().resources.first()?.delete;
    is_live.then_some(RootState { deployment })
}

/// Members before the resources, and the root resource if it is the first one.
#[derive(Default)]
struct Start<'de> {
    version: Option<i64>,
    manifest: Option<WireManifest<'de>>,
    secrets_providers: Option<WireSecretsProvider<'de>>,
    root: Option<WireResource<'de>>,
}

/// An object on the way from the document to the list of resources.
struct Within<'s, 'de> {
    level: Level,
    found: &'s mut Start<'de>,
}

#[derive(Clone, Copy)]
enum Level {
    Document,
    Checkpoint,
    Body,
    Resources,
}

impl<'de> DeserializeSeed<'de> for Within<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.level {
            Level::Resources => deserializer.deserialize_seq(self),
            _ => deserializer.deserialize_map(self),
        }
    }
}

impl<'de> Visitor<'de> for Within<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a state file")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Text<'de>>()? {
            let inner = match (self.level, &*key) {
                (Level::Document, "version") => {
                    self.found.version = Some(map.next_value()?);
                    continue;
                }
                (Level::Body, "manifest") => {
                    self.found.manifest = Some(map.next_value()?);
                    continue;
                }
                (Level::Body, "secrets_providers") => {
                    self.found.secrets_providers = Some(map.next_value()?);
                    continue;
                }
                (Level::Document, "checkpoint") => Level::Checkpoint,
                (Level::Checkpoint, "latest") => Level::Body,
                (Level::Body, "resources") => Level::Resources,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            map.next_value_seed(Within {
                level: inner,
                found: &mut *self.found,
            })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut resources: A) -> Result<(), A::Error> {
        if let Some(MaybeRoot(root)) = resources.next_element()? {
            self.found.root = root;
        }
        Err(serde::de::Error::custom("the rest is not read"))
    }
}

/// Parses the root resource from a state file of a bucket-layout store, of any version.
pub fn parse_root(bytes: &[u8]) -> Result<RootState, ParseError> {
    let text = text_of(bytes)?;
    let document: WireRootDocument<'_> = read_document(&text, |version| match version {
        0..=4 => Ok(()),
        version => Err(ParseError::UnsupportedCheckpoint { version }),
    })?;
    let latest = match document.version {
        0 => document.latest,
        _ => document.checkpoint.and_then(|it| it.latest),
    };
    let Some(body) = latest else {
        return Ok(RootState::default());
    };
    let body = WireBody {
        manifest: body.manifest,
        secrets_providers: body.secrets_providers,
        resources: body.resources.0,
        ..WireBody::default()
    };
    let deployment = read_body(body, document.version.max(1), &document.features)?;
    Ok(RootState { deployment })
}

wire_object! {
    WireRootDocument {
        version: i64 = "version",
        features: Vec<ecow::EcoString> = "features",
        checkpoint: Option<WireRootCheckpoint<'de>> = "checkpoint",
        latest: Option<WireRootBody<'de>> = "latest",
    }
}

wire_object! {
    WireRootCheckpoint {
        latest: Option<WireRootBody<'de>> = "latest",
    }
}

wire_object! {
    WireRootBody {
        manifest: WireManifest<'de> = "manifest",
        secrets_providers: Option<WireSecretsProvider<'de>> = "secrets_providers",
        resources: Roots<'de> = "resources",
    }
}

impl Versioned for WireRootDocument<'_> {
    fn version(&self) -> (i64, &[ecow::EcoString]) {
        (self.version, &self.features)
    }
}

/// Root resources in a list: one, or several while a replacement is not finished.
#[derive(Default)]
pub(crate) struct Roots<'de>(Vec<WireResource<'de>>);

impl<'de> Deserialize<'de> for Roots<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(RootsVisitor)
    }
}

struct RootsVisitor;

impl<'de> Visitor<'de> for RootsVisitor {
    type Value = Roots<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of resources")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut resources: A) -> Result<Roots<'de>, A::Error> {
        let mut roots = Vec::new();
        while let Some(MaybeRoot(root)) = resources.next_element()? {
            roots.extend(root);
        }
        Ok(Roots(roots))
    }
}

struct MaybeRoot<'de>(Option<WireResource<'de>>);

impl<'de> Deserialize<'de> for MaybeRoot<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MaybeRootVisitor)
    }
}

struct MaybeRootVisitor;

impl<'de> Visitor<'de> for MaybeRootVisitor {
    type Value = MaybeRoot<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a resource")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<MaybeRoot<'de>, A::Error> {
        let mut members: Vec<(String, &'de RawValue)> = Vec::new();
        while let Some(key) = map.next_key::<Text<'de>>()? {
            let value: &'de RawValue = map.next_value()?;
            let is_urn = canonical(&key, &["urn"]).is_some();
            members.push((key.to_string(), value));
            if is_urn && !is_root(value) {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                return Ok(MaybeRoot(None));
            }
        }
        let members = Members {
            rest: members.into_iter(),
            value: None,
        };
        let root = WireResource::deserialize(MapAccessDeserializer::new(members));
        let root = root.map_err(serde::de::Error::custom)?;
        Ok(MaybeRoot(Some(root)))
    }
}

/// Buffered members, which are parsed again from their text. The text does not carry the parser's depth limit.
struct Members<'de> {
    rest: std::vec::IntoIter<(String, &'de RawValue)>,
    value: Option<&'de RawValue>,
}

impl<'de> MapAccess<'de> for Members<'de> {
    type Error = serde_json::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Self::Error> {
        let Some((key, value)) = self.rest.next() else {
            return Ok(None);
        };
        self.value = Some(value);
        seed.deserialize(key.into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, Self::Error> {
        let value = self.value.take();
        let value = value.ok_or_else(|| serde::de::Error::custom("a member has one value"))?;
        super::from_json_seed(value.get(), seed)
    }
}

/// Whether the URN is that of a stack. Invalid URNs are reported when resources are read.
fn is_root(urn: &RawValue) -> bool {
    serde_json::from_str::<Text<'_>>(urn.get())
        .ok()
        .and_then(|text| plumb_resource::Urn::parse(&text).ok())
        .is_none_or(|urn| urn.is_root_stack())
}

#[cfg(test)]
mod tests {
    use super::super::parse_checkpoint;
    use super::*;

    fn file(resources: &str) -> String {
        format!(
            r#"{{"version": 3, "checkpoint": {{"stack": "organization/p/dev", "latest": {{
                "manifest": {{"time": "2026-01-02T03:04:05Z", "magic": "", "version": ""}},
                "resources": [{resources}]}}}}}}"#
        )
    }

    const ROOT: &str = r#"{"urn": "urn:pulumi:dev::p::pulumi:pulumi:Stack::p-dev", "custom": false,
        "type": "pulumi:pulumi:Stack", "outputs": {"a": 1, "b": {"c": ["d"]}}}"#;
    const OTHER: &str = r#"{"urn": "urn:pulumi:dev::p::pulumi:pulumi:Stash::x", "custom": true, "id": "1",
        "type": "pulumi:pulumi:Stash", "parent": "urn:pulumi:dev::p::pulumi:pulumi:Stack::p-dev",
        "outputs": {"type": "pulumi:pulumi:Stack"}}"#;

    #[test]
    fn the_root_is_what_the_whole_file_says_of_it() {
        for resources in [format!("{ROOT}, {OTHER}"), format!("{OTHER}, {ROOT}")] {
            let text = file(&resources);
            let root = parse_root(text.as_bytes()).unwrap();
            let whole = parse_checkpoint(text.as_bytes()).unwrap().latest.unwrap();
            let [state] = root.opaque().resources.as_slice() else {
                panic!("{root:?}")
            };
            let mut all = whole.opaque().resources.iter();
            assert_eq!(Some(state), all.find(|it| it.urn.is_root_stack()));
            assert_eq!(root.opaque().manifest, whole.opaque().manifest);
        }
    }

    /// The beginning of a file says nothing, or the same as the whole file.
    #[test]
    fn a_root_at_the_beginning_needs_no_more() {
        let provider =
            r#""secrets_providers": {"type": "passphrase", "state": {"salt": "v1:x"}}, "#;
        let secret = r#"{"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "v1:é"}"#;
        let with_secret = ROOT.replace(r#"{"a": 1,"#, &format!(r#"{{"a": {secret},"#));
        assert_ne!(with_secret, ROOT);
        let former = ROOT.replacen('{', r#"{"delete": true, "#, 1);
        let file_with = |resources: &str| {
            file(resources).replace(r#""resources""#, &format!(r#"{provider}"resources""#))
        };
        for (text, is_enough) in [
            (file_with(&format!("{with_secret}, {OTHER}")), true),
            (file(&format!("{ROOT}, {OTHER}")), true),
            (file(&format!("{with_secret}, {OTHER}")), false),
            (file_with(&format!("{OTHER}, {ROOT}")), false),
            (file_with(&format!("{former}, {ROOT}")), false),
        ] {
            let whole = parse_root(text.as_bytes()).unwrap();
            let mut needed = None;
            for end in 0..=text.len() {
                if let Some(root) = parse_root_at_start(&text.as_bytes()[..end]) {
                    assert_eq!(root, whole);
                    needed.get_or_insert(end);
                }
            }
            assert_eq!(needed.is_some(), is_enough, "{text}");
            assert!(needed.is_none_or(|end| end < text.find("::x").unwrap_or(text.len())));
        }
    }

    /// The depth limit is that of the whole file.
    #[test]
    fn deep_outputs_are_read() {
        let outputs = |depth: usize| {
            let value = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
            file(&ROOT.replace(r#"{"a": 1,"#, &format!(r#"{{"a": {value},"#)))
        };
        // Use the stack size of a main thread, because threads of tests have less.
        let work = move || {
            let root = parse_root(outputs(9_000).as_bytes()).unwrap();
            let mut value = &root.opaque().resources[0].outputs.get("a").unwrap().clone();
            let mut depth = 0;
            while let Some([inner]) = value.as_array() {
                (value, depth) = (inner, depth + 1);
            }
            assert_eq!(depth, 9_000);
            let error = parse_root(outputs(11_000).as_bytes()).unwrap_err();
            let text = format!("{error:?}");
            assert!(text.contains("deeper than 10000 levels"), "{text}");
        };
        let thread = std::thread::Builder::new().stack_size(64 << 20);
        thread.spawn(work).unwrap().join().unwrap();
    }

    #[test]
    fn members_may_come_in_any_order() {
        let reversed = r#"{"outputs": {"a": 1}, "type": "pulumi:pulumi:Stack", "custom": false,
            "urn": "urn:pulumi:dev::p::pulumi:pulumi:Stack::p-dev"}"#;
        let root = parse_root(file(&format!("{OTHER}, {reversed}")).as_bytes()).unwrap();
        assert_eq!(root.opaque().resources.len(), 1);
    }

    #[test]
    fn other_resources_are_not_even_read() {
        let broken = r#"{"urn": "urn:pulumi:dev::p::a:b:C::x", "custom": "neither", "outputs": 3}"#;
        let text = file(&format!("{ROOT}, {broken}"));
        assert!(parse_checkpoint(text.as_bytes()).is_err());
        assert_eq!(
            parse_root(text.as_bytes())
                .unwrap()
                .opaque()
                .resources
                .len(),
            1
        );
    }

    #[test]
    fn files_that_are_too_new_or_no_files_are_refused_as_ever() {
        for text in [
            r#"{"version": 5, "checkpoint": {}}"#,
            r#"{"version": 4, "features": ["later"], "checkpoint": {}}"#,
            "hello",
            r#"{"version": 3, "checkpoint": {"latest": {"resources": ["#,
        ] {
            let whole = parse_checkpoint(text.as_bytes()).unwrap_err().to_string();
            let root = parse_root(text.as_bytes()).unwrap_err().to_string();
            assert_eq!(root, whole);
        }
        let empty = parse_root(br#"{"version": 3, "checkpoint": {"stack": "s"}}"#).unwrap();
        assert_eq!(empty, RootState::default());
    }
}
