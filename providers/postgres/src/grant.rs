//! Privileges of a role on objects.

use plumb_provider::prelude::*;

use crate::inputs::chosen;
use crate::privileges::{
    ObjectType, Privileges, by_object, check_privileges, grantee, number_of, summary,
};
use crate::server::Session;
use crate::sql;

#[derive(Clone, Debug, Properties)]
pub(crate) struct GrantArgs {
    /// The role; `public` stands for everybody.
    #[property(replace)]
    role: String,
    /// The database; without it, the one that the provider is configured for.
    #[property(replace)]
    database: Option<String>,
    /// The kind of object on which the role has the privileges.
    #[property(replace)]
    object_type: ObjectType,
    /// The schema, or the one that has the objects. Privileges on databases have none.
    #[property(replace)]
    schema: Option<String>,
    /// The objects, those of functions with the types of their arguments, as in `total(integer)`. Without it, all that are in the
    /// schema; those that others create later are noticed by the next refresh.
    objects: Option<Vec<String>>,
    /// The privileges, as in `SELECT`: the role has these on the objects, and no others. `ALL` stands for all.
    privileges: Vec<String>,
    /// Whether the role can pass the privileges on.
    #[property(default = false)]
    with_grant_option: bool,
}

#[derive(Clone, Debug, Properties)]
pub(crate) struct GrantState {
    /// The role.
    role: String,
    /// The database.
    database: String,
    /// The kind of object on which the role has the privileges.
    object_type: ObjectType,
    /// The schema, or the one that has the objects.
    schema: Option<String>,
    /// The objects; all of the schema, if it is not there.
    objects: Option<Vec<String>>,
    /// The privileges.
    privileges: Vec<String>,
    /// Whether the role can pass the privileges on.
    with_grant_option: bool,
}

pub(crate) struct Grant;

/// The privileges that a role has on a database, a schema, or objects of a schema.
#[plumb_provider::resource]
impl Resource for Grant {
    type Args = GrantArgs;
    type State = GrantState;

    async fn check(_: &Cx, check: &mut Check) -> Result<()> {
        let of = check.get::<ObjectType>("objectType").ok().flatten();
        let (has_schema, has_objects) = (check.is_set("schema"), check.is_set("objects"));
        match of {
            Some(ObjectType::Database) if has_schema => {
                check.fail("schema", "a database is in no schema");
            }
            None | Some(ObjectType::Database) => {}
            Some(of) if !has_schema => check.fail(
                "schema",
                format!("privileges on a {} need a schema", of.word()),
            ),
            Some(_) => {}
        }
        match of {
            Some(of @ (ObjectType::Database | ObjectType::Schema)) if has_objects => {
                check.fail("objects", format!("a {} is one object", of.word()));
            }
            Some(ObjectType::Type) if !has_objects => {
                check.fail("objects", "types have to be named");
            }
            _ => {}
        }
        check_privileges(check);
        Ok(())
    }

    async fn create(cx: &Cx, args: GrantArgs) -> Result<Created<GrantState>> {
        let session = Session::of(cx, args.database.as_deref())?;
        let state = args.state(session.database());
        session.execute(&[state.revoke()?, state.grant()?]).await?;
        Ok(Created::new(state.id(), state))
    }

    async fn update(cx: &Cx, update: Update<Grant>) -> Result<Updated<GrantState>> {
        let session = Session::of(cx, Some(&update.state.database))?;
        let state = update.args.state(session.database());
        // One transaction: nobody is without privileges in between.
        let mut statements = vec![update.state.revoke()?, state.revoke()?];
        statements.dedup();
        statements.push(state.grant()?);
        session.execute(&statements).await?;
        Ok(state.into())
    }

    async fn read(cx: &Cx, read: Read<Grant>) -> Result<Option<Found<Grant>>> {
        let mut state = match read.state {
            Some(state) => state,
            None => GrantState::named(&read.id)?,
        };
        let session = Session::of(cx, Some(&state.database))?;
        if !session.is_there().await? {
            return Ok(None);
        }
        let Some(objects) = state.find(&session).await? else {
            return Ok(None);
        };
        let known = read.args.as_ref();
        if known.is_some() && objects.is_empty() {
            // There is nothing that could have other privileges.
            state.privileges = known.map(|it| it.privileges.clone()).unwrap_or_default();
        } else {
            let wanted = known.map(|it| it.privileges.as_slice());
            (state.privileges, state.with_grant_option) = summary(objects.iter(), wanted);
        }
        if state.privileges.is_empty() {
            return Ok(None);
        }
        let is_usual = Session::of(cx, None)?.database() == state.database;
        let args = GrantArgs {
            role: state.role.clone(),
            database: chosen(known, |it| &it.database, state.database.clone(), is_usual),
            object_type: state.object_type,
            schema: state.schema.clone(),
            objects: state.objects.clone(),
            privileges: state.privileges.clone(),
            with_grant_option: state.with_grant_option,
        };
        Ok(Some(Found::new(args, state)))
    }

