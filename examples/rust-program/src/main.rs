//! Accounts with passwords: a component, configuration, secrets, and a test.

mod account;

use account::{Account, AccountArgs};
use plumb::prelude::*;

/// Configuration of the stack: `plumb config set length 12`.
#[derive(Debug, Config)]
struct Settings {
    /// How long passwords are.
    #[config(default = 8)]
    length: i64,
    /// What comes before the names of accounts.
    prefix: Option<String>,
}

#[plumb::main]
async fn main(ctx: Ctx) -> plumb::Result<()> {
    program(&ctx)
}

fn program(ctx: &Ctx) -> plumb::Result<()> {
    let settings: Settings = ctx.config()?;
    let prefix = settings.prefix.as_deref().unwrap_or("account");
    let mut logins = Vec::new();
    for name in ["alice", "bob"] {
        let args = AccountArgs {
            user: format!("{prefix}-{name}").into(),
            length: settings.length,
        };
        let account = Account::new(ctx, name, args)?;
        logins.push(account.login.clone());
    }
    ctx.export("logins", Output::join_all(&logins));
    ctx.export("count", logins.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use plumb::testing::{MockState, Mocks};

    #[test]
    fn logins_are_secret() {
        let run = Mocks::new()
            .config("length", "12")
            .resource("random:index/randomPassword:RandomPassword", |_| {
                MockState::new("id").set("result", Secret::new("s3cret"))
            })
            .run(async |ctx| program(&ctx))
            .expect_success();
        assert_eq!(run.resource("alice-password").input("length"), &value!(12));
        let logins = value!(["account-alice:s3cret", "account-bob:s3cret"]);
        assert_eq!(run.export("logins"), &value!(Secret::new(logins)));
    }
}
