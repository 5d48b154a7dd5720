//! Databases.

use plumb_provider::prelude::*;
use tokio_postgres::Row;

use crate::inputs::{chosen, kept};
use crate::server::Session;
use crate::sql;

#[derive(Clone, Debug, Properties)]
pub(crate) struct DatabaseArgs {
    /// The name; the name of the resource and a few digits, if it is not set. A change renames the database. Resources that are in
    /// it say its name, so they become others, which are there already: import them.
    name: Option<String>,
    /// The role that owns the database; without it, the one that the provider logs in as.
    owner: Option<String>,
    /// The database that a new one is a copy of; `template1` without it. Only the creation looks at it.
    template: Option<String>,
    /// The encoding of texts, as in `UTF8`.
    #[property(replace)]
    encoding: Option<String>,
    /// The locale that decides the order of texts.
    #[property(replace)]
    lc_collate: Option<String>,
    /// The locale that decides what is a letter.
    #[property(replace)]
    lc_ctype: Option<String>,
    /// The tablespace in which objects of the database are, unless they say another one.
    tablespace: Option<String>,
    /// How many sessions there may be at a time; any number without it.
    connection_limit: Option<i64>,
    /// Whether anybody can connect to the database.
    #[property(default = true)]
    allow_connections: bool,
    /// Whether everybody who may create databases can copy this one.
    #[property(default = false)]
    is_template: bool,
    /// A text for people.
    comment: Option<String>,
    /// Whether the deletion ends sessions that use the database; without it, they keep it from being deleted.
    #[property(default = false)]
    disconnect_on_delete: bool,
}

#[derive(Clone, Debug, Properties)]
pub(crate) struct DatabaseState {
    /// The name.
    name: String,
    /// The role that owns the database.
    owner: String,
    /// The database that this one was copied from, if the program said so.
    template: Option<String>,
    /// The encoding of texts.
    encoding: String,
    /// The locale that decides the order of texts.
    lc_collate: String,
    /// The locale that decides what is a letter.
    lc_ctype: String,
    /// The tablespace in which objects of the database are, unless they say another one.
    tablespace: String,
    /// How many sessions there may be at a time.
    connection_limit: Option<i64>,
    /// Whether anybody can connect to the database.
    allow_connections: bool,
    /// Whether everybody who may create databases can copy this one.
    is_template: bool,
    /// A text for people.
    comment: Option<String>,
    /// Whether the deletion ends sessions that use the database.
    disconnect_on_delete: bool,
    /// The number that the server knows the database by, which a rename does not change.
    #[property(follows = [])]
    oid: i64,
}

pub(crate) struct Database;

const FIND: &str = "
    SELECT d.oid::bigint, d.datname::text, pg_get_userbyid(d.datdba)::text, pg_encoding_to_char(d.encoding)::text,
           d.datcollate::text, d.datctype::text, t.spcname::text, d.datconnlimit::bigint, d.datallowconn, d.datistemplate,
           shobj_description(d.oid, 'pg_database')
    FROM pg_database d JOIN pg_tablespace t ON t.oid = d.dattablespace
    WHERE d.oid::bigint = $1 OR d.datname = $2
    ORDER BY d.oid::bigint = $1 DESC LIMIT 1";

/// A database.
#[plumb_provider::resource(delete_before_replace)]
impl Resource for Database {
    type Args = DatabaseArgs;
    type State = DatabaseState;

    async fn check(_: &Cx, check: &mut Check) -> Result<()> {
        check.autoname("name")
    }

    async fn diff(_: &Cx, diff: &mut Diff<Database>) -> Result<()> {
        diff.ignore("template");
        Ok(())
    }

