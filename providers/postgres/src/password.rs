//! Passwords. The server gets a hash and never the password: statements end up in its log.

use plumb_provider::prelude::*;
use postgres_protocol::password::scram_sha_256;
use rand::distr::{Alphanumeric, SampleString as _};

use crate::role::{Role, RoleArgs, RoleState};
use crate::server::Session;

/// Rules for a password that is made.
#[derive(Clone, Debug, PartialEq, Properties)]
pub(crate) struct GeneratedPassword {
    /// The number of letters and digits.
    #[property(default = 32)]
    pub(crate) length: i64,
    /// Any text: a change makes another password.
    version: Option<String>,
}

/// Change of the password of a role.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// The role keeps its password.
    None,
    /// The role gets the password with this hash; with `None` it has no password any more.
    To(Option<String>),
}

/// A password, and the hash that the server has of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Password {
    pub(crate) text: Option<String>,
    pub(crate) hash: Option<String>,
}

impl Password {
    /// The password of a new role.
    pub(crate) fn new(args: &RoleArgs) -> Self {
        match (&args.password, &args.generate_password) {
            (Some(text), _) => Password::of(text.clone()),
            (None, Some(rules)) => Password::of(rules.generate()),
            (None, None) => Password::default(),
        }
    }

    fn of(text: String) -> Self {
        Password {
            hash: Some(scram_sha_256(text.as_bytes())),
            text: Some(text),
        }
    }

    /// The password of a role that has one already, and what has to be done for it.
    pub(crate) fn after(update: &Update<Role>) -> (Self, Change) {
        let old = &update.state;
        let is_changed = update.has_changed("password") || update.has_changed("generatePassword");
        if !is_changed {
            return (old.password(), Change::None);
        }
        // A refresh that finds another password than the generated one leaves out the rules: the same password is set again.
        let is_lost = update.args.password.is_none()
            && update.args.generate_password.is_some()
            && update
                .old_args
                .as_ref()
                .is_some_and(RoleArgs::has_no_password);
        let new = match &old.password {
            Some(text) if is_lost => Password::of(text.clone()),
            _ => Password::new(&update.args),
        };
        let change = Change::To(new.hash.clone());
        (new, change)
    }
}

impl GeneratedPassword {
    fn generate(&self) -> String {
        let length = usize::try_from(self.length).unwrap_or_default();
        Alphanumeric.sample_string(&mut rand::rng(), length)
    }
}

impl RoleArgs {
    fn has_no_password(&self) -> bool {
        self.password.is_none() && self.generate_password.is_none()
    }
}

impl RoleState {
    /// The password that the provider knows.
    pub(crate) fn password(&self) -> Password {
        Password {
            text: self.password.clone(),
            hash: self.password_hash.clone(),
        }
    }

    /// Whether the server has another password than the state, as far as one can tell: only superusers see hashes.
    pub(crate) async fn has_other_password(&self, session: &Session<'_>) -> Result<bool> {
        let may_look = "SELECT has_table_privilege('pg_catalog.pg_authid', 'SELECT')";
        let row = session.first(may_look, &[]).await?;
        if !row.map_or(Ok(false), |it| it.try_get(0))? {
            return Ok(false);
        }
        let query = "SELECT rolpassword FROM pg_authid WHERE oid::bigint = $1";
        let row = session.first(query, &[&self.oid]).await?;
        let hash: Option<String> = row.map_or(Ok(None), |it| it.try_get(0))?;
        Ok(hash != self.password_hash)
    }
}