    async fn delete(cx: &Cx, delete: Delete<Grant>) -> Result<()> {
        let state = delete.state;
        let session = Session::of(cx, Some(&state.database))?;
        // The database, the schema or the role may have been deleted, and the privileges with it.
        if !session.is_there().await? || state.find(&session).await?.is_none() {
            return Ok(());
        }
        Ok(session.execute(&[state.revoke()?]).await?)
    }
}

impl GrantArgs {
    fn state(&self, database: &str) -> GrantState {
        GrantState {
            role: self.role.clone(),
            database: database.to_owned(),
            object_type: self.object_type,
            schema: self.schema.clone(),
            objects: self.objects.clone(),
            privileges: self.privileges.clone(),
            with_grant_option: self.with_grant_option,
        }
    }
}

impl GrantState {
    /// `app/table/reader/public/orders/customers`: database, kind and role, then the schema and the objects, if there are any.
    fn id(&self) -> String {
        let parts = [self.database.as_str(), self.object_type.word(), &self.role].into_iter();
        let objects = self.objects.iter().flatten();
        let rest = self.schema.iter().chain(objects);
        sql::id(parts.chain(rest.map(String::as_str)))
    }

    /// The privileges that an ID names.
    fn named(id: &str) -> Result<Self> {
        let form = "database/type/role/schema/object/…";
        let wrong = || Error::new(format!("`{id}` is no ID of the form `{form}`"));
        let mut parts = sql::parts(id).ok_or_else(wrong)?.into_iter();
        let (Some(database), Some(word), Some(role)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(wrong());
        };
        let object_type = ObjectType::of(&word).ok_or_else(wrong)?;
        let schema = parts.next();
        if schema.is_none() != (object_type == ObjectType::Database) {
            return Err(wrong());
        }
        let objects: Vec<_> = parts.collect();
        Ok(GrantState {
            role,
            database,
            object_type,
            schema,
            objects: (!objects.is_empty()).then_some(objects),
            privileges: Vec::new(),
            with_grant_option: false,
        })
    }

    /// The objects, as statements name them.
    fn target(&self) -> Result<String> {
        let schema = self.schema.as_deref().map(sql::name).unwrap_or_default();
        let keyword = self.object_type.keyword();
        Ok(match (self.object_type, &self.objects) {
            (ObjectType::Database, _) => format!("DATABASE {}", sql::name(&self.database)),
            (ObjectType::Schema, _) => format!("SCHEMA {schema}"),
            (_, None) => format!("ALL {keyword}S IN SCHEMA {schema}"),
            (of, Some(objects)) => {
                let names: Result<Vec<_>> = objects.iter().map(|it| object(of, it)).collect();
                let names: Vec<_> = names?.iter().map(|it| format!("{schema}.{it}")).collect();
                format!("{keyword} {}", names.join(", "))
            }
        })
    }

    fn revoke(&self) -> Result<String> {
        Ok(format!(
            "REVOKE ALL PRIVILEGES ON {} FROM {}",
            self.target()?,
            grantee(&self.role)
        ))
    }

    fn grant(&self) -> Result<String> {
        let option = if self.with_grant_option {
            " WITH GRANT OPTION"
        } else {
            ""
        };
        Ok(format!(
            "GRANT {} ON {} TO {}{option}",
            self.privileges.join(", "),
            self.target()?,
            grantee(&self.role)
        ))
    }

    /// The privileges that the role has on each of the objects; `None` if there is no such role or no such schema.
    async fn find(&self, session: &Session<'_>) -> Result<Option<Vec<Privileges>>> {
        let Some(number) = number_of(session, &self.role).await? else {
            return Ok(None);
        };
        let place = self.schema.as_ref().unwrap_or(&self.database);
        if let Some(schema) = &self.schema {
            let query = "SELECT 1 FROM pg_namespace WHERE nspname = $1";
            if session.first(query, &[schema]).await?.is_none() {
                return Ok(None);
            }
        }
        let rows = session
            .query(query(self.object_type), &[&number, place])
            .await?;
        let found = by_object(&rows)?;
        let Some(wanted) = &self.objects else {
            return Ok(Some(found.into_values().collect()));
        };
        let privileges = wanted.iter().map(|object| {
            let mut named = found.iter().filter(|(name, _)| is_called(name, object));
            // An object that is not there has no privileges.
            named.next().map(|(_, it)| it.clone()).unwrap_or_default()
        });
        Ok(Some(privileges.collect()))
    }
}

