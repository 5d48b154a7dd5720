//! Connections to PostgreSQL.

use std::sync::Arc;
use std::time::Duration;

use plumb_backend::StoreErrorKind;
use tokio::sync::Mutex;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, Error, NoTls, Row};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Maximum duration of a statement, including the wait for locks.
const LIMIT: Duration = Duration::from_secs(30);

/// Parameters of a statement.
pub(crate) type Parameters = Vec<Box<dyn ToSql + Sync + Send>>;

/// A connection that is opened again after it was lost.
pub(crate) struct Link {
    config: Config,
    tls: Option<MakeRustlsConnect>,
    client: Mutex<Option<Arc<Client>>>,
}

/// Failure of a statement.
pub(crate) enum Failure {
    Sql(Error),
    Slow,
}

impl Link {
    pub(crate) fn new(config: Config, tls: Option<MakeRustlsConnect>) -> Self {
        Link {
            config,
            tls,
            client: Mutex::new(None),
        }
    }

    async fn client(&self) -> Result<Arc<Client>, Error> {
        let mut present = self.client.lock().await;
        if let Some(client) = present.as_ref().filter(|client| !client.is_closed()) {
            return Ok(client.clone());
        }
        let client = if let Some(tls) = &self.tls {
            let (client, connection) = self.config.connect(tls.clone()).await?;
            tokio::spawn(connection);
            client
        } else {
            let (client, connection) = self.config.connect(NoTls).await?;
            tokio::spawn(connection);
            client
        };
        let client = Arc::new(client);
        *present = Some(client.clone());
        Ok(client)
    }

    /// Runs one statement.
    pub(crate) async fn query(
        &self,
        statement: &str,
        parameters: &Parameters,
    ) -> Result<Vec<Row>, Failure> {
        let work = async {
            let client = self.client().await?;
            let borrowed: Vec<&(dyn ToSql + Sync)> = parameters
                .iter()
                .map(|it| it.as_ref() as &(dyn ToSql + Sync))
                .collect();
            client.query(statement, &borrowed).await
        };
        if let Ok(result) = tokio::time::timeout(LIMIT, work).await {
            return result.map_err(Failure::Sql);
        }
        // The response may still arrive, so the next statement uses another connection.
        *self.client.lock().await = None;
        Err(Failure::Slow)
    }
}

impl Failure {
    /// Kind of store error.
    pub(crate) fn kind(&self) -> StoreErrorKind {
        let Failure::Sql(error) = self else {
            return StoreErrorKind::Transient;
        };
        let Some(code) = error.code() else {
            // Not an error of the server: the connection failed or was lost.
            return StoreErrorKind::Transient;
        };
        // SQLSTATE classes: 08 connection, 40 rollback, 53 resources, 57 operator intervention, 28 authorization.
        match (code.code(), code.code().get(..2)) {
            ("42501", _) | (_, Some("28")) => StoreErrorKind::Denied,
            (_, Some("08" | "40" | "53" | "57")) => StoreErrorKind::Transient,
            _ => StoreErrorKind::Refused,
        }
    }
}

/// The failure as the source of an error.
pub(crate) fn failure_text(failure: Failure) -> Box<dyn std::error::Error + Send + Sync> {
    match failure {
        Failure::Sql(error) => Box::new(error),
        Failure::Slow => "the database did not answer in time".into(),
    }
}
