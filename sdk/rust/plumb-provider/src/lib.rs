//! Providers in Rust: resources and functions for programs in every language.
//!
//! Types are the schema: fields are properties, documentation comments are descriptions, an `Option` need not be there.
//! A provider is a program that serves them:
//!
//! ```no_run
//! use plumb_provider::prelude::*;
//!
//! #[derive(Clone, Debug, Properties)]
//! struct FileArgs {
//!     /// Where the file is.
//!     #[property(replace)]
//!     path: String,
//!     /// The content of the file.
//!     content: String,
//! }
//!
//! #[derive(Clone, Debug, Properties)]
//! struct FileState {
//!     #[property(flatten)]
//!     args: FileArgs,
//!     /// Number of bytes.
//!     #[property(follows = ["content"])]
//!     size: i64,
//! }
//!
//! impl FileState {
//!     fn write(args: FileArgs) -> Result<Self> {
//!         std::fs::write(&args.path, &args.content)?;
//!         Ok(FileState { size: i64::try_from(args.content.len())?, args })
//!     }
//! }
//!
//! struct File;
//!
//! /// A text file on this machine.
//! #[plumb_provider::resource]
//! impl Resource for File {
//!     type Args = FileArgs;
//!     type State = FileState;
//!
//!     async fn create(_: &Cx, args: FileArgs) -> Result<Created<FileState>> {
//!         Ok(Created::new(args.path.clone(), FileState::write(args)?))
//!     }
//!
//!     async fn update(_: &Cx, update: Update<File>) -> Result<Updated<FileState>> {
//!         Ok(FileState::write(update.args)?.into())
//!     }
//!
//!     async fn delete(_: &Cx, delete: Delete<File>) -> Result<()> {
//!         Ok(std::fs::remove_file(delete.state.args.path)?)
//!     }
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     Provider::new("files", env!("CARGO_PKG_VERSION")).resource::<File>().serve()
//! }
//! ```
//!
//! The name of the program is `pulumi-resource-` and the name of the package. A project uses it from a folder:
//!
//! ```yaml
//! plugins:
//!   providers:
//!     - name: files
//!       path: ../files/target/release
//! ```
//!
//! | To | See |
//! |---|---|
//! | write a resource | [`Resource`] |
//! | write a function | [`Function`] |
//! | serve a component | [`Provider::component`] |
//! | give a component a method | [`Method`] |
//! | say more about properties | [`Properties`](derive@Properties), [`EnumType`](derive@EnumType) |
//! | check inputs, make names | [`Check`] |
//! | decide what replaces | [`Diff`] |
//! | say what a preview knows | [`Preview`] |
//! | say which resources there are | [`List`] |
//! | be more than one package | [`Provider::parameterized`] |
//! | map the names of another ecosystem | [`Provider::mapping`] |
//! | read the configuration, write messages, notice a cancellation | [`Cx`] |
//! | test it | [`testing`] |

mod check;
mod component;
mod config;
mod context;
mod diff;
mod erased;
mod function;
mod list;
mod method;
mod outputs;
mod parameter;
mod preview;
mod protocol;
mod provider;
mod resource;
pub mod schema;
mod serve;
mod service;
pub mod testing;
mod values;

pub use check::Check;
pub use context::Cx;
pub use diff::{Change, ChangeKind, Diff};
pub use function::Function;
pub use list::{List, Listed};
pub use method::Method;
pub use parameter::Parameter;
pub use preview::Preview;
pub use provider::Provider;
pub use resource::{Created, Delete, Found, Read, Recorded, Resource, Update, Updated};

pub use plumb::{
    Archive, Asset, AssetOrArchive, Context, Error, FromValue, Input, IntoValue, Mismatch, Output,
    Result, Value, bail, value,
};
pub use plumb_macros::{Described, EnumType, Properties, function, method, resource};

/// Items that most providers use.
pub mod prelude {
    pub use crate::{
        Archive, Asset, AssetOrArchive, Check, Context as _, Created, Cx, Delete, Described, Diff,
        EnumType, Error, Found, Function, List, Listed, Preview, Properties, Provider, Read,
        Resource, Result, Update, Updated, Value, value,
    };
}

/// Items for the macros.
#[doc(hidden)]
pub mod private {
    /// The value in the result of a function.
    pub trait Answer {
        /// The value.
        type Value;
    }

    impl<T, E> Answer for Result<T, E> {
        type Value = T;
    }
}
