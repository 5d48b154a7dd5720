//! Resources, functions and methods of providers.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::spanned::Spanned as _;
use syn::{FnArg, Ident, ImplItem, ItemFn, ItemImpl, LitStr, ReturnType, Token, Type};

use crate::properties::{deprecation, documentation, texts};

/// Arguments of the attribute of a resource or a function.
#[derive(Default)]
pub(crate) struct Arguments {
    token: Option<LitStr>,
    aliases: Vec<LitStr>,
    deletes_first: bool,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut arguments = Arguments::default();
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            if key == "delete_before_replace" {
                arguments.deletes_first = true;
            } else if key == "token" {
                input.parse::<Token![=]>()?;
                arguments.token = Some(input.parse()?);
            } else if key == "aliases" {
                input.parse::<Token![=]>()?;
                arguments.aliases = texts(input)?;
            } else {
                return Err(syn::Error::new(
                    key.span(),
                    "expected one of: token, aliases, delete_before_replace",
                ));
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(arguments)
    }
}

impl Arguments {
    pub(crate) fn read(tokens: proc_macro::TokenStream) -> syn::Result<Self> {
        Arguments::parse.parse(tokens)
    }

    fn token(&self, default: &str) -> syn::Result<String> {
        let Some(token) = &self.token else {
            return Ok(format!("index:{default}"));
        };
        let text = token.value();
        if text.split(':').count() == 2 {
            return Ok(text);
        }
        Err(syn::Error::new(
            token.span(),
            "expected a module and a name, as in `index:File`",
        ))
    }
}

