//! Enums: one of several texts, or values of one of several types.
//!
//! Programs and providers have a derive each: both convert, and beside that those of programs are values of the
//! configuration, and those of providers are types of the schema.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned as _;
use syn::{Data, DataEnum, DeriveInput, Fields, Ident, Type, Variant};

use crate::attributes::{arguments, text};
use crate::object::into_input;
use crate::properties::documentation;

/// A variant without data.
struct Text<'a> {
    ident: &'a Ident,
    /// The text on the wire.
    wire: String,
    description: String,
}

/// A variant with a value.
struct Member<'a> {
    ident: &'a Ident,
    of: &'a Type,
    /// The text of the tag, for enums that have one.
    wire: String,
}

/// The derive of programs.
pub(crate) fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let plumb = quote!(::plumb);
    let data = variants(input)?;
    if has_data(data) {
        let (members, tag) = members(input, data)?;
        return Ok(conversions_of_union(
            &input.ident,
            &members,
            tag.as_deref(),
            &plumb,
        ));
    }
    let texts = texts(data)?;
    let conversions = conversions_of_texts(&input.ident, &texts, &plumb);
    let config = config_value(&input.ident, &texts);
    Ok(quote!(#conversions #config))
}

/// The derive of providers.
pub(crate) fn expand_described(input: &DeriveInput) -> syn::Result<TokenStream> {
    let plumb = quote!(::plumb_provider);
    let data = variants(input)?;
    if has_data(data) {
        let (members, tag) = members(input, data)?;
        let conversions = conversions_of_union(&input.ident, &members, tag.as_deref(), &plumb);
        let described = described_union(&input.ident, &members, tag.as_deref());
        return Ok(quote!(#conversions #described));
    }
    let texts = texts(data)?;
    let conversions = conversions_of_texts(&input.ident, &texts, &plumb);
    let described = described_texts(input, &texts);
    Ok(quote!(#conversions #described))
}

fn variants(input: &DeriveInput) -> syn::Result<&DataEnum> {
    match &input.data {
        Data::Enum(data) if data.variants.is_empty() => Err(syn::Error::new(
            input.span(),
            "this derive is for enums with variants",
        )),
        Data::Enum(data) => Ok(data),
        _ => Err(syn::Error::new(input.span(), "this derive is for enums")),
    }
}

fn has_data(data: &DataEnum) -> bool {
    data.variants.iter().any(|it| !it.fields.is_empty())
}

fn texts(data: &DataEnum) -> syn::Result<Vec<Text<'_>>> {
    let texts = data.variants.iter().map(|variant| {
        Ok(Text {
            ident: &variant.ident,
            wire: wire_name(variant)?,
            description: documentation(&variant.attrs),
        })
    });
    texts.collect()
}

/// The variants, and the name of the property that tells them apart.
fn members<'a>(
    input: &'a DeriveInput,
    data: &'a DataEnum,
) -> syn::Result<(Vec<Member<'a>>, Option<String>)> {
    let tag = text(&arguments(&input.attrs, "property", &["tag"])?, "tag");
    let members = data.variants.iter().map(|variant| match &variant.fields {
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => Ok(Member {
            ident: &variant.ident,
            of: &fields.unnamed[0].ty,
            wire: wire_name(variant)?,
        }),
        _ => Err(syn::Error::new(
            variant.span(),
            "each variant needs one value, as in `Circle(Circle)`, or none of them may have one",
        )),
    });
    Ok((members.collect::<syn::Result<_>>()?, tag))
}

fn wire_name(variant: &Variant) -> syn::Result<String> {
    let found = arguments(&variant.attrs, "property", &["name"])?;
    Ok(text(&found, "name").unwrap_or_else(|| variant.ident.to_string()))
}

/// `one of: a, b`.
fn one_of<'a>(wires: impl Iterator<Item = &'a String>) -> String {
    let wires: Vec<_> = wires.map(String::as_str).collect();
    format!("one of: {}", wires.join(", "))
}

fn conversions_of_texts(name: &Ident, texts: &[Text<'_>], plumb: &TokenStream) -> TokenStream {
    let idents: Vec<_> = texts.iter().map(|it| it.ident).collect();
    let wires: Vec<_> = texts.iter().map(|it| &it.wire).collect();
    let expected = one_of(texts.iter().map(|it| &it.wire));
    let reading = quote! {
        match value.as_str() {
            #(::std::option::Option::Some(#wires) => ::std::result::Result::Ok(#name::#idents),)*
            ::std::option::Option::Some(text) => ::std::result::Result::Err(
                #plumb::Mismatch::because(::std::format!("expected {}, found `{text}`", #expected)),
            ),
            ::std::option::Option::None => {
                ::std::result::Result::Err(#plumb::Mismatch::new(#expected, &value))
            }
        }
    };
    let writing = quote! {
        #plumb::Value::String(::std::borrow::ToOwned::to_owned(match self {
            #(#name::#idents => #wires,)*
        }))
    };
    conversions(name, &reading, &writing, plumb)
}

/// Conversions with these bodies: `value` is what is read, and `self` what is written.
fn conversions(
    name: &Ident,
    reading: &TokenStream,
    writing: &TokenStream,
    plumb: &TokenStream,
) -> TokenStream {
    let into_input = into_input(name, plumb);
    quote! {
        impl #plumb::FromValue for #name {
            fn from_value(
                value: #plumb::Value,
            ) -> ::std::result::Result<Self, #plumb::Mismatch> {
                #reading
            }
        }

        impl #plumb::IntoValue for #name {
            fn into_value(self) -> #plumb::Value {
                #writing
            }
        }

        #into_input
    }
}

