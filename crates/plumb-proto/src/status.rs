//! Details of failed calls.
//!
//! Details are sent in the trailer `grpc-status-details-bin` as a [`google::rpc::Status`](crate::google::rpc::Status) whose
//! `details` are [`Any`] messages (`protocol.md` 6).

use bytes::Bytes;
use prost::{Message, Name};
use prost_types::Any;

use crate::google;

/// Prefix of the full message name in the type URL of a detail.
pub const TYPE_URL_PREFIX: &str = "type.googleapis.com/";

/// The details of `status`; empty if there are none or they cannot be decoded.
pub fn details(status: &tonic::Status) -> Vec<Any> {
    google::rpc::Status::decode(status.details())
        .map(|decoded| decoded.details)
        .unwrap_or_default()
}

/// The first detail of `status` that is an `M` and can be decoded.
///
/// The type is determined by the text after the last `/` of the type URL.
pub fn detail<M: Message + Name + Default>(status: &tonic::Status) -> Option<M> {
    let name = M::full_name();
    details(status)
        .iter()
        .filter(|any| any.type_url.rsplit('/').next() == Some(name.as_str()))
        .find_map(|any| M::decode(any.value.as_slice()).ok())
}

/// `message` as a detail.
pub fn to_any<M: Message + Name>(message: &M) -> Any {
    Any {
        type_url: format!("{TYPE_URL_PREFIX}{}", M::full_name()),
        value: message.encode_to_vec(),
    }
}

/// A status with details.
pub fn with_details(
    code: tonic::Code,
    message: impl Into<String>,
    details: Vec<Any>,
) -> tonic::Status {
    let message = message.into();
    let encoded = google::rpc::Status {
        code: code as i32,
        message: message.clone(),
        details,
    }
    .encode_to_vec();
    tonic::Status::with_details(code, message, Bytes::from(encoded))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pulumirpc::{ErrorResourceAwaitFailed, ErrorResourceInitFailed};

    #[test]
    fn a_detail_comes_back() {
        let failed = ErrorResourceInitFailed {
            id: "i".into(),
            reasons: vec!["r".into()],
            ..Default::default()
        };
        let status = with_details(tonic::Code::Unknown, "text", vec![to_any(&failed)]);
        assert_eq!(detail::<ErrorResourceInitFailed>(&status), Some(failed));
        assert_eq!(detail::<ErrorResourceAwaitFailed>(&status), None);
    }

    #[test]
    fn details_that_cannot_be_decoded_are_ignored() {
        let name = format!("anything/{}", ErrorResourceInitFailed::full_name());
        let broken = Any {
            type_url: name,
            value: vec![0xff],
        };
        let good = Any {
            type_url: "elsewhere/pulumirpc.ErrorResourceInitFailed".into(),
            value: Vec::new(),
        };
        let status = with_details(tonic::Code::Internal, "text", vec![broken, good]);
        assert_eq!(
            detail::<ErrorResourceInitFailed>(&status),
            Some(ErrorResourceInitFailed::default())
        );
        let garbage =
            tonic::Status::with_details(tonic::Code::Internal, "text", Bytes::from_static(b"\xff"));
        assert!(details(&garbage).is_empty());
    }
}
