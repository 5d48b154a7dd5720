//! A provider for PostgreSQL: databases, roles, schemas, extensions, and who may do what with them.
//!
//! | Part | Module |
//! |---|---|
//! | where the server is, and how to log in | `settings`, `tls` |
//! | connections, statements, errors | `server` |
//! | names and texts in statements, IDs | `sql` |
//! | resources | `database`, `role`, `membership`, `schema`, `extension`, `grant`, `default_privileges` |
//! | privileges, which two resources are about | `privileges` |
//! | passwords, which the server gets only as a hash | `password` |

mod database;
mod default_privileges;
mod extension;
mod grant;
mod inputs;
mod membership;
mod password;
mod privileges;
mod role;
mod schema;
mod server;
mod settings;
mod sql;
mod tls;

use plumb_provider::Provider;

/// The provider.
#[must_use]
pub fn provider() -> Provider {
    Provider::new("postgres", env!("CARGO_PKG_VERSION"))
        .display_name("PostgreSQL")
        .description("Databases, roles and privileges of PostgreSQL servers")
        .keywords(["postgresql", "database", "kind/native"])
        .license("Apache-2.0")
        .config::<settings::Settings>()
        .resource::<database::Database>()
        .resource::<role::Role>()
        .resource::<membership::Membership>()
        .resource::<schema::Schema>()
        .resource::<extension::Extension>()
        .resource::<grant::Grant>()
        .resource::<default_privileges::DefaultPrivileges>()
}
