//! Structs from the configuration.

use proc_macro2::TokenStream;
use quote::quote;
use syn::DeriveInput;

use crate::attributes::{Argument, arguments, camel_case, fields, text};

pub(crate) fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let name = &input.ident;
    let (generics, arguments_of_type, clause) = input.generics.split_for_impl();
    let mut reads = Vec::new();
    let mut names = Vec::new();
    for (field, ident) in fields(input)? {
        let found = arguments(&field.attrs, "config", &["default", "namespace", "key"])?;
        let key = text(&found, "key").unwrap_or_else(|| camel_case(&ident.to_string()));
        let namespace = if let Some(namespace) = text(&found, "namespace") {
            quote!(::std::option::Option::Some(#namespace))
        } else {
            quote!(::std::option::Option::None)
        };
        let default = found.iter().find_map(|(_, argument)| match argument {
            Argument::Value(value) => Some(default_value(value)),
            Argument::Text(_) => None,
        });
        let default = default.unwrap_or_else(|| quote!(::std::option::Option::None));
        let ty = &field.ty;
        reads.push(quote! {
            let #ident: ::std::option::Option<#ty> = reader.value(#namespace, #key, #default);
        });
        names.push(ident);
    }
    Ok(quote! {
        impl #generics ::plumb::ReadConfig for #name #arguments_of_type #clause {
            fn read(reader: &mut ::plumb::ConfigReader<'_>) -> ::std::option::Option<Self> {
                // All are read before the first problem counts, so that all problems are found.
                #(#reads)*
                ::std::option::Option::Some(#name { #(#names: #names?),* })
            }
        }
    })
}

/// A default; texts are written as literals, whatever the type of the field.
fn default_value(value: &syn::Expr) -> TokenStream {
    let is_text = matches!(value, syn::Expr::Lit(it) if matches!(it.lit, syn::Lit::Str(_)));
    if is_text {
        quote!(::std::option::Option::Some(::std::convert::Into::into(#value)))
    } else {
        quote!(::std::option::Option::Some(#value))
    }
}
