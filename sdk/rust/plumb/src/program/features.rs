//! Optional parts of the protocol that the engine has.

use crate::monitor::Monitor;

/// Optional parts of the protocol that the engine has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Features {
    pub(crate) output_values: bool,
    pub(crate) transforms: bool,
    pub(crate) parameterization: bool,
    pub(crate) resource_hooks: bool,
    pub(crate) error_hooks: bool,
    pub(crate) invoke_depends_on: bool,
}

impl Features {
    /// Asks the engine.
    ///
    /// Secrets, resource references and structured aliases are older than this crate: every engine has them.
    pub(crate) async fn discover(monitor: &dyn Monitor) -> Result<Self, tonic::Status> {
        Ok(Features {
            output_values: monitor.supports("outputValues").await?,
            transforms: monitor.supports("transforms").await?,
            parameterization: monitor.supports("parameterization").await?,
            resource_hooks: monitor.supports("resourceHooks").await?,
            error_hooks: monitor.supports("errorHooks").await?,
            invoke_depends_on: monitor.supports("invokeDependsOn").await?,
        })
    }
}
