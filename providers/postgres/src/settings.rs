//! The configuration: where the server is, and how to log in.

use std::time::Duration;

use plumb_provider::prelude::*;
use tokio_postgres::Config;
use tokio_postgres::config::SslMode;

/// The configuration of the provider.
///
/// No `Debug`: it has the password.
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct Settings {
    /// Everything in one text, as in `postgres://user:password@host:5432/database`. The other settings are for what it leaves out.
    #[property(secret)]
    url: Option<String>,
    /// The server: a name, an address, or the folder with its socket.
    #[property(env = ["PGHOST"], default = "localhost")]
    host: String,
    /// The port of the server.
    #[property(env = ["PGPORT"], default = 5432)]
    port: i64,
    /// The role that logs in: it must be allowed to do what the program asks for.
    #[property(env = ["PGUSER"], default = "postgres")]
    user: String,
    /// The password of that role.
    #[property(secret, env = ["PGPASSWORD"])]
    password: Option<String>,
    /// The database that the provider connects to, and that resources are in unless they say another one.
    #[property(env = ["PGDATABASE"], default = "postgres")]
    database: String,
    /// Whether connections are encrypted, and what is verified.
    #[property(env = ["PGSSLMODE"], default = "prefer")]
    pub(crate) ssl_mode: Encryption,
    /// A file with the certificates that are trusted; without it, those of the system.
    #[property(env = ["PGSSLROOTCERT"])]
    pub(crate) ssl_root_cert: Option<String>,
    /// How many seconds a connection may take.
    #[property(env = ["PGCONNECT_TIMEOUT"], default = 15)]
    connect_timeout: i64,
}

/// Encryption of connections.
#[derive(Clone, Copy, Debug, PartialEq, EnumType)]
pub(crate) enum Encryption {
    /// None.
    #[property(name = "disable")]
    Disable,
    /// Encrypted if the server can; nothing is verified.
    #[property(name = "prefer")]
    Prefer,
    /// Encrypted; the certificate is verified only if there is `sslRootCert`.
    #[property(name = "require")]
    Require,
    /// Encrypted, with a certificate of a trusted issuer.
    #[property(name = "verify-ca")]
    VerifyCa,
    /// Encrypted, with a certificate of a trusted issuer for this host.
    #[property(name = "verify-full")]
    VerifyFull,
}

impl Settings {
    /// The parameters of connections to the database that the provider is configured for.
    pub(crate) fn connection(&self) -> Result<Config> {
        let mut config: Config = match &self.url {
            // The text of the error could have the password in it.
            Some(url) => url.parse().map_err(|_| {
                Error::new("`postgres:url` is no URL of the form postgres://user:password@host:port/database")
            })?,
            None => Config::new(),
        };
        if config.get_hosts().is_empty() {
            config.host(&self.host);
        }
        if config.get_ports().is_empty() {
            let port = u16::try_from(self.port);
            config.port(port.map_err(|_| Error::new("`postgres:port` is no port"))?);
        }
        if config.get_user().is_none() {
            config.user(&self.user);
        }
        if let (None, Some(password)) = (config.get_password(), &self.password) {
            config.password(password);
        }
        if config.get_dbname().is_none() {
            config.dbname(&self.database);
        }
        if config.get_connect_timeout().is_none() {
            let seconds = u64::try_from(self.connect_timeout).unwrap_or_default();
            config.connect_timeout(Duration::from_secs(seconds));
        }
        config.application_name("plumb");
        config.ssl_mode(match self.ssl_mode {
            Encryption::Disable => SslMode::Disable,
            Encryption::Prefer => SslMode::Prefer,
            Encryption::Require | Encryption::VerifyCa | Encryption::VerifyFull => SslMode::Require,
        });
        Ok(config)
    }
}
