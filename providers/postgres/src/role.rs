//! Roles: users and groups.

use std::collections::BTreeMap;

use plumb_provider::prelude::*;
use tokio_postgres::Row;

use crate::password::{Change, GeneratedPassword, Password};
use crate::server::Session;
use crate::sql;

#[derive(Clone, Debug, Properties)]
pub(crate) struct RoleArgs {
    /// The name; the name of the resource and a few digits, if it is not set. A change renames the role.
    name: Option<String>,
    #[property(flatten)]
    attributes: Attributes,
    /// The password. The server gets a hash of it.
    #[property(secret)]
    pub(crate) password: Option<String>,
    /// Makes a password instead, which is the output `password`.
    pub(crate) generate_password: Option<GeneratedPassword>,
}

#[derive(Clone, Debug, Properties)]
pub(crate) struct RoleState {
    /// The name.
    name: String,
    #[property(flatten)]
    attributes: Attributes,
    /// The password, set or made.
    #[property(secret)]
    pub(crate) password: Option<String>,
    /// The hash that the server has.
    #[property(secret, follows = ["password", "generatePassword"])]
    pub(crate) password_hash: Option<String>,
    /// The number that the server knows the role by, which a rename does not change.
    #[property(follows = [])]
    pub(crate) oid: i64,
}

/// Attributes of a role, other than its name and its password.
#[derive(Clone, Debug, Properties)]
struct Attributes {
    /// Whether the role can log in.
    #[property(default = false)]
    login: bool,
    /// The time after which the password is no longer accepted, as in `2030-01-31 12:00:00+00`.
    valid_until: Option<String>,
    /// Whether nothing is forbidden to the role.
    #[property(default = false)]
    superuser: bool,
    /// Whether the role can create databases.
    #[property(default = false)]
    create_database: bool,
    /// Whether the role can create roles.
    #[property(default = false)]
    create_role: bool,
    /// Whether the role has the privileges of the roles that it is a member of.
    #[property(default = true)]
    inherit: bool,
    /// Whether the role can start replication.
    #[property(default = false)]
    replication: bool,
    /// Whether row security does not apply to the role.
    #[property(default = false)]
    bypass_row_security: bool,
    /// How many sessions the role may have at a time; any number without it.
    connection_limit: Option<i64>,
    /// Settings of the role's sessions, as in `statement_timeout: 30s`.
    settings: Option<BTreeMap<String, String>>,
    /// A text for people.
    comment: Option<String>,
    /// The role that gets, when this one is deleted, what it owns in all databases. Without it, a role that owns something cannot
    /// be deleted.
    reassign_owned_to: Option<String>,
}

pub(crate) struct Role;

/// A role: a user, if it can log in, or a group that others are members of.
#[plumb_provider::resource(delete_before_replace)]
impl Resource for Role {
    type Args = RoleArgs;
    type State = RoleState;

    async fn check(_: &Cx, check: &mut Check) -> Result<()> {
        if check.is_set("password") && check.is_set("generatePassword") {
            check.fail(
                "generatePassword",
                "a role with a `password` needs no other one",
            );
        }
        let length = check.get::<GeneratedPassword>("generatePassword").ok();
        if let Some(Some(rules)) = length
            && !(8..=256).contains(&rules.length)
        {
            check.fail("generatePassword.length", "expected a number from 8 to 256");
        }
        check.autoname("name")
    }

    async fn preview(_: &Cx, preview: &mut Preview<Role>) -> Result<()> {
        if preview.get::<Value>("generatePassword")?.is_none() {
            return Ok(());
        }
        let is_same = !preview.has_changed("generatePassword") && !preview.has_changed("password");
        let password = preview.state().filter(|_| is_same);
        let password = password.map(|it| it.password.clone());
        preview.set(
            "password",
            password.map_or(Value::Unknown, plumb_provider::IntoValue::into_value),
        );
        Ok(())
    }

