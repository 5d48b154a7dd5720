//! Macros of the crate `plumb`: the entry point of programs, texts from outputs, and derives.
//!
//! Use them through `plumb`, which documents them beside the traits that they implement.

mod attributes;
mod component;
mod config;
mod entry;
mod interpolate;
mod object;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Makes an asynchronous function the program.
///
/// ```ignore
/// #[plumb::main]
/// async fn main(ctx: Ctx) -> plumb::Result<()> {
///     ctx.export("stack", ctx.stack());
///     Ok(())
/// }
/// ```
#[proc_macro_attribute]
pub fn main(_: TokenStream, item: TokenStream) -> TokenStream {
    let function = parse_macro_input!(item as syn::ItemFn);
    entry::expand(function)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Text with outputs inside: `interpolate!("https://{}:{port}", host.id())` is an `Output<String>`.
///
/// Each `{}` takes the next argument, and `{name}` the variable of that name. Arguments are outputs, inputs, secrets, text
/// or numbers. `{{` and `}}` are the braces themselves.
#[proc_macro]
pub fn interpolate(input: TokenStream) -> TokenStream {
    let call = parse_macro_input!(input as interpolate::Call);
    interpolate::expand(&call)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Reads a struct from the configuration with `ctx.config()`.
///
/// | Attribute of a field | Meaning |
/// |---|---|
/// | `#[config(default = EXPR)]` | the value if the variable is not set |
/// | `#[config(namespace = "aws")]` | a variable of another namespace than the project's |
/// | `#[config(key = "apiKey")]` | another name than the field's |
///
/// An `Option` may be unset, and a `Secret` stays one.
#[proc_macro_derive(Config, attributes(config))]
pub fn config(input: TokenStream) -> TokenStream {
    derive(input, config::expand)
}

/// Makes the fields of a struct outputs of the stack, in camel case: the result of the program.
///
/// `#[output(name = "other")]` gives a field another name.
#[proc_macro_derive(Exports, attributes(output))]
pub fn exports(input: TokenStream) -> TokenStream {
    derive(input, component::expand_exports)
}

/// Makes a struct a component, whose fields are its outputs, in camel case.
///
/// `#[component(token = "acme:index:Site")]` names the type; `#[output(name = "other")]` gives a field another name.
#[proc_macro_derive(Component, attributes(component, output))]
pub fn component(input: TokenStream) -> TokenStream {
    derive(input, component::expand)
}

/// Makes a struct the arguments of a component, whose fields are its inputs, in camel case.
#[proc_macro_derive(ComponentArgs, attributes(input))]
pub fn component_args(input: TokenStream) -> TokenStream {
    derive(input, component::expand_args)
}

/// Converts a struct to an object and back; the fields are its members, in camel case.
///
/// `#[property(name = "other")]` gives a field another name.
#[proc_macro_derive(ObjectType, attributes(property))]
pub fn object_type(input: TokenStream) -> TokenStream {
    derive(input, object::expand)
}

fn derive(
    input: TokenStream,
    expand: fn(&DeriveInput) -> syn::Result<proc_macro2::TokenStream>,
) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand(&input)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
