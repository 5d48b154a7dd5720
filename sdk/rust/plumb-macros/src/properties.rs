//! Types of providers: their properties, which are the schema.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::ParseStream;
use syn::{Attribute, DeriveInput, Expr, ExprLit, Field, Lit, LitStr, Token};

use crate::attributes::{camel_case, fields};
use crate::object::{self, Member};

/// Facts about a property, read from the attributes of its field.
#[derive(Default)]
struct Facts {
    name: Option<String>,
    is_flat: bool,
    is_secret: bool,
    replaces: bool,
    default: Option<Expr>,
    environment: Vec<LitStr>,
    follows: Option<Vec<LitStr>>,
    deprecated: Option<String>,
    description: String,
}

pub(crate) fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let name = &input.ident;
    let mut members = Vec::new();
    let mut properties = Vec::new();
    for (field, ident) in fields(input)? {
        let facts = facts(field)?;
        let wire = facts
            .name
            .clone()
            .unwrap_or_else(|| camel_case(&ident.to_string()));
        properties.push(property(field, &wire, &facts));
        members.push(Member {
            ident,
            wire,
            is_flat: facts.is_flat,
        });
    }
    let conversions = object::conversions(name, &members, &quote!(::plumb_provider));
    let described = described(input, &properties);
    Ok(quote!(#conversions #described))
}

/// Only the description, for types that convert themselves: components with their outputs.
pub(crate) fn expand_described(input: &DeriveInput) -> syn::Result<TokenStream> {
    let mut properties = Vec::new();
    for (field, ident) in fields(input)? {
        let facts = facts(field)?;
        let wire = match (
            &facts.name,
            crate::attributes::wire_name(field, ident, "output")?,
        ) {
            (Some(name), _) => name.clone(),
            (None, name) => name,
        };
        properties.push(property(field, &wire, &facts));
    }
    Ok(described(input, &properties))
}

fn described(input: &DeriveInput, properties: &[TokenStream]) -> TokenStream {
    let name = &input.ident;
    let text = name.to_string();
    let description = documentation(&input.attrs);
    quote! {
        impl ::plumb_provider::schema::Properties for #name {
            const NAME: &'static str = #text;
            const DESCRIPTION: &'static str = #description;

            fn properties(
                types: &mut ::plumb_provider::schema::Types,
            ) -> ::std::vec::Vec<::plumb_provider::schema::Property> {
                let mut properties = ::std::vec::Vec::new();
                #(#properties)*
                properties
            }
        }

        impl ::plumb_provider::schema::Described for #name {
            fn describe(
                types: &mut ::plumb_provider::schema::Types,
            ) -> ::plumb_provider::schema::Type {
                types.object::<Self>()
            }
        }
    }
}

/// Adds a property to the list `properties`.
fn property(field: &Field, wire: &str, facts: &Facts) -> TokenStream {
    let of = &field.ty;
    if facts.is_flat {
        return quote! {
            properties.extend(<#of as ::plumb_provider::schema::Properties>::properties(types));
        };
    }
    let description = &facts.description;
    let mut changes = Vec::new();
    if facts.is_secret {
        changes.push(quote!(.secret()));
    }
    if facts.replaces {
        changes.push(quote!(.replaces()));
    }
    if let Some(default) = &facts.default {
        changes.push(quote!(.default_value(::plumb_provider::IntoValue::into_value(#default))));
    }
    let environment = &facts.environment;
    if !environment.is_empty() {
        changes.push(quote!(.environment(&[#(#environment),*])));
    }
    if let Some(follows) = &facts.follows {
        changes.push(quote!(.follows(&[#(#follows),*])));
    }
    if let Some(deprecated) = &facts.deprecated {
        changes.push(quote!(.deprecated(#deprecated)));
    }
    quote! {
        properties.push(
            ::plumb_provider::schema::Property::of::<#of>(#wire, #description, types) #(#changes)*
        );
    }
}

fn facts(field: &Field) -> syn::Result<Facts> {
    let mut facts = Facts {
        description: documentation(&field.attrs),
        deprecated: deprecation(&field.attrs)?,
        ..Facts::default()
    };
    for attribute in field
        .attrs
        .iter()
        .filter(|it| it.path().is_ident("property"))
    {
        attribute.parse_nested_meta(|meta| {
            let key = meta.path.get_ident().map(ToString::to_string);
            match key.as_deref() {
                Some("name") => facts.name = Some(meta.value()?.parse::<LitStr>()?.value()),
                Some("flatten") => facts.is_flat = true,
                Some("secret") => facts.is_secret = true,
                Some("replace") => facts.replaces = true,
                Some("default") => facts.default = Some(meta.value()?.parse()?),
                Some("env") => facts.environment = texts(meta.value()?)?,
                Some("follows") => facts.follows = Some(texts(meta.value()?)?),
                _ => {
                    return Err(meta.error(
                        "expected one of: name, flatten, secret, replace, default, env, follows",
                    ));
                }
            }
            Ok(())
        })?;
    }
    Ok(facts)
}

/// Whether the schema says that the property is secret.
pub(crate) fn is_secret(field: &Field) -> syn::Result<bool> {
    Ok(facts(field)?.is_secret)
}

/// A text, or a list of texts in brackets.
pub(crate) fn texts(input: ParseStream<'_>) -> syn::Result<Vec<LitStr>> {
    if input.peek(LitStr) {
        return Ok(vec![input.parse()?]);
    }
    let content;
    syn::bracketed!(content in input);
    let list = content.parse_terminated(<LitStr as syn::parse::Parse>::parse, Token![,])?;
    Ok(list.into_iter().collect())
}

/// The text of the documentation comments.
pub(crate) fn documentation(attributes: &[Attribute]) -> String {
    let mut lines = Vec::new();
    for attribute in attributes.iter().filter(|it| it.path().is_ident("doc")) {
        if let syn::Meta::NameValue(pair) = &attribute.meta
            && let Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            }) = &pair.value
        {
            let text = text.value();
            lines.push(text.strip_prefix(' ').unwrap_or(&text).to_owned());
        }
    }
    lines.join("\n").trim().to_owned()
}

/// The message of `#[deprecated]`.
pub(crate) fn deprecation(attributes: &[Attribute]) -> syn::Result<Option<String>> {
    let Some(attribute) = attributes
        .iter()
        .find(|it| it.path().is_ident("deprecated"))
    else {
        return Ok(None);
    };
    let mut message = "deprecated".to_owned();
    match &attribute.meta {
        syn::Meta::Path(_) => {}
        syn::Meta::NameValue(pair) => {
            if let Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            }) = &pair.value
            {
                message = text.value();
            }
        }
        syn::Meta::List(_) => attribute.parse_nested_meta(|meta| {
            let text: LitStr = meta.value()?.parse()?;
            if meta.path.is_ident("note") {
                message = text.value();
            }
            Ok(())
        })?,
    }
    Ok(Some(message))
}
