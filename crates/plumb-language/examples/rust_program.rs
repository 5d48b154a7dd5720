//! A program in Rust without an SDK. It reads its environment, and calls the resource monitor and the engine as
//! SDKs do.
//!
//! ```yaml
//! runtime:
//!   name: rust
//!   options: {binary: target/debug/examples/rust_program}
//! ```

use std::collections::BTreeMap;
use std::error::Error;

use plumb_proto::prost_types::{Struct, Value, value::Kind};
use plumb_proto::pulumirpc as pb;
use plumb_proto::pulumirpc::engine_client::EngineClient;
use plumb_proto::pulumirpc::resource_monitor_client::ResourceMonitorClient;
use tonic::transport::{Channel, Endpoint};

/// Exit code of a program that has already reported its error.
const REPORTED: i32 = 32;

fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let failed = runtime.block_on(run())?;
    if failed {
        std::process::exit(REPORTED);
    }
    Ok(())
}

fn variable(name: &str) -> Result<String, Box<dyn Error>> {
    std::env::var(name).map_err(|_| format!("{name} is not set").into())
}

async fn connect(address: &str) -> Result<Channel, Box<dyn Error>> {
    let endpoint = Endpoint::from_shared(format!("http://{address}"))?;
    Ok(endpoint.connect().await?)
}

fn text(text: &str) -> Value {
    Value {
        kind: Some(Kind::StringValue(text.to_owned())),
    }
}

/// Registers a stack with an output, or fails if the configuration asks for it.
async fn run() -> Result<bool, Box<dyn Error>> {
    let mut monitor = ResourceMonitorClient::new(connect(&variable("PULUMI_MONITOR")?).await?);
    let mut engine = EngineClient::new(connect(&variable("PULUMI_ENGINE")?).await?);
    let (project, stack) = (variable("PULUMI_PROJECT")?, variable("PULUMI_STACK")?);
    let config: BTreeMap<String, String> = serde_json::from_str(&variable("PULUMI_CONFIG")?)?;
    let colour = config.get(&format!("{project}:colour"));
    let Some(colour) = colour else {
        let message = pb::LogRequest {
            severity: pb::LogSeverity::Error.into(),
            message: "there is no colour".to_owned(),
            ..pb::LogRequest::default()
        };
        engine.log(message).await?;
        return Ok(true);
    };
    let registration = pb::RegisterResourceRequest {
        r#type: "pulumi:pulumi:Stack".to_owned(),
        name: format!("{project}-{stack}"),
        ..pb::RegisterResourceRequest::default()
    };
    let registered = monitor.register_resource(registration).await?.into_inner();
    let outputs = [
        ("colour".to_owned(), text(colour)),
        ("dry".to_owned(), text(&variable("PULUMI_DRY_RUN")?)),
    ];
    monitor
        .register_resource_outputs(pb::RegisterResourceOutputsRequest {
            urn: registered.urn,
            outputs: Some(Struct {
                fields: outputs.into(),
            }),
        })
        .await?;
    monitor.signal_and_wait_for_shutdown(()).await?;
    Ok(false)
}
