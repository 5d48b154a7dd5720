//! Objects.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Ident};

use crate::attributes::{fields, wire_name};

/// A field of a struct that is an object.
pub(crate) struct Member<'a> {
    pub(crate) ident: &'a Ident,
    /// The name of the member.
    pub(crate) wire: String,
    /// Whether the members of the field are members of the struct.
    pub(crate) is_flat: bool,
}

pub(crate) fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let mut members = Vec::new();
    for (field, ident) in fields(input)? {
        members.push(Member {
            ident,
            wire: wire_name(field, ident, "property")?,
            is_flat: false,
        });
    }
    Ok(conversions(&input.ident, &members, &quote!(::plumb)))
}

/// Conversions to a value and back; `plumb` is the crate with the traits.
pub(crate) fn conversions(
    name: &Ident,
    members: &[Member<'_>],
    plumb: &TokenStream,
) -> TokenStream {
    let reads = members.iter().map(|member| read(member, plumb));
    let writes = members.iter().map(|member| write(member, plumb));
    let into_input = into_input(name, plumb);
    quote! {
        impl #plumb::FromValue for #name {
            fn from_value(value: #plumb::Value) -> ::std::result::Result<Self, #plumb::Mismatch> {
                #[allow(unused_mut)]
                let #plumb::Value::Map(mut members) = value else {
                    return ::std::result::Result::Err(#plumb::Mismatch::new("an object", &value));
                };
                ::std::result::Result::Ok(#name { #(#reads),* })
            }
        }

        impl #plumb::IntoValue for #name {
            fn into_value(self) -> #plumb::Value {
                #[allow(unused_mut)]
                let mut members = ::std::collections::BTreeMap::new();
                #(#writes)*
                #plumb::Value::Map(members)
            }
        }

        #into_input
    }
}

/// Makes values of the type inputs.
pub(crate) fn into_input(name: &Ident, plumb: &TokenStream) -> TokenStream {
    quote! {
        impl ::std::convert::From<#name> for #plumb::Input<#name> {
            fn from(value: #name) -> Self {
                #plumb::Input::from_value(#plumb::IntoValue::into_value(value))
            }
        }
    }
}

fn read(member: &Member<'_>, plumb: &TokenStream) -> TokenStream {
    let Member {
        ident,
        wire,
        is_flat,
    } = member;
    if *is_flat {
        return quote! {
            #ident: #plumb::FromValue::from_value(#plumb::Value::Map(::std::clone::Clone::clone(&members)))?
        };
    }
    quote! {
        #ident: match members.remove(#wire) {
            ::std::option::Option::Some(value) => #plumb::FromValue::from_value(value),
            ::std::option::Option::None => #plumb::FromValue::from_missing(),
        }
        .map_err(|mismatch| mismatch.in_key(#wire))?
    }
}

fn write(member: &Member<'_>, plumb: &TokenStream) -> TokenStream {
    let Member {
        ident,
        wire,
        is_flat,
    } = member;
    if *is_flat {
        return quote! {
            if let #plumb::Value::Map(inner) = #plumb::IntoValue::into_value(self.#ident) {
                members.extend(inner);
            }
        };
    }
    quote! {
        match #plumb::IntoValue::into_value(self.#ident) {
            #plumb::Value::Null => {}
            value => {
                members.insert(::std::borrow::ToOwned::to_owned(#wire), value);
            }
        }
    }
}
