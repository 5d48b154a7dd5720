//! Schemas.

use plumb_provider::prelude::*;

use crate::inputs::{chosen, kept};
use crate::server::Session;
use crate::sql;

#[derive(Clone, Debug, Properties)]
pub(crate) struct SchemaArgs {
    /// The name; the name of the resource and a few digits, if it is not set. A change renames the schema.
    name: Option<String>,
    /// The database; without it, the one that the provider is configured for.
    #[property(replace)]
    database: Option<String>,
    /// The role that owns the schema; without it, the one that the provider logs in as.
    owner: Option<String>,
    /// A text for people.
    comment: Option<String>,
    /// Whether the deletion deletes everything in the schema; without it, a schema with something in it cannot be deleted.
    #[property(default = false)]
    drop_cascade: bool,
}

#[derive(Clone, Debug, Properties)]
pub(crate) struct SchemaState {
    /// The name.
    name: String,
    /// The database.
    database: String,
    /// The role that owns the schema.
    owner: String,
    /// A text for people.
    comment: Option<String>,
    /// Whether the deletion deletes everything in the schema.
    drop_cascade: bool,
    /// The number that the server knows the schema by, which a rename does not change.
    #[property(follows = [])]
    oid: i64,
}

pub(crate) struct Schema;

/// A schema of a database.
#[plumb_provider::resource(delete_before_replace)]
impl Resource for Schema {
    type Args = SchemaArgs;
    type State = SchemaState;
    type Query = InDatabase;

    async fn check(_: &Cx, check: &mut Check) -> Result<()> {
        check.autoname("name")
    }

    async fn create(cx: &Cx, args: SchemaArgs) -> Result<Created<SchemaState>> {
        let name = args.name.clone().context("the check sets a name")?;
        let session = Session::of(cx, args.database.as_deref())?;
        let id = sql::id([session.database(), name.as_str()]);
        let owner = args.owner.as_deref().map(sql::name);
        let owner = owner.map(|it| [" AUTHORIZATION ", &it].concat());
        let mut statements = vec![format!(
            "CREATE SCHEMA {}{}",
            sql::name(&name),
            owner.unwrap_or_default()
        )];
        statements.extend(
            args.comment
                .as_ref()
                .map(|it| sql::comment("SCHEMA", &name, Some(it))),
        );
        let created = session.execute(&statements).await;
        created.map_err(|failure| failure.of_creation(&id))?;
        let found = find(&session, 0, &name).await?;
        let state = found
            .context("the schema is gone again")?
            .with(args.drop_cascade);
        Ok(Created::new(id, state))
    }

    async fn update(cx: &Cx, update: Update<Schema>) -> Result<Updated<SchemaState>> {
        let old = &update.state;
        let args = &update.args;
        let session = Session::of(cx, Some(&old.database))?;
        let name = args.name.as_ref().unwrap_or(&old.name);
        let mut statements = Vec::new();
        let mut alter = |name: &str, change: &str, to: &str| {
            let to = sql::name(to);
            statements.push(format!("ALTER SCHEMA {} {change} {to}", sql::name(name)));
        };
        if *name != old.name {
            alter(&old.name, "RENAME TO", name);
        }
        if let Some(owner) = args.owner.as_ref().filter(|_| update.has_changed("owner")) {
            alter(name, "OWNER TO", owner);
        }
        if update.has_changed("comment") {
            statements.push(sql::comment("SCHEMA", name, args.comment.as_ref()));
        }
        session.execute(&statements).await?;
        let found = find(&session, old.oid, name).await?;
        let state = found.context("the schema is gone")?.with(args.drop_cascade);
        Ok(state.into())
    }

    async fn read(cx: &Cx, read: Read<Schema>) -> Result<Option<Found<Schema>>> {
        let (oid, database, name) = if let Some(state) = read.state {
            (state.oid, state.database, state.name)
        } else {
            let [database, name] = crate::inputs::parts(&read.id, "database/schema")?;
            (0, database, name)
        };
        let session = Session::of(cx, Some(&database))?;
        let is_usual = Session::of(cx, None)?.database() == database;
        if !session.is_there().await? {
            return Ok(None);
        }
        let Some(found) = find(&session, oid, &name).await? else {
            return Ok(None);
        };
        let known = read.args.as_ref();
        let args = SchemaArgs {
            name: Some(found.name.clone()),
            database: chosen(known, |it| &it.database, database, is_usual),
            owner: chosen(known, |it| &it.owner, found.owner.clone(), false),
            comment: found.comment.clone(),
            drop_cascade: kept(known, |it| &it.drop_cascade, false),
        };
        let state = found.with(args.drop_cascade);
        Ok(Some(Found::new(args, state)))
    }

    async fn delete(cx: &Cx, delete: Delete<Schema>) -> Result<()> {
        let state = delete.state;
        let session = Session::of(cx, Some(&state.database))?;
        if !session.is_there().await? {
            return Ok(());
        }
        let Some(found) = find(&session, state.oid, &state.name).await? else {
            return Ok(());
        };
        let cascade = if state.drop_cascade { " CASCADE" } else { "" };
        let statement = format!("DROP SCHEMA IF EXISTS {}{cascade}", sql::name(&found.name));
        Ok(session.execute(&[statement]).await?)
    }

    async fn list(cx: &Cx, list: List<InDatabase>) -> Result<Listed> {
        let query = "
            SELECT nspname::text FROM pg_namespace
            WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' ORDER BY 1";
        list.query.names(cx, query).await
    }
}

/// The database whose resources are listed.
#[derive(Clone, Debug, Properties)]
pub(crate) struct InDatabase {
    /// The database; without it, the one that the provider is configured for.
    database: Option<String>,
}

impl InDatabase {
    /// Lists the names that a query finds in the database; an ID is the name of the database, a slash, and the name.
    pub(crate) async fn names(&self, cx: &Cx, query: &str) -> Result<Listed> {
        let session = Session::of(cx, self.database.as_deref())?;
        let names = session.names(query).await?.into_iter();
        Ok(names
            .map(|it| (sql::id([session.database(), it.as_str()]), it))
            .collect())
    }
}

/// Finds a schema by its number, or else by its name.
async fn find(session: &Session<'_>, oid: i64, name: &str) -> Result<Option<SchemaState>> {
    let query = "
        SELECT n.oid::bigint, n.nspname::text, pg_get_userbyid(n.nspowner)::text, obj_description(n.oid, 'pg_namespace')
        FROM pg_namespace n WHERE n.oid::bigint = $1 OR n.nspname = $2
        ORDER BY n.oid::bigint = $1 DESC LIMIT 1";
    let Some(row) = session.first(query, &[&oid, &name]).await? else {
        return Ok(None);
    };
    Ok(Some(SchemaState {
        oid: row.try_get(0)?,
        database: session.database().to_owned(),
        name: row.try_get(1)?,
        owner: row.try_get(2)?,
        comment: row.try_get(3)?,
        // The server does not know it.
        drop_cascade: false,
    }))
}

impl SchemaState {
    fn with(self, drop_cascade: bool) -> Self {
        SchemaState {
            drop_cascade,
            ..self
        }
    }
}
