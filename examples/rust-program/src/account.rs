//! An account: a user name and a password for it.

use plumb::prelude::*;

/// What an account is made from.
#[derive(Clone, Debug, ComponentArgs)]
pub struct AccountArgs {
    /// The user name.
    pub user: Input<String>,
    /// How long the password is.
    pub length: i64,
}

/// An account. The fields are outputs of the component.
#[derive(Clone, Debug, Component)]
#[component(token = "example:index:Account")]
pub struct Account {
    /// User name and password with a colon between them: a secret, because the password is one.
    pub login: Output<String>,
}

impl BuildComponent for Account {
    type Args = AccountArgs;

    fn build(cx: &Ctx, args: AccountArgs) -> plumb::Result<Self> {
        let token = "random:index/randomPassword:RandomPassword";
        let password = AnyResource::new(
            cx,
            token,
            &cx.name("password"),
            value!({
                "length": args.length,
                "special": false,
            }),
        );
        let result: Output<String> = password.output("result");
        Ok(Account {
            login: interpolate!("{}:{result}", args.user),
        })
    }
}
