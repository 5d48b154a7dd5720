//! Hashes of assets that programs register, computed before the deployment sees them.

use std::path::Path;
use std::sync::Arc;

use plumb_assets::{FsReader, HttpFetcher};
use plumb_deploy::request::Request;
use plumb_value::assets::{HashError, compute_hashes};
use plumb_value::{PropertyMap, Value};

/// The request with a hash on every asset and archive. Relative paths of files start at `directory`.
pub(crate) async fn with_hashes(
    mut request: Request,
    directory: &Path,
) -> Result<Request, HashError> {
    let properties = match &mut request {
        Request::Register(request) => &mut request.properties,
        Request::RegisterOutputs(request) => &mut request.outputs,
        _ => return Ok(request),
    };
    if has_assets(properties) {
        let map = properties.clone();
        let reader = FsReader::new(directory).with_fetcher(Arc::new(HttpFetcher::default()));
        // On a blocking thread, because files may be large.
        let hashed = tokio::task::spawn_blocking(move || compute_hashes(&map, &reader)).await;
        *properties =
            Arc::new(hashed.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))?);
    }
    Ok(request)
}

fn has_assets(map: &PropertyMap) -> bool {
    let mut is_asset = |value: &Value| matches!(value, Value::Asset(_) | Value::Archive(_));
    map.values().any(|value| value.any(&mut is_asset))
}
