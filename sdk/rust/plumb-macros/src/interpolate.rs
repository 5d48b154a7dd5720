//! Texts from outputs.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Expr, Ident, LitStr, Token};

/// A format string and its arguments.
pub(crate) struct Call {
    format: LitStr,
    arguments: Vec<Expr>,
}

impl Parse for Call {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let format = input.parse()?;
        if input.peek(Token![,]) {
            input.parse::<Token![,]>()?;
        }
        let arguments = Punctuated::<Expr, Token![,]>::parse_terminated(input)?;
        Ok(Call {
            format,
            arguments: arguments.into_iter().collect(),
        })
    }
}

/// A piece of the text.
#[derive(Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Next,
    Variable(String),
}

fn pieces(format: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut letters = format.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '{' | '}' if letters.peek() == Some(&letter) => {
                letters.next();
                text.push(letter);
            }
            '{' => {
                let name: String = letters.by_ref().take_while(|it| *it != '}').collect();
                if !text.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut text)));
                }
                pieces.push(match name.as_str() {
                    "" => Piece::Next,
                    name if name.contains(':') => {
                        return Err("formats such as `{:?}` are not supported here".to_owned());
                    }
                    name => Piece::Variable(name.to_owned()),
                });
            }
            '}' => return Err("a single `}`; write `}}` for the brace itself".to_owned()),
            letter => text.push(letter),
        }
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    Ok(pieces)
}

pub(crate) fn expand(call: &Call) -> syn::Result<TokenStream> {
    let error = |message: String| syn::Error::new(call.format.span(), message);
    let mut arguments = call.arguments.iter();
    let mut parts = Vec::new();
    for piece in pieces(&call.format.value()).map_err(error)? {
        parts.push(match piece {
            Piece::Text(text) => quote!(::plumb::IntoText::into_text(#text)),
            Piece::Next => {
                let argument = arguments
                    .next()
                    .ok_or_else(|| error("there are more `{}` than arguments".to_owned()))?;
                quote!(::plumb::IntoText::into_text(#argument))
            }
            Piece::Variable(name) => {
                let name: Ident = syn::parse_str::<Ident>(&name)
                    .map_err(|_| error(format!("`{name}` is not the name of a variable")))?;
                let name = Ident::new(&name.to_string(), Span::call_site());
                quote!(::plumb::IntoText::into_text(&#name))
            }
        });
    }
    if let Some(extra) = arguments.next() {
        return Err(syn::Error::new_spanned(
            extra,
            "there is no `{}` for this argument",
        ));
    }
    Ok(quote!(::plumb::private::concat(::std::vec![#(#parts),*])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_have_pieces() {
        assert_eq!(
            pieces("a{}{{b}}{c}").unwrap(),
            [
                Piece::Text("a".to_owned()),
                Piece::Next,
                Piece::Text("{b}".to_owned()),
                Piece::Variable("c".to_owned()),
            ]
        );
        assert!(pieces("}").is_err());
        assert!(pieces("{:?}").is_err());
    }
}
