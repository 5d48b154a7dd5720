//! Classes that users fill in: arguments of resources, functions and methods, state of lookups, and nested objects
//! (`codegen.md` 5.2, 5.3).

use plumb_schema::bound::{Property, TypeKind};
use plumb_schema::{Constant, Primitive};

use super::names;
use super::sdk::{Sdk, Shape};
use super::types::Given;
use crate::classes::{Body, Class, Doc, Member};
use crate::settings::Compatibility;

/// Consumer of a class of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Resource,
    /// A provider, whose settings are sent as strings.
    Provider,
    Function,
    Method,
}

impl Purpose {
    fn base(self) -> &'static str {
        match self {
            Purpose::Resource | Purpose::Provider => "ResourceArgs",
            Purpose::Function => "InvokeArgs",
            Purpose::Method => "CallArgs",
        }
    }
}

/// Request for one class of arguments.
pub(super) struct Args<'a, 'd> {
    pub(super) name: &'a str,
    pub(super) doc: Doc,
    pub(super) properties: &'a [Property<'d>],
    pub(super) purpose: Purpose,
    pub(super) shape: Shape,
}

/// Name of a property; the `csharp` block of the schema can override it.
pub(super) fn written_name<'d>(property: &Property<'d>) -> &'d str {
    let block = property.language.get("csharp");
    let name = block.and_then(|block| block.get("name")?.as_str());
    name.filter(|name| !name.is_empty())
        .unwrap_or(property.name)
}

impl<'d> Sdk<'_, 'd> {
    /// Class of arguments. Omits `__self__`, the resource that a method is called on.
    pub(super) fn args_class(&self, args: Args<'_, 'd>) -> Class {
        let name = args.name;
        let given = |property: &&Property<'d>| {
            args.purpose != Purpose::Method || property.name != "__self__"
        };
        let properties: Vec<&Property<'d>> = args.properties.iter().filter(given).collect();
        let written = properties.iter().map(|property| written_name(property));
        let names = names::properties(written, name);
        let mut members = Vec::new();
        let mut fill = Body::default();
        for (property, name) in properties.iter().zip(&names) {
            members.extend(self.declared(property, name, &args));
            if let Some(value) = self.filled_value(property) {
                fill.line(format!("{name} = {value};"));
            }
        }
        members.push(Member::method(format!("public {name}()"), fill));
        members.push(Member::line(format!(
            "public static new {name} Empty => new {name}();"
        )));
        let sealed = if self.settings.compatibility == Compatibility::Kubernetes20 {
            ""
        } else {
            "sealed "
        };
        let base = match args.shape {
            Shape::Plain => "InvokeArgs",
            _ => args.purpose.base(),
        };
        Class {
            doc: args.doc,
            attributes: Vec::new(),
            header: format!("public {sealed}class {name} : global::Pulumi.{base}"),
            members,
        }
    }

    /// Members of a property: the property itself, and its backing field where the type needs one.
    fn declared(&self, property: &Property<'d>, name: &str, args: &Args<'_, 'd>) -> Vec<Member> {
        let mut mark = names::string(property.name);
        if property.required {
            mark.push_str(", required: true");
        }
        if args.purpose == Purpose::Provider
            && self.underlying(&property.ty) != Some(Primitive::String)
        {
            mark.push_str(", json: true");
        }
        let mark = vec![format!("[global::Pulumi.Input({mark})]")];
        let given = self.given(&property.ty, args.shape);
        let (optional, value) = if property.required {
            ("", " = null!;")
        } else {
            ("?", "")
        };
        let ty = match &given {
            Given::Collection { ty, .. } => ty.clone(),
            Given::Value(ty) | Given::Input(ty) => format!("{ty}{optional}"),
        };
        let accessors = match &given {
            Given::Value(_) | Given::Input(_) if !property.secret => None,
            Given::Value(_) => Some(kept(name, None)),
            Given::Input(_) => Some(kept(name, Some(secret_input(name, &ty)))),
            Given::Collection { ty, empty } => {
                let secret = empty.as_ref().filter(|_| property.secret);
                Some(collected(
                    name,
                    ty,
                    secret.map(|it| secret_collection(name, it)),
                ))
            }
        };
        let doc = self.doc(property.description);
        let Some(accessors) = accessors else {
            let value = match &given {
                // Value types need no initializer, because they default to zero or false.
                Given::Value(ty) if matches!(ty.as_str(), "bool" | "int" | "double") => "",
                _ => value,
            };
            let line = format!("public {ty} {name} {{ get; set; }}{value}");
            let member = Member::line(line).with_doc(&doc);
            return vec![member.with_attributes(mark)];
        };
        let kept = format!("private {}? {};", ty.trim_end_matches('?'), field(name));
        let property_type = if matches!(given, Given::Collection { .. }) {
            ty
        } else {
            format!("{}?", ty.trim_end_matches('?'))
        };
        vec![
            Member::line(kept).with_attributes(mark),
            Member::method(format!("public {property_type} {name}"), accessors).with_doc(&doc),
        ]
    }

    /// Initial value of a property: its constant, its default, or a lookup of environment variables.
    pub(super) fn filled_value(&self, property: &Property<'d>) -> Option<String> {
        let fallback = property.constant.as_ref().or(property.default.as_ref());
        let fixed = fallback.map(|it| self.literal(property, it));
        let Some(info) = property
            .default_info
            .as_ref()
            .filter(|_| property.constant.is_none())
        else {
            return fixed;
        };
        // Values of environment variables are strings, which cannot be converted to an enum.
        if self.enum_of(&property.ty).is_some() {
            return fixed;
        }
        let reader = match self.underlying(&property.ty) {
            Some(Primitive::Bool) => "GetEnvBoolean",
            Some(Primitive::Integer) => "GetEnvInt32",
            Some(Primitive::Number) => "GetEnvDouble",
            Some(Primitive::String) | None => "GetEnv",
        };
        let variables: Vec<String> = info
            .environment
            .iter()
            .map(|it| names::string(it))
            .collect();
        let read = format!("{}.{reader}({})", self.utilities(), variables.join(", "));
        Some(match fixed {
            Some(fixed) => format!("{read} ?? {fixed}"),
            None if property.required => format!("{read}!"),
            None => read,
        })
    }

    fn literal(&self, property: &Property<'d>, constant: &Constant) -> String {
        if let TypeKind::Defined(position) = &property.ty.kind {
            return self.enum_literal(*position, constant);
        }
        match constant {
            Constant::Bool(value) => value.to_string(),
            Constant::String(value) => names::string(value),
            Constant::Number(value) => number(*value),
        }
    }
}

