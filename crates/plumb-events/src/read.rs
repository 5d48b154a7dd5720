//! Events parsed from JSON, for replaying event logs.
//!
//! Details that the JSON form omits are lost: a hidden secret is read as a secret with the text `[secret]`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ecow::EcoString;
use plumb_resource::{
    DiffKind, InvalidUrn, PropertyDiff, ProviderRef, ResourceId, ResourceKind, ResourceState,
    StepOp, TypeToken, UNKNOWN_SENTINEL, Urn,
};
use plumb_value::{
    Archive, ArchiveSource, Asset, AssetSource, MAX_DEPTH, PropertyMap, ReferenceId,
    ResourceReference, Value, json_depth,
};
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use crate::json::signature;
use crate::{
    ColorMode, Diagnostic, Event, FailedStatus, FailedStepEvent, Metadata, OperationResult,
    PolicyAnalyzeSummary, PolicyPackId, PolicyRemediation, PolicyViolation, Progress, ProgressKind,
    Severity, StateView, StepEvent, Summary,
};

/// An event read from its JSON form.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadEvent {
    /// Number of the event.
    pub sequence: u64,
    /// Seconds since 1970.
    pub timestamp: i64,
    /// The event.
    pub event: Event,
}

/// Errors of reading an event.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The text is not JSON.
    #[error("event is not valid JSON")]
    Json(#[from] serde_json::Error),
    /// No field names a known event.
    #[error("unknown kind of event")]
    Kind,
    /// The JSON is nested too deep.
    #[error("nesting is deeper than {MAX_DEPTH} levels")]
    Depth,
    /// A field is missing or of the wrong kind.
    #[error("event field `{field}` is missing or not valid")]
    Field {
        /// The field.
        field: &'static str,
    },
    /// A URN is not valid.
    #[error(transparent)]
    Urn(#[from] InvalidUrn),
}

/// JSON whose nesting may exceed the stack; parsed with a stack that grows.
struct Deep(Json);

impl<'de> Deserialize<'de> for Deep {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Json::deserialize(serde_stacker::Deserializer::new(deserializer)).map(Deep)
    }
}

impl ReadEvent {
    /// Reads one line of an event log.
    pub fn from_line(line: &str) -> Result<Self, ReadError> {
        let mut events = ReadEvent::stream(line);
        let event = events.next().ok_or(ReadError::Kind)??;
        match events.next() {
            None => Ok(event),
            Some(next) => next.and(Err(ReadError::Kind)),
        }
    }

    /// Reads a sequence of events, with any blanks and line breaks within and between them.
    pub fn stream(text: &str) -> impl Iterator<Item = Result<Self, ReadError>> {
        let is_too_deep = json_depth(text) > MAX_DEPTH;
        let refused = is_too_deep.then_some(Err(ReadError::Depth));
        let text = if is_too_deep { "" } else { text };
        let mut deserializer = serde_json::Deserializer::from_str(text);
        // The limit of the parser is too low, because values in events may be as deep as values in state.
        deserializer.disable_recursion_limit();
        let values = deserializer.into_iter::<Deep>();
        let events = values.map(|json| ReadEvent::from_json(&json?.0));
        refused.into_iter().chain(events)
    }

    fn from_json(json: &Json) -> Result<Self, ReadError> {
        let fields = Fields::of(json, "event")?;
        let event = read_event(&fields)?;
        Ok(ReadEvent {
            sequence: json
                .get("sequence")
                .and_then(Json::as_u64)
                .unwrap_or_default(),
            timestamp: json
                .get("timestamp")
                .and_then(Json::as_i64)
                .unwrap_or_default(),
            event,
        })
    }
}