    async fn create(cx: &Cx, args: RoleArgs) -> Result<Created<RoleState>> {
        let name = args.name.clone().context("the check sets a name")?;
        let session = Session::of(cx, None)?;
        let password = Password::new(&args);
        let mut options = args.attributes.options(&Attributes::usual());
        options.push(password_option(password.hash.as_deref()));
        let mut statements = vec![format!(
            "CREATE ROLE {} {}",
            sql::name(&name),
            options.join(" ")
        )];
        statements.extend(args.attributes.set_settings(&name, &BTreeMap::new()));
        statements.extend(
            args.attributes
                .comment
                .as_ref()
                .map(|it| sql::comment("ROLE", &name, Some(it))),
        );
        let created = session.execute(&statements).await;
        created.map_err(|failure| failure.of_creation(&sql::id([name.as_str()])))?;
        let found = find(&session, 0, &name).await?;
        let oid = found.context("the role is gone again")?.oid;
        let state = state(name.clone(), args.attributes, password, oid);
        Ok(Created::new(name, state))
    }

    async fn update(cx: &Cx, update: Update<Role>) -> Result<Updated<RoleState>> {
        let session = Session::of(cx, None)?;
        let (password, change) = Password::after(&update);
        let old = &update.state;
        let name = update.args.name.clone().unwrap_or_else(|| old.name.clone());
        let attributes = &update.args.attributes;
        let mut statements = Vec::new();
        if name != old.name {
            statements.push(format!(
                "ALTER ROLE {} RENAME TO {}",
                sql::name(&old.name),
                sql::name(&name)
            ));
        }
        let mut options = attributes.options(&old.attributes);
        if let Change::To(hash) = &change {
            options.push(password_option(hash.as_deref()));
        }
        if !options.is_empty() {
            let (name, options) = (sql::name(&name), options.join(" "));
            statements.push(format!("ALTER ROLE {name} {options}"));
        }
        let recorded = update.old_args.as_ref().map(|it| &it.attributes);
        let recorded = recorded.unwrap_or(&old.attributes).settings.clone();
        statements.extend(attributes.set_settings(&name, &recorded.unwrap_or_default()));
        if update.has_changed("comment") {
            statements.push(sql::comment("ROLE", &name, attributes.comment.as_ref()));
        }
        session.execute(&statements).await?;
        Ok(state(name, attributes.clone(), password, old.oid).into())
    }

    async fn read(cx: &Cx, read: Read<Role>) -> Result<Option<Found<Role>>> {
        let (oid, name) = match &read.state {
            Some(state) => (state.oid, state.name.clone()),
            None => (0, crate::inputs::parts::<1>(&read.id, "role")?.concat()),
        };
        let session = Session::of(cx, None)?;
        let Some(found) = find(&session, oid, &name).await? else {
            return Ok(None);
        };
        let known = read.args.as_ref();
        let attributes = found
            .attributes(&session, known.map(|it| &it.attributes))
            .await?;
        let mut args = RoleArgs {
            name: Some(found.name.clone()),
            attributes: attributes.clone(),
            password: known.and_then(|it| it.password.clone()),
            generate_password: known.and_then(|it| it.generate_password.clone()),
        };
        let mut password = Password::default();
        if let Some(state) = &read.state {
            password = state.password();
            if state.has_other_password(&session).await? {
                // These inputs differ from those of the program, so the next update sets its password again.
                args.password = None;
                args.generate_password = None;
            }
        }
        let state = state(found.name, attributes, password, found.oid);
        Ok(Some(Found::new(args, state)))
    }

    async fn delete(cx: &Cx, delete: Delete<Role>) -> Result<()> {
        let session = Session::of(cx, None)?;
        let state = delete.state;
        let Some(found) = find(&session, state.oid, &state.name).await? else {
            return Ok(());
        };
        let role = sql::name(&found.name);
        if let Some(heir) = &state.attributes.reassign_owned_to {
            let query = "SELECT datname::text FROM pg_database WHERE datallowconn ORDER BY 1";
            for database in session.names(query).await? {
                let statements = [
                    format!("REASSIGN OWNED BY {role} TO {}", sql::name(heir)),
                    // Privileges and default privileges are no property, but are in the way, too.
                    format!("DROP OWNED BY {role}"),
                ];
                Session::of(cx, Some(&database))?
                    .execute(&statements)
                    .await?;
            }
        }
        Ok(session
            .execute(&[format!("DROP ROLE IF EXISTS {role}")])
            .await?)
    }