/// The name of an object in a statement. Functions have the types of their arguments behind it, which are no names.
fn object(of: ObjectType, object: &str) -> Result<String> {
    let (ObjectType::Function, Some((name, types))) = (of, object.split_once('(')) else {
        return Ok(sql::name(object));
    };
    let is_harmless =
        |it: char| it.is_alphanumeric() || [' ', ',', '_', '.', '[', ']', '"'].contains(&it);
    let types = types
        .strip_suffix(')')
        .filter(|it| it.chars().all(is_harmless));
    let types = types.ok_or_else(|| {
        Error::new(format!(
            "`{object}` is no function: expected `name(type, …)`"
        ))
    })?;
    Ok(format!("{}({types})", sql::name(name.trim())))
}

/// Whether an object of the server is the one that a program names.
fn is_called(name: &str, wanted: &str) -> bool {
    let plain = |text: &str| -> String { text.chars().filter(|it| !it.is_whitespace()).collect() };
    let without_types = name.split_once('(').map_or(name, |(it, _)| it);
    plain(name) == plain(wanted) || without_types == wanted
}

/// The query for objects and privileges; its parameters are the number of the role, and the schema or the database.
fn query(of: ObjectType) -> &'static str {
    match of {
        ObjectType::Database => "
            SELECT o.datname::text, a.privilege_type, a.is_grantable FROM pg_database o
            LEFT JOIN LATERAL aclexplode(coalesce(o.datacl, acldefault('d', o.datdba))) a ON a.grantee::bigint = $1
            WHERE o.datname = $2",
        ObjectType::Schema => "
            SELECT o.nspname::text, a.privilege_type, a.is_grantable FROM pg_namespace o
            LEFT JOIN LATERAL aclexplode(coalesce(o.nspacl, acldefault('n', o.nspowner))) a ON a.grantee::bigint = $1
            WHERE o.nspname = $2",
        ObjectType::Table => "
            SELECT o.relname::text, a.privilege_type, a.is_grantable
            FROM pg_class o JOIN pg_namespace n ON n.oid = o.relnamespace
            LEFT JOIN LATERAL aclexplode(coalesce(o.relacl, acldefault('r', o.relowner))) a ON a.grantee::bigint = $1
            WHERE n.nspname = $2 AND o.relkind IN ('r', 'p', 'v', 'm', 'f')",
        ObjectType::Sequence => "
            SELECT o.relname::text, a.privilege_type, a.is_grantable
            FROM pg_class o JOIN pg_namespace n ON n.oid = o.relnamespace
            LEFT JOIN LATERAL aclexplode(coalesce(o.relacl, acldefault('s', o.relowner))) a ON a.grantee::bigint = $1
            WHERE n.nspname = $2 AND o.relkind = 'S'",
        ObjectType::Function => "
            SELECT o.proname || '(' || oidvectortypes(o.proargtypes) || ')', a.privilege_type, a.is_grantable
            FROM pg_proc o JOIN pg_namespace n ON n.oid = o.pronamespace
            LEFT JOIN LATERAL aclexplode(coalesce(o.proacl, acldefault('f', o.proowner))) a ON a.grantee::bigint = $1
            WHERE n.nspname = $2 AND o.prokind <> 'p'",
        ObjectType::Type => "
            SELECT o.typname::text, a.privilege_type, a.is_grantable
            FROM pg_type o JOIN pg_namespace n ON n.oid = o.typnamespace
            LEFT JOIN LATERAL aclexplode(coalesce(o.typacl, acldefault('T', o.typowner))) a ON a.grantee::bigint = $1
            WHERE n.nspname = $2",
    }
}

#[cfg(test)]
mod tests {
    use super::{GrantState, ObjectType, is_called, object};

    #[test]
    fn functions_have_types_behind_their_names() {
        let name = |text| object(ObjectType::Function, text).expect("it is a function");
        assert_eq!(name("total(integer, text[])"), "\"total\"(integer, text[])");
        assert_eq!(name("total"), "\"total\"");
        assert!(object(ObjectType::Function, "f(int); DROP TABLE x; --").is_err());
        assert_eq!(object(ObjectType::Table, "a(b").expect("a name"), "\"a(b\"");
        assert!(is_called("total(integer, text)", "total(integer,text)"));
        assert!(is_called("total(integer)", "total"));
        assert!(!is_called("total(integer)", "total(text)"));
    }

    #[test]
    fn an_id_names_everything_but_the_privileges() {
        let id = "app/table/reader/public/a b/\"c/d\"";
        let state = GrantState::named(id).expect("it is an ID");
        assert_eq!(
            state.objects.as_deref(),
            Some(&["a b".to_owned(), "c/d".to_owned()][..])
        );
        assert_eq!(state.id(), id);
        assert!(GrantState::named("app/table/reader").is_err());
        assert!(GrantState::named("app/database/reader/public").is_err());
    }
}
