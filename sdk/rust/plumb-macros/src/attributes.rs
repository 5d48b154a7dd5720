//! Fields of structs and the attributes on them.

use syn::spanned::Spanned as _;
use syn::{Attribute, Data, DeriveInput, Expr, Field, Fields, Ident, LitStr};

/// The named fields of a struct.
pub(crate) fn fields(input: &DeriveInput) -> syn::Result<Vec<(&Field, &Ident)>> {
    let Data::Struct(data) = &input.data else {
        return Err(syn::Error::new(input.span(), "this derive is for structs"));
    };
    match &data.fields {
        Fields::Named(fields) => {
            let fields = fields.named.iter();
            Ok(fields
                .filter_map(|field| Some((field, field.ident.as_ref()?)))
                .collect())
        }
        Fields::Unit => Ok(Vec::new()),
        Fields::Unnamed(fields) => Err(syn::Error::new(
            fields.span(),
            "this derive is for structs with named fields",
        )),
    }
}

/// An argument of an attribute.
pub(crate) enum Argument {
    Text(LitStr),
    Value(Expr),
}

/// The arguments of all attributes called `name`, of which only those in `known` may be there.
pub(crate) fn arguments(
    attributes: &[Attribute],
    name: &str,
    known: &[&str],
) -> syn::Result<Vec<(String, Argument)>> {
    let mut found = Vec::new();
    for attribute in attributes.iter().filter(|it| it.path().is_ident(name)) {
        attribute.parse_nested_meta(|meta| {
            let key = meta
                .path
                .get_ident()
                .map(ToString::to_string)
                .unwrap_or_default();
            if !known.contains(&key.as_str()) {
                return Err(meta.error(format!("expected one of: {}", known.join(", "))));
            }
            let value: Expr = meta.value()?.parse()?;
            let argument = match (key.as_str(), &value) {
                ("default", _) => Argument::Value(value),
                (_, Expr::Lit(literal)) => match &literal.lit {
                    syn::Lit::Str(text) => Argument::Text(text.clone()),
                    _ => return Err(meta.error("expected a string")),
                },
                _ => return Err(meta.error("expected a string")),
            };
            found.push((key, argument));
            Ok(())
        })?;
    }
    Ok(found)
}

/// The text of the argument called `key`.
pub(crate) fn text(arguments: &[(String, Argument)], key: &str) -> Option<String> {
    arguments
        .iter()
        .rev()
        .find_map(|(name, argument)| match argument {
            Argument::Text(text) if name == key => Some(text.value()),
            _ => None,
        })
}

/// The name of a field on the wire: that of the attribute, or else the field's in camel case.
pub(crate) fn wire_name(field: &Field, ident: &Ident, attribute: &str) -> syn::Result<String> {
    let arguments = arguments(&field.attrs, attribute, &["name"])?;
    Ok(text(&arguments, "name").unwrap_or_else(|| camel_case(&ident.to_string())))
}

/// `apiKey` of `api_key`, and `type` of `type_` and of `r#type`.
pub(crate) fn camel_case(name: &str) -> String {
    let mut camel = String::new();
    for (index, word) in name.trim_start_matches("r#").split('_').enumerate() {
        let mut letters = word.chars();
        match letters.next() {
            Some(first) if index > 0 => {
                camel.extend(first.to_uppercase());
                camel.push_str(letters.as_str());
            }
            Some(_) => camel.push_str(word),
            None => {}
        }
    }
    camel
}

#[cfg(test)]
mod tests {
    use super::camel_case;

    #[test]
    fn names_on_the_wire_are_in_camel_case() {
        for (name, wire) in [
            ("api_key", "apiKey"),
            ("url", "url"),
            ("type_", "type"),
            ("r#in", "in"),
        ] {
            assert_eq!(camel_case(name), wire);
        }
    }
}