    async fn create(cx: &Cx, args: DatabaseArgs) -> Result<Created<DatabaseState>> {
        let name = args.name.clone().context("the check sets a name")?;
        let session = Session::of(cx, None)?;
        if let Some(template) = &args.template {
            session.leave(template).await;
        }
        let created = session.execute(&[creation(&name, &args)]).await;
        created.map_err(|failure| failure.of_creation(&sql::id([name.as_str()])))?;
        // From here on there is a database, even if what follows fails.
        let comment = args
            .comment
            .as_ref()
            .map(|it| sql::comment("DATABASE", &name, Some(it)));
        let commented = session.execute(comment.as_slice()).await;
        let found = find(&session, 0, &name).await?;
        let state = found.context("the database is gone again")?.with(&args);
        let created = Created::new(name, state);
        Ok(match commented {
            Ok(()) => created,
            Err(failure) => created.but(Error::from(failure).to_string()),
        })
    }

    async fn update(cx: &Cx, update: Update<Database>) -> Result<Updated<DatabaseState>> {
        let session = Session::of(cx, None)?;
        let old = &update.state;
        let args = &update.args;
        let name = args.name.as_ref().unwrap_or(&old.name);
        if *name != old.name {
            session.leave(&old.name).await;
        }
        session.execute(&changes(&update, name)).await?;
        if let Some(tablespace) = &args.tablespace
            && update.has_changed("tablespace")
        {
            session.leave(name).await;
            // This one cannot be part of a transaction.
            let moving = format!(
                "ALTER DATABASE {} SET TABLESPACE {}",
                sql::name(name),
                sql::name(tablespace)
            );
            session.execute(&[moving]).await?;
        }
        let found = find(&session, old.oid, name).await?;
        Ok(found.context("the database is gone")?.with(args).into())
    }

    async fn read(cx: &Cx, read: Read<Database>) -> Result<Option<Found<Database>>> {
        let (oid, name) = match &read.state {
            Some(state) => (state.oid, state.name.clone()),
            None => (0, crate::inputs::parts::<1>(&read.id, "database")?.concat()),
        };
        let session = Session::of(cx, None)?;
        let Some(found) = find(&session, oid, &name).await? else {
            return Ok(None);
        };
        let args = found.args(read.args.as_ref());
        let state = found.with(&args);
        Ok(Some(Found::new(args, state)))
    }

    async fn delete(cx: &Cx, delete: Delete<Database>) -> Result<()> {
        let session = Session::of(cx, None)?;
        let state = delete.state;
        let Some(found) = find(&session, state.oid, &state.name).await? else {
            return Ok(());
        };
        session.leave(&found.name).await;
        let force = if state.disconnect_on_delete {
            " WITH (FORCE)"
        } else {
            ""
        };
        let mut statements = Vec::new();
        if found.is_template {
            statements.push(format!(
                "ALTER DATABASE {} IS_TEMPLATE false",
                sql::name(&found.name)
            ));
        }
        session.execute(&statements).await?;
        let deletion = format!("DROP DATABASE IF EXISTS {}{force}", sql::name(&found.name));
        Ok(session.execute(&[deletion]).await?)
    }

    async fn list(cx: &Cx, _: List<()>) -> Result<Listed> {
        let query = "SELECT datname::text FROM pg_database WHERE NOT datistemplate ORDER BY 1";
        let names = Session::of(cx, None)?.names(query).await?.into_iter();
        Ok(names.map(|it| (sql::id([it.as_str()]), it)).collect())
    }
}

fn creation(name: &str, args: &DatabaseArgs) -> String {
    let mut statement = format!("CREATE DATABASE {}", sql::name(name));
    let mut option = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            statement.push_str(&[" ", key, " ", &value].concat());
        }
    };
    option("OWNER", args.owner.as_deref().map(sql::name));
    option("TEMPLATE", args.template.as_deref().map(sql::name));
    option("ENCODING", args.encoding.as_deref().map(sql::text));
    option("LC_COLLATE", args.lc_collate.as_deref().map(sql::text));
    option("LC_CTYPE", args.lc_ctype.as_deref().map(sql::text));
    option("TABLESPACE", args.tablespace.as_deref().map(sql::name));
    option(
        "CONNECTION LIMIT",
        args.connection_limit.map(|it| it.to_string()),
    );
    option(
        "ALLOW_CONNECTIONS",
        Some(args.allow_connections.to_string()),
    );
    option("IS_TEMPLATE", Some(args.is_template.to_string()));
    statement
}

