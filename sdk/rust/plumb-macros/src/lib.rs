//! Macros of the crates `plumb` and `plumb_provider`: the entry point of programs, texts from outputs, and derives.
//!
//! Use them through those crates, which document them beside the traits that they implement.

mod attributes;
mod choice;
mod component;
mod config;
mod entry;
mod interpolate;
mod object;
mod properties;
mod provider;

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

/// Makes a struct an object of a provider: its fields are properties, in camel case, and with their documentation they
/// are the schema.
///
/// | Attribute of a field | Meaning |
/// |---|---|
/// | `#[property(name = "other")]` | another name than the field's |
/// | `#[property(flatten)]` | the properties of the field's type are properties of this one |
/// | `#[property(secret)]` | the value is encrypted in the state and hidden in output |
/// | `#[property(replace)]` | a change replaces the resource |
/// | `#[property(default = EXPR)]` | the value if there is none |
/// | `#[property(env = ["A", "B"])]` | variables of the environment that have the value if there is none |
/// | `#[property(follows = ["a"])]` | an output that changes only if one of these inputs does; with none of them: never |
///
/// An `Option` need not be there. `#[deprecated = "text"]` deprecates a property.
#[proc_macro_derive(Properties, attributes(property))]
pub fn properties(input: TokenStream) -> TokenStream {
    derive(input, properties::expand)
}

/// Describes a component for the schema: its fields are outputs, and its documentation is the description.
///
/// Beside the derive `Component`, which has its own attributes.
#[proc_macro_derive(Described, attributes(property, output))]
pub fn described(input: TokenStream) -> TokenStream {
    derive(input, properties::expand_described)
}

/// Makes an enum the type of a property of a provider.
///
/// | Enum | Property |
/// |---|---|
/// | without data: `enum Size { Small, Large }` | one of several texts: the names of the variants |
/// | with data: `enum Port { Number(i64), Name(String) }` | a value of one of several types: the first that fits |
/// | with data and `#[property(tag = "kind")]`: `enum Shape { Circle(Circle), Square(Square) }` | an object whose property `kind` has the name of the variant |
///
/// `#[property(name = "t2.micro")]` gives a variant another text.
#[proc_macro_derive(EnumType, attributes(property))]
pub fn enum_type(input: TokenStream) -> TokenStream {
    derive(input, choice::expand_described)
}

/// Makes an enum a value of programs: of their configuration, of components and of objects.
///
/// | Enum | Value |
/// |---|---|
/// | without data: `enum Stage { Dev, Prod }` | one of several texts: the names of the variants |
/// | with data: `enum Port { Number(i64), Name(String) }` | a value of one of several types: the first that fits |
/// | with data and `#[property(tag = "kind")]`: `enum Shape { Circle(Circle), Square(Square) }` | an object whose property `kind` has the name of the variant |
///
/// `#[property(name = "dev")]` gives a variant another text. Only enums without data are values of the configuration.
#[proc_macro_derive(ProgramEnumType, attributes(property))]
pub fn program_enum_type(input: TokenStream) -> TokenStream {
    derive(input, choice::expand)
}

/// Tells a provider what an implementation of its trait `Resource` can do, and the schema what it is.
///
/// | Argument | Meaning |
/// |---|---|
/// | `token = "index:File"` | module and name; `index` and the name of the type, if it is missing |
/// | `aliases = ["index:Document"]` | former tokens |
/// | `delete_before_replace` | a replacement deletes the old resource first |
///
/// The documentation of the block is the description of the resource.
#[proc_macro_attribute]
pub fn resource(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let block = parse_macro_input!(item as syn::ItemImpl);
    provider::Arguments::read(arguments)
        .and_then(|arguments| provider::resource(&arguments, block))
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Makes an asynchronous function one of a provider: a type of the same name, for `Provider::function`.
///
/// `token = "index:getFile"` names module and function; `index` and the function's name in camel case, if it is missing.
#[proc_macro_attribute]
pub fn function(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let function = parse_macro_input!(item as syn::ItemFn);
    provider::Arguments::read(arguments)
        .and_then(|arguments| provider::function(&arguments, function))
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Makes a function a method of a component: a type of the same name, for `Provider::method`.
///
/// Its parameters are the context, the component, and the arguments. Its name in camel case is that of the method.
#[proc_macro_attribute]
pub fn method(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let function = parse_macro_input!(item as syn::ItemFn);
    let _ = parse_macro_input!(arguments as syn::parse::Nothing);
    provider::method(&function)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
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
