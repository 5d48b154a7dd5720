//! A table of PostgreSQL as a bucket.
//!
//! The table has upstream's columns: `key`, `data` with the content in base64 inside a JSON object, and `updated_at`.
//! Each call is one atomic statement; a conditional write compares and writes in the same statement. The version of an
//! object is a digest of its data.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use plumb_backend::{
    Bucket, BucketError, Entry, StoreErrorKind, Version, Versioned, check_key, masked,
};
use tokio_postgres::config::SslMode;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Config, Error, Row};

use crate::Variables;
use crate::error::OpenError;
use crate::link::{Failure, Link, Parameters, failure_text};
use crate::runtime::Worker;
use crate::tls;
use crate::url::PostgresUrl;
use crate::watch::StoreWatch;

/// Maximum number of attempts for a statement that changes nothing, each over a new connection.
const TRIES: usize = 3;

struct PostgresBucket {
    worker: Worker,
    link: Arc<Link>,
    prefix: String,
    table: String,
    /// Address, without password.
    base: String,
}

/// Whether a statement may be executed twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// A second execution has the same result.
    Idempotent,
    /// A second execution would see the effect of the first.
    Once,
}

pub(crate) fn open(
    url: &PostgresUrl,
    variables: Variables<'_>,
    watch: &Arc<StoreWatch>,
) -> Result<Arc<dyn Bucket>, OpenError> {
    let base = masked(url.connection.as_str());
    let settings = |error: &dyn std::fmt::Display| OpenError::Settings {
        url: base.clone(),
        problem: error.to_string(),
    };
    let connection: Config = url
        .connection
        .as_str()
        .parse()
        .map_err(|error: Error| settings(&error))?;
    let mut config = completed(connection, variables);
    let mode = url.ssl_mode.clone().or_else(|| variables("PGSSLMODE"));
    let trust = tls::Trust::of(mode.as_deref().unwrap_or("require"))
        .ok_or_else(|| settings(&"PGSSLMODE must be disable, require, verify-ca or verify-full"))?;
    let root = url.ssl_root.clone().or_else(|| variables("PGSSLROOTCERT"));
    let tls = tls::connector(trust, root.as_deref())?;
    config.ssl_mode(match tls {
        Some(_) => SslMode::Require,
        None => SslMode::Disable,
    });
    let bucket = PostgresBucket {
        worker: Worker::start(&base, watch)?,
        link: Arc::new(Link::new(config, tls)),
        prefix: url.prefix.clone(),
        table: url.table.clone(),
        base: base.clone(),
    };
    let failed = |failure| OpenError::Connect {
        url: base.clone(),
        source: failure_text(failure),
    };
    bucket.make_table().map_err(failed)?;
    Ok(Arc::new(bucket))
}

/// Configuration with missing parts filled in from the environment.
fn completed(mut config: Config, variables: Variables<'_>) -> Config {
    if config.get_password().is_none()
        && let Some(password) = variables("PGPASSWORD")
    {
        config.password(password);
    }
    if config.get_user().is_none()
        && let Some(user) = variables("PGUSER").or_else(|| variables("USER"))
    {
        config.user(user);
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(Duration::from_secs(10));
    }
    config
}

impl PostgresBucket {
    /// Entry of a row with the key and the time of the last write.
    fn entry(&self, row: &Row) -> Option<Entry> {
        let key: String = row.get(0);
        Some(Entry {
            key: key.strip_prefix(&self.prefix)?.to_owned(),
            modified: time_of(row.get(1)),
            tag: None,
        })
    }

    fn run(
        &self,
        effect: Effect,
        statement: String,
        parameters: Parameters,
    ) -> Result<Vec<Row>, Failure> {
        let link = self.link.clone();
        let request = async move {
            let mut left = match effect {
                Effect::Idempotent => TRIES,
                Effect::Once => 1,
            };
            loop {
                left -= 1;
                match link.query(&statement, &parameters).await {
                    Err(failure) if left > 0 && failure.kind() == StoreErrorKind::Transient => {
                        tokio::time::sleep(Duration::from_millis(300)).await;
                    }
                    result => return result,
                }
            }
        };
        let is_unanswered = |failure: &Failure| failure.kind() == StoreErrorKind::Transient;
        self.worker.request(request, is_unanswered)
    }