fn read_event(envelope: &Fields<'_>) -> Result<Event, ReadError> {
    let (name, json) = envelope
        .0
        .iter()
        .find(|(name, _)| name.ends_with("Event"))
        .ok_or(ReadError::Kind)?;
    let fields = Fields::of(json, "payload")?;
    Ok(match name.as_str() {
        "preludeEvent" => Event::Prelude {
            config: fields.texts_by_name("config"),
        },
        "resourcePreEvent" => Event::ResourcePre(read_step(&fields)?),
        "resOutputsEvent" => Event::ResourceOutputs(read_step(&fields)?),
        "resOpFailedEvent" => Event::ResourceFailed(read_failed(&fields)?),
        "diagnosticEvent" => Event::Diagnostic(read_diagnostic(&fields)?),
        "stdoutEvent" => Event::Stdout {
            message: fields.text("message"),
            color: fields.color(),
        },
        "policyEvent" => Event::PolicyViolation(PolicyViolation {
            urn: fields.urn("resourceUrn")?,
            message: fields.text("message"),
            color: fields.color(),
            policy: fields.text("policyName"),
            pack: read_pack(&fields),
            enforcement_level: fields.text("enforcementLevel"),
            severity: fields.text("severity"),
        }),
        "policyRemediationEvent" => Event::PolicyRemediation(PolicyRemediation {
            urn: fields.urn("resourceUrn")?,
            color: fields.color(),
            policy: fields.text("policyName"),
            pack: read_pack(&fields),
            before: fields.properties("before"),
            after: fields.properties("after"),
        }),
        "policyLoadEvent" => Event::PolicyLoad,
        "policyAnalyzeSummaryEvent" => Event::PolicyAnalyzeSummary(read_analyze_summary(&fields)?),
        "policyRemediateSummaryEvent" => {
            Event::PolicyRemediateSummary(read_analyze_summary(&fields)?)
        }
        "policyAnalyzeStackSummaryEvent" => {
            Event::PolicyAnalyzeStackSummary(read_analyze_summary(&fields)?)
        }
        "progressEvent" => Event::Progress(read_progress(&fields)?),
        "startDebuggingEvent" => Event::StartDebugging {
            config: fields.properties("config"),
        },
        "errorEvent" => Event::Error {
            error: fields.text("error"),
        },
        "summaryEvent" => Event::Summary(read_summary(&fields)?),
        "cancelEvent" => Event::Cancel,
        _ => return Err(ReadError::Kind),
    })
}

fn read_step(fields: &Fields<'_>) -> Result<StepEvent, ReadError> {
    let metadata = read_metadata(fields)?;
    let internal = is_internal(&metadata);
    Ok(StepEvent {
        metadata: Box::new(metadata),
        planning: fields.flag("planning"),
        internal,
    })
}

/// Whether a step is internal. The JSON form does not say, so the kind of step and the resource decide.
fn is_internal(metadata: &Metadata) -> bool {
    metadata.op == StepOp::RemovePendingReplace || metadata.urn.is_default_provider()
}

fn read_failed(fields: &Fields<'_>) -> Result<FailedStepEvent, ReadError> {
    let metadata = read_metadata(fields)?;
    let status = match fields.number("status") {
        0 => FailedStatus::Ok,
        1 => FailedStatus::PartialFailure,
        _ => FailedStatus::Unknown,
    };
    let internal = is_internal(&metadata);
    let steps = u32::try_from(fields.number("steps")).unwrap_or(u32::MAX);
    Ok(FailedStepEvent {
        metadata: Box::new(metadata),
        status,
        steps,
        internal,
    })
}

fn read_metadata(event: &Fields<'_>) -> Result<Metadata, ReadError> {
    let fields = event.object("metadata")?;
    let urn = fields
        .urn("urn")?
        .ok_or(ReadError::Field { field: "urn" })?;
    Ok(Metadata {
        op: StepOp::from_name(&fields.text("op")).ok_or(ReadError::Field { field: "op" })?,
        type_token: TypeToken::new(fields.text("type")),
        urn,
        old: read_state(&fields, "old")?,
        new: read_state(&fields, "new")?,
        keys: fields.texts("keys"),
        diffs: fields.texts("diffs"),
        detailed_diff: read_detailed_diff(&fields)?,
        logical: fields.flag("logical"),
        provider: ProviderRef::parse(&fields.text("provider")).ok(),
    })
}

fn read_detailed_diff(
    fields: &Fields<'_>,
) -> Result<Option<BTreeMap<EcoString, PropertyDiff>>, ReadError> {
    let Some(Json::Object(paths)) = fields.0.get("detailedDiff") else {
        return Ok(None);
    };
    let mut differences = BTreeMap::new();
    for (path, json) in paths {
        let difference = Fields::of(json, "detailedDiff")?;
        let kind = match difference.text("diffKind").as_str() {
            "add" => DiffKind::Add,
            "add-replace" => DiffKind::AddReplace,
            "delete" => DiffKind::Delete,
            "delete-replace" => DiffKind::DeleteReplace,
            "update" => DiffKind::Update,
            "update-replace" => DiffKind::UpdateReplace,
            _ => return Err(ReadError::Field { field: "diffKind" }),
        };
        differences.insert(
            path.into(),
            PropertyDiff {
                kind,
                input_diff: difference.flag("inputDiff"),
            },
        );
    }
    Ok(Some(differences))
}