/// Values of the configuration are texts.
fn config_value(name: &Ident, texts: &[Text<'_>]) -> TokenStream {
    let idents = texts.iter().map(|it| it.ident);
    let wires = texts.iter().map(|it| &it.wire);
    let expected = one_of(texts.iter().map(|it| &it.wire));
    quote! {
        impl ::plumb::ConfigValue for #name {
            fn parse(text: &str) -> ::std::result::Result<Self, ::std::string::String> {
                match text {
                    #(#wires => ::std::result::Result::Ok(#name::#idents),)*
                    _ => ::std::result::Result::Err(::std::borrow::ToOwned::to_owned(#expected)),
                }
            }
        }
    }
}

fn described_texts(input: &DeriveInput, texts: &[Text<'_>]) -> TokenStream {
    let name = &input.ident;
    let text = name.to_string();
    let description = documentation(&input.attrs);
    let names = texts.iter().map(|it| it.ident.to_string());
    let wires = texts.iter().map(|it| &it.wire);
    let descriptions = texts.iter().map(|it| &it.description);
    quote! {
        impl ::plumb_provider::schema::Described for #name {
            fn describe(
                types: &mut ::plumb_provider::schema::Types,
            ) -> ::plumb_provider::schema::Type {
                types.enumeration(#text, #description, &[#((#names, #wires, #descriptions)),*])
            }
        }
    }
}

fn conversions_of_union(
    name: &Ident,
    members: &[Member<'_>],
    tag: Option<&str>,
    plumb: &TokenStream,
) -> TokenStream {
    let (reading, writing) = match tag {
        Some(tag) => tagged(name, members, tag, plumb),
        None => untagged(name, members, plumb),
    };
    conversions(name, &reading, &writing, plumb)
}

/// The variant is the first whose type the value has.
fn untagged(
    name: &Ident,
    members: &[Member<'_>],
    plumb: &TokenStream,
) -> (TokenStream, TokenStream) {
    let idents: Vec<_> = members.iter().map(|it| it.ident).collect();
    let names = members.iter().map(|it| it.ident.to_string());
    let expected = one_of(names.collect::<Vec<_>>().iter());
    let reading = quote! {
        #(
            if let ::std::result::Result::Ok(value) =
                #plumb::FromValue::from_value(::std::clone::Clone::clone(&value))
            {
                return ::std::result::Result::Ok(#name::#idents(value));
            }
        )*
        ::std::result::Result::Err(#plumb::Mismatch::new(#expected, &value))
    };
    let writing = quote! {
        match self {
            #(#name::#idents(value) => #plumb::IntoValue::into_value(value),)*
        }
    };
    (reading, writing)
}

/// A property of the object has the name of the variant.
fn tagged(
    name: &Ident,
    members: &[Member<'_>],
    tag: &str,
    plumb: &TokenStream,
) -> (TokenStream, TokenStream) {
    let idents: Vec<_> = members.iter().map(|it| it.ident).collect();
    let wires: Vec<_> = members.iter().map(|it| &it.wire).collect();
    let expected = one_of(members.iter().map(|it| &it.wire));
    let reading = quote! {
        let #plumb::Value::Map(mut members) = value else {
            return ::std::result::Result::Err(#plumb::Mismatch::new("an object", &value));
        };
        let tag = members.remove(#tag).unwrap_or_default();
        let value = #plumb::Value::Map(members);
        match tag.as_str() {
            #(
                ::std::option::Option::Some(#wires) => {
                    #plumb::FromValue::from_value(value).map(#name::#idents)
                }
            )*
            _ => ::std::result::Result::Err(
                #plumb::Mismatch::new(#expected, &tag).in_key(#tag),
            ),
        }
    };
    let writing = quote! {
        let (tag, value) = match self {
            #(#name::#idents(value) => (#wires, #plumb::IntoValue::into_value(value)),)*
        };
        match value {
            #plumb::Value::Map(mut members) => {
                let text = #plumb::Value::String(::std::borrow::ToOwned::to_owned(tag));
                members.insert(::std::borrow::ToOwned::to_owned(#tag), text);
                #plumb::Value::Map(members)
            }
            value => value,
        }
    };
    (reading, writing)
}

fn described_union(name: &Ident, members: &[Member<'_>], tag: Option<&str>) -> TokenStream {
    let of = members.iter().map(|it| {
        let of = it.of;
        quote!(<#of as ::plumb_provider::schema::Described>::describe(types))
    });
    let body = if let Some(tag) = tag {
        let wires = members.iter().map(|it| &it.wire);
        quote! {
            let members = ::std::vec![#((#wires, #of)),*];
            types.tagged_union(#tag, members)
        }
    } else {
        quote!(::plumb_provider::schema::Type::Union(::std::vec![#(#of),*]))
    };
    quote! {
        impl ::plumb_provider::schema::Described for #name {
            fn describe(
                types: &mut ::plumb_provider::schema::Types,
            ) -> ::plumb_provider::schema::Type {
                #body
            }
        }
    }
}
