//! Default providers of a run, by their key: ready, or waited for.

use plumb_resource::ProviderRef;

use crate::ids::RequestId;
use crate::request::Parked;

/// The default provider of a package.
#[derive(Clone, Debug)]
pub(crate) enum DefaultProvider {
    /// Being registered; these requests wait for it.
    Pending(Vec<(RequestId, Parked)>),
    /// Registered.
    Ready(ProviderRef),
}
