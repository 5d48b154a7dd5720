//! URNs in messages: text, empty for no URN.

use plumb_resource::Urn;

pub(crate) fn urns(urns: &[Urn]) -> Vec<String> {
    urns.iter().map(Urn::to_string).collect()
}

pub(crate) fn optional_urn(urn: Option<&Urn>) -> String {
    urn.map(Urn::to_string).unwrap_or_default()
}
