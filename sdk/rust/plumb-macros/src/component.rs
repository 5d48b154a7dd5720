//! Components and exports.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Type};

use crate::attributes::{arguments, fields, text, wire_name};
use crate::properties::is_secret;

pub(crate) fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let name = &input.ident;
    let found = arguments(&input.attrs, "component", &["token"])?;
    let Some(token) = text(&found, "token") else {
        return Err(syn::Error::new_spanned(
            name,
            "a component needs a token: `#[component(token = \"acme:index:Site\")]`",
        ));
    };
    let outputs = members(input, "output")?;
    let recall = recall(input)?;
    Ok(quote! {
        #recall

        impl ::plumb::Component for #name {
            const TOKEN: &'static str = #token;

            fn outputs(&self) -> ::std::vec::Vec<(&'static str, ::plumb::Value)> {
                ::std::vec![#(#outputs),*]
            }
        }

        impl #name {
            /// Builds the component.
            #[track_caller]
            pub fn new(
                ctx: &::plumb::Ctx,
                name: &str,
                args: <Self as ::plumb::BuildComponent>::Args,
            ) -> ::plumb::Result<::plumb::Built<Self>> {
                ::plumb::private::build(ctx, name, args, ::plumb::opts())
            }

            /// Builds the component with options.
            #[track_caller]
            #[allow(dead_code)]
            pub fn with(
                ctx: &::plumb::Ctx,
                name: &str,
                args: <Self as ::plumb::BuildComponent>::Args,
                options: ::plumb::Options<::plumb::kind::Component>,
            ) -> ::plumb::Result<::plumb::Built<Self>> {
                ::plumb::private::build(ctx, name, args, options)
            }
        }
    })
}

/// The function that reads the outputs again; nothing if a field is something else than an output.
fn recall(input: &DeriveInput) -> syn::Result<TokenStream> {
    let (name, mut members) = (&input.ident, Vec::new());
    for (field, ident) in fields(input)? {
        if !is_output(&field.ty) {
            return Ok(TokenStream::new());
        }
        let wire = wire_name(field, ident, "output")?;
        members.push(quote!(#ident: handle.output(#wire)));
    }
    Ok(quote! {
        impl ::plumb::Recall for #name {
            fn recall(handle: &::plumb::Handle) -> Self {
                let _ = handle;
                #name { #(#members),* }
            }
        }
    })
}

fn is_output(of: &Type) -> bool {
    match of {
        Type::Path(path) => {
            let last = path.path.segments.last();
            last.is_some_and(|it| it.ident == "Output")
        }
        _ => false,
    }
}

/// Pairs of names and values of the fields.
fn members(input: &DeriveInput, attribute: &str) -> syn::Result<Vec<TokenStream>> {
    let fields = fields(input)?.into_iter();
    fields
        .map(|(field, ident)| {
            let wire = wire_name(field, ident, attribute)?;
            let value =
                quote!(::plumb::IntoValue::into_value(::std::clone::Clone::clone(&self.#ident)));
            // For components of providers, the derive `Described` tells the same to the schema.
            Ok(if is_secret(field)? {
                quote!((#wire, ::plumb::private::hidden(#value)))
            } else {
                quote!((#wire, #value))
            })
        })
        .collect()
}

pub(crate) fn expand_exports(input: &DeriveInput) -> syn::Result<TokenStream> {
    let name = &input.ident;
    let members = members(input, "output")?;
    Ok(quote! {
        impl ::plumb::Exports for #name {
            fn exports(self) -> ::std::vec::Vec<(&'static str, ::plumb::Value)> {
                ::std::vec![#(#members),*]
            }
        }
    })
}

pub(crate) fn expand_args(input: &DeriveInput) -> syn::Result<TokenStream> {
    let name = &input.ident;
    let members = members(input, "input")?;
    Ok(quote! {
        impl ::plumb::ComponentInputs for #name {
            fn inputs(&self) -> ::plumb::Inputs {
                let mut inputs = ::plumb::Inputs::new();
                let members: ::std::vec::Vec<(&'static str, ::plumb::Value)> =
                    ::std::vec![#(#members),*];
                for (name, value) in members {
                    if value != ::plumb::Value::Null {
                        inputs.set_value(name, value);
                    }
                }
                inputs
            }
        }
    })
}