fn read_state(metadata: &Fields<'_>, name: &'static str) -> Result<Option<StateView>, ReadError> {
    if metadata.0.get(name).is_none_or(Json::is_null) {
        return Ok(None);
    }
    let fields = metadata.object(name)?;
    let urn = fields
        .urn("urn")?
        .ok_or(ReadError::Field { field: "urn" })?;
    let type_token = TypeToken::new(fields.text("type"));
    let kind = ResourceKind::from_custom(fields.flag("custom"), &type_token);
    let id = fields.text("id");
    let state = ResourceState {
        type_token,
        delete: fields.flag("delete"),
        id: if id == UNKNOWN_SENTINEL {
            ResourceId::Unknown
        } else {
            ResourceId::from_text(&id)
        },
        parent: fields.urn("parent")?,
        protect: fields.flag("protect"),
        taint: fields.flag("taint"),
        external: fields.flag("external"),
        retain_on_delete: fields.flag("retainOnDelete"),
        inputs: Arc::new(fields.properties("inputs")),
        outputs: Arc::new(fields.properties("outputs")),
        provider: ProviderRef::parse(&fields.text("provider")).ok(),
        init_errors: fields.texts("initErrors").into(),
        hide_diff: fields.texts("hideDiffs").into(),
        ..ResourceState::new(urn, kind)
    };
    Ok(Some(StateView::new(state)))
}

fn read_diagnostic(fields: &Fields<'_>) -> Result<Diagnostic, ReadError> {
    Ok(Diagnostic {
        urn: fields.urn("urn")?,
        prefix: fields.text("prefix"),
        message: fields.text("message"),
        color: fields.color(),
        severity: Severity::from_name(&fields.text("severity"))
            .ok_or(ReadError::Field { field: "severity" })?,
        stream_id: i32::try_from(fields.number("streamID")).unwrap_or_default(),
        ephemeral: fields.flag("ephemeral"),
    })
}

fn read_pack(fields: &Fields<'_>) -> PolicyPackId {
    PolicyPackId {
        name: fields.text("policyPackName"),
        version: fields.text("policyPackVersion"),
        version_tag: fields.text("policyPackVersionTag"),
    }
}

fn read_analyze_summary(fields: &Fields<'_>) -> Result<PolicyAnalyzeSummary, ReadError> {
    Ok(PolicyAnalyzeSummary {
        urn: fields.urn("resourceUrn")?,
        pack: read_pack(fields),
        passed: fields.texts("passed"),
        failed: fields.texts("failed"),
        not_applicable: fields.texts("notApplicable"),
    })
}

fn read_progress(fields: &Fields<'_>) -> Result<Progress, ReadError> {
    let name = fields.text("type");
    let kind = ProgressKind::ALL
        .into_iter()
        .find(|kind| kind.as_str() == name);
    Ok(Progress {
        kind: kind.ok_or(ReadError::Field { field: "type" })?,
        id: fields.text("id"),
        message: fields.text("message"),
        received: fields.number("received"),
        total: fields.number("total"),
        done: fields.flag("done"),
    })
}

fn read_summary(fields: &Fields<'_>) -> Result<Summary, ReadError> {
    let mut resource_changes = BTreeMap::new();
    if let Ok(changes) = fields.object("resourceChanges") {
        for (name, count) in changes.0 {
            let op = StepOp::from_name(name).ok_or(ReadError::Field {
                field: "resourceChanges",
            })?;
            resource_changes.insert(
                op,
                count
                    .as_u64()
                    .and_then(|count| u32::try_from(count).ok())
                    .unwrap_or(0),
            );
        }
    }
    let result = match fields.text("result").as_str() {
        "failed" => OperationResult::Failed,
        "canceled" => OperationResult::Canceled,
        _ => OperationResult::Succeeded,
    };
    Ok(Summary {
        maybe_corrupt: fields.flag("maybeCorrupt"),
        duration: Duration::from_secs(fields.number("durationSeconds")),
        resource_changes,
        policy_packs: fields.texts_by_name("PolicyPacks"),
        is_preview: fields.flag("isPreview"),
        result,
    })
}

/// The fields of an object. An absent field reads as empty, because the JSON form omits empty fields.
struct Fields<'a>(&'a Map<String, Json>);

impl<'a> Fields<'a> {
    fn of(json: &'a Json, field: &'static str) -> Result<Self, ReadError> {
        json.as_object()
            .map(Fields)
            .ok_or(ReadError::Field { field })
    }