    async fn list(cx: &Cx, _: List<()>) -> Result<Listed> {
        let query = "SELECT rolname::text FROM pg_roles WHERE rolname !~ '^pg_' ORDER BY 1";
        let names = Session::of(cx, None)?.names(query).await?.into_iter();
        Ok(names.map(|it| (sql::id([it.as_str()]), it)).collect())
    }
}

fn state(name: String, attributes: Attributes, password: Password, oid: i64) -> RoleState {
    RoleState {
        name,
        attributes,
        password: password.text,
        password_hash: password.hash,
        oid,
    }
}

fn password_option(hash: Option<&str>) -> String {
    format!("PASSWORD {}", hash.map_or("NULL".to_owned(), sql::text))
}

/// Settings whose values are lists of names.
const LISTS: [&str; 4] = [
    "search_path",
    "temp_tablespaces",
    "local_preload_libraries",
    "session_preload_libraries",
];

impl Attributes {
    /// The attributes of a new role that nobody says anything of.
    fn usual() -> Self {
        Attributes {
            login: false,
            valid_until: None,
            superuser: false,
            create_database: false,
            create_role: false,
            inherit: true,
            replication: false,
            bypass_row_security: false,
            connection_limit: None,
            settings: None,
            comment: None,
            reassign_owned_to: None,
        }
    }

    /// The options of `CREATE ROLE` and `ALTER ROLE` that change the old attributes to these. Others are left out, because only
    /// superusers may say some of them, even if they change nothing.
    fn options(&self, old: &Attributes) -> Vec<String> {
        let flags = [
            ("LOGIN", old.login, self.login),
            ("SUPERUSER", old.superuser, self.superuser),
            ("CREATEDB", old.create_database, self.create_database),
            ("CREATEROLE", old.create_role, self.create_role),
            ("INHERIT", old.inherit, self.inherit),
            ("REPLICATION", old.replication, self.replication),
            (
                "BYPASSRLS",
                old.bypass_row_security,
                self.bypass_row_security,
            ),
        ];
        let changed = flags.into_iter().filter(|(_, old, new)| old != new);
        let mut options: Vec<_> = changed
            .map(|(name, _, is_on)| {
                if is_on {
                    name.to_owned()
                } else {
                    ["NO", name].concat()
                }
            })
            .collect();
        if old.connection_limit != self.connection_limit {
            let limit = self.connection_limit.unwrap_or(-1);
            options.push(format!("CONNECTION LIMIT {limit}"));
        }
        if old.valid_until != self.valid_until {
            let until = self.valid_until.as_deref().unwrap_or("infinity");
            options.push(format!("VALID UNTIL {}", sql::text(until)));
        }
        options
    }

    /// The statements that change settings from the old ones to these.
    fn set_settings(&self, role: &str, old: &BTreeMap<String, String>) -> Vec<String> {
        let role = sql::name(role);
        let none = BTreeMap::new();
        let new = self.settings.as_ref().unwrap_or(&none);
        let gone = old.keys().filter(|key| !new.contains_key(*key));
        let gone = gone.map(|key| format!("ALTER ROLE {role} RESET {}", setting(key)));
        let set = new
            .iter()
            .filter(|(key, value)| old.get(*key) != Some(value));
        let set = set.map(|(key, value)| {
            format!(
                "ALTER ROLE {role} SET {} TO {}",
                setting(key),
                setting_value(key, value)
            )
        });
        gone.chain(set).collect()
    }
}

/// The name of a setting, which may have a dot in it.
fn setting(name: &str) -> String {
    let parts: Vec<_> = name.split('.').map(sql::name).collect();
    parts.join(".")
}

fn setting_value(name: &str, value: &str) -> String {
    if !LISTS.contains(&name) {
        return sql::text(value);
    }
    let items = value.split(',').map(str::trim);
    let items: Vec<_> = items.map(|it| sql::text(it.trim_matches('"'))).collect();
    items.join(", ")
}

const FIND: &str = "
    SELECT r.oid::bigint, r.rolname::text, r.rolcanlogin, r.rolvaliduntil::text, r.rolsuper, r.rolcreatedb, r.rolcreaterole,
           r.rolinherit, r.rolreplication, r.rolbypassrls, r.rolconnlimit::bigint,
           (SELECT s.setconfig FROM pg_db_role_setting s WHERE s.setrole = r.oid AND s.setdatabase = 0),
           shobj_description(r.oid, 'pg_authid')
    FROM pg_roles r
    WHERE r.oid::bigint = $1 OR r.rolname = $2
    ORDER BY r.oid::bigint = $1 DESC LIMIT 1";

