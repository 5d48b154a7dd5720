//! The entry point.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ItemFn;
use syn::spanned::Spanned as _;

pub(crate) fn expand(function: ItemFn) -> syn::Result<TokenStream> {
    let signature = &function.sig;
    if signature.asyncness.is_none() || signature.inputs.len() != 1 {
        return Err(syn::Error::new(
            signature.span(),
            "the program is an `async fn` with one argument, the context: `async fn main(ctx: Ctx) -> plumb::Result<()>`",
        ));
    }
    let mut inner = function.clone();
    let name = quote::format_ident!("__plumb_{}", signature.ident);
    inner.sig.ident = name.clone();
    inner.vis = syn::Visibility::Inherited;
    Ok(quote! {
        #inner

        fn main() -> ::std::process::ExitCode {
            ::plumb::run(async |ctx| #name(ctx).await)
        }
    })
}
