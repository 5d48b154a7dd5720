//! Infrastructure as code in Rust.
//!
//! A program describes the resources of a stack; `plumb up` (or Pulumi's command line) makes them so.
//!
//! ```no_run
//! use plumb::prelude::*;
//!
//! #[plumb::main]
//! async fn main(ctx: Ctx) -> plumb::Result<()> {
//!     let pet = AnyResource::new(&ctx, "random:index/randomPet:RandomPet", "pet", value!({ "length": 2 }));
//!     ctx.export("greeting", interpolate!("Hello, {}", pet.id()));
//!     Ok(())
//! }
//! ```
//!
//! | To | See |
//! |---|---|
//! | make something from an output | [`Output`], [`interpolate!`], [`Join`] |
//! | create a resource | [`AnyResource`], generated packages, [`resource!`] for your own types |
//! | set options | [`opts`], [`Options`] |
//! | group resources | [`component`] |
//! | read the configuration | [`ReadConfig`], [`Config`] |
//! | call a function of a provider | [`Ctx::invoke`], [`Ctx::invoke_plain`] |
//! | read another stack | [`StackReference`] |
//! | change resources on their way | [`Ctx::stack_transform`] |
//! | run code around operations | [`Ctx::hook`], [`Ctx::error_hook`] |
//! | test a program | [`testing`] |
//! | run a program in a process with an engine | [`embed`] |
//!
//! Resources, outputs and contexts are cheap values without lifetimes: clone them into closures. Nothing is global, and
//! nothing here panics because of something that the engine says.

mod call;
mod callbacks;
pub mod component;
mod config;
mod context;
pub mod embed;
mod error;
#[doc(hidden)]
pub mod generated;
mod input;
mod invoke;
mod monitor;
mod output;
mod package;
#[doc(hidden)]
pub mod plugin;
mod program;
mod protocol;
#[doc(hidden)]
pub mod provider;
mod resource;
mod run;
mod stack_reference;
pub mod testing;
mod text;
mod value;
mod wire;

pub use callbacks::{
    ErrorHook, ErrorHookArgs, Hook, HookArgs, HookOptions, InvokeTransform, Transform,
};
pub use component::{BuildComponent, Built, Component, ComponentInputs, Group, Recall};
pub use config::{Config, ConfigReader, ConfigValue, ReadConfig};
pub use context::Ctx;
pub use error::{Context, Error, Result};
pub use input::{Input, Inputs, TextType};
pub use invoke::InvokeOptions;
pub use output::{Deferred, Field, IntoOutput, Join, Output};
pub use package::Package;
pub use resource::{
    Alias, AnyProvider, AnyResource, ComponentLike, CustomLike, Handle, Options, Property,
    PropertyPath, Resource, ResourceLike, Timeouts, TypedResource, kind, opts,
};
pub use run::{Exports, run};
pub use stack_reference::StackReference;
pub use text::{IntoText, TextValue};
pub use value::{Archive, Asset, AssetOrArchive, FromValue, IntoValue, Mismatch, Secret, Value};

pub use plumb_macros::{
    Component, ComponentArgs, Config, Exports, ObjectType, ProgramEnumType as EnumType,
    interpolate, main,
};

/// Items that most programs use.
pub mod prelude {
    pub use crate::{
        Alias, AnyProvider, AnyResource, Archive, Asset, BuildComponent, Built, Component,
        ComponentArgs, Config, Context as _, Ctx, Exports, HookOptions, Input, InvokeOptions,
        Join as _, ObjectType, Options, Output, Resource as _, Secret, StackReference, Value,
        interpolate, kind, list, map, opts, value,
    };
}

/// Functions for the macros.
#[doc(hidden)]
pub mod private {
    pub use crate::component::{build, hidden};
    pub use crate::input::{list, map};
    pub use crate::text::concat;
}