/// A role as the server has it.
struct Existing {
    oid: i64,
    name: String,
    row: Row,
}

/// Finds a role by its number, or else by its name.
async fn find(session: &Session<'_>, oid: i64, name: &str) -> Result<Option<Existing>> {
    let Some(row) = session.first(FIND, &[&oid, &name]).await? else {
        return Ok(None);
    };
    Ok(Some(Existing {
        oid: row.try_get(0)?,
        name: row.try_get(1)?,
        row,
    }))
}

impl Existing {
    async fn attributes(
        &self,
        session: &Session<'_>,
        known: Option<&Attributes>,
    ) -> Result<Attributes> {
        let row = &self.row;
        let limit: i64 = row.try_get(10)?;
        let until: Option<String> = row.try_get(3)?;
        let until = until.filter(|it| it != "infinity");
        let wanted = known.and_then(|it| it.valid_until.clone());
        Ok(Attributes {
            login: row.try_get(2)?,
            valid_until: same_time(session, wanted, until).await?,
            superuser: row.try_get(4)?,
            create_database: row.try_get(5)?,
            create_role: row.try_get(6)?,
            inherit: row.try_get(7)?,
            replication: row.try_get(8)?,
            bypass_row_security: row.try_get(9)?,
            connection_limit: (limit >= 0).then_some(limit),
            settings: settings(row.try_get(11)?, known.and_then(|it| it.settings.as_ref())),
            comment: row.try_get(12)?,
            reassign_owned_to: known.and_then(|it| it.reassign_owned_to.clone()),
        })
    }
}

/// The time that was found, written as the program writes it if it is the same.
async fn same_time(
    session: &Session<'_>,
    wanted: Option<String>,
    found: Option<String>,
) -> Result<Option<String>> {
    let (Some(wanted), Some(text)) = (&wanted, &found) else {
        return Ok(found);
    };
    let query = "SELECT $1::text::timestamptz = $2::text::timestamptz";
    let row = session.first(query, &[wanted, text]).await?;
    let is_same = row.map_or(Ok(false), |it| it.try_get(0))?;
    Ok(Some(if is_same { wanted } else { text }.clone()))
}

/// The settings that were found, written as the program writes those that are the same.
fn settings(
    found: Option<Vec<String>>,
    wanted: Option<&BTreeMap<String, String>>,
) -> Option<BTreeMap<String, String>> {
    let found = found.unwrap_or_default();
    let found: BTreeMap<_, _> = found
        .iter()
        .filter_map(|it| it.split_once('='))
        .map(|(name, value)| {
            let wanted = wanted.and_then(|it| it.get(name));
            let wanted = wanted.filter(|it| is_same_list(name, it, value));
            let value = wanted.cloned().unwrap_or_else(|| value.to_owned());
            (name.to_owned(), value)
        })
        .collect();
    let is_written = !found.is_empty() || wanted.is_some_and(BTreeMap::is_empty);
    is_written.then_some(found)
}

fn is_same_list(name: &str, one: &str, other: &str) -> bool {
    let items = |value: &str| -> Vec<String> {
        let items = value.split(',');
        items
            .map(|it| it.trim().trim_matches('"').to_owned())
            .collect()
    };
    LISTS.contains(&name) && items(one) == items(other)
}

#[cfg(test)]
mod tests {
    use super::{is_same_list, setting, setting_value, settings};

    #[test]
    fn settings_are_texts_or_lists_of_names() {
        assert_eq!(setting_value("statement_timeout", "1, 2"), "'1, 2'");
        assert_eq!(
            setting_value("search_path", "app, \"$user\""),
            "'app', '$user'"
        );
        assert_eq!(setting("app.tenant"), "\"app\".\"tenant\"");
        assert!(is_same_list("search_path", "app,public", "app, public"));
        assert!(!is_same_list("search_path", "public,app", "app, public"));
        assert_eq!(settings(None, None), None);
    }
}