/// The statements for everything that one transaction can change.
fn changes(update: &Update<Database>, name: &str) -> Vec<String> {
    let (args, old) = (&update.args, &update.state);
    let mut statements = Vec::new();
    if *name != old.name {
        statements.push(format!(
            "ALTER DATABASE {} RENAME TO {}",
            sql::name(&old.name),
            sql::name(name)
        ));
    }
    let mut alter = |property: &str, change: String| {
        if update.has_changed(property) {
            statements.push(format!("ALTER DATABASE {} {change}", sql::name(name)));
        }
    };
    if let Some(owner) = &args.owner {
        alter("owner", format!("OWNER TO {}", sql::name(owner)));
    }
    let limit = args.connection_limit.unwrap_or(-1);
    alter("connectionLimit", format!("CONNECTION LIMIT {limit}"));
    let allow = args.allow_connections;
    alter("allowConnections", format!("ALLOW_CONNECTIONS {allow}"));
    alter("isTemplate", format!("IS_TEMPLATE {}", args.is_template));
    if update.has_changed("comment") {
        statements.push(sql::comment("DATABASE", name, args.comment.as_ref()));
    }
    statements
}

/// Finds a database by its number, or else by its name.
async fn find(session: &Session<'_>, oid: i64, name: &str) -> Result<Option<DatabaseState>> {
    let row = session.first(FIND, &[&oid, &name]).await?;
    row.as_ref().map(DatabaseState::read).transpose()
}

impl DatabaseState {
    /// A database as the server has it.
    fn read(row: &Row) -> Result<Self> {
        let limit: i64 = row.try_get(7)?;
        Ok(DatabaseState {
            oid: row.try_get(0)?,
            name: row.try_get(1)?,
            owner: row.try_get(2)?,
            encoding: row.try_get(3)?,
            lc_collate: row.try_get(4)?,
            lc_ctype: row.try_get(5)?,
            tablespace: row.try_get(6)?,
            connection_limit: (limit >= 0).then_some(limit),
            allow_connections: row.try_get(8)?,
            is_template: row.try_get(9)?,
            comment: row.try_get(10)?,
            template: None,
            disconnect_on_delete: false,
        })
    }

    /// The inputs that a program would set for the database.
    fn args(&self, known: Option<&DatabaseArgs>) -> DatabaseArgs {
        DatabaseArgs {
            name: Some(self.name.clone()),
            owner: chosen(known, |it| &it.owner, self.owner.clone(), false),
            template: kept(known, |it| &it.template, None),
            encoding: chosen(
                known,
                |it| &it.encoding,
                self.encoding.clone(),
                self.encoding == "UTF8",
            ),
            lc_collate: chosen(known, |it| &it.lc_collate, self.lc_collate.clone(), true),
            lc_ctype: chosen(known, |it| &it.lc_ctype, self.lc_ctype.clone(), true),
            tablespace: chosen(
                known,
                |it| &it.tablespace,
                self.tablespace.clone(),
                self.tablespace == "pg_default",
            ),
            connection_limit: self.connection_limit,
            allow_connections: self.allow_connections,
            is_template: self.is_template,
            comment: self.comment.clone(),
            disconnect_on_delete: kept(known, |it| &it.disconnect_on_delete, false),
        }
    }

    /// Adds the inputs that the server does not know.
    fn with(self, args: &DatabaseArgs) -> Self {
        DatabaseState {
            template: args.template.clone(),
            disconnect_on_delete: args.disconnect_on_delete,
            ..self
        }
    }
}