/// Literal of a number. Whole numbers below 1e9 have no fraction.
pub(super) fn number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e9 {
        format!("{value:.0}")
    } else {
        format!("{value:?}")
    }
}

/// Name of a property's backing field.
fn field(name: &str) -> String {
    let mut chars = name.chars();
    let first = chars.next().map(|char| char.to_ascii_lowercase());
    format!("_{}", first.into_iter().chain(chars).collect::<String>())
}

fn kept(name: &str, secret: Option<Body>) -> Body {
    let field = field(name);
    accessors(format!("get => {field};"), &field, secret)
}

fn collected(name: &str, ty: &str, secret: Option<Body>) -> Body {
    let field = field(name);
    accessors(
        format!("get => {field} ?? ({field} = new {ty}());"),
        &field,
        secret,
    )
}

fn accessors(get: String, field: &str, secret: Option<Body>) -> Body {
    let mut body = Body::of(get);
    match secret {
        None => body.line(format!("set => {field} = value;")),
        Some(secret) => body.block("set", |body| body.append(secret)),
    }
    body
}

/// Setter body that wraps the given value as a secret.
fn secret_input(name: &str, ty: &str) -> Body {
    let field = field(name);
    let ty = format!("{}?", ty.trim_end_matches('?'));
    let mut body = Body::of("var emptySecret = global::Pulumi.Output.CreateSecret(0);");
    body.line(format!(
        "{field} = global::Pulumi.Output.Tuple<{ty}, int>(value, emptySecret).Apply(t => t.Item1);"
    ));
    body
}

fn secret_collection(name: &str, empty: &str) -> Body {
    let field = field(name);
    let mut body = Body::of(format!(
        "var emptySecret = global::Pulumi.Output.CreateSecret({empty});"
    ));
    body.line(format!(
        "{field} = global::Pulumi.Output.All(value, emptySecret).Apply(v => v[0]);"
    ));
    body
}