    fn object(&self, field: &'static str) -> Result<Fields<'a>, ReadError> {
        Fields::of(self.0.get(field).ok_or(ReadError::Field { field })?, field)
    }

    fn text(&self, field: &str) -> EcoString {
        self.0
            .get(field)
            .and_then(Json::as_str)
            .unwrap_or_default()
            .into()
    }

    fn flag(&self, field: &str) -> bool {
        self.0
            .get(field)
            .and_then(Json::as_bool)
            .unwrap_or_default()
    }

    fn number(&self, field: &str) -> u64 {
        self.0.get(field).and_then(Json::as_u64).unwrap_or_default()
    }

    fn urn(&self, field: &str) -> Result<Option<Urn>, ReadError> {
        let text = self.text(field);
        if text.is_empty() {
            Ok(None)
        } else {
            Ok(Some(Urn::parse(&text)?))
        }
    }

    fn color(&self) -> ColorMode {
        ColorMode::from_name(&self.text("color")).unwrap_or_default()
    }

    fn texts(&self, field: &str) -> Vec<EcoString> {
        let list = self.0.get(field).and_then(Json::as_array);
        list.into_iter()
            .flatten()
            .filter_map(Json::as_str)
            .map(EcoString::from)
            .collect()
    }

    fn texts_by_name(&self, field: &str) -> BTreeMap<EcoString, EcoString> {
        let map = self.0.get(field).and_then(Json::as_object);
        map.into_iter()
            .flatten()
            .map(|(name, value)| (name.into(), value.as_str().unwrap_or_default().into()))
            .collect()
    }

    fn properties(&self, field: &str) -> PropertyMap {
        self.0
            .get(field)
            .and_then(Json::as_object)
            .map(read_properties)
            .unwrap_or_default()
    }
}

fn read_properties(map: &Map<String, Json>) -> PropertyMap {
    map.iter()
        .map(|(key, value)| (key.as_str().into(), read_value(value)))
        .collect()
}

fn read_value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(value) => Value::Number(value.as_f64().unwrap_or_default()),
        Json::String(text) if text == UNKNOWN_SENTINEL => Value::UNKNOWN,
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(values) => Value::array(values.iter().map(read_value)),
        Json::Object(map) => match map.get(signature::KEY).and_then(Json::as_str) {
            Some(signature::SECRET) => read_secret(map),
            Some(signature::ASSET) => read_asset(map),
            Some(signature::ARCHIVE) => read_archive(map),
            Some(signature::REFERENCE) => read_reference(map),
            _ => Value::from(read_properties(map)),
        },
    }
}

fn read_secret(map: &Map<String, Json>) -> Value {
    let plain = map
        .get("plaintext")
        .and_then(Json::as_str)
        .and_then(|text| serde_json::from_str::<Json>(text).ok());
    let inner = plain
        .as_ref()
        .or_else(|| map.get("ciphertext"))
        .map_or(Value::Null, read_value);
    Value::secret(inner)
}

fn read_asset(map: &Map<String, Json>) -> Value {
    let fields = Fields(map);
    let text = |name: &str| map.get(name).and_then(Json::as_str).map(EcoString::from);
    let source = text("text")
        .map(AssetSource::Text)
        .or_else(|| text("path").map(AssetSource::Path))
        .or_else(|| text("uri").map(AssetSource::Uri))
        .unwrap_or(AssetSource::Elided);
    Value::Asset(Arc::new(Asset {
        hash: fields.text("hash"),
        source,
    }))
}

fn read_archive(map: &Map<String, Json>) -> Value {
    let fields = Fields(map);
    let text = |name: &str| map.get(name).and_then(Json::as_str).map(EcoString::from);
    let members = map.get("assets").and_then(Json::as_object).map(|members| {
        ArchiveSource::Assets(
            members
                .iter()
                .map(|(name, member)| (name.into(), read_value(member)))
                .collect(),
        )
    });
    let source = members
        .or_else(|| text("path").map(ArchiveSource::Path))
        .or_else(|| text("uri").map(ArchiveSource::Uri))
        .unwrap_or(ArchiveSource::Elided);
    Value::Archive(Arc::new(Archive {
        hash: fields.text("hash"),
        source,
    }))
}

fn read_reference(map: &Map<String, Json>) -> Value {
    let fields = Fields(map);
    let id = match map.get("id").and_then(Json::as_str) {
        None => ReferenceId::None,
        Some("") => ReferenceId::Unknown,
        Some(id) => ReferenceId::Known(id.into()),
    };
    Value::Resource(Arc::new(ResourceReference {
        urn: fields.text("urn"),
        id,
        name: None,
        type_token: None,
        package_version: fields.text("packageVersion"),
    }))
}
