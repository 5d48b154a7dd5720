//! Functions of PCL in Rust.

use super::RUST;
use super::access::resource_reference;
use super::convert::is_collection;
use super::printer::{Form, Hold, Level, Printer, Value};
use super::statements::mentions;
use crate::kinds::Kind;
use crate::layout::Doc;
use crate::tree::{Function, Tree};

/// The function `singleOrNone`.
const SINGLE_OR_NONE: &str = "fn single_or_none<T>(items: Vec<T>) -> plumb::Result<Option<T>> {
    match <[T; 1]>::try_from(items) {
        Ok([item]) => Ok(Some(item)),
        Err(items) if items.is_empty() => Ok(None),
        Err(_) => Err(plumb::Error::new(\"singleOrNone expected an empty or single element list\")),
    }
}
";

/// Encoder of base64.
const BASE64: &str = "base64::engine::general_purpose::STANDARD";

impl Printer {
    pub(super) fn call(&mut self, function: Function, args: &[Tree]) -> Value {
        match function {
            Function::Join => {
                let separator = self.text_arg(args, 0);
                let items = self.plain_arg(args, 1, Kind::Text.list());
                Value::plain(items.method("join", vec![separator]), Kind::Text)
            }
            Function::Split => {
                let separator = self.text_arg(args, 0);
                let text = self.plain_arg(args, 1, Kind::Text);
                let parts = text.method("split", vec![separator]);
                let end = ".map(str::to_owned).collect::<Vec<_>>()";
                Value::plain(Doc::Row(vec![parts, end.into()]), Kind::Text.list())
            }
            Function::ToJson { has_outputs } => self.json(args, has_outputs),
            Function::ToBase64 => {
                let text = self.text_arg(args, 0);
                self.base64(text)
            }
            Function::FromBase64 => {
                self.traits.insert("base64::Engine");
                let text = self.text_arg(args, 0);
                let decoded = Doc::hugged(&format!("{BASE64}.decode("), text, ")");
                let decoded = self.fallible(decoded);
                let text = Doc::hugged("String::from_utf8(", decoded, ")");
                Value::plain(self.fallible(text), Kind::Text)
            }
            Function::Secret | Function::Unsecret => self.secret(function, args),
            Function::ReadFile => {
                let code = self.file("read_to_string", args);
                Value::plain(code, Kind::Text)
            }
            Function::FileBase64 => {
                let bytes = self.file("read", args);
                self.base64(bytes)
            }
            Function::FileBase64Sha256 => {
                self.traits.insert("sha2::Digest");
                let bytes = self.file("read", args);
                self.base64(Doc::hugged("sha2::Sha256::digest(", bytes, ")"))
            }
            Function::Sha1 => {
                self.traits.insert("sha1::Digest");
                let text = self.text_arg(args, 0);
                let code = Doc::hugged("format!(\"{:x}\", sha1::Sha1::digest(", text, "))");
                Value::plain(code, Kind::Text)
            }
            Function::Length | Function::LengthOfMap => {
                let value = self.arg(args, 0);
                self.length_of(value, function == Function::LengthOfMap)
            }
            Function::LengthOfText => {
                self.traits
                    .insert("unicode_segmentation::UnicodeSegmentation");
                let text = self.plain_arg(args, 0, Kind::Text);
                length(Doc::Row(vec![
                    text.at(Level::Atom),
                    ".graphemes(true).count()".into(),
                ]))
            }
            Function::SingleOrNone => self.single_or_none(args),
            Function::StringAsset => self.asset("Asset::text(", Kind::Asset, args),
            Function::FileAsset => self.asset("Asset::file(", Kind::Asset, args),
            Function::RemoteAsset => self.asset("Asset::remote(", Kind::Asset, args),
            Function::FileArchive => self.asset("Archive::path(", Kind::Archive, args),
            Function::RemoteArchive => self.asset("Archive::remote(", Kind::Archive, args),
            Function::AssetArchive => self.archive(args),
            Function::ResourceName => self.of_resource("name", args),
            Function::ResourceType => self.of_resource("token", args),
            Function::Element => match args {
                [list, index, ..] => self.index(list, index),
                _ => self.refuse("such a call"),
            },
            Function::EntriesOfList => {
                let list = self.arg(args, 0);
                let list = self.collection(list, false);
                let source = Doc::hugged("(0_i64..).zip(", list.owned().code, ")");
                self.entries(source, &list, Kind::Int)
            }
            Function::EntriesOfMap => {
                let map = self.arg(args, 0);
                let map = self.collection(map, true);
                let source = map.owned().method("into_iter", Vec::new());
                self.entries(source, &map, Kind::Text)
            }
            Function::Lookup | Function::LookupInObject => self.lookup(args),
            Function::Range => {
                let first = self.plain_arg(args, 0, Kind::Int);
                let [from, to] = match args.len() {
                    0 | 1 => ["0".into(), first.at(Level::Atom)],
                    _ => {
                        let last = self.plain_arg(args, 1, Kind::Int);
                        [first.at(Level::Atom), last.at(Level::Atom)]
                    }
                };
                let end = ").collect::<Vec<i64>>()".into();
                let code = Doc::Row(vec!["(".into(), from, "..".into(), to, end]);
                Value::plain(code, Kind::Int.list())
            }
            Function::Max => self.extreme("max", args),
            Function::Min => self.extreme("min", args),
            Function::Project => self.of_context("project"),
            Function::Stack => self.of_context("stack"),
            Function::Organization => self.of_context("organization"),
            Function::RootDirectory => self.of_context("root_directory"),
            Function::Cwd => {
                let folder = self.fallible("std::env::current_dir()".into());
                let end = ".display().to_string()".into();
                Value::plain(Doc::Row(vec![folder, end]), Kind::Text)
            }
            Function::Try => self.attempts(args),
            Function::Can => {
                let value = self.attempt(args.first());
                let code = closure_call("_", value.owned().code);
                Value::plain(Doc::Row(vec![code, ".is_ok()".into()]), Kind::Bool)
            }
            Function::NotImplemented => {
                let message = self.plain_arg(args, 0, Kind::Text);
                let error = Doc::hugged("plumb::Error::new(", message.owned().code, ")");
                let code = Doc::hugged("Err::<Value, _>(", error, ")");
                Value::plain(self.fallible(code), Kind::Any)
            }
            Function::GetOutput => {
                let stack = self.arg(args, 0);
                let name = self.text_arg(args, 1);
                Value::output(stack.method("get::<Value>", vec![name]), Kind::Any)
            }
            Function::Recover => self.recover(args),
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

    fn text_arg(&mut self, args: &[Tree], at: usize) -> Doc {
        self.plain_arg(args, at, Kind::Text).reference()
    }

    fn length_of(&mut self, value: Value, is_map: bool) -> Value {
        let value = self.collection(value, is_map);
        let is_list = matches!(value.kind, Kind::List(_) | Kind::Map(_));
        match value.form {
            Form::Plain if is_list => length(value.method("len", Vec::new())),
            Form::Nested if is_collection(&value.kind) => length(value.method("len", Vec::new())),
            Form::Nested => {
                let (method, len) = if is_map {
                    ("as_map", "|it| it.len()")
                } else {
                    ("as_list", "|it| it.len()")
                };
                let inner = Value::plain(value.method(method, Vec::new()), Kind::Any);
                length(inner.method("map_or", vec!["0".into(), len.into()]))
            }
            Form::Plain | Form::Output => self.refuse("the length of such a value"),
        }
    }

    fn base64(&mut self, bytes: Doc) -> Value {
        self.traits.insert("base64::Engine");
        let code = Doc::hugged(&format!("{BASE64}.encode("), bytes, ")");
        Value::plain(code, Kind::Text)
    }

    fn file(&mut self, function: &str, args: &[Tree]) -> Doc {
        let path = self.text_arg(args, 0);
        let code = Doc::hugged(&format!("std::fs::{function}("), path, ")");
        self.fallible(code)
    }

    fn json(&mut self, args: &[Tree], has_outputs: bool) -> Value {
        let Some(tree) = args.first() else {
            return self.refuse("a missing argument");
        };
        let document = self.document(tree);
        let value = Doc::hugged("value!(", document, ")");
        if has_outputs {
            let code = Doc::hugged("Output::from_value(", value, ").to_json()");
            return Value::output(code, Kind::Text);
        }
        let code = Doc::Row(vec![value, ".to_json()".into()]);
        Value::plain(self.fallible(code), Kind::Text)
    }

    fn secret(&mut self, function: Function, args: &[Tree]) -> Value {
        let value = self.arg(args, 0);
        let output = self.as_output(value);
        let method = match function {
            Function::Secret => "secret",
            _ => "unsecret",
        };
        let kind = output.kind.clone();
        Value::output(output.method(method, Vec::new()), kind)
    }

    fn single_or_none(&mut self, args: &[Tree]) -> Value {
        let list = self.arg(args, 0);
        self.only_of(list)
    }

    fn only_of(&mut self, list: Value) -> Value {
        let list = self.collection(list, false);
        let is_nested = list.form == Form::Nested;
        if is_nested && !is_collection(&list.kind) {
            let output = self.as_output(list);
            let scope = self.scope.open();
            let name = self.local("items");
            let inner = Value::plain(name.clone(), output.kind.clone()).held(Hold::Place);
            let parameters = std::slice::from_ref(&name);
            let found = self.mapped(&output, &name, parameters, |printer| printer.only_of(inner));
            self.scope.close(scope);
            return found;
        }
        let Kind::List(element) = list.kind.clone() else {
            return self.refuse("the only element of such a value");
        };
        self.helpers.insert(SINGLE_OR_NONE);
        let call = Doc::hugged("single_or_none(", list.owned().code, ")");
        let found = Value::plain(self.fallible(call), Kind::Pointer(element));
        if !is_nested {
            return found;
        }
        let none = "|| Output::of(None)".into();
        let (some, kind) = match &found.kind {
            Kind::Pointer(inner) if matches!(**inner, Kind::Pointer(_)) => {
                ("|it| it", (**inner).clone())
            }
            kind => ("|it| it.map(Some)", kind.clone()),
        };
        Value::output(found.method("map_or_else", vec![none, some.into()]), kind)
    }

    fn asset(&mut self, open: &str, kind: Kind, args: &[Tree]) -> Value {
        let text = self.text_arg(args, 0);
        Value::plain(Doc::hugged(open, text, ")"), kind)
    }

    fn archive(&mut self, args: &[Tree]) -> Value {
        let Some(Tree::Map(entries)) = args.first() else {
            return self.refuse("an archive of such a value");
        };
        let values: Vec<Value> = entries.iter().map(|(_, value)| self.any(value)).collect();
        let is_same = values.windows(2).all(|it| it[0].kind.is(&it[1].kind));
        let is_plain = values.iter().all(Value::is_plain);
        let is_asset = |it: &Value| matches!(it.kind, Kind::Asset | Kind::Archive);
        if !is_plain || !values.iter().all(is_asset) {
            return self.refuse("an archive with such members");
        }
        let mut members = Vec::with_capacity(values.len());
        for ((key, _), value) in entries.iter().zip(values) {
            let key = self.text(key);
            let code = value.owned().code;
            let code = if is_same {
                code
            } else {
                let ty = self.type_of(&Kind::Asset);
                Doc::hugged(&format!("{ty}::from("), code, ")")
            };
            members.push(Doc::list("(", vec![key, code], ")"));
        }
        let code = Doc::hugged("Archive::of(", Doc::list("[", members, "]"), ")");
        Value::plain(code, Kind::Archive)
    }

    fn of_resource(&mut self, method: &str, args: &[Tree]) -> Value {
        let resource = self.arg(args, 0);
        let getter = match resource.kind {
            Kind::Resource(..) => "handle",
            Kind::Component(..) => "resource",
            _ => return self.refuse("the name of such a value"),
        };
        let handle = Value::plain(resource.method(getter, Vec::new()), Kind::Any);
        Value::text(handle.method(method, Vec::new()))
    }

    fn of_context(&mut self, method: &str) -> Value {
        self.context();
        Value::text(format!("ctx.{method}()"))
    }

    fn extreme(&mut self, name: &str, args: &[Tree]) -> Value {
        let values: Vec<Value> = args.iter().map(|arg| self.any(arg)).collect();
        let kinds = values.iter().map(|it| it.kind.present().clone());
        let kind = kinds.fold(Kind::Int, |kind, it| kind.or(&it));
        let ty = if matches!(kind, Kind::Int) {
            "i64"
        } else {
            "f64"
        };
        let mut codes = Vec::with_capacity(values.len());
        for value in values {
            let kind = if ty == "i64" { Kind::Int } else { Kind::Float };
            codes.push(self.as_plain(value, &kind).code);
        }
        let mut codes = codes.into_iter();
        let Some(first) = codes.next() else {
            return self.refuse("the extreme of nothing");
        };
        let path = if ty == "i64" {
            format!("std::cmp::{name}(")
        } else {
            format!("f64::{name}(")
        };
        let code = codes.fold(first, |a, b| Doc::list(&path, vec![a, b], ")"));
        Value::plain(code, if ty == "i64" { Kind::Int } else { Kind::Float })
    }

    /// Keys and values as objects.
    fn entries(&mut self, source: Doc, collection: &Value, key: Kind) -> Value {
        let element = match &collection.kind {
            Kind::List(element) | Kind::Map(element) => (**element).clone(),
            _ => return self.refuse("the entries of such a value"),
        };
        if collection.form != Form::Plain {
            return self.refuse("the entries of a collection of outputs");
        }
        let end =
            ".map(|(key, value)| value!({ \"key\": key, \"value\": value })).collect::<Vec<_>>()";
        let fields = vec![("key".into(), key), ("value".into(), element)];
        let code = Doc::Row(vec![source, end.into()]);
        Value::plain(code, Kind::Struct(fields).list())
    }

    fn lookup(&mut self, args: &[Tree]) -> Value {
        let map = self.arg(args, 0);
        let map = self.collection(map, true);
        let Kind::Map(element) = map.kind.clone() else {
            return self.refuse("the lookup in such a value");
        };
        if !map.is_plain() || !(is_collection(&map.kind) || matches!(*element, Kind::Any)) {
            return self.refuse("the lookup in a map of outputs");
        }
        let key = self.text_arg(args, 1);
        let found = Value::plain(map.method("get", vec![key]), Kind::Any);
        let found = Value::plain(found.method("cloned", Vec::new()), Kind::Any);
        let Some(default) = args.get(2) else {
            return Value::plain(found.code, Kind::Pointer(element));
        };
        let outer = std::mem::replace(&mut self.is_fallible, false);
        let default = self.owned(default, (*element).clone());
        let is_fallible = std::mem::replace(&mut self.is_fallible, outer);
        let code = if is_fallible {
            self.is_fallible = true;
            found.method("unwrap_or", vec![default])
        } else {
            let default = Doc::Row(vec!["|| ".into(), default]);
            found.method("unwrap_or_else", vec![default])
        };
        Value::plain(code, *element)
    }

    /// An expression whose failure is caught.
    fn attempt(&mut self, arg: Option<&Tree>) -> Value {
        let Some(arg) = arg else {
            return self.refuse("a missing argument");
        };
        let outer = std::mem::replace(&mut self.is_trying, true);
        let outer_fallible = self.is_fallible;
        let value = self.any(arg);
        self.is_fallible = outer_fallible;
        self.is_trying = outer;
        Self::settled(value)
    }

    /// The first of several expressions that does not fail.
    fn attempts(&mut self, args: &[Tree]) -> Value {
        let values: Vec<Value> = args.iter().map(|arg| self.attempt(Some(arg))).collect();
        let mut kinds = values.iter().map(|it| it.kind.clone());
        let first = kinds.next().unwrap_or(Kind::Any);
        let kind = kinds.fold(first, |a, b| a.or(&b));
        let is_plain = values.iter().all(Value::is_plain);
        let ty = self.type_of(&kind);
        let ty = if is_plain {
            ty
        } else {
            format!("Output<{ty}>")
        };
        let mut code: Option<Doc> = None;
        for value in values {
            let outer = self.is_fallible;
            let value = if is_plain {
                self.as_plain(value, &kind)
            } else {
                let output = self.as_output(value);
                self.output_of_kind(output, &kind)
            };
            self.is_fallible = outer;
            let made = value.owned().code;
            code = Some(match code {
                None => closure_call(&ty, made),
                Some(before) => {
                    let open = format!(".or_else(|_: plumb::Error| Ok::<{ty}, plumb::Error>(");
                    Doc::Row(vec![before, Doc::hugged(&open, made, "))")])
                }
            });
        }
        let Some(code) = code else {
            return self.refuse("a missing argument");
        };
        let code = self.fallible(code);
        if is_plain {
            Value::plain(code, kind)
        } else {
            Value::output(code, kind)
        }
    }

    fn recover(&mut self, args: &[Tree]) -> Value {
        let output = self.arg(args, 0);
        let output = self.as_output(output);
        let Some(tree) = args.get(1) else {
            return self.refuse("a missing argument");
        };
        let scope = self.scope.open();
        let name = self.local("error");
        let text = Value::plain(format!("{name}.to_string()"), Kind::Text);
        self.scope.bind("error".into(), text);
        let kind = output.kind.clone();
        let mut is_plain = true;
        let (closure, _, is_fallible) =
            self.closure(&name, std::slice::from_ref(&name), |printer| {
                let value = printer.any(tree);
                let value = Self::settled(value);
                is_plain = value.is_plain();
                if is_plain {
                    printer.as_plain(value, &kind)
                } else {
                    value
                }
            });
        self.scope.close(scope);
        if is_fallible || !is_plain {
            return self.refuse("such a value instead of a failed one");
        }
        let closure = with_used(closure, &name);
        Value::output(output.method("recover", vec![closure]), kind)
    }

    /// A reference to a resource, for an option.
    pub(super) fn resource(&mut self, tree: &Tree) -> Doc {
        let value = self.any(tree);
        if !value.is_plain() || !matches!(value.kind, Kind::Resource(..) | Kind::Component(..)) {
            return self.refuse("such a resource in an option").code;
        }
        resource_reference(&value)
    }
}

/// A closure whose parameter has a name only if the closure uses it.
fn with_used(closure: Doc, parameter: &str) -> Doc {
    match closure {
        Doc::Row(mut pieces) => {
            let (head, body) = pieces.split_at_mut(1);
            let is_used = body
                .iter()
                .any(|it| mentions(&it.render(0, 0, 4), parameter));
            if let [Doc::Text(head)] = head
                && !is_used
            {
                *head = head.replace(parameter, "_");
            }
            Doc::Row(pieces)
        }
        other => other,
    }
}

fn length(code: Doc) -> Value {
    let code = Doc::Row(vec![code, " as i64".into()]);
    Value::plain(code, Kind::Int).at_level(Level::Loose)
}

/// Call of a closure that may fail.
fn closure_call(ty: &str, value: Doc) -> Doc {
    let open = format!("(|| Ok::<{ty}, plumb::Error>(");
    Doc::hugged(&open, value, "))()")
}

/// String literal.
pub(super) fn literal(text: &str) -> Doc {
    RUST.string(text).into()
}
