//! Connections to the server, statements, and what goes wrong with them.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use plumb_provider::prelude::*;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, Row};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::settings::Settings;
use crate::tls;

/// How often statements are tried that another session is in the way of.
const TRIES: u32 = 6;
const PAUSE: Duration = Duration::from_millis(100);

/// A server, with a connection to each database that was asked for.
struct Server {
    config: Config,
    tls: MakeRustlsConnect,
    connections: Mutex<BTreeMap<String, Arc<Connection>>>,
}

/// A connection to a database, once there is one. One statement uses it at a time: many statements about privileges fail while
/// another one changes the same object.
type Connection = tokio::sync::Mutex<Option<Client>>;

/// The servers of this process: one, except in tests.
static SERVERS: Mutex<Vec<(Arc<Settings>, Arc<Server>)>> = Mutex::new(Vec::new());

impl Server {
    /// The server that the provider is configured for.
    fn of(cx: &Cx) -> Result<Arc<Server>> {
        let settings = cx.config::<Settings>()?;
        let mut servers = SERVERS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, server)) = servers.iter().find(|(known, _)| *known == settings) {
            return Ok(Arc::clone(server));
        }
        let server = Arc::new(Server {
            config: settings.connection()?,
            tls: tls::connector(&settings)?,
            connections: Mutex::default(),
        });
        servers.push((settings, Arc::clone(&server)));
        Ok(server)
    }

    fn connection(&self, database: &str) -> Arc<Connection> {
        let mut connections = lock(&self.connections);
        Arc::clone(connections.entry(database.to_owned()).or_default())
    }

    async fn connect(&self, database: &str) -> Done<Client> {
        let mut config = self.config.clone();
        config.dbname(database);
        let (client, connection) = config.connect(self.tls.clone()).await?;
        // The task ends when the client is dropped.
        tokio::spawn(connection);
        Ok(client)
    }
}

/// Locks; each change under these locks is a single step, so what a panicking thread left is sound.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What statements of a call go to: a database of the server.
pub(crate) struct Session<'a> {
    cx: &'a Cx,
    server: Arc<Server>,
    database: String,
}

type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];
type Done<T> = std::result::Result<T, Failure>;

impl<'a> Session<'a> {
    /// Statements for the database, or for the one that the provider is configured for.
    pub(crate) fn of(cx: &'a Cx, database: Option<&str>) -> Result<Self> {
        let server = Server::of(cx)?;
        let default = server.config.get_dbname().unwrap_or("postgres");
        Ok(Session {
            cx,
            database: database.unwrap_or(default).to_owned(),
            server,
        })
    }

    /// The name of the database.
    pub(crate) fn database(&self) -> &str {
        &self.database
    }

    /// Whether the database exists: what is in it has gone with it otherwise.
    pub(crate) async fn is_there(&self) -> Result<bool> {
        let query = "SELECT count(*) FROM pg_database WHERE datname = $1";
        let session = Session::of(self.cx, None)?;
        let row = session.first(query, &[&self.database]).await?;
        let count: i64 = row.map_or(Ok(0), |it| it.try_get(0))?;
        Ok(count > 0)
    }

    /// The rows that a query finds.
    pub(crate) async fn query(&self, query: &str, parameters: Parameters<'_>) -> Done<Vec<Row>> {
        self.with_client(async |client| Ok(client.query(query, parameters).await?))
            .await
    }

    /// The first of the rows that a query finds.
    pub(crate) async fn first(&self, query: &str, parameters: Parameters<'_>) -> Done<Option<Row>> {
        Ok(self.query(query, parameters).await?.into_iter().next())
    }

    /// The names that a query finds.
    pub(crate) async fn names(&self, query: &str) -> Result<Vec<String>> {
        let rows = self.query(query, &[]).await?;
        let names: std::result::Result<_, _> = rows.iter().map(|it| it.try_get(0)).collect();
        Ok(names?)
    }

