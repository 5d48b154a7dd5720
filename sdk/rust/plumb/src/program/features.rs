//! Optional parts of the protocol that the engine has.

use crate::monitor::Monitor;
use crate::protocol::ResourceMonitorFeature as Feature;

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
    /// Secrets, resource references and structured aliases are older than this crate: every engine has them. Engines that
    /// cannot list what they have are asked for each part; they know nothing of newer ones.
    pub(crate) async fn discover(monitor: &dyn Monitor) -> Result<Self, tonic::Status> {
        if let Some(listed) = monitor.features().await? {
            let has = |feature: Feature| listed.contains(&(feature as i32));
            return Ok(Features {
                output_values: has(Feature::OutputValues),
                transforms: has(Feature::Transforms),
                parameterization: has(Feature::Parameterization),
                resource_hooks: has(Feature::ResourceHooks),
                error_hooks: has(Feature::ErrorHooks),
                invoke_depends_on: has(Feature::InvokeDependsOn),
            });
        }
        Ok(Features {
            output_values: monitor.supports("outputValues").await?,
            transforms: monitor.supports("transforms").await?,
            parameterization: monitor.supports("parameterization").await?,
            resource_hooks: monitor.supports("resourceHooks").await?,
            error_hooks: monitor.supports("errorHooks").await?,
            invoke_depends_on: false,
        })
    }
}
