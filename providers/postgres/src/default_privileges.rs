//! Privileges on objects that a role will create.

use plumb_provider::prelude::*;

use crate::inputs::chosen;
use crate::privileges::{ObjectType, by_object, check_privileges, grantee, number_of, summary};
use crate::server::Session;
use crate::sql;

#[derive(Clone, Debug, Properties)]
pub(crate) struct DefaultPrivilegesArgs {
    /// The role that creates the objects.
    #[property(replace)]
    owner: String,
    /// The role that gets the privileges; `public` stands for everybody.
    #[property(replace)]
    role: String,
    /// The database; without it, the one that the provider is configured for.
    #[property(replace)]
    database: Option<String>,
    /// The schema in which the objects are created; all of them without it.
    #[property(replace)]
    schema: Option<String>,
    /// The kind of object.
    #[property(replace)]
    object_type: ObjectType,
    /// The privileges, as in `SELECT`: the role gets these, and no others. `ALL` stands for all.
    privileges: Vec<String>,
    /// Whether the role can pass the privileges on.
    #[property(default = false)]
    with_grant_option: bool,
}

#[derive(Clone, Debug, Properties)]
pub(crate) struct DefaultPrivilegesState {
    /// The role that creates the objects.
    owner: String,
    /// The role that gets the privileges.
    role: String,
    /// The database.
    database: String,
    /// The schema in which the objects are created.
    schema: Option<String>,
    /// The kind of object.
    object_type: ObjectType,
    /// The privileges.
    privileges: Vec<String>,
    /// Whether the role can pass the privileges on.
    with_grant_option: bool,
}

pub(crate) struct DefaultPrivileges;

/// The privileges that a role gets on objects that another one will create.
#[plumb_provider::resource]
impl Resource for DefaultPrivileges {
    type Args = DefaultPrivilegesArgs;
    type State = DefaultPrivilegesState;

    async fn check(_: &Cx, check: &mut Check) -> Result<()> {
        match check.get::<ObjectType>("objectType") {
            Ok(Some(ObjectType::Database)) => {
                check.fail("objectType", "there are no default privileges on databases");
            }
            Ok(Some(ObjectType::Schema)) if check.is_set("schema") => {
                check.fail("schema", "a schema is in no other one");
            }
            _ => {}
        }
        check_privileges(check);
        Ok(())
    }

    async fn create(
        cx: &Cx,
        args: DefaultPrivilegesArgs,
    ) -> Result<Created<DefaultPrivilegesState>> {
        let session = Session::of(cx, args.database.as_deref())?;
        let state = args.state(session.database());
        session.execute(&[state.revoke(), state.grant()]).await?;
        Ok(Created::new(state.id(), state))
    }

    async fn update(
        cx: &Cx,
        update: Update<DefaultPrivileges>,
    ) -> Result<Updated<DefaultPrivilegesState>> {
        let session = Session::of(cx, Some(&update.state.database))?;
        let state = update.args.state(session.database());
        session.execute(&[state.revoke(), state.grant()]).await?;
        Ok(state.into())
    }

    async fn read(
        cx: &Cx,
        read: Read<DefaultPrivileges>,
    ) -> Result<Option<Found<DefaultPrivileges>>> {
        let mut state = match read.state {
            Some(state) => state,
            None => DefaultPrivilegesState::named(&read.id)?,
        };
        let session = Session::of(cx, Some(&state.database))?;
        if !session.is_there().await? {
            return Ok(None);
        }
        let Some(number) = number_of(&session, &state.role).await? else {
            return Ok(None);
        };
        let query = "
            SELECT d.defaclobjtype::text, a.privilege_type, a.is_grantable
            FROM pg_default_acl d, aclexplode(d.defaclacl) a
            WHERE a.grantee::bigint = $1 AND pg_get_userbyid(d.defaclrole) = $2 AND d.defaclobjtype::text = $3
              AND d.defaclnamespace = CASE WHEN $4::text IS NULL THEN 0::oid
                                           ELSE (SELECT oid FROM pg_namespace WHERE nspname = $4::text) END";
        let letter = state.object_type.letter();
        let rows = session
            .query(query, &[&number, &state.owner, &letter, &state.schema])
            .await?;
        let objects = by_object(&rows)?;
        (state.privileges, state.with_grant_option) = summary(objects.values(), None);
        if state.privileges.is_empty() {
            return Ok(None);
        }
        let is_usual = Session::of(cx, None)?.database() == state.database;
        let known = read.args.as_ref();
        let args = DefaultPrivilegesArgs {
            owner: state.owner.clone(),
            role: state.role.clone(),
            database: chosen(known, |it| &it.database, state.database.clone(), is_usual),
            schema: state.schema.clone(),
            object_type: state.object_type,
            privileges: state.privileges.clone(),
            with_grant_option: state.with_grant_option,
        };
        Ok(Some(Found::new(args, state)))
    }

