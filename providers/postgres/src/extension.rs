//! Extensions.

use plumb_provider::prelude::*;

use crate::inputs::{chosen, kept};
use crate::schema::InDatabase;
use crate::server::Session;
use crate::sql;

#[derive(Clone, Debug, Properties)]
pub(crate) struct ExtensionArgs {
    /// The name of the extension, as in `pgcrypto`.
    #[property(replace)]
    name: String,
    /// The database; without it, the one that the provider is configured for.
    #[property(replace)]
    database: Option<String>,
    /// The schema that has the objects of the extension.
    schema: Option<String>,
    /// The version; without it, the newest one that the server has when the extension is created.
    version: Option<String>,
    /// Whether extensions that this one needs are created with it. Only the creation looks at it.
    #[property(default = false)]
    create_cascade: bool,
    /// Whether the deletion deletes everything that depends on the extension.
    #[property(default = false)]
    drop_cascade: bool,
}

#[derive(Clone, Debug, Properties)]
pub(crate) struct ExtensionState {
    /// The name of the extension.
    name: String,
    /// The database.
    database: String,
    /// The schema that has the objects of the extension.
    schema: String,
    /// The version.
    version: String,
    /// Whether extensions that this one needs were created with it.
    create_cascade: bool,
    /// Whether the deletion deletes everything that depends on the extension.
    drop_cascade: bool,
}

pub(crate) struct Extension;

/// An extension of a database.
#[plumb_provider::resource(delete_before_replace)]
impl Resource for Extension {
    type Args = ExtensionArgs;
    type State = ExtensionState;
    type Query = InDatabase;

    async fn diff(_: &Cx, diff: &mut Diff<Extension>) -> Result<()> {
        diff.ignore("createCascade");
        Ok(())
    }

    async fn create(cx: &Cx, args: ExtensionArgs) -> Result<Created<ExtensionState>> {
        let session = Session::of(cx, args.database.as_deref())?;
        let id = sql::id([session.database(), &args.name]);
        let schema = args.schema.as_deref().map(sql::name);
        let version = args.version.as_deref().map(sql::name);
        let statement = [
            format!("CREATE EXTENSION {}", sql::name(&args.name)),
            schema.map_or_else(String::new, |it| format!(" SCHEMA {it}")),
            version.map_or_else(String::new, |it| format!(" VERSION {it}")),
            if args.create_cascade { " CASCADE" } else { "" }.to_owned(),
        ];
        let created = session.execute(&[statement.concat()]).await;
        created.map_err(|failure| failure.of_creation(&id))?;
        let found = find(&session, &args.name).await?;
        Ok(Created::new(
            id,
            found.context("the extension is gone again")?.state(&args),
        ))
    }

    async fn update(cx: &Cx, update: Update<Extension>) -> Result<Updated<ExtensionState>> {
        let args = &update.args;
        let session = Session::of(cx, Some(&update.state.database))?;
        let mut statements = Vec::new();
        let mut alter = |property: &str, change: &str, to: Option<&String>| {
            if let Some(to) = to.filter(|_| update.has_changed(property)) {
                let (name, to) = (sql::name(&args.name), sql::name(to));
                statements.push(format!("ALTER EXTENSION {name} {change} {to}"));
            }
        };
        alter("version", "UPDATE TO", args.version.as_ref());
        alter("schema", "SET SCHEMA", args.schema.as_ref());
        session.execute(&statements).await?;
        let found = find(&session, &args.name).await?;
        Ok(found.context("the extension is gone")?.state(args).into())
    }

    async fn read(cx: &Cx, read: Read<Extension>) -> Result<Option<Found<Extension>>> {
        let [database, name] = crate::inputs::parts(&read.id, "database/extension")?;
        let session = Session::of(cx, Some(&database))?;
        if !session.is_there().await? {
            return Ok(None);
        }
        let Some(found) = find(&session, &name).await? else {
            return Ok(None);
        };
        let is_usual = Session::of(cx, None)?.database() == database;
        let known = read.args.as_ref();
        let args = ExtensionArgs {
            name,
            database: chosen(known, |it| &it.database, database, is_usual),
            schema: chosen(known, |it| &it.schema, found.schema.clone(), true),
            version: chosen(known, |it| &it.version, found.version.clone(), true),
            create_cascade: kept(known, |it| &it.create_cascade, false),
            drop_cascade: kept(known, |it| &it.drop_cascade, false),
        };
        let state = found.state(&args);
        Ok(Some(Found::new(args, state)))
    }

    async fn delete(cx: &Cx, delete: Delete<Extension>) -> Result<()> {
        let state = delete.state;
        let session = Session::of(cx, Some(&state.database))?;
        if !session.is_there().await? {
            return Ok(());
        }
        let cascade = if state.drop_cascade { " CASCADE" } else { "" };
        let statement = format!(
            "DROP EXTENSION IF EXISTS {}{cascade}",
            sql::name(&state.name)
        );
        Ok(session.execute(&[statement]).await?)
    }

    async fn list(cx: &Cx, list: List<InDatabase>) -> Result<Listed> {
        let query = "SELECT extname::text FROM pg_extension ORDER BY 1";
        list.query.names(cx, query).await
    }
}

/// An extension as the server has it.
struct Existing {
    database: String,
    schema: String,
    version: String,
}

async fn find(session: &Session<'_>, name: &str) -> Result<Option<Existing>> {
    let query = "
        SELECT n.nspname::text, e.extversion FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
        WHERE e.extname = $1";
    let Some(row) = session.first(query, &[&name]).await? else {
        return Ok(None);
    };
    Ok(Some(Existing {
        database: session.database().to_owned(),
        schema: row.try_get(0)?,
        version: row.try_get(1)?,
    }))
}

impl Existing {
    fn state(self, args: &ExtensionArgs) -> ExtensionState {
        ExtensionState {
            name: args.name.clone(),
            database: self.database,
            schema: self.schema,
            version: self.version,
            create_cascade: args.create_cascade,
            drop_cascade: args.drop_cascade,
        }
    }
}
