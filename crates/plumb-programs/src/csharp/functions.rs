//! Functions of PCL in C#.

use super::helpers::Helper;
use super::printer::{Form, Level, Printer, Value};
use crate::kinds::Kind;
use crate::layout::Doc;
use crate::tree::{Function, Tree};
use crate::values::Want;

impl Printer {
    pub(super) fn call(&mut self, function: Function, args: &[Tree]) -> Value {
        match function {
            Function::Join => {
                let separator = self.text(args, 0);
                let items = self.arg(args, 1).code;
                let code = Doc::arguments("string.Join(", vec![separator, items], ")");
                Value::plain(code, Kind::Text)
            }
            Function::Split => {
                self.usings.insert("System.Linq");
                let separator = self.text(args, 0);
                let text = self.plain_arg(args, 1, Kind::Text);
                let parts = text.method("Split", vec![separator]);
                let code = Doc::Row(vec![parts, ".ToList()".into()]);
                Value::plain(code, Kind::Text.list())
            }
            Function::ToJson { .. } => {
                self.usings.insert("System.Text.Json");
                let value = self.arg(args, 0).code;
                Value::plain(
                    Doc::hugged("JsonSerializer.Serialize(", value, ")"),
                    Kind::Text,
                )
            }
            Function::ToBase64 => self.around(
                args,
                &["System", "System.Text"],
                "Convert.ToBase64String(Encoding.UTF8.GetBytes(",
                "))",
            ),
            Function::FromBase64 => self.around(
                args,
                &["System", "System.Text"],
                "Encoding.UTF8.GetString(Convert.FromBase64String(",
                "))",
            ),
            Function::ReadFile => self.around(args, &["System.IO"], "File.ReadAllText(", ")"),
            Function::FileBase64 => self.around(
                args,
                &["System", "System.IO"],
                "Convert.ToBase64String(File.ReadAllBytes(",
                "))",
            ),
            Function::FileBase64Sha256 => self.around(
                args,
                &["System", "System.IO", "System.Security.Cryptography"],
                "Convert.ToBase64String(SHA256.HashData(File.ReadAllBytes(",
                ")))",
            ),
            Function::Sha1 => self.around(
                args,
                &["System", "System.Security.Cryptography", "System.Text"],
                "Convert.ToHexString(SHA1.HashData(Encoding.UTF8.GetBytes(",
                "))).ToLowerInvariant()",
            ),
            Function::Secret | Function::Unsecret => self.secret(function, args),
            Function::Length | Function::LengthOfMap => {
                self.usings.insert("System.Linq");
                let value = self.arg(args, 0);
                let value = self.collection(value, function == Function::LengthOfMap);
                Value::plain(value.method("Count", Vec::new()), Kind::Int)
            }
            Function::LengthOfText => {
                self.usings.insert("System.Globalization");
                let text = self.text(args, 0);
                let code = Doc::hugged("new StringInfo(", text, ").LengthInTextElements");
                Value::plain(code, Kind::Int)
            }
            Function::SingleOrNone => {
                self.usings.insert("System.Linq");
                let list = self.arg(args, 0);
                let Kind::List(element) = list.kind.clone() else {
                    return self.refuse("the only element of such a value");
                };
                if list.form != Form::Plain {
                    return self.refuse("the only element of a list of outputs");
                }
                let code = list.method("SingleOrDefault", Vec::new());
                Value::plain(code, Kind::Pointer(element))
            }
            Function::StringAsset => self.asset("StringAsset", Kind::Asset, args),
            Function::FileAsset => self.asset("FileAsset", Kind::Asset, args),
            Function::RemoteAsset => self.asset("RemoteAsset", Kind::Asset, args),
            Function::FileArchive => self.asset("FileArchive", Kind::Archive, args),
            Function::RemoteArchive => self.asset("RemoteArchive", Kind::Archive, args),
            Function::AssetArchive => {
                let map = Kind::Map(Box::new(Kind::Asset));
                let map = self.plain_arg(args, 0, map).code;
                Value::plain(Doc::hugged("new AssetArchive(", map, ")"), Kind::Archive)
            }
            Function::ResourceName => self.of_resource("GetResourceName", args),
            Function::ResourceType => self.of_resource("GetResourceType", args),
            Function::Element => match args {
                [list, index, ..] => self.index(list, index),
                _ => self.refuse("such a call"),
            },
            Function::EntriesOfList | Function::EntriesOfMap => {
                self.entries(function == Function::EntriesOfMap, args)
            }
            Function::Lookup | Function::LookupInObject => self.lookup(args),
            Function::Range => {
                self.usings.insert("System.Linq");
                let first = self.plain_arg(args, 0, Kind::Int);
                let bounds = if args.len() < 2 {
                    vec!["0".into(), first.code]
                } else {
                    let last = self.plain_arg(args, 1, Kind::Int).at(Level::Add);
                    let count = vec![last, " - ".into(), first.at(Level::Multiply)];
                    vec![first.code, Doc::Row(count)]
                };
                let range = Doc::arguments("Enumerable.Range(", bounds, ").ToList()");
                Value::plain(range, Kind::Int.list())
            }
            Function::Max => self.extreme("Math.Max(", args),
            Function::Min => self.extreme("Math.Min(", args),
            Function::Project => instance("ProjectName"),
            Function::Stack => instance("StackName"),
            Function::Organization => instance("OrganizationName"),
            Function::RootDirectory => instance("RootDirectory"),
            Function::Cwd => {
                self.usings.insert("System.IO");
                Value::plain("Directory.GetCurrentDirectory()", Kind::Text)
            }
            Function::Try | Function::Can => self.attempt(function, args),
            Function::NotImplemented => {
                let message = self.text(args, 0);
                let code = self.help(Helper::NotImplemented, "", vec![message]);
                Value::plain(code, Kind::Any)
            }
            Function::GetOutput => {
                let stack = self.arg(args, 0);
                let name = self.text(args, 1);
                Value::output(stack.method("GetOutput", vec![name]), Kind::Any)
            }
            Function::Recover => self.refuse("the function recover"),
        }
    }

