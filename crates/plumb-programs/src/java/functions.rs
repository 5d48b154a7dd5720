//! Functions of PCL in Java.

use super::JAVA;
use super::expression::Want;
use super::helpers::Helper;
use super::printer::{Form, Level, Printer, Value};
use crate::kinds::Kind;
use crate::layout::Doc;
use crate::tree::{Function, Tree};

impl Printer {
    pub(super) fn call(&mut self, function: Function, args: &[Tree]) -> Value {
        match function {
            Function::Join => {
                let separator = self.text(args, 0);
                let items = self.arg(args, 1);
                let items = self.converted(items, &Want::Plain(Kind::Text.list())).code;
                let code = Doc::arguments("String.join(", vec![separator, items], ")");
                Value::plain(code, Kind::Text)
            }
            Function::Split => {
                let pattern = self.class("java.util.regex.Pattern");
                let list = self.class("java.util.List");
                let separator = self.text(args, 0);
                let separator = Doc::hugged(&format!("{pattern}.quote("), separator, ")");
                let text = self.plain_arg(args, 1, Kind::Text);
                let parts = text.method("split", vec![separator, "-1".into()]);
                Value::plain(
                    Doc::hugged(&format!("{list}.of("), parts, ")"),
                    Kind::Text.list(),
                )
            }
            Function::ToJson { .. } => self.json_text(args),
            Function::ToBase64 => {
                let class = self.class("java.util.Base64");
                let set = self.class("java.nio.charset.StandardCharsets");
                let text = self.plain_arg(args, 0, Kind::Text);
                let bytes = text.method("getBytes", vec![format!("{set}.UTF_8").into()]);
                let open = format!("{class}.getEncoder().encodeToString(");
                Value::plain(Doc::hugged(&open, bytes, ")"), Kind::Text)
            }
            Function::FromBase64 => {
                let class = self.class("java.util.Base64");
                let set = self.class("java.nio.charset.StandardCharsets");
                let text = self.text(args, 0);
                let bytes = Doc::hugged(&format!("{class}.getDecoder().decode("), text, ")");
                let args = vec![bytes, format!("{set}.UTF_8").into()];
                Value::plain(Doc::arguments("new String(", args, ")"), Kind::Text)
            }
            Function::Secret | Function::Unsecret => self.secret(function, args),
            Function::ReadFile => self.of_text(Helper::ReadFile, args),
            Function::FileBase64 => self.of_text(Helper::FileBase64, args),
            Function::FileBase64Sha256 => self.of_text(Helper::FileBase64Sha256, args),
            Function::Sha1 => self.of_text(Helper::Sha1, args),
            Function::Length | Function::LengthOfMap => {
                let value = self.arg(args, 0);
                let value = self.collection(value, function == Function::LengthOfMap);
                Value::plain(value.method("size", Vec::new()), Kind::Int)
            }
            Function::LengthOfText => {
                let class = self.class("com.pulumi.codegen.internal.Strings");
                let text = self.text(args, 0);
                Value::plain(
                    Doc::hugged(&format!("{class}.length("), text, ")"),
                    Kind::Int,
                )
            }
            Function::SingleOrNone => {
                let list = self.arg(args, 0);
                let Kind::List(element) = list.kind.clone() else {
                    return self.refuse("the only element of such a value");
                };
                if list.form != Form::Plain {
                    return self.refuse("the only element of a list of outputs");
                }
                let code = self.help(Helper::SingleOrNone, vec![list.code]);
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
                let class = self.class("com.pulumi.asset.AssetArchive");
                let open = format!("new {class}(");
                Value::plain(Doc::hugged(&open, map, ")"), Kind::Archive)
            }
            Function::ResourceName => self.of_resource("pulumiResourceName", args),
            Function::ResourceType => self.of_resource("pulumiResourceType", args),
            Function::Element => match args {
                [list, index, ..] => self.index(list, index),
                _ => self.refuse("such a call"),
            },
            Function::EntriesOfList => {
                let list = self.arg(args, 0);
                let Kind::List(element) = list.kind.clone() else {
                    return self.refuse("the entries of such a value");
                };
                let fields = vec![("key".into(), Kind::Int), ("value".into(), *element)];
                let indexed = self.help(Helper::Indexed, vec![list.code]);
                let map = self.class("java.util.Map");
                let collectors = self.class("java.util.stream.Collectors");
                let scope = self.scope.open();
                let entry = self.local("entry");
                self.scope.close(scope);
                let close = format!(
                    ".stream().map({entry} -> {map}.<String, Object>of(\"key\", {entry}.getKey(), \"value\", {entry}.getValue())).collect({collectors}.toList())"
                );
                let code = Doc::Row(vec![indexed, close.into()]);
                Value::plain(code, Kind::Struct(fields).list())
            }
            Function::EntriesOfMap => {
                let map = self.arg(args, 0);
                let map = self.collection(map, true);
                let Kind::Map(element) = map.kind.clone() else {
                    return self.refuse("the entries of such a value");
                };
                let fields = vec![("key".into(), Kind::Text), ("value".into(), *element)];
                let code = self.help(Helper::Entries, vec![map.code]);
                Value::plain(code, Kind::Struct(fields).list())
            }
            Function::Lookup | Function::LookupInObject => self.lookup(args),
            Function::Range => {
                let class = self.class("java.util.stream.IntStream");
                let collectors = self.class("java.util.stream.Collectors");
                let first = self.plain_arg(args, 0, Kind::Int).code;
                let bounds = match args.len() {
                    0 | 1 => vec!["0".into(), first],
                    _ => vec![first, self.plain_arg(args, 1, Kind::Int).code],
                };
                let range = Doc::arguments(&format!("{class}.range("), bounds, ")");
                let close = format!(".boxed().collect({collectors}.toList())");
                Value::plain(Doc::Row(vec![range, close.into()]), Kind::Int.list())
            }
            Function::Max => self.extreme("Math.max(", args),
            Function::Min => self.extreme("Math.min(", args),
            Function::Project => self.of_context("projectName", "getProjectName"),
            Function::Stack => self.of_context("stackName", "getStackName"),
            Function::Organization => self.of_context("organizationName", "getOrganizationName"),
            Function::RootDirectory => {
                let class = self.class("com.pulumi.deployment.Deployment");
                let code = format!("{class}.getInstance().getRootDirectory()");
                Value::plain(code, Kind::Text)
            }
            Function::Cwd => Value::plain("System.getProperty(\"user.dir\")", Kind::Text),
            Function::Try | Function::Can => self.attempt(function, args),
            Function::NotImplemented => {
                let message = self.text(args, 0);
                let code = self.help(Helper::NotImplemented, vec![message]);
                Value::plain(code, Kind::Any)
            }
            Function::GetOutput => {
                let stack = self.arg(args, 0);
                let name = self.text(args, 1);
                Value::output(stack.method("output", vec![name]), Kind::Any)
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

    /// Call of a helper from text to text.
    fn of_text(&mut self, helper: Helper, args: &[Tree]) -> Value {
        let text = self.text(args, 0);
        Value::plain(self.help(helper, vec![text]), Kind::Text)
    }

    fn asset(&mut self, class: &str, kind: Kind, args: &[Tree]) -> Value {
        let text = self.text(args, 0);
        let class = self.class(&format!("com.pulumi.asset.{class}"));
        Value::plain(Doc::hugged(&format!("new {class}("), text, ")"), kind)
    }

    fn secret(&mut self, function: Function, args: &[Tree]) -> Value {
        let value = self.arg(args, 0);
        if function == Function::Secret && value.is_plain() && !matches!(value.kind, Kind::Null) {
            let class = self.output_class();
            let open = format!("{class}.ofSecret(");
            return Value::output(Doc::hugged(&open, value.code, ")"), value.kind);
        }
        let output = self.as_output(value);
        let method = match function {
            Function::Secret => "asSecret",
            _ => "asPlaintext",
        };
        let kind = output.kind.clone();
        Value::output(output.method(method, Vec::new()), kind)
    }

    fn of_resource(&mut self, method: &str, args: &[Tree]) -> Value {
        let resource = self.arg(args, 0);
        if !matches!(resource.kind, Kind::Resource(..) | Kind::Component(..)) {
            return self.refuse("the name of such a value");
        }
        Value::plain(resource.method(method, Vec::new()), Kind::Text)
    }

    /// A value that the context of the program has, and in components the deployment.
    fn of_context(&mut self, method: &str, getter: &str) -> Value {
        if !self.is_component {
            return Value::plain(format!("context.{method}()"), Kind::Text);
        }
        let class = self.class("com.pulumi.deployment.Deployment");
        Value::plain(format!("{class}.getInstance().{getter}()"), Kind::Text)
    }

    fn extreme(&mut self, open: &str, args: &[Tree]) -> Value {
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
        let key = self.text(args, 1);
        if args.len() < 3 {
            return Value::plain(map.method("get", vec![key]), *element);
        }
        let default = self.plain_arg(args, 2, (*element).clone()).code;
        Value::plain(map.method("getOrDefault", vec![key, default]), *element)
    }

    /// `try` and `can`: their arguments are computed by callbacks.
    fn attempt(&mut self, function: Function, args: &[Tree]) -> Value {
        let outer = std::mem::replace(&mut self.is_trying, true);
        let values: Vec<Value> = args.iter().map(|arg| self.any(arg)).collect();
        self.is_trying = outer;
        if function == Function::Can {
            let callbacks = values.into_iter().map(|it| supplier(it.code)).collect();
            let code = self.help(Helper::Can, callbacks);
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
        let ty = if is_plain {
            self.type_of(&kind)
        } else {
            self.output_type(&kind)
        };
        let name = self.helper(Helper::FirstOf, &format!("<{ty}>"));
        let code = Doc::arguments(&format!("{name}("), callbacks, ")");
        let form = if is_plain { Form::Plain } else { Form::Output };
        Value::new(code, kind, form)
    }

    fn json_text(&mut self, args: &[Tree]) -> Value {
        let Some(tree) = args.first() else {
            return self.refuse("a missing argument");
        };
        self.statics
            .insert("com.pulumi.codegen.internal.Serialization");
        let value = self.json(tree);
        Value::plain(Doc::hugged("serializeJson(", value, ")"), Kind::Text)
    }

    /// A value for the JSON serializer.
    fn json(&mut self, tree: &Tree) -> Doc {
        match tree {
            Tree::Map(entries) => {
                let entries = entries.iter().map(|(key, value)| {
                    let key = match key {
                        Tree::Text(name) => Doc::text(JAVA.string(name)),
                        other => self.plain(other, Kind::Text).code,
                    };
                    let pair = vec![key, self.json(value)];
                    Doc::arguments("jsonProperty(", pair, ")")
                });
                let entries = entries.collect();
                Doc::arguments("jsonObject(", entries, ")")
            }
            Tree::List(items) => {
                let items = items.iter().map(|it| self.json(it)).collect();
                Doc::arguments("jsonArray(", items, ")")
            }
            other => {
                let value = self.any(other);
                if matches!(value.kind, Kind::Object(..) | Kind::Result(_)) {
                    return self.refuse("an object of a package in JSON").code;
                }
                self.converted(value, &Want::Plain(Kind::Any))
                    .at(Level::Loose)
            }
        }
    }
}

/// A callback without parameters.
fn supplier(body: Doc) -> Doc {
    Doc::Row(vec!["() -> ".into(), body])
}
