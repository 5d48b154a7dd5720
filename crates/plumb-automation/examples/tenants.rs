//! A web service that gives each tenant a stack, with the engine in its process.
//!
//! ```sh
//! cargo run -p plumb-automation --example tenants -- 127.0.0.1:8080 /var/lib/tenants
//! curl -X PUT  localhost:8080/tenants/ada -d '{"size": 3}'
//! curl         localhost:8080/tenants/ada
//! curl -X DELETE localhost:8080/tenants/ada
//! ```
//!
//! The folder keeps the stacks: `plumb login file:///var/lib/tenants` shows them. Without a folder they are in memory.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::get;
use plumb::prelude::*;
use plumb_automation::values::{Secrets, map_json};
use plumb_automation::{Config, Encryption, Error, Program, Store, Workspace};
use serde::Deserialize;
use serde_json::json;

/// Settings of a tenant.
#[derive(Deserialize)]
struct Order {
    size: u8,
}

#[derive(plumb::Config)]
struct Settings {
    size: i64,
}

/// The program: a name and a password for each tenant.
async fn tenant(ctx: Ctx) -> plumb::Result<()> {
    let settings: Settings = ctx.config()?;
    let name = AnyResource::new(
        &ctx,
        "random:index/randomPet:RandomPet",
        "name",
        value!({ "length": settings.size, "prefix": ctx.stack() }),
    );
    let password = AnyResource::new(
        &ctx,
        "random:index/randomPassword:RandomPassword",
        "password",
        value!({ "length": 20 }),
    );
    ctx.export("name", name.id());
    ctx.export("password", password.output::<String>("result"));
    Ok(())
}

/// The service.
fn service(workspace: Workspace) -> Router {
    let tenant = get(show).put(make).delete(remove);
    Router::new()
        .route("/tenants/{name}", tenant)
        .with_state(Arc::new(workspace))
}

type Shared = State<Arc<Workspace>>;
type Refused = (StatusCode, String);

/// Creates a tenant, or changes what it has. The work goes on if the caller hangs up.
async fn make(
    State(workspace): Shared,
    Path(name): Path<String>,
    body: String,
) -> Result<String, Refused> {
    let order: Order = serde_json::from_str(&body).map_err(|error| bad(&error))?;
    let stack = workspace
        .stack_or_new("tenants", &name)
        .await
        .map_err(refused)?;
    let config = Config::new().set("size", order.size.to_string());
    let update = stack.up(Program::inline(tenant)).config(config);
    let report = tokio::spawn(update.run()).await;
    let report = report.map_err(|error| broken(&error))?.map_err(refused)?;
    let outputs = report.outputs_json(Secrets::Hidden);
    Ok(json!({ "outputs": outputs, "changed": report.has_changes }).to_string())
}

async fn show(State(workspace): Shared, Path(name): Path<String>) -> Result<String, Refused> {
    let stack = workspace.stack("tenants", &name).await;
    let outputs = stack.map_err(refused)?.outputs().await;
    Ok(map_json(&outputs.map_err(refused)?, Secrets::Hidden).to_string())
}

async fn remove(State(workspace): Shared, Path(name): Path<String>) -> Result<StatusCode, Refused> {
    let stack = workspace.stack("tenants", &name).await.map_err(refused)?;
    let deleted = tokio::spawn(stack.destroy().run()).await;
    deleted.map_err(|error| broken(&error))?.map_err(refused)?;
    stack.remove(false).await.map_err(refused)?;
    Ok(StatusCode::NO_CONTENT)
}

fn bad(error: &dyn std::error::Error) -> Refused {
    (StatusCode::BAD_REQUEST, error.to_string())
}

fn broken(error: &dyn std::error::Error) -> Refused {
    (StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
}

fn refused(error: Error) -> Refused {
    let status = match &error {
        Error::NoStack(_) => StatusCode::NOT_FOUND,
        Error::Name(_) => StatusCode::BAD_REQUEST,
        error if error.is_locked() => StatusCode::CONFLICT,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    (status, error.to_string())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next();
    let address = address.unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    let workspace = match arguments.next() {
        Some(folder) => Workspace::builder()
            .store(Store::Folder(PathBuf::from(folder)))
            .encryption(Encryption::passphrase(std::env::var("TENANTS_PASSPHRASE")?))
            .build()?,
        None => Workspace::in_memory()?,
    };
    let listener = tokio::net::TcpListener::bind(&address).await?;
    axum::serve(listener, service(workspace)).await?;
    Ok(())
}