    fn arg(&mut self, args: &[Tree], at: usize) -> Value {
        match args.get(at) {
            Some(arg) => self.any(arg),
            None => self.refuse("a missing argument"),
        }
    }

    fn plain_arg(&mut self, args: &[Tree], at: usize, kind: Kind) -> Value {
        match args.get(at) {
            Some(arg) => self.plain(arg, kind),
            None => self.refuse("a missing argument"),
        }
    }

    fn text(&mut self, args: &[Tree], at: usize) -> Doc {
        self.plain_arg(args, at, Kind::Text).code
    }

    /// Calls of the standard library around a text, which give a text.
    fn around(&mut self, args: &[Tree], usings: &[&'static str], open: &str, close: &str) -> Value {
        self.usings.extend(usings);
        let text = self.text(args, 0);
        Value::plain(Doc::hugged(open, text, close), Kind::Text)
    }

    fn asset(&mut self, class: &str, kind: Kind, args: &[Tree]) -> Value {
        let text = self.text(args, 0);
        Value::plain(Doc::hugged(&format!("new {class}("), text, ")"), kind)
    }

    fn secret(&mut self, function: Function, args: &[Tree]) -> Value {
        let value = self.arg(args, 0);
        if function == Function::Secret && !matches!(value.kind, Kind::Null) {
            let value = match value.form {
                Form::Nested => self.as_output(value),
                Form::Plain | Form::Output => value,
            };
            let code = Doc::hugged("Output.CreateSecret(", value.code, ")");
            return Value::output(code, value.kind);
        }
        let output = self.as_output(value);
        let open = match function {
            Function::Secret => "Output.CreateSecret(",
            _ => "Output.Unsecret(",
        };
        Value::output(Doc::hugged(open, output.code, ")"), output.kind)
    }

    fn of_resource(&mut self, method: &str, args: &[Tree]) -> Value {
        let resource = self.arg(args, 0);
        if !matches!(resource.kind, Kind::Resource(..) | Kind::Component(..)) {
            return self.refuse("the name of such a value");
        }
        Value::plain(resource.method(method, Vec::new()), Kind::Text)
    }

    /// Keys and values of a collection.
    fn entries(&mut self, is_map: bool, args: &[Tree]) -> Value {
        let collection = self.arg(args, 0);
        let collection = self.collection(collection, is_map);
        let (key, element) = match collection.kind.clone() {
            Kind::Map(element) => (Kind::Text, element),
            Kind::List(element) => (Kind::Int, element),
            _ => return self.refuse("the entries of such a value"),
        };
        self.usings
            .extend(["System.Collections.Generic", "System.Linq"]);
        let [open, key_code, value_code] = if is_map {
            self.usings.insert("System");
            [
                ".OrderBy(it => it.Key, StringComparer.Ordinal).Select(it =>",
                "it.Key",
                "it.Value",
            ]
        } else {
            [".Select((item, position) =>", "position", "item"]
        };
        let close = format!(
            "{open} new Dictionary<string, object?> {{ [\"key\"] = {key_code}, [\"value\"] = {value_code} }}).ToList()"
        );
        let code = Doc::Row(vec![collection.at(Level::Atom), close.into()]);
        let fields = vec![("key".into(), key), ("value".into(), *element)];
        Value::new(code, Kind::Struct(fields).list(), collection.form)
    }

    fn extreme(&mut self, open: &str, args: &[Tree]) -> Value {
        self.usings.insert("System");
        let values: Vec<Value> = args.iter().map(|arg| self.any(arg)).collect();
        let kind = values
            .iter()
            .fold(Kind::Int, |kind, it| kind.or(it.kind.present()));
        let mut codes = values
            .into_iter()
            .map(|it| self.converted(it, &Want::Plain(kind.clone())).code)
            .collect::<Vec<_>>()
            .into_iter();
        let Some(first) = codes.next() else {
            return self.refuse("the extreme of nothing");
        };
        let code = codes.fold(first, |a, b| Doc::arguments(open, vec![a, b], ")"));
        Value::plain(code, kind)
    }

    fn lookup(&mut self, args: &[Tree]) -> Value {
        let map = self.arg(args, 0);
        let map = self.collection(map, true);
        let Kind::Map(element) = map.kind.clone() else {
            return self.refuse("the lookup in such a value");
        };
        if !map.is_plain() {
            return self.refuse("the lookup in a map of outputs");
        }
        let mut rest = vec![self.text(args, 1)];
        let kind = if args.len() < 3 {
            Kind::Pointer(element)
        } else {
            rest.push(self.plain_arg(args, 2, (*element).clone()).code);
            *element
        };
        self.usings.insert("System.Collections.Generic");
        Value::plain(map.method("GetValueOrDefault", rest), kind)
    }

    /// `try` and `can`: their arguments are computed by callbacks.
    fn attempt(&mut self, function: Function, args: &[Tree]) -> Value {
        let values: Vec<Value> = args.iter().map(|arg| self.any(arg)).collect();
        if function == Function::Can {
            let callbacks = values.into_iter().map(|it| supplier(it.code)).collect();
            let code = self.help(Helper::Can, "", callbacks);
            return Value::plain(code, Kind::Bool);
        }
        let mut kinds = values.iter().map(|it| it.kind.clone());
        let first = kinds.next().unwrap_or(Kind::Any);
        let kind = kinds.fold(first, |a, b| a.or(&b));
        let is_plain = values.iter().all(Value::is_plain);
        let callbacks = values.into_iter().map(|value| {
            let value = if is_plain {
                self.converted(value, &Want::Plain(kind.clone()))
            } else {
                let value = self.converted(value, &Want::Input(kind.clone()));
                self.as_output(value)
            };
            supplier(value.code)
        });
        let callbacks = callbacks.collect();
        let ty = match (is_plain, self.type_of(&kind)) {
            (true, ty) if ty == "object" => "object?".to_owned(),
            (true, ty) => ty,
            (false, _) => self.output_type(&kind),
        };
        let code = self.help(Helper::FirstOf, &format!("<{ty}>"), callbacks);
        let form = if is_plain { Form::Plain } else { Form::Output };
        Value::new(code, kind, form)
    }
}

fn instance(name: &str) -> Value {
    Value::plain(format!("Deployment.Instance.{name}"), Kind::Text)
}

/// A callback without parameters.
fn supplier(body: Doc) -> Doc {
    Doc::Row(vec!["() => ".into(), body])
}