    fn make_table(&self) -> Result<(), Failure> {
        let table = &self.table;
        let exists = self.run(
            Effect::Idempotent,
            "SELECT to_regclass($1::text) IS NOT NULL".to_owned(),
            vec![Box::new(table.clone())],
        )?;
        if exists.first().is_some_and(|row| row.get::<_, bool>(0)) {
            return Ok(());
        }
        let made = self.run(
            Effect::Idempotent,
            format!(
                "CREATE TABLE IF NOT EXISTS {table} (key text PRIMARY KEY, data jsonb NOT NULL, \
                 updated_at timestamp with time zone NOT NULL DEFAULT now())"
            ),
            Vec::new(),
        );
        match made {
            // Another process created the table in the meantime.
            Err(Failure::Sql(error)) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => Ok(()),
            other => other.map(drop),
        }
    }

    fn key(&self, key: &str) -> Box<dyn ToSql + Sync + Send> {
        Box::new(format!("{}{key}", self.prefix))
    }

    fn failed(
        &self,
        action: &'static str,
        right: &'static str,
        key: &str,
    ) -> impl Fn(Failure) -> BucketError {
        let (address, table) = (self.address(key), self.table.clone());
        move |failure| {
            let kind = failure.kind();
            let hint = format!("the user needs {right} on the table {table}");
            BucketError::Store {
                action,
                address: address.clone(),
                kind,
                hint: (kind == StoreErrorKind::Denied).then_some(hint),
                source: failure_text(failure),
            }
        }
    }

    /// Writes with a statement that returns a row if it has written.
    fn write(
        &self,
        effect: Effect,
        key: &str,
        statement: String,
        content: &[u8],
        more: Parameters,
    ) -> Result<bool, BucketError> {
        check_key(key)?;
        let mut parameters: Parameters =
            vec![self.key(key), Box::new(BASE64_STANDARD.encode(content))];
        parameters.extend(more);
        let rows = self.run(effect, statement, parameters);
        rows.map(|rows| !rows.is_empty())
            .map_err(self.failed("write", "INSERT and UPDATE", key))
    }
}

/// SQL for the data of a content; the second parameter is the content in base64.
const DATA: &str = "json_build_object('data', $2::text)";

impl Bucket for PostgresBucket {
    fn get_versioned(&self, key: &str) -> Result<Option<Versioned>, BucketError> {
        let table = &self.table;
        let rows = self.run(
            Effect::Idempotent,
            format!("SELECT data->>'data', md5(data->>'data') FROM {table} WHERE key = $1"),
            vec![self.key(key)],
        );
        let rows = rows.map_err(self.failed("read", "SELECT", key))?;
        let Some(row) = rows.first() else {
            return Ok(None);
        };
        let malformed = |source: Box<dyn std::error::Error + Send + Sync>| BucketError::Store {
            action: "read",
            address: self.address(key),
            kind: StoreErrorKind::Refused,
            hint: None,
            source,
        };
        let text: Option<String> = row.get(0);
        let text = text.ok_or_else(|| malformed("its data is of another form".into()))?;
        let content = BASE64_STANDARD
            .decode(text)
            .map_err(|error| malformed(Box::new(error)))?;
        let version = Version {
            tag: row.get(1),
            generation: None,
        };
        Ok(Some(Versioned { content, version }))
    }

    fn put(&self, key: &str, content: &[u8]) -> Result<(), BucketError> {
        let table = &self.table;
        let statement = format!(
            "INSERT INTO {table} (key, data, updated_at) VALUES ($1, {DATA}, clock_timestamp()) \
             ON CONFLICT (key) DO UPDATE SET data = EXCLUDED.data, updated_at = clock_timestamp() RETURNING 1"
        );
        let written = self.write(Effect::Idempotent, key, statement, content, Vec::new());
        written.map(drop)
    }

    fn put_if_absent(&self, key: &str, content: &[u8]) -> Result<bool, BucketError> {
        let table = &self.table;
        let statement = format!(
            "INSERT INTO {table} (key, data, updated_at) VALUES ($1, {DATA}, clock_timestamp()) \
             ON CONFLICT (key) DO NOTHING RETURNING 1"
        );
        self.write(Effect::Once, key, statement, content, Vec::new())
    }

