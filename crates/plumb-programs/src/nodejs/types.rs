//! Types in TypeScript.

use plumb_codegen::programs::typescript_key;
use plumb_pcl::Type;

/// Maximum depth of expanded object types.
const DEEPEST: usize = 4;

/// TypeScript type for plain values of `ty`.
pub(super) fn plain(ty: &Type) -> String {
    written(ty, DEEPEST)
}

fn written(ty: &Type, depth: usize) -> String {
    let Some(depth) = depth.checked_sub(1) else {
        return "any".to_owned();
    };
    match ty {
        Type::Schema(..) => match ty.expand() {
            // Object types of packages are named only in their SDKs.
            Type::Object(_) | Type::Schema(..) => "any".to_owned(),
            other => written(&other, depth),
        },
        Type::Result(_) | Type::Dynamic | Type::Resource(_) | Type::Component(_) => {
            "any".to_owned()
        }
        Type::None => "undefined".to_owned(),
        Type::Bool => "boolean".to_owned(),
        Type::Int | Type::Number => "number".to_owned(),
        Type::String => "string".to_owned(),
        Type::Asset => "pulumi.asset.Asset".to_owned(),
        Type::Archive => "pulumi.asset.Archive".to_owned(),
        Type::Enum(underlying, _) => written(underlying, depth),
        Type::List(element) => {
            let element = written(element, depth);
            if element.contains(' ') {
                format!("({element})[]")
            } else {
                format!("{element}[]")
            }
        }
        Type::Map(element) => format!("{{ [key: string]: {} }}", written(element, depth)),
        Type::Tuple(items) => {
            let items: Vec<String> = items.iter().map(|item| written(item, depth)).collect();
            format!("[{}]", items.join(", "))
        }
        Type::Object(fields) => {
            let fields = fields.iter().map(|field| {
                let mark = if field.ty.has_none() { "?" } else { "" };
                let ty = written(&field.ty.without_none(), depth);
                format!("{}{mark}: {ty}", typescript_key(&field.name))
            });
            let fields: Vec<String> = fields.collect();
            format!("{{ {} }}", fields.join("; "))
        }
        Type::Union(types) => {
            let mut texts: Vec<String> = Vec::with_capacity(types.len());
            for ty in types {
                let text = written(ty, depth);
                if !texts.contains(&text) {
                    texts.push(text);
                }
            }
            if texts.iter().any(|text| text == "any") {
                return "any".to_owned();
            }
            texts.join(" | ")
        }
    }
}
