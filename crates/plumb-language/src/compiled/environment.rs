//! Environment of a program (`sdk-model.md` 7.1).

use std::ffi::OsString;

use plumb_plugin::language::RunRequest;
use plumb_plugin::process::Environment;

use crate::program;

/// Sets the variables that SDKs read; empty values are left unset.
pub(super) fn add_settings(environment: &mut Environment, engine: &str, request: &RunRequest) {
    let parallel = request.parallel.to_string();
    let root = request.info.root_directory.to_string_lossy();
    let settings: [(&str, &str); 8] = [
        ("PULUMI_ORGANIZATION", &request.organization),
        ("PULUMI_PROJECT", &request.project),
        ("PULUMI_ROOT_DIRECTORY", &root),
        ("PULUMI_STACK", &request.stack),
        (
            "PULUMI_DRY_RUN",
            if request.dry_run { "true" } else { "false" },
        ),
        ("PULUMI_PARALLEL", &parallel),
        ("PULUMI_MONITOR", &request.monitor_address),
        ("PULUMI_ENGINE", engine),
    ];
    for (name, value) in settings {
        if value.is_empty() {
            environment.remove(&OsString::from(name));
        } else {
            environment.insert(name.into(), value.into());
        }
    }
    program::add_configuration(environment, request, str::to_owned);
}