    /// Executes statements, all or none of them.
    pub(crate) async fn execute(&self, statements: &[String]) -> Done<()> {
        if statements.is_empty() {
            return Ok(());
        }
        // The server takes statements that come together as one transaction.
        let text = statements.join(";\n");
        let mut tried = 0;
        loop {
            tried += 1;
            let done = self.with_client(async |client| Ok(client.batch_execute(&text).await?));
            match done.await {
                Err(failure) if failure.is_passing() && tried < TRIES => {
                    tokio::time::sleep(PAUSE * tried).await;
                }
                done => return done,
            }
        }
    }

    /// Closes the provider's own connection to a database, which would be in the way of its deletion, and of copies of it.
    pub(crate) async fn leave(&self, database: &str) {
        let connection = self.server.connection(database);
        let client = connection.lock().await.take();
        drop(client);
    }

    /// Has the server do something. If the deployment is cancelled or the time is over, the server is asked to stop, and its
    /// answer still counts: so it is always known whether something was done.
    async fn with_client<T>(&self, work: impl AsyncFnOnce(&Client) -> Done<T>) -> Done<T> {
        let connection = self.server.connection(&self.database);
        let mut slot = connection.lock().await;
        let client = match slot.take() {
            Some(client) if !client.is_closed() => client,
            _ => self.server.connect(&self.database).await?,
        };
        let client = slot.insert(client);
        let cancel = client.cancel_token();
        let mut work = std::pin::pin!(work(client));
        tokio::select! {
            done = &mut work => return done,
            () = self.stopped() => {}
        }
        // If the server does not get it, the answer takes as long as it takes.
        let _ = cancel.cancel_query(self.server.tls.clone()).await;
        work.await
    }

    /// Waits until the deployment is cancelled, or the time of the operation is over.
    async fn stopped(&self) {
        match self.cx.timeout() {
            Some(limit) => {
                let _ = tokio::time::timeout(limit, self.cx.canceled()).await;
            }
            None => self.cx.canceled().await,
        }
    }
}

/// A failure of a statement.
#[derive(Debug)]
pub(crate) struct Failure {
    text: String,
    state: Option<SqlState>,
}

impl Failure {
    /// Whether the object exists already.
    fn is_duplicate(&self) -> bool {
        let duplicates = [
            SqlState::DUPLICATE_DATABASE,
            SqlState::DUPLICATE_OBJECT,
            SqlState::DUPLICATE_SCHEMA,
        ];
        self.state
            .as_ref()
            .is_some_and(|it| duplicates.contains(it))
    }

    /// Whether another session was in the way: the statement has done nothing, and may do better in a moment.
    fn is_passing(&self) -> bool {
        match &self.state {
            Some(state) if *state == SqlState::INTERNAL_ERROR => {
                self.text.contains("concurrently updated")
            }
            Some(state) => [
                SqlState::OBJECT_IN_USE,
                SqlState::T_R_SERIALIZATION_FAILURE,
                SqlState::T_R_DEADLOCK_DETECTED,
            ]
            .contains(state),
            None => false,
        }
    }

    /// The error of a creation: what exists already can be imported.
    pub(crate) fn of_creation(self, id: &str) -> Error {
        if self.is_duplicate() {
            return Error::new(format!(
                "{}: import it with the ID `{id}`, or choose another name",
                self.text
            ));
        }
        self.into()
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Error::new(failure.text)
    }
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(answer) = error.as_db_error() else {
            let cause = error.source().map(|it| format!(": {it}"));
            return Failure {
                text: format!("{error}{}", cause.unwrap_or_default()),
                state: None,
            };
        };
        let mut text = answer.message().to_owned();
        for more in [answer.detail(), answer.hint()].into_iter().flatten() {
            text = format!("{text} ({more})");
        }
        Failure {
            text,
            state: Some(answer.code().clone()),
        }
    }
}