/// Adds the facts about a resource to its implementation: the token, the documentation, what it can do.
pub(crate) fn resource(arguments: &Arguments, mut block: ItemImpl) -> syn::Result<TokenStream> {
    let name = type_name(&block.self_ty)?;
    let token = arguments.token(&name)?;
    let description = documentation(&block.attrs);
    let deprecated = optional(deprecation(&block.attrs)?);
    block
        .attrs
        .retain(|it| !it.path().is_ident("doc") && !it.path().is_ident("deprecated"));
    let has = |method: &str| {
        block.items.iter().any(|item| match item {
            ImplItem::Fn(function) => function.sig.ident == method,
            _ => false,
        })
    };
    let (updates, reads) = (has("update"), has("read"));
    let (previews, diffs, lists) = (has("preview"), has("diff"), has("list"));
    let (aliases, deletes_first) = (&arguments.aliases, arguments.deletes_first);
    let facts = [
        quote!(const TOKEN: &'static str = #token;),
        quote!(const DESCRIPTION: &'static str = #description;),
        quote!(const DEPRECATED: ::std::option::Option<&'static str> = #deprecated;),
        quote!(const ALIASES: &'static [&'static str] = &[#(#aliases),*];),
        quote!(const UPDATES: bool = #updates;),
        quote!(const READS: bool = #reads;),
        quote!(const PREVIEWS: bool = #previews;),
        quote!(const DIFFS: bool = #diffs;),
        quote!(const LISTS: bool = #lists;),
        quote!(const DELETES_BEFORE_REPLACING: bool = #deletes_first;),
    ];
    for fact in facts {
        block.items.push(syn::parse2(fact)?);
    }
    let has_query = block.items.iter().any(|item| match item {
        ImplItem::Type(of) => of.ident == "Query",
        _ => false,
    });
    if !has_query {
        block.items.push(syn::parse2(quote!(
            type Query = ();
        ))?);
    }
    Ok(quote!(#block))
}

/// Makes an asynchronous function a type of the same name that implements the trait of functions.
pub(crate) fn function(arguments: &Arguments, function: ItemFn) -> syn::Result<TokenStream> {
    let name = &function.sig.ident;
    let token = arguments.token(&crate::attributes::camel_case(&name.to_string()))?;
    let (attributes, body) = (&function.attrs, &function.block);
    let description = documentation(attributes);
    let deprecated = optional(deprecation(attributes)?);
    let mut inputs = function.sig.inputs.iter();
    let (Some(FnArg::Typed(context)), Some(FnArg::Typed(args)), None) =
        (inputs.next(), inputs.next(), inputs.next())
    else {
        return Err(syn::Error::new(
            function.sig.inputs.span(),
            "a function has two parameters: the context, `&Cx`, and its arguments",
        ));
    };
    if function.sig.asyncness.is_none() {
        return Err(syn::Error::new(
            function.sig.fn_token.span(),
            "a function of a provider is `async`",
        ));
    }
    let ReturnType::Type(_, answer) = &function.sig.output else {
        return Err(syn::Error::new(
            function.sig.span(),
            "a function returns a `Result`",
        ));
    };
    let (context_name, args_name, of) = (&context.pat, &args.pat, &args.ty);
    let unit = unit(&function);
    Ok(quote! {
        #unit

        impl ::plumb_provider::Function for #name {
            const TOKEN: &'static str = #token;
            const DESCRIPTION: &'static str = #description;
            const DEPRECATED: ::std::option::Option<&'static str> = #deprecated;
            type Args = #of;
            type Answer = <#answer as ::plumb_provider::private::Answer>::Value;

            async fn call(#context_name: &::plumb_provider::Cx, #args_name: #of) -> #answer #body
        }
    })
}

/// Makes a function a type of the same name that implements the trait of methods.
pub(crate) fn method(function: &ItemFn) -> syn::Result<TokenStream> {
    let (name, signature) = (&function.sig.ident, &function.sig);
    let wire = crate::attributes::camel_case(&name.to_string());
    let (attributes, body) = (&function.attrs, &function.block);
    let description = documentation(attributes);
    let deprecated = optional(deprecation(attributes)?);
    let mut inputs = signature.inputs.iter();
    let (
        Some(FnArg::Typed(context)),
        Some(FnArg::Typed(component)),
        Some(FnArg::Typed(args)),
        None,
    ) = (inputs.next(), inputs.next(), inputs.next(), inputs.next())
    else {
        return Err(syn::Error::new(
            signature.inputs.span(),
            "a method has three parameters: the context, `&Ctx`, the component, and its arguments, which may be `()`",
        ));
    };
    if let Some(asyncness) = &signature.asyncness {
        return Err(syn::Error::new(
            asyncness.span(),
            "a method does not wait: it answers with outputs, which are there later",
        ));
    }
    let ReturnType::Type(_, answer) = &signature.output else {
        return Err(syn::Error::new(
            signature.span(),
            "a method returns a `Result`",
        ));
    };
    let (context_name, component_name, args_name) = (&context.pat, &component.pat, &args.pat);
    let (of, args) = (&component.ty, &args.ty);
    let unit = unit(function);
    Ok(quote! {
        #unit

        impl ::plumb_provider::Method for #name {
            const NAME: &'static str = #wire;
            const DESCRIPTION: &'static str = #description;
            const DEPRECATED: ::std::option::Option<&'static str> = #deprecated;
            type Component = #of;
            type Args = #args;
            type Answer = <#answer as ::plumb_provider::private::Answer>::Value;

            fn call(
                #context_name: &::plumb::Ctx,
                #component_name: #of,
                #args_name: #args,
            ) -> #answer #body
        }
    })
}

/// The type that stands for a function: without fields, and with its name and documentation.
fn unit(function: &ItemFn) -> TokenStream {
    let (visibility, name) = (&function.vis, &function.sig.ident);
    let docs = function.attrs.iter();
    let docs = docs.filter(|it| it.path().is_ident("doc"));
    quote! {
        #(#docs)*
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug)]
        #visibility struct #name;
    }
}

fn optional(text: Option<String>) -> TokenStream {
    text.map_or_else(
        || quote!(::std::option::Option::None),
        |text| quote!(::std::option::Option::Some(#text)),
    )
}

/// The last word of a type.
fn type_name(of: &Type) -> syn::Result<String> {
    match of {
        Type::Path(path) => path.path.segments.last().map(|it| it.ident.to_string()),
        _ => None,
    }
    .ok_or_else(|| syn::Error::new(of.span(), "expected the name of a type"))
}