    fn replace(
        &self,
        key: &str,
        content: &[u8],
        expected: Option<&Version>,
    ) -> Result<bool, BucketError> {
        let Some(expected) = expected else {
            return self.put_if_absent(key, content);
        };
        let table = &self.table;
        let statement = format!(
            "UPDATE {table} SET data = {DATA}, updated_at = clock_timestamp() \
             WHERE key = $1 AND md5(data->>'data') = $3 RETURNING 1"
        );
        let tag = expected.tag.clone().unwrap_or_default();
        self.write(Effect::Once, key, statement, content, vec![Box::new(tag)])
    }

    fn delete(&self, key: &str) -> Result<bool, BucketError> {
        let rows = self.run(
            Effect::Idempotent,
            format!("DELETE FROM {} WHERE key = $1 RETURNING 1", self.table),
            vec![self.key(key)],
        );
        rows.map(|rows| !rows.is_empty())
            .map_err(self.failed("remove", "DELETE", key))
    }

    fn delete_all(&self, keys: &[String]) -> Result<(), BucketError> {
        let whole: Vec<String> = keys
            .iter()
            .map(|key| format!("{}{key}", self.prefix))
            .collect();
        let rows = self.run(
            Effect::Idempotent,
            format!("DELETE FROM {} WHERE key = ANY($1)", self.table),
            vec![Box::new(whole)],
        );
        let first = keys.first().map_or("", String::as_str);
        rows.map(drop)
            .map_err(self.failed("remove", "DELETE", first))
    }

    fn copy(&self, from: &str, to: &str) -> Result<bool, BucketError> {
        let table = &self.table;
        let rows = self.run(
            Effect::Idempotent,
            format!(
                "INSERT INTO {table} (key, data, updated_at) \
                 SELECT $2::text, data, clock_timestamp() FROM {table} WHERE key = $1 \
                 ON CONFLICT (key) DO UPDATE SET data = EXCLUDED.data, updated_at = clock_timestamp() RETURNING 1"
            ),
            vec![self.key(from), self.key(to)],
        );
        rows.map(|rows| !rows.is_empty())
            .map_err(self.failed("write", "INSERT and UPDATE", to))
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), BucketError> {
        if !self.copy(from, to)? {
            return Err(BucketError::Store {
                action: "read",
                address: self.address(from),
                kind: StoreErrorKind::Refused,
                hint: None,
                source: "there is no such object".into(),
            });
        }
        self.delete(from).map(drop)
    }

    fn list(&self, folder: &str) -> Result<Vec<Entry>, BucketError> {
        let rows = self.run(
            Effect::Idempotent,
            format!(
                "SELECT key, (extract(epoch FROM updated_at) * 1000000)::bigint FROM {} \
                 WHERE starts_with(key, $1)",
                self.table
            ),
            vec![self.key(&format!("{folder}/"))],
        );
        let rows = rows.map_err(self.failed("list", "SELECT", folder))?;
        let mut entries: Vec<Entry> = rows.iter().filter_map(|row| self.entry(row)).collect();
        entries.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(entries)
    }

    fn find(&self, key: &str) -> Result<Option<Entry>, BucketError> {
        let rows = self.run(
            Effect::Idempotent,
            format!(
                "SELECT (extract(epoch FROM updated_at) * 1000000)::bigint FROM {} WHERE key = $1",
                self.table
            ),
            vec![self.key(key)],
        );
        let rows = rows.map_err(self.failed("read", "SELECT", key))?;
        Ok(rows.first().map(|row| Entry {
            key: key.to_owned(),
            modified: time_of(row.get(0)),
            tag: None,
        }))
    }

    fn find_all(&self, keys: &[String]) -> Result<Vec<Entry>, BucketError> {
        let whole: Vec<String> = keys.iter().map(|key| self.prefix.clone() + key).collect();
        let rows = self.run(
            Effect::Idempotent,
            format!(
                "SELECT key, (extract(epoch FROM updated_at) * 1000000)::bigint FROM {} WHERE key = ANY($1)",
                self.table
            ),
            vec![Box::new(whole)],
        );
        let first = keys.first().map_or("", String::as_str);
        let rows = rows.map_err(self.failed("read", "SELECT", first))?;
        Ok(rows.iter().filter_map(|row| self.entry(row)).collect())
    }

    fn is_remote(&self) -> bool {
        true
    }

    fn pause(&self, time: Duration) {
        self.worker.pause(time);
    }

    fn address(&self, key: &str) -> String {
        let separator = if key.is_empty() { "" } else { "/" };
        format!("{}{separator}{key}", self.base)
    }
}

fn time_of(micros: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_micros(u64::try_from(micros).unwrap_or_default())
}
