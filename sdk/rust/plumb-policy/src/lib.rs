//! Policy packs in Rust: rules that resources have to keep, whatever the language of the program.
//!
//! ```no_run
//! use plumb_policy::prelude::*;
//!
//! fn main() -> std::process::ExitCode {
//!     Pack::new("storage", env!("CARGO_PKG_VERSION"))
//!         .level(Level::Mandatory)
//!         .policy(
//!             Policy::resource("no-public-buckets", "Buckets must not be public")
//!                 .of("aws:s3/bucket:Bucket")
//!                 .check(|bucket, report| {
//!                     if bucket.get::<String>("acl")?.is_some_and(|acl| acl.starts_with("public")) {
//!                         report.violation("set `acl` to `private`");
//!                     }
//!                     Ok(())
//!                 })
//!                 .fix(|_, fix| {
//!                     fix.set("acl", "private");
//!                     Ok(())
//!                 }),
//!         )
//!         .policy(Policy::stack("few-buckets", "A stack has at most ten buckets").check(|stack, report| {
//!             if stack.of("aws:s3/bucket:Bucket").count() > 10 {
//!                 report.violation("split the stack");
//!             }
//!             Ok(())
//!         }))
//!         .serve()
//! }
//! ```
//!
//! The folder of a pack has a `PulumiPolicy.yaml` with the line `runtime: rust`; `plumb up --policy-pack DIR` builds and
//! runs it.
//!
//! | To | See |
//! |---|---|
//! | write a rule | [`Policy`] |
//! | look at a resource, or at all of them | [`Resource`], [`Stack`] |
//! | give a rule settings | [`Policy::config_schema`], [`Resource::config`] |
//! | make rules of the configuration of the stack | [`serve`], [`Info`] |
//! | test rules | [`testing`] |
//! | have rules in a process that embeds the engine | [`embed`] |

mod analysis;
pub mod embed;
mod grpc;
mod info;
mod pack;
mod policy;
mod protocol;
mod report;
mod resource;
mod service;
pub mod testing;

pub use info::Info;
pub use pack::{Pack, serve};
pub use policy::{Level, OfResource, OfStack, Policy, Severity};
pub use report::{Fix, Report};
pub use resource::{Options, Provider, Resource, Stack};

pub use plumb::{
    Asset, Context, Error, FromValue, IntoValue, ObjectType, Result, Value, bail, value,
};

/// Items that most packs use.
pub mod prelude {
    pub use crate::{
        Context as _, Error, Fix, Info, Level, Pack, Policy, Report, Resource, Result, Severity,
        Stack, Value, value,
    };
}
