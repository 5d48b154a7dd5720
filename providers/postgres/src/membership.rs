//! Memberships of roles in roles.

use plumb_provider::prelude::*;

use crate::server::Session;
use crate::sql;

#[derive(Clone, Debug, Properties)]
pub(crate) struct MembershipArgs {
    /// The role whose privileges the member gets.
    #[property(replace)]
    role: String,
    /// The role that becomes a member.
    #[property(replace)]
    member: String,
    /// Whether the member can make others members.
    #[property(default = false)]
    with_admin: bool,
}

pub(crate) struct Membership;

/// A role that is a member of another one.
#[plumb_provider::resource]
impl Resource for Membership {
    type Args = MembershipArgs;
    type State = MembershipArgs;

    async fn create(cx: &Cx, args: MembershipArgs) -> Result<Created<MembershipArgs>> {
        Session::of(cx, None)?.execute(&[args.grant()]).await?;
        let id = sql::id([args.role.as_str(), &args.member]);
        Ok(Created::new(id, args))
    }

    async fn update(cx: &Cx, update: Update<Membership>) -> Result<Updated<MembershipArgs>> {
        let args = update.args;
        let statement = if args.with_admin {
            args.grant()
        } else {
            args.revoke("ADMIN OPTION FOR ")
        };
        Session::of(cx, None)?.execute(&[statement]).await?;
        Ok(args.into())
    }

    async fn read(cx: &Cx, read: Read<Membership>) -> Result<Option<Found<Membership>>> {
        let [role, member] = crate::inputs::parts(&read.id, "role/member")?;
        let query = "
            SELECT bool_or(m.admin_option) FROM pg_auth_members m
            WHERE m.roleid = (SELECT oid FROM pg_roles WHERE rolname = $1)
              AND m.member = (SELECT oid FROM pg_roles WHERE rolname = $2)";
        let row = Session::of(cx, None)?
            .first(query, &[&role, &member])
            .await?;
        let with_admin: Option<bool> = row.map_or(Ok(None), |it| it.try_get(0))?;
        let args = with_admin.map(|with_admin| MembershipArgs {
            role,
            member,
            with_admin,
        });
        Ok(args.map(|it| Found::new(it.clone(), it)))
    }

    async fn delete(cx: &Cx, delete: Delete<Membership>) -> Result<()> {
        let session = Session::of(cx, None)?;
        // Who deletes a role ends its memberships.
        let query = "SELECT count(*) FROM pg_roles WHERE rolname = $1 OR rolname = $2";
        let args = &delete.state;
        let row = session.first(query, &[&args.role, &args.member]).await?;
        let count: i64 = row.map_or(Ok(0), |it| it.try_get(0))?;
        if count < 2 {
            return Ok(());
        }
        Ok(session.execute(&[args.revoke("")]).await?)
    }

    async fn list(cx: &Cx, _: List<()>) -> Result<Listed> {
        let query = "
            SELECT DISTINCT r.rolname::text, m.rolname::text FROM pg_auth_members a
            JOIN pg_roles r ON r.oid = a.roleid JOIN pg_roles m ON m.oid = a.member
            WHERE m.rolname !~ '^pg_' ORDER BY 1, 2";
        let mut found = Vec::new();
        for row in Session::of(cx, None)?.query(query, &[]).await? {
            let (role, member): (String, String) = (row.try_get(0)?, row.try_get(1)?);
            let id = sql::id([role.as_str(), &member]);
            found.push((id, format!("{member} in {role}")));
        }
        Ok(found.into_iter().collect())
    }
}

impl MembershipArgs {
    fn grant(&self) -> String {
        let admin = if self.with_admin {
            " WITH ADMIN OPTION"
        } else {
            ""
        };
        format!(
            "GRANT {} TO {}{admin}",
            sql::name(&self.role),
            sql::name(&self.member)
        )
    }

    fn revoke(&self, what: &str) -> String {
        format!(
            "REVOKE {what}{} FROM {}",
            sql::name(&self.role),
            sql::name(&self.member)
        )
    }
}
