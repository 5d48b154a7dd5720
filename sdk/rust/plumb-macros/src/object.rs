//! Objects.

use proc_macro2::TokenStream;
use quote::quote;
use syn::DeriveInput;

use crate::attributes::{fields, wire_name};

pub(crate) fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let name = &input.ident;
    let mut reads = Vec::new();
    let mut writes = Vec::new();
    for (field, ident) in fields(input)? {
        let wire = wire_name(field, ident, "property")?;
        reads.push(quote! {
            #ident: match members.remove(#wire) {
                ::std::option::Option::Some(value) => ::plumb::FromValue::from_value(value),
                ::std::option::Option::None => ::plumb::FromValue::from_missing(),
            }
            .map_err(|mismatch| mismatch.in_key(#wire))?
        });
        writes.push(quote! {
            match ::plumb::IntoValue::into_value(self.#ident) {
                ::plumb::Value::Null => {}
                value => {
                    members.insert(#wire.to_owned(), value);
                }
            }
        });
    }
    Ok(quote! {
        impl ::plumb::FromValue for #name {
            fn from_value(value: ::plumb::Value) -> ::std::result::Result<Self, ::plumb::Mismatch> {
                let ::plumb::Value::Map(mut members) = value else {
                    return ::std::result::Result::Err(::plumb::Mismatch::new("an object", &value));
                };
                ::std::result::Result::Ok(#name { #(#reads),* })
            }
        }

        impl ::plumb::IntoValue for #name {
            fn into_value(self) -> ::plumb::Value {
                let mut members = ::std::collections::BTreeMap::new();
                #(#writes)*
                ::plumb::Value::Map(members)
            }
        }

        impl ::std::convert::From<#name> for ::plumb::Input<#name> {
            fn from(value: #name) -> Self {
                ::plumb::Input::from_value(::plumb::IntoValue::into_value(value))
            }
        }
    })
}