    async fn delete(cx: &Cx, delete: Delete<DefaultPrivileges>) -> Result<()> {
        let state = delete.state;
        let session = Session::of(cx, Some(&state.database))?;
        let there = session.is_there().await?
            && number_of(&session, &state.role).await?.is_some()
            && number_of(&session, &state.owner).await?.is_some();
        if !there {
            return Ok(());
        }
        if let Some(schema) = &state.schema {
            let query = "SELECT 1 FROM pg_namespace WHERE nspname = $1";
            if session.first(query, &[schema]).await?.is_none() {
                return Ok(());
            }
        }
        Ok(session.execute(&[state.revoke()]).await?)
    }
}

impl DefaultPrivilegesArgs {
    fn state(&self, database: &str) -> DefaultPrivilegesState {
        DefaultPrivilegesState {
            owner: self.owner.clone(),
            role: self.role.clone(),
            database: database.to_owned(),
            schema: self.schema.clone(),
            object_type: self.object_type,
            privileges: self.privileges.clone(),
            with_grant_option: self.with_grant_option,
        }
    }
}

impl DefaultPrivilegesState {
    /// `app/table/owner/reader/public`: database, kind and roles, then the schema, if there is one.
    fn id(&self) -> String {
        let parts = [
            self.database.as_str(),
            self.object_type.word(),
            &self.owner,
            &self.role,
        ];
        sql::id(parts.into_iter().chain(self.schema.as_deref()))
    }

    /// The privileges that an ID names.
    fn named(id: &str) -> Result<Self> {
        let form = "database/type/owner/role/schema";
        let wrong = || Error::new(format!("`{id}` is no ID of the form `{form}`"));
        let mut parts = sql::parts(id).ok_or_else(wrong)?;
        let schema = (parts.len() == 5).then(|| parts.pop()).flatten();
        let [database, word, owner, role] = <[String; 4]>::try_from(parts).map_err(|_| wrong())?;
        Ok(DefaultPrivilegesState {
            owner,
            role,
            database,
            schema,
            object_type: ObjectType::of(&word).ok_or_else(wrong)?,
            privileges: Vec::new(),
            with_grant_option: false,
        })
    }

    fn statement(&self, change: &str) -> String {
        let schema = self.schema.as_deref().map(sql::name);
        let schema = schema.map(|it| format!(" IN SCHEMA {it}"));
        format!(
            "ALTER DEFAULT PRIVILEGES FOR ROLE {}{} {change}",
            sql::name(&self.owner),
            schema.unwrap_or_default()
        )
    }

    fn revoke(&self) -> String {
        let (keyword, role) = (self.object_type.keyword(), grantee(&self.role));
        self.statement(&format!("REVOKE ALL PRIVILEGES ON {keyword}S FROM {role}"))
    }

    fn grant(&self) -> String {
        let option = if self.with_grant_option {
            " WITH GRANT OPTION"
        } else {
            ""
        };
        let (keyword, role) = (self.object_type.keyword(), grantee(&self.role));
        let privileges = self.privileges.join(", ");
        self.statement(&format!(
            "GRANT {privileges} ON {keyword}S TO {role}{option}"
        ))
    }
}
